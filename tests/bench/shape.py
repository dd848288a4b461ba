# SPDX-License-Identifier: Apache-2.0
"""Stores with the shape of PyPI: half of all projects have up to 4 files, one in a hundred has 262 or more."""
import dataclasses
import hashlib
import math
import multiprocessing
import os
import pathlib
import statistics
import struct
import sys
import zlib

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
import storelib  # noqa: E402

MEDIAN, P99 = 4, 262
WHEEL_BYTES = 20_000
LARGE_WHEEL_BYTES = 20_000_000
PAGES = (4, 30, 5_000)  # file counts of the projects whose pages are measured; the last is about that of PyPI's largest


@dataclasses.dataclass
class Made:
    """A wheel that was made."""
    project: str
    path: pathlib.Path


@dataclasses.dataclass
class Shape:
    """The contents of a store for the table of servers."""
    projects: dict       # files -> a project that has so many
    names: list          # all projects
    wheel: Made          # of the project with 4
    large_wheel: Made


def sizes(total):
    """The numbers of files per project, total in sum: quantiles of the log-normal distribution, so not random."""
    sigma = math.log(P99 / MEDIAN) / statistics.NormalDist().inv_cdf(0.99)
    count = round(total / (MEDIAN * math.exp(sigma ** 2 / 2)))
    found = []
    while sum(found) < total:
        quantiles = [(i + 0.5) / count for i in range(count)]
        found = [max(1, round(MEDIAN * math.exp(sigma * statistics.NormalDist().inv_cdf(q)))) for q in quantiles]
        count += 1
    found[-1] -= sum(found) - total
    return [size for size in found if size > 0]


def zip_stored(members):
    """A ZIP archive of (name, bytes) pairs, not compressed. zipfile would take ten times as long."""
    DATE, MODE = 0x5021, 0o100644 << 16
    body, index = bytearray(), bytearray()
    for name, data in members:
        fields = (0, 0, 0, DATE, zlib.crc32(data), len(data), len(data), len(name), 0)
        index += b"PK\1\2" + struct.pack("<HHHHHHIIIHHHHHII", 20, 20, *fields, 0, 0, 0, MODE, len(body))
        index += name.encode()
        body += b"PK\3\4" + struct.pack("<HHHHHIIIHH", 20, *fields) + name.encode() + data
    end = struct.pack("<HHHHIIH", 0, 0, len(members), len(members), len(index), len(body), 0)
    return bytes(body + index + b"PK\5\6" + end)


def make_wheel(place, project, version, size=WHEEL_BYTES):
    """A wheel with random bytes inside; the same arguments give the same ones."""
    data = hashlib.shake_256(f"{project}-{version}".encode()).digest(size)
    members = storelib.wheel_members(project, version, requires_python=">=3.9", files={f"{project}.bin": data})
    path = place / f"{project}-{version}-py3-none-any.whl"
    path.write_bytes(zip_stored(members))
    os.utime(path, (storelib.OLD, storelib.OLD))
    return Made(project, path)


def make_project(task):
    """Returns its first wheel."""
    folder, project, count, size = task
    place = folder / project[0] / project
    place.mkdir(parents=True)
    return [make_wheel(place, project, f"1.{i}", size) for i in range(count)][0]


def make_projects(folder, tasks):
    """In child processes: the peak RSS of a measured child starts at that of this process, which has to stay small."""
    with multiprocessing.Pool() as pool:
        return pool.map(make_project, [(folder, *task) for task in tasks], chunksize=8)


def tasks_of(counts):
    return [(f"project{i}", count, WHEEL_BYTES) for i, count in enumerate(counts)]


def make_many(folder, total):
    """A store of so many wheels."""
    make_projects(folder, tasks_of(sizes(total)))


def make_served(folder, total):
    """A store of so many wheels, the largest project among them, the last one of 20 MB."""
    counts = [*PAGES, *sizes(total - 1 - sum(PAGES))]
    made = make_projects(folder, [*tasks_of(counts), ("large", 1, LARGE_WHEEL_BYTES)])
    names = [one.project for one in made]
    return Shape(dict(zip(PAGES, names)), names, made[0], made[-1])
