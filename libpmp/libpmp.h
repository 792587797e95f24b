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
 *  - Returned strings and arrays are borrowed: they live as long as the handle
 *    they came from, unless stated otherwise.
 *  - An options struct begins with its own size, so that fields can be added;
 *    all zero (except size) means the defaults, and so does a NULL pointer.
 *  - Addresses are uint64_t, times are nanoseconds in uint64_t.
 *  - The library never prints, exits, forks, installs signal handlers or
 *    changes the locale; it waits only for threads that it has seized itself.
 *    Other threads of the program may call waitpid(-1): a stop that they reap
 *    is noticed a millisecond late, not lost. See also pmp_target_options.
 *  - A handle is used by one thread at a time. A process cannot profile
 *    itself: fork a helper.
 *
 * Interfaces that only a program such as pmp needs (live views, new processes)
 * are in libpmp-program.h.
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

/** Returns the version of the library, for example "0.1". */
const char *pmp_version(void);

/* ---- errors ----------------------------------------------------------- */

enum pmp_status {
	PMP_OK = 0,
	PMP_EINVAL = -1,       /* an argument makes no sense */
	PMP_ENOMEM = -2,       /* not enough memory */
	PMP_ESRCH = -3,	       /* no such process, or it has exited */
	PMP_EPERM = -4,	       /* not permitted, or traced by another process */
	PMP_EIO = -5,	       /* reading or writing failed */
	PMP_ELIMIT = -6,       /* a limit was reached: descriptors, size, time */
	PMP_EFORMAT = -7,      /* malformed input */
	PMP_EUNSUPPORTED = -8, /* not supported by this build or kernel */
};

/*
 * message says what was attempted, on what, and why it failed, without a full
 * stop; hint is empty or suggests one next step. Text from the target is
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
	PMP_STOP_AUTO,	/* one thread after another, each for microseconds */
	PMP_STOP_ALL,	/* all threads together: one consistent instant */
	PMP_STOP_NEVER, /* only peek at those that are blocked */
};

enum pmp_unwind {
	PMP_UNWIND_AUTO, /* call-frame information, else frame pointers */
	PMP_UNWIND_CFI,
	PMP_UNWIND_FP,
};

/* How far a capture looks for what threads wait for. */
enum pmp_waits {
	PMP_WAITS_HOLDERS, /* which threads hold the locks in memory: one read of 128 bytes
			    * for each blocked thread */
	PMP_WAITS_NONE,
	/* Also file locks, pipes, sockets, children and semaphores, with the processes
	 * that hold them or are at the other end. If any thread waits for one of these,
	 * each capture takes 5 to 8 us of CPU for each open descriptor of every
	 * process. */
	PMP_WAITS_PEERS,
};

/* What a heap census distinguishes; see struct pmp_target_options. */
enum pmp_census_of {
	PMP_CENSUS_NONE,  /* no census: threads are captured */
	PMP_CENSUS_SIZES, /* sizes of blocks */
	PMP_CENSUS_TYPES, /* also what their first words point to, for example classes */
};

struct pmp_recorder;

struct pmp_target_options {
	size_t size;
	enum pmp_stop stop;
	enum pmp_unwind unwind;
	bool no_restart;     /* do not repair EINTR (see pmp(1)) */
	unsigned max_frames; /* per stack; 0: 512 */
	/* Called for each thread before it is touched; return false to leave it
	 * alone. NULL: all threads. */
	bool (*want_thread)(void *arg, pid_t tid, const char *name);
	void *want_arg;
	/* While a thread is held, *held_since is the CLOCK_MONOTONIC time since when, else
	 * 0. It is written with __atomic_store_n(); a supervisor may watch it with
	 * __atomic_load_n(). NULL: not wanted. */
	uint64_t *held_since;
	/* Receives debug messages, one line each; area is a word such as "stop". NULL:
	 * silent. */
	void (*log)(void *arg, const char *area, const char *line);
	void *log_arg;
	/* Also show the kernel functions of blocked threads, which requires
	 * CAP_SYS_ADMIN. */
	bool kernel;
	/* Called with true before threads are stopped and with false once the last of them
	 * has been released: for a watchdog that kills this process if it hangs in
	 * between, because the kernel releases the threads of a dead tracer. Called again
	 * with true at least every 200 ms while stops go on, and by each pmp_target_reap()
	 * that still awaits a thread. No thread is held during the call, unless an awaited
	 * one has just stopped. NULL: not wanted. */
	void (*holding)(void *arg, bool begins);
	void *holding_arg;
	/*
	 * Side effects of a capture on the calling process, and how to avoid them.
	 *
	 * SIGCHLD is blocked in the calling thread while threads are held, because it ends
	 * the wait for their stops; one that was meant for another child is sent to the
	 * process again afterwards, without its siginfo. keep_sigchld: SIGCHLD is left
	 * alone, and stops are noticed up to 0.1 ms late, as they are where no SIGCHLD
	 * arrives.
	 */
	bool keep_sigchld;
	/* The calling thread switches to SCHED_RR while it holds threads, if that is
	 * permitted and it has no priority of its own. keep_scheduling: do not switch. */
	bool keep_scheduling;
	/* How many threads of the target keep a descriptor open: with it, checking whether
	 * the thread has run takes a fifth of the time. 128 of RLIMIT_NOFILE always stay
	 * unused. 0: 256. */
	unsigned descriptors;
	/* ns after which a capture stops no more threads. The remaining ones are in the
	 * sample as not stopped, with the reason "time limit"; stops under way are
	 * finished, which takes at most 2 s. 0: no limit. */
	uint64_t time_limit;
	/* Do not read where in the kernel threads sleep, which only formats with .details
	 * and live views show: saves a fifth of the time of the first peek at a thread. */
	bool no_wchan;
	/* How far to look for what blocked threads wait for. */
	enum pmp_waits waits;
	/* Find out since when waiting threads have been asleep: 25 to 40 us for each that
	 * has fallen asleep. If the previous capture was at most 0.2 s ago, threads that
	 * have run since are reported as asleep from now on, and the next capture finds
	 * out the true time. The calling thread moves for 0.1 ms to each processor on
	 * which one of them last ran, except isolated ones. */
	bool asleep;
	/* The same, but only in the first capture and if the previous one was at least a
	 * second ago. */
	bool asleep_before;
	/* Called at least every few milliseconds of CPU time while a stack takes long to
	 * unwind, and for each thread that may wait for another process: a sign of life
	 * for a supervisor. NULL: not wanted. */
	void (*alive)(void *arg);
	void *alive_arg;
	/* Instead of threads, capture what the heap of glibc's malloc holds, while the
	 * process runs: for formats with .census. Pages that are not in memory are left
	 * alone. Fails with PMP_EUNSUPPORTED for any other allocator. */
	enum pmp_census_of census;
	unsigned census_cpu; /* limit, in percent of one processor; 0: none */
	/* Frames of this recorder (libpmp-program.h) are left out of stacks. It must
	 * outlive the target. NULL: no recorder. */
	const struct pmp_recorder *recorder;
	/* Start time of the wanted process: field 22 of its stat (proc_pid_stat(5)), as in
	 * struct pmp_found_process. If the pid has been reused, opening fails with
	 * PMP_ESRCH. 0: any process with this pid. */
	uint64_t started;
	/* The program's handler of SIGCHLD calls pmp_target_sigchld(). Without that, a
	 * target with several threads that executes another program during a stop may wait
	 * for this process, which waits for the target (PTRACE_SEIZE waits for an execve(),
	 * and that until this process has taken the reports of seized threads that ended). All
	 * threads but the one that captures must block SIGCHLD. Not with keep_sigchld. */
	bool handles_sigchld;
};

