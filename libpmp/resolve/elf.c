/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opening untrusted ELF files. libelf itself checks most offsets against the size
 * of the file. This adds limits, as a sparse file can be large without having any
 * contents, and a compressed section can be huge when unpacked.
 */
#include "resolve/elf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/file.h"
#include "resolve/libdw-oom.h"
#include "resolve/unpack.h"

#define SECTION_MAX ((uint64_t)1 << 30) /* bytes of one section */
#define DEBUG_MAX ((uint64_t)4 << 30)	/* of all debug sections, decompressed */
/* How much larger than its space on disk a file may be, or become when unpacked. */
#define SPARSE_MIN ((uint64_t)64 << 20)
#define SPARSE_RATIO 64
#define NOTE_MAX ((uint64_t)1 << 20)  /* of all notes */
#define NAMES_MAX ((uint64_t)1 << 24) /* of the names of sections */
#define SECTIONS_MAX 4096	      /* an executable has about 40 */
#define SEGMENTS_MAX 4096

/* Check everything that libelf derives the sizes of its own tables from. */
static const char *check_header(const Elf64_Ehdr *header)
{
	if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
		return "not an ELF file";
	if (header->e_ident[EI_CLASS] != ELFCLASS64)
		return "not a 64-bit ELF file";
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	if (header->e_ident[EI_DATA] != ELFDATA2LSB)
#else
	if (header->e_ident[EI_DATA] != ELFDATA2MSB)
#endif
		return "ELF file of another byte order";
	/* Files made by dwz have type ET_REL. */
	if (header->e_type != ET_EXEC && header->e_type != ET_DYN &&
	    header->e_type != ET_REL)
		return "neither a program nor a library";
	/* Numbers that do not fit are in section 0 instead: no program needs that. */
	if (header->e_shnum > SECTIONS_MAX || header->e_phnum > SEGMENTS_MAX ||
	    (header->e_shnum == 0 && header->e_shoff != 0))
		return "damaged ELF file";
	return NULL;
}

static bool find_build_id(struct pmp_elf *elf, const Elf_Data *data)
{
	size_t at = 0, name, description;
	GElf_Nhdr note;

	while ((at = gelf_getnote((Elf_Data *)data, at, &note, &name, &description)) >
	       0) {
		if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != sizeof("GNU") ||
		    memcmp((char *)data->d_buf + name, "GNU", sizeof("GNU")) != 0 ||
		    note.n_descsz == 0 || note.n_descsz > sizeof(elf->build_id))
			continue;
		memcpy(elf->build_id, (char *)data->d_buf + description, note.n_descsz);
		elf->build_id_size = note.n_descsz;
		return true;
	}
	return false;
}

static bool note_segment(struct pmp_elf *elf, const GElf_Phdr *segment, uint64_t *left)
{
	Elf_Data *data;

	if (segment->p_filesz == 0 || segment->p_filesz > *left)
		return false;
	*left -= segment->p_filesz;
	data = elf_getdata_rawchunk(elf->elf, (int64_t)segment->p_offset,
				    segment->p_filesz,
				    segment->p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
	return data && find_build_id(elf, data);
}

/* Sections first, as the segments of a debug file have no contents. */
static void read_build_id(struct pmp_elf *elf, size_t segments)
{
	uint64_t in_sections = NOTE_MAX, in_segments = NOTE_MAX;
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	GElf_Phdr segment;

	while ((section = elf_nextscn(elf->elf, section))) {
		const Elf_Data *data;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_NOTE ||
		    header.sh_size > in_sections)
			continue;
		in_sections -= header.sh_size;
		data = pmp_elf_data(elf, section);
		if (data && find_build_id(elf, data))
			return;
	}
	for (size_t i = 0; i < segments; i++) {
		if (gelf_getphdr(elf->elf, (int)i, &segment) &&
		    segment.p_type == PT_NOTE &&
		    note_segment(elf, &segment, &in_segments))
			return;
	}
}

/* Can the contents of a section be read as they are? */
static bool readable(const struct pmp_elf *elf, Elf_Scn *section, GElf_Shdr *header)
{
	return gelf_getshdr(section, header) && header->sh_type != SHT_NOBITS &&
	       !(header->sh_flags & SHF_COMPRESSED) && header->sh_size != 0 &&
	       header->sh_size <= SECTION_MAX && header->sh_size <= elf->size &&
	       header->sh_size <= elf->most &&
	       header->sh_offset <= elf->size - header->sh_size;
}

/* Sections of a sane file do not overlap. If they do, keep no more in memory than twice the
 * size of the file. */
static void limit_sections(struct pmp_elf *elf)
{
	uint64_t left = elf->size < elf->most / 2 ? 2 * elf->size : elf->most;
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	elf->sections = 0;
	while ((section = elf_nextscn(elf->elf, section))) {
		if (readable(elf, section, &header)) {
			if (header.sh_size > left)
				return;
			left -= header.sh_size;
		}
		elf->sections = elf_ndxscn(section);
	}
}

