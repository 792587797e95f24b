/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Windows of the past: what was counted is counted again, and is the same; windows that
 * touch add up, and those of a view are the same ones; the past is bounded; what is
 * evicted, renumbered or has ended stays right.
 */
#include <inttypes.h>

#include "base/intern.h"
#include "lib/saved.h"
#include "lib/tap.h"
#include "libpmp-program.h"
#include "sample.h"
#include "tally/history.h"

#define MS UINT64_C(1000000)
#define S (1000 * MS)
#define CODE UINT64_C(0x7f0000000000)
#define PERIOD (100 * MS)
#define START (1000 * S)
#define MUTEX UINT64_C(0x7f31b8001a40)

static struct pmp_maps *maps;

static void make_maps(void)
{
	struct pmp_module *module = pmp_module_new(1, PMP_MODULE_ANON, "");
	const struct pmp_region region = { CODE, CODE + (64 << 20), 0, module,
					   PMP_PROT_EXEC | PMP_PROT_READ };

	maps = pmp_maps_new();
	if (!maps || !module || pmp_maps_add_module(maps, module) ||
	    pmp_maps_add_region(maps, &region))
		abort();
}

static uint64_t state = 88172645463325252u;

static uint64_t any(uint64_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state % below;
}

/* ---- a course of events, made up -------------------------------------------------- */

#define SLOTS 12
#define PROCESSES 3

/* Of a process: what its threads do. */
struct actor {
	pid_t tid;
	bool there, away; /* away: for one sample only */
	uint64_t cpu, runs, reading;
	uint64_t pcs[4];
	size_t depth;
	char state;
	bool ready;
	enum pmp_end end;
	pid_t holder; /* it waits for; 0: it does not wait */
};

struct events {
	struct pmp_sample **samples; /* pid only, without maps: the process has ended */
	size_t count, capacity;
	bool breaks; /* threads are missed in some samples */
};

struct troupe {
	pid_t pid;
	const char *name;
	struct actor actors[SLOTS];
	pid_t next_tid;
};

static void run(struct actor *actor, const struct troupe *troupe)
{
	actor->runs += 1 + any(3);
	actor->reading++;
	actor->cpu += any(3) ? any(PERIOD) : 0;
	actor->depth = 1 + any(4);
	for (size_t i = 0; i < actor->depth; i++)
		actor->pcs[i] = CODE + 16 * (1 + any(6)) + 4096 * i;
	actor->state = any(2) ? 'R' : "SSDT"[any(4)];
	actor->ready = actor->state == 'R' && !any(3);
	actor->end = any(9) ? PMP_END_ROOT : PMP_END_DEPTH;
	actor->holder = 0;
	if (actor->state == 'S' && any(2))
		actor->holder = troupe->actors[any(SLOTS)].tid;
}

static void step(struct troupe *troupe, struct actor *actor, bool breaks)
{
	if (!actor->there && any(4))
		return;
	if (!actor->there) {
		*actor = (struct actor){ .there = true,
					 .cpu = 1,
					 .tid = troupe->next_tid++ };
		/* Some have an id that another one had. */
		if (breaks && !any(4))
			actor->tid = troupe->pid + (pid_t)(actor - troupe->actors);
	}
	if (!any(40)) {
		actor->there = false;
		return;
	}
	actor->away = breaks && !any(15);
	if (!actor->reading || any(2))
		run(actor, troupe);
	/* What it waits for may change hands while it sleeps. */
	else if (actor->holder && !any(3))
		actor->holder = troupe->actors[any(SLOTS)].tid;
}

static void put(struct pmp_sample *sample, const struct actor *actor, bool unchanged)
{
	struct pmp_thread *thread = pmp_sample_add_thread(sample);

	if (!thread)
		abort();
	for (size_t i = 0; i < actor->depth; i++) {
		const struct pmp_raw_frame frame = { actor->pcs[i], PMP_FRAME_EXACT };

		if (pmp_sample_add_frames(sample, &frame, 1))
			abort();
	}
	thread->tid = actor->tid;
	thread->state = actor->state;
	thread->ready = actor->ready;
	thread->syscall = actor->state == 'S' ? 7 : PMP_SYSCALL_UNKNOWN;
	thread->cpu = actor->cpu;
	thread->runs = actor->runs;
	thread->reading = actor->reading;
	thread->obtained = unchanged		 ? PMP_UNCHANGED
			   : actor->state == 'R' ? PMP_STOPPED
						 : PMP_PEEKED;
	thread->stopped = thread->obtained == PMP_STOPPED ? 1000 + any(100000) : 0;
	thread->end = actor->end;
	if (actor->holder)
		thread->wait =
			(struct pmp_wait){ .kind = PMP_WAIT_MUTEX,
					   .flags = PMP_WAIT_PROVEN,
					   .object = MUTEX + 64 * (uint64_t)actor->holder,
					   .holder = actor->holder,
					   .holder_is = PMP_HOLDER_THREAD };
	snprintf(thread->name, sizeof(thread->name), "worker-%d", (int)actor->tid % 5);
}

