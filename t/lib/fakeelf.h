/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A small ELF file with call-frame information, made byte by byte, and mapped
 * into a fake process: for tests and fuzzers of the unwinder on x86-64.
 *
 *	file	0	ELF header, program headers
 *		200	.eh_frame_hdr
 *		300	.eh_frame
 *		600	.debug_frame
 *		1000 or 1890	text
 *		2000	section headers and their names
 */
#ifndef PMP_T_FAKEELF_H
#define PMP_T_FAKEELF_H

#include <elf.h>
#include <sys/mman.h>

#include "fakeproc.h"

#define ELF_BASE UINT64_C(0x7f1000000000)
#define ELF_STACK UINT64_C(0x7ffe00000000)
#define ELF_STACK_SIZE 0x400
#define ELF_SIZE 0x3000
#define ELF_FUNCTION 0x40 /* bytes of each of the functions A, B, C, D */

struct fakeelf_options {
	bool no_hdr;		/* no .eh_frame_hdr */
	bool no_eh_frame;	/* nor .eh_frame */
	bool debug_frame;	/* a .debug_frame */
	bool unaligned;		/* text begins within a page, in file and memory (lld) */
	uint8_t table_encoding; /* of .eh_frame_hdr; 0: the usual */
};

struct fakeelf {
	uint8_t file[ELF_SIZE];
	uint64_t stack[ELF_STACK_SIZE / 8];
	uint64_t offset; /* of the text in the file */
	uint64_t text;	 /* its address */
	int fd;		 /* of the file, owned by the module */
	struct fake fake;
	struct pmp_reader memory;
	struct pmp_maps *maps;
};

/* Appends little-endian numbers. */
struct fakeelf_out {
	uint8_t *file;
	size_t at;
};

static void fakeelf_put(struct fakeelf_out *out, uint64_t value, size_t size)
{
	memcpy(out->file + out->at, &value, size);
	out->at += size;
}

static void fakeelf_bytes(struct fakeelf_out *out, const void *bytes, size_t size)
{
	memcpy(out->file + out->at, bytes, size);
	out->at += size;
}

static void fakeelf_end(struct fakeelf_out *out, size_t begin)
{
	uint32_t length;

	while (out->at % 8)
		fakeelf_put(out, 0, 1);
	length = (uint32_t)(out->at - begin - 4);
	memcpy(out->file + begin, &length, 4);
}

/*
 * What the functions do to the stack, as call-frame instructions:
 *
 *	A	sub $8,%rsp; call ...		CFA rsp+8, from 4 on rsp+16
 *	B	push %rbp; mov %rsp,%rbp; ...	CFA rbp+16 from 4 on
 *	C	has its CFA - 8 at rsp+8	an expression
 *	D	starts the thread		no return address
 */
static const struct {
	const char *program;
	size_t size;
} fakeelf_functions[4] = {
	{ "\x44\x0e\x10", 3 },
	{ "\x41\x0e\x10\x86\x02\x43\x0d\x06", 8 },
	{ "\x0f\x05\x77\x08\x06\x23\x08", 7 },
	{ "\x07\x10", 2 },
};

/* def_cfa rsp+8; the return address is at CFA-8 */
#define FAKEELF_CIE_PROGRAM "\x0c\x07\x08\x90\x01"

static void fakeelf_eh_frame(struct fakeelf *elf, const struct fakeelf_options *options)
{
	struct fakeelf_out frame = { elf->file, 0x300 }, hdr = { elf->file, 0x200 };
	uint64_t text = elf->text - ELF_BASE;
	uint8_t encoding = options->table_encoding ? options->table_encoding : 0x3b;

	fakeelf_put(&hdr,
		    UINT64_C(0x01) | 0x1b << 8 | 0x03 << 16 | (uint32_t)encoding << 24,
		    4);
	fakeelf_put(&hdr, 0x300 - 0x204, 4);
	fakeelf_put(&hdr, 4, 4);

	fakeelf_put(&frame, 0, 8); /* length, CIE */
	fakeelf_bytes(&frame, "\x01zR\0\x01\x78\x10\x01\x1b", 9);
	fakeelf_bytes(&frame, FAKEELF_CIE_PROGRAM, 5);
	fakeelf_end(&frame, 0x300);
	for (unsigned i = 0; i < 4; i++) {
		size_t begin = frame.at;
		uint64_t start = text + i * ELF_FUNCTION;

		fakeelf_put(&hdr, start - 0x200, 4);
		fakeelf_put(&hdr, begin - 0x200, 4);
		fakeelf_put(&frame, 0, 4);
		fakeelf_put(&frame, begin + 4 - 0x300, 4);
		fakeelf_put(&frame, start - (begin + 8), 4);
		fakeelf_put(&frame, ELF_FUNCTION, 4);
		fakeelf_put(&frame, 0, 1);
		fakeelf_bytes(&frame, fakeelf_functions[i].program,
			      fakeelf_functions[i].size);
		fakeelf_end(&frame, begin);
	}
}