/* The module of the kernel's functions. The kernel hides their addresses, so
 * pmp derives addresses from their names. */
#define PMP_KERNEL_MODULE "[kernel.kallsyms]"

/**
 * Open a process for capturing. Nothing is stopped yet.
 *
 * Fails with PMP_ESRCH (no such process, zombie, kernel thread), PMP_EPERM (the
 * message says why), PMP_EUNSUPPORTED (32-bit program). A thread id that is not
 * a process id is refused with a hint.
 *
 * Returns 0 and sets *target, to be closed with pmp_target_close(), or an error.
 */
int pmp_target_open(pid_t pid, const struct pmp_target_options *options,
		    struct pmp_target **target, struct pmp_error *err);

/**
 * Take one sample of all threads. Threads are held only inside this call.
 *
 * A thread that could not be read is in the sample with the reason. Fails with PMP_ESRCH
 * if the process has exited.
 *
 * Returns 0 and sets *sample, to be freed with pmp_sample_free(), or an error. The sample
 * may outlive the target.
 */
int pmp_target_capture(struct pmp_target *target, struct pmp_sample **sample,
		       struct pmp_error *err);

/**
 * Make the next capture look for other processes, as with PMP_WAITS_PEERS: for programs
 * that need this only now and then. No effect with PMP_WAITS_NONE.
 */
void pmp_target_look_for_peers(struct pmp_target *target);

/**
 * Release threads that stopped too late for the capture that requested it. Call it every
 * few milliseconds between captures while it returns more than 0, in the thread that made
 * the capture: only that thread can release them, or the kernel when it exits. NULL: the
 * threads of targets that this thread has closed.
 *
 * Returns the number of threads of the target still awaited.
 */
size_t pmp_target_reap(struct pmp_target *target);

/**
 * For a handler of SIGCHLD, see handles_sigchld in struct pmp_target_options: takes the
 * reports of threads that have exited while this thread waits in PTRACE_SEIZE.
 * Async-signal-safe, in a thread that has made a capture if this library was loaded with
 * dlopen().
 */
void pmp_target_sigchld(void);

/**
 * Sleep for ns nanoseconds, and call pmp_target_reap() as often as needed meanwhile: for
 * programs that have nothing else to do between two captures. Returns early when a signal
 * handler has run, unless threads are awaited.
 */
void pmp_target_sleep(struct pmp_target *target, uint64_t ns);

/** Returns the id of the process. */
pid_t pmp_target_pid(const struct pmp_target *target);
/** Returns the name of the process (comm), the kernel's raw bytes. */
const char *pmp_target_name(const struct pmp_target *target);
/** Returns the start time of the process: see .started of its options. */
uint64_t pmp_target_started(const struct pmp_target *target);
/** Returns true once the process has exited. */
bool pmp_target_ended(const struct pmp_target *target);

/**
 * Close a target. Threads still awaited (see pmp_target_reap()) have 20 ms to stop and are
 * released. Those that do not stop in time, for example because they hang in the kernel,
 * are not forgotten: any later capture, reap or close in this thread releases them, and so
 * does its exit. A program that makes no such call must call pmp_target_reap(NULL) until
 * it returns 0, or pmp_target_sleep(NULL, ...). held_since and holding are not used any
 * more.
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
	size_t skipped;	      /* rejected by want_thread */
	size_t vanished;      /* exited before they could be read */
	size_t n_stopped;     /* stopped for a moment to be read */
	size_t n_peeked;      /* read while blocked, without a stop */
	size_t n_unchanged;   /* have not run since their last sample */
	size_t n_not_stopped;
	size_t truncated; /* stacks that do not reach their root */
	bool execed;	  /* the process has exec'ed since the last sample */
	/* PMP_WAITS_PEERS: processes whose descriptors may not be read: threads may be
	 * waiting for one of them. */
	size_t hidden;
	/* Who may look at the process: the owner of its files in /proc, root if only root
	 * may; PMP_OWNERS: unknown, or changed while the sample was taken. */
	uid_t owner;
};

