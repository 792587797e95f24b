/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See http.h. Unlike most servers it refuses bare line feeds, folded lines, spaces before a
 * colon, two lengths, chunks, the absolute form. */
#include "serve/http.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* ---- the end of the head --------------------------------------------------------- */

static bool is_control(unsigned char c)
{
	return c < ' ' || c == 0x7f;
}

/* 0, or the negative status for an illegal byte. before: the byte before it, or NUL. */
static long check_byte(char c, char before)
{
	if (before == '\r' ? c != '\n' : c == '\n')
		return -400;
	return is_control((unsigned char)c) && c != '\r' && c != '\n' && c != '\t' ? -400
										   : 0;
}

/* The first illegal byte decides, so the result does not depend on
 * how the bytes are split. */
long http_head_end(struct http_scan *scan, const char *data, size_t length)
{
	for (; scan->at < length; scan->at++) {
		const size_t at = scan->at;
		long bad = check_byte(data[at], at ? data[at - 1] : '\0');

		if (at >= HTTP_HEAD_MAX)
			return -431;
		if (!scan->lines && at >= HTTP_LINE_MAX)
			return -414;
		if (bad)
			return bad;
		if (data[at] != '\n')
			continue;
		if (scan->lines && at == scan->line + 1)
			return (long)at + 1;
		if (++scan->lines > HTTP_FIELDS_MAX + 1)
			return -431;
		scan->line = at + 1;
	}
	return 0;
}

/* ---- decoding --------------------------------------------------------------------- */

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

static bool decode_escape(const char *from, size_t left, const char *never, char *c)
{
	int high, low;

	if (left < 3)
		return false;
	high = hex_digit(from[1]);
	low = hex_digit(from[2]);
	if (high < 0 || low < 0)
		return false;
	*c = (char)(high << 4 | low);
	return *c && !strchr(never, *c);
}

bool http_decode(const char *from, size_t length, bool plus, const char *never,
		 char *text, size_t size)
{
	size_t n = 0;

	for (size_t i = 0; i < length; i++) {
		char c = from[i];

		if (n + 1 >= size)
			return false;
		if (c == '%') {
			if (!decode_escape(from + i, length - i, never, &c))
				return false;
			i += 2;
		} else if (c == '+' && plus) {
			c = ' ';
		}
		text[n++] = c;
	}
	text[n] = '\0';
	return true;
}

/* ---- the first line ---------------------------------------------------------------- */

/* A piece of the head. */
struct http_text {
	const char *data;
	size_t length;
};

/* Characters of names: "!#$%&'*+-.^_`|~", digits and letters. */
static bool is_token_char(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
	       (c >= 'A' && c <= 'Z') || (c && strchr("!#$%&'*+-.^_`|~", c));
}

static bool is_token(struct http_text text)
{
	for (size_t i = 0; i < text.length; i++) {
		if (!is_token_char(text.data[i]))
			return false;
	}
	return text.length > 0;
}

static bool text_is(struct http_text text, const char *word)
{
	return text.length == strlen(word) && strncmp(text.data, word, text.length) == 0;
}

static bool text_is_like(struct http_text text, const char *word)
{
	return text.length == strlen(word) &&
	       strncasecmp(text.data, word, text.length) == 0;
}

/* Remove a piece up to the byte end, and that byte; or all, if it is not
 * there. False: from is empty. */
static bool take_until(struct http_text *from, char end, struct http_text *piece)
{
	const char *at = from->length ? memchr(from->data, end, from->length) : NULL;

	*piece = *from;
	if (!at) {
		from->length = 0;
		return piece->length > 0;
	}
	piece->length = (size_t)(at - from->data);
	from->data = at + 1;
	from->length -= piece->length + 1;
	return true;
}

static int parse_method(struct http_text text, struct http_request *request)
{
	static const struct {
		const char *name;
		enum http_method method;
	} methods[] = { { "GET", HTTP_GET },
			{ "HEAD", HTTP_HEAD },
			{ "POST", HTTP_POST } };

	for (size_t i = 0; i < sizeof(methods) / sizeof(*methods); i++) {
		if (text_is(text, methods[i].name)) {
			request->method = methods[i].method;
			return 0;
		}
	}
	return is_token(text) ? 405 : 400;
}

