/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libpmp: what every thread of a native process is doing, running or blocked.
 *
 * Data flows one way: a target (a live process) is captured into a sample
 * (addresses only), a profile counts samples and asks a symbolizer for names,
 * a writer puts a profile into one format.
 *
 * Conventions
 *  - A call that can fail returns 0 (or a count) or a negative enum pmp_status
 *    and, if err is not NULL, fills *err.
 *  - Each handle has one owner; its _free or _close function takes NULL.
 *  - Strings and arrays that are returned are borrowed: they live as long as
 *    the handle they came from, unless said otherwise.
 *  - An options struct begins with its own size, so that fields can be added;
 *    all zero (but size) means the defaults. A NULL pointer means that too.
 *  - Addresses are uint64_t, times are nanoseconds in uint64_t.
 *  - The library never prints, exits, forks, installs signal handlers or
 *    changes the locale; it waits only for threads that it has seized itself.
 *    Other threads of the program may call waitpid(-1): what they take of these
 *    is missed for a millisecond, not lost. See also pmp_target_options.
 *  - A handle is used by one thread at a time. A process cannot profile
 *    itself: fork a helper.
 *
 * What only a program such as pmp needs (live views, new processes) is in
 * libpmp-program.h.
 */
#ifndef PMP_LIBPMP_H
#define PMP_LIBPMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Returns the version of the library, "0.1" for instance. */
const char *pmp_version(void);

/* ---- errors ----------------------------------------------------------- */

enum pmp_status {
	PMP_OK = 0,
	PMP_EINVAL = -1,       /* an argument makes no sense */
	PMP_ENOMEM = -2,       /* not enough memory */
	PMP_ESRCH = -3,	       /* no such process, or it has ended */
	PMP_EPERM = -4,	       /* not permitted, or traced by another */
	PMP_EIO = -5,	       /* reading or writing failed */
	PMP_ELIMIT = -6,       /* a limit was reached: descriptors, size, time */
	PMP_EFORMAT = -7,      /* input that cannot be understood */
	PMP_EUNSUPPORTED = -8, /* this build or kernel cannot do it */
};

/*
 * message says what was tried, on what and why it failed, without a full stop;
 * hint is empty or names the one next step. Text that came from a target is
 * escaped in both.
 */
struct pmp_error {
	int code;      /* an enum pmp_status */
	int sys_errno; /* the errno that caused it, or 0 */
	char message[384];
	char hint[256];
};

/* ---- target: a live process ------------------------------------------- */

struct pmp_target;
struct pmp_sample;

enum pmp_stop {
	PMP_STOP_AUTO,	/* thread after thread, each for microseconds */
	PMP_STOP_ALL,	/* all threads together: one consistent instant */
	PMP_STOP_NEVER, /* only peek at those that are blocked */
};

enum pmp_unwind {
	PMP_UNWIND_AUTO, /* call-frame information, else frame pointers */
	PMP_UNWIND_CFI,
	PMP_UNWIND_FP,
};

/* What a capture finds out about what threads wait for. */
enum pmp_waits {
	PMP_WAITS_HOLDERS, /* which threads hold the locks in memory: one read of 128
			    * bytes for each thread that is blocked */
	PMP_WAITS_NONE,
	/* And locks of files, pipes, sockets, children and semaphores, with the processes
	 * that hold them or are at the other end. If a thread waits for one, that takes
	 * 5 to 8 us of CPU for each descriptor that any process has, in each capture. */
	PMP_WAITS_PEERS,
};

/* What a census of a heap tells apart; see struct pmp_target_options. */
enum pmp_census_of {
	PMP_CENSUS_NONE,  /* there is none: threads are captured */
	PMP_CENSUS_SIZES, /* sizes of blocks */
	PMP_CENSUS_TYPES, /* and what their first words point to, classes for instance */
};

struct pmp_recorder;

struct pmp_target_options {
	size_t size;
	enum pmp_stop stop;
	enum pmp_unwind unwind;
	bool no_restart;     /* do not repair EINTR (see pmp(1)) */
	unsigned max_frames; /* per stack; 0: 512 */
	/* Called for each thread before anything is done to it; false: leave it
	 * alone. NULL: all threads. */
	bool (*want_thread)(void *arg, pid_t tid, const char *name);
	void *want_arg;
	/* While a thread is held *held_since is the CLOCK_MONOTONIC time at which
	 * that began, else 0. It is written with __atomic_store_n(); a supervisor may
	 * watch it with __atomic_load_n(). NULL: not wanted. */
	uint64_t *held_since;
	/* Receives debug lines; NULL: silent. area is a word such as "stop". */
	void (*log)(void *arg, const char *area, const char *line);
	void *log_arg;
	/* Of threads that are blocked, the functions of the kernel as well; only
	 * who has CAP_SYS_ADMIN gets to see them. */
	bool kernel;
	/* Called with true before threads are stopped, with false once the last of them
	 * has been released: for a watchdog that ends this process if it hangs in
	 * between, as the end of a tracer releases what it holds. Again with true at
	 * least every 200 ms while stops go on, and by each pmp_target_reap() that
	 * still awaits a thread. No thread is held during a call, unless one that is
	 * awaited has just stopped. NULL: not wanted. */
	void (*holding)(void *arg, bool begins);
	void *holding_arg;
	/*
	 * What a capture does to the process that makes it, unless told not to.
	 *
	 * SIGCHLD is blocked in the calling thread while threads are held, as it ends
	 * the wait for their stops; one that was meant for another child is sent to the
	 * process again after that, without its siginfo. keep_sigchld: it is left alone,
	 * and stops are noticed up to 0.1 ms late, as where no SIGCHLD comes.
	 */
	bool keep_sigchld;
	/* The calling thread has the policy SCHED_RR while it holds threads, if that is
	 * permitted and it has no priority of its own. keep_scheduling: it is not changed. */
	bool keep_scheduling;
	/* So many threads of the target have a descriptor that stays open: whether
	 * they have run is then read in a fifth of the time. 128 of RLIMIT_NOFILE are
	 * left alone in any case. 0: 256. */
	unsigned descriptors;
	/* ns after which a capture stops no more threads. Those that it has not come to
	 * are in the sample as not stopped, for "time limit"; stops under way are finished,
	 * which takes 2 s at most. 0: no limit. */
	uint64_t time_limit;
	/* Do not ask where in the kernel threads sleep, which only formats with .details
	 * and live views show: a fifth of what the first peek at a thread takes. */
	bool no_wchan;
	/* What is read of what blocked threads wait for; see enum pmp_waits. */
	enum pmp_waits waits;
	/* Find out since when threads that wait for something have been asleep: 25 to 40 us
	 * for each that has begun to. If the capture before was not more than 0.2 s ago,
	 * threads that have run since are said to sleep from now on, and what is true is
	 * found out by the next one. The calling thread goes to each processor on which
	 * one of them ran last for 0.1 ms, and not to isolated ones. */
	bool asleep;
	/* The same, but only if a second has gone by since the capture before, or it is
	 * the first one. */
	bool asleep_before;
	/* Called while stacks are unwound that take long, and for each thread that may
	 * wait for another process, at least every few milliseconds of CPU time: a sign
	 * of life for a supervisor. NULL: not wanted. */
	void (*alive)(void *arg);
	void *alive_arg;
	/* A capture reads what the heap of glibc's malloc holds, while the process runs, and
	 * looks at no thread: for formats with .census. Pages that are not in memory are left
	 * alone. Fails with PMP_EUNSUPPORTED if the heap is another allocator's. */
	enum pmp_census_of census;
	unsigned census_cpu; /* percent of a processor that it may take; 0: no limit */
	/* Frames of this recorder (libpmp-program.h) are left out of stacks. It has to
	 * outlive the target. NULL: there is none. */
	const struct pmp_recorder *recorder;
	/* When the process that is meant began: field 22 of its stat (proc_pid_stat(5)), as in
	 * struct pmp_found_process. If its number is another one's by now, that is not opened.
	 * 0: any process of this number. */
	uint64_t started;
};

