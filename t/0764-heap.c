/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The recorder inside of programs: its sums are those that the program counts for itself, to
 * the last byte; stacks are whole; whatever becomes of the program.
 */
#include "lib/tap.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <time.h>

#include "base/clock.h"
#include "capture/recorder.h"
#include "lib/recorded.h"

#define COUNT "200000"
#define FEW "2000" /* of processes */
#define RATE 65536
#define FEW_RATE 131072	       /* so that they are less than is too many a second */
#define CHAIN_SIZE 1000	       /* of its blocks */
#define FIRST_SIZE (16u << 20) /* of the only blocks of threads */
#define ENDING "17000"	       /* threads: more than there are slots */
#define AT_END 20	       /* blocks of each, when it ends */
#define COUNT_GROWTHS 50000
#define PEAK_MOST 8000 /* bytes that the mode timer has at one time */
#define LATE 100000    /* us in which a short program ends that does not wait */

static const char *folder(void)
{
	const char *top = getenv("top_builddir");

	return top ? top : ".";
}

static const char *absolute_folder(void)
{
	static char path[PATH_MAX];

	return realpath(folder(), path) ? path : folder();
}

static const char *allocator(void)
{
	static char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/t/target/allocator", folder());
	return path;
}

static void run_mode(struct heap_run *run, const char *mode, const char *count)
{
	char *argv[] = { (char *)(uintptr_t)allocator(), (char *)(uintptr_t)mode,
			 (char *)(uintptr_t)count, NULL };

	run->argv = argv;
	if (!heap_run(run))
		diag("cannot run %s", argv[0]);
	run->argv = NULL;
}

/* As the target prints them. */
static const char *text_of(const struct pmp_heap_totals *totals)
{
	static char text[256];

	snprintf(text, sizeof(text),
		 "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
		 " %" PRIu64 "\n",
		 totals->mallocs, totals->callocs, totals->aligned, totals->reallocs,
		 totals->frees, totals->allocated, totals->freed);
	return text;
}

static const char *sums_of(const struct heap_run *run)
{
	return text_of(&run->totals);
}

static bool is_sum(const char *line, const struct pmp_heap_totals *totals)
{
	const char *text = text_of(totals);

	return strncmp(text, line, strlen(text) - 1) == 0;
}

static void test_sums(const char *mode, uint64_t rate)
{
	struct heap_run run = { .options = { .rate = rate, .max_stack = 65536 } };

	run_mode(&run, mode, strcmp(mode, "vforked") ? COUNT : FEW);
	is_int(run.status, 0, "%s, rate %" PRIu64 ": it ends as it does alone", mode,
	       rate);
	is_str(sums_of(&run), run.text, "%s, rate %" PRIu64 ": its sums", mode, rate);
}

/* ---- stacks ----------------------------------------------------------------------------- */

/* How many of the frames, from the second on, lie one after the other in the program: the
 * functions of the chain and main(). */
static void check_chain(struct heap_run *run, const struct pmp_heap_batch *batch,
			const struct pmp_heap_event *event)
{
	const struct pmp_raw_frame *frames = batch->frames + event->frame;
	unsigned *counts = run->arg, own = 0;

	/* What a C library allocates for a thread is not of the chain. */
	if (event->kind != PMP_HEAP_ALLOC || event->asked != CHAIN_SIZE)
		return;
	for (uint32_t i = 1; i < event->frame_count; i++) {
		const struct pmp_region *region =
			pmp_maps_find(batch->maps, frames[i].pc);

		if (!region || strstr(region->module->path, "pmp-heap"))
			counts[2]++;
		own += region && strstr(region->module->path, "/allocator") &&
		       i == own + 1;
	}
	counts[own >= 5]++;
}

/* malloc < operator new (two for new[]) < f0 < ... < f3 < main. */
static void check_news(struct heap_run *run, const struct pmp_heap_batch *batch,
		       const struct pmp_heap_event *event)
{
	const struct pmp_raw_frame *frames = batch->frames + event->frame;
	unsigned *counts = run->arg, own = 0;

	if (event->kind != PMP_HEAP_ALLOC ||
	    (event->asked != CHAIN_SIZE && event->asked != 1024))
		return;
	if (event->asked == 1024 && event->function == PMP_HEAP_MALLOC)
		return; /* of stdio */
	for (uint32_t i = 1; i < event->frame_count; i++) {
		const struct pmp_region *region =
			pmp_maps_find(batch->maps, frames[i].pc);

		counts[2] += !region || strstr(region->module->path, "pmp-heap");
		own += region && strstr(region->module->path, "/news");
	}
	counts[own >= 5]++;
}

