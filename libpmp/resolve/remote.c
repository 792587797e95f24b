/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See remote.h. */
#include "resolve/remote.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/fault.h"
#include "resolve/perf-map.h"

#define SILENCE 10000		  /* ms without a message, unless it is computing */
#define ANSWER_TIME (600 * PMP_S) /* limit for a whole answer */
#define SHORT_TIME (3 * PMP_S)	  /* the same, for tests */
#define LOGS_MAX 100000		  /* lines for one request */
#define ASKED_MAX 10000		  /* files for one request */
#define FETCHED_MAX 16		  /* from servers, likewise; a module needs two */

/* ---- the process ------------------------------------------------------------------------- */

static bool still_works(void *arg)
{
	const struct pmp_remote *remote = arg;

	return remote->calls->works &&
	       remote->calls->works(remote->calls->arg, remote->socket);
}

static struct pmp_remote_patience patience_of(struct pmp_remote *remote)
{
	return (struct pmp_remote_patience){ SILENCE, still_works, remote,
					     remote->until };
}

static bool start(struct pmp_remote *remote)
{
	if (remote->socket >= 0)
		return true;
	if (!remote->off)
		remote->socket = remote->calls->start(remote->calls->arg);
	remote->off = remote->socket < 0;
	remote->cancelled |= remote->socket == -ECANCELED;
	remote->serial++;
	return !remote->off;
}

/* The process has died or misbehaved: end it. The module that it was reading fails, and is
 * not opened again. */
static void give_up(struct pmp_remote *remote, struct pmp_remote_module *module)
{
	char reason[80];

	snprintf(reason, sizeof(reason), "%s",
		 remote->cancelled ? "was interrupted" : "is not there");
	if (remote->socket >= 0)
		remote->calls->end(remote->calls->arg, remote->socket, reason,
				   sizeof(reason));
	remote->socket = -1;
	remote->opened = false;
	module->failed = true;
	snprintf(module->problem, sizeof(module->problem),
		 "the process that reads files %s", reason);
}

static void has_read(const struct pmp_remote *remote)
{
	if (remote->calls->has_read)
		remote->calls->has_read(remote->calls->arg);
}

/* It is not needed any more. */
static void end(struct pmp_remote *remote)
{
	if (remote->socket >= 0)
		remote->calls->end(remote->calls->arg, remote->socket, NULL, 0);
	remote->socket = -1;
}

void pmp_remote_free(struct pmp_remote *remote)
{
	end(remote);
	pmp_buf_free(&remote->request);
	pmp_remote_drop(&remote->message);
	pmp_buf_free(&remote->message.body);
}

void pmp_remote_leave(struct pmp_remote *remote)
{
	if (remote->socket >= 0)
		close(remote->socket);
	remote->socket = -1;
	remote->off = true;
}

static uint64_t answer_time(void)
{
	return PMP_FAULT("short-answers") ? SHORT_TIME : ANSWER_TIME;
}

/* Send a request; the time for its answer starts now. */
static bool send_request(struct pmp_remote *remote, enum pmp_remote_type type,
			 const struct pmp_remote_module *module, uint32_t flag, int fd)
{
	const struct pmp_remote_patience patience = { SILENCE, still_works, remote,
						      pmp_clock() + answer_time() };
	const struct pmp_remote_header header = { .type = type,
						  .handle = module->handle,
						  .flag = flag };
	const struct pmp_buf *request = &remote->request;
	const struct pmp_remote_parts parts = { .first = request->data,
						.first_size = request->length,
						.fd = fd < 0 ? NULL : &fd };

	remote->until = patience.until;
	memset(&remote->asked, 0, sizeof(remote->asked));
	return !pmp_buf_failed(request) &&
	       pmp_remote_send(remote->socket, &patience, header, &parts);
}

/* ---- what it asks for --------------------------------------------------------------------- */

static bool read_question(const struct pmp_buf *body, struct pmp_remote_ask *asked,
			  char name[PMP_REMOTE_PATH_MAX + 1])
{
	if (body->length < sizeof(*asked))
		return false;
	memcpy(asked, body->data, sizeof(*asked));
	if (asked->kind >= PMP_DEBUG_KINDS || asked->id_size > sizeof(asked->id) ||
	    asked->name_length > PMP_REMOTE_PATH_MAX ||
	    asked->name_length != body->length - sizeof(*asked))
		return false;
	memcpy(name, body->data + sizeof(*asked), asked->name_length);
	name[asked->name_length] = '\0';
	return true;
}

