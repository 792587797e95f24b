/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The recorder: a library that pmp preloads into a command. It interposes malloc() and its
 * family, counts calls, and for sampled ones copies registers and the top of the stack into
 * memory shared with pmp. Everything else is done by pmp, outside.
 *
 * It runs inside of a program that must not notice: it takes no lock, allocates nothing,
 * makes no system calls except at the start of a process or thread, prints nothing, and
 * needs no library. So it imports a single function, dl_iterate_phdr(), and looks up all
 * others after itself in load order, as RTLD_NEXT would, see recorder-lookup.c.
 *
 *	recorder-alloc.c	malloc() and its family: the path of each call
 *	recorder-new.c		C++ operators that do not end in malloc()
 *	recorder-sample.c	what is due now and then: samples, sums
 *	recorder-table.c	which blocks were sampled
 *	recorder-ring.c		room in the ring
 *	recorder-thread.c	slots, stacks of threads
 *	recorder-start.c	the first call; fork
 *	recorder-entry.c	the entry of this process, for pmp
 *	recorder-growth.c	what the allocator takes from the kernel
 *	recorder-map.c		with --heap-mmap: mmap() and the like
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
#define OWN __attribute__((visibility("hidden"))) /* reached without the GOT */
#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

/* At the end of a function that programs call: prevents a tail call, so that the function
 * stays in the stack. The outermost of our frames tells what the program has called. */
#define STAYS_IN_STACK() __asm__ volatile("" : : : "memory")

#define HEAP_QUANTUM 65536 /* bytes after which sums are published */

/* The functions that it calls. NULL: the program has none. */
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

/* The recorder's state in this process. */
struct recorder {
	uint32_t started; /* 0: no; 1: starting; 2: yes */
	uint32_t found;	  /* the functions are known */
	bool records;	  /* samples are taken */
	bool exact;
	bool mixed;	  /* totals only: how the allocator counts is not clear */
	bool passed_by;	  /* the program has a malloc() of its own */
	bool chunk_sizes; /* the size of a block is in its header, as in glibc */
	bool gone;	  /* a child after fork(): its counts are not visible to pmp */
	uint32_t *mark;	  /* *mark 0: this is a forked copy of the process; or NULL */
	uint32_t pid;
	uint32_t index;	  /* of its process entry */
	int fd;		  /* of the shared memory, from the environment; or -1 */
	char *main_stack; /* end of the first thread's stack */
	struct pmp_heap_header *header; /* NULL: there is no shared memory */
	struct pmp_heap_process *process;
	struct pmp_heap_slot *slots;
	unsigned char *ring;
	uint32_t max_stack; /* limit for the copy of a stack, bytes */
	pthread_key_t thread_key;
	bool has_thread_key;
};

extern struct recorder recorder OWN;

/* The state of a thread: 56 bytes of static thread-local storage. */
struct thread {
	struct pmp_heap_slot *slot;  /* NULL: the first call will get one */
	struct pmp_heap_slot *usual; /* the same, but NULL unless recorder.chunk_sizes */
	char *stack_low, *stack_end;
	uint32_t busy;	   /* is recording: calls of signal handlers are only counted */
	uint32_t no_slot;  /* none was free, or the thread is ending */
	uint32_t tid;	   /* 0: not known yet */
	struct room *room; /* for an environment, see recorder-exec.c */
};

extern __thread struct thread thread __attribute__((tls_model("initial-exec"))) OWN;

/* ---- recorder-start.c -------------------------------------------------------------- */

/* Called before anything else; other threads wait for the first one. */
void recorder_start(void);
/* In a child: stop using what belongs to the parent. */
void recorder_forked(void);

/* Is this a forked child? A child of a raw clone() runs no fork() handlers. */
static inline bool recorder_is_copy(void)
{
	return recorder.mark && !__atomic_load_n(recorder.mark, __ATOMIC_RELAXED);
}

/* ---- recorder-entry.c -------------------------------------------------------------- */

/* Add a function of this library that programs call, and the next definition of it or NULL.
 * pmp leaves the former out of stacks. */
void entry_add_code(const char *name, const void *next_one);
/* At the start: look up what entries are filled with. */
void entry_prepare(void);
/* Take an entry, if one is free, and fill it; from then on pmp reads it. */
void entry_open(void);

/* ---- recorder-lookup.c ------------------------------------------------------------- */

/* The next definition of a function after this library in load order, or NULL. */
void *lookup_next(const char *name);
/* Is there a definition before this library, so that ours is not called? */
bool lookup_is_before(const char *name);
/* A definition in anything that is loaded except this library, or NULL. */
void *lookup_any(const char *name);
/* A function of this library, and its size in bytes. */
void *lookup_own(const char *name, uint64_t *size);
/* The file name, without directories, of the module at an address; "" if unknown. */
void lookup_module(const void *address, char *name, size_t size);
/* The bounds of the segment that an address is in; both 0 if unknown. */
void lookup_bounds(const void *address, uint64_t *start, uint64_t *end);

/* ---- recorder-thread.c ------------------------------------------------------------- */

