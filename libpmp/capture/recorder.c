/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The reading side of a recorder: which processes write into its memory, and their records
 * in batches. Each process has an entry; an exec takes a new one.
 */
#include "capture/recorder.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/sized.h"
#include "libpmp-program.h"
#include "proc/explain.h"
#include "proc/open.h"
#include "proc/status.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define RECORDS_MOST 4096 /* read in one call */
#define RATE_MOST (UINT64_C(1) << 30)
#define FRAMES_MOST ((size_t)1 << 20)
#define RECORDS_FEW 500		  /* per second: twice as many are acceptable */
#define NAMES 1024		  /* of threads, cached */
#define NAME_AGE PMP_S		  /* until it is read again */
#define TOTALS_EVERY (PMP_S / 10) /* if nothing else is new */
#define ENDS_EVERY (PMP_S / 20)	  /* check whether children have exited */
#define BEGIN_TIME (100 * PMP_MS) /* for new processes, per call */

_Static_assert((int)PMP_RECORDED_MOST == PMP_HEAP_PROCESSES, "each has an entry");

struct thread_name {
	pid_t tid;
	uint64_t read; /* when */
	char name[PMP_NAME_SIZE];
};

/* One entry. */
struct recorded {
	bool known;
	bool replaced;			 /* by an exec in the same process */
	bool ended;			 /* has exited, and was not a target */
	struct pmp_heap_process process; /* a copy of what it says about itself */
	struct pmp_heap_batch *batch;
	struct pmp_heap_totals sent;
	uint64_t sent_time;
	uint64_t stackless; /* samples without maps to walk their stacks with */
	bool has_maps;	    /* of this program have been read */
	bool batch_begun;
	struct pmp_capture capture; /* of this batch; target is NULL if there is none */
};

struct pmp_recorder {
	struct pmp_heap_shared shared;
	struct pmp_heap_ring ring;
	int memory, file;
	bool begun; /* by this process, which may be a child of the creator */
	uint64_t ends_checked;
	uint64_t read_since; /* when the current call began */
	size_t next_process; /* where to look first for a new one */
	uint64_t rate;	     /* requested rate */
	struct {
		uint64_t begin, records;
		uint64_t fullest; /* bytes in the ring */
	} load;			  /* since the rate was last adjusted */
	struct recorded recorded[PMP_HEAP_PROCESSES];
	struct thread_name names[NAMES];
};

/* ---- the handle ---------------------------------------------------------------------------- */

static void settings_of(const struct pmp_recorder_options *options,
			struct pmp_heap_settings *settings)
{
	*settings = (struct pmp_heap_settings){
		.rate = options->rate,
		.max_stack = options->max_stack,
		.flags = (options->rate ? 0 : PMP_HEAP_FLAG_EXACT) |
			 (options->mmap ? PMP_HEAP_FLAG_MMAP : 0) |
			 (options->children ? PMP_HEAP_FLAG_CHILDREN : 0),
	};
}

int pmp_recorder_new(const struct pmp_recorder_options *options,
		     struct pmp_recorder **out, struct pmp_error *err)
{
	struct pmp_recorder *recorder = calloc(1, sizeof(*recorder));
	struct pmp_recorder_options taken;
	struct pmp_heap_settings settings;
	int r;

	*out = NULL;
	if (!recorder)
		return pmp_error_nomem(err, "a recorder");
	recorder->memory = recorder->file = -1;
	pmp_sized_take(&taken, sizeof(taken), options);
	recorder->rate = taken.rate;
	settings_of(&taken, &settings);
	r = pmp_heap_shared_new(&settings, &recorder->shared, &recorder->memory, err);
	if (r == 0)
		r = pmp_heap_library(&recorder->file, err);
	if (r < 0) {
		pmp_recorder_free(recorder);
		return r;
	}
	*out = recorder;
	return 0;
}

void pmp_recorder_free(struct pmp_recorder *recorder)
{
	if (!recorder)
		return;
	for (size_t i = 0; i < PMP_HEAP_PROCESSES; i++)
		pmp_heap_batch_free(recorder->recorded[i].batch);
	pmp_heap_shared_close(&recorder->shared);
	if (recorder->memory >= 0)
		close(recorder->memory);
	if (recorder->file >= 0)
		close(recorder->file);
	free(recorder);
}

