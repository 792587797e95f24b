/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See areas.h. */
#include "census/areas.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/search.h"
#include "census/layout.h"

#define ZEROS_MAX (UINT64_C(64) << 20) /* of a module; more must be something else */

static bool has_prefix(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

static bool is_brk(const struct pmp_region *region)
{
	return region->module->kind == PMP_MODULE_SPECIAL &&
	       strcmp(region->module->path, "[heap]") == 0;
}

/* Newer kernels show names that programs give to such memory. */
static bool is_anonymous(const struct pmp_region *region)
{
	const unsigned prot = region->prot;

	if (!(prot & PMP_PROT_READ) || !(prot & PMP_PROT_WRITE) || prot & PMP_PROT_SHARED)
		return false;
	return region->module->kind == PMP_MODULE_ANON || is_brk(region) ||
	       (region->module->kind == PMP_MODULE_SPECIAL &&
		has_prefix(region->module->path, "[anon:"));
}

static int add(struct pmp_area_list *list, const struct pmp_region *region)
{
	if (PMP_RESERVE(&list->items, &list->capacity, list->count + 1))
		return PMP_ENOMEM;
	list->items[list->count++] =
		(struct pmp_area){ region->start, region->end, is_brk(region) };
	return 0;
}

/* end: where the preceding data of the module ends. */
static bool is_data(const struct pmp_region *region, uint64_t end)
{
	if (region->module->kind == PMP_MODULE_FILE)
		return region->prot & PMP_PROT_READ && !(region->prot & PMP_PROT_EXEC);
	return region->module->kind == PMP_MODULE_ANON && region->start == end &&
	       region->end - region->start <= ZEROS_MAX;
}

int pmp_areas_make(struct pmp_areas *areas, const struct pmp_maps *maps)
{
	uint64_t end = 0;
	int code = 0;

	for (size_t i = 0; i < maps->region_count && !code; i++) {
		const struct pmp_region *region = &maps->regions[i];

		if (is_data(region, end)) {
			code = add(&areas->data, region);
			end = region->end;
		}
		if (!code && is_anonymous(region))
			code = add(&areas->anonymous, region);
	}
	return code;
}

void pmp_areas_free(struct pmp_areas *areas)
{
	free(areas->anonymous.items);
	free(areas->data.items);
	*areas = (struct pmp_areas){ 0 };
}

const struct pmp_area *pmp_area_find(const struct pmp_area_list *list, uint64_t address)
{
	size_t after =
		pmp_search_after(list->items, list->count, sizeof(*list->items), address);

	if (!after || address >= list->items[after - 1].end)
		return NULL;
	return &list->items[after - 1];
}

bool pmp_areas_may_be_chunk(const struct pmp_areas *areas, uint64_t address)
{
	return address && address % PMP_CHUNK_ALIGN == 0 &&
	       pmp_area_find(&areas->anonymous, address);
}
