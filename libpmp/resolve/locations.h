/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers for places in modules: a hash table from the place to the number, and what
 * is known of each. Numbers that are given back are given again.
 */
#ifndef PMP_RESOLVE_LOCATIONS_H
#define PMP_RESOLVE_LOCATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libpmp.h"
#include "resolve/frame.h"

/* A place in a module: what is equal here has one location. */
struct pmp_location_key {
	uint64_t address; /* file offset; pc in what has no file */
	uint32_t module;  /* index */
	uint32_t flags;	  /* PMP_FRAME_EXACT, PMP_FRAME_SIGNAL; of saved ones also the
			   * number of its names, from PMP_LOCATION_NAMES_SHIFT on;
			   * or PMP_LOCATION_OBJECT, see symbolize-object.c */
};

#define PMP_LOCATION_OBJECT 4
#define PMP_LOCATION_NAMES_SHIFT 3

struct pmp_location_entry {
	struct pmp_location_key key;
	uint32_t frame_count;		/* 0: not named yet */
	const struct pmp_frame *frames; /* see pmp_locations_name() */
	uint64_t pc;			/* where it was first seen */
	uint32_t mapping;
	pmp_location next; /* of its module, or PMP_LOCATION_NONE */
};

/* All zero: empty. */
struct pmp_locations {
	struct pmp_location_entry *items;
	size_t count, capacity; /* numbers are below count */
	pmp_location *slots;	/* hash table */
	size_t slot_count;
	pmp_location *firsts; /* of each module */
	size_t first_count, first_capacity;
	pmp_location *free_numbers;
	size_t free_count, free_capacity;
	size_t frames_size; /* bytes of all frames */
	size_t unnamed;	    /* locations without frames */
};

/* The one frame of what cannot be named, without memory for instance. */
extern const struct pmp_frame pmp_locations_unknown;

void pmp_locations_free(struct pmp_locations *locations);
/* Is there such a location, and has it not been given back? */
bool pmp_locations_has(const struct pmp_locations *locations, pmp_location number);
/* The location of a place; a new one was first seen there. PMP_LOCATION_NONE: no memory.
 */
pmp_location pmp_locations_find(struct pmp_locations *locations,
				const struct pmp_location_key *key,
				const struct pmp_first_address *first);
/* The first of a module's locations, or PMP_LOCATION_NONE; then the next of each. */
pmp_location pmp_locations_first(const struct pmp_locations *locations, uint32_t module);
/* Give it its frames: a malloc'ed array, taken over; NULL: the unknown one. */
void pmp_locations_name(struct pmp_locations *locations, pmp_location number,
			struct pmp_frame *frames, size_t count);
/* Before numbers are given back: room for all of them. False: no memory. */
bool pmp_locations_reserve(struct pmp_locations *locations);
/* Give a number back. Until pmp_locations_rehash() nothing is to be found. */
void pmp_locations_drop(struct pmp_locations *locations, pmp_location number);
/* The places of locations have been changed, or some have been given back. */
void pmp_locations_rehash(struct pmp_locations *locations);
/* The bytes that locations in use and their frames take. */
uint64_t pmp_locations_size(const struct pmp_locations *locations);

#endif
