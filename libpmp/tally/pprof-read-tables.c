/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Collecting the tables of a saved profile; locations are decoded later. */
#include "tally/pprof-read.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/pprof.pb-c.h"

const char *pmp_pprof_text(const struct pmp_pprof_reader *reader, uint32_t number)
{
	return reader->texts.data + reader->text_starts[number];
}

bool pmp_pprof_is_text(const struct pmp_pprof_reader *reader, int64_t number)
{
	return number >= 0 && (uint64_t)number < reader->text_count;
}

uint32_t pmp_pprof_text_number(int64_t number)
{
	return number >= 0 && number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
}

int pmp_pprof_too_many(struct pmp_pprof_reader *reader, size_t most, const char *what)
{
	return pmp_error_set(reader->refusal, PMP_ELIMIT, "it has more than %zu %s", most,
			     what);
}

static int add_text(struct pmp_pprof_reader *reader, const struct pmp_field *field)
{
	if (reader->text_count >= PMP_PPROF_TABLE_MAX)
		return pmp_pprof_too_many(reader, PMP_PPROF_TABLE_MAX, "texts");
	if (PMP_RESERVE(&reader->text_starts, &reader->text_capacity,
			reader->text_count + 1))
		return PMP_ENOMEM;
	reader->text_starts[reader->text_count++] = (uint32_t)reader->texts.length;
	pmp_buf_add(&reader->texts, field->data, field->length);
	pmp_buf_add(&reader->texts, "", 1);
	return pmp_buf_failed(&reader->texts) ? PMP_ENOMEM : 0;
}

/* Add an id, which gets index count. 0; PMP_EFORMAT: it is 0 or a duplicate; PMP_ENOMEM. */
static int add_id(struct pmp_intern *ids, uint64_t id, size_t count)
{
	uint32_t number = pmp_intern(ids, &id, sizeof(id));

	if (number == PMP_INTERN_NONE)
		return PMP_ENOMEM;
	return id == 0 || number != count ? PMP_EFORMAT : 0;
}

static int add_function(struct pmp_pprof_reader *reader, const struct pmp_field *field)
{
	Pmp__Pprof__Function *function;
	int code = pmp_arena_decode(&reader->arena, &pmp__pprof__function__descriptor,
				    field->data, field->length, &function);

	if (code)
		return code;
	if (reader->function_count >= PMP_PPROF_TABLE_MAX)
		return pmp_pprof_too_many(reader, PMP_PPROF_TABLE_MAX, "functions");
	if (PMP_RESERVE(&reader->functions, &reader->function_capacity,
			reader->function_count + 1))
		return PMP_ENOMEM;
	code = add_id(reader->function_ids, function->id, reader->function_count);
	if (code)
		return code;
	reader->functions[reader->function_count++] = (struct pmp_pprof_function){
		.name = pmp_pprof_text_number(function->name ? function->name
							     : function->system_name),
		.linkage = pmp_pprof_text_number(function->system_name),
		.file = pmp_pprof_text_number(function->file),
	};
	return 0;
}

static int add_mapping(struct pmp_pprof_reader *reader, const struct pmp_field *field)
{
	Pmp__Pprof__Mapping *mapping;
	size_t i = reader->mapping_count;
	int code = pmp_arena_decode(&reader->arena, &pmp__pprof__mapping__descriptor,
				    field->data, field->length, &mapping);

	if (code)
		return code;
	if (i >= PMP_PPROF_MAPPINGS_MAX)
		return pmp_pprof_too_many(reader, PMP_PPROF_MAPPINGS_MAX, "mappings");
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
	reader->mapping_texts[i] = (struct pmp_pprof_type){
		.name = pmp_pprof_text_number(mapping->path),
		.unit = pmp_pprof_text_number(mapping->build_id),
	};
	reader->mapping_numbers[i] = UINT32_MAX;
	reader->mapping_count++;
	return 0;
}

/* Only the id is needed now; it is usually the first field. */
static int add_location(struct pmp_pprof_reader *reader, const struct pmp_field *field)
{
	struct pmp_field_walk walk = { field->data, field->data + field->length };
	struct pmp_field part;
	uint64_t id = 0;
	int code;

	while (walk.at < walk.end) {
		if (!pmp_take_field(&walk, &part))
			return PMP_EFORMAT;
		if (part.number == PMP_PPROF_LOCATION_ID && part.type == PMP_WIRE_VARINT)
			id = part.value;
	}
	if (reader->location_count >= PMP_PPROF_TABLE_MAX)
		return pmp_pprof_too_many(reader, PMP_PPROF_TABLE_MAX, "locations");
	if (PMP_RESERVE(&reader->locations, &reader->location_capacity,
			reader->location_count + 1))
		return PMP_ENOMEM;
	code = add_id(reader->location_ids, id, reader->location_count);
	if (code)
		return code;
	reader->locations[reader->location_count++] = (struct pmp_pprof_location){
		.data = field->data,
		.length = field->length,
		.found = { PMP_LOCATION_NONE, PMP_LOCATION_NONE },
	};
	return 0;
}

