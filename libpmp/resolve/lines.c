/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From an address to its compilation unit, from there to the function, from
 * there down through the inlined functions.
 *
 * Units are found with .debug_aranges. clang, Rust and Go leave it out: for the
 * first address that is not in it, all units that it does not mention are listed
 * by their own ranges. The functions of a unit are listed once. We walk the tree
 * of DIEs ourselves, as libdw's walk recurses as deep as the file says and follows
 * a sibling that points backwards for ever. All work is charged to budgets, so that
 * no file can make it endless.
 */
#include "resolve/lines.h"

#include <dwarf.h>
#include <elfutils/libdwelf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/file.h"
#include "libpmp.h"
#include "resolve/elf.h"
#include "resolve/interval-map.h"
#include "resolve/libdw-oom.h"
#include "resolve/line-rows.h"

#define UNITS_MAX ((size_t)1 << 20)
#define DEPTH_MAX 128		       /* of nested DIEs */
#define WALK_MAX ((size_t)16 << 20)    /* steps to list the functions of a unit */
#define RANGES_MAX ((size_t)16 << 20)  /* address ranges read for all units */
#define LOOKUP_MAX ((size_t)1 << 20)   /* steps to look up one address */
#define MODULE_MAX ((size_t)128 << 20) /* steps in a module */

struct dwarf_unit {
	Dwarf_Off offset;	/* of its first DIE */
	Dwarf_Die head;		/* in the module's file: ranges and lines */
	Dwarf_Die body;		/* the same, or the unit in the .dwo file */
	bool listed;		/* head, body and functions are filled */
	bool weighed, no_lines; /* its line table was checked; it is too large */
	Dwarf_Die *functions;
	size_t function_count, function_capacity;
	struct pmp_interval_map steps; /* address to index of function */
};

struct pmp_lines {
	Dwarf *dwarf;
	int fd;	     /* of its file, or -1 */
	uid_t owner; /* of the module's file */
	struct pmp_budget *budget;
	uint64_t steps; /* left for this module */
	const struct pmp_log *log;
	struct dwarf_unit *units; /* those in .debug_aranges, ascending; then the rest */
	size_t told_count, unit_count, unit_capacity;
	struct pmp_interval_map told, rest; /* address to index of unit */
	bool begun, complete;		    /* told is filled; rest is filled */
	struct pmp_intervals ranges;	    /* while they are collected */
};

/* ---- walking ------------------------------------------------------------ */

struct die_walk {
	/* Visit a DIE; true: visit its children too. */
	bool (*visit)(struct die_walk *walk, Dwarf_Die *die, unsigned depth);
	void *arg;
	size_t budget;
	bool first; /* stop after the first DIE for which visit returns true */
	bool ended; /* done, over budget, or damaged */
};

static bool spend(struct die_walk *walk)
{
	if (walk->budget == 0)
		walk->ended = true;
	else
		walk->budget--;
	return !walk->ended;
}

/* The budget for a walk; spent() charges what was used when the walk is over. */
static size_t allowance(const struct pmp_lines *lines, size_t most)
{
	if (most > lines->steps)
		most = lines->steps;
	return most < lines->budget->steps ? most : lines->budget->steps;
}

static void spent(struct pmp_lines *lines, size_t allowed, const struct die_walk *walk)
{
	lines->steps -= allowed - walk->budget;
	lines->budget->steps -= allowed - walk->budget;
}

/*
 * dwarf_siblingof() follows DW_AT_sibling if there is one, else it steps over all
 * descendants, following their DW_AT_sibling: each of these must lead forward.
 */
static bool sibling_leads_forward(Dwarf_Die *die, bool *has_one)
{
	Dwarf_Attribute attribute;
	Dwarf_Die sibling;

	*has_one = dwarf_attr(die, DW_AT_sibling, &attribute) != NULL;
	return !*has_one ||
	       (dwarf_formref_die(&attribute, &sibling) && sibling.cu == die->cu &&
		dwarf_dieoffset(&sibling) > dwarf_dieoffset(die));
}

/* silent: only check the children, without visiting, as dwarf_siblingof() is going to step
 * over them. */