/* Get a slot for this thread; NULL: none is free, or the thread has given it back. */
struct pmp_heap_slot *thread_attach(void);
/* The number of bytes from a stack pointer to the end of its stack; 0: no known stack. */
size_t thread_stack_left(const char *sp);
/* In a child after fork(). */
void thread_forked(void);
void thread_start(void);

/* ---- recorder-ring.c --------------------------------------------------------------- */

/* Reserve a record of that length and fill in its head. NULL: no room; that is counted. */
struct pmp_heap_record *ring_reserve(uint32_t length);
void ring_complete(struct pmp_heap_record *record);
/* Count a record that could not be written. */
void ring_lose(void);
/* Is pmp still reading? */
bool ring_has_reader(uint64_t now);
/* Wait, for a tenth of a second at most, until pmp has read what has been written so far. */
void ring_wait_to_be_read(void);
uint64_t now_coarse(void);

/* ---- recorder-table.c -------------------------------------------------------------- */

#define FILTER_SIZE 65536
#define FILTER_SATURATED 255
extern unsigned char filter[FILTER_SIZE] OWN;

/* Neighbouring blocks are neighbours in the filter: if blocks that a program frees are in
 * the cache, so are the bytes of the filter that it needs. */
static inline size_t filter_index(const void *block)
{
	return ((uintptr_t)block >> 4) % FILTER_SIZE;
}

/* Treat NULL like a block that may have been sampled, so that the fast path need not check
 * for NULL. */
static inline void filter_begin(void)
{
	filter[filter_index(NULL)] = FILTER_SATURATED;
}

/* Add a sampled block. False: no room for it. */
bool table_add(const void *block);
/* Remove a block. False: it was not there. */
bool table_remove(const void *block);
void table_clear(void);

/* ---- recorder-sample.c ------------------------------------------------------------- */

struct call {
	uint8_t kind, function; /* for the record */
	const void *block;
	size_t asked, usable;
};

/* After an allocation that makes something due. */
void sample_alloc(struct pmp_heap_slot *slot, const struct call *call);
/* The same after a free. */
void sample_publish(struct pmp_heap_slot *slot);
/* Before freeing a block that may have been sampled. Before and after a realloc() of such a
 * block, as only the result tells whether that has freed it. NULL: it was not sampled. */
void sample_free(struct pmp_heap_slot *slot, const void *block);
struct pmp_heap_record *sample_move(struct pmp_heap_slot *slot, const void *block);
void sample_moved(struct pmp_heap_record *record, const void *block, bool is_free);
/* A call has failed. */
void sample_failed(struct pmp_heap_slot *slot, const struct call *call);
/* Write a record with the stack of the caller. */
void sample_record(const struct call *call, uint64_t rate);
/* Count a call of a thread without a slot, in the process entry. */
void sample_common(unsigned function, size_t allocated, size_t freed);
/* The same for a block, which may be sampled. */
void sample_common_block(unsigned function, const struct call *call);
/* May a record be written now? If so, this thread writes no other until sample_end(). */
bool sample_begin(void);
void sample_end(void);

/* ---- recorder-growth.c ------------------------------------------------------------- */

#define AREA_BITS \
	26 /* of addresses: glibc's heaps of threads have this size and alignment */
#define AREAS 4096 /* entries, by area modulo this */

/* By area: how far the heap there is known to reach. */
extern uintptr_t growth_reach[AREAS] OWN;

/* Handle a block that is mapped, or ends beyond the known reach of its area. */
void growth_block(const struct call *call);
/* Set in the slot the known range of the heap that a block is in, so that the thread need
 * not look that up for other blocks there. */
void growth_find_heap(struct pmp_heap_slot *slot, const void *block);
/* At the start: no heap is known. */
void growth_start(void);
/* A mapped block of that size, including overhead, is given back. */
void growth_unmapped(size_t size);
/* The program's own mmap() and the like. size 0: nothing was mapped or given back. */
void growth_mapped(const void *at, size_t size, bool gives_back);

/* ---- sizes ------------------------------------------------------------------------- */

#define CHUNK_MMAPPED 2
#define CHUNK_FLAGS 7
#define MAPPED_OVERHEAD (2 * sizeof(size_t)) /* of a block that is mapped */
#define SMALLEST_PAGE 4096

/* The size of a mapped block with its header. *recent: since glibc 2.43 the program has one
 * word less, and two words are missing from the size in the header, which with them is one
 * of whole pages. The word before the size has the distance from the start of the mapping,
 * and a flag. */
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

/* For a block that is not mapped. */
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

/* Does it end beyond the known reach of its area? */
static inline bool is_beyond(const void *block, size_t usable)
{
	return (uintptr_t)block + usable >
	       growth_reach[((uintptr_t)block >> AREA_BITS) % AREAS];
}

/* Is it in the known range of the heap? */
static inline bool is_in_heap(const struct pmp_heap_slot *slot, const void *block,
			      size_t usable)
{
	return (uintptr_t)block + usable - slot->heap_start <= slot->heap_size;
}

/* May the heap have grown for this block? */
static inline bool is_growth(const void *block, size_t usable)
{
	return recorder.chunk_sizes &&
	       (((const size_t *)block)[-1] & CHUNK_MMAPPED || is_beyond(block, usable));
}

#endif
