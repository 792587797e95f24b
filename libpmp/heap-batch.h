/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a recorder in a process (pmp --heap) has recorded, unwound: sampled allocations
 * with their stacks, frees of these, and exact totals. Like a sample it has addresses
 * only, and refers to the address space with which its stacks were unwound. Enumerations
 * and indices have been checked, but sizes, times and counts are what the process says.
 */
#ifndef PMP_HEAP_BATCH_H
#define PMP_HEAP_BATCH_H

#include "libpmp-program.h"
#include "sample.h"

enum pmp_heap_kind {
	PMP_HEAP_ALLOC,		 /* a sampled block: live from now on */
	PMP_HEAP_FREE,		 /* of a sampled block; with --heap=exact of any */
	PMP_HEAP_FAILED,	 /* a call that returned NULL */
	PMP_HEAP_REALLOC_FAILED, /* a realloc() that returned NULL: the block lives on */
	PMP_HEAP_GROWTH, /* this call made the allocator request .usable more bytes from
			  * the kernel; with --heap-mmap also the program's own mmap() or
			  * sbrk() */
	PMP_HEAP_UNMAP,	 /* --heap-mmap: the program unmapped .usable bytes at .pointer */
	PMP_HEAP_START,	 /* recording of the process begins, after a fork, an exec, or as
			  * the first one: none of its earlier blocks is live any more. No
			  * frames */
	PMP_HEAP_LOST,	 /* .count records were lost before this one */
	PMP_HEAP_KIND_COUNT
};

/* The function that was called. */
enum pmp_heap_function {
	PMP_HEAP_MALLOC,
	PMP_HEAP_CALLOC,
	PMP_HEAP_REALLOC,
	PMP_HEAP_ALIGNED, /* memalign() and the like */
	PMP_HEAP_NEW,	  /* operator new, where the recorder intercepts it */
	PMP_HEAP_MMAP,	  /* and the like, with --heap-mmap */
	PMP_HEAP_FUNCTION_COUNT
};

/*
 * A realloc() of a sampled block is a FREE of the old one and, if the new one is sampled
 * as well, an ALLOC. Events of one pointer are in order, those of different pointers
 * nearly so.
 */
struct pmp_heap_event {
	uint8_t kind;	  /* enum pmp_heap_kind */
	uint8_t function; /* enum pmp_heap_function */
	uint16_t end;	  /* enum pmp_end, of the stack */
	uint32_t thread;  /* index in threads */
	uint64_t time;	  /* CLOCK_MONOTONIC, within 4 ms */
	uint64_t pointer; /* the block: a number that is unique among live blocks */
	uint64_t asked;	  /* bytes; of calloc() the product */
	uint64_t usable;  /* bytes */
	uint64_t
		rate; /* mean bytes between two samples at that time; 0: every call (weight
		       * 1) */
	uint64_t
		count; /* of LOST; of START the number of the program, so that another sampler
			 * can start again with a known one; 0: it is a new program */
	uint32_t frame,
		frame_count; /* in frames, innermost first. The first one is the allocator
			      * function that was called (exact; `malloc` of libc) */
};

struct pmp_heap_thread {
	pid_t tid;
	char name[PMP_NAME_SIZE]; /* raw bytes */
};

/* The allocator. */
enum pmp_heap_allocator {
	PMP_HEAP_ALLOCATOR_UNKNOWN,
	PMP_HEAP_ALLOCATOR_GLIBC,
	PMP_HEAP_ALLOCATOR_OTHER, /* its name is in totals.allocator_name */
	PMP_HEAP_ALLOCATOR_OWN,	  /* the program's own, which precedes the recorder */
	PMP_HEAP_ALLOCATOR_COUNT
};

enum pmp_heap_state {
	PMP_HEAP_STATE_NONE,	/* the recorder is not (yet) loaded */
	PMP_HEAP_STATE_RECORDS, /* samples and totals */
	PMP_HEAP_STATE_COUNTS,	/* totals only: it is unclear how its allocator counts */
	PMP_HEAP_STATE_COUNT
};

/* Of one process from START to the time of the batch. Exact, in usable bytes. */
struct pmp_heap_totals {
	uint64_t mallocs, callocs, aligned, reallocs, news,
		frees;		   /* calls that did something */
	uint64_t allocated, freed; /* bytes */
	uint64_t live, live_blocks;
	uint64_t peak, peak_time; /* bytes (within 64 KiB per thread); CLOCK_MONOTONIC */
	uint64_t failed, failed_reallocs;
	uint64_t brk_growth, mmap_growth, given_back; /* bytes, as seen by the recorder */
	uint64_t lost;				      /* records, in total */
	uint64_t untracked;  /* samples whose free will not be reported: table full */
	uint64_t rate;	     /* now; 0: exact */
	uint64_t start;	     /* CLOCK_MONOTONIC of START */
	uint64_t stackless;  /* samples without a stack: the process had exited before its
			      * maps could be read, or is not a target */
	uint64_t unrecorded; /* processes that there was no room for */
	uint8_t allocator;   /* enum pmp_heap_allocator */
	uint8_t state;	     /* enum pmp_heap_state */
	uint8_t ended; /* 1: the process has exited, and no more batches will follow */
	char allocator_name[PMP_NAME_SIZE]; /* file name of its library, or "" */
};

struct pmp_heap_batch {
	pid_t pid;
	char name[PMP_NAME_SIZE]; /* of the process */
	uint64_t time;		  /* CLOCK_MONOTONIC */
	struct pmp_maps *maps;	  /* a reference; NULL: no frames */
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
/* Empty a batch for reuse: drops events, threads, frames and the reference to maps. */
void pmp_heap_batch_clear(struct pmp_heap_batch *batch);
/* The index of a thread, which is added if missing. An existing name is kept, unless it is
 * "". 0 or PMP_ENOMEM. */
int pmp_heap_batch_thread(struct pmp_heap_batch *batch, pid_t tid, const char *name,
			  uint32_t *index);
/* Append an event with its frames (copied; sets .frame and .frame_count). 0 or
 * PMP_ENOMEM. */
int pmp_heap_batch_add(struct pmp_heap_batch *batch, const struct pmp_heap_event *event,
		       const struct pmp_raw_frame *frames, size_t count);

#endif