/* The module of the kernel's functions. The kernel hides where they are: their
 * addresses are made of their names. */
#define PMP_KERNEL_MODULE "[kernel.kallsyms]"

/**
 * Open a process for capturing. Nothing is stopped yet.
 *
 * Fails with PMP_ESRCH (no such process, zombie, kernel thread), PMP_EPERM
 * (with the cause found by looking), PMP_EUNSUPPORTED (32-bit program).
 * A thread id that is not a process id is refused with a hint.
 *
 * Returns 0 with *target, which is to be closed with pmp_target_close(), or an error.
 */
int pmp_target_open(pid_t pid, const struct pmp_target_options *options,
		    struct pmp_target **target, struct pmp_error *err);

/**
 * Take one sample of all threads. Threads are held only inside this call.
 *
 * A thread that could not be read is in the sample with its reason. Fails with
 * PMP_ESRCH when the process has ended.
 *
 * Returns 0 with *sample, which is to be freed with pmp_sample_free() and may outlive
 * the target, or an error.
 */
int pmp_target_capture(struct pmp_target *target, struct pmp_sample **sample,
		       struct pmp_error *err);

/**
 * Look for other processes in the next capture, as with PMP_WAITS_PEERS: for programs that
 * want to know of them now and then. Not with PMP_WAITS_NONE.
 */
void pmp_target_look_for_peers(struct pmp_target *target);

/**
 * Release threads that stopped too late for the capture that asked them to.
 * Call it every few milliseconds between captures while it returns more than 0, in
 * the thread that has captured: only that one can release them, and when it ends
 * the kernel does. NULL: those of targets that this thread has closed.
 *
 * Returns the number of threads of the target still awaited.
 */
size_t pmp_target_reap(struct pmp_target *target);

/**
 * Sleep for so many ns, and meanwhile do what pmp_target_reap() does, as often as that is
 * needed: for programs that have nothing else to do between two captures. Returns early
 * when a signal handler has run, unless threads are awaited.
 */
void pmp_target_sleep(struct pmp_target *target, uint64_t ns);

/** Returns the id of the process. */
pid_t pmp_target_pid(const struct pmp_target *target);
/** Returns the name of the process (comm), raw bytes as the kernel has them. */
const char *pmp_target_name(const struct pmp_target *target);
/** Returns when the process began: see .started of its options. */
uint64_t pmp_target_started(const struct pmp_target *target);
/** Returns true once the process has ended. */
bool pmp_target_ended(const struct pmp_target *target);

/**
 * Close a target. Threads still awaited (see reap) have 20 ms to stop and are released.
 * Those that have not, as they hang in the kernel for instance, are not forgotten: any
 * later call of a capture, reap or close in this thread releases them, and so does
 * its end. A program that makes none calls pmp_target_reap(NULL) until that
 * returns 0, or pmp_target_sleep(NULL, ...). held_since and holding are not used any more.
 */
void pmp_target_close(struct pmp_target *target);

/* ---- sample: what one capture found ----------------------------------- */

/* Totals of one sample; all times in ns. */
struct pmp_sample_info {
	size_t size;
	pid_t pid;
	const char *name;     /* of the process, raw bytes */
	uint64_t time;	      /* CLOCK_MONOTONIC at its start */
	uint64_t realtime;    /* CLOCK_REALTIME at its start */
	uint64_t duration;    /* of the capture */
	uint64_t stopped;     /* sum over threads of the time stopped */
	uint64_t stopped_max; /* the longest stop of one thread */
	uint64_t any_stopped; /* time during which any thread was held */
	size_t threads;	      /* in the sample */
	size_t seen;	      /* listed */
	size_t skipped;	      /* not wanted (want_thread) */
	size_t vanished;      /* ended before they could be read */
	size_t n_stopped;     /* how the threads of the sample were obtained */
	size_t n_peeked;      /* read where they sleep, without a stop */
	size_t n_unchanged;   /* have not run since their last sample */
	size_t n_not_stopped;
	size_t truncated; /* stacks that do not reach their root */
	bool execed;	  /* the process has exec'ed since the last sample */
	/* PMP_WAITS_PEERS: processes whose descriptors were asked for, but may not be
	 * read: threads may wait for them. */
	size_t hidden;
	/* Who may look at the process: the owner of its files in /proc, which is root if only
	 * root may; PMP_OWNERS: that changed while the sample was taken, or is not known. */
	uid_t owner;
};

