#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Filters on the command line. Whether a profile is filtered when it is written in a
# format, or when it is saved and then read again, or when it is taken, it is the same;
# what filters show is what they are to show, in each format; and expressions that make
# no sense are told.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"

[ -x "$PMP" ] || skip_all "no $PMP"
PMP_OPTS='--max-cpu 0'
export PMP_OPTS

start_target demo
ok "save all.pb.gz -n 4 -i 20ms" "a profile without filters"

# ---- what they show -------------------------------------------------------------------

# stacks OPTION...: the folded profile; the 200 calls of one thread are one line's end.
stacks() {
	"$PMP" -q -f folded "$@" all.pb.gz
}

# counts OPTION...: how many stacks there are, and how many lines.
counts() {
	stacks "$@" | awk '{ n += $NF } END { print n + 0, NR }'
}

all=$(counts)
is "${all% *}" 40 "ten threads, four times"
is "$(stacks --focus '^update_table$' | grep -vc ';update_table;')" 0 "--focus: only such stacks"
is "$(counts --focus '^update_table$')" "16 1" "--focus: all of them"
is "$(counts --focus '^update_table$' --focus '^wait_poll$')" "20 2" "--focus: any of several"
is "$(counts --ignore '^update_table$' | cut -d ' ' -f 1)" 24 "--ignore: the others"
is "$(counts --focus update --ignore queue)" "0 0" "both"
unlike "$(stacks --hide '^start_thread$')" start_thread "--hide"
is "$(counts --hide '^start_thread$' | cut -d ' ' -f 1)" 40 "which hides no stack"
unlike "$(stacks --hide-module '^libc\.')" 'clone3|start_thread|futex' "--hide-module"
like "$(stacks --hide-module '/demo$')" ';start_thread;' "by the end of a path"
is "$(stacks --hide .)" "demo;[hidden] 40" "nothing is left of them but how many they are"
is "$(stacks --skip-module '^libc\.' | grep -v 'compute_checksum [0-9]*$')" "" "--skip-module"
is "$(stacks --trim-root '^queue$' --focus '^queue$' | cut -d ';' -f 1,2)" "demo;queue" \
	"--trim-root"
is "$(counts --trim-root '^queue$')" "$all" "--trim-root leaves other stacks whole"
is "$(stacks --focus '^descend$' --trim-root '^descend$' --fold-recursion | cut -d ';' -f 1-2)" \
	"demo;descend" "--fold-recursion"
is "$(stacks --focus '^descend$' --trim-root '^descend$' --fold-recursion |
	grep -o descend | wc -l)" 1 "200 calls are one"
like "$(stacks --rename-frame 's/^update_(.*)$/[\1_&_\&]/')" ';\[table_update_table_&\];' \
	"--rename-frame"
like "$(stacks --rename-frame 's,^up,down,' --rename-frame 's|e|E|g')" ';downdatE_tablE;' \
	"one after the other, with any delimiter"
is "$(stacks --rename-frame 's/update_table/x/' --focus '^x$' | wc -l)" 1 \
	"patterns look at the new names"
is "$(counts --idle=only --focus '^update_table$')" "0 0" "who waits for a mutex is not idle"
is "$(stacks --idle=only | grep -Evc 'poll|epoll_wait|pause|nanosleep')" 0 \
	"--idle=only: known waits"
is "$(counts --idle=only | cut -d ' ' -f 1)" 16 "all of them"
is "$(counts --idle=hide | cut -d ' ' -f 1)" 24 "--idle=hide: the others"
is "$(counts --idle=hide --idle-wait '^update_table$' | cut -d ' ' -f 1)" 8 \
	"--idle-wait knows more"
like "$(stacks --by-group)" '^demo;queue-N;.* 16$' "--by-group"
like "$(stacks --by-group --no-fold-threads)" '^demo;queue-3;.* 4$' "--no-fold-threads"
like "$(stacks --thread-group 's/^queue.*/waiters/')" '^demo;waiters;.* 16$' "--thread-group"
like "$(stacks --thread-group 's/queue/x1/' --by-thread)" '^demo-[0-9]*/[0-9]*;x1-3;.* 4$' \
	"with --by-thread they stay apart"

# ---- in each format -------------------------------------------------------------------

