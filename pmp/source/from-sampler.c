/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages from the sampler: samples, and events of its targets. */
#include "source/from-sampler.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libpmp-program.h"
#include "run/counting.h"
#include "run/run-state.h"
#include "run/clock.h"
#include "say/message.h"
#include "say/progress.h"
#include "say/summary.h"
#include "source/source.h"

#define BATCH 16	/* messages received between two checks for signals */
#define BATCH_OF_VIEW 2 /* fewer for the view, to respond to keys */

static void take_opened(struct source *source, const struct event_opened *event)
{
	struct targets *targets = &source->targets;
	struct process *processes, *process;

	targets_answered(targets, event->pid);
	/* An earlier sampler had opened it. */
	if (targets_find(targets, event->pid))
		return;
	processes =
		reallocarray(targets->processes, targets->count + 1, sizeof(*processes));
	if (!processes) {
		message_print(NULL, "not enough memory for another process");
		source->calls->fail(source->run, PMP_EXIT_FAILED);
		return;
	}
	targets->processes = processes;
	process = &processes[targets->count++];
	*process = (struct process){ .pid = event->pid,
				     .started = event->started,
				     .child = event->child };
	snprintf(process->name, sizeof(process->name), "%.*s", EVENT_NAME_SIZE - 1,
		 event->name);
	source->type->opened(source, process);
	source->calls->targets(source->run, process);
	source->type->ready(source, process);
}

/* For "pmp --serve 8080", which takes 8080 as a pid. */
static void hint_at_port(const struct options *options, struct pmp_error *error)
{
	if (error->code == PMP_ESRCH && !*error->hint && options->maybe_port)
		snprintf(error->hint, sizeof(error->hint),
			 "to serve at port %s: --serve=%s", options->maybe_port,
			 options->maybe_port);
}

static void take_failed(struct source *source, struct event_failed *event)
{
	struct targets *targets = &source->targets;

	targets_answered(targets, event->pid);
	hint_at_port(source->options, &event->error);
	message_error(&event->error);
	if (!targets->refusal)
		targets->refusal = message_status(event->error.code);
}

static void forget_child(struct source *source, struct process *process)
{
	struct targets *targets = &source->targets;

	if (source->options->verbose)
		summary_ended(source->options, process, false);
	targets->unseen += !process_counted(process);
	targets_remove(targets, process);
	source->calls->targets(source->run, NULL);
}

static void take_ended(struct source *source, const struct event_ended *event)
{
	struct targets *targets = &source->targets;
	struct process *process = targets_find(targets, event->pid);

	counting_forget(source->counting, event->pid);
	if (!process)
		return;
	source->progress->threads -= process->threads;
	process->threads = 0;
	process->ended = true;
	if (process->child) {
		forget_child(source, process);
		return;
	}
	if (!process_counted(process) && !targets->refusal)
		targets->refusal = PMP_EXIT_GONE;
	source->type->ended(source, process, event->threads_only);
}

/* The sampler may be compromised: terminate its texts. */
static void end_texts(struct pmp_error *error)
{
	error->message[sizeof(error->message) - 1] = '\0';
	error->hint[sizeof(error->hint) - 1] = '\0';
}

static void take_event(struct source *source, const struct pmp_received *received)
{
	struct targets *targets = &source->targets;
	static const size_t sizes[] = {
		[EVENT_OPENED] = sizeof(struct event_opened),
		[EVENT_FAILED] = sizeof(struct event_failed),
		[EVENT_ENDED] = sizeof(struct event_ended),
		[EVENT_BEHIND] = sizeof(struct event_behind),
		[EVENT_DONE] = sizeof(struct event_done),
	};
	union {
		struct event_opened opened;
		struct event_failed failed;
		struct event_ended ended;
		struct event_behind behind;
		struct event_done done;
	} event;

	if (received->note_kind >= sizeof(sizes) / sizeof(*sizes) ||
	    received->note_length != sizes[received->note_kind])
		return;
	memcpy(&event, received->note, received->note_length);
	switch ((enum event)received->note_kind) {
	case EVENT_OPENED: take_opened(source, &event.opened); break;
	case EVENT_FAILED:
		end_texts(&event.failed.error);
		take_failed(source, &event.failed);
		break;
	case EVENT_ENDED: take_ended(source, &event.ended); break;
	case EVENT_BEHIND:
		if (message_heard())
			summary_behind(&event.behind);
		break;
	case EVENT_DONE:
		targets->done = event.done;
		source->state->finished = true;
		break;
	}
}

/* Report the first thread of each process that is in uninterruptible sleep;
 * more would only repeat it. */
