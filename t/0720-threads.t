#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Every thread in every snapshot: many of them, some born or dying meanwhile, with names
# that are meant to do harm, and when the first one is no more.
#
# shellcheck disable=SC2119 # options of capture() are optional

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"
# shellcheck source=t/lib/live.sh
. "$top_srcdir/t/lib/live.sh"

check_many() {
	start_target threads 200 2
	for mode in auto all; do
		capture --stop="$mode" -n 10 -i 20ms
		is "$(grep -c '^Thread ' raw)" 2030 "203 threads in each of 10 snapshots, $mode"
		is "$(grep -o 'LWP [0-9]*' raw | sort | uniq -c | awk '$1 != 10')" "" \
			"each of them once in each"
		# A busy machine may not let some of them stop in time.
		late=$(stacks | grep -c 'did not stop in time')
		ok "[ $late -le 500 ]" "$late of 2030 did not stop in time"
		wrong=$(stacks | grep ^block | grep -v 'did not stop in time' | grep -Evc \
			' blocker level2 level1 blocked_main target_thread_main( [^ !]+){2}$')
		is "$wrong" 0 "all stacks of sleeping threads are right" ||
			stacks | grep ^block | cut -d' ' -f2- | sort | uniq -c | diag_input
		wrong=$(stacks | grep ^spin | grep -v 'did not stop in time' |
			grep -Evc ' spinner level2 level1( [a-z0-9_]+){4}$')
		is "$wrong" 0 "and of computing ones" || stacks | grep ^spin | diag_input
	done
	verdict "none was disturbed"
}

check_never() {
	start_target threads 10 1
	capture --stop=never
	is "$(grep -c '^Thread ' raw)" 12 "--stop=never: all threads"
	ok "stacks | grep ^spin-0 | grep -q 'not stopped'" "a computing one says so"
	verdict "none was disturbed"
}

check_chosen() {
	start_target threads 10
	capture --threads '^block-[0-4]$'
	is "$(grep -c '^Thread ' raw)" 5 "--threads"
	capture --not-threads '^block-[0-4]$'
	is "$(grep -c '^Thread ' raw)" 6 "--not-threads"
	"$PMP" --raw -t "$(tid_of block-3)" >raw
	is "$(stacks | cut -d' ' -f1)" block-3 "-t"
}

check_churn() {
	start_target churn 2
	for mode in auto all; do
		ok "'$PMP' --raw --stop=$mode -n 300 -i 1ms -p $target_pid >raw 2>err" \
			"300 snapshots of threads that are born and die, $mode"
		is "$(grep -c '^--- snapshot' raw)" 300 "each was written"
		is "$(stacks | grep -c '^stayer ')" 300 "the one that stays is in each"
		# A busy machine may not let it stop in time.
		late=$(stacks | grep -c '^stayer .*did not stop in time')
		ok "[ $late -le 150 ]" "$late times it did not stop in time"
		is "$(stacks | grep -c '^stayer .* stay target_thread_main')" $((300 - late)) \
			"each other time its stack is right"
	done
	free_again "nothing is left behind"
	verdict "all were born, ran and were joined"
}

check_names() {
	start_target names
	capture
	# Nothing but newlines and what can be seen, in UTF-8.
	is "$(tr -d '\n\040-\176' <raw | wc -c)" 0 "names are escaped in the text"
	is "$(grep -c '^Thread [0-9]* (Thread 0x[0-9a-f]* (LWP [0-9]*)):$' raw)" 15 \
		"15 threads, one line each"
	is "$(grep -c ' in named ' raw)" 14 "each with its stack"
	is "$(grep -c '^State S' raw)" 15 "and its state"
	"$PMP" -f folded -n 2 -i 10ms --by-thread -p "$target_pid" -o out.folded 2>err
	is "$(tr -d '\n\040-\176' <out.folded | wc -c)" 0 "and in folded lines"
	is "$(grep -Evc '^[^ ;].*;.* [0-9]+$' out.folded)" 0 "each line ends in its count" ||
		diag "$(cat out.folded)"
}

check_zombie_leader() {
	start_target zleader
	ok "capture" "the first thread has ended, the others live"
	stack_is worker "[^ !]+ linger worker_main$live_thread" "their stacks are whole"
	ok "stacks | grep -q '^judge .*target_wait_end'" "all of them"
	verdict "and undisturbed"
}

run_checks "$@"
