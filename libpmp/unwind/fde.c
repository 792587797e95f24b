/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From a pc to its frame description. Called by walk.c for each new pc; no
 * thread is held here.
 *
 * Headers and tables are read from the target's memory, as the process itself
 * uses them. Only what is not mapped is read from the file, with read() and
 * never mmap(), because the file may be truncated meanwhile.
 */
#include "unwind/fde.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/search.h"
#include "unwind/arch.h"
#include "unwind/cfi.h"
#include "unwind/sections.h"

#define SEGMENTS_MAX 256		      /* program headers read */
#define SECTION_MAX (16u << 20)		      /* bytes of a section */
#define ENTRY_MAX (PMP_CFI_PROGRAM_MAX + 256) /* bytes of one CIE or FDE */
#define TABLE_MAX (16u << 20)		      /* rows of .eh_frame_hdr */
#define READ_CHUNK (64u << 10)
#define BASE_REGIONS_MAX 4096		      /* searched for the beginning of a module */
#define KEPT_BY_ALL_MAX ((uint64_t)256 << 20) /* bytes, of all processes together */
#define INDEX_WORK 64 /* bytes indexed in the time of executing one */
#define READ_WORK 64  /* bytes read in that time */

/* In every linker's .eh_frame_hdr */
#define HDR_VERSION 1
#define HDR_TABLE_DATAREL_SDATA4 0x3b

struct fde_row {
	uint64_t start, end; /* start must be first, see base/search.h */
	size_t offset;	     /* of the FDE in the section */
};

/* A whole section with a sorted index of its FDEs. */
struct index {
	bool tried;
	void *data;
	struct pmp_cfi_bytes bytes; /* of data */
	struct fde_row *rows;
	size_t count, capacity;
	uint64_t kept; /* bytes taken from the budget; 0 if it has no FDE */
};

struct pmp_fde_finder {
	const struct pmp_arch *arch;
	struct pmp_module *module;
	uint64_t start, end, offset; /* of the executable region */
	uint64_t base;		     /* where the file's first byte is mapped */
	bool has_base;

	bool prepared, has_bias;
	uint64_t bias;
	uint64_t hdr;			  /* .eh_frame_hdr, 0: none */
	uint64_t table, table_rows;	  /* its rows, 0: no table in a known format */
	uint64_t eh_frame, eh_frame_size; /* if there is a header without a table */

	struct pmp_fde_shared *shared;
	struct index eh, debug;
};

/* A module may be mapped several times: find the nearest beginning at or before the
 * region, which is one of maps. */
static void find_base(struct pmp_fde_finder *finder, const struct pmp_maps *maps,
		      const struct pmp_region *region)
{
	const struct pmp_region *r = region;

	for (unsigned i = 0; i < BASE_REGIONS_MAX; i++, r--) {
		if (r->module == region->module && r->offset == 0) {
			finder->base = r->start;
			finder->has_base = true;
			return;
		}
		if (r == maps->regions)
			return;
	}
}

struct pmp_fde_finder *pmp_fde_finder_new(const struct pmp_arch *arch,
					  const struct pmp_maps *maps,
					  const struct pmp_region *region,
					  struct pmp_fde_shared *shared)
{
	struct pmp_fde_finder *finder = calloc(1, sizeof(*finder));

	if (!finder)
		return NULL;
	finder->arch = arch;
	finder->shared = shared;
	finder->module = pmp_module_ref(region->module);
	finder->start = region->start;
	finder->end = region->end;
	finder->offset = region->offset;
	if (region->module->kind != PMP_MODULE_FILE &&
	    region->module->kind != PMP_MODULE_VDSO)
		return finder;
	find_base(finder, maps, region);
	return finder;
}

static _Atomic uint64_t kept_by_all;

/* What this target may still keep; other targets share the limit. */
static uint64_t room(const struct pmp_section_budget *budget)
{
	const uint64_t all = kept_by_all;
	const uint64_t left = all < KEPT_BY_ALL_MAX ? KEPT_BY_ALL_MAX - all : 0;

	return left < budget->kept ? left : budget->kept;
}

