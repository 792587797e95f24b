#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What the heap of a process holds, in the live view (keys 7 and O): the same as -f objects has,
# what has changed since, and why there is nothing.
#
# shellcheck disable=SC1003,SC2016,SC2034
# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"
# shellcheck source=t/lib/live.sh
. "$top_srcdir/t/lib/live.sh"
need tmux stty
# shellcheck source=t/lib/screen.sh
. "$top_srcdir/t/lib/screen.sh"

zoo=$top_builddir/t/target/zoo
leaker=$top_builddir/t/target/leaker

need_zoo() {
	[ -x "$zoo" ] && return
	skip "no C++ compiler"
	return 1
}

# written: "blocks size class" of each line of -f objects with a class.
written() {
	awk 'table && NF > 3 && $4 != "-" && $4 !~ /^\(/ {
		gsub(",", "", $1); gsub(",", "", $3)
		line = $1 " " $3
		for (i = 4; i <= NF; i++)
			line = line " " $i
		print line
	}
	$4 == "class" { table = 1 }' text | sort
}

# shown: the same of the rows on the screen.
shown() {
	screen | awk '/^-----/ { table = 0 }
	table && NF > 5 && $6 !~ /^\(/ {
		line = $3 " " $5
		for (i = 6; i <= NF; i++)
			line = line " " $i
		print line
	}
	$NF == "CLASS" { table = 1 }' | sort
}

snapshots() {
	screen | sed -n 's/.*  \([0-9]*\) snapshots\{0,1\}[^a-z].*/\1/p'
}

# One samples, and one reads the heap.
two_samplers() {
	wait_for '[ "$(pgrep -P "$front" -x pmp-sampler | wc -l)" -eq 2 ]'
}

check_idle() {
	need_zoo || return
	start_target zoo idle
	begin "'$PMP' -p $target_pid"
	shows '^ +[0-9.]+ +[0-9]+ [SRDL]'
	tm resize-window -t pmp -x 200 -y 60
	keys w early.objects Enter
	ok "shows '^no heap has been read: O reads one'" "there is nothing to write yet"
	keys 6
	ok "shows 'O reads what its heap holds now'" "6, without a recorder: what to press"
	keys 7
	ok "shows '^  O reads what the heap holds now'" "7 alone reads nothing"
	before=$(snapshots)
	keys O
	ok "shows '^Read at [0-9:]+ in [0-9]+ ms, [0-9.]+ ms of CPU +Not read 0.0%'" \
		"O reads it, and what that has cost is said"
	"$PMP" -f objects -p "$target_pid" >text
	keys c
	shows 'std::thread::_State_impl<std::thread::_Invoker<'
	is "$(shown)" "$(written)" "each class with its blocks and size, as -f objects has them"
	live=$(awk '$NF == "live" { gsub(",", "", $1); print $1 }' text)
	ok "shows '^Heap of $target_pid: [0-9.]+MB live in $live blocks'" "and so many in all"
	keys / net::S Enter
	ok "shows '^6000 blocks of 488 bytes: 2928000 bytes'" "the row that was searched for, to the byte"
	ok "shows '^ +2.79MB +- +6000 +- +488 net::Session'" "there is nothing to compare with"
	keys w view.objects Enter
	ok "shows '^Written: view.objects'" "w writes it"
	is "$(sed 1d view.objects)" "$(sed 1d text)" "as -f objects does"
	keys O
	ok "shows 'since [0-9:]+\$'" "O again compares"
	ok "shows '^ +2.79MB +0 +6000 +0 +488 net::Session'" "of an idle process all is the same"
	ok "shows '^the same at '" "as the row says"
	wait_for '[ "$(snapshots)" -gt "$before" ]'
	ok "[ '$(snapshots)' -gt '$before' ]" "snapshots go on"
	keys '\' '^Circle' Enter
	wait_for '[ "$(shown | wc -l)" -eq 1 ]'
	is "$(shown)" "20000 56 Circle" "a filter"
	keys Escape
	tm resize-window -t pmp -x 80 -y 10
	ok "shows '^ +2.79MB +0 +6000 +0 +488 net::Session'" "80x10 has the rows as well"
	keys W q
	ended 0 "q"
	begin "'$PMP' -p $target_pid"
	ok "shows '^  O reads what the heap holds now'" "saved, the view begins with it, but reads nothing"
	keys q
	ended 0 "q"
	rm -r "$XDG_CONFIG_HOME"
}

# Two processes: that of the chosen row.
check_two() {
	need_zoo || return
	start_process "$zoo" idle
	first=$target_pid
	wait_for 'grep -q ^ready "$target_out"'
	start_process "$leaker" 0
	wait_for 'grep -q ^ready "$target_out"'
	begin "'$PMP' -p $first -p $target_pid"
	shows leaker
	keys 4
	for pid in "$first" "$target_pid"; do
		keys / "$pid" Enter O
		ok "shows '^Heap of $pid: '" "of two processes that of the chosen row"
		keys 4
	done
	keys q
	ended 0 "q"
}

# Of a command that has a recorder, too, and of a process of which one thread is sampled.
check_sources() {
	need_zoo || return
	for options in "--heap --" "--heap --heap-only --"; do
		rm -f said
		begin "'$PMP' $options sh -c \"exec '$zoo' idle >said\""
		shows 'Threads|Heap|heap only'
		# It has all that it is to have.
		wait_for 'grep -q ^ready said 2>/dev/null'
		keys O
		ok "shows '^ +2.79MB +- +6000 +- +488 net::Session'" "pmp $options COMMAND: O reads its heap"
		kill "$(pgrep -P "$front" -x zoo)"
		ok "shows ENDED" "pmp $options COMMAND: what was read stays when it has ended"
		ok "shows '^ +2.79MB +- +6000 +- +488 net::Session'" "pmp $options COMMAND: all of it"
		keys q
		wait_for '[ -e over ]' 20
	done
	start_target zoo idle
	begin "'$PMP' -t $target_pid"
	shows '1 thread '
	keys O
	ok "shows '^ +2.79MB +- +6000 +- +488 net::Session'" "-t: the heap is that of the process"
	keys q
	ended 0 "q"
}

# What leaks has grown most.
check_grows() {
	start_process "$leaker" 0
	wait_for 'grep -q ^ready "$target_out"'
	begin "'$PMP' -p $target_pid"
	shows 'get_memory|main'
	keys O
	ok "shows '^Heap of $target_pid: '" "O from another view shows this one"
	keys w then.pb.gz Enter
	shows '^Written: then.pb.gz'
	old=$(screen | awk '$NF == "class)" && $5 == 1000 { print $3 }')
	wait_for '"$PMP" -f objects -p "$target_pid" |
		awk -v old="$old" "{ gsub(\",\", \"\") } \$3 == 1000 && \$1 > old + 2000 { more = 1 } END { exit !more }"' 60
	keys O '>'
	ok "shows '^ +[0-9.]+MB +\+[0-9.]+[kM]B +[0-9]+ +\+[0-9]+ +1000 \(no class\)'" \
		"blocks of 1000 bytes have become more"
	ok "shows '^at [0-9:]+ [0-9]+ blocks: now \+[0-9]+, and \+[0-9]+ bytes'" "the first row has the figures"
	keys w now.pb.gz Enter
	shows '^Written: now.pb.gz'
	like "$("$PMP" -q -f flat --diff then.pb.gz now.pb.gz | grep -A 2 'self' | tail -n 1)" \
		"no_class,1000_bytes" "what w has saved of both times can be compared"
	keys q
	ended 0 "q"
}

check_refused() {
	library=$(ldconfig -p | awk 'index($1, "libjemalloc.so") == 1 { print $NF; exit }')
	[ -n "$library" ] || {
		skip "no libjemalloc"
		return
	}
	start_process env LD_PRELOAD="$library" sleep 60
	wait_for "grep -q libjemalloc /proc/$target_pid/maps && grep -q sleep /proc/$target_pid/comm"
	begin "'$PMP' -p $target_pid"
	shows 'nanosleep|sleep'
	tm resize-window -t pmp -x 80 -y 10
	keys O
	ok "shows '^  cannot read the heap of $target_pid .sleep.: it is of jemalloc'" \
		"another allocator is refused by its name, on 80x10"
	ok "shows '^  hint: of its memory is known: .* MiB resident'" "with what is known of it"
	keys 1
	ok "shows '[0-9.]+ +[0-9]+ S'" "and the view goes on"
	keys q
	ended 0 "q"
}

# It takes some seconds at one percent of a processor; the process ends before.
check_dies() {
	need_zoo || return
	start_target zoo idle 20
	begin "'$PMP' --max-cpu 1 -p $target_pid"
	shows '[0-9.]+ +[0-9]+ [SRDL]'
	keys O
	ok "shows '^  The heap of $target_pid is being read'" "it is being read"
	two_samplers
	kill -9 "$(pgrep -P "$front" -n -x pmp-sampler)"
	ok "shows '^  cannot read the heap of $target_pid: the process that reads it has ended'" \
		"that process is killed"
	keys O
	shows "^  The heap of $target_pid is being read"
	two_samplers
	kill -STOP "$(pgrep -P "$front" -n -x pmp-sampler)"
	ok "shows '^  cannot read the heap of $target_pid: the process that reads it did not' 30" \
		"or it does not answer"
	keys O
	shows "^  The heap of $target_pid is being read"
	keys O
	ok "shows '^The heap of $target_pid is being read\$'" "O does not begin again"
	two_samplers
	kill -9 "$target_pid"
	ok "shows '^  cannot read the heap of $target_pid: it has ended'" \
		"the process ends meanwhile"
	shows ' ENDED '
	keys O
	ok "shows 'No process is left'" "there is nothing to read now"
	keys q
	ended 0 "q"
}

# The view does not know of it yet: its sampler is stopped.
check_gone() {
	need_zoo || return
	start_target zoo idle 20
	begin "'$PMP' -p $target_pid"
	shows '[0-9.]+ +[0-9]+ [SRDL]'
	sampler=$(pgrep -P "$front" -x pmp-sampler)
	kill -STOP "$sampler"
	kill -9 "$target_pid"
	wait "$target_pid" 2>/dev/null
	keys O
	ok "shows '^  cannot read the heap of $target_pid: it has ended'" \
		"a process that has just ended"
	kill -CONT "$sampler"
	ok "shows ' ENDED '" "the view shows it as well"
	keys q
	ended 0 "q"
}

# The sampler that reads it ends with pmp.
check_left() {
	need_zoo || return
	start_target zoo idle 20
	begin "'$PMP' --max-cpu 1 -p $target_pid"
	shows '[0-9.]+ +[0-9]+ [SRDL]'
	keys O
	shows 'is being read'
	ok "two_samplers" "another sampler reads it"
	readers=$(pgrep -P "$front" -x pmp-sampler)
	keys q
	ended 0 "q, while it is read"
	for reader in $readers; do
		wait_for "! kill -0 $reader 2>/dev/null"
		ok "! kill -0 $reader 2>/dev/null" "its sampler has ended"
	done
}

trap end_terminal EXIT
run_checks "$@"
