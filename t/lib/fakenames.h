/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Samples and names without a process, for tests of counting and writing. The test has a
 * table of functions; a frame's pc selects one. The symbolizer functions that a profile
 * calls are defined here, so that the library's own are not linked. Each module is a
 * mapping: they are a MiB apart.
 *
 *	static const struct fake_function fake_functions[] = {
 *		{ .name = "poll", .module = "/lib/libc.so.6" }, ...
 *	};
 *	#include "lib/fakenames.h"
 */
#ifndef PMP_T_FAKENAMES_H
#define PMP_T_FAKENAMES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libpmp.h"
#include "resolve/symbolizer.h"
#include "sample.h"

#define FAKE_COUNT (sizeof(fake_functions) / sizeof(fake_functions[0]))
#define FAKE_BASE 0x7f31c3a90000ull
#define FAKE_FRAMES 3

static size_t fake_locates, fake_names; /* calls so far */
static struct pmp_frame fake_frames[FAKE_COUNT][FAKE_FRAMES];

static inline uint64_t fake_pc(size_t function)
{
	return FAKE_BASE + 16 * function;
}

pmp_location pmp_symbolizer_locate(struct pmp_symbolizer *symbolizer,
				   const struct pmp_maps *maps,
				   const struct pmp_raw_frame *frame)
{
	(void)symbolizer;
	(void)maps;
	fake_locates++;
	if (frame->pc == UINT64_MAX)
		return PMP_LOCATION_NONE;
	return (frame->pc - FAKE_BASE) / 16;
}

/* In the table a function is followed by those that it is inlined in. Locations
 * beyond the table are the same functions at other addresses. */
size_t pmp_symbolizer_frames(struct pmp_symbolizer *symbolizer, pmp_location location,
			     const struct pmp_frame **frames)
{
	const struct fake_function *function = &fake_functions[location % FAKE_COUNT];
	struct pmp_frame *all = fake_frames[location % FAKE_COUNT];
	size_t count = 0;
	bool inlined;

	(void)symbolizer;
	fake_names++;
	do {
		inlined = function->inlined;
		all[count++] = (struct pmp_frame){
			.function = function->name,
			.file = function->file,
			.line = function->line,
			.inlined = inlined,
			.unnamed = function->unnamed,
			.signal = function->signal,
			.module = function->module,
			.address = 16 * location,
		};
		function++;
	} while (inlined && count < FAKE_FRAMES);
	*frames = all;
	return count;
}

bool pmp_symbolizer_has_names(const struct pmp_symbolizer *symbolizer,
			      pmp_location location)
{
	(void)symbolizer;
	(void)location;
	return true;
}

void pmp_symbolizer_name(struct pmp_symbolizer *symbolizer, pmp_location location)
{
	(void)symbolizer;
	(void)location;
}

/* No address of an object has a name. */
void pmp_symbolizer_locate_object(struct pmp_symbolizer *symbolizer,
				  const struct pmp_maps *maps, uint64_t address,
				  struct pmp_located_object *located)
{
	(void)symbolizer;
	(void)maps;
	(void)address;
	*located = (struct pmp_located_object){ .location = PMP_LOCATION_NONE };
}

void pmp_symbolizer_object(struct pmp_symbolizer *symbolizer,
			   const struct pmp_located_object *located,
			   struct pmp_object *object)
{
	(void)symbolizer;
	*object = (struct pmp_object){ .in = located->in };
}

bool pmp_symbolizer_known_object(const struct pmp_symbolizer *symbolizer,
				 const struct pmp_located_object *located,
				 struct pmp_object *object)
{
	(void)symbolizer;
	*object = (struct pmp_object){ .in = located->in };
	return true;
}

/* The number of the first function of the same module. */
static uint32_t fake_mapping(size_t function)
{
	uint32_t first = 0;

	while (strcmp(fake_functions[first].module, fake_functions[function].module))
		first++;
	return first;
}

void pmp_symbolizer_first_address(const struct pmp_symbolizer *symbolizer,
				  pmp_location location, struct pmp_first_address *origin)
{
	(void)symbolizer;
	origin->mapping = fake_mapping(location % FAKE_COUNT);
	origin->pc = FAKE_BASE + ((uint64_t)origin->mapping << 20) + 16 * location;
	origin->exact = fake_functions[location % FAKE_COUNT].exact;
}

void pmp_symbolizer_mapping(struct pmp_symbolizer *symbolizer, uint32_t number,
			    struct pmp_mapping *mapping)
{
	(void)symbolizer;
	mapping->start = FAKE_BASE + ((uint64_t)number << 20);
	mapping->end = mapping->start + 0x100000;
	mapping->offset = 0x1000;
	mapping->path = fake_functions[number].module;
	mapping->build_id = "0123456789abcdef";
}

/* Saved profiles are tested with a real symbolizer. */
uint32_t pmp_symbolizer_add_mapping(struct pmp_symbolizer *symbolizer,
				    const struct pmp_mapping *mapping)
{
	(void)symbolizer;
	(void)mapping;
	return UINT32_MAX;
}

pmp_location pmp_symbolizer_add_location(struct pmp_symbolizer *symbolizer,
					 const struct pmp_first_address *origin,
					 const struct pmp_frame *frames, size_t count)
{
	(void)symbolizer;
	(void)origin;
	(void)frames;
	(void)count;
	return PMP_LOCATION_NONE;
}

/* Locations are never removed, and names count as taking no memory. */
void pmp_symbolizer_attach(struct pmp_symbolizer *symbolizer)
{
	(void)symbolizer;
}

void pmp_symbolizer_detach(struct pmp_symbolizer *symbolizer)
{
	(void)symbolizer;
}

uint64_t pmp_symbolizer_size(const struct pmp_symbolizer *symbolizer)
{
	(void)symbolizer;
	return 0;
}

/* More than the table has: tests may use locations beyond it. */
#define FAKE_LOCATIONS ((size_t)16 << 20)

size_t pmp_symbolizer_location_count(const struct pmp_symbolizer *symbolizer)
{
	(void)symbolizer;
	return FAKE_LOCATIONS;
}

bool pmp_symbolizer_gc(struct pmp_symbolizer *symbolizer, const bool *used)
{
	(void)symbolizer;
	(void)used;
	return false;
}

/* Append a thread; functions from the leaf on, -1 after the last. */
__attribute__((unused)) static struct pmp_thread *
fake_thread(struct pmp_sample *sample, pid_t tid, const char *name, const int *functions)
{
	struct pmp_thread *thread = pmp_sample_add_thread(sample);

	if (!thread)
		abort();
	thread->tid = tid;
	snprintf(thread->name, sizeof(thread->name), "%s", name);
	thread->state = 'S';
	thread->syscall = PMP_SYSCALL_UNKNOWN;
	for (; *functions >= 0; functions++) {
		struct pmp_raw_frame frame = { .pc = fake_pc(*functions) };

		if (pmp_sample_add_frames(sample, &frame, 1))
			abort();
	}
	return thread;
}

#define FAKE_STACK(...) ((const int[]){ __VA_ARGS__, -1 })
#define FAKE_NOTHING ((const int[]){ -1 })

#endif
