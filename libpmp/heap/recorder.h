/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The recorder: a library that pmp preloads into a command. It takes the place of malloc()
 * and its family, counts, and at chosen calls copies registers and the top of the stack into
 * memory that pmp shares. Everything else, pmp does outside.
 *
 * It runs inside of a program that must not notice: no lock, no allocation, no system call
 * but at the start of a process or thread, nothing printed, no library. So it imports one
 * function, dl_iterate_phdr(), and looks up all others behind itself in the order of
 * loading, as RTLD_NEXT would: see recorder-lookup.c.
 *
 *	recorder-alloc.c	malloc() and its family: the way of each call
 *	recorder-new.c		the operators of C++, where malloc() does not see these
 *	recorder-sample.c	what is due now and then: samples, sums
 *	recorder-table.c	which blocks were chosen
 *	recorder-ring.c		room in the ring
 *	recorder-thread.c	slots, stacks of threads
 *	recorder-start.c	the first call; fork
 *	recorder-entry.c	what pmp finds there of this process
 *	recorder-growth.c	what the allocator takes from the kernel
 *	recorder-map.c		with --heap-mmap mmap() and its like
 *	recorder-exec.c		what another program inherits
 *	recorder-fault.c	planted faults, for tests
 */
#ifndef PMP_HEAP_RECORDER_H
#define PMP_HEAP_RECORDER_H

#include <pthread.h>
#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <threads.h>
#include <time.h>

#include "heap-batch.h"
#include "heap/protocol.h"
#include "heap/recorder-fault.h"

#define INTERPOSED __attribute__((visibility("default")))
#define OWN __attribute__((visibility("hidden"))) /* reached without a table */
#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

/* At the end of a function that programs call, where another one of this library does the
 * rest: that is called, not jumped to. Of such frames in a stack the outermost tells what the
 * program has called. */
#define STAYS_IN_STACK() __asm__ volatile("" : : : "memory")

#define HEAP_QUANTUM 65536 /* bytes after which sums are published */

/* What it calls. NULL: the program has none. */
struct next {
	void *(*malloc)(size_t size);
	void *(*calloc)(size_t count, size_t size);
	void *(*realloc)(void *block, size_t size);
	void (*free)(void *block);
	void *(*memalign)(size_t align, size_t size);
	int (*posix_memalign)(void **block, size_t align, size_t size);
	void *(*aligned_alloc)(size_t align, size_t size);
	void *(*valloc)(size_t size);
	void *(*pvalloc)(size_t size);
	void (*free_sized)(void *block, size_t size);
	void (*free_aligned_sized)(void *block, size_t align, size_t size);
	size_t (*malloc_usable_size)(void *block);
	int (*clock_gettime)(clockid_t clock, struct timespec *time);
	int (*pthread_create)(pthread_t *handle, const pthread_attr_t *attr,
			      void *(*start)(void *arg), void *arg);
	int (*thrd_create)(thrd_t *handle, thrd_start_t start, void *arg);
	int (*pthread_attr_init)(pthread_attr_t *attr);
	int (*pthread_attr_getstacksize)(const pthread_attr_t *attr, size_t *size);
	int (*pthread_key_create)(pthread_key_t *key, void (*end)(void *value));
	int (*pthread_setspecific)(pthread_key_t key, const void *value);
	int (*execve)(const char *path, char *const *argv, char *const *envp);
	int (*execvpe)(const char *file, char *const *argv, char *const *envp);
	int (*fexecve)(int fd, char *const *argv, char *const *envp);
	int (*posix_spawn)(pid_t *pid, const char *path,
			   const posix_spawn_file_actions_t *actions,
			   const posix_spawnattr_t *attr, char *const *argv,
			   char *const *envp);
	int (*posix_spawnp)(pid_t *pid, const char *file,
			    const posix_spawn_file_actions_t *actions,
			    const posix_spawnattr_t *attr, char *const *argv,
			    char *const *envp);
	int (*system)(const char *command);
	FILE *(*popen)(const char *command, const char *type);
	void *(*mmap)(void *address, size_t size, int prot, int flags, int fd,
		      off_t offset);
	int (*munmap)(void *address, size_t size);
	void *(*mremap)(void *address, size_t size, size_t new_size, int flags,
			void *new_address);
	int (*brk)(void *end);
	void *(*sbrk)(intptr_t change);
	void *operator_new;
	char ***environ;
};

extern struct next next OWN;

