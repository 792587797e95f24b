/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What recorders have written down, counted: batches by construction, so that the truth is
 * known. Where only some blocks are chosen, by a simulation of that: estimates are right on
 * average, and as far off as their standard errors say.
 */
#include <math.h>

#include "lib/tap.h"
#include "base/hash.h"
#include "heap-batch.h"
#include "libpmp-program.h"
#include "report/report.h"
#include "tally/blocks.h"
#include "tally/heap-sums.h"
#include "tally/heap.h"

struct fake_function {
	const char *name, *file, *module;
	unsigned line;
	bool inlined, unnamed, signal, exact;
};

static const struct fake_function fake_functions[] = {
	{ .name = "malloc", .module = "/lib/libc.so.6" },
	{ .name = "fill", .module = "/bin/demo" },
	{ .name = "serve", .module = "/bin/demo" },
	{ .name = "main", .module = "/bin/demo" },
};

#include "lib/fakenames.h"

enum { MALLOC, FILL, SERVE, MAIN };

#define PID 70
#define STACKS 2
#define RATE (UINT64_C(64) << 10)

static struct pmp_profile *new_profile(uint64_t memory, bool details)
{
	struct pmp_profile_options options = { .size = sizeof(options),
					       .max_memory = memory,
					       .details = details,
					       .heap = true };
	struct pmp_profile *profile = NULL;

	if (pmp_profile_new(&options, NULL, &profile, NULL))
		abort();
	return profile;
}

static struct pmp_heap_batch *new_batch(pid_t pid, uint64_t time)
{
	struct pmp_heap_batch *batch = pmp_heap_batch_new();

	if (!batch)
		abort();
	batch->pid = pid;
	batch->time = time;
	strcpy(batch->name, "demo");
	batch->maps = pmp_maps_new();
	return batch;
}

static void add_event(struct pmp_heap_batch *batch, struct pmp_heap_event event,
		      size_t caller)
{
	const struct pmp_raw_frame frames[] = { { fake_pc(MALLOC), PMP_FRAME_EXACT },
						{ fake_pc(caller), 0 },
						{ fake_pc(MAIN), 0 } };
	const bool has_stack =
		event.kind == PMP_HEAP_ALLOC || event.kind == PMP_HEAP_GROWTH;

	pmp_heap_batch_thread(batch, batch->pid, "conn-7", &event.thread);
	if (pmp_heap_batch_add(batch, &event, frames, has_stack ? 3 : 0))
		abort();
}

static void allocate(struct pmp_heap_batch *batch, size_t caller, uint64_t pointer,
		     uint64_t size, uint64_t rate)
{
	add_event(batch,
		  (struct pmp_heap_event){ .kind = PMP_HEAP_ALLOC,
					   .time = batch->time,
					   .pointer = pointer,
					   .asked = size,
					   .usable = size,
					   .rate = rate },
		  caller);
}

static void release(struct pmp_heap_batch *batch, uint64_t pointer)
{
	add_event(batch,
		  (struct pmp_heap_event){ .kind = PMP_HEAP_FREE,
					   .time = batch->time,
					   .pointer = pointer },
		  0);
}

static void take(struct pmp_profile *profile, struct pmp_heap_batch *batch)
{
	if (pmp_profile_add_heap(profile, batch, NULL))
		abort();
	pmp_heap_batch_free(batch);
}

static struct pmp_report *new_report(struct pmp_profile *profile,
				     const struct pmp_filter *filter, const char *value,
				     uint64_t age)
{
	const struct pmp_report_options options = { .size = sizeof(options),
						    .heap = true,
						    .heap_value = value,
						    .heap_age = age };
	struct pmp_report *report = NULL;

	if (pmp_report_new(profile, filter, &options, &report, NULL))
		abort();
	return report;
}

/* The sums of all stacks that have this caller. */
static struct pmp_heap_sums sums_of(const struct pmp_report *report, const char *caller)
{
	struct pmp_heap_sums sums = { 0 };
	const struct pmp_frame *frames;

