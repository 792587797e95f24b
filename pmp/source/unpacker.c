/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See unpacker.h. */
#include "source/unpacker.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/fault.h"
#include "confine/landlock.h"
#include "confine/program.h"
#include "confine/rights.h"

#define MEMORY ((uint64_t)8 << 30) /* xz needs a block per thread */

extern char **environ;

int unpacker_start(struct unpacker *unpacker, const char *program, int input,
		   bool with_rights)
{
	/* Without this option zstd refuses windows of more than 128 MiB. */
	char *long_window = strcmp(program, "zstd") == 0 ? (char *)"--long=31" : NULL;
	char path[PATH_MAX],
		*argv[] = { (char *)program, (char *)"-dc", long_window, NULL };
	struct confine_program limits = { .user = CONFINE_UNPACKER, .memory = MEMORY };
	struct confine_start start = {
		.path = path,
		.argv = argv,
		.environment = environ,
		.input = input,
		.errors = -1,
		.folder = -1,
	};
	int fds[2], number;

	*unpacker = (struct unpacker){ .output = -1 };
	confine_find_program(program, path, sizeof(path));
	if (!*path)
		return ENOENT;
	if (pipe2(fds, O_CLOEXEC) < 0)
		return errno;
	start.output = fds[1];
	limits.rules = confine_rules_new(false);
	confine_read_programs(limits.rules, path);
	if (!with_rights && !PMP_FAULT("unpacker-rights")) {
		start.program = &limits;
		unpacker->missing = confine_program_missing(&limits);
	}
	number = confine_start(&start, &unpacker->pid);
	if (limits.rules >= 0)
		close(limits.rules);
	close(fds[1]);
	if (number)
		close(fds[0]);
	else
		unpacker->output = fds[0];
	return number;
}
