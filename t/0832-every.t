#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs that write one file after the other: what is in them, what they are called, what a
# full disk, a directory that goes and signals make of them, and which of them are kept.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"
need pgrep

start_target sleeper 3
target=$target_pid

# snapshots FILE...: of the main thread, added up.
snapshots() {
	cat "$@" | awk '/;main;/ { n += $NF } END { print n + 0 }'
}

# end SIGNAL STATUS TEXT
end() {
	kill -"$1" "$pmp"
	wait "$pmp"
	is "$?" "$2" "$3"
}

# files PATTERN: how many there are.
files() {
	find . -maxdepth 1 -name "$1" | wc -l
}

# These take some seconds, beside what follows: a disk that takes two seconds for each file
# of 0.2 s, and one that does not answer any more.
ASAN_OPTIONS=verify_asan_link_order=0:${ASAN_OPTIONS:-}
export ASAN_OPTIONS
slow='' hanging=''
if ${CC:-cc} -D_GNU_SOURCE -O2 -shared -fPIC -o disk.so "$top_srcdir/t/lib/fakeclock.c" -ldl 2>disk.log; then
	TEST_FSYNC=1000000 LD_PRELOAD=$tmp/disk.so "$PMP" -q --every 200ms -n 40 -i 20ms \
		--max-cpu 0 -o 'slow-%c.json' -p "$target" 2>slow.err &
	slow=$!
	TEST_FSYNC=hang LD_PRELOAD=$tmp/disk.so "$PMP" -q --max-wall 1 -n 1 -o hang.folded \
		-p "$target" 2>hang.err &
	hanging=$!
	test_pids="$test_pids $slow $hanging"
fi

# Intervals.
"$PMP" -q --every 200ms -n 50 -i 20ms --max-cpu 0 --log log -o 'a-%c.folded' -p "$target" 2>err
is "$?" 0 "--every, until -n is reached"
is "$(cat err)" "" "-q: nothing is said"
count=$(files 'a-*')
ok "[ $count -ge 3 ]" "a file each 0.2 s of a second or more: $count"
is "$(snapshots a-*.folded)" 50 "together they have every snapshot, once"
is "$(grep -c ' wrote a-[0-9]*.folded: sleeper ([0-9]*), ' log)" "$count" "the log has a line for each"
is "$(awk '/ wrote / { for (i = 1; i < NF; i++) if ($(i + 1) ~ /^snapshots?$/) n += $i } END { print n }' log)" \
	50 "with its snapshots"
unlike "$(cat log)" "$(printf '\033')|^[^2]" "and begins with the time"
is "$(stat -c %a log)" 600 "mode 0600"

"$PMP" -q --every 200ms -n 30 -i 20ms --max-cpu 0 -o b.folded -p "$target"
ok "[ $(snapshots b.folded) -lt 30 ] && [ $(snapshots b.folded) -ge 1 ]" \
	"without %t or %c: the last one"
"$PMP" -q --every 200ms -n 30 -i 20ms --max-cpu 0 -f pmp -p "$target" >out
ok "[ \$(grep -c ',main(sleeper),' out) -ge 2 ]" "without -o: one after the other on stdout"
"$PMP" -q --every 300ms -n 30 -i 20ms --max-cpu 0 -o 'r-%c.json' -p "$target"
is "$(cat r-*.json | wc -l)" 30 "formats of single snapshots: all are there, once"
"$PMP" -q --every 100ms -n 3 -i 400ms -o 'gap-%c.folded' -p "$target"
ok "[ $(files 'gap-*') -le 3 ]" "an interval without a snapshot has no file"
"$PMP" -q --every 200ms -o 'cmd-%n-%c.folded' -- sh -c 'sleep 1; exit 3'
is "$?" 3 "with a command: its status"
ok "[ $(files 'cmd-sh-*') -ge 2 ]" "and files of one name"

# Names.
TZ=UTC "$PMP" -q -n 1 -o 't-%t.folded' -p "$target"
like "$(ls)" '^t-20[0-9]{6}-[0-9]{6}\.folded$' "%t"
: >twice
while [ "$(wc -l <twice)" -lt 5 ]; do
	"$PMP" -q -n 1 -o 'u-%t.folded' -p "$target" || break
	echo >>twice