#define PMP_OWNERS ((uid_t)-1)

/** Fill *info, whose size is given, with the totals of a sample. */
void pmp_sample_info(const struct pmp_sample *sample, struct pmp_sample_info *info);

/* How a thread of a sample was obtained. */
enum pmp_obtained {
	PMP_STOPPED,	      /* stopped for a moment */
	PMP_PEEKED,	      /* blocked, read where it sleeps, without a stop */
	PMP_UNCHANGED,	      /* has not run since its last sample */
	PMP_NOT_STOPPED,      /* left alone, for a reason */
	PMP_OBTAINED_UNKNOWN, /* of saved profiles and cores, which do not say: nor are
			       * arguments of system calls */
};

/* One thread of a sample; strings are borrowed from it, raw bytes. */
struct pmp_thread_info {
	size_t size;
	pid_t tid;
	const char *name;
	char state;	    /* as in proc(5): R S D T t Z X I, or ? */
	const char *reason; /* why it was not stopped, or "" */
	uint64_t stopped;   /* ns held */
	size_t frames;
	bool complete; /* its stack reaches its root */
	enum pmp_obtained obtained;
};
/** i < pmp_sample_info.threads; threads are in the order of their ids. */
void pmp_sample_thread(const struct pmp_sample *sample, size_t i,
		       struct pmp_thread_info *info);

/* One frame of a thread as it was captured: an address. */
struct pmp_sample_frame_info {
	size_t size;
	uint64_t pc;	    /* the next instruction, or the one a call returns to */
	bool exact;	    /* it is the next instruction; else the call is before pc */
	bool signal;	    /* the trampoline that a signal handler returns to */
	const char *module; /* path, raw bytes, "[vdso]"; "": pc is in no mapping */
	uint64_t offset;    /* of pc in the module's file */
	bool deleted;	    /* the file is no longer there under this path */
	/* Of the module, as the linker wrote it (usually 20 bytes); NULL and 0: it has none,
	 * or its file could not be read. */
	const uint8_t *build_id;
	size_t build_id_size;
};
/**
 * Frame i of a thread, innermost first, without a name: pmp_symbolizer_locate_frame() is
 * the way to that. Strings and bytes are borrowed from the sample. The build-id is read at
 * the first call for a module, from the file that was opened when it was captured.
 *
 * Returns false and leaves *info alone when there is no such thread or frame.
 */
bool pmp_sample_frame(const struct pmp_sample *sample, size_t thread, size_t i,
		      struct pmp_sample_frame_info *info);

/** Free a sample. Takes NULL. */
void pmp_sample_free(struct pmp_sample *sample);

/*
 * A sample on a stream socket, so that one process can capture and another
 * name and count. Descriptors of the target's modules travel with it
 * (SCM_RIGHTS), each once. Structs travel as they are, so both ends have to be of the
 * same build: a receiver refuses what was sent by another version, or with structs of
 * other sizes, with PMP_EFORMAT.
 */
struct pmp_sender;
struct pmp_receiver;
struct pmp_heap_batch;

/**
 * Make a sender. fd is borrowed: a connected AF_UNIX stream socket.
 * Returns 0 with *sender, which is to be freed with pmp_sender_free(), or PMP_ENOMEM.
 */
int pmp_sender_new(int fd, struct pmp_sender **sender, struct pmp_error *err);
/** Send a sample; may block. Returns 0, PMP_ESRCH when the other end has closed, or
 * another error. */
int pmp_sender_sample(struct pmp_sender *sender, const struct pmp_sample *sample,
		      struct pmp_error *err);
/** Send a short text of the caller's own (at most 64 KiB) with a number. Returns 0 or an
 * error, as pmp_sender_sample() does; PMP_EINVAL: it is too long. */
int pmp_sender_note(struct pmp_sender *sender, uint32_t kind, const void *data,
		    size_t length, struct pmp_error *err);
/** A process has ended: let go of its modules, here and on the other side. Returns 0 or
 * an error, as pmp_sender_sample() does. */
int pmp_sender_forget(struct pmp_sender *sender, pid_t pid, struct pmp_error *err);
/** Free a sender; its socket stays open. Takes NULL. */
void pmp_sender_free(struct pmp_sender *sender);

/* What has been received: exactly one of sample and heap (owned by the caller; see
 * libpmp-program.h) and note (borrowed until the next call). */
struct pmp_received {
	struct pmp_sample *sample;
	struct pmp_heap_batch *heap;
	const void *note;
	size_t note_length;
	uint32_t note_kind;
};

/**
 * Make a receiver. fd is borrowed; it may be non-blocking.
 * Returns 0 with *receiver, which is to be freed with pmp_receiver_free(), or PMP_ENOMEM.
 */
int pmp_receiver_new(int fd, struct pmp_receiver **receiver, struct pmp_error *err);
/**
 * Receive what has arrived. Returns 1 with *received filled, 0 when a
 * non-blocking fd has nothing complete yet, PMP_ESRCH when the other end has
 * closed, PMP_EFORMAT when it talks nonsense.
 */
int pmp_receiver_next(struct pmp_receiver *receiver, struct pmp_received *received,
		      struct pmp_error *err);
/** Free a receiver; its socket stays open. Takes NULL. */
void pmp_receiver_free(struct pmp_receiver *receiver);

/* ---- symbolizer: names ------------------------------------------------- */

struct pmp_namer_calls;
struct pmp_symbolizer;

/* A file that is not on this machine. */
struct pmp_wanted_file {
	size_t size;
	const char *build_id; /* lower-case hex, at least 4 digits, an even number */
	const char *path;     /* of the module, raw bytes: for messages */
	bool executable;      /* the program or library itself; else its debug file */
};

