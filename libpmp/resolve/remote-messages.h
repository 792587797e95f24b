/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The messages between a symbolizer and the process that reads files for it, on a stream
 * socket. Both are of the same build, so structs are sent as they are. A file may have
 * taken over the process that reads it, so everything that comes from there is checked.
 *
 *	OPEN	open a module, with its descriptor; which names are wanted in it
 *	NAME	name these places in it
 *	CLOSE	the module is not needed any more; no answer
 *	GIVE	the answer to ASK, with a descriptor
 *	PROFILE	read a saved profile, with its descriptor
 *	CORE	read a core file
 *
 *	OPENED	the answer to OPEN
 *	NAMES	a part of the answer to NAME: places with their names
 *	ASK	request a file that belongs to the module
 *	LOG	a line of debug messages
 *	RECORDS	a part of the answer to PROFILE: see tally/pprof-records.h
 *	DONE	the end of the answer to PROFILE
 *	CORE_ASK, CORE_READ	see core/core-records.h
 *
 * There is one request at a time; ASK and LOG come before its answer. A process that was
 * asked for a saved profile or a core reads nothing else.
 */
#ifndef PMP_RESOLVE_REMOTE_MESSAGES_H
#define PMP_RESOLVE_REMOTE_MESSAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/log.h"
#include "resolve/elf.h"
#include "resolve/lines.h"

#define PMP_REMOTE_MESSAGE_MAX ((size_t)20 << 20) /* a vDSO is smaller, as are lots */
#define PMP_REMOTE_PLACES_MAX 4096		  /* of a NAME */
#define PMP_REMOTE_PATH_MAX 4096

enum pmp_remote_type {
	PMP_REMOTE_OPEN = 1,
	PMP_REMOTE_NAME,
	PMP_REMOTE_CLOSE,
	PMP_REMOTE_GIVE,
	PMP_REMOTE_OPENED,
	PMP_REMOTE_NAMES,
	PMP_REMOTE_ASK,
	PMP_REMOTE_LOG,
	PMP_REMOTE_PROFILE,
	PMP_REMOTE_RECORDS,
	PMP_REMOTE_DONE,
	PMP_REMOTE_CORE,
	PMP_REMOTE_CORE_ASK,
	PMP_REMOTE_CORE_READ
};

struct pmp_remote_header {
	uint32_t type, length; /* length: of what follows */
	uint32_t handle;       /* of the module */
	uint32_t flag;	       /* its meaning depends on the type */
};

enum {
	PMP_REMOTE_NO_SYMBOLS = 1,
	PMP_REMOTE_NO_DWARF = 2,
	PMP_REMOTE_LINES = 4,
	PMP_REMOTE_NO_INLINE = 8,
	PMP_REMOTE_DEBUGS = 16, /* send LOG */
};

struct pmp_remote_open {
	uint32_t kind, options, path_length, open_errno;
	uint64_t image_size, asked_count;
	char only[PMP_BUILD_ID_TEXT]; /* "", or the build-id it must have */
				      /* asked, image, path */
};

struct pmp_remote_opened {
	char build_id[PMP_BUILD_ID_TEXT];
	char problem[96];
};

enum { PMP_REMOTE_CODE, PMP_REMOTE_OBJECTS }; /* flag of NAME, whose places follow */
/* Flag of NAMES; 0: more will come. See pmp_perf_map_lacks_lines(). */
enum { PMP_REMOTE_LAST = 1, PMP_REMOTE_LAST_LACKS_LINES = 2 };

/* A place of NAMES; names, strings, and zeros up to a multiple of 8 bytes follow. */
struct pmp_remote_place {
	uint32_t index;	  /* in NAME */
	uint32_t size;	  /* bytes of all this */
	uint32_t count;	  /* number of names */
	int32_t code;	  /* of pmp_dso_object(); for code, 1: it has an address */
	uint64_t address; /* ELF address of the place in NAME */
	uint64_t start;	  /* of the object */
};

/* Offsets of strings from the start of the place, each with a NUL; 0: none. */
struct pmp_remote_name {
	uint32_t function, linkage, file, line;
};

struct pmp_remote_ask {
	uint32_t kind, number, id_size, name_length;
	unsigned char id[PMP_BUILD_ID_SIZE];
	/* name */
};

/* A message that was received. */
struct pmp_remote_message {
	struct pmp_remote_header header;
	struct pmp_buf body;
	int fd; /* -1: none; set to -1 when the descriptor is taken */
};

/* How long to wait for the other side. All zero: forever. */
struct pmp_remote_patience {
	int time; /* ms */
	/* Nothing was sent or received for that time: wait longer? */
	bool (*more)(void *arg);
	void *arg;
	uint64_t until; /* deadline, ns of pmp_clock(); 0: none */
};

/* What is sent after the header. All zero: nothing. */
struct pmp_remote_parts {
	const void *first, *second;
	size_t first_size, second_size;
	const int *fd; /* a descriptor to send, or NULL */
};

/* The parts of a PMP_REMOTE_LOG: two strings, which are borrowed. */
struct pmp_remote_parts pmp_remote_line(const char *area, const char *line);
/* Log the line of a PMP_REMOTE_LOG that was received. False: it is malformed. */
bool pmp_remote_log(const struct pmp_log *log, const struct pmp_buf *body);
/* Send a message; header.length is filled in. False: it cannot be sent. */
bool pmp_remote_send(int socket, const struct pmp_remote_patience *patience,
		     struct pmp_remote_header header,
		     const struct pmp_remote_parts *sent);
/* Send a message of a header only, without waiting. False: it does not fit into the socket, or
 * the other end is closed. */
bool pmp_remote_try(int socket, struct pmp_remote_header header);
/* Receive a message, which replaces the body of an earlier one. False: there is none, or it
 * is malformed. */
bool pmp_remote_receive(int socket, const struct pmp_remote_patience *patience,
			struct pmp_remote_message *message);
/* The type of the first message, without receiving it; 0: there is none. */
uint32_t pmp_remote_first(int socket);
/* Close the descriptor of a message, if it was not taken. */
void pmp_remote_drop(struct pmp_remote_message *message);

/*
 * The place at *at in NAMES, validated: its index is below count, and its names and strings
 * are complete. *at is advanced. NULL: the end, where *at is the length, or else malformed.
 */
const struct pmp_remote_place *pmp_remote_next(const struct pmp_buf *body, size_t *at,
					       size_t count);
const struct pmp_remote_name *pmp_remote_names(const struct pmp_remote_place *place);
/* A string of a place, or NULL. */
const char *pmp_remote_string(const struct pmp_remote_place *place, uint32_t offset);

#endif
