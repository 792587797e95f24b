/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A stack is split into its functions, several of which may be inlined at one location;
 * the filter decides which to keep; then neighbours from the same location are joined
 * again. The result is interned together with its frames, so equal ones get one number.
 */
#include "report/filter-stack.h"

#include <stdlib.h>
#include <string.h>

#include "libpmp-program.h"
#include "base/alloc.h"
#include "base/intern.h"
#include "base/regex.h"
#include "report/filter.h"

/* A function at a location, as the filter shows it. */
struct function_at {
	struct pmp_frame frame;
	uint32_t name; /* index into names */
	pmp_marks marks;
};

struct location_functions {
	size_t first;	/* index into functions */
	uint32_t count; /* 0: not looked up yet */
};

/* A function of the current stack. */
struct stack_step {
	uint32_t index; /* into the stack's locations */
	size_t function;
};

/* What the filter says of a function, by name and module. */
struct function_verdict {
	uint32_t name; /* the name to show */
	pmp_marks marks;
	bool renamed;
};

/* The key of a location that is kept; its frames follow. */
struct head {
	uint32_t location;
	uint32_t exact;
};

struct pmp_filter_stack {
	const struct pmp_filter *filter;
	struct pmp_symbolizer *symbolizer;
	struct pmp_intern *names, *function_keys, *cuts;
	struct function_verdict *verdicts; /* by number in function_keys */
	size_t verdict_count, verdict_capacity;
	struct location_functions *by_location;
	size_t location_count, location_capacity;
	struct function_at *functions;
	size_t function_count, function_capacity;
	/* The current stack. */
	struct stack_step *steps;
	pmp_marks *marks;
	uint32_t *numbers, *kept, *origins;
	pmp_location *left;
	size_t step_capacity, mark_capacity, number_capacity, kept_capacity;
	size_t origin_capacity, left_capacity;
	uint64_t *cut; /* buffer for a key of cuts */
	size_t cut_capacity;
};

struct pmp_filter_stack *pmp_filter_stack_new(const struct pmp_filter *filter,
					      struct pmp_symbolizer *symbolizer)
{
	struct pmp_filter_stack *stacks = calloc(1, sizeof(*stacks));

	if (!stacks)
		return NULL;
	stacks->filter = filter;
	stacks->symbolizer = symbolizer;
	stacks->names = pmp_intern_new();
	stacks->function_keys = pmp_intern_new();
	stacks->cuts = pmp_intern_new();
	if (stacks->names && stacks->function_keys && stacks->cuts)
		return stacks;
	pmp_filter_stack_free(stacks);
	return NULL;
}

void pmp_filter_stack_free(struct pmp_filter_stack *stacks)
{
	if (!stacks)
		return;
	pmp_intern_free(stacks->names);
	pmp_intern_free(stacks->function_keys);
	pmp_intern_free(stacks->cuts);
	free(stacks->verdicts);
	free(stacks->by_location);
	free(stacks->functions);
	free(stacks->steps);
	free(stacks->marks);
	free(stacks->numbers);
	free(stacks->kept);
	free(stacks->origins);
	free(stacks->left);
	free(stacks->cut);
	free(stacks);
}

const struct pmp_filter *pmp_filter_stack_filter(const struct pmp_filter_stack *stacks)
{
	return stacks->filter;
}

/* ---- functions ------------------------------------------------------------------- */

/* Ask the filter. 0 or PMP_ENOMEM. */
static int learn(struct pmp_filter_stack *stacks, const struct pmp_frame *frame,
		 struct function_verdict *known)
{
	char name[PMP_EXPRESSION_NAME];

	known->marks =
		pmp_filter_function(stacks->filter, frame->function, frame->readable,
				    frame->module, name, sizeof(name));
	if (pmp_filter_has_failed(known->marks))
		return PMP_ENOMEM;
	/* A name longer than the buffer is cut off only if it was renamed. */
	known->renamed = strncmp(name, frame->function, sizeof(name) - 1) != 0;
	known->name = known->renamed ? pmp_intern(stacks->names, name, strlen(name))
				     : pmp_intern(stacks->names, frame->function,
						  strlen(frame->function));
	return known->name == PMP_INTERN_NONE ? PMP_ENOMEM : 0;
}

/* The verdict on a frame's function; NULL: no memory. */
static const struct function_verdict *know(struct pmp_filter_stack *stacks,
					   const struct pmp_frame *frame)
{
	const uint32_t key[] = {
		pmp_intern(stacks->names, frame->function, strlen(frame->function)),
		pmp_intern(stacks->names, frame->module, strlen(frame->module)),
	};
	struct function_verdict known;
	uint32_t id;

	if (key[0] == PMP_INTERN_NONE || key[1] == PMP_INTERN_NONE)
		return NULL;
	id = pmp_intern_find(stacks->function_keys, key, sizeof(key));
	if (id != PMP_INTERN_NONE)
		return &stacks->verdicts[id];
	if (learn(stacks, frame, &known) ||
	    PMP_RESERVE(&stacks->verdicts, &stacks->verdict_capacity,
			stacks->verdict_count + 1))
		return NULL;
	id = pmp_intern(stacks->function_keys, key, sizeof(key));
	if (id == PMP_INTERN_NONE)
		return NULL;
	stacks->verdicts[stacks->verdict_count++] = known;
	return &stacks->verdicts[id];
}

