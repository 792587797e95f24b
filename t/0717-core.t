#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Core files: their stacks are those that the living process had, and those that elfutils
# and gdb find in them, program counter by program counter; and what the kernel writes when
# a signal ends a process.
#
# shellcheck disable=SC2119 # options of capture() are optional

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"
# shellcheck source=t/lib/live.sh
. "$top_srcdir/t/lib/live.sh"

need gdb eu-stack python3

compare=$top_srcdir/t/bench/core-compare.py

# gdb_stacks FILE ARG...: the program counters of all frames, as gdb finds them by itself.
# In debug information it sees functions that have been left by a jump, too: it gets none.
gdb_stacks() {
	gdb_output=$1
	shift
	# shellcheck disable=SC2016 # it is gdb's
	gdb -nx -batch -iex "set debug-file-directory $tmp/nonexistent" \
		-iex 'set debuginfod enabled off' -iex 'set language c' \
		-ex 'set backtrace past-main on' -ex 'set backtrace past-entry on' \
		-ex 'thread apply all -s -- frame apply all -q p (void*)$pc' \
		"$@" >"$gdb_output" 2>gdb.err </dev/null
}

# judge TEXT KIND FILE: no stack of core.txt differs from FILE's, or is shorter than it.
judge() {
	judged=$("$compare" core.txt "$2" "$3")
	like "$judged" '^threads [1-9][0-9]* same [1-9][0-9]* shorter 0 longer [0-9]+ differ 0$' \
		"$1: $(printf '%s\n' "$judged" | head -n 1)"
}

# names FILE: the frames of each thread, inlined ones too, with their names.
names() {
	awk '/^Thread / { lwp = $0; sub(/.*LWP /, "", lwp); sub(/[^0-9].*/, "", lwp) }
		/^#/ { print lwp, $0 }' "$1" | sort
}

# all_same TEXT PROGRAM: the core that gcore writes of the target, which is frozen.
all_same() {
	kill -STOP "$target_pid"
	capture
	names raw >live.names
	capture --no-inline
	cp raw live.txt
	gcore -o core "$target_pid" >gcore.log 2>&1
	mv "core.$target_pid" core || { diag "$(cat gcore.log)"; ok false "gcore writes a core"; return; }
	stop_process "$target_pid"
	"$PMP" --no-inline core >core.txt 2>err || diag "$(cat err)"
	judged=$("$compare" core.txt live live.txt)
	like "$judged" '^threads ([1-9][0-9]*) same \1 shorter 0 longer 0 differ 0$' \
		"$1, as the living process: $(printf '%s\n' "$judged" | head -n 1)"
	"$PMP" core >raw 2>err || diag "$(cat err)"
	names raw >core.names
	is "$(diff live.names core.names | head -n 4)" "" \
		"$1: $(wc -l <core.names) names, those of inlined functions too"
	eu-stack --core core -n 0 >eu.txt 2>/dev/null
	judge "$1, as eu-stack --core" eu eu.txt
	gdb_stacks gdb.txt "$2" core
	judge "$1, as gdb" gdb gdb.txt
}

check_targets() {
	for each in cxx inline signal "threads 5 2" waits varying; do
		# shellcheck disable=SC2086
		start_target $each || continue
		all_same "${each%% *}" "$top_builddir/t/target/${each%% *}"
	done
	# A difference is found.
	sed '0,/^#1 /s/\(^#1 *0x[0-9a-f]*\)[0-9a-f] in/\1z in/; 0,/^#0 /s/^#0  0x0000/#0  0x0001/' \
		core.txt >wrong.txt
	mv wrong.txt core.txt
	unlike "$("$compare" core.txt eu eu.txt)" 'differ 0$' "a wrong frame is found out"
}

check_demo() {
	start_process "$top_builddir/t/target/demo"
	wait_for "grep -q ^ready '$target_out'"
	all_same demo "$top_builddir/t/target/demo"
}

chain="$live_target/chain.c $live_target/chain-f0.c $live_target/chain-f1.c
	$live_target/chain-f2.c $live_target/chain-f3.c"

