/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Core files, made by construction: what is read of them, cut off at each byte, and lies. */
#include "lib/corefile.h"
#include "lib/tap.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/parse.h"
#include "libpmp.h"
#include "sample.h"

#define MANY 100000

static int file_of(const struct corefile *core, size_t length)
{
	int fd = memfd_create("core", MFD_CLOEXEC);

	if (fd < 0 || write(fd, core->bytes, length) != (ssize_t)length)
		exit(99);
	return fd;
}

/* The sample of the file, or NULL with an error. */
static struct pmp_sample *sample_of(int fd, struct pmp_error *err)
{
	struct pmp_sample *sample = NULL;
	struct pmp_core *core;

	*err = (struct pmp_error){ 0 };
	if (pmp_core_open(fd, "core", NULL, &core, err) < 0)
		return NULL;
	if (pmp_core_sample(core, &sample, err) < 0)
		sample = NULL;
	pmp_core_close(core);
	return sample;
}

static struct pmp_sample *sample_of_bytes(const struct corefile *core, size_t length,
					  struct pmp_error *err)
{
	int fd = file_of(core, length);
	struct pmp_sample *sample = sample_of(fd, err);

	close(fd);
	return sample;
}

/* ---- a good one ---------------------------------------------------------------------------- */

static void check_file(void)
{
	struct pmp_core_file file;
	struct pmp_error err;
	struct corefile core;
	int fd;

	core_make(&core, 3);
	fd = file_of(&core, core.length);
	is_int(pmp_core_file_read(&file, fd, "core", &err), 0, "a core file is read");
	is_int(file.thread_count, 3, "its threads");
	is_int(file.threads[0].tid, CORE_PID, "which are in order");
	is_int(file.pid, CORE_PID, "its process");
	is_str(file.name, "synthetic", "its name");
	is_str(file.crash.args, "./synthetic one two", "its arguments");
	is_int(file.crash.signal, SIGSEGV, "its signal");
	is_int(file.crash.code, SEGV_MAPERR, "its code");
	is_int(file.crash.tid, CORE_PID + 2, "its thread, the first in the file");
	ok(file.crash.has_address && file.crash.address == CORE_ADDRESS, "its address");
	is_int(file.segment_count, 2, "its memory");
	is_int(file.mapping_count, 2, "its mapped files");
	is_int(file.mappings[1].offset, 2 * CORE_PAGE,
	       "their offsets, which are in pages");
	ok(file.meant == file.length, "it is whole");
	pmp_core_file_free(&file);
	close(fd);
	free(core.bytes);
}

/* The process that a signal with this code came from. */
static int sender_of(int code)
{
	const uint32_t type = NT_SIGINFO;
	struct pmp_core_file file;
	struct pmp_error err;
	struct corefile core;
	unsigned char *note;
	int fd, sender;

	core_make(&core, 1);
	note = memmem(core.bytes, core.length, &type, sizeof(type));
	if (!note)
		exit(99);
	core_put(note + 4 + 8, 8, (uint32_t)code, 4);
	fd = file_of(&core, core.length);
	sender = pmp_core_file_read(&file, fd, "core", &err) < 0 ? -1 : file.crash.sender;
	pmp_core_file_free(&file);
	close(fd);
	free(core.bytes);
	return sender;
}

static void check_sender(void)
{
	is_int(sender_of(SI_USER), CORE_ADDRESS, "kill() says who sends");
	is_int(sender_of(SI_TKILL), CORE_ADDRESS, "as tgkill() does");
	is_int(sender_of(SI_TIMER), 0, "a timer does not");
	is_int(sender_of(SI_SIGIO), 0, "nor does a file");
}

static void check_sample(unsigned machine, const char *name)
{
	const unsigned size = CORE_CALL_SIZE(machine);
	const struct pmp_thread *thread;
	struct pmp_error err;
	struct corefile core;
	struct pmp_sample *sample;

	core_make_for(&core, 3, machine);
	sample = sample_of_bytes(&core, core.length, &err);
	ok(sample != NULL, "a core file of %s becomes a sample", name);
	if (!sample)
		return;
	is_int(sample->thread_count, 3, "%s: which has all threads", name);
	thread = &sample->threads[1];
	is_int(thread->frame_count, 3, "%s: and all frames of a stack", name);
	ok(sample->frames[thread->frame + 1].pc == CODE + 0x100 + size &&
		   sample->frames[thread->frame + 2].pc == CODE + size,
	   "%s: they are those that the frame pointers lead to", name);
	is_int(thread->end, PMP_END_ROOT, "%s: up to the first", name);
	if (machine == EM_X86_64)
		ok(thread->tls == 0x7000 && thread->state == 'R',
		   "%s: the thread pointer; it ran", name);
	else
		ok(thread->syscall == SYS_futex && thread->state == 'S',
		   "%s: the system call, as this machine numbers it", name);
	is_int(sample->crash.signal, SIGSEGV, "%s: the signal is in the sample", name);
	ok(sample->threads[2].syscall == PMP_SYSCALL_NONE &&
		   sample->threads[2].state == 'R',
	   "%s: the thread that got it ran", name);
	pmp_sample_free(sample);
	free(core.bytes);
}

