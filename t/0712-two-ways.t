#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Every stack is unwound by rules and by libunwind alone, in the build with faults, which
# ends with a signal where the two differ in anything: over all targets there are, and
# over servers with languages and compilers of their own.
#
# shellcheck disable=SC2119 # options of capture() are optional

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"
# shellcheck source=t/lib/live.sh
. "$top_srcdir/t/lib/live.sh"
# shellcheck source=t/lib/mariadb.sh
. "$top_srcdir/t/lib/mariadb.sh"
trap 'mariadb_stop; test_cleanup' EXIT

[ -x "$PMP_FAULTY" ] || skip_all "no $PMP_FAULTY"

# both_ways FILE [FAULT]: a pmp that compares.
both_ways() {
	printf '#!/bin/sh\nPMP_DEBUG=none PMP_FAULT=compare-unwind,%s exec "%s" "$@"\n' "${2:-}" "$PMP_FAULTY" >"$1"
	chmod +x "$1"
}

both_ways both
PMP=$tmp/both

# same TEXT [OPTION...]: some snapshots of the target, and not one stack with two answers.
same() {
	same_text=$1
	shift
	capture --no-symbols -n 10 -i 20ms "$@" || : >failed
	ok "[ ! -e failed ] && grep -q '^#' raw" \
		"$same_text: $(grep -c '^#' raw) frames of $(grep -c '^Thread' raw) stacks"
	rm -f failed
}

# The other way round: a wrong rule does not pass.
check_wrong() {
	both_ways wrong wrong-rule
	start_target threads 1 1
	PMP=$tmp/wrong capture --no-symbols >diagnosis
	ok "grep -q 'two ways, two stacks' err" "a wrong rule is found out" ||
		diag "$(cat err)"
}

# All of what these tests know to be right. Whether they find it so on a busy machine is
# their own affair; here it counts that none of their captures was ended.
check_stacks() {
	sh "$top_srcdir/t/0710-stacks.t" >log 2>&1
	ok "[ $(grep -c '^ok' log) -ge 20 ] && ! grep -Eq 'two ways|ended by signal' log" \
		"$(grep -c '^ok' log) stacks of all kinds" || diag "$(grep -v '^ok' log)"
}

check_targets() {
	for each in "threads 10 3" waits churn "names" "vforker 300" zleader uffd racer sleeper \
		"wild guard" "wild nowhere" "wild kernel" "wild cycle" "wild self"; do
		# shellcheck disable=SC2086
		start_target $each
		same "$each"
		same "$each, all stopped" --stop=all
		stop_process "$target_pid"
	done
}

# settled: it has loaded what it needs (and made some code).
settled() {
	# shellcheck disable=SC2016
	wait_for '[ "$(threads_of "$target_pid")" -ge 4 ]'
}

check_node() {
	command -v node >/dev/null || { skip "no node"; return; }
	start_process node -e 'function f(n) { return n < 2 ? 1 : f(n - 1) + f(n - 2) }
		setInterval(() => { f(27); JSON.stringify(Object.keys(require("fs"))) }, 1)'
	settled
	same "node, which makes code"
}

check_java() {
	command -v javac >/dev/null || { skip "no java"; return; }
	printf 'class Spin { static int f(int n) { return n < 2 ? 1 : f(n - 1) + f(n - 2); }
		public static void main(String[] a) { for (;;) f(30); } }\n' >Spin.java
	start_process java Spin.java
	settled
	same "java, which makes code"
}

check_python() {
	command -v python3 >/dev/null || { skip "no python3"; return; }
	start_process python3 -c 'import re, json
while True: json.dumps([re.sub("a|b", "c", "abc" * 50) for i in range(100)])'
	same "python3"
}

check_mariadb() {
	mariadb_find || { skip "no mariadb-server or sysbench"; return; }
	# Not within ok, whose subshell would keep the pids to itself.
	if ! mariadb_start "$tmp/server" || ! mariadb_load 6 20 60; then
		mariadb_failed "mariadbd runs"
		return
	fi
	target_pid=$mariadb_pid
	same "mariadbd under load" -n 30
	mariadb_stop
}

run_checks "$@"
