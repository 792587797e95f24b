/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A core file is read in an unprivileged process, which that file may have compromised: it
 * gets the files that it asks for only if they are programs or libraries, and its messages
 * are checked, its sample like that of a sampler (wire/receiver.c).
 */
#include "core/remote.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/fault.h"
#include "base/file.h"
#include "base/log.h"
#include "base/sized.h"
#include "core/core-records.h"
#include "core/parse.h"
#include "resolve/remote-file.h"
#include "wire/receiver.h"

#define LOGS_MAX 100000
#define ASKED_MAX 1000000 /* files */
/* Bytes: 136 MiB of frames, 172 of threads, 144 of regions, 80 of modules, and a reserve. */
#define SAMPLE_MAX ((uint64_t)3 << 28)
/* Files of as many mappings as a core may list, anonymous memory, and the vdso. */
#define MODULES_MAX (PMP_CORE_MAPPINGS_MAX + 2)
#define SILENCE 10 /* seconds without data of the sample, which is complete by then */

struct missed_file {
	char build_id[PMP_CORE_ID_TEXT];
	bool program;
	const char *path, *problem; /* in body */
};

struct pmp_core_remote {
	const struct pmp_core_places *places; /* while it is read */
	struct pmp_remote_file file;
	struct pmp_log log;
	size_t lines, asked;
	struct pmp_sample *sample;
	struct pmp_core_read read;
	struct pmp_buf crash, body;
	struct missed_file *missed;
};

/* ---- what it asks for --------------------------------------------------------------------- */

static bool is_hex(const char *text, size_t size)
{
	return memchr(text, '\0', size) && !text[strspn(text, "0123456789abcdef")];
}

/* Gives away only files of code, nothing confidential. */
static int give_program(int fd)
{
	if (fd < 0 || PMP_FAULT("give-anything") || pmp_file_is_code(fd))
		return fd;
	close(fd);
	return -ENOEXEC;
}

static bool give(struct pmp_core_remote *remote)
{
	const struct pmp_buf *body = &remote->file.message.body;
	struct pmp_remote_header header = { .type = PMP_REMOTE_GIVE };
	struct pmp_remote_parts parts = { 0 };
	struct pmp_core_wanted wanted;
	struct pmp_core_ask asked;
	bool given;
	char *path;
	int fd;

	if (body->length < sizeof(asked) ||
	    body->length - sizeof(asked) > PMP_CORE_PATH_MAX)
		return false;
	memcpy(&asked, body->data, sizeof(asked));
	if (!is_hex(asked.build_id, sizeof(asked.build_id)) || asked.deleted > 1 ||
	    asked.program > 1)
		return false;
	path = pmp_copy(body->data + sizeof(asked), body->length - sizeof(asked));
	if (!path)
		return false;
	wanted = (struct pmp_core_wanted){ path, asked.build_id, asked.deleted,
					   asked.program };
	fd = give_program(pmp_core_places_open(remote->places, &wanted, asked.place));
	header.flag = fd < 0 ? (uint32_t)-fd : 0;
	parts.fd = fd < 0 ? NULL : &fd;
	given = pmp_remote_file_send(&remote->file, header, &parts);
	if (fd >= 0)
		close(fd);
	free(path);
	return given;
}

/* ---- what it says --------------------------------------------------------------------------- */

static const char *take_text(const struct pmp_buf *body, size_t *at)
{
	const char *text, *end;

	if (*at >= body->length)
		return NULL;
	text = body->data + *at;
	end = memchr(text, '\0', body->length - *at);
	if (!end)
		return NULL;
	*at += (size_t)(end - text) + 1;
	return text;
}

static bool take_missed(struct pmp_core_remote *remote, size_t at)
{
	const struct pmp_buf *body = &remote->body;

	for (uint32_t i = 0; i < remote->read.missing_count; i++) {
		struct missed_file *missed = &remote->missed[i];
		struct pmp_core_missed sent;

		if (body->length - at < sizeof(sent))
			return false;
		memcpy(&sent, body->data + at, sizeof(sent));
		at += sizeof(sent);
		if (!is_hex(sent.build_id, sizeof(sent.build_id)) || sent.program > 1)
			return false;
		memcpy(missed->build_id, sent.build_id, sizeof(sent.build_id));
		missed->program = sent.program;
		missed->path = take_text(body, &at);
		missed->problem = missed->path ? take_text(body, &at) : NULL;
		if (!missed->problem ||
		    !pmp_remote_is_text(missed->problem, strlen(missed->problem) + 1))
			return false;
	}
	return at == body->length;
}

