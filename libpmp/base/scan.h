/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads numbers and words from untrusted text. A scanner moves over [at, end);
 * each function consumes what it matches, or returns false without moving.
 */
#ifndef PMP_BASE_SCAN_H
#define PMP_BASE_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pmp_scan {
	const char *at, *end;
};

struct pmp_scan pmp_scan_text(const char *text, size_t length);
bool pmp_scan_u64(struct pmp_scan *scan,
		  uint64_t *value); /* decimal, no sign, no overflow */
bool pmp_scan_i64(struct pmp_scan *scan, int64_t *value);  /* decimal, optional - */
bool pmp_scan_hex(struct pmp_scan *scan, uint64_t *value); /* with or without 0x */
bool pmp_scan_char(struct pmp_scan *scan, char c);	   /* exactly this character */
void pmp_scan_blanks(struct pmp_scan *scan);		   /* blanks and tabs, if any */
/* A run of characters other than blank, tab, newline; *word is not terminated. */
bool pmp_scan_word(struct pmp_scan *scan, const char **word, size_t *length);
/* The rest of the line; also skips the newline. False at the end of the text. */
bool pmp_scan_line(struct pmp_scan *scan, const char **line, size_t *length);
bool pmp_scan_done(const struct pmp_scan *scan);
/* True if the whole text is a decimal number within [low, high]. */
bool pmp_scan_whole(const char *text, uint64_t low, uint64_t high, uint64_t *value);

#endif
