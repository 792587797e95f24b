#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What the page of --serve asks for: its files, and the state, the time line and the tree of
# calls as JSON. Their numbers are those of other formats for the same part of the past.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"
# shellcheck source=t/lib/serve.sh
. "$top_srcdir/t/lib/serve.sh"

need python3
need gzip
start_target contend 600
contend=$target_pid
start_target demo
demo=$target_pid
start_server first --serve=0 -F 20 -p "$contend,$demo"

# head URL: of the answer to GET
head_of() {
	curl -s -D - -o body "$@" | tr -d '\r'
}

# ---- files of the page ----------------------------------------------------------------

for file in html css js; do
	path=page.$file
	[ $file = html ] && path=
	head_of "$url$path" >heads
	sed -e 's/^"//' -e 's/\\n"$//' -e 's/\\\(.\)/\1/g' \
		"$top_builddir/libpmp/write/page-$file.h" >want
	is "$(cmp body want)" "" "/$path is the page's file"
	like "$(cat heads)" "^Content-Type: text/.*; charset=utf-8$" "its type"
	like "$(cat heads)" "^Content-Security-Policy: default-src 'none'; script-src 'self'; .*frame-ancestors 'none'$" \
		"it can reach the server alone"
	head_of -H 'Accept-Encoding: gzip' "$url$path" >heads
	like "$(cat heads)" "^Content-Encoding: gzip$" "compressed where that is taken"
	is "$(gzip -dc <body | cmp - want)" "" "it is the same"
	is "$(sed -n 's/^Content-Length: //p' heads)" "$(wc -c <body | tr -d ' ')" "its length"
done
is "$(curl -s --http1.0 "${url}page.js" | cmp - want)" "" "by HTTP/1.0 as well"
like "$(curl -sI -H 'Accept-Encoding: gzip' "${url}page.js" | tr -d '\r')" "^Content-Length: [0-9]+$" "HEAD"
unlike "$(curl -s "${url}debug/pprof/")" "/api/|page\.js" "the list of pages is for people"

# ---- state ---------------------------------------------------------------------------------

wait_for "curl -s ${url}api/timeline?from=0 >line && [ \$(grep -o '\[[0-9]' line | wc -l) -ge 4 ]"
sleep 1
curl -s "${url}api/state" >state
cat >check.py <<'END'
import json, sys
state = json.load(open("state"))
contend, demo = int(sys.argv[1]), int(sys.argv[2])
targets = {t["pid"]: t for t in state["targets"]}
print("targets:", sorted(targets) == sorted([contend, demo]))
print("names:", targets[contend]["name"], targets[demo]["name"])
print("command:", targets[contend]["command"].endswith("target/contend 600"))
print("threads:", targets[contend]["threads"], all(t["up"] for t in targets.values()))
print("rate:", state["rate"][0], 10 < state["rate"][1] < 21)
print("time:", 4000 < state["now"] < 120000, state["history"])
print("stops:", 0 < state["stops"]["p50"] <= state["stops"]["p99"] < 1,
      0 < state["stops"]["any"] < 0.5)
print("states:", *state["states"])
print("truncated:", state["truncated"], state["evicted"])
END
python3 check.py "$contend" "$demo" >seen
cat >want <<'END'
targets: True
names: contend demo
command: True
threads: 8 True
rate: 20 True
time: True 600
stops: True True
states: run ready lock disk sleep
truncated: 0 0
END
while read -r line; do
	is "$(grep "^${line%%:*}:" seen)" "$line" "state: ${line%%:*}"
done <want
curl -s "${url}pid/$demo/api/state" >state
is "$(python3 -c 'import json; print(*(t["name"] for t in json.load(open("state"))["targets"]))')" \
	demo "of one process"

# ---- time line --------------------------------------------------------------------------