struct pmp_symbolizer_options {
	size_t size;
	bool no_symbols; /* addresses only */
	bool no_demangle;
	bool no_inline; /* do not expand inlined functions */
	bool lines;	/* look up file and line */
	/* Directories with separate debug files, colons between; NULL: /usr/lib/debug. */
	const char *debug_dir;
	void (*log)(void *arg, const char *area, const char *line);
	void *log_arg;
	/*
	 * One thread may name while others count, if all of them hold one lock of
	 * the caller's around each call that takes this symbolizer or a profile of
	 * it. Then release is called before what is slow (files of a module are read,
	 * fetched or unpacked) and acquire after it, always in pairs, by the thread
	 * that made the call.
	 *  - Only one thread may name at a time. pmp_symbolizer_name() names; so do
	 *    pmp_profile_write() and pmp_profile_write_diff().
	 *  - While it names others may call what counts (pmp_profile_add()), what never
	 *    is slow (pmp_symbolizer_frame(), _place(), _module(), pmp_live_...()), and
	 *    free nothing.
	 *  - Not while a profile is written: with release set, pmp_profile_add() to
	 *    that profile may move or free what the writer holds. Write with the other
	 *    threads stopped, or with a symbolizer without release.
	 * NULL: there is no such lock, and a handle is used by one thread at a time.
	 */
	void (*release)(void *arg);
	void (*acquire)(void *arg);
	void *lock_arg;
	/* Where the files of the machine are on which a profile was saved, under their
	 * paths or all in one directory; files that are not there are taken from this
	 * machine. NULL: no such place. */
	const char *symfs;
	/* Get a file that is not on this machine, from a server for instance: an open descriptor,
	 * which is the symbolizer's from then on, or -1. Called when a name is looked up
	 * in a module of which this machine has no symbol table or no debug information,
	 * or of a saved profile not the file, with the lock released. Whatever comes is
	 * used only if it has that build-id; whose file it is, the function has to check.
	 * NULL: nothing is got. */
	int (*fetch)(void *arg, const struct pmp_wanted_file *wanted);
	void *fetch_arg;
	/* Have files read in another process, see libpmp-program.h; borrowed for the life of
	 * the symbolizer. NULL: they are read in this one. */
	const struct pmp_namer_calls *namer;
	/* With release: whoever names waits for all names, and not for those on a screen. */
	bool all_at_once;
};

/**
 * The options are copied, with their strings; NULL: all zero. No file is opened before a
 * name is asked for. Large debug information is then unpacked in a thread of its own,
 * with all signals blocked, which ends before the debug information is used or
 * the symbolizer freed. Returns 0 or PMP_ENOMEM.
 */
int pmp_symbolizer_new(const struct pmp_symbolizer_options *options,
		       struct pmp_symbolizer **symbolizer, struct pmp_error *err);
/** After the profiles that were made with it. Takes NULL. */
void pmp_symbolizer_free(struct pmp_symbolizer *symbolizer);

/* A module some of whose frames have no name: for messages. */
struct pmp_module_info {
	size_t size;
	const char *path;     /* raw bytes */
	const char *build_id; /* lower-case hex, or "" */
	const char *problem;  /* NULL, or why names are missing, e.g. "no symbols" */
	bool replaced;	      /* the file on disk is another one by now */
	uint64_t frames;      /* locations asked for in it */
	uint64_t unnamed;     /* of them, without a name */
};
/** Returns how many modules locations are in so far. */
size_t pmp_symbolizer_module_count(const struct pmp_symbolizer *symbolizer);
/** Fill *info, whose size is given, with module i, which is below that count. */
void pmp_symbolizer_module(const struct pmp_symbolizer *symbolizer, size_t i,
			   struct pmp_module_info *info);

/*
 * A place in the code, by a small number: equal addresses of a module have the same
 * one. It is named when that is asked for, once.
 */
typedef uint32_t pmp_location;
#define PMP_LOCATION_NONE UINT32_MAX

/* One function at a location; strings live as long as the symbolizer. */
struct pmp_frame_info {
	size_t size;
	const char *function; /* demangled; "[libfoo.so.1+0x1234]" without a symbol */
	const char *file;     /* NULL: unknown */
	unsigned line;	      /* 0: unknown */
	bool inlined;	      /* has no frame of its own on the stack */
	bool unnamed;	      /* function is a placeholder */
	bool signal;	      /* "<signal handler called>" */
	const char *module;   /* path, raw bytes, "[vdso]", "[anon]" */
	uint64_t address;     /* in the module's own numbering */
};

/**
 * The location of frame i of a thread of a sample, innermost first. Equal addresses of a
 * module have the same location, also in other processes. The number is valid as long as
 * the symbolizer, unless a profile with .max_memory uses that as well.
 *
 * Returns PMP_LOCATION_NONE when there is no such frame, or no memory.
 */
pmp_location pmp_symbolizer_locate_frame(struct pmp_symbolizer *symbolizer,
					 const struct pmp_sample *sample, size_t thread,
					 size_t i);
/** Look the names of a location up, unless they are known. May read large files. */
void pmp_symbolizer_name(struct pmp_symbolizer *symbolizer, pmp_location location);
/**
 * Fill *info with function i at a location, the innermost inlined one first, if there is
 * one. Never slow. Returns the number of its functions; 0: it has not been named yet.
 */
size_t pmp_symbolizer_frame(const struct pmp_symbolizer *symbolizer,
			    pmp_location location, size_t i, struct pmp_frame_info *info);
/** What to show until it is named: "[libfoo.so.1+0x1234]", by file offset. Returns buffer. */
char *pmp_symbolizer_place(const struct pmp_symbolizer *symbolizer, pmp_location location,
			   char *buffer, size_t size);

/* ---- core: a process that has ended ------------------------------------ */

struct pmp_core;

struct pmp_core_options {
	size_t size;
	/* Where files are that the core leaves out: as in pmp_symbolizer_options. exe is the
	 * program, wherever it was. A file is used only if it has the build-id of the core's,
	 * or, where the core does not say that, if it is not newer than the core. All are
	 * borrowed until the core is closed. */
	const char *exe, *symfs, *debug_dir;
	int (*fetch)(void *arg, const struct pmp_wanted_file *wanted);
	void *fetch_arg;
	enum pmp_unwind unwind;
	unsigned max_frames; /* per stack; 0: 512 */
	/* As in pmp_target_options; name is that of the process. */
	bool (*want_thread)(void *arg, pid_t tid, const char *name);
	void *want_arg;
	bool no_waits;	  /* do not look for what threads wait for */
	uint64_t written; /* CLOCK_REALTIME, ns: when the core was; 0: not known */
	void (*log)(void *arg, const char *area, const char *line);
	void *log_arg;
	/* Have it read in another process, see libpmp-program.h; borrowed until
	 * pmp_core_open() returns. NULL, or with want_thread: it is read in this one. */
	const struct pmp_namer_calls *namer;
};

