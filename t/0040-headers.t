#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Each header compiles alone and twice; the public one also in C++ and in plain C.
. "${top_srcdir:-.}/t/lib/test.sh"

cc=${CC:-cc}
need "${cc%% *}"
flags="-Wall -Wextra -Werror -fsyntax-only"
includes="-I$top_srcdir/libpmp -I$top_builddir/libpmp -I$top_srcdir/pmp ${CPPFLAGS:-}"

for header in $(cd "$top_srcdir" && find libpmp pmp -name '*.h' | sort); do
	case $header in
	*/writer-list.h | */syscall-list*.h | */pprof-fields.h | */svg-script.h | */page-*.h | *.pb-c.h) continue ;;
	esac
	name=${header#*/}
	printf '#include "%s"\n#include "%s"\nextern int x;\n' "$name" "$name" >alone.c
	ok "$cc -std=gnu11 -D_GNU_SOURCE $flags $includes alone.c" "$header"
	guard=PMP_$(echo "${name%.h}" | tr '[:lower:]/-' '[:upper:]__')_H
	like "$(cat "$top_srcdir/$header")" "^#ifndef $guard\$" "$header has its guard"
done

cat >public.c <<'END'
#include <libpmp-program.h>

int main(void)
{
	struct pmp_error err;

	return pmp_target_open(0, (struct pmp_target_options *)0, (struct pmp_target **)0,
			       &err) == PMP_OK;
}
END
sed 's/(void)/()/' public.c >public.cc
ok "$cc -std=c99 -pedantic $flags -I$top_srcdir/libpmp public.c" "the public headers as C99"
cxx=${CXX:-c++}
if command -v "${cxx%% *}" >/dev/null; then
	ok "$cxx -std=c++98 -Wno-long-long $flags -I$top_srcdir/libpmp public.cc" \
		"the public headers as C++98"
	ok "$cxx -std=c++17 -pedantic $flags -I$top_srcdir/libpmp public.cc" "the public headers as C++17"
else
	skip "no C++ compiler"
fi

done_testing