#define PMP_OWNERS ((uid_t)-1)

/** Fill *info, whose .size must be set, with the totals of a sample. */
void pmp_sample_info(const struct pmp_sample *sample, struct pmp_sample_info *info);

/* How a thread of a sample was read. */
enum pmp_obtained {
	PMP_STOPPED,	      /* stopped for a moment */
	PMP_PEEKED,	      /* read while blocked, without a stop */
	PMP_UNCHANGED,	      /* has not run since its last sample */
	PMP_NOT_STOPPED,      /* left alone, for a reason */
	PMP_OBTAINED_UNKNOWN, /* from saved profiles and cores, which do not say this, nor
			       * the arguments of system calls */
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
	bool exact;	    /* pc is the next instruction; else the call is before pc */
	bool signal;	    /* the trampoline that a signal handler returns to */
	const char *module; /* path, raw bytes, "[vdso]"; "": pc is in no mapping */
	uint64_t offset;    /* of pc in the module's file */
	bool deleted;	    /* the file is no longer there under this path */
	/* The module's build-id as the linker wrote it (usually 20 bytes); NULL and 0: it
	 * has none, or its file could not be read. */
	const uint8_t *build_id;
	size_t build_id_size;
};
/**
 * Frame i of a thread, innermost first, without a name: see pmp_symbolizer_locate_frame().
 * Strings and bytes are borrowed from the sample. The build-id is read at the first call
 * for a module, from the file that the capture opened.
 *
 * Returns false and leaves *info unchanged if there is no such thread or frame.
 */
bool pmp_sample_frame(const struct pmp_sample *sample, size_t thread, size_t i,
		      struct pmp_sample_frame_info *info);

/** Free a sample. Takes NULL. */
void pmp_sample_free(struct pmp_sample *sample);

/*
 * Samples sent over a stream socket, so that one process can capture and another one count
 * and look up names. Descriptors of the target's modules are sent along (SCM_RIGHTS), each
 * once. Structs are sent as they are in memory, so both ends must be of the same build: a
 * receiver rejects another version, or other struct sizes, with PMP_EFORMAT.
 */
struct pmp_sender;
struct pmp_receiver;
struct pmp_heap_batch;

/**
 * Make a sender. fd is borrowed: a connected AF_UNIX stream socket. Returns 0 and sets
 * *sender, to be freed with pmp_sender_free(), or PMP_ENOMEM.
 */
int pmp_sender_new(int fd, struct pmp_sender **sender, struct pmp_error *err);
/** Send a sample; may block. Returns 0, PMP_ESRCH if the other end has closed the socket,
 * or another error. */
int pmp_sender_sample(struct pmp_sender *sender, const struct pmp_sample *sample,
		      struct pmp_error *err);
/** Send a message of the caller's own (at most 64 KiB), with a number. Returns 0 or an
 * error, as pmp_sender_sample() does; PMP_EINVAL: too long. */
int pmp_sender_note(struct pmp_sender *sender, uint32_t kind, const void *data,
		    size_t length, struct pmp_error *err);
/** A process has exited: release its modules at both ends. Returns 0 or an error, as
 * pmp_sender_sample() does. */
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
 * Make a receiver. fd is borrowed; it may be non-blocking. Returns 0 and sets *receiver,
 * to be freed with pmp_receiver_free(), or PMP_ENOMEM.
 */
int pmp_receiver_new(int fd, struct pmp_receiver **receiver, struct pmp_error *err);
/**
 * Receive one message. Returns 1 with *received filled, 0 if a non-blocking fd
 * has nothing complete yet, or so much that the caller should look after others
 * before it polls this fd again. PMP_ESRCH if the other end has closed the socket,
 * PMP_EFORMAT if what it sent is malformed, PMP_ELIMIT if that is more than is kept.
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
	 * One thread may look up names while others count, if all of them hold a lock of
	 * the caller's around each call that takes this symbolizer or a profile of it. The
	 * symbolizer then calls release before slow work (reading, fetching or unpacking
	 * files of a module) and acquire after it, always in pairs, in the thread that
	 * made the call.
	 *  - Only one thread may look up names at a time: with pmp_symbolizer_name() or
	 *    anything else that looks them up, as pmp_report_write() does.
	 *  - Meanwhile others may count (pmp_profile_add()) and call what is never slow
	 *    (pmp_symbolizer_frame(), _place(), _module(), pmp_live_...()), but free
	 *    nothing.
	 *  - Not while a report is written: with release set, pmp_profile_add() to its
	 *    profile may move or free what the writer uses. Write with the other threads
	 *    stopped, or with a symbolizer without release.
	 * NULL: no such lock; a handle
	 *    is used by one thread at a time.
	 */
	void (*release)(void *arg);
	void (*acquire)(void *arg);
	void *lock_arg;
	/* Directory with the files of the machine on which a profile was saved, under
	 * their paths or all in this one directory; files missing there are taken from
	 * this machine. NULL: none. */
	const char *symfs;
	/* Get a file that is not on this machine, for example from a server. Returns an
	 * open descriptor, which the symbolizer then owns, or -1. Called with the lock
	 * released, when a name is looked up in a module that has no symbol table or no
	 * debug information here, or, for a saved profile, whose file is missing. The file
	 * is used only if it has that build-id; checking its owner is up to the function.
	 * NULL: fetch nothing. */
	int (*fetch)(void *arg, const struct pmp_wanted_file *wanted);
	void *fetch_arg;
	/* Read files in another process, see libpmp-program.h; borrowed for the life of
	 * the symbolizer. NULL: read them in this one. */
	const struct pmp_namer_calls *namer;
	/* With release: look up all names at once, because the caller needs all of them
	 * and not only those on a screen. */
	bool all_at_once;
};

