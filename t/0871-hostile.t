#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Programs whose files are made to harm: they name devices and FIFOs, or cost far more memory
# than they take on the disk. pmp as a whole opens nothing of that, keeps within limits, and has
# the names of other files.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"
# shellcheck source=t/lib/live.sh
. "$top_srcdir/t/lib/live.sh"
need objcopy python3

# KiB of memory in use, of the process that needs most of it.
limit=600000

# measured OPTION...: names of one snapshot, in out.folded; prints pmp's status and KiB.
measured() {
	python3 -c '
import resource, subprocess, sys
status = subprocess.run(sys.argv[1:], timeout=60, stderr=subprocess.DEVNULL).returncode
print(status, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
' "$PMP" -q -f folded --lines -n 1 -p "$target_pid" -o out.folded "$@" </dev/null
}

# traced OPTION...: the same, and what was opened otherwise than to look at it, in opened.
traced() {
	timeout 60 strace -f -y -o trace -e trace=open,openat,openat2 \
		"$PMP" -q -f folded --lines -n 1 -p "$target_pid" -o out.folded "$@" </dev/null >out 2>err
	status=$?
	grep -E 'ptmx|bait' trace | grep -v O_PATH >opened
	return "$status"
}

# opens_nothing TEXT: neither with the process that reads files nor without.
opens_nothing() {
	start_target "$tmp/program" || return
	for how in --quiet --no-sandbox; do
		traced "$how"
		is $? 0 "$1 ($how): status 0"
		is "$(cat opened)" "" "it is not opened"
		like "$(cat out.folded)" '__libc_start_main' "there are names of other files"
	done
	stop_process "$target_pid"
}

check_devices() {
	command -v strace >/dev/null || { skip "no strace"; return; }
	export ASAN_OPTIONS=detect_leaks=0
	for bait in /dev/ptmx "$tmp/bait"; do
		build program "$live_target/sleeper.c" || return
		printf '%s\0\1\2\3\4\5\6\7\10' "$bait" >section
		objcopy --add-section .gnu_debugaltlink=section program
		rm -f bait
		mkfifo bait
		opens_nothing "a program whose alternate debug file is $(basename "$bait")"
	done
	build program "$live_target/sleeper.c" || return
	rm -f bait
	: >bait
	objcopy --strip-debug --add-gnu-debuglink=bait program
	ln -sf /dev/ptmx bait
	opens_nothing "a program whose debug file is a link to a device"
}

# costs KIND TEXT
costs() {
	build program "$live_target/sleeper.c" || return
	python3 "$top_srcdir/t/lib/hostile.py" "$1" program || return
	start_target "$tmp/program" || return
	for how in --quiet --no-sandbox; do
		took=$(measured "$how")
		is "${took% *}" 0 "$2 ($how): status 0"
		ok "[ ${took#* } -le $limit ]" "with at most $((limit / 1000)) MB: $((${took#* } / 1000))"
		like "$(cat out.folded)" '__libc_start_main' "there are names of other files"
		is "$(awk '{ n += $NF } END { print n }' out.folded)" 1 "no sample is lost"
	done
	stop_process "$target_pid"
}

check_memory() {
	# Sanitizers need more memory than any limit allows.
	! grep -q '^PMP_CFLAGS = .*-fsanitize' "$top_builddir/Makefile" 2>/dev/null || return 0
	costs strings "names in 1 GiB of nothing"
	costs holes "debug information in 1 GiB of nothing"
	costs same "100,000 symbols in one long name"
	costs packed "3 GiB of debug information in 3 MiB"
	costs lines "64 Mi lines in 65 KiB"
}

# 24 threads with 450 functions each on their stacks, whose names have 4 KiB: 44 MB in all.
names_source() {
	awk 'BEGIN {
		name = sprintf("%4050s", "")
		gsub(/ /, "x", name)
		print ".macro link chain number next"
		print ".type f\\chain\\()_\\number\\()_" name ", %function"
		print "f\\chain\\()_\\number\\()_" name ":"
		print ".cfi_startproc\nsub $8, %rsp\n.cfi_adjust_cfa_offset 8"
		print "call f\\chain\\()_\\next\\()_" name
		print "add $8, %rsp\n.cfi_adjust_cfa_offset -8\nret\n.cfi_endproc\n.endm\n.text"
		for (chain = 0; chain < 24; chain++) {
			print "chain" chain ": jmp f" chain "_0_" name
			print "f" chain "_450_" name ": jmp rest"
			for (i = 0; i < 450; i++)
				print "link " chain " " i " " i + 1
		}
		print ".data\n.globl chains\nchains:"
		for (chain = 0; chain < 24; chain++)
			print ".quad chain" chain
		print ".quad 0\n.section .note.GNU-stack,\"\",%progbits"
	}'
}

check_names() {
	[ "$(uname -m)" = x86_64 ] || { skip "not x86-64"; return; }
	names_source >names.s
	cat >threads.c <<-'EOF'
		#include <pthread.h>
		#include <stdio.h>
		#include <unistd.h>
		extern void *(*chains[])(void *);
		void rest(void);
		static int resting;
		void rest(void)
		{
			__atomic_add_fetch(&resting, 1, __ATOMIC_SEQ_CST);
			for (;;)
				pause();
		}
		int main(void)
		{
			pthread_t thread;
			int count = 0;

			while (chains[count])
				pthread_create(&thread, NULL, chains[count++], NULL);
			while (__atomic_load_n(&resting, __ATOMIC_SEQ_CST) < count)
				usleep(1000);
			printf("ready %d\n", (int)getpid());
			fflush(stdout);
			rest();
		}
	EOF
	build program threads.c names.s -lpthread -no-pie || return
	rm -f names.s
	start_target "$tmp/program" || return
	for how in --quiet --no-sandbox; do
		"$PMP" -f folded -n 1 -p "$target_pid" -o out.folded "$how" >out 2>err
		is $? 0 "44 MB of names ($how): status 0"
		size=$(wc -c <out.folded)
		ok "[ $size -gt 20000000 ] && [ $size -lt 36000000 ]" "names up to 32 MiB: $size bytes"
		is "$(awk '{ n += $NF } END { print n }' out.folded)" 25 "no sample is lost"
		ok "grep -q '\[program+0x' out.folded" "the others are addresses"
	done
	"$PMP" -f folded -n 1 -p "$target_pid" -o out.folded 2>err
	like "$(cat err)" 'no names for [0-9]+% of the frames of .*: names take too much memory' "it is reported"
	stop_process "$target_pid"
}

run_checks "$@"
