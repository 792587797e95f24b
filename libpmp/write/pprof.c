/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The format of `go tool pprof`, compressed with gzip. This is how pmp saves profiles and
 * reads them again (tally/pprof-read.c), so it contains everything that a profile knows.
 *
 *     sample   locations 1 2 3, values 5 samples, 0.1 s cpu, 0.4 s offcpu, 0.5 s wall,
 *              labels process=mariadbd pid=4100 thread=conn-17 tid=4102 state=S ...
 *     location 2: mapping 1, address 0x55d0a81171df, do_command at sql_parse.cc:1405
 *     mapping  1: 0x55d0a8000000-0x55d0a9000000 /usr/sbin/mariadbd, build-id 93ac...
 *
 * A message equals the concatenation of its parts. So each sample is encoded and
 * compressed by itself; only locations and names are kept until the end. A mark for the
 * unknown part of a stack is its root, as a location without an address.
 *
 * If threads waited for locks there are more values and labels. What a thread waited for,
 * and who held it, is with its own stack; the delay that this caused is with the
 * holder's.
 *
 *     sample   ..., values 2 contentions, 0.2 s delay, 0 and 0 s caused,
 *              labels ... lock="mutex LOCK_log+0x10" holder=conn-18 holder_tid=4103
 */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/alloc.h"
#include "base/escape.h"
#include "base/intern.h"
#include "base/pprof.pb-c.h"
#include "write/names.h"
#include "report/counted-wait.h"
#include "report/sort.h"
#include "write/address-layout.h"
#include "write/delays.h"
#include "write/pprof.h"
#include "write/writer.h"

#define PIECE_SIZE ((size_t)32 * 1024) /* bytes to compress at once */
#define GZIP_WINDOW (15 + 16)	       /* for zlib: the largest, with gzip's header */
#define GZIP_MEMORY 8
#define LABELS_MAX 12

typedef Pmp__Pprof__Profile Profile;
typedef Pmp__Pprof__ValueType ValueType;
typedef Pmp__Pprof__Sample Sample;
typedef Pmp__Pprof__Label Label;
typedef Pmp__Pprof__Mapping Mapping;
typedef Pmp__Pprof__Location Location;
typedef Pmp__Pprof__Line Line;
typedef Pmp__Pprof__Function Function;

/* The first strings, in this order. */
enum {
	NOTHING,
	SAMPLES,
	COUNT,
	CPU,
	NANOSECONDS,
	OFFCPU,
	WALL,
	CONTENTIONS,
	DELAY,
	CAUSED_CONTENTIONS,
	CAUSED_DELAY,
	THREADS,
	/* In the order of enum pmp_heap_value. */
	ALLOC_OBJECTS,
	ALLOC_SPACE,
	INUSE_OBJECTS,
	INUSE_SPACE,
	SPACE,
	BYTES
};

/* The order matters: some programs show the last value by default. */
static const int64_t usual_types[] = { SAMPLES, CPU, OFFCPU, WALL };
static const int64_t waiting_types[] = {
	SAMPLES, CONTENTIONS, DELAY, CAUSED_CONTENTIONS, CAUSED_DELAY, CPU, OFFCPU, WALL
};
static const int64_t delay_types[] = { CONTENTIONS, DELAY };
/* A single value is its number of samples and its time; threads are a number already. */
static const int64_t cpu_types[] = { SAMPLES, CPU };
static const int64_t offcpu_types[] = { SAMPLES, OFFCPU };
static const int64_t wall_types[] = { SAMPLES, WALL };
static const int64_t threads_types[] = { THREADS };
static const int64_t heap_types[] = { ALLOC_OBJECTS, ALLOC_SPACE, INUSE_OBJECTS,
				      INUSE_SPACE };
#define HEAP_TYPES (sizeof(heap_types) / sizeof(*heap_types))
#define VALUES_MAX 12

/* The key of a function. */
struct function {
	uint32_t name, linkage, file; /* numbers of texts */
};

struct encoder {
	struct pmp_out *out;
	const struct pmp_report *report;
	struct pmp_address_layout layout;
	struct pmp_intern *texts;
	struct pmp_intern *functions; /* struct function; id is the number plus 1 */
	struct pmp_intern *marks;     /* texts of marks */
	/* Of values that are no numbers of stacks; else 0. */
	int64_t type, unit;
	const int64_t *types; /* of a sample's values */
	size_t values;	      /* number of types */
	int64_t only;	      /* the one asked for; 0: all */
	/* The heap to write as well, or NULL. heap_alone: write nothing else. */
	const struct pmp_report *heap;
	bool heap_alone;
	int64_t mixed[VALUES_MAX]; /* types of both */
	const struct pmp_write_options *options;
	struct pmp_buf scratch, plain; /* buffer for texts; data to compress */
	uint64_t *ids;		       /* locations of the current sample */
	size_t id_capacity;
	z_stream zip;
	bool zip_open;
};

static void fail(struct encoder *encoder)
{
	pmp_buf_fail(&encoder->out->buf);
}

/* ---- compression ----------------------------------------------------------- */

static void compress_plain(struct encoder *encoder, int flush)
{
	unsigned char piece[PIECE_SIZE];
	z_stream *zip = &encoder->zip;

	if (pmp_buf_failed(&encoder->plain)) {
		fail(encoder);
		return;
	}
	zip->next_in = (unsigned char *)encoder->plain.data;
	zip->avail_in = (unsigned)encoder->plain.length;
	do {
		zip->next_out = piece;
		zip->avail_out = sizeof(piece);
		deflate(zip, flush);
		pmp_buf_add(&encoder->out->buf, piece, sizeof(piece) - zip->avail_out);
		pmp_out_maybe_flush(encoder->out);
	} while (zip->avail_out == 0);
	pmp_buf_clear(&encoder->plain);
}

