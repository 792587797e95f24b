/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the sampler tells: samples, and what becomes of its targets. */
#include "source/from-sampler.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/counting.h"
#include "run/state.h"
#include "say/message.h"
#include "say/progress.h"
#include "say/summary.h"
#include "source/source.h"

#define BATCH 16	/* messages received between two looks at signals */
#define BATCH_OF_VIEW 2 /* the same when keys wait to be answered */

static struct process *find_process(const struct targets *targets, pid_t pid)
{
	for (size_t i = 0; i < targets->count; i++) {
		if (targets->processes[i].pid == pid)
			return &targets->processes[i];
	}
	return NULL;
}

static void take_opened(struct source *source, const struct note_opened *note)
{
	struct targets *targets = &source->targets;
	struct process *processes, *process;

	/* By another sampler. */
	if (find_process(targets, note->pid))
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
	*process = (struct process){ .pid = note->pid, .child = note->child };
	snprintf(process->name, sizeof(process->name), "%.*s", PMP_NOTE_NAME_SIZE - 1,
		 note->name);
	source->type->opened(source, process);
	source->calls->targets(source->run, process);
	source->type->ready(source, process);
}

static void take_failed(struct source *source, const struct note_failed *note)
{
	struct targets *targets = &source->targets;
	message_error(&note->error);
	if (!targets->refusal)
		targets->refusal = message_status(note->error.code);
}

static void forget_child(struct source *source, struct process *process)
{
	struct targets *targets = &source->targets;
	if (source->options->verbose)
		report_ended(source->options, process, false);
	targets->unseen += process->snapshots == 0;
	targets->count--;
	memmove(process, process + 1,
		(size_t)(targets->processes + targets->count - process) *
			sizeof(*process));
	source->calls->targets(source->run, NULL);
}

static void take_ended(struct source *source, const struct note_ended *note)
{
	struct targets *targets = &source->targets;
	struct process *process = find_process(targets, note->pid);

	pmp_profile_forget(source->counting->profile, note->pid);
	if (!process)
		return;
	source->progress->threads -= process->threads;
	process->threads = 0;
	if (process->child) {
		forget_child(source, process);
		return;
	}
	if (process->snapshots == 0 && !targets->refusal)
		targets->refusal = PMP_EXIT_GONE;
	source->type->ended(source, process, note->threads_only);
}

/* The sampler may be damaged: its texts end where their room does. */
static void end_texts(struct pmp_error *error)
{
	error->message[sizeof(error->message) - 1] = '\0';
	error->hint[sizeof(error->hint) - 1] = '\0';
}

static void take_note(struct source *source, const struct pmp_received *received)
{
	struct targets *targets = &source->targets;
	static const size_t sizes[] = {
		[PMP_NOTE_OPENED] = sizeof(struct note_opened),
		[PMP_NOTE_FAILED] = sizeof(struct note_failed),
		[PMP_NOTE_ENDED] = sizeof(struct note_ended),
		[PMP_NOTE_BEHIND] = sizeof(struct note_behind),
		[PMP_NOTE_DONE] = sizeof(struct note_done),
	};
	union {
		struct note_opened opened;
		struct note_failed failed;
		struct note_ended ended;
		struct note_behind behind;
		struct note_done done;
	} note;

	if (received->note_kind >= sizeof(sizes) / sizeof(*sizes) ||
	    received->note_length != sizes[received->note_kind])
		return;
	memcpy(&note, received->note, received->note_length);
	switch ((enum note)received->note_kind) {
	case PMP_NOTE_OPENED: take_opened(source, &note.opened); break;
	case PMP_NOTE_FAILED:
		end_texts(&note.failed.error);
		take_failed(source, &note.failed);
		break;
	case PMP_NOTE_ENDED: take_ended(source, &note.ended); break;
	case PMP_NOTE_BEHIND:
		if (message_heard())
			report_behind(&note.behind);
		break;
	case PMP_NOTE_DONE:
		targets->done = note.done;
		source->state->finished = true;
		break;
	}
}

/* Of each process the first thread that sleeps where nothing can stop it; more
 * would only repeat it. */
static void note_unstoppable(struct process *process, const struct pmp_sample *sample,
			     size_t count)
{
	struct pmp_thread_info thread = { .size = sizeof(thread) };
	char reason[256];

	for (size_t i = 0; i < count && !process->told_unstoppable; i++) {
		pmp_sample_thread(sample, i, &thread);
		if (thread.state != 'D' || !thread.reason[0])
			continue;
		process->told_unstoppable = true;
		message_note(NULL,
			     "thread %d is in uninterruptible sleep (%s): not stopped",
			     (int)thread.tid,
			     pmp_escape(thread.reason, reason, sizeof(reason)));
	}
}

static void note_sample(struct source *source, const struct pmp_sample *sample)
{
	struct targets *targets = &source->targets;
	struct pmp_sample_info info = { .size = sizeof(info) };
	struct process *process;

	pmp_sample_info(sample, &info);
	targets->snapshots++;
	targets->skipped += info.skipped;
	process = find_process(targets, info.pid);
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
		note_unstoppable(process, sample, info.threads);
	/* A command does before its first one. */
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
	note_sample(source, sample);
	code = pmp_profile_add(source->counting->profile, sample, &err);
	pmp_sample_free(sample);
	if (code < 0) {
		message_error(&err);
		source->calls->fail(source->run, PMP_EXIT_FAILED);
	} else {
		source->calls->sampled(source->run);
	}
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
		else
			take_note(source, &received);
	}
	return 0;
}