static void index_free(struct index *index)
{
	free(index->data);
	free(index->rows);
}

void pmp_fde_finder_free(struct pmp_fde_finder *finder)
{
	if (!finder)
		return;
	finder->shared->budget.kept += finder->eh.kept + finder->debug.kept;
	kept_by_all -= finder->eh.kept + finder->debug.kept;
	index_free(&finder->eh);
	index_free(&finder->debug);
	pmp_module_unref(finder->module);
	free(finder);
}

void pmp_fde_shared_free(struct pmp_fde_shared *shared)
{
	free(shared->entry[0]);
	free(shared->entry[1]);
	*shared = (struct pmp_fde_shared){ 0 };
}

/* ---- reading ------------------------------------------------------------------ */

/* Read memory of the target, or the copied image (vDSO). */
static bool read_memory(const struct pmp_fde_finder *finder,
			const struct pmp_reader *memory, uint64_t address, void *data,
			size_t length)
{
	const struct pmp_module *module = finder->module;
	uint64_t offset = address - finder->base;

	if (pmp_read(memory, address, data, length))
		return true;
	if (!finder->has_base || !module->image || offset > module->image_size ||
	    length > module->image_size - offset)
		return false;
	memcpy(data, (const char *)module->image + offset, length);
	return true;
}

/* Read the file's first pages, as mapped or from the file itself. */
static bool read_header(const struct pmp_fde_finder *finder,
			const struct pmp_reader *memory, uint64_t offset, void *data,
			size_t length)
{
	if (finder->has_base &&
	    read_memory(finder, memory, finder->base + offset, data, length))
		return true;
	return finder->module->fd >= 0 && offset < INT64_MAX &&
	       pmp_file_pread(finder->module->fd, data, length, offset) ==
		       (ssize_t)length;
}

/* size bytes at address, malloc'ed, or NULL. */
static void *read_section(const struct pmp_fde_finder *finder,
			  const struct pmp_reader *memory, uint64_t address, size_t size)
{
	char *data = malloc(size ? size : 1);

	for (size_t done = 0; data && done < size;) {
		size_t chunk = size - done < READ_CHUNK ? size - done : READ_CHUNK;

		if (!read_memory(finder, memory, address + done, data + done, chunk)) {
			free(data);
			return NULL;
		}
		done += chunk;
	}
	return data;
}

/* ---- headers ------------------------------------------------------------------- */

/*
 * The layout of .eh_frame_hdr:
 *
 *	01			version
 *	1b 03 3b		encodings
 *	eh_frame_ptr (4)  count (4)
 *	count times: start of the code (4), FDE (4), both relative to the header
 */
static void prepare_table(struct pmp_fde_finder *finder, const struct pmp_reader *memory,
			  const Elf64_Phdr *segment)
{
	uint64_t hdr = finder->bias + segment->p_vaddr, count;
	uint8_t data[4 + 2 * 8];
	size_t size = sizeof(data), at = 4;
	struct pmp_cfi_bytes bytes = { .arch = finder->arch,
				       .data = data,
				       .address = hdr };

	if (segment->p_memsz < size)
		size = segment->p_memsz;
	if (size < 8 || !read_memory(finder, memory, hdr, data, size) ||
	    data[0] != HDR_VERSION)
		return;
	finder->hdr = hdr;
	bytes.size = size;
	if (!pmp_cfi_pointer(&bytes, &at, data[1], hdr, &finder->eh_frame)) {
		finder->eh_frame = 0;
		return;
	}
	if (data[3] != HDR_TABLE_DATAREL_SDATA4 || (data[2] & 0x70) ||
	    !pmp_cfi_pointer(&bytes, &at, data[2], hdr, &count))
		return;
	if (count > (segment->p_memsz - at) / 8)
		count = (segment->p_memsz - at) / 8;
	if (count > TABLE_MAX)
		count = TABLE_MAX;
	finder->table = hdr + at;
	finder->table_rows = count;
}

