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

# TERM is for pmp; the command lives on.
"$PMP" -q -o term.folded -- sh -c 'echo $$ >pid; sleep 2; echo done >done' &
pmp=$!
test_pids="$test_pids $pmp"
wait_for '[ -s pid ]' && sleep 0.3
kill -TERM "$pmp"
wait "$pmp"
is "$?" 143 "TERM ends pmp"
ok "[ -s term.folded ]" "with its profile"
ok "kill -0 $(cat pid)" "not the command"
ok "wait_for '[ -e done ]'" "which ends in its own time"

done_testing
