/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See terminal.h. */
#include "source/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "source/spool.h"

#define PIECE 16384

int terminal_open(struct command_terminal *terminal, struct pmp_error *err)
{
	int fd = spool_open(err);

	if (fd < 0)
		return fd;
	terminal->output = fd;
	terminal->shown = 0;
	return 0;
}

bool terminal_leave(const struct command_terminal *terminal)
{
	int empty;

	for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++)
		if (isatty(fd) && dup2(terminal->output, fd) < 0)
			return false;
	if (!isatty(STDIN_FILENO))
		return true;
	empty = open("/dev/null", O_RDONLY | O_CLOEXEC);
	return empty >= 0 && dup2(empty, STDIN_FILENO) >= 0;
}

/* False: writing has failed. */
static bool write_all(const char *data, size_t length)
{
	while (length) {
		ssize_t n = write(STDOUT_FILENO, data, length);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		data += n;
		length -= (size_t)n;
	}
	return true;
}

void terminal_show(struct command_terminal *terminal)
{
	char data[PIECE];
	ssize_t n;

	/* pread(): the command shares the file offset, and writes there. */
	while (terminal->output >= 0 &&
	       (n = pread(terminal->output, data, sizeof(data), terminal->shown)) > 0) {
		terminal->shown += n;
		if (!write_all(data, (size_t)n))
			return;
	}
}

void terminal_close(struct command_terminal *terminal)
{
	if (terminal->output >= 0)
		close(terminal->output);
	terminal->output = -1;
}
