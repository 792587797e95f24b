#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Configuration files: what a line may be, which of several wins, sections for targets,
# and files that are refused.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"

start_target sleeper 2
sleeper=$target_pid
start_target demo
demo=$target_pid

# snapshots FILE: of the main thread.
snapshots() {
	awk '/;main;/ { n += $NF } END { print n + 0 }' "$1"
}

# config LINE...: the file c.
config() {
	printf '%s\n' "$@" >c
}

# wrong MESSAGE LINE...: a file of these lines is refused, at the second line.
wrong() {
	message=$1
	shift
	config '# the first line' "$@"
	"$PMP" --config c -n 1 -f folded "$sleeper" >out 2>err
	is "$?" 2 "status of: $*"
	is "$(head -n 1 err)" "pmp: c:2: $message" "message of: $*"
	is "$(cat out)" "" "and nothing is done"
}

# Every way to write a line.
config '# comment' '' '   ' 'count 3' 'interval=10ms' 'quiet' 'format	=	folded' \
	'  max-cpu   =  0  # no limit' 'output = "a b#c # d.folded"   # where' 'by-thread # each'
"$PMP" --config c "$sleeper" 2>err
is "$?" 0 "a file with every kind of line"
is "$(cat err)" "" "quiet"
is "$(snapshots 'a b#c # d.folded')" 3 "it counts, and writes where it should"
like "$(cat 'a b#c # d.folded')" '^sleeper-[0-9/]+;sleeper;_start' "by-thread as well"
printf 'count 2\r\nformat folded\r\n' >c
"$PMP" --config c "$sleeper" >out
is "$(snapshots out)" 2 "lines that end as in DOS"
printf 'count 2\nformat folded' >c
"$PMP" --config c "$sleeper" >out
is "$(snapshots out)" 2 "no newline at the end"
: >c
"$PMP" --config c -n 1 -f folded "$sleeper" >out
is "$?" 0 "an empty file"

wrong "unknown option 'frequncy'" 'frequncy 3'
wrong "unknown option 'f'" 'f folded'
wrong "unknown option '--format'" '--format folded'
wrong "unknown option ''" '= 3'
wrong "'frequency' needs a value: HZ" 'frequency'
wrong "'frequency' needs a value: HZ" 'frequency ='
wrong "'quiet' takes no value" 'quiet yes'
wrong "option --frequency: 'often' is not a number of snapshots a second, at most 10000" 'frequency often'
wrong "option --threads: '(' is not a regular expression: missing closing parenthesis" 'threads ('
for option in 'pid 1' 'tid 1' 'name x' 'help' 'version' 'config x'; do
	wrong "'${option%% *}' is for the command line only" "$option"
done
wrong "'[mariadbd]' is not a section" '[mariadbd]' 'count 1'
wrong "'[name:]' is not a section" '[name:]'
wrong "'[name:x' is not a section" '[name:x'
wrong "'x(' is not a regular expression: missing closing parenthesis" '[name:x(]'
config '[name:no-such-program]' 'frequncy 3'
"$PMP" --config c -n 1 -f folded "$sleeper" >out 2>err
is "$?" 2 "a mistake in a section for others"
like "$(cat err)" "^pmp: c:2: unknown option 'frequncy'$" "is reported"
for line in "frequency often|option --frequency: 'often' is not a number of snapshots" \
	"stop some|option --stop: 'some' is not one of: auto all never" \
	"format nope|option --format: 'nope' is not one of: raw " \
	"output %q.svg|cannot understand the name '%q.svg' of the output" \
	"focus (|option --focus: '\(' is not a regular expression: " \
	"threads (a)\1|option --threads: '\(a\)[\]1' is not a regular expression: it has a "; do
	config 'quiet' '[name:no-such-program]' '' "${line%%|*}"
	"$PMP" --config c -n 1 -f folded "$sleeper" >out 2>err
	is "$?" 2 "a wrong value in a section for others: ${line%%|*}"
	like "$(cat err)" "^pmp: c:4: ${line#*|}" "is reported with its line"
	"$PMP" --config c -f folded -- true >out 2>err
	is "$?" 2 "likewise of a command"
	like "$(cat err)" "^pmp: c:4: ${line#*|}" "is reported"
