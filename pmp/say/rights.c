/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "say/rights.h"

#include <stdio.h>

#include "confine/rights.h"
#include "say/message.h"

static const struct {
	enum confine_missing missing;
	const char *words;
} kept[] = {
	{ CONFINE_CALLS, "no filter of system calls (seccomp)" },
	{ CONFINE_FILES, "no limit to files (landlock)" },
	{ CONFINE_LIMITS, "no limits of memory and time" },
	{ CONFINE_USER, "the user id of root" },
	{ CONFINE_CAPABILITIES, "all capabilities of its user" },
	{ CONFINE_NETWORK, "the network" },
	{ CONFINE_SIGNALS, "signals to processes of its user" },
};

void rights_note(const char *process, unsigned missing)
{
	char text[256] = "";
	size_t length = 0;

	for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++)
		if (missing & kept[i].missing)
			length += (size_t)snprintf(text + length, sizeof(text) - length,
						   "%s%s", length ? ", " : "",
						   kept[i].words);
	if (length)
		message_note(NULL, "%s has more rights than it should: it has %s",
			     process, text);
}
