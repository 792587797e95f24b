/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory of a target, from any source: the live process, the copy of a stack, a
 * test's array. Makes unwinding testable without a process.
 */
#ifndef PMP_BASE_READER_H
#define PMP_BASE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pmp_reader {
	/* Read length bytes at address, all or nothing. */
	bool (*read)(void *arg, uint64_t address, void *data, size_t length);
	void *arg;
};

static inline bool pmp_read(const struct pmp_reader *reader, uint64_t address, void *data,
			    size_t length)
{
	return reader->read(reader->arg, address, data, length);
}

#endif