/* What was closed ends a stack, or is still known; it is never another module's. */
static void test_closed(void)
{
	struct heap_run run = { .options = { .rate = 4096, .max_stack = 65536 } };
	static char path[PATH_MAX];
	unsigned counts[3] = { 0 };
	char *argv[] = { (char *)(uintptr_t)allocator(), (char *)(uintptr_t) "closed",
			 (char *)(uintptr_t) "300", path, NULL };

	snprintf(path, sizeof(path), "%s/t/target/plugin.so", folder());
	if (access(path, R_OK) != 0) {
		skip("no t/target/plugin.so");
		return;
	}
	run.argv = argv;
	run.event = check_chain;
	run.arg = counts;
	ok(heap_run(&run) && run.status == 0, "closed: it runs");
	ok(run.events[PMP_HEAP_ALLOC] > 1000, "closed: %d stacks",
	   (int)run.events[PMP_HEAP_ALLOC]);
	is_int(counts[2], 0, "closed: no frame of nothing");
}

static void test_chain(const char *mode, unsigned least)
{
	unsigned counts[3] = { 0 };
	struct heap_run run = { .options = { .rate = RATE, .max_stack = 65536 },
				.event = check_chain,
				.arg = counts };

	run_mode(&run, mode, COUNT);
	ok(counts[1] > least, "%s: %u stacks with the whole chain", mode, counts[1]);
	is_int(counts[0], 0, "%s: none without", mode);
	is_int(counts[2], 0, "%s: no frame of the recorder, or of nothing", mode);
	is_int(run.ends[PMP_END_ROOT], run.events[PMP_HEAP_ALLOC],
	       "%s: each ends at the root", mode);
}

/* ---- every call ---------------------------------------------------------------------------- */

struct blocks {
	uint64_t live[1 << 17]; /* pointers, at their hash */
	uint64_t unknown, twice, bytes;
};

