#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A user mounts a file system of his own, and an overlay on it that root may read: his server
# answers all but pmp, which waits for no answer. Containers are read as ever.

# shellcheck source=t/lib/hangfs.sh
. "${top_srcdir:-.}/t/lib/hangfs.sh"

[ "$(id -u)" -eq 0 ] || skip_all "not root: only root reads other users' files"
need setpriv mknod
theirs="setpriv --reuid 65532 --regid 65532 --clear-groups"
chmod 755 .
cp "$top_builddir/t/target/chain" chain
mknod -m 666 device c 10 229 || skip_all "cannot make a device"
mkdir empty upper over
chown 65532 fs empty over
# Whatever happens, nothing is left that waits for it: the server ends with the target.
cat >mounts <<'END'
HANGFS_DEVICE=device ./hangfs fs ./chain but "$1" >served 2>asked &
tries=0
until grep -q ^ready served || [ $tries -eq 100 ]; do sleep 0.1; tries=$((tries + 1)); done
mount -t overlay -o lowerdir=fs:empty,userxattr overlay over || exit 1
[ -z "$2" ] || { mount --bind over /tmp && exec "$2"; }
exec over/file
END

# hostile PATTERN [PROGRAM]: the target is a program on such an overlay, or PROGRAM, which has it
# as /tmp; who is called so gets no answer.
hostile() {
	: >served
	: >asked
	chown 65532 served asked
	# shellcheck disable=SC2086
	start_process $theirs unshare --user --map-root-user --mount sh mounts "$@"
	wait_for "grep -q ^ready '$target_out' || ! alive $target_pid" && alive "$target_pid" && return
	diag "$(cat "$target_err" asked)"
	skip_hostile="no file system of a user: $(tail -n 1 "$target_err")"
	return 1
}

# ends PID SECONDS: it ends by itself; else the server ends, and so all that waits for it.
ends() {
	wait_for "! alive $1" "$2" && return
	diag "$(grep -H . /proc/"$1"/task/*/wchan)"
	stop_process "$hostile"
	kill -KILL "$1"
	return 1
}

# asks_nothing TEXT ARG...: pmp with these arguments ends, and asks that server nothing.
asks_nothing() {
	text=$1
	shift
	"$PMP" -f folded -n 3 -i 1ms "$@" >out 2>err &
	pmp=$!
	test_pids="$test_pids $pmp"
	ok "ends $pmp 60" "$text: pmp ends"
	wait "$pmp"
	is "$?" 0 "with status 0"
	is "$(cat asked)" "" "and has asked that server nothing"
}

# survives PATTERN
survives() {
	hostile "$1" || { skip "$skip_hostile"; return; }
	hostile=$target_pid
	start_target sleeper 2
	asks_nothing "an overlay whose server answers all but $1" -p "$hostile" -p "$target_pid"
	like "$(cat out)" '^sleeper-[0-9]+;.*;nap' "another target has names"
	like "$(cat out)" "^file-$hostile;" "that one has stacks"
	like "$(cat err)" "^pmp: no names for 100% of the frames of .*over/file: on another user's file system\$" \
		"it says why they have no names"
	like "$(cat err)" '^hint: run pmp as that user, or within its container$' "with a hint"
	stop_process "$target_pid"
	stop_process "$hostile"
}

check_front() {
	survives pmp
}

check_sampler() {
	survives 'pmp*'
}

# Code without a file: a perf map is looked for.
check_perf_map() {
	cp "$top_builddir/t/target/jit" jit
	hostile 'pmp*' ./jit || { skip "$skip_hostile"; return; }
	hostile=$target_pid
	export PMP_DEBUG=files
	asks_nothing "/tmp is on such an overlay" -p "$hostile"
	unset PMP_DEBUG
	like "$(cat out)" '^jit.*;jit_caller;' "what has a file has names"
	like "$(cat err)" "/tmp/perf-[0-9]+\.map ignored: it is on another user's file system" \
		"its perf map is ignored, and PMP_DEBUG=files says why"
	stop_process "$hostile"
}

# Its own user reads it, and so does root within.
check_own() {
	hostile nobody-is-called-so || { skip "$skip_hostile"; return; }
	cp "$PMP" pmp
	chmod 755 pmp
	# shellcheck disable=SC2086
	$theirs ./pmp -f folded -n 2 -i 1ms -p "$target_pid" >out 2>err
	is "$?" 0 "the pmp of that user: status 0"
	like "$(cat out)" ';f3;f2;f1;f0' "with names"
	nsenter --user --mount -t "$target_pid" "$tmp/pmp" -f folded -n 2 -i 1ms -p "$target_pid" >out 2>err
	is "$?" 0 "the pmp of root in that user namespace: status 0"
	like "$(cat out)" ';f3;f2;f1;f0' "with names"
	"$PMP" -f folded -n 2 -i 1ms -p "$target_pid" >out 2>err
	unlike "$(cat out)" ';f3;f2;f1;f0' "but the pmp of root outside has no names"
	stop_process "$target_pid"
}

# named TEXT: the target has names. $without: for pmp
without=
# shellcheck disable=SC2086 # words
named() {
	wait_for "grep -q ^ready '$target_out'" || { skip "$1: $(tail -n 1 "$target_err")"; return; }
	$without "$PMP" -f folded -n 5 -i 10ms -p "$target_pid" >out 2>err
	like "$(cat out)" ';f3;f2;f1;f0' "$1 has names" || diag "$(cat err)"
	stop_process "$target_pid"
}

# shellcheck disable=SC2086,SC2016 # words; expanded by the other shell
check_containers() {
	cp chain upper/file
	mount -t overlay -o "lowerdir=$tmp/upper:$tmp/empty" overlay over ||
		{ skip "no overlay can be mounted here"; return; }
	start_process "$tmp/over/file"
	named "an overlay that is seen"
	start_process unshare --mount --propagation private sh -c \
		'mkdir -p new && mount --bind over new && umount over && exec new/file'
	named "one that is bound elsewhere, in a mount namespace"
	start_process $theirs unshare --user --map-root-user --mount "$tmp/over/file"
	named "one in a user namespace that is seen outside"
	umount over
	start_process unshare --mount --propagation private sh -c \
		'mount -t overlay -o "lowerdir=$PWD/upper:$PWD/empty" overlay over && exec over/file'
	named "an overlay in a mount namespace of root's"
	start_process $theirs unshare --user --map-root-user --mount sh -c \
		'mount -t tmpfs tmpfs over && cp chain over/file && exec over/file'
	named "a user's tmpfs"
}

# The ids of mounts are also in fdinfo.
check_sandbox() {
	command -v python3 >/dev/null || { skip "no python3"; return; }
	without="python3 $top_srcdir/t/lib/without.py statx"
	check_containers
	start_process ./chain
	named "without statx(), a file on a disk"
	without=
}

run_checks "$@"
