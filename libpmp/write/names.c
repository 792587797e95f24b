/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How names are written in the text formats. The symbolizer gives demangled names with
 * everything that C++ and Rust put into them; writers want one word without blanks.
 *
 * A name is read once from left to right. Its brackets come in groups:
 *
 *     std::ostream& std::operator<< <std::char_traits<char> >(std::ostream&, char const*)
 *     `----------' cut: before a       `-------- kept -------'`-------- dropped --------'
 *                  blank, and a        (elided: `<>`)
 *                  list follows
 *
 * Parentheses are a parameter list if the name ends after them, or continues with `::` as
 * in `main::{lambda(int)#1}::operator()(int) const` and `f(int)::local::g()`. Others
 * belong to the name: `(anonymous namespace)`, Go's `main.(*T).f`, the declarator in
 * `void (*f<int>(int))(char)`. Names whose brackets do not match are copied as they are.
 *
 * Demangling without parameters (no DMGL_PARAMS) would not replace this: pprof, filters
 * and raw names need the full name as well; saved profiles have full names only; and
 * libiberty keeps the inner lists: `f(int)::local::g`.
 */
#include "write/names.h"

#include <string.h>

#include "base/escape.h"

/* Nested brackets; a name with deeper nesting is not taken apart. */
#define MAX_DEPTH 128

#define UNKNOWN "[unknown]"

/* A name that is read, from at to end, into buf. */
struct reader {
	const char *begin, *at, *end;
	const char *last_list; /* the last parameter list, or NULL */
	struct pmp_buf *buf;
	size_t mark; /* offset in buf where the name begins */
	bool elide;
};

/* ---- characters ------------------------------------------------------------ */

