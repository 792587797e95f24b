#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# pmp-formats(5): each format of --help has its section, and the examples are what pmp
# writes. A comment above an example says what it is:
#
#	.\" manual.raw			t/data/golden/manual.raw
#	.\" manual.json, on one line	the same without ends of lines and what follows them
#	.\" part of manual.svg		lines of it
#
# Blanks at the ends of lines do not count, as pages have none.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"

page=$top_srcdir/man/pmp-formats.5
golden=$top_srcdir/t/data/golden

# example FORMAT: the example in its section, with letters instead of requests.
example() {
	awk -v name="$1" '
		/^\.Sh / { inside = $2 == name; next }
		inside && /^\.\\" .*manual\./ { marked = 1; next }
		marked && /^\.Bd / { literal = 1; next }
		literal && /^\.Ed/ { exit }
		literal' "$page" | sed 's/^\\&//; s/\\e/\\/g; s/\\-/-/g'
}

# mark FORMAT: the comment above it.
mark() {
	awk -v name="$1" '/^\.Sh / { inside = $2 == name }
		inside && sub(/^\.\\" /, "") && /manual\./ { print; exit }' "$page"
}

trimmed() {
	sed 's/ *$//' "$1" | sed -e :a -e '/^\n*$/{$d;N;ba' -e '}'
}

joined() {
	sed 's/^ *//' | tr -d '\n'
}

"$PMP" --help | sed -n '/^Formats:/,/^$/s/^  \([a-z]*\).*/\1/p' >formats
ok "[ $(wc -l <formats) -ge 12 ]" "formats were found"
while read -r format; do
	ok "grep -qx '.Sh $format' '$page'" "$format has a section"
	example "$format" >text
	case $(mark "$format") in
	"manual.$format")
		is "$(cat text)" "$(trimmed "$golden/manual.$format")" "$format: the example is real" ;;
	"manual.$format, on one line")
		is "$(joined <text)" "$(joined <"$golden/manual.$format")" "$format: the example is real" ;;
	"part of manual.$format")
		ok "[ -s text ]" "$format: there is an example"
		is "$(grep -cvxFf "$golden/manual.$format" text)" 0 "$format: its lines are real" ;;
	*)
		# Binary ones are described by what reads them.
		like "$(sed -n "/^\.Sh $format\$/,/^\.Sh /p" "$page")" '(pprof|google-pprof) -' \
			"$format: how it is read"
		;;
	esac
done <formats

done_testing
