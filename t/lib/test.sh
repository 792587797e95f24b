# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
#
# The Test Anything Protocol and a few helpers for tests in shell; sourced:
#
#	. "${top_srcdir:-.}/t/lib/test.sh"
#	need gdb
#	start_target demo
#	is "$($PMP --version)" "pmp 0.1" "the version"
#	done_testing
#
# A test runs in a temporary directory of its own ($tmp), which is also where it
# begins. At its end, however that comes, the targets that it started are killed
# by their ids and the directory is removed. Nothing here is bash's alone.
#
# top_srcdir and top_builddir come from the build; by hand both are the current
# directory. $PMP is the program under test, $PMP_FAULTY the one with planted faults.

top_srcdir=$(cd "${top_srcdir:-.}" && pwd) || exit 99
top_builddir=$(cd "${top_builddir:-.}" && pwd) || exit 99
export top_srcdir top_builddir

# Commands of the caller are not ours to inherit.
unset PMP_OPTS PMP_DEBUG PMP_FAULT NO_COLOR DEBUGINFOD_URLS CDPATH
PMP_CONFIG=
LC_ALL=C.UTF-8
export PMP_CONFIG LC_ALL

PMP=${PMP:-$top_builddir/pmp/pmp}
PMP_FAULTY=${PMP_FAULTY:-$top_builddir/pmp/pmp-faulty}

test_run=0
test_failed=0
test_about=
test_pids=
target_pid=

tmp=$(mktemp -d "${TMPDIR:-/tmp}/pmp-test.XXXXXX") || exit 99
cd "$tmp" || exit 99

# A reaped child's id may belong to somebody else: only what is still our child is killed.
test_cleanup() {
	test_status=$?
	trap - EXIT
	for test_pid in $test_pids; do
		test_is_child "$test_pid" && kill -KILL "$test_pid" 2>/dev/null
	done
	# Their death notices are of no interest.
	wait 2>/dev/null
	cd / && rm -rf "$tmp"
	exit "$test_status"
}
trap test_cleanup EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# test_is_child PID: is it a child of this shell (also a dead one)?
test_is_child() {
	grep -q "^PPid:[[:space:]]*$$\$" "/proc/$1/status" 2>/dev/null
}

diag() {
	printf '%s\n' "$*" | sed 's/^/# /'
}

# A description that goes on where the one before it ended ("its message", "and is left
# alone") is printed after that one, so that each line can be read alone.
test_describe() {
	case $1 in
	and\ * | but\ * | nor\ * | so\ * | also\ * | again* | then\ * | not\ * | neither* | both\ * | \
		it\ * | its\ * | they\ * | their\ * | them* | those\ * | each\ * | all\ * | none\ * | \
		no\ other* | nothing\ * | nobody\ * | no\ thread\ * | nowhere* | one\ * | there\ * | where\ * | \
		which\ * | that\ * | who\ * | whose\ * | with\ * | without\ * | in\ * | of\ * | by\ * | \
		as\ * | at\ * | on\ * | for\ * | from\ * | to\ * | until\ * | after\ * | before\ * | \
		under\ * | is\ * | are\ * | was\ * | has\ * | have\ * | do\ * | does\ * | if\ * | \
		the\ same* | the\ hint* | likewise* | quietly* | quiet | refused* | message* | status*)
		test_text=${test_about:+$test_about: }$1
		;;
	*)
		test_about=$1
		test_text=$1
		;;
	esac
	# A process for each line of a test would be a good part of its time.
	case $test_text in
	*'#'* | *'
'*) test_text=$(printf '%s' "$test_text" | tr '\n#' ' ;') ;;
	esac
}

# test_result STATUS TEXT
test_result() {
	test_run=$((test_run + 1))
	test_describe "$2"
	if [ "$1" -eq 0 ]; then
		printf 'ok %d - %s\n' "$test_run" "$test_text"
		return 0
	fi
	test_failed=$((test_failed + 1))
	printf 'not ok %d - %s\n' "$test_run" "$test_text"
	return 1
}

