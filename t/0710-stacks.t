#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Stacks that are known beforehand, through every kind of code there is: the
# right functions in the right order, from the innermost one to the thread's start.
#
# shellcheck disable=SC2119 # options of capture() are optional

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"
# shellcheck source=t/lib/live.sh
. "$top_srcdir/t/lib/live.sh"

chain="$live_target/chain.c $live_target/chain-f0.c $live_target/chain-f1.c
	$live_target/chain-f2.c $live_target/chain-f3.c"

# chain_variant TEXT ARG...: built that way, computing and asleep.
chain_variant() {
	variant=$1
	shift
	# shellcheck disable=SC2086
	build chain $chain "$@" || {
		skip "$variant: cannot be built"
		return
	}
	chain_both "$variant"
}

chain_both() {
	start_target ./chain spin && capture
	stack_is chain "f0 f1 f2 f3 main$live_start" "$1, computing"
	stop_process "$target_pid"
	start_target ./chain block && wait_for "chain_sleeps" && capture
	stack_is chain "([^ !]*poll[^ !]*|\[unknown\]|[^ !]+) f0 f1 f2 f3 main$live_start" \
		"$1, asleep"
	stop_process "$target_pid"
}

chain_sleeps() {
	grep -q '^State:.S' "/proc/$target_pid/status"
}

check_plain() {
	chain_variant "gcc -O2"
	chain_variant "gcc -O0" -O0
}

check_clang() {
	command -v clang >/dev/null || { skip "no clang"; return; }
	# shellcheck disable=SC2086
	CC=clang build chain $chain || ok false "clang builds"
	chain_both "clang -O2"
}

check_frame_pointers() {
	chain_variant "with frame pointers" -fno-omit-frame-pointer
	chain_variant "frame pointers and no call-frame information" \
		-fno-omit-frame-pointer -fno-asynchronous-unwind-tables -fno-unwind-tables
}

# Return addresses that carry a signature, where the processor makes them.
check_signed() {
	[ "$(uname -m)" = aarch64 ] || return
	chain_variant "signed return addresses" -mbranch-protection=standard
	chain_variant "signed by the other key" -mbranch-protection=pac-ret+leaf+b-key
	chain_variant "signed, frame pointers and no call-frame information" \
		-mbranch-protection=standard -fno-omit-frame-pointer \
		-fno-asynchronous-unwind-tables -fno-unwind-tables
}

# Nothing to go by: what is shown must be true, and the end be marked.
check_nothing() {
	# shellcheck disable=SC2086
	build chain $chain -fomit-frame-pointer -fno-asynchronous-unwind-tables \
		-fno-unwind-tables
	start_target ./chain spin && capture
	stack_is chain "f0( f1( f2( f3( main$live_start)?)?)?)?( ![^!]+)?" \
		"no call-frame information and no frame pointers: only what is true"
}

check_static() {
	chain_variant "static" -static
	chain_variant "static-pie" -static-pie
	chain_variant "static, without .eh_frame_hdr" -static -Wl,--no-eh-frame-hdr
	chain_variant "not position independent" -no-pie
}

check_lld() {
	command -v ld.lld >/dev/null || { skip "no lld"; return; }
	chain_variant "linked by lld" -fuse-ld=lld
	chain_variant "linked by lld, static" -fuse-ld=lld -static
}

# names_of FILE: the functions of FILE that the frames of the last capture lie in.
names_of() {
	start=$(awk -v pid="$target_pid" '/chain$/ { split($1, a, "-"); print a[1]; exit }' \
		"/proc/$target_pid/maps")
	awk '/^#/ && / from .*chain$/ { print $2 }' raw | while read -r pc; do
		# pc - 1: the call, not what comes after it
		printf '0x%x\n' "$((pc - 0x$start - 1))"
	done | xargs addr2line -f -e "$1" | awk 'NR % 2 { printf "%s ", $0 }'
}