static size_t fakeelf_debug_frame(struct fakeelf *elf)
{
	struct fakeelf_out frame = { elf->file, 0x600 };

	fakeelf_put(&frame, 0, 4);
	fakeelf_put(&frame, UINT32_MAX, 4);
	fakeelf_bytes(&frame, "\x03\0\x01\x78\x10", 5);
	fakeelf_bytes(&frame, FAKEELF_CIE_PROGRAM, 5);
	fakeelf_end(&frame, 0x600);
	for (unsigned i = 0; i < 4; i++) {
		size_t begin = frame.at;

		fakeelf_put(&frame, 0, 8); /* its CIE is at offset 0 */
		fakeelf_put(&frame, elf->text - ELF_BASE + i * ELF_FUNCTION, 8);
		fakeelf_put(&frame, ELF_FUNCTION, 8);
		fakeelf_bytes(&frame, fakeelf_functions[i].program,
			      fakeelf_functions[i].size);
		fakeelf_end(&frame, begin);
	}
	return frame.at - 0x600;
}

static void fakeelf_headers(struct fakeelf *elf, const struct fakeelf_options *options,
			    size_t debug_size)
{
	static const char names[] = "\0.text\0.eh_frame\0.debug_frame\0.shstrtab";
	Elf64_Phdr segments[3] = {
		{ .p_type = PT_LOAD,
		  .p_flags = PF_R,
		  .p_filesz = elf->offset,
		  .p_memsz = elf->offset,
		  .p_align = 0x1000 },
		{ .p_type = PT_LOAD,
		  .p_flags = PF_R | PF_X,
		  .p_offset = elf->offset,
		  .p_vaddr = elf->text - ELF_BASE,
		  .p_filesz = 4 * ELF_FUNCTION,
		  .p_memsz = 4 * ELF_FUNCTION,
		  .p_align = 0x1000 },
		{ .p_type = options->no_hdr ? PT_NULL : PT_GNU_EH_FRAME,
		  .p_offset = 0x200,
		  .p_vaddr = 0x200,
		  .p_filesz = 0x2c,
		  .p_memsz = 0x2c },
	};
	Elf64_Shdr sections[5] = {
		[1] = { .sh_name = 1,
			.sh_type = SHT_PROGBITS,
			.sh_flags = SHF_ALLOC | SHF_EXECINSTR,
			.sh_addr = elf->text - ELF_BASE,
			.sh_offset = elf->offset,
			.sh_size = 4 * ELF_FUNCTION,
			.sh_addralign = 16 },
		[2] = { .sh_name = 7,
			.sh_type = options->no_eh_frame ? SHT_NULL : SHT_PROGBITS,
			.sh_flags = SHF_ALLOC,
			.sh_addr = 0x300,
			.sh_offset = 0x300,
			.sh_size = options->no_eh_frame ? 0 : 0x300,
			.sh_addralign = 8 },
		[3] = { .sh_name = 17,
			.sh_type = debug_size ? SHT_PROGBITS : SHT_NULL,
			.sh_offset = 0x600,
			.sh_size = debug_size,
			.sh_addralign = 8 },
		[4] = { .sh_name = 30,
			.sh_type = SHT_STRTAB,
			.sh_offset = 0x2200,
			.sh_size = sizeof(names),
			.sh_addralign = 1 },
	};
	Elf64_Ehdr header = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(header),
		.e_shoff = 0x2000,
		.e_ehsize = sizeof(header),
		.e_phentsize = sizeof(*segments),
		.e_phnum = 3,
		.e_shentsize = sizeof(*sections),
		.e_shnum = 5,
		.e_shstrndx = 4,
	};

	memcpy(elf->file, &header, sizeof(header));
	memcpy(elf->file + sizeof(header), segments, sizeof(segments));
	memcpy(elf->file + 0x2000, sections, sizeof(sections));
	memcpy(elf->file + 0x2200, names, sizeof(names));
}

