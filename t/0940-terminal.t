#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The live view on a real terminal, which tmux plays: its keys, its sizes, and that the
# terminal is as it was before on every way out.
#
# shellcheck disable=SC1003,SC2016,SC2034

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"
# shellcheck source=t/lib/live.sh
. "$top_srcdir/t/lib/live.sh"
# shellcheck source=t/lib/locks.sh
. "$top_srcdir/t/lib/locks.sh"
need tmux stty
# shellcheck source=t/lib/screen.sh
. "$top_srcdir/t/lib/screen.sh"

view="'$PMP' -p"

check_keys() {
	start_target demo
	begin "$view $target_pid"
	ok "shows 'compute_checksum<'" "stacks are shown, with names"
	ok "shows '^pmp .* - demo .$target_pid. 10 threads'" "and the target"
	ok "shows 'Hz'" "and the rate"
	ok "shows ' L  queue-N x4 .*lll_lock_wait'" "and who waits for a lock"
	is "$(tm display-message -p -t pmp '#{alternate_on}')" 1 "on a screen of its own"
	keys 2
	ok "shows 'SELF% TOTAL%'" "2 shows functions"
	keys 3
	ok "shows 'TOTAL%  SELF%.*CALLS'" "3 the tree"
	keys 4
	ok "shows '^ *[0-9]+ queue-1 +L .*futex'" "4 threads"
	keys M-1
	ok "shows 'STACK .leaf first'" "Alt-1 stacks again"
	keys '?'
	ok "shows '^Keys'" "? the help"
	keys q
	shows 'STACK'
	keys /
	ok "shows '^Search:'" "/ asks for what to search"
	keys deep Enter Enter
	ok "shows '^#0 .*clock_nanosleep'" "Enter shows the whole stack"
	keys End
	ok "shows '^#2[0-9][0-9] .*clone'" "to its end"
	keys Escape
	ok "shows 'THREADS  '" "Esc goes back"
	keys '\' 'checksum' Enter
	ok "shows 'row 1 of 2'" "a filter leaves what matches"
	keys -l "$(printf '\033[15;5~\033[1;2P\033Oj')"
	keys /
	ok "shows '^Search:'" "unknown keys are none"
	keys Escape
	ok "shows 'row 1 of 2'" "and clear no filter"
	keys Escape
	ok "shows 'row [0-9]+ of [6-9]'" "Esc clears it"
	keys p
	ok "shows PAUSED" "p pauses"
	keys Space
	ok "shows 'Z goes on'" "Space takes no snapshot then, which is said"
	free_again "nothing is attached then"
	keys p
	ok "shows '[0-9] Hz'" "and goes on"
	keys d
	ok "shows '^No deadlock found[.] Time between snapshots:'" "d without a deadlock says so"
	keys Escape
	keys s 50ms Enter
	ok "shows '(of 20|1[5-9]\.[0-9]|2[0-3]\.[0-9]) Hz'" "the rate can be set"
	keys w profile.nothing Enter
	ok "shows 'names no format'" "w says what it cannot write"
	keys w profile.folded Enter
	ok "shows 'Written: profile.folded'" "and writes what it can"
	like "$(cat profile.folded)" 'holder;rebuild_index;compute_checksum [0-9]' \
		"the profile, with its names"
	keys i W
	ok "shows 'Saved: '" "W saves"
	like "$(cat config/pmp/view)" '^idle hidden$' "the settings"
	keys q
	ended 0 "q"
	begin "$view $target_pid"
	ok "shows 'idle:hidden'" "which the next view begins with"
	keys 4 '>' '>' W
	ok "shows 'Saved: '" "W saves the column that is sorted by"
	like "$(cat config/pmp/view)" '^sort-threads switches$' "by its name"
	keys C-c
	ended 0 "^C"
	echo 'sort-threads 3' >config/pmp/view
	begin "$view $target_pid"
	ok "shows 'Not understood: sort-threads 3 .columns have names now.'" \
		"a column that was saved by number is not taken for another"
	keys q
	ended 0 "q"
	rm config/pmp/view && mkfifo config/pmp/view
	begin "$view $target_pid"
	ok "shows 'compute_checksum<'" "a pipe in the place of the settings holds up nothing"
	keys q
	ended 0 "q, with a pipe in the place of the settings"
	rm -r config
}

