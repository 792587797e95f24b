/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The raw sample: produced by capture, consumed by everything after it.
 * Addresses only; nothing that works with a sample needs the process any more.
 *
 * A sample refers to the address space at its time (struct pmp_maps), which is
 * immutable and shared by all samples until the process maps something new. The
 * maps refer to the modules, whose descriptors were opened while the process
 * was alive. All three are reference-counted, and used by one thread at a time.
 */
#ifndef PMP_SAMPLE_H
#define PMP_SAMPLE_H

#include "libpmp.h"
#include "census.h"
#include "crash.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PMP_NAME_SIZE 32 /* a thread's name with its NUL: 16, more for kernel threads */
#define PMP_WCHAN_SIZE 48
#define PMP_REASON_SIZE 64

/* ---- modules and maps --------------------------------------------------- */

enum pmp_module_kind {
	PMP_MODULE_FILE,     /* a mapped file */
	PMP_MODULE_VDSO,     /* its image is in .image */
	PMP_MODULE_ANON,     /* memory without a file; code in it is JIT code */
	PMP_MODULE_SPECIAL,  /* [stack], [heap], [vvar], ... */
	PMP_MODULE_PERF_MAP, /* not mapped: the process's /tmp/perf-PID.map */
	PMP_MODULE_KERNEL,   /* function names are in .image: see below */
};

/*
 * The kernel says in which of its functions a thread waits, but not their addresses. So
 * addresses are derived from names: the same in each target, run and machine, in the half
 * of the address space that no process can use. The image of the module holds all names
 * that may occur, each with a NUL.
 */
#define PMP_KERNEL_START UINT64_C(0xffff800000000000)
#define PMP_KERNEL_END UINT64_C(0xffffc00000000000)
uint64_t pmp_kernel_address(const char *name, size_t length);

/* Why a file was not opened: its file system belongs to a user who may not answer. */
#define PMP_EFOREIGN EREMOTE

struct pmp_module {
	unsigned refs;
	uint32_t id; /* unique within its target, never reused */
	enum pmp_module_kind kind;
	uint64_t device, inode; /* as in /proc/PID/maps; makedev() form */
	char *path;	/* raw bytes, unescaped, without " (deleted)"; never NULL */
	bool deleted;	/* no longer reachable under path */
	int fd;		/* read-only, owned; -1: could not be opened */
	int open_errno; /* why not; PMP_EFOREIGN */
	void *image;	/* owned copy of the memory image, or NULL */
	size_t image_size;
	/* Read from the file by resolve/sample-frame.c, on request. */
	bool build_id_tried;
	void *build_id; /* owned, or NULL */
	size_t build_id_size;
};

enum { PMP_PROT_READ = 1, PMP_PROT_WRITE = 2, PMP_PROT_EXEC = 4, PMP_PROT_SHARED = 8 };

struct pmp_region {
	uint64_t start, end;	   /* [start, end); start must be first, see
				    * base/search.h */
	uint64_t offset;	   /* in the file */
	struct pmp_module *module; /* never NULL; borrowed from pmp_maps */
	unsigned prot;		   /* PMP_PROT_ */
};

struct pmp_maps {
	unsigned refs;
	uint64_t generation;	    /* incremented at each change, per target */
	uint64_t exec_generation;   /* incremented when executable regions change */
	struct pmp_region *regions; /* sorted, disjoint */
	size_t region_count, region_capacity;
	struct pmp_module **modules; /* each is a reference */
	size_t module_count, module_capacity;
	struct pmp_module *perf_map; /* NULL, or one of modules */
	bool lazy; /* files are opened later, and only those of stacks and locks */
};

/* New objects have one reference. NULL: no memory. path is copied. */
struct pmp_module *pmp_module_new(uint32_t id, enum pmp_module_kind kind,
				  const char *path);
struct pmp_module *pmp_module_ref(struct pmp_module *module);
void pmp_module_unref(struct pmp_module *module); /* closes fd, frees image; takes NULL */

