/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of functions of a program in Go, in each of its layouts, made here: names,
 * files, lines, frames, inlined calls; where it is, and where the code is; and damage of
 * all of it.
 */
#include <string.h>

#include "base/gopclntab.h"
#include "lib/tap.h"

#define BASE 0x500000u /* where the table is */
#define TEXT 0x401000u /* where the code is */
#define DATA 0x600000u /* where the description of the module is */
#define SIZE 4096u     /* of each of the two */
#define EXTRA 0x40u    /* of the code, before the first function */
#define MODULE_AT 0x108u

/* What is in memory: the table, its data of functions after it, and the module. */
static uint8_t table_bytes[SIZE], module_bytes[SIZE];
static size_t used;

static bool read_bytes(void *arg, uint64_t address, void *data, size_t length)
{
	const uint8_t *from = address >= DATA ? module_bytes : table_bytes;
	uint64_t at = address - (address >= DATA ? DATA : BASE);

	(void)arg;
	if (address < BASE || at > SIZE || length > SIZE - at)
		return false;
	memcpy(data, from + at, length);
	return true;
}

static const struct pmp_reader memory = { read_bytes, NULL };

static void put(size_t at, uint64_t value, size_t size)
{
	memcpy(table_bytes + at, &value, size);
}

static size_t append(uint64_t value, size_t size)
{
	size_t at = used;

	put(at, value, size);
	used += size;
	return at;
}

static size_t append_text(const char *text)
{
	size_t at = used;

	memcpy(table_bytes + at, text, strlen(text) + 1);
	used += strlen(text) + 1;
	return at;
}

static void append_number(uint32_t value)
{
	for (; value > 0x7f; value >>= 7)
		append(0x80 | (value & 0x7f), 1);
	append(value, 1);
}

/* A table of values by pc: pairs of a value and for how many bytes of code. */
static size_t append_values(const int32_t *pairs, size_t count)
{
	size_t at = used;
	int32_t before = -1;

	for (size_t i = 0; i < count; i++) {
		int32_t change = pairs[2 * i] - before;

		append_number(change < 0 ? ~((uint32_t)change << 1)
					 : (uint32_t)change << 1);
		append_number((uint32_t)pairs[2 * i + 1]);
		before = pairs[2 * i];
	}
	append(0, 1);
	return at;
}

static bool is_wide(enum pmp_go_layout layout)
{
	return layout < PMP_GO_1_18;
}

/*
 * Two functions: main.first with 0x80 bytes of code, in whose [0x20, 0x40) main.middle is
 * inlined, and into that in [0x30, 0x40) main.inner; and main.second with 0x40 bytes.
 */
struct made {
	size_t names, units, files, values, functions, calls;
	size_t name[4], file[2], frame, file_of, line, inlined, at[2], pointer;
};

static void make_strings(struct made *made, enum pmp_go_layout layout)
{
	static const char *const names[] = { "main.first", "main.second", "main.middle",
					     "main.inner" };

	made->names = used;
	append(0, 1);
	for (size_t i = 0; i < 4; i++)
		made->name[i] =
			append_text(names[i]) - (layout == PMP_GO_1_2 ? 0 : made->names);
	made->files = used;
	made->file[0] = append_text("/src/a.go");
	made->file[1] = append_text("/src/b.go");
	used = (used + 7) & ~(size_t)7;
	made->units = used;
	if (layout == PMP_GO_1_2) {
		/* How many, then where each is; numbers from 1 on. */
		append(3, 4);
		append(made->file[0], 4);
		append(made->file[1], 4);
		return;
	}
	append(UINT32_MAX, 4); /* of another unit */
	append(made->file[0] - made->files, 4);
	append(made->file[1] - made->files, 4);
}

static void make_values(struct made *made, enum pmp_go_layout layout)
{
	const int32_t first_file = layout == PMP_GO_1_2 ? 1 : 0;
	const int32_t frame[] = { 0, 4, 24, 0x78, 0, 4 };
	const int32_t file[] = {
		first_file, 0x30, first_file + 1, 0x10, first_file, 0x40
	};
	const int32_t line[] = { 10, 0x20, 100, 0x10, 200, 0x10, 12, 0x40 };
	const int32_t inlined[] = { -1, 0x20, 0, 0x10, 1, 0x10, -1, 0x40 };

	made->values = layout == PMP_GO_1_2 ? 0 : used;
	append(0, 1);
	made->frame = append_values(frame, 3) - made->values;
	made->file_of = append_values(file, 3) - made->values;
	made->line = append_values(line, 4) - made->values;
	made->inlined = append_values(inlined, 4) - made->values;
	used = (used + 7) & ~(size_t)7;
}

