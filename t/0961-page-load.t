#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Ten pages look at one pmp --serve: it samples as often as without them, stops its target no
# more, and uses little; and a page that is open keeps no more and more memory. With
# PMP_SOAK=SECONDS it is open for so long, and they look for a minute.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"
# shellcheck source=t/lib/serve.sh
. "$top_srcdir/t/lib/serve.sh"

need python3
PYTHONPATH=$top_srcdir/t/lib PYTHONDONTWRITEBYTECODE=1
export PYTHONPATH PYTHONDONTWRITEBYTECODE
python3 -c 'import browser, sys; sys.exit(not browser.found())' || skip_all "no chromium"

looks=6 open=${PMP_SOAK:-24}
[ -z "$PMP_SOAK" ] || looks=60
start_target contend 3600
start_server load --serve=0 -F 20 -p "$target_pid"
wait_for "curl -s ${url}metrics >now && awk '\$1 == \"pmp_snapshots_total\" { exit !(\$2 > 20) }' now"

# value FILE METRIC
value() {
	awk -v name="$2" '$1 == name { print $2 }' "$1"
}

# look SECONDS: what is counted before and after that time, in before and after
look() {
	curl -s -o before "${url}metrics"
	sleep "$1"
	curl -s -o after "${url}metrics"
}

# grown METRIC
grown() {
	awk "BEGIN { print $(value after "$1") - $(value before "$1") }"
}

# stops: for a hundred snapshots
stops() {
	awk "BEGIN { print 100 * $(grown pmp_stop_seconds_count) / $(grown pmp_snapshots_total) }"
}

# cpu: of the front and the server, percent of a processor
cpu() {
	front=$(grown 'pmp_cpu_seconds_total{process="front"}')
	server=$(grown 'pmp_cpu_seconds_total{process="server"}')
	awk "BEGIN { print 100 * ($front + $server) / $1 }"
}

look "$looks"
alone_stops=$(stops) alone_cpu=$(cpu "$looks")
port=$(echo "$url" | sed 's/.*:\([0-9]*\).*/\1/')
python3 "$top_srcdir/t/bench/pages.py" "$port" 10 2>pages.err &
pages=$!
test_pids="$test_pids $pages"
wait_for "curl -s ${url}metrics | grep -q '^pmp_http_connections 1[0-9]'"
look "$looks"
stop_process "$pages"
among_stops=$(stops) among_cpu=$(cpu "$looks")
rate=$(value after 'pmp_rate_hertz{kind="reached"}')
diag "stops in 100 snapshots: $alone_stops alone, $among_stops among ten pages"
diag "CPU: $alone_cpu %, $among_cpu %"
ok "awk 'BEGIN { exit !($rate > 19 && $rate < 20.5) }'" "ten pages: the rate stays what it was: $rate"
ok "awk 'BEGIN { exit !($among_stops <= 1.2 * $alone_stops + 20) }'" "the target is stopped no more"
ok "awk 'BEGIN { exit !($among_cpu - $alone_cpu < 15) }'" "and less than 15 % of a processor is used for them"

cat >steps.py <<'END'
import browser, sys, time
root, seconds = sys.argv[1], float(sys.argv[2])
with browser.Browser() as page:
    page.call("HeapProfiler.enable")
    page.call("Performance.enable")
    page.open(root)
    def used():
        for _ in range(3):
            page.call("HeapProfiler.collectGarbage")
        metrics = page.call("Performance.getMetrics")["metrics"]
        return {m["name"]: m["value"] for m in metrics}
    # Each view and each part that can be opened is made once.
    for key in ["2", "3", "e", "4", "5", "1", "?", "Escape"]:
        page.key(key)
        time.sleep(0.2)
    page.wait("document.querySelectorAll('.box').length > 3")
    time.sleep(seconds / 4)
    before = used()
    time.sleep(seconds * 3 / 4)
    after = used()
    print("heap:", int(before["JSHeapUsedSize"]), int(after["JSHeapUsedSize"]))
    print("nodes:", int(before["Nodes"]), int(after["Nodes"]))
    print("listeners:", int(before["JSEventListeners"]), int(after["JSEventListeners"]))
    print("messages:", page.messages)
END
python3 steps.py "$url" "$open" >seen 2>&1
diag "$(cat seen)"
ok "awk '/^heap:/ { exit !(\$2 < 50e6 && \$3 < 50e6) }' seen" "a page that is open: less than 50 MB"
ok "awk '/^heap:/ { exit !(\$3 < \$2 + 1e6) }' seen" "and not more and more"
ok "awk '/^nodes:/ { exit !(\$3 < \$2 + 500) }' seen" "as many nodes as before"
is "$(sed -n 's/^listeners: \([0-9]*\) \([0-9]*\)$/\1/p' seen)" \
	"$(sed -n 's/^listeners: \([0-9]*\) \([0-9]*\)$/\2/p' seen)" "as many listeners"
is "$(grep ^messages seen)" "messages: []" "and nothing to complain of"
end_server
is $? 0 "it ends in order"
stop_process "$target_pid"

done_testing