static const char *read_layout(struct pmp_elf *elf)
{
	size_t segments;
	GElf_Phdr segment;

	if (elf_getphdrnum(elf->elf, &segments) != 0 || segments > SEGMENTS_MAX)
		return "damaged ELF file";
	elf->code = calloc(segments + 1, sizeof(*elf->code));
	if (!elf->code)
		return "not enough memory";
	for (size_t i = 0; i < segments; i++) {
		if (!gelf_getphdr(elf->elf, (int)i, &segment) ||
		    segment.p_type != PT_LOAD || !(segment.p_flags & PF_X))
			continue;
		/* Use the memory size, as segments in a debug file have no file size. */
		elf->code[elf->code_count++] = (struct pmp_elf_code){
			.offset = segment.p_offset,
			.size = segment.p_memsz,
			.address = segment.p_vaddr,
		};
	}
	limit_sections(elf);
	read_build_id(elf, segments);
	return NULL;
}

/* libelf reads all names of sections, whatever their size, when the first one is used. */
static bool names_fit(const struct pmp_elf *elf)
{
	GElf_Shdr header;
	size_t names;

	if (elf_getshdrstrndx(elf->elf, &names) != 0)
		return false;
	return names == SHN_UNDEF ||
	       (gelf_getshdr(elf_getscn(elf->elf, names), &header) &&
		header.sh_size <= NAMES_MAX);
}

static const char *open_checked(struct pmp_elf *elf, const Elf64_Ehdr *header)
{
	const char *problem = check_header(header);

	if (!problem && (!elf->elf || elf_kind(elf->elf) != ELF_K_ELF || !names_fit(elf)))
		problem = "damaged ELF file";
	if (!problem)
		problem = read_layout(elf);
	if (problem)
		pmp_elf_close(elf);
	return problem;
}

const char *pmp_elf_open(struct pmp_elf *elf, int fd)
{
	Elf64_Ehdr header;
	struct stat status;

	*elf = (struct pmp_elf)PMP_ELF_EMPTY;
	if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
		return "not a regular file";
	if (pmp_file_pread(fd, &header, sizeof(header), 0) != sizeof(header))
		return "not an ELF file";
	elf->size = (uint64_t)status.st_size;
	elf->most = SPARSE_MIN + (uint64_t)status.st_blocks * 512 * SPARSE_RATIO;
	if (PMP_FAULT("believe-sizes"))
		elf->most = UINT64_MAX;
	elf->written = status.st_mtim;
	elf->from = fd;
	elf_version(EV_CURRENT);
	/* Check before elf_begin(), which allocates as many sections as the header says. */
	if (!check_header(&header))
		elf->elf = elf_begin(fd, ELF_C_READ, NULL);
	return open_checked(elf, &header);
}

const char *pmp_elf_open_image(struct pmp_elf *elf, const void *image, size_t size)
{
	Elf64_Ehdr header;

	*elf = (struct pmp_elf)PMP_ELF_EMPTY;
	if (!image || size < sizeof(header))
		return "not an ELF file";
	memcpy(&header, image, sizeof(header));
	elf->size = size;
	elf->most = SPARSE_MIN + (uint64_t)size * SPARSE_RATIO;
	elf_version(EV_CURRENT);
	if (!check_header(&header))
		elf->elf = elf_memory((char *)image, size);
	return open_checked(elf, &header);
}

void pmp_elf_release(struct pmp_elf *elf)
{
	pmp_unpack_drop(elf->unpacking); /* reads the file that is closed below */
	if (elf->dwarf)
		dwarf_end(elf->dwarf);
	if (elf->unpacked)
		elf_end(elf->unpacked);
	if (elf->elf)
		elf_end(elf->elf);
	if (elf->fd >= 0)
		close(elf->fd);
	free(elf->image);
	free(elf->unpacked_image);
	elf->dwarf = NULL;
	elf->unpacked = NULL;
	elf->unpacked_image = NULL;
	elf->unpacking = NULL;
	elf->dwarf_fits = false;
	elf->elf = NULL;
	elf->fd = elf->from = -1;
	elf->image = NULL;
}

void pmp_elf_close(struct pmp_elf *elf)
{
	pmp_elf_release(elf);
	free(elf->code);
	*elf = (struct pmp_elf)PMP_ELF_EMPTY;
}

bool pmp_elf_written(const struct pmp_elf *elf)
{
	struct stat status;

	return elf->from >= 0 &&
	       (fstat(elf->from, &status) != 0 || (uint64_t)status.st_size != elf->size ||
		status.st_mtim.tv_sec != elf->written.tv_sec ||
		status.st_mtim.tv_nsec != elf->written.tv_nsec);
}