/* The bytes of this segment from address on; 0: address is not in it. */
static uint64_t segment_rest(const struct pmp_fde_finder *finder,
			     const Elf64_Phdr *segment, uint64_t address)
{
	uint64_t offset = address - finder->bias - segment->p_vaddr;

	return offset < segment->p_filesz ? segment->p_filesz - offset : 0;
}

/*
 * Does this loaded segment contain our region? The region begins at a page
 * boundary of the file, the segment anywhere in a page: the bias is computed
 * from where the segment's first byte must be, not from the two page-rounded
 * numbers.
 */
static bool is_text_segment(const struct pmp_fde_finder *finder,
			    const Elf64_Phdr *segment)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t first = segment->p_offset & ~(page - 1);

	return segment->p_type == PT_LOAD && segment->p_flags & PF_X &&
	       first <= finder->offset &&
	       finder->offset - first < segment->p_filesz + page;
}

static size_t read_segments(const struct pmp_fde_finder *finder,
			    const struct pmp_reader *memory,
			    Elf64_Phdr segments[SEGMENTS_MAX])
{
	Elf64_Ehdr header;
	size_t count;

	if (!read_header(finder, memory, 0, &header, sizeof(header)) ||
	    !pmp_sections_elf(finder->arch, &header) ||
	    header.e_phentsize != sizeof(Elf64_Phdr))
		return 0;
	count = header.e_phnum < SEGMENTS_MAX ? header.e_phnum : SEGMENTS_MAX;
	if (header.e_phoff > INT64_MAX / 2 ||
	    !read_header(finder, memory, header.e_phoff, segments,
			 count * sizeof(*segments)))
		return 0;
	return count;
}

static void prepare(struct pmp_fde_finder *finder, const struct pmp_reader *memory)
{
	Elf64_Phdr segments[SEGMENTS_MAX];
	const Elf64_Phdr *text = NULL;
	size_t count;

	finder->prepared = true;
	if (finder->module->kind != PMP_MODULE_FILE &&
	    finder->module->kind != PMP_MODULE_VDSO)
		return;
	count = read_segments(finder, memory, segments);
	for (size_t i = 0; i < count; i++)
		if (is_text_segment(finder, &segments[i]) &&
		    (!text || segments[i].p_offset > text->p_offset))
			text = &segments[i];
	if (!text)
		return;
	finder->bias = finder->start - finder->offset + text->p_offset - text->p_vaddr;
	finder->has_bias = true;
	for (size_t i = 0; i < count; i++)
		if (segments[i].p_type == PT_GNU_EH_FRAME)
			prepare_table(finder, memory, &segments[i]);
	for (size_t i = 0; i < count && finder->eh_frame && !finder->table; i++)
		if (segments[i].p_type == PT_LOAD && !finder->eh_frame_size)
			finder->eh_frame_size =
				segment_rest(finder, &segments[i], finder->eh_frame);
	if (finder->eh_frame_size > SECTION_MAX)
		finder->eh_frame_size = SECTION_MAX;
}

/* ---- sections of the file --------------------------------------------------------- */

struct section {
	uint64_t address, size;
	bool loaded; /* it is in memory at address */
	void *data;  /* owned */
};

static bool load_section(const struct pmp_fde_finder *finder, const char *name,
			 struct section *found)
{
	const char *const names[2] = { name };
	const int fd = finder->module->fd;
	Elf64_Ehdr header;
	Elf64_Shdr section;

	if (!pmp_sections_open(finder->arch, fd, &header) ||
	    !pmp_sections_find(fd, &header, names, &section,
			       &finder->shared->budget.work) ||
	    section.sh_size > room(&finder->shared->budget))
		return false;
	*found = (struct section){
		.address = section.sh_addr,
		.size = section.sh_size,
		.loaded = section.sh_flags & SHF_ALLOC,
		.data = pmp_sections_read(fd, &section, SECTION_MAX),
	};
	return found->data;
}

/* ---- an index of a section --------------------------------------------------------- */

static int compare_rows(const void *a, const void *b)
{
	const struct fde_row *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->end < y->end ? -1 : x->end > y->end;
}

/* Useless data is not kept, but the work is counted: else it might be read again and again
 * for other regions. */
