/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opening and closing a target. Nothing is stopped here, but for the threads of
 * pending stops. */
#include "capture/target.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/sized.h"
#include "proc/open.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_FRAMES_DEFAULT 512
#define MAX_FRAMES_LIMIT (1u << 20)

static void set_options(struct pmp_target *target,
			const struct pmp_target_options *options)
{
	pmp_sized_take(&target->options, sizeof(target->options), options);
	if (target->options.max_frames == 0)
		target->options.max_frames = MAX_FRAMES_DEFAULT;
	if (target->options.max_frames > MAX_FRAMES_LIMIT)
		target->options.max_frames = MAX_FRAMES_LIMIT;
	target->log.line = target->options.log;
	target->log.arg = target->options.log_arg;
}

static bool workspace_init(struct pmp_workspace *workspace, size_t frames)
{
	workspace->frames = calloc(frames, sizeof(*workspace->frames));
	workspace->regs = calloc(frames, sizeof(*workspace->regs));
	workspace->trial = calloc(frames, sizeof(*workspace->trial));
	return workspace->frames && workspace->regs && workspace->trial;
}

static void workspace_free(struct pmp_workspace *workspace)
{
	free(workspace->tids);
	free(workspace->works);
	free(workspace->requests);
	free(workspace->copies);
	free(workspace->locks);
	free(workspace->frames);
	free(workspace->regs);
	free(workspace->trial);
}

int pmp_target_open(pid_t pid, const struct pmp_target_options *options,
		    struct pmp_target **out, struct pmp_error *err)
{
	struct pmp_target *target = calloc(1, sizeof(*target));
	int r;

	*out = NULL;
	if (!target)
		return pmp_error_nomem(err, "open a target");
	target->process = (struct pmp_process){ .pidfd = -1, .proc = -1, .mem = -1 };
	target->owner = PMP_OWNERS;
	set_options(target, options);
	r = pmp_process_open(pid, &target->process, err);
	if (r < 0)
		goto fail;
	if (target->options.started &&
	    target->options.started != target->process.start_time) {
		r = pmp_error_set(
			err, PMP_ESRCH,
			"process %d has ended: its id now belongs to another process",
			(int)pid);
		goto fail;
	}
	target->memory = pmp_memory_new();
	target->unwinder = pmp_unwinder_new(pmp_arch_here, target->options.unwind);
	target->stopper = pmp_stopper_new(&target->process, &target->options);
	target->fp_cache = pmp_fp_cache_new();
	pmp_watches_init(&target->watches, &target->process, target->options.descriptors);
	if (!target->memory || !target->unwinder || !target->stopper ||
	    !target->fp_cache ||
	    !workspace_init(&target->workspace, target->options.max_frames)) {
		r = pmp_error_nomem(err, "open a target");
		goto fail;
	}
	pmp_unwinder_set_beat(target->unwinder, target->options.alive,
			      target->options.alive_arg);
	*out = target;
	return 0;
fail:
	pmp_target_close(target);
	return r;
}

void pmp_target_close(struct pmp_target *target)
{
	pmp_stopper_reap_closed();
	if (!target)
		return;
	pmp_stopper_free(target->stopper);
	pmp_unwinder_free(target->unwinder);
	pmp_memory_free(target->memory);
	pmp_maps_unref(target->maps);
	pmp_process_close(&target->process);
	pmp_watches_free(&target->watches);
	pmp_idle_set_close(&target->idle_set);
	pmp_fp_cache_free(target->fp_cache);
	pmp_sample_free(target->last);
	free(target->cpu_clocks.items);
	pmp_outside_kept_free(&target->outside_kept);
	pmp_kernel_free(&target->kernel);
	workspace_free(&target->workspace);
	free(target);
}

void pmp_target_look_for_peers(struct pmp_target *target)
{
	target->looks_for_peers = true;
}

size_t pmp_target_reap(struct pmp_target *target)
{
	size_t closed = pmp_stopper_reap_closed();

	return target ? pmp_stopper_reap(target->stopper) : closed;
}

/* False: a signal handler has run meanwhile. */
static bool sleep_for(uint64_t ns)
{
	const struct timespec time = { .tv_sec = (time_t)(ns / PMP_S),
				       .tv_nsec = (long)(ns % PMP_S) };

	return nanosleep(&time, NULL) == 0;
}

void pmp_target_sleep(struct pmp_target *target, uint64_t ns)
{
	const uint64_t start = pmp_clock();

	for (;;) {
		const bool awaits = pmp_target_reap(target) > 0;
		const uint64_t slept = pmp_clock() - start;
		uint64_t left = slept < ns ? ns - slept : 0;

		if (awaits && left > PMP_MS)
			left = PMP_MS;
		/* The stop of a thread that is awaited interrupts as well: SIGCHLD. */
		if (!left || (!sleep_for(left) && !awaits))
			return;
	}
}

pid_t pmp_target_pid(const struct pmp_target *target)
{
	return target->process.pid;
}

const char *pmp_target_name(const struct pmp_target *target)
{
	return target->process.name;
}

uint64_t pmp_target_started(const struct pmp_target *target)
{
	return target->process.start_time;
}

bool pmp_target_ended(const struct pmp_target *target)
{
	return !pmp_process_alive(&target->process);
}

int pmp_target_gone(const struct pmp_target *target, struct pmp_error *err)
{
	return pmp_error_set(err, PMP_ESRCH, "%d has ended", (int)target->process.pid);
}
