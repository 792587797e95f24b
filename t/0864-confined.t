#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What rights the processes of pmp have given up, by the kernel's word; and that one which is
# made to misbehave cannot.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"
# shellcheck source=t/lib/live.sh
. "$top_srcdir/t/lib/live.sh"
need pgrep

if grep -q '^PMP_CFLAGS = .*-fsanitize' "$top_builddir/Makefile" 2>/dev/null; then
	skip_all "sanitizers need more calls: nothing is confined"
fi

# status_of PID FIELD
status_of() {
	sed -n "s/^$2:[[:space:]]*//p" "/proc/$1/status"
}

check_sampler() {
	start_target sleeper || return
	"$PMP" -q -f folded -d 600 -o out.folded -p "$target_pid" </dev/null >out 2>err &
	pmp=$!
	test_pids="$test_pids $pmp"
	sampling "$pmp" 5
	wait_for "[ \"\$(status_of $test_sampler Seccomp)\" = 2 ]" 5
	is "$(status_of "$test_sampler" Seccomp)" 2 "the sampler has a filter of system calls"
	is "$(status_of "$test_sampler" NoNewPrivs)" 1 "and gets no more rights by a program"
	like "$(grep 'Max file size' "/proc/$test_sampler/limits")" 'size +0 +0 ' \
		"and writes to no file"
	is "$(status_of "$pmp" Seccomp)" 0 "the front, which starts commands, has none"
	stop_process "$pmp"
}

check_sampler_exec() {
	[ -x "$PMP_FAULTY" ] || { skip "no $PMP_FAULTY"; return; }
	start_target sleeper || return
	PMP_FAULT=sampler-exec "$PMP_FAULTY" -f folded -n 2 -o out.folded -p "$target_pid" \
		</dev/null >out 2>err
	is $? 1 "a sampler that tries to execute a program: status 1"
	like "$(cat err)" 'the sampler was ended by signal 31 \(Bad system call\)' \
		"that was its end, and pmp says so"
	ok "untouched $target_pid" "the target is as it was"
}

run_checks "$@"