check_locks() {
	locks_start "$top_builddir/t/target/locks" victims chain
	victims=$(sed -n 's/^ready //p' "$locks_said/victims")
	chain=$(sed -n 's/^ready //p' "$locks_said/chain")
	begin "$view $chain,$victims"
	ok "shows '1 DEADLOCK .d.'" "a deadlock is in the header"
	ok "shows '^DEADLOCK: threads wait for each other'" "and announced"
	ok "shows '^Threads: .* 8 lock '" "those who wait for locks are counted"
	keys d
	ok "shows '^ WAIT BEHIND +DELAY LONGEST HOLDER'" "d shows the locks"
	ok "shows '^DEADLOCK: mutex [ab] held by [0-9]+ .worker-[12]. .L.,'" "the first is part of it"
	ok "shows '^ the holder waits for mutex [ab] held by [0-9]+ .worker-[12]'" "and whom its holder waits for"
	first=$(screen | sed -n 's/^DEADLOCK: mutex \([ab]\).*/\1/p')
	second=$(echo "$first" | tr ab ba)
	ok "shows '^ +1 victim-N  pthread_mutex_lock<'" "who waits, in groups"
	keys d
	ok "shows '^DEADLOCK: mutex $second held by'" "d again: the next one"
	keys d
	ok "shows '^DEADLOCK: mutex $first held by'" "and round"
	keys Enter
	ok "shows '^ the holder.s stack:'" "Enter shows the holder"
	keys q o root Enter
	ok "shows 'threads:root' && ! screen | grep -q ' mutex '" \
		"of a thread that holds a lock there is no row of a lock"
	keys o BSpace BSpace BSpace BSpace second Enter
	ok "shows '^ +1 +3 +[0-9.]+s +[0-9.]+s [0-9]+ root S +mutex +a'" "of one that waits there is one"
	keys Escape 4 x
	tm resize-window -t pmp -x 110 -y 30
	ok "shows ' second +L .* a [0-9]+ root S'" "x shows the lock and its holder"
	keys q
	ended 0 "q"
	# shellcheck disable=SC2086
	kill -KILL $locks_pids
}