/**
 * Make a symbolizer. The options are copied, with their strings; NULL: all zero. No file
 * is opened before a name is looked up. Large debug information is then unpacked in a
 * separate thread, with all signals blocked, which exits before the debug information is
 * used or the symbolizer freed. Returns 0 or PMP_ENOMEM.
 */
int pmp_symbolizer_new(const struct pmp_symbolizer_options *options,
		       struct pmp_symbolizer **symbolizer, struct pmp_error *err);
/** Free a symbolizer, after the profiles that were made with it. Takes NULL. */
void pmp_symbolizer_free(struct pmp_symbolizer *symbolizer);

/* A module, and how many of its frames have no name: for messages. */
struct pmp_module_info {
	size_t size;
	const char *path;     /* raw bytes */
	const char *build_id; /* lower-case hex, or "" */
	const char *problem;  /* NULL, or why names are missing, e.g. "no symbols" */
	bool replaced;	      /* the file on disk has been replaced */
	uint64_t frames;      /* locations looked up in it */
	uint64_t unnamed;     /* of these, without a name */
};
/** Returns the number of modules that have locations so far. */
size_t pmp_symbolizer_module_count(const struct pmp_symbolizer *symbolizer);
/** Fill *info, whose .size must be set, with module i, which must be below that count. */
void pmp_symbolizer_module(const struct pmp_symbolizer *symbolizer, size_t i,
			   struct pmp_module_info *info);

/*
 * A place in the code, as a small number: equal addresses of a module have the same one.
 * Its name is looked up once, on request.
 */
typedef uint32_t pmp_location;
#define PMP_LOCATION_NONE UINT32_MAX

/* One function at a location; strings live as long as the symbolizer. */
struct pmp_frame_info {
	size_t size;
	const char *function; /* demangled; "[libfoo.so.1+0x1234]" without a symbol */
	const char *file;     /* NULL: unknown */
	unsigned line;	      /* 0: unknown */
	bool inlined;	      /* has no stack frame of its own */
	bool unnamed;	      /* function is a placeholder */
	bool signal;	      /* "<signal handler called>" */
	const char *module;   /* path, raw bytes, "[vdso]", "[anon]" */
	uint64_t address;     /* in the module's own numbering */
	const char *readable; /* with .no_demangle: function, demangled; NULL: the same */
};

/**
 * The location of frame i of a thread of a sample, innermost first. Equal addresses of a
 * module have the same location, also in other processes. The number is valid as long as
 * the symbolizer, unless a profile with .max_memory uses the same symbolizer.
 *
 * Returns PMP_LOCATION_NONE if there is no such frame, or no memory.
 */
pmp_location pmp_symbolizer_locate_frame(struct pmp_symbolizer *symbolizer,
					 const struct pmp_sample *sample, size_t thread,
					 size_t i);
/** Look up the names of a location, unless they are known. May read large files. */
void pmp_symbolizer_name(struct pmp_symbolizer *symbolizer, pmp_location location);
/**
 * Fill *info with function i at a location, the innermost inlined one first, if there is
 * one. Never slow. Returns the number of functions at the location; 0: its names have not
 * been looked up yet.
 */
size_t pmp_symbolizer_frame(const struct pmp_symbolizer *symbolizer,
			    pmp_location location, size_t i, struct pmp_frame_info *info);
/** What to show until the name is known: "[libfoo.so.1+0x1234]", by file offset. Returns
 * buffer. */
char *pmp_symbolizer_place(const struct pmp_symbolizer *symbolizer, pmp_location location,
			   char *buffer, size_t size);

/* ---- core: a process that has ended ------------------------------------ */

struct pmp_core;

struct pmp_core_options {
	size_t size;
	/* Where to find mapped files whose contents the core omits: as in
	 * pmp_symbolizer_options. exe is the program, wherever it was. A file is used only
	 * if its build-id is the one in the core or, if the core does not have that, if it
	 * is not newer than the core. All are borrowed until the core is closed. */
	const char *exe, *symfs, *debug_dir;
	int (*fetch)(void *arg, const struct pmp_wanted_file *wanted);
	void *fetch_arg;
	enum pmp_unwind unwind;
	unsigned max_frames; /* per stack; 0: 512 */
	/* As in pmp_target_options; name is that of the process. */
	bool (*want_thread)(void *arg, pid_t tid, const char *name);
	void *want_arg;
	bool no_waits;	  /* do not look for what threads wait for */
	uint64_t written; /* when the core was written, CLOCK_REALTIME, ns; 0: unknown */
	void (*log)(void *arg, const char *area, const char *line);
	void *log_arg;
	/* Read the core in another process, see libpmp-program.h; borrowed until
	 * pmp_core_open() returns. NULL, or with want_thread: read it in this one. */
	const struct pmp_namer_calls *namer;
};

/** Returns whether these are the first bytes of a core file; 18 are enough. */
bool pmp_core_is(const void *start, size_t length);

/**
 * Open a core file, as the kernel and debuggers write them (ELF, of this machine's
 * architecture, 64 bits). fd must be seekable and is borrowed until the core is closed;
 * name is for messages. Of a truncated file, what is left is read.
 *
 * Fails with PMP_EFORMAT (not a core file, or no thread is left), PMP_EUNSUPPORTED (of
 * another architecture, or of a 32-bit program), PMP_EINVAL (options.exe is not the
 * program), PMP_EIO, PMP_ENOMEM or PMP_ESRCH (the process that was reading it has died).
 *
 * Returns 0 and sets *core, to be closed with pmp_core_close(), or an error.
 */
int pmp_core_open(int fd, const char *name, const struct pmp_core_options *options,
		  struct pmp_core **core, struct pmp_error *err);