static void keep_debug_path(struct pmp_remote_module *module,
			    const struct pmp_debug_question *question,
			    const struct pmp_buf *path)
{
	if (question->kind != PMP_DEBUG_ID && question->kind != PMP_DEBUG_LINK)
		return;
	free(module->debug_path);
	module->debug_path = pmp_copy(path->data, path->length);
}

/* A file is given only if it is an ELF file, and belongs to a trusted user. */
static int find_file(struct pmp_remote_module *module,
		     const struct pmp_debug_question *question, struct pmp_buf *path)
{
	int fd = pmp_debug_paths_open(&module->place, question, path);
	const char *problem =
		fd < 0 ? NULL
		       : pmp_debug_paths_refuse(&module->place, question->kind, fd);

	if (fd >= 0 && problem) {
		PMP_LOG(module->place.log, "debug", "%s: %s",
			path->data ? path->data : "?", problem);
		close(fd);
		return -EACCES;
	}
	if (fd >= 0 && path->data)
		keep_debug_path(module, question, path);
	return fd;
}

static bool give(struct pmp_remote *remote, struct pmp_remote_module *module)
{
	const uint64_t since = pmp_clock();
	struct pmp_remote_patience patience;
	struct pmp_remote_header header = { .type = PMP_REMOTE_GIVE };
	char name[PMP_REMOTE_PATH_MAX + 1];
	struct pmp_debug_question question;
	struct pmp_remote_ask asked;
	struct pmp_remote_parts parts = { 0 };
	struct pmp_buf path = { 0 };
	bool given;
	int fd;

	if (!read_question(&remote->message.body, &asked, name))
		return false;
	question = (struct pmp_debug_question){
		.kind = (enum pmp_debug_kind)asked.kind,
		.number = asked.number,
		.id = asked.id,
		.id_size = asked.id_size,
		.name = name,
		.beside = module->debug_path ? module->debug_path : module->place.path,
	};
	if (asked.kind == PMP_DEBUG_FETCH && remote->asked.fetched++ >= FETCHED_MAX)
		return false;
	fd = find_file(module, &question, &path);
	/* The time for asking a server does not count. */
	remote->until += pmp_clock() - since;
	patience = patience_of(remote);
	if (fd < 0)
		header.flag = (uint32_t)-fd;
	parts.first = path.data;
	parts.first_size = path.data ? path.length : 0;
	parts.fd = fd < 0 ? NULL : &fd;
	given = pmp_remote_send(remote->socket, &patience, header, &parts);
	if (fd >= 0)
		close(fd);
	pmp_buf_free(&path);
	return given;
}

/* Receive the next part of the answer, and give the files that the process asks for. */
static bool receive(struct pmp_remote *remote, struct pmp_remote_module *module,
		    enum pmp_remote_type type)
{
	struct pmp_remote_patience patience = patience_of(remote);
	struct pmp_remote_message *message = &remote->message;

	while (pmp_remote_receive(remote->socket, &patience, message)) {
		const uint32_t got = message->header.type;

		pmp_remote_drop(message); /* it has no descriptors to send */
		if (message->header.handle != module->handle)
			return false;
		if (got == type)
			return true;
		if (got == PMP_REMOTE_LOG && ++remote->asked.lines < LOGS_MAX &&
		    pmp_remote_log(module->place.log, &message->body))
			continue;
		if (got == PMP_REMOTE_ASK && ++remote->asked.files < ASKED_MAX &&
		    give(remote, module)) {
			patience.until = remote->until; /* give() may have extended it */
			continue;
		}
		return false;
	}
	return false;
}

/* ---- modules ------------------------------------------------------------------------------ */

bool pmp_remote_is_open(const struct pmp_remote *remote,
			const struct pmp_remote_module *module)
{
	return module->failed || (module->handle && remote->socket >= 0 &&
				  module->serial == remote->serial);
}

static void prepare(struct pmp_remote_module *module, const struct pmp_module *source,
		    const struct pmp_remote_options *options)
{
	struct stat status;

	module->place = (struct pmp_debug_place){
		.debug_dir = options->debug_dir,
		.path = source->path,
		.fetch = options->fetch,
		.log = options->log,
	};
	if (source->fd >= 0 && fstat(source->fd, &status) == 0)
		module->place.owner = status.st_uid;
	module->problem[0] = '\0';
	module->build_id[0] = '\0';
	free(module->debug_path);
	module->debug_path = NULL;
}

