#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# System calls that a ptrace stop would make fail, end short, or kill for: the
# target must not notice. The list in the manual is the one tested here.
#
# shellcheck disable=SC2119 # options of capture() are optional

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"
# shellcheck source=t/lib/live.sh
. "$top_srcdir/t/lib/live.sh"

check_asleep() {
	start_target eintr
	ok "'$PMP' -f folded --by-thread -n 1000 -i 1ms -p $target_pid -o out.folded" \
		"1000 snapshots"
	is "$(grep -c ';sleep_in;call_' out.folded)" "$(grep -c ';sleep_in' out.folded)" \
		"down to the call"
	is "$(grep '\[' out.folded)" "" "complete stacks only"
	ok "'$PMP' -f folded --stop=all -n 100 -i 1ms --max-stop 1s -p $target_pid \
		-o out.folded" "100 snapshots, all together"
	ok "'$PMP' -f folded --stop=never -n 100 -i 1ms -p $target_pid -o out.folded" \
		"--stop=never"
	capture
	stack_is epoll_wait "[^ ]*epoll_wait( [^ !]+)* sleep_in$live_thread" \
		"in epoll_wait: its whole stack"
	stack_is futex "[^ !]+( [^ !]+)* sleep_in$live_thread" "in futex: its whole stack"
	free_again "no thread is stopped or traced"
	verdict "49 threads asleep in system calls: none was disturbed"
	unlike "$(cat "$target_out")" unavailable "all calls could be tried"
}

# Threads that fall asleep in epoll_wait all the time may do so between the peek and the
# stop; then the call is made to start over. Without that they would see EINTR.
check_race() {
	start_target racer
	"$PMP" -f folded -n 3000 -i 300us --max-stop 1s -p "$target_pid" -o out.folded 2>err
	# On a busy machine a sampler that gets no CPU is shot by its supervisor; what was
	# sampled until then counts.
	ok "[ $? -eq 0 ] || grep -q 'held a thread for more than a second' err" \
		"3000 snapshots of threads that go to sleep" || diag "$(cat err)"
	verdict "no call was interrupted"
}

check_no_restart() {
	start_target eintr
	ok "'$PMP' -f folded --no-restart -n 50 -i 2ms -p $target_pid -o out.folded" \
		"--no-restart: 50 snapshots"
	verdict "sleeping threads are not disturbed either"
}

asleep() {
	! grep -L '^State:[[:space:]]*S' "/proc/$target_pid/task/$(tid_of sleeper)/status" \
		"/proc/$target_pid/task/$(tid_of poller)/status" | grep -q .
}

check_seccomp() {
	start_target norestart
	for mode in auto all; do
		ok "'$PMP' -f folded --stop=$mode -n 100 -i 2ms -p $target_pid -o out.folded" \
			"100 snapshots, $mode"
	done
	wait_for asleep
	capture
	for name in sleeper poller; do
		stack_is "$name" "[^ !]+( [^ !]+)* ${name%er}_main$live_thread" \
			"$name: its whole stack"
	done
	stack_is spinner "!\[not stopped: seccomp\]" \
		"a filter that forbids restart_syscall: who computes is not stopped"
	is "$(grep -c '^Thread ' raw)" 5 "no thread is missing"
	like "$(grep '^---' raw)" "stopped 0.000 ms" "no thread was stopped"
	verdict "it lives"
}

run_checks "$@"
