#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Targets that are not in order: stopped, traced by others, dead, half dead, in a
# sleep that cannot be interrupted, becoming another program. pmp says what it is, or
# shows what there is, and comes back soon.
#
# shellcheck disable=SC2119 # options of capture() are optional

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"
# shellcheck source=t/lib/live.sh
. "$top_srcdir/t/lib/live.sh"

# refused STATUS ERE TEXT PID
refused() {
	"$PMP" --raw -p "$4" >raw 2>err
	is $? "$1" "$3: status"
	like "$(cat err)" "$2" "$3: message"
	is "$(cat raw)" "" "$3: no output"
}

check_stopped() {
	start_target threads 5 1
	kill -STOP "$target_pid"
	soon 2 "a stopped program"
	is "$(grep -c '^Thread ' raw)" 7 "all threads"
	soon 2 "a stopped program, --stop=all" --stop=all
	wait_for "! cat /proc/$target_pid/task/*/status | grep -Eq '^TracerPid:.[1-9]'" 2
	is "$(cat /proc/"$target_pid"/task/*/status | grep -c '^State:.T')" 7 "it stays stopped"
	kill -CONT "$target_pid"
	verdict "and goes on when told to"
}

check_strace() {
	command -v strace >/dev/null || { skip "no strace"; return; }
	start_target threads 3
	strace -f -p "$target_pid" -o /dev/null 2>strace.err &
	tracer=$!
	test_pids="$test_pids $tracer"
	wait_for "! grep -h TracerPid /proc/$target_pid/task/*/status | grep -q 'TracerPid:.0'"
	refused 4 "already traced by strace \(pid $tracer\)" "traced by strace" "$target_pid"
	kill -TERM "$tracer"
	wait "$tracer" 2>/dev/null
	free_again "released by strace"
	ok "capture" "then it can be sampled"
	verdict "undisturbed"
}

# sleeping_child PID: its child that is "sleep" goes into $sleeper.
sleeping_child() {
	# shellcheck disable=SC2013 # numbers on one line
	for sleeper in $(cat "/proc/$1/task/$1/children"); do
		[ "$(cat "/proc/$sleeper/comm")" = sleep ] && return
	done
	return 1
}

check_gdb() {
	command -v gdb >/dev/null || { skip "no gdb"; return; }
	start_target chain spin
	gdb -nx -batch -ex 'shell touch attached' -ex 'shell exec sleep 30' -p "$target_pid" \
		>gdb.out 2>&1 &
	tracer=$!
	test_pids="$test_pids $tracer"
	wait_for "[ -e attached ]" 30
	wait_for "sleeping_child $tracer"
	refused 4 "already traced by gdb \(pid $tracer\)" "traced by gdb" "$target_pid"
	kill -KILL "$sleeper"
	wait "$tracer"
	wait_for "untouched $target_pid"
	verdict "undisturbed"
}

check_two_at_once() {
	start_target threads 20 2
	"$PMP" -f folded -n 200 -i 2ms -p "$target_pid" -o one.folded 2>err1 &
	one=$!
	"$PMP" -f folded -n 200 -i 2ms -p "$target_pid" -o two.folded 2>err2
	is $? 0 "two at once: the second"
	wait "$one"
	is $? 0 "the first"
	free_again "no thread is stopped or traced"
	verdict "undisturbed"
}

check_zombie() {
	command -v perl >/dev/null || { skip "no perl"; return; }
	# shellcheck disable=SC2016
	start_process perl -e '$| = 1; $p = fork // die; exit 0 unless $p; print "$p\n"; sleep 60'
	wait_for "[ -s $target_out ]"
	zombie=$(cat "$target_out")
	wait_for "grep -q '^State:.Z' /proc/$zombie/status"
	refused 3 "$zombie \(perl\) is a zombie: .*parent $target_pid \(perl\)" "a zombie" "$zombie"
}

