/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What sources that sample have in common: the sampler, and its supervision. */
#ifndef PMP_SOURCE_SAMPLING_H
#define PMP_SOURCE_SAMPLING_H

#include "libpmp.h"
#include "options/options.h"
#include "run/supervise.h"
#include "sampler/sampler.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct process;
struct run;

struct sampling {
	struct sampler sampler;
	struct pmp_receiver *receiver;
	struct note_done done;
	bool finishing;		    /* it was told to */
	const char *lost;	    /* why it was killed, or NULL */
	char where[64];		    /* it was asleep in the kernel then, or "" */
	struct supervise supervise; /* the last check of it */
	uint64_t cpu_seen;	    /* what of a processor it had had */
};

/* These are what struct source says of them. */

/** exec_fd: see sampler_start(). */
int sampling_open(struct run *run, const struct id_list *pids, int exec_fd);
int sampling_receive(struct run *run);
void sampling_tend(struct run *run, bool idle);
void sampling_pause(struct run *run, bool paused);
bool sampling_is_detached(const struct run *run);
void sampling_sample_now(struct run *run);
void sampling_set_interval(struct run *run, uint64_t interval);
void sampling_finish(struct run *run);
void sampling_stop(struct run *run);
void sampling_opened(struct run *run, struct process *process);
void sampling_ready(struct run *run, const struct process *process);
void sampling_ended(struct run *run, struct process *process, bool threads_only);
bool sampling_name_after(const struct run *run, const struct process *process,
			 struct process *name);
void sampling_describe(const struct run *run, char *text, size_t size);
int sampling_status(struct run *run);
void sampling_close(struct run *run);

/** It cannot be waited for: kill it, and go on with what there is. */
void sampling_lose(struct run *run, const char *why);

#endif
