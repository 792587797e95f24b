#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Output that cannot be written: a clear message, status 5, and whatever good file
# was there before is still there.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"

start_target sleeper 3
target=$target_pid

"$PMP" -q -n 1 -f folded -p "$target" >/dev/full 2>err
is "$?" 5 "full disk"
is "$(cat err)" "pmp: cannot write standard output: No space left on device
hint: free some space, or use another directory with -o" "its message"
"$PMP" -q --raw -n 100 -i 1ms -p "$target" >/dev/full 2>err
is "$?" 5 "full disk, snapshot after snapshot: ends at the first"
is "$(grep -c 'cannot write' err)" 1 "it is said once"

"$PMP" -q -n 1 -f folded -p "$target" >&- 2>err
is "$?" 5 "stdout is closed"
is "$(cat err)" "pmp: cannot write standard output: it is closed" "its message"
"$PMP" -q -n 1 -f folded -o closed.folded -p "$target" <&- >&- 2>&-
is "$?" 0 "everything closed, but -o"
like "$(cat closed.folded)" '^sleeper;.* 3$' "the file has nothing but the profile"

(
	"$PMP" -q --raw -n 1000 -i 1ms -p "$target" 2>err
	echo $? >status
) | head -n 1 >/dev/null
is "$(cat status)" 5 "the reader leaves"
is "$(cat err)" "" "quietly"

# Files.
echo precious >x.folded
"$PMP" -q -n 1 -o x.folded -p "$target"
is "$?" 0 "a file is replaced"
like "$(cat x.folded)" '^sleeper' "by the profile"
is "$(stat -c %a x.folded)" 600 "mode 0600"
is "$(find . -name '.pmp*')" "" "no temporary file is left"
# What a power failure leaves is the old file or all of the new one.
if command -v strace >/dev/null; then
	ASAN_OPTIONS=detect_leaks=0 strace -f -qq -e trace=fsync,linkat,renameat,renameat2 \
		-o trace "$PMP" -q -n 1 -o synced.folded -p "$target"
	is "$(sed -n 's/^[0-9]* *\(fsync\)(.*/\1/p; s/.*"synced.folded".*= 0$/named/p' trace |
		head -n 2 | tr '\n' ' ')" "fsync named " "a file is synced before it has its name"
else
	skip "no strace"
fi

ln -s x.folded link.folded
"$PMP" -q -n 2 -i 1ms -o link.folded -p "$target"
ok "[ -L link.folded ] && grep -q '^sleeper' x.folded" "a link in a directory of ours is followed"

mkdir -m 1777 shared
echo precious >victim
ln -s "$tmp/victim" shared/x.folded
"$PMP" -q -n 1 -o shared/x.folded -p "$target" 2>err
is "$?" 5 "a link in a shared directory"
is "$(cat err)" "pmp: cannot write shared/x.folded: it is a symbolic link in a directory that others may write to
hint: remove it, or choose another directory with -o" "is refused"
is "$(cat victim)" precious "and not followed"
mkfifo shared/fifo.folded
"$PMP" -q -n 1 -o shared/fifo.folded -p "$target" 2>err
is "$?" 5 "a pipe in a shared directory is refused"
mkdir dir.folded
"$PMP" -q -n 1 -o dir.folded -p "$target" 2>err
is "$?" 5 "a directory"
is "$(cat err)" "pmp: cannot write dir.folded: Is a directory" "its message"
"$PMP" -q -n 1 -f folded -o /dev/null -p "$target"
is "$?" 0 "-o /dev/null"
ok "[ -c /dev/null ]" "which is still a device"
"$PMP" -q -n 1 -f folded -o - -p "$target" >out
like "$(cat out)" '^sleeper' "-o -"

# Nobody can be there first: names of temporary files cannot be guessed.
mkdir taken
# shellcheck disable=SC2016
sh -c 'for i in $(seq 100); do : >"taken/.pmp-$$-$i.tmp"; done
	exec "$1" -q -n 1 -o taken/x.folded -p "$2"' sh "$PMP" "$target" 2>err
is "$?" 0 "names of temporary files made of the pid are all taken: status"
like "$(cat taken/x.folded)" '^sleeper' "names of temporary files are all taken: it is written"
rm -r taken

# refused ARG... FILE: root does not write FILE, where nobody else's link may lead it.
refused() {
	case=$1
	shift
	echo precious >victim
	timeout 20 "$PMP" -q -n 1 -f folded "$@" -p "$target" >out 2>err
	is "$?" 5 "$case: status"
	like "$(cat err)" '^pmp: cannot write .*in a directory that others may write to$' \
		"$case: message"
	is "$(cat victim)" precious "$case: what the link names is as before"
}