curl -s "${url}api/timeline?from=0" >line
curl -s "${url}api/timeline?from=2000" >later
curl -s "${url}pid/$demo/api/timeline?from=0" >demo
threads=$((8 + $(find "/proc/$demo/task" -mindepth 1 -maxdepth 1 | wc -l)))
cat >check.py <<'END'
import json, sys
line, later, threads = json.load(open("line")), json.load(open("later")), int(sys.argv[1])
rows = [r for r in line["all"][1:] if r]
print("step:", line["step"], line["from"])
mean = sum(map(sum, rows)) / len(rows)
print("threads:", abs(mean - 1000 * threads) < 50 * threads or [sum(r) for r in rows])
print("lock:", sum(r[2] for r in rows) / len(rows) > 1000)
demo = [r for r in json.load(open("demo"))["all"][1:] if r]
print("one process:", abs(sum(map(sum, demo)) / len(demo) - 1000 * (threads - 8)) < 50 * threads)
print("later:", later["from"], later["all"][:2] == line["all"][2:4])
END
python3 check.py "$threads" >seen
cat >want <<'END'
step: 1000 0
threads: True
lock: True
one process: True
later: 2000 True
END
while read -r line; do
	is "$(grep "^${line%%:*}:" seen)" "$line" "time line: ${line%%:*}"
done <want
is "$(curl -s "${url}api/timeline?from=99999000" | tr -d '\n' | grep -o '"all".*')" '"all":[]}' \
	"of the future nothing is known"

# ---- tree ---------------------------------------------------------------------------------

cat >check.py <<'END'
import json, re, sys
answer = json.load(open("tree"))
tree, stacks = answer["tree"], {}
def column(name):
    out = []
    for n in tree.get(name) or []:
        out += [0] * -n if n < 0 else [n]
    return out + [0] * (len(tree["depth"]) - len(out))
samples, path = column("samples"), []
for i, depth in enumerate(tree["depth"]):
    path[depth:] = [tree["names"][tree["name"][i]]]
    if samples[i]:
        stack = ";".join(path[1:2] + path[3:])
        stacks[stack] = stacks.get(stack, 0) + samples[i]
want = {}
for text in open("folded"):
    stack, count = text.rsplit(" ", 1)
    stack = re.sub("^([a-z]+)-[0-9]+;", r"\1;", stack)  # of several processes
    want[stack] = want.get(stack, 0) + int(count)
print(answer["from"], answer["to"], answer["snapshots"],
      "equal" if stacks == want else "different")
END
sleep 1
status "${url}api/tree?from=1000&to=3000&nodes=100000" >/dev/null
mv body tree
head_of "${url}folded?from=1000&to=3000" >heads
mv body folded
python3 check.py >seen
like "$(cat seen)" "^[0-9]+ [0-9]+ [0-9]+ equal$" "the stacks of two seconds are those of folded"
is "$(cut -d' ' -f3 seen)" "$(sed -n 's/^X-Pmp-Window: .*snapshots=//p' heads)" "of as many snapshots"
ok "awk '{ exit !(\$1 >= 850 && \$1 <= 1200 && \$2 >= 2900 && \$2 <= 3150) }' seen" \
	"and these seconds: $(cat seen)"
status "${url}pid/$contend/api/tree?from=1000&to=3000&nodes=100000" >/dev/null
mv body tree
status "${url}pid/$contend/folded?from=1000&to=3000" >/dev/null
mv body folded
like "$(python3 check.py)" " equal$" "of one process as well"
curl -s "${url}api/tree?from=0&to=0&nodes=5" >tree
ok "[ $(python3 -c 'import json; print(len(json.load(open("tree"))["tree"]["depth"]))') -le 12 ]" \
	"a tree with few nodes"
