/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory runs out while a saved profile is read or written: the k-th allocation fails,
 * for every k. The result is an error, or as good as ever; nothing crashes.
 *
 * malloc and its kin are this program's own here, in front of glibc's; sanitizers have
 * theirs in the same place, so with them this test has nothing to do.
 */
#include "lib/tap.h"
#include "lib/report.h"
#include "base/sanitized.h"
#include "lib/saved.h"

#if !SANITIZED && defined(__GLIBC__)

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *data, size_t size);

/* volatile: compilers believe that malloc changes no variable of a program. */
static volatile struct {
	bool counting, failed;
	long calls, fail_at;
} heap;

static bool fails(void)
{
	if (!heap.counting || heap.calls++ != heap.fail_at)
		return false;
	heap.failed = true;
	return true;
}

void *malloc(size_t size)
{
	return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	return fails() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *data, size_t size)
{
	return fails() ? NULL : __libc_realloc(data, size);
}

static void begin(long fail_at)
{
	heap.calls = 0;
	heap.fail_at = fail_at;
	heap.failed = false;
	heap.counting = true;
}

static int drop(void *arg, const void *data, size_t length)
{
	(void)data;
	*(size_t *)arg += length;
	return 0;
}

static int write_as(const struct saved *saved, const struct pmp_format *format, bool diff,
		    const struct pmp_sink *sink)
{
	struct pmp_profile *base = diff ? saved->profile : NULL;

	return report_write(saved->profile, base, NULL, format, NULL, sink, NULL);
}

static void test_write(const struct saved *saved, const struct pmp_format *format,
		       bool diff)
{
	size_t whole = 0, length;
	struct pmp_sink sink = { drop, &whole };
	long k = 0, bad = 0;

	if (write_as(saved, format, diff, &sink))
		bad++;
	sink.arg = &length;
	do {
		int code;

		length = 0;
		begin(k++);
		code = write_as(saved, format, diff, &sink);
		heap.counting = false;
		/* What asks for names may do without. */
		bad += code != PMP_ENOMEM && (code || length != whole);
	} while (heap.failed);
	ok(!bad && k > 1, "%s%s: %ld allocations fail in turn", format->name,
	   diff ? ", compared" : "", k - 1);
}

/* Filtering a profile that was read. */
static void test_filter(const struct pmp_buf *file, const struct pmp_filter *filter)
{
	const struct pmp_format *format = pmp_format_find("folded");
	const struct pmp_profile_options options = { .size = sizeof(options),
						     .details = true,
						     .for_filter = true };
	size_t length, whole = 0;
	struct pmp_sink sink = { drop, &length };
	long k = -1, bad = 0;

	do {
		struct saved saved = saved_new();
		int code;

		pmp_profile_free(saved.profile);
		if (pmp_profile_new(&options, saved.symbolizer, &saved.profile, NULL) ||
		    saved_read(&saved, file->data, file->length, NULL))
			abort();
		length = 0;
		begin(k++);
		code = report_write(saved.profile, NULL, filter, format, NULL, &sink,
				    NULL);
		heap.counting = false;
		whole = k ? whole : length;
		/* A name that cannot be kept is "[unknown]", and may pass or not. */
		bad += code && code != PMP_ENOMEM;
		saved_free(&saved);
	} while (heap.failed || k == 0);
	ok(!bad && whole && k > 1, "filtering: %ld allocations fail in turn", k - 1);
}

/* A report of both profiles' stacks by names. */
static void test_match(const struct saved *saved)
{
	struct pmp_report_options options = { .size = sizeof(options), .matched = true };
	struct pmp_report *base, *report;
	long k = 0, bad = 0;

	if (pmp_report_new(saved->profile, NULL, NULL, &base, NULL))
		abort();
	options.base = base;
	do {
		int code;

		begin(k++);
		code = pmp_report_new(saved->profile, NULL, &options, &report, NULL);
		heap.counting = false;
		bad += heap.failed ? code != PMP_ENOMEM || report : code;
		pmp_report_free(report);
	} while (heap.failed);
	ok(!bad && k > 5, "matching: %ld allocations fail in turn", k - 1);
	pmp_report_free(base);
}

