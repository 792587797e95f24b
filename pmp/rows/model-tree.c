/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The call tree, from rows of stacks. A node is identified by the names on its path, so
 * that it stays open or closed from build to build. The nodes below a node are made when
 * it is opened: its stacks are adjacent, and are then sorted by their names at
 * that level.
 */
#include "rows/model-rows.h"
#include "rows/model.h"

#include <stdlib.h>
#include <string.h>

#define OPEN_SHARE 0.05 /* a node with this share of all starts open */
#define DEPTH_MAX 4096	/* deeper calls are counted at their ancestor there */

/* A stack in the tree. */
struct path {
	uint32_t stack; /* its row */
	uint32_t first; /* its outermost name in names_of_chains; inverted, the leaf */
	uint32_t depth; /* names in the tree */
	uint32_t child; /* row of the child that it belongs to */
};

/* The source of the children of a node. */
struct branch {
	uint32_t parent; /* NAME_NONE: roots */
	uint32_t begin, end;
	unsigned level;
	uint64_t identity;
};

void model_drop_tree(struct row_list *list)
{
	free(list->paths);
	free(list->scratch);
	free(list->children);
	list->paths = list->scratch = NULL;
	list->children = NULL;
}

/* ---- stacks below a node ------------------------------------------------------------ */

static uint32_t name_at(const struct model *model, const struct path *path,
			unsigned level)
{
	return model->names_of_chains[model->list.inverted ? path->first + level
							   : path->first - level];
}

static int by_count(const void *a, const void *b, void *arg)
{
	const struct row_list *list = arg;
	const struct view_row *one = &list->rows[*(const uint32_t *)a];
	const struct view_row *other = &list->rows[*(const uint32_t *)b];

	if (one->count != other->count)
		return one->count < other->count ? 1 : -1;
	return (one->identity > other->identity) - (one->identity < other->identity);
}

/* Sort the rows from first on by count, and link them. Returns the first; NAME_NONE:
 * there are none, or no memory. */
static uint32_t sort_siblings(struct row_list *list, size_t first)
{
	size_t count = list->row_count - first;
	uint32_t *order = calloc(count + 1, sizeof(*order)), best;

	if (!order || !count) {
		free(order);
		return NAME_NONE;
	}
	for (size_t i = 0; i < count; i++)
		order[i] = (uint32_t)(first + i);
	qsort_r(order, count, sizeof(*order), by_count, list);
	for (size_t i = 0; i < count; i++)
		list->rows[order[i]].next = i + 1 < count ? order[i + 1] : NAME_NONE;
	best = order[0];
	free(order);
	return best;
}

/* Count a stack at a child. */
static void count_at(struct row_list *list, struct path *path, uint32_t child)
{
	struct view_row *row = &list->rows[child];

	path->child = child;
	model_count(row, &list->stack_rows[path->stack]);
	row->end++;
}

/* Count a stack at the node for its name at this level. */
static bool count_child(struct model *model, const struct branch *branch,
			struct path *path)
{
	struct row_list *list = &model->list;
	uint32_t name = name_at(model, path, branch->level);
	uint32_t *child = &list->children[name];
	bool last = branch->level + 1 == path->depth;
	struct view_row *row;

	if (*child == NAME_NONE) {
		row = model_add_row(model, hash_mix(branch->identity + list->inverted,
						    name + UINT64_C(1)));
		if (!row)
			return false;
		*child = (uint32_t)(row - list->rows);
		row->name = name;
		row->parent = branch->parent;
		row->level = branch->level + 1;
	}
	count_at(list, path, *child);
	row = &list->rows[*child];
	row->deeper |= !last;
	if (list->inverted ? branch->level == 0 : last) {
		row->self += list->stack_rows[path->stack].count;
		row->self_average += list->stack_rows[path->stack].average;
	}
	return true;
}

