#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# --serve with --debuginfod: what ends while a file is fetched, the sampler or pmp itself, does
# not wait for it.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"
# shellcheck source=t/lib/serve.sh
. "$top_srcdir/t/lib/serve.sh"
# shellcheck source=t/lib/writers.sh
. "$top_srcdir/t/lib/writers.sh"
# shellcheck source=t/lib/debuginfod.sh
. "$top_srcdir/t/lib/debuginfod.sh"
# shellcheck source=t/lib/held.sh
. "$top_srcdir/t/lib/held.sh"
# shellcheck source=t/lib/serve-fetch.sh
. "$top_srcdir/t/lib/serve-fetch.sh"

# ---- the sampler dies meanwhile ----

again silent
start_target sleeper 200
culprit=$target_pid
start_server dies --serve=0 --debuginfod -F 10000 --stop=all --max-cpu=100 --max-stop=1h \
	-p "$work,$culprit"
fetch page 'past/folded?seconds=1'
wait_for 'is_asked hang'
sampling "$server_pid"
sampler=$test_sampler
# What it holds threads of is what it dies on.
catch "$culprit" stop_sampler 'kill -CONT $sampler'
kill -KILL "$sampler"
ok "wait_for \"grep -q 'at work on $culprit (sleeper): the others are sampled without it' dies.err\" 5" \
	"the sampler dies while a file is fetched" || diag "$(cat dies.err)"
ok 'sampling "$server_pid"' "another one samples at once"
is "$(cat page.status)" "" "the page still waits" || diag "$(cat page)"
end_server
is $? 1 "the status says that a target was lost"
join
stop_process "$culprit"

# ---- the end, with a file to write ----

# write_file NAME HOW: a server with a file, whose page waits for a file that hangs so
write_file() {
	again "$2"
	start_server "$1" --serve=0 -f folded -o "$1.folded" --debuginfod -F 50 -p "$work"
	fetch page 'past/folded?seconds=1'
	wait_for "grep -q '/$id/debuginfo' '$requests'"
}

# ends NAME: by TERM, in $took ms
ends() {
	begin=$(date +%s%N)
	kill -TERM "$server_pid"
	wait "$server_pid"
	is $? 143 "$1: pmp ends as by a signal"
	took=$((($(date +%s%N) - begin) / 1000000))
	join
}

write_file coming slow
# The file has 3 s left to come.
before=$(metric pmp_snapshots_total)
wait_for '[ "$(metric pmp_snapshots_total)" -ge $((before + 100)) ]'
ends "a file that comes soon after a signal"
like "$(cat coming.folded)" ';main;hidden_work' "what is written has its names"
like "$(cat page)" ';main;hidden_work' "so has the page"

write_file never silent
ends "one that never comes"
ok "[ $took -lt 9000 ]" "it is not waited for for long: $took ms"
like "$(cat never.folded)" ';\[work\+0x' "what there is is written"
like "$(cat never.err)" 'no debug files are fetched any more: interrupted' "which is said"

# Nobody has asked for names by then.
again silent
start_server late --serve=0 -f folded -o late.folded --debuginfod -F 50 -p "$work"
sampling "$server_pid"
ends "a file that is asked for after the signal"
ok "[ $took -lt 9000 ]" "nor is that: $took ms"
ok "is_asked hang" "it was asked for"
like "$(cat late.folded)" ';\[work\+0x' "what there is is written"

write_file twice silent
sampling "$server_pid"
kill -STOP "$test_sampler"
kill -TERM "$server_pid"
# Two within 50 ms are one.
sleep 0.1
ends "a second signal"
ok "[ $took -lt 1000 ]" "it ends pmp at once: $took ms"
ok "[ ! -e twice.folded ]" "and no file is written"

ok "untouched $work" "the program was left as it was"
stop_process "$server"
done_testing