static void walk_children(struct die_walk *walk, Dwarf_Die *parent, unsigned depth,
			  bool silent)
{
	Dwarf_Die die;

	if (depth > DEPTH_MAX) {
		walk->ended = true;
		return;
	}
	if (dwarf_child(parent, &die) != 0)
		return;
	do {
		bool jumps, descend;

		if (!spend(walk))
			return;
		if (!sibling_leads_forward(&die, &jumps)) {
			walk->ended = true;
			return;
		}
		descend = !silent && walk->visit(walk, &die, depth);
		if (walk->ended)
			return;
		if (descend || (!jumps && dwarf_haschildren(&die) > 0))
			walk_children(walk, &die, depth + 1, !descend);
		if (descend && walk->first)
			walk->ended = true;
		if (walk->ended)
			return;
	} while (dwarf_siblingof(&die, &die) == 0);
}

/* Call add for each address range of a DIE. */
static void each_range(struct die_walk *walk, Dwarf_Die *die,
		       bool (*add)(void *arg, uint64_t start, uint64_t end), void *arg)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &start, &end)) > 0 && spend(walk)) {
		/* Linkers give address 0 to code that they have removed. */
		if (start != 0 && start < end && !add(arg, start, end))
			return;
	}
}

struct probe {
	uint64_t address;
	bool inside;
};

static bool probe_range(void *arg, uint64_t start, uint64_t end)
{
	struct probe *probe = arg;

	probe->inside = probe->address >= start && probe->address < end;
	return !probe->inside;
}

static bool covers(struct die_walk *walk, Dwarf_Die *die, uint64_t address)
{
	struct probe probe = { .address = address };

	each_range(walk, die, probe_range, &probe);
	return probe.inside;
}

/* ---- units -------------------------------------------------------------- */

struct collect {
	struct pmp_intervals *ranges;
	uint64_t rank;
	uint32_t value;
	bool failed; /* no memory */
};

static bool collect_range(void *arg, uint64_t start, uint64_t end)
{
	struct collect *collect = arg;
	struct pmp_interval range = { start, end, collect->rank, collect->value };

	if (pmp_intervals_add(collect->ranges, &range))
		collect->failed = true;
	return !collect->failed;
}

static bool add_unit(struct pmp_lines *lines, Dwarf_Off offset)
{
	if (PMP_RESERVE(&lines->units, &lines->unit_capacity, lines->unit_count + 1))
		return false;
	lines->units[lines->unit_count++] = (struct dwarf_unit){ .offset = offset };
	return true;
}

static int unit_order(const void *a, const void *b)
{
	const struct dwarf_unit *x = a, *y = b;

	return (x->offset > y->offset) - (x->offset < y->offset);
}

static struct dwarf_unit *told_unit(const struct pmp_lines *lines, Dwarf_Off offset)
{
	const struct dwarf_unit key = { .offset = offset };

	return lines->told_count ? bsearch(&key, lines->units, lines->told_count,
					   sizeof(key), unit_order)
				 : NULL;
}

/* List the units that .debug_aranges mentions, each once. */
static bool list_told_units(struct pmp_lines *lines, Dwarf_Aranges *table, size_t count)
{
	Dwarf_Off offset, last = 0;
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		Dwarf_Arange *entry = dwarf_onearange(table, i);

		if (lines->unit_count == UNITS_MAX)
			break;
		if (dwarf_getarangeinfo(entry, NULL, NULL, &offset) == 0 &&
		    (i == 0 || offset != last) && !add_unit(lines, offset))
			return false;
		last = offset;
	}
	if (lines->unit_count)
		qsort(lines->units, lines->unit_count, sizeof(*lines->units), unit_order);
	for (size_t i = 0; i < lines->unit_count; i++) {
		if (kept == 0 || lines->units[kept - 1].offset != lines->units[i].offset)
			lines->units[kept++] = lines->units[i];
	}
	lines->told_count = lines->unit_count = kept;
	return true;
}

