#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The heap in the live view (key 6): of a command, whose terminal it takes meanwhile, of a
# process that has a recorder, and of saved profiles; by programs that count for themselves.
#
# shellcheck disable=SC1003,SC2016,SC2034
# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"
# shellcheck source=t/lib/live.sh
. "$top_srcdir/t/lib/live.sh"
need tmux stty
# shellcheck source=t/lib/screen.sh
. "$top_srcdir/t/lib/screen.sh"

allocator=$top_builddir/t/target/allocator
leaker=$top_builddir/t/target/leaker

# A quarter of the calls each are malloc(1000), calloc, memalign, and malloc(1) with realloc.
check_command() {
	begin "'$PMP' --heap=exact -- '$allocator' chain 20000"
	ok "shows ENDED 60" "a command on a terminal: the view is there, and stays"
	ok "shows ' 6 Heap'" "and begins with the heap"
	ok "shows '^ +0 +- +0 +4.77MB +10000 malloc<f0<f1<f2<f3'" \
		"5000 blocks of 1000 bytes and as many of one: to the call"
	ok "shows '^ +0 +- +0 +4.77MB +5000 (__libc_)?memalign<f0<f1<f2<f3'" "others as well"
	ok "shows '^Allocated [0-9.]+MB in 2500[0-9] calls, freed [0-9.]+MB in 2000[0-9]'" \
		"the header has all calls"
	ok "shows 'every call'" "and that none is left out"
	keys f
	# realloc() is called in a function that f0 calls.
	ok "shows '^ +0 +0 +- +0 +14.3MB +20000 f0'" "f: the function that allocates"
	ok "shows '^ +0 +0 +- +0 +4.77MB +5000 resize'" "not the allocator's own"
	keys '\' calloc Enter
	ok "shows '^ +0 +0 +- +0 +4.77MB +5000 f0'" "a filter leaves what matches"
	ok "shows 'row 1 of [0-9]+ '" "so many rows"
	keys Escape
	keys w chain.memory Enter
	ok "shows 'Written: chain.memory'" "w writes the page of the heap"
	like "$(cat chain.memory)" '^ +[34]\.[0-9]+MB +[345],[0-9]+ blocks +(__libc_)?calloc < f0 < f1' "with its stacks"
	keys w chain.pb.gz Enter
	ok "shows 'Written: chain.pb.gz'" "and a profile"
	keys q
	ended 0 "q"
	ok "shows '^10000 5000 5000 5000 20000 [0-9]+ [0-9]+\$'" \
		"what the command wrote is printed then"
	begin "'$PMP' chain.pb.gz"
	shows 'saved profile'
	keys 6
	ok "shows '^ +0 +- +0 +4.77MB +10000 malloc<f0<f1<f2<f3'" "pmp FILE: the same rows"
	ok "shows 'Heap: .* live in [0-9]+ blocks, peak [0-9.]+kB'" "and totals"
	keys w chain.growth Enter
	ok "shows 'the format growth is written while a heap is recorded'" \
		"w: how it has grown is not in it"
	ok "[ ! -e chain.growth ]" "and there is no file"
	unlike "$(screen)" 'Lost [1-9]|No stack|Not recorded' "nothing is missing"
	keys q
	ended 0 "q"
	gzip -dc chain.pb.gz | LC_ALL=C sed 's/ lost=0 / lost=9 /
		s/ stackless=0 unrecorded=0 / stackless=7 unrecorded=3 /' | gzip >less.pb.gz
	begin "'$PMP' less.pb.gz"
	shows 'saved profile'
	keys 6
	tm resize-window -t pmp -x 160 -y 24
	ok "shows '  Lost 9  No stack 7  Not recorded 3'" "what is missing is in the header"
	keys q
	ended 0 "q"
}

# What lives at the end it says itself.
check_live() {
	begin "'$PMP' --heap=exact --heap-only -- '$allocator' mixed 20000"
	ok "shows ENDED 60" "--heap-only: without snapshots there is a view as well"
	ok "shows '^pmp .*allocator .[0-9]+.  heap only'" "which says so"
	blocks=$(screen | sed -n 's/^Heap: .* live in \([0-9]*\) blocks.*/\1/p')
	keys q
	ended 0 "q"
	truth=$(screen | grep -E '^[0-9]+ [0-9]+ [0-9]+ [0-9]+ [0-9]+ [0-9]+ [0-9]+$')
	# shellcheck disable=SC2086
	set -- $truth
	is "$blocks" "$(($1 + $2 + $3 - $5))" "the blocks that live, to the last one"
}

# The terminal is the command's again, and its status pmp's.
check_left() {
	begin "'$PMP' --heap=1G -- sh -c 'echo begun; read line; echo \"line=\$line\" >&2; sleep 4; exit 7'"
	ok "shows 'chosen so far'" "little was allocated, which is said"
	unlike "$(screen)" '^begun' "the command does not write across the view"
	keys q
	ok "shows '^begun'" "q: what it has written is printed"
	ok "shows '^line=\$'" "it read nothing: the keys are pmp's"
	ok "shows 'waiting for sh to end'" "pmp waits for it, and says so"
	ended 7 "then"
	begin "'$PMP' --heap -- ./nothing"
	ended 127 "a command that is not there"
	terminal "cd '$PWD' && TERM=dumb '$PMP' --heap=1G -- sh -c 'echo begun'; exec cat"
	ok "shows '^memory of '" "TERM=dumb: there is no view, but the page"
	ok "shows '^begun'" "and the terminal is the command's"
	is "$(tm display-message -p -t pmp '#{alternate_on}')" 0 "all of the time"
	no_terminal
}

