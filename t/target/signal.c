/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * signal: a program that lives on signals, one kind a thread. A thread "timer"
 * has a 1 kHz timer, "queue" gets real-time signals with rising values, "trap"
 * executes breakpoints that it handles, "fault" reads where nothing may be
 * read, "altspin" and "altblock" are in a handler on an alternate stack
 * (alt_work alt_handler <signal> alt_victim).
 *
 * Verdict: no signal was lost, doubled or out of order; each fault had its address.
 */
#include "target.h"

#include <poll.h>
#include <setjmp.h>
#include <sys/mman.h>

#define TIMER_PERIOD 1000000 /* ns */
#define TIMER_SLACK 2	     /* periods between an expiry and the reading of the clock */
#define TIMER_CHECKS 50
#define ALT_STACK (64 * 1024)

#define SIGNAL_TIMER SIGRTMIN
#define SIGNAL_QUEUE (SIGRTMIN + 1)
#define SIGNAL_ALT (SIGRTMIN + 2)

static atomic_ullong timer_start, timer_total, timer_handled;
static atomic_llong timer_lost; /* the least seen since it was reset */
static atomic_ullong queue_next, queue_wrong, queue_sent;
static atomic_ullong traps_made, traps_seen, faults_made, faults_seen, faults_wrong;
static atomic_int alt_in_place, unexpected;
static char *forbidden;
static __thread sigjmp_buf fault_return;

static void on_timer(int signal, siginfo_t *info, void *context)
{
	uint64_t elapsed = target_now() - timer_start;
	long long lost;

	timer_total += 1 + (uint64_t)info->si_overrun;
	lost = (long long)(elapsed / TIMER_PERIOD) - (long long)timer_total;
	if (lost < timer_lost)
		timer_lost = lost;
	timer_handled++;
	(void)signal;
	(void)context;
}

static void on_queue(int signal, siginfo_t *info, void *context)
{
	if ((uint64_t)(uintptr_t)info->si_value.sival_ptr != queue_next)
		queue_wrong++;
	queue_next++;
	(void)signal;
	(void)context;
}

static void on_trap(int signal)
{
	traps_seen++;
	(void)signal;
}

static void on_fault(int signal, siginfo_t *info, void *context)
{
	char *want = forbidden + (faults_seen & 0xfff);

	if (info->si_addr != want)
		faults_wrong++;
	faults_seen++;
	siglongjmp(fault_return, 1);
	(void)signal;
	(void)context;
}

static void spin_forever(void)
{
	volatile uint64_t work = 0;

	for (;;)
		work++;
}

static void timer_main(void *arg)
{
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID,
				  .sigev_signo = SIGNAL_TIMER };
	struct itimerspec period = { { 0, TIMER_PERIOD }, { 0, TIMER_PERIOD } };
	timer_t timer;

#ifdef sigev_notify_thread_id
	event.sigev_notify_thread_id = gettid();
#else
	event._sigev_un._tid = gettid();
#endif
	if (timer_create(CLOCK_MONOTONIC, &event, &timer))
		target_die("timer_create");
	timer_start = target_now();
	if (timer_settime(timer, 0, &period, NULL))
		target_die("timer_settime");
	spin_forever();
	(void)arg;
}

static void queue_main(void *arg)
{
	for (;;)
		poll(NULL, 0, -1);
	(void)arg;
}

/* Sends for ever; a full queue (EAGAIN) is no loss. */
static void sender_main(void *arg)
{
	pid_t to = (pid_t)(intptr_t)arg;
	siginfo_t info;

	for (;;) {
		memset(&info, 0, sizeof info);
		info.si_code = SI_QUEUE;
		info.si_pid = getpid();
		info.si_value.sival_ptr = (void *)(uintptr_t)queue_sent;
		if (syscall(SYS_rt_tgsigqueueinfo, getpid(), to, SIGNAL_QUEUE, &info) ==
		    0)
			queue_sent++;
		else if (errno != EAGAIN)
			unexpected++;
		if (queue_sent % 8 == 0)
			target_nap(1);
	}
}