struct pmp_maps *pmp_maps_new(void);
struct pmp_maps *pmp_maps_ref(struct pmp_maps *maps);
void pmp_maps_unref(struct pmp_maps *maps);
/* Append a module; consumes the caller's reference even on failure. 0 or PMP_ENOMEM. */
int pmp_maps_add_module(struct pmp_maps *maps, struct pmp_module *module);
/* Append a region (ascending, its module already added). 0 or PMP_ENOMEM. */
int pmp_maps_add_region(struct pmp_maps *maps, const struct pmp_region *region);
/* The region that contains address, or NULL. Binary search. */
const struct pmp_region *pmp_maps_find(const struct pmp_maps *maps, uint64_t address);
#define PMP_REGIONS_NEAR 64 /* maximum distance between two of one module */
bool pmp_region_is_anonymous(const struct pmp_region *region);
/* The region itself if it maps a file privately; or such a region before it if only
 * anonymous ones lie between, because these may be the file's zero-initialized data. Else
 * NULL; takes NULL. */
const struct pmp_region *pmp_maps_file_before(const struct pmp_maps *maps,
					      const struct pmp_region *region);

/* ---- threads ------------------------------------------------------------ */

/* Flags of a frame. The innermost frame and the victim of a signal are exact:
 * their pc is the next instruction. All others are return addresses, and the
 * call is at pc - 1. */
enum {
	PMP_FRAME_EXACT = 1,
	PMP_FRAME_SIGNAL = 2, /* the trampoline a signal handler returns to */
	PMP_FRAME_FP = 4,     /* found by frame pointer, without call-frame information */
};

struct pmp_raw_frame {
	uint64_t pc;	/* as found; nothing subtracted */
	uint64_t flags; /* PMP_FRAME_ */
};

/* Why a stack ends where it does. */
enum pmp_end {
	PMP_END_ROOT,	     /* at the thread's first function: complete */
	PMP_END_NOT_STOPPED, /* the thread was not stopped; only one frame is known */
	PMP_END_DEPTH,	     /* max_frames */
	PMP_END_COPY,	     /* the stack is larger than its copy */
	PMP_END_UNREADABLE,  /* memory could not be read */
	PMP_END_NO_INFO,     /* neither call-frame information nor a frame pointer */
	PMP_END_LOOP,	     /* the stack pointer did not increase */
	PMP_END_BAD_INFO,    /* call-frame information is invalid */
	PMP_END_MOVED,	     /* the code was unmapped or replaced during the capture */
	PMP_END_EVICTED, /* no stack: stands for those that exceeded the memory limit */
	PMP_END_BETWEEN, /* no stack: the thread used CPU time, but was not running in any
			  * snapshot */
	PMP_END_GOROUTINE, /* the goroutine's own stack, which comes next, was not found */
	PMP_END_OTHER_STACK, /* of an allocation on a stack that the program itself has
			      * allocated: its bounds are unknown */
	PMP_END_COUNT
};

/* A short English text for an end, for example "stack larger than its copy". */
const char *pmp_end_text(enum pmp_end end);

enum { PMP_SYSCALL_NONE = -1, PMP_SYSCALL_UNKNOWN = -2 };

/* ---- waits -------------------------------------------------------------- */

/* What a blocked thread waits for, as far as its system call and memory show. */
enum pmp_wait_kind {
	PMP_WAIT_NONE,	    /* unknown */
	PMP_WAIT_MUTEX,	    /* of glibc or musl, also with priority inheritance */
	PMP_WAIT_RWLOCK,    /* pthread_rwlock_t */
	PMP_WAIT_LATCH,	    /* InnoDB's sux_lock */
	PMP_WAIT_STDIO,	    /* a FILE */
	PMP_WAIT_JOIN,	    /* the exit of another thread */
	PMP_WAIT_CONDITION, /* pthread_cond_t */
	PMP_WAIT_FUTEX,	    /* any other use of a futex */
	/* Not in memory: looked for only with PMP_WAITS_PEERS, and described by struct
	 * pmp_outside. */
	PMP_WAIT_FILE,	 /* a lock of a file */
	PMP_WAIT_PIPE,	 /* also a FIFO */
	PMP_WAIT_SOCKET, /* data, buffer space, or a connection */
	PMP_WAIT_CHILD,	 /* the exit of a child process */
	PMP_WAIT_VFORK,	 /* a child that shares its memory until it calls exec */
	PMP_WAIT_SEMOP,	 /* System V semaphores */
	/* Likewise, but these never involve another process. */
	PMP_WAIT_POLL,	 /* any of several descriptors */
	PMP_WAIT_EVENT,	 /* eventfd, inotify and the like */
	PMP_WAIT_TIMER,	 /* timerfd */
	PMP_WAIT_SIGNAL, /* also signalfd */
	PMP_WAIT_QUEUE,	 /* of messages: space in it, or a message to read */
	PMP_WAIT_SLEEP,	 /* until a time */
	PMP_WAIT_IO,	 /* reading, writing or syncing a file or device */
	PMP_WAIT_COUNT
};

