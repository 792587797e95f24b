/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The internals of a target, for capture's own files: target.c opens it, maps-refresh.c
 * tracks its address space, watch.c and idle-set.c tell which threads have run, peek.c
 * reads sleeping ones, stack-copy.c walks, capture.c coordinates. Three objects with
 * different lifetimes: struct pmp_target, struct pmp_capture, struct pmp_work.
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
	uint64_t lacks;	    /* a pc whose frame pointer a peek could not find; or 0 */
	unsigned tries;	    /* stops so far */
};

/* What was read of a thread's stack: kernel frames, then its own. */
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
	/* References, or NULL: the maps used to read the first stack, and those read later
	 * because an address was missing. */
	struct pmp_maps *maps_before, *maps_between;
	struct pmp_error *err; /* the caller's, or NULL */
};

/* Copy of a lock, taken while its apparent holder was stopped. */
struct pmp_lock_copy {
	pid_t holder;
	bool known;	/* the bytes could be read */
	uint64_t first; /* address of bytes[0]: see pmp_futex_first() */
	unsigned char bytes[PMP_FUTEX_BYTES];
};

/* Memory reused by all captures. Its contents are valid during one capture only, but its
 * pages stay faulted in. */
struct pmp_workspace {
	pid_t *tids;
	size_t tid_capacity;
	struct pmp_work *works;
	struct pmp_stop_request *requests; /* of the works */
	size_t work_capacity, request_capacity;
	unsigned char *copies; /* of stacks and locks */
	size_t copies_size;
	struct pmp_lock_copy *locks;
	size_t lock_count, lock_capacity;
	/* For the stack being walked; options.max_frames each. */
	struct pmp_raw_frame *frames;
	struct pmp_frame_regs *regs;
	struct pmp_raw_frame *trial; /* for fp recovery */
};

/* The clock of a processor, for asleep.c. */
struct pmp_cpu_clock {
	uint64_t measured; /* when; 0: never */
	bool known;
	int64_t ahead; /* of CLOCK_MONOTONIC over this clock, ns */
};

struct pmp_cpu_clocks {
	struct pmp_cpu_clock *items; /* by CPU number */
	size_t count, capacity;
};

/* Lives as long as the target. */
struct pmp_target {
	struct pmp_process process;
	struct pmp_target_options options;
	struct pmp_log log;
	struct pmp_maps *maps;
	uint32_t next_module_id;
	struct {
		uint64_t time, cost; /* of the last read */
		uint64_t all;	     /* when the text was last read */
		bool no_query;	     /* this kernel only has the text */
		uint64_t changed;    /* when executable regions last changed */
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
	bool looks_for_peers;		  /* in the next capture only */
	struct pmp_outside_kept outside_kept;
	uint64_t asleep_time; /* of the last capture, at its end; or 0 */
	bool captured;	      /* at least once */
	bool execed;	      /* since the last sample */
	uid_t owner;	      /* as in struct pmp_sample_info, last known */
	size_t stood_still;   /* threads of the last sample if none had run; else 0 */
	struct {
		uint64_t generation; /* of the maps it was derived from; 0: none */
		int is;		     /* enum pmp_libc */
	} libc;
	struct pmp_sample *last; /* or NULL */
	struct pmp_workspace workspace;
};

/* Fills err with "4100 has ended" and returns PMP_ESRCH. */
int pmp_target_gone(const struct pmp_target *target, struct pmp_error *err);

#endif
