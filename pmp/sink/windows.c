/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Windows: what is counted between two times, in the past or still to come. They are cut
 * out of the history, so targets are not stopped more often for them, unless one asks for
 * more snapshots per second.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libpmp-program.h"
#include "run/clock.h"
#include "run/counting.h"
#include "run/run-state.h"
#include "sink/answer-text.h"
#include "sink/answers-parts.h"
#include "sink/cutting.h"
#include "sink/feeds.h"
#include "sink/heap-answers.h"
#include "sink/heavy.h"
#include "sink/lookup.h"
#include "sink/selection.h"
#include "sink/sink.h"
#include "source/source.h"

#define WINDOWS_MAX 56	     /* leaves some of SERVE_CONNECTIONS to quick pages */
#define WINDOWS_OF_TARGET 28 /* of these, for the targets' user */
#define WINDOW_DEFAULT (30 * NS_PER_S)
#define WANTED_TIME (5 * NS_PER_S) /* of sampling after each request of an open page */
#define FRESH_TIME (2 * NS_PER_S)  /* to wait for a new snapshot */
#define LATE_SNAPSHOT \
	(300 * NS_PER_MS) /* how long to wait for the last snapshot of a window */

/* ---- answering ------------------------------------------------------------------------ */

/* Recorded heaps, in contrast, stay when their process has ended. */
static bool has_nothing(const struct answers *answers, const struct awaited *awaited,
			const struct written *written)
{
	return awaited->page->kind != PAGE_HEAP && !written->covered.samples &&
	       !answers->sink->source->targets.count;
}

static void send_window(const struct answers *answers, const struct awaited *awaited,
			const struct written *written)
{
	char window[SERVE_WINDOW_SIZE];

	cutting_say(awaited->page, &written->covered, window, sizeof(window));
	if (written->code < 0)
		answers_fail(answers, awaited->id, &written->err, written->code);
	else if (has_nothing(answers, awaited, written))
		answers_refuse(answers, awaited->id, 410, "all processes have ended");
	else
		answers_send(answers, awaited->id, awaited->body, window);
	if (awaited->feed && awaited->feed->number == awaited->feed_number &&
	    written->covered.samples) {
		awaited->feed->id = awaited->id;
		awaited->feed->to = written->covered.to;
	}
}

static void release(struct answers *answers, struct awaited *awaited)
{
	heavy_stop(answers, &awaited->writer);
	if (awaited->body > 0)
		close(awaited->body);
	pmp_filter_free(awaited->filter);
	pmp_heap_base_free(awaited->moment);
	*awaited = (struct awaited){ 0 };
}

/* The writer has ended. */
static void take_written(struct answers *answers, struct awaited *awaited)
{
	struct written written = { .code = PMP_EIO };

	if (!heavy_take(answers, &awaited->writer, &written, sizeof(written)))
		written = (struct written){ .code = PMP_EIO,
					    .err.message = "the answer took too long" };
	send_window(answers, awaited, &written);
	release(answers, awaited);
}

static void on_written(void *arg, short revents)
{
	struct awaited *awaited = arg;

	(void)revents;
	take_written(awaited->answers, awaited);
}

static bool is_heavy(const struct answers *answers, const struct awaited *awaited)
{
	if (awaited->page->kind == PAGE_HEAP)
		return heavy_is_heap(answers);
	return awaited->page->kind == PAGE_WINDOW && heavy_is(answers);
}

/* What the worker or a writer runs. */
static void (*writing_of(const struct awaited *awaited))(void *arg)
{
	return awaited->page->kind == PAGE_HEAP ? heap_answers_write : cutting_write;
}

static bool start_writer(struct answers *answers, struct awaited *awaited,
			 struct cutting *cutting)
{
	const struct heavy heavy = {
		.write = writing_of(awaited),
		.arg = cutting,
		.result = &cutting->written,
		.size = sizeof(cutting->written),
		.on_written = on_written,
		.ended_arg = awaited,
	};

	awaited->answers = answers;
	return heavy_start(answers, &awaited->writer, &heavy);
}

