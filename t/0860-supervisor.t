#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Either of pmp's two processes dies or hangs: the target runs on, what was sampled
# is kept, and nothing of pmp stays.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"
need pgrep ps

start_target sleeper 2
target=$target_pid

# start ARG...: pmp in the background, in $pmp and $sampler; with snapshots.
start() {
	start_pmp "$@"
	sampling "$pmp" "${rests:-25}"
	sampler=$test_sampler
}

start -f folded -d 60 -p "$target"
is "$(ps -o sid= -p "$sampler" | tr -d ' ')" "$sampler" "the sampler has a session of its own"
is "$(ls -l "/proc/$sampler/fd" 2>/dev/null | awk 'NF > 8 && $9 <= 2 { print $11 }' | sort -u)" /dev/null \
	"and neither terminal nor output"
kill -KILL "$sampler"
wait "$pmp"
is "$?" 1 "the sampler is killed: status"
like "$(cat err)" '^pmp: the sampler was ended by signal 9 \(Killed\); the [0-9]+ snapshots taken are kept$' \
	"its message"
like "$(cat out)" '^sleeper;.* [0-9]+$' "the profile is kept"
ok "wait_for 'untouched $target'" "the target is left alone"

start -f folded -d 60 -p "$target"
kill -ABRT "$sampler"
wait "$pmp"
is "$?" 1 "the sampler crashes: status"
like "$(cat err)" 'was ended by signal 6' "its message"

start -f folded -d 60 -p "$target"
kill -STOP "$sampler"
wait "$pmp"
is "$?" 1 "the sampler is stopped: status"
like "$(cat err)" '^pmp: the sampler (did not answer any more|held a thread for more than a second) and was killed; the [0-9]+ snapshots taken are kept$' \
	"its message"
like "$(cat out)" '^sleeper;.* [0-9]+$' "the profile is kept"
ok "wait_for '[ ! -e /proc/$sampler ]'" "it is gone"
ok "wait_for 'untouched $target'" "the target is left alone"

# It would answer if it had a processor: the last of all on one that others have for some
# seconds. Nobody must wait in the queue of the realtime ones to end them.
if [ "$(id -u)" -eq 0 ] && command -v taskset chrt >/dev/null; then
	rests=5
	start -q -f folded -d 60 -p "$target"
	timeout 9 taskset 1 setsid nice -n -20 sh -c \
		'echo -20 >/proc/self/autogroup; while :; do :; done' 2>/dev/null &
	others=$!
	timeout 8 chrt -f 1 taskset 1 sh -c 'while :; do :; done' &
	others="$others $!"
	test_pids="$test_pids $others"
	taskset -p 1 "$sampler" >/dev/null && chrt -i -p 0 "$sampler"
	# Sessions have their shares, where the kernel groups by them.
	[ ! -e "/proc/$sampler/autogroup" ] || echo 19 >"/proc/$sampler/autogroup"
	for pid in $others; do
		wait "$pid"
	done
	kill -INT "$pmp"
	wait "$pmp"
	is "$?:$(cat err)" "0:" "a sampler without a processor is not killed for that"
	like "$(cat out)" '^sleeper;.* [0-9]+$' "and ends in order when it has one"
else
	skip "not root, or no taskset or chrt"
fi
rests=25

# Stopped while it holds threads: found by trying.
start_target sleeper 200
held=$target_pid
rests=1000 # it sleeps up to 200 times in one snapshot, too
start -f folded --no-symbols --stop=all --max-stop=1h -F 10000 -d 60 -p "$held"
tries=0
while [ "$tries" -lt 200 ]; do
	kill -STOP "$sampler"
	wait_for "grep -q '^State:.T' /proc/$sampler/status" 2
	untouched "$held" || break
	kill -CONT "$sampler"
	sleep 0.01
	tries=$((tries + 1))
done
ok "! untouched $held" "the sampler is stopped while it holds threads (try $tries)"
ok "wait_for 'untouched $held' 3" "they are released within three seconds"
wait "$pmp"
is "$?" 1 "status"
like "$(cat err)" '^pmp: the sampler held a thread for more than a second and was killed;' "its message"
like "$(cat out)" '^sleeper;.* [0-9]+$' "the profile is kept"
rests=25
stop_process "$held"

# A sampler that has been taken over sends texts without an end.
PMP_FAULT=sampler-endless "$top_builddir/pmp/pmp-faulty" -d 1 -p 4194304 >out 2>err
is "$?" 3 "texts without an end: status"
is "$(head -n 1 err | tr -d m)" "pp: " "the message ends where it must"
is "$(sed -n 2p err | tr -d h)" "int: " "and the hint"

# TERM and the like do not end a sampler: killall must not lose samples.
rests=5
start -q -f folded -d 2 -p "$target"
kill -TERM "$sampler"
kill -INT "$sampler"
kill -TSTP "$sampler"
wait "$pmp"
is "$?" 0 "signals to the sampler alone do nothing"

rests=25
for signal in KILL SEGV; do
	start -q -f folded -F 1000 -d 60 -p "$target"
	kill -"$signal" "$pmp"
	wait "$pmp" 2>/dev/null
	ok "wait_for '[ ! -e /proc/$sampler ]' 2" "the front dies of $signal: so does the sampler"
	ok "wait_for 'untouched $target'" "the target is left alone"
done

# A front that is stopped and goes on is no reason to kill anything, and what was
# missed is not made up for.
rests=5
start -f folded -F 20 -d 2 --stats -p "$target"
kill -STOP "$pmp"
sleep 1
kill -CONT "$pmp"
wait "$pmp"
is "$?" 0 "the front is stopped for a while"
ok "[ $(awk '{ n += $NF } END { print n / 3 }' out) -le 40 ]" "not more snapshots than asked"
start -f folded -F 20 -d 2 --stats -p "$target"
kill -STOP "$sampler"
sleep 0.8
kill -CONT "$sampler"
wait "$pmp"
is "$?" 0 "the sampler is stopped for a moment"
missed=$(sed -n 's/.* \([0-9]*\) ticks missed$/\1/p' err)
ok "[ ${missed:-0} -ge 8 ]" "missed ticks are counted: $missed"

done_testing
