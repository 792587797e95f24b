/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading saved profiles: those that pmp has written (write/pprof.c), and those of
 * any other program that writes the format of `go tool pprof`. Before it: bytes
 * that nobody vouches for. After it: a profile like any other.
 *
 * The message is walked twice. First its tables are collected: texts, functions,
 * mappings, locations as the bytes that they are. Then each sample is decoded and
 * counted; the locations it has are decoded when they occur for the first time.
 * Nested messages are decoded by protobuf-c out of a piece of memory of fixed size,
 * one at a time: so what a file costs is limited by its length, and that is too.
 */
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/intern.h"
#include "base/scan.h"
#include "tally/gunzip.h"
#include "tally/pprof.pb-c.h"
#include "tally/profile.h"

#define FILE_MAX ((size_t)256 << 20)
#define PLAIN_MAX ((size_t)512 << 20)	/* unpacked, */
#define PLAIN_RATIO 512			/* and so many times the file if larger than */
#define PLAIN_FREE ((size_t)16 << 20)	/* this */
#define ARENA_SIZE ((size_t)16 << 20)	/* of one message, decoded */
#define TABLE_MAX ((size_t)4 << 20)	/* texts, functions, locations */
#define SAMPLES_MAX ((size_t)4 << 20)
#define MAPPINGS_MAX ((size_t)16 << 10)
#define FRAMES_MAX ((size_t)64 << 10)	/* of one stack */
#define LINES_MAX ((size_t)256)		/* of one location */
#define NAMES_MAX ((size_t)512 << 20)	/* bytes of names, as often as they are used */
#define VALUES_MAX ((size_t)64)
#define VALUE_MAX (UINT64_C(1) << 62)

#define SIGNAL_NAME "<signal handler called>"

/* The fields of a profile, see pprof.proto. */
enum {
	SAMPLE_TYPE = 1, SAMPLE, MAPPING, LOCATION, FUNCTION, TEXT,
	TIME = 9, DURATION, PERIOD_TYPE, PERIOD, COMMENT, DEFAULT_TYPE,
};

/* Of the wire: how a field's value is written. */
enum { VARINT, FIXED64, BYTES, FIXED32 = 5 };

struct field {
	uint64_t number, value;
	const uint8_t *data;	/* of BYTES */
	size_t length;
	unsigned type;
};

struct walk {
	const uint8_t *at, *end;
};

struct function {
	uint32_t name, file;	/* texts */
};

struct location {
	const uint8_t *data;	/* of its message */
	size_t length;
	pmp_location found[2];	/* as a return address, exact; NONE: not yet */
	bool signal;
};

/* Which of a sample's values is what; -1: none. Times have a unit in ns. */
struct columns {
	int count, cpu, offcpu, wall;
	uint64_t cpu_unit, offcpu_unit, wall_unit;
};

struct type {
	uint32_t name, unit;	/* texts */
};

struct reader {
	struct pmp_profile *profile;
	struct pmp_buf texts;		/* all of them, each with its NUL */
	uint32_t *text_starts;
	size_t text_count, text_capacity;
	struct pmp_intern *function_ids, *location_ids, *mapping_ids;
	struct function *functions;	/* by the numbers that their ids have there */
	size_t function_count, function_capacity;
	struct location *locations;
	size_t location_count, location_capacity;
	struct pmp_mapping *mappings;	/* path, build_id: set after the first walk */
	struct type *mapping_texts;	/* path, build-id */
	uint32_t *mapping_numbers;	/* the symbolizer's */
	size_t mapping_count, mapping_capacity, texts_capacity, numbers_capacity;
	struct type types[VALUES_MAX];
	size_t type_count;
	uint64_t default_type;
	uint64_t period;		/* in the unit of its type */
	uint32_t period_unit;		/* text; 0: not told */
	struct columns columns;
	uint64_t *comments;		/* texts */
	size_t comment_count, comment_capacity;
	pmp_location *stack;		/* of the sample at hand */
	size_t stack_capacity;
	size_t sample_count, names_size;
	uint64_t counted;		/* the sum of counts */
	struct pmp_profile_info info;
	struct pmp_about about;
	struct pmp_error refusal;	/* of what is right, but not what is wanted */
	uint8_t *arena;
	size_t arena_used;
	bool arena_full;
	ProtobufCAllocator allocator;
};