/* Move the stacks of a branch into the order of its children, the rows from first on. */
static void move_paths(struct row_list *list, const struct branch *branch, size_t first)
{
	uint32_t at = branch->begin;

	/* Stacks that end above have no child and come first. */
	for (uint32_t i = branch->begin; i < branch->end; i++)
		if (list->paths[i].child == NAME_NONE)
			list->scratch[at++] = list->paths[i];
	for (size_t i = first; i < list->row_count; i++) {
		uint32_t count = list->rows[i].end;

		list->rows[i].begin = list->rows[i].end = at;
		at += count;
	}
	/* All stacks belong to one child: they are in place. */
	if (list->row_count == first + 1 && list->rows[first].begin == branch->begin) {
		list->rows[first].end = at;
		return;
	}
	for (uint32_t i = branch->begin; i < branch->end; i++) {
		const struct path *path = &list->paths[i];

		if (path->child != NAME_NONE)
			list->scratch[list->rows[path->child].end++] = *path;
	}
	memcpy(list->paths + branch->begin, list->scratch + branch->begin,
	       (branch->end - branch->begin) * sizeof(*list->paths));
}

/* Make the children of a branch; *child is set to the first. False: no memory. */
static bool make_children(struct model *model, const struct branch *branch,
			  uint32_t *child)
{
	struct row_list *list = &model->list;
	size_t first = list->row_count;
	bool good = true;

	for (uint32_t i = branch->begin; i < branch->end && good; i++) {
		struct path *path = &list->paths[i];

		path->child = NAME_NONE;
		if (path->depth > branch->level)
			good = count_child(model, branch, path);
	}
	if (good)
		move_paths(list, branch, first);
	for (size_t i = first; i < list->row_count; i++)
		list->children[list->rows[i].name] = NAME_NONE;
	*child = sort_siblings(list, first);
	return good && (*child != NAME_NONE || first == list->row_count);
}

/* Make the children of a node, unless they exist. */
static bool expand(struct model *model, uint32_t node)
{
	const struct view_row *row = &model->list.rows[node];
	const struct branch branch = { node, row->begin, row->end, row->level,
				       row->identity };
	uint32_t child;

	if (!row->deeper || row->first != NAME_NONE)
		return true;
	if (!make_children(model, &branch, &child))
		return false;
	model->list.rows[node].first = child;
	return true;
}

/* ---- the roots -------------------------------------------------------------------- */

/* A family, which is a process or a group of threads, is the parent of its trees. */
static bool make_families(struct model *model, const struct branch *top, uint32_t *root)
{
	struct row_list *list = &model->list;
	struct hash table = { 0 };
	bool good = true;

	for (uint32_t i = 0; i < top->end && good; i++) {
		struct path *path = &list->paths[i];
		uint64_t family = model_family(model, &list->stack_rows[path->stack]);
		bool added = false;
		uint32_t *child =
			hash_get(&table, family, (uint32_t)list->row_count, &added);

		good = child && (!added || model_add_row(model, family));
		if (good)
			count_at(list, path, *child);
	}
	hash_free(&table);
	if (!good)
		return false;
	move_paths(list, top, 0);
	for (size_t i = 0; i < list->row_count; i++)
		list->rows[i].deeper = true;
	*root = sort_siblings(list, 0);
	return *root != NAME_NONE;
}

static bool make_roots(struct model *model, uint32_t *root)
{
	struct row_list *list = &model->list;
	const struct branch top = { .parent = NAME_NONE,
				    .end = (uint32_t)list->stack_row_count };

	*root = NAME_NONE;
	if (!top.end)
		return true;
	if (model_family(model, list->stack_rows))
		return make_families(model, &top, root);
	return make_children(model, &top, root);
}

static bool begin_paths(struct model *model)
{
	struct row_list *list = &model->list;
	size_t names = model->names.count + 1;

	model_part_rows(list);
	list->row_count = 0;
	list->inverted = model->settings.inverted;
	list->paths = calloc(list->stack_row_count + 1, sizeof(*list->paths));
	list->scratch = calloc(list->stack_row_count + 1, sizeof(*list->scratch));
	list->children = malloc(names * sizeof(*list->children));
	if (!list->paths || !list->scratch || !list->children)
		return false;
	memset(list->children, 0xff, names * sizeof(*list->children));
	model->build->begun = true;
	return true;
}

enum step_progress model_paths(struct model *model, uint64_t until)
{
	struct build *build = model->build;
	struct row_list *list = &model->list;