# ok COMMAND-TEXT DESCRIPTION: the shell command succeeds. Its output is shown when not.
ok() {
	test_out=$(eval "$1" 2>&1)
	test_status=$?
	test_result "$test_status" "${2:-$1}" && return 0
	diag "failed ($test_status): $1"
	[ -z "$test_out" ] || diag "$test_out"
	return 1
}

# is GOT WANT DESCRIPTION: equal texts.
is() {
	[ "$1" = "$2" ]
	test_result $? "$3" && return 0
	diag "got:"
	diag "$1"
	diag "want:"
	diag "$2"
	return 1
}

# isnt GOT UNWANTED DESCRIPTION
isnt() {
	[ "$1" != "$2" ]
	test_result $? "$3" && return 0
	diag "got: $1"
	return 1
}

# like TEXT ERE DESCRIPTION: some line matches.
like() {
	grep -Eq -e "$2" <<-TEXT
		$1
	TEXT
	test_result $? "$3" && return 0
	diag "no line matches: $2"
	diag "$1"
	return 1
}

# unlike TEXT ERE DESCRIPTION: no line matches.
unlike() {
	! grep -Eq -e "$2" <<-TEXT
		$1
	TEXT
	test_result $? "$3" && return 0
	diag "a line matches: $2"
	diag "$1"
	return 1
}

# skip REASON: one assertion that cannot be made here. With PMP_REQUIRE=1, as in
# CI, where everything must be there, it fails.
skip() {
	test_run=$((test_run + 1))
	if [ "${PMP_REQUIRE:-0}" = 1 ]; then
		test_failed=$((test_failed + 1))
		printf 'not '
	fi
	printf 'ok %d # SKIP %s\n' "$test_run" "$*"
}

# skip_all REASON: leave the whole test out.
skip_all() {
	if [ "${PMP_REQUIRE:-0}" = 1 ] || [ "$test_run" -gt 0 ]; then
		skip "$*"
		done_testing
	fi
	printf '1..0 # SKIP %s\n' "$*"
	exit 0
}

# need TOOL...: leave the whole test out unless all of them are there.
need() {
	for test_tool; do
		command -v "$test_tool" >/dev/null 2>&1 || skip_all "no $test_tool"
		# The sanitizers look for leaks by ptrace: not where strace is first.
		[ "$test_tool" != strace ] || export ASAN_OPTIONS=detect_leaks=0
	done
}

# The plan, and the end.
done_testing() {
	printf '1..%d\n' "$test_run"
	[ "$test_failed" -eq 0 ] && [ "$test_run" -gt 0 ]
	exit
}

# a_fault_is_judged: the test is run on a pmp with a planted fault (lib/mutants.sh).
a_fault_is_judged() {
	[ "${PMP_JUDGE_FAULT:-none}" != none ]
}

# wait_for CONDITION [SECONDS]: poll a shell condition every 20 ms; 10 s by default, and longer
# on a busy machine. What faults are planted into keeps a test waiting in vain: for that
# long at most.
wait_for() {
	test_polls=$((${2:-10} * 50))
	test_until=
	! a_fault_is_judged || test_until=$(($(date +%s) + ${2:-10}))
	while ! eval "$1" >/dev/null 2>&1; do
		test_polls=$((test_polls - 1))
		if [ "$test_polls" -le 0 ] ||
			{ [ -n "$test_until" ] && [ "$(date +%s)" -gt "$test_until" ]; }; then
			diag "waited in vain for: $1"
			return 1
		fi
		sleep 0.02
	done
}

# start_process COMMAND ARG...: start it in the background, its output in
# $target_out and $target_err, and see to its end. Sets $target_pid.
start_process() {
	test_started=$((${test_started:-0} + 1))
	target_out=$tmp/target-$test_started.out
	target_err=$tmp/target-$test_started.err
	: >"$target_out"
	"$@" </dev/null >"$target_out" 2>"$target_err" &
	target_pid=$!
	test_pids="$test_pids $target_pid"
}

