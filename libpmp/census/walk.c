/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See walk.h. */
#include "census/walk.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fault.h"
#include "census/layout.h"
#include "libpmp.h"

#define WINDOW ((size_t)256 << 10)
#define PAGES (WINDOW / PMP_CENSUS_PAGE)
#define GROWTHS 100 /* how often to follow a region that grows */
#define STEPS 8	    /* windows that can be taken back */
#define TRIES 5	    /* with 1, 2, 4, 8 and 8 windows */
#define CHAIN 50    /* a chain of this many sizes is not a coincidence */

/* What was found in a window, and the state before it. */
struct step {
	uint64_t at;
	struct pmp_chunk last; /* its state is in the first header of the window; size 0:
				* none */
	struct pmp_chunk *chunks;
	size_t count, capacity;
};

struct pmp_chunk_walk {
	const struct pmp_census_memory *memory;
	struct pmp_census_effort *effort;
	const struct pmp_chunk_calls *calls;
	struct pmp_chunk_totals *totals;
	uint64_t end;
	/* The current position, and the chunk before it. */
	uint64_t at;
	struct pmp_chunk last;
	/* The farthest position at which the chain was wrong, and how often it was
	 * reread. */
	uint64_t wrong_at;
	unsigned tries;
	struct step steps[STEPS];
	size_t step_count, step_first; /* a ring */
	/* The window. */
	uint64_t base;
	size_t length;
	uint8_t pages[PAGES];
	unsigned char bytes[WINDOW];
};

enum outcome {
	GOES_ON, /* at the end of the window */
	ENDED,	 /* at the end of the region */
	WRONG,
	HIDDEN,	 /* the next header is not in memory */
	FAILED,	 /* no memory */
	STOPPED, /* by the caller */
};

struct pmp_chunk_walk *pmp_chunk_walk_new(const struct pmp_census_memory *memory,
					  struct pmp_census_effort *effort)
{
	struct pmp_chunk_walk *walk = calloc(1, sizeof(*walk));

	if (walk) {
		walk->memory = memory;
		walk->effort = effort;
	}
	return walk;
}

void pmp_chunk_walk_free(struct pmp_chunk_walk *walk)
{
	if (!walk)
		return;
	for (size_t i = 0; i < STEPS; i++)
		free(walk->steps[i].chunks);
	free(walk);
}

/* ---- the window ------------------------------------------------------------------- */

/* Read the present pages, from the one with this address on. */
static void load(struct pmp_chunk_walk *walk, uint64_t address)
{
	const struct pmp_census_memory *memory = walk->memory;
	const uint64_t base = address - address % PMP_CENSUS_PAGE;
	const uint64_t left = walk->end - base;
	size_t count, from = 0, to;

	walk->base = base;
	walk->length = left < WINDOW ? (size_t)left : WINDOW;
	count = (walk->length + PMP_CENSUS_PAGE - 1) / PMP_CENSUS_PAGE;
	if (!memory->pages(memory->arg, base, count, walk->pages))
		memset(walk->pages, PMP_PAGE_ABSENT, sizeof(walk->pages));
	for (; from < count; from = to) {
		size_t offset = from * PMP_CENSUS_PAGE, length;

		for (to = from + 1; to < count && walk->pages[to] == walk->pages[from];)
			to++;
		if (walk->pages[from] != PMP_PAGE_PRESENT)
			continue;
		length = (to - from) * PMP_CENSUS_PAGE;
		if (length > walk->length - offset)
			length = walk->length - offset;
		if (!memory->read(memory->arg, base + offset, walk->bytes + offset,
				  length))
			memset(walk->pages + from, PMP_PAGE_ABSENT, to - from);
	}
}

/* The two words at an address in the window, which is a multiple of 16, so that they are
 * in one page. False: not in memory, or beyond the window. */