check_foreign() {
	chmod 711 "$tmp"
	mkdir -m 755 theirs real && mkdir -m 2775 group && mkdir -m 755 shared/theirs
	mkdir -m 755 theirs/ours
	chown 65534:65534 theirs shared/theirs && chgrp 65534 group && chmod 2775 group
	mkdir -m 755 listed
	listed=listed
	if ! python3 "$top_srcdir/t/lib/acl.py" 65534 listed 2>err; then
		skip "no access control lists: $(tail -n 1 err)"
		listed=
	fi
	for folder in theirs group $listed shared shared/theirs; do
		rm -f "$folder"/x.folded
		ln -s "$tmp/victim" "$folder/x.folded"
		ln -s "$tmp/new" "$folder/new.log"
		refused "a link in $folder, for -o" -o "$folder/x.folded"
		refused "a link in $folder, for --log" --log "$folder/x.folded"
		refused "a link to nothing in $folder, for --log" --log "$folder/new.log"
		ok '[ ! -e new ]' "a link to nothing in $folder: nothing is made"
	done
	mkfifo theirs/pipe.folded
	refused "a FIFO in a directory of another user" -o theirs/pipe.folded
	ln -s "$tmp/real" theirs/away
	refused "a directory that is a link, for -o" -o theirs/away/x.folded
	refused "a directory that is a link, for --log" --log theirs/away/x.log
	is "$(ls real)" "" "a directory that is a link of another user: nothing is made there"
	ln -s theirs/x.folded ours.folded
	refused "a link of ours to a link of another user" -o ours.folded
	refused "a link of ours to a link of another user, for --log" --log ours.folded
	touch group/x.txt && chown 65533 group/x.txt
	refused "a file of another user, in a directory of a group" -o group/x.txt
	touch theirs/log && chown 65534 theirs/log
	refused "a log file of another user" --log theirs/log
	touch theirs/two && ln theirs/two victim2
	refused "a log file with two names" --log theirs/two

	for file in theirs/new.folded theirs/new.folded theirs/ours/x.folded group/new.folded; do
		"$PMP" -q -n 1 -o "$file" --log "$file.log" -p "$target" 2>err
		is "$?,$(cat err)" "0," "a file of ours in a foreign directory is written: $file"
		like "$(cat "$file")" '^sleeper' "it has the profile: $file"
	done
	is "$(grep -c . theirs/new.folded.log)" 2 "a log of ours in a foreign directory grows"
	touch theirs/old.folded && chown 65534 theirs/old.folded
	"$PMP" -q -n 1 -o theirs/old.folded -p "$target" 2>err
	is "$?,$(stat -c %u theirs/old.folded)" 0,0 \
		"a file of the directory's owner gives way to ours"
	ln -s real linked && ln -s linked/y.folded chain.folded
	"$PMP" -q -n 1 -o chain.folded --log linked/y.log -p "$target" 2>err
	ok '[ -s real/y.folded ] && [ -s real/y.log ] && [ -L chain.folded ]' \
		"links of ours are followed, to directories and to files"
	ln -s loop.folded loop.folded
	"$PMP" -q -n 1 -o loop.folded -p "$target" 2>err
	is "$?,$(sed 's/.*: //' err)" "5,Too many links" "a link to itself"
	"$PMP" -q -n 1 -f folded --log /dev/stderr -p "$target" >out 2>err
	is "$?" 0 "--log /dev/stderr"
	like "$(cat err)" ' pmp\[[0-9]*\]: ' "--log /dev/stderr: it has the line"
}
if [ "$(id -u)" -eq 0 ]; then
	check_foreign
else
	skip "needs root"
fi

if [ "$(id -u)" -eq 0 ] && unshare -m true 2>/dev/null; then
	mkdir small
	unshare -m sh -c '
		mount -t tmpfs -o size=16k none small || exit 99
		echo precious >small/x.txt
		"$1" -q --raw -n 20 -i 1ms -o small/x.txt -p "$2" 2>err
		echo $? >status
		cat small/x.txt >kept
		ls -A small >names
		dd if=/dev/zero of=small/rest bs=1k 2>/dev/null
		"$1" -q -n 1 -o small/x.folded -p "$2" 2>>err' sh "$PMP" "$target"
	is "$(cat status)" 5 "a full file system"
	like "$(cat err)" '^pmp: cannot write small/x.txt: No space left on device$' "its message"
	is "$(cat kept)" precious "the good file survives"
	is "$(cat names)" x.txt "and is alone"
else
	skip "needs root and mount namespaces"
fi
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
	mkdir -m 755 locked
	chmod 755 "$tmp"
	setpriv --reuid 65534 --clear-groups "$PMP" -q -f folded -o locked/x.folded -- sleep 0.1 2>err
	is "$?" 125 "a directory that may not be written, with a command"
	is "$(cat err)" "pmp: cannot write locked/x.folded: Permission denied
hint: choose a directory you may write to with -o" "its message"
else
	skip "needs root and setpriv"
fi

# Killed in the middle: nothing half is seen.
echo precious >y.txt
"$PMP" -q --raw -n 100000 -i 1ms -o y.txt -p "$target" &
pmp=$!
test_pids="$test_pids $pmp"
wait_for "[ \$(find /proc/$pmp/fdinfo -type f -exec grep -h '^pos:' {} + | awk '\$2 > 0' | wc -l) -gt 0 ]"
kill -KILL "$pmp"
wait "$pmp" 2>/dev/null
is "$(cat y.txt)" precious "killed: the good file survives"
is "$(find . -name '.pmp*')" "" "and no other is left"
ok "wait_for 'untouched $target'" "the target is left alone"

done_testing
