/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CPU time stands where it was spent: what a thread has used is divided among the stacks
 * that it was found running with, whatever it did when it was found asleep. Sums are
 * exact to the nanosecond.
 */
#include <inttypes.h>

#include "lib/saved.h"
#include "lib/tap.h"
#include "sample.h"

#define MS UINT64_C(1000000)
#define CODE UINT64_C(0x7f0000000000)
#define PERIOD (100 * MS)

enum { HOT = 16, WARM = 32, COLD = 48, POLL = 64 }; /* where the functions are */

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

static struct saved new_detailed(void)
{
	return new_profile(&(struct pmp_profile_options){ .details = true });
}

/* ---- samples ----------------------------------------------------------------------- */

/* Snapshot number of process 10, without threads. */
static struct pmp_sample *snapshot(uint64_t number)
{
	struct pmp_sample *sample = pmp_sample_new();

	if (!sample)
		abort();
	sample->pid = 10;
	sample->time = sample->realtime = PERIOD * (10 + number);
	sample->maps = pmp_maps_ref(maps);
	strcpy(sample->name, "server");
	return sample;
}

/* A thread of it in a function, in state R or S, that has used so much so far. */
static void put(struct pmp_sample *sample, pid_t tid, uint64_t function, char state,
		uint64_t cpu)
{
	struct pmp_thread *thread = pmp_sample_add_thread(sample);
	const struct pmp_raw_frame frame = { CODE + function, PMP_FRAME_EXACT };

	if (!thread || pmp_sample_add_frames(sample, &frame, 1))
		abort();
	thread->tid = tid;
	thread->state = state;
	thread->obtained = PMP_STOPPED;
	thread->syscall = state == 'S' ? 7 : PMP_SYSCALL_UNKNOWN;
	thread->cpu = cpu;
	snprintf(thread->name, sizeof(thread->name), "worker-%d", (int)tid);
}

static void add(struct saved *saved, struct pmp_sample *sample)
{
	if (pmp_profile_add(saved->profile, sample, NULL))
		abort();
	pmp_sample_free(sample);
}

/* A snapshot with one thread. */
static void find(struct saved *saved, uint64_t number, uint64_t function, char state,
		 uint64_t cpu)
{
	struct pmp_sample *sample = snapshot(number);

	put(sample, 11, function, state, cpu);
	add(saved, sample);
}

/* ---- results ----------------------------------------------------------------------- */

static void divide(struct saved *saved)
{
	is_int(pmp_profile_divide_cpu(saved->profile), 0, "the CPU time is divided");
}

/* Where an entry's innermost frame is; 0: it has none. */
static uint64_t function_of(const struct saved *saved, const struct pmp_entry *entry)
{
	struct pmp_first_address origin;

	if (!entry->location_count)
		return 0;
	pmp_symbolizer_first_address(saved->symbolizer, entry->locations[0], &origin);
	return origin.pc - CODE;
}

/* CPU time of all entries in a function, 0: of those without a stack. */
static uint64_t cpu_of(const struct saved *saved, uint64_t function)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < pmp_profile_entry_count(saved->profile); i++) {
		const struct pmp_entry *entry = pmp_profile_entry(saved->profile, i);

		if (function_of(saved, entry) == function)
			sum += entry->cpu;
	}
	return sum;
}

static uint64_t cpu_of_all(const struct saved *saved)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < pmp_profile_entry_count(saved->profile); i++)
		sum += pmp_profile_entry(saved->profile, i)->cpu;
	return sum;
}

/* The entry of time between snapshots; NULL: there is none. */
static const struct pmp_entry *between_of(const struct saved *saved)
{
	for (size_t i = 0; i < pmp_profile_entry_count(saved->profile); i++)
		if (pmp_profile_entry(saved->profile, i)->end == PMP_END_BETWEEN)
			return pmp_profile_entry(saved->profile, i);
	return NULL;
}

/* ---- tests ------------------------------------------------------------------------- */

/* Seven tenths of its time a thread sleeps; 80 ms of CPU time between any two. */
static void count_example(struct saved *saved)
{
	static const struct {
		uint64_t function;
		char state;
	} finds[] = {
		{ POLL, 'S' }, { HOT, 'R' },  { POLL, 'S' }, { HOT, 'R' },
		{ POLL, 'S' }, { HOT, 'R' },  { POLL, 'S' }, { WARM, 'R' },
		{ POLL, 'S' }, { POLL, 'S' }, { POLL, 'S' },
	};

	for (size_t i = 0; i < sizeof(finds) / sizeof(*finds); i++)
		find(saved, i, finds[i].function, finds[i].state,
		     1000 * MS + 80 * MS * i);
}