static inline bool pmp_wait_is_outside(unsigned kind)
{
	return kind >= PMP_WAIT_FILE && kind < PMP_WAIT_COUNT;
}

/* Could the thread be waiting for another process? */
static inline bool pmp_wait_has_peers(unsigned kind)
{
	return kind >= PMP_WAIT_FILE && kind < PMP_WAIT_POLL;
}

/* Who holds what a thread waits for. PMP_HOLDER_NONE if unknown: nothing is guessed. */
enum pmp_holder_is {
	PMP_HOLDER_NONE,    /* no known thread; of a rwlock or latch, see count */
	PMP_HOLDER_FREE,    /* released; the waiter has been woken but has not run yet */
	PMP_HOLDER_THREAD,  /* of the same process */
	PMP_HOLDER_SELF,    /* the waiter */
	PMP_HOLDER_PROCESS, /* a thread of another process; the lock is in shared memory */
	PMP_HOLDER_BEFORE_FORK, /* a thread of a process that this one was forked from */
	PMP_HOLDER_ENDED,	/* a thread that has exited without releasing it */
	PMP_HOLDER_UNCHECKED,	/* in capture only: a tid of no thread of the process */
	PMP_HOLDER_COUNT
};

enum {
	PMP_WAIT_PROVEN = 1,	  /* the thread slept while all of this was read */
	PMP_WAIT_TIMED = 2,	  /* with a timeout */
	PMP_WAIT_WRITE = 4,	  /* of a rwlock: to write */
	PMP_WAIT_NEXT = 8,	  /* the writer that waits for readers to leave */
	PMP_WAIT_SHARED = 16,	  /* not a private futex: may be shared by several
				   * processes */
	PMP_WAIT_OWNER_DIED = 32, /* the kernel has marked its owner as dead */
	PMP_WAIT_QUEUED = 64,	  /* of a rwlock that readers hold: queued after its next
				   * writer, which is reported as the holder */
	PMP_WAIT_DEADLOCK = 128,  /* in a cycle of threads that was proven */
	PMP_WAIT_MOVED_ON = 256, /* the holder's stack is from another moment, when it may
				  * not have held the lock */
};

/* Which words around a futex could be read, and what else is known about them. */
enum {
	PMP_WORD_BEFORE = 1,
	PMP_WORD_AT = 2,
	PMP_WORD_AFTER = 4,
	PMP_WORD_FAR = 8,
	PMP_WORD_SAME = 16,	  /* .at is still the value that the thread waits on */
	PMP_WORD_FREE_MUTEX = 32, /* if it is a mutex of glibc, no thread holds it */
	/* The same for other locks, from pmp_words_free_as(). */
	PMP_WORD_FREE_SIMPLE = 64, /* one whose word is 0 when free */
	PMP_WORD_FREE_MUSL = 128,  /* a rwlock of musl */
	PMP_WORD_FREE_READ = 256,  /* a rwlock of Rust's library, to read */
	PMP_WORD_FREE_WRITE = 512, /* the same to write */
};
#define PMP_WORD_FREE \
	(PMP_WORD_FREE_MUTEX | PMP_WORD_FREE_SIMPLE | PMP_WORD_FREE_MUSL | \
	 PMP_WORD_FREE_READ | PMP_WORD_FREE_WRITE)

/* The bits of rwlocks that count readers; all of them set: a writer. */
#define PMP_MUSL_READERS 0x7fffffffu
#define PMP_RUST_READERS 0x3fffffffu

