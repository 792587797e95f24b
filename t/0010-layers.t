#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The folders of the library may include only what comes before them in the flow of the
# data, and only some may call what is dangerous: t/layers.allow, line by line.
. "${top_srcdir:-.}/t/lib/test.sh"

cd "$top_srcdir" || exit 99
allow=t/layers.allow

find libpmp pmp -name '*.[ch]' ! -name 'writer-list.h' ! -name 'syscall-list*.h' ! -name 'pprof-fields.h' ! -name 'svg-script.h' ! -name 'page-*.h' ! -name '*.pb-c.[ch]' |
	sort >"$tmp/files"
xargs awk -v faults=0 -f t/lib/no-comments.awk <"$tmp/files" >"$tmp/code"

# code_of WHO...: the part of the code that belongs to one of these.
code_of() {
	for who; do
		[ "$who" != all ] || who=
		awk -v who="$who" 'index($0, who) == 1' "$tmp/code"
	done
}

# ---- include -------------------------------------------------------------------

# Every #include "..." as: file header. The rule with the longest WHO decides.
grep -E ':[[:space:]]*#[[:space:]]*include[[:space:]]*"' "$tmp/code" |
	sed -E 's/^([^:]*):[0-9]*:.*"([^"]*)".*/\1 \2/' >"$tmp/includes"

awk '
	FNR == NR {
		if ($1 == "include") {
			who = $2
			rules[who] = $0
		}
		next
	}
	{
		best = ""
		for (who in rules)
			if (index($1, who) == 1 && length(who) > length(best))
				best = who
		if (best == "") {
			print $1 " is in no folder of " ARGV[1]
			next
		}
		n = split(rules[best], word)
		allowed = 0
		for (i = 3; i <= n; i++)
			if (word[i] == $2 ||
			    word[i] ~ /\/$/ && index($2, word[i]) == 1 ||
			    word[i] == "local" && $2 !~ /\//)
				allowed = 1
		if (!allowed)
			print $1 " includes " $2
	}' "$allow" "$tmp/includes" >"$tmp/broken"
is "$(cat "$tmp/broken")" "" "files include only what their folder may include"

# A rule that nothing is held against would pass as well.
ok "[ $(wc -l <"$tmp/includes") -ge $(grep -c 'c$' "$tmp/files") ]" "includes were found"

# ---- circles --------------------------------------------------------------------

# name.c and name.h are one: "from to" for each of them that includes another one.
while read -r file header; do
	from=${file%.[ch]}
	for folder in libpmp pmp "${file%/*}"; do
		to=$folder/${header%.h}
		[ -f "$to.h" ] || continue
		[ "$from" = "$to" ] || echo "$from $to"
		break
	done
done <"$tmp/includes" | sort -u >"$tmp/edges"

# What is left when all are taken away, again and again, that include nothing of the rest
# or are included by nothing of it.
in_circles() {
	awk '
		{ from[NR] = $1; to[NR] = $2; left[NR] = 1 }
		END {
			do {
				split("", out)
				split("", in_)
				for (i in left) {
					out[from[i]]
					in_[to[i]]
				}
				taken = 0
				for (i in left)
					if (!(to[i] in out) || !(from[i] in in_)) {
						delete left[i]
						taken = 1
					}
			} while (taken)
			for (i in left)
				print from[i], to[i]
		}' "$1" | sort
}

in_circles "$tmp/edges" >"$tmp/circles"
is "$(cat "$tmp/circles")" "" "no circle among files"

# ---- names ----------------------------------------------------------------------

# defined CODE: the name, once for each definition of a structure, union or
# enumeration, local ones included.
defined() {
	sed 's/^[^:]*:[0-9]*://' "$1" | tr '\n\t' '  ' |
		grep -oE '(^|[^A-Za-z0-9_])(struct|union|enum) +[A-Za-z_][A-Za-z0-9_]* *[{]' |
		sed -E 's/.*(struct|union|enum) +([A-Za-z_0-9]*).*/\2/'
}

defined "$tmp/code" | sort | uniq -d >"$tmp/twice"
is "$(cat "$tmp/twice")" "" "no struct, union or enum is defined twice"

# ---- only, never -----------------------------------------------------------------

# A word is not part of a longer one; the name of a call ends itself, and headers in
# angle brackets need no border.
pattern_of() {
	case $1 in
	'<'* | *'"'*) printf '%s' "$1" ;;
	*'[(]') printf '(^|[^A-Za-z0-9_.>"])(%s)' "$1" ;;
	*) printf '(^|[^A-Za-z0-9_.>"])(%s)([^A-Za-z0-9_"]|$)' "$1" ;;
	esac
}

grep -E '^(only|never)[[:space:]]' "$allow" >"$tmp/rules"
while read -r kind pattern whom; do
	match=$(pattern_of "$pattern")
	# shellcheck disable=SC2086 # a list of words
	case $kind in
	only) code_of all | awk -v whom="$whom" '
			BEGIN { n = split(whom, who) }
			{
				for (i = 1; i <= n; i++)
					if (index($0, who[i]) == 1)
						next
				print
			}' ;;
	never) code_of $whom ;;
	esac | sed -E 's/^([^:]*):([0-9]*):/\1:\2: /' | grep -E -e "$match" >"$tmp/broken"
	case $kind in
	only) text="only $whom: $pattern" ;;
	never) text="never in $whom: $pattern" ;;
	esac
	is "$(cat "$tmp/broken")" "" "$text"
done <"$tmp/rules"

# ---- the checks themselves ----------------------------------------------------------

printf '%s\n' 'a b' 'b c' 'c d' 'd b' 'd e' >"$tmp/sample"
is "$(in_circles "$tmp/sample" | tr '\n' ,)" "b c,c d,d b," "a circle of three is found"

cat >"$tmp/sample.c" <<'END'
struct one {
	union two { int x; } two;
};
struct three *three(struct four *four);
enum
	one { A };
END
awk -v faults=0 -f t/lib/no-comments.awk "$tmp/sample.c" >"$tmp/sample"
is "$(defined "$tmp/sample" | sort | tr '\n' ,)" "one,one,two," "definitions are found"

cat >"$tmp/sample.c" <<'END'
/* ptrace(PTRACE_CONT) in a comment */
call("a /* string */"); // PTRACE_ATTACH
if (PMP_FAULT("cont"))
	ptrace(PTRACE_CONT, tid, 0, 0);
if (PMP_FAULT("x")) {
	kill(pid, SIGSTOP);
}
after();
END
is "$(awk -v faults=0 -f t/lib/no-comments.awk "$tmp/sample.c" |
	sed 's/^[^:]*:[0-9]*://; /^ *$/d')" 'call("a /* string */"); 
after();' "comments and planted faults do not count, all else does"

done_testing