static void list_aranges(struct pmp_lines *lines)
{
	struct collect collect = { .ranges = &lines->ranges };
	Dwarf_Aranges *table;
	Dwarf_Addr start;
	Dwarf_Word length;
	Dwarf_Off offset;
	size_t count;
	bool fine;

	lines->begun = true;
	if (dwarf_getaranges(lines->dwarf, &table, &count) != 0)
		return;
	if (count > RANGES_MAX)
		count = RANGES_MAX;
	fine = list_told_units(lines, table, count);
	for (size_t i = 0; fine && i < count; i++) {
		Dwarf_Arange *entry = dwarf_onearange(table, i);
		const struct dwarf_unit *unit;

		if (dwarf_getarangeinfo(entry, &start, &length, &offset) != 0)
			continue;
		unit = told_unit(lines, offset);
		if (!unit || start == 0 || length > UINT64_MAX - start)
			continue;
		collect.value = (uint32_t)(unit - lines->units);
		fine = collect_range(&collect, start, start + length);
	}
	pmp_intervals_flatten(&lines->ranges, &lines->told);
	pmp_intervals_free(&lines->ranges);
}

static void list_other_units(struct pmp_lines *lines)
{
	struct collect collect = { .ranges = &lines->ranges };
	const size_t allowed = allowance(lines, RANGES_MAX);
	struct die_walk walk = { .budget = allowed };
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;
	uint8_t type;

	lines->complete = true;
	while (!collect.failed && lines->unit_count < UNITS_MAX && !walk.ended &&
	       dwarf_get_units(lines->dwarf, unit, &unit, NULL, &type, &die, NULL) == 0) {
		if ((type != DW_UT_compile && type != DW_UT_skeleton) ||
		    told_unit(lines, dwarf_dieoffset(&die)))
			continue;
		collect.value = (uint32_t)lines->unit_count;
		if (!add_unit(lines, dwarf_dieoffset(&die)))
			break;
		each_range(&walk, &die, collect_range, &collect);
	}
	spent(lines, allowed, &walk);
	pmp_intervals_flatten(&lines->ranges, &lines->rest);
	pmp_intervals_free(&lines->ranges);
}

/* The unit of an address, or NULL. If memory runs out, some units are not found. */
static struct dwarf_unit *find_unit(struct pmp_lines *lines, uint64_t address)
{
	uint32_t index;

	if (!lines->begun)
		list_aranges(lines);
	index = pmp_interval_map_find(&lines->told, address);
	if (index == PMP_INTERVAL_NONE && !lines->complete)
		list_other_units(lines);
	if (index == PMP_INTERVAL_NONE)
		index = pmp_interval_map_find(&lines->rest, address);
	return index == PMP_INTERVAL_NONE ? NULL : &lines->units[index];
}

struct pmp_lines *pmp_lines_new(Dwarf *dwarf, int fd, uid_t owner,
				struct pmp_budget *budget, const struct pmp_log *log)
{
	struct pmp_lines *lines = calloc(1, sizeof(*lines));

	if (lines) {
		lines->dwarf = dwarf;
		lines->fd = fd;
		lines->owner = owner;
		lines->budget = budget;
		lines->steps = MODULE_MAX;
		lines->log = log;
	}
	return lines;
}

void pmp_lines_free(struct pmp_lines *lines)
{
	if (!lines)
		return;
	for (size_t i = 0; i < lines->unit_count; i++) {
		free(lines->units[i].functions);
		pmp_interval_map_free(&lines->units[i].steps);
	}
	free(lines->units);
	pmp_interval_map_free(&lines->told);
	pmp_interval_map_free(&lines->rest);
	pmp_intervals_free(&lines->ranges);
	free(lines);
}

/* ---- strings ------------------------------------------------------------- */

/* Does a string in a section of DIEs end within that section? */
static bool ends_within(const Dwarf_Attribute *attribute, const char *text)
{
	Elf *elf = dwarf_getelf(dwarf_cu_getdwarf(attribute->cu));
	Elf_Scn *section = NULL;
	size_t names;

	if (!elf || elf_getshdrstrndx(elf, &names) != 0)
		return false;
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		const char *name = gelf_getshdr(section, &header)
					   ? elf_strptr(elf, names, header.sh_name)
					   : NULL;
		const Elf_Data *data;

		if (!name || (strncmp(name, ".debug_info", 11) != 0 &&
			      strncmp(name, ".zdebug_info", 12) != 0 &&
			      strncmp(name, ".debug_types", 12) != 0))
			continue;
		data = elf_getdata(section, NULL);
		if (data && data->d_buf && text >= (char *)data->d_buf &&
		    text < (char *)data->d_buf + data->d_size)
			return memchr(text, '\0',
				      data->d_size -
					      (size_t)(text - (char *)data->d_buf)) !=
			       NULL;
	}
	return false;
}

