/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One capture of a process, from its list of threads to a sample:
 *
 *   look at each thread (nothing is touched)
 *     -> must not be stopped: read where it sleeps, as far as that goes
 *     -> batches of up to PMP_HOLD_MAX: stop.c holds, reads and releases
 *          -> walk.c unwinds from the copies; the threads run again
 *               -> the copy was too short: a larger one, in a later batch
 *
 * The address space is read again when an address is not in it, when the
 * process has exec'ed, and every now and then, as a library may have taken the
 * place of another.
 */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/fault.h"
#include "base/file.h"
#include "base/log.h"
#include "capture/fragile.h"
#include "capture/maps.h"
#include "capture/memory.h"
#include "capture/process.h"
#include "capture/stop.h"
#include "capture/threads.h"
#include "capture/walk.h"
#include "libpmp.h"
#include "sample.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MAX_FRAMES_DEFAULT 512
#define MAX_FRAMES_LIMIT (1u << 20)
#define COPY_FIRST (16u << 10)		/* bytes of a stack never seen before */
#define COPY_LEAST (4u << 10)
#define COPY_MOST (512u << 10)		/* of one thread, all pieces */
#define COPY_MARGIN 1024u		/* beyond what was needed last time */
#define COPY_BELOW 128u			/* of another piece of stack, below the address missed */
#define COPY_TRIES 5			/* stops of one thread in one sample */
#define MAPS_EVERY (10 * PMP_MS)	/* look for changes at most this often ... */
#define MAPS_SHARE 20			/* ... and spend at most 1/20 of the time on it */
#define MAPS_UNREST PMP_S		/* after a change: look before and after each capture */
#define EXEC_TRIES 30			/* captures that find nobody, 1 ms apart, of a living process */
#define DISK_TRIES 3			/* looks at a thread in D, 1 ms apart */

/* What is known of a thread from its last sample: the pieces of stack that its
 * walk needed. Indexed as target->tids. */
struct watch {
	pid_t tid;
	size_t range_count;	/* 0: nothing known */
	struct {
		uint64_t address;
		size_t want;
	} ranges[PMP_HOLD_RANGES];
};

/* A thread on its way through a capture. */
struct work {
	struct pmp_thread thread;
	struct pmp_look look;
	struct watch *watch;
	unsigned tries;
};

struct pmp_target {
	struct pmp_process process;
	struct pmp_target_options options;
	struct pmp_log log;
	struct pmp_maps *maps;
	uint32_t next_module_id;
	uint64_t maps_time, maps_cost;
	uint64_t maps_changed;	/* when executable regions last changed */
	bool maps_fresh;	/* read in this capture */
	struct pmp_memory *memory;
	struct pmp_unwinder *unwinder;
	struct pmp_stopper *stopper;
	pid_t *tids;
	size_t tid_count, tid_capacity;
	struct watch *watches;
	size_t watch_count;
	struct pmp_raw_frame *frames;	/* options.max_frames of them */
	struct work *works;
	struct pmp_hold *holds;
	size_t work_capacity, hold_capacity;
	unsigned char *arena;		/* for the copies of a batch */
	size_t arena_size;
	bool captured;			/* at least once */
};

/* ---- open, close ------------------------------------------------------------ */

static void set_options(struct pmp_target *target, const struct pmp_target_options *options)
{
	if (options) {
		size_t size = options->size < sizeof(*options) ? options->size
							       : sizeof(*options);

		memcpy(&target->options, options, size);
	}
	if (target->options.max_frames == 0)
		target->options.max_frames = MAX_FRAMES_DEFAULT;
	if (target->options.max_frames > MAX_FRAMES_LIMIT)
		target->options.max_frames = MAX_FRAMES_LIMIT;
	target->log.line = target->options.log;
	target->log.arg = target->options.log_arg;
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
	set_options(target, options);
	r = pmp_process_open(pid, &target->process, err);
	if (r < 0)
		goto fail;
	target->memory = pmp_memory_new();
	target->unwinder = pmp_unwinder_new(target->options.unwind);
	target->stopper = pmp_stopper_new(&target->process, target->options.no_restart,
					  target->options.held_since);
	target->frames = calloc(target->options.max_frames, sizeof(*target->frames));
	if (!target->memory || !target->unwinder || !target->stopper || !target->frames) {
		r = pmp_error_nomem(err, "open a target");
		goto fail;
	}
	*out = target;
	return 0;
fail:
	pmp_target_close(target);
	return r;
}

