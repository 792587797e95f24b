/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Escaping of text from a target (thread names, paths, symbols) for output
 * formats. pmp_escape() for terminals is public: libpmp.h.
 */
#ifndef PMP_BASE_ESCAPE_H
#define PMP_BASE_ESCAPE_H

#include "base/buf.h"

#include <stddef.h>

/* As pmp_escape(), appended to a buffer: for lines of text that people read. */
void pmp_escape_buf(struct pmp_buf *buf, const char *text, size_t length);
/* For folded and the like: control characters and invalid UTF-8 become '?',
 * each character in from is replaced by the one in to at the same position (as
 * in tr). */
void pmp_escape_map(struct pmp_buf *buf, const char *text, size_t length,
		    const char *from, const char *to);
/* For XML and HTML, in text and attributes: the five special characters become
 * references, control characters and invalid UTF-8 become '?'. */
void pmp_escape_xml(struct pmp_buf *buf, const char *text, size_t length);
/* For JSON, without the enclosing quotes: invalid UTF-8 becomes U+FFFD. */
void pmp_escape_json(struct pmp_buf *buf, const char *text, size_t length);
/* The same for JSON within HTML: also escapes '<', '>' and '&', so that no name can end
 * the enclosing element. */
void pmp_escape_script(struct pmp_buf *buf, const char *text, size_t length);
/* Length in bytes of the valid UTF-8 sequence (printable, not C0/C1/DEL) at
 * text; 0: none. */
size_t pmp_escape_printable(const char *text, size_t length);

#endif
