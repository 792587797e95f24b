#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Core files on the command line: packed, through a pipe, with the program elsewhere, cut
# off, of other machines; in all formats; beside saved profiles; and the live view.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"

need gdb python3

# The core of t/target/demo in a folder of its own, from where it may be moved.
cp "$top_builddir/t/target/demo" program
start_process "$tmp/program"
wait_for "grep -q ^ready '$target_out'"
gcore -o core "$target_pid" >gcore.log 2>&1
stop_process "$target_pid"
mv "core.$target_pid" core 2>/dev/null || { diag "$(cat gcore.log)"; skip_all "gcore writes no core"; }
demo=$target_pid

# pmp_says TEXT STATUS ERE ARG...: it ends so, and prints that on standard error.
pmp_says() {
	said_text=$1 said_status=$2 said=$3
	shift 3
	status=0
	"$PMP" "$@" >out 2>err </dev/null || status=$?
	is "$status" "$said_status" "$said_text"
	like "$(cat err)" "$said" "its message"
}

# the stacks of a raw output, without what is of the file
stacks_of() {
	sed 1d "$1" | cksum
}

"$PMP" core >plain.txt 2>err
is "$(cat err)" "" "a core, quietly"
like "$(head -n 1 plain.txt)" "^--- snapshot 1: program \[$demo\], 10 threads, " "its heading"
like "$(cat plain.txt)" '^Signal none: a debugger has written the core$' "no signal has ended it"
like "$(cat plain.txt)" '^#[0-9 ]* 0x[0-9a-f]{16} in rebuild_index \(\) from ' "its functions"
is "$(grep -c '^Thread' plain.txt)" 10 "each thread once"

# ---- from where it comes -----------------------------------------------------------------

for program in gzip zstd lz4 xz; do
	command -v $program >/dev/null || { skip "no $program"; continue; }
	$program -c <core >core.packed 2>/dev/null
	"$PMP" core.packed >packed.txt 2>err
	is "$(stacks_of packed.txt)" "$(stacks_of plain.txt)" "packed by $program"
	is "$("$PMP" - <core.packed 2>&1 | sed 1d | cksum)" "$(stacks_of plain.txt)" "and from standard input"
	# shellcheck disable=SC2002 # a pipe is what is tried
	is "$(cat core.packed | "$PMP" - 2>&1 | sed 1d | cksum)" "$(stacks_of plain.txt)" "and through a pipe"
done
# shellcheck disable=SC2002
cat core | "$PMP" - >pipe.txt 2>err
is "$(stacks_of pipe.txt)" "$(stacks_of plain.txt)" "a core through a pipe"
like "$(head -n 1 pipe.txt)" ', date unknown, core file ---$' "whose date is not known"
is "$(find "${TMPDIR:-/var/tmp}" -maxdepth 1 -name 'pmp-*' -newer core)" "" "nothing is left behind"
status=0
TMPDIR=/nonexistent "$PMP" - <core.packed >out 2>err || status=$?
is "$status" 2 "no place for a temporary file"
like "$(cat err)" '^hint: TMPDIR chooses another directory$' "its hint"
# The last of a file system is left to others: here 2 of 40 MiB.
mkdir small
if command -v zstd >/dev/null && unshare -m mount -t tmpfs none small 2>/dev/null; then
	{
		head -c 100000 core
		head -c 40400000 /dev/urandom
	} | zstd -q >large.zst
	unshare -m sh -c 'mount -t tmpfs -o size=40m none small && TMPDIR=$PWD/small exec "$@"' - \
		"$PMP" -f folded large.zst >out 2>err
	is $? 2 "a packed core that would fill the disk"
	like "$(cat err)" 'temporary file in .*/small: No space left' "its message"
else
	skip "no zstd, or nothing can be mounted"
