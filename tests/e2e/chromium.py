# SPDX-License-Identifier: Apache-2.0
"""Headless Chromium, spoken to over two pipes (the DevTools protocol): pages are opened, measured and asked by script."""
import base64
import contextlib
import json
import os
import select
import shutil
import subprocess
import time

FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--remote-debugging-pipe",
         "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions"]
ANSWER_SECONDS = 120
KEYS = {"Tab": 9, "Enter": 13, "Escape": 27, "ArrowDown": 40}


def program():
    return shutil.which("chromium") or shutil.which("chromium-browser")


class Chromium:
    """One tab. events: what the browser told, as {"method", "params"}."""

    def __init__(self, folder):
        theirs_in, self.sink = os.pipe()
        self.source, theirs_out = os.pipe()
        command = [program(), *FLAGS, f"--user-data-dir={folder}"]

        def hand_over():  # Chromium reads from 3 and writes to 4
            first, second = os.dup(theirs_in), os.dup(theirs_out)
            os.dup2(first, 3)
            os.dup2(second, 4)

        with open(folder / "log", "wb") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=hand_over,
                                            pass_fds=(3, 4))
        os.close(theirs_in)
        os.close(theirs_out)
        self.number, self.rest, self.events, self.session = 0, b"", [], None
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")

    def stop(self):
        with contextlib.suppress(OSError):
            os.close(self.sink)
            os.close(self.source)
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def _read(self, end):
        """The next message."""
        while b"\0" not in self.rest:
            ready, _, _ = select.select([self.source], [], [], max(0, end - time.monotonic()))
            chunk = os.read(self.source, 1 << 20) if ready else b""
            assert chunk, "Chromium does not answer"
            self.rest += chunk
        text, _, self.rest = self.rest.partition(b"\0")
        return json.loads(text)

    def ask(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.sink, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + ANSWER_SECONDS
        while True:
            answer = self._read(end)
            if answer.get("id") == self.number:
                assert "error" not in answer, (method, answer["error"])
                return answer["result"]
            if "method" in answer:
                self.events.append(answer)

    def wait(self, method):
        """Waits for an event."""
        end = time.monotonic() + ANSWER_SECONDS
        while not any(one["method"] == method for one in self.events):
            answer = self._read(end)
            if "method" in answer:
                self.events.append(answer)

    def look(self, width, height, dark, scale=1):
        """The size of the window, and the colours that the person prefers."""
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=width < 600)
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def open(self, url):
        """Opens a page; returns when it has loaded and was drawn. Then events has what happened meanwhile."""
        self.events = []
        self.ask("Page.navigate", url=url)
        self.wait("Page.loadEventFired")
        self.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def run(self, script):
        """The value of an expression, a promise too."""
        answer = self.ask("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def picture(self, path, whole=False):
        shot = self.ask("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(shot["data"]))

    def until(self, script, wanted):
        """Waits until an expression has this value, also while another page loads."""
        end = time.monotonic() + ANSWER_SECONDS
        while (seen := self.run(script)) != wanted:
            assert time.monotonic() < end, (script, seen)
            time.sleep(0.02)

    def type(self, text):
        self.ask("Input.insertText", text=text)

    def press(self, key):
        for kind in ("keyDown", "keyUp"):
            text = {"text": "\r"} if (kind, key) == ("keyDown", "Enter") else {}
            self.ask("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=KEYS[key], **text)

    def complaints(self):
        """What the console and the policy said of the page."""
        logged = [one["params"]["entry"] for one in self.events if one["method"] == "Log.entryAdded"]
        thrown = [one["params"] for one in self.events if one["method"] == "Runtime.exceptionThrown"]
        spoken = [one["params"] for one in self.events if one["method"] == "Runtime.consoleAPICalled"]
        return logged + thrown + spoken


@contextlib.contextmanager
def chromium(folder):
    browser = Chromium(folder)
    try:
        yield browser
    finally:
        browser.stop()
