/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See remote-file.h. */
#include "resolve/remote-file.h"

#include <string.h>

#include "base/error.h"
#include "base/escape.h"

/* ms without a message, unless the process is computing. There is no limit for the total,
 * as nothing else waits for it, and a signal or --max-wall ends pmp. */
#define SILENCE 10000
#define ERRNO_MAX 4095

static bool still_works(void *arg)
{
	const struct pmp_remote_file *file = arg;

	return file->calls->works && file->calls->works(file->calls->arg, file->socket);
}

bool pmp_remote_file_send(struct pmp_remote_file *file, struct pmp_remote_header header,
			  const struct pmp_remote_parts *parts)
{
	const struct pmp_remote_patience patience = { .time = SILENCE,
						      .more = still_works,
						      .arg = file };

	return pmp_remote_send(file->socket, &patience, header, parts);
}

bool pmp_remote_file_receive(struct pmp_remote_file *file)
{
	const struct pmp_remote_patience patience = { .time = SILENCE,
						      .more = still_works,
						      .arg = file };

	return pmp_remote_receive(file->socket, &patience, &file->message);
}

bool pmp_remote_file_start(struct pmp_remote_file *file,
			   const struct pmp_namer_calls *calls, enum pmp_remote_type type,
			   const struct pmp_buf *body, int fd)
{
	const struct pmp_remote_header header = { .type = type };
	const struct pmp_remote_parts parts = { .first = body->data,
						.first_size = body->length,
						.fd = &fd };

	*file = (struct pmp_remote_file){ .calls = calls,
					  .socket = calls->start(calls->arg),
					  .message = { .fd = -1 } };
	return file->socket >= 0 && !pmp_buf_failed(body) &&
	       pmp_remote_file_send(file, header, &parts);
}

static void forget(struct pmp_remote_file *file)
{
	file->socket = -1;
	pmp_remote_drop(&file->message);
	pmp_buf_free(&file->message.body);
}

int pmp_remote_file_lose(struct pmp_remote_file *file, struct pmp_error *err)
{
	char reason[80] = "is not there";

	if (file->socket >= 0)
		file->calls->end(file->calls->arg, file->socket, reason, sizeof(reason));
	forget(file);
	return pmp_error_set(err, PMP_ESRCH, "the process that reads files %s", reason);
}

void pmp_remote_file_end(struct pmp_remote_file *file)
{
	if (file->socket >= 0)
		file->calls->end(file->calls->arg, file->socket, NULL, 0);
	forget(file);
}

bool pmp_remote_is_text(const char *text, size_t size)
{
	size_t length = strnlen(text, size), shown;

	if (length == size)
		return false;
	for (; length; text += shown, length -= shown) {
		shown = pmp_escape_printable(text, length);
		if (!shown)
			return false;
	}
	return true;
}

bool pmp_remote_is_error(const struct pmp_error *error)
{
	return error->code <= 0 && error->code >= PMP_EUNSUPPORTED &&
	       error->sys_errno >= 0 && error->sys_errno <= ERRNO_MAX &&
	       pmp_remote_is_text(error->message, sizeof(error->message)) &&
	       pmp_remote_is_text(error->hint, sizeof(error->hint));
}