void pmp_recorder_descriptors(const struct pmp_recorder *recorder, int *memory, int *file)
{
	*memory = recorder->memory;
	*file = recorder->file;
}

void pmp_recorder_expect(struct pmp_recorder *recorder, pid_t pid)
{
	struct stat space;

	recorder->shared.header->pid = (uint32_t)pid;
	recorder->shared.header->pid_namespace =
		stat("/proc/self/ns/pid", &space) == 0 ? space.st_ino : 0;
}

static int not_permitted(pid_t pid, struct pmp_error *err)
{
	struct pmp_process process;
	int r = pmp_process_open(pid, &process, err);

	if (r == 0) {
		r = pmp_process_explain(&process, pid, EACCES, err);
		pmp_process_close(&process);
	}
	return r;
}

/* sys_errno: from looking for the recorder. */
static int not_recorded(pid_t pid, int sys_errno, struct pmp_error *err)
{
	char path[64], name[PMP_NAME_SIZE];
	ssize_t n;

	if (sys_errno == EACCES)
		return not_permitted(pid, err);
	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	n = pmp_file_read(AT_FDCWD, path, name, sizeof(name));
	if (n < 0)
		return pmp_error_set(err, PMP_ESRCH, "no process %d", (int)pid);
	name[strcspn(name, "\n")] = '\0';
	pmp_error_set(err, PMP_EUNSUPPORTED,
		      "%s [%d] was not started with a recorder: what it has allocated is "
		      "not recorded",
		      name, (int)pid);
	pmp_error_hint(err, "start it with pmp --heap -- COMMAND");
	return PMP_EUNSUPPORTED;
}

int pmp_recorder_find(pid_t pid, uint64_t rate, struct pmp_recorder **out,
		      struct pmp_error *err)
{
	struct pmp_recorder *recorder = calloc(1, sizeof(*recorder));
	struct pmp_heap_header *header;
	int r = 0;

	*out = NULL;
	if (!recorder)
		return pmp_error_nomem(err, "a recorder");
	recorder->file = -1;
	recorder->memory = pmp_heap_shared_find(pid);
	if (recorder->memory < 0)
		r = not_recorded(pid, errno, err);
	else
		r = pmp_heap_shared_open(recorder->memory, &recorder->shared, err);
	header = recorder->shared.header;
	if (r == 0 && pmp_clock() - header->heartbeat < PMP_S)
		r = pmp_error_set(err, PMP_ELIMIT,
				  "another pmp is already reading the recorder in %d",
				  (int)pid);
	if (r < 0) {
		pmp_recorder_free(recorder);
		return r;
	}
	if (rate && !(header->flags & PMP_HEAP_FLAG_EXACT))
		header->rate = rate;
	recorder->rate = header->rate;
	*out = recorder;
	return 0;
}

bool pmp_recorder_is_loaded(const struct pmp_recorder *recorder, pid_t pid)
{
	return __atomic_load_n(&recorder->shared.header->loaded, __ATOMIC_RELAXED) &&
	       pmp_heap_shared_is_mapped(pid);
}

