/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * names: threads whose names are meant to harm who prints them: escape
 * sequences, a newline, parentheses, DEL, C1, bytes that are not UTF-8, what
 * means something in the formats. Each sleeps in named().
 */
#include "target.h"

#include <poll.h>

static const char *const names[] = {
	"\033]0;pwned\007",
	"two\nlines",
	"a) R 1 1 1",
	"del\177del",
	"\302\23331mred",
	"\377\376bad",
	"semi;colon 17",
	"Thread 9 (LWP",
	"\"quoted\"",
	"(",
	")",
	" ",
	"#1 x",
	"tab\tcr\r",
};

static NOINLINE void named(void *arg)
{
	for (;;)
		poll(NULL, 0, -1);
	(void)arg;
}

int main(void)
{
	size_t i;

	target_begin();
	for (i = 0; i < sizeof names / sizeof *names; i++)
		target_wait_asleep(target_thread(names[i], named, NULL));
	target_ready();
	target_wait_end();
	target_verdict(NULL);
}
