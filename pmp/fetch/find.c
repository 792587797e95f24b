/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Servers, cache and limits are those of its environment variables. It prints the path of
 * the file, or "Server query failed: REASON", and on the way "Progress DONE / TOTAL".
 */
#include "fetch/find.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROGRAM "debuginfod-find"
#define FAILED "query failed: "
#define PROGRESS "Progress "
/* What a server may have written to the disk; and no second try of its own, which would take
 * as long, and may take half a file for none. */
#define MAXSIZE "8589934592"
#define RETRIES "0"

extern char **environ;

static int spawn(struct find *find, char **argv, int output)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none, usual;
	int number;

	sigemptyset(&none);
	sigfillset(&usual);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setsigdefault(&attributes, &usual);
	/* ^C is for pmp, which ends it. */
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK |
						      POSIX_SPAWN_SETSIGDEF |
						      POSIX_SPAWN_SETSID);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY,
					 0);
	posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
	number = posix_spawnp(&find->pid, argv[0], &actions, &attributes, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	return number;
}

void find_limit(void)
{
	setenv("DEBUGINFOD_MAXSIZE", MAXSIZE, 0);
	setenv("DEBUGINFOD_RETRY_LIMIT", RETRIES, 0);
}

int find_start(struct find *find, const struct pmp_wanted_file *wanted)
{
	char *argv[] = { (char *)PROGRAM, (char *)"-v",
			 (char *)(wanted->executable ? "executable" : "debuginfo"),
			 (char *)wanted->build_id, NULL };
	int fds[2], number;

	*find = (struct find){ .fd = -1 };
	if (pipe2(fds, O_CLOEXEC) < 0)
		return errno;
	number = spawn(find, argv, fds[1]);
	close(fds[1]);
	if (number) {
		close(fds[0]);
		find->pid = 0;
		return number;
	}
	fcntl(fds[0], F_SETFL, O_NONBLOCK);
	find->fd = fds[0];
	return 0;
}

static const char *take_number(const char *text, uint64_t *number)
{
	for (*number = 0; *text >= '0' && *text <= '9' && *number < UINT64_MAX / 100;
	     text++)
		*number = *number * 10 + (uint64_t)(*text - '0');
	return text;
}

/* "1234 / 5678" */
static void take_progress(struct find *find, const char *text)
{
	text = take_number(text, &find->done);
	find->total = 0;
	if (strncmp(text, " / ", 3) == 0)
		take_number(text + 3, &find->total);
}

static void take_line(struct find *find)
{
	const char *failed = strstr(find->line, FAILED);

	if (find->line[0] == '/')
		memcpy(find->path, find->line, sizeof(find->path));
	else if (strncmp(find->line, PROGRESS, strlen(PROGRESS)) == 0)
		take_progress(find, find->line + strlen(PROGRESS));
	else if (failed)
		snprintf(find->problem, sizeof(find->problem), "%.200s",
			 failed + strlen(FAILED));
}

/* A line that is too long is cut. */
static void take(struct find *find, char byte)
{
	if (byte == '\n' || byte == '\r') {
		find->line[find->length] = '\0';
		if (find->length)
			take_line(find);
		find->length = 0;
	} else if (find->length + 1 < sizeof(find->line)) {
		find->line[find->length++] = byte;
	}
}

bool find_read(struct find *find)
{
	char text[1024];
	ssize_t n;

	while ((n = read(find->fd, text, sizeof(text))) > 0) {
		for (ssize_t i = 0; i < n; i++)
			take(find, text[i]);
	}
	return n < 0 && (errno == EAGAIN || errno == EINTR);
}

void find_end(struct find *find)
{
	if (find->pid > 0) {
		kill(find->pid, SIGKILL);
		waitpid(find->pid, NULL, 0);
	}
	if (find->fd >= 0)
		close(find->fd);
	find->pid = 0;
	find->fd = -1;
}
