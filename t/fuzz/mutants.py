#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""pmp as a whole on a target whose files are damaged.

    mutants.py PMP COUNT [SEED]

A program with a library, a debug file and a perf map is started. Then, COUNT times, one to
four bytes of one of these files are changed, the first of them in headers, which it goes
through byte by byte, each first with 0 and 255 and then with others: the headers of the file,
of segments and sections, of notes, and the start of each section. Or a thread and the library
get names of any bytes. pmp takes a snapshot of the process, or reads a saved profile of it
with --symfs; each tenth time the core of it. The files are as before afterwards. pmp must end
by itself within 10 s, by no signal, with a status of its own, and neither of its processes by
a signal; each 101st time strace says that it opens no file but those that it opens when
nothing is damaged, those of the folder and debug files, of no other process than itself and
the target, runs no other program, and makes no connection. The end of a process that reads
files is counted: it costs the names of that file.

Prints a line for each failure, and a sum. The status is 1 if anything has failed.
"""

import glob
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

LIMIT = 10  # seconds
TRACED = 101  # a prime, so that each kind of file is traced in turn
VALUES = [0, 1, 0x7F, 0x80, 0xFF]
FIRST = [0xFF, 0]  # what each byte of the headers is at least
DEATHS = rb"the (sampler|server) (was ended|did not answer|ended)|are kept$"
STATUSES = {0, 1, 2, 3, 4}
JOIN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib/calls.awk")
INTERNET = re.compile(r"\b(?:socket\(|(?:connect|bind|sendto|sendm?msg)\(.*\{sa_family=)AF_INET6?,")
LIBRARY = """
#include <unistd.h>
volatile int drain;
static __attribute__((noinline)) void hidden_sleep(void) { pause(); drain++; }
static inline __attribute__((always_inline)) void inlined_sleep(void) { hidden_sleep(); drain++; }
void library_sleep(void) { inlined_sleep(); drain++; }
"""
PROGRAM = """
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>
void library_sleep(void);
static const unsigned char code[] = { 0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3 };
static void *work(void *arg) { library_sleep(); return arg; }
static void *rename_self(void *arg)
{
	char name[16];
	while (read(0, name, sizeof(name)) == sizeof(name)) {
		prctl(PR_SET_NAME, name);
		printf("named\\n");
		fflush(stdout);
	}
	return arg;
}
int main(void)
{
	void (*jit)(void (*)(void));
	pthread_t thread;
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	memcpy(page, code, sizeof(code));
	memcpy(&jit, &page, sizeof(jit));
	pthread_create(&thread, NULL, work, NULL);
	pthread_create(&thread, NULL, rename_self, NULL);
	printf("%p\\n", page);
	fflush(stdout);
	jit(library_sleep);
}
"""


def run(*words, **more):
    subprocess.run(words, check=True, **more)


class Target:
    def __init__(self, folder):
        self.folder = folder
        os.chdir(folder)
        open("library.c", "w").write(LIBRARY)
        open("program.c", "w").write(PROGRAM)
        run("gcc", "-g", "-O1", "-fPIC", "-shared", "-Wl,--build-id", "-Wl,-z,now",
            "-o", "libvictim.so", "library.c")
        run("gcc", "-g", "-O1", "-pthread", "-Wl,-rpath," + folder, "-Wl,--build-id",
            "-o", "victim", "program.c", "./libvictim.so")
        ids = re.search(rb"Build ID: ([0-9a-f]+)", subprocess.check_output(
            ["readelf", "-n", "libvictim.so"]))[1].decode()
        self.debug = "debug/.build-id/%s/%s.debug" % (ids[:2], ids[2:])
        os.makedirs(os.path.dirname(self.debug))
        run("objcopy", "--only-keep-debug", "libvictim.so", self.debug)
        run("strip", "libvictim.so")
        loader = re.search(rb"interpreter: (.*)]", subprocess.check_output(
            ["readelf", "-l", "victim"]))[1]
        # A file that is executed cannot be written to; one that its loader has mapped can.
        self.process = subprocess.Popen([loader, "./victim"], bufsize=0,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        page = int(self.process.stdout.readline(), 16)
        self.pid = self.process.pid
        self.map = "/tmp/perf-%d.map" % self.pid
        open(self.map, "w").write("%x 8 jitted_function\n%x 10 another one\n" % (page, page + 8))
        self.symfs = "symfs" + folder
        os.makedirs(self.symfs)
        for name in ("victim", "libvictim.so"):
            shutil.copy(name, self.symfs)

    def name(self, name):
        self.process.stdin.write(name.ljust(16, b"\0"))
        self.process.stdout.readline()

    def end(self):
        self.process.kill()
        self.process.wait()
        os.unlink(self.map)


def headers(data):
    """Offsets of the headers of an ELF file of 64 bits, and of the start of its sections."""
    offsets = list(range(64))
    phoff, shoff = struct.unpack_from("<QQ", data, 32)
    phsize, phcount, shsize, shcount = struct.unpack_from("<HHHH", data, 54)
    offsets += range(phoff, phoff + phsize * phcount)
    offsets += range(shoff, shoff + shsize * shcount)
    for i in range(shcount):
        kind, = struct.unpack_from("<I", data, shoff + i * shsize + 4)
        start, size = struct.unpack_from("<QQ", data, shoff + i * shsize + 24)
        if kind not in (0, 8):
            offsets += range(start, start + min(size, 96))
    return [offset for offset in offsets if offset < len(data)]


class Victim:
    """A file that is damaged and mended."""

    def __init__(self, path, arguments, everywhere=False):
        self.path, self.arguments = path, arguments
        self.data = open(path, "rb").read()
        self.offsets = (list(range(len(self.data))) if everywhere
                        else sorted(set(headers(self.data))))
        self.first = [(offset, value) for value in FIRST for offset in reversed(self.offsets)
                      if self.data[offset] != value]
        self.tried = set()

    def other(self, chance):
        offset = (chance.choice(self.offsets) if chance.random() < 0.95
                  else chance.randrange(len(self.data)))
        return offset, chance.choice(VALUES + [self.data[offset] ^ 1 << chance.randrange(8),
                                               chance.randrange(256)])

    def damage(self, chance):
        changes = [self.first.pop() if self.first else self.other(chance)]
        self.tried.add(changes[0][0])
        if not self.first:
            changes += [self.other(chance) for _ in range(chance.choice([0, 0, 0, 1, 3]))]
        self.write(changes)
        return changes

    def write(self, changes):
        with open(self.path, "r+b") as file:
            for offset, value in changes:
                file.seek(offset)
                file.write(bytes([value]))

    def mend(self, changes):
        self.write([(offset, self.data[offset]) for offset, _ in changes])


class Names:
    """Of a thread and of a file."""

    path = "names"

    def __init__(self, target, arguments):
        self.target, self.arguments, self.first = target, arguments, []

    def damage(self, chance):
        def some(most):
            return bytes(chance.choice([b for b in range(1, 256) if b != 0x2F])
                         for _ in range(chance.randrange(1, most)))
        thread, file = some(16), b"lib" + some(chance.choice([8, 250]))
        self.target.name(thread)
        os.rename(b"libvictim.so", file)
        return thread, file

    def mend(self, changes):
        os.rename(changes[1], b"libvictim.so")


def calls():
    """What strace has written, each call in one line."""
    return subprocess.run(["awk", "-f", JOIN, "trace"], check=True, stdout=subprocess.PIPE,
                          env={**os.environ, "LC_ALL": "C"}).stdout.decode(errors="replace")


def plain(path, known):
    """Without numbers, but processes are told apart: pmp's own, the target, and others."""
    def word(match):
        if path[:match.start()].endswith(("/proc/", "/perf-")):
            return known.get(match[0], match[0])
        return "N"
    return re.sub(r"[0-9a-f]{6,}|\d+", word, path)


