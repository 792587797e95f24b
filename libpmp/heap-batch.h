/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a recorder in a process has written down (pmp --heap), unwound: allocations that were
 * chosen, with their stacks, frees of these, and exact totals. As a sample it has addresses
 * only, and refers to the address space by which its stacks were read. Nothing in it has
 * been believed: enumerations and indices are within bounds, but sizes, times and counts are
 * what the process says.
 */
#ifndef PMP_HEAP_BATCH_H
#define PMP_HEAP_BATCH_H

#include "libpmp-program.h"
#include "sample.h"

enum pmp_heap_kind {
	PMP_HEAP_ALLOC,	 /* a block that was chosen: it lives from now on */
	PMP_HEAP_FREE,	 /* of a block that was chosen; with --heap=exact of any */
	PMP_HEAP_FAILED, /* a call that returned NULL */
	PMP_HEAP_REALLOC_FAILED, /* the same of realloc(): the block lives on */
	PMP_HEAP_GROWTH, /* this call made the allocator take .usable bytes more from the
				  * kernel; --heap-mmap: an own mmap() or sbrk() of the program */
	PMP_HEAP_UNMAP, /* --heap-mmap: the program gave back .usable bytes at .pointer */
	PMP_HEAP_START, /* the process has begun to be recorded, by a fork, an exec, or as
				  * the first: none of its blocks lives any more. No frames */
	PMP_HEAP_LOST,	/* .count records have been lost before this one */
	PMP_HEAP_KIND_COUNT
};

/* What was called. */
enum pmp_heap_function {
	PMP_HEAP_MALLOC,
	PMP_HEAP_CALLOC,
	PMP_HEAP_REALLOC,
	PMP_HEAP_ALIGNED, /* memalign() and its family */
	PMP_HEAP_NEW,	  /* operator new, where the recorder sees that itself */
	PMP_HEAP_MMAP,	  /* and what is like it: --heap-mmap */
	PMP_HEAP_FUNCTION_COUNT
};

/*
 * A realloc() of a chosen block is a FREE of the old one and, if it is chosen again, an ALLOC
 * of the new one. Events of one pointer are in the order in which they happened; of
 * different pointers nearly so.
 */
struct pmp_heap_event {
	uint8_t kind;	  /* enum pmp_heap_kind */
	uint8_t function; /* enum pmp_heap_function */
	uint16_t end;	  /* enum pmp_end, of the stack */
	uint32_t thread;  /* index in threads */
	uint64_t time;	  /* CLOCK_MONOTONIC, to 4 ms */
	uint64_t
		pointer; /* the block: a number that tells blocks that live at one time apart */
	uint64_t asked;	 /* bytes; of calloc() the product */
	uint64_t usable; /* bytes */
	uint64_t
		rate; /* mean bytes between two samples when it was chosen; 0: all are (weight 1) */
	uint64_t count; /* of LOST */
	uint32_t frame,
		frame_count; /* in frames, innermost first. The first one is the allocator's
				      * function that was called (exact; `malloc` of libc) */
};

struct pmp_heap_thread {
	pid_t tid;
	char name[PMP_NAME_SIZE]; /* raw bytes */
};

/* Who allocates. */
enum pmp_heap_allocator {
	PMP_HEAP_ALLOCATOR_UNKNOWN,
	PMP_HEAP_ALLOCATOR_GLIBC,
	PMP_HEAP_ALLOCATOR_OTHER, /* its name is in totals.allocator_name */
	PMP_HEAP_ALLOCATOR_OWN,	  /* the program's, which comes before the recorder */
	PMP_HEAP_ALLOCATOR_COUNT
};

enum pmp_heap_state {
	PMP_HEAP_STATE_NONE,	/* the recorder is not there (yet) */
	PMP_HEAP_STATE_RECORDS, /* samples and totals */
	PMP_HEAP_STATE_COUNTS,	/* totals only: how its allocator counts is not clear */
	PMP_HEAP_STATE_COUNT
};

/* Of one process since START, up to the time of the batch. Exact, in usable bytes. */
struct pmp_heap_totals {
	uint64_t mallocs, callocs, aligned, reallocs, news,
		frees;		   /* calls that did something */
	uint64_t allocated, freed; /* bytes */
	uint64_t live, live_blocks;
	uint64_t peak, peak_time; /* bytes (within 64 KiB a thread); CLOCK_MONOTONIC */
	uint64_t failed, failed_reallocs;
	uint64_t brk_growth, mmap_growth, given_back; /* bytes; as seen by the recorder */
	uint64_t lost;				      /* records, in all */
	uint64_t untracked; /* samples whose free will not be reported: table full */
	uint64_t rate;	    /* now; 0: exact */
	uint64_t start;	    /* CLOCK_MONOTONIC of START */
	uint64_t stackless; /* samples without a stack: it had ended before its maps could
			     * be read, or it is not sampled */
	uint64_t
		unrecorded; /* processes, beside all that are: there was no place for them */
	uint8_t allocator; /* enum pmp_heap_allocator */
	uint8_t state;	   /* enum pmp_heap_state */
	uint8_t ended;	   /* 1: the process has, and nothing more will come */
	char allocator_name[PMP_NAME_SIZE]; /* file name of its library, or "" */
};

struct pmp_heap_batch {
	pid_t pid;
	char name[PMP_NAME_SIZE]; /* of the process */
	uint64_t time;		  /* CLOCK_MONOTONIC */
	struct pmp_maps *maps;	  /* a reference; NULL: there are no frames */
	struct pmp_heap_totals totals;
	struct pmp_heap_thread *threads;
	size_t thread_count, thread_capacity;
	struct pmp_heap_event *events;
	size_t event_count, event_capacity;
	struct pmp_raw_frame *frames; /* of all events */
	size_t frame_count, frame_capacity;
};

/* NULL: no memory. */
struct pmp_heap_batch *pmp_heap_batch_new(void); /* pmp_heap_batch_free() takes it */
/* For another batch: no events, threads, frames; maps are given back. */
void pmp_heap_batch_clear(struct pmp_heap_batch *batch);
/* The index of a thread, added if it is not there. A name stays, unless it was "". 0 or
 * PMP_ENOMEM. */
int pmp_heap_batch_thread(struct pmp_heap_batch *batch, pid_t tid, const char *name,
			  uint32_t *index);
/* Append an event with its frames (copied; .frame and .frame_count are set). 0 or PMP_ENOMEM. */
int pmp_heap_batch_add(struct pmp_heap_batch *batch, const struct pmp_heap_event *event,
		       const struct pmp_raw_frame *frames, size_t count);

#endif
