# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC2034,SC2154
#
# For the live tests (07xx), after lib/test.sh: pmp at work on programs that check
# themselves (target/target.h).
#
# A live test consists of functions check_NAME. Without arguments it runs all of them in
# their order in the file, else those that are named: t/0730-noharm.t signal. What a
# check started is ended after it.

# Many snapshots in a short time, whatever they cost.
PMP_OPTS='--max-cpu 0'
export PMP_OPTS

live_flags='-std=gnu11 -D_GNU_SOURCE -g -O2 -fno-optimize-sibling-calls -pthread'
live_target=$top_srcdir/t/target

# build PROGRAM ARG...: compile a variant of a target into the test's directory.
build() {
	live_program=$1
	shift
	# shellcheck disable=SC2086
	${CC:-cc} $live_flags "$@" -o "$live_program" 2>"$live_program.log" && return
	diag "$(cat "$live_program.log")"
	return 1
}

# A sampler that gets no processor is shot by its supervisor: these are the messages.
live_starved='held a thread for more than a second|did not answer any more'

# capture [OPTION...]: one snapshot of the target as text, into the file raw. Where a busy
# machine did not let a thread stop in time, or the sampler run, another one is taken.
capture() {
	for _ in 1 2 3 4 5; do
		live_status=0
		"$PMP" --raw "$@" -p "$target_pid" >raw 2>err || live_status=$?
		grep -Eq "$live_starved" err && continue
		grep -q 'did not stop in time' raw || break
	done
	[ "$live_status" -eq 0 ] && return
	diag "$(cat err)"
	return 1
}

# soon SECONDS TEXT [OPTION...]: one snapshot, which takes at most that long. On a busy
# machine another one is taken, also where a thread did not stop in time.
soon() {
	live_limit=$1
	live_text=$2
	shift 2
	for _ in 1 2 3 4 5; do
		rm -f raw.txt
		live_took=$(seconds timeout 60 "$PMP" --raw "$@" -p "$target_pid" -o raw.txt)
		[ "${live_took% *}" -gt "$live_limit" ] ||
			grep -q 'did not stop in time' raw.txt || break
	done
	ok "[ ${live_took% *} -le $live_limit ] && [ ${live_took#* } -eq 0 ]" \
		"$live_text: within $live_limit s (${live_took% *} s, status ${live_took#* })"
	cp raw.txt raw 2>/dev/null || : >raw
}

# stacks: a line for each thread of the last capture: its name (blanks as _), the functions, the
# innermost first, and where the stack ends early "!" and the reason.
stacks() {
	awk '
	/^Thread / { line = "?"; next }
	/^State / && line == "?" {
		line = $0
		sub(/^.*, name "/, "", line)
		sub(/"(, (waits|holds) .*)?$/, "", line)
		gsub(/ /, "_", line)
		next
	}
	/^#/ { line = line " " $4 }
	/^Backtrace stopped: / { sub(/^Backtrace stopped: /, ""); line = line " !" $0 }
	/^$/ { if (line != "") print line; line = "" }' raw
}

# stack_of NAME: the functions of the thread of that name in the last capture.
stack_of() {
	stacks | awk -v name="$1" '$1 == name { sub(/^[^ ]* /, ""); print; exit }'
}

# stack_is NAME ERE TEXT: the whole stack of the thread matches.
stack_is() {
	live_stack=$(stack_of "$1")
	printf '%s\n' "$live_stack" | grep -Eqx -e "$2"
	test_result $? "$3" && return 0
	diag "the stack of $1 is not: $2"
	diag "${live_stack:-(none)}"
	stacks | head -20 | diag_input
	return 1
}

diag_input() {
	sed 's/^/# /'
}

# What is below main, and below a thread's function, by what names are known.
live_start='( [^ !]+){1,3}'
live_thread=' target_thread_main( [^ !]+){2}'

# verdict TEXT: ask the target for its own, and assert that it is good.
verdict() {
	live_state=0
	kill -USR1 "$target_pid" 2>/dev/null
	wait_for "! alive $target_pid" 60 || live_state=1
	if [ "$live_state" -eq 0 ]; then
		wait "$target_pid"
		live_state=$?
		grep -q '^verdict: ok$' "$target_out" || live_state=1
	fi
	test_result "$live_state" "$1" && return 0
	diag "status $live_state"
	diag "$(tail -n 20 "$target_out" "$target_err")"
	return 1
}

# free_again TEXT: no thread of the target is traced or stopped, at once or shortly after.
free_again() {
	wait_for "untouched $target_pid" 2
	test_result $? "$1" && return 0
	grep -E '^(Name|State|TracerPid)' "/proc/$target_pid"/task/*/status | diag_input
	return 1
}

# tid_of NAME: the id of the target's thread of that name.
tid_of() {
	for live_task in "/proc/$target_pid/task"/*; do
		if [ "$(cat "$live_task/comm" 2>/dev/null)" = "$1" ]; then
			echo "${live_task##*/}"
			return 0
		fi
	done
	return 1
}

# seconds COMMAND...: run it, output thrown away; prints how many seconds that took and
# its status.
seconds() {
	live_begin=$(date +%s%N)
	"$@" >/dev/null 2>&1
	live_status=$?
	live_end=$(date +%s%N)
	echo "$(((live_end - live_begin) / 1000000000)) $live_status"
}

# landlock [VERSION]: has the kernel such rules?
landlock() {
	python3 -c '
import ctypes, sys
sys.exit(ctypes.CDLL(None).syscall(444, None, 0, 1) < int(sys.argv[1]))' "${1:-1}"
}

# run_checks [NAME...]
run_checks() {
	live_file=$top_srcdir/t/${0##*/}
	if [ -z "$*" ]; then
		# shellcheck disable=SC2046
		set -- $(sed -n 's/^check_\([a-z0-9_]*\)() {.*/\1/p' "$live_file")
	fi
	for live_check; do
		"check_$live_check"
		for live_pid in $test_pids; do
			stop_process "$live_pid"
		done
		test_pids=
	done
	done_testing
}
