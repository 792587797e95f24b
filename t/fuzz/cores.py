#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""pmp on core files that are made to do harm.

    cores.py PMP [KIND]...

Each is made of nothing by the function of that name. pmp must take no more than 10 s of
processor time and end by no signal, with a status of its own; no process of it may take more
than 1 GiB; none may be lost; and no control byte may be in what it prints. A line for each:
kind, format, status, seconds, MiB; and what is wrong. The status is 1 if anything is.
"""

import os
import re
import shutil
import signal
import struct
import sys
import tempfile
import time

LIMIT = 10  # seconds of processor time
PATIENCE = int(os.environ.get("PMP_CORES_PATIENCE", 100))  # seconds, on a busy machine
MEMORY = 1024  # MiB, of a process
STATUSES = {0, 2}
PAGE, CODE, STACK, MODULE = 0x1000, 0x10000, 0x20000, 0x400000
PID = 4100
LOAD, NOTE, EH_FRAME = 1, 4, 0x6474E550
PRSTATUS, PRPSINFO, AUXV, SIGINFO, FILE = 1, 3, 6, 0x53494749, 0x46494C45
BIG = 1 << 63
MAX = (1 << 64) - 1


# ---- a core without fault ----------------------------------------------------------------

def note(kind, data, owner=b"CORE\0", namesz=None, descsz=None):
    head = struct.pack("<III", len(owner) if namesz is None else namesz,
                       len(data) if descsz is None else descsz, kind)
    return head + owner + bytes(-len(owner) % 4) + data + bytes(-len(data) % 4)


def thread(tid, pc=CODE + 0x200, sp=STACK, fp=STACK + 0x10, size=336, orig=MAX, args=(), fs=0x7000):
    words = [0] * 27
    words[4], words[15], words[16], words[19], words[21] = fp, orig, pc, sp, fs
    words[10] = 0 if orig == MAX else MAX - 511  # ERESTARTSYS: it sleeps in a system call
    for at, value in zip((14, 13, 12, 7, 9, 8), args):
        words[at] = value
    data = bytearray(112 + 27 * 8 + 8)
    struct.pack_into("<i", data, 32, tid)
    struct.pack_into("<27Q", data, 112, *words)
    return note(PRSTATUS, bytes(data).ljust(size, b"\xff")[:size])


def psinfo(name=b"hostile", args=b"./hostile"):
    data = bytearray(136)
    struct.pack_into("<i", data, 24, PID)
    data[40:56], data[56:136] = name.ljust(16, b"\0")[:16], args.ljust(80, b"\0")[:80]
    return note(PRPSINFO, bytes(data))


def siginfo(number=11, code=1, address=0x18):
    return note(SIGINFO, struct.pack("<iiiiQ", number, 0, code, 0, address).ljust(128, b"\0"))


def files(*mappings, page=PAGE, count=None):
    table = b"".join(struct.pack("<QQQ", start, end, offset) for start, end, offset, _ in mappings)
    paths = b"".join(path + b"\0" for *_, path in mappings)
    return note(FILE, struct.pack("<QQ", len(mappings) if count is None else count, page) +
                table + paths)


def auxv(*pairs):
    return note(AUXV, b"".join(struct.pack("<QQ", *pair) for pair in (*pairs, (0, 0))))


def code():
    data = bytearray(PAGE)
    data[0] = data[0x100] = 0xE8
    return bytes(data)


def stack():
    data = bytearray(PAGE)
    struct.pack_into("<QQQQ", data, 0x10, STACK + 0x20, CODE + 0x105, 0, CODE + 5)
    return bytes(data)


MEMORIES = ((CODE, code(), 5), (STACK, stack(), 6))


def build(notes=None, memories=MEMORIES, programs=(), more=b"", **header):
    """memories: (address, bytes, flags); programs: (type, flags, offset, address, filesz, memsz);
    of the file's header phoff, shoff, phnum and phentsize can be others."""
    if notes is None:
        notes = thread(PID) + psinfo() + siginfo() + files((CODE, CODE + PAGE, 0, b"/bin/true"))
    count = 1 + len(memories) + len(programs)
    at = 64 + 56 * count
    heads = [(NOTE, 0, at, 0, len(notes), 0)]
    data = notes + bytes(-(at + len(notes)) % PAGE)
    for address, content, flags in memories:
        heads.append((LOAD, flags, at + len(data), address, len(content), len(content)))
        data += content + bytes(-len(content) % PAGE)
    heads += programs
    head = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", 4, 62, 1, 0, header.get("phoff", 64),
                       header.get("shoff", 0), 0, 64, header.get("phentsize", 56),
                       header.get("phnum", count), 64, 0, 0)
    table = b"".join(struct.pack("<IIQQQQQQ", kind, flags, offset, address, 0, size, room, PAGE)
                     for kind, flags, offset, address, size, room in heads)
    return head + table + data + more


