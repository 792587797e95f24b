/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a filter says of one function, and of a stack by the marks of its functions.
 * Nothing is cached here: report/filter-stack.c does that for a profile, the live view
 * for itself.
 *
 *     s/^([a-z]+)_.*$/\1/     renames first: the rest matches the names that are shown
 *     focus, ignore, skip     then decides whether to show the stack at all,
 *     trim, hide, fold        and which part of it
 *
 * Only the functions in which idle threads wait are matched by their original names.
 */
#include "report/filter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libpmp-program.h"
#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/sized.h"
#include "tally/group.h"
#include "report/idle.h"
#include "report/replace.h"

#define EXPRESSIONS_MAX 256 /* of each kind */
#define CYCLE_MAX 8	    /* longest cycle that is folded */

/* After the PMP_IDLE_ flags. */
enum {
	MARK_IDLE = 4, /* a wait listed in the filter */
	MARK_IGNORE = 8,
	/* 16 is PMP_MARK_FOCUS */
	MARK_HIDE = 32,
	MARK_SKIP = 64,
	MARK_TRIM = 128,
	MARK_FAILED = 256, /* an expression could not be matched */
	MARK_WITHIN = 1024,
	MARK_KERNEL = 512, /* the program's functions tell why a thread sleeps */
};

struct expression_list {
	struct pmp_expression *items;
	size_t count, capacity;
	struct pmp_buf text; /* all of them, for pmp_filter_text() */
};

struct pmp_filter {
	struct expression_list lists[PMP_FILTER_COUNT];
	struct pmp_filter_options options;
};

/* ---- life ------------------------------------------------------------------------ */

int pmp_filter_new(struct pmp_filter **filter, struct pmp_error *err)
{
	*filter = calloc(1, sizeof(**filter));
	return *filter ? 0 : pmp_error_nomem(err, "making a filter");
}

void pmp_filter_free(struct pmp_filter *filter)
{
	for (int kind = 0; filter && kind < PMP_FILTER_COUNT; kind++) {
		struct expression_list *list = &filter->lists[kind];

		for (size_t i = 0; i < list->count; i++)
			pmp_expression_free(&list->items[i]);
		free(list->items);
		pmp_buf_free(&list->text);
	}
	free(filter);
}

static int copy_list(struct pmp_filter *filter, enum pmp_filter_kind kind,
		     const struct expression_list *from, struct pmp_error *err)
{
	int code = 0;

	for (size_t i = 0; i < from->count && code == 0; i++) {
		filter->options.ignore_case = from->items[i].ignore_case;
		code = pmp_filter_add(filter, kind, from->items[i].source, err);
	}
	return code;
}

int pmp_filter_copy(const struct pmp_filter *from, struct pmp_filter **filter,
		    struct pmp_error *err)
{
	int code = pmp_filter_new(filter, err);

	if (code || !from)
		return code;
	for (int kind = 0; kind < PMP_FILTER_COUNT && code == 0; kind++)
		code = copy_list(*filter, (enum pmp_filter_kind)kind, &from->lists[kind],
				 err);
	(*filter)->options = from->options;
	if (code == 0)
		return 0;
	pmp_filter_free(*filter);
	*filter = NULL;
	return code;
}

static bool is_replacement(enum pmp_filter_kind kind)
{
	return kind == PMP_FILTER_RENAME || kind == PMP_FILTER_THREAD_GROUP ||
	       kind == PMP_FILTER_LOCK_MEANING;
}

/* "a", "(a)|(b)", "(a)|(b)|(c)" */
static void add_text(struct expression_list *list, const char *text)
{
	struct pmp_buf *all = &list->text, first = *all;

	if (list->count == 1) {
		pmp_buf_puts(all, text);
		return;
	}
	if (list->count == 2) {
		*all = (struct pmp_buf){ 0 };
		pmp_buf_printf(all, "(%s)", first.data ? first.data : "");
		pmp_buf_free(&first);
	}
	pmp_buf_printf(all, "|(%s)", text);
}

int pmp_filter_add(struct pmp_filter *filter, enum pmp_filter_kind kind, const char *text,
		   struct pmp_error *err)
{
	struct pmp_expression expression = { 0 };
	bool ignore = filter->options.ignore_case;
	struct expression_list *list;
	int code;

