#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What pmp --serve counts, of a program that burns 2 s of CPU in one function and waits 4 s for
# a lock in another, between two times of rest: the CPU time is what the kernel has counted,
# and what sleeps has none.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"
# shellcheck source=t/lib/serve.sh
. "$top_srcdir/t/lib/serve.sh"

cat >busy.c <<'END'
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile unsigned long sum;
static sem_t burn, hold, wait;

static double cpu_time(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

__attribute__((noinline)) static void burn_cpu(double until)
{
	while (cpu_time() < until)
		for (int i = 0; i < 10000; i++)
			sum += (unsigned long)i;
}

__attribute__((noinline)) static void wait_for_lock(void)
{
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
}

__attribute__((noinline)) static void hold_lock(void)
{
	pthread_mutex_lock(&lock);
	sem_post(&wait);
	sleep(4);
	pthread_mutex_unlock(&lock);
}

static void *burner(void *arg)
{
	sem_wait(&burn);
	burn_cpu(cpu_time() + 2);
	pause();
	return arg;
}

static void *waiter(void *arg)
{
	sem_wait(&wait);
	wait_for_lock();
	pause();
	return arg;
}

static void *holder(void *arg)
{
	sem_wait(&hold);
	hold_lock();
	pause();
	return arg;
}

/* It uses a little, and is never found running. */
__attribute__((noinline)) static void nap(void)
{
	usleep(20000);
}

static void *napper(void *arg)
{
	for (;;)
		nap();
	return arg;
}

int main(void)
{
	void *(*const runs[])(void *) = { burner, waiter, holder, napper };
	pthread_t thread;
	sigset_t signals;
	int number;

	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	sem_init(&burn, 0, 0);
	sem_init(&hold, 0, 0);
	sem_init(&wait, 0, 0);
	for (int i = 0; i < 4; i++)
		pthread_create(&thread, NULL, runs[i], NULL);
	printf("ready\n");
	fflush(stdout);
	sigwait(&signals, &number);
	sem_post(&burn);
	sem_post(&hold);
	for (;;)
		pause();
}
END
${CC:-cc} -g -O1 -pthread -o busy busy.c || skip_all "the target cannot be compiled"
start_target "$tmp/busy"
start_server first --serve=0 -F 50 -p "$target_pid"
wait_for "[ \$(status ${url}healthz) = 200 ]"

# spent: CPU time of all threads, ns, as the kernel has it
spent() {
	cat "/proc/$target_pid/task"/*/schedstat | awk '{ sum += $1 } END { printf "%.0f\n", sum }'
}

# napped: that of the last thread
napped() {
	set -- "/proc/$target_pid/task"/*
	shift $(($# - 1))
	cut -d ' ' -f 1 "$1/schedstat"
}

# What is asked for at the same time has the same seconds.
before=$(spent) before_nap=$(napped)
clients=
for page in profile wall block; do
	curl -s -o "$page.pb" "${url}debug/pprof/$page?seconds=9" &
	clients="$clients $!"
	test_pids="$test_pids $!"
done
wait_for "curl -s ${url}metrics | grep -q '^pmp_windows 3\$'"
kill -USR1 "$target_pid"
# shellcheck disable=SC2086 # one by one
wait $clients
counted=$(($(spent) - before)) napped=$(($(napped) - before_nap))

# stacks FILE TYPE: one in a line, and its value
stacks() {
	"$PMP" -q -f folded --sample-type "$2" "$1.pb"
}

# of FILE TYPE FUNCTION: s in which it was found, to three digits
of() {
	stacks "$1" "$2" | awk -v name="[;]$3(;|$)" '
		{ n = $NF; sub(/ [0-9]+$/, "") }
		$0 ~ name { sum += n }
		END { printf "%.3f\n", sum / 1e9 }'
}

# near VALUE WANT PERCENT
near() {
	awk "BEGIN { d = $1 - $2; if (d < 0) d = -d; exit !(d <= $2 * $3 / 100) }"
}

all=$(stacks profile cpu | awk '{ sum += $NF } END { printf "%.0f\n", sum }')
ok "near $all $counted 1" "the CPU time of all stacks is what the kernel has counted: $all and $counted ns"
burned=$(of profile cpu burn_cpu)
ok "near $burned 2 2" "a function that burns 2 s: $burned s"
for name in hold_lock wait_for_lock; do
	is "$(of profile cpu $name)" 0.000 "what sleeps has no CPU time: $name()"
done
ok "awk 'BEGIN { exit !($(of profile cpu nap) <= $napped / 1e9 + 0.001) }'" \
	"a thread that naps has no more than its thread used: $(of profile cpu nap) s of $napped ns"
waited=$(of wall wall wait_for_lock)
ok "near $waited 4 3" "a function that waits 4 s for a lock: $waited s of all time"
delayed=$(of block delay wait_for_lock)
ok "near $delayed 4 3" "and as long of what locks have cost: $delayed s"
is "$(of block delay nap)" 0.000 "which what sleeps without a lock does not"
if command -v go >/dev/null 2>&1; then
	HOME=$tmp
	export HOME
	like "$(go tool pprof -top profile.pb 2>/dev/null)" ' ((2|1\.9[0-9]|2\.0[0-9])s|(19|20)[0-9]{2}(\.[0-9]+)?ms) +[0-9.]+%  burn_cpu$' \
		"go tool pprof has the same"
else
	skip "no go tool pprof"
fi
end_server
stop_process "$target_pid"

done_testing
