#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The line of progress: on a terminal only, only when it takes long, and gone at the end.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"
need script

# As cat -v shows it.
ERASE='^M^[[K'
TERM=xterm
# So few snapshots that pmp says nothing of a rate, which a busy machine may not reach.
PMP_OPTS='--max-cpu 0 -i 600ms'
export PMP TERM PMP_OPTS

# on_terminal COMMAND: run it on a terminal, what that gets is in the file log.
on_terminal() {
	script -qfec "$1" log </dev/null >/dev/null
	status=$?
	sed -i '1d; $d' log
	cat -v log >shown
}

# lines: what was written over what, a line each.
lines() {
	tr '\r' '\n' <log | sed 's/\x1b\[K//' | grep -v '^$'
}

start_target demo
target=$target_pid

on_terminal "'$PMP' -d 1900ms -f folded -o x.folded -p $target"
is "$status" 0 "a run of more than a second"
like "$(lines)" '^pmp: 1 of 2 s, [0-9]+ snapshots, 10 threads, stopped [0-9]+\.[0-9]{3} ms$' \
	"says how far it is"
is "$(wc -l <shown)" 1 "in one line"
ok "[ \"\$(tail -c 7 shown)\" = '$ERASE' ]" "and nothing of it is left"

on_terminal "'$PMP' -n 4 -f folded -p $target"
like "$(lines)" '^pmp: 1 s, [0-9]+ of 4 snapshots, ' "how many of how many"
ok "grep -qF '${ERASE}demo;' shown" "it is gone before the output comes"

on_terminal "stty cols 24; '$PMP' -d 1900ms -f folded -o x.folded -p $target"
like "$(lines)" '^pmp: 1 of 2 s, [0-9 snaphot,]+$' "a narrow terminal"
is "$(lines | awk 'length > 23')" "" "is not overrun"

# Messages have lines of their own. The target ends once there is progress.
(wait_for "grep -aq '[1-8] of 9 s' log"; kill -KILL "$(cat short)") &
on_terminal "sleep 60 & echo \$! >short; exec '$PMP' -d 9 --no-symbols -o x.folded -p \$!"
wait $!
ok "grep -qE '\^M\^\[\[K(\^\[\[1m)?pmp:(\^\[\[m)? [0-9]+ .sleep. ended after' shown" "a message comes on a line of its own"
is "$(grep -c 'pmp: [1-8] of 9 s' shown)" 1 "behind the progress"

for way in "-q:$PMP -q -d 1300ms" "a dumb terminal:TERM=dumb $PMP -d 1300ms" "one that is not known:TERM= $PMP -d 1300ms" \
	"snapshots on the same terminal:$PMP --raw -n 4"; do
	case $way in
	*--raw*) to= ;;
	*) to='-f folded -o x.folded' ;;
	esac
	on_terminal "env ${way#*:} $to -p $target"
	unlike "$(cat log)" ' (s|snapshots), ' "no progress with ${way%%:*}"
done
on_terminal "'$PMP' -d 1300ms -f folded -o x.folded -p $target 2>err"
is "$(cat log err)" "" "nor where standard error is no terminal"
on_terminal "'$PMP' -q -o x.folded -- sleep 1.3; '$PMP' -o x.folded -- sh -c 'sleep 1.3; echo over'"
unlike "$(cat log)" 'snapshots' "nor with a command, whose terminal it is"
on_terminal "bash -c 'set -m; \"$PMP\" -d 1300ms -f folded -o x.folded -p $target & wait'"
unlike "$(cat log)" 'snapshots' "nor in the background"
# Of which a busy machine may make more, but not each time.
for _ in 1 2 3 4 5; do
	on_terminal "'$PMP' -d 100ms -i 50ms -f folded -o x.folded -p $target"
	[ -s log ] || break
done
is "$(cat log)" "" "nor in less than a second"

on_terminal "'$PMP' --max-wall 2 -d 30 -f folded -o limited.folded -p $target"
is "$status" 1 "--max-wall ends it all the same"
like "$(lines)" 'not finished within --max-wall: ending' "in order"
ok "[ -s limited.folded ]" "with what was sampled"

# A file that takes long to be read.
"$PMP" -q -n 1 -o saved.pb.gz -p "$target"
mkfifo slow
cat >slowly <<'END'
n=0
until grep -aq 'pmp: reading' log || [ $n -ge 100 ]; do
	sleep 0.1
	n=$((n + 1))
done
cat saved.pb.gz
END
on_terminal "sh slowly >slow & '$PMP' -o x.folded slow; wait"
is "$status" 0 "a file that is slow"
is "$(lines)" "pmp: reading slow" "that it is read is shown"
ok "[ -s x.folded ]" "it was"

done_testing
