/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the words around a futex say of a lock whose kind its functions have told: words as
 * the libraries make them, then such as they never make or that could not be read, of which
 * nothing is said.
 */
#include "lib/tap.h"

#include "report/wait-words.h"

#define GLIBC "/usr/lib/x86_64-linux-gnu/libc.so.6"
#define MUSL "/lib/ld-musl-x86_64.so.1"
#define STATIC "/usr/bin/program"

#define ALL \
	(PMP_WORD_BEFORE | PMP_WORD_AT | PMP_WORD_AFTER | PMP_WORD_FAR | PMP_WORD_SAME)

struct case_of_words {
	const char *text;
	enum pmp_named_kind kind;
	const char *module;
	struct pmp_wait_words words;
	struct pmp_said said;
	unsigned needs; /* words without which nothing is said */
};

#define WORDS(before, at, after) \
	{ \
		ALL, before, at, after, 0 \
	}

/* Which no word shows by itself. */
#define FREE_MUTEX \
	{ \
		PMP_WORD_FREE_MUTEX, 0, 0, 0, 0 \
	}

#define SAYS(what, count, of) \
	{ \
		PMP_SAYS_##what, count, of \
	}

static const struct case_of_words cases[] = {
	{ "the first of four at a barrier", PMP_NAMED_BARRIER, GLIBC, WORDS(1, 0, 4),
	  SAYS(ARRIVED, 1, 4),
	  PMP_WORD_BEFORE | PMP_WORD_AT | PMP_WORD_AFTER | PMP_WORD_SAME },
	{ "three of four at one that was used before", PMP_NAMED_BARRIER, GLIBC,
	  WORDS(4003, 4000, 4), SAYS(ARRIVED, 3, 4), PMP_WORD_SAME },
	{ "the numbers of a barrier are about to begin again", PMP_NAMED_BARRIER, GLIBC,
	  WORDS(1, UINT32_MAX - 1, 4), SAYS(ARRIVED, 3, 4), PMP_WORD_SAME },
	{ "none has come to a barrier", PMP_NAMED_BARRIER, GLIBC, WORDS(8, 8, 4),
	  SAYS(NOTHING, 0, 0), 0 },
	{ "more than all have come", PMP_NAMED_BARRIER, GLIBC, WORDS(13, 8, 4),
	  SAYS(NOTHING, 0, 0), 0 },
	{ "a barrier for none", PMP_NAMED_BARRIER, GLIBC, WORDS(1, 0, 0),
	  SAYS(NOTHING, 0, 0), 0 },
	{ "a barrier of musl has other words", PMP_NAMED_BARRIER, MUSL, WORDS(3, 0, 4),
	  SAYS(NOTHING, 0, 0), 0 },
	{ "one of a static program may be musl's", PMP_NAMED_BARRIER, STATIC,
	  WORDS(3, 0, 4), SAYS(NOTHING, 0, 0), 0 },
	{ "a semaphore", PMP_NAMED_SEMAPHORE, GLIBC, WORDS(9, 0, 9), SAYS(VALUE, 0, 0),
	  PMP_WORD_AT },
	{ "a semaphore that was posted", PMP_NAMED_SEMAPHORE, GLIBC, WORDS(9, 2, 9),
	  SAYS(VALUE, 2, 0), PMP_WORD_AT },
	{ "a semaphore of musl that is waited for", PMP_NAMED_SEMAPHORE, MUSL,
	  WORDS(9, UINT32_MAX, 9), SAYS(VALUE, 0, 0), PMP_WORD_AT },
	{ "one of newer versions", PMP_NAMED_SEMAPHORE, MUSL, WORDS(9, 0x80000000, 9),
	  SAYS(VALUE, 0, 0), PMP_WORD_AT },
	{ "one of those that was posted", PMP_NAMED_SEMAPHORE, MUSL,
	  WORDS(9, 0x80000002, 9), SAYS(VALUE, 2, 0), PMP_WORD_AT },
	{ "a rwlock of musl with a writer", PMP_NAMED_READ, MUSL, WORDS(9, UINT32_MAX, 9),
	  SAYS(WRITER, 0, 0), PMP_WORD_AT },
	{ "a rwlock of musl with readers", PMP_NAMED_WRITE, MUSL, WORDS(9, 0x80000002, 9),
	  SAYS(READERS, 2, 0), PMP_WORD_AT },
	{ "a rwlock of musl beside another C library", PMP_NAMED_WRITE,
	  "/usr/lib/x86_64-linux-musl/libc.so", WORDS(9, 1, 9), SAYS(READERS, 1, 0),
	  PMP_WORD_AT },
	{ "a rwlock of musl that is free", PMP_NAMED_WRITE, MUSL, WORDS(9, 0x80000000, 9),
	  SAYS(FREE, 0, 0), PMP_WORD_AT },
	{ "a rwlock of glibc has other words", PMP_NAMED_WRITE, GLIBC, WORDS(0, 2, 2),
	  SAYS(NOTHING, 0, 0), 0 },
	{ "one of a static program may be glibc's", PMP_NAMED_READ, STATIC,
	  WORDS(0, 2, 2), SAYS(NOTHING, 0, 0), 0 },
	{ "a rwlock of Rust with a writer, to read", PMP_NAMED_RUST_READ, STATIC,
	  WORDS(2, 0x7fffffff, 9), SAYS(WRITER, 0, 0), PMP_WORD_AT },
	{ "a rwlock of Rust with readers, to read", PMP_NAMED_RUST_READ, STATIC,
	  WORDS(9, 0xc0000003, 9), SAYS(READERS, 3, 0), PMP_WORD_AT },
	{ "a rwlock of Rust that is free, to read", PMP_NAMED_RUST_READ, STATIC,
	  WORDS(9, 0x40000000, 9), SAYS(FREE, 0, 0), PMP_WORD_AT },
	{ "a rwlock of Rust with a writer, to write", PMP_NAMED_RUST_WRITE, STATIC,
	  WORDS(0xbfffffff, 7, 9), SAYS(WRITER, 0, 0), PMP_WORD_BEFORE },
	{ "a rwlock of Rust with readers, to write", PMP_NAMED_RUST_WRITE, STATIC,
	  WORDS(0x80000002, 0, 9), SAYS(READERS, 2, 0), PMP_WORD_BEFORE },
	{ "a mutex of Rust that is free", PMP_NAMED_RUST_MUTEX, STATIC, WORDS(9, 0, 9),
	  SAYS(FREE, 0, 0), PMP_WORD_AT },
	{ "a mutex of Rust that is held", PMP_NAMED_RUST_MUTEX, STATIC, WORDS(9, 2, 9),
	  SAYS(NOTHING, 0, 0), 0 },
	{ "a lock inside of glibc that is free", PMP_NAMED_LIBC, GLIBC, WORDS(9, 0, 9),
	  SAYS(FREE, 0, 0), PMP_WORD_AT },
	{ "a lock of OpenMP that is held", PMP_NAMED_OMP_LOCK, GLIBC, WORDS(0, 1, 0),
	  SAYS(NOTHING, 0, 0), 0 },
	{ "a mutex that is not known to be free", PMP_NAMED_MUTEX, GLIBC, WORDS(0, 0, 0),
	  SAYS(NOTHING, 0, 0), 0 },
	{ "a mutex that is free by its bytes", PMP_NAMED_MUTEX, GLIBC, FREE_MUTEX,
	  SAYS(FREE, 0, 0), 0 },
	{ "which is not said of a condition", PMP_NAMED_CONDITION, GLIBC, FREE_MUTEX,
	  SAYS(NOTHING, 0, 0), 0 },
	{ "any other futex", PMP_NAMED_ATOMIC, STATIC, WORDS(1, 0, 4),
	  SAYS(NOTHING, 0, 0), 0 },
	{ "one of which nothing is known", PMP_NAMED_NONE, STATIC, WORDS(1, 0, 4),
	  SAYS(NOTHING, 0, 0), 0 },
};

