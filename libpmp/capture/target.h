/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A target as capture's own files know it: target.c opens it, maps-refresh.c keeps its
 * address space, watch.c and idle-set.c tell which threads have run, peek.c reads those
 * that are asleep, stack-copy.c walks, capture.c leads. Three objects, by how long they
 * live: struct pmp_target, struct pmp_capture, struct pmp_work.
 */
#ifndef PMP_CAPTURE_TARGET_H
#define PMP_CAPTURE_TARGET_H

#include "base/log.h"
#include "capture/fp-cache.h"
#include "capture/futex-view.h"
#include "capture/idle-set.h"
#include "capture/outside-kept.h"
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
	struct pmp_inspection peek;
	struct pmp_watch *watch;
	uint64_t run_count; /* before the peek */
	uint64_t lacks;	    /* a pc whose frame pointer a peek has not found; or 0 */
	unsigned tries;	    /* stops so far */
};

/* What was read of its stack: in the kernel, and below that its own. */
struct pmp_reading {
	struct pmp_kernel_stack kernel;
	struct pmp_walk walk;
};

/* One capture, from its start to its sample. */
struct pmp_capture {
	struct pmp_target *target;
	struct pmp_sample *sample;
	uint64_t deadline; /* for stops; 0: none */
	bool idle_proven;  /* none of the idle set has run */
	bool maps_fresh;   /* the maps have been read */
	/* References: those by which its first stack was read, and those that were read
	 * because an address was not in them; or NULL. */
	struct pmp_maps *maps_before, *maps_between;
	struct pmp_error *err; /* the caller's, or NULL */
};

/* A lock as it was while the thread that seemed to hold it was stopped. */
struct pmp_lock_copy {
	pid_t holder;
	bool known;	/* the bytes could be read */
	uint64_t first; /* address of the first of them: see pmp_futex_first() */
	unsigned char bytes[PMP_FUTEX_BYTES];
};

/* Memory that captures take turns in. Nothing in it lasts longer than one of them, but
 * that it has been touched. */
struct pmp_workspace {
	pid_t *tids;
	size_t tid_capacity;
	struct pmp_work *works;
	struct pmp_stop_request *requests; /* of these */
	size_t work_capacity, request_capacity;
	unsigned char *copies; /* of stacks and locks */
	size_t copies_size;
	struct pmp_lock_copy *locks;
	size_t lock_count, lock_capacity;
	/* Of the stack that is being walked, options.max_frames each. */
	struct pmp_raw_frame *frames;
	struct pmp_frame_regs *regs;
	struct pmp_raw_frame *trial; /* for recovery */
};

/* The clock of a processor, as asleep.c needs it. */
struct pmp_cpu_clock {
	uint64_t measured; /* when; 0: never */
	bool known;
	int64_t ahead; /* by which CLOCK_MONOTONIC is, in ns */
};

struct pmp_cpu_clocks {
	struct pmp_cpu_clock *items; /* by their numbers */
	size_t count, capacity;
};

/* What lives as long as the target. */
struct pmp_target {
	struct pmp_process process;
	struct pmp_target_options options;
	struct pmp_log log;
	struct pmp_maps *maps;
	uint32_t next_module_id;
	struct {
		uint64_t time, cost; /* of the last look at them */
		uint64_t all;	     /* when their text was read */
		bool no_query;	     /* this kernel has only the text */
		uint64_t changed;    /* when executable regions did */
	} maps_read;
	struct pmp_memory *memory;
	struct pmp_unwinder *unwinder;
	struct pmp_stopper *stopper;
	uint64_t number; /* of captures so far */
	struct pmp_watches watches;
	struct pmp_idle_set idle_set;
	uint64_t readings; /* of stacks, so far */
	struct pmp_fp_cache *fp_cache;
	struct pmp_kernel kernel;	  /* of options.kernel */
	struct pmp_cpu_clocks cpu_clocks; /* of options.asleep */
	bool looks_for_peers;		  /* the next capture, once */
	struct pmp_outside_kept outside_kept;
	uint64_t asleep_time; /* of the last capture, at its end; or 0 */
	bool captured;	      /* at least once */
	bool execed;	      /* since the last sample */
	uid_t owner;	      /* as in struct pmp_sample_info, last known */
	size_t stood_still;   /* threads of the last sample if none had run; else 0 */
	struct {
		uint64_t generation; /* of the maps that say so; 0: none */
		int is;		     /* enum pmp_libc */
	} libc;
	struct pmp_sample *last; /* or NULL */
	struct pmp_workspace workspace;
};

/* "4100 has ended": fills err, returns PMP_ESRCH. */
int pmp_target_gone(const struct pmp_target *target, struct pmp_error *err);

#endif