bool pmp_elf_address(const struct pmp_elf *elf, uint64_t offset, uint64_t *address)
{
	for (size_t i = 0; i < elf->code_count; i++) {
		const struct pmp_elf_code *code = &elf->code[i];

		if (offset >= code->offset && offset - code->offset < code->size) {
			*address = offset - code->offset + code->address;
			return true;
		}
	}
	return false;
}

Elf_Scn *pmp_elf_section(const struct pmp_elf *elf, const char *name, GElf_Shdr *header)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (!elf->elf || elf_getshdrstrndx(elf->elf, &names) != 0)
		return NULL;
	while ((section = elf_nextscn(elf->elf, section))) {
		const char *found;

		if (!gelf_getshdr(section, header))
			continue;
		found = elf_strptr(elf->elf, names, header->sh_name);
		if (found && strcmp(found, name) == 0)
			return section;
	}
	return NULL;
}

const Elf_Data *pmp_elf_data(const struct pmp_elf *elf, Elf_Scn *section)
{
	const Elf_Data *data;
	GElf_Shdr header;

	if (!readable(elf, section, &header) || elf_ndxscn(section) > elf->sections)
		return NULL;
	data = elf_getdata(section, NULL);
	return data && data->d_buf && data->d_size ? data : NULL;
}

bool pmp_elf_read(const struct pmp_elf *elf, Elf_Scn *section, uint64_t offset, void *to,
		  size_t size)
{
	const Elf_Data *data;
	GElf_Shdr header;

	if (!readable(elf, section, &header) || offset > header.sh_size ||
	    size > header.sh_size - offset)
		return false;
	if (elf->from >= 0)
		return pmp_file_pread(elf->from, to, size, header.sh_offset + offset) ==
		       (ssize_t)size;
	data = pmp_elf_data(elf, section);
	if (!data || data->d_size < offset + size)
		return false;
	memcpy(to, (char *)data->d_buf + offset, size);
	return true;
}

bool pmp_elf_append(const struct pmp_elf *elf, Elf_Scn *section, struct pmp_buf *buf)
{
	size_t before = buf->length;
	const Elf_Data *data;
	GElf_Shdr header;
	char *to;

	if (!readable(elf, section, &header))
		return false;
	if (elf->from < 0) {
		data = pmp_elf_data(elf, section);
		if (data)
			pmp_buf_add(buf, data->d_buf, data->d_size);
		return data && !pmp_buf_failed(buf);
	}
	to = pmp_buf_extend(buf, header.sh_size);
	if (to && pmp_file_pread(elf->from, to, header.sh_size, header.sh_offset) ==
			  (ssize_t)header.sh_size)
		return true;
	pmp_buf_cut(buf, before);
	return false;
}

bool pmp_elf_has_dwarf(const struct pmp_elf *elf)
{
	GElf_Shdr header;
	Elf_Scn *section = pmp_elf_section(elf, ".debug_info", &header);

	if (!section)
		section = pmp_elf_section(elf, ".zdebug_info", &header);
	return section && header.sh_type != SHT_NOBITS;
}

/* Sections that we do not need: places of variables, unwind tables, macros, indexes. */
static bool section_of_others(const char *name, bool lines)
{
	static const char *const others[] = {
		"loc",		"loclists", "frame",	    "macro",
		"macinfo",	"pubnames", "pubtypes",	    "gnu_pubnames",
		"gnu_pubtypes", "names",    "loclists.dwo",
	};

	name += strncmp(name, ".zdebug_", 8) == 0 ? 8 : 7;
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		if (strcmp(name, others[i]) == 0)
			return true;
	}
	return !lines && strcmp(name, "line") == 0;
}

/* Read the first bytes of a compressed section. libelf would read all of it, which would
 * then be read again for unpacking. */
static bool read_start(const struct pmp_elf *elf, Elf_Scn *section,
		       const GElf_Shdr *header, void *start, size_t size)
{
	const Elf_Data *data;

	if (header->sh_size < size)
		return false;
	if (elf->from >= 0)
		return pmp_file_pread(elf->from, start, size, header->sh_offset) ==
		       (ssize_t)size;
	data = elf_rawdata(section, NULL);
	if (!data || !data->d_buf || data->d_size < size)
		return false;
	memcpy(start, data->d_buf, size);
	return true;
}

/* The size of a section's contents in memory, unpacked; UINT64_MAX: too large or
 * damaged. */
