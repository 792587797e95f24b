#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What the heap of a process holds, read from outside (-f objects): the target knows it, too.
. "${top_srcdir:-.}/t/lib/test.sh"
. "$top_srcdir/t/lib/live.sh"

zoo=$top_builddir/t/target/zoo
[ -x "$zoo" ] || skip_all "no C++ compiler"

# objects [OPTION...]: what the target's heap holds, into the file text.
objects() {
	"$PMP" -f objects "$@" -p "$target_pid" >text 2>err && return
	diag "$(cat err)"
	return 1
}

# try COMMAND...: its status, output and messages.
try() {
	status=0
	out=$("$@" 2>err.txt) || status=$?
	err=$(cat err.txt)
}

# sum TEXT: blocks and bytes of that line of the sums.
sum() {
	awk -v what="$1" '$0 ~ what "$" { gsub(",", ""); print $1, ($2 == "blocks" ? $3 : $2) }' text
}

# classes: "blocks bytes name" of each class of the zoo.
classes() {
	awk 'table && NF > 3 && $4 != "-" {
		gsub(",", "")
		line = $1 " " $2
		for (i = 4; i <= NF; i++)
			line = line " " $i
		print line
	}
	$4 == "class" { table = 1 }' text | grep -v 'std::thread' | sort
}

# blocks_of SIZE: how many blocks without a class have that size.
blocks_of() {
	awk -v size="$1" 'table { gsub(",", "") } table && $3 == size && $4 == "-" { n = $1 }
		$4 == "class" { table = 1 } END { print n + 0 }' text
}

known_classes() {
	sed -n 's/^class //p' "$target_out" | sort
}

# exact NAME: all that the zoo knows of its heap is what pmp says.
exact() {
	is "$(classes)" "$(known_classes)" "$1: classes, their blocks and bytes"
	is "$(sum 'of these in mappings of their own')" \
		"$(sed -n 's/^mapped //p' "$target_out")" "$1: blocks in mappings of their own"
	# malloc counts a fastbin's blocks with their headers of 8 bytes.
	is "$(sum 'freed, kept in fastbins' | awk '{ print $1, $2 + 8 * $1 }')" \
		"$(sed -n 's/^fast //p' "$target_out")" "$1: blocks in fastbins"
	sed -n 's/^size //p' "$target_out" | while read -r size blocks; do
		echo "$size $blocks $(blocks_of "$size")"
	done >sizes
	is "$(awk '$2 != $3' sizes)" "" "$1: blocks without a class, by size"
	cached=$(sum 'freed, kept by threads')
	ok "[ ${cached%% *} -ge 150 ]" "$1: threads keep freed blocks ($cached)"
}

check_idle() {
	start_target zoo idle && objects || return
	exact "idle"
	like "$(cat text)" "^5 arenas, 5 heaps, " "the arenas of 5 threads"
	is "$(grep -E '^not (read|understood)' text)" "" "all of it was understood"
	objects --types=no
	is "$(classes)" "" "--types=no: no classes"
	like "$(cat text)" "^ +6,000 +2,928,000 +488\$" "but sizes"
}

# Names are in .dynsym alone then.
check_stripped() {
	cp "$zoo" stripped && strip --strip-all stripped || { skip "no strip"; return; }
	start_target ./stripped idle && objects || return
	exact "stripped, with -rdynamic"
}

check_stopped() {
	start_target zoo idle || return
	kill -STOP "$target_pid"
	objects && exact "stopped"
	kill -CONT "$target_pid"
}

check_saved() {
	start_target zoo idle || return
	try "$PMP" -f objects -o before.pb.gz -p "$target_pid"
	is "$status" 0 "saved for pprof"
	try "$PMP" -f flat before.pb.gz
	like "$out" ": space 16\.[0-9]+MB " "pmp reads it again, and counts bytes"
	like "$out" "2\.79MB.*net::Session" "of each class"
	try "$PMP" -f folded --sample-type objects before.pb.gz
	like "$out" ";net::Session 6000\$" "or objects"
	stop_process "$target_pid"
	start_target zoo idle 2 && "$PMP" -f objects -o after.pb.gz -p "$target_pid"
	try "$PMP" -f folded --diff before.pb.gz --sample-type objects after.pb.gz
	like "$out" "net::Session 6000 12000" "two of them are compared"
	command -v go >/dev/null || { skip "no go"; return; }
	try go tool pprof -top -sample_index=objects before.pb.gz
	like "$out" " 6000 .*net::Session" "go tool pprof reads it"
}

refused() {
	try "$PMP" "$@"
	is "$status" 2 "pmp $*: status 2"
}

check_refused() {
	start_target zoo idle || return
	refused -f objects -- true
	like "$err" "commands and -t exclude it" "a command holds nothing yet"
	refused -f objects -t "$target_pid"
	refused -f objects -n 2 -o x.pb.gz -p "$target_pid"
	like "$err" "needs a file for each" "several times"
	: >profile.pb.gz
	refused -f objects profile.pb.gz
	like "$err" "is for running processes" "a file"
}

run_checks "$@"
