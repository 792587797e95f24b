/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See targets.h. */
#include "sampler/targets.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "libpmp-program.h"
#include "sampler/heap.h"
#include "say/message.h"

#define CHILDREN_MAX 1000    /* at a time */
#define SPARE_DESCRIPTORS 32 /* that children leave to earlier targets */

/* Even if this target holds nothing any more, threads of another one may be late. */
static void on_holding(void *arg, bool begins)
{
	struct sampling *sampling = arg;

	hold_timer_set(&sampling->hold_timer, begins || sampling->late > 0);
}

void targets_settle(struct sampling *sampling)
{
	bool was_late = sampling->late > 0;
	pid_t late = 0;

	sampling->late = 0;
	for (size_t i = 0; i < sampling->count; i++) {
		struct watched *watched = &sampling->watched[i];

		if (watched->target)
			sampling->late += pmp_target_reap(watched->target);
		if (watched->left && pmp_target_reap(watched->left) == 0) {
			pmp_target_close(watched->left);
			watched->left = NULL;
		}
		sampling->late += watched->left != NULL;
		if (sampling->late && !late)
			late = watched->pid;
	}
	events_at_work(sampling, late);
	if (was_late || sampling->late)
		hold_timer_set(&sampling->hold_timer, sampling->late > 0);
	events_set_capturing(sampling, sampling->late > 0);
}

static void drop(struct sampling *sampling, struct watched *watched)
{
	struct pmp_error err;

	events_check_sent(pmp_sender_forget(sampling->sender, watched->pid, &err));
	/* The parent of a seized thread learns of its end only after we have reaped it. */
	if (watched->target && pmp_target_reap(watched->target) > 0)
		watched->left = watched->target;
	else
		pmp_target_close(watched->target);
	watched->target = NULL;
	sampling->living--;
	children_ended(&sampling->children, watched->pid);
}

/* Report only the first child that cannot be sampled: the others would repeat it. A child
 * that was about to end is not reported. */
static void tell_child_failed(struct sampling *sampling, const struct event_failed *event)
{
	int code = event->error.code;

	if (sampling->told_child ||
	    (code != PMP_ELIMIT && code != PMP_EPERM && code != PMP_EUNSUPPORTED))
		return;
	events_send(sampling, EVENT_FAILED, event, sizeof(*event));
	sampling->told_child = true;
}

void targets_drop_failed(struct sampling *sampling, struct watched *watched,
			 const struct pmp_error *err)
{
	struct event_failed event = { .pid = watched->pid, .error = *err };

	if (watched->child)
		tell_child_failed(sampling, &event);
	else
		events_send(sampling, EVENT_FAILED, &event, sizeof(event));
	drop(sampling, watched);
}

void targets_drop_ended(struct sampling *sampling, struct watched *watched,
			bool threads_only)
{
	struct event_ended event = { .pid = watched->pid, .threads_only = threads_only };

	if (!threads_only)
		heap_end(sampling, watched->pid);
	events_send(sampling, EVENT_ENDED, &event, sizeof(event));
	drop(sampling, watched);
}

/* A thread that stops late must not stay stopped while much is read for a capture. */
static void release_late(struct sampling *sampling)
{
	const uint64_t now = now_ns();

	if (now - sampling->released < NS_PER_MS)
		return;
	sampling->released = now;
	for (size_t i = 0; i < sampling->count; i++) {
		if (sampling->watched[i].target)
			pmp_target_reap(sampling->watched[i].target);
		if (sampling->watched[i].left)
			pmp_target_reap(sampling->watched[i].left);
	}
}

static void goes_on(struct sampling *sampling)
{
	events_beat(sampling);
	release_late(sampling);
}

static bool want_thread(void *arg, pid_t tid, const char *name)
{
	struct sampling *sampling = arg;

	goes_on(sampling);
	return options_want(sampling->options, tid, name);
}

static void still_alive(void *arg)
{
	goes_on(arg);
}

static bool wants_peers(const struct options *options)
{
	return options->peers || (options->format && options->format->peers);
}

static enum pmp_census_of census_of(const struct options *options)
{
	if (!options->format || !options->format->census)
		return PMP_CENSUS_NONE;
	return options->types ? PMP_CENSUS_SIZES : PMP_CENSUS_TYPES;
}

static int open_target(struct sampling *sampling, struct watched *watched,
		       struct pmp_error *err)
{
	const struct options *options = sampling->options;
	const struct pmp_target_options target_options = {
		.size = sizeof(target_options),
		.stop = options->stop,
		.unwind = options->unwind,
		.no_restart = options->no_restart,
		.kernel = options->kernel,
		.max_frames = (unsigned)options->max_frames,
		.want_thread = want_thread,
		.want_arg = sampling,
		.held_since = &sampling->page->held_since,
		.holding = on_holding,
		.holding_arg = sampling,
		.descriptors = UINT_MAX,
		.no_wchan = !options->wants_screen && !options->serve &&
			    !options->by_state && !options->format->details,
		.asleep = !options->wants_screen && options->format->asleep,
		.asleep_before = options->wants_screen,
		.waits = wants_peers(options) ? PMP_WAITS_PEERS : PMP_WAITS_HOLDERS,
		.log = options->debug ? message_debug : NULL,
		.log_arg = (void *)options->debug,
		.census = census_of(options),
		.census_cpu = (unsigned)options->max_cpu,
		.alive = still_alive,
		.alive_arg = sampling,
		.recorder = sampling->recorder,
		.started = watched->started,
		.handles_sigchld = true,
	};

