/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a symbolizer and the process that reads files for it say to each other on a stream
 * socket. Both are of the same build, so structs travel as they are. The process may be in
 * the hands of a file that it has read: what comes from it is checked.
 *
 *	OPEN	a module, with its descriptor; what names are wanted in it
 *	NAME	name these places in it
 *	CLOSE	it is not needed any more; no answer
 *	GIVE	the answer to ASK, with a descriptor
 *	PROFILE	read a saved profile, whose descriptor comes with it
 *	CORE	read a core file
 *
 *	OPENED	the answer to OPEN
 *	NAMES	a part of the answer to NAME: places with their names
 *	ASK	for a file that belongs to the module
 *	LOG	a line of debug messages
 *	RECORDS	a part of the answer to PROFILE: see tally/pprof-records.h
 *	DONE	the end of it
 *	CORE_ASK, CORE_READ	see core/core-records.h
 *
 * There is one request at a time; ASK and LOG come before its answer. A process that is asked
 * for a saved profile or a core reads that and nothing else.
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

#define PMP_REMOTE_MESSAGE_MAX ((size_t)20 << 20) /* a vDSO is smaller, a lot as well */
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
	uint32_t type, length; /* of what follows */
	uint32_t handle;       /* of the module */
	uint32_t flag;	       /* what it means depends on the type */
};

enum {
	PMP_REMOTE_NO_SYMBOLS = 1,
	PMP_REMOTE_NO_DWARF = 2,
	PMP_REMOTE_LINES = 4,
	PMP_REMOTE_NO_INLINE = 8,
	PMP_REMOTE_NO_DEMANGLE = 16,
	PMP_REMOTE_DEBUGS = 32, /* LOG is wanted */
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

enum { PMP_REMOTE_CODE, PMP_REMOTE_OBJECTS }; /* the flag of NAME; its places follow */
/* The flag of NAMES: 0, it is not the last; see pmp_perf_map_lacks_lines(). */
enum { PMP_REMOTE_LAST = 1, PMP_REMOTE_LAST_LACKS_LINES = 2 };

/* One place of NAMES, then its names, then their strings, then zeros up to a multiple of 8. */
struct pmp_remote_place {
	uint32_t index;	  /* in NAME */
	uint32_t size;	  /* of all of it */
	uint32_t count;	  /* names */
	int32_t code;	  /* of pmp_dso_object(); of code: 1, it has an address */
	uint64_t address; /* the ELF address of what was asked for */
	uint64_t start;	  /* of the object */
};

/* Strings: where they are in the place, with a NUL; 0: none. */
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
	int fd; /* -1: none; whoever takes it sets that */
};

/* How long to wait for the other side. All zero: for as long as it takes. */
struct pmp_remote_patience {
	int time; /* ms */
	/* Nothing has come or gone for that time: shall it go on? */
	bool (*more)(void *arg);
	void *arg;
	uint64_t until; /* ns of pmp_clock(), whatever comes and goes; 0: no limit */
};

/* What is sent after the header. All zero: nothing. */
struct pmp_remote_parts {
	const void *first, *second;
	size_t first_size, second_size;
	const int *fd; /* a descriptor that goes with it, or NULL */
};

/* Those of PMP_REMOTE_LOG: two strings, which are borrowed. */
struct pmp_remote_parts pmp_remote_line(const char *area, const char *line);
/* Pass one on that was received. False: it is none. */
bool pmp_remote_log(const struct pmp_log *log, const struct pmp_buf *body);
/* Send a message; its length is filled in. False: it cannot be sent any more. */
bool pmp_remote_send(int socket, const struct pmp_remote_patience *patience,
		     struct pmp_remote_header header,
		     const struct pmp_remote_parts *sent);
/* Receive one; the body of an earlier one is replaced. False: there is none, or what came is
 * no message. */
bool pmp_remote_receive(int socket, const struct pmp_remote_patience *patience,
			struct pmp_remote_message *message);
/* The type of the first message, which stays; 0: there is none. */
uint32_t pmp_remote_first(int socket);
/* Forget the descriptor of a message that was not taken. */
void pmp_remote_drop(struct pmp_remote_message *message);

/*
 * The place at *at in NAMES, checked: its names and their strings are complete, and it is
 * one of count. *at is moved on. NULL: the end, or what is there is none; then *at is not
 * the length.
 */
const struct pmp_remote_place *pmp_remote_next(const struct pmp_buf *body, size_t *at,
					       size_t count);
const struct pmp_remote_name *pmp_remote_names(const struct pmp_remote_place *place);
/* A string of it, or NULL. */
const char *pmp_remote_string(const struct pmp_remote_place *place, uint32_t offset);

#endif
