/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When to read the maps of a target again, and what to rely on in between. */
#include "capture/maps-refresh.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/fault.h"
#include "proc/maps-query.h"
#include "proc/maps.h"
#include "proc/mounts.h"
#include "proc/open.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define MAPS_EVERY (10 * PMP_MS) /* check for changes at most this often ... */
#define MAPS_SHARE 20		 /* ... and spend at most 1/20 of the time on it */
#define NOT_MAPPED 0		 /* an address */
#define MAPS_CHANGING PMP_S	 /* after a change: check before and after each capture */
#define MAPS_ALL PMP_S /* while code is unchanged, everything else may be this old */

static void identify_again(struct pmp_target *target, const struct pmp_stat *stat)
{
	struct pmp_status_file status;

	memcpy(target->process.name, stat->name, sizeof(target->process.name));
	target->process.start_stack = stat->start_stack;
	if (pmp_status_read(target->process.proc, "status", &status) == 0)
		target->process.uid = status.euid;
}

/*
 * Detects an exec that has_execed() missed: it happened later in this capture, or the
 * process was opened between vfork(2) and exec, with its parent's memory, which still
 * exists. Then the start address of the main stack has changed, because it is random.
 */
static void check_exec(struct pmp_target *target)
{
	struct pmp_stat stat;

	if (pmp_stat_read(target->process.proc, "stat", &stat) || !stat.start_stack ||
	    stat.start_stack == target->process.start_stack)
		return;
	/* If this fails, it is retried at the next change of the maps. */
	if (pmp_process_reopen_mem(&target->process) < 0)
		return;
	target->execed = true;
	identify_again(target, &stat);
}

int pmp_maps_refresh_now(struct pmp_capture *capture, struct pmp_error *err)
{
	struct pmp_target *target = capture->target;
	struct pmp_reader reader = { pmp_memory_read, target->memory };
	struct pmp_maps *maps = NULL;
	uint64_t start = pmp_clock_cpu();
	int r = pmp_maps_read(&target->process, target->maps, &target->next_module_id,
			      &target->log, &maps, err);

	if (r < 0)
		return r;
	/* First what may fail, because target->maps must be the unwinder's maps. */
	if (PMP_FAULT("maps-nomem") ||
	    pmp_unwinder_set_maps(target->unwinder, maps, &reader) < 0) {
		pmp_maps_unref(maps);
		return pmp_error_nomem(err, "prepare unwinding");
	}
	target->maps_read.time = target->maps_read.all = pmp_clock();
	target->maps_read.cost = pmp_clock_cpu() - start;
	capture->maps_fresh = true;
	if (maps == target->maps) {
		pmp_maps_unref(maps);
		return 0;
	}
	PMP_LOG(&target->log, "maps", "%zu regions, %zu modules, generation %llu",
		maps->region_count, maps->module_count,
		(unsigned long long)maps->generation);
	if (!target->maps || target->maps->exec_generation != maps->exec_generation) {
		check_exec(target);
		target->maps_read.changed = target->maps_read.time;
		pmp_fp_cache_flush(target->fp_cache);
		pmp_watches_doubt(&target->watches);
	}
	pmp_maps_unref(target->maps);
	target->maps = maps;
	pmp_memory_use(target->memory, target->process.mem, maps);
	if (capture->maps_before && !capture->maps_between)
		capture->maps_between = pmp_maps_ref(maps);
	return 0;
}

/* Is all code still where it was? A stack needs no more than that. False: unknown. */
static bool has_same_code(struct pmp_target *target)
{
	uint64_t start = pmp_clock_cpu();
	int same;

	if (target->maps_read.no_query || PMP_FAULT("no-maps-query") ||
	    pmp_clock() - target->maps_read.all >= MAPS_ALL)
		return false;
	same = pmp_maps_query_code(&target->process, target->maps);
	target->maps_read.no_query = same == -ENOTTY;
	if (same != 1 && !PMP_FAULT("believe-maps"))
		return false;
	target->maps_read.time = pmp_clock();
	target->maps_read.cost = pmp_clock_cpu() - start;
	return true;
}

static int refresh(struct pmp_capture *capture, struct pmp_error *err)
{
	return has_same_code(capture->target) ? 0 : pmp_maps_refresh_now(capture, err);
}

/*
 * A descriptor of /proc/PID/mem refers to the memory at the time it was opened.
 * After an exec that memory is gone, and reads return 0 everywhere.
 */
static bool has_execed(const struct pmp_target *target)
{
	char byte;

	/* In memory that still exists, reading an unmapped address is an error. */
	return pread(target->process.mem, &byte, 1, NOT_MAPPED) == 0;
}

