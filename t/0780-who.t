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
	like "$(cat err)" "not dumpable" "the cause is named"
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
	if ! start_target ./small; then
		# Of a kernel without them (CONFIG_IA32_EMULATION) none can be a target.
		if grep -q 'Exec format error' "$target_err"; then
			ok true "this kernel runs no 32-bit programs: none is to be refused"
		else
			skip "32-bit programs do not run"
		fi
		return
	fi
	"$PMP" --raw -p "$target_pid" >raw 2>err
	isnt $? 0 "a 32-bit program: status"
	like "$(cat err)" "$target_pid \(small\) is a 32-bit program" "a 32-bit program: message"
	ok "alive $target_pid && untouched $target_pid" "it goes on"
}

# with_capabilities +NAME,... COMMAND...: nobody, with these and no others.
with_capabilities() {
	with=$1
	shift
	as_nobody --inh-caps "$with" --ambient-caps "$with" "$@"
}

# The memory of others is a file that only its owner may read.
check_capabilities() {
	need_root || return
	prepare
	start_target threads 3 1
	if ! with_capabilities +sys_ptrace,+dac_read_search true 2>err; then
		skip "no ambient capabilities: $(cat err)"
		return
	fi
	with_capabilities +sys_ptrace ./pmp-for-all --raw -p "$target_pid" >raw 2>err
	is $? 4 "CAP_SYS_PTRACE alone is not enough: status"
	like "$(cat err)" "^pmp: cannot trace $target_pid: this process lacks CAP_DAC_READ_SEARCH" \
		"what is missing is named"
	unlike "$(cat err)" "security module" "and nothing else is blamed"
	with_capabilities +sys_ptrace,+dac_read_search ./pmp-for-all --raw -p "$target_pid" \
		>raw 2>err
	is $? 0 "with CAP_DAC_READ_SEARCH it is"
	is "$(grep -c '^Thread ' raw)" 5 "all threads"
	ok "stacks | grep -q '^spin-0 spinner level2 level1 '" "with their stacks"
	verdict "undisturbed"
}

