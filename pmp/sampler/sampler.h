/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sampler: the process that alone touches the targets, and what it says to
 * the front. It is forked before a target is opened, and its death releases
 * whatever it held.
 */
#ifndef PMP_SAMPLER_SAMPLER_H
#define PMP_SAMPLER_SAMPLER_H

#include "libpmp.h"
#include "options/options.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Commands of the front, one byte each. */
enum sampler_command {
	PMP_SAMPLER_PAUSE = 'p',
	PMP_SAMPLER_RESUME = 'r',
	PMP_SAMPLER_FINISH = 'f',
	PMP_SAMPLER_NOW = 'n',	    /* take the next snapshot now */
	PMP_SAMPLER_INTERVAL = 'i', /* the page has a new interval */
};

/* Events that the sampler reports: what follows each number is the struct of that name. */
enum event {
	EVENT_OPENED = 1,
	EVENT_FAILED,
	EVENT_ENDED,
	EVENT_BEHIND,
	EVENT_DONE,
};

#define EVENT_NAME_SIZE 64

struct event_opened {
	pid_t pid;
	bool child;		    /* of another target */
	char name[EVENT_NAME_SIZE]; /* raw bytes */
};

/* A target cannot be opened, or not be sampled any more. */
struct event_failed {
	pid_t pid;
	struct pmp_error error;
};

struct event_ended {
	pid_t pid;
	bool threads_only; /* the process lives, the threads of -t have ended */
};

/* Sampling falls behind; sent once. Times in ns. */
struct event_behind {
	uint64_t asked, reached, lowered; /* between two snapshots; lowered 0: is not */
	uint64_t stopped, budget;	  /* of the last snapshot */
	uint64_t cpu;			  /* of a snapshot, both processes, on average */
	uint64_t max_cpu;		  /* percent; 0: no limit */
	uint64_t threads;
};

/* The last event: no more targets, or the end of the run. */
struct event_done {
	uint64_t snapshots, missed, elapsed;
	/* Those that were opened; those that could not be: they had ended, or there were
	 * too many. */
	uint64_t children, lost_children;
	uint64_t unseen; /* pmp_procwatch_unseen() */
};

/* Memory that both processes see. */
struct sampler_page {
	uint64_t held_since;	     /* see struct pmp_target_options */
	volatile uint64_t heartbeat; /* CLOCK_MONOTONIC of the last sign of life */
	volatile uint32_t capturing; /* something may be attached */
	volatile uint64_t interval;  /* that PMP_SAMPLER_INTERVAL asks for, ns */
	volatile uint64_t taken;     /* samples that were to be sent so far */
	volatile pid_t target;	     /* the one that it is at work on; 0: none */
	struct event_done so_far;    /* after the last snapshot */
};

struct sampler {
	pid_t pid;  /* 0: none, or reaped */
	int fd;	    /* of the socket; non-blocking; -1: none */
	int status; /* of waitpid(), once reaped */
	struct sampler_page *page;
	/* Of the page, once that has gone. */
	uint64_t taken;
	pid_t target;
	struct event_done so_far;
};

/**
 * Fork the sampler. exec_fd: a socket that hangs up when the target, a command, has
 * been executed, or -1; the first snapshot waits for that. It goes on after sampler->so_far:
 * all zero, or what one that has been closed had done. Returns 0, or a negative code with err
 * filled. To be called while no other thread does anything.
 */
int sampler_start(struct sampler *sampler, const struct options *options,
		  const struct id_list *pids, int exec_fd, struct pmp_error *err);

void sampler_command(struct sampler *sampler, enum sampler_command command);

/**
 * Wait for its end, for a second at most, then kill it. Takes one that was never
 * started. *status is left as it was if there is nothing to reap.
 */
void sampler_close(struct sampler *sampler);

/** As many open descriptors as the system allows. To be called when nothing will be
 * executed that would inherit it. */
void sampler_raise_limit(void);
/** The function of the kernel that it is asleep in, "" if it is not; for messages. */
void sampler_where(const struct sampler *sampler, char *where, size_t size);
/** Would it run if it had a processor? *cpu is the time it has had of one (ns) at the last
 * such look, and at this one. */
bool sampler_is_starved(const struct sampler *sampler, uint64_t *cpu);
/** Has it held threads for so long that the kernel has killed it, or will? Only before it is
 * closed. */
bool sampler_held_too_long(const struct sampler *sampler);
/** SIGKILL: with PTRACE_SEIZE the detach that always works. */
void sampler_kill(struct sampler *sampler);

#endif
