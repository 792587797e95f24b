#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A process that consists of ever new threads, code or libraries: neither of the two
# processes grows with it, and what is evicted is counted.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"

# shellcheck source=t/lib/live.sh
. "$top_srcdir/t/lib/live.sh"

build plugin.so -shared -fPIC "$live_target/plugin.c" || skip_all "no shared library"

# size PID: KiB at most so far, descriptors now; nothing when it has gone.
size() {
	peak=$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$1/status" 2>/dev/null)
	[ -z "$peak" ] || echo "$peak $(find "/proc/$1/fd" 2>/dev/null | wc -l)"
}

# renewed WHAT SECONDS: profile it for so long, with little memory.
renewed() {
	what=$1
	start_target renew "$what" ./plugin.so
	target=$target_pid target_said=$target_out
	start_process "$PMP" -f folded -o "$what.folded" --stats -d "$2" -i 500us --max-cpu 0 \
		--max-memory 16M -p "$target"
	front=$target_pid
	wait_for "sampler_of $front >sampler.pid" && sampler=$(cat sampler.pid)
	last=
	while sizes=$(size "$sampler") && [ -n "$sizes" ]; do
		last="$sizes $(size "$front")"
		sleep 0.2
	done
	wait "$front"
	is $? 0 "$what: sampled"
	# shellcheck disable=SC2086
	set -- $last
	ok "[ ${1:-999999} -le 32768 ]" "$what: the sampler had $1 KiB at most"
	ok "[ ${3:-999999} -le 65536 ]" "$what: the front $3 KiB"
	ok "[ ${2:-999} -le 100 ] && [ ${4:-999} -le 200 ]" "$what: descriptors: $2 and $4"
	kill "$target"
	wait "$target"
	like "$(tail -n 1 "$target_said")" "^verdict: ok" "$what: the target is well"
	counted=$(awk '{ sum += $NF } END { print sum + 0 }' "$what.folded")
	like "$(cat "$target_err")" "stacks: $counted " "$what: all $counted stacks are counted"
}

renewed threads 3
renewed code 4
renewed libraries 5
like "$(cat libraries.folded)" '^renew;\[evicted\] [0-9]' "evicted ones have a line"
like "$(cat "$target_err")" 'memory was too small: [0-9]* of' "and are told of"
done_testing