# A container's filter is blamed, and not the one that the sampler gives itself. The search
# for leaks of a sanitized pmp needs ptrace, too.
check_filter() {
	need_root || return
	start_target threads 1
	ASAN_OPTIONS=detect_leaks=0 python3 "$top_srcdir/t/lib/without.py" ptrace \
		"$PMP" --raw --stop=all -n 1 -p "$target_pid" >raw 2>err
	is $? 4 "a filter forbids ptrace: status"
	like "$(cat err)" "^hint: pmp runs under a seccomp filter" "which is the hint"
	grep -q '^Seccomp:.*0$' /proc/self/status || return
	unlike "$("$PMP" --raw -n 1 -p 1 2>&1)" "seccomp" "without one process 1 has no such hint"
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

# A program that calls itself as it likes: NAME.
build_named() {
	cat >named.c <<-'END'
		#include <stdio.h>
		#include <sys/prctl.h>
		#include <unistd.h>
		int main(int argc, char **argv)
		{
			prctl(PR_SET_NAME, argv[argc - 1]);
			puts("ready");
			fflush(stdout);
			for (;;)
				pause();
		}
	END
	${CC:-cc} -o "$1" named.c && chmod "$2" "$1"
}

# files ERE: how many there are here.
files() {
	find . -maxdepth 1 | grep -Ec "$1"
}

# Each file is a pmp of its own, and whoever starts processes of this name says how many.
check_many() {
	db=many$$
	build_named "$db" 755
	many=
	for _ in $(seq 101); do
		start_process "./$db" "$db"
		many="$many $target_pid"
	done
	wait_for "[ \$(pgrep -cx '$db') = 101 ]"
	"$PMP" -q -n 1 --name "^$db\$" -o '%p.folded' 2>err
	is "$?,$(files '[.]folded')" 2,0 "a name with %p of 101 processes: status, and no file"
	like "$(cat err)" \
		'^pmp: %p.folded stands for 101 files, and each takes a pmp of its own: no more than 100$' \
		"a name with %p of 101 processes: message"
	like "$(cat err)" '^hint: leave %p out of its name, or choose fewer with -p or --user$' \
		"and what to do"
	"$PMP" -q -n 1 --name "^$db\$" -f folded 2>err >together
	is $? 0 "together they are profiled"
	for target in $many; do
		stop_process "$target"
	done
}

# Anybody may run a program of any name.
check_name() {
	need_root || return
	chmod 711 "$tmp"
	db=db$$
	build_named "$db" 755
	start_target "./$db" "$db"
	ours=$target_pid
	start_process setpriv --reuid="$nobody" --regid="$nobody" --clear-groups "./$db" "$db"
	theirs=$target_pid
	wait_for "grep -q ^ready '$target_out'"
	"$PMP" --raw --name "^$db\$" >raw 2>err
	is $? 0 "a name that processes of two users have: status"
	like "$(cat err)" "^pmp: processes of several users match '.db[0-9]*.': root .1., nobody .1.$" \
		"a name that processes of two users have is warned of"
	like "$(cat err)" "^hint: --user nobody takes those of one user only" \
		"a name that processes of two users have: the hint"
	"$PMP" -q -n 1 --name "^$db\$" -o '%n.folded'
	is "$(files "/$db-(root|nobody).folded"),$(files '[.]folded')" 2,2 \
		"processes of several users have files of their own with %n"
	for user in root 0; do
		rm -f ./*.folded
		"$PMP" --user "$user" -n 1 --name "^$db\$" -o '%n-%p.folded' 2>err
		is "$?,$(files "/$db-$ours.folded"),$(files '[.]folded')" 0,1,1 "--user $user"
		unlike "$(cat err)" 'several users' "--user $user: no warning"
	done
	rm -f ./*.folded
	"$PMP" -q --user nobody -n 1 --name "^$db\$" -o '%p.folded'
	is "$(files "/$theirs.folded"),$(files '[.]folded')" 1,1 "--user nobody"
	"$PMP" --user daemon --name "^$db\$" 2>err
	is "$?,$(cat err)" "3,pmp: no process of daemon has a name that matches '^$db\$'" \
		"--user of whom no process has the name"
	"$PMP" --user daemon -p "$ours" 2>err
	is "$?" 2 "--user wants --name"
	"$PMP" --user 'no such user' --name x 2>err
	is "$?" 2 "a user that there is not: status"
	like "$(cat err)" "'no such user' is not a user" "a user that there is not: message"
}

# A program that is setuid has two users: it is nobody's.
check_name_setuid() {
	need_root || return
	chmod 711 "$tmp"
	build_named "su$$" 4755
	start_process setpriv --reuid="$nobody" --regid="$nobody" --clear-groups "./su$$" "su$$"
	wait_for "grep -q ^ready '$target_out'"
	if ! grep -q '^Uid:.65534.0' "/proc/$target_pid/status"; then
		skip "setuid programs do not work here"
		return
	fi
	for user in root nobody; do
		"$PMP" --user "$user" --name "^su$$\$" 2>err
		is $? 3 "--user $user does not take a setuid program of nobody"
	done
}

# A process ends after it was found, and its number becomes another one's. In processes of their
# own, where the next number can be chosen.
check_name_reused() {
	[ -x "$PMP_FAULTY" ] || { skip "no $PMP_FAULTY"; return; }
	need_root || return
	build_named "found$$" 755
	cat >reuse.sh <<-'END'
		: >first
		"./$1" "$1" >first &
		found=$!
		until grep -q ready first; do sleep 0.05; done
		PMP_FAULT=late-open "$PMP_FAULTY" --raw --name "^$1\$" --user root >raw 2>err &
		pmp=$!
		until [ -n "$(cat /proc/$pmp/task/$pmp/children)" ]; do sleep 0.05; done
		kill -KILL $found
		wait $found
		echo $((found - 1)) >/proc/sys/kernel/ns_last_pid
		sleep 600 &
		other=$!
		wait $pmp
		echo "$? $((found - other))"
		kill -KILL $other
	END
	if ! unshare -fp --mount-proc sh -c 'echo 100 >/proc/sys/kernel/ns_last_pid' 2>/dev/null; then
		skip "numbers of processes cannot be chosen here"
		return
	fi
	is "$(PMP_FAULTY=$PMP_FAULTY unshare -fp --mount-proc sh reuse.sh "found$$" 2>/dev/null)" "3 0" \
		"a number that is another process's by now"
	is "$(cat raw)" "" "is not sampled"
	like "$(cat err)" "process [0-9]* has ended: its id now belongs to another process" "the reason"
}

# %n is the name that was asked for, not the one that a program gives itself.
check_name_of_files() {
	build_named "web$$" 755
	start_target "./web$$" "db$$"
	for i in 1 2 3 4; do
		: >"db$$-2026112$i-120000.folded"
	done
	"$PMP" -q -n 1 --name "^web$$\$" -o '%n-%t.folded' --keep 2
	is "$?,$(files "/db$$-.*[.]folded")" 0,4 "--keep with %n: files of another name stay"
	is "$(files "/web$$-.*[.]folded")" 1 "%n is the name that was asked for"
}

run_checks "$@"
