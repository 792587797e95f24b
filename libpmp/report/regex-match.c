/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See regex-program.h: all states in which a name can be, after each of its bytes. */
#include <string.h>

#include "report/regex-program.h"
#include "report/regex-states.h"

/* A set of states, in the order in which they were entered. */
struct states {
	size_t count;
	uint16_t list[PMP_STATES_MAX];
};

struct matching {
	const struct pmp_program *program;
	const unsigned char *name;
	size_t length, at;
	uint32_t *entered; /* for each state the last place at which it was, from 1 */
};

static bool is_here(const struct matching *matching, unsigned kind)
{
	size_t at = matching->at;
	bool before = at > 0 && pmp_is_word(matching->name[at - 1]);
	bool after = at < matching->length && pmp_is_word(matching->name[at]);

	switch (kind) {
	case PMP_STATE_BEGIN: return at == 0;
	case PMP_STATE_FINISH: return at == matching->length;
	case PMP_STATE_WORD_BEGIN: return !before && after;
	case PMP_STATE_WORD_END: return before && !after;
	case PMP_STATE_WORD_EDGE: return before != after;
	default: return before == after;
	}
}

/* Enter a state, and all that are reached from there without a byte. True: the end is. */
static bool enter(struct matching *matching, struct states *states, uint16_t first)
{
	uint16_t pending[PMP_STATES_MAX + 1];
	size_t count = 0;

	pending[count++] = first;
	while (count) {
		uint16_t number = pending[--count];
		const struct pmp_state *state = &matching->program->states[number];

		if (matching->entered[number] == matching->at + 1)
			continue;
		matching->entered[number] = (uint32_t)matching->at + 1;
		if (state->kind == PMP_STATE_END)
			return true;
		if (state->kind == PMP_STATE_SET) {
			states->list[states->count++] = number;
		} else if (state->kind == PMP_STATE_BOTH) {
			pending[count++] = state->other;
			pending[count++] = state->next;
		} else if (is_here(matching, state->kind)) {
			pending[count++] = state->next;
		}
	}
	return false;
}

/* Take the byte at the current place. True: the end is reached. */
static bool step(struct matching *matching, const struct states *from, struct states *to)
{
	const struct pmp_program *program = matching->program;
	unsigned char byte = matching->name[matching->at++];

	to->count = 0;
	for (size_t i = 0; i < from->count; i++) {
		const struct pmp_state *state = &program->states[from->list[i]];

		if (pmp_set_has(&program->sets[state->other], byte) &&
		    enter(matching, to, state->next))
			return true;
	}
	return false;
}

bool pmp_program_matches(const struct pmp_program *program, const char *name,
			 size_t length)
{
	uint32_t entered[PMP_STATES_MAX];
	struct matching matching = { .program = program,
				     .name = (const unsigned char *)name,
				     .length = length,
				     .entered = entered };
	struct states both[2];
	struct states *now = &both[0], *next = &both[1];

	memset(entered, 0, program->count * sizeof(*entered));
	now->count = 0;
	for (;;) {
		struct states *old = now;

		while (program->skips && !now->count && matching.at < length &&
		       !pmp_set_has(&program->first, matching.name[matching.at]))
			matching.at++;
		if (enter(&matching, now, program->start))
			return true;
		if (matching.at == length)
			return false;
		if (step(&matching, now, next))
			return true;
		now = next;
		next = old;
	}
}
