# SPDX-License-Identifier: GPL-2.0-or-later
# For tests on a file system of their own, t/target/hangfs.c; read instead of test.sh and
# live.sh. The test starts again in mounts of its own, which go with it.

# shellcheck shell=sh
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
mkdir fs

# serve [ARG...]: mount it on fs, with the program chain as the only file; $server.
serve() {
	start_process ./hangfs fs "$top_builddir/t/target/chain" "$@"
	server=$target_pid
	# Its first answer is to the mount; a question that is answered is the next.
	wait_for "[ -x fs/file ] && grep -q ^ready '$target_out'"
}

# unserve: all who wait for it get an error then.
unserve() {
	stop_process "$server"
	umount -l fs
}
