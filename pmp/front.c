/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The front. One poll() serves the sampler's socket, signals and the command; the
 * output has a poll() of its own, in which signals and the watch over the sampler
 * go on. The sampler is watched by looks 100 ms apart at the page it shares: what
 * counts is how many looks have seen the same, so that a frozen machine or a
 * suspended pmp are not taken for a sampler that hangs.
 */
#include "front.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "diff.h"
#include "filename.h"
#include "message.h"
#include "report.h"
#include "saved.h"

#define LOOK_MS 100
#define NS_PER_MS UINT64_C(1000000)
#define HELD_LOOKS 10	  /* a thread held for a second */
#define SILENT_LOOKS 50	  /* no sign of life for five */
#define FINISH_LOOKS 20	  /* the same, once it was told to finish */
#define NAME_MAX_LENGTH 1024
#define LEFT_TIME (2000 * NS_PER_MS)
#define BATCH 16	  /* messages received between two looks at signals */
#define BATCH_OF_VIEW 2	  /* the same when keys wait to be answered */
#define SUSPEND_TRIES 300 /* milliseconds */

static void finish(struct pmp_app *app)
{
	if (!app->finishing)
		pmp_sampler_command(&app->sampler, PMP_SAMPLER_FINISH);
	app->finishing = true;
}

static void fail(struct pmp_app *app, int status)
{
	if (!app->failure)
		app->failure = status;
	finish(app);
}

/* Leave the live view. */
static void quit(struct pmp_app *app)
{
	app->quit = true;
	finish(app);
}

/* ---- signals and the watch ------------------------------------------------- */

/* Kill the sampler; what it has sent is still read. */
static void lose(struct pmp_app *app, const char *why)
{
	app->lost = why;
	app->silent_looks = 0;
	pmp_sampler_kill(&app->sampler);
}

/* idle: the sampler's socket has been found empty. */
static void watch(struct pmp_app *app, bool idle)
{
	struct pmp_sampler_page *page = app->sampler.page;
	uint64_t now = pmp_sampler_clock(), held, beat;

	if (!page || app->finished || now - app->looked < (LOOK_MS - 5) * NS_PER_MS)
		return;
	held = page->held_since;
	beat = page->heartbeat;
	app->held_looks = held && held == app->held_seen ? app->held_looks + 1 : 0;
	app->silent_looks = idle && beat == app->beat_seen ? app->silent_looks + 1 : 0;
	app->looked = now;
	app->held_seen = held;
	app->beat_seen = beat;
	if (app->lost)
		return;
	if (app->held_looks >= HELD_LOOKS)
		lose(app, "held a thread for more than a second and was killed");
	else if (app->silent_looks >= (app->finishing ? FINISH_LOOKS : SILENT_LOOKS))
		lose(app, "did not answer any more and was killed");
}

/*
 * Suspended, pmp has nothing attached. The sampler marks that it captures before it
 * looks for commands, and we send the command before we look at the mark: when the
 * mark is down it has seen the command or will before it touches a thread.
 */
static void suspend(struct pmp_app *app)
{
	pmp_sampler_command(&app->sampler, PMP_SAMPLER_PAUSE);
	for (int i = 0; i < SUSPEND_TRIES && app->sampler.page && !app->finished; i++) {
		if (!__atomic_load_n(&app->sampler.page->capturing, __ATOMIC_SEQ_CST))
			break;
		poll(NULL, 0, 1);
	}
	pmp_progress_clear();
	pmp_session_suspend(app->session);
	pmp_signals_suspend();
	pmp_session_resume(app->session);
	app->caught.suspend = false;
	if (!app->paused)
		pmp_sampler_command(&app->sampler, PMP_SAMPLER_RESUME);
}

static void tend(struct pmp_app *app, bool idle)
{
	pmp_signals_take(&app->caught);
	if (app->caught.suspend)
		suspend(app);
	if (app->caught.end)
		finish(app);
	if (app->caught.pass_on && pmp_command_signal(&app->command, app->caught.pass_on))
		app->caught.pass_on = 0;
	if (app->caught.limit && !app->told_limit) {
		app->told_limit = true;
		pmp_message_print(NULL, "not finished within --max-wall: ending");
		fail(app, PMP_EXIT_FAILED);
	}
	pmp_command_reap(&app->command, app->sampler.pid);
	watch(app, idle);
}

