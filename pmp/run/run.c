/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One loop serves the source, the sink, signals and the worker, who does all that may take
 * long.
 */
#include "run/run.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fault.h"
#include "fetch/fetcher.h"
#include "run/clock.h"
#include "run/new-profile.h"
#include "say/message.h"
#include "say/summary.h"
#include "source/diff.h"
#include "source/from-sampler.h"
#include "view/session.h"

#define PAUSE_TRIES 300 /* milliseconds */
#define END_PATIENCE \
	(5 * NS_PER_S) /* with an output that hangs, once an end was asked for */

void run_finish(struct run *run)
{
	run->source->finish(run);
}

void run_fail(struct run *run, int status)
{
	if (!run->failure)
		run->failure = status;
	run_finish(run);
}

void run_quit(struct run *run)
{
	run->quit = true;
	run_finish(run);
}

/* ---- signals --------------------------------------------------------------- */

static void detach(struct run *run)
{
	if (!PMP_FAULT("no-pause"))
		run->source->pause(run, true);
	for (int i = 0; i < PAUSE_TRIES && !run->source->is_detached(run); i++)
		poll(NULL, 0, 1);
}

static void sample_again(struct run *run)
{
	if (!run->paused)
		run->source->pause(run, false);
}

static bool is_background(void)
{
	pid_t group = tcgetpgrp(STDOUT_FILENO);

	return group > 0 && group != getpgrp() && !signals_ignore(SIGTTOU);
}

/* Nothing is attached. Continued in the background (bg), it stops again. */
static void stop_in_background(struct run *run)
{
	while (is_background() && !run->caught.end && signals_suspend(SIGTTOU))
		signals_take(&run->caught);
}

bool run_await_terminal(struct run *run)
{
	if (is_background()) {
		detach(run);
		stop_in_background(run);
		sample_again(run);
	}
	return !is_background();
}

static void suspend(struct run *run)
{
	detach(run);
	progress_clear();
	run->sink->suspend(run);
	signals_suspend(SIGTSTP);
	if (run->sink->keys)
		stop_in_background(run);
	run->sink->resume(run);
	run->caught.suspend = false;
	sample_again(run);
}

static void tend(struct run *run, bool idle)
{
	signals_take(&run->caught);
	if (run->caught.suspend)
		suspend(run);
	if (run->caught.end)
		run_finish(run);
	if (run->caught.limit && !run->told_limit) {
		run->told_limit = true;
		message_print(NULL, "not finished within --max-wall: ending");
		run_fail(run, PMP_EXIT_FAILED);
	}
	fetcher_tell(run->fetcher);
	run->source->tend(run, idle);
}

void run_wait(struct run *run, int timeout)
{
	loop_turn(run->loop, LOOP_URGENT, timeout);
	tend(run, false);
}

/* ---- the worker ------------------------------------------------------------ */

/* What hangs in the kernel cannot be waited for, and what it works on not be used again. */
static void abandon_output(struct run *run)
{
	const struct output_wait *wait = &run->output_wait;

	run->sink->leave(run);
	progress_clear();
	message_print(NULL, "cannot write %s: %s", wait->path,
		      wait->stream ? "nobody reads it"
				   : "its file system does not answer");
	sampler_kill(&run->sampling.sampler);
	_exit(run->source->failed ? run->source->failed : PMP_EXIT_OUTPUT);
}

static void check_output(struct run *run)
{
	uint64_t since = __atomic_load_n(&run->output_wait.since, __ATOMIC_ACQUIRE);
	uint64_t now = now_ns();

	if (!run->caught.end)
		return;
	if (!run->end_seen)
		run->end_seen = now;
	if (!since)
		return;
	if (since < run->end_seen)
		since = run->end_seen;
	if (now > since && now - since >= END_PATIENCE)
		abandon_output(run);
}

void run_work(struct run *run, void (*work)(void *arg), void *arg)
{
	struct job job = { .work = work, .arg = arg };

	if (!worker_submit(run->worker, &job)) {
		work(arg);
		return;
	}
	worker_unlock(run->worker);
	while (!worker_has_done(&job)) {
		run_wait(run, SUPERVISE_MS);
		fetcher_interrupt(run->fetcher, &run->caught);
		check_output(run);
	}
	worker_lock(run->worker);
}