	for (size_t i = 0; i < report->entry_count; i++) {
		const struct pmp_entry *entry = &report->entries[i];

		for (size_t k = 0; k < entry->location_count; k++) {
			pmp_report_frames(report, entry->locations[k], &frames);
			if (strcmp(frames[0].function, caller) == 0)
				pmp_heap_sums_add(&sums, entry->heap);
		}
	}
	return sums;
}

static uint64_t random_number(void)
{
	static uint64_t state = 88172645463325252;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* ---- every call ------------------------------------------------------------------ */

static void test_exact(void)
{
	enum { BLOCKS = 5000 };
	struct pmp_profile *profile = new_profile(0, false);
	struct pmp_report *report;
	struct pmp_heap_sums sums[STACKS];
	uint64_t sizes[BLOCKS] = { 0 }, all[STACKS] = { 0 }, calls[STACKS] = { 0 };
	uint64_t live[STACKS] = { 0 }, blocks[STACKS] = { 0 };
	size_t callers[BLOCKS] = { 0 };
	bool right = true;

	for (int round = 0; round < 20; round++) {
		struct pmp_heap_batch *batch = new_batch(PID, 1000 + (uint64_t)round);

		for (int i = 0; i < 2000; i++) {
			const size_t n = random_number() % BLOCKS;
			const size_t caller = random_number() % STACKS;

			if (sizes[n]) {
				release(batch, 0x1000 + 16 * n);
				live[callers[n]] -= sizes[n];
				blocks[callers[n]]--;
				sizes[n] = 0;
				continue;
			}
			callers[n] = caller;
			sizes[n] = 1 + random_number() % 10000;
			allocate(batch, FILL + caller, 0x1000 + 16 * n, sizes[n], 0);
			all[caller] += sizes[n];
			calls[caller]++;
			live[caller] += sizes[n];
			blocks[caller]++;
		}
		take(profile, batch);
	}
	report = new_report(profile, NULL, NULL, 0);
	sums[0] = sums_of(report, "fill");
	sums[1] = sums_of(report, "serve");
	for (size_t i = 0; i < STACKS; i++)
		right = right && sums[i].alloc_bytes == all[i] &&
			pmp_blocks_of(sums[i].alloc_parts) == calls[i] &&
			sums[i].live_bytes == live[i] &&
			pmp_blocks_of(sums[i].live_parts) == blocks[i] &&
			!(sums[i].live_variance > 0) && !(sums[i].alloc_variance > 0);
	ok(right, "all calls are recorded: all sums are exact, without an error");
	is_int((long long)pmp_heap_blocks(pmp_profile_heap(profile))->count,
	       (long long)(blocks[0] + blocks[1]), "the blocks that live are known");
	pmp_report_free(report);
	pmp_profile_free(profile);
}

/* ---- some calls ------------------------------------------------------------------ */

struct truth {
	uint64_t bytes, blocks, live_bytes;
};

/* Bytes until the next one that is chosen, as the recorder draws them. */
static double draw(void)
{
	const double u = (double)((random_number() >> 11) + 1) / (double)(1ull << 53);

	return -log(u) * (double)RATE;
}

/* Allocate blocks of sizes that differ a lot and free two of three of them. */
static struct truth simulate(struct pmp_profile *profile)
{
	enum { CALLS = 100000 };
	struct pmp_heap_batch *batch = new_batch(PID, 1000);
	struct truth truth = { 0 };
	double left = draw();

	for (uint64_t i = 0; i < CALLS; i++) {
		const uint64_t size = random_number() % 100 < 95
					      ? 1 + random_number() % 256
					      : random_number() % (128 << 10);
		bool chosen;

		left -= (double)(size ? size : 1);
		chosen = left < 0;
		truth.bytes += size;
		truth.blocks++;
		if (chosen) {
			allocate(batch, FILL, 16 * (i + 1), size, RATE);
			left = draw();
		}
		if (i % 3 == 0)
			truth.live_bytes += size;
		else if (chosen)
			release(batch, 16 * (i + 1));
	}
	take(profile, batch);
	return truth;
}

static void test_sampled(void)
{
	enum { RUNS = 60 };
	double bytes = 0, live = 0, squares = 0, live_squares = 0, blocks = 0;
	int far = 0;

	for (int i = 0; i < RUNS; i++) {
		struct pmp_profile *profile = new_profile(0, false);
		const struct truth truth = simulate(profile);
		struct pmp_report *report = new_report(profile, NULL, NULL, 0);
		const struct pmp_heap_sums sums = sums_of(report, "fill");
		const double off = ((double)sums.alloc_bytes - (double)truth.bytes) /
				   pmp_square_root(sums.alloc_variance);
		const double live_off =
			((double)sums.live_bytes - (double)truth.live_bytes) /
			pmp_square_root(sums.live_variance);

		bytes += (double)sums.alloc_bytes / (double)truth.bytes / RUNS;
		live += (double)sums.live_bytes / (double)truth.live_bytes / RUNS;
		blocks += (double)pmp_blocks_of(sums.alloc_parts) / (double)truth.blocks /
			  RUNS;
		squares += off * off / RUNS;
		live_squares += live_off * live_off / RUNS;
		far += fabs(off) > 4 || fabs(live_off) > 4;
		pmp_report_free(report);
		pmp_profile_free(profile);
	}
	diag("estimate / truth: bytes %.4f, live %.4f, blocks %.4f; error / standard error, "
	     "root of mean square: %.2f, live %.2f",
	     bytes, live, blocks, sqrt(squares), sqrt(live_squares));
	ok(fabs(bytes - 1) < 0.01 && fabs(live - 1) < 0.01,
	   "some are chosen: bytes are right on average");
	ok(fabs(blocks - 1) < 0.1, "so is the number of blocks");
	is_int(far, 0, "no sum is off by more than four standard errors");
	ok(squares > 0.4 && squares < 1.9 && live_squares > 0.4 && live_squares < 1.9,
	   "and they are off by as much as the standard errors say");
}

static void test_chance(void)
{
	const uint64_t sizes[] = { 0,	 1,	 24,	      700,
				   4096, 524288, 5 * 524288u, UINT64_C(1) << 40 };
	bool right = true;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		const double bytes = (double)(sizes[i] ? sizes[i] : 1);
		const double want = -expm1(-bytes / 524288);

		right = right &&
			fabs(pmp_heap_chance(sizes[i], 524288) / want - 1) < 1e-12;
	}
	ok(right, "the chance of a block is that of libm to twelve digits");
	ok(pmp_heap_chance(1, 0) >= 1, "of all, it is certain");
	ok(fabs(pmp_square_root(2) - sqrt(2)) < 1e-15 &&
		   fabs(pmp_square_root(1e-6) - 1e-3) < 1e-15 &&
		   fabs(pmp_square_root(1e30) / 1e15 - 1) < 1e-15,
	   "square roots are, too");
}

