/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See census-classes.h. An object of a class with virtual functions begins with a pointer
 * into `vtable for CLASS`. Several such words may mean one class: if a library was mapped
 * twice, or if the class has several bases.
 */
#include "write/census-classes.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/escape.h"
#include "census.h"
#include "libpmp.h"

static const char vtable[] = "vtable for ";

static void put_text(struct pmp_buf *buf, const char *text)
{
	pmp_escape_map(buf, text, strlen(text), "", "");
}

static void put_offset(struct pmp_buf *buf, uint64_t offset)
{
	if (offset)
		pmp_buf_printf(buf, "+0x%" PRIx64, offset);
}

static void put_class(struct pmp_buf *buf, const struct pmp_object *object)
{
	const size_t length = sizeof(vtable) - 1;
	const char *base;

	if (object->symbol && strncmp(object->symbol, vtable, length) == 0) {
		put_text(buf, object->symbol + length);
		return;
	}
	if (object->symbol) {
		pmp_buf_puts(buf, "points to ");
		put_text(buf, object->symbol);
		put_offset(buf, object->offset);
		return;
	}
	if (object->in != PMP_IN_MODULE || !object->module)
		return;
	base = strrchr(object->module, '/');
	pmp_buf_puts(buf, "points into ");
	put_text(buf, base ? base + 1 : object->module);
	put_offset(buf, object->offset);
}

/* Append row i of the census with its name. */
static int add(struct pmp_census_classes *classes, const struct pmp_report *report,
	       size_t i)
{
	const struct pmp_census_row *row = &report->snapshot->census->rows[i];
	struct pmp_object object = { .in = PMP_IN_NOTHING };
	struct pmp_census_class *item;

	if (PMP_RESERVE(&classes->items, &classes->capacity, classes->count + 1))
		return PMP_ENOMEM;
	item = &classes->items[classes->count++];
	*item = (struct pmp_census_class){
		.name = classes->names.length,
		.smallest = row->size,
		.largest = row->size,
		.blocks = row->blocks,
		.bytes = row->bytes,
	};
	if (row->word)
		pmp_report_census_word(report, i, &object);
	put_class(&classes->names, &object);
	pmp_buf_putc(&classes->names, '\0');
	return pmp_buf_failed(&classes->names) ? PMP_ENOMEM : 0;
}

/* ---- merging by name --------------------------------------------------------------- */

static int by_name(const void *a, const void *b, void *names)
{
	const struct pmp_census_class *one = a, *other = b;
	int order = strcmp((const char *)names + one->name,
			   (const char *)names + other->name);

	return order ? order
		     : (one->smallest > other->smallest) -
			       (one->smallest < other->smallest);
}

static int by_bytes(const void *a, const void *b, void *names)
{
	const struct pmp_census_class *one = a, *other = b;

	if (one->bytes != other->bytes)
		return one->bytes < other->bytes ? 1 : -1;
	return by_name(a, b, names);
}

static bool belongs(const struct pmp_census_classes *classes,
		    const struct pmp_census_class *item,
		    const struct pmp_census_class *next, bool by_size)
{
	const char *name = classes->names.data + item->name;

	if (strcmp(name, classes->names.data + next->name) != 0)
		return false;
	return (*name && !by_size) || item->smallest == next->smallest;
}

static void merge(struct pmp_census_classes *classes, bool by_size)
{
	size_t kept = 0;

	for (size_t i = 1; i < classes->count; i++) {
		struct pmp_census_class *item = &classes->items[kept];
		const struct pmp_census_class *next = &classes->items[i];

		if (!belongs(classes, item, next, by_size)) {
			classes->items[++kept] = *next;
			continue;
		}
		if (next->largest > item->largest)
			item->largest = next->largest;
		item->blocks += next->blocks;
		item->bytes += next->bytes;
	}
	classes->count = classes->count ? kept + 1 : 0;
}

int pmp_census_classes_make(struct pmp_census_classes *classes,
			    const struct pmp_report *report, bool by_size)
{
	const struct pmp_census *census = report->snapshot->census;

	for (size_t i = 0; i < census->row_count; i++)
		if (add(classes, report, i))
			return PMP_ENOMEM;
	if (!classes->count)
		return 0;
	qsort_r(classes->items, classes->count, sizeof(*classes->items), by_name,
		classes->names.data);
	merge(classes, by_size);
	qsort_r(classes->items, classes->count, sizeof(*classes->items), by_bytes,
		classes->names.data);
	return 0;
}

void pmp_census_classes_free(struct pmp_census_classes *classes)
{
	pmp_buf_free(&classes->names);
	free(classes->items);
}

const char *pmp_census_class_name(const struct pmp_census_classes *classes, size_t i)
{
	return classes->names.data + classes->items[i].name;
}