static bool get(const struct pmp_chunk_walk *walk, uint64_t address, uint64_t words[2])
{
	const uint64_t offset = address - walk->base;

	if (address < walk->base || offset + PMP_CHUNK_HEAD > walk->length ||
	    walk->pages[offset / PMP_CENSUS_PAGE] != PMP_PAGE_PRESENT)
		return false;
	memcpy(words, walk->bytes + offset, PMP_CHUNK_HEAD);
	return true;
}

static bool is_in_window(const struct pmp_chunk_walk *walk, uint64_t address)
{
	return address >= walk->base && address - walk->base < walk->length;
}

/* ---- steps ---------------------------------------------------------------------------- */

static struct step *newest(struct pmp_chunk_walk *walk)
{
	return &walk->steps[(walk->step_first + walk->step_count - 1) % STEPS];
}

/* Report chunks that are final. False: the caller ended the walk. */
static bool commit_oldest(struct pmp_chunk_walk *walk)
{
	struct step *step = &walk->steps[walk->step_first];

	for (size_t i = 0; i < step->count; i++)
		if (!walk->calls->found(walk->calls->arg, &step->chunks[i]))
			return false;
	step->count = 0;
	walk->step_first = (walk->step_first + 1) % STEPS;
	walk->step_count--;
	return true;
}

static bool commit_all(struct pmp_chunk_walk *walk)
{
	while (walk->step_count)
		if (!commit_oldest(walk))
			return false;
	return true;
}

static bool begin_step(struct pmp_chunk_walk *walk)
{
	struct step *step;

	if (walk->step_count == STEPS && !commit_oldest(walk))
		return false;
	walk->step_count++;
	step = newest(walk);
	step->at = walk->at;
	step->last = walk->last;
	step->count = 0;
	return true;
}

/* Restore the state before the last count windows. */
static void take_back(struct pmp_chunk_walk *walk, size_t count)
{
	const struct step *step = NULL;

	while (walk->step_count && count--) {
		step = newest(walk);
		walk->at = step->at;
		walk->last = step->last;
		walk->step_count--;
	}
}

static bool keep(struct pmp_chunk_walk *walk, const struct pmp_chunk *chunk,
		 enum pmp_chunk_state state)
{
	struct step *step = newest(walk);

	if (PMP_RESERVE(&step->chunks, &step->capacity, step->count + 1))
		return false;
	step->chunks[step->count] = *chunk;
	step->chunks[step->count++].state = state;
	return true;
}

/* ---- the chain -------------------------------------------------------------------------- */

/* Is the header after the last chunk consistent with it? */
static bool agrees(const struct pmp_chunk_walk *walk, const uint64_t head[2])
{
	/* After so many rereads, accept what is there. */
	if (walk->tries == TRIES)
		return true;
	return !walk->last.size || head[1] & PMP_PREV_INUSE || head[0] == walk->last.size;
}

static bool settle_last(struct pmp_chunk_walk *walk, bool used)
{
	const struct pmp_chunk last = walk->last;

	walk->last.size = 0;
	return !last.size || keep(walk, &last, used ? PMP_CHUNK_USED : PMP_CHUNK_FREE);
}

static bool is_last_fence(const struct pmp_chunk_walk *walk, const uint64_t head[2])
{
	return pmp_chunk_size(head[1]) == 0 && walk->at + PMP_CHUNK_HEAD == walk->end;
}

/* Walk from the chunk at walk->at to the end of the window. */
static enum outcome walk_window(struct pmp_chunk_walk *walk)
{
	uint64_t head[2], words[2];

