#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# --diff on the command line: saved profiles and live ones, every format that compares,
# what is said about the comparison, what is refused.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"

need perl
[ -x "$PMP" ] || skip_all "no $PMP"

start_target demo
first=$target_pid
ok "'$PMP' -q -o base.pb.gz -n 4 -i 20ms -p '$first'" "a base is saved"
stop_process "$first"
# The same program at another address, with other ids.
start_target demo
ok "'$PMP' -q -o new.pb.gz -n 12 -i 20ms -p '$target_pid'" "and another profile"

# ---- numbers -----------------------------------------------------------------------

# What its main thread does may be in two stacks: it has only just begun to sleep.
"$PMP" -q -f folded --diff base.pb.gz new.pb.gz >diff.folded
is "$(awk '/;main;/ { base += $(NF - 1); new += $NF } END { print base, new }' diff.folded)" \
	"12 12" "a thread of both processes is as often in as many snapshots"
is "$(awk '{ base += $(NF - 1); new += $NF } END { print base, new }' diff.folded)" \
	"120 120" "all threads, once a snapshot"
is "$("$PMP" -q -f folded new.pb.gz | awk '{ n += $NF } END { print n }')" 120 \
	"as many as there are without --diff"
is "$(LC_ALL=C sort -c diff.folded 2>&1)" "" "lines are sorted"

# As difffolded.pl reads two folded files: their stacks, and the counts of each.
"$PMP" -q -f folded base.pb.gz >base.folded
"$PMP" -q -f folded new.pb.gz >new.folded
cat >difffolded.pl <<'END'
my %count;
for my $i (0, 1) {
	open my $file, "<", $ARGV[$i] or die;
	while (<$file>) {
		/^(.*) (\d+)$/ or die "not a folded line: $_";
		$count{$1}[$i] += $i ? $2 : 3 * $2;
	}
}
printf "%s %d %d\n", $_, $count{$_}[0] || 0, $count{$_}[1] || 0 for sort keys %count;
END
perl difffolded.pl base.folded new.folded >want.folded
is "$(cat diff.folded)" "$(cat want.folded)" "difffolded's rules give the same"

"$PMP" -q -f flat -v --diff base.pb.gz new.pb.gz >diff.flat
is "$(awk '$7 == "main" { print $4, $5, $6 }' diff.flat)" "10.00 10.00 0.00" \
	"flat agrees"
is "$("$PMP" -q -v --diff base.pb.gz new.pb.gz |
	awk '$4 ~ /,main,/ { base += $1; new += $2 } END { printf "%.2f %.2f", base, new }')" \
	"10.00 10.00" "the table of stacks is the default, and agrees"
is "$("$PMP" -q -f svg --diff base.pb.gz new.pb.gz | grep -o '>main (.*%; .*%)')" \
	">main (12 samples, 10.00%; 0.00%)" "svg agrees"

# ---- sources and sinks ---------------------------------------------------------------

ok "'$PMP' -q -o live.flat --diff base.pb.gz -n 3 -i 20ms -p '$target_pid'" \
	"what is sampled now is compared"
like "$(cat live.flat)" '^base: +40 stacks in 4 snapshots.*; counts times 3/4$' "and scaled"
like "$("$PMP" -q --diff - new.pb.gz <base.pb.gz)" '^base: +40 stacks in 4 snapshots' \
	"- is standard input"
is "$("$PMP" -q -f folded --diff base.pb.gz new.pb.gz base.pb.gz | awk '{ n += $NF } END { print n }')" \
	160 "several files are one profile"
for name in folded pmp svg html flat; do
	ok "'$PMP' -q -o out.$name --diff base.pb.gz new.pb.gz && [ -s out.$name ]" "-o out.$name"
done
like "$("$PMP" -q -f folded --by-thread --diff base.pb.gz new.pb.gz)" \
	'^demo;queue-1;clone3;.* [0-9]+ [0-9]+$' "threads by their names, without ids"
like "$("$PMP" -q -f folded --lines --diff base.pb.gz new.pb.gz)" \
	'update_table\(demo\.c:[0-9]+\)' "with lines"
ok "'$PMP' -q -o command.flat --diff base.pb.gz -F 50 -- sleep 0.3" "a command is compared"
like "$(cat command.flat)" '^new: +[1-9]' "with what it was"

# ---- what is said -----------------------------------------------------------------------

# notes ARG...: what pmp has to say about a comparison
notes() {
	"$PMP" -f folded "$@" 2>&1 >/dev/null | grep -v 'no symbols\|^hint'
}
is "$(notes --diff new.pb.gz new.pb.gz)" "" "there is nothing to say when nothing differs"
"$PMP" -q -o slow.pb.gz -n 4 -i 500ms -p "$target_pid"
like "$(notes --diff base.pb.gz slow.pb.gz)" \
	'^pmp: the base covers 0\.[0-9] s, this profile [1-9]\.[0-9] s: ' "durations differ"
