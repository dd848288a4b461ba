# SPDX-License-Identifier: Apache-2.0
"""Makes ELF files byte by byte, and wheels with them, for tests without a compiler. They can be read, not run: all is one
segment at address 0. The same arguments give the same bytes."""
import dataclasses
import struct

import storelib

MACHINES = {  # e_machine, 64 bit, big endian
    "x86_64": (62, True, False), "i686": (3, False, False), "aarch64": (183, True, False), "armv7l": (40, False, False),
    "ppc64le": (21, True, False), "ppc64": (21, True, True), "s390x": (22, True, True), "riscv64": (243, True, False),
    "loongarch64": (258, True, False), "bpf": (247, True, False), "cuda": (190, True, False)}
KINDS = {"object": 1, "executable": 2, "shared": 3}
TAGS = {"needed": 1, "hash": 4, "strtab": 5, "symtab": 6, "strsz": 10, "syment": 11, "soname": 14, "rpath": 15,
        "textrel": 22, "runpath": 29, "versym": 0x6ffffff0, "verdef": 0x6ffffffc, "verdefnum": 0x6ffffffd,
        "verneed": 0x6ffffffe, "verneednum": 0x6fffffff}


def elf_hash(name):
    """The hash of version names (System V gABI)."""
    value = 0
    for byte in name.encode():
        value = (value << 4) + byte
        high = value & 0xf0000000
        value = (value ^ high >> 24) & ~high & 0xffffffff
    return value


@dataclasses.dataclass
class Elf:
    """What stands in the file. Symbols: "name", or "name@VERSION" of a library in `versions` (imported) or of `defines`
    (exported)."""
    machine: str = "x86_64"
    kind: str = "shared"
    soname: str = None
    needed: tuple = ()
    rpath: str = None
    runpath: str = None
    versions: dict = dataclasses.field(default_factory=dict)  # library: names of needed versions
    defines: tuple = ()  # names of versions
    imports: tuple = ()
    weak: tuple = ()  # imported, too
    exports: tuple = ()
    stack: str = "rw"  # "rwx"; None: no PT_GNU_STACK
    textrel: bool = False
    build_id: str = None  # hexadecimal
    isa_needed: int = 0  # bits of .note.gnu.property
    isa_used: int = 0
    toolchain: tuple = ()  # strings of .comment
    interpreter: str = None
    is_dynamic: bool = True
    extra: bytes = b""  # at the end, so that files with the same facts differ


