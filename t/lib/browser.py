# SPDX-License-Identifier: GPL-2.0-or-later
"""A browser for tests: Chromium without a window, driven through a pair of pipes.

    with browser.Browser() as page:
        page.open("file:///tmp/x.html")
        print(page.text("#status"))
        page.click("#help-button")
        page.key("Escape")

Clicks and keys are those of a user: they work under any policy of the page. What the
page logs, what its policy forbids and what it asks for is in page.messages and
page.requests. Messages are JSON, each ended by a NUL, on descriptors 3 and 4.
"""
import base64
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time

NAMES = ["chromium", "chromium-browser", "google-chrome"]
KEYS = {
    "Enter": 13, "Escape": 27, "Backspace": 8, "Tab": 9, "ArrowLeft": 37, "ArrowUp": 38,
    "ArrowRight": 39, "ArrowDown": 40, "Home": 36, "End": 35, "PageUp": 33, "PageDown": 34,
}


def found():
    """The name of the browser, or None."""
    return next((name for name in NAMES if shutil.which(name)), None)


class Browser:
    def __init__(self, width=1280, height=800):
        self.folder = tempfile.mkdtemp(prefix="pmp-browser-")
        self.number = 0
        self.received = b""
        self.messages, self.requests = [], []
        self.size = (width, height)

    def __enter__(self):
        # Descriptors 3 and 4 of the browser; none of ours may be in their places.
        for_it, self.write_to = os.pipe()
        self.read_from, from_it = os.pipe()

        def take_places():
            reader, writer = os.dup(for_it), os.dup(from_it)
            high = [os.dup(x) for x in [reader] * 8][-1]
            high_writer = os.dup(writer)
            os.dup2(high, 3)
            os.dup2(high_writer, 4)

        self.process = subprocess.Popen(
            [found(), "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic",
             "--no-first-run", "--disable-background-networking", "--disable-sync",
             "--disable-component-update", "--disable-dev-shm-usage", "--hide-scrollbars",
             "--force-color-profile=srgb", "--user-data-dir=" + self.folder,
             "--remote-debugging-pipe", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, close_fds=False, preexec_fn=take_places,
            start_new_session=True)
        os.close(for_it)
        os.close(from_it)
        self.session = None
        targets = self.call("Target.getTargets")["targetInfos"]
        target = next(t for t in targets if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"],
                                 flatten=True)["sessionId"]
        for domain in ["Page", "Runtime", "Log", "Network"]:
            self.call(domain + ".enable")
        self.resize(*self.size)
        return self

    def __exit__(self, *_):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        os.close(self.write_to)
        os.close(self.read_from)
        shutil.rmtree(self.folder, ignore_errors=True)

    # ---- the protocol

    def next_message(self, deadline):
        while b"\0" not in self.received:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.read_from], [], [], left)[0]:
                raise TimeoutError("the browser does not answer")
            more = os.read(self.read_from, 1 << 20)
            if not more:
                raise EOFError("the browser has ended")
            self.received += more
        message, self.received = self.received.split(b"\0", 1)
        return json.loads(message)

    def note(self, message):
        method, what = message.get("method"), message.get("params", {})
        if method == "Log.entryAdded" and what["entry"]["level"] != "verbose":
            self.messages.append(what["entry"]["level"] + ": " + what["entry"]["text"])
        elif method == "Runtime.exceptionThrown":
            details = what["exceptionDetails"]
            self.messages.append("exception: " + details.get("exception", {}).get(
                "description", details["text"]))
        elif method == "Runtime.consoleAPICalled":
            self.messages.append(what["type"] + ": " + " ".join(
                str(a.get("value")) for a in what["args"]))
        elif method == "Network.requestWillBeSent":
            self.requests.append(what["request"]["url"])

    def call(self, method, timeout=60, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.write_to, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + timeout
        while True:
            answer = self.next_message(deadline)
            if answer.get("id") != self.number:
                self.note(answer)
            elif "error" in answer:
                raise RuntimeError(method + ": " + answer["error"]["message"])
            else:
                return answer["result"]

    # ---- what a user does

    def resize(self, width, height, scale=1, mobile=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=scale, mobile=mobile)

    def media(self, **features):
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": name.replace("_", "-"), "value": value}
            for name, value in features.items()])

    def open(self, url, ready="document.documentElement.classList.contains('loaded')"):
        self.call("Page.navigate", url=url)
        self.wait("document.readyState === 'complete' && (" + ready + ")")

    def wait(self, condition, seconds=60):
        deadline = time.monotonic() + seconds
        while not self.do(condition):
            if time.monotonic() > deadline:
                raise TimeoutError("waited in vain for: " + condition)
            time.sleep(0.02)

    def do(self, expression):
        """The value of an expression of JavaScript."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True,
                           awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(expression + ": " + json.dumps(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def click_at(self, x, y, clicks=1):
        for kind in ["mousePressed", "mouseReleased"]:
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left",
                      clickCount=clicks)

    def drag(self, x, y, to_x, to_y, shift=False):
        """Press the button in one place and release it in another."""
        modifiers = 8 if shift else 0
        steps = [("mousePressed", x, y)] + [
            ("mouseMoved", x + (to_x - x) * i / 4, y + (to_y - y) * i / 4)
            for i in range(1, 5)] + [("mouseReleased", to_x, to_y)]
        for kind, at_x, at_y in steps:
            self.call("Input.dispatchMouseEvent", type=kind, x=at_x, y=at_y,
                      button="left", buttons=1, clickCount=1, modifiers=modifiers)

    def click(self, selector):
        """Click in the middle of an element, which is scrolled to."""
        x, y = self.do("""(function () {
            const e = document.querySelector(%s);
            e.scrollIntoView({ block: "nearest" });
            const r = e.getBoundingClientRect();
            return [r.x + r.width / 2, r.y + r.height / 2];
        })()""" % json.dumps(selector))
        self.click_at(x, y)

    def key(self, name):
        text = {} if name in KEYS and name != "Enter" else {
            "text": "\r" if name == "Enter" else name}
        code = KEYS.get(name, ord(name.upper()) if len(name) == 1 else 0)
        self.call("Input.dispatchKeyEvent", type="keyDown", key=name,
                  windowsVirtualKeyCode=code, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=name,
                  windowsVirtualKeyCode=code)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def text(self, selector):
        return self.do("document.querySelector(%s).textContent" % json.dumps(selector))

    def screenshot(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("Page.captureScreenshot")["data"]))
