#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A close that a stop makes fail has closed its file: it is never begun again, as the
# descriptor may be another file by then.

# In mounts of its own, which go with it.
if [ -z "$HANGFS_MOUNTS" ] && unshare -m true 2>/dev/null; then
	HANGFS_MOUNTS=1 exec unshare -m --propagation private sh "$0" "$@"
fi
# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"
# shellcheck source=t/lib/live.sh
. "$top_srcdir/t/lib/live.sh"
need unshare
[ -n "$HANGFS_MOUNTS" ] || skip_all "no mount namespaces"
[ -w /dev/fuse ] || skip_all "no /dev/fuse"
build hangfs "$live_target/hangfs.c" || skip_all "cannot compile a file system"
build closer "$live_target/closer.c" || skip_all "cannot compile a target"
mkdir fs

serve() {
	start_process ./hangfs fs "$top_builddir/t/target/chain" flush
	server=$target_pid
	wait_for "[ -x fs/file ] && grep -q ^ready '$target_out'"
}

unserve() {
	stop_process "$server"
	umount -l fs
}

# Who is asleep in close is not stopped, but with a planted fault that stops all.
check_close() {
	serve || { skip "no file system can be mounted here: $(head -n 1 "$target_err")"; return; }
	start_target ./closer fs/file
	# shellcheck disable=SC2086
	ok "'$PMP' -q -f folded --stop=all -n 300 -i 1ms --max-stop 1s -p $target_pid >out 2>err" \
		"300 snapshots of a thread that closes" || diag "$(cat err)"
	ok "grep -q ';close_one;' out" "it was met there"
	verdict "nothing was closed twice"
	diag "$(grep ^closed "$target_out")"
	unserve
}

check_stopped() {
	[ -x "$PMP_FAULTY" ] || { skip "no $PMP_FAULTY"; return; }
	serve || { skip "no file system can be mounted here: $(head -n 1 "$target_err")"; return; }
	start_target ./closer fs/file
	PMP_FAULT=stop-fragile${PMP_JUDGE_FAULT:+,$PMP_JUDGE_FAULT} "$PMP_FAULTY" -q -f folded \
		--stop=all -n 300 -i 1ms --max-stop 1s -p "$target_pid" >out 2>err
	verdict "nothing was closed twice by a pmp that stops it nevertheless"
	ok "! grep -q '^closed .* interrupted 0\$' '$target_out'" \
		"but some were interrupted: $(grep ^closed "$target_out")"
	unserve
}

run_checks "$@"