/**
 * Take the sample of all threads. Opens the files that occur in stacks.
 *
 * Returns 0 and sets *sample, to be freed with pmp_sample_free(), or PMP_ENOMEM. The
 * sample may outlive the core.
 */
int pmp_core_sample(struct pmp_core *core, struct pmp_sample **sample,
		    struct pmp_error *err);

struct pmp_core_info {
	size_t size;
	pid_t pid;
	const char *name;	/* of the process, raw bytes */
	size_t threads;		/* with registers */
	uint64_t length, meant; /* bytes; meant is larger if the file is truncated */
	bool no_files;		/* it does not say which files were mapped */
	const char
		*crash; /* how it ended: "SIGSEGV (11), SEGV_MAPERR (1), in LWP 4102" */
	size_t threads_left_out; /* when there are more than 524288 */
};
/** Fill *info, whose size is given. Strings are borrowed. */
void pmp_core_info(const struct pmp_core *core, struct pmp_core_info *info);

/* A file that occurs in stacks and is missing. */
struct pmp_core_missing_file {
	size_t size;
	const char *path;    /* raw bytes */
	const char *problem; /* why, in English */
	char build_id[136];  /* lower-case hex, or "" */
	bool program;	     /* it is the program itself */
};
/** Fill *missing, whose .size must be set, with file i of those that the sample lacked.
 * Returns false if there are no more. */
bool pmp_core_missing(const struct pmp_core *core, size_t i,
		      struct pmp_core_missing_file *missing);

/** Close it. Takes NULL. */
void pmp_core_close(struct pmp_core *core);

/* ---- filters: what of a profile is shown -------------------------------- */

/*
 * Patterns that select the stacks and functions to show, and rename functions and groups
 * of threads. A filter is made once, given to reports, and must not change while a report
 * uses it. It does not affect counting (but see pmp_filter_wants_details()): it is applied
 * when a report is made.
 */
struct pmp_filter;

/* All expressions are PCRE2, without back-references. */
enum pmp_filter_kind {
	PMP_FILTER_FOCUS,  /* only stacks with a function that matches any of these */
	PMP_FILTER_IGNORE, /* no stacks with such a function */
	PMP_FILTER_HIDE,   /* leave such functions out */
	PMP_FILTER_HIDE_MODULE,	 /* leave functions of such modules out */
	PMP_FILTER_SKIP_MODULE,	 /* no stacks whose innermost function is in such a
				  * module */
	PMP_FILTER_TRIM_ROOT,	 /* such a function becomes the root */
	PMP_FILTER_RENAME,	 /* s/expression/text/flags: rename functions */
	PMP_FILTER_THREAD_GROUP, /* the same for threads, which are then grouped by name */
	PMP_FILTER_WITHIN,	 /* only stacks that also have such a function */
	PMP_FILTER_THREAD,	 /* only threads with such a name, */
	PMP_FILTER_GROUP,	 /* or in a group with such a name (conn-N) */
	PMP_FILTER_IDLE_WAIT,	 /* threads that sleep below such a function are idle */
	PMP_FILTER_LOCK_MEANING, /* s/expression/text/flags: names what waits in such
				  * functions are for */
	PMP_FILTER_COUNT
};

enum pmp_idle { PMP_IDLE_SHOWN, PMP_IDLE_HIDDEN, PMP_IDLE_ONLY, PMP_IDLE_COUNT };

struct pmp_filter_options {
	size_t size;
	enum pmp_idle idle;   /* threads that wait for work */
	bool fold_recursion;  /* show an immediately repeated sequence once */
	bool groups;	      /* count threads in groups of similar names */
	bool no_fold_threads; /* keep digits in names of groups: not conn-N */
	bool ignore_case;     /* in expressions added from now on */
	pid_t pid, tid;	      /* only this process, only this thread; 0: all */
	/* Expressions added from now on may take only an eighth of the steps; see
	 * pmp_filter_problem(). */
	bool of_strangers;
};

/** Make a filter that changes nothing. Returns 0 and sets *filter, to be freed with
 * pmp_filter_free(), or PMP_ENOMEM. */
int pmp_filter_new(struct pmp_filter **filter, struct pmp_error *err);
/** Copy a filter, so that more can be added to the copy; NULL: make one that changes
 * nothing. Returns as pmp_filter_new(). */
int pmp_filter_copy(const struct pmp_filter *from, struct pmp_filter **filter,
		    struct pmp_error *err);
/** Free a filter, after the reports that use it. Takes NULL. */
void pmp_filter_free(struct pmp_filter *filter);
/** Add an expression, which is copied. Returns 0, PMP_ENOMEM, or PMP_EINVAL: the message
 * says what is wrong with text, without quoting it. */
int pmp_filter_add(struct pmp_filter *filter, enum pmp_filter_kind kind, const char *text,
		   struct pmp_error *err);
/** Replace the options of a filter by a copy of these. */
void pmp_filter_set(struct pmp_filter *filter, const struct pmp_filter_options *options);
/** Copy the options of a filter into *options. Without a filter (NULL) they are those of
 * one that changes nothing. */
void pmp_filter_get(const struct pmp_filter *filter, struct pmp_filter_options *options);
/** Returns whether a name matches any of the expressions of a kind (no replacement). */
bool pmp_filter_matches(const struct pmp_filter *filter, enum pmp_filter_kind kind,
			const char *name);
/** Returns PMP_ELIMIT if an expression has taken too many steps: the limit is half a
 * million, plus 64 for each byte of the name; the message says which expression, and for
 * which name. It then matches nothing any more, and reports with this filter fail.
 * Otherwise 0. Takes NULL. */
int pmp_filter_problem(const struct pmp_filter *filter, struct pmp_error *err);
/** Returns whether the filter changes anything. Takes NULL. */
bool pmp_filter_is_active(const struct pmp_filter *filter);
/** Returns whether the filter depends on what single threads do or on their names. If so,
 * profiles that it is used with need .for_filter. Takes NULL. */
