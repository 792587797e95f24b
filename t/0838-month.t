#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A month of cron, a run in ten minutes, by a clock of our own: summer time ends in it, the
# clock is once a year ahead for an hour and once set back by a day, some runs are killed,
# some overlap, and in some there is no target. At each time the newest files are there,
# all of them whole; nothing else is; and the log can be read.
#
# By itself it can be made longer or shorter: RUNS=200 t/0838-month.t

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"

keep=144
runs=${RUNS:-4470} # 31 days of October, and the hour that comes twice
seconds_max=400	   # a machine too slow for all of it

${CC:-cc} -D_GNU_SOURCE -O2 -shared -fPIC -o fakeclock.so "$top_srcdir/t/lib/fakeclock.c" -ldl ||
	skip_all "cannot compile fakeclock.so"
start_target sleeper 1
target=$target_pid
mkdir pmp
TZ='CET-1CEST,M3.5.0,M10.5.0/3' # of Berlin
ASAN_OPTIONS=verify_asan_link_order=0:${ASAN_OPTIONS:-}
export TZ ASAN_OPTIONS

# cron TIME ARG...: what the crontab has, at that time.
cron() {
	TEST_CLOCK=$1
	export TEST_CLOCK
	shift
	LD_PRELOAD=$tmp/fakeclock.so "$PMP" -q -n 1 --no-symbols -o 'pmp/%n-%t.pb.gz' \
		--keep "$keep" --log pmp.log "$@" 2>>errors
}

# killed TIME: a run that does not live long; how long, differs.
killed() {
	cron "$1" -p "$target" &
	sleep "0.0$((run % 7 * 5 + 1))"
	# The child is a shell, which may have made pmp its child.
	kill -KILL $! $(pgrep -P $!) 2>/dev/null
	wait $! 2>/dev/null
}

count_files() {
	set -- pmp/*
	[ -e "$1" ] || set --
	echo $#
}

now=1790805600 # 2026-10-01 00:00:00 +0200
wrong_count=0 failed=0 whole=0 absent=0
begun=$(date +%s)
cron "$now" -p "$target"
[ -e pmp/sleeper-20261001-000000.pb.gz ] || skip_all "the clock cannot be replaced (a static program?)"

run=1
while [ "$run" -lt "$runs" ]; do
	time=$((now + run * 600))
	[ "$run" -lt 1000 ] || [ "$run" -ge 1006 ] || time=$((time + 31536000))
	[ "$run" -lt 1500 ] || time=$((time - 86400))
	[ "$run" -lt 2000 ] || time=$((time + 86400))
	if [ $((run % 41)) -eq 0 ]; then
		killed "$time"
	elif [ $((run % 53)) -eq 0 ]; then
		cron "$time" -p "$target" &
		cron "$time" -p "$target" || failed=$((failed + 1))
		wait $! || failed=$((failed + 1))
		whole=$((whole + 2))
	elif [ $((run % 199)) -eq 0 ]; then
		cron "$time" --name '^no-such-program$'
		[ "$?" -eq 3 ] || failed=$((failed + 1))
		absent=$((absent + 1))
	else
		cron "$time" -p "$target" || failed=$((failed + 1))
		whole=$((whole + 1))
	fi
	if [ $((run % 97)) -eq 0 ]; then
		count=$(count_files)
		[ "$count" -le "$keep" ] || wrong_count=$((wrong_count + 1))
		[ "$run" -lt 200 ] || [ "$count" -eq "$keep" ] || wrong_count=$((wrong_count + 1))
		[ $(($(date +%s) - begun)) -lt "$seconds_max" ] || break
	fi
	# The clock has been right again for half a day.
	[ "$run" -ne 1080 ] || find pmp -name 'sleeper-2027*' | wc -l >future
	# An hour after summer time has ended, at 3 o'clock.
	[ "$run" -ne 3488 ] || find pmp -name 'sleeper-20261025-02*' | wc -l >twice
	run=$((run + 1))
done
diag "$run runs in $(($(date +%s) - begun)) s"

is "$failed" 0 "every run that was not killed did its work"
is "$(cat errors)" "" "cron would have sent no mail"
is "$wrong_count" 0 "never more than $keep files, and then always as many"
is "$(count_files)" "$keep" "at the end there are $keep"
if [ "$run" -eq "$runs" ] && [ "$runs" -gt 3500 ]; then
	ok "[ $(cat future) -ge 1 ]" "files of the future are counted like others, for a while"
	is "$(find pmp -name 'sleeper-2027*')" "" "and have gone at last"
	# Twelve runs but those that were killed or had no target, or had company.
	ok "[ $(cat twice) -ge 10 ]" "the hour that came twice: $(cat twice) files"
	is "$(find pmp -name 'sleeper-202610[0-2]*' | wc -l)" 0 "none is left that should have gone"
else
	skip "not the whole month: $run of $runs runs"
fi
bad=0
for file in pmp/*; do
	"$PMP" -q -f folded --no-symbols "$file" >out 2>&1 && grep -q '^\[*sleeper' out || bad=$((bad + 1))
done
is "$bad" 0 "each can be read"
is "$(find pmp ! -name 'sleeper-2*.pb.gz' ! -name pmp)" "" "nothing else is in the directory"

# The log: whole lines, each with its time and process.
stamp='^20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]0:00\+0[12]00 pmp\[[0-9]+\]: '
is "$(grep -Evc "${stamp}(wrote pmp/sleeper-[0-9]{8}-[0-9]{6}(_[0-9]+)?\.pb\.gz: sleeper \($target\), 1 snap|no process has a name)" pmp.log)" \
	0 "every line of the log is whole"
wrote=$(grep -c ': wrote ' pmp.log)
ok "[ $wrote -ge $whole ] && [ $wrote -le $((whole + run / 41 + 1)) ]" \
	"there is one for each file: $wrote of $whole, and of some that were killed"
is "$(grep -c 'no process has a name' pmp.log)" "$absent" "and for each time without a target"
ok "wait_for 'untouched $target'" "the target is left alone"

done_testing
