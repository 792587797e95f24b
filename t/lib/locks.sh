# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC2034,SC2154
#
# For tests of who waits for whom, after lib/live.sh: t/target/locks.c and its variants,
# all kinds at once.

# locks_build VARIANT: compile locks-VARIANT into the test's directory. Fails if the
# compiler is missing, which $locks_missing then says.
locks_build() {
	locks_sources=$(find "$live_target" -name 'locks*.c')
	locks_missing=
	case $1 in
	static)
		# shellcheck disable=SC2086
		build locks-static -static $locks_sources
		;;
	musl)
		command -v musl-gcc >/dev/null || { locks_missing="no musl-gcc" && return 1; }
		# shellcheck disable=SC2086
		CC=musl-gcc build locks-musl $locks_sources
		;;
	rust)
		command -v rustc >/dev/null || { locks_missing="no rustc" && return 1; }
		rustc -O -g -o locks-rust "$live_target/locks.rs" 2>err && return
		diag "$(cat err)"
		return 1
		;;
	esac
}

# locks_settled: each of them has said that it is ready, or why it is not.
locks_settled() {
	[ "$(cat "$locks_said"/* | grep -Ec '^(ready|skip) ')" -ge "$(wc -l <locks.kinds)" ]
}

# locks_start PROGRAM [KIND...]: start it with each of these kinds, or all. What KIND has
# said is in $locks_said/KIND; $locks_pids are those that were started.
locks_start() {
	locks_program=$1
	shift
	if [ $# -gt 0 ]; then
		printf '%s\n' "$@" >locks.kinds
	else
		"$locks_program" --list >locks.kinds
	fi
	locks_said=$(mktemp -d "$tmp/locks.XXXXXX") || return
	locks_pids=
	while read -r locks_kind; do
		"$locks_program" "$locks_kind" </dev/null >"$locks_said/$locks_kind" 2>&1 &
		locks_pids="$locks_pids $!"
	done <locks.kinds
	test_pids="$test_pids $locks_pids"
	wait_for locks_settled 30
}
