/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A growing byte buffer. The first failure is sticky: later calls do nothing,
 * and a writer needs to check pmp_buf_failed() only once, at the end. If data
 * is not NULL, it has a NUL after its length bytes.
 */
#ifndef PMP_BASE_BUF_H
#define PMP_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdarg.h>

struct pmp_buf {
	char *data;
	size_t length, capacity;
	bool failed;
};

void pmp_buf_free(struct pmp_buf *buf);	 /* leaves an empty buffer */
void pmp_buf_clear(struct pmp_buf *buf); /* keeps the memory, and a failure */
void pmp_buf_add(struct pmp_buf *buf, const void *data, size_t length);
/* Add length bytes for the caller to fill in. Returns their address, or NULL. */
char *pmp_buf_extend(struct pmp_buf *buf, size_t length);
/* Truncate to a length. */
void pmp_buf_cut(struct pmp_buf *buf, size_t length);
void pmp_buf_puts(struct pmp_buf *buf, const char *text);
void pmp_buf_putc(struct pmp_buf *buf, char c);
void pmp_buf_printf(struct pmp_buf *buf, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void pmp_buf_vprintf(struct pmp_buf *buf, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));
/* Mark as failed, because something to be added could not be made. */
void pmp_buf_fail(struct pmp_buf *buf);
bool pmp_buf_failed(const struct pmp_buf *buf);

#endif