/* ---- processes, ages ------------------------------------------------------------- */

static void add_totals(struct pmp_heap_batch *batch, uint64_t allocated, uint64_t live)
{
	batch->totals = (struct pmp_heap_totals){ .allocated = allocated,
						  .freed = allocated - live,
						  .live = live,
						  .peak = live };
}

static void test_processes(void)
{
	struct pmp_profile *profile = new_profile(0, false);
	struct pmp_heap_batch *batch = new_batch(PID, 1000);
	struct pmp_report *report;
	const struct pmp_process_heap *process;

	allocate(batch, FILL, 0x10, 100, 0);
	add_totals(batch, 300, 100);
	take(profile, batch);
	batch = new_batch(PID + 1, 1000);
	allocate(batch, FILL, 0x10, 7, 0);
	take(profile, batch);
	report = new_report(profile, NULL, NULL, 0);
	is_int((long long)sums_of(report, "fill").live_bytes, 107,
	       "two processes have a block at one address");
	batch = new_batch(PID, 2000);
	add_event(batch, (struct pmp_heap_event){ .kind = PMP_HEAP_START }, 0);
	allocate(batch, SERVE, 0x10, 30, 0);
	add_event(batch, (struct pmp_heap_event){ .kind = PMP_HEAP_LOST, .count = 3 }, 0);
	add_totals(batch, 30, 30);
	take(profile, batch);
	pmp_report_update(report, NULL);
	is_int((long long)sums_of(report, "fill").live_bytes, 7,
	       "an exec: what the process had lives no more");
	is_int((long long)sums_of(report, "fill").alloc_bytes, 107,
	       "it was allocated all the same");
	process = &report->processes[0];
	is_int((long long)report->process_count, 2, "there are two processes");
	ok(process->totals.allocated == 30 && process->earlier_allocated == 300 &&
		   process->earlier_freed == 200 && process->dropped == 100,
	   "exact totals are of its program, with what there was before");
	is_int((long long)report->losses.records, 3, "lost records are counted");
	pmp_profile_forget(profile, PID);
	pmp_report_update(report, NULL);
	ok(report->processes[0].ended && sums_of(report, "serve").live_bytes == 30,
	   "a process ends: what it had is shown on");
	batch = new_batch(PID, 3000);
	take(profile, batch);
	pmp_report_update(report, NULL);
	ok(report->process_count == 3 && sums_of(report, "serve").live_bytes == 30,
	   "one that has its id is another one");
	pmp_report_free(report);
	pmp_profile_free(profile);
}

