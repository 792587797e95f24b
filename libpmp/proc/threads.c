/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The threads of a process, and what /proc tells about each, read before any
 * stop. No thread is held here.
 */
#include "proc/threads.h"

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
#define PATH_SIZE 32 /* "task/TID" */
/* From the kernel: an io_uring worker in the process; one of KVM or vhost (Linux 6.4). */
#define PF_IO_WORKER 0x10
#define PF_USER_WORKER 0x4000
#define TEXT_SIZE 256 /* syscall: 9 numbers of at most 18 characters */

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

/* The directory has a link for ".", ".." and each thread. */
size_t pmp_threads_count(const struct pmp_process *process)
{
	struct stat stat;

	if (fstatat(process->proc, "task", &stat, 0) < 0 || stat.st_nlink < 3)
		return 0;
	return stat.st_nlink - 2;
}

/* One pass over task/, merging what it finds. Returns 1 if that is complete. */
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

/* The call is unknown if unreadable (not permitted) or malformed. */
static void peek_syscall(const struct pmp_process *process, struct pmp_thread *thread,
			 struct pmp_inspection *peek)
{
	struct pmp_syscall_file call = { .number = PMP_SYSCALL_UNKNOWN };
	char text[TEXT_SIZE];
	ssize_t length =
		pmp_task_read(process, thread->tid, "syscall", text, sizeof(text));

	if (length > 0)
		pmp_syscall_parse(text, (size_t)length, &call);
	thread->syscall = call.number;
	memcpy(thread->args, call.args, sizeof(thread->args));
	thread->sp = call.sp;
	peek->sp = call.sp;
	peek->pc = call.pc;
}

/* The kernel function it sleeps in; "0": none, or not permitted. */
static void peek_wchan(const struct pmp_process *process, struct pmp_thread *thread)
{
	char text[PMP_WCHAN_SIZE];

	thread->wchan[0] = '\0';
	if (thread->state != 'R' &&
	    pmp_task_read(process, thread->tid, "wchan", text, sizeof(text)) > 0 &&
	    strcmp(text, "0") != 0)
		memcpy(thread->wchan, text, sizeof(text));
}

int pmp_thread_inspect(const struct pmp_process *process, pid_t tid, bool no_wchan,
		       struct pmp_thread *thread, struct pmp_inspection *peek)
{
	struct pmp_stat stat;
	int result = pmp_task_stat(process, tid, &stat);

	*peek = (struct pmp_inspection){ .seccomp = -1 };
	thread->tid = tid;
	if (result)
		return pmp_proc_reason(-result);
	memcpy(thread->name, stat.name, sizeof(thread->name));
	thread->state = stat.state;
	peek->worker = stat.flags & (PF_IO_WORKER | PF_USER_WORKER);
	/* Its syscall file would show leftovers of the thread that created it. */
	if (peek->worker)
		thread->syscall = PMP_SYSCALL_NONE;
	else
		peek_syscall(process, thread, peek);
	if (!no_wchan || thread->state == 'D')
		peek_wchan(process, thread);
	return 0;
}

int pmp_thread_inspect_more(const struct pmp_process *process, pid_t tid,
			    struct pmp_inspection *peek)
{
	struct pmp_status_file status;
	int result = pmp_task_status(process, tid, &status);

	if (result)
		return pmp_proc_reason(-result);
	peek->seccomp = status.seccomp;
	peek->dumping = status.dumping;
	peek->tgid = status.tgid;
	peek->tracer = status.tracer;
	peek->switches = status.voluntary + status.involuntary;
	return 0;
}