static struct pmp_filter *new_filter(void)
{
	struct pmp_filter *filter;

	if (pmp_filter_new(&filter, NULL) ||
	    pmp_filter_add(filter, PMP_FILTER_FOCUS, "po(l|x)+", NULL) ||
	    pmp_filter_add(filter, PMP_FILTER_HIDE_MODULE, "libc", NULL) ||
	    pmp_filter_add(filter, PMP_FILTER_RENAME, "s/do_(.*)/\\1/", NULL))
		abort();
	return filter;
}

static void test_read(const struct pmp_buf *file)
{
	long k = 0, bad = 0;
	bool failed;

	do {
		struct saved saved = saved_new();
		int code;

		begin(k++);
		code = saved_read(&saved, file->data, file->length, NULL);
		heap.counting = false;
		failed = heap.failed;
		/* A name that cannot be kept is "[unknown]". */
		bad += code && (code != PMP_ENOMEM || !failed);
		saved_free(&saved);
	} while (failed);
	ok(!bad && k > 1, "reading: %ld allocations fail in turn", k - 1);
}

/* ---- the past ------------------------------------------------------------------------ */

/* Snapshot number of a process in which a thread that runs holds what others wait for. */
static struct pmp_sample *snapshot(uint64_t number)
{
	struct pmp_sample *sample = pmp_sample_new();

	if (!sample)
		abort();
	sample->pid = 10;
	sample->time = (100 + number) * 2000000000u;
	strcpy(sample->name, "server");
	for (uint64_t i = 0; i < 6; i++) {
		struct pmp_thread *thread = pmp_sample_add_thread(sample);
		const struct pmp_raw_frame frame = { 16 * (number % 5 + i), 0 };

		if (!thread || pmp_sample_add_frames(sample, &frame, 1))
			abort();
		thread->tid = (pid_t)(11 + i + (i ? number % 3 * 6 : 0));
		thread->state = i ? 'S' : 'R';
		thread->obtained = PMP_STOPPED;
		thread->stopped = 1000;
		thread->cpu = 1 + number * 1000;
		if (i)
			thread->wait =
				(struct pmp_wait){ .kind = PMP_WAIT_MUTEX,
						   .object = 4096,
						   .holder = 11,
						   .holder_is = PMP_HOLDER_THREAD };
	}
	return sample;
}

static struct saved new_past(void)
{
	const struct pmp_profile_options options = { .size = sizeof(options),
						     .details = true,
						     .waits = true,
						     .live = true,
						     .history = 1 << 20 };
	struct saved saved = saved_new();

	pmp_profile_free(saved.profile);
	if (pmp_profile_new(&options, saved.symbolizer, &saved.profile, NULL))
		abort();
	return saved;
}

static int count_window(const struct saved *saved, uint64_t *stacks, uint64_t *cpu)
{
	const struct pmp_window_options options = {
		.size = sizeof(options), .details = true, .waits = true, .times = true
	};
	struct pmp_profile *window;
	int code = pmp_profile_window(saved->profile, &options, &window, NULL, NULL);

	*stacks = *cpu = 0;
	if (!code)
		code = pmp_profile_divide_cpu(window);
	for (size_t i = 0; !code && i < pmp_profile_entry_count(window); i++) {
		*stacks += pmp_profile_entry(window, i)->count;
		*cpu += pmp_profile_entry(window, i)->cpu;
	}
	pmp_profile_free(window);
	return code;
}

static void test_window(void)
{
	struct saved saved = new_past();
	uint64_t stacks, cpu, all, all_cpu;
	long k = 0, bad = 0;

	for (uint64_t i = 0; i < 40; i++)
		saved_add(&saved, snapshot(i));
	if (count_window(&saved, &all, &all_cpu))
		abort();
	do {
		int code;

		begin(k++);
		code = count_window(&saved, &stacks, &cpu);
		heap.counting = false;
		bad += heap.failed ? code != PMP_ENOMEM
				   : code || stacks != all || cpu != all_cpu;
	} while (heap.failed);
	ok(!bad && all == 240 && k > 10, "a window: %ld allocations fail in turn", k - 1);
	saved_free(&saved);
}

