/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: requests of arbitrary bytes. The result must not depend on how they are
 * split, and a request that is accepted must keep what http.h promises.
 *
 *	where the bytes are split (2), the bytes (the rest)
 */
#include "fuzz.h"

#include "serve/http.h"

#include <stdlib.h>
#include <string.h>

static long find_end(const char *bytes, size_t length, size_t first)
{
	struct http_scan scan = { 0 };
	long end = http_head_end(&scan, bytes, first);

	return end ? end : http_head_end(&scan, bytes, length);
}

static void check(const struct http_request *request)
{
	char text[HTTP_LINE_MAX];

	if (request->path[0] != '/' || request->length > HTTP_BODY_MAX)
		abort();
	if (request->length && request->method != HTTP_POST)
		abort();
	if (!request->has_host && request->minor)
		abort();
	if (strlen(request->host) >= HTTP_VALUE_MAX ||
	    strlen(request->query) >= HTTP_LINE_MAX || strchr(request->query, ' '))
		abort();
	http_decode(request->query, strlen(request->query), true, "/", text, 32);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct http_request request;
	const char *bytes = (const char *)data + 2;
	uint16_t first;
	long end;

	if (size < 2)
		return 0;
	memcpy(&first, data, sizeof(first));
	size -= 2;
	end = find_end(bytes, size, size);
	if (find_end(bytes, size, first < size ? first : size) != end)
		abort();
	if (end <= 0)
		return 0;
	if ((size_t)end > size || (size_t)end > HTTP_HEAD_MAX)
		abort();
	if (http_parse(bytes, (size_t)end, &request) == 0)
		check(&request);
	return 0;
}

size_t fuzz_seed(unsigned n, uint8_t *data, size_t size)
{
	static const char *const seeds[] = {
		"GET /pprof/profile?seconds=30 HTTP/1.1\r\nHost: 127.0.0.1:7670\r\n\r\n",
		"POST /pprof/symbol HTTP/1.1\r\nHost: db1\r\nContent-Length: 14\r\n"
		"Expect: 100-continue\r\nConnection: close\r\n\r\n0x55819ffc7189",
		"HEAD /%70id/4100/ HTTP/1.0\r\nAuthorization: Bearer x\r\n"
		"Origin: http://db1\r\nSec-Fetch-Site: none\r\n\r\n",
	};
	size_t length;

	if (n >= sizeof(seeds) / sizeof(*seeds))
		return 0;
	length = strlen(seeds[n]);
	if (size < length + 2)
		return 0;
	data[0] = 10;
	data[1] = 0;
	memcpy(data + 2, seeds[n], length);
	return length + 2;
}
