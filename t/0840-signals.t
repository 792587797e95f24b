#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Signals: whatever ends pmp, what was sampled is written first; suspended, it has
# nothing attached.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"
need pgrep timeout

start_target sleeper 2
target=$target_pid

for pair in INT:0 TERM:143 HUP:129 QUIT:131; do
	signal=${pair%:*}
	start_pmp -q -f folded -d 60 -p "$target"
	sampling "$pmp"
	kill -"$signal" "$pmp"
	wait "$pmp"
	is "$?" "${pair#*:}" "$signal: status"
	like "$(cat out)" '^sleeper;.* [0-9]+$' "$signal: the profile is written"
done

# As timeout(1) does it: the same signal to the process and to its group. It passes on
# what it gets itself in the same way.
timeout -s INT 60 "$PMP" -q -f folded -d 60 -p "$target" >out 2>err &
timeout=$!
test_pids="$test_pids $timeout"
wait_for "pmp=\$(cat /proc/$timeout/task/$timeout/children) && [ -n \"\$pmp\" ]"
sampling "${pmp% }"
kill -INT "$timeout"
wait "$timeout"
like "$(cat out)" '^sleeper;.* [0-9]+$' "the same signal twice at once is one"

# The command sees to it itself.
start_pmp -q -f folded -d 60 -- sh -c "kill -INT \$PPID; sleep 0.5; exit 4"
wait "$pmp"
is "$?" 4 "INT with a command: its status"

# The reader is stuck: the first INT cannot write, the second leaves.
full_pipe pipe
"$PMP" -q --raw -n 100000 -i 1ms -p "$target" >pipe 2>err 9>&- &
pmp=$!
test_pids="$test_pids $pmp"
begun "$pmp"
sampler=$(sampler_of "$pmp")
kill -INT "$pmp"
sleep 0.3
ok "kill -0 $pmp" "one INT: waits for its reader"
kill -INT "$pmp"
wait "$pmp"
is "$?" 130 "a second INT leaves at once"
ok "wait_for '[ ! -e /proc/$sampler ]'" "the sampler is gone"
ok "wait_for 'untouched $target'" "the target is left alone"

