#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What --stats says is true: its numbers are those of the profile, and what was missed
# is counted.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"
need pgrep

# sum FILE [TEXT]: of the counts of folded stacks, with this in them.
sum() {
	awk -v text="$2" 'text == "" || index($0, text) { n += $NF } END { print n + 0 }' "$1"
}

# said PATTERN: what the group of it matches in err.
said() {
	sed -n "s/^pmp: $1.*/\\1/p" err
}

start_target sleeper 20
target=$target_pid
"$PMP" -q --stats -f folded -n 10 -i 10ms -p "$target" >out 2>err
is "$(said 'snapshots: \([0-9]*\),')" 10 "snapshots"
is "$(said 'snapshots: 10, stacks: \([0-9]*\) (21.0 threads each)')" "$(sum out)" "stacks"
is "$(said 'snapshots: .* distinct: \([0-9]*\)')" "$(wc -l <out | tr -d ' ')" "distinct ones"
is "$(said 'stacks: \(.*\)%.*' | sed 's/[^0-9.]*% [^0-9]*/ /g; s/,//g' |
	awk '{ print ($1 + $2 + $3 > 99.8 && $1 + $2 + $3 < 100.2) }')" 1 \
	"what was unchanged, looked at and stopped is all"
is "$(said 'lost: \(.*\) (')" "0 vanished, 0 not stopped, 0 not wanted; truncated: 0" \
	"nothing is lost"
is "$(said 'rate: \(100 Hz\) asked')" "100 Hz" "the rate"
unlike "$(cat err)" 'not counted|children' "nothing is said of what was not asked"

"$PMP" -q --stats -f folded -n 10 -i 10ms --threads '^none$' -p "$target" >out 2>err
is "$(said 'lost: .*, \([0-9]*\) not wanted;')" 210 "threads that are not wanted"
"$PMP" --no-symbols -f folded -n 2 -i 10ms --threads '^none$' -p "$target" >out 2>err
is "$?" 0 "that none is wanted is no error"
is "$(cat out err)" "pmp: no threads left: -t, --threads and --not-threads leave out all of them
hint: pmp -f threads has the names of threads" "but is reported, as nothing else is"
"$PMP" -q --stats -f folded -n 5 -i 10ms --max-frames 1 -p "$target" >out 2>err
is "$(said 'lost: .* truncated: \([0-9]*\) ')" "$(sum out '[truncated')" \
	"truncated stacks: $(sum out '[truncated')"
ok "[ $(sum out '[truncated') -ge 80 ]" "most of 105 are"

# Children: six that sleep, and six that end at once, but are met on a busy machine. Where
# others make the ids start again some are not counted; not each time.
for _ in 1 2 3 4 5; do
	"$PMP" -q --stats --children -F 10 -f folded -o /dev/null -- \
		sh -c 'for i in 1 2 3 4 5 6; do sleep 0.4; /bin/true; done' 2>err
	children=$(said 'children: \([0-9]*\) sampled, ') refused=$(said 'children: .*, \([0-9]*\) not,')
	unseen=$(said 'children: .*, \([0-9]*\) unseen at most')
	all=$((${children:-0} + ${refused:-0} + ${unseen:-0}))
	[ "$all" -lt 12 ] || break
done
ok "[ '${children:-0}' -ge 1 ]" "children that are sampled: $children"
ok "[ $all -ge 12 ]" \
	"with those that could not be, $refused, and that were never seen, $unseen: all"
# They cannot be sampled at all: there are no descriptors for more.
"$PMP" -q --stats --children -n 1 -f folded -p "$$" >out 2>err
children=$(said 'children: \([0-9]*\) sampled')
ok "[ '${children:-0}' -ge 1 ]" "those that exist: $children"
(
	# shellcheck disable=SC3045 # every shell here has it
	ulimit -n 40
	"$PMP" --stats --children -n 1 -f folded -p "$$" >out 2>err
)
refused=$(said 'children: .* sampled, \([0-9]*\) not,')
ok "[ '${refused:-0}' -ge 1 ]" "those for which there is no descriptor: $refused"

# The front hangs until the socket is full, and the sampler is killed meanwhile.
start_target sleeper 400
"$PMP" --stats --no-symbols -f folded -F 10000 --max-cpu 0 -d 600 -p "$target_pid" >out 2>err &
pmp=$!
test_pids="$test_pids $pmp"
ok "wait_for 'pgrep -x -P $pmp pmp-sampler'" "a sampler"
sampler=$(pgrep -x -P "$pmp" pmp-sampler)
# Its only message but samples, so that it is a sample that waits for room.
ok "wait_for 'grep -q \"falls behind\" err' 60" "it falls behind"
# So that there is some time to be known: 0.3 s of a processor.
worked() {
	# shellcheck disable=SC2046
	set -- $(cat "/proc/$sampler/stat")
	[ $((${14} + ${15})) -ge 30 ]
}
ok "wait_for worked 60" "it has sampled for a while"
kill -STOP "$pmp"
# Asleep in sendmsg() for two snapshots on end: there is no room.
blocked() {
	first=$(cut -d ' ' -f 1,2,3 "/proc/$sampler/syscall")
	sleep 0.1
	case $first in "46 "* | "211 "*) [ "$(cut -d ' ' -f 1,2,3 "/proc/$sampler/syscall")" = "$first" ] ;;
	*) false ;;
	esac
}
ok "wait_for blocked" "the sampler waits for the front"
kill -KILL "$sampler"
# Were there room before it is dead it would go on sending.
ok "wait_for 'grep -q ^State:.Z /proc/$sampler/status'" "it is dead"
kill -CONT "$pmp"
wait "$pmp"
is "$?" 1 "it is killed"
counted=$(said 'snapshots: \([0-9]*\),')
is "$(said 'snapshots taken but not counted: \([0-9]*\) of')" 1 "the one on its way is lost"
is "$(said 'snapshots taken but not counted: 1 of \([0-9]*\)')" $((counted + 1)) \
	"of $counted and itself"
like "$(cat err)" '^pmp: any thread stopped: .* of [0-9]*\.[1-9] s|of [1-9][0-9]*\.[0-9] s' \
	"the time is known all the same"
done_testing
