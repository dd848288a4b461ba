# SPDX-License-Identifier: Apache-2.0
"""A plan for 16 platforms against a loopback upstream (nginx, with precompressed pages as PyPI has them): with an empty
catalog, and again with unchanged pages."""
import gzip
import hashlib
import json
import multiprocessing
import os
import pathlib

import nginx
import scans
import server
import shape
import storelib
import table

PROJECTS, WHEELS = 600, 100_000
PLATFORMS = {f"{system}-{arch}": (python, libc, arch) for arch in ("x86_64", "aarch64") for system, python, libc in (
    ("ubuntu-20.04", "cp38", "manylinux"), ("ubuntu-22.04", "cp310", "manylinux"), ("ubuntu-24.04", "cp312", "manylinux"),
    ("debian-11", "cp39", "manylinux"), ("debian-12", "cp311", "manylinux"), ("debian-13", "cp313", "manylinux"),
    ("rocky-9", "cp39", "manylinux"), ("alpine-3.20", "cp312", "musllinux"))}
PYTHONS = ("cp38", "cp39", "cp310", "cp311", "cp312", "cp313", "cp314")
TAGS = {("manylinux", "x86_64"): "manylinux2014_x86_64.manylinux_2_17_x86_64",
        ("manylinux", "aarch64"): "manylinux2014_aarch64.manylinux_2_17_aarch64",
        ("musllinux", "x86_64"): "musllinux_1_2_x86_64", ("musllinux", "aarch64"): "musllinux_1_2_aarch64",
        ("mac", "arm64"): "macosx_11_0_arm64", ("windows", "x86_64"): "win_amd64"}
VERSIONS, FEW_VERSIONS = 12, 6  # versions of a project upstream; of one project in twenty, whose later versions are only built here
LIMITS = {"cold": 30, "all 304": 5}
CONFIG = """
    log_format short "$status";
    access_log {folder}/asked short;
    server {{
        listen 127.0.0.1:{port};
        types {{}}
        location /simple/ {{
            alias {folder}/pages/;
            index page;
            gzip_static on;
            default_type application/vnd.pypi.simple.v1+json;
        }}
    }}
"""


def name_of(number):
    return f"project{number:03}"


def versions_of(number):
    return FEW_VERSIONS if number % 20 == 0 else VERSIONS


# --- upstream ---

def listed(filename, requires_python):
    digest = hashlib.blake2b(filename.encode(), digest_size=32).hexdigest()
    return {"core-metadata": {"sha256": digest}, "filename": filename, "hashes": {"sha256": digest}, "provenance": None,
            "requires-python": requires_python, "size": 123456, "upload-time": "2024-01-02T03:04:05.678901Z",
            "url": f"../../packages/{digest[:2]}/{digest[2:4]}/{digest[4:]}/{filename}", "yanked": False}


def make_page(task):
    folder, number = task
    name, versions = name_of(number), [f"1.{i}" for i in range(versions_of(number))]
    files = []
    for version in versions:
        files += [listed(f"{name}-{version}-{python}-{python}-{tag}.whl", ">=3.8") for python in PYTHONS for tag in TAGS.values()]
        files.append(listed(f"{name}-{version}.tar.gz", ">=3.8"))
    body = json.dumps({"files": files, "meta": {"_last-serial": 1000 + number, "api-version": "1.4"}, "name": name,
                       "project-status": {"status": "active"}, "versions": versions}).encode()
    place = folder / "pages" / name
    place.mkdir(parents=True)
    (place / "page").write_bytes(body)
    (place / "page.gz").write_bytes(gzip.compress(body, 6))


def start_upstream(folder):
    config, port = nginx.write_config(folder, CONFIG)
    return nginx.Nginx(server.start(nginx.program(), "-c", config), port).wait_until_up()


# --- the store ---

