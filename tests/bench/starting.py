# SPDX-License-Identifier: Apache-2.0
"""How long a server with a store and a catalog takes from its exec to its first page, with 6,200 wheels and with a million files;
and its memory, idle and after load. Beside nginx, which has the page as a file, and pypiron."""
import contextlib
import os
import re
import socket
import sqlite3
import statistics
import subprocess
import time

import lines
import load
import nginx
import people
import pruning
import pypiron
import scans
import server
import shape
import table

WHEELS = 6_200
STARTS = 5       # a round, of each server
SETTLED = 2      # seconds after a start until it is idle
MOST_MS = {"wheelcache": 15, "wheelcache, a million files": 100}
MOST_MB = {"idle": 15, "loaded": 20}
PAUSE = 0.0002   # between attempts to connect
LONGEST = 60
LINKS = 60_000   # fewer than ext4 allows of one file
NGINX = """
    access_log off;
    server {{
        listen 127.0.0.1:{port};
        location / {{ root {site}; index page; default_type application/vnd.pypi.simple.v1+json; }}
    }}
"""


class Start:
    """A server that can be started again and again: its command, and the path of the page that is asked for."""

    def __init__(self, name, command, port, path):
        self.name, self.command, self.port, self.path = name, command, port, path


# --- from exec to the first page ---

def ask(port, request):
    """The answer, or nothing where no server listens or it closes."""
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), LONGEST) as connection:
        connection.sendall(request)
        answer = b""
        while part := connection.recv(1 << 16):
            answer += part
        return answer
    return b""