static int add_function(struct pmp_filter_stack *stacks, const struct pmp_frame *frame)
{
	const struct function_verdict *known = know(stacks, frame);
	struct function_at *function;

	if (!known || PMP_RESERVE(&stacks->functions, &stacks->function_capacity,
				  stacks->function_count + 1))
		return PMP_ENOMEM;
	function = &stacks->functions[stacks->function_count++];
	/* The struct is interned and compared byte by byte: clear its padding. */
	memset(function, 0, sizeof(*function));
	function->frame.function = frame->function;
	function->frame.linkage = frame->linkage;
	function->frame.readable = frame->readable;
	function->frame.file = frame->file;
	function->frame.line = frame->line;
	function->frame.unnamed = frame->unnamed;
	function->frame.signal = frame->signal;
	function->frame.module = frame->module;
	function->frame.address = frame->address;
	function->name = known->name;
	function->marks = known->marks;
	if (!known->renamed)
		return 0;
	function->frame.function = pmp_intern_data(stacks->names, known->name, NULL);
	function->frame.linkage = function->frame.readable = NULL;
	function->frame.unnamed = function->frame.signal = false;
	return 0;
}

static const struct location_functions *functions_at(struct pmp_filter_stack *stacks,
						     pmp_location location)
{
	size_t need = (size_t)location + 1, first = stacks->function_count, count;
	const struct pmp_frame *frames;

	if (need > stacks->location_count) {
		if (PMP_RESERVE(&stacks->by_location, &stacks->location_capacity, need))
			return NULL;
		memset(stacks->by_location + stacks->location_count, 0,
		       (stacks->location_capacity - stacks->location_count) *
			       sizeof(*stacks->by_location));
		stacks->location_count = stacks->location_capacity;
	}
	if (stacks->by_location[location].count)
		return &stacks->by_location[location];
	count = pmp_symbolizer_frames(stacks->symbolizer, location, &frames);
	for (size_t i = 0; i < count; i++)
		if (add_function(stacks, &frames[i]))
			return NULL;
	stacks->by_location[location] =
		(struct location_functions){ first, (uint32_t)count };
	return &stacks->by_location[location];
}

/* ---- stacks ---------------------------------------------------------------------- */

/* Make room for need functions in all arrays. */
static int reserve(struct pmp_filter_stack *stacks, size_t need)
{
	if (PMP_RESERVE(&stacks->steps, &stacks->step_capacity, need) ||
	    PMP_RESERVE(&stacks->marks, &stacks->mark_capacity, need) ||
	    PMP_RESERVE(&stacks->numbers, &stacks->number_capacity, need) ||
	    PMP_RESERVE(&stacks->kept, &stacks->kept_capacity, need) ||
	    PMP_RESERVE(&stacks->origins, &stacks->origin_capacity, need) ||
	    PMP_RESERVE(&stacks->left, &stacks->left_capacity, need))
		return PMP_ENOMEM;
	return 0;
}

static int take_apart(struct pmp_filter_stack *stacks,
		      const struct pmp_filtered_stack *stack, size_t *count)
{
	*count = 0;
	for (size_t i = 0; i < stack->count; i++) {
		const struct location_functions *at =
			functions_at(stacks, stack->locations[i]);

		if (!at || reserve(stacks, *count + at->count + 1))
			return PMP_ENOMEM;
		for (uint32_t k = 0; k < at->count; k++) {
			stacks->steps[*count] =
				(struct stack_step){ (uint32_t)i, at->first + k };
			stacks->marks[*count] = stacks->functions[at->first + k].marks;
			++*count;
		}
	}
	return reserve(stacks, *count + 1);
}

static bool is_shown(const struct pmp_filter_stack *stacks,
		     const struct pmp_filtered_stack *stack, pmp_marks marks)
{
	enum pmp_idle wanted = pmp_filter_options(stacks->filter)->idle;
	bool idle;

	if (!pmp_filter_passes(stacks->filter, marks))
		return false;
	if (wanted == PMP_IDLE_SHOWN)
		return true;
	idle = pmp_filter_is_idle(marks, stack->state, stack->syscall);
	return idle == (wanted == PMP_IDLE_ONLY);
}

/* Drop hidden functions and recursion. Returns how many steps remain. */
static size_t thin_out(struct pmp_filter_stack *stacks, size_t count)
{
	size_t n = 0;

	for (size_t i = 0; i < count; i++)
		if (!pmp_filter_is_hidden(stacks->marks[i]))
			stacks->steps[n++] = stacks->steps[i];
	if (!pmp_filter_options(stacks->filter)->fold_recursion)
		return n;
	for (size_t i = 0; i < n; i++)
		stacks->numbers[i] = stacks->functions[stacks->steps[i].function].name;
	n = pmp_filter_fold(stacks->filter, stacks->numbers, n, stacks->kept);
	for (size_t i = 0; i < n; i++)
		stacks->steps[i] = stacks->steps[stacks->kept[i]];
	return n;
}

