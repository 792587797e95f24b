/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The page cache in front of /proc/PID/mem: a direct-mapped table whose slots
 * get a page on first use. No thread is held while it is read, so only memory
 * that does not change may be read through it; the walk's reader (stack-copy.c)
 * ensures that.
 */
#include "proc/memory.h"

#include "base/file.h"
#include "base/hash.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define PAGE 4096u
#define SLOTS 2048u	 /* 8 MiB when all are in use */
#define PAGES_MAX 65536u /* of all processes together: 256 MiB */

struct page_slot {
	uint64_t page; /* its address; 1: empty (never the address of a page) */
	uint64_t tick; /* valid in this snapshot only; 0: until the maps change */
	unsigned char *data;
};

struct pmp_memory {
	int fd;
	const struct pmp_maps *maps;
	uint64_t tick;
	struct page_slot slots[SLOTS];
	unsigned char spare[PAGE]; /* for pages that cannot be cached */
};

static atomic_uint pages_kept;

struct pmp_memory *pmp_memory_new(void)
{
	struct pmp_memory *memory = calloc(1, sizeof(*memory));

	if (!memory)
		return NULL;
	pmp_memory_use(memory, -1, NULL);
	return memory;
}

void pmp_memory_free(struct pmp_memory *memory)
{
	if (!memory)
		return;
	for (size_t i = 0; i < SLOTS; i++) {
		pages_kept -= memory->slots[i].data != NULL;
		free(memory->slots[i].data);
	}
	free(memory);
}

void pmp_memory_use(struct pmp_memory *memory, int fd, const struct pmp_maps *maps)
{
	memory->fd = fd;
	memory->maps = maps;
	memory->tick = 1;
	for (size_t i = 0; i < SLOTS; i++)
		memory->slots[i].page = 1;
}

void pmp_memory_tick(struct pmp_memory *memory)
{
	memory->tick++;
}

bool pmp_region_is_volatile(const struct pmp_region *region)
{
	return (region->prot & PMP_PROT_WRITE) &&
	       (region->module->kind == PMP_MODULE_ANON ||
		region->module->kind == PMP_MODULE_SPECIAL);
}

static bool is_constant(const struct pmp_maps *maps, uint64_t page)
{
	const struct pmp_region *region = maps ? pmp_maps_find(maps, page) : NULL;

	return region && !(region->prot & PMP_PROT_WRITE) &&
	       (region->module->kind == PMP_MODULE_FILE ||
		region->module->kind == PMP_MODULE_VDSO);
}

/*
 * The process may exit during a walk: call-frame information and code are also in the
 * files it had mapped. (So is relocated data, but unrelocated; no stack needs that.)
 */
static bool read_file(const struct pmp_maps *maps, uint64_t page, unsigned char *data)
{
	const struct pmp_region *region = maps ? pmp_maps_find(maps, page) : NULL;
	ssize_t n;

	if (!is_constant(maps, page) || region->module->fd < 0)
		return false;
	n = pmp_file_pread(region->module->fd, data, PAGE,
			   page - region->start + region->offset);
	if (n <= 0)
		return false;
	memset(data + n, 0, PAGE - (size_t)n);
	return true;
}

static bool read_page(const struct pmp_memory *memory, uint64_t page, unsigned char *data)
{
	return pmp_file_pread(memory->fd, data, PAGE, page) == PAGE ||
	       read_file(memory->maps, page, data);
}

/* A buffer for the page of a slot, or NULL. */
static unsigned char *slot_data(struct page_slot *slot)
{
	if (slot->data || pages_kept >= PAGES_MAX)
		return slot->data;
	slot->data = malloc(PAGE);
	pages_kept += slot->data != NULL;
	return slot->data;
}

static const unsigned char *get_page(struct pmp_memory *memory, uint64_t page)
{
	struct page_slot *slot = &memory->slots[pmp_hash(page / PAGE) & (SLOTS - 1)];

	if (slot->page == page && (!slot->tick || slot->tick == memory->tick))
		return slot->data;
	if (page > INT64_MAX - PAGE)
		return NULL;
	if (!slot_data(slot))
		return read_page(memory, page, memory->spare) ? memory->spare : NULL;
	slot->page = 1;
	if (!read_page(memory, page, slot->data))
		return NULL;
	slot->page = page;
	slot->tick = is_constant(memory->maps, page) ? 0 : memory->tick;
	return slot->data;
}

bool pmp_memory_read(void *arg, uint64_t address, void *data, size_t length)
{
	struct pmp_memory *memory = arg;
	char *to = data;

	while (length > 0) {
		uint64_t at = address & (PAGE - 1);
		size_t chunk = length < PAGE - at ? length : PAGE - at;
		const unsigned char *page = get_page(memory, address - at);

		if (!page)
			return false;
		memcpy(to, page + at, chunk);
		to += chunk;
		address += chunk;
		length -= chunk;
	}
	return true;
}
