/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/memory.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/hash.h"

#define PAGE 4096u
#define SLOTS 4096u /* 16 MiB when all are in use */
#define EMPTY 1u    /* no page's address */

struct core_page {
	uint64_t page;
	size_t length; /* of what can be read of it, from its start on */
	unsigned char *data;
};

struct pmp_core_memory {
	const struct pmp_core_file *core;
	int fd;
	const struct pmp_maps *maps;
	pmp_core_opener *opener;
	void *arg;
	struct core_page slots[SLOTS];
};

static void forget(struct pmp_core_memory *memory)
{
	for (size_t i = 0; i < SLOTS; i++)
		memory->slots[i].page = EMPTY;
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

/* What the core leaves out has not been changed since it was mapped, unless the core was cut
 * off there. */
static size_t read_file(const struct pmp_core_memory *memory,
			const struct pmp_region *region, uint64_t page, void *data)
{
	const struct pmp_core_segment *segment =
		pmp_core_file_segment(memory->core, page);
	const size_t length = region->end - page < PAGE ? region->end - page : PAGE;

	if (region->module->fd < 0 ||
	    (segment && segment->cut && segment->prot & PMP_PROT_WRITE))
		return 0;
	return read_at(region->module->fd, page - region->start + region->offset, data,
		       length);
}

static size_t read_core(const struct pmp_core_memory *memory, uint64_t page, void *data)
{
	const struct pmp_core_segment *segment =
		pmp_core_file_segment(memory->core, page);
	uint64_t at, left;

	if (!segment)
		return 0;
	at = page - segment->start;
	if (at >= segment->size)
		return 0;
	left = segment->size - at;
	return read_at(memory->fd, segment->offset + at, data, left < PAGE ? left : PAGE);
}

static const struct core_page *get_page(struct pmp_core_memory *memory, uint64_t page)
{
	struct core_page *slot = &memory->slots[pmp_hash(page / PAGE) & (SLOTS - 1)];
	const struct pmp_region *region;

	if (slot->page == page)
		return slot;
	if (!slot->data)
		slot->data = malloc(PAGE);
	if (!slot->data)
		return NULL;
	/* Who unwinds asks the file for what is not mapped as well: it has to be open. */
	region = memory->maps ? pmp_maps_find(memory->maps, page) : NULL;
	if (region && region->module->kind == PMP_MODULE_FILE)
		memory->opener(memory->arg, region->module);
	else
		region = NULL;
	slot->page = page;
	slot->length = read_core(memory, page, slot->data);
	if (!slot->length && region)
		slot->length = read_file(memory, region, page, slot->data);
	return slot;
}

bool pmp_core_memory_read(void *arg, uint64_t address, void *data, size_t length)
{
	struct pmp_core_memory *memory = arg;
	char *to = data;

	while (length > 0) {
		size_t at = address & (PAGE - 1);
		size_t chunk = length < PAGE - at ? length : PAGE - at;
		const struct core_page *slot = get_page(memory, address - at);

		if (!slot || slot->length < at + chunk)
			return false;
		memcpy(to, slot->data + at, chunk);
		to += chunk;
		address += chunk;
		length -= chunk;
	}
	return true;
}
