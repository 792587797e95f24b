/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/index.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "libpmp.h"

#define TEXT_SIZE 12288

/* What does not fit is left out: the size fits the table of pages. */
struct index_page {
	char text[TEXT_SIZE];
	size_t length;
};

__attribute__((format(printf, 2, 3))) static void add(struct index_page *page,
						      const char *format, ...)
{
	size_t room = sizeof(page->text) - page->length;
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(page->text + page->length, room, format, args);
	va_end(args);
	if (n > 0 && (size_t)n < room)
		page->length += (size_t)n;
	else
		page->text[page->length] = '\0';
}

static bool has_text(const struct page *page)
{
	return page->family == PAGES_OF_GO &&
	       (page->proto || page->kind == PAGE_SNAPSHOT || page->kind == PAGE_HEAP);
}

/* Links are relative, so that prefixes of the path stay. up: "../"
 * for each step to the root. */
static void add_pages(struct index_page *index, const char *up)
{
	const struct page *page;

	add(index, "<ul>\n");
	for (size_t i = 0; (page = page_row(i)) && page_row(i + 1); i++) {
		if (page->kind == PAGE_ABSENT || page->kind == PAGE_INDEX ||
		    page->kind == PAGE_FILE || page->family == PAGES_OF_API)
			continue;
		add(index, "<li><a href=\"%s%s\">%s</a>", up, page->path + 1, page->path);
		if (has_text(page))
			add(index, " (<a href=\"%s%s?debug=1\">as text</a>)", up,
			    page->path + 1);
		if (page->kind == PAGE_HEAP)
			add(index, ": with --heap");
		add(index, "</li>\n");
	}
	add(index,
	    "</ul>\n<p>What follows is recorded for seconds=10 from now on, in any "
	    "format:</p>\n<ul>\n");
	for (size_t i = 0; i < pmp_format_count(); i++) {
		const struct pmp_format *format = pmp_format(i);

		if (!format->live && format->heap != PMP_HEAP_ALONE)
			add(index, "<li><a href=\"%s%s?seconds=10\">/%s</a>: %s</li>\n",
			    up, format->name, format->name, format->help);
	}
	add(index, "</ul>\n");
}

const char *index_text(const struct page *from)
{
	static struct index_page index;
	const char *at = from->path;
	char up[32] = "";
	size_t length = 0;

	/* One step up for each directory. */
	while ((at = strchr(at + 1, '/')) && length + 4 < sizeof(up))
		length += (size_t)snprintf(up + length, sizeof(up) - length, "../");
	index.length = 0;
	add(&index,
	    "<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\">"
	    "<title>pmp</title></head><body>\n<h1>pmp %s</h1>\n",
	    pmp_version());
	add_pages(&index, up);
	add(&index, "</body></html>\n");
	return index.text;
}