fi
mkdir empty
status=0
gzip -c <core >core.gz
PATH=$tmp/empty "$PMP" core.gz >out 2>err || status=$?
is "$status" 2 "the program that unpacks is missing"
like "$(cat err)" '^hint: install the program gzip, or give pmp the file unpacked$' "its hint"
# One that closes its output, and stays.
mkdir stays
printf '#!/bin/sh\n%s "$@"\nexec >&-\nexec sleep 600\n' "$(command -v gzip)" >stays/gzip
chmod 755 "$tmp" stays stays/gzip
PATH=$tmp/stays:$PATH timeout 60 "$PMP" -f folded core.gz >out 2>err
is $? 0 "a program that unpacks and does not end"
is "$(cat out)" "$("$PMP" -f folded core)" "all that it has given is used"
like "$(cat err)" '^pmp: core.gz is not complete: ' "and said to be incomplete"
{
	gzip -c core
	echo more
} >more.gz
"$PMP" more.gz >packed.txt 2>err
is "$(stacks_of packed.txt)" "$(stacks_of plain.txt)" "what gzip only warns of"
is "$(grep complete err)" "" "is complete"
if command -v zstd >/dev/null; then
	# From a pipe it does not know that less would do.
	# shellcheck disable=SC2002 # the pipe is tested
	cat core | zstd -q --long=31 >wide.zst
	"$PMP" wide.zst >packed.txt 2>err
	is "$(stacks_of packed.txt)" "$(stacks_of plain.txt)" "packed by zstd with the widest window"
fi
echo hello | gzip >hello.gz
pmp_says "something else that is packed" 2 'damaged, or not a profile' hello.gz
if command -v zstd >/dev/null; then
	echo hello | zstd -q >hello.zst
	pmp_says "something else, packed by zstd" 2 'hello.zst, unpacked, is not a core file' hello.zst
fi

# ---- all formats --------------------------------------------------------------------------

for format in folded pmp pprof svg html perf json locks contention mutex gperf counts threadz flat \
	callgraph threads speedscope; do
	"$PMP" -f $format -o "out.$format" core 2>err
	ok "[ -s out.$format ] && [ ! -s err ]" "as $format" || diag "$(cat err)"
done
is "$("$PMP" -f folded core | awk '{ n += $NF } END { print n }')" 10 "each thread counts once"
is "$("$PMP" -f folded core core | awk '{ n += $NF } END { print n }')" 20 "two cores are added up"
is "$("$PMP" core core | grep -c '^--- snapshot')" 2 "and written one after the other as raw"
"$PMP" -o saved.pb.gz core
is "$("$PMP" -f folded saved.pb.gz)" "$("$PMP" -f folded core)" "saved as pprof it has the same stacks"
like "$("$PMP" --diff saved.pb.gz core)" 'new: +10 stacks' "compared with a saved profile"
like "$("$PMP" --diff core saved.pb.gz)" 'base: +10 stacks' "and as the base of a comparison"
pmp_says "a core and a saved profile as raw" 2 'cannot be written together' --raw core saved.pb.gz
pmp_says "locks of a saved profile" 2 'a saved profile does not say who waits for whom' --locks saved.pb.gz
like "$("$PMP" --locks core)" '4 wait for locks' "of a core they are shown"

# ---- files elsewhere ------------------------------------------------------------------------

mkdir -p other/tree
mv program other/moved
"$PMP" core >out 2>err
like "$(cat err)" "stacks through .*/program .*build-id [0-9a-f]+.* may end there: not on this machine" \
	"the program is no longer there"
