#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What monitoring systems fetch of pmp --serve: metrics, and the list of targets.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"
# shellcheck source=t/lib/serve.sh
. "$top_srcdir/t/lib/serve.sh"

# value FILE METRIC [LABELS]: of the only line with these labels, or of them all together
value() {
	awk -v name="$2" -v labels="$3" '
		index($0, name "{") == 1 || index($0, name " ") == 1 {
			if (labels == "" || index($0, labels)) {
				sum += $NF
				found = 1
			}
		}
		END { if (found) printf "%.3f\n", sum }' "$1"
}

# The text format: each metric is introduced by HELP and TYPE, once, and all of its lines
# follow; no line is there twice; labels and values are as they have to be.
check_format() {
	awk '
		/^# HELP / { if (seen[$3]++) print "again: " $0; helped = $3; next }
		/^# TYPE / {
			if ($3 != helped) print "no help: " $0
			if ($4 !~ /^(counter|gauge|histogram)$/) print "no type: " $0
			if ($4 == "counter" && $3 !~ /_total$/) print "no counter: " $0
			typed = $3
			next
		}
		!/^[a-z_]+(\{([a-z]+="([^"\\]|\\["\\n])*",?)*\})? (-?[0-9.]+(e[-+]?[0-9]+)?|\+Inf)$/ {
			print "malformed: " $0
		}
		{
			name = $1
			sub(/\{.*/, "", name)
			if (name != typed && name !~ ("^" typed "_(bucket|sum|count)$"))
				print "of another: " $0
			if (lines[$1]++) print "twice: " $0
		}' "$1"
	[ -z "$(tail -c 1 "$1")" ] || echo "no newline at the end"
}

# A name that has to be escaped.
cp "$top_builddir/t/target/contend" "$tmp/a\"b\\c"
"$tmp/a\"b\\c" 600 >said &
target=$!
test_pids="$test_pids $target"
start_server first --serve=0 -F 20 -p "$target"
wait_for "[ \$(status ${url}healthz) = 200 ]"
wait_for "curl -s ${url}metrics >before && [ \$(value before pmp_snapshots_total | cut -d. -f1) -gt 20 ]"

like "$(curl -sI "${url}metrics" | tr -d '\r')" \
	'Content-Type: text/plain; version=0\.0\.4' "the type of the text"
is "$(check_format before)" "" "the format"
if command -v promtool >/dev/null 2>&1; then
	is "$(promtool check metrics <before 2>&1)" "" "promtool"
fi
is "$(sed -n 's/^pmp_target_up{pid="[0-9]*",name=\(.*\)} 1$/\1/p' before)" '"a\"b\\c"' \
	"a name is escaped"
is "$(value before pmp_target_up)" 1.000 "the target is there"
is "$(value before pmp_threads)" "$(find "/proc/$target/task" -mindepth 1 -maxdepth 1 | wc -l).000" "all of its threads"
is "$(value before pmp_rate_hertz 'kind="asked"')" 20.000 "the rate that was asked for"

# ---- times ----------------------------------------------------------------------------------

"$PMP" -q -F 50 -n 200 -f folded -p "$target" >/dev/null
# Metrics need names only of waits that the bytes of the lock do not tell.
curl -s "${url}past/folded?seconds=1" >named
curl -s "${url}metrics" >after
is "$(awk 'NR == FNR { if (!/^#/) before[$1] = $2; next }
	/^# TYPE/ { type = $4 }
	!/^#/ && type != "gauge" && $1 in before && $2 + 0 < before[$1] + 0' before after)" "" \
	"no counter goes back"

# grown METRIC [LABELS]: by how much from the one to the other
grown() {
	awk -v a="$(value before "$@")" -v b="$(value after "$@")" 'BEGIN { printf "%.3f\n", b - a }'
}

waited=$(grown pmp_thread_seconds_total 'group="waiter-N",state="lock"')
all=$(grown pmp_thread_seconds_total 'group="waiter-N"')
ok "awk 'BEGIN { exit !($waited > 0.2 * $all && $waited < 0.8 * $all) }'" \
	"four waiters wait for a lock for about half of their time: $waited of $all s"
passed=$(grown pmp_history_seconds)
ok "awk 'BEGIN { d = $all / 4 - $passed; exit !(d * d < 0.01 * $passed * $passed) }'" \
	"the time of each is the time that has passed: $all / 4 and $passed s"
ok "awk 'BEGIN { exit !($(value after pmp_stop_seconds_bucket 'le="+Inf"') == \
	$(value after pmp_stop_seconds_count)) }'" "each stop is in the histogram"
is "$(grep '^pmp_stop_seconds_bucket' after | awk '$2 < last { print } { last = $2 }')" "" \
	"which never falls"
is "$(grown pmp_stacks_total)" \
	"$(awk "BEGIN { printf \"%.3f\", $(grown pmp_snapshots_total) * 8 }")" \
	"eight threads in each snapshot"
for process in front sampler server; do
	ok "[ $(value after pmp_memory_bytes "process=\"$process\"" | cut -d. -f1) -gt 100000 ]" \
		"the $process is there"
