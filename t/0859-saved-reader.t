#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The process that reads saved profiles: what it gives is what pmp itself would have read, in
# each format; it has no rights, and what a file does that has taken it over comes to nothing.
# Planted faults (pmp/namer/faults.c) do that.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"
# shellcheck source=t/lib/live.sh
. "$top_srcdir/t/lib/live.sh"
# shellcheck source=t/lib/readers.sh
. "$top_srcdir/t/lib/readers.sh"
need pgrep gzip python3

if grep -q '^PMP_CFLAGS = .*-fsanitize' "$top_builddir/Makefile" 2>/dev/null; then
	skip_all "sanitizers need more calls: nothing is confined"
fi

# take OPTION...: a profile of what has threads, locks and names
take() {
	"$PMP" -q -f pprof -n 5 -i 10ms -p "$target_pid" "$@" 2>err
}

# saved: threads.pb.gz, which most checks read, is there.
saved() {
	[ -s threads.pb.gz ] || { start_target chain block && take -o threads.pb.gz --by-thread; }
}

# both WHAT ARGUMENT...: pmp with a process for reading and without, the same bytes
both() {
	what=$1
	shift
	"$PMP" -q "$@" >with 2>with.err
	with=$?
	"$PMP" -q --no-sandbox "$@" >without 2>without.err
	is "$with" $? "$what: the same status"
	ok "cmp -s with without" "and the same output"
	is "$(cat with.err)" "$(cat without.err)" "the same messages"
}

check_same() {
	start_target chain block || return
	take -o threads.pb.gz --by-thread
	take -o lines.pb.gz --lines
	take -o bare.pb.gz --no-symbols
	gzip -dc <threads.pb.gz >plain.pb
	for format in raw folded pmp svg html perf json contention mutex gperf flat callgraph \
		threads speedscope; do
		both "$format" -f "$format" threads.pb.gz
	done
	ok "[ -s with ]" "there is something in it"
	both "as pprof" -f pprof -o with.pb.gz threads.pb.gz
	both "plain" -f folded plain.pb
	both "with lines" -f flat --lines lines.pb.gz
	both "without symbols" -f folded bare.pb.gz
	both "names from this machine" -f folded --lines bare.pb.gz
	both "addresses" -f folded --no-symbols threads.pb.gz
	both "linkers' names" -f folded --no-demangle threads.pb.gz
	both "functions that are not inlined" -f folded --no-inline lines.pb.gz
	both "several" -f folded --by-thread threads.pb.gz lines.pb.gz plain.pb
	both "a comparison" -f folded --diff threads.pb.gz lines.pb.gz
	both "another value" -f folded --sample-type wall threads.pb.gz
	both "no such value" -f folded --sample-type space threads.pb.gz
	"$PMP" -q -f folded threads.pb.gz >with
	ok "'$PMP' -q -f folded - <threads.pb.gz | cmp -s - with" "from standard input"
	ok "cat threads.pb.gz | '$PMP' -q -f folded - | cmp -s - with" "through a pipe"
}

check_heap() {
	timeout 60 "$PMP" -q --heap=exact -f pprof -o heap.pb.gz -- ls -lR "$top_srcdir/man" \
		>list 2>err
	if [ ! -s heap.pb.gz ]; then
		skip "no recorder: $(head -1 err)"
		return
	fi
	both "a heap" -f memory heap.pb.gz
	both "what lives" -f folded --sample-type inuse_space heap.pb.gz
	both "what was allocated" -f heap heap.pb.gz
}

check_damaged() {
	saved || return
	gzip -dc <threads.pb.gz >plain.pb
	size=$(wc -c <plain.pb)
	for n in 1 2 3 5 7; do
		head -c $((size * n / 8)) plain.pb >cut.pb
		both "cut off at $n eighths" -f folded cut.pb
	done
	printf 'no profile' >text
	both "what is no profile" -f folded text
	both "a directory" -f folded .
	both "nothing" -f folded /dev/null
}

# What it has while it stands still.
check_rights() {
	[ -x "$PMP_FAULTY" ] || { skip "no $PMP_FAULTY"; return; }
	saved || return
	PMP_FAULT=reader-still "$PMP_FAULTY" -f folded threads.pb.gz </dev/null >out 2>err &
	pmp=$!
	test_pids="$test_pids $pmp"
	parent=
	wait_for "parent=\$(pgrep -x -P $pmp pmp-namers)"
	reader=
	wait_for "reader=\$(pgrep -x -P ${parent:-0} pmp-namer) && ls -l /proc/\$reader/fd | grep -q threads"
	status=/proc/${reader:-none}/status
	is "$(sed -n 's/^Seccomp:[[:space:]]*//p' "$status")" 2 "it has a filter of system calls"
	is "$(sed -n 's/^NoNewPrivs:[[:space:]]*//p' "$status")" 1 "and gets no more rights"
	if [ "$(id -u)" -eq 0 ]; then
		is "$(sed -n 's/^Uid:[[:space:]]*//p' "$status" | tr -s '\t' ' ')" \
			"65531 65531 65531 65531" "root is another user there"
		is "$(sed -n 's/^CapEff:[[:space:]]*//p' "$status")" 0000000000000000 \
			"without capabilities"
	else
		skip "not root"
		skip "not root"
	fi
	is "$(for fd in /proc/"$reader"/fd/*; do readlink "$fd"; done |
		grep -v -e '^socket:' -e '^/dev/null$' | sort -u)" "$tmp/threads.pb.gz" \
		"it has that file and no other"
	kill -INT "$pmp"
	wait "$pmp"
	is $? 130 "which can be interrupted"
	ok "wait_for '! alive ${reader:-1}'" "and is gone then"
	like "$(cat err)" 'interrupted while reading .*threads.pb.gz' "the message"
}