/* Put a word of a thread's registers, the first note of all being that of the last thread. */
static void set_word(struct corefile *core, size_t note, size_t word, uint64_t value)
{
	enum { HEAD = 12 + 8, WORDS = 112 };

	memcpy(core->bytes + note + HEAD + WORDS + 8 * word, &value, sizeof(value));
}

/* The number of a system call is 32 bits, of which none is negative: not so in a file. */
static void check_odd_number(void)
{
	enum { RAX = 10, ORIG_RAX = 15 };
	static const uint64_t numbers[] = { 0xfffffff0, 0x80000000, UINT64_C(1) << 40 };
	struct pmp_error err;
	struct pmp_sample *sample;
	struct corefile core;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		core_make_for(&core, 1, EM_X86_64);
		core.bytes[core.notes + 20 + 12] = 0; /* no signal */
		set_word(&core, core.notes, RAX, (uint64_t)-512);
		set_word(&core, core.notes, ORIG_RAX, numbers[i]);
		sample = sample_of_bytes(&core, core.length, &err);
		ok(sample && sample->threads[0].syscall == PMP_SYSCALL_NONE,
		   "a system call of the number %#llx is none",
		   (unsigned long long)numbers[i]);
		pmp_sample_free(sample);
		free(core.bytes);
	}
}

/* Of aarch64 only the code says whether a thread is in a system call. */
static void check_lost_code(void)
{
	enum { PC = 32 };
	struct pmp_error err;
	struct pmp_sample *sample;
	struct corefile core;

	core_make_for(&core, 1, EM_AARCH64);
	set_word(&core, core.notes, PC, 0);
	sample = sample_of_bytes(&core, core.length, &err);
	ok(sample && sample->threads[0].syscall == PMP_SYSCALL_NONE,
	   "who has jumped to nowhere is in no system call");
	pmp_sample_free(sample);
	free(core.bytes);
}

/* ---- memory in pieces ---------------------------------------------------------------------- */

static Elf64_Phdr *program_of(const struct corefile *core, size_t number)
{
	return (Elf64_Phdr *)(core->bytes + sizeof(Elf64_Ehdr)) + number;
}

/* One more header, in the place of the notes' gap. */
static void insert_program(struct corefile *core, const Elf64_Phdr *program)
{
	((Elf64_Ehdr *)core->bytes)->e_phnum = 4;
	memmove(core->bytes + core->notes + sizeof(*program), core->bytes + core->notes,
		2 * CORE_PAGE - core->notes - sizeof(*program));
	memcpy(core->bytes + core->notes, program, sizeof(*program));
	program_of(core, 0)->p_offset += sizeof(*program);
}

static void has_its_stacks(const struct corefile *core, const char *description)
{
	struct pmp_error err;
	struct pmp_sample *sample = sample_of_bytes(core, core->length, &err);

	ok(sample && sample->thread_count == 3 && sample->threads[0].frame_count == 3 &&
		   sample->threads[2].frame_count == 3,
	   "%s", description);
	pmp_sample_free(sample);
}

static void move_start(Elf64_Phdr *program, uint64_t size)
{
	program->p_vaddr += size;
	program->p_offset += size;
	program->p_filesz -= size;
	program->p_memsz -= size;
}

static void check_pieces(void)
{
	struct corefile core;
	Elf64_Phdr first;

	core_make(&core, 3);
	move_start(program_of(&core, 2), 0x208);
	has_its_stacks(&core, "memory that begins within a page");
	free(core.bytes);

	core_make(&core, 3);
	first = *program_of(&core, 2);
	/* Between the two words of a frame record. */
	first.p_filesz = first.p_memsz = 0x418;
	move_start(program_of(&core, 2), 0x418);
	insert_program(&core, &first);
	has_its_stacks(&core, "memory in two pieces that meet within a page");
	free(core.bytes);
}

/* ---- cut off ------------------------------------------------------------------------------- */

