/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * norestart: a seccomp filter that kills the process when it enters
 * restart_syscall, as the kernel makes a sleep do after a stop. Threads are
 * asleep in nanosleep() and poll(), one takes short naps, one computes.
 *
 * Verdict: being alive (SIGSYS otherwise), and that the napping one has gone on.
 */
#include "target.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stddef.h>

static atomic_ullong naps;

static void sleep_main(void *arg)
{
	for (;;)
		sleep(100000);
	(void)arg;
}

static void poll_main(void *arg)
{
	for (;;)
		poll(NULL, 0, 100000000);
	(void)arg;
}

static void nap_main(void *arg)
{
	for (;;) {
		target_nap(2);
		naps++;
	}
	(void)arg;
}

static void spin_main(void *arg)
{
	volatile uint64_t work = 0;

	for (;;)
		work++;
	(void)arg;
}

static void forbid_restart(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_restart_syscall, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof code / sizeof *code, code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		target_die("seccomp");
}

int main(void)
{
	unsigned long long before;

	target_begin();
	forbid_restart();
	target_wait_asleep(target_thread("sleeper", sleep_main, NULL));
	target_wait_asleep(target_thread("poller", poll_main, NULL));
	target_thread("napper", nap_main, NULL);
	target_thread("spinner", spin_main, NULL);
	target_ready();
	target_wait_end();
	before = naps;
	while (naps == before)
		target_nap(1);
	target_verdict(NULL);
}
