#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A file beside the server: what is served and what is written are counted apart.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"
# shellcheck source=t/lib/serve.sh
. "$top_srcdir/t/lib/serve.sh"

# counted FILE...: the stacks in folded text
counted() {
	awk '{ sum += $NF } END { print sum + 0 }' "$@"
}

start_target threads 3
served=$target_pid

# ---- a series of files ------------------------------------------------------------

"$PMP" --serve=0 -p "$served" -o 'files/%c.folded' --every 1s 2>err
is $? 5 "a folder that is not there ends it"
like "$(cat err)" '^pmp: cannot write files/0.folded: No such file or directory' "and is reported"
mkdir files
start_server series --serve=0 -F 20 -p "$served" -o 'files/%c.folded' --every 1s -v
wait_for "[ -s files/3.folded ]"
is "$(status "$url"past/svg?seconds=1)" 200 "the server serves while files are written"
like "$(cat body)" '<svg' "in the format that the client chose"
curl -s "$url"past/folded?seconds=600 >served.folded
end_server
is $? 0 "it ends in order"
like "$(cat files/1.folded)" '^threads;.* [0-9]+$' "the files have the format of their name"
in_files=$(counted files/*.folded)
in_past=$(counted served.folded)
ok "[ $in_past -gt 80 ]" "the server has counted from the beginning: $in_past stacks"
ok "[ $in_files -ge $in_past ]" "the files together have all of them: $in_files"
ok "[ $(counted files/2.folded) -lt $in_past ]" "each file has its own time only"

# ---- a disk that fails for a while -------------------------------------------------

mkdir away
start_server away --serve=0 -F 20 -p "$served" -o 'away/%c.folded' --every 1s
wait_for "[ -s away/1.folded ]"
rm -r away
wait_for "grep -q 'cannot write away' away.err"
is "$(status "$url"past/folded?seconds=1)" 200 "a file that fails: the server goes on"
mkdir away
wait_for "[ -n \"\$(ls away)\" ]"
end_server
is $? 5 "a file that fails: later ones are written, and the status says that one is missing"

# ---- one file ---------------------------------------------------------------------

start_server one --serve=0 -F 20 -p "$served" -o one.svg
wait_for "[ \$(status '$url'threads) = 200 ]"
kill -USR1 "$server_pid"
wait_for "[ -s one.svg ]"
like "$(cat one.svg)" '<svg' "USR1: the file so far"
rm one.svg
end_server
is $? 0 "one file: it ends in order"
like "$(cat one.svg)" '<svg' "one file: written at the end"

start_server binary --serve=0 -F 20 -p "$served" -f pprof -o one.out -d 1
wait "$server_pid"
is "$?" 0 "-f and -d are the file's"
is "$("$PMP" -f folded one.out | grep -c '^threads;')" 4 "it has all four threads"

# ---- what cannot be ---------------------------------------------------------------

# refuses ERE TEXT OPTION...
refuses() {
	expected=$1 text=$2
	shift 2
	"$PMP" --serve=0 -p "$served" "$@" 2>err
	is $? 2 "$text: status"
	like "$(cat err)" "$expected" "$text: message"
}
nowhere='--serve has no output but the file of -o: add -o FILE, or leave out -f, --raw and --every'
refuses "$nowhere" "-f without a file" -f folded
refuses "$nowhere" "--raw without a file" --raw
refuses "$nowhere" "--every without a file" --every 1s
refuses "$nowhere" "standard output" -o -
refuses '-o and --on-demand exclude each other' "-o with --on-demand" -o x.svg --on-demand
refuses '--diff and saved profiles exclude it' "--diff" --diff one.out
start_target threads 1
refuses 'all processes have one file, and x-%p.svg is one for each' "a file for each process" \
	-p "$target_pid" -o x-%p.svg
ok "[ ! -e x.svg ]" "and nothing has been written"
done_testing
