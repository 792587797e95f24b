#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Command lines that make no sense: each is refused with status 2 and says what is
# wrong and what to write instead; and those that make sense are accepted.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"

# refused MESSAGE HINT ARG...: status 2, exactly that on stderr, nothing on stdout.
refused() {
	message=$1 hint=$2
	shift 2
	"$PMP" "$@" >out 2>err </dev/null
	is "$?" 2 "status of: $*"
	want="pmp: $message"
	[ -z "$hint" ] || want="$want
hint: $hint"
	is "$(cat err)" "$want" "message of: $*"
	is "$(cat out)" "" "nothing on stdout: $*"
}

needs_pid="option -p needs a process id (is the program running?)"
pid_hint="for example -p 4100, or by name --name '^mariadbd\$'"
number="a process id, a number from 1 to 4194304"
refused "$needs_pid" "" -p ""
refused "$needs_pid" "" -p --raw
refused "$needs_pid" "" --raw -p
refused "$needs_pid" "" --pid
refused "option -t needs a thread id (is the program running?)" "" -t ""
refused "option --pid: '0' is not $number" "$pid_hint" -p 0
refused "option --pid: '-1' is not $number" "$pid_hint" -p -1
refused "option --pid: '12x' is not $number" "$pid_hint" -p 12x
refused "option --pid: '1,,2' is not $number" "$pid_hint" -p 1,,2
refused "option --pid: '99999999999999999999' is not $number" "$pid_hint" -p 99999999999999999999
refused "option --pid: '4194305' is not $number" "$pid_hint" 4194305

whole="a whole number from 1 to 1000000000"
refused "option --count: '0' is not $whole" "for example -n 100" -n 0 1
refused "option --count: '-3' is not $whole" "for example -n 100" -n -3 1
refused "option --count: '1.5' is not $whole" "for example -n 100" --count=1.5 1
refused "option --count: '' is not $whole" "for example -n 100" -n "" 1
refused "option --count: '18446744073709551616' is not $whole" "for example -n 100" \
	-n 18446744073709551616 1
hertz="a number of snapshots a second, at most 10000"
refused "option --frequency: '0' is not $hertz" "for example -F 10" -F 0 1
refused "option --frequency: '100000' is not $hertz" "for example -F 10" -F 100000 1
refused "option --frequency: '10Hz' is not $hertz" "for example -F 10" -F 10Hz 1
time="a time from 100us to a year"
refused "option --interval: '1us' is not $time" "for example -i 1, -i 10ms or -i 1m" -i 1us 1
refused "option --duration: '5y' is not $time" "for example -d 10, -d 500ms or -d 1m" -d 5y 1
refused "option --duration: '1.' is not $time" "for example -d 10, -d 500ms or -d 1m" -d 1. 1
refused "option --duration: '99999999999999999999999h' is not $time" \
	"for example -d 10, -d 500ms or -d 1m" -d 99999999999999999999999h 1
refused "option --max-frames: '65537' is not a whole number from 1 to 65536" \
	"for example --max-frames 512" --max-frames 65537 1
refused "option --stop: 'some' is not one of: auto all never" "" --stop=some 1
refused "option --unwind: 'cf' is not one of: auto cfi fp" "" --unwind cf 1
refused "option --locks: 'chec' is not the word check, and there is no other" \
	"for example --locks, or --locks=check" --locks=chec 1
refused "option --locks: '' is not the word check, and there is no other" \
	"for example --locks, or --locks=check" --locks= 1
