/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See hash.h. One round for each word and three at the end, as in hash tables of other
 * languages: the hashes never leave the process. */
#include "base/hash.h"

#include <endian.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"

struct state {
	uint64_t a, b, c, d;
};

void pmp_hash_key_make(struct pmp_hash_key *key)
{
	if (getrandom(key, sizeof(*key), GRND_NONBLOCK) == (ssize_t)sizeof(*key))
		return;
	key->words[0] = pmp_clock();
	key->words[1] = (uint64_t)(uintptr_t)key;
}

static uint64_t rotate(uint64_t word, int bits)
{
	return word << bits | word >> (64 - bits);
}

static void mix(struct state *state)
{
	state->a += state->b;
	state->c += state->d;
	state->b = rotate(state->b, 13) ^ state->a;
	state->d = rotate(state->d, 16) ^ state->c;
	state->a = rotate(state->a, 32) + state->d;
	state->c += state->b;
	state->d = rotate(state->d, 21) ^ state->a;
	state->b = rotate(state->b, 17) ^ state->c;
	state->c = rotate(state->c, 32);
}

/* The state begins with "somepseudorandomlygeneratedbytes". */
static struct state begin(const struct pmp_hash_key *key)
{
	return (struct state){ key->words[0] ^ UINT64_C(0x736f6d6570736575),
			       key->words[1] ^ UINT64_C(0x646f72616e646f6d),
			       key->words[0] ^ UINT64_C(0x6c7967656e657261),
			       key->words[1] ^ UINT64_C(0x7465646279746573) };
}

static void add(struct state *state, uint64_t word)
{
	state->d ^= word;
	mix(state);
	state->a ^= word;
}

static uint64_t finish(struct state *state)
{
	state->c ^= 0xff;
	mix(state);
	mix(state);
	mix(state);
	return state->a ^ state->b ^ state->c ^ state->d;
}

uint64_t pmp_hash_bytes(const struct pmp_hash_key *key, const void *data, size_t length)
{
	struct state state = begin(key);
	const char *bytes = data; /* may be NULL: nothing */
	uint64_t word;
	size_t at = 0;

	for (; length - at >= sizeof(word); at += sizeof(word)) {
		memcpy(&word, bytes + at, sizeof(word));
		add(&state, le64toh(word));
	}
	word = 0;
	if (at < length)
		memcpy(&word, bytes + at, length - at);
	add(&state, le64toh(word) | (uint64_t)length << 56);
	return finish(&state);
}

uint64_t pmp_hash_pair(const struct pmp_hash_key *key, uint64_t one, uint64_t other)
{
	struct state state = begin(key);

	add(&state, one);
	add(&state, other);
	return finish(&state);
}
