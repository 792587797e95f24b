/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The threads of a process, and what /proc tells of each: the watch that comes
 * before any stop. No thread is held here.
 */
#include "capture/threads.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/scan.h"

#define LIST_PASSES 4
#define PATH_SIZE 32		/* "task/TID" */
#define PF_IO_WORKER 0x10	/* of the kernel: works for io_uring, in the process */
#define TEXT_SIZE 256		/* syscall: 9 numbers of at most 18 characters */

struct tid_list {
	pid_t **tids;
	size_t *capacity;
	size_t count;
};

int pmp_proc_reason(int sys_errno)
{
	if (sys_errno == EMFILE || sys_errno == ENFILE)
		return PMP_ELIMIT;
	return sys_errno == ENOMEM ? PMP_ENOMEM : PMP_ESRCH;
}

static int compare_tids(const void *a, const void *b)
{
	pid_t left = *(const pid_t *)a, right = *(const pid_t *)b;

	return (left > right) - (left < right);
}

static void sort_unique(struct tid_list *list)
{
	pid_t *tids = *list->tids;
	size_t kept = 0;

	if (list->count)
		qsort(tids, list->count, sizeof(*tids), compare_tids);
	for (size_t i = 0; i < list->count; i++) {
		if (kept == 0 || tids[i] != tids[kept - 1])
			tids[kept++] = tids[i];
	}
	list->count = kept;
}

static int append_tids(DIR *task, struct tid_list *list)
{
	struct dirent *entry;
	uint64_t tid;

	while ((entry = readdir(task))) {
		if (!pmp_scan_whole(entry->d_name, 1, INT_MAX, &tid))
			continue;
		if (PMP_RESERVE(list->tids, list->capacity, list->count + 1))
			return PMP_ENOMEM;
		(*list->tids)[list->count++] = (pid_t)tid;
	}
	return 0;
}

/* Links of the directory are "." and ".." and one for each thread. */
size_t pmp_threads_count(const struct pmp_process *process)
{
	struct stat stat;

	if (fstatat(process->proc, "task", &stat, 0) < 0 || stat.st_nlink < 3)
		return 0;
	return stat.st_nlink - 2;
}

/* One pass over task/: what it brings is merged in. Returns 1 if that is all. */
static int list_once(const struct pmp_process *process, struct tid_list *list)
{
	int fd = openat(process->proc, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *task = fd < 0 ? NULL : fdopendir(fd);
	int result;

	if (!task) {
		result = pmp_proc_reason(errno);
		if (fd >= 0)
			close(fd);
		return result;
	}
	result = append_tids(task, list);
	closedir(task);
	sort_unique(list);
	if (result)
		return result;
	return list->count == pmp_threads_count(process);
}

int pmp_threads_list(const struct pmp_process *process, pid_t **tids, size_t *capacity,
		     size_t *count)
{
	struct tid_list list = { .tids = tids, .capacity = capacity };
	size_t before;
	int result;

	*count = 0;
	for (int pass = 0; pass < LIST_PASSES; pass++) {
		before = list.count;
		result = list_once(process, &list);
		if (result == PMP_ENOMEM || (result < 0 && pass == 0))
			return result;
		if (result || list.count == before)
			break;
	}
	*count = list.count;
	return list.count ? 0 : PMP_ESRCH;
}

/* ---- one thread --------------------------------------------------------- */

/* Unreadable (not permitted) or not understood: unknown. */
static void look_syscall(int dir, struct pmp_thread *thread, struct pmp_look *look)
{
	struct pmp_syscall_file call = { .number = PMP_SYSCALL_UNKNOWN };
	char text[TEXT_SIZE];
	ssize_t length = pmp_file_read(dir, "syscall", text, sizeof(text));

	if (length > 0)
		pmp_syscall_parse(text, (size_t)length, &call);
	thread->syscall = call.number;
	memcpy(thread->args, call.args, sizeof(thread->args));
	thread->sp = call.sp;
	look->sp = call.sp;
	look->pc = call.pc;
}

/* The function of the kernel it sleeps in; "0": none, or not for us. */
static void look_wchan(int dir, struct pmp_thread *thread)
{
	char text[PMP_WCHAN_SIZE];

	thread->wchan[0] = '\0';
	if (thread->state != 'R' && pmp_file_read(dir, "wchan", text, sizeof(text)) > 0 &&
	    strcmp(text, "0") != 0)
		memcpy(thread->wchan, text, sizeof(text));
}

static int look_in(int dir, struct pmp_thread *thread, struct pmp_look *look)
{
	struct pmp_stat stat;
	int result = pmp_stat_read(dir, "stat", &stat);

	if (result)
		return pmp_proc_reason(-result);
	memcpy(thread->name, stat.name, sizeof(thread->name));
	thread->state = stat.state;
	look->worker = stat.flags & PF_IO_WORKER;
	/* What it would show is left from the thread that has made it. */
	if (look->worker)
		thread->syscall = PMP_SYSCALL_NONE;
	else
		look_syscall(dir, thread, look);
	look_wchan(dir, thread);
	return 0;
}

int pmp_thread_look(const struct pmp_process *process, pid_t tid,
		    struct pmp_thread *thread, struct pmp_look *look)
{
	char path[PATH_SIZE];
	int result, dir;

	*look = (struct pmp_look){ .seccomp = -1 };
	thread->tid = tid;
	snprintf(path, sizeof(path), "task/%d", (int)tid);
	/* One descriptor for all files: they are of the same thread, even if
	 * its number is given to another one meanwhile. */
	dir = openat(process->proc, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return pmp_proc_reason(errno);
	result = look_in(dir, thread, look);
	close(dir);
	return result;
}

int pmp_thread_ask(const struct pmp_process *process, pid_t tid, struct pmp_look *look)
{
	struct pmp_status_file status;
	char path[PATH_SIZE];
	int result;

	snprintf(path, sizeof(path), "task/%d/status", (int)tid);
	result = pmp_status_read(process->proc, path, &status);
	if (result)
		return pmp_proc_reason(-result);
	look->seccomp = status.seccomp;
	look->tgid = status.tgid;
	look->tracer = status.tracer;
	return 0;
}
