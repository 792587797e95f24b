/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * This end of a connection to a process that reads one whole file for us, a saved profile
 * or a core. What it sends is trusted no more than the file.
 */
#ifndef PMP_RESOLVE_REMOTE_FILE_H
#define PMP_RESOLVE_REMOTE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "libpmp-program.h"
#include "resolve/remote-messages.h"

struct pmp_remote_file {
	const struct pmp_namer_calls *calls;
	int socket;			   /* -1: there is no such process */
	struct pmp_remote_message message; /* the last one */
};

/* Start a process and ask it to read the file of a descriptor. False: that has failed. */
bool pmp_remote_file_start(struct pmp_remote_file *file,
			   const struct pmp_namer_calls *calls, enum pmp_remote_type type,
			   const struct pmp_buf *body, int fd);
/* Send it another message. False: it cannot be sent. */
bool pmp_remote_file_send(struct pmp_remote_file *file, struct pmp_remote_header header,
			  const struct pmp_remote_parts *parts);
/* Receive the next message into .message. False: the process died or does not answer. */
bool pmp_remote_file_receive(struct pmp_remote_file *file);
/* End a process that is lost or has sent something invalid. Returns PMP_ESRCH; err says
 * why. */
int pmp_remote_file_lose(struct pmp_remote_file *file, struct pmp_error *err);
/* End the process, which is not needed any more. */
void pmp_remote_file_end(struct pmp_remote_file *file);
/* Is it printable text with a NUL at the end? */
bool pmp_remote_is_text(const char *text, size_t size);
/* Is it an error as the library makes them? code 0: no error. */
bool pmp_remote_is_error(const struct pmp_error *error);

#endif
