#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The k-th ptrace, wait4 and pread64 call fails, for each k, once and from then on:
# pmp gives a sample or a clear error, and no thread is left stopped or traced.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"
# shellcheck source=t/lib/live.sh
. "$top_srcdir/t/lib/live.sh"

need strace

# injected CALL ERROR WHEN: status of pmp, 124 when it hangs.
injected() {
	timeout 60 strace -f -qq -o trace -e trace="$1" -e inject="$1:error=$2:when=$3" \
		"$PMP" --raw --no-symbols -p "$target_pid" >out 2>err
}

may_be_empty=

# judge STATUS: a run is good if it gave stacks, or says what failed. The loader of shared
# libraries has calls of its own that fail.
judge() {
	case $1 in
	0) grep -q '^Thread ' out || [ -n "$may_be_empty" ] || bad="$bad $k:empty" ;;
	124) bad="$bad $k:hangs" ;;
	127) grep -q 'loading shared libraries' err || bad="$bad $k:status-127" ;;
	[1-7]) grep -q '^pmp: ' err || bad="$bad $k:silent" ;;
	*) bad="$bad $k:status-$1" ;;
	esac
	alive "$target_pid" || bad="$bad $k:dead"
	wait_for "untouched $target_pid" 2 || bad="$bad $k:held"
}

# sweep CALL ERROR AT-MOST
sweep() {
	timeout 60 strace -f -qq -o trace -e trace="$1" "$PMP" --raw --no-symbols \
		-p "$target_pid" >out 2>err
	calls=$(grep -c "$1(" trace)
	step=$((calls / $3 + 1))
	k=1 bad=
	while [ "$k" -le "$calls" ]; do
		injected "$1" "$2" "$k" && status=0 || status=$?
		judge "$status"
		k=$((k + step))
	done
	is "$bad" "" "$1 fails with $2 once, at each of $calls calls (step $step)"
}

# from CALL ERROR: it fails from the k-th on.
from() {
	bad=
	for k in 1 2 3 5 8; do
		injected "$1" "$2" "$k+" && status=0 || status=$?
		judge "$status"
	done
	is "$bad" "" "$1 fails with $2 from some call on"
}

check_ptrace() {
	start_target threads 2 1
	sweep ptrace EIO 25
	sweep ptrace ESRCH 25
	from ptrace EPERM
	from ptrace EIO
	verdict "undisturbed"
}

check_wait() {
	start_target threads 2 1
	sweep wait4 EINTR 20
	may_be_empty=1 # that is how threads look that have ended
	from wait4 ECHILD
	may_be_empty=
	verdict "undisturbed"
}

check_read() {
	start_target threads 2 1
	sweep pread64 EIO 25
	from pread64 EIO
	verdict "undisturbed"
}

# /proc is not what it should be: unreadable, or full of errors.
check_open() {
	start_target threads 2 1
	sweep openat EACCES 25
	verdict "undisturbed"
}

run_checks "$@"