/* The number of a location with these of its functions; PMP_INTERN_NONE: no memory. */
static pmp_location cut(struct pmp_filter_stack *stacks, struct head head,
			const struct stack_step *steps, size_t count)
{
	size_t size = sizeof(head) + count * sizeof(struct pmp_frame);
	struct pmp_frame *frames;

	if (PMP_RESERVE(&stacks->cut, &stacks->cut_capacity,
			size / sizeof(*stacks->cut) + 1))
		return PMP_INTERN_NONE;
	memcpy(stacks->cut, &head, sizeof(head));
	frames = (struct pmp_frame *)(stacks->cut + 1);
	for (size_t i = 0; i < count; i++) {
		memcpy(&frames[i], &stacks->functions[steps[i].function].frame,
		       sizeof(*frames));
		/* The outermost of them now owns the frame. */
		frames[i].inlined = i + 1 < count;
	}
	return pmp_intern(stacks->cuts, stacks->cut, size);
}

/* Stands in for a stack whose functions are all hidden. */
static pmp_location cut_all(struct pmp_filter_stack *stacks)
{
	struct {
		struct head head;
		struct pmp_frame frame;
	} key;

	memset(&key, 0, sizeof(key));
	key.head.location = PMP_LOCATION_NONE;
	key.frame.function = "[hidden]";
	key.frame.module = "[unmapped]";
	return pmp_intern(stacks->cuts, &key, sizeof(key));
}

/* Is the only function kept at this location a signal trampoline? */
static bool is_signal(const struct pmp_filter_stack *stacks,
		      const struct stack_step *steps, size_t count)
{
	return count == 1 && stacks->functions[steps[0].function].frame.signal;
}

/* Join neighbours from the same location. 0 or PMP_ENOMEM. */
static int put_together(struct pmp_filter_stack *stacks, struct pmp_filtered_stack *stack,
			size_t count)
{
	bool exact = true;
	size_t n = 0;

	for (size_t i = 0, end; i < count; i = end) {
		uint32_t index = stacks->steps[i].index;
		struct head head = { stack->locations[index], exact };

		for (end = i; end < count && stacks->steps[end].index == index;)
			end++;
		stacks->left[n] = cut(stacks, head, &stacks->steps[i], end - i);
		exact = is_signal(stacks, &stacks->steps[i], end - i);
		if (stacks->left[n] == PMP_INTERN_NONE)
			return PMP_ENOMEM;
		stacks->origins[n++] = index;
	}
	if (!n && stack->count) {
		stacks->left[n] = cut_all(stacks);
		if (stacks->left[n] == PMP_INTERN_NONE)
			return PMP_ENOMEM;
		stacks->origins[n++] = 0;
	}
	stack->left = stacks->left;
	stack->origins = stacks->origins;
	stack->left_count = n;
	return 0;
}

int pmp_filter_stack_take(struct pmp_filter_stack *stacks,
			  struct pmp_filtered_stack *stack)
{
	size_t count, left;
	pmp_marks marks;

	if (take_apart(stacks, stack, &count))
		return PMP_ENOMEM;
	marks = pmp_filter_stack_marks(stacks->marks, count);
	if (!is_shown(stacks, stack, marks))
		return 0;
	stack->trimmed = pmp_filter_is_trimmed(marks);
	left = pmp_filter_trim(stacks->marks, count);
	left = thin_out(stacks, left);
	return put_together(stacks, stack, left) ? PMP_ENOMEM : 1;
}

/* ---- what is left ---------------------------------------------------------------- */

size_t pmp_filter_stack_frames(const struct pmp_filter_stack *stacks,
			       pmp_location location, const struct pmp_frame **frames)
{
	size_t length;
	const char *data = pmp_intern_data(stacks->cuts, location, &length);

	*frames = (const struct pmp_frame *)(const void *)(data + sizeof(struct head));
	return (length - sizeof(struct head)) / sizeof(struct pmp_frame);
}

void pmp_filter_stack_origin(const struct pmp_filter_stack *stacks, pmp_location location,
			     struct pmp_first_address *origin)
{
	const struct head *head = pmp_intern_data(stacks->cuts, location, NULL);

	*origin = (struct pmp_first_address){ .mapping = UINT32_MAX };
	if (head->location == PMP_LOCATION_NONE)
		return;
	pmp_symbolizer_first_address(stacks->symbolizer, head->location, origin);
	/* If the innermost function is now a caller, it is at its call, not after it. */
	if (origin->exact != (bool)head->exact && origin->pc)
		origin->pc += origin->exact ? 1 : UINT64_C(-1);
	origin->exact = head->exact;
}
