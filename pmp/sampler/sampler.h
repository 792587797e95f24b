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
#include "sampler/children.h"
#include "sampler/protocol.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct own_processes;

struct sampler {
	pid_t pid;  /* 0: none, or reaped */
	int fd;	    /* of the socket; non-blocking; -1: none */
	int status; /* of waitpid(), once reaped */
	struct sampler_page *page;
	/* Of the page, once that has gone. */
	uint64_t taken;
	pid_t target;
	bool capturing; /* something may have been attached */
	struct event_done so_far;
	pid_t helpers[CHILDREN_HELPERS]; /* children of the front that are none of a
					  * command's; 0: none */
	struct own_processes
		*own; /* that are started later, as it may be; or NULL; borrowed */
	struct sampler_targets left_out; /* none of them is to be sampled; borrowed */
	struct pmp_recorder *recorder;	 /* of --heap, or NULL; borrowed */
};

/**
 * Fork the sampler. exec_fd: a socket that hangs up when the target, a command, has
 * been executed, or -1; the first snapshot waits for that. It goes on after sampler->so_far:
 * all zero, or what one that has been closed had done. Returns 0, or a negative code with err
 * filled. To be called while no other thread does anything.
 */
int sampler_start(struct sampler *sampler, const struct options *options,
		  const struct sampler_targets *targets, int exec_fd,
		  struct pmp_error *err);

void sampler_command(struct sampler *sampler, enum sampler_command command);

/**
 * Wait for its end, for a second at most, then kill it. Takes one that was never
 * started. *status is left as it was if there is nothing to reap.
 */
void sampler_close(struct sampler *sampler);

/** The function of the kernel that it is asleep in, "" if it is not; for messages. */
void sampler_where(const struct sampler *sampler, char *where, size_t size);
/** Would it run if it had a processor? *cpu is the time it has had of one (ns) at the last
 * such check, and at this one. */
bool sampler_is_starved(const struct sampler *sampler, uint64_t *cpu);
/** Has it held threads for so long that the kernel has killed it, or will? Only before it is
 * closed. */
bool sampler_held_too_long(const struct sampler *sampler);
/** SIGKILL: with PTRACE_SEIZE the detach that always works. */
void sampler_kill(struct sampler *sampler);

#endif
