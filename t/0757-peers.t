#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Other processes that threads wait for: of locks of files, pipes, sockets, children, vfork
# and semaphores, --peers finds what the programs themselves know; without it nothing of
# that is read.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"
# shellcheck source=t/lib/live.sh
. "$top_srcdir/t/lib/live.sh"
# shellcheck source=t/lib/locks.sh
. "$top_srcdir/t/lib/locks.sh"

need python3

outside='flock|fcntl|ofd|file|pipe|fifo|unix|tcp|wait|vfork|semop|semtimedop'

# outside_kinds: those of the targets that wait for something outside, on one line.
outside_kinds() {
	"$top_builddir/t/target/locks" --list | grep -E "^($outside)" | tr '\n' ' '
}

# ready_pid KIND: of the process that waits; nothing where this kind is not to be had.
ready_pid() {
	sed -n 's/^ready //p' "$locks_said/$1"
}

# found KIND ARG...: two snapshots of it, and how they differ from what is true.
found() {
	kind=$1
	shift
	"$PMP" -f json -n 2 -i 20ms -q --peers "$@" -p "$(ready_pid "$kind")" \
		-o found.json 2>err || { cat err; return; }
	python3 "$top_srcdir/t/lib/lock-found.py" 0 "$locks_said/$kind" found.json peers
}

# all_found TEXT ARG...: every kind.
all_found() {
	text=$1
	shift
	while read -r kind; do
		[ -n "$(ready_pid "$kind")" ] || continue
		is "$(found "$kind" "$@")" "" "$text: $kind"
	done <locks.kinds
}

check_found() {
	# shellcheck disable=SC2046
	locks_start "$top_builddir/t/target/locks" $(outside_kinds)
	test_result $? "the targets start"
	all_found "as it is"
	all_found "stopped together" --stop=all
	kill -KILL $locks_pids
}

# The calls of the sampler that can only be for this.
check_default() {
	command -v strace >/dev/null || { skip "no strace"; return; }
	locks_start "$top_builddir/t/target/locks" flock pipe-read unix wait-any semop
	for kind in flock pipe-read unix wait-any semop; do
		ASAN_OPTIONS=detect_leaks=0 strace -f -o calls -e trace=file,network,semctl \
			"$PMP" -f json -n 2 -i 20ms -q --no-symbols -p "$(ready_pid "$kind")" >found.json 2>err
		is "$(grep -v '"/proc/self/fd/' calls |
			grep -E 'fdinfo|/fd[/"]|/children"|"/proc/locks"|net/(tcp|unix)|SOCK_DIAG|semctl|"/proc/?"')" \
			"" "no --peers: nothing of it is read: $kind"
		is "$(grep -c '"kind"' found.json)" 0 "no --peers: nothing of it is shown: $kind"
	done
	strace -f -o calls -e trace=file,network,semctl \
		"$PMP" -f json -n 1 -q --peers -p "$(ready_pid flock)" >found.json 2>err
	like "$(cat calls)" '"/proc/locks"' "--peers: it is read"
	kill -KILL $locks_pids
}

# The kernel says who may see whose descriptors.
check_unprivileged() {
	[ "$(id -u)" = 0 ] || { skip "not root"; return; }
	setpriv --reuid=65534 --regid=65534 --clear-groups true 2>/dev/null || {
		skip "no setpriv"
		return
	}
	mkfifo fifo
	sleep 1000 >fifo &
	writer=$!
	setpriv --reuid=65534 --regid=65534 --clear-groups cat <fifo >said 2>&1 &
	reader=$!
	test_pids="$test_pids $writer $reader"
	wait_for 'grep -q pipe_read "/proc/$reader/wchan"'
	setpriv --reuid=65534 --regid=65534 --clear-groups \
		"$PMP" -f json -n 1 -q --peers -p "$reader" >found.json 2>err || diag "$(cat err)"
	like "$(cat found.json)" '"kind":"pipe","type":"fifo"' "another user: the FIFO"
	like "$(cat found.json)" '"sure":"unknown"' "another user: not who could write"
	"$PMP" -f json -n 1 -q --peers -p "$reader" >found.json
	like "$(cat found.json)" "\"pid\":$writer," "root: who could write"
	kill -KILL "$writer" "$reader"
}

run_checks "$@"