static void append_call(enum pmp_go_layout layout, size_t name, uint32_t caller)
{
	if (layout == PMP_GO_1_20) {
		append(0, 4);
		append(name, 4);
		append(caller, 4);
		append(1, 4);
		return;
	}
	for (int i = 0; i < 3; i++)
		append(0, 4); /* parent, file, line: not used */
	append(name, 4);
	append(caller, 4);
}

static void make_function(struct made *made, enum pmp_go_layout layout, size_t i)
{
	const uint32_t entry = EXTRA + (i ? 0x80 : 0);

	made->at[i] = used;
	append(is_wide(layout) ? TEXT + entry : entry, is_wide(layout) ? 8 : 4);
	append(made->name[i], 4);
	append(0, 8); /* arguments, deferred calls */
	append(made->frame, 4);
	append(made->file_of, 4);
	append(made->line, 4);
	append(3, 4); /* tables by pc */
	if (layout != PMP_GO_1_2)
		append(1, 4); /* the first file of its unit */
	if (layout == PMP_GO_1_20)
		append(1, 4); /* its first line */
	append(0, 1);
	append(i ? 1 | 2 | 4 : 0, 1); /* the second one is marked in each way */
	append(0, 1);
	append(layout == PMP_GO_1_2 ? 0 : 4, 1);
	append(0, 8);
	append(i ? 0 : made->inlined, 4);
	if (layout == PMP_GO_1_2)
		return;
	if (is_wide(layout)) {
		used = (used + 7) & ~(size_t)7;
		for (int n = 0; n < 3; n++)
			append(0, 8);
		if (i)
			append(0, 8);
		else
			made->pointer = append(0, 8);
		return;
	}
	append(UINT32_MAX, 4);
	append(UINT32_MAX, 8);
	append(i ? UINT32_MAX : 8, 4); /* in the data of functions */
}

static void fill_rows(const struct made *made, enum pmp_go_layout layout, size_t at)
{
	const size_t size = is_wide(layout) ? 8 : 4;
	const uint32_t entries[] = { EXTRA, EXTRA + 0x80, EXTRA + 0xc0 };

	for (size_t i = 0; i < 3; i++) {
		put(at + 2 * i * size, (is_wide(layout) ? TEXT : 0) + entries[i], size);
		if (i < 2)
			put(at + (2 * i + 1) * size, made->at[i] - made->functions, size);
	}
	if (layout == PMP_GO_1_2)
		put(at + 5 * size, made->units, 4);
}

static void fill_header(const struct made *made, enum pmp_go_layout layout, uint64_t text)
{
	static const uint32_t magics[] = { 0xfffffffb, 0xfffffffa, 0xfffffff0,
					   0xfffffff1 };
	const uint64_t parts[] = { made->names, made->units, made->files, made->values,
				   made->functions };
	size_t at = 8;

	put(0, magics[layout], 4);
	put(6, 1, 1);
	put(7, 8, 1);
	put(at, 2, 8);
	if (layout == PMP_GO_1_2)
		return;
	put(at += 8, 2, 8);
	if (!is_wide(layout))
		put(at += 8, text, 8);
	for (size_t i = 0; i < 5; i++)
		put(at += 8, parts[i], 8);
}

/* text: what the header says of where the code is; 0: nothing, as since Go 1.26. */
static struct made make(enum pmp_go_layout layout, uint64_t text)
{
	struct made made = { 0 };
	size_t rows = 16;

