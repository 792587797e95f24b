#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# --children: processes that the target has started, starts, and leaves behind.
#
# shellcheck disable=SC2016,SC3045

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"
# shellcheck source=t/lib/live.sh
. "$top_srcdir/t/lib/live.sh"
need make pgrep

sleeper=$top_builddir/t/target/sleeper

# sampled: the names of the processes in x.folded, without their ids.
sampled() {
	sed 's/[;-].*//' x.folded | sort -u | tr '\n' ' '
}

# descriptors: how many the sampler of $pmp has.
descriptors() {
	find "/proc/$(sampler_of "$pmp")/fd" -mindepth 1 | wc -l
}

check_options() {
	"$PMP" --children -t $$ >out 2>err
	is "$?:$(head -n 1 err)" "2:pmp: --children and -t exclude each other" "not with -t"
}

check_pipeline() {
	"$PMP" -q --children -i 20ms -o x.folded -- \
		sh -c "'$sleeper' 2 400 | cat >piped; exit 7" 2>err
	is "$?" 7 "a pipeline: the status of the command"
	like "$(cat piped)" '^ready ' "its output is whole"
	is "$(sampled)" "cat sh sleeper " "its processes are sampled"
	like "$(cat x.folded)" '^sleeper-[0-9]+;.*nap.* [0-9]+$' "under their names and ids"
	is "$(cat err)" "" "nothing is said"
	"$PMP" -q -i 20ms -o x.folded -- sh -c "'$sleeper' 2 400 | cat >piped"
	is "$(sampled)" "sh " "without --children the command alone"
}

