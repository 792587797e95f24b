/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fuzz target: a saved profile, packed or not, read and written in some formats, and
 * compared with one that is as it should be. */
#include "fuzz.h"
#include "lib/saved.h"

static void compare(const struct saved *saved, const struct saved *base)
{
	struct pmp_buf buf = { 0 };
	const struct pmp_sink sink = { saved_sink, &buf };

	for (size_t i = 0; i < pmp_format_count(); i++) {
		if (pmp_format(i)->compares &&
		    pmp_profile_write_diff(saved->profile, base->profile, pmp_format(i), NULL,
					   &sink, NULL))
			abort();
		pmp_buf_clear(&buf);
	}
	pmp_buf_free(&buf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const formats[] = { "raw", "folded", "pprof" };
	struct saved saved = saved_new();

	saved_read(&saved, data, size, NULL);
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
