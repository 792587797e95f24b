#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# pmp --serve: which stacks a request wants, how often, with which labels, as which text; and
# sums since the start.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"
# shellcheck source=t/lib/serve.sh
. "$top_srcdir/t/lib/serve.sh"

start_target contend 600
start_server first --serve=0 -F 20 -p "$target_pid"
wait_for "[ \$(status ${url}healthz) = 200 ]"
wait_for "curl -s ${url}past/folded | grep -q last_takes"
# The locks change hands once a second.
sleep 2

# stacks PARAMETERS: of the past, folded
stacks() {
	curl -sg "${url}past/folded?$1"
}

# all_have TEXT PATTERN: is there any, and does each line have it?
all_have() {
	[ -n "$1" ] && ! printf '%s\n' "$1" | grep -Eqv "$2"
}

# ---- which stacks -----------------------------------------------------------------------

ok "all_have '$(stacks 'focus=_takes$')' '_takes;'" "focus: with such a function"
ok "all_have '$(stacks 'focus=_takes$&ignore=^waiter_')' '(middle|last)_takes;'" "ignore: without"
ok "all_have '$(stacks 'thread=^last$')' ';run_last;'" "thread: by its name"
ok "all_have '$(stacks "thread=$target_pid")' ';main;'" "thread: by its number"
ok "all_have '$(stacks 'group=-N$')' ';run_waiter;'" "group: several threads"
is "$(stacks 'thread=^last$&focus=waiter_takes')" "" "both: none has both"
ok "! all_have '$(stacks 'idle=show')' _takes" "idle: all"
ok "[ -n \"\$(stacks idle=only)\" ] && [ \"\$(stacks idle=only)\" != \"\$(stacks idle=show)\" ]" \
	"idle: only those"
