#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The stacks of those who hold locks are stacks in which they hold them, or it is said that
# they moved on. Of threads that are read one after the other that is not so by itself.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"
# shellcheck source=t/lib/live.sh
. "$top_srcdir/t/lib/live.sh"

# sum COLUMN PATTERN FILE: of what is charged to such stacks.
sum() {
	awk -v column="$1" -v pattern="$2" '
		$3 == "@" { value = $column }
		/^# / && value != "" {
			if ($0 ~ pattern)
				sum += value
			value = ""
		}
		END { printf "%.0f\n", sum }' "$3"
}

# A holder that ran when it was read may have got the lock just after that: rarely.
check_short() {
	start_target moment 8
	"$PMP" -q -n 200 -i 0.01 -o waits.pb.gz -p "$target_pid" 2>err || diag "$(cat err)"
	"$PMP" -q -f mutex waits.pb.gz >mutex
	"$PMP" -q -f contention waits.pb.gz >contention
	held=$(sum 2 '<holds_it<' mutex)
	away=$(sum 2 '<stays_away<' mutex)
	moved=$(sum 2 '^# .holder moved on.$' mutex)
	ok "[ $held -gt 20 ] && [ $((away * 20)) -le $held ]" \
		"held for a moment: hardly a stack of one that has not got the lock" ||
		diag "$held held it, $away did not, $moved moved on"
	ok "[ $moved -gt 0 ]" "held for a moment: of others it is said that they moved on"
	is "$(sum 1 . mutex)" "$(sum 1 . contention)" "and none is left out"
	"$PMP" -q -f pprof -o again.pb.gz waits.pb.gz
	ok "'$PMP' -q -f mutex again.pb.gz | cmp - mutex" "nor in a profile saved twice"
	verdict "held for a moment: undisturbed"
}

# said FORMAT PATTERN: it comes in one of many snapshots.
said() {
	"$PMP" -q -f "$1" -n 100 -i 0.01 -p "$target_pid" >"said.$1" 2>err || diag "$(cat err)"
	grep -m 1 -E -e "$2" "said.$1" >/dev/null
}

# What stands in place of a stack.
marks='^# .(holder moved on|no holder|holder unknown|unknown).$'

# Whoever runs is stopped, and goes on at once.
check_busy() {
	start_target moment 8 busy
	"$PMP" -q -n 300 -i 0.01 -f mutex -p "$target_pid" >mutex 2>err || diag "$(cat err)"
	held=$(sum 2 '<holds_it<' mutex)
	other=$(($(sum 2 . mutex) - held - $(sum 2 "$marks" mutex)))
	ok "[ $held -gt 10 ] && [ $((other * 5)) -le $held ]" \
		"running holders: hardly a stack of one that has not got the lock" ||
		diag "$held held it, $other did not: $(grep '^# ' mutex)"
	verdict "running holders: undisturbed"
}

check_together() {
	start_target moment 8
	"$PMP" -q -n 400 -i 0.01 --stop=all -f mutex -p "$target_pid" >mutex 2>err ||
		diag "$(cat err)"
	held=$(sum 2 '<holds_it<' mutex)
	away=$(sum 2 '<stays_away<' mutex)
	ok "[ $held -gt 10 ] && [ $((away * 20)) -le $held ]" \
		"all stopped: hardly a stack of one that has not got the lock" ||
		diag "$held held it, $away did not: $(grep '^# ' mutex)"
	verdict "all stopped: undisturbed"
}

check_said() {
	start_target moment 8
	ok "said raw 'waits for mutex mutex held by LWP [0-9]+ \"worker\" \\(moved on\\)'" \
		"raw says who moved on"
	ok "said locks '^  mutex mutex, 0x[0-9a-f]+: the holder moved on, its stack is of another moment$'" \
		"so does locks"
	ok "said json '\"holder\":[0-9]+,[^}]*\"moved_on\":true'" "and json"
	verdict "undisturbed"
}

run_checks "$@"