/* What its recorder says when a sampler begins to read it. */
static void start_program(struct pmp_profile *profile, uint64_t program,
			  uint64_t allocated)
{
	struct pmp_heap_batch *batch = new_batch(PID, 1000);

	add_event(batch,
		  (struct pmp_heap_event){ .kind = PMP_HEAP_START, .count = program }, 0);
	allocate(batch, FILL, 0x10 * allocated, 10, 0);
	add_totals(batch, allocated, allocated);
	take(profile, batch);
}

/* A pause, and another sampler: the program goes on. */
static void test_interrupted(void)
{
	struct pmp_profile *profile = new_profile(0, false);
	const struct pmp_process_heap *process;
	struct pmp_report *report;

	start_program(profile, 1, 10);
	pmp_profile_interrupt(profile, PID);
	start_program(profile, 1, 20);
	report = new_report(profile, NULL, NULL, 0);
	process = &report->processes[0];
	ok(report->process_count == 1 && !process->ended, "interrupted: it goes on");
	ok(process->totals.allocated == 20 && process->earlier_allocated == 0,
	   "interrupted: what it has allocated counts once");
	is_int((long long)sums_of(report, "fill").live_bytes, 20,
	       "interrupted: blocks live on");
	start_program(profile, 2, 3);
	pmp_report_update(report, NULL);
	process = &report->processes[0];
	ok(process->totals.allocated == 3 && process->earlier_allocated == 20 &&
		   sums_of(report, "fill").live_bytes == 10,
	   "interrupted: another program begins again");
	pmp_report_free(report);
	pmp_profile_free(profile);
}

/* A program may say that its blocks are where their hashes would be the same. */
static void test_places(void)
{
	struct pmp_blocks blocks = { 0 };
	uint64_t inverse = PMP_HASH_RATIO;
	size_t row = 0, longest = 0;

	/* By Newton's method, five bits at first. */
	for (int i = 0; i < 5; i++)
		inverse *= 2 - PMP_HASH_RATIO * inverse;
	for (uint64_t k = 1; k <= 20000; k++) {
		const struct pmp_block block = { .pointer = k * inverse, .weight = 1 };

		if (pmp_blocks_put(&blocks, &block))
			abort();
	}
	for (size_t slot = 0; slot < (size_t)1 << blocks.bits; slot++) {
		row = blocks.slots[slot].weight > 0 ? row + 1 : 0;
		if (longest < row)
			longest = row;
	}
	ok(PMP_HASH_RATIO * inverse == 1 && longest < 1000,
	   "blocks of bad pointers lie apart: %zu in a row", longest);
	pmp_blocks_free(&blocks);
}

