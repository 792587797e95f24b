#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What others make of the raw format is what pmp's own formats say: pt-pmp (the
# real one) gives -f pmp, the rules of flame graph tools for gdb's text give
# -f folded. The texts are the golden files, which 0610-writers.t keeps true.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"

golden=$top_srcdir/t/data/golden

# Lines of functions without what stands in brackets, counted again: pt-pmp leaves
# the brackets out with their contents, and does so for some arguments only.
# Module names "(libc.so.6)" stay.
without_brackets() {
	perl -ne '
		my ($count, $stack) = /^\s*(\d+) (.*)$/ or next;
		my @functions;
		for my $function (split /,(?![^<]*>)/, $stack) {
			my $module = $function =~ s/(\([^()]*[^()<>,]\))$// ? $1 : "";
			1 while $function =~ s/<[^<>]*>|\([^()]*\)//;
			push @functions, "$function$module";
		}
		$counts{join ",", @functions} += $count;
		END { print "$counts{$_} $_\n" for sort keys %counts }
	'
}

# Only the functions.
without_modules() {
	without_brackets | sed 's/([^()]*)//g'
}

# The words of gdb's text, as stack collapsers take them: a line `#n` counts when
# four words follow; the function is the third of them after an address, else the
# first; any other line ends a stack; a line `Thread` throws away one not ended.
collapse_gdb() {
	perl -ne '
		my @words = split " ";
		if (/^#\d/) {
			shift @words;
			unshift @stack, $words[0] =~ /^0x/ ? $words[2] : $words[0]
				if @words >= 4;
			next;
		}
		$counts{join ";", @stack}++ if @stack && !/^Thread/;
		@stack = ();
		END {
			$counts{join ";", @stack}++ if @stack;
			print "$_ $counts{$_}\n" for keys %counts;
		}
	' "$@" | LC_ALL=C sort
}

# Folded without the process and without the mark of an unknown root; a stack
# of which nothing else is left, having no frame, cannot be seen in gdb's text.
without_root() {
	perl -ne '
		chomp;
		s/^[^;]*;//;
		s/^\[(not stopped|truncated): [^;]*\];?//;
		my ($stack, $count) = /^(.+) (\d+)$/ or next;
		next if $stack eq "[unknown]";
		$counts{$stack} += $count;
		END { print "$_ $counts{$_}\n" for keys %counts }
	' "$@" | LC_ALL=C sort
}

# A folded reader: frames and a whole number after the last blank.
bad_folded() {
	perl -ne 'print if !/^[^;\s][^;]*(;[^;]+)+ [1-9]\d*\n\z/ || / \d+ \d+$/' "$@"
}

need perl

for name in plain all two hostile hostile-all; do
	is "$(bad_folded "$golden/$name.folded")" "" "$name.folded suits its readers"
done
for name in plain hostile; do
	is "$(collapse_gdb "$golden/$name.raw")" "$(without_root "$golden/$name.folded")" \
		"$name.raw, collapsed, is $name.folded"
done
cat "$golden/plain.raw" "$golden/plain.raw" >twice.raw
is "$(collapse_gdb twice.raw)" \
	"$(sed 's/$/ X/; s/ 1 X$/ 2/; s/ 3 X$/ 6/' "$golden/plain.folded" | without_root)" \
	"two snapshots, one after the other"
is "$(grep -c '^--- snapshot ' twice.raw)" 2 "which can be counted"

if ! command -v pt-pmp >/dev/null 2>&1; then
	skip "no pt-pmp"
	done_testing
fi

# It sorts by the locale, and looks for configuration files in the home directory.
pt_pmp() {
	HOME=$tmp LC_ALL=C pt-pmp "$@" </dev/null
}

is "$(pt_pmp "$golden/plain.raw" | without_brackets)" \
	"$(without_brackets <"$golden/plain.pmp")" "pt-pmp of plain.raw is plain.pmp"
grep -v '[<{]' "$golden/plain.pmp" >without
is "$(pt_pmp "$golden/plain.raw" | grep -xF -f without)" "$(cat without)" \
	"to the last blank and in the same order where no brackets are"
is "$(pt_pmp "$golden/all.raw" | without_modules)" \
	"$(sed 's/,[^,]*$//' "$golden/all.pmp" | without_modules)" \
	"with lines and thread names, the same functions"
is "$(pt_pmp twice.raw | without_brackets)" \
	"$(awk '{ $1 *= 2; print }' "$golden/plain.pmp" | without_brackets)" \
	"two snapshots count twice"
if grep -q -e '--tids' "$(command -v pt-pmp)"; then
	is "$(pt_pmp --tids 4104 "$golden/plain.raw" | awk '{ n += $1 } END { print n }')" 1 \
		"pt-pmp finds a thread by its id"
else
	diag "this pt-pmp has no --tids"
fi

# Names that contain `const` or `void`, which pt-pmp cuts out of them, wrong though
# that is, and whose module it takes from the frame before.
{
	printf 'Thread 1 (Thread 0x1 (LWP 1)):\n'
	printf '#0  0x0000000000000001 in poll () from /lib/libc.so.6\n'
	printf '#1  0x0000000000000002 in A<char_const*>::f () from /bin/demo\n\n'
} >const.raw
like "$(pt_pmp const.raw)" '^      1 poll\(libc.so.6\),A::f\((demo|libc.so.6)\)$' \
	"const in template arguments: the function is found"

done_testing
