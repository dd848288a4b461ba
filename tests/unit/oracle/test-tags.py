# SPDX-License-Identifier: Apache-2.0
"""Compares the tags of environments and their order with Python's packaging, for a matrix of Pythons, architectures and
libcs that includes every platform with defaults."""

import itertools
import pathlib
import sys

try:
    from packaging import _manylinux, _musllinux, tags
except ImportError:
    print("no python3-packaging here")
    sys.exit(77)

from domaintool import ask

PYTHONS = ["2.7", "3.3", "3.6", "3.7", "3.8", "3.9", "3.10", "3.11", "3.12", "3.13", "3.14", "3.15",
           "3.13t", "3.14t", "3.15t", "pp37", "pp39", "pp310", "pp311"]
ARCHES = ["x86_64", "i686", "aarch64", "armv7l", "armv6l", "ppc64", "ppc64le", "s390x", "riscv64", "loongarch64"]
LIBCS = ["glibc 2.4", "glibc 2.5", "glibc 2.12", "glibc 2.16", "glibc 2.17", "glibc 2.28", "glibc 2.31", "glibc 2.43",
         "musl 1.0", "musl 1.1", "musl 1.2"]
DISTROS = pathlib.Path(__file__).resolve().parents[3] / "lib/domain/machine/distros.txt"
USUAL_ARCHES = ["x86_64", "aarch64"]
MUST_BE_BUILT_IN = [  # each followed by an architecture
    *(f"ubuntu-{version}" for version in ("20.04", "22.04", "24.04", "26.04", "focal", "jammy", "noble", "resolute")),
    *(f"debian-{version}" for version in ("11", "12", "13", "bullseye", "bookworm", "trixie")),
    *(f"{rebuilt}-{version}" for rebuilt in ("centos", "rocky") for version in (8, 9, 10)),
    "openeuler-24.03", "fedora-43", "alpine-3.22"]


def platforms(arch, libc):
    """The platform tags of packaging on such a machine: it gets this libc, and a Python that is built for it."""
    name, version = libc.split()
    version = tuple(map(int, version.split(".")))
    _manylinux._get_glibc_version = lambda: version if name == "glibc" else (-1, -1)
    _manylinux._have_compatible_abi = lambda *_: name == "glibc" and arch != "armv6l"
    _musllinux._get_musl_version = lambda _: _musllinux._MuslVersion(*version) if name == "musl" else None
    tags.sysconfig.get_platform = lambda: f"linux-{arch}"
    found = list(tags._linux_platforms(is_32bit=False))
    return sorted(found, key=lambda tag: tag.startswith("linux_"))  # only packaging 26 puts it first


def cpython(python, on):
    version = tuple(map(int, python.rstrip("t").split(".")))
    nodot = "".join(map(str, version))
    flags = "mu" if version < (3,) else "t" if python.endswith("t") else "m" if version < (3, 8) else ""
    if flags == "t" and not hasattr(tags, "_abi3t_applies"):  # packaging before PEP 803
        made = [tags.Tag(t.interpreter, t.abi if t.abi == "none" else t.abi + "t", t.platform)
                for t in tags.cpython_tags(version, [f"cp{nodot}"], on)]
    else:
        made = list(tags.cpython_tags(version, [f"cp{nodot}{flags}"], on))
    return made + list(tags.compatible_tags(version, f"cp{nodot}", on))


def pypy(python, on):
    version = (int(python[2]), int(python[3:]))
    made = list(tags.generic_tags(python, [f"pypy{python[2:]}_pp73"], on))
    return made + list(tags.compatible_tags(version, "pp3", on))


def expect(python, arch, libc):
    on = platforms(arch, libc)
    return list(map(str, (pypy if python.startswith("pp") else cpython)(python, on)))


def built_in():
    """The rows of distros.txt: a platform's name without its architecture, its libc, its Pythons."""
    for line in DISTROS.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            os, version, codename, libc, pythons = line.split(" | ")
            for name in {version, codename} - {"-"}:
                yield f"{os}-{name}", libc, pythons.split()


rows = [(f"{name}-{arch}", arch, libc, pythons) for name, libc, pythons in built_in() for arch in USUAL_ARCHES]
known = {name for name, *_ in rows}
wrong = [name for start in MUST_BE_BUILT_IN for arch in USUAL_ARCHES if (name := f"{start}-{arch}") not in known]
for (name, arch, libc, pythons), answer in zip(rows, ask("platform", [name for name, *_ in rows])):
    if answer != ["1", should := f"Python {' '.join(pythons)} on {arch} with {libc}"]:
        wrong.append(f"{name}: {answer} instead of {should}")
print(f"{len(rows)} platforms are built in", *wrong, sep="\n")

matrix = {*itertools.product(PYTHONS, ARCHES, LIBCS)}
matrix |= {(python, arch, libc) for _, arch, libc, pythons in rows for python in [*pythons, *PYTHONS]}
matrix = sorted(matrix)
total = 0
for env, answer in zip(matrix, ask("environment", ["\n".join(env) for env in matrix])):
    should = ["1", *expect(*env)]
    total += len(should) - 1
    if answer != should:
        wrong.append(env)
        at = next((i for i, (a, b) in enumerate(zip(answer, should)) if a != b), min(len(answer), len(should)))
        print(f"{env}: {len(answer)} tags instead of {len(should)}; {answer[at:at + 3]} instead of {should[at:at + 3]}")
print(f"{len(matrix)} environments, {total} tags, {len(wrong)} wrong")
assert len(rows) > 60 and total > 100 * len(matrix), "too few platforms or tags"
sys.exit(len(wrong) > 0)
