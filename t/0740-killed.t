#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# pmp is killed at each of its system calls, in either of its two processes: after
# each death no thread of the target is stopped or traced, and no process of pmp lives on.
#
# Calls that are made while a thread is held are all tried, of the others as many as
# $PMP_KILLS allows (they take about 50 ms each); 0: all.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"
# shellcheck source=t/lib/live.sh
. "$top_srcdir/t/lib/live.sh"

killer=$top_builddir/t/target/killer
kills=${PMP_KILLS:-80}
[ -x "$killer" ] || skip_all "no $killer"

# one_run first|second all|hold K
one_run() {
	timeout 60 "$killer" "$1" "$2" "$3" "$PMP" -f folded --no-symbols --stop="$mode" \
		-n 2 -i 5ms -p "$target_pid" >out 2>err
}

# sweep first|second all|hold LIMIT
sweep() {
	# On a busy machine it waits more often: the least of three.
	calls=
	for _ in 1 2 3; do
		one_run "$1" "$2" 0
		count=$(sed -n '$s/^calls //p' out)
		[ "${calls:-$count}" -lt "$count" ] || calls=$count
	done
	ok "[ $calls -gt 10 ]" "$1 process, $2 calls, $mode: $calls of them" || return
	step=1
	[ "$3" -eq 0 ] || step=$((calls / $3 + 1))
	k=1 killed=0 bad=
	while [ "$k" -le "$calls" ]; do
		one_run "$1" "$2" "$k" && status=0 || status=$?
		tail -n 1 out | grep -qx killed && killed=$((killed + 1))
		[ "$status" -ne 124 ] || bad="$bad $k:hangs"
		wait_for "untouched $target_pid" 2 || bad="$bad $k"
		k=$((k + step))
	done
	is "$bad" "" "no thread is left stopped or traced, $killed deaths (step $step)"
	ok "[ $killed -ge $((calls * 3 / (step * 4))) ]" "it was killed nearly each time"
}

check_sampler() {
	start_target threads 4 1
	for mode in auto all; do
		sweep second hold 0
	done
	mode=auto
	sweep second all "$kills"
	verdict "undisturbed"
}

check_front() {
	start_target threads 4 1
	mode=auto
	sweep first all "$kills"
	verdict "undisturbed"
}

# By chance, while it is busy, and with signals under way.
check_busy() {
	start_target signal
	bad=
	for turn in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		"$PMP" -f folded --no-symbols -n 100000 -i 1ms -p "$target_pid" \
			-o out.folded 2>err &
		front=$!
		wait_for "cat /proc/$target_pid/task/*/status | grep -q '^TracerPid:.[1-9]'" 5
		sampler=$(cat /proc/"$front"/task/"$front"/children)
		# The sampler, then the front.
		if [ $((turn % 2)) -eq 0 ]; then
			# shellcheck disable=SC2086
			kill -KILL ${sampler:-$front}
			wait_for "! alive $front" 5 || bad="$bad $turn:front-lives"
		fi
		kill -KILL "$front" 2>/dev/null
		wait "$front" 2>/dev/null
		for pid in $sampler; do
			wait_for "! alive $pid" 2 || bad="$bad $turn:sampler-lives"
		done
		wait_for "untouched $target_pid" 2 || bad="$bad $turn"
	done
	is "$bad" "" "killed $turn times in the middle: nothing lives on, no thread is stopped"
	verdict "no signal was lost"
}

run_checks "$@"
