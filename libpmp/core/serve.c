/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The unprivileged process that reads a core file. It asks for the files of modules, and
 * sends the sample. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fault.h"
#include "core/core-records.h"
#include "core/own.h"
#include "libpmp-program.h"
#include "resolve/remote-messages.h"

struct core_serving {
	int socket;
	struct pmp_remote_message given;
	struct pmp_core_request request;
	const char *exe, *name;
	struct pmp_core_places places;
};

static const struct pmp_remote_patience patient;

static bool send_message(const struct core_serving *serving, enum pmp_remote_type type,
			 const struct pmp_remote_parts *parts)
{
	const struct pmp_remote_header header = { .type = type };

	return pmp_remote_send(serving->socket, &patient, header, parts);
}

static void send_line(void *arg, const char *area, const char *line)
{
	const struct pmp_remote_parts parts = pmp_remote_line(area, line);

	send_message(arg, PMP_REMOTE_LOG, &parts);
}

static int ask(void *arg, const struct pmp_core_wanted *wanted, unsigned place)
{
	struct core_serving *serving = arg;
	struct pmp_remote_message *given = &serving->given;
	struct pmp_core_ask asked = { .place = place,
				      .deleted = wanted->deleted,
				      .program = wanted->program };
	const struct pmp_remote_parts parts = {
		.first = &asked,
		.first_size = sizeof(asked),
		.second = wanted->path,
		.second_size = strnlen(wanted->path, PMP_CORE_PATH_MAX),
	};
	int fd;

	memcpy(asked.build_id, wanted->build_id, sizeof(asked.build_id));
	if (!send_message(serving, PMP_REMOTE_CORE_ASK, &parts) ||
	    !pmp_remote_receive(serving->socket, &patient, given) ||
	    given->header.type != PMP_REMOTE_GIVE)
		return -ENODATA;
	fd = given->fd;
	given->fd = -1;
	if (fd < 0)
		return given->header.flag ? -(int)given->header.flag : -EMFILE;
	return fd;
}

/* ---- the answer --------------------------------------------------------------------------- */

static void add_text(struct pmp_buf *buf, const char *text, size_t most)
{
	pmp_buf_add(buf, text, strnlen(text, most));
	pmp_buf_add(buf, "", 1);
}

static void add_missing(const struct pmp_core *core, struct pmp_buf *buf,
			struct pmp_core_read *read)
{
	struct pmp_core_missing_file file = { .size = sizeof(file) };

	while (read->missing_count < PMP_CORE_MISSING_MAX &&
	       pmp_core_missing(core, read->missing_count, &file)) {
		struct pmp_core_missed missed = { .program = file.program };

		memcpy(missed.build_id, file.build_id,
		       strnlen(file.build_id, sizeof(missed.build_id) - 1));
		pmp_buf_add(buf, &missed, sizeof(missed));
		add_text(buf, file.path, PMP_CORE_PATH_MAX);
		add_text(buf, file.problem, PMP_CORE_PATH_MAX);
		read->missing_count++;
	}
}

static void describe(const struct pmp_core *core, const struct pmp_sample *sample,
		     struct pmp_core_read *read)
{
	struct pmp_core_info info = { .size = sizeof(info) };

	pmp_core_info(core, &info);
	read->length = info.length;
	read->meant = info.meant;
	read->threads = info.threads;
	read->threads_left_out = info.threads_left_out;
	read->pid = info.pid;
	read->no_files = info.no_files;
	read->crash = sample->crash;
	memcpy(read->name, sample->name, sizeof(read->name));
}

/* A planted fault: more frames than a core can have. */
static void add_frames(struct pmp_sample *sample)
{
	const struct pmp_raw_frame frame = { .pc = 1 };

	while (sample->frame_count <= PMP_CORE_FRAMES_MAX + sample->thread_count)
		if (pmp_sample_add_frames(sample, &frame, 1))
			return;
}

/* Only a sampler can tell how a stack was obtained; the receiver sets it to unknown. */
static void send_sample(const struct core_serving *serving, struct pmp_sample *sample)
{
	struct pmp_sender *sender;

	for (size_t i = 0; i < sample->thread_count; i++)
		sample->threads[i].obtained = PMP_NOT_STOPPED;
	if (PMP_FAULT("core-frames"))
		add_frames(sample);
	while (PMP_FAULT("core-silent"))
		poll(NULL, 0, -1);
	if (pmp_sender_new(serving->socket, &sender, NULL) < 0)
		return;
	pmp_sender_sample(sender, sample, NULL);
	pmp_sender_free(sender);
}

static void serve(struct core_serving *serving, int fd)
{
	const struct pmp_core_options options = {
		.size = sizeof(options),
		.exe = serving->exe,
		.unwind = (enum pmp_unwind)serving->request.unwind,
		.max_frames = serving->request.max_frames,
		.no_waits = serving->request.no_waits,
		.written = serving->request.written,
		.log = serving->request.debugs ? send_line : NULL,
		.log_arg = serving,
	};
	struct pmp_core_read read;
	struct pmp_buf missing = { 0 };
	struct pmp_remote_parts parts = { .first = &read, .first_size = sizeof(read) };
	struct pmp_sample *sample = NULL;
	struct pmp_core *core;

	memset(&read, 0, sizeof(read));
	read.error.code = pmp_core_open_by(fd, serving->name, &options, &serving->places,
					   &core, &read.error);
	if (!read.error.code)
		read.error.code = pmp_core_sample(core, &sample, &read.error);
	if (!read.error.code) {
		describe(core, sample, &read);
		add_missing(core, &missing, &read);
	}
	parts.second = missing.data;
	parts.second_size = missing.length;
	if (PMP_FAULT("core-lies"))
		for (size_t i = 0; i < sizeof(read); i += 29)
			((char *)&read)[i] ^= 0x55;
	if (!pmp_buf_failed(&missing) &&
	    send_message(serving, PMP_REMOTE_CORE_READ, &parts) && sample)
		send_sample(serving, sample);
	pmp_buf_free(&missing);
	pmp_sample_free(sample);
	pmp_core_close(core);
}

/* The sender is trusted, so the strings are terminated. */
static bool take_request(struct core_serving *serving,
			 const struct pmp_remote_message *request)
{
	if (request->header.type != PMP_REMOTE_CORE || request->fd < 0 ||
	    request->body.length <= sizeof(serving->request))
		return false;
	memcpy(&serving->request, request->body.data, sizeof(serving->request));
	serving->exe = request->body.data + sizeof(serving->request);
	serving->name = serving->exe + strlen(serving->exe) + 1;
	if (!serving->request.has_exe)
		serving->exe = NULL;
	serving->places = (struct pmp_core_places){
		.exe = serving->exe,
		.exe_errno = serving->request.exe_errno,
		.debug_dir = "",
		.written = serving->request.written,
		.ask = ask,
		.ask_arg = serving,
	};
	return true;
}

void pmp_core_serve(int socket, const struct pmp_namer_options *options)
{
	struct core_serving serving = { .socket = socket, .given = { .fd = -1 } };
	struct pmp_remote_message request = { .fd = -1 };

	if (pmp_remote_receive(socket, &patient, &request) &&
	    take_request(&serving, &request)) {
		if (options->working)
			options->working(options->arg);
		serve(&serving, request.fd);
	}
	pmp_remote_drop(&request);
	pmp_remote_drop(&serving.given);
	pmp_buf_free(&request.body);
	pmp_buf_free(&serving.given.body);
}
