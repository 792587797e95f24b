/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory of a process, which may end at any time: what it had mapped from files and could
 * not change is still read, from these.
 */
#include "lib/tap.h"

#include <malloc.h>
#include <sys/mman.h>

#include "lib/child.h"
#include "lib/folder.h"
#include "proc/maps.h"
#include "proc/memory.h"
#include "proc/open.h"

#define PAGE 4096u
#define FILE_SIZE 8192u
#define SHORT 5000u /* bytes of the file in the end */

static struct folder folder;

/* Where the child has mapped it: the test's addresses are the child's. */
static struct {
	char *code, *data, *anonymous;
} at;

static char *map(int fd, int prot, int flags)
{
	return mmap(NULL, FILE_SIZE, prot, MAP_PRIVATE | flags, fd, 0);
}

static bool wait_for_end(const struct child *self, void *arg)
{
	(void)self;
	(void)arg;
	memset(at.data, 'd', FILE_SIZE);
	memset(at.anonymous, 'a', FILE_SIZE);
	return true;
}

static bool map_all(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	at.code = map(fd, PROT_READ | PROT_EXEC, 0);
	at.data = map(fd, PROT_READ | PROT_WRITE, 0);
	at.anonymous = map(-1, PROT_READ | PROT_WRITE, MAP_ANONYMOUS);
	close(fd);
	return at.code != MAP_FAILED && at.data != MAP_FAILED &&
	       at.anonymous != MAP_FAILED;
}

static bool reads(struct pmp_memory *memory, const char *address, unsigned char wanted)
{
	unsigned char byte;

	return pmp_memory_read(memory, (uintptr_t)address, &byte, 1) && byte == wanted;
}

static bool is_refused(struct pmp_memory *memory, const char *address)
{
	unsigned char byte;

	return !pmp_memory_read(memory, (uintptr_t)address, &byte, 1);
}

static unsigned char byte_of_file(unsigned offset)
{
	return (unsigned char)(offset * 31 + offset / 256);
}

/* Nothing of before is in the cache. */
static void test_ended(const struct pmp_process *process, const struct pmp_maps *maps)
{
	struct pmp_memory *memory = pmp_memory_new();

	pmp_memory_use(memory, process->mem, maps);
	ok(reads(memory, at.code + 10, byte_of_file(10)), "ended: code, from its file");
	ok(reads(memory, at.code + SHORT - 1, byte_of_file(SHORT - 1)),
	   "ended: to the file's last byte");
	ok(reads(memory, at.code + SHORT, 0), "ended: zeros after it, as in memory");
	ok(is_refused(memory, at.data), "ended: not what it could write to");
	ok(is_refused(memory, at.anonymous), "ended: nor what is in no file");
	ok(is_refused(memory, NULL), "ended: nor what was not mapped");
	pmp_memory_use(memory, process->mem, NULL);
	ok(is_refused(memory, at.code), "ended: nothing where the maps are not known");
	pmp_memory_free(memory);
}

static void test_memory(struct child *child)
{
	struct pmp_memory *memory = pmp_memory_new();
	struct pmp_maps *maps = NULL;
	struct pmp_process process;
	uint32_t next_id = 0;

	if (!ok(memory && pmp_process_open(child->pid, &process, NULL) == 0 &&
			pmp_maps_read(&process, NULL, &next_id, NULL, &maps, NULL) == 0,
		"a process with a file"))
		return;
	pmp_memory_use(memory, process.mem, maps);
	ok(reads(memory, at.code + PAGE, byte_of_file(PAGE)), "code");
	ok(reads(memory, at.data, 'd') && reads(memory, at.anonymous, 'a'), "data");
	child_end(child);
	test_ended(&process, maps);
	pmp_memory_tick(memory);
	ok(is_refused(memory, at.data) && is_refused(memory, at.anonymous),
	   "data of an earlier snapshot is forgotten");
	pmp_maps_unref(maps);
	pmp_process_close(&process);
	pmp_memory_free(memory);
}

#define MANY 80	    /* processes */
#define PAGES 2048u /* of each: as many as are kept of one */

/* Pages that begin with their numbers, read as the memory of many processes. */
static void test_many(void)
{
	struct pmp_memory *all[MANY];
	const int fd = memfd_create("mem", MFD_CLOEXEC);
	size_t right = 0;

	for (uint64_t i = 0; i < PAGES; i++)
		if (pwrite(fd, &i, sizeof(i), (off_t)(i * PAGE)) != sizeof(i) ||
		    ftruncate(fd, (off_t)PAGES * PAGE))
			abort();
	for (size_t k = 0; k < MANY; k++) {
		all[k] = pmp_memory_new();
		pmp_memory_use(all[k], fd, NULL);
		for (uint64_t i = 0, number = 0; i < PAGES; i++)
			right += pmp_memory_read(all[k], i * PAGE, &number,
						 sizeof(number)) &&
				 number == i;
	}
	is_int((long long)right, MANY * PAGES, "the memory of many processes");
	ok(mallinfo2().uordblks < (size_t)300 << 20,
	   "what is kept of it all together has a limit");
	for (size_t k = 0; k < MANY; k++)
		pmp_memory_free(all[k]);
	close(fd);
}

int main(void)
{
	struct child child = { 0 };
	char path[PATH_MAX];

	if (ok(folder_make(&folder) &&
		       file_write(folder_path(&folder, "code", path), 0) &&
		       truncate(path, SHORT) == 0 && map_all(path),
	       "a file") &&
	    ok(child_start(&child, wait_for_end, NULL), "a process"))
		test_memory(&child);
	child_end(&child);
	folder_remove(&folder);
	test_many();
	return done_testing();
}