/* Write a part of the profile: its fields that are set. */
static void put(struct encoder *encoder, const Profile *part)
{
	size_t size = pmp__pprof__profile__get_packed_size(part);
	struct pmp_buf *plain = &encoder->plain;

	if (size > UINT_MAX / 2 ||
	    PMP_RESERVE(&plain->data, &plain->capacity, plain->length + size + 1)) {
		fail(encoder);
		return;
	}
	pmp__pprof__profile__pack(part, (uint8_t *)plain->data + plain->length);
	plain->length += size;
	plain->data[plain->length] = '\0';
	if (plain->length > PIECE_SIZE)
		compress_plain(encoder, Z_NO_FLUSH);
}

/* ---- texts, functions -------------------------------------------------------- */

/* The number of a text, made valid UTF-8 without control characters. */
static uint32_t text_of(struct encoder *encoder, const char *text)
{
	uint32_t id;

	pmp_buf_clear(&encoder->scratch);
	pmp_escape_map(&encoder->scratch, text, strlen(text), "", "");
	if (pmp_buf_failed(&encoder->scratch)) {
		fail(encoder);
		return NOTHING;
	}
	id = pmp_intern(encoder->texts, encoder->scratch.data, encoder->scratch.length);
	if (id == PMP_INTERN_NONE) {
		fail(encoder);
		return NOTHING;
	}
	return id;
}

/* linkage, file: may be NULL. */
static uint64_t function_of(struct encoder *encoder, const char *name,
			    const char *linkage, const char *file)
{
	const struct function key = {
		.name = text_of(encoder, name),
		.linkage = text_of(encoder, linkage ? linkage : name),
		.file = text_of(encoder, file ? file : ""),
	};
	uint32_t id = pmp_intern(encoder->functions, &key, sizeof(key));

	if (id == PMP_INTERN_NONE)
		fail(encoder);
	return (uint64_t)id + 1;
}

static void put_texts(struct encoder *encoder)
{
	Profile part = PMP__PPROF__PROFILE__INIT;

	for (uint32_t i = 0; i < pmp_intern_count(encoder->texts); i++) {
		char *text = (char *)(uintptr_t)pmp_intern_data(encoder->texts, i, NULL);

		part.n_text = 1;
		part.text = &text;
		put(encoder, &part);
	}
}

static void put_functions(struct encoder *encoder)
{
	Profile part = PMP__PPROF__PROFILE__INIT;

	for (uint32_t i = 0; i < pmp_intern_count(encoder->functions); i++) {
		const struct function *key = pmp_intern_data(encoder->functions, i, NULL);
		Function function = PMP__PPROF__FUNCTION__INIT, *item = &function;

		function.id = (uint64_t)i + 1;
		function.name = key->name;
		function.system_name = key->linkage;
		function.file = key->file;
		part.n_function = 1;
		part.function = &item;
		put(encoder, &part);
	}
}

/* ---- locations, mappings ------------------------------------------------------- */

/* Fill in the lines of one location; returns their number. Unnamed functions have none:
 * whoever reads the file may still find their names. */
static size_t fill_lines(struct encoder *encoder, const struct pmp_frame *frames,
			 size_t count, Line *lines, struct pmp_placed_mapping *placed)
{
	size_t n = 0;

	for (size_t i = 0; i < count; i++) {
		if (frames[i].unnamed)
			continue;
		pmp__pprof__line__init(&lines[n]);
		lines[n].function = function_of(encoder, frames[i].function,
						frames[i].linkage, frames[i].file);
		lines[n++].line = frames[i].line;
		if (!placed)
			continue;
		placed->named = true;
		placed->lines |= frames[i].file != NULL;
		placed->inlines |= frames[i].inlined;
	}
	return n;
}

static void put_location(struct encoder *encoder, uint64_t id, pmp_location number)
{
	struct pmp_address_layout *layout = &encoder->layout;
	Profile part = PMP__PPROF__PROFILE__INIT;
	Location location = PMP__PPROF__LOCATION__INIT, *item = &location;
	struct pmp_placed_mapping *placed = NULL;
	const struct pmp_frame *frames;
	size_t count = pmp_report_frames(encoder->report, number, &frames), mapping;
	Line *lines = calloc(count, sizeof(*lines)), **pointers;
	bool exact;

	pointers = calloc(count, sizeof(*pointers));
	if (!lines || !pointers) {
		fail(encoder);
		goto out;
	}
	for (size_t i = 0; i < count; i++)
		pointers[i] = &lines[i];
	location.id = id;
	location.address = pmp_layout_address(layout, number, &exact, &mapping);
	if (location.address)
		location.address -= !exact;
	if (mapping != SIZE_MAX) {
		location.mapping = mapping + 1;
		placed = &layout->mappings[mapping];
	}
	location.n_line = fill_lines(encoder, frames, count, lines, placed);
	location.line = pointers;
	part.n_location = 1;
	part.location = &item;
	put(encoder, &part);
out:
	free(lines);
	free(pointers);
}

