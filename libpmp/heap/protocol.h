/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory that a recorder (recorder.h) shares with pmp, which creates it:
 *
 *	header		what pmp asks for, and the ends of the ring
 *	processes	one entry for each program that records: its functions, its peak
 *	slots		the counters of one thread each
 *	ring		records, which never wrap, as both sides map the ring twice in a row
 *
 * All fields have a fixed width. The reader trusts nothing in it, as any process that has
 * the memory may write to it at any time: reading a field twice may give two values.
 */
#ifndef PMP_HEAP_PROTOCOL_H
#define PMP_HEAP_PROTOCOL_H

#include <stdint.h>

#define PMP_HEAP_MAGIC UINT64_C(0x70616568706d7003) /* its last byte is the version */
#define PMP_HEAP_PROCESSES 64
#define PMP_HEAP_SLOTS 16384
#define PMP_HEAP_FUNCTIONS 16
#define PMP_HEAP_ALIGN 64u /* of records: a cache line */
#define PMP_HEAP_RECORD_REGS 14
#define PMP_HEAP_NAME 32
#define PMP_HEAP_CODES 64

/* Flags of the header. */
enum {
	PMP_HEAP_FLAG_EXACT = 1,    /* record every call, not only sampled ones */
	PMP_HEAP_FLAG_MMAP = 2,	    /* also the program's own mmap() and the like */
	PMP_HEAP_FLAG_CHILDREN = 4, /* also record children */
};

struct pmp_heap_header {
	uint64_t magic;
	uint64_t size; /* of the whole memory */
	uint64_t ring_offset, ring_size;
	uint32_t flags;
	uint32_t slots_used;	/* slots from this index on were never used */
	uint32_t pid;		/* of the command, in its own namespace */
	uint32_t max_stack;	/* limit for the copy of a stack, bytes */
	uint32_t loaded;	/* number of programs that have found this memory */
	uint32_t turned_away;	/* number of processes for which no entry was free, or
			       * that are in another pid namespace */
	uint64_t pid_namespace; /* inode of the command's namespace; 0: not known */
	uint64_t rate; /* mean bytes between two samples; either side may change it */
	/* Each of these in a cache line of its own. */
	uint64_t heartbeat __attribute__((aligned(64))); /* of pmp, CLOCK_MONOTONIC */
	uint64_t head __attribute__((aligned(64)));	 /* bytes reserved so far */
	uint64_t tail __attribute__((aligned(64)));	 /* bytes read so far */
	uint64_t lost __attribute__((aligned(64)));	 /* records that found no room */
} __attribute__((aligned(4096)));

/* States of a process entry. */
enum {
	PMP_HEAP_PROCESS_FREE,
	PMP_HEAP_PROCESS_TAKEN,	  /* the entry is being filled */
	PMP_HEAP_PROCESS_RECORDS, /* records and counts */
	PMP_HEAP_PROCESS_COUNTS,  /* counts only, see struct recorder.mixed */
};

/* A function of the recorder that programs call, and the next definition of it. */
struct pmp_heap_code {
	uint64_t start, next; /* next: start of that definition; 0: there is none */
	uint64_t size;
};

struct pmp_heap_process {
	uint32_t state;
	uint32_t pid; /* in its own namespace */
	uint64_t start;
	uint32_t allocator; /* enum pmp_heap_allocator */
	uint32_t code_count;
	uint32_t is_known; /* a futex; 1: pmp has read the process's mappings */
	uint32_t number;   /* of all entries, in the order in which they were filled */
	uint64_t text_start, text_end;		/* of the recorder's code */
	uint64_t functions[PMP_HEAP_FUNCTIONS]; /* addresses of what it calls, by enum
					* pmp_heap_function; 0: none */
	char allocator_name[PMP_HEAP_NAME];
	char name[16]; /* comm of the process */
	struct pmp_heap_code codes[PMP_HEAP_CODES];
	/* In bytes; sums over all threads, accurate to 64 KiB per thread. */
	int64_t live __attribute__((aligned(64)));
	int64_t peak;
	uint64_t peak_time;
	uint64_t failed, failed_reallocs;
	uint64_t brk_growth, mmap_growth, given_back;
	uint64_t lost, untracked;
	/* Of all threads without a slot. */
	uint64_t calls[6] __attribute__((aligned(64)));
	uint64_t allocated, freed;
} __attribute__((aligned(64)));

/* Counters of calls: enum pmp_heap_function up to PMP_HEAP_NEW, then free(). */
#define PMP_HEAP_CALLS 6
#define PMP_HEAP_CALL_FREE 5

/* One for each thread. Its counters are kept when the thread ends; the next thread that
 * gets the slot goes on from there. */
struct pmp_heap_slot {
	uint64_t calls[PMP_HEAP_CALLS];
	uint64_t allocated, freed; /* usable bytes */
	uint64_t due_allocated;	   /* when .allocated exceeds this, something is due */
	uint64_t due_freed;	   /* the same for .freed */
	uint64_t heap_start, heap_size; /* range of glibc's heap, as far as seen */
	uint64_t asked;			/* bytes asked for by the current call */
	uint64_t sample_at;		/* when .allocated exceeds this, take a sample */
	int64_t published; /* the part of allocated - freed that is in .live */
	uint64_t random;
	uint32_t tid;	  /* 0: the slot has no thread */
	uint32_t process; /* index of its entry + 1; 0: none */
	uint32_t rate;	  /* that sample_at was drawn for; 0: not drawn yet */
	uint32_t unused;
} __attribute__((aligned(64)));

/* The layout, for pages of up to 64 KiB. It is never read from the memory itself, as any
 * process that has that may write there. */
#define PMP_HEAP_RING_OFFSET \
	((sizeof(struct pmp_heap_header) + \
	  sizeof(struct pmp_heap_process) * PMP_HEAP_PROCESSES + \
	  sizeof(struct pmp_heap_slot) * PMP_HEAP_SLOTS + 0xffff) & \
	 ~(uint64_t)0xffff)
#define PMP_HEAP_RING_SIZE (UINT64_C(8) << 20)
#define PMP_HEAP_MEMORY_SIZE (PMP_HEAP_RING_OFFSET + PMP_HEAP_RING_SIZE)
#define PMP_HEAP_STACK_MOST ((uint32_t)(PMP_HEAP_RING_SIZE / 8)) /* of one record */

/* The kinds of records are those of enum pmp_heap_kind, and padding. */
#define PMP_HEAP_RECORD_PAD 255

/* The state of a record; a part of its stamp. */
enum { PMP_HEAP_RESERVED = 1, PMP_HEAP_COMPLETE = 2 };

struct pmp_heap_record {
	uint64_t stamp;	 /* position in the ring | state; written last */
	uint32_t length; /* of the whole record: a multiple of PMP_HEAP_ALIGN */
	uint32_t tid;
	uint8_t kind, function;
	uint8_t other_stack; /* the stack pointer is in no known stack */
	uint8_t has_regs;
	uint32_t process; /* index of its entry */
	uint64_t time, pointer, asked, usable, rate, count;
	uint64_t stack_size; /* bytes of stack after the registers, from sp on */
	/* Callee-saved ones, sp and pc, see PMP_HEAP_REGISTERS. */
	uint64_t regs[PMP_HEAP_RECORD_REGS];
};

/* The size of a record without registers. */
#define PMP_HEAP_RECORD_HEAD (sizeof(uint64_t) * 10)

#endif