def launch(start):
    """On the core of servers, without another program between."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {server.CORE})
    begin = time.monotonic()
    process = subprocess.Popen([str(word) for word in start.command], process_group=0, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    os.sched_setaffinity(0, before - {server.CORE})
    return server.Server(process, start.port), begin


def first_page(start):
    """Returns the server, and the milliseconds until its first 200 and of its processor until then."""
    headers = "".join(f"{name}: {value}\r\n" for name, value in lines.JSON.items())
    request = f"GET {start.path} HTTP/1.1\r\nHost: x\r\n{headers}Connection: close\r\n\r\n".encode()
    one, begin = launch(start)
    one.name = start.name
    while not ask(start.port, request).startswith(b"HTTP/1.1 200"):
        if time.monotonic() - begin > LONGEST or one.process.poll() is not None:
            one.stop()
            raise RuntimeError(f"{start.name} gives no page")
        time.sleep(PAUSE)
    waited = (time.monotonic() - begin) * 1000
    return one, waited, one.cpu_seconds() * 1000


def start_row(start, found):
    wait, cpu = (statistics.median(column) for column in zip(*found))
    most = MOST_MS.get(start.name)
    return [start.name, f"{wait:.1f}", f"{min(one[0] for one in found):.1f}", f"{cpu:.1f}",
            "" if not most else "yes" if wait <= most else f"{wait:.1f} > {most}"]


def starts_table(starts, rounds):
    """The servers take turns."""
    found = {start.name: [] for start in starts}
    for _ in range(rounds * STARTS):
        for start in starts:
            one, *figures = first_page(start)
            found[start.name].append(figures)
            one.stop()
    return table.text([f"from exec to the first page, {rounds * STARTS} starts", "ms", "at least", "CPU ms", "reached"],
                      [start_row(start, found[start.name]) for start in starts])


# --- memory ---

def megabytes(one):
    """Proportional, private and resident memory, of the server and its children."""
    found = {"Pss": 0, "Private_Dirty": 0, "Rss": 0}
    for pid in one._processes():
        with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as rollup:
            for name, value in re.findall(r"^(\w+): +(\d+) kB", rollup.read(), re.M):
                if name in found:
                    found[name] += int(value) / 1024
    return found.values()


def load_all(one, made, seconds):
    """Each page and small file, by 32 connections."""
    one.etag = {}
    for line in lines.all_lines(made):
        if line.status == 200 and made.large_wheel.path.name not in line.path:
            with contextlib.suppress(load.Unusable):  # the figures of the load are not of interest
                load.run(one, line, seconds)


def memory_rows(start, made, seconds):
    one = launch(start)[0].wait_until_up()
    try:
        time.sleep(SETTLED)
        one.settle()
        for when in ("idle", "loaded"):
            if when == "loaded":
                load_all(one, made, seconds)
                one.settle()
            pss, private, rss = megabytes(one)
            most = MOST_MB[when] if start.name in MOST_MS else None
            yield [f"{start.name}, {when}", f"{pss:.1f}", f"{private:.1f}", f"{rss:.1f}",
                   "" if not most else "yes" if pss <= most else f"{pss:.1f} > {most}"]
    finally:
        one.stop()


# --- the servers ---

def config_of(folder):
    path = folder / "wheelcache.conf"
    path.write_text("[server]\nlog-level = error\n")
    return path


def start_ours(binary, folder, store, made):
    catalog, port = folder / "catalog.db", server.free_port()
    scans.timed([str(binary), "index", "--json", "--catalog", str(catalog), str(store)])
    return Start("wheelcache", [binary, "serve", store, "--config", config_of(folder), "--catalog", catalog, "--listen",
                                f"127.0.0.1:{port}"], port, f"/simple/{made.projects[4]}/")


def start_nginx(folder, ours):
    """With our answer as its file."""
    one, *_ = first_page(ours)
    page = folder / "site" / ours.path.strip("/") / "page"
    page.parent.mkdir(parents=True)
    page.write_bytes(one.get(ours.path, lines.JSON)[2])
    one.stop()
    config, port = nginx.write_config(folder, NGINX, site=folder / "site")
    return Start("nginx", [nginx.program(), "-c", config], port, ours.path)


def start_pypiron(folder, store, made):
    one = pypiron.start(made, store, folder / "pypiron")
    if not one:
        return []
    pypiron.check_lists(one, made)
    one.stop()
    command = one.process.args[one.process.args.index("-c") + 2:]  # without that of server.pinned
    return [Start("pypiron", command, one.port, f"/simple/{made.projects[4]}/")]


def link_files(store, catalog):
    """The files of the catalog of people.py in the store, as links of a few, so that a scan finds them as their rows say."""
    with contextlib.closing(sqlite3.connect(catalog)) as db, db:
        rows = db.execute("SELECT f.id, p.name FROM folder f JOIN platform p ON p.id = f.platform").fetchall()
        for folder, name in rows:
            names = [row[0] for row in db.execute("SELECT filename FROM file WHERE folder = ? ORDER BY filename", [folder])]
            for first in range(0, len(names), LINKS):
                part = [store / name / one for one in names[first:first + LINKS]]
                part[0].write_bytes(bytes(1000))
                for path in part[1:]:
                    os.link(part[0], path)
                seen = part[0].stat()
                db.execute("UPDATE file SET inode = ?, mtime_ns = ? WHERE folder = ? AND filename BETWEEN ? AND ?",
                           [seen.st_ino, seen.st_mtime_ns, folder, part[0].name, part[-1].name])


def start_million(binary, folder):
    config, catalog, port = config_of(folder), folder / "catalog.db", server.free_port()
    with open(config, "a", encoding="ascii") as file:
        file.write(f"[store]\npath = {folder}/store\n" + "".join(f"[platform {name}]\n" for name in pruning.PLATFORMS))
    for name in pruning.PLATFORMS:
        (folder / "store" / name).mkdir(parents=True)
    scans.timed([str(binary), "index", "--json", "--config", str(config), "--catalog", str(catalog)])
    people.fill(catalog)
    link_files(folder / "store", catalog)
    return Start("wheelcache, a million files", [binary, "serve", "--config", config, "--catalog", catalog, "--listen",
                                                 f"127.0.0.1:{port}"], port, f"/simple/{people.project_name(people.PROJECTS // 2)}/")


def bench(binary, folder, rounds, seconds):
    """Returns the tables as text."""
    store, large = folder / "store", folder / "large"
    store.mkdir()
    large.mkdir()
    made = shape.make_served(store, WHEELS)
    ours = start_ours(binary, folder, store, made)
    others = start_pypiron(folder, store, made)
    starts = [ours, start_nginx(folder, ours), *others]
    memory = table.text(["MB of memory", "PSS", "written", "RSS", "reached"],
                        [row for start in (ours, *others) for row in memory_rows(start, made, seconds)])
    return starts_table([*starts, start_million(binary, large)], rounds) + "\n" + memory
