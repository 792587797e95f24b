# SPDX-License-Identifier: GPL-2.0-or-later
"""amplified.py KIND N: a saved profile of some KB that stands for a lot: a long text that is in
it once is used N times: paths, as the path of mappings with a build-id each; shown, as the file
of functions without names; labels, as a label of samples; processes, as a comment on the heap
of one."""
import gzip
import sys


def varint(n):
    out = b""
    while True:
        out += bytes([n & 0x7F | (0x80 if n > 0x7F else 0)])
        n >>= 7
        if not n:
            return out


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def mapping(i, size, build_id):
    return (field(1, i + 1) + field(2, size * i) + field(3, size * (i + 1)) + field(5, 3)
            + (field(6, build_id) if build_id else b""))


def sample(location, label=b""):
    return field(1, varint(location)) + field(2, varint(1)) + label


kind, n = sys.argv[1], int(sys.argv[2])
texts = [b"", b"samples", b"count"]
samples = [sample(i + 1) for i in range(n)]
comments = b""
if kind == "paths":
    texts += [b"/" + b"a" * (1 << 20)] + [b"%040x" % i for i in range(n)]
    mappings = [mapping(i, 4096, 4 + i) for i in range(n)]
    locations = [field(1, i + 1) + field(2, i + 1) + field(3, 4096 * i + 16) for i in range(n)]
elif kind == "shown":
    texts += [b"/" + b"a" * 4000]
    mappings = [mapping(0, 1 << 40, 0)]
    locations = [field(1, i + 1) + field(2, 1) + field(3, 16 * i + 16) for i in range(n)]
    samples = [field(1, b"".join(varint(i + 1) for i in range(k, min(k + 1000, n))))
               + field(2, varint(1)) for k in range(0, n, 1000)]
elif kind == "processes":
    texts += [b"heap: pid=7 ended=0 name: one"]
    mappings = []
    locations = [field(1, 1) + field(3, 16)]
    samples = [sample(1)]
    comments = varint(3) * n
else:
    texts += [b"thread", b"b" * (1 << 20)]
    mappings = []
    locations = [field(1, 1) + field(3, 16)]
    samples = [sample(1, field(3, field(1, 3) + field(2, 4)))] * n
out = field(1, field(1, 1) + field(2, 2))
for number, items in (2, samples), (3, mappings), (4, locations), (6, texts):
    out += b"".join(field(number, item) for item in items)
out += field(13, comments)
sys.stdout.buffer.write(gzip.compress(out, 9))