static void test_divided(void)
{
	struct saved saved = new_detailed();

	count_example(&saved);
	divide(&saved);
	is_int(cpu_of(&saved, HOT), 600 * MS,
	       "three of four running finds: 3/4 of 800 ms");
	is_int(cpu_of(&saved, WARM), 200 * MS, "one of four: 1/4");
	is_int(cpu_of(&saved, POLL), 0, "none where it was found asleep");
	ok(!between_of(&saved), "and none between the snapshots");
	divide(&saved);
	is_int(cpu_of(&saved, HOT), 600 * MS, "dividing it again changes nothing");
	find(&saved, 11, WARM, 'R', 2000 * MS);
	divide(&saved);
	is_int(cpu_of(&saved, HOT), 540 * MS,
	       "with one more find all of it is divided by 3");
	is_int(cpu_of(&saved, WARM), 360 * MS, "and 2");
	saved_free(&saved);
}

/* Not one nanosecond is lost or made. */
static void test_exact(void)
{
	struct saved saved = new_detailed();
	static const uint64_t functions[] = { COLD, HOT, WARM, COLD, HOT, WARM, COLD };
	const uint64_t used = 100 * MS - 1;

	for (uint64_t i = 0; i < 7; i++)
		find(&saved, i, functions[i], 'R', 1 + (i == 6 ? used : 0));
	divide(&saved);
	is_int(cpu_of_all(&saved), used, "shares of 3, 2 and 2 sevenths add up");
	ok(cpu_of(&saved, COLD) > cpu_of(&saved, HOT), "the most frequent has most");
	saved_free(&saved);
}

/* A thread that is found asleep each time has run all the same. */
static void test_between(void)
{
	struct saved saved = new_detailed();
	const struct pmp_entry *between;
	struct pmp_profile_info info = { .size = sizeof(info) };

	for (uint64_t i = 0; i < 5; i++)
		find(&saved, i, POLL, 'S', 1000 * MS + 10 * MS * i);
	divide(&saved);
	is_int(cpu_of(&saved, POLL), 0, "a stack that sleeps has no CPU time");
	between = between_of(&saved);
	ok(between != NULL, "what its thread has used has an entry");
	if (!between)
		return;
	is_int(between->cpu, 40 * MS, "with all of it");
	is_int(between->tid, 11, "of that thread");
	is_str(between->thread, "worker-11", "under its name");
	is_str(between->process, "server", "of its process");
	is_int(between->count + between->wall + between->location_count, 0,
	       "and with nothing else");
	pmp_profile_info(saved.profile, &info);
	is_int(info.distinct, 1, "which is no stack");
	find(&saved, 5, HOT, 'R', 1050 * MS);
	divide(&saved);
	is_int(cpu_of(&saved, HOT), 50 * MS,
	       "found running once, that stack has all of it");
	is_int(between_of(&saved)->cpu, 0, "and nothing is left between");
	saved_free(&saved);
}

/* Reports borrow the entries: they must not move when the time is divided for another. */
static void test_stay(void)
{
	struct saved saved = new_detailed();
	unsigned moves = 0;

	for (int i = 0; i < 200; i++) {
		const struct pmp_entry *first;

		/* Each thread has an entry, and one of what it used between. */
		for (int k = 0; k < 2; k++) {
			struct pmp_sample *sample = snapshot((uint64_t)(2 * i + k));

			put(sample, 11 + i, POLL, 'S', 1000 * MS + (k ? 10 * MS : 0));
			add(&saved, sample);
		}
		if (pmp_profile_divide_cpu(saved.profile))
			abort();
		first = pmp_profile_entry(saved.profile, 0);
		if (pmp_profile_divide_cpu(saved.profile))
			abort();
		moves += pmp_profile_entry(saved.profile, 0) != first;
	}
	is_int(moves, 0, "with 2 to 400 entries, to divide it again moves none");
	saved_free(&saved);
}

static void find_ready(struct saved *saved, uint64_t number, uint64_t function,
		       uint64_t cpu)
{
	struct pmp_sample *sample = snapshot(number);

	put(sample, 11, function, 'R', cpu);
	sample->threads[0].ready = true;
	add(saved, sample);
}