/* Its state in this process. */
struct recorder {
	uint32_t started; /* 0: no; 1: is being; 2: yes */
	uint32_t found;	  /* the functions are known */
	bool records;	  /* samples are taken */
	bool exact;
	bool mixed;	  /* how the allocator counts is not clear: totals only */
	bool passed_by;	  /* the program has a malloc() of its own */
	bool chunk_sizes; /* the size of a block is in its header, as glibc has it */
	bool gone;	  /* a child after fork(): nothing is counted where pmp sees it */
	uint32_t *mark;	  /* 0: this is a copy of the process that has set it; or NULL */
	uint32_t pid;
	uint32_t index;	  /* of its process entry */
	int fd;		  /* of the shared memory, as the environment says; or -1 */
	char *main_stack; /* end of the first thread's */
	struct pmp_heap_header *header; /* NULL: none is shared */
	struct pmp_heap_process *process;
	struct pmp_heap_slot *slots;
	unsigned char *ring;
	uint32_t max_stack; /* bytes copied of a stack */
	pthread_key_t thread_key;
	bool has_thread_key;
};

extern struct recorder recorder OWN;

/* What it knows of a thread: 56 bytes of static thread-local storage. */
struct thread {
	struct pmp_heap_slot *slot;  /* NULL: the first call will get it one */
	struct pmp_heap_slot *usual; /* the same, if sizes are where glibc has them */
	char *stack_low, *stack_end;
	uint32_t busy;	   /* records: what interrupts it is only counted */
	uint32_t no_slot;  /* there was none, or it is at its end */
	uint32_t tid;	   /* 0: not known yet */
	struct room *room; /* of an environment, recorder-exec.c */
};

extern __thread struct thread thread __attribute__((tls_model("initial-exec"))) OWN;

/* ---- recorder-start.c -------------------------------------------------------------- */

/* Before anything else; whoever comes second waits for the first. */
void recorder_start(void);
/* In a child: what it shares with its parent belongs to that. */
void recorder_forked(void);

/* A child that a raw clone() has made runs no handler of fork(). */
static inline bool recorder_is_copy(void)
{
	return recorder.mark && !__atomic_load_n(recorder.mark, __ATOMIC_RELAXED);
}

/* ---- recorder-entry.c -------------------------------------------------------------- */

/* A function of this library that programs call, and the one behind it or NULL: pmp leaves
 * the first out of stacks. */
void entry_add_code(const char *name, const void *next_one);
/* At the start: look up what entries are filled with. */
void entry_prepare(void);
/* Take an entry, if there is one, and fill it: pmp reads it from then on. */
void entry_open(void);

/* ---- recorder-lookup.c ------------------------------------------------------------- */

/* A function behind this library in the order of loading, or NULL. */
void *lookup_next(const char *name);
/* Is there one before this library, so that it is not called? */
bool lookup_is_before(const char *name);
/* The same in all that is loaded, but for this library. */
void *lookup_any(const char *name);
/* A function of this library, and how many bytes it has. */
void *lookup_own(const char *name, uint64_t *size);
/* The name of the file that an address is in, without its folder; "" if unknown. */
void lookup_module(const void *address, char *name, size_t size);
/* The bounds of that part of a file, of code for instance; both 0 if unknown. */
void lookup_bounds(const void *address, uint64_t *start, uint64_t *end);

/* ---- recorder-thread.c ------------------------------------------------------------- */

/* The slot of this thread, got now; NULL: there is none left, or it has given it back. */
struct pmp_heap_slot *thread_attach(void);
/* Is a stack pointer in a stack that is known? Then how many bytes follow it there. */
size_t thread_stack_left(const char *sp);
/* In a child after fork(). */
void thread_forked(void);
void thread_start(void);

/* ---- recorder-ring.c --------------------------------------------------------------- */

/* A record of that length, reserved, with its head filled; NULL: no room, which is
 * counted. */
struct pmp_heap_record *ring_reserve(uint32_t length);
void ring_complete(struct pmp_heap_record *record);
/* A record that should have been written was not: that is counted. */
void ring_lose(void);
/* Does pmp read? */
bool ring_has_reader(uint64_t now);
uint64_t now_coarse(void);

/* ---- recorder-table.c -------------------------------------------------------------- */

#define FILTER_SIZE 65536
#define FILTER_SATURATED 255
extern unsigned char filter[FILTER_SIZE] OWN;

/* Neighbours in memory are neighbours there: where a program frees, what is needed of the
 * filter is in the cache as its blocks are. */
static inline size_t filter_index(const void *block)
{
	return ((uintptr_t)block >> 4) % FILTER_SIZE;
}

/* NULL is taken for one that may have been chosen, so that it needs no comparison. */
static inline void filter_begin(void)
{
	filter[filter_index(NULL)] = FILTER_SATURATED;
}

/* False: it is full there. */
bool table_add(const void *block);
/* Was it there? */
bool table_remove(const void *block);
void table_clear(void);

/* ---- recorder-sample.c ------------------------------------------------------------- */

struct call {
	uint8_t kind, function; /* of the record */
	const void *block;
	size_t asked, usable;
};

