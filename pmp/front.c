/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The front. One poll() serves the sampler's socket, signals and the command; the
 * output has a poll() of its own, in which signals and the watch over the sampler
 * go on. The sampler is watched by looks 100 ms apart at the page it shares: what
 * counts is how many looks have seen the same, so that a frozen machine or a
 * suspended pmp are not taken for a sampler that hangs; nor do looks count at one
 * that only waits for a processor, unless it holds a thread.
 */
#include "front.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "counting.h"
#include "diff.h"
#include "fetcher.h"
#include "host.h"
#include "message.h"
#include "notes.h"
#include "report.h"
#include "results.h"
#include "saved.h"

#define LOOK_MS 100
#define HELD_LOOKS 10	  /* a thread held for a second */
#define SILENT_LOOKS 50	  /* no sign of life for five */
#define FINISH_LOOKS 20	  /* the same, once it was told to finish */
#define SUSPEND_TRIES 300 /* milliseconds */

void pmp_front_finish(struct pmp_app *app)
{
	if (!app->finishing)
		pmp_sampler_command(&app->sampler, PMP_SAMPLER_FINISH);
	app->finishing = true;
}

void pmp_front_fail(struct pmp_app *app, int status)
{
	if (!app->failure)
		app->failure = status;
	pmp_front_finish(app);
}

void pmp_front_quit(struct pmp_app *app)
{
	app->quit = true;
	pmp_front_finish(app);
}

/* ---- signals and the watch ------------------------------------------------- */

/* Kill the sampler; what it has sent is still read. */
static void lose(struct pmp_app *app, const char *why)
{
	app->lost = why;
	pmp_sampler_where(&app->sampler, app->where, sizeof(app->where));
	app->silent_looks = 0;
	pmp_sampler_kill(&app->sampler);
}

/* idle: the sampler's socket has been found empty. */
static void watch(struct pmp_app *app, bool idle)
{
	struct pmp_sampler_page *page = app->sampler.page;
	uint64_t now = pmp_now(), held, beat;

	if (!page || app->finished || now - app->looked < (LOOK_MS - 5) * NS_PER_MS)
		return;
	held = page->held_since;
	beat = page->heartbeat;
	app->held_looks = held && held == app->held_seen ? app->held_looks + 1 : 0;
	if (!idle || beat != app->beat_seen)
		app->silent_looks = 0;
	else if (!pmp_sampler_is_starved(&app->sampler, &app->cpu_seen))
		app->silent_looks++;
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

void pmp_front_tend(struct pmp_app *app, bool idle)
{
	pmp_signals_take(&app->caught);
	if (app->caught.suspend)
		suspend(app);
	if (app->caught.end)
		pmp_front_finish(app);
	if (app->caught.pass_on && pmp_command_signal(&app->command, app->caught.pass_on))
		app->caught.pass_on = 0;
	if (app->caught.limit && !app->told_limit) {
		app->told_limit = true;
		pmp_message_print(NULL, "not finished within --max-wall: ending");
		pmp_front_fail(app, PMP_EXIT_FAILED);
	}
	pmp_command_reap(&app->command, app->sampler.pid);
	pmp_fetcher_tell(app->fetcher);
	watch(app, idle);
}

/* ---- the loop -------------------------------------------------------------- */

static void command_answers(struct pmp_app *app)
{
	pmp_command_started(&app->command);
	if (!app->command.exec_errno)
		return;
	pmp_message_print(NULL, "cannot run %s: %s", app->options.command[0],
			  strerror(app->command.exec_errno));
	pmp_front_finish(app);
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
		pmp_notes_lost(app);
		return;
	}
	if (fds[2].revents)
		command_answers(app);
	if (fds[1].revents)
		pmp_notes_receive(app);
	pmp_front_tend(app, !fds[1].revents);
	pmp_notes_left(app);
	if (!app->finished)
		pmp_progress_show(&app->progress, pmp_now());
	pmp_session_tend(app->session);
	/* The terminal has gone; HUP may be ignored. */
	if (fds[3].revents & (POLLHUP | POLLERR))
		pmp_front_quit(app);
	if (app->caught.write && !app->finished)
		pmp_results_now(app);
	/* When no snapshot comes that would do it. */
	if (app->next_file && !app->finished && !fds[1].revents &&
	    pmp_now() >= app->next_file + LOOK_MS * NS_PER_MS)
		pmp_results_next(app, pmp_now());
	/* Killed, and the end of its socket does not come: it hangs in the kernel. */
	if (app->lost && !app->finished && app->silent_looks > FINISH_LOOKS)
		pmp_notes_lost(app);
}

/* Also when pmp was told to end: what ends it ends the command. */
static void wait_for_command(struct pmp_app *app)
{
	struct pollfd wake = { .fd = app->wake, .events = POLLIN };

	while (app->command.started && !pmp_command_poll(&app->command)) {
		if (app->caught.limit)
			return;
		poll(&wake, 1, -1);
		pmp_front_tend(app, false);
	}
}

static void write_result(struct pmp_app *app)
{
	if (app->snapshots == 0)
		return;
	pmp_results_end(app);
	if (app->failure == PMP_EXIT_OUTPUT)
		return;
	pmp_report_unwanted(app);
	pmp_report_filter(app);
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

/* ---- a run -------------------------------------------------------------------- */

int pmp_front_open(struct pmp_app *app)
{
	struct pmp_error err = { 0 };

	/* The files of each process's modules are open as long as it lives. A command
	 * has been forked with the limit as it was. */
	pmp_sampler_raise_limit();
	pmp_progress_open(&app->progress, &app->options);
	if (app->options.wants_screen) {
		app->session = pmp_session_new(app, &pmp_host);
		if (!app->session) {
			pmp_message_print(NULL, "not enough memory for the screen");
			return PMP_EXIT_FAILED;
		}
	}
	if ((!app->options.file_count &&
	     pmp_receiver_new(app->sampler.fd, &app->receiver, &err) < 0) ||
	    pmp_counting_make(app, app->options.file_count > 0, &app->symbolizer,
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
	pmp_results_open(app);
	if (app->options.format->snapshots && app->output)
		pmp_results_write(app);
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
	if (!app->options.stats)
		pmp_report_evicted(app);
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
	pmp_fetcher_cancel(app->fetcher);
	pmp_session_free(app->session);
	pmp_output_free(app->output);
	pmp_profile_free(app->profile);
	pmp_symbolizer_free(app->symbolizer);
	pmp_profile_free(app->base);
	pmp_symbolizer_free(app->base_symbolizer);
	pmp_fetcher_free(app->fetcher);
	pmp_receiver_free(app->receiver);
	free(app->processes);
}