bool pmp_filter_wants_details(const struct pmp_filter *filter);
/* ---- profile: counted stacks ------------------------------------------- */

struct pmp_profile;

struct pmp_profile_options {
	size_t size;
	bool by_thread;	     /* count threads separately */
	bool keep_snapshot;  /* keep the last sample of each process (snapshot writers) */
	const char *command; /* how the profile was made, for headers */
	/* Count threads, their states and what they wait for separately: for
	 * formats with .details. */
	bool details;
	bool times;	  /* keep the times of stacks: for formats with .times */
	uint64_t period;  /* ns between samples, as planned; 0: unknown */
	const char *host; /* the name of the machine, for headers */
	bool live;	  /* count for a view as well: pmp_profile_live() */
	/* Approximate limit in bytes for distinct stacks and their names; beyond it the
	 * least frequent ones are merged into one, "[evicted]". 0: no limit. */
	uint64_t max_memory;
	/* Count separately what a filter depends on: set it to pmp_filter_wants_details()
	 * of the reports' filter. Reports merge it again. */
	bool for_filter;
	/* For saved profiles: the name of the value to count, borrowed. NULL: stacks if
	 * the file has them, else the file's own default. */
	const char *sample_type;
	/* Count separately for which locks, and for which holders, threads waited: for
	 * formats with .waits. */
	bool waits;
	/* Bytes, besides max_memory, for a history of which any part can be counted again:
	 * pmp_profile_window() in libpmp-program.h. 0: keep none. history_time: the
	 * longest time in ns to keep; 0: as far back as memory allows. */
	uint64_t history;
	uint64_t history_time;
	/* Also count what a heap recorder has recorded: pmp_profile_add_heap() in
	 * libpmp-program.h; live blocks take at most a quarter of max_memory. */
	bool heap;
};

/**
 * Make an empty profile. The symbolizer is borrowed and must outlive it. Returns 0 and
 * sets *profile, to be freed with pmp_profile_free(), or PMP_ENOMEM.
 */
int pmp_profile_new(const struct pmp_profile_options *options,
		    struct pmp_symbolizer *symbolizer, struct pmp_profile **profile,
		    struct pmp_error *err);
/** Count a sample; it can be freed afterwards. Returns 0, PMP_ENOMEM, or PMP_EINVAL: its
 * numbers contradict each other. */
int pmp_profile_add(struct pmp_profile *profile, const struct pmp_sample *sample,
		    struct pmp_error *err);
/** A process has exited: drop what was kept for its next sample. What was counted stays.
 * Its pid may be reused. */
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
	uint64_t first_time, last_time; /* CLOCK_MONOTONIC; saved profiles start at 0 */
	uint64_t peeked;		/* stacks read without a stop */
	uint64_t unchanged;		/* stacks of threads that had not run */
	uint64_t evicted;		/* stacks merged into "[evicted]", see
					 * max_memory */
	uint64_t evicted_distinct; /* how many distinct ones, counted at each eviction */
	uint64_t heap_lost; /* lost records of a recorder: sums of its stacks then differ
			     * from its totals */
	uint64_t heap_stackless;  /* its samples without a stack, because it could not be
				   * walked any more */
	uint64_t heap_unrecorded; /* processes that it had no room for */
	uint64_t heap_distinct;	  /* distinct stacks that it has recorded */
	uint64_t negative;	  /* samples of saved profiles with negative values, as in
				   * differences: they are not counted */
	uint64_t rounds; /* in each round every process present is sampled once; with one
			  * process this is the number of snapshots */
	uint64_t heap_processes; /* whose heap was recorded */
};
/** Fill *info, whose .size must be set, with the totals of a profile. */
void pmp_profile_info(const struct pmp_profile *profile, struct pmp_profile_info *info);

/* How a profile was made. */
struct pmp_profile_metadata {
	size_t size;
	uint64_t realtime;   /* CLOCK_REALTIME of the first sample, ns; 0: unknown */
	uint64_t duration;   /* ns, from the first to the last */
	uint64_t period;     /* requested ns between samples; 0: unknown, or files of
			      * different ones */
	const char *command; /* raw bytes, like the next; "": unknown */
	const char *host;    /* name of the machine */
	/* What is counted, as a saved profile says, raw bytes: "inuse_space" in "bytes";
	 * both "": stacks. */
	const char *type, *unit;
	bool guessed; /* the number of snapshots: a saved profile does not record it */
};
/** Fill *metadata, whose size is given. Strings are borrowed until more is counted. */
void pmp_profile_describe(const struct pmp_profile *profile,
			  struct pmp_profile_metadata *metadata);

/* ---- report: what of a profile is written or shown ---------------------- */

/*
 * A report is what writers and programs read: the stacks of a profile after a filter has
 * been applied, and what they are compared with. It borrows the tables of the profile, so
 * it must be read and written before more is counted; afterwards pmp_report_update()
 * brings it up to date. Profile, filter and base must outlive it.
 */
struct pmp_report;
struct pmp_heap_base;