check_stripped() {
	# shellcheck disable=SC2086
	build chain $chain && cp chain full && strip chain
	start_target ./chain spin && capture
	like "$(names_of full)" '^(f0|chain_work) ?f1 f2 f3 main |^f0 f1 f2 f3 main ' \
		"stripped: the same places"
	unlike "$(stack_of chain)" '!' "stripped: to the root"
}

check_debug_file() {
	# shellcheck disable=SC2086
	build chain $chain && objcopy --only-keep-debug chain chain.debug && strip chain &&
		objcopy --add-gnu-debuglink=chain.debug chain
	chain_both "names in a separate debug file"
	mkdir .debug && mv chain.debug .debug/
	chain_both "debug file in .debug"
}

check_deleted() {
	# shellcheck disable=SC2086
	build chain $chain
	start_target ./chain spin && rm chain && capture
	stack_is chain "f0 f1 f2 f3 main$live_start" "the executable is deleted"
}

check_inline() {
	start_target inline && capture
	stack_is inline "leaf_inline middle_inline outer main$live_start" "inlined functions"
	capture --no-inline
	stack_is inline "outer main$live_start" "without them"
}

check_cxx() {
	[ -x "$top_builddir/t/target/cxx" ] || { skip "no C++ compiler"; return; }
	start_target cxx && capture
	stack_is cashier "[^ !]+ shop::Till<std::pair<int,int>>::take(\.[^ ]*)? \
shop::\{anonymous\}::Cashier::operator\(\)(\.[^ ]*)? shop::serve<shop::\{anonymous\}::Cashier>\
( [^ !]+)+" "templates, namespaces, operators"
	# Somewhere in the unwinder or above it, but always below walk; only the unwinder's
	# own last steps, where it leaves for the handler, are not described by anybody.
	: >walks
	for snapshot in 1 2 3 4 5 6 7 8; do
		capture --no-inline
		stack_of walker >>walks
	done
	whole=$(grep -Ec '(^| )shop::walk(\.cold)?( [^ !]+)+$' walks)
	marked=$(grep -Ec '^([^ !]+ )*_Unwind_[^!]* ![^!]+$' walks)
	ok "[ $whole -ge $((snapshot - 2)) ] && [ $((whole + marked)) -eq $snapshot ]" \
		"exceptions under way: down to the root" || diag "$(cat walks)"
	verdict "all exceptions were caught"
}

check_deep() {
	start_target deep 1000 spin && capture --max-frames 2000
	is "$(stack_of deep | tr ' ' '\n' | grep -cx descend)" 1001 "1001 frames of recursion"
	stack_is deep "bottom( descend)+ deep_main( [^ !]+){2}" "from the bottom to the root"
	capture --max-frames 100
	is "$(stack_of deep | sed 's/ !.*//' | wc -w)" 100 "--max-frames"
	like "$(stack_of deep)" '!' "and it says so"
}

check_vdso() {
	start_target vdso && capture -n 20 -i 10ms
	whole=$(stacks | awk '$1 == "asker"' |
		grep -Ec ' ask(ing)?( [a-z_0-9]+)*'"$live_thread"'$')
	is "$whole" 20 "asking for the time: each stack whole" ||
		stacks | grep ^asker | sort | uniq -c | diag_input
	ok "stacks | grep -Eq '^asker .*vdso|clock_gettime.* ask '" "the vDSO's function has a name"
}

check_signals() {
	start_target signal && capture
	victim='[^ !]*<signal_handler_called> ([^ !]+ )?alt_victim alt_main'
	stack_is altspin "spin_forever alt_work alt_handler $victim$live_thread" \
		"computing in a handler on an alternate stack"
	stack_is altblock "[^ !]+ alt_work alt_handler $victim$live_thread" "asleep in it"
}

check_bare() {
	start_target bare && capture
	stack_is bare "bare_leaf bare_caller bare_main$live_thread" \
		"assembly without call-frame information"
}

check_null() {
	start_target null && capture
	stack_is null "[^ !]+ null_sleep null_handler <signal_handler_called> [^ !]+ null_caller \
null_main$live_thread" "a null pointer was called"
}

