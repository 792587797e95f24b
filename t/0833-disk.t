#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A quota that is used up and a file system that is read-only, as the place of -o, of
# --every and of --log: what is there stays, what can be written is, and each is reported.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"

start_target sleeper 2
target=$target_pid

# profile ARG...: two snapshots; their status and messages in $status and err.
profile() {
	"$PMP" -q -n 2 -i 1ms "$@" -p "$target" 2>err
	status=$?
}

# ---- the quota -----------------------------------------------------------------------

ASAN_OPTIONS=verify_asan_link_order=0:${ASAN_OPTIONS:-}
export ASAN_OPTIONS
quota_write() {
	LD_PRELOAD=$tmp/disk.so TEST_QUOTA=$tmp/quota profile "$@"
}

if ! ${CC:-cc} -D_GNU_SOURCE -O2 -shared -fPIC -o disk.so "$top_srcdir/t/lib/fakeclock.c" -ldl 2>cc.log; then
	skip "cannot compile disk.so: $(head -n 1 cc.log)"
elif ! LD_PRELOAD=$tmp/disk.so TEST_CLOCK=1 "$PMP" -q -n 1 -o 'probe-%t.folded' -p "$target" 2>err ||
	[ -z "$(find . -name 'probe-197*' -o -name 'probe-1969*')" ]; then
	skip "pmp cannot be preloaded"
else
	for when in write sync; do
		echo "$when" >quota
		echo precious >x.folded
		quota_write -o x.folded
		is "$status" 5 "a quota is used up, told by $when: status"
		is "$(cat err)" "pmp: cannot write x.folded: Disk quota exceeded
hint: free some space, or use another directory with -o" "its message"
		is "$(cat x.folded)" precious "what is there stays"
		quota_write -o 'new-%c.folded'
		is "$status" 5 "a new name"
		is "$(find . -name 'new-*' -o -name '.pmp*')" "" "nothing half is left"
		rm quota
		quota_write -o x.folded
		is "$status" 0 "and with room again"
		like "$(cat x.folded)" '^sleeper;' "it is replaced"
	done
	# The log and the profile: one message, and what is to be written is not lost.
	echo write >quota
	quota_write --log log -o log.folded
	is "$(grep -c 'cannot write the log log: Disk quota exceeded' err)" 1 \
		"a log that takes nothing is reported once"
	is "$status" 5 "its status is the file's"
	rm quota

	LD_PRELOAD=$tmp/disk.so TEST_QUOTA=$tmp/quota "$PMP" -q --every 100ms -i 10ms \
		--log log -o 'e-%c.folded' -p "$target" 2>err &
	pmp=$!
	test_pids="$test_pids $pmp"
	ok "wait_for '[ -s e-2.folded ]'" "--every writes"
	cp e-1.folded before
	echo sync >quota
	ok "wait_for 'grep -q \"cannot write e-[0-9]*.folded: Disk quota exceeded\" err'" \
		"until the quota is used up, which is reported"
	like "$(cat log)" 'cannot write e-[0-9]*.folded: Disk quota exceeded \(free some space' \
		"also in the log"
	ok "cmp -s before e-1.folded" "what is there stays"
	number=$(find . -name 'e-*' | sed 's/[^0-9]//g' | sort -n | tail -n 1)
	rm quota
	ok "wait_for '[ -s e-$((number + 1)).folded ]'" "it goes on when there is room again"
	kill -INT "$pmp"
	wait "$pmp"
	is "$?" 5 "status 5 at the end"
	is "$(find . -name 'e-*' -size 0 -o -name '.pmp*')" "" "nothing half is left"
fi

# ---- a disk that hangs -----------------------------------------------------------------

for signal in TERM INT HUP; do
	[ -e disk.so ] || break
	TEST_FSYNC=hang LD_PRELOAD=$tmp/disk.so "$PMP" -q -d 60 -o "hangs.folded" -p "$target" 2>err &
	pmp=$!
	test_pids="$test_pids $pmp"
	sampling "$pmp"
	begin=$(date +%s)
	kill -"$signal" "$pmp"
	ok "wait_for '! alive $pmp' 20" "$signal: pmp ends though its disk hangs"
	took=$(($(date +%s) - begin))
	test_is_child "$pmp" && alive "$pmp" && kill -KILL "$pmp"
	wait "$pmp"
	is "$?,$(cat err)" "5,pmp: cannot write hangs.folded: its file system does not answer" \
		"$signal: a disk that hangs is said to, with status 5"
	ok "[ $took -ge 4 ] && [ $took -le 9 ]" "$signal: a disk that hangs is given up after 5 s ($took)"
	is "$(find . -name 'hangs*' -o -name '.pmp*')" "" "$signal: a disk that hangs has nothing half"
done

# ---- a log that hangs ------------------------------------------------------------------

if [ -e disk.so ]; then
	TEST_LOG=hang LD_PRELOAD=$tmp/disk.so timeout -s KILL 60 "$PMP" --max-wall 1 -n 1 \
		-f folded --log log -p "$target" >out 2>err
	is "$?" 137 "a log that cannot even be opened: --max-wall ends it nevertheless"
	ok "wait_for 'untouched $target'" "the target is left alone"
fi

# ---- read-only -----------------------------------------------------------------------

if [ "$(id -u)" -eq 0 ] && unshare -m true 2>/dev/null; then
	mkdir ro
	cat >ro.sh <<-'SH'
		# run NAME ARG...: pmp, its status and messages in NAME.status and NAME.err.
		run() {
			name=$1
			shift
			"$PMP" -q -n 3 -i 1ms "$@" -p "$target" 2>"$name.err"
			echo $? >"$name.status"
		}
		mount -t tmpfs none ro || exit 99
		echo precious >ro/x.folded
		echo old >ro/log
		mount -o remount,ro ro || exit 99
		run file -o ro/x.folded
		run new -o ro/new.folded
		run raw --raw -o ro/x.txt
		run every --every 100ms -o 'ro/x-%c.folded'
		run keep --keep 1 -o 'ro/x-%c.folded'
		run log --log ro/log -o log.folded
		run device -f folded -o ro/../out
		cat ro/x.folded ro/log >kept
		ls -A ro >names
	SH
	PMP=$PMP target=$target unshare -m sh ro.sh
	readonly_hint='hint: choose a directory you may write to with -o'
	for name in file new raw every keep log; do
		is "$(cat $name.status)" 5 "a read-only file system, $name: status"
	done
	is "$(cat file.err)" "pmp: cannot write ro/x.folded: Read-only file system
$readonly_hint" "its message"
	is "$(cat raw.err)" "pmp: cannot write ro/x.txt: Read-only file system
$readonly_hint" "that of raw"
	like "$(cat every.err)" '^pmp: cannot write ro/x-1.folded: Read-only file system$' \
		"that of --every"
	is "$(grep -c 'Read-only' every.err)" 1 "which is reported once"
	like "$(cat keep.err)" '^pmp: cannot write ro/x-1.folded: Read-only' "that of --keep"
	is "$(cat log.err)" "pmp: cannot write the log ro/log: Read-only file system" "that of --log"
	ok "[ ! -e log.folded ]" "which is checked before anything is done"
	is "$(cat device.status)" 0 "a path that goes through it"
	is "$(cat kept)" "precious
old" "what is there stays"
	is "$(cat names)" "log
x.folded" "alone"
else
	skip "needs root and mount namespaces"
fi
ok "wait_for 'untouched $target'" "the target is left alone"
done_testing
