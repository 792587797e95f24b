#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Samples of the threads of a command that has a recorder inside: they look as without it.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"
# shellcheck source=t/lib/live.sh
. "$top_srcdir/t/lib/live.sh"

allocator=$top_builddir/t/target/allocator
[ -x "$allocator" ] || skip_all "no $allocator"

# With every call written down a thread is in the recorder much of the time, and begins in its
# trampoline.
check_hidden() {
	"$PMP" -q --heap=exact -F 500 -f json -o profile -- "$allocator" small 200000 >out
	ok "grep -q '\"function\":\"f0\"' profile" "a thread that allocates is sampled"
	ok "! grep -q pmp-heap profile" "a thread that allocates: nothing of the recorder is in its stacks"
	ok "grep -q '\"frames\":.{\"pc\":\"[^\"]*\",\"function\":\"malloc\"' profile" \
		"a thread that allocates: in the recorder it is in malloc()"
}

run_checks "$@"
