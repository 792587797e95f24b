/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading a protobuf message field by field. Its contents are untrusted. */
#ifndef PMP_TALLY_FIELDS_H
#define PMP_TALLY_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How a field's value is encoded. */
enum {
	PMP_WIRE_VARINT,
	PMP_WIRE_FIXED64,
	PMP_WIRE_BYTES,
	PMP_WIRE_FIXED32 = 5,
};

struct pmp_field {
	uint64_t number, value;
	const uint8_t *data; /* of PMP_WIRE_BYTES */
	size_t length;
	unsigned type;
};

struct pmp_field_walk {
	const uint8_t *at, *end;
};

/* Both advance the walk. False: the message is damaged or truncated. */
bool pmp_take_varint(struct pmp_field_walk *walk, uint64_t *value);
bool pmp_take_field(struct pmp_field_walk *walk, struct pmp_field *field);

#endif