	if ((unsigned)kind >= PMP_FILTER_COUNT)
		return pmp_error_set(err, PMP_EINVAL, "no such kind of filter");
	list = &filter->lists[kind];
	if (list->count == EXPRESSIONS_MAX)
		return pmp_error_set(err, PMP_EINVAL, "there are too many of them");
	if (PMP_RESERVE(&list->items, &list->capacity, list->count + 1))
		return pmp_error_nomem(err, "reading an expression");
	if (is_replacement(kind))
		code = pmp_expression_parse(&expression, text, ignore, err);
	else
		code = pmp_expression_compile(&expression, text, strlen(text), ignore,
					      err);
	if (code == 0 && filter->options.of_strangers)
		pmp_regex_distrust(expression.regex);
	if (code == 0) {
		expression.ignore_case = ignore;
		expression.source = strdup(text);
		if (!expression.source)
			code = pmp_error_nomem(err, "reading an expression");
	}
	if (code) {
		pmp_expression_free(&expression);
		return code;
	}
	list->items[list->count++] = expression;
	add_text(list, text);
	return pmp_buf_failed(&list->text) ? pmp_error_nomem(err, "reading an expression")
					   : 0;
}

void pmp_filter_set(struct pmp_filter *filter, const struct pmp_filter_options *options)
{
	filter->options = (struct pmp_filter_options){ 0 };
	pmp_sized_take(&filter->options, sizeof(filter->options), options);
}

void pmp_filter_get(const struct pmp_filter *filter, struct pmp_filter_options *options)
{
	pmp_sized_give(options, pmp_filter_options(filter), sizeof(*options));
}

const struct pmp_filter_options *pmp_filter_options(const struct pmp_filter *filter)
{
	static const struct pmp_filter_options none = { .size = sizeof(none) };

	return filter ? &filter->options : &none;
}

bool pmp_filter_has_groups(const struct pmp_filter *filter)
{
	return filter &&
	       (filter->options.groups || filter->lists[PMP_FILTER_THREAD_GROUP].count);
}

/* Does the filter select threads? */
static bool has_threads(const struct pmp_filter *filter)
{
	return filter->lists[PMP_FILTER_THREAD].count ||
	       filter->lists[PMP_FILTER_GROUP].count || filter->options.pid ||
	       filter->options.tid;
}

bool pmp_filter_wants_details(const struct pmp_filter *filter)
{
	return filter && (pmp_filter_has_groups(filter) || has_threads(filter) ||
			  filter->options.idle != PMP_IDLE_SHOWN);
}

bool pmp_filter_is_active(const struct pmp_filter *filter)
{
	if (!filter)
		return false;
	/* Known idle waits and meanings of locks neither hide nor rename anything. */
	for (int kind = 0; kind < PMP_FILTER_IDLE_WAIT; kind++)
		if (filter->lists[kind].count)
			return true;
	return filter->options.groups || filter->options.fold_recursion ||
	       filter->options.pid || filter->options.tid ||
	       filter->options.idle != PMP_IDLE_SHOWN;
}

const char *pmp_filter_text(const struct pmp_filter *filter, enum pmp_filter_kind kind)
{
	const char *text = NULL;

	if (filter && (unsigned)kind < PMP_FILTER_COUNT)
		text = filter->lists[kind].text.data;
	return text ? text : "";
}

/* ---- functions ------------------------------------------------------------------- */

/* Returns mark if any expression in the list matches. */
static pmp_marks mark_if(const struct expression_list *list, const char *name,
			 pmp_marks mark)
{
	int code = 0;

	for (size_t i = 0; i < list->count && code == 0; i++)
		code = pmp_regex_matches(list->items[i].regex, name);
	return code > 0 ? mark : code < 0 ? MARK_FAILED : 0;
}

/* Matches the path or its last part, so that both ^libc and ^/usr/lib work. */
static pmp_marks mark_if_module(const struct expression_list *list, const char *module,
				pmp_marks mark)
{
	const char *slash = strrchr(module, '/');
	pmp_marks marks = mark_if(list, module, mark);

	return slash && !marks ? mark_if(list, slash + 1, mark) : marks;
}

bool pmp_filter_matches(const struct pmp_filter *filter, enum pmp_filter_kind kind,
			const char *name)
{
	return (unsigned)kind < PMP_FILTER_COUNT &&
	       mark_if(&filter->lists[kind], name, 1) == 1;
}

int pmp_filter_problem(const struct pmp_filter *filter, struct pmp_error *err)
{
	for (int kind = 0; filter && kind < PMP_FILTER_COUNT; kind++) {
		const struct expression_list *list = &filter->lists[kind];

		for (size_t i = 0; i < list->count; i++)
			if (pmp_regex_problem(list->items[i].regex, err))
				return PMP_ELIMIT;
	}
	return 0;
}

