# SPDX-License-Identifier: Apache-2.0
"""What it costs to look inside wheels: a cold index of real wheels (../shared) with and without [index] facts, in pairs, with
the files in memory and, as root, from the disk: until all are listed, and until its end. And how long searches take in a catalog of 100,000 wheels, which is that of
the real wheels many times over, with other hashes."""
import contextlib
import dataclasses
import hashlib
import json
import os
import pathlib
import shutil
import sqlite3
import statistics
import subprocess
import sys
import time

import scans
import table

TOP = pathlib.Path(__file__).resolve().parents[2]
SHARED = pathlib.Path(os.environ.get("WHEELCACHE_SHARED") or TOP.parent / "shared")
PLATFORM = "debian-12-x86_64"
WHEELS = 100_000
MOST_TIMES = 1.2  # of the processor time until all are listed
DROP = pathlib.Path("/proc/sys/vm/drop_caches")
SEARCHES = [("--symbol", "zmq_ctx_new", 250), ("--symbol", "no_such_symbol", 250), ("--symbol", "PyErr_SetString", 2000),
            ("--needs", "libnone.so*", 250), ("--needs", "libc.so.6", 2000), ("--bundles", "openssl<3.0.15", 250),
            ("--bundles", "gcc", 2000), ("--sbom", "pkg:cargo/pyo3", 250), ("--toolchain", "rustc*", 2000)]


# --- the cost ---

def make_store(store):
    """The corpus on its platforms, and all wheels of the clients on one of them."""
    subprocess.run([sys.executable, str(SHARED / "corpus/make-store.py"), str(store)], check=True, stdout=subprocess.DEVNULL)
    place = store / PLATFORM / "clients"
    place.mkdir(parents=True)
    for wheel in (SHARED / "clients/wheels").glob("*.whl"):
        shutil.copy2(wheel, place)
    subprocess.run(["sync"], check=True)


def can_drop():
    with contextlib.suppress(OSError):
        DROP.write_text("3\n")
        return True
    return False


@dataclasses.dataclass
class Cold:
    """The cost of a first index, until its end and until all files were listed."""
    seconds: float
    cpu: float
    rss: int
    listed: float
    listed_cpu: float