static bool is_word(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
	       (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

static bool begins(const char *at, const char *end, const char *text)
{
	size_t length = strlen(text);

	return (size_t)(end - at) >= length && !memcmp(at, text, length);
}

static void put(struct reader *reader, const char *text, size_t length)
{
	if (reader->elide)
		pmp_escape_map(reader->buf, text, length, "; ,", ":_:");
	else
		pmp_escape_map(reader->buf, text, length, "; ", ":_");
}

static void puts_text(struct reader *reader, const char *text)
{
	put(reader, text, strlen(text));
}

/* Copy the character at reader->at, with all its bytes. */
static void take(struct reader *reader)
{
	size_t length = pmp_escape_printable(reader->at, reader->end - reader->at);

	if (!length)
		length = 1;
	put(reader, reader->at, length);
	reader->at += length;
}

static void take_until(struct reader *reader, const char *end)
{
	put(reader, reader->at, end - reader->at);
	reader->at = end;
}

/* ---- operators -------------------------------------------------------------- */

/* Length of an operator's symbol at `at`; 0: none, as in `operator new`. */
static size_t symbol_length(const char *at, const char *end)
{
	/* Longer ones precede their prefixes. */
	static const char *const symbols[] = {
		"()", "[]", "->*", "->", "<=>", "<<=", "<<", "<=", "<",	 ">>=",
		">>", ">=", ">",   "==", "=",	"!=",  "!",  "&&", "&=", "&",
		"||", "|=", "|",   "++", "+=",	"+",   "--", "-=", "-",	 "*=",
		"*",  "/=", "/",   "%=", "%",	"^=",  "^",  "~",  ",",	 "\"\"",
	};

	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		size_t length = strlen(symbols[i]);

		if (!begins(at, end, symbols[i]))
			continue;
		/* `operator<<int>` is `operator<` with template arguments. */
		if (!strcmp(symbols[i], "<<") && at + length < end && is_word(at[length]))
			return 1;
		return length;
	}
	return 0;
}

/* Length of the keyword if an operator's name begins at `at`; else 0. */
static size_t operator_length(const char *begin, const char *at, const char *end)
{
	static const char keyword[] = "operator";
	const size_t length = sizeof(keyword) - 1;

	if (*at != 'o' || !begins(at, end, keyword) || (at > begin && is_word(at[-1])) ||
	    at + length == end || is_word(at[length]))
		return 0;
	return length;
}

/* ---- groups ----------------------------------------------------------------- */

static char closer_of(char c)
{
	switch (c) {
	case '<': return '>';
	case '(': return ')';
	case '[': return ']';
	case '{': return '}';
	default: return '\0';
	}
}

static bool is_closer(char c)
{
	return c == '>' || c == ')' || c == ']' || c == '}';
}

/*
 * The end of the group that begins at `at`, after its closing bracket; NULL: it is not
 * closed. A '>' that closes nothing is an arrow or an operator; so is a '<' that is still
 * open where an outer group closes: `A<((x)<(y))>`.
 */
static const char *group_end(const char *at, const char *end)
{
	const char *begin = at;
	char closers[MAX_DEPTH];
	size_t depth = 0;

	while (at < end) {
		size_t length = operator_length(begin, at, end);
		char closer = closer_of(*at);

		if (length) {
			at += length;
			at += symbol_length(at, end);
			continue;
		}
		if (closer) {
			if (depth == MAX_DEPTH)
				return NULL;
			closers[depth++] = closer;
		} else if (*at == '>' && (closers[depth - 1] != '>' || at[-1] == '-')) {
			;
		} else if (is_closer(*at)) {
			while (depth && closers[depth - 1] == '>' && *at != '>')
				depth--;
			if (!depth || closers[depth - 1] != *at)
				return NULL;
			if (!--depth)
				return at + 1;
		}
		at++;
	}
	return NULL;
}

/* Skip what may follow a parameter list: `int f() const &`. */
static const char *skip_qualifiers(const char *at, const char *end)
{
	static const char *const qualifiers[] = {
		" const", " volatile", " noexcept", " &&", " &",
	};
	size_t i = 0;

	while (i < sizeof(qualifiers) / sizeof(qualifiers[0])) {
		const char *next = at + strlen(qualifiers[i]);

		if (begins(at, end, qualifiers[i]) && (next == end || !is_word(*next))) {
			at = next;
			i = 0;
		} else {
			i++;
		}
	}
	return at;
}

/*
 * The end of the parameter list that begins at `at`, with its qualifiers; NULL: these
 * parentheses are something else.
 */
static const char *list_end(const struct reader *reader, const char *at)
{
	const char *end = group_end(at, reader->end);

	if (!end || at == reader->begin || at[-1] == '.' ||
	    begins(at, end, "(anonymous "))
		return NULL;
	end = skip_qualifiers(end, reader->end);
	if (end == reader->end || *end == '@' || begins(end, reader->end, "::") ||
	    begins(end, reader->end, " [clone "))
		return end;
	return NULL;
}

/* ---- inside a kept group ----------------------------------------------------------- */

/* False for blanks that only make a name pretty, `> >` and `int, int`; true for those
 * between two words. */
static bool blank_matters(const struct reader *reader, const char *at)
{
	char before = at > reader->begin ? at[-1] : ' ';
	char after = at + 1 < reader->end ? at[1] : ' ';

	if (strchr(" ,<([{", before) || strchr(" ,>)]}(*&", after))
		return false;
	return !(before == '>' && at - reader->begin > 1 && at[-2] == '-') &&
	       !begins(at + 1, reader->end, "->");
}

/* `(anonymous namespace)` as `{anonymous}`, `(anonymous class)` as
 * `{anonymous_class}`. */
static bool take_anonymous(struct reader *reader)
{
	static const char text[] = "(anonymous ";
	const char *close;

	if (!begins(reader->at, reader->end, text))
		return false;
	close = memchr(reader->at, ')', reader->end - reader->at);
	if (!close)
		return false;
	puts_text(reader, "{anonymous");
	if (!begins(reader->at, reader->end, "(anonymous namespace)")) {
		puts_text(reader, "_");
		reader->at += sizeof(text) - 1;
		take_until(reader, close);
	}
	puts_text(reader, "}");
	reader->at = close + 1;
	return true;
}

/* `<>` and `()` for a whole group. */
static bool take_elided(struct reader *reader)
{
	const char *end = NULL;

	if (reader->elide && (*reader->at == '<' || *reader->at == '('))
		end = group_end(reader->at, reader->end);
	if (!end)
		return false;
	put(reader, reader->at, 1);
	put(reader, end - 1, 1);
	reader->at = end;
	return true;
}

/* Copy everything up to end without the blanks that do not matter. */
static void take_compact(struct reader *reader, const char *end)
{
	struct reader inner = *reader;

	inner.end = end;
	while (inner.at < end) {
		size_t length = operator_length(inner.begin, inner.at, end);

		if (length) {
			length += symbol_length(inner.at + length, end);
			take_until(&inner, inner.at + length);
		} else if (*inner.at == ' ' && !blank_matters(&inner, inner.at)) {
			inner.at++;
		} else if (!take_anonymous(&inner) && !take_elided(&inner)) {
			take(&inner);
		}
	}
	reader->at = end;
}

/* Keep the brackets in any case; their contents may be elided. */
static void take_group(struct reader *reader, const char *end)
{
	take(reader);
	take_compact(reader, end - 1);
	take(reader);
}

/* ---- a name ------------------------------------------------------------------ */

/* Drop what was written of this name: it was the return type. */
static void cut(struct reader *reader)
{
	struct pmp_buf *buf = reader->buf;

	if (buf->length > reader->mark) {
		buf->length = reader->mark;
		buf->data[buf->length] = '\0';
	}
}

/* Does the group `<...>` here stand for a type, as in Rust's `<T as U>::f`? */
static bool is_leading(const struct reader *reader)
{
	return reader->buf->length == reader->mark ||
	       begins(reader->at, reader->end, "<impl ");
}

/*
 * Continue with only the name in a declarator: `*f<int>(int)` in
 * `void (*f<int>(int))(char)`.
 */
static bool enter_declarator(struct reader *reader, const char *end)
{
	const char *at = reader->at + 1;

	if (end == reader->end || (*end != '(' && *end != '['))
		return false;
	while (at < end && (is_word(*at) || *at == ':'))
		at++;
	if (*at != '*' && *at != '&')
		return false;
	while (*at == '*' || *at == '&')
		at++;
	at = skip_qualifiers(at, end - 1);
	if (*at == ' ')
		at++;
	if (at >= end - 1)
		return false;
	cut(reader);
	reader->begin = reader->at = at;
	reader->end = end - 1;
	return true;
}

/* Find the last parameter list: before a blank that precedes it there is a type. */
static void find_last_list(struct reader *reader)
{
	const char *at = reader->begin;

	reader->last_list = NULL;
	while (at < reader->end) {
		size_t length = operator_length(reader->begin, at, reader->end);
		const char *next = NULL;

		if (length) {
			at += length;
			at += symbol_length(at, reader->end);
			continue;
		}
		if (closer_of(*at))
			next = group_end(at, reader->end);
		if (next && *at == '(' && (at[1] == '*' || list_end(reader, at)))
			reader->last_list = at;
		at = next ? next : at + 1;
	}
}

static void take_parentheses(struct reader *reader)
{
	const char *list = list_end(reader, reader->at), *end;

	if (list) {
		reader->at = list;
		return;
	}
	if (take_anonymous(reader))
		return;
	end = group_end(reader->at, reader->end);
	if (!end)
		take(reader);
	else if (enter_declarator(reader, end))
		find_last_list(reader);
	else
		take_group(reader, end);
}

static void take_brackets(struct reader *reader)
{
	const char *end = group_end(reader->at, reader->end);

	if (*reader->at == '<' && !is_leading(reader) && take_elided(reader))
		return;
	if (end)
		take_group(reader, end);
	else
		take(reader);
}

/* `operator new` and `operator int*`: everything up to the parameters. */
static void take_conversion(struct reader *reader)
{
	const char *at = reader->at;

	while (at < reader->end && !(*at == '(' && list_end(reader, at))) {
		const char *next = closer_of(*at) ? group_end(at, reader->end) : NULL;

		if (begins(at, reader->end, " [clone "))
			break;
		at = next ? next : at + 1;
	}
	if (*reader->at == ' ')
		take(reader);
	take_compact(reader, at);
}

static void take_operator(struct reader *reader, size_t length)
{
	size_t symbol = symbol_length(reader->at + length, reader->end);

	take_until(reader, reader->at + length + symbol);
	if (!symbol) {
		take_conversion(reader);
		return;
	}
	/* `operator<< <char>`, `operator"" _km` */
	while (reader->at < reader->end && *reader->at == ' ' &&
	       !begins(reader->at, reader->end, " [clone "))
		reader->at++;
}

/* A blank outside brackets. */
static void take_blank(struct reader *reader)
{
	static const char clone[] = " [clone ";
	const char *end = NULL;

	if (begins(reader->at, reader->end, clone))
		end = group_end(reader->at + 1, reader->end);
	if (end) {
		reader->at += sizeof(clone) - 1;
		take_until(reader, end - 1);
		reader->at = end;
	} else if (reader->last_list && reader->at < reader->last_list) {
		cut(reader);
		reader->at++;
	} else {
		take(reader);
	}
}

static void take_name(struct reader *reader)
{
	find_last_list(reader);
	while (reader->at < reader->end) {
		size_t length = operator_length(reader->begin, reader->at, reader->end);

		if (length)
			take_operator(reader, length);
		else if (*reader->at == '(')
			take_parentheses(reader);
		else if (closer_of(*reader->at))
			take_brackets(reader);
		else if (*reader->at == ' ')
			take_blank(reader);
		else
			take(reader);
	}
}

/* Text that the demangler puts before the name of a compiler-generated symbol. */
static void take_prefix(struct reader *reader)
{
	static const char *const prefixes[] = {
		"non-virtual thunk to ",	 "virtual thunk to ",
		"covariant return thunk to ",	 "guard variable for ",
		"transaction clone for ",	 "non-transaction clone for ",
		"TLS init function for ",	 "TLS wrapper function for ",
		"global constructors keyed to ", "global destructors keyed to ",
	};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		if (!begins(reader->at, reader->end, prefixes[i]))
			continue;
		take_until(reader, reader->at + strlen(prefixes[i]));
		reader->begin = reader->at;
		reader->mark = reader->buf->length;
		return;
	}
}