static struct pmp_sample *new_sample(pid_t pid, const char *name, uint64_t time)
{
	struct pmp_sample *sample = pmp_sample_new();

	if (!sample)
		abort();
	sample->pid = pid;
	sample->time = time;
	sample->realtime = time + 7 * S;
	snprintf(sample->name, sizeof(sample->name), "%s", name);
	return sample;
}

static void add_event(struct events *events, struct pmp_sample *sample)
{
	if (events->count == events->capacity) {
		events->capacity = 2 * events->capacity + 64;
		events->samples = realloc(events->samples,
					  events->capacity * sizeof(*events->samples));
		if (!events->samples)
			abort();
	}
	events->samples[events->count++] = sample;
}

static int by_tid(const void *a, const void *b)
{
	const struct actor *one = a, *other = b;

	return (one->tid > other->tid) - (one->tid < other->tid);
}

static void perform(struct events *events, struct troupe *troupe, uint64_t time)
{
	struct pmp_sample *sample = new_sample(troupe->pid, troupe->name, time);
	struct actor actors[SLOTS];
	pid_t last = 0;

	sample->maps = pmp_maps_ref(maps);
	sample->vanished = any(9) ? 0 : any(3);
	for (size_t i = 0; i < SLOTS; i++) {
		struct actor *actor = &troupe->actors[i];
		const uint64_t reading = actor->there ? actor->reading : 0;

		step(troupe, actor, events->breaks);
		actors[i] = *actor;
		/* Of a sorted copy: what has not run. */
		actors[i].away = actor->away || !actor->there;
		actors[i].there = reading && reading == actor->reading;
	}
	qsort(actors, SLOTS, sizeof(*actors), by_tid);
	for (size_t i = 0; i < SLOTS; i++) {
		if (actors[i].away || actors[i].tid == last)
			continue;
		last = actors[i].tid;
		put(sample, &actors[i], actors[i].there);
		sample->any_stopped += sample->threads[sample->thread_count - 1].stopped;
	}
	add_event(events, sample);
}

/* breaks: threads are missed now and then, and processes end. */
static struct events make_events(size_t snapshots, bool breaks)
{
	struct events events = { .breaks = breaks };
	struct troupe troupes[PROCESSES] = { { .pid = 100, .name = "server" },
					     { .pid = 200, .name = "server" },
					     { .pid = 300, .name = "client" } };

	for (size_t k = 0; k < PROCESSES; k++)
		troupes[k].next_tid = troupes[k].pid + SLOTS;
	for (size_t i = 0; i < snapshots; i++) {
		for (size_t k = 0; k < PROCESSES; k++) {
			if (breaks && !any(30))
				continue; /* not sampled */
			perform(&events, &troupes[k], START + i * PERIOD + k * MS);
			if (!breaks || any(100))
				continue;
			/* Its id goes to another process. */
			add_event(&events, new_sample(troupes[k].pid, "", 0));
			memset(troupes[k].actors, 0, sizeof(troupes[k].actors));
			troupes[k].name = any(2) ? "server" : "client";
		}
	}
	return events;
}

static void free_events(struct events *events)
{
	for (size_t i = 0; i < events->count; i++)
		pmp_sample_free(events->samples[i]);
	free(events->samples);
}

/* ---- profiles ---------------------------------------------------------------------- */

static struct saved new_profile(const struct pmp_profile_options *like)
{
	struct pmp_profile_options options = *like;
	struct saved saved = { 0 };

	options.size = sizeof(options);
	if (pmp_symbolizer_new(NULL, &saved.symbolizer, NULL) ||
	    pmp_profile_new(&options, saved.symbolizer, &saved.profile, NULL))
		abort();
	return saved;
}

static const struct pmp_profile_options detailed = { .details = true,
						     .waits = true,
						     .times = true,
						     .period = PERIOD,
						     .command = "pmp -p 100",
						     .host = "db1",
						     .history = 64 << 20 };

static void play(struct pmp_profile *profile, const struct events *events, size_t from,
		 size_t to)
{
	for (size_t i = from; i < to; i++) {
		const struct pmp_sample *sample = events->samples[i];

		if (!sample->time)
			pmp_profile_forget(profile, sample->pid);
		else if (pmp_profile_add(profile, sample, NULL))
			abort();
	}
}

static struct pmp_profile *cut(const struct saved *saved, uint64_t from, uint64_t to)
{
	const struct pmp_window_options options = {
		.size = sizeof(options),
		.from = from,
		.to = to,
		.details = true,
		.waits = true,
		.times = true,
	};
	struct pmp_profile *window;

	if (pmp_profile_window(saved->profile, &options, &window, NULL, NULL) ||
	    pmp_profile_divide_cpu(window))
		abort();
	return window;
}

static struct pmp_profile *cut_of(const struct saved *saved, pid_t pid,
				  const char *process, struct pmp_covered *covered)
{
	const struct pmp_window_options options = {
		.size = sizeof(options),
		.pid = pid,
		.process = process,
		.details = true,
		.waits = true,
	};
	struct pmp_profile *window;

	covered->size = sizeof(*covered);
	if (pmp_profile_window(saved->profile, &options, &window, covered, NULL) ||
	    pmp_profile_divide_cpu(window))
		abort();
	return window;
}

