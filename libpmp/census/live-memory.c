/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See live-memory.h. pagemap has 8 bytes for each page: bit 63, it is in memory; bit 62,
 * it is swapped out. Without CAP_SYS_ADMIN it shows only these two.
 */
#include "census/live-memory.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/fault.h"
#include "base/file.h"
#include "census/effort.h"

#define IN_MEMORY (UINT64_C(1) << 63)
#define SWAPPED (UINT64_C(1) << 62)
#define RESTS_FROM PMP_MS /* shorter ones are not worth a call */
#define REST_MAX (100 * PMP_MS)
#define AGAIN_REST 250000 /* ns, times the square of the number of tries */
#define PERCENT 100
#define PAGES_BEFORE 64 /* at most, read before the wanted one: lists go both ways */

int pmp_live_memory_open(const struct pmp_process *process, struct pmp_live_memory *live,
			 struct pmp_error *err)
{
	int proc = pmp_process_live(process), error;

	*live = (struct pmp_live_memory){
		.mem = process->mem,
		.pagemap = -1,
		.page_size = (uint64_t)sysconf(_SC_PAGESIZE),
		.first = UINT64_MAX,
		.start = pmp_clock(),
		.start_cpu = pmp_clock_cpu(),
	};
	if (proc < 0)
		return pmp_error_sys(err, PMP_ESRCH, -proc, "cannot read the heap of %d",
				     (int)process->pid);
	live->pagemap = openat(proc, "pagemap", O_RDONLY | O_CLOEXEC);
	error = errno;
	close(proc);
	if (live->pagemap >= 0)
		return 0;
	return pmp_error_sys(
		err, error == EACCES || error == EPERM ? PMP_EPERM : PMP_EIO, error,
		"cannot read the heap of %d: which of its pages are in memory "
		"is not known, /proc/%d/pagemap",
		(int)process->pid, (int)process->pid);
}

void pmp_live_memory_close(struct pmp_live_memory *live)
{
	if (live->pagemap >= 0)
		close(live->pagemap);
	live->pagemap = -1;
}

static void live_again(void *arg, unsigned times)
{
	const struct timespec time = { .tv_nsec = (long)times * times * AGAIN_REST };
	struct pmp_live_memory *live = arg;

	live->first = UINT64_MAX;
	if (times)
		nanosleep(&time, NULL);
}

static bool live_read(void *arg, uint64_t address, void *data, size_t length)
{
	struct pmp_live_memory *live = arg;

	return address <= INT64_MAX - length &&
	       pmp_file_pread(live->mem, data, length, address) == (ssize_t)length;
}

static uint8_t page_of(uint64_t entry)
{
	if (PMP_FAULT("ignore-pagemap"))
		return PMP_PAGE_PRESENT;
	if (entry & IN_MEMORY)
		return PMP_PAGE_PRESENT;
	return entry & SWAPPED ? PMP_PAGE_SWAPPED : PMP_PAGE_ABSENT;
}

/* Read the part that begins with this page (in units of PMP_CENSUS_PAGE). */
static bool load(struct pmp_live_memory *live, uint64_t first)
{
	const uint64_t each = live->page_size / PMP_CENSUS_PAGE;
	const uint64_t from = first / each;
	uint64_t entries[PMP_LIVE_PAGES + 1];
	const size_t count = PMP_LIVE_PAGES / each + 1;
	ssize_t got = pmp_file_pread(live->pagemap, entries, count * sizeof(*entries),
				     from * sizeof(*entries));

	if (got < 0)
		return false;
	for (size_t i = 0; i < PMP_LIVE_PAGES; i++) {
		const uint64_t at = (first + i) / each - from;

		live->kept[i] = at < (uint64_t)got / sizeof(*entries)
					? page_of(entries[at])
					: PMP_PAGE_ABSENT;
	}
	live->first = first;
	return true;
}

static bool live_pages(void *arg, uint64_t address, size_t count, uint8_t *pages)
{
	struct pmp_live_memory *live = arg;
	uint64_t page = address / PMP_CENSUS_PAGE;

	while (count) {
		size_t at, some;

		if (live->first == UINT64_MAX || page < live->first ||
		    page - live->first >= PMP_LIVE_PAGES) {
			if (!load(live, page - page % PAGES_BEFORE))
				return false;
		}
		at = (size_t)(page - live->first);
		some = PMP_LIVE_PAGES - at;
		if (some > count)
			some = count;
		memcpy(pages, live->kept + at, some);
		pages += some;
		page += some;
		count -= some;
	}
	return true;
}

/* Rest until the CPU usage is within max_cpu again. */
static void live_rest(void *arg)
{
	struct pmp_live_memory *live = arg;
	uint64_t due, gone, left;

	if (live->alive)
		live->alive(live->alive_arg);
	while (live->max_cpu) {
		struct timespec time = { 0 };

		due = (pmp_clock_cpu() - live->start_cpu) * PERCENT / live->max_cpu;
		gone = pmp_clock() - live->start;
		if (due <= gone + RESTS_FROM)
			return;
		left = due - gone;
		time.tv_nsec = (long)(left < REST_MAX ? left : REST_MAX - 1);
		nanosleep(&time, NULL);
		if (live->alive)
			live->alive(live->alive_arg);
	}
}

struct pmp_census_memory pmp_live_memory_use(struct pmp_live_memory *live)
{
	return (struct pmp_census_memory){
		.read = live_read,
		.pages = live_pages,
		.rest = live_rest,
		.again = live_again,
		.arg = live,
		.effort = PMP_EFFORT_MAX,
	};
}

bool pmp_census_peek(const struct pmp_census_memory *memory, uint64_t address, void *data,
		     size_t length)
{
	const uint64_t first = address / PMP_CENSUS_PAGE;
	uint8_t pages[2];
	size_t count;

	if (!length || length > PMP_CENSUS_PAGE || address > UINT64_MAX - length)
		return false;
	count = (size_t)((address + length - 1) / PMP_CENSUS_PAGE - first) + 1;
	if (!memory->pages(memory->arg, first * PMP_CENSUS_PAGE, count, pages))
		return false;
	for (size_t i = 0; i < count; i++)
		if (pages[i] != PMP_PAGE_PRESENT)
			return false;
	return memory->read(memory->arg, address, data, length);
}