/* Cut out the window and send it; if a writer does that, it is sent later. */
static void answer_window(struct answers *answers, struct awaited *awaited, bool at_once)
{
	const struct sink *sink = answers->sink;
	struct cutting cutting = { .answers = answers, .awaited = awaited };
	struct awaited due;

	if (awaited->moment)
		awaited->to = now_ns();
	awaited->body = cutting.body = answer_text_new("");
	if (awaited->body < 0)
		answers_refuse_memory(answers, awaited->id);
	else if (!at_once && is_heavy(answers, awaited) &&
		 start_writer(answers, awaited, &cutting))
		return;
	/* Free the slot before work(), which turns the loop. */
	due = *awaited;
	*awaited = (struct awaited){ 0 };
	cutting.awaited = &due;
	if (due.body >= 0) {
		sink->calls->work(sink->run, writing_of(&due), &cutting);
		send_window(answers, &due, &cutting.written);
	}
	release(answers, &due);
}

/* ---- windows that are being recorded ----------------------------------------------------- */

/* One snapshot is always taken, to know from the start whether that is possible. */
static bool is_wanted(const struct answers *answers)
{
	const struct targets *targets = &answers->sink->source->targets;

	if (!answers->sink->options->on_demand || windows_count(answers) ||
	    now_ns() < answers->wanted)
		return true;
	for (size_t i = 0; i < targets->count; i++) {
		if (!targets->processes[i].snapshots)
			return true;
	}
	return !targets->count;
}

/* --on-demand. No stack may be given the time of a pause: so
 * forget processes at its end. */
static void pause_unless_wanted(struct answers *answers)
{
	struct source *source = answers->sink->source;
	const bool paused = !is_wanted(answers);

	if (source->state->paused == paused)
		return;
	for (size_t i = 0; i < source->targets.count && !paused; i++)
		counting_interrupt(source->counting, source->targets.processes[i].pid);
	source->state->paused = paused;
	source->type->pause(source, paused);
}

void windows_want(struct answers *answers)
{
	if (!answers->sink->options->on_demand)
		return;
	answers->wanted = now_ns() + WANTED_TIME;
	pause_unless_wanted(answers);
}

/* Set the highest rate that any window asks for. Windows whose time is over do not count:
 * they may still wait for names. */
static void set_rate(struct answers *answers)
{
	const struct source *source = answers->sink->source;
	const uint64_t now = now_ns();
	uint64_t interval = answers->sink->options->interval;

	for (size_t i = 0; i < SERVE_CONNECTIONS; i++) {
		const struct awaited *awaited = &answers->all[i];

		if (awaited->used && !awaited->at_once && !awaited->writer.pid &&
		    awaited->hz && now <= awaited->to + LATE_SNAPSHOT &&
		    NS_PER_S / awaited->hz < interval)
			interval = NS_PER_S / awaited->hz;
	}
	if (source->type->saved)
		return;
	pause_unless_wanted(answers);
	if (interval == answers->interval)
		return;
	answers->interval = interval;
	source->type->set_interval(answers->sink->source, interval);
}

/* The time when the last snapshot of a window has come, or should have. */
static uint64_t due_at(const struct answers *answers, const struct awaited *awaited)
{
	const struct targets *targets = &answers->sink->source->targets;
	uint64_t first = UINT64_MAX;

	if (awaited->at_once)
		return 0;
	if (awaited->moment)
		return awaited->to;
	for (size_t i = 0; i < targets->count; i++) {
		if (!targets->processes[i].ended && targets->processes[i].last < first)
			first = targets->processes[i].last;
	}
	if (awaited->fresh && first > awaited->from)
		return 0;
	if (first != UINT64_MAX && first < awaited->to)
		return awaited->to + LATE_SNAPSHOT;
	return awaited->to;
}

/* Cover the last snapshot of each process: they are not taken at the same time. */
static void find_snapshot(const struct targets *targets, struct awaited *awaited)
{
	awaited->at_once = true;
	awaited->from = awaited->to = now_ns();
	for (size_t i = 0; i < targets->count; i++) {
		const uint64_t last = targets->processes[i].last;

		if (last && last <= awaited->from && !targets->processes[i].ended)
			awaited->from = last - 1;
	}
}

/* Is it being written, or does it wait for a writer? */
static bool is_held(const struct answers *answers, const struct awaited *awaited)
{
	return awaited->writer.pid ||
	       (answers->writers.count == WRITERS_MAX && is_heavy(answers, awaited));
}

/* Frees the slot before work(), which turns the loop. */
static void answer_at_once(struct answers *answers, struct awaited *awaited)
{
	struct awaited due = *awaited;

	*awaited = (struct awaited){ 0 };
	answers_stacks(answers, &due);
	release(answers, &due);
}

static bool is_to_wait(const struct answers *answers, const struct awaited *awaited)
{
	return is_held(answers, awaited) || due_at(answers, awaited) > now_ns() ||
	       !lookup_is_done(answers->lookup);
}

