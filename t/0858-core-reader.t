#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The process that reads core files: what it gives is what pmp itself would have read, in each
# format; it has no rights, gets programs and libraries alone, and what a core does that has
# taken it over comes to nothing. Planted faults (pmp/namer/faults.c) do that.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"
# shellcheck source=t/lib/live.sh
. "$top_srcdir/t/lib/live.sh"
# shellcheck source=t/lib/readers.sh
. "$top_srcdir/t/lib/readers.sh"
need pgrep gcore

if grep -q '^PMP_CFLAGS = .*-fsanitize' "$top_builddir/Makefile" 2>/dev/null; then
	skip_all "sanitizers need more calls: nothing is confined"
fi

cp "$live_target/demo" program
start_process "$tmp/program"
wait_for "grep -q ^ready '$target_out'"
gcore -o core "$target_pid" >gcore.log 2>&1
stop_process "$target_pid"
mv "core.$target_pid" core 2>/dev/null || { diag "$(cat gcore.log)"; skip_all "gcore writes no core"; }

# both WHAT ARGUMENT...: pmp with a process for reading and without, the same bytes
both() {
	what=$1
	shift
	"$PMP" "$@" >with 2>with.err </dev/null
	with=$?
	"$PMP" --no-sandbox "$@" >without 2>without.err </dev/null
	is "$with" $? "$what: the same status"
	sed 's/ --no-sandbox//' without | cmp -s with -
	is $? 0 "and the same output"
	is "$(cat with.err)" "$(cat without.err)" "the same messages"
}

check_same() {
	for format in raw folded pmp svg html perf json locks contention mutex gperf counts \
		threadz flat callgraph threads speedscope; do
		both "$format" -f "$format" core
	done
	both "with lines" -f raw --lines core
	both "by libunwind" -f raw --unwind libunwind core
	both "addresses" -f raw --no-symbols core
	both "the program by --exe" -f raw --exe program core
	both "another program" -f raw --exe /bin/true core
	both "a program that is not there" -f raw --exe /nonexistent/program core
	both "two of them" -f folded core core
}

check_damaged() {
	size=$(wc -c <core)
	for n in 1 2 4 6 7; do
		head -c $((size * n / 8)) core >part.core
		both "cut off at $n eighths" -f raw part.core
	done
	head -c 64 core >first.core
	both "its first bytes" -f raw first.core
}

check_missing() {
	mv program elsewhere
	both "without its program" -f raw core
	like "$(cat with.err)" 'stacks through .*/program' "which is said"
	both "with it elsewhere" -f raw --exe elsewhere core
	cp /etc/passwd program
	both "and no program in its place" -f raw core
	mv elsewhere program
}

# strange WHAT: of what is in the program's place; opened, sent: the calls that name it.
strange() {
	strace -qq -f -y -e trace=openat,sendmsg -o trace "$PMP" -f raw core </dev/null >out 2>err
	is $? 0 "$1 in its place: status 0"
	opened=$(grep -v O_PATH trace | grep -E "openat.*<($tmp/program|/proc/[a-z]+)>\$")
	sent=$(grep SCM_RIGHTS trace | grep -c "<$tmp/program>")
}

# A core can name any file of the machine, and whoever reads it is not to have what is secret.
check_strange() {
	command -v strace >/dev/null || { skip "no strace"; return; }
	export ASAN_OPTIONS=detect_leaks=0
	strange "what was there"
	isnt "$sent" 0 "it is given"
	mv program elsewhere
	cp /etc/passwd program
	strange "a text"
	like "$(cat err)" 'stacks through .*/program .*it is not a program or library for' "which is said"
	isnt "$opened" "" "its first bytes are looked at"
	is "$sent" 0 "it is not given"
	cp core program
	strange "another core"
	like "$(cat err)" 'stacks through .*/program .*it is not a program or library for' "which is said"
	is "$sent" 0 "memory is not given"
	ln -sf /proc/version program
	strange "a link into /proc"
	like "$(cat err)" 'stacks through .*/program .*not on this machine' "which is said"
	is "$opened" "" "it is not opened"
	mv elsewhere program
}

# What it has while it stands still.
check_rights() {
	[ -x "$PMP_FAULTY" ] || { skip "no $PMP_FAULTY"; return; }
	PMP_FAULT=reader-still "$PMP_FAULTY" -f folded core </dev/null >out 2>err &
	pmp=$!
	test_pids="$test_pids $pmp"
	parent=
	wait_for "parent=\$(pgrep -x -P $pmp pmp-namers)"
	reader=
	wait_for "reader=\$(pgrep -x -P ${parent:-0} pmp-namer) && ls -l /proc/\$reader/fd | grep -q core"
	status=/proc/${reader:-none}/status
	is "$(sed -n 's/^Seccomp:[[:space:]]*//p' "$status")" 2 "it has a filter of system calls"
	if [ "$(id -u)" -eq 0 ]; then
		is "$(sed -n 's/^CapEff:[[:space:]]*//p' "$status")" 0000000000000000 \
			"without capabilities"
	else
		skip "not root"
	fi
	is "$(for fd in /proc/"$reader"/fd/*; do readlink "$fd"; done |
		grep -v -e '^socket:' -e '^/dev/null$' | sort -u)" "$tmp/core" \
		"it has that file and no other"
	kill -INT "$pmp"
	wait "$pmp"
	is $? 130 "which can be interrupted"
	ok "wait_for '! alive ${reader:-1}'" "and is gone then"
}

check_faults() {
	[ -x "$PMP_FAULTY" ] || { skip "no $PMP_FAULTY"; return; }
	"$PMP" -q -f folded core >expected
	reader_fault core reader-open ''
	reader_fault core reader-crash 'was ended by signal 11'
	reader_fault core core-lies 'gave no answer that makes sense'
	reader_fault core core-frames 'gave no answer that makes sense'
	reader_fault core modules-forever 'gave no answer that makes sense'
	reader_fault core core-silent 'gave no answer'
	reader_fault core reader-exec 'was ended by signal 31'
	reader_fault core reader-net 'was ended by signal 31'
	reader_fault core reader-kill 'was ended by signal 31'
	reader_fault core reader-fork 'was ended by signal 31'
	reader_fault core reader-oom 'was ended by signal 6|was ended by signal 31|ended unexpectedly'
	reader_fault core reader-still 'gave no answer and was killed'
}

run_checks "$@"
