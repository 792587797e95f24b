/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: lines, each an expression of a filter (its first character is the kind)
 * or, after '=', the name of a function or thread to filter.
 */
#include <string.h>

#include "fuzz.h"
#include "libpmp-program.h"

#define TEXT_SIZE 4096
#define EXPRESSIONS_MAX 16 /* each name is tried with all of them */
#define NAMES_MAX 16	   /* each may take 4096 matches of each expression */

size_t fuzz_seed(unsigned n, uint8_t *data, size_t size)
{
	static const char *const seeds[] = {
		"0^do_command$\n1poll|read\n=do_command\n=main",
		"2^std::\n3libc\n4^/usr/lib\n=std::map<int, int>::find(int const&)",
		"6s/^(my_)+([a-z]*)/<\\2&>/g\n6s,/,\\,\\n,\n7s|[0-9]+|N|\n=my_my_net_read/x",
		"5_main$\n8wait_for_(work|jobs)\n=wait_for_work\n=conn-17",
		"0(a?b?){500}\n0((x*)*)*y\n=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
	};

	if (n >= sizeof(seeds) / sizeof(*seeds) || strlen(seeds[n]) > size)
		return 0;
	memcpy(data, seeds[n], strlen(seeds[n]));
	return strlen(seeds[n]);
}

static void try_name(const struct pmp_filter *filter, const char *name)
{
	char shown[TEXT_SIZE];
	pmp_marks marks =
		pmp_filter_function(filter, name, name, name, shown, sizeof(shown));
	pmp_marks stack = pmp_filter_stack_marks(&marks, 1);
	bool passes = pmp_filter_passes(filter, stack);

	if (strnlen(shown, sizeof(shown)) == sizeof(shown))
		__builtin_trap();
	if (!pmp_filter_is_active(filter) && (!passes || pmp_filter_is_hidden(marks)))
		__builtin_trap();
	pmp_filter_thread(filter, name, shown, sizeof(shown));
	if (strnlen(shown, sizeof(shown)) == sizeof(shown))
		__builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *at = (const char *)data, *end = at + size;
	struct pmp_filter *filter;
	unsigned count = 0, names = 0;

	if (pmp_filter_new(&filter, NULL) < 0)
		return 0;
	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		size_t length = (size_t)((newline ? newline : end) - at);
		struct pmp_error err = { 0 };
		char text[TEXT_SIZE];

		if (length > 1 && length < sizeof(text)) {
			memcpy(text, at + 1, length - 1);
			text[length - 1] = '\0';
			if (*at == '=' && names++ < NAMES_MAX)
				try_name(filter, text);
			else if (*at >= '0' && *at < '0' + PMP_FILTER_COUNT &&
				 count++ < EXPRESSIONS_MAX &&
				 pmp_filter_add(filter, (enum pmp_filter_kind)(*at - '0'),
						text, &err) < 0 &&
				 !err.message[0])
				__builtin_trap();
		}
		at += length + 1;
	}
	pmp_filter_free(filter);
	return 0;
}
