/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading a perf map. Anybody can write into it, and it is written while it is
 * read: a line that makes no sense is skipped, a line without an end is left for
 * later. What was read stays known when the file is gone.
 */
#include "resolve/jitmap.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/scan.h"
#include "libpmp.h"
#include "resolve/ranges.h"

#define FILE_MAX ((uint64_t)64 << 20)
#define LINE_MAX_LENGTH 4096	      /* longer ones are skipped */
#define LINES_MAX ((uint64_t)4 << 20) /* in a map's life */
#define NAMES_MAX ((size_t)256 << 20) /* bytes, in a map's life */

struct pmp_jitmap {
	int fd;
	uint64_t read;	     /* bytes of the file */
	struct pmp_buf rest; /* a line whose end has not been read */
	bool skipping;	     /* rest was too long: until the next newline */
	struct pmp_buf names;
	struct pmp_ranges ranges;
	uint64_t lines;		/* so far: a later one wins */
	struct pmp_steps steps; /* address to offset in names */
};

struct pmp_jitmap *pmp_jitmap_new(int fd)
{
	struct pmp_jitmap *map = calloc(1, sizeof(*map));

	if (map)
		map->fd = fd;
	return map;
}

void pmp_jitmap_free(struct pmp_jitmap *map)
{
	if (!map)
		return;
	pmp_buf_free(&map->rest);
	pmp_buf_free(&map->names);
	pmp_ranges_free(&map->ranges);
	pmp_steps_free(&map->steps);
	free(map);
}

static int add_line(struct pmp_jitmap *map, const char *line, size_t length)
{
	struct pmp_scan scan = pmp_scan_text(line, length);
	struct pmp_range range;
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
	return pmp_buf_failed(&map->names) ? PMP_ENOMEM
					   : pmp_ranges_add(&map->ranges, &range);
}

/* A line is complete: all of it, or its end with its beginning in rest. */
static int take_line(struct pmp_jitmap *map, const char *line, size_t length)
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
	pmp_buf_clear(&map->rest);
	return rc;
}

int pmp_jitmap_parse(struct pmp_jitmap *map, const char *text, size_t length)
{
	const char *end = text + length, *newline;

	while (text < end && (newline = memchr(text, '\n', (size_t)(end - text)))) {
		if (take_line(map, text, (size_t)(newline - text)))
			return PMP_ENOMEM;
		text = newline + 1;
	}
	if (map->rest.length + (size_t)(end - text) > LINE_MAX_LENGTH) {
		map->skipping = true;
		pmp_buf_clear(&map->rest);
	} else if (!map->skipping) {
		pmp_buf_add(&map->rest, text, (size_t)(end - text));
	}
	if (pmp_buf_failed(&map->rest))
		return PMP_ENOMEM;
	return pmp_ranges_flatten(&map->ranges, &map->steps);
}

/* Someone has written the file anew. */
static void forget(struct pmp_jitmap *map)
{
	map->read = 0;
	map->skipping = false;
	pmp_buf_clear(&map->rest);
}

/* Read on to the end of the file; true if there was something new. */
static bool read_on(struct pmp_jitmap *map)
{
	struct stat status;
	size_t length;
	ssize_t got = 0;
	char *text;

	if (map->fd < 0 || fstat(map->fd, &status) != 0 || status.st_size < 0)
		return false;
	if ((uint64_t)status.st_size < map->read)
		forget(map);
	if (map->read >= FILE_MAX || (uint64_t)status.st_size == map->read)
		return false;
	length = (size_t)((uint64_t)status.st_size - map->read);
	if (length > FILE_MAX - map->read)
		length = FILE_MAX - map->read;
	text = malloc(length);
	if (text)
		got = pmp_file_pread(map->fd, text, length, map->read);
	if (got > 0) {
		map->read += (uint64_t)got;
		pmp_jitmap_parse(map, text, (size_t)got);
	}
	free(text);
	return got > 0;
}

const char *pmp_jitmap_find(struct pmp_jitmap *map, uint64_t address)
{
	uint32_t name = pmp_steps_find(&map->steps, address);

	if (name == PMP_RANGE_NONE && read_on(map))
		name = pmp_steps_find(&map->steps, address);
	return name == PMP_RANGE_NONE ? NULL : map->names.data + name;
}
