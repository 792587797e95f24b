#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""acl.py UID PATH: that user may write to it, too (acl(5)). For want of setfacl(1)."""
import os
import struct
import sys

USER_OBJ, USER, GROUP_OBJ, MASK, OTHER = 1, 2, 4, 16, 32
NOBODY = 0xFFFFFFFF
entries = [
    (USER_OBJ, 7, NOBODY),
    (USER, 7, int(sys.argv[1])),
    (GROUP_OBJ, 5, NOBODY),
    (MASK, 7, NOBODY),
    (OTHER, 5, NOBODY),
]
acl = struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)
os.setxattr(sys.argv[2], "system.posix_acl_access", acl)
