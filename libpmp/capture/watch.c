/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The run counts of threads: schedstat if the kernel fills it. On other kernels (without
 * CONFIG_SCHED_INFO it reads "0 0 0") the context switches in `status` together with
 * `syscall`: two equal pairs mean the same sleep. There `syscall` is read first: the
 * thread was blocked then if the number of switches read afterwards has not increased.
 */
#include "capture/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fault.h"
#include "base/file.h"
#include "proc/threads.h"

#define TEXT_SIZE 256
#define FILES_DEFAULT 256 /* descriptors kept open for a target */
#define FILES_SPARED 128  /* descriptors left for all other uses */

/* ---- run counts ----------------------------------------------------------------- */

/* Differs if any of the bytes differs (FNV-1a). */
static uint64_t mix(uint64_t hash, const void *data, size_t length)
{
	const unsigned char *bytes = data;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
	return hash;
}

static bool parse_schedstat(struct pmp_schedstat *last, const char *text, size_t length)
{
	struct pmp_run_count run_count;

	if (!pmp_schedstat_parse(text, length, &run_count.cpu, &run_count.runs))
		return false;
	run_count.value = run_count.runs;
	last->run_count = run_count;
	last->length = length <= sizeof(last->text) ? length : 0;
	memcpy(last->text, text, last->length);
	return true;
}

static bool read_schedstat(int fd, struct pmp_schedstat *last,
			   struct pmp_run_count *run_count, int *sys_errno)
{
	char text[TEXT_SIZE];
	ssize_t length;

	do
		length = pread(fd, text, sizeof(text), 0);
	while (length < 0 && errno == EINTR);
	*sys_errno = length < 0 ? errno : 0;
	if (length <= 0)
		return false;
	if (((size_t)length != last->length || memcmp(text, last->text, last->length)) &&
	    !parse_schedstat(last, text, (size_t)length))
		return false;
	*run_count = last->run_count;
	return true;
}

static void close_file(struct pmp_watches *watches, struct pmp_watch *watch)
{
	if (watch->file < 0)
		return;
	close(watch->file);
	watch->file = -1;
	watches->files--;
}

/* Without an open descriptor, the start time distinguishes a thread from a later one with
 * the same id. */
static int run_count_of_stranger(const struct pmp_process *process,
				 struct pmp_watch *watch, struct pmp_run_count *run_count)
{
	struct pmp_stat stat;
	int r = pmp_task_stat(process, watch->tid, &stat);

	if (r < 0)
		return pmp_proc_reason(-r);
	if (run_count->value)
		run_count->value =
			mix(run_count->value, &stat.start_time, sizeof(stat.start_time)) |
			1;
	return 0;
}

static int run_count_by_schedstat(struct pmp_watches *watches,
				  const struct pmp_process *process,
				  struct pmp_watch *watch,
				  struct pmp_run_count *run_count)
{
	int sys_errno;

	if (watch->file >= 0) {
		if (read_schedstat(watch->file, &watch->last, run_count, &sys_errno))
			return 0;
		/* It has exited; its id may have been reused by another thread. */
		close_file(watches, watch);
		watch->proven = 0;
		watch->ns_tid = 0;
		watches->by_own_current = false;
		watches->version++;
	}
	watch->file = pmp_task_open(process, watch->tid, "schedstat");
	if (watch->file < 0) {
		sys_errno = -watch->file;
		watch->file = -1;
		return pmp_proc_reason(sys_errno);
	}
	watches->files++;
	if (!read_schedstat(watch->file, &watch->last, run_count, &sys_errno) &&
	    sys_errno == ESRCH)
		return PMP_ESRCH;
	if (watch->file < watches->file_limit && watches->files <= watches->files_max)
		return 0;
	close_file(watches, watch);
	return run_count_of_stranger(process, watch, run_count);
}

static int run_count_by_switches(const struct pmp_process *process,
				 struct pmp_watch *watch, struct pmp_run_count *run_count)
{
	struct pmp_status_file status;
	struct pmp_syscall_file call;
	char text[TEXT_SIZE];
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	ssize_t length;
	int r;

	length = pmp_task_read(process, watch->tid, "syscall", text, sizeof(text));
	r = pmp_task_status(process, watch->tid, &status);
	if (r < 0)
		return pmp_proc_reason(-r);
	if (length <= 0 || !pmp_syscall_parse(text, (size_t)length, &call) || !call.pc)
		return 0;
	hash = mix(hash, text, (size_t)length);
	hash = mix(hash, &status.voluntary, sizeof(status.voluntary));
	run_count->value = mix(hash, &status.involuntary, sizeof(status.involuntary)) | 1;
	return 0;
}

#ifdef PMP_FAULTS
/* Believe that a thread has not run if it is where it was. */
static void believe_pc(const struct pmp_process *process, const struct pmp_watch *watch,
		       struct pmp_run_count *run_count)
{
	struct pmp_syscall_file call;
	char text[TEXT_SIZE];
	ssize_t length;

	length = pmp_task_read(process, watch->tid, "syscall", text, sizeof(text));
	if (length > 0 && pmp_syscall_parse(text, (size_t)length, &call) &&
	    watch->proven && watch->thread.frame_count && call.sp == watch->thread.sp &&
	    call.pc == watch->frames[0].pc)
		run_count->value = watch->proven;
}
#endif