like "$(notes --diff slow.pb.gz new.pb.gz)" \
	'^pmp: the base was sampled at [0-9.]+ Hz, this profile at [0-9.]+ Hz: ' "rates differ"
is "$(notes -q --diff slow.pb.gz new.pb.gz)" "" "-q says nothing"
gzip -dc base.pb.gz | perl -pe 's/taken: snapshots/TAKEN: snapshots/' >foreign.pb
like "$(notes --diff foreign.pb new.pb.gz)" \
	"^pmp: the base does not record its number of snapshots: compared by totals, the base's counts times 3\$" \
	"a profile of another program"
like "$(notes --diff new.pb.gz foreign.pb)" '^pmp: this profile does not record' \
	"on the other side"
like "$("$PMP" -q -f html --diff foreign.pb new.pb.gz)" '^"base":\{"stacks":40,"to":' \
	"a page does not tell it either"
like "$("$PMP" -v --stats -f folded -o /dev/null foreign.pb 2>&1 | tr '\n' ';')" \
	'wrote /dev/null: .*\), [0-9.]+ s, 40 stacks, stopped .*;pmp: stacks: 40, distinct: ' \
	"nor does the log"
like "$("$PMP" -v -f folded --sample-type cpu -o /dev/null new.pb.gz 2>&1)" \
	'wrote /dev/null: .*\), 12 snapshots in [0-9.]+ s, cpu [0-9.]+[a-z]*s, stopped ' \
	"which tells of CPU time as that"
demo=$target_pid
start_target sleeper 2
"$PMP" -q -o sleeper.pb.gz -n 12 -i 20ms -p "$target_pid"
stop_process "$target_pid"
"$PMP" -q -o mixed.pb.gz new.pb.gz sleeper.pb.gz
is "$("$PMP" -q -f folded --focus '^main$' --diff foreign.pb mixed.pb.gz |
	awk '{ base += $(NF - 1); new += $NF } END { print base, new }')" "16 24" \
	"totals are those of all stacks, also with a filter: 4 of 40, 24 of 156"
gzip -dc base.pb.gz | perl -pe 's/\x04demo/\x04omed/' >renamed.pb
like "$(notes --diff renamed.pb new.pb.gz)" \
	'^pmp: the base is of omed, this profile of demo: taken for the same' "another name"

# Of two processes each has a snapshot at a time.
second=$demo
start_target demo
"$PMP" -q -f folded -o both.folded --diff new.pb.gz -n 12 -i 20ms -p "$second,$target_pid"
is "$(sed 's/^demo-[0-9]*;/demo;/' both.folded |
	awk '/;main;/ { base += $(NF - 1); new += $NF } END { print base, new }')" "12 24" \
	"a thread in each of two processes is twice as often as in one"
like "$("$PMP" -q -f flat --diff new.pb.gz -n 12 -i 20ms -p "$second,$target_pid")" \
	'^new: +240 stacks in 24 snapshots' "though the snapshots are twice as many, too"
"$PMP" -q -o both.pb.gz -n 12 -i 20ms -p "$second,$target_pid"
is "$(notes --diff new.pb.gz both.pb.gz)" "" "the rate is that of a process, so there is nothing to say"
is "$("$PMP" -q -f folded --diff new.pb.gz both.pb.gz | sed 's/^demo-[0-9]*;/demo;/' |
	awk '/;main;/ { base += $(NF - 1); new += $NF } END { print base, new }')" "12 24" \
	"saved profiles say so as well"

# What another program has compared: -1 and 5 samples.
printf '\12\4\10\1\20\2\62\0\62\7samples\62\5count\62\4main\62\2cp\22\14\22\12\377\377\377\377\377\377\377\377\377\1\22\3\22\1\5' >difference.pb
"$PMP" -f folded difference.pb >out 2>err
is "$?" 0 "the difference of two profiles is read"
like "$(cat err)" '^pmp: samples with negative values, as in a difference, are not counted: 1$' \
	"what is not shown of it is reported"

# ---- what is refused -----------------------------------------------------------------------

echo "no profile" >text
refuses 2 'cannot open nowhere.pb.gz: No such file' --diff nowhere.pb.gz new.pb.gz
refuses 2 'cannot read text: it is text' --diff text new.pb.gz
refuses 2 'cannot read text: it is text' --diff text -p "$target_pid"
refuses 2 'cannot open nowhere.pb.gz' --diff nowhere.pb.gz -- touch touched
ok "[ ! -e touched ]" "the command has not been started"
refuses 2 'nothing to profile' --diff base.pb.gz
refuses 2 'option --diff needs a value' new.pb.gz --diff
refuses 2 'the format raw cannot compare profiles' --raw --diff base.pb.gz new.pb.gz
for name in pprof speedscope perf json gperf callgraph threads; do
	refuses 2 "the format $name cannot compare profiles" -f $name --diff base.pb.gz new.pb.gz
done
like "$(cat err)" '^hint: formats that do: pmp, folded, svg, html, flat; ' "and which can"
stop_process "$target_pid"

done_testing
