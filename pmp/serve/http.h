/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * HTTP/1.0 and 1.1 as bytes: the head of a request is taken apart, that of a response is
 * put together. Nothing here reads, writes or waits. What may be understood in two ways
 * is refused, so that nothing between a client and pmp can take one request for another.
 */
#ifndef PMP_SERVE_HTTP_H
#define PMP_SERVE_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define HTTP_HEAD_MAX 8192 /* bytes of the head of a request */
#define HTTP_LINE_MAX 2048 /* of its first line */
#define HTTP_FIELDS_MAX 64 /* lines after that */
#define HTTP_VALUE_MAX 512 /* of a field that is looked at */
#define HTTP_BODY_MAX (UINT64_C(8) << 20)
#define HTTP_RESPONSE_MAX 2048 /* bytes of the head of a response */

enum http_method { HTTP_GET = 1, HTTP_HEAD = 2, HTTP_POST = 4 };

struct http_request {
	enum http_method method;
	unsigned minor;		   /* HTTP/1.minor */
	char path[HTTP_LINE_MAX];  /* %XX decoded, without "?" and what follows it */
	char query[HTTP_LINE_MAX]; /* as it was sent; "": none */
	/* Values of fields; "": they were not sent. */
	char host[HTTP_VALUE_MAX], authorization[HTTP_VALUE_MAX], origin[HTTP_VALUE_MAX],
		fetch_site[HTTP_VALUE_MAX];
	bool has_host, has_authorization, has_origin, has_fetch_site;
	bool has_length;
	uint64_t length;       /* of the body */
	bool expects_continue; /* the body comes after "100 Continue" */
	bool takes_gzip;       /* as Content-Encoding */
	bool keep_alive;
};

/* How far a head has been looked at; zero at first. */
struct http_scan {
	size_t at;    /* bytes */
	size_t line;  /* where the current line begins */
	size_t lines; /* that are complete */
};

/**
 * Where the head that data begins with ends: its length. 0: it goes on; then to be called
 * with the same data and more after it. Else a negative status: -400, -414 or -431.
 */
long http_head_end(struct http_scan *scan, const char *data, size_t length);

/** Take a whole head apart, as http_head_end() has found it. 0, or the status to refuse
 * the request with; then the connection is to be closed. */
int http_parse(const char *head, size_t length, struct http_request *request);

/**
 * Decode %XX, and with plus "+" for a blank, into text of that size, and end it. False:
 * a bad %XX, a NUL, a character of `never`, or it is too long.
 */
bool http_decode(const char *from, size_t length, bool plus, const char *never,
		 char *text, size_t size);

/* The head of a response. Strings are borrowed; NULL: there is no such field. */
struct http_response {
	int status;
	const char *type;
	uint64_t
		length; /* of the body that follows, or would have been sent for a HEAD */
	const char *allow;
	const char *filename; /* for whoever saves the body */
	const char *window;   /* what of the past the body is of */
	const char *ask_who;  /* the scheme that is wanted: "Basic", "Bearer" */
	unsigned retry_after; /* seconds */
	bool for_pprof;	      /* the body says what went wrong */
	bool is_page; /* always the same; headers restrict what a browser may reach from it */
	bool gzip; /* the body is compressed */
	bool keep_alive;
	unsigned minor; /* of the request */
	time_t now;
};

/** Put it into head, which is HTTP_RESPONSE_MAX bytes. Its length; 0: it is too long. */
size_t http_response_head(const struct http_response *response, char *head);
/** "Not Found" */
const char *http_reason(int status);

#endif