curl -s "${url}api/tree?from=-2000&split=thread" >tree
like "$(cat tree)" '"split":"thread"' "threads apart"
like "$(curl -s "${url}api/tree?from=-2000")" '"split":"group"' "or their groups"
curl -s "${url}api/tree?from=-999999999999&to=-99999999999" >tree
like "$(tr -d '\n' <tree)" '"snapshots":0,"rounds":0,' "long before the start there is nothing"
curl -s "${url}api/tree?from=999999000" >tree
like "$(tr -d '\n' <tree)" '"snapshots":0,.*"depth":\[0\]' "of the future an empty one"

# ---- threads ------------------------------------------------------------------------------

status "${url}pid/$contend/api/threads?from=1000&to=3000" >/dev/null
mv body threads
status "${url}pid/$contend/threads?from=1000&to=3000" >/dev/null
cat >check.py <<'END'
import json
answer = json.load(open("threads"))
rows = answer["threads"]
print("count:", len(rows), len({r[1] for r in rows}))
print("names:", sorted({r[3] for r in rows}))
print("samples:", all(r[4] == answer["snapshots"] for r in rows))
time = 1000 * (answer["to"] - answer["from"])
print("times:", all(abs(sum(r[5:10]) - time) < 0.05 * time for r in rows))
print("in:", sorted({r[10].split("<")[-1] for r in rows if r[3] == "waiter-N"}))
END
python3 check.py >seen
cat >want <<'END'
count: 8 8
names: ['contend', 'holder', 'last', 'middle', 'waiter-N']
samples: True
times: True
END
while read -r line; do
	is "$(grep "^${line%%:*}:" seen)" "$line" "threads: ${line%%:*}"
done <want
diag "$(grep ^in: seen)"

# ---- locks --------------------------------------------------------------------------------

status "${url}pid/$contend/api/locks?from=1000&to=4000" >/dev/null
mv body locks
cat >check.py <<'END'
import json
answer = json.load(open("locks"))
rows = {r[0]: r for r in answer["locks"]}
print("locks:", sorted(rows))
a = rows["mutex mutex_a"]
print("threads:", a[4], rows["mutex mutex_b"][4])
print("held:", a[5], 2 * a[6] > a[3])
print("waits in:", *a[7].split("<")[:2])
print("meanwhile:", "holder_holds" in a[8])
print("deadlocks:", answer["deadlocks"])
print("time:", 0 < a[2] < 5000 * (answer["to"] - answer["from"]))
END
python3 check.py >seen
cat >want <<'END'
locks: ['mutex mutex_a', 'mutex mutex_b']
threads: 5 1
held: holder True
waits in: pthread_mutex_lock take
meanwhile: True
deadlocks: []
time: True
END
while read -r line; do
	is "$(grep "^${line%%:*}:" seen)" "$line" "locks: ${line%%:*}"
done <want

# ---- who asks the same gets the same ----------------------------------------------------------

for _ in 1 2 3 4 5; do
	curl -s "${url}api/tree?from=-1500" "${url}api/tree?from=-1500" >two
	[ "$(grep -o '^{"from":[0-9]*' two | sort -u | wc -l)" = 1 ] && break
done
is "$(grep -o '^{"from":[0-9]*' two | sort -u | wc -l)" 1 "two at once have one answer"
grep -o '^{"from":[0-9]*' two | head -n 1 >first.from
wait_for "curl -s '${url}api/tree?from=-1500' | grep -o '^{\"from\":[0-9]*' >now && ! cmp -s now first.from"
ok "true" "which is a new one after a second"

# ---- errors -------------------------------------------------------------------------------------