# chain_variant TEXT ARG...
chain_variant() {
	variant=$1
	shift
	# shellcheck disable=SC2086
	build chain $chain "$@" || { skip "$variant: cannot be built"; return; }
	start_target ./chain spin
	all_same "$variant" ./chain
}

check_variants() {
	chain_variant static -static
	chain_variant "static, without .eh_frame_hdr" -static -Wl,--no-eh-frame-hdr
	chain_variant static-pie -static-pie
	chain_variant stripped -s
	chain_variant "no build-id" -Wl,--build-id=none
}

check_rust() {
	command -v rustc >/dev/null || { skip "no rustc"; return; }
	rustc -O -g -o rust "$live_target/rust.rs" 2>err || { diag "$(cat err)"; ok false rustc; }
	start_target ./rust && wait_for "tid_of chain"
	all_same Rust ./rust
}

check_go() {
	command -v go >/dev/null || { skip "no go"; return; }
	GOCACHE=$tmp/go-cache GOFLAGS=-p=2 GO111MODULE=off go build -o go-chain \
		"$live_target/go.go" 2>err || { diag "$(cat err)"; ok false "go build"; }
	chmod -R u+w go-cache
	# A signal for another goroutine may interrupt main.g0, which saves no frame pointer:
	# then eu-stack and gdb miss its caller.
	GODEBUG=asyncpreemptoff=1 start_target ./go-chain
	all_same Go ./go-chain
}

# crash MODE: the core of t/target/crash, by the kernel if it writes cores into files here,
# else by gdb, after the signal. Into the file core; by says who has written it.
crash() {
	crash_program=$top_builddir/t/target/crash
	rm -rf core dump && mkdir dump
	by=kernel
	case $(cat /proc/sys/kernel/core_pattern) in
	core*) { (cd dump && ulimit -c unlimited && "$crash_program" "$1" blue >/dev/null); } \
		2>/dev/null ;;
	esac
	mv dump/core* core 2>/dev/null && return
	by=gdb
	gdb -nx -batch -iex 'set debuginfod enabled off' -ex 'handle SIGSEGV nostop noprint' \
		-ex 'catch signal SIGSEGV SIGABRT' -ex run ${2:+-ex continue} \
		-ex "generate-core-file $tmp/core" --args "$crash_program" "$1" blue \
		>gdb.log 2>&1 </dev/null || diag "$(tail -n 5 gdb.log)"
}

# crashed TEXT: the core's stacks are those of the others. One that gdb has written does not show
# what the kernel writes.
crashed() {
	[ "$by" = kernel ] ||
		skip "$1: no core of the kernel's, core_pattern is $(cat /proc/sys/kernel/core_pattern)"
	"$PMP" --no-inline core >core.txt 2>err || diag "$(cat err)"
	eu-stack --core core -n 0 >eu.txt 2>/dev/null
	judge "$1, as eu-stack --core" eu eu.txt
	gdb_stacks gdb.txt "$crash_program" core
	judge "$1, as gdb" gdb gdb.txt
	cp core.txt raw
	first=$(awk '/^#/ { printf "%s ", $4 } /^Thread / && n++ { exit }' core.txt)
}

check_fault() {
	crash fault
	crashed "SIGSEGV (core by $by)"
	like "$first" '^f0 f1 f2 crash ' "the thread that got it is the first"
	like "$(cat core.txt)" '^Signal SIGSEGV \(11\), SEGV_MAPERR \(1\), address 0x18, in LWP [0-9]+$' \
		"its signal, code and address"
	like "$(cat core.txt)" '^Arguments .*/crash fault blue$' "its arguments"
	like "$(cat core.txt)" '^Thread 1 \(Thread 0x[0-9a-f]+ \(LWP [0-9]+\)\):$' "its number is that of gdb"
	is "$(grep -c ', got SIGSEGV,' core.txt)" 1 "it alone is marked"
	like "$(head -n 1 core.txt)" "^--- snapshot 1: crash \[[0-9]+\], 4 threads, $(date -u +%Y)-.*Z, core file ---$" \
		"the heading has the date"
}

check_nested() {
	crash nested again
	crashed "SIGSEGV on an alternate stack (core by $by)"
	like "$first" '^on_fault <signal_handler_called> f0 f1 f2 crash ' \
		"from the handler's stack to that of the thread"
}