void pmp_target_close(struct pmp_target *target)
{
	if (!target)
		return;
	pmp_stopper_free(target->stopper);
	pmp_unwinder_free(target->unwinder);
	pmp_memory_free(target->memory);
	pmp_maps_unref(target->maps);
	pmp_process_close(&target->process);
	free(target->tids);
	free(target->watches);
	free(target->frames);
	free(target->works);
	free(target->holds);
	free(target->arena);
	free(target);
}

size_t pmp_target_settle(struct pmp_target *target)
{
	return pmp_stopper_settle(target->stopper);
}

pid_t pmp_target_pid(const struct pmp_target *target)
{
	return target->process.pid;
}

const char *pmp_target_name(const struct pmp_target *target)
{
	return target->process.name;
}

bool pmp_target_ended(const struct pmp_target *target)
{
	return !pmp_process_alive(&target->process);
}

/* ---- the address space -------------------------------------------------------- */

static int read_maps(struct pmp_target *target, struct pmp_error *err)
{
	struct pmp_reader reader = { pmp_memory_read, target->memory };
	struct pmp_maps *maps = NULL;
	uint64_t begin = pmp_clock_cpu();
	int r = pmp_maps_read(&target->process, target->maps, &target->next_module_id,
			      &target->log, &maps, err);

	if (r < 0)
		return r;
	target->maps_time = pmp_clock();
	target->maps_cost = pmp_clock_cpu() - begin;
	target->maps_fresh = true;
	if (maps == target->maps) {
		pmp_maps_unref(maps);
		return 0;
	}
	PMP_LOG(&target->log, "maps", "%zu regions, %zu modules, generation %llu",
		maps->region_count, maps->module_count, (unsigned long long)maps->generation);
	if (!target->maps || target->maps->exec_generation != maps->exec_generation)
		target->maps_changed = target->maps_time;
	pmp_maps_unref(target->maps);
	target->maps = maps;
	pmp_memory_use(target->memory, target->process.mem, maps);
	if (pmp_unwinder_set_maps(target->unwinder, maps, &reader) < 0)
		return pmp_error_nomem(err, "prepare unwinding");
	return 0;
}

/*
 * A descriptor of /proc/PID/mem belongs to the memory at the time it was opened.
 * After an exec that memory is no more, and reading gives nothing.
 */
static bool has_execed(const struct pmp_target *target)
{
	const struct pmp_maps *maps = target->maps;
	char byte;

	for (size_t i = 0; maps && i < maps->region_count; i++) {
		const struct pmp_region *region = &maps->regions[i];

		if ((region->prot & PMP_PROT_EXEC) && (region->prot & PMP_PROT_READ) &&
		    region->module->kind == PMP_MODULE_FILE)
			return pread(target->process.mem, &byte, 1, (off_t)region->start) == 0;
	}
	return false;
}

static int follow_exec(struct pmp_target *target, struct pmp_error *err)
{
	int r = pmp_process_reopen_mem(&target->process);
	struct pmp_stat stat;

	if (r < 0)
		return pmp_error_sys(err, r == -EACCES || r == -EPERM ? PMP_EPERM : PMP_ESRCH, -r,
				     "cannot read the memory of %d after its exec",
				     (int)target->process.pid);
	PMP_LOG(&target->log, "maps", "%d has exec'ed", (int)target->process.pid);
	if (pmp_stat_read(target->process.proc, "stat", &stat) == 0)
		memcpy(target->process.name, stat.name, sizeof(target->process.name));
	pmp_maps_unref(target->maps);
	target->maps = NULL;
	return read_maps(target, err);
}

/* Is code coming and going these days? At first nobody knows. */
static bool is_unrest(const struct pmp_target *target)
{
	return !target->captured || pmp_clock() - target->maps_changed < MAPS_UNREST;
}

/* Nothing is held here, nor in anything it calls. */
static int update_maps(struct pmp_target *target, struct pmp_sample *sample,
		       struct pmp_error *err)
{
	uint64_t every = MAPS_EVERY;

