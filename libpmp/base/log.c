/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Debug messages through the caller's callback. */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>

#define LINE_SIZE 1024 /* longer lines are truncated */

void pmp_log_line(const struct pmp_log *log, const char *area, const char *format, ...)
{
	char line[LINE_SIZE];
	va_list args;

	if (!log->line)
		return;
	va_start(args, format);
	if (vsnprintf(line, sizeof(line), format, args) < 0)
		line[0] = '\0';
	va_end(args);
	log->line(log->arg, area, line);
}
