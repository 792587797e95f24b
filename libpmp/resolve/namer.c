/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The process that reads files for a symbolizer. It opens no files itself: it is sent some,
 * asks for others that a file refers to, and answers with names. Nothing here confines the
 * process, or relies on that: it is up to the program.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/fault.h"
#include "libpmp-program.h"
#include "resolve/demangle.h"
#include "resolve/dso.h"
#include "resolve/perf-map.h"
#include "resolve/remote-messages.h"
#include "resolve/strings.h"

#define LOT ((size_t)32 << 10) /* bytes of names sent in one message */
#define PATHS_MAX 64	       /* descriptors whose paths are remembered */

struct opened {
	uint32_t handle, options;
	struct pmp_module *module;
	struct pmp_dso *dso;
	struct pmp_perf_map *perf_map;
};

/* The path of a descriptor. */
struct known_path {
	int fd;
	char *path;
};

struct pmp_namer {
	int socket;
	struct pmp_namer_options options;
	struct opened **opened; /* pointers, as current must not move */
	size_t count, capacity;
	const struct opened *current; /* the module of the request, or NULL */
	struct pmp_remote_message request, given;
	struct pmp_buf lot, text;
	struct pmp_budget budget;
	struct pmp_log log, no_log;
	struct known_path paths[PATHS_MAX];
	size_t path_count;
};

static const struct pmp_remote_patience patient;

/* ---- sending ------------------------------------------------------------------------ */

/* False: the symbolizer is gone, so there is nothing to do any more. */
static bool send_message(struct pmp_namer *namer, enum pmp_remote_type type,
			 uint32_t flag, const struct pmp_remote_parts *parts)
{
	const struct pmp_remote_header header = {
		.type = type,
		.handle = namer->current ? namer->current->handle : 0,
		.flag = flag,
	};

	if (namer->options.working)
		namer->options.working(namer->options.arg);
	return pmp_remote_send(namer->socket, &patient, header, parts);
}

static void send_line(void *arg, const char *area, const char *line)
{
	const struct pmp_remote_parts parts = pmp_remote_line(area, line);

	send_message(arg, PMP_REMOTE_LOG, 0, &parts);
}

/* ---- asking for files ------------------------------------------------------------------- */

static void remember_path(struct pmp_namer *namer, int fd, const char *path,
			  size_t length)
{
	struct known_path *known = &namer->paths[namer->path_count++ % PATHS_MAX];

	free(known->path);
	*known = (struct known_path){ fd, pmp_copy(path, length) };
}

const char *pmp_namer_path(const struct pmp_namer *namer, int fd)
{
	for (size_t i = 0; i < PATHS_MAX; i++) {
		/* The newest one with this number. */
		const struct known_path *known =
			&namer->paths[(namer->path_count - 1 - i) % PATHS_MAX];

		if (known->path && known->fd == fd)
			return known->path;
	}
	return NULL;
}

const char *pmp_namer_module(const struct pmp_namer *namer)
{
	return namer->current && namer->current->module ? namer->current->module->path
							: NULL;
}

static int ask(void *arg, const struct pmp_debug_question *question, struct pmp_buf *path)
{
	struct pmp_namer *namer = arg;
	struct pmp_remote_message *given = &namer->given;
	const char *name = question->name ? question->name : "";
	struct pmp_remote_ask asked = {
		.kind = question->kind,
		.number = question->number,
		.id_size = (uint32_t)question->id_size,
		.name_length = (uint32_t)strnlen(name, PMP_REMOTE_PATH_MAX),
	};
	const struct pmp_remote_parts parts = { .first = &asked,
						.first_size = sizeof(asked),
						.second = name,
						.second_size = asked.name_length };
	int fd;

	if (question->id_size > sizeof(asked.id))
		return -ENODATA;
	if (question->id_size)
		memcpy(asked.id, question->id, question->id_size);
	if (!send_message(namer, PMP_REMOTE_ASK, 0, &parts) ||
	    !pmp_remote_receive(namer->socket, &patient, given) ||
	    given->header.type != PMP_REMOTE_GIVE)
		return -ENODATA;
	if (path) {
		pmp_buf_clear(path);
		pmp_buf_add(path, given->body.data, given->body.length);
	}
	if (given->fd < 0)
		return given->header.flag ? -(int)given->header.flag : -EIO;
	fd = given->fd;
	given->fd = -1;
	remember_path(namer, fd, given->body.data, given->body.length);
	return fd;
}