/* libdw does not check the offset of an indexed string (0.188, found by fuzz-elf), but
 * dwarf_getstring() checks its argument. */
static bool is_indexed_within(Dwarf_Attribute *attribute, const char *text)
{
	Dwarf *dwarf = dwarf_cu_getdwarf(attribute->cu);
	size_t length;
	const char *first = dwarf_getstring(dwarf, 0, &length);

	return first && text >= first &&
	       dwarf_getstring(dwarf, (Dwarf_Off)(text - first), &length) == text;
}

/* Is the text of an attribute within a section, including its NUL? Sections of strings end
 * with a NUL. */
static bool is_within(Dwarf_Attribute *attribute, const char *text)
{
	switch (dwarf_whatform(attribute)) {
	case DW_FORM_string: return ends_within(attribute, text);
	case DW_FORM_strx:
	case DW_FORM_strx1:
	case DW_FORM_strx2:
	case DW_FORM_strx3:
	case DW_FORM_strx4:
	case DW_FORM_GNU_str_index: return is_indexed_within(attribute, text);
	default: return true;
	}
}

static const char *text_of(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;
	const char *text = dwarf_formstring(dwarf_attr_integrate(die, name, &attribute));

	return text && is_within(&attribute, text) ? text : NULL;
}

/* ---- split DWARF -------------------------------------------------------- */

static const char *unit_name(struct dwarf_unit *unit)
{
	const char *name = text_of(&unit->head, DW_AT_name);

	return name ? name : "?";
}

/* Is DIRECTORY/BELOW/NAME harmless, without the parts before an absolute one? */
static bool harmless(const char *directory, const char *below, const char *name,
		     uid_t owner)
{
	struct pmp_buf path = { 0 };
	bool fine;

	if (name[0] != '/' && below[0] != '/')
		pmp_buf_printf(&path, "%s/", directory);
	if (name[0] != '/')
		pmp_buf_printf(&path, "%s/", below);
	pmp_buf_puts(&path, name);
	fine = !pmp_buf_failed(&path) && pmp_file_is_harmless(path.data, owner);
	pmp_buf_free(&path);
	return fine;
}

/*
 * libdw opens .dwo files by itself, and blocks if it finds a FIFO. It looks in the
 * directory of the ELF file, whose path it gets from the descriptor, then in the
 * compilation directory, which is relative to the former unless it is absolute; since 0.191
 * it first looks for ELF-FILE.dwp. It will open a file that is put there after this check.
 */
static bool may_open_split(const struct pmp_lines *lines, struct dwarf_unit *unit)
{
	const char *name = text_of(&unit->head, DW_AT_dwo_name);
	const char *compiled = text_of(&unit->head, DW_AT_comp_dir);
	char directory[PATH_MAX] = "", package[PATH_MAX] = ".dwp", *slash;

	if (!name)
		name = text_of(&unit->head, DW_AT_GNU_dwo_name);
	if (!name)
		return false;
	if (lines->fd >= 0 && pmp_file_path(lines->fd, directory, sizeof(directory)))
		return false;
	if (snprintf(package, sizeof(package), "%s.dwp", directory) >=
	    (int)sizeof(package))
		return false;
	slash = strrchr(directory, '/');
	if (slash)
		*slash = '\0';
	return pmp_file_is_harmless(package, lines->owner) &&
	       harmless(directory, "", name, lines->owner) &&
	       (!compiled || harmless(directory, compiled, name, lines->owner));
}

/* Can it be used? Not if it in turn shares DWARF with others, see pmp_debugfile_alt(). */
static bool fit(Dwarf *split)
{
	const char *name;
	const void *id;

	return pmp_elf_strings_end(dwarf_getelf(split)) &&
	       dwelf_dwarf_gnu_debugaltlink(split, &name, &id) == 0;
}

