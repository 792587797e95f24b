/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One loop serves the source, the sinks, signals and the worker, which does the slow work.
 */
#include "run/run.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fault.h"
#include "confine/rights.h"
#include "fetch/fetcher.h"
#include "namer/namer.h"
#include "run/clock.h"
#include "run/confine.h"
#include "run/counting.h"
#include "run/limit.h"
#include "run/loop.h"
#include "run/own-processes.h"
#include "run/signals.h"
#include "run/run-state.h"
#include "run/spent.h"
#include "run/supervise.h"
#include "run/worker.h"
#include "sampler/process.h"
#include "say/message.h"
#include "say/progress.h"
#include "say/rights.h"
#include "say/summary.h"
#include "sink/sink.h"
#include "source/diff.h"
#include "source/source.h"
#include "view/screen.h"

#define PAUSE_TRIES 300 /* milliseconds */
#define END_PATIENCE \
	(5 * NS_PER_S) /* for an output that hangs, once pmp was asked to end */
#define LIMIT_PATIENCE (3 * NS_PER_S)  /* for names, of the 5 s that --max-wall leaves */
#define NAMES_PATIENCE (60 * NS_PER_S) /* for names; service managers wait for 90 s */
#define FETCH_PATIENCE (5 * NS_PER_S)  /* for fetching, if a server also writes a file */

#define SINKS_MAX 2 /* a server, and a file */

/* A sink, and what counts samples for it. */
struct run_sink {
	struct sink sink;
	const struct sink_type *opened; /* its type at first */
	struct counting counting;
};

struct run {
	const struct options *options;
	int wake; /* of signals_open() */
	struct loop *loop;
	struct worker *worker;
	struct worker *namer_worker; /* a second one, for names; NULL: no sink serves */
	struct fetcher *fetcher;     /* of --debuginfod, or NULL */
	struct namer *namer;	     /* reads files; NULL: --no-sandbox */
	struct progress progress;
	struct source source;
	struct run_sink sinks[SINKS_MAX];
	size_t sink_count;
	struct run_state state;
	bool begun;	     /* the source has been opened */
	const char *reading; /* the file that the worker reads, or NULL */
	bool working;	     /* the run waits for a job of the worker */
	bool said;	     /* that no more files are read */
	uint64_t end_seen;   /* when signals asked pmp to end, or 0 */
	uint64_t limit_seen; /* the same for --max-wall */
};

static void finish(void *arg)
{
	struct run *run = arg;

	if (run->begun)
		run->source.type->finish(&run->source);
}

static void fail(void *arg, int status)
{
	struct run *run = arg;

	if (!run->state.failure)
		run->state.failure = status;
	finish(run);
}

/* ---- signals --------------------------------------------------------------- */

static void pause_source(struct run *run, bool paused)
{
	run->source.type->pause(&run->source, paused);
}

static void detach(struct run *run)
{
	const struct source *source = &run->source;

	if (!run->begun)
		return;
	if (!PMP_FAULT("no-pause"))
		pause_source(run, true);
	for (int i = 0; i < PAUSE_TRIES && !source->type->is_detached(source); i++)
		loop_turn(run->loop, LOOP_URGENT, 1);
}

static void sample_again(struct run *run)
{
	if (run->begun && !run->state.paused)
		pause_source(run, false);
}

static bool is_background(void)
{
	pid_t group = tcgetpgrp(STDOUT_FILENO);

	return group > 0 && group != getpgrp() && !signals_ignore(SIGTTOU);
}

/* Nothing is attached. If pmp is continued in the background (bg), it stops again. */
static void stop_in_background(struct run *run)
{
	struct caught *caught = &run->state.caught;

	while (is_background() && !caught->end && signals_suspend(SIGTTOU))
		signals_take(caught);
}

static bool await_terminal(void *arg)
{
	struct run *run = arg;

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
	for (size_t i = 0; i < run->sink_count; i++)
		run->sinks[i].sink.type->suspend(&run->sinks[i].sink);
	signals_suspend(SIGTSTP);
	if (run->state.keys)
		stop_in_background(run);
	for (size_t i = 0; i < run->sink_count; i++)
		run->sinks[i].sink.type->resume(&run->sinks[i].sink);
	run->state.caught.suspend = false;
	sample_again(run);
}