struct pmp_report_options {
	size_t size;
	/* Only the last sample, if the profile keeps it (.keep_snapshot): for formats with
	 * .snapshots. */
	bool snapshot;
	bool sorted; /* sort stacks, the most frequent first */
	/* Compare with this report of another profile; the two may have different
	 * symbolizers. NULL: no comparison. */
	const struct pmp_report *base;
	/* With a base: pmp_report_stack() returns the stacks of both, merging those with
	 * the same names into one that has both counts. Looks up all names. Writers do not
	 * need it. */
	bool matched;
	/* With .snapshot: the process to show. 0: the one that was sampled last. */
	pid_t pid;
	/* Report what a recorder has recorded, if the profile counts that (.heap).
	 * heap_value: alloc_objects, alloc_space, inuse_objects or inuse_space (the
	 * default, NULL); heap_age: only blocks at least this old (ns). */
	bool heap;
	const char *heap_value;
	uint64_t heap_age;
	/* Returns the time (CLOCK_MONOTONIC) that block ages in running processes refer
	 * to, because a process that does not allocate sends nothing. NULL: the time of
	 * the last record. */
	uint64_t (*heap_now)(void);
	bool with_heap; /* also the heap: for formats with .heap PMP_HEAP_TOO */
	/* With .heap: only changes since this base, for the formats pprof, heap and
	 * growth; see pmp_profile_heap_base(). NULL: everything. */
	const struct pmp_heap_base *heap_since;
};

/**
 * Make a report of everything counted so far.
 *
 * filter may be NULL. With a filter, or with .matched, names of functions are looked up,
 * which may read large files. Fails with PMP_ENOMEM, PMP_EINVAL (the base counts something
 * else), PMP_ESRCH (there is no snapshot of options.pid) or PMP_ELIMIT (see
 * pmp_filter_problem(); writing the report may return this, too).
 *
 * Returns 0 and sets *report, to be freed with pmp_report_free(), before the profile, or
 * an error.
 */
int pmp_report_new(struct pmp_profile *profile, const struct pmp_filter *filter,
		   const struct pmp_report_options *options, struct pmp_report **report,
		   struct pmp_error *err);
/**
 * Remake a report from everything counted by now. This does not update its base. Returns
 * 0, or an error as pmp_report_new() does; the report is then empty.
 */
int pmp_report_update(struct pmp_report *report, struct pmp_error *err);
/** Free a report, before its profile, filter and base. Takes NULL. */
void pmp_report_free(struct pmp_report *report);

struct pmp_report_info {
	size_t size;
	size_t stacks;	  /* in the report and, with options.matched, its base;
			   * of a snapshot: threads */
	size_t distinct;  /* without those that only have CPU time; of a snapshot 0 */
	uint64_t counted; /* stacks counted in the profile */
	uint64_t shown; /* of these, those that pass the filter; of a snapshot: in it and
			 * all earlier ones that the report was updated for */
	/* What counted and shown are, as in struct pmp_profile_metadata; of a heap the
	 * value of the heap that is counted. Borrowed from the report. */
	const char *type, *unit;
};
/** Fill *info, whose .size must be set, with the totals of a report. */
void pmp_report_info(const struct pmp_report *report, struct pmp_report_info *info);

/* A stack of a report; in a snapshot, the stack of a thread. Strings are raw bytes. */
struct pmp_stack_info {
	size_t size;
	pid_t pid;
	pid_t tid; /* 0: threads were not counted separately */
	const char *process;
	const char *thread;  /* "": likewise */
	char state;	     /* as in proc(5), most recently */
	const char *syscall; /* name of the call it sleeps in; "": none, or unknown */
	const char *wchan;   /* where it sleeps in the kernel; "": unknown */
	const char *reason;  /* why the thread was not stopped, or "" */
	const char *end;     /* why the stack does not reach its root, or "" */
	const pmp_location *locations; /* innermost first */
	size_t location_count;
	uint64_t count; /* how often it was found; or the number of bytes */
	uint64_t cpu;	/* ns on a CPU */
	uint64_t wall;	/* ns during which threads were found with it */
	/* With options.matched: the count in the base, to be multiplied by
	 * pmp_diff_info.factor. pid to reason are those of one of the stacks with these
	 * names. */
	uint64_t base_count;
	/* The report that the locations belong to, for pmp_report_frame(): the base if
	 * only the base has the stack, else the report that was asked. */
	const struct pmp_report *report;
};
/**
 * Stack i of a report, i below pmp_report_info.stacks, in no order unless
 * options.sorted. Borrowed until the report is updated.
 *
 * Returns false and leaves *info unchanged if there is none.
 */
bool pmp_report_stack(const struct pmp_report *report, size_t i,
		      struct pmp_stack_info *info);
/**
 * Function i at a location of a stack of this report, the innermost inlined one first.
 * Looks up names, which may read large files. Strings live as long as the report.
 *
 * Returns the number of functions at the location, at least 1; *info is filled if i is
 * below it.
 */
size_t pmp_report_frame(const struct pmp_report *report, pmp_location location, size_t i,
			struct pmp_frame_info *info);

/* ---- writers: one format each ------------------------------------------ */

/* Where a writer writes to. write() consumes all the data and returns 0, or returns a
 * negative errno. */
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

/* Which labels samples in the format pprof have. */
enum pmp_labels {
	PMP_LABELS_ALL,
	PMP_LABELS_NAMES, /* process and thread */
	PMP_LABELS_NONE,
};

struct pmp_write_options {
	size_t size;
	bool by_thread;	    /* separate threads, with their names as the root */
	bool lines;	    /* file:line where known */
	bool module;	    /* module names */
	bool raw_names;	    /* thread names in the raw format */
	const char *title;  /* of pictures; NULL: the name of the process */
	unsigned width;	    /* of pictures, in pixels; 0: 1200 */
	bool icicle;	    /* pictures grow from the top */
	bool by_state;	    /* colours of pictures show what threads were doing */
	bool legend;	    /* tables explain their columns */
	bool all_rows;	    /* of a comparison, also those of little significance */
	unsigned columns;   /* line width of comparisons and locks; 0: no limit */
	enum pmp_sort sort; /* of rows, where the format has such a column */
	bool proto;	    /* formats with .proto: write what pprof reads, compressed */
	bool waits;	    /* folded: also what threads wait for; needs a profile with
			     * .waits */
	bool by_lock;	    /* pictures: colours show the lock they wait for, likewise */
	/* Formats with .values: write only this value: "cpu", "wall", "offcpu" (ns), or
	 * "threads" (the number of threads in one snapshot). NULL: all values. */
	const char *value;
	enum pmp_labels labels;
	bool since_start; /* formats with .proto: write sums since pmp began, without a
			   * duration: a client that fetches them repeatedly takes the
			   * difference */
};