# start_pmp ARG...: pmp in the background, in $pmp; stdout in out, stderr in err.
start_pmp() {
	: >out
	"$PMP" "$@" >out 2>err </dev/null &
	pmp=$!
	test_pids="$test_pids $pmp"
}

# refuses STATUS MESSAGE ARG...: pmp ends with this status and a line like this.
refuses() {
	status=$1 message=$2
	shift 2
	"$PMP" "$@" >out 2>err </dev/null
	is $? "$status" "status of: $*"
	like "$(cat err)" "^pmp: $message" "message of: $*"
	is "$(cat out)" "" "nothing on stdout: $*"
}

# start_target NAME ARG...: the same with t/target/NAME (or a path), and wait until
# it has printed a line that begins with "ready".
start_target() {
	case $1 in
	*/*) test_target=$1 ;;
	*) test_target=$top_builddir/t/target/$1 ;;
	esac
	shift
	start_process "$test_target" "$@"
	wait_for "grep -q ^ready '$target_out' || ! test_is_child $target_pid" &&
		grep -q ^ready "$target_out" && return 0
	diag "$test_target did not become ready"
	diag "$(cat "$target_out" "$target_err")"
	return 1
}

# stop_process PID: kill a child and wait for its end.
stop_process() {
	test_is_child "$1" && kill -KILL "$1" 2>/dev/null
	wait "$1" 2>/dev/null
	return 0
}

# alive PID: it exists and is no zombie.
alive() {
	grep -q '^State:[[:space:]]*[^ZX[:space:]]' "/proc/$1/status" 2>/dev/null
}

# sampler_of PID: the process that this pmp samples with.
sampler_of() {
	pgrep -x -P "$1" pmp-sampler
}

# rests_of PID: how often it has gone to sleep.
rests_of() {
	sed -n 's/^voluntary_ctxt_switches:[^0-9]*//p' "/proc/$1/status" 2>/dev/null
}

# sampling PID [COUNT]: wait until this pmp has taken snapshots from now on: its sampler
# sleeps between any two of them, and a few times while it begins.
sampling() {
	test_sampler=
	wait_for "test_sampler=\$(sampler_of $1)" || return
	test_rests=$(rests_of "$test_sampler")
	wait_for "[ \"\$(rests_of $test_sampler)\" -ge $((test_rests + ${2:-25})) ]"
}

# begun PID: wait until this pmp has taken a few snapshots since it was started. Where nothing
# reads its output it soon takes no more, and sampling would wait in vain.
begun() {
	test_sampler=
	wait_for "test_sampler=\$(sampler_of $1)" || return
	wait_for "[ \"\$(rests_of $test_sampler)\" -ge 25 ]"
}

# full_pipe NAME: a FIFO that nothing reads and that takes no more. It is open as 9.
full_pipe() {
	mkfifo "$1"
	exec 9<>"$1"
	dd if=/dev/zero bs=4096 oflag=nonblock >&9 2>/dev/null
}

# save FILE OPTION...: a profile of the target. Where a busy machine did not let a thread
# stop in time another one is taken.
save() {
	test_file=$1
	shift
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		"$PMP" -q -o "$test_file" "$@" -p "$target_pid" || return
		"$PMP" -q -f folded "$test_file" | grep -q 'did not stop in time' || return 0
	done
}

# threads_of PID: how many threads it has.
threads_of() {
	find "/proc/$1/task" -mindepth 1 -maxdepth 1 2>/dev/null | wc -l
}

# untouched PID: none of its threads is traced or stopped.
untouched() {
	! cat "/proc/$1"/task/*/status 2>/dev/null |
		grep -Eq '^TracerPid:[[:space:]]*[1-9]|^State:[[:space:]]*[tT]'
}
