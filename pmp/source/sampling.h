/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What sources that sample have in common: the sampler and its supervision. struct
 * source_type documents the function of each name.
 */
#ifndef PMP_SOURCE_SAMPLING_H
#define PMP_SOURCE_SAMPLING_H

#include "options/options.h"
#include "source/census.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct process;
struct sampling_progress;
struct source;

/** exec_fd: see sampler_start(). */
int sampling_open(struct source *source, const struct id_list *pids, int exec_fd);
int sampling_receive(struct source *source);
void sampling_tend(struct source *source, bool idle);
void sampling_pause(struct source *source, bool paused);
bool sampling_is_detached(const struct source *source);
void sampling_get_progress(const struct source *source,
			   struct sampling_progress *progress);
void sampling_sample_now(struct source *source);
void sampling_look_for_peers(struct source *source);
void sampling_set_interval(struct source *source, uint64_t interval);
void sampling_finish(struct source *source);
void sampling_stop(struct source *source);
void sampling_lose(struct source *source);
void sampling_kill(struct source *source);
void sampling_opened(struct source *source, struct process *process);
void sampling_ready(struct source *source, const struct process *process);
void sampling_ended(struct source *source, struct process *process, bool threads_only);
bool sampling_name_after(const struct source *source, const struct process *process,
			 struct process *name);
void sampling_describe(const struct source *source, char *text, size_t size);
int sampling_status(struct source *source);
void sampling_close(struct source *source);

/* Members of struct source_type that are the same for all of them. */
#define SAMPLING_CALLS \
	.pause = sampling_pause, .is_detached = sampling_is_detached, \
	.sample_now = sampling_sample_now, .set_interval = sampling_set_interval, \
	.look_for_peers = sampling_look_for_peers, .census = census_begin, \
	.finish = sampling_finish, .stop = sampling_stop, .lose = sampling_lose, \
	.kill = sampling_kill, .progress = sampling_get_progress, \
	.describe = sampling_describe

#endif