	target->maps_fresh = false;
	if (has_execed(target)) {
		sample->execed = true;
		return follow_exec(target, err);
	}
	if (target->maps_cost * MAPS_SHARE > every)
		every = target->maps_cost * MAPS_SHARE;
	if (target->maps && pmp_clock() - target->maps_time < every && !is_unrest(target))
		return 0;
	return read_maps(target, err);
}

/* Is the code at pc the same in both? What has come to an empty place is. */
static bool is_same_code(const struct pmp_maps *old, const struct pmp_maps *new, uint64_t pc)
{
	const struct pmp_region *was = pmp_maps_find(old, pc), *is = pmp_maps_find(new, pc);

	if (!was || was == is)
		return true;
	return is && was->module == is->module &&
	       was->offset - was->start == is->offset - is->start;
}

/*
 * If a library has taken the place of another during the capture, nobody can tell in
 * which of the two a thread was. Its stack ends before the first such frame.
 */
static void cut_moved(struct pmp_target *target, struct pmp_sample *sample,
		      const struct pmp_maps *before)
{
	for (size_t i = 0; i < sample->thread_count; i++) {
		struct pmp_thread *thread = &sample->threads[i];

		for (size_t k = 0; k < thread->frame_count; k++) {
			if (is_same_code(before, target->maps,
					 sample->frames[thread->frame + k].pc))
				continue;
			thread->frame_count = k;
			if (thread->end != PMP_END_NOT_STOPPED)
				thread->end = PMP_END_MOVED;
		}
	}
}

/* Behind the last thread: was the address space the same all the time? */
static void check_moved(struct pmp_target *target, struct pmp_sample *sample,
			const struct pmp_maps *before)
{
	/* It may have ended by now: then there is nothing to compare with. */
	if (is_unrest(target))
		read_maps(target, NULL);
	if (before->exec_generation != target->maps->exec_generation)
		cut_moved(target, sample, before);
}

/* ---- reading a stack ------------------------------------------------------------ */

/* The reader of a walk: copies of stacks first; then memory that does not
 * change. A piece of stack or heap that was not copied is never read now, as
 * the thread runs again: it is noted as missed. */
struct stack_reader {
	struct pmp_target *target;
	struct pmp_hold *hold;
	struct pmp_regs regs;
	size_t used[PMP_HOLD_RANGES];	/* bytes of each copy that were needed */
	bool missed, unmapped;
	uint64_t missed_address;
};

static bool read_copy(struct stack_reader *reader, uint64_t address, void *data, size_t length)
{
	for (size_t i = 0; i < reader->hold->range_count; i++) {
		const struct pmp_range *range = &reader->hold->ranges[i];
		uint64_t at = address - range->address;

		if (address < range->address || at > range->got || length > range->got - at)
			continue;
		memcpy(data, range->data + at, length);
		if (reader->used[i] < at + length)
			reader->used[i] = at + length;
		return true;
	}
	return false;
}

static bool read_stack(void *arg, uint64_t address, void *data, size_t length)
{
	struct stack_reader *reader = arg;
	const struct pmp_region *region;

	if (read_copy(reader, address, data, length))
		return true;
	region = pmp_maps_find(reader->target->maps, address);
	if (!region) {
		reader->unmapped = true;
		return false;
	}
	if (!pmp_region_is_volatile(region))
		return pmp_memory_read(reader->target->memory, address, data, length);
	reader->missed = true;
	reader->missed_address = address;
	return false;
}

static bool code_is_unknown(const struct pmp_target *target, const struct pmp_walk *walk)
{
	for (size_t i = 0; i < walk->count; i++) {
		const struct pmp_region *region =
			pmp_maps_find(target->maps, walk->frames[i].pc);

		if (!region || !(region->prot & PMP_PROT_EXEC))
			return true;
	}
	return false;
}

static int walk_once(struct pmp_target *target, struct stack_reader *reader,
		     struct pmp_walk *walk)
{
	const struct pmp_reader memory = { read_stack, reader };

	reader->missed = reader->unmapped = false;
	memset(reader->used, 0, sizeof(reader->used));
	*walk = (struct pmp_walk){ .frames = target->frames,
				   .limit = target->options.max_frames };
	return pmp_walk(target->unwinder, &reader->regs, &memory, walk);
}

