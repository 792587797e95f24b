/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sink/api-answers.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fault.h"
#include "libpmp-program.h"
#include "run/clock.h"
#include "run/counting.h"
#include "sink/answer-text.h"
#include "sink/api.h"
#include "sink/heavy.h"
#include "sink/lookup.h"
#include "sink/shared-answers.h"
#include "sink/sink.h"

#define PAGE_TIME (60 * NS_PER_S) /* if the request has no times */
#define PAGE_WRITERS_MAX 2	  /* leaves some of WRITERS_MAX to profiles */
#define AGAIN 20 /* ms, while only the busy worker keeps a writer from starting */

/* The result of writing. */
struct page_result {
	int code; /* 0 or an error, with err */
	struct pmp_error err;
};

/* How a kind of page is made. */
struct page_writing {
	enum page_kind kind;
	int (*write)(const struct api_request *request, struct pmp_error *err);
	bool named;					 /* it needs names */
	bool (*is_heavy)(const struct answers *answers); /* NULL: never */
	bool shared; /* equal requests share an answer; someone is viewing the page */
};

static const struct page_writing writings[] = {
	{ PAGE_STATE, api_write_state, false, NULL, true },
	{ PAGE_TIMELINE, api_write_timeline, false, NULL, true },
	{ PAGE_TREE, api_write_tree, true, heavy_is, true },
	{ PAGE_THREADS, api_write_threads, true, heavy_is, true },
	{ PAGE_LOCKS, api_write_locks, true, heavy_is, true },
	{ PAGE_HEAP_TREE, api_write_heap, true, heavy_is_heap, true },
	{ PAGE_SYMBOL, api_write_names, true, heavy_is_any, false },
};

/* An answer that is being made, or queued. */
struct page_answer {
	struct page_answer *next;
	struct answers *answers;
	struct serve_request asked;
	uint32_t clients[SERVE_CONNECTIONS]; /* that wait for it */
	size_t client_count;
	pid_t pid;
	struct pmp_filter *filter; /* owned; NULL: that of the run */
	const struct page_writing *writing;
	struct api_request request;
	struct page_result result;
	struct writer writer;
	uint64_t begun; /* ns */
	int body;	/* of the request; -1: none */
	int file;
};

static void free_answer(struct page_answer *answer)
{
	heavy_stop(answer->answers, &answer->writer);
	if (answer->file >= 0)
		close(answer->file);
	if (answer->body >= 0)
		close(answer->body);
	pmp_filter_free(answer->filter);
	free(answer);
}

/* Send it to all clients that wait. */
static void finish(struct page_answer *answer)
{
	struct answers *answers = answer->answers;
	const uint64_t now = now_ns();
	const int code = answer->result.code;

	for (size_t i = 0; i < answer->client_count; i++) {
		if (code < 0)
			answers_fail(answers, answer->clients[i], &answer->result.err,
				     code);
		else
			answers_send(answers, answer->clients[i], answer->file, "");
	}
	if (code == 0 && answer->writing->shared) {
		shared_answers_keep(answers->shared, &answer->asked, now,
				    now - answer->begun, answer->file);
		answer->file = -1;
	}
	free_answer(answer);
}

/* Runs in the worker or in a writer. */
static void write_answer(void *arg)
{
	struct page_answer *answer = arg;
	struct pmp_symbolizer *symbolizer = answer->request.sink->counting->symbolizer;

	pmp_symbolizer_only_known(symbolizer, !answer->writing->named);
	answer->result.code =
		answer->writing->write(&answer->request, &answer->result.err);
	pmp_symbolizer_only_known(symbolizer, false);
}

/* Times relative to now count from here. */
static void prepare(struct page_answer *answer)
{
	const struct answers *answers = answer->answers;
	struct awaited time = { 0 };

	answer->begun = now_ns();
	windows_choose_past(answers, &answer->asked, &time);
	if (!answer->asked.has_times)
		time.from = answer->begun > PAGE_TIME ? answer->begun - PAGE_TIME : 1;
	answer->request = (struct api_request){
		.sink = answers->sink,
		.commands = answers->commands,
		.timeline = answers->timeline,
		.start = answers->start,
		.asked = &answer->asked,
		.filter =
			answer->filter ? answer->filter : answers->sink->options->filter,
		.pid = answer->pid,
		.from = time.from,
		.to = time.to,
		.body = answer->body,
		.file = answer->file,
	};
}

/* The answer is in no list, as work() turns the loop. */
static void write_here(struct page_answer *answer)
{
	const struct sink *sink = answer->answers->sink;

	prepare(answer);
	sink->calls->work(sink->run, write_answer, answer);
	finish(answer);
}

/* ---- answers made by writers -------------------------------------------------------------- */

static void remove_answer(struct page_answer *answer)
{
	struct page_answer **at = &answer->answers->pages;

	while (*at != answer)
		at = &(*at)->next;
	*at = answer->next;
}

static void take_written(struct page_answer *answer)
{
	struct page_result result;

	if (!heavy_take(answer->answers, &answer->writer, &result, sizeof(result)))
		result =
			(struct page_result){ PMP_EIO,
					      { .message = "the answer took too long" } };
	answer->result = result;
	remove_answer(answer);
	finish(answer);
}

static void on_written(void *arg, short revents)
{
	(void)revents;
	take_written(arg);
}

static void start(struct page_answer *answer)
{
	const struct heavy heavy = {
		.write = write_answer,
		.arg = answer,
		.result = &answer->result,
		.size = sizeof(answer->result),
		.on_written = on_written,
		.ended_arg = answer,
	};

	prepare(answer);
	heavy_start(answer->answers, &answer->writer, &heavy);
}