int pmp_namer_open_split(struct pmp_namer *namer, const char *path)
{
	const struct pmp_debug_question question = { .kind = PMP_DEBUG_SPLIT,
						     .name = path };
	int fd = namer->current ? ask(namer, &question, NULL) : -ENOENT;

	return fd == -ENODATA ? -ENOENT : fd;
}

/* ---- modules ---------------------------------------------------------------------------- */

static struct opened *find(const struct pmp_namer *namer, uint32_t handle)
{
	/* Mostly it was opened recently. */
	for (size_t i = namer->count; i-- > 0;)
		if (namer->opened[i]->handle == handle)
			return namer->opened[i];
	return NULL;
}

static void forget(struct opened *opened)
{
	if (!opened)
		return;
	pmp_dso_free(opened->dso);
	pmp_perf_map_free(opened->perf_map);
	pmp_module_unref(opened->module);
	free(opened);
}

static void close_module(struct pmp_namer *namer, uint32_t handle)
{
	for (size_t i = 0; i < namer->count; i++) {
		if (namer->opened[i]->handle != handle)
			continue;
		forget(namer->opened[i]);
		namer->opened[i] = namer->opened[--namer->count];
		return;
	}
}

/* Make the module from the body of OPEN. NULL: out of memory, or the body is incomplete. */
static struct pmp_module *read_module(struct pmp_namer *namer,
				      const struct pmp_remote_open *open)
{
	const struct pmp_buf *body = &namer->request.body;
	const char *asked = (const char *)(open + 1);
	const char *image = asked + open->asked_count * sizeof(uint64_t);
	const char *path = image + open->image_size;
	struct pmp_module *module;
	char *text;

	if (body->length != (size_t)(path - body->data) + open->path_length)
		return NULL;
	text = pmp_copy(path, open->path_length);
	module = text ? pmp_module_new(0, (enum pmp_module_kind)open->kind, text) : NULL;
	free(text);
	if (!module)
		return NULL;
	module->open_errno = (int)open->open_errno;
	if (open->image_size) {
		module->image = pmp_copy(image, open->image_size);
		module->image_size = module->image ? open->image_size : 0;
	}
	module->fd = namer->request.fd;
	namer->request.fd = -1;
	if (module->fd >= 0)
		remember_path(namer, module->fd, path, open->path_length);
	return module;
}

static void read_file(struct pmp_namer *namer, struct opened *opened,
		      const struct pmp_remote_open *open)
{
	const struct pmp_dso_options options = {
		.debug_dir = "",
		.no_symbols = open->options & PMP_REMOTE_NO_SYMBOLS,
		.no_dwarf = open->options & PMP_REMOTE_NO_DWARF,
		.lines = open->options & PMP_REMOTE_LINES,
		.log = open->options & PMP_REMOTE_DEBUGS ? &namer->log : &namer->no_log,
		.budget = &namer->budget,
		.ask = ask,
		.ask_arg = namer,
	};

	opened->dso = pmp_dso_new(opened->module, &options, (const uint64_t *)(open + 1),
				  open->asked_count);
}