static void open_split(struct pmp_lines *lines, struct dwarf_unit *unit)
{
	Dwarf_Die body;
	uint8_t type;

	if (dwarf_cu_info(unit->head.cu, NULL, &type, NULL, NULL, NULL, NULL, NULL) !=
		    0 ||
	    type != DW_UT_skeleton)
		return;
	if (!may_open_split(lines, unit)) {
		PMP_LOG(lines->log, "lines",
			"%s: its .dwo file is not a regular file of a user we trust",
			unit_name(unit));
		return;
	}
	if (dwarf_cu_info(unit->head.cu, NULL, NULL, NULL, &body, NULL, NULL, NULL) ==
		    0 &&
	    body.cu && fit(dwarf_cu_getdwarf(body.cu))) {
		pmp_libdw_handle_oom(dwarf_cu_getdwarf(body.cu));
		unit->body = body;
	} else {
		PMP_LOG(lines->log, "lines", "no .dwo file for %s", unit_name(unit));
	}
}

/* ---- functions of a unit ------------------------------------------------ */

struct listing {
	struct dwarf_unit *unit;
	struct collect collect;
};

static bool holds_functions(int tag)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_module ||
	       tag == DW_TAG_class_type || tag == DW_TAG_structure_type ||
	       tag == DW_TAG_union_type || tag == DW_TAG_enumeration_type;
}

static bool list_function(struct die_walk *walk, Dwarf_Die *die, unsigned depth)
{
	struct listing *listing = walk->arg;
	struct dwarf_unit *unit = listing->unit;
	int tag = dwarf_tag(die);
	size_t before = listing->collect.ranges->count;

	if (tag != DW_TAG_subprogram)
		return holds_functions(tag);
	if (PMP_RESERVE(&unit->functions, &unit->function_capacity,
			unit->function_count + 1)) {
		listing->collect.failed = walk->ended = true;
		return false;
	}
	listing->collect.value = (uint32_t)unit->function_count;
	listing->collect.rank = depth;
	each_range(walk, die, collect_range, &listing->collect);
	if (listing->collect.ranges->count > before)
		unit->functions[unit->function_count++] = *die;
	return false;
}

/* Functions that were listed before a damaged place are kept. */
static void list_functions(struct pmp_lines *lines, struct dwarf_unit *unit)
{
	struct listing listing = { unit, { .ranges = &lines->ranges } };
	const size_t allowed = allowance(lines, WALK_MAX);
	struct die_walk walk = { .visit = list_function,
				 .arg = &listing,
				 .budget = allowed };

	unit->listed = true;
	if (!dwarf_offdie(lines->dwarf, unit->offset, &unit->head))
		return;
	unit->body = unit->head;
	open_split(lines, unit);
	walk_children(&walk, &unit->body, 0, false);
	spent(lines, allowed, &walk);
	pmp_intervals_flatten(&lines->ranges, &unit->steps);
	pmp_intervals_free(&lines->ranges);
	if (walk.ended)
		PMP_LOG(lines->log, "lines", "%s: damaged or too large", unit_name(unit));
}

/* ---- line tables --------------------------------------------------------- */

static const Elf_Data *line_section(Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	const char *name;
	size_t names;

	if (elf_getshdrstrndx(elf, &names) != 0)
		return NULL;
	while ((section = elf_nextscn(elf, section))) {
		name = gelf_getshdr(section, &header)
			       ? elf_strptr(elf, names, header.sh_name)
			       : NULL;
		if (name && (strcmp(name, ".debug_line") == 0 ||
			     strcmp(name, ".zdebug_line") == 0 ||
			     strcmp(name, ".debug_line.dwo") == 0))
			return elf_getdata(section, NULL);
	}
	return NULL;
}

static uint64_t rows_of(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	const Elf_Data *data;
	Dwarf_Word offset;

	if (dwarf_formudata(dwarf_attr(die, DW_AT_stmt_list, &attribute), &offset) != 0)
		return 0;
	data = line_section(dwarf_getelf(dwarf_cu_getdwarf(die->cu)));
	return data && data->d_buf ? pmp_line_rows(data->d_buf, data->d_size, offset) : 0;
}