/* Unwind; once more with new maps if they turn out to be old. */
static int walk_stack(struct pmp_target *target, struct stack_reader *reader,
		      struct pmp_walk *walk)
{
	int r = walk_once(target, reader, walk);
	uint64_t generation = target->maps->generation;

	if (r < 0 || target->maps_fresh ||
	    !(reader->unmapped || code_is_unknown(target, walk)))
		return r;
	if (read_maps(target, NULL) < 0 || target->maps->generation == generation)
		return r;
	return walk_once(target, reader, walk);
}

/* ---- how much to copy -------------------------------------------------------------- */

static size_t total_want(const struct watch *watch)
{
	size_t total = 0;

	for (size_t i = 0; i < watch->range_count; i++)
		total += watch->ranges[i].want;
	return total;
}

/* The range that ends before address in the same region, or -1. */
static int range_below(const struct pmp_target *target, const struct pmp_hold *hold,
		       uint64_t address)
{
	const struct pmp_region *region = pmp_maps_find(target->maps, address);

	for (size_t i = 0; region && i < hold->range_count; i++)
		if (hold->ranges[i].address >= region->start &&
		    hold->ranges[i].address <= address)
			return (int)i;
	return -1;
}

/* Ask for the missed address next time. False: more than is copied at most. */
static bool want_more(struct pmp_target *target, struct watch *watch,
		      const struct stack_reader *reader)
{
	const struct pmp_hold *hold = reader->hold;
	int i = range_below(target, hold, reader->missed_address);
	size_t used = total_want(watch), want;

	if (i >= 0) {
		want = reader->missed_address - hold->ranges[i].address + COPY_FIRST;
		if (want < watch->ranges[i].want * 4)
			want = watch->ranges[i].want * 4;
		if (want > COPY_MOST - (used - watch->ranges[i].want))
			want = COPY_MOST - (used - watch->ranges[i].want);
		if (want <= reader->missed_address - hold->ranges[i].address)
			return false;
		watch->ranges[i].want = want;
		return true;
	}
	if (watch->range_count == PMP_HOLD_RANGES || used + COPY_FIRST > COPY_MOST)
		return false;
	watch->ranges[watch->range_count].address = reader->missed_address - COPY_BELOW;
	watch->ranges[watch->range_count++].want = COPY_FIRST;
	return true;
}

/* Remember what was needed, for the next sample. */
static void learn(struct watch *watch, const struct stack_reader *reader)
{
	size_t kept = 0;

	for (size_t i = 0; i < watch->range_count; i++) {
		size_t want = (reader->used[i] + COPY_MARGIN + 1023) & ~(size_t)1023;

		if (i > 0 && reader->used[i] == 0)
			continue;
		watch->ranges[kept].address = watch->ranges[i].address;
		watch->ranges[kept++].want = want > COPY_LEAST ? want : COPY_LEAST;
	}
	watch->range_count = kept;
}

/* Where the copies of a batch go. Touched before anything is held. */
static int prepare_arena(struct pmp_target *target, const struct work *works, size_t count)
{
	size_t need = 0, at = 0;

	for (size_t i = 0; i < count; i++)
		need += total_want(works[i].watch);
	if (need > target->arena_size) {
		free(target->arena);
		target->arena_size = 0;
		target->arena = malloc(need);
		if (!target->arena)
			return PMP_ENOMEM;
		memset(target->arena, 1, need);
		target->arena_size = need;
	}
	for (size_t i = 0; i < count; i++) {
		const struct watch *watch = works[i].watch;
		struct pmp_hold *hold = &target->holds[i];

		*hold = (struct pmp_hold){ .tid = works[i].thread.tid,
					   .running = works[i].thread.state == 'R',
					   .range_count = watch->range_count };
		for (size_t r = 0; r < watch->range_count; r++) {
			hold->ranges[r].address = watch->ranges[r].address;
			hold->ranges[r].want = watch->ranges[r].want;
			hold->ranges[r].data = target->arena + at;
			at += watch->ranges[r].want;
		}
	}
	return 0;
}

/* ---- into the sample ------------------------------------------------------------------ */