/* A mark such as [truncated: ...]: a name without an address. */
static void put_mark(struct encoder *encoder, uint64_t id, const char *text)
{
	Profile part = PMP__PPROF__PROFILE__INIT;
	Location location = PMP__PPROF__LOCATION__INIT, *item = &location;
	Line line = PMP__PPROF__LINE__INIT, *pointer = &line;

	line.function = function_of(encoder, text, NULL, NULL);
	location.id = id;
	location.n_line = 1;
	location.line = &pointer;
	part.n_location = 1;
	part.location = &item;
	put(encoder, &part);
}

static void put_mappings(struct encoder *encoder)
{
	Profile part = PMP__PPROF__PROFILE__INIT;

	for (size_t i = 0; i < encoder->layout.mapping_count; i++) {
		const struct pmp_placed_mapping *placed = &encoder->layout.mappings[i];
		Mapping mapping = PMP__PPROF__MAPPING__INIT, *item = &mapping;

		mapping.id = i + 1;
		mapping.start = placed->mapping.start;
		mapping.limit = placed->mapping.end;
		mapping.offset = placed->mapping.offset;
		mapping.path = text_of(encoder, placed->mapping.path);
		mapping.build_id = text_of(encoder, placed->mapping.build_id);
		mapping.has_functions = placed->named;
		mapping.has_files = mapping.has_lines = placed->lines;
		mapping.has_inlines = placed->inlines;
		part.n_mapping = 1;
		part.mapping = &item;
		put(encoder, &part);
	}
}

/* ---- samples --------------------------------------------------------------------- */

static void add_label(struct encoder *encoder, Sample *sample, const char *key,
		      const char *text, int64_t number)
{
	Label *label;

	if (!number && !*text)
		return;
	if (sample->n_label == LABELS_MAX) {
		fail(encoder);
		return;
	}
	label = sample->label[sample->n_label++];
	pmp__pprof__label__init(label);
	label->key = text_of(encoder, key);
	if (*text)
		label->text = text_of(encoder, text);
	label->number = number;
	if (number)
		label->unit = text_of(encoder, "id");
}

/* Add a number with a unit, as Go does. */
static void add_amount(struct encoder *encoder, Sample *sample, const char *key,
		       uint64_t amount, const char *unit)
{
	if (!amount || encoder->options->labels == PMP_LABELS_NONE)
		return;
	add_label(encoder, sample, key, "", (int64_t)amount);
	sample->label[sample->n_label - 1]->unit = text_of(encoder, unit);
}

static void add_wait_labels(struct encoder *encoder, Sample *sample,
			    const struct pmp_counted_wait *wait)
{
	struct pmp_buf text = { 0 };

	if (!wait->lock || encoder->options->labels != PMP_LABELS_ALL)
		return;
	pmp_counted_wait_text(encoder->report, wait, true, &text);
	if (pmp_buf_failed(&text))
		fail(encoder);
	else
		add_label(encoder, sample, "lock", text.data, 0);
	pmp_buf_free(&text);
	add_label(encoder, sample, "holder", pmp_counted_wait_holder(wait), 0);
	add_label(encoder, sample, "holder_tid", "", wait->lock->holder);
	if (wait->lock->holder_stack == PMP_HOLDER_STACK_MOVED_ON)
		add_label(encoder, sample, "holder_stack", PMP_LABEL_MOVED_ON, 0);
}

static void add_labels(struct encoder *encoder, Sample *sample,
		       const struct pmp_entry *entry)
{
	const char state[2] = { entry->state > ' ' && entry->state < 0x7f ? entry->state
									  : '?' };

	const enum pmp_labels wanted = encoder->options->labels;

	if (wanted == PMP_LABELS_NONE)
		return;
	add_label(encoder, sample, "process", entry->process, 0);
	if (wanted == PMP_LABELS_ALL)
		add_label(encoder, sample, "pid", "", entry->pid);
	add_label(encoder, sample, "thread", entry->thread, 0);
	if (wanted == PMP_LABELS_NAMES)
		return;
	add_label(encoder, sample, "tid", "", entry->tid);
	add_label(encoder, sample, "state", state, 0);
	add_label(encoder, sample, "syscall", entry->syscall, 0);
	add_label(encoder, sample, "wchan", entry->wchan, 0);
}

/* Ids of locations count up from 1, those of marks down from the end of 32 bits. */
static uint64_t mark_id(uint32_t mark)
{
	return UINT32_MAX - (uint64_t)mark;
}

/* The mark for the unknown part of a stack, or PMP_INTERN_NONE. */
static uint32_t mark_of(struct encoder *encoder, const struct pmp_entry *entry)
{
	struct pmp_buf text = { 0 };
	uint32_t mark = PMP_INTERN_NONE;

	if (entry->end != PMP_END_ROOT)
		pmp_name_end(&text, entry->end, entry->reason);
	else if (!entry->location_count)
		pmp_buf_puts(&text, "[unknown]");
	if (text.length)
		mark = pmp_intern(encoder->marks, text.data, text.length);
	if (pmp_buf_failed(&text) || (text.length && mark == PMP_INTERN_NONE))
		fail(encoder);
	pmp_buf_free(&text);
	return mark;
}

