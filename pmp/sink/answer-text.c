/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sink/answer-text.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "libpmp-program.h"

#define LINE_MAX_SIZE 4096 /* of a command line; what is more is cut off */
#define LINES_MAX 1024	   /* processes whose command lines are kept */
#define ASKED_MAX 200000   /* addresses */
#define BODY_MAX (8 << 20)
#define PIECE_SIZE 65536
#define NAME_MAX_SIZE 4096

int answer_text_write(int fd, const void *data, size_t length)
{
	const char *from = data;

	while (length) {
		ssize_t n = write(fd, from, length);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		from += n;
		length -= (size_t)n;
	}
	return 0;
}

int answer_text_put(void *file, const void *data, size_t length)
{
	return answer_text_write(*(const int *)file, data, length);
}

int answer_text_new(const char *text)
{
	int fd = memfd_create("pmp-answer", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0 || answer_text_write(fd, text, strlen(text)) == 0)
		return fd;
	close(fd);
	return -1;
}

/* Escape into the second half of quoted, and from there quote into the first, which must
 * not reach what is still to be read. */
const char *answer_text_quote(const char *text, char *quoted, size_t size)
{
	const char *at = pmp_escape(text, quoted + size / 2, size / 2);
	size_t length = 0;

	for (; *at; at++) {
		if (*at == '"' || *at == '\\')
			quoted[length++] = '\\';
		quoted[length++] = *at;
	}
	quoted[length] = '\0';
	return quoted;
}

/* ---- command lines ---------------------------------------------------------------------- */

struct command_line {
	pid_t pid;
	size_t length;
	char *text; /* a NUL after each word */
};

struct command_lines {
	struct command_line all[LINES_MAX];
	size_t count; /* added in all; only the last LINES_MAX are kept */
};

struct command_lines *command_lines_new(void)
{
	return calloc(1, sizeof(struct command_lines));
}

void command_lines_free(struct command_lines *lines)
{
	if (!lines)
		return;
	for (size_t i = 0; i < LINES_MAX; i++)
		free(lines->all[i].text);
	free(lines);
}

/* Update a command line; on failure the old one stays. */
static void read_line(struct command_line *line)
{
	char path[32], text[LINE_MAX_SIZE];
	ssize_t n = -1;
	char *copy;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)line->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	n = read(fd, text, sizeof(text));
	close(fd);
	copy = n > 0 ? malloc((size_t)n) : NULL;
	if (!copy)
		return;
	memcpy(copy, text, (size_t)n);
	free(line->text);
	line->text = copy;
	line->length = (size_t)n;
}

static size_t find_line(const struct command_lines *lines, pid_t pid)
{
	size_t i = 0;

	while (i < LINES_MAX && lines->all[i].pid != pid)
		i++;
	return i;
}

void command_lines_read(struct command_lines *lines, pid_t pid)
{
	size_t i = find_line(lines, pid);

	if (i == LINES_MAX) {
		i = lines->count++ % LINES_MAX;
		free(lines->all[i].text);
		lines->all[i] = (struct command_line){ .pid = pid };
	}
	read_line(&lines->all[i]);
}

const char *command_lines_get(const struct command_lines *lines, pid_t pid,
			      size_t *length)
{
	size_t found = find_line(lines, pid);

	if (found == LINES_MAX)
		return NULL;
	*length = lines->all[found].length;
	return lines->all[found].text;
}

int command_lines_answer(const struct command_lines *lines, pid_t pid, bool only_first,
			 bool by_line)
{
	char text[LINE_MAX_SIZE + 1];
	size_t length;
	const char *line = command_lines_get(lines, pid, &length);
	int fd;

	if (!line)
		return -1;
	if (only_first)
		length = strnlen(line, length);
	memcpy(text, line, length);
	for (size_t i = 0; by_line && i < length; i++)
		text[i] = text[i] ? text[i] : '\n';
	/* A program may set a text of its own, without a final NUL. */
	if (by_line && length && text[length - 1] != '\n')
		text[length++] = '\n';
	fd = answer_text_new("");
	if (fd >= 0)
		answer_text_write(fd, text, length);
	return fd;
}

/* ---- names at addresses --------------------------------------------------------------- */

/* The state of parsing addresses and writing their names. */
struct addresses_asked {
	struct pmp_report *reports[2]; /* of samples, of a heap */
	struct pmp_addresses *known[2];
	size_t count;
	uint64_t value;	 /* of the current address */
	unsigned digits; /* its digits so far */
	bool bad;	 /* it is not a number */
	int body;
	char out[PIECE_SIZE + NAME_MAX_SIZE + 64];
	size_t length;
};

