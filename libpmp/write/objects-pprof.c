/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See objects-pprof.h. The profile is small, unlike one of stacks, so it is a single
 * message.
 *
 *     sample   location 1, values 12000 objects, 5856000 bytes,
 *              labels bytes=488 process=zoo pid=26981
 */
#include "write/objects-pprof.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/escape.h"
#include "base/intern.h"
#include "base/pprof.pb-c.h"
#include "census.h"
#include "write/census-classes.h"
#include "write/writer.h"

#define GZIP_WINDOW (15 + 16) /* for zlib: the largest, with gzip's header */
#define GZIP_MEMORY 8
#define LABELS 3
#define VALUES 2
#define UNNAMED_SIZE 64

/* The first strings, in this order. */
enum { NOTHING, OBJECTS, COUNT, SPACE, BYTES, PROCESS, PID, ID };
static const char *const first_texts[] = { "",	    "objects", "count", "space",
					   "bytes", "process", "pid",	"id" };

/* A sample with everything it refers to. */
struct entry {
	Pmp__Pprof__Sample sample;
	Pmp__Pprof__Label labels[LABELS], *label_items[LABELS];
	uint64_t location;
	int64_t values[VALUES];
};

/* A class: its function and location have the same number. */
struct named {
	Pmp__Pprof__Function function;
	Pmp__Pprof__Location location;
	Pmp__Pprof__Line line, *line_item;
};

struct encoding {
	Pmp__Pprof__Profile profile;
	const struct pmp_report *report;
	const struct pmp_census_classes *classes;
	struct pmp_intern *texts, *names; /* names: numbers of class names in texts */
	struct entry *entries;
	struct named *named;
	Pmp__Pprof__ValueType types[VALUES], *type_items[VALUES];
	Pmp__Pprof__Sample **samples;
	Pmp__Pprof__Function **functions;
	Pmp__Pprof__Location **locations;
	char **all_texts;
	int64_t comments[3];
	bool failed;
};

static uint32_t text_of(struct encoding *message, const char *text)
{
	uint32_t id = pmp_intern(message->texts, text, strlen(text));

	message->failed |= id == PMP_INTERN_NONE;
	return id == PMP_INTERN_NONE ? NOTHING : id;
}

static uint32_t process_of(struct encoding *message)
{
	const char *name = message->report->snapshot->info.name;
	struct pmp_buf buf = { 0 };
	uint32_t id = NOTHING;

	pmp_escape_map(&buf, name, strlen(name), "", "");
	message->failed |= pmp_buf_failed(&buf);
	if (buf.length)
		id = text_of(message, buf.data);
	pmp_buf_free(&buf);
	return id;
}

static void set_label(struct entry *entry, uint32_t key, uint32_t text, uint64_t number,
		      uint32_t unit)
{
	Pmp__Pprof__Label *label = &entry->labels[entry->sample.n_label];

	pmp__pprof__label__init(label);
	label->key = key;
	label->text = text;
	label->number = (int64_t)number;
	label->unit = unit;
	entry->label_items[entry->sample.n_label++] = label;
}

/* Blocks without a class are split by size, to compare sizes in two profiles. */
static const char *name_of(const struct encoding *message, size_t i, char *text,
			   size_t size)
{
	const struct pmp_census_class *class = &message->classes->items[i];
	const char *name = pmp_census_class_name(message->classes, i);

	if (*name)
		return name;
	if (!class->smallest || class->smallest != class->largest)
		return "(no class)";
	snprintf(text, size, "(no class, %" PRIu64 " bytes)", class->smallest);
	return text;
}

static void fill_entry(struct encoding *message, size_t i, uint32_t process)
{
	const struct pmp_census_class *class = &message->classes->items[i];
	char unnamed[UNNAMED_SIZE];
	const uint32_t text =
		text_of(message, name_of(message, i, unnamed, sizeof(unnamed)));
	const uint32_t id = pmp_intern(message->names, &text, sizeof(text));
	struct entry *entry = &message->entries[i];

	message->failed |= id == PMP_INTERN_NONE;
	pmp__pprof__sample__init(&entry->sample);
	entry->location = (uint64_t)id + 1;
	entry->values[0] = (int64_t) class->blocks;
	entry->values[1] = (int64_t) class->bytes;
	entry->sample.n_location = 1;
	entry->sample.location = &entry->location;
	entry->sample.n_value = VALUES;
	entry->sample.value = entry->values;
	entry->sample.label = entry->label_items;
	if (class->smallest && class->smallest == class->largest)
		set_label(entry, BYTES, NOTHING, class->smallest, BYTES);
	set_label(entry, PROCESS, process, 0, NOTHING);
	set_label(entry, PID, NOTHING, (uint64_t)message->report->snapshot->info.pid, ID);
	message->samples[i] = &entry->sample;
}

static void fill_names(struct encoding *message)
{
	for (uint32_t i = 0; i < pmp_intern_count(message->names); i++) {
		const uint32_t *text = pmp_intern_data(message->names, i, NULL);
		struct named *named = &message->named[i];

		pmp__pprof__function__init(&named->function);
		pmp__pprof__location__init(&named->location);
		pmp__pprof__line__init(&named->line);
		named->function.id = named->location.id = named->line.function =
			(uint64_t)i + 1;
		named->function.name = named->function.system_name = *text;
		named->line_item = &named->line;
		named->location.n_line = 1;
		named->location.line = &named->line_item;
		message->functions[i] = &named->function;
		message->locations[i] = &named->location;
	}
	message->profile.n_function = pmp_intern_count(message->names);
	message->profile.function = message->functions;
	message->profile.n_location = pmp_intern_count(message->names);
	message->profile.location = message->locations;
}

