#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Strange or hostile content: stacks that cannot be read or do not end, files that are
# not what they were, paths of other namespaces. Soon, true, and said when it is not all.
#
# shellcheck disable=SC2119 # options of capture() are optional

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"
# shellcheck source=t/lib/live.sh
. "$top_srcdir/t/lib/live.sh"

chain="$live_target/chain.c $live_target/chain-f0.c $live_target/chain-f1.c
	$live_target/chain-f2.c $live_target/chain-f3.c"

# The same chain, its functions under false names: what stands where the true one was.
impostor() {
	# shellcheck disable=SC2086
	build impostor $chain -Df0=evil0 -Df1=evil1 -Df2=evil2 -Df3=evil3
}

check_uffd() {
	start_target uffd
	! grep -q unavailable "$target_out" || { skip "no userfaultfd"; return; }
	soon 2 "a stack on pages that nothing provides"
	like "$(stack_of trapped)" "^[^ !]+ uffd_inner( .*)? !" "it is shown as far as it goes"
	stack_is free "[^ !]+ free_main$live_thread" "the others are complete"
	soon 2 "the same with --stop=all" --stop=all
	free_again "no thread is stopped or traced"
	verdict "undisturbed"
}

check_wild() {
	for how in guard nowhere kernel cycle self end; do
		start_target wild "$how"
		soon 2 "stack pointer: $how"
		like "$(stack_of wild)" "^wild_spin( .*)? !" "where it is, and that it is not all"
		ok "[ $(stack_of wild | wc -w) -lt 70 ]" "and not for ever"
		verdict "undisturbed"
	done
	for how in guard nowhere kernel cycle self end; do
		start_target wild "$how" asleep
		soon 2 "stack pointer of a sleeping thread: $how"
		like "$(stack_of wild)" "^[^ ]+ !no unwind information$" "where it sleeps, and no more"
		verdict "undisturbed"
	done
}

check_deep() {
	start_target deep 1000000 block
	soon 5 "a million frames"
	like "$(stack_of deep)" "^[^ !]+( bottom)?( descend)+ !" "its end is marked"
	ok "[ $(stack_of deep | wc -w) -ge 500 ]" "as many frames as by default"
	soon 10 "a million frames, all that can be had" --max-frames 65536
	verdict "undisturbed"
}

# A process that has mapped more files than pmp may open.
check_many_files() {
	cat >many.c <<-'END'
		#include <fcntl.h>
		#include <stdio.h>
		#include <sys/mman.h>
		#include <unistd.h>
		int main(void)
		{
			char name[32];

			for (int i = 0; i < 700; i++) {
				int fd;

				snprintf(name, sizeof(name), "many-%d", i);
				fd = open(name, O_RDWR | O_CREAT, 0600);
				if (fd < 0 || ftruncate(fd, 4096) ||
				    mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) ==
					    MAP_FAILED)
					return 1;
				close(fd);
			}
			printf("ready %d\n", (int)getpid());
			fflush(stdout);
			for (;;)
				pause();
		}
	END
	build many many.c && start_target ./many || return
	# shellcheck disable=SC3045 # all shells have it
	(ulimit -n 300 && exec "$PMP" --raw -n 2 -i 50ms -p "$target_pid") >raw 2>err
	is $? 0 "700 mapped files, 300 descriptors: status"
	is "$(cat err)" "" "no complaint"
	like "$(stack_of many)" "^[^ ]+ main$live_start$" "the stack is complete, with names"
}