static bool open_module(struct pmp_namer *namer)
{
	const struct pmp_remote_open *open = (const void *)namer->request.body.data;
	struct opened *opened = calloc(1, sizeof(*opened));
	struct pmp_remote_opened answer = { .problem = "not enough memory" };
	const struct pmp_remote_parts parts = { .first = &answer,
						.first_size = sizeof(answer) };
	const char *problem = NULL;

	if (!opened || PMP_RESERVE(&namer->opened, &namer->capacity, namer->count + 1)) {
		free(opened);
		return false;
	}
	opened->handle = namer->request.header.handle;
	opened->options = open->options;
	namer->opened[namer->count++] = opened;
	namer->current = opened;
	opened->module = read_module(namer, open);
	if (!opened->module)
		return false;
	if (opened->module->kind == PMP_MODULE_PERF_MAP)
		opened->perf_map = pmp_perf_map_new(opened->module->fd);
	else if (!open->only[0] || pmp_dso_is_of_build(opened->module->fd, open->only))
		read_file(namer, opened, open);
	if (opened->dso)
		problem = pmp_dso_problem(opened->dso);
	if (opened->dso || opened->perf_map || open->only[0])
		snprintf(answer.problem, sizeof(answer.problem), "%s",
			 problem ? problem : "");
	snprintf(answer.build_id, sizeof(answer.build_id), "%s",
		 opened->dso ? pmp_dso_build_id(opened->dso) : "");
	return send_message(namer, PMP_REMOTE_OPENED, 0, &parts);
}

/* ---- names -------------------------------------------------------------------------------- */

/* A place that is being written to the lot, from start on. */
struct placing {
	struct pmp_namer *namer;
	size_t start;
	uint32_t count;
};

/* Add a string. Returns its offset in the place; 0: there is none, or it is too long. */
static uint32_t put_text(struct placing *placing, const char *text, size_t most)
{
	struct pmp_buf *lot = &placing->namer->lot;
	const size_t at = lot->length - placing->start;
	const size_t length = text ? strnlen(text, most + 1) : 0;

	if (!text || length > most)
		return 0;
	pmp_buf_add(lot, text, length);
	pmp_buf_putc(lot, '\0');
	return (uint32_t)at;
}

static struct pmp_remote_name *name_at(struct placing *placing, size_t i)
{
	char *at = placing->namer->lot.data + placing->start +
		   sizeof(struct pmp_remote_place);

	return (struct pmp_remote_name *)(void *)at + i;
}

/* Add the readable name, and the linker's if that is different. */
static void put_function(struct placing *placing, size_t i, const char *linkage)
{
	struct pmp_namer *namer = placing->namer;
	struct pmp_buf *text = &namer->text;
	uint32_t function, kept = 0;

	pmp_buf_clear(text);
	if (!pmp_demangle(linkage, text)) {
		pmp_buf_clear(text);
		pmp_buf_add(text, linkage, strnlen(linkage, PMP_NAME_MAX + 1));
	}
	if (pmp_buf_failed(text))
		return;
	pmp_strings_cut_name(text);
	function = put_text(placing, text->data ? text->data : "", text->length);
	if (!text->data || strcmp(text->data, linkage) != 0)
		kept = put_text(placing, linkage, PMP_NAME_MAX);
	if (pmp_buf_failed(&namer->lot))
		return;
	name_at(placing, i)->function = function;
	name_at(placing, i)->linkage = kept;
}

static bool begin_place(struct placing *placing, uint32_t index, size_t count)
{
	struct pmp_buf *lot = &placing->namer->lot;
	const size_t size =
		sizeof(struct pmp_remote_place) + count * sizeof(struct pmp_remote_name);
	char *at;

	placing->start = lot->length;
	placing->count = (uint32_t)count;
	at = pmp_buf_extend(lot, size);
	if (!at)
		return false;
	memset(at, 0, size);
	((struct pmp_remote_place *)(void *)at)->index = index;
	return true;
}

static struct pmp_remote_place *end_place(struct placing *placing)
{
	struct pmp_buf *lot = &placing->namer->lot;
	struct pmp_remote_place *place;

	while (lot->length % 8 && !pmp_buf_failed(lot))
		pmp_buf_putc(lot, '\0');
	if (pmp_buf_failed(lot))
		return NULL;
	place = (struct pmp_remote_place *)(void *)(lot->data + placing->start);
	place->size = (uint32_t)(lot->length - placing->start);
	place->count = placing->count;
	return place;
}