int pmp_watch_read(struct pmp_watches *watches, const struct pmp_process *process,
		   struct pmp_watch *watch, struct pmp_run_count *run_count)
{
	int r;

	*run_count = (struct pmp_run_count){ 0 };
	if (watches->by_switches)
		r = run_count_by_switches(process, watch, run_count);
	else
		r = run_count_by_schedstat(watches, process, watch, run_count);
#ifdef PMP_FAULTS
	if (PMP_FAULT("believe-pc"))
		believe_pc(process, watch, run_count);
#endif
	/* What was kept is from before its last run. */
	if (run_count->value != watch->proven && !PMP_FAULT("keep-proven")) {
		watch->proven = 0;
		watches->version++;
	}
	return r;
}

int pmp_watch_keep(struct pmp_watch *watch, uint64_t run_count,
		   const struct pmp_thread *thread, const struct pmp_raw_frame *frames,
		   size_t count)
{
	watch->proven = 0;
	if (PMP_RESERVE(&watch->frames, &watch->frame_capacity, count))
		return PMP_ENOMEM;
	if (count)
		memcpy(watch->frames, frames, count * sizeof(*frames));
	watch->thread = *thread;
	watch->thread.frame_count = count;
	watch->proven = run_count;
	return 0;
}

/* ---- the list -------------------------------------------------------------------- */

static bool has_schedstat(const struct pmp_process *process)
{
	struct pmp_schedstat last = { .length = 0 };
	struct pmp_run_count run_count;
	int fd = openat(process->proc, "schedstat", O_RDONLY | O_CLOEXEC), sys_errno;
	bool has;

	if (fd < 0)
		return false;
	has = read_schedstat(fd, &last, &run_count, &sys_errno) && run_count.runs > 0;
	close(fd);
	return has && !PMP_FAULT("no-schedstat");
}

void pmp_watches_init(struct pmp_watches *watches, const struct pmp_process *process,
		      unsigned files)
{
	struct rlimit limit;

	*watches = (struct pmp_watches){ .by_switches = !has_schedstat(process),
					 .files_max = files ? files : FILES_DEFAULT };
	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return;
	if (limit.rlim_cur > INT32_MAX)
		limit.rlim_cur = INT32_MAX;
	watches->file_limit = (int)limit.rlim_cur - FILES_SPARED;
}

static void watch_free(struct pmp_watches *watches, struct pmp_watch *watch)
{
	if (!watch)
		return;
	close_file(watches, watch);
	free(watch->frames);
	free(watch);
}

static struct pmp_watch *watch_new(pid_t tid)
{
	struct pmp_watch *watch = calloc(1, sizeof(*watch));

	if (!watch)
		return NULL;
	watch->tid = tid;
	watch->file = -1;
	return watch;
}

static int compare_keyed(const void *a, const void *b)
{
	const struct pmp_keyed_tid *one = a, *other = b;

	if (one->key != other->key)
		return one->key < other->key ? -1 : 1;
	return (one->tid > other->tid) - (one->tid < other->tid);
}

void pmp_keyed_tids_sort(struct pmp_keyed_tid *items, size_t count)
{
	if (count)
		qsort(items, count, sizeof(*items), compare_keyed);
}

void pmp_watches_free(struct pmp_watches *watches)
{
	for (size_t i = 0; i < watches->count; i++)
		watch_free(watches, watches->items[i]);
	free(watches->items);
	free(watches->by_own);
	*watches = (struct pmp_watches){ 0 };
}

struct pmp_watch *pmp_watches_find(const struct pmp_watches *watches, pid_t tid)
{
	size_t low = 0, high = watches->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (watches->items[middle]->tid < tid)
			low = middle + 1;
		else
			high = middle;
	}
	return low < watches->count && watches->items[low]->tid == tid
		       ? watches->items[low]
		       : NULL;
}

void pmp_watches_doubt(struct pmp_watches *watches)
{
	watches->version++;
	for (size_t i = 0; i < watches->count; i++) {
		watches->items[i]->proven = 0;
		watches->items[i]->dead_end.pc = 0;
	}
}

static bool is_current(const struct pmp_watches *watches, const pid_t *tids, size_t count)
{
	if (count != watches->count)
		return false;
	for (size_t i = 0; i < count; i++)
		if (watches->items[i]->tid != tids[i])
			return false;
	return true;
}

/* Both lists are ascending. On failure the new list keeps what was already moved. */
int pmp_watches_renew(struct pmp_watches *watches, const pid_t *tids, size_t count)
{
	struct pmp_watches new = { 0 };
	size_t old = 0;
	int r = 0;

	if (is_current(watches, tids, count))
		return 0;
	if (PMP_RESERVE(&new.items, &new.capacity, count))
		return PMP_ENOMEM;
	for (size_t i = 0; i < count && r == 0; i++) {
		struct pmp_watch *watch;

		while (old < watches->count && watches->items[old]->tid < tids[i])
			watch_free(watches, watches->items[old++]);
		if (old < watches->count && watches->items[old]->tid == tids[i])
			watch = watches->items[old++];
		else
			watch = watch_new(tids[i]);
		if (watch)
			new.items[new.count++] = watch;
		else
			r = PMP_ENOMEM;
	}
	while (old < watches->count)
		watch_free(watches, watches->items[old++]);
	watches->version++;
	watches->by_own_current = false;
	free(watches->items);
	watches->items = new.items;
	watches->count = new.count;
	watches->capacity = new.capacity;
	return r;
}
