# SPDX-License-Identifier: Apache-2.0
"""What a page costs in a view with a membership of 10,000 files, beside the same page in a view that shows all files of its
platform: from the page cache, and rendered for each request by a server without one."""
import contextlib
import hashlib
import http.client
import re
import statistics
import subprocess

import memberships  # of tests/e2e, which shape knows
import pruning
import scans
import server
import storelib
import table

PROJECTS, VERSIONS = 100, 100  # 10,000 wheels
PLATFORM = "debian-12-x86_64"
JSON = {"Accept": "application/vnd.pypi.simple.v1+json", "Accept-Encoding": "gzip"}
SAME = 1.1
REQUESTS = {"64M": 4000, "0": 100}  # page-cache: requests in a round
VIEWS = {"all files": "staging", "members": "tested", "members, at a time": "tested@2026-11-20"}
CONFIG = """[server]
threads = 1
rescan = 0
log-level = error
page-cache = {cache}
[store]
path = {store}
[platform {platform}]
[view staging]
platforms = {platform}
[view tested]
from = staging
"""
PAGES = {f"page of {VERSIONS} files": "simple/p007/", f"list of {PROJECTS} projects": "simple/"}


def make_store(store):
    """All wheels, and a membership that has each of them."""
    adds = []
    for number in range(PROJECTS):
        place = store / PLATFORM / f"p{number:03}"
        place.mkdir(parents=True)
        for version in range(VERSIONS):
            pruning.make_tiny_wheel(place, f"p{number:03}", f"1.{version}", "py3-none-any")
        for path in sorted(place.iterdir()):
            adds.append((PLATFORM, storelib.Wheel(path, hashlib.sha256(path.read_bytes()).hexdigest(), 0, b"")))
    memberships.append(store, "tested", adds)


def start(binary, folder, cache):
    config = folder / f"{cache}.conf"
    config.write_text(CONFIG.format(store=folder / "store", cache=cache, platform=PLATFORM))
    scans.timed([str(binary), "index", "--json", "--config", str(config), "--catalog", str(folder / "catalog.db")])
    process = server.start(binary, "serve", "--listen", "127.0.0.1:0", "--config", config, "--catalog", folder / "catalog.db",
                           stdout=subprocess.PIPE, text=True)
    return server.Server(process, int(re.search(r":(\d+)/?\s*$", process.stdout.readline()).group(1)))


def cpu_us(one, path, count):
    """Of the server, a request on a kept connection."""
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", one.port, timeout=60)) as connection:
        for number in range(count + 1):
            if number == 1:  # the first one opens the connection and fills the cache
                before = one.cpu_seconds()
            connection.request("GET", path, headers=JSON)
            answer = connection.getresponse()
            size = len(answer.read())
            assert (answer.status, size > 100) == (200, True), (path, answer.status, size)
    return (one.cpu_seconds() - before) * 1e6 / count


def rows(one, cache, count):
    """Rounds in turn, so that what else the machine does concerns all views."""
    name = "rendered" if cache == "0" else "cached"
    for page, path in PAGES.items():
        found = {view: [] for view in VIEWS}
        for _ in range(count):
            for view, place in VIEWS.items():
                found[view].append(cpu_us(one, f"/{place}/{path}", REQUESTS[cache]))
        middle = {view: statistics.median(all_of) for view, all_of in found.items()}
        for view, cost in middle.items():
            times = cost / middle["all files"]
            reached = "yes" if times <= SAME else f"{times:.2f} > {SAME}"
            yield [f"{page}, {name}: {view}", f"{cost:.1f}", f"{times:.2f}",
                   reached if (name, view) == ("cached", "members") else ""]


def bench(binary, folder, count):
    """Returns the table as text."""
    make_store(folder / "store")
    lines = []
    for cache in REQUESTS:
        one = start(binary, folder, cache)
        try:
            lines += rows(one, cache, count)
        finally:
            one.stop()
    return table.text([f"views: a membership of {PROJECTS * VERSIONS:,} files", "CPU µs", "of all files", "reached"], lines)