/* Say it when it happens: this may go on for weeks. */
static void tell_given_up(struct run *run)
{
	const char *times = namer_given_up(run->namer);

	if (!times || run->said)
		return;
	run->said = true;
	message_note(
		"if you trust these programs, --no-sandbox reads their files in pmp itself",
		"no more files are read: the process for that has ended %s; what had no "
		"name by then has an address",
		times);
}

static void tend(struct run *run, bool idle)
{
	struct caught *caught = &run->state.caught;

	signals_take(caught);
	if (caught->suspend)
		suspend(run);
	if (caught->end) {
		if (!run->end_seen)
			run->end_seen = now_ns();
		finish(run);
	}
	if (caught->limit && !run->limit_seen) {
		run->limit_seen = now_ns();
		message_print(NULL, "not finished within --max-wall: ending");
		fail(run, PMP_EXIT_FAILED);
	}
	fetcher_tell(run->fetcher);
	tell_given_up(run);
	run->state.helpers_cpu = spent_by_ended() + namer_cpu(run->namer);
	if (run->begun)
		run->source.type->tend(&run->source, idle);
}

static void wait_urgent(void *arg, int timeout)
{
	struct run *run = arg;

	loop_turn(run->loop, LOOP_URGENT, timeout);
	tend(run, false);
}

/* ---- the worker ------------------------------------------------------------ */

static void leave(struct run *run)
{
	for (size_t i = 0; i < run->sink_count; i++)
		run->sinks[i].sink.type->leave(&run->sinks[i].sink);
}

/* The worker hangs in the kernel: it cannot be joined, nor its data be used. */
static void abandon_output(struct run *run, const struct atomic_file_wait *wait)
{
	const struct source *source = &run->source;

	leave(run);
	progress_clear();
	message_print(NULL, "cannot write %s: %s", wait->path,
		      wait->stream ? "nothing reads it"
				   : "its file system does not answer");
	source->type->kill(&run->source);
	_exit(source->type->failed ? source->type->failed : PMP_EXIT_OUTPUT);
}

static void check_output(struct run *run, const struct atomic_file_wait *wait)
{
	uint64_t since = __atomic_load_n(&wait->since, __ATOMIC_ACQUIRE);
	uint64_t now = now_ns();

	if (!since)
		return;
	if (since < run->end_seen)
		since = run->end_seen;
	if (now > since && now - since >= END_PATIENCE)
		abandon_output(run, wait);
}

static void check_outputs(struct run *run)
{
	if (!run->state.caught.end)
		return;
	for (size_t i = 0; i < run->sink_count; i++)
		check_output(run, &run->sinks[i].sink.wait);
}

/* Writing needs all names. Once pmp was asked to end, it writes a profile without them. */
static void check_names(struct run *run)
{
	const uint64_t now = now_ns();

	if ((run->limit_seen && now - run->limit_seen >= LIMIT_PATIENCE) ||
	    (run->end_seen && now - run->end_seen >= NAMES_PATIENCE))
		namer_try_cancel(run->namer);
}

/* While a file is read, nothing needs an orderly end: exit at once. */
static void check_reading(struct run *run)
{
	const struct caught *caught = &run->state.caught;

	if (!caught->end && !caught->limit)
		return;
	progress_clear();
	message_print(NULL, "interrupted while reading %s", run->reading);
	if (caught->end)
		_exit(PMP_EXIT_SIGNAL + caught->end);
	_exit(run->source.type->failed ? run->source.type->failed : PMP_EXIT_FAILED);
}

static void await(void *arg, const struct job *job)
{
	struct run *run = arg;

	run->working = true;
	worker_unlock(run->worker);
	while (!worker_has_done(job)) {
		wait_urgent(run, SUPERVISE_MS);
		fetcher_interrupt(run->fetcher, run->sink_count > 1 ? FETCH_PATIENCE : 0);
		if (run->reading) {
			check_reading(run);
			continue;
		}
		check_outputs(run);
		check_names(run);
	}
	worker_lock(run->worker);
	run->working = false;
}

static void do_work(void *arg, void (*work)(void *arg), void *work_arg)
{
	struct run *run = arg;
	struct job job = { .work = work, .arg = work_arg };

	if (worker_submit(run->worker, &job))
		await(run, &job);
	else
		work(work_arg);
}

static unsigned count_busy(const struct run *run)
{
	return !worker_is_idle(run->worker) +
	       (run->namer_worker && !worker_is_idle(run->namer_worker));
}

/* Jobs hold the lock, which is ours except while we wait: so no job can begin meanwhile. */
static bool may_fork(void *arg)
{
	const struct run *run = arg;

	return !run->working && !count_busy(run);
}

