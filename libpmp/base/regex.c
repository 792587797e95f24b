/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See regex.h. PCRE2's own match limit is not sufficient: it applies to each position in
 * the name at which a match may begin, so a*a{900}^ takes 6 s for 4095 times the letter a
 * with a limit of 20,000. So PCRE2 calls back before each item of an expression that it
 * tries, and these calls are counted; its own limits cover what it does between two calls.
 *
 * pcre2_dfa_match() does not backtrack, but its time is not bounded either (0.4 s for
 * (.|x)*a.{500}x), and it does not accept invalid UTF-8.
 */
#include "base/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

#define LENGTH_MAX 1024	    /* of an expression */
#define STEPS_FREE 500000   /* that every expression may take: 10 to 60 ms */
#define STEPS_PER_BYTE 64   /* plus this for each byte of a name, */
#define STEPS_OF_STRANGER 8 /* or this if untrusted */
#define SCANNED 16	    /* bytes skipped in the time of one step, */
#define ITEM 16		    /* by an item of up to this length; longer ones take more */
#define CALLS_MAX 10000000  /* PCRE2's match limit */
#define DEPTH_MAX 1000000   /* PCRE2's depth limit: pending alternatives */
#define MEMORY_MAX 16384    /* KiB for a match */
#define SHOWN 40	    /* bytes of an expression or name in a message */

struct pmp_regex {
	pcre2_code *code;
	uint64_t steps_per_byte;
	atomic_uint_fast64_t steps, bytes; /* in total so far */
	atomic_int failure;		   /* PCRE2's error number; 0: none */
	atomic_flag named;		   /* failed_on has been claimed */
	char failed_on[SHOWN + 1];
	char text[]; /* of length characters */
};

/* One match. */
struct attempt {
	const char *text; /* of the expression */
	size_t length;	  /* of the name */
	uint64_t steps, limit;
	size_t at;   /* position of the last callback, */
	size_t cost; /* and the cost of its item per SCANNED bytes */
};

/* ---- compiling ------------------------------------------------------------------- */

/* Detects GNU anchors, which PCRE2 would take for literal characters. NULL: none. */
static const char *gnu_fault(const char *at, const char *end)
{
	for (; at + 1 < end; at++) {
		if (*at != '\\')
			continue;
		if (*++at == '<')
			return "it has \\<: [[:<:]] is the beginning of a word, < the character";
		if (*at == '>')
			return "it has \\>: [[:>:]] is the end of a word, > the character";
		if (*at == '`' || *at == '\'')
			return "it has \\` or \\': ^ is the beginning, $ the end";
	}
	return NULL;
}

static int compile(pcre2_code **compiled, const char *text, size_t length,
		   bool ignore_case, struct pmp_error *err)
{
	const uint32_t options = PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_DOTALL |
				 PCRE2_DOLLAR_ENDONLY | PCRE2_NEVER_BACKSLASH_C |
				 PCRE2_AUTO_CALLOUT | (ignore_case ? PCRE2_CASELESS : 0);
	PCRE2_UCHAR problem[128];
	uint32_t references = 0;
	PCRE2_SIZE at;
	int code;

	*compiled = pcre2_compile((PCRE2_SPTR)text, length, options, &code, &at, NULL);
	if (*compiled) {
		pcre2_pattern_info(*compiled, PCRE2_INFO_BACKREFMAX, &references);
		if (!references)
			return 0;
		pcre2_code_free(*compiled);
		/* The time of its comparisons would not be counted. */
		return pmp_error_set(err, PMP_EINVAL, "it has a back-reference");
	}
	if (code == PCRE2_ERROR_HEAP_FAILED)
		return pmp_error_nomem(err, "reading an expression");
	pcre2_get_error_message(code, problem, sizeof(problem));
	return pmp_error_set(err, PMP_EINVAL, "%s", (const char *)problem);
}

int pmp_regex_new(struct pmp_regex **regex, const char *text, size_t length,
		  bool ignore_case, struct pmp_error *err)
{
	const char *fault = !length		  ? "it is empty"
			    : length > LENGTH_MAX ? "it is too long"
						  : gnu_fault(text, text + length);
	pcre2_code *compiled;
	int code;

	*regex = NULL;
	if (fault)
		return pmp_error_set(err, PMP_EINVAL, "%s", fault);
	code = compile(&compiled, text, length, ignore_case, err);
	if (code)
		return code;
	*regex = calloc(1, sizeof(**regex) + length + 1);
	if (!*regex) {
		pcre2_code_free(compiled);
		return pmp_error_nomem(err, "reading an expression");
	}
	(*regex)->code = compiled;
	(*regex)->steps_per_byte = STEPS_PER_BYTE;
	memcpy((*regex)->text, text, length);
	return 0;
}

void pmp_regex_free(struct pmp_regex *regex)
{
	if (regex)
		pcre2_code_free(regex->code);
	free(regex);
}

void pmp_regex_distrust(struct pmp_regex *regex)
{
	regex->steps_per_byte = STEPS_OF_STRANGER;
}

unsigned pmp_regex_groups(const struct pmp_regex *regex)
{
	uint32_t count = 0;

	pcre2_pattern_info(regex->code, PCRE2_INFO_CAPTURECOUNT, &count);
	return count;
}

/* ---- matching -------------------------------------------------------------------- */

/* How often an item must match, from the braces at its end: x{9}, x{9,}+. 0: none, or the
 * end of a group. */
static size_t least(const char *item, size_t length)
{
	const char *at = item + length;

	if (length > 1 && (at[-1] == '?' || at[-1] == '+'))
		at--;
	if (!length || at[-1] != '}' || *item == ')')
		return 0;
	while (at > item && *at != '{')
		at--;
	return *at == '{' ? strtoul(at + 1, NULL, 10) : 0;
}

