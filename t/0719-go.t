#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Stripped programs in Go: names, lines, inlined functions and frames are those of the same
# program before it was stripped, living and in a core file, however it was linked; and stacks
# go on with the goroutine that has called the runtime or C.
#
# shellcheck disable=SC2119 # options of capture() are optional

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"
# shellcheck source=t/lib/live.sh
. "$top_srcdir/t/lib/live.sh"

need go strip python3

# go_build PROGRAM SOURCE [OPTION...]
go_build() {
	go_program=$1
	go_source=$live_target/$2
	shift 2
	GOCACHE=$tmp/go-cache GOFLAGS=-p=2 GO111MODULE=off \
		go build "$@" -o "$go_program" "$go_source" 2>err && return
	diag "$(cat err)"
	ok false "go build $*"
	return 1
}

# without_sections FROM TO: without the headers of its sections.
without_sections() {
	python3 -c 'import sys
data = bytearray(open(sys.argv[1], "rb").read())
data[0x28:0x30] = bytes(8)
data[0x3c:0x40] = bytes(4)
open(sys.argv[2], "wb").write(data)' "$1" "$2" && chmod +x "$2"
}

chain='main.g0 main.g1 main.g2 main.g3 main.main runtime.main runtime.goexit(.abi0)?'

# is_chain TEXT PROGRAM: its stack and its lines.
is_chain() {
	start_target "$2" || return
	# Until what it has started is idle.
	wait_for 'capture --lines && stacks | grep -Eq "^[^ ]+ $chain\$" &&
		! stacks | grep -v "not stopped" | grep -q "!"' 60
	like "$(stacks)" "^[^ ]+ $chain\$" "$1: the stack" || stacks | diag_input
	is "$(sed -n 's/^#[1-4] .* in \(main[^ ]*\) () at .*\(go.go:[0-9]*\)$/\1 \2/p' raw | paste -sd ' ')" \
		"main.g1 go.go:$(line_of 'return g0') main.g2 go.go:$(line_of 'return g1') main.g3 go.go:$(line_of 'return g2') main.main go.go:$(line_of 'g3.1 <<')" \
		"$1: its lines"
	unlike "$(stacks | grep -v 'not stopped')" '!' "$1: no stack ends early" || stacks | diag_input
	stop_process "$target_pid"
}

# line_of TEXT: the last line of the source with it.
line_of() {
	grep -n "$1" "$live_target/go.go" | tail -n 1 | cut -d: -f1
}

check_chain() {
	go_build whole go.go || return
	is_chain "not stripped" ./whole
	strip -o stripped whole
	unlike "$(readelf -SW stripped)" '[.]symtab|[.]debug_' "strip leaves no names"
	is_chain "stripped" ./stripped
	without_sections stripped bare
	is_chain "without sections" ./bare
	go_build small go.go -ldflags='-s -w' && is_chain "linked without names" ./small
	go_build nodwarf go.go -ldflags=-w && is_chain "linked without lines" ./nodwarf
	go_build pie go.go -buildmode=pie && strip pie && is_chain "PIE" ./pie
	without_sections pie bare-pie
	is_chain "PIE without sections" ./bare-pie
}

check_cgo() {
	command -v "${CC:-cc}" >/dev/null || { skip "no C compiler"; return; }
	for mode in exe pie; do
		CC=${CC:-cc} go_build "calls-$mode" gocalls.go -buildmode="$mode" || return
		strip -o "stripped-$mode" "calls-$mode"
		for program in "calls-$mode" "stripped-$mode"; do
			start_target "./$program"
			wait_for 'capture --lines && stacks | grep -q asmcgocall'
			like "$(stacks | grep asmcgocall)" \
				' pause ([^ ]*nap )?runtime.asmcgocall(.abi0)? runtime.cgocall main._Cfunc_nap(.abi0)? main.call main.main runtime.main runtime.goexit(.abi0)?$' \
				"$program: C that Go has called" || stacks | diag_input
			stop_process "$target_pid"
		done
	done
}

