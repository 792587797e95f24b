/* SPDX-License-Identifier: GPL-2.0-or-later */
/* HTTP as bytes: what is taken, what is refused, the same however the bytes come. */
#include "lib/tap.h"

#include "serve/http.h"

#define HOST "Host: db1\r\n"

static struct http_request request;

/* What becomes of bytes that come in two parts: 200, a status of refusal, or 0: more is
 * wanted. */
static int feed(const char *bytes, size_t length, size_t first)
{
	struct http_scan scan = { 0 };
	long end = http_head_end(&scan, bytes, first);
	int status;

	if (end == 0)
		end = http_head_end(&scan, bytes, length);
	if (end <= 0)
		return (int)-end;
	status = http_parse(bytes, (size_t)end, &request);
	return status ? status : 200;
}

/* The same, byte by byte. */
static int drip(const char *bytes, size_t length)
{
	struct http_scan scan = { 0 };
	long end = 0;
	int status;

	for (size_t i = 1; i <= length && end == 0; i++)
		end = http_head_end(&scan, bytes, i);
	if (end <= 0)
		return (int)-end;
	status = http_parse(bytes, (size_t)end, &request);
	return status ? status : 200;
}

static void check(const char *bytes, size_t length, int want, const char *what)
{
	size_t differ = 0;

	is_int(feed(bytes, length, length), want, "%s", what);
	for (size_t i = 0; i <= length; i++)
		differ += feed(bytes, length, i) != want;
	differ += drip(bytes, length) != want;
	is_int(differ, 0, "and so however it is split");
}

struct example {
	const char *bytes;
	int want;
	const char *what;
};

static const struct example lines[] = {
	{ "GET / HTTP/1.1\r\n" HOST "\r\n", 200, "the root" },
	{ "GET /a%20b?seconds=1 HTTP/1.1\r\n" HOST "\r\n", 200, "an escape" },
	{ "HEAD /a HTTP/1.1\r\n" HOST "\r\n", 200, "HEAD" },
	{ "GET /../a HTTP/1.1\r\n" HOST "\r\n", 200, "two dots" },
	{ "GET / HTTP/1.0\r\n\r\n", 200, "1.0 without a host" },
	{ "GET / HTTP/1.1\r\n" HOST, 0, "a head that goes on" },
	{ "", 0, "nothing" },
	{ "GET /\r\n\r\n", 400, "a line without a version" },
	{ "GET / HTTP/2.0\r\n" HOST "\r\n", 505, "2.0" },
	{ "GET / HTTP/1.2\r\n" HOST "\r\n", 505, "1.2" },
	{ "GET / http/1.1\r\n" HOST "\r\n", 400, "a version in lower case" },
	{ "GET / HTTP/1.1 \r\n" HOST "\r\n", 400, "a blank after the version" },
	{ "GET  / HTTP/1.1\r\n" HOST "\r\n", 400, "two blanks" },
	{ " GET / HTTP/1.1\r\n" HOST "\r\n", 400, "a blank before the method" },
	{ "GET\t/ HTTP/1.1\r\n" HOST "\r\n", 400, "a tab" },
	{ "get / HTTP/1.1\r\n" HOST "\r\n", 405, "a method in lower case" },
	{ "DELETE / HTTP/1.1\r\n" HOST "\r\n", 405, "another method" },
	{ "G(T / HTTP/1.1\r\n" HOST "\r\n", 400, "no method at all" },
	{ "OPTIONS * HTTP/1.1\r\n" HOST "\r\n", 405, "an asterisk" },
	{ "GET http://db1/ HTTP/1.1\r\n" HOST "\r\n", 400, "the absolute form" },
	{ "GET //db1/ HTTP/1.1\r\n" HOST "\r\n", 200, "two slashes" },
	{ "GET a HTTP/1.1\r\n" HOST "\r\n", 400, "no slash" },
	{ "GET /#a HTTP/1.1\r\n" HOST "\r\n", 400, "a fragment" },
	{ "GET /\xc3\xa4 HTTP/1.1\r\n" HOST "\r\n", 400, "a byte above 0x7e" },
	{ "GET /%2 HTTP/1.1\r\n" HOST "\r\n", 400, "half an escape" },
	{ "GET /%zz HTTP/1.1\r\n" HOST "\r\n", 400, "an escape of no digits" },
	{ "GET /%00 HTTP/1.1\r\n" HOST "\r\n", 400, "an escaped NUL" },
	{ "GET /a%2fb HTTP/1.1\r\n" HOST "\r\n", 400, "an escaped slash" },
	{ "\r\nGET / HTTP/1.1\r\n" HOST "\r\n", 400, "an empty line at first" },
};

