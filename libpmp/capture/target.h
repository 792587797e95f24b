/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A target as capture's own files know it: target.c opens it, maps-refresh.c keeps its
 * address space, watch.c and idle-set.c tell who has run, peek.c reads who is asleep, stack-copy.c walks,
 * capture.c leads.
 */
#ifndef PMP_CAPTURE_TARGET_H
#define PMP_CAPTURE_TARGET_H

#include "base/log.h"
#include "capture/fp-cache.h"
#include "capture/idle-set.h"
#include "capture/stop.h"
#include "capture/watch.h"
#include "libpmp.h"
#include "proc/kernel-stack.h"
#include "proc/memory.h"
#include "proc/process.h"
#include "proc/threads.h"
#include "sample.h"
#include "unwind/walk.h"

/* A thread on its way through a capture. */
struct pmp_work {
	struct pmp_thread thread;
	struct pmp_peek peek;
	struct pmp_watch *watch;
	uint64_t run_count;  /* before the peek */
	uint64_t lacks;	     /* a pc whose frame pointer a peek has not found; or 0 */
	unsigned tries;	     /* stops so far */
	size_t kernel_count; /* frames of the kernel that belong above its own */
};

/* What one capture knows: begun by it, and of no meaning to the next one. */
struct pmp_capture {
	uint64_t deadline;	      /* for stops; 0: none */
	bool idle_proven;	      /* none of the idle set has run */
	bool maps_fresh;	      /* the maps have been read */
	struct pmp_maps *maps_before; /* a reference: those by which its first stack was
				 * read; NULL: none has been */
};

/* What lives as long as the target. */
struct pmp_target {
	struct pmp_process process;
	struct pmp_target_options options;
	struct pmp_log log;
	struct pmp_maps *maps;
	uint32_t next_module_id;
	uint64_t maps_time, maps_cost;
	uint64_t maps_changed; /* when executable regions last changed */
	struct pmp_memory *memory;
	struct pmp_unwinder *unwinder;
	struct pmp_stopper *stopper;
	pid_t *tids;
	size_t tid_count, tid_capacity;
	uint64_t number;	    /* of captures so far */
	struct pmp_capture capture; /* the one under way, or the last */
	struct pmp_watches watches;
	struct pmp_idle_set idle_set;
	uint64_t readings; /* of stacks, so far */
	struct pmp_fp_cache *fp_cache;
	struct pmp_kernel kernel;     /* of options.kernel */
	struct pmp_raw_frame *frames; /* options.max_frames of them */
	struct pmp_frame_regs *regs;  /* of these */
	struct pmp_raw_frame *trial;  /* as many frames, for recovery */
	struct pmp_work *works;
	struct pmp_stop_request *requests;
	size_t work_capacity, request_capacity;
	unsigned char *arena; /* for the copies of a batch */
	size_t arena_size;
	bool captured;	    /* at least once */
	size_t frames_last; /* in the last sample */
};

/* "4100 has ended": fills err, returns PMP_ESRCH. */
int pmp_target_gone(const struct pmp_target *target, struct pmp_error *err);

#endif