static void tend_window(struct answers *answers, struct awaited *awaited, bool all)
{
	if (!all && is_to_wait(answers, awaited))
		return;
	if (awaited->fresh)
		find_snapshot(&answers->sink->source->targets, awaited);
	if (awaited->writer.pid) {
		take_written(answers, awaited);
	} else if (awaited->page->kind == PAGE_STACKS) {
		answer_at_once(answers, awaited);
	} else {
		answer_window(answers, awaited, all);
	}
}

void windows_tend(struct answers *answers, bool all)
{
	writers_tend(&answers->writers);
	for (size_t i = 0; i < SERVE_CONNECTIONS; i++) {
		if (answers->all[i].used)
			tend_window(answers, &answers->all[i], all);
	}
	set_rate(answers);
}

int windows_timeout(const struct answers *answers, int most)
{
	const uint64_t now = now_ns();

	if (answers->wanted > now && (answers->wanted - now) / NS_PER_MS < (uint64_t)most)
		most = (int)((answers->wanted - now) / NS_PER_MS) + 1;
	for (size_t i = 0; i < SERVE_CONNECTIONS; i++) {
		uint64_t due;

		if (!answers->all[i].used || is_held(answers, &answers->all[i]))
			continue;
		due = due_at(answers, &answers->all[i]);
		/* The end of the look-up of names wakes the loop anyway. */
		if (due <= now && lookup_goes_on(answers->lookup))
			continue;
		if (due <= now)
			return 0;
		if ((due - now) / NS_PER_MS < (uint64_t)most)
			most = (int)((due - now) / NS_PER_MS) + 1;
	}
	return most;
}

/* Convert a time in ms: since the start, or before now if negative. */
static uint64_t time_of(const struct answers *answers, int64_t ms, uint64_t now)
{
	const uint64_t base = ms < 0 ? now : answers->start;
	const int64_t time = (int64_t)base + ms * (int64_t)NS_PER_MS;

	return time > 0 ? (uint64_t)time : 1;
}

void windows_choose_past(const struct answers *answers,
			 const struct serve_request *request, struct awaited *asked)
{
	const uint64_t now = now_ns();

	asked->at_once = true;
	asked->from = time_of(answers, request->from, now);
	asked->to = request->to ? time_of(answers, request->to, now) : now;
	if (asked->to > now)
		asked->to = now;
}

static struct feed *find_feed(struct answers *answers,
			      const struct serve_request *request,
			      const struct awaited *asked, uint64_t now)
{
	struct feed_key key = { .to_target = asked->to_target,
				.page = asked->page,
				.format = asked->format,
				.pid = asked->pid };

	memcpy(key.name, request->feed, sizeof(key.name));
	return feeds_find(answers->feeds, &key, now);
}

/* Set the requested time, in the future or in the past. */
static void choose_time(struct answers *answers, const struct serve_request *request,
			struct awaited *asked)
{
	const uint64_t now = now_ns();
	const uint64_t length = request->milliseconds ? request->milliseconds * NS_PER_MS
						      : WINDOW_DEFAULT;

	asked->at_once = request->past || *request->feed;
	asked->from = now;
	asked->to = asked->at_once ? now : now + length;
	/* The clock may have started later than that. */
	if (asked->at_once)
		asked->from = now > length ? now - length : 1;
	if (!*request->feed)
		return;
	asked->feed = find_feed(answers, request, asked, now);
	asked->feed_number = asked->feed->number;
	if (asked->feed->sent)
		asked->from = asked->feed->sent;
}

size_t windows_count(const struct answers *answers)
{
	size_t count = 0;

	for (size_t i = 0; i < SERVE_CONNECTIONS; i++)
		count += answers->all[i].used;
	return count;
}

/* Clients with only the rights of the targets' user must leave some windows to others. */
static bool is_full(const struct answers *answers, const struct awaited *asked)
{
	size_t of_target = 0;

	for (size_t i = 0; i < SERVE_CONNECTIONS; i++)
		of_target += answers->all[i].used && answers->all[i].to_target;
	return windows_count(answers) >= WINDOWS_MAX ||
	       (asked->to_target && of_target >= WINDOWS_OF_TARGET);
}

/* Does the page have totals since the start, whose differences a scraper takes itself? */
static bool is_since_start(const struct answers *answers,
			   const struct serve_request *request,
			   const struct awaited *asked)
{
	return asked->page->since_start && !answers->sink->options->on_demand &&
	       !request->milliseconds && !request->past && !request->has_times &&
	       !*request->feed;
}

