/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The notes of a core file: a core of 100,000 threads has half a GB of them, most of which
 * is skipped. The structures are those that the kernel writes (uapi/linux/elfcore.h) on
 * 64-bit machines:
 *
 *   NT_PRSTATUS  12 pr_cursig (2)   32 pr_pid (4)   112 pr_reg
 *   NT_PRPSINFO  24 pr_pid (4)      40 pr_fname (16)   56 pr_psargs (80)
 *   NT_SIGINFO    0 si_signo         8 si_code     16 si_addr (8), or si_pid (4)
 *   NT_AUXV      pairs of type and value
 *   NT_FILE      count, page size; start, end, offset in pages of each; their paths
 */
#include "core/parse.h"

#include <elf.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"

#define WINDOW (64u << 10) /* bytes read at a time, */
#define JUMP 4096u	   /* or after a skipped part */
#define NAME_MAX_SIZE 8	   /* of known owners, with the NUL */
#define SMALL_MAX 1024u	   /* of a note that is read whole, except NT_FILE */

enum {
	STATUS_SIGNAL = 12,
	STATUS_PID = 32,
	STATUS_REGS = 112,
	PSINFO_PID = 24,
	PSINFO_NAME = 40,
	PSINFO_NAME_SIZE = 16,
	PSINFO_ARGS = 56,
	PSINFO_ARGS_SIZE = 80,
	SIGINFO_CODE = 8,
	SIGINFO_UNION = 16,
};

/* Buffers the file for reads in ascending order. */
struct note_window {
	int fd;
	uint64_t start; /* offset of bytes[0] */
	size_t length;
	unsigned char bytes[WINDOW];
};

static bool window_read(struct note_window *window, uint64_t offset, void *data,
			size_t length)
{
	if (length > WINDOW) {
		ssize_t got = offset < INT64_MAX
				      ? pmp_file_pread(window->fd, data, length, offset)
				      : 0;

		return got == (ssize_t)length;
	}
	if (offset < window->start || offset - window->start > window->length ||
	    length > window->length - (offset - window->start)) {
		const size_t size =
			offset <= window->start + window->length ? WINDOW : JUMP;
		ssize_t got =
			offset < INT64_MAX
				? pmp_file_pread(window->fd, window->bytes,
						 length > size ? length : size, offset)
				: 0;

		window->start = offset;
		window->length = got > 0 ? (size_t)got : 0;
	}
	if (length > window->length - (offset - window->start))
		return false;
	memcpy(data, window->bytes + (offset - window->start), length);
	return true;
}

static uint64_t get_u64(const unsigned char *bytes)
{
	uint64_t value;

	memcpy(&value, bytes, sizeof(value));
	return value;
}

static int32_t get_i32(const unsigned char *bytes)
{
	int32_t value;

	memcpy(&value, bytes, sizeof(value));
	return value;
}

/* ---- single notes -------------------------------------------------------------------- */

static int take_status(struct pmp_core_file *core, const unsigned char *note,
		       size_t length)
{
	const size_t size = core->arch->user_words * sizeof(uint64_t);
	struct pmp_core_thread *thread;
	int16_t number;

	if (length < STATUS_REGS + size || get_i32(note + STATUS_PID) <= 0)
		return 0;
	if (core->thread_count == PMP_CORE_THREADS_MAX) {
		core->threads_left_out++;
		return 0;
	}
	if (PMP_RESERVE(&core->threads, &core->thread_capacity, core->thread_count + 1))
		return PMP_ENOMEM;
	memcpy(&number, note + STATUS_SIGNAL, sizeof(number));
	if (!core->thread_count)
		core->status_signal = number > 0 ? number : 0;
	thread = &core->threads[core->thread_count++];
	*thread = (struct pmp_core_thread){ .tid = get_i32(note + STATUS_PID) };
	memcpy(thread->words, note + STATUS_REGS, size);
	return 0;
}

static void take_psinfo(struct pmp_core_file *core, const unsigned char *note,
			size_t length)
{
	char *args = core->crash.args;

	if (length < PSINFO_ARGS + PSINFO_ARGS_SIZE || core->has_psinfo)
		return;
	core->has_psinfo = true;
	if (get_i32(note + PSINFO_PID) > 0)
		core->pid = get_i32(note + PSINFO_PID);
	memcpy(core->name, note + PSINFO_NAME, PSINFO_NAME_SIZE);
	memcpy(args, note + PSINFO_ARGS, PSINFO_ARGS_SIZE);
	/* The kernel leaves a blank after the last argument. */
	for (size_t end = strlen(args); end && args[end - 1] == ' '; end--)
		args[end - 1] = '\0';
}

static bool has_address(int number)
{
	return number == SIGSEGV || number == SIGBUS || number == SIGILL ||
	       number == SIGFPE || number == SIGTRAP;
}

/* Other codes, of timers and files, have other numbers in its place (sigaction(2)). */
static bool has_sender(int code)
{
	return code == SI_USER || code == SI_QUEUE || code == SI_MESGQ ||
	       code == SI_TKILL;
}