# ---- program headers and memory ------------------------------------------------------------


def overlap():
    over = [(LOAD, 7, 0, CODE - 0x800 + 8 * i, 0x10000, 0x10000) for i in range(64)]
    return build(programs=over + [(NOTE, 0, 64, 0, 4096, 0)] * 64)



def no_section():
    return build(phnum=0xFFFF, shoff=0)



def many_headers():
    """PN_XNUM, and a section header that counts 2^32 - 1 headers: the file has 1 GiB of holes."""
    data = build(phnum=0xFFFF, shoff=0)
    section = bytearray(64)
    struct.pack_into("<I", section, 44, 0xFFFFFFFF)
    at = len(data)
    data = data[:40] + struct.pack("<Q", at) + data[48:]
    return data + bytes(section), 1 << 30


def one_header_again():
    """65534 headers that are all the same memory."""
    data = build()
    heads = struct.pack("<IIQQQQQQ", LOAD, 7, 0, CODE, 0, PAGE, PAGE, PAGE) * 65000
    return (data[:32] + struct.pack("<Q", len(data)) + data[40:56] + struct.pack("<H", 65000) +
            data[58:] + data[64:120] + heads)



def wraps():
    return build(programs=[(LOAD, 6, 0, MAX - 100, PAGE, PAGE), (LOAD, 6, 0, MAX - PAGE + 1, PAGE, PAGE),
                           (LOAD, 6, 0, MAX - 0xFFF, PAGE, PAGE - 1)],
                 notes=thread(PID, sp=MAX - 0x1FF, fp=MAX - 0xFF) + psinfo() +
                 thread(PID + 1, pc=MAX - 3) + thread(PID + 2, sp=MAX, fp=MAX))


def half_of_all():
    return build(memories=(), programs=[(LOAD, 7, 0, PAGE, BIG - PAGE, BIG - PAGE)]), BIG - PAGE



# ---- notes -----------------------------------------------------------------------------------

def note_sizes():
    good = thread(PID) + psinfo()
    return build(notes=good + b"".join(
        note(kind, b"x" * 16, namesz=name, descsz=desc)[:28]
        for kind in (PRSTATUS, PRPSINFO, AUXV, SIGINFO, FILE)
        for name, desc in ((5, 0xFFFFFFFD), (0xFFFFFFFD, 16), (0xFFFFFFFF, 0xFFFFFFFF), (0, 1))))


def note_end():
    """Notes that end at the end of all."""
    return build(programs=[(NOTE, 0, 64, 0, MAX, 0), (NOTE, 0, MAX - 3, 0, MAX, 0),
                           (NOTE, 0, BIG, 0, BIG, 0), (NOTE, 0, BIG - 1, 0, 2, 0)])


def thread_sizes():
    return build(notes=b"".join(thread(PID + i, size=size) for i, size in enumerate(
        (0, 1, 32, 36, 111, 112, 113, 327, 328, 335, 336, 337, 1000, 1023, 1024, 1025, 70000))))


def same_threads():
    """60,000, each with 512 frames, all in the same stack, which has no end."""
    frames = b"".join(struct.pack("<QQ", STACK + 16 * i, CODE + 0x105) for i in range(1, 65536))
    notes = b"".join(thread(i, sp=STACK, fp=STACK) for i in range(1, 60001))
    return build(notes=psinfo() + notes, memories=(MEMORIES[0], (STACK, frames, 6)))



