#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# All of pmp stands still while it holds threads: the kernel kills the sampler by its
# timer, and the threads run on. Nothing of pmp has to run for that.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"
# shellcheck source=t/lib/live.sh
. "$top_srcdir/t/lib/live.sh"
# shellcheck source=t/lib/held.sh
. "$top_srcdir/t/lib/held.sh"
need pgrep

# start PMP OPTION...: sampling the target as often as it can, in $pmp and $sampler.
start() {
	"$@" -q -f folded --no-symbols --max-stop=1h -F 10000 -d 600 -p "$target_pid" \
		-o out.folded >out 2>err </dev/null &
	pmp=$!
	test_pids="$test_pids $pmp"
	sampling "$pmp" 5
	sampler=$test_sampler
}

# never CONDITION SECONDS: it does not come about.
never() {
	polls=$(($2 * 50))
	while [ "$polls" -gt 0 ]; do
		! eval "$1" || return 1
		sleep 0.02
		polls=$((polls - 1))
	done
}

# stopped TEXT: both processes are stopped, and the threads are free nevertheless.
stopped() {
	catch "$target_pid" stop_sampler 'kill -CONT $sampler'
	kill -STOP "$pmp"
	ok "wait_for 'untouched $target_pid' 5" "$1: its threads are released"
	is "$(state_of "$pmp")" T "the front was stopped all the time"
	kill -CONT "$pmp"
	wait "$pmp"
	is "$?" 1 "status"
	like "$(cat err)" '^pmp: the sampler held a thread for more than two seconds and was killed; the [0-9]+ snapshots taken are kept$' \
		"its message"
	verdict "the target runs on"
}

check_together() {
	start_target sleeper 200
	start "$PMP" --stop=all
	stopped "all threads at once"
}

# What a sampler dies on is left out by the next one.
check_others() {
	start_target threads 1
	other=$target_pid
	start_target sleeper 200
	start "$PMP" --stop=all -p "$other"
	wait_for "kill -USR1 $pmp; grep -q '^sleeper-' out.folded"
	catch "$target_pid" stop_sampler 'kill -CONT $sampler'
	wait_for "untouched $target_pid && [ \"\$(sampler_of $pmp)\" != $sampler ]" 5
	sampling "$pmp" 5
	ok "wait_for '! untouched $other' 5" "another sampler: the other target is sampled"
	ok "never '! untouched $target_pid' 1" "what the first one died on is not"
	kill -INT "$pmp"
	wait "$pmp"
	is "$?" 1 "another sampler: status"
	is "$(cat err)" "pmp: the sampler held a thread for more than a second and was killed, at work on $target_pid (sleeper): the others are sampled without it" \
		"another sampler: its message"
	like "$(cat out.folded)" '^sleeper-' "what was sampled before is kept"
	verdict "the target runs on"
}

# family: a process in $target_pid with two children that are targets, $other and $held.
family() {
	start_process sh -c '"$0/threads" 1 & echo other $!; "$0/sleeper" 200 & echo held $!
		wait' "$top_builddir/t/target"
	wait_for "[ \$(grep -c ^ready '$target_out') -eq 2 ]"
	other=$(sed -n 's/^other //p' "$target_out")
	held=$(sed -n 's/^held //p' "$target_out")
}

# The next sampler does not find it again as a child either.
check_child() {
	family
	start "$PMP" --stop=all --children
	wait_for "kill -USR1 $pmp; grep -q '^sleeper-' out.folded"
	catch "$held" stop_sampler 'kill -CONT $sampler'
	wait_for "untouched $held && [ \"\$(sampler_of $pmp)\" != $sampler ]" 5
	sampling "$pmp" 5
	ok "wait_for '! untouched $other' 5" "a child: the other one is sampled on"
	ok "never '! untouched $held' 1" "what the first one died on is not"
	kill -INT "$pmp"
	wait "$pmp"
	is "$?" 1 "a child: status"
	is "$(cat err)" "pmp: the sampler held a thread for more than a second and was killed, at work on $held (sleeper): the others are sampled without it" \
		"a child: one message"
	kill -USR1 "$held" "$other"
	ok "wait_for '! alive $target_pid' && [ \$(grep -c '^verdict: ok$' $target_out) -eq 2 ]" \
		"a child: all run on"
}

# Threads that the capture has given up, and that are still awaited after it.
check_late() {
	[ -x "$PMP_FAULTY" ] || { skip "no $PMP_FAULTY"; return; }
	start_target threads 4 2
	PMP_FAULT=always-late,late-slow${PMP_JUDGE_FAULT:+,$PMP_JUDGE_FAULT} start "$PMP_FAULTY"
	stopped "a thread that stops late"
}

# While it runs the timer is set again as long as threads are awaited.
check_awaited() {
	[ -x "$PMP_FAULTY" ] || { skip "no $PMP_FAULTY"; return; }
	start_target threads 4 2
	PMP_FAULT=always-late,late-slow "$PMP_FAULTY" -q -f folded --no-symbols -d 4 \
		-p "$target_pid" >out 2>err
	is "$?:$(cat err)" "0:" "threads are late for four seconds: the sampler lives"
	verdict "the target was not disturbed"
}

# freeze 1|0
freeze() {
	echo "$1" >"$group/cgroup.freeze"
	wait_for "grep -qx 'frozen $1' '$group/cgroup.events'" 2
}

check_frozen() {
	group=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)/pmp-test.$$
	mkdir "$group" 2>/dev/null || { skip "no group can be made under cgroup2"; return; }
	if [ -e "$group/cgroup.freeze" ]; then
		start_target sleeper 200
		start "$PMP" --stop=all
		echo "$pmp" >"$group/cgroup.procs" && echo "$sampler" >"$group/cgroup.procs"
		catch "$target_pid" 'freeze 1' 'freeze 0'
		ok "wait_for 'untouched $target_pid' 5" "all of pmp is frozen: its threads are released"
		freeze 0
		wait "$pmp"
		is "$?" 1 "status"
		verdict "the target runs on"
	else
		skip "no freezer"
	fi
	wait_for "rmdir '$group'" 2
}

run_checks "$@"