/* What they have allocated, and how often, does not become less when a program begins. */
static void test_calls(void)
{
	struct pmp_profile *profile = new_profile(0, false);
	struct pmp_heap_info info = { .size = sizeof(info) };
	struct pmp_heap_batch *batch = new_batch(PID, 1000);

	batch->totals = (struct pmp_heap_totals){ .mallocs = 10, .frees = 4 };
	take(profile, batch);
	batch = new_batch(PID, 2000);
	add_event(batch, (struct pmp_heap_event){ .kind = PMP_HEAP_START }, 0);
	batch->totals = (struct pmp_heap_totals){ .mallocs = 1 };
	take(profile, batch);
	ok(pmp_profile_heap_process(profile, 0, &info) && info.calls == 11 &&
		   info.frees == 4,
	   "an exec: calls before it are counted");
	pmp_profile_free(profile);
}

/* More than have a place of their own. */
static void test_many_processes(void)
{
	enum { ALL = 1500, ROOM = 1024 };
	struct pmp_profile *profile = new_profile(0, false);
	struct pmp_heap_info info = { .size = sizeof(info) };
	uint64_t allocated = 0, calls = 0, others = 0;
	size_t count = 0;

	for (int i = 0; i < ALL; i++) {
		struct pmp_heap_batch *batch = new_batch(PID + i, 1000 + (uint64_t)i);

		add_totals(batch, 300, 100);
		batch->totals.mallocs = 3;
		take(profile, batch);
		if (i)
			pmp_profile_forget(profile, PID + i);
	}
	for (; pmp_profile_heap_process(profile, count, &info); count++) {
		allocated += info.allocated;
		calls += info.calls;
		if (!info.pid)
			others += info.ended && strcmp(info.name, "others") == 0;
	}
	is_int((long long)count, ROOM + 1, "%d processes have %d places", ALL, ROOM);
	is_int((long long)others, 1, "one more is for all others that have ended");
	is_int((long long)allocated, 300 * ALL, "all that was allocated is in them");
	is_int((long long)calls, 3 * ALL, "with all calls");
	pmp_profile_heap_process(profile, 0, &info);
	ok(info.pid == PID && !info.ended, "who runs has its own");
	pmp_profile_free(profile);
}

static void test_ages(void)
{
	const uint64_t second = 1000000000, ages[] = { 0, 5, 30, 90, 100, 700, 4000 };
	struct pmp_profile *profile = new_profile(0, false);
	const uint64_t now = 10000 * second;
	struct pmp_report *report;
	struct pmp_heap_sums sums;

	take(profile, new_batch(PID, now - 5000 * second));
	for (size_t i = 0; i < sizeof(ages) / sizeof(*ages); i++) {
		struct pmp_heap_batch *batch = new_batch(PID, now - ages[i] * second);

		allocate(batch, FILL, 16 * (i + 1), 1000 + i, 0);
		take(profile, batch);
	}
	take(profile, new_batch(PID, now));
	report = new_report(profile, NULL, NULL, 0);
	sums = sums_of(report, "fill");
	ok(sums.ages[0].bytes == 1000 && sums.ages[1].bytes == 1001 &&
		   sums.ages[2].bytes == 1002 && sums.ages[3].bytes == 2007 &&
		   sums.ages[4].bytes == 1005 && sums.ages[5].bytes == 1006,
	   "blocks are counted by age");
	is_int((long long)(sums.oldest / second), 4000, "the oldest is known");
	is_int((long long)sums.survived, 1003 / 60 + 1004 / 60,
	       "what has become a minute old in the minute before, a second");
	pmp_report_free(report);
	report = new_report(profile, NULL, "inuse_objects", 60 * second);
	sums = sums_of(report, "fill");
	ok(sums.live_bytes == 1003 + 1004 + 1005 + 1006 && report->entries[0].count == 4,
	   "only blocks of a minute and more are counted, if that is wanted");
	is_int((long long)sums.alloc_bytes, 7021, "of what was allocated it is all");
	pmp_report_free(report);
	pmp_profile_free(profile);
}

/* ---- reports --------------------------------------------------------------------- */