is "$(status -g "${url}past/folded?focus=((")" 400 "no expression"
is "$(cat body)" 'focus is not a regular expression: missing closing parenthesis' "why"
is "$(status -g "${url}past/folded?thread=(a)\\1")" 400 "an expression without a bound"
costly='(((((.*)*)*)*)*)*[!?]'
for page in "past/folded?focus" "past/folded?ignore" "past/folded?thread" "past/folded?group" \
	"api/tree?focus" "api/threads?thread" "api/locks?group" "stacks?ignore" "locks?focus"; do
	before=$(date +%s%N)
	is "$(status -G --data-urlencode "${page#*[?]}=$costly" "$url${page%[?]*}")" 400 \
		"$page: an expression that would take too long"
	ok "[ $(($(date +%s%N) - before)) -lt 2000000000 ]" "is refused at once"
	like "$(cat body)" "gave up matching '.*' with '.*': it takes too many steps: write" "why"
done
ok "all_have '$(stacks 'focus=_takes$')' '_takes;'" "others have their answers"
is "$(status "${url}locks?thread=^last$")" 200 "who waits, of one thread"
like "$(cat body)" ': 1 thread, ' "only that one"
curl -sg "${url}api/threads?thread=^last$" >body
like "$(cat body)" '"last","last"' "of the page"
unlike "$(cat body)" waiter "only that one"
curl -sg "${url}api/tree?under=contend;waiter-N" >body
like "$(cat body)" '"names":.*"waiter_takes"' "a branch of a tree"
unlike "$(cat body)" last_takes "without the others"
end_server
is "$?" 0 "the end"

start_server second --serve=0 -F 20 --focus '_takes$' -p "$target_pid"
wait_for "curl -s ${url}past/folded | grep -q last_takes"
ok "all_have \"\$(stacks 'focus=^run_last')\" ';run_last;last_takes;'" \
	"of what pmp was started for"
is "$(stacks 'focus=^main$')" "" "and no more than that"
end_server
is "$?" 0 "the end"

# ---- how often --------------------------------------------------------------------------

start_server third --serve=0 -F 5 -p "$target_pid"
wait_for "[ \$(status ${url}healthz) = 200 ]"

# snapshots PATH: how many the answer covers
snapshots() {
	curl -si "$url$1" | tr -d '\r' | sed -n 's/^X-Pmp-Window:.*snapshots=//p'
}

ok "[ $(snapshots 'folded?seconds=2&hz=100') -ge 50 ]" "hz: more while it lasts"
ok "[ $(snapshots 'folded?seconds=2') -le 12 ]" "not after it"
curl -s "${url}folded?seconds=60&hz=100" >/dev/null &
gone=$!
test_pids="$test_pids $gone"
wait_for "[ \$(snapshots 'past/folded?seconds=1') -ge 40 ]"
stop_process "$gone"
wait_for "[ \$(snapshots 'past/folded?seconds=1') -le 6 ]"
ok "[ $(snapshots 'past/folded?seconds=1') -le 6 ]" "nor when its client has gone"

# ---- sums since the start -----------------------------------------------------------------

# delay FILE: ns
delay() {
	go tool pprof -raw "$1" 2>/dev/null | awk '/^contentions\/count/ { found = 1; next }
		/^Locations/ { exit } found && $2 ~ /:$/ { sum += $2 } END { printf "%.0f\n", sum }'
}

if command -v go >/dev/null 2>&1; then
	curl -s -o one.pb "${url}debug/pprof/block"
	sleep 2
	curl -s -o two.pb "${url}debug/pprof/block"
	ok "[ $(delay one.pb) -gt 0 ] && [ $(delay two.pb) -gt $(delay one.pb) ]" \
		"block without seconds: it only grows"
	unlike "$(go tool pprof -raw two.pb 2>/dev/null)" '^Duration' "and is of no length"
	curl -s -o part.pb "${url}debug/pprof/block?seconds=1"
	like "$(go tool pprof -raw part.pb 2>/dev/null)" '^Duration: ' "with seconds: a part"
	curl -s -o of.pb "${url}pid/$target_pid/debug/pprof/mutex"
	ok "[ $(delay of.pb) -gt 0 ]" "of a process"

	# ---- labels ---------------------------------------------------------------------------

	labels() {
		curl -s -o labels.pb "${url}past/debug/pprof/wall?$1"
		go tool pprof -raw labels.pb 2>/dev/null |
			grep -o '[a-z_]*:\[' | sort -u | tr -d ':[\n'
	}

	is "$(labels seconds=2)" "processthread" "labels of a scraper's series: few"
	like "$(go tool pprof -raw labels.pb)" 'thread:\[waiter-N\]' "groups, not threads"
	is "$(labels 'seconds=2&labels=none')" "" "none"
	like "$(labels 'seconds=2&labels=all')" \
		'^holder(holder_stack)?holder_tidlockpidprocessstatesyscallthreadtid(wchan)?$' "all"

	# ---- texts ------------------------------------------------------------------------------

	go tool pprof -top "${url}pprof/threadz" >top 2>&1
	like "$(cat top)" 'accounting for 8, 100% of 8 total' "threadz: 8 threads"
	go tool pprof -top "${url}debug/pprof/threads?debug=1" >top 2>&1
	like "$(cat top)" 'accounting for 8, 100% of 8 total' "threads, debug=1: 8 threads"
	go tool pprof -top "${url}debug/pprof/block?debug=1" >top 2>&1
	like "$(cat top)" '^Type: delay$' "block, debug=1"
else
	skip "no go: profiles as it reads them"
fi
like "$(curl -s "${url}debug/pprof/threads?debug=1")" '^threads profile: total 8' "for people"
like "$(curl -s "${url}debug/pprof/threads?debug=1")" '^# 0x[0-9a-f]+ run_waiter' "with names"
like "$(curl -sI "${url}debug/pprof/threads?debug=1")" '^Content-Type: text/plain' "as text"
is "$(status "${url}pprof/filteredprofile?seconds=0.5&thread=^last$")" 200 "a filtered profile"
end_server
is "$?" 0 "the end"

# ---- only while it is wanted ------------------------------------------------------------

# taken: snapshots so far
taken() {
	curl -s "${url}metrics" | awk '$1 == "pmp_snapshots_total" { print $2 }'
}

start_server fourth --serve=0 --on-demand -F 20 -p "$target_pid"
wait_for "[ \"\$(taken)\" = 1 ]"
sleep 1
is "$(taken)" 1 "on demand: one snapshot, to know that it can be taken"
is "$(status "${url}healthz")" 200 "it would be sampled"
curl -s -o two.pb "${url}debug/pprof/wall?seconds=2"
before=$(taken)
ok "[ $before -ge 20 ]" "a window: $before"
sleep 1
is "$(taken)" "$before" "none after it"
if command -v go >/dev/null 2>&1; then
	curl -s -o later.pb "${url}debug/pprof/wall?seconds=2"
	for file in two.pb later.pb; do
		wall=$(go tool pprof -raw "$file" 2>/dev/null | awk '/^samples\/count/ { found = 1; next }
			/^Locations/ { exit } found && $2 ~ /:$/ { sum += $2 }
			END { printf "%.1f\n", sum / 8e9 }')
		ok "awk 'BEGIN { exit !($wall >= 1.2 && $wall <= 2.3) }'" \
			"$file has the time of its window, not that before it: $wall s a thread"
	done
fi
before=$(taken)
is "$(status "${url}locks")" 200 "who waits for whom"
ok "[ $(taken) -gt $before ]" "of a new snapshot"
for page in past/folded feed/a/folded 'svg?from=-1000'; do
	is "$(status "$url$page")" 400 "$page: there is no past"
done
before=$(taken)
status "${url}api/state" >/dev/null
wait_for "[ \$(taken) -gt $((before + 5)) ]"
ok "[ $(taken) -gt $before ]" "while the page is open it is sampled"
wait_for "a=\$(taken) && sleep 1 && [ \$(taken) = \$a ]"
before=$(taken)
sleep 1
is "$(taken)" "$before" "no more after that"
unlike "$(curl -s "${url}metrics")" pmp_thread_seconds "no metric of time that was not seen"
stop_process "$target_pid"
wait "$server_pid"
is "$?" 0 "it ends with its target, also while it waits"
done_testing
