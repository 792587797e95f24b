/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading .gopclntab. All layouts have:
 *
 *	magic (4)  0 0  bytes of an instruction (1)  bytes of a pointer (1)
 *	number of functions, and since 1.16 where the parts are, as pointers
 *	rows: where a function begins, where it is described; ascending; one more at the end
 *	functions, which have offsets of a name and of tables that give a value for each pc:
 *	the size of the frame, the file, the line, the inlined call
 *
 * In a table of values each pair of LEB128 numbers tells how the value changes and how
 * many steps of code it applies to. Reading such a table is bounded by VALUES_MAX.
 */
#include "base/gopclntab.h"

#include <string.h>

#include "base/search.h"

#define POINTER 8		 /* bytes; other programs are not unwound anyway */
#define FUNCTIONS_MAX (1u << 26) /* largest seen: kubelet, 200,000 */
#define HEADER_WORDS 9		 /* in the longest header */
#define VALUES_MAX (1u << 20)	 /* at most, bytes read of one function's table */
#define CHUNK 64		 /* bytes of it read at a time */
#define NAME_MOST 4097		 /* bytes of a name, one more than is kept */
#define TABLE_ALIGNMENT 16
#define SCAN_MAX ((uint64_t)256 << 20) /* bytes searched */
#define NOT_INLINED (-1)

#define INLINE_VALUES 2	    /* index of the pc table of inlined calls */
#define INLINE_CALLS 3	    /* index of the other table that describes them */
#define NO_TABLE UINT32_MAX /* the offset of a missing one */
#define FLAG_TOP 1u
#define FLAG_SWITCHES 2u
#define FLAG_ASSEMBLY 4u

/* ---- reading --------------------------------------------------------------------- */

/* Fails unless all of [address, address + size) is in the table. */
static bool read_table(struct pmp_gopclntab *table, uint64_t address, void *data,
		       size_t size)
{
	if (address < table->start || address > table->end || size > table->end - address)
		return false;
	table->work += size;
	return pmp_read(&table->memory, address, data, size);
}

static uint32_t word_at(const uint8_t *data, size_t offset)
{
	uint32_t word;

	memcpy(&word, data + offset, sizeof(word));
	return word;
}

/* Append at most NAME_MOST bytes. False: it does not end in the table, or no memory. */
static bool add_string(struct pmp_gopclntab *table, uint64_t address,
		       struct pmp_buf *text)
{
	char chunk[CHUNK];
	size_t length = 0, n, part;

	do {
		if (address < table->start || address >= table->end)
			return false;
		n = sizeof(chunk);
		if (n > table->end - address)
			n = table->end - address;
		if (!read_table(table, address, chunk, n))
			return false;
		part = strnlen(chunk, n);
		pmp_buf_add(text, chunk, part);
		length += part;
		address += n;
	} while (part == n && length < NAME_MOST);
	return !pmp_buf_failed(text);
}

/* ---- the header ------------------------------------------------------------------ */

static bool layout_of(uint32_t magic, enum pmp_go_layout *layout)
{
	switch (magic) {
	case 0xfffffffb: *layout = PMP_GO_1_2; return true;
	case 0xfffffffa: *layout = PMP_GO_1_16; return true;
	case 0xfffffff0: *layout = PMP_GO_1_18; return true;
	case 0xfffffff1: *layout = PMP_GO_1_20; return true;
	default: return false;
	}
}

/* Size of an address in a row, or in a function's description. */
static size_t address_size(const struct pmp_gopclntab *table)
{
	return table->layout < PMP_GO_1_18 ? POINTER : 4;
}

/* The address for an offset in the header, or false. */
static bool part_at(const struct pmp_gopclntab *table, uint64_t offset, uint64_t *part)
{
	*part = table->start + offset;
	return offset < table->end - table->start;
}

static bool open_old(struct pmp_gopclntab *table)
{
	const uint64_t row = 2 * POINTER;
	uint32_t files;

	table->names = table->values = table->functions = table->start;
	table->rows = table->start + 8 + POINTER;
	/* The offset of the files follows the last row, which has only an address. */
	if (!read_table(table, table->rows + table->count * row + POINTER, &files, 4))
		return false;
	return part_at(table, files, &table->files);
}