	memset(table_bytes, 0, sizeof(table_bytes));
	used = 128;
	make_strings(&made, layout);
	make_values(&made, layout);
	made.functions = layout == PMP_GO_1_2 ? 0 : used;
	if (layout != PMP_GO_1_2) {
		rows = used;
		used += 48;
	}
	make_function(&made, layout, 0);
	make_function(&made, layout, 1);
	used += 8;
	made.calls = used;
	append_call(layout, made.name[2], 0x10);
	append_call(layout, made.name[3], 0x24);
	if (layout == PMP_GO_1_16)
		put(made.pointer, BASE + made.calls, 8);
	fill_rows(&made, layout, rows);
	fill_header(&made, layout, text);
	return made;
}

/* The module: words of 8 bytes. new: as since Go 1.26, where the table's end follows. */
static void make_module(const struct made *made, enum pmp_go_layout layout, bool new)
{
	uint64_t words[64] = { 0 };
	size_t data = layout == PMP_GO_1_18 ? 38 : new ? 43 : 40;

	words[0] = BASE;
	words[1] = BASE + made->names;
	words[4] = BASE + made->units;
	words[7] = BASE + made->files;
	words[10] = BASE + made->values;
	words[13] = BASE + made->functions;
	words[22] = TEXT;
	words[23] = TEXT + 0x1000;
	/* The offsets of functions' data are from there on. */
	words[data] = BASE + made->calls - 8;
	if (new)
		words[data + 1] = BASE + used;
	memset(module_bytes, 0, sizeof(module_bytes));
	memcpy(module_bytes + MODULE_AT, words, sizeof(words));
	/* What only looks like it. */
	memcpy(module_bytes + 8, words, 8);
}

/* "main.inner b.go:200 < ..." of pc, given from the first function on. */
static const char *at(struct pmp_gopclntab *table, uint64_t pc, bool lines)
{
	static char text[1024];
	struct pmp_go_place places[8];
	struct pmp_buf strings = { 0 };
	size_t count = pmp_gopclntab_places(table, TEXT + EXTRA + pc, lines, &strings,
					    places, 8);
	size_t n = 0;

	text[0] = '\0';
	for (size_t i = 0; i < count; i++) {
		const struct pmp_go_place *place = &places[i];

		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s", i ? " < " : "",
				      strings.data + place->function);
		if (lines)
			n += (size_t)snprintf(text + n, sizeof(text) - n, " %s:%u",
					      place->file == SIZE_MAX
						      ? "?"
						      : strings.data + place->file,
					      place->line);
	}
	pmp_buf_free(&strings);
	return text;
}

static const char *name_at(struct pmp_gopclntab *table, uint64_t pc)
{
	static char text[64];
	struct pmp_go_function function;
	struct pmp_buf name = { 0 };

	snprintf(text, sizeof(text), "-");
	if (pmp_gopclntab_find(table, pc, &function) &&
	    pmp_gopclntab_name(table, &function, &name))
		snprintf(text, sizeof(text), "%s", name.data);
	pmp_buf_free(&name);
	return text;
}

static int frame_at(struct pmp_gopclntab *table, uint64_t pc)
{
	struct pmp_go_function function;
	uint32_t size;

	return pmp_gopclntab_find(table, TEXT + EXTRA + pc, &function) &&
			       pmp_gopclntab_frame(table, &function, TEXT + EXTRA + pc,
						   &size)
		       ? (int)size
		       : -1;
}

static const char *const layouts[] = { "Go 1.2", "Go 1.16", "Go 1.18", "Go 1.20" };

static void test_names(enum pmp_go_layout layout)
{
	const uint64_t first = TEXT + EXTRA;
	struct pmp_gopclntab table;
	const char *what = layouts[layout];

	make(layout, TEXT);
	if (!ok(pmp_gopclntab_open(&table, &memory, BASE, BASE + used), "%s: a table",
		what))
		return;
	is_int((int)table.layout, (int)layout, "%s: is told from others", what);
	is_str(name_at(&table, first - 1), "-", "%s: before the first function", what);
	is_str(name_at(&table, first), "main.first", "%s: its first byte", what);
	is_str(name_at(&table, first + 0x7f), "main.first", "%s: its last one", what);
	is_str(name_at(&table, first + 0x80), "main.second", "%s: the next one", what);
	is_str(name_at(&table, first + 0xbf), "main.second", "%s: its last byte", what);
	is_str(name_at(&table, first + 0xc0), "-", "%s: after it", what);
	is_int(frame_at(&table, 3), 0, "%s: no frame yet", what);
	is_int(frame_at(&table, 4), 24, "%s: a frame", what);
	is_int(frame_at(&table, 0x7b), 24, "%s: to its end", what);
	is_int(frame_at(&table, 0x7c), 0, "%s: no frame any more", what);
	is_str(at(&table, 0, true), "main.first /src/a.go:10", "%s: file and line", what);
	is_str(at(&table, 0x7f, true), "main.first /src/a.go:12", "%s: the last line",
	       what);
	is_str(at(&table, 0x80, false), "main.second", "%s: without lines", what);
}

