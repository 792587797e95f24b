/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The samples of a saved profile. Each is decoded and counted; a location is decoded when
 * it first occurs.
 */
#include "tally/pprof-read.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/pprof.pb-c.h"
#include "resolve/demangle.h"

#define SIGNAL_NAME "<signal handler called>"

/* ---- locations --------------------------------------------------------------- */

/* Paths and build-ids are copied for each mapping, even if they share a text in the file,
 * so their length has to be limited. */
static int check_mapping(struct pmp_pprof_reader *reader,
			 const struct pmp_mapping *mapping)
{
	if (strlen(mapping->path) > PMP_PPROF_PATH_MAX ||
	    strlen(mapping->build_id) > PMP_PPROF_PATH_MAX)
		return pmp_pprof_too_many(reader, PMP_PPROF_PATH_MAX,
					  "bytes in the path or build-id of a mapping");
	return 0;
}

/* Set *number for the mapping with an id; id 0: no mapping. 0 or a code of libpmp.h. */
static int find_mapping(struct pmp_pprof_reader *reader, uint64_t id, uint32_t *number)
{
	static const struct pmp_mapping none = { .path = "[unmapped]", .build_id = "" };
	const struct pmp_pprof_calls *calls = reader->calls;
	struct pmp_mapping *mapping;
	uint32_t i;

	if (id == 0) {
		if (reader->no_mapping == UINT32_MAX)
			reader->no_mapping = calls->mapping(calls->arg, &none);
		*number = reader->no_mapping;
		return *number == UINT32_MAX ? PMP_ENOMEM : 0;
	}
	i = pmp_intern_find(reader->mapping_ids, &id, sizeof(id));
	if (i == PMP_INTERN_NONE)
		return PMP_EFORMAT;
	mapping = &reader->mappings[i];
	if (reader->mapping_numbers[i] == UINT32_MAX) {
		mapping->path = pmp_pprof_text(reader, reader->mapping_texts[i].name);
		mapping->build_id = pmp_pprof_text(reader, reader->mapping_texts[i].unit);
		if (check_mapping(reader, mapping))
			return PMP_ELIMIT;
		reader->mapping_numbers[i] = calls->mapping(calls->arg, mapping);
	}
	*number = reader->mapping_numbers[i];
	return *number == UINT32_MAX ? PMP_ENOMEM : 0;
}

static size_t shown_length(const struct pmp_pprof_reader *reader, uint64_t mapping)
{
	uint32_t i =
		mapping ? pmp_intern_find(reader->mapping_ids, &mapping, sizeof(mapping))
			: PMP_INTERN_NONE;

	return i == PMP_INTERN_NONE ? 0 : pmp_pprof_shown_length(&reader->mappings[i]);
}

/* The names of a location. Returns their number or a code. */
static int read_lines(struct pmp_pprof_reader *reader,
		      const Pmp__Pprof__Location *message, struct pmp_frame *frames)
{
	if (message->n_line > PMP_PPROF_LINES_MAX)
		return pmp_pprof_too_many(reader, PMP_PPROF_LINES_MAX,
					  "functions at one location");
	for (size_t i = 0; i < message->n_line; i++) {
		const Pmp__Pprof__Line *line = message->line[i];
		const struct pmp_pprof_function *function;
		const char *linkage, *file;
		uint32_t number = pmp_intern_find(reader->function_ids, &line->function,
						  sizeof(line->function));

		if (number == PMP_INTERN_NONE)
			return PMP_EFORMAT;
		function = &reader->functions[number];
		linkage = pmp_pprof_text(reader, function->linkage);
		file = pmp_pprof_text(reader, function->file);
		frames[i] = (struct pmp_frame){
			.function = pmp_pprof_text(reader, function->name),
			.linkage = *linkage ? linkage : NULL,
			.file = *file ? file : NULL,
		};
		if (line->line > 0 && line->line <= INT_MAX)
			frames[i].line = (unsigned)line->line;
		if (!*frames[i].function)
			frames[i].function = "[unknown]";
		frames[i].signal = !strcmp(frames[i].function, SIGNAL_NAME);
		reader->names_size +=
			strlen(frames[i].function) + strlen(linkage) + strlen(file);
	}
	/* Without names it is shown with the name of its file. */
	if (!message->n_line)
		reader->names_size += shown_length(reader, message->mapping);
	if (reader->names_size > PMP_PPROF_NAMES_MAX)
		return pmp_pprof_too_many(reader, PMP_PPROF_NAMES_MAX,
					  "bytes of names, each as often as it is used");
	return (int)message->n_line;
}

