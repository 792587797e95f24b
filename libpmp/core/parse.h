/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parses ELF core files: see elf(5), core(5), the kernel's fs/binfmt_elf.c and
 * uapi/linux/elfcore.h. The file is read with pread, because it may be truncated anywhere,
 * be sparse and of any size, and lie about everything.
 *
 *   ELF header -> program headers -> PT_LOAD: memory, with what of it is in the file
 *                                 -> PT_NOTE: NT_PRSTATUS   a thread and its registers
 *                                             NT_PRPSINFO   name, id and arguments
 *                                             NT_SIGINFO    the signal that ended it
 *                                             NT_AUXV       where the program is
 *                                             NT_FILE       which files are mapped where
 */
#ifndef PMP_CORE_PARSE_H
#define PMP_CORE_PARSE_H

#include "base/buf.h"
#include "libpmp.h"
#include "sample.h"
#include "unwind/arch.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PMP_CORE_SEGMENTS_MAX ((size_t)4 << 20)
#define PMP_CORE_MAPPINGS_MAX ((size_t)1 << 18)
#define PMP_CORE_THREADS_MAX ((size_t)1 << 19) /* each takes 1.3 KiB in total */
#define PMP_CORE_FRAMES_MAX ((size_t)8 << 20)  /* beyond that, each thread has one */
#define PMP_CORE_NOTE_MAX ((size_t)64 << 20)   /* of all NT_FILE, each read whole */

/* Memory of the process. */
struct pmp_core_segment {
	uint64_t start, end;   /* start must be first, see base/search.h */
	uint64_t offset, size; /* its part in the file, from its start on */
	unsigned prot;	       /* PMP_PROT_ */
	bool cut;	       /* more of it was in the file before truncation */
};

/* A mapped file. */
struct pmp_core_mapping {
	uint64_t start, end;
	uint64_t offset; /* in that file */
	size_t path;	 /* its offset in paths */
};

struct pmp_core_thread {
	pid_t tid;
	uint64_t tls;			    /* 0: not known */
	uint64_t words[PMP_ARCH_WORDS_MAX]; /* registers, as NT_PRSTATUS has them */
};

struct pmp_core_file {
	const struct pmp_arch *arch;
	uint64_t length; /* of the file */
	uint64_t meant;	 /* its length by its headers; more: it has been cut off */
	struct pmp_core_segment *segments; /* ascending, disjoint */
	size_t segment_count, segment_capacity;
	struct pmp_core_mapping *mappings; /* likewise */
	size_t mapping_count, mapping_capacity;
	struct pmp_buf paths;		 /* each with its NUL */
	size_t lists_read;		 /* bytes of NT_FILE that were read */
	struct pmp_core_thread *threads; /* ascending ids */
	size_t thread_count, thread_capacity;
	size_t threads_left_out; /* beyond the limit */
	unsigned note_segments;	 /* seen so far */
	struct pmp_crash crash;
	pid_t pid; /* 0: not known */
	char name[PMP_NAME_SIZE];
	uint64_t program; /* an address in it (its program headers); 0: not known */
	uint64_t vdso;	  /* where it begins; 0: not known */
	bool has_psinfo;
	int status_signal; /* of the first thread */
	bool no_changes;   /* memory that the process has changed is left out, stacks are:
			    * coredump_filter in core(5) */
};

/* Is this the beginning of a core file, of whatever machine? */
bool pmp_core_file_is(const void *data, size_t length);
/*
 * Read it. name is for messages. Returns 0, PMP_EFORMAT (not a core file, or no thread is
 * left), PMP_EUNSUPPORTED (of another machine or a 32-bit program), PMP_EIO or PMP_ENOMEM.
 * To be freed in any case.
 */
int pmp_core_file_read(struct pmp_core_file *core, int fd, const char *name,
		       struct pmp_error *err);
void pmp_core_file_free(struct pmp_core_file *core);

/* The segment of an address, or NULL. */
const struct pmp_core_segment *pmp_core_file_segment(const struct pmp_core_file *core,
						     uint64_t address);

/* notes.c: take over what the notes of length bytes at an offset say. 0, PMP_EIO or
 * PMP_ENOMEM; what is damaged ends them. */
int pmp_core_notes_read(struct pmp_core_file *core, int fd, uint64_t offset,
			uint64_t length);

#endif
