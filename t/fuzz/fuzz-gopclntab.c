/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: the function table of a Go program. It is looked up all over the code that
 * it claims to cover, and the input is searched for a module. The first byte says how much
 * of the rest is the table; what follows is the module's data.
 *
 * The corpus has the table of a real program of Go 1.19, cut down to a few functions by
 * t/fuzz/cut-gopclntab.py, which does the same for other versions.
 */
#include <string.h>

#include "base/gopclntab.h"
#include "fuzz.h"

#define BASE 0x500000u
#define LOOKUPS 64
#define LIMIT 16
#define WORK_MAX ((size_t)64 << 20) /* bytes read for all look-ups */

struct input {
	const uint8_t *data;
	size_t size;
};

static bool read_input(void *arg, uint64_t address, void *data, size_t length)
{
	const struct input *input = arg;
	const uint64_t at = address - BASE;

	if (address < BASE || at > input->size || length > input->size - at)
		return false;
	memcpy(data, input->data + at, length);
	return true;
}

static void check_places(const struct pmp_buf *text, const struct pmp_go_place *places,
			 size_t count)
{
	/* Any string that was found must be terminated. */
	for (size_t i = 0; i < count; i++) {
		if (places[i].function >= text->length ||
		    !memchr(text->data + places[i].function, '\0',
			    text->length - places[i].function) ||
		    (places[i].file != SIZE_MAX && places[i].file >= text->length))
			__builtin_trap();
	}
}

static void look_up(struct pmp_gopclntab *table, uint64_t pc)
{
	struct pmp_go_place places[LIMIT] = { { 0 } };
	struct pmp_go_function function;
	struct pmp_buf text = { 0 };
	uint32_t size;
	size_t count;

	if (pmp_gopclntab_find(table, pc, &function)) {
		if (pc < function.start || pc >= function.end)
			__builtin_trap();
		pmp_gopclntab_frame(table, &function, pc, &size);
		pmp_gopclntab_name(table, &function, &text);
		pmp_buf_clear(&text);
	}
	count = pmp_gopclntab_places(table, pc, true, &text, places, LIMIT);
	check_places(&text, places, count);
	pmp_buf_free(&text);
}

/* Look up one function after the other. */
static void look_at_all(struct pmp_gopclntab *table)
{
	uint64_t pc = table->text;
	uint32_t first = 0;

	if (table->layout < PMP_GO_1_18)
		pmp_read(&table->memory, table->rows, &pc, sizeof(pc));
	else if (pmp_read(&table->memory, table->rows, &first, sizeof(first)))
		pc += first;
	for (unsigned i = 0; i < LOOKUPS && table->work < WORK_MAX; i++) {
		struct pmp_go_function function;

		look_up(table, pc);
		look_up(table, pc + 7);
		if (!pmp_gopclntab_find(table, pc, &function))
			return;
		look_up(table, function.start + (function.end - function.start) / 2);
		pc = function.end;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data + 1, size - 1 };
	const struct pmp_reader memory = { read_input, &input };
	struct pmp_gopclntab table;
	uint64_t end;

	if (size < 2)
		return 0;
	end = BASE + input.size * (256 - (uint64_t)data[0]) / 256;
	if (pmp_gopclntab_open(&table, &memory, BASE, end)) {
		look_at_all(&table);
		pmp_gopclntab_find_module(&table, BASE, BASE + input.size);
		look_at_all(&table);
	}
	if (pmp_gopclntab_scan(&table, &memory, BASE, BASE + input.size))
		look_at_all(&table);
	return 0;
}
