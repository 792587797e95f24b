/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Expressions are compiled by the C library, in which some features have no bound. Refused
 * are:
 *
 *   - back-references in an expression (not POSIX, and matched by trying all ways);
 *   - repeats within repeats, which it writes out: ((a{200}){200}){200}, and
 *     ((((a+)+)+)+)+ as well;
 *   - many ways past something without a character: it tries each of the 2^n of
 *     ((a*|b*)(a*|b*)...)*;
 *   - many parts in a row that may be empty: it goes from each to all that can follow, and
 *     after an anchor it copies what can, as in ^^^^...;
 *   - anchors that are repeated: it goes around as often as that leads to another copy, in
 *     all ways. For ((^|(((\b|a))*))*|(a|))+ that takes seconds.
 */
#include "report/regex-cost.h"

#include <stdbool.h>
#include <string.h>

#define LENGTH_MAX 1024	 /* of an expression */
#define WRITTEN_MAX 1024 /* of one with its repeats written out */
#define DEPTH_MAX 64	 /* of parentheses */
#define ROW_MAX 64	 /* of parts that may be empty, in a row */
#define ANCHOR 8	 /* how many of them an anchor is worth */
#define WAYS_MAX 64	 /* past them */
#define CEILING 65536	 /* of each figure; its square fits */

/* A part of an expression. */
struct cost {
	size_t written; /* its size when its repeats are written out */
	size_t empty;	/* ways to match nothing with it */
	size_t ways;	/* those of all its parts, multiplied; at least 1 */
	size_t row;	/* parts that may be empty on one way through it */
	size_t parts;	/* all of them */
	bool anchored;	/* has an anchor */
	bool looped;	/* has one that is repeated */
};

/* An expression in parentheses, or all of it, as far as it has been read. */
struct level {
	struct cost before; /* alternatives that are complete */
	struct cost begun;  /* what was read of this one, without the last part */
	struct cost last;   /* to which a repeat applies */
};

static const struct cost no_alternative; /* not even an empty one */
static const struct cost nothing = { .empty = 1, .ways = 1 };
static const struct cost character = { .written = 1, .ways = 1 };
static const struct cost anchor = { 1, 1, 1, ANCHOR, ANCHOR, .anchored = true };

static size_t min(size_t a, size_t b)
{
	return a < b ? a : b;
}

static size_t max(size_t a, size_t b)
{
	return a > b ? a : b;
}

static struct cost in_row(struct cost a, struct cost b)
{
	return (struct cost){
		.written = min(a.written + b.written, CEILING),
		.empty = min(a.empty * b.empty, CEILING),
		.ways = min(a.ways * b.ways, CEILING),
		.row = min(a.row + b.row, CEILING),
		.parts = min(a.parts + b.parts, CEILING),
		.anchored = a.anchored || b.anchored,
		.looped = a.looped || b.looped,
	};
}

static struct cost either(struct cost a, struct cost b)
{
	size_t empty = min(a.empty + b.empty, CEILING);
	size_t choice = a.ways && empty;

	return (struct cost){
		.written = min(a.written + b.written, CEILING),
		.empty = empty,
		.ways = max(max(a.ways, b.ways), empty),
		.row = min(max(a.row, b.row) + choice, CEILING),
		.parts = min(a.parts + b.parts + choice, CEILING),
		.anchored = a.anchored || b.anchored,
		.looped = a.looped || b.looped,
	};
}

/* Or not at all. */
static struct cost optional(struct cost part)
{
	part.empty = min(part.empty + 1, CEILING);
	part.ways = max(part.ways, part.empty);
	part.parts = min(part.parts + 1, CEILING);
	part.row = min(part.row + 1, CEILING);
	return part;
}

/* Any number of times: one way through it may take each of its alternatives. */
static struct cost any_times(struct cost part)
{
	part = optional(part);
	part.row = part.parts;
	part.looped = part.anchored;
	return part;
}

/* ---- reading --------------------------------------------------------------------- */

/* Past a bracket expression that begins at *at: []abc], [^]], [[:digit:]]. */
static const char *skip_brackets(const char *at, const char *end)
{
	at++;
	if (at < end && *at == '^')
		at++;
	if (at < end && *at == ']')
		at++;
	for (; at < end && *at != ']'; at++) {
		char kind = at + 1 < end ? at[1] : '\0';
		const char *close;

		if (*at != '[' || !kind || !strchr(":.=", kind))
			continue;
		for (close = at + 2; close + 1 < end; close++)
			if (close[0] == kind && close[1] == ']')
				break;
		if (close + 1 < end)
			at = close + 1;
	}
	return at < end ? at + 1 : end;
}

