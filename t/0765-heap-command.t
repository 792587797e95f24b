#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# --heap as it is used: a command ends and writes as it does alone; a program that has not
# loaded the recorder is named, with the reason; a pmp that has gone costs nothing, and another
# one goes on.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"
# shellcheck source=t/lib/live.sh
. "$top_srcdir/t/lib/live.sh"

need readelf

allocator=$top_builddir/t/target/allocator
library=$top_builddir/libpmp/heap/libpmp-heap.so
[ -x "$allocator" ] || skip_all "no $allocator"

# record ARG...: pmp --heap of a command; its output in out, its messages in err.
record() {
	"$PMP" --heap "$@" >out 2>err </dev/null
}

# ---- what is loaded --------------------------------------------------------------------

ok "readelf -VW '$library' | grep -q 'No version information'" \
	"the library needs no version of any symbol"
is "$(readelf --dyn-syms -W "$library" | awk '$7 == "UND" && $8 { print $8 }')" \
	dl_iterate_phdr "and one symbol"
ok "! readelf -dW '$library' | grep -q NEEDED" "and no other library"
ok "[ $(($(readelf -lW "$library" | awk '$1 == "TLS" { print $6 }'))) -le 64 ]" \
	"threads have at most 64 bytes more of static storage"

# Of its frames the outermost is the function that the program has called, as none of them
# jumps to another one.
if command -v objdump >/dev/null; then
	is "$(objdump -d --no-show-raw-insn "$library" | awk '
		/^[0-9a-f]+ <.*>:$/ { name = $2; gsub(/[<>:]/, "", name) }
		$2 ~ /^(jmp|b)$/ && NF >= 4 && $3 !~ /^[*]/ { to = $4; gsub(/[<>]/, "", to)
			sub(/[+-]0x.*/, "", to); if (to != name) print name, to }' |
		grep -E '^(malloc|calloc|realloc|free|cfree|memalign|posix_memalign|aligned_alloc|valloc|pvalloc|free_sized|free_aligned_sized|mmap|mmap64|munmap|mremap|brk|sbrk|_Z[nd].*|pthread_create|thrd_create) ')" \
		"" "functions that programs call stay in the stack"
else
	skip "no objdump"
fi

# ---- the command ------------------------------------------------------------------------

# mixed: the calls that the allocator has counted; bytes depend on what lies where.
mixed() {
	cut -d ' ' -f 1-5 "$1"
}

"$allocator" mixed 20000 >alone
record -q -o profile -f folded -- "$allocator" mixed 20000
is $? 0 "the command's status"
is "$(mixed out)" "$(mixed alone)" "and its output"
record -q -o profile -f folded -- sh -c 'echo said; exit 7'
is "$? $(cat out)" "7 said" "status and output of a shell"
record -q -o profile -f folded -- sh -c 'kill -TERM $$'
is $? 143 "of one that was killed"
record --heap-only -o profile -f folded -- "$allocator" chain 1000
is "$? $(cat err)" "0 " "no threads are sampled"
record -q -o profile -f folded -- env -u PMP_NOTHING sh -c "exec '$allocator' mixed 20000"
is "$(mixed out)" "$(mixed alone)" "through wrappers"

# ---- one that does not load it ------------------------------------------------------------

cat >program.c <<'END'
int main(void) { return 3; }
END
if ${CC:-cc} -static -o static program.c 2>/dev/null; then
	record -o profile -f folded -- ./static
	is $? 3 "a static program ends as it does alone"
	like "$(cat err)" '^pmp: \./static did not load the recorder: it is static$' "it is named"
else
	skip "no static C library"
fi
if ${CC:-cc} -o setuid program.c && [ "$(id -u)" -eq 0 ] && chown 65534 setuid &&
	chmod 4755 setuid && ! findmnt -nT . -o OPTIONS | grep -q nosuid; then
	record -o profile -f folded -- ./setuid
	is $? 3 "a setuid program ends as it does alone"
	like "$(cat err)" '^pmp: \./setuid did not load the recorder: it is setuid$' "it is named"
	chown 0:65534 setuid
	chmod 2755 setuid
	record -o profile -f folded -- ./setuid
	like "$(cat err)" '^pmp: \./setuid did not load the recorder: it is setgid$' "so is one that is setgid"
else
	skip "no setuid program can be made"
fi
start_pmp --heap -o profile -f folded -- env -i sleep 60
ok "wait_for \"grep -qsx 'pmp: env did not load the recorder: LD_PRELOAD is dropped' err\"" \
	"so is one that has lost its environment"
kill "$pmp"
wait "$pmp"

cat >program.c <<'END'
#include <stdlib.h>
int main(void) { void *volatile block = malloc(1000); free(block); return 3; }
END
if ${CC:-cc} -fno-builtin -o own program.c "$top_srcdir/t/target/bump.c" 2>/dev/null &&
	readelf --dyn-syms -W own | grep -q ' malloc$'; then
	record -o profile -f memory -- ./own
	is $? 3 "a program with a malloc() of its own ends as it does alone"
	like "$(cat err)" '^pmp: memory of own \[[0-9]+\] is not recorded: the program has a malloc\(\) of its own$' \
		"it is named"
else
	skip "no program with a malloc() of its own can be made"
fi

# ---- another one goes on -------------------------------------------------------------------

start_process sleep 100
wait_for "grep -qx sleep /proc/$target_pid/comm"
refuses 1 "sleep \[$target_pid\] was not started with a recorder: what it has allocated is " \
	--heap -n 1 -f folded -p "$target_pid"
like "$(cat err)" '^hint: start it with pmp --heap -- COMMAND' "with what to do"
refuses 3 'no process ' --heap -n 1 -f folded -p 4194304
"$PMP" --heap -f folded -o profile -- "$allocator" endless 1 >endless 2>err </dev/null &
pmp=$!
test_pids="$test_pids $pmp"
wait_for "grep -q ready endless"
command=$(sed -n 's/^ready //p' endless)
refuses 1 "another pmp is already reading the recorder in $command" \
	--heap -n 1 -f folded -p "$command"
stop_process "$pmp"
ok "alive $command" "killed, pmp leaves its command alone"
wait_for "\"$PMP\" --heap -q -n 3 -f folded -o profile -p $command"
ok "[ -s profile ]" "another one goes on"
ok "alive $command" "and leaves it alone as well"
kill -TERM "$command"
wait_for "! alive $command"

# ---- where memory may not be executed ---------------------------------------------------------

if [ -x "$PMP_FAULTY" ]; then
	mkdir small
	if mount -t tmpfs -o size=16k none small 2>/dev/null; then
		TMPDIR=$PWD/small PMP_FAULT=memfd-noexec "$PMP_FAULTY" --heap -o limited -f folded -- \
			touch started >out 2>err
		is $? 125 "no room for a file of the recorder: status 125"
		umount small
		like "$(cat err)" "^pmp: cannot make a file of the recorder: No space left on device$" \
			"which is said"
		ok "[ ! -e started ]" "the command is not started"
	else
		skip "no small file system"
	fi
	PMP_FAULT=memfd-noexec "$PMP_FAULTY" --heap -q -o profile -f folded -- \
		"$allocator" mixed 20000 >out 2>err
	is "$? $(mixed out) $(cat err)" "0 $(mixed alone) " "a file without a name does as well"
else
	skip "no $PMP_FAULTY"
fi

done_testing
