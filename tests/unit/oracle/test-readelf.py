# SPDX-License-Identifier: Apache-2.0
"""Compares the facts of real ELF files with what readelf (binutils) prints about them: files in the wheels that were
recorded, and libraries of this machine. With an argument: all of them, otherwise the small ones."""

import collections
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
SHARED = pathlib.Path(os.environ.get("WHEELCACHE_SHARED") or ROOT.parent / "shared")
TOOL = "tests/unit/oracle/elf-tool"
MOST = 1 << 40 if sys.argv[1:] else 150_000  # bytes of a file
FROM_SYSTEM = 10_000 if sys.argv[1:] else 25
MACHINES = {"Advanced Micro Devices X86-64": 62, "AArch64": 183, "Intel 80386": 3, "ARM": 40, "PowerPC64": 21, "RISC-V": 243,
            "IBM S/390": 22, "LoongArch": 258}
LEVELS = {"x86-64-baseline": 1, "x86-64-v2": 2, "x86-64-v3": 4, "x86-64-v4": 8}


def from_wheels(folder):
    """Unpacks the ELF files of the recorded wheels into the folder."""
    for wheel in sorted(SHARED.glob("corpus/*/*.whl")) + sorted(SHARED.glob("clients/wheels/*.whl")):
        with zipfile.ZipFile(wheel) as archive:
            for member in archive.infolist():
                if member.file_size > MOST or member.filename.endswith((".py", ".txt", ".pyi", "/")):
                    continue
                data = archive.read(member)
                if data.startswith(b"\x7fELF"):
                    path = folder / f"{len(os.listdir(folder))}-{pathlib.Path(member.filename).name}"
                    path.write_bytes(data)
                    yield path