const char *pmp_expression_interval(const char *at, const char *end,
				    struct pmp_repeat *interval)
{
	size_t numbers[2] = { 0, 0 }, i = 0;

	for (at++; at < end && ((*at >= '0' && *at <= '9') || (*at == ',' && !i)); at++) {
		if (*at == ',')
			i = 1;
		else
			numbers[i] = min(10 * numbers[i] + (size_t)(*at - '0'), CEILING);
	}
	interval->least = numbers[0];
	interval->most = numbers[i];
	interval->endless = i && at[-1] == ',';
	while (at < end && at[-1] != '}')
		at++;
	return at;
}

/* What is repeated 2 to 5 times is written five times. */
static struct cost written_out(struct cost part, const struct pmp_repeat *interval)
{
	struct cost sum = nothing, rest = optional(part);
	size_t times = interval->most;

	if (interval->endless) {
		times = interval->least + 1;
		rest = any_times(part);
	}
	for (size_t i = 0; i < times && sum.written <= WRITTEN_MAX; i++)
		sum = in_row(sum, i < interval->least ? part : rest);
	sum.written = max(sum.written, part.written); /* a{0} */
	return sum;
}

/* Read a repeat at *at, past which it returns. */
static const char *repeat(struct cost *last, const char *at, const char *end)
{
	struct pmp_repeat interval;

	if (*at == '{') {
		at = pmp_expression_interval(at, end, &interval);
		*last = written_out(*last, &interval);
		return at;
	}
	if (*at == '+')
		*last = in_row(*last, any_times(*last));
	else if (*at == '*')
		*last = any_times(*last);
	else
		*last = optional(*last);
	return at + 1;
}

static void add_part(struct level *level, struct cost part)
{
	level->begun = in_row(level->begun, level->last);
	level->last = part;
}

static void next_alternative(struct level *level)
{
	level->before = either(level->before, in_row(level->begun, level->last));
	level->begun = level->last = nothing;
}

/* Read a character, an escaped one or a set at *at, past which it returns. */
static const char *read_part(struct level *level, const char *at, const char *end)
{
	bool escaped = *at == '\\' && at + 1 < end;
	bool is_anchor =
		escaped ? strchr("<>bB`'", at[1]) != NULL : strchr("^$", *at) != NULL;

	add_part(level, is_anchor ? anchor : character);
	if (*at == '[')
		return skip_brackets(at, end);
	return at + (escaped ? 2 : 1);
}

/* The level becomes a part of the one around it, which is returned. */
static struct level *close_group(struct level *level)
{
	next_alternative(level);
	level->before.written++;
	add_part(level - 1, level->before);
	return level - 1;
}

/* False: it is too deep, or has become too large. */
static bool read_expression(const char *at, const char *end, struct cost *cost)
{
	struct level levels[DEPTH_MAX + 1], *level = levels;
	const struct level empty = { no_alternative, nothing, nothing };

	*level = empty;
	while (at < end) {
		if (*at == '(') {
			if (level == levels + DEPTH_MAX)
				return false;
			*++level = empty;
			at++;
		} else if (*at == ')' && level > levels) {
			level = close_group(level);
			at++;
		} else if (*at == '|') {
			next_alternative(level);
			at++;
		} else if (strchr("*+?{", *at)) {
			at = repeat(&level->last, at, end);
		} else {
			at = read_part(level, at, end);
		}
		if (level->last.written > WRITTEN_MAX)
			return false;
	}
	/* regcomp() finds a missing parenthesis only when all before it is written out. */
	while (level > levels)
		level = close_group(level);
	next_alternative(level);
	*cost = level->before;
	return true;
}

static bool has_back_reference(const char *at, const char *end)
{
	while (at + 1 < end) {
		if (*at == '\\' && at[1] >= '1' && at[1] <= '9')
			return true;
		at = *at == '[' ? skip_brackets(at, end) : *at == '\\' ? at + 2 : at + 1;
	}
	return false;
}

const char *pmp_expression_fault(const char *text, size_t length)
{
	struct cost cost;

	if (!length)
		return "it is empty";
	if (length > LENGTH_MAX)
		return "it is too long";
	if (has_back_reference(text, text + length))
		return "it has a back-reference";
	if (!read_expression(text, text + length, &cost) || cost.written > WRITTEN_MAX)
		return "it repeats too much";
	if (cost.looped)
		return "it repeats an anchor";
	if (cost.row > ROW_MAX)
		return "it has too many anchors or optional parts in a row";
	if (cost.ways > WAYS_MAX)
		return "it can match nothing in too many ways";
	return NULL;
}