/* Check that bools are valid before reading them. */
static bool is_crash(const struct pmp_core_read *read)
{
	const unsigned char *is = (const unsigned char *)&read->crash.is;
	const unsigned char *has = (const unsigned char *)&read->crash.has_address;

	return *is <= 1 && *has <= 1 &&
	       memchr(read->crash.args, '\0', sizeof(read->crash.args));
}

/* 0, an error that it reported, PMP_ENOMEM, or PMP_ESRCH: malformed. */
static int take_read(struct pmp_core_remote *remote, struct pmp_error *err)
{
	struct pmp_core_read *read = &remote->read;

	if (remote->file.message.body.length < sizeof(*read))
		return PMP_ESRCH;
	remote->body = remote->file.message.body;
	remote->file.message.body = (struct pmp_buf){ 0 };
	memcpy(read, remote->body.data, sizeof(*read));
	if (!pmp_remote_is_error(&read->error) || read->error.code == PMP_ESRCH)
		return PMP_ESRCH;
	if (read->error.code) {
		if (err)
			*err = read->error;
		return read->error.code;
	}
	if (!is_crash(read) || read->no_files > 1 || read->pid < 0 ||
	    read->missing_count > PMP_CORE_MISSING_MAX ||
	    !memchr(read->name, '\0', sizeof(read->name)))
		return PMP_ESRCH;
	remote->missed = calloc(read->missing_count + 1, sizeof(*remote->missed));
	if (!remote->missed)
		return PMP_ENOMEM;
	if (!take_missed(remote, sizeof(*read)))
		return PMP_ESRCH;
	pmp_crash_text(&remote->crash, &read->crash);
	return 0;
}

/* Serve it until it has read the whole core. */
static int await(struct pmp_core_remote *remote, struct pmp_error *err)
{
	while (pmp_remote_file_receive(&remote->file)) {
		const uint32_t type = remote->file.message.header.type;

		pmp_remote_drop(&remote->file.message); /* has no descriptor */
		if (type == PMP_REMOTE_CORE_READ)
			return take_read(remote, err);
		if (type == PMP_REMOTE_LOG && ++remote->lines < LOGS_MAX &&
		    pmp_remote_log(&remote->log, &remote->file.message.body))
			continue;
		if (type == PMP_REMOTE_CORE_ASK && ++remote->asked < ASKED_MAX &&
		    give(remote))
			continue;
		break;
	}
	return PMP_ESRCH;
}

/* Memory is needed for each frame when it is counted: a core has no more. */
static bool is_bounded(const struct pmp_sample *sample)
{
	return sample->thread_count <= PMP_CORE_THREADS_MAX &&
	       sample->frame_count <= PMP_CORE_FRAMES_MAX + sample->thread_count;
}

static int take_sample(struct pmp_core_remote *remote, struct pmp_error *err)
{
	const struct timeval silence = { .tv_sec = SILENCE };
	struct pmp_received received;
	struct pmp_receiver *receiver;
	int code = pmp_receiver_new(remote->file.socket, &receiver, err);

	if (code < 0)
		return code;
	/* After a timeout the receiver returns 0, as if non-blocking. */
	setsockopt(remote->file.socket, SOL_SOCKET, SO_RCVTIMEO, &silence,
		   sizeof(silence));
	pmp_receiver_limit(receiver, SAMPLE_MAX, MODULES_MAX, SAMPLE_MAX);
	code = pmp_receiver_next(receiver, &received, err);
	pmp_receiver_free(receiver);
	if (code == PMP_ENOMEM)
		return code;
	if (code <= 0 || !received.sample || !received.sample->maps ||
	    received.sample->pid != remote->read.pid || !is_bounded(received.sample)) {
		if (code > 0) {
			pmp_sample_free(received.sample);
			pmp_heap_batch_free(received.heap);
		}
		return PMP_ESRCH;
	}
	remote->sample = received.sample;
	remote->sample->crash = remote->read.crash;
	for (size_t i = 0; i < remote->sample->thread_count; i++)
		remote->sample->threads[i].obtained = PMP_OBTAINED_UNKNOWN;
	return 0;
}

