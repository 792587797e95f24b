#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Threads that reach the same pc and stack pointer by different paths, at full speed: no
# stack mixes two, and none is one of before, whether it was stopped for, looked at, or
# taken for unchanged. The target says at each moment where it is.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"
# shellcheck source=t/lib/live.sh
. "$top_srcdir/t/lib/live.sh"

# A sampler that gets no processor is shot by its supervisor, and what was sampled until
# then counts. With sanitizers it may also take too long over everything.
busy='held a thread for more than a second'
grep -aq __asan_init "$PMP" && busy="$busy|did not answer any more"

truth=$top_builddir/t/bench/truth
[ -x "$truth" ] || skip_all "no $truth"

# A stack of one path has outer and inner of the same letter.
folded() {
	"$PMP" -f folded -d 1 -i "$1" --max-stop 1s -p "$target_pid" -o out.folded 2>err
	# A sampler that gets no CPU is shot; what was sampled until then counts.
	ok "[ $? -eq 0 ] || grep -Eq '$busy' err" \
		"$2: every $1" || diag "$(cat err)"
	is "$(grep -E 'outer_a;inner_b|outer_b;inner_a' out.folded)" "" "no stack mixes two"
	is "$(grep -Ec 'outer_a;inner_a' out.folded)$(grep -Ec 'outer_b;inner_b' out.folded)" \
		"$(grep -Ec 'inner_a' out.folded)$(grep -Ec 'inner_b' out.folded)" \
		"who called is always there"
}

# true_stacks TEXT: and that some were obtained in each way.
true_stacks() {
	seen_peeked=0 seen_unchanged=0 seen_rested=0 seen_still=0
	for pause in 100 1000; do
		PMP_FAULT=${PMP_JUDGE_FAULT:-$2} "$truth" "$target_pid" page 1 "$pause" \
			>sums 2>&1
		ok "[ $? -eq 0 ]" "$1, a capture every $pause us: $(tail -n 1 sums)" ||
			diag "$(cat sums)"
		# shellcheck disable=SC2046
		set -- "$1" "${2:-}" $(tail -n 1 sums)
		seen_peeked=$((seen_peeked + ${6:-0}))
		seen_unchanged=$((seen_unchanged + ${8:-0}))
		seen_rested=$((seen_rested + ${16:-0}))
		seen_still=$((seen_still + ${18:-0}))
	done
	ok "[ $seen_peeked -gt 0 ] && [ $seen_unchanged -gt 0 ]" \
		"$seen_peeked were looked at, $seen_unchanged unchanged"
}

# variant TEXT ARG...: built that way.
variant() {
	text=$1
	shift
	build pairs "$live_target/pairs.c" "$@" || { ok false "$text is built"; return; }
	rm -f page
	start_target ./pairs page
	true_stacks "$text" ""
	for interval in 100us 1ms 10ms; do
		folded "$interval" "$text"
	done
	verdict "$text: the threads have moved"
	diag "$(grep '^turns' "$target_out")"
}

check_plain() { variant "no frame pointers" -fomit-frame-pointer; }
check_frame_pointers() { variant "frame pointers" -fno-omit-frame-pointer; }

# Kernels that do not count how often a thread runs.
check_no_schedstat() {
	start_target pairs page
	true_stacks "without schedstat" no-schedstat
	verdict "the threads have moved"
}

# Many that are idle, of which one wakes now and then: one question is for all of them.
check_idle() {
	start_target pairs page 64 2000
	true_stacks "64 threads, at most 2 s asleep" ""
	if grep -q '^# no taskstats' sums; then
		is "$seen_rested" 0 "no taskstats here: one question for each"
		is "$seen_still" 0 "so none stands still"
	else
		ok "[ $seen_rested -gt 0 ]" "$seen_rested times one question for all"
		ok "[ $seen_still -gt 0 ]" "$seen_still times all stood still as the time before"
	fi
	verdict "the threads have moved"
}

run_checks "$@"
