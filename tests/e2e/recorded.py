# SPDX-License-Identifier: Apache-2.0
"""Reads the tables beside the recorded wheels."""
import collections
import json
import pathlib

HERE = pathlib.Path(__file__).parent
Expected = collections.namedtuple("Expected", "path sha256 size metadata_sha256 requires_python")
Install = collections.namedtuple("Install", "platform python requirement only_binary version file")
Platform = collections.namedtuple("Platform", "name arch libc libc_version pythons")
OLDEST_GLIBC_MINOR = {"x86_64": 5, "aarch64": 17}
OLD_NAMES = {17: "manylinux2014", 12: "manylinux2010", 5: "manylinux1"}


def table(path):
    """The rows of a table as lists of strings; "#" begins a comment line."""
    with open(path, encoding="utf-8", newline="\n") as rows:
        return [row.rstrip("\n").split("\t") for row in rows if not row.startswith("#")]


def expected(shared):
    """The facts that an oracle read from each recorded wheel, by its path in the corpus."""
    rows = table(shared / "corpus" / "expected.tsv")
    return {row[0]: Expected(row[0], row[1], int(row[2]), row[3], json.loads(row[10])) for row in rows}


def hashes(shared):
    """File name -> SHA-256; for a name that was built more than once, of the first build."""
    found = {}
    for path, fact in expected(shared).items():
        found.setdefault(path.rsplit("/", 1)[1], fact.sha256)
    return found


def installs(shared, index):
    """The files that pip's finder picked, for one index."""
    return [Install(*row[1:]) for row in table(shared / "corpus" / "installs.tsv") if row[0] == index]


def platforms(shared):
    rows = table(shared / "corpus" / "platforms.tsv")
    return {row[0]: Platform(*row[:4], row[4].split()) for row in rows}


def platform_tags(place):
    """The platform tags of a libc, best first, as packaging.tags makes them on such a machine."""
    major, minor = map(int, place.libc_version.split("."))
    tags = []
    if place.libc == "musl":
        tags = [f"musllinux_{major}_{one}_{place.arch}" for one in range(minor, -1, -1)]
    else:
        for one in range(minor, OLDEST_GLIBC_MINOR[place.arch] - 1, -1):
            tags.append(f"manylinux_{major}_{one}_{place.arch}")
            if one in OLD_NAMES:
                tags.append(f"{OLD_NAMES[one]}_{place.arch}")
    return tags + [f"linux_{place.arch}"]


def ask_finder(pip, tasks):
    """The answer of pip's finder (finder.py) to each task."""
    return json.loads(pip.run("python", HERE / "finder.py", stdin=json.dumps(tasks)).stdout)
