#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Months of cron, a run in ten minutes, by a clock of our own: summer time ends in it, the
# clock is once a year ahead for an hour and once set back by a day, some runs are killed,
# some overlap, and in some there is no target. At each time the newest files are there,
# all of them whole; nothing else is; and the log can be read.
#
# With PMP_LONG=1 it is a month, else four days.
# All of that is in the first four days: a slow machine may end the month before its time.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"

keep=144
runs=600
[ "${PMP_LONG:-0}" != 1 ] || runs=4470
[ "$runs" -ge 300 ] || runs=300 # what happens must be over a day before the end
[ "$runs" -le 600 ] && eventful=$runs || eventful=600
seconds_max=300 # a machine too slow for all of it

${CC:-cc} -D_GNU_SOURCE -O2 -shared -fPIC -o fakeclock.so "$top_srcdir/t/lib/fakeclock.c" -ldl ||
	skip_all "cannot compile fakeclock.so"
# Targets of ours do not live that long.
start_process sleep 1000
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

# When what happens; summer time ends at 1792890000, which is 2026-10-25 02:00:00 +0100.
ahead=$((eventful * 22 / 100))
back=$((eventful * 33 / 100))
right=$((eventful * 45 / 100))
winter=$((eventful * 70 / 100))
now=$((1792890000 - winter * 600))
wrong_count=0 failed=0 whole=0 absent=0
begun=$(date +%s)
cron "$now" -p "$target"
[ -e "pmp/sleep-$(date -d "@$now" +%Y%m%d-%H%M%S).pb.gz" ] || skip_all "the clock cannot be replaced (a static program?)"

run=1
while [ "$run" -lt "$runs" ]; do
	time=$((now + run * 600))
	[ "$run" -lt "$ahead" ] || [ "$run" -ge $((ahead + 6)) ] || time=$((time + 31536000))
	[ "$run" -lt "$back" ] || [ "$run" -ge "$right" ] || time=$((time - 86400))
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
		[ "$run" -lt $((keep + 60)) ] || [ "$count" -eq "$keep" ] || wrong_count=$((wrong_count + 1))
		[ "$run" -lt "$eventful" ] || [ $(($(date +%s) - begun)) -lt "$seconds_max" ] || break
	fi
	[ "$run" -ne $((ahead + 5)) ] || find pmp -name 'sleep-2027*' | wc -l >future
	# It is after 3 o'clock for the second time.
	[ "$run" -ne $((winter + 8)) ] || find pmp -name 'sleep-20261025-02*' | wc -l >twice
	run=$((run + 1))
done
diag "$run runs in $(($(date +%s) - begun)) s"

is "$failed" 0 "every run that was not killed did its work"
# A leak checker looks at a process that is being killed.
is "$(grep -v '^==[0-9]*==Unable to get registers' errors)" "" "cron would have sent no mail"
is "$wrong_count" 0 "never more than $keep files, and then always as many"
is "$(count_files)" "$keep" "at the end there are $keep"
ok "[ $(cat future) -ge 4 ]" "files of the future are there like others: $(cat future)"
is "$(find pmp -name 'sleep-2027*')" "" "and have gone at last"
# Twelve runs but those that were killed, or had no target or company.
ok "[ $(cat twice) -ge 10 ]" "the hour that came twice: $(cat twice) files"
# A day is 144 runs; less those that wrote none.
is "$(find pmp ! -newermt "@$((now + (run - 144 - 12) * 600))" -name 'sleep-*')" "" \
	"those that are left are the newest"
bad=0
for file in pmp/*; do
	"$PMP" -q -f folded --no-symbols "$file" >out 2>&1 && grep -q '^sleep;' out || bad=$((bad + 1))
done
is "$bad" 0 "each can be read"
is "$(find pmp ! -name 'sleep-2*.pb.gz' ! -name pmp)" "" "nothing else is in the directory"

# The log: whole lines, each with its time and process.
stamp='^20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]0:00\+0[12]00 pmp\[[0-9]+\]: '
is "$(grep -Evc "${stamp}(wrote pmp/sleep-[0-9]{8}-[0-9]{6}(_[0-9]+)?\.pb\.gz: sleep \($target\), 1 snap|no process has a name)" pmp.log)" \
	0 "every line of the log is whole"
wrote=$(grep -c ': wrote ' pmp.log)
ok "[ $wrote -ge $whole ] && [ $wrote -le $((whole + run / 41 + 1)) ]" \
	"there is one for each file: $wrote of $whole, and of some that were killed"
is "$(grep -c 'no process has a name' pmp.log)" "$absent" "and for each time without a target"
ok "wait_for 'untouched $target'" "the target is left alone"

done_testing
