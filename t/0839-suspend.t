#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The machine is suspended for eight hours, or halted, while pmp samples: no time is
# waited for that has gone by, none is made up for, and no process is taken for dead.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"

${CC:-cc} -D_GNU_SOURCE -O2 -shared -fPIC -o clock.so "$top_srcdir/t/lib/fakeclock.c" -ldl 2>cc.log ||
	skip_all "cannot compile clock.so"
ASAN_OPTIONS=verify_asan_link_order=0:${ASAN_OPTIONS:-}
TEST_SLEPT=$tmp/slept
export ASAN_OPTIONS TEST_SLEPT
start_target sleeper 2
target=$target_pid

# sleeping WHAT ARG...: pmp, and such a pause after its first file or snapshot ("begun").
sleeping() {
	what=$1
	shift
	rm -f slept
	began=$(date +%s%N)
	LD_PRELOAD=$tmp/clock.so "$PMP" "$@" -p "$target" >out 2>err &
	pmp=$!
	test_pids="$test_pids $pmp"
	ok "wait_for '[ -s first-1.folded ] || grep -q begun err'" "$what: it has begun"
	printf '%s\n' "$what" >slept
	wait "$pmp"
	status=$?
	took=$((($(date +%s%N) - began) / 1000000))
	is "$status" 0 "$what: status"
	unlike "$(cat err)" 'sampler|killed|not finished' "$what: no alarm"
}

# snapshots FILE...: of the main thread.
snapshots() {
	cat "$@" | awk '/;main;/ { n += $NF } END { print n + 0 }'
}

date -d '+7 hours' >/dev/null 2>&1 && later=$(date -d '+7 hours' +%Y%m%d-%H%M%S)

sleeping boot -q --every 300ms -i 50ms -n 40 --max-cpu 0 -o 'first-%c.folded' --log log
if ! grep -q "$(date +%Y)" log || [ "$(tail -n 1 log | cut -c 1-13)" = "$(head -n 1 log | cut -c 1-13)" ]; then
	skip_all "pmp cannot be preloaded"
fi
is "$(snapshots first-*.folded)" 40 "every snapshot is there, once"
ok "[ $took -le 120000 ]" "after $took ms"
count=$(find . -name 'first-*' | wc -l)
ok "[ $count -le $((took / 300 + 2)) ]" "no file for the time asleep: $count"
rm first-*

# By the time of day.
sleeping boot -q --every 300ms -i 50ms -d 2 --max-cpu 0 -o 'first-%c.folded'
sum=$(snapshots first-*.folded)
ok "[ $took -ge 1900 ] && [ $sum -le 41 ]" \
	"a duration is one of time awake: $took ms, $sum snapshots"
rm first-*
if [ -n "$later" ]; then
	echo boot >slept
	LD_PRELOAD=$tmp/clock.so "$PMP" -q -n 1 -o 'x-%t.folded' -p "$target"
	name=$(find . -name 'x-*' | sed 's/.*x-\(.*\)[.]folded/\1/')
	ok "[ '$(printf '%s\n' "$later" "$name" | sort | head -n 1)' = '$later' ]" \
		"names have the time after it: $name"
fi

# What runs while nothing is awake has jumped as well.
sleeping all --stats -q -F 20 -n 40 --max-cpu 0 --every 400ms --log log -o 'first-%c.folded'
is "$(snapshots first-*.folded)" 40 "halted: every snapshot is there, once"
ok "[ $took -le 120000 ]" "after $took ms"
count=$(find . -name 'first-*' | wc -l)
ok "[ $count -le $((took / 400 + 2)) ]" "no file for that time: $count"
rm first-*
sleeping all -q -F 20 -d 1h --max-cpu 0 --every 300ms -o 'first-%c.folded'
ok "[ $took -le 120000 ]" "halted: an hour is over after $took ms"
ok "wait_for 'untouched $target'" "the target is left alone"
done_testing
