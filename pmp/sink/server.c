/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --serve: profiles over HTTP. A separate process speaks HTTP (serve/server.c); this file
 * answers its requests. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "confine/rights.h"
#include "libpmp-program.h"
#include "run/clock.h"
#include "run/counting.h"
#include "run/loop.h"
#include "run/run-state.h"
#include "say/message.h"
#include "say/rights.h"
#include "serve/listen.h"
#include "serve/protocol.h"
#include "serve/server.h"
#include "serve/token.h"
#include "sink/answers.h"
#include "sink/request-log.h"
#include "sink/sink.h"
#include "source/source.h"

#define RIGHTS_EVERY NS_PER_S

struct serving {
	struct listen_address address;
	struct access_rules rules;
	int listener;
	struct server server;
	struct answers *answers;
	struct request_log log;
	bool announced;
	/* The user of all targets, as last sent to the server; and when to check again. */
	bool had_target;
	uid_t target;
	uint64_t next_rights;
};

static bool is_meant(const struct options *options)
{
	return options->serve != NULL;
}

static void needs(const struct options *options, struct counting_needs *needs)
{
	(void)options;
	needs->details = true;
	needs->waits = true;
	needs->lines = true;
	needs->history = true;
	needs->snapshots = true;
}

/* ---- its start ---------------------------------------------------------------------- */

static int choose_token(struct serving *serving, const struct options *options,
			struct pmp_error *err)
{
	if (options->serve_token)
		return token_read(options->serve_token, serving->rules.token, err);
	/* A unix socket needs no token: the kernel tells who the client is. */
	return serving->address.is_unix ? 0 : token_make(serving->rules.token, err);
}

static void add_name(struct access_rules *rules, const char *name)
{
	if (*name && rules->name_count < ACCESS_NAMES_MAX)
		snprintf(rules->names[rules->name_count++], ACCESS_HOST_MAX, "%s", name);
}

static void set_rules(struct serving *serving, const struct options *options)
{
	struct access_rules *rules = &serving->rules;
	char node[ACCESS_HOST_MAX] = "";

	gethostname(node, sizeof(node) - 1);
	add_name(rules, node);
	for (size_t i = 0; i < options->serve_host_count; i++)
		add_name(rules, options->serve_hosts[i]);
	rules->port = listen_port(&serving->address);
	rules->own = geteuid();
}

static int start_server(struct serving *serving, const struct options *options,
			struct pmp_error *err)
{
	int code = choose_token(serving, options, err);

	if (code < 0)
		return code;
	if (serving->listener < 0)
		serving->listener = listen_open(&serving->address, err);
	if (serving->listener < 0)
		return err->code;
	set_rules(serving, options);
	return server_start(&serving->server, serving->listener, &serving->rules,
			    options->log, err);
}

/* Take a socket passed by a service manager, if any. 0 or an error. */
static int take_passed(struct serving *serving, const struct options *options,
		       struct pmp_error *err)
{
	int fd = listen_passed(&serving->address, err);

	if (fd <= 0)
		return fd;
	serving->listener = fd;
	if (listen_is_local(&serving->address) || options->serve_token)
		return 0;
	*err = (struct pmp_error){ .code = PMP_EINVAL };
	snprintf(err->message, sizeof(err->message), "%s",
		 "the socket that was passed is for other machines: say who may ask with "
		 "--serve-token FILE");
	return err->code;
}

/* Start the server before any target is read, so that it inherits nothing of one. */
static int prepare(struct sink *sink)
{
	struct serving *serving = calloc(1, sizeof(*serving));
	struct pmp_error err = { 0 };
	int code;

	if (!serving) {
		message_print(NULL, "not enough memory for the server");
		return PMP_EXIT_FAILED;
	}
	sink->serving = serving;
	serving->listener = serving->server.fd = -1;
	listen_parse(sink->options->serve, &serving->address);
	code = take_passed(serving, sink->options, &err);
	if (code == 0)
		code = start_server(serving, sink->options, &err);
	if (code == 0) {
		sink->state->helpers[RUN_SERVER] = serving->server.keeper;
		return 0;
	}
	message_error(&err);
	return code == PMP_EIO	    ? PMP_EXIT_OUTPUT
	       : code == PMP_EINVAL ? PMP_EXIT_USAGE
				    : PMP_EXIT_FAILED;
}

/* ---- messages of the server ------------------------------------------------------------- */

static void lose_server(struct sink *sink)
{
	struct serving *serving = sink->serving;

	loop_remove(sink->loop, serving->server.fd);
	message_print(NULL, "the server has ended; pmp ends as well");
	sink->calls->fail(sink->run, PMP_EXIT_FAILED);
}

static void greet(struct sink *sink, const struct serve_request *hello)
{
	answers_forget(sink->serving->answers);
	/* A new server does not know the targets' user. */
	sink->serving->had_target = false;
	sink->serving->target = 0;
	sink->serving->next_rights = 0;
	if (sink->options->verbose)
		rights_note("the server", hello->unfiltered ? CONFINE_CALLS : 0);
	if (hello->id)
		message_print(
			NULL,
			"the server was ended by a signal; a new one has been started");
}

