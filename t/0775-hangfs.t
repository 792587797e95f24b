#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A file system whose server does not answer any more: under the target's program, under
# the output, and the server itself as the target. Whatever hangs then, it is not the
# target.

# shellcheck source=t/lib/hangfs.sh
. "${top_srcdir:-.}/t/lib/hangfs.sh"

# shellcheck disable=SC2119 # its arguments are optional
serve || skip_all "no file system can be mounted here: $(head -n 1 "$target_err")"

# ---- the server as the target ----------------------------------------------------------

# Its files are opened while it is sampled: it must answer.
ok "timeout 30 '$PMP' --raw --stop=all -n 20 -i 1ms --debug-dir fs -p $server >raw 2>err" \
	"the server of the file system itself, with its files as debug files"
like "$(cat raw)" ' in read ' "it waits for questions"
# Stopped each time, as a peek does not disturb it.
ok "timeout 30 '$PMP' -q -f folded -n 50 -i 1ms --symfs fs -p $server >out" "again"

# ---- the target's program ---------------------------------------------------------------

start_target "$PWD/fs/file"
chain=$target_pid
ok "timeout 30 '$PMP' -q -f folded -n 2 -i 1ms -p $chain >out" "a program on such a file system"
like "$(cat out)" ';f3;f2;f1;f0 ' "is sampled and named"
start_process sh -c 'timeout -s KILL 300 "$0" & exec sleep 600' "$PWD/fs/file"
parent=$target_pid
wait_for "grep -q ^ready '$target_out'"
child=$(sed -n 's/^ready //p' "$target_out")
kill -USR1 "$server"
"$PMP" -f folded -n 3 -i 1ms -p "$chain" >out 2>err &
pmp=$!
test_pids="$test_pids $pmp"
while grep -q "^State:.[^Z]" "/proc/$pmp/status" 2>/dev/null; do
	untouched "$chain" || echo touched >>touched
	sleep 0.05
done
wait "$pmp"
is "$?" 1 "its server does not answer any more: pmp ends"
like "$(cat err)" '^pmp: the sampler did not answer any more and was killed; the [0-9]+ snapshots taken are kept$' \
	"with a message"
like "$(cat err)" '^hint: it was asleep in the kernel, in [a-z_0-9 ]+: a disk or a file server may not answer$' \
	"that says where"
ok "[ \$(cat touched 2>/dev/null | wc -l) -le 2 ]" "the target has not been stopped meanwhile"
ok "untouched $chain && kill -0 $chain" "nor is it now"

# Beside another target, which is not to suffer for it.
start_process sleep 600
sleeping=$target_pid
"$PMP" -f folded -n 3 -i 1ms -p "$chain" -p "$sleeping" >out 2>err
is "$?" 1 "with another target: status"
like "$(cat err)" "^pmp: the sampler did not answer any more and was killed, at work on $chain .not opened yet.: the others are sampled without it$" \
	"the message"
like "$(cat out)" '^sleep;' "the other one is sampled"
stop_process "$sleeping"

# As the child of one, it is not heard of before.
"$PMP" -f folded -n 3 -i 1ms --children -p "$parent" >out 2>err
is "$?" 1 "as the child of a target: status"
like "$(cat err)" "^pmp: the sampler did not answer any more and was killed, at work on $child .a child.: the others are sampled without it$" \
	"the message"
like "$(cat out)" '^sleep-' "its parent is sampled"
kill -KILL "$child"
stop_process "$parent"

# A thread that waits for it, in a program on another file system.
start_process cat fs/file
reader=$target_pid
ok "wait_for 'grep -q wait_answer /proc/$reader/stack /proc/$reader/wchan'" \
	"a process that waits for it"
ok "timeout 30 '$PMP' --raw -n 2 -i 1ms -p $reader >raw 2>err" "is sampled"
like "$(cat raw)" '^#0 .* in .*(open|read|stat)' "where it waits"

# ---- the output --------------------------------------------------------------------------

start_target sleeper 2
sleeper=$target_pid
"$PMP" -q -f folded -n 3 -i 1ms -o fs/x.folded -p "$sleeper" 2>err &
pmp=$!
test_pids="$test_pids $pmp"
ok "wait_for 'grep -q wait_answer /proc/$pmp/task/*/stack /proc/$pmp/task/*/wchan'" \
	"the output is there: pmp waits"
ok "untouched $sleeper" "the target does not"
unserve
wait "$pmp"
is "$?" 5 "its server dies: pmp ends"
like "$(cat err)" '^pmp: cannot write fs/x.folded: ' "with a message"
ok "wait_for 'untouched $sleeper'" "the target is left alone"
stop_process "$sleeper"
stop_process "$reader"
stop_process "$chain"
done_testing