/* The wait of a struct pmp_output_wait. */
static void wait_for_output(void *arg, int fd)
{
	struct pmp_app *app = arg;
	struct pollfd fds[] = {
		{ .fd = fd, .events = POLLOUT },
		{ .fd = app->wake, .events = POLLIN },
	};

	for (;;) {
		int n = poll(fds, 2, LOOK_MS);

		if ((n > 0 && fds[0].revents) || (n < 0 && errno != EINTR))
			return;
		tend(app, false);
	}
}

/* ---- the profile ------------------------------------------------------------ */

static int make_profile(const struct pmp_app *app, bool saved,
			struct pmp_symbolizer *symbolizer, struct pmp_profile **profile,
			struct pmp_error *err)
{
	const bool live = app->session != NULL;
	const struct pmp_profile_options options = {
		.size = sizeof(options),
		.by_thread = app->options.by_thread,
		.keep_rounds = app->options.format->snapshots,
		.command = saved ? NULL : app->command_line,
		.details = !app->options.diff &&
			   (saved || live || app->options.by_state ||
			    app->options.format->details),
		.times = app->options.format->times,
		.period = saved ? 0 : app->options.interval,
		.host = saved ? NULL : app->host,
		.live = live,
		.max_memory = app->options.max_memory,
		.filter = app->options.filter,
	};

	return pmp_profile_new(&options, symbolizer, profile, err);
}

/* Count from the beginning; on failure what was counted stays. */
static int restart_profile(struct pmp_app *app, struct pmp_error *err)
{
	struct pmp_profile *old = app->profile;
	int code = make_profile(app, app->options.file_count > 0, app->symbolizer,
				&app->profile, err);

	if (code < 0)
		app->profile = old;
	else
		pmp_profile_free(old);
	return code;
}

/* ---- output ---------------------------------------------------------------- */

/* Of a series of files the next one may succeed: a disk is full for a while. */
static void output_failed(struct pmp_app *app)
{
	if (app->options.every && app->options.output && app->next_file)
		app->file_failed = true;
	else
		fail(app, PMP_EXIT_OUTPUT);
}

static void write_failed(struct pmp_app *app, const struct pmp_error *err)
{
	if (pmp_output_error(app->output)) {
		pmp_output_complain(app->output);
		output_failed(app);
	} else {
		pmp_message_error(err);
		fail(app, PMP_EXIT_FAILED);
	}
}

/* The profile in its format, as far as it has come. */
static void write_profile(struct pmp_app *app)
{
	const struct pmp_write_options options = {
		.size = sizeof(options),
		.by_thread = app->options.by_thread || app->options.by_group,
		.lines = app->options.lines,
		.module = app->options.module,
		.raw_names = app->options.by_thread,
		.title = app->options.title,
		.width = (unsigned)app->options.width,
		.icicle = app->options.icicle,
		.by_state = app->options.by_state,
		.legend = app->options.verbose > 0,
		.all_rows = app->options.verbose > 0,
		.columns = pmp_diff_columns(app),
	};
	const struct pmp_sink sink = { pmp_output_write, app->output };
	struct pmp_error err = { 0 };
	int code;

	if (app->failure == PMP_EXIT_OUTPUT || pmp_output_error(app->output))
		return;
	/* Functions are named now, for which files are read. */
	if (!app->options.output && isatty(STDOUT_FILENO))
		pmp_progress_clear();
	else if (!app->options.format->snapshots)
		pmp_progress_work(&app->progress, "naming functions");
	if (app->base)
		code = pmp_profile_write_diff(app->profile, app->base, app->options.format,
					      &options, &sink, &err);
	else
		code = pmp_profile_write(app->profile, app->options.format, &options, &sink,
					 &err);
	if (code < 0 || pmp_output_flush(app->output) < 0)
		write_failed(app, &err);
	pmp_progress_work(&app->progress, NULL);
}

