#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# pmp --serve with many clients: fifty that record at once beside hundreds that send their
# requests one byte a second; the target is not stopped more often for them.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"
# shellcheck source=t/lib/serve.sh
. "$top_srcdir/t/lib/serve.sh"
need python3

# One thread that computes is stopped in each snapshot, three that sleep never are.
start_target threads 3 1
start_server first --serve=0 -F 20 -p "$target_pid"
wait_for "[ \$(status ${url}healthz) = 200 ]"

# stops FILE FILE: of the target, in a hundred snapshots between the one and the other
stops() {
	awk '$1 == "pmp_stop_seconds_count" { stops = $2 - stops }
		$1 == "pmp_snapshots_total" { snapshots = $2 - snapshots }
		END { printf "%.1f\n", 100 * stops / snapshots }' "$1" "$2"
}

# look FILE: what is counted now
look() {
	curl -s -o "$1" "${url}metrics"
}

cat >load.py <<'END'
import http.client, selectors, socket, sys, threading, time
port, clients, slow, seconds = map(int, sys.argv[1:5])

# Those that never come to an end; what the server closes is opened again.
ending, opened, closed = threading.Event(), [0], [0]
def drip():
    wait, connections = selectors.DefaultSelector(), set()
    def open_one():
        s = socket.socket()
        s.setblocking(False)
        s.connect_ex(("127.0.0.1", port))
        connections.add(s)
        wait.register(s, selectors.EVENT_READ)
        opened[0] += 1
    def close_one(s):
        wait.unregister(s)
        connections.discard(s)
        s.close()
        closed[0] += 1
    last = 0
    while not ending.is_set():
        while len(connections) < slow and opened[0] < 20 * slow:
            open_one()
        for key, _ in wait.select(0.1):
            try:
                if key.fileobj.recv(100):
                    continue
            except BlockingIOError:
                continue
            except OSError:
                pass
            close_one(key.fileobj)
        if time.monotonic() - last < 1:
            continue
        last = time.monotonic()
        for s in list(connections):
            try:
                s.send(b"G")
            except BlockingIOError:
                pass
            except OSError:
                close_one(s)
    for s in connections:
        s.close()

answers = []
# One request after the other is begun, as the threads of Python would delay each other in
# between for longer than the server lets a silent connection wait.
begin = threading.Lock()
def record(i):
    began = time.monotonic()
    page = ["/debug/pprof/profile", "/debug/pprof/wall", "/folded", "/pprof/profile"][i % 4]
    try:
        c = http.client.HTTPConnection("127.0.0.1", port, timeout=seconds + 20)
        with begin:
            c.request("GET", "%s?seconds=%d" % (page, seconds))
        r = c.getresponse()
        length = len(r.read())
        answers.append((r.status, time.monotonic() - began, length))
    except Exception as error:
        answers.append((repr(error), time.monotonic() - began, 0))

dripper = threading.Thread(target=drip)
dripper.start()
while slow and opened[0] < slow:
    time.sleep(0.01)
time.sleep(1)
threads = [threading.Thread(target=record, args=(i,)) for i in range(clients)]
for t in threads: t.start()
for t in threads: t.join()
ending.set()
dripper.join()
print("answered:", sum(a[0] == 200 and a[2] > 0 for a in answers), [a for a in answers if a[0] != 200][:3])
print("late:", sum(a[1] > seconds + 1 for a in answers), "%.2f" % max(a[1] for a in answers))
print("early:", sum(a[1] < seconds for a in answers))
print("slow:", opened[0], closed[0])
END

port=$(echo "$url" | sed 's/.*:\([0-9]*\).*/\1/')
# shellcheck disable=SC3045 # every shell that runs tests has it
ulimit -n 4096
look before
wait_for "look alone && [ \$(stops before alone | cut -d. -f1) -gt 0 ]"
sleep 4
look alone
# A busy machine may be late itself.
for _ in 1 2 3; do
	python3 load.py "$port" 50 900 3 >seen
	grep -q '^answered: 50 ' seen && grep -q '^late: 0 ' seen && break
done
look among
stops_alone=$(stops before alone) stops_among=$(stops alone among)
diag "$(cat seen); stops in 100 snapshots: $stops_alone, among them all $stops_among"
like "$(cat seen)" '^answered: 50 \[\]$' "fifty profiles at once, beside 900 slow connections: all are answered"
like "$(cat seen)" '^late: 0 ' "within a second of their end"
like "$(cat seen)" '^early: 0$' "none before it"
ok "[ \$(sed -n 's/^slow: [0-9]* //p' seen) -gt 800 ]" "the slow ones make room"

# Stops per snapshot are what they were: windows are cut out of one history. On a busy machine
# the target waits for a processor more often, and is not stopped then.
curl -s "${url}metrics" >metrics
rate=$(awk '$1 == "pmp_rate_hertz{kind=\"reached\"}" { print $2 }' metrics)
ok "awk 'BEGIN { exit !($rate < 20.5) }'" "no snapshot more is taken: $rate a second"
ok "awk 'BEGIN { exit !($stops_among > 0 && $stops_among < 1.1 * $stops_alone) }'" \
	"in each the target is stopped no more often, within 10 %: $stops_alone and $stops_among in a hundred"
is "$(status "${url}healthz")" 200 "it goes on"
wait_for "curl -s ${url}metrics | grep -q '^pmp_windows 0$'"
is "$(curl -s "${url}metrics" | grep '^pmp_windows')" "pmp_windows 0" "nothing is left of them"

# More than it records at once.
python3 load.py "$port" 62 0 2 >seen
like "$(cat seen)" "^answered: 5[0-9] \[\(503, " "of 62 the last ones are refused"
end_server
is "$?" 0 "the end"
done_testing