/* When it looks up a line, libdw makes a list of all lines of the unit and keeps that. */
static bool may_read_lines(struct pmp_lines *lines, struct dwarf_unit *unit)
{
	uint64_t rows;

	if (unit->weighed)
		return !unit->no_lines;
	unit->weighed = true;
	rows = rows_of(&unit->head);
	if (unit->body.cu != unit->head.cu)
		rows += rows_of(&unit->body);
	unit->no_lines = rows > lines->budget->rows;
	if (unit->no_lines)
		PMP_LOG(lines->log, "lines", "%s: too many lines", unit_name(unit));
	else
		lines->budget->rows -= rows;
	return !unit->no_lines;
}

/* ---- one address -------------------------------------------------------- */

/* The DIEs from the function inwards. */
struct chain {
	Dwarf_Die dies[PMP_PLACES_MAX];
	size_t count;
	uint64_t address;
};

static bool follow(struct die_walk *walk, Dwarf_Die *die, unsigned depth)
{
	struct chain *chain = walk->arg;
	int tag = dwarf_tag(die);

	(void)depth;
	if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_lexical_block &&
	    tag != DW_TAG_subprogram && tag != DW_TAG_try_block &&
	    tag != DW_TAG_catch_block)
		return false;
	if (!covers(walk, die, chain->address))
		return false;
	/* A function within a function (Ada, Fortran, Pascal) has its own frame. */
	if (tag == DW_TAG_subprogram)
		chain->count = 0;
	if (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine) {
		if (chain->count == PMP_PLACES_MAX) {
			walk->ended = true;
			return false;
		}
		chain->dies[chain->count++] = *die;
	}
	return true;
}

static const char *function_name(Dwarf_Die *die)
{
	const char *name = text_of(die, DW_AT_linkage_name);

	if (!name)
		name = text_of(die, DW_AT_MIPS_linkage_name);
	return name ? name : text_of(die, DW_AT_name);
}

/* Where an inlined function was called. */
static void fill_call(struct dwarf_unit *unit, Dwarf_Die *die, struct pmp_place *place)
{
	Dwarf_Attribute attribute;
	Dwarf_Word line, file;
	Dwarf_Files *files;
	size_t count;

	if (dwarf_formudata(dwarf_attr(die, DW_AT_call_line, &attribute), &line) == 0 &&
	    line <= UINT32_MAX)
		place->line = (unsigned)line;
	if (dwarf_formudata(dwarf_attr(die, DW_AT_call_file, &attribute), &file) == 0 &&
	    dwarf_getsrcfiles(&unit->body, &files, &count) == 0 && file < count)
		place->file = dwarf_filesrc(files, file, NULL, NULL);
}

static void fill_line(struct dwarf_unit *unit, uint64_t address, struct pmp_place *place)
{
	Dwarf_Line *line = dwarf_getsrc_die(&unit->head, address);
	int number;

	if (!line)
		return;
	place->file = dwarf_linesrc(line, NULL, NULL);
	if (dwarf_lineno(line, &number) == 0 && number > 0)
		place->line = (unsigned)number;
}

size_t pmp_lines_find(struct pmp_lines *lines, uint64_t address, bool with_lines,
		      struct pmp_place *places)
{
	struct dwarf_unit *unit = find_unit(lines, address);
	struct chain chain = { .address = address };
	struct die_walk walk = { .visit = follow, .arg = &chain, .first = true };
	size_t allowed;
	uint32_t index;

	if (!unit)
		return 0;
	if (!unit->listed)
		list_functions(lines, unit);
	if (!unit->head.cu)
		return 0;
	with_lines = with_lines && may_read_lines(lines, unit);
	index = pmp_interval_map_find(&unit->steps, address);
	if (index != PMP_INTERVAL_NONE) {
		chain.dies[chain.count++] = unit->functions[index];
		allowed = walk.budget = allowance(lines, LOOKUP_MAX);
		walk_children(&walk, &unit->functions[index], 0, false);
		spent(lines, allowed, &walk);
	}
	for (size_t i = 0; i < chain.count; i++) {
		struct pmp_place *place = &places[chain.count - 1 - i];

		*place = (struct pmp_place){ .function = function_name(&chain.dies[i]) };
		if (with_lines && i + 1 < chain.count)
			fill_call(unit, &chain.dies[i + 1], place);
	}
	if (chain.count == 0)
		places[0] = (struct pmp_place){ 0 };
	if (with_lines)
		fill_line(unit, address, &places[0]);
	return chain.count ? chain.count : 1;
}
