# SPDX-License-Identifier: Apache-2.0
"""The pages about many projects: a search and "/" in a catalog of 10,000 projects and a million files on 16 platforms, and the
coverage of 600 projects on 16 platforms with 3 Pythons each, with what a loopback upstream has."""
import contextlib
import hashlib
import json
import multiprocessing
import re
import sqlite3
import statistics
import subprocess
import time

import lacking
import pruning
import scans
import server
import table

PROJECTS, VERSIONS = 10_000, 7  # on each of the platforms: 1,120,000 files
FIRST = ("num", "sci", "py", "open", "fast", "data", "web", "async", "graph", "crypto")
SECOND = ("kit", "learn", "flow", "core", "tools", "base", "client", "utils", "plot", "stats")
SEARCH_MS, HOME_MS, COVERAGE_MS = 20, 50, 3000
TIMES = 21
CONFIG = """[server]
threads = 1
rescan = 0
log-level = error
page-cache = {cache}
"""


def project_name(number):
    return f"{FIRST[number % 10]}{SECOND[number // 10 % 10]}-{FIRST[number // 100 % 10]}-{number}"


def searches():
    """What is typed, by what it finds."""
    name = project_name(PROJECTS // 2)
    return {"a name": name, "a prefix": name[:6], "a part": name[2:6], "a name in any spelling": name.upper().replace("-", "__"),
            "all with a letter": "o", "two wrong letters": f"{name[1]}{name[0]}{name[2:-1]}x", "nothing": "q" * 40}


def start(binary, folder, config, cache="0"):
    path = folder / f"serve-{cache}.conf"
    path.write_text(CONFIG.format(cache=cache) + config)
    process = server.start(binary, "serve", "--listen", "127.0.0.1:0", "--config", path, "--catalog", folder / "catalog.db",
                           stdout=subprocess.PIPE, text=True)
    return server.Server(process, int(re.search(r":(\d+)/?\s*$", process.stdout.readline()).group(1)))


# --- a large catalog ---

def file_rows(now, platforms, folders, projects):
    for number in range(PROJECTS):
        name = project_name(number).replace("-", "_")
        for platform in platforms:
            for version in range(VERSIONS):
                filename = f"{name}-1.{version}-py3-none-any.whl"
                came = now - (number * VERSIONS + version) * 1000
                yield (folders[platform], platform, projects[platform, number], filename, came * 10**9,
                       hashlib.blake2b(f"{platform}/{filename}".encode(), digest_size=32).digest(), f"1.{version}",
                       bytes([1, version]), came)


def fill(catalog):
    """As scans would have left it: without the triggers, which count, so the sums are written too."""
    with contextlib.closing(sqlite3.connect(catalog, timeout=60)) as db, db:
        db.executescript("PRAGMA synchronous = OFF; PRAGMA cache_size = -200000; PRAGMA foreign_keys = OFF")
        for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            db.execute(f"DROP TRIGGER {name}")
        now, platforms = int(time.time()), [row[0] for row in db.execute("SELECT id FROM platform").fetchall()]
        folders = {one: db.execute("SELECT id FROM folder WHERE platform = ?", [one]).fetchone()[0] for one in platforms}
        projects = {}
        for number in range(PROJECTS):
            for platform in platforms:
                newest = now - number * VERSIONS * 1000
                projects[platform, number] = db.execute(
                    "INSERT INTO project (platform, name, files, bytes, changed, arrived, newest) VALUES (?, ?, ?, ?, 1000, 1, ?)",
                    [platform, project_name(number), VERSIONS, VERSIONS * 1000, newest]).lastrowid
        db.executemany("INSERT INTO file (folder, platform, project, filename, state, trusted, size, mtime_ns, inode, sha256, version,"
                       " version_key, findings, arrived) VALUES (?, ?, ?, ?, 0, 1, 1000, ?, 1, ?, ?, ?, 0, ?)",
                       file_rows(now, platforms, folders, projects))
        db.execute("UPDATE platform SET projects = ?, files = ?, bytes = ?", [PROJECTS, PROJECTS * VERSIONS, PROJECTS * VERSIONS * 1000])
        db.execute("UPDATE store SET change = 1000")


def timings(one, path):
    """The median of the milliseconds until the answer is here, of the server's CPU ms, and the answer."""
    waits, begun = [], one.cpu_seconds()
    for _ in range(TIMES):
        begin = time.monotonic()
        status, _, body = one.get(path, {"Accept-Encoding": "gzip"})
        waits.append((time.monotonic() - begin) * 1000)
        assert status == 200, (path, status, body)
    return statistics.median(waits), (one.cpu_seconds() - begun) * 1000 / TIMES, body


def row(name, one, path, limit, note):
    wait, cpu, body = timings(one, path)
    return [name, f"{wait:.1f}", f"{cpu:.1f}", f"{len(body):,}", note(one), "yes" if cpu <= limit else f"{cpu:.1f} > {limit}"]


def found_by(typed):
    return lambda one: f"{json.loads(one.get(f'/-/search?q={typed}&format=json')[2])['total']:,}"


def wait_for_projects(one):
    """The server reads them in the order in which they were written."""
    deadline = time.monotonic() + 60
    while found_by(project_name(PROJECTS - 1))(one) != "1" and time.monotonic() < deadline:
        time.sleep(0.1)
    time.sleep(1)  # the other platforms of the last one


def bench_large(binary, folder):
    config = f"[store]\npath = {folder}/store\n"
    for platform in pruning.PLATFORMS:
        (folder / "store" / platform).mkdir(parents=True)
        config += f"[platform {platform}]\n"
    one = start(binary, folder, config)
    try:
        fill(folder / "catalog.db")
        wait_for_projects(one)
        rows = [row(f"search: {name}", one, f"/-/search?q={typed}&format=json", SEARCH_MS, found_by(typed))
                for name, typed in searches().items()]
        rows.append(row("search: a prefix, as a page", one, f"/-/search?q={project_name(1)[:6]}", SEARCH_MS, found_by(project_name(1)[:6])))
        rows.append(row("/: made anew", one, "/", HOME_MS, lambda _: ""))
        rows.append(row("/: made anew, as JSON", one, "/?format=json", HOME_MS, lambda _: ""))
    finally:
        one.stop()
    files = PROJECTS * VERSIONS * len(pruning.PLATFORMS)
    return table.text([f"{PROJECTS:,} projects, {files:,} files, {len(pruning.PLATFORMS)} platforms", "ms", "CPU ms", "bytes, gzip",
                       "found", "reached"], rows)


# --- coverage ---

def make_wheels(task):
    """Two versions of a project for the first Python of each platform."""
    folder, number = task
    name = pruning.name_of(number)
    for platform, (_, _, arch) in pruning.PLATFORMS.items():
        place = folder / "store" / platform / name[0] / name
        place.mkdir(parents=True)
        python = "cp" + lacking.PYTHONS[arch].split()[0].replace(".", "")
        for version in ("1.10", "1.11"):
            pruning.make_tiny_wheel(place, name, version, f"{python}-{python}-linux_{arch}")


def make_world(binary, folder):
    tasks = [(folder, number) for number in range(lacking.PROJECTS)]
    with multiprocessing.Pool() as pool:
        pool.map(lacking.make_page, tasks, chunksize=8)
        pool.map(make_wheels, tasks, chunksize=8)
    upstream = pruning.start_upstream(folder)
    try:
        lacking.write_config(folder, upstream.port)
        for command in ("index", "missing"):
            scans.timed([str(binary), command, "--json" if command == "index" else "--format=json", "--config",
                         str(folder / "wheelcache.conf"), "--catalog", str(folder / "catalog.db")])
    finally:
        upstream.stop()


def coverage_row(name, one, path):
    begin, cpu = time.monotonic(), one.cpu_seconds()
    status, headers, body = one.get(path, {"Accept-Encoding": "gzip"})
    wait, cpu = (time.monotonic() - begin) * 1000, (one.cpu_seconds() - cpu) * 1000
    kept = timings(one, path)
    assert status == 200, (path, status, body)
    return [name, f"{wait:,.0f}", f"{cpu:,.0f}", f"{kept[0]:.1f}", f"{kept[1]:.2f}", f"{len(body):,}",
            "no" if headers["Link"] else "yes", "yes" if wait <= COVERAGE_MS else f"{wait:,.0f} > {COVERAGE_MS}"]


def bench_coverage(binary, folder):
    make_world(binary, folder)
    one = start(binary, folder, (folder / "wheelcache.conf").read_text(), "64M")
    try:
        rows = [coverage_row("all, CSV", one, "/-/coverage?format=csv"), coverage_row("all, JSON", one, "/-/coverage?format=json"),
                coverage_row("the first 50, a page", one, "/-/coverage"),
                coverage_row("all with a gap, CSV", one, "/-/coverage?format=csv&state=missing"),
                coverage_row("one cell, a page", one, "/-/coverage?projects=project300&platforms=debian-12-x86_64&python=3.12")]
    finally:
        one.stop()
    heads = [f"coverage: {lacking.PROJECTS} projects, {len(pruning.PLATFORMS)} platforms, 3 Pythons", "ms", "CPU ms", "kept: ms",
             "kept: CPU ms", "bytes, gzip", "whole", "reached"]
    return table.text(heads, rows)


def bench(binary, folder, _):
    """Returns the tables as text."""
    large, many = folder / "large", folder / "many"
    large.mkdir()
    many.mkdir()
    return f"{bench_large(binary, large)}\n{bench_coverage(binary, many)}"