static bool open_new(struct pmp_gopclntab *table, const uint64_t *header)
{
	const uint64_t *offsets = header + (table->layout < PMP_GO_1_18 ? 2 : 3);

	if (table->layout >= PMP_GO_1_18)
		table->text = header[2];
	/* No code begins at 0: then the linker fills in the address later, or not at
	 * all. */
	table->has_text = table->layout < PMP_GO_1_18 || table->text;
	if (!part_at(table, offsets[0], &table->names) ||
	    !part_at(table, offsets[1], &table->units) ||
	    !part_at(table, offsets[2], &table->files) ||
	    !part_at(table, offsets[3], &table->values) ||
	    !part_at(table, offsets[4], &table->functions))
		return false;
	table->rows = table->functions;
	return true;
}

bool pmp_gopclntab_open(struct pmp_gopclntab *table, const struct pmp_reader *memory,
			uint64_t start, uint64_t end)
{
	uint64_t header[HEADER_WORDS] = { 0 };
	uint8_t first[8];
	size_t words;

	*table = (struct pmp_gopclntab){ .memory = *memory, .start = start, .end = end };
	if (end < start || !read_table(table, start, first, sizeof(first)) ||
	    !layout_of(word_at(first, 0), &table->layout) || first[4] || first[5] ||
	    (first[6] != 1 && first[6] != 2 && first[6] != 4) || first[7] != POINTER)
		return false;
	words = table->layout == PMP_GO_1_2 ? 1 : table->layout == PMP_GO_1_16 ? 7 : 8;
	if (!read_table(table, start + 8, header, words * POINTER))
		return false;
	table->quantum = first[6];
	table->count = header[0];
	table->has_text = true;
	if (!table->count || table->count > FUNCTIONS_MAX)
		return false;
	if (!(table->layout == PMP_GO_1_2 ? open_old(table) : open_new(table, header)))
		return false;
	return (2 * table->count + 1) * address_size(table) <= table->end - table->rows;
}

/* A file may claim any size for its parts. */
static uint64_t search_end(uint64_t start, uint64_t end)
{
	return end > start && end - start > SCAN_MAX ? start + SCAN_MAX : end;
}

/* The first aligned address from start on; end: none. */
static uint64_t search_start(uint64_t start, uint64_t alignment, uint64_t end)
{
	const uint64_t aligned = (start + alignment - 1) / alignment * alignment;

	return aligned < start ? end : aligned;
}

bool pmp_gopclntab_scan(struct pmp_gopclntab *table, const struct pmp_reader *memory,
			uint64_t start, uint64_t end)
{
	uint8_t chunk[4096];

	end = search_end(start, end);
	start = search_start(start, TABLE_ALIGNMENT, end);
	for (uint64_t at = start; at >= start && at < end; at += sizeof(chunk)) {
		size_t n = end - at < sizeof(chunk) ? end - at : sizeof(chunk);

		if (!pmp_read(memory, at, chunk, n))
			continue;
		for (size_t i = 0; i + 8 <= n; i += TABLE_ALIGNMENT) {
			enum pmp_go_layout layout;

			if (layout_of(word_at(chunk, i), &layout) &&
			    pmp_gopclntab_open(table, memory, at + i, end))
				return true;
		}
	}
	return false;
}

/* ---- the module ------------------------------------------------------------------ */

/*
 * Its description begins with the addresses of the table, then of its parts, in three
 * words each, and of the code. The address of the function data has moved between
 * versions, and since Go 1.26 the end of the table follows it.
 */
enum module_word {
	MODULE_NAMES = 1,
	MODULE_VALUES = 10,
	MODULE_FUNCTIONS = 13,
	MODULE_TEXT = 22,
	MODULE_TEXT_END = 23,
	MODULE_DATA_1_18 = 38,
	MODULE_DATA_1_20 = 40,
};

static bool is_module(const struct pmp_gopclntab *table, const uint64_t *words)
{
	return words[0] == table->start && words[MODULE_NAMES] == table->names &&
	       words[MODULE_VALUES] == table->values &&
	       words[MODULE_FUNCTIONS] == table->functions && words[MODULE_TEXT] &&
	       words[MODULE_TEXT] < words[MODULE_TEXT_END];
}

