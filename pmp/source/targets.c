/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See targets.h. */
#include "source/targets.h"

#include <string.h>

struct process *targets_find(const struct targets *targets, pid_t pid)
{
	for (size_t i = 0; i < targets->count; i++) {
		if (targets->processes[i].pid == pid)
			return &targets->processes[i];
	}
	return NULL;
}

bool targets_wants(const struct targets *targets, pid_t pid)
{
	for (size_t i = 0; i < targets->wanted.count; i++) {
		if (targets->wanted.all[i].pid == pid)
			return true;
	}
	return false;
}

void targets_answered(struct targets *targets, pid_t pid)
{
	struct sampler_targets *wanted = &targets->wanted;

	for (size_t i = 0; i < wanted->count; i++) {
		if (wanted->all[i].pid == pid)
			wanted->all[i--] = wanted->all[--wanted->count];
	}
}

void targets_remove(struct targets *targets, struct process *process)
{
	const struct process *end = targets->processes + targets->count--;

	memmove(process, process + 1, (size_t)(end - process - 1) * sizeof(*process));
}
