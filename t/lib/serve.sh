# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# Tests of --serve.

need curl

# A server that never answers must not keep a shell from its end.
# shellcheck disable=SC2154 # what test.sh has set
CURL_HOME=$tmp
export CURL_HOME
a_fault_is_judged && echo 'max-time = 20' >"$tmp/.curlrc" || echo 'max-time = 100' >"$tmp/.curlrc"

# start_server NAME OPTION...: pmp, of the targets so far; $url and $server_pid
start_server() {
	server_name=$1
	shift
	: >"$server_name.err" # not what an earlier one of this name has said
	"$PMP" "$@" 2>"$server_name.err" &
	server_pid=$!
	test_pids="$test_pids $server_pid"
	wait_for "grep -q 'serving .* at ' $server_name.err" || diag "$(cat "$server_name.err")"
	# shellcheck disable=SC2034 # the test has it
	url=$(sed -n 's/.* at \(http:[^?]*\).*/\1/p' "$server_name.err")
}

# end_server: in order
end_server() {
	kill -INT "$server_pid"
	wait "$server_pid"
}

# status URL OPTION...: of the answer
status() {
	curl -s -o body -w '%{http_code}' "$@"
}

# metric NAME: its value
metric() {
	curl -s "${url}metrics" | sed -n "s/^$1 //p"
}
