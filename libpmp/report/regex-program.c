/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See regex-program.h. An expression becomes a tree, the tree becomes states, from its end to
 * its beginning: each part is given the state that follows.
 *
 * What regcomp() accepts means the same here, but for characters that are no ASCII: these are
 * bytes; and (^a){2} never matches: glibc forgets anchors in what it writes out again. 0530
 * compares the two.
 */
#include "report/regex-program.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "libpmp.h"
#include "report/regex-cost.h"
#include "report/regex-states.h"

#define DEPTH_MAX 128  /* of parentheses */
#define NODES_MAX 4096 /* of the tree */

enum node_kind { NODE_NOTHING, NODE_SET, NODE_PLACE, NODE_ROW, NODE_EITHER, NODE_REPEAT };

struct part {
	enum node_kind kind;
	uint16_t left, right; /* parts; the number of a set; the kind of a place */
	struct pmp_repeat times;
};

struct parser {
	const char *at, *end;
	bool ignore_case, failed, no_memory;
	struct part *nodes;
	size_t count, room, depth;
	struct pmp_program *program;
};

/* ---- the tree -------------------------------------------------------------------- */

static uint16_t new_node(struct parser *reader, enum node_kind kind, size_t left,
			 size_t right)
{
	if (reader->count == NODES_MAX)
		reader->failed = true;
	if (reader->failed ||
	    PMP_RESERVE(&reader->nodes, &reader->room, reader->count + 1)) {
		reader->no_memory |= !reader->failed;
		reader->failed = true;
		return 0;
	}
	reader->nodes[reader->count] = (struct part){
		.kind = kind,
		.left = (uint16_t)left,
		.right = (uint16_t)right,
	};
	return (uint16_t)reader->count++;
}

static void set_add(struct pmp_byte_set *set, unsigned char byte)
{
	set->bits[byte / 64] |= UINT64_C(1) << (byte % 64);
}

static unsigned char upper(unsigned char byte)
{
	return byte >= 'a' && byte <= 'z' ? (unsigned char)(byte - 'a' + 'A') : byte;
}

/* As regcomp() does, case is ignored by having all in capitals. */
static uint16_t set_node(struct parser *reader, const struct pmp_byte_set *set,
			 bool inverse)
{
	struct pmp_program *program = reader->program;
	struct pmp_byte_set *new;

	if (PMP_RESERVE(&program->sets, &program->set_room, program->set_count + 1)) {
		reader->no_memory = reader->failed = true;
		return 0;
	}
	new = &program->sets[program->set_count];
	*new = (struct pmp_byte_set){ { 0 } };
	for (unsigned i = 1; i < 256; i++) {
		unsigned char byte = (unsigned char)i;

		if (pmp_set_has(set, reader->ignore_case ? upper(byte) : byte) != inverse)
			set_add(new, byte);
	}
	return new_node(reader, NODE_SET, program->set_count++, 0);
}

static uint16_t read_byte(struct parser *reader, char byte)
{
	struct pmp_byte_set set = { { 0 } };
	unsigned char c = (unsigned char)byte;

	set_add(&set, reader->ignore_case ? upper(c) : c);
	return set_node(reader, &set, false);
}

/* ---- sets ------------------------------------------------------------------------ */

/* [:alpha:], whose name begins at name. */
static void add_class(struct parser *reader, struct pmp_byte_set *set, const char *name,
		      size_t length)
{
	static const struct {
		const char *name;
		int (*has)(int);
	} classes[] = {
		{ "alpha", isalpha }, { "digit", isdigit }, { "alnum", isalnum },
		{ "upper", isupper }, { "lower", islower }, { "space", isspace },
		{ "blank", isblank }, { "punct", ispunct }, { "print", isprint },
		{ "graph", isgraph }, { "cntrl", iscntrl }, { "xdigit", isxdigit },
	};

	for (size_t i = 0; i < sizeof(classes) / sizeof(*classes); i++) {
		size_t k = i;

		if (strlen(classes[i].name) != length ||
		    memcmp(classes[i].name, name, length) != 0)
			continue;
		if (reader->ignore_case &&
		    (classes[i].has == isupper || classes[i].has == islower))
			k = 0;
		for (int byte = 0; byte < 128; byte++)
			if (classes[k].has(byte))
				set_add(set, (unsigned char)byte);
	}
}

