#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Threads that have not run since their last sample are told as such and cost nothing:
# also with few descriptors, on kernels that do not count runs, and when not wanted.
#
# shellcheck disable=SC2119 # options of capture() are optional

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"
# shellcheck source=t/lib/live.sh
. "$top_srcdir/t/lib/live.sh"

settled() {
	! grep -L '^State:[[:space:]]*[SZ]' "/proc/$target_pid"/task/*/status | grep -q .
}

# unchanged THREADS TEXT: in the last of three snapshots no thread was stopped or looked at, but
# for a few that a busy machine may have woken.
unchanged() {
	last=$(grep '^--- snapshot 3' raw)
	count=${last##*, }
	count=${count%% *}
	is "$(grep -c '^Thread ' raw)" $((3 * $1)) "$2: all threads in three snapshots"
	ok "[ ${count:-0} -ge $(($1 * 9 / 10)) ]" "$2: $count of $1 unchanged" || diag "$last"
	is "$(stacks | grep -c '!')" 0 "$2: complete stacks"
}

check_plain() {
	start_target threads 100
	wait_for settled
	capture -n 3 -i 50ms
	unchanged 101 "100 threads"
	verdict "undisturbed"
}

# A descriptor for each thread is not to be had: their schedstat is opened again.
check_few_descriptors() {
	start_target threads 300
	wait_for settled
	sh -c 'ulimit -n 80; exec "$@"' sh "$PMP" --raw -n 3 -i 100ms -p "$target_pid" \
		>raw 2>err
	ok "[ $? -eq 0 ]" "80 descriptors for 300 threads" || diag "$(cat err)"
	unchanged 301 "80 descriptors"
	verdict "undisturbed"
}

# descriptors: how many the sampler of $front has open.
descriptors() {
	find "/proc/$(sampler_of "$front")/fd" -mindepth 1 2>/dev/null | wc -l
}

check_raised() {
	start_target threads 300
	target=$target_pid
	hard=$(awk '/^Max open files/ { print $5 }' /proc/self/limits)
	[ "$hard" = unlimited ] || [ "$hard" -ge 600 ] || {
		skip "at most $hard descriptors"
		return
	}
	start_process sh -c 'ulimit -S -n 80; exec "$@"' sh "$PMP" -q --raw -d 60 -i 20ms \
		-p "$target"
	front=$target_pid
	ok "wait_for '[ \$(descriptors) -gt 300 ]'" "the limit on descriptors is raised"
	wait_for "grep -q 'snapshot 3:' '$target_out'" 30
	before=$(descriptors)
	wait_for "grep -q 'snapshot 40:' '$target_out'" 30
	after=$(descriptors)
	ok "[ $after -le $((before + 3)) ]" "$after after some snapshots more, $before before"
	kill -INT "$front"
	wait "$front"
	target_pid=$target
	free_again "no thread is stopped or traced"
}

check_no_schedstat() {
	[ -x "$PMP_FAULTY" ] || { skip "no $PMP_FAULTY"; return; }
	start_target threads 100
	wait_for settled
	PMP_FAULT=no-schedstat "$PMP_FAULTY" --raw -n 3 -i 50ms -p "$target_pid" >raw 2>err
	unchanged 101 "without schedstat"
}

# What is not wanted is looked at once, for its name.
check_unwanted() {
	command -v strace >/dev/null || { skip "no strace"; return; }
	start_target threads 100
	wait_for settled
	ASAN_OPTIONS=detect_leaks=0 strace -f -qq -o trace -e trace=openat "$PMP" --raw -n 10 \
		-i 50ms --threads '^threads$' -p "$target_pid" >raw 2>err
	is "$(grep -c '^Thread ' raw)" 10 "one of 101 threads is wanted"
	opened=$(grep -c '"task/[0-9]*/stat",' trace)
	ok "[ $opened -ge 101 ] && [ $opened -le 200 ]" "$opened threads read in 10 snapshots"
}

# preads ARG...: how many times something was read of 101 threads in 40 snapshots, with
# pmp run by these.
preads() {
	ASAN_OPTIONS=detect_leaks=0 strace -f -qq -o trace -e trace=pread64 "$@" "$PMP" --raw \
		-n 40 -i 10ms --max-cpu 0 -p "$target_pid" >raw 2>err
	is "$(grep -c '^Thread ' raw)" $((40 * 101)) "all threads in 40 snapshots"
	same=$(grep -c '^---.* 0 stopped, 0 looked at, 101 unchanged' raw)
	ok "[ $same -ge 30 ]" "in $same of them all unchanged" || diag "$(grep ^--- raw)"
	read_times=$(grep -c 'pread64(.*, 0) = ' trace)
}

