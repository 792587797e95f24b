#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Keep the few small inputs of a large corpus that reach most of the code.

    keep.py FUZZER FOUND KEPT

FUZZER is t/fuzz/fuzz-NAME.t, built with --enable-fuzzers, FOUND the folder fuzz-corpus/NAME
that `make fuzz` leaves, KEPT the folder t/fuzz/corpus/NAME. Inputs of FOUND that reach code
that no input of KEPT reaches are copied to KEPT: first the one that reaches most for its size,
and so on, until there are no more, or they would be too many files or bytes. Prints how many
edges of the program's flow are reached before and after.
"""

import os
import shutil
import subprocess
import sys
import tempfile

FILES, BYTES = 24, 16384  # copied at most
LARGEST = 2048  # bytes of one that is copied
OVERHEAD = BYTES // FILES  # bytes: what a file costs, even a small one


def edges_of(fuzzer, folders):
    """The edges that each file of these folders reaches, by path."""
    with tempfile.TemporaryDirectory() as scratch:
        control, merged = scratch + "/control", scratch + "/merged"
        os.mkdir(merged)
        merge = subprocess.run([fuzzer, "-set_cover_merge=1",
                                "-merge_control_file=" + control, merged, *folders],
                               check=False, stderr=subprocess.PIPE)
        if merge.returncode:
            sys.exit(merge.stderr.decode(errors="replace")[-1000:] + fuzzer + " failed")
        with open(control, encoding="utf-8") as file:
            lines = file.read().splitlines()
    count = int(lines[0])
    paths, reached = lines[2:2 + count], {}
    for line in lines[2 + count:]:
        kind, number, *features = line.split()
        if kind == "FT":  # a feature is an edge and one of eight ranges of how often it is taken
            reached[paths[int(number)]] = {int(feature) // 8 for feature in features}
    return reached


def choose(reached, known):
    """The paths to be copied, the best first; their edges are added to those known."""
    chosen, left = [], BYTES
    sizes = {path: os.path.getsize(path) for path in reached}
    reached = {path: edges for path, edges in reached.items() if sizes[path] <= LARGEST}
    while reached and len(chosen) < FILES:
        best = max(reached, key=lambda path: (len(reached[path] - known) /
                                              (sizes[path] + OVERHEAD), path))
        left -= sizes[best]
        if left < 0 or not reached[best] - known:
            break
        known |= reached.pop(best)
        chosen.append(best)
    return chosen


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    fuzzer, found, kept = sys.argv[1:]
    os.makedirs(kept, exist_ok=True)
    reached = edges_of(fuzzer, [kept, found])
    total = len(set().union(*reached.values()))
    known = set()
    for path in [path for path in reached if os.path.samefile(os.path.dirname(path), kept)]:
        known |= reached.pop(path)
    before = len(known)
    copied = choose(reached, known)
    for path in copied:
        shutil.copy(path, kept)
    print("%-12s %d of %d edges; with %d more files of %d bytes, %d" %
          (os.path.basename(os.path.normpath(kept)), before, total, len(copied),
           sum(map(os.path.getsize, copied)), len(known)))


main()
