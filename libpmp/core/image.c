/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/image.h"

#include <elf.h>
#include <string.h>

#include "sample.h"
#include "unwind/arch.h"

#define PAGE 4096u
#define NOTES_MAX (64u << 10) /* bytes of notes searched */
#define NOTE_SEGMENTS_MAX 8
#define NT_GO_BUILD_ID 4 /* cmd/internal/buildid */

static bool is_of(const struct pmp_arch *arch, const Elf64_Ehdr *header)
{
	return !memcmp(header->e_ident, ELFMAG, SELFMAG) &&
	       header->e_ident[EI_CLASS] == ELFCLASS64 &&
	       header->e_ident[EI_DATA] == ELFDATA2LSB &&
	       header->e_machine == arch->elf_machine;
}

/* If it is the wanted note, reads its description, of at most size bytes. */
static size_t take_id(const struct pmp_reader *reader, uint64_t at,
		      const Elf64_Nhdr *note, const char owner[4], void *id, size_t size)
{
	char found[4];

	if (note->n_namesz != sizeof(found) || note->n_descsz > size ||
	    !pmp_read(reader, at, found, sizeof(found)) ||
	    memcmp(found, owner, sizeof(found)) != 0 ||
	    !pmp_read(reader, at + sizeof(found), id, note->n_descsz))
		return 0;
	return note->n_descsz;
}

static void take_note(struct pmp_core_image *image, const struct pmp_reader *reader,
		      uint64_t at, const Elf64_Nhdr *note)
{
	if (note->n_type == NT_GNU_BUILD_ID && !image->id_size)
		image->id_size =
			take_id(reader, at, note, "GNU", image->id, sizeof(image->id));
	else if (note->n_type == NT_GO_BUILD_ID && !image->go_id_size)
		image->go_id_size = take_id(reader, at, note, "Go\0", image->go_id,
					    sizeof(image->go_id));
}

/* Notes of a program may be aligned to 8 bytes; the length of a build-id note is the same
 * with both alignments. */
static void find_ids(struct pmp_core_image *image, const struct pmp_reader *reader,
		     uint64_t at, uint64_t length, uint64_t align, size_t *work)
{
	const uint64_t mask = align == 8 ? 7 : 3;
	uint64_t used = 0;
	Elf64_Nhdr note;

	if (length > NOTES_MAX)
		length = NOTES_MAX;
	while (used < length && length - used >= sizeof(note) &&
	       ++*work < PMP_CORE_IMAGE_WORK_MAX &&
	       pmp_read(reader, at + used, &note, sizeof(note))) {
		take_note(image, reader, at + used + sizeof(note), &note);
		if (!note.n_namesz && !note.n_descsz)
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
			 const struct pmp_reader *reader, uint64_t base, bool mapped,
			 size_t *work)
{
	Elf64_Phdr program, notes[NOTE_SEGMENTS_MAX];
	Elf64_Ehdr header;
	size_t note_count = 0;
	uint64_t bias = base;
	bool loaded = false;

	*image = (struct pmp_core_image){ 0 };
	if (*work >= PMP_CORE_IMAGE_WORK_MAX ||
	    !pmp_read(reader, base, &header, sizeof(header)) || !is_of(arch, &header) ||
	    header.e_phentsize != sizeof(program))
		return false;
	for (size_t i = 0; i < header.e_phnum; i++) {
		if (++*work >= PMP_CORE_IMAGE_WORK_MAX ||
		    !pmp_read(reader, base + header.e_phoff + i * sizeof(program),
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
	for (size_t i = 0; i < note_count; i++)
		find_ids(image, reader,
			 mapped ? bias + notes[i].p_vaddr : notes[i].p_offset,
			 notes[i].p_filesz, notes[i].p_align, work);
	return *work < PMP_CORE_IMAGE_WORK_MAX;
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
