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
# shellcheck source=t/lib/serve-fetch.sh
. "$top_srcdir/t/lib/serve-fetch.sh"

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

# ---- a file that takes long to come ----

echo held >files/$id/debuginfo.hang
start_server slow --serve=0 --debuginfod -F 50 --max-cpu=100 -p "$work"
wait_for '[ "$(metric pmp_snapshots_total)" -ge 30 ]'
missed=$(metric pmp_missed_snapshots_total)
before=$(metric pmp_snapshots_total)
fetch page 'past/folded?seconds=1'
wait_for 'is_asked held' || diag "$(cat "$requests")"
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
rm files/$id/debuginfo.hang
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

ok "untouched $work" "the program was left as it was"
stop_process "$server"
done_testing