static void check(const struct case_of_words *expected)
{
	struct pmp_wait_words words = expected->words;
	struct pmp_said said = pmp_words_say(expected->kind, expected->module, &words);

	is_int(said.what, expected->said.what, "%s", expected->text);
	ok(said.count == expected->said.count && said.of == expected->said.of,
	   "%s: %u of %u", expected->text, said.count, said.of);
	for (unsigned flag = 1; flag <= PMP_WORD_SAME; flag *= 2) {
		words.flags = ALL & ~flag;
		said = pmp_words_say(expected->kind, expected->module, &words);
		if (expected->needs & flag)
			is_int(said.what, PMP_SAYS_NOTHING, "%s: nothing without %u",
			       expected->text, flag);
	}
}

/* Whatever is in memory: numbers that make sense, or nothing. */
static void check_any(void)
{
	static const char *const modules[] = { GLIBC, MUSL, STATIC, "", "/" };
	uint64_t random = 1;
	unsigned long long strange = 0;

	for (unsigned i = 0; i < 1000000; i++) {
		struct pmp_wait_words words;
		struct pmp_said said;

		random = random * 6364136223846793005u + 1442695040888963407u;
		words = (struct pmp_wait_words){ .flags = random >> 58,
						 .before = (uint32_t)(random >> 20) & 7,
						 .at = (uint32_t)(random >> 30) & 7,
						 .after = (uint32_t)(random >> 40) & 7 };
		if (i % 2)
			words.before = words.at = (uint32_t)(random >> 25);
		said = pmp_words_say(i % PMP_NAMED_COUNT, modules[i % 5], &words);
		if (said.what == PMP_SAYS_ARRIVED)
			strange += !said.count || said.count > said.of;
		else
			strange += said.of != 0;
		strange += said.what == PMP_SAYS_READERS && !said.count;
	}
	is_int((long long)strange, 0, "any words: no strange numbers");
}

/* Where words are only counted there are flags instead, which say as much of what is free. */
static void check_counted(void)
{
	unsigned long long wrong = 0;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct case_of_words *one = &cases[i];
		const struct pmp_wait_words counted = { .flags = pmp_words_free_as(
								&one->words) };
		struct pmp_said said = pmp_words_say(one->kind, one->module, &counted);

		wrong +=
			said.what != (one->said.what == PMP_SAYS_FREE ? PMP_SAYS_FREE
								      : PMP_SAYS_NOTHING);
	}
	is_int((long long)wrong, 0, "flags tell in all of these cases what is free");
}

int main(void)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		check(&cases[i]);
	check_any();
	check_counted();
	return done_testing();
}