static void change_rate(struct pmp_recorder *recorder, uint64_t rate, uint64_t to)
{
	if (!(recorder->shared.header->flags & PMP_HEAP_FLAG_EXACT))
		__atomic_compare_exchange_n(&recorder->shared.header->rate, &rate, to,
					    false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

void pmp_recorder_slow_down(struct pmp_recorder *recorder)
{
	const uint64_t rate =
		__atomic_load_n(&recorder->shared.header->rate, __ATOMIC_RELAXED);

	if (rate < RATE_MOST)
		change_rate(recorder, rate, 2 * rate);
}

void pmp_recorder_speed_up(struct pmp_recorder *recorder)
{
	const uint64_t now = pmp_clock(), time = now - recorder->load.begin;
	const uint64_t rate =
		__atomic_load_n(&recorder->shared.header->rate, __ATOMIC_RELAXED);
	const bool few = recorder->load.records < RECORDS_FEW * time / PMP_S &&
			 recorder->load.fullest < PMP_HEAP_RING_SIZE / 8;

	if (recorder->load.begin && few && rate > recorder->rate)
		change_rate(recorder, rate,
			    rate / 2 > recorder->rate ? rate / 2 : recorder->rate);
	recorder->load.begin = now;
	recorder->load.records = recorder->load.fullest = 0;
}

/* If a process has exec'ed several programs, the last one. */
const struct pmp_heap_process *pmp_recorder_process(const struct pmp_recorder *recorder,
						    pid_t pid)
{
	const struct pmp_heap_process *found = NULL;

	for (size_t i = 0; i < PMP_HEAP_PROCESSES; i++) {
		const struct pmp_heap_process *process = &recorder->shared.processes[i];

		if (__atomic_load_n(&process->state, __ATOMIC_ACQUIRE) >=
			    PMP_HEAP_PROCESS_RECORDS &&
		    process->pid == (uint32_t)pid &&
		    (!found || process->number > found->number))
			found = process;
	}
	return found;
}

/* ---- totals ---------------------------------------------------------------------------------- */

static void add_slots(const struct pmp_heap_shared *shared, size_t index, uint64_t *calls,
		      uint64_t *allocated, uint64_t *freed)
{
	uint32_t used = __atomic_load_n(&shared->header->slots_used, __ATOMIC_RELAXED);

	if (used > PMP_HEAP_SLOTS)
		used = PMP_HEAP_SLOTS;
	for (uint32_t i = 0; i < used; i++) {
		const struct pmp_heap_slot *slot = &shared->slots[i];

		if (slot->process != index + 1)
			continue;
		for (size_t k = 0; k < PMP_HEAP_CALLS; k++)
			calls[k] += slot->calls[k];
		*allocated += slot->allocated;
		*freed += slot->freed;
	}
}

static void fill_kinds(const struct pmp_heap_process *process,
		       struct pmp_heap_totals *totals)
{
	totals->allocator = process->allocator < PMP_HEAP_ALLOCATOR_COUNT
				    ? (uint8_t)process->allocator
				    : PMP_HEAP_ALLOCATOR_UNKNOWN;
	totals->state = process->state == PMP_HEAP_PROCESS_COUNTS
				? PMP_HEAP_STATE_COUNTS
				: PMP_HEAP_STATE_RECORDS;
	memcpy(totals->allocator_name, process->allocator_name, PMP_NAME_SIZE - 1);
	totals->allocator_name[PMP_NAME_SIZE - 1] = '\0';
}

static uint64_t above(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* Read the current totals. */
static void read_totals(const struct pmp_recorder *recorder, size_t index,
			struct pmp_heap_totals *totals)
{
	const struct pmp_heap_process *live = &recorder->shared.processes[index];
	const struct pmp_heap_header *header = recorder->shared.header;
	struct pmp_heap_process process = *live;
	uint64_t *calls = process.calls;

	add_slots(&recorder->shared, index, calls, &process.allocated, &process.freed);
	*totals = (struct pmp_heap_totals){
		.mallocs = calls[PMP_HEAP_MALLOC],
		.callocs = calls[PMP_HEAP_CALLOC],
		.aligned = calls[PMP_HEAP_ALIGNED],
		.reallocs = calls[PMP_HEAP_REALLOC],
		.news = calls[PMP_HEAP_NEW],
		.frees = calls[PMP_HEAP_CALL_FREE],
		.allocated = process.allocated,
		.freed = process.freed,
		.live = above(process.allocated, process.freed),
		.peak = process.peak > 0 ? (uint64_t)process.peak : 0,
		.peak_time = process.peak_time,
		.failed = process.failed,
		.failed_reallocs = process.failed_reallocs,
		.brk_growth = process.brk_growth,
		.mmap_growth = process.mmap_growth,
		.given_back = process.given_back,
		.lost = process.lost,
		.untracked = process.untracked,
		.rate = header->flags & PMP_HEAP_FLAG_EXACT ? 0 : header->rate,
		.start = process.start,
		.stackless = recorder->recorded[index].stackless,
		.unrecorded = header->turned_away,
	};
	totals->live_blocks =
		above(totals->mallocs + totals->callocs + totals->aligned + totals->news,
		      totals->frees);
	fill_kinds(&process, totals);
}

/* The peak never decreases from one read to the next. */
static void keep_peak(struct recorded *recorded, struct pmp_heap_totals *totals,
		      uint64_t now)
{
	if (totals->peak < recorded->sent.peak) {
		totals->peak = recorded->sent.peak;
		totals->peak_time = recorded->sent.peak_time;
	}
	if (totals->live > totals->peak) {
		totals->peak = totals->live;
		totals->peak_time = now;
	}
}

/* ---- records --------------------------------------------------------------------------------- */

static const char *name_of_thread(struct pmp_recorder *recorder,
				  const struct pmp_target *target, pid_t tid,
				  uint64_t now)
{
	struct thread_name *name = &recorder->names[(unsigned)tid % NAMES];
	const char *is = target->process.name;
	char text[PMP_NAME_SIZE];
	ssize_t n;

	if (name->tid == tid && now - name->read < NAME_AGE)
		return name->name;
	n = pmp_task_read(&target->process, tid, "comm", text, sizeof(text));
	if (n <= 0 && name->tid == tid)
		return name->name;
	if (n > 0) {
		text[n - (text[n - 1] == '\n')] = '\0';
		is = text;
	}
	*name = (struct thread_name){ .tid = tid, .read = now };
	memcpy(name->name, is, strnlen(is, sizeof(name->name) - 1));
	return name->name;
}

static int add_event(struct recorded *recorded, const struct pmp_heap_record *record,
		     const char *thread, size_t frames, enum pmp_end end)
{
	struct pmp_heap_event event = {
		.kind = record->kind,
		.function = record->function,
		.end = (uint16_t)end,
		.time = record->time,
		.pointer = record->pointer,
		.asked = record->asked,
		.usable = record->usable,
		.rate = record->rate,
		.count = record->count,
	};
	int r = pmp_heap_batch_thread(recorded->batch, (pid_t)record->tid, thread,
				      &event.thread);

	return r < 0 ? r
		     : pmp_heap_batch_add(
			       recorded->batch, &event,
			       frames ? recorded->capture.target->workspace.frames : NULL,
			       frames);
}

/* The command waits for this. */
static void set_known(struct pmp_heap_process *process)
{
	__atomic_store_n(&process->is_known, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &process->is_known, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* The first record of a batch looks up the target. A process that lived too briefly to be
 * read, or is not sampled, has none, or no maps: its records have no frames. */
static void begin_batch(struct pmp_recorder *recorder, size_t index,
			const struct pmp_recorder_calls *calls)
{
	struct recorded *recorded = &recorder->recorded[index];
	struct pmp_capture *capture = &recorded->capture;

	if (recorded->batch_begun)
		return;
	recorded->batch_begun = true;
	*capture = (struct pmp_capture){
		.target = calls->target(calls->arg, (pid_t)recorded->process.pid)
	};
	if (capture->target && pmp_recorded_begin(capture, !recorded->has_maps, NULL) < 0)
		capture->target = NULL;
	if (!capture->target || recorded->has_maps)
		return;
	recorded->has_maps = true;
	set_known(&recorder->shared.processes[index]);
}

static int take_record(struct pmp_recorder *recorder,
		       const struct pmp_recorder_calls *calls,
		       const struct pmp_heap_entry *entry, uint64_t now)
{
	const struct pmp_heap_record *record = &entry->record;
	struct recorded *recorded = &recorder->recorded[record->process];
	const struct pmp_target *target;
	enum pmp_end end = record->has_regs ? PMP_END_UNREADABLE : PMP_END_ROOT;
	size_t frames = 0;
	int r = 0;

	if (!recorded->known)
		return 0;
	begin_batch(recorder, record->process, calls);
	target = recorded->capture.target;
	recorded->stackless += record->has_regs && !target;
	if (record->has_regs && target)
		r = pmp_recorded_walk(&recorded->capture, entry, &recorded->process,
				      &frames, &end);
	if (r < 0)
		return r;
	return add_event(
		recorded, record,
		target ? name_of_thread(recorder, target, (pid_t)record->tid, now)
		       : recorded->batch->name,
		frames, end);
}

/* ---- processes -------------------------------------------------------------------------------- */

static int begin_process(struct pmp_recorder *recorder, size_t index, uint64_t now)
{
	struct recorded *recorded = &recorder->recorded[index];
	struct pmp_heap_event event = { .kind = PMP_HEAP_START, .time = now };
	int r;

	if (!recorded->batch)
		recorded->batch = pmp_heap_batch_new();
	if (!recorded->batch)
		return PMP_ENOMEM;
	pmp_heap_batch_clear(recorded->batch);
	recorded->process = recorder->shared.processes[index];
	memcpy(recorded->batch->name, recorded->process.name,
	       sizeof(recorded->process.name));
	recorded->batch->name[sizeof(recorded->process.name) - 1] = '\0';
	recorded->sent = (struct pmp_heap_totals){ 0 };
	recorded->known = true;
	recorded->replaced = recorded->ended = recorded->has_maps = false;
	recorded->stackless = 0;
	event.time = recorded->process.start;
	event.count = (uint64_t)recorded->process.number + 1;
	r = pmp_heap_batch_thread(recorded->batch, (pid_t)recorded->process.pid, "",
				  &event.thread);
	return r < 0 ? r : pmp_heap_batch_add(recorded->batch, &event, NULL, 0);
}

static void free_entry(struct pmp_recorder *recorder, size_t index)
{
	struct pmp_heap_shared *shared = &recorder->shared;
	uint32_t used = shared->header->slots_used;

	for (uint32_t i = 0; i < used && i < PMP_HEAP_SLOTS; i++)
		if (shared->slots[i].process == index + 1)
			memset(&shared->slots[i], 0, sizeof(shared->slots[i]));
	memset(&shared->processes[index], 0, sizeof(shared->processes[index]));
	recorder->recorded[index].known = false;
}

/* Mark an earlier program of the same process: its records precede the new one's. */
static void end_earlier(struct pmp_recorder *recorder, size_t index)
{
	const uint32_t pid = recorder->recorded[index].process.pid;

	for (size_t i = 0; i < PMP_HEAP_PROCESSES; i++)
		if (i != index && recorder->recorded[i].known &&
		    recorder->recorded[i].process.pid == pid)
			recorder->recorded[i].replaced = true;
}

/* Everything that they wrote has been read. */
static void free_ended(struct pmp_recorder *recorder)
{
	for (size_t i = 0; i < PMP_HEAP_PROCESSES; i++) {
		const struct recorded *recorded = &recorder->recorded[i];

		if (recorded->known && (recorded->replaced || recorded->ended))
			free_entry(recorder, i);
	}
}

/* Have all its threads exited, even if it is still a zombie? The leader may exit before
 * others, whose number shows in the link count of the task directory. */
static bool has_ended(pid_t pid)
{
	struct pmp_stat stat;
	struct stat folder;
	char path[64];
	int r;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	r = pmp_stat_read(AT_FDCWD, path, &stat);
	if (r < 0 || !pmp_state_ended(stat.state))
		return r == -ENOENT || r == -ESRCH;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	return fstatat(AT_FDCWD, path, &folder, 0) < 0 || folder.st_nlink <= 3;
}

/* Look for exits: those of processes that are not targets, such as short-lived children, are
 * not reported. */
static void find_ended(struct pmp_recorder *recorder,
		       const struct pmp_recorder_calls *calls, uint64_t now, bool all)
{
	if (!all && now - recorder->ends_checked < ENDS_EVERY)
		return;
	recorder->ends_checked = now;
	for (size_t i = 0; i < PMP_HEAP_PROCESSES; i++) {
		struct recorded *recorded = &recorder->recorded[i];
		const pid_t pid = (pid_t)recorded->process.pid;

		if (!recorded->known || recorded->ended)
			continue;
		if (calls->target(calls->arg, pid))
			recorded->ended = pid == calls->ended;
		else
			recorded->ended = has_ended(pid);
	}
}

static bool has_begun(const struct pmp_recorder *recorder, size_t index)
{
	return !recorder->recorded[index].known &&
	       __atomic_load_n(&recorder->shared.processes[index].state,
			       __ATOMIC_ACQUIRE) >= PMP_HEAP_PROCESS_RECORDS;
}

/* The oldest new program of the same process: each one ends those before it. */
static size_t first_program(const struct pmp_recorder *recorder, size_t index)
{
	const struct pmp_heap_process *all = recorder->shared.processes;
	size_t first = index;

	for (size_t i = 0; i < PMP_HEAP_PROCESSES; i++)
		if (has_begun(recorder, i) && all[i].pid == all[index].pid &&
		    all[i].number < all[first].number)
			first = i;
	return first;
}

static int begin_program(struct pmp_recorder *recorder, size_t index,
			 const struct pmp_recorder_calls *calls, uint64_t now)
{
	int r = begin_process(recorder, index, now);

	if (r < 0)
		return r;
	end_earlier(recorder, index);
	/* Before it can exit. */
	begin_batch(recorder, index, calls);
	return 0;
}

/* Of an entry that has begun. Returns 1 if there is no time left for it. */
static int begin_next(struct pmp_recorder *recorder, size_t index,
		      const struct pmp_recorder_calls *calls, uint64_t now)
{
	if (pmp_clock() - recorder->read_since > BEGIN_TIME)
		return 1;
	return begin_program(recorder, first_program(recorder, index), calls, now);
}

/* New processes may have many mappings, or exec again and again: those for which time runs
 * out come first in the next call. */
static int find_processes(struct pmp_recorder *recorder,
			  const struct pmp_recorder_calls *calls, uint64_t now)
{
	const size_t first = recorder->next_process;

	for (size_t n = 0; n < PMP_HEAP_PROCESSES; n++) {
		const size_t i = (first + n) % PMP_HEAP_PROCESSES;

		while (has_begun(recorder, i)) {
			const int r = begin_next(recorder, i, calls, now);

			if (r)
				return r < 0 ? r : 0;
			recorder->next_process = i + 1;
		}
	}
	return 0;
}

/* ---- reading ----------------------------------------------------------------------------------- */

/* The numbers come first in the struct, without padding. */
static bool has_changed(const struct pmp_heap_totals *totals,
			const struct pmp_heap_totals *sent)
{
	return memcmp(totals, sent, offsetof(struct pmp_heap_totals, allocator)) != 0 ||
	       totals->state != sent->state || totals->ended != sent->ended;
}

static bool is_worth(const struct recorded *recorded,
		     const struct pmp_heap_totals *totals, uint64_t now, bool all)
{
	return recorded->batch->event_count ||
	       ((all || now - recorded->sent_time > TOTALS_EVERY) &&
		has_changed(totals, &recorded->sent));
}

/* ended: this is the last batch. */
static void send_batch(struct pmp_recorder *recorder, size_t index,
		       const struct pmp_recorder_calls *calls, uint64_t now, bool all,
		       bool ended)
{
	struct recorded *recorded = &recorder->recorded[index];
	struct pmp_heap_batch *batch = recorded->batch;
	struct pmp_target *target = recorded->capture.target;

	read_totals(recorder, index, &batch->totals);
	keep_peak(recorded, &batch->totals, now);
	batch->totals.ended = ended;
	if (target) {
		pmp_recorded_end(&recorded->capture, batch);
		memcpy(batch->name, target->process.name, sizeof(batch->name));
		batch->maps = pmp_maps_ref(target->maps);
	}
	recorded->capture.target = NULL;
	recorded->batch_begun = false;
	if (!is_worth(recorded, &batch->totals, now, all || ended))
		return;
	batch->pid = (pid_t)recorded->process.pid;
	batch->time = now;
	calls->take(calls->arg, batch);
	recorded->sent = batch->totals;
	recorded->sent_time = now;
	pmp_heap_batch_clear(batch);
}

static size_t frames_so_far(const struct pmp_recorder *recorder)
{
	size_t frames = 0;

	for (size_t i = 0; i < PMP_HEAP_PROCESSES; i++)
		if (recorder->recorded[i].known)
			frames += recorder->recorded[i].batch->frame_count;
	return frames;
}

static void note_filling(struct pmp_recorder *recorder)
{
	const uint64_t filled = pmp_heap_ring_filled(&recorder->ring);

	if (filled > recorder->load.fullest)
		recorder->load.fullest = filled;
}

/* Returns 1 if there may be more. */
static int read_records(struct pmp_recorder *recorder,
			const struct pmp_recorder_calls *calls, uint64_t now)
{
	struct pmp_heap_entry entry;

	for (unsigned i = 0; pmp_heap_ring_next(&recorder->ring, now, &entry); i++) {
		const size_t process = entry.record.process;
		int r = 0;

		/* It may have begun since find_processes(). */
		while (r == 0 && has_begun(recorder, process))
			r = begin_next(recorder, process, calls, now);
		if (r > 0)
			return 1;
		if (r == 0)
			r = take_record(recorder, calls, &entry, now);
		pmp_heap_ring_done(&recorder->ring, &entry);
		recorder->load.records++;
		if (r < 0)
			return r;
		if (i >= RECORDS_MOST ||
		    (i % 64 == 0 && frames_so_far(recorder) > FRAMES_MOST))
			return 1;
	}
	return 0;
}

/* The known entries, in the order in which their programs began. Returns how many. */
static size_t put_in_order(const struct pmp_recorder *recorder, size_t *order)
{
	const struct recorded *all = recorder->recorded;
	size_t count = 0;

	for (size_t i = 0; i < PMP_HEAP_PROCESSES; i++) {
		size_t at = count;

		if (!all[i].known)
			continue;
		for (; at && all[order[at - 1]].process.number > all[i].process.number;
		     at--)
			order[at] = order[at - 1];
		order[at] = i;
		count++;
	}
	return count;
}

/* A replaced program comes before the one that replaced it. */
static void send_all(struct pmp_recorder *recorder,
		     const struct pmp_recorder_calls *calls, bool all, bool drained)
{
	const uint64_t now = pmp_clock();
	size_t order[PMP_HEAP_PROCESSES];
	const size_t count = put_in_order(recorder, order);

	for (size_t i = 0; i < count; i++) {
		const struct recorded *recorded = &recorder->recorded[order[i]];

		send_batch(recorder, order[i], calls, now, all || recorded->replaced,
			   drained && recorded->ended && !recorded->replaced);
	}
}

static void begin_ring(struct pmp_recorder *recorder)
{
	if (!recorder->begun)
		pmp_heap_ring_begin(&recorder->ring, &recorder->shared);
	recorder->begun = true;
}

uint64_t pmp_recorder_written(struct pmp_recorder *recorder)
{
	begin_ring(recorder);
	return pmp_heap_ring_written(&recorder->ring);
}

bool pmp_recorder_has_read(struct pmp_recorder *recorder, uint64_t end)
{
	begin_ring(recorder);
	return recorder->ring.tail >= end;
}

int pmp_recorder_read(struct pmp_recorder *recorder,
		      const struct pmp_recorder_calls *calls, bool all,
		      struct pmp_error *err)
{
	const uint64_t now = pmp_clock();
	uint64_t written;
	bool drained;
	int r;

	begin_ring(recorder);
	recorder->read_since = now;
	recorder->ring.given_up = !all ? 0 : calls->written ? calls->written : UINT64_MAX;
	__atomic_store_n(&recorder->shared.header->heartbeat, now, __ATOMIC_RELAXED);
	note_filling(recorder);
	r = find_processes(recorder, calls, now);
	find_ended(recorder, calls, now, all);
	/* What those that have ended wrote is before this position. */
	written = pmp_recorder_written(recorder);
	if (r == 0)
		r = read_records(recorder, calls, now);
	drained = r == 0 && pmp_recorder_has_read(recorder, written);
	send_all(recorder, calls, all, drained);
	if (drained)
		free_ended(recorder);
	return r < 0 ? pmp_error_nomem(err, "reading what a recorder has written") : r;
}

void pmp_recorder_forget(struct pmp_recorder *recorder, pid_t pid)
{
	for (size_t i = 0; i < PMP_HEAP_PROCESSES; i++)
		if (recorder->recorded[i].known &&
		    recorder->recorded[i].process.pid == (uint32_t)pid)
			free_entry(recorder, i);
}
