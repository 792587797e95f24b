/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The front's handle of the sampler, the only process that touches the targets. It is
 * forked before a target is opened, and its death releases whatever it held.
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
	/* Copies from the page once it is unmapped. */
	uint64_t taken;
	pid_t target;
	bool capturing; /* something may have been attached */
	struct event_done so_far;
	pid_t helpers[CHILDREN_HELPERS]; /* children of the front that are not a
					  * command's; 0: none */
	struct own_processes
		*own; /* those started later, as a sampler may be; or NULL; borrowed */
	struct sampler_targets left_out; /* never to be sampled; borrowed */
	struct pmp_recorder *recorder;	 /* of --heap, or NULL; borrowed */
};

/**
 * Fork the sampler. exec_fd: a socket that hangs up when the target, a command, has
 * been executed, or -1; the first snapshot waits for that. Its counts continue from
 * sampler->so_far: all zero, or those of a sampler that has been closed. Returns 0, or a
 * negative code with err filled. Must be called while no other thread is active.
 */
int sampler_start(struct sampler *sampler, const struct options *options,
		  const struct sampler_targets *targets, int exec_fd,
		  struct pmp_error *err);

void sampler_command(struct sampler *sampler, enum sampler_command command);

/**
 * Wait for its end, for a second at most, then kill it. sampler may never have been
 * started. sampler->status does not change if there is nothing to reap.
 */
void sampler_close(struct sampler *sampler);

/** The kernel function that the sampler sleeps in, "" if it does not; for messages. */
void sampler_where(const struct sampler *sampler, char *where, size_t size);
/** Is the sampler runnable, but gets no processor? *cpu: its CPU time (ns) at the last
 * check; set to the current one. */
bool sampler_is_starved(const struct sampler *sampler, uint64_t *cpu);
/** Has it held threads for so long that the kernel has killed it, or will? Must be called
 * before sampler_close(). */
bool sampler_held_too_long(const struct sampler *sampler);
/** Send SIGKILL: the death of a tracer always detaches. */
void sampler_kill(struct sampler *sampler);

#endif
