/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Each entry goes through the sieve once each time the profile is written; what is left
 * is counted into a profile of its own, under the same rules of what keeps entries
 * apart. Threads are put together by the names of their groups here.
 */
#include "tally/shown.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "tally/expression.h"
#include "tally/filter.h"
#include "tally/sieve.h"

#define NOWHERE UINT32_MAX

struct pmp_shown {
	struct pmp_profile_options options;
	struct pmp_symbolizer *symbolizer;
	struct pmp_sieve *sieve;
	bool forgotten;			/* what the sieve has kept is of no use any more */
	bool groups;			/* threads are counted by their names */
	struct pmp_profile *profile;
	uint32_t *entry_of;		/* by entry of the source, or NOWHERE */
	size_t entry_count, entry_capacity;
	uint64_t stacks;		/* of all entries */
	struct pmp_run *runs;
	size_t run_count, run_capacity;
	bool has_runs;
	/* Of the last round. */
	struct pmp_round round;
	struct pmp_row *rows;
	struct pmp_thread *threads;
	struct pmp_raw_frame *frames;
	pmp_location *locations;
	size_t row_capacity, thread_capacity, frame_capacity, location_capacity;
	uint64_t rows_shown;
};

struct pmp_shown *pmp_shown_new(const struct pmp_profile_options *options,
				struct pmp_symbolizer *symbolizer)
{
	struct pmp_shown *shown = calloc(1, sizeof(*shown));

	if (!shown)
		return NULL;
	shown->options = *options;
	shown->options.keep_rounds = shown->options.times = shown->options.live = false;
	shown->options.filter = NULL;
	shown->options.max_memory = 0;
	shown->symbolizer = symbolizer;
	shown->groups = pmp_filter_has_groups(options->filter) && !options->by_thread;
	if (shown->groups)
		shown->options.by_thread = true;
	shown->sieve = pmp_sieve_new(options->filter, symbolizer);
	if (shown->sieve)
		return shown;
	free(shown);
	return NULL;
}

void pmp_shown_free(struct pmp_shown *shown)
{
	if (!shown)
		return;
	pmp_sieve_free(shown->sieve);
	pmp_profile_free(shown->profile);
	free(shown->entry_of);
	free(shown->runs);
	free(shown->rows);
	free(shown->threads);
	free(shown->frames);
	free(shown->locations);
	free(shown);
}

/* ---- entries --------------------------------------------------------------------- */

/* A thread as it is called: by its group, or as it has been renamed. */
static void call_thread(const struct pmp_shown *shown, const char *name, char *buffer,
			size_t size)
{
	const struct pmp_filter *filter = pmp_sieve_filter(shown->sieve);

	if (shown->groups)
		pmp_filter_thread(filter, name, buffer, size);
	else
		pmp_filter_call_thread(filter, name, buffer, size);
}

/* 1: it is shown as number *to, 0: it is not, PMP_ENOMEM. */
static int show_entry(struct pmp_shown *shown, const struct pmp_entry *entry, uint32_t *to)
{
	struct pmp_sieve_stack stack = {
		.locations = entry->locations,
		.count = entry->location_count,
		.state = entry->state,
		.syscall = entry->syscall,
	};
	struct pmp_entry left = *entry;
	char name[PMP_EXPRESSION_NAME];
	int code = pmp_sieve_take(shown->sieve, &stack);

	if (code <= 0)
		return code;
	call_thread(shown, entry->thread, name, sizeof(name));
	left.thread = name;
	if (shown->groups)
		left.tid = 0;
	left.locations = stack.left;
	left.location_count = stack.left_count;
	if (stack.trimmed) {
		left.end = PMP_END_ROOT;
		left.why = "";
	}
	*to = pmp_profile_count_entry(shown->profile, &left);
	return *to == UINT32_MAX ? PMP_ENOMEM : 1;
}

void pmp_shown_forget(struct pmp_shown *shown)
{
	shown->forgotten = true;
}

static int renew_sieve(struct pmp_shown *shown)
{
	struct pmp_sieve *sieve;

	if (!shown->forgotten)
		return 0;
	sieve = pmp_sieve_new(pmp_sieve_filter(shown->sieve), shown->symbolizer);
	if (!sieve)
		return PMP_ENOMEM;
	pmp_sieve_free(shown->sieve);
	shown->sieve = sieve;
	shown->forgotten = false;
	return 0;
}

int pmp_shown_entries(struct pmp_shown *shown, const struct pmp_entry *entries, size_t count)
{
	pmp_profile_free(shown->profile);
	shown->profile = NULL;
	shown->stacks = 0;
	shown->entry_count = 0;
	if (renew_sieve(shown) ||
	    pmp_profile_new(&shown->options, shown->symbolizer, &shown->profile, NULL) ||
	    PMP_RESERVE(&shown->entry_of, &shown->entry_capacity, count + 1))
		return PMP_ENOMEM;
	pmp_profile_detach(shown->profile);
	for (size_t i = 0; i < count; i++) {
		int code = show_entry(shown, &entries[i], &shown->entry_of[i]);

		if (code < 0)
			return code;
		if (code)
			shown->stacks += entries[i].count;
		else
			shown->entry_of[i] = NOWHERE;
	}
	shown->entry_count = count;
	return 0;
}