/** Returns whether these are the first bytes of a core file; 18 are enough. */
bool pmp_core_is(const void *start, size_t length);

/**
 * Open a core file, as the kernel and debuggers write them (ELF, of this machine's
 * architecture, 64 bits). fd is borrowed until it is closed, and has to be seekable; name is
 * for messages. What a file that was cut off still has is read.
 *
 * Fails with PMP_EFORMAT (no core file, or no thread is left), PMP_EUNSUPPORTED (of another
 * architecture, or of a 32-bit program), PMP_EINVAL (options.exe is not the program), PMP_EIO,
 * PMP_ENOMEM or PMP_ESRCH (the process that has read it has ended).
 *
 * Returns 0 with *core, which is to be closed with pmp_core_close(), or an error.
 */
int pmp_core_open(int fd, const char *name, const struct pmp_core_options *options,
		  struct pmp_core **core, struct pmp_error *err);

/**
 * Take the sample of all threads. Files that stacks go through are opened.
 *
 * Returns 0 with *sample, which is to be freed with pmp_sample_free() and may outlive the
 * core, or PMP_ENOMEM.
 */
int pmp_core_sample(struct pmp_core *core, struct pmp_sample **sample,
		    struct pmp_error *err);

struct pmp_core_info {
	size_t size;
	pid_t pid;
	const char *name;	/* of the process, raw bytes */
	size_t threads;		/* with registers */
	uint64_t length, meant; /* bytes; meant is more: the file has been cut off */
	bool no_files;		/* it does not say which files were mapped */
	const char
		*crash; /* how it ended: "SIGSEGV (11), SEGV_MAPERR (1), in LWP 4102" */
	size_t threads_left_out; /* as there are more than 524288 */
};
/** Fill *info, whose size is given. Strings are borrowed. */
void pmp_core_info(const struct pmp_core *core, struct pmp_core_info *info);

/* A file that stacks go through and that is not there. */
struct pmp_core_missing_file {
	size_t size;
	const char *path;    /* raw bytes */
	const char *problem; /* why, in English */
	char build_id[136];  /* lower-case hex, or "" */
	bool program;	     /* it is the program itself */
};
/** Fill *missing, whose size is given, with file i of those that were missed by the sample
 * taken. Returns false: there are no more. */
bool pmp_core_missing(const struct pmp_core *core, size_t i,
		      struct pmp_core_missing_file *missing);

/** Close it. Takes NULL. */
void pmp_core_close(struct pmp_core *core);

/* ---- filters: what of a profile is shown -------------------------------- */

/*
 * Patterns that say which stacks and which functions of them are shown, and how
 * functions and groups of threads are called. A filter is made once, given to
 * reports, and not changed while one has it. What is counted does not depend on it
 * (but see pmp_filter_wants_details()): it decides when a report is made.
 */
struct pmp_filter;

/* All expressions are those of PCRE2, without back-references. */
enum pmp_filter_kind {
	PMP_FILTER_FOCUS,  /* only stacks with a function that matches any of these */
	PMP_FILTER_IGNORE, /* no stacks with such a function */
	PMP_FILTER_HIDE,   /* leave such functions out */
	PMP_FILTER_HIDE_MODULE, /* leave functions of such modules out */
	PMP_FILTER_SKIP_MODULE, /* no stacks whose innermost function is in such a module */
	PMP_FILTER_TRIM_ROOT,	/* such a function becomes the root */
	PMP_FILTER_RENAME,	/* s/expression/text/flags: call functions so */
	PMP_FILTER_THREAD_GROUP, /* the same for threads, which are grouped by name then */
	PMP_FILTER_WITHIN,	 /* only stacks that have such a function as well */
	PMP_FILTER_THREAD,	 /* only threads with such a name, */
	PMP_FILTER_GROUP,	 /* or in a group with such a name (conn-N) */
	PMP_FILTER_IDLE_WAIT,	 /* threads that sleep below such a function are idle */
	PMP_FILTER_LOCK_MEANING, /* s/expression/text/flags: what waits in such functions are
				  * for is called so */
	PMP_FILTER_COUNT
};

enum pmp_idle { PMP_IDLE_SHOWN, PMP_IDLE_HIDDEN, PMP_IDLE_ONLY, PMP_IDLE_COUNT };

struct pmp_filter_options {
	size_t size;
	enum pmp_idle idle;   /* threads that wait for work */
	bool fold_recursion;  /* what is repeated at once is shown once */
	bool groups;	      /* threads are counted by groups of their names */
	bool no_fold_threads; /* groups have digits in their names: not conn-N */
	bool ignore_case;     /* of the expressions that are added from now on */
	pid_t pid, tid;	      /* only this process, only this thread; 0: all */
	/* Expressions that are added from now on may take an eighth of the steps; see
	 * pmp_filter_problem(). */
	bool of_strangers;
};

/** Make a filter that changes nothing. Returns 0 with *filter, which is to be freed with
 * pmp_filter_free(), or PMP_ENOMEM. */
int pmp_filter_new(struct pmp_filter **filter, struct pmp_error *err);
/** Make a filter that does what another one does, or, with NULL, nothing: more can be added
 * to it. Returns as pmp_filter_new(). */
int pmp_filter_copy(const struct pmp_filter *from, struct pmp_filter **filter,
		    struct pmp_error *err);
/** Free a filter, after the reports that have it. Takes NULL. */
void pmp_filter_free(struct pmp_filter *filter);
/** Add an expression, which is copied. Returns 0, PMP_ENOMEM, or PMP_EINVAL: the message
 * says what is wrong with the text, without the text. */
int pmp_filter_add(struct pmp_filter *filter, enum pmp_filter_kind kind, const char *text,
		   struct pmp_error *err);
/** Set the options, which are copied, in place of those that it has. */
void pmp_filter_set(struct pmp_filter *filter, const struct pmp_filter_options *options);
/** Copy the options that it has. Without a filter (NULL) they are those of one that changes
 * nothing. */
void pmp_filter_get(const struct pmp_filter *filter, struct pmp_filter_options *options);
/** Returns whether a name matches any of the expressions of a kind (no replacement). */
bool pmp_filter_matches(const struct pmp_filter *filter, enum pmp_filter_kind kind,
			const char *name);
