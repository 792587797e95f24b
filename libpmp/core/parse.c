/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/parse.h"

#include <elf.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "base/search.h"
#include "unwind/arch.h"

#define NOTE_SEGMENTS_MAX 8 /* at most, to read */
#define CHUNK 1024u	    /* program headers read at a time */

/* ---- the ELF header --------------------------------------------------------------- */

bool pmp_core_file_is(const void *data, size_t length)
{
	const unsigned char *bytes = data;
	uint16_t type;

	if (length < EI_NIDENT + sizeof(type) || memcmp(bytes, ELFMAG, SELFMAG))
		return false;
	type = bytes[EI_DATA] == ELFDATA2MSB
		       ? (uint16_t)(bytes[EI_NIDENT] << 8 | bytes[EI_NIDENT + 1])
		       : (uint16_t)(bytes[EI_NIDENT + 1] << 8 | bytes[EI_NIDENT]);
	return type == ET_CORE;
}

static const char *machine_name(unsigned machine)
{
	switch (machine) {
	case EM_X86_64: return "x86-64";
	case EM_AARCH64: return "aarch64";
	case EM_386: return "i386";
	case EM_ARM: return "arm";
	case EM_RISCV: return "riscv";
	case EM_PPC64: return "ppc64";
	case EM_S390: return "s390";
	default: return "another machine";
	}
}

/* Refuse cores of other machines, or of unsupported programs. */
static int refuse(const Elf64_Ehdr *header, const char *name, struct pmp_error *err)
{
	if (header->e_ident[EI_DATA] != ELFDATA2LSB) {
		pmp_error_set(err, PMP_EUNSUPPORTED,
			      "cannot read %s: the core of a big-endian machine", name);
		pmp_error_hint(err, "gdb-multiarch reads it");
	} else if (header->e_ident[EI_CLASS] != ELFCLASS64) {
		pmp_error_set(err, PMP_EUNSUPPORTED,
			      "cannot read %s: the core of a 32-bit program, which pmp "
			      "does not read",
			      name);
		pmp_error_hint(err, "eu-stack --core and gdb read it");
	} else {
		pmp_error_set(err, PMP_EUNSUPPORTED,
			      "cannot read %s: a core of %s; pmp reads those of x86-64 "
			      "and aarch64",
			      name, machine_name(header->e_machine));
		pmp_error_hint(err, "gdb-multiarch reads it");
	}
	return PMP_EUNSUPPORTED;
}

static const struct pmp_arch *arch_of(const Elf64_Ehdr *header)
{
	return header->e_ident[EI_DATA] == ELFDATA2LSB &&
			       header->e_ident[EI_CLASS] == ELFCLASS64
		       ? pmp_arch_of(header->e_machine)
		       : NULL;
}

/* Note the length that the file should have. */
static void expect(struct pmp_core_file *core, uint64_t offset, uint64_t size)
{
	uint64_t end;

	if (!__builtin_add_overflow(offset, size, &end) && end > core->meant)
		core->meant = end;
}

/* The number of more than 65534 headers is in a section header (PN_XNUM), which the kernel
 * writes last. If that is missing, derive it from the first header: it describes the
 * notes, which directly follow the headers. */
static uint64_t count_headers(struct pmp_core_file *core, int fd,
			      const Elf64_Ehdr *header)
{
	Elf64_Shdr section;
	Elf64_Phdr first;

	if (header->e_phnum != PN_XNUM)
		return header->e_phnum;
	expect(core, header->e_shoff, sizeof(section));
	if (pmp_file_read_at(fd, header->e_shoff, &section, sizeof(section)))
		return section.sh_info;
	if (!pmp_file_read_at(fd, header->e_phoff, &first, sizeof(first)) ||
	    first.p_type != PT_NOTE || first.p_offset < header->e_phoff)
		return 0;
	return (first.p_offset - header->e_phoff) / sizeof(first);
}

/* ---- program headers --------------------------------------------------------------- */