/* Is everything in a window of the view counted, and nothing else? */
static bool is_whole(const struct saved *saved)
{
	const struct pmp_live *live = pmp_profile_live(saved->profile);
	bool whole = true;

	for (int i = 0; i < PMP_WINDOW_COUNT; i++) {
		struct pmp_live_window window = { .size = sizeof(window) };

		pmp_live_window(live, (enum pmp_window)i, &window);
		whole &= saved_live_sum(live, (enum pmp_window)i) == window.stacks;
	}
	return whole;
}

static void add_processes(struct saved *saved, uint64_t number, pid_t from, pid_t to)
{
	for (pid_t pid = from; pid < to; pid++) {
		struct pmp_sample *sample = snapshot(number);

		sample->pid = pid;
		saved_add(saved, sample);
	}
}

/* So many processes end that there is no room for that, and one comes again. False: an
 * allocation failed meanwhile. */
static bool end_processes(long fail_at, pid_t again, long *bad)
{
	struct saved saved = new_past();
	bool failed;

	for (uint64_t i = 0; i < 20; i++)
		add_processes(&saved, i, 10, 58);
	begin(fail_at);
	for (pid_t pid = 10; pid < 58; pid++)
		pmp_profile_forget(saved.profile, pid);
	heap.counting = false;
	failed = heap.failed;
	for (uint64_t i = 20; i < 60; i++) {
		add_processes(&saved, i, again, again + 1);
		*bad += !is_whole(&saved);
	}
	saved_free(&saved);
	return !failed;
}

/* That they have ended cannot be written down: the past has a gap. */
static void test_gap(void)
{
	long k = 0, bad = 0;
	bool all;

	do {
		all = true;
		for (pid_t again = 10; again < 58; again++)
			all &= end_processes(k, again, &bad);
		k++;
	} while (!all);
	ok(!bad && k > 2, "processes that end: %ld allocations fail in turn", k - 1);
}

/* A sample that could not be counted is not in the past, nor is anything of it. */
static void test_past(void)
{
	struct pmp_sample *samples[30];
	long k = 0, bad = 0;
	bool failed;

	for (uint64_t i = 0; i < 30; i++)
		samples[i] = snapshot(i);
	do {
		struct saved saved = new_past();
		uint64_t stacks, cpu, counted = 0;

		for (uint64_t i = 0; i < 30; i++) {
			if (i == 10)
				begin(k++);
			counted += pmp_profile_add(saved.profile, samples[i], NULL) == 0;
			if (i == 19)
				pmp_profile_forget(saved.profile, 10);
		}
		heap.counting = false;
		failed = heap.failed;
		bad += count_window(&saved, &stacks, &cpu) || stacks != 6 * counted;
		bad += counted < 29 || (counted < 30 && !failed);
		bad += !is_whole(&saved);
		saved_free(&saved);
	} while (failed);
	ok(!bad && k > 10, "the past: %ld allocations fail in turn", k - 1);
	for (uint64_t i = 0; i < 30; i++)
		pmp_sample_free(samples[i]);
}

int main(void)
{
	struct saved saved = saved_example();
	struct pmp_buf packed = saved_write(&saved, "pprof", NULL);
	struct pmp_filter *filter = new_filter();

	for (size_t i = 0; i < pmp_format_count(); i++) {
		const struct pmp_format *format = saved_format(i);

		if (!format)
			continue;
		test_write(&saved, format, false);
		if (format->compares)
			test_write(&saved, format, true);
	}
	test_read(&packed);
	test_filter(&packed, filter);
	test_match(&saved);
	test_window();
	test_past();
	test_gap();
	pmp_filter_free(filter);
	pmp_buf_free(&packed);
	saved_free(&saved);
	return done_testing();
}

#else

int main(void)
{
	ok(true, "the allocator is not ours: nothing to do");
	return done_testing();
}

#endif