static void index_pay(struct index *index, struct pmp_section_budget *budget)
{
	const uint64_t size = index->bytes.size + index->capacity * sizeof(*index->rows);

	budget->work += index->bytes.size / INDEX_WORK;
	if (index->count && size <= room(budget)) {
		index->kept = size;
		budget->kept -= size;
		kept_by_all += size;
		return;
	}
	budget->kept -= index->bytes.size;
	index_free(index);
	*index = (struct index){ .tried = true };
}

/* Takes ownership of data. Within a section, an entry with length 0 is filler. If the
 * bounds of the section are unknown, such an entry is its end. */
static void index_build(struct index *index, void *data,
			const struct pmp_cfi_bytes *bytes, bool is_section)
{
	struct pmp_cfi_entry entry;
	struct pmp_cfi_cie cie;
	struct pmp_cfi_fde fde;
	size_t cie_at = SIZE_MAX;
	bool cie_good = false;

	index->data = data;
	index->bytes = *bytes;
	for (size_t at = 0; at < bytes->size && pmp_cfi_entry(bytes, at, &entry);
	     at = entry.end) {
		if (entry.is_filler && !is_section)
			break;
		if (entry.is_cie || entry.is_filler)
			continue;
		if (entry.cie != cie_at) {
			cie_at = entry.cie;
			cie_good = pmp_cfi_parse_cie(bytes, cie_at, &cie);
		}
		if (!cie_good || !pmp_cfi_parse_fde(bytes, &entry, &cie, &fde))
			continue;
		if (PMP_RESERVE(&index->rows, &index->capacity, index->count + 1))
			break;
		index->rows[index->count++] = (struct fde_row){ fde.start, fde.end, at };
	}
	if (index->count)
		qsort(index->rows, index->count, sizeof(*index->rows), compare_rows);
}

static void build_eh_index(struct pmp_fde_finder *finder, const struct pmp_reader *memory)
{
	struct pmp_cfi_bytes bytes = { .arch = finder->arch,
				       .address = finder->eh_frame,
				       .size = finder->eh_frame_size };
	struct section section;
	bool is_section = false;
	void *data = NULL;

	finder->eh.tried = true;
	if (bytes.size && bytes.size <= room(&finder->shared->budget))
		data = read_section(finder, memory, bytes.address, bytes.size);
	if (!data && load_section(finder, ".eh_frame", &section)) {
		is_section = true;
		bytes.address = section.address + finder->bias;
		bytes.size = section.size;
		/* Prefer the mapped section, which has been relocated. */
		if (section.loaded)
			data = read_section(finder, memory, bytes.address, bytes.size);
		if (data)
			free(section.data);
		else
			data = section.data;
	}
	if (!data)
		return;
	bytes.data = data;
	index_build(&finder->eh, data, &bytes, is_section);
	index_pay(&finder->eh, &finder->shared->budget);
}

static void build_debug_index(struct pmp_fde_finder *finder)
{
	struct section section;
	struct pmp_cfi_bytes bytes = { .arch = finder->arch,
				       .bias = finder->bias,
				       .debug_frame = true };

	finder->debug.tried = true;
	if (!load_section(finder, ".debug_frame", &section))
		return;
	bytes.data = section.data;
	bytes.size = section.size;
	index_build(&finder->debug, section.data, &bytes, true);
	index_pay(&finder->debug, &finder->shared->budget);
}

/* ---- finding ----------------------------------------------------------------------- */

static void finish(const struct pmp_cfi_cie *cie, const struct pmp_cfi_fde *found,
		   struct pmp_fde *fde)
{
	fde->start = found->start;
	fde->end = found->end;
	fde->work += cie->program_size + found->program_size;
	fde->cie = *cie;
	fde->entry = *found;
	fde->understood = pmp_cfi_check(cie, found);
}