/* Only the origin form is served: "/path?query". */
static int parse_target(struct http_text target, struct http_request *request)
{
	struct http_text path;

	if (!target.length || target.data[0] != '/')
		return 400;
	for (size_t i = 0; i < target.length; i++) {
		const char c = target.data[i];

		if (c < 0x21 || c > 0x7e || c == '#')
			return 400;
	}
	take_until(&target, '?', &path);
	if (!http_decode(path.data, path.length, false, "/", request->path,
			 sizeof(request->path)))
		return 400;
	memcpy(request->query, target.data, target.length);
	request->query[target.length] = '\0';
	return 0;
}

static int parse_version(struct http_text version, struct http_request *request)
{
	if (version.length != 8 || strncmp(version.data, "HTTP/", 5) != 0 ||
	    version.data[5] < '0' || version.data[5] > '9' || version.data[6] != '.' ||
	    version.data[7] < '0' || version.data[7] > '9')
		return 400;
	if (version.data[5] != '1' || version.data[7] > '1')
		return 505;
	request->minor = (unsigned)(version.data[7] - '0');
	request->keep_alive = request->minor > 0;
	return 0;
}

/* Errors of syntax are reported before methods or versions that are not served. */
static int parse_first(struct http_text line, struct http_request *request)
{
	struct http_text method, target;
	int bad_method, status;

	if (!take_until(&line, ' ', &method) || !take_until(&line, ' ', &target))
		return 400;
	bad_method = parse_method(method, request);
	if (bad_method == 400)
		return 400;
	status = parse_version(line, request);
	if (!status)
		status = bad_method;
	return status ? status : parse_target(target, request);
}

/* ---- fields --------------------------------------------------------------------------- */

/* A field that may occur once, and where its value goes. */
struct field {
	const char *name;
	size_t value, given; /* offsets in struct http_request */
};

