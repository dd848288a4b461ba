# SPDX-License-Identifier: Apache-2.0
"""Changes the names that a shared library imports."""
import struct

SECTIONS, ENTRY = 0x28, "<IIQQQQIIQQ"
DYNSYM, SYMBOL = 11, "<IBBHQQ"


def sections(data):
    """type, offset, size and link of each section of a 64-bit ELF file."""
    begin, = struct.unpack_from("<Q", data, SECTIONS)
    size, count = struct.unpack_from("<HH", data, 0x3A)
    for i in range(count):
        _, kind, _, _, offset, length, link, *_ = struct.unpack_from(ENTRY, data, begin + i * size)
        yield kind, offset, length, link


def shorten_import(data, name, letters):
    """The library, where the import of this name lacks its first letters: the names stay as they are, as they share bytes."""
    data, changed = bytearray(data), 0
    parts = list(sections(data))
    kind, begin, length, link = next(part for part in parts if part[0] == DYNSYM)
    names = parts[link][1]
    for at in range(begin, begin + length, struct.calcsize(SYMBOL)):
        place, _, _, section, _, _ = struct.unpack_from(SYMBOL, data, at)
        found = bytes(data[names + place:data.index(0, names + place)]).decode()
        if found == name and section == 0:
            struct.pack_into("<I", data, at, place + letters)
            changed += 1
    assert kind == DYNSYM and changed == 1
    return bytes(data)