def make_tiny_wheel(place, name, version, tag):
    data = shape.zip_stored(storelib.wheel_members(name, version, tag=tag, requires_python=">=3.8"))
    path = place / f"{name}-{version}-{tag}.whl"
    path.write_bytes(data)
    os.utime(path, (storelib.OLD, storelib.OLD))


def make_wheels(task):
    """The wheels of a project: two in three have upstream's file name, the others that of a local build."""
    folder, number = task
    name = name_of(number)
    for i, (platform, (python, libc, arch)) in enumerate(PLATFORMS.items()):
        pair = number * len(PLATFORMS) + i
        place = folder / "store" / platform / name[0] / name
        place.mkdir(parents=True)
        for version in range(WHEELS * (pair + 1) // (PROJECTS * len(PLATFORMS)) - WHEELS * pair // (PROJECTS * len(PLATFORMS))):
            tag = f"linux_{arch}" if (pair + version) % 3 == 0 else TAGS[libc, arch]
            make_tiny_wheel(place, name, f"1.{version}", f"{python}-{python}-{tag}")


def make_all(folder):
    tasks = [(folder, number) for number in range(PROJECTS)]
    with multiprocessing.Pool() as pool:
        pool.map(make_page, tasks, chunksize=8)
        pool.map(make_wheels, tasks, chunksize=8)


# --- figures ---

def asked(folder):
    """The number of requests since the last call, and how many of them got a 304."""
    log = folder / "asked"
    found = log.read_text().split()
    os.truncate(log, 0)
    return len(found), found.count("304")


def plan_twice(binary, folder, number):
    """Plans with an empty catalog, and again without changes."""
    catalog, found = folder / f"round-{number}.db", {}
    catalog.write_bytes((folder / "indexed.db").read_bytes())
    command = [str(binary), "prune", "plan", "--json", "--config", str(folder / "wheelcache.conf"), "--catalog",
               str(catalog), "-o", str(folder / "plan.json")]
    for name in LIMITS:
        found[name] = scans.timed(command), asked(folder)
    return found


def row(name, runs):
    timed = [run for run, _ in runs]
    seconds, (requests, unchanged) = scans.median("seconds", timed), runs[-1][1]
    plan = json.loads(timed[-1].output)
    goes = sum(one["files"] for one in plan["totals"] if one["removes"])
    files = sum(one["files"] for one in plan["totals"])
    assert (files, plan["look-ups"]["projects"], plan["look-ups"]["failed"]) == (WHEELS, PROJECTS, 0), plan["look-ups"]
    return [name, f"{seconds:.2f}", f"{scans.median('cpu', timed):.2f}", f"{requests:,}", f"{unchanged:,}",
            f"{timed[-1].rss / 2**20:.0f}", f"{goes:,}", "yes" if seconds < LIMITS[name] else f"{seconds:.1f} > {LIMITS[name]}"]


def bench(binary, folder, count):
    """Returns the table as text."""
    make_all(folder)
    scans.timed([str(binary), "index", "--json", "--catalog", str(folder / "indexed.db"), str(folder / "store")])
    upstream = start_upstream(folder)
    try:
        (folder / "wheelcache.conf").write_text(f"[store]\npath = {folder}/store\n"
                                                f"[upstream]\nurl = http://127.0.0.1:{upstream.port}/simple/\n")
        found = {name: [] for name in LIMITS}
        asked(folder)
        for number in range(count):
            for name, run in plan_twice(binary, folder, number).items():
                found[name].append(run)
    finally:
        upstream.stop()
    page = pathlib.Path(folder / "pages" / name_of(1) / "page").stat().st_size
    heads = [f"plan for {WHEELS:,} wheels of {PROJECTS} projects on {len(PLATFORMS)} platforms, pages of {page / 1e3:.0f} kB",
             "seconds", "CPU s", "requests", "304", "RSS MB", "files that go", "reached"]
    return table.text(heads, [row(name, runs) for name, runs in found.items()])