/* After a call with whose bytes something is due. */
void sample_alloc(struct pmp_heap_slot *slot, const struct call *call);
/* The same of bytes that are freed. */
void sample_publish(struct pmp_heap_slot *slot);
/* Before a block is freed that may have been chosen; and before one is moved, which has to
 * be told apart once that is known. NULL: it was not chosen. */
void sample_free(struct pmp_heap_slot *slot, const void *block);
struct pmp_heap_record *sample_move(struct pmp_heap_slot *slot, const void *block);
void sample_moved(struct pmp_heap_record *record, const void *block, bool is_free);
/* A call has failed. */
void sample_failed(struct pmp_heap_slot *slot, const struct call *call);
/* Any record with the stack of the caller. */
void sample_record(const struct call *call, uint64_t rate);
/* Without a slot: counted by everyone in the entry of the process. */
void sample_common(unsigned function, size_t allocated, size_t freed);
/* The same of a block, which may be chosen. */
void sample_common_block(unsigned function, const struct call *call);
/* May a record be written now? Then until sample_end() nothing else is by this thread. */
bool sample_begin(void);
void sample_end(void);

/* ---- recorder-growth.c ------------------------------------------------------------- */

#define AREA_BITS \
	26	   /* of addresses: glibc's heaps of threads are so large, and aligned */
#define AREAS 4096 /* apart */

/* By area: how far the heap there has been seen to reach. */
extern uintptr_t growth_reach[AREAS] OWN;

/* A block that is mapped, or ends where no other has. */
void growth_block(const struct call *call);
/* How far the heap that a block is in has been seen to reach: for the thread that has the
 * slot, which need not look that up again for a block in there. */
void growth_find_heap(struct pmp_heap_slot *slot, const void *block);
/* At the start: no heap yet. */
void growth_start(void);
/* A mapped block of that size, with all that belongs to it, is given back. */
void growth_unmapped(size_t size);
/* Of a program's own mmap() and its like. size 0: nothing was got or given. */
void growth_mapped(const void *at, size_t size, bool gives_back);

/* ---- sizes ------------------------------------------------------------------------- */

#define CHUNK_MMAPPED 2
#define CHUNK_FLAGS 7
#define MAPPED_OVERHEAD (2 * sizeof(size_t)) /* of a block that is mapped */
#define SMALLEST_PAGE 4096

/* Of a mapped block with its header. The program has all of the rest; since glibc 2.43 all but
 * a word, and two more words are not in the size that the header says: with these it is one of
 * pages. Before the size is the distance from the start of the mapping, and a flag. */
static inline size_t mapped_size(const void *block, bool *recent)
{
	const size_t *head = block;
	const size_t size = head[-1] & ~(size_t)CHUNK_FLAGS;

	*recent = ((head[-2] & ~(size_t)1) + size) % SMALLEST_PAGE != 0;
	return *recent ? size + MAPPED_OVERHEAD : size;
}

static inline size_t mapped_usable_size(const void *block)
{
	bool recent;
	const size_t size = mapped_size(block, &recent);

	return size - MAPPED_OVERHEAD - (recent ? sizeof(size) : 0);
}

/* Of a block that is not mapped. */
static inline size_t chunk_usable_size(const void *block)
{
	return (((const size_t *)block)[-1] & ~(size_t)CHUNK_FLAGS) - sizeof(size_t);
}

static inline size_t usable_size(void *block)
{
	if (UNLIKELY(!recorder.chunk_sizes))
		return next.malloc_usable_size ? next.malloc_usable_size(block) : 0;
	if (UNLIKELY(((const size_t *)block)[-1] & CHUNK_MMAPPED))
		return mapped_usable_size(block);
	return chunk_usable_size(block) +
	       (RECORDER_FAULT(SIZE) && recorder.started == 2 ? 16 : 0);
}

static inline bool is_mapped(const void *block)
{
	return recorder.chunk_sizes && ((const size_t *)block)[-1] & CHUNK_MMAPPED;
}

/* Does it end where no block has ended? */
static inline bool is_beyond(const void *block, size_t usable)
{
	return (uintptr_t)block + usable >
	       growth_reach[((uintptr_t)block >> AREA_BITS) % AREAS];
}

/* Is it where the heap was when that was last looked at? */
static inline bool is_in_heap(const struct pmp_heap_slot *slot, const void *block,
			      size_t usable)
{
	return (uintptr_t)block + usable - slot->heap_start <= slot->heap_size;
}

/* May the heap have grown for a block? */
static inline bool is_growth(const void *block, size_t usable)
{
	return recorder.chunk_sizes &&
	       (((const size_t *)block)[-1] & CHUNK_MMAPPED || is_beyond(block, usable));
}

#endif
