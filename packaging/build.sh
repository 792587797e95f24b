#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Builds a package, reproducibly, from the tarball of make dist:
#
#	packaging/build.sh deb|rpm|static-tarball TARBALL FOLDER
#
# The result is put into FOLDER. make deb, make rpm and make static-tarball call this.

set -u
umask 022
LC_ALL=C.UTF-8
TZ=UTC
export LC_ALL TZ
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES CFLAGS CPPFLAGS LDFLAGS CONFIG_SITE DESTDIR

die() {
	printf 'packaging/build.sh: %s\n' "$*" >&2
	exit 1
}

[ $# -eq 3 ] || die "usage: packaging/build.sh deb|rpm|static-tarball TARBALL FOLDER"
kind=$1
scripts=$(cd "$(dirname "$0")" && pwd) || exit
tarball=$(realpath "$2") && [ -f "$tarball" ] || die "no such tarball: $2"
mkdir -p "$3" && folder=$(cd "$3" && pwd) || die "cannot make the folder $3"
name=$(basename "$tarball" .tar.xz)
work=$folder/build-$kind
jobs=$(getconf _NPROCESSORS_ONLN)

need() {
	for tool; do
		command -v "$tool" >/dev/null 2>&1 ||
			die "$kind needs $tool, which is not installed: ./bootstrap check installs it"
	done
}

# The date of all files: that of the changelog, in a checkout as in a tarball.
date_of_changelog() {
	date -d "$(sed -n 's/^ -- .*>  //p' "$scripts/debian/changelog" | head -n 1)" +%s
}

# logged COMMAND...: its output is kept, and shown when it fails.
logged() {
	"$@" >"$work.log" 2>&1 && return
	tail -n 40 "$work.log" >&2
	die "this failed: $* (all of it is in $work.log)"
}

unpack() {
	rm -rf "$work"
	mkdir "$work" && tar -C "$work" -xf "$tarball" && cd "$work/$name" || exit
}

deb() {
	need dpkg-buildpackage dh
	unpack
	cp -R packaging/debian . || exit
	logged env DEB_BUILD_OPTIONS="parallel=$jobs noautodbgsym" DEB_CFLAGS_STRIP=-g \
		dpkg-buildpackage -b -us -uc
	mv "$work"/*.deb "$folder"
}

# If rpm does not know what is installed, as on Debian, it cannot check BuildRequires.
rpm() {
	need rpmbuild
	rm -rf "$work"
	mkdir "$work" || exit
	command rpm -q rpm >/dev/null 2>&1 || set -- --nodeps
	logged rpmbuild -bb "$@" --define "_topdir $work" --define "_sourcedir ${tarball%/*}" \
		--define "_smp_mflags -j$jobs" "$scripts/pmp.spec"
	mv "$work"/RPMS/*/*.rpm "$folder"
}

# The linker's map names the libraries that are in the program.
static_tarball() {
	need dpkg strip
	unpack
	arch=$(uname -m)
	whole=$work/$name-linux-$arch
	logged ./configure -q --enable-static-exe CFLAGS="-O2 -ffile-prefix-map=$PWD=."
	logged make -s -j"$jobs" all LDFLAGS="-Wl,-Map,$work/map"
	logged make -s install DESTDIR="$work/root"
	mkdir "$whole" && mv "$work/root/usr/local/bin" "$work/root/usr/local/share" "$whole" ||
		exit
	strip "$whole/bin/pmp" && rm -r "$whole/share/man/man3" &&
		rm "$whole/share/doc/pmp/examples/hottest.c" &&
		cp COPYING "$whole/share/doc/pmp" &&
		logged "$scripts/licences.sh" "$work/map" "$whole/share/doc/pmp/licences" || exit
	tar -C "$work" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 \
		--numeric-owner --format=gnu -cf "$whole.tar" "${whole##*/}" &&
		gzip -9n "$whole.tar" && mv "$whole.tar.gz" "$folder"
}

SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(date_of_changelog)}
[ -n "$SOURCE_DATE_EPOCH" ] || die "no date in packaging/debian/changelog"
export SOURCE_DATE_EPOCH
case $kind in
deb | rpm | static-tarball) "$(echo "$kind" | tr - _)" || die "cannot make the $kind" ;;
*) die "no such kind of package: $kind" ;;
esac
cd "$folder" && rm -rf "$work" "$work.log"