#define FIELD(name, member) \
	{ \
		name, offsetof(struct http_request, member), \
			offsetof(struct http_request, has_##member) \
	}

static const struct field kept_fields[] = {
	FIELD("Host", host),
	FIELD("Authorization", authorization),
	FIELD("Origin", origin),
	FIELD("Sec-Fetch-Site", fetch_site),
};

static int keep_value(const struct field *field, struct http_text value,
		      struct http_request *request)
{
	char *room = (char *)request + field->value;
	bool *given = (bool *)((char *)request + field->given);

	if (*given)
		return 400;
	if (value.length >= HTTP_VALUE_MAX)
		return 431;
	*given = true;
	memcpy(room, value.data, value.length);
	room[value.length] = '\0';
	return 0;
}

static int parse_length(struct http_text value, struct http_request *request)
{
	if (request->has_length || !value.length)
		return 400;
	request->has_length = true;
	for (size_t i = 0; i < value.length; i++) {
		if (value.data[i] < '0' || value.data[i] > '9')
			return 400;
		/* Stop at a value that is too large, so it cannot overflow. */
		if (request->length <= HTTP_BODY_MAX)
			request->length =
				request->length * 10 + (uint64_t)(value.data[i] - '0');
	}
	return 0;
}

static void trim(struct http_text *text)
{
	while (text->length && (*text->data == ' ' || *text->data == '\t')) {
		text->data++;
		text->length--;
	}
	while (text->length && (text->data[text->length - 1] == ' ' ||
				text->data[text->length - 1] == '\t'))
		text->length--;
}

static void parse_connection(struct http_text value, struct http_request *request)
{
	struct http_text word;

	while (take_until(&value, ',', &word)) {
		trim(&word);
		if (text_is_like(word, "close"))
			request->keep_alive = false;
		else if (text_is_like(word, "keep-alive") && request->minor == 0)
			request->keep_alive = true;
	}
}

/* "gzip;q=0" is a refusal. */
static bool is_refused(struct http_text parameter)
{
	size_t i = 2;

	trim(&parameter);
	if (parameter.length < 3 || (*parameter.data != 'q' && *parameter.data != 'Q') ||
	    parameter.data[1] != '=')
		return false;
	while (i < parameter.length &&
	       (parameter.data[i] == '0' || parameter.data[i] == '.'))
		i++;
	return i == parameter.length;
}

static void parse_encodings(struct http_text value, struct http_request *request)
{
	struct http_text coding, name;

	while (take_until(&value, ',', &coding)) {
		take_until(&coding, ';', &name);
		trim(&name);
		if (text_is_like(name, "gzip"))
			request->takes_gzip = !is_refused(coding);
	}
}

static int parse_expect(struct http_text value, struct http_request *request)
{
	if (!text_is_like(value, "100-continue"))
		return 417;
	request->expects_continue = request->minor > 0;
	return 0;
}

static int parse_field(struct http_text line, struct http_request *request)
{
	struct http_text name, value = line;

	if (!memchr(line.data, ':', line.length))
		return 400;
	take_until(&value, ':', &name);
	if (!is_token(name))
		return 400;
	trim(&value);
	for (size_t i = 0; i < sizeof(kept_fields) / sizeof(*kept_fields); i++) {
		if (text_is_like(name, kept_fields[i].name))
			return keep_value(&kept_fields[i], value, request);
	}
	if (text_is_like(name, "Content-Length"))
		return parse_length(value, request);
	if (text_is_like(name, "Transfer-Encoding"))
		return 501;
	if (text_is_like(name, "Expect"))
		return parse_expect(value, request);
	if (text_is_like(name, "Connection"))
		parse_connection(value, request);
	if (text_is_like(name, "Accept-Encoding"))
		parse_encodings(value, request);
	return 0;
}

/* Check combinations of fields. */
static int check_fields(const struct http_request *request)
{
	if (!request->has_host && request->minor > 0)
		return 400;
	if (request->length > HTTP_BODY_MAX)
		return 413;
	if (request->length && request->method != HTTP_POST)
		return 400;
	return 0;
}

int http_parse(const char *head, size_t length, struct http_request *request)
{
	/* Without the empty line; each line still has its carriage return. */
	struct http_text rest = { head, length - 2 }, line;
	int status;

	*request = (struct http_request){ 0 };
	take_until(&rest, '\n', &line);
	line.length--;
	status = parse_first(line, request);
	while (!status && take_until(&rest, '\n', &line)) {
		line.length--;
		status = parse_field(line, request);
	}
	return status ? status : check_fields(request);
}

/* ---- responses ------------------------------------------------------------------------ */

const char *http_reason(int status)
{
	static const struct {
		int status;
		const char *reason;
	} reasons[] = {
		{ 200, "OK" },
		{ 400, "Bad Request" },
		{ 401, "Unauthorized" },
		{ 403, "Forbidden" },
		{ 404, "Not Found" },
		{ 405, "Method Not Allowed" },
		{ 408, "Request Timeout" },
		{ 410, "Gone" },
		{ 413, "Content Too Large" },
		{ 414, "URI Too Long" },
		{ 417, "Expectation Failed" },
		{ 421, "Misdirected Request" },
		{ 431, "Request Header Fields Too Large" },
		{ 500, "Internal Server Error" },
		{ 501, "Not Implemented" },
		{ 503, "Service Unavailable" },
		{ 505, "HTTP Version Not Supported" },
	};

	for (size_t i = 0; i < sizeof(reasons) / sizeof(*reasons); i++) {
		if (reasons[i].status == status)
			return reasons[i].reason;
	}
	return "Unknown";
}

/* Text of HTTP_RESPONSE_MAX bytes; length is that value if it does not fit. */
struct http_response_text {
	char *text;
	size_t length;
};

__attribute__((format(printf, 2, 3))) static void add(struct http_response_text *head,
						      const char *format, ...)
{
	va_list args;
	int n;

	if (head->length >= HTTP_RESPONSE_MAX)
		return;
	va_start(args, format);
	n = vsnprintf(head->text + head->length, HTTP_RESPONSE_MAX - head->length, format,
		      args);
	va_end(args);
	head->length = n < 0 ? HTTP_RESPONSE_MAX : head->length + (size_t)n;
}

/* The date of a day, counted from 1970-01-01. Years begin in March here, so that leap days
 * come last, and the calendar repeats after 400 years. */
static void find_date(long day, struct tm *date)
{
	const long in_400 = 146097, in_100 = 36524, in_4 = 1461;
	long left = day + 719468, year, month;

	date->tm_wday = (int)((day + 4) % 7);
	year = left / in_400 * 400;
	left %= in_400;
	year += (left - left / (in_4 - 1) + left / in_100 - left / (in_400 - 1)) / 365;
	left = day + 719468 - (year * 365 + year / 4 - year / 100 + year / 400);
	month = (5 * left + 2) / 153;
	date->tm_mday = (int)(left - (153 * month + 2) / 5 + 1);
	date->tm_mon = (int)(month + 2) % 12;
	date->tm_year = (int)(year + (month >= 10)) - 1900;
}

/* "Sun, 06 Nov 1994 08:49:37 GMT". Not strftime(): the C library would read the file of the
 * local time zone, and the server cannot open files. */
static void add_date(struct http_response_text *head, time_t now)
{
	static const char days[][4] = { "Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat" };
	static const char months[][4] = { "Jan", "Feb", "Mar", "Apr", "May", "Jun",
					  "Jul", "Aug", "Sep", "Oct", "Nov", "Dec" };
	const long day = now / 86400, second = now % 86400;
	struct tm date;

	if (now < 0)
		return;
	find_date(day, &date);
	add(head, "Date: %s, %02d %s %d %02ld:%02ld:%02ld GMT\r\n", days[date.tm_wday],
	    date.tm_mday, months[date.tm_mon], date.tm_year + 1900, second / 3600,
	    second / 60 % 60, second % 60);
}

/* The page may only load files of this server; no other page may embed it or script it. */
#define PAGE_POLICY \
	"Content-Security-Policy: default-src 'none'; script-src 'self'; style-src " \
	"'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action " \
	"'none'; frame-ancestors 'none'\r\n" \
	"Cross-Origin-Opener-Policy: same-origin\r\n" \
	"Cross-Origin-Resource-Policy: same-origin\r\n"

static void add_optional(struct http_response_text *head,
			 const struct http_response *response)
{
	if (response->type)
		add(head, "Content-Type: %s\r\n", response->type);
	if (response->filename)
		add(head, "Content-Disposition: attachment; filename=\"%s\"\r\n",
		    response->filename);
	if (response->allow)
		add(head, "Allow: %s\r\n", response->allow);
	if (response->ask_who)
		add(head, "WWW-Authenticate: %s realm=\"pmp\"\r\n", response->ask_who);
	if (response->retry_after)
		add(head, "Retry-After: %u\r\n", response->retry_after);
	if (response->window)
		add(head, "X-Pmp-Window: %s\r\n", response->window);
	if (response->for_pprof)
		add(head, "X-Go-Pprof: 1\r\n");
	if (response->gzip)
		add(head, "Content-Encoding: gzip\r\n");
	if (response->is_page)
		add(head, "%s", PAGE_POLICY);
}

size_t http_response_head(const struct http_response *response, char *text)
{
	struct http_response_text head = { .text = text };

	add(&head, "HTTP/1.1 %d %s\r\n", response->status, http_reason(response->status));
	add_date(&head, response->now);
	add(&head, "Content-Length: %llu\r\n", (unsigned long long)response->length);
	add_optional(&head, response);
	add(&head, "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
		   "Referrer-Policy: no-referrer\r\n");
	if (!response->keep_alive)
		add(&head, "Connection: close\r\n");
	else if (response->minor == 0)
		add(&head, "Connection: keep-alive\r\n");
	add(&head, "\r\n");
	return head.length < HTTP_RESPONSE_MAX ? head.length : 0;
}
