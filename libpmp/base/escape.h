/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text from a target (thread names, paths, symbols) on its way into a format.
 * pmp_escape() for terminals is public: libpmp.h.
 */
#ifndef PMP_BASE_ESCAPE_H
#define PMP_BASE_ESCAPE_H

#include "base/buf.h"

#include <stddef.h>

/* As pmp_escape(), appended to a buffer: for lines of text that people read. */
void pmp_escape_buf(struct pmp_buf *buf, const char *text, size_t length);
/* For folded and the like: control characters and bytes that are not UTF-8
 * become '?', each character of from is replaced by the one of to at the same
 * place (as tr does). */
void pmp_escape_map(struct pmp_buf *buf, const char *text, size_t length,
		    const char *from, const char *to);
/* For XML and HTML, text and attributes alike: the five special characters become
 * references, control characters and what is not UTF-8 '?'. */
void pmp_escape_xml(struct pmp_buf *buf, const char *text, size_t length);
/* For JSON, without the quotes around it: what is not UTF-8 becomes U+FFFD. */
void pmp_escape_json(struct pmp_buf *buf, const char *text, size_t length);
/* The same for JSON inside of HTML: '<', '>' and '&' are escaped as well, so that no name
 * ends the element that it is in. */
void pmp_escape_script(struct pmp_buf *buf, const char *text, size_t length);
/* Length in bytes of the valid UTF-8 sequence (printable, not C0/C1/DEL) at
 * text, 0 if there is none. */
size_t pmp_escape_printable(const char *text, size_t length);

#endif
