/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading numbers and words from text that may hold anything. A scanner walks
 * over [at, end); each function takes what it wants and moves on, or returns
 * false and leaves the scanner where it was.
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
void pmp_scan_blanks(struct pmp_scan *scan); /* blanks and tabs, maybe none */
/* A run of characters other than blank, tab, newline; *word is not terminated. */
bool pmp_scan_word(struct pmp_scan *scan, const char **word, size_t *length);
/* To the end of the line; moves over the newline. False at the end of the text. */
bool pmp_scan_line(struct pmp_scan *scan, const char **line, size_t *length);
bool pmp_scan_done(const struct pmp_scan *scan);
/* The whole of text is a decimal number within [low, high]. */
bool pmp_scan_whole(const char *text, uint64_t low, uint64_t high, uint64_t *value);

#endif
