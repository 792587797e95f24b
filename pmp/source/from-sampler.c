/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the sampler tells: samples, and what becomes of its targets. */
#include "source/from-sampler.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "run/clock.h"
#include "say/message.h"
#include "say/summary.h"

#define BATCH 16	/* messages received between two looks at signals */
#define BATCH_OF_VIEW 2 /* the same when keys wait to be answered */

static struct process *find_process(struct run *run, pid_t pid)
{
	for (size_t i = 0; i < run->process_count; i++) {
		if (run->processes[i].pid == pid)
			return &run->processes[i];
	}
	return NULL;
}

static void take_opened(struct run *run, const struct note_opened *note)
{
	struct process *processes, *process;

	processes =
		reallocarray(run->processes, run->process_count + 1, sizeof(*processes));
	if (!processes) {
		message_print(NULL, "not enough memory for another process");
		run_fail(run, PMP_EXIT_FAILED);
		return;
	}
	run->processes = processes;
	process = &processes[run->process_count++];
	*process = (struct process){ .pid = note->pid, .child = note->child };
	snprintf(process->name, sizeof(process->name), "%.*s", PMP_NOTE_NAME_SIZE - 1,
		 note->name);
	run->source->opened(run, process);
	run->sink->targets(run, process);
	run->source->ready(run, process);
}

static void take_failed(struct run *run, const struct note_failed *note)
{
	message_error(&note->error);
	if (!run->refusal)
		run->refusal = message_status(note->error.code);
}

static void forget_child(struct run *run, struct process *process)
{
	if (run->options.verbose)
		report_ended(run, process, false);
	run->unseen += process->snapshots == 0;
	run->process_count--;
	memmove(process, process + 1,
		(size_t)(run->processes + run->process_count - process) *
			sizeof(*process));
	run->sink->targets(run, NULL);
}

static void take_ended(struct run *run, const struct note_ended *note)
{
	struct process *process = find_process(run, note->pid);

	pmp_profile_forget(run->profile, note->pid);
	if (!process)
		return;
	run->progress.threads -= process->threads;
	process->threads = 0;
	if (process->child) {
		forget_child(run, process);
		return;
	}
	if (process->snapshots == 0 && !run->refusal)
		run->refusal = PMP_EXIT_GONE;
	run->source->ended(run, process, note->threads_only);
}

/* The sampler may be damaged: its texts end where their room does. */
static void end_texts(struct pmp_error *error)
{
	error->message[sizeof(error->message) - 1] = '\0';
	error->hint[sizeof(error->hint) - 1] = '\0';
}

static void take_note(struct run *run, const struct pmp_received *received)
{
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
	case PMP_NOTE_OPENED: take_opened(run, &note.opened); break;
	case PMP_NOTE_FAILED:
		end_texts(&note.failed.error);
		take_failed(run, &note.failed);
		break;
	case PMP_NOTE_ENDED: take_ended(run, &note.ended); break;
	case PMP_NOTE_BEHIND:
		if (message_heard())
			report_behind(&note.behind);
		break;
	case PMP_NOTE_DONE:
		run->sampling.done = note.done;
		run->finished = true;
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

static void note_sample(struct run *run, const struct pmp_sample *sample)
{
	struct pmp_sample_info info = { .size = sizeof(info) };
	struct process *process;

	pmp_sample_info(sample, &info);
	run->snapshots++;
	run->skipped += info.skipped;
	process = find_process(run, info.pid);
	if (!process)
		return;
	run->sink->boundary(run, info.time);
	if (process->snapshots++ == 0)
		process->first = info.time;
	process->last = info.time;
	if (process->snapshots > run->progress.snapshots)
		run->progress.snapshots = process->snapshots;
	run->progress.threads += info.threads - process->threads;
	run->progress.stopped += info.any_stopped;
	process->threads = info.threads;
	snprintf(process->name, sizeof(process->name), "%s", info.name);
	if (message_heard() && !process->child && info.n_not_stopped > 0)
		note_unstoppable(process, sample, info.threads);
	/* A command does before its first one. */
	if (info.execed && process->snapshots > 1 &&
	    (!process->child || run->options.verbose))
		message_note(NULL,
			     "%d (%s) has executed another program: its maps and symbols "
			     "are read again",
			     (int)process->pid, process->name);
}

static void take_sample(struct run *run, struct pmp_sample *sample)
{
	struct pmp_error err = { 0 };
	int code;

	if (run->failure) {
		pmp_sample_free(sample);
		return;
	}
	note_sample(run, sample);
	code = pmp_profile_add(run->profile, sample, &err);
	pmp_sample_free(sample);
	if (code < 0) {
		message_error(&err);
		run_fail(run, PMP_EXIT_FAILED);
	} else {
		run->sink->sampled(run);
	}
}

void from_sampler_lost(struct run *run)
{
	char why[128] = "ended unexpectedly", hint[160] = "";
	bool held = sampler_held_too_long(&run->sampling.sampler);
	int status;

	loop_remove(run->loop, run->sampling.sampler.fd);
	sampler_close(&run->sampling.sampler);
	status = run->sampling.sampler.status;
	if (!run->sampling.lost && held && WIFSIGNALED(status) &&
	    WTERMSIG(status) == SIGKILL)
		run->sampling.lost =
			"held a thread for more than two seconds and was killed";
	if (run->sampling.lost)
		snprintf(why, sizeof(why), "%s", run->sampling.lost);
	else if (WIFSIGNALED(status))
		snprintf(why, sizeof(why), "was ended by signal %d (%s)",
			 WTERMSIG(status), strsignal(WTERMSIG(status)));
	if (run->sampling.where[0])
		snprintf(hint, sizeof(hint),
			 "it was asleep in the kernel, in %s: a disk or a "
			 "file server may not answer",
			 run->sampling.where);
	message_print(hint, "the sampler %s; the %llu snapshots taken are kept", why,
		      (unsigned long long)run->snapshots);
	if (!run->failure)
		run->failure = PMP_EXIT_FAILED;
	run->finished = true;
}

void from_sampler_receive(struct run *run)
{
	int most = run->sink->keys ? BATCH_OF_VIEW : BATCH;

	for (int i = 0; i < most && !run->finished; i++) {
		struct pmp_received received = { 0 };
		struct pmp_error err = { 0 };
		int code = pmp_receiver_next(run->sampling.receiver, &received, &err);

		if (code == 0)
			return;
		if (code < 0) {
			if (code != PMP_ESRCH)
				message_error(&err);
			if (code != PMP_ESRCH)
				sampler_kill(&run->sampling.sampler);
			from_sampler_lost(run);
			return;
		}
		if (received.sample)
			take_sample(run, received.sample);
		else
			take_note(run, &received);
	}
}
