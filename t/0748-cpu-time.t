#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# CPU time stands where it was spent: a thread that sleeps between slices of work, which it
# does in two functions, in parts that are known.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"
# shellcheck source=t/lib/live.sh
. "$top_srcdir/t/lib/live.sh"

# cpu_of PROFILE PATTERN [NAME]: ns of CPU time of the burner's stacks with it in their JSON.
cpu_of() {
	"$PMP" -q -f json "$1" | awk -v RS='[{]"tid":' -v pattern="$2" '
	/"name":"burner"/ && $0 ~ pattern {
		match($0, /"cpu_ns":[0-9]*/)
		sum += substr($0, RSTART + 9, RLENGTH - 9)
	}
	END { printf "%.0f\n", sum }'
}

# running_of PROFILE: how often the burner was found running.
running_of() {
	"$PMP" -q -f json "$1" | awk -v RS='[{]"tid":' '
	/"name":"burner","pid":[0-9]*,"process":"split","state":"R"/ {
		match($0, /"count":[0-9]*/)
		sum += substr($0, RSTART + 8, RLENGTH - 8)
	}
	END { print sum + 0 }'
}

# burned: what the target says that it has used.
burned() {
	sed -n 's/^burned //p' "$target_out"
}

# percent PART WHOLE
percent() {
	awk -v part="$1" -v whole="$2" 'BEGIN { printf "%.1f\n", whole ? 100 * part / whole : 0 }'
}

# within NUMBER LEAST MOST
within() {
	awk -v x="$1" -v least="$2" -v most="$3" 'BEGIN { exit !(x >= least && x <= most) }'
}

# profile NAME: what the burner does, in NAME.pb.gz. Its CPU time is $sum of $whole ns.
profile() {
	split=$target_pid split_out=$target_out
	start_process "$PMP" -q -d 10m -i 10ms -f pprof -o "$1.pb.gz" -p "$split"
	pmp=$target_pid
	sampling "$pmp" 10
	target_out=$split_out
	kill -USR2 "$split"
	wait_for "[ -n \"\$(burned)\" ]" 300
	sampling "$pmp" 10
	kill -INT "$pmp"
	wait "$pmp"
	is $? 0 "$1: sampled"
	sum=$(cpu_of "$1.pb.gz" .) whole=$(burned)
}

check_split() {
	# What else the machine does may be in step with the sampling: then once more.
	for _ in 1 2 3; do
		start_target split
		profile split
		within "$(percent "$(cpu_of split.pb.gz burn_often)" "$sum")" 60 90 && break
	done
	ok "within $(percent "$sum" "$whole") 99 101" \
		"split: CPU time of the profile is the kernel's, within 1 %: $sum of $whole ns"
	is "$(cpu_of split.pb.gz '"state":"[SD]"')" 0 "split: stacks that sleep have none"
	finds=$(running_of split.pb.gz)
	ok "[ $finds -ge 100 ]" "split: found running $finds times"
	often=$(percent "$(cpu_of split.pb.gz burn_often)" "$sum")
	ok "within $often 60 90" "split: burn_often has $often % (75)"
	seldom=$(percent "$(cpu_of split.pb.gz burn_seldom)" "$sum")
	ok "within $seldom 10 40" "split: burn_seldom has $seldom % (25)"
}

# Whoever wakes up beside others that compute waits for the processor, in state R, where it
# has slept.
check_contended() {
	allowed=$(taskset -pc $$ | sed 's/.*: //')
	cpu=${allowed%%[-,]*}
	if [ "$cpu" = "$allowed" ]; then
		skip "contended: there is one processor only"
		return
	fi
	for _ in 1 2 3; do
		start_process taskset -c "$cpu" sh -c 'while :; do :; done'
	done
	start_target split
	taskset -apc "$cpu" "$target_pid" >/dev/null
	profile contended
	ok "within $(percent "$sum" "$whole") 99 101" \
		"contended: CPU time is the kernel's, within 1 %: $sum of $whole ns"
	share=$(percent "$(cpu_of contended.pb.gz burn_)" "$sum")
	ok "within $share 93 100" "contended: what it works in has $share %"
}

run_checks "$@"