static void commit(struct pmp_app *app)
{
	struct pmp_error err;

	if (app->failure == PMP_EXIT_OUTPUT || pmp_output_error(app->output))
		return;
	if (pmp_output_commit(app->output) < 0) {
		write_failed(app, NULL);
		return;
	}
	pmp_report_written(app);
	if (app->options.keep &&
	    pmp_output_keep(app->output, app->options.keep, &err) < 0)
		pmp_message_error(&err);
}

/* USR1: what there is, now. Snapshots are written when they arrive. */
static void write_now(struct pmp_app *app)
{
	app->caught.write = false;
	if (app->snapshots == 0 || !app->output)
		return;
	if (!app->options.format->snapshots) {
		write_profile(app);
		commit(app);
	} else if (!pmp_output_error(app->output) &&
		   pmp_output_commit_copy(app->output) < 0) {
		write_failed(app, NULL);
	}
}

static void open_output(struct pmp_app *app)
{
	const struct pmp_output_wait wait = { wait_for_output, app };
	struct pmp_error err;
	int code = pmp_output_open(&app->output, app->options.output, app->stdout_closed,
				   app->named.pid, app->named.name, &err);

	if (code < 0) {
		pmp_message_error(&err);
		if (code == PMP_ENOMEM)
			fail(app, PMP_EXIT_FAILED);
		else
			output_failed(app);
		return;
	}
	pmp_output_set_wait(app->output, &wait);
	if (pmp_output_error(app->output)) /* standard output was closed */
		write_failed(app, NULL);
}

/* All of the profile in hand, under its name. */
static void finish_file(struct pmp_app *app)
{
	if (!app->options.format->snapshots)
		write_profile(app);
	commit(app);
}

static uint64_t samples_in_hand(const struct pmp_app *app)
{
	struct pmp_profile_info info = { .size = sizeof(info) };

	pmp_profile_info(app->profile, &info);
	return info.samples;
}

/* --every: the file in hand is complete; another one begins, with a profile of its own.
 * now: when a snapshot was taken, which may have waited long for us, or this moment. */
static void begin_next_file(struct pmp_app *app, uint64_t now)
{
	const uint64_t every = app->options.every;
	struct pmp_error err = { 0 };

	app->next_file += (now - app->next_file) / every * every + every;
	if (samples_in_hand(app)) {
		if (!app->output)
			open_output(app);
		if (app->output)
			finish_file(app);
		if (restart_profile(app, &err) < 0) {
			pmp_message_error(&err);
			fail(app, PMP_EXIT_FAILED);
		}
	}
	pmp_output_free(app->output);
	app->output = NULL;
	if (!app->failure)
		open_output(app);
}

/* ---- what the sampler says ------------------------------------------------- */

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
		fail(app, PMP_EXIT_FAILED);
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
		open_output(app);
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
	app->process_count--;
	memmove(process, process + 1,
		(size_t)(app->processes + app->process_count - process) *
			sizeof(*process));
	pmp_session_show(app->session);
}

/* Who does not expect it would wonder why pmp does not end. */
static void tell_left(struct pmp_app *app)
{
	if (!app->left_alone || pmp_sampler_clock() - app->left_alone < LEFT_TIME)
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
		app->left_alone = pmp_sampler_clock();
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
		begin_next_file(app, info.time);
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
		fail(app, PMP_EXIT_FAILED);
	} else if (app->options.format->snapshots && app->output) {
		write_profile(app);
	}
	pmp_session_sampled(app->session);
}

/* Why did the sampler end without its last note? */
static void tell_lost(struct pmp_app *app)
{
	char why[128] = "ended unexpectedly";
	int status;

	pmp_sampler_close(&app->sampler);
	status = app->sampler.status;
	if (app->lost)
		snprintf(why, sizeof(why), "%s", app->lost);
	else if (WIFSIGNALED(status))
		snprintf(why, sizeof(why), "was ended by signal %d (%s)",
			 WTERMSIG(status), strsignal(WTERMSIG(status)));
	pmp_message_print(NULL, "the sampler %s; the %llu snapshots taken are kept", why,
			  (unsigned long long)app->snapshots);
	if (!app->failure)
		app->failure = PMP_EXIT_FAILED;
	app->finished = true;
}

