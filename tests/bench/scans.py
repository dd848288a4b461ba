# SPDX-License-Identifier: Apache-2.0
"""The indexer over the same files as sha256sum, on as many processors: cold, and where nothing changed."""
import json
import os
import statistics
import subprocess
import time

import table


def timed(command):
    """Seconds, peak RSS in bytes, standard output."""
    begin = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise RuntimeError(f"{command[0]} ended with {process.returncode}")
    return time.monotonic() - begin, usage.ru_maxrss * 1024, output


def runs(binary, store, folder, count):
    """Interleaved rounds; each cold scan begins a catalog of its own, the scan without changes follows on it."""
    found = {"sha256sum": [], "cold": [], "unchanged": []}
    hashing = f"find {store} -type f -print0 | xargs -0 -P {os.cpu_count()} -n 256 sha256sum"
    for i in range(count):
        catalog = folder / f"round-{i}.db"
        index = [str(binary), "index", "--json", "--catalog", str(catalog), str(store)]
        found["sha256sum"].append((*timed(["sh", "-c", hashing])[:2], None))
        for name in ("cold", "unchanged"):
            seconds, rss, output = timed(index)
            found[name].append((seconds, rss, json.loads(output)))
        catalog.unlink()
    return found


def row(name, rows, hashing):
    seconds = statistics.median(one[0] for one in rows)
    _, rss, summary = rows[-1]
    figures = [f"{summary['bytes_hashed'] / 1e6:,.0f}", f"{rss / 2**20:.0f}"] if summary else ["", ""]
    speed = hashing / seconds
    if name != "cold":
        return [name, f"{seconds:.2f}", *figures, "", "yes" if summary and not summary["bytes_hashed"] else ""]
    return [name, f"{seconds:.2f}", *figures, f"{speed:.2f}", "yes" if speed >= 0.8 else f"{speed:.2f} < 0.8"]


def bench(binary, store, folder, wheels, count):
    """Returns the table as text. The files are in the kernel's memory when it begins: what is measured is us."""
    found = runs(binary, store, folder, count)
    hashing = statistics.median(one[0] for one in found["sha256sum"])
    heads = [f"index of {wheels:,} wheels", "seconds", "MB hashed", "RSS MB", "of sha256sum's speed", "reached"]
    return table.text(heads, [row(name, rows, hashing) for name, rows in found.items()])