def strange_ids():
    return build(notes=b"".join(thread(tid) for tid in
                                (0, -1, -(1 << 31), (1 << 31) - 1, 1, os.getpid())))


def names():
    text = b"\x1b]0;p\x07\n\r\x9b2J;\xff\xfe"
    return build(notes=thread(PID) + psinfo(text, text * 6) + siginfo(-5, -1, MAX) +
                 files((CODE, CODE + PAGE, 0, b"/tmp/\x1b[31m\n;\x07 \xc2\x9b\xe2\x80\xae" + text)))




def note_holes():
    """A note in each 64 KiB of 4 GiB of holes."""
    data = build()
    start = (len(data) + 0xFFFF) & ~0xFFFF
    pieces = {start + (i << 16): struct.pack("<III", 0, 0x10000 - 12, 77) for i in range(1 << 16)}
    head = struct.pack("<IIQQQQQQ", NOTE, 0, start, 0, 0, MAX // 4, 0, 4)
    return data[:64] + head + data[120:], start + (1 << 32), pieces


def file_holes():
    """Lists of mapped files of 64 MiB each, one after the other in 100 GiB of holes."""
    data = build()
    start = (len(data) + 0xFFF) & ~0xFFF
    pieces = {start + (i << 26): struct.pack("<III", 5, (64 << 20) - 20, FILE) + b"CORE"
              for i in range(1600)}
    head = struct.pack("<IIQQQQQQ", NOTE, 0, start, 0, 0, MAX // 4, 0, 4)
    threads = thread(PID)
    pieces[start + (1600 << 26)] = threads
    return data[:64] + head + data[120:], start + (1600 << 26) + len(threads), pieces


# ---- mapped files ----------------------------------------------------------------------------

def mapped(*paths, each=1):
    """Threads in code of each of these files."""
    notes = psinfo() + files(*((MODULE + PAGE * i * each, MODULE + PAGE * (i + 1) * each, 0, path)
                               for i, path in enumerate(paths)))
    return build(notes=notes + b"".join(thread(PID + i, pc=MODULE + PAGE * i * each + 0x200)
                                        for i in range(len(paths))))



def most_files():
    """As many as are read, in which no thread is, and of which there is no memory."""
    return build(notes=thread(PID) + files(
        *((MODULE + PAGE * i, MODULE + PAGE * (i + 1), 0, b"/nowhere/%d" % i) for i in range(1 << 18))))


def most_threads_in_files():
    return mapped(*(b"/nowhere/%d" % i for i in range(40000)))





def file_tables():
    good = (MODULE, MODULE + PAGE, 0, b"/bin/true")
    return build(notes=thread(PID) + files(good, page=0) + files(good, page=BIG) +
                 files(good, count=MAX) + files(good, count=1 << 60) + files(good, count=1 << 18) +
                 files(good, (MAX - 5, MAX, MAX, b"/bin/true"), (5, 4, 0, b"/bin/true"),
                       (0, MAX, 0, b"/bin/true"), (MODULE, MODULE + 1, BIG, b"/bin/true"),
                       (CODE, STACK + PAGE, 1 << 51, b"/bin/true")))


def no_end_of_path():
    return build(notes=thread(PID) + note(FILE, struct.pack("<QQQQQ", 1, PAGE, CODE, STACK, 0) +
                                          b"/" * (32 << 20)))


# ---- files of this machine that are mapped again and again ----------------------------------

def library(sections=b"", names=b"", count=0, segments=()):
    """The first page of one; sections and what is after them begin at the second."""
    segments = ((5, 0, 0, PAGE), *segments)
    head = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", 3, 62, 1, 0, 64, PAGE if count else 0,
                       0, 64, 56, len(segments), 64, count, 0)
    table = b"".join(struct.pack("<IIQQQQQQ", LOAD, flags, offset, address, 0, size, size, PAGE)
                     for flags, offset, address, size in segments)
    page = bytearray((head + table).ljust(PAGE, b"\0"))
    page[0x300] = 0xE8
    return bytes(page) + sections + names


def section(name, kind, offset, size):
    return struct.pack("<IIQQQQIIQQ", name, kind, 0, 0, offset, size, 0, 0, 1, 0)


def again(content, regions, depth, big=()):
    """Stacks of so many frames, each frame in a region of its own of this file."""
    path = os.path.abspath("again.so")
    with open(path, "wb") as file:
        file.write(content)
        for offset, data in big:
            file.seek(offset)
            file.write(data)
    os.utime(path, (1e9, 1e9))
    at = [MODULE + 2 * PAGE * i for i in range(regions)]
    words, notes = bytearray(16 * regions + 32), b""
    for i in range(regions):
        last = (i + 1) % depth == 0 or i + 1 == regions
        struct.pack_into("<QQ", words, 16 * i + 16, 0 if last else STACK + 16 * (i + 2),
                         0 if last else at[i + 1] + 0x305)
        if i % depth == 0:
            notes += thread(PID + i, pc=at[i] + 0x340, sp=STACK, fp=STACK + 16 * (i + 1))
    notes += psinfo() + files(*((start, start + PAGE, 0, os.fsencode(path)) for start in at))
    return notes, [(STACK, bytes(words), 6)] + [(start, content[:PAGE], 5) for start in at]


def go_again():
    """In each the table of Go is looked for, in 128 MiB that seem to begin with it everywhere."""
    data, size, chunk = 0x10000000, 64 << 20, 1 << 16
    notes, memories = again(library(segments=((4, 0, data - MODULE, size), (6, 0, data - MODULE, size))),
                            40, 40)
    block = (struct.pack("<IBBBB", 0xFFFFFFF1, 0, 0, 1, 8) + bytes(8)) * (chunk // 16)
    # The same bytes of the core at each place; build() puts them after the notes and the others.
    count = 1 + len(memories) + 1 + size // chunk
    at = 64 + 56 * count + len(notes)
    at += -at % PAGE + sum(len(content) + -len(content) % PAGE for _, content, _ in memories)
    return build(notes, memories + [(data, block, 6)],
                 [(LOAD, 6, at, data + chunk * (i + 1), chunk, chunk) for i in range(size // chunk)])


def debug_frame_again():
    """In each 16 MiB of .debug_frame that say nothing."""
    names = b"\0.debug_frame\0"
    sections = section(0, 3, PAGE + 128, len(names)) + section(1, 1, 2 * PAGE, 16 << 20)
    return build(*again(library(sections, names, 2), 400, 1, [(2 * PAGE, b"\xff" * (16 << 20))]))


def sections_again():
    """In each 60,000 sections, of which none is the one that is looked for."""
    names = b".debug_fram" + b"x" * 65000 + b"\0"
    sections = section(0, 3, PAGE + 64 * 60000, len(names)) + section(0, 1, 0, 16) * 59999
    return build(*again(library(sections, names, 60000), 4000, 500))


# ---- programs in the memory of the core --------------------------------------------------------

def image(programs, extra):
    """A page with the headers of a library, and what is behind them."""
    head = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", 3, 62, 1, 0, 64, 0, 0, 64, 56,
                       len(programs), 0, 0, 0)
    table = b"".join(struct.pack("<IIQQQQQQ", kind, 5, offset, offset, 0, size, size, 4)
                     for kind, offset, size in programs)
    return (head + table).ljust(0x400, b"\0") + extra


def in_memory(content, path=b"/nowhere/library.so", at=None, **more):
    content = content.ljust(0x10000, b"\0")
    notes = psinfo() + files((MODULE, MODULE + len(content), 0, path)) + b"".join(
        thread(PID + i, pc=MODULE + 0x2000 + i) for i in range(at or 16))
    return build(notes=notes, memories=(*MEMORIES, (MODULE, content, 5)), **more)


def build_ids():
    texts = b"".join(struct.pack("<III4s", 4, size, 3, b"GNU\0") + bytes(range(64))
                     for size in (0, 0xFFFFFFFF, 0xFFFFFFF0, 65536, 65, 64))
    return in_memory(image([(NOTE, 0x400, len(texts))] + [(NOTE, MAX - 4, MAX)] * 20, texts))


def build_id_short():
    text = struct.pack("<III4s", 4, 1, 3, b"GNU\0") + b"\x2f"
    return in_memory(image([(NOTE, 0x400, 20)], text), b"/bin/true")



def table(fde, count=1):
    """.eh_frame_hdr with one entry, or one that says that it has others."""
    return struct.pack("<BBBBiIii", 1, 0x1B, 3, 0x3B, 0, count, 0x1C00, fde - 0x400)


def frames(fde, cie=b"", fde_at=0x500, count=1):
    data = table(fde_at, count).ljust(0x100, b"\0") + fde.ljust(0x100, b"\0") + cie
    return in_memory(image([(LOAD, 0, 0x10000), (EH_FRAME, 0x400, 0x10000)], data))


def fde_for(cie_offset, program=b"", length=None):
    body = struct.pack("<Iii", cie_offset & 0xFFFFFFFF, 0x2000 - 0x508, 0x1000) + b"\0" + program
    return struct.pack("<I", len(body) if length is None else length) + body


def cie_for(program, augmentation=b"zR\0", data=b"\1\x1b", length=None):
    body = struct.pack("<IB", 0, 1) + augmentation + b"\x01\x78\x10" + data + program
    return struct.pack("<I", len(body) if length is None else length) + body


def cie_itself():
    return frames(fde_for(4))



def fde_endless():
    return frames(fde_for(-0xFC, length=0xFFFFFFF0) + b"\xff" * 64, cie_for(b"\x0c\x07\x08"))



def ruled(cie, program, threads=16):
    """All code has this one entry."""
    fde = struct.pack("<IIii", 13 + len(program), 0x104, 0x2000 - 0x608, 0x10000) + b"\0" + program
    return in_memory(image([(LOAD, 0, 0x20000), (EH_FRAME, 0x400, 0x10000)],
                           table(0x600).ljust(0x100, b"\0") + cie_for(cie).ljust(0x100, b"\0") + fde),
                     at=threads)


def rules_without_end():
    """CFA is what it was: a frame that is its own caller; 60 KB of remember and restore."""
    return ruled(b"\x0c\x07\x00", b"\x0a\x0b" * 30000)


def own_rules():
    """As many threads, each at a place of its own in 60 KB of the same."""
    return ruled(b"\x0c\x07\x00", b"\x0a\x0b" * 30000, threads=4000)


def expressions():
    """The CFA is what an expression of 200 bytes computes, the return address another."""
    expression = b"\x30" + b"\x12\x22" * 120
    return ruled(b"", b"\x0f" + bytes([len(expression) & 0x7F | 0x80, len(expression) >> 7]) +
                 expression + b"\x10\x10\x02\x77\x00")


def vdso():
    """What the core says is the vDSO is read as a file: its sections are of no size."""
    content = bytearray(image([(LOAD, 0, 0x10000), (2, 0x500, 0x200)], b"\xff" * 0x8000))
    struct.pack_into("<Q", content, 40, 0x400)
    struct.pack_into("<HHH", content, 58, 64, 0xFF00, 1)
    content = bytes(content.ljust(0x10000, b"\xff"))
    return build(notes=thread(PID, pc=0x700200) + psinfo() + auxv((33, 0x700000), (3, MAX), (9, MAX)),
                 memories=(*MEMORIES, (0x700000, content, 5)))


def huge_vdso():
    return build(notes=thread(PID, pc=0x700200) + auxv((33, 0x700000), (3, 0x700040)),
                 programs=[(LOAD, 5, 0, 0x700000, 1 << 62, 1 << 62)]), 1 << 40


def locks():
    """10,000 threads wait for futexes whose words say that the next one holds them."""
    words = b"".join(struct.pack("<IIi", 2, 1, PID + (i + 1) % 10000) + bytes(28) for i in range(10000))
    return build(notes=b"".join(thread(PID + i, orig=202, fs=MAX - i, args=(0x800000 + 40 * i, 0x80, 2))
                                for i in range(10000)),
                 memories=((CODE, b"\x0f\x05" * 2048, 5), MEMORIES[1], (0x800000, words, 6)))


def single_bytes():
    """Each byte of the stacks is a segment."""
    return build(notes=b"".join(thread(PID + i, sp=0x900000, orig=202, args=(0x10000, 0x80, 2))
                                for i in range(60000)),
                 programs=[(LOAD, 6, 64, 0x900000 + i, 1, 1) for i in range(800)])


def calls():
    """System calls with arguments that lead nowhere."""
    return build(notes=b"".join(thread(PID + i, orig=i % 500, args=(MAX - i, MAX, BIG, MAX, 1 << 40, 3))
                                for i in range(3000)),
                 memories=((CODE, b"\x0f\x05" * 2048, 5), MEMORIES[1]))


# ---- running -------------------------------------------------------------------------------------

KINDS = (overlap, no_section, many_headers, one_header_again, wraps, half_of_all, note_sizes, note_end,
         thread_sizes, same_threads, strange_ids, names, note_holes, file_holes, most_files,
         most_threads_in_files, file_tables, no_end_of_path, build_ids, build_id_short, cie_itself, fde_endless,
         rules_without_end, own_rules, expressions, go_again, debug_frame_again, sections_again, vdso,
         huge_vdso, locks, single_bytes, calls)


def write(made):
    """Its bytes; or with its length, the rest being holes, and pieces there."""
    data, length, pieces = made + (0, {})[len(made) - 1:]
    with open("core", "wb") as file:
        file.write(data)
        if length:
            try:
                file.truncate(length)
            except OSError:
                pass  # this file system has none so long
        for offset, piece in pieces.items():
            file.seek(offset)
            file.write(piece)


def run(pmp, form):
    """Status, None if it has not ended; processor time, MiB, what it has printed."""
    began = time.monotonic()
    child = os.fork()
    if not child:
        os.setsid()
        for number, name in enumerate(("/dev/null", "out", "err")):
            os.dup2(os.open(name, os.O_RDWR | os.O_CREAT | os.O_TRUNC), number)
        os.execv(pmp, [pmp, "-f", form, "core"])
    ended, status, usage = 0, 0, None
    while not ended and time.monotonic() - began < PATIENCE:
        time.sleep(0.01)
        ended, status, usage = os.wait4(child, os.WNOHANG)
    if not ended:
        os.killpg(child, signal.SIGKILL)
        usage = os.wait4(child, 0)[2]
    return (os.waitstatus_to_exitcode(status) if ended else None, usage.ru_utime + usage.ru_stime,
            usage.ru_maxrss // 1024, open("out", "rb").read(), open("err", "rb").read())


def judge(status, took, most, out, err):
    """What is wrong with it."""
    if status is None:
        yield "hangs"
    elif status not in STATUSES:
        yield "status %d" % status
    elif status and not err:
        yield "says nothing"
    if took > LIMIT:
        yield "takes long"
    if most > MEMORY:
        yield "takes memory"
    if re.search(rb"[\0-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]", out + err):
        yield "prints control bytes"
    if re.search(rb"was ended|ended unexpectedly|gave no answer|runtime error", err):
        yield "loses a process"


def main():
    pmp, failed = os.path.abspath(sys.argv[1]), 0
    kinds = [kind for kind in KINDS if not sys.argv[2:] or kind.__name__ in sys.argv[2:]]
    folder = tempfile.mkdtemp(prefix="pmp-cores.")
    os.chdir(folder)
    try:
        for kind in kinds:
            made = kind()
            write(made if isinstance(made, tuple) else (made,))
            for form in "raw", "folded":
                status, took, most, *said = run(pmp, form)
                wrong = list(judge(status, took, most, *said))
                failed += bool(wrong)
                print("%s %s: status %s, %.2f s, %d MiB" % (kind.__name__, form, status, took, most), *wrong,
                      sep="\n  WRONG ", flush=True)
            os.unlink("core")
    finally:
        os.chdir("/")
        shutil.rmtree(folder)
    print("%d kinds of cores: %d failures" % (len(kinds), failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
