#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A command with a recorder inside does not depend on pmp: whether that is killed while the ring
# fills, or does not read any more, the command does what it does alone.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"

allocator=$top_builddir/t/target/allocator
[ -x "$allocator" ] || skip_all "no $allocator"

# Far more than the ring has room for.
count=2000000
"$allocator" mixed "$count" >alone

# counts FILE: of calls; bytes depend on what lies where.
counts() {
	cut -d ' ' -f 1-5 "$1"
}

# begin: a command that is recorded, and has begun to allocate.
begin() {
	command=
	start_pmp --heap=4K --heap-only -q -f folded -o profile -- "$allocator" mixed "$count"
	wait_for "command=\$(pgrep -x -P $pmp allocator)" &&
		wait_for "grep -q pmp-heap /proc/$command/maps"
}

begin
kill -STOP "$pmp" "$(sampler_of "$pmp")"
wait_for "[ -s out ]" 60
is "$(counts out)" "$(counts alone)" "stopped, pmp does not keep its command"
kill -CONT "$(sampler_of "$pmp")" "$pmp"
wait "$pmp"
is $? 0 "when it goes on it ends as the command did"

begin
kill -KILL "$pmp"
wait "$pmp" 2>/dev/null
wait_for "[ -s out ]" 60
is "$(counts out)" "$(counts alone)" "killed, it does not either"

begin
kill -KILL "$(sampler_of "$pmp")"
wait "$pmp" 2>/dev/null
wait_for "[ -s out ]" 60
is "$(counts out)" "$(counts alone)" "nor if its sampler is"

done_testing
