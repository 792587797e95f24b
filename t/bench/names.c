/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * names FILE [COUNT [ROUNDS]]: what names cost. COUNT addresses, spread over the code of
 * FILE, are named: the first alone (its symbol table is read then), all the others once,
 * and all again. The best of ROUNDS symbolizers, with inlined functions and without.
 */
#include <time.h>

#include "lib/names.h"

#define COUNT 20000u

struct figures {
	double first, cold, warm; /* ns; the last two of one name */
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double name_all(const struct space *space, struct pmp_symbolizer *symbolizer,
		       unsigned begin, unsigned end, unsigned count)
{
	const struct pmp_region *region = &space->maps->regions[0];
	const struct pmp_frame *frames;
	double start = now();

	for (unsigned i = begin; i < end; i++) {
		uint64_t offset = (region->end - region->start) * i / count;

		if (names_at(space, symbolizer, region->start + offset - space->bias,
			     true, &frames) == 0)
			exit(1);
	}
	return now() - start;
}

static void keep_best(double *best, double value)
{
	if (*best <= 0 || value < *best)
		*best = value;
}

static void measure(const char *title, const char *path, bool inlined, unsigned count,
		    unsigned rounds)
{
	struct figures best = { 0 };
	struct space space = space_of(path);

	if (space.maps->region_count == 0) {
		fprintf(stderr, "names: no code in %s\n", path);
		exit(1);
	}
	for (unsigned i = 0; i < rounds; i++) {
		struct pmp_symbolizer *symbolizer = symbolizer_of(
			(struct pmp_symbolizer_options){ .no_inline = !inlined });

		keep_best(&best.first, name_all(&space, symbolizer, 0, 1, count));
		keep_best(&best.cold,
			  name_all(&space, symbolizer, 1, count, count) / (count - 1));
		keep_best(&best.warm,
			  name_all(&space, symbolizer, 0, count, count) / count);
		pmp_symbolizer_free(symbolizer);
	}
	printf("%-22s %9.2f %9.0f %9.0f %12.0f\n", title, best.first / 1e6, best.cold,
	       best.warm, 1e9 / best.cold);
	space_free(&space);
}

int main(int argc, char **argv)
{
	unsigned count = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : COUNT;
	unsigned rounds = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 3;

	if (argc < 2 || count < 2 || rounds < 1) {
		fprintf(stderr, "usage: names FILE [COUNT [ROUNDS]]\n");
		return 2;
	}
	printf("%-22s %9s %9s %9s %12s\n", "", "first ms", "new ns", "again ns",
	       "new names/s");
	measure("physical functions", argv[1], false, count, rounds);
	measure("with inlined ones", argv[1], true, count, rounds);
	return 0;
}
