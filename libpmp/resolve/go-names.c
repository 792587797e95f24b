/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table is in a section, .gopclntab or, in position-independent programs,
 * .data.rel.ro.gopclntab. If there are no sections, or if another linker has linked the
 * program, it has to be searched for. In the latter case it is in .data.rel.ro, with zeros
 * in place of addresses, which are in relocations. Files are read with pread(), as they may
 * be truncated meanwhile.
 */
#include "resolve/go-names.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/gopclntab.h"

#define SEGMENTS_MAX 64		       /* loaded ones; Go's linker makes 4, others 6 */
#define SCAN_MAX ((uint64_t)256 << 20) /* bytes of segments to search */
#define RELOCATIONS_MAX ((uint64_t)4 << 20) /* to read */
#define PLACES_MAX 8	/* candidates for the description of the module */
#define RELOCATIONS 512 /* at a time */

struct go_segment {
	uint64_t address, size; /* of what is in the file */
	uint64_t offset;
	bool writable, executable;
};

struct pmp_go_names {
	struct pmp_elf file; /* only what pmp_elf_written() needs */
	int fd;
	struct go_segment segments[SEGMENTS_MAX];
	size_t segment_count;
	struct pmp_gopclntab table;
	struct pmp_buf text;
	struct pmp_budget *budget;
};

/* Read from the file by ELF address. */
static bool read_file(void *arg, uint64_t address, void *data, size_t length)
{
	const struct pmp_go_names *names = arg;

	for (size_t i = 0; i < names->segment_count; i++) {
		const struct go_segment *segment = &names->segments[i];
		uint64_t at = address - segment->address;

		if (address >= segment->address && at <= segment->size &&
		    length <= segment->size - at)
			return pmp_file_pread(names->fd, data, length,
					      segment->offset + at) == (ssize_t)length;
	}
	return false;
}

static void read_segments(struct pmp_go_names *names, const struct pmp_elf *elf)
{
	GElf_Phdr header;
	size_t count;

	if (elf_getphdrnum(elf->elf, &count) != 0)
		return;
	for (size_t i = 0; i < count && names->segment_count < SEGMENTS_MAX; i++) {
		if (!gelf_getphdr(elf->elf, (int)i, &header) ||
		    header.p_type != PT_LOAD || header.p_filesz > elf->size ||
		    header.p_offset > elf->size - header.p_filesz ||
		    header.p_filesz > UINT64_MAX - header.p_vaddr)
			continue;
		names->segments[names->segment_count++] = (struct go_segment){
			.address = header.p_vaddr,
			.size = header.p_filesz,
			.offset = header.p_offset,
			.writable = header.p_flags & PF_W,
			.executable = header.p_flags & PF_X,
		};
	}
}

static bool open_section(struct pmp_go_names *names, const struct pmp_elf *elf,
			 const char *name)
{
	const struct pmp_reader memory = { read_file, names };
	GElf_Shdr header;

	return pmp_elf_section(elf, name, &header) && header.sh_type != SHT_NOBITS &&
	       header.sh_size <= elf->size &&
	       header.sh_size <= UINT64_MAX - header.sh_addr &&
	       pmp_gopclntab_open(&names->table, &memory, header.sh_addr,
				  header.sh_addr + header.sh_size);
}

/* The address up to which to search a segment; *left: bytes to search in all segments. */
static uint64_t search_end(const struct go_segment *segment, uint64_t *left)
{
	const uint64_t size = segment->size < *left ? segment->size : *left;

	*left -= size;
	return segment->address + size;
}

static bool open_table(struct pmp_go_names *names, const struct pmp_elf *elf)
{
	const struct pmp_reader memory = { read_file, names };
	uint64_t left = SCAN_MAX;
	GElf_Shdr header;
	size_t sections;

	if (open_section(names, elf, ".gopclntab") ||
	    open_section(names, elf, ".data.rel.ro.gopclntab"))
		return true;
	if (elf_getshdrnum(elf->elf, &sections) == 0 && sections > 0 &&
	    !pmp_elf_section(elf, ".go.buildinfo", &header))
		return false;
	for (size_t i = 0; i < names->segment_count; i++) {
		const struct go_segment *segment = &names->segments[i];

		if (!segment->executable &&
		    pmp_gopclntab_scan(&names->table, &memory, segment->address,
				       search_end(segment, &left)))
			return true;
	}
	return false;
}

/* ---- relocations ----------------------------------------------------------------- */

/* What to take from relocations: the values of count words from start on, and the places of
 * words with a value. */
struct relocated {
	uint64_t value, places[PLACES_MAX];
	size_t place_count;
	uint64_t start;
	uint64_t *words;
	size_t count;
};

static bool is_relative(const struct pmp_elf *elf, const Elf64_Rela *relocation)
{
	GElf_Ehdr header;

	if (!gelf_getehdr(elf->elf, &header))
		return false;
	return ELF64_R_TYPE(relocation->r_info) ==
	       (header.e_machine == EM_AARCH64 ? R_AARCH64_RELATIVE : R_X86_64_RELATIVE);
}

static void look_at(const Elf64_Rela *relocation, struct relocated *found)
{
	const uint64_t at = relocation->r_offset - found->start;

	if ((uint64_t)relocation->r_addend == found->value &&
	    found->place_count < PLACES_MAX)
		found->places[found->place_count++] = relocation->r_offset;
	if (at % 8 == 0 && at / 8 < found->count)
		found->words[at / 8] = (uint64_t)relocation->r_addend;
}

