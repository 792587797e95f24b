/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the numbers of a saved profile mean: its sample types, units and comments. */
#include "tally/pprof-read.h"

#include <limits.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/scan.h"

#define VALUE_MAX (UINT64_C(1) << 62)

uint64_t pmp_pprof_positive(uint64_t value)
{
	return value < VALUE_MAX ? value : 0;
}

/* 0: no unit of time. */
static uint64_t time_unit(const char *unit)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {
		{ "nanoseconds", 1 },
		{ "microseconds", PMP_US },
		{ "milliseconds", PMP_MS },
		{ "seconds", PMP_S },
	};

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (!strcmp(unit, units[i].name))
			return units[i].ns;
	return 0;
}

/* The period of a memory profile, for instance, is in bytes and not a time. */
static void find_period(struct pmp_pprof_reader *reader)
{
	uint64_t unit = time_unit(pmp_pprof_text(reader, reader->period_unit)), period;

	if (!__builtin_mul_overflow(reader->period, unit, &period))
		reader->metadata.period = pmp_pprof_positive(period);
}

static void find_time(struct pmp_pprof_reader *reader, const char *name, int *column,
		      uint64_t *unit)
{
	*column = -1;
	for (size_t i = 0; i < reader->type_count; i++) {
		*unit = time_unit(pmp_pprof_text(reader, reader->types[i].unit));
		if (*unit &&
		    !strcmp(pmp_pprof_text(reader, reader->types[i].name), name)) {
			*column = (int)i;
			return;
		}
	}
}

/* Name and unit must match: other programs use the same names for other values. */
int pmp_pprof_find_count(const struct pmp_pprof_reader *reader, const char *name,
			 const char *unit)
{
	for (size_t i = 0; i < reader->type_count; i++)
		if (!strcmp(pmp_pprof_text(reader, reader->types[i].name), name) &&
		    !strcmp(pmp_pprof_text(reader, reader->types[i].unit), unit))
			return (int)i;
	return -1;
}

/* All files that are read into one profile must count the same. */
static int check_measure(struct pmp_pprof_reader *reader)
{
	const struct pmp_sample_type *sample_type = &reader->metadata.sample_type;
	const struct pmp_sample_type *counted = reader->want->counted;
	char one[128], other[128];

	if (!counted || pmp_sample_type_is_same(counted, sample_type))
		return 0;
	return pmp_error_set(reader->refusal, PMP_EINVAL, "it counts %s, the others %s",
			     pmp_sample_type_text(sample_type, one, sizeof(one)),
			     pmp_sample_type_text(counted, other, sizeof(other)));
}

/* Find out what is counted, and which values are times. */
static int find_columns(struct pmp_pprof_reader *reader)
{
	const char *wanted = reader->want->sample_type;
	struct pmp_pprof_columns *columns = &reader->columns;
	struct pmp_sample_type types[PMP_PPROF_VALUES_MAX];
	const char *normal = NULL;

	for (size_t i = 0; i < reader->type_count; i++)
		types[i] = (struct pmp_sample_type){
			pmp_pprof_text(reader, reader->types[i].name),
			pmp_pprof_text(reader, reader->types[i].unit),
		};
	if (reader->default_type < reader->text_count)
		normal = pmp_pprof_text(reader, (uint32_t)reader->default_type);
	columns->count = pmp_sample_type_choose(types, reader->type_count, wanted, normal,
						reader->refusal);
	if (columns->count < 0)
		return columns->count;
	if (!pmp_sample_type_is_stacks(&types[columns->count]))
		reader->metadata.sample_type = types[columns->count];
	find_time(reader, "cpu", &columns->cpu, &columns->cpu_unit);
	find_time(reader, "offcpu", &columns->offcpu, &columns->offcpu_unit);
	find_time(reader, "wall", &columns->wall, &columns->wall_unit);
	columns->contentions = pmp_pprof_find_count(reader, "contentions", "count");
	columns->caused_contentions =
		pmp_pprof_find_count(reader, "caused_contentions", "count");
	columns->caused_delay =
		pmp_pprof_find_count(reader, "caused_delay", "nanoseconds");
	if (reader->want->heap)
		pmp_pprof_find_heap(reader);
	return check_measure(reader);
}

const char *pmp_pprof_after(const char *line, const char *prefix)
{
	size_t length = strlen(prefix);

	return strncmp(line, prefix, length) ? NULL : line + length;
}

void pmp_pprof_take_statistics(const char *line, const char *name, uint64_t *value)
{
	size_t length = strlen(name);
	const char *at = line;

	while ((at = strstr(at, name))) {
		struct pmp_scan scan = pmp_scan_text(at + length, strlen(at + length));

		if (at > line && at[-1] == ' ' && pmp_scan_char(&scan, '=') &&
		    pmp_scan_u64(&scan, value)) {
			*value = pmp_pprof_positive(*value);
			return;
		}
		at += length;
	}
}

/* Read a comment written by write/pprof.c. */
static int take_comment(struct pmp_pprof_reader *reader, const char *line)
{
	struct pmp_profile_info *info = &reader->info;

	if (pmp_pprof_after(line, "command: "))
		reader->metadata.command = pmp_pprof_after(line, "command: ");
	if (pmp_pprof_after(line, "host: "))
		reader->metadata.host = pmp_pprof_after(line, "host: ");
	if (pmp_pprof_after(line, "taken: ")) {
		pmp_pprof_take_statistics(line, "period_ns", &reader->metadata.period);
		pmp_pprof_take_statistics(line, "snapshots", &info->samples);
		pmp_pprof_take_statistics(line, "rounds", &info->rounds);
		pmp_pprof_take_statistics(line, "stacks", &info->stacks);
		pmp_pprof_take_statistics(line, "truncated", &info->truncated);
		pmp_pprof_take_statistics(line, "not_stopped", &info->not_stopped);
		pmp_pprof_take_statistics(line, "vanished", &info->vanished);
		pmp_pprof_take_statistics(line, "evicted", &info->evicted);
		pmp_pprof_take_statistics(line, "evicted_distinct",
					  &info->evicted_distinct);
	}
	if (pmp_pprof_after(line, "stops: ")) {
		pmp_pprof_take_statistics(line, "stops", &info->stops);
		pmp_pprof_take_statistics(line, "p50_ns", &info->stopped_p50);
		pmp_pprof_take_statistics(line, "p99_ns", &info->stopped_p99);
		pmp_pprof_take_statistics(line, "longest_ns", &info->stopped_max);
		pmp_pprof_take_statistics(line, "sum_ns", &info->stopped);
		pmp_pprof_take_statistics(line, "any_ns", &info->any_stopped);
	}
	return pmp_pprof_after(line, "heap: ") ? pmp_pprof_read_process(reader, line) : 0;
}

int pmp_pprof_find_values(struct pmp_pprof_reader *reader)
{
	int code = 0;

	find_period(reader);
	for (size_t i = 0; i < reader->comment_count && !code; i++)
		code = take_comment(
			reader, pmp_pprof_text(reader, (uint32_t)reader->comments[i]));
	return code ? code : find_columns(reader);
}