/* What a format shows of a recorded heap. */
enum pmp_heap_use {
	PMP_HEAP_NOTHING,
	PMP_HEAP_ALONE, /* the heap only: needs reports with .heap */
	PMP_HEAP_TOO,	/* the heap beside samples: needs reports with .with_heap */
};

struct pmp_format {
	const char *name;
	const char *help;
	const char *extension; /* without a dot */
	const char *mime;
	bool snapshots; /* written after each snapshot, not at the end */
	bool peers;	/* shows which other processes are waited for: needs targets with
			 * PMP_WAITS_PEERS */
	bool once;	/* usually wanted for a single snapshot */
	bool asleep;	/* shows since when threads sleep: needs targets with .asleep */
	bool live;	/* only for snapshots: not for counted or saved stacks */
	bool details;	/* shows more than stacks: needs a profile with .details
			 * and a symbolizer with .lines */
	bool times;	/* needs a profile with .times */
	bool binary;	/* not for a terminal */
	bool compares;	/* can write a comparison */
	unsigned sorts; /* bit 1 << enum pmp_sort: has such a column */
	bool waits;	/* needs a profile with .waits */
	bool proto;	/* can also be written as pprof: write_options.proto */
	bool values;	/* can be restricted to one value: write_options.value */
	bool census;	/* shows what a heap holds: needs targets with .census */
	bool repeats;	/* writes each stack as many times as it was counted */
	bool unsaved;	/* shows what is not in saved profiles: they give an empty one */
	enum pmp_heap_use heap;
};

/** Returns the number of formats of this build. */
size_t pmp_format_count(void);
/** Returns format i, i below that number, in the order of --help. */
const struct pmp_format *pmp_format(size_t i);
/** Returns the format of this name, or NULL if there is none. */
const struct pmp_format *pmp_format_find(const char *name);

/**
 * Write a report. A format with .snapshots writes the last sample if the report is of a
 * snapshot, else all stacks with their counts. A report with a base is written as a
 * comparison. Looks up names.
 *
 * Returns 0, PMP_EINVAL (the format cannot show a comparison, or a snapshot), PMP_ENOMEM,
 * or PMP_EIO (the sink has failed).
 */
int pmp_report_write(const struct pmp_report *report, const struct pmp_format *format,
		     const struct pmp_write_options *options, const struct pmp_sink *sink,
		     struct pmp_error *err);

/* ---- comparing two profiles ---------------------------------------------- */

/*
 * How two profiles are compared. Stacks with the same names belong together. The base's
 * counts are scaled to the number of snapshots of the other profile.
 */
struct pmp_diff_info {
	size_t size;
	double factor;	   /* what the base's counts are multiplied by */
	bool by_totals;	   /* factor makes the sums equal: a number of snapshots is
			    * unknown */
	bool counted;	   /* the profile's number of snapshots is known */
	bool base_counted; /* the base's is */
	/* NULL, or, if each of the two is of a single process, the two
	 * different names, which are treated as the same. */
	const char *process, *base_process;
};
/** Fill *info with how a report is compared with its base. */
void pmp_report_diff_info(const struct pmp_report *report, struct pmp_diff_info *info);

/* ---- saved profiles ----------------------------------------------------- */

/**
 * Read a profile in the format pprof, written by pmp or by another program, compressed or
 * not, and add its counts to this one. fd is read to its end; name is for messages. Names
 * missing in the file are looked up in files on this machine with the same build-ids.
 *
 * Returns 0, PMP_EFORMAT (damaged, or something else), PMP_ELIMIT (too large) or PMP_EIO;
 * a part of it may have been counted then. PMP_EINVAL: it has no values of the
 * sample_type, or counts something else than the profile so far. PMP_ESRCH: the process
 * that was reading it (.namer in struct pmp_symbolizer_options) has died.
 */
int pmp_profile_read(struct pmp_profile *profile, int fd, const char *name,
		     struct pmp_error *err);

/* ---- processes, text --------------------------------------------------- */

/**
 * Find processes, except the caller, whose name (comm or base name of the executable)
 * matches a regular expression, in ascending order. Returns their number, PMP_EINVAL,
 * PMP_ELIMIT (see pmp_filter_problem()), PMP_ENOMEM or PMP_EIO; free *pids with free().
 */
int pmp_find_processes(const char *regex, pid_t **pids, struct pmp_error *err);

struct pmp_found_process {
	size_t size;	   /* set by the caller: sizeof(struct pmp_found_process) */
	uid_t user;	   /* its real user id: who started it */
	bool changed_user; /* its effective user id differs (setuid) */
	char name[64];	   /* the matching name, comm if both match; may be truncated */
	uint64_t started;  /* start time: see struct pmp_target_options */
};

/**
 * Find out which name of a process matches, and whose process it is: any user may run a
 * process of any name. Returns 0, PMP_ESRCH if it has exited or does not match any more,
 * PMP_EINVAL, PMP_ELIMIT or PMP_ENOMEM.
 */
int pmp_find_process(const char *regex, pid_t pid, struct pmp_found_process *found,
		     struct pmp_error *err);

/**
 * Make untrusted text safe for a terminal: control characters, DEL, C1 and
 * invalid UTF-8 become \xNN. Writes at most size bytes, including the final
 * NUL, and whole escapes only. Returns buffer.
 */
char *pmp_escape(const char *text, char *buffer, size_t size);

#ifdef __cplusplus
}
#endif

#endif