# One signal is enough, whichever it is, and however much there is to write.
for case in 'INT --raw -n 100000 -i 1ms' 'TERM -f pmp -d 60' 'HUP -f folded -d 60'; do
	# shellcheck disable=SC2086
	"$PMP" -q ${case#* } -p "$target" >pipe 2>err 9>&- &
	pmp=$!
	test_pids="$test_pids $pmp"
	begun "$pmp"
	begin=$(date +%s)
	kill -"${case%% *}" "$pmp"
	ok "wait_for '! alive $pmp' 20" "${case%% *}: pmp ends though nothing reads its output"
	took=$(($(date +%s) - begin))
	ok "[ $took -ge 4 ] && [ $took -le 9 ]" "${case%% *}: a reader that does not read is given up after 5 s ($took)"
	stop_process "$pmp"
	is "$(cat err)" "pmp: cannot write standard output: nothing reads it" "${case%% *}: that nothing reads is said"
done
exec 9>&-

# USR1 writes now and goes on.
start_pmp -q -d 60 -o now.folded -p "$target"
sampling "$pmp"
kill -USR1 "$pmp"
ok "wait_for '[ -s now.folded ]'" "USR1: the profile is written"
ok "kill -0 $pmp" "and pmp goes on"
first=$(awk '{ n += $NF } END { print n }' now.folded)
sampling "$pmp"
kill -TERM "$pmp"
wait "$pmp"
is "$?" 143 "until TERM"
last=$(awk '{ n += $NF } END { print n }' now.folded)
ok "[ $last -gt $first ]" "the file is renewed: $first, then $last"

# Suspended: no snapshot is taken. The shell does not see a stopped child end.
start_pmp -q --raw -n 100000 -i 2ms -p "$target"
wait_for '[ -s out ]'
kill -TSTP "$pmp"
ok "wait_for 'grep -q \"^State:.T\" /proc/$pmp/status'" "TSTP: pmp stops"
ok "untouched $target" "nothing is attached"
sampler=$(sampler_of "$pmp")
rests=$(rests_of "$sampler")
calls=$(awk '/^voluntary/ { print $2 }' "/proc/$target/task/$target/status")
sleep 0.3
woken=$(($(rests_of "$sampler") - rests))
ok "[ $woken -le 20 ]" "TSTP: the sampler takes no snapshot: woken $woken times in 150 intervals"
is "$(awk '/^voluntary/ { print $2 }' "/proc/$target/task/$target/status")" "$calls" \
	"and nothing is stopped meanwhile"
before=$(grep -c '^---' out)
kill -CONT "$pmp"
ok "wait_for '[ \$(grep -c ^--- out) -gt $((before + 5)) ]'" "CONT: it goes on"
kill -TERM "$pmp"
wait "$pmp"
is "$?" 143 "and ends in order"

# Ignored by nohup, ignored by pmp.
(
	trap '' HUP
	exec "$PMP" -q -f folded -d 2 -p "$target" >out 2>err
) &
pmp=$!
test_pids="$test_pids $pmp"
sampling "$pmp" 5
kill -HUP "$pmp"
wait "$pmp"
is "$?" 0 "HUP under nohup"

# reading SIGNAL STATUS ARG...: a profile of which no more comes.
reading() {
	signal=$1
	status=$2
	shift 2
	exec 8<>slow
	start_pmp "$@" 8>&-
	# The second thread reads.
	wait_for "[ \"\$(ls /proc/$pmp/task | wc -l)\" -eq 2 ]"
	kill -"$signal" "$pmp"
	ok "wait_for '! grep -q \"^State:.[^Z]\" /proc/$pmp/status' 2" "$signal while $* reads: it ends at once"
	wait "$pmp"
	is "$?" "$status" "$signal while $* reads: status"
	is "$(cat out err)" "pmp: interrupted while reading slow" \
		"$signal while $* reads: its message"
	exec 8>&-
}

# While it starts: the process that reads files takes a second to answer.
for signals in USR1 'STOP CONT'; do
	PMP_FAULT=late-parent "$PMP_FAULTY" -q -f folded -n 1 -o start.folded -p "$target" \
		2>err &
	pmp=$!
	test_pids="$test_pids $pmp"
	wait_for "pgrep -P $pmp -x pmp-namers"
	for signal in $signals; do
		kill -"$signal" "$pmp"
	done
	wait "$pmp"
	is "$? $(cat err)" "0 " "$signals while it starts: it goes on"
	like "$(cat start.folded)" '^sleeper;' "$signals while it starts: the profile is written"
	rm -f start.folded
done

mkfifo slow
reading INT 130 -f folded slow
reading TERM 143 -q -f folded -o x.folded slow
reading INT 130 -f folded --diff slow -p "$target"
ok "[ ! -e x.folded ]" "nothing was written"

start_pmp -f folded slow 8<>slow
wait_for "[ \"\$(ls /proc/$pmp/task | wc -l)\" -eq 2 ]"
kill -TSTP "$pmp"
ok "wait_for 'grep -q \"^State:.T\" /proc/$pmp/status'" "TSTP while it reads: it stops"
kill -CONT "$pmp"
kill -INT "$pmp"
wait "$pmp"
is "$?" 130 "TSTP while it reads: continued, it ends by INT"

# While a command starts: it ends with pmp, or has never begun.
cp "$(command -v sleep)" nap
# naps: the pids of those that run
naps() {
	for pid in $(pgrep -x nap); do
		[ "$(readlink "/proc/$pid/exe")" = "$PWD/nap" ] && echo "$pid"
	done
}
hung=0 statuses='' left=''
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24; do
	"$PMP" -q -f folded -o /dev/null -- ./nap 700 2>/dev/null &
	pmp=$!
	test_pids="$test_pids $pmp"
	sleep "$(awk "BEGIN { print $i * 0.003 }")"
	kill -TERM "$pmp"
	timeout 5 tail -f --pid="$pmp" /dev/null || hung=$((hung + 1))
	kill -KILL "$pmp" 2>/dev/null
	wait "$pmp" 2>/dev/null
	statuses="$statuses $?"
	for pid in $(naps); do
		left="$left $pid"
		kill -KILL "$pid"
	done
done
is "$hung" 0 "TERM while a command starts: pmp ends"
is "$left" "" "TERM while a command starts: nothing is left of it"
like "$statuses" '^( 143)*$' "TERM while a command starts: status"

done_testing
