/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --help, and the list for shell completion. */
#include "options/table.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "say/message.h"

#define HELP_COLUMN 30

static void help_row(const struct option_row *row)
{
	char text[64];
	int n;

	n = snprintf(text, sizeof(text), "  %c%c%c --%s%s%s%s", row->letter ? '-' : ' ',
		     row->letter ? row->letter : ' ', row->letter ? ',' : ' ', row->name,
		     !row->value	   ? ""
		     : row->may_lack_value ? "[="
					   : " ",
		     row->value ? row->value : "", row->may_lack_value ? "]" : "");
	printf("%-*s%s%s\n", HELP_COLUMN, text, n >= HELP_COLUMN ? " " : "", row->help);
}

int options_help(void)
{
	puts("pmp: what every thread of a process is doing, running or blocked\n\n"
	     "  pmp [OPTIONS] PID...              pmp [OPTIONS] --name REGEX\n"
	     "  pmp [OPTIONS] -- COMMAND [ARG]... pmp [OPTIONS] FILE...");
	for (unsigned group = 0; option_group(group); group++) {
		printf("\n%s:\n", option_group(group));
		for (size_t i = 0; option_row(i); i++) {
			const struct option_row *row = option_row(i);

			if (row->group == group && row->help)
				help_row(row);
		}
	}
	puts("\nFormats:");
	for (size_t i = 0; i < pmp_format_count(); i++)
		printf("  %-*s%s\n", HELP_COLUMN - 2, pmp_format(i)->name,
		       pmp_format(i)->help);
	puts("\nOn a terminal, without -f, --raw and -o: a live view until q; its help is ?.\n"
	     "Without -n and -d: --raw, --locks and -f objects take one snapshot; -- COMMAND\n"
	     "and --every and --serve go on until the end; all else runs for 10 seconds.\n"
	     "PMP_OPTS holds options that are read first.");
	if (fflush(stdout) == 0 && !ferror(stdout))
		return 0;
	message_print(NULL, "cannot write standard output: %s", strerror(errno));
	return PMP_EXIT_OUTPUT;
}

/* "-f	--format	FORMAT	raw folded pmp	format of the output". A missing field is
 * "-"; an optional value is in brackets. */
int options_list(void)
{
	char formats[256];

	for (size_t i = 0; option_row(i); i++) {
		const struct option_row *row = option_row(i);
		const char *words = option_words(row, formats, sizeof(formats));
		const char letter[] = { '-', row->letter, '\0' };

		if (row->help)
			printf(row->may_lack_value ? "%s\t--%s\t[%s]\t%s\t%s\n"
						   : "%s\t--%s\t%s\t%s\t%s\n",
			       letter, row->name, row->value ? row->value : "-",
			       words ? words : "-", row->help);
	}
	return fflush(stdout) == 0 ? 0 : PMP_EXIT_OUTPUT;
}