# All that are idle are checked with one question, where CAP_NET_ADMIN permits that.
check_idle() {
	command -v strace >/dev/null || { skip "no strace"; return; }
	start_target threads 100
	wait_for settled
	preads env
	if [ "$("$top_builddir/t/0265-taskstats.t" | grep -c 'not for us')" -eq 0 ]; then
		ok "[ $read_times -lt 2020 ]" "$read_times reads for 40 times 101 threads"
	fi
	as_others="setpriv --bounding-set -net_admin --inh-caps -net_admin"
	[ "$(id -u)" -eq 0 ] || as_others='env'
	# shellcheck disable=SC2086
	preads $as_others
	ok "[ $read_times -gt 3900 ]" "without CAP_NET_ADMIN each is: $read_times reads"
	verdict "undisturbed"
}

# Code comes and goes while all others are idle: they are looked at again, not stopped.
check_loading() {
	cat >loads.c <<-'END'
		#include <fcntl.h>
		#include <pthread.h>
		#include <stdio.h>
		#include <sys/mman.h>
		#include <unistd.h>
		static void *rest_here(void *arg)
		{
			for (;;)
				pause();
			return arg;
		}
		int main(void)
		{
			int fd = open("/proc/self/exe", O_RDONLY);
			void *code = NULL;
			pthread_t thread;

			for (int i = 0; i < 100; i++)
				pthread_create(&thread, NULL, rest_here, NULL);
			usleep(200000);
			printf("ready %d\n", getpid());
			fflush(stdout);
			for (int turn = 0;; turn++) {
				usleep(2000);
				if (turn % 250 == 100)
					code = mmap(NULL, 4096, PROT_READ | PROT_EXEC,
						    MAP_PRIVATE, fd, 0);
				if (turn % 250 == 200)
					munmap(code, 4096);
			}
		}
	END
	build loads loads.c && start_target ./loads
	PMP_DEBUG=maps capture -n 80 -i 50ms
	ok "[ $(grep -c 'generation' err) -ge 4 ]" "the address space changes" || diag "$(cat err)"
	is "$(sed -En '2,$s/^--- .* ([0-9]+) stopped, .*/\1/p' raw | grep -cvE '^[01]$')" 0 \
		"none of 100 idle threads is stopped for that" || diag "$(grep ^--- raw)"
	ok "[ $(sed -En 's/^--- .* ([0-9]+) looked at, .*/\1/p' raw | grep -cE '^[0-9]{3}') -ge 3 ]" \
		"but looked at again" || diag "$(grep ^--- raw)"
}

check_renamed() {
	start_target threads 5
	capture -n 3 -i 50ms --not-threads '^block-[0-3]$'
	is "$(grep -c '^Thread ' raw)" 6 "those that are not wanted are left out each time"
}

check_together() {
	start_target threads 20
	wait_for settled
	capture --stop=all -n 3 -i 50ms
	is "$(grep -c '^---.* 21 stopped, 0 looked at, 0 unchanged' raw)" 3 \
		"--stop=all stops all, each time" || diag "$(grep ^--- raw)"
	verdict "undisturbed"
}

# A thread that has ended has no frames, each time.
check_no_frames() {
	start_target zleader
	capture -n 5 -i 20ms
	is "$(grep -c '^Thread ' raw)" 15 "a leader that has ended is in each snapshot"
	is "$(stacks | grep -c '^zleader !\[not stopped: zombie\]$')" 5 "without a frame"
	verdict "undisturbed"
}

# Another program in the same process: nothing of the one before is shown.
check_exec() {
	cat >execs.c <<-'END'
		#include <stdio.h>
		#include <stdlib.h>
		#include <unistd.h>
		static int __attribute__((noinline)) rest_here(const char *name)
		{
			char c;

			printf("ready %d\n", getpid());
			fflush(stdout);
			if (read(atoi(name), &c, 1) != 1)
				return 1;
			execl("./after", "after", "1", NULL);
			return 2;
		}
		int main(int argc, char **argv)
		{
			return rest_here(argc > 1 ? argv[1] : "0") + argc;
		}
	END
	build before execs.c && sed 's/rest_here/stay_there/' execs.c >stays.c &&
		sed -i 's/if (read.*/pause();/; /return 1;/d' stays.c && build after stays.c
	mkfifo gate
	exec 9<>gate
	./before 9 >ready &
	target_pid=$!
	test_pids="$test_pids $target_pid"
	wait_for "grep -q ready ready"
	rm -f raw
	"$PMP" --raw -d 60 -i 25ms -p "$target_pid" >raw 2>err &
	front=$!
	wait_for "grep -q 'snapshot 3' raw"
	echo >&9
	wait_for "grep -q stay_there raw"
	kill -INT "$front"
	wait "$front"
	exec 9>&-
	grep -oE 'rest_here|stay_there' raw | uniq -c >parts
	is "$(sed 's/.*[0-9] //' parts | tr '\n' ' ')" "rest_here stay_there " \
		"the one before, then the other" || diag "$(cat parts)"
	# But for one in the middle of it.
	ok "[ $(grep -c '^Backtrace stopped' raw) -le 2 ]" "complete stacks"
}

run_checks "$@"
