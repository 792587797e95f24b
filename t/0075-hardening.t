#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The program that is built has what makes faults hard to exploit: relocations that are
# read-only once it runs, memory that is either writable or executable, a random address.
. "${top_srcdir:-.}/t/lib/test.sh"
need readelf

segments=$(readelf -lW "$PMP")
like "$segments" '^ *GNU_STACK .* RW ' "its stack is not executable"
unlike "$segments" '^ *LOAD .* (RWE|WE|R?W ?E) ' "no segment is writable and executable"
like "$segments" '^ *GNU_RELRO ' "relocations are read-only once it runs"

dynamic=$(readelf -dW "$PMP" 2>&1)
if printf '%s\n' "$dynamic" | grep -q 'no dynamic section'; then
	skip "a static program: it has no relocations by name"
else
	like "$dynamic" 'FLAGS_1.*NOW' "all functions are bound at the start (-z now)"
	like "$dynamic" 'FLAGS_1.*PIE' "it is loaded at a random address"
fi

# Sanitizers have checks of their own, and -Og knows few sizes.
if grep -q '^PMP_CFLAGS = .*-fsanitize' "$top_builddir/Makefile" 2>/dev/null; then
	like "$(readelf -W --dyn-syms "$PMP")" ' __asan_' "accesses are checked by a sanitizer"
elif grep -q '^PMP_CFLAGS = .*-Og' "$top_builddir/Makefile" 2>/dev/null; then
	skip "a build for debugging: no checked functions"
elif printf '%s\n' "$dynamic" | grep -q 'no dynamic section'; then
	like "$(readelf -sW "$PMP")" ' __[a-z]*_chk$|There are no symbols' "calls are checked"
else
	like "$(readelf -W --dyn-syms "$PMP")" ' __[a-z]*_chk@' \
		"calls that write are checked against the sizes of their buffers"
fi

done_testing