/* One character of a bracket expression, or [.x.], or [=x=]. */
static unsigned char read_element(struct parser *reader)
{
	const char *at = reader->at;
	char kind = reader->end - at > 4 && *at == '[' ? at[1] : '\0';
	unsigned char byte = (unsigned char)*at;

	reader->at++;
	if ((kind == '.' || kind == '=') && at[3] == kind && at[4] == ']') {
		byte = (unsigned char)at[2];
		reader->at = at + 5;
	}
	return reader->ignore_case ? upper(byte) : byte;
}

/* A class, a character or a range. */
static void read_elements(struct parser *reader, struct pmp_byte_set *set)
{
	const char *at = reader->at;
	unsigned char first, last;

	if (reader->end - at > 2 && at[0] == '[' && at[1] == ':') {
		const char *name = at + 2, *close = name;

		while (close < reader->end && *close != ':')
			close++;
		if (close + 1 < reader->end && close[1] == ']') {
			add_class(reader, set, name, (size_t)(close - name));
			reader->at = close + 2;
			return;
		}
	}
	first = last = read_element(reader);
	if (reader->end - reader->at > 1 && reader->at[0] == '-' &&
	    reader->at[1] != ']') {
		reader->at++;
		last = read_element(reader);
	}
	for (unsigned byte = first; byte <= last; byte++)
		set_add(set, (unsigned char)byte);
}

static uint16_t read_brackets(struct parser *reader)
{
	struct pmp_byte_set set = { { 0 } };
	bool inverse = reader->at < reader->end && *reader->at == '^', any = false;

	reader->at += inverse;
	while (reader->at < reader->end && (!any || *reader->at != ']')) {
		read_elements(reader, &set);
		any = true;
	}
	reader->at += reader->at < reader->end;
	return set_node(reader, &set, inverse);
}

/* ---- parts ----------------------------------------------------------------------- */

static uint16_t read_escape(struct parser *reader)
{
	static const char places[] = "`'<>bB";
	static const enum pmp_state_kind kinds[] = {
		PMP_STATE_BEGIN,    PMP_STATE_FINISH,	 PMP_STATE_WORD_BEGIN,
		PMP_STATE_WORD_END, PMP_STATE_WORD_EDGE, PMP_STATE_NO_WORD_EDGE,
	};
	char byte = reader->at < reader->end ? *reader->at++ : '\\';
	const char *place = byte ? strchr(places, byte) : NULL;
	struct pmp_byte_set set = { { 0 } };

	if (place)
		return new_node(reader, NODE_PLACE, kinds[place - places], 0);
	if (!byte || !strchr("wWsS", byte))
		return read_byte(reader, byte);
	for (unsigned i = 1; i < 128; i++)
		if (byte == 'w' || byte == 'W' ? pmp_is_word((unsigned char)i)
					       : isspace((int)i))
			set_add(&set, (unsigned char)i);
	return set_node(reader, &set, byte == 'W' || byte == 'S');
}

static uint16_t read_alternatives(struct parser *reader);

static uint16_t read_group(struct parser *reader)
{
	uint16_t node = 0;

	if (++reader->depth > DEPTH_MAX)
		reader->failed = true;
	if (!reader->failed)
		node = read_alternatives(reader);
	reader->at += reader->at < reader->end;
	reader->depth--;
	return node;
}

static uint16_t read_part(struct parser *reader)
{
	static const struct pmp_byte_set none;
	char byte = *reader->at++;

	switch (byte) {
	case '(': return read_group(reader);
	case '[': return read_brackets(reader);
	case '\\': return read_escape(reader);
	case '.': return set_node(reader, &none, true);
	case '^': return new_node(reader, NODE_PLACE, PMP_STATE_BEGIN, 0);
	case '$': return new_node(reader, NODE_PLACE, PMP_STATE_FINISH, 0);
	default: return read_byte(reader, byte);
	}
}

/* The repeats after a part. */
static uint16_t read_repeats(struct parser *reader, uint16_t part)
{
	while (reader->at < reader->end && !reader->failed &&
	       strchr("*+?{", *reader->at)) {
		char byte = *reader->at;
		struct pmp_repeat times = { byte == '+', byte != '?' ? 0 : 1,
					    byte != '?' };

		if (byte == '{')
			reader->at =
				pmp_expression_interval(reader->at, reader->end, &times);
		else
			reader->at++;
		part = new_node(reader, NODE_REPEAT, part, 0);
		if (!reader->failed)
			reader->nodes[part].times = times;
	}
	return part;
}

