/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory that a recorder (recorder.h) shares with pmp, which made it:
 *
 *	header		what pmp asks for, and the ends of the ring
 *	processes	one entry for each program that records: its functions, its peak
 *	slots		the counters of one thread each
 *	ring		records, each whole, as both sides map it twice in a row
 *
 * All fields have a fixed width. The reader believes nothing of it, as any process that has
 * it may write whatever it likes: what is read twice may differ.
 */
#ifndef PMP_HEAP_PROTOCOL_H
#define PMP_HEAP_PROTOCOL_H

#include <stdint.h>

#define PMP_HEAP_MAGIC UINT64_C(0x70616568706d7003) /* its last byte is the version */
#define PMP_HEAP_PROCESSES 64
#define PMP_HEAP_SLOTS 16384
#define PMP_HEAP_FUNCTIONS 16
#define PMP_HEAP_ALIGN 64u /* of records: a line of the processor's cache */
#define PMP_HEAP_RECORD_REGS 14
#define PMP_HEAP_NAME 32
#define PMP_HEAP_CODES 64

/* Flags of the header. */
enum {
	PMP_HEAP_FLAG_EXACT = 1,    /* every call, not only those that are chosen */
	PMP_HEAP_FLAG_MMAP = 2,	    /* and the program's own mmap() and its like */
	PMP_HEAP_FLAG_CHILDREN = 4, /* of children too */
};

struct pmp_heap_header {
	uint64_t magic;
	uint64_t size; /* of all of it */
	uint64_t ring_offset, ring_size;
	uint32_t flags;
	uint32_t slots_used;  /* the first so many have been in use */
	uint32_t pid;	      /* of the command, as it sees itself */
	uint32_t max_stack;   /* bytes that are copied of a stack */
	uint32_t loaded;      /* programs that have found this memory, so far */
	uint32_t turned_away; /* processes, so far, for which no entry was free, or whose
			       * pids are not those of the command's namespace */
	uint64_t pid_namespace; /* of the command: an inode; 0: not known */
	uint64_t rate; /* mean bytes between two samples; either side may change it */
	/* Each of these in a line of its own. */
	uint64_t heartbeat __attribute__((aligned(64))); /* of pmp, CLOCK_MONOTONIC */
	uint64_t head __attribute__((aligned(64)));	 /* bytes reserved so far */
	uint64_t tail __attribute__((aligned(64)));	 /* and read */
	uint64_t lost __attribute__((aligned(64)));	 /* records that found no room */
} __attribute__((aligned(4096)));

/* What a process does. */
enum {
	PMP_HEAP_PROCESS_FREE,
	PMP_HEAP_PROCESS_TAKEN,	  /* its entry is being filled */
	PMP_HEAP_PROCESS_RECORDS, /* and counts */
	PMP_HEAP_PROCESS_COUNTS,  /* only: its allocator mixes */
};

/* A function of the recorder that programs call, and the one behind it. */
struct pmp_heap_code {
	uint64_t start, next; /* next: where it starts; 0: there is none */
	uint64_t size;
};

struct pmp_heap_process {
	uint32_t state;
	uint32_t pid; /* as it sees itself */
	uint64_t start;
	uint32_t allocator; /* enum pmp_heap_allocator */
	uint32_t code_count;
	uint32_t is_known; /* pmp has read where its files are mapped: a futex */
	uint32_t unused;
	uint64_t text_start, text_end;		/* of the recorder in its memory */
	uint64_t functions[PMP_HEAP_FUNCTIONS]; /* where those are that it calls, by enum
					* pmp_heap_function; 0: not there */
	char allocator_name[PMP_HEAP_NAME];
	char name[16]; /* of the process, as the kernel has it */
	struct pmp_heap_code codes[PMP_HEAP_CODES];
	/* Bytes; of all threads, each within 64 KiB. */
	int64_t live __attribute__((aligned(64)));
	int64_t peak;
	uint64_t peak_time;
	uint64_t failed, failed_reallocs;
	uint64_t brk_growth, mmap_growth, given_back;
	uint64_t lost, untracked;
	/* Of threads without a slot. */
	uint64_t calls[6] __attribute__((aligned(64)));
	uint64_t allocated, freed;
} __attribute__((aligned(64)));

/* Counters of enum pmp_heap_function below PMP_HEAP_NEW + 1, then of free(). */
#define PMP_HEAP_CALLS 6
#define PMP_HEAP_CALL_FREE 5

/* One for each thread; what it has counted stays when the thread ends, for the next one. */
struct pmp_heap_slot {
	uint64_t calls[PMP_HEAP_CALLS];
	uint64_t allocated, freed; /* usable bytes */
	uint64_t due_allocated;	   /* beyond so many allocated bytes something is due */
	uint64_t due_freed;	   /* the same of those that are freed */
	uint64_t heap_start, heap_size; /* where glibc's heap has been seen to reach */
	uint64_t asked;			/* by the call that is under way */
	uint64_t sample_at;		/* beyond so many allocated bytes one is chosen */
	int64_t published;		/* of allocated - freed: is in live */
	uint64_t random;
	uint32_t tid;	  /* 0: of no thread */
	uint32_t process; /* its entry + 1; 0: of none */
	uint32_t rate;	  /* by which sample_at was drawn; 0: it was not */
	uint32_t unused;
} __attribute__((aligned(64)));

/* Where the ring is: pages may have 64 KiB. None of this is read from the memory, as any
 * process that has it may write there. */
#define PMP_HEAP_RING_OFFSET \
	((sizeof(struct pmp_heap_header) + \
	  sizeof(struct pmp_heap_process) * PMP_HEAP_PROCESSES + \
	  sizeof(struct pmp_heap_slot) * PMP_HEAP_SLOTS + 0xffff) & \
	 ~(uint64_t)0xffff)
#define PMP_HEAP_RING_SIZE (UINT64_C(8) << 20)
#define PMP_HEAP_MEMORY_SIZE (PMP_HEAP_RING_OFFSET + PMP_HEAP_RING_SIZE)
#define PMP_HEAP_STACK_MOST ((uint32_t)(PMP_HEAP_RING_SIZE / 8)) /* of one record */

/* Kinds of records are those of enum pmp_heap_kind, and this one. */
#define PMP_HEAP_RECORD_PAD 255

/* A record that is at this position of the ring, in one of two states. */
enum { PMP_HEAP_RESERVED = 1, PMP_HEAP_COMPLETE = 2 };

struct pmp_heap_record {
	uint64_t stamp;	 /* its position | state; written last */
	uint32_t length; /* of all of it: a multiple of PMP_HEAP_ALIGN */
	uint32_t tid;
	uint8_t kind, function;
	uint8_t other_stack; /* the stack pointer is in none that is known */
	uint8_t has_regs;
	uint32_t process; /* its entry */
	uint64_t time, pointer, asked, usable, rate, count;
	uint64_t stack_size; /* bytes after the registers, from sp on */
	/* Callee-saved ones, sp and pc: see pmp_heap_registers. */
	uint64_t regs[PMP_HEAP_RECORD_REGS];
};

/* Bytes of a record without registers. */
#define PMP_HEAP_RECORD_HEAD (sizeof(uint64_t) * 10)

#endif
