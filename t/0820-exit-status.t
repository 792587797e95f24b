#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The statuses that pmp(1) lists, and the messages that go with them.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"
need pgrep

# status WANT DESCRIPTION ARG...
status() {
	want=$1 text=$2
	shift 2
	"$PMP" "$@" >out 2>err </dev/null
	is "$?" "$want" "$text: $want" || diag "$(cat err)"
}

start_target sleeper 1
status 0 "a snapshot" -p "$target_pid"
is "$(grep -c '^Thread ' out)" 2 "without a terminal: raw, one snapshot"
status 0 "one of two is no process" -q -n 1 -p "$target_pid,4194304"
like "$(cat err)" '^pmp: no such process: 4194304$' "and that is said"
status 3 "one of two is no process, with a file for each" -q -n 1 -o '%p.folded' \
	-p "$target_pid,4194304"
ok "[ -s $target_pid.folded ]" "and the other one is written"
status 2 "usage" --nonsense
status 3 "no such process" -p 4194304
is "$(cat err)" "pmp: no such process: 4194304" "E1"
port=60000
while [ -e "/proc/$port" ]; do port=$((port + 1)); done
status 3 "a port that is taken for a process" --serve "$port"
is "$(cat err)" "pmp: no such process: $port
hint: to serve at port $port: --serve=$port" "its message"
status 3 "no process of that name" --name '^no such name$'
is "$(cat err)" "pmp: no process has a name that matches '^no such name\$'" "its message"
status 5 "a directory that is not there" -n 1 -f folded -o "$tmp/none/x.folded" -p "$target_pid"
is "$(cat err)" "pmp: cannot write $tmp/none/x.folded: No such file or directory
hint: make its directory first" "E13"
if [ "$(sed -n 's/^Kthread:[[:space:]]*//p' /proc/2/status 2>/dev/null)" = 1 ]; then
	status 3 "a kernel thread" -p 2
	like "$(cat err)" '^pmp: 2 \(kthreadd\) is a kernel thread' "E6"
else
	skip "no kernel thread in this namespace"
fi

# A target that ends: its profile is kept, and how much of it there is, said.
# ending STATUS DESCRIPTION ARG...: the same with a target that ends meanwhile.
ending() {
	want=$1 text=$2
	shift 2
	start_target sleeper 0
	"$PMP" "$@" -p "$target_pid" >out 2>err </dev/null &
	pmp=$!
	sampling "$pmp"
	kill -TERM "$target_pid"
	wait "$pmp"
	is "$?" "$want" "$text: $want" || diag "$(cat err)"
}
ending 0 "the target ends" -f folded -n 100000
like "$(cat err)" \
	"^pmp: $target_pid \(sleeper\) ended after [0-9]+ of 100000 snapshots; the profile covers [0-9]+\.[0-9] s$" E8
ok "[ -s out ]" "the profile is written"
ending 0 "the target ends, quietly" -q -f folded -d 60
unlike "$(cat err)" 'ended' "-q says errors only"

# A process that was there, but nothing could be taken of it.
sh -c 'sleep 0.01 & exec sleep 60' &
parent=$!
test_pids="$test_pids $parent"
wait_for "grep -l '^State:.Z' /proc/[0-9]*/status | xargs grep -l '^PPid:.$parent\$'"
zombie=$(grep -l "^PPid:.$parent\$" /proc/[0-9]*/status 2>/dev/null | tr -dc '0-9\n')
status 3 "a zombie" -p "$zombie"
like "$(cat err)" "^pmp: $zombie \(sleep\) is a zombie" "E5"
stop_process "$parent"

if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
	start_target sleeper 0
	chmod 755 "$tmp"
	setpriv --reuid 65534 --clear-groups "$PMP" -p "$target_pid" >out 2>err
	is "$?" 4 "not permitted: 4"
	like "$(cat err)" "^pmp: cannot trace $target_pid \(sleeper, user root\)" "E2"
	like "$(cat err)" '^hint: ' "and what to do"
else
	skip "needs root and setpriv"
fi

done_testing
