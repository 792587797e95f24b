/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Is a text JSON, XML or UTF-8? Independent strict parsers, for
 * tests of written formats. */
#ifndef PMP_T_MARKUP_H
#define PMP_T_MARKUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"

struct markup_text {
	const char *at, *end;
};

/* ---- UTF-8 (RFC 3629) ------------------------------------------------------------- */

/* The length of the next character in bytes, or 0. */
static inline size_t markup_character(const struct markup_text *text)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *at = (const unsigned char *)text->at;
	size_t left = (size_t)(text->end - text->at), length;
	uint32_t value;

	if (!left)
		return 0;
	if (*at < 0x80)
		return 1;
	length = *at >= 0xf0 ? 4 : *at >= 0xe0 ? 3 : *at >= 0xc0 ? 2 : 0;
	if (!length || length > left || *at >= 0xf8)
		return 0;
	value = *at & (0x7fu >> length);
	for (size_t i = 1; i < length; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return 0;
		value = value << 6 | (at[i] & 0x3f);
	}
	if (value < least[length] || value > 0x10ffff ||
	    (value >= 0xd800 && value < 0xe000))
		return 0;
	return length;
}

static inline bool markup_is_utf8(const char *data, size_t size)
{
	struct markup_text text = { data, data + size };

	while (text.at < text.end) {
		size_t length = markup_character(&text);

		if (!length)
			return false;
		text.at += length;
	}
	return true;
}

static inline void markup_add_character(struct pmp_buf *buf, uint32_t value)
{
	if (value < 0x80) {
		pmp_buf_putc(buf, (char)value);
	} else if (value < 0x800) {
		pmp_buf_putc(buf, (char)(0xc0 | value >> 6));
		pmp_buf_putc(buf, (char)(0x80 | (value & 0x3f)));
	} else {
		pmp_buf_putc(buf, (char)(0xe0 | value >> 12));
		pmp_buf_putc(buf, (char)(0x80 | (value >> 6 & 0x3f)));
		pmp_buf_putc(buf, (char)(0x80 | (value & 0x3f)));
	}
}

/* ---- JSON (RFC 8259) --------------------------------------------------------------- */

#define MARKUP_DEPTH 2000

static inline void markup_skip_blanks(struct markup_text *text)
{
	while (text->at < text->end && strchr(" \t\r\n", *text->at) && *text->at)
		text->at++;
}

static inline bool markup_take(struct markup_text *text, char c)
{
	markup_skip_blanks(text);
	if (text->at >= text->end || *text->at != c)
		return false;
	text->at++;
	return true;
}