void pmp_name_function(struct pmp_buf *buf, const char *name, bool elide)
{
	/* Drop a symbol's version: `poll@@GLIBC_2.2.5`. */
	const char *version = strstr(name, "@@");
	struct reader reader = {
		.begin = name,
		.at = name,
		.end = version && version > name ? version : name + strlen(name),
		.buf = buf,
		.mark = buf->length,
		.elide = elide,
	};

	take_prefix(&reader);
	take_name(&reader);
	if (buf->length == reader.mark)
		put(&reader, name, strlen(name));
	if (buf->length == reader.mark)
		pmp_buf_puts(buf, UNKNOWN);
}

/* ---- frames, threads, paths ---------------------------------------------------- */

const char *pmp_name_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* "(file:line)" or "(module)" as in pt-pmp; only if that is a path. */
static void add_place(struct pmp_buf *buf, const struct pmp_frame *frame,
		      const struct pmp_name_style *style)
{
	const char *path = NULL;
	unsigned line = 0;

	if (style->lines && frame->file) {
		path = frame->file;
		line = frame->line;
	} else if (style->module && frame->module[0] == '/') {
		path = frame->module;
	}
	if (!path)
		return;
	pmp_buf_putc(buf, '(');
	pmp_name_path(buf, pmp_name_base(path));
	if (line)
		pmp_buf_printf(buf, ":%u", line);
	pmp_buf_putc(buf, ')');
}

