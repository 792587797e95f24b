/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A stack is taken apart into its functions, several of which may be inlined at one
 * location; the filter says which are left; then neighbours from the same location are
 * put together again. The result is interned, frames and all: equal ones are one.
 */
#include "tally/sieve.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/intern.h"
#include "tally/expression.h"
#include "tally/filter.h"

/* A function at a location, as the filter shows it. */
struct piece {
	struct pmp_frame frame;
	uint32_t name;		/* in names */
	pmp_marks marks;
};

struct place {
	size_t first;		/* in pieces */
	uint32_t count;		/* 0: not looked at yet */
};

/* A function of the stack at hand. */
struct step {
	uint32_t index;		/* of the stack's locations */
	size_t piece;
};

/* What has been found out for a function by its name and module. */
struct known {
	uint32_t name;		/* to show */
	pmp_marks marks;
	bool renamed;
};

/* What is interned for a location that is left; its frames follow. */
struct head {
	uint32_t location;
	uint32_t exact;
};

struct pmp_sieve {
	const struct pmp_filter *filter;
	struct pmp_symbolizer *symbolizer;
	struct pmp_intern *names, *functions, *cuts;
	struct known *known;	/* by number in functions */
	size_t known_count, known_capacity;
	struct place *places;	/* by location */
	size_t place_count, place_capacity;
	struct piece *pieces;
	size_t piece_count, piece_capacity;
	/* The stack at hand. */
	struct step *steps;
	pmp_marks *marks;
	uint32_t *numbers, *kept, *origins;
	pmp_location *left;
	size_t step_capacity, mark_capacity, number_capacity, kept_capacity;
	size_t origin_capacity, left_capacity;
	uint64_t *cut;		/* a key of cuts */
	size_t cut_capacity;
};

struct pmp_sieve *pmp_sieve_new(const struct pmp_filter *filter,
				struct pmp_symbolizer *symbolizer)
{
	struct pmp_sieve *sieve = calloc(1, sizeof(*sieve));

	if (!sieve)
		return NULL;
	sieve->filter = filter;
	sieve->symbolizer = symbolizer;
	sieve->names = pmp_intern_new();
	sieve->functions = pmp_intern_new();
	sieve->cuts = pmp_intern_new();
	if (sieve->names && sieve->functions && sieve->cuts)
		return sieve;
	pmp_sieve_free(sieve);
	return NULL;
}

void pmp_sieve_free(struct pmp_sieve *sieve)
{
	if (!sieve)
		return;
	pmp_intern_free(sieve->names);
	pmp_intern_free(sieve->functions);
	pmp_intern_free(sieve->cuts);
	free(sieve->known);
	free(sieve->places);
	free(sieve->pieces);
	free(sieve->steps);
	free(sieve->marks);
	free(sieve->numbers);
	free(sieve->kept);
	free(sieve->origins);
	free(sieve->left);
	free(sieve->cut);
	free(sieve);
}

const struct pmp_filter *pmp_sieve_filter(const struct pmp_sieve *sieve)
{
	return sieve->filter;
}

/* ---- functions ------------------------------------------------------------------- */

/* Ask the filter. 0 or PMP_ENOMEM. */
static int learn(struct pmp_sieve *sieve, const struct pmp_frame *frame, struct known *known)
{
	char name[PMP_EXPRESSION_NAME];

	known->marks = pmp_filter_function(sieve->filter, frame->function, frame->module,
					   name, sizeof(name));
	if (pmp_filter_has_failed(known->marks))
		return PMP_ENOMEM;
	/* Longer ones than the buffer are cut off only if they are renamed. */
	known->renamed = strncmp(name, frame->function, sizeof(name) - 1) != 0;
	known->name = known->renamed ? pmp_intern(sieve->names, name, strlen(name))
				     : pmp_intern(sieve->names, frame->function,
						  strlen(frame->function));
	return known->name == PMP_INTERN_NONE ? PMP_ENOMEM : 0;
}

/* What is known of a frame's function, or NULL: no memory. */
static const struct known *know(struct pmp_sieve *sieve, const struct pmp_frame *frame)
{
	const uint32_t key[] = {
		pmp_intern(sieve->names, frame->function, strlen(frame->function)),
		pmp_intern(sieve->names, frame->module, strlen(frame->module)),
	};
	struct known known;
	uint32_t id;

	if (key[0] == PMP_INTERN_NONE || key[1] == PMP_INTERN_NONE)
		return NULL;
	id = pmp_intern_find(sieve->functions, key, sizeof(key));
	if (id != PMP_INTERN_NONE)
		return &sieve->known[id];
	if (learn(sieve, frame, &known) ||
	    PMP_RESERVE(&sieve->known, &sieve->known_capacity, sieve->known_count + 1))
		return NULL;
	id = pmp_intern(sieve->functions, key, sizeof(key));
	if (id == PMP_INTERN_NONE)
		return NULL;
	sieve->known[sieve->known_count++] = known;
	return &sieve->known[id];
}