/* Waiting for a processor is state R as well, but uses none. */
static void test_ready(void)
{
	struct saved saved = new_detailed();

	find(&saved, 0, POLL, 'S', 1000 * MS);
	find_ready(&saved, 1, POLL, 1010 * MS);
	find_ready(&saved, 2, WARM, 1020 * MS);
	divide(&saved);
	is_int(cpu_of(&saved, POLL), 10 * MS,
	       "ready twice, and nothing else is known: a half");
	is_int(cpu_of(&saved, WARM), 10 * MS, "and the other half");
	find(&saved, 3, HOT, 'R', 1000 * MS + 100200000);
	divide(&saved);
	is_int(cpu_of(&saved, HOT), 100 * MS,
	       "on a processor once: a thousand times as much");
	is_int(cpu_of(&saved, POLL), 100000, "as ready once");
	saved_free(&saved);
}

/* Where threads are not kept apart, their process has the time. */
static void test_merged(void)
{
	struct saved saved = new_profile(&(struct pmp_profile_options){ 0 });

	for (uint64_t i = 0; i < 11; i++) {
		struct pmp_sample *sample = snapshot(i);

		put(sample, 11, i % 2 ? HOT : POLL, i % 2 ? 'R' : 'S', MS + 30 * MS * i);
		put(sample, 12, POLL, 'S', MS + 10 * MS * i);
		add(&saved, sample);
	}
	divide(&saved);
	is_int(cpu_of(&saved, HOT), 400 * MS, "merged threads: all is where any one ran");
	is_int(cpu_of(&saved, POLL), 0, "and none where they sleep");
	saved_free(&saved);
}

/* Two threads do not share: each has its own. */
static void test_apart(void)
{
	struct saved saved = new_detailed();

	for (uint64_t i = 0; i < 11; i++) {
		struct pmp_sample *sample = snapshot(i);

		put(sample, 11, i % 2 ? HOT : POLL, i % 2 ? 'R' : 'S', MS + 30 * MS * i);
		put(sample, 12, i == 5 ? WARM : POLL, i == 5 ? 'R' : 'S',
		    MS + 10 * MS * i);
		add(&saved, sample);
	}
	divide(&saved);
	is_int(cpu_of(&saved, HOT), 300 * MS, "a thread that was found running often");
	is_int(cpu_of(&saved, WARM), 100 * MS, "and one that was found so once");
	saved_free(&saved);
}

/* A thread that was not in some samples: what it has used meanwhile counts, but it is in its
 * stack only since the last of these. */
static void test_away(void)
{
	struct saved saved = new_detailed();

	for (uint64_t i = 0; i < 6; i++) {
		struct pmp_sample *sample = snapshot(i);

		put(sample, 10, POLL, 'S', MS);
		if (i == 0 || i == 5)
			put(sample, 11, HOT, 'R', MS + 70 * MS * i);
		add(&saved, sample);
	}
	divide(&saved);
	is_int(cpu_of(&saved, HOT), 350 * MS, "a thread that was away: all CPU time");
	for (size_t i = 0; i < pmp_profile_entry_count(saved.profile); i++) {
		const struct pmp_entry *entry = pmp_profile_entry(saved.profile, i);

		if (function_of(&saved, entry) == HOT)
			is_int(entry->wall, PERIOD, "wall-clock time of one sample");
	}
	saved_free(&saved);
}

/* Threads that have ended are forgotten, what they have used is not. */
static void test_ended(void)
{
	struct saved saved = new_detailed();
	const uint64_t threads = 60000, each = 20;
	uint64_t sums[3] = { 0 };

	for (uint64_t i = 0; i < threads / each; i++) {
		for (uint64_t twice = 0; twice < 2; twice++) {
			struct pmp_sample *sample = snapshot(2 * i + twice);

			/* Half of them are found running, half never. */
			for (uint64_t k = 0; k < each; k++) {
				bool runs = k % 2 && twice;

				put(sample, (pid_t)(100 + i * each + k),
				    runs ? HOT : POLL, runs ? 'R' : 'S',
				    MS + 10 * MS * twice);
			}
			add(&saved, sample);
		}
	}
	divide(&saved);
	sums[0] = cpu_of(&saved, HOT);
	sums[1] = cpu_of(&saved, 0);
	sums[2] = cpu_of(&saved, POLL);
	/* Each is new in its first snapshot, with 1 ms, but for those of the very first. */
	is_int(sums[0], (11 * threads - each) / 2 * MS,
	       "%" PRIu64 " threads: found running", threads / 2);
	is_int(sums[1], (11 * threads - each) / 2 * MS, "or never");
	is_int(sums[2], 0, "but not asleep");
	saved_free(&saved);
}

