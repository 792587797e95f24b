/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions and the tree of calls, out of rows that are stacks. A node of the tree is
 * known by the names on its path, so that it stays open or closed from build to build.
 */
#include "model-rows.h"

#include <stdlib.h>
#include <string.h>

#define OPEN_SHARE 0.05 /* nodes with as much of all are open until they are closed */
#define DEPTH_MAX 4096	/* deeper calls are counted at their ancestor of that depth */

/* Take the stacks out of the model, which is empty then. */
static struct pmp_row *take_stacks(struct pmp_model *model, size_t *count)
{
	struct pmp_row *stacks = model->rows;

	*count = model->row_count;
	model->rows = NULL;
	model->row_count = model->row_capacity = 0;
	return stacks;
}

/* What keeps functions and trees of processes and threads apart. */
static uint64_t family(const struct pmp_model *model, const struct pmp_row *stack)
{
	uint64_t key = 0;

	if (pmp_live_process_count(model->live) > 1)
		key = pmp_hash_mix(1, stack->process + 1);
	if (model->settings.split)
		key = pmp_hash_mix(key, stack->group + UINT64_C(1));
	return key;
}

/* ---- functions --------------------------------------------------------------- */

/* A function that is twice in a stack counts once. */
static bool count_function(struct pmp_model *model, struct pmp_table *table, uint32_t *last,
			   uint32_t name, const struct pmp_row *stack, uint32_t number)
{
	uint64_t key = pmp_hash_mix(family(model, stack), (UINT64_C(1) << 33) + name);
	bool added;
	uint32_t *index = pmp_table_get(table, key, (uint32_t)model->row_count, &added);
	struct pmp_row *row;

	if (!index)
		return false;
	row = added ? pmp_model_add_row(model, key) : &model->rows[*index];
	if (!row)
		return false;
	row->name = name;
	if (last[name] == number)
		return true;
	last[name] = number;
	pmp_model_count(row, stack);
	return true;
}

static bool count_functions(struct pmp_model *model, const struct pmp_row *stacks,
			    size_t count, uint32_t *last)
{
	struct pmp_table table = { 0 };
	bool good = true;

	for (size_t i = 0; i < count && good; i++) {
		const struct pmp_chain *chain = &model->chains[stacks[i].chain];
		const uint32_t *names = model->names_of_chains + chain->first;
		uint32_t *leaf;

		for (uint32_t k = 0; k < chain->count && good; k++)
			good = count_function(model, &table, last, names[k], &stacks[i],
					      (uint32_t)i + 1);
		leaf = pmp_table_find(&table, pmp_hash_mix(family(model, &stacks[i]),
							   (UINT64_C(1) << 33) + names[0]));
		if (good && leaf) {
			model->rows[*leaf].self += stacks[i].count;
			model->rows[*leaf].self_average += stacks[i].average;
		}
	}
	pmp_table_free(&table);
	return good;
}

bool pmp_model_functions(struct pmp_model *model)
{
	size_t count;
	struct pmp_row *stacks = take_stacks(model, &count);
	uint32_t *last = calloc(model->names.count + 1, sizeof(*last));
	bool good = last && count_functions(model, stacks, count, last);

	free(last);
	free(stacks);
	return good;
}

/* ---- the tree ---------------------------------------------------------------- */

/* The child of that name, made if there is none; PMP_NAME_NONE: no memory. */
static uint32_t find_child(struct pmp_model *model, struct pmp_table *table, uint32_t parent,
			   uint64_t key, uint32_t name)
{
	uint32_t index = (uint32_t)model->row_count;
	bool added;
	uint32_t *number = pmp_table_get(table, key, index, &added);
	struct pmp_row *row;

	if (!number || !added)
		return number ? *number : PMP_NAME_NONE;
	row = pmp_model_add_row(model, key);
	if (!row)
		return PMP_NAME_NONE;
	row->name = name;
	row->parent = parent;
	if (parent == PMP_NAME_NONE)
		return index;
	row->next = model->rows[parent].first;
	model->rows[parent].first = index;
	return index;
}

/* A family is the parent of all its trees: a process, or a group of threads. */
static uint32_t find_family(struct pmp_model *model, struct pmp_table *table,
			    const struct pmp_row *stack, uint64_t *key)
{
	uint32_t root;

	*key = family(model, stack);
	if (!*key)
		return PMP_NAME_NONE;
	root = find_child(model, table, PMP_NAME_NONE, *key, PMP_NAME_NONE);
	if (root != PMP_NAME_NONE)
		pmp_model_count(&model->rows[root], stack);
	return root;
}

static bool add_path(struct pmp_model *model, struct pmp_table *table,
		     const struct pmp_row *stack)
{
	const struct pmp_chain *chain = &model->chains[stack->chain];
	const uint32_t *names = model->names_of_chains + chain->first;
	uint64_t key;
	uint32_t node = find_family(model, table, stack, &key);

	if (node == PMP_NAME_NONE && key)
		return false;
	for (uint32_t i = 0; i < chain->count && i < DEPTH_MAX; i++) {
		uint32_t name = names[model->settings.inverted ? i : chain->count - 1 - i];

		key = pmp_hash_mix(key + model->settings.inverted, name + UINT64_C(1));
		node = find_child(model, table, node, key, name);
		if (node == PMP_NAME_NONE)
			return false;
		pmp_model_count(&model->rows[node], stack);
		if (i == 0 && model->settings.inverted) {
			model->rows[node].self += stack->count;
			model->rows[node].self_average += stack->average;
		}
	}
	if (!model->settings.inverted && node != PMP_NAME_NONE) {
		model->rows[node].self += stack->count;
		model->rows[node].self_average += stack->average;
	}
	return true;
}

