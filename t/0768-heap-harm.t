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

# ---- what calls take after that ------------------------------------------------------------

instructions=70 # that a recorder may add to malloc() and free() of a block
few=20000

# callgrind COUNT: the words of a command that counts what so many pairs take
callgrind() {
	echo "valgrind --tool=callgrind --callgrind-out-file=/dev/null $allocator pairs $1"
}

# collected FILE: instructions, as callgrind says at the end
collected() {
	sed -n 's/.*Collected : //p' "$1"
}

# orphan COUNT: the same of a command whose pmp is killed before it begins
orphan() {
	rm -f go && mkfifo go
	start_pmp --heap --heap-only -q -f folded -o profile -- \
		sh -c "echo ready; read -r _ <go; exec $(callgrind "$1")"
	wait_for "grep -q ready out"
	kill -KILL "$(sampler_of "$pmp")" "$pmp"
	wait "$pmp" 2>/dev/null
	echo >go
	wait_for "[ -n \"\$(collected err)\" ]" 60
	collected err
}

if command -v valgrind >/dev/null; then
	for count in $few $((2 * few)); do
		# shellcheck disable=SC2091 # a command and its words
		$(callgrind "$count") >/dev/null 2>alone.err
		collected alone.err
		orphan "$count"
	done >collected
	more=$(awk -v pairs="$few" '{ n[NR] = $1 }
		END { print int(((n[4] - n[2]) - (n[3] - n[1])) / pairs) }' collected)
	ok "[ $(wc -l <collected) = 4 ] && [ $more -gt 0 ] && [ $more -le $instructions ]" \
		"malloc() and free() take $more instructions more when pmp is gone, at most $instructions"
else
	skip "no valgrind"
fi

done_testing
