#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What does not belong into the source: places of one machine, calls that know no limit,
# loose ends; and what belongs into each file.
. "${top_srcdir:-.}/t/lib/test.sh"

cd "$top_srcdir" || exit 99
if git -c safe.directory='*' ls-files --cached --others --exclude-standard >"$tmp/listed" 2>/dev/null &&
	[ -s "$tmp/listed" ]; then
	:
else
	# A tarball, perhaps with a build in it.
	find . -type f ! -path './.git/*' ! -path './autom4te.cache/*' | sed 's,^\./,,' |
		grep -E '^(libpmp|pmp|man|t)/.*\.(c|h|cc|am|in|sym|t|sh|awk|[0-9])$|^[^/]*$' |
		grep -vE '^(configure|config\.|aclocal|libtool|Makefile(\.in)?$|INSTALL)' \
			>"$tmp/listed"
fi
# Texts only: not the licence, not fixtures, not what a build has made of a test in C.
while read -r file; do
	case $file in
	COPYING | */writer-list.h | */syscall-list*.h | */pprof-fields.h | */svg-script.h | */page-*.h | *.pb-c.[ch] | t/data/* | t/fuzz/corpus/*) continue ;;
	*.t) [ ! -f "${file%.t}.c" ] || continue ;;
	esac
	[ ! -f "$file" ] || echo "$file"
done <"$tmp/listed" | tr '\n' '\0' | xargs -0 grep -Il . >"$tmp/files"
grep -E '\.(c|h)$' "$tmp/files" | grep -E '^(libpmp|pmp)/' >"$tmp/sources"
ok "[ $(wc -l <"$tmp/sources") -gt 40 ]" "sources were found"

# lines FILE-LIST ERE: where it matches, this file excepted.
lines() {
	grep -v '^t/0060-' "$1" | tr '\n' '\0' | xargs -0 grep -nE -e "$2" /dev/null
}

# calls FILE-LIST NAMES: calls of a function in code.
calls() {
	xargs awk -f t/lib/no-comments.awk <"$1" | grep -E "[^A-Za-z0-9_>.\"]($2) *\("
}

is "$(calls "$tmp/sources" 'atoi|atol|atoll|atof|s?scanf|fscanf|vsscanf|strtok|strtok_r')" \
	"" "numbers and words are read by base/scan.c"
is "$(calls "$tmp/sources" 'gets|v?sprintf|strcpy|strcat|stpcpy|strncpy|alloca|tmpnam|mktemp')" \
	"" "nothing is written without a limit"
is "$(lines "$tmp/files" '(pypi|pythonhosted|crates|rubygems|npmjs|golang|maven|debian|ubuntu|fedoraproject|alpinelinux|archlinux)\.(org|io|com|net)/|proxy\.golang')" \
	"" "no host of a package registry is named"
is "$(lines "$tmp/files" '(^|[^A-Za-z0-9_.$}%*-])/(home|work|Users|build|mnt)/[a-z]')" \
	"" "no path of one machine is named"
is "$(lines "$tmp/files" '(TO''DO|FIX''ME|(^|[^X])X''XX([^X]|$))')" "" "no loose ends"
is "$(lines "$tmp/sources" '.*[[:blank:]]$')" "" "no blanks at the ends of lines"
is "$(lines "$tmp/sources" '^ +[^ *]')" "" "sources are indented by tabs"

grep -E '\.(c|h|cc|sh|t|am|ac|awk)$|^bootstrap$|^\.ci/run$' "$tmp/files" | sort >"$tmp/code"
xargs awk 'FNR <= 3 && /SPDX-License-Identifier: GPL-2\.0-or-later/ { print FILENAME }' \
	<"$tmp/code" | sort >"$tmp/marked"
comm -23 "$tmp/code" "$tmp/marked" >"$tmp/unmarked"
xargs awk '{
	columns = 0
	parts = split($0, part, "\t")
	for (i = 1; i < parts; i++) {
		columns += length(part[i])
		columns += 8 - columns % 8
	}
	columns += length(part[parts])
}
columns > 110 { print FILENAME ":" FNR ": " columns }' <"$tmp/sources" >"$tmp/wide"
is "$(cat "$tmp/unmarked")" "" "each file says its licence at its top"
is "$(cat "$tmp/wide")" "" "lines have about 90 columns, at most 110"

# Functions of at most 60 lines: from a line that is { to the next that is }.
xargs awk 'FNR == 1 { at = 0 } /^{/ { at = FNR } /^}/ && at { if (FNR - at > 60)
	print FILENAME ":" at ": " FNR - at " lines"; at = 0 }' <"$tmp/sources" >"$tmp/long"
is "$(cat "$tmp/long")" "" "functions have at most 60 lines"

# What a build leaves must be ignored, and no script of the same suffix with it.
# Asked in a repository of its own: this copy may lie in a folder that is ignored.
if [ -f .gitignore ] && git init -q "$tmp/repository" 2>/dev/null; then
	cp .gitignore "$tmp/repository"
	for file in t/[0-9]*.c; do
		[ -f "$file" ] && echo "${file%.c}.t"
	done >"$tmp/compiled"
	git -C "$tmp/repository" check-ignore --no-index --stdin <"$tmp/compiled" >"$tmp/ignored"
	is "$(comm -23 "$tmp/compiled" "$tmp/ignored")" "" ".gitignore has every test in C"
	for file in t/[0-9]*.t; do
		[ -f "${file%.t}.c" ] || echo "$file"
	done | git -C "$tmp/repository" check-ignore --no-index --stdin >"$tmp/ignored"
	is "$(cat "$tmp/ignored")" "" ".gitignore has no test in shell"
fi
if git ls-files >"$tmp/tracked" 2>/dev/null && [ -s "$tmp/tracked" ]; then
	is "$(git ls-files --cached --ignored --exclude-standard)" "" \
		"the repository has nothing that a build makes"
fi

# Every source is compiled, every test is run.
tr -s '[:space:]' '\n' <libpmp/Makemodule.am | grep '^libpmp/' >"$tmp/words"
tr -s '[:space:]' '\n' <pmp/Makemodule.am | grep '^pmp/' >>"$tmp/words"
sort -u "$tmp/words" -o "$tmp/words"
is "$(sort "$tmp/sources" | comm -23 - "$tmp/words")" "" "the Makemodule.am files have every source"
tr -s '[:space:]' '\n' <t/Makemodule.am | grep '^t/.*\.t$' | sort -u >"$tmp/words"
for file in t/[0-9]*.c t/[0-9]*.t; do
	[ ! -f "$file" ] || echo "${file%.*}.t"
done | sort -u | comm -23 - "$tmp/words" >"$tmp/forgotten"
is "$(cat "$tmp/forgotten")" "" "t/Makemodule.am has every test"
for file in t/[0-9]*.t; do
	[ -x "$file" ] || echo "$file"
done >"$tmp/forgotten"
is "$(cat "$tmp/forgotten")" "" "every test is executable"

done_testing