static int emit(struct pmp_sample *sample, const struct pmp_thread *thread,
		const struct pmp_raw_frame *frames, size_t count)
{
	struct pmp_thread *added = pmp_sample_add_thread(sample);
	size_t first;

	if (!added)
		return PMP_ENOMEM;
	first = added->frame;
	*added = *thread;
	added->frame = first;
	added->frame_count = 0;
	return pmp_sample_add_frames(sample, frames, count);
}

/* A thread that was left alone: the one frame that /proc knows. */
static int emit_one_frame(struct pmp_sample *sample, struct work *work)
{
	const struct pmp_raw_frame frame = { work->look.pc, PMP_FRAME_EXACT };

	work->thread.obtained = PMP_NOT_STOPPED;
	work->thread.end = PMP_END_NOT_STOPPED;
	work->thread.sp = work->look.sp;
	return emit(sample, &work->thread, &frame, work->look.pc ? 1 : 0);
}

/*
 * Read the stack of a blocked thread where it sleeps. work->thread.runs was read
 * before, and is read again behind all the rest: equal, the thread has not been on a
 * processor in between, and what was read is as consistent as a stop would give.
 */
static bool read_asleep(struct pmp_target *target, struct work *work, struct pmp_hold *hold)
{
	struct pmp_range *range = &hold->ranges[0];
	struct pmp_thread again = work->thread;
	struct pmp_look unused;
	uint64_t runs = work->thread.runs;

	if (!runs || pmp_thread_look(&target->process, again.tid, &work->thread, &work->look) < 0 ||
	    !work->look.pc)
		return false;
	range->address = work->look.sp;
	for (size_t i = 0; i < hold->range_count; i++) {
		ssize_t got = pmp_file_pread(target->process.mem, hold->ranges[i].data,
					     hold->ranges[i].want, hold->ranges[i].address);

		hold->ranges[i].got = got > 0 ? (size_t)got : 0;
	}
	return pmp_thread_look(&target->process, again.tid, &again, &unused) == 0 &&
	       again.runs == runs;
}

/*
 * A thread that must not be stopped. Of its registers only pc and sp are known
 * (/proc/PID/task/TID/syscall), which is often enough to get to the root.
 */
static int emit_untouched(struct pmp_target *target, struct pmp_sample *sample,
			  struct work *work)
{
	struct stack_reader reader = { .target = target, .hold = &target->holds[0] };
	struct pmp_walk walk;
	int r = 0;

	for (int tries = 0; tries < COPY_TRIES && work->look.pc; tries++) {
		r = prepare_arena(target, work, 1);
		if (r < 0 || !read_asleep(target, work, reader.hold))
			break;
		reader.regs.valid = 0;
		pmp_regs_set(&reader.regs, pmp_reg_pc, work->look.pc);
		pmp_regs_set(&reader.regs, pmp_reg_sp, work->look.sp);
		r = walk_stack(target, &reader, &walk);
		if (r < 0)
			break;
		if (reader.missed && walk.end == PMP_END_UNREADABLE &&
		    want_more(target, work->watch, &reader))
			continue;
		learn(work->watch, &reader);
		work->thread.sp = work->look.sp;
		work->thread.obtained = PMP_NOT_STOPPED;
		work->thread.end = PMP_END_NOT_STOPPED;
		if (walk.end == PMP_END_ROOT || walk.end == PMP_END_DEPTH) {
			work->thread.obtained = PMP_LOOKED;
			work->thread.end = walk.end;
			work->thread.why[0] = '\0';
		}
		return emit(sample, &work->thread, walk.frames, walk.count);
	}
	return r < 0 ? r : emit_one_frame(sample, work);
}

static int emit_unread(struct pmp_target *target, struct pmp_sample *sample,
		       struct work *work, const struct pmp_hold *hold)
{
	char *why = work->thread.why;
	size_t size = sizeof(work->thread.why);

	switch (hold->result) {
	case PMP_HOLD_GONE:
		sample->vanished++;
		return 0;
	case PMP_HOLD_LATE:
		snprintf(why, size, "did not stop in time");
		break;
	case PMP_HOLD_REFUSED:
		if (pmp_thread_look(&target->process, hold->tid, &work->thread, &work->look) < 0) {
			sample->vanished++;
			return 0;
		}
		if (work->look.tracer)
			snprintf(why, size, "traced by %d", (int)work->look.tracer);
		else
			snprintf(why, size, "%s", strerror(hold->sys_errno));
		break;
	default:
		snprintf(why, size, "%s", strerror(hold->sys_errno));
		break;
	}
	return emit_one_frame(sample, work);
}