static struct pmp_profile_info info_of(const struct pmp_profile *profile)
{
	struct pmp_profile_info info = { .size = sizeof(info) };

	pmp_profile_info(profile, &info);
	return info;
}

/* ---- what profiles have counted, as numbers by stack --------------------------------- */

enum { COUNT, RUNNING, WALL, CPU, CONTENTIONS, HELD_CONTENTIONS, HELD_DELAY, VALUES };

struct sums {
	struct pmp_intern *keys;
	struct {
		int64_t values[VALUES];
	} * all;
	size_t capacity;
	bool by_thread; /* not by stack */
};

static size_t key_of(const struct pmp_entry *entry, bool by_thread, char *key,
		     size_t size)
{
	const struct pmp_lock *lock = entry->waits ? entry->waits->lock : NULL;
	int length = snprintf(key, size, "%d %d", (int)entry->pid, (int)entry->tid);

	if (by_thread)
		return (size_t)length;
	length += snprintf(key + length, size - (size_t)length,
			   " %s %s %s %s %s %d %c %d %d %" PRIx64, entry->process,
			   entry->thread, entry->syscall, entry->wchan, entry->reason,
			   entry->end, entry->state, lock ? lock->kind : -1,
			   lock ? (int)lock->holder : 0, lock ? lock->address : 0);
	for (size_t i = 0; i < entry->location_count; i++)
		length += snprintf(key + length, size - (size_t)length, " %u",
				   (unsigned)entry->locations[i]);
	return (size_t)length;
}

/* Add what a profile has, times a factor. */
static void sum_up(struct sums *sums, const struct pmp_profile *profile, int64_t factor)
{
	if (!sums->keys)
		sums->keys = pmp_intern_new();
	for (size_t i = 0; i < pmp_profile_entry_count(profile); i++) {
		const struct pmp_entry *entry = pmp_profile_entry(profile, i);
		char key[1024];
		size_t length = key_of(entry, sums->by_thread, key, sizeof(key));
		size_t count = pmp_intern_count(sums->keys);
		uint32_t id = pmp_intern(sums->keys, key, length);
		const uint64_t values[VALUES] = {
			entry->count,
			entry->running,
			entry->wall,
			entry->cpu,
			entry->waits ? entry->waits->contentions : 0,
			entry->waits ? entry->waits->held_contentions : 0,
			entry->waits ? entry->waits->held_delay : 0,
		};

		if (id >= sums->capacity) {
			sums->capacity = 2 * id + 64;
			sums->all =
				realloc(sums->all, sums->capacity * sizeof(*sums->all));
			if (!sums->all)
				abort();
		}
		if (id == count)
			memset(&sums->all[id], 0, sizeof(*sums->all));
		for (int k = 0; k < VALUES; k++)
			sums->all[id].values[k] += factor * (int64_t)values[k];
	}
}

/* How many of them are not 0; but: not that value. */
static size_t differing(const struct sums *sums, int but)
{
	size_t count = 0;

	for (size_t i = 0; i < pmp_intern_count(sums->keys); i++)
		for (int k = 0; k < VALUES; k++) {
			if (k == but || !sums->all[i].values[k])
				continue;
			if (!count++)
				diag("%s: value %d differs by %" PRId64,
				     (const char *)pmp_intern_data(sums->keys,
								   (uint32_t)i, NULL),
				     k, sums->all[i].values[k]);
		}
	return count;
}

static void free_sums(struct sums *sums)
{
	pmp_intern_free(sums->keys);
	free(sums->all);
	*sums = (struct sums){ .by_thread = sums->by_thread };
}

static uint64_t total(const struct pmp_profile *profile, int value)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < pmp_profile_entry_count(profile); i++) {
		const struct pmp_entry *entry = pmp_profile_entry(profile, i);

		sum += value == COUNT ? entry->count
		       : value == CPU ? entry->cpu
				      : entry->wall;
	}
	return sum;
}

/* ---- tests --------------------------------------------------------------------------- */

static void is_info(const struct pmp_profile *window, const struct pmp_profile *profile,
		    const char *what)
{
	const struct pmp_profile_info one = info_of(window), other = info_of(profile);

	ok(memcmp(&one, &other, sizeof(one)) == 0, "%s: all totals", what);
	if (memcmp(&one, &other, sizeof(one)) == 0)
		return;
	for (size_t i = 1; i < sizeof(one) / sizeof(uint64_t); i++)
		if (((const uint64_t *)&one)[i] != ((const uint64_t *)&other)[i])
			diag("number %zu: %" PRIu64 ", not %" PRIu64, i,
			     ((const uint64_t *)&one)[i], ((const uint64_t *)&other)[i]);
}

static void is_same(const struct pmp_profile *window, const struct pmp_profile *profile,
		    const char *what)
{
	struct sums sums = { 0 };

	sum_up(&sums, window, 1);
	sum_up(&sums, profile, -1);
	is_int(differing(&sums, -1), 0, "%s: %zu stacks, all values", what,
	       pmp_intern_count(sums.keys));
	free_sums(&sums);
}