/* The words around a futex whose kind only function names can tell. Their meaning depends
 * on the kind; they are the target's bytes, and not trusted. */
struct pmp_wait_words {
	uint32_t flags;	 /* PMP_WORD_ */
	uint32_t before; /* 4 bytes before the futex's word */
	uint32_t at;
	uint32_t after; /* 4 bytes after it */
	uint64_t far;	/* 32 bytes before it */
};

/* For which kinds of locks these words mean that it is free: flags PMP_WORD_FREE_. A wait
 * that is only counted needs to keep no more than these flags. */
uint32_t pmp_words_free_as(const struct pmp_wait_words *words);

struct pmp_wait {
	uint8_t kind;	   /* enum pmp_wait_kind; the rest is zero if it is NONE */
	uint8_t holder_is; /* enum pmp_holder_is */
	uint16_t flags;	   /* PMP_WAIT_ */
	uint32_t count;	   /* readers that hold the lock */
	pid_t holder;	   /* 0: not known */
	uint32_t outside;  /* index + 1 in the sample's list; 0: not in it */
	uint64_t
		object; /* address of the lock, in its thread's memory; see pmp_outside */
	uint64_t mutex; /* of a condition */
	struct pmp_wait_words words; /* of PMP_WAIT_FUTEX; else zero */
};

/* The type of what a thread waits for outside its memory. */
enum pmp_outside_type {
	PMP_OUTSIDE_NONE,  /* in memory, but held by another process */
	PMP_OUTSIDE_FLOCK, /* flock() */
	PMP_OUTSIDE_FCNTL, /* fcntl(F_SETLKW), lockf() */
	PMP_OUTSIDE_OFD,   /* fcntl(F_OFD_SETLKW) */
	PMP_OUTSIDE_PIPE,
	PMP_OUTSIDE_FIFO, /* one with a name */
	PMP_OUTSIDE_UNIX, /* sockets */
	PMP_OUTSIDE_TCP,
	PMP_OUTSIDE_OTHER_SOCKET,
	PMP_OUTSIDE_PROCESS, /* a child */
	PMP_OUTSIDE_SEMAPHORE,
	PMP_OUTSIDE_EPOLL,
	PMP_OUTSIDE_POLL, /* poll(), select() */
	PMP_OUTSIDE_EVENTFD,
	PMP_OUTSIDE_OTHER_EVENT, /* inotify, io_uring and others, see text */
	PMP_OUTSIDE_TIMERFD,
	PMP_OUTSIDE_SIGNALFD,
	PMP_OUTSIDE_SIGNAL, /* sigwait(), pause() */
	PMP_OUTSIDE_SYSTEM_V_QUEUE,
	PMP_OUTSIDE_POSIX_QUEUE,
	PMP_OUTSIDE_SLEEP,
	PMP_OUTSIDE_REGULAR, /* a file or a folder */
	PMP_OUTSIDE_DEVICE,
	PMP_OUTSIDE_COUNT
};

/* How certain it is who is waited for. */
enum pmp_sure {
	PMP_SURE_UNKNOWN,    /* no process is named */
	PMP_SURE_EXACT,	     /* the kernel says so */
	PMP_SURE_CANDIDATES, /* any of these could end the wait */
	PMP_SURE_INFERRED,   /* inferred from something else */
	PMP_SURE_COUNT
};

/* The role of another process in a wait. */
enum pmp_role {
	PMP_ROLE_HOLDS,
	PMP_ROLE_WRITES, /* it could */
	PMP_ROLE_READS,
	PMP_ROLE_OTHER_END, /* of a connection */
	PMP_ROLE_ACCEPTS,   /* it could */
	PMP_ROLE_CHILD,
	PMP_ROLE_OPERATED, /* on the semaphore, last */
	PMP_ROLE_COUNT
};

struct pmp_other {
	pid_t pid;
	pid_t tid; /* of the thread concerned; 0: none in particular */
	int fd;	   /* the first of its descriptors concerned; -1: none */
	uint8_t role;
	char name[PMP_NAME_SIZE]; /* raw bytes; of the thread, if tid is set */
};

