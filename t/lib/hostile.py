#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""hostile.py KIND FILE: make an ELF file cost more than it takes on the disk.

strings   its symbols' names are in 1 GiB, of which nothing is there
packed    .debug_info, .debug_str and .debug_ranges are 1 GiB of zeros each, packed
frames    .debug_frame is 1 GiB of zeros, packed
holes     .zdebug_info and .zdebug_abbrev are 1 GiB, of which nothing is there
same      100,000 symbols lie over main(), and their names are parts of one of 4 MB
lines     .debug_line has a row for each of 64 Mi bytes; objcopy packs it

A section that grows goes to the end of the file.
"""
import struct
import subprocess
import sys
import zlib

GIB = 1 << 30
COMPRESSED = 0x800


class Elf:
    def __init__(self, path):
        self.path = path
        self.data = bytearray(open(path, "rb").read())
        self.shoff, = struct.unpack_from("<Q", self.data, 40)
        _, self.count, names = struct.unpack_from("<HHH", self.data, 58)
        start, = struct.unpack_from("<Q", self.data, self.header(names) + 24)
        self.names = start

    def header(self, i):
        return self.shoff + 64 * i

    def find(self, name):
        for i in range(self.count):
            at = self.names + struct.unpack_from("<I", self.data, self.header(i))[0]
            if self.data[at:self.data.index(0, at)] == name.encode():
                return self.header(i)
        sys.exit("no section %s" % name)

    def replace(self, name, content, flags=0, size=None):
        header = self.find(name)
        struct.pack_into("<Q", self.data, header + 8, flags)
        struct.pack_into("<QQ", self.data, header + 24, len(self.data),
                         size or len(content))
        self.data += content

    def content(self, name):
        start, size = struct.unpack_from("<QQ", self.data, self.find(name) + 24)
        return bytes(self.data[start:start + size])

    def write(self, holes=0):
        with open(self.path, "wb") as file:
            file.write(self.data)
            file.truncate(len(self.data) + holes)


def strings(elf):
    size = len(elf.content(".strtab"))
    elf.replace(".strtab", elf.content(".strtab"), size=GIB)
    elf.write(GIB - size)


def holes(elf):
    names = elf.content(".shstrtab")
    headers = [(elf.find(".debug_" + name), b".zdebug_" + name.encode() + b"\0")
               for name in ("info", "abbrev")]
    elf.replace(".shstrtab", names + b"".join(name for _, name in headers))
    for header, name in headers:
        struct.pack_into("<I", elf.data, header, len(names))
        struct.pack_into("<QQ", elf.data, header + 24, len(elf.data), GIB)
        names += name
    elf.write(GIB)


def same(elf):
    """Those of before stay, but main() itself: of a size of its own it would be shown."""
    names, symbols = elf.content(".strtab"), bytearray(elf.content(".symtab"))
    long = names + b"\0" + b"A" * (4 << 20) + b"\0"
    for at in range(0, len(symbols), 24):
        name, = struct.unpack_from("<I", symbols, at)
        if names[name:names.index(0, name)] == b"main":
            main = symbols[at + 4:at + 24]
            struct.pack_into("<I", symbols, at, len(names) + 1)
    for i in range(100000):
        symbols += struct.pack("<I", len(names) + 1 + i * 7919 % 200000) + main
    elf.replace(".strtab", long)
    elf.replace(".symtab", bytes(symbols))
    elf.write()


def pack_zeros():
    packer = zlib.compressobj(9)
    zeros = bytes(1 << 20)
    content = struct.pack("<IIQQ", 1, 0, GIB, 1)
    content += b"".join(packer.compress(zeros) for _ in range(GIB >> 20)) + packer.flush()
    return content


def frames(elf):
    elf.replace(".debug_frame", pack_zeros(), COMPRESSED)
    elf.write()


def packed(elf):
    content = pack_zeros()
    for name in (".debug_info", ".debug_str", ".debug_aranges"):
        elf.replace(name, content, COMPRESSED)
    elf.write()


def lines(elf):
    """Of the first unit; version 5 or older, of 32 bits. 18 is a row that changes nothing."""
    old = elf.content(".debug_line")
    length, version = struct.unpack_from("<IH", old)
    at = 8 if version >= 5 else 6
    program = at + 4 + struct.unpack_from("<I", old, at)[0]
    rows = bytes([18]) * (64 << 20)
    elf.replace(".debug_line", struct.pack("<I", length + len(rows)) + old[4:program] + rows +
                old[program:])
    elf.write()
    subprocess.run(["objcopy", "--compress-debug-sections=zlib", elf.path], check=True)


{"strings": strings, "holes": holes, "same": same,
 "frames": frames, "packed": packed, "lines": lines}[sys.argv[1]](Elf(sys.argv[2]))