static uint64_t value_of(const struct pmp_entry *entry,
			 const struct pmp_counted_wait *wait, int64_t type)
{
	const struct pmp_entry_waits *waits = entry->waits;

	switch (type) {
	case ALLOC_OBJECTS:
	case ALLOC_SPACE:
	case INUSE_OBJECTS:
	case INUSE_SPACE: return 0;
	case CPU: return entry->cpu;
	/* Both times are estimates: cpu can be the greater one if a thread was found
	 * running more often than most others. */
	case OFFCPU: return entry->wall > entry->cpu ? entry->wall - entry->cpu : 0;
	case WALL: return entry->wall;
	case CONTENTIONS: return wait->contended ? waits->contentions : 0;
	case DELAY: return wait->contended ? entry->wall : 0;
	case CAUSED_CONTENTIONS: return waits->held_contentions;
	case CAUSED_DELAY: return waits->held_delay;
	default: return entry->count;
	}
}

/* Put a sample's locations into encoder->ids, followed by a mark unless it is NONE.
 * Returns the number of ids. */
static size_t number_stack(struct encoder *encoder, const pmp_location *locations,
			   size_t count, uint32_t mark)
{
	if (PMP_RESERVE(&encoder->ids, &encoder->id_capacity, count + 1)) {
		fail(encoder);
		return 0;
	}
	for (size_t i = 0; i < count; i++) {
		uint32_t id = pmp_layout_use(&encoder->layout, locations[i]);

		if (!id)
			fail(encoder);
		encoder->ids[i] = id;
	}
	if (mark == PMP_INTERN_NONE)
		return count;
	encoder->ids[count] = mark_id(mark);
	return count + 1;
}

static void put_sample(struct encoder *encoder, const struct pmp_entry *entry)
{
	int64_t values[VALUES_MAX];
	struct pmp_counted_wait wait;
	Label labels[LABELS_MAX], *pointers[LABELS_MAX];
	Profile part = PMP__PPROF__PROFILE__INIT;
	Sample sample = PMP__PPROF__SAMPLE__INIT, *item = &sample;

	for (size_t i = 0; i < LABELS_MAX; i++)
		pointers[i] = &labels[i];
	pmp_counted_wait_get(encoder->report, entry, &wait);
	for (size_t i = 0; i < encoder->values; i++)
		values[i] = (int64_t)value_of(entry, &wait, encoder->types[i]);
	sample.n_location = number_stack(encoder, entry->locations, entry->location_count,
					 mark_of(encoder, entry));
	sample.location = encoder->ids;
	sample.n_value = encoder->values;
	sample.value = values;
	sample.label = pointers;
	add_labels(encoder, &sample, entry);
	add_wait_labels(encoder, &sample, &wait);
	part.n_sample = 1;
	part.sample = &item;
	put(encoder, &part);
}

/* ---- samples of a heap --------------------------------------------------------------- */

static void set_heap_value(const struct encoder *encoder, int64_t *values, int64_t type,
			   uint64_t value)
{
	for (size_t i = 0; i < encoder->values; i++)
		if (encoder->types[i] == type)
			values[i] = (int64_t)value;
}

static uint64_t error_of(double variance)
{
	return (uint64_t)(pmp_square_root(variance) + 0.5);
}

struct heap_sample {
	int64_t values[VALUES_MAX];
	Label labels[LABELS_MAX], *pointers[LABELS_MAX];
	Sample sample;
};

static void begin_heap_sample(struct encoder *encoder, const struct pmp_entry *entry,
			      struct heap_sample *begun)
{
	Sample *sample = &begun->sample;

	*sample = (Sample)PMP__PPROF__SAMPLE__INIT;
	memset(begun->values, 0, sizeof(begun->values));
	for (size_t i = 0; i < LABELS_MAX; i++)
		begun->pointers[i] = &begun->labels[i];
	sample->n_value = encoder->values;
	sample->value = begun->values;
	sample->label = begun->pointers;
	if (encoder->options->labels != PMP_LABELS_NONE) {
		add_label(encoder, sample, "process", entry->process, 0);
		add_label(encoder, sample, "thread", entry->thread, 0);
	}
	if (encoder->options->labels == PMP_LABELS_ALL)
		add_label(encoder, sample, "pid", "", entry->pid);
}

static void end_heap_sample(struct encoder *encoder, const struct pmp_entry *entry,
			    struct heap_sample *begun)
{
	Profile part = PMP__PPROF__PROFILE__INIT;
	Sample *item = &begun->sample;

	item->n_location = number_stack(encoder, entry->locations, entry->location_count,
					mark_of(encoder, entry));
	item->location = encoder->ids;
	part.n_sample = 1;
	part.sample = &item;
	put(encoder, &part);
}

/* Write the live blocks of one age of a stack; with the first, also what it allocated. */
static void put_heap_part(struct encoder *encoder, const struct pmp_entry *entry,
			  const struct pmp_age_sum *lives, bool first)
{
	const struct pmp_heap_sums *sums = entry->heap;
	const uint64_t blocks = pmp_blocks_of(lives->parts);
	uint64_t size = blocks ? lives->bytes / blocks : 0;
	struct heap_sample begun;

	begin_heap_sample(encoder, entry, &begun);
	set_heap_value(encoder, begun.values, INUSE_OBJECTS, blocks);
	set_heap_value(encoder, begun.values, INUSE_SPACE, lives->bytes);
	if (encoder->options->labels == PMP_LABELS_ALL) {
		add_amount(encoder, &begun.sample, "age", lives->oldest / 1000000000,
			   "seconds");
		add_amount(encoder, &begun.sample, "inuse_error",
			   error_of(lives->variance), "bytes");
	}
	if (first) {
		const uint64_t calls = pmp_blocks_of(sums->alloc_parts);

		set_heap_value(encoder, begun.values, ALLOC_OBJECTS, calls);
		set_heap_value(encoder, begun.values, ALLOC_SPACE, sums->alloc_bytes);
		if (!size && calls)
			size = sums->alloc_bytes / calls;
		if (encoder->options->labels == PMP_LABELS_ALL)
			add_amount(encoder, &begun.sample, "alloc_error",
				   error_of(sums->alloc_variance), "bytes");
	}
	add_amount(encoder, &begun.sample, "bytes", size, "bytes");
	end_heap_sample(encoder, entry, &begun);
}

