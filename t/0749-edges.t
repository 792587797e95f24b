#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Who waits for whom is true: threads take locks at full speed and write when each asked
# for, got and released which of them; no edge is false, and none of what looks like a
# deadlock is taken for one. Real deadlocks are found, each time.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"
# shellcheck source=t/lib/live.sh
. "$top_srcdir/t/lib/live.sh"

edges=$top_builddir/t/bench/edges
deadlocks=$top_builddir/t/bench/deadlocks
[ -x "$edges" ] || skip_all "no $edges"
[ -x "$deadlocks" ] || skip_all "no $deadlocks"

# Until so many of both were seen, but so many seconds at most. On a busy machine it is
# less: a tenth is enough. More of it by hand: t/bench/edges PID PAGE 20000000 2000000 900.
wanted_edges=70000
wanted_rounds=6000
seconds=3
processes=150
if [ "${PMP_LONG:-0}" = 1 ]; then
	wanted_edges=200000
	wanted_rounds=20000
	seconds=10
fi

# sum NAME: of the last race.
sum() {
	sed -n "\$s/.*\\<$1 \\([0-9]*\\).*/\\1/p" sums
}

# race TEXT FAULT ARG...: what pmp says of it is true.
race() {
	text=$1
	fault=$2
	shift 2
	start_target race page "$@"
	PMP_FAULT=${PMP_JUDGE_FAULT:-$fault} "$edges" "$target_pid" page "$wanted_edges" \
		"$wanted_rounds" "$seconds" >sums 2>&1
	ok "[ $? -le 1 ]" "$text: $(tail -n 1 sums)" || diag "$(cat sums)"
	is "$(sum false)" 0 "$text: no edge is false" || diag "$(cat sums)"
	is "$(sum ended)" 0 "$text: no thread ended with a lock" || diag "$(cat sums)"
	is "$(sum deadlocks)" 0 "$text: nothing is a deadlock"
	ok "[ $(($(sum edges) - $(sum lost))) -ge $((wanted_edges / 10)) ]" \
		"$text: enough were judged"
	ok "[ $(sum rounds) -ge $((wanted_rounds / 10)) ]" "$text: in enough captures"
	verdict "$text: the threads have moved"
	rm -f page
}

check_mutexes() {
	race "mutexes" "" mutexes
}

# Writers that wait for the next one, and both for readers.
check_rwlocks() {
	race "rwlocks" "" rwlocks
	ok "[ $(sum queued) -gt 0 ] && [ $(sum shared) -gt 0 ]" \
		"rwlocks: writers waited for others, and for readers"
}

# Those that the kernel gives to a waiter, too.
check_kinds() {
	race "locks of four kinds" "" kinds
	ok "[ $(sum free) -gt 0 ]" "locks of four kinds: some were free"
}

# Threads that begin after they were listed, and end before they are looked for.
check_mortals() {
	race "threads that end soon" "" mortals
}

# Most sleep for long: one question is for all of them.
check_idle() {
	race "mostly asleep" "" kinds 2000
}

# Kernels that do not count how often a thread runs.
check_no_schedstat() {
	race "no schedstat" no-schedstat mutexes
}

# Each in a new process, at the first capture.
check_real() {
	for kind in deadlock deadlock-rwlock deadlock-join self; do
		"$deadlocks" "$top_builddir/t/target/locks" "$kind" "$processes" >found
		is "$(tail -n 1 found)" "$kind: found $processes of $processes" \
			"$kind: found in $processes of $processes processes" || diag "$(cat found)"
	done
}

run_checks "$@"