static void tell_unstoppable(struct process *process, const struct pmp_sample *sample,
			     size_t count)
{
	struct pmp_thread_info thread = { .size = sizeof(thread) };
	char reason[256];

	for (size_t i = 0; i < count && !process->told_unstoppable; i++) {
		pmp_sample_thread(sample, i, &thread);
		/* Any other reason has nothing to do with the state: it may be traced. */
		if (thread.state != 'D' || strncmp(thread.reason, "D, ", 3) != 0)
			continue;
		process->told_unstoppable = true;
		message_note(NULL,
			     "thread %d is in uninterruptible sleep (%s): not stopped",
			     (int)thread.tid,
			     pmp_escape(thread.reason + 3, reason, sizeof(reason)));
	}
}

static void tell_hidden(struct targets *targets, size_t hidden)
{
	if (targets->told_hidden)
		return;
	targets->told_hidden = true;
	message_note("run as root",
		     "%zu processes of other users cannot be looked at: whether threads "
		     "wait for them is not known",
		     hidden);
}

/* A user who may look at only some of the processes must see none of the profile. */
static void note_owner(struct source *source, uid_t owner)
{
	struct targets *targets = &source->targets;

	if (targets->owned && (targets->owner == owner || targets->owner == PMP_OWNERS))
		return;
	targets->owner = targets->owned ? PMP_OWNERS : owner;
	targets->owned = true;
	source->calls->targets(source->run, NULL);
}

static void enter_sample(struct source *source, const struct pmp_sample *sample)
{
	struct targets *targets = &source->targets;
	struct pmp_sample_info info = { .size = sizeof(info) };
	struct process *process;

	pmp_sample_info(sample, &info);
	targets->snapshots++;
	targets->skipped += info.skipped;
	note_owner(source, info.owner);
	process = targets_find(targets, info.pid);
	if (!process)
		return;
	source->calls->boundary(source->run, info.time);
	if (process->snapshots++ == 0)
		process->first = info.time;
	process->last = info.time;
	if (process->snapshots > source->progress->snapshots)
		source->progress->snapshots = process->snapshots;
	source->progress->threads += info.threads - process->threads;
	source->progress->stopped += info.any_stopped;
	process->threads = info.threads;
	snprintf(process->name, sizeof(process->name), "%s", info.name);
	if (message_heard() && !process->child && info.n_not_stopped > 0)
		tell_unstoppable(process, sample, info.threads);
	if (info.hidden)
		tell_hidden(targets, info.hidden);
	/* Another user may have the right to look at the new program. */
	if (info.execed)
		source->calls->targets(source->run, NULL);
	/* A command does so before its first snapshot. */
	if (info.execed && process->snapshots > 1 &&
	    (!process->child || source->options->verbose))
		message_note(NULL,
			     "%d (%s) has executed another program: its maps and symbols "
			     "are read again",
			     (int)process->pid, process->name);
}

static void take_sample(struct source *source, struct pmp_sample *sample)
{
	struct pmp_error err = { 0 };
	int code;

	if (source->state->failure) {
		pmp_sample_free(sample);
		return;
	}
	enter_sample(source, sample);
	code = counting_add(source->counting, sample, &err);
	pmp_sample_free(sample);
	if (code < 0) {
		message_error(&err);
		source->calls->fail(source->run, PMP_EXIT_FAILED);
	} else {
		source->calls->sampled(source->run);
	}
}

/* Report only the first process: more would only repeat it. */
static void tell_mixed(struct source *source, const struct pmp_heap_batch *batch)
{
	struct pmp_error err;

	if (source->targets.told_mixed || pmp_heap_batch_check(batch, &err) == 0)
		return;
	source->targets.told_mixed = true;
	message_error(&err);
}

static void take_heap(struct source *source, struct pmp_heap_batch *batch)
{
	struct process *process =
		targets_find(&source->targets, pmp_heap_batch_pid(batch));
	struct pmp_error err = { 0 };
	uid_t owner;
	int code = 0;

	if (process && !process->ended && pmp_process_owner(process->pid, &owner))
		note_owner(source, owner);
	tell_mixed(source, batch);
	source->targets.batches++;
	if (source->options->heap.only)
		source->calls->boundary(source->run, now_ns());
	if (process)
		process->batches++;
	if (!source->state->failure)
		code = counting_add_heap(source->counting, batch, &err);
	pmp_heap_batch_free(batch);
	if (code == 0)
		return;
	message_error(&err);
	source->calls->fail(source->run, PMP_EXIT_FAILED);
}

int from_sampler_receive(struct source *source, struct pmp_receiver *receiver)
{
	int most = source->state->keys ? BATCH_OF_VIEW : BATCH;

	for (int i = 0; i < most && !source->state->finished; i++) {
		struct pmp_received received = { 0 };
		struct pmp_error err = { 0 };
		int code = pmp_receiver_next(receiver, &received, &err);

		if (code < 0 && code != PMP_ESRCH)
			message_error(&err);
		if (code <= 0)
			return code;
		if (received.sample)
			take_sample(source, received.sample);
		else if (received.heap)
			take_heap(source, received.heap);
		else
			take_event(source, &received);
	}
	return 0;
}