/* An evicted stack takes its share with it. */
static void test_evicted(void)
{
	struct saved saved = new_profile(
		&(struct pmp_profile_options){ .details = true, .max_memory = 4 << 20 });
	const uint64_t snapshots = 60000;
	struct pmp_profile_info info = { .size = sizeof(info) };

	for (uint64_t i = 0; i < snapshots; i++) {
		bool runs = i % 3 == 0;
		uint64_t function = i % 6 == 0 ? HOT : 128 + 16 * i;

		find(&saved, i, runs ? function : POLL, runs ? 'R' : 'S',
		     MS + 10 * MS * i);
	}
	divide(&saved);
	pmp_profile_info(saved.profile, &info);
	ok(info.evicted > 1000, "%" PRIu64 " stacks are evicted", info.evicted);
	is_int(cpu_of_all(&saved), 10 * MS * (snapshots - 1), "the sum is right");
	is_int(cpu_of(&saved, POLL), 0, "a stack that sleeps has none of it");
	ok(cpu_of(&saved, HOT) / MS > 10 * snapshots * 45 / 100 &&
		   cpu_of(&saved, HOT) / MS < 10 * snapshots * 55 / 100,
	   "the stack of half of the running finds has half: %" PRIu64 " of %" PRIu64
	   " ms",
	   cpu_of(&saved, HOT) / MS, 10 * snapshots);
	saved_free(&saved);
}

/* What is written says the same, and so does what is read again. */
static void test_formats(void)
{
	struct saved saved = new_detailed(), copy = saved_new();
	struct pmp_buf text, again;

	count_example(&saved);
	for (uint64_t i = 11; i < 21; i++) {
		struct pmp_sample *sample = snapshot(i);

		put(sample, 11, POLL, 'S', 1800 * MS);
		put(sample, 12, POLL, 'S', 1000 * MS + 5 * MS * (i - 11));
		add(&saved, sample);
	}
	text = saved_write(&saved, "pprof", NULL);
	is_int(saved_read(&copy, text.data, text.length, NULL), 0, "pprof is read again");
	is_int(cpu_of_all(&copy), 845 * MS, "with all CPU time");
	is_int(between_of(&copy)->cpu, 45 * MS, "and that between snapshots");
	is_str(between_of(&copy)->thread, "worker-12", "of its thread");
	again = saved_write(&copy, "pprof", NULL);
	ok(again.length == text.length && memcmp(again.data, text.data, text.length) == 0,
	   "written again it is the same");
	pmp_buf_free(&again);
	pmp_buf_free(&text);
	for (size_t i = 0; i < pmp_format_count(); i++) {
		const struct pmp_format *format = saved_format(i);
		bool timed = format && (strcmp(format->name, "json") == 0 ||
					strcmp(format->name, "html") == 0);

		if (!format)
			continue;
		text = saved_write(&copy, format->name, NULL);
		if (!format->binary)
			ok(!strstr(text.data, "ran between") == !timed, "%s %s",
			   format->name, timed ? "has it" : "does not: it was no stack");
		pmp_buf_free(&text);
	}
	text = saved_write(&copy, "threads", NULL);
	ok(strstr(text.data, "      11        21      0.80 ") != NULL,
	   "threads has the sum of each: 0.80 s");
	ok(strstr(text.data, "      12        10      0.04 ") != NULL ||
		   strstr(text.data, "      12        10      0.05 ") != NULL,
	   "of one that was never found running as well");
	pmp_buf_free(&text);
	saved_free(&saved);
	saved_free(&copy);
}

/* ---- standstills ------------------------------------------------------------------- */

#define THREADS 8

struct server {
	pid_t pid;
	struct {
		uint64_t function, reading, cpu;
		bool there;
	} threads[THREADS];
	uint64_t standstill; /* number of the one that it is in, or of the last */
	unsigned still;	     /* so many snapshots of it are left */
};

static uint64_t seed;

/* xorshift64, so that each run has the same. */
static unsigned draw(unsigned below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (unsigned)(seed % below);
}

/* Threads come, go and run; what they use may be more than there was time. calm: they do all
 * that, and then sleep. */
static void put_active(struct pmp_sample *sample, struct server *server, bool calm)
{
	static uint64_t readings;

	for (unsigned i = 0; i < THREADS; i++) {
		const char state = calm || draw(2) ? 'S' : 'R';

		if (draw(10) == 0)
			server->threads[i].there = !server->threads[i].there;
		if (i && !server->threads[i].there)
			continue;
		server->threads[i].function = 16 * (1 + draw(5));
		server->threads[i].cpu += draw(3) * 70 * MS;
		server->threads[i].reading = ++readings;
		put(sample, server->pid + (pid_t)i, server->threads[i].function, state,
		    server->threads[i].cpu);
		sample->threads[sample->thread_count - 1].reading = readings;
	}
}

