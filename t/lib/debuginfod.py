#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A debuginfod server for tests, on a port of the loopback that the kernel chooses.

debuginfod.py FOLDER: serves FOLDER/BUILDID/debuginfo and FOLDER/BUILDID/executable as
/buildid/BUILDID/..., writes "ready PORT" and then a line for each request: the status
and the path. Of a file NAME.hang beside such a file the content is how it hangs:
"silent" before it answers, "half" in the middle of the file, "endless" sends it again and again;
"slow" and "held" are only that: the answer comes after 5 and 20 s, or when NAME.hang has been
removed.
"""
import http.server
import os
import re
import sys
import threading
import time

folder = os.path.abspath(sys.argv[1])
for_ever = threading.Event()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def say(self, status):
        sys.stdout.write("%s %s\n" % (status, self.path))
        sys.stdout.flush()

    def read(self, path):
        try:
            with open(path, "rb") as file:
                return file.read()
        except OSError:
            return None

    def do_GET(self):
        match = re.fullmatch(r"/buildid/([0-9a-f]+)/(debuginfo|executable)", self.path)
        path = os.path.join(folder, *match.groups()) if match else "/nowhere"
        hang, content = self.read(path + ".hang"), self.read(path)
        if hang and hang.strip() == b"silent":
            self.say("hang")
            for_ever.wait()
        if hang and hang.strip() in (b"slow", b"held"):
            self.say(hang.strip().decode())
            until = time.monotonic() + (5 if hang.strip() == b"slow" else 20)
            while time.monotonic() < until and os.path.exists(path + ".hang"):
                time.sleep(0.02)
            hang = None
        self.say("404" if content is None else "200")
        self.send_response(404 if content is None else 200)
        endless = hang and hang.strip() == b"endless"
        if endless:
            self.send_header("Connection", "close")
        else:
            self.send_header("Content-Length", str(len(content or b"")))
        self.end_headers()
        while endless:
            self.wfile.write(content)
            self.wfile.flush()
            time.sleep(0.01)
        if hang:
            self.wfile.write(content[: len(content) // 2])
            self.wfile.flush()
            for_ever.wait()
        self.wfile.write(content or b"")

    def log_message(self, *args):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *args):
        pass  # a client that has gone


server = Server(("127.0.0.1", 0), Handler)
sys.stdout.write("ready %d\n" % server.server_address[1])
sys.stdout.flush()
server.serve_forever()
