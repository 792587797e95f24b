/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The heap in a saved profile, of pmp or another program: four values for each stack and,
 * if pmp has written it, labels with ages and standard errors, and a comment per process.
 */
#include <limits.h>
#include <string.h>

#include "base/clock.h"
#include "tally/pprof-read.h"

void pmp_pprof_find_heap(struct pmp_pprof_reader *reader)
{
	int *columns = reader->columns.heap;

	for (size_t i = 0; i < PMP_HEAP_VALUES; i++)
		columns[i] = pmp_pprof_find_count(
			reader, pmp_heap_value_name((enum pmp_heap_value)i),
			pmp_heap_value_unit((enum pmp_heap_value)i));
	reader->columns.has_heap =
		columns[PMP_HEAP_ALLOC_SPACE] >= 0 || columns[PMP_HEAP_INUSE_SPACE] >= 0;
	if (reader->columns.has_heap)
		return;
	/* Only what is live: -f objects, and old formats that others have converted. */
	columns[PMP_HEAP_INUSE_OBJECTS] =
		pmp_pprof_find_count(reader, "objects", "count");
	columns[PMP_HEAP_INUSE_SPACE] = pmp_pprof_find_count(reader, "space", "bytes");
	reader->columns.has_heap = columns[PMP_HEAP_INUSE_SPACE] >= 0;
}

bool pmp_pprof_read_heap_label(const char *key, int64_t number,
			       struct pmp_pprof_heap *heap)
{
	const uint64_t value = number > 0 ? pmp_pprof_positive((uint64_t)number) : 0;

	if (!strcmp(key, "age")) {
		heap->age = value < UINT64_MAX / PMP_S ? value * PMP_S : 0;
	} else if (!strcmp(key, "alloc_error")) {
		heap->alloc_error = value;
	} else if (!strcmp(key, "inuse_error")) {
		heap->live_error = value;
	} else if (!strcmp(key, "failed_calls")) {
		heap->failures = value;
	} else if (!strcmp(key, "failed_largest")) {
		heap->largest_failure = value;
	} else {
		return false;
	}
	return true;
}

static uint64_t parts_of(uint64_t blocks)
{
	return blocks < INT64_MAX / PMP_BLOCK_PARTS ? blocks * PMP_BLOCK_PARTS
						    : INT64_MAX;
}

bool pmp_pprof_make_heap(const struct pmp_pprof_reader *reader, const uint64_t *values,
			 const struct pmp_pprof_heap *heap, struct pmp_heap_sums *sums)
{
	const double alloc_error = (double)heap->alloc_error,
		     live_error = (double)heap->live_error;
	struct pmp_age_sum *aged = &sums->ages[pmp_heap_age(heap->age)];

	*sums = (struct pmp_heap_sums){
		.alloc_parts = parts_of(values[PMP_HEAP_ALLOC_OBJECTS]),
		.alloc_bytes = values[PMP_HEAP_ALLOC_SPACE],
		.live_parts = parts_of(values[PMP_HEAP_INUSE_OBJECTS]),
		.live_bytes = values[PMP_HEAP_INUSE_SPACE],
		.alloc_variance = alloc_error * alloc_error,
		.live_variance = live_error * live_error,
		.failures = heap->failures,
		.largest_failure = heap->largest_failure,
	};
	if (!sums->alloc_parts && !sums->alloc_bytes && !sums->live_parts &&
	    !sums->live_bytes && !sums->failures)
		return false;
	/* Profiles of other programs have no ages; pmp leaves out ages below a second. */
	if (!reader->recorded || !sums->live_parts)
		return true;
	sums->oldest = heap->age;
	*aged = (struct pmp_age_sum){ sums->live_parts, sums->live_bytes, heap->age,
				      sums->live_variance };
	return true;
}

int pmp_pprof_read_process(struct pmp_pprof_reader *reader, const char *line)
{
	struct pmp_process_heap process = { .pid = 0 };
	struct pmp_heap_totals *totals = &process.totals;
	const char *name = strstr(line, " name: ");
	uint64_t pid = 0, ended = 0;
	const struct {
		const char *name;
		uint64_t *value;
	} numbers[] = {
		{ "pid", &pid },
		{ "ended", &ended },
		{ "rate", &totals->rate },
		{ "duration_ns", &process.time },
		{ "mallocs", &totals->mallocs },
		{ "callocs", &totals->callocs },
		{ "aligned", &totals->aligned },
		{ "reallocs", &totals->reallocs },
		{ "news", &totals->news },
		{ "frees", &totals->frees },
		{ "allocated", &totals->allocated },
		{ "freed", &totals->freed },
		{ "live", &totals->live },
		{ "live_blocks", &totals->live_blocks },
		{ "peak", &totals->peak },
		{ "peak_after_ns", &totals->peak_time },
		{ "failed", &totals->failed },
		{ "failed_reallocs", &totals->failed_reallocs },
		{ "brk", &totals->brk_growth },
		{ "mmap", &totals->mmap_growth },
		{ "given_back", &totals->given_back },
		{ "lost", &totals->lost },
		{ "untracked", &totals->untracked },
		{ "stackless", &process.earlier_stackless },
		{ "unrecorded", &totals->unrecorded },
		{ "earlier", &process.earlier_allocated },
		{ "earlier_freed", &process.earlier_freed },
		{ "earlier_frees", &process.earlier_frees },
		{ "others", &process.others },
		{ "unknown_frees", &process.unknown_frees },
		{ "earlier_calls", &process.earlier_calls },
		{ "earlier_lost", &process.earlier_lost },
		{ "recorded", &process.recorded },
		{ "recorded_bytes", &process.recorded_bytes },
	};

	reader->recorded = true;
	if (!reader->want->heap)
		return 0;
	if (reader->process_count++ >= PMP_PPROF_PROCESSES_MAX)
		return pmp_pprof_too_many(reader, PMP_PPROF_PROCESSES_MAX, "processes");
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		pmp_pprof_take_statistics(line, numbers[i].name, numbers[i].value);
	process.pid = pid <= INT_MAX ? (pid_t)pid : 0;
	process.ended = ended;
	totals->state = PMP_HEAP_STATE_RECORDS;
	if (name)
		memcpy(process.name, name + strlen(" name: "),
		       strnlen(name + strlen(" name: "), sizeof(process.name) - 1));
	return reader->calls->process(reader->calls->arg, &process);
}
