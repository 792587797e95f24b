#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Saved profiles on the command line: what can be read, what is said when it cannot, and
# the statuses.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"

[ -x "$PMP" ] || skip_all "no $PMP"

start_target demo
ok "'$PMP' -q -o demo.pb.gz -n 2 -i 20ms -p '$target_pid'" "the extension pb.gz is pprof"
stop_process "$target_pid"

echo "no profile" >text
head -c 300 demo.pb.gz >cut.pb.gz
: >empty
mkdir folder
refuses 2 'cannot open nowhere.pb.gz: No such file' nowhere.pb.gz
refuses 2 'cannot read text: it is text; of pmp.s formats only pprof can be read again' text
refuses 2 'cannot read cut.pb.gz: it is damaged' -f folded cut.pb.gz
refuses 2 'cannot read empty: it is empty' empty
head -c 5000 /dev/zero >zeros
refuses 2 'cannot read zeros: it begins with zeros, like an unfinished core' zeros
printf '#!/bin/sh\n' >script
chmod 755 script
refuses 2 'cannot read ./script: it is text' ./script
like "$(cat err)" '^hint: .* pmp -- ./script' "a program that is text: its hint"
refuses 2 'give processes, a command or files, not several of these' demo.pb.gz -- true
refuses 2 'give processes, a command or files, not several of these' -p 1 demo.pb.gz
refuses 2 'cannot read cut.pb.gz' -f folded demo.pb.gz cut.pb.gz
"$PMP" folder >out 2>err
isnt $? 0 "a folder is no profile"
printf 'x' >kept.folded
"$PMP" -q -o kept.folded cut.pb.gz 2>/dev/null
is "$(cat kept.folded)" x "what is there stays when the profile is damaged"

like "$("$PMP" -q demo.pb.gz)" '^Thread [0-9]+ \(Thread 0x0 \(LWP [0-9]+\)\):' \
	"without a terminal it is written as raw"
ok "'$PMP' -q -f flat -o '%n-%c.flat' demo.pb.gz && grep -q update_table demo-1.flat" \
	"%n is the name of the file"
for name in folded pmp svg html speedscope.json perf json flat callgraph threads prof pb.gz; do
	ok "'$PMP' -q -o out.$name demo.pb.gz && [ -s out.$name ]" "-o out.$name"
done
like "$(head -c 40 out.speedscope.json)" schema "the longest extension decides"
gzip -dc demo.pb.gz >plain.pb
is "$("$PMP" -q -f folded plain.pb)" "$("$PMP" -q -f folded demo.pb.gz)" \
	"it need not be compressed"
like "$("$PMP" -q -f folded --by-thread demo.pb.gz)" '^demo-[0-9]+/[0-9]+;queue-1;' \
	"threads are in it"
like "$("$PMP" -q -f folded --lines demo.pb.gz)" 'update_table\(demo\.c:[0-9]+\)' "so are lines"
unlike "$("$PMP" -q -f folded --no-inline demo.pb.gz)" 'futex_wait' \
	"inlined functions can be left out"
like "$("$PMP" -q -f svg --title 'a <b>' --width 640 --icicle demo.pb.gz)" 'a &lt;b&gt;' \
	"options of pictures"
like "$("$PMP" -f folded --stats demo.pb.gz 2>&1 >/dev/null)" 'snapshots: 2, stacks: 20' \
	"statistics are those of the run"

# A beginner's operands.
is "$("$PMP" "$top_builddir/t/target/demo" 2>&1)" "pmp: cannot read $top_builddir/t/target/demo: it is damaged, or not a profile in the format pprof
hint: to profile a program from its start: pmp -- $top_builddir/t/target/demo" "a program is no profile"
is "$("$PMP" demo.pb.gz/x 2>&1)" "pmp: cannot open demo.pb.gz/x: Not a directory" \
	"what was meant as a file has no hint about processes"

# A program that is not on this machine any more, and where its files are instead.
mkdir here && cp "$top_builddir/t/target/sleeper" here/moved
start_target here/moved 2
ok "'$PMP' -q --no-symbols -o moved.pb.gz -p '$target_pid'" "saved without names"
stop_process "$target_pid"
mkdir -p "root$PWD/here" flat other
mv here/moved "root$PWD/here/moved"
ln "root$PWD/here/moved" flat/moved
cp "$top_builddir/t/target/demo" other/moved
unlike "$("$PMP" -q -f folded moved.pb.gz)" ';nap' "without its file it has no names"
like "$("$PMP" -q -f folded --symfs root moved.pb.gz)" ';nap[; ]' "--symfs, under its path"
like "$("$PMP" -q -f folded --symfs flat moved.pb.gz)" ';nap[; ]' "--symfs, by its name"
like "$("$PMP" -q -f folded --symfs "/proc/self/root$PWD/root" moved.pb.gz)" ';nap[; ]' \
	"--symfs that leads through /proc/self/root"
start_target demo
like "$("$PMP" -q -f folded --symfs "/proc/$target_pid/root$PWD/root" moved.pb.gz)" ';nap[; ]' \
	"--symfs that leads through the root directory of another process"
stop_process "$target_pid"
mkdir -p "magic$PWD/here"
ln -s "/proc/self/root$PWD/flat/moved" "magic$PWD/here/moved"
unlike "$("$PMP" -q -f folded --symfs magic moved.pb.gz)" ';nap' "not links below it that do"
unlike "$("$PMP" -q -f folded --symfs other moved.pb.gz)" ';nap' "--symfs, of another build"
# A file of another build does not hide the right one in a later place.
mkdir -p "both$PWD/here"
cp other/moved "both$PWD/here/moved"
cp flat/moved both/moved
cp flat/moved here/moved
for confined in '' --no-sandbox; do
	# shellcheck disable=SC2086 # none or one
	like "$("$PMP" -q -f folded $confined --symfs both moved.pb.gz)" ';nap[; ]' \
		"another build at its path: the one by its name $confined"
	# shellcheck disable=SC2086
	like "$("$PMP" -q -f folded $confined --symfs other moved.pb.gz)" ';nap[; ]' \
		"another build below --symfs: the one on this machine $confined"
	rm both/moved
	mv here/moved here/away
	# shellcheck disable=SC2086
	like "$("$PMP" -f folded $confined --symfs both moved.pb.gz 2>&1 >/dev/null)" \
		"here/moved .*another version of it" "only other builds: that is said $confined"
	mv here/away here/moved
	cp flat/moved both/moved
done

done_testing