# pmp is killed, and another one goes on.
check_growth() {
	start_process "$PMP" -q --heap=16K --heap-only -o left.pb.gz -- "$leaker" 300000
	leaks=
	wait_for 'leaks=$(pgrep -P "$target_pid" -x leaker)' 20
	wait_for 'grep -q ready "$target_out"' 20
	# The sampler and its helpers see that pmp has gone, and end.
	kill -9 "$target_pid"
	begin "sh -c 'until \"$PMP\" --heap=16K -p $leaks 2>again; do :; done'"
	ok "shows '^ +[0-9.]+MB +[0-9.]+% +[0-9]+ +[0-9.]+MB +[0-9]+ malloc<get_memory<write_audit' 40" \
		"--heap -p: what leaks is the first row, with a standard error"
	keys y y
	ok "shows 'time:10s'" "y: a window of time"
	ok "shows '\+LIVE \+BLOCKS'" "with what has changed in it"
	ok "shows '^ +\+[0-9.]+[kM]B +\+[0-9]+ +[0-9.]+[kM]B +[0-9]+ malloc<get_memory<write_audit' 30" \
		"what leaks has grown most"
	ok "shows '^ +[-+0-9.]+[kMB]* +[-+0-9]+ +[0-9.]+[MG]B +[0-9]+ malloc<get_memory<render_page'" \
		"what allocates most has not"
	ok "shows '^In [0-9]+ s: allocated [0-9.]+[MG]B in'" "the header is of that time"
	ok "shows '^in the last 10 s: live \+[0-9.]+[kM]B'" "and so are the figures of the row"
	tm resize-window -t pmp -x 200 -y 50
	ok "shows 'AGE +STAYS/S +ALLOC'" "a wide screen has more columns"
	tm resize-window -t pmp -x 40 -y 8
	ok "shows '^ +\+LIVE +ALLOC ALLOCATED BY'" "a small one fewer"
	keys q
	ended 0 "q"
	kill "$leaks"
}

# A profile as others make them: 3 blocks of 10 bytes live that grow() has made, and of what
# it makes only this is known.
write_live_only() {
	python3 - "$1" <<-'END'
		import sys
		def varint(n):
		    data = b""
		    while n > 127:
		        data, n = data + bytes([n & 127 | 128]), n >> 7
		    return data + bytes([n])
		def number(field, n):
		    return varint(field << 3) + varint(n)
		def part(field, data):
		    return varint(field << 3 | 2) + varint(len(data)) + data
		texts = ["", "inuse_objects", "count", "inuse_space", "bytes", "grow", "main"]
		profile = part(1, number(1, 1) + number(2, 2)) + part(1, number(1, 3) + number(2, 4))
		profile += part(2, part(1, bytes([1, 2])) + part(2, bytes([3, 30])))
		for i in 1, 2:
		    profile += part(4, number(1, i) + part(4, number(1, i)))
		    profile += part(5, number(1, i) + number(2, i + 4))
		for text in texts:
		    profile += part(6, text.encode())
		open(sys.argv[1], "wb").write(profile)
	END
}

check_saved() {
	command -v python3 >/dev/null || {
		skip "no python3"
		return
	}
	write_live_only live.pb.gz
	begin "'$PMP' live.pb.gz"
	shows 'saved profile'
	keys 6
	ok "shows '^ +30B +- +3 +- +- grow<main\$'" "a profile that has only what lives"
	ok "shows '^Heap: 30B live in 3 blocks\$'" "its header"
	ok "shows '^live 30B in 3 blocks\$'" "and the figures of a row"
	keys f
	ok "shows '^ +0 +30B +- +0 +- +- main'" "by function"
	keys q
	ended 0 "q"
	[ -x "$top_builddir/t/target/zoo" ] || {
		skip "no C++ compiler"
		return
	}
	start_process "$top_builddir/t/target/zoo"
	wait_for 'grep -q "^ready" "$target_out"' 20
	"$PMP" -q -f objects -o zoo.pb.gz -p "$target_pid"
	begin "'$PMP' zoo.pb.gz"
	shows 'saved profile'
	keys 6
	ok "shows '^ +1.07MB +- +20000 +- +- Circle'" "objects: 20000 Circles of 56 bytes"
	ok "shows '^ +1.30MB +- +10000 +- +- Square'" "and 10000 Squares of 136"
	keys '>' '>'
	ok "wait_for 'screen | sed -n 6p | grep -q \"1.07MB.* Circle\$\"' 20" \
		"sorted by blocks they are the first"
	keys q
	ended 0 "q"
}

check_without() {
	start_target demo
	begin "'$PMP' -p $target_pid"
	shows 'compute_checksum<'
	keys 6
	ok "shows 'pmp --heap -- COMMAND'" "without a recorder: what to do"
	ok "shows 'O reads what its heap holds now'" "and what can be seen all the same"
	keys q
	ended 0 "q"
}

end() {
	status=$?
	[ -z "${leaks:-}" ] || kill "$leaks" 2>/dev/null
	(exit "$status")
	end_terminal
}
trap end EXIT
run_checks "$@"
