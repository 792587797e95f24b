/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whose child is it? See children.h. Reads nothing by itself, stops nothing. */
#include "children.h"

#include <unistd.h>

int pmp_children_open(struct pmp_children *children, pid_t adopter, struct pmp_error *err)
{
	children->adopter = adopter;
	return pmp_births_new(&children->births, err);
}

void pmp_children_look(struct pmp_children *children)
{
	struct pmp_error err;

	children->next = 0;
	children->again = false;
	if (pmp_births_next(children->births, &children->list, &children->count, &err) < 0)
		children->count = 0;
}

static bool has_ended(const struct pmp_children *children, pid_t pid)
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
static bool descends(const struct pmp_children *children, const struct pmp_birth *birth,
		     bool (*samples)(void *arg, pid_t pid), void *arg)
{
	if (birth->pid == getpid() || birth->pid == children->adopter)
		return false;
	return (children->adopter && birth->parent == children->adopter) ||
	       samples(arg, birth->parent) || samples(arg, birth->session) ||
	       has_ended(children, birth->session);
}

pid_t pmp_children_next(struct pmp_children *children, bool (*samples)(void *arg, pid_t pid),
			void *arg)
{
	for (;;) {
		for (; children->next < children->count; children->next++) {
			struct pmp_birth *birth = &children->list[children->next];
			pid_t pid = birth->pid;

			if (!pid || !descends(children, birth, samples, arg))
				continue;
			birth->pid = 0;
			if (samples(arg, pid))
				continue;
			children->again = true;
			return pid;
		}
		/* It may have children with smaller ids, which were not told by it. */
		if (!children->again)
			return 0;
		children->again = false;
		children->next = 0;
	}
}

void pmp_children_ended(struct pmp_children *children, pid_t pid)
{
	children->past[children->past_count++ % PMP_CHILDREN_PAST] = pid;
}
