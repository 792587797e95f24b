/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/escape: names that would take over a terminal, and names that are no text. */
#include "base/escape.h"
#include "lib/tap.h"
#include "libpmp.h"

static const struct {
	const char *text, *escaped, *mapped;
} names[] = {
	{ "mariadbd", "mariadbd", "mariadbd" },
	{ "", "", "" },
	{ "\x1b]0;pwned\x07x", "\\x1b]0;pwned\\x07x", "?]0:pwned?x" },
	{ "a\nb\tc\r", "a\\x0ab\\x09c\\x0d", "a?b?c?" },
	{ "a;b c", "a;b c", "a:b_c" },
	{ "\x7f", "\\x7f", "?" },
	{ "back\\slash", "back\\slash", "back\\slash" },
	{ "gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f" },
	{ "\xe2\x82\xac", "\xe2\x82\xac", "\xe2\x82\xac" },
	{ "\xf0\x9f\x90\xac", "\xf0\x9f\x90\xac", "\xf0\x9f\x90\xac" },
	{ "\xc2\xa0", "\xc2\xa0", "\xc2\xa0" },
	/* C1 as a byte and as UTF-8: CSI */
	{ "\x9b"
	  "2J",
	  "\\x9b2J", "?2J" },
	{ "\xc2\x9b"
	  "2J",
	  "\\xc2\\x9b2J", "??2J" },
	/* cut, overlong, surrogate, too large, lone continuation */
	{ "\xc3", "\\xc3", "?" },
	{ "\xe2\x82", "\\xe2\\x82", "??" },
	{ "\xe2\x82z", "\\xe2\\x82z", "??z" },
	{ "\xc0\xaf", "\\xc0\\xaf", "??" },
	{ "\xc1\xbf", "\\xc1\\xbf", "??" },
	{ "\xe0\x80\xaf", "\\xe0\\x80\\xaf", "???" },
	{ "\xf0\x80\x80\xaf", "\\xf0\\x80\\x80\\xaf", "????" },
	{ "\xed\xa0\x80", "\\xed\\xa0\\x80", "???" },
	{ "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80", "????" },
	{ "\xf4\x8f\xbf\xbd", "\xf4\x8f\xbf\xbd", "\xf4\x8f\xbf\xbd" },
	/* U+10FFFF, U+FFFE: no characters; U+E0041: a tag */
	{ "\xf4\x8f\xbf\xbf", "\\xf4\\x8f\\xbf\\xbf", "????" },
	{ "\xef\xbf\xbe", "\\xef\\xbf\\xbe", "???" },
	{ "\xf3\xa0\x81\x81", "\\xf3\\xa0\\x81\\x81", "????" },
	{ "\xf8\x88\x80\x80\x80", "\\xf8\\x88\\x80\\x80\\x80", "?????" },
	{ "\x80\xff", "\\x80\\xff", "??" },
	/* U+061C, U+202E, U+2066, U+2028, U+FEFF: direction, lines, nothing to be seen */
	{ "a\xd8\x9c"
	  "b",
	  "a\\xd8\\x9cb", "a??b" },
	{ "a\xe2\x80\xae"
	  "b",
	  "a\\xe2\\x80\\xaeb", "a???b" },
	{ "a\xe2\x81\xa6"
	  "b",
	  "a\\xe2\\x81\\xa6b", "a???b" },
	{ "a\xe2\x80\xa8"
	  "b",
	  "a\\xe2\\x80\\xa8b", "a???b" },
	{ "\xef\xbb\xbf"
	  "b",
	  "\\xef\\xbb\\xbfb", "???b" },
};

static void test_names(void)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *text = names[i].text;
		struct pmp_buf buf = { 0 };
		char escaped[128];

		is_str(pmp_escape(text, escaped, sizeof(escaped)), names[i].escaped,
		       "name %zu", i);
		pmp_escape_buf(&buf, text, strlen(text));
		is_str(buf.data, names[i].escaped, "name %zu in a buffer", i);
		pmp_buf_clear(&buf);
		pmp_escape_map(&buf, text, strlen(text), "; ", ":_");
		is_str(buf.data, names[i].mapped, "name %zu mapped", i);
		pmp_buf_free(&buf);
	}
}

