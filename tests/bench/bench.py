# SPDX-License-Identifier: Apache-2.0
"""make bench: the server beside others on the same pages and files, the indexer beside sha256sum, plans of a prune, proxies of one upstream, in one run.

BENCH_ROUNDS (5) and BENCH_SECONDS (1) say how long; BENCH_MANY (200,000) how many wheels the larger store has;
BENCH_ONLY does only some of the parts, as in "serving index"; BENCH_KEEP=1 writes bench/results.md."""
import datetime
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import appearing
import beside
import load
import machine
import merging
import nginx
import pruning
import scans
import server
import shape
import upload

TOP = pathlib.Path(__file__).resolve().parents[2]
SERVED = 10_000
ROUNDS = int(os.environ.get("BENCH_ROUNDS") or 5)
SECONDS = int(os.environ.get("BENCH_SECONDS") or 1)
MANY = int(os.environ.get("BENCH_MANY") or 200_000)
ONLY = (os.environ.get("BENCH_ONLY") or "serving index many appearing upload prune merge").split()


def refuse(reason):
    sys.exit(f"bench: {reason}")


def check_tools(binary):
    data = binary.read_bytes()
    if any(mark in data for mark in (b"__asan_init", b"__ubsan_handle", b"__tsan_init")):
        refuse(f"{binary} was built with sanitizers: its figures mean nothing. ./configure without --enable-sanitizers")
    for tool in ("wrk", "taskset", "sha256sum"):
        if not shutil.which(tool):
            refuse(f"{tool} is not installed")
    if not nginx.program():
        refuse("nginx is not installed")
    if not {server.CORE, load.CORE} <= os.sched_getaffinity(0):
        refuse("two processors are wanted, one for the servers and one for the load")


def room(folder, name):
    """A new folder."""
    made = folder / name
    made.mkdir()
    return made


def bench_many(binary, folder):
    store = room(folder, "many")
    shape.make_many(store, MANY)
    subprocess.run(["sync"], check=True)  # or its writing is measured with the first round
    return scans.bench(binary, store, folder, MANY, min(ROUNDS, 3))


def parts(binary, floor, folder):
    """Yields each part's table when it is there."""
    store = room(folder, "store")
    made = shape.make_served(store, SERVED) if set(ONLY) - {"many", "upload", "prune", "merge"} else None
    if "index" in ONLY:
        yield scans.bench(binary, store, folder, SERVED, ROUNDS)
    # Before this process has read large answers: what it took at most, its children are said to have taken.
    if "many" in ONLY:
        yield bench_many(binary, folder)
    if "prune" in ONLY:
        yield pruning.bench(binary, room(folder, "prune"), min(ROUNDS, 3))
    if "serving" in ONLY:
        yield beside.bench(binary, floor, store, made, room(folder, "serving"), ROUNDS, SECONDS)
    if "appearing" in ONLY:
        yield appearing.bench(binary, store, room(folder, "appearing"), SERVED, ROUNDS)
    if "upload" in ONLY:
        yield upload.bench(binary, room(folder, "upload"), ROUNDS)
    if "merge" in ONLY:
        yield merging.bench(binary, room(folder, "merge"), min(ROUNDS, 3), SECONDS)


def keep(said):
    """What is there so far: a run that breaks off has not been for nothing."""
    place = TOP / "bench"
    place.mkdir(exist_ok=True)
    (place / "results.md").write_text("\n".join(["# The last kept run of `make bench`\n", *said]) + "\n")


def main():
    binary, floor = (pathlib.Path(name).resolve() for name in sys.argv[1:3])
    check_tools(binary)
    said = []

    def say(text):
        said.append(text)
        print(text, flush=True)
        if os.environ.get("BENCH_KEEP") == "1":
            keep(said)

    with tempfile.TemporaryDirectory(prefix="wheelcache-bench-") as name:
        begin = datetime.datetime.now()
        say(machine.text(binary, ROUNDS, SECONDS))
        busy = machine.Busy()
        for text in parts(binary, floor, pathlib.Path(name)):
            say(text)
        say(f"{(datetime.datetime.now() - begin).seconds} s; meanwhile others had {busy.others():.1f} of the "
            f"{os.cpu_count()} processors.")


if __name__ == "__main__":
    main()