done
is "$(files 'u-*')" 5 "several in one second: none replaces another"
touch c-7.folded c-x.folded c-9.svg
"$PMP" -q -n 1 -o 'c-%c.folded' -p "$target"
ok "[ -s c-8.folded ]" "%c: one more than the highest"
pids=
for i in 1 2 3 4 5 6; do
	"$PMP" -q -n 1 -o 'par-%c.folded' -p "$target" &
	pids="$pids $!"
done
bad=0
for pid in $pids; do
	wait "$pid" || bad=$((bad + 1))
done
is "$bad" 0 "six at once"
is "$(echo par-*)" "par-1.folded par-2.folded par-3.folded par-4.folded par-5.folded par-6.folded" \
	"have six files"
is "$(snapshots par-*)" 6 "each whole"

# Several processes.
start_target sleeper 1
second=$target_pid
start_target demo
third=$target_pid
"$PMP" -q -n 2 -i 10ms -o 's-%p.folded' -p "$target,$second,$third"
is "$?" 0 "%p: three processes"
ok "[ -s s-$target.folded ] && [ -s s-$second.folded ] && [ -s s-$third.folded ]" "have three files"
is "$(snapshots "s-$second.folded")" 2 "each with its own"
"$PMP" -q -n 2 -i 10ms -o 'n-%n.folded' -p "$target,$second,$third"
is "$(echo n-*)" "n-demo.folded n-sleeper.folded" "%n: those of one name share one"
is "$(snapshots n-sleeper.folded)" 4 "in which both are"
"$PMP" -q -n 2 -i 10ms -o one.folded -p "$target,$second"
is "$(snapshots one.folded)" 4 "neither: one file"
python3 -c 'import ctypes, signal
ctypes.CDLL(None).prctl(15, b"", 0, 0, 0)
signal.pause()' &
nameless=$!
test_pids="$test_pids $nameless"
wait_for "[ -z \"\$(cat /proc/$nameless/comm)\" ]"
"$PMP" -q -n 1 -o 'nameless%n.folded' -p "$nameless"
ok "[ -s nameless_.folded ]" "%n: a process without a name"
kill "$nameless"
"$PMP" -q -n 2 -i 10ms -o 'gone-%p.folded' -p "$target,4194304" 2>err
is "$?" 3 "one of them is not there: its status"
ok "[ -s gone-$target.folded ]" "the other one has its file"
start_pmp -q --every 200ms -o 'sig-%p-%c.folded' -p "$target,$second"
wait_for "[ -e sig-$target-1.folded ] && [ -e sig-$second-1.folded ]"
children=$(pgrep -P "$pmp")
end TERM 143 "TERM is passed on"
for child in $children; do
	ok "[ ! -e /proc/$child ]" "one has ended"
done