static void on_request(void *arg, short revents)
{
	struct sink *sink = arg;
	struct serving *serving = sink->serving;
	struct serve_request request;
	int body, n = serve_receive(serving->server.fd, &request, sizeof(request), &body);

	(void)revents;
	if (n < 0)
		lose_server(sink);
	if (n <= 0)
		return;
	if (request.message == SERVE_HELLO)
		greet(sink, &request);
	else if (request.message == SERVE_SERVED)
		request_log_add(&serving->log, &request);
	else
		answers_take(serving->answers, &request, body);
	if (body >= 0)
		close(body);
}

static int open_answers(struct sink *sink)
{
	struct serving *serving = sink->serving;

	pmp_run_soon();
	serving->answers = answers_new(sink, serving->server.fd, serving->server.counts);
	if (serving->answers &&
	    loop_add(sink->loop, serving->server.fd, false, on_request, sink))
		return 0;
	message_print(NULL, "not enough memory for the server");
	return PMP_EXIT_FAILED;
}

/* ---- the targets' user -------------------------------------------------------------------- */

/* Does the report have data that only root may see: of other
 * processes, or of the kernel? */
static bool shows_more(const struct options *options)
{
	return options->peers || options->kernel;
}

/* Tell the server the user of the targets, who may then ask for profiles: someone who may
 * look at all targets anyway, of which none is still to be opened, and might have looked at
 * all that was counted. */
static void tell_rights(struct sink *sink)
{
	const struct targets *targets = &sink->source->targets;
	struct serve_answer rights = { .message = SERVE_RIGHTS };
	bool same = targets->wanted.count == 0, any = false;
	uid_t first = 0, owner = 0;

	for (size_t i = 0; i < targets->count && same; i++) {
		if (targets->processes[i].ended)
			continue;
		same = pmp_process_owner(targets->processes[i].pid, &owner) &&
		       (!any || owner == first);
		first = owner;
		any = true;
	}
	rights.has_target = same && any && !shows_more(sink->options) &&
			    (!targets->owned || targets->owner == first);
	rights.target = first;
	if (rights.has_target == sink->serving->had_target &&
	    rights.target == sink->serving->target)
		return;
	if (!serve_send(sink->serving->server.fd, &rights, sizeof(rights), -1)) {
		sink->serving->next_rights = 0;
		return;
	}
	sink->serving->had_target = rights.has_target;
	sink->serving->target = (uid_t)rights.target;
}

/* Show the token only on a terminal: it must not get into a log. */
static void announce(struct sink *sink)
{
	struct serving *serving = sink->serving;
	char what[512], where[LISTEN_TEXT_SIZE], token[ACCESS_TOKEN_MAX + 16] = "";

	serving->announced = true;
	sink->source->type->describe(sink->source, what, sizeof(what));
	listen_print(&serving->address, where);
	if (isatty(STDERR_FILENO) && *serving->rules.token)
		snprintf(token, sizeof(token), "?token=%s", serving->rules.token);
	message_note(NULL, "serving %s at %s%s%s%s", what,
		     serving->address.is_unix ? "" : "http://", where,
		     serving->address.is_unix ? "" : "/", token);
}

/* Announce the address as soon as all targets were opened or refused. */
static void announce_once(struct sink *sink)
{
	const struct targets *targets = &sink->source->targets;

	if (!sink->serving->announced && targets->count && !targets->wanted.count)
		announce(sink);
}

static void targets(struct sink *sink, const struct process *process)
{
	if (process)
		answers_add_process(sink->serving->answers, process);
	tell_rights(sink);
	announce_once(sink);
}

/* ---- the rest of a sink ------------------------------------------------------------------- */

static void tend(struct sink *sink)
{
	struct serving *serving = sink->serving;

	/* A process changes its owner when it drops or gains rights. */
	if (now_ns() >= serving->next_rights) {
		serving->next_rights = now_ns() + RIGHTS_EVERY;
		tell_rights(sink);
	}
	announce_once(sink);
	answers_tend(serving->answers, false);
	if (sink->options->log)
		request_log_tend(&serving->log, serving->server.counts);
}

static int timeout(const struct sink *sink, int most)
{
	return answers_timeout(sink->serving->answers, most);
}

/* Answer windows still being recorded with what there is. */
static void finish(struct sink *sink)
{
	answers_tend(sink->serving->answers, true);
}

static void close_server(struct sink *sink)
{
	struct serving *serving = sink->serving;

	if (!serving)
		return;
	if (serving->listener >= 0) {
		close(serving->listener);
		listen_remove(&serving->address);
	}
	server_stop(&serving->server);
	answers_free(serving->answers);
	free(serving);
	sink->serving = NULL;
}

static void boundary(struct sink *sink, uint64_t time)
{
	(void)sink;
	(void)time;
}

static void nothing(struct sink *sink)
{
	(void)sink;
}

static bool never_stays(struct sink *sink)
{
	(void)sink;
	return false;
}

const struct sink_type sink_server = {
	.name = "server",
	.serves = true,
	.is_meant = is_meant,
	.needs = needs,
	.prepare = prepare,
	.open = open_answers,
	.start = nothing,
	.targets = targets,
	.boundary = boundary,
	.sampled = nothing,
	.show = nothing,
	.tend = tend,
	.timeout = timeout,
	.suspend = nothing,
	.resume = nothing,
	.stays = never_stays,
	.leave = nothing,
	.finish = finish,
	.close = close_server,
};