static int follow_exec(struct pmp_capture *capture, struct pmp_error *err)
{
	struct pmp_target *target = capture->target;
	int r = pmp_process_reopen_mem(&target->process);
	struct pmp_stat stat;

	if (r < 0)
		return pmp_error_sys(err,
				     r == -EACCES || r == -EPERM ? PMP_EPERM : PMP_ESRCH,
				     -r, "cannot read the memory of %d after its exec",
				     (int)target->process.pid);
	PMP_LOG(&target->log, "maps", "%d has exec'ed", (int)target->process.pid);
	if (pmp_stat_read(target->process.proc, "stat", &stat) == 0)
		identify_again(target, &stat);
	r = pmp_process_check_class(&target->process, err);
	if (r < 0)
		return r;
	pmp_maps_unref(target->maps);
	target->maps = NULL;
	target->libc.generation = 0;
	/* The generations restart, so what was cached by generation is invalid. */
	if (!PMP_FAULT("stale-cache"))
		pmp_unwinder_forget(target->unwinder);
	return pmp_maps_refresh_now(capture, err);
}

/* Did executable mappings change recently? Assume so before the first capture. */
static bool is_changing(const struct pmp_target *target)
{
	return !target->captured ||
	       pmp_clock() - target->maps_read.changed < MAPS_CHANGING;
}

int pmp_maps_refresh_begin(struct pmp_capture *capture, struct pmp_error *err)
{
	if (has_execed(capture->target)) {
		capture->target->execed = true;
		return follow_exec(capture, err);
	}
	return capture->target->maps ? 0 : pmp_maps_refresh_now(capture, err);
}

static bool is_due(const struct pmp_capture *capture)
{
	const struct pmp_target *target = capture->target;
	uint64_t every = MAPS_EVERY;

	if (target->maps_read.cost * MAPS_SHARE > every)
		every = target->maps_read.cost * MAPS_SHARE;
	return !capture->maps_fresh &&
	       (is_changing(target) || pmp_clock() - target->maps_read.time >= every);
}

/* No thread is held here, nor in anything it calls. */
int pmp_maps_refresh_update(struct pmp_capture *capture, struct pmp_error *err)
{
	int r;

	if (capture->maps_before)
		return 0;
	r = is_due(capture) ? refresh(capture, err) : 0;
	if (r >= 0)
		capture->maps_before = pmp_maps_ref(capture->target->maps);
	return r;
}

static bool same_code(const struct pmp_maps *old, const struct pmp_maps *new, uint64_t pc)
{
	const struct pmp_region *was = pmp_maps_find(old, pc),
				*is = pmp_maps_find(new, pc);

	if (!was || was == is)
		return true;
	return is && was->module == is->module &&
	       was->offset - was->start == is->offset - is->start;
}

bool pmp_maps_refresh_is_same(const struct pmp_capture *capture, uint64_t pc)
{
	const struct pmp_maps *now = capture->target->maps;

	return same_code(capture->maps_before, now, pc) &&
	       (!capture->maps_between || same_code(capture->maps_between, now, pc));
}

void pmp_maps_refresh_forget(struct pmp_capture *capture)
{
	pmp_maps_unref(capture->maps_before);
	pmp_maps_unref(capture->maps_between);
	capture->maps_before = capture->maps_between = NULL;
}

/*
 * If a library replaced another during the capture, it is unknown in which of the two a
 * thread was. Its stack ends before the first such frame.
 */
static void cut_moved(const struct pmp_capture *capture)
{
	struct pmp_sample *sample = capture->sample;

	for (size_t i = 0; i < sample->thread_count; i++) {
		struct pmp_thread *thread = &sample->threads[i];

		for (size_t k = 0; k < thread->frame_count; k++) {
			if (pmp_maps_refresh_is_same(
				    capture, sample->frames[thread->frame + k].pc))
				continue;
			thread->frame_count = k;
			if (thread->end != PMP_END_NOT_STOPPED)
				thread->end = PMP_END_MOVED;
		}
	}
}

bool pmp_maps_refresh_settle(struct pmp_capture *capture)
{
	const struct pmp_target *target = capture->target;

	if (!capture->maps_before)
		return false;
	/* If it has exited by now, there is nothing to compare with. */
	if (is_changing(target))
		refresh(capture, NULL);
	return capture->maps_before->exec_generation != target->maps->exec_generation;
}

/* Called after the last thread: did the address space stay the same? */
void pmp_maps_refresh_check(struct pmp_capture *capture)
{
	if (pmp_maps_refresh_settle(capture))
		cut_moved(capture);
}

void pmp_maps_refresh_open(const struct pmp_capture *capture)
{
	const struct pmp_sample *sample = capture->sample;
	struct pmp_target *target = capture->target;
	struct pmp_process live = target->process;
	struct pmp_mounts mounts = { 0 };

	if (!target->maps || !target->maps->lazy)
		return;
	live.proc = pmp_process_live(&target->process);
	if (live.proc < 0)
		return;
	live.mounts = &mounts;
	for (size_t i = 0; i < sample->frame_count; i++) {
		const struct pmp_raw_frame *frame = &sample->frames[i];
		const struct pmp_region *region = pmp_maps_find(
			target->maps, frame->pc - !(frame->flags & PMP_FRAME_EXACT));

		if (region && region->prot & PMP_PROT_EXEC)
			pmp_maps_open(&live, region, &target->log);
	}
	for (size_t i = 0; i < sample->thread_count; i++)
		pmp_maps_open(
			&live,
			pmp_maps_file_of_lock(target->maps, &sample->threads[i].wait),
			&target->log);
	pmp_mounts_forget(&mounts);
	close(live.proc);
}
