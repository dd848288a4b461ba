# SPDX-License-Identifier: Apache-2.0
"""Floods: how long pages of the simple API, made anew, take beside clients that keep asking for the coverage, and how much memory
and disk the server needs while 300 connections hardly read large answers, of one address or of 200. The catalog is that of
people.py."""
import collections
import contextlib
import http.client
import multiprocessing
import pathlib
import re
import socket
import statistics
import threading
import time

import attempts
import people
import pruning
import table

PAGES, THREADS = 1800, 8
READERS, ADDRESSES, READ_SECONDS = 300, 200, 20
PAGE_P99_MS, MEMORY_MB = 100, 1024  # 1,861 ms before pages had locks of their own; MemoryMax of the unit
MB = 1 << 20
LOG = b"0123456789abcde\n" * (8 << 16)  # 8 MB
PUBLIC = "127.0.0.1"


def addresses(count):
    return [f"127.0.{1 + number // 250}.{1 + number % 250}" for number in range(count)]


def costly(number):
    """Another page for each number, so that none comes from the page cache."""
    return f"/-/coverage?format=json&limit={1000 - number % 900}&after={people.project_name(number % people.PROJECTS)}"


# --- pages beside those who ask all the time ---

def ask_costly(port, source, numbers, stop, answers):
    for number in numbers:
        if stop.is_set():
            return
        with contextlib.suppress(OSError, http.client.HTTPException):
            connection = http.client.HTTPConnection(PUBLIC, port, timeout=60, source_address=(source, 0))
            with contextlib.closing(connection):
                connection.request("GET", costly(number))
                answer = connection.getresponse()
                answer.read()
                answers[answer.status] += 1


