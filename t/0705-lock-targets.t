#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The programs that know who waits for whom (t/target/locks.c, and in C++ and Rust) are
# right, as the kernel and their own memory say, without pmp: in each kind every waiter is
# asleep in the call, at the lock and for the holder that the program names.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"
# shellcheck source=t/lib/live.sh
. "$top_srcdir/t/lib/live.sh"
# shellcheck source=t/lib/locks.sh
. "$top_srcdir/t/lib/locks.sh"

need perl pgrep

library=musl
getconf GNU_LIBC_VERSION >/dev/null 2>&1 && library=glibc
tab=$(printf '\t')

# What musl does not have; and what may be missing on a machine: FUTEX_LOCK_PI2, SCHED_FIFO, a
# network, a Once of Rust's that is a futex.
glibc_only='mutex-adaptive|mutex-protect|mutex-clock|mutex-pi-clock|mutex-free|mutex-released|rwlock-reader-next'
machine_only='mutex-protect|mutex-pi-clock|tcp|rust-once'

# may_skip KIND LIBRARY REASON
may_skip() {
	case $3 in
	"this C library has none") [ "$2" = musl ] && echo "$1" | grep -Eqx "$glibc_only" ;;
	*) echo "$1" | grep -Eqx "$machine_only" ;;
	esac
}

# children: of all those that were started, and of the processes that they have shown.
children() {
	pgrep -P "$(echo $locks_pids | tr ' ' ,)"
}

none_alive() {
	for child in $left; do
		! alive "$child" || return 1
	done
}

# all_true PROGRAM LIBRARY TEXT: every kind of it, checked while it stands still.
all_true() {
	locks_start "$1" || diag "$(grep -c ^ready "$locks_said"/* | grep ':0$')"
	(cd "$locks_said" && perl "$top_srcdir/t/lib/lock-truth.pl" "$2" ./*) >found
	while IFS=$tab read -r kind result; do
		case $result in
		skip*) ok "may_skip $kind $2 '${result#skip }'" "$3: $kind: $result" ;;
		*)
			is "$result" ok "$3: $kind" || diag "$(cat "$locks_said/$kind")"
			;;
		esac
	done <found
	is "$(wc -l <found)" "$(wc -l <locks.kinds)" "$3: all kinds"
}

# found_out COUNT SED-SCRIPT TEXT: where what they have said is made wrong, in at least so
# many kinds, none is believed.
found_out() {
	mkdir wrong
	for file in "$locks_said"/*; do
		sed "$2" "$file" >"wrong/${file##*/}"
		cmp -s "$file" "wrong/${file##*/}" && rm "wrong/${file##*/}"
	done
	perl "$top_srcdir/t/lib/lock-truth.pl" "$library" wrong/* >found
	ok "[ $(wc -l <found) -ge $1 ]" "$3, in $(wc -l <found) kinds"
	is "$(grep "${tab}ok\$" found)" "" "each of them is found out"
	rm -r wrong
}

# end_all SIGNAL: to all of them; what they have started ends with them.
end_all() {
	left=$(children)
	sets=$(sed -n 's/^truth sem.*object=\(0x[0-9a-f]*\).*/\1/p' "$locks_said"/semop "$locks_said"/semtimedop)
	# shellcheck disable=SC2086
	kill "-$1" $locks_pids 2>/dev/null
	failed=
	for pid in $locks_pids; do
		wait "$pid" 2>/dev/null
		case $? in
		0 | 77 | 137) ;;
		*) failed="$failed $pid" ;;
		esac
	done
	is "$failed" "" "$1: all end as they should"
	ok "[ $(echo "$left" | wc -w) -ge 10 ] && wait_for none_alive" "$1: their children end"
	for set in $sets; do
		ok "wait_for '! grep -Eq \"^ *[0-9-]+ +$((set)) \" /proc/sysvipc/sem'" \
			"$1: a set of semaphores is removed"
	done
}

check_c() {
	all_true "$top_builddir/t/target/locks" "$library" "C"
	if [ "$library" = glibc ]; then
		found_out 40 's/holder=[1-9][0-9]*/holder=1/' "a wrong holder"
		found_out 50 's/object=0x/object=0x1/' "a wrong object"
		found_out 50 's/waiter=/waiter=1/' "a wrong waiter"
		found_out 50 's/call=[a-z0-9]*/call=close/' "a wrong call"
		found_out 7 's/deadlock=[0-9]*/deadlock=1/' "a wrong deadlock"
		found_out 3 's/readers=./readers=3/' "a wrong number of readers"
	fi
	end_all USR1
	is "$(cat "$locks_said"/* | grep -c '^verdict: ok$')" "$(cat "$locks_said"/* | grep -c ^ready)" \
		"no wait has ended"
}

check_static() {
	locks_build static || { skip "static: cannot be built"; return; }
	all_true ./locks-static "$library" "static"
	end_all KILL
}

check_musl() {
	locks_build musl || {
		[ -n "$locks_missing" ] && skip "$locks_missing" || ok false "musl-gcc builds"
		return
	}
	all_true ./locks-musl musl "musl"
	end_all USR1
}

check_cxx() {
	all_true "$top_builddir/t/target/locks-cxx" "$library" "C++"
}

check_rust() {
	locks_build rust || {
		[ -n "$locks_missing" ] && skip "$locks_missing" || ok false "rustc builds"
		return
	}
	all_true ./locks-rust rust "Rust"
}

# A file of one's own in place of one without a name.
check_file() {
	echo >mine
	for kind in flock fcntl ofd; do
		start_target locks "$kind" mine
		like "$(cat "$target_out")" "^truth .* object=$(printf '0x%x' "$(stat -c %i mine)") " \
			"$kind: the file that was named"
		stop_process "$target_pid"
	done
}

run_checks "$@"
