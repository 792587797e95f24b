/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * HTTP/1.0 and 1.1 syntax: parses the heads of requests, makes the heads of responses.
 * Nothing here reads, writes or waits. Ambiguous input is refused, to prevent request
 * smuggling by a proxy that parses it differently.
 */
#ifndef PMP_SERVE_HTTP_H
#define PMP_SERVE_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define HTTP_HEAD_MAX 8192 /* bytes of the head of a request */
#define HTTP_LINE_MAX 2048 /* bytes of its first line */
#define HTTP_FIELDS_MAX 64 /* lines after that */
#define HTTP_VALUE_MAX 512 /* bytes of a known field */
#define HTTP_BODY_MAX (UINT64_C(8) << 20)
#define HTTP_RESPONSE_MAX 2048 /* bytes of the head of a response */

enum http_method { HTTP_GET = 1, HTTP_HEAD = 2, HTTP_POST = 4 };

struct http_request {
	enum http_method method;
	unsigned minor;		   /* HTTP/1.minor */
	char path[HTTP_LINE_MAX];  /* %XX decoded, without "?" and the query */
	char query[HTTP_LINE_MAX]; /* not decoded; "": none */
	/* Values of fields; "": not sent. */
	char host[HTTP_VALUE_MAX], authorization[HTTP_VALUE_MAX], origin[HTTP_VALUE_MAX],
		fetch_site[HTTP_VALUE_MAX];
	bool has_host, has_authorization, has_origin, has_fetch_site;
	bool has_length;
	uint64_t length;       /* of the body */
	bool expects_continue; /* the body only comes after "100 Continue" */
	bool takes_gzip;       /* accepts it as Content-Encoding */
	bool keep_alive;
};

/* How far a head has been scanned; zero at first. */
struct http_scan {
	size_t at;    /* bytes */
	size_t line;  /* where the current line begins */
	size_t lines; /* complete ones */
};

/**
 * The length of the head at the start of data. 0: it is not complete; call this again with
 * the same data and more after it. Otherwise a negative status: -400, -414 or -431.
 */
long http_head_end(struct http_scan *scan, const char *data, size_t length);

/** Parse a complete head, as found by http_head_end(). 0, or the status to refuse the
 * request with; then the connection must be closed. */
int http_parse(const char *head, size_t length, struct http_request *request);

/**
 * Decode %XX, and if plus "+" as a space, into text of that size, with a final NUL. False:
 * a bad %XX, a NUL, a character of `never`, or it is too long.
 */
bool http_decode(const char *from, size_t length, bool plus, const char *never,
		 char *text, size_t size);

/* The head of a response. Strings are borrowed; NULL: no such field. */
struct http_response {
	int status;
	const char *type;
	uint64_t
		length; /* of the body that follows, or would have been sent for a HEAD */
	const char *allow;
	const char *filename; /* for saving the body */
	const char *window;   /* the part of the past that the body covers */
	const char *ask_who;  /* the authentication scheme: "Basic", "Bearer" */
	unsigned retry_after; /* seconds */
	bool for_pprof;	      /* the body says what went wrong */
	bool is_page; /* constant; headers restrict what a browser may load for it */
	bool gzip;    /* the body is compressed */
	bool keep_alive;
	unsigned minor; /* of the request */
	time_t now;
};

/** Write the head into head, of HTTP_RESPONSE_MAX bytes. Its length; 0: it is too long. */
size_t http_response_head(const struct http_response *response, char *head);
/** "Not Found" */
const char *http_reason(int status);

#endif
