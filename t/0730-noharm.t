#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The first promise: hundreds of snapshots of programs that notice when something is
# done to them. None may be lost, late, interrupted, left stopped, or traced.
#
# shellcheck disable=SC2119 # options of capture() are optional

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"
# shellcheck source=t/lib/live.sh
. "$top_srcdir/t/lib/live.sh"

# sample LENGTH INTERVAL: snapshots in both ways of stopping; LENGTH is "-n 100" or "-d 2".
sample() {
	for mode in auto all; do
		ok "'$PMP' -f folded --stop=$mode $1 -i $2 -p $target_pid -o out.folded" \
			"sampled, $1, $mode"
	done
}

# harmless LENGTH INTERVAL TARGET ARG...
harmless() {
	count=$1 interval=$2
	shift 2
	start_target "$@"
	sample "$count" "$interval"
	free_again "$*: no thread is stopped or traced"
	verdict "$*: undisturbed"
}

check_signal() { harmless "-n 300" 2ms signal; }
check_waits() { harmless "-d 2" 10ms waits; }
check_threads() { harmless "-n 200" 2ms threads 40 2; }
check_vdso() { harmless "-n 200" 2ms vdso 2; }
check_cxx() { harmless "-n 100" 2ms cxx; }
check_context() { harmless "-n 100" 2ms context; }
check_vforks() { harmless "-n 200" 2ms vforker 0 3; }
check_chain() { harmless "-n 100" 2ms chain spin; }

# Stopped by the administrator: it stays so, and nobody tells it to go on.
check_stopped() {
	start_target threads 10 2
	kill -STOP "$target_pid"
	wait_for "[ \$(cat /proc/$target_pid/task/*/status | grep -c '^State:.T') -eq 13 ]"
	sample "-n 50" 2ms
	wait_for "! cat /proc/$target_pid/task/*/status | grep -Eq '^TracerPid:.[1-9]'" 2
	is "$(cat /proc/"$target_pid"/task/*/status | grep -c '^State:.T (stopped)')" 13 \
		"a stopped program stays stopped"
	capture
	stack_is spin-0 "spinner level2 level1( [a-z0-9_]+){4}" "and its stacks are shown"
	kill -CONT "$target_pid"
	verdict "it goes on undisturbed"
	like "$(cat "$target_out")" '^continued 1$' "told so once, by us"
}

# Its parent (a shell, a service manager) does not hear of it.
check_parent() {
	start_target parent "$top_builddir/t/target/threads" 10 2
	parent=$target_pid
	target_pid=$(awk '/^ready/ { print $2 }' "$target_out")
	sample "-n 100" 2ms
	target_pid=$parent
	verdict "the parent saw no stop and no continuation"
}

# Killed under the sampler: the parent hears of it at once, though the threads were seized.
# Where others have the processors it may take longer, but not each time.
check_reaped() {
	late=
	for _ in 1 2 3 4 5; do
		[ "${late:-9999}" -gt 100 ] || break
		kill_sampled
	done
	ok "[ ${late:-9999} -le 100 ]" "within 100 ms (it took ${late:-?} ms)"
}

kill_sampled() {
	start_target parent "$top_builddir/t/target/threads" 40 2
	child=$(awk '/^ready/ { print $2 }' "$target_out")
	: >raw
	"$PMP" --raw --no-symbols -n 100000 -i 1ms -p "$child" >raw 2>err &
	sampler=$!
	wait_for "[ \$(grep -c '^--- snapshot' raw) -ge 3 ]"
	wait_for "cat /proc/$child/task/*/status | grep -q '^TracerPid:.[1-9]'" 5
	verdict "a killed child is reported to its parent"
	late=$(awk '/^reap/ { print $2 }' "$target_out")
	wait "$sampler"
	is $? 0 "pmp ends by itself, with what it has"
	like "$(cat err)" "ended after [0-9]+ of 100000 snapshots" "and says so"
}

# Stopped in the middle of a run: the group stop takes hold as it would without pmp.
check_stop_continue() {
	start_target threads 10 2
	"$PMP" -f folded -n 2000 -i 1ms -p "$target_pid" -o out.folded 2>err &
	sampler=$!
	for turn in 1 2 3 4 5; do
		kill -STOP "$target_pid"
		wait_for "! grep -hq '^State:.[RS]' /proc/$target_pid/task/*/status" 3 ||
			ok false "SIGSTOP $turn stops it"
		kill -CONT "$target_pid"
		wait_for "! grep -hq '^State:.T' /proc/$target_pid/task/*/status" 3 ||
			ok false "SIGCONT $turn continues it"
	done
	ok "kill -INT $sampler && wait_for '! alive $sampler'" "SIGSTOP and SIGCONT meanwhile"
	wait "$sampler"
	free_again "no thread is stopped or traced"
	verdict "undisturbed"
	# A SIGSTOP takes a SIGCONT back that has not been handled yet.
	like "$(cat "$target_out")" '^continued [1-5]$' "told to continue, not more than five times"
}

run_checks "$@"
