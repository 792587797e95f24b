/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes text from a target safe for people to read: thread names, paths and
 * symbols may contain escape sequences that rewrite a terminal, newlines that
 * forge a line, C1 controls (as one byte or as UTF-8), characters that are
 * invisible or reverse the direction of what follows, and bytes that are not
 * text at all.
 */
#include "base/escape.h"

#include <stdint.h>
#include <string.h>

#include "libpmp.h"

#define HEX_SIZE 4 /* \xNN */

/* Length of the UTF-8 sequence that begins with this byte, and the smallest
 * code point that needs that length. */
static size_t sequence_length(unsigned char lead, uint32_t *smallest)
{
	if (lead < 0x80) {
		*smallest = 0;
		return 1;
	}
	if ((lead & 0xe0) == 0xc0) {
		*smallest = 0x80;
		return 2;
	}
	if ((lead & 0xf0) == 0xe0) {
		*smallest = 0x800;
		return 3;
	}
	if ((lead & 0xf8) == 0xf0) {
		*smallest = 0x10000;
		return 4;
	}
	return 0;
}

/* Controls, characters that are invisible or affect their surroundings, and noncharacters
 * (Unicode 15, Default_Ignorable_Code_Point and 23.7): XML does not allow U+FFFE and
 * U+FFFF. U+FE00 to U+FE0F, which emoji use, are left alone. */
static bool is_hidden(uint32_t code)
{
	static const struct {
		uint32_t first, last;
	} hidden[] = {
		{ 0x0000, 0x001f },   { 0x007f, 0x009f },
		{ 0x00ad, 0x00ad },   /* SOFT HYPHEN */
		{ 0x034f, 0x034f },   /* COMBINING GRAPHEME JOINER */
		{ 0x061c, 0x061c },   /* ARABIC LETTER MARK */
		{ 0x115f, 0x1160 },   /* Hangul fillers */
		{ 0x17b4, 0x17b5 },   /* unwritten Khmer vowels */
		{ 0x180e, 0x180e },   /* MONGOLIAN VOWEL SEPARATOR */
		{ 0x200b, 0x200f },   /* zero width; direction marks */
		{ 0x2028, 0x202e },   /* line separators; embedding and override */
		{ 0x2060, 0x206f },   /* invisible operators; isolates */
		{ 0x3164, 0x3164 },   /* HANGUL FILLER */
		{ 0xfdd0, 0xfdef },   /* noncharacters */
		{ 0xfeff, 0xfeff },   /* byte order mark */
		{ 0xffa0, 0xffa0 },   /* HALFWIDTH HANGUL FILLER */
		{ 0xfff0, 0xfffb },   /* unassigned; annotations */
		{ 0x1bca0, 0x1bca3 }, /* shorthand controls */
		{ 0x1d173, 0x1d17a }, /* musical controls */
		{ 0xe0000, 0xe0fff }, /* tags; variation selectors of ideographs */
	};

	/* The last two code points of each plane are noncharacters. */
	if ((code & 0xfffe) == 0xfffe)
		return true;
	for (size_t i = 0; i < sizeof(hidden) / sizeof(*hidden); i++)
		if (code <= hidden[i].last)
			return code >= hidden[i].first;
	return false;
}

size_t pmp_escape_printable(const char *text, size_t length)
{
	uint32_t smallest, code;
	unsigned char lead;
	size_t size;

	if (length == 0)
		return 0;
	lead = (unsigned char)text[0];
	size = sequence_length(lead, &smallest);
	if (size == 0 || size > length)
		return 0;
	code = size == 1 ? lead : lead & (0x7fu >> size);
	for (size_t i = 1; i < size; i++) {
		unsigned char next = (unsigned char)text[i];

		if ((next & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (next & 0x3f);
	}
	if (code < smallest || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
		return 0;
	return is_hidden(code) ? 0 : size;
}

static void hex(char *out, char c)
{
	static const char digits[] = "0123456789abcdef";
	unsigned char byte = (unsigned char)c;

	out[0] = '\\';
	out[1] = 'x';
	out[2] = digits[byte >> 4];
	out[3] = digits[byte & 15];
}

char *pmp_escape(const char *text, char *buffer, size_t size)
{
	size_t left = strlen(text), used = 0;

	if (size == 0)
		return buffer;
	while (left) {
		size_t whole = pmp_escape_printable(text, left);
		size_t need = whole ? whole : HEX_SIZE, step = whole ? whole : 1;

		if (need > size - 1 - used)
			break;
		if (whole)
			memcpy(buffer + used, text, whole);
		else
			hex(buffer + used, *text);
		used += need;
		text += step;
		left -= step;
	}
	buffer[used] = '\0';
	return buffer;
}

void pmp_escape_buf(struct pmp_buf *buf, const char *text, size_t length)
{
	const char *end = text + length, *plain = text;
	char escaped[HEX_SIZE];

	while (text < end) {
		size_t whole = pmp_escape_printable(text, (size_t)(end - text));

		if (whole) {
			text += whole;
			continue;
		}
		pmp_buf_add(buf, plain, (size_t)(text - plain));
		hex(escaped, *text++);
		pmp_buf_add(buf, escaped, sizeof(escaped));
		plain = text;
	}
	pmp_buf_add(buf, plain, (size_t)(end - plain));
}

void pmp_escape_map(struct pmp_buf *buf, const char *text, size_t length,
		    const char *from, const char *to)
{
	const char *end = text + length;

	while (text < end) {
		size_t whole = pmp_escape_printable(text, (size_t)(end - text));
		const char *found = whole == 1 ? strchr(from, *text) : NULL;

		if (found)
			pmp_buf_putc(buf, to[found - from]);
		else if (whole)
			pmp_buf_add(buf, text, whole);
		else
			pmp_buf_putc(buf, '?');
		text += whole ? whole : 1;
	}
}

void pmp_escape_xml(struct pmp_buf *buf, const char *text, size_t length)
{
	static const char special[] = "<>&\"'";
	static const char *const references[] = { "&lt;", "&gt;", "&amp;", "&quot;",
						  "&#39;" };

	while (length) {
		size_t n = pmp_escape_printable(text, length);
		const char *found = n == 1 ? strchr(special, *text) : NULL;

		if (found)
			pmp_buf_puts(buf, references[found - special]);
		else if (n)
			pmp_buf_add(buf, text, n);
		else
			pmp_buf_putc(buf, '?');
		n = n ? n : 1;
		text += n;
		length -= n;
	}
}

/* coded: ASCII characters that are written as \u escapes. */
static void escape_json(struct pmp_buf *buf, const char *text, size_t length,
			const char *coded)
{
	while (length) {
		size_t n = pmp_escape_printable(text, length);

		if (!n && (unsigned char)*text >= 0x80)
			pmp_buf_puts(buf, "\\ufffd");
		else if (!n || strchr(coded, *text))
			pmp_buf_printf(buf, "\\u%04x", (unsigned char)*text);
		else if (*text == '"' || *text == '\\')
			pmp_buf_printf(buf, "\\%c", *text);
		else
			pmp_buf_add(buf, text, n);
		n = n ? n : 1;
		text += n;
		length -= n;
	}
}

void pmp_escape_json(struct pmp_buf *buf, const char *text, size_t length)
{
	escape_json(buf, text, length, "");
}

void pmp_escape_script(struct pmp_buf *buf, const char *text, size_t length)
{
	escape_json(buf, text, length, "<>&");
}