static void is_same_file(struct pmp_profile *window, struct pmp_profile *profile,
			 const char *format)
{
	struct saved one = { .profile = window }, other = { .profile = profile };
	struct pmp_buf text = saved_write(&one, format, NULL);
	struct pmp_buf expected = saved_write(&other, format, NULL);

	ok(text.length == expected.length &&
		   memcmp(text.data, expected.data, text.length) == 0,
	   "%s: %zu bytes, the same", format, text.length);
	pmp_buf_free(&text);
	pmp_buf_free(&expected);
}

/* All of the past is what was counted, whatever has happened. */
static void test_all(void)
{
	struct saved saved = new_profile(&detailed);
	struct events events = make_events(400, true);
	struct pmp_profile *window;
	struct pmp_profile_metadata metadata = { .size = sizeof(metadata) };
	struct pmp_profile_metadata expected = { .size = sizeof(expected) };

	play(saved.profile, &events, 0, events.count);
	if (pmp_profile_divide_cpu(saved.profile))
		abort();
	window = cut(&saved, 0, 0);
	is_same(window, saved.profile, "all of the past");
	is_info(window, saved.profile, "all of the past");
	pmp_profile_describe(window, &metadata);
	pmp_profile_describe(saved.profile, &expected);
	is_int(metadata.realtime, expected.realtime, "its time of day");
	is_int(metadata.duration, expected.duration, "its duration");
	is_int(metadata.period, PERIOD, "its period");
	is_str(metadata.command, "pmp -p 100", "its command");
	is_str(metadata.host, "db1", "its host");
	for (size_t i = 0; i < pmp_format_count(); i++)
		if (saved_format(i))
			is_same_file(window, saved.profile, pmp_format(i)->name);
	pmp_profile_free(window);
	saved_free(&saved);
	free_events(&events);
}

static void test_rounds(void)
{
	struct saved saved = new_profile(&detailed);
	struct events events = make_events(200, false);
	struct pmp_covered covered;
	struct pmp_profile *window;

	play(saved.profile, &events, 0, events.count);
	is_int(info_of(saved.profile).samples, 3 * 200, "snapshots of all processes");
	is_int(info_of(saved.profile).rounds, 200,
	       "rounds: each has one of each process");
	window = cut(&saved, START + 50 * PERIOD, START + 100 * PERIOD);
	is_int(info_of(window).samples, 3 * 50, "snapshots in a window");
	is_int(info_of(window).rounds, 50, "and rounds");
	pmp_profile_free(window);
	window = cut_of(&saved, 200, NULL, &covered);
	is_int(covered.rounds, 200, "rounds of one process are its snapshots");
	is_int(covered.samples, 200, "of which there are as many");
	pmp_profile_free(window);
	saved_free(&saved);
	free_events(&events);
}

/* Windows that touch, stack by stack; and their CPU time by thread. */
static void test_adding_up(void)
{
	struct saved saved = new_profile(&detailed);
	struct events events = make_events(600, true);
	size_t bad = 0, bad_cpu = 0;

	play(saved.profile, &events, 0, events.count);
	for (int i = 0; i < 40; i++) {
		const uint64_t a = START + any(200) * PERIOD + any(PERIOD);
		const uint64_t b = a + any(200) * PERIOD;
		const uint64_t c = b + any(200) * PERIOD + any(PERIOD);
		struct pmp_profile *first = cut(&saved, a, b),
				   *second = cut(&saved, b, c);
		struct pmp_profile *both = cut(&saved, a, c);
		struct sums sums = { 0 }, threads = { .by_thread = true };

		/* Up to 0 is up to the end: here it is nothing. */
		sum_up(&sums, first, 1);
		sum_up(&sums, second, 1);
		sum_up(&sums, both, -1);
		bad += differing(&sums, CPU);
		sum_up(&threads, first, 1);
		sum_up(&threads, second, 1);
		sum_up(&threads, both, -1);
		bad_cpu += differing(&threads, -1);
		bad += info_of(first).samples + info_of(second).samples !=
		       info_of(both).samples;
		bad += info_of(first).stacks + info_of(second).stacks !=
		       info_of(both).stacks;
		bad += info_of(both).stacks != total(both, COUNT);
		free_sums(&sums);
		free_sums(&threads);
		pmp_profile_free(first);
		pmp_profile_free(second);
		pmp_profile_free(both);
	}
	is_int(bad, 0, "40 times two windows that touch are the one over both");
	is_int(bad_cpu, 0, "so is the CPU time of each thread");
	saved_free(&saved);
	free_events(&events);
}