static void read_relocations(const struct pmp_elf *elf, struct relocated *found)
{
	Elf64_Rela relocations[RELOCATIONS];
	GElf_Shdr header;
	Elf_Scn *section = pmp_elf_section(elf, ".rela.dyn", &header);
	uint64_t count = section ? header.sh_size / sizeof(*relocations) : 0;

	if (count > RELOCATIONS_MAX)
		count = RELOCATIONS_MAX;
	for (uint64_t first = 0; first < count; first += RELOCATIONS) {
		size_t n = count - first < RELOCATIONS ? count - first : RELOCATIONS;

		if (!pmp_elf_read(elf, section, first * sizeof(*relocations), relocations,
				  n * sizeof(*relocations)))
			return;
		for (size_t i = 0; i < n; i++)
			if (is_relative(elf, &relocations[i]))
				look_at(&relocations[i], found);
	}
}

/* Is there a description of the module at this place? */
static bool relocate_module(struct pmp_go_names *names, const struct pmp_elf *elf,
			    uint64_t place)
{
	uint64_t words[PMP_GO_MODULE_WORDS];
	struct relocated found = {
		.place_count = PLACES_MAX,
		.start = place,
		.words = words,
		.count = PMP_GO_MODULE_WORDS,
	};

	if (!read_file(names, place, words, sizeof(words)))
		return false;
	read_relocations(elf, &found);
	return pmp_gopclntab_take_module(&names->table, words);
}

static void find_relocated_module(struct pmp_go_names *names, const struct pmp_elf *elf)
{
	struct relocated found = { .value = names->table.start };

	read_relocations(elf, &found);
	for (size_t i = 0; i < found.place_count; i++)
		if (relocate_module(names, elf, found.places[i]))
			return;
}

static void find_module(struct pmp_go_names *names, const struct pmp_elf *elf)
{
	uint64_t left = SCAN_MAX;
	GElf_Shdr header;

	if (!pmp_gopclntab_needs_module(&names->table))
		return;
	if (pmp_elf_section(elf, ".go.module", &header) &&
	    pmp_gopclntab_find_module(&names->table, header.sh_addr,
				      header.sh_addr + header.sh_size))
		return;
	for (size_t i = 0; i < names->segment_count; i++) {
		const struct go_segment *segment = &names->segments[i];

		if (segment->writable &&
		    pmp_gopclntab_find_module(&names->table, segment->address,
					      search_end(segment, &left)))
			return;
	}
	find_relocated_module(names, elf);
}

/* ---- names ----------------------------------------------------------------------- */

struct pmp_go_names *pmp_go_names_new(const struct pmp_elf *elf,
				      struct pmp_budget *budget)
{
	struct pmp_go_names *names;

	if (elf->from < 0 || !elf->elf)
		return NULL;
	names = calloc(1, sizeof(*names));
	if (!names)
		return NULL;
	names->file = (struct pmp_elf){
		.fd = -1, .from = elf->from, .size = elf->size, .written = elf->written
	};
	names->fd = elf->from;
	names->budget = budget;
	read_segments(names, elf);
	if (open_table(names, elf)) {
		find_module(names, elf);
		if (names->table.has_text)
			return names;
	}
	pmp_go_names_free(names);
	return NULL;
}

void pmp_go_names_free(struct pmp_go_names *names)
{
	if (!names)
		return;
	pmp_buf_free(&names->text);
	free(names);
}

size_t pmp_go_names_count(const struct pmp_go_names *names)
{
	return names->table.count;
}

/* False: the file has been written to, or has taken too much time. */
static bool begin(struct pmp_go_names *names)
{
	if (pmp_buf_failed(&names->text))
		pmp_buf_free(&names->text);
	pmp_buf_clear(&names->text);
	names->table.work = 0;
	return names->budget->steps > 0 && !pmp_elf_written(&names->file);
}

static void end(struct pmp_go_names *names)
{
	struct pmp_budget *budget = names->budget;
	const uint64_t work = names->table.work;

	budget->steps -= work < budget->steps ? work : budget->steps;
}

const char *pmp_go_names_find(struct pmp_go_names *names, uint64_t address)
{
	struct pmp_go_function function;
	bool found = false;

	if (begin(names)) {
		found = pmp_gopclntab_find(&names->table, address, &function) &&
			pmp_gopclntab_name(&names->table, &function, &names->text);
		end(names);
	}
	return found && names->text.length ? names->text.data : NULL;
}

size_t pmp_go_names_places(struct pmp_go_names *names, uint64_t address, bool with_lines,
			   struct pmp_place *places)
{
	struct pmp_go_place found[PMP_PLACES_MAX];
	size_t count = 0;

	if (begin(names)) {
		count = pmp_gopclntab_places(&names->table, address, with_lines,
					     &names->text, found, PMP_PLACES_MAX);
		end(names);
	}
	for (size_t i = 0; i < count; i++)
		places[i] = (struct pmp_place){
			.function = names->text.data + found[i].function,
			.file = found[i].file == SIZE_MAX
					? NULL
					: names->text.data + found[i].file,
			.line = found[i].line,
		};
	return count;
}
