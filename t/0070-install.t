#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What `make install` installs is complete: a program of one's own, the example of the
# manual, can be made of it with pkg-config and works.
. "${top_srcdir:-.}/t/lib/test.sh"
need make pkg-config "${CC:-cc}"
[ -f "$top_builddir/Makefile" ] || skip_all "no build with make"

# This make is not part of the one that runs the tests.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
root=$tmp/root
prefix=$(sed -n 's/^prefix = //p' "$top_builddir/Makefile")
ok "make -s -C '$top_builddir' install DESTDIR='$root'" "make install"

at=$root$prefix
for file in bin/pmp include/libpmp.h share/man/man1/pmp.1 share/man/man3/libpmp.3 \
	share/bash-completion/completions/pmp share/zsh/site-functions/_pmp \
	share/fish/vendor_completions.d/pmp.fish \
	share/doc/pmp/examples/pmp.service share/doc/pmp/examples/pmp.conf; do
	ok "[ -s '$at/$file' ]" "$file is installed"
done
pc=$(find "$at" -name libpmp.pc)
isnt "$pc" "" "libpmp.pc is installed"
unlike "$(cd "$root" && find . -type f)" '/(t|base|capture)/|-faulty|-internal|/demo$' \
	"nothing else is"

# shellcheck disable=SC2086 # flags are lists of words
example() {
	pkg="pkg-config --define-variable=prefix=$at"
	flags=$(PKG_CONFIG_PATH=${pc%/*} $pkg --cflags --libs libpmp) || return
	${CC:-cc} ${CFLAGS:-} -o example "$top_srcdir/man/example.c" $flags ${LDFLAGS:-}
}
ok example "man/example.c compiles and links with pkg-config's flags"

# Where shared libraries were asked for, this one is where nobody looks.
LD_LIBRARY_PATH=$(find "$at" -name 'libpmp.so' -printf %h)${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
start_target demo
ok "./example $target_pid >out" "the example works"
like "$(cat out)" 'update_table' "and shows what the demonstration program does"
ok "untouched $target_pid" "which is left alone"

done_testing
