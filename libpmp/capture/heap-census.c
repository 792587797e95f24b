/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See heap-census.h. */
#include "capture/heap-census.h"

#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/fault.h"
#include "base/file.h"
#include "base/scan.h"
#include "census/allocator.h"
#include "census/glibc-version.h"
#include "census/live-memory.h"
#include "census/take.h"

#define MIB (1024.0 * 1024.0)
#define DOUBTFUL_SHARE \
	10 /* the layout must be wrong if more than 1/10 of a heap is unread */

/* The second number of statm, in pages. */
static uint64_t resident_bytes(const struct pmp_process *process)
{
	uint64_t size, pages;
	struct pmp_scan scan;
	char text[128];
	ssize_t length = pmp_file_read(process->proc, "statm", text, sizeof(text));

	if (length <= 0)
		return 0;
	scan = pmp_scan_text(text, (size_t)length);
	if (!pmp_scan_u64(&scan, &size) || !pmp_scan_char(&scan, ' ') ||
	    !pmp_scan_u64(&scan, &pages))
		return 0;
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static bool is_anonymous(const struct pmp_region *region)
{
	return region->prot & PMP_PROT_WRITE && !(region->prot & PMP_PROT_SHARED) &&
	       (region->module->kind == PMP_MODULE_ANON ||
		strcmp(region->module->path, "[heap]") == 0);
}

/* Fails with a hint that tells what is known anyway. */
static int refuse(const struct pmp_capture *capture, struct pmp_error *err)
{
	const struct pmp_target *target = capture->target;
	uint64_t bytes = 0;
	size_t count = 0;

	for (size_t i = 0; i < target->maps->region_count; i++) {
		const struct pmp_region *region = &target->maps->regions[i];

		if (!is_anonymous(region))
			continue;
		bytes += region->end - region->start;
		count++;
	}
	pmp_error_hint(err,
		       "of its memory is known: %.1f MiB resident; %.1f MiB in %zu "
		       "anonymous mappings, of which a part is in use",
		       (double)resident_bytes(&target->process) / MIB,
		       (double)bytes / MIB, count);
	return PMP_EUNSUPPORTED;
}

static int refuse_other(const struct pmp_capture *capture, const char *allocator,
			const char *library, struct pmp_error *err)
{
	const struct pmp_process *process = &capture->target->process;
	const char *base = strrchr(library, '/');

	pmp_error_set(err, PMP_EUNSUPPORTED,
		      "cannot read the heap of %d (%s): it is of %s (%s), not of glibc's "
		      "malloc",
		      (int)process->pid, process->name, allocator,
		      base ? base + 1 : library);
	return refuse(capture, err);
}

/* For an unknown layout. It may equal the previous one; then the heap can be
 * understood. */
static int refuse_new(const struct pmp_capture *capture, unsigned glibc,
		      struct pmp_error *err)
{
	const struct pmp_process *process = &capture->target->process;

	pmp_error_set(
		err, PMP_EUNSUPPORTED,
		"cannot read the heap of %d (%s): glibc 2.%u is newer than this pmp "
		"knows (2.%d), and its heap is laid out in another way",
		(int)process->pid, process->name, glibc, PMP_CENSUS_GLIBC_KNOWN);
	pmp_error_hint(err, "a newer pmp may know it; a recorder does not need to: start "
			    "the program with pmp --heap --");
	return PMP_EUNSUPPORTED;
}

static int explain(const struct pmp_capture *capture, enum pmp_census_outcome outcome,
		   struct pmp_error *err)
{
	const struct pmp_process *process = &capture->target->process;
	const char *why = "nothing in it is laid out as by glibc's malloc";

	if (outcome == PMP_CENSUS_TAKEN)
		return 0;
	if (outcome == PMP_CENSUS_NOMEM)
		return pmp_error_nomem(err, "reading a heap");
	if (pmp_target_ended(capture->target))
		return pmp_target_gone(capture->target, err);
	if (outcome == PMP_CENSUS_UNUSED)
		why = "it has allocated nothing by glibc's malloc";
	pmp_error_set(err, PMP_EUNSUPPORTED, "cannot read the heap of %d (%s): %s",
		      (int)process->pid, process->name, why);
	return refuse(capture, err);
}

/* Was so much not understood that the layout must be a different one? */
static bool is_doubtful(const struct pmp_census_totals *totals)
{
	return totals->unread > totals->size / DOUBTFUL_SHARE;
}

/* For a glibc newer than all known ones: is its layout like theirs? Returns 0 and notes
 * the version in the census, or an error. */
static int check_version(const struct pmp_capture *capture,
			 enum pmp_census_outcome outcome, struct pmp_error *err)
{
	const unsigned glibc = pmp_census_glibc(capture->target->maps);
	struct pmp_census *census = capture->sample->census;

	if (glibc <= PMP_CENSUS_GLIBC_KNOWN)
		return 0;
	if (outcome == PMP_CENSUS_UNKNOWN ||
	    (outcome == PMP_CENSUS_TAKEN && is_doubtful(&census->totals)))
		return pmp_target_ended(capture->target)
			       ? 0
			       : refuse_new(capture, glibc, err);
	if (outcome == PMP_CENSUS_TAKEN)
		census->totals.glibc = glibc;
	return 0;
}

int pmp_heap_census(struct pmp_capture *capture, struct pmp_error *err)
{
	const struct pmp_target *target = capture->target;
	const struct pmp_target_options *options = &target->options;
	const bool types = options->census == PMP_CENSUS_TYPES;
	struct pmp_census_memory memory;
	struct pmp_live_memory live;
	enum pmp_census_outcome outcome;
	const char *library, *other = pmp_census_allocator(target->maps, &library);
	int code;

	if (other)
		return refuse_other(capture, other, library, err);
	code = pmp_live_memory_open(&target->process, &live, err);
	if (code)
		return code;
	live.max_cpu = options->census_cpu;
	live.alive = options->alive;
	live.alive_arg = options->alive_arg;
	memory = pmp_live_memory_use(&live);
	outcome = pmp_census_take(&memory, target->maps, types, &capture->sample->census);
	if (outcome == PMP_CENSUS_TAKEN)
		capture->sample->census->totals.cpu = pmp_clock_cpu() - live.start_cpu;
	pmp_live_memory_close(&live);
	if (PMP_FAULT("other-layout") && outcome == PMP_CENSUS_TAKEN)
		outcome = PMP_CENSUS_UNKNOWN;
	code = check_version(capture, outcome, err);
	return code ? code : explain(capture, outcome, err);
}