writes_nothing="--locks=check writes nothing: -f, -o, --every and --diff exclude it"
writes="pmp --locks -o FILE writes who waits for whom"
refused "$writes_nothing" "$writes" --locks=check -o there.locks 1
refused "$writes_nothing" "$writes" --locks=check -f json 1
refused "$writes_nothing" "$writes" --locks=check --diff before.pb.gz 1
refused "$writes_nothing" "$writes" -f json --locks=check 1
refused "$writes_nothing" "$writes" --locks=check --raw 1
waits="json and raw say what each thread waits for as well; with --peers also of other processes"
refused "--locks and -f json exclude each other" "$waits" --locks -f json 1
refused "-f svg and --locks exclude each other" "$waits" -f svg --locks 1
refused "--raw and --locks exclude each other" "$waits" --raw --locks 1
refused "--raw and -f json exclude each other" "give one of the two" --raw --format=json 1
refused "-f pmp and --raw exclude each other" "give one of the two" -f folded -f pmp --raw 1
refused "--locks=check ends with a status of its own, and so does a command" \
	"start it, then pmp --locks=check -p PID" --locks=check -- true
refused "option --threads: '(' is not a regular expression: missing closing parenthesis" \
	"for example --threads '^conn'" --threads '(' 1

formats=$("$PMP" --help | sed -n '/^Formats:/,/^$/s/^  \([a-z]*\) .*/\1/p' | paste -sd ' ')
refused "option --format: 'nope' is not one of: $formats" "" -f nope 1
refused "cannot tell the format from the name 'x.foo'" \
	"name it with -f, one of: $formats" -o x.foo 1
refused "cannot understand the name '%q.txt' of the output" \
	"%p is the pid, %n the name, %t the time, %c a counter, %% a %" -o %q.txt 1
refused "option --output: '' is not a value" "for example -o profile.folded" -o "" 1

refused "unknown option --bogus" "see pmp --help" --bogus
refused "unknown option -Z" "see pmp --help" -Z
refused "option --raw takes no value" "see pmp --help" --raw=3 1
refused "option --format needs a value: FORMAT" "see pmp --help" 1 -f
refused "cannot open saved.pb.gz: No such file or directory" \
	"to profile a process: pmp -p PID; a command: pmp -- COMMAND" saved.pb.gz
refused "nothing to profile: no process given" \
	"pmp -p PID, pmp --name REGEX, pmp -- COMMAND or pmp FILE; see pmp --help"
for args in '-d 4100' '-d4100' '--duration=4100' '-n 5 -d 4100' '-d 4100 -q'; do
	hint="pmp -p PID, pmp --name REGEX, pmp -- COMMAND or pmp FILE; see pmp --help"
	[ "${args% 4100}" = "$args" ] ||
		hint="4100 is the value of --duration here; if it is a process: pmp --duration TIME -p 4100"
	# shellcheck disable=SC2086
	refused "nothing to profile: no process given" "$hint" $args
done
refused "nothing to profile: no process given" \
	"4100 is the value of --interval here; if it is a process: pmp --interval TIME -p 4100" -i 4100
refused "give processes, a command or files, not several of these" \
	"see pmp --help" -p 1 -- true
refused "give processes, a command or files, not several of these" \
	"'saved.pb.gz' is taken for a saved profile or a core file" -p 1 saved.pb.gz
refused "nothing to profile: no process given" \
	"saved.pb.gz is the base; what is compared with it comes next: a file, or -p PID" \
	--diff saved.pb.gz
refused "option --name: '(' is not a regular expression: missing closing parenthesis" \
	"for example --name '^mariadbd$'" --name '('
long=$(printf '%1025s' '' | tr ' ' x)
refused "option --focus: '$(printf %.256s "$long")...' is not a regular expression: it is too long" \
	"for example --focus '^do_command'" --focus "$long" 1
# What is refused with filters.
for option in threads not-threads name; do
	case $option in
	threads) example='^conn' ;;
	not-threads) example='^idle' ;;
	name) example='^mariadbd$' ;;
	esac
	wrong="is not a regular expression:"
	refused "option --$option: '(a)\1' $wrong it has a back-reference" \
		"for example --$option '$example'" "--$option" '(a)\1' 1
	refused "option --$option: '((a{200}){200}){200}' $wrong regular expression is too large" \
		"for example --$option '$example'" "--$option" '((a{200}){200}){200}' 1
done
refused "unknown option -$(printf '\\x1b')" "see pmp --help" "-$(printf '\033')"