static int add_type(struct pmp_pprof_reader *reader, const struct pmp_field *field)
{
	Pmp__Pprof__ValueType *type;
	int code = pmp_arena_decode(&reader->arena, &pmp__pprof__value_type__descriptor,
				    field->data, field->length, &type);

	if (code)
		return code;
	if (reader->type_count >= PMP_PPROF_VALUES_MAX)
		return pmp_pprof_too_many(reader, PMP_PPROF_VALUES_MAX, "sample types");
	reader->types[reader->type_count++] = (struct pmp_pprof_type){
		.name = pmp_pprof_text_number(type->type),
		.unit = pmp_pprof_text_number(type->unit),
	};
	return 0;
}

static int add_period_type(struct pmp_pprof_reader *reader, const struct pmp_field *field)
{
	Pmp__Pprof__ValueType *type;
	int code = pmp_arena_decode(&reader->arena, &pmp__pprof__value_type__descriptor,
				    field->data, field->length, &type);

	if (!code)
		reader->period_unit = pmp_pprof_text_number(type->unit);
	return code;
}

static int add_comment(struct pmp_pprof_reader *reader, uint64_t number)
{
	if (reader->comment_count >= PMP_PPROF_TABLE_MAX)
		return pmp_pprof_too_many(reader, PMP_PPROF_TABLE_MAX, "comments");
	if (PMP_RESERVE(&reader->comments, &reader->comment_capacity,
			reader->comment_count + 1))
		return PMP_ENOMEM;
	reader->comments[reader->comment_count++] = number;
	return 0;
}

/* A single number, or several ones packed. */
static int add_comments(struct pmp_pprof_reader *reader, const struct pmp_field *field)
{
	struct pmp_field_walk walk;
	int code = 0;

	if (field->type == PMP_WIRE_VARINT)
		return add_comment(reader, field->value);
	walk = (struct pmp_field_walk){ field->data, field->data + field->length };
	while (!code && walk.at < walk.end) {
		uint64_t number;

		code = pmp_take_varint(&walk, &number) ? add_comment(reader, number)
						       : PMP_EFORMAT;
	}
	return code;
}

static int add_number(struct pmp_pprof_reader *reader, const struct pmp_field *field)
{
	switch (field->number) {
	case PMP_PPROF_TIME:
		reader->metadata.realtime = pmp_pprof_positive(field->value);
		break;
	case PMP_PPROF_DURATION:
		reader->metadata.duration = pmp_pprof_positive(field->value);
		break;
	case PMP_PPROF_PERIOD: reader->period = pmp_pprof_positive(field->value); break;
	case PMP_PPROF_DEFAULT_TYPE: reader->default_type = field->value; break;
	default: break;
	}
	return 0;
}

int pmp_pprof_add_field(struct pmp_pprof_reader *reader, const struct pmp_field *field)
{
	if (field->number == PMP_PPROF_COMMENT &&
	    (field->type == PMP_WIRE_VARINT || field->type == PMP_WIRE_BYTES))
		return add_comments(reader, field);
	if (field->type == PMP_WIRE_VARINT)
		return add_number(reader, field);
	if (field->type != PMP_WIRE_BYTES)
		return 0;
	switch (field->number) {
	case PMP_PPROF_SAMPLE_TYPE: return add_type(reader, field);
	case PMP_PPROF_PERIOD_TYPE: return add_period_type(reader, field);
	case PMP_PPROF_MAPPING: return add_mapping(reader, field);
	case PMP_PPROF_LOCATION: return add_location(reader, field);
	case PMP_PPROF_FUNCTION: return add_function(reader, field);
	case PMP_PPROF_TEXT: return add_text(reader, field);
	default: return 0;
	}
}

bool pmp_pprof_check_texts(const struct pmp_pprof_reader *reader)
{
	for (size_t i = 0; i < reader->function_count; i++)
		if (!pmp_pprof_is_text(reader, reader->functions[i].name) ||
		    !pmp_pprof_is_text(reader, reader->functions[i].linkage) ||
		    !pmp_pprof_is_text(reader, reader->functions[i].file))
			return false;
	for (size_t i = 0; i < reader->mapping_count; i++)
		if (!pmp_pprof_is_text(reader, reader->mapping_texts[i].name) ||
		    !pmp_pprof_is_text(reader, reader->mapping_texts[i].unit))
			return false;
	for (size_t i = 0; i < reader->type_count; i++)
		if (!pmp_pprof_is_text(reader, reader->types[i].name) ||
		    !pmp_pprof_is_text(reader, reader->types[i].unit))
			return false;
	for (size_t i = 0; i < reader->comment_count; i++)
		if (reader->comments[i] >= reader->text_count)
			return false;
	return reader->text_count > 0 && pmp_pprof_is_text(reader, reader->period_unit);
}