/* As UTF-8, a character from U+0080 on. Returns its bytes. */
static size_t encode(unsigned code, char text[4])
{
	const size_t size = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
	static const unsigned char leads[] = { 0, 0, 0xc0, 0xe0, 0xf0 };

	for (size_t i = size - 1; i > 0; i--, code >>= 6)
		text[i] = (char)(0x80 | (code & 0x3f));
	text[0] = (char)(leads[size] | code);
	return size;
}

/* Every character that must not reach a reader, and no other one beside them. */
static void test_hidden(void)
{
	static const struct {
		unsigned first, last;
	} hidden[] = {
		{ 0x0080, 0x009f },   { 0x00ad, 0x00ad },   { 0x034f, 0x034f },
		{ 0x061c, 0x061c },   { 0x115f, 0x1160 },   { 0x17b4, 0x17b5 },
		{ 0x180e, 0x180e },   { 0x200b, 0x200f },   { 0x2028, 0x202e },
		{ 0x2060, 0x206f },   { 0x3164, 0x3164 },   { 0xfdd0, 0xfdef },
		{ 0xfeff, 0xfeff },   { 0xffa0, 0xffa0 },   { 0xfff0, 0xfffb },
		{ 0x1bca0, 0x1bca3 }, { 0x1d173, 0x1d17a }, { 0xe0000, 0xe0fff },
	};
	size_t let_through = 0, held_back = 0;

	for (unsigned code = 0x80; code < 0x110000; code++) {
		char text[4];
		const size_t size = encode(code, text);
		bool is_hidden = code % 0x10000 >= 0xfffe;

		if (code >= 0xd800 && code <= 0xdfff)
			continue;
		for (size_t i = 0; i < sizeof(hidden) / sizeof(*hidden); i++)
			is_hidden |= code >= hidden[i].first && code <= hidden[i].last;
		let_through += is_hidden && pmp_escape_printable(text, size);
		held_back += !is_hidden && pmp_escape_printable(text, size) != size;
	}
	is_int(let_through, 0, "characters that hide or turn text around are escaped");
	is_int(held_back, 0, "all others are left as they are");
}

/* Every size gives the longest beginning of whole pieces. */
static void test_sizes(void)
{
	const char text[] = "a\x1b\xe2\x82\xac"
			    "b";
	static const char *const want[] = {
		NULL,
		"",
		"a",
		"a",
		"a",
		"a",
		"a\\x1b",
		"a\\x1b",
		"a\\x1b",
		"a\\x1b\xe2\x82\xac",
		"a\\x1b\xe2\x82\xac"
		"b",
	};

	for (size_t size = 0; size < sizeof(want) / sizeof(want[0]); size++) {
		char *buffer = malloc(size + 1);

		buffer[size] = 'G';
		ok(pmp_escape(text, buffer, size) == buffer, "buffer returned");
		ok(buffer[size] == 'G', "not a byte behind size %zu", size);
		if (want[size])
			is_str(buffer, want[size], "size %zu", size);
		free(buffer);
	}
}

/* Whatever comes in, what goes out is printable, in both forms. */
static void test_random(void)
{
	uint64_t state = 1;
	size_t wrong = 0;

	for (int i = 0; i < 20000; i++) {
		struct pmp_buf buf = { 0 };
		char text[16], escaped[64];
		size_t length;

		for (size_t j = 0; j < sizeof(text); j++) {
			state = state * 6364136223846793005u + 1442695040888963407u;
			text[j] = (char)(state >> 33);
		}
		text[15] = '\0';
		pmp_escape(text, escaped, sizeof(escaped));
		pmp_escape_buf(&buf, text, strlen(text));
		wrong += strcmp(escaped, buf.data) != 0;
		for (const char *at = escaped; *at; at += length) {
			length = pmp_escape_printable(at, strlen(at));
			if (!length) {
				wrong++;
				break;
			}
		}
		pmp_buf_free(&buf);
	}
	is_int(wrong, 0, "random bytes become printable");
}

int main(void)
{
	struct pmp_buf buf = { 0 };

	test_names();
	test_hidden();
	test_sizes();
	test_random();
	pmp_escape_buf(&buf, "a\0b", 3);
	is_str(buf.data, "a\\x00b", "a NUL inside");
	pmp_buf_clear(&buf);
	pmp_escape_map(&buf, "a\0b", 3, ";", ":");
	is_str(buf.data, "a?b", "a NUL inside, mapped");
	pmp_buf_free(&buf);
	return done_testing();
}