static uint64_t *find_block(struct blocks *blocks, uint64_t pointer)
{
	size_t i = (pointer >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 47;

	while (blocks->live[i] && blocks->live[i] != pointer)
		i = (i + 1) % (1 << 17);
	return &blocks->live[i];
}

/* Tombstones are 1. */
static void follow(struct heap_run *run, const struct pmp_heap_batch *batch,
		   const struct pmp_heap_event *event)
{
	struct blocks *blocks = run->arg;
	uint64_t *block = find_block(blocks, event->pointer);

	(void)batch;
	if (event->kind == PMP_HEAP_ALLOC) {
		blocks->twice += *block == event->pointer;
		blocks->bytes += event->usable;
		*block = event->pointer;
	} else if (event->kind == PMP_HEAP_FREE) {
		blocks->unknown += *block != event->pointer;
		*block = *block ? 1 : 0;
	}
}

static void test_exact(void)
{
	static struct blocks blocks;
	struct heap_run run = { .options = { .max_stack = 4096 },
				.event = follow,
				.arg = &blocks };

	run_mode(&run, "mixed", "20000");
	is_str(sums_of(&run), run.text, "exact: its sums");
	is_int(run.totals.lost, 0, "exact: nothing is lost");
	is_int(blocks.bytes, run.totals.allocated, "exact: each call is recorded");
	is_int(blocks.unknown, 0, "exact: no block is freed that was not allocated");
	is_int(blocks.twice, 0, "exact: none is allocated twice");
}

/* Nobody reads: what is not written down is counted as that, each call. */
static void test_lost(void)
{
	struct heap_run run = { .options = { .max_stack = 65536 }, .stop_reading = true };
	uint64_t wanted, written;

	run_mode(&run, "mixed", COUNT);
	is_str(sums_of(&run), run.text, "exact, not read: its sums");
	wanted = run.totals.mallocs + run.totals.callocs + run.totals.aligned +
		 2 * run.totals.reallocs + run.totals.frees;
	written = run.events[PMP_HEAP_ALLOC] + run.events[PMP_HEAP_FREE];
	ok(written > 100 && written < wanted,
	   "exact, not read: %" PRIu64 " of %" PRIu64 " records are there", written,
	   wanted);
	/* Calls for which the heap has grown have one more. */
	ok(run.totals.lost >= wanted - written &&
		   run.totals.lost <= wanted - written + COUNT_GROWTHS,
	   "exact, not read: all others are counted as lost, %" PRIu64, run.totals.lost);
}

/* Of the same stack, with each function of the allocator: as many as there were. */
static void count_kinds(struct heap_run *run, const struct pmp_heap_batch *batch,
			const struct pmp_heap_event *event)
{
	uint64_t *counts = run->arg;

	(void)batch;
	if (event->kind == PMP_HEAP_ALLOC && event->asked == CHAIN_SIZE)
		counts[event->function] += event->frame_count >= 6;
}

static void test_by_stack(void)
{
	static const char *const names[] = { "malloc", "calloc", "realloc", "memalign" };
	uint64_t counts[PMP_HEAP_FUNCTION_COUNT] = { 0 };
	struct heap_run run = { .options = { .max_stack = 65536 },
				.event = count_kinds,
				.arg = counts };

	run_mode(&run, "chain", "20000");
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		is_int(counts[i], 5000, "by stack: all blocks of %s", names[i]);
}

/* What could be over before anybody has looked at it is not. */
static void test_at_once(void)
{
	uint64_t counts[PMP_HEAP_FUNCTION_COUNT] = { 0 };
	struct heap_run run = { .options = { .max_stack = 65536 },
				.late = LATE,
				.event = count_kinds,
				.arg = counts };

	run_mode(&run, "chain", "40");
	for (size_t i = PMP_HEAP_MALLOC; i <= PMP_HEAP_ALIGNED; i++)
		is_int(counts[i], 10, "at once: all blocks of function %zu have stacks",
		       i);
	is_int(run.totals.stackless, 0, "at once: which is said");
	is_str(sums_of(&run), run.text, "at once: its sums");
}

/* Nobody samples the children here: that their stacks are not known is counted. */
static void test_stackless(void)
{
	static struct heap_run run;
	uint64_t stackless = 0;

	run = (struct heap_run){ .options = { .max_stack = 4096, .children = true } };
	run_mode(&run, "children", "2000");
	for (size_t i = 0; i < run.other_count; i++)
		stackless += run.others[i].totals.stackless;
	ok(stackless > 2000, "stackless: %" PRIu64 " samples", stackless);
	is_int(run.totals.stackless, 0, "stackless: none of the command");
}

/* Every event has a thread, all but the start with its name; in all batches. */
static void count_nameless(struct heap_run *run, const struct pmp_heap_batch *batch,
			   const struct pmp_heap_event *event)
{
	unsigned *counts = run->arg;

	if (event->kind == PMP_HEAP_START)
		return;
	counts[0]++;
	counts[1] += strcmp(batch->threads[event->thread].name, "allocator") != 0;
}

static void test_named(void)
{
	unsigned counts[2] = { 0 };
	static struct heap_run run;

	run = (struct heap_run){ .options = { .max_stack = 4096, .children = true },
				 .event = count_nameless,
				 .event_of_others = true,
				 .arg = counts };
	run_mode(&run, "children", FEW);
	ok(counts[0] >= (unsigned)atoi(FEW), "named: %u events", counts[0]);
	is_int(counts[1], 0, "named: each with the name of its thread");
}

static void test_crowd(void)
{
	static struct heap_run run;

	run = (struct heap_run){
		.options = { .rate = RATE, .max_stack = 4096, .children = true }
	};
	run_mode(&run, "crowd", "100");
	is_int(run.status, 0, "crowd: it ends as it does alone");
	is_int(run.totals.unrecorded, 101 - PMP_RECORDED_MOST,
	       "crowd: processes that there is no place for");
}

/* Of n blocks of one size each is chosen with a probability that its size gives. */
static void test_estimate(void)
{
	uint64_t counts[PMP_HEAP_FUNCTION_COUNT] = { 0 };
	struct heap_run run = { .options = { .rate = FEW_RATE, .max_stack = 4096 },
				.event = count_kinds,
				.arg = counts };
	/* 1 - exp(-x), for a small x. */
	const double n = atoi(COUNT), x = (double)CHAIN_SIZE / FEW_RATE;
	const double chosen = x - x * x / 2 + x * x * x / 6;
	const double variance = n * (1 - chosen) / chosen;
	double sum = 0;

	run_mode(&run, "chain", COUNT);
	for (size_t i = 0; i < PMP_HEAP_FUNCTION_COUNT; i++)
		sum += (double)counts[i] / chosen;
	is_int(run.totals.rate, FEW_RATE, "estimate: the rate has not been raised");
	ok((sum - n) * (sum - n) < 16 * variance,
	   "estimate: %.0f of %.0f blocks, within 4 standard errors", sum, n);
}

static void count_firsts(struct heap_run *run, const struct pmp_heap_batch *batch,
			 const struct pmp_heap_event *event)
{
	unsigned *count = run->arg;

	(void)batch;
	*count += event->kind == PMP_HEAP_ALLOC && event->asked == FIRST_SIZE;
}

/* The first block of each thread may be the only one, and is much larger than the rate. */
static void test_firsts(void)
{
	unsigned count = 0;
	struct heap_run run = { .options = { .rate = RATE, .max_stack = 4096 },
				.event = count_firsts,
				.arg = &count };

	run_mode(&run, "firsts", "16");
	is_int(count, 16, "firsts: the first block of each thread is chosen");
}

/* Each stands for 1 / (1 - exp(-size / rate)) blocks, by the rate that has chosen it. */
static void weigh(struct heap_run *run, const struct pmp_heap_batch *batch,
		  const struct pmp_heap_event *event)
{
	const double x = event->rate ? (double)CHAIN_SIZE / (double)event->rate : 1;
	const double chosen = x - x * x / 2 + x * x * x / 6;
	double *sums = run->arg;

	(void)batch;
	if (event->kind != PMP_HEAP_ALLOC || event->asked != CHAIN_SIZE)
		return;
	sums[0] += 1 / chosen;
	sums[1] += (1 - chosen) / (chosen * chosen);
}

/* Those that are chosen while the rate changes stand for as many as there were. */
static void test_rates(void)
{
	double sums[2] = { 0 }, n = atoi(COUNT);
	struct heap_run run = { .options = { .rate = RATE, .max_stack = 4096 },
				.event = weigh,
				.arg = sums };

	run_mode(&run, "rates", COUNT);
	ok((sums[0] - n) * (sums[0] - n) < 16 * sums[1],
	   "rates: %.0f of %.0f blocks, within 4 standard errors", sums[0], n);
}

/* What each of so many threads allocates, most of it at its end, is chosen and counted; and
 * so is what comes when there have been more of them than slots. */
static void test_ending(void)
{
	const unsigned threads = atoi(ENDING);
	double sums[2] = { 0 }, n = threads * (1. + AT_END) + 1 + atoi(COUNT);
	struct heap_run run = { .options = { .rate = RATE, .max_stack = 4096 },
				.event = weigh,
				.arg = sums };
	unsigned long long mallocs = 0;

	run_mode(&run, "ending", ENDING);
	sscanf(run.text, "%llu", &mallocs);
	is_int(run.totals.mallocs, mallocs, "ending: calls of malloc()");
	ok((sums[0] - n) * (sums[0] - n) < 16 * sums[1],
	   "ending: %.0f of %.0f blocks, within 4 standard errors", sums[0], n);
	ok(run.totals.allocated - run.totals.freed < 65536,
	   "ending: nothing is left, %" PRIu64 " bytes",
	   run.totals.allocated - run.totals.freed);
}

static void count_chain(struct heap_run *run, const struct pmp_heap_batch *batch,
			const struct pmp_heap_event *event)
{
	unsigned *counts = run->arg;

	if (event->kind != PMP_HEAP_ALLOC || event->asked != CHAIN_SIZE)
		return;
	counts[0]++;
	counts[1] += !batch->threads[event->thread].tid;
}

static void test_ending_exact(void)
{
	unsigned counts[2] = { 0 };
	struct heap_run run = { .options = { .max_stack = 1024 },
				.event = count_chain,
				.arg = counts };

	run_mode(&run, "ending", "100");
	is_int(run.totals.lost, 0, "ending, exact: nothing is lost");
	is_int(counts[0], 100 * (1 + AT_END) + 1 + atoi(COUNT),
	       "ending, exact: all blocks are there");
	is_int(counts[1], 0, "ending, exact: each with its thread");
}

/* ---- hard cases ---------------------------------------------------------------------------- */

static void test_killed(void)
{
	struct heap_run run = { .options = { .rate = RATE, .max_stack = 65536 } };

	run_mode(&run, "killed", "100000");
	ok(WIFSIGNALED(run.status), "killed: it is");
	is_int(run.totals.mallocs + run.totals.callocs + run.totals.aligned, 100000,
	       "killed: what it did until then is known");
	ok(run.events[PMP_HEAP_ALLOC] > 500, "killed: and %d stacks",
	   (int)run.events[PMP_HEAP_ALLOC]);
}

static void test_exec(void)
{
	struct heap_run run = { .options = { .rate = RATE, .max_stack = 65536 } };

	run_mode(&run, "exec", "50000");
	is_str(sums_of(&run), run.text, "exec: the sums are those of the second program");
	is_int(run.events[PMP_HEAP_START], 2, "exec: both have begun");
}

static void test_fails(void)
{
	struct heap_run run = { .options = { .rate = RATE, .max_stack = 65536 } };

	run_mode(&run, "fails", "100");
	is_int(run.totals.failed, 100, "fails: calls that failed");
	is_int(run.totals.failed_reallocs, 100, "fails: and of realloc");
	is_int(run.events[PMP_HEAP_FAILED] + run.events[PMP_HEAP_REALLOC_FAILED], 200,
	       "fails: each with its stack");
}

/* What fails all the time takes no room from samples. */
static void test_fails_often(void)
{
	struct heap_run run = { .options = { .rate = RATE, .max_stack = 65536 } };

	run_mode(&run, "fails", "100000");
	is_int(run.totals.failed + run.totals.failed_reallocs, 200000,
	       "fails often: calls that failed");
	ok(run.events[PMP_HEAP_FAILED] > 100 && run.events[PMP_HEAP_FAILED] < 20000,
	   "fails often: %d with their stacks", (int)run.events[PMP_HEAP_FAILED]);
	is_int(run.totals.rate, RATE, "fails often: the rate has not been raised");
	is_int(run.totals.lost, 0, "fails often: nothing is lost");
}

static void test_signal(void)
{
	struct heap_run run = { .options = { .rate = RATE, .max_stack = 65536 } };

	run_mode(&run, "signal", COUNT);
	is_str(sums_of(&run), run.text, "signal: its sums");
	ok(run.events[PMP_HEAP_ALLOC] > 1000, "signal: %d stacks",
	   (int)run.events[PMP_HEAP_ALLOC]);
	is_int(run.ends[PMP_END_OTHER_STACK], run.events[PMP_HEAP_ALLOC],
	       "signal: which are said to be on another stack");
}

/* What children without handlers count and write down is not their parent's. */
static void test_cloned(uint64_t rate)
{
	static struct blocks blocks;
	struct heap_run run = { .options = { .rate = rate, .max_stack = 4096 },
				.event = follow,
				.arg = &blocks };

	blocks = (struct blocks){ 0 };
	run_mode(&run, "cloned", "5000");
	is_str(sums_of(&run), run.text, "cloned, rate %" PRIu64 ": its sums", rate);
	is_int(blocks.unknown, 0, "cloned, rate %" PRIu64 ": no block is freed twice",
	       rate);
}

static void test_growth(void)
{
	struct heap_run run = { .options = { .rate = RATE, .max_stack = 65536 } };
	unsigned long long by_brk = 0, mapped = 0;

	run_mode(&run, "grow", "1000");
	if (sscanf(run.text, "grown %llu %llu", &by_brk, &mapped) != 2) {
		skip("the C library does not say how its heap has grown");
		return;
	}
	is_int(run.totals.brk_growth, by_brk, "grow: by brk()");
	is_int(run.totals.mmap_growth, mapped, "grow: mapped");
	is_int(run.totals.given_back, mapped, "grow: and given back");
	ok(run.events[PMP_HEAP_GROWTH] > 100, "grow: %d stacks",
	   (int)run.events[PMP_HEAP_GROWTH]);
}

static void test_maps(bool wanted)
{
	struct heap_run run = {
		.options = { .rate = RATE, .max_stack = 65536, .mmap = wanted }
	};

	run_mode(&run, "maps", "50");
	is_int(run.events[PMP_HEAP_UNMAP], wanted ? 50 : 0,
	       "maps: those that are unmapped");
	is_int(run.totals.mmap_growth, wanted ? 50 * 65536 : 0, "maps: mapped");
	is_int(run.totals.given_back, wanted ? 25 * (65536 + 32768) : 0,
	       "maps: and given back");
}

static void test_context(void)
{
	struct heap_run run = { .options = { .rate = 4096, .max_stack = 65536 } };

	run_mode(&run, "context", "1");
	is_str(sums_of(&run), run.text, "context: its sums");
	ok(run.events[PMP_HEAP_ALLOC] > 500 &&
		   run.ends[PMP_END_OTHER_STACK] + run.ends[PMP_END_ROOT] ==
			   run.events[PMP_HEAP_ALLOC],
	   "context: %d stacks, to their root or said to be on another one",
	   (int)run.events[PMP_HEAP_ALLOC]);
}

static void test_limited(void)
{
	struct heap_run run = { .options = { .rate = RATE, .max_stack = 65536 } };

	run_mode(&run, "limited", "100");
	is_str(sums_of(&run), run.text, "limited: its sums");
	ok(run.totals.failed > 50 && run.events[PMP_HEAP_FAILED] == run.totals.failed,
	   "limited: %d calls failed, each with its stack", (int)run.totals.failed);
}

/* Threads may free and allocate at once what is counted for the other. */
static void test_threads(void)
{
	struct heap_run run = { .options = { .rate = 4096, .max_stack = 4096 } };
	unsigned long long mallocs = 0, allocated = 0;

	run_mode(&run, "threads", "1");
	if (sscanf(run.text, "%llu %*u %*u %*u %*u %llu", &mallocs, &allocated) != 2)
		mallocs = allocated = 1;
	is_int(run.totals.mallocs, mallocs, "threads: calls of malloc()");
	/* The C library allocates for each thread, by calloc(). */
	ok(run.totals.callocs > 0 && run.totals.allocated > allocated &&
		   run.totals.allocated - allocated < 65536,
	   "threads: and bytes");
}

/* The command may do what it likes with what it shares. */
static void test_noise(void)
{
	struct heap_run run = { .options = { .rate = 4096, .max_stack = 65536 } };

	run_mode(&run, "noise", "200");
	is_int(run.status, 0, "noise: it could not cut the memory, and has ended");
	ok(true, "noise: its reader has survived");
}

/* Of blocks that are chosen each end is seen: what is left are those that live. */
static void count_live(struct heap_run *run, const struct pmp_heap_batch *batch,
		       const struct pmp_heap_event *event)
{
	int64_t *live = run->arg;

	(void)batch;
	if (event->kind == PMP_HEAP_ALLOC)
		++*live;
	else if (event->kind == PMP_HEAP_FREE)
		--*live;
}

static void test_freed(void)
{
	int64_t live = 0;
	struct heap_run run = { .options = { .rate = RATE, .max_stack = 4096 },
				.event = count_live,
				.arg = &live };

	run_mode(&run, "chain", COUNT);
	ok(run.events[PMP_HEAP_FREE] > 1000, "freed: %d chosen blocks",
	   (int)run.events[PMP_HEAP_FREE]);
	ok(live >= 0 && live < 3, "freed: none of them lives on, %d do", (int)live);
}

/* What the recorder does is nothing that the program would notice. */
static void test_quiet(void)
{
	struct heap_run run = { .options = { .rate = 4096, .max_stack = 65536 } };

	run_mode(&run, "quiet", "20000");
	is_int(run.status, 0, "quiet: no system call");
	is_str(sums_of(&run), run.text, "quiet: its sums");
}

/* Nor where the ring is full and room is waited for. */
static void test_strict(bool reads)
{
	struct heap_run run = { .options = { .max_stack = 65536 },
				.late = LATE,
				.stop_reading = !reads };

	run_mode(&run, "strict", "30000");
	is_int(run.status, 0, "strict, %s: no system call", reads ? "read" : "not read");
	is_str(sums_of(&run), run.text, "strict, %s: its sums",
	       reads ? "read" : "not read");
}

static void test_bump(void)
{
	static char path[PATH_MAX + sizeof("/t/target/bump.so")];
	struct heap_run run = { .options = { .rate = 4096, .max_stack = 4096 },
				.preload = path };
	unsigned long long below = 0;

	snprintf(path, sizeof(path), "%s/t/target/bump.so", absolute_folder());
	if (access(path, R_OK) != 0) {
		skip("no t/target/bump.so");
		return;
	}
	run_mode(&run, "bump", "10000");
	if (sscanf(run.text, "below %llu", &below) != 1)
		below = 0;
	ok(run.events[PMP_HEAP_ALLOC] > 500, "bump: %d stacks",
	   (int)run.events[PMP_HEAP_ALLOC]);
	is_int(below, 20000, "bump: the allocator has seen the program's calls only");
}

/* A handler that comes in between leaves the sum of all threads right: so does the peak, in a
 * program that has few blocks at a time. */
static void test_peak(uint64_t rate)
{
	struct heap_run run = { .options = { .rate = rate, .max_stack = 4096 } };

	run_mode(&run, "timer", "100000");
	ok(run.totals.peak < PEAK_MOST, "timer, rate %" PRIu64 ": its peak, %" PRIu64,
	   rate, run.totals.peak);
}

static void test_environment(void)
{
	struct heap_run run = { .options = { .rate = RATE, .max_stack = 4096 } };

	run_mode(&run, "environment", "30");
	is_int(run.status, 0,
	       "environment: a small stack is enough, and nothing is left");
}

/* Each line of its output is what one of its processes has counted, which is known of that, and
 * all of them are. */
static void test_family(const char *mode, const char *count, size_t most, uint64_t rate)
{
	static struct heap_run run;
	size_t lines = 0, right = 0, ended = 0;
	char *rest, *line;

	run = (struct heap_run){
		.options = { .rate = rate, .max_stack = 4096, .children = true }
	};
	run_mode(&run, mode, count);
	run.others[run.other_count < HEAP_OTHERS ? run.other_count : HEAP_OTHERS - 1] =
		(struct heap_other){ run.pid, run.totals };
	for (line = strtok_r(run.text, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest)) {
		const char *wanted = strchr(line, ' ');
		bool found = false;

		lines++;
		for (size_t i = 0; wanted && i <= run.other_count && i < HEAP_OTHERS; i++)
			found = found || (run.others[i].pid == atoi(line) &&
					  is_sum(wanted + 1, &run.others[i].totals));
		right += found;
		if (!found)
			diag("wrong: %s", line);
	}
	for (size_t i = 0; i < run.other_count; i++)
		ended += run.others[i].totals.ended;
	is_int(lines, most, "%s, rate %" PRIu64 ": processes", mode, rate);
	is_int(right, lines, "%s, rate %" PRIu64 ": the sums of each", mode, rate);
	is_int(ended, run.other_count, "%s, rate %" PRIu64 ": all of them have ended",
	       mode, rate);
}

/* What each batch says was allocated, one after the other. */
struct told {
	char text[64];
};

static struct pmp_target *no_target(void *arg, pid_t pid)
{
	(void)arg;
	(void)pid;
	return NULL;
}

static void tell(void *arg, const struct pmp_heap_batch *batch)
{
	struct told *told = arg;
	const size_t n = strlen(told->text);

	snprintf(told->text + n, sizeof(told->text) - n, " %" PRIu64,
		 batch->totals.allocated);
}

/* The number-th entry, of a program that this process is, as a recorder fills it. */
static void fill_entry(struct pmp_heap_process *entry, uint32_t number,
		       uint64_t allocated)
{
	entry->pid = (uint32_t)getpid();
	entry->start = PMP_S;
	entry->number = number;
	entry->allocated = allocated;
	__atomic_store_n(&entry->state, PMP_HEAP_PROCESS_RECORDS, __ATOMIC_RELEASE);
}

/* A recorder of the command and its children, and its memory as they see it. */
static struct pmp_recorder *open_recorder(struct pmp_heap_shared *shared)
{
	const struct pmp_recorder_options options = { .size = sizeof(options),
						      .children = true };
	struct pmp_recorder *recorder;
	int memory, file;

	if (pmp_recorder_new(&options, &recorder, NULL) < 0)
		exit(99);
	pmp_recorder_descriptors(recorder, &memory, &file);
	if (pmp_heap_shared_open(memory, shared, NULL) < 0)
		exit(99);
	return recorder;
}

/* Two that a process executes in one tick, the later one in the entry that is found first. */
static void test_programs(void)
{
	enum { FIRST = 3, SECOND = 2, THIRD = 5 };
	struct told told = { "" };
	const struct pmp_recorder_calls calls = { .target = no_target,
						  .take = tell,
						  .arg = &told };
	struct pmp_recorder *recorder;
	struct pmp_heap_shared shared;

	recorder = open_recorder(&shared);
	fill_entry(&shared.processes[FIRST], 0, 100);
	pmp_recorder_read(recorder, &calls, false, NULL);
	shared.processes[FIRST].allocated = 150;
	fill_entry(&shared.processes[SECOND], 1, 20);
	fill_entry(&shared.processes[THIRD], 2, 3);
	is_int(pmp_recorder_process(recorder, getpid())->number, 2,
	       "programs: the last one is what the process is");
	pmp_recorder_read(recorder, &calls, false, NULL);
	is_str(told.text, " 100 150 20 3", "programs: each is told before the next one");
	ok(shared.processes[FIRST].state == PMP_HEAP_PROCESS_FREE &&
		   shared.processes[SECOND].state == PMP_HEAP_PROCESS_FREE,
	   "programs: entries of those that were replaced are free");
	is_int(shared.processes[THIRD].allocated, 3, "programs: the last one keeps its");
	pmp_heap_shared_close(&shared);
	pmp_recorder_free(recorder);
}

/* A process that begins to record while another one is looked up. */
struct latecomer {
	struct pmp_heap_shared shared;
	bool slowly; /* the look-up takes all the time that a call has for new processes */
	bool is_there;
	unsigned allocations;
};

static void put_record(const struct pmp_heap_shared *shared, uint64_t state)
{
	struct pmp_heap_header *header = shared->header;
	struct pmp_heap_record *record =
		(void *)(shared->ring + header->head % PMP_HEAP_RING_SIZE);

	*record = (struct pmp_heap_record){ .stamp = header->head | state,
					    .length = 256,
					    .tid = 1,
					    .kind = PMP_HEAP_ALLOC,
					    .pointer = 16 };
	header->head += 256;
}

static struct pmp_target *come_late(void *arg, pid_t pid)
{
	struct latecomer *late = arg;
	const struct timespec all = { 0, 150 * PMP_MS };

	(void)pid;
	if (late->is_there)
		return NULL;
	late->is_there = true;
	fill_entry(&late->shared.processes[0], 1, 16);
	late->shared.processes[0].pid = (uint32_t)getppid();
	/* One that its writer has not completed comes before it. */
	put_record(&late->shared, PMP_HEAP_RESERVED);
	put_record(&late->shared, PMP_HEAP_COMPLETE);
	if (late->slowly)
		nanosleep(&all, NULL);
	return NULL;
}

static void count_allocations(void *arg, const struct pmp_heap_batch *batch)
{
	struct latecomer *late = arg;

	for (size_t i = 0; i < batch->event_count; i++)
		late->allocations += batch->events[i].kind == PMP_HEAP_ALLOC;
}

static void test_late(bool slowly)
{
	struct latecomer late = { .slowly = slowly };
	const struct pmp_recorder_calls calls = { .target = come_late,
						  .take = count_allocations,
						  .arg = &late };
	struct pmp_recorder *recorder;

	recorder = open_recorder(&late.shared);
	fill_entry(&late.shared.processes[1], 0, 100);
	while (pmp_recorder_read(recorder, &calls, true, NULL) == 1)
		;
	ok(late.is_there, "late: another process begins to record");
	is_int(late.allocations, 1, "late: its first record is not lost%s",
	       slowly ? ", however long that took" : "");
	pmp_heap_shared_close(&late.shared);
	pmp_recorder_free(recorder);
}

static void complete_last(const struct pmp_heap_shared *shared)
{
	const uint64_t position = shared->header->head - 256;
	struct pmp_heap_record *record =
		(void *)(shared->ring + position % PMP_HEAP_RING_SIZE);

	record->stamp = position | PMP_HEAP_COMPLETE;
}

/* A process has ended while it wrote; another one goes on writing. */
static void test_ends(void)
{
	struct latecomer count = { 0 };
	struct pmp_recorder_calls calls = { .target = no_target,
					    .take = count_allocations,
					    .arg = &count };
	struct pmp_recorder *recorder;
	struct pmp_heap_shared shared;

	recorder = open_recorder(&shared);
	fill_entry(&shared.processes[0], 0, 100);
	put_record(&shared, PMP_HEAP_RESERVED);
	put_record(&shared, PMP_HEAP_RESERVED);
	calls.written = pmp_recorder_written(recorder);
	put_record(&shared, PMP_HEAP_RESERVED);
	pmp_recorder_read(recorder, &calls, false, NULL);
	ok(!pmp_recorder_has_read(recorder, 1),
	   "ends: an incomplete record is waited for");
	pmp_recorder_read(recorder, &calls, true, NULL);
	ok(pmp_recorder_has_read(recorder, calls.written) &&
		   !pmp_recorder_has_read(recorder, calls.written + 1),
	   "ends: unless its process has ended");
	complete_last(&shared);
	pmp_recorder_read(recorder, &calls, true, NULL);
	is_int(count.allocations, 1, "ends: one that is being written is not lost");
	put_record(&shared, PMP_HEAP_RESERVED);
	put_record(&shared, PMP_HEAP_RESERVED);
	calls.written = 0;
	pmp_recorder_read(recorder, &calls, true, NULL);
	ok(pmp_recorder_has_read(recorder, pmp_recorder_written(recorder)),
	   "ends: in the end none is waited for");
	pmp_heap_shared_close(&shared);
	pmp_recorder_free(recorder);
}

/* Operators of C++ are functions of the allocator as well. */
static void test_news(void)
{
	struct heap_run run = { .options = { .max_stack = 65536 } };
	static char path[PATH_MAX];
	char *argv[] = { path, (char *)(uintptr_t) "wait", (char *)(uintptr_t) "4000",
			 NULL };
	unsigned counts[3] = { 0 };

	snprintf(path, sizeof(path), "%s/t/target/news", folder());
	if (access(path, X_OK) != 0) {
		skip("no t/target/news");
		return;
	}
	run.argv = argv;
	run.event = check_news;
	run.arg = counts;
	ok(heap_run(&run), "new: it runs");
	is_int(counts[1], 4000, "new: each with its chain, above malloc() or memalign()");
	is_int(counts[0] + counts[2], 0, "new: no frame of the recorder, or of nothing");
	ok(run.totals.frees >= 4000 && run.totals.live_blocks < 10,
	   "new: what is deleted is freed");
}

/* pmp is stopped or gone: nothing waits for it. */
static void test_unread(void)
{
	struct heap_run run = { .options = { .rate = 4096, .max_stack = 65536 },
				.stop_reading = true };

	run_mode(&run, "mixed", COUNT);
	is_int(run.status, 0, "unread: it ends as it does alone");
	is_str(sums_of(&run), run.text, "unread: its sums");
}

static char **only; /* those that are wanted, by name; none: all */

static bool is_wanted(const char *name)
{
	bool found = !*only;

	for (char **one = only; *one; one++)
		found = found || strcmp(*one, name) == 0;
	return found;
}

#define RUN(name, call) \
	if (is_wanted(name)) \
	call

int main(int argc, char **argv)
{
	(void)argc;
	only = argv + 1;
	if (access(allocator(), X_OK) != 0) {
		skip("no t/target/allocator");
		return done_testing();
	}
	RUN("mixed", test_sums("mixed", RATE));
	RUN("mixed", test_sums("mixed", 1 << 30));
	RUN("forked", test_sums("forked", RATE));
	RUN("chain", test_sums("chain", 4096));
	RUN("timer", test_sums("timer", RATE));
	RUN("chain", test_chain("chain", 500));
	RUN("small", test_chain("small", 500));
	RUN("exact", test_exact());
	RUN("lost", test_lost());
	RUN("killed", test_killed());
	RUN("exec", test_exec());
	RUN("fails", test_fails());
	RUN("fails_often", test_fails_often());
	RUN("signal", test_signal());
	RUN("unread", test_unread());
	RUN("cloned", test_cloned(4096));
	RUN("cloned", test_cloned(0));
	RUN("children", test_family("children", "20000", 6, RATE));
	RUN("children", test_family("children", "2000", 6, 0));
	RUN("brief", test_family("brief", "300", 301, RATE));
	RUN("programs", test_programs());
	RUN("ends", test_ends());
	RUN("late", test_late(false));
	RUN("late", test_late(true));
	RUN("vforked", test_sums("vforked", RATE));
	RUN("loading", test_family("loading", "30", 30, RATE));
	RUN("allocating", test_family("allocating", "30", 30, 0));
	RUN("environment", test_environment());
	RUN("freed", test_freed());
	RUN("quiet", test_quiet());
	RUN("strict", test_strict(true));
	RUN("strict", test_strict(false));
	RUN("bump", test_bump());
	RUN("peak", test_peak(0));
	RUN("growth", test_growth());
	RUN("maps", test_maps(true));
	RUN("maps", test_maps(false));
	RUN("context", test_context());
	RUN("limited", test_limited());
	RUN("threads", test_threads());
	RUN("noise", test_noise());
	RUN("news", test_news());
	RUN("closed", test_closed());
	for (int i = 0; i < (getenv("PMP_LONG") ? 20 : 1); i++)
		RUN("estimate", test_estimate());
	RUN("firsts", test_firsts());
	RUN("rates", test_rates());
	RUN("ending", test_ending());
	RUN("ending", test_ending_exact());
	RUN("by_stack", test_by_stack());
	RUN("at_once", test_at_once());
	RUN("stackless", test_stackless());
	RUN("named", test_named());
	RUN("crowd", test_crowd());
	return done_testing();
}