/*
 * Unwind and add one thread that has been held. Returns 1 if its copy was too
 * short and it is worth another try, 0 when it is in the sample, or an error.
 */
static int finish(struct pmp_target *target, struct pmp_sample *sample, struct work *work,
		  struct pmp_hold *hold)
{
	struct stack_reader reader = { .target = target, .hold = hold };
	struct pmp_walk walk;
	int r;

	work->thread.stopped += hold->stopped;
	work->tries++;
	if (hold->result != PMP_HOLD_DONE)
		return emit_unread(target, sample, work, hold);
	pmp_arch_convert(&hold->user, &reader.regs);
	r = walk_stack(target, &reader, &walk);
	if (r < 0)
		return r;
	if (reader.missed && walk.end != PMP_END_ROOT && walk.end != PMP_END_DEPTH) {
		if (work->tries < COPY_TRIES && want_more(target, work->watch, &reader))
			return 1;
		if (walk.end == PMP_END_UNREADABLE)
			walk.end = PMP_END_COPY;
	}
	learn(work->watch, &reader);
	work->thread.obtained = PMP_STOPPED;
	work->thread.end = walk.end;
	work->thread.tls = hold->tls;
	work->thread.sp = pmp_arch_sp(&hold->user);
	return emit(sample, &work->thread, walk.frames, walk.count);
}

/* ---- the threads ------------------------------------------------------------------------ */

/* Carry over what is known, by thread id; both lists are ascending. */
static int renew_watches(struct pmp_target *target)
{
	struct watch *watches = calloc(target->tid_count ? target->tid_count : 1,
				       sizeof(*watches));
	size_t old = 0;

	if (!watches)
		return PMP_ENOMEM;
	for (size_t i = 0; i < target->tid_count; i++) {
		while (old < target->watch_count && target->watches[old].tid < target->tids[i])
			old++;
		if (old < target->watch_count && target->watches[old].tid == target->tids[i])
			watches[i] = target->watches[old];
		watches[i].tid = target->tids[i];
	}
	free(target->watches);
	target->watches = watches;
	target->watch_count = target->tid_count;
	return 0;
}

enum verdict { LEFT_OUT, EMITTED, ON_DISK, TO_STOP };

/* Look at thread i. EMITTED also when that is not possible: *r tells. */
static enum verdict consider(struct pmp_target *target, struct pmp_sample *sample, size_t i,
			     struct work *work, int *r)
{
	*r = 0;
	*work = (struct work){ .watch = &target->watches[i] };
	*r = pmp_thread_look(&target->process, target->tids[i], &work->thread, &work->look);
	if (*r == PMP_ELIMIT)
		return EMITTED;
	if (*r < 0) {
		*r = 0;
		sample->vanished++;
		return LEFT_OUT;
	}
	if (target->options.want_thread &&
	    !target->options.want_thread(target->options.want_arg, work->thread.tid,
					 work->thread.name)) {
		sample->skipped++;
		return LEFT_OUT;
	}
	if (work->watch->range_count == 0) {
		work->watch->range_count = 1;
		work->watch->ranges[0].want = COPY_FIRST;
	}
	if (target->options.stop == PMP_STOP_NEVER)
		snprintf(work->thread.why, sizeof(work->thread.why), "--stop=never");
	else if (pmp_may_stop(&target->process, &work->thread, &work->look))
		return TO_STOP;
	else if (work->thread.state == 'D')
		return ON_DISK;
	*r = emit_untouched(target, sample, work);
	return EMITTED;
}

static int stop_batch(struct pmp_target *target, struct pmp_sample *sample, size_t count)
{
	int r = prepare_arena(target, target->works, count);

	if (r < 0)
		return r;
	if (target->options.stop == PMP_STOP_ALL)
		sample->any_stopped += pmp_stop_together(target->stopper, target->maps,
							 target->holds, count);
	else
		sample->any_stopped += pmp_stop_each(target->stopper, target->maps,
						     target->holds, count);
	return 0;
}