done
config '[name:no-such-program]' 'threads ^x' 'rename-frame s/a/b/' 'output %n.svg' \
	'[name:sleeper]' 'count 2'
"$PMP" --config c -f folded "$sleeper" >out 2>err
is "$?" 0 "right values for others change nothing"
is "$(snapshots out)" 2 "not even the output"
wrong "'(a)\\1' is not a regular expression: it has a back-reference" '[name:(a)\1]'
config '# the first line' "[name:$(printf '%1022s' '' | tr ' ' x)]"
"$PMP" --config c -n 1 -f folded "$sleeper" >out 2>err
is "$?" 2 "an expression that is too long where all of the name has to match"
like "$(cat err)" "^pmp: c:2: 'x{256}[.]{3}' is not a regular expression: it is too long$" \
	"is reported"

# Sections.
config 'format folded' 'count 1' '[name:sleep]' 'count 2' '[name:sleeper]' 'count 3' \
	'[name:demo|mysqld]' 'count 4' 'threads ^demo$'
"$PMP" --config c "$sleeper" >out
is "$(snapshots out)" 3 "a section is for whole names, and over what is before it"
"$PMP" --config c "$demo" >out
is "$(awk '{ n += $NF } END { print n }' out)" 4 "alternatives; with what else it says"
"$PMP" --config c "$sleeper" "$demo" >out
is "$(awk '/^sleeper-[0-9]*;.*;main;/ { print $NF }' out)" 1 "of two together sections must mean both"
"$PMP" --config c "$sleeper" "$demo" 2>err >out
is "$(grep '^pmp:' err)" "pmp: the section [name:sleeper] is not used: it does not apply to demo ($demo)
pmp: the section [name:demo|mysqld] is not used: it does not apply to sleeper ($sleeper)" \
	"each section that is not used is named, with the process that it is not for"
like "$(cat err)" '^hint: with %p in the name of the output each process has a file and sections of its own$' \
	"and what to do"
"$PMP" --config c "$sleeper" "$demo" $$ 2>err >out
like "$(cat err)" "^pmp: the section .name:sleeper. is not used: it does not apply to [^ ]* \([0-9]+\) and 1 more$" \
	"or one of them"
"$PMP" --config c -q --log log "$sleeper" "$demo" 2>err >out
is "$(cat err)" "" "with -q it is not printed"
is "$(grep -c 'the section .* is not used' log)" 2 "but logged"
"$PMP" --config c -o 'y-%p.folded' "$sleeper" "$demo" 2>err
unlike "$(cat err)" 'the section' "nothing is reported where each process has a run of its own"
is "$(snapshots "y-$sleeper.folded")" 3 "a process with a run of its own has its section"
"$PMP" --config c -n 1 -o 'x-%p.folded' "$sleeper" "$demo"
is "$(snapshots "x-$sleeper.folded"),$(wc -l <"x-$demo.folded")" 1,1 "with a file each, each has its own"
config 'format folded' 'output gen.folded' '[name:true|sleep]' 'output cmd.folded'
"$PMP" -q --config c -- sleep 0.3
ok "[ -s cmd.folded ] && [ ! -e gen.folded ]" "of a command its base name counts"
config 'format folded' '[name:.*]' 'format json'
"$PMP" -q -n 1 --config c -o saved.pb.gz "$sleeper"
"$PMP" --config c saved.pb.gz >out
like "$(head -n 1 out)" '^sleeper;' "saved profiles have no section"