/* A worker that waits for a fetch may go on during fork(): the child only shares malloc()
 * with it, whose locks fork() takes care of. */
static bool may_sample(void *arg)
{
	const struct run *run = arg;

	return !run->working && count_busy(run) <= fetcher_waiting(run->fetcher);
}

static void do_reading(void *arg, void (*work)(void *arg), void *work_arg,
		       const char *path)
{
	struct run *run = arg;

	run->reading = path;
	do_work(run, work, work_arg);
	run->reading = NULL;
}

/* ---- the loop -------------------------------------------------------------- */

static void on_signal(void *arg, short revents)
{
	struct run *run = arg;

	(void)revents;
	signals_take(&run->state.caught);
}

static void on_work(void *arg, short revents)
{
	struct run *run = arg;

	(void)revents;
	worker_take(run->worker);
}

static void on_names(void *arg, short revents)
{
	struct run *run = arg;

	(void)revents;
	worker_take(run->namer_worker);
}

static int timeout(const struct run *run)
{
	int most = SUPERVISE_MS;

	for (size_t i = 0; i < run->sink_count; i++)
		most = run->sinks[i].sink.type->timeout(&run->sinks[i].sink, most);
	return most;
}

static void show(struct run *run)
{
	for (size_t i = 0; i < run->sink_count; i++)
		run->sinks[i].sink.type->show(&run->sinks[i].sink);
}

static void turn(struct run *run)
{
	struct run_state *state = &run->state;
	int n;

	state->heard = false;
	n = loop_turn(run->loop, LOOP_ALL, timeout(run));
	if (n < 0) {
		message_print(NULL, "cannot wait for the sampler: %s", strerror(-n));
		run->source.type->lose(&run->source);
		return;
	}
	tend(run, !state->heard);
	if (!state->finished)
		progress_show(&run->progress, now_ns());
	for (size_t i = 0; i < run->sink_count; i++)
		run->sinks[i].sink.type->tend(&run->sinks[i].sink);
	if (!state->caught.write || state->finished)
		return;
	state->caught.write = false;
	show(run);
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
	run->worker = worker_new(screen_guard);
	if (!run->loop || !run->worker)
		return false;
	loop_around(run->loop, let_go, take_again, run->worker);
	return loop_add(run->loop, run->wake, true, on_signal, run) &&
	       loop_add(run->loop, worker_wake(run->worker), true, on_work, run);
}

/* False: no memory. */
static bool open_names(struct run *run)
{
	if (!run->sinks[0].sink.type->serves)
		return true;
	run->namer_worker = worker_new_beside(run->worker);
	return run->namer_worker &&
	       loop_add(run->loop, worker_wake(run->namer_worker), true, on_names, run);
}

/* ---- from the source to the sinks -------------------------------------------- */

static void pass_targets(void *arg, const struct process *process)
{
	struct run *run = arg;

	for (size_t i = 0; i < run->sink_count; i++)
		run->sinks[i].sink.type->targets(&run->sinks[i].sink, process);
}

static void pass_boundary(void *arg, uint64_t time)
{
	struct run *run = arg;

	for (size_t i = 0; i < run->sink_count; i++)
		run->sinks[i].sink.type->boundary(&run->sinks[i].sink, time);
}

static void pass_sampled(void *arg)
{
	struct run *run = arg;

	for (size_t i = 0; i < run->sink_count; i++)
		run->sinks[i].sink.type->sampled(&run->sinks[i].sink);
}

static const struct source_calls source_calls = {
	.targets = pass_targets,
	.boundary = pass_boundary,
	.sampled = pass_sampled,
	.fail = fail,
	.wait = wait_urgent,
	.read = do_reading,
	.may_fork = may_fork,
	.may_sample = may_sample,
};

static const struct sink_calls sink_calls = {
	.finish = finish,
	.fail = fail,
	.await_terminal = await_terminal,
	.work = do_work,
	.await = await,
};

/* ---- its parts ----------------------------------------------------------------- */

static int open_signals(struct run *run)
{
	run->wake = signals_open();
	if (run->wake < 0) {
		message_print(NULL, "cannot handle signals: %s", strerror(-run->wake));
		return PMP_EXIT_FAILED;
	}
	signals_before_exit(screen_restore);
	if (open_loop(run) && open_names(run))
		return 0;
	message_print(NULL, "not enough memory for the run");
	return PMP_EXIT_FAILED;
}