	for (bool first = true;; first = false) {
		if (walk->at == walk->end)
			return ENDED;
		if (!is_in_window(walk, walk->at))
			return GOES_ON;
		if (!get(walk, walk->at, head))
			return HIDDEN;
		if (is_last_fence(walk, head)) {
			walk->at = walk->end;
			return settle_last(walk, head[1] & PMP_PREV_INUSE) ? ENDED
									   : FAILED;
		}
		if (pmp_chunk_size(head[1]) == PMP_FENCE) {
			if (!settle_last(walk, head[1] & PMP_PREV_INUSE))
				return FAILED;
			walk->at += PMP_FENCE;
			continue;
		}
		if (!pmp_chunk_plausible(head[1], walk->at, walk->end) ||
		    !agrees(walk, head))
			return WRONG;
		/* Its words are in the next window: leave the whole chunk to that. */
		if (!first && !is_in_window(walk, walk->at + PMP_CHUNK_HEAD) &&
		    walk->at + PMP_CHUNK_HEAD < walk->end)
			return GOES_ON;
		if (!settle_last(walk, head[1] & PMP_PREV_INUSE))
			return FAILED;
		if (!get(walk, walk->at + PMP_CHUNK_HEAD, words))
			words[0] = words[1] = 0;
		walk->last = (struct pmp_chunk){ .at = walk->at,
						 .size = pmp_chunk_size(head[1]),
						 .first = words[0],
						 .second = words[1] };
		walk->at += walk->last.size;
	}
}

/* ---- where a chain begins ------------------------------------------------------------------ */

static bool read_head(struct pmp_chunk_walk *walk, uint64_t address, uint64_t head[2])
{
	if (is_in_window(walk, address))
		return get(walk, address, head);
	return pmp_effort_spend(walk->effort, PMP_EFFORT_READ) &&
	       pmp_census_peek(walk->memory, address, head, PMP_CHUNK_HEAD);
}

/* Does a chain of chunks begin there: a long one, or up to the end? */
static bool is_chain(struct pmp_chunk_walk *walk, uint64_t at)
{
	uint64_t head[2];

	for (int i = 0; i < CHAIN; i++) {
		if (at == walk->end)
			return i > 0;
		if (!pmp_effort_spend(walk->effort, 1) || !read_head(walk, at, head))
			return false;
		if (i == 0 && !(head[1] & PMP_PREV_INUSE))
			return false;
		if (pmp_chunk_size(head[1]) == PMP_FENCE && i > 0)
			return at + 2 * PMP_FENCE == walk->end;
		if (!pmp_chunk_plausible(head[1], at, walk->end))
			return false;
		at += pmp_chunk_size(head[1]);
	}
	return true;
}

static void count_missing(struct pmp_chunk_walk *walk, uint64_t from, uint64_t to)
{
	uint8_t page;

	for (uint64_t next; from < to; from = next) {
		const struct pmp_census_memory *memory = walk->memory;

		next = from - from % PMP_CENSUS_PAGE + PMP_CENSUS_PAGE;
		if (next > to)
			next = to;
		if (memory->pages(memory->arg, from, 1, &page) &&
		    page == PMP_PAGE_SWAPPED)
			walk->totals->swapped += next - from;
		else
			walk->totals->unread += next - from;
	}
}

/* Continue where a chain begins, at or after walk->at. False: nowhere. */
static bool find_chain(struct pmp_chunk_walk *walk)
{
	uint64_t at = walk->at, from = at;

	walk->last.size = 0;
	for (; at < walk->end; at += PMP_CHUNK_ALIGN) {
		if (!pmp_effort_spend(walk->effort, 1)) {
			walk->totals->unread += walk->end - at;
			walk->end = at;
			break;
		}
		if (!is_in_window(walk, at)) {
			walk->memory->rest(walk->memory->arg);
			load(walk, at);
		}
		if (walk->pages[(at - walk->base) / PMP_CENSUS_PAGE] !=
		    PMP_PAGE_PRESENT) {
			pmp_effort_spend(walk->effort, PMP_EFFORT_PAGE);
			at |= PMP_CENSUS_PAGE - 1;
			at -= PMP_CHUNK_ALIGN - 1;
			continue;
		}
		if (is_chain(walk, at))
			break;
	}
	if (at > walk->end)
		at = walk->end;
	count_missing(walk, from, at);
	walk->at = at;
	return at < walk->end;
}

/* ---- a region ---------------------------------------------------------------------------- */

/* The next header cannot be read: assume that the last chunk is in use, as most are. */
static bool pass_hidden(struct pmp_chunk_walk *walk)
{
	return settle_last(walk, true) && find_chain(walk);
}

