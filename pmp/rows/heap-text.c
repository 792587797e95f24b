/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Texts for the cells, header and details of a heap. */
#include <inttypes.h>
#include <stdio.h>

#include "rows/model.h"
#include "rows/view-type.h"
#include "run/clock.h"

const struct heap_row *heap_row(const struct model *model, const struct view_row *row)
{
	return &model->list.heaps[row - model->list.rows];
}

struct scale {
	double step;  /* ratio between units */
	double plain; /* smaller numbers are shown in full */
	const char *units[8];
};

/* Format with three digits and a unit. */
static char *scaled(double value, const struct scale *scale, bool sign, char *buffer,
		    size_t size)
{
	const char *minus = value < 0 ? "-" : sign && value > 0 ? "+" : "";
	const char *const *units = scale->units;
	double left = value < 0 ? -value : value;

	if (left < scale->plain) {
		snprintf(buffer, size, "%s%.0f%s", minus, left, left > 0 ? *units : "");
		return buffer;
	}
	for (; left >= 999.5 && units[1]; units++)
		left /= scale->step;
	snprintf(buffer, size,
		 left < 9.995	? "%s%.2f%s"
		 : left < 99.95 ? "%s%.1f%s"
				: "%s%.0f%s",
		 minus, left, *units);
	return buffer;
}

char *heap_bytes_text(int64_t bytes, bool sign, char *buffer, size_t size)
{
	static const struct scale scale = {
		1024, 1024, { "B", "kB", "MB", "GB", "TB", "PB", "EB", NULL }
	};

	return scaled((double)bytes, &scale, sign, buffer, size);
}

char *heap_count_text(double count, bool sign, char *buffer, size_t size)
{
	static const struct scale scale = { 1000,
					    999999.5,
					    { "", "k", "M", "G", "T", "P", "E", NULL } };

	return scaled(count, &scale, sign, buffer, size);
}

char *heap_age_text(uint64_t age, char *buffer, size_t size)
{
	const uint64_t seconds = age / NS_PER_S;

	if (!age)
		snprintf(buffer, size, "-");
	else if (seconds < 10)
		snprintf(buffer, size, "%.1fs", (double)age / (double)NS_PER_S);
	else if (seconds < 1000)
		snprintf(buffer, size, "%us", (unsigned)seconds);
	else if (seconds < 600 * 60)
		snprintf(buffer, size, "%um", (unsigned)(seconds / 60));
	else
		snprintf(buffer, size, "%" PRIu64 "h", seconds / 3600);
	return buffer;
}

/* Newton's method, without libm: from above, each step gets closer. */
static double root_of(double square)
{
	double root = square > 1 ? square : 1;

	for (double next = (root + square / root) / 2; next < root;
	     next = (root + square / root) / 2)
		root = next;
	return root;
}

char *heap_error_text(double variance, int64_t sum, char *buffer, size_t size)
{
	double percent;

	snprintf(buffer, size, "-");
	if (!(variance > 0) || sum <= 0)
		return buffer;
	percent = 100 * root_of(variance) / (double)sum;
	snprintf(buffer, size, percent < 9.95 ? "%.1f%%" : "%.0f%%", percent);
	return buffer;
}