/* ---- the loop -------------------------------------------------------------- */

static void on_signal(void *arg, short revents)
{
	struct run *run = arg;

	(void)revents;
	signals_take(&run->caught);
}

static void on_work(void *arg, short revents)
{
	struct run *run = arg;

	(void)revents;
	worker_take(run->worker);
}

static void lost_loop(struct run *run, int number)
{
	message_print(NULL, "cannot wait for the sampler: %s", strerror(number));
	sampling_lose(run, "was killed");
	from_sampler_lost(run);
}

static void turn(struct run *run)
{
	int n;

	run->heard = false;
	n = loop_turn(run->loop, LOOP_ALL, run->sink->timeout(run, SUPERVISE_MS));
	if (n < 0) {
		lost_loop(run, -n);
		return;
	}
	tend(run, !run->heard);
	if (!run->finished)
		progress_show(&run->progress, now_ns());
	run->sink->tend(run);
	if (!run->caught.write || run->finished)
		return;
	run->caught.write = false;
	run->sink->show(run);
}

static void let_go(void *arg)
{
	worker_unlock(arg);
}

static void take_again(void *arg)
{
	worker_lock(arg);
}

static bool open_loop(struct run *run)
{
	run->loop = loop_new();
	run->worker = worker_new();
	if (!run->loop || !run->worker)
		return false;
	loop_around(run->loop, let_go, take_again, run->worker);
	return loop_add(run->loop, run->wake, true, on_signal, run) &&
	       loop_add(run->loop, worker_wake(run->worker), true, on_work, run);
}

/* ---- a run ----------------------------------------------------------------- */

int run_open(struct run *run)
{
	struct pmp_error err = { 0 };
	int status;

	/* The files of each process's modules are open as long as it lives. A command
	 * has been forked with the limit as it was. */
	sampler_raise_limit();
	progress_open(&run->progress, &run->options);
	if (!open_loop(run)) {
		message_print(NULL, "not enough memory for the run");
		return PMP_EXIT_FAILED;
	}
	status = run->sink->open(run);
	if (status)
		return status;
	if (counting_make(run, run->source->saved, &run->symbolizer, &run->profile,
			  &err) < 0) {
		message_error(&err);
		return message_status(err.code);
	}
	run->sink->start(run);
	return 0;
}

static void write_result(struct run *run)
{
	if (run->snapshots == 0)
		return;
	run->sink->finish(run);
	if (run->failure == PMP_EXIT_OUTPUT)
		return;
	report_unwanted(run);
	report_filter(run);
	if (run->options.quiet)
		return;
	/* Often both profiles lack the same names. */
	if (!run->options.no_symbols && !report_modules(run->symbolizer) && run->base)
		report_modules(run->base_symbolizer);
	if (run->base)
		diff_report(run);
}

static bool stays(struct run *run)
{
	if (!run->sink->stays(run))
		return false;
	run->source->stop(run);
	return true;
}

int run_all(struct run *run)
{
	int status = run->source->receive(run);

	if (status)
		return status;
	while (!run->finished || stays(run))
		turn(run);
	run->sink->leave(run);
	progress_clear();
	run->source->stop(run);
	write_result(run);
	if (!run->options.stats)
		report_evicted(run);
	if (run->options.stats && run->snapshots && !run->options.every)
		report_stats(run);
	return run->source->status(run);
}

void run_close(struct run *run)
{
	if (run->source)
		run->source->close(run);
	fetcher_cancel(run->fetcher);
	worker_stop(run->worker);
	session_free(run->session);
	if (run->sink)
		run->sink->close(run);
	pmp_report_free(run->report);
	pmp_report_free(run->base_report);
	pmp_profile_free(run->profile);
	pmp_symbolizer_free(run->symbolizer);
	pmp_profile_free(run->base);
	pmp_symbolizer_free(run->base_symbolizer);
	fetcher_free(run->fetcher);
	worker_free(run->worker);
	loop_free(run->loop);
	free(run->processes);
}
