# SPDX-License-Identifier: GPL-2.0-or-later
"""Fetches all kinds of pages of pmp --serve for a time, and says what its processes have
before and after that: descriptors, and memory of their own in KiB.

    soak.py URL PID SECONDS [PAUSE]     the front of pmp; seconds between two rounds

The first quarter of the time does not count: what is kept for ten minutes grows until then.
"""
import http.client
import os
import sys
import time

url, front, seconds = sys.argv[1].rstrip("/"), int(sys.argv[2]), float(sys.argv[3])
pause = float(sys.argv[4]) if len(sys.argv) > 4 else 0
address = url.split("//")[1]
PAGES = [
    "/healthz", "/metrics", "/sd", "/stacks", "/locks", "/past/folded?seconds=10",
    "/past/svg?seconds=5&focus=.", "/past/debug/pprof/profile?seconds=10",
    "/feed/soak/debug/pprof/wall", "/feed/soak/debug/pprof/profile", "/debug/pprof/block",
    "/debug/pprof/mutex", "/debug/pprof/threads", "/debug/pprof/threads?debug=1",
    "/pprof/contention", "/pprof/threadz", "/past/pprof/profile?seconds=5", "/pprof/cmdline",
    "/pprof/symbol?0x1", "/api/state", "/api/timeline?from=-10000", "/api/tree?from=-10000",
    "/api/threads?from=-5000", "/api/locks", "/page.js", "/nosuch", "/folded?seconds=0",
]


def fields(pid, name):
    with open("/proc/%d/status" % pid) as file:
        return dict(line.split(":", 1) for line in file)[name].strip()


def family():
    """The front and all below it, by name."""
    parents = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                parents[int(name)] = int(fields(int(name), "PPid"))
            except (OSError, KeyError):
                pass
    pids, known = [front], 0
    while known < len(pids):
        pids += [pid for pid, parent in parents.items() if parent == pids[known]]
        known += 1
    found = {}
    for pid in pids:
        try:
            found[fields(pid, "Name")] = (len(os.listdir("/proc/%d/fd" % pid)),
                                          int(fields(pid, "RssAnon").split()[0]))
        except (OSError, KeyError):
            pass
    return found


def descriptors(found):
    return {name: counts[0] for name, counts in found.items()}


def fetch(path):
    connection = http.client.HTTPConnection(address, timeout=60)
    connection.request("GET", path)
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status


def leave(path):
    """A client that goes before it is answered."""
    connection = http.client.HTTPConnection(address, timeout=60)
    connection.request("GET", path)
    connection.close()


def rounds(until):
    count = odd = 0
    while time.monotonic() < until:
        for path in PAGES:
            want = {"/nosuch": 404, "/folded?seconds=0": 400}.get(path, 200)
            odd += fetch(path) != want
        leave("/folded?seconds=60")
        count += 1
        time.sleep(pause)
    return count, odd


def settled():
    """What all have when the server has seen what clients have left: but for one connection,
    which is there while it is counted."""
    for _ in range(100):
        connection = http.client.HTTPConnection(address, timeout=60)
        connection.request("GET", "/metrics")
        text = connection.getresponse().read().decode()
        if "\npmp_windows 0\n" in text and "\npmp_http_connections 1\n" in text:
            break
        connection.close()
        time.sleep(0.1)
    # The server may still have the file of what has been read here.
    found, last = family(), None
    while last is None or descriptors(found) != descriptors(last):
        time.sleep(0.1)
        found, last = family(), found
    connection.close()
    return found


start = time.monotonic()
warm = rounds(start + seconds / 4)
before = settled()
count, odd = rounds(start + seconds)
after = settled()
print("rounds:", count, "odd:", warm[1] + odd)
for name in sorted(before):
    if name in after:
        print(name, "descriptors:", before[name][0], after[name][0],
              "memory:", before[name][1], after[name][1])