static void test_report(void)
{
	struct pmp_profile *profile = new_profile(0, true);
	struct pmp_heap_batch *batch = new_batch(PID, 1000);
	struct pmp_filter *filter = NULL;
	struct pmp_report *report;

	allocate(batch, FILL, 0x10, 100, 0);
	allocate(batch, SERVE, 0x20, 30, 0);
	allocate(batch, SERVE, 0x30, 30, 0);
	add_event(batch,
		  (struct pmp_heap_event){ .kind = PMP_HEAP_GROWTH, .usable = 4096 },
		  SERVE);
	take(profile, batch);
	report = new_report(profile, NULL, NULL, 0);
	is_str(report->metadata.sample_type.type, "inuse_space", "bytes are counted");
	is_int((long long)report->shown, 160, "all that live");
	is_str(report->entries[0].thread, "conn-N", "threads are known by their group");
	is_int((long long)sums_of(report, "serve").growth_bytes, 4096,
	       "a call that took memory from the kernel is counted");
	pmp_report_free(report);
	if (pmp_filter_new(&filter, NULL) ||
	    pmp_filter_add(filter, PMP_FILTER_FOCUS, "serve", NULL))
		abort();
	report = new_report(profile, filter, "alloc_objects", 0);
	ok(report->entry_count == 1 && report->entries[0].count == 2 &&
		   report->shown == 2 && report->entries[0].heap->alloc_bytes == 60,
	   "a filter leaves the stacks that it wants, with their heap");
	pmp_report_free(report);
	report = new_report(profile, NULL, NULL, 0);
	pmp_report_free(report);
	pmp_filter_free(filter);
	pmp_profile_free(profile);
}

/* ---- changes --------------------------------------------------------------------- */

static struct pmp_report *new_change(struct pmp_profile *profile, const char *value,
				     const struct pmp_heap_base *since)
{
	const struct pmp_report_options options = { .size = sizeof(options),
						    .heap = true,
						    .heap_value = value,
						    .heap_since = since };
	struct pmp_report *report = NULL;

	if (pmp_report_new(profile, NULL, &options, &report, NULL))
		abort();
	return report;
}

static void test_changes(void)
{
	struct pmp_profile *profile = new_profile(0, false);
	struct pmp_heap_batch *batch = new_batch(PID, 1000);
	struct pmp_heap_base *first = NULL, *second = NULL;
	struct pmp_report *report;
	struct pmp_heap_sums sums;

	allocate(batch, FILL, 0x10, 100, 0);
	allocate(batch, FILL, 0x20, 50, 0);
	take(profile, batch);
	is_int(pmp_profile_heap_base(profile, 0, 0, &first, NULL), 0, "a moment is kept");
	batch = new_batch(PID, 2000);
	release(batch, 0x10);
	allocate(batch, SERVE, 0x30, 30, 0);
	take(profile, batch);
	is_int(pmp_profile_heap_base(profile, 0, 0, &second, NULL), 0, "and a later one");
	report = new_change(profile, NULL, first);
	sums = sums_of(report, "fill");
	is_int(pmp_heap_change(sums.live_bytes, sums.then.live_bytes), -100,
	       "less lives of a stack than then");
	is_int(pmp_blocks_change(sums.live_parts, sums.then.live_parts), -1, "in blocks");
	is_int(pmp_heap_change(sums.alloc_bytes, sums.then.alloc_bytes), 0,
	       "it has allocated nothing since");
	sums = sums_of(report, "serve");
	is_int(pmp_heap_change(sums.live_bytes, sums.then.live_bytes), 30,
	       "a stack that was not there then");
	is_int((long long)report->shown, 30, "what has become more is counted");
	pmp_report_free(report);
	report = new_change(profile, "alloc_objects", second);
	is_int((long long)report->shown, 0, "since the later one there was nothing");
	pmp_report_free(report);
	report = new_report(profile, NULL, NULL, 0);
	is_int((long long)report->shown, 80, "without one all that lives is counted");
	pmp_report_free(report);
	pmp_heap_base_free(first);
	pmp_profile_free(profile);
	pmp_heap_base_free(second);
	ok(true, "a moment may be freed before its profile or after it");
}