static uint64_t size_of_blocks(int64_t bytes, int64_t blocks)
{
	return blocks ? (uint64_t)(bytes / blocks) : 0;
}

/* Write the change of a stack, which may be negative. Freed blocks have no known age. */
static void put_heap_change(struct encoder *encoder, const struct pmp_entry *entry)
{
	const struct pmp_heap_sums *sums = entry->heap;
	const struct pmp_heap_counts *then = &sums->then;
	const int64_t calls = pmp_blocks_change(sums->alloc_parts, then->alloc_parts);
	const int64_t allocated = pmp_heap_change(sums->alloc_bytes, then->alloc_bytes);
	const int64_t blocks = pmp_blocks_change(sums->live_parts, then->live_parts);
	const int64_t lives = pmp_heap_change(sums->live_bytes, then->live_bytes);
	const bool by_lives = blocks && (lives < 0) == (blocks < 0);
	struct heap_sample begun;

	if (!calls && !allocated && !blocks && !lives)
		return;
	begin_heap_sample(encoder, entry, &begun);
	set_heap_value(encoder, begun.values, ALLOC_OBJECTS, (uint64_t)calls);
	set_heap_value(encoder, begun.values, ALLOC_SPACE, (uint64_t)allocated);
	set_heap_value(encoder, begun.values, INUSE_OBJECTS, (uint64_t)blocks);
	set_heap_value(encoder, begun.values, INUSE_SPACE, (uint64_t)lives);
	add_amount(encoder, &begun.sample, "bytes",
		   by_lives ? size_of_blocks(lives, blocks)
			    : size_of_blocks(allocated, calls),
		   "bytes");
	end_heap_sample(encoder, entry, &begun);
}

/* Failed allocations have no values, only labels, which only pmp reads. */
static void put_failures(struct encoder *encoder, const struct pmp_entry *entry)
{
	struct heap_sample begun;

	if (!entry->heap->failures || encoder->options->labels != PMP_LABELS_ALL)
		return;
	begin_heap_sample(encoder, entry, &begun);
	add_amount(encoder, &begun.sample, "failed_calls", entry->heap->failures,
		   "count");
	add_amount(encoder, &begun.sample, "failed_largest", entry->heap->largest_failure,
		   "bytes");
	end_heap_sample(encoder, entry, &begun);
}

static void put_heap_entry(struct encoder *encoder, const struct pmp_entry *entry)
{
	const struct pmp_heap_sums *sums = entry->heap;
	struct pmp_age_sum all = { sums->live_parts, sums->live_bytes, sums->oldest,
				   sums->live_variance };
	uint64_t aged = 0;
	bool first = true;

	for (size_t i = 0; i < PMP_AGES; i++)
		aged += sums->ages[i].parts;
	/* Other programs' profiles have no ages; with a minimum age, only some
	 * blocks do. */
	if (aged != sums->live_parts || !aged) {
		if (sums->alloc_parts || sums->live_parts)
			put_heap_part(encoder, entry, &all, true);
		return;
	}
	for (size_t i = 0; i < PMP_AGES; i++) {
		if (!sums->ages[i].parts)
			continue;
		put_heap_part(encoder, entry, &sums->ages[i], first);
		first = false;
	}
}

static void put_heap(struct encoder *encoder)
{
	const struct pmp_report *heap = encoder->heap;
	const struct pmp_entry **entries = NULL;

	if (!heap)
		return;
	if (pmp_sort_entries(heap, &entries)) {
		fail(encoder);
		return;
	}
	for (size_t i = 0; i < heap->entry_count && !encoder->out->buf.failed; i++) {
		if (heap->heap_since) {
			put_heap_change(encoder, entries[i]);
			continue;
		}
		put_heap_entry(encoder, entries[i]);
		put_failures(encoder, entries[i]);
	}
	free(entries);
}

/* ---- samples of delays --------------------------------------------------------------- */

static void put_delay(struct encoder *encoder, const struct pmp_delay *delay)
{
	int64_t values[] = { (int64_t)delay->contentions, (int64_t)delay->delay };
	Profile part = PMP__PPROF__PROFILE__INIT;
	Sample sample = PMP__PPROF__SAMPLE__INIT, *item = &sample;
	uint32_t mark = PMP_INTERN_NONE;

	if (*delay->mark) {
		mark = pmp_intern(encoder->marks, delay->mark, strlen(delay->mark));
		if (mark == PMP_INTERN_NONE)
			fail(encoder);
	}
	sample.n_location =
		number_stack(encoder, delay->locations, delay->location_count, mark);
	sample.location = encoder->ids;
	sample.n_value = sizeof(values) / sizeof(*values);
	sample.value = values;
	part.n_sample = 1;
	part.sample = &item;
	put(encoder, &part);
}

/* ---- around the samples ----------------------------------------------------------- */