# exec, vfork and children of children of all kinds.
check_make() {
	for i in 1 2 3 4; do
		echo "#include <stdio.h>
		int f$i(void) { return puts(\"$i\"); }" >"f$i.c"
	done
	printf 'all: f1.o f2.o f3.o f4.o\n%%.o: %%.c\n\t%s -O2 -c $<\n' "${CC:-cc}" >Makefile
	# On a busy machine some may be over before they are seen; not each time.
	for _ in 1 2 3 4 5; do
		rm -f f?.o
		MAKEFLAGS='' "$PMP" -q --children -i 2ms -o x.folded -- make -s -j2 2>err
		status=$?
		[ "$(sed 's/;.*//' x.folded | sort -u | wc -l)" -lt 5 ] || break
	done
	is "$status" 0 "make -j2"
	ok "[ -s f1.o ] && [ -s f2.o ] && [ -s f3.o ] && [ -s f4.o ]" "has built everything"
	is "$(cat err)" "" "without a word"
	ok "[ $(sed 's/;.*//' x.folded | sort -u | wc -l) -ge 5 ]" "five processes at least: $(sampled)"
	like "$(sampled)" '(^| )make ' "make is one"
}

check_before() {
	cat >family.c <<-'END'
		#include <signal.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		#include <sys/prctl.h>
		#include <sys/wait.h>
		#include <unistd.h>
		static int __attribute__((noinline)) wait_here(const char *what)
		{
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			printf("%s %d\n", what, getpid());
			fflush(stdout);
			return pause();
		}
		static int __attribute__((noinline)) grandchild(void)
		{
			return wait_here("grandchild") + 1;
		}
		static int __attribute__((noinline)) child(void)
		{
			return (fork() ? wait_here("child") : grandchild()) + 1;
		}
		static int __attribute__((noinline)) later(void)
		{
			return wait_here("later") + 1;
		}
		/* Begins a session, in which it leaves one that was not asked for. */
		static int __attribute__((noinline)) abandoned(void)
		{
			printf("abandoned %d\n", getpid());
			fflush(stdout);
			return (int)sleep(60) + 1;
		}
		static void __attribute__((noinline)) detach(void)
		{
			setsid();
			sleep(1);
			if (fork() == 0)
				exit(abandoned());
			_exit(0);
		}
		/* Lives in its parent's memory for a while, then executes a program. */
		static int __attribute__((noinline)) borrow(void)
		{
			if (vfork() == 0) {
				sleep(1);
				execl("./after", "after", "1", NULL);
				_exit(1);
			}
			return 1;
		}
		int main(void)
		{
			sigset_t set;
			int number;

			sigemptyset(&set);
			sigaddset(&set, SIGUSR1);
			sigprocmask(SIG_BLOCK, &set, NULL);
			if (fork() == 0)
				return child();
			puts("ready");
			fflush(stdout);
			sigwait(&set, &number);
			if (fork() == 0)
				return later();
			if (fork() == 0)
				detach();
			borrow();
			while (wait(NULL) > 0)
				;
			return 0;
		}
	END
	cat >after.c <<-'END'
		#include <signal.h>
		#include <sys/prctl.h>
		#include <unistd.h>
		static int __attribute__((noinline)) executed(void)
		{
			return pause() + 1;
		}
		int main(void)
		{
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			return executed();
		}
	END
	build family family.c && build after after.c || return
	start_target ./family
	wait_for "grep -q '^grandchild' '$target_out'"
	"$PMP" --children -q -i 20ms -d 60 -o x.folded -p "$target_pid" 2>err &
	pmp=$!
	test_pids="$test_pids $pmp"
	sampling "$pmp"
	kill -USR1 "$target_pid"
	wait_for "grep -q '^abandoned' '$target_out' && pgrep -x -P $target_pid after"
	sampling "$pmp"
	kill -INT "$pmp"
	wait "$pmp"
	is "$?" 0 "-p: those that exist and those that come"
	for function in child grandchild later abandoned borrow; do
		like "$(cat x.folded)" "^family-[0-9]+;.*;${function}[^;]*(;.*)? [0-9]+\$" "$function is seen"
	done
	like "$(cat x.folded)" '^after-[0-9]+;.*;main;executed;.* [0-9]+$' "and what vfork has executed"
	is "$(grep -c '^after.*borrow' x.folded)" 0 "not with its parent's stack"
	unlike "$(grep '^family' x.folded)" 'executed' "which has none of its"
	is "$(cat err)" "" "nothing is said"
	kill -KILL "$(sed -n 's/^abandoned //p' "$target_out")"
	stop_process "$target_pid"
}

# A daemon, whose parents end at once: pmp adopts it, and ends with it.
check_daemon() {
	"$PMP" --children -i 20ms -o x.folded -- sh -c \
		"(setsid sh -c '\"$sleeper\" 1 3000 >daemon & exit' &); exit 5" 2>err
	is "$?" 5 "a daemon: the status of the command"
	seen=$(awk '/^sleeper[-;].*nap/ { n += $NF } END { print n + 0 }' x.folded)
	ok "[ $seen -ge 10 ]" "is sampled to its end: $seen times"
	like "$(cat err)" '^pmp: sh has ended; processes that still run: 1$' "pmp says why it stays"
	"$PMP" -q --children -o x.folded -- sh -c \
		'i=0; while [ $i -lt 50 ]; do (sleep 0.01 &); i=$((i + 1)); done; sleep 0.5
		 pgrep -c -r Z -P $PPID >zombies; :'
	ok "[ $(cat zombies) -lt 10 ]" "what has ended is reaped ($(cat zombies) zombies)"
}

check_many() {
	for _ in 1 2 3; do
		rm -f over counted
		sample_many
		grep -Eq "$live_starved" err || break
	done
	ok "[ $count -gt 5 ] && [ $count -lt 40 ]" "after 1000 children: $count descriptors"
	is "$status" 0 "their parent's status" || diag "$(cat err)"
}

sample_many() {
	"$PMP" -q --children -i 2ms -o x.folded -- sh -c \
		'i=0; while [ $i -lt 1000 ]; do /bin/true; i=$((i + 1)); done; echo >over
		 until [ -e counted ]; do sleep 0.1; done' 2>err &
	pmp=$!
	test_pids="$test_pids $pmp"
	wait_for '[ -e over ]' 60
	count=$(descriptors)
	: >counted
	wait "$pmp"
	status=$?
}

# Threads that are late when their process is dropped, here for 100 ms each: they are
# awaited, and nothing holds them, or a raised priority, for ever.
check_left() {
	[ -x "$PMP_FAULTY" ] || { skip "no $PMP_FAULTY"; return; }
	for _ in 1 2 3; do
		PMP_DEBUG=none PMP_FAULT=always-late,late-slow "$PMP_FAULTY" -q --children -i 5ms \
			--no-symbols --max-cpu 0 --max-stop 1h -o x.folded -- sh -c '
				for i in 1 2 3 4 5 6; do
					timeout -s KILL 0.2 sh -c "while :; do :; done"
				done 2>/dev/null; sleep 1.5; exit 5' 2>err
		is "$?" 5 "late threads of processes that have ended"
		is "$(cat err)" "" "do no harm" || return
	done
}

check_limits() {
	(
		ulimit -n 60
		exec "$PMP" --children -o x.folded -- sh -c \
			'for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do sleep 2 & done
			 sleep 1.5; exit 3'
	) 2>err
	is "$?" 3 "no descriptors for all children"
	is "$(grep -c '^pmp: cannot .*Too many open files' err)" 1 "is said once"
	like "$(sampled)" 'sh sleep ' "the others are sampled"
}

# What fetches debug files is a child of pmp, as is what a command has left behind; it waits
# here for a server that does not answer.
check_fetcher() {
	{ command -v debuginfod-find && command -v python3 && command -v curl && command -v strip; } \
		>/dev/null || { skip "no debuginfod-find, python3, curl or strip"; return; }
	# shellcheck source=t/lib/serve.sh
	. "$top_srcdir/t/lib/serve.sh"
	build whole -Wl,--build-id=0xaabbccddeeff0011 "$live_target/sleeper.c" || return
	strip -o victim whole
	mkdir -p files/aabbccddeeff0011
	echo silent >files/aabbccddeeff0011/debuginfo.hang
	start_process python3 "$top_srcdir/t/lib/debuginfod.py" files
	wait_for "grep -q ^ready '$target_out'" || return
	DEBUGINFOD_URLS=http://127.0.0.1:$(sed -n 's/^ready //p' "$target_out") \
		XDG_CACHE_HOME=$tmp/cache start_server family --serve=0 --children --debuginfod -F 20 \
		-- ./victim
	wait_for 'curl -s "${url}metrics" | grep -q ^pmp_target_up'
	curl -s -o folded "${url}folded?seconds=1" &
	test_pids="$test_pids $!"
	wait_for "pgrep -x -P $server_pid debuginfod-find >find"
	ok "[ -s find ]" "a fetcher waits for a server"
	wait_for "[ \"\$(metric pmp_snapshots_total)\" -gt $(($(metric pmp_snapshots_total) + 5)) ]"
	is "$(curl -s "${url}metrics" | grep -c ^pmp_target_up)" 1 "it is not taken for a child"
	kill "$(pgrep -x -P $server_pid victim)" # for which pmp waits
	end_server
}

run_checks "$@"
