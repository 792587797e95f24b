# SPDX-License-Identifier: GPL-2.0-or-later
"""So many pages of pmp --serve, each of which asks as the real one does, once a second.

    pages.py PORT PAGES
"""
import http.client
import json
import sys
import threading
import time

port, pages = int(sys.argv[1]), int(sys.argv[2])


def ask(connection, path):
    connection.request("GET", path, headers={"Accept-Encoding": "gzip"})
    return connection.getresponse().read()


def look(number):
    connection, end = None, 0
    time.sleep(number / max(pages, 1))
    while True:
        began = time.monotonic()
        try:
            connection = connection or http.client.HTTPConnection("127.0.0.1", port, timeout=20)
            end = json.loads(plain(ask(connection, "/api/state")))["now"] // 1000 * 1000
            ask(connection, "/api/timeline?from=%d" % end)
            ask(connection, "/api/tree?from=-60000&to=0&split=group&px=1280")
        except (OSError, http.client.HTTPException):
            connection = None
        time.sleep(max(1, 5 * (time.monotonic() - began)))


def plain(body):
    import gzip
    return gzip.decompress(body) if body[:2] == b"\x1f\x8b" else body


for page in range(pages):
    threading.Thread(target=look, args=(page,)).start()
