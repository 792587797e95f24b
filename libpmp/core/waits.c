/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/waits.h"

#include <stdlib.h>
#include <string.h>

#include "capture/wait-decode.h"

static bool is_thread(void *arg, pid_t tid)
{
	return pmp_sample_find_thread(arg, tid) != NULL;
}

static enum pmp_libc libc_of(const struct pmp_maps *maps)
{
	for (size_t i = 0; i < maps->module_count; i++) {
		const char *slash = strrchr(maps->modules[i]->path, '/');
		const char *name = slash ? slash + 1 : "";

		if (strcmp(name, "libc.so.6") == 0 || strncmp(name, "libc-2.", 7) == 0)
			return PMP_LIBC_GLIBC;
		if (strncmp(name, "ld-musl-", 8) == 0 ||
		    strncmp(name, "libc.musl-", 10) == 0)
			return PMP_LIBC_MUSL;
	}
	return PMP_LIBC_ANY;
}

static void find_wait(const struct pmp_wait_memory *memory, struct pmp_thread *thread)
{
	uint64_t words[PMP_WAIT_STACK];
	struct pmp_wait *wait = &thread->wait;
	struct pmp_wait_call call = {
		.tid = thread->tid,
		.number = thread->syscall,
		.args = thread->args,
		.wchan = "",
		.stack = words,
	};

	while (call.stack_count < PMP_WAIT_STACK &&
	       pmp_read(&memory->reader, thread->sp + call.stack_count * 8,
			&words[call.stack_count], 8))
		call.stack_count++;
	pmp_wait_decode(&call, memory, wait);
	if (wait->holder_is == PMP_HOLDER_SELF)
		wait->holder = thread->tid;
	/* The thread has exited, or belongs to another process. */
	if (wait->holder_is == PMP_HOLDER_UNCHECKED) {
		wait->holder_is = PMP_HOLDER_NONE;
		wait->holder = 0;
	}
	if (wait->kind)
		wait->flags |= PMP_WAIT_PROVEN;
}

/* ---- circles --------------------------------------------------------------------------- */

static struct pmp_thread *holder_of(const struct pmp_sample *sample,
				    const struct pmp_thread *thread)
{
	const struct pmp_wait *wait = &thread->wait;

	if (wait->holder_is != PMP_HOLDER_THREAD && wait->holder_is != PMP_HOLDER_SELF)
		return NULL;
	return pmp_sample_find_thread(sample, wait->holder);
}

/* walks: for each thread, the number of the walk that visited it; each waits for at most
 * one other. */
static void walk_from(const struct pmp_sample *sample, size_t i, size_t *walks)
{
	struct pmp_thread *thread = &sample->threads[i], *first;

	while (thread && !walks[thread - sample->threads]) {
		walks[thread - sample->threads] = i + 1;
		thread = holder_of(sample, thread);
	}
	if (!thread || walks[thread - sample->threads] != i + 1)
		return;
	first = thread;
	do {
		thread->wait.flags |= PMP_WAIT_DEADLOCK;
		thread = holder_of(sample, thread);
	} while (thread != first);
}

int pmp_core_waits_find(struct pmp_sample *sample, const struct pmp_arch *arch,
			const struct pmp_reader *memory)
{
	const struct pmp_wait_memory view = {
		.reader = *memory,
		.libc = libc_of(sample->maps),
		.layout = pmp_thread_layout_of(arch),
		.is_thread = is_thread,
		.arg = sample,
	};
	size_t *walks = calloc(sample->thread_count + 1, sizeof(*walks));

	if (!walks)
		return PMP_ENOMEM;
	for (size_t i = 0; i < sample->thread_count; i++)
		if (sample->threads[i].syscall >= 0)
			find_wait(&view, &sample->threads[i]);
	for (size_t i = 0; i < sample->thread_count; i++)
		if (sample->threads[i].wait.holder)
			walk_from(sample, i, walks);
	free(walks);
	return 0;
}
