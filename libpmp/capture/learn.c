/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Distances by pc: a table in which a place holds one pc. */
#include "capture/learn.h"

#include <stdlib.h>
#include <string.h>

#include "base/fault.h"

#define PLACES_LOG 12
#define PLACES (1u << PLACES_LOG)

struct place {
	uint64_t pc;
	uint64_t distance;
	enum pmp_learned_state state;
};

struct pmp_learned {
	struct place places[PLACES];
};

struct pmp_learned *pmp_learned_new(void)
{
	return calloc(1, sizeof(struct pmp_learned));
}

void pmp_learned_free(struct pmp_learned *learned)
{
	free(learned);
}

void pmp_learned_flush(struct pmp_learned *learned)
{
	memset(learned->places, 0, sizeof(learned->places));
}

static size_t place_of(uint64_t pc)
{
	return pc * UINT64_C(0x9e3779b97f4a7c15) >> (64 - PLACES_LOG);
}

enum pmp_learned_state pmp_learned_get(const struct pmp_learned *learned, uint64_t pc,
				       uint64_t *distance)
{
	const struct place *place = &learned->places[place_of(pc)];

	if (place->pc != pc)
		return PMP_LEARNED_NOTHING;
	*distance = place->distance;
	return place->state;
}

void pmp_learned_put(struct pmp_learned *learned, uint64_t pc, uint64_t distance)
{
	struct place *place = &learned->places[place_of(pc)];

	if (place->pc == pc && place->state == PMP_LEARNED_DISTANCE) {
		if (place->distance != distance && !PMP_FAULT("learn-anything"))
			place->state = PMP_LEARNED_NEVER;
		return;
	}
	/* What is forbidden keeps its place: it must not be learned anew. */
	if (place->state == PMP_LEARNED_NEVER)
		return;
	*place = (struct place){ pc, distance, PMP_LEARNED_DISTANCE };
}

void pmp_learned_forbid(struct pmp_learned *learned, uint64_t pc)
{
	if (!PMP_FAULT("learn-anything"))
		learned->places[place_of(pc)] = (struct place){ pc, 0, PMP_LEARNED_NEVER };
}