static int reserve_works(struct pmp_target *target, size_t count)
{
	if (PMP_RESERVE(&target->works, &target->work_capacity, count) < 0 ||
	    PMP_RESERVE(&target->holds, &target->hold_capacity, count) < 0)
		return PMP_ENOMEM;
	return 0;
}

/* Stop a batch and finish its threads; those that need a larger copy stay, at
 * the front of works. Returns how many do, or an error. */
static ssize_t run_batch(struct pmp_target *target, struct pmp_sample *sample, size_t count)
{
	ssize_t again = 0;
	int r = stop_batch(target, sample, count);

	for (size_t i = 0; i < count && r >= 0; i++) {
		r = finish(target, sample, &target->works[i], &target->holds[i]);
		if (r == 1)
			target->works[again++] = target->works[i];
	}
	return r < 0 ? r : again;
}

/* Threads in D may be waiting for a disk for a moment, or for ever. */
static int capture_on_disk(struct pmp_target *target, struct pmp_sample *sample,
			   const size_t *indices, size_t index_count)
{
	const struct timespec nap = { .tv_nsec = PMP_MS };
	struct work *work = &target->works[0];
	unsigned tries = 0;
	int r = 0;

	for (size_t i = 0; i < index_count && r >= 0; i++) {
		enum verdict verdict = consider(target, sample, indices[i], work, &r);

		while (verdict == ON_DISK && tries < DISK_TRIES) {
			tries++;
			nanosleep(&nap, NULL);
			verdict = consider(target, sample, indices[i], work, &r);
		}
		if (verdict == ON_DISK) {
			r = emit_untouched(target, sample, work);
		} else if (verdict == TO_STOP) {
			ssize_t again = 1;

			while (again > 0)
				again = run_batch(target, sample, 1);
			r = (int)again;
		}
	}
	return r;
}

/* Thread after thread, in batches. */
static int capture_each(struct pmp_target *target, struct pmp_sample *sample)
{
	size_t *on_disk = calloc(target->tid_count ? target->tid_count : 1, sizeof(*on_disk));
	size_t next = 0, disk_count = 0;
	ssize_t count = 0;
	int r = on_disk ? reserve_works(target, PMP_HOLD_MAX) : PMP_ENOMEM;

	while (r >= 0 && (next < target->tid_count || count > 0)) {
		if (next < target->tid_count && count < PMP_HOLD_MAX) {
			enum verdict verdict = consider(target, sample, next,
							&target->works[count], &r);

			if (verdict == TO_STOP)
				count++;
			else if (verdict == ON_DISK)
				on_disk[disk_count++] = next;
			next++;
			continue;
		}
		count = run_batch(target, sample, (size_t)count);
		if (count < 0)
			r = (int)count;
	}
	if (r >= 0)
		r = capture_on_disk(target, sample, on_disk, disk_count);
	free(on_disk);
	return r;
}

/* All at one instant. If a copy was too short, all once more with what was learned. */
static int capture_together(struct pmp_target *target, struct pmp_sample *sample)
{
	size_t threads, frames, vanished, count = 0;
	int r = reserve_works(target, target->tid_count);

	for (size_t i = 0; i < target->tid_count && r >= 0; i++) {
		enum verdict verdict = consider(target, sample, i, &target->works[count], &r);

		if (verdict == TO_STOP)
			count++;
		else if (verdict == ON_DISK)
			r = emit_untouched(target, sample, &target->works[count]);
	}
	threads = sample->thread_count;
	frames = sample->frame_count;
	vanished = sample->vanished;
	for (bool again = true; again && r >= 0;) {
		again = false;
		sample->thread_count = threads;
		sample->frame_count = frames;
		sample->vanished = vanished;
		r = stop_batch(target, sample, count);
		for (size_t i = 0; i < count && r >= 0; i++) {
			r = finish(target, sample, &target->works[i], &target->holds[i]);
			again = again || r == 1;
		}
	}
	return r;
}

/* ---- capture -------------------------------------------------------------------------------- */

static int by_tid(const void *a, const void *b)
{
	pid_t x = ((const struct pmp_thread *)a)->tid, y = ((const struct pmp_thread *)b)->tid;

	return (x > y) - (x < y);
}