static void flush_names(struct addresses_asked *asked)
{
	answer_text_write(asked->body, asked->out, asked->length);
	asked->length = 0;
}

/* "--" is avoided: google-pprof takes it for the end of a name. */
static void put_name(struct addresses_asked *asked, const char *name)
{
	char *line = asked->out + asked->length;
	int n = snprintf(line, NAME_MAX_SIZE, "0x%016" PRIx64 "\t", asked->value);
	size_t length = (size_t)n;

	for (; *name && length + 1 < NAME_MAX_SIZE; name++) {
		unsigned char c = (unsigned char)*name;

		if (c == '-' && line[length - 1] == '-')
			continue;
		line[length++] = c < ' ' || c == 0x7f ? '?' : *name;
	}
	line[length++] = '\n';
	asked->length += length;
	if (asked->length >= PIECE_SIZE)
		flush_names(asked);
}

static const char *find_name(const struct addresses_asked *asked)
{
	const char *name = NULL;

	for (size_t i = 0; i < 2 && !name; i++)
		name = asked->known[i] ? pmp_addresses_name(asked->known[i], asked->value)
				       : NULL;
	return name;
}

static void end_address(struct addresses_asked *asked)
{
	const char *name = NULL;

	if (asked->digits && asked->digits <= 16 && !asked->bad &&
	    asked->count++ < ASKED_MAX)
		name = find_name(asked);
	if (name)
		put_name(asked, name);
	asked->value = asked->digits = 0;
	asked->bad = false;
}

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* Parse "0x55819ffc7189+0x55819ffc71d2"; anything else is skipped. */
static void take_addresses(struct addresses_asked *asked, const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		int digit = digit_of(text[i]);

		if (text[i] == '+' || text[i] == '\n' || text[i] == ' ') {
			end_address(asked);
		} else if (text[i] == 'x' && asked->digits == 1 && !asked->value) {
			asked->digits = 0;
		} else if (digit < 0) {
			asked->bad = true;
		} else {
			asked->value = asked->value << 4 | (uint64_t)digit;
			asked->digits += asked->digits <= 16;
		}
	}
}

static void take_file(struct addresses_asked *asked, int fd)
{
	char piece[4096];
	off_t at = 0;
	ssize_t n;

	/* Bounded, as the server is not trusted: fd may be a device. */
	while (asked->count <= ASKED_MAX && at < BODY_MAX &&
	       (n = pread(fd, piece, sizeof(piece), at)) > 0) {
		take_addresses(asked, piece, (size_t)n);
		at += n;
	}
}

/* Collect all addresses counted since the start, not only those of a window: a name may be
 * requested later. 0 or PMP_ENOMEM. */
static int know(struct addresses_asked *asked, struct pmp_profile *profile, bool heap)
{
	const struct pmp_report_options options = { .size = sizeof(options),
						    .heap = heap };
	int code = pmp_report_new(profile, NULL, &options, &asked->reports[heap], NULL);

	if (code == 0)
		code = pmp_addresses_new(asked->reports[heap], &asked->known[heap], NULL);
	return code;
}

static int know_all(struct addresses_asked *asked, struct pmp_profile *profile)
{
	struct pmp_profile_info info = { .size = sizeof(info) };
	int code = know(asked, profile, false);

	pmp_profile_info(profile, &info);
	if (code == 0 && info.heap_distinct)
		code = know(asked, profile, true);
	return code;
}

int answer_text_name(struct pmp_profile *profile, const char *query, int fd, int body)
{
	struct addresses_asked *asked = calloc(1, sizeof(*asked));
	int code;

	if (!asked)
		return PMP_ENOMEM;
	code = know_all(asked, profile);
	if (code < 0)
		goto out;
	asked->body = body;
	/* Clients only check that the number is not 0. */
	asked->length =
		(size_t)snprintf(asked->out, sizeof(asked->out), "num_symbols: 1\n");
	take_addresses(asked, query, strlen(query));
	end_address(asked);
	if (fd >= 0)
		take_file(asked, fd);
	end_address(asked);
	flush_names(asked);
out:
	for (size_t i = 0; i < 2; i++) {
		pmp_addresses_free(asked->known[i]);
		pmp_report_free(asked->reports[i]);
	}
	free(asked);
	return code;
}