/* Take what has arrived, a bounded number of messages. */
static void receive(struct pmp_app *app)
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
			tell_lost(app);
			return;
		}
		if (received.sample)
			take_sample(app, received.sample);
		else
			take_note(app, &received);
	}
}

/* ---- the loop -------------------------------------------------------------- */

static void command_answers(struct pmp_app *app)
{
	pmp_command_started(&app->command);
	if (!app->command.exec_errno)
		return;
	pmp_message_print(NULL, "cannot run %s: %s", app->options.command[0],
			  strerror(app->command.exec_errno));
	finish(app);
}

static void turn(struct pmp_app *app)
{
	struct pollfd fds[] = {
		{ .fd = app->wake, .events = POLLIN },
		{ .fd = app->sampler.fd, .events = POLLIN },
		{ .fd = app->command.fd, .events = POLLIN },
		{ .fd = pmp_session_input(app->session), .events = POLLIN },
		{ .fd = pmp_session_wake(app->session), .events = POLLIN },
	};
	int timeout = pmp_session_timeout(app->session, LOOK_MS), n;

	pmp_session_unlock(app->session);
	n = poll(fds, 5, timeout);
	pmp_session_lock(app->session);
	if (n < 0 && errno != EINTR) {
		pmp_message_print(NULL, "cannot wait for the sampler: %s",
				  strerror(errno));
		lose(app, "was killed");
		tell_lost(app);
		return;
	}
	if (fds[2].revents)
		command_answers(app);
	if (fds[1].revents)
		receive(app);
	tend(app, !fds[1].revents);
	tell_left(app);
	if (!app->finished)
		pmp_progress_show(&app->progress, pmp_sampler_clock());
	pmp_session_tend(app->session);
	/* The terminal has gone; HUP may be ignored. */
	if (fds[3].revents & (POLLHUP | POLLERR))
		quit(app);
	if (app->caught.write && !app->finished)
		write_now(app);
	/* When no snapshot comes that would do it. */
	if (app->next_file && !app->finished && !fds[1].revents &&
	    pmp_sampler_clock() >= app->next_file + LOOK_MS * NS_PER_MS)
		begin_next_file(app, pmp_sampler_clock());
	/* Killed, and the end of its socket does not come: it hangs in the kernel. */
	if (app->lost && !app->finished && app->silent_looks > FINISH_LOOKS)
		tell_lost(app);
}

/* Also when pmp was told to end: what ends it ends the command. */
static void wait_for_command(struct pmp_app *app)
{
	struct pollfd wake = { .fd = app->wake, .events = POLLIN };

	while (app->command.started && !pmp_command_poll(&app->command)) {
		if (app->caught.limit)
			return;
		poll(&wake, 1, -1);
		tend(app, false);
	}
}

static void write_result(struct pmp_app *app)
{
	if (app->snapshots == 0)
		return;
	if (app->next_file && !app->output)
		open_output(app);
	if (app->output && samples_in_hand(app))
		finish_file(app);
	if (app->failure == PMP_EXIT_OUTPUT)
		return;
	pmp_report_filter(app);
	if (!app->options.stats)
		pmp_report_evicted(app);
	if (app->options.quiet)
		return;
	/* Often both profiles lack the same names. */
	if (!app->options.no_symbols && !pmp_report_modules(app->symbolizer) && app->base)
		pmp_report_modules(app->base_symbolizer);
	if (app->base)
		pmp_diff_report(app);
}

static int ordinary_status(const struct pmp_app *app)
{
	if (app->failure || app->file_failed)
		return app->failure ? app->failure : PMP_EXIT_OUTPUT;
	if (app->caught.end && app->caught.end != SIGINT)
		return PMP_EXIT_SIGNAL + app->caught.end;
	if (app->snapshots)
		return PMP_EXIT_OK;
	if (app->caught.end)
		return PMP_EXIT_SIGNAL + SIGINT;
	return app->refusal ? app->refusal : PMP_EXIT_FAILED;
}