# Who wins.
config 'count 2' 'format folded'
"$PMP" --config c -n 3 "$sleeper" >out
is "$(snapshots out)" 3 "the command line wins"
PMP_OPTS='-n 4' "$PMP" --config c "$sleeper" >out
is "$(snapshots out)" 4 "so does PMP_OPTS"
PMP_OPTS='-n 4' "$PMP" --config c -n 1 "$sleeper" >out
is "$(snapshots out)" 1 "the command line over both"
PMP_CONFIG=c "$PMP" "$sleeper" >out
is "$(snapshots out)" 2 "PMP_CONFIG names the file"
PMP_CONFIG=/dev/null "$PMP" -n 1 -f folded "$sleeper" >out
is "$(snapshots out)" 1 "or none"
config 'count 5' 'format folded'
PMP_CONFIG=nowhere "$PMP" --config c "$sleeper" >out
is "$(snapshots out)" 5 "--config is over PMP_CONFIG"
"$PMP" --config c -n 1 -o by-name.svg "$sleeper"
like "$(cat by-name.svg)" '<svg' "a name on the command line chooses its format itself"
"$PMP" --config c -n 1 -o by-name.out "$sleeper"
like "$(cat by-name.out)" '^sleeper;' "if it can"
config 'count 1' 'format folded'
PMP_OPTS='-f raw' "$PMP" --config c -o by-name.json "$sleeper"
like "$(cat by-name.json)" '^[{]"snapshot":1,' "over the format of PMP_OPTS as well"
PMP_OPTS='-o env.json' "$PMP" --config c "$sleeper"
like "$(cat env.json)" '^[{]"snapshot":1,' "a name in PMP_OPTS over the format of a configuration"
PMP_OPTS='-o env.json' "$PMP" --config c -o over.out "$sleeper"
like "$(cat over.out)" '^sleeper;' "a name that another one is over chooses nothing"
PMP_OPTS='-f raw -o env.json' "$PMP" --config c "$sleeper"
like "$(cat env.json)" '^--- snapshot 1:' "a format in PMP_OPTS over the name beside it"
config 'count 1' 'locks check'
"$PMP" --config c "$sleeper" >out 2>err
is "$?,$(cat out)" "0," "locks check in a configuration"
"$PMP" --config c -f json "$sleeper" >out
like "$(cat out)" '^[{]"snapshot":1,' "it is no more than a format, which -f is over"
"$PMP" --config c --raw "$sleeper" >out
like "$(cat out)" '^--- snapshot 1:' "and --raw"
"$PMP" --config c --locks "$sleeper" >out
like "$(cat out)" '^No deadlock' "and --locks"
"$PMP" --config c -o by-name.json "$sleeper"
like "$(cat by-name.json)" '^[{]"snapshot":1,' "and the name of the output"
PMP_OPTS='-f json' "$PMP" --config c "$sleeper" >out
like "$(cat out)" '^[{]"snapshot":1,' "and PMP_OPTS"
PMP_OPTS='-n 1 --locks=check' "$PMP" -f json "$sleeper" >out
like "$(cat out)" '^[{]"snapshot":1,' "also --locks=check in PMP_OPTS"
config 'count 1' 'locks check' 'format folded' 'raw' '[name:sleeper]' 'format json'
"$PMP" --config c "$sleeper" >out
like "$(cat out)" '^[{]"snapshot":1,' "of several formats in a configuration the last one counts"
"$PMP" --config c --locks=check "$sleeper" >out 2>err
is "$?,$(cat out)" "0," "--locks=check is over them"
config 'count 1' 'output conf.folded'
"$PMP" --config c -o - "$sleeper" >out
ok "[ -s out ] && [ ! -e conf.folded ]" "-o - is standard output again"

mkdir -p home/.config/pmp xdg/pmp
echo 'count 2' >home/.config/pmp/config
echo 'count 3' >xdg/pmp/config
env -u PMP_CONFIG -u XDG_CONFIG_HOME HOME="$tmp/home" "$PMP" -f folded "$sleeper" >out
is "$(snapshots out)" 2 "in the home directory"
env -u PMP_CONFIG XDG_CONFIG_HOME="$tmp/xdg" HOME="$tmp/home" "$PMP" -f folded "$sleeper" >out
is "$(snapshots out)" 3 "\$XDG_CONFIG_HOME/pmp/config"
env -u PMP_CONFIG XDG_CONFIG_HOME="$tmp/nowhere" "$PMP" -n 1 -f folded "$sleeper" >out
is "$?" 0 "neither is needed"
if [ "$(id -u)" -eq 0 ]; then
	chmod 755 "$tmp"
	cp -r home others && chown -R 65534 others
	env -u PMP_CONFIG -u XDG_CONFIG_HOME HOME="$tmp/others" "$PMP" -n 1 -f folded "$sleeper" >out 2>err
	is "$?,$(cat err)" "0," "HOME of another user does not hold up root"
	is "$(snapshots out)" 1 "nor is it believed"
	env -u PMP_CONFIG XDG_CONFIG_HOME="$tmp/others/new" HOME="$tmp/home" "$PMP" -n 1 -f folded "$sleeper" >out
	is "$(snapshots out)" 1 "XDG_CONFIG_HOME in the home of another user counts for nothing"
	env -u PMP_CONFIG XDG_CONFIG_HOME="$tmp/others/.config" "$PMP" -n 1 -f folded "$sleeper" >out 2>err
	is "$?" 0 "XDG_CONFIG_HOME of another user does not hold up root"
