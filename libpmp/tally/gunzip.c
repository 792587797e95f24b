/* SPDX-License-Identifier: GPL-2.0-or-later */
/* zlib, with a limit. A gzip file may have several members, one after the other. */
#include "tally/gunzip.h"

#include <limits.h>
#include <string.h>
#include <zlib.h>

#include "libpmp.h"

#define PIECE_SIZE ((size_t)32 * 1024)
#define GZIP_WINDOW (15 + 16)
#define GZIP_ID "\x1f\x8b"

bool pmp_gunzip_is(const void *data, size_t length)
{
	return length >= 2 && memcmp(data, GZIP_ID, 2) == 0;
}

static int unpack(z_stream *zip, size_t limit, struct pmp_buf *buf)
{
	unsigned char piece[PIECE_SIZE];
	int code = Z_OK;

	while (code == Z_OK) {
		size_t got;

		zip->next_out = piece;
		zip->avail_out = sizeof(piece);
		code = inflate(zip, Z_NO_FLUSH);
		got = sizeof(piece) - zip->avail_out;
		if (got > limit - buf->length)
			return PMP_ELIMIT;
		pmp_buf_add(buf, piece, got);
		if (pmp_buf_failed(buf))
			return PMP_ENOMEM;
		if (code == Z_STREAM_END && zip->avail_in)
			code = inflateReset(zip);
	}
	if (code == Z_MEM_ERROR)
		return PMP_ENOMEM;
	return code == Z_STREAM_END ? 0 : PMP_EFORMAT;
}

int pmp_gunzip(const void *data, size_t length, size_t limit, struct pmp_buf *buf)
{
	z_stream zip = { .next_in = (unsigned char *)(uintptr_t)data };
	int code;

	if (length > UINT_MAX || buf->length > limit)
		return PMP_ELIMIT;
	zip.avail_in = (unsigned)length;
	if (inflateInit2(&zip, GZIP_WINDOW) != Z_OK)
		return PMP_ENOMEM;
	code = unpack(&zip, limit, buf);
	inflateEnd(&zip);
	return code;
}
