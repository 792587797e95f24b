/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The wire format of protobuf: tags, varints, lengths. */
#include "tally/fields.h"

bool pmp_take_varint(struct pmp_field_walk *walk, uint64_t *value)
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

bool pmp_take_field(struct pmp_field_walk *walk, struct pmp_field *field)
{
	uint64_t tag, length;
	size_t fixed;

	if (!pmp_take_varint(walk, &tag))
		return false;
	*field = (struct pmp_field){ .number = tag >> 3, .type = tag & 7 };
	switch (field->type) {
	case PMP_WIRE_VARINT: return pmp_take_varint(walk, &field->value);
	case PMP_WIRE_BYTES:
		if (!pmp_take_varint(walk, &length) ||
		    length > (uint64_t)(walk->end - walk->at))
			return false;
		field->data = walk->at;
		field->length = length;
		walk->at += length;
		return true;
	case PMP_WIRE_FIXED64:
	case PMP_WIRE_FIXED32:
		fixed = field->type == PMP_WIRE_FIXED64 ? 8 : 4;
		if (fixed > (size_t)(walk->end - walk->at))
			return false;
		walk->at += fixed;
		return true;
	default: return false;
	}
}
