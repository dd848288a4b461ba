# SPDX-License-Identifier: Apache-2.0
"""Makes ELF files with a compiler, and wheels of them: each breaks one rule of the audit, or keeps it."""
import os
import pathlib
import platform
import shlex
import subprocess
import zipfile

import storelib

ARCH = platform.machine()
MACHINES = {"x86_64": 62, "aarch64": 183}  # e_machine, at byte 18
OTHER = "aarch64" if ARCH == "x86_64" else "x86_64"
# Extension modules that no Python could import: only their names and links count.
MODULE = f"pkg/_x.cpython-311-{ARCH}-linux-gnu.so"
HASH = "1a2b3c4d"
PIC = ("-shared", "-fPIC", "-nostdlib")


class Maker:
    """Links shared libraries in a folder. Each is made once."""

    def __init__(self, folder, compiler=None):
        self.folder = pathlib.Path(folder)
        self.compiler = shlex.split(compiler or os.environ.get("CC") or "cc")

    def link(self, name, source, *options, libraries=()):
        """Makes the library `name` of a C source. libraries: names of others that it needs. Returns its path."""
        path = self.folder / name
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            needed = [str(self.folder / library) for library in libraries]
            command = [*self.compiler, *PIC, "-o", str(path), "-x", "c", "-", "-x", "none", "-Wl,--no-as-needed", *needed,
                       *options]
            subprocess.run(command, input=source, text=True, check=True, capture_output=True)
        return path

    def library(self, name, soname=None, source="int useful(void) { return 1; }\n", *options):
        return self.link(name, source, f"-Wl,-soname,{soname or name}", *options)

    def versioned(self, name, soname, version):
        """A library whose function `useful` has that symbol version."""
        script = self.folder / f"{name}.map"
        script.parent.mkdir(parents=True, exist_ok=True)
        script.write_text(f"{version} {{ global: useful; local: *; }};\n")
        return self.link(name, "int useful(void) { return 1; }\n", f"-Wl,-soname,{soname}", f"-Wl,--version-script={script}")

    def module(self, name, *options, libraries=(), calls="useful"):
        """An extension module that calls a function."""
        source = f"int {calls}(void);\nint PyInit__x(void) {{ return {calls}(); }}\n"
        return self.link(name, source, *options, libraries=libraries)


def other_machine(data):
    """The same ELF file, for another machine by its header."""
    return data[:18] + MACHINES[OTHER].to_bytes(2, "little") + data[20:]


def wheel_members(tag, files, name="pkg", version="1.0"):
    """The (name, bytes) pairs of a wheel; a path among the values is read."""
    members = [(path, data if isinstance(data, bytes) else pathlib.Path(data).read_bytes()) for path, data in files.items()]
    info = f"{name}-{version}.dist-info"
    members.append((f"{info}/METADATA", storelib.metadata_bytes(name, version)))
    wheel = storelib.wheel_file_bytes(tag)
    members.append((f"{info}/WHEEL", wheel if tag.endswith("-any") else wheel.replace(b"Purelib: true", b"Purelib: false")))
    return [*members, (f"{info}/RECORD", storelib.record_bytes(members, f"{info}/RECORD"))]


def make_wheel(folder, tag, files, name="pkg", version="1.0"):
    """Writes the wheel; the folder may have another wheel of that name, which goes. Returns its path."""
    path = pathlib.Path(folder) / f"{name}-{version}-{tag}.whl"
    path.parent.mkdir(parents=True, exist_ok=True)
    storelib.zip_write(path, wheel_members(tag, files, name, version), method=zipfile.ZIP_STORED)
    return path


def manylinux(minor, python="cp311-cp311"):
    return f"{python}-manylinux_2_{minor}_{ARCH}"


LINUX = f"cp311-cp311-linux_{ARCH}"
RPATH = "-Wl,-rpath,$ORIGIN/../pkg.libs"


def links(maker):
    """The libraries of several cases: (a module that needs libuse.so.1, the library, its copy with a hash in its name, a
    module that needs that copy and finds it)."""
    plain = maker.library("libuse.so.1")
    hashed = maker.library(f"libuse-{HASH}.so.1")
    return (maker.module("plain.so", libraries=["libuse.so.1"]), plain, hashed,
            maker.module("hashed.so", RPATH, libraries=[hashed.name]))


def tag_cases(maker):
    """Yields name, tag, files, and the codes of the findings."""
    maker.versioned("stubs/libc.so.6", "libc.so.6", "GLIBC_2.38")
    new = {MODULE: maker.module("new.so", libraries=["stubs/libc.so.6"])}
    yield "version that the tag promises", manylinux(39), new, set()
    yield "version above the tag", manylinux(17), new, {"tag-too-low"}
    yield "version above one of two tags", f"{manylinux(17)}.manylinux_2_39_{ARCH}", new, {"tag-too-low"}
    yield "version of a wheel for this machine only", LINUX, new, set()