/* ---- the arena --------------------------------------------------------------- */

static void *arena_alloc(void *arg, size_t size)
{
	struct reader *reader = arg;
	uint8_t *piece = reader->arena + reader->arena_used;

	if (size > ARENA_SIZE - reader->arena_used) {
		reader->arena_full = true;
		return NULL;
	}
	size = (size + 15) & ~(size_t)15;
	if (size > ARENA_SIZE - reader->arena_used)
		size = ARENA_SIZE - reader->arena_used;
	reader->arena_used += size;
	return piece;
}

static void arena_free(void *arg, void *piece)
{
	(void)arg;
	(void)piece;
}

/* Decode a nested message; it lives until the next one. 0, PMP_EFORMAT, PMP_ELIMIT. */
static int decode(struct reader *reader, const ProtobufCMessageDescriptor *descriptor,
		  const uint8_t *data, size_t length, void *message)
{
	ProtobufCMessage **result = message;

	reader->arena_used = 0;
	reader->arena_full = false;
	*result = protobuf_c_message_unpack(descriptor, &reader->allocator, length, data);
	if (*result)
		return 0;
	return reader->arena_full ? PMP_ELIMIT : PMP_EFORMAT;
}

/* ---- the wire -------------------------------------------------------------------- */

static bool take_varint(struct walk *walk, uint64_t *value)
{
	*value = 0;
	for (unsigned shift = 0; shift < 64 && walk->at < walk->end; shift += 7) {
		uint8_t byte = *walk->at++;

		*value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

/* The next field. False: damaged. */
static bool take_field(struct walk *walk, struct field *field)
{
	uint64_t tag, length;
	size_t fixed;

	if (!take_varint(walk, &tag))
		return false;
	*field = (struct field){ .number = tag >> 3, .type = tag & 7 };
	switch (field->type) {
	case VARINT:
		return take_varint(walk, &field->value);
	case BYTES:
		if (!take_varint(walk, &length) ||
		    length > (uint64_t)(walk->end - walk->at))
			return false;
		field->data = walk->at;
		field->length = length;
		walk->at += length;
		return true;
	case FIXED64:
	case FIXED32:
		fixed = field->type == FIXED64 ? 8 : 4;
		if (fixed > (size_t)(walk->end - walk->at))
			return false;
		walk->at += fixed;
		return true;
	default:
		return false;
	}
}

/* ---- tables ------------------------------------------------------------------------ */

static const char *text(const struct reader *reader, uint32_t number)
{
	return reader->texts.data + reader->text_starts[number];
}

static bool is_text(const struct reader *reader, int64_t number)
{
	return number >= 0 && (uint64_t)number < reader->text_count;
}

/* A text may come before or after what means it: checked when all are there. */
static uint32_t text_number(int64_t number)
{
	return number >= 0 && number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
}

static int add_text(struct reader *reader, const struct field *field)
{
	if (reader->text_count >= TABLE_MAX)
		return PMP_ELIMIT;
	if (PMP_RESERVE(&reader->text_starts, &reader->text_capacity,
			reader->text_count + 1))
		return PMP_ENOMEM;
	reader->text_starts[reader->text_count++] = (uint32_t)reader->texts.length;
	pmp_buf_add(&reader->texts, field->data, field->length);
	pmp_buf_add(&reader->texts, "", 1);
	return pmp_buf_failed(&reader->texts) ? PMP_ENOMEM : 0;
}

/* A new id's index in its table. 0, PMP_EFORMAT: 0 or twice, PMP_ENOMEM. */
static int add_id(struct pmp_intern *ids, uint64_t id, size_t count)
{
	uint32_t number = pmp_intern(ids, &id, sizeof(id));

	if (number == PMP_INTERN_NONE)
		return PMP_ENOMEM;
	return id == 0 || number != count ? PMP_EFORMAT : 0;
}

static int add_function(struct reader *reader, const struct field *field)
{
	Pmp__Pprof__Function *function;
	int code = decode(reader, &pmp__pprof__function__descriptor, field->data,
			  field->length, &function);

	if (code)
		return code;
	if (reader->function_count >= TABLE_MAX)
		return PMP_ELIMIT;
	if (PMP_RESERVE(&reader->functions, &reader->function_capacity,
			reader->function_count + 1))
		return PMP_ENOMEM;
	code = add_id(reader->function_ids, function->id, reader->function_count);
	if (code)
		return code;
	reader->functions[reader->function_count++] = (struct function){
		.name = text_number(function->name ? function->name
						   : function->system_name),
		.file = text_number(function->file),
	};
	return 0;
}

static int add_mapping(struct reader *reader, const struct field *field)
{
	Pmp__Pprof__Mapping *mapping;
	size_t i = reader->mapping_count;
	int code = decode(reader, &pmp__pprof__mapping__descriptor, field->data,
			  field->length, &mapping);

	if (code)
		return code;
	if (i >= MAPPINGS_MAX)
		return PMP_ELIMIT;
	if (PMP_RESERVE(&reader->mappings, &reader->mapping_capacity, i + 1) ||
	    PMP_RESERVE(&reader->mapping_texts, &reader->texts_capacity, i + 1) ||
	    PMP_RESERVE(&reader->mapping_numbers, &reader->numbers_capacity, i + 1))
		return PMP_ENOMEM;
	code = add_id(reader->mapping_ids, mapping->id, i);
	if (code)
		return code;
	reader->mappings[i] = (struct pmp_mapping){
		.start = mapping->start,
		.end = mapping->limit,
		.offset = mapping->offset,
	};
	reader->mapping_texts[i] = (struct type){
		.name = text_number(mapping->path),
		.unit = text_number(mapping->build_id),
	};
	reader->mapping_numbers[i] = UINT32_MAX;
	reader->mapping_count++;
	return 0;
}

/* Only its id is of interest now, which is its first field as a rule. */
static int add_location(struct reader *reader, const struct field *field)
{
	struct walk walk = { field->data, field->data + field->length };
	struct field part;
	uint64_t id = 0;
	int code;

	while (walk.at < walk.end) {
		if (!take_field(&walk, &part))
			return PMP_EFORMAT;
		if (part.number == 1 && part.type == VARINT)
			id = part.value;
	}
	if (reader->location_count >= TABLE_MAX)
		return PMP_ELIMIT;
	if (PMP_RESERVE(&reader->locations, &reader->location_capacity,
			reader->location_count + 1))
		return PMP_ENOMEM;
	code = add_id(reader->location_ids, id, reader->location_count);
	if (code)
		return code;
	reader->locations[reader->location_count++] = (struct location){
		.data = field->data,
		.length = field->length,
		.found = { PMP_LOCATION_NONE, PMP_LOCATION_NONE },
	};
	return 0;
}

static int add_type(struct reader *reader, const struct field *field)
{
	Pmp__Pprof__ValueType *type;
	int code = decode(reader, &pmp__pprof__value_type__descriptor, field->data,
			  field->length, &type);

	if (code)
		return code;
	if (reader->type_count >= VALUES_MAX)
		return PMP_ELIMIT;
	reader->types[reader->type_count++] = (struct type){
		.name = text_number(type->type),
		.unit = text_number(type->unit),
	};
	return 0;
}

static int add_period_type(struct reader *reader, const struct field *field)
{
	Pmp__Pprof__ValueType *type;
	int code = decode(reader, &pmp__pprof__value_type__descriptor, field->data,
			  field->length, &type);

	if (!code)
		reader->period_unit = text_number(type->unit);
	return code;
}

static int add_comment(struct reader *reader, uint64_t number)
{
	if (reader->comment_count >= TABLE_MAX)
		return PMP_ELIMIT;
	if (PMP_RESERVE(&reader->comments, &reader->comment_capacity,
			reader->comment_count + 1))
		return PMP_ENOMEM;
	reader->comments[reader->comment_count++] = number;
	return 0;
}

/* One number, or several packed into bytes. */
static int add_comments(struct reader *reader, const struct field *field)
{
	struct walk walk;
	int code = 0;

	if (field->type == VARINT)
		return add_comment(reader, field->value);
	walk = (struct walk){ field->data, field->data + field->length };
	while (!code && walk.at < walk.end) {
		uint64_t number;

		code = take_varint(&walk, &number) ? add_comment(reader, number)
						   : PMP_EFORMAT;
	}
	return code;
}

static uint64_t positive(uint64_t value)
{
	return value < VALUE_MAX ? value : 0;
}

static int add_number(struct reader *reader, const struct field *field)
{
	switch (field->number) {
	case TIME: reader->about.realtime = positive(field->value); break;
	case DURATION: reader->about.duration = positive(field->value); break;
	case PERIOD: reader->period = positive(field->value); break;
	case DEFAULT_TYPE: reader->default_type = field->value; break;
	default: break;
	}
	return 0;
}

static int add_field(struct reader *reader, const struct field *field)
{
	if (field->number == COMMENT && (field->type == VARINT || field->type == BYTES))
		return add_comments(reader, field);
	if (field->type == VARINT)
		return add_number(reader, field);
	if (field->type != BYTES)
		return 0;
	switch (field->number) {
	case SAMPLE_TYPE: return add_type(reader, field);
	case PERIOD_TYPE: return add_period_type(reader, field);
	case MAPPING: return add_mapping(reader, field);
	case LOCATION: return add_location(reader, field);
	case FUNCTION: return add_function(reader, field);
	case TEXT: return add_text(reader, field);
	default: return 0;
	}
}

/* ---- what the tables mean -------------------------------------------------------------- */

/* Every text that is meant must be there. */
static bool check_texts(const struct reader *reader)
{
	for (size_t i = 0; i < reader->function_count; i++)
		if (!is_text(reader, reader->functions[i].name) ||
		    !is_text(reader, reader->functions[i].file))
			return false;
	for (size_t i = 0; i < reader->mapping_count; i++)
		if (!is_text(reader, reader->mapping_texts[i].name) ||
		    !is_text(reader, reader->mapping_texts[i].unit))
			return false;
	for (size_t i = 0; i < reader->type_count; i++)
		if (!is_text(reader, reader->types[i].name) ||
		    !is_text(reader, reader->types[i].unit))
			return false;
	for (size_t i = 0; i < reader->comment_count; i++)
		if (reader->comments[i] >= reader->text_count)
			return false;
	return reader->text_count > 0 && is_text(reader, reader->period_unit);
}

/* 0: no unit of time. */
static uint64_t time_unit(const char *unit)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {
		{ "nanoseconds", 1 },
		{ "microseconds", 1000 },
		{ "milliseconds", 1000000 },
		{ "seconds", 1000000000 },
	};

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (!strcmp(unit, units[i].name))
			return units[i].ns;
	return 0;
}

/* What is taken of memory, say, has a period in bytes, which is not one of time. */
static void find_period(struct reader *reader)
{
	uint64_t unit = time_unit(text(reader, reader->period_unit)), period;

	if (!__builtin_mul_overflow(reader->period, unit, &period))
		reader->about.period = positive(period);
}

static void find_time(struct reader *reader, const char *name, int *column,
		      uint64_t *unit)
{
	*column = -1;
	for (size_t i = 0; i < reader->type_count; i++) {
		*unit = time_unit(text(reader, reader->types[i].unit));
		if (*unit && !strcmp(text(reader, reader->types[i].name), name)) {
			*column = (int)i;
			return;
		}
	}
}

/* All that was read into a profile counts the same. */
static int check_measure(struct reader *reader)
{
	struct pmp_profile_info info = { .size = sizeof(info) };
	const struct pmp_measure *measure = &reader->about.measure;
	struct pmp_about about;
	char one[128], other[128];

	pmp_profile_info(reader->profile, &info);
	pmp_profile_about(reader->profile, &about);
	if (!info.samples || pmp_measure_is_same(&about.measure, measure))
		return 0;
	return pmp_error_set(&reader->refusal, PMP_EINVAL, "it counts %s, the others %s",
			     pmp_measure_text(measure, one, sizeof(one)),
			     pmp_measure_text(&about.measure, other, sizeof(other)));
}

/* What is counted, and which values are times. */
static int find_columns(struct reader *reader)
{
	const char *wanted = pmp_profile_options(reader->profile)->sample_type;
	struct columns *columns = &reader->columns;
	struct pmp_measure types[VALUES_MAX];
	const char *normal = NULL;

	for (size_t i = 0; i < reader->type_count; i++)
		types[i] = (struct pmp_measure){ text(reader, reader->types[i].name),
						 text(reader, reader->types[i].unit) };
	if (reader->default_type < reader->text_count)
		normal = text(reader, (uint32_t)reader->default_type);
	columns->count = pmp_measure_choose(types, reader->type_count, wanted, normal,
					    &reader->refusal);
	if (columns->count < 0)
		return columns->count;
	if (!pmp_measure_is_stacks(&types[columns->count]))
		reader->about.measure = types[columns->count];
	find_time(reader, "cpu", &columns->cpu, &columns->cpu_unit);
	find_time(reader, "offcpu", &columns->offcpu, &columns->offcpu_unit);
	find_time(reader, "wall", &columns->wall, &columns->wall_unit);
	return check_measure(reader);
}

/* "name=number" among the words of a comment. */
static void take_statistics(const char *line, const char *name, uint64_t *value)
{
	size_t length = strlen(name);
	const char *at = line;

	while ((at = strstr(at, name))) {
		struct pmp_scan scan = pmp_scan_text(at + length, strlen(at + length));

		if (at > line && at[-1] == ' ' && pmp_scan_char(&scan, '=') &&
		    pmp_scan_u64(&scan, value)) {
			*value = positive(*value);
			return;
		}
		at += length;
	}
}

static const char *after(const char *line, const char *prefix)
{
	size_t length = strlen(prefix);

	return strncmp(line, prefix, length) ? NULL : line + length;
}

/* The comments that write/pprof.c makes. */
static void take_comment(struct reader *reader, const char *line)
{
	struct pmp_profile_info *info = &reader->info;

	if (after(line, "command: "))
		reader->about.command = after(line, "command: ");
	if (after(line, "host: "))
		reader->about.host = after(line, "host: ");
	if (after(line, "taken: ")) {
		take_statistics(line, "snapshots", &info->samples);
		take_statistics(line, "stacks", &info->stacks);
		take_statistics(line, "truncated", &info->truncated);
		take_statistics(line, "not_stopped", &info->not_stopped);
		take_statistics(line, "vanished", &info->vanished);
		take_statistics(line, "evicted", &info->evicted);
		take_statistics(line, "evicted_distinct", &info->evicted_distinct);
	}
	if (after(line, "stops: ")) {
		take_statistics(line, "stops", &info->stops);
		take_statistics(line, "p50_ns", &info->stopped_p50);
		take_statistics(line, "p99_ns", &info->stopped_p99);
		take_statistics(line, "longest_ns", &info->stopped_max);
		take_statistics(line, "sum_ns", &info->stopped);
		take_statistics(line, "any_ns", &info->any_stopped);
	}
}

/* ---- locations ------------------------------------------------------------------------- */

/* The symbolizer's number of a mapping, UINT32_MAX: no memory. id 0: none is known. */
static int find_mapping(struct reader *reader, uint64_t id, uint32_t *number)
{
	struct pmp_symbolizer *symbolizer = pmp_profile_symbolizer(reader->profile);
	struct pmp_mapping none = { .path = "[unmapped]", .build_id = "" }, *mapping;
	uint32_t i;

	if (id == 0) {
		*number = pmp_symbolizer_add_mapping(symbolizer, &none);
		return *number == UINT32_MAX ? PMP_ENOMEM : 0;
	}
	i = pmp_intern_find(reader->mapping_ids, &id, sizeof(id));
	if (i == PMP_INTERN_NONE)
		return PMP_EFORMAT;
	mapping = &reader->mappings[i];
	if (reader->mapping_numbers[i] == UINT32_MAX) {
		mapping->path = text(reader, reader->mapping_texts[i].name);
		mapping->build_id = text(reader, reader->mapping_texts[i].unit);
		reader->mapping_numbers[i] =
			pmp_symbolizer_add_mapping(symbolizer, mapping);
	}
	*number = reader->mapping_numbers[i];
	return *number == UINT32_MAX ? PMP_ENOMEM : 0;
}

/* The names of a location. Returns their number or a code. */
static int read_lines(struct reader *reader, const Pmp__Pprof__Location *message,
		      struct pmp_frame *frames)
{
	if (message->n_line > LINES_MAX)
		return PMP_ELIMIT;
	for (size_t i = 0; i < message->n_line; i++) {
		const Pmp__Pprof__Line *line = message->line[i];
		const struct function *function;
		const char *file;
		uint32_t number = pmp_intern_find(reader->function_ids, &line->function,
						  sizeof(line->function));

		if (number == PMP_INTERN_NONE)
			return PMP_EFORMAT;
		function = &reader->functions[number];
		file = text(reader, function->file);
		frames[i] = (struct pmp_frame){
			.function = text(reader, function->name),
			.file = *file ? file : NULL,
		};
		if (line->line > 0 && line->line <= INT_MAX)
			frames[i].line = (unsigned)line->line;
		if (!*frames[i].function)
			frames[i].function = "[unknown]";
		frames[i].signal = !strcmp(frames[i].function, SIGNAL_NAME);
		reader->names_size += strlen(frames[i].function) + strlen(file);
	}
	return reader->names_size > NAMES_MAX ? PMP_ELIMIT : (int)message->n_line;
}

/* exact: the innermost frame, or the one that a signal has interrupted. */
static int read_location(struct reader *reader, struct location *location, bool exact)
{
	struct pmp_origin origin = { .exact = exact };
	struct pmp_frame frames[LINES_MAX];
	Pmp__Pprof__Location *message;
	int code = decode(reader, &pmp__pprof__location__descriptor, location->data,
			  location->length, &message);

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
	location->found[exact] = pmp_symbolizer_add_location(
		pmp_profile_symbolizer(reader->profile), &origin, frames, (size_t)code);
	return location->found[exact] == PMP_LOCATION_NONE ? PMP_ENOMEM : 0;
}

/* ---- samples ------------------------------------------------------------------------------ */

static uint64_t value_of(const Pmp__Pprof__Sample *sample, int column, uint64_t unit)
{
	uint64_t value;

	if (column < 0 || sample->value[column] < 0 ||
	    __builtin_mul_overflow((uint64_t)sample->value[column], unit, &value))
		return 0;
	return positive(value);
}

static void read_values(const struct columns *columns, const Pmp__Pprof__Sample *sample,
			struct pmp_entry *entry)
{
	uint64_t offcpu = value_of(sample, columns->offcpu, columns->offcpu_unit);

	entry->count = value_of(sample, columns->count, 1);
	entry->cpu = value_of(sample, columns->cpu, columns->cpu_unit);
	entry->wall = value_of(sample, columns->wall, columns->wall_unit);
	if (entry->wall < entry->cpu + offcpu)
		entry->wall = entry->cpu + offcpu;
}

static pid_t id_of(int64_t number)
{
	return number > 0 && number <= INT_MAX ? (pid_t)number : 0;
}

/* The labels that pmp writes; others' `thread` is the same. */
static int read_labels(const struct reader *reader, const Pmp__Pprof__Sample *sample,
		       struct pmp_entry *entry)
{
	for (size_t i = 0; i < sample->n_label; i++) {
		const Pmp__Pprof__Label *label = sample->label[i];
		const char *key, *value;

		if (!is_text(reader, label->key) || !is_text(reader, label->text))
			return PMP_EFORMAT;
		key = text(reader, text_number(label->key));
		value = text(reader, text_number(label->text));
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
	return 0;
}

/* Is this the mark of an unknown root? Then entry says so: why is put into buffer. */
static bool read_mark(const char *mark, struct pmp_entry *entry,
		      char why[PMP_WHY_SIZE])
{
	const char *reason = after(mark, "[not stopped: ");
	size_t length = reason ? strlen(reason) : 0;

	if (!strcmp(mark, "[unknown]"))
		return true;
	if (!strcmp(mark, "[evicted]")) {
		entry->end = PMP_END_EVICTED;
		return true;
	}
	if (reason && length > 1 && length <= PMP_WHY_SIZE && reason[length - 1] == ']') {
		entry->end = PMP_END_NOT_STOPPED;
		memcpy(why, reason, length - 1);
		why[length - 1] = '\0';
		return true;
	}
	reason = after(mark, "[truncated: ");
	for (int end = PMP_END_ROOT + 1; reason && end < PMP_END_COUNT; end++) {
		const char *rest = after(reason, pmp_end_text((enum pmp_end)end));

		if (rest && !strcmp(rest, "]")) {
			entry->end = (enum pmp_end)end;
			return true;
		}
	}
	return false;
}

static struct location *find_location(struct reader *reader, uint64_t id)
{
	uint32_t number = pmp_intern_find(reader->location_ids, &id, sizeof(id));

	return number == PMP_INTERN_NONE ? NULL : &reader->locations[number];
}

/* The mark at the root of a stack, which is without an address, or NULL. */
static const char *mark_of(struct reader *reader, pmp_location root)
{
	struct pmp_symbolizer *symbolizer = pmp_profile_symbolizer(reader->profile);
	const struct pmp_frame *frames;
	struct pmp_origin origin;

	pmp_symbolizer_origin(symbolizer, root, &origin);
	if (origin.pc || pmp_symbolizer_frames(symbolizer, root, &frames) != 1)
		return NULL;
	return frames[0].function;
}

/* ids: copied, as the arena is used for locations. */
static int read_stack(struct reader *reader, const uint64_t *ids, size_t count,
		      struct pmp_entry *entry, char why[PMP_WHY_SIZE])
{
	bool exact = true;
	const char *mark;

	if (PMP_RESERVE(&reader->stack, &reader->stack_capacity, count + 1))
		return PMP_ENOMEM;
	for (size_t i = 0; i < count; i++) {
		struct location *location = find_location(reader, ids[i]);
		int code = 0;

		if (!location)
			return PMP_EFORMAT;
		if (location->found[exact] == PMP_LOCATION_NONE)
			code = read_location(reader, location, exact);
		if (code)
			return code;
		reader->stack[i] = location->found[exact];
		exact = location->signal;
	}
	mark = count ? mark_of(reader, reader->stack[count - 1]) : NULL;
	entry->locations = reader->stack;
	entry->location_count = count;
	if (mark && read_mark(mark, entry, why))
		entry->location_count--;
	return 0;
}

/* What the program is called when samples do not tell. */
static const char *program_name(const struct reader *reader)
{
	const char *path = "", *slash;

	if (reader->mapping_count)
		path = text(reader, reader->mapping_texts[0].name);
	slash = strrchr(path, '/');
	if (slash && slash[1])
		return slash + 1;
	return *path ? path : "[unknown]";
}

static int read_sample(struct reader *reader, const struct field *field)
{
	struct pmp_entry entry = {
		.process = program_name(reader),
		.thread = "",
		.state = '?',
		.syscall = "",
		.wchan = "",
	};
	char why[PMP_WHY_SIZE] = "";
	Pmp__Pprof__Sample *sample;
	uint64_t *ids = NULL;
	size_t count;
	int code = decode(reader, &pmp__pprof__sample__descriptor, field->data,
			  field->length, &sample);

	if (code)
		return code;
	if (sample->n_value != reader->type_count)
		return PMP_EFORMAT;
	if (reader->sample_count++ >= SAMPLES_MAX || sample->n_location > FRAMES_MAX)
		return PMP_ELIMIT;
	read_values(&reader->columns, sample, &entry);
	code = read_labels(reader, sample, &entry);
	if (code || !entry.count)
		return code;
	count = sample->n_location;
	ids = calloc(count + 1, sizeof(*ids));
	if (!ids)
		return PMP_ENOMEM;
	if (count)
		memcpy(ids, sample->location, count * sizeof(*ids));
	code = read_stack(reader, ids, count, &entry, why);
	entry.why = why;
	if (!code)
		code = pmp_profile_count(reader->profile, &entry);
	reader->counted += entry.count;
	free(ids);
	return code;
}

/* ---- the whole --------------------------------------------------------------------------- */

static int each_field(struct reader *reader, const struct pmp_buf *plain,
		      int (*take)(struct reader *, const struct field *))
{
	struct walk walk = { (const uint8_t *)plain->data,
			     (const uint8_t *)plain->data + plain->length };
	struct field field;
	int code = 0;

	while (!code && walk.at < walk.end)
		code = take_field(&walk, &field) ? take(reader, &field) : PMP_EFORMAT;
	return code;
}

static int take_sample(struct reader *reader, const struct field *field)
{
	if (field->number != SAMPLE || field->type != BYTES)
		return 0;
	return read_sample(reader, field);
}

static int read_tables(struct reader *reader, const struct pmp_buf *plain)
{
	int code = each_field(reader, plain, add_field);

	if (code)
		return code;
	if (!check_texts(reader) || !reader->type_count)
		return PMP_EFORMAT;
	find_period(reader);
	for (size_t i = 0; i < reader->comment_count; i++)
		take_comment(reader, text(reader, (uint32_t)reader->comments[i]));
	return find_columns(reader);
}

static int read_plain(struct reader *reader, const struct pmp_buf *plain)
{
	struct pmp_profile_info *info = &reader->info;
	int code;

	if (plain->length == 0)
		return PMP_EFORMAT;
	code = read_tables(reader, plain);
	if (!code)
		code = each_field(reader, plain, take_sample);
	if (code)
		return code;
	/* Of other values the sum; what is said of stacks would be no part of that. */
	if (!info->stacks || *reader->about.measure.type) {
		info->stacks = positive(reader->counted);
		info->truncated = info->not_stopped = 0;
		info->evicted = info->evicted_distinct = 0;
	}
	reader->about.guessed = !info->samples;
	if (!info->samples && reader->about.period)
		info->samples = reader->about.duration / reader->about.period;
	if (!info->samples)
		info->samples = 1;
	return pmp_profile_join(reader->profile, info, &reader->about);
}

static bool open_reader(struct reader *reader)
{
	reader->about.command = reader->about.host = "";
	reader->about.measure = (struct pmp_measure){ "", "" };
	reader->allocator = (ProtobufCAllocator){ arena_alloc, arena_free, reader };
	reader->arena = malloc(ARENA_SIZE);
	reader->function_ids = pmp_intern_new();
	reader->location_ids = pmp_intern_new();
	reader->mapping_ids = pmp_intern_new();
	return reader->arena && reader->function_ids && reader->location_ids &&
	       reader->mapping_ids;
}

static void close_reader(struct reader *reader)
{
	free(reader->arena);
	pmp_intern_free(reader->function_ids);
	pmp_intern_free(reader->location_ids);
	pmp_intern_free(reader->mapping_ids);
	pmp_buf_free(&reader->texts);
	free(reader->text_starts);
	free(reader->functions);
	free(reader->locations);
	free(reader->mappings);
	free(reader->mapping_texts);
	free(reader->mapping_numbers);
	free(reader->comments);
	free(reader->stack);
}

static int unpack(struct pmp_buf *file, struct pmp_buf *plain)
{
	size_t limit = PLAIN_MAX;
	int code;

	if (!pmp_gunzip_is(file->data, file->length)) {
		*plain = *file;
		*file = (struct pmp_buf){ 0 };
		return 0;
	}
	if (file->length < PLAIN_MAX / PLAIN_RATIO)
		limit = file->length * PLAIN_RATIO;
	if (limit < PLAIN_FREE)
		limit = PLAIN_FREE;
	code = pmp_gunzip(file->data, file->length, limit, plain);
	pmp_buf_free(file);
	return code;
}

static int complain(struct pmp_error *err, const char *name, int code,
		    const struct pmp_error *refusal)
{
	char shown[256];

	pmp_escape(name, shown, sizeof(shown));
	switch (code) {
	case PMP_ENOMEM:
		return pmp_error_nomem(err, "reading a saved profile");
	case PMP_ELIMIT:
		return pmp_error_set(err, code, "cannot read %s: it is too large", shown);
	case PMP_EFORMAT:
		pmp_error_set(err, code,
			      "cannot read %s: it is damaged, or no profile in the format "
			      "pprof", shown);
		return code;
	case PMP_EINVAL:
		pmp_error_set(err, code, "cannot read %s: %s", shown, refusal->message);
		pmp_error_hint(err, "%s", refusal->hint);
		return code;
	default:
		return code;
	}
}

int pmp_profile_read(struct pmp_profile *profile, int fd, const char *name,
		     struct pmp_error *err)
{
	struct reader reader = { .profile = profile };
	struct pmp_buf file = { 0 }, plain = { 0 };
	char shown[256];
	int code = pmp_file_drain(fd, FILE_MAX, &file);

	if (code && code != -EFBIG && code != -ENOMEM)
		return pmp_error_sys(err, PMP_EIO, -code, "cannot read %s",
				     pmp_escape(name, shown, sizeof(shown)));
	if (code)
		code = code == -EFBIG ? PMP_ELIMIT : PMP_ENOMEM;
	if (!code)
		code = unpack(&file, &plain);
	if (!code)
		code = open_reader(&reader) ? read_plain(&reader, &plain) : PMP_ENOMEM;
	pmp_buf_free(&file);
	pmp_buf_free(&plain);
	close_reader(&reader);
	return code ? complain(err, name, code, &reader.refusal) : 0;
}
