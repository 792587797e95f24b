#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What the library defines begins with pmp_; what it exports is what its two
# headers declare;
# what it calls does not print, exit or change the process.
. "${top_srcdir:-.}/t/lib/test.sh"
need nm "${CC:-cc}"

library=$top_builddir/libpmp/.libs/libpmp-internal.a
[ -f "$library" ] || library=$top_builddir/libpmp/libpmp-internal.a
[ -f "$library" ] || skip_all "no $library"

# The compiler's and the sanitizers' own symbols begin with __.
nm -g --defined-only "$library" 2>/dev/null | awk 'NF == 3 { print $3 }' |
	grep -v '^__' | sort -u >"$tmp/defined"
ok "[ $(wc -l <"$tmp/defined") -gt 50 ]" "symbols were found"
is "$(grep -v '^pmp_' "$tmp/defined")" "" "all symbols begin with pmp_"

# Functions that the headers declare, as the compiler sees them.
# shellcheck disable=SC2086 # CC may have arguments
${CC:-cc} -E -P "$top_srcdir/libpmp/libpmp-program.h" | grep -oE '\bpmp_[a-z0-9_]+ *\(' |
	tr -d ' (' | sort -u >"$tmp/declared"
sed -n 's/^[[:space:]]*\(pmp_[a-z0-9_]*\);.*/\1/p' "$top_srcdir/libpmp/libpmp.sym" \
	>"$tmp/listed"
is "$(cat "$tmp/listed")" "$(cat "$tmp/declared")" \
	"libpmp.sym lists the functions of both headers in order"
# What whoever embeds the library has to read.
${CC:-cc} -E -P "$top_srcdir/libpmp/libpmp.h" | grep -oE '\bpmp_[a-z0-9_]+ *\(' |
	sort -u >"$tmp/main"
ok "[ $(wc -l <"$tmp/main") -le 70 ]" "libpmp.h has $(wc -l <"$tmp/main") functions, not more than 70"
is "$(comm -13 "$tmp/defined" "$tmp/declared")" "" "the library defines them all"

# The header is the manual: a sentence above each function, which says what it returns.
cat >"$tmp/undocumented.awk" <<'END'
/^\/\*\*/ {
	doc = $0
	while ($0 !~ /\*\// && (getline) > 0)
		doc = doc " " $0
	next
}
/^[a-z].*[ *]pmp_[a-z_]+\(/ {
	type = name = $0
	sub(/ *pmp_[a-z_]+\(.*/, "", type)
	sub(/\(.*/, "", name)
	sub(/.*[ *]/, "", name)
	if (doc == "")
		print name ": no sentence"
	else if (type != "void" && doc !~ /Returns/)
		print name ": what does it return?"
}
/;|^$|^[^ \t]/ { doc = "" }
END
is "$(awk -f "$tmp/undocumented.awk" "$top_srcdir/libpmp/libpmp.h")" "" \
	"each function of libpmp.h has its sentence, and says what it returns"
cat >"$tmp/sample.h" <<'END'
/** Returns
 * one. */
int pmp_one(int a,
	    int b);
int pmp_two(void);
/** Three. */
char *pmp_three(void);
/** Four. */
void pmp_four(void);
END
is "$(awk -f "$tmp/undocumented.awk" "$tmp/sample.h" | tr '\n' ,)" \
	"pmp_two: no sentence,pmp_three: what does it return?," "what lacks one is found"

nm -u "$library" 2>/dev/null | awk '$1 == "U" { print $2 }' | sed 's/@.*//' |
	sort -u >"$tmp/used"
is "$(grep -xE '_?_?(f|v|vf|d)?printf(_chk)?|f?puts|f?putc|putchar|perror|psignal|_?_?exit|abort|fork|vfork|system|popen|signal|sigaction|sigprocmask|setlocale|atexit|setenv|putenv|chdir' "$tmp/used" |
	grep -v '^__.*\(asan\|ubsan\|gcov\)')" \
	"" "the library does not print, exit, fork or handle signals"
is "$(grep -xE 'atoi|atol|atoll|atof|_?_?(isoc99_)?v?s?scanf|strtok(_r)?|gets|v?sprintf|str(cpy|cat)|mktemp|tmpnam' "$tmp/used")" \
	"" "the library calls nothing that reads or writes without a limit"

done_testing