def from_system():
    paths = sorted(path for top in ("/usr/lib", "/usr/libexec") for path in pathlib.Path(top).rglob("*")
                   if path.is_file() and not path.is_symlink() and path.suffix != ".py" and 0 < path.stat().st_size <= MOST)
    elves = [path for path in paths if os.access(path, os.R_OK) and path.open("rb").read(4) == b"\x7fELF"]
    return elves[::max(1, len(elves) // FROM_SYSTEM)]


def ours(paths):
    done = subprocess.run([TOOL], input="".join(f"{path}\n" for path in paths), capture_output=True, text=True,
                          errors="surrogateescape", check=True)
    for path, text in zip(paths, done.stdout.split("\n\n")):
        facts = collections.defaultdict(list)
        for line in text.split("\n"):
            kind, *columns = line.split("\t")
            facts[kind].append(tuple(columns))
        yield path, facts


def field(text, pattern):
    found = re.search(pattern, text, re.M)
    return found and found[1]


def isa_bits(text, which):
    found = field(text, rf"x86 ISA {which}: (.*?)(?:$|\t)")
    return sum(LEVELS.get(name, 0) for name in found.split(", ")) if found else 0


def their_symbols(text, defined):
    """Name, version, imported or exported, weak, function; of each global symbol with a name."""
    for line in text.splitlines():
        row = re.match(r"\s+\d+: [0-9a-f]+ +\S+ +(\S+) +(<OS specific>: \d+|\S+) +\S+ +(?:\[.*\] +)?(\S+)"
                       r"(?: (\S+)(?: \(\d+\))?)?$", line)
        if not row or row[2] == "LOCAL" or not row[4]:
            continue
        name, _, version = row[4].partition("@")
        version = version or defined.get(name, "")  # readelf leaves out that of a symbol with the name of its version
        yield (name, version.lstrip("@"), "imported" if row[3] == "UND" else "exported", row[2] == "WEAK",
               row[1] in ("FUNC", "IFUNC"))


def their_versions(text):
    """What it needs, (library, version, weak), and what it defines."""
    needs, defines = [], []
    library = None
    for line in text.splitlines():
        library = (re.search(r"Version: \d+  File: (\S+)  Cnt", line) or [None, library])[1]
        if row := re.search(r"Name: (\S+)  Flags: (.*?)  Version: \d+$", line):
            needs.append((library, row[1], str(int("WEAK" in row[2]))))
        if (row := re.search(r"Rev: \d+  Flags: (.*?)  Index: .*Name: (\S+)$", line)) and "BASE" not in row[1]:
            defines.append((row[2], str(int("WEAK" in row[1]))))
    return needs, defines


def theirs(path):
    """The facts by readelf, in the form of ours."""
    text = subprocess.run(["readelf", "-W", "-h", "-l", "-d", "-V", "-n", "--dyn-syms", path], capture_output=True, text=True,
                          errors="surrogateescape", env=os.environ | {"LC_ALL": "C.UTF-8"}, check=False).stdout
    comment = subprocess.run(["readelf", "-W", "-p", ".comment", path], capture_output=True, text=True, check=False,
                             errors="surrogateescape", env=os.environ | {"LC_ALL": "C.UTF-8"}).stdout
    kind, stack = field(text, r"^  Type: +(\S+)"), field(text, r"^  GNU_STACK .* ([RWE ]{3}) 0x")
    needs, defines = their_versions(text)
    facts = {
        "kind": kind or "",
        "header": [(str(MACHINES.get(field(text, r"^  Machine: +(.*)$"))), str(int("ELF64" in text)),
                    str(int("big endian" in text)), str(int(kind == "DYN")), str(int(kind == "REL")),
                    str(int(bool(re.search(r"^Dynamic section at .* contains \d+", text, re.M)))))],
        "marks": [(str(int(stack is not None)), str(int("E" in (stack or ""))),
                   str(int("(TEXTREL)" in text or bool(re.search(r"\(FLAGS\).*TEXTREL", text)))),
                   str(isa_bits(text, "needed")), str(isa_bits(text, "used")))],
        "build-id": [(field(text, r"Build ID: ([0-9a-f]+)") or "",)],
        "needs": needs, "defines": defines,
        "needed": re.findall(r"\(NEEDED\) +Shared library: \[(.*)\]", text),
        "toolchain": list(dict.fromkeys(re.findall(r"^  \[ *[0-9a-f]+\]  (.*)$", comment, re.M))),
        "symbols": sorted(their_symbols(text, {name: name for name, _ in defines})),
    }
    for tag in ("soname", "rpath", "runpath"):
        facts[tag] = re.findall(rf"\({tag.upper()}\) +Library \w+: \[(.*)\]", text)
    return facts


def differences(path, mine):
    other = theirs(path)
    mine["symbols"] = sorted((name, version, what.split()[0], "weak" in what, "function" in what)
                             for name, version, _, what in mine.pop("symbol", []))
    if other.pop("kind") != "DYN":  # readelf finds notes by sections too, which programs and objects have
        for facts in (mine, other):
            facts["build-id"], facts["marks"] = [], [one[:3] for one in facts["marks"]]
    if other["header"][0][0] == "None":  # a machine that no wheel is for
        for facts in (mine, other):
            facts["header"] = [one[1:] for one in facts["header"]]
    for kind, expected in other.items():
        found = mine.get(kind, [])
        if kind in ("needed", "toolchain", "soname", "rpath", "runpath"):
            found = [one[0] for one in found]
        if found != expected:
            unlike = [one for one in found if one not in expected][:3], [one for one in expected if one not in found][:3]
            yield f"{path.name}: {kind}: ours {unlike[0]}, readelf {unlike[1]}"
    if "damaged" in mine or "parts" in mine:
        yield f"{path.name}: {dict(mine).get('damaged')} {mine.get('parts')}"


def main():
    if not shutil.which("readelf"):
        print("no readelf here")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        paths = [*from_wheels(pathlib.Path(folder)), *from_system()]
        if not paths:
            print("neither recorded wheels nor libraries here")
            return 77
        wrong = [line for path, mine in ours(paths) for line in differences(path, mine)]
    print("\n".join(wrong[:60]) or "equal", f"{len(paths)} files, {len(wrong)} differences", sep="\n")
    return 1 if wrong else 0


sys.exit(main())