static bool find_in_index(const struct index *index, uint64_t pc, struct pmp_fde *fde)
{
	size_t i = pmp_search_after(index->rows, index->count, sizeof(*index->rows), pc);
	struct pmp_cfi_entry entry;
	struct pmp_cfi_cie cie;
	struct pmp_cfi_fde found;

	if (!i || pc >= index->rows[i - 1].end)
		return false;
	if (!pmp_cfi_entry(&index->bytes, index->rows[i - 1].offset, &entry) ||
	    !pmp_cfi_parse_cie(&index->bytes, entry.cie, &cie) ||
	    !pmp_cfi_parse_fde(&index->bytes, &entry, &cie, &found))
		return false;
	finish(&cie, &found, fde);
	return true;
}

/* Read the entry at address into one of two buffers that all finders share. */
static bool read_entry(struct pmp_fde_finder *finder, const struct pmp_reader *memory,
		       uint64_t address, int which, struct pmp_cfi_bytes *bytes)
{
	void **entry = &finder->shared->entry[which];
	uint32_t length;

	if (!*entry)
		*entry = malloc(ENTRY_MAX);
	/* The 64-bit form of the length is for sections of 4 GiB, which do not occur. */
	if (!*entry || !read_memory(finder, memory, address, &length, 4) || !length ||
	    length > ENTRY_MAX - 4)
		return false;
	finder->shared->budget.work += length / READ_WORK;
	if (!read_memory(finder, memory, address, *entry, length + 4))
		return false;
	*bytes = (struct pmp_cfi_bytes){
		.arch = finder->arch,
		.data = *entry,
		.size = length + 4,
		.address = address,
	};
	return true;
}

/* The address of the FDE for pc in the table; 0: none. */
static uint64_t find_in_table(struct pmp_fde_finder *finder,
			      const struct pmp_reader *memory, uint64_t pc)
{
	int64_t key = (int64_t)(pc - finder->hdr);
	uint64_t low = 0, high = finder->table_rows;
	int32_t row[2];

	if (key < INT32_MIN || key > INT32_MAX)
		return 0;
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (!read_memory(finder, memory, finder->table + 8 * middle, row, 4))
			return 0;
		if (row[0] <= key)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || !read_memory(finder, memory, finder->table + 8 * (low - 1), row, 8))
		return 0;
	return finder->hdr + (uint64_t)(int64_t)row[1];
}

static bool find_by_table(struct pmp_fde_finder *finder, const struct pmp_reader *memory,
			  uint64_t pc, struct pmp_fde *fde)
{
	uint64_t address = find_in_table(finder, memory, pc);
	struct pmp_cfi_bytes bytes, cie_bytes;
	struct pmp_cfi_entry entry;
	struct pmp_cfi_cie cie;
	struct pmp_cfi_fde found;

	if (!address || !read_entry(finder, memory, address, 0, &bytes) ||
	    !pmp_cfi_entry(&bytes, 0, &entry) || entry.is_cie ||
	    !read_entry(finder, memory, entry.cie_address, 1, &cie_bytes) ||
	    !pmp_cfi_parse_cie(&cie_bytes, 0, &cie) ||
	    !pmp_cfi_parse_fde(&bytes, &entry, &cie, &found) || pc < found.start ||
	    pc >= found.end)
		return false;
	finish(&cie, &found, fde);
	return true;
}

bool pmp_fde_bias(struct pmp_fde_finder *finder, const struct pmp_reader *memory,
		  uint64_t *bias)
{
	if (!finder->prepared)
		prepare(finder, memory);
	*bias = finder->bias;
	return finder->has_bias;
}

bool pmp_fde_find(struct pmp_fde_finder *finder, const struct pmp_reader *memory,
		  uint64_t pc, struct pmp_fde *fde)
{
	memset(fde, 0, sizeof(*fde));
	if (!finder->prepared)
		prepare(finder, memory);
	if (!finder->has_bias)
		return false;
	if (finder->table_rows) {
		if (find_by_table(finder, memory, pc, fde))
			return true;
	} else {
		if (!finder->eh.tried)
			build_eh_index(finder, memory);
		if (find_in_index(&finder->eh, pc, fde))
			return true;
	}
	if (!finder->debug.tried)
		build_debug_index(finder);
	return find_in_index(&finder->debug, pc, fde);
}