static void check_cuts(void)
{
	size_t samples = 0, errors = 0, strange = 0, threads = 0, wrong = 0;
	struct pmp_error err;
	struct corefile core;

	core_make(&core, 3);
	for (size_t length = 0; length < core.length; length++) {
		struct pmp_sample *sample = sample_of_bytes(&core, length, &err);

		if (sample) {
			samples++;
			/* The longer the file, the more of it is there. */
			wrong += sample->thread_count < threads;
			threads = sample->thread_count;
		} else {
			errors++;
			strange += err.code != PMP_EFORMAT || !*err.message;
		}
		pmp_sample_free(sample);
	}
	is_int(strange, 0, "cut off at each byte: an error says so");
	is_int(wrong, 0, "or the threads that are left are there");
	ok(samples > core.length / 2 && errors > 64,
	   "both happen: %zu samples, %zu errors", samples, errors);
	free(core.bytes);
}

static void check_cut_memory(void)
{
	struct pmp_core_info info = { .size = sizeof(info) };
	struct pmp_core *opened;
	struct pmp_error err;
	struct corefile core;
	int fd;

	core_make(&core, 1);
	fd = file_of(&core, core.length - CORE_PAGE);
	is_int(pmp_core_open(fd, "core", NULL, &opened, &err), 0,
	       "a core without its last page is opened");
	pmp_core_info(opened, &info);
	ok(info.meant == core.length && info.length == core.length - CORE_PAGE,
	   "and it is known how long it was to be");
	pmp_core_close(opened);
	close(fd);
	free(core.bytes);
}

/* That of more than 65534 segments says at its very end how many there are. */
static void check_cut_count(void)
{
	struct pmp_core_file file;
	struct pmp_error err;
	struct corefile core;
	Elf64_Ehdr *header;
	int fd;

	core_make(&core, 3);
	header = (Elf64_Ehdr *)core.bytes;
	header->e_phnum = PN_XNUM;
	header->e_shoff = core.length;
	fd = file_of(&core, core.length);
	is_int(pmp_core_file_read(&file, fd, "core", &err), 0,
	       "a core whose number of segments was cut off is read");
	ok(file.thread_count == 3 && file.segment_count == 2, "with all of them");
	ok(file.meant > file.length, "and is known to be cut off");
	pmp_core_file_free(&file);
	close(fd);
	free(core.bytes);
}

/* ---- what is refused ------------------------------------------------------------------------- */

static void refused(size_t at, unsigned value, int code, const char *word,
		    const char *description)
{
	struct pmp_error err;
	struct corefile core;
	struct pmp_sample *sample;

	core_make(&core, 1);
	core.bytes[at] = (unsigned char)value;
	sample = sample_of_bytes(&core, core.length, &err);
	ok(!sample && err.code == code && strstr(err.message, word), "%s: %s",
	   description, sample ? "(it was read)" : err.message);
	pmp_sample_free(sample);
	free(core.bytes);
}

static void check_refusals(void)
{
	const size_t machine = offsetof(Elf64_Ehdr, e_machine);

	refused(EI_CLASS, ELFCLASS32, PMP_EUNSUPPORTED, "32-bit", "a 32-bit program");
	refused(machine, EM_RISCV, PMP_EUNSUPPORTED, "riscv",
		"a machine that pmp does not know");
	refused(offsetof(Elf64_Ehdr, e_type), ET_EXEC, PMP_EFORMAT, "not a core",
		"a program");
	refused(0, 'X', PMP_EFORMAT, "not a core", "something else");
	refused(offsetof(Elf64_Ehdr, e_phnum), 0, PMP_EFORMAT, "no thread",
		"no program headers");
}

/* Of the other byte order the type is as well. */
static void check_big_endian(void)
{
	struct pmp_error err;
	struct corefile core;
	struct pmp_sample *sample;

	core_make(&core, 1);
	core.bytes[EI_DATA] = ELFDATA2MSB;
	core.bytes[EI_NIDENT] = 0;
	core.bytes[EI_NIDENT + 1] = ET_CORE;
	sample = sample_of_bytes(&core, core.length, &err);
	ok(!sample && err.code == PMP_EUNSUPPORTED && strstr(err.message, "big-endian"),
	   "a big-endian machine");
	pmp_sample_free(sample);
	free(core.bytes);
}

/* ---- much, and lies ------------------------------------------------------------------------------ */

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void check_many_threads(void)
{
	double start = seconds();
	struct pmp_error err;
	struct corefile core;
	struct pmp_sample *sample;

	core_make(&core, MANY);
	sample = sample_of_bytes(&core, core.length, &err);
	ok(sample && sample->thread_count == MANY, "a core of %d threads", MANY);
	diag("%.2f s", seconds() - start);
	pmp_sample_free(sample);
	free(core.bytes);
}

