#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The k-th allocation fails, in the first process of pmp or in its sampler: there is a
# snapshot or a clear error, never a crash, and no thread is left stopped or traced.
# PMP_ALLOCATIONS=0 takes every k, which takes minutes.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"
# shellcheck source=t/lib/live.sh
. "$top_srcdir/t/lib/live.sh"

steps=${PMP_ALLOCATIONS:-150}

# with_failure PROCESS K: status of pmp
with_failure() {
	timeout 60 env FAIL_IN="$1" FAIL_AT="$2" FAIL_COUNT="$tmp/count" \
		LD_PRELOAD="$tmp/failmalloc.so" "$PMP" --raw -n 1 -p "$target_pid" >raw 2>err
}

# sweep PROCESS COUNT: each k up to COUNT, or as many as asked for.
sweep() {
	step=1
	[ "$steps" -gt 0 ] && step=$(($2 / steps + 1))
	k=1
	bad=
	failed=0
	while [ "$k" -le "$2" ]; do
		with_failure "$1" "$k"
		status=$?
		[ "$status" -le 1 ] || bad="$bad $k:status-$status"
		[ "$status" -eq 1 ] && failed=$((failed + 1))
		[ "$status" -ne 1 ] || grep -q '^pmp: ' err || bad="$bad $k:silent"
		[ "$status" -ne 0 ] || grep -q '^#0 ' raw || bad="$bad $k:empty"
		k=$((k + step))
	done
	is "$bad" "" "$1: each of $2 allocations fails (step $step): a snapshot or an error"
	ok "[ $failed -gt 0 ]" "an error $failed times"
}

check_memory() {
	${CC:-cc} -D_GNU_SOURCE -O2 -shared -fPIC -o failmalloc.so \
		"$top_srcdir/t/lib/failmalloc.c" || { ok false "failmalloc.so"; return; }
	start_target threads 3 1
	with_failure first 0
	is $? 0 "nothing fails"
	sweep first "$(cat count)"
	sweep child 600
	free_again "no thread is stopped or traced"
	verdict "undisturbed"
}

run_checks "$@"
