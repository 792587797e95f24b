#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Samples of the threads of a command that has a recorder inside: they look as without it.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"
# shellcheck source=t/lib/live.sh
. "$top_srcdir/t/lib/live.sh"

# shellcheck disable=SC2016 # conditions that are evaluated later
allocator=$top_builddir/t/target/allocator
[ -x "$allocator" ] || skip_all "no $allocator"

# With every call written down a thread is in the recorder much of the time, and begins in its
# trampoline.
check_hidden() {
	"$PMP" -q --heap=exact -F 500 -f json -o profile -- "$allocator" small 200000 >out
	ok "grep -q '\"function\":\"f0\"' profile" "a thread that allocates is sampled"
	# Before the program is in main() the recorder's constructor may be seen at work.
	ok "! grep '\"module\":\"[^\"]*pmp-heap' profile | grep -qv '\"function\":\"construct\"'" \
		"a thread that allocates: nothing of the recorder is in its stacks"
	ok "grep -q '\"frames\":.{\"pc\":\"[^\"]*\",\"function\":\"malloc\"' profile" \
		"a thread that allocates: in the recorder it is in malloc()"
}

# cpu_of PID: so many hundredths of a second
cpu_of() {
	sed 's/.*) //' "/proc/$1/stat" | awk '{ print $12 + $13 }'
}

# Is it less than 3 % of a processor, of 1 % that it may take?
uses_little() {
	before=$(cpu_of "$1")
	sleep 1
	[ $(($(cpu_of "$1") - before)) -le 3 ]
}

# Much is allocated 500 frames deep: fewer blocks are chosen until pmp takes what it may.
check_cpu() {
	start_pmp --heap=4K --heap-only --max-cpu=1 -q -f memory -- "$allocator" deep 500
	command=
	wait_for 'command=$(sed -n "s/^ready //p" out); [ -n "$command" ]'
	ok "wait_for 'uses_little $(sampler_of "$pmp")' 60" "--max-cpu holds for --heap as well"
	kill "$command"
	wait "$pmp"
	unlike "$(cat out)" "^memory of .* sampled every 4.00kB" "samples are fewer then, which is said"
	like "$(cat out)" "^memory of .* sampled every [0-9]" "but there are some"
}

# Every call is written down and read, whatever that takes; threads are sampled all the same.
check_exact() {
	start_pmp --heap=exact -F 20 --max-cpu=1 -q -f folded -- "$allocator" endless 20
	command=
	wait_for 'command=$(sed -n "s/^ready //p" out); [ -n "$command" ]'
	sleep 5
	kill "$command"
	wait "$pmp"
	sed -i '/^ready/d' out
	count=$(awk '{ n += $NF } END { print n + 0 }' out)
	ok "[ $count -ge 50 ]" "--heap=exact leaves --max-cpu to samples of threads: $count in 5 s"
}

run_checks "$@"