static void replace(struct pmp_buf *buf, size_t start, char from, char to)
{
	for (size_t i = start; i < buf->length; i++)
		if (buf->data[i] == from)
			buf->data[i] = to;
}

void pmp_name_frame(struct pmp_buf *buf, const struct pmp_frame *frame,
		    const struct pmp_name_style *style)
{
	size_t start = buf->length;

	if (frame->signal)
		pmp_buf_puts(buf, "<signal_handler_called>");
	else if (frame->unnamed)
		pmp_name_word(buf, frame->function);
	else
		pmp_name_function(buf, frame->function, style->elide);
	add_place(buf, frame, style);
	if (style->elide)
		replace(buf, start, ',', ':');
}

void pmp_name_word(struct pmp_buf *buf, const char *name)
{
	if (*name)
		pmp_escape_map(buf, name, strlen(name), "; ", ":_");
	else
		pmp_buf_puts(buf, UNKNOWN);
}

void pmp_name_path(struct pmp_buf *buf, const char *path)
{
	const char *end = path + strlen(path);

	if (path == end)
		pmp_buf_puts(buf, UNKNOWN);
	while (path < end) {
		size_t length = pmp_escape_printable(path, end - path);

		if (!length || *path == ' ' || *path == '\\' || *path == ';') {
			pmp_buf_printf(buf, "\\%03o", (unsigned char)*path++);
			continue;
		}
		pmp_buf_add(buf, path, length);
		path += length;
	}
}

void pmp_name_end(struct pmp_buf *buf, enum pmp_end end, const char *reason)
{
	const char *text = pmp_end_text(end);

	if (end == PMP_END_ROOT)
		return;
	if (end == PMP_END_EVICTED || end == PMP_END_BETWEEN) {
		pmp_buf_printf(buf, "[%s]", text);
		return;
	}
	if (end == PMP_END_NOT_STOPPED) {
		pmp_buf_puts(buf, "[not stopped: ");
		text = *reason ? reason : "unknown";
	} else {
		pmp_buf_puts(buf, "[truncated: ");
	}
	pmp_escape_map(buf, text, strlen(text), ";", ":");
	pmp_buf_putc(buf, ']');
}