/* The same samples, counted by a profile of their own: its first one only begins. */
static void test_direct(void)
{
	struct saved saved = new_profile(&detailed);
	struct events events = make_events(300, false);
	struct pmp_profile_options options = detailed;
	size_t bad = 0;

	options.size = sizeof(options);
	options.history = 0;
	play(saved.profile, &events, 0, events.count);
	for (int i = 0; i < 20; i++) {
		const size_t from = any(200), to = from + 1 + any(90);
		struct pmp_profile *direct, *first, *window;
		struct sums sums = { 0 }, threads = { .by_thread = true };

		if (pmp_profile_new(&options, saved.symbolizer, &direct, NULL) ||
		    pmp_profile_new(&options, saved.symbolizer, &first, NULL))
			abort();
		play(direct, &events, from * PROCESSES, (to + 1) * PROCESSES);
		play(first, &events, from * PROCESSES, (from + 1) * PROCESSES);
		if (pmp_profile_divide_cpu(direct))
			abort();
		window = cut(&saved, START + from * PERIOD + PERIOD / 2,
			     START + to * PERIOD + PERIOD / 2);
		sum_up(&sums, direct, 1);
		sum_up(&sums, first, -1);
		sum_up(&sums, window, -1);
		bad += differing(&sums, CPU);
		sum_up(&threads, direct, 1);
		sum_up(&threads, first, -1);
		sum_up(&threads, window, -1);
		bad += differing(&threads, -1);
		bad += info_of(direct).stops - info_of(first).stops !=
		       info_of(window).stops;
		bad += info_of(direct).truncated - info_of(first).truncated !=
		       info_of(window).truncated;
		free_sums(&sums);
		free_sums(&threads);
		pmp_profile_free(direct);
		pmp_profile_free(first);
		pmp_profile_free(window);
	}
	is_int(bad, 0, "20 windows are what a profile counts over the same samples");
	saved_free(&saved);
	free_events(&events);
}

/* ---- the windows of a view --------------------------------------------------------------- */

/* How often a thread was found with a stack in a state, and for how long it waited. */
struct finds {
	struct pmp_intern *keys;
	int64_t counts[1 << 16], waited[1 << 16];
	size_t impossible; /* more time than samples */
};

static void add_finds(struct finds *finds, const char *who, const pmp_location *locations,
		      size_t count, int64_t found, int64_t waited)
{
	char key[256];
	int length = snprintf(key, sizeof(key), "%s", who);
	uint32_t id;

	for (size_t i = 0; i < count; i++)
		length += snprintf(key + length, sizeof(key) - (size_t)length, " %u",
				   (unsigned)locations[i]);
	if (!finds->keys)
		finds->keys = pmp_intern_new();
	id = pmp_intern(finds->keys, key, (size_t)length);
	if (id >= sizeof(finds->counts) / sizeof(*finds->counts))
		abort();
	finds->counts[id] += found;
	finds->waited[id] += waited;
}

static void add_view(struct finds *finds, const struct pmp_live *live,
		     enum pmp_window window)
{
	for (size_t i = 0; i < pmp_live_counter_count(live); i++) {
		struct pmp_live_counter counter = { .size = sizeof(counter) };
		struct pmp_live_thread thread = { .size = sizeof(thread) };
		struct pmp_live_process process = { .size = sizeof(process) };
		struct pmp_live_stack stack = { .size = sizeof(stack) };
		char who[128];

		pmp_live_counter(live, i, window, &counter);
		pmp_live_thread(live, counter.thread, &thread);
		pmp_live_process(live, thread.process, window, &process);
		pmp_live_stack(live, counter.stack, &stack);
		finds->impossible += counter.delay > counter.count * PERIOD;
		snprintf(who, sizeof(who), "%d %d %c %s", (int)process.pid,
			 (int)thread.tid, counter.state, stack.end);
		add_finds(finds, who, stack.locations, stack.count,
			  (int64_t)counter.count, (int64_t)counter.delay);
	}
}

static void take_window(struct finds *finds, const struct pmp_profile *window)
{
	for (size_t i = 0; i < pmp_profile_entry_count(window); i++) {
		const struct pmp_entry *entry = pmp_profile_entry(window, i);
		const bool waits = entry->waits && entry->waits->lock;
		char who[128];

		if (!entry->count)
			continue;
		snprintf(who, sizeof(who), "%d %d %c %s", (int)entry->pid,
			 (int)entry->tid, entry->state,
			 entry->end == PMP_END_ROOT ? "" : pmp_end_text(entry->end));
		add_finds(finds, who, entry->locations, entry->location_count,
			  -(int64_t)entry->count, waits ? -(int64_t)entry->wall : 0);
	}
}

/* How many of them are not 0. A view has no time for the first sample of a thread, so of
 * times it may have less; unless some are missed. */
static size_t differing_finds(const struct finds *finds, bool breaks)
{
	size_t count = breaks ? 0 : finds->impossible;

	for (size_t i = 0; i < pmp_intern_count(finds->keys); i++) {
		if (!finds->counts[i] && (breaks || finds->waited[i] <= 0))
			continue;
		if (!count++)
			diag("%s: %" PRId64 " too many, for %" PRId64 " ns",
			     (const char *)pmp_intern_data(finds->keys, (uint32_t)i,
							   NULL),
			     finds->counts[i], finds->waited[i]);
	}
	return count;
}

