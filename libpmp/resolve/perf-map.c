/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading a perf map. Anybody can write into it, and it is written while it is
 * read: a line that makes no sense is skipped, a line without an end is left for
 * later. What was read stays known when the file is gone.
 *
 * JIT compilers add a line every few milliseconds. So new lines are sorted by themselves
 * and become a level above what was known; a level that has grown to half of the one
 * below is merged with it. A line is so moved some twenty times at most, however many
 * there are.
 */
#include "resolve/perf-map.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/scan.h"
#include "libpmp.h"
#include "resolve/interval-map.h"

#define AT_ONCE_MAX ((uint64_t)128 << 20) /* of what is there: its end */
#define PIECE_SIZE ((size_t)16 << 20)
#define KEPT_SIZE 64		      /* of what was read last */
#define LINE_MAX_LENGTH 4096	      /* longer ones are skipped */
#define LINES_MAX ((uint64_t)4 << 20) /* in a map's life */
#define NAMES_MAX ((size_t)256 << 20) /* bytes, in a map's life */
#define READ_MAX ((uint64_t)1 << 30)  /* bytes, likewise: a file may be written again */
#define LEVELS_MAX 32		      /* each has more than twice the steps of the next */

struct pmp_perf_map {
	int fd;
	uint64_t read;	      /* bytes of the file */
	char kept[KEPT_SIZE]; /* the last of them */
	size_t kept_length;
	uint64_t read_ever;  /* the same, of all that were there */
	struct pmp_buf rest; /* a line whose end has not been read */
	bool skipping;	     /* rest was too long: until the next newline */
	bool lost;	     /* there was no memory for some line */
	struct pmp_buf names;
	struct pmp_intervals ranges; /* lines that are in no level yet */
	uint64_t lines;		     /* so far: a later one wins */
	/* Address to offset in names. The last level is the newest, and wins. */
	struct pmp_interval_map levels[LEVELS_MAX];
	size_t level_count;
};

struct pmp_perf_map *pmp_perf_map_new(int fd)
{
	struct pmp_perf_map *map = calloc(1, sizeof(*map));

	if (map)
		map->fd = fd;
	return map;
}

void pmp_perf_map_free(struct pmp_perf_map *map)
{
	if (!map)
		return;
	pmp_buf_free(&map->rest);
	pmp_buf_free(&map->names);
	pmp_intervals_free(&map->ranges);
	for (size_t i = 0; i < map->level_count; i++)
		pmp_interval_map_free(&map->levels[i]);
	free(map);
}

static int add_line(struct pmp_perf_map *map, const char *line, size_t length)
{
	struct pmp_scan scan = pmp_scan_text(line, length);
	struct pmp_interval range;
	uint64_t size;

	pmp_scan_blanks(&scan);
	if (!pmp_scan_hex(&scan, &range.start))
		return 0;
	pmp_scan_blanks(&scan);
	if (!pmp_scan_hex(&scan, &size) || size > UINT64_MAX - range.start)
		return 0;
	pmp_scan_blanks(&scan);
	length = (size_t)(scan.end - scan.at);
	while (length && strchr(" \t\r", scan.at[length - 1]))
		length--;
	if (length == 0 || memchr(scan.at, '\0', length) || map->lines >= LINES_MAX ||
	    map->names.length + length > NAMES_MAX)
		return 0;
	range.end = range.start + size;
	range.rank = map->lines++;
	range.value = (uint32_t)map->names.length;
	pmp_buf_add(&map->names, scan.at, length);
	pmp_buf_putc(&map->names, '\0');
	if (!pmp_buf_failed(&map->names) && pmp_intervals_add(&map->ranges, &range) == 0)
		return 0;
	/* This line is lost, the next ones may find memory. */
	map->names.failed = false;
	pmp_buf_cut(&map->names, range.value);
	return PMP_ENOMEM;
}

/* And what failed in it: the next line may find memory. */
static void empty_rest(struct pmp_perf_map *map)
{
	if (pmp_buf_failed(&map->rest))
		pmp_buf_free(&map->rest);
	pmp_buf_clear(&map->rest);
}

/* A line is complete: all of it, or its end with its beginning in rest. */
static int take_line(struct pmp_perf_map *map, const char *line, size_t length)
{
	int rc = 0;

	if (map->rest.length) {
		pmp_buf_add(&map->rest, line, length);
		line = map->rest.data;
		length = map->rest.length;
	}
	if (pmp_buf_failed(&map->rest))
		rc = PMP_ENOMEM;
	else if (!map->skipping && length <= LINE_MAX_LENGTH)
		rc = add_line(map, line, length);
	map->skipping = false;
	map->lost |= rc != 0;
	empty_rest(map);
	return rc;
}

/* Keep the beginning of a line. */
static int keep_rest(struct pmp_perf_map *map, const char *text, size_t length)
{
	if (map->skipping)
		return 0;
	if (map->rest.length + length > LINE_MAX_LENGTH) {
		map->skipping = true;
		empty_rest(map);
		return 0;
	}
	pmp_buf_add(&map->rest, text, length);
	if (!pmp_buf_failed(&map->rest))
		return 0;
	/* What is still to come of this line is of no use. */
	map->lost = map->skipping = true;
	empty_rest(map);
	return PMP_ENOMEM;
}

