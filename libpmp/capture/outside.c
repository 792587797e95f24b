/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/outside.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/fault.h"
#include "base/file.h"
#include "capture/outside-look.h"
#include "capture/wait-read.h"

#define NAPS_MAX 5	  /* of 1 ms, for threads that have just been stopped */
#define WAITERS_MAX 65536 /* threads; the rest is ignored */

struct outside_search {
	struct pmp_capture *capture;
	struct pmp_look look;
	struct pmp_outsider *items; /* sorted, see compare_things() */
	size_t count, capacity;
	bool only_locks; /* file locks; everything else is known from an earlier capture */
};

/* ---- who waits ------------------------------------------------------------------------ */

static bool read_memory(void *arg, uint64_t address, void *data, size_t length)
{
	const struct pmp_target *target = arg;

	return pmp_file_pread(target->process.mem, data, length, address) ==
	       (ssize_t)length;
}

/* Is it asleep in the call that it was seen in? After a stop, a call with a timeout
 * continues as restart_syscall, with the same arguments. */
static bool is_in_call(const struct pmp_target *target, const struct pmp_thread *thread)
{
	struct pmp_syscall_file call;
	char text[256];
	ssize_t length = pmp_task_read(&target->process, thread->tid, "syscall", text,
				       sizeof(text));

	return length > 0 && pmp_syscall_parse(text, (size_t)length, &call) &&
	       (call.number == thread->syscall || call.number == SYS_restart_syscall) &&
	       memcmp(call.args, thread->args, sizeof(call.args)) == 0;
}

static bool is_asleep(struct pmp_target *target, struct pmp_outsider *outsider)
{
	struct pmp_run_count now;

	if (pmp_watch_read(&target->watches, &target->process, outsider->watch, &now) < 0)
		return false;
	outsider->run_count = now.value;
	return now.value && is_in_call(target, outsider->thread);
}

/* A sign of life: one waiter takes little time, but there may be thousands. */
static void beat(const struct outside_search *search)
{
	const struct pmp_target_options *options = &search->capture->target->options;

	if (options->alive)
		options->alive(options->alive_arg);
}

/* Does it wait for something outside? */
static bool begin_outsider(struct outside_search *search, struct pmp_thread *thread,
			   struct pmp_outsider *outsider)
{
	struct pmp_target *target = search->capture->target;
	char wchan[PMP_WCHAN_SIZE];
	const struct pmp_blocked_call call = {
		.number = thread->syscall,
		.state = thread->state,
		.wchan = pmp_wchan_of_restart(target, thread, wchan, sizeof(wchan)),
		.args = thread->args,
		.reader = { read_memory, target },
	};

	*outsider = (struct pmp_outsider){ .thread = thread, .what = { .fd = -1 } };
	if (thread->syscall < 0 || thread->state == 'R' || thread->wait.kind ||
	    !pmp_outside_decode(&call, &outsider->call) ||
	    (search->only_locks && outsider->call.does != PMP_DOES_LOCK))
		return false;
	outsider->watch = pmp_watches_find(&target->watches, thread->tid);
	return outsider->watch;
}

static int add_outsider(struct outside_search *search,
			const struct pmp_outsider *outsider)
{
	if (PMP_RESERVE(&search->items, &search->capacity, search->count + 1))
		return PMP_ENOMEM;
	search->items[search->count++] = *outsider;
	return 0;
}

/* Collect from the threads with these numbers; those that have not yet fallen asleep again
 * after a stop stay in the list. */
static int collect_asleep(struct outside_search *search, size_t *numbers, size_t *count)
{
	struct pmp_thread *threads = search->capture->sample->threads;
	size_t left = 0;

	for (size_t i = 0; i < *count && search->count < WAITERS_MAX; i++) {
		struct pmp_thread *thread = &threads[numbers[i]];
		struct pmp_outsider outsider;

		beat(search);
		if (!begin_outsider(search, thread, &outsider))
			continue;
		if (!is_asleep(search->capture->target, &outsider)) {
			if (thread->obtained == PMP_STOPPED)
				numbers[left++] = numbers[i];
			continue;
		}
		if (pmp_look_at(&search->look, &outsider) ||
		    (outsider.wait.kind && add_outsider(search, &outsider)))
			return PMP_ENOMEM;
	}
	*count = left;
	return 0;
}

