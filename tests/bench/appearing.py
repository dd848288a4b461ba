# SPDX-License-Identifier: Apache-2.0
"""One new wheel, copied into a store that is served: how long until it is on its project's page."""
import contextlib
import http.client
import shutil
import signal
import statistics
import subprocess
import time

import ours
import shape
import table

PROJECT = "appearing"
LONGEST = 120


def wait_until_listed(connection, name):
    """Polls on one connection."""
    deadline = time.monotonic() + LONGEST
    while time.monotonic() < deadline:
        connection.request("GET", f"/simple/{PROJECT}/")
        if name in connection.getresponse().read():
            return
        time.sleep(0.001)
    raise RuntimeError(f"{name} is on no page after {LONGEST} s")


class Appearing:
    """A served store, and wheels to be copied into it."""

    def __init__(self, binary, store, folder, one):
        self.index = [str(binary), "index", "--catalog", str(folder / "catalog.db"), str(store)]
        self.store, self.waiting, self.one = store, folder / "waiting", one
        self.waiting.mkdir()
        self.made = 0

    def milliseconds(self, after_copy):
        wheel = shape.make_wheel(self.waiting, PROJECT, f"1.{self.made}").path
        self.made += 1
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", self.one.port, timeout=LONGEST)) as connection:
            connection.request("GET", f"/simple/{PROJECT}/")
            connection.getresponse().read()
            begin = time.monotonic()
            shutil.copy(wheel, self.store / wheel.name)
            after_copy()
            wait_until_listed(connection, wheel.name.encode())
            return (time.monotonic() - begin) * 1000

    def run_index(self):
        subprocess.run(self.index, stdout=subprocess.DEVNULL, check=True)

    def tell_server(self):
        self.one.process.send_signal(signal.SIGHUP)


def bench(binary, store, folder, wheels, count):
    """Returns the table as text. The wheels stay in the store."""
    one = ours.start(binary, store, folder, settings="threads = 1\n")
    try:
        appearing = Appearing(binary, store, folder, one)
        ways = [("nothing: the next scan (rescan = 60, as it is by default)", lambda: None, 1),
                ("SIGHUP to the server", appearing.tell_server, count), ("wheelcache index", appearing.run_index, count)]
        rows = []
        for name, act, times in ways:
            found = [appearing.milliseconds(act) for _ in range(times)]
            rows.append([name, f"{statistics.median(found):,.0f}", f"{max(found):,.0f}", f"{times} times"])
    finally:
        one.stop()
    return table.text([f"one new wheel among {wheels:,}; then", "ms until it is listed", "longest", "tried"], rows)
