#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A profile that takes long to write is written by a process of its own: pmp samples and
# answers others meanwhile. With names of parts of it only these: t/0954-serve-heavy.t pages.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"
# shellcheck source=t/lib/serve.sh
. "$top_srcdir/t/lib/serve.sh"
# shellcheck source=t/lib/writers.sh
. "$top_srcdir/t/lib/writers.sh"

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
			usleep(40000); \
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

# ask: a large profile, in the background, in $client; $writer is stopped at work
ask() {
	curl -s -o large -w '%{http_code}' "${url}past/json?seconds=600" >large.status &
	client=$!
	test_pids="$test_pids $client"
	wait_for 'pgrep -P $server_pid pmp-writer' || diag "no writer"
	writer=$(pgrep -n -P "$server_pid" pmp-writer)
	kill -STOP "$writer"
}

wait_for '[ "$(metric pmp_snapshots_total)" -gt 150 ]' 60

check_profile() {
	ask
	is "$(status "${url}healthz")" 200 "others are answered while a large profile is written"
	before=$(metric pmp_snapshots_total)
	ok "wait_for '[ \$(metric pmp_snapshots_total) -gt $((before + 2)) ]'" "and samples are taken"
	is "$(metric pmp_windows)" 1 "it is awaited"
	rights=$(sed -n 's/^\(Uid\|Cap[A-Z][a-z]*\|NoNewPrivs\):[[:space:]]*//p' "/proc/$writer/status" |
		tr -s '\t\n' ' ')
	if [ "$(id -u)" -eq 0 ] && ! grep -q '^PMP_CFLAGS = .*-fsanitize' "$top_builddir/Makefile"; then
		none=0000000000000000
		is "$rights" "65531 65531 65531 65531 $none $none $none $none $none 1 " \
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
}

# What the page fetches.
check_pages() {
	clients=
	ten='1 2 3 4 5 6 7 8 9 10'
	writers=$(metric pmp_writers_total)
	fetch page1 'api/tree?from=1&to=0'
	held 1
	for i in ${ten#1 }; do
		fetch "page$i" 'api/tree?from=1&to=0'
	done
	wait_for '[ "$(metric pmp_http_connections)" -ge 11 ]' || diag "$(metric pmp_http_connections)"
	others_go_on "while ten clients wait for a tree"
	go_on
	join
	for i in $ten; do
		is "$(cat "page$i.status"):$(cmp page1 "page$i" && tail -c 2 "page$i")" '200:}' \
			"client $i has the tree"
	done
	is "$(metric pmp_writers_total)" $((writers + 1)) "one writer made it for all of them"
	is "$(status "${url}api/tree?from=1&to=0"):$(cmp page1 body)" 200: "who asks for it a little later"
	is "$(metric pmp_writers_total)" $((writers + 1)) "gets the same"

	# Trees take long enough to be held; the others must wait for them.
	for page in 'tree?px=900' 'tree?px=901'; do
		fetch "$page" "api/$page"
	done
	held 2
	for page in threads locks; do
		fetch "$page" "api/$page"
	done
	wait_for '[ "$(metric pmp_http_connections)" -ge 5 ]' || diag "$(metric pmp_http_connections)"
	others_go_on "while four pages are wanted"
	is "$(pgrep -c -P "$server_pid" pmp-writer)" 2 "two writers are at work for them"
	fetch profile 'past/json?seconds=600'
	held 3
	is "$(pgrep -c -P "$server_pid" pmp-writer)" 3 "and there is room for one of a profile"
	go_on
	join
	for page in threads locks 'tree?px=900' 'tree?px=901' profile; do
		is "$(cat "$page.status")" 200 "$page is answered"
	done
	is "$(metric pmp_writers_total)" $((writers + 6)) "each by a writer"

	fetch first 'api/threads?from=2'
	held 1
	fetch second 'api/threads?from=2'
	wait_for '[ "$(metric pmp_http_connections)" -ge 3 ]'
	others_go_on "while two clients wait"
	for client in $clients; do
		kill "$client"
		wait "$client" 2>/dev/null
	done
	clients=
	ok "wait_for '! pgrep -P $server_pid pmp-writer >pgrep.out'" "a page that is not wanted any more is not made"
}

check_end() {
	fetch last 'api/locks?from=3'
	ask
	kill -INT "$server_pid"
	go_on
	wait "$client"
	is "$(cat large.status)" 200 "what is being written at the end is still sent"
	join
	is "$(cat last.status)" 200 "so is a page"
	wait "$server_pid"
	is $? 0 "pmp ends in order"
	ok "wait_for '[ ! -e /proc/$writer ]'" "and leaves no writer"
}

# On a kernel without landlock.
check_bare() {
	if command -v python3 >/dev/null; then
		printf '#!/bin/sh\nexec python3 "%s" landlock "%s" "$@"\n' "$top_srcdir/t/lib/without.py" \
			"$PMP" >without
		chmod 755 without
		PMP=$tmp/without start_server bare --serve=0 -v -F 50 --max-cpu=100 -p "$paths"
		wait_for '[ "$(metric pmp_snapshots_total)" -gt 150 ]' 60
		is "$(status "${url}past/json?seconds=600")" 200 "without landlock a profile is written"
		is "$(grep -c '^pmp: what writes large answers has more rights than it should: it has no limit to files (landlock), the network, signals to processes of its user$' bare.err)" \
			1 "and -v says what its writer has not lost"
		stop_process "$server_pid"
	fi
}

[ $# -gt 0 ] || set -- profile pages end bare
for part; do
	"check_$part"
done
kill "$paths"

done_testing