bool pmp_gopclntab_take_module(struct pmp_gopclntab *table,
			       const uint64_t words[PMP_GO_MODULE_WORDS])
{
	size_t data = table->layout == PMP_GO_1_18 ? MODULE_DATA_1_18 : MODULE_DATA_1_20;

	if (table->layout < PMP_GO_1_18 || !is_module(table, words))
		return false;
	/* Since Go 1.26 function data is in the table, and the end of the table
	 * follows. */
	for (size_t i = data; i + 1 < PMP_GO_MODULE_WORDS; i++) {
		if (words[i] > table->functions && words[i + 1] > words[i] &&
		    words[i + 1] <= table->end) {
			data = i;
			break;
		}
	}
	table->func_data = words[data];
	table->text = words[MODULE_TEXT];
	table->has_text = true;
	return true;
}

static bool use_module(struct pmp_gopclntab *table, uint64_t address)
{
	uint64_t words[PMP_GO_MODULE_WORDS];

	return pmp_read(&table->memory, address, words, sizeof(words)) &&
	       pmp_gopclntab_take_module(table, words);
}

bool pmp_gopclntab_needs_module(const struct pmp_gopclntab *table)
{
	return table->layout >= PMP_GO_1_18 && !table->func_data;
}

bool pmp_gopclntab_find_module(struct pmp_gopclntab *table, uint64_t start, uint64_t end)
{
	uint64_t words[512];

	end = search_end(start, end);
	start = search_start(start, POINTER, end);
	for (uint64_t at = start; at >= start && at < end; at += sizeof(words)) {
		size_t n = end - at < sizeof(words) ? end - at : sizeof(words);

		if (!pmp_read(&table->memory, at, words, n))
			continue;
		for (size_t i = 0; i < n / POINTER; i++) {
			if (words[i] == table->start &&
			    use_module(table, at + i * POINTER))
				return true;
		}
	}
	return false;
}

/* ---- functions ------------------------------------------------------------------- */

/* Row i: the address of a function, and of its description (not in the last row). */
static bool read_row(struct pmp_gopclntab *table, uint64_t i, uint64_t *start,
		     uint64_t *function)
{
	const size_t size = address_size(table);
	const bool is_last = i == table->count;
	uint64_t wide[2] = { 0 };
	uint32_t narrow[2] = { 0 };
	void *to = size == POINTER ? (void *)wide : narrow;

	if (!read_table(table, table->rows + i * 2 * size, to, is_last ? size : 2 * size))
		return false;
	*start = size == POINTER ? wide[0] : table->text + narrow[0];
	*function = size == POINTER ? wide[1] : narrow[1];
	return true;
}

