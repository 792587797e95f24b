/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: a saved profile, packed or not, read for the screen and with little memory,
 * written in some formats, and compared with a valid one.
 */
#include "libpmp-program.h"
#include "fuzz.h"
#include "heap-batch.h"
#include "lib/saved.h"

#define MEMORY 65536 /* two thirds of it, and stacks are evicted */

static struct saved new_profile(void)
{
	const struct pmp_symbolizer_options names = { .size = sizeof(names),
						      .lines = true };
	const struct pmp_profile_options options = {
		.size = sizeof(options),
		.details = true,
		.live = true,
		.waits = true,
		.heap = true,
		.max_memory = MEMORY,
	};
	struct saved saved;

	if (pmp_symbolizer_new(&names, &saved.symbolizer, NULL) ||
	    pmp_profile_new(&options, saved.symbolizer, &saved.profile, NULL))
		abort();
	return saved;
}

/* Read what the screen reads: its indices must be valid. */
static void read_live(const struct pmp_live *live)
{
	struct pmp_live_thread thread = { .size = sizeof(thread) };
	struct pmp_live_counter counter = { .size = sizeof(counter) };
	struct pmp_live_stack stack = { .size = sizeof(stack) };
	volatile size_t length = 0;

	for (size_t i = 0; i < pmp_live_counter_count(live); i++) {
		pmp_live_counter(live, i, PMP_WINDOW_START, &counter);
		pmp_live_thread(live, counter.thread, &thread);
		pmp_live_stack(live, counter.stack, &stack);
		if (thread.process >= pmp_live_process_count(live))
			abort();
		length = length + strlen(thread.name) + strlen(thread.syscall) +
			 strlen(counter.syscall) + strlen(stack.end);
	}
}

/* Profiles that count different things cannot be compared. */
static void compare(const struct saved *saved, const struct saved *base)
{
	struct pmp_buf buf = { 0 };
	const struct pmp_sink sink = { saved_sink, &buf };

	for (size_t i = 0; i < pmp_format_count(); i++) {
		int code = 0;

		if (pmp_format(i)->compares)
			code = report_write(saved->profile, base->profile, NULL,
					    pmp_format(i), NULL, &sink, NULL);
		if (code && code != PMP_EINVAL)
			abort();
		pmp_buf_clear(&buf);
	}
	pmp_buf_free(&buf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const formats[] = { "raw", "folded", "pprof" };
	struct saved saved = new_profile();

	saved_read(&saved, data, size, NULL);
	read_live(pmp_profile_live(saved.profile));
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		struct pmp_buf buf = saved_write(&saved, formats[i], NULL);

		pmp_buf_free(&buf);
	}
	/* Only if there is something: this takes longer than the rest. */
	if (pmp_profile_entry_count(saved.profile)) {
		struct saved example = saved_example();

		compare(&saved, &example);
		compare(&example, &saved);
		saved_free(&example);
	}
	saved_free(&saved);
	return 0;
}

/* A profile of what a recorder has recorded. */
static struct saved new_heap(void)
{
	static const struct pmp_raw_frame frames[2] = { { 0x1010, 1 }, { 0x2020, 0 } };
	struct pmp_heap_event event = {
		.kind = PMP_HEAP_ALLOC, .pointer = 0x5000, .asked = 100, .usable = 104
	};
	struct saved saved = new_profile();
	struct pmp_heap_batch *batch = pmp_heap_batch_new();

	batch->pid = 7;
	strcpy(batch->name, "seed");
	batch->maps = pmp_maps_new();
	batch->totals.live = 104;
	batch->totals.live_blocks = 1;
	strcpy(batch->totals.allocator_name, "libc.so.6");
	pmp_heap_batch_thread(batch, 7, "thread", &event.thread);
	pmp_heap_batch_add(batch, &event, frames, 2);
	if (pmp_profile_add_heap(saved.profile, batch, NULL))
		abort();
	pmp_heap_batch_free(batch);
	return saved;
}

static struct saved (*const profiles[])(void) = { saved_example, new_heap };
#define PROFILES (sizeof(profiles) / sizeof(*profiles))

static struct pmp_buf pack(const struct saved *saved)
{
	const struct pmp_report_options options = { .size = sizeof(options),
						    .with_heap = true };
	struct pmp_report *report;
	struct pmp_buf packed = { 0 };
	const struct pmp_sink sink = { saved_sink, &packed };

	if (pmp_report_new(saved->profile, NULL, &options, &report, NULL) ||
	    pmp_report_write(report, pmp_format_find("pprof"), NULL, &sink, NULL))
		abort();
	pmp_report_free(report);
	return packed;
}

/* Even seeds are packed, odd ones are not: damage to those gets further. */
size_t fuzz_seed(unsigned n, uint8_t *data, size_t size)
{
	struct saved saved;
	struct pmp_buf packed, plain;
	size_t length = 0;

	if (n / 2 >= PROFILES)
		return 0;
	saved = profiles[n / 2]();
	packed = pack(&saved);
	plain = saved_unpack(&packed);
	if (n % 2 == 1 && plain.length <= size)
		memcpy(data, plain.data, length = plain.length);
	else if (packed.length <= size)
		memcpy(data, packed.data, length = packed.length);
	pmp_buf_free(&packed);
	pmp_buf_free(&plain);
	saved_free(&saved);
	return length;
}
