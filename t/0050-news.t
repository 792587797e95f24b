#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# NEWS begins with this version, and all that name the version agree.
. "${top_srcdir:-.}/t/lib/test.sh"

version=$(sed -n 's/^AC_INIT(\[pmp\], \[\(.*\)\])$/\1/p' "$top_srcdir/configure.ac")
like "$version" '^[0-9]+\.[0-9]+(\.[0-9]+)?$' "configure.ac has a version"
like "$(head -n 1 "$top_srcdir/NEWS")" "^pmp $version( |\$)" "NEWS begins with it"
is "$(sed -n 's/^Version: //p' "$top_builddir/libpmp/libpmp.pc")" "$version" \
	"libpmp.pc has it"
is "$(sed -n '1s/^pmp (\(.*\)) .*/\1/p' "$top_srcdir/packaging/debian/changelog")" "$version" \
	"the Debian package has it"
is "$(sed -n 's/^Version: *//p' "$top_srcdir/packaging/pmp.spec")" "$version" "the RPM has it"
if [ -x "$PMP" ]; then
	like "$("$PMP" --version)" "^pmp $version( |\$)" "pmp --version has it"
else
	skip "no $PMP"
fi

done_testing
