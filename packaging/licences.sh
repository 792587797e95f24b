#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The licences of what is linked into a static program, from the Debian packages of those
# files:
#
#	packaging/licences.sh MAP FOLDER
#
# MAP is the linker's (-Wl,-Map). FOLDER gets a list of the packages with their versions, the
# copyright file of each, and those of Debian's common licences that these refer to.

set -u
common=/usr/share/common-licenses

die() {
	printf 'packaging/licences.sh: %s\n' "$*" >&2
	exit 1
}

[ $# -eq 2 ] && [ -s "$1" ] || die "usage: packaging/licences.sh MAP FOLDER"
map=$1
folder=$2

# The archives with members in the program, the objects of the compiler and libc, and what
# wrote the built-in terminal descriptions.
linked() {
	sed -n -e 's/^\(\/[^(]*\.a\)(.*/\1/p' -e 's/^LOAD \(\/usr\/.*\.o\)$/\1/p' "$map"
	command -v infocmp
}

# package_of FILE. If /usr is merged, its package may know it without /usr.
package_of() {
	dpkg -S "$1" 2>/dev/null || dpkg -S "${1#/usr}" 2>/dev/null
}

packages() {
	linked | sort -u | xargs realpath -- | sort -u | while read -r file; do
		package=$(package_of "$file") ||
			die "no package has $file, so its licence is not known"
		echo "${package%%: *}"
	done
}

mkdir -p "$folder" || exit
list=$(packages) || exit
for package in $(printf '%s\n' "$list" | sort -u); do
	name=${package%%:*}
	cp -L "/usr/share/doc/$name/copyright" "$folder/$name" ||
		die "the package $name has no copyright file"
	# shellcheck disable=SC2016 # dpkg's own variables
	dpkg-query -W -f '${Package} ${Version} (source: ${source:Package} ${source:Version})\n' \
		"$package" || exit
done >"$folder/PACKAGES"
[ -s "$folder/PACKAGES" ] || die "no library in $map"
for licence in $(grep -rhoE "$common/[A-Za-z0-9][-A-Za-z0-9.+]*[A-Za-z0-9+]" "$folder" | sort -u); do
	mkdir -p "$folder/common-licenses" &&
		cp -L "$licence" "$folder/common-licenses" || die "there is no $licence"
done