static bool put_code(struct placing *placing, struct opened *opened, uint32_t index,
		     uint64_t offset)
{
	struct pmp_place places[PMP_PLACES_MAX];
	const bool inlined = !(opened->options & PMP_REMOTE_NO_INLINE);
	const bool wanted = inlined || opened->options & PMP_REMOTE_LINES;
	const bool symbols = !(opened->options & PMP_REMOTE_NO_SYMBOLS);
	struct pmp_remote_place *place;
	uint64_t address = 0;
	size_t count = 0, first;
	const char *symbol = NULL;
	bool known;

	known = opened->dso && pmp_dso_address(opened->dso, offset, &address);
	if (known && wanted && symbols)
		count = pmp_dso_places(opened->dso, address, places);
	first = count && !inlined ? count - 1 : 0;
	if (!begin_place(placing, index, count ? count - first : 1))
		return false;
	for (size_t i = first; i < count; i++) {
		uint32_t file = put_text(placing, places[i].file, PMP_REMOTE_PATH_MAX);

		if (places[i].function)
			put_function(placing, i - first, places[i].function);
		if (pmp_buf_failed(&placing->namer->lot))
			return false;
		name_at(placing, i - first)->file = file;
		name_at(placing, i - first)->line = places[i].line;
	}
	/* Afterwards, as running out of memory there makes it read more symbols. */
	if (known)
		symbol = pmp_dso_symbol(opened->dso, address);
	if (symbol)
		put_function(placing, placing->count - 1, symbol);
	place = end_place(placing);
	if (!place)
		return false;
	place->code = known;
	place->address = address;
	return true;
}

static bool put_jit(struct placing *placing, struct opened *opened, uint32_t index,
		    uint64_t address)
{
	const char *name = pmp_perf_map_find(opened->perf_map, address);

	if (!begin_place(placing, index, 1))
		return false;
	if (name)
		put_function(placing, 0, name);
	return end_place(placing) != NULL;
}

static bool put_object(struct placing *placing, struct opened *opened, uint32_t index,
		       uint64_t distance)
{
	struct pmp_dso_object found = { .name = NULL };
	struct pmp_remote_place *place;
	int code = PMP_EIO;

	if (opened->dso)
		code = pmp_dso_object(opened->dso, distance, &found);
	if (!begin_place(placing, index, 1))
		return false;
	if (code > 0 && found.name)
		put_function(placing, 0, found.name);
	place = end_place(placing);
	if (!place)
		return false;
	place->code = code;
	place->address = found.address;
	place->start = found.start;
	return true;
}

static bool put_place(struct placing *placing, struct opened *opened, uint32_t index,
		      uint64_t address)
{
	if (placing->namer->request.header.flag == PMP_REMOTE_OBJECTS)
		return put_object(placing, opened, index, address);
	if (opened->perf_map)
		return put_jit(placing, opened, index, address);
	return put_code(placing, opened, index, address);
}

/* For tests: behave as if a file had taken over this process? */
static bool is_taken_over(const struct pmp_namer *namer)
{
	return strstr(pmp_namer_module(namer), "victim");
}

/* Send empty answers, for ever. */
static void play_empty(struct pmp_namer *namer)
{
	const struct pmp_remote_parts none = { .first = NULL };

	while (send_message(namer, PMP_REMOTE_NAMES, 0, &none))
		continue;
}

/* Send a message byte by byte. */
static void play_drips(const struct pmp_namer *namer)
{
	struct pmp_remote_header header = { .type = PMP_REMOTE_LOG,
					    .length = PMP_REMOTE_MESSAGE_MAX,
					    .handle = namer->current->handle };
	struct iovec part = { &header, sizeof(header) };
	const struct msghdr drop = { .msg_iov = &part, .msg_iovlen = 1 };

	for (; sendmsg(namer->socket, &drop, MSG_NOSIGNAL) > 0; part.iov_len = 1)
		poll(NULL, 0, 1000);
}

/* last: the flag of NAMES. */
static bool send_lot(struct pmp_namer *namer, uint32_t last)
{
	struct pmp_buf *lot = &namer->lot;
	struct pmp_remote_parts parts;

	if (PMP_FAULT("namer-empty") && is_taken_over(namer))
		play_empty(namer);
	if (PMP_FAULT("namer-drips") && is_taken_over(namer))
		play_drips(namer);
	if (PMP_FAULT("namer-lies") && is_taken_over(namer))
		for (size_t i = 0; i < lot->length; i += 29)
			lot->data[i] ^= 0x55;

	parts = (struct pmp_remote_parts){ .first = lot->data,
					   .first_size = lot->length };
	if (pmp_buf_failed(lot) || !send_message(namer, PMP_REMOTE_NAMES, last, &parts))
		return false;
	pmp_buf_clear(&namer->lot);
	return true;
}