check_waits() {
	locks_start "$top_builddir/t/target/locks" flock pipe-read semaphore join mutex-static
	pids=$(cat "$locks_said"/* | sed -n 's/^ready //p' | paste -sd, -)
	begin "$view $pids"
	shows 'Hz'
	keys 5
	tm resize-window -t pmp -x 110 -y 30
	ok "shows '^ +1 +- +[0-9.]+s +[0-9.]+s [0-9]+ locks +[0-9]+ lockowner +file +flock pmp-locks'" \
		"a lock of a file, and the process that has it"
	ok "shows '^ +1 +- .* - +pipe +pipe [0-9]+'" "a pipe"
	ok "shows '^ +1 +- .* - +semaphore +semaphore[.0-9]*'" "a semaphore, by its functions"
	ok "shows '^ +1 +1 .* [0-9]+ holder S +join +-'" "the end of a thread"
	keys x
	ok "shows '^ +1 +1 .* holder S +mutex +mutex[.0-9]*, 0x[0-9a-f]+'" "x: with the address"
	keys / pipe Enter
	ok "shows '^ pipe [0-9]+: [0-9]+ .*can write .fd [0-9]+.'" "below is who can write the pipe"
	keys q
	ended 0 "q"
	# shellcheck disable=SC2086
	kill -KILL $locks_pids
}

check_sizes() {
	start_target demo
	begin "$view $target_pid"
	shows 'compute_checksum<'
	tm resize-window -t pmp -x 132 -y 50
	# On a busy machine there is a message in their place.
	ok "shows 'Z pause|^sampling falls behind'" "wider: more keys are shown"
	tm resize-window -t pmp -x 40 -y 10
	ok "shows '^demo .$target_pid. 10 thr'" "40 x 10"
	tm resize-window -t pmp -x 30 -y 4
	ok "shows 'too small'" "30 x 4 is too small, and said to be"
	tm resize-window -t pmp -x 1 -y 1
	tm resize-window -t pmp -x 200 -y 60
	ok "shows 'compute_checksum<.*clone3'" "200 x 60 has whole stacks"
	keys q
	ended 0 "q"
}

check_ends() {
	start_target demo
	for signal in TERM:143 HUP:129 SEGV:139 ABRT:134; do
		begin "$view $target_pid"
		shows 'compute_checksum<'
		kill -s "${signal%:*}" "$front"
		ended "${signal#*:}" "SIG${signal%:*}"
	done
	free_again "no thread is left stopped"
}

check_suspended() {
	start_target demo
	terminal "cd '$PWD' && exec env PS1='ready> ' sh -i"
	shows 'ready>'
	keys "$PMP -p $target_pid" Enter
	shows 'compute_checksum<'
	keys C-z
	ok "shows 'ready>$'" "^Z gives the terminal back"
	free_again "and nothing is attached"
	keys "echo sum \$((20 + 22))" Enter
	ok "shows 'sum 42'" "to the shell"
	keys fg Enter
	ok "shows 'STACK .leaf first'" "fg shows the view again"
	keys q
	ok "shows 'sum 42'" "q ends it"
}

# A snapshot stops each thread, which therefore switches once more.
check_background() {
	start_target sleeper 2
	terminal "cd '$PWD' && exec env PS1='ready> ' sh -i"
	shows 'ready>'
	keys "$PMP --stop=all --max-cpu 0 -i 10ms -p $target_pid & echo \$! >background" Enter
	ok "wait_for '[ -s background ] && grep -q \"^State:.T\" /proc/\$(cat background)/status'" \
		"in the background pmp is stopped before it draws"
	ok "untouched $target_pid" "nothing is attached while it is"
	front=$(cat background)
	switches=$(awk '/^voluntary/ { print $2 }' "/proc/$target_pid/task/$target_pid/status")
	# So long that thirty snapshots would be due.
	sleep 0.3
	is "$(awk '/^voluntary/ { print $2 }' "/proc/$target_pid/task/$target_pid/status")" \
		"$switches" "no snapshot is taken while it is stopped in the background"
	keys bg Enter
	ok "wait_for 'grep -q \"^State:.T\" /proc/$front/status'" \
		"continued in the background, it stops again"
	keys fg Enter
	ok "shows 'STACK .leaf first'" "fg shows the view for the first time"
	keys q
	ok "wait_for '[ ! -e /proc/$front ]'" "q ends what began in the background"
	keys "$PMP -p $target_pid & echo \$! >background2" Enter
	wait_for '[ -s background2 ]'
	front=$(cat background2)
	wait_for "grep -q '^State:.T' /proc/$front/status"
	kill -TERM "$front"
	kill -CONT "$front"
	ok "wait_for '! alive $front'" "in the background, TERM ends it once it is continued"
}

check_limit() {
	start_target demo
	begin "'$PMP' -d 1 -p $target_pid"
	ok "shows DONE" "the limit is reached: it is over, but not the target"
	keys q
}

check_end_of_target() {
	start_target demo
	begin "$view $target_pid"
	shows 'compute_checksum<'
	kill "$target_pid"
	ok "shows ENDED" "the target has ended: it is said"
	ok "shows 'compute_checksum<'" "and the view stays"
	keys 2
	ok "shows 'SELF% TOTAL%'" "with its keys"
	keys q
	ended 0 "q"
	ok "shows 'ended after'" "the note is printed after the screen"
}

check_gone() {
	begin "$view 4194303"
	ended 3 "no such process"
	ok "shows 'no such process'" "says so, without a screen"
}

check_exec() {
	start_target execer thread
	# In the middle of an exec it may be refused.
	for try in 1 2 3 4 5; do
		begin "$view $target_pid"
		shows 'executed another program|^status 4$'
		screen | grep -q '^status 4$' || break
	done
	ok "shows 'executed another program'" "an exec is noted" || diag "try $try"
	keys q
	ended 0 "q"
	kill -KILL "$target_pid"
}

# All of a core is known: how it ended, who held which lock.
check_core() {
	command -v gcore >/dev/null || { skip "no gcore"; return; }
	locks_start "$top_builddir/t/target/locks" deadlock
	pid=$(sed -n 's/^ready //p' "$locks_said/deadlock")
	gcore -o core "$pid" >gcore.log 2>&1 || diag "$(cat gcore.log)"
	# shellcheck disable=SC2086 # a list of ids
	kill -KILL $locks_pids
	begin "'$PMP' core.$pid"
	ok "shows '^pmp .* - core.$pid  core file  1 snapshot  3 stacks'" "a core file is shown"
	ok "shows '^Signal none: a debugger has written the core'" "how it ended"
	keys 5
	ok "shows ' 1 +2 .* [0-9]+ locks L +mutex +a$'" "its locks have holders"
	ok "shows '^DEADLOCK: mutex [ab] held by [0-9]+ .locks. \(L\), 1 waits'" "its deadlock"
	keys p
	ok "shows 'This is a file: nothing is sampled'" "p has no meaning"
	keys q
	ended 0 "q"
}

check_saved() {
	start_target demo
	"$PMP" -q -o saved.pb.gz -n 5 -i 20ms -p "$target_pid"
	"$PMP" -q --no-symbols -o unnamed.pb.gz -n 5 -i 20ms -p "$target_pid"
	stop_process "$target_pid"
	begin "'$PMP' saved.pb.gz"
	ok "shows '^pmp .* - saved.pb.gz  saved profile  5 snapshots  50 stacks'" \
		"a saved profile is shown"
	ok "shows 'queue-N x4 .*lll_lock_wait'" "with its stacks"
	ok "shows ' 20[0-9-]* [0-9:]*  [0-9]+\.[0-9] s  50 Hz '" "and how it was taken"
	keys 4
	ok "shows '^ *[0-9]+ queue-1 +L .*futex'" "its threads"
	keys p
	ok "shows 'nothing is sampled'" "p has no meaning"
	tm resize-window -t pmp -x 40 -y 10
	ok "shows '^saved.pb.gz +saved profile'" "40 x 10"
	tm resize-window -t pmp -x 100 -y 30
	keys w copy.folded Enter
	ok "shows 'Written: copy.folded'" "w writes it"
	"$PMP" -q -f folded saved.pb.gz >direct.folded
	ok "cmp -s copy.folded direct.folded" "as pmp without a screen does"
	keys q
	ended 0 "q"
	begin "'$PMP' unnamed.pb.gz saved.pb.gz"
	ok "shows '2 files: unnamed.pb.gz, sav.* 10 snapshots'" "two are one"
	ok "shows ' [0-9.]+ +[0-9]+ R  busy +compute_checksum<'" \
		"what was saved without names gets them"
	keys q
	ended 0 "q"
	begin "sh -c \"'$PMP' - <saved.pb.gz\""
	ok "shows 'queue-N x4 .*lll_lock_wait'" "from standard input"
	keys q
	ended 0 "q"
	head -c 500 saved.pb.gz >damaged.pb.gz
	begin "'$PMP' damaged.pb.gz"
	ended 2 "a damaged file"
	ok "shows 'cannot read damaged.pb.gz'" "it is said, without a screen"
	terminal "cd '$PWD' && TERM=dumb '$PMP' saved.pb.gz; exec cat"
	ok "shows 'in start_thread'" "TERM=dumb: as text, once"
}

# What w writes goes by the options of the output, as what a run writes does.
check_writes() {
	start_target demo
	"$PMP" -q -o saved.pb.gz -n 5 -i 20ms -p "$target_pid"
	stop_process "$target_pid"
	options="--title Title --icicle --width 640 --by-state --lines --sort name -v"
	# shellcheck disable=SC2086
	for file in direct.svg direct.flat direct.pmp; do
		"$PMP" -q $options -f "${file#*.}" saved.pb.gz >"$file" 2>/dev/null
	done
	begin "'$PMP' $options saved.pb.gz"
	shows 'saved profile'
	for file in key.svg key.flat key.pmp; do
		keys w "$file" Enter
		shows "Written: $file"
		ok "cmp -s $file direct.${file#*.}" "w writes $file as pmp -f ${file#*.} does"
	done
	keys w '%Q.folded' Enter
	ok "shows \"cannot understand the name '%Q.folded': %p is the pid\"" \
		"w says what is wrong with a pattern"
	keys w 'a.speedscope.json' Enter
	ok "shows 'Written, without the course of time: it is not saved: a.speedscope.json'" \
		"w says that a saved profile has no course of time"
	keys q
	ended 0 "q"
	start_target demo
	begin "$view $target_pid"
	shows 'compute_checksum<'
	keys w 'b.speedscope.json' Enter
	ok "shows 'without the course of time .-f speedscope has it.: b.speedscope.json'" \
		"w says that a view keeps no course of time"
	keys q
	ended 0 "q"
}

check_two() {
	start_target demo
	first=$target_pid
	start_target sleeper 2
	begin "$view $first,$target_pid"
	ok "shows '2 processes: demo .$first.'" "two processes"
	ok "shows '$target_pid sleeper'" "have rows of their own"
	keys q
	ended 0 "q"
}

check_terminals() {
	start_target demo
	for term in dumb no-such-terminal; do
		terminal "cd '$PWD' && TERM=$term exec '$PMP' -p $target_pid"
		tm set-option -g remain-on-exit on >/dev/null
		ok "shows 'compute_checksum<'" "TERM=$term"
		[ "$term" != dumb ] ||
			is "$(tm display-message -p -t pmp '#{alternate_on}')" 0 \
				"as text, not on a screen"
	done
	for term in vt100 linux xterm; do
		terminal "cd '$PWD' && TERM=$term exec '$PMP' -p $target_pid"
		ok "shows 'compute_checksum<'" "TERM=$term"
	done
	terminal "cd '$PWD' && NO_COLOR=1 TERM=screen-256color exec '$PMP' -p $target_pid"
	ok "shows ' R  .*compute_checksum<'" "NO_COLOR"
	unlike "$(tm capture-pane -e -p -t pmp)" "$(printf '\033')\\[[0-9;]*3[0-7]m" \
		"there is no colour then"
	tm kill-server
}

check_locale() {
	start_target demo
	terminal "cd '$PWD' && LC_ALL=C TERM=screen exec '$PMP' -p $target_pid"
	ok "shows 'compute_checksum<'" "LC_ALL=C"
	tm kill-server
}

trap end_terminal EXIT
run_checks "$@"