static int64_t unit_of(int64_t type)
{
	switch (type) {
	case SAMPLES:
	case CONTENTIONS:
	case CAUSED_CONTENTIONS:
	case ALLOC_OBJECTS:
	case INUSE_OBJECTS:
	case THREADS: return COUNT;
	case ALLOC_SPACE:
	case INUSE_SPACE:
	case SPACE: return BYTES;
	default: return NANOSECONDS;
	}
}

static void put_types(struct encoder *encoder)
{
	Profile part = PMP__PPROF__PROFILE__INIT;

	for (size_t i = 0; i < encoder->values; i++) {
		ValueType type = PMP__PPROF__VALUE_TYPE__INIT, *item = &type;
		const int64_t name = encoder->types[i];

		const bool other = encoder->type && !encoder->heap_alone;

		type.type = other ? encoder->type : name;
		type.unit = other ? encoder->unit : unit_of(name);
		part.n_sample_type = 1;
		part.sample_type = &item;
		put(encoder, &part);
	}
}

__attribute__((format(printf, 2, 3))) static void put_comment(struct encoder *encoder,
							      const char *format, ...)
{
	Profile part = PMP__PPROF__PROFILE__INIT;
	struct pmp_buf text = { 0 };
	int64_t number;
	va_list args;

	va_start(args, format);
	pmp_buf_vprintf(&text, format, args);
	va_end(args);
	if (pmp_buf_failed(&text))
		fail(encoder);
	else
		number = text_of(encoder, text.data);
	if (!pmp_buf_failed(&text)) {
		part.n_comment = 1;
		part.comment = &number;
		put(encoder, &part);
	}
	pmp_buf_free(&text);
}

/* tally/pprof-read-values.c reads those with the forms "name: value" and "name=number". */
static void put_comments(struct encoder *encoder, const struct pmp_metadata *metadata)
{
	const struct pmp_profile_info *info = &encoder->report->totals;

	put_comment(encoder, "pmp %s", pmp_version());
	if (*metadata->command)
		put_comment(encoder, "command: %s", metadata->command);
	if (*metadata->host)
		put_comment(encoder, "host: %s", metadata->host);
	put_comment(encoder,
		    "taken: snapshots=%" PRIu64 " rounds=%" PRIu64 " stacks=%" PRIu64
		    " truncated=%" PRIu64 " not_stopped=%" PRIu64 " vanished=%" PRIu64,
		    metadata->guessed ? 0 : info->samples,
		    metadata->guessed ? 0 : info->rounds, info->stacks, info->truncated,
		    info->not_stopped, info->vanished);
	if (info->evicted)
		put_comment(encoder,
			    "taken: evicted=%" PRIu64 " evicted_distinct=%" PRIu64,
			    info->evicted, info->evicted_distinct);
	put_comment(encoder,
		    "stops: stops=%" PRIu64 " p50_ns=%" PRIu64 " p99_ns=%" PRIu64
		    " longest_ns=%" PRIu64 " sum_ns=%" PRIu64 " any_ns=%" PRIu64,
		    info->stops, info->stopped_p50, info->stopped_p99, info->stopped_max,
		    info->stopped, info->any_stopped);
}

static void put_heap_losses(struct encoder *encoder, const struct pmp_heap_losses *losses)
{
	if (losses->records)
		put_comment(encoder,
			    "not exact: %" PRIu64 " records are missing in the stacks; "
			    "the sums of calls and bytes in comments have them",
			    losses->records);
	if (losses->stackless)
		put_comment(encoder,
			    "%" PRIu64
			    " samples have no stack: their process ended before "
			    "it could be read",
			    losses->stackless);
	if (losses->unrecorded)
		put_comment(encoder, "%" PRIu64 " processes were not recorded",
			    losses->unrecorded);
}

/* A comment for each recorded process, as tally/pprof-read-heap.c reads it. */
static void put_heap_comments(struct encoder *encoder)
{
	const struct pmp_report *heap = encoder->heap;

	/* Totals count from the start: a change has none. */
	for (size_t i = 0; heap && !heap->heap_since && i < heap->process_count; i++) {
		const struct pmp_process_heap *process = &heap->processes[i];
		const struct pmp_heap_totals *totals = &process->totals;

		put_comment(
			encoder,
			"heap: pid=%d ended=%d rate=%" PRIu64 " duration_ns=%" PRIu64
			" mallocs=%" PRIu64 " callocs=%" PRIu64 " aligned=%" PRIu64
			" reallocs=%" PRIu64 " news=%" PRIu64 " frees=%" PRIu64
			" allocated=%" PRIu64 " freed=%" PRIu64 " live=%" PRIu64
			" live_blocks=%" PRIu64 " peak=%" PRIu64 " peak_after_ns=%" PRIu64
			" failed=%" PRIu64 " failed_reallocs=%" PRIu64 " brk=%" PRIu64
			" mmap=%" PRIu64 " given_back=%" PRIu64 " lost=%" PRIu64
			" untracked=%" PRIu64 " earlier=%" PRIu64
			" unknown_frees=%" PRIu64 " earlier_calls=%" PRIu64
			" earlier_lost=%" PRIu64 " recorded=%" PRIu64
			" recorded_bytes=%" PRIu64 " stackless=%" PRIu64
			" unrecorded=%" PRIu64 " earlier_freed=%" PRIu64
			" earlier_frees=%" PRIu64 " others=%" PRIu64 " name: %s",
			(int)process->pid, process->ended, totals->rate,
			pmp_process_heap_time(process, heap->heap_time) - totals->start,
			totals->mallocs, totals->callocs, totals->aligned,
			totals->reallocs, totals->news, totals->frees, totals->allocated,
			totals->freed, totals->live, totals->live_blocks, totals->peak,
			totals->peak_time ? totals->peak_time - totals->start : 0,
			totals->failed, totals->failed_reallocs, totals->brk_growth,
			totals->mmap_growth, totals->given_back, totals->lost,
			totals->untracked, process->earlier_allocated,
			process->unknown_frees, process->earlier_calls,
			process->earlier_lost, process->recorded, process->recorded_bytes,
			pmp_process_heap_stackless(process), totals->unrecorded,
			process->earlier_freed, process->earlier_frees, process->others,
			process->name);
	}
	if (heap)
		put_heap_losses(encoder, &heap->losses);
}