static const struct example fields[] = {
	{ "GET / HTTP/1.1\r\n\r\n", 400, "no host" },
	{ "GET / HTTP/1.1\r\n" HOST HOST "\r\n", 400, "two hosts" },
	{ "GET / HTTP/1.1\n" HOST "\r\n", 400, "a bare line feed after the first line" },
	{ "GET / HTTP/1.1\r\nHost: db1\n\r\n", 400, "a bare line feed" },
	{ "GET / HTTP/1.1\r\n" HOST "\r\r\n", 400, "two carriage returns" },
	{ "GET / HTTP/1.1\r\n" HOST "A: b\rc\r\n\r\n", 400, "a bare carriage return" },
	{ "GET / HTTP/1.1\r\n" HOST "A: b\x01\r\n\r\n", 400, "a control character" },
	{ "GET / HTTP/1.1\r\n" HOST "A: b\tc\xc3\xa4\r\n\r\n", 200, "a tab, and UTF-8" },
	{ "GET / HTTP/1.1\r\n" HOST "A: b\r\n c\r\n\r\n", 400, "a folded line" },
	{ "GET / HTTP/1.1\r\nHost : db1\r\n\r\n", 400, "a blank before the colon" },
	{ "GET / HTTP/1.1\r\n" HOST ": b\r\n\r\n", 400, "an empty name" },
	{ "GET / HTTP/1.1\r\n" HOST "b\r\n\r\n", 400, "no colon" },
	{ "GET / HTTP/1.1\r\nHOST:db1\t \r\n\r\n", 200, "a name in capitals" },
	{ "POST / HTTP/1.1\r\n" HOST "Content-Length: 5\r\n\r\n", 200, "a body" },
	{ "POST / HTTP/1.1\r\n" HOST "\r\n", 200, "POST without a body" },
	{ "GET / HTTP/1.1\r\n" HOST "Content-Length: 0\r\n\r\n", 200, "GET of length 0" },
	{ "GET / HTTP/1.1\r\n" HOST "Content-Length: 5\r\n\r\n", 400, "GET with a body" },
	{ "POST / HTTP/1.1\r\n" HOST "Content-Length: +5\r\n\r\n", 400, "a sign" },
	{ "POST / HTTP/1.1\r\n" HOST "Content-Length: 5, 5\r\n\r\n", 400, "two in one" },
	{ "POST / HTTP/1.1\r\n" HOST "Content-Length:\r\n\r\n", 400, "no number" },
	{ "POST / HTTP/1.1\r\n" HOST "Content-Length: 5\r\nContent-Length: 5\r\n\r\n",
	  400, "two lengths" },
	{ "POST / HTTP/1.1\r\n" HOST "Content-Length: 8388608\r\n\r\n", 200, "8 MiB" },
	{ "POST / HTTP/1.1\r\n" HOST "Content-Length: 8388609\r\n\r\n", 413, "more" },
	{ "POST / HTTP/1.1\r\n" HOST "Content-Length: 99999999999999999999999\r\n\r\n",
	  413, "more than 64 bits" },
	{ "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n", 501,
	  "chunks" },
	{ "POST / HTTP/1.1\r\n" HOST
	  "Content-Length: 5\r\nTransfer-Encoding: identity\r\n\r\n",
	  501, "a length and an encoding" },
	{ "POST / HTTP/1.1\r\n" HOST "Expect: 100-Continue\r\n\r\n", 200, "Expect" },
	{ "POST / HTTP/1.1\r\n" HOST "Expect: money\r\n\r\n", 417, "another Expect" },
};