static int add_segment(struct pmp_core_file *core, const Elf64_Phdr *program)
{
	struct pmp_core_segment segment = {
		.start = program->p_vaddr,
		.offset = program->p_offset,
		.size = program->p_filesz,
		.prot = (program->p_flags & PF_R ? PMP_PROT_READ : 0) |
			(program->p_flags & PF_W ? PMP_PROT_WRITE : 0) |
			(program->p_flags & PF_X ? PMP_PROT_EXEC : 0),
	};

	if (__builtin_add_overflow(segment.start, program->p_memsz, &segment.end) ||
	    segment.start == segment.end)
		return 0;
	if (segment.size > program->p_memsz)
		segment.size = program->p_memsz;
	if (segment.size > 0 && segment.offset > core->length) {
		segment.size = 0;
		segment.cut = true;
	} else if (segment.size > core->length - segment.offset && segment.size) {
		segment.size = core->length - segment.offset;
		segment.cut = true;
	}
	if (PMP_RESERVE(&core->segments, &core->segment_capacity,
			core->segment_count + 1))
		return PMP_ENOMEM;
	core->segments[core->segment_count++] = segment;
	return 0;
}

static int take_header(struct pmp_core_file *core, int fd, const Elf64_Phdr *program)
{
	if (program->p_type != PT_LOAD && program->p_type != PT_NOTE)
		return 0;
	expect(core, program->p_offset, program->p_filesz);
	if (program->p_type == PT_LOAD)
		return add_segment(core, program);
	/* The kernel and gdb write only one. */
	if (core->note_segments++ >= NOTE_SEGMENTS_MAX)
		return 0;
	return pmp_core_notes_read(core, fd, program->p_offset, program->p_filesz);
}

/* Read the headers that are left in a truncated file. */
static int read_headers(struct pmp_core_file *core, int fd, const Elf64_Ehdr *header)
{
	Elf64_Phdr *programs = malloc(CHUNK * sizeof(*programs));
	uint64_t left = count_headers(core, fd, header), at = header->e_phoff;
	int r = programs ? 0 : PMP_ENOMEM;

	if (left > PMP_CORE_SEGMENTS_MAX)
		left = PMP_CORE_SEGMENTS_MAX;
	expect(core, at, left * sizeof(*programs));
	while (!r && left) {
		size_t want = left < CHUNK ? left : CHUNK;
		ssize_t got = at < INT64_MAX
				      ? pmp_file_pread(fd, programs,
						       want * sizeof(*programs), at)
				      : 0;

		left -= want;
		at += want * sizeof(*programs);
		if (got < (ssize_t)(want * sizeof(*programs)))
			left = 0;
		for (size_t i = 0; !r && (ssize_t)((i + 1) * sizeof(*programs)) <= got;
		     i++)
			r = take_header(core, fd, &programs[i]);
	}
	free(programs);
	return r;
}

/* ---- in order ------------------------------------------------------------------------ */

static int by_start(const void *a, const void *b)
{
	uint64_t one, other;

	memcpy(&one, a, sizeof(one));
	memcpy(&other, b, sizeof(other));
	return (one > other) - (one < other);
}

/* Sort items that begin with start and end. Overlapping ones are dropped. */
static size_t sort_ranges(void *ranges, size_t count, size_t size)
{
	char *items = ranges;
	uint64_t range[2], last = 0;
	size_t kept = 0;

	if (count)
		qsort(ranges, count, size, by_start);
	for (size_t i = 0; i < count; i++) {
		memcpy(range, items + i * size, sizeof(range));
		if (range[0] >= range[1] || range[0] < last)
			continue;
		last = range[1];
		memmove(items + kept++ * size, items + i * size, size);
	}
	return kept;
}

static int by_tid(const void *a, const void *b)
{
	const struct pmp_core_thread *one = a, *other = b;

	return (one->tid > other->tid) - (one->tid < other->tid);
}

/* Sort by id, and drop duplicates. */
static void sort_threads(struct pmp_core_file *core)
{
	size_t kept = 0;

	qsort(core->threads, core->thread_count, sizeof(*core->threads), by_tid);
	for (size_t i = 0; i < core->thread_count; i++)
		if (!kept || core->threads[kept - 1].tid != core->threads[i].tid)
			core->threads[kept++] = core->threads[i];
	core->thread_count = kept;
}