/* Mean bytes between two samples; 1 if every call was recorded. */
static uint64_t heap_rate(const struct pmp_report *heap)
{
	const uint64_t rate = heap->process_count ? heap->processes[0].totals.rate : 0;

	return rate ? rate : 1;
}

/* normal: the type to show by default. Scrapers identify a profile by the type of its
 * period; the profile of a snapshot has no duration. */
static void put_metadata(struct encoder *encoder, int64_t normal)
{
	Profile part = PMP__PPROF__PROFILE__INIT;
	ValueType type = PMP__PPROF__VALUE_TYPE__INIT;
	const struct pmp_metadata *metadata = &encoder->report->metadata;

	type.type = encoder->only ? normal : WALL;
	type.unit = unit_of(type.type);
	part.time = (int64_t)metadata->realtime;
	if (normal != THREADS && !encoder->options->since_start)
		part.duration = (int64_t)metadata->duration;
	part.period = (int64_t)metadata->period;
	if (encoder->heap) {
		type.type = SPACE;
		type.unit = BYTES;
		part.period = (int64_t)heap_rate(encoder->heap);
		if (!encoder->heap_alone)
			put_comment(encoder, "taken: period_ns=%" PRIu64,
				    metadata->period);
	}
	part.period_type = &type;
	part.default_type = encoder->type ? encoder->type : normal;
	put(encoder, &part);
	put_comments(encoder, metadata);
	put_heap_comments(encoder);
}

/* ---- the whole profile ------------------------------------------------------------- */

static bool open_encoder(struct encoder *encoder)
{
	static const char *const first[] = {
		"",
		"samples",
		"count",
		"cpu",
		"nanoseconds",
		"offcpu",
		"wall",
		"contentions",
		"delay",
		"caused_contentions",
		"caused_delay",
		"threads",
		"alloc_objects",
		"alloc_space",
		"inuse_objects",
		"inuse_space",
		"space",
		"bytes",
	};

	encoder->texts = pmp_intern_new();
	encoder->functions = pmp_intern_new();
	encoder->marks = pmp_intern_new();
	if (!encoder->texts || !encoder->functions || !encoder->marks)
		return false;
	for (size_t i = 0; i < sizeof(first) / sizeof(*first); i++)
		text_of(encoder, first[i]);
	encoder->zip_open =
		deflateInit2(&encoder->zip, Z_DEFAULT_COMPRESSION, Z_DEFLATED,
			     GZIP_WINDOW, GZIP_MEMORY, Z_DEFAULT_STRATEGY) == Z_OK;
	return encoder->zip_open;
}

static void close_encoder(struct encoder *encoder)
{
	if (encoder->zip_open)
		deflateEnd(&encoder->zip);
	pmp_layout_free(&encoder->layout);
	pmp_intern_free(encoder->texts);
	pmp_intern_free(encoder->functions);
	pmp_intern_free(encoder->marks);
	pmp_buf_free(&encoder->scratch);
	pmp_buf_free(&encoder->plain);
	free(encoder->ids);
}

/* Did any thread wait for a lock, or hold one that others waited for? */
static bool has_contention(const struct pmp_report *report)
{
	struct pmp_counted_wait wait;

	for (size_t i = 0; i < report->entry_count; i++) {
		const struct pmp_entry *entry = &report->entries[i];

		if (!entry->waits)
			continue;
		pmp_counted_wait_get(report, entry, &wait);
		if (wait.contended || entry->waits->held_contentions ||
		    entry->waits->held_delay)
			return true;
	}
	return false;
}

static bool choose_only(struct encoder *encoder, const char *value)
{
	static const struct {
		const char *name;
		int64_t type;
		const int64_t *types;
		size_t count;
	} choices[] = {
		{ "cpu", CPU, cpu_types, 2 },
		{ "offcpu", OFFCPU, offcpu_types, 2 },
		{ "wall", WALL, wall_types, 2 },
		{ "threads", THREADS, threads_types, 1 },
	};

	for (size_t i = 0; value && i < sizeof(choices) / sizeof(*choices); i++) {
		if (strcmp(value, choices[i].name) != 0)
			continue;
		encoder->only = choices[i].type;
		encoder->types = choices[i].types;
		encoder->values = choices[i].count;
		return true;
	}
	return false;
}

/* Write the heap: alone if the report counts one of its values, not at all if it counts
 * anything else. */
