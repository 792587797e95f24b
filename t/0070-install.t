#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What `make install` installs is complete: a program of one's own, the example of
# libpmp(3), can be made of it with pkg-config and works.
. "${top_srcdir:-.}/t/lib/test.sh"
need make pkg-config "${CC:-cc}"
[ -f "$top_builddir/Makefile" ] || skip_all "no build with make"

# This make is not part of the one that runs the tests.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
root=$tmp/root
prefix=$(sed -n 's/^prefix = //p' "$top_builddir/Makefile")
ok "make -s -C '$top_builddir' install DESTDIR='$root'" "make install"

at=$root$prefix
for file in bin/pmp include/libpmp.h include/libpmp-program.h share/man/man1/pmp.1 share/man/man3/libpmp.3 \
	share/man/man5/pmp-formats.5 share/man/man7/pmp-examples.7 \
	share/bash-completion/completions/pmp share/zsh/site-functions/_pmp \
	share/fish/vendor_completions.d/pmp.fish \
	share/doc/pmp/examples/pmp.service share/doc/pmp/examples/pmp.conf; do
	ok "[ -s '$at/$file' ]" "$file is installed"
done
like "$(cat "$at/share/doc/pmp/examples/pmp-serve@.service")" "^ExecStart=$prefix/bin/pmp " \
	"examples name the program that is installed"
like "$(cat "$at/share/man/man7/pmp-examples.7")" "^ExecStart=$prefix/bin/pmp " "so does the manual"
pc=$(find "$at" -name libpmp.pc)
isnt "$pc" "" "libpmp.pc is installed"
unlike "$(cd "$root" && find . -type f)" '/(t|base|capture)/|-faulty|-internal|/demo$' \
	"nothing else is"

# shellcheck disable=SC2086 # flags are lists of words
example() {
	pkg="pkg-config --define-variable=prefix=$at"
	flags=$(PKG_CONFIG_PATH=${pc%/*} $pkg --cflags --libs libpmp) || return
	${CC:-cc} ${CFLAGS:-} -o hottest "$top_srcdir/man/examples/hottest.c" $flags ${LDFLAGS:-}
}
ok example "man/examples/hottest.c compiles and links with pkg-config's flags"

# Where shared libraries were asked for, this one is where nobody looks.
LD_LIBRARY_PATH=$(find "$at" -name 'libpmp.so' -printf %h)${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
start_target demo
ok "./hottest $target_pid >out" "the example works"
like "$(head -n 1 out)" '^[0-9]+ .*update_table' \
	"first of all it shows the function that most threads are in"
like "$(cat out)" 'compute_checksum' "and those that compute"
ok "untouched $target_pid" "which is left alone"

done_testing
