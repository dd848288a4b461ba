# SPDX-License-Identifier: Apache-2.0
"""Compares stable-abi.txt with the list in the test suite of each CPython that is here: test_stable_abi_ctypes.py, which
CPython generates from the same Misc/stable_abi.toml. Each has all symbols up to its own version."""

import pathlib
import re
import shutil
import sys

TABLE = pathlib.Path(__file__).resolve().parents[3] / "lib/domain/elf/stable-abi.txt"
ON_LINUX = {"HAVE_FORK", "PY_HAVE_THREAD_NATIVE_ID"}
LISTED_LATE = {"PyModule_Create2": 13, "PyModule_FromDefAndSpec2": 13}  # older lists lack them, by an oversight


def library_folders():
    names = [f"python3.{minor}" for minor in range(2, 40)]
    programs = [shutil.which(name) for name in names] + [sys.executable]
    prefixes = {pathlib.Path(program).resolve().parents[1] for program in programs if program}
    prefixes |= {path for one in prefixes for path in one.glob("versions/*")}  # pyenv's programs are scripts
    for prefix in prefixes | {pathlib.Path(sys.base_prefix), pathlib.Path("/usr")}:
        yield from prefix.glob("lib/python3.*")


def own_list(text):
    """The symbols that a release build on Linux has."""
    found, wanted = set(), True
    for line in text.partition("SYMBOL_NAMES = (")[2].splitlines():
        feature = re.match(r"if feature_macros\['(\w+)'\]", line)
        wanted = feature[1] in ON_LINUX if feature else wanted
        name = re.match(r"""\s+["'](\w+)["'],$""", line)
        if wanted and name:
            found.add(name[1])
        if line.startswith("EXPECTED"):
            break
    return found


def main():
    rows = [line.split(" | ") for line in TABLE.read_text().splitlines() if not line.startswith("#")]
    ours = {name: int(minor) for name, minor in rows}
    wrong, seen = [], 0
    for folder in sorted(set(library_folders())):
        path = folder / "test/test_stable_abi_ctypes.py"
        if not path.exists():
            continue
        seen += 1
        minor, theirs = int(folder.name.partition(".")[2].rstrip("t")), own_list(path.read_text())
        expected = {name for name, since in ours.items() if since <= minor >= LISTED_LATE.get(name, 0)}
        wrong += [f"{folder}: only CPython has {name}" for name in theirs - expected]
        wrong += [f"{folder}: only the table has {name}" for name in expected - theirs]
        print(f"{folder}: {len(theirs)} symbols")
    print("\n".join(sorted(wrong)) if wrong else "equal")
    return 1 if wrong else 0 if seen else 77


sys.exit(main())
