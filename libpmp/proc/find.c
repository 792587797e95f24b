/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Find processes by a regular expression on their names. */
#include "libpmp-program.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/regex.h"
#include "base/scan.h"
#include "proc/maps.h"
#include "proc/process.h"

/* A leader that has exited counts only while other threads are alive. */
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

/* Base name of the executable, within path; NULL if it cannot be read. */
static const char *exe_name(int dir, char path[PATH_MAX])
{
	ssize_t length = readlinkat(dir, "exe", path, PATH_MAX - 1);
	const char *slash;

	if (length <= 0)
		return NULL;
	path[pmp_maps_path_length(path, (size_t)length)] = '\0';
	slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

static bool is_match(const struct pmp_regex *regex, const char *name)
{
	return name && pmp_regex_matches(regex, name) > 0;
}

struct name_room {
	struct pmp_stat stat;
	struct pmp_status_file *status; /* also read it; or NULL */
	char path[PATH_MAX];
};

/* The matching name of a live process, within room, or NULL. */
static const char *matching(const struct pmp_regex *regex, pid_t pid,
			    struct name_room *room)
{
	const char *name = NULL;
	int dir;

	snprintf(room->path, sizeof(room->path), "/proc/%d", (int)pid);
	dir = open(room->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return NULL;
	if (pmp_stat_read(dir, "stat", &room->stat) == 0 &&
	    !(room->stat.flags & PMP_KERNEL_THREAD) && is_living(dir, pid, &room->stat) &&
	    (!room->status || pmp_status_read(dir, "status", room->status) == 0)) {
		name = room->stat.name;
		if (!is_match(regex, name))
			name = exe_name(dir, room->path);
	}
	close(dir);
	return is_match(regex, name) ? name : NULL;
}

static int compare_pids(const void *a, const void *b)
{
	pid_t left = *(const pid_t *)a, right = *(const pid_t *)b;

	return (left > right) - (left < right);
}

/* Match all of /proc. Returns the number of matches or PMP_ENOMEM. */
static int find_matches(DIR *proc, const struct pmp_regex *regex, pid_t **pids)
{
	size_t count = 0, capacity = 0;
	struct dirent *entry;
	struct name_room room = { .path = "" };
	uint64_t pid;

	while ((entry = readdir(proc))) {
		if (!pmp_scan_whole(entry->d_name, 1, INT_MAX, &pid) ||
		    (pid_t)pid == getpid() || !matching(regex, (pid_t)pid, &room))
			continue;
		if (PMP_RESERVE(pids, &capacity, count + 1))
			return PMP_ENOMEM;
		(*pids)[count++] = (pid_t)pid;
	}
	if (count)
		qsort(*pids, count, sizeof(**pids), compare_pids);
	return (int)count;
}

static int compile(const char *text, struct pmp_regex **regex, struct pmp_error *err)
{
	struct pmp_error problem = { 0 };
	int code = pmp_regex_new(regex, text, strlen(text), false, &problem);
	char shown[128];

	if (code == PMP_EINVAL)
		return pmp_error_set(err, code, "invalid regular expression \"%s\": %s",
				     pmp_escape(text, shown, sizeof(shown)),
				     problem.message);
	return code ? pmp_error_nomem(err, "listing processes") : 0;
}

int pmp_find_processes(const char *regex, pid_t **pids, struct pmp_error *err)
{
	struct pmp_regex *compiled;
	DIR *proc;
	int result;

	*pids = NULL;
	result = compile(regex, &compiled, err);
	if (result)
		return result;
	proc = opendir("/proc");
	if (proc)
		result = find_matches(proc, compiled, pids);
	else
		result = pmp_error_sys(err, PMP_EIO, errno, "cannot read /proc");
	if (result == PMP_ENOMEM)
		pmp_error_nomem(err, "listing processes");
	else if (pmp_regex_problem(compiled, err))
		result = PMP_ELIMIT;
	if (result < 0) {
		free(*pids);
		*pids = NULL;
	}
	if (proc)
		closedir(proc);
	pmp_regex_free(compiled);
	return result;
}

int pmp_find_process(const char *regex, pid_t pid, struct pmp_found_process *found,
		     struct pmp_error *err)
{
	struct pmp_status_file status = { .uid = (uid_t)-1 };
	struct name_room room = { .status = &status };
	struct pmp_regex *compiled;
	const char *name;
	int result = compile(regex, &compiled, err);

	if (result)
		return result;
	name = matching(compiled, pid, &room);
	if (pmp_regex_problem(compiled, err)) {
		result = PMP_ELIMIT;
	} else if (!name) {
		result = pmp_error_set(err, PMP_ESRCH, "%d does not match any more",
				       (int)pid);
	} else {
		snprintf(found->name, sizeof(found->name), "%s", name);
		found->user = status.uid;
		found->changed_user = status.uid != status.euid;
		found->started = room.stat.start_time;
	}
	pmp_regex_free(compiled);
	return result;
}