static int merge_levels(struct pmp_perf_map *map)
{
	while (map->level_count > 1) {
		struct pmp_interval_map *top = &map->levels[map->level_count - 1];

		if (map->level_count < LEVELS_MAX && top[-1].count > 2 * top->count)
			break;
		if (pmp_interval_map_overlay(top - 1, top))
			return PMP_ENOMEM;
		pmp_interval_map_free(top);
		map->level_count--;
	}
	return 0;
}

/* Make a level of the new lines. Without memory they wait for the next ones. */
static int add_level(struct pmp_perf_map *map)
{
	if (map->ranges.count == 0)
		return 0;
	if ((map->level_count == LEVELS_MAX && merge_levels(map)) ||
	    pmp_intervals_flatten(&map->ranges, &map->levels[map->level_count]))
		return PMP_ENOMEM;
	pmp_intervals_free(&map->ranges);
	map->level_count++;
	return merge_levels(map);
}

int pmp_perf_map_parse(struct pmp_perf_map *map, const char *text, size_t length)
{
	const char *end = text + length, *newline;
	int rc = 0;

	while (text < end && (newline = memchr(text, '\n', (size_t)(end - text)))) {
		if (take_line(map, text, (size_t)(newline - text)))
			rc = PMP_ENOMEM;
		text = newline + 1;
	}
	if (keep_rest(map, text, (size_t)(end - text)) || add_level(map))
		rc = PMP_ENOMEM;
	return rc;
}

bool pmp_perf_map_lacks_lines(const struct pmp_perf_map *map)
{
	return map->lost || map->ranges.count;
}

/* Is what was read last still there? Else the file has been written again from its start. */
static bool goes_on(const struct pmp_perf_map *map, uint64_t size)
{
	char now[KEPT_SIZE];

	if (size < map->read)
		return false;
	return pmp_file_pread(map->fd, now, map->kept_length,
			      map->read - map->kept_length) ==
		       (ssize_t)map->kept_length &&
	       memcmp(now, map->kept, map->kept_length) == 0;
}

static void start_at(struct pmp_perf_map *map, uint64_t at)
{
	map->read = at;
	map->kept_length = 0;
	/* A line whose beginning is not there. */
	map->skipping = at > 0;
	empty_rest(map);
}

static void keep_last(struct pmp_perf_map *map, const char *text, size_t length)
{
	map->kept_length = length < KEPT_SIZE ? length : KEPT_SIZE;
	memcpy(map->kept, text + length - map->kept_length, map->kept_length);
}

/* How much is read next of a file of that size. */
static size_t next_piece(const struct pmp_perf_map *map, uint64_t size)
{
	const uint64_t left = size - map->read;

	return left < PIECE_SIZE ? left : PIECE_SIZE;
}

/* False: there is no more, or not enough memory. */
static bool read_piece(struct pmp_perf_map *map, char *text, uint64_t size)
{
	const size_t length = next_piece(map, size);
	const ssize_t got = map->read_ever < READ_MAX && length
				    ? pmp_file_pread(map->fd, text, length, map->read)
				    : 0;

	if (got <= 0)
		return false;
	map->read += (uint64_t)got;
	map->read_ever += (uint64_t)got;
	keep_last(map, text, (size_t)got);
	return pmp_perf_map_parse(map, text, (size_t)got) == 0;
}

/* Read on to the end of the file; true if there was something new. What was added last counts
 * most: of very much the beginning is left out. */
static bool read_on(struct pmp_perf_map *map)
{
	const uint64_t before = map->read_ever;
	struct stat status;
	uint64_t size;
	char *text;

	if (map->fd < 0 || fstat(map->fd, &status) != 0 || status.st_size < 0)
		return false;
	size = (uint64_t)status.st_size;
	if (!goes_on(map, size))
		start_at(map, 0);
	if (size - map->read > AT_ONCE_MAX)
		start_at(map, size - AT_ONCE_MAX);
	/* Lines may have waited for memory. */
	if (size == map->read)
		return map->ranges.count && add_level(map) == 0;
	text = malloc(next_piece(map, size));
	while (text && read_piece(map, text, size))
		;
	free(text);
	return map->read_ever > before;
}

void pmp_perf_map_read_on(struct pmp_perf_map *map)
{
	read_on(map);
}

/* The offset of a name, or PMP_INTERVAL_NONE. */
static uint32_t find_name(const struct pmp_perf_map *map, uint64_t address)
{
	uint32_t name = PMP_INTERVAL_NONE;

	for (size_t i = map->level_count; i-- > 0 && name == PMP_INTERVAL_NONE;)
		name = pmp_interval_map_find(&map->levels[i], address);
	return name;
}

const char *pmp_perf_map_find(struct pmp_perf_map *map, uint64_t address)
{
	uint32_t name = find_name(map, address);

	if (name == PMP_INTERVAL_NONE && read_on(map))
		name = find_name(map, address);
	return name == PMP_INTERVAL_NONE ? NULL : map->names.data + name;
}
