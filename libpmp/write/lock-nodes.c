/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Chooses the threads for a block of -f locks, and groups those that wait alike. */
#include "write/lock-text.h"

#include <stdlib.h>
#include <string.h>

/* ---- choosing nodes ----------------------------------------------------------------- */

/* By holder, then object, then the order of threads. */
static int compare_objects(const void *a, const void *b, void *arg)
{
	const struct pmp_lock_text *text = arg;
	size_t x = *(const size_t *)a, y = *(const size_t *)b;
	const struct pmp_wait *one = pmp_lock_wait(text, x),
			      *other = pmp_lock_wait(text, y);

	if (one->holder != other->holder)
		return one->holder < other->holder ? -1 : 1;
	if (one->object != other->object)
		return one->object < other->object ? -1 : 1;
	if (one->outside != other->outside)
		return one->outside < other->outside ? -1 : 1;
	return (x > y) - (x < y);
}

/* The nodes not yet shown that chosen() accepts, sorted by object; to be freed. */
struct pmp_lock_nodes pmp_lock_choose(struct pmp_lock_text *text, pmp_lock_choice *chosen,
				      size_t of)
{
	struct pmp_lock_nodes nodes = { 0 };

	nodes.items = malloc((text->graph.count + 1) * sizeof(*nodes.items));
	if (!nodes.items) {
		pmp_buf_fail(&text->out->buf);
		return nodes;
	}
	for (size_t i = 0; i < text->graph.count; i++)
		if (!text->graph.nodes[i].shown && chosen(text, i, of))
			nodes.items[nodes.count++] = i;
	qsort_r(nodes.items, nodes.count, sizeof(*nodes.items), compare_objects, text);
	return nodes;
}

/* The nodes from first on that wait for the same object with the same holder. */
struct pmp_lock_run pmp_lock_same_object(const struct pmp_lock_text *text,
					 const struct pmp_lock_nodes *nodes, size_t first)
{
	const struct pmp_wait *wait = pmp_lock_wait(text, nodes->items[first]);
	size_t i = first;

	for (; i < nodes->count; i++) {
		const struct pmp_wait *other = pmp_lock_wait(text, nodes->items[i]);

		if (other->object != wait->object || other->holder != wait->holder ||
		    other->holder_is != wait->holder_is ||
		    other->outside != wait->outside)
			break;
	}
	return (struct pmp_lock_run){ nodes->items + first, i - first };
}

/* ---- similar waits ----------------------------------------------------------------- */

static int compare_texts(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

static int compare_waits(const struct pmp_lock_text *text, size_t x, size_t y)
{
	const struct pmp_named_wait *one = pmp_lock_named(text, x),
				    *other = pmp_lock_named(text, y);
	int order = compare_texts(one->kind, other->kind);

	return order ? order : compare_texts(one->meaning, other->meaning);
}

/* By kind and meaning, then by object. */
static int compare_kinds(const void *a, const void *b, void *arg)
{
	const struct pmp_lock_text *text = arg;
	int order = compare_waits(text, *(const size_t *)a, *(const size_t *)b);

	return order ? order : compare_objects(a, b, arg);
}

struct pmp_lock_run pmp_lock_same_kind(const struct pmp_lock_text *text,
				       const struct pmp_lock_nodes *nodes, size_t first)
{
	size_t i = first + 1;

	while (i < nodes->count &&
	       compare_waits(text, nodes->items[first], nodes->items[i]) == 0)
		i++;
	return (struct pmp_lock_run){ nodes->items + first, i - first };
}

/* Objects that have a meaning, or are unknown, form one block per kind. */
struct pmp_lock_run pmp_lock_same_unknown(const struct pmp_lock_text *text,
					  const struct pmp_lock_nodes *nodes,
					  size_t first)
{
	const struct pmp_named_wait *named = pmp_lock_named(text, nodes->items[first]);
	struct pmp_lock_run run;
	size_t i = first + 1;

	if (named->meaning || !named->wait.object)
		return pmp_lock_same_kind(text, nodes, first);
	run = pmp_lock_same_object(text, nodes, first);
	while (i < first + run.count &&
	       compare_waits(text, nodes->items[first], nodes->items[i]) == 0)
		i++;
	return (struct pmp_lock_run){ run.items, i - first };
}

/* The most threads first, else in the present order. */
int pmp_lock_by_length(const void *a, const void *b)
{
	const struct pmp_lock_run *x = a, *y = b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return (x->items > y->items) - (x->items < y->items);
}

/* Sort the nodes by kind and split them into runs of similar waits; to be freed. */
struct pmp_lock_run *pmp_lock_runs(struct pmp_lock_text *text,
				   struct pmp_lock_nodes *nodes, pmp_lock_alike *alike,
				   size_t *count)
{
	struct pmp_lock_run *runs = calloc(nodes->count + 1, sizeof(*runs));

	*count = 0;
	if (!runs) {
		pmp_buf_fail(&text->out->buf);
		return NULL;
	}
	qsort_r(nodes->items, nodes->count, sizeof(*nodes->items), compare_kinds, text);
	for (size_t i = 0; i < nodes->count; i += runs[(*count)++].count)
		runs[*count] = alike(text, nodes, i);
	qsort(runs, *count, sizeof(*runs), pmp_lock_by_length);
	return runs;
}
