#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The manual, --help and the program know the same options, formats and statuses.
. "${top_srcdir:-.}/t/lib/test.sh"

page=$top_srcdir/man/pmp.1
[ -f "$page" ] || skip_all "no man/pmp.1"
[ -x "$PMP" ] || skip_all "no $PMP"

# The page as plain letters: \- is -, font changes and the quotes of macros are nothing.
sed -e 's/\\-/-/g' -e 's/\\f[BIRP]//g' -e 's/\\&//g' -e 's/\\(en/-/g' "$page" >"$tmp/page"

# section NAME: the text of one section.
section() {
	awk -v name="$1" '
		/^\.S[Hh] / {
			title = $0
			sub(/^\.S[Hh] */, "", title)
			gsub(/"/, "", title)
			inside = toupper(title) == name
			next
		}
		inside' "$tmp/page"
}

# tags: the lines that name what is described: after .TP or .TQ, or .It of mdoc. In mdoc
# a long option is "Fl -name".
tags() {
	awk '/^\.It/ { print } tag { print; tag = 0 } /^\.T[PQ]/ { tag = 1 }' |
		sed 's/Fl  *-\([a-z]\)/--\1/g'
}

long_options() {
	grep -oE -e '--[a-z][a-z0-9-]*' | sort -u
}

"$PMP" --help >"$tmp/help" 2>"$tmp/help.err"
is $? 0 "pmp --help succeeds"
is "$(cat "$tmp/help.err")" "" "and says nothing on standard error"
grep -E '^ *-' "$tmp/help" | sed -E 's/^( *(-[A-Za-z0-9?],? *)?)(--[a-z-]+).*/\3/' |
	long_options >"$tmp/in-help"
section OPTIONS | tags | long_options >"$tmp/in-page"
ok "[ $(wc -l <"$tmp/in-help") -ge 15 ]" "--help lists options"
is "$(comm -23 "$tmp/in-help" "$tmp/in-page")" "" "options of --help that pmp(1) lacks"
is "$(comm -13 "$tmp/in-help" "$tmp/in-page")" "" "options of pmp(1) that --help lacks"

# Each of them is really taken: what is not an option is told with status 2 and its name.
while read -r option; do
	"$PMP" "$option" --no-such-option </dev/null >/dev/null 2>"$tmp/err"
	grep -qiE "(unknown|unrecognized|invalid|no such) option.*'?$option'?( |$)" "$tmp/err" &&
		echo "$option"
done <"$tmp/in-help" >"$tmp/unknown"
is "$(cat "$tmp/unknown")" "" "options of --help that pmp does not know"

sed -n 's/^WRITER(\(.*\))$/\1/p' "$top_builddir/libpmp/writer-list.h" >"$tmp/formats"
while read -r word; do
	like "$(cat "$tmp/help")" "(^|[^a-z-])$word([^a-z-]|\$)" "--help names the format $word"
	like "$(tags <"$tmp/page")" "(^|[^a-z-])$word([^a-z-]|\$)" "pmp(1) names it"
	like "$(cat "$top_srcdir/man/pmp-formats.5")" "^\.S[Hh] \"?$word\"?\$" \
		"pmp-formats(5) describes it"
done <"$tmp/formats"

for status in 0 1 2 3 4 5 125 126 127; do
	like "$(section 'EXIT STATUS' | tags)" "(^|[^0-9])$status([^0-9]|\$)" \
		"pmp(1) describes the exit status $status"
done

cat "$top_srcdir"/pmp/*.c | grep -oE 'getenv\("[A-Z_]+"' | sed 's/.*"\(.*\)"/\1/' |
	sort -u >"$tmp/variables"
while read -r name; do
	like "$(section ENVIRONMENT | tags)" "(^|[^A-Z_])$name([^A-Z_]|\$)" \
		"pmp(1) describes the variable $name"
done <"$tmp/variables"

# The keys of the live view: the manual has the labels of the table.
sed -n 's/.*\.label = "\([^"]*\)".*/\1/p; s/^.*PMP_ACTION_[A-Z_]*, {[^}]*}, "\([^"]*\)",.*/\1/p' \
	"$top_srcdir/pmp/keys.c" | sed 's/\\\\/\\e/' >"$tmp/keys"
section KEYS | sed -n 's/^\.It //p' >"$tmp/keys-page"
ok "[ $(wc -l <"$tmp/keys") -ge 40 ]" "the table of keys was read"
is "$(sort "$tmp/keys")" "$(sort "$tmp/keys-page")" "pmp(1) has the keys of the live view"

if command -v mandoc >/dev/null; then
	# The order of the sections is ours.
	is "$(mandoc -Tlint -W warning "$top_srcdir"/man/*.[1-9] 2>&1 | grep -vE 'conventional order|Xr order')" \
		"" "mandoc finds no fault with the manual"
else
	skip "no mandoc"
fi

done_testing
