/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tree of calls, out of rows that are stacks. A node of the tree is known by the
 * names on its path, so that it stays open or closed from build to build. What is below a
 * node is made when it is opened: its stacks lie side by side, and are put into the order
 * of their names at that level.
 */
#include "model-rows.h"

#include <stdlib.h>
#include <string.h>

#define OPEN_SHARE 0.05 /* nodes with as much of all are open until they are closed */
#define DEPTH_MAX 4096	/* deeper calls are counted at their ancestor of that depth */

/* A stack in the tree. */
struct pmp_path {
	uint32_t stack; /* its row */
	uint32_t first; /* its outermost name in names_of_chains; inverted, the leaf */
	uint32_t depth; /* names that are in the tree */
	uint32_t child; /* row of the child it is moved to */
};

/* Where the children of a node come from. */
struct place {
	uint32_t parent; /* PMP_NAME_NONE: these are roots */
	uint32_t begin, end;
	unsigned level;
	uint64_t key;
};

void pmp_model_drop_tree(struct pmp_list *list)
{
	free(list->paths);
	free(list->moved);
	free(list->children);
	list->paths = list->moved = NULL;
	list->children = NULL;
}

/* ---- stacks below a node ------------------------------------------------------------ */

static uint32_t name_at(const struct pmp_model *model, const struct pmp_path *path,
			unsigned level)
{
	return model->names_of_chains[model->list.inverted ? path->first + level
							   : path->first - level];
}

static int by_count(const void *a, const void *b, void *arg)
{
	const struct pmp_list *list = arg;
	const struct pmp_row *one = &list->rows[*(const uint32_t *)a];
	const struct pmp_row *other = &list->rows[*(const uint32_t *)b];

	if (one->count != other->count)
		return one->count < other->count ? 1 : -1;
	return (one->key > other->key) - (one->key < other->key);
}

/* Put the rows from first on into the order of their counts. Returns the first of them,
 * or PMP_NAME_NONE: there are none, or no memory for it. */
static uint32_t sort_siblings(struct pmp_list *list, size_t first)
{
	size_t count = list->row_count - first;
	uint32_t *order = calloc(count + 1, sizeof(*order)), best;

	if (!order || !count) {
		free(order);
		return PMP_NAME_NONE;
	}
	for (size_t i = 0; i < count; i++)
		order[i] = (uint32_t)(first + i);
	qsort_r(order, count, sizeof(*order), by_count, list);
	for (size_t i = 0; i < count; i++)
		list->rows[order[i]].next = i + 1 < count ? order[i + 1] : PMP_NAME_NONE;
	best = order[0];
	free(order);
	return best;
}

/* Count a stack at a child. */
static void count_at(struct pmp_list *list, struct pmp_path *path, uint32_t child)
{
	struct pmp_row *row = &list->rows[child];

	path->child = child;
	pmp_model_count(row, &list->stack_rows[path->stack]);
	row->end++;
}

/* Count a stack at the node of its name at the level. */
static bool count_child(struct pmp_model *model, const struct place *place,
			struct pmp_path *path)
{
	struct pmp_list *list = &model->list;
	uint32_t name = name_at(model, path, place->level);
	uint32_t *child = &list->children[name];
	bool last = place->level + 1 == path->depth;
	struct pmp_row *row;

	if (*child == PMP_NAME_NONE) {
		row = pmp_model_add_row(model, pmp_hash_mix(place->key + list->inverted,
							    name + UINT64_C(1)));
		if (!row)
			return false;
		*child = (uint32_t)(row - list->rows);
		row->name = name;
		row->parent = place->parent;
		row->level = place->level + 1;
	}
	count_at(list, path, *child);
	row = &list->rows[*child];
	row->deeper |= !last;
	if (list->inverted ? place->level == 0 : last) {
		row->self += list->stack_rows[path->stack].count;
		row->self_average += list->stack_rows[path->stack].average;
	}
	return true;
}