# The handler of the signal has made the call of sigpanic, at an instruction that no call is
# before.
check_panic() {
	go_build panics gopanic.go || return
	strip -o stripped panics
	panic='main.handle runtime.[^ ]* ([^ ]+ )*runtime.sigpanic main.deref main.middle main.main runtime.main runtime.goexit(.abi0)?'
	for program in panics stripped; do
		start_target "./$program"
		wait_for 'capture --lines && stacks | grep -q " main.handle "' 60
		like "$(stacks | grep main.handle)" " $panic\$" "$program: a panic made of a signal" ||
			stacks | diag_input
		like "$(grep 'main.deref' raw)" 'gopanic.go:10$' "$program: its line"
		stop_process "$target_pid"
	done
}

# settled: the goroutine that collects waits for the one that computes.
settled() {
	capture && stacks | grep -q ' runtime.stopTheWorldWithSema '
}

check_goroutine() {
	go_build stacks gostacks.go || return
	strip -o stripped stacks
	GODEBUG=asyncpreemptoff=1
	export GODEBUG
	for program in stacks stripped; do
		start_target "./$program"
		wait_for settled 60
		like "$(stacks | grep stopTheWorld)" \
			' runtime.stopTheWorldWithSema runtime.systemstack(.abi0)? runtime.gcStart runtime.GC main.collect main.main.func1 runtime.goexit(.abi0)?$' \
			"$program: the goroutine that has called the runtime" || stacks | diag_input
		like "$(stacks)" ' main.compute main.sorted.func1 sort[^ ]* ([^ ]+ )*main.sorted main.main runtime.main runtime.goexit' \
			"$program: one that computes"
		stop_process "$target_pid"
	done
	unset GODEBUG
}

# frames FILE: of each thread the address, name and line of each frame. The linker's symbols
# name functions in assembly .abi0.
frames() {
	sed -n 's/^#[0-9]* *\(0x[0-9a-f]*\) in \([^ ]*\) () at \(.*\)$/\1 \2 \3/p; /^Thread/p;
		/^Backtrace stopped/p; s/^#[0-9]* *\(0x[0-9a-f]*\) in \([^ ]*\) () from .*/\1 \2 ?/p' "$1" |
		sed 's/\.abi0 / /'
}

check_core() {
	command -v gcore >/dev/null || { skip "no gcore"; return; }
	go_build whole gostacks.go || return
	strip -o program whole
	GODEBUG=asyncpreemptoff=1
	export GODEBUG
	start_target ./program
	unset GODEBUG
	wait_for settled 60
	kill -STOP "$target_pid"
	capture --lines
	frames raw >live.frames
	gcore -o core "$target_pid" >gcore.log 2>&1
	mv "core.$target_pid" core || { diag "$(cat gcore.log)"; ok false "gcore writes a core"; return; }
	stop_process "$target_pid"
	"$PMP" --raw --lines core >core.txt 2>err || diag "$(cat err)"
	frames core.txt >core.frames
	ok "[ $(grep -c ^0x core.frames) -ge 20 ]" "a core file: $(grep -c ^0x core.frames) frames"
	is "$(sed '/^Thread/d' live.frames | sort)" "$(sed '/^Thread/d' core.frames | sort)" \
		"as of the living process"
	cp -p whole program
	"$PMP" --raw --lines core >whole.txt 2>err || diag "$(cat err)"
	frames whole.txt >whole.frames
	is "$(cat core.frames)" "$(cat whole.frames)" \
		"a core file: names, lines and inlined functions are those of the whole program"
	like "$(cat whole.frames)" 'main.\(\*number\).add .*
0x[0-9a-f]* main.twice .*
0x[0-9a-f]* main.compute ' "of which there are some"
	# Go's linker writes no build-id but its own.
	go_build other gostacks.go -gcflags=-N || return
	mv other program
	touch -d 2000-01-01 program
	"$PMP" core >other.txt 2>err
	like "$(cat err)" 'stacks through .*/program may end there: this machine has another version of it' \
		"a core file: another build of the program is not used"
	unlike "$(cat other.txt)" ' in main[.]' "and names nothing"
}

run_checks "$@"
