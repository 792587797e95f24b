/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * names FILE [COUNT [ROUNDS]]: what names cost. COUNT addresses, spread over the code of
 * FILE, are named: the first alone (its symbol table is read then), all the others once,
 * and all again. The best of ROUNDS symbolizers, with inlined functions and without. Then as
 * many as a report has, in this process and in one that is confined.
 */
#include <time.h>

#include "lib/names.h"
#include "namer/namer.h"

#define COUNT 20000u
#define REPORT 6000u /* names of a report of a busy server */
#define ROUNDS_MAX 30

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

/* ---- all names of a report, here and in a process that is confined ----------------------- */

/* As a report does: all places are known before the first one is named. */
static double report(const struct space *space, const struct pmp_namer_calls *calls,
		     bool lines, unsigned count)
{
	const struct pmp_region *region = &space->maps->regions[0];
	double start = now();
	struct pmp_symbolizer *symbolizer = symbolizer_of(
		(struct pmp_symbolizer_options){ .lines = lines, .namer = calls });
	const struct pmp_frame *frames;

	for (unsigned i = 0; i < count; i++) {
		const struct pmp_raw_frame raw = {
			.pc = region->start + (region->end - region->start) * i / count,
			.flags = PMP_FRAME_EXACT,
		};

		pmp_symbolizer_locate(symbolizer, space->maps, &raw);
	}
	for (unsigned i = 0; i < count; i++)
		pmp_symbolizer_frames(symbolizer, i, &frames);
	pmp_symbolizer_free(symbolizer);
	return now() - start;
}

static int compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* In turn, so that both have the same machine; the median of the differences. */
static void measure_reports(const char *title, const char *path, bool lines,
			    unsigned count, unsigned rounds)
{
	struct space space = space_of(path);
	double here[ROUNDS_MAX] = { 0 }, there[ROUNDS_MAX] = { 0 };
	double more[ROUNDS_MAX] = { 0 };

	for (unsigned i = 0; i < rounds; i++) {
		struct pmp_error err;
		struct namer *namer = namer_new(&err);

		/* It waits while samples are taken. */
		here[i] = report(&space, NULL, lines, count) / 1e6;
		nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
		there[i] = report(&space, namer_calls(namer), lines, count) / 1e6;
		namer_free(namer);
		more[i] = there[i] - here[i];
	}
	qsort(here, rounds, sizeof(*here), compare);
	qsort(there, rounds, sizeof(*there), compare);
	qsort(more, rounds, sizeof(*more), compare);
	printf("%-22s %9.2f %9.2f %9.2f %11.1f%%\n", title, here[rounds / 2],
	       there[rounds / 2], more[rounds / 2],
	       100 * more[rounds / 2] / here[rounds / 2]);
	space_free(&space);
}

static void measure_process(const char *path, unsigned count, unsigned rounds)
{
	char title[64];

	rounds = rounds * 3 < ROUNDS_MAX ? rounds * 3 : ROUNDS_MAX;
	printf("\n%-22s %9s %9s %9s\n", "", "here ms", "apart ms", "more");
	snprintf(title, sizeof(title), "%u names", count);
	measure_reports(title, path, false, count, rounds);
	snprintf(title, sizeof(title), "%u with lines", count);
	measure_reports(title, path, true, count, rounds);
	measure_reports("one name", path, false, 1, rounds);
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
	measure_process(argv[1], count < REPORT ? count : REPORT, rounds);
	return 0;
}
