/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Columns of numbers, and what stands above them. */
#include "write/table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/escape.h"

#define HUNDREDTH (PMP_S / 100)

/* hundredths as "12.34" */
static void add_decimal(struct pmp_buf *buf, int width, uint64_t hundredths)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64 ".%02u", hundredths / 100,
		 (unsigned)(hundredths % 100));
	pmp_buf_printf(buf, "%*s", width, text);
}

void pmp_table_count(struct pmp_buf *buf, int width, uint64_t number)
{
	pmp_buf_printf(buf, "%*" PRIu64, width, number);
}

void pmp_table_percent(struct pmp_buf *buf, int width, uint64_t part, uint64_t whole)
{
	double share = whole ? (double)part / (double)whole : 0;

	add_decimal(buf, width, (uint64_t)(share * 10000 + 0.5));
}

void pmp_table_seconds(struct pmp_buf *buf, int width, uint64_t time)
{
	add_decimal(buf, width, time / HUNDREDTH + (time % HUNDREDTH >= HUNDREDTH / 2));
}

void pmp_table_title(struct pmp_buf *buf, const char *what,
		     const struct pmp_profile *profile, uint64_t stacks)
{
	struct pmp_profile_info info = { .size = sizeof(info) };
	struct pmp_about about;

	pmp_profile_info(profile, &info);
	pmp_profile_about(profile, &about);
	pmp_buf_printf(buf, "%s: %" PRIu64 " stack%s in %" PRIu64 " snapshot%s, ", what,
		       stacks, stacks == 1 ? "" : "s", (uint64_t)info.samples,
		       info.samples == 1 ? "" : "s");
	pmp_table_seconds(buf, 0, about.duration);
	pmp_buf_puts(buf, " s");
	if (*about.host) {
		pmp_buf_puts(buf, ", host ");
		pmp_escape_buf(buf, about.host, strlen(about.host));
	}
	pmp_buf_puts(buf, "\n\n");
}
