/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/intern: equal bytes, equal number; nothing ever moves. */
#include <stdint.h>

#include "base/hash.h"
#include "base/intern.h"
#include "lib/tap.h"

#define MANY 200000

static void test_small(void)
{
	struct pmp_intern *table = pmp_intern_new();
	size_t length = 99;

	is_int(pmp_intern_count(table), 0, "empty");
	is_int(pmp_intern_find(table, "a", 1), PMP_INTERN_NONE, "nothing in it");
	is_int(pmp_intern(table, "a", 1), 0, "the first is 0");
	is_int(pmp_intern(table, "b", 1), 1, "the second is 1");
	is_int(pmp_intern(table, "a", 1), 0, "the same again");
	is_int(pmp_intern(table, NULL, 0), 2, "no bytes are bytes as well");
	is_int(pmp_intern(table, "", 0), 2, "and equal");
	is_int(pmp_intern(table, "\0", 1), 3, "a NUL is not nothing");
	is_int(pmp_intern(table, "\0\0", 2), 4, "two are not one");
	is_int(pmp_intern_find(table, "b", 1), 1, "found");
	is_int(pmp_intern_count(table), 5, "five");
	is_str(pmp_intern_data(table, 1, &length), "b", "its bytes and a NUL");
	is_int(length, 1, "its length");
	is_str(pmp_intern_data(table, 2, NULL), "", "bytes of nothing");
	ok(!pmp_intern_data(table, 5, &length) && length == 0, "no such number");
	pmp_intern_free(table);
	pmp_intern_free(NULL);
}

/* SipHash-1-3 with the key 00 01 ... 0f, of 0 bytes and of 00 01 ... 07: computed with
 * another implementation. */
static void test_hash(void)
{
	const struct pmp_hash_key key = { { UINT64_C(0x0706050403020100),
					    UINT64_C(0x0f0e0d0c0b0a0908) } };
	struct pmp_hash_key one, other;

	is_int(pmp_hash_bytes(&key, "", 0), 0xabac0158050fc4dc, "hash of nothing");
	is_int(pmp_hash_bytes(&key, NULL, 0), 0xabac0158050fc4dc,
	       "nothing without an address");
	is_int(pmp_hash_bytes(&key, &key, 8), 0x369095118d299a8e, "of a word");
	is_int(pmp_hash_bytes(&key, &key, 15), 0xd320d86d2a519956,
	       "of a word and a part");
	pmp_hash_key_make(&one);
	pmp_hash_key_make(&other);
	ok(pmp_hash_pair(&one, 1, 2) != pmp_hash_pair(&other, 1, 2),
	   "another key, another hash");
	ok(pmp_hash_pair(&one, 1, 2) != pmp_hash_pair(&one, 2, 1), "the order counts");
}

/* Each pair of words is one of two that a hash by multiplication maps to the same, whatever
 * its seed: bit 63 of a word is changed, and what becomes of it in the next. */
static void make_pairs(uint32_t choice, uint64_t *words, size_t count)
{
	for (size_t i = 0; i < count; i += 2, choice >>= 1) {
		words[i] = UINT64_C(0x6161616161616161);
		words[i + 1] = UINT64_C(0x6262626262626262);
		if (choice & 1) {
			words[i] ^= UINT64_C(1) << 63;
			words[i + 1] ^= UINT64_C(1) << 63 | UINT64_C(1) << 34;
		}
	}
}

static void test_collisions(void)
{
	enum { CHOICES = 12, COUNT = 1 << CHOICES };
	static uint32_t found[COUNT];
	struct pmp_intern *hashes = pmp_intern_new();
	struct pmp_hash_key key;
	uint64_t words[2 * CHOICES];

	pmp_hash_key_make(&key);
	for (uint32_t i = 0; i < COUNT; i++) {
		uint64_t hash;

		make_pairs(i, words, 2 * CHOICES);
		hash = pmp_hash_bytes(&key, words, sizeof(words));
		found[pmp_intern(hashes, &hash, sizeof(hash))]++;
	}
	is_int(pmp_intern_count(hashes), COUNT, "%d texts have as many hashes", COUNT);
	is_int(found[0], 1, "each its own");
	pmp_intern_free(hashes);
}

/* Stacks as the tally interns them: arrays that differ in one word. */
static void test_many(void)
{
	struct pmp_intern *table = pmp_intern_new();
	uint32_t stack[12] = { 0 };
	const void **places = calloc(MANY, sizeof(*places));
	size_t wrong = 0, moved = 0, unaligned = 0;

	for (uint32_t i = 0; i < MANY; i++) {
		stack[i % 12] = i;
		wrong += pmp_intern(table, stack, sizeof(stack) - i % 3 * 4) != i;
		places[i] = pmp_intern_data(table, i, NULL);
		unaligned += (uintptr_t)places[i] % 8 != 0;
	}
	is_int(wrong, 0, "%d stacks have numbers in the order of arrival", MANY);
	is_int(unaligned, 0, "each aligned");
	memset(stack, 0, sizeof(stack));
	for (uint32_t i = 0; i < MANY; i++) {
		size_t length;

		stack[i % 12] = i;
		wrong += pmp_intern(table, stack, sizeof(stack) - i % 3 * 4) != i;
		moved += pmp_intern_data(table, i, &length) != places[i];
		wrong += length != sizeof(stack) - i % 3 * 4 ||
			 memcmp(places[i], stack, length) != 0;
	}
	is_int(wrong, 0, "and the same ones the second time");
	is_int(moved, 0, "none has moved");
	is_int(pmp_intern_count(table), MANY, "none is there twice");
	free(places);
	pmp_intern_free(table);
}

static void test_large(void)
{
	struct pmp_intern *table = pmp_intern_new();
	size_t wrong = 0;
	char *text = malloc(100001);

	memset(text, 'x', 100001);
	for (size_t length = 0; length <= 100000; length += 997) {
		pmp_intern(table, text, length);
		wrong += pmp_intern(table, text, length) != length / 997;
	}
	for (uint32_t i = 0; i < pmp_intern_count(table); i++) {
		size_t length;
		const char *data = pmp_intern_data(table, i, &length);

		wrong += length != i * 997u || data[length] ||
			 memcmp(data, text, length) != 0;
	}
	is_int(wrong, 0, "lengths from 0 to 100000");
	free(text);
	pmp_intern_free(table);
}

int main(void)
{
	test_small();
	test_hash();
	test_collisions();
	test_many();
	test_large();
	return done_testing();
}
