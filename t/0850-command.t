#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# pmp -- COMMAND: the command runs as it would alone, and pmp ends as it does.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"

# status WANT DESCRIPTION ARG...
status() {
	want=$1 text=$2
	shift 2
	"$PMP" "$@" >out 2>err </dev/null
	is "$?" "$want" "$text: $want" || diag "$(cat err)"
}

sleeper=$top_builddir/t/target/sleeper
status 0 "a command that ends well" -q -f folded -- "$sleeper" 1 300
like "$(cat out)" '^sleeper;.*nap.* [0-9]+$' "it was sampled"
like "$(cat out)" '^ready ' "its output is there"
like "$(tail -n 1 out)" '^sleeper' "the profile comes after it"
unlike "$(cat out err)" 'pmp|executed another' "nothing of pmp itself is seen"
status 7 "its status" -q -f folded -- sh -c 'sleep 0.2; exit 7'
status 137 "its signal" -q -f folded -- sh -c 'sleep 0.2; kill -9 $$'
status 127 "not found" -f folded -- no-such-command-anywhere
is "$(cat err)" "pmp: cannot run no-such-command-anywhere: No such file or directory" "its message"
echo text >file
status 126 "not executable" -f folded -- ./file
is "$(cat err)" "pmp: cannot run ./file: Permission denied" "its message"
status 125 "the output cannot be written" -o none/x.folded -- sh -c 'touch ran'
ok "[ ! -e ran ]" "and then the command is not run"
status 125 "the disk is full" -q -f folded -o /dev/full -- sh -c 'sleep 0.2; exit 7'
status 3 "it ends before the first snapshot" -q -- sh -c 'exit 3'

status 5 "more snapshots are not wanted: pmp waits" -q -o x.folded -n 2 -i 10ms -- \
	sh -c 'sleep 0.5; exit 5'
is "$(awk '{ n += $NF } END { print n }' x.folded)" 2 "two snapshots"
is "$(echo hello | "$PMP" -q -o x.folded -- cat)" hello "stdin is the command's"
status 0 "an exec of its own" -f folded -- sh -c 'sleep 0.3; exec sleep 0.5'
like "$(cat err)" 'has executed another program' "is noted"

# Signals are the command's own affair.
ignored() {
	"$@" sh -c 'grep -E "^Sig(Ign|Blk|Cgt)" /proc/self/status'
}
is "$(ignored "$PMP" -q -o x.folded --)" "$(ignored env)" "dispositions are inherited unchanged"
is "$("$PMP" -q -o x.folded -- sh -c 'ls /proc/self/fd')" "$(sh -c 'ls /proc/self/fd')" \
	"and no descriptors"

# TERM, HUP and QUIT from a process end both: the profile is written at once, then the
# command is waited for. INT ends the sampling only.
begin() {
	rm -f pid over x.folded
	"$PMP" -q -o x.folded -- sh -c "echo \$\$ >pid; $1" &
	pmp=$!
	test_pids="$test_pids $pmp"
	wait_for '[ -s pid ]' && sampling "$pmp"
}
for pair in TERM:143 HUP:129 QUIT:131; do
	begin 'exec sleep 60'
	kill -"${pair%:*}" "$pmp"
	wait "$pmp"
	is "$?" "${pair#*:}" "${pair%:*} is passed on: the command's status"
	ok "[ -s x.folded ]" "the profile is there"
	ok "! grep -qx sleep /proc/$(cat pid)/comm" "the command has ended"
done
cat >slow <<-'END'
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		[ ! -s x.folded ] || exit 6
		sleep 0.5
	done
	exit 7
END
begin 'trap ". ./slow" TERM; while :; do sleep 0.1; done'
kill -TERM "$pmp"
wait "$pmp"
is "$?" 6 "TERM: the profile is written at once, and the command waited for"
begin 'until [ -e go ]; do sleep 0.05; done; echo done >over; exit 4'
kill -INT "$pmp"
wait_for "! sampler_of $pmp"
: >go
wait "$pmp"
is "$?:$(cat over)" "4:done" "INT to pmp alone ends the sampling, not the command"

# On a terminal both are one job: ^Z stops them, ^C is for both.
job() {
	tmux -L "pmp$$" send-keys -t pmp "$@"
}
if command -v tmux >/dev/null && command -v bash >/dev/null; then
	rm -f pid x.folded
	tmux -L "pmp$$" -f /dev/null new-session -d -s pmp -x 80 -y 24 "bash --norc -i"
	job "cd '$tmp'; '$PMP' -q -o x.folded -- sh -c 'echo \$\$ >pid; exec sleep 60'; echo \$? >status" Enter
	wait_for '[ -s pid ]'
	pid=$(cat pid)
	sampling "$(sed -n 's/^PPid:[^0-9]*//p' "/proc/$pid/status")"
	job C-z
	ok "wait_for 'grep -q \"^State:.T\" /proc/$pid/status'" "^Z stops the command"
	ok "wait_for '[ -s status ]' && [ \"\$(cat status)\" = 148 ]" "and pmp"
	rm -f status
	job fg Enter
	ok "wait_for 'grep -q \"^State:.S\" /proc/$pid/status'" "both go on"
	job C-c
	ok "wait_for '[ ! -e /proc/$pid ]'" "^C ends the command"
	ok "wait_for '[ -s x.folded ]'" "and the sampling"
	tmux -L "pmp$$" kill-server
else
	skip "no tmux or no bash"
fi

# From its first instruction on: those of the dynamic linker, long before main. A command
# of half a millisecond may be over before a processor is free for us; not every time.
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	"$PMP" -q --raw -- "$top_builddir/t/target/sleeper" 1 100
done >first 2>&1
is "$(grep -c '^ready' first)" 20 "twenty short commands"
ok "[ $(grep -c '^--- snapshot 1:' first) -eq 20 ]" "each has a first snapshot"
like "$(cat first)" '^#[0-9].*ld-linux|^#[0-9].* in _(start|dl_)' "in the dynamic linker"
"$PMP" -f folded -o none.folded -- sh -c 'exit 3' >out 2>err
status=$?
ok "[ $status -eq 3 ] && { [ -s none.folded ] ||
	grep -q 'sh) ended before the first snapshot' err; }" \
	"one that is over at once: a snapshot or a message, and its status"

# To its last: also when its first thread has gone.
"$PMP" -q -f folded -i 20ms -o x.folded -- "$top_builddir/t/target/zleader" >out &
pmp=$!
test_pids="$test_pids $pmp"
wait_for 'grep -q ^ready out' && sampling "$pmp"
kill -USR1 "$(sed -n 's/^ready \([0-9]*\).*/\1/p' out)"
wait "$pmp"
is "$?" 0 "a command whose first thread has ended before the others"
like "$(cat x.folded)" ';linger;' "these are sampled"

done_testing
