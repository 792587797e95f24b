# SPDX-License-Identifier: GPL-2.0-or-later
"""What pmp has found out about who waits for whom, beside the truth of t/target/locks.c:

        lock-found.py LIBRARY NAMES SAID JSON [peers]

SAID is what the target has said, JSON what `pmp -f json` has. One line for each snapshot and
thread where they differ; nothing where they agree. LIBRARY is whose locks they are: glibc;
musl, whose normal mutexes and rwlocks name nobody; rust. NAMES: 1 if functions have names,
which tell more kinds apart. peers: pmp was given --peers; without it nothing is found that is
not in memory.
"""

import json
import sys

# The kinds that are told apart by bytes alone. All others that wait by a futex are one, unless
# there are names.
KNOWN = {"mutex", "rwlock", "condition", "stdio", "join"}
FUTEX = {"barrier", "once", "semaphore", "guard"}
EVENTS = {"poll", "event", "timer", "signal", "queue", "sleep", "io"}
NAMES = {"guard": "static initialisation"}


def truths(path):
    for line in open(path):
        if line.startswith("truth "):
            yield dict(field.split("=", 1) for field in line.split()[2:])


def number(text):
    return int(text, 0)


SAID = {"arrived", "of", "value", "readers", "held", "holder_is"}


def said_by_memory(truth, library):
    """Of a kind that only names tell, never who holds it."""
    if truth["wait"] == "barrier":
        return {} if library == "musl" else {
            "arrived": number(truth["arrived"]), "of": number(truth["of"])}
    if truth["wait"] == "semaphore":
        return {"value": 0}
    if truth["wait"] == "rwlock" and number(truth["holder"]):
        return {"held": "write"}
    if truth["wait"] == "rwlock":
        return {"readers": number(truth["readers"])}
    return {}


def by_names(truth, wait, library, names):
    """Of a kind that the bytes do not show."""
    kind = NAMES.get(truth["wait"], truth["wait"])
    if library == "rust" and kind != "once":
        kind = "Rust " + kind
    if wait.get("kind") != (kind if names else "futex"):
        yield "kind by names"
    if names and truth["wait"] in {"once", "guard"}:
        if (wait.get("holder"), wait.get("sure")) != (number(truth["holder"]), "inferred"):
            yield "holder inferred"
    elif "holder" in wait:
        yield "no holder"
    if names and number(wait.get("object", "0")) != number(truth["object"]):
        yield "object by names"
    if names and wait.get("write", False) != (truth.get("mode") == "write"):
        yield "mode"
    if names and said_by_memory(truth, library) != {
            key: wait[key] for key in SAID if key in wait}:
        yield "what its memory says"


def differences(truth, wait, library, names):
    """Names of what is not as it should be."""
    musl = library == "musl"
    if (truth["wait"] in FUTEX or library == "rust"
            or (musl and truth["wait"] == "rwlock")):
        yield from by_names(truth, wait, library, names)
        return
    if musl and truth["wait"] == "condition":
        if "holder" in wait:
            yield "no holder"
        if names and wait.get("kind") != "condition":
            yield "kind"
        return
    if "named" in truth and not names:
        if wait.get("kind") != "futex" or "holder" in wait or "holder_is" in wait:
            yield "kind without names"
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


def event_differences(truth, wait):
    """The same of what nobody is waited for."""
    type, kind = truth["type"], truth["wait"]
    if wait.get("kind") != kind:
        yield "kind"
    if type in {"inotify"}:
        if (wait.get("type"), wait.get("path")) != ("other", type):
            yield "type"
    elif wait.get("type") != type:
        yield "type"
    for key, name in (("own", "fd"), ("descriptors",) * 2):
        if wait.get(name) != (number(truth[key]) if key in truth else None):
            yield name
    # After a stop it goes on as another call, which does not say how long.
    if wait.get("sleep_ns") != number(truth.get("sleep_ns", "0")) and "sleep_ns" in wait:
        yield "sleep_ns"
    if kind in {"queue", "io"} and wait.get("id", wait.get("inode")) != number(truth["object"]):
        yield "id"
    if wait.get("timed", False) != ("timed" in truth):
        yield "timed"
    for name in {"holder", "holder_is", "sure", "peers", "lock"} & set(wait):
        yield name


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


def check(truth, threads, library, names, peers):
    if "deadlock" in truth:
        for tid in truth["deadlock"].split(","):
            if not threads.get(int(tid), {}).get("deadlock") and library != "musl":
                yield "no deadlock of " + tid
        return
    wait = threads.get(int(truth["waiter"]), {})
    if truth["wait"] in KNOWN | FUTEX:
        found = differences(truth, wait, library, names)
    elif peers and truth["wait"] in EVENTS:
        found = event_differences(truth, wait)
    elif peers:
        found = outside_differences(truth, wait)
    else:
        found = ["something"] if wait else []
    for name in found:
        yield "%s: %s, found %s" % (name, truth, wait)


def main():
    library, names, said, found = sys.argv[1], sys.argv[2] == "1", sys.argv[3], sys.argv[4]
    peers = "peers" in sys.argv[5:]
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
            for difference in check(truth, threads, library, names, peers):
                print("snapshot", snapshots, difference)
    if snapshots != 2:
        print(snapshots, "snapshots")


main()
