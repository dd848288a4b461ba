# SPDX-License-Identifier: Apache-2.0
"""make bench, in one run: the server beside others on the same pages and files, the first answer for a large page, the
indexer beside sha256sum, plans of a prune, what is missing, pages about many projects, what it costs to look inside wheels, or
to watch a store, views with a membership, proxies of one upstream, resolvers, TLS beside nginx, floods, starts and memory.

BENCH_ROUNDS (5) and BENCH_SECONDS (1) say how long; BENCH_MANY (200,000) how many wheels the larger store has;
BENCH_ONLY runs only some parts, for example "serving index"; BENCH_KEEP=1 writes bench/PART.md for each part that ran."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import appearing
import beside
import blocking
import first
import flooding
import handshakes
import inside
import lacking
import load
import machine
import merging
import nginx
import people
import pruning
import resolving
import scans
import server
import shape
import starting
import upload
import viewing
import watching

TOP = pathlib.Path(__file__).resolve().parents[2]
SERVED = 10_000
ROUNDS = int(os.environ.get("BENCH_ROUNDS") or 5)
FEW = min(ROUNDS, 3)  # of what takes minutes
SECONDS = int(os.environ.get("BENCH_SECONDS") or 1)
MANY = int(os.environ.get("BENCH_MANY") or 200_000)
ONLY = (os.environ.get("BENCH_ONLY") or "serving first index many blocking appearing watch upload prune missing people inside views merge resolve tls flood start").split()
LOADED = {"serving", "merge", "tls", "start"}  # the parts that wrk loads, beside nginx


def refuse(reason):
    sys.exit(f"bench: {reason}")


def check_tools(binary):
    data = binary.read_bytes()
    if any(mark in data for mark in (b"__asan_init", b"__ubsan_handle", b"__tsan_init")):
        refuse(f"{binary} was built with sanitizers: its figures mean nothing. ./configure without --enable-sanitizers")
    for tool in ["taskset", "sha256sum", *(["wrk"] if LOADED & set(ONLY) else [])]:
        if not shutil.which(tool):
            refuse(f"{tool} is not installed")
    if (LOADED | {"prune", "resolve"}) & set(ONLY) and not nginx.program():
        refuse("nginx is not installed")
    if not {server.CORE, load.CORE} <= os.sched_getaffinity(0):
        refuse("two processors are wanted, one for the servers and one for the load")


def room(folder, name):
    """A new folder."""
    made = folder / name
    made.mkdir()
    return made


def bench_many(binary, folder, rounds):
    store = room(folder, "store")
    shape.make_many(store, MANY)
    subprocess.run(["sync"], check=True)  # or its writing is measured with the first round
    return scans.bench(binary, store, folder, MANY, rounds)


class Served:
    """The store that several parts share; the first part that needs it makes it."""

    def __init__(self, folder):
        self.store, self._made = folder / "store", None

    def made(self):
        if not self._made:
            self.store.mkdir()
            self._made = shape.make_served(self.store, SERVED)
        return self._made


def bench_index(binary, _, __, served, rounds):
    served.made()
    return scans.bench(binary, served.store, served.store.parent, SERVED, rounds)


def bench_serving(binary, floor, folder, served, rounds):
    return beside.bench(binary, floor, served.store, served.made(), folder, rounds, SECONDS)


def bench_first(binary, _, folder, served, rounds):
    return first.bench(binary, served.store, served.made(), folder, rounds)


def bench_appearing(binary, _, folder, served, rounds):
    served.made()
    return appearing.bench(binary, served.store, folder, SERVED, rounds)


# In this order, with their rounds. The peak memory of a child starts at that of its parent, so parts that measure memory
# run before this process reads large answers.
PARTS = {
    "index": (ROUNDS, bench_index),
    "blocking": (FEW, lambda binary, floor, folder, _, rounds: blocking.bench(binary, floor.with_name("blocking"), folder, rounds)),
    "many": (FEW, lambda binary, _, folder, __, rounds: bench_many(binary, folder, rounds)),
    "prune": (FEW, lambda binary, _, folder, __, rounds: pruning.bench(binary, folder, rounds)),
    "missing": (FEW, lambda binary, _, folder, __, rounds: lacking.bench(binary, folder, rounds)),
    "people": (1, lambda binary, _, folder, __, rounds: people.bench(binary, folder, rounds)),
    "inside": (ROUNDS, lambda binary, floor, folder, _, rounds: inside.bench(binary, floor.with_name("inflating"), folder, rounds)),
    "views": (ROUNDS, lambda binary, _, folder, __, rounds: viewing.bench(binary, folder, rounds)),
    "serving": (ROUNDS, bench_serving),
    "start": (FEW, lambda binary, _, folder, __, rounds: starting.bench(binary, folder, rounds, SECONDS)),
    "first": (ROUNDS, bench_first),
    "appearing": (ROUNDS, bench_appearing),
    "watch": (FEW, lambda binary, _, folder, __, rounds: watching.bench(binary, folder, rounds)),
    "upload": (ROUNDS, lambda binary, _, folder, __, rounds: upload.bench(binary, folder, rounds)),
    "merge": (ROUNDS, lambda binary, _, folder, __, rounds: merging.bench(binary, folder, rounds, SECONDS)),
    "resolve": (FEW, lambda binary, _, folder, __, rounds: resolving.bench(binary, folder, rounds)),
    "tls": (ROUNDS, lambda binary, _, folder, __, rounds: handshakes.bench(binary, folder, rounds, SECONDS)),
    "flood": (1, lambda binary, _, folder, __, rounds: flooding.bench(binary, folder, rounds)),
}


def run(name, binary, floor, folder, served):
    """The part's text, with the conditions of its measurement."""
    begin, busy = time.monotonic(), machine.Busy()
    rounds, part = PARTS[name]
    found = part(binary, floor, room(folder, name), served, rounds)
    return (f"# The last kept run of `BENCH_ONLY={name} make bench`\n\n{machine.text(binary, rounds, SECONDS, name in LOADED)}\n{found}\n"
            f"{time.monotonic() - begin:.0f} s; meanwhile others had {busy.others():.1f} of the {os.cpu_count()} processors.\n")


def main():
    binary, floor = (pathlib.Path(name).resolve() for name in sys.argv[1:3])
    check_tools(binary)
    unknown = set(ONLY) - set(PARTS)
    if unknown:
        refuse(f"BENCH_ONLY: no part {', '.join(sorted(unknown))}; there are {' '.join(PARTS)}")
    with tempfile.TemporaryDirectory(prefix="wheelcache-bench-") as name:
        served = Served(pathlib.Path(name))
        for part in PARTS:
            if part not in ONLY:
                continue
            text = run(part, binary, floor, pathlib.Path(name), served)
            print(text, flush=True)
            if os.environ.get("BENCH_KEEP") == "1":
                (TOP / "bench" / f"{part}.md").write_text(text)


if __name__ == "__main__":
    main()