/* Apply all replacements of a kind in turn, in place. 1: changed, 0: unchanged, or an error
 * of pmp_regex_find(). */
static int rename_all(const struct expression_list *list, char *name, size_t size)
{
	char renamed[PMP_EXPRESSION_NAME];
	int changed = 0;

	for (size_t i = 0; i < list->count; i++) {
		int code = pmp_expression_replace(&list->items[i], name, renamed,
						  sizeof(renamed));

		if (code < 0)
			return code;
		if (code == 0)
			continue;
		changed = 1;
		snprintf(name, size, "%s", renamed);
	}
	return changed;
}

static pmp_marks marks_of(const struct pmp_filter *filter, const char *name,
			  const char *module)
{
	const struct expression_list *lists = filter->lists;

	return mark_if(&lists[PMP_FILTER_FOCUS], name, PMP_MARK_FOCUS) |
	       mark_if(&lists[PMP_FILTER_WITHIN], name, MARK_WITHIN) |
	       mark_if(&lists[PMP_FILTER_IGNORE], name, MARK_IGNORE) |
	       mark_if(&lists[PMP_FILTER_HIDE], name, MARK_HIDE) |
	       mark_if_module(&lists[PMP_FILTER_HIDE_MODULE], module, MARK_HIDE) |
	       mark_if_module(&lists[PMP_FILTER_SKIP_MODULE], module, MARK_SKIP) |
	       mark_if(&lists[PMP_FILTER_TRIM_ROOT], name, MARK_TRIM);
}

pmp_marks pmp_filter_function(const struct pmp_filter *filter, const char *function,
			      const char *readable, const char *module, char *buffer,
			      size_t size)
{
	bool kernel = strcmp(module, PMP_KERNEL_MODULE) == 0;
	pmp_marks marks = MARK_KERNEL;
	int renamed;

	if (!kernel)
		marks = pmp_idle_function(readable ? readable : function, module);
	snprintf(buffer, size, "%s", function);
	if (!filter)
		return marks;
	marks |= mark_if(&filter->lists[PMP_FILTER_IDLE_WAIT], function, MARK_IDLE);
	if (pmp_filter_lock_meaning(filter, function, buffer, size))
		marks = (marks & ~(pmp_marks)PMP_IDLE_OWN_LOCKS) |
			(*buffer ? PMP_IDLE_OWN_LOCKS : 0);
	snprintf(buffer, size, "%s", function);
	renamed = rename_all(&filter->lists[PMP_FILTER_RENAME], buffer, size);
	if (renamed < 0)
		return marks | MARK_FAILED;
	if (renamed && !*buffer)
		snprintf(buffer, size, "[unknown]");
	return marks | marks_of(filter, buffer, module);
}

bool pmp_filter_has_failed(pmp_marks marks)
{
	return marks & MARK_FAILED;
}

bool pmp_filter_is_hidden(pmp_marks marks)
{
	return marks & MARK_HIDE;
}

bool pmp_filter_lock_meaning(const struct pmp_filter *filter, const char *function,
			     char *buffer, size_t size)
{
	const struct expression_list *list;
	int code = 0;

	if (!filter)
		return false;
	list = &filter->lists[PMP_FILTER_LOCK_MEANING];
	for (size_t i = 0; i < list->count && code == 0; i++)
		code = pmp_expression_take(&list->items[i], function, buffer, size);
	return code > 0;
}

/* ---- stacks ---------------------------------------------------------------------- */

/* The combined marks of the innermost functions, at most depth of them. */
static pmp_marks gather(const pmp_marks *marks, size_t count, size_t depth)
{
	pmp_marks all = 0;

	for (size_t i = 0; i < count && i < depth; i++)
		all |= marks[i];
	return all;
}

pmp_marks pmp_filter_stack_marks(const pmp_marks *marks, size_t count)
{
	const pmp_marks anywhere =
		MARK_IDLE | PMP_MARK_FOCUS | MARK_WITHIN | MARK_IGNORE | MARK_TRIM;
	const pmp_marks skip = gather(marks, count, 1) & MARK_SKIP;
	const pmp_marks all = gather(marks, count, count) & anywhere;

	for (; count && *marks & MARK_KERNEL; count--)
		marks++;
	return all | skip | (gather(marks, count, PMP_IDLE_LOCK_DEPTH) & PMP_IDLE_LOCKS) |
	       (gather(marks, count, PMP_IDLE_WAIT_DEPTH) & PMP_IDLE_WAITS) |
	       (gather(marks, count, PMP_IDLE_OWN_DEPTH) & PMP_IDLE_OWN_LOCKS);
}

