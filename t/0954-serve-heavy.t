#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A profile that takes long to write is written by a process of its own: pmp samples and
# answers others meanwhile.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"
# shellcheck source=t/lib/serve.sh
. "$top_srcdir/t/lib/serve.sh"
need pgrep

# Threads that sleep below ever new call paths: each snapshot finds hundreds of new stacks.
cat >paths.c <<'END_C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static __thread unsigned seed;
static void go_down(int depth);

#define FUNCTION(name) \
	__attribute__((noinline)) static void name(int depth) \
	{ \
		if (depth) \
			go_down(depth - 1); \
		else \
			usleep(20000); \
		__asm__ volatile("" ::: "memory"); \
	}

FUNCTION(left) FUNCTION(right) FUNCTION(middle) FUNCTION(back)

static void go_down(int depth)
{
	void (*const ways[])(int) = { left, right, middle, back };

	ways[rand_r(&seed) % 4](depth);
	__asm__ volatile("" ::: "memory");
}

static void *run(void *arg)
{
	seed = (unsigned)(long)arg * 7919;
	for (;;)
		go_down(12);
	return arg;
}

int main(void)
{
	pthread_attr_t small;
	pthread_t thread;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 1 << 17);
	for (long i = 1; i <= 300; i++)
		pthread_create(&thread, &small, run, (void *)i);
	printf("ready %d\n", getpid());
	fflush(stdout);
	pause();
}
END_C
${CC:-cc} -g -O1 -pthread -o paths paths.c || skip_all "the target cannot be compiled"
./paths >paths.out &
paths=$!
test_pids="$test_pids $paths"
wait_for 'grep -q ready paths.out'

start_server heavy --serve=0 -F 50 --max-cpu=100 -p "$paths"

# metric NAME: its value
metric() {
	curl -s "${url}metrics" | sed -n "s/^$1 //p"
}

# ask: a large profile, in the background, in $client; $writer is stopped at work
ask() {
	curl -s -o large -w '%{http_code}' "${url}past/json?seconds=600" >large.status &
	client=$!
	test_pids="$test_pids $client"
	wait_for 'pgrep -P $server_pid pmp-writer' || diag "no writer"
	writer=$(pgrep -P "$server_pid" pmp-writer)
	kill -STOP "$writer"
}

wait_for '[ "$(metric pmp_snapshots_total)" -gt 150 ]' 60
ask
is "$(status "${url}healthz")" 200 "others are answered while a large profile is written"
before=$(metric pmp_snapshots_total)
ok "wait_for '[ \$(metric pmp_snapshots_total) -gt $((before + 2)) ]'" "and samples are taken"
is "$(metric pmp_windows)" 1 "it is awaited"
rights=$(sed -n 's/^\(Uid\|Cap[A-Z][a-z]*\|NoNewPrivs\):[[:space:]]*//p' "/proc/$writer/status" |
	tr -s '\t\n' ' ')
if [ "$(id -u)" -eq 0 ] && ! grep -q '^PMP_CFLAGS = .*-fsanitize' "$top_builddir/Makefile"; then
	none=0000000000000000
	is "$rights" "65534 65534 65534 65534 $none $none $none $none $none 1 " \
		"whoever writes it has no rights of root"
else
	like "$rights" '1 $' "whoever writes it gets no rights"
fi
kill -CONT "$writer"
wait "$client"
is "$(cat large.status)" 200 "then it is answered"
like "$(tail -c 3 large)" '[]}]' "with all of it"
like "$(head -c 100000 large)" '"left"' "with names"
is "$(grep -o -m 1 '"\[paths+[^"]*"' large)" "" "of all that it is in: they were looked up before"
ok "wait_for '[ ! -e /proc/$writer ]'" "and its writer is gone"

ask
kill -KILL "$writer"
wait "$client"
is "$(cat large.status):$(cat large)" "500:the answer took too long" "a writer that is killed"

ask
kill "$client"
wait "$client" 2>/dev/null
ok "wait_for '[ ! -e /proc/$writer ]'" "a client that goes takes its writer along"
is "$(metric pmp_windows)" 0 "nothing is awaited any more"

ask
kill -INT "$server_pid"
kill -CONT "$writer"
wait "$client"
is "$(cat large.status)" 200 "what is being written at the end is still sent"
wait "$server_pid"
is $? 0 "pmp ends in order"
ok "wait_for '[ ! -e /proc/$writer ]'" "and leaves no writer"
kill "$paths"

done_testing