static void test_inlined(enum pmp_go_layout layout, bool new)
{
	struct made made = make(layout, new ? 0 : TEXT);
	const char *what = new ? "Go 1.26" : layouts[layout];
	struct pmp_gopclntab table;

	make_module(&made, layout, new);
	ok(pmp_gopclntab_open(&table, &memory, BASE, BASE + used), "%s: a table", what);
	if (!is_wide(layout)) {
		ok(pmp_gopclntab_needs_module(&table), "%s: needs its module", what);
		is_str(at(&table, 0x38, false), new ? "" : "main.first",
		       "%s: no inlined calls without", what);
		ok(!pmp_gopclntab_find_module(&table, DATA, DATA + MODULE_AT),
		   "%s: which is not there", what);
		ok(pmp_gopclntab_find_module(&table, DATA, DATA + SIZE), "%s: but here",
		   what);
		ok(!pmp_gopclntab_needs_module(&table), "%s: that is all", what);
	}
	is_str(at(&table, 0x10, false), "main.first", "%s: nothing inlined", what);
	is_str(at(&table, 0x20, true),
	       "main.middle /src/a.go:100 < main.first /src/a.go:10",
	       "%s: a call inlined", what);
	is_str(at(&table, 0x3f, true),
	       "main.inner /src/b.go:200 < main.middle /src/a.go:100 < main.first "
	       "/src/a.go:10",
	       "%s: another one into it", what);
	is_str(at(&table, 0x40, true), "main.first /src/a.go:12", "%s: after them", what);
	is_str(at(&table, 0x80, false), "main.second", "%s: the next function", what);
}

static void test_marks(void)
{
	struct pmp_go_function function;
	struct pmp_gopclntab table;

	for (enum pmp_go_layout i = PMP_GO_1_2; i <= PMP_GO_1_20; i++) {
		bool has = i >= PMP_GO_1_18;

		make(i, TEXT);
		ok(pmp_gopclntab_open(&table, &memory, BASE, BASE + used) &&
			   pmp_gopclntab_find(&table, TEXT + EXTRA, &function) &&
			   !function.is_top && !function.switches_stacks &&
			   !function.is_assembly,
		   "%s: nothing is marked", layouts[i]);
		ok(pmp_gopclntab_find(&table, TEXT + EXTRA + 0x80, &function) &&
			   function.is_top == has && function.switches_stacks == has &&
			   function.is_assembly == has,
		   "%s: marks of functions%s", layouts[i],
		   has ? "" : ", of which it has none");
	}
}

static void test_scan(void)
{
	struct pmp_gopclntab table;

	make(PMP_GO_1_20, TEXT);
	memmove(table_bytes + 512, table_bytes, used);
	memset(table_bytes, 0, 512);
	/* Only the first bytes of one, and one that begins at no place for it. */
	put(64, 0xfffffff1, 4);
	put(136, 0xfffffff1, 4);
	ok(pmp_gopclntab_scan(&table, &memory, BASE + 8, BASE + 512 + used),
	   "a table is found without a section");
	is_int((long)(table.start - BASE), 512, "where it is");
	ok(!pmp_gopclntab_scan(&table, &memory, BASE, BASE + 512), "none before it");
	ok(!pmp_gopclntab_scan(&table, &memory, BASE, BASE), "none in nothing");
	ok(!pmp_gopclntab_scan(&table, &memory, UINT64_MAX - 5, UINT64_MAX) &&
		   !pmp_gopclntab_find_module(&table, UINT64_MAX - 5, UINT64_MAX),
	   "nor at the end of all addresses");
}

