# SPDX-License-Identifier: Apache-2.0
"""Holds the tags of environments, and their order, against Python's packaging: a matrix of Pythons, architectures and libcs."""

import itertools
import subprocess
import sys

try:
    from packaging import _manylinux, _musllinux, tags
except ImportError:
    print("no python3-packaging here")
    sys.exit(77)

TOOL = "tests/unit/domain-tool"
PYTHONS = ["2.7", "3.3", "3.6", "3.7", "3.8", "3.9", "3.10", "3.11", "3.12", "3.13", "3.14", "3.15",
           "3.13t", "3.14t", "3.15t", "pp37", "pp39", "pp310", "pp311"]
ARCHES = ["x86_64", "i686", "aarch64", "armv7l", "armv6l", "ppc64", "ppc64le", "s390x", "riscv64", "loongarch64"]
LIBCS = ["glibc 2.4", "glibc 2.5", "glibc 2.12", "glibc 2.16", "glibc 2.17", "glibc 2.28", "glibc 2.31", "glibc 2.43",
         "musl 1.0", "musl 1.1", "musl 1.2"]


def platforms(arch, libc):
    """What packaging would say on such a machine: told its libc, and that its Python is built for it."""
    name, version = libc.split()
    version = tuple(map(int, version.split(".")))
    _manylinux._get_glibc_version = lambda: version if name == "glibc" else (-1, -1)
    _manylinux._have_compatible_abi = lambda *_: name == "glibc" and arch != "armv6l"
    _musllinux._get_musl_version = lambda _: _musllinux._MuslVersion(*version) if name == "musl" else None
    tags.sysconfig.get_platform = lambda: f"linux-{arch}"
    found = list(tags._linux_platforms(is_32bit=False))
    return sorted(found, key=lambda tag: tag.startswith("linux_"))  # packaging 26 has it first, as nobody else


def cpython(python, on):
    version = tuple(map(int, python.rstrip("t").split(".")))
    nodot = "".join(map(str, version))
    flags = "mu" if version < (3,) else "t" if python.endswith("t") else "m" if version < (3, 8) else ""
    if flags == "t" and not hasattr(tags, "_abi3t_applies"):  # packaging before PEP 803: as the other builds' tags
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


def ask(environments):
    lines = "".join("environment\t" + "\n".join(env).encode().hex() + "\n" for env in environments)
    done = subprocess.run([TOOL], input=lines, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{TOOL}: {done.returncode} {done.stderr}")
    answers = done.stdout.split("\n")[:-1]
    assert len(answers) == len(environments), (len(answers), len(environments))
    return [answer.split("\t") for answer in answers]


matrix = list(itertools.product(PYTHONS, ARCHES, LIBCS))
wrong = total = 0
for env, answer in zip(matrix, ask(matrix)):
    should = ["1", *expect(*env)]
    total += len(should) - 1
    if answer != should:
        wrong += 1
        at = next((i for i, (a, b) in enumerate(zip(answer, should)) if a != b), min(len(answer), len(should)))
        print(f"{env}: {len(answer)} tags instead of {len(should)}; {answer[at:at + 3]} instead of {should[at:at + 3]}")
print(f"{len(matrix)} environments, {total} tags, {wrong} environments wrong")
assert total > 100 * len(matrix), "packaging says too little"
sys.exit(wrong > 0)