# In a directory of all users.
if [ "$(id -u)" = 0 ]; then
	mkdir -m 1777 public
	: >public/sleeper-999999999999999999.folded
	: >public/sleeper-2.folded
	chown 65534 public/*
	"$PMP" -q -n 1 -o 'public/%n-%c.folded' -p "$target"
	"$PMP" -q -n 1 -o 'public/%n-%c.folded' -p "$target"
	ok "[ -s public/sleeper-1.folded ] && [ -s public/sleeper-3.folded ]" \
		"%c: other users' files do not count, and stay"
	is "$(cat public/sleeper-2.folded)" "" "%c: nothing is written into them"
else
	skip "not root: a file of another user"
fi

# USR1, also of what is not complete.
start_pmp -q -d 60 -i 20ms -o 'now-%c.json' -p "$target"
wait_for "grep -q '^SigCgt:.*[2367abef]..\$' /proc/$pmp/status"
ok "wait_for 'kill -USR1 $pmp; [ -s now-1.json ]'" "USR1: snapshots so far"
first=$(wc -l <now-1.json)
ok "wait_for 'kill -USR1 $pmp; [ \$(wc -l <now-1.json) -gt $first ]'" "once more"
first=$(wc -l <now-1.json)
end INT 0 "it goes on until INT"
ok "[ $(wc -l <now-1.json) -ge $first ]" "and the file is then whole: $first, $(wc -l <now-1.json)"
is "$(files 'now-*')" 1 "there is one"

# --keep.
touch k-20200101-000000.folded.bak k-x.folded k-today
mkdir k-20200101-000001.folded
ln -s victim k-20200101-000002.folded
for i in 1 2 3 4 5 6; do
	echo old >"k-2020010$i-000000.folded"
	touch -d "2020-01-0$i" "k-2020010$i-000000.folded"
done
"$PMP" -q -n 1 --keep 3 -o 'k-%t.folded' -p "$target"
is "$(find . -maxdepth 1 -name 'k-*' -type f | wc -l)" 6 "--keep 3"
ok "[ -f k-20200105-000000.folded ] && [ -f k-20200106-000000.folded ]" "the newest stay"
ok "[ -d k-20200101-000001.folded ] && [ -L k-20200101-000002.folded ]" "what is no file stays"
ok "[ -f k-today ] && [ -f k-x.folded ] && [ -f k-20200101-000000.folded.bak ]" "so does what is no other's"
"$PMP" -q --every 100ms -n 40 -i 20ms --max-cpu 0 --keep 2 -o 'e-%c.folded' -p "$target"
is "$(files 'e-*')" 2 "--keep with --every"
ok "[ ! -e e-1.folded ]" "keeps the last ones: $(echo e-*)"

# A disk that is full for a while, and a directory that goes.
if [ "$(id -u)" -eq 0 ] && unshare -m true 2>/dev/null; then
	mkdir small
	cat >full.sh <<-'SH'
		mount -t tmpfs -o size=64k none small || exit 99
		"$1" -q --every 200ms -i 20ms --log log2 -o 'small/x-%c.folded' -p "$2" 2>err2 &
		pmp=$!
		wait_for() { n=0; until eval "$1"; do sleep 0.05; n=$((n + 1)); [ $n -lt 200 ] || return; done; }
		wait_for '[ -s small/x-1.folded ]'
		cp small/x-1.folded before
		dd if=/dev/zero of=small/rest bs=1k 2>/dev/null
		wait_for 'grep -q "No space" err2'
		cmp small/x-1.folded before && echo same >same
		rm small/rest
		last=$(ls small | sed 's/[^0-9]//g' | sort -n | tail -1)
		wait_for "[ -s small/x-$((last + 1)).folded ]" && echo again >again
		find small -size 0 >empty
		kill -INT $pmp
		wait $pmp
		echo $? >status
	SH
	unshare -m sh full.sh "$PMP" "$target"
	like "$(cat err2)" '^pmp: cannot write small/x-[0-9]+\.folded: No space left on device$' \
		"a full disk is reported"
	like "$(cat log2)" 'cannot write small/x-[0-9]+\.folded: No space left on device \(free some space' \
		"also in the log, with the hint"
	ok "[ -e same ]" "what is there stays"
	ok "[ -e again ]" "with room again there are files again"
	is "$(cat empty)" "" "none is empty"
	is "$(cat status)" 5 "status 5 at the end"
else
	skip "needs root and mount namespaces"
fi
mkdir dir
start_pmp -q --every 200ms -i 20ms -o 'dir/x-%c.folded' -p "$target"
wait_for '[ -s dir/x-1.folded ]'
mv dir old
ok "wait_for 'grep -q \"cannot write dir/.*: No such file\" err'" "the directory goes: told"
mkdir dir
ok "wait_for '[ -n \"\$(ls dir)\" ]'" "it is made again: files as well"
end INT 5 "status 5"

# The directory goes, and a link comes in its place that is not followed.
mkdir -m 777 all all/dir
start_pmp -q -d 60 -o all/dir/one.folded -p "$target"
wait_for 'ls -l "/proc/$pmp/fd" | grep -q all/dir'
mv all/dir all/old
ln -s old all/dir
end INT 5 "a link in place of its directory: status 5"
like "$(cat err)" "^pmp: cannot write all/dir/one.folded: a symbolic link leads there" \
	"a link in place of its directory: the message"

# Nothing is left of the killed.
start_pmp -q --every 100ms -i 5ms --max-cpu 0 -o 'killed-%c.folded' -p "$target"
wait_for '[ -s killed-3.folded ]'
kill -KILL "$pmp"
wait "$pmp" 2>/dev/null
is "$(find . -name '.pmp*' -o -name 'killed-*' -size 0)" "" "killed: nothing half is left"
ok "wait_for 'untouched $target'" "the target is left alone"

# --max-wall.
"$PMP" -q --max-wall 2 -d 60 -o wall.folded -p "$target" 2>err
is "$?" 1 "--max-wall"
is "$(cat err)" "pmp: not finished within --max-wall: ending" "its message"
ok "[ -s wall.folded ]" "what was collected is written"
full_pipe pipe
"$PMP" -q --max-wall 1 --raw -n 100000 -i 1ms --max-cpu 0 -p "$target" >pipe 2>err 9>&-
is "$?" 1 "--max-wall, and the reader is stuck"
is "$(tail -n 1 err)" "pmp: not finished 5 seconds later: killed" "it ends nevertheless"
exec 9>&-
ok "wait_for 'untouched $target'" "the target is left alone"

if [ -n "$slow" ]; then
	wait "$slow"
	is "$?" 0 "a slow disk"
	is "$(cat slow-*.json | wc -l)" 40 "every snapshot is there"
	span=$(cat slow-*.json | sed 's/.*"time_ns":\([0-9]*\).*/\1/' | sort -n |
		sed -n '1p;$p' | tr '\n' ' ' | awk '{ print int(($2 - $1) / 1000000) }')
	ok "[ $span -lt 5000 ]" "they were taken in $span ms, not in the $(files 'slow-*') times 2 s of the disk"
	wait "$hanging"
	is "$?" 1 "a disk that hangs: --max-wall ends it nevertheless"
	is "$(tail -n 1 hang.err)" "pmp: not finished 5 seconds later: killed" "--max-wall says that a disk hangs"
	is "$(find . -name 'hang.folded' -o -name '.pmp*')" "" "and it leaves nothing"