class Maker:
    """Lays one file out."""

    def __init__(self, elf):
        self.elf = elf
        self.number, self.is_64, self.is_big = MACHINES[elf.machine]
        self.strings, self.offsets = bytearray(b"\0"), {}
        self.out = bytearray()
        self.dynamic = []

    def pack(self, form, *values):
        """P is a word of the machine."""
        return struct.pack((">" if self.is_big else "<") + form.replace("P", "Q" if self.is_64 else "I"), *values)

    def string(self, text):
        if text not in self.offsets:
            self.offsets[text] = len(self.strings)
            self.strings += text.encode(errors="surrogateescape") + b"\0"
        return self.offsets[text]

    def add(self, data, align=8):
        """Puts bytes into the file, and returns their address."""
        self.out += b"\0" * (-len(self.out) % align)
        self.out += data
        return len(self.out) - len(data)

    def symbol(self, name, is_imported, is_weak):
        info, section = (2 if is_weak else 1) << 4 | 2, 0 if is_imported else 1
        if self.is_64:
            return self.pack("IBBHQQ", self.string(name), info, 0, section, 0, 0)
        return self.pack("IIIBBH", self.string(name), 0, 0, info, 0, section)

    def add_symbols(self, numbers):
        table, versions = [self.pack("IBBHQQ" if self.is_64 else "IIIBBH", *[0] * 6)], [0]
        for names, is_imported, is_weak in ((self.elf.imports, True, False), (self.elf.weak, True, True),
                                            (self.elf.exports, False, False)):
            for name in names:
                name, _, version = name.partition("@")
                table.append(self.symbol(name, is_imported, is_weak))
                versions.append(numbers.get(version, 1))
        self.dynamic.append(("symtab", self.add(b"".join(table))))
        self.dynamic.append(("syment", 24 if self.is_64 else 16))
        self.dynamic.append(("versym", self.add(self.pack(f"{len(versions)}H", *versions))))
        # One bucket, whose chain has all symbols: each is followed by the next one.
        count = len(table)
        words = [1, count, 1 if count > 1 else 0, 0] + [(one + 1) % count for one in range(1, count)]
        self.dynamic.append(("hash", self.add(self.pack(f"{len(words)}I", *words))))

    def add_needed_versions(self, numbers):
        data, libraries = b"", list(self.elf.versions.items())
        for at, (library, names) in enumerate(libraries):
            size = 16 + 16 * len(names)
            data += self.pack("HHIII", 1, len(names), self.string(library), 16, size if at + 1 < len(libraries) else 0)
            for k, name in enumerate(names):
                numbers.setdefault(name, len(numbers) + 2)
                data += self.pack("IHHII", elf_hash(name), 0, numbers[name], self.string(name),
                                  16 if k + 1 < len(names) else 0)
        if data:
            self.dynamic += [("verneed", self.add(data)), ("verneednum", len(libraries))]

    def add_defined_versions(self, numbers):
        names = [self.elf.soname or "base", *self.elf.defines] if self.elf.defines else []
        data = b""
        for at, name in enumerate(names):
            index = 1 if at == 0 else numbers.setdefault(name, len(numbers) + 2)
            data += self.pack("HHHHIII", 1, 1 if at == 0 else 0, index, 1, elf_hash(name), 20,
                              28 if at + 1 < len(names) else 0)
            data += self.pack("II", self.string(name), 0)
        if data:
            self.dynamic += [("verdef", self.add(data)), ("verdefnum", len(names))]

    def add_dynamic(self):
        """Returns its address and size. Strings come last, because all others name them."""
        numbers, elf = {}, self.elf
        self.dynamic += [("needed", self.string(name)) for name in elf.needed]
        for tag in ("soname", "rpath", "runpath"):
            if getattr(elf, tag) is not None:
                self.dynamic.append((tag, self.string(getattr(elf, tag))))
        self.add_needed_versions(numbers)
        self.add_defined_versions(numbers)
        self.add_symbols(numbers)
        if elf.textrel:
            self.dynamic.append(("textrel", 0))
        self.dynamic += [("strsz", len(self.strings)), ("strtab", self.add(bytes(self.strings)))]
        data = b"".join(self.pack("PP", TAGS[tag], value) for tag, value in self.dynamic) + self.pack("PP", 0, 0)
        return self.add(data), len(data)

    def note(self, kind, content):
        return self.pack("III", 4, len(content), kind) + b"GNU\0" + content

    def notes(self):
        """(bytes, alignment) of each note."""
        if self.elf.build_id:
            yield self.note(3, bytes.fromhex(self.elf.build_id)), 4
        pad = b"\0" * (4 if self.is_64 else 0)
        for kind, bits in ((0xc0008002, self.elf.isa_needed), (0xc0010002, self.elf.isa_used)):
            if bits:
                yield self.note(5, self.pack("III", kind, 4, bits) + pad), 8 if self.is_64 else 4

    def segment(self, kind, flags, offset, size, align):
        if self.is_64:
            return self.pack("IIQQQQQQ", kind, flags, offset, offset, offset, size, size, align)
        return self.pack("IIIIIIII", kind, offset, offset, offset, size, size, flags, align)

    def section(self, name, kind, offset, size):
        return self.pack("IIPPPPIIPP", name, kind, 0, 0, offset, size, 0, 0, 1, 0)

    def add_sections(self):
        """.comment and the names of sections; returns where the headers are."""
        names = b"\0.comment\0.shstrtab\0"
        comment = b"".join(text.encode() + b"\0" for text in self.elf.toolchain)
        at, names_at = self.add(comment, 1), self.add(names, 1)
        return self.add(self.section(0, 0, 0, 0) + self.section(1, 1, at, len(comment)) +
                        self.section(10, 3, names_at, len(names)))

    def make(self):
        elf, header, entry = self.elf, 64 if self.is_64 else 52, 56 if self.is_64 else 32
        notes = list(self.notes())
        count = 1 + elf.is_dynamic + (elf.stack is not None) + len(notes) + (elf.interpreter is not None)
        self.out = bytearray(header + entry * count)
        segments = []
        for data, align in notes:
            segments.append(self.segment(4, 4, self.add(data, align), len(data), align))
        if elf.interpreter is not None:
            name = elf.interpreter.encode() + b"\0"
            segments.append(self.segment(3, 4, self.add(name, 1), len(name), 1))
        if elf.is_dynamic:
            segments.append(self.segment(2, 6, *self.add_dynamic(), 8))
        if elf.stack is not None:
            segments.append(self.segment(0x6474e551, 7 if elf.stack == "rwx" else 6, 0, 0, 16))
        sections = self.add_sections()
        self.add(elf.extra, 1)
        segments.insert(0, self.segment(1, 5, 0, len(self.out), 0x1000))
        ident = b"\x7fELF" + bytes([2 if self.is_64 else 1, 2 if self.is_big else 1, 1]) + b"\0" * 9
        self.out[:header] = ident + self.pack("HHIPPPIHHHHHH", KINDS[elf.kind], self.number, 1, 0, header, sections, 0,
                                              header, entry, count, 64 if self.is_64 else 40, 3, 2)
        self.out[header:header + entry * count] = b"".join(segments)
        return bytes(self.out)


def elf(**facts):
    """The bytes of an ELF file with these facts (see Elf)."""
    return Maker(Elf(**facts)).make()


def module(name="m", **facts):
    """An extension module of Python."""
    return elf(exports=(f"PyInit_{name}", *facts.pop("exports", ())), **facts)


def native_wheel(folder, name, version, tag, files, **parts):
    """A wheel with these members ({name: bytes}), which belongs into platlib; parts as for storelib.make_wheel."""
    return storelib.make_wheel(folder, name, version, tag, files=files, is_purelib=False, **parts)