/* Demangle the linkage names, or the only ones. Returns count or PMP_ENOMEM. */
static int make_readable(struct pmp_pprof_reader *reader, struct pmp_frame *frames,
			 size_t count)
{
	struct pmp_buf *readable = &reader->readable;
	size_t starts[PMP_PPROF_LINES_MAX];

	pmp_buf_clear(readable);
	for (size_t i = 0; i < count; i++) {
		const char *linkage =
			frames[i].linkage ? frames[i].linkage : frames[i].function;

		starts[i] = readable->length;
		if (pmp_demangle(linkage, readable)) {
			frames[i].linkage = linkage;
			pmp_buf_add(readable, "", 1);
		} else {
			starts[i] = SIZE_MAX;
		}
	}
	if (pmp_buf_failed(readable))
		return PMP_ENOMEM;
	for (size_t i = 0; i < count; i++)
		if (starts[i] != SIZE_MAX)
			frames[i].function = readable->data + starts[i];
	return (int)count;
}

/* exact: it is the innermost frame, or one that a signal has interrupted. */
static int read_location(struct pmp_pprof_reader *reader,
			 struct pmp_pprof_location *location, bool exact)
{
	struct pmp_first_address origin = { .exact = exact };
	struct pmp_frame frames[PMP_PPROF_LINES_MAX];
	Pmp__Pprof__Location *message;
	int code = pmp_arena_decode(&reader->arena, &pmp__pprof__location__descriptor,
				    location->data, location->length, &message);

	if (!code)
		code = find_mapping(reader, message->mapping, &origin.mapping);
	if (code)
		return code;
	code = read_lines(reader, message, frames);
	if (code < 0)
		return code;
	origin.pc = message->address;
	if (!exact && message->address)
		origin.pc++;
	location->signal = code == 1 && frames[0].signal;
	code = make_readable(reader, frames, (size_t)code);
	if (code < 0)
		return code;
	/* A demangled name is no mark, and is only valid until the next location. */
	if (code == 1 && !origin.pc && frames[0].function != reader->readable.data)
		location->mark = frames[0].function;
	location->found[exact] = reader->calls->location(reader->calls->arg, &origin,
							 frames, (size_t)code);
	return location->found[exact] == PMP_LOCATION_NONE ? PMP_ENOMEM : 0;
}

/* ---- samples ----------------------------------------------------------------- */

static uint64_t value_of(const Pmp__Pprof__Sample *sample, int column, uint64_t unit)
{
	uint64_t value;

	if (column < 0 || sample->value[column] < 0 ||
	    __builtin_mul_overflow((uint64_t)sample->value[column], unit, &value))
		return 0;
	return pmp_pprof_positive(value);
}

static bool is_negative(const Pmp__Pprof__Sample *sample, int column)
{
	return column >= 0 && sample->value[column] < 0;
}

static void read_values(struct pmp_pprof_reader *reader, const Pmp__Pprof__Sample *sample,
			struct pmp_entry *entry)
{
	const struct pmp_pprof_columns *columns = &reader->columns;
	struct pmp_entry_waits *waits = entry->waits;
	uint64_t offcpu = value_of(sample, columns->offcpu, columns->offcpu_unit);

	reader->info.negative += is_negative(sample, columns->count) ||
				 is_negative(sample, columns->cpu) ||
				 is_negative(sample, columns->wall);
	entry->count = value_of(sample, columns->count, 1);
	entry->cpu = value_of(sample, columns->cpu, columns->cpu_unit);
	entry->wall = value_of(sample, columns->wall, columns->wall_unit);
	if (columns->wall < 0)
		entry->wall = entry->cpu + offcpu;
	waits->contentions = value_of(sample, columns->contentions, 1);
	waits->held_contentions = value_of(sample, columns->caused_contentions, 1);
	waits->held_delay = value_of(sample, columns->caused_delay, 1);
}

static pid_t id_of(int64_t number)
{
	return number > 0 && number <= INT_MAX ? (pid_t)number : 0;
}