def flood(port, sources, stop, told):
    """A process: the threads of the flood, so that they hold no lock of the one that measures."""
    answers = collections.Counter()
    threads = [threading.Thread(target=ask_costly, args=(port, source, range(10_000 * number, 10_000_000), stop, answers))
               for number, source in enumerate(sources)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    told.put(answers)


@contextlib.contextmanager
def flooded(port, sources):
    """Gives a counter of the answers by status, which is filled at the end."""
    stop, told, answers = multiprocessing.Event(), multiprocessing.Queue(), collections.Counter()
    process = multiprocessing.Process(target=flood, args=(port, sources, stop, told))
    if sources:
        process.start()
        time.sleep(2)
    try:
        yield answers
    finally:
        stop.set()
        if sources:
            answers.update(told.get(timeout=120))
            process.join()


def page_times(port, first):
    """Milliseconds of pages that nobody has asked for, on one connection."""
    times = []
    with contextlib.closing(http.client.HTTPConnection(PUBLIC, port, timeout=60)) as connection:
        for number in range(first, first + PAGES):
            begin = time.monotonic()
            connection.request("GET", f"/simple/{people.project_name(number)}/")
            answer = connection.getresponse()
            answer.read()
            times.append((time.monotonic() - begin) * 1000)
            assert answer.status == 200, answer.status
    return sorted(times)


def wait_for_pages(one):
    """Until the server has read all names; the ones that are measured are not asked for."""
    deadline = time.monotonic() + 60
    others = range(3 * PAGES, people.PROJECTS, 100)
    while time.monotonic() < deadline:
        if all(one.get(f"/simple/{people.project_name(number)}/")[0] == 200 for number in others):
            break
        time.sleep(0.5)
    time.sleep(2)


def bench_pages(one):
    rows = []
    for name, sources in (("nothing", []), (f"{THREADS} clients of one address", ["127.0.0.2"] * THREADS),
                          (f"{THREADS} clients of as many addresses", addresses(THREADS))):
        begin = time.monotonic()
        with flooded(one.port, sources) as answers:
            times = page_times(one.port, len(rows) * PAGES)
            took = time.monotonic() - begin
        p99 = times[len(times) * 99 // 100]
        rows.append([name, f"{statistics.median(times):.1f}", f"{p99:.1f}", f"{times[-1]:.1f}", f"{answers[200] / took:.1f}",
                     str(answers[503]), "yes" if p99 <= PAGE_P99_MS else f"{p99:.0f} > {PAGE_P99_MS}"])
    return table.text([f"{PAGES:,} pages made anew, beside", "median ms", "p99 ms", "most ms", "coverages/s", "503", "reached"], rows)


# --- memory for those who do not read ---

def memory(one, key):
    text = pathlib.Path(f"/proc/{one.process.pid}/status").read_text()
    return int(re.search(rf"^{key}:\s+(\d+) kB", text, re.M).group(1)) * 1024 / MB


def spooled(one):
    """MB of the files without a name that it has mapped."""
    lines = pathlib.Path(f"/proc/{one.process.pid}/maps").read_text().splitlines()
    found = [re.match(r"([0-9a-f]+)-([0-9a-f]+) ", line).groups() for line in lines if line.endswith("(deleted)")]
    return sum(int(end, 16) - int(begin, 16) for begin, end in found) / MB


def open_reader(port, source, path):
    reader = socket.socket()
    reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    reader.bind((source, 0))
    reader.connect((PUBLIC, port))
    reader.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
    reader.setblocking(False)
    return reader


def read_little(readers, heads):
    for number, reader in enumerate(readers):
        with contextlib.suppress(OSError):
            heads[number] = heads[number] or reader.recv(12)


def hoard(one, sources, path):
    """The largest memory, anonymous memory and spooled bytes while the readers hold their answers; these by status."""
    begin, most = time.monotonic(), [0, 0, 0]
    with contextlib.ExitStack() as held:
        readers = [held.enter_context(contextlib.closing(open_reader(one.port, sources[number % len(sources)], path(number))))
                   for number in range(READERS)]
        heads = [b""] * READERS
        while time.monotonic() < begin + READ_SECONDS:
            read_little(readers, heads)
            most = [max(pair) for pair in zip(most, (memory(one, "VmRSS"), memory(one, "RssAnon"), spooled(one)))]
            time.sleep(0.2)
    return most, collections.Counter(head[9:12].decode() for head in heads)


def bench_memory(one, folder):
    kept = attempts.Attempts(folder / "catalog.db.builds").add("foo", "failed", LOG, platform=next(iter(pruning.PLATFORMS)))
    rows, few, many = [], ["127.0.0.2"], addresses(ADDRESSES)
    for name, sources, path in (("one address, logs of 8 MB", few, lambda _: f"/-/builds/foo/{kept}"),
                                (f"{ADDRESSES} addresses, logs of 8 MB", many, lambda _: f"/-/builds/foo/{kept}"),
                                ("one address, coverages", few, costly), (f"{ADDRESSES} addresses, coverages", many, costly)):
        before = memory(one, "VmRSS")
        (most, anonymous, files), answers = hoard(one, sources, path)
        time.sleep(5)
        rows.append([name, f"{before:.0f}", f"{most:.0f}", f"{anonymous:.0f}", f"{files:.0f}", f"{spooled(one):.0f}",
                     str(answers["200"]), str(answers["503"]), "yes" if most <= MEMORY_MB else f"{most:.0f} > {MEMORY_MB}"])
    return table.text([f"{READERS} connections that hardly read, of", "MB before", "MB at most", "anonymous", "in files",
                       "files after", "200", "503", "reached"], rows)


def bench(binary, folder, _):
    """Returns the tables as text."""
    config = f"[store]\npath = {folder}/store\n"
    for platform in pruning.PLATFORMS:
        (folder / "store" / platform).mkdir(parents=True)
        config += f"[platform {platform}]\n"
    one = people.start(binary, folder, config, "64M")
    try:
        people.fill(folder / "catalog.db")
        people.wait_for_projects(one)
        wait_for_pages(one)
        pages = bench_pages(one)
        time.sleep(15)  # until what it has begun for them has ended
        return f"{pages}\n{bench_memory(one, folder)}"
    finally:
        one.stop()