def cpu_of(pid):
    """Of a process that runs: its seconds of user and system time."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def count_files(catalog):
    with contextlib.suppress(sqlite3.Error), contextlib.closing(sqlite3.connect(f"file:{catalog}?mode=ro", uri=True)) as c:
        return c.execute("SELECT count(*) FROM file").fetchone()[0]
    return 0


def cold_index(command, catalog, files):
    """The catalog is asked every few milliseconds, which costs a run with facts as much as one without."""
    begin = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while count_files(catalog) < files:
        if os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            raise RuntimeError(f"{command[0]} ended, and has not listed {files} files")
        time.sleep(0.003)
    listed, listed_cpu = time.monotonic() - begin, cpu_of(process.pid)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return Cold(time.monotonic() - begin, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, listed, listed_cpu)


def index(binary, store, folder, audit, is_cold):
    catalog, config = folder / f"{audit}.db", folder / f"{audit}.conf"
    config.write_text(f"[store]\npath = {store}\n[index]\nfacts = {audit}\n")
    catalog.unlink(missing_ok=True)
    files = sum(1 for _ in store.rglob("*.whl"))
    if is_cold:
        DROP.write_text("3\n")
    command = [str(binary), "index", "--quiet", "--catalog", str(catalog), "--config", str(config)]
    return cold_index(command, catalog, files)


def pairs(binary, store, folder, is_cold, count):
    """(without, with audit) of each round; the order alternates. A round that is not counted comes first."""
    found = []
    for number in range(count + 1):
        order = ["no", "yes"] if number % 2 else ["yes", "no"]
        pair = {audit: index(binary, store, folder, audit, is_cold) for audit in order}
        found.append((pair["no"], pair["yes"]))
    return found[1:]


def inflating_seconds(program, store):
    """Processor seconds of unpacking the ELF files of all different wheels, which no index with facts can save: their tables
    of sections are at their ends. The median of three."""
    wheels = {hashlib.sha256(path.read_bytes()).digest(): str(path) for path in sorted(store.rglob("*.whl"))}
    found = [float(scans.timed([str(program), *wheels.values()]).output) for _ in range(3)]
    return statistics.median(found)


def cost_row(name, found, inflating):
    off, on = zip(*found)
    bound = statistics.median((a.cpu + inflating) / a.cpu for a, _ in found)
    times = {what: statistics.median(getattr(b, what) / getattr(a, what) for a, b in found)
             for what in ("listed", "listed_cpu", "seconds", "cpu")}
    figures = [f"{scans.median(what, off):.2f} → {scans.median(what, on):.2f} ({times[what]:.2f})" for what in times]
    return [name, *figures, f"{bound:.2f}", f"{on[-1].rss / 2**20:.0f}",
            "yes" if times["listed_cpu"] <= MOST_TIMES else f"{times['listed_cpu']:.2f} > {MOST_TIMES}"]


def bench_cost(binary, inflating, store, folder, count):
    unpacking = inflating_seconds(inflating, store)
    rows = [cost_row("in memory", pairs(binary, store, folder, False, count), unpacking)]
    if can_drop():
        rows.append(cost_row("from the disk", pairs(binary, store, folder, True, count), unpacking))
    files = sum(1 for path in store.rglob("*.whl"))
    heads = [f"cold index of {files} real wheels", "s until all are listed", "CPU s until then", "s in all", "CPU s in all",
             "bound", "RSS MB", "reached"]
    return (table.text(heads, rows) + "\nWithout → with audit (how many times as much, the median of pairs). What is reached"
            f" is CPU s until all are listed.\nUnpacking the native files alone takes {unpacking:.2f} CPU s: with it and nothing else the"
            " CPU time would be \"bound\" times as much.\n")


# --- searches ---

def multiply(catalog, most):
    """Adds copies of all wheels on platforms of their own until there are so many. Returns how many there are."""
    connection = sqlite3.connect(catalog, isolation_level=None)
    connection.executescript("PRAGMA synchronous = OFF; PRAGMA cache_size = -200000; PRAGMA foreign_keys = OFF; BEGIN")
    files = connection.execute("SELECT f.*, p.name AS project_name FROM file f JOIN project p ON p.id = f.project"
                               " JOIN inside i ON i.sha256 = f.sha256 WHERE f.state = 0 GROUP BY f.sha256").fetchall()
    columns = [row[1] for row in connection.execute("PRAGMA table_info(file)")]
    at = {name: columns.index(name) for name in columns}
    seen, clean = set(), []
    for row in files:
        if row[at["filename"]] not in seen:
            seen.add(row[at["filename"]])
            clean.append(row)
    inside = dict(connection.execute("SELECT sha256, id FROM inside"))
    by_key = {"inside_symbol": " AND slice IN (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)"}
    count, copy = len(inside), 0
    while count < most:
        copy += 1
        platform = connection.execute("INSERT INTO platform (name) VALUES (?)", [f"copy-{copy}"]).lastrowid
        folder = connection.execute("INSERT INTO folder (platform, path) VALUES (?, '')", [platform]).lastrowid
        projects = {}
        for row in clean:
            name, old = row[-1], row[at["sha256"]]
            if name not in projects:
                projects[name] = connection.execute("INSERT INTO project (platform, name) VALUES (?, ?)",
                                                    [platform, name]).lastrowid
            sha256 = hashlib.sha256(old + copy.to_bytes(4, "big")).digest()
            values = dict(zip(columns, row)) | {"id": None, "folder": folder, "platform": platform, "project": projects[name],
                                                "sha256": sha256}
            connection.execute(f"INSERT INTO file ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})",
                               [values[name] for name in columns])
            new = connection.execute("SELECT id FROM inside WHERE sha256 = ?", [sha256]).fetchone()[0]
            connection.execute("UPDATE inside SET (version, why) = (SELECT version, why FROM inside WHERE id = ?) WHERE id = ?",
                               [inside[old], new])
            for table_name, others in (("inside_facts", "packed"), ("inside_use", "word"), ("inside_symbol", "slice, hashes")):
                connection.execute(f"INSERT INTO {table_name} (inside, {others}) SELECT ?, {others} FROM {table_name}"
                                   f" WHERE inside = ?{by_key.get(table_name, '')}", [new, inside[old]])
            count += 1
    connection.execute("COMMIT")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    return count


def search_row(binary, catalog, option, pattern, limit, count):
    command = [str(binary), "find", "--catalog", str(catalog), "--json", option, pattern]
    found = [scans.timed(command) for _ in range(count + 1)][1:]
    answer = json.loads(found[-1].output)
    ms, cpu = (scans.median(what, found) * 1000 for what in ("seconds", "cpu"))
    return [f"find {option} '{pattern}'", f"{ms:.0f}", f"{cpu:.0f}", f"{len(answer['found']):,}",
            f"{len(answer['version_unknown']):,}", "yes" if cpu <= limit else f"{cpu:.0f} > {limit}"]


def sizes(catalog):
    """Bytes for each wheel: the whole catalog, and the tables of what is inside."""
    with contextlib.closing(sqlite3.connect(catalog)) as connection:
        wheels = connection.execute("SELECT count(*) FROM inside").fetchone()[0]
        facts = connection.execute("SELECT sum(length(packed)) FROM inside_facts").fetchone()[0]
        symbols = connection.execute("SELECT sum(length(hashes)) FROM inside_symbol").fetchone()[0]
    return wheels, os.path.getsize(catalog), facts, symbols


def bench_searches(binary, store, folder, count):
    catalog, config = folder / "many.db", folder / "many.conf"
    sizes_of = {}
    for audit in ("no", "yes"):
        catalog.unlink(missing_ok=True)
        config.write_text(f"[store]\npath = {store}\n[index]\nfacts = {audit}\n")
        scans.timed([str(binary), "index", "--json", "--catalog", str(catalog), "--config", str(config)])
        sizes_of[audit] = sizes(catalog)
    multiply(catalog, WHEELS)
    rows = [search_row(binary, catalog, *search, count) for search in SEARCHES]
    wheels, size, facts, symbols = sizes(catalog)
    different = sizes_of["yes"][0]
    more = (sizes_of["yes"][1] - sizes_of["no"][1]) / different
    heads = [f"{wheels:,} wheels, a catalog of {size / 1e6:,.0f} MB", "ms", "CPU ms", "found", "unknown version", "reached"]
    return (table.text(heads, rows) + f"\nThe catalog grows by {more:,.0f} bytes for each different wheel: {facts / wheels:,.0f}"
            f" are packed facts, {symbols / wheels:,.0f} hashes of symbols.\n")


def bench(binary, inflating, folder, count):
    """Returns the tables as text."""
    if not (SHARED / "corpus").is_dir():
        return f"{SHARED} is absent: there are no real wheels.\n"
    store = folder / "store"
    make_store(store)
    return bench_cost(binary, inflating, store, folder, count) + "\n" + bench_searches(binary, store, folder, min(count, 5))
