/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Answers of the server that are no profiles, as memory files: command lines of targets, and
 * names at addresses. */
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
/** Read the command line of a process, if it is there, and keep it for when it is not. May
 * wait for as long as the process keeps its memory locked. */
void command_lines_read(struct command_lines *lines, pid_t pid);
/** A file with the last one that was read, or only its first word; its words end in LF instead
 * of NUL, if by_line. -1: none is known. */
int command_lines_answer(const struct command_lines *lines, pid_t pid, bool only_first,
			 bool by_line);

/** The last one that was read, words with their NULs; NULL: none is known. */
const char *command_lines_get(const struct command_lines *lines, pid_t pid,
			      size_t *length);

/** Raw bytes as they stand between the quotes of a string of JSON or of a label's value; what
 * does not fit is left out. Returns quoted. */
const char *answer_text_quote(const char *text, char *quoted, size_t size);
/** A file with this text, or -1. */
int answer_text_new(const char *text);
/** All of it, as pmp_sink.write(). */
int answer_text_write(int fd, const void *data, size_t length);
/** That function, into the descriptor that file points to. */
int answer_text_put(void *file, const void *data, size_t length);
/** Write "num_symbols: N" and a line "0xADDRESS<TAB>NAME" for each address that is asked for,
 * "0x1+0x2", in a query or in a file (asked, else -1). 0 or PMP_ENOMEM. */
int answer_text_name(struct pmp_profile *profile, const char *query, int asked, int body);

#endif