static void test_headers(void)
{
	static const struct {
		size_t at;
		uint64_t value;
		size_t size;
		const char *what;
	} wrong[] = {
		{ 0, 0xfffffff2, 4, "an unknown layout" },
		{ 4, 1, 1, "what should be zero is not" },
		{ 6, 3, 1, "instructions of three bytes" },
		{ 7, 4, 1, "pointers of 32 bits" },
		{ 8, 0, 8, "no functions" },
		{ 8, 1 << 20, 8, "more functions than fit" },
		{ 8, UINT64_MAX / 8, 8, "far too many functions" },
		{ 32, SIZE, 8, "names after its end" },
		{ 64, UINT64_MAX, 8, "functions before it" },
	};
	struct pmp_gopclntab table;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		make(PMP_GO_1_20, TEXT);
		put(wrong[i].at, wrong[i].value, wrong[i].size);
		ok(!pmp_gopclntab_open(&table, &memory, BASE, BASE + used), "refused: %s",
		   wrong[i].what);
	}
	make(PMP_GO_1_20, TEXT);
	ok(!pmp_gopclntab_open(&table, &memory, BASE, BASE + 7), "refused: a few bytes");
	ok(!pmp_gopclntab_open(&table, &memory, BASE, BASE - 1),
	   "refused: it ends before it starts");
	ok(!pmp_gopclntab_open(&table, &memory, 0, 4096), "refused: unreadable");
}

/* A call that was inlined into itself; a table of values that does not end. */
static void test_endless(void)
{
	struct made made = make(PMP_GO_1_20, TEXT);
	struct pmp_gopclntab table;

	make_module(&made, PMP_GO_1_20, false);
	put(made.calls + 16 + 8, 0x38, 4);
	pmp_gopclntab_open(&table, &memory, BASE, BASE + used);
	pmp_gopclntab_find_module(&table, DATA, DATA + SIZE);
	is_str(at(&table, 0x38, false),
	       "main.inner < main.inner < main.inner < main.inner < main.inner < "
	       "main.inner < main.inner < main.first",
	       "an endless chain of inlined calls is cut");
	make(PMP_GO_1_20, TEXT);
	memset(table_bytes + made.values + made.frame, 0x80, 64);
	pmp_gopclntab_open(&table, &memory, BASE, BASE + used);
	is_int(frame_at(&table, 4), -1, "a number without an end");
	/* Steps of no length: they are read, but no more than that. */
	made = make(PMP_GO_1_20, TEXT);
	for (size_t i = used; i < SIZE; i += 2) {
		table_bytes[i] = 2;
		table_bytes[i + 1] = 0;
	}
	put(made.at[0] + 16, used - made.values, 4);
	pmp_gopclntab_open(&table, &memory, BASE, BASE + SIZE);
	is_int(frame_at(&table, 4), -1, "values for no code");
	ok(table.work < 2 * SIZE, "no more is read than there is: %zu", table.work);
}

/* Whatever is changed: no crash, and not much work. */
static void test_damage(enum pmp_go_layout layout)
{
	struct made made = make(layout, TEXT);
	static uint8_t good[SIZE];
	size_t worst = 0;

	make_module(&made, layout, false);
	memcpy(good, table_bytes, SIZE);
	for (size_t i = 0; i < used * 8; i++) {
		struct pmp_gopclntab table;

		memcpy(table_bytes, good, SIZE);
		table_bytes[i / 8] ^= (uint8_t)(1u << i % 8);
		if (!pmp_gopclntab_open(&table, &memory, BASE, BASE + used))
			continue;
		pmp_gopclntab_find_module(&table, DATA, DATA + SIZE);
		table.work = 0;
		for (unsigned pc = 0; pc < 0xc0; pc += 0x1c)
			at(&table, pc, true);
		if (table.work > worst)
			worst = table.work;
	}
	ok(worst && worst < 200000, "%s: each bit changed; at most %zu bytes read",
	   layouts[layout], worst);
}

int main(void)
{
	for (enum pmp_go_layout i = PMP_GO_1_2; i <= PMP_GO_1_20; i++) {
		test_names(i);
		if (i != PMP_GO_1_2)
			test_inlined(i, false);
		test_damage(i);
	}
	test_inlined(PMP_GO_1_20, true);
	test_marks();
	test_scan();
	test_headers();
	test_endless();
	return done_testing();
}