/* A thread is not there while it has a stack that is not shown. */
int pmp_shown_runs(struct pmp_shown *shown, const struct pmp_run *runs, size_t count)
{
	uint32_t threads = 0;
	bool *gone;

	shown->run_count = 0;
	/* Threads of a group are somewhere at the same time. */
	shown->has_runs = runs && !shown->groups;
	if (!shown->has_runs)
		return 0;
	for (size_t i = 0; i < count; i++)
		threads = runs[i].thread >= threads ? runs[i].thread + 1 : threads;
	gone = calloc((size_t)threads + 1, sizeof(*gone));
	if (!gone || PMP_RESERVE(&shown->runs, &shown->run_capacity, count + 1)) {
		free(gone);
		return PMP_ENOMEM;
	}
	for (size_t i = 0; i < count; i++) {
		uint32_t entry = runs[i].entry < shown->entry_count
					 ? shown->entry_of[runs[i].entry]
					 : NOWHERE;
		struct pmp_run *run = &shown->runs[shown->run_count];

		if (entry == NOWHERE) {
			gone[runs[i].thread] = true;
			continue;
		}
		*run = runs[i];
		run->entry = entry;
		run->absent |= gone[run->thread];
		gone[run->thread] = false;
		shown->run_count++;
	}
	free(gone);
	return 0;
}

/* ---- the last sample ------------------------------------------------------------- */

/* Where a function is in this sample, as pmp_sieve_origin() has it for all of them. */
static struct pmp_raw_frame raw_frame(const struct pmp_shown *shown,
				      const struct pmp_raw_frame *raw, pmp_location location)
{
	struct pmp_raw_frame frame = *raw;
	struct pmp_origin origin;

	pmp_sieve_origin(shown->sieve, location, &origin);
	if (origin.mapping == UINT32_MAX)
		frame.pc = 0;
	else if (origin.exact != (bool)(raw->flags & PMP_FRAME_EXACT) && raw->pc)
		frame.pc += origin.exact ? UINT64_C(-1) : 1;
	return frame;
}

/* Append a row if it is shown; frames counts those of all rows. */
static int show_row(struct pmp_shown *shown, const struct pmp_row *row, const char *syscall,
		    size_t *frames)
{
	struct pmp_sieve_stack stack = {
		.locations = row->locations,
		.count = row->thread->frame_count,
		.state = row->thread->state,
		.syscall = syscall,
	};
	struct pmp_thread *thread = &shown->threads[shown->round.row_count];
	char name[PMP_EXPRESSION_NAME];
	int code = pmp_sieve_take(shown->sieve, &stack);

	if (code <= 0)
		return code;
	*thread = *row->thread;
	call_thread(shown, thread->name, name, sizeof(name));
	memcpy(thread->name, name, strnlen(name, sizeof(thread->name) - 1));
	thread->name[strnlen(name, sizeof(thread->name) - 1)] = '\0';
	thread->frame = *frames;
	thread->frame_count = stack.left_count;
	if (stack.trimmed) {
		thread->end = PMP_END_ROOT;
		thread->why[0] = '\0';
	}
	if (PMP_RESERVE(&shown->frames, &shown->frame_capacity,
			*frames + stack.left_count + 1) ||
	    PMP_RESERVE(&shown->locations, &shown->location_capacity,
			*frames + stack.left_count + 1))
		return PMP_ENOMEM;
	for (size_t i = 0; i < stack.left_count; i++) {
		shown->locations[*frames] = stack.left[i];
		shown->frames[(*frames)++] =
			raw_frame(shown, &row->raw[stack.origins[i]], stack.left[i]);
	}
	shown->round.row_count++;
	return 0;
}

int pmp_shown_round(struct pmp_shown *shown, const struct pmp_round *round)
{
	size_t count = round->row_count, frames = 0;
	uint64_t last = shown->round.number;
	char number[16];

	if (renew_sieve(shown) ||
	    PMP_RESERVE(&shown->rows, &shown->row_capacity, count + 1) ||
	    PMP_RESERVE(&shown->threads, &shown->thread_capacity, count + 1))
		return PMP_ENOMEM;
	shown->round = *round;
	shown->round.row_count = 0;
	shown->round.rows = shown->rows;
	for (size_t i = 0; i < count; i++) {
		const char *syscall = pmp_profile_syscall(round->rows[i].thread->syscall,
							  number, sizeof(number));

		if (show_row(shown, &round->rows[i], syscall, &frames))
			return PMP_ENOMEM;
	}
	/* Only now do the frames stay where they are. */
	for (size_t i = 0; i < shown->round.row_count; i++)
		shown->rows[i] = (struct pmp_row){
			.thread = &shown->threads[i],
			.raw = shown->frames + shown->threads[i].frame,
			.locations = shown->locations + shown->threads[i].frame,
		};
	if (round->number != last)
		shown->rows_shown += shown->round.row_count;
	return 0;
}

/* ---- what has come out ----------------------------------------------------------- */

const struct pmp_profile *pmp_shown_profile(const struct pmp_shown *shown)
{
	return shown->profile;
}

const struct pmp_run *pmp_shown_get_runs(const struct pmp_shown *shown, size_t *count)
{
	*count = shown->run_count;
	return shown->has_runs ? shown->runs : NULL;
}

const struct pmp_round *pmp_shown_get_round(const struct pmp_shown *shown)
{
	return shown->round.number ? &shown->round : NULL;
}

uint64_t pmp_shown_count(const struct pmp_shown *shown)
{
	return shown->profile ? shown->stacks : shown->rows_shown;
}

size_t pmp_shown_frames(const struct pmp_shown *shown, pmp_location location,
			const struct pmp_frame **frames)
{
	return pmp_sieve_frames(shown->sieve, location, frames);
}

void pmp_shown_origin(const struct pmp_shown *shown, pmp_location location,
		      struct pmp_origin *origin)
{
	pmp_sieve_origin(shown->sieve, location, origin);
}