static void check_examples(const struct example *examples, size_t count)
{
	for (size_t i = 0; i < count; i++)
		check(examples[i].bytes, strlen(examples[i].bytes), examples[i].want,
		      examples[i].what);
}

/* One that is n bytes longer than it has to be. */
static void check_long(const char *before, char c, size_t n, const char *after, int want,
		       const char *what)
{
	static char bytes[3 * HTTP_HEAD_MAX];
	size_t length = strlen(before);

	memcpy(bytes, before, length);
	memset(bytes + length, c, n);
	length += n;
	memcpy(bytes + length, after, strlen(after));
	check(bytes, length + strlen(after), want, what);
}

static void check_limits(void)
{
	static char many[70 * 6 + 64];
	char *at = stpcpy(many, "GET / HTTP/1.1\r\n" HOST);
	const size_t line = strlen("GET / HTTP/1.1\r\n"),
		     head = line + strlen(HOST "A: \r\n\r\n");

	check_long("GET /", 'a', HTTP_LINE_MAX - line, " HTTP/1.1\r\n" HOST "\r\n", 200,
		   "a line as long as it may be");
	check_long("GET /", 'a', HTTP_LINE_MAX - line + 1, " HTTP/1.1\r\n" HOST "\r\n",
		   414, "one longer");
	check_long("GET / HTTP/1.1\r\n" HOST "A: ", 'a', HTTP_HEAD_MAX - head, "\r\n\r\n",
		   200, "a head as long as it may be");
	check_long("GET / HTTP/1.1\r\n" HOST "A: ", 'a', HTTP_HEAD_MAX - head + 1,
		   "\r\n\r\n", 431, "one longer");
	check_long("GET / HTTP/1.1\r\nHost: ", 'a', HTTP_VALUE_MAX, "\r\n\r\n", 431,
		   "a host that is too long");
	for (int i = 1; i < HTTP_FIELDS_MAX; i++)
		at = stpcpy(at, "A: b\r\n");
	strcpy(at, "\r\n");
	check(many, strlen(many), 200, "64 fields");
	strcpy(at, "A: b\r\n\r\n");
	check(many, strlen(many), 431, "65 fields");
	check("GET /\0 HTTP/1.1\r\n" HOST "\r\n", 28, 400, "a NUL");
}

static void check_request(void)
{
	static const char bytes[] =
		"POST /a%20b/%e4?x=%31+2 HTTP/1.1\r\nhost:  db1:7670 \r\n"
		"Authorization: Bearer abc\r\nOrigin: http://db1\r\n"
		"Sec-Fetch-Site: none\r\nExpect: 100-continue\r\n"
		"Connection: Foo , CLOSE\r\nContent-Length: 0012\r\n\r\nhello, world";

	is_int(feed(bytes, sizeof(bytes) - 1, sizeof(bytes) - 1), 200, "a request");
	is_int(request.method, HTTP_POST, "its method");
	is_str(request.path, "/a b/\xe4", "its path, decoded");
	is_str(request.query, "x=%31+2", "its query, as it was sent");
	is_str(request.host, "db1:7670", "its host, without blanks");
	is_str(request.authorization, "Bearer abc", "its authorization");
	is_str(request.origin, "http://db1", "its origin");
	is_str(request.fetch_site, "none", "its site");
	is_int(request.length, 12, "its length");
	ok(request.expects_continue, "its body waits");
	ok(!request.keep_alive, "it closes");
	feed("GET / HTTP/1.0\r\n\r\n", 18, 18);
	ok(!request.keep_alive, "1.0 closes");
	feed("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", 42, 42);
	ok(request.keep_alive, "unless it says otherwise");
}

static void check_decode(void)
{
	char text[8];

	ok(http_decode("a+%2B%62", 8, true, "", text, sizeof(text)), "a query");
	is_str(text, "a +b", "decoded");
	ok(http_decode("a+b", 3, false, "", text, sizeof(text)), "a path");
	is_str(text, "a+b", "keeps its plus");
	ok(http_decode("1234567", 7, true, "", text, sizeof(text)),
	   "as long as its room");
	ok(!http_decode("12345678", 8, true, "", text, sizeof(text)), "not longer");
}