#define PMP_OUTSIDE_TEXT 128
#define PMP_OTHERS_SHOWN 16 /* at most, of one struct pmp_outside */

/* What threads wait for outside their memory. pmp_wait.object is its inode, or, if it has
 * none of its own, the waiter's descriptor. */
struct pmp_outside {
	uint8_t type, sure;
	uint8_t write;	       /* the lock is held for writing */
	uint8_t listens;       /* a listening socket */
	uint8_t connected;     /* a socket whose other end is on this machine */
	uint8_t foreign;       /* in a namespace that cannot be queried from here */
	uint32_t other, shown; /* range in the sample's list of other processes */
	uint32_t count;	       /* how many there are; may exceed shown */
	uint32_t number;       /* of a semaphore in its set */
	uint32_t watched;      /* descriptors of a poll; 0: unknown */
	int32_t fd;	       /* that the first of the waiters uses; -1: none */
	uint64_t first, last;  /* bytes of a lock; last UINT64_MAX: to the end */
	uint64_t sleep;	       /* of PMP_OUTSIDE_SLEEP, ns; 0: unknown, or an absolute
				* time */
	/* Raw bytes: path of a file or device, addresses of a socket, type of an event. */
	char text[PMP_OUTSIDE_TEXT];
};

/* Compares waits of two samples, whose indices are unrelated. */
static inline bool pmp_wait_same(const struct pmp_wait *a, const struct pmp_wait *b)
{
	return a->kind == b->kind && a->holder_is == b->holder_is &&
	       a->flags == b->flags && a->count == b->count && a->holder == b->holder &&
	       a->object == b->object && a->mutex == b->mutex && !a->outside &&
	       !b->outside && a->words.flags == b->words.flags &&
	       a->words.before == b->words.before && a->words.at == b->words.at &&
	       a->words.after == b->words.after && a->words.far == b->words.far;
}

/* Is it a lock, which a thread holds? Not a condition, nor a futex of unknown use. */
bool pmp_wait_is_lock(const struct pmp_wait *wait);
/* The address of the lock that a thread is parked under, assuming that it uses
 * parking_lot, which only names can tell. 0: it does not. */
uint64_t pmp_wait_parked_under(const struct pmp_wait *wait);
/* The file that may have the name of the lock, or NULL. */
const struct pmp_region *pmp_maps_file_of_lock(const struct pmp_maps *maps,
					       const struct pmp_wait *wait);

/* Fields that each snapshot reads, for thousands of threads, come first: they fit into two
 * cache lines. */
/* How often a stop puts a blocked thread on a processor; not yet in its .runs. */
#define PMP_STOP_RUNS 2

struct pmp_thread {
	pid_t tid;
	enum pmp_obtained obtained;
	enum pmp_end end;
	char state;	  /* R S D T t Z X I, '?' unknown */
	uint8_t ready;	  /* in R, but only waits for a processor within a system call */
	uint64_t reading; /* number of the reading of its stack, within its target: equal
			   * in two samples if the stack was read once */
	size_t frame;	  /* index of its first frame in pmp_sample.frames */
	size_t frame_count;
	uint64_t stopped;      /* ns held in this sample */
	uint64_t asleep_since; /* CLOCK_MONOTONIC, an upper bound; 0: unknown */
	struct pmp_wait wait;
	uint64_t cpu;		  /* ns on a CPU so far (schedstat); 0 unknown */
	uint64_t runs;		  /* times put on a CPU so far; 0 unknown */
	char name[PMP_NAME_SIZE]; /* raw bytes */
	uint64_t sp;		  /* stack pointer of the innermost frame; 0 unknown */
	uint64_t tls;		  /* pthread_t (fs base, TPIDR_EL0); 0 unknown */
	uint64_t args[6];	  /* of the system call */
	int syscall; /* number, PMP_SYSCALL_NONE (blocked, not in a call; of a core: not
		      * blocked in a call), _UNKNOWN (running; of a core: cannot be
		      * read) */
	char reason[PMP_REASON_SIZE]; /* of PMP_NOT_STOPPED, e.g. "seccomp"; else "" */
	char wchan[PMP_WCHAN_SIZE];   /* "" when unknown */
};