check_kernel_thread() {
	thread=
	for stat in /proc/[0-9]*/stat; do
		[ "$(awk '{ print $4 }' "$stat" 2>/dev/null)" = 2 ] || continue
		thread=${stat#/proc/} thread=${thread%/stat}
		break
	done
	[ -n "$thread" ] || { skip "no kernel thread can be seen"; return; }
	refused 3 "kernel thread" "a kernel thread" "$thread"
}

# A thread of the kernel in the process has no stack, and nothing of it is to be stopped.
check_kernel_worker() {
	build uring "$live_target/uring.c" || { skip "no io_uring to compile with"; return; }
	start_process ./uring
	wait_for "grep -q ^ready '$target_out' || ! test_is_child $target_pid"
	grep -q ^ready "$target_out" || { skip "no io_uring"; return; }
	wait_for "cat /proc/$target_pid/task/*/comm | grep -q ^iou-wrk"
	for mode in auto all; do
		capture --stop="$mode" -n 3 -i 10ms
		is "$(stacks | grep -c '^iou-wrk-[0-9]* !\[not stopped: kernel worker\]$')" 3 \
			"a worker of io_uring is left alone, $mode" || stacks | diag_input
	done
	verdict "it has done its work"
}

check_gone() {
	start_target threads 1
	gone=$target_pid
	kill -KILL "$gone"
	wait "$gone" 2>/dev/null
	refused 3 "no such process: $gone" "a process that is no more" "$gone"
}

# sample_execer OPTION...: the kernel does not let pmp seize a thread while another one
# executes, and that waits for the end of those that are seized.
sample_execer() {
	timeout 60 "$PMP" -f folded --no-symbols -i 1ms "$@" -p "$target_pid" \
		-o out.folded 2>err
	status=$?
	test_result "$status" "a program that executes itself ($who), $*" && return
	diag "status $status: $(tail -n 5 err)"
}

# Without the reports of those that have ended, both wait for each other sooner or later.
waits_for_exec() {
	for _ in $(seq 10); do
		PMP_FAULT=exec-waits timeout 60 "$PMP_FAULTY" -f folded --no-symbols -i 1ms --stop=all \
			--max-cpu 100 -n 2000 -p "$target_pid" -o out.folded 2>err
		grep -q 'held a thread for more than a second' err && return
	done
	return 1
}

# open_execer TIMES: opened at any moment of an exec
open_execer() {
	: >err
	for _ in $(seq "$1"); do
		timeout 60 "$PMP" -f folded --no-symbols -n 1 -p "$target_pid" \
			-o out.folded 2>>err
	done
	is "$(grep -E 'has ended|cannot trace' err)" "" "and never looks as if it had ended"
}

check_exec() {
	for who in leader thread; do
		start_target execer "$who"
		sample_execer -n 300
		sample_execer -n 1000 --stop=all
		open_execer 100
		wait_for "untouched $target_pid"
		verdict "it goes on doing so"
		executed=$(awk '/^executed/ { print $2 }' "$target_out")
		ok "[ ${executed:-0} -ge 10 ]" "${executed:-no} times"
	done
	start_target execer thread
	ok waits_for_exec "planted fault: seizing a thread waits for an exec that waits for it"
	stop_process "$target_pid"
}

# Threads of the target that have ended and wait for pmp to take note.
traced_zombies() {
	cat /proc/"$target_pid"/task/*/status 2>/dev/null | awk '
		/^State:/ { zombie = $2 == "Z" }
		/^Pid:/ { tid = $2 }
		/^TracerPid:/ && zombie && $2 > 0 { print tid }'
}

check_reaped() {
	start_target churn 2
	: >raw
	"$PMP" --raw --no-symbols --stop=all -n 100000 -i 1ms -p "$target_pid" >raw 2>err &
	front=$!
	left=
	for snapshots in 100 200 300; do
		wait_for "[ \$(grep -c '^--- snapshot' raw) -ge $snapshots ]"
		for tid in $(traced_zombies); do
			wait_for "[ ! -e /proc/$target_pid/task/$tid ]" 2 && continue
			left=$tid
			break 2
		done
	done
	is "$left" "" "threads that end while they are seized are not kept as zombies"
	kill -INT "$front"
	wait "$front"
	free_again "no thread is stopped or traced"
	verdict "undisturbed"
}

check_killed_while_held() {
	bad=
	for turn in 1 2 3 4 5 6 7 8 9 10; do
		start_target threads 20 1
		: >raw
		"$PMP" --raw --no-symbols --stop=all -n 100000 -i 1ms -p "$target_pid" \
			>raw 2>err &
		front=$!
		wait_for "[ \$(grep -c '^--- snapshot' raw) -ge 3 ]"
		wait_for "cat /proc/$target_pid/task/*/status | grep -q '^TracerPid:.[1-9]'" 5
		kill -KILL "$target_pid"
		wait_for "! alive $front" 3 || bad="$bad $turn:hangs"
		wait "$front" || bad="$bad $turn:status-$?"
		grep -q 'ended after' err || bad="$bad $turn:silent"
		wait "$target_pid" 2>/dev/null
	done
	is "$bad" "" "killed while it is held, $turn times: pmp ends, with what it has"
}

check_vfork() {
	for mode in auto all; do
		start_target vforker 6000
		soon 2 "a thread in vfork, $mode" --stop="$mode"
		is "$(grep -c '^Thread ' raw)" 4 "all threads are there"
		stack_is sleeper "[^ !]+ sleeper_main$live_thread" "the others are complete"
		stack_is spinner "spinner_main$live_thread" "also the computing one"
		like "$(stack_of vforker)" '\[not stopped: D, vfork\]' "it was not stopped"
		like "$(grep '"vforker"' raw)" '^State D' "its state is shown"
		free_again "no thread is stopped or traced"
		# Any stop that was asked for would take hold when the child ends.
		verdict "undisturbed, also afterwards"
	done
}

# Threads that are in vfork when they are asked to stop: they stop seconds later, and
# have to be released at that moment. Neither may the others wait. (Of themselves only
# few are asked, as sleeping ones are looked at; --stop=all asks all.)
check_late() {
	for mode in all auto; do
		start_target vforker 2500 60 500
		timeout 60 "$PMP" --raw --no-symbols --stop="$mode" -d 6 -i 1ms --max-stop 1h \
			--max-cpu 0 -p "$target_pid" -o raw.txt 2>err
		is $? 0 "60 threads that go into vfork at any moment, $mode"
		gap=$(sed -n 's/^--- snapshot.*T[0-9]*:\([0-9]*\):\([0-9.]*\)Z.*/\1 \2/p' raw.txt |
			awk '{ now = $1 * 60 + $2; gap = now - last
				if (NR > 1 && gap > max) max = gap
				last = now } END { printf "%d\n", max * 1000 }')
		ok "[ $gap -lt 1500 ]" "no snapshot waits for them (the longest $gap ms)"
		free_again "no thread is stopped or traced"
		verdict "all went on as soon as they could"
	done
}

# For how long the sampler has a high priority (SCHED_RR is 2) without a pause, in five seconds:
# of 250 times that it is looked at.
longest_raised() {
	for _ in $(seq 250); do
		sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d ' ' -f 39
		sleep 0.02
	done | awk '{ run = $1 == 2 ? run + 1 : 0; if (run > most) most = run } END { print most + 0 }'
}

# A stop that takes seconds, as the thread has gone into vfork right after it was asked; here
# by a planted fault.
check_stuck() {
	[ -x "$PMP_FAULTY" ] || { skip "no $PMP_FAULTY"; return; }
	[ "$(id -u)" -eq 0 ] || { skip "not root: no priority of its own"; return; }
	start_target vforker 6000
	PMP_FAULT=stop-vfork,$PMP_JUDGE_FAULT "$PMP_FAULTY" --raw --no-symbols --stop=all -d 6 -i 200ms \
		-p "$target_pid" -o raw 2>err &
	front=$!
	sampler=
	wait_for 'sampler=$(pgrep -P "$front" | head -n 1) && [ -n "$sampler" ]'
	longest=$(longest_raised "$sampler")
	wait "$front"
	is $? 0 "a stop that takes seconds"
	ok "grep -q 'did not stop in time' raw" "it is not waited for"
	ok "[ $longest -lt 50 ]" "nor has the sampler a high priority for that long ($longest of 250)"
	free_again "no thread is stopped or traced"
	verdict "it went on as soon as it could"
}

run_checks "$@"