/*
 * The position at the next step shows how much a matching item has scanned. An item that
 * must match many times may scan that many characters and then fail: a*[^b]{900} at each
 * a. A class with many properties takes long for each character.
 */
static int count_step(pcre2_callout_block *block, void *arg)
{
	struct attempt *attempt = arg;
	const char *item = attempt->text + block->pattern_position;
	const size_t at = block->current_position, left = attempt->length - at;
	const size_t passed = at > attempt->at ? at - attempt->at : attempt->at - at;
	const size_t cost = 1 + block->next_item_length / ITEM;
	size_t ahead = least(item, block->next_item_length);

	if (ahead > left)
		ahead = left;
	attempt->steps += (1 + passed / SCANNED) * attempt->cost + ahead / SCANNED * cost;
	attempt->at = at;
	attempt->cost = cost;
	return attempt->steps > attempt->limit ? PCRE2_ERROR_MATCHLIMIT : 0;
}

/* Keep the first name for the message. */
static int fail(struct pmp_regex *regex, const char *name, size_t length, int code)
{
	if (!atomic_flag_test_and_set(&regex->named)) {
		memcpy(regex->failed_on, name, length < SHOWN ? length : SHOWN);
		atomic_store(&regex->failure, code);
	}
	return PMP_ELIMIT;
}

/* Copy count groups. PCRE2 leaves the others unset. */
static void take_groups(pcre2_match_data *data, unsigned count, size_t from,
			struct pmp_regex_group *groups)
{
	const PCRE2_SIZE *found = pcre2_get_ovector_pointer(data);

	memset(groups, 0, PMP_EXPRESSION_GROUPS * sizeof(*groups));
	for (unsigned i = 0; i <= count && i < PMP_EXPRESSION_GROUPS; i++, found += 2) {
		size_t begin = found[0];

		if (found[1] == PCRE2_UNSET)
			continue;
		/* \K may move the start of the whole match to an invalid place. Groups in
		 * a lookbehind may lie entirely before from. */
		if (i == 0 && begin < from)
			begin = from;
		groups[i].end = found[1];
		groups[i].begin = begin < found[1] ? begin : found[1];
	}
}

static uint64_t steps_left(const struct pmp_regex *regex)
{
	const uint64_t bytes = atomic_load(&regex->bytes);
	const uint64_t steps = atomic_load(&regex->steps);
	const uint64_t allowed = STEPS_FREE + regex->steps_per_byte * bytes;

	return steps < allowed ? allowed - steps : 0;
}

int pmp_regex_find(const struct pmp_regex *regex, const char *name, size_t length,
		   size_t from, struct pmp_regex_group groups[PMP_EXPRESSION_GROUPS])
{
	/* The counters of used steps are not part of its logical state. */
	struct pmp_regex *used = (struct pmp_regex *)(uintptr_t)regex;
	struct attempt attempt = {
		.text = regex->text, .length = length, .at = from, .cost = 1
	};
	pcre2_match_data *data;
	pcre2_match_context *context;
	int code = PCRE2_ERROR_NOMEMORY;

	if (atomic_load(&used->failure))
		return PMP_ELIMIT;
	/* Count each name once, however many replacements are made in it. */
	if (!from)
		atomic_fetch_add(&used->bytes, length);
	attempt.limit = steps_left(used);
	data = pcre2_match_data_create(groups ? PMP_EXPRESSION_GROUPS : 1, NULL);
	context = pcre2_match_context_create(NULL);
	if (data && context) {
		pcre2_set_callout(context, count_step, &attempt);
		pcre2_set_match_limit(context, CALLS_MAX);
		pcre2_set_depth_limit(context, DEPTH_MAX);
		pcre2_set_heap_limit(context, MEMORY_MAX);
		code = pcre2_match(regex->code, (PCRE2_SPTR)name, length, from, 0, data,
				   context);
	}
	atomic_fetch_add(&used->steps, attempt.steps);
	if (code >= 0 && groups)
		take_groups(data, pmp_regex_groups(regex), from, groups);
	pcre2_match_context_free(context);
	pcre2_match_data_free(data);
	if (code >= 0)
		return 1;
	if (code == PCRE2_ERROR_NOMATCH)
		return 0;
	return code == PCRE2_ERROR_NOMEMORY ? PMP_ENOMEM : fail(used, name, length, code);
}

int pmp_regex_matches(const struct pmp_regex *regex, const char *name)
{
	return pmp_regex_find(regex, name, strnlen(name, PMP_EXPRESSION_NAME - 1), 0,
			      NULL);
}

int pmp_regex_problem(const struct pmp_regex *regex, struct pmp_error *err)
{
	char expression[4 * SHOWN + 1], name[4 * SHOWN + 1], shown[SHOWN + 1];
	const int code = atomic_load(&regex->failure);
	PCRE2_UCHAR problem[128] = "it takes too many steps";

	if (!code)
		return 0;
	snprintf(shown, sizeof(shown), "%s", regex->text);
	pmp_escape(shown, expression, sizeof(expression));
	pmp_escape(regex->failed_on, name, sizeof(name));
	if (code != PCRE2_ERROR_MATCHLIMIT)
		pcre2_get_error_message(code, problem, sizeof(problem));
	pmp_error_set(err, PMP_ELIMIT, "gave up matching '%s%s' with '%s%s': %s", name,
		      strlen(regex->failed_on) == SHOWN ? "..." : "", expression,
		      strlen(regex->text) > SHOWN ? "..." : "", (const char *)problem);
	pmp_error_hint(err, "write it without repeats of what has repeats, as in (.*)*");
	return PMP_ELIMIT;
}
