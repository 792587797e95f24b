#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Cut the table of functions of a program in Go down to a few: an input of fuzz-gopclntab.

    cut-gopclntab.py PROGRAM OUTPUT [FUNCTION...]

What belongs to the functions whose names contain one of these words (main.main and some
that have inlined calls, if there are none) is copied into a table of the same layout, which
refers to nothing else; a description of the module follows it, where there is one.
"""

import struct
import sys

LAYOUTS = {0xFFFFFFFB: 0, 0xFFFFFFFA: 1, 0xFFFFFFF0: 2, 0xFFFFFFF1: 3}
BASE, TEXT, MOST = 0x500000, 0x401000, 8


class Program:
    def __init__(self, path):
        self.data = open(path, "rb").read()
        self.segments = []
        phoff, shoff = struct.unpack_from("<QQ", self.data, 32)
        phnum, _, shnum, names = struct.unpack_from("<HHHH", self.data, 56)
        for i in range(phnum):
            kind, _, offset, address, _, size = struct.unpack_from(
                "<IIQQQQ", self.data, phoff + 56 * i)
            if kind == 1:
                self.segments.append((address, size, offset))
        names = struct.unpack_from("<Q", self.data, shoff + 64 * names + 24)[0]
        for i in range(shnum):
            name, _, _, address, _, size = struct.unpack_from(
                "<IIQQQQ", self.data, shoff + 64 * i)
            if self.string(names + name).endswith(".gopclntab"):
                self.table, self.size = address, size

    def at(self, address):
        for start, size, offset in self.segments:
            if start <= address < start + size:
                return offset + address - start
        raise ValueError(hex(address))

    def unpack(self, form, address):
        return struct.unpack_from("<" + form, self.data, self.at(address))

    def string(self, offset):
        return self.data[offset:self.data.index(0, offset)].decode()

    def words(self, values):
        wanted = struct.pack("<Q", self.table)
        at = self.data.find(wanted)
        while at >= 0:
            words = struct.unpack_from("<56Q", self.data, at) if at % 8 == 0 else None
            if words and words[1] == values["names"] and words[13] == values["functions"]:
                return words
            at = self.data.find(wanted, at + 1)
        return None


class Table:
    def __init__(self, program):
        self.program, base = program, program.table
        magic = program.unpack("I", base)[0]
        self.layout = LAYOUTS[magic]
        self.header = program.unpack("9Q", base + 8 - 8 + 0)
        self.count = program.unpack("Q", base + 8)[0]
        self.text = self.func_data = 0
        if self.layout == 0:
            self.parts = dict(names=base, values=base, functions=base, rows=base + 16)
            row = self.parts["rows"] + 16 * self.count + 8
            self.parts["files"] = base + program.unpack("I", row)[0]
        else:
            first = 24 if self.layout == 1 else 32
            offsets = program.unpack("5Q", base + first)
            self.parts = dict(zip(("names", "units", "files", "values", "functions"),
                                  (base + offset for offset in offsets)))
            self.parts["rows"] = self.parts["functions"]
        if self.layout >= 2:
            words = program.words(self.parts)
            self.text = words[22]
            self.is_new = program.unpack("Q", base + 24)[0] == 0
            self.func_data = words[38 if self.layout == 2 else 40]

    def row(self, i):
        if self.layout < 2:
            return self.program.unpack("QQ", self.parts["rows"] + 16 * i)
        start, at = self.program.unpack("II", self.parts["rows"] + 8 * i)
        return self.text + start, at

    def text_at(self, address):
        return self.program.string(self.program.at(address))

    def function(self, i):
        wide = 8 if self.layout < 2 else 4
        start, at = self.row(i)
        at += self.parts["functions"]
        fields = list(self.program.unpack("8I" if self.layout else "7I", at + wide))
        size = wide + 28 + (4 if self.layout == 0 else 12 if self.layout == 3 else 8)
        last = self.program.unpack("4B", at + size - 4)
        tables = self.program.unpack("%dI" % fields[6], at + size)
        after = at + size + 4 * fields[6]
        extra = ()
        if self.layout >= 2:
            extra = self.program.unpack("%dI" % last[3], after)
        elif self.layout == 1:
            extra = self.program.unpack("%dQ" % last[3], (after + 7) // 8 * 8)
        return dict(start=start, end=self.row(i + 1)[0] if i + 1 < self.count else start + 64,
                    fields=fields, last=last, tables=tables, extra=extra,
                    name=self.text_at(self.parts["names"] + fields[0]),
                    first=self.program.unpack("I", at + size - 8)[0])

    def values(self, offset):
        """The bytes of a table of values."""
        if not offset:
            return None
        at = start = self.program.at(self.parts["values"] + offset)
        while self.program.data[at] or at == start:
            for _ in range(2):
                while self.program.data[at] & 0x80:
                    at += 1
                at += 1
        return self.program.data[start:at + 1]


def highest(data):
    """The largest value in a table of values."""
    value, largest, numbers, number, shift = -1, -1, [], 0, 0
    for byte in data or b"":
        number |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            numbers.append(number)
            number = shift = 0
    for change in numbers[:-1:2]:
        value += -(change >> 1) - 1 if change & 1 else change >> 1
        largest = max(largest, value)
    return largest


class Cut:
    """The table that is written."""

    def __init__(self, table, functions):
        self.table, self.functions = table, functions
        self.data = bytearray(128)
        self.strings = {}

    def add(self, data, alignment=1):
        self.data += bytes(-len(self.data) % alignment)
        self.data += data
        return len(self.data) - len(data)

    def align(self):
        return self.add(b"", 8)

    def write(self):
        table, wide = self.table, self.table.layout < 2
        old = table.layout == 0
        names = self.add(b"\0")
        calls = [self.calls(function) for function in self.functions]
        name = {}
        for function, inlined in zip(self.functions, calls):
            for text in [function["name"]] + [call[0] for call in inlined]:
                name[text] = self.add(text.encode() + b"\0") - (0 if old else names)
        files = self.add(b"\0") + 1
        units = self.units(files, old)
        values = self.add(b"\0", 8)
        packed = []
        for function in self.functions:
            offsets = [table.values(offset) for offset in
                       function["fields"][3:6] + list(function["tables"])]
            packed.append([self.add(data) - (0 if old else values) if data else 0
                           for data in offsets])
        self.align()
        rows = self.add(bytes((16 if wide else 8) * (len(self.functions) + 1)), 8)
        if old:
            raise_at = rows
        at = [self.put_function(function, offsets, name, unit, 0 if old else rows)
              for function, offsets, unit in zip(self.functions, packed, units[1])]
        start = self.align()
        for i, (function, inlined) in enumerate(zip(self.functions, calls)):
            where = self.add(b"".join(self.call(call, name) for call in inlined), 8)
            if inlined and at[i][1]:
                form, base = ("<Q", -BASE) if wide else ("<I", start)
                struct.pack_into(form, self.data, at[i][1], where - base)
        end = len(self.data)
        self.rows(rows, at, wide)
        if old:
            # The rows of this layout follow the header.
            self.data[16:128] = bytes(112)
            count = min(len(self.functions), 6)
            self.data[16:16 + 16 * count + 8] = self.data[rows:rows + 16 * count + 8]
            struct.pack_into("<I", self.data, 16 + 16 * count + 8, units[0])
        self.head(dict(names=names, units=units[0], files=files, values=values,
                       functions=rows))
        if not wide:
            self.module(dict(names=names, values=values, functions=rows), start, end)
        return bytes([0]) + bytes(self.data)

    def units(self, files, old):
        """For each function, its files: where the list is and the number of its first."""
        table, lists, firsts = self.table, [], []
        for function in self.functions:
            count = highest(table.values(function["fields"][4])) + 1
            first = function["fields"][7] if not old else 0
            found = []
            for i in range(min(count, 300)):
                if old:
                    offset = table.program.unpack("I", table.parts["files"] + 4 * i)[0]
                    text = table.text_at(table.parts["names"] + offset) if i else ""
                else:
                    offset = table.program.unpack("I", table.parts["units"] + 4 * (first + i))[0]
                    text = "" if offset == 0xFFFFFFFF else table.text_at(
                        table.parts["files"] + offset)
                found.append(text)
            firsts.append(len(lists))
            lists = found if old and len(found) > len(lists) else lists + ([] if old else found)
        offsets = [self.add(text.encode() + b"\0") - (0 if old else files) if text
                   else 0xFFFFFFFF for text in lists]
        return self.add(struct.pack("<%dI" % len(offsets), *offsets), 8), firsts

    def calls(self, function):
        """(name, caller) of each inlined call."""
        table = self.table
        if table.layout == 0 or len(function["tables"]) < 3 or len(function["extra"]) < 4:
            return []
        count = highest(table.values(function["tables"][2])) + 1
        found, at = [], function["extra"][3]
        if table.layout >= 2:
            at = 0 if at == 0xFFFFFFFF else at + table.func_data
        for i in range(count if at else 0):
            if table.layout == 3:
                _, name, caller, _ = table.program.unpack("4I", at + 16 * i)
            else:
                _, _, _, name, caller = table.program.unpack("5I", at + 20 * i)
            found.append((table.text_at(table.parts["names"] + name), caller))
        return found

    def call(self, call, name):
        if self.table.layout == 3:
            return struct.pack("<4I", 0, name[call[0]], call[1], 1)
        return struct.pack("<5I", 0, 0, 0, name[call[0]], call[1])

    def put_function(self, function, offsets, name, unit, base):
        layout = self.table.layout
        fields = list(function["fields"])
        fields[0] = name[function["name"]]
        fields[3:6] = offsets[:3]
        if layout:
            fields[7] = unit
        start = function["start"] - self.table.text
        data = struct.pack("<Q" if layout < 2 else "<I", start & 0xFFFFFFFFFFFFFFFF)
        data += struct.pack("<%dI" % len(fields), *fields)
        if layout == 3:
            data += struct.pack("<I", function["first"])
        data += struct.pack("<4B", *function["last"])
        data += struct.pack("<%dI" % len(offsets[3:]), *offsets[3:])
        at = self.add(data, 8)
        extra = function["extra"]
        pointer = 0
        if layout == 1:
            where = self.add(bytes(8 * len(extra)), 8)
            pointer = where + 24 if len(extra) > 3 else 0
        elif layout >= 2:
            where = self.add(struct.pack("<%dI" % len(extra), *[0xFFFFFFFF] * len(extra)))
            pointer = where + 12 if len(extra) > 3 else 0
        return at - base, pointer

    def rows(self, rows, at, wide):
        form = "<QQ" if wide else "<II"
        for i, function in enumerate(self.functions + [None]):
            start = (function["start"] if function else self.functions[-1]["end"])
            struct.pack_into(form, self.data, rows + struct.calcsize(form) * i,
                             start - self.table.text, at[i][0] if function else 0)

    def head(self, parts):
        layout = self.table.layout
        magic = {number: value for value, number in LAYOUTS.items()}[layout]
        struct.pack_into("<IBBBBQ", self.data, 0, magic, 0, 0, 1, 8,
                         min(len(self.functions), 6) if layout == 0 else len(self.functions))
        if layout == 0:
            return
        text = [] if layout == 1 else [0 if self.table.is_new else TEXT]
        values = [1] + text + [parts[name] for name in
                               ("names", "units", "files", "values", "functions")]
        struct.pack_into("<%dQ" % len(values), self.data, 16, *values)

    def module(self, parts, func_data, end):
        words = [0] * 56
        words[0] = BASE
        words[1], words[10], words[13] = (BASE + parts[name] for name in
                                          ("names", "values", "functions"))
        words[22], words[23] = TEXT, TEXT + 0x1000000
        words[38 if self.table.layout == 2 else 40] = BASE + func_data
        if self.table.is_new:
            words[41] = BASE + end
        self.add(struct.pack("<56Q", *words), 8)


def main():
    table = Table(Program(sys.argv[1]))
    wanted = sys.argv[3:] or ["main.main", "runtime.systemstack", "runtime.goexit",
                              "runtime.lock2", "sort.insertionSort", "runtime.mcall"]
    functions = []
    for i in range(table.count - 1):
        function = table.function(i)
        if any(function["name"] == name for name in wanted) and len(functions) < MOST:
            functions.append(function)
    with open(sys.argv[2], "wb") as output:
        output.write(Cut(table, functions).write())


main()
