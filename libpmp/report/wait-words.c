/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The memory of locks in glibc (2.25 to 2.42), musl 1.2 and Rust's library (from 1.62). */
#include "report/wait-words.h"

#include <string.h>

#define MUSL_WAITERS 0x80000000u /* top bit of many words in musl */

static const struct pmp_said nothing = { PMP_SAYS_NOTHING, 0, 0 };
static const struct pmp_said is_free = { PMP_SAYS_FREE, 0, 0 };

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* A static program contains either library: it matches neither test. */
static bool is_glibc(const char *module)
{
	const char *name = last_part(module);

	return begins(name, "libc.so.6") || begins(name, "libc-2.") ||
	       begins(name, "libpthread");
}

static bool is_musl(const char *module)
{
	const char *name = last_part(module);

	return begins(name, "ld-musl-") || begins(name, "libc.musl-") ||
	       (strcmp(name, "libc.so") == 0 && strstr(module, "musl"));
}

static bool has(const struct pmp_wait_words *words, unsigned flags)
{
	return (words->flags & flags) == flags;
}

/* The bits of mask count readers; all set means a writer. */
static struct pmp_said rwlock(uint32_t word, uint32_t mask)
{
	uint32_t count = word & mask;

	if (count == mask)
		return (struct pmp_said){ PMP_SAYS_WRITER, 0, 0 };
	return (struct pmp_said){ PMP_SAYS_READERS, count, 0 };
}

/* Words: in, current round, count. Gives the arrivals of the round that the thread waits
 * for, unless that round is over. */
static struct pmp_said barrier(const struct pmp_wait_words *words)
{
	uint32_t arrived = words->before - words->at, count = words->after;

	if (!has(words, PMP_WORD_BEFORE | PMP_WORD_AT | PMP_WORD_AFTER | PMP_WORD_SAME) ||
	    !arrived || arrived > count)
		return nothing;
	return (struct pmp_said){ PMP_SAYS_ARRIVED, arrived, count };
}

/* In musl it is negative while threads wait: -1 at first, then with the top bit set. */
static struct pmp_said semaphore(uint32_t word)
{
	uint32_t value = word == UINT32_MAX ? 0 : word & ~MUSL_WAITERS;

	return (struct pmp_said){ PMP_SAYS_VALUE, value, 0 };
}

/* The flag that says that a lock of this kind is free; 0: there is none. */
static uint32_t free_flag(enum pmp_named_kind kind, const char *module)
{
	switch (kind) {
	case PMP_NAMED_MUTEX: return PMP_WORD_FREE_MUTEX;
	case PMP_NAMED_READ:
	case PMP_NAMED_WRITE: return is_musl(module) ? PMP_WORD_FREE_MUSL : 0;
	case PMP_NAMED_RUST_READ: return PMP_WORD_FREE_READ;
	case PMP_NAMED_RUST_WRITE: return PMP_WORD_FREE_WRITE;
	case PMP_NAMED_RUST_MUTEX:
	case PMP_NAMED_LIBC:
	case PMP_NAMED_OMP_LOCK: return PMP_WORD_FREE_SIMPLE;
	default: return 0;
	}
}

struct pmp_said pmp_words_say(enum pmp_named_kind kind, const char *module,
			      const struct pmp_wait_words *words)
{
	const bool at = has(words, PMP_WORD_AT), before = has(words, PMP_WORD_BEFORE);

	if (pmp_words_free_as(words) & free_flag(kind, module))
		return is_free;
	switch (kind) {
	case PMP_NAMED_READ:
	case PMP_NAMED_WRITE:
		return at && is_musl(module) ? rwlock(words->at, PMP_MUSL_READERS)
					     : nothing;
	case PMP_NAMED_RUST_READ:
		return at ? rwlock(words->at, PMP_RUST_READERS) : nothing;
	case PMP_NAMED_RUST_WRITE:
		return before ? rwlock(words->before, PMP_RUST_READERS) : nothing;
	case PMP_NAMED_BARRIER: return is_glibc(module) ? barrier(words) : nothing;
	case PMP_NAMED_SEMAPHORE: return at ? semaphore(words->at) : nothing;
	default: return nothing;
	}
}
