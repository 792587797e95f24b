/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading a perf map. Its contents are untrusted, and it grows while it is read: an
 * invalid line is skipped, an incomplete line is left for later. What was read is
 * kept when the file is gone.
 *
 * JIT compilers add a line every few milliseconds. So new lines are sorted separately and
 * become a level above the known ones; a level that has grown to half of the one below is
 * merged with it. So a line is moved some twenty times at most, however many there are.
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

#define AT_ONCE_MAX ((uint64_t)128 << 20) /* to read at once, from the end */
#define PIECE_SIZE ((size_t)16 << 20)
#define KEPT_SIZE 64		      /* of the last bytes that were read */
#define LINE_MAX_LENGTH 4096	      /* longer ones are skipped */
#define LINES_MAX ((uint64_t)4 << 20) /* in a map's life */
#define NAMES_MAX ((size_t)256 << 20) /* bytes, in a map's life */
#define READ_MAX ((uint64_t)1 << 30)  /* bytes, likewise: a file may be rewritten */
#define LEVELS_MAX 32		      /* each has over twice the steps of the next */

struct pmp_perf_map {
	int fd;
	uint64_t read;	      /* bytes read of the file */
	char kept[KEPT_SIZE]; /* the last of these bytes */
	size_t kept_length;
	uint64_t read_ever;  /* bytes read, also before it was rewritten */
	struct pmp_buf rest; /* a line whose end has not been read */
	bool skipping;	     /* skip up to the next newline: rest was too long */
	bool lost;	     /* lines were left out for want of memory */
	struct pmp_buf names;
	struct pmp_intervals ranges; /* lines that are in no level yet */
	uint64_t lines;		     /* number of lines, which is the rank of the next */
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
	/* This line is lost, but there may be memory for the next ones. */
	map->names.failed = false;
	pmp_buf_cut(&map->names, range.value);
	return PMP_ENOMEM;
}

/* Also resets a failure, as there may be memory for the next line. */
static void empty_rest(struct pmp_perf_map *map)
{
	if (pmp_buf_failed(&map->rest))
		pmp_buf_free(&map->rest);
	pmp_buf_clear(&map->rest);
}

/* Take a complete line; if its beginning is in rest, this is its end. */
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
	/* The rest of this line is of no use. */
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

/* Make a level of the new lines. Without memory they are kept for later. */
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

/* Are the last bytes that were read still there? Else the file has been rewritten. */
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
	/* Skip a line whose beginning is not read. */
	map->skipping = at > 0;
	empty_rest(map);
}

static void keep_last(struct pmp_perf_map *map, const char *text, size_t length)
{
	map->kept_length = length < KEPT_SIZE ? length : KEPT_SIZE;
	memcpy(map->kept, text + length - map->kept_length, map->kept_length);
}

/* How much to read next of a file of that size. */
static size_t next_piece(const struct pmp_perf_map *map, uint64_t size)
{
	const uint64_t left = size - map->read;

	return left < PIECE_SIZE ? left : PIECE_SIZE;
}

/* False: there is no more to read, or out of memory. */
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

/* Read to the end of the file; true: there was something new. If there is very much, its
 * beginning is left out, as the newest lines matter most. */
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
	/* Lines may have been kept for want of memory. */
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