	/* A stopped front would block the sampler as well. */
	if (watched->pid == getppid())
		return message_fill(err, PMP_EINVAL, 0,
				    "cannot trace %d: a process cannot profile itself",
				    (int)watched->pid);
	return pmp_target_open(watched->pid, &target_options, &watched->target, err);
}

static void tell_opened(struct sampling *sampling, const struct watched *watched)
{
	struct event_opened event = { .pid = watched->pid,
				      .child = watched->child,
				      .started = pmp_target_started(watched->target) };

	snprintf(event.name, sizeof(event.name), "%s", pmp_target_name(watched->target));
	events_send(sampling, EVENT_OPENED, &event, sizeof(event));
}

void targets_open_first(struct sampling *sampling, struct watched *watched)
{
	struct pmp_error err = { 0 };

	sampling->living++;
	events_at_work(sampling, watched->pid);
	if (open_target(sampling, watched, &err) < 0)
		targets_drop_failed(sampling, watched, &err);
	else
		tell_opened(sampling, watched);
	events_at_work(sampling, 0);
}

void targets_check(struct sampling *sampling)
{
	targets_settle(sampling);
	for (size_t i = 0; i < sampling->count; i++) {
		struct watched *watched = &sampling->watched[i];

		if (!watched->target || !pmp_target_ended(watched->target))
			continue;
		targets_drop_ended(sampling, watched, false);
		/* That takes a while; late threads must not wait for all of it. */
		if (sampling->late)
			targets_settle(sampling);
	}
}

/* ---- children --------------------------------------------------------------- */

static bool samples(void *arg, pid_t pid)
{
	const struct sampling *sampling = arg;

	for (size_t i = 0; i < sampling->count; i++) {
		if (sampling->watched[i].pid == pid)
			return sampling->watched[i].target || sampling->watched[i].left;
	}
	return false;
}

static void forget_ended_children(struct sampling *sampling)
{
	size_t kept = 0;

	for (size_t i = 0; i < sampling->count; i++) {
		if (sampling->watched[i].target || sampling->watched[i].left ||
		    !sampling->watched[i].child)
			sampling->watched[kept++] = sampling->watched[i];
	}
	sampling->count = kept;
}

static bool has_room(struct sampling *sampling)
{
	struct watched *watched;

	if (sampling->count < sampling->capacity)
		return true;
	watched =
		reallocarray(sampling->watched, sampling->capacity, 2 * sizeof(*watched));
	if (!watched)
		return false;
	sampling->watched = watched;
	sampling->capacity *= 2;
	return true;
}

/* The lowest free descriptor is about the number of those in use. */
static bool has_descriptors(const struct sampling *sampling)
{
	struct rlimit limit = { 0 };
	int lowest = dup(sampling->fd);

	if (lowest >= 0)
		close(lowest);
	getrlimit(RLIMIT_NOFILE, &limit);
	return lowest >= 0 && (rlim_t)lowest + SPARE_DESCRIPTORS < limit.rlim_cur;
}

static void open_child(struct sampling *sampling, pid_t pid)
{
	struct event_failed event = { .pid = pid };
	struct watched watched = { .pid = pid, .child = true };
	int code;

	if (sampling->living >= CHILDREN_MAX || !has_room(sampling))
		code = message_fill(
			&event.error, PMP_ELIMIT, 0,
			"more than %d processes at a time: no more are sampled",
			CHILDREN_MAX);
	else if (!has_descriptors(sampling))
		code = message_fill(&event.error, PMP_ELIMIT, EMFILE,
				    "cannot sample all children");
	else
		code = open_target(sampling, &watched, &event.error);
	if (code == 0) {
		sampling->watched[sampling->count++] = watched;
		sampling->living++;
		sampling->children_opened++;
		tell_opened(sampling, &watched);
		return;
	}
	sampling->children_lost++;
	tell_child_failed(sampling, &event);
}

void targets_open_children(struct sampling *sampling)
{
	pid_t pid;

	if (!sampling->children.watch)
		return;
	forget_ended_children(sampling);
	children_scan(&sampling->children);
	while ((pid = children_next(&sampling->children, samples, sampling))) {
		events_at_work(sampling, pid);
		open_child(sampling, pid);
		events_at_work(sampling, 0);
		if (sampling->late)
			targets_settle(sampling);
	}
}