done

ok "awk 'BEGIN { exit !($(value after pmp_cpu_seconds_total 'process="helpers"') > 0) }'" \
	"names have taken some time: $(wc -l <named) stacks"

# ---- requests ---------------------------------------------------------------------------------

requests() {
	curl -s "${url}metrics" >now
	value now pmp_http_requests_total "$1"
}

is "$(status "${url}nosuch")" 404 "no such page"
is "$(requests 'page="none",code="404"')" 1.000 "is counted"
is "$(status -H 'Host: evil' "${url}metrics")" 421 "another host"
is "$(requests 'code="421"')" 1.000 "is counted"
metrics=$(requests 'page="/metrics",code="200"')
is "$(requests 'page="/metrics",code="200"')" \
	"$(awk "BEGIN { printf \"%.3f\", $metrics + 1 }")" "pages are counted"
curl -s "${url}folded?seconds=60" >/dev/null &
window=$!
test_pids="$test_pids $window"
wait_for "curl -s ${url}metrics >now && [ \$(value now pmp_windows) = 1.000 ]"
ok "[ $(value now pmp_http_connections | cut -d. -f1) -ge 2 ]" \
	"a window and its connection are counted"
stop_process "$window"
wait_for "curl -s ${url}metrics >now && [ \$(value now pmp_windows) = 0.000 ]"
is "$(value now pmp_windows)" 0.000 "the window of a client that has gone is not"

# The count survives the server that has it.
keeper=$(pgrep -P "$server_pid" pmp-keeper)
kill -KILL "$(pgrep -P "$keeper" pmp-server)" 2>/dev/null
wait_for "[ \"\$(requests 'page=\"none\",code=\"404\"')\" = 1.000 ]"
is "$(requests 'page="none",code="404"')" 1.000 "they are still counted when it has ended"

# ---- targets -------------------------------------------------------------------------------

curl -s -H 'Host: localhost' "${url}sd" >sd
is "$(python3 -c '
import json, sys
for group in json.load(open("sd")):
    labels = group["labels"]
    print(group["targets"], labels["service_name"], labels["pid"], labels["__meta_pmp_prefix"])
')" "['localhost'] a\"b\\c $target /pid/$target/feed/sd" "the list of targets"
like "$(curl -sI "${url}sd")" 'Content-Type: application/json' "is JSON"
prefix=$(python3 -c 'import json
print(json.load(open("sd"))[0]["labels"]["__profile_path_prefix__"])')
is "$(status "${url%/}$prefix/debug/pprof/wall?seconds=1")" 200 "what it says can be fetched"
is "$(printf 'GET /sd HTTP/1.0\r\n\r\n' | timeout 10 bash -c "
	exec 3<>/dev/tcp/127.0.0.1/$(echo "$url" | sed 's/.*:\([0-9]*\).*/\1/')
	cat >&3
	head -n 1 <&3" | tr -d '\r')" "HTTP/1.1 400 Bad Request" "it must be asked by a name"
end_server

# ---- one of two has ended --------------------------------------------------------------------

# up N: so many targets are said to be sampled
up() {
	[ "$(curl -s "${url}api/state" | grep -o '"up":true' | wc -l)" = "$1" ]
}

start_target demo
gone=$target_pid
start_target demo
start_server two --serve=0 -F 20 -p "$gone,$target_pid"
like "$(cat two.err)" '^pmp: serving 2 processes: demo \[[0-9]+\], demo \[[0-9]+\] at http:' "both are announced"
wait_for "up 2"
stop_process "$gone"
wait_for "up 1"
is "$(status "${url}name/demo/debug/pprof/profile?seconds=1")" 200 "a name means the process that lives"
like "$(curl -s "${url}name/demo/folded?seconds=1")" '^demo;' "whose stacks there are"
is "$(status "${url}pprof/wall?seconds=1")" 200 "gperftools' pages are of that process as well"
sleep 11
rate=$(metric 'pmp_rate_hertz{kind="reached"}')
ok "[ ${rate%%.*} -ge 15 ] && [ ${rate%%.*} -le 21 ]" "the rate is that of one process: $rate"
end_server

# ---- names that look alike -------------------------------------------------------------------

cat >alike.c <<'END'
#include <pthread.h>
#include <sys/prctl.h>
#include <unistd.h>
static void *wait_as(void *name) { prctl(PR_SET_NAME, name); pause(); return 0; }
int main(void)
{
	pthread_t thread;
	pthread_create(&thread, 0, wait_as, "a\xff");
	pthread_create(&thread, 0, wait_as, "a\\xff");
	pause();
}
END
$CC -o alike alike.c -lpthread
./alike &
alike=$!
test_pids="$test_pids $alike"
start_server alike --serve=0 -F 20 -p "$alike"
wait_for "[ \$(curl -s '${url}metrics' | grep -c 'ff.*state=.sleep') = 2 ]"
is "$(curl -s "${url}metrics" | sed -n 's/\(pmp_thread_seconds_total.*}\) .*/\1/p' | sort | uniq -d)" "" \
	"no series comes twice"
end_server

done_testing
