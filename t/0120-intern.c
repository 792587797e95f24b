/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/intern: equal bytes, equal number; nothing ever moves. */
#include <stdint.h>

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
	test_many();
	test_large();
	return done_testing();
}