# slow_program TIMES END: 12 threads that are 500 calls deep, each in other ones of 65536 calls
# in one function, whose call-frame program is remember and restore, so many times, and END.
slow_program() {
	cat >slow.c <<-'END'
		#include <pthread.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <time.h>
		#include <unistd.h>
		void slow(unsigned long site, unsigned long depth, const struct timespec *time);
		static void *slow_main(void *arg)
		{
			const struct timespec time = { .tv_nsec = 20000000 };
			unsigned seed = (unsigned)(long)arg;

			for (;;)
				slow((unsigned)rand_r(&seed) % 65000 * 14UL, 500, &time);
			return NULL;
		}
		int main(void)
		{
			pthread_t thread;

			for (long i = 0; i < 12; i++)
				pthread_create(&thread, NULL, slow_main, (void *)i);
			printf("ready %d\n", (int)getpid());
			fflush(stdout);
			for (;;)
				pause();
		}
	END
	awk -v pairs="$1" -v end="$2" 'BEGIN {
		print ".globl slow\nslow:\n.cfi_startproc"
		for (i = 0; i < pairs; i++)
			print ".cfi_remember_state\n.cfi_restore_state"
		if (end)
			print ".cfi_escape " end
		print "mov %rsi, %rcx\nmov %rsp, %r8\nlea 1f(%rip), %rax\nadd %rdi, %rax"
		print "jmp *%rax\n1:"
		for (i = 0; i < 65536; i++)
			print "call 2f\n2: dec %rcx\n.byte 0x0f, 0x84\n.long 9f - (. + 4)"
		print "9: dec %rdx\njnz 9b\nmov %r8, %rsp\nret\n.cfi_endproc"
		print ".section .note.GNU-stack,\"\",@progbits"
	}' >slow.s
	build slow slow.c slow.s
}

# Each pc of it takes a millisecond, and each stack has 500 of them.
check_slow_cfi() {
	[ "$(uname -m)" = x86_64 ] || { skip "assembly for x86-64"; return; }
	for end in "" "0x0f, 0x02, 0x77, 0x08"; do
		# Slower ones are not given to libunwind.
		slow_program "$([ -n "$end" ] && echo 1000 || echo 30000)" "$end" || {
			ok false "a program is built"
			return
		}
		start_target ./slow
		soon 30 "call-frame programs that take long${end:+, by libunwind}" -n 3 -i 100ms
		like "$(cat raw)" "bad unwind information" "stacks are cut with a reason"
		stop_process "$target_pid"
	done
}

check_bigmaps() {
	start_target bigmaps 100000
	mappings=$(awk '/^mappings/ { print $2 }' "$target_out")
	soon 5 "$mappings mappings"
	stack_is sleeper "[^ !]+ sleeper_main$live_thread" "stacks are complete"
	verdict "undisturbed"
}

check_replaced() {
	# shellcheck disable=SC2086
	build chain $chain && impostor
	start_target ./chain spin && mv impostor chain && capture
	stack_is chain "f0 f1 f2 f3 main$live_start" "the executable was replaced on disk"
	stop_process "$target_pid"
	mkdir -p lib1 && build lib1/plugin.so -shared -fPIC "$live_target/plugin.c" &&
		build decoy.so -shared -fPIC -Dplugin_inner=evil_inner "$live_target/plugin.c"
	start_target dlopener hold ./lib1/plugin.so && mv decoy.so lib1/plugin.so && capture
	stack_is dlopener "([^ !]+ )+work plugin_inner plugin_outer use main$live_start" \
		"a library was replaced"
}

check_fifo() {
	build pipe.so -shared -fPIC "$live_target/plugin.c"
	start_target dlopener hold ./pipe.so && rm pipe.so && mkfifo pipe.so
	soon 2 "a FIFO at the library's path"
	stack_is dlopener "([^ !]+ )+work plugin_inner plugin_outer use main$live_start" \
		"names from the file that is mapped"
	verdict "undisturbed"
}

# The pages are gone: whoever maps the file dies of SIGBUS.
check_truncated() {
	build cut.so -shared -fPIC "$live_target/plugin.c" && cp cut.so whole
	start_target dlopener hold ./cut.so
	: >cut.so
	soon 2 "a library was cut to nothing"
	like "$(stack_of dlopener)" "^([^ !]+ )+work( .*)?$" "stacks as far as they go"
	"$PMP" -f folded -n 400 -i 2ms -p "$target_pid" -o out.folded 2>err &
	front=$!
	while alive "$front"; do
		cat whole >cut.so
		: >cut.so
	done
	wait "$front"
	is $? 0 "and while it grows and shrinks"
}