else
	skip "needs root"
fi
if [ "$(id -u)" -eq 0 ] && unshare -m true 2>/dev/null; then
	# shellcheck disable=SC2016
	unshare -m sh -c '
		mkdir etc && cp /etc/passwd /etc/group etc && mount --bind etc /etc || exit 99
		printf "%s\n" "count 4" "format folded" "[name:sleeper]" "max-cpu 0" >/etc/pmp.conf
		unset PMP_CONFIG
		XDG_CONFIG_HOME=$PWD/nowhere "$1" "$2" >system
		XDG_CONFIG_HOME=$PWD/xdg "$1" "$2" >both' sh "$PMP" "$sleeper"
	is "$(snapshots system)" 4 "/etc/pmp.conf"
	is "$(snapshots both)" 3 "the user's file is over it"
else
	skip "needs root and mount namespaces"
fi

# Files that are not believed.
config 'count 1' 'format folded'
for mode in 602 666 646; do
	chmod "$mode" c
	"$PMP" --config c "$sleeper" >out 2>err
	is "$?" 2 "mode $mode"
	like "$(cat err)" '^pmp: refusing c: others may write to it$' "is refused"
done
chmod 600 c
if [ "$(id -u)" -eq 0 ]; then
	chown 65534 c
	"$PMP" --config c "$sleeper" >out 2>err
	is "$?" 2 "root does not believe somebody else's file"
	like "$(cat err)" '^hint: chown root c; chmod go-w c$' "the hint"
	chown 0:65534 c
	chmod 660 c
	"$PMP" --config c "$sleeper" >out 2>err
	is "$?" 2 "nor what a group may write"
	chown 0:0 c
	chmod 600 c
	if python3 "$top_srcdir/t/lib/acl.py" 65534 c 2>err; then
		"$PMP" --config c "$sleeper" >out 2>err
		is "$?" 2 "nor what a user in its access control list may write"
	else
		skip "no access control lists: $(tail -n 1 err)"
	fi
	rm c
else
	skip "needs root"
fi
printf 'count 1\nlog "x\n' >c
"$PMP" --config c "$sleeper" 2>err
is "$(cat err)" "pmp: c:2: 'log': a quotation mark is missing" "an open quotation mark"
ok '[ ! -e "\"x" ]' "no file has it in its name"
"$PMP" --config nowhere "$sleeper" 2>err
is "$?" 2 "no such file"
is "$(cat err)" "pmp: cannot read nowhere: No such file or directory" "its message"
"$PMP" --config . "$sleeper" 2>err
is "$(cat err)" "pmp: cannot read .: it is not a regular file" "a directory"
printf 'count 1\n\0format folded\n' >c
"$PMP" --config c "$sleeper" 2>err
is "$(cat err)" "pmp: cannot read c: it is not text" "no text"
head -c 2000000 /dev/zero >c
"$PMP" --config c "$sleeper" 2>err
is "$(cat err)" "pmp: cannot read c: it has more than 1048576 bytes" "too large"
mkfifo pipe
"$PMP" --config pipe "$sleeper" 2>err
is "$?" 2 "a pipe does not hold it up"

# What is only wrong together.
for args in '--keep 3 -o x.folded' '--keep 3' '--keep 3 -o %t/x.folded' '--every 1 saved.pb.gz' \
	'-o %c/x.folded' '--every 1ms' '--keep 0 -o %t.folded' '--max-wall 1ms'; do
	[ "${args%saved*}" != "$args" ] || args="$args $sleeper"
	# shellcheck disable=SC2086
	timeout 10 "$PMP" $args >out 2>err
	is "$?" 2 "refused: $args"
done