/* Other signals leave no core (signal(7)): then a debugger wrote the core of a live
 * process that it had stopped. */
static bool ends_with_core(int number)
{
	switch (number) {
	case SIGQUIT:
	case SIGILL:
	case SIGTRAP:
	case SIGABRT:
	case SIGBUS:
	case SIGFPE:
	case SIGSEGV:
	case SIGXCPU:
	case SIGXFSZ:
	case SIGSYS: return true;
	default: return false;
	}
}

/* Does the core omit stacks? One stack pointer may be outside its stack, but not those of
 * all threads. */
static bool leaves_out_stacks(const struct pmp_core_file *core)
{
	const struct pmp_core_segment *segment;
	struct pmp_regs regs;

	for (size_t i = 0; i < core->thread_count; i++) {
		pmp_arch_regs(core->arch, core->threads[i].words, &regs);
		segment =
			pmp_core_file_segment(core, pmp_regs_get(&regs, core->arch->sp));
		if (segment)
			return !segment->size && !segment->cut;
	}
	return true;
}

static void finish(struct pmp_core_file *core)
{
	core->segment_count =
		sort_ranges(core->segments, core->segment_count, sizeof(*core->segments));
	core->mapping_count =
		sort_ranges(core->mappings, core->mapping_count, sizeof(*core->mappings));
	core->crash.is = true;
	if (!core->crash.signal)
		core->crash.signal = core->status_signal;
	if (!ends_with_core(core->crash.signal)) {
		core->crash.signal = core->crash.code = core->crash.sender = 0;
		core->crash.has_address = false;
	}
	if (core->thread_count && core->crash.signal)
		core->crash.tid = core->threads[0].tid;
	if (!core->pid && core->thread_count)
		core->pid = core->threads[0].tid;
	if (core->thread_count)
		sort_threads(core);
	core->no_changes = leaves_out_stacks(core);
}

/* ---- the interface ---------------------------------------------------------------- */

int pmp_core_file_read(struct pmp_core_file *core, int fd, const char *name,
		       struct pmp_error *err)
{
	Elf64_Ehdr header = { 0 };
	ssize_t got = pmp_file_pread(fd, &header, sizeof(header), 0);
	struct stat status;
	char shown[256];
	int r;

	*core = (struct pmp_core_file){ 0 };
	pmp_escape(name, shown, sizeof(shown));
	if (got < 0 || fstat(fd, &status) < 0)
		return pmp_error_sys(err, PMP_EIO, got < 0 ? (int)-got : 0,
				     "cannot read %s", shown);
	core->length = status.st_size > 0 ? (uint64_t)status.st_size : 0;
	if (!pmp_core_file_is(&header, (size_t)got))
		return pmp_error_set(err, PMP_EFORMAT, "%s is not a core file", shown);
	core->arch = arch_of(&header);
	if (got == sizeof(header) && !core->arch)
		return refuse(&header, shown, err);
	r = got == sizeof(header) ? read_headers(core, fd, &header) : 0;
	if (r == PMP_ENOMEM)
		return pmp_error_nomem(err, "reading a core file");
	finish(core);
	if (core->thread_count)
		return 0;
	pmp_error_set(err, PMP_EFORMAT, "cannot read %s: it has no thread", shown);
	if (core->meant > core->length || got < (ssize_t)sizeof(header))
		pmp_error_hint(err, "it was cut off: ulimit -c unlimited lets the kernel "
				    "write it whole; gcore writes threads last");
	else
		pmp_error_hint(err, "it is damaged, or not of Linux");
	return PMP_EFORMAT;
}

void pmp_core_file_free(struct pmp_core_file *core)
{
	free(core->segments);
	free(core->mappings);
	free(core->threads);
	pmp_buf_free(&core->paths);
	*core = (struct pmp_core_file){ 0 };
}

const struct pmp_core_segment *pmp_core_file_segment(const struct pmp_core_file *core,
						     uint64_t address)
{
	size_t i = pmp_search_after(core->segments, core->segment_count,
				    sizeof(*core->segments), address);

	return i && address < core->segments[i - 1].end ? &core->segments[i - 1] : NULL;
}