/* Put the stacks of a place into the order of its children, rows from first on. */
static void move_paths(struct pmp_list *list, const struct place *place, size_t first)
{
	uint32_t at = place->begin;

	/* Those that end above have no child and come first. */
	for (uint32_t i = place->begin; i < place->end; i++)
		if (list->paths[i].child == PMP_NAME_NONE)
			list->moved[at++] = list->paths[i];
	for (size_t i = first; i < list->row_count; i++) {
		uint32_t count = list->rows[i].end;

		list->rows[i].begin = list->rows[i].end = at;
		at += count;
	}
	/* All of them go to one: they are there. */
	if (list->row_count == first + 1 && list->rows[first].begin == place->begin) {
		list->rows[first].end = at;
		return;
	}
	for (uint32_t i = place->begin; i < place->end; i++) {
		const struct pmp_path *path = &list->paths[i];

		if (path->child != PMP_NAME_NONE)
			list->moved[list->rows[path->child].end++] = *path;
	}
	memcpy(list->paths + place->begin, list->moved + place->begin,
	       (place->end - place->begin) * sizeof(*list->paths));
}

/* Make the children of a place; *child becomes the first of them. False: no memory. */
static bool make_children(struct pmp_model *model, const struct place *place,
			  uint32_t *child)
{
	struct pmp_list *list = &model->list;
	size_t first = list->row_count;
	bool good = true;

	for (uint32_t i = place->begin; i < place->end && good; i++) {
		struct pmp_path *path = &list->paths[i];

		path->child = PMP_NAME_NONE;
		if (path->depth > place->level)
			good = count_child(model, place, path);
	}
	if (good)
		move_paths(list, place, first);
	for (size_t i = first; i < list->row_count; i++)
		list->children[list->rows[i].name] = PMP_NAME_NONE;
	*child = sort_siblings(list, first);
	return good && (*child != PMP_NAME_NONE || first == list->row_count);
}

/* Make what is below a node, unless it is there. */
static bool expand(struct pmp_model *model, uint32_t node)
{
	const struct pmp_row *row = &model->list.rows[node];
	const struct place place = { node, row->begin, row->end, row->level, row->key };
	uint32_t child;

	if (!row->deeper || row->first != PMP_NAME_NONE)
		return true;
	if (!make_children(model, &place, &child))
		return false;
	model->list.rows[node].first = child;
	return true;
}

/* ---- the roots -------------------------------------------------------------------- */

/* A family is the parent of all its trees: a process, or a group of threads. */
static bool make_families(struct pmp_model *model, const struct place *top,
			  uint32_t *root)
{
	struct pmp_list *list = &model->list;
	struct pmp_table table = { 0 };
	bool good = true;

	for (uint32_t i = 0; i < top->end && good; i++) {
		struct pmp_path *path = &list->paths[i];
		uint64_t key = pmp_model_family(model, &list->stack_rows[path->stack]);
		bool added = false;
		uint32_t *child =
			pmp_table_get(&table, key, (uint32_t)list->row_count, &added);

		good = child && (!added || pmp_model_add_row(model, key));
		if (good)
			count_at(list, path, *child);
	}
	pmp_table_free(&table);
	if (!good)
		return false;
	move_paths(list, top, 0);
	for (size_t i = 0; i < list->row_count; i++)
		list->rows[i].deeper = true;
	*root = sort_siblings(list, 0);
	return *root != PMP_NAME_NONE;
}

static bool make_roots(struct pmp_model *model, uint32_t *root)
{
	struct pmp_list *list = &model->list;
	const struct place top = { .parent = PMP_NAME_NONE,
				   .end = (uint32_t)list->stack_row_count };

	*root = PMP_NAME_NONE;
	if (!top.end)
		return true;
	if (pmp_model_family(model, list->stack_rows))
		return make_families(model, &top, root);
	return make_children(model, &top, root);
}

static bool begin_paths(struct pmp_model *model)
{
	struct pmp_list *list = &model->list;
	size_t names = model->names.count + 1;

	pmp_model_part_rows(list);
	list->row_count = 0;
	list->inverted = model->settings.inverted;
	list->paths = calloc(list->stack_row_count + 1, sizeof(*list->paths));
	list->moved = calloc(list->stack_row_count + 1, sizeof(*list->moved));
	list->children = malloc(names * sizeof(*list->children));
	if (!list->paths || !list->moved || !list->children)
		return false;
	memset(list->children, 0xff, names * sizeof(*list->children));
	model->making->begun = true;
	return true;
}

enum pmp_progress_of_step pmp_model_paths(struct pmp_model *model, uint64_t until)
{
	struct pmp_making *making = model->making;
	struct pmp_list *list = &model->list;