/* Does the region end here by now? */
static bool is_over(struct pmp_chunk_walk *walk)
{
	if (walk->calls->end)
		walk->end = walk->calls->end(walk->calls->arg);
	return walk->at >= walk->end;
}

/* Reread, or else continue where there is a chain. False: there is none. */
static bool recover(struct pmp_chunk_walk *walk)
{
	if (walk->at > walk->wrong_at) {
		walk->wrong_at = walk->at;
		walk->tries = 0;
	}
	walk->memory->again(walk->memory->arg, walk->tries);
	if (walk->tries < TRIES && !PMP_FAULT("no-reread") &&
	    pmp_effort_spend(walk->effort, PMP_EFFORT_AGAIN)) {
		take_back(walk, (size_t)1 << walk->tries);
		walk->tries++;
		walk->totals->again++;
		return true;
	}
	load(walk, walk->at);
	return pass_hidden(walk);
}

static int finish(struct pmp_chunk_walk *walk)
{
	/* If there is a last chunk, there is a step to add it to. */
	if (walk->last.size && !keep(walk, &walk->last, PMP_CHUNK_TOP))
		return PMP_ENOMEM;
	return commit_all(walk) ? 0 : 1;
}

static bool is_swapped(const struct pmp_chunk_walk *walk, uint64_t address)
{
	return walk->pages[(address - walk->base) / PMP_CENSUS_PAGE] == PMP_PAGE_SWAPPED;
}

static enum outcome walk_next(struct pmp_chunk_walk *walk)
{
	const uint64_t from = walk->at;
	enum outcome outcome;

	if (!begin_step(walk))
		return STOPPED;
	walk->memory->rest(walk->memory->arg);
	load(walk, walk->at);
	outcome = walk_window(walk);
	if (walk->at > from)
		pmp_effort_give(walk->effort, WINDOW / PMP_CHUNK_ALIGN);
	if ((outcome == HIDDEN || outcome == WRONG) && is_over(walk))
		return ENDED;
	if (outcome == HIDDEN && is_swapped(walk, walk->at))
		return pass_hidden(walk) ? GOES_ON : ENDED;
	/* A chunk's page must have existed, unless it is not a chunk. */
	if (outcome == HIDDEN || outcome == WRONG)
		return recover(walk) ? GOES_ON : ENDED;
	if (walk->at > walk->wrong_at)
		walk->tries = 0;
	return outcome;
}

/* Find the first chunk; what comes before is not part of the heap. False: none. */
static bool find_first(struct pmp_chunk_walk *walk)
{
	const struct pmp_chunk_totals before = *walk->totals;

	if (walk->at >= walk->end)
		return false;
	load(walk, walk->at);
	if (!find_chain(walk))
		return false;
	*walk->totals = before;
	return true;
}

int pmp_chunk_walk_region(struct pmp_chunk_walk *walk, uint64_t start, uint64_t end,
			  const struct pmp_chunk_calls *calls,
			  struct pmp_chunk_totals *totals)
{
	enum outcome outcome = GOES_ON;

	walk->calls = calls;
	walk->totals = totals;
	walk->at = start + (PMP_CHUNK_ALIGN - start % PMP_CHUNK_ALIGN) % PMP_CHUNK_ALIGN;
	walk->end = end;
	walk->last.size = 0;
	walk->step_count = 0;
	walk->tries = 0;
	walk->wrong_at = 0;
	if (!find_first(walk))
		return 0;
	/* The region may have grown meanwhile: then the last chunk is not the top any
	 * more. */
	for (int i = 0; i < GROWTHS; i++) {
		while (outcome == GOES_ON && walk->at < walk->end)
			outcome = walk_next(walk);
		if (outcome == FAILED || outcome == STOPPED || !walk->effort->left ||
		    is_over(walk))
			break;
		outcome = GOES_ON;
	}
	if (outcome == STOPPED)
		return 1;
	return outcome == FAILED ? PMP_ENOMEM : finish(walk);
}