static void put_still(struct pmp_sample *sample, const struct server *server)
{
	for (unsigned i = 0; i < THREADS; i++) {
		struct pmp_thread *thread;

		if (i && !server->threads[i].there)
			continue;
		put(sample, server->pid + (pid_t)i, server->threads[i].function, 'S',
		    server->threads[i].cpu);
		thread = &sample->threads[sample->thread_count - 1];
		thread->obtained = PMP_UNCHANGED;
		thread->reading = server->threads[i].reading;
	}
	if (!pmp_sample_stand_still(sample, server->standstill))
		abort();
}

static struct pmp_sample *next_snapshot(struct server *server, uint64_t number)
{
	struct pmp_sample *sample = snapshot(number);

	sample->pid = server->pid;
	if (server->still) {
		server->still--;
		put_still(sample, server);
		return sample;
	}
	if (draw(3) == 0) {
		server->still = 1 + draw(6);
		server->standstill++;
	}
	put_active(sample, server, server->still > 0);
	return sample;
}

static bool same_entries(const struct saved *one, const struct saved *other)
{
	const size_t count = pmp_profile_entry_count(one->profile);

	if (count != pmp_profile_entry_count(other->profile))
		return false;
	for (size_t i = 0; i < count; i++) {
		const struct pmp_entry *a = pmp_profile_entry(one->profile, i);
		const struct pmp_entry *b = pmp_profile_entry(other->profile, i);

		if (a->count != b->count || a->wall != b->wall || a->cpu != b->cpu ||
		    a->running != b->running || a->state != b->state ||
		    a->tid != b->tid || function_of(one, a) != function_of(other, b))
			return false;
	}
	return true;
}

static bool same_info(const struct saved *one, const struct saved *other)
{
	struct pmp_profile_info a = { .size = sizeof(a) }, b = { .size = sizeof(b) };

	pmp_profile_info(one->profile, &a);
	pmp_profile_info(other->profile, &b);
	return a.samples == b.samples && a.stacks == b.stacks &&
	       a.unchanged == b.unchanged && a.truncated == b.truncated &&
	       a.evicted == b.evicted;
}

/* The same samples, once with their standstills and once without. */
static void count_both(const struct pmp_profile_options *options, const char *text)
{
	struct server servers[] = { { .pid = 100 }, { .pid = 200 } };
	struct saved still = new_profile(options), apart = new_profile(options);
	struct pmp_standstill none = { 0 };
	size_t standstills = 0, differ = 0;

	seed = 20;
	for (uint64_t i = 0; i < 4000; i++) {
		struct server *server = &servers[draw(2)];
		struct pmp_sample *sample = next_snapshot(server, i);

		standstills += sample->standstill.number > 0;
		if (pmp_profile_add(still.profile, sample, NULL))
			abort();
		sample->standstill = none;
		add(&apart, sample);
		if (draw(40) == 0) {
			pmp_profile_forget(still.profile, server->pid);
			pmp_profile_forget(apart.profile, server->pid);
		}
		if (draw(40) == 0 && (pmp_profile_divide_cpu(still.profile) ||
				      pmp_profile_divide_cpu(apart.profile)))
			abort();
		differ += !same_entries(&still, &apart);
	}
	divide(&still);
	divide(&apart);
	ok(standstills > 1500, "%s: %zu of 4000 samples in a standstill", text,
	   standstills);
	is_int(differ, 0, "counted like any others, each time");
	ok(same_entries(&still, &apart), "with the same times at the end");
	ok(same_info(&still, &apart), "and the same sums");
	saved_free(&still);
	saved_free(&apart);
}

static void test_standstills(void)
{
	count_both(&(struct pmp_profile_options){ 0 }, "threads merged");
	count_both(&(struct pmp_profile_options){ .by_thread = true }, "by thread");
	count_both(&(struct pmp_profile_options){ .details = true }, "with details");
}

int main(void)
{
	make_maps();
	test_divided();
	test_exact();
	test_between();
	test_stay();
	test_ready();
	test_merged();
	test_apart();
	test_away();
	test_ended();
	test_evicted();
	test_formats();
	test_standstills();
	pmp_maps_unref(maps);
	return done_testing();
}
