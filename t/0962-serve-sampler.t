#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# pmp --serve whose sampler is killed, or hangs: it says so and ends, clients that wait get what
# there is, nothing of it stays, and its target runs on.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"
# shellcheck source=t/lib/serve.sh
. "$top_srcdir/t/lib/serve.sh"
need pgrep

# start_both NAME OPTION...: as start_server, with snapshots; $sampler, and $helpers, what else
# there is
start_both() {
	start_server "$@"
	sampling "$server_pid" 20
	sampler=$test_sampler
	keeper=$(pgrep -x -P "$server_pid" pmp-keeper)
	helpers="$keeper $(pgrep -P "$keeper") $(pgrep -P "$server_pid" | grep -vx "$sampler")"
}

# wait_in_vain: three clients whose windows are to come, in $clients
wait_in_vain() {
	clients=
	for page in folded?seconds=60 debug/pprof/wall?seconds=60 pprof/profile?seconds=60; do
		file=waiting.$(echo "$page" | tr -cs 'a-z\n' -)
		curl -s -m 60 -o "$file" -w '%{http_code}\n' "$url$page" >"$file.status" &
		clients="$clients $!"
		test_pids="$test_pids $!"
	done
	wait_for "curl -s ${url}metrics | grep -qx 'pmp_windows 3'"
}

# gone TEXT: nothing of pmp is there any more
gone() {
	left=
	for pid in $sampler $helpers; do
		wait_for "! alive $pid" || left="$left $(cat "/proc/$pid/comm")"
	done
	is "$left" "" "$1"
}

start_target contend 600
target=$target_pid

# ---- it is killed, and it hangs -----------------------------------------------------------

for signal in KILL STOP; do
	start_both "lost$signal" --serve=0 -F 50 -p "$target"
	wait_in_vain
	sampling "$server_pid" 10
	kill -"$signal" "$sampler"
	for client in $clients; do
		wait "$client"
	done
	wait "$server_pid"
	is $? 1 "the sampler gets $signal: pmp ends, and its status says so"
	like "$(cat "lost$signal.err")" \
		'^pmp: the sampler (was ended by signal 9 \(Killed\)|did not answer any more and was killed|held a thread for more than a second and was killed); the [0-9]+ snapshots taken are kept$' \
		"its message"
	is "$(cat waiting.*.status | sort -u)" 200 "and clients whose windows were to come are answered"
	like "$(cat waiting.folded-seconds-)" '^contend;.*waiter_takes' "with what there was until then"
	gone "nothing of pmp is left"
	ok "wait_for 'untouched $target'" "nothing of its target is stopped or traced"
	rm waiting.*
done

# ---- a service manager starts it again: the address is free ----------------------------------

start_both once --serve=0 -F 50 -p "$target"
port=$(echo "$url" | sed 's/.*:\([0-9]*\).*/\1/')
kill -KILL "$sampler"
wait "$server_pid"
start_both again --serve="$port" -F 50 -p "$target"
is "$(status "${url}past/folded?seconds=5")" 200 "it can be started again at once, at the same address"
end_server
is $? 0 "it ends in order"

# ---- of several targets -----------------------------------------------------------------------

# What it is at work on when it ends is left out; if that is neither, pmp ends.
start_target contend 600
other=$target_pid
start_both several --serve=0 -F 50 -p "$target,$other"
kill -KILL "$sampler"
wait_for "grep -q '^pmp: the sampler was ended by signal 9' several.err"
if grep -q 'the others are sampled without it' several.err; then
	ok "sampling $server_pid" "of two targets the other one is sampled on"
	is "$(status "${url}healthz")" 200 "and served"
	kill -INT "$server_pid"
else
	like "$(cat several.err)" ' snapshots taken are kept$' "of two targets none is served on"
fi
wait "$server_pid"
is $? 1 "with a status that says so"
gone "nothing of pmp is left"
for pid in $target $other; do
	ok "wait_for 'untouched $pid' && alive $pid" "and each target runs on, untouched"
done

done_testing