/* There is always a free slot: WINDOWS_MAX is less than SERVE_CONNECTIONS. */
static struct awaited *find_room(struct answers *answers)
{
	size_t i = 0;

	while (answers->all[i].used)
		i++;
	return &answers->all[i];
}

/* False: the request was refused. */
static bool may_begin(const struct answers *answers, const struct serve_request *request,
		      const struct awaited *asked)
{
	/* Pages of heaps have no past, and ignore these. */
	const bool past = asked->page->kind != PAGE_HEAP &&
			  (request->past || request->has_times || *request->feed);

	if (past && answers->sink->options->on_demand)
		answers_refuse(answers, request->id, 400,
			       "with --on-demand there is no past: ask for seconds= from "
			       "now on");
	else if (is_full(answers, asked))
		answers_refuse(answers, request->id, 503,
			       "%zu windows are being recorded", windows_count(answers));
	else
		return true;
	return false;
}

static void choose_snapshot(const struct answers *answers, struct awaited *asked)
{
	if (!answers->sink->options->on_demand) {
		find_snapshot(&answers->sink->source->targets, asked);
		return;
	}
	asked->fresh = true;
	asked->from = now_ns();
	asked->to = asked->from + FRESH_TIME;
}

void windows_begin(struct answers *answers, const struct serve_request *request,
		   const struct awaited *asked)
{
	struct awaited *free_one;

	if (!may_begin(answers, request, asked)) {
		pmp_filter_free(asked->filter);
		pmp_heap_base_free(asked->moment);
		return;
	}
	free_one = find_room(answers);
	*free_one = *asked;
	free_one->used = true;
	if (asked->page->kind == PAGE_SNAPSHOT || asked->page->kind == PAGE_STACKS)
		choose_snapshot(answers, free_one);
	else if (asked->page->kind == PAGE_HEAP && !asked->moment)
		free_one->at_once = true;
	else if (is_since_start(answers, request, asked))
		free_one->since_start = free_one->at_once = true;
	else if (request->has_times)
		windows_choose_past(answers, request, free_one);
	else
		choose_time(answers, request, free_one);
	set_rate(answers);
}

void windows_free(struct answers *answers)
{
	for (size_t i = 0; i < SERVE_CONNECTIONS; i++)
		release(answers, &answers->all[i]);
}

void windows_cancel(struct answers *answers, uint32_t id)
{
	for (size_t i = 0; i < SERVE_CONNECTIONS; i++) {
		if (answers->all[i].used && (!id || answers->all[i].id == id))
			release(answers, &answers->all[i]);
	}
	set_rate(answers);
}

/* ---- which stacks ----------------------------------------------------------------------- */

/* Labels become part of the names of a scraper's series: only few by default. */
static enum pmp_labels choose_labels(const struct serve_request *request,
				     const struct awaited *asked)
{
	if (request->labels)
		return (enum pmp_labels)(request->labels - 1);
	return asked->page->value ? PMP_LABELS_NAMES : PMP_LABELS_ALL;
}

const struct pmp_filter *windows_filter(const struct answers *answers,
					const struct awaited *asked)
{
	return asked->filter ? asked->filter : answers->sink->options->filter;
}

/* Must the filter select the process? Only if the page is not cut out of the history, where
 * other processes are left out anyway. */
static bool is_by_process(const struct answers *answers,
			  const struct serve_request *request,
			  const struct awaited *asked)
{
	return is_since_start(answers, request, asked) ||
	       asked->page->kind == PAGE_HEAP || asked->page->kind == PAGE_HEAP_TREE;
}

bool windows_select(const struct answers *answers, const struct serve_request *request,
		    struct awaited *asked)
{
	const struct pmp_format *pprof = pmp_format_find("pprof");
	struct pmp_error err = { 0 };
	int code;

	asked->labels = choose_labels(request, asked);
	asked->as_text = request->as_text;
	asked->hz = request->hz;
	code = selection_filter(&request->selection, answers->sink->options->filter,
				asked->format == pprof &&
					asked->labels == PMP_LABELS_NAMES,
				is_by_process(answers, request, asked) ? asked->pid : 0,
				&asked->filter, &err);
	if (code == 0)
		return true;
	answers_refuse(answers, request->id, code == PMP_EINVAL ? 400 : 500, "%s",
		       err.message);
	return false;
}
