/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers for places in modules: a hash table from place to number, and what is known about
 * each. Numbers that are given back are reused.
 */
#ifndef PMP_RESOLVE_LOCATIONS_H
#define PMP_RESOLVE_LOCATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "libpmp.h"
#include "resolve/frame.h"

/* A place in a module. Equal places are one location. */
struct pmp_location_key {
	uint64_t address; /* file offset; the pc if the module has no file */
	uint32_t module;  /* index */
	uint32_t flags;	  /* PMP_FRAME_EXACT, PMP_FRAME_SIGNAL; of saved profiles also
			   * the number of its names << PMP_LOCATION_NAMES_SHIFT;
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
	pmp_location next; /* in the same module, or PMP_LOCATION_NONE */
};

/* All zero: empty. */
struct pmp_locations {
	struct pmp_location_entry *items;
	size_t count, capacity; /* all numbers are below count */
	pmp_location *slots;	/* hash table */
	size_t slot_count;
	struct pmp_hash_key hash_key; /* set with the first slots */
	pmp_location *firsts;	      /* of each module */
	size_t first_count, first_capacity;
	pmp_location *free_numbers;
	size_t free_count, free_capacity;
	size_t frames_size; /* bytes of all frames */
	size_t unnamed;	    /* locations without frames */
};

/* The frame of a location that cannot be named, for want of memory for instance. */
extern const struct pmp_frame pmp_locations_unknown;

void pmp_locations_free(struct pmp_locations *locations);
/* Is this number in use, that is given and not given back? */
bool pmp_locations_has(const struct pmp_locations *locations, pmp_location number);
/* The location of a place. first: where it was seen, kept if the location is new.
 * PMP_LOCATION_NONE: out of memory. */
pmp_location pmp_locations_find(struct pmp_locations *locations,
				const struct pmp_location_key *key,
				const struct pmp_first_address *first);
/* The first location of a module, or PMP_LOCATION_NONE; .next links the others. */
pmp_location pmp_locations_first(const struct pmp_locations *locations, uint32_t module);
/* Set the frames of a location: a malloc'ed array, which is taken over; NULL: the unknown
 * frame. */
void pmp_locations_name(struct pmp_locations *locations, pmp_location number,
			struct pmp_frame *frames, size_t count);
/* Reserve room to give back all numbers. False: out of memory. */
bool pmp_locations_reserve(struct pmp_locations *locations);
/* Give a number back. No look-ups are allowed until pmp_locations_rehash(). */
void pmp_locations_drop(struct pmp_locations *locations, pmp_location number);
/* Rebuild the tables after keys have been changed or numbers given back. */
void pmp_locations_rehash(struct pmp_locations *locations);
/* Memory used by locations in use and their frames, in bytes. */
uint64_t pmp_locations_size(const struct pmp_locations *locations);

#endif
