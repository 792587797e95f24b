# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# Tests of what takes long to write: a writer that is stopped at work takes as long as a test
# wants. Sourced after serve.sh.

# shellcheck disable=SC2154 # what serve.sh has set

need pgrep

# fetch NAME PATH [OPTION]...: in the background; its answer is in NAME, its status in
# NAME.status
fetch() {
	fetched=$1
	path=$2
	shift 2
	curl -s -o "$fetched" -w '%{http_code}' "$@" "$url$path" >"$fetched.status" &
	clients="$clients $!"
	test_pids="$test_pids $!"
}

# join: all that was fetched
join() {
	for client in $clients; do
		wait "$client"
	done
	clients=
}

# held COUNT: so many writers, stopped at work
held() {
	wait_for "[ \"\$(pgrep -c -P $server_pid pmp-writer)\" -ge $1 ]" ||
		diag "writers: $(pgrep -c -P "$server_pid" pmp-writer)"
	# shellcheck disable=SC2046
	kill -STOP $(pgrep -P "$server_pid" pmp-writer)
}

# stopped_writers: how many there are
stopped_writers() {
	for writer in $(pgrep -P "$server_pid" pmp-writer); do
		sed -n 's/^State:[[:space:]]*T.*/stopped/p' "/proc/$writer/status"
	done | grep -c .
}

# writer_writes WHAT: a writer does, and has stopped by itself, which the fault writer-stops
# makes it do: so none is too fast
writer_writes() {
	ok 'wait_for "[ \"\$(stopped_writers)\" = 1 ]"' "another process writes $1"
}

# go_on: they write
go_on() {
	# shellcheck disable=SC2046
	kill -CONT $(pgrep -P "$server_pid" pmp-writer)
}

# others_go_on TEXT: samples are taken, and answers given
others_go_on() {
	before=$(metric pmp_snapshots_total)
	ok "wait_for '[ \$(metric pmp_snapshots_total) -gt $((before + 5)) ]'" "samples $1"
}
