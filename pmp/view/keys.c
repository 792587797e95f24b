/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The keys: as in top and htop where these have one; k moves up and never kills. */
#include "view/keys.h"

#include "rows/view-list.h"
#include "view/key-codes.h"
#include "view/on-key.h"
#include "view/prompt.h"

#define ALT(c) (PMP_KEY_ALT + (c))

#define FILE_SHOWN "This is a file: nothing is sampled"

static const struct key_binding keys[] = {
	/* The keys of views are in the list of views, view-list.c. */
	{ .title = "Views", .hint = "1-7 view" },
	{ .run = on_next_view,
	  .keys = { PMP_KEY_TAB },
	  .label = "Tab",
	  .help = "the next view" },

	{ .title = "Moving",
	  .run = on_up,
	  .keys = { PMP_KEY_UP, 'k' },
	  .label = "Up k",
	  .help = "up" },
	{ .run = on_down,
	  .keys = { PMP_KEY_DOWN, 'j' },
	  .label = "Down j",
	  .help = "down" },
	{ .run = on_page_up,
	  .keys = { PMP_KEY_PAGE_UP },
	  .label = "PgUp",
	  .help = "a page up" },
	{ .run = on_page_down,
	  .keys = { PMP_KEY_PAGE_DOWN },
	  .label = "PgDn",
	  .help = "a page down" },
	{ .run = on_home,
	  .keys = { PMP_KEY_HOME, 'g' },
	  .label = "Home g",
	  .help = "to the first row, and stay there" },
	{ .run = on_end,
	  .keys = { PMP_KEY_END, 'G' },
	  .label = "End G",
	  .help = "to the last row" },
	{ .run = on_left,
	  .keys = { PMP_KEY_LEFT },
	  .label = "Left",
	  .help = "sideways; close a node of the tree" },
	{ .run = on_right,
	  .keys = { PMP_KEY_RIGHT },
	  .label = "Right",
	  .help = "sideways; open a node of the tree" },
	{ .run = on_enter,
	  .keys = { PMP_KEY_ENTER },
	  .label = "Enter",
	  .help = "the whole stack of the row; open or close a node",
	  .hint = "Enter stack" },
	{ .run = on_hot_path,
	  .keys = { 'e' },
	  .label = "e",
	  .help = "tree: open the hottest path below the node" },
	{ .run = on_invert,
	  .keys = { 'v' },
	  .label = "v",
	  .help = "tree: from the root or, inverted, from the leaf" },

	{ .title = "What is shown",
	  .run = on_sort_left,
	  .keys = { '<' },
	  .label = "<",
	  .help = "sort by the column to the left",
	  .hint = "<> sort" },
	{ .run = on_sort_right,
	  .keys = { '>', PMP_KEY_F6 },
	  .label = "> F6",
	  .help = "sort by the column to the right" },
	{ .run = on_sort_reverse,
	  .keys = { 'I' },
	  .label = "I",
	  .help = "sort the other way round" },
	{ .run = on_search,
	  .keys = { '/', PMP_KEY_F3 },
	  .label = "/ F3",
	  .help = "search",
	  .hint = "/ search" },
	{ .run = on_search_next, .keys = { 'n' }, .label = "n", .help = "next match" },
	{ .run = on_search_back,
	  .keys = { 'N' },
	  .label = "N",
	  .help = "previous match" },
	{ .run = on_filter_frames,
	  .keys = { '\\', PMP_KEY_F4 },
	  .label = "\\ F4",
	  .help = "only stacks with a function that matches",
	  .hint = "\\ filter" },
	{ .run = on_filter_threads,
	  .keys = { 'o' },
	  .label = "o",
	  .help = "only threads whose name matches" },
	{ .run = on_idle,
	  .keys = { 'i' },
	  .label = "i",
	  .help = "threads that wait for work: show, hide, only these",
	  .hint = "i idle" },
	{ .run = on_group,
	  .keys = { 't' },
	  .label = "t",
	  .help = "names of threads in groups (conn-N), or as they are" },
	{ .run = on_split,
	  .keys = { 'H' },
	  .label = "H",
	  .help = "split rows by thread name, waiters for a lock by thread; or merge" },
	{ .run = on_functions,
	  .keys = { 'f' },
	  .label = "f",
	  .help = "heap: rows by stack, or by function that allocates" },
	{ .run = on_window,
	  .keys = { 'y' },
	  .label = "y",
	  .help = "count since the start, the last minute, the last 10 s",
	  .hint = "y time",
	  .unsaved = "A saved profile has no windows of time" },
	{ .run = on_share,
	  .keys = { '%' },
	  .label = "%",
	  .help = "share of all stacks, or threads on average" },
	{ .run = on_deadlock,
	  .keys = { 'd' },
	  .label = "d",
	  .help = "the next deadlock; if there is none the same as s" },
	{ .run = on_lines,
	  .keys = { 'l' },
	  .label = "l",
	  .help = "file and line of each function" },
	{ .run = on_names, .keys = { 'c' }, .label = "c", .help = "short or full names" },
	{ .run = on_wait,
	  .keys = { 'x' },
	  .label = "x",
	  .help = "what a thread waits for: lock and holder, or call and arguments" },

	{ .run = on_objects,
	  .keys = { 'O' },
	  .label = "O",
	  .help = "read what the heap of the row's process holds, by size and class",
	  .unsaved = "This is a file: there is no heap to read" },

	{ .title = "Sampling",
	  .run = on_pause,
	  .keys = { 'Z', 'p' },
	  .label = "Z p",
	  .help = "pause: nothing is attached meanwhile",
	  .hint = "Z pause",
	  .unsaved = FILE_SHOWN },
	{ .run = on_refresh,
	  .keys = { ' ' },
	  .label = "Space",
	  .help = "take a snapshot and show it now",
	  .unsaved = FILE_SHOWN },
	{ .run = on_faster,
	  .keys = { '+', '=' },
	  .label = "+",
	  .help = "more snapshots a second",
	  .unsaved = FILE_SHOWN },
	{ .run = on_slower,
	  .keys = { '-' },
	  .label = "-",
	  .help = "fewer",
	  .unsaved = FILE_SHOWN },
	{ .run = on_interval,
	  .keys = { 's' },
	  .label = "s",
	  .help = "set the time between snapshots (0.1, 10ms)",
	  .unsaved = FILE_SHOWN },
	{ .run = on_reset,
	  .keys = { 'r', 'z' },
	  .label = "r z",
	  .help = "count from the beginning",
	  .unsaved = FILE_SHOWN },

	{ .title = "Other",
	  .run = on_write,
	  .keys = { 'w' },
	  .label = "w",
	  .help = "write the profile; the extension picks the format",
	  .hint = "w write" },
	{ .run = on_save,
	  .keys = { 'W' },
	  .label = "W",
	  .help = "save what is shown and how for the next time" },
	{ .run = on_mouse,
	  .keys = { 'm' },
	  .label = "m",
	  .help = "mouse: pmp's or the terminal's" },
	{ .run = on_redraw,
	  .keys = { PMP_KEY_REDRAW },
	  .label = "^L",
	  .help = "draw the screen again" },
	{ .run = on_help,
	  .keys = { '?', 'h', PMP_KEY_F1 },
	  .label = "? h F1",
	  .help = "this help",
	  .hint = "? help",
	  .always = true },
	{ .run = on_back,
	  .keys = { PMP_KEY_ESCAPE },
	  .label = "Esc",
	  .help = "back; clear the filters" },
	{ .run = on_quit,
	  .keys = { 'q', PMP_KEY_F10 },
	  .label = "q F10 ^C",
	  .help = "quit; in a screen like this one: back",
	  .hint = "q quit",
	  .always = true },
};

size_t key_count(void)
{
	return sizeof(keys) / sizeof(*keys);
}

const struct key_binding *key_at(size_t i)
{
	return &keys[i];
}

const struct key_binding *key_find(int key)
{
	for (size_t i = 0; i < key_count(); i++) {
		for (int n = 0; n < KEYS_MAX && keys[i].keys[n]; n++) {
			if (keys[i].keys[n] == key)
				return &keys[i];
		}
	}
	return NULL;
}

void view_key(struct view *view, int number)
{
	size_t shown =
		view_type_find_key(number < PMP_KEY_ALT ? number : number - PMP_KEY_ALT);
	const struct key_binding *key = key_find(number);

	view_keep_valid(view);
	view->searching.left = 0;
	if (view->prompt) {
		prompt_key(view, number);
		return;
	}
	view->message[0] = '\0';
	if (shown < view_type_count())
		view_show(view, shown);
	else if (!key)
		view_say(view, "No such key; ? is help");
	else if (view->model.file && key->unsaved)
		view_say(view, "%s", key->unsaved);
	else
		key->run(view);
}
