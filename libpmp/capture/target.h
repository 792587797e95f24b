/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A target as capture's own files know it: target.c opens it, space.c keeps its
 * address space, watch.c and resting.c tell who has run, look.c reads who is asleep, stack.c walks,
 * capture.c leads.
 */
#ifndef PMP_CAPTURE_TARGET_H
#define PMP_CAPTURE_TARGET_H

#include "base/log.h"
#include "capture/kernel.h"
#include "capture/learn.h"
#include "capture/memory.h"
#include "capture/process.h"
#include "capture/resting.h"
#include "capture/stop.h"
#include "capture/threads.h"
#include "capture/walk.h"
#include "capture/watch.h"
#include "libpmp.h"
#include "sample.h"

/* A thread on its way through a capture. */
struct pmp_work {
	struct pmp_thread thread;
	struct pmp_look look;
	struct pmp_watch *watch;
	uint64_t mark;		/* before the look */
	uint64_t lacks;		/* a pc whose frame pointer a look has not found; or 0 */
	unsigned tries;		/* stops so far */
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
	struct pmp_maps *maps_before;	/* a reference: those by which this capture has
				 * read its first stack; NULL: it has read none yet */
	struct pmp_memory *memory;
	struct pmp_unwinder *unwinder;
	struct pmp_stopper *stopper;
	pid_t *tids;
	size_t tid_count, tid_capacity;
	uint64_t number;		/* of the capture */
	struct pmp_watches watches;
	struct pmp_resting resting;
	bool rest_proven;		/* in this capture: none that rests has run */
	uint64_t readings;		/* of stacks, so far */
	struct pmp_learned *learned;
	struct pmp_kernel kernel;	/* of options.kernel */
	struct pmp_raw_frame *frames;	/* options.max_frames of them */
	struct pmp_frame_regs *regs;	/* of these */
	struct pmp_raw_frame *trial;	/* as many frames, for the search */
	struct pmp_work *works;
	struct pmp_hold *holds;
	size_t work_capacity, hold_capacity;
	unsigned char *arena;		/* for the copies of a batch */
	size_t arena_size;
	bool captured;			/* at least once */
};

/* "4100 has ended": fills err, returns PMP_ESRCH. */
int pmp_target_gone(const struct pmp_target *target, struct pmp_error *err);

#endif