static void trap_main(void *arg)
{
	for (;;) {
		traps_made++;
		raise(0); /* a place to be that is not the breakpoint */
#if defined __x86_64__
		__asm__ volatile("int3");
#else
		raise(SIGTRAP);
#endif
		if (traps_seen != traps_made)
			unexpected++;
	}
	(void)arg;
}

static void fault_main(void *arg)
{
	for (;;) {
		if (sigsetjmp(fault_return, 1) == 0) {
			faults_made++;
			(void)*(volatile char *)(forbidden + ((faults_made - 1) & 0xfff));
			unexpected++;
		}
	}
	(void)arg;
}

static NOINLINE void alt_work(bool spin)
{
	alt_in_place++;
	if (spin)
		spin_forever();
	for (;;)
		poll(NULL, 0, -1);
}

static void alt_handler(int signal, siginfo_t *info, void *context)
{
	alt_work(info->si_value.sival_int != 0);
	unexpected++;
	(void)signal;
	(void)context;
}

static NOINLINE int alt_victim(int spin)
{
	siginfo_t info = { .si_code = SI_QUEUE };

	info.si_value.sival_int = spin;
	syscall(SYS_rt_tgsigqueueinfo, getpid(), gettid(), SIGNAL_ALT, &info);
	return spin + 1;
}

static void alt_main(void *arg)
{
	stack_t stack = { .ss_size = ALT_STACK };

	stack.ss_sp = mmap(NULL, ALT_STACK, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (stack.ss_sp == MAP_FAILED || sigaltstack(&stack, NULL))
		target_die("sigaltstack");
	unexpected += alt_victim((int)(intptr_t)arg);
}

static void handle(int signal,
		   void (*handler)(int signal, siginfo_t *info, void *context), int flags)
{
	struct sigaction action = { .sa_sigaction = handler,
				    .sa_flags = SA_SIGINFO | flags };

	sigaction(signal, &action, NULL);
}

static void start_all(void)
{
	pid_t queue;

	forbidden = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (forbidden == MAP_FAILED)
		target_die("mmap");
	handle(SIGNAL_TIMER, on_timer, SA_RESTART);
	handle(SIGNAL_QUEUE, on_queue, SA_RESTART);
	handle(SIGNAL_ALT, alt_handler, SA_ONSTACK);
	handle(SIGSEGV, on_fault, 0);
	signal(SIGTRAP, on_trap);
	queue = target_thread("queue", queue_main, NULL);
	target_wait_asleep(queue);
	target_thread("sender", sender_main, (void *)(intptr_t)queue);
	target_thread("timer", timer_main, NULL);
	target_thread("trap", trap_main, NULL);
	target_thread("fault", fault_main, NULL);
	target_thread("altblock", alt_main, (void *)0);
	target_thread("altspin", alt_main, (void *)1);
}

/* The timer: look at fresh handlers; at the best of them only real losses are left. */
static long long timer_losses(void)
{
	uint64_t until;

	timer_lost = INT64_MAX;
	until = timer_handled + TIMER_CHECKS;
	while (timer_handled < until)
		target_nap(1);
	return timer_lost;
}

int main(void)
{
	uint64_t sent, deadline;
	long long lost;

	target_begin();
	timer_lost = INT64_MAX;
	start_all();
	while (alt_in_place < 2 || timer_handled < 5 || traps_seen < 5 || faults_seen < 5)
		target_nap(1);
	target_ready();
	target_wait_end();
	lost = timer_losses();
	sent = queue_sent;
	deadline = target_now() + TARGET_PATIENCE * UINT64_C(1000000000);
	while (queue_next < sent && target_now() < deadline)
		target_nap(1);
	if (lost > TIMER_SLACK || lost < -TIMER_SLACK)
		target_verdict("%lld of %llu timer signals lost", lost,
			       (unsigned long long)timer_total);
	if (queue_wrong || queue_next < sent)
		target_verdict("%llu queued signals wrong, %llu of %llu came",
			       (unsigned long long)queue_wrong,
			       (unsigned long long)queue_next, (unsigned long long)sent);
	if (faults_wrong)
		target_verdict("%llu faults with a wrong address",
			       (unsigned long long)faults_wrong);
	if (unexpected)
		target_verdict("%d things went another way", (int)unexpected);
	target_verdict(NULL);
}