check_faults() {
	[ -x "$PMP_FAULTY" ] || { skip "no $PMP_FAULTY"; return; }
	saved || return
	"$PMP" -q -f folded threads.pb.gz >expected
	reader_fault threads.pb.gz reader-open ''
	reader_fault threads.pb.gz reader-crash 'was ended by signal 11'
	reader_fault threads.pb.gz reader-lies 'gave no answer that makes sense'
	reader_fault threads.pb.gz reader-exec 'was ended by signal 31'
	reader_fault threads.pb.gz reader-net 'was ended by signal 31'
	reader_fault threads.pb.gz reader-kill 'was ended by signal 31'
	reader_fault threads.pb.gz reader-fork 'was ended by signal 31'
	reader_fault threads.pb.gz reader-oom 'was ended by signal 6|was ended by signal 31|ended unexpectedly'
}

# ends STATUS MESSAGE TEXT: what ran on the terminal
ends() {
	ok "wait_for '[ -s status ]'" "$3"
	is "$(cat status)" "$1" "its status"
	like "$(cat err)" "$2" "its message"
	no_terminal
}

# on_terminal FAULT PMP FILE
on_terminal() {
	rm -f status
	terminal "cd '$PWD'; PMP_FAULT=$1 '$2' '$3' 2>err; echo \$? >status"
}

# In the live view: a file that harms is no reason for a broken terminal, nor to wait.
check_view() {
	command -v tmux >/dev/null || { skip "no tmux"; return; }
	# shellcheck source=t/lib/screen.sh
	. "$top_srcdir/t/lib/screen.sh"
	saved || return
	on_terminal none "$PMP" threads.pb.gz
	ok "shows 'saved profile'" "the live view of a saved profile"
	ok "shows 'chain|target_thread_main'" "has its stacks"
	keys q
	ends 0 '^$' "and ends"
	[ -x "$PMP_FAULTY" ] || { skip "no $PMP_FAULTY"; return; }
	on_terminal reader-crash "$PMP_FAULTY" threads.pb.gz
	ends 2 'cannot read .*threads.pb.gz: the process that reads files was ended by signal 11' \
		"one that brings its reader down: no view"
	on_terminal reader-still "$PMP_FAULTY" threads.pb.gz
	reader=
	wait_for "reader=\$(pgrep -n -x pmp-namer) && ls -l /proc/\$reader/fd | grep -q threads"
	keys C-c
	ends 130 'interrupted while reading .*threads.pb.gz' "one that stands still can be interrupted"
}

# named WHAT: of what is in the program's place; sent: how often it is given away
named() {
	strace -qq -f -y -e trace=sendmsg -o trace "$PMP" -f folded bare.pb.gz </dev/null >out 2>err
	is $? 0 "$1 in its place: status 0"
	sent=$(grep SCM_RIGHTS trace | grep -c "<$tmp/mine>")
}

# A profile can name any file of the machine, and whoever reads it is not to have what is secret.
check_named() {
	command -v strace >/dev/null 2>&1 || { skip "no strace"; return; }
	cp "$top_builddir/t/target/chain" mine
	./mine block >ready &
	mine=$!
	test_pids="$test_pids $mine"
	wait_for 'grep -q ready ready'
	"$PMP" -q -f pprof --no-symbols -n 5 -i 10ms -o bare.pb.gz -p "$mine" 2>err
	kill "$mine"
	named "what was there"
	isnt "$sent" 0 "what was there in its place: it is given"
	like "$(cat out)" ';f3;f2;f1' "what was there in its place: names"
	mv mine elsewhere
	cp /etc/passwd mine
	named "a text"
	is "$sent" 0 "a text in its place: it is not given"
	unlike "$(cat out)" ';f3;f2;f1' "a text in its place: no names"
	mv elsewhere mine
}

# Ten seconds.
check_still() {
	[ -x "$PMP_FAULTY" ] || { skip "no $PMP_FAULTY"; return; }
	saved || return
	reader_fault threads.pb.gz reader-still 'gave no answer and was killed'
}

check_no_open() {
	command -v strace >/dev/null 2>&1 || { skip "no strace"; return; }
	saved || return
	strace -f -o trace "$PMP" -q -f folded threads.pb.gz >out
	calls_after
	ok "[ -s after ]" "strace shows what it does after it is confined"
	is "$(what_gives)" "" "and it opens no file"
	if [ "$(id -u)" -eq 0 ]; then
		ok "grep -q 'read(.*\\\\37\\\\213' after" "it is the one that reads the profile"
	else
		skip "not root: strace cannot read its memory"
	fi
	is "$(grep -v "^$reader " calls | grep -c 'read(.*\\37\\213.*= [0-9]\{5\}')" 0 \
		"no other process does"
}

# amplified KIND N TEXT: a small file in which so many things have the same long text
amplified() {
	python3 "$top_srcdir/t/lib/amplified.py" "$1" "$2" >"$1.pb.gz"
	for with in "" --no-sandbox; do
		# shellcheck disable=SC2086 # an option, or none
		"$PMP" -q $with -f folded "$1.pb.gz" >out 2>err
		is "$?,$(wc -c <out)" 2,0 "$1${with:+ $with}: a small file that stands for a large one"
		like "$(cat err)" "^pmp: cannot read $1.pb.gz: it has more than [0-9]* $3" \
			"$1${with:+ $with}: message"
	done
}

check_amplified() {
	amplified paths 120 "bytes in the path or build-id of a mapping$"
	amplified shown 140000 "bytes of names, each as often as it is used$"
	amplified labels 600 "bytes of labels, each as often as it is used$"
	amplified processes 20000 "processes$"
}

run_checks "$@"
