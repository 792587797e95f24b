/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Demangling with libiberty. A mangled name can refer back to its own parts, so
 * 1,000 characters may expand to 2^100; libiberty limits the depth but not the
 * length. So we use its callback form, which allocates nothing for C++, and leave
 * it with longjmp() when the output becomes too long.
 */
#include "resolve/demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <string.h>

#define INPUT_MAX 1024 /* libiberty's own limit for C++ */
#define OUTPUT_MAX 16384
#define STUB "@plt" /* see plt.h; not part of the mangled name */

struct demangled {
	struct pmp_buf *buf;
	size_t limit; /* for buf->length */
	jmp_buf too_long;
};

static void append(const char *text, size_t length, void *arg)
{
	struct demangled *output = arg;

	if (length > output->limit - output->buf->length)
		longjmp(output->too_long, 1);
	pmp_buf_add(output->buf, text, length);
}

static bool run(const char *symbol, struct demangled *output)
{
	const int options = DMGL_PARAMS | DMGL_ANSI;

	if (setjmp(output->too_long))
		return false;
	/* Rust first: its legacy form is also a valid C++ name. */
	return rust_demangle_callback(symbol, options, append, output) ||
	       cplus_demangle_v3_callback(symbol, options, append, output);
}

static bool is_stub(const char *symbol, size_t length)
{
	const size_t suffix = sizeof(STUB) - 1;

	return length > suffix && memcmp(symbol + length - suffix, STUB, suffix) == 0;
}

bool pmp_demangle(const char *symbol, struct pmp_buf *out)
{
	size_t before = out->length, length = strnlen(symbol, INPUT_MAX + 1);
	struct demangled output = { .buf = out, .limit = before + OUTPUT_MAX };
	char bare[INPUT_MAX + 1];
	bool stub;

	if (strncmp(symbol, "_Z", 2) != 0 && strncmp(symbol, "_R", 2) != 0 &&
	    strncmp(symbol, "_GLOBAL_", 8) != 0)
		return false;
	if (length > INPUT_MAX)
		return false;
	stub = is_stub(symbol, length);
	if (stub)
		length -= sizeof(STUB) - 1;
	memcpy(bare, symbol, length);
	bare[length] = '\0';
	if (run(bare, &output) && out->length > before) {
		if (stub)
			pmp_buf_puts(out, STUB);
		if (!pmp_buf_failed(out))
			return true;
	}
	if (out->data && !pmp_buf_failed(out)) {
		out->length = before;
		out->data[before] = '\0';
	}
	return false;
}