check_abort() {
	crash abort
	crashed "SIGABRT (core by $by)"
	like "$first" ' abort f0(\.cold)? f1 f2 crash ' "abort() is there"
	like "$(cat core.txt)" '^Signal SIGABRT \(6\), SI_TKILL \(-6\), sent by process [0-9]+, in LWP' \
		"who has sent it"
}

check_waits() {
	crash fault
	"$PMP" core >core.txt 2>err
	is "$(grep -c 'waits for mutex crash_lock held by LWP' core.txt)" 2 \
		"threads that wait for a mutex, and who holds it"
	like "$(cat core.txt)" 'waits for the end of LWP [0-9]+ .*, holds mutex crash_lock \(2 wait\)' \
		"the thread that holds it"
	like "$("$PMP" --locks core)" '^HOLDER .*3 threads wait for it$' "--locks shows the same"
	like "$("$PMP" -f json core)" '"core":\{"signal":11,"signal_name":"SIGSEGV","code":1,' "json has the signal"
}

# deadlock_core FILTER: that of two threads in a deadlock, with the memory that coredump_filter of
# core(5) lets into it.
deadlock_core() {
	start_process "$top_builddir/t/target/locks" deadlock
	wait_for "grep -q ^ready '$target_out'"
	printf '%s' "$1" >"/proc/$target_pid/coredump_filter"
	gcore -o core "$target_pid" >gcore.log 2>&1
	mv "core.$target_pid" core || diag "$(cat gcore.log)"
	stop_process "$target_pid"
}

check_left_out() {
	deadlock_core 0x33
	like "$("$PMP" --locks core)" '^DEADLOCK: 2 threads wait for each other$' "a deadlock in a core"
	"$PMP" -q --locks=check core 2>err
	is "$?" 1 "--locks=check ends with status 1"
	like "$(cat err)" '^pmp: deadlock in locks \[' "and reports it"
	deadlock_core 0
	"$PMP" --locks core >core.txt 2>err
	like "$(cat core.txt)" ', 0 wait for locks$' \
		"of memory that a core leaves out, what its files have is not believed"
	like "$(cat core.txt)" '^No deadlock among the waits that could be read\.$' \
		"that there is no deadlock is not claimed"
	"$PMP" -q --locks=check core 2>err
	is "$?" 1 "nor by the status of --locks=check"
	like "$(cat err)" '^pmp: deadlocks may be missing: what 2 threads wait for cannot be read$' "and why"
	start_target sleeper 1
	gcore -o whole "$target_pid" >gcore.log 2>&1
	mv "whole.$target_pid" whole || diag "$(cat gcore.log)"
	stop_process "$target_pid"
	"$PMP" -q --locks=check whole 2>err
	is "$?" 0 "a core that has all: status 0"
	"$PMP" -q --locks=check core whole 2>err
	is "$?" 1 "but not after one that has not"
}

# One futex stands for all of futex_waitv(2), and its address is all that is known of it.
check_waitv() {
	cat >waitv.py <<-'EOF'
		import ctypes, struct
		libc = ctypes.CDLL(None, use_errno=True)
		word = ctypes.c_uint32(1)
		wait = ctypes.create_string_buffer(struct.pack("<QQII", 1, ctypes.addressof(word), 2 | 128, 0))
		print("ready", flush=True)
		libc.syscall(ctypes.c_long(449), wait, 1, 0, None, 0)
		print("none", flush=True)
	EOF
	start_process python3 waitv.py
	wait_for "grep -q ^ready '$target_out'"
	wait_for "grep -q '^449 ' '/proc/$target_pid/syscall' || grep -q none '$target_out'"
	grep -q none "$target_out" && { skip "no futex_waitv: it needs Linux 5.16"; return; }
	gcore -o core "$target_pid" >gcore.log 2>&1
	mv "core.$target_pid" core || diag "$(cat gcore.log)"
	stop_process "$target_pid"
	like "$("$PMP" --locks core)" '^No deadlock\.$' "futex_waitv: what can be read has been read"
}

run_checks "$@"
