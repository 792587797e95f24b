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

sed -n 's/^WRITER(\(.*\))$/\1/p' "$top_builddir/libpmp/write/writer-list.h" >"$tmp/formats"
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

find "$top_srcdir/pmp" -name '*.c' -exec cat {} + | grep -oE 'getenv\("[A-Z_]+"' |
	sed 's/.*"\(.*\)"/\1/' | sort -u >"$tmp/variables"
while read -r name; do
	like "$(section ENVIRONMENT | tags)" "(^|[^A-Z_])$name([^A-Z_]|\$)" \
		"pmp(1) describes the variable $name"
done <"$tmp/variables"

grep -rhoE --include='*.c' 'PMP_LOG\([^"]*"[a-z]+"' "$top_srcdir/libpmp" |
	sed 's/.*"\(.*\)"/\1/' | sort -u >"$tmp/areas"
ok "[ $(wc -l <"$tmp/areas") -ge 5 ]" "the areas of debug messages were read"
while read -r area; do
	like "$(section ENVIRONMENT)" "(^|[^a-z])$area([^a-z]|\$)" \
		"pmp(1) names the area $area of PMP_DEBUG"
done <"$tmp/areas"

# The keys of the live view: the manual has the labels of the table.
sed -n "s/.*\.label = \"\([^\"]*\)\".*/\1/p; s/.*\.key = '\(.\)'.*/\1/p" \
	"$top_srcdir/pmp/view/keys.c" "$top_srcdir"/pmp/rows/view-*.c | sed 's/\\\\/\\e/' >"$tmp/keys"
section KEYS | sed -n 's/^\.It //p' >"$tmp/keys-page"
ok "[ $(wc -l <"$tmp/keys") -ge 40 ]" "the table of keys was read"
is "$(sort "$tmp/keys")" "$(sort "$tmp/keys-page")" "pmp(1) has the keys of the live view"

# Every message of the code is in the manual: of its words between two conversions the
# longest run, in the text of DIAGNOSTICS. Not there are what only a customer of the library
# or a fault of pmp itself can see, lines of --stats, which has a part of its own, and
# what is said of an option's value.
internal='^(%s|not enough memory.*|%s: not enough memory|invalid regular expression|%d does not match any more'
internal="$internal|not a process id|no such (format|kind)|no base, no format|no report, no|no past|the format %s (does not compare|has no snapshots)|cannot (open|read) %s"
internal="$internal|cannot (receive|send)|the other process|a (message|note) of|sample of process"
internal="$internal|two modules|option --%s: |(snapshots|stacks|stops|lost|children|rate): "
internal="$internal|there is no snapshot of|any thread stopped|snapshots taken but|%s: %s, distinct|cannot (read|write) %s)"
if command -v perl >/dev/null; then
	find "$top_srcdir/pmp" "$top_srcdir/libpmp" -name '*.c' \
		-exec perl "$top_srcdir/t/lib/messages.pl" {} + | sort -u >"$tmp/messages"
	ok "[ $(wc -l <"$tmp/messages") -ge 100 ]" "messages were found in the code"
	section DIAGNOSTICS | sed -e 's/^\.It //' -e 's/\\e/\\/g' | tr '\n' ' ' >"$tmp/diagnostics"
	grep -vE "$internal" "$tmp/messages" | sed -e 's/%%/%/g' -e 's/\\"/"/g' >"$tmp/wanted"
	while read -r message; do
		words=$(printf '%s\n' "$message" |
			sed -E 's/%[-+ 0#]*([0-9]+|\*)?(\.([0-9]+|\*))?(hh|h|ll|l|z|j)?[a-zA-Z]/\n/g' |
			awk 'length > most { most = length; longest = $0 } END { print longest }')
		grep -qF -e "$words" "$tmp/diagnostics" || echo "$message"
	done <"$tmp/wanted" >"$tmp/missing"
	is "$(cat "$tmp/missing")" "" "messages of the code that DIAGNOSTICS lacks"
else
	skip "no perl"
fi

# Calls that a stop would disturb: the manual has those of the table in the code.
sed -n 's/^.*{ SYS_\([a-z0-9_]*\), [A-Z_]*, [-0-9]* },.*/\1/p' \
	"$top_srcdir/libpmp/capture/stop-policy.c" | sed 's/^rt_//' | sort -u >"$tmp/calls"
section 'EFFECTS ON THE TARGET' |
	sed -n '/^A stop would make these calls return/,/^A thread that is blocked in one of them/p' |
	sed -n 's/^\.Xr \([a-z0-9_]*\) 2.*/\1/p' | sort -u >"$tmp/calls-page"
ok "[ $(wc -l <"$tmp/calls") -ge 20 ]" "the table of calls was read"
is "$(cat "$tmp/calls-page")" "$(cat "$tmp/calls")" "pmp(1) has the calls that are not disturbed"

if command -v mandoc >/dev/null; then
	# The order of the sections is ours.
	is "$(mandoc -Tlint -W warning "$top_srcdir"/man/*.[1-9] 2>&1 | grep -vE 'conventional order|Xr order')" \
		"" "mandoc finds no fault with the manual"
else
	skip "no mandoc"
fi

done_testing