static int add_piece(struct pmp_sieve *sieve, const struct pmp_frame *frame)
{
	const struct known *known = know(sieve, frame);
	struct piece *piece;

	if (!known ||
	    PMP_RESERVE(&sieve->pieces, &sieve->piece_capacity, sieve->piece_count + 1))
		return PMP_ENOMEM;
	piece = &sieve->pieces[sieve->piece_count++];
	/* What is interned is compared byte by byte: there may be holes between fields. */
	memset(piece, 0, sizeof(*piece));
	piece->frame.function = frame->function;
	piece->frame.file = frame->file;
	piece->frame.line = frame->line;
	piece->frame.unnamed = frame->unnamed;
	piece->frame.signal = frame->signal;
	piece->frame.module = frame->module;
	piece->frame.address = frame->address;
	piece->name = known->name;
	piece->marks = known->marks;
	if (!known->renamed)
		return 0;
	piece->frame.function = pmp_intern_data(sieve->names, known->name, NULL);
	piece->frame.unnamed = piece->frame.signal = false;
	return 0;
}

static const struct place *find_place(struct pmp_sieve *sieve, pmp_location location)
{
	size_t need = (size_t)location + 1, first = sieve->piece_count, count;
	const struct pmp_frame *frames;

	if (need > sieve->place_count) {
		if (PMP_RESERVE(&sieve->places, &sieve->place_capacity, need))
			return NULL;
		memset(sieve->places + sieve->place_count, 0,
		       (sieve->place_capacity - sieve->place_count) *
			       sizeof(*sieve->places));
		sieve->place_count = sieve->place_capacity;
	}
	if (sieve->places[location].count)
		return &sieve->places[location];
	count = pmp_symbolizer_frames(sieve->symbolizer, location, &frames);
	for (size_t i = 0; i < count; i++)
		if (add_piece(sieve, &frames[i]))
			return NULL;
	sieve->places[location] = (struct place){ first, (uint32_t)count };
	return &sieve->places[location];
}

/* ---- stacks ---------------------------------------------------------------------- */

/* Room for one more function, in all arrays. */
static int reserve(struct pmp_sieve *sieve, size_t need)
{
	if (PMP_RESERVE(&sieve->steps, &sieve->step_capacity, need) ||
	    PMP_RESERVE(&sieve->marks, &sieve->mark_capacity, need) ||
	    PMP_RESERVE(&sieve->numbers, &sieve->number_capacity, need) ||
	    PMP_RESERVE(&sieve->kept, &sieve->kept_capacity, need) ||
	    PMP_RESERVE(&sieve->origins, &sieve->origin_capacity, need) ||
	    PMP_RESERVE(&sieve->left, &sieve->left_capacity, need))
		return PMP_ENOMEM;
	return 0;
}

static int take_apart(struct pmp_sieve *sieve, const struct pmp_sieve_stack *stack,
		      size_t *count)
{
	*count = 0;
	for (size_t i = 0; i < stack->count; i++) {
		const struct place *place = find_place(sieve, stack->locations[i]);

		if (!place || reserve(sieve, *count + place->count + 1))
			return PMP_ENOMEM;
		for (uint32_t k = 0; k < place->count; k++) {
			sieve->steps[*count] =
				(struct step){ (uint32_t)i, place->first + k };
			sieve->marks[*count] = sieve->pieces[place->first + k].marks;
			++*count;
		}
	}
	return reserve(sieve, *count + 1);
}

static bool is_shown(const struct pmp_sieve *sieve, const struct pmp_sieve_stack *stack,
		     pmp_marks marks)
{
	enum pmp_idle wanted = pmp_filter_options(sieve->filter)->idle;
	bool idle;

	if (!pmp_filter_passes(sieve->filter, marks))
		return false;
	if (wanted == PMP_IDLE_SHOWN)
		return true;
	idle = pmp_filter_is_idle(marks, stack->state, stack->syscall);
	return idle == (wanted == PMP_IDLE_ONLY);
}

/* Drop hidden functions and recursion. Returns how many steps are left. */
static size_t thin_out(struct pmp_sieve *sieve, size_t count)
{
	size_t n = 0;

	for (size_t i = 0; i < count; i++)
		if (!pmp_filter_is_hidden(sieve->marks[i]))
			sieve->steps[n++] = sieve->steps[i];
	if (!pmp_filter_options(sieve->filter)->fold_recursion)
		return n;
	for (size_t i = 0; i < n; i++)
		sieve->numbers[i] = sieve->pieces[sieve->steps[i].piece].name;
	n = pmp_filter_fold(sieve->filter, sieve->numbers, n, sieve->kept);
	for (size_t i = 0; i < n; i++)
		sieve->steps[i] = sieve->steps[sieve->kept[i]];
	return n;
}

