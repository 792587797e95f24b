/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Codes of keys, as the terminal passes them to the view. */
#ifndef PMP_VIEW_KEY_CODES_H
#define PMP_VIEW_KEY_CODES_H

/* Keys that are not characters; the code of a character is its code point. */
enum {
	PMP_KEY_NONE = 0,
	PMP_KEY_TAB = 9,
	PMP_KEY_REDRAW = 12,
	PMP_KEY_ENTER = 13,
	PMP_KEY_CLEAR = 21,
	PMP_KEY_ESCAPE = 27,
	PMP_KEY_BACKSPACE = 127,
	PMP_KEY_SPECIAL = 0x110000,
	PMP_KEY_UP = PMP_KEY_SPECIAL,
	PMP_KEY_DOWN,
	PMP_KEY_LEFT,
	PMP_KEY_RIGHT,
	PMP_KEY_PAGE_UP,
	PMP_KEY_PAGE_DOWN,
	PMP_KEY_HOME,
	PMP_KEY_END,
	PMP_KEY_F1,
	PMP_KEY_F3,
	PMP_KEY_F4,
	PMP_KEY_F6,
	PMP_KEY_F9,
	PMP_KEY_F10,
	PMP_KEY_ALT, /* plus a character */
	PMP_KEY_MAX = PMP_KEY_ALT + 128,
};

#endif
