# SPDX-License-Identifier: Apache-2.0
"""What it costs to watch a store: memory for many folders, the first scan, and an upload, beside a server that does not watch.
BENCH_FOLDERS (100,000) says how many folders; each has ten files."""
import contextlib
import dataclasses
import json
import multiprocessing
import os
import pathlib
import statistics
import time

import appearing
import ours
import pruning
import rivals
import table
import upload

FOLDERS = int(os.environ.get("BENCH_FOLDERS") or 100_000)
FILES = 10       # of a folder: a wheel, and empty files
LONGEST = 1200
UPLOADS = 200    # a round
MOST_MB = 100
SLABS = pathlib.Path("/sys/kernel/slab")
WATCHES = ("inotify_inode_mark", "fsnotify_mark_connector")  # what the kernel makes for one watch
INODES = {"ext4": "ext4_inode_cache", "xfs": "xfs_inode", "btrfs": "btrfs_inode", "tmpfs": "shmem_inode_cache"}


# --- a store with many folders ---

def make_folder(task):
    store, number = task
    place = store / f"{number % 100:02}" / f"p{number}"
    place.mkdir(parents=True)
    pruning.make_tiny_wheel(place, f"p{number}", "1.0", "py3-none-any")
    for other in range(FILES - 1):
        os.close(os.open(place / f"note{other}.txt", os.O_CREAT | os.O_WRONLY))


def make_store(store):
    with multiprocessing.Pool() as pool:
        pool.map(make_folder, [(store, number) for number in range(FOLDERS)], chunksize=100)


# --- memory and the first scan ---

@dataclasses.dataclass
class Cost:
    rss: int
    cpu: float    # seconds of the first scan
    folders: int  # that are watched


def health(one):
    status, _, body = one.get("/-/health")
    return json.loads(body) if status == 200 else None


def wait_for_scan(one):
    """Of a known store: the server answers before."""
    deadline = time.monotonic() + LONGEST
    while time.monotonic() < deadline:
        found = health(one)
        if found["scan"]["ended"] and not found["scan"]["running"]:
            return found
        time.sleep(0.2)
    raise RuntimeError(f"no scan has ended after {LONGEST} s")


def start(binary, store, folder, watch):
    return ours.start(binary, store, folder, settings=f"threads = 1\nrescan = 3600\n[index]\nwatch = {watch}\n[server]\n")


def cost(binary, store, folder, watch):
    one = start(binary, store, folder, watch)
    try:
        found = wait_for_scan(one)
        one.settle()
        return Cost(one.rss_bytes(), one.cpu_seconds(), found["watch"]["folders"])
    finally:
        one.stop()


def slab_bytes(name):
    path = SLABS / name / "slab_size"
    return int(path.read_text()) if path.exists() else None


def file_system(path):
    """By the longest mount point above it."""
    rows = [line.split() for line in pathlib.Path("/proc/mounts").read_text().splitlines()]
    return max((row for row in rows if path.is_relative_to(row[1])), key=lambda row: len(row[1]))[2]


def megabytes(number):
    return f"{number / 1e6:,.1f} MB"


def memory_rows(store, without, with_watch):
    ours_bytes = with_watch.rss - without.rss
    sizes = [slab_bytes(name) for name in WATCHES]
    kernel = with_watch.folders * sum(sizes) if None not in sizes else None
    yield ["the server's memory, more than without", megabytes(ours_bytes), ""]
    if kernel is None:
        yield ["the kernel's memory for the watches", "not readable here", ""]
    else:
        all_bytes = ours_bytes + kernel
        yield [f"the kernel's {' and '.join(WATCHES)}, {sum(sizes)} bytes a watch", megabytes(kernel), ""]
        yield ["both", megabytes(all_bytes),
               "yes" if all_bytes <= MOST_MB * 1e6 else f"{megabytes(all_bytes)} > {MOST_MB} MB"]
    inode = slab_bytes(INODES.get(file_system(store), "none"))
    if inode:
        yield [f"inodes of the folders, {inode} bytes each: cached after a scan in any case, held while watched",
               megabytes(with_watch.folders * inode), ""]


def many_folders(binary, folder):
    store = folder / "store"
    make_store(store)
    cost(binary, store, folder, "no")  # makes the catalog
    without, with_watch = (cost(binary, store, folder, watch) for watch in ("no", "yes"))
    rows = [*memory_rows(store, without, with_watch),
            ["CPU of a scan without news: watch = no", f"{without.cpu:.1f} s", ""],
            ["CPU of the same scan, which also sets the watches", f"{with_watch.cpu:.1f} s", ""]]
    one = start(binary, store, folder, "yes")
    try:
        wait_for_scan(one)
        new = appearing.Appearing(binary, store, folder, one)
        found = [new.milliseconds(lambda: None, os.rename) for _ in range(20)]
        rows.append(["one new wheel, until it is listed: median, and longest of 20",
                     f"{statistics.median(found):,.0f}, {max(found):,.0f} ms", ""])
    finally:
        one.stop()
    return table.text([f"{FOLDERS * FILES:,} files in {with_watch.folders:,} watched folders", "", "reached"], rows)


# --- uploads ---

def upload_ms(one, folder, version):
    """CPU of the server an upload, with what the watch does afterwards."""
    wheels = upload.batch(folder, version, count=UPLOADS)
    before = one.cpu_seconds()
    with contextlib.closing(upload.http.client.HTTPConnection("127.0.0.1", one.port, timeout=60)) as connection:
        for wheel in wheels:
            upload.send(one, connection, wheel)
    time.sleep(1)
    one.settle()
    return (one.cpu_seconds() - before) * 1000 / UPLOADS


def uploads(binary, folder, count):
    found, scans = {"no": [], "yes": []}, 0
    with contextlib.ExitStack() as stack:
        servers = {}
        for watch in found:
            (folder / watch).mkdir()
            servers[watch] = rivals.start_ours(binary, folder / watch, f"rescan = 3600\n[index]\nwatch = {watch}\n[server]\n")
            stack.callback(servers[watch].stop)
        for one in servers.values():
            upload_ms(one, folder, "0")
        for number in range(count):
            for watch, one in servers.items():
                found[watch].append(upload_ms(one, folder, str(number + 1)))
        scans = health(servers["yes"])["watch"]["scans"]
    rows = [[f"watch = {watch}", f"{statistics.median(values):.2f}", ""] for watch, values in found.items()]
    rows.append([f"scans of changes for {(count + 1) * UPLOADS:,} uploads", str(scans), ""])
    return table.text(["an upload of 20 KB", "CPU ms of the server", ""], rows)


def bench(binary, folder, count):
    """Returns the tables as text."""
    return many_folders(binary, folder) + "\n" + uploads(binary, folder, count)