static inline bool markup_take_escape(struct markup_text *text, struct pmp_buf *out)
{
	static const char plain[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
	const char *found;
	unsigned value;

	if (++text->at >= text->end || !*text->at)
		return false;
	found = strchr(plain, *text->at);
	if (found) {
		pmp_buf_putc(out, meant[found - plain]);
		text->at++;
		return true;
	}
	if (*text->at != 'u' || text->end - text->at < 5)
		return false;
	for (int i = 1; i < 5; i++)
		if (!strchr("0123456789abcdefABCDEF", text->at[i]) || !text->at[i])
			return false;
	if (sscanf(text->at + 1, "%4x", &value) != 1)
		return false;
	markup_add_character(out, value);
	text->at += 5;
	return true;
}

/* Parse up to a quotation mark or the end; the decoded text is appended to out. */
static inline bool markup_take_string(struct markup_text *text, struct pmp_buf *out)
{
	while (text->at < text->end && *text->at != '"') {
		size_t length = markup_character(text);

		if (!length || (unsigned char)*text->at < 0x20)
			return false;
		if (*text->at == '\\') {
			if (!markup_take_escape(text, out))
				return false;
			continue;
		}
		pmp_buf_add(out, text->at, length);
		text->at += length;
	}
	return true;
}

static inline bool markup_take_quoted(struct markup_text *text)
{
	struct pmp_buf ignored = { 0 };
	bool right = markup_take(text, '"') && markup_take_string(text, &ignored) &&
		     text->at < text->end;

	text->at += right;
	pmp_buf_free(&ignored);
	return right;
}

static inline bool markup_take_word(struct markup_text *text)
{
	static const char *const words[] = { "true", "false", "null" };

	for (int i = 0; i < 3; i++) {
		size_t length = strlen(words[i]);

		if ((size_t)(text->end - text->at) >= length &&
		    memcmp(text->at, words[i], length) == 0) {
			text->at += length;
			return true;
		}
	}
	return false;
}

static inline size_t markup_take_digits(struct markup_text *text)
{
	const char *start = text->at;

	while (text->at < text->end && *text->at >= '0' && *text->at <= '9')
		text->at++;
	return (size_t)(text->at - start);
}

static inline bool markup_take_number(struct markup_text *text)
{
	const char *start;

	if (text->at < text->end && *text->at == '-')
		text->at++;
	start = text->at;
	if (!markup_take_digits(text) || (*start == '0' && text->at - start > 1))
		return false;
	if (text->at < text->end && *text->at == '.') {
		text->at++;
		if (!markup_take_digits(text))
			return false;
	}
	if (text->at < text->end && (*text->at == 'e' || *text->at == 'E')) {
		text->at++;
		if (text->at < text->end && (*text->at == '-' || *text->at == '+'))
			text->at++;
		return markup_take_digits(text);
	}
	return true;
}

static inline bool markup_take_value(struct markup_text *text, int depth);

/* Parse the members of an object or an array, after its opening bracket. */
static inline bool markup_take_members(struct markup_text *text, char close, int depth)
{
	if (markup_take(text, close))
		return true;
	do {
		if (close == '}' &&
		    (!markup_take_quoted(text) || !markup_take(text, ':')))
			return false;
		if (!markup_take_value(text, depth + 1))
			return false;
	} while (markup_take(text, ','));
	return markup_take(text, close);
}

static inline bool markup_take_value(struct markup_text *text, int depth)
{
	markup_skip_blanks(text);
	if (depth > MARKUP_DEPTH || text->at >= text->end)
		return false;
	if (*text->at == '"')
		return markup_take_quoted(text);
	if (markup_take(text, '{'))
		return markup_take_members(text, '}', depth);
	if (markup_take(text, '['))
		return markup_take_members(text, ']', depth);
	return markup_take_word(text) || markup_take_number(text);
}

/* One value, or several in a row. */
static inline bool markup_is_json(const char *data, size_t size)
{
	struct markup_text text = { data, data + size };

	do {
		if (!markup_take_value(&text, 0))
			return false;
		markup_skip_blanks(&text);
	} while (text.at < text.end);
	return true;
}

/* Replace the inside of a string by the decoded text. */
static inline bool markup_read_json(struct pmp_buf *buf)
{
	struct markup_text text = { buf->data, buf->data + buf->length };
	struct pmp_buf meant = { 0 };
	bool right = markup_take_string(&text, &meant) && text.at == text.end;

	pmp_buf_free(buf);
	*buf = meant;
	return right;
}

/* ---- XML 1.0 ------------------------------------------------------------------------- */

#define MARKUP_TAGS 4096
#define MARKUP_NAME 64

static inline bool markup_take_reference(struct markup_text *text, struct pmp_buf *out)
{
	static const struct {
		const char *text, *meant;
	} references[] = { { "&amp;", "&" },   { "&lt;", "<" },	 { "&gt;", ">" },
			   { "&quot;", "\"" }, { "&#39;", "'" }, { "&apos;", "'" } };

	for (size_t i = 0; i < sizeof(references) / sizeof(*references); i++) {
		size_t length = strlen(references[i].text);

		if ((size_t)(text->end - text->at) >= length &&
		    memcmp(text->at, references[i].text, length) == 0) {
			pmp_buf_puts(out, references[i].meant);
			text->at += length;
			return true;
		}
	}
	return false;
}

/* Parse characters up to one of stop. */
static inline bool markup_take_xml_text(struct markup_text *text, const char *stop,
					struct pmp_buf *out)
{
	while (text->at < text->end && (!*text->at || !strchr(stop, *text->at))) {
		size_t length = markup_character(text);
		unsigned char c = (unsigned char)*text->at;

		if (!length || c == '<' || c == 0x7f ||
		    (c < 0x20 && c != '\n' && c != '\t' && c != '\r'))
			return false;
		if (c == '&') {
			if (!markup_take_reference(text, out))
				return false;
			continue;
		}
		pmp_buf_add(out, text->at, length);
		text->at += length;
	}
	return true;
}

/* Skip to after a mark; false: it does not occur. */
static inline bool markup_skip_to(struct markup_text *text, const char *mark)
{
	const char *found =
		memmem(text->at, (size_t)(text->end - text->at), mark, strlen(mark));

	if (found)
		text->at = found + strlen(mark);
	return found != NULL;
}

static inline bool markup_starts(const struct markup_text *text, const char *start)
{
	return (size_t)(text->end - text->at) >= strlen(start) &&
	       memcmp(text->at, start, strlen(start)) == 0;
}

static inline size_t markup_name_length(const struct markup_text *text)
{
	size_t length = 0;

	while (text->at + length < text->end && text->at[length] &&
	       strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_:",
		      text->at[length]))
		length++;
	return length;
}

