#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# --serve with --debuginfod: a page whose names have to be fetched first comes with them, and
# nothing else waits meanwhile: no sample, no other client, no page without names.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"
# shellcheck source=t/lib/serve.sh
. "$top_srcdir/t/lib/serve.sh"
# shellcheck source=t/lib/writers.sh
. "$top_srcdir/t/lib/writers.sh"
# shellcheck source=t/lib/debuginfod.sh
. "$top_srcdir/t/lib/debuginfod.sh"
need python3 objcopy strip
command -v debuginfod-find >/dev/null || skip_all "no debuginfod-find"

id=aabbccddeeff0011223366
cat >work.c <<'END_C'
#include <stdio.h>
#include <unistd.h>
volatile int sink;
static __attribute__((noinline)) void hidden_work(void)
{
	for (;;) {
		for (int i = 0; i < 1000000; i++)
			sink++;
		usleep(1000);
	}
}
int main(void)
{
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	hidden_work();
	return 0;
}
END_C
{
	${CC:-cc} -g -O1 -Wl,--build-id=0x$id -o whole work.c &&
		objcopy --only-keep-debug whole whole.debug && strip -o work whole
} 2>log || skip_all "no compiler: $(tail -n 1 log)"

HOME=$tmp
export HOME
mkdir -p files/$id
debuginfod_start
cp whole.debug files/$id/debuginfo
start_target "$tmp/work" || exit 99
work=$target_pid

# With a planted fault it is pmp-faulty that is judged.
[ -z "$PMP_JUDGE_FAULT" ] || PMP=$PMP_FAULTY
PMP_FAULT=$PMP_JUDGE_FAULT
export PMP_FAULT

# is_asked: the server knows that the debug file is wanted
is_asked() {
	grep -q "^$1 .*/$id/debuginfo" "$requests"
}

# healthz SECONDS: /healthz again and again; the longest, in ms
healthz() {
	python3 - "${url}healthz" "$1" <<'END_PY'
import sys
import time
import urllib.request

worst, end = 0.0, time.monotonic() + float(sys.argv[2])
while time.monotonic() < end:
    begin = time.monotonic()
    urllib.request.urlopen(sys.argv[1], timeout=60).read()
    worst = max(worst, time.monotonic() - begin)
    time.sleep(0.01)
print(round(worst * 1000))
END_PY
}

# ---- a file that takes 5 s to come ----

echo slow >files/$id/debuginfo.hang
start_server slow --serve=0 --debuginfod -F 50 --max-cpu=100 -p "$work"
wait_for '[ "$(metric pmp_snapshots_total)" -ge 30 ]'
missed=$(metric pmp_missed_snapshots_total)
before=$(metric pmp_snapshots_total)
fetch page 'past/folded?seconds=1'
wait_for 'is_asked slow' || diag "$(cat "$requests")"
fetch again 'past/folded?seconds=1'
fetch tree 'api/tree?nodes=100'
longest=$(healthz 3)
ok "[ $longest -lt 100 ]" "while a file is fetched /healthz is answered: at most $longest ms"
samples=$(($(metric pmp_snapshots_total) - before))
ok "[ $samples -ge 100 ]" "samples are taken: $samples in 3 s"
missed=$(($(metric pmp_missed_snapshots_total) - missed))
ok "[ $missed -le 8 ]" "and no ticks missed for it: $missed"
is "$(status "${url}api/state")" 200 "a page without names is answered"
is "$(status "${url}past/pmp?seconds=1" --max-time 0.2)" 000 "one that has names waits"
is "$(cat page.status)" "" "as does the first one"
join
is "$(cat page.status)" 200 "until the file has come"
like "$(cat page)" ';main;hidden_work' "it has the names"
like "$(cat again)" ';main;hidden_work' "so has the next one"
like "$(cat tree)" '"hidden_work"' "and one of another kind"
is "$(grep -c "/$id/debuginfo" "$requests")" 2 "the file was asked for once" ||
	diag "$(cat "$requests")"
begin=$(date +%s%N)
like "$(curl -s "${url}past/folded?seconds=1")" ';main;hidden_work' "later ones have them at once"
took=$((($(date +%s%N) - begin) / 1000000))
ok "[ $took -lt 1000 ]" "$took ms"
end_server
is $? 0 "the end is in order"

# ---- one that never comes ----

rm -rf cache
echo silent >files/$id/debuginfo.hang
DEBUGINFOD_TIMEOUT=1 start_server timeout --serve=0 --debuginfod -F 20 -p "$work"
fetch page 'past/folded?seconds=1'
wait_for 'is_asked hang'
join
is "$(cat page.status)" 200 "a file that does not come is waited for as long as DEBUGINFOD_TIMEOUT says"
like "$(cat page)" ';\[work\+0x' "then its names are missing"
like "$(cat timeout.err)" 'no debug files are fetched any more: no answer' "which is said"
end_server

rm -rf cache
: >"$requests"
start_server end --serve=0 --debuginfod -F 20 -p "$work"
fetch page 'past/folded?seconds=1'
wait_for 'is_asked hang'
begin=$(date +%s)
end_server
is $? 0 "a signal ends the waiting"
ok "[ $(($(date +%s) - begin)) -le 10 ]" "soon"
join
is "$(cat page.status)" 200 "with an answer"
like "$(cat page)" ';\[work\+0x' "that has what names there are"

rm -rf cache
: >"$requests"
start_server gone --serve=0 --debuginfod -F 20 -p "$work"
fetch page 'past/folded?seconds=1'
wait_for 'is_asked hang'
# shellcheck disable=SC2086
kill $clients
join 2>/dev/null
ok "wait_for '[ \"\$(metric pmp_windows)\" = 0 ]'" "a client that goes leaves nothing behind"
end_server
is $? 0 "an end without anybody who waits"

# again HOW: the server of files hangs so, and has been asked for nothing
again() {
	rm -rf cache
	: >"$requests"
	echo "$1" >files/$id/debuginfo.hang
}

# ---- the sampler dies meanwhile ----

if [ -x "$PMP_FAULTY" ]; then
	again silent
	# A thread that is late all the time is what the sampler dies on.
	start_process sh -c 'while :; do :; done'
	culprit=$target_pid
	good=$PMP
	PMP=$PMP_FAULTY
	PMP_FAULT=always-late,late-slow start_server dies --serve=0 --debuginfod -F 50 \
		--max-cpu=100 --max-stop=1h -p "$work,$culprit"
	PMP=$good
	fetch page 'past/folded?seconds=1'
	wait_for 'is_asked hang'
	sampling "$server_pid"
	kill -KILL "$test_sampler"
	ok "wait_for \"grep -q 'the others are sampled without it' dies.err\" 5" \
		"the sampler dies while a file is fetched" || diag "$(cat dies.err)"
	ok 'sampling "$server_pid"' "another one samples at once"
	is "$(cat page.status)" "" "the page still waits"
	end_server
	is $? 1 "the status says that a target was lost"
	join
	stop_process "$culprit"
else
	skip "no $PMP_FAULTY"
fi

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