def library_cases(maker):
    plain, library, hashed, found = links(maker)
    bundled = f"pkg.libs/{hashed.name}"
    yield "bundled", manylinux(17), {MODULE: found, bundled: hashed}, set()
    yield "missing", manylinux(17), {MODULE: plain}, {"missing-library"}
    yield "unknown", LINUX, {MODULE: plain}, set()
    yield "hashed copy, but the plain name", manylinux(17), {MODULE: plain, bundled: hashed}, {"unhashed-name"}
    yield "no path leads there", manylinux(17), {MODULE: plain, "pkg.libs/libuse.so.1": library}, {"loose-library"}
    python = maker.library("libpython3.11.so.1.0")
    linked = {MODULE: maker.module("python.so", libraries=[python.name])}
    yield "libpython of a wheel for this machine", LINUX, linked, {"libpython"}
    yield "libpython", manylinux(17), linked, {"missing-library"}


def path_cases(maker):
    maker.library("libuse.so.1")
    for name, path, codes in [("absolute", "/opt/ours/lib", {"absolute-rpath"}), ("relative", "lib", {"rpath"}),
                              ("outside", "$ORIGIN/../../..", {"rpath"}),
                              ("another package", "$ORIGIN/../other", {"rpath"}), ("its own", "$ORIGIN", set())]:
        module = maker.link(f"path-{name}.so", "int a;\n", f"-Wl,-rpath,{path}")
        yield f"{name} search path", manylinux(17), {MODULE: module}, codes


def machine_cases(maker):
    sound = maker.link("sound.so", "int a;\n")
    other = other_machine(sound.read_bytes())
    yield "pure", "py3-none-any", {"pkg.py": b""}, set()
    yield "native in pure", "py3-none-any", {"pkg/_x.so": sound}, {"native-in-pure"}
    another = maker.link("another.so", "int b;\n")
    yield "native in pure, of any name", "py3-none-any", {"pkg/data.json": sound, "pkg/x.py": another}, {"native-in-pure"}
    many = bytearray(sound.read_bytes())
    many[56:58] = b"\xff\xff"  # e_phnum: "see section 0", which no loader does
    yield "program headers that no loader sees", manylinux(17), {MODULE: bytes(many)}, {"damaged"}
    yield "native where pure belongs", manylinux(17), {f"pkg-1.0.data/purelib/{MODULE}": sound}, {"purelib"}
    yield "another machine", manylinux(17), {MODULE: other}, {"wrong-machine"}
    yield "another machine's data", manylinux(17), {MODULE: sound, "pkg/firmware.bin": other}, {"foreign-file"}
    yield "damaged", manylinux(17), {MODULE: sound.read_bytes()[:100]}, {"damaged"}


def mark_cases(maker):
    yield "executable stack", manylinux(17), {MODULE: maker.link("stack.so", "int a;\n", "-Wl,-z,execstack")}, {
        "executable-stack"}
    text = '__asm__(".text\\n.quad other\\n.data\\nother: .quad 0\\n");\n'
    yield "relocations in code", manylinux(17), {MODULE: maker.link("text.so", text, "-Wl,-z,notext")}, {"textrel"}


def twin_cases(maker):
    one = maker.library("libtwin.so.1")
    other = maker.library("libtwin-other.so.1", "libtwin.so.1", "int more(void) { return 2; }\n")
    uses = {MODULE: maker.module("twin.so", RPATH, libraries=["libtwin.so.1"]), "pkg.libs/libtwin.so.1": one}
    yield "one library", manylinux(17), uses, set()
    yield "two of one SONAME", manylinux(17), {**uses, "pkg.libs/libtwin-other.so.1": other}, {"twin-soname"}
    yield "two of the same bytes", manylinux(17), {**uses, "pkg.libs/libtwin.so": one}, {"twin-bytes"}


def abi_cases(maker):
    """PyUnicode_AsUTF8AndSize is in the stable ABI since 3.10, PyUnicode_New never was."""
    file = "pkg/_x.abi3.so"
    newer = {file: maker.module("abi.so", calls="PyUnicode_AsUTF8AndSize")}
    yield "stable ABI of its Python", manylinux(17, "cp310-abi3"), newer, set()
    yield "stable ABI of a newer Python", manylinux(17, "cp38-abi3"), newer, {"abi3"}
    yield "no stable ABI", manylinux(17, "cp310-abi3"), {file: maker.module("noabi.so", calls="PyUnicode_New")}, {"abi3"}
    yield "no stable ABI is wanted", manylinux(17), {MODULE: maker.module("noabi.so", calls="PyUnicode_New")}, set()


def cases(maker):
    for some in tag_cases, library_cases, path_cases, machine_cases, mark_cases, twin_cases, abi_cases:
        yield from some(maker)


def link_plain(path, source, compiler):
    """A shared library with the compiler's own C library."""
    path.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run([*shlex.split(compiler), "-shared", "-fPIC", "-o", str(path), "-x", "c", "-"], input=source, text=True, check=True)
    return path