/* The number of a location with some of its functions, PMP_INTERN_NONE: no memory. */
static pmp_location cut(struct pmp_sieve *sieve, struct head head, const struct step *steps,
			size_t count)
{
	size_t size = sizeof(head) + count * sizeof(struct pmp_frame);
	struct pmp_frame *frames;

	if (PMP_RESERVE(&sieve->cut, &sieve->cut_capacity, size / sizeof(*sieve->cut) + 1))
		return PMP_INTERN_NONE;
	memcpy(sieve->cut, &head, sizeof(head));
	frames = (struct pmp_frame *)(sieve->cut + 1);
	for (size_t i = 0; i < count; i++) {
		memcpy(&frames[i], &sieve->pieces[steps[i].piece].frame, sizeof(*frames));
		/* The last one has the frame on the stack, as far as one can see. */
		frames[i].inlined = i + 1 < count;
	}
	return pmp_intern(sieve->cuts, sieve->cut, size);
}

/* What stands for all functions of a stack when none is left. */
static pmp_location cut_all(struct pmp_sieve *sieve)
{
	struct {
		struct head head;
		struct pmp_frame frame;
	} key;

	memset(&key, 0, sizeof(key));
	key.head.location = PMP_LOCATION_NONE;
	key.frame.function = "[hidden]";
	key.frame.module = "[unmapped]";
	return pmp_intern(sieve->cuts, &key, sizeof(key));
}

/* Is this the only function left at its location, and a signal's trampoline? */
static bool is_signal(const struct pmp_sieve *sieve, const struct step *steps, size_t count)
{
	return count == 1 && sieve->pieces[steps[0].piece].frame.signal;
}

/* Neighbours of one location are one again. 0 or PMP_ENOMEM. */
static int put_together(struct pmp_sieve *sieve, struct pmp_sieve_stack *stack, size_t count)
{
	bool exact = true;
	size_t n = 0;

	for (size_t i = 0, end; i < count; i = end) {
		uint32_t index = sieve->steps[i].index;
		struct head head = { stack->locations[index], exact };

		for (end = i; end < count && sieve->steps[end].index == index;)
			end++;
		sieve->left[n] = cut(sieve, head, &sieve->steps[i], end - i);
		exact = is_signal(sieve, &sieve->steps[i], end - i);
		if (sieve->left[n] == PMP_INTERN_NONE)
			return PMP_ENOMEM;
		sieve->origins[n++] = index;
	}
	if (!n && stack->count) {
		sieve->left[n] = cut_all(sieve);
		if (sieve->left[n] == PMP_INTERN_NONE)
			return PMP_ENOMEM;
		sieve->origins[n++] = 0;
	}
	stack->left = sieve->left;
	stack->origins = sieve->origins;
	stack->left_count = n;
	return 0;
}

int pmp_sieve_take(struct pmp_sieve *sieve, struct pmp_sieve_stack *stack)
{
	size_t count, left;
	pmp_marks marks;

	if (take_apart(sieve, stack, &count))
		return PMP_ENOMEM;
	marks = pmp_filter_stack(sieve->marks, count);
	if (!is_shown(sieve, stack, marks))
		return 0;
	stack->trimmed = pmp_filter_is_trimmed(marks);
	left = pmp_filter_trim(sieve->marks, count);
	left = thin_out(sieve, left);
	return put_together(sieve, stack, left) ? PMP_ENOMEM : 1;
}

/* ---- what is left ---------------------------------------------------------------- */

size_t pmp_sieve_frames(const struct pmp_sieve *sieve, pmp_location location,
			const struct pmp_frame **frames)
{
	size_t length;
	const char *data = pmp_intern_data(sieve->cuts, location, &length);

	*frames = (const struct pmp_frame *)(const void *)(data + sizeof(struct head));
	return (length - sizeof(struct head)) / sizeof(struct pmp_frame);
}

void pmp_sieve_origin(const struct pmp_sieve *sieve, pmp_location location,
		      struct pmp_origin *origin)
{
	const struct head *head = pmp_intern_data(sieve->cuts, location, NULL);

	*origin = (struct pmp_origin){ .mapping = UINT32_MAX };
	if (head->location == PMP_LOCATION_NONE)
		return;
	pmp_symbolizer_origin(sieve->symbolizer, head->location, origin);
	/* A caller that is the innermost function now is at its call, not behind it. */
	if (origin->exact != (bool)head->exact && origin->pc)
		origin->pc += origin->exact ? 1 : UINT64_C(-1);
	origin->exact = head->exact;
}