static void choose_heap(struct encoder *encoder)
{
	const struct pmp_report *report = encoder->report;
	const struct pmp_metadata *metadata = &report->metadata;
	enum pmp_heap_value value;

	encoder->heap = report->of_heap ? report : report->heap;
	if (!encoder->heap)
		return;
	encoder->heap_alone = report->of_heap ||
			      pmp_heap_value_find(metadata->sample_type.type, &value);
	if (*metadata->sample_type.type && !encoder->heap_alone)
		encoder->heap = NULL;
}

static void add_heap_types(struct encoder *encoder)
{
	size_t n = encoder->heap_alone ? 0 : encoder->values;

	if (!encoder->heap)
		return;
	memcpy(encoder->mixed, encoder->types, n * sizeof(*encoder->types));
	memcpy(encoder->mixed + n, heap_types, sizeof(heap_types));
	encoder->types = encoder->mixed;
	encoder->values = n + HEAP_TYPES;
}

/* All values of stacks; any other value of a saved profile is alone. */
static void choose_samples(struct encoder *encoder)
{
	const struct pmp_metadata *metadata = &encoder->report->metadata;

	encoder->types = usual_types;
	encoder->values = sizeof(usual_types) / sizeof(*usual_types);
	if (!*metadata->sample_type.type) {
		if (!has_contention(encoder->report))
			return;
		encoder->types = waiting_types;
		encoder->values = sizeof(waiting_types) / sizeof(*waiting_types);
		return;
	}
	encoder->type = text_of(encoder, metadata->sample_type.type);
	encoder->unit = text_of(encoder, metadata->sample_type.unit);
	encoder->values = 1;
}

static void choose_values(struct encoder *encoder, const char *value)
{
	if (choose_only(encoder, value))
		return;
	choose_samples(encoder);
	choose_heap(encoder);
	add_heap_types(encoder);
}

/* The type to show by default. One snapshot has no times and would look empty. */
static int64_t normal_type(const struct encoder *encoder, bool timed)
{
	if (encoder->only)
		return encoder->only;
	if (encoder->heap)
		return INUSE_SPACE;
	return timed ? WALL : SAMPLES;
}

static void put_rest(struct encoder *encoder, const char *process)
{
	if (pmp_layout_settle(&encoder->layout, process))
		fail(encoder);
	for (size_t i = 0; i < encoder->layout.used_count; i++)
		put_location(encoder, i + 1, encoder->layout.used[i]);
	for (uint32_t i = 0; i < pmp_intern_count(encoder->marks); i++)
		put_mark(encoder, mark_id(i), pmp_intern_data(encoder->marks, i, NULL));
	put_mappings(encoder);
	put_functions(encoder);
}

/* Has the entry any value that is written? */
static bool is_shown(const struct encoder *encoder, const struct pmp_entry *entry)
{
	static const struct pmp_counted_wait none;

	if (encoder->only)
		return value_of(entry, &none, encoder->only) > 0;
	return entry->count || entry->cpu;
}

/* The process whose program becomes the first mapping. */
static const char *process_of(const struct encoder *encoder,
			      const struct pmp_entry *const *entries)
{
	if (encoder->report->entry_count)
		return entries[0]->process;
	return encoder->heap && encoder->heap->entry_count
		       ? encoder->heap->entries[0].process
		       : "";
}

static void write_pprof(struct pmp_out *out, const struct pmp_report *report,
			const struct pmp_write_options *options)
{
	struct encoder encoder = { .out = out, .report = report, .options = options };
	size_t count = report->entry_count;
	const struct pmp_entry **entries = NULL;
	bool timed = false;

	encoder.layout.report = report;
	if (!open_encoder(&encoder) || pmp_sort_entries(report, &entries)) {
		fail(&encoder);
		goto out;
	}
	choose_values(&encoder, options->value);
	put_types(&encoder);
	if (encoder.heap_alone)
		count = 0;
	for (size_t i = 0; i < count && !out->buf.failed; i++) {
		if (is_shown(&encoder, entries[i]))
			put_sample(&encoder, entries[i]);
		timed = timed || entries[i]->wall;
	}
	put_heap(&encoder);
	put_rest(&encoder, process_of(&encoder, entries));
	put_metadata(&encoder, normal_type(&encoder, timed));
	put_texts(&encoder);
	compress_plain(&encoder, Z_FINISH);
out:
	free(entries);
	close_encoder(&encoder);
}

void pmp_pprof_write_delays(struct pmp_out *out, const struct pmp_delays *delays,
			    const struct pmp_write_options *options)
{
	const struct pmp_report *report = delays->report;
	struct encoder encoder = { .out = out, .report = report, .options = options };

	encoder.layout.report = report;
	encoder.types = delay_types;
	encoder.values = sizeof(delay_types) / sizeof(*delay_types);
	if (!open_encoder(&encoder)) {
		fail(&encoder);
		goto out;
	}
	put_types(&encoder);
	for (size_t i = 0; i < delays->count && !out->buf.failed; i++)
		put_delay(&encoder, &delays->items[i]);
	put_rest(&encoder, report->entry_count ? report->entries[0].process : "");
	put_metadata(&encoder, DELAY);
	put_texts(&encoder);
	compress_plain(&encoder, Z_FINISH);
out:
	close_encoder(&encoder);
}

const struct pmp_writer pmp_writer_pprof = {
	.format = {
		.name = "pprof",
		.help = "for go tool pprof, and for pmp FILE to read again",
		.extension = "pb.gz",
		.mime = "application/octet-stream",
		.details = true,
		.binary = true,
		.waits = true,
		.values = true,
		.heap = PMP_HEAP_TOO,
	},
	.write = write_pprof,
};