static int read_core(struct pmp_core_remote *remote, int fd, const char *name,
		     const struct pmp_core_options *options, struct pmp_error *err)
{
	const struct pmp_core_request request = {
		.written = remote->places->written,
		.unwind = options->unwind,
		.max_frames = options->max_frames,
		.no_waits = options->no_waits,
		.debugs = options->log != NULL,
		.exe_errno = remote->places->exe_errno,
		.has_exe = options->exe != NULL,
	};
	const char *exe = options->exe ? options->exe : "";
	struct pmp_buf body = { 0 };
	bool started;
	int code = PMP_ESRCH;

	pmp_buf_add(&body, &request, sizeof(request));
	pmp_buf_add(&body, exe, strlen(exe) + 1);
	pmp_buf_add(&body, name, strlen(name) + 1);
	started = pmp_remote_file_start(&remote->file, options->namer, PMP_REMOTE_CORE,
					&body, fd);
	pmp_buf_free(&body);
	if (started)
		code = await(remote, err);
	if (!code)
		code = take_sample(remote, err);
	if (code == PMP_ENOMEM)
		pmp_error_nomem(err, "reading a core file");
	return code;
}

int pmp_core_remote_read(int fd, const char *name, const struct pmp_core_options *options,
			 const struct pmp_core_places *places,
			 struct pmp_core_remote **remote, struct pmp_error *err)
{
	struct pmp_core_remote *made = calloc(1, sizeof(*made));
	struct pmp_error lost = { 0 };
	char shown[256];
	int code;

	*remote = NULL;
	if (!made)
		return pmp_error_nomem(err, "reading a core file");
	made->places = places;
	made->log = (struct pmp_log){ options->log, options->log_arg };
	code = read_core(made, fd, name, options, err);
	made->places = NULL;
	if (code == PMP_ESRCH) {
		pmp_remote_file_lose(&made->file, &lost);
		pmp_error_set(err, code, "cannot read %s: %s",
			      pmp_escape(name, shown, sizeof(shown)), lost.message);
	} else {
		pmp_remote_file_end(&made->file);
	}
	if (code)
		pmp_core_remote_free(made);
	else
		*remote = made;
	return code;
}

void pmp_core_remote_free(struct pmp_core_remote *remote)
{
	if (!remote)
		return;
	pmp_sample_free(remote->sample);
	pmp_buf_free(&remote->crash);
	pmp_buf_free(&remote->body);
	free(remote->missed);
	free(remote);
}

/* ---- what is known of it -------------------------------------------------------------------- */

struct pmp_sample *pmp_core_remote_sample(const struct pmp_core_remote *remote)
{
	return remote->sample;
}

void pmp_core_remote_info(const struct pmp_core_remote *remote,
			  struct pmp_core_info *info)
{
	const struct pmp_core_read *read = &remote->read;
	const struct pmp_core_info all = {
		.pid = read->pid,
		.name = read->name,
		.threads = read->threads,
		.threads_left_out = read->threads_left_out,
		.length = read->length,
		.meant = read->meant,
		.no_files = read->no_files,
		.crash = remote->crash.data ? remote->crash.data : "",
	};

	pmp_sized_give(info, &all, sizeof(all));
}

bool pmp_core_remote_missing(const struct pmp_core_remote *remote, size_t i,
			     struct pmp_core_missing_file *missing)
{
	struct pmp_core_missing_file all = { 0 };
	const struct missed_file *missed;

	if (i >= remote->read.missing_count)
		return false;
	missed = &remote->missed[i];
	all.path = missed->path;
	all.problem = missed->problem;
	all.program = missed->program;
	memcpy(all.build_id, missed->build_id, sizeof(missed->build_id));
	pmp_sized_give(missing, &all, sizeof(all));
	return true;
}