/* Is a window of the view the one of the past that ends now? */
static bool is_past(const struct saved *saved, enum pmp_window window, uint64_t length,
		    bool breaks)
{
	const struct pmp_live *live = pmp_profile_live(saved->profile);
	struct pmp_live_window counted = { .size = sizeof(counted) };
	const uint64_t now = info_of(saved->profile).last_time;
	struct pmp_profile *past = cut(saved, now - length - 1, 0);
	struct finds *finds = calloc(1, sizeof(*finds));
	size_t differ;

	if (!finds)
		abort();
	pmp_live_window(live, window, &counted);
	add_view(finds, live, window);
	take_window(finds, past);
	differ = differing_finds(finds, breaks);
	differ += counted.samples != info_of(past).samples;
	differ += counted.stacks != info_of(past).stacks;
	pmp_intern_free(finds->keys);
	free(finds);
	pmp_profile_free(past);
	return !differ;
}

static void test_view(bool breaks)
{
	struct pmp_profile_options options = detailed;
	struct events events = make_events(1500, breaks);
	struct saved saved;
	size_t bad = 0, times = 0;

	options.live = true;
	saved = new_profile(&options);
	for (size_t i = 0; i < events.count; i++) {
		play(saved.profile, &events, i, i + 1);
		if (i % 50)
			continue;
		bad += !is_past(&saved, PMP_WINDOW_SECONDS, 10 * S, breaks);
		bad += !is_past(&saved, PMP_WINDOW_MINUTE, 60 * S, breaks);
		times++;
	}
	is_int(bad, 0, "%zu times the view's windows are those of the past%s", times,
	       breaks ? ", with breaks" : "");
	saved_free(&saved);
	free_events(&events);
}

/* ---- of some processes ---------------------------------------------------------------- */

static void test_processes(void)
{
	struct saved saved = new_profile(&detailed);
	struct events events = make_events(200, true);
	struct sums sums = { 0 }, names = { 0 };
	struct pmp_covered covered, all = { .size = sizeof(all) };
	struct pmp_profile *window;
	uint64_t samples = 0, named = 0;

	play(saved.profile, &events, 0, events.count);
	if (pmp_profile_divide_cpu(saved.profile))
		abort();
	for (pid_t pid = 100; pid <= 300; pid += 100) {
		window = cut_of(&saved, pid, NULL, &covered);
		sum_up(&sums, window, 1);
		samples += covered.samples;
		pmp_profile_free(window);
	}
	sum_up(&sums, saved.profile, -1);
	is_int(differing(&sums, -1), 0, "what processes have adds up");
	is_int(samples, info_of(saved.profile).samples, "so do their samples");
	for (int i = 0; i < 2; i++) {
		window = cut_of(&saved, 0, i ? "server" : "client", &covered);
		sum_up(&names, window, 1);
		named += covered.samples;
		is_int(info_of(window).stacks, total(window, COUNT),
		       "%s: its threads only", i ? "server" : "client");
		pmp_profile_free(window);
	}
	sum_up(&names, saved.profile, -1);
	/* With one id two processes had two names: their time is not divided alike. */
	is_int(differing(&names, CPU), 0, "what processes of each name have as well");
	is_int(named, samples, "and their samples");
	window = cut_of(&saved, 0, "nobody", &covered);
	is_int(pmp_profile_entry_count(window) + covered.samples + covered.to, 0,
	       "of a name that no process has there is nothing");
	pmp_profile_free(window);
	window = cut_of(&saved, 999, NULL, &covered);
	is_int(pmp_profile_entry_count(window), 0, "nor of a process that there is not");
	pmp_profile_free(window);
	ok(pmp_profile_history(saved.profile, &all) && all.samples == samples,
	   "the past has all samples");
	free_sums(&sums);
	free_sums(&names);
	saved_free(&saved);
	free_events(&events);
}

/* ---- bounded ---------------------------------------------------------------------------- */

/* The oldest goes; what is left is what it was. */
/* One that is late, one that has ended: the threads of each last sample, once. */
static void test_last(void)
{
	struct saved saved = new_profile(&detailed);
	struct events events = make_events(40, false);
	const struct pmp_window_options options = { .size = sizeof(options),
						    .from = START + 20 * PERIOD,
						    .last = true };
	struct pmp_covered covered = { .size = sizeof(covered) };
	struct pmp_profile *window;
	uint64_t threads;

	/* 100 is late, 200 ends at last. */
	for (size_t i = 0; i < events.count; i++) {
		if (events.samples[i]->pid != 100 || i < events.count / 4 * 3)
			play(saved.profile, &events, i, i + 1);
	}
	threads = events.samples[(events.count / 4 * 3 - 1) / 3 * 3]->thread_count;
	threads += events.samples[events.count - 1]->thread_count;
	pmp_profile_forget(saved.profile, 200);
	if (pmp_profile_window(saved.profile, &options, &window, &covered, NULL))
		abort();
	is_int(covered.samples, 2, "the last samples: of each process that is there");
	is_int(total(window, COUNT), threads, "with its threads");
	is_int(info_of(window).stacks, threads, "once");
	pmp_profile_free(window);
	saved_free(&saved);
	free_events(&events);
}

