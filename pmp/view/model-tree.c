/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions and the tree of calls, out of rows that are stacks. A node of the tree is
 * known by the names on its path, so that it stays open or closed from build to build.
 * What is below a node is made when it is opened: its stacks lie side by side, and are
 * put into the order of their names at that level.
 */
#include "model-rows.h"

#include <stdlib.h>
#include <string.h>

#define OPEN_SHARE 0.05 /* nodes with as much of all are open until they are closed */
#define DEPTH_MAX 4096	/* deeper calls are counted at their ancestor of that depth */

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

/* Of each name: its row in the family at hand, and the stack that counted there last. */
struct known {
	uint64_t family;
	uint32_t row, last;
};

/* The row of a function in a family, or NULL: no memory. */
static struct pmp_row *find_function(struct pmp_model *model, struct pmp_table *table,
				     struct known *known, uint32_t name, uint64_t family)
{
	struct pmp_row *row;
	uint32_t *index;
	uint64_t key;
	bool added;

	if (known->row != PMP_NAME_NONE && known->family == family)
		return &model->rows[known->row];
	key = pmp_hash_mix(family, (UINT64_C(1) << 33) + name);
	index = pmp_table_get(table, key, (uint32_t)model->row_count, &added);
	if (!index)
		return NULL;
	known->row = *index;
	known->family = family;
	row = added ? pmp_model_add_row(model, key) : &model->rows[*index];
	if (row)
		row->name = name;
	return row;
}

/* A function that is twice in a stack counts once. */
static bool count_stack(struct pmp_model *model, struct pmp_table *table, struct known *known,
			const struct pmp_row *stack, uint32_t number)
{
	const struct pmp_chain *chain = &model->chains[stack->chain];
	const uint32_t *names = model->names_of_chains + chain->first;
	uint64_t of = family(model, stack);

	for (uint32_t i = 0; i < chain->count; i++) {
		struct known *at = &known[names[i]];
		struct pmp_row *row = find_function(model, table, at, names[i], of);

		if (!row)
			return false;
		if (i == 0) {
			row->self += stack->count;
			row->self_average += stack->average;
		}
		if (at->last != number)
			pmp_model_count(row, stack);
		at->last = number;
	}
	return true;
}

bool pmp_model_functions(struct pmp_model *model)
{
	struct known *known = calloc(model->names.count + 1, sizeof(*known));
	struct pmp_table table = { 0 };
	bool good = known;

	for (size_t i = 0; known && i <= model->names.count; i++)
		known[i].row = PMP_NAME_NONE;
	for (size_t i = 0; i < model->stack_row_count && good; i++)
		good = count_stack(model, &table, known, &model->stack_rows[i],
				   (uint32_t)i + 1);
	pmp_table_free(&table);
	free(known);
	return good;
}

/* ---- the tree ---------------------------------------------------------------- */

/* Where the children of a node come from. */
struct place {
	uint32_t parent; /* PMP_NAME_NONE: these are roots */
	uint32_t begin, end;
	unsigned level;
	uint64_t key;
};

void pmp_model_drop_tree(struct pmp_model *model)
{
	free(model->paths);
	free(model->moved);
	free(model->children);
	model->paths = model->moved = model->children = NULL;
}

/* How many names of a stack are in the tree. */
static unsigned depth_of(const struct pmp_model *model, const struct pmp_row *stack)
{
	uint32_t count = model->chains[stack->chain].count;

	return count < DEPTH_MAX ? count : DEPTH_MAX;
}