/* Parse what follows the name of a tag; *closed: it ends with "/>". */
static inline bool markup_take_attributes(struct markup_text *text, bool *closed)
{
	struct pmp_buf ignored = { 0 };
	bool right = true;

	for (;;) {
		markup_skip_blanks(text);
		*closed = markup_starts(text, "/>");
		if (*closed || markup_starts(text, ">")) {
			text->at += *closed ? 2 : 1;
			break;
		}
		text->at += markup_name_length(text);
		if (!markup_starts(text, "=\"")) {
			right = false;
			break;
		}
		text->at += 2;
		if (!markup_take_xml_text(text, "\"", &ignored) ||
		    text->at >= text->end) {
			right = false;
			break;
		}
		text->at++;
	}
	pmp_buf_free(&ignored);
	return right;
}

struct markup_tags {
	char names[MARKUP_TAGS][MARKUP_NAME];
	size_t count;
	bool any;
};

static inline bool markup_take_tag(struct markup_text *text, struct markup_tags *tags)
{
	const bool ends = markup_starts(text, "</");
	char name[MARKUP_NAME];
	size_t length;
	bool closed;

	text->at += ends ? 2 : 1;
	length = markup_name_length(text);
	if (!length || length >= sizeof(name))
		return false;
	memcpy(name, text->at, length);
	name[length] = '\0';
	text->at += length;
	if (!markup_take_attributes(text, &closed))
		return false;
	tags->any = true;
	if (ends)
		return tags->count && strcmp(tags->names[--tags->count], name) == 0;
	if (closed)
		return true;
	if (tags->count == MARKUP_TAGS)
		return false;
	memcpy(tags->names[tags->count++], name, length + 1);
	return true;
}

/* Is it well-formed XML? Only the syntax that pmp writes is known. */
static inline bool markup_is_xml(const char *data, size_t size)
{
	static struct markup_tags tags;
	struct markup_text text = { data, data + size };
	struct pmp_buf ignored = { 0 };
	bool right = true;

	tags.count = 0;
	tags.any = false;
	while (right && text.at < text.end) {
		pmp_buf_clear(&ignored);
		if (markup_starts(&text, "<?"))
			right = markup_skip_to(&text, "?>");
		else if (markup_starts(&text, "<![CDATA["))
			right = markup_skip_to(&text, "]]>");
		else if (markup_starts(&text, "<!--"))
			right = markup_skip_to(&text, "-->");
		else if (markup_starts(&text, "<"))
			right = markup_take_tag(&text, &tags);
		else
			right = markup_take_xml_text(&text, "<", &ignored);
	}
	pmp_buf_free(&ignored);
	return right && tags.any && !tags.count;
}

/* Replace a text by the decoded one. */
static inline bool markup_read_xml(struct pmp_buf *buf)
{
	struct markup_text text = { buf->data, buf->data + buf->length };
	struct pmp_buf meant = { 0 };
	bool right = markup_take_xml_text(&text, "", &meant) && text.at == text.end;

	pmp_buf_free(buf);
	*buf = meant;
	return right;
}

#endif
