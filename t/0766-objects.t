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
	command -v strip >/dev/null || { skip "no strip"; return; }
	cp "$zoo" stripped
	strip --strip-all stripped
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

# Of a heap that changes at full speed: each class within 1 % of what the zoo has all the
# time, and of no other size: malloc may give 16 bytes more than were asked for. What is
# deleted behind the reader and made again before it is met twice: so a reading that had to wait
# long for a processor has to have the right classes only.
check_churn() {
	start_target zoo churn || return
	tries=20
	[ -z "$PMP_LONG" ] || tries=1000
	for try in $(seq "$tries"); do
		objects || break
		awk -v try="$try" -v known="$target_out" '
		BEGIN {
			while ((getline line <known) > 0) {
				split(line, word, " ")
				if (word[1] != "class")
					continue
				name = line
				sub(/^class [0-9]+ [0-9]+ /, "", name)
				blocks[name] = word[2]
				size[name] = word[3] / word[2]
			}
		}
		/, read in / {
			for (i = 1; i < NF; i++)
				if ($i == "in")
					waited = $(i + 1) > 1.5 * $(i + 3) + 2
		}
		/^not understood/ {
			gsub(",", "")
			if ($3 > 100000)
				print try ": " $0
		}
		table && $4 != "-" && !/std::thread|more sizes/ {
			gsub(",", "")
			name = $4
			for (i = 5; i <= NF; i++)
				name = name " " $i
			split($3, range, "-")
			off = $1 - blocks[name]
			if (!(name in blocks))
				print try ": no such class: " $0
			else if (!waited && off * off > blocks[name] * blocks[name] / 10000)
				print try ": of " blocks[name] ": " $0
			else if (name !~ /points/ && (range[1] != size[name] ||
				 range[2] && range[2] > size[name] + 16))
				print try ": of " size[name] " bytes: " $0
			seen++
		}
		$4 == "class" { table = 1 }
		END { if (seen != 6) print try ": " seen " classes" }' text
	done >wrong
	is "$try" "$tries" "churning: read $tries times"
	is "$(head -n 20 wrong)" "" "churning: each class within 1 %, none wrong"
	kill "$target_pid"
	wait_for "grep -q verdict '$target_out'"
	like "$(cat "$target_out")" "^verdict: ok" "and the program is right"
}

check_slow() {
	start_target zoo idle || return
	before=$(date +%s%N)
	objects --max-cpu 2
	ok "[ $((($(date +%s%N) - before) / 1000000)) -ge 100 ]" "--max-cpu is kept to"
	exact "slowly"
}

# A glibc that is newer than what is known: by its layout, whether that is still right.
check_newer() {
	[ -x "$PMP_FAULTY" ] || { skip "no $PMP_FAULTY"; return; }
	start_target zoo idle || return
	objects || return
	unlike "$(cat text)" "newer than this pmp knows" "the glibc here is known"
	PMP_FAULT=new-glibc "$PMP_FAULTY" -f objects -p "$target_pid" >text
	is "$?" 0 "a newer glibc with the same layout is read"
	exact "of a newer glibc"
	like "$(cat text)" "^glibc 2\.999 is newer than this pmp knows \(2\.[0-9]+\): what was read agrees with that$" \
		"with a line that says so"
	PMP_FAULT=new-glibc "$PMP_FAULTY" -f objects -o newer.pb.gz -p "$target_pid"
	like "$(gzip -dc newer.pb.gz | tr -c '[:print:]' '\n')" "glibc 2\.999 is newer than this pmp knows" \
		"which is in a profile as well"
	try env PMP_FAULT=new-glibc,other-layout "$PMP_FAULTY" -f objects -p "$target_pid"
	is "$status $out" "1 " "one with another layout is refused"
	like "$err" "^pmp: cannot read the heap of $target_pid \(zoo\): glibc 2\.999 is newer than this pmp knows \(2\.[0-9]+\), and its heap is laid out in another way$" \
		"with its version"
	like "$err" "^hint: a newer pmp may know it; a recorder does not need to: start the program with pmp --heap --$" \
		"and what to do"
	try env PMP_FAULT=other-layout "$PMP_FAULTY" -f objects -p "$target_pid"
	like "$err" "cannot read the heap of $target_pid \(zoo\): nothing in it is laid out as by glibc's malloc$" \
		"another layout of a known version is not taken for a new one"
}

resident() {
	sed -n 's/^VmRSS:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$target_pid/status"
}

# enough KB: wait until the target has so much more; its cache is full by then.
enough() {
	more=$(($(resident) + $1))
	wait_for "[ \"\$(resident)\" -gt $more ]" 60
}

# Memory that grows, of a program that nobody has prepared: by the manual's commands.
check_grows() {
	leaker=$top_builddir/t/target/leaker
	start_process "$leaker" 0
	wait_for 'grep -q ^ready "$target_out"'
	sed -n '/^Does it grow, and what of it?/,/^\.Ed/{/^[.D]/d;p;}' "$top_srcdir/man/pmp.1" |
		sed "s|^pmp|'$PMP' -q|; s|4100|$target_pid|" >commands
	is "$(wc -l <commands)" 5 "the manual's recipe for what grows has five commands"
	enough 4000
	eval "$(sed -n 1p commands)"
	like "$(sed -n 2p commands)" "^sleep 3600$" "and a pause"
	enough 4000
	eval "$(sed -n 3p commands)"
	eval "$(sed -n 4p commands)" >grown
	like "$(grep -A 2 'self' grown | tail -n 1)" "no_class,1000_bytes" "bytes: what leaks has grown most"
	eval "$(sed -n 5p commands)" >grown
	like "$(grep -A 2 'self' grown | tail -n 1)" "no_class,1000_bytes" "blocks: the same"
}

# Other allocators, as far as they are installed.
check_others() {
	for each in jemalloc tcmalloc tcmalloc_minimal mimalloc; do
		library=$(ldconfig -p | awk -v name="lib$each.so" 'index($1, name) == 1 { print $NF; exit }')
		[ -n "$library" ] || { skip "no lib$each"; continue; }
		start_process env LD_PRELOAD="$library" sleep 60
		wait_for "grep -q 'lib$each' /proc/$target_pid/maps && grep -q sleep /proc/$target_pid/comm"
		try "$PMP" -f objects -p "$target_pid"
		is "$status $out" "1 " "$each: refused"
		like "$err" "cannot read the heap of $target_pid \\(sleep\\): it is of ${each%%_*} \\(lib$each" \
			"$each: named by its library"
		like "$err" "MiB resident; .* MiB in [0-9]+ anonymous mappings" "$each: what is known is said"
		stop_process "$target_pid"
	done
	command -v musl-gcc >/dev/null || { skip "no musl-gcc"; return; }
	echo '#include <stdlib.h>
		#include <unistd.h>
		int main(void) { return malloc(100) && pause(); }' >alone.c
	musl-gcc -o alone alone.c
	start_process ./alone
	wait_for "grep -q musl /proc/$target_pid/maps"
	try "$PMP" -f objects -p "$target_pid"
	like "$err" "it is of musl's malloc \\(" "musl: refused"
	stop_process "$target_pid"
	musl-gcc -static -o alone alone.c
	start_process ./alone
	wait_for "grep -q alone /proc/$target_pid/comm"
	try "$PMP" -f objects -p "$target_pid"
	like "$err" "cannot read the heap of $target_pid \\(alone\\): (nothing in it is laid|it has allocated nothing)" \
		"musl, static: refused"
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
