/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/memory.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/hash.h"

#define PAGE 4096u
#define SLOTS 4096u	     /* 16 MiB when all are in use */
#define PARTS_MAX (4u << 20) /* in total, partial pages that are read */

/* A cached page, or a part of it that belongs to one segment and one file, or to none. */
struct core_page {
	uint64_t first, last; /* bytes covered; first > last: unused */
	size_t length;	      /* readable bytes, from first on */
	unsigned char *data;
};

struct pmp_core_memory {
	const struct pmp_core_file *core;
	int fd;
	const struct pmp_maps *maps;
	pmp_core_opener *opener;
	void *arg;
	size_t parts; /* read so far */
	struct core_page slots[SLOTS];
};

static void forget(struct pmp_core_memory *memory)
{
	for (size_t i = 0; i < SLOTS; i++) {
		memory->slots[i].first = 1;
		memory->slots[i].last = 0;
	}
}

struct pmp_core_memory *pmp_core_memory_new(const struct pmp_core_file *core, int fd)
{
	struct pmp_core_memory *memory = calloc(1, sizeof(*memory));

	if (!memory)
		return NULL;
	memory->core = core;
	memory->fd = fd;
	forget(memory);
	return memory;
}

void pmp_core_memory_free(struct pmp_core_memory *memory)
{
	if (!memory)
		return;
	for (size_t i = 0; i < SLOTS; i++)
		free(memory->slots[i].data);
	free(memory);
}

void pmp_core_memory_use(struct pmp_core_memory *memory, const struct pmp_maps *maps,
			 pmp_core_opener *opener, void *arg)
{
	memory->maps = maps;
	memory->opener = opener;
	memory->arg = arg;
	forget(memory);
}

static size_t read_at(int fd, uint64_t offset, void *data, size_t length)
{
	ssize_t got = offset < INT64_MAX - length
			      ? pmp_file_pread(fd, data, length, offset)
			      : 0;

	return got > 0 ? (size_t)got : 0;
}

/* Memory that the core omits is unchanged since it was mapped, unless the core is
 * truncated there, or omits changed memory. */
static size_t read_file(const struct pmp_core_memory *memory,
			const struct core_page *page, const struct pmp_region *region,
			const struct pmp_core_segment *segment)
{
	const bool was_cut = segment && segment->cut;

	if (region->module->fd < 0 ||
	    (region->prot & PMP_PROT_WRITE && (was_cut || memory->core->no_changes)))
		return 0;
	return read_at(region->module->fd, page->first - region->start + region->offset,
		       page->data, page->last - page->first + 1);
}

static void narrow(struct core_page *page, uint64_t start, uint64_t end)
{
	if (page->first < start)
		page->first = start;
	if (page->last > end - 1)
		page->last = end - 1;
}

static void fill(struct pmp_core_memory *memory, struct core_page *page, uint64_t address)
{
	const struct pmp_core_segment *segment =
		pmp_core_file_segment(memory->core, address);
	const struct pmp_region *region =
		memory->maps ? pmp_maps_find(memory->maps, address) : NULL;
	bool has = segment && address - segment->start < segment->size;

	page->first = address & ~(uint64_t)(PAGE - 1);
	page->last = page->first + (PAGE - 1);
	page->length = 0;
	/* The unwinder also reads unmapped parts of the file, so it must be open. */
	if (region && region->module->kind == PMP_MODULE_FILE)
		memory->opener(memory->arg, region->module);
	if (!segment && !region) {
		narrow(page, address, address + 1);
		return;
	}
	if (region)
		narrow(page, region->start, region->end);
	if (has)
		narrow(page, segment->start, segment->start + segment->size);
	else if (segment)
		narrow(page, segment->start + segment->size, segment->end);
	/* Tiny segments would take one read each. */
	if (page->last - page->first < PAGE - 1 && ++memory->parts > PARTS_MAX)
		return;
	if (has)
		page->length = read_at(memory->fd,
				       segment->offset + (page->first - segment->start),
				       page->data, page->last - page->first + 1);
	if (!page->length && region && region->module->kind == PMP_MODULE_FILE)
		page->length = read_file(memory, page, region, segment);
}

static const struct core_page *get_page(struct pmp_core_memory *memory, uint64_t address)
{
	struct core_page *slot = &memory->slots[pmp_hash(address / PAGE) & (SLOTS - 1)];

	if (slot->first <= address && address <= slot->last)
		return slot;
	if (!slot->data)
		slot->data = malloc(PAGE);
	if (!slot->data)
		return NULL;
	fill(memory, slot, address);
	return slot;
}

bool pmp_core_memory_read(void *arg, uint64_t address, void *data, size_t length)
{
	struct pmp_core_memory *memory = arg;
	char *to = data;

	while (length > 0) {
		const struct core_page *page = get_page(memory, address);
		size_t at = page ? address - page->first : 0, chunk;

		if (!page || page->length <= at)
			return false;
		chunk = length < page->length - at ? length : page->length - at;
		memcpy(to, page->data + at, chunk);
		to += chunk;
		address += chunk;
		length -= chunk;
	}
	return true;
}