else
	skip "cannot compile disk.so"
fi

# File systems that lack one thing or the other.
for disk in renames links names; do
	[ -n "$slow" ] || break
	export TEST_DISK=$disk
	LD_PRELOAD=$tmp/disk.so "$PMP" -q --every 100ms -n 20 -i 20ms --max-cpu 0 --keep 2 \
		-o "$disk-%c.folded" -p "$target" 2>err
	is "$?,$(cat err)" "0," "a disk that has no nameless files, but $disk"
	is "$(files "$disk-*")" 2 "--keep on it"
	LD_PRELOAD=$tmp/disk.so "$PMP" -q -n 1 -o "$disk.folded" -p "$target"
	LD_PRELOAD=$tmp/disk.so "$PMP" -q -n 2 -i 10ms -o "$disk.folded" -p "$target"
	is "$(snapshots "$disk.folded")" 2 "a file is replaced on it"
	LD_PRELOAD=$tmp/disk.so "$PMP" -q -n 3 --raw -i 10ms -o "$disk-%t.txt" -p "$target"
	is "$(files "$disk-2*.txt")" 1 "and written with a time"
	unset TEST_DISK
done
is "$(find . -name '.pmp*')" "" "no temporary file is left"

# --log.
"$PMP" -q --log log3 --name '^no-such-program$' 2>err
is "$?" 3 "no such program: status 3"
is "$(cat err)" "" "with -q and --log it is not said"
like "$(cat log3)" "^[0-9-]{10}T[0-9:]{8}[+-][0-9]{4} pmp\[[0-9]+\]: no process has a name that matches" \
	"but logged"
"$PMP" -q --name '^no-such-program$' 2>err
like "$(cat err)" 'no process has a name' "without a log it is said"
"$PMP" -q -n 1 --log nowhere/log -f folded -p "$target" >out 2>err
is "$?" 5 "a log that cannot be written"
is "$(cat err)" "pmp: cannot write the log nowhere/log: No such file or directory" "its message"
is "$(cat out)" "" "before anything is done"
mkdir -m 1777 shared
ln -s "$tmp/victim" shared/log
"$PMP" -q -n 1 --log shared/log -f folded -p "$target" >out 2>err
is "$?" 5 "a link in a shared directory"
ok "[ ! -e victim ]" "is not followed"
start_pmp -q --every 100ms -i 20ms --log log4 -o 'l-%c.folded' -p "$target"
wait_for '[ -s log4 ]'
mv log4 log4.1
ok "wait_for '[ -s log4 ]'" "renamed, the log is started again"
end INT 0 "and nothing is wrong"

done_testing