static int by_count(const void *a, const void *b, void *arg)
{
	const struct pmp_model *model = arg;
	const struct pmp_row *one = &model->rows[*(const uint32_t *)a];
	const struct pmp_row *other = &model->rows[*(const uint32_t *)b];

	if (one->count != other->count)
		return one->count < other->count ? 1 : -1;
	return (one->key > other->key) - (one->key < other->key);
}

/* Put siblings into the order of their counts. Returns the first. */
static uint32_t sort_siblings(struct pmp_model *model, uint32_t *list, size_t count)
{
	qsort_r(list, count, sizeof(*list), by_count, model);
	for (size_t i = 0; i < count; i++)
		model->rows[list[i]].next = i + 1 < count ? list[i + 1] : PMP_NAME_NONE;
	return count ? list[0] : PMP_NAME_NONE;
}

static void sort_children(struct pmp_model *model, uint32_t *list)
{
	for (size_t i = 0; i < model->row_count; i++) {
		struct pmp_row *row = &model->rows[i];
		size_t count = 0;

		for (uint32_t at = row->first; at != PMP_NAME_NONE; at = model->rows[at].next)
			list[count++] = at;
		row->first = sort_siblings(model, list, count);
	}
}

/* Open nodes stay open; those with much of all are open from the first. */
static void decide_open(struct pmp_model *model, struct pmp_row *row)
{
	double least = OPEN_SHARE * (double)model->total;
	uint32_t *known = pmp_table_find(&model->nodes, row->key);

	if (!known && (double)row->count >= least)
		known = pmp_table_get(&model->nodes, row->key, 1, NULL);
	row->open = known && *known && row->first != PMP_NAME_NONE;
}

/* The next node in the order of the screen; children only of what is open. */
static uint32_t next_node(const struct pmp_model *model, uint32_t node)
{
	const struct pmp_row *row = &model->rows[node];

	if (row->open)
		return row->first;
	while (row->next == PMP_NAME_NONE && row->parent != PMP_NAME_NONE)
		row = &model->rows[row->parent];
	return row->next;
}

/* A chain of calls without a branch is not indented: what matters is where it forks. */
static void set_depth(const struct pmp_model *model, struct pmp_row *row)
{
	const struct pmp_row *parent;

	if (row->parent == PMP_NAME_NONE) {
		row->depth = 0;
		return;
	}
	parent = &model->rows[row->parent];
	row->depth = parent->depth +
		     (parent->name == PMP_NAME_NONE ||
		      model->rows[parent->first].next != PMP_NAME_NONE);
}

static bool show_open(struct pmp_model *model, uint32_t root)
{
	if (!PMP_MODEL_RESERVE(&model->order, &model->order_capacity, model->row_count))
		return false;
	model->order_count = 0;
	for (uint32_t at = root; at != PMP_NAME_NONE; at = next_node(model, at)) {
		struct pmp_row *row = &model->rows[at];

		decide_open(model, row);
		set_depth(model, row);
		model->order[model->order_count++] = at;
	}
	return true;
}

static uint32_t sort_roots(struct pmp_model *model, uint32_t *list)
{
	size_t count = 0;

	for (size_t i = 0; i < model->row_count; i++) {
		if (model->rows[i].parent == PMP_NAME_NONE)
			list[count++] = (uint32_t)i;
	}
	return sort_siblings(model, list, count);
}

bool pmp_model_tree(struct pmp_model *model)
{
	size_t count;
	struct pmp_row *stacks = take_stacks(model, &count);
	struct pmp_table table = { 0 };
	uint32_t *list = NULL;
	bool good = true;

	for (size_t i = 0; i < count && good; i++)
		good = add_path(model, &table, &stacks[i]);
	if (good)
		list = calloc(model->row_count + 1, sizeof(*list));
	if (list) {
		sort_children(model, list);
		good = show_open(model, sort_roots(model, list));
	}
	free(list);
	free(stacks);
	pmp_table_free(&table);
	return good && list;
}

bool pmp_model_has_children(const struct pmp_row *row)
{
	return row->first != PMP_NAME_NONE;
}

static void set_open(struct pmp_model *model, const struct pmp_row *row, bool open)
{
	uint32_t *known = pmp_table_get(&model->nodes, row->key, open, NULL);

	if (known)
		*known = open;
}

/* The first root: it has no parent and is shown first. */
static void show_again(struct pmp_model *model)
{
	if (model->order_count)
		model->failed |= !show_open(model, model->order[0]);
}

void pmp_model_open(struct pmp_model *model, const struct pmp_row *row, bool open)
{
	set_open(model, row, open);
	show_again(model);
}

void pmp_model_open_hot(struct pmp_model *model, const struct pmp_row *row)
{
	while (row->first != PMP_NAME_NONE) {
		set_open(model, row, true);
		row = &model->rows[row->first];
	}
	show_again(model);
}