static void test_bounded(void)
{
	const uint64_t bytes = 256 << 10;
	struct pmp_profile_options small = detailed, brief = detailed;
	struct saved saved = new_profile(&detailed), bounded, short_one;
	struct events events = make_events(3000, true);
	struct pmp_covered covered = { .size = sizeof(covered) };
	struct pmp_profile *window, *expected;
	uint64_t most = 0;

	small.history = bytes;
	brief.history_time = 60 * S;
	bounded = new_profile(&small);
	short_one = new_profile(&brief);
	play(saved.profile, &events, 0, events.count);
	play(short_one.profile, &events, 0, events.count);
	for (size_t i = 0; i < events.count; i++) {
		play(bounded.profile, &events, i, i + 1);
		if (pmp_profile_history(bounded.profile, &covered) &&
		    covered.memory > most)
			most = covered.memory;
	}
	ok(most < bytes + bytes / 8, "at most %" PRIu64 " of %" PRIu64 " bytes", most,
	   bytes);
	is_int(covered.to, info_of(bounded.profile).last_time, "it ends with the last");
	ok(covered.from > START + 30 * S && covered.from < covered.to - 30 * S,
	   "and reaches back %" PRIu64 " s of 300", (covered.to - covered.from) / S);
	window = cut(&bounded, 0, 0);
	is_int(info_of(window).first_time, covered.from,
	       "the oldest window begins there");
	is_int(info_of(window).samples, covered.samples, "and has all its samples");
	pmp_profile_free(window);
	window = cut(&bounded, covered.from + 10 * S, covered.to - 5 * S);
	expected = cut(&saved, covered.from + 10 * S, covered.to - 5 * S);
	is_same(window, expected, "a window of what is left");
	pmp_profile_free(window);
	pmp_profile_free(expected);
	if (!pmp_profile_history(short_one.profile, &covered))
		abort();
	ok(covered.to - covered.from >= 60 * S && covered.to - covered.from < 72 * S,
	   "of 60 s that were wanted there are %" PRIu64,
	   (covered.to - covered.from) / S);
	saved_free(&saved);
	saved_free(&bounded);
	saved_free(&short_one);
	free_events(&events);
}

/* Threads that do not run add nothing. */
static void test_idle(void)
{
	const size_t threads = 500, snapshots = 3000; /* 300 s */
	struct saved saved = new_profile(&detailed);
	struct pmp_covered covered = { .size = sizeof(covered) };
	struct pmp_profile *window;

	for (size_t i = 0; i < snapshots; i++) {
		struct pmp_sample *sample = new_sample(100, "server", START + i * PERIOD);
		const struct actor sleeper = { .state = 'S',
					       .depth = 1,
					       .pcs = { CODE + 16 },
					       .reading = 1,
					       .runs = 1,
					       .cpu = 5 };

		sample->maps = pmp_maps_ref(maps);
		for (size_t k = 0; k < threads; k++) {
			struct actor actor = sleeper;

			actor.tid = (pid_t)(100 + k);
			put(sample, &actor, i > 0);
		}
		saved_add(&saved, sample);
	}
	if (!pmp_profile_history(saved.profile, &covered))
		abort();
	ok(covered.memory < (30 * threads + 3 * snapshots) * 24,
	   "%zu threads that sleep: %" PRIu64 " bytes for %zu samples", threads,
	   covered.memory, snapshots);
	window = cut(&saved, START + 100 * S, START + 200 * S);
	is_int(total(window, COUNT), threads * 1000, "they are counted all the same");
	is_int(total(window, WALL), threads * 100 * S, "with their time");
	is_int(total(window, CPU), 0, "and no CPU time");
	pmp_profile_free(window);
	saved_free(&saved);
}

/* ---- eviction --------------------------------------------------------------------------- */

/* Ever new code in ever new mappings, by one thread; another one does the same for ever. */
static struct pmp_sample *new_code(uint64_t number)
{
	struct pmp_module *module = pmp_module_new(1, PMP_MODULE_ANON, "");
	const uint64_t base = CODE + ((1 + number / 1000) << 24);
	const struct pmp_region regions[] = {
		{ CODE, CODE + 4096, 0, module, PMP_PROT_EXEC | PMP_PROT_READ },
		{ base, base + (1 << 24), 0, module, PMP_PROT_EXEC | PMP_PROT_READ },
	};
	struct pmp_sample *sample = new_sample(10, "jit", START + number * PERIOD);
	struct actor always = { .tid = 11,
				.state = 'R',
				.depth = 2,
				.runs = number,
				.pcs = { CODE + 16, CODE + 32 },
				.cpu = 1 + number * MS };
	struct actor other = { .tid = 12,
			       .state = 'R',
			       .depth = 4,
			       .runs = number,
			       .cpu = 1 + 3 * number * MS };

	sample->maps = pmp_maps_new();
	if (!module || !sample->maps || pmp_maps_add_module(sample->maps, module) ||
	    pmp_maps_add_region(sample->maps, &regions[0]) ||
	    pmp_maps_add_region(sample->maps, &regions[1]))
		abort();
	for (size_t i = 0; i < other.depth; i++)
		other.pcs[i] = base + any(1 << 24);
	put(sample, &always, false);
	put(sample, &other, false);
	return sample;
}

