/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See line-rows.h. A line table is a program (DWARF standard, section 6.2); only
 * instructions that append rows matter here. */
#include "resolve/line-rows.h"

#include <dwarf.h>
#include <stdbool.h>

struct table {
	const unsigned char *at, *end;
};

static uint64_t take(struct table *table, size_t size)
{
	uint64_t value = 0;

	if ((size_t)(table->end - table->at) < size) {
		table->at = table->end;
		return 0;
	}
	for (size_t i = size; i > 0; i--)
		value = value << 8 | table->at[i - 1];
	table->at += size;
	return value;
}

static void skip(struct table *table, uint64_t size)
{
	if (size > (uint64_t)(table->end - table->at))
		table->at = table->end;
	else
		table->at += size;
}

static uint64_t take_leb128(struct table *table)
{
	uint64_t value = 0;

	for (unsigned shift = 0; table->at < table->end; shift += 7) {
		const unsigned char byte = *table->at++;

		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			break;
	}
	return value;
}

/* The number of rows that the next instruction appends. lengths: numbers of operands of the
 * standard instructions, those below base. */
static unsigned step(struct table *table, const unsigned char *lengths, unsigned base)
{
	const unsigned code = (unsigned)take(table, 1);
	uint64_t size;
	bool ends;

	if (code >= base)
		return 1;
	if (code == 0) {
		size = take_leb128(table);
		ends = table->at < table->end && *table->at == DW_LNE_end_sequence;
		skip(table, size);
		return ends;
	}
	if (code == DW_LNS_fixed_advance_pc)
		skip(table, 2);
	else
		for (unsigned i = 0; i < lengths[code - 1]; i++)
			take_leb128(table);
	return code == DW_LNS_copy;
}

uint64_t pmp_line_rows(const unsigned char *data, size_t size, uint64_t offset)
{
	struct table table = { data + (offset < size ? offset : size), data + size };
	uint64_t length = take(&table, 4), rows = 0;
	const bool wide = length == 0xffffffff;
	const unsigned char *lengths;
	unsigned version, base;

	if (wide)
		length = take(&table, 8);
	if (length < (uint64_t)(table.end - table.at))
		table.end = table.at + length;
	version = (unsigned)take(&table, 2);
	if (version >= 5)
		skip(&table, 2);
	length = take(&table, wide ? 8 : 4);
	lengths = table.at;
	skip(&table, length);
	if (length < (version >= 4 ? 6 : 5) || table.at == table.end)
		return 0;
	lengths += version >= 4 ? 5 : 4;
	base = *lengths++;
	if (base == 0 || table.at - lengths < (ptrdiff_t)base - 1)
		return 0;
	while (table.at < table.end)
		rows += step(&table, lengths, base);
	return rows;
}