/* Collect threads that wait for something outside, and have not run since. */
static int collect(struct outside_search *search)
{
	const struct timespec nap = { .tv_nsec = PMP_MS };
	size_t count = search->capture->sample->thread_count;
	size_t *numbers = calloc(count + 1, sizeof(*numbers));
	int r = numbers ? 0 : PMP_ENOMEM;

	for (size_t i = 0; i < count && !r; i++)
		numbers[i] = i;
	for (unsigned naps = 0; !r; naps++) {
		r = collect_asleep(search, numbers, &count);
		if (r || !count || naps == NAPS_MAX)
			break;
		nanosleep(&nap, NULL);
	}
	free(numbers);
	return r;
}

/* ---- the things ------------------------------------------------------------------------- */

static int order(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_locks(const struct pmp_file_lock *one,
			 const struct pmp_file_lock *other)
{
	int by = order(one->first, other->first);

	by = by ? by : order(one->last, other->last);
	by = by ? by : order(one->major, other->major);
	by = by ? by : order(one->minor, other->minor);
	return by ? by : order(one->waits, other->waits);
}

/* Equal: they wait for the same thing in the same way. */
static int compare_things(const void *a, const void *b)
{
	const struct pmp_outsider *one = a, *other = b;
	int by = order(one->wait.kind, other->wait.kind);

	by = by ? by : order(one->what.type, other->what.type);
	by = by ? by : order(one->wait.object, other->wait.object);
	by = by ? by
		: order(one->wait.flags & PMP_WAIT_WRITE,
			other->wait.flags & PMP_WAIT_WRITE);
	by = by ? by : order(one->call.does, other->call.does);
	by = by ? by : order(one->what.number, other->what.number);
	by = by ? by : order(one->descriptor.device, other->descriptor.device);
	by = by ? by : order(one->call.own_children, other->call.own_children);
	if (!by && one->call.own_children)
		by = order((uint64_t)one->thread->tid, (uint64_t)other->thread->tid);
	by = by ? by : order(one->seek, other->seek);
	return by ? by : compare_locks(&one->lock, &other->lock);
}

static int look_for_others(struct outside_search *search)
{
	size_t record = 0;
	int r = 0;

	qsort(search->items, search->count, sizeof(*search->items), compare_things);
	for (size_t i = 0; i < search->count && !r; i++) {
		beat(search);
		if (i && compare_things(&search->items[i - 1], &search->items[i]) == 0) {
			search->items[i].record = search->items[i - 1].record;
			continue;
		}
		search->items[i].record = record = i;
		r = pmp_look_for_others(&search->look, &search->items[i]);
	}
	return r;
}

/* The role of a descriptor that was found; PMP_ROLE_COUNT: none. */
static enum pmp_role role_of(const struct pmp_outsider *outsider, unsigned flags)
{
	unsigned access = flags & O_ACCMODE;

	switch (outsider->wait.kind) {
	case PMP_WAIT_FILE: return PMP_ROLE_HOLDS;
	case PMP_WAIT_SOCKET:
		return outsider->accepts ? PMP_ROLE_ACCEPTS : PMP_ROLE_OTHER_END;
	case PMP_WAIT_PIPE:
		if (outsider->wait.flags & PMP_WAIT_WRITE)
			return access != O_WRONLY ? PMP_ROLE_READS : PMP_ROLE_COUNT;
		return access != O_RDONLY ? PMP_ROLE_WRITES : PMP_ROLE_COUNT;
	default: return PMP_ROLE_COUNT;
	}
}

static int found(void *arg, const struct pmp_seek *seek, pid_t pid, int fd,
		 unsigned flags)
{
	struct outside_search *search = arg;
	enum pmp_role role = role_of(&search->items[seek->number], flags);

	return role == PMP_ROLE_COUNT
		       ? 0
		       : pmp_look_add(&search->look, seek->number, pid, fd, role);
}

static int walk(struct outside_search *search)
{
	const struct pmp_target_options *options = &search->capture->target->options;
	struct pmp_seeker seeker = {
		.seeks = search->look.seeks,
		.count = search->look.seek_count,
		.found = found,
		.arg = search,
		.time = PMP_DESCRIPTORS_TIME,
		.alive = options->alive,
		.alive_arg = options->alive_arg,
	};
	int r = pmp_descriptors_walk(&seeker);

	search->capture->sample->hidden = seeker.hidden;
	search->capture->sample->walk_cut = seeker.cut || search->look.locks_cut;
	return r == PMP_ENOMEM ? r : 0;
}

/* ---- into the sample --------------------------------------------------------------------- */

static int compare_found(const void *a, const void *b)
{
	const struct pmp_outside_found *one = a, *other = b;
	int by = order(one->record, other->record);

	by = by ? by : order((uint64_t)one->other.pid, (uint64_t)other->other.pid);
	return by ? by : order(one->order, other->order);
}

/* False: it has exited. */
static bool read_name(pid_t pid, char name[PMP_NAME_SIZE])
{
	struct pmp_stat stat;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (pmp_stat_read(AT_FDCWD, path, &stat) || pmp_state_ended(stat.state))
		return false;
	memcpy(name, stat.name, sizeof(stat.name));
	return true;
}

/* The first entry of this record, or where it would be. */
static size_t first_found(const struct pmp_look *look, size_t count, size_t record)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (look->found[middle].record < record)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* If no descriptor has the lock, attribute it to the process that took it. */
static int add_takers(struct outside_search *search)
{
	struct pmp_look *look = &search->look;
	const size_t known = look->found_count;
	int r = 0;

	for (size_t i = 0; i < search->count && !r; i++) {
		size_t at = first_found(look, known, i);

		if (search->items[i].record == i && search->items[i].taker &&
		    (at == known || look->found[at].record != i))
			r = pmp_look_add(look, i, search->items[i].taker, -1,
					 PMP_ROLE_HOLDS);
	}
	return r;
}

static void sort_found(struct outside_search *search)
{
	if (search->look.found_count)
		qsort(search->look.found, search->look.found_count,
		      sizeof(*search->look.found), compare_found);
}

static int add_others(struct outside_search *search, size_t record)
{
	struct pmp_sample *sample = search->capture->sample;
	struct pmp_outside *what = &sample->outsides[sample->outside_count - 1];
	const struct pmp_look *look = &search->look;
	pid_t last = 0;

	for (size_t i = first_found(look, look->found_count, record);
	     i < look->found_count && look->found[i].record == record; i++) {
		struct pmp_other *other = &look->found[i].other;

		if (other->pid == last || !read_name(other->pid, other->name))
			continue;
		last = other->pid;
		if (what->count++ < PMP_OTHERS_SHOWN &&
		    pmp_sample_add_other(sample, other))
			return PMP_ENOMEM;
	}
	if (!what->count)
		what->sure = PMP_SURE_UNKNOWN;
	return 0;
}

static void set_wait(struct pmp_sample *sample, struct pmp_outsider *outsider)
{
	const struct pmp_outside *what = &sample->outsides[sample->outside_count - 1];
	struct pmp_wait *wait = &outsider->wait;

	wait->outside = (uint32_t)sample->outside_count;
	wait->flags |= PMP_WAIT_PROVEN;
	if (wait->kind == PMP_WAIT_FILE && what->sure == PMP_SURE_EXACT && what->shown) {
		wait->holder = sample->others[what->other].pid;
		wait->holder_is = PMP_HOLDER_PROCESS;
	}
	outsider->thread->wait = *wait;
	outsider->watch->waiting = outsider->run_count;
}

static bool slept(struct pmp_target *target, const struct pmp_outsider *outsider)
{
	struct pmp_run_count now;

	return pmp_watch_read(&target->watches, &target->process, outsider->watch,
			      &now) == 0 &&
	       (now.value == outsider->run_count || PMP_FAULT("believe-outside"));
}

static int emit(struct outside_search *search)
{
	struct pmp_sample *sample = search->capture->sample;
	size_t record = SIZE_MAX;
	int r = 0;

	for (size_t i = 0; i < search->count && !r; i++) {
		struct pmp_outsider *outsider = &search->items[i];

		beat(search);
		if (!slept(search->capture->target, outsider))
			continue;
		if (outsider->record != record) {
			record = outsider->record;
			r = pmp_sample_add_outside(sample, &search->items[record].what);
			if (!r)
				r = add_others(search, record);
		}
		if (!r)
			set_wait(sample, outsider);
	}
	return r;
}

/* ---- holders in other processes, of locks in memory -------------------------------------- */

static pid_t process_of(pid_t tid)
{
	struct pmp_status_file status;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	return pmp_status_read(AT_FDCWD, path, &status) == 0 ? status.tgid : 0;
}

static int name_holder(struct pmp_sample *sample, struct pmp_wait *wait)
{
	const struct pmp_outside what = { .sure = PMP_SURE_EXACT, .count = 1, .fd = -1 };
	struct pmp_other other = { .pid = process_of(wait->holder),
				   .tid = wait->holder,
				   .fd = -1,
				   .role = PMP_ROLE_HOLDS };

	if (!other.pid || !read_name(wait->holder, other.name))
		return 0;
	/* Mostly all have the same holder. */
	if (!sample->outside_count ||
	    sample->outsides[sample->outside_count - 1].type != PMP_OUTSIDE_NONE ||
	    sample->others[sample->other_count - 1].tid != wait->holder) {
		if (pmp_sample_add_outside(sample, &what) ||
		    pmp_sample_add_other(sample, &other))
			return PMP_ENOMEM;
	}
	wait->outside = (uint32_t)sample->outside_count;
	return 0;
}

static int name_holders(struct pmp_sample *sample)
{
	int r = 0;

	for (size_t i = 0; i < sample->thread_count && !r; i++) {
		struct pmp_wait *wait = &sample->threads[i].wait;

		if (!pmp_wait_is_outside(wait->kind) &&
		    (wait->holder_is == PMP_HOLDER_PROCESS ||
		     wait->holder_is == PMP_HOLDER_BEFORE_FORK))
			r = name_holder(sample, wait);
	}
	return r;
}

static int look(struct outside_search *search)
{
	int r = collect(search);

	if (r || !search->count)
		return r;
	r = look_for_others(search);
	if (!r)
		r = walk(search);
	sort_found(search);
	if (!r)
		r = add_takers(search);
	sort_found(search);
	return r ? r : emit(search);
}

int pmp_outside_find(struct pmp_capture *capture)
{
	struct pmp_target *target = capture->target;
	struct pmp_outside_kept *kept = &target->outside_kept;
	const uint64_t began = pmp_clock();
	struct outside_search search = {
		.capture = capture,
		.only_locks = began < kept->until && target->options.stop != PMP_STOP_ALL,
	};
	int r;

	pmp_look_begin(&search.look, target);
	r = look(&search);
	pmp_look_end(&search.look);
	free(search.items);
	if (!r && search.only_locks)
		r = pmp_outside_recall(kept, capture->sample, &target->watches,
				       &target->process);
	else if (!r)
		r = pmp_outside_keep(kept, capture->sample, &target->watches, began);
	return r ? r : name_holders(capture->sample);
}
