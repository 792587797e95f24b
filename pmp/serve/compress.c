/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See compress.h. */
#include "serve/compress.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <zlib.h>

#define LEAST 1024		 /* bytes; fewer fit into a packet or two */
#define MOST (UINT64_C(4) << 20) /* takes 60 ms, while all others wait */
#define LEVEL 4			 /* of 9: 10 % larger than the best, twice as fast */
#define WINDOW_OF_GZIP (MAX_WBITS + 16)
#define CONSTANTS 8

bool compress_is_worth(const char *type, uint64_t length)
{
	return type && length >= LEAST && length <= MOST &&
	       (strncmp(type, "text/", 5) == 0 ||
		strncmp(type, "application/json", 16) == 0 ||
		strncmp(type, "image/svg+xml", 13) == 0);
}

char *compress_bytes(const void *data, size_t length, size_t *size)
{
	z_stream stream = { .next_in = (Bytef *)(uintptr_t)data,
			    .avail_in = (uInt)length,
			    .avail_out = (uInt)length };
	char *packed = malloc(length);
	int result = Z_MEM_ERROR;

	if (packed && deflateInit2(&stream, LEVEL, Z_DEFLATED, WINDOW_OF_GZIP,
				   MAX_MEM_LEVEL, Z_DEFAULT_STRATEGY) == Z_OK) {
		stream.next_out = (Bytef *)packed;
		result = deflate(&stream, Z_FINISH);
		deflateEnd(&stream);
	}
	if (result == Z_STREAM_END) {
		*size = length - stream.avail_out;
		return packed;
	}
	free(packed);
	return NULL;
}

const char *compress_constant(const char *text, size_t length, size_t *size)
{
	static struct constant {
		const char *text, *packed;
		size_t size;
	} all[CONSTANTS];
	size_t i = 0;

	while (i < CONSTANTS && all[i].packed && all[i].text != text)
		i++;
	if (i == CONSTANTS)
		return NULL;
	if (!all[i].packed) {
		all[i].text = text;
		all[i].packed = compress_bytes(text, length, &all[i].size);
	}
	*size = all[i].size;
	return all[i].packed;
}

char *compress_file(int fd, size_t length, size_t *size)
{
	struct stat info;
	char *packed;
	void *data;

	/* Reading a mapping beyond the end of the file would raise SIGBUS. */
	if (fstat(fd, &info) < 0 || (uint64_t)info.st_size < length)
		return NULL;
	data = mmap(NULL, length, PROT_READ, MAP_PRIVATE, fd, 0);
	if (data == MAP_FAILED)
		return NULL;
	packed = compress_bytes(data, length, size);
	munmap(data, length);
	return packed;
}
