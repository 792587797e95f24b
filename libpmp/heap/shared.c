/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See shared.h. */
#include "heap/shared.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/fault.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef MFD_EXEC
#define MFD_NOEXEC_SEAL 0x8u /* Linux 6.3; may be required (vm.memfd_noexec) */
#define MFD_EXEC 0x10u
#endif

/* Linux before 6.3 does not know these flags. */
static int new_memory(const char *name, unsigned flag)
{
	const unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
	int fd = memfd_create(name, flags | flag);

	return fd < 0 && errno == EINVAL ? memfd_create(name, flags) : fd;
}

extern const unsigned char pmp_heap_library_bytes[];
extern const uint64_t pmp_heap_library_size;

#ifdef PMP_FAULTS
#define RECORDER_FILE "libpmp/heap/libpmp-heap-faulty.so"
#else
#define RECORDER_FILE "libpmp/heap/libpmp-heap.so"
#endif

/* Embed the file that the build has made of the recorder. */
__asm__(".pushsection .rodata\n"
	".balign 16\n"
	".global pmp_heap_library_bytes, pmp_heap_library_size\n"
	".hidden pmp_heap_library_bytes\n"
	".hidden pmp_heap_library_size\n"
	"pmp_heap_library_bytes:\n"
	".incbin \"" RECORDER_FILE "\"\n"
	"0:\n"
	".balign 8\n"
	"pmp_heap_library_size:\n"
	".quad 0b - pmp_heap_library_bytes\n"
	".popsection\n");

static bool map_ring(struct pmp_heap_shared *shared, int fd)
{
	const size_t size = PMP_HEAP_RING_SIZE;
	unsigned char *room = mmap(NULL, 2 * size, PROT_NONE,
				   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (room == MAP_FAILED)
		return false;
	shared->ring = room;
	for (unsigned i = 0; i < 2; i++)
		if (mmap(room + i * size, size, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_FIXED, fd, PMP_HEAP_RING_OFFSET) == MAP_FAILED)
			return false;
	return true;
}

static int map(int fd, struct pmp_heap_shared *shared, struct pmp_error *err)
{
	unsigned char *at;

	*shared = (struct pmp_heap_shared){ 0 };
	at = mmap(NULL, PMP_HEAP_RING_OFFSET, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED)
		return pmp_error_sys(err, PMP_ENOMEM, errno,
				     "cannot map the memory of a recorder");
	shared->header = (struct pmp_heap_header *)(void *)at;
	at += sizeof(*shared->header);
	shared->processes = (struct pmp_heap_process *)(void *)at;
	at += sizeof(*shared->processes) * PMP_HEAP_PROCESSES;
	shared->slots = (struct pmp_heap_slot *)(void *)at;
	if (map_ring(shared, fd))
		return 0;
	pmp_error_sys(err, PMP_ENOMEM, errno, "cannot map the memory of a recorder");
	pmp_heap_shared_close(shared);
	return PMP_ENOMEM;
}

void pmp_heap_shared_close(struct pmp_heap_shared *shared)
{
	if (shared->header)
		munmap(shared->header, PMP_HEAP_RING_OFFSET);
	if (shared->ring)
		munmap(shared->ring, 2 * PMP_HEAP_RING_SIZE);
	*shared = (struct pmp_heap_shared){ 0 };
}

static void fill_header(struct pmp_heap_header *header,
			const struct pmp_heap_settings *settings)
{
	*header = (struct pmp_heap_header){
		.magic = PMP_HEAP_MAGIC,
		.size = PMP_HEAP_MEMORY_SIZE,
		.ring_offset = PMP_HEAP_RING_OFFSET,
		.ring_size = PMP_HEAP_RING_SIZE,
		.flags = settings->flags,
		.max_stack = settings->max_stack,
		.rate = settings->rate,
		.heartbeat = pmp_clock(),
	};
}

int pmp_heap_shared_new(const struct pmp_heap_settings *settings,
			struct pmp_heap_shared *shared, int *fd, struct pmp_error *err)
{
	int r;

	*fd = new_memory("pmp-heap", MFD_NOEXEC_SEAL);
	if (*fd < 0)
		return pmp_error_sys(err, PMP_EUNSUPPORTED, errno,
				     "cannot make memory for a recorder");
	if (ftruncate(*fd, PMP_HEAP_MEMORY_SIZE) < 0 ||
	    fcntl(*fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0) {
		r = pmp_error_sys(err, PMP_ENOMEM, errno,
				  "cannot make memory for a recorder");
		goto fail;
	}
	r = map(*fd, shared, err);
	if (r < 0)
		goto fail;
	fill_header(shared->header, settings);
	return 0;
fail:
	close(*fd);
	*fd = -1;
	return r;
}

int pmp_heap_shared_open(int fd, struct pmp_heap_shared *shared, struct pmp_error *err)
{
	const int seals = fcntl(fd, F_GET_SEALS);
	struct pmp_heap_header header;
	struct stat stat;

	if (seals < 0 || !(seals & F_SEAL_SHRINK) || fstat(fd, &stat) < 0 ||
	    pread(fd, &header, sizeof(header), 0) != sizeof(header) ||
	    header.magic != PMP_HEAP_MAGIC ||
	    header.ring_offset != PMP_HEAP_RING_OFFSET ||
	    header.ring_size != PMP_HEAP_RING_SIZE ||
	    (uint64_t)stat.st_size < PMP_HEAP_MEMORY_SIZE)
		return pmp_error_set(
			err, PMP_EFORMAT,
			"this is not the memory of a recorder of this version");
	return map(fd, shared, err);
}

/* ---- the library ------------------------------------------------------------------------ */

static bool write_all(int fd)
{
	const unsigned char *at = pmp_heap_library_bytes;
	size_t left = pmp_heap_library_size;

	while (left) {
		ssize_t n = write(fd, at, left);

		if (n <= 0)
			return false;
		at += n;
		left -= (size_t)n;
	}
	return true;
}

/* If memory may not be executed (vm.memfd_noexec), use an unnamed temporary file. */
static int open_file(void)
{
	const char *folder = getenv("TMPDIR");
	char path[64];
	int fd, again, number;

	fd = open(folder && *folder == '/' ? folder : "/tmp",
		  O_TMPFILE | O_RDWR | O_CLOEXEC, 0500);
	if (fd < 0)
		return fd;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	again = write_all(fd) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	number = errno;
	close(fd);
	errno = number;
	return again;
}

int pmp_heap_library(int *fd, struct pmp_error *err)
{
	*fd = PMP_FAULT("memfd-noexec") ? -1 : new_memory("pmp-heap-library", MFD_EXEC);
	if (*fd >= 0 && write_all(*fd) &&
	    fcntl(*fd, F_ADD_SEALS,
		  F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) == 0)
		return 0;
	if (*fd >= 0)
		close(*fd);
	*fd = open_file();
	if (*fd >= 0)
		return 0;
	return pmp_error_sys(err, PMP_EUNSUPPORTED, errno,
			     "cannot make a file of the recorder");
}
