/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the sampler tells: samples, and what becomes of its targets. */
#include "notes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "clock.h"
#include "filename.h"
#include "message.h"
#include "report.h"
#include "results.h"

#define LEFT_TIME (2 * NS_PER_S)
#define BATCH 16	  /* messages received between two looks at signals */
#define BATCH_OF_VIEW 2	  /* the same when keys wait to be answered */
static struct pmp_process *find_process(struct pmp_app *app, pid_t pid)
{
	for (size_t i = 0; i < app->process_count; i++) {
		if (app->processes[i].pid == pid)
			return &app->processes[i];
	}
	return NULL;
}

/* A command may end up as another program; its files keep one name. */
static void name_output(struct pmp_app *app, const struct pmp_process *process)
{
	app->named = *process;
	if (app->command.pid)
		snprintf(app->named.name, sizeof(app->named.name), "%s",
			 pmp_filename_base(process->name));
}

static void take_opened(struct pmp_app *app, const struct pmp_note_opened *note)
{
	struct pmp_process *processes, *process;

	processes =
		reallocarray(app->processes, app->process_count + 1, sizeof(*processes));
	if (!processes) {
		pmp_message_print(NULL, "not enough memory for another process");
		pmp_front_fail(app, PMP_EXIT_FAILED);
		return;
	}
	app->processes = processes;
	process = &processes[app->process_count++];
	*process = (struct pmp_process){ .pid = note->pid, .child = note->child };
	snprintf(process->name, sizeof(process->name), "%.*s", PMP_NOTE_NAME_SIZE - 1,
		 note->name);
	if (app->command.pid && !note->child)
		snprintf(process->name, sizeof(process->name), "%s",
			 app->options.command[0]);
	else if (app->options.verbose)
		pmp_message_print(NULL, "sampling %d (%s)", (int)process->pid,
				  process->name);
	if (!app->output && !app->failure && !app->session) {
		name_output(app, process);
		pmp_results_open(app);
	}
	pmp_session_show(app->session);
	if (app->command.pid && !note->child && !app->failure)
		pmp_command_go(&app->command);
}

static void take_failed(struct pmp_app *app, const struct pmp_note_failed *note)
{
	pmp_message_error(&note->error);
	if (!app->refusal)
		app->refusal = pmp_message_status(note->error.code);
}

static void forget_child(struct pmp_app *app, struct pmp_process *process)
{
	if (app->options.verbose)
		pmp_report_ended(app, process, false);
	app->unseen += process->snapshots == 0;
	app->process_count--;
	memmove(process, process + 1,
		(size_t)(app->processes + app->process_count - process) *
			sizeof(*process));
	pmp_session_show(app->session);
}

void pmp_notes_left(struct pmp_app *app)
{
	if (!app->left_alone || pmp_now() - app->left_alone < LEFT_TIME)
		return;
	app->left_alone = 0;
	if (app->process_count > 1 && !app->options.quiet)
		pmp_message_print("^C ends the sampling",
				  "%s has ended; %zu of its processes go on",
				  app->options.command[0], app->process_count - 1);
}

static void take_ended(struct pmp_app *app, const struct pmp_note_ended *note)
{
	struct pmp_process *process = find_process(app, note->pid);
	bool wanted;

	if (!process)
		return;
	app->progress.threads -= process->threads;
	process->threads = 0;
	if (process->child) {
		forget_child(app, process);
		return;
	}
	if (app->command.pid && app->options.children)
		app->left_alone = pmp_now();
	if (process->snapshots == 0 && !app->refusal)
		app->refusal = PMP_EXIT_GONE;
	/* A command is expected to end; a target that never was sampled is an error. */
	wanted = app->command.pid ? process->snapshots == 0 && !app->options.quiet
				  : process->snapshots == 0 || pmp_message_heard();
	if (wanted && !app->command.exec_errno)
		pmp_report_ended(app, process, note->threads_only);
}

static void take_note(struct pmp_app *app, const struct pmp_received *received)
{
	static const size_t sizes[] = {
		[PMP_NOTE_OPENED] = sizeof(struct pmp_note_opened),
		[PMP_NOTE_FAILED] = sizeof(struct pmp_note_failed),
		[PMP_NOTE_ENDED] = sizeof(struct pmp_note_ended),
		[PMP_NOTE_BEHIND] = sizeof(struct pmp_note_behind),
		[PMP_NOTE_DONE] = sizeof(struct pmp_note_done),
	};
	union {
		struct pmp_note_opened opened;
		struct pmp_note_failed failed;
		struct pmp_note_ended ended;
		struct pmp_note_behind behind;
		struct pmp_note_done done;
	} note;

	if (received->note_kind >= sizeof(sizes) / sizeof(*sizes) ||
	    received->note_length != sizes[received->note_kind])
		return;
	memcpy(&note, received->note, received->note_length);
	switch ((enum pmp_note)received->note_kind) {
	case PMP_NOTE_OPENED: take_opened(app, &note.opened); break;
	case PMP_NOTE_FAILED: take_failed(app, &note.failed); break;
	case PMP_NOTE_ENDED: take_ended(app, &note.ended); break;
	case PMP_NOTE_BEHIND:
		if (pmp_message_heard())
			pmp_report_behind(&note.behind);
		break;
	case PMP_NOTE_DONE:
		app->done = note.done;
		app->finished = true;
		break;
	}
}