/** Returns PMP_ELIMIT if an expression has taken too many steps, of which each may take half
 * a million and 64 for each byte of a name; the message says which one, and at what. It
 * matches nothing from then on, and reports with this filter fail. Otherwise 0. Takes NULL. */
int pmp_filter_problem(const struct pmp_filter *filter, struct pmp_error *err);
/** Returns whether it changes anything. Takes NULL. */
bool pmp_filter_is_active(const struct pmp_filter *filter);
/** Returns whether it goes by what single threads do or how they are called. A profile
 * that it is used with needs .for_filter then. Takes NULL. */
bool pmp_filter_wants_details(const struct pmp_filter *filter);
/* ---- profile: counted stacks ------------------------------------------- */

struct pmp_profile;

struct pmp_profile_options {
	size_t size;
	bool by_thread;	     /* keep threads apart */
	bool keep_snapshot;  /* keep the last sample of each process (snapshot writers) */
	const char *command; /* how the profile was made, for headers */
	/* Keep threads, their states and what they wait for apart: for formats
	 * that have .details. */
	bool details;
	bool times;	  /* keep when threads were where: formats with .times */
	uint64_t period;  /* ns between samples, as planned; 0: unknown */
	const char *host; /* the name of the machine, for headers */
	bool live;	  /* count for a view as well: pmp_profile_live() */
	/* Bytes for distinct stacks and their names, about; when there are more, those
	 * that are counted least are counted as one, "[evicted]". 0: no limit. */
	uint64_t max_memory;
	/* Keep apart what a filter goes by: pmp_filter_wants_details() of the filter that
	 * reports will have. They put it together again. */
	bool for_filter;
	/* Of saved profiles: the name of the value to count, borrowed. NULL: stacks if the
	 * file counts them, else what it says itself. */
	const char *sample_type;
	/* Keep apart for which locks threads waited, and count for whom: for formats that
	 * have .waits. */
	bool waits;
	/* Bytes, besides max_memory, for the past, any part of which can be counted again:
	 * pmp_profile_window() of libpmp-program.h. 0: it is not kept. history_time: ns
	 * that it reaches back at most, 0: as far as there is memory. */
	uint64_t history;
	uint64_t history_time;
	/* Count what a recorder of a heap has written down, too: pmp_profile_add_heap() of
	 * libpmp-program.h; blocks that live take a quarter of max_memory at most. */
	bool heap;
};

/**
 * Make an empty profile. The symbolizer is borrowed and must outlive it.
 * Returns 0 with *profile, which is to be freed with pmp_profile_free(), or PMP_ENOMEM.
 */
int pmp_profile_new(const struct pmp_profile_options *options,
		    struct pmp_symbolizer *symbolizer, struct pmp_profile **profile,
		    struct pmp_error *err);
/** Count a sample; it can be freed afterwards. Returns 0, PMP_ENOMEM, or PMP_EINVAL: its
 * numbers contradict each other. */
int pmp_profile_add(struct pmp_profile *profile, const struct pmp_sample *sample,
		    struct pmp_error *err);
/** A process has ended: what is kept of it for its next sample goes, what was counted
 * stays. Its id may be given to another process. */
void pmp_profile_forget(struct pmp_profile *profile, pid_t pid);
/** Free a profile, after its reports. Takes NULL. */
void pmp_profile_free(struct pmp_profile *profile);

struct pmp_profile_info {
	size_t size;
	uint64_t samples;  /* snapshots */
	uint64_t stacks;   /* threads times snapshots */
	uint64_t distinct; /* distinct stacks */
	uint64_t truncated;
	uint64_t not_stopped;
	uint64_t vanished;
	uint64_t stops;
	uint64_t stopped;		   /* ns, sum over threads */
	uint64_t stopped_max;		   /* ns, the longest stop of one thread */
	uint64_t stopped_p50, stopped_p99; /* ns, of single stops */
	uint64_t any_stopped;		   /* ns */
	uint64_t first_time, last_time;	   /* CLOCK_MONOTONIC; of saved ones from 0 on */
	uint64_t peeked;		   /* stacks read without a stop */
	uint64_t unchanged;		   /* stacks of threads that had not run */
	uint64_t evicted;		   /* stacks not kept apart, see max_memory, */
	uint64_t evicted_distinct; /* of so many distinct ones, each time they were */
	uint64_t heap_lost; /* records of a recorder that are missing: sums of its stacks
			     * are not those of its totals */
	uint64_t heap_stackless;  /* its samples that have no stack, as that could not be
				   * walked any more */
	uint64_t heap_unrecorded; /* processes that it had no place for */
	uint64_t heap_distinct;	  /* distinct stacks that it has written down */
	uint64_t negative; /* samples of saved profiles that have negative values, as
			    * differences do: these are not counted */
	uint64_t rounds;   /* in each of them every process that was there was sampled
			    * once: of one process, as many as snapshots */
	uint64_t heap_processes; /* whose heap was recorded */
};
/** Fill *info, whose size is given, with the totals of a profile. */
void pmp_profile_info(const struct pmp_profile *profile, struct pmp_profile_info *info);

/* How a profile came about. */
struct pmp_profile_metadata {
	size_t size;
	uint64_t realtime;   /* CLOCK_REALTIME of the first sample, ns; 0: unknown */
	uint64_t duration;   /* ns, from the first to the last */
	uint64_t period;     /* ns between samples, as was asked for; 0: unknown */
	const char *command; /* raw bytes, as the next; "": unknown */
	const char *host;    /* name of the machine */
	/* What is counted, as a saved profile has said, raw bytes: "inuse_space" in
	 * "bytes"; "" both: stacks. */
	const char *type, *unit;
};
/** Fill *metadata, whose size is given. Strings are borrowed until more is counted. */
void pmp_profile_describe(const struct pmp_profile *profile,
			  struct pmp_profile_metadata *metadata);

/* ---- report: what of a profile is written or shown ---------------------- */

/*
 * A report is what writers and programs read: the stacks of a profile after a filter has
 * been applied, and what they are compared with. It borrows the tables of the profile, so
 * it is to be read and written before more is counted; pmp_report_update() brings it up
 * to date after that. Profile, filter and base must outlive it.
 */