static uint32_t name_at(const struct pmp_model *model, const struct pmp_row *stack,
			unsigned level)
{
	const struct pmp_chain *chain = &model->chains[stack->chain];
	uint32_t at = model->settings.inverted ? level : chain->count - 1 - level;

	return model->names_of_chains[chain->first + at];
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

/* Put the rows from first on into the order of their counts. Returns the first of them,
 * or PMP_NAME_NONE: there are none, or no memory for it. */
static uint32_t sort_siblings(struct pmp_model *model, size_t first)
{
	size_t count = model->row_count - first;
	uint32_t *list = calloc(count + 1, sizeof(*list)), best;

	if (!list || !count) {
		free(list);
		return PMP_NAME_NONE;
	}
	for (size_t i = 0; i < count; i++)
		list[i] = (uint32_t)(first + i);
	qsort_r(list, count, sizeof(*list), by_count, model);
	for (size_t i = 0; i < count; i++)
		model->rows[list[i]].next = i + 1 < count ? list[i + 1] : PMP_NAME_NONE;
	best = list[0];
	free(list);
	return best;
}

/* Count a stack at the node of its name at the level. */
static bool count_child(struct pmp_model *model, const struct place *place,
			const struct pmp_row *stack)
{
	uint32_t name = name_at(model, stack, place->level);
	uint32_t *child = &model->children[name];
	bool last = place->level + 1 == depth_of(model, stack);
	struct pmp_row *row;

	if (*child == PMP_NAME_NONE) {
		row = pmp_model_add_row(model,
					pmp_hash_mix(place->key + model->settings.inverted,
						     name + UINT64_C(1)));
		if (!row)
			return false;
		*child = (uint32_t)(row - model->rows);
		row->name = name;
		row->parent = place->parent;
		row->level = place->level + 1;
	}
	row = &model->rows[*child];
	pmp_model_count(row, stack);
	row->end++;
	row->deeper |= !last;
	if (model->settings.inverted ? place->level == 0 : last) {
		row->self += stack->count;
		row->self_average += stack->average;
	}
	return true;
}

/* Put the stacks of a place into the order of its children, rows from first on. */
static void move_paths(struct pmp_model *model, const struct place *place, size_t first)
{
	uint32_t at = place->begin;

	/* Those that end above have no child and come first. */
	for (uint32_t i = place->begin; i < place->end; i++) {
		uint32_t path = model->paths[i];

		if (depth_of(model, &model->stack_rows[path]) <= place->level)
			model->moved[at++] = path;
	}
	for (size_t i = first; i < model->row_count; i++) {
		uint32_t count = model->rows[i].end;

		model->rows[i].begin = model->rows[i].end = at;
		at += count;
	}
	for (uint32_t i = place->begin; i < place->end; i++) {
		uint32_t path = model->paths[i];
		const struct pmp_row *stack = &model->stack_rows[path];

		if (depth_of(model, stack) > place->level)
			model->moved[model->rows[model->children[name_at(
						 model, stack, place->level)]].end++] = path;
	}
	memcpy(model->paths + place->begin, model->moved + place->begin,
	       (place->end - place->begin) * sizeof(*model->paths));
}

/* Make the children of a place; *child becomes the first of them. False: no memory. */
static bool make_children(struct pmp_model *model, const struct place *place, uint32_t *child)
{
	size_t first = model->row_count;
	bool good = true;

	for (uint32_t i = place->begin; i < place->end && good; i++) {
		const struct pmp_row *stack = &model->stack_rows[model->paths[i]];

		if (depth_of(model, stack) > place->level)
			good = count_child(model, place, stack);
	}
	if (good)
		move_paths(model, place, first);
	for (size_t i = first; i < model->row_count; i++)
		model->children[model->rows[i].name] = PMP_NAME_NONE;
	*child = sort_siblings(model, first);
	return good && (*child != PMP_NAME_NONE || first == model->row_count);
}

/* Make what is below a node, unless it is there. */
static bool expand(struct pmp_model *model, uint32_t node)
{
	const struct pmp_row *row = &model->rows[node];
	const struct place place = { node, row->begin, row->end, row->level, row->key };
	uint32_t child;

	if (!row->deeper || row->first != PMP_NAME_NONE)
		return true;
	if (!make_children(model, &place, &child))
		return false;
	model->rows[node].first = child;
	return true;
}

static int by_family(const void *a, const void *b, void *arg)
{
	const struct pmp_model *model = arg;
	uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;
	uint64_t key = family(model, &model->stack_rows[one]);
	uint64_t than = family(model, &model->stack_rows[other]);

	if (key != than)
		return key < than ? -1 : 1;
	return one < other ? -1 : 1;
}

/* A family is the parent of all its trees: a process, or a group of threads. */
static bool make_families(struct pmp_model *model, uint32_t count, uint32_t *root)
{
	struct pmp_row *row = NULL;

	qsort_r(model->paths, count, sizeof(*model->paths), by_family, model);
	for (uint32_t i = 0; i < count; i++) {
		const struct pmp_row *stack = &model->stack_rows[model->paths[i]];
		uint64_t key = family(model, stack);

		if (!row || row->key != key) {
			row = pmp_model_add_row(model, key);
			if (!row)
				return false;
			row->begin = i;
			row->deeper = true;
		}
		row->end = i + 1;
		pmp_model_count(row, stack);
	}
	*root = sort_siblings(model, 0);
	return *root != PMP_NAME_NONE;
}

static bool make_roots(struct pmp_model *model, uint32_t count, uint32_t *root)
{
	const struct place top = { .parent = PMP_NAME_NONE, .end = count };

	*root = PMP_NAME_NONE;
	if (!count)
		return true;
	if (family(model, model->stack_rows))
		return make_families(model, count, root);
	return make_children(model, &top, root);
}

/* Open nodes stay open; those with much of all are open from the first. */
static void decide_open(struct pmp_model *model, struct pmp_row *row)
{
	double least = OPEN_SHARE * (double)model->total;
	uint32_t *known = pmp_table_find(&model->nodes, row->key);

	if (!known && (double)row->count >= least)
		known = pmp_table_get(&model->nodes, row->key, 1, NULL);
	row->open = known && *known && row->deeper;
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
	model->order_count = 0;
	for (uint32_t at = root; at != PMP_NAME_NONE; at = next_node(model, at)) {
		if (!PMP_MODEL_RESERVE(&model->order, &model->order_capacity,
				       model->order_count + 1))
			return false;
		decide_open(model, &model->rows[at]);
		set_depth(model, &model->rows[at]);
		model->order[model->order_count++] = at;
		if (model->rows[at].open && !expand(model, at))
			return false;
	}
	return true;
}

static bool prepare(struct pmp_model *model, uint32_t count)
{
	size_t names = model->names.count;

	model->paths = calloc(count + 1, sizeof(*model->paths));
	model->moved = calloc(count + 1, sizeof(*model->moved));
	model->children = malloc((names + 1) * sizeof(*model->children));
	if (!model->paths || !model->moved || !model->children)
		return false;
	for (uint32_t i = 0; i < count; i++)
		model->paths[i] = i;
	memset(model->children, 0xff, (names + 1) * sizeof(*model->children));
	return true;
}

bool pmp_model_tree(struct pmp_model *model)
{
	uint32_t count = (uint32_t)model->stack_row_count, root;

	return prepare(model, count) && make_roots(model, count, &root) &&
	       show_open(model, root);
}

bool pmp_model_has_children(const struct pmp_row *row)
{
	return row->deeper;
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
	uint32_t node = (uint32_t)(row - model->rows);

	while (node != PMP_NAME_NONE && model->rows[node].deeper && expand(model, node)) {
		set_open(model, &model->rows[node], true);
		node = model->rows[node].first;
	}
	show_again(model);
}