def opened(text, target):
    """Paths that were opened, as they were named and as what they have led to."""
    known = {**dict.fromkeys(re.findall(r"^(\d+) ", text, re.M), "PMP"), str(target): "TARGET"}
    for match in re.finditer(
            r'\bopen(?:at2?)?\((?:[-\w]+(?:<([^>]*)>)?, )?"([^"]*)"[^\n]*= \d+(?:<(/.*)>)?', text):
        yield plain(os.path.normpath(os.path.join(match[1] or "", match[2])), known)
        if match[3]:
            yield plain(match[3], known)


def traced(text, folder, target, usual):
    """What strace says that pmp must not do."""
    folder = plain(folder, {})
    for path in opened(text, target):
        if path not in usual and not path.startswith((folder, "/usr/lib/debug")):
            yield "opens " + path
    for line in text.splitlines():
        if INTERNET.search(line):
            yield line
    programs = re.findall(r"\bexecve(?:at)?\([^\n]*= 0$", text, re.M)
    yield from programs[1:]


def one(pmp, arguments, trace):
    """Status, seconds, output, what is wrong."""
    command = [pmp, *arguments]
    if trace:
        command = ["strace", "-f", "-qq", "-y", "-s", "512", "-o", "trace",
                   "-e", "trace=%network,open,openat,openat2,execve,execveat", *command]
    began = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               start_new_session=True)
    try:
        output, _ = process.communicate(timeout=LIMIT * (3 if trace else 1))
    except subprocess.TimeoutExpired:
        # With strace pmp is a child of it, which would hold the pipe.
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return None, time.monotonic() - began, b""
    return process.returncode, time.monotonic() - began, output