/* Read a label about what the thread waited for. false: it is another label. */
static bool read_wait_label(const char *key, const char *value, int64_t number,
			    struct pmp_lock *lock)
{
	if (!strcmp(key, "lock")) {
		lock->text = value;
		lock->kind = strcmp(value, "join") ? PMP_WAIT_FUTEX : PMP_WAIT_JOIN;
	} else if (!strcmp(key, "holder")) {
		pmp_lock_set_holder(lock, value);
	} else if (!strcmp(key, "holder_tid")) {
		lock->holder = id_of(number);
	} else if (!strcmp(key, "holder_stack")) {
		if (!strcmp(value, PMP_LABEL_MOVED_ON))
			lock->holder_stack = PMP_HOLDER_STACK_MOVED_ON;
	} else {
		return false;
	}
	return true;
}

/* Read the labels that pmp writes; other programs use `thread` in the same way. */
static int read_labels(struct pmp_pprof_reader *reader, const Pmp__Pprof__Sample *sample,
		       struct pmp_entry *entry, struct pmp_lock *lock,
		       struct pmp_pprof_heap *heap)
{
	for (size_t i = 0; i < sample->n_label; i++) {
		const Pmp__Pprof__Label *label = sample->label[i];
		const char *key, *value;

		if (!pmp_pprof_is_text(reader, label->key) ||
		    !pmp_pprof_is_text(reader, label->text))
			return PMP_EFORMAT;
		key = pmp_pprof_text(reader, pmp_pprof_text_number(label->key));
		value = pmp_pprof_text(reader, pmp_pprof_text_number(label->text));
		reader->labels_size += strlen(value);
		if (read_wait_label(key, value, label->number, lock) ||
		    pmp_pprof_read_heap_label(key, label->number, heap))
			continue;
		if (!strcmp(key, "process") && *value)
			entry->process = value;
		else if (!strcmp(key, "pid"))
			entry->pid = id_of(label->number);
		else if (!strcmp(key, "thread"))
			entry->thread = value;
		else if (!strcmp(key, "tid"))
			entry->tid = id_of(label->number);
		else if (!strcmp(key, "state") && *value)
			entry->state = *value;
		else if (!strcmp(key, "syscall"))
			entry->syscall = value;
		else if (!strcmp(key, "wchan"))
			entry->wchan = value;
	}
	reader->labels_size += strlen(entry->process);
	if (reader->labels_size > PMP_PPROF_LABELS_MAX)
		return pmp_pprof_too_many(reader, PMP_PPROF_LABELS_MAX,
					  "bytes of labels, each as often as it is used");
	return 0;
}

/* Is this a mark in place of the root? Then set entry->end accordingly and, if the thread
 * was not stopped, reason. */
static bool read_mark(const char *mark, struct pmp_entry *entry,
		      char reason[PMP_REASON_SIZE])
{
	const char *text = pmp_pprof_after(mark, "[not stopped: ");
	size_t length = text ? strlen(text) : 0;

	/* In profiles of other programs it may be an ordinary function. */
	if (!strcmp(mark, "[unknown]"))
		return entry->location_count == 1;
	if (!strcmp(mark, "[evicted]")) {
		entry->end = PMP_END_EVICTED;
		return true;
	}
	if (!strcmp(mark, "[ran between snapshots]")) {
		entry->end = PMP_END_BETWEEN;
		return true;
	}
	if (text && length > 1 && length <= PMP_REASON_SIZE && text[length - 1] == ']') {
		entry->end = PMP_END_NOT_STOPPED;
		memcpy(reason, text, length - 1);
		reason[length - 1] = '\0';
		return true;
	}
	text = pmp_pprof_after(mark, "[truncated: ");
	for (int end = PMP_END_ROOT + 1; text && end < PMP_END_COUNT; end++) {
		const char *rest = pmp_pprof_after(text, pmp_end_text((enum pmp_end)end));

		if (rest && !strcmp(rest, "]")) {
			entry->end = (enum pmp_end)end;
			return true;
		}
	}
	return false;
}

static struct pmp_pprof_location *find_location(struct pmp_pprof_reader *reader,
						uint64_t id)
{
	uint32_t number = pmp_intern_find(reader->location_ids, &id, sizeof(id));

	return number == PMP_INTERN_NONE ? NULL : &reader->locations[number];
}

/* ids: a copy, as decoding locations overwrites the arena. */
static int read_stack(struct pmp_pprof_reader *reader, const uint64_t *ids, size_t count,
		      struct pmp_entry *entry, char reason[PMP_REASON_SIZE])
{
	bool exact = true;
	const char *mark = NULL; /* of the root */