# Two formats in PMP_OPTS exclude each other as well, unless the command line names one.
PMP_OPTS='-f json --raw' "$PMP" -n 1 "$sleeper" >out 2>err
is "$?" 2 "two formats in PMP_OPTS: status 2"
like "$(cat err)" '^pmp: -f json and --raw exclude each other$' "which is said"
PMP_OPTS='-f json --raw' "$PMP" -q -n 1 -o y.folded "$sleeper"
is "$?" 0 "the name of a file is given later"
like "$(cat y.folded)" '^sleeper;' "it counts"

# What means nothing in this run, or is against what is given later, does not end it.
"$PMP" -q -n 1 -o saved.pb.gz "$sleeper"
# standing LINE ARG...: with this line the arguments do what they do without it.
standing() {
	line=$1
	shift
	config "$line"
	"$PMP" -q --config c "$@" >out 2>err </dev/null
	is "$?,$(grep '^pmp:' err)" "0," "'$line' with: $*"
	PMP_OPTS="--$(echo "$line" | sed 's/ /=/')" "$PMP" -q "$@" >out 2>err </dev/null
	is "$?,$(grep '^pmp:' err)" "0," "of PMP_OPTS as well"
}
for line in 'serve-token /nowhere' 'serve-host db1.lan' 'serve-no-cmdline' on-demand 'history 30m' \
	heap-only heap-mmap 'heap-stack 128K' 'heap-age 10m' 'keep 10'; do
	standing "$line" -n 1 -f folded "$sleeper"
	like "$(cat out)" '^sleeper;' "and it samples"
	[ "$line" = 'heap-age 10m' ] || standing "$line" -f folded saved.pb.gz
done
for line in serve heap 'every 10m'; do
	standing "$line" -f folded saved.pb.gz
	like "$(cat out)" '^sleeper;' "and the file is read"
done
standing serve -n 1 -f folded "$sleeper"
standing serve --diff saved.pb.gz -n 1 "$sleeper"
standing 'keep 10' -n 1 -o plain.folded "$sleeper"
for line in 'output there.folded' 'every 10m' 'diff saved.pb.gz' serve; do
	standing "$line" --locks=check "$sleeper"
	is "$(cat out),$(ls there* 2>/dev/null)" "," "and nothing is written"
done
standing 'locks check' -n 1 -o y.out "$sleeper"
like "$(cat y.out)" '^No deadlock' "and it is written what locks alone would write"
standing 'locks check' -- true
standing 'sample-type cpu' --heap -- true
for line in 'every 10m' on-demand 'format pprof' 'locks check' 'output -'; do
	standing "$line" -q --serve=unix:sock -n 1 "$sleeper"
done
standing 'output there.folded' -q --serve=unix:sock --on-demand -n 1 "$sleeper"
is "$(ls there* 2>/dev/null)" "" "and there is no file"
standing on-demand -q --serve=unix:sock -o x.folded -n 1 "$sleeper"
# A format that cannot show what is asked for later, and the reverse.
for line in 'format raw' 'format json' locks 'locks check'; do
	standing "$line" --heap --heap-only -- true
	standing "$line" --heap --sample-type inuse_space -- true
done
for format in raw locks; do
	standing heap-only --heap -f "$format" -o y.out -- true
	ok '[ -s y.out ]' "and it is written as $format"
	standing 'sample-type inuse_space' --heap -f "$format" -o y.out -- true
done
standing 'format memory' -n 1 "$sleeper"
like "$(cat out)" '^--- snapshot 1:' "and the format is that without it"
standing 'format objects' -n 1 -t "$sleeper"
standing 'format objects' -- true
standing 'format objects' saved.pb.gz
standing 'format growth' saved.pb.gz
standing 'format json' --diff saved.pb.gz -n 1 "$sleeper"
standing 'diff saved.pb.gz' -f json -n 1 "$sleeper"
like "$(cat out)" '^[{]"snapshot":1,' "and nothing is compared"
standing serve -o - -n 1 "$sleeper"
like "$(cat out)" '^--- snapshot 1:' "and nothing is served"
standing serve --every 1 -o y-%c.folded -n 1 "$sleeper"
config 'format json' 'diff saved.pb.gz'
"$PMP" --config c -n 1 "$sleeper" >out 2>err
is "$?" 2 "a format and a base that exclude each other in one configuration"
like "$(cat err)" '^pmp: the format json cannot compare profiles$' "its message"
config 'serve unix:sock' 'diff saved.pb.gz'
"$PMP" --config c -n 1 "$sleeper" >out 2>err
is "$?" 2 "so do a server and a base"
like "$(cat err)" '^pmp: --serve serves running processes: --diff and saved profiles exclude it$' \
	"its message"