/*
 * While no thread of a process runs, all its samples belong to one standstill: they have
 * the same threads in the same order, each PMP_UNCHANGED, with the same stacks and waits.
 */
struct pmp_standstill {
	uint64_t number;  /* unique within its target; 0: a thread has run, or may have */
	size_t truncated; /* threads whose stacks do not reach their root */
};

struct pmp_sample {
	unsigned refs;
	pid_t pid;
	char name[PMP_NAME_SIZE]; /* of the process */
	uint64_t time, realtime, duration;
	uint64_t any_stopped;
	size_t seen, skipped, vanished;
	uid_t owner; /* who may look at the process; see struct pmp_sample_info */
	bool execed;
	struct pmp_maps *maps; /* one reference; NULL only in tests */
	struct pmp_thread *threads;
	size_t thread_count, thread_capacity;
	struct pmp_raw_frame *frames; /* of all threads, innermost first in each */
	size_t frame_count, frame_capacity;
	/* Counts before pmp_sample_clear(): the items are still there unless they have
	 * been overwritten. old_next: the next old thread to compare. */
	size_t old_threads, old_frames, old_next;
	struct pmp_standstill standstill, old_standstill;
	struct pmp_outside *outsides;
	size_t outside_count, outside_capacity;
	struct pmp_other *others;
	size_t other_count, other_capacity;
	size_t hidden; /* processes whose descriptors could not be read for lack of
			* permission */
	bool walk_cut; /* more descriptors or file locks exist than the limit allows to
			* read */
	struct pmp_crash crash;
	struct pmp_census *census; /* of its heap, owned; NULL: none */
};

struct pmp_sample *pmp_sample_new(void); /* one reference; pmp_sample_free() takes it */
struct pmp_sample *pmp_sample_ref(struct pmp_sample *sample);
/* Empty a sample that has no other owner for the next sample of the same target, keeping
 * its memory. */
void pmp_sample_clear(struct pmp_sample *sample);
/* Append a thread, zeroed. NULL: no memory. */
struct pmp_thread *pmp_sample_add_thread(struct pmp_sample *sample);
/* Append a copy of a thread, without its frames. NULL: no memory. */
struct pmp_thread *pmp_sample_copy_thread(struct pmp_sample *sample,
					  const struct pmp_thread *thread);
/*
 * Append a thread that has not run since it was read, with its frames. What the sample
 * still has of it from before pmp_sample_clear() is not copied again: for a thousand
 * threads that would be a megabyte each time.
 */
struct pmp_thread *pmp_sample_add_unchanged(struct pmp_sample *sample,
					    const struct pmp_thread *thread,
					    const struct pmp_raw_frame *frames);
/* Mark a sample as taken in the standstill of this number, if all its threads are
 * unchanged. False: not all are, or there is none. */
bool pmp_sample_stand_still(struct pmp_sample *sample, uint64_t number);
/* Restore all threads from before pmp_sample_clear(): the standstill goes on. */
void pmp_sample_keep_still(struct pmp_sample *sample);
/* The same, copying the threads of another sample of this standstill if necessary. 0 or
 * PMP_ENOMEM. */
int pmp_sample_copy_still(struct pmp_sample *sample, const struct pmp_sample *still);
/* The thread with this id, or NULL. Threads must be in the order of their ids, as those of
 * a capture are. */
struct pmp_thread *pmp_sample_find_thread(const struct pmp_sample *sample, pid_t tid);
/* Append an outside object; then append the other processes of it. 0 or PMP_ENOMEM. */
int pmp_sample_add_outside(struct pmp_sample *sample, const struct pmp_outside *outside);
int pmp_sample_add_other(struct pmp_sample *sample, const struct pmp_other *other);
/* Frame i of a thread, innermost first; NULL: none. */
const struct pmp_raw_frame *pmp_sample_raw_frame(const struct pmp_sample *sample,
						 size_t thread, size_t i);
/* Append frames to the last thread. 0 or PMP_ENOMEM. */
int pmp_sample_add_frames(struct pmp_sample *sample, const struct pmp_raw_frame *frames,
			  size_t count);

#endif