formats='raw folded pmp svg perf json gperf flat callgraph threads speedscope'

# As the options say, and then without.
compare() {
	again=
	case $* in
	*--by-thread*) again=--by-thread ;;
	*group*) again='--by-group --no-fold-threads' ;;
	esac
	differ=
	"$PMP" -q -o some.pb.gz "$@" all.pb.gz || differ=saving
	for format in $formats; do
		"$PMP" -q -f "$format" "$@" all.pb.gz >direct
		# shellcheck disable=SC2086
		"$PMP" -q -f "$format" $again some.pb.gz >saved
		[ -s direct ] || differ="$differ empty-$format"
		cmp -s direct saved || differ="$differ $format"
	done
	"$PMP" -q -o again.pb.gz some.pb.gz
	"$PMP" -q -f json again.pb.gz >saved
	"$PMP" -q -f json some.pb.gz | cmp -s - saved || differ="$differ pprof"
	is "$differ" "" "saved and read it is the same in each format: $*"
}

compare --focus table
compare --ignore table --ignore poll
compare --hide '^(__|_start)'
compare --hide futex_wait --hide pthread
compare --hide-module libc
compare --skip-module libc
compare --trim-root __lll_lock_wait
compare --fold-recursion
compare --idle=hide
compare --idle=only --idle-wait update_table
compare --by-group
compare --thread-group 's/e/E/g' --no-fold-threads
compare --by-thread --thread-group 's/^q.*/Q/'
compare --rename-frame 's/^(.)[a-z]*_/\1_/g'
compare --rename-frame 's/.*/x/' --fold-recursion
compare --rename-frame 's/.*//'
compare --hide . --by-group
compare --focus start --trim-root start_thread --hide-module libc --idle=hide \
	--rename-frame 's/_/ /g' --by-group

like "$("$PMP" -q -f flat --focus update all.pb.gz)" '^flat profile: 16 of 40 stacks in 4' \
	"a title says how much is shown"
like "$("$PMP" -q -f flat --focus update all.pb.gz)" '^100\.00 .* futex_wait' \
	"percentages are of what is shown"
like "$("$PMP" -q -f svg --focus update all.pb.gz)" '4 snapshots, 16 of 40 stacks' "so does a picture"
is "$("$PMP" -f folded --focus update all.pb.gz 2>&1 >/dev/null)" \
	"pmp: the filters show 16 of 40 stacks (40.0%)" "and a message"
is "$("$PMP" -f folded --focus nothing all.pb.gz 2>/dev/null)" "" "nothing passes"
like "$("$PMP" -f folded --focus nothing all.pb.gz 2>&1 | tail -1)" '^hint: ' "with a hint"

# ---- when it is taken -----------------------------------------------------------------

# live FORMAT OPTION...: three snapshots.
live() {
	"$PMP" -q -f "$@" -n 3 -i 10ms -p "$target_pid"
}
# same OPTION: where a busy machine did not let a thread stop in time they are taken again.
same() {
	for _ in 1 2 3 4 5; do
		"$PMP" -q -o three.pb.gz -n 3 -i 10ms -p "$target_pid"
		live folded "$1" >now
		"$PMP" -q -f folded "$1" three.pb.gz | cmp -s - now && return
	done
	return 1
}
for option in --focus=update_table --ignore=compute --idle=only --by-group \
	--thread-group=s/ueu/UEU/ --hide-module=libc --trim-root=start_thread --fold-recursion \
	--rename-frame=s/_/-/g --skip-module=demo; do
	same "$option"
	test_result $? "taken or read, folded is the same: $option"
done
live raw --focus UP_table --rename-frame 's/update/UP/' --by-group >raw
is "$(grep -c '^--- snapshot .* 4 of 10 threads' raw)" 3 "raw: 4 of 10 threads each time"
live raw --focus '^main$' >one
is "$(grep -c '^--- snapshot .* 1 of 10 threads, ' one)" 3 "raw: 1 of 10 is of threads, too"
is "$(grep -c '^Thread ' raw)" 12 "raw: these"
is "$(grep -c ' in UP_table ()' raw)" 12 "raw: renamed"
is "$(grep -c 'name "queue-N"' raw)" 12 "raw: grouped"
is "$(live perf --idle=only | grep -c ' wall:')" 12 "perf: idle threads"
is "$(live json --idle=only | grep -o '"filtered":[0-9]*' | sort | uniq -c | tr -s ' ')" \
	' 3 "filtered":6' "json: how many are left out"