refused "option --serve takes its value after '=': --serve=0" "" --serve 0 -p 1
refused "option --serve takes its value after '=': --serve=127.0.0.1:0" "" --serve 127.0.0.1:0 -p 1
refused "option --heap takes its value after '=': --heap=512K" "" --heap 512K -- true
refused "option --locks takes its value after '=': --locks=check" "" --locks check 1

export PMP_OPTS
# shellcheck disable=SC2089,SC2090 # quotes are meant literally: pmp splits it
PMP_OPTS="--raw 'x"
refused "cannot understand PMP_OPTS: a quotation mark is missing" "" 1
PMP_OPTS="12"
refused "PMP_OPTS: '12' is not an option" "" 1
PMP_OPTS="-q --name mariadbd"
refused "PMP_OPTS: '--name' is for the command line only" "" 1
PMP_OPTS="-- true"
refused "PMP_OPTS: 'true' is not an option" "" 1
PMP_OPTS="--raw --nonsense"
refused "PMP_OPTS: unknown option --nonsense" "see pmp --help" 1
PMP_OPTS="-n 7 -n 0"
refused "PMP_OPTS: option --count: '0' is not $whole" "for example -n 100" 1
unset PMP_OPTS

is "$("$PMP" --help >out 2>err; echo $?)$(cat err)" 0 "--help"
like "$(cat out)" '^  -p, --pid PID' "--help lists options"
like "$("$PMP" -V)" '^pmp [0-9]' "-V"
"$PMP" --help >/dev/full 2>err
is "$?" 5 "--help on a full disk"

start_target sleeper 2
is "$("$PMP" -f folded -n 3 -i 1ms "$target_pid" 2>&1 >out; echo $?)" 0 "short options and a bare pid"
is "$(awk '{ n += $NF } END { print n }' out)" 9 "three snapshots of three threads"
PMP_OPTS="-f folded -n 2 --threads 'worker-[1-9]' -i \"1ms\"" "$PMP" -q -p "$target_pid" >out
is "$(awk '{ n += $NF } END { print n }' out)" 4 "PMP_OPTS counts"
PMP_OPTS="-f folded -n 2" "$PMP" -q -n 3 -i 1ms -p "$target_pid" >out
is "$(awk '{ n += $NF } END { print n }' out)" 9 "the command line wins over PMP_OPTS"
"$PMP" -q -f folded -n 2 -i 1ms --not-threads '^worker' -p "$target_pid" >out
is "$(awk '{ n += $NF } END { print n }' out)" 2 "--not-threads"
tid=$(for task in /proc/"$target_pid"/task/*; do echo "${task##*/}"; done | sed -n 2p)
"$PMP" -q -f folded -n 2 -i 1ms -t "$tid" >out
is "$(awk '{ n += $NF } END { print n }' out)" 2 "-t finds the process and takes one thread"
"$PMP" -q -f folded -d 500ms -F 20 -p "$target_pid" >out
is "$(awk '{ n += $NF } END { print n <= 30 && n >= 9 }' out)" 1 "-d and -F: ten snapshots at most"
for name in x.folded x.txt; do
	"$PMP" -q -n 1 -o "$name" -p "$target_pid"
done
like "$(cat x.folded)" '^sleeper.* [0-9]+$' ".folded"
like "$(cat x.txt)" '^#0 ' ".txt is raw"
"$PMP" -q -n 1 -o '%n-%p-%c.folded' -p "$target_pid"
"$PMP" -q -n 1 -o '%n-%p-%c.folded' -p "$target_pid"
ok "[ -s sleeper-$target_pid-1.folded -a -s sleeper-$target_pid-2.folded ]" "names are expanded"

# Of the test itself, a process that nothing is done to: its thread is not one of the target.
"$PMP" -f folded -n 2 -i 1ms -t "$tid" -p $$ >out 2>err
like "$(cat err)" "no thread given with -t is one of $$ \(" \
	"a process without any of the threads given"
like "$(cat out)" '^[^;]' "a process without any of the threads given: the others are profiled"

done_testing
