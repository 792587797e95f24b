#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Locks have the names of their variables, or it is said where they lie.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"
# shellcheck source=t/lib/live.sh
. "$top_srcdir/t/lib/live.sh"
# shellcheck source=t/lib/locks.sh
. "$top_srcdir/t/lib/locks.sh"

need perl

# waits KIND KEY [OPTION...]: of all threads that wait for this KIND, the values of KEY,
# each once, with numbers for N.
waits() {
	waits_kind=$1
	waits_key=$2
	shift 2
	"$PMP" -n 1 -f json -p "$pid" "$@" 2>err >json || diag "$(cat err)"
	perl -ne 'while (/"wait":\{"kind":"'"$waits_kind"'"([^}]*)\}/g) {
		my $wait = $1;
		print "$1\n" if $wait =~ /"'"$waits_key"'":"([^"]*)"/;
	}' json | sed 's/0x[0-9a-f]*$/0xN/; s/[0-9][0-9]*$/N/' | sort -u | tr '\n' ' '
}

# shows PROGRAM LOCK KIND KEY VALUE [OPTION...]: the program's waiters of LOCK.
shows() {
	locks_start "$1" "$2" || diag "$(cat "$locks_said/$2")"
	pid=${locks_pids# }
	program=${1##*/}
	lock=$2 kind=$3 key=$4 value=$5
	shift 5
	if grep -q '^skip' "$locks_said/$lock"; then
		skip "$lock: $(cat "$locks_said/$lock")"
	else
		is "$(waits "$kind" "$key" "$@")" "$value" "$program $lock${*:+ }$*: $key"
	fi
	kill "$pid"
	wait "$pid" 2>/dev/null
}

locks=$top_builddir/t/target/locks

check_names() {
	shows "$locks" mutex-static mutex name "mutex.N "
	shows "$locks" deadlock mutex name "a b "
	shows "$locks" mutex-static mutex place "in locks+0xN " --no-symbols
	shows "$locks" mutex-static mutex name "" --no-symbols
}

check_places() {
	shows "$locks" mutex-heap mutex place "in the heap "
	shows "$locks" mutex-shared mutex place "in shared memory /dev/zero "
	shows "$locks" deadlock-join join place "on the stack of N "
}

check_stripped() {
	if ! command -v strip >/dev/null; then
		skip "no strip"
		return
	fi
	strip -o stripped "$locks"
	shows ./stripped mutex-static mutex place "in stripped+0xN "
}

check_static() {
	if ! locks_build static; then
		skip "cannot link statically"
		return
	fi
	shows ./locks-static mutex-static mutex name "mutex.N "
	shows ./locks-static deadlock mutex name "a b "
}

run_checks "$@"