/* ---- bounded memory -------------------------------------------------------------- */

static void test_bounded(void)
{
	struct pmp_blocks blocks = { .limit = 1000 };
	struct pmp_block block = { .process = 1, .weight = 1 };
	bool kept = true, right = true;
	size_t large = 0;

	for (uint64_t i = 0; i < 1500; i++) {
		block.pointer = i;
		block.size = i % 10 == 0 ? 100000 : 10;
		block.time = i;
		if (pmp_blocks_put(&blocks, &block))
			abort();
	}
	for (uint64_t i = 0; i < 1500; i += 10)
		large += pmp_blocks_take(&blocks, 1, i, &block) && block.size == 100000;
	kept = large == 150;
	ok(kept, "too many blocks: the large ones stay");
	ok(blocks.evicted == 500 && blocks.evicted_bytes == 5000,
	   "those that are dropped are counted");
	ok(!pmp_blocks_take(&blocks, 1, 1, &block) &&
		   pmp_blocks_take(&blocks, 1, 1499, &block),
	   "of small ones the oldest go");
	pmp_blocks_free(&blocks);
	blocks = (struct pmp_blocks){ 0 };
	block.weight = 1;
	for (uint64_t i = 0; i < 100000; i++) {
		block.pointer = i / 2 * 16;
		block.process = i % 2;
		if (pmp_blocks_put(&blocks, &block))
			abort();
	}
	pmp_blocks_drop(&blocks, 1);
	for (uint64_t i = 0; i < 50000; i++)
		right = right && pmp_blocks_take(&blocks, 0, i * 16, &block) &&
			!pmp_blocks_take(&blocks, 1, i * 16, &block);
	ok(right && blocks.count == 0, "all of a process are dropped, and no other");
	pmp_blocks_free(&blocks);
}

static void test_shrink(void)
{
	enum { MEMORY = 4 << 20 };
	struct pmp_profile *profile = new_profile(MEMORY, false);
	struct pmp_report *report;
	uint64_t all = 0, live = 0, dropped, largest = 0;
	struct pmp_heap_base *moment = NULL;
	const struct pmp_heap *heap;

	for (uint64_t round = 0; round < 40; round++) {
		struct pmp_heap_batch *batch = new_batch(PID, 1000 + round);

		for (uint64_t i = 0; i < 1000; i++) {
			allocate(batch, 4 + 1000 * round + i, 16 * (1000 * round + i), 50,
				 0);
			all += 50;
		}
		take(profile, batch);
		if (round == 5 && pmp_profile_heap_base(profile, 0, 0, &moment, NULL))
			abort();
		heap = pmp_profile_heap(profile);
		if (pmp_heap_size(heap) > largest)
			largest = pmp_heap_size(heap);
	}
	report = new_report(profile, NULL, "alloc_space", 0);
	dropped = report->losses.bytes;
	for (size_t i = 0; i < report->entry_count; i++)
		live += report->entries[i].heap->live_bytes;
	ok(report->entry_count < 40000 && largest < 2 * (uint64_t)MEMORY,
	   "too many stacks: they are merged");
	is_int((long long)report->shown, (long long)all, "none of the bytes is missing");
	is_int((long long)(live + dropped), (long long)all,
	       "what lives and was not dropped is still known by its stack");
	pmp_report_free(report);
	report = new_change(profile, "alloc_space", moment);
	is_int((long long)report->shown, (long long)all - 6 * 1000 * 50,
	       "a moment is still what it was when stacks are merged");
	pmp_report_free(report);
	pmp_heap_base_free(moment);
	pmp_profile_free(profile);
}

int main(void)
{
	test_chance();
	test_exact();
	test_sampled();
	test_processes();
	test_interrupted();
	test_places();
	test_calls();
	test_many_processes();
	test_ages();
	test_report();
	test_changes();
	test_bounded();
	test_shrink();
	return done_testing();
}