error() {
	is "$(status "$url$1")" "$2" "$1: $2"
	is "$(python3 -c 'import json; print(json.load(open("body"))["error"])')" "$3" "why"
	like "$(curl -sD - -o /dev/null "$url$1" | tr -d '\r')" '^Content-Type: application/json$' "as JSON"
}
error "api/tree?from=x" 400 "from is a number of milliseconds since the start, or below 0 since now"
error "api/tree?nodes=0" 400 "nodes is a number from 1 to 100000"
error "api/tree?focus=((" 400 "focus is not a regular expression: missing closing parenthesis"
error "pid/1/api/tree" 404 "no such process is sampled"
error "api/nosuch" 404 "Unknown profile: /debug/pprof/ lists all pages"
is "$(status -X POST -d x "${url}api/state")" 405 "POST"
is "$(status "${url}locks")" 200 "who waits for whom: of all processes"
curl -s -o /dev/null -D - -H 'Authorization: Bearer wrong-wrong-wrong-wrong' "${url}api/state" | tr -d '\r' >heads
like "$(cat heads)" '^HTTP/1.1 401 ' "a wrong token"
like "$(cat heads)" '^WWW-Authenticate: Bearer realm="pmp"$' "of which no browser asks its user"
is "$(status -H 'Sec-Fetch-Site: cross-site' "${url}api/state")" 403 "another page's request"
end_server
is "$?" 0 "the end"

start_server second --serve=0 --serve-no-cmdline -p "$contend"
wait_for "curl -s ${url}api/state | grep -q '\"up\":true'"
like "$(curl -s "${url}api/state")" '"command":"[^ "]*contend",' "without arguments, if that is asked for"

# Texts about the last snapshot.
wait_for "curl -s ${url}locks | grep -q 'mutex mutex_a'"
like "$(curl -s "${url}locks")" "^contend \[$contend\]: 8 threads, [0-9] waits? for locks" "who waits for whom"
curl -s "${url}stacks" >stacks
is "$(grep -c '^Thread ' stacks)" 8 "the stacks of all threads"
like "$(cat stacks)" '^#[0-9]+ +0x[0-9a-f]+ in nap \(\)' "as gdb prints them"
status "${url}debug/pprof/goroutine?debug=2" >/dev/null
is "$(grep -c '^Thread ' body)" 8 "which clients of Go ask for by debug=2"
end_server
stop_process "$contend"
stop_process "$demo"

start_target locks deadlock
start_server third --serve=0 -p "$target_pid"
wait_for "curl -s ${url}locks | grep -q '^DEADLOCK'"
curl -s "${url}api/locks" >body
is "$(python3 -c 'import json; print(len(json.load(open("body"))["deadlocks"]))')" 1 \
	"a deadlock is there"
end_server

# Of several processes each has a last snapshot.
first=$target_pid
start_target locks deadlock
second=$target_pid
start_target threads 2
start_server several --serve=0 -F 50 -p "$first" -p "$second" -p "$target_pid"
wait_for "[ \"\$(curl -s ${url}locks | grep -c '^DEADLOCK')\" = 2 ]"
curl -s "${url}locks" >several
is "$(grep -o '^[a-z]* \[[0-9]*\]' several | sort -t '[' -k 2 -n | tr '\n' ' ')" \
	"locks [$first] locks [$second] threads [$target_pid] " "several processes: each has its part"
is "$(curl -s "${url}pid/$second/locks" | grep -c '^DEADLOCK')" 1 "several processes: one of them"
curl -s "${url}pid/$second/locks" >one
like "$(cat one)" "^locks \\[$second\\]: " "several processes: that one"
is "$(curl -s "${url}stacks" | grep -c '^Thread ')" \
	"$(cat /proc/"$first"/task/*/comm /proc/"$second"/task/*/comm /proc/"$target_pid"/task/*/comm | wc -l)" \
	"several processes: the stacks of all threads"
curl -s "${url}api/locks" >body
is "$(python3 -c 'import json; print(len(json.load(open("body"))["deadlocks"]))')" 2 \
	"several processes: the deadlocks of each"
stop_process "$first"
wait_for "[ \"\$(curl -s ${url}locks | grep -c '^DEADLOCK')\" = 1 ]"
like "$(curl -s "${url}locks")" "^locks \\[$second\\]: " "one that has ended is left out"
end_server
stop_process "$second"
stop_process "$target_pid"
done_testing
