/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See own-processes.h. A child may be visible before fork() has returned its pid: so
 * look-ups wait for a fork to end. Two threads of the front may fork at a time. */
#include "run/own-processes.h"

#include <stddef.h>
#include <sys/mman.h>
#include <time.h>

#include "base/fault.h"
#include "run/clock.h"

#define PATIENCE_MS 1000 /* the front may have been stopped */

struct own_processes {
	unsigned forking;
	pid_t pids[OWN_PROCESSES_MAX]; /* 0: none; negative: abandoned */
};

struct own_processes *own_processes_new(void)
{
	void *memory = mmap(NULL, sizeof(struct own_processes), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

void own_processes_free(struct own_processes *own)
{
	if (own)
		munmap(own, sizeof(*own));
}

void own_processes_begin(struct own_processes *own)
{
	if (own)
		__atomic_add_fetch(&own->forking, 1, __ATOMIC_SEQ_CST);
}

static void replace(struct own_processes *own, pid_t old, pid_t new)
{
	for (size_t i = 0; i < OWN_PROCESSES_MAX; i++) {
		pid_t expected = old;

		if (__atomic_compare_exchange_n(&own->pids[i], &expected, new, false,
						__ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
			return;
	}
}

void own_processes_add(struct own_processes *own, pid_t pid)
{
	if (!own)
		return;
	if (pid > 0)
		replace(own, 0, pid);
	__atomic_sub_fetch(&own->forking, 1, __ATOMIC_SEQ_CST);
}

void own_processes_remove(struct own_processes *own, pid_t pid)
{
	if (!own)
		return;
	replace(own, pid, 0);
	replace(own, -pid, 0);
}

void own_processes_abandon(struct own_processes *own, pid_t pid)
{
	if (own)
		replace(own, pid, -pid);
}

static bool holds(const struct own_processes *own, pid_t pid)
{
	for (size_t i = 0; own && i < OWN_PROCESSES_MAX; i++) {
		if (__atomic_load_n(&own->pids[i], __ATOMIC_SEQ_CST) == pid)
			return true;
	}
	return false;
}

bool own_processes_awaits(const struct own_processes *own, pid_t pid)
{
	const struct timespec ms = { .tv_nsec = NS_PER_MS };

	if (!own || PMP_FAULT("forget-own"))
		return false;
	for (int i = 0; i < PATIENCE_MS; i++) {
		if (!__atomic_load_n(&own->forking, __ATOMIC_SEQ_CST))
			break;
		nanosleep(&ms, NULL);
	}
	return holds(own, pid);
}

bool own_processes_has(const struct own_processes *own, pid_t pid)
{
	return own_processes_awaits(own, pid) || holds(own, -pid);
}