/* Up to the end of a group, whose parenthesis is left; without one, of all. */
static uint16_t read_alternatives(struct parser *reader)
{
	uint16_t before = 0, row = new_node(reader, NODE_NOTHING, 0, 0);
	bool more = false;

	while (!reader->failed && reader->at < reader->end) {
		if (*reader->at == ')' && reader->depth)
			break;
		if (*reader->at == '|') {
			reader->at++;
			before = more ? new_node(reader, NODE_EITHER, before, row) : row;
			row = new_node(reader, NODE_NOTHING, 0, 0);
			more = true;
		} else {
			uint16_t part = read_part(reader);

			row = new_node(reader, NODE_ROW, row, read_repeats(reader, part));
		}
	}
	return more ? new_node(reader, NODE_EITHER, before, row) : row;
}

/* ---- states ---------------------------------------------------------------------- */

static uint16_t new_state(struct parser *reader, size_t kind, size_t next, size_t other)
{
	struct pmp_program *program = reader->program;

	if (program->count == PMP_STATES_MAX)
		reader->failed = true;
	if (reader->failed ||
	    PMP_RESERVE(&program->states, &program->room, program->count + 1)) {
		reader->no_memory |= !reader->failed;
		reader->failed = true;
		return 0;
	}
	program->states[program->count] = (struct pmp_state){
		.kind = (uint16_t)kind,
		.next = (uint16_t)next,
		.other = (uint16_t)other,
	};
	return (uint16_t)program->count++;
}

static uint16_t make(struct parser *reader, uint16_t number, uint16_t next);

/* (a(a)?)? rather than a?a?: each way is there once. */
static uint16_t make_repeat(struct parser *reader, const struct part *node, uint16_t next)
{
	uint16_t at = next, loop;

	if (node->times.endless) {
		at = loop = new_state(reader, PMP_STATE_BOTH, 0, next);
		next = make(reader, node->left, loop);
		if (!reader->failed)
			reader->program->states[loop].next = next;
	} else {
		for (size_t i = node->times.least;
		     i < node->times.most && !reader->failed; i++)
			at = new_state(reader, PMP_STATE_BOTH,
				       make(reader, node->left, at), next);
	}
	for (size_t i = 0; i < node->times.least && !reader->failed; i++)
		at = make(reader, node->left, at);
	return at;
}

static uint16_t make(struct parser *reader, uint16_t number, uint16_t next)
{
	const struct part *node = &reader->nodes[number];

	if (reader->failed)
		return 0;
	switch (node->kind) {
	case NODE_SET: return new_state(reader, PMP_STATE_SET, next, node->left);
	case NODE_PLACE: return new_state(reader, node->left, next, 0);
	case NODE_ROW: return make(reader, node->left, make(reader, node->right, next));
	case NODE_EITHER:
		return new_state(reader, PMP_STATE_BOTH, make(reader, node->left, next),
				 make(reader, node->right, next));
	case NODE_REPEAT: return make_repeat(reader, node, next);
	default: return next;
	}
}

/* Which bytes a match can begin with, if it has any. */
static void find_first(struct pmp_program *program)
{
	uint16_t pending[PMP_STATES_MAX + 1];
	bool seen[PMP_STATES_MAX] = { false };
	size_t count = 0;

	program->skips = true;
	pending[count++] = program->start;
	while (count) {
		uint16_t number = pending[--count];
		const struct pmp_state *state = &program->states[number];

		if (seen[number])
			continue;
		seen[number] = true;
		if (state->kind == PMP_STATE_END) {
			program->skips = false;
		} else if (state->kind == PMP_STATE_SET) {
			for (size_t i = 0; i < 4; i++)
				program->first.bits[i] |=
					program->sets[state->other].bits[i];
		} else {
			pending[count++] = state->next;
			if (state->kind == PMP_STATE_BOTH)
				pending[count++] = state->other;
		}
	}
}

int pmp_program_new(struct pmp_program **program, const char *text, size_t length,
		    bool ignore_case)
{
	struct parser reader = { .at = text,
				 .end = text + length,
				 .ignore_case = ignore_case };
	uint16_t tree;

	reader.program = *program = calloc(1, sizeof(**program));
	if (!*program)
		return PMP_ENOMEM;
	tree = read_alternatives(&reader);
	if (!reader.failed)
		(*program)->start =
			make(&reader, tree, new_state(&reader, PMP_STATE_END, 0, 0));
	free(reader.nodes);
	if (!reader.failed) {
		find_first(*program);
		return 0;
	}
	pmp_program_free(*program);
	*program = NULL;
	return reader.no_memory ? PMP_ENOMEM : PMP_EINVAL;
}

void pmp_program_free(struct pmp_program *program)
{
	if (!program)
		return;
	free(program->states);
	free(program->sets);
	free(program);
}
