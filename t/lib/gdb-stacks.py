# SPDX-License-Identifier: GPL-2.0-or-later
# For gdb: print the stack of each thread as "TID pc pc pc ...", innermost
# first, without the frames that gdb infers and that are not on the stack: inlined
# functions and tail calls.
#   gdb -nx -batch -p PID -x gdb-stacks.py
import gdb

gdb.execute("set pagination off")
gdb.execute("set backtrace limit 2000")
for thread in gdb.selected_inferior().threads():
    thread.switch()
    pcs = []
    try:
        frame = gdb.newest_frame()
        while frame is not None:
            if frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):
                pcs.append("%x" % frame.pc())
            frame = frame.older()
    except gdb.error as e:
        pcs.append("error:" + str(e).replace(" ", "_"))
    gdb.write("STACK %d %s\n" % (thread.ptid[1], " ".join(pcs)))
