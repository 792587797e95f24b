/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stage of t/target/locks.c and locks-cxx.cc: threads and processes that hold and
 * wait, and the lines that say so. locks.c describes the lines.
 */
#ifndef PMP_TARGET_LOCKS_H
#define PMP_TARGET_LOCKS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LOCKS_TIMEOUT 3600 /* seconds, of waits with one: longer than any test */

/* Takes something or waits for it; 0 or an error number. */
typedef int (*locks_call)(void *object);

/* A thread that takes what it is to hold and then waits for something else, or rests. */
struct actor {
	const char *name; /* of the thread */
	locks_call take, wait;
	void *held, *wanted;
	pthread_t thread;
	pid_t tid;
	int step;
	const char *call; /* in which it waits */
};

/* A situation: show() builds it up and prints what is true of it. */
struct kind {
	const char *name;
	void (*show)(void);
};

/* Arrays that end with a kind without a name; the list ends with NULL. */
extern const struct kind *const locks_groups[];
extern const struct kind locks_mutex_kinds[], locks_sync_kinds[], locks_cycle_kinds[],
	locks_file_kinds[], locks_process_kinds[], locks_event_kinds[];

/* Shared with the processes that the program starts. */
struct locks_shared {
	int begun;    /* processes that hold what they are to hold */
	int returned; /* waits that have ended, which none should */
	int number;   /* that a child has to say: a tid, the id of a set of semaphores */
};

extern struct locks_shared *locks_shared;
extern const char *locks_file; /* of the command line, or NULL */
extern pid_t locks_shown;      /* of whom is spoken, if it is not this process */

/* As an argument: the number of a system call and its name. */
#define CALL(name) SYS_##name, #name

/* A new thread, once it holds what it takes (NULL: nothing). It goes on to wait when
 * actor_go() tells it to; with wait NULL it rests for ever. */
struct actor *actor_new(const char *name, locks_call take, void *held, locks_call wait,
			void *wanted);
/* Let it wait; returns when it is asleep in this call. */
void actor_go(struct actor *actor, long call, const char *name);
/* Wait until it is asleep in futex() at another address. */
void actor_moves(const struct actor *actor, uint64_t address);
/* Wait until it is no more: its wait() ends it. */
void actor_end(struct actor *actor);
/* A new thread that only holds, and one that only waits and is asleep. */
struct actor *actor_holds(locks_call take, void *held);
struct actor *actor_waits(locks_call wait, void *wanted, long call, const char *name);
/* For a take() that does not return: what it takes is held now; then rest. */
void actor_took(void);
void actor_rest(void) __attribute__((noreturn));

/* The address that a thread asleep in futex() waits at. */
uint64_t locks_futex_of(const struct actor *actor);

/* A child process of the first thread, once begin() has returned in it. It rests, and dies
 * with us. */
pid_t process_new(const char *name, void (*begin)(void *arg), void *arg);

/* Zeroed memory that is shared with child processes. */
void *locks_shared_memory(size_t size);

/* Print a truth line; more: NULL or further fields, each with a blank before it. */
void truth(const struct actor *waiter, pid_t holder, uint64_t object, const char *wait,
	   const char *more, ...) __attribute__((format(printf, 5, 6)));
/* Print the line of a cycle: each waits for the next. more: as above. */
void truth_deadlock(const char *more, size_t count, struct actor *const *actors);

/* This kind cannot be shown here. */
void locks_skip(const char *why) __attribute__((noreturn));
/* Leave with an error unless the error number is 0. */
void locks_must(int error, const char *what);

/* The time of a clock at which a wait ends that should not. */
struct timespec locks_until(int clock);

static inline uint64_t locks_address(const volatile void *object)
{
	return (uint64_t)(uintptr_t)object;
}

#ifdef __cplusplus
}
#endif

#endif