check_context() {
	start_target context && capture
	stack_is co "co_work co_body( [^ !]+)?" "a coroutine, to the start of its stack"
	capture -n 20 -i 5ms
	whole=$(stacks | awk '$1 == "pingpong"' | grep -c 'p[io]ng_body')
	# In the middle of swapcontext, between one stack and the other, its own call-frame
	# information is wrong for three instructions; on aarch64 it is wrong all through.
	[ "$(uname -m)" != aarch64 ] || whole=20
	ok "[ $whole -ge 18 ]" "$whole of 20 coroutines that change places" ||
		stacks | grep pingpong | sort | uniq -c | diag_input
	verdict "contexts are as they were"
}

check_jit() {
	start_target jit perf && capture
	stack_is jit "jit_inner jit_outer jit_caller jit_main$live_thread" \
		"code made at run time, with a perf map"
	rm -f "/tmp/perf-$target_pid.map"
	stop_process "$target_pid"
	start_target jit && capture
	stack_is jit "[^ !]+ [^ !]+ jit_caller jit_main$live_thread" "and without"
}

plugins() {
	build plugin-a.so -shared -fPIC "$live_target/plugin.c" &&
		build plugin-b.so -shared -fPIC -DPLUGIN_WASTE=4000 "$live_target/plugin.c"
}

check_dlopen() {
	plugins && start_target dlopener hold ./plugin-a.so && capture
	stack_is dlopener "([^ !]+ )+work plugin_inner plugin_outer use main$live_start" \
		"in a library opened at run time"
	stop_process "$target_pid"
	start_target dlopener memfd ./plugin-a.so && capture
	stack_is dlopener "([^ !]+ )+work plugin_inner plugin_outer use main$live_start" \
		"in a library that exists in memory only"
}

# Two libraries take turns at one address: what is known of one is wrong for the other.
# They may change during a capture, more often on a busy machine: some stacks may be marked,
# but not half of them.
check_reload() {
	plugins && start_target dlopener loop ./plugin-a.so ./plugin-b.so
	capture -n 20 -i 250ms
	stacks | awk '$1 == "dlopener" && $2 == "work"' >works
	ok "[ $(wc -l <works) -ge 15 ]" "$(wc -l <works) captures of libraries that come and go"
	# That one library has taken the place of the other and back again cannot be seen:
	# then a stack may end early for another reason, but it ends with one.
	wrong=$(grep -v '!' works |
		grep -Ecvx "dlopener work plugin_inner plugin_outer use main$live_start")
	marked=$(grep -c '!' works)
	other=$(grep '!' works | grep -vc '!code was unmapped or replaced meanwhile')
	ok "[ $wrong -eq 0 ]" "the stacks are right" || sort works | uniq -c | diag_input
	ok "[ $marked -le 8 ] && [ $other -le 2 ]" "or marked ($marked)" ||
		sort works | uniq -c | diag_input
	verdict "the calls were right as well"
}

check_rust() {
	command -v rustc >/dev/null || { skip "no rustc"; return; }
	rustc -O -g -o rust "$live_target/rust.rs" 2>err || { diag "$(cat err)"; ok false rustc; }
	start_target ./rust && wait_for "tid_of chain" && capture
	stack_is chain "(core::[^ ]+ )*rust::chain::r0 rust::chain::r1 rust::chain::r2(<u64>)? \
rust::chain::r3 ([^ !]+ )+[^ !]+" "Rust"
}

check_go() {
	command -v go >/dev/null || { skip "no go"; return; }
	GOCACHE=$tmp/go-cache GOFLAGS=-p=2 GO111MODULE=off go build -o go-chain \
		"$live_target/go.go" 2>err || { diag "$(cat err)"; ok false "go build"; }
	chmod -R u+w go-cache
	start_target ./go-chain && capture
	ok "stacks | grep -Eq ' main.g0 main.g1 main.g2 main.g3 main.main runtime.main runtime.goexit(.abi0)?\$'" \
		"Go" || stacks | diag_input
}

run_checks "$@"
