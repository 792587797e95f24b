/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/format-value: values with units, spelled as go tool pprof spells them. */
#include <limits.h>
#include <locale.h>

#include "lib/tap.h"
#include "libpmp-program.h"

static const struct {
	uint64_t value;
	const char *unit, *text;
} values[] = {
	{ 0, "bytes", "0" },
	{ 1, "bytes", "1B" },
	{ 1023, "bytes", "1023B" },
	{ 1024, "bytes", "1kB" },
	{ 1536, "bytes", "1.50kB" },
	{ 2113632, "bytes", "2.02MB" },
	{ 5, "Kilobytes", "5kB" },
	{ 2048, "kb", "2MB" },
	{ UINT64_C(1) << 40, "byte", "1TB" },
	{ UINT64_MAX, "bytes", "16384PB" },
	{ 0, "nanoseconds", "0" },
	{ 999, "nanoseconds", "999ns" },
	{ 1500, "nanoseconds", "1.50us" },
	{ 202020000, "nanoseconds", "202.02ms" },
	{ 90, "seconds", "90s" },
	{ 7200, "s", "2hrs" },
	{ 3, "milliseconds", "3ms" },
	{ 0, "count", "0" },
	{ 17, "count", "17" },
	{ 17, "", "17" },
	{ 1000000, "samples", "1000000" },
	{ 12, "gcu", "12gcu" },
	{ 12, "s\x1b[2J", "12s\\x1b[2J" },
	{ 3, "ss", "3ss" },
	{ UINT64_MAX, "objects", "18446744073709551615objects" },
};

int main(void)
{
	char text[PMP_VALUE_SIZE], small[4];

	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
		pmp_format_value(values[i].value, values[i].unit, text, sizeof(text));
		is_str(text, values[i].text, "a value");
	}
	is_str(pmp_format_value(123456, "bytes", small, sizeof(small)), "120",
	       "cut to what fits");
	pmp_format_value(1,
			 "a unit that is much longer than any that somebody would write",
			 text, sizeof(text));
	is_str(text, "1a unit that is much longer than", "a long unit is cut");
	if (setlocale(LC_ALL, "de_DE.UTF-8"))
		is_str(pmp_format_value(1536, "bytes", text, sizeof(text)), "1.50kB",
		       "whatever the locale");
	return done_testing();
}
