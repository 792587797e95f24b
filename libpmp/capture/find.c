/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which process is meant? By a regular expression on its name, or by one of its
 * threads. Only looks into /proc.
 */
#include "libpmp.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/scan.h"
#include "capture/process.h"

#define PATH_SIZE 64
#define KERNEL_THREAD 0x200000u		/* PF_KTHREAD */
#define DELETED " (deleted)"

/* A leader that has ended counts only while other threads live. */
static bool is_living(int dir, pid_t pid, const struct pmp_stat *stat)
{
	const struct pmp_process process = {
		.pid = pid, .pidfd = -1, .proc = dir, .mem = -1
	};
	int live;

	if (!pmp_state_ended(stat->state))
		return true;
	live = pmp_process_live(&process);
	if (live >= 0)
		close(live);
	return live >= 0;
}

/* Base name of the executable, a part of path; NULL when it cannot be seen. */
static const char *exe_name(int dir, char path[PATH_MAX])
{
	ssize_t length = readlinkat(dir, "exe", path, PATH_MAX - 1);
	const size_t tail = strlen(DELETED);
	const char *slash;

	if (length <= 0)
		return NULL;
	if ((size_t)length > tail && memcmp(path + length - tail, DELETED, tail) == 0)
		length -= (ssize_t)tail;
	path[length] = '\0';
	slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

static bool is_match(const regex_t *regex, const char *name)
{
	return name && regexec(regex, name, 0, NULL, 0) == 0;
}

static bool matches(const regex_t *regex, pid_t pid)
{
	char path[PATH_MAX];
	struct pmp_stat stat;
	bool found = false;
	int dir;

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return false;
	if (pmp_stat_read(dir, "stat", &stat) == 0 && !(stat.flags & KERNEL_THREAD) &&
	    is_living(dir, pid, &stat))
		found = is_match(regex, stat.name) ||
			is_match(regex, exe_name(dir, path));
	close(dir);
	return found;
}

static int compare_pids(const void *a, const void *b)
{
	pid_t left = *(const pid_t *)a, right = *(const pid_t *)b;

	return (left > right) - (left < right);
}

/* All of /proc against a compiled expression: their number or PMP_ENOMEM. */
static int find_matches(DIR *proc, const regex_t *regex, pid_t **pids)
{
	size_t count = 0, capacity = 0;
	struct dirent *entry;
	uint64_t pid;

	while ((entry = readdir(proc))) {
		if (!pmp_scan_whole(entry->d_name, 1, INT_MAX, &pid) ||
		    (pid_t)pid == getpid() || !matches(regex, (pid_t)pid))
			continue;
		if (PMP_RESERVE(pids, &capacity, count + 1))
			return PMP_ENOMEM;
		(*pids)[count++] = (pid_t)pid;
	}
	if (count)
		qsort(*pids, count, sizeof(**pids), compare_pids);
	return (int)count;
}

int pmp_find_processes(const char *regex, pid_t **pids, struct pmp_error *err)
{
	char text[128], shown[128];
	regex_t compiled;
	DIR *proc;
	int result;

	*pids = NULL;
	result = regcomp(&compiled, regex, REG_EXTENDED | REG_NOSUB);
	if (result) {
		regerror(result, &compiled, text, sizeof(text));
		return pmp_error_set(err, PMP_EINVAL,
				     "invalid regular expression \"%s\": %s",
				     pmp_escape(regex, shown, sizeof(shown)), text);
	}
	proc = opendir("/proc");
	if (proc)
		result = find_matches(proc, &compiled, pids);
	else
		result = pmp_error_sys(err, PMP_EIO, errno, "cannot read /proc");
	if (result == PMP_ENOMEM) {
		pmp_error_nomem(err, "listing processes");
		free(*pids);
		*pids = NULL;
	}
	if (proc)
		closedir(proc);
	regfree(&compiled);
	return result;
}

pid_t pmp_thread_process(pid_t tid)
{
	struct pmp_status_file status;
	char path[PATH_SIZE];

	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	if (tid <= 0 || pmp_status_read(AT_FDCWD, path, &status))
		return 0;
	return status.tgid != tid ? status.tgid : 0;
}
