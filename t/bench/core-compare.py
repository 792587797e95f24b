#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compare the stacks of a core file, frame by frame.

    core-compare.py CORE.txt KIND FILE

CORE.txt is what `pmp --no-inline CORE` printed. KIND and FILE: live, `pmp --raw --no-inline`
of the process itself; gdb, `thread apply all bt` with `backtrace past-main`; eu,
`eu-stack --core`. The program counters of each thread have to be equal. Of gdb's frames the
inlined ones are left out, as they have no address or that of the next one; where the other
one has ended early, what it has must be equal. Where there is no code a stack has ended: gdb
goes on, with words that it takes for frames.

Prints "threads T same S shorter P longer L differ D", then what differs.
"""

import re
import sys


def read_pmp(path, unmapped=None):
    """unmapped: the threads whose stacks lead to where nothing is mapped are added to it."""
    stacks, tid = {}, None
    for line in open(path, errors="replace"):
        match = re.match(r"Thread \d+ \(Thread 0x[0-9a-f]+ \(LWP (\d+)\)", line)
        if match:
            tid = int(match[1])
            stacks[tid] = []
        match = re.match(r"#\d+\s+0x([0-9a-f]+) in", line)
        if match and tid is not None:
            stacks[tid].append(int(match[1], 16))
            if unmapped is not None and " in [unmapped+" in line:
                unmapped.add(tid)
    return stacks


def read_gdb(path):
    """gdb prints no address of a frame that begins at a line: its own are then asked for by
    `frame apply all -q p $pc`, which prints `$1 = (void (*)(void)) 0x... <name+3>`."""
    stacks, tid = {}, None
    for line in open(path, errors="replace"):
        match = re.match(r"Thread \d+ \((?:Thread 0x[0-9a-f]+ \()?LWP (\d+)\)", line)
        if match:
            tid = int(match[1])
            stacks[tid] = []
        match = re.match(r"\$\d+ = \(.*?\) 0x([0-9a-f]+)", line)
        if match and tid is not None:
            address = int(match[1], 16)
            # an inlined function has the same one as the function that it is part of; of
            # 0 only gdb makes a frame
            if address and (not stacks[tid] or stacks[tid][-1] != address):
                stacks[tid].append(address)
    return stacks


def read_eu(path):
    stacks, tid = {}, None
    for line in open(path, errors="replace"):
        match = re.match(r"TID (\d+):", line)
        if match:
            tid = int(match[1])
            stacks[tid] = []
        match = re.match(r"#\d+\s+0x([0-9a-f]+)", line)
        if match and tid is not None:
            stacks[tid].append(int(match[1], 16))
    return stacks


def without_repeats(stack):
    return [pc for i, pc in enumerate(stack) if not i or stack[i - 1] != pc]


def main():
    unmapped = set()
    ours = read_pmp(sys.argv[1], unmapped)
    kind = sys.argv[2]
    others = {"live": read_pmp, "gdb": read_gdb, "eu": read_eu}[kind](sys.argv[3])
    same = shorter = longer = 0
    differ = []
    for tid in sorted(set(ours) | set(others)):
        a, b = ours.get(tid, []), others.get(tid, [])
        if kind == "gdb":
            a = without_repeats(a)
            if tid in unmapped:
                b = b[: len(a)]
        if a == b:
            same += 1
        elif a and b and a[: len(b)] == b:
            longer += 1
        elif a and b and b[: len(a)] == a:
            shorter += 1
        else:
            differ.append((tid, a, b))
    print(
        f"threads {len(ours)} same {same} shorter {shorter} longer {longer} "
        f"differ {len(differ)}"
    )
    for tid, a, b in differ[:5]:
        at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
        print(f"  {tid}: frame {at}: {[hex(x) for x in a[at:at+2]]} "
              f"{kind} {[hex(x) for x in b[at:at+2]]}")
    return 0


main()