is "$(live speedscope --focus update_table | grep -c '"type":"sampled"')" 4 \
	"speedscope: four threads"
stop_process "$target_pid"

# ---- what makes no sense ---------------------------------------------------------------

# refused OPTION VALUE PROBLEM
refused() {
	"$PMP" "$1" "$2" all.pb.gz >out 2>err
	is "$? $(head -1 err)" "2 pmp: option $1: '$2' is not $3" "refused: $1 $2"
}

refused --focus '(' 'a regular expression: missing closing parenthesis'
refused --ignore '' 'a regular expression: it is empty'
refused --hide 'a{65536}' 'a regular expression: number too big in {} quantifier'
refused --focus '\<a' 'a regular expression: it has \<: [[:<:]] is the beginning of a word, < the character'
refused --trim-root '(a)\1' 'a regular expression: it has a back-reference'
refused --hide-module '[a' 'a regular expression: missing terminating ] for character class'
refused --skip-module '((a{200}){200}){200}' 'a regular expression: regular expression is too large'
refused --lock-meaning 'x' 'a replacement: it does not begin with s/'
refused --rename-frame 'x' 'a replacement: it does not begin with s/'
refused --rename-frame 's/a' 'a replacement: a delimiter is missing'
refused --rename-frame 's/a/b' 'a replacement: a delimiter is missing'
refused --rename-frame 's/a/b/x' 'a replacement: its only flag is g'
refused --rename-frame 's//b/' 'a replacement: it is empty'
refused --rename-frame 's/a/\1/' 'a replacement: it has no group of that number'
refused --thread-group 's/(/b/' 'a replacement: missing closing parenthesis'
"$PMP" --idle=some all.pb.gz 2>err
like "$(cat err)" "'some' is not one of: show hide only" "refused: --idle some"

# ---- what would take too long --------------------------------------------------------------

costly='(((((.*)*)*)*)*)*[!?]'
gave_up="pmp: gave up matching '[^']*' with '\\(\\(\\(\\(\\(\\.\\*\\)\\*\\)\\*\\)\\*\\)\\*\\)\\*\\[!\\?\\]': it takes too many steps"
for option in focus ignore hide hide-module skip-module trim-root rename-frame thread-group; do
	case $option in
	rename-frame | thread-group) value="s/$costly/x/" ;;
	*) value=$costly ;;
	esac
	"$PMP" -f folded "--$option" "$value" all.pb.gz >out 2>err
	is "$? $(wc -c <out)" "1 0" "$option: too many steps end it, without anything written"
	like "$(cat err)" "$gave_up" "$option: which is said"
	is "$(grep -c 'gave up' err)" 1 "$option: once"
done

# A report that fails leaves the file that is there, and those that --keep would delete.
for extension in folded json pb.gz; do
	echo old >"kept.$extension"
	"$PMP" --focus "$costly" -o "kept.$extension" all.pb.gz 2>err
	is "$? $(cat "kept.$extension")" "1 old" "too many steps for a .$extension: the old file stays"
done
echo old >series-1.folded
"$PMP" --focus "$costly" --keep 1 -o series-%c.folded all.pb.gz 2>err
is "$(echo series-*)" series-1.folded "and so does one of a series, which gets no empty one"
start_target demo
echo old >kept.raw
"$PMP" -n 2 --focus "$costly" -o kept.raw -p "$target_pid" 2>err
is "$? $(cat kept.raw)" "1 old" "of snapshots that are sampled likewise"
"$PMP" -n 3 -F 20 -f folded --threads "$costly" -p "$target_pid" >out 2>err
is "$? $(grep -c 'gave up' err)" "1 1" "threads: which are wanted is not known: the end"
like "$(cat err)" "$gave_up" "threads: which is said"
stop_process "$target_pid"
"$PMP" -n 1 -f folded --name "$costly" >out 2>err
is "$? $(grep -c 'gave up' err)" "1 1" "name: likewise"
like "$(cat err)" "$gave_up" "name: which is said"

done_testing