static void check_response(void)
{
	char head[HTTP_RESPONSE_MAX], filename[HTTP_RESPONSE_MAX];
	struct http_response response = { .status = 503,
					  .type = "text/plain",
					  .length = 12,
					  .retry_after = 5,
					  .for_pprof = true,
					  .keep_alive = true,
					  .minor = 1,
					  .now = 784111777 };
	size_t length = http_response_head(&response, head);

	is_str(head,
	       "HTTP/1.1 503 Service Unavailable\r\n"
	       "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\nContent-Length: 12\r\n"
	       "Content-Type: text/plain\r\nRetry-After: 5\r\nX-Go-Pprof: 1\r\n"
	       "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
	       "Referrer-Policy: no-referrer\r\n\r\n",
	       "the head of a response");
	is_int(length, strlen(head), "its length");
	memset(filename, 'a', sizeof(filename) - 1);
	filename[sizeof(filename) - 1] = '\0';
	response.filename = filename;
	is_int(http_response_head(&response, head), 0, "one that is too long is none");
}

static void check_page_response(void)
{
	char head[HTTP_RESPONSE_MAX];
	struct http_response response = { .status = 200, .is_page = true, .gzip = true };

	http_response_head(&response, head);
	ok(strstr(head, "\r\nContent-Encoding: gzip\r\n"), "a compressed body");
	ok(strstr(head,
		  "\r\nContent-Security-Policy: default-src 'none'; script-src "
		  "'self'; style-src 'self'; connect-src 'self'; img-src data:; "
		  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n"),
	   "what a page may reach");
	ok(strstr(head, "\r\nCross-Origin-Opener-Policy: same-origin\r\n") &&
		   strstr(head, "\r\nCross-Origin-Resource-Policy: same-origin\r\n"),
	   "and which pages reach it");
}

static void check_encodings(void)
{
	static const struct {
		const char *value;
		bool takes;
	} examples[] = {
		{ "gzip", true },
		{ "GZip", true },
		{ "gzip, deflate, br, zstd", true },
		{ "br;q=1.0, gzip;q=0.001, *;q=0.1", true },
		{ "deflate ,\tgzip ; q=1", true },
		{ "gzip;x=0", true },
		{ "", false },
		{ "identity", false },
		{ "gzip;q=0", false },
		{ "gzip; Q=0.000", false },
		{ "xgzip, gzipx", false },
		{ "deflate;gzip", false },
		{ ",;,;=", false },
	};

	for (size_t i = 0; i < sizeof(examples) / sizeof(*examples); i++) {
		char head[256];
		int n = snprintf(head, sizeof(head),
				 "GET / HTTP/1.1\r\n" HOST "Accept-Encoding: %s\r\n\r\n",
				 examples[i].value);

		is_int(feed(head, (size_t)n, (size_t)n), 200, "encodings are no error");
		is_int(request.takes_gzip, examples[i].takes, "Accept-Encoding: %s",
		       examples[i].value);
	}
}

/* The C library's calendar, on days around which ours could go wrong. */
static void check_dates(void)
{
	size_t differ = 0;

	for (time_t now = 0; now < (time_t)200 * 365 * 86400; now += 43199) {
		struct http_response response = { .status = 200, .now = now };
		char head[HTTP_RESPONSE_MAX], want[64];
		struct tm tm;

		http_response_head(&response, head);
		gmtime_r(&now, &tm);
		strftime(want, sizeof(want), "Date: %a, %d %b %Y %H:%M:%S GMT\r\n", &tm);
		differ += !strstr(head, want);
	}
	is_int(differ, 0, "dates of two centuries");
}

int main(void)
{
	check_dates();
	check_examples(lines, sizeof(lines) / sizeof(*lines));
	check_examples(fields, sizeof(fields) / sizeof(*fields));
	check_limits();
	check_request();
	check_decode();
	check_encodings();
	check_response();
	check_page_response();
	return done_testing();
}