	if (!making->begun && !begin_paths(model))
		return PMP_STEP_FAILED;
	while (making->at < list->stack_row_count) {
		const struct pmp_row *stack = &list->stack_rows[making->at];
		const struct pmp_chain *chain = &model->chains[stack->chain];

		list->paths[making->at] = (struct pmp_path){
			.stack = (uint32_t)making->at,
			.first = list->inverted ? chain->first
						: chain->first + chain->count - 1,
			.depth = chain->count < DEPTH_MAX ? chain->count : DEPTH_MAX,
		};
		if (pmp_model_next(model, until))
			return PMP_STEP_ON;
	}
	if (!make_roots(model, &making->root))
		return PMP_STEP_FAILED;
	making->node = making->root;
	return PMP_STEP_DONE;
}

/* ---- nodes on the screen ----------------------------------------------------------- */

/* Open nodes stay open; those with much of all are open from the first. */
static void decide_open(struct pmp_model *model, struct pmp_row *row)
{
	double least = OPEN_SHARE * (double)model->list.total;
	uint32_t *known = pmp_table_find(&model->nodes, row->key);

	if (!known && (double)row->count >= least)
		known = pmp_table_get(&model->nodes, row->key, 1, NULL);
	row->open = known && *known && row->deeper;
}

/* The next node in the order of the screen; children only of what is open. */
static uint32_t next_node(const struct pmp_list *list, uint32_t node)
{
	const struct pmp_row *row = &list->rows[node];

	if (row->open)
		return row->first;
	while (row->next == PMP_NAME_NONE && row->parent != PMP_NAME_NONE)
		row = &list->rows[row->parent];
	return row->next;
}

/* A chain of calls without a branch is not indented: what matters is where it forks. */
static void set_depth(const struct pmp_list *list, struct pmp_row *row)
{
	const struct pmp_row *parent;

	if (row->parent == PMP_NAME_NONE) {
		row->depth = 0;
		return;
	}
	parent = &list->rows[row->parent];
	row->depth = parent->depth + (parent->name == PMP_NAME_NONE ||
				      list->rows[parent->first].next != PMP_NAME_NONE);
}

/* Append a node to what is shown, and make what is below it if it is open. */
static bool show_node(struct pmp_model *model, uint32_t node)
{
	struct pmp_list *list = &model->list;

	if (!PMP_MODEL_RESERVE(&list->order, &list->order_capacity,
			       list->order_count + 1))
		return false;
	decide_open(model, &list->rows[node]);
	set_depth(list, &list->rows[node]);
	list->order[list->order_count++] = node;
	return !list->rows[node].open || expand(model, node);
}

enum pmp_progress_of_step pmp_model_tree(struct pmp_model *model, uint64_t until)
{
	struct pmp_making *making = model->making;
	struct pmp_list *list = &model->list;

	while (making->node != PMP_NAME_NONE) {
		if (making->opened) {
			making->opened = false;
			making->node = making->root;
			list->order_count = 0;
		}
		if (!show_node(model, making->node))
			return PMP_STEP_FAILED;
		making->node = next_node(list, making->node);
		if (pmp_model_is_late(until))
			return PMP_STEP_ON;
	}
	return PMP_STEP_DONE;
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
	/* The next tree may have been beyond it already. */
	if (model->making)
		model->making->opened = true;
}

/* The first root: it has no parent and is shown first. */
static void show_again(struct pmp_model *model)
{
	struct pmp_list *list = &model->list;
	uint32_t node = list->order_count ? list->order[0] : PMP_NAME_NONE;

	list->order_count = 0;
	for (; node != PMP_NAME_NONE && !model->failed; node = next_node(list, node))
		model->failed = !show_node(model, node);
}

void pmp_model_open(struct pmp_model *model, const struct pmp_row *row, bool open)
{
	set_open(model, row, open);
	show_again(model);
}

void pmp_model_open_hot(struct pmp_model *model, const struct pmp_row *row)
{
	struct pmp_list *list = &model->list;
	uint32_t node = (uint32_t)(row - list->rows);

	while (node != PMP_NAME_NONE && list->rows[node].deeper && expand(model, node)) {
		set_open(model, &list->rows[node], true);
		node = list->rows[node].first;
	}
	show_again(model);
}