/* Of each process the first thread that sleeps where nothing can stop it; more
 * would only repeat it. */
static void note_unstoppable(struct pmp_process *process, const struct pmp_sample *sample,
			     size_t count)
{
	struct pmp_thread_info thread = { .size = sizeof(thread) };
	char why[256];

	for (size_t i = 0; i < count && !process->told_unstoppable; i++) {
		pmp_sample_thread(sample, i, &thread);
		if (thread.state != 'D' || !thread.why[0])
			continue;
		process->told_unstoppable = true;
		pmp_message_note(NULL,
				 "thread %d is in uninterruptible sleep (%s): not stopped",
				  (int)thread.tid,
				  pmp_escape(thread.why, why, sizeof(why)));
	}
}

static void note_sample(struct pmp_app *app, const struct pmp_sample *sample)
{
	struct pmp_sample_info info = { .size = sizeof(info) };
	struct pmp_process *process;

	pmp_sample_info(sample, &info);
	app->snapshots++;
	app->skipped += info.skipped;
	process = find_process(app, info.pid);
	if (!process)
		return;
	if (app->next_file && info.time >= app->next_file)
		pmp_results_next(app, info.time);
	else if (app->options.every && !app->next_file)
		app->next_file = info.time + app->options.every;
	if (process->snapshots++ == 0)
		process->first = info.time;
	process->last = info.time;
	if (process->snapshots > app->progress.snapshots)
		app->progress.snapshots = process->snapshots;
	app->progress.threads += info.threads - process->threads;
	app->progress.stopped += info.any_stopped;
	process->threads = info.threads;
	snprintf(process->name, sizeof(process->name), "%s", info.name);
	if (pmp_message_heard() && !process->child && info.n_not_stopped > 0)
		note_unstoppable(process, sample, info.threads);
	/* A command does before its first one. */
	if (info.execed && process->snapshots > 1 &&
	    (!process->child || app->options.verbose))
		pmp_message_note(
			NULL,
			"%d (%s) has executed another program: its maps and symbols "
			"are read anew",
			(int)process->pid, process->name);
}

static void take_sample(struct pmp_app *app, struct pmp_sample *sample)
{
	struct pmp_error err = { 0 };
	int code;

	if (app->failure) {
		pmp_sample_free(sample);
		return;
	}
	note_sample(app, sample);
	code = pmp_profile_add(app->profile, sample, &err);
	pmp_sample_free(sample);
	if (code < 0) {
		pmp_message_error(&err);
		pmp_front_fail(app, PMP_EXIT_FAILED);
	} else if (app->options.format->snapshots && app->output) {
		pmp_results_write(app);
	}
	pmp_session_sampled(app->session);
}

void pmp_notes_lost(struct pmp_app *app)
{
	char why[128] = "ended unexpectedly", hint[160] = "";
	int status;

	pmp_sampler_close(&app->sampler);
	status = app->sampler.status;
	if (app->lost)
		snprintf(why, sizeof(why), "%s", app->lost);
	else if (WIFSIGNALED(status))
		snprintf(why, sizeof(why), "was ended by signal %d (%s)",
			 WTERMSIG(status), strsignal(WTERMSIG(status)));
	if (app->where[0])
		snprintf(hint, sizeof(hint), "it was asleep in the kernel, in %s: a disk or a "
			 "file server may not answer", app->where);
	pmp_message_print(hint, "the sampler %s; the %llu snapshots taken are kept", why,
			  (unsigned long long)app->snapshots);
	if (!app->failure)
		app->failure = PMP_EXIT_FAILED;
	app->finished = true;
}

void pmp_notes_receive(struct pmp_app *app)
{
	int most = app->session ? BATCH_OF_VIEW : BATCH;

	for (int i = 0; i < most && !app->finished; i++) {
		struct pmp_received received = { 0 };
		struct pmp_error err = { 0 };
		int code = pmp_receiver_next(app->receiver, &received, &err);

		if (code == 0)
			return;
		if (code < 0) {
			if (code != PMP_ESRCH)
				pmp_message_error(&err);
			if (code != PMP_ESRCH)
				pmp_sampler_kill(&app->sampler);
			pmp_notes_lost(app);
			return;
		}
		if (received.sample)
			take_sample(app, received.sample);
		else
			take_note(app, &received);
	}
}