	if (PMP_RESERVE(&reader->stack, &reader->stack_capacity, count + 1))
		return PMP_ENOMEM;
	for (size_t i = 0; i < count; i++) {
		struct pmp_pprof_location *location = find_location(reader, ids[i]);
		int code = 0;

		if (!location)
			return PMP_EFORMAT;
		if (location->found[exact] == PMP_LOCATION_NONE)
			code = read_location(reader, location, exact);
		if (code)
			return code;
		reader->stack[i] = location->found[exact];
		exact = location->signal;
		mark = location->mark;
	}
	entry->locations = reader->stack;
	entry->location_count = count;
	if (mark && read_mark(mark, entry, reason))
		entry->location_count--;
	return 0;
}

/* The name of the program, for samples without a label for it. */
static const char *program_name(const struct pmp_pprof_reader *reader)
{
	const char *path = "", *slash;

	if (reader->mapping_count)
		path = pmp_pprof_text(reader, reader->mapping_texts[0].name);
	slash = strrchr(path, '/');
	if (slash && slash[1])
		return slash + 1;
	return *path ? path : "[unknown]";
}

/* Read the heap values of a sample. false: there are none. */
static bool read_heap(const struct pmp_pprof_reader *reader,
		      const Pmp__Pprof__Sample *sample, const struct pmp_pprof_heap *heap,
		      struct pmp_heap_sums *sums)
{
	uint64_t values[PMP_HEAP_VALUES];

	if (!reader->columns.has_heap)
		return false;
	for (size_t i = 0; i < PMP_HEAP_VALUES; i++)
		values[i] = value_of(sample, reader->columns.heap[i], 1);
	return pmp_pprof_make_heap(reader, values, heap, sums);
}

/* Read the stack of a sample and count it. 0 or a code of libpmp.h. */
static int count_sample(struct pmp_pprof_reader *reader, const Pmp__Pprof__Sample *sample,
			struct pmp_entry *entry)
{
	char reason[PMP_REASON_SIZE] = "";
	const size_t count = sample->n_location;
	uint64_t *ids = calloc(count + 1, sizeof(*ids));
	int code;

	if (!ids)
		return PMP_ENOMEM;
	if (count)
		memcpy(ids, sample->location, count * sizeof(*ids));
	code = read_stack(reader, ids, count, entry, reason);
	entry->reason = reason;
	if (!code)
		code = reader->calls->stack(reader->calls->arg, entry);
	entry->reason = ""; /* the local one goes out of scope */
	reader->counted += entry->count;
	free(ids);
	return code;
}

int pmp_pprof_read_sample(struct pmp_pprof_reader *reader, const struct pmp_field *field)
{
	struct pmp_lock lock = {
		.holder_name = "",
		.text = "",
		.object = { .location = PMP_LOCATION_NONE },
	};
	struct pmp_entry_waits waits = { 0 };
	struct pmp_entry entry = {
		.process = program_name(reader),
		.thread = "",
		.state = '?',
		.syscall = "",
		.wchan = "",
		.waits = &waits,
	};
	struct pmp_pprof_heap heap = { 0 };
	struct pmp_heap_sums sums;
	Pmp__Pprof__Sample *sample;
	int code = pmp_arena_decode(&reader->arena, &pmp__pprof__sample__descriptor,
				    field->data, field->length, &sample);

	if (code)
		return code;
	if (sample->n_value != reader->type_count)
		return PMP_EFORMAT;
	if (reader->sample_count++ >= PMP_PPROF_SAMPLES_MAX)
		return pmp_pprof_too_many(reader, PMP_PPROF_SAMPLES_MAX, "samples");
	if (sample->n_location > PMP_PPROF_FRAMES_MAX)
		return pmp_pprof_too_many(reader, PMP_PPROF_FRAMES_MAX,
					  "frames in one stack");
	read_values(reader, sample, &entry);
	code = read_labels(reader, sample, &entry, &lock, &heap);
	if (*lock.text)
		waits.lock = &lock;
	if (!code && read_heap(reader, sample, &heap, &sums))
		entry.heap = &sums;
	if (code || (!entry.count && !entry.cpu && !entry.heap))
		return code;
	return count_sample(reader, sample, &entry);
}
