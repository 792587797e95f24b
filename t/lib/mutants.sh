# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
#
# Planted faults, for 0790 and 0895 to 0897; sourced after test.sh and live.sh.
# shellcheck disable=SC2154 # what test.sh has set

# timeout passes TERM on to the test that it runs, which ends its targets; KILL it cannot.
mutant=
trap '[ -z "$mutant" ] || { kill "$mutant" && wait "$mutant"; } 2>/dev/null; exit 143' TERM

# run_with FAULTS TEST CHECK [LINE]: the output of the test in ./log. "none" is no fault.
# Once a line of it matches that regular expression the rest is not waited for.
run_with() {
	printf '#!/bin/sh\nPMP_FAULT=%s exec "%s" "$@"\n' "$1" "$PMP_FAULTY" >faulty
	chmod 755 faulty && chmod 711 . # for tests that run it as another user
	: >log
	PMP=$tmp/faulty PMP_JUDGE_FAULT=$1 PMP_REQUIRE=0 PMP_KILLS=3 timeout 120 \
		"$(sed -n "1s/^#!//p" "$top_srcdir/t/$2")" "$top_srcdir/t/$2" $3 >log 2>&1 &
	mutant=$!
	test_pids="$test_pids $mutant"
	while [ -n "$4" ] && alive "$mutant"; do
		! grep -Eq "$4" log || kill "$mutant" 2>/dev/null
		sleep 0.1
	done
	wait "$mutant"
}

# its_day: all together take a quarter of an hour: every second fault has its turn on even days,
# the others on odd ones; each day with PMP_LONG, or if a check is named.
fault_number=0
its_day() {
	fault_number=$((fault_number + 1))
	[ -n "$PMP_LONG$check_named" ] || [ $(((fault_number + day) % 2)) -eq 0 ]
}
day=$(($(date +%s) / 86400))
check_named=$*

# caught FAULT[,FAULT] TEST CHECK ASSERTION: with the fault the assertion whose description
# begins like that (an extended regular expression) fails, in one of as many runs as there
# are in two minutes, at least five, for what a fault does can depend on the moment, and some
# do harm in one run of six. That they pass without is what they are for themselves; with
# PMP_LONG it is asked here as well, of the program that has the faults in it.
# no-peek, as a second one, is no fault: threads that could be peeked at are stopped.
caught() {
	its_day || return 0
	if ! grep -aq "${1%,*}" "$PMP_FAULTY"; then
		ok false "$1 is planted"
		return
	fi
	passes_without "$2" "$3" || return
	runs=0
	caught_until=$(($(date +%s) + 120))
	while [ $runs -lt 5 ] || [ "$(date +%s)" -lt $caught_until ]; do
		runs=$((runs + 1))
		run_with "$1" "$2" "$3" "# SKIP|^not ok [0-9]+ - (.*: )?($4)"
		grep -Eq "# SKIP|^not ok [0-9]+ - (.*: )?($4)" log && break
	done
	if grep -q '# SKIP' log; then
		skip "$1: $(sed -n 's/.*# SKIP //p' log | head -n 1)"
		return
	fi
	ok "grep -Eq '^not ok [0-9]+ - (.*: )?($4)' log" "$1: $2${3:+ $3} fails at '$4'" ||
		diag "$(grep -v '^ok' log | tail -n 30)"
}

# passes_without TEST CHECK: once for each pair, with PMP_LONG.
passes_without() {
	[ -n "$PMP_LONG" ] || return 0
	case " $passed " in
	*" $1:$2 "*) return 0 ;;
	esac
	for _ in 1 2 3; do
		run_with none "$1" "$2" '' && break
		diag "no fault: $1: $(grep '^not ok' log)"
	done
	ok "grep -q '^1[.][.]' log && ! grep -q '^not ok' log" \
		"no fault: $1${2:+ $2} passes" || {
		diag "$(grep -v '^ok' log | tail -n 30)"
		return 1
	}
	passed="$passed $1:$2"
}
passed=

# caught_in_c FAULT TEST ASSERTION [PART]: the same of a test in C that is built with the
# faults, or of a part of it.
caught_in_c() {
	its_day || return 0
	if [ -n "$PMP_LONG" ]; then
		PMP_FAULT='' timeout 120 "$top_builddir/t/$2" ${4:+"$4"} >log 2>&1
		ok "[ $? -eq 0 ]" "no fault: $2${4:+ $4} passes" ||
			diag "$(grep -v '^ok' log | tail -n 30; echo "its end:"; tail -n 3 log)"
	fi
	for _ in 1 2 3 4 5; do
		PMP_FAULT=$1 timeout 120 "$top_builddir/t/$2" ${4:+"$4"} >log 2>&1
		grep -Eq "^not ok [0-9]+ - ($3)" log && break
	done
	ok "grep -Eq '^not ok [0-9]+ - ($3)' log" "$1: $2${4:+ $4} fails at '$3'" ||
		diag "$(grep -v '^ok' log | tail -n 30)"
}