for args in '--heap --heap-only -f raw -- true' "-f memory $sleeper" '-f objects -- true' \
	"--diff saved.pb.gz -f json $sleeper"; do
	# shellcheck disable=SC2086
	"$PMP" $args >out 2>err
	is "$?" 2 "on the command line they are refused: $args"
done
config 'locks check' 'serve unix:sock' 'count 1'
"$PMP" -q --config c "$sleeper"
is "$?" 0 "a server is over --locks=check beside it"
config 'keep 10' 'output plain.folded'
"$PMP" --config c "$sleeper" >out 2>err
is "$?" 2 "what is wrong together in one configuration is still refused"
like "$(cat err)" '^pmp: --keep needs a name with a time' "its message"
config 'keep 2' 'output k-%c.folded' 'count 1' 'serve-token nowhere'
for _ in 1 2 3; do
	"$PMP" --config c "$sleeper"
done
is "$(ls k-*)" "k-2.folded
k-3.folded" "what means something is used"
for args in '--history 30m' '--serve-host x' '--heap-age 1m' '--keep 3'; do
	# shellcheck disable=SC2086
	"$PMP" $args -n 1 -f folded "$sleeper" 2>err
	is "$?" 2 "on the command line it is refused: $args"
done

# A log from PMP_OPTS hears of it, too, though these words are read again with the
# sections. Freed memory is filled here, and not used again; a sanitizer sees to that
# itself, and loads before anything else.
cat >fill.c <<'END'
#include <malloc.h>
#include <string.h>
void free(void *memory)
{
	if (memory)
		memset(memory, 'x', malloc_usable_size(memory));
}
END
config '[name:sleeper]' 'debuginfod'
if ${CC:-cc} -O2 -shared -fPIC -o fill.so fill.c 2>cc.log; then
	case ${CFLAGS:-} in
	*-fsanitize*) preload= ;;
	*) preload=$tmp/fill.so ;;
	esac
	mkdir freed
	(
		cd freed && PMP_OPTS='--log log' LD_PRELOAD=$preload \
			"$PMP" --config ../c -n 1 -o x.folded "$sleeper" 2>../err
	)
	is "$?" 2 "a section that makes a check fail, and a log in PMP_OPTS: status"
	like "$(cat freed/log)" ': --debuginfod needs servers' \
		"a check that fails is in the log of PMP_OPTS"
	is "$(ls freed)" log "a check that fails makes no other file"
else
	skip "cannot compile fill.so"
fi

# The examples are right.
sed "s|/var/log/pmp/|$tmp/|" "$top_srcdir/man/examples/pmp.conf" >c
"$PMP" --config c -n 1 -f folded "$sleeper" >out
is "$?" 0 "pmp.conf"
if command -v systemd-analyze >/dev/null; then
	for file in "$top_srcdir"/man/examples/*.service "$top_srcdir"/man/examples/*.timer; do
		sed "s|/usr/local/bin/pmp|$PMP|" "$file" >"${file##*/}"
	done
	for file in *.service *.timer; do
		is "$(systemd-analyze verify --man=no "./$file" 2>&1)" "" "systemd finds no fault with $file"
	done
else
	skip "no systemd-analyze"
fi
for file in "$top_srcdir"/man/examples/*.service "$top_srcdir"/man/examples/pmp.cron; do
	line=$(sed -n -e 's/^ExecStart=//p' -e 's/^[*].* root //p' "$file" |
		sed -e 's/%%/%/g' -e 's/\$\$/$/g' -e 's/\\%/%/g' -e "s|[^ ]*pmp -q|-q|" \
			-e 's/mariadbd\|%i/no-such-program/g' -e 's/--user mysql/--user root/' -e "s|/var/log/pmp/|$tmp/|g")
	# shellcheck disable=SC2034 # the units' variables
	TARGET_USER=root LISTEN=127.0.0.1:0
	eval "timeout 10 \"\$PMP\" $line" 2>err
	is "$?,$(cat err)" "3," "the command of ${file##*/} is right"
done

done_testing
