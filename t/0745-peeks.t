#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Blocked threads are read without a stop: their stacks are complete, and those that a
# stop shows. PEEKS=100000 SECONDS_MAX=600 compares more of them, by hand.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"
# shellcheck source=t/lib/live.sh
. "$top_srcdir/t/lib/live.sh"
# shellcheck source=t/lib/mariadb.sh
. "$top_srcdir/t/lib/mariadb.sh"

peeks=$top_builddir/t/bench/peeks
[ -x "$peeks" ] || skip_all "no $peeks"
trap 'mariadb_stop; test_cleanup' EXIT

# compared PID COUNT SECONDS TEXT [fresh]
compared() {
	local pid=$1 count=$2 time=$3 text=$4
	shift 4
	PMP_FAULT=${PMP_JUDGE_FAULT:-} "$peeks" "$pid" "$count" "$time" "$@" >sums 2>&1
	ok "[ $? -eq 0 ] && ! grep -q ' same 0 ' sums" \
		"$text${1:+, nothing kept}: $(tail -n 1 sums)" || diag "$(tail -n 60 sums)"
}

settled() {
	! grep -L '^State:[[:space:]]*[SZ]' "/proc/$target_pid"/task/*/status | grep -q .
}

# complete TEXT: all threads are asleep; none is stopped, and no stack ends early.
complete() {
	wait_for settled
	capture -n 1
	like "$(grep '^---' raw)" ' 0 stopped, ' "$1: no thread is stopped" ||
		grep -B1 -A9 'State .*, stopped' raw | head -40 | diag_input
	is "$(stacks | grep '!' | grep -v 'not stopped: zombie')" "" \
		"$1: all stacks are complete"
}

# both TEXT COMMAND...: a target of which at least one thread is blocked.
both() {
	local text=$1
	shift
	start_target "$@"
	compared "$target_pid" 100 2 "$text"
	compared "$target_pid" 100 2 "$text" fresh
	stop_process "$target_pid"
}

chain="$live_target/chain.c $live_target/chain-f0.c $live_target/chain-f1.c
	$live_target/chain-f2.c $live_target/chain-f3.c"

check_chains() {
	local flags
	for flags in -O0 -O2 -fno-omit-frame-pointer -static \
		"-O2 -fno-omit-frame-pointer -fcf-protection -fstack-protector-all"; do
		# shellcheck disable=SC2086
		build chain $chain $flags || { skip "chain: $flags"; continue; }
		start_target ./chain block
		complete "chain $flags"
		compared "$target_pid" 50 2 "chain $flags" fresh
		stop_process "$target_pid"
	done
}

# In musl's libc.so there is no unwind information: a stop finds no more of a stack, so that a
# thread is stopped once.
check_dead_end() {
	command -v musl-gcc >/dev/null || { skip "no musl-gcc"; return; }
	# shellcheck disable=SC2086
	CC=musl-gcc build chain $chain || { ok false "musl-gcc builds"; return; }
	start_target ./chain block
	wait_for settled
	capture -n 20 -i 50ms
	like "$(grep '^---' raw | head -n 1)" ' [1-9] stopped, ' \
		"a stack without an end: the thread is stopped"
	like "$(grep '^---' raw | tail -n 1)" ' 0 stopped, ' "a stop found no more: not again"
	is "$(stacks | sort -u | grep -c '!')" 1 "its stack is the same in all snapshots" ||
		stacks | sort | uniq -c | diag_input
	stop_process "$target_pid"
}

check_asleep() {
	local target
	for target in "threads 50" "zleader" "sleeper 10"; do
		# shellcheck disable=SC2086
		start_target $target
		[ "$target" = "sleeper 10" ] || complete "$target"
		stop_process "$target_pid"
		# shellcheck disable=SC2086
		both "$target" $target
	done
}

# Some of their threads compute: those cannot be peeked at.
check_mixed() {
	both "waits" waits
	both "signal handlers" signal
	both "coroutines" context
	both "a null pointer called" null
	both "exceptions" cxx
	both "deep recursion" deep 100
}

check_rust() {
	command -v rustc >/dev/null || { skip "no rustc"; return; }
	rustc -O -g -o rust "$live_target/rust.rs" 2>err || { diag "$(cat err)"; ok false rustc; }
	both "Rust" ./rust
}

# A function that moves the stack pointer by sizes of all kinds waits below itself, at
# six levels: nothing may be cached there.
check_varying() {
	start_target varying
	ok "'$PMP' -f folded -n 300 -i 5ms --max-stop 1s -p $target_pid -o out.folded" \
		"300 snapshots of frames of varying sizes"
	# A thread that was stopped between two waits is at any of them.
	is "$(grep ';descend' out.folded | grep -Evc \
		';vary(;descend){6};[^d]|;vary(;descend){1,6} [0-9]+$')" 0 \
		"six levels in all stacks" || diag "$(grep descend out.folded)"
	ok "[ $(grep -c ';descend;.*poll' out.folded) -gt 0 ]" "of threads asleep, too"
	compared "$target_pid" 100 2 "frames of varying sizes"
	verdict "the threads have moved"
}

check_mariadb() {
	local stops
	mariadb_find || { skip "no mariadb-server or sysbench"; return; }
	if ! mariadb_start "$tmp/server" || ! mariadb_load 0 100 900; then
		mariadb_failed "mariadbd with 100 idle connections"
		return
	fi
	"$PMP" --raw -n 1 -p "$mariadb_pid" >raw 2>err
	stops=$(sed -n 's/^---.*; \([0-9]*\) stopped.*/\1/p' raw)
	ok "[ ${stops:-100} -lt 10 ]" "the first snapshot of 100 idle connections stops $stops" ||
		grep '^---' raw | diag_input
	mariadb_unload
	mariadb_load 16 80 900 || diag "not all connections are there"
	"$PMP" -f folded -n 30 --stats -p "$mariadb_pid" -o out.folded 2>err
	stops=$(sed -n 's/.*, \([0-9]*\)[.0-9]*% by a stop.*/\1/p' err)
	ok "[ ${stops:-100} -lt 20 ]" "16 busy and 80 idle ones at 10 Hz: $stops % by a stop" ||
		diag "$(cat err)"
	compared "$mariadb_pid" "${PEEKS:-20000}" "${SECONDS_MAX:-8}" "mariadbd"
	compared "$mariadb_pid" "${PEEKS:-20000}" "${SECONDS_MAX:-8}" "mariadbd" fresh
	free_again_server
}

free_again_server() {
	wait_for "untouched $mariadb_pid" 2
	ok "untouched $mariadb_pid" "nothing is left traced or stopped"
}

run_checks "$@"