struct pmp_report;
struct pmp_heap_base;

struct pmp_report_options {
	size_t size;
	/* The last sample only, if the profile keeps it (.keep_snapshot): for formats with
	 * .snapshots. */
	bool snapshot;
	bool sorted; /* stacks are in order, the most frequent first */
	/* Compare with this report, of another profile; the two may have different
	 * symbolizers. NULL: do not. */
	const struct pmp_report *base;
	/* With a base: pmp_report_stack() gives the stacks of both, those with the same
	 * names as one, with both counts. All names are looked up. Writers do not need it. */
	bool matched;
	/* With .snapshot: of this process. 0: of that whose sample was the last one. */
	pid_t pid;
	/* Of what a recorder has written down, if the profile counts that (.heap): counts
	 * are alloc_objects, alloc_space, inuse_objects or inuse_space (NULL: that one), of
	 * blocks that are at least so old (ns). */
	bool heap;
	const char *heap_value;
	uint64_t heap_age;
	/* The time, CLOCK_MONOTONIC, for ages of blocks in processes that run: what does not
	 * allocate is not heard of. NULL: the time of what was heard last. */
	uint64_t (*heap_now)(void);
	bool with_heap; /* of that as well: for formats with .heap PMP_HEAP_TOO */
	/* With .heap: of what has changed since, for the formats pprof, heap and growth; see
	 * pmp_profile_heap_base(). NULL: of all. */
	const struct pmp_heap_base *heap_since;
};

/**
 * Make a report of all that has been counted so far.
 *
 * filter may be NULL. With one, or with .matched, names of functions are looked up, which
 * may read large files. Fails with PMP_ENOMEM, or PMP_EINVAL: what the base counts is
 * something else, or PMP_ESRCH: there is no snapshot of options.pid, or PMP_ELIMIT: see
 * pmp_filter_problem(), also when it is written.
 *
 * Returns 0 with *report, which is to be freed with pmp_report_free(), before the
 * profile, or an error.
 */
int pmp_report_new(struct pmp_profile *profile, const struct pmp_filter *filter,
		   const struct pmp_report_options *options, struct pmp_report **report,
		   struct pmp_error *err);
/**
 * Make it again of all that has been counted by now. A base is not updated by this.
 * Returns 0 or an error, as pmp_report_new() does; the report is empty then.
 */
int pmp_report_update(struct pmp_report *report, struct pmp_error *err);
/** Free a report, before its profile, filter and base. Takes NULL. */
void pmp_report_free(struct pmp_report *report);

struct pmp_report_info {
	size_t size;
	size_t stacks;	  /* that it has, and with options.matched its base; of a
				 * snapshot: threads */
	size_t distinct;  /* without those that are CPU time only; of a snapshot 0 */
	uint64_t counted; /* stacks that were counted in the profile */
	uint64_t shown;	  /* of them, those that the filter has let pass: of a snapshot
				 * and all for which the report was updated before */
};
/** Fill *info, whose size is given, with the totals of a report. */
void pmp_report_info(const struct pmp_report *report, struct pmp_report_info *info);

/* A stack of a report; of a snapshot: of a thread. Strings are raw bytes. */
struct pmp_stack_info {
	size_t size;
	pid_t pid;
	pid_t tid; /* 0: threads were not kept apart */
	const char *process;
	const char *thread;  /* "": likewise */
	char state;	     /* as in proc(5), most recently */
	const char *syscall; /* name of the call it sleeps in; "": none, or not known */
	const char *wchan;   /* where it sleeps in the kernel; "": not known */
	const char *reason;  /* why the thread was not stopped, or "" */
	const char *end;     /* why the stack does not reach its root, or "" */
	const pmp_location *locations; /* innermost first */
	size_t location_count;
	uint64_t count; /* how often it was found; of bytes: so many */
	uint64_t cpu;	/* ns on a CPU */
	uint64_t wall;	/* ns that the threads were found with it */
	/* With options.matched: the same in the base, which pmp_diff_info.factor scales.
	 * pid to reason are those of one of the stacks that have these names. */
	uint64_t base_count;
	/* The report whose locations these are, for pmp_report_frame(): the base if only
	 * that has the stack, else the one that was asked. */
	const struct pmp_report *report;
};
/**
 * Stack i of a report, which is below pmp_report_info.stacks, in no order unless
 * options.sorted. Borrowed until the report is updated.
 *
 * Returns false and leaves *info alone when there is none.
 */
bool pmp_report_stack(const struct pmp_report *report, size_t i,
		      struct pmp_stack_info *info);
/**
 * One function at a location of a stack of this report: number i, the innermost inlined one
 * first. Looks the names up, which may read large files. Strings live as long as the
 * report.
 *
 * Returns the number of functions at the location, at least 1; *info is filled if i is
 * below it.
 */
size_t pmp_report_frame(const struct pmp_report *report, pmp_location location, size_t i,
			struct pmp_frame_info *info);

/* ---- writers: one format each ------------------------------------------ */

/* Where a writer writes: returns 0 or a negative errno, all of it or an error. */
struct pmp_sink {
	int (*write)(void *arg, const void *data, size_t length);
	void *arg;
};

/* Columns to sort by: numbers descending, the others ascending. */
enum pmp_sort {
	PMP_SORT_USUAL,
	PMP_SORT_SELF,
	PMP_SORT_TOTAL,
	PMP_SORT_SAMPLES,
	PMP_SORT_CPU,
	PMP_SORT_TID,
	PMP_SORT_NAME,
	PMP_SORT_STATE,
	PMP_SORT_COUNT
};

/* Which labels samples of the format pprof have. */
enum pmp_labels {
	PMP_LABELS_ALL,
	PMP_LABELS_NAMES, /* process and thread */
	PMP_LABELS_NONE,
};