static void write_open(struct pmp_buf *request, const struct pmp_module *source,
		       const struct pmp_remote_options *options, const uint64_t *asked,
		       size_t count)
{
	struct pmp_remote_open open = {
		.kind = source->kind,
		.options = options->options,
		.path_length = (uint32_t)strlen(source->path),
		.open_errno = (uint32_t)source->open_errno,
		.image_size = source->image ? source->image_size : 0,
		.asked_count = count,
	};

	if (options->only)
		snprintf(open.only, sizeof(open.only), "%s", options->only);
	pmp_buf_clear(request);
	pmp_buf_add(request, &open, sizeof(open));
	if (count)
		pmp_buf_add(request, asked, count * sizeof(*asked));
	if (open.image_size)
		pmp_buf_add(request, source->image, open.image_size);
	pmp_buf_add(request, source->path, open.path_length);
}

/* Take the answer to OPEN. The build-id must be lower-case hex, or empty. */
static bool take_opened(const struct pmp_buf *body, struct pmp_remote_module *module)
{
	struct pmp_remote_opened opened;

	if (body->length != sizeof(opened))
		return false;
	memcpy(&opened, body->data, sizeof(opened));
	opened.build_id[sizeof(opened.build_id) - 1] = '\0';
	opened.problem[sizeof(opened.problem) - 1] = '\0';
	if (opened.build_id[strspn(opened.build_id, "0123456789abcdef")])
		return false;
	memcpy(module->build_id, opened.build_id, sizeof(module->build_id));
	snprintf(module->problem, sizeof(module->problem), "%s", opened.problem);
	return true;
}

void pmp_remote_open(struct pmp_remote *remote, struct pmp_remote_module *module,
		     const struct pmp_module *source,
		     const struct pmp_remote_options *options, const uint64_t *asked,
		     size_t count)
{
	if (module->failed)
		return;
	prepare(module, source, options);
	if (!start(remote)) {
		give_up(remote, module);
		return;
	}
	module->serial = remote->serial;
	module->handle = ++remote->handles;
	write_open(&remote->request, source, options, asked, count);
	if (!send_request(remote, PMP_REMOTE_OPEN, module, 0, source->fd) ||
	    !receive(remote, module, PMP_REMOTE_OPENED) ||
	    !take_opened(&remote->message.body, module)) {
		/* Others may be opened before any is named. That does not count for one
		 * that fails later, when it is named. */
		if (remote->opened)
			has_read(remote);
		give_up(remote, module);
		return;
	}
	remote->opened = true;
}

bool pmp_remote_name(struct pmp_remote *remote, struct pmp_remote_module *module,
		     const struct pmp_remote_wanted *wanted)
{
	const struct pmp_buf *body = &remote->message.body;
	const uint32_t flag = wanted->objects ? PMP_REMOTE_OBJECTS : PMP_REMOTE_CODE;
	size_t at, left = wanted->count, before;
	bool works;

	if (module->failed)
		return false;
	pmp_buf_clear(&remote->request);
	pmp_buf_add(&remote->request, wanted->places,
		    wanted->count * sizeof(*wanted->places));
	works = pmp_remote_is_open(remote, module) &&
		send_request(remote, PMP_REMOTE_NAME, module, flag, -1);
	while (works && left) {
		const struct pmp_remote_place *place;

		works = receive(remote, module, PMP_REMOTE_NAMES);
		before = left;
		for (at = 0;
		     works && left && (place = pmp_remote_next(body, &at, wanted->count));
		     left--)
			wanted->take(wanted->arg, place);
		works = works && left < before && at == body->length &&
			(left == 0) == (remote->message.header.flag != 0);
	}
	if (!works) {
		give_up(remote, module);
		return false;
	}
	has_read(remote);
	if (remote->message.header.flag == PMP_REMOTE_LAST_LACKS_LINES)
		snprintf(module->problem, sizeof(module->problem), PMP_PERF_MAP_LOST);
	return true;
}

/* Its caller must not wait: if a process does not take the message, it is ended, and the
 * other modules are opened in a new one. None of them is to blame. */
void pmp_remote_close(struct pmp_remote *remote, struct pmp_remote_module *module)
{
	const struct pmp_remote_header header = { .type = PMP_REMOTE_CLOSE,
						  .handle = module->handle };

	if (remote->socket >= 0 && module->handle && module->serial == remote->serial &&
	    !pmp_remote_try(remote->socket, header))
		end(remote);
	free(module->debug_path);
	*module = (struct pmp_remote_module){ .failed = false };
}