static bool is_heavy(const struct answers *answers, const struct page_writing *writing)
{
	return writing->is_heavy && writing->is_heavy(answers) &&
	       !PMP_FAULT("page-in-front");
}

static size_t count_writers(const struct answers *answers)
{
	size_t count = 0;

	for (const struct page_answer *answer = answers->pages; answer;
	     answer = answer->next)
		count += answer->writer.pid != 0;
	return count;
}

static bool may_start(const struct answers *answers)
{
	return answers->writers.count < WRITERS_MAX &&
	       count_writers(answers) < PAGE_WRITERS_MAX;
}

/* At the end: no other answer is begun. */
static void answer_all(struct answers *answers)
{
	while (answers->pages) {
		struct page_answer *answer = answers->pages;

		if (answer->writer.pid) {
			take_written(answer);
		} else {
			remove_answer(answer);
			write_here(answer);
		}
	}
}

void api_answers_tend(struct answers *answers, bool all)
{
	if (all) {
		answer_all(answers);
		return;
	}
	if (!answers->pages || !lookup_is_done(answers->lookup))
		return;
	for (struct page_answer *answer = answers->pages, *next; answer; answer = next) {
		next = answer->next;
		if (answer->writer.pid)
			continue;
		if (!is_heavy(answers, answer->writing)) {
			remove_answer(answer);
			write_here(answer);
		} else if (may_start(answers)) {
			start(answer);
		}
	}
}

/* The end of a writer wakes the loop anyway. */
int api_answers_timeout(const struct answers *answers, int most)
{
	const struct page_answer *answer = answers->pages;

	while (answer && answer->writer.pid)
		answer = answer->next;
	/* So does the end of a look-up of names. */
	if (lookup_goes_on(answers->lookup))
		return most;
	return answer && may_start(answers) && most > AGAIN ? AGAIN : most;
}

/* ---- requests --------------------------------------------------------------------------- */

static const struct page_writing *find_writing(enum page_kind kind)
{
	for (size_t i = 0; i < sizeof(writings) / sizeof(*writings); i++) {
		if (writings[i].kind == kind)
			return &writings[i];
	}
	return NULL;
}

/* Let the client wait for an equal answer. Each client waits for one answer only. */
static bool join(const struct answers *answers, const struct serve_request *request)
{
	const bool alone = PMP_FAULT("page-alone");

	for (struct page_answer *answer = answers->pages; answer && !alone;
	     answer = answer->next) {
		if (answer->client_count < SERVE_CONNECTIONS &&
		    shared_answers_is_same(&answer->asked, request)) {
			answer->clients[answer->client_count++] = request->id;
			return true;
		}
	}
	return false;
}

/* False: there are more than connections can ask for, so the server is compromised. */
static bool append(struct answers *answers, struct page_answer *answer)
{
	struct page_answer **at = &answers->pages;
	size_t count = 0;

	for (; *at; count++)
		at = &(*at)->next;
	if (count >= SERVE_CONNECTIONS)
		return false;
	*at = answer;
	return true;
}

static struct page_answer *new_answer(struct answers *answers,
				      const struct serve_request *request,
				      struct awaited *asked, int body)
{
	struct page_answer *answer = calloc(1, sizeof(*answer));

	if (!answer)
		return NULL;
	answer->answers = answers;
	answer->asked = *request;
	answer->clients[answer->client_count++] = request->id;
	answer->pid = asked->pid;
	answer->filter = asked->filter;
	asked->filter = NULL;
	answer->file = answer_text_new("");
	answer->body = body >= 0 ? fcntl(body, F_DUPFD_CLOEXEC, 0) : -1;
	if (answer->file >= 0 && (body < 0 || answer->body >= 0))
		return answer;
	free_answer(answer);
	return NULL;
}

/* True: the request was answered, or will be together with an equal one. */
static bool share(struct answers *answers, const struct serve_request *request)
{
	const int file = shared_answers_find(answers->shared, request, now_ns());

	windows_want(answers);
	if (file < 0)
		return join(answers, request);
	answers_send(answers, request->id, file, "");
	return true;
}

void api_answers_begin(struct answers *answers, const struct serve_request *request,
		       struct awaited *asked, int body)
{
	const struct page_writing *writing = find_writing(asked->page->kind);
	struct page_answer *answer;

	if (!writing) {
		answers_refuse(answers, request->id, 500, "there is no such page");
		return;
	}
	if (writing->shared && share(answers, request))
		return;
	answer = new_answer(answers, request, asked, body);
	if (!answer) {
		answers_refuse_memory(answers, request->id);
		return;
	}
	answer->writing = writing;
	if (!is_heavy(answers, writing) &&
	    (!writing->named || lookup_is_done(answers->lookup))) {
		write_here(answer);
	} else if (!append(answers, answer)) {
		free_answer(answer);
		answers_refuse_memory(answers, request->id);
	}
}

static bool forget_client(struct page_answer *answer, uint32_t id)
{
	size_t left = 0;

	for (size_t i = 0; i < answer->client_count; i++) {
		if (id && answer->clients[i] != id)
			answer->clients[left++] = answer->clients[i];
	}
	answer->client_count = left;
	return left > 0;
}

void api_answers_cancel(struct answers *answers, uint32_t id)
{
	struct page_answer **at = &answers->pages;

	while (*at) {
		struct page_answer *answer = *at;

		if (forget_client(answer, id)) {
			at = &answer->next;
		} else {
			*at = answer->next;
			free_answer(answer);
		}
	}
}
