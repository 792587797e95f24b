/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See children.h. It reads nothing itself and stops nothing. */
#include "libpmp-program.h"
#include "sampler/children.h"

#include <unistd.h>

#include "run/own-processes.h"

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
	children->given_count = 0;
	if (pmp_procwatch_next(children->watch, &children->list, &children->count, &err) <
	    0)
		children->count = 0;
}

/* ids is a ring that keeps the last `size` of `count` ids. */
static bool has_id(const pid_t *ids, size_t count, size_t size, pid_t pid)
{
	for (size_t i = 0; i < count && i < size; i++) {
		if (ids[i] == pid)
			return true;
	}
	return false;
}

static bool has_ended(const struct children *children, pid_t pid)
{
	return has_id(children->past, children->past_count, PMP_CHILDREN_PAST, pid);
}

/* The parent's pid was read together with the child's: so even if the parent has ended, it
 * was not another process. */
static bool was_given(const struct children *children, pid_t pid)
{
	return has_id(children->given, children->given_count, PMP_CHILDREN_GIVEN, pid);
}

/* The kernel does not reuse the id of a session while any process of it lives. */
static bool is_related(const struct children *children,
		       const struct pmp_new_process *process,
		       bool (*samples)(void *arg, pid_t pid), void *arg)
{
	return (children->adopter && process->parent == children->adopter) ||
	       samples(arg, process->parent) || was_given(children, process->parent) ||
	       samples(arg, process->session) || has_ended(children, process->session);
}

/* Without a known start time, any process with that pid is left out. */
static bool is_left_out(const struct children *children,
			const struct pmp_new_process *process)
{
	for (size_t i = 0; i < children->left_out.count; i++) {
		const struct sampler_target *left_out = &children->left_out.all[i];

		if (left_out->pid == process->pid &&
		    (!left_out->started || left_out->started == process->started))
			return true;
	}
	return false;
}

static bool descends(const struct children *children,
		     const struct pmp_new_process *process,
		     bool (*samples)(void *arg, pid_t pid), void *arg)
{
	if (process->pid == getpid() || process->pid == children->adopter)
		return false;
	for (size_t i = 0; i < CHILDREN_HELPERS; i++)
		if (process->pid == children->helpers[i])
			return false;
	return is_related(children, process, samples, arg) &&
	       !is_left_out(children, process) &&
	       !own_processes_has(children->own, process->pid);
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
			children->given[children->given_count++ % PMP_CHILDREN_GIVEN] =
				pid;
			return pid;
		}
		/* New targets may have children with lower pids,
		 * which were skipped before. */
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
