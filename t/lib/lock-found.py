# SPDX-License-Identifier: GPL-2.0-or-later
"""What pmp has found out about who waits for whom, beside the truth of t/target/locks.c:

        lock-found.py MUSL SAID JSON [peers]

SAID is what the target has said, JSON what `pmp -f json` has. One line for each snapshot and
thread where they differ; nothing where they agree. MUSL: 1, as its normal mutexes and its
rwlocks name nobody. peers: pmp was given --peers; without it nothing is found that is not
in memory.
"""

import json
import sys

# The kinds that are told apart by bytes alone. All others that wait by a futex are one.
KNOWN = {"mutex", "rwlock", "condition", "stdio", "join"}
FUTEX = {"barrier", "once", "semaphore", "guard"}


def truths(path):
    for line in open(path):
        if line.startswith("truth "):
            yield dict(field.split("=", 1) for field in line.split()[2:])


def number(text):
    return int(text, 0)


def differences(truth, wait, musl):
    """Names of what is not as it should be."""
    if truth["wait"] in FUTEX or (musl and truth["wait"] == "rwlock"):
        if wait.get("kind") != "futex" or "holder" in wait:
            yield "a futex without a holder"
        return
    if musl and truth["wait"] == "condition":
        if "holder" in wait:
            yield "no holder"
        return
    if wait.get("kind") != truth["wait"]:
        yield "kind"
    if number(wait.get("object", "0")) != number(truth["object"]):
        yield "object"
    holder = number(truth.get("next", truth["holder"]))
    if "holder" in wait or not musl:
        if wait.get("holder", 0) != holder:
            yield "holder"
        if wait.get("holder_is", "") != truth.get("is", ""):
            yield "is"
    if wait.get("readers", 0) != number(truth.get("readers", "0")):
        yield "readers"
    if number(wait.get("mutex", "0")) != number(truth.get("mutex", "0")):
        yield "mutex"
    if wait.get("timed", False) != ("timed" in truth):
        yield "timed"


def same_peers(truth, wait):
    peers = wait.get("peers", [])
    holders = truth.get("any", truth.get("all", truth["holder"])).split(",")
    if holders == ["0"]:
        holders = []
    if sorted(peer["pid"] for peer in peers) != sorted(map(int, holders)):
        return False
    return "fd" not in truth or peers[0].get("fd") == number(truth["fd"])


def outside_differences(truth, wait):
    """The same of what is not in memory."""
    kind = truth["wait"]
    sure = {"pipe": "candidates", "semop": "inferred"}.get(kind, "exact")
    if wait.get("kind") != kind:
        yield "kind"
    if kind in {"file", "pipe", "socket"} and wait.get("inode") != number(truth["object"]):
        yield "inode"
    if kind == "child" and wait.get("pid", 0) != number(truth["object"]):
        yield "pid"
    if kind == "semop" and (wait.get("set"), wait.get("number")) != (
            number(truth["object"]), number(truth["number"])):
        yield "set"
    if not same_peers(truth, wait):
        yield "peers"
    if wait.get("sure") != ("candidates" if "any" in truth else truth.get("sure", sure)):
        yield "sure"
    if wait.get("write", False) != (truth.get("mode") == "write"):
        yield "write"
    if wait.get("timed", False) != ("timed" in truth):
        yield "timed"
    if kind == "file" and (wait.get("holder"), wait.get("holder_is")) != (
            number(truth["holder"]), "process"):
        yield "holder"
    for key in {"first", "last"} & set(truth):
        if wait.get(key) != number(truth[key]):
            yield key


def check(truth, threads, musl, peers):
    if "deadlock" in truth:
        for tid in truth["deadlock"].split(","):
            if not threads.get(int(tid), {}).get("deadlock") and not musl:
                yield "no deadlock of " + tid
        return
    wait = threads.get(int(truth["waiter"]), {})
    if truth["wait"] in KNOWN | FUTEX:
        found = differences(truth, wait, musl)
    elif peers:
        found = outside_differences(truth, wait)
    else:
        found = ["something"] if wait else []
    for name in found:
        yield "%s: %s, found %s" % (name, truth, wait)


def main():
    musl, said, found = sys.argv[1] == "1", sys.argv[2], sys.argv[3]
    peers = "peers" in sys.argv[4:]
    snapshots = 0
    for line in open(found):
        snapshot = json.loads(line)
        threads = {t["tid"]: t.get("wait", {}) for t in snapshot["threads"]}
        snapshots += 1
        known = {number(t) for truth in truths(said)
                 for t in truth.get("deadlock", "").split(",") if t}
        for tid, wait in threads.items():
            if wait.get("deadlock") and tid not in known:
                print("snapshot", snapshots, "a false deadlock:", tid, wait)
        for truth in truths(said):
            for difference in check(truth, threads, musl, peers):
                print("snapshot", snapshots, difference)
    if snapshots != 2:
        print(snapshots, "snapshots")


main()
