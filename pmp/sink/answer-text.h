/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Answers of the server that are not profiles, as memory files: command lines of targets,
 * and symbol names of addresses. */
#ifndef PMP_SINK_ANSWER_TEXT_H
#define PMP_SINK_ANSWER_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct command_lines;
struct pmp_profile;

/** NULL: no memory. */
struct command_lines *command_lines_new(void);
void command_lines_free(struct command_lines *lines);
/** Read the command line of a process and keep it for after its end. May block while the
 * process changes its memory map. */
void command_lines_read(struct command_lines *lines, pid_t pid);
/** A file with the last command line read of pid, or only its first word; by_line: words
 * end in LF instead of NUL. -1: none is known. */
int command_lines_answer(const struct command_lines *lines, pid_t pid, bool only_first,
			 bool by_line);

/** The last command line read of pid, NUL after each word; NULL: none is known. */
const char *command_lines_get(const struct command_lines *lines, pid_t pid,
			      size_t *length);

/** Escape raw bytes for the inside of a JSON string or a quoted label value; what does not
 * fit is left out. Returns quoted. */
const char *answer_text_quote(const char *text, char *quoted, size_t size);
/** A memory file with this text, or -1. */
int answer_text_new(const char *text);
/** Write all of data; returns like pmp_sink.write(). */
int answer_text_write(int fd, const void *data, size_t length);
/** The same for struct pmp_sink: file points to the descriptor. */
int answer_text_put(void *file, const void *data, size_t length);
/** Write "num_symbols: N" and a line "0xADDRESS<TAB>NAME" to body for each address
 * requested as "0x1+0x2" in query, or in a file (asked, or -1). 0 or PMP_ENOMEM. */
int answer_text_name(struct pmp_profile *profile, const char *query, int asked, int body);

#endif