static int command_status(const struct pmp_app *app)
{
	const struct pmp_command *command = &app->command;

	if (app->failure)
		return PMP_EXIT_SELF;
	if (command->ended || command->exec_errno)
		return pmp_command_status(command);
	return app->caught.end ? PMP_EXIT_SIGNAL + app->caught.end : PMP_EXIT_SELF;
}

static int make_symbolizer(const struct pmp_app *app, struct pmp_symbolizer **symbolizer,
			   struct pmp_error *err)
{
	const struct pmp_options *options = &app->options;
	struct pmp_symbolizer_options symbolizer_options = {
		.size = sizeof(symbolizer_options),
		.no_symbols = options->no_symbols,
		.no_demangle = options->no_demangle,
		.no_inline = options->no_inline,
		.lines = options->lines || options->format->details,
		.debug_dir = options->debug_dir,
		.symfs = options->symfs,
		.log = options->debug ? pmp_message_debug : NULL,
		.log_arg = (void *)options->debug,
	};
	pmp_session_symbolizer(app->session, &symbolizer_options);
	return pmp_symbolizer_new(&symbolizer_options, symbolizer, err);
}

int pmp_front_make(const struct pmp_app *app, bool saved,
		   struct pmp_symbolizer **symbolizer, struct pmp_profile **profile,
		   struct pmp_error *err)
{
	int code = make_symbolizer(app, symbolizer, err);

	return code < 0 ? code : make_profile(app, saved, *symbolizer, profile, err);
}

/* ---- what the live view asks for --------------------------------------------- */

static void view_pause(struct pmp_app *app, bool paused)
{
	app->paused = paused;
	pmp_sampler_command(&app->sampler,
			    paused ? PMP_SAMPLER_PAUSE : PMP_SAMPLER_RESUME);
}

static void view_interval(struct pmp_app *app, uint64_t interval)
{
	if (app->sampler.page)
		app->sampler.page->interval = interval;
	pmp_sampler_command(&app->sampler, PMP_SAMPLER_INTERVAL);
}

static void view_now(struct pmp_app *app)
{
	pmp_sampler_command(&app->sampler, PMP_SAMPLER_NOW);
}

/* All has been written if code is 0: the file gets its name. Frees the output. */
static int finish_output(struct pmp_output *output, const char *path, int code,
			 struct pmp_error *err)
{
	if (code == 0 && pmp_output_commit(output) < 0)
		code = pmp_message_fill(err, PMP_EIO, -pmp_output_error(output),
					"cannot write %s", path);
	pmp_output_free(output);
	return code;
}

static int view_write(struct pmp_app *app, const char *path, struct pmp_error *err)
{
	const struct pmp_write_options options = {
		.size = sizeof(options),
		.by_thread = app->options.by_thread || app->options.by_group,
		.lines = app->options.lines,
		.module = app->options.module,
		.raw_names = app->options.by_thread,
	};
	const struct pmp_format *format = pmp_options_format_of(path);
	struct pmp_process process = { .pid = 0 };
	struct pmp_output *output = NULL;
	struct pmp_sink sink;
	int code;

	if (app->options.file_count)
		pmp_saved_name(app, process.name, sizeof(process.name));
	else if (app->process_count)
		process = app->processes[0];
	if (!format || !*process.name || !pmp_filename_check(path))
		return pmp_message_fill(err, PMP_EINVAL, 0,
					"the extension of '%s' names no format", path);
	code = pmp_output_open(&output, path, false, process.pid, process.name, err);
	if (code < 0)
		return code;
	sink = (struct pmp_sink){ pmp_output_write, output };
	code = pmp_profile_write(app->profile, format, &options, &sink, err);
	return finish_output(output, path, code, err);
}

/* A name as it is: nothing in it stands for something else. */
static bool quote_name(const char *path, char *name, size_t size)
{
	size_t length = 0;

	for (; *path && length + 2 < size; path++) {
		if (*path == '%')
			name[length++] = '%';
		name[length++] = *path;
	}
	name[length] = '\0';
	return !*path;
}

