#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A thread that waits for another process, in ways that t/target/locks.c does not have:

        peers.py KIND [FOLDER]          peers.py --list

prints the same lines, "truth KIND ..." and "ready PID", and then waits; FOLDER is for its
files. Of processes that could end the wait all= has the ids, and sure= says what is known
of them: "candidates", or "unknown" with holder=0. first= and last= are the bytes that are
locked, fd= the first of the other process's descriptors.
"""

import ctypes
import fcntl
import os
import signal
import socket
import struct
import sys

WHOLE = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
F_OFD_SETLK = 37
P_PIDFD = 3


def peer(begin=lambda: None, keep=()):
    """A child that begins and then rests, with no descriptors but these (all: None)."""
    done, ready = os.pipe()
    parent, pid = os.getpid(), os.fork()
    if pid:
        os.close(ready)
        os.read(done, 1)
        os.close(done)
        return pid
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
    begin()
    if keep is not None:
        for fd in range(3, 64):
            if fd not in keep and fd != ready:
                try:
                    os.close(fd)
                except OSError:
                    pass
    os.write(ready, b"x")
    os.close(ready)
    while True:
        signal.pause()


def say(wait, of, holder, **more):
    """What is about to be true."""
    number = os.fstat(of).st_ino if wait in ("file", "pipe", "socket") else of
    print("truth", sys.argv[1], "waiter=%d" % os.getpid(), "holder=%d" % holder,
          "object=0x%x" % number, "wait=" + wait, "call=-",
          *("%s=%s" % item for item in more.items()))
    print("ready", os.getpid(), flush=True)


def fill(fd):
    os.set_blocking(fd, False)
    try:
        while True:
            os.write(fd, bytes(4096))
    except BlockingIOError:
        os.set_blocking(fd, True)


# ---- files ------------------------------------------------------------------------------


def opened():
    return os.open("lock", os.O_RDWR | os.O_CREAT, 0o600)


def locker(lock, *args):
    """A child with a lock by a description of its own."""
    return peer(lambda: lock(opened(), *args), keep=None)


def fcntl_range():
    holder = locker(fcntl.lockf, fcntl.LOCK_EX, 100, 100)
    locker(fcntl.lockf, fcntl.LOCK_EX, 100, 500)
    fd = opened()
    say("file", fd, holder, mode="write", first=100, last=199)
    fcntl.lockf(fd, fcntl.LOCK_EX, 150, 150)


def fcntl_readers():
    holders = sorted(locker(fcntl.lockf, fcntl.LOCK_SH) for i in range(2))
    fd = opened()
    say("file", fd, holders[0], mode="write", all="%d,%d" % tuple(holders))
    fcntl.lockf(fd, fcntl.LOCK_EX)


def fcntl_reader():
    holder = locker(fcntl.lockf, fcntl.LOCK_EX, 10, 90)
    fd = opened()
    say("file", fd, holder, mode="read", first=90, last=99)
    fcntl.lockf(fd, fcntl.LOCK_SH)


def fcntl_for_ofd():
    holder = locker(fcntl.fcntl, F_OFD_SETLK, WHOLE)
    fd = opened()
    say("file", fd, holder, mode="write", first=0)
    fcntl.lockf(fd, fcntl.LOCK_EX)


def flock_readers():
    holders = sorted(locker(fcntl.flock, fcntl.LOCK_SH) for i in range(2))
    fd = opened()
    say("file", fd, holders[0], mode="write", all="%d,%d" % tuple(holders))
    fcntl.flock(fd, fcntl.LOCK_EX)


def flock_reader():
    holder = locker(fcntl.flock, fcntl.LOCK_EX)
    fd = opened()
    say("file", fd, holder, mode="read")
    fcntl.flock(fd, fcntl.LOCK_SH)


# ---- pipes ------------------------------------------------------------------------------


def fifo_read():
    os.mkfifo("fifo")
    both = os.open("fifo", os.O_RDWR)
    writer = os.open("fifo", os.O_WRONLY)
    fd = os.open("fifo", os.O_RDONLY)
    holder = peer(keep=(writer, fd))
    os.close(both)
    os.close(writer)
    say("pipe", fd, holder, mode="read", fd=writer)
    os.read(fd, 1)


def fifo_write():
    os.mkfifo("fifo")
    both = os.open("fifo", os.O_RDWR)
    reader = os.open("fifo", os.O_RDONLY)
    fd = os.open("fifo", os.O_WRONLY)
    fill(fd)
    holder = peer(keep=(reader, fd))
    os.close(both)
    os.close(reader)
    say("pipe", fd, holder, mode="write", fd=reader)
    os.write(fd, b"x")


def pipe_own():
    """Its own end, which was to be closed, keeps the pipe open."""
    fd, writer = os.pipe()
    holder = peer(keep=(writer,))
    say("pipe", fd, holder, mode="read", all="%d,%d" % (os.getpid(), holder))
    os.read(fd, 1)


# ---- sockets ----------------------------------------------------------------------------


def unix_dgram():
    one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    holder = peer(keep=(other.fileno(),))
    say("socket", one.fileno(), holder, fd=other.fileno())
    other.close()
    one.recv(1)


def unix_send():
    one, other = socket.socketpair()
    holder = peer(keep=(other.fileno(),))
    fill(one.fileno())
    say("socket", one.fileno(), holder, mode="write", fd=other.fileno())
    other.close()
    one.sendall(b"x")


def unix_accept():
    listener = socket.socket(socket.AF_UNIX)
    listener.bind("socket")
    listener.listen()
    say("socket", listener.fileno(), 0, sure="unknown")
    listener.accept()


def connect_to(listener, address):
    """Until its queue is full, and once more."""
    holder = peer(keep=(listener.fileno(),))
    number = listener.fileno()
    listener.close()
    made = []
    while True:
        made.append(socket.socket(listener.family))
        made[-1].settimeout(0.3)
        try:
            made[-1].connect(address)
        except (BlockingIOError, socket.timeout):
            break
    made[-1].close()
    last = socket.socket(listener.family)
    say("socket", last.fileno(), holder, fd=number, sure="candidates")
    last.connect(address)


def unix_connect():
    listener = socket.socket(socket.AF_UNIX)
    listener.bind("socket")
    listener.listen(0)
    connect_to(listener, "socket")


def tcp_connect():
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(0)
    connect_to(listener, listener.getsockname())


def receive(listener, connected):
    accepted = listener.accept()[0]
    holder = peer(keep=(accepted.fileno(),))
    say("socket", connected.fileno(), holder, fd=accepted.fileno())
    accepted.close()
    connected.recv(1)


def tcp6():
    listener = socket.create_server(("::1", 0), family=socket.AF_INET6)
    connected = socket.create_connection(listener.getsockname()[:2])
    receive(listener, connected)


def tcp_mapped():
    listener = socket.create_server(("", 0), family=socket.AF_INET6,
                                    dualstack_ipv6=True)
    connected = socket.create_connection(("127.0.0.1", listener.getsockname()[1]))
    receive(listener, connected)


# ---- children ---------------------------------------------------------------------------


def wait_id():
    peer()
    child = peer()
    say("child", child, child)
    os.waitid(os.P_PID, child, os.WEXITED)


def wait_pidfd():
    child = peer()
    peer()
    fd = os.pidfd_open(child)
    say("child", child, child)
    os.waitid(P_PIDFD, fd, os.WEXITED)


def wait_group():
    children = (peer(), peer())
    say("child", 0, 0, any="%d,%d" % children)
    os.waitpid(0, 0)


KINDS = [fcntl_range, fcntl_readers, fcntl_reader, fcntl_for_ofd, flock_readers,
         flock_reader, fifo_read, fifo_write, pipe_own, unix_dgram, unix_send,
         unix_accept, unix_connect, tcp_connect, tcp6, tcp_mapped, wait_id, wait_pidfd,
         wait_group]


def main():
    kinds = {kind.__name__.replace("_", "-"): kind for kind in KINDS}
    if sys.argv[1] == "--list":
        print("\n".join(kinds))
        return
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    if len(sys.argv) > 2:
        os.chdir(sys.argv[2])
    kinds[sys.argv[1]]()
    print("verdict: the wait ended", flush=True)


main()