like "$(cat err)" '^hint: --exe says where the program is' "its hint"
like "$(cat out)" '^Backtrace stopped: no unwind information$' "and stacks do not look complete"
"$PMP" --exe other/moved core >out 2>err
is "$(stacks_of out)" "$(stacks_of plain.txt)" "--exe finds it"
is "$(cat err)" "" "quietly"
"$PMP" --exe "/proc/self/cwd/other/moved" core >out 2>err
is "$(stacks_of out)" "$(stacks_of plain.txt)" "also by a path through /proc/self/cwd"
cp other/moved other/tree/program
"$PMP" --symfs "/proc/self/root$PWD/other/tree" core >out 2>err
is "$(stacks_of out)" "$(stacks_of plain.txt)" "so does --symfs, if it is such a path"
"$PMP" --symfs other/tree core >out 2>err
is "$(stacks_of out)" "$(stacks_of plain.txt)" "so does --symfs"
id=$(eu-readelf -n other/moved | awk '/Build ID/ { print $3 }')
mkdir -p "debug/.build-id/${id%"${id#??}"}"
cp other/moved "debug/.build-id/${id%"${id#??}"}/${id#??}"
"$PMP" --debug-dir "debug:/usr/lib/debug" core >out 2>err
is "$(stacks_of out)" "$(stacks_of plain.txt)" "and --debug-dir, by its build-id"
pmp_says "--exe with another program" 2 'is not the program of the core' --exe /bin/sh core
pmp_says "--exe with what is no program" 2 'core is not the program of the core' --exe core core
cp "$PMP" program
pmp_says "another program in its place" 0 'this machine has another version of it' core
mv other/moved program
pmp_says "--threads of a core" 0 'of a file all threads are shown' --threads nosuch core
like "$("$PMP" --exe program -p $$ 2>&1 >/dev/null)" 'exe is for core files: it changes nothing' \
	"--exe of a living process"

# ---- what cannot be read ----------------------------------------------------------------------

# What the kernel writes has its threads at the beginning, what gdb writes at the end.
"$top_builddir/t/target/crash" live >crash.out &
test_pids="$test_pids $!"
gdb_core() {
	gdb -nx -batch -p "$1" -ex 'generate-core-file whole' >gdb.log 2>&1 </dev/null
}
wait_for "grep -q ^ready crash.out"
gdb_core $!
python3 - <<'END'
import struct
data = open("whole", "rb").read()
phoff, phnum = struct.unpack_from("<Q", data, 32)[0], struct.unpack_from("<H", data, 56)[0]
heads = [list(struct.unpack_from("<IIQQQQQQ", data, phoff + 56 * i)) for i in range(phnum)]
out, at = b"", 65536
for head in sorted(heads, key=lambda head: head[0] != 4):
    piece = data[head[2]:head[2] + head[5]]
    head[2] = at
    out += piece
    at += len(piece)
table = b"".join(struct.pack("<IIQQQQQQ", *head) for head in heads)
start = data[:64] + table
open("front", "wb").write(start.ljust(65536, b"\0") + out)
END
"$PMP" whole >whole.txt 2>err
"$PMP" front >front.txt 2>>err
is "$(stacks_of front.txt)" "$(stacks_of whole.txt)" "a core in the order of the kernel"
size=$(stat -c %s front)
head -c $((size / 3)) front >"cut"
pmp_says "a core that was cut off" 0 '^pmp: cut is cut off: [0-9.]+ MB of [0-9.]+ are there$' cut
like "$(cat out)" '^Backtrace stopped: memory cannot be read$' "says where stacks end early"
gzip -c front | head -c 30000 >cut.gz
"$PMP" cut.gz >out 2>err
like "$(cat err)" '^pmp: cut.gz is not complete: the packed file is damaged, or cut off$' "a packed core, cut off"
head -c 300 core >"cut"
pmp_says "one with nothing of use" 2 'it has no thread' cut

# poke OFFSET BYTE: into a copy of the core, "poked".
poke() {
	head -c 4096 core >poked
	# shellcheck disable=SC2059 # the byte
	printf "\\x$2" | dd of=poked bs=1 seek="$1" conv=notrunc status=none
}
poke 18 f3
pmp_says "a core of another machine" 2 'a core of riscv; pmp reads those of x86-64 and aarch64' poked
poke 4 01
pmp_says "of a 32-bit program" 2 'the core of a 32-bit program' poked
pmp_says "a program instead of a core" 2 '^hint: to profile a program from its start: pmp -- ' \
	"$top_builddir/t/target/demo"
pmp_says "its locks" 2 '^hint: to profile a program from its start: pmp -- ' --locks \
	"$top_builddir/t/target/demo"
pmp_says "no file at all" 2 'cannot open missing: No such file' missing

# ---- the view ---------------------------------------------------------------------------------

view() {
	tmux -L "pmp$$" -f /dev/null "$@"
}

if command -v tmux >/dev/null; then
	at_end=0
	trap 'at_end=$?; tmux -L "pmp$$" kill-server 2>/dev/null; (exit $at_end); test_cleanup' EXIT
	view new-session -d -x 100 -y 30 "'$PMP' core 2>err"
	ok 'wait_for "view capture-pane -p | grep -q rebuild_index"' "the live view has its stacks"
	view send-keys 4
	ok 'wait_for "view capture-pane -p | grep -q futex"' "its threads"
	view send-keys q
	ok 'wait_for "! view has-session"' "and ends"
	is "$(cat err)" "" "quietly"
else
	skip "no tmux"
fi

done_testing
