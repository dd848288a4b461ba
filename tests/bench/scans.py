# SPDX-License-Identifier: Apache-2.0
"""The indexer and sha256sum over the same files, on as many processors: with an empty catalog, and again without changes.
The files have been read once before. The order of the two alternates from round to round, and what was still read from
the disk is shown."""
import dataclasses
import json
import os
import statistics
import subprocess
import time

import table

BLOCK = 512  # of getrusage(2)


@dataclasses.dataclass
class Run:
    """The cost of a command, with its child processes."""
    seconds: float
    cpu: float
    rss: int      # bytes
    read: int     # from the disk
    output: bytes


def timed(command):
    begin = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise RuntimeError(f"{command[0]} ended with {process.returncode}")
    return Run(time.monotonic() - begin, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024,
               usage.ru_inblock * BLOCK, output)


def hash_all(store):
    return {"sha256sum": timed(["sh", "-c", f"find {store} -type f -print0 | xargs -0 -P {os.cpu_count()} -n 256 sha256sum"])}


def index_twice(binary, store, catalog):
    """From nothing, and again without changes."""
    command = [str(binary), "index", "--json", "--catalog", str(catalog), str(store)]
    found = {name: timed(command) for name in ("cold", "unchanged")}
    catalog.unlink()
    return found


def runs(binary, store, folder, count):
    """Interleaved rounds, in alternating order, after a round that is not counted."""
    found = {"sha256sum": [], "cold": [], "unchanged": []}
    hash_all(store)
    for i in range(count):
        both = [lambda: hash_all(store), lambda i=i: index_twice(binary, store, folder / f"round-{i}.db")]
        for act in both if i % 2 == 0 else both[::-1]:
            for name, run in act().items():
                found[name].append(run)
    return found


def median(name, rows):
    return statistics.median(getattr(one, name) for one in rows)


def row(name, rows, hashing):
    seconds, cpu = median("seconds", rows), median("cpu", rows)
    summary = json.loads(rows[-1].output) if name != "sha256sum" else None
    figures = [f"{seconds:.2f}", f"{cpu:.2f}", f"{median('read', rows) / 1e6:,.0f}",
               f"{summary['bytes_hashed'] / 1e6:,.0f}" if summary else "", f"{rows[-1].rss / 2**20:.0f}"]
    if name != "cold":
        return [name, *figures, "", "", "yes" if summary and not summary["bytes_hashed"] else ""]
    speed = median("seconds", hashing) / seconds
    return [name, *figures, f"{cpu / median('cpu', hashing):.2f}", f"{speed:.2f}",
            "yes" if speed >= 0.8 else f"{speed:.2f} < 0.8"]


def bench(binary, store, folder, wheels, count):
    """Returns the table as text."""
    found = runs(binary, store, folder, count)
    heads = [f"index of {wheels:,} wheels", "seconds", "CPU s", "MB from the disk", "MB hashed", "RSS MB",
             "of sha256sum's CPU", "of its speed", "reached"]
    return table.text(heads, [row(name, rows, found["sha256sum"]) for name, rows in found.items()])
