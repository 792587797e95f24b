/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/image.h"

#include <elf.h>
#include <string.h>

#include "sample.h"
#include "unwind/arch.h"

#define PAGE 4096u
#define NOTES_MAX (64u << 10) /* bytes of notes that are searched */
#define NOTE_SEGMENTS_MAX 8

static bool is_of(const struct pmp_arch *arch, const Elf64_Ehdr *header)
{
	return !memcmp(header->e_ident, ELFMAG, SELFMAG) &&
	       header->e_ident[EI_CLASS] == ELFCLASS64 &&
	       header->e_ident[EI_DATA] == ELFDATA2LSB &&
	       header->e_machine == arch->elf_machine;
}

static bool take_build_id(struct pmp_core_image *image, const struct pmp_reader *reader,
			  uint64_t at, const Elf64_Nhdr *note)
{
	char owner[4];

	if (note->n_type != NT_GNU_BUILD_ID || note->n_namesz != sizeof(owner) ||
	    !note->n_descsz || note->n_descsz > PMP_CORE_ID_MAX ||
	    !pmp_read(reader, at, owner, sizeof(owner)) ||
	    memcmp(owner, "GNU", sizeof(owner)) != 0 ||
	    !pmp_read(reader, at + sizeof(owner), image->id, note->n_descsz))
		return false;
	image->id_size = note->n_descsz;
	return true;
}

/* Notes of a program may be aligned to 8 bytes; that of the build-id has a length that both
 * agree on. */
static void find_build_id(struct pmp_core_image *image, const struct pmp_reader *reader,
			  uint64_t at, uint64_t length, uint64_t align)
{
	const uint64_t mask = align == 8 ? 7 : 3;
	uint64_t used = 0;
	Elf64_Nhdr note;

	if (length > NOTES_MAX)
		length = NOTES_MAX;
	while (used < length && length - used >= sizeof(note) &&
	       pmp_read(reader, at + used, &note, sizeof(note))) {
		if (take_build_id(image, reader, at + used + sizeof(note), &note) ||
		    (!note.n_namesz && !note.n_descsz))
			return;
		used += sizeof(note) + ((note.n_namesz + UINT64_C(3)) & ~UINT64_C(3));
		used = (used + note.n_descsz + mask) & ~mask;
	}
}

static void add_part(struct pmp_core_image *image, const Elf64_Phdr *program)
{
	struct pmp_core_part *part;

	if (image->part_count == PMP_CORE_PARTS_MAX)
		return;
	part = &image->parts[image->part_count++];
	part->offset = program->p_offset & ~(uint64_t)(PAGE - 1);
	part->size = program->p_offset - part->offset + program->p_filesz;
	part->prot = (program->p_flags & PF_R ? PMP_PROT_READ : 0) |
		     (program->p_flags & PF_W ? PMP_PROT_WRITE : 0) |
		     (program->p_flags & PF_X ? PMP_PROT_EXEC : 0);
}

bool pmp_core_image_read(struct pmp_core_image *image, const struct pmp_arch *arch,
			 const struct pmp_reader *reader, uint64_t base, bool mapped)
{
	Elf64_Phdr program, notes[NOTE_SEGMENTS_MAX];
	Elf64_Ehdr header;
	size_t note_count = 0;
	uint64_t bias = base;
	bool loaded = false;

	*image = (struct pmp_core_image){ 0 };
	if (!pmp_read(reader, base, &header, sizeof(header)) || !is_of(arch, &header) ||
	    header.e_phentsize != sizeof(program))
		return false;
	for (size_t i = 0; i < header.e_phnum; i++) {
		if (!pmp_read(reader, base + header.e_phoff + i * sizeof(program),
			      &program, sizeof(program)))
			break;
		if (program.p_type == PT_LOAD) {
			add_part(image, &program);
			if (!loaded)
				bias = base - (program.p_vaddr - program.p_offset);
			loaded = true;
		} else if (program.p_type == PT_NOTE && note_count < NOTE_SEGMENTS_MAX) {
			notes[note_count++] = program;
		}
	}
	for (size_t i = 0; i < note_count && !image->id_size; i++)
		find_build_id(image, reader,
			      mapped ? bias + notes[i].p_vaddr : notes[i].p_offset,
			      notes[i].p_filesz, notes[i].p_align);
	return true;
}

unsigned pmp_core_image_prot(const struct pmp_core_image *image, uint64_t offset)
{
	const struct pmp_core_part *best = NULL;

	for (size_t i = 0; i < image->part_count; i++) {
		const struct pmp_core_part *part = &image->parts[i];

		if (part->offset <= offset && (!best || part->offset > best->offset))
			best = part;
	}
	return best ? best->prot : 0;
}
