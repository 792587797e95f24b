/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The program takes servers, cache and limits from environment variables. It
 * prints the path of the file, or "Server query failed: REASON", and meanwhile
 * "Progress DONE / TOTAL".
 */
#include "fetch/find.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fault.h"
#include "fetch/confine.h"
#include "run/own-processes.h"
#include "run/spent.h"

#define PROGRAM "debuginfod-find"
#define READS_MAX 64 /* of 1 KiB, between checks of time and signals */
#define FAILED "query failed: "
#define PROGRESS "Progress "
/* Limit the size of a file and the time for it; and no retries by the program, which would
 * take as long again, and may take half a file for none. */
#define MAXSIZE "DEBUGINFOD_MAXSIZE=8589934592"
#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)
#define MAXTIME "DEBUGINFOD_MAXTIME=" TEXT(FIND_MAXTIME)
#define RETRIES "DEBUGINFOD_RETRY_LIMIT=0"
/* Its working directory is its cache, as its user may be unable to reach that by path. */
#define CACHE "DEBUGINFOD_CACHE_PATH=."

extern char **environ;

/* ---- preparation -------------------------------------------------------------------- */

/* Our environment, and those of `added` that the user has not set. */
static char **make_environment(void)
{
	static const char *const added[] = { CACHE, MAXSIZE, MAXTIME, RETRIES };
	size_t count = 0, n = 0;
	char **made;

	while (environ[count])
		count++;
	made = calloc(count + sizeof(added) / sizeof(*added) + 1, sizeof(*made));
	if (!made)
		return NULL;
	made[n++] = (char *)CACHE;
	for (size_t i = 0; i < count; i++)
		if (strncmp(environ[i], CACHE, strlen(CACHE) - 1) != 0)
			made[n++] = environ[i];
	if (!getenv("DEBUGINFOD_MAXSIZE"))
		made[n++] = (char *)MAXSIZE;
	if (!getenv("DEBUGINFOD_MAXTIME"))
		made[n++] = (char *)MAXTIME;
	if (!getenv("DEBUGINFOD_RETRY_LIMIT"))
		made[n++] = (char *)RETRIES;
	return made;
}

int find_prepare(struct find_plan *plan)
{
	int number;

	*plan = (struct find_plan){ .rules = -1 };
	confine_find_program(PROGRAM, plan->program, sizeof(plan->program));
	number = cache_open(&plan->cache);
	if (number)
		return number;
	plan->rules = confine_find_rules(&plan->cache, plan->program);
	plan->limits = confine_find(&plan->cache, plan->rules);
	plan->environment = make_environment();
	return plan->environment ? 0 : ENOMEM;
}

void find_forget(struct find_plan *plan)
{
	cache_close(&plan->cache);
	if (plan->rules >= 0)
		close(plan->rules);
	free(plan->environment);
}

/* ---- its process -------------------------------------------------------------------- */

/* 0 or an errno. */
static int start(struct find *find, const struct find_plan *plan, char **argv, int output)
{
	const struct confine_start start = {
		.path = plan->program,
		.argv = argv,
		.environment = plan->environment,
		.input = -1,
		.output = output,
		.errors = output,
		.folder = plan->cache.fd,
		.program = PMP_FAULT("fetch-rights") ? NULL : &plan->limits,
	};

	int number;

	if (!*plan->program)
		return ENOENT;
	own_processes_begin(find->own);
	number = confine_start(&start, &find->pid);
	own_processes_add(find->own, number ? -1 : find->pid);
	return number;
}

int find_start(struct find *find, const struct find_plan *plan,
	       const struct pmp_wanted_file *wanted, struct own_processes *own)
{
	char *argv[] = { (char *)PROGRAM, (char *)"-v",
			 (char *)(wanted->executable ? "executable" : "debuginfo"),
			 (char *)wanted->build_id, NULL };
	int fds[2], number;

	*find = (struct find){ .fd = -1, .own = own };
	if (pipe2(fds, O_CLOEXEC) < 0)
		return errno;
	number = start(find, plan, argv, fds[1]);
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

/* ---- its output --------------------------------------------------------------------- */

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

	if (strncmp(find->line, "./", 2) == 0)
		memcpy(find->path, find->line, sizeof(find->path));
	else if (strncmp(find->line, PROGRESS, strlen(PROGRESS)) == 0)
		take_progress(find, find->line + strlen(PROGRESS));
	else if (failed)
		snprintf(find->problem, sizeof(find->problem), "%.200s",
			 failed + strlen(FAILED));
}

/* Lines that are too long are cut. */
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
	ssize_t n = 0;

	/* Bounded, so that time and signals are checked. */
	for (size_t reads = 0; reads < READS_MAX; reads++) {
		n = read(find->fd, text, sizeof(text));
		if (n <= 0)
			break;
		for (ssize_t i = 0; i < n; i++)
			take(find, text[i]);
	}
	return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

void find_end(struct find *find)
{
	if (find->pid > 0) {
		/* Its children as well: it has a session of its own. */
		kill(-find->pid, SIGKILL);
		kill(find->pid, SIGKILL);
		spent_wait(find->pid, NULL, 0);
		own_processes_remove(find->own, find->pid);
	}
	if (find->fd >= 0)
		close(find->fd);
	find->pid = 0;
	find->fd = -1;
}
