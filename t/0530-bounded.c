/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bounded memory: months of new stacks, new code, new threads, in compressed time.
 * Tables level off, sums stay right, and what was evicted is counted.
 */
#include <inttypes.h>

#include "libpmp-program.h"
#include "base/sanitized.h"
#include "lib/saved.h"
#include "lib/tap.h"
#include "sample.h"

#define MIB ((uint64_t)1 << 20)
#define S UINT64_C(1000000000)
#define CODE UINT64_C(0x7f0000000000)

static uint64_t rss(void)
{
	unsigned long pages = 0, resident = 0;
	FILE *file = fopen("/proc/self/statm", "re");

	if (!file || fscanf(file, "%lu %lu", &pages, &resident) != 2)
		abort();
	fclose(file);
	return resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

static uint64_t any(void)
{
	static uint64_t state = 88172645463325252u;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static struct saved new_bounded(uint64_t memory, bool live)
{
	const struct pmp_profile_options options = {
		.size = sizeof(options),
		.details = true,
		.live = live,
		.max_memory = memory,
		.waits = true,
	};
	struct saved saved = { 0 };

	if (pmp_symbolizer_new(NULL, &saved.symbolizer, NULL) ||
	    pmp_profile_new(&options, saved.symbolizer, &saved.profile, NULL))
		abort();
	return saved;
}

static struct pmp_profile_info info_of(const struct saved *saved)
{
	struct pmp_profile_info info = { .size = sizeof(info) };

	pmp_profile_info(saved->profile, &info);
	return info;
}

/* ---- samples of code without a file ---------------------------------- */

static struct pmp_sample *sample_at(uint64_t number, uint64_t base)
{
	struct pmp_sample *sample = pmp_sample_new();
	struct pmp_module *module = pmp_module_new(1, PMP_MODULE_ANON, "");
	const struct pmp_region old = { CODE, CODE + 4096, 0, module,
					PMP_PROT_EXEC | PMP_PROT_READ };
	const struct pmp_region region = { base, base + (MIB << 4), 0, module,
					   PMP_PROT_EXEC | PMP_PROT_READ };

	if (!sample || !module)
		abort();
	sample->maps = pmp_maps_new();
	if (!sample->maps || pmp_maps_add_module(sample->maps, module) ||
	    pmp_maps_add_region(sample->maps, &old) ||
	    pmp_maps_add_region(sample->maps, &region))
		abort();
	sample->pid = 10;
	sample->time = sample->realtime = 1000 * S + number * S / 100;
	snprintf(sample->name, sizeof(sample->name), "jit");
	return sample;
}

static void add_thread(struct pmp_sample *sample, pid_t tid, const char *name,
		       const uint64_t *pcs, size_t count)
{
	struct pmp_thread *thread = pmp_sample_add_thread(sample);

	if (!thread)
		abort();
	thread->tid = tid;
	thread->state = 'S';
	thread->obtained = PMP_STOPPED;
	thread->syscall = PMP_SYSCALL_UNKNOWN;
	snprintf(thread->name, sizeof(thread->name), "%s", name);
	for (size_t i = 0; i < count; i++) {
		const struct pmp_raw_frame frame = { .pc = pcs[i] };

		if (pmp_sample_add_frames(sample, &frame, 1))
			abort();
	}
}

/* A thread that is always the same, and others that run through ever new code in ever
 * new mappings. */
static void churn(struct saved *saved, uint64_t from, uint64_t to)
{
	const uint64_t same[] = { CODE + 16, CODE + 32 };

	for (uint64_t i = from; i < to; i++) {
		uint64_t base = CODE + ((1 + i / 1000) << 24);
		struct pmp_sample *sample = sample_at(i, base);

		add_thread(sample, 10, "main", same, 2);
		for (pid_t k = 11; k < 15; k++) {
			uint64_t pcs[20];

			for (size_t j = 0; j < 20; j++)
				pcs[j] = base + any() % (MIB << 4);
			add_thread(sample, k, "worker", pcs, 20);
		}
		saved_add(saved, sample);
	}
}

static void test_new_code(bool live)
{
	const uint64_t memory = 12 * MIB, rounds = 30000;
	struct saved saved = new_bounded(memory, live);
	uint64_t early, late;
	struct saved_sums sums;
	const struct pmp_entry *entry;
	size_t locations;

	churn(&saved, 0, rounds / 3);
	early = rss();
	locations = pmp_symbolizer_location_count(saved.symbolizer);
	churn(&saved, rounds / 3, rounds);
	late = rss();
	ok(SANITIZED || late < early + 8 * MIB,
	   "%" PRIu64 " stacks of new code: %" PRIu64 " MiB after a third, %" PRIu64
	   " at the end",
	   4 * rounds, early / MIB, late / MIB);
	ok(pmp_symbolizer_location_count(saved.symbolizer) < 2 * locations,
	   "%zu locations", pmp_symbolizer_location_count(saved.symbolizer));
	sums = saved_sums(&saved);
	is_int(sums.count, 5 * rounds, "no stack is lost");
	is_int(info_of(&saved).evicted, sums.evicted, "the evicted ones are counted");
	ok(info_of(&saved).evicted > rounds, "which are many: %" PRIu64, sums.evicted);
	is_int(info_of(&saved).stacks, 5 * rounds, "the total is right");
	entry = pmp_profile_entry(saved.profile, 0);
	ok(entry->count == rounds && entry->location_count == 2,
	   "what is frequent is kept");
	if (live)
		is_int(saved_live_sum(pmp_profile_live(saved.profile), PMP_WINDOW_START),
		       5 * rounds, "the view has all of them as well");
	saved_free(&saved);
}

/* ---- waits ------------------------------------------------------------------------- */

/* Workers in ever new code wait for ever new locks, all of which main has. */
static void wait_for_main(struct saved *saved, uint64_t rounds)
{
	const uint64_t same[] = { CODE + 16, CODE + 32 };

	for (uint64_t i = 0; i < rounds; i++) {
		uint64_t base = CODE + ((1 + i / 1000) << 24);
		struct pmp_sample *sample = sample_at(i, base);

		add_thread(sample, 10, "main", same, 2);
		for (pid_t k = 11; k < 15; k++) {
			const uint64_t pcs[] = { base + any() % (MIB << 4),
						 base + any() % (MIB << 4) };

			add_thread(sample, k, "worker", pcs, 2);
			sample->threads[k - 10].wait = (struct pmp_wait){
				.kind = PMP_WAIT_MUTEX,
				.holder_is = PMP_HOLDER_THREAD,
				.holder = 10,
				.object = base + 8 * (i * 4 + (uint64_t)k),
			};
		}
		saved_add(saved, sample);
	}
}

static void test_waits(void)
{
	const uint64_t rounds = 30000;
	struct saved saved = new_bounded(12 * MIB, false);
	uint64_t delay = 0, waits = 0, held = 0, held_waits = 0, early;

	wait_for_main(&saved, rounds / 3);
	early = rss();
	wait_for_main(&saved, rounds);
	ok(SANITIZED || rss() < early + 8 * MIB,
	   "%" PRIu64 " locks: %" PRIu64 " MiB after a part, %" PRIu64 " at the end",
	   4 * rounds, early / MIB, rss() / MIB);
	for (size_t i = 0; i < pmp_profile_entry_count(saved.profile); i++) {
		const struct pmp_entry *entry = pmp_profile_entry(saved.profile, i);

		if (entry->waits->lock && pmp_lock_is_contended(entry->waits->lock)) {
			delay += entry->wall;
			waits += entry->waits->contentions;
		}
		held += entry->waits->held_delay;
		held_waits += entry->waits->held_contentions;
	}
	ok(info_of(&saved).evicted > rounds, "stacks that waited were evicted");
	is_int(waits, 4 * (rounds + rounds / 3), "no wait is lost");
	is_int(held_waits, waits, "nor what they are charged to");
	is_int(held, delay, "nor their time");
	saved_free(&saved);
}

/* ---- stacks of a program, which is mapped where it is ------------------------------ */

static struct saved count_many(uint64_t memory, unsigned count)
{
	struct saved saved = new_bounded(memory, false);
	const struct pmp_mapping file = { 0x400000, 0x800000, 0, "/usr/sbin/mariadbd",
					  "93ac" };
	uint32_t mapping = pmp_symbolizer_add_mapping(saved.symbolizer, &file);
	static const char *const names[] = { "f" };
	pmp_location all[1024], stack[8];
	uint64_t random = 1;

	for (size_t i = 0; i < 1024; i++)
		all[i] = saved_location(&saved, mapping, 0x400000 + 64 * i, false, 1,
					names);
	for (unsigned i = 0; i < count; i++) {
		const struct pmp_entry like = {
			.tid = (pid_t)(100 + i % 3),
			.thread = "worker",
			.state = 'S',
			.count = 1 + (i % 1000 == 0) * 10,
			.wall = 10,
			.cpu = 5,
		};

		for (size_t k = 0; k < 8; k++) {
			random = random * 6364136223846793005u + 1442695040888963407u;
			stack[k] = all[random >> 54];
		}
		saved_count(&saved, &like, stack, 8);
	}
	return saved;
}

static void test_program(void)
{
	const unsigned count = 300000;
	struct saved saved = count_many(16 * MIB, count),
		     again = count_many(16 * MIB, count);
	struct saved all = count_many(0, count), copy = saved_new();
	struct pmp_buf one = saved_write(&saved, "folded", NULL);
	struct pmp_buf other = saved_write(&again, "folded", NULL);
	struct pmp_buf packed;
	struct saved_sums sums = saved_sums(&saved), expected = saved_sums(&all);
	size_t frequent = 0, evicted = 0;
	uint64_t wall = 0;

	is_int(expected.evicted, 0, "without a limit nothing is evicted");
	is_int(sums.count, expected.count, "with one the total is the same");
	ok(sums.evicted > sums.count / 2, "%" PRIu64 " of %" PRIu64 " are evicted",
	   sums.evicted, sums.count);
	for (size_t i = 0; i < pmp_profile_entry_count(saved.profile); i++) {
		const struct pmp_entry *entry = pmp_profile_entry(saved.profile, i);

		wall += entry->wall;
		evicted += entry->end == PMP_END_EVICTED;
		frequent += entry->end != PMP_END_EVICTED && entry->count > 10;
	}
	is_int(wall, 10 * (uint64_t)count, "so is the time");
	is_int(evicted, 1, "in one stack");
	is_int(frequent, count / 1000, "all that are counted more are kept");
	is_str(other.data, one.data, "another run evicts the same");
	ok(strstr(one.data, "[evicted] ") != NULL, "they have a line of their own");
	for (size_t i = 0; i < pmp_format_count(); i++) {
		const struct pmp_format *format = saved_format(i);
		struct pmp_buf text;

		/* Of samples there is nothing in those of a heap. */
		if (!format || format->heap == PMP_HEAP_ALONE)
			continue;
		text = saved_write(&saved, format->name, NULL);
		if (!format->binary)
			ok(strstr(text.data, "evicted") != NULL, "%s tells of them",
			   format->name);
		pmp_buf_free(&text);
	}
	packed = saved_write(&saved, "pprof", NULL);
	is_int(saved_read(&copy, packed.data, packed.length, NULL), 0,
	       "it is saved and read");
	is_int(saved_sums(&copy).count, expected.count, "with all of them");
	is_int(saved_sums(&copy).evicted, sums.evicted, "and those that were evicted");
	is_int(info_of(&copy).evicted, sums.evicted, "as its totals say");
	is_int(info_of(&copy).evicted_distinct, info_of(&saved).evicted_distinct,
	       "and how many they were");
	pmp_buf_free(&one);
	pmp_buf_free(&other);
	pmp_buf_free(&packed);
	saved_free(&saved);
	saved_free(&again);
	saved_free(&all);
	saved_free(&copy);
}

/* Threads with a name of their own, each of which lives for two samples. */
static void test_threads(bool live)
{
	struct saved saved = new_bounded(16 * MIB, live);
	const uint64_t same[] = { CODE + 16, CODE + 32 }, rounds = 12000;
	uint64_t early = 0, late;

	for (uint64_t i = 0; i < rounds; i++) {
		struct pmp_sample *sample = sample_at(100 * i, 2 * CODE);

		if (i == rounds / 2)
			early = rss();
		for (uint64_t k = 0; k < 50; k++) {
			char name[32];

			snprintf(name, sizeof(name), "%" PRIx64,
				 (i / 2 * 50 + k) * 0x9e3779b97f4a7c15u);
			add_thread(sample, (pid_t)(100 + i / 2 * 50 + k), name, same, 2);
		}
		saved_add(&saved, sample);
	}
	late = rss();
	ok(SANITIZED || late < early + 8 * MIB,
	   "%" PRIu64 " threads: %" PRIu64 " MiB after a half, %" PRIu64 " at the end",
	   25 * rounds, early / MIB, late / MIB);
	is_int(saved_sums(&saved).count, 50 * rounds, "none is lost");
	saved_free(&saved);
}

static void stand_still(struct saved *saved, uint64_t number)
{
	const uint64_t pcs[] = { CODE + 48, CODE + 64 };
	struct pmp_sample *sample = sample_at(number, 2 * CODE);

	sample->pid = 50;
	add_thread(sample, 50, "idle", pcs, 2);
	sample->threads[0].obtained = PMP_UNCHANGED;
	sample->threads[0].reading = 1;
	if (!pmp_sample_stand_still(sample, 7))
		abort();
	saved_add(saved, sample);
}

/* A stack that another process is found at five times. */
static void find_five_times(struct saved *saved, uint64_t number)
{
	const uint64_t base = CODE + ((1 + number / 1000) << 24);
	uint64_t pcs[20];

	for (size_t i = 0; i < 20; i++)
		pcs[i] = base + any() % (MIB << 4);
	for (uint64_t i = 0; i < 5; i++) {
		struct pmp_sample *sample = sample_at(number + i, base);

		add_thread(sample, 10, "main", pcs, 20);
		saved_add(saved, sample);
	}
}

/* A process that does not move while its stack is evicted is found at it again. */
static void test_standstill(void)
{
	const struct pmp_profile_options options = { .size = sizeof(options),
						     .max_memory = 8 * MIB };
	struct saved saved = { 0 };
	uint64_t number = 1, again = 0;

	if (pmp_symbolizer_new(NULL, &saved.symbolizer, NULL) ||
	    pmp_profile_new(&options, saved.symbolizer, &saved.profile, NULL))
		abort();
	for (int i = 0; i < 3; i++)
		stand_still(&saved, number++);
	for (; !info_of(&saved).evicted; number += 5)
		find_five_times(&saved, number);
	for (int i = 0; i < 10; i++)
		stand_still(&saved, number++);
	for (size_t i = 0; i < pmp_profile_entry_count(saved.profile); i++) {
		const struct pmp_entry *entry = pmp_profile_entry(saved.profile, i);

		if (entry->pid == 50 && entry->location_count == 2)
			again += entry->count;
	}
	ok(again >= 10, "a standstill goes on with its stacks: %" PRIu64, again);
	saved_free(&saved);
}

/* Threads that ended and were never found running: making room begins with adding their
 * CPU time, in entries that are new. */
static void test_between(void)
{
	struct saved saved = new_bounded(8 * MIB, false);
	const uint64_t same[] = { CODE + 16, CODE + 32 }, threads = 3000;
	uint64_t cpu = 0;

	for (uint64_t i = 0; i < 2; i++) {
		struct pmp_sample *sample = sample_at(i, 2 * CODE);

		for (uint64_t k = 0; k < threads; k++) {
			add_thread(sample, (pid_t)(1000 + k), "brief", same, 2);
			sample->threads[k].cpu = 1000 * (i + 1);
		}
		saved_add(&saved, sample);
	}
	churn(&saved, 2, 10000);
	if (pmp_profile_divide_cpu(saved.profile))
		abort();
	for (size_t i = 0; i < pmp_profile_entry_count(saved.profile); i++)
		cpu += pmp_profile_entry(saved.profile, i)->cpu;
	ok(info_of(&saved).evicted > 0, "stacks were evicted");
	is_int(cpu, 1000 * threads, "what threads used that are gone is not lost");
	saved_free(&saved);
}

/* A location's number is used again: its names are those of the new one. */
static void test_names(void)
{
	struct saved saved = new_bounded(0, false);
	const struct pmp_mapping one = { 0x1000, 0x2000, 0, "/lib/one.so", "01" },
				 two = { 0x3000, 0x4000, 0, "/lib/two.so", "02" };
	static const char *const first[] = { "first" }, *const second[] = { "second" },
				 *const third[] = { "third" };
	uint32_t mappings[2];
	pmp_location kept, gone, new;
	bool used[2] = { false };
	struct pmp_frame_info frame = { .size = sizeof(frame) };
	struct pmp_mapping mapping;
	struct pmp_first_address origin;
	char place[64];

	mappings[0] = pmp_symbolizer_add_mapping(saved.symbolizer, &one);
	mappings[1] = pmp_symbolizer_add_mapping(saved.symbolizer, &two);
	gone = saved_location(&saved, mappings[0], 0x1100, true, 1, first);
	kept = saved_location(&saved, mappings[1], 0x3100, true, 1, second);
	used[kept] = true;
	is_int(pmp_symbolizer_module_count(saved.symbolizer), 2, "two modules");
	pmp_symbolizer_attach(saved.symbolizer);
	ok(!pmp_symbolizer_gc(saved.symbolizer, used),
	   "with another user nothing is swept");
	pmp_symbolizer_detach(saved.symbolizer);
	ok(pmp_symbolizer_gc(saved.symbolizer, used), "alone it is");
	is_int(pmp_symbolizer_module_count(saved.symbolizer), 1, "one module is left");
	is_int(pmp_symbolizer_frame(saved.symbolizer, gone, 0, &frame), 0,
	       "what was swept has no names");
	pmp_symbolizer_name(saved.symbolizer, gone);
	is_str(pmp_symbolizer_place(saved.symbolizer, gone, place, sizeof(place)),
	       "[unknown]", "nor a place");
	is_int(pmp_symbolizer_frame(saved.symbolizer, kept, 0, &frame), 1,
	       "the other has");
	is_str(frame.function, "second", "its name");
	is_str(frame.module, "/lib/two.so", "and its module");
	pmp_symbolizer_first_address(saved.symbolizer, kept, &origin);
	is_int(origin.pc, 0x3100, "its address");
	pmp_symbolizer_mapping(saved.symbolizer, origin.mapping, &mapping);
	is_int(mapping.start, 0x3000, "in its mapping");
	is_str(mapping.build_id, "02", "of its file");
	mappings[0] = pmp_symbolizer_add_mapping(saved.symbolizer, &one);
	new = saved_location(&saved, mappings[0], 0x1200, true, 1, third);
	is_int(new, gone, "a new location takes the number");
	pmp_symbolizer_frame(saved.symbolizer, new, 0, &frame);
	is_str(frame.function, "third", "and has names of its own");
	is_int(saved_location(&saved, origin.mapping, 0x3100, true, 1, second), kept,
	       "what is known is found again");
	saved_free(&saved);
}

int main(void)
{
	test_names();
	test_program();
	test_new_code(false);
	test_waits();
	test_standstill();
	test_between();
	test_new_code(true);
	test_threads(false);
	test_threads(true);
	return done_testing();
}