static int open_fetcher(struct run *run)
{
	struct pmp_error err = { 0 };
	int code = 0;

	if (run->options->debuginfod)
		code = fetcher_new(&run->state, &run->progress, run->options->verbose,
				   &run->fetcher, &err);
	if (code == 0)
		return 0;
	message_error(&err);
	return message_status(code);
}

/* Started before anything is read, so that it inherits nothing of a target. Without names
 * it reads only saved profiles. */
static int open_namer(struct run *run)
{
	struct pmp_error err = { 0 };

	if (run->options->no_sandbox ||
	    (run->options->no_symbols && !run->source.type->saved && !run->options->diff))
		return 0;
	run->namer = namer_new(&err);
	if (!run->namer) {
		message_error(&err);
		return message_status(err.code);
	}
	run->state.helpers[RUN_NAMER] = namer_pid(run->namer);
	if (run->options->verbose)
		rights_note("the process that reads files", namer_missing(run->namer));
	return 0;
}

/* Called after fork() of the processes that read files and
 * serve: they must not share it. */
static int open_own(struct run *run)
{
	if (!run->options->children || !run->options->command)
		return 0;
	run->state.own = own_processes_new();
	if (run->state.own)
		return 0;
	message_print(NULL, "not enough memory for the run");
	return PMP_EXIT_FAILED;
}

/* Samples go to the first counting, which passes them to the next. */
static void connect_counting(struct run *run, const struct invocation *call, size_t i)
{
	struct run_sink *of = &run->sinks[i];

	of->counting = (struct counting){
		.options = &call->options,
		.command_line = call->command_line,
		.host = call->host,
		.saved = run->source.type->saved,
		.share = run->sink_count,
		.also = i + 1 < run->sink_count ? &run->sinks[i + 1].counting : NULL,
		.fetcher = run->fetcher,
		.namer = run->namer,
		/* For viewers, names are looked up while counting goes on. */
		.worker =
			of->sink.type->keys || of->sink.type->serves ? run->worker : NULL,
		.all_at_once = of->sink.type->serves,
	};
	of->sink.type->needs(&call->options, &of->counting.needs);
}

static void connect_sink(struct run *run, const struct invocation *call, size_t i)
{
	struct sink *sink = &run->sinks[i].sink;

	sink->options = &call->options;
	sink->loop = run->loop;
	sink->worker = run->worker;
	sink->namer = sink->type->serves ? run->namer_worker : NULL;
	sink->counting = &run->sinks[i].counting;
	sink->progress = &run->progress;
	sink->source = &run->source;
	sink->state = &run->state;
	sink->stdout_closed = call->stdout_closed;
	sink->calls = &sink_calls;
	sink->run = run;
}

/* Give the source and each sink what they need of each other. */
static void connect_parts(struct run *run, const struct invocation *call)
{
	struct source *source = &run->source;

	run->state.keys = run->sinks[0].sink.type->keys;
	run->state.serves = run->sinks[0].sink.type->serves;
	for (size_t i = 0; i < run->sink_count; i++) {
		connect_counting(run, call, i);
		connect_sink(run, call, i);
	}
	source->options = &call->options;
	source->loop = run->loop;
	source->counting = &run->sinks[0].counting;
	source->progress = &run->progress;
	source->state = &run->state;
	source->run = run;
	source->calls = &source_calls;
	source->targets.found = &call->found;
}

static int open_sink(struct run_sink *opened)
{
	struct pmp_error err = { 0 };
	int status = opened->sink.type->open(&opened->sink);

	if (status)
		return status;
	if (counting_open(&opened->counting, &err) < 0) {
		message_error(&err);
		return message_status(err.code);
	}
	opened->sink.type->start(&opened->sink);
	return 0;
}

static int open_sinks(struct run *run)
{
	int status = 0;

	for (size_t i = 0; i < run->sink_count && !status; i++)
		status = open_sink(&run->sinks[i]);
	return status;
}

static int prepare_sinks(struct run *run)
{
	int status = 0;

	for (size_t i = 0; i < run->sink_count && !status; i++)
		status = run->sinks[i].sink.type->prepare(&run->sinks[i].sink);
	return status;
}

/* The exit status if pmp itself fails: the source may have its own. */
static int failure(const struct run *run, int status)
{
	return status && run->source.type->failed ? run->source.type->failed : status;
}