def main():
    pmp, count = os.path.abspath(sys.argv[1]), int(sys.argv[2])
    chance = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    folder = tempfile.mkdtemp(prefix="pmp-mutants.")
    target = Target(folder)
    live = ["--raw", "--lines", "-n", "1", "--debug-dir", folder + "/debug",
            "-p", str(target.pid)]
    saved = ["--raw", "--lines", "--symfs", folder + "/symfs", "--debug-dir",
             folder + "/debug", "saved.pb.gz"]
    core = ["--raw", "--lines", "--debug-dir", folder + "/debug", "core"]
    failed = named = longest = traces = ended = 0
    try:
        run(pmp, "-q", "--no-symbols", "-n", "2", "-i", "10ms", "-o", "saved.pb.gz", "-p",
            str(target.pid))
        run("gcore", "-o", "core", str(target.pid), stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.rename("core.%d" % target.pid, "core")
        victims = [Victim("libvictim.so", live), Victim("victim", live),
                   Victim(target.debug, live), Victim(target.map, live, True),
                   Names(target, live),
                   Victim(target.symfs + "/victim", saved),
                   Victim(target.symfs + "/libvictim.so", saved),
                   Victim(target.debug, saved)]
        cores = Victim("core", core)
        # Before the thread runs in code that it is for, nothing looks for the map.
        usual = set(opened('1 open("%s") = 3' % target.map, target.pid))
        for arguments in 5 * (live, saved, core):  # what threads do by then, differs
            one(pmp, arguments, True)
            usual.update(opened(calls(), target.pid))
        for i in range(count):
            victim = cores if i % 10 == 9 else victims[i % len(victims)]
            trace = i % TRACED == 0
            changes = victim.damage(chance)
            status, took, output = one(pmp, victim.arguments, trace)
            victim.mend(changes)
            longest = max(longest, took if not trace else 0)
            named += b"library_sleep" in output or b"hidden_sleep" in output
            wrong = []
            if status is None:
                wrong = ["hangs"]
            elif status not in STATUSES:
                wrong = ["status %d" % status]
            if trace:
                traces += 1
                wrong += traced(calls(), folder, target.pid, usual)
            ended += b"the process that reads files" in output
            if re.search(DEATHS, output, re.M) or b"runtime error" in output:
                wrong.append(output.decode(errors="replace")[-300:])
            if target.process.poll() is not None:
                wrong.append("the target has ended")
            if wrong:
                failed += 1
                print(i, victim.path, changes, *wrong, sep="\n  ", flush=True)
            if target.process.poll() is not None:
                break
    except KeyboardInterrupt:
        pass
    finally:
        target.end()
        os.chdir("/")
        shutil.rmtree(folder)
    print("%d damaged files: %d failures, named in %d, longest %.2f s, %d traced" %
          (i + 1, failed, named, longest, traces))
    print("the process that reads files ended %d times; bytes of headers not tried: %d" %
          (ended, sum(len(set(victim.offsets) - victim.tried)
                      for victim in (*victims, cores) if victim.path != "names")))
    return 1 if failed else 0


sys.exit(main())