check_newline() {
	# shellcheck disable=SC2086
	build chain $chain
	name=$(printf 'two\nlines \033[31m')
	cp chain "$name" && start_target "$tmp/$name" spin && capture
	is "$(stacks | sed 's/^[^ ]* //' | grep -Ecx "f0 f1 f2 f3 main$live_start")" 1 \
		"a newline and an escape sequence in the path"
	is "$(tr -d '\n\040-\176' <raw | wc -c)" 0 "they do not reach the output"
	is "$(grep -c '^#' raw)" "$(grep -cE '^#[0-9]+ +0x[0-9a-f]+ in .* from [^ ]+$' raw)" \
		"one line a frame"
}

# A name that is only another file's name with " (deleted)" behind it.
check_deleted_name() {
	# shellcheck disable=SC2086
	build chain $chain && impostor && mv chain "run (deleted)" && mv impostor run
	start_target "./run (deleted)" spin && capture
	ok "stacks | grep -Eqx '[^ ]+ f0 f1 f2 f3 main$live_start'" "a path that ends in (deleted)"
}

check_perf_map() {
	start_target jit "$tmp/away"
	map=/tmp/perf-$target_pid.map
	ln -s "$tmp/away" "$map" && capture
	unlike "$(stack_of jit)" jit_inner "a perf map that is a symbolic link is ignored"
	rm -f "$map"
	if cp away "$map" && chown 65534 "$map" 2>/dev/null; then
		capture
		unlike "$(stack_of jit)" jit_inner "one that belongs to somebody else too"
	else
		skip "cannot give files away"
	fi
	rm -f "$map" && mkfifo "$map"
	soon 2 "one that is a FIFO"
	rm -f "$map" && cp away "$map" && capture
	like "$(stack_of jit)" '^jit_inner jit_outer' "the real one is used"
	rm -f "$map"
	verdict "undisturbed"
}

# Its own mounts: at the same path there is something else for us.
check_mount_namespace() {
	unshare -m true 2>/dev/null || { skip "no mount namespaces"; return; }
	# shellcheck disable=SC2086
	build chain $chain && impostor && mkdir mnt && mv impostor mnt/chain
	# shellcheck disable=SC2016
	start_target "$(command -v unshare)" -m --propagation private sh -c \
		'mount -t tmpfs none "$1/mnt" && cp "$1/chain" "$1/mnt/chain" &&
		exec "$1/mnt/chain" spin' - "$tmp" || { ok false "it starts"; return; }
	capture
	stack_is chain "f0 f1 f2 f3 main$live_start" "a program of another mount namespace"
	unlike "$(cat raw)" evil "not ours of the same name"
}

check_pid_namespace() {
	unshare -pf --mount-proc true 2>/dev/null || { skip "no pid namespaces"; return; }
	start_process "$(command -v unshare)" -pf --mount-proc --kill-child \
		"$top_builddir/t/target/threads" 5 1
	unshare_pid=$target_pid
	wait_for "grep -q ^ready '$target_out'"
	target_pid=$(cat "/proc/$unshare_pid/task/$unshare_pid/children")
	target_pid=${target_pid% }
	ok capture "a program of another pid namespace"
	is "$(grep -c '^Thread ' raw)" 7 "all threads"
	stack_is spin-0 "spinner level2 level1( [a-z0-9_]+){4}" "with their stacks"
	free_again "no thread is stopped or traced"
	kill -USR1 "$target_pid"
	wait "$unshare_pid"
	is "$?/$(tail -n 1 "$target_out")" "0/verdict: ok" "undisturbed"
}

check_chroot() {
	# shellcheck disable=SC2086
	build chain $chain -static && mkdir -p root/bin && mv chain root/bin/ || return
	start_target "$(command -v chroot)" "$tmp/root" /bin/chain spin ||
		{ skip "no chroot"; return; }
	capture
	stack_is chain "f0 f1 f2 f3 main$live_start" "in a root of its own"
}

run_checks "$@"
