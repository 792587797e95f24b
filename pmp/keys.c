/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The keys: those of top and htop where they have one for it; k is up, never kill. */
#include "keys.h"

#define ALT(c) (PMP_KEY_ALT + (c))

static const struct pmp_key keys[] = {
	{ "Views", PMP_ACTION_STACKS, { '1', ALT('1') }, "1",
	  "whole stacks, the leaf first", "1-5 view" },
	{ .action = PMP_ACTION_FUNCTIONS, .keys = { '2', ALT('2') }, .label = "2",
	  .help = "functions: alone, and with what they call" },
	{ .action = PMP_ACTION_TREE, .keys = { '3', ALT('3') }, .label = "3",
	  .help = "tree of calls" },
	{ .action = PMP_ACTION_THREADS, .keys = { '4', ALT('4') }, .label = "4",
	  .help = "threads" },
	{ .action = PMP_ACTION_LOCKS, .keys = { '5', ALT('5') }, .label = "5",
	  .help = "locks (not in this release)" },
	{ .action = PMP_ACTION_NEXT_VIEW, .keys = { PMP_KEY_TAB }, .label = "Tab",
	  .help = "the next view" },

	{ "Moving", PMP_ACTION_UP, { PMP_KEY_UP, 'k' }, "Up k", "up", NULL },
	{ .action = PMP_ACTION_DOWN, .keys = { PMP_KEY_DOWN, 'j' }, .label = "Down j",
	  .help = "down" },
	{ .action = PMP_ACTION_PAGE_UP, .keys = { PMP_KEY_PAGE_UP }, .label = "PgUp",
	  .help = "a page up" },
	{ .action = PMP_ACTION_PAGE_DOWN, .keys = { PMP_KEY_PAGE_DOWN }, .label = "PgDn",
	  .help = "a page down" },
	{ .action = PMP_ACTION_HOME, .keys = { PMP_KEY_HOME, 'g' }, .label = "Home g",
	  .help = "to the first row, and stay there" },
	{ .action = PMP_ACTION_END, .keys = { PMP_KEY_END, 'G' }, .label = "End G",
	  .help = "to the last row" },
	{ .action = PMP_ACTION_LEFT, .keys = { PMP_KEY_LEFT }, .label = "Left",
	  .help = "sideways; close a node of the tree" },
	{ .action = PMP_ACTION_RIGHT, .keys = { PMP_KEY_RIGHT }, .label = "Right",
	  .help = "sideways; open a node of the tree" },
	{ .action = PMP_ACTION_ENTER, .keys = { PMP_KEY_ENTER }, .label = "Enter",
	  .help = "the whole stack of the row; open or close a node",
	  .hint = "Enter stack" },
	{ .action = PMP_ACTION_HOT_PATH, .keys = { 'e' }, .label = "e",
	  .help = "tree: open the hottest path below the node" },
	{ .action = PMP_ACTION_INVERT, .keys = { 'v' }, .label = "v",
	  .help = "tree: from the root or, inverted, from the leaf" },

	{ "What is shown", PMP_ACTION_SORT_LEFT, { '<' }, "<",
	  "sort by the column to the left", "<> sort" },
	{ .action = PMP_ACTION_SORT_RIGHT, .keys = { '>', PMP_KEY_F6 }, .label = "> F6",
	  .help = "sort by the column to the right" },
	{ .action = PMP_ACTION_SORT_REVERSE, .keys = { 'I' }, .label = "I",
	  .help = "sort the other way round" },
	{ .action = PMP_ACTION_SEARCH, .keys = { '/', PMP_KEY_F3 }, .label = "/ F3",
	  .help = "search", .hint = "/ search" },
	{ .action = PMP_ACTION_SEARCH_NEXT, .keys = { 'n' }, .label = "n",
	  .help = "next match" },
	{ .action = PMP_ACTION_SEARCH_BACK, .keys = { 'N' }, .label = "N",
	  .help = "previous match" },
	{ .action = PMP_ACTION_FILTER_FRAMES, .keys = { '\\', PMP_KEY_F4 },
	  .label = "\\ F4", .help = "only stacks with a function that matches",
	  .hint = "\\ filter" },
	{ .action = PMP_ACTION_FILTER_THREADS, .keys = { 'o' }, .label = "o",
	  .help = "only threads whose name matches" },
	{ .action = PMP_ACTION_IDLE, .keys = { 'i' }, .label = "i",
	  .help = "threads that wait for work: shown, hidden, only they",
	  .hint = "i idle" },
	{ .action = PMP_ACTION_GROUP, .keys = { 't' }, .label = "t",
	  .help = "names of threads in groups (conn-N), or as they are" },
	{ .action = PMP_ACTION_SPLIT, .keys = { 'H' }, .label = "H",
	  .help = "split rows by thread, or merge them" },
	{ .action = PMP_ACTION_WINDOW, .keys = { 'y' }, .label = "y",
	  .help = "count since the start, the last minute, the last 10 s",
	  .hint = "y time" },
	{ .action = PMP_ACTION_SHARE, .keys = { '%' }, .label = "%",
	  .help = "share of all stacks, or threads on average" },
	{ .action = PMP_ACTION_LINES, .keys = { 'l' }, .label = "l",
	  .help = "file and line of each function" },
	{ .action = PMP_ACTION_NAMES, .keys = { 'c' }, .label = "c",
	  .help = "short or full names" },
	{ .action = PMP_ACTION_WAIT, .keys = { 'x' }, .label = "x",
	  .help = "what a thread waits for: call, its arguments, place in the kernel" },

	{ "Sampling", PMP_ACTION_PAUSE, { 'Z', 'p' }, "Z p",
	  "pause: nothing is attached meanwhile", "Z pause" },
	{ .action = PMP_ACTION_REFRESH, .keys = { ' ' }, .label = "Space",
	  .help = "take a snapshot and show it now" },
	{ .action = PMP_ACTION_FASTER, .keys = { '+', '=' }, .label = "+",
	  .help = "more snapshots a second" },
	{ .action = PMP_ACTION_SLOWER, .keys = { '-' }, .label = "-",
	  .help = "fewer" },
	{ .action = PMP_ACTION_INTERVAL, .keys = { 's', 'd' }, .label = "s d",
	  .help = "set the time between snapshots (0.1, 10ms)" },
	{ .action = PMP_ACTION_RESET, .keys = { 'r', 'z' }, .label = "r z",
	  .help = "count from the beginning" },

	{ "Other", PMP_ACTION_WRITE, { 'w' }, "w",
	  "write the profile; the extension picks the format", "w write" },
	{ .action = PMP_ACTION_SAVE, .keys = { 'W' }, .label = "W",
	  .help = "save what is shown and how for the next time" },
	{ .action = PMP_ACTION_MOUSE, .keys = { 'm' }, .label = "m",
	  .help = "mouse: pmp's or the terminal's" },
	{ .action = PMP_ACTION_REDRAW, .keys = { PMP_KEY_REDRAW }, .label = "^L",
	  .help = "draw the screen anew" },
	{ .action = PMP_ACTION_HELP, .keys = { '?', 'h', PMP_KEY_F1 }, .label = "? h F1",
	  .help = "this help", .hint = "? help" },
	{ .action = PMP_ACTION_BACK, .keys = { PMP_KEY_ESCAPE }, .label = "Esc",
	  .help = "back; clear the filters" },
	{ .action = PMP_ACTION_QUIT, .keys = { 'q', PMP_KEY_F10 }, .label = "q F10 ^C",
	  .help = "quit; in a screen like this one: back", .hint = "q quit" },
};

size_t pmp_key_count(void)
{
	return sizeof(keys) / sizeof(*keys);
}

const struct pmp_key *pmp_key(size_t i)
{
	return &keys[i];
}

enum pmp_action pmp_key_action(int key)
{
	for (size_t i = 0; i < pmp_key_count(); i++) {
		for (int k = 0; k < PMP_KEYS_OF_ACTION && keys[i].keys[k]; k++) {
			if (keys[i].keys[k] == key)
				return keys[i].action;
		}
	}
	return PMP_ACTION_NONE;
}