static bool search(struct pmp_gopclntab *table, uint64_t pc, uint64_t *row)
{
	uint64_t low = 0, high = table->count, start, function;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (!read_row(table, middle, &start, &function))
			return false;
		if (start <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	*row = low - 1;
	return low > 0;
}

/* Read the fields of a function's description. */
static bool read_function(struct pmp_gopclntab *table, struct pmp_go_function *function)
{
	const size_t at = address_size(table); /* of the name, after the address */
	uint8_t data[48] = { 0 };
	size_t size = at + 28, flags;

	if (table->layout != PMP_GO_1_2)
		size += table->layout == PMP_GO_1_20 ? 12 : 8;
	else
		size += 4;
	if (!read_table(table, function->at, data, size))
		return false;
	flags = size - 4;
	function->name = word_at(data, at);
	function->frame = word_at(data, at + 12);
	function->file = word_at(data, at + 16);
	function->line = word_at(data, at + 20);
	function->pc_tables = word_at(data, at + 24);
	function->tables = (uint32_t)size;
	function->may_be_special = table->layout == PMP_GO_1_2 || data[flags];
	if (table->layout == PMP_GO_1_2)
		return true;
	function->unit = word_at(data, at + 28);
	function->other_tables = data[flags + 3];
	if (table->layout < PMP_GO_1_18)
		return true;
	function->is_top = data[flags + 1] & FLAG_TOP;
	function->switches_stacks = data[flags + 1] & FLAG_SWITCHES;
	function->is_assembly = data[flags + 1] & FLAG_ASSEMBLY;
	return true;
}

bool pmp_gopclntab_find(struct pmp_gopclntab *table, uint64_t pc,
			struct pmp_go_function *function)
{
	uint64_t row, at, ignored;

	*function = (struct pmp_go_function){ 0 };
	if (!table->has_text || !search(table, pc, &row) ||
	    !read_row(table, row, &function->start, &at) ||
	    !read_row(table, row + 1, &function->end, &ignored) || pc < function->start ||
	    pc >= function->end || at > table->end)
		return false;
	function->at = table->functions + at;
	return read_function(table, function);
}

bool pmp_gopclntab_name(struct pmp_gopclntab *table,
			const struct pmp_go_function *function, struct pmp_buf *text)
{
	return add_string(table, table->names + function->name, text);
}

/* ---- values by pc ---------------------------------------------------------------- */

/* Iterates over the bytes of a table of values. */
struct bytes {
	struct pmp_gopclntab *table;
	uint64_t next; /* address of the first unread byte */
	size_t at, count, left;
	uint8_t data[CHUNK];
};

static bool take_byte(struct bytes *bytes, uint8_t *byte)
{
	if (bytes->at == bytes->count) {
		struct pmp_gopclntab *table = bytes->table;

		if (bytes->next < table->start || bytes->next >= table->end)
			return false;
		bytes->count = sizeof(bytes->data);
		if (bytes->count > table->end - bytes->next)
			bytes->count = table->end - bytes->next;
		if (bytes->count > bytes->left)
			bytes->count = bytes->left;
		if (!bytes->count ||
		    !read_table(table, bytes->next, bytes->data, bytes->count))
			return false;
		bytes->left -= bytes->count;
		bytes->next += bytes->count;
		bytes->at = 0;
	}
	*byte = bytes->data[bytes->at++];
	return true;
}

static bool take_number(struct bytes *bytes, uint32_t *number)
{
	uint8_t byte;

	*number = 0;
	for (unsigned shift = 0; shift < 35; shift += 7) {
		if (!take_byte(bytes, &byte))
			return false;
		*number |= (uint32_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

/* The value for pc in the table at an offset, in a function that begins at start. */
static bool value_at(struct pmp_gopclntab *table, uint32_t offset, uint64_t start,
		     uint64_t pc, int32_t *value)
{
	struct bytes bytes = { .table = table,
			       .next = table->values + offset,
			       .left = VALUES_MAX };
	uint32_t sum = (uint32_t)-1, change, length;
	uint64_t end = start;

	if (!offset)
		return false;
	do {
		if (!take_number(&bytes, &change) || (change == 0 && end != start) ||
		    !take_number(&bytes, &length))
			return false;
		sum += change & 1 ? ~(change >> 1) : change >> 1;
		end += (uint64_t)length * table->quantum;
	} while (end <= pc);
	*value = (int32_t)sum;
	return true;
}

bool pmp_gopclntab_frame(struct pmp_gopclntab *table,
			 const struct pmp_go_function *function, uint64_t pc,
			 uint32_t *size)
{
	int32_t value;

	if (!value_at(table, function->frame, function->start, pc, &value) || value < 0)
		return false;
	*size = (uint32_t)value;
	return true;
}

/* ---- lines ----------------------------------------------------------------------- */

/* The address of a file's name; 0: none. */
static uint64_t file_at(struct pmp_gopclntab *table,
			const struct pmp_go_function *function, int32_t number)
{
	const uint64_t index = (uint32_t)number;
	uint32_t offset;

	if (number < 0)
		return 0;
	if (table->layout == PMP_GO_1_2) {
		/* Numbered from 1. */
		if (!number || !read_table(table, table->files + 4 * index, &offset, 4))
			return 0;
		return table->start + offset;
	}
	if (!read_table(table, table->units + 4 * (index + function->unit), &offset, 4) ||
	    offset == NO_TABLE)
		return 0;
	return table->files + offset;
}

static void fill_line(struct pmp_gopclntab *table, const struct pmp_go_function *function,
		      uint64_t pc, struct pmp_buf *text, struct pmp_go_place *place)
{
	const size_t before = text->length;
	int32_t value;
	uint64_t file;

	if (value_at(table, function->line, function->start, pc, &value) && value > 0)
		place->line = (unsigned)value;
	if (!value_at(table, function->file, function->start, pc, &value))
		return;
	file = file_at(table, function, value);
	if (!file)
		return;
	if (add_string(table, file, text)) {
		pmp_buf_putc(text, '\0');
		place->file = before;
	} else if (!pmp_buf_failed(text)) {
		pmp_buf_cut(text, before);
	}
}

/* ---- inlined calls ---------------------------------------------------------------- */

struct inlined_call {
	uint32_t name;	 /* of the inlined function */
	uint32_t caller; /* the call, as an offset from the function's start */
};

/* The address of the function's inlined calls; 0: none. */
static uint64_t inlined_calls(struct pmp_gopclntab *table,
			      const struct pmp_go_function *function)
{
	uint64_t at = function->at + function->tables + 4 * (uint64_t)function->pc_tables;
	uint64_t address;
	uint32_t offset;

	if (table->layout == PMP_GO_1_2 || function->pc_tables <= INLINE_VALUES ||
	    function->other_tables <= INLINE_CALLS)
		return 0;
	if (table->layout >= PMP_GO_1_18) {
		if (!table->func_data ||
		    !read_table(table, at + 4 * INLINE_CALLS, &offset, 4) ||
		    offset == NO_TABLE)
			return 0;
		return table->func_data + offset;
	}
	at = (at + POINTER - 1) / POINTER * POINTER;
	if (!read_table(table, at + POINTER * INLINE_CALLS, &address, POINTER))
		return 0;
	return address;
}

static bool read_call(struct pmp_gopclntab *table, uint64_t calls, uint32_t i,
		      struct inlined_call *call)
{
	/* Since Go 1.20: kind, name, caller, line. Before: parent, file, line, name,
	 * caller. */
	const bool is_new = table->layout == PMP_GO_1_20;
	const size_t size = is_new ? 16 : 20;
	uint8_t data[20];

	table->work += size;
	if (!pmp_read(&table->memory, calls + i * size, data, size))
		return false;
	call->name = word_at(data, is_new ? 4 : 12);
	call->caller = word_at(data, is_new ? 8 : 16);
	return true;
}

/* The index of the inlined call at pc, or NOT_INLINED. */
static int32_t inlined_at(struct pmp_gopclntab *table,
			  const struct pmp_go_function *function, uint64_t pc)
{
	uint32_t offset;
	int32_t value;

	if (!read_table(table,
			function->at + function->tables + 4 * (uint64_t)INLINE_VALUES,
			&offset, 4) ||
	    !value_at(table, offset, function->start, pc, &value) || value < 0)
		return NOT_INLINED;
	return value;
}

static bool add_place(struct pmp_gopclntab *table, uint32_t name, struct pmp_buf *text,
		      struct pmp_go_place *place)
{
	const size_t before = text->length;

	*place = (struct pmp_go_place){ .function = before, .file = SIZE_MAX };
	if (!add_string(table, table->names + name, text) || text->length == before) {
		if (!pmp_buf_failed(text))
			pmp_buf_cut(text, before);
		return false;
	}
	pmp_buf_putc(text, '\0');
	return true;
}

size_t pmp_gopclntab_places(struct pmp_gopclntab *table, uint64_t pc, bool with_lines,
			    struct pmp_buf *text, struct pmp_go_place *places,
			    size_t limit)
{
	struct pmp_go_function function;
	struct inlined_call call;
	uint64_t calls;
	size_t count = 0;
	int32_t i;

	if (!limit || !pmp_gopclntab_find(table, pc, &function))
		return 0;
	calls = inlined_calls(table, &function);
	while (calls && count + 1 < limit &&
	       (i = inlined_at(table, &function, pc)) != NOT_INLINED &&
	       read_call(table, calls, (uint32_t)i, &call) &&
	       call.caller < function.end - function.start &&
	       add_place(table, call.name, text, &places[count])) {
		if (with_lines)
			fill_line(table, &function, pc, text, &places[count]);
		count++;
		pc = function.start + call.caller;
	}
	if (!add_place(table, function.name, text, &places[count]))
		return 0;
	if (with_lines)
		fill_line(table, &function, pc, text, &places[count]);
	return pmp_buf_failed(text) ? 0 : count + 1;
}
