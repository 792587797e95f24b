/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: a saved profile, packed or not, read for the screen and with little memory,
 * written in some formats, and compared with one that is as it should be.
 */
#include "libpmp-program.h"
#include "fuzz.h"
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
		.max_memory = MEMORY,
	};
	struct saved saved;

	if (pmp_symbolizer_new(&names, &saved.symbolizer, NULL) ||
	    pmp_profile_new(&options, saved.symbolizer, &saved.profile, NULL))
		abort();
	return saved;
}

/* What the screen reads, whose indices must be right. */
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

/* Profiles that count something else cannot be compared. */
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
	/* It takes longer than all else. */
	if (pmp_profile_entry_count(saved.profile)) {
		struct saved example = saved_example();

		compare(&saved, &example);
		compare(&example, &saved);
		saved_free(&example);
	}
	saved_free(&saved);
	return 0;
}

/* Seed 0 is packed, 1 is not: damage to that reaches further. */
size_t fuzz_seed(unsigned n, uint8_t *data, size_t size)
{
	struct saved saved;
	struct pmp_buf packed, plain;
	size_t length = 0;

	if (n >= 2)
		return 0;
	saved = saved_example();
	packed = saved_write(&saved, "pprof", NULL);
	plain = saved_unpack(&packed);
	if (n == 1 && plain.length <= size)
		memcpy(data, plain.data, length = plain.length);
	else if (packed.length <= size)
		memcpy(data, packed.data, length = packed.length);
	pmp_buf_free(&packed);
	pmp_buf_free(&plain);
	saved_free(&saved);
	return length;
}