static uint64_t unpacked_size(const struct pmp_elf *elf, Elf_Scn *section,
			      const GElf_Shdr *header, bool old_style)
{
	unsigned char start[12]; /* "ZLIB" and the size, the highest byte first */
	uint64_t size = header->sh_size;
	Elf64_Chdr packed;

	if (header->sh_type == SHT_NOBITS)
		return 0;
	if (size > elf->size || size > elf->most || header->sh_offset > elf->size - size)
		return UINT64_MAX;
	if (header->sh_flags & SHF_COMPRESSED) {
		if (!read_start(elf, section, header, &packed, sizeof(packed)))
			return UINT64_MAX;
		size = packed.ch_size;
	} else if (old_style) {
		if (!read_start(elf, section, header, start, sizeof(start)))
			return UINT64_MAX;
		size = 0;
		for (size_t i = 4; i < sizeof(start); i++)
			size = size << 8 | start[i];
	}
	if (size < header->sh_size)
		size = header->sh_size;
	return size > DEBUG_MAX ? UINT64_MAX : size;
}

/*
 * libdw reads and unpacks all debug sections when it opens a file. Hide those that
 * will not be used: in a distribution's debug file, that saves half of the unpacking.
 * The others must be of a reasonable size.
 */
static bool select_sections(const struct pmp_elf *elf, bool lines)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	uint64_t total = 0;
	size_t names;

	if (elf_getshdrstrndx(elf->elf, &names) != 0)
		return false;
	while ((section = elf_nextscn(elf->elf, section))) {
		const char *name;
		uint64_t size;

		if (!gelf_getshdr(section, &header))
			return false;
		name = elf_strptr(elf->elf, names, header.sh_name);
		if (!name || (strncmp(name, ".debug_", 7) != 0 &&
			      strncmp(name, ".zdebug_", 8) != 0))
			continue;
		if (section_of_others(name, lines)) {
			header.sh_type = SHT_NOBITS;
			if (!gelf_update_shdr(section, &header))
				return false;
			continue;
		}
		size = unpacked_size(elf, section, &header, name[1] == 'z');
		if (size == UINT64_MAX)
			return false;
		total += size;
		if (total > DEBUG_MAX || total > elf->most)
			return false;
	}
	return true;
}

static bool section_of_strings(const char *name)
{
	name += name[0] == '.';
	name += name[0] == 'z';
	return strcmp(name, "debug_str") == 0 || strcmp(name, "debug_line_str") == 0 ||
	       strcmp(name, "debug_str.dwo") == 0;
}

static bool ends_with_nul(Elf_Scn *section, const GElf_Shdr *header, bool old_style)
{
	const Elf_Data *data;

	if (old_style)
		elf_compress_gnu(section, 0, 0);
	else if (header->sh_flags & SHF_COMPRESSED)
		elf_compress(section, 0, 0);
	data = elf_rawdata(section, NULL);
	return data && (data->d_size == 0 ||
			(data->d_buf && ((char *)data->d_buf)[data->d_size - 1] == '\0'));
}

bool pmp_elf_strings_end(Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t names;

	if (elf_getshdrstrndx(elf, &names) != 0)
		return false;
	while ((section = elf_nextscn(elf, section))) {
		const char *name;

		if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS)
			continue;
		name = elf_strptr(elf, names, header.sh_name);
		if (name && section_of_strings(name) &&
		    !ends_with_nul(section, &header, name[1] == 'z'))
			return false;
	}
	return true;
}

void pmp_elf_prepare_dwarf(struct pmp_elf *elf, bool lines)
{
	if (elf->dwarf_fits || !elf->elf || !pmp_elf_has_dwarf(elf) ||
	    !select_sections(elf, lines))
		return;
	elf->dwarf_fits = true;
	elf->unpacking = pmp_unpack_begin(elf->elf, elf->from);
}

Dwarf *pmp_elf_dwarf(struct pmp_elf *elf)
{
	size_t size;
	Elf *source;

	if (elf->dwarf || !elf->dwarf_fits)
		return elf->dwarf;
	elf->unpacked_image = pmp_unpack_end(elf->unpacking, &size);
	elf->unpacking = NULL;
	if (elf->unpacked_image)
		elf->unpacked = elf_memory(elf->unpacked_image, size);
	source = elf->unpacked ? elf->unpacked : elf->elf;
	elf->dwarf_fits = pmp_elf_strings_end(source);
	if (elf->dwarf_fits)
		elf->dwarf = dwarf_begin_elf(source, DWARF_C_READ, NULL);
	if (elf->dwarf)
		pmp_libdw_handle_oom(elf->dwarf);
	return elf->dwarf;
}

void pmp_elf_build_id_text(const unsigned char *id, size_t size,
			   char text[PMP_BUILD_ID_TEXT])
{
	text[0] = '\0';
	for (size_t i = 0; i < size && i < PMP_BUILD_ID_SIZE; i++)
		snprintf(text + 2 * i, 3, "%02x", id[i]);
}

bool pmp_elf_same_build(const struct pmp_elf *a, const struct pmp_elf *b)
{
	return a->build_id_size && a->build_id_size == b->build_id_size &&
	       memcmp(a->build_id, b->build_id, a->build_id_size) == 0;
}