struct pmp_write_options {
	size_t size;
	bool by_thread;	   /* threads apart: names as the root */
	bool lines;	   /* file:line where known */
	bool module;	   /* module names */
	bool raw_names;	   /* names of threads in the raw format */
	const char *title; /* of pictures; NULL: the name of the process */
	unsigned width;	   /* of pictures, in pixels; 0: 1200 */
	bool icicle;	   /* pictures grow from the top */
	bool by_state;	   /* their colours say what threads were doing */
	bool legend;	   /* tables explain their columns */
	bool all_rows;	   /* of a comparison, those as well that say little */
	unsigned columns;  /* what fits into a line of a comparison or of locks; 0: all */
	enum pmp_sort sort; /* of rows, where the format has such a column */
	bool proto;	    /* of formats with .proto: as what pprof reads, compressed */
	bool waits;	    /* folded: what threads wait for, of a profile with .waits */
	bool by_lock;	    /* pictures: colours say which lock they wait for, likewise */
	/* Of what formats with .values write only this: "cpu", "wall", "offcpu" (ns), or
	 * "threads" (how many there were, of one snapshot). NULL: all, as they usually do. */
	const char *value;
	enum pmp_labels labels;
	bool since_start; /* of formats with .proto: sums since pmp began, and so of no
			   * length: who fetches them again takes the difference */
};

/* What a format has of a heap that was recorded. */
enum pmp_heap_use {
	PMP_HEAP_NOTHING,
	PMP_HEAP_ALONE, /* nothing else: wants reports with .heap */
	PMP_HEAP_TOO,	/* beside samples: wants reports with .with_heap */
};

struct pmp_format {
	const char *name;
	const char *help;
	const char *extension; /* without a dot */
	const char *mime;
	bool snapshots; /* written snapshot after snapshot, not at the end */
	bool peers;	/* shows who of other processes is waited for: wants targets with
			 * PMP_WAITS_PEERS */
	bool once;	/* one snapshot is what people want of it */
	bool asleep;	/* shows since when threads sleep: wants a target with .asleep */
	bool live;	/* of snapshots only: not of what was counted or saved */
	bool details;	/* shows more than stacks: wants a profile with
				 * .details, and a symbolizer with .lines */
	bool times;	/* wants a profile with .times */
	bool binary;	/* not for a terminal */
	bool compares;	/* can write a report with a base */
	unsigned sorts; /* bit 1 << enum pmp_sort: it has such a column */
	bool waits;	/* wants a profile with .waits */
	bool proto;	/* can be written in the form of pprof: write_options.proto */
	bool values;	/* can be written with one value only: write_options.value */
	bool census;	/* shows what a heap holds: wants targets with .census */
	enum pmp_heap_use heap;
};

/** Returns the number of formats of this build. */
size_t pmp_format_count(void);
/** Returns format i in the order of --help, which is below that number. */
const struct pmp_format *pmp_format(size_t i);
/** Returns the format of a name, or NULL: there is none. */
const struct pmp_format *pmp_format_find(const char *name);

/**
 * Write a report. A format with .snapshots writes the last sample if the report is one of
 * a snapshot, else all stacks with their counts. A report with a base is written as a
 * comparison. Names are looked up meanwhile.
 *
 * Returns 0, PMP_EINVAL (the format has no form for a base, or none for a snapshot),
 * PMP_ENOMEM, or PMP_EIO: the sink has failed.
 */
int pmp_report_write(const struct pmp_report *report, const struct pmp_format *format,
		     const struct pmp_write_options *options, const struct pmp_sink *sink,
		     struct pmp_error *err);

/* ---- comparing two profiles ---------------------------------------------- */

/*
 * What to know of a comparison. Stacks belong together when they have the same names.
 * The base's counts are scaled to as many snapshots as the other profile has.
 */
struct pmp_diff_info {
	size_t size;
	double factor;	   /* what the base's counts are multiplied by */
	bool by_totals;	   /* it makes the sums equal, as one of the two does */
	bool counted;	   /* not know its number of snapshots: the profile */
	bool base_counted; /* does, the base does */
	/* NULL, or the names of the one process that each of the two is of: they
	 * differ and are taken for the same. */
	const char *process, *base_process;
};
/** Of a report that has a base. */
void pmp_report_diff_info(const struct pmp_report *report, struct pmp_diff_info *info);

/* ---- saved profiles ----------------------------------------------------- */

/**
 * Read a profile that was written in the format pprof, by pmp or by another
 * program, compressed or not, and count it into this one. fd is read to its end;
 * name is for messages. What was saved without names is named from the files on
 * this machine that have the same build-ids.
 *
 * Returns 0, PMP_EFORMAT (damaged, or something else), PMP_ELIMIT (too large) or
 * PMP_EIO; then a part of it may have been counted. PMP_EINVAL: it has no values of the
 * sample_type, or what it counts is not what the profile has counted so far. PMP_ESRCH: the
 * process that has read it (struct pmp_symbolizer_options, namer) has ended.
 */
int pmp_profile_read(struct pmp_profile *profile, int fd, const char *name,
		     struct pmp_error *err);

/* ---- processes, text --------------------------------------------------- */

/**
 * Processes whose name (comm or base name of the executable) matches a regular
 * expression, in ascending order, the caller excepted. Returns their number, PMP_EINVAL,
 * PMP_ELIMIT (as pmp_filter_problem() has it), PMP_ENOMEM or PMP_EIO; *pids is to be freed
 * with free().
 */
int pmp_find_processes(const char *regex, pid_t **pids, struct pmp_error *err);

struct pmp_found_process {
	size_t size;	   /* set by the caller: sizeof(struct pmp_found_process) */
	uid_t user;	   /* who started it: its real user id */
	bool changed_user; /* its effective user id is another one (setuid) */
	char name[64];	  /* the one that matches, comm if both do; cut if it is longer */
	uint64_t started; /* when it began: see struct pmp_target_options */
};

/**
 * Which name of a process matches, and whose it is: any user may run a process of any name.
 * Returns 0, PMP_ESRCH if it has ended or does not match any more, PMP_EINVAL, PMP_ELIMIT or
 * PMP_ENOMEM.
 */
int pmp_find_process(const char *regex, pid_t pid, struct pmp_found_process *found,
		     struct pmp_error *err);

/**
 * Make text of unknown origin fit for a terminal: control characters, DEL, C1
 * and what is not UTF-8 become \xNN. Writes at most size bytes with the final
 * NUL, whole escapes only. Returns buffer.
 */
char *pmp_escape(const char *text, char *buffer, size_t size);

#ifdef __cplusplus
}
#endif

#endif
