# SPDX-License-Identifier: Apache-2.0
"""Starts the loopback upstream beside the recorded pages, and makes it fail."""
import contextlib
import json
import re
import select
import subprocess
import sys
import urllib.parse
import urllib.request

START_SECONDS = 120


class Upstream:
    """A running upstream.py; url: of its simple index."""

    def __init__(self, shared, options):
        command = [sys.executable, str(shared / "corpus" / "upstream.py"), *map(str, options)]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        ready, _, _ = select.select([self.process.stdout], [], [], START_SECONDS)
        line = self.process.stdout.readline() if ready else ""
        found = re.search(r"http://\S+", line)
        if not found:
            self.stop()
        assert found, f"no URL but {line!r}"
        self.url = found.group()

    def _control(self, path):
        with urllib.request.urlopen(urllib.parse.urljoin(self.url, path), timeout=60) as answer:
            return json.load(answer)

    def stats(self):
        """Its requests since the start, or since reset()."""
        return self._control("/__stats")

    def reset(self):
        self._control("/__reset")

    def fail(self, mode, **how):
        """How it fails from now on ("none": not at all). how: on, project, times."""
        self._control("/__fail?" + urllib.parse.urlencode({"mode": mode, **how}))

    def stop(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


@contextlib.contextmanager
def upstreams(shared):
    """A function that starts one with these options; all are stopped at the end."""
    with contextlib.ExitStack() as stack:
        def start(*options):
            one = Upstream(shared, options)
            stack.callback(one.stop)
            return one
        yield start