static void take_siginfo(struct pmp_core_file *core, const unsigned char *note,
			 size_t length)
{
	struct pmp_crash *crash = &core->crash;

	/* gdb writes one for each thread: use the first, which belongs to the first
	 * thread. */
	if (length < SIGINFO_UNION + 8 || crash->signal || core->thread_count > 1)
		return;
	crash->signal = get_i32(note);
	crash->code = get_i32(note + SIGINFO_CODE);
	/* SI_KERNEL has neither: the address of a general protection fault is unknown. */
	if (crash->code > 0 && crash->code < SI_KERNEL && has_address(crash->signal)) {
		crash->has_address = true;
		crash->address = get_u64(note + SIGINFO_UNION);
	} else if (has_sender(crash->code)) {
		crash->sender = get_i32(note + SIGINFO_UNION);
	}
}

static void take_auxv(struct pmp_core_file *core, const unsigned char *note,
		      size_t length)
{
	for (size_t at = 0; at + 16 <= length; at += 16) {
		uint64_t type = get_u64(note + at), value = get_u64(note + at + 8);

		if (type == AT_PHDR)
			core->program = value;
		else if (type == AT_SYSINFO_EHDR)
			core->vdso = value;
	}
}

static int add_mapping(struct pmp_core_file *core, const unsigned char *entry,
		       uint64_t page, size_t path)
{
	struct pmp_core_mapping mapping = {
		.start = get_u64(entry),
		.end = get_u64(entry + 8),
		.path = path,
	};

	if (__builtin_mul_overflow(get_u64(entry + 16), page, &mapping.offset))
		return 0;
	if (PMP_RESERVE(&core->mappings, &core->mapping_capacity,
			core->mapping_count + 1))
		return PMP_ENOMEM;
	core->mappings[core->mapping_count++] = mapping;
	return 0;
}

static int take_files(struct pmp_core_file *core, const unsigned char *note,
		      size_t length)
{
	uint64_t count = length >= 16 ? get_u64(note) : 0;
	size_t texts;
	int r = 0;

	if (core->mapping_count || !count || count > PMP_CORE_MAPPINGS_MAX ||
	    count > (length - 16) / 24)
		return 0;
	texts = 16 + (size_t)count * 24;
	for (size_t i = 0; !r && i < count; i++) {
		const unsigned char *end = memchr(note + texts, '\0', length - texts);

		if (!end)
			break;
		r = add_mapping(core, note + 16 + i * 24, get_u64(note + 8),
				core->paths.length);
		pmp_buf_add(&core->paths, (const char *)note + texts,
			    (size_t)(end - note) - texts + 1);
		texts = (size_t)(end - note) + 1;
	}
	return r || pmp_buf_failed(&core->paths) ? PMP_ENOMEM : 0;
}

/* ---- one after the other ---------------------------------------------------------------- */

static int take_small(struct pmp_core_file *core, struct note_window *window,
		      uint32_t type, uint64_t offset, size_t length)
{
	unsigned char note[SMALL_MAX];
	size_t known = length < sizeof(note) ? length : sizeof(note);

	if (!window_read(window, offset, note, known))
		return 0;
	switch (type) {
	case NT_PRSTATUS: return take_status(core, note, known);
	case NT_PRPSINFO: take_psinfo(core, note, known); break;
	case NT_SIGINFO: take_siginfo(core, note, known); break;
	case NT_AUXV: take_auxv(core, note, known); break;
	case NT_ARM_TLS:
		if (known >= 8 && core->thread_count)
			core->threads[core->thread_count - 1].tls = get_u64(note);
		break;
	}
	return 0;
}

/* A core has one list of mapped files. Rejected ones share one limit, because a sparse
 * file can have any number of them. */
static int take_large(struct pmp_core_file *core, struct note_window *window,
		      uint64_t offset, size_t length)
{
	unsigned char *note;
	int r = 0;

	if (core->mapping_count || length > PMP_CORE_NOTE_MAX - core->lists_read ||
	    offset > core->length || length > core->length - offset)
		return 0;
	core->lists_read += length;
	note = malloc(length + 1);
	if (!note)
		return PMP_ENOMEM;
	if (window_read(window, offset, note, length))
		r = take_files(core, note, length);
	free(note);
	return r;
}

static bool is_known(uint32_t type)
{
	return type == NT_PRSTATUS || type == NT_PRPSINFO || type == NT_SIGINFO ||
	       type == NT_AUXV || type == NT_FILE || type == NT_ARM_TLS;
}

static uint64_t aligned(uint64_t size)
{
	return (size + 3) & ~UINT64_C(3);
}

int pmp_core_notes_read(struct pmp_core_file *core, int fd, uint64_t offset,
			uint64_t length)
{
	struct note_window *window = malloc(sizeof(*window));
	uint64_t end;
	int r = 0;

	if (!window)
		return PMP_ENOMEM;
	window->fd = fd;
	window->start = window->length = 0;
	if (__builtin_add_overflow(offset, length, &end) || end > core->length)
		end = core->length;
	while (!r && offset < end && end - offset >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr note;
		uint64_t data;

		/* All zero: a hole in the file. */
		if (!window_read(window, offset, &note, sizeof(note)) ||
		    (!note.n_namesz && !note.n_descsz))
			break;
		data = offset + sizeof(note) + aligned(note.n_namesz);
		offset = data + aligned(note.n_descsz);
		if (note.n_namesz > NAME_MAX_SIZE || !is_known(note.n_type))
			continue;
		r = note.n_type == NT_FILE
			    ? take_large(core, window, data, note.n_descsz)
			    : take_small(core, window, note.n_type, data, note.n_descsz);
	}
	free(window);
	return r;
}
