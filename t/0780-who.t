#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Who may sample whom, and what is said when not: other users, programs that are not to
# be looked at, programs of another word size, ids that are no process's.
#
# shellcheck disable=SC2119 # options of capture() are optional

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"
# shellcheck source=t/lib/live.sh
. "$top_srcdir/t/lib/live.sh"

nobody=65534

# as_nobody COMMAND...
as_nobody() {
	setpriv --reuid="$nobody" --regid="$nobody" --clear-groups "$@"
}

need_root() {
	[ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null && return
	skip "not root, or no setpriv"
	return 1
}

# Where nobody may go: pmp and the targets for him.
prepare() {
	chmod 711 "$tmp"
	cp "$PMP" pmp-for-all && cp "$top_builddir/t/target/threads" threads-for-all &&
		chmod 755 pmp-for-all threads-for-all
	build private -DTARGET_NOT_DUMPABLE "$live_target/threads.c" && chmod 755 private
}

# denied STATUS ERE TEXT: nobody's pmp is refused.
denied() {
	as_nobody ./pmp-for-all --raw -p "$target_pid" >raw 2>err
	is $? "$1" "$3: status"
	like "$(cat err)" "$2" "$3: message"
	is "$(grep -c '' err)" "$(grep -Ec '^(pmp|hint): |^      hint: |^  ' err)" \
		"$3: one line, and a hint"
}

check_other_user() {
	need_root || return
	prepare
	start_target threads 3
	denied 4 "cannot trace $target_pid \(threads, user root\): permission denied" \
		"somebody else's program"
	verdict "undisturbed"
}

check_own() {
	need_root || return
	prepare
	start_process setpriv --reuid="$nobody" --regid="$nobody" --clear-groups \
		./threads-for-all 3 1
	wait_for "grep -q ^ready '$target_out'"
	as_nobody ./pmp-for-all --raw -p "$target_pid" >raw 2>err
	is $? 0 "one's own program, without privileges"
	is "$(grep -c '^Thread ' raw)" 5 "all threads"
	ok "stacks | grep -q '^spin-0 spinner level2 level1 '" "with their stacks"
	verdict "undisturbed"
}

check_not_dumpable() {
	need_root || return
	prepare
	start_process setpriv --reuid="$nobody" --regid="$nobody" --clear-groups \
		./private 3 1
	wait_for "grep -q ^ready '$target_out'"
	denied 4 "cannot trace $target_pid \(private, user nobody\)" "a program that is not dumpable"
	like "$(cat err)" "not dumpable" "the cause is told"
	ok capture "root may"
	is "$(grep -c '^Thread ' raw)" 5 "all threads"
	verdict "undisturbed"
}

# A program of 32 bits that needs no library and no compiler for it.
check_32_bit() {
	cat >small.s <<-'END'
		.globl _start
		_start:
			mov $4, %eax	# write(1, "ready\n", 6)
			mov $1, %ebx
			mov $text, %ecx
			mov $6, %edx
			int $0x80
			mov $29, %eax	# pause()
			int $0x80
		text:	.ascii "ready\n"
	END
	if ! as --32 -o small.o small.s 2>err || ! ld -m elf_i386 -o small small.o 2>>err; then
		skip "no assembler for 32 bits"
		return
	fi
	start_target ./small || { skip "32-bit programs do not run"; return; }
	"$PMP" --raw -p "$target_pid" >raw 2>err
	isnt $? 0 "a 32-bit program: status"
	like "$(cat err)" "$target_pid \(small\) is a 32-bit program" "a 32-bit program: message"
	ok "alive $target_pid && untouched $target_pid" "it goes on"
}

check_thread_id() {
	start_target threads 3
	tid=$(tid_of block-1)
	"$PMP" --raw -p "$tid" >raw 2>err
	is $? 3 "a thread's id: status"
	like "$(cat err)" "no such process: $tid" "a thread's id: message"
	like "$(cat err)" "$tid is a thread of $target_pid; use -t $tid" "and what to do"
}

# The front is another process than the one that samples: at worst that works.
check_self() {
	# shellcheck disable=SC2016
	timeout 10 sh -c 'exec "$0" --raw -p $$' "$PMP" >raw 2>err
	is $? 2 "itself: status"
	like "$(cat err)" '^pmp: cannot trace [0-9]+: a process cannot profile itself$' "itself: message"
}

run_checks "$@"
