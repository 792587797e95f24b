#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""without.py landlock|seccomp|both|ptrace|statx COMMAND...: as in a kernel that lacks them, or in
a container that forbids ptrace or does not know statx."""
import ctypes
import os
import platform
import struct
import sys

ERRNO, ALLOW = 0x50000, 0x7FFF0000
PRCTL = {"x86_64": 157, "aarch64": 167}[platform.machine()]
PTRACE = {"x86_64": 101, "aarch64": 117}[platform.machine()]
STATX = {"x86_64": 332, "aarch64": 291}[platform.machine()]
LANDLOCK = 444  # landlock_create_ruleset
PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS = 22, 38
ENOSYS, EINVAL, EPERM = 38, 22, 1


def load(offset):
    return struct.pack("=HBBI", 0x20, 0, 0, offset)


def unless(value, skip):
    return struct.pack("=HBBI", 0x15, 0, skip, value)


def give(value):
    return struct.pack("=HBBI", 0x06, 0, 0, value)


code = [load(0)]
if sys.argv[1] in ("landlock", "both"):
    code += [unless(LANDLOCK, 1), give(ERRNO | ENOSYS)]
if sys.argv[1] in ("seccomp", "both"):
    code += [unless(PRCTL, 3), load(16), unless(PR_SET_SECCOMP, 1), give(ERRNO | EINVAL)]
if sys.argv[1] == "ptrace":
    code += [unless(PTRACE, 1), give(ERRNO | EPERM)]
if sys.argv[1] == "statx":
    code += [unless(STATX, 1), give(ERRNO | EPERM)]
code.append(give(ALLOW))
program = ctypes.create_string_buffer(b"".join(code))
filter = struct.pack("=HxxxxxxQ", len(code), ctypes.addressof(program))
libc = ctypes.CDLL(None, use_errno=True)
if os.geteuid() != 0:
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
if libc.prctl(PR_SET_SECCOMP, 2, filter, 0, 0) != 0:
    sys.exit("no filter: %s" % os.strerror(ctypes.get_errno()))
os.execvp(sys.argv[2], sys.argv[2:])