/* All of it is at the end of a hole of 1 TB. */
static void check_sparse(void)
{
	const off_t terabyte = (off_t)1 << 40;
	struct pmp_error err;
	struct corefile core;
	struct pmp_sample *sample;
	Elf64_Phdr program = { .p_type = PT_LOAD,
			       .p_flags = PF_R | PF_W,
			       .p_vaddr = (uint64_t)1 << 44,
			       .p_memsz = (uint64_t)1 << 40,
			       .p_filesz = (uint64_t)1 << 40 };
	int fd;

	core_make(&core, 2);
	program.p_offset = core.length;
	insert_program(&core, &program);
	fd = file_of(&core, core.length);
	if (ftruncate(fd, terabyte + (off_t)core.length)) {
		skip("no files of 1 TB here");
	} else {
		sample = sample_of(fd, &err);
		ok(sample && sample->thread_count == 2,
		   "a core of 1 TB, most of it a hole");
		pmp_sample_free(sample);
	}
	close(fd);
	free(core.bytes);
}

/* How many mapped files are found behind two lists of them that are refused, so large. */
static size_t mappings_behind(uint32_t size)
{
	struct corefile core = { .machine = CORE_MACHINE };
	struct pmp_core_file file = { .arch = pmp_arch_here };
	unsigned char *none = calloc(1, size);
	size_t count;
	int fd;

	if (!none)
		exit(99);
	for (int i = 0; i < 2; i++)
		core_note(&core, NT_FILE, none, size);
	core_files(&core);
	fd = file_of(&core, core.length);
	file.length = core.length;
	if (pmp_core_notes_read(&file, fd, 0, core.length))
		exit(99);
	count = file.mapping_count;
	pmp_core_file_free(&file);
	close(fd);
	free(none);
	free(core.bytes);
	return count;
}

static void check_refused_lists(void)
{
	is_int(mappings_behind(16), 2, "mapped files behind lists that are none");
	is_int(mappings_behind((uint32_t)PMP_CORE_NOTE_MAX / 2), 0,
	       "not if those had as many bytes as are read of lists");
}

/* Program headers, notes and mappings that claim what cannot be. */
static void lie(size_t at, uint64_t value, size_t size, const char *description)
{
	struct pmp_error err;
	struct corefile core;
	struct pmp_sample *sample;

	core_make(&core, 2);
	core_put(core.bytes, at, value, size);
	sample = sample_of_bytes(&core, core.length, &err);
	ok(sample || *err.message, "%s: %s", description, sample ? "read" : err.message);
	pmp_sample_free(sample);
	free(core.bytes);
}

static void check_lies(void)
{
	const size_t header = sizeof(Elf64_Ehdr), size = sizeof(Elf64_Phdr);
	const size_t note = header + 3 * size;

	lie(offsetof(Elf64_Ehdr, e_phoff), UINT64_MAX - 8, 8,
	    "headers at the end of all");
	lie(offsetof(Elf64_Ehdr, e_phnum), PN_XNUM, 2, "as many headers as nowhere said");
	lie(offsetof(Elf64_Ehdr, e_phnum), 0xfffe, 2, "65534 headers");
	lie(header + offsetof(Elf64_Phdr, p_offset), UINT64_MAX - 4, 8, "notes far away");
	lie(header + offsetof(Elf64_Phdr, p_filesz), UINT64_MAX, 8, "notes without end");
	lie(header + size + offsetof(Elf64_Phdr, p_memsz), UINT64_MAX, 8,
	    "memory beyond the end");
	lie(header + size + offsetof(Elf64_Phdr, p_filesz), UINT64_MAX, 8,
	    "more in the file than in memory");
	lie(header + 2 * size + offsetof(Elf64_Phdr, p_vaddr), CODE + 0x10, 8,
	    "segments over each other");
	lie(note, UINT32_MAX, 4, "a name of 4 GB");
	lie(note + 4, UINT32_MAX, 4, "a note of 4 GB");
	lie(note + 4, 3, 4, "a thread of 3 bytes");
	lie(note + 20 + 32, UINT64_MAX, 4, "a thread with the id -1");
}

int main(void)
{
	check_file();
	check_sample(EM_X86_64, "x86-64");
	check_sample(EM_AARCH64, "aarch64");
	check_odd_number();
	check_lost_code();
	check_sender();
	check_pieces();
	check_cuts();
	check_cut_memory();
	check_cut_count();
	check_refusals();
	check_big_endian();
	check_many_threads();
	check_sparse();
	check_refused_lists();
	check_lies();
	return done_testing();
}
