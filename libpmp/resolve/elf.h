/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One ELF file, opened through a descriptor and read with pread(): truncating it
 * while it is read gives an error and not a SIGBUS. Its contents are untrusted:
 * sizes are checked against the file and against limits.
 */
#ifndef PMP_RESOLVE_ELF_H
#define PMP_RESOLVE_ELF_H

#include <elfutils/libdw.h>
#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "base/buf.h"

#define PMP_BUILD_ID_SIZE 64 /* the longest one we accept; 20 is usual */
#define PMP_BUILD_ID_TEXT (2 * PMP_BUILD_ID_SIZE + 1)

/* A piece of the file that is mapped for execution. */
struct pmp_elf_code {
	uint64_t offset, size; /* in the file */
	uint64_t address;      /* in ELF addresses */
};

struct pmp_elf {
	Elf *elf;      /* NULL: not open */
	Dwarf *dwarf;  /* see pmp_elf_dwarf() */
	Elf *unpacked; /* the unpacked copy that dwarf reads; NULL: it reads elf */
	void *unpacked_image;
	struct pmp_unpacking *unpacking; /* the making of unpacked_image, or NULL */
	bool dwarf_fits; /* within limits; sections that libdw need not read are hidden */
	int fd;		 /* owned, or -1 */
	int from;	 /* borrowed: the descriptor that elf is read from, or -1 */
	void *image;	 /* owned, or NULL */
	uint64_t size;	 /* of the file */
	uint64_t most;	 /* limit for bytes to read, from the space used on disk */
	size_t sections; /* only those up to this index are read, to limit the total */
	struct timespec written; /* its mtime when it was opened */
	struct pmp_elf_code *code;
	size_t code_count;
	unsigned char build_id[PMP_BUILD_ID_SIZE];
	size_t build_id_size; /* 0: none */
};

/* A closed file; pmp_elf_close() takes it. */
#define PMP_ELF_EMPTY \
	{ \
		.fd = -1, .from = -1 \
	}

/*
 * Open a file; fd is borrowed and must stay open while *elf is. Returns NULL or
 * the reason in English, and then *elf is empty. Executables, libraries and
 * their debug files of this machine's word size and byte order only.
 */
const char *pmp_elf_open(struct pmp_elf *elf, int fd);
/* The same for a memory image (the vDSO's), which is borrowed too. */
const char *pmp_elf_open_image(struct pmp_elf *elf, const void *image, size_t size);
/* Close the file but keep code and build_id. */
void pmp_elf_release(struct pmp_elf *elf);
/* Free everything; takes PMP_ELF_EMPTY, leaves PMP_ELF_EMPTY. */
void pmp_elf_close(struct pmp_elf *elf);

/* Has the file been written to since it was opened? */
bool pmp_elf_written(const struct pmp_elf *elf);
/* The ELF address of a file offset in an executable segment. False: it is in none. */
bool pmp_elf_address(const struct pmp_elf *elf, uint64_t offset, uint64_t *address);
/* The first section of that name, or NULL; *header is filled. */
Elf_Scn *pmp_elf_section(const struct pmp_elf *elf, const char *name, GElf_Shdr *header);
/* The contents of a section; NULL: absent, damaged or too large. */
const Elf_Data *pmp_elf_data(const struct pmp_elf *elf, Elf_Scn *section);
/* Read size bytes of a section, from an offset on. False: not all of them exist. */
bool pmp_elf_read(const struct pmp_elf *elf, Elf_Scn *section, uint64_t offset, void *to,
		  size_t size);
/* Append the contents of a section to buf. False: likewise, or out of memory: then buf has
 * failed. */
bool pmp_elf_append(const struct pmp_elf *elf, Elf_Scn *section, struct pmp_buf *buf);
/* Does it have .debug_info? Reads the names of sections. */
bool pmp_elf_has_dwarf(const struct pmp_elf *elf);
/*
 * Start unpacking its debug information, with or without line numbers, in a thread
 * if it is large; pmp_elf_dwarf() waits for that.
 */
void pmp_elf_prepare_dwarf(struct pmp_elf *elf, bool lines);
/*
 * Its debug information, opened at the first call as it was prepared; NULL: none,
 * damaged or too large. To be called within pmp_libdw_run().
 */
Dwarf *pmp_elf_dwarf(struct pmp_elf *elf);
/*
 * Does each section of strings end with a NUL? libdw relies on that. Unpacks
 * compressed sections, as libdw does.
 */
bool pmp_elf_strings_end(Elf *elf);
/* A build-id in lower-case hex, "" if there is none; one that is too long is cut. */
void pmp_elf_build_id_text(const unsigned char *id, size_t size,
			   char text[PMP_BUILD_ID_TEXT]);
/* Are both build-ids known and equal? */
bool pmp_elf_same_build(const struct pmp_elf *a, const struct pmp_elf *b);

#endif