/* True if nothing of this kind was asked for, or it was found. */
static bool has_wanted(const struct pmp_filter *filter, enum pmp_filter_kind kind,
		       pmp_marks found)
{
	return !filter || !filter->lists[kind].count || found;
}

bool pmp_filter_passes(const struct pmp_filter *filter, pmp_marks stack)
{
	if (!has_wanted(filter, PMP_FILTER_FOCUS, stack & PMP_MARK_FOCUS) ||
	    !has_wanted(filter, PMP_FILTER_WITHIN, stack & MARK_WITHIN))
		return false;
	return !(stack & (MARK_IGNORE | MARK_SKIP));
}

bool pmp_filter_is_locked(pmp_marks stack)
{
	return stack & (PMP_IDLE_LOCKS | PMP_IDLE_OWN_LOCKS);
}

bool pmp_filter_waits_for_lock(pmp_marks stack, const char *syscall)
{
	return stack & PMP_IDLE_OWN_LOCKS ||
	       (stack & PMP_IDLE_LOCKS && (!*syscall || pmp_idle_is_ambiguous(syscall)));
}

bool pmp_filter_is_idle(pmp_marks stack, char state, const char *syscall)
{
	if (state != 'S')
		return false;
	if (stack & MARK_IDLE)
		return true;
	if (pmp_filter_is_locked(stack))
		return false;
	if (*syscall && !pmp_idle_is_ambiguous(syscall))
		return pmp_idle_call(syscall);
	return stack & PMP_IDLE_WAITS;
}

bool pmp_filter_is_trimmed(pmp_marks stack)
{
	return stack & MARK_TRIM;
}

size_t pmp_filter_trim(const pmp_marks *marks, size_t count)
{
	for (size_t i = count; i > 0; i--)
		if (marks[i - 1] & MARK_TRIM)
			return i;
	return count;
}

/* Do the last length functions repeat the length functions before them? */
static bool repeats(const uint32_t *functions, const uint32_t *left, size_t count,
		    size_t length)
{
	for (size_t i = count - length; i < count; i++)
		if (functions[left[i]] != functions[left[i - length]])
			return false;
	return true;
}

static void reverse(uint32_t *numbers, size_t count)
{
	for (size_t i = 0; i < count / 2; i++) {
		uint32_t number = numbers[i];

		numbers[i] = numbers[count - 1 - i];
		numbers[count - 1 - i] = number;
	}
}

/* Folds from the root inwards; the innermost copy stays, as it leads to the leaf. */
size_t pmp_filter_fold(const struct pmp_filter *filter, const uint32_t *functions,
		       size_t count, uint32_t *left)
{
	bool folds = pmp_filter_options(filter)->fold_recursion;
	size_t n = 0;

	for (size_t i = count; i-- > 0;) {
		size_t length = 1;

		left[n++] = (uint32_t)i;
		while (folds && length <= CYCLE_MAX && 2 * length <= n) {
			if (!repeats(functions, left, n, length)) {
				length++;
				continue;
			}
			memmove(left + n - 2 * length, left + n - length,
				length * sizeof(*left));
			n -= length;
			length = 1;
		}
	}
	reverse(left, n);
	return n;
}

/* ---- threads --------------------------------------------------------------------- */

bool pmp_filter_call_thread(const struct pmp_filter *filter, const char *name,
			    char *buffer, size_t size)
{
	snprintf(buffer, size, "%s", name);
	return filter &&
	       rename_all(&filter->lists[PMP_FILTER_THREAD_GROUP], buffer, size) > 0;
}

char *pmp_filter_thread(const struct pmp_filter *filter, const char *name, char *buffer,
			size_t size)
{
	if (!pmp_filter_call_thread(filter, name, buffer, size) &&
	    !pmp_filter_options(filter)->no_fold_threads)
		pmp_group_fold(name, buffer, size);
	return buffer;
}

bool pmp_filter_passes_thread(const struct pmp_filter *filter, const char *name,
			      pid_t pid, pid_t tid)
{
	char group[PMP_EXPRESSION_NAME];

	if (!filter || !has_threads(filter))
		return true;
	if ((filter->options.tid && filter->options.tid != tid) ||
	    (filter->options.pid && filter->options.pid != pid))
		return false;
	pmp_filter_thread(filter, name, group, sizeof(group));
	return has_wanted(filter, PMP_FILTER_THREAD,
			  pmp_filter_matches(filter, PMP_FILTER_THREAD, name)) &&
	       has_wanted(filter, PMP_FILTER_GROUP,
			  pmp_filter_matches(filter, PMP_FILTER_GROUP, group));
}