	if (!build->begun && !begin_paths(model))
		return STEP_FAILED;
	while (build->at < list->stack_row_count) {
		const struct view_row *stack = &list->stack_rows[build->at];
		const struct name_chain *chain = &model->chains[stack->chain];

		list->paths[build->at] = (struct path){
			.stack = (uint32_t)build->at,
			.first = list->inverted ? chain->first
						: chain->first + chain->count - 1,
			.depth = chain->count < DEPTH_MAX ? chain->count : DEPTH_MAX,
		};
		if (model_next(model, until))
			return STEP_ON;
	}
	if (!make_roots(model, &build->root))
		return STEP_FAILED;
	build->node = build->root;
	return STEP_DONE;
}

/* ---- visible nodes ----------------------------------------------------------------- */

/* Nodes stay open; those with a large share start open. */
static void decide_open(struct model *model, struct view_row *row)
{
	double least = OPEN_SHARE * (double)model->list.total;
	uint32_t *open = hash_find(&model->nodes, row->identity);

	if (!open && (double)row->count >= least)
		open = hash_get(&model->nodes, row->identity, 1, NULL);
	row->open = open && *open && row->deeper;
}

/* The next node on the screen; visits children only of open nodes. */
static uint32_t next_node(const struct row_list *list, uint32_t node)
{
	const struct view_row *row = &list->rows[node];

	if (row->open)
		return row->first;
	while (row->next == NAME_NONE && row->parent != NAME_NONE)
		row = &list->rows[row->parent];
	return row->next;
}

/* A chain of calls without a branch is not indented: only forks matter. */
static void set_depth(const struct row_list *list, struct view_row *row)
{
	const struct view_row *parent;

	if (row->parent == NAME_NONE) {
		row->depth = 0;
		return;
	}
	parent = &list->rows[row->parent];
	row->depth = parent->depth + (parent->name == NAME_NONE ||
				      list->rows[parent->first].next != NAME_NONE);
}

/* Append a node to the list shown, and make its children if it is open. */
static bool show_node(struct model *model, uint32_t node)
{
	struct row_list *list = &model->list;

	if (!MODEL_RESERVE(&list->order, &list->order_capacity, list->order_count + 1))
		return false;
	decide_open(model, &list->rows[node]);
	set_depth(list, &list->rows[node]);
	list->order[list->order_count++] = node;
	return !list->rows[node].open || expand(model, node);
}

enum step_progress model_tree(struct model *model, uint64_t until)
{
	struct build *build = model->build;
	struct row_list *list = &model->list;

	while (build->node != NAME_NONE) {
		if (build->opened) {
			build->opened = false;
			build->node = build->root;
			list->order_count = 0;
		}
		if (!show_node(model, build->node))
			return STEP_FAILED;
		build->node = next_node(list, build->node);
		if (clock_is_past(until))
			return STEP_ON;
	}
	return STEP_DONE;
}

bool model_has_children(const struct view_row *row)
{
	return row->deeper;
}

static void set_open(struct model *model, const struct view_row *row, bool open)
{
	uint32_t *state = hash_get(&model->nodes, row->identity, open, NULL);

	if (state)
		*state = open;
	/* The build in progress may already be past it. */
	if (model->build)
		model->build->opened = true;
}

/* Shows all nodes again from the first root, which has no parent. */
static void show_again(struct model *model)
{
	struct row_list *list = &model->list;
	uint32_t node = list->order_count ? list->order[0] : NAME_NONE;

	list->order_count = 0;
	for (; node != NAME_NONE && !model->failed; node = next_node(list, node))
		model->failed = !show_node(model, node);
}

void model_open(struct model *model, const struct view_row *row, bool open)
{
	set_open(model, row, open);
	show_again(model);
}

void model_open_hot(struct model *model, const struct view_row *row)
{
	struct row_list *list = &model->list;
	uint32_t node = (uint32_t)(row - list->rows);

	while (node != NAME_NONE && list->rows[node].deeper && expand(model, node)) {
		set_open(model, &list->rows[node], true);
		node = list->rows[node].first;
	}
	show_again(model);
}
