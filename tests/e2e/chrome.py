# SPDX-License-Identifier: Apache-2.0
"""A page in headless Chromium that a test can type into: the DevTools protocol over a pair of pipes."""
import fcntl
import json
import os
import select
import shutil
import subprocess
import time

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--disable-extensions", "--remote-debugging-pipe"]
SECONDS = 120  # on a busy machine


def program():
    return shutil.which("chromium") or shutil.which("chromium-browser")


class Chrome:
    """A browser with one page."""

    def __init__(self, folder):
        self.number, self.rest, self.session = 0, b"", None
        (low_in, self.to), (self.back, low_out) = os.pipe(), os.pipe()
        theirs = [fcntl.fcntl(one, fcntl.F_DUPFD, 10) for one in (low_in, low_out)]  # Chromium has them as 3 and 4
        redirect = f'exec "$0" "$@" 3<&{theirs[0]} 4>&{theirs[1]}'
        self.process = subprocess.Popen(["bash", "-c", redirect, program(), *FLAGS, f"--user-data-dir={folder}"],
                                        pass_fds=theirs, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for one in (low_in, low_out, *theirs):
            os.close(one)
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(SECONDS)
        os.close(self.to)
        os.close(self.back)

    def _message(self, deadline):
        while b"\0" not in self.rest:
            ready, _, _ = select.select([self.back], [], [], max(deadline - time.monotonic(), 0))
            assert ready, "chromium does not answer"
            chunk = os.read(self.back, 1 << 16)
            assert chunk, "chromium has ended"
            self.rest += chunk
        one, _, self.rest = self.rest.partition(b"\0")
        return json.loads(one)

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + SECONDS
        while True:
            answer = self._message(deadline)
            if answer.get("id") == self.number:
                assert "result" in answer, answer
                return answer["result"]

    def value(self, script):
        """Of an expression in the page."""
        found = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def wait(self, script, wanted=True):
        deadline = time.monotonic() + SECONDS
        while (seen := self.value(script)) != wanted:
            assert time.monotonic() < deadline, (script, seen)
            time.sleep(0.02)

    def open(self, url):
        self.call("Page.navigate", url=url)
        self.wait(f"document.readyState === 'complete' && location.href === {json.dumps(url)}")

    def type(self, text):
        self.call("Input.insertText", text=text)

    def press(self, key, code):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code,
                      **({"text": "\r"} if key == "Enter" and kind == "keyDown" else {}))
