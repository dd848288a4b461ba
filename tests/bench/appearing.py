# SPDX-License-Identifier: Apache-2.0
"""One new wheel, renamed or copied into a store that is served: how long until it is on its project's page."""
import contextlib
import http.client
import os
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
OFTEN = 100


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
        self.made, self.round = 0, folder.name.count(" ")

    def milliseconds(self, after_copy, put=shutil.copy):
        wheel = shape.make_wheel(self.waiting, PROJECT, f"{self.round}.{self.made}").path
        self.made += 1
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", self.one.port, timeout=LONGEST)) as connection:
            connection.request("GET", f"/simple/{PROJECT}/")
            connection.getresponse().read()
            begin = time.monotonic()
            put(wheel, self.store / wheel.name)
            after_copy()
            wait_until_listed(connection, wheel.name.encode())
            return (time.monotonic() - begin) * 1000

    def run_index(self):
        subprocess.run(self.index, stdout=subprocess.DEVNULL, check=True)

    def tell_server(self):
        self.one.process.send_signal(signal.SIGHUP)


def row(name, found):
    return [name, f"{statistics.median(found):,.0f}", f"{max(found):,.0f}", f"{len(found)} times"]


def watched_rows(binary, store, folder):
    one = ours.start(binary, store, folder, settings="threads = 1\nrescan = 3600\n")
    try:
        appearing = Appearing(binary, store, folder, one)
        appearing.milliseconds(appearing.run_index)  # its project is known, and the first scan has ended
        for name, put in (("renamed", os.rename), ("copied", shutil.copy)):
            yield row(f"{name}; the file system tells", [appearing.milliseconds(lambda: None, put) for _ in range(OFTEN)])
    finally:
        one.stop()


def unwatched_rows(binary, store, folder, count):
    one = ours.start(binary, store, folder, settings="threads = 1\n[index]\nwatch = no\n[server]\n")
    try:
        appearing = Appearing(binary, store, folder, one)
        ways = [("copied; the next scan (watch = no, or on AFS and NFS; rescan = 60, as it is by default)", lambda: None, 1),
                ("copied; SIGHUP to the server", appearing.tell_server, count),
                ("copied; wheelcache index", appearing.run_index, count)]
        for name, act, times in ways:
            yield row(name, [appearing.milliseconds(act) for _ in range(times)])
    finally:
        one.stop()


def bench(binary, store, folder, wheels, count):
    """Returns the table as text. The wheels stay in the store."""
    rows = []
    for name, part in (("told", watched_rows), ("not told", lambda *where: unwatched_rows(*where, count))):
        (folder / name).mkdir()
        rows += part(binary, store, folder / name)
    return table.text([f"one new wheel among {wheels:,}", "ms until it is listed", "longest", "tried"], rows)