static bool name_places(struct pmp_namer *namer)
{
	const uint64_t *places = (const void *)namer->request.body.data;
	const size_t count = namer->request.body.length / sizeof(*places);
	struct opened *opened = find(namer, namer->request.header.handle);
	struct placing placing = { .namer = namer };

	if (!opened)
		return false;
	namer->current = opened;
	if (namer->request.header.flag == PMP_REMOTE_OBJECTS && opened->dso &&
	    pmp_dso_lacks_objects(opened->dso))
		pmp_dso_read_objects(opened->dso, places, count);
	/* Once for all places, as code may have been replaced. */
	if (opened->perf_map)
		pmp_perf_map_read_on(opened->perf_map);
	for (size_t i = 0; i < count; i++) {
		if (!put_place(&placing, opened, (uint32_t)i, places[i]))
			return false;
		if (namer->lot.length >= LOT && i + 1 < count && !send_lot(namer, 0))
			return false;
	}
	return send_lot(namer,
			opened->perf_map && pmp_perf_map_lacks_lines(opened->perf_map)
				? PMP_REMOTE_LAST_LACKS_LINES
				: PMP_REMOTE_LAST);
}

/* ---- life ------------------------------------------------------------------------------- */

int pmp_namer_new(int socket, const struct pmp_namer_options *options,
		  struct pmp_namer **namer, struct pmp_error *err)
{
	struct pmp_namer *made = calloc(1, sizeof(*made));

	*namer = made;
	if (!made)
		return pmp_error_nomem(err, "reading files");
	made->socket = socket;
	made->options = *options;
	made->budget = (struct pmp_budget)PMP_BUDGET;
	made->log = (struct pmp_log){ send_line, made };
	made->request.fd = made->given.fd = -1;
	for (size_t i = 0; i < PATHS_MAX; i++)
		made->paths[i].fd = -1;
	return 0;
}

void pmp_namer_free(struct pmp_namer *namer)
{
	if (!namer)
		return;
	for (size_t i = 0; i < namer->count; i++)
		forget(namer->opened[i]);
	for (size_t i = 0; i < PATHS_MAX; i++)
		free(namer->paths[i].path);
	free(namer->opened);
	pmp_remote_drop(&namer->request);
	pmp_remote_drop(&namer->given);
	pmp_buf_free(&namer->request.body);
	pmp_buf_free(&namer->given.body);
	pmp_buf_free(&namer->lot);
	pmp_buf_free(&namer->text);
	free(namer);
}

static bool answer(struct pmp_namer *namer)
{
	const struct pmp_remote_message *request = &namer->request;

	if (namer->options.working)
		namer->options.working(namer->options.arg);
	switch (request->header.type) {
	case PMP_REMOTE_OPEN:
		return request->body.length >= sizeof(struct pmp_remote_open) &&
		       open_module(namer);
	case PMP_REMOTE_NAME: return name_places(namer);
	case PMP_REMOTE_CLOSE: close_module(namer, request->header.handle); return true;
	default: return false;
	}
}

enum pmp_namer_work pmp_namer_wanted(int socket)
{
	switch (pmp_remote_first(socket)) {
	case 0: return PMP_NAMER_NO_WORK;
	case PMP_REMOTE_PROFILE: return PMP_NAMER_PROFILE;
	case PMP_REMOTE_CORE: return PMP_NAMER_CORE;
	default: return PMP_NAMER_NAMES;
	}
}

void pmp_namer_serve(struct pmp_namer *namer)
{
	bool goes_on = true;

	while (goes_on && pmp_remote_receive(namer->socket, &patient, &namer->request)) {
		goes_on = answer(namer);
		namer->current = NULL;
	}
}