static int view_save(struct pmp_app *app, const char *path, const char *text, size_t length,
		     struct pmp_error *err)
{
	struct pmp_output *output = NULL;
	char name[2 * NAME_MAX_LENGTH];
	int code;

	(void)app;
	if (!quote_name(path, name, sizeof(name)))
		return pmp_message_fill(err, PMP_EIO, ENAMETOOLONG, "cannot write %s", path);
	code = pmp_output_open(&output, name, false, 0, "", err);
	if (code < 0)
		return code;
	/* An error of this shows when the file is to get its name. */
	pmp_output_write(output, text, length);
	return finish_output(output, path, 0, err);
}

static const struct pmp_session_host session_host = {
	.pause = view_pause,
	.set_interval = view_interval,
	.sample_now = view_now,
	.reset = restart_profile,
	.write = view_write,
	.save = view_save,
	.quit = quit,
};

/* ---- a run -------------------------------------------------------------------- */

int pmp_front_open(struct pmp_app *app)
{
	struct pmp_error err = { 0 };

	/* The files of each process's modules are open as long as it lives. A command
	 * has been forked with the limit as it was. */
	pmp_sampler_raise_limit();
	pmp_progress_open(&app->progress, &app->options);
	if (app->options.wants_screen) {
		app->session = pmp_session_new(app, &session_host);
		if (!app->session) {
			pmp_message_print(NULL, "not enough memory for the screen");
			return PMP_EXIT_FAILED;
		}
	}
	if ((!app->options.file_count &&
	     pmp_receiver_new(app->sampler.fd, &app->receiver, &err) < 0) ||
	    pmp_front_make(app, app->options.file_count > 0, &app->symbolizer,
			   &app->profile, &err) < 0) {
		pmp_message_error(&err);
		return pmp_message_status(err.code);
	}
	pmp_session_start(app->session);
	return 0;
}

/* Saved profiles: all there is is there at once. */
static void take_files(struct pmp_app *app)
{
	struct pmp_profile_info info = { .size = sizeof(info) };
	struct pmp_process none = { .pid = 0 };

	app->finished = app->finishing = true;
	app->failure = pmp_saved_read(app);
	if (app->failure)
		return;
	pmp_profile_info(app->profile, &info);
	app->snapshots = info.samples;
	app->done.elapsed = info.last_time - info.first_time;
	pmp_saved_name(app, none.name, sizeof(none.name));
	app->named = none;
	if (app->session && pmp_session_show_saved(app->session))
		return;
	open_output(app);
	if (app->options.format->snapshots && app->output)
		write_profile(app);
}

/* After the last sample the view stays until it is left. */
static bool stays(struct pmp_app *app)
{
	if (!pmp_session_stays(app->session) || app->quit || app->caught.end ||
	    !app->snapshots)
		return false;
	if (app->sampler.fd >= 0)
		pmp_sampler_close(&app->sampler);
	pmp_session_end(app->session);
	return true;
}

int pmp_front_run(struct pmp_app *app)
{
	if (app->options.file_count)
		take_files(app);
	while (!app->finished || stays(app))
		turn(app);
	pmp_session_close(app->session);
	pmp_progress_clear();
	pmp_sampler_close(&app->sampler);
	write_result(app);
	if (app->options.stats && app->snapshots && !app->options.every)
		pmp_report_stats(app);
	wait_for_command(app);
	return app->command.pid ? command_status(app) : ordinary_status(app);
}

void pmp_front_close(struct pmp_app *app)
{
	pmp_sampler_kill(&app->sampler);
	pmp_sampler_close(&app->sampler);
	pmp_command_close(&app->command);
	pmp_session_free(app->session);
	pmp_output_free(app->output);
	pmp_profile_free(app->profile);
	pmp_symbolizer_free(app->symbolizer);
	pmp_profile_free(app->base);
	pmp_symbolizer_free(app->base_symbolizer);
	pmp_receiver_free(app->receiver);
	free(app->processes);
}
