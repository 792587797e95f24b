/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whose child is it? See children.h. Reads nothing by itself, stops nothing. */
#include "libpmp-program.h"
#include "sampler/children.h"

#include <unistd.h>

int children_open(struct children *children, pid_t adopter, struct pmp_error *err)
{
	children->adopter = adopter;
	return pmp_procwatch_new(&children->watch, err);
}

void children_scan(struct children *children)
{
	struct pmp_error err;

	children->next = 0;
	children->again = false;
	if (pmp_procwatch_next(children->watch, &children->list, &children->count, &err) <
	    0)
		children->count = 0;
}

static bool has_ended(const struct children *children, pid_t pid)
{
	size_t count = children->past_count;

	if (count > PMP_CHILDREN_PAST)
		count = PMP_CHILDREN_PAST;
	for (size_t i = 0; i < count; i++) {
		if (children->past[i] == pid)
			return true;
	}
	return false;
}

/* The id of a session is not given to another process while one of it lives. */
static bool descends(const struct children *children,
		     const struct pmp_new_process *process,
		     bool (*samples)(void *arg, pid_t pid), void *arg)
{
	if (process->pid == getpid() || process->pid == children->adopter)
		return false;
	return (children->adopter && process->parent == children->adopter) ||
	       samples(arg, process->parent) || samples(arg, process->session) ||
	       has_ended(children, process->session);
}

pid_t children_next(struct children *children, bool (*samples)(void *arg, pid_t pid),
		    void *arg)
{
	for (;;) {
		for (; children->next < children->count; children->next++) {
			struct pmp_new_process *process = &children->list[children->next];
			pid_t pid = process->pid;

			if (!pid || !descends(children, process, samples, arg))
				continue;
			process->pid = 0;
			if (samples(arg, pid))
				continue;
			children->again = true;
			return pid;
		}
		/* It may have children with smaller ids, which were passed over before it was sampled. */
		if (!children->again)
			return 0;
		children->again = false;
		children->next = 0;
	}
}

void children_ended(struct children *children, pid_t pid)
{
	children->past[children->past_count++ % PMP_CHILDREN_PAST] = pid;
}