/* Was ptrace refused for all of them? Then say why, instead of a sample that says nothing. */
static int check_refused(struct pmp_target *target, const struct pmp_sample *sample,
			 struct pmp_error *err)
{
	pid_t refused = 0;

	for (size_t i = 0; i < sample->thread_count; i++) {
		const struct pmp_thread *thread = &sample->threads[i];

		if (thread->obtained != PMP_NOT_STOPPED)
			return 0;
		if (strcmp(thread->why, strerror(EPERM)) == 0 ||
		    strncmp(thread->why, "traced by ", 10) == 0)
			refused = thread->tid;
	}
	if (!refused || target->captured)
		return 0;
	return pmp_process_explain(&target->process, refused, EPERM, err);
}

static int ended(const struct pmp_target *target, struct pmp_error *err)
{
	return pmp_error_set(err, PMP_ESRCH, "%d has ended", (int)target->process.pid);
}

static int capture_threads(struct pmp_target *target, struct pmp_sample *sample,
			   struct pmp_error *err)
{
	int r = pmp_threads_list(&target->process, &target->tids, &target->tid_capacity,
				 &target->tid_count);

	if (r >= 0)
		r = renew_watches(target);
	if (r >= 0) {
		sample->seen = target->tid_count;
		r = target->options.stop == PMP_STOP_ALL ? capture_together(target, sample)
							 : capture_each(target, sample);
	}
	if (r == PMP_ESRCH)
		return ended(target, err);
	if (r == PMP_ELIMIT)
		return pmp_error_sys(err, PMP_ELIMIT, EMFILE, "cannot look at the threads of %d",
				     (int)target->process.pid);
	if (r < 0)
		return pmp_error_nomem(err, "take a sample");
	return 0;
}

static int capture(struct pmp_target *target, struct pmp_sample *sample, struct pmp_error *err)
{
	struct pmp_maps *before = NULL;
	int r = update_maps(target, sample, err);

	if (r >= 0) {
		before = pmp_maps_ref(target->maps);
		pmp_memory_tick(target->memory);
		r = capture_threads(target, sample, err);
	}
	if (r >= 0)
		check_moved(target, sample, before);
	pmp_maps_unref(before);
	if (sample->thread_count == 0 && pmp_target_ended(target))
		return ended(target, err);
	return r < 0 ? r : check_refused(target, sample, err);
}

static int capture_new(struct pmp_target *target, struct pmp_sample **out,
		       struct pmp_error *err)
{
	struct pmp_sample *sample = pmp_sample_new();
	int r;

	if (!sample)
		return pmp_error_nomem(err, "take a sample");
	sample->pid = target->process.pid;
	sample->time = pmp_clock();
	sample->realtime = pmp_clock_realtime();
	r = capture(target, sample, err);
	if (r < 0) {
		pmp_sample_free(sample);
		return r;
	}
	target->captured = true;
	memcpy(sample->name, target->process.name, sizeof(sample->name));
	qsort(sample->threads, sample->thread_count, sizeof(*sample->threads), by_tid);
	sample->maps = pmp_maps_ref(target->maps);
	sample->duration = pmp_clock() - sample->time;
	PMP_LOG(&target->log, "capture", "%zu of %zu threads in %llu us, held %llu us",
		sample->thread_count, sample->seen,
		(unsigned long long)(sample->duration / PMP_US),
		(unsigned long long)(sample->any_stopped / PMP_US));
	*out = sample;
	return 0;
}

int pmp_target_capture(struct pmp_target *target, struct pmp_sample **out,
		       struct pmp_error *err)
{
	const struct timespec nap = { .tv_nsec = PMP_MS };
	int r;

	*out = NULL;
	/* In the middle of an exec a process can look as if it had ended; and the
	 * exec may be waiting for us to reap a thread. */
	for (int tries = 1;; tries++) {
		if (pmp_target_ended(target))
			return ended(target, err);
		r = capture_new(target, out, err);
		if (r != PMP_ESRCH || tries == EXEC_TRIES)
			return r;
		pmp_stopper_settle(target->stopper);
		nanosleep(&nap, NULL);
	}
}