/* Called once all processes that need more rights have been forked. */
static void give_up_rights(const struct run *run, const struct id_list *pids)
{
	const bool confined = confine_front(run->options, pids->count);

	if (run->options->verbose)
		rights_note("pmp itself", confined ? 0 : CONFINE_CAPABILITIES);
}

static int start(struct run *run, const struct invocation *call, struct id_list *pids)
{
	int status = open_signals(run);

	/* Again, as this may be a process forked for one file of several. */
	if (!status)
		status = limit_start(call->options.max_wall);
	if (!status)
		status = open_fetcher(run);
	if (!status)
		status = open_namer(run);
	connect_parts(run, call);
	if (status)
		return failure(run, status);
	progress_open(&run->progress, &call->options);
	status = diff_read(&run->source);
	if (status)
		return status;
	worker_stop(run->worker);
	status = prepare_sinks(run);
	if (!status)
		status = open_own(run);
	if (status)
		return status;
	run->begun = true;
	status = run->source.type->open(&run->source, pids);
	if (status)
		return status;
	give_up_rights(run, pids);
	/* The files of a process's modules stay open as long as it lives. A command has
	 * already been forked with the original limit. */
	process_raise_limit();
	status = open_sinks(run);
	return failure(run, status);
}

/* ---- a run ----------------------------------------------------------------- */

/* Report only one of the profiles: often both lack the same names. */
static void report_modules(const struct counting *counting, const struct targets *targets)
{
	if (!summary_modules(counting->options, counting->symbolizer, !targets->cores) &&
	    counting->base)
		summary_modules(counting->options, counting->base_symbolizer, false);
}

static void write_results(struct run *run)
{
	const struct counting *counting = &run->sinks[0].counting;

	if (!targets_counted(&run->source.targets))
		return;
	for (size_t i = 0; i < run->sink_count; i++)
		run->sinks[i].sink.type->finish(&run->sinks[i].sink);
	if (run->state.failure == PMP_EXIT_OUTPUT)
		return;
	summary_unwanted(counting, &run->source.targets);
	for (size_t i = 0; i < run->sink_count; i++)
		summary_filter(&run->sinks[i].counting);
	tell_given_up(run);
	if (run->options->quiet)
		return;
	if (!run->options->no_symbols)
		report_modules(counting, &run->source.targets);
	if (counting->base)
		diff_report(counting);
}

static bool stays(struct run *run)
{
	struct sink *sink = &run->sinks[0].sink;

	if (!sink->type->stays(sink))
		return false;
	run->source.type->stop(&run->source);
	return true;
}

static int receive_all(struct run *run)
{
	const struct counting *counting = &run->sinks[0].counting;
	struct source *source = &run->source;
	int status = source->type->receive(source);

	if (status)
		return status;
	while (!run->state.finished || stays(run))
		turn(run);
	leave(run);
	progress_clear();
	source->type->stop(source);
	write_results(run);
	if (!run->options->stats)
		summary_evicted(counting);
	summary_negative(counting);
	summary_heap_lost(counting);
	if (run->options->stats && source->targets.snapshots && !run->options->every)
		summary_stats(counting, &source->targets);
	return source->type->status(source);
}

static void close_sink(struct run_sink *opened)
{
	opened->opened->close(&opened->sink);
	if (opened->sink.type != opened->opened)
		opened->sink.type->close(&opened->sink);
	counting_close(&opened->counting);
}

static void close_parts(struct run *run)
{
	run->source.type->close(&run->source);
	fetcher_cancel(run->fetcher);
	namer_cancel(run->namer);
	worker_stop(run->namer_worker);
	worker_stop(run->worker);
	for (size_t i = 0; i < run->sink_count; i++)
		close_sink(&run->sinks[i]);
	fetcher_free(run->fetcher);
	own_processes_free(run->state.own);
	namer_free(run->namer);
	worker_free(run->namer_worker);
	worker_free(run->worker);
	loop_free(run->loop);
}

static void add_sink(struct run *run, const struct sink_type *type)
{
	struct run_sink *added = &run->sinks[run->sink_count];

	if (!type)
		return;
	added->sink.type = added->opened = type;
	run->sink_count++;
}

int run_profile(const struct invocation *call, struct id_list *pids)
{
	struct run run = { .options = &call->options };
	int status;

	run.source.type = source_type_of(&call->options);
	add_sink(&run, sink_type_of(&call->options, true));
	add_sink(&run, sink_type_beside(&call->options));
	status = start(&run, call, pids);
	if (!status)
		status = receive_all(&run);
	close_parts(&run);
	return status;
}
