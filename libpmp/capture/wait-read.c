/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/wait-read.h"

#include <string.h>
#include <sys/syscall.h>

#include "base/alloc.h"
#include "base/search.h"
#include "base/file.h"
#include "capture/wait-decode.h"

/* ---- thread ids ------------------------------------------------------------------ */

bool pmp_target_is_namespaced(const struct pmp_target *target)
{
	return target->process.ns_pid != target->process.pid;
}

/* The tid in the target's own namespace; 0: unknown. */
static pid_t own_tid(struct pmp_target *target, pid_t tid)
{
	struct pmp_watch *watch;
	struct pmp_status_file status;

	if (!pmp_target_is_namespaced(target))
		return tid;
	watch = pmp_watches_find(&target->watches, tid);
	if (!watch)
		return 0;
	if (!watch->ns_tid && pmp_task_status(&target->process, tid, &status) == 0) {
		watch->ns_tid = status.ns_pid;
		target->watches.by_own_current = false;
	}
	return watch->ns_tid;
}

/* Sort once per list of threads, because every waiter looks up its holder. */
static int sort_by_own(struct pmp_target *target)
{
	struct pmp_watches *watches = &target->watches;

	if (PMP_RESERVE(&watches->by_own, &watches->own_capacity, watches->count))
		return PMP_ENOMEM;
	watches->own_count = 0;
	for (size_t i = 0; i < watches->count; i++) {
		const pid_t tid = watches->items[i]->tid, own = own_tid(target, tid);

		if (own > 0)
			watches->by_own[watches->own_count++] =
				(struct pmp_keyed_tid){ (uint64_t)own, tid };
	}
	pmp_keyed_tids_sort(watches->by_own, watches->own_count);
	watches->by_own_current = true;
	return 0;
}

static pid_t find_own(const struct pmp_watches *watches, pid_t own)
{
	const struct pmp_keyed_tid *all = watches->by_own;
	const size_t i =
		pmp_search_from(all, watches->own_count, sizeof(*all), (uint64_t)own);

	return i < watches->own_count && all[i].key == (uint64_t)own ? all[i].tid : 0;
}

/* The thread with this tid in the target's own namespace; 0: none known. */
static pid_t find_thread(struct pmp_target *target, pid_t own)
{
	const struct pmp_watches *watches = &target->watches;

	if (!pmp_target_is_namespaced(target))
		return pmp_watches_find(watches, own) ? own : 0;
	if (!watches->by_own_current && sort_by_own(target))
		return 0;
	return find_own(watches, own);
}

static bool is_thread(void *arg, pid_t own)
{
	return find_thread(arg, own) != 0;
}

/* ---- the C library ------------------------------------------------------------------ */

static enum pmp_libc libc_by_modules(const struct pmp_maps *maps)
{
	for (size_t i = 0; i < maps->module_count; i++) {
		const char *slash = strrchr(maps->modules[i]->path, '/');
		const char *name = slash ? slash + 1 : "";

		if (strcmp(name, "libc.so.6") == 0 || strncmp(name, "libc-2.", 7) == 0)
			return PMP_LIBC_GLIBC;
		if (strncmp(name, "ld-musl-", 8) == 0 ||
		    strncmp(name, "libc.musl-", 10) == 0)
			return PMP_LIBC_MUSL;
	}
	return PMP_LIBC_ANY;
}

/* Determined once for each change of the maps. */
static enum pmp_libc libc_of(struct pmp_target *target)
{
	const struct pmp_maps *maps = target->maps;

	if (!maps)
		return PMP_LIBC_ANY;
	if (target->libc.generation != maps->generation) {
		target->libc.generation = maps->generation;
		target->libc.is = (int)libc_by_modules(maps);
	}
	return (enum pmp_libc)target->libc.is;
}

/* ---- decoding ---------------------------------------------------------------------- */

static bool read_now(void *arg, uint64_t address, void *data, size_t length)
{
	struct pmp_lock_reader *reader = arg;

	if (reader->kept && length == PMP_FUTEX_BYTES && address == reader->address) {
		memcpy(data, reader->bytes, length);
		return true;
	}
	if (pmp_file_pread(reader->target->process.mem, data, length, address) !=
	    (ssize_t)length)
		return false;
	if (length == PMP_FUTEX_BYTES) {
		memcpy(reader->bytes, data, length);
		reader->address = address;
		reader->kept = true;
	}
	return true;
}

static void decode(struct pmp_lock_reader *reader, const struct pmp_wait_call *call,
		   pid_t waiter, struct pmp_wait *wait)
{
	struct pmp_target *target = reader->target;
	const struct pmp_wait_memory memory = {
		.reader = { read_now, reader },
		.libc = libc_of(target),
		.layout = pmp_thread_layout_of(pmp_arch_here),
		.is_thread = is_thread,
		.arg = target,
	};

	pmp_wait_decode(call, &memory, wait);
	if (wait->holder_is == PMP_HOLDER_SELF)
		wait->holder = waiter;
	else if (wait->holder_is == PMP_HOLDER_THREAD)
		wait->holder = find_thread(target, wait->holder);
}

const char *pmp_wchan_of_restart(const struct pmp_target *target,
				 const struct pmp_thread *thread, char *text, size_t size)
{
	text[0] = '\0';
	if (thread->syscall != SYS_restart_syscall)
		return text;
	if (thread->wchan[0])
		return thread->wchan;
	if (pmp_task_read(&target->process, thread->tid, "wchan", text, size) <= 0)
		text[0] = '\0';
	return text;
}

void pmp_wait_read(struct pmp_lock_reader *reader, const struct pmp_thread *thread,
		   const uint64_t *args, const uint64_t *stack, size_t count,
		   struct pmp_wait *wait)
{
	struct pmp_target *target = reader->target;
	char wchan[PMP_WCHAN_SIZE];
	const struct pmp_wait_call call = {
		.tid = own_tid(target, thread->tid),
		.number = thread->syscall,
		.args = args,
		.wchan = pmp_wchan_of_restart(target, thread, wchan, sizeof(wchan)),
		.known = thread->wait.kind,
		.stack = stack,
		.stack_count = count,
	};

	decode(reader, &call, thread->tid, wait);
}