/* The stack of D calling C calling B calling A, A's frame innermost. */
static void fakeelf_stack(struct fakeelf *elf)
{
	memset(elf->stack, 0, sizeof(elf->stack));
	elf->stack[0x10] = 0x1111;				/* A's own word: sp */
	elf->stack[0x11] = elf->text + 1 * ELF_FUNCTION + 0x10; /* in B */
	elf->stack[0x20] = 0x2222; /* C's rbp: B's rbp points here */
	elf->stack[0x21] =
		elf->text + 2 * ELF_FUNCTION + 0x10; /* in C: sp is just after it */
	elf->stack[0x23] = ELF_STACK + 0x30 * 8;     /* C's CFA - 8 */
	elf->stack[0x30] = elf->text + 3 * ELF_FUNCTION + 0x10; /* in D */
}

/* A walk from these registers finds A, B, C, D. */
#define FAKEELF_PC(elf) ((elf)->text + 0x10)
#define FAKEELF_SP (ELF_STACK + 0x10 * 8)
#define FAKEELF_FP (ELF_STACK + 0x20 * 8)

static void fakeelf_make(struct fakeelf *elf, const struct fakeelf_options *options)
{
	uint64_t page = UINT64_C(0x1000);
	size_t debug_size = 0;
	struct pmp_module *module;
	struct pmp_region region;

	memset(elf, 0, sizeof(*elf));
	elf->offset = options->unaligned ? 0x1890 : 0x1000;
	elf->text = ELF_BASE + (options->unaligned ? 0x2890 : 0x1000);
	if (!options->no_eh_frame)
		fakeelf_eh_frame(elf, options);
	if (options->debug_frame)
		debug_size = fakeelf_debug_frame(elf);
	fakeelf_headers(elf, options, debug_size);
	memset(elf->file + elf->offset, 0x90, 4 * ELF_FUNCTION);
	for (unsigned i = 1; i < 4; i++) /* call A: before each return address */
		memcpy(elf->file + elf->offset + i * ELF_FUNCTION + 0x0b, "\xe8\0\0\0\0",
		       5);
	fakeelf_stack(elf);

	elf->fd = memfd_create("fakeelf", MFD_CLOEXEC);
	if (elf->fd < 0 || pwrite(elf->fd, elf->file, ELF_SIZE, 0) != ELF_SIZE)
		abort();
	elf->maps = pmp_maps_new();
	module = fake_region(elf->maps, ELF_BASE, page, PMP_PROT_READ, PMP_MODULE_FILE);
	module->fd = elf->fd;
	region = (struct pmp_region){
		.start = elf->text & ~(page - 1),
		.end = (elf->text & ~(page - 1)) + page,
		.offset = elf->offset & ~(page - 1),
		.module = module,
		.prot = PMP_PROT_READ | PMP_PROT_EXEC,
	};
	if (pmp_maps_add_region(elf->maps, &region))
		abort();
	fake_region(elf->maps, ELF_STACK, ELF_STACK_SIZE, PMP_PROT_READ | PMP_PROT_WRITE,
		    PMP_MODULE_SPECIAL);
	fake_add(&elf->fake, ELF_BASE, elf->file, page);
	fake_add(&elf->fake, region.start, elf->file + region.offset, page);
	fake_add(&elf->fake, ELF_STACK, elf->stack, ELF_STACK_SIZE);
	elf->memory = fake_reader(&elf->fake);
}

static void fakeelf_free(struct fakeelf *elf)
{
	pmp_maps_unref(elf->maps); /* closes fd */
}

#endif
