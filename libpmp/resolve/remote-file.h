/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file that another process reads as a whole, a saved profile or a core: this end of it.
 * What comes from there is believed no more than the file.
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

/* Start a process, and ask it to read the file of a descriptor. False: it is lost. */
bool pmp_remote_file_start(struct pmp_remote_file *file,
			   const struct pmp_namer_calls *calls, enum pmp_remote_type type,
			   const struct pmp_buf *body, int fd);
/* Send it something more. */
bool pmp_remote_file_send(struct pmp_remote_file *file, struct pmp_remote_header header,
			  const struct pmp_remote_parts *parts);
/* The next message. False: it has died or says nothing any more. */
bool pmp_remote_file_receive(struct pmp_remote_file *file);
/* It is lost, or nothing it says makes sense: end it. Returns PMP_ESRCH, and says why. */
int pmp_remote_file_lose(struct pmp_remote_file *file, struct pmp_error *err);
/* It is not needed any more. */
void pmp_remote_file_end(struct pmp_remote_file *file);
/* Is it a text for people, with its NUL? */
bool pmp_remote_is_text(const char *text, size_t size);
/* Is it an error as the library makes them? code 0: none. */
bool pmp_remote_is_error(const struct pmp_error *error);

#endif
