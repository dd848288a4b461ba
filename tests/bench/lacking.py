# SPDX-License-Identifier: Apache-2.0
"""What is missing for 5 branches on 16 platforms with 3 Pythons each, against a loopback upstream (nginx, with precompressed
pages as PyPI has them): with an empty catalog, again with unchanged pages, and without asking."""
import gzip
import json
import multiprocessing
import pathlib

import pruning
import scans
import table

PROJECTS, BRANCHES, VERSIONS = 600, 5, 12
PYTHONS = {"x86_64": "3.10 3.12 3.13", "aarch64": "3.11 3.12 3.14"}
LIMITS = {"cold": 60, "all 304": 5, "offline": 5}
EVERYWHERE, SDIST, PURE, ONE_ARCH, OLD_PYTHONS = range(5)  # what upstream has of a project
HERE_EVERY = 3  # of the projects that upstream has not for all, one in so many is here on each platform


def kind_of(number):
    return {0: SDIST, 1: PURE, 2: ONE_ARCH, 3: OLD_PYTHONS}.get(number % 12, EVERYWHERE)


# --- upstream ---

def names_of(number, version):
    """The file names of a version."""
    name, kind = pruning.name_of(number), kind_of(number)
    if kind == PURE:
        yield f"{name}-{version}-py3-none-any.whl"
    elif kind != SDIST:
        for python in pruning.PYTHONS[:3 if kind == OLD_PYTHONS else None]:
            for (_, arch), tag in pruning.TAGS.items():
                if kind != ONE_ARCH or arch == "x86_64":
                    yield f"{name}-{version}-{python}-{python}-{tag}.whl"
    yield f"{name}-{version}.tar.gz"


def make_page(task):
    folder, number = task
    versions = [f"1.{i}" for i in range(VERSIONS)]
    files = [pruning.listed(name, ">=3.8") for version in versions for name in names_of(number, version)]
    body = json.dumps({"files": files, "meta": {"_last-serial": 1000 + number, "api-version": "1.4"},
                       "name": pruning.name_of(number), "project-status": {"status": "active"}, "versions": versions}).encode()
    place = folder / "pages" / pruning.name_of(number)
    place.mkdir(parents=True)
    (place / "page").write_bytes(body)
    (place / "page.gz").write_bytes(gzip.compress(body, 6))


# --- the store and the branches ---

def pin_of(number, branch):
    return f"1.{(number + 2 * branch) % VERSIONS}"


def make_wheels(task):
    """The wheels of a project for the first Python of each platform, for the pins of all branches."""
    folder, number = task
    if kind_of(number) == EVERYWHERE or number % HERE_EVERY:
        return
    name = pruning.name_of(number)
    for platform, (_, _, arch) in pruning.PLATFORMS.items():
        place = folder / "store" / platform / name[0] / name
        place.mkdir(parents=True)
        python = "cp" + PYTHONS[arch].split()[0].replace(".", "")
        for version in {pin_of(number, branch) for branch in range(BRANCHES)}:
            pruning.make_tiny_wheel(place, name, version, f"{python}-{python}-linux_{arch}")


def write_config(folder, port):
    text = f"[store]\npath = {folder}/store\n[upstream]\nurl = http://127.0.0.1:{port}/simple/\n"
    for platform, (_, _, arch) in pruning.PLATFORMS.items():
        text += f"[platform {platform}]\npythons = {PYTHONS[arch]}\n"
    for branch in range(BRANCHES):
        path = folder / f"constraints-{branch}.txt"
        path.write_text("".join(line_of(number, branch) for number in range(PROJECTS)))
        text += f"[branch {branch}]\nconstraints = {path}\n"
    (folder / "wheelcache.conf").write_text(text)


def line_of(number, branch):
    """A pin; of one project in ten another one for each Python, as upper-constraints files have them."""
    pin = f"{pruning.name_of(number)}==={pin_of(number, branch)}"
    if number % 10:
        return pin + "\n"
    return f"{pin};python_version>='3.12'\n{pruning.name_of(number)}===1.0;python_version<'3.12'\n"


def make_all(folder):
    tasks = [(folder, number) for number in range(PROJECTS)]
    for platform in pruning.PLATFORMS:
        (folder / "store" / platform).mkdir(parents=True)
    with multiprocessing.Pool() as pool:
        pool.map(make_page, tasks, chunksize=8)
        pool.map(make_wheels, tasks, chunksize=8)


# --- figures ---

def ask_thrice(binary, folder, number):
    catalog, found = folder / f"round-{number}.db", {}
    catalog.write_bytes((folder / "indexed.db").read_bytes())
    command = [str(binary), "missing", "--format", "json", "--config", str(folder / "wheelcache.conf"), "--catalog", str(catalog)]
    for name in LIMITS:
        more = ["--offline"] if name == "offline" else []
        found[name] = scans.timed(command + more), pruning.asked(folder)
    return found


def row(name, runs):
    timed = [run for run, _ in runs]
    seconds, (requests, unchanged) = scans.median("seconds", timed), runs[-1][1]
    answer = json.loads(timed[-1].output)
    totals = answer["totals"]
    assert len(answer["environments"]) == 3 * len(pruning.PLATFORMS) and totals["unknown"] == 0, totals
    assert requests == (0 if name == "offline" else PROJECTS), requests
    return [name, f"{seconds:.2f}", f"{scans.median('cpu', timed):.2f}", f"{requests:,}", f"{unchanged:,}",
            f"{timed[-1].rss / 2**20:.0f}", f"{sum(totals.values()):,}", f"{totals['missing']:,}",
            "yes" if seconds < LIMITS[name] else f"{seconds:.1f} > {LIMITS[name]}"]


def bench(binary, folder, count):
    """Returns the table as text."""
    make_all(folder)
    scans.timed([str(binary), "index", "--json", "--catalog", str(folder / "indexed.db"), str(folder / "store")])
    upstream = pruning.start_upstream(folder)
    try:
        write_config(folder, upstream.port)
        found = {name: [] for name in LIMITS}
        pruning.asked(folder)
        for number in range(count):
            for name, run in ask_thrice(binary, folder, number).items():
                found[name].append(run)
    finally:
        upstream.stop()
    page = pathlib.Path(folder / "pages" / pruning.name_of(5) / "page").stat().st_size
    heads = [f"missing: {BRANCHES} branches of {PROJECTS} projects, {len(pruning.PLATFORMS)} platforms, 3 Pythons, "
             f"pages of {page / 1e3:.0f} kB", "seconds", "CPU s", "requests", "304", "RSS MB", "rows", "missing", "reached"]
    return table.text(heads, [row(name, runs) for name, runs in found.items()])