static void test_evicted(void)
{
	const struct pmp_profile_options options = {
		.details = true, .waits = true, .max_memory = 4 << 20, .history = 8 << 20
	};
	const uint64_t snapshots = 60000;
	struct saved saved = new_profile(&options);
	struct pmp_covered covered = { .size = sizeof(covered) };
	struct pmp_profile *window;
	size_t bad = 0, evicted = 0;
	uint64_t samples, always = 0;

	for (uint64_t i = 0; i < snapshots; i++) {
		saved_add(&saved, new_code(i));
		if (i % 1000)
			continue;
		window = cut(&saved, START + any(i + 1) * PERIOD, 0);
		samples = info_of(window).samples;
		bad += total(window, COUNT) != 2 * samples;
		bad += total(window, CPU) != 4 * MS * (samples);
		bad += total(window, WALL) != 2 * PERIOD * (samples);
		evicted += info_of(window).evicted > 0;
		pmp_profile_free(window);
	}
	ok(info_of(saved.profile).evicted > 10000 && evicted > 10,
	   "%" PRIu64 " stacks are evicted, some of %zu windows",
	   info_of(saved.profile).evicted, evicted);
	is_int(bad, 0, "all windows have all samples, times and CPU times");
	ok(pmp_symbolizer_location_count(saved.symbolizer) < 100000,
	   "numbers of locations are used again: %zu",
	   pmp_symbolizer_location_count(saved.symbolizer));
	if (!pmp_profile_history(saved.profile, &covered))
		abort();
	window = cut(&saved, 0, 0);
	for (size_t i = 0; i < pmp_profile_entry_count(window); i++)
		if (pmp_profile_entry(window, i)->tid == 11)
			always += pmp_profile_entry(window, i)->cpu;
	is_int(always, MS * (covered.samples - 1),
	       "the thread that is always the same has its own");
	for (size_t i = 0; i < pmp_profile_entry_count(window); i++) {
		const struct pmp_entry *entry = pmp_profile_entry(window, i);

		if (entry->end == PMP_END_EVICTED)
			ok(entry->cpu / entry->count == 3 * MS - 1 ||
				   entry->cpu / entry->count == 3 * MS ||
				   entry->cpu / entry->count / 1000 == 2999,
			   "%" PRIu64 " that were evicted have %" PRIu64 " ns each",
			   entry->count, entry->cpu / entry->count);
	}
	pmp_profile_free(window);
	saved_free(&saved);
}

/* What is in the past stays, though stacks of long ago were counted more often. */
static void test_recent(void)
{
	const struct pmp_profile_options options = { .details = true,
						     .waits = true,
						     .max_memory = 4 << 20,
						     .history = 128 << 10 };
	struct saved saved = new_profile(&options);
	size_t evicted = 0;

	for (uint64_t i = 0; i < 20000; i++) {
		struct pmp_sample *sample = new_code(i);
		struct pmp_profile *window;

		/* 3000 stacks come again and again, then never more. */
		for (size_t k = 0; i < 9000 && k < 4; k++)
			sample->frames[2 + k].pc = CODE + ((i + 1 + k) % 3000);
		saved_add(&saved, sample);
		if (i % 100)
			continue;
		window = cut(&saved, START + (i > 200 ? i - 200 : 0) * PERIOD, 0);
		evicted += info_of(window).evicted > 0;
		pmp_profile_free(window);
	}
	ok(info_of(saved.profile).evicted > 3000, "%" PRIu64 " stacks are evicted",
	   info_of(saved.profile).evicted);
	is_int(evicted, 0, "none of the last 200 samples, at any time");
	saved_free(&saved);
}

static void test_none(void)
{
	struct pmp_profile_options options = detailed;
	const struct pmp_window_options window_options = { .size = sizeof(
								   window_options) };
	struct pmp_covered covered = { .size = sizeof(covered) };
	struct pmp_profile *window;
	struct saved saved = new_profile(&detailed);

	ok(!pmp_profile_history(saved.profile, &covered), "at first there is no past");
	is_int(pmp_profile_window(saved.profile, &window_options, &window, &covered,
				  NULL),
	       0, "a window of it");
	is_int(pmp_profile_entry_count(window) + covered.samples, 0, "is empty");
	pmp_profile_free(window);
	saved_free(&saved);
	options.history = 0;
	saved = new_profile(&options);
	is_int(pmp_profile_window(saved.profile, &window_options, &window, NULL, NULL),
	       PMP_EINVAL, "there is none of a profile that does not keep its past");
	ok(!window && !pmp_profile_history(saved.profile, &covered), "which it says");
	saved_free(&saved);
}

int main(void)
{
	make_maps();
	test_none();
	test_rounds();
	test_all();
	test_adding_up();
	test_direct();
	test_view(false);
	test_view(true);
	test_processes();
	test_last();
	test_bounded();
	test_idle();
	test_evicted();
	test_recent();
	pmp_maps_unref(maps);
	return done_testing();
}
