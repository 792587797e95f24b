/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * context: coroutines. The thread "co" computes on a stack of its own, made by
 * makecontext() (co_work co_body), "pingpong" changes between two all the time
 * (ping_body, pong_body).
 *
 * Verdict: each coroutine found its own data each time.
 */
#include "target.h"

#include <ucontext.h>

#define CO_STACK (64 * 1024)

static atomic_int ended, wrong, finished;
static __thread ucontext_t home, ping, pong;

static NOINLINE int co_work(int argument)
{
	volatile uint64_t work = 0;

	while (!ended)
		work++;
	return argument;
}

static void co_body(int argument)
{
	if (co_work(argument) != argument)
		wrong++;
	finished++;
}

static void ping_body(void)
{
	volatile int value = 1;

	while (!ended) {
		if (value != 1)
			wrong++;
		swapcontext(&ping, &pong);
	}
	finished++;
}

static void pong_body(void)
{
	volatile int value = 2;

	for (;;) {
		if (value != 2)
			wrong++;
		swapcontext(&pong, &ping);
	}
}

static void prepare(ucontext_t *context)
{
	getcontext(context);
	context->uc_stack.ss_sp = malloc(CO_STACK);
	context->uc_stack.ss_size = CO_STACK;
	context->uc_link = &home;
	if (!context->uc_stack.ss_sp)
		target_die("malloc");
}

static void co_main(void *arg)
{
	prepare(&ping);
	makecontext(&ping, (void (*)(void))co_body, 1, 42);
	swapcontext(&home, &ping);
	(void)arg;
}

static void pingpong_main(void *arg)
{
	prepare(&ping);
	prepare(&pong);
	makecontext(&ping, ping_body, 0);
	makecontext(&pong, pong_body, 0);
	swapcontext(&home, &ping);
	(void)arg;
}

int main(void)
{
	target_begin();
	target_thread("co", co_main, NULL);
	target_thread("pingpong", pingpong_main, NULL);
	target_ready();
	target_wait_end();
	ended = 1;
	while (finished < 2)
		target_nap(1);
	if (wrong)
		target_verdict("%d times in a wrong context", (int)wrong);
	target_verdict(NULL);
}
