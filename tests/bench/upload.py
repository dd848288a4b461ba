# SPDX-License-Identifier: Apache-2.0
"""Uploads of 20 KB wheels by 1 and by 16 clients, until their page lists them: wheelcache beside its competitors."""
import contextlib
import dataclasses
import http.client
import multiprocessing
import os
import shutil
import signal
import statistics
import subprocess
import time

import load
import pypiron
import rivals
import shape
import table

PROJECTS = 25
EACH = 100       # wheels a round and a number of clients
CLIENTS = (1, 16)
LONGEST = 60
HELD_MS = 5.0    # limit of an upload until it is listed, with one client
SYNCS = ("fsync", "fdatasync", "sync_file_range", "msync", "syncfs", "sync")


@dataclasses.dataclass
class Ready:
    """A wheel to send, and the page that will list it."""
    project: str
    name: str
    body: bytes


@dataclasses.dataclass
class Round:
    """What a round showed, in milliseconds."""
    answers: list
    visible: list
    per_second: float
    cpu_ms: float  # of the server, an upload


# --- the wheels ---

def make(folder, project, version):
    path = shape.make_wheel(folder, project, version).path
    made = Ready(project, path.name, pypiron.upload_body(path))
    path.unlink()
    return made


def batch(folder, version, first=0, count=EACH):
    """Makes wheels of the projects in turn; the version differs from batch to batch."""
    return [make(folder, f"upload{first + i % PROJECTS}", f"{version}.{i // PROJECTS}") for i in range(count)]


# --- a client ---

def ask(connection, method, path, body, headers):
    connection.request(method, path, body, headers)
    answer = connection.getresponse()
    return answer.status, answer.read()


def wait_until_listed(connection, path, name):
    """Polls without a pause, on the connection of the upload."""
    deadline = time.monotonic() + LONGEST
    while time.monotonic() < deadline:
        status, body = ask(connection, "GET", path, None, {})
        if status == 200 and name.encode() in body:
            return
    raise RuntimeError(f"{name} is on no page after {LONGEST} s")


def send(one, connection, wheel):
    """Milliseconds until the answer, and until the page lists it."""
    begin = time.monotonic()
    status, text = ask(connection, "POST", one.upload_path, wheel.body, one.upload_headers)
    if status not in (200, 201):
        raise RuntimeError(f"{one.name}, {wheel.name}: {status} {text[:200]}")
    answered = time.monotonic()
    wait_until_listed(connection, one.page_path.format(wheel.project), wheel.name)
    return (answered - begin) * 1000, (time.monotonic() - begin) * 1000


def client(one, wheels, start, results):
    """Runs in a process of its own: threads of one Python would wait for each other."""
    found = []
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", one.port, timeout=LONGEST)) as connection:
        connection.connect()
        start.wait()
        try:
            found = [send(one, connection, wheel) for wheel in wheels]
        finally:
            results.put(found)


def run(one, wheels, clients):
    one.settle()
    start, results = multiprocessing.Barrier(clients + 1), multiprocessing.Queue()
    processes = [multiprocessing.Process(target=client, args=(one, wheels[i::clients], start, results))
                 for i in range(clients)]
    for process in processes:
        process.start()
        os.sched_setaffinity(process.pid, {load.CORE})
    before = one.cpu_seconds()
    start.wait()
    begin = time.monotonic()
    times = [pair for _ in processes for pair in results.get(timeout=10 * LONGEST)]
    seconds = time.monotonic() - begin
    for process in processes:
        process.join()
    if len(times) != len(wheels):
        raise RuntimeError(f"{one.name}: {len(times)} of {len(wheels)} uploads")
    used = one.cpu_seconds() - before
    answers, visible = zip(*times)
    return Round(answers, visible, len(wheels) / seconds, used * 1000 / len(wheels))


# --- what reaches the disk ---

def count_syncs(one, wheels, folder):
    """Sync calls an upload, by name."""
    report = folder / "syncs"
    tracer = subprocess.Popen(["strace", "-f", "-c", "-o", report, "-e", "trace=" + ",".join(SYNCS), "-p",
                               str(one.process.pid)], stderr=subprocess.PIPE, text=True)
    tracer.stderr.readline()  # "attached"
    try:
        run(one, wheels, 1)
    finally:
        tracer.send_signal(signal.SIGINT)
        tracer.wait()
        tracer.stderr.close()
    rows = [line.split() for line in report.read_text().splitlines()]
    return {row[-1]: int(row[3]) / len(wheels) for row in rows if row and row[-1] in SYNCS}


def say_syncs(found):
    return ", ".join(f"{count:.2f} {name}" for name, count in sorted(found.items())) or "none"


def syncs_table(servers, folder):
    if not shutil.which("strace"):
        return "strace is not installed: sync calls were not counted.\n"
    known, new = batch(folder, "7.1"), batch(folder, "7.2", first=PROJECTS, count=PROJECTS)
    rows = [[one.name, say_syncs(count_syncs(one, known, folder)), say_syncs(count_syncs(one, new, folder)), ""]
            for one in servers]
    return table.text(["sync calls an upload (strace)", "of a known project", "of a new project", ""], rows)


# --- the table ---

def at(quantile, rounds, name):
    """The median of the rounds' quantiles."""
    return statistics.median(sorted(values)[min(len(values) - 1, int(len(values) * quantile))]
                             for values in (getattr(one, name) for one in rounds))


def verdict(one, clients, results):
    """Whether ours lists a wheel sooner than all others; with one client also within the limit."""
    mine = at(0.5, results["wheelcache", clients], "visible")
    if one.name != "wheelcache":
        return ""
    short = [f"behind {name}" for name, count in results
             if count == clients and name != one.name and mine >= at(0.5, results[name, count], "visible")]
    if clients == 1 and mine > HELD_MS:
        short.append(f"{mine:.1f} > {HELD_MS:.0f} ms")
    return "; ".join(short) or "yes"


def row(one, clients, results):
    rounds = results[one.name, clients]
    figures = [at(q, rounds, name) for name in ("answers", "visible") for q in (0.5, 0.99)]
    rest = [statistics.median(getattr(r, name) for r in rounds) for name in ("per_second", "cpu_ms")]
    return [f"{one.name}, {clients} client{'s' * (clients > 1)}", *(f"{ms:.1f}" for ms in figures), f"{rest[0]:,.0f}",
            f"{rest[1]:.2f}", verdict(one, clients, results)]


def measure(servers, folder, count):
    """(server's name, clients) -> rounds. The first batch, which makes the projects, is not measured."""
    results = {}
    first = batch(folder, "0", count=PROJECTS)
    for one in servers:
        run(one, first, 1)
    for i in range(count):
        for clients in CLIENTS:
            wheels = batch(folder, f"{i + 1}.{clients}")
            turn = i % len(servers)
            for one in servers[turn:] + servers[:turn]:
                results.setdefault((one.name, clients), []).append(run(one, wheels, clients))
    return results


def bench(binary, folder, count):
    """Returns the tables as text."""
    with contextlib.ExitStack() as stack:
        servers = rivals.start_all(stack, binary, folder)
        results = measure(servers, folder, count)
        heads = [f"upload of a wheel of 20 KB to one of {PROJECTS} projects", "ms to the answer", "p99",
                 "ms until listed", "p99", "uploads/s", "CPU ms", "reached"]
        text = table.text(heads, [row(one, clients, results) for clients in CLIENTS for one in servers])
        return f"{text}\n{syncs_table(servers, folder)}"