static void fill_types(struct encoding *message)
{
	static const int64_t types[VALUES][2] = { { OBJECTS, COUNT }, { SPACE, BYTES } };

	for (size_t i = 0; i < VALUES; i++) {
		pmp__pprof__value_type__init(&message->types[i]);
		message->types[i].type = types[i][0];
		message->types[i].unit = types[i][1];
		message->type_items[i] = &message->types[i];
	}
	message->profile.n_sample_type = VALUES;
	message->profile.sample_type = message->type_items;
	message->profile.default_type = SPACE;
	message->profile.period_type = &message->types[1];
	message->profile.period = 1;
}

static void fill_comments(struct encoding *message)
{
	const unsigned glibc = message->report->snapshot->census->totals.glibc;
	char text[64];

	snprintf(text, sizeof(text), "pmp %s", pmp_version());
	message->comments[0] = text_of(message, text);
	message->comments[1] = text_of(message, "taken: snapshots=1");
	message->profile.n_comment = 2;
	if (glibc) {
		snprintf(text, sizeof(text), "glibc 2.%u is newer than this pmp knows",
			 glibc);
		message->comments[message->profile.n_comment++] = text_of(message, text);
	}
	message->profile.comment = message->comments;
}

/* Must come last, when all texts are known. */
static void fill_texts(struct encoding *message)
{
	const size_t count = pmp_intern_count(message->texts);

	message->all_texts = calloc(count + 1, sizeof(*message->all_texts));
	message->failed |= !message->all_texts;
	for (uint32_t i = 0; i < count && message->all_texts; i++)
		message->all_texts[i] =
			(char *)(uintptr_t)pmp_intern_data(message->texts, i, NULL);
	message->profile.n_text = message->all_texts ? count : 0;
	message->profile.text = message->all_texts;
}

static bool open_message(struct encoding *message)
{
	const size_t count = message->classes->count + 1;

	pmp__pprof__profile__init(&message->profile);
	message->texts = pmp_intern_new();
	message->names = pmp_intern_new();
	message->entries = calloc(count, sizeof(*message->entries));
	message->named = calloc(count, sizeof(*message->named));
	message->samples = calloc(count, sizeof(*message->samples));
	message->functions = calloc(count, sizeof(*message->functions));
	message->locations = calloc(count, sizeof(*message->locations));
	if (!message->texts || !message->names || !message->entries || !message->named ||
	    !message->samples || !message->functions || !message->locations)
		return false;
	for (size_t i = 0; i < sizeof(first_texts) / sizeof(*first_texts); i++)
		text_of(message, first_texts[i]);
	return true;
}

static void close_message(struct encoding *message)
{
	pmp_intern_free(message->texts);
	pmp_intern_free(message->names);
	free(message->entries);
	free(message->named);
	free(message->samples);
	free(message->functions);
	free(message->locations);
	free(message->all_texts);
}

static void compress_plain(struct pmp_out *out, struct pmp_buf *plain)
{
	z_stream zip = { .next_in = (unsigned char *)plain->data,
			 .avail_in = (unsigned)plain->length };
	unsigned char piece[4096];

	if (deflateInit2(&zip, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW,
			 GZIP_MEMORY, Z_DEFAULT_STRATEGY) != Z_OK) {
		pmp_buf_fail(&out->buf);
		return;
	}
	do {
		zip.next_out = piece;
		zip.avail_out = sizeof(piece);
		deflate(&zip, Z_FINISH);
		pmp_buf_add(&out->buf, piece, sizeof(piece) - zip.avail_out);
		pmp_out_maybe_flush(out);
	} while (zip.avail_out == 0);
	deflateEnd(&zip);
}

static void put(struct pmp_out *out, const struct encoding *message)
{
	const size_t size = pmp__pprof__profile__get_packed_size(&message->profile);
	struct pmp_buf plain = { 0 };
	char *room = size < UINT_MAX / 2 ? pmp_buf_extend(&plain, size) : NULL;

	if (room) {
		pmp__pprof__profile__pack(&message->profile, (uint8_t *)room);
		compress_plain(out, &plain);
	} else {
		pmp_buf_fail(&out->buf);
	}
	pmp_buf_free(&plain);
}

void pmp_objects_write_pprof(struct pmp_out *out, const struct pmp_report *report,
			     const struct pmp_census_classes *classes)
{
	struct encoding message = { .report = report, .classes = classes };
	uint32_t process;

	if (!open_message(&message)) {
		pmp_buf_fail(&out->buf);
		close_message(&message);
		return;
	}
	process = process_of(&message);
	for (size_t i = 0; i < classes->count; i++)
		fill_entry(&message, i, process);
	message.profile.n_sample = classes->count;
	message.profile.sample = message.samples;
	message.profile.time = (int64_t)report->snapshot->info.realtime;
	fill_names(&message);
	fill_types(&message);
	fill_comments(&message);
	fill_texts(&message);
	if (message.failed)
		pmp_buf_fail(&out->buf);
	else
		put(out, &message);
	close_message(&message);
}
