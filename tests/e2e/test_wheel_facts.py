# SPDX-License-Identifier: Apache-2.0
"""What is read out of hostile and of very large wheels: time and memory are bounded, and what is missing is said."""
import json
import os
import pathlib
import struct
import zipfile

import pytest

import clients
import elfmaker
import serving
import storelib

TAG = "cp312-cp312-manylinux_2_28_x86_64"
MEGABYTES = 400  # libraries of the program included
SECONDS = 8  # of CPU, without optimisation and with sanitizers; optimised, each takes less than half a second


def many_sections(count):
    """An ELF file whose first section says how many there are."""
    data = bytearray(elfmaker.elf())
    sections, = struct.unpack_from("<Q", data, 40)
    struct.pack_into("<H", data, 60, 0)
    struct.pack_into("<Q", data, sections + 32, count)
    return bytes(data) + b"\0" * (64 * count)


def many_notes():
    """The notes of each segment are the same megabyte."""
    header = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", 3, 62, 1, 0, 64, 0, 0, 64, 56, 16000, 64, 0, 0)
    segment = struct.pack("<IIQQQQQQ", 4, 4, 64 + 56 * 16000, 0, 0, 1 << 20, 1 << 20, 4)
    return header + segment * 16000 + struct.pack("<III4s", 4, 0, 1, b"GNU\0") * (1 << 16)


def facts(path):
    """The facts of a wheel, as the program reads them, which has to be quick and small."""
    done, used = serving.measure("audit", "--json", "--facts", path)
    assert done.returncode in (0, 1), done.stderr
    assert used.user + used.system < SECONDS
    is_sanitized = b"__asan_init" in pathlib.Path(serving.binary()).read_bytes()
    assert is_sanitized or used.megabytes < MEGABYTES
    return json.loads(done.stdout)["wheels"][0]["facts"]


def native(folder, data, **files):
    """A wheel with this ELF file, and a megabyte that does not compress."""
    return elfmaker.native_wheel(folder, "demo", "1.0", TAG, {"demo/a.so": data, "demo/b.bin": os.urandom(1 << 20), **files}).path


def many_symbols(count):
    """Its hash table says that there are so many; there is one."""
    hash_table = struct.pack("<III", 1, 2, 1)  # one bucket, two symbols with the null one
    data = elfmaker.elf(exports=["x"])
    assert data.count(hash_table) == 1
    return data.replace(hash_table, struct.pack("<III", 1, count, 1))


HOSTILE = {
    "names of 200 MB that overlap": (elfmaker.elf(imports=["x" * 50_000] * 4000), "the names in the ELF file have more than"),
    "a name of 70 KB": (elfmaker.elf(imports=["x" * 70_000]), "a name in the ELF file is longer than 65536 bytes"),
    "a library of 2 KB": (elfmaker.elf(soname="x" * 2000), "a name in the ELF file is longer than 1024 bytes"),
    "a needed library of 2 KB": (elfmaker.elf(needed=["x" * 2000]), "a name in the ELF file is longer than 1024 bytes"),
    "a version of 2 KB": (elfmaker.elf(versions={"l": ["x" * 2000]}), "a name in the ELF file is longer than 1024 bytes"),
    "20,000 libraries": (elfmaker.elf(needed=["a"] * 20_000), "more than 16384 names of a kind"),
    "20,000 versions": (elfmaker.elf(versions={"libc.so.6": [f"V{n}" for n in range(20_000)]}), "more than 16384 versions"),
    "5,000,000 symbols": (many_symbols(5_000_000), "more than 4194304 symbols"),
    "300,000 sections": (many_sections(300_000), "more than 262144 sections"),
    "17,000 segments": (elfmaker.elf()[:56] + struct.pack("<H", 17_000) + elfmaker.elf()[58:] + b"\0" * 17_000 * 56,
                        "17000 segments"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_exceeds_a_limit_is_said(tmp_path, name):
    # Exceeds LIMIT_ELF_STRING, LIMIT_ELF_LIBRARY, LIMIT_ELF_TEXT, LIMIT_ELF_STRINGS, LIMIT_ELF_SECTIONS.
    # Exceeds LIMIT_ELF_SYMBOLS.
    data, why = HOSTILE[name]
    found = facts(native(tmp_path, data, **{"demo/c.so": elfmaker.module("c")}))
    assert [why in (one["damage"] or "") for one in found["elf"]] == [True, False]
    assert why in found["cut"]
    assert found["elf"][1]["exported"] == ["PyInit_c"]


def test_notes_that_many_segments_share_are_read_once(tmp_path):
    found = facts(native(tmp_path, many_notes()))
    assert found["elf"][0]["damage"] is None


def numbered_notes():
    """Each segment has a note of its own, which libelf keeps a record of."""
    count, size = 16000, 24
    header = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", 3, 62, 1, 0, 64, 0, 0, 64, 56, count, 64, 0, 0)
    first = 64 + 56 * count
    segments = b"".join(struct.pack("<IIQQQQQQ", 4, 4, first + size * i, 0, 0, size, size, 4) for i in range(count))
    return header + segments + b"".join(struct.pack("<III4sQ", 4, 8, 3, b"GNU\0", i) for i in range(count))


def many_comments():
    """One string of 20,000 follows 255 others, each of which it is compared with."""
    return elfmaker.elf(toolchain=[f"{i:x}" for i in range(255)] + ["fe"] * 20_000)


def scattered_sections():
    """A library of more than 128 MB whose sections are as many, and none beside the next one."""
    count, size = 1 << 18, 129 << 20
    first = 4096 + 64 * count
    rows = [struct.pack("<IIQQQQIIQQ", 0, 0, 0, 0, 0, count, count - 1, 0, 0, 0)]
    rows += [struct.pack("<IIQQQQIIQQ", 1, 1, 0, 0, first + 2 * i, 1, 0, 0, 1, 0) for i in range(count - 2)]
    rows.append(struct.pack("<IIQQQQIIQQ", 0, 3, 0, 0, size - 64, 32, 0, 0, 1, 0))
    header = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", 3, 62, 1, 0, 0, 4096, 0, 64, 56, 0, 64, 0, 0xffff)
    return (header.ljust(4096, b"\0") + b"".join(rows)).ljust(size, b"\0")


def test_files_of_a_wheel_share_the_limit_of_names(tmp_path):
    """Also those that fail take from it: each of these is small, and has 72 MB of names."""
    # Exceeds LIMIT_FACTS.
    data = elfmaker.elf(imports=["x" * 60_000] * 1200)
    found = facts(native(tmp_path, data, **{f"demo/m{i}.so": data + bytes([i]) for i in range(150)}))
    damage = [one["damage"] for one in found["elf"]]
    assert damage[0] == "the names in the ELF file have more than 67108864 bytes"
    assert set(damage[2:]) == {"the ELF files of the wheel have too many names"}


def test_comments_are_compared_within_a_limit(tmp_path):
    found = facts(native(tmp_path, many_comments(), **{f"demo/m{i}.so": many_comments() for i in range(400)}))
    assert len(found["elf"][0]["toolchain"]) == 255
    assert found["elf"][-1]["damage"] == "the ELF files of the wheel have too many names"


def test_few_toolchains_are_noted(tmp_path):
    """LIMIT_ELF_TOOLCHAINS comments, the first ones."""
    # Exceeds LIMIT_ELF_TOOLCHAINS.
    found = facts(native(tmp_path, elfmaker.elf(toolchain=[f"cc {i:03}" for i in range(300)])))
    assert found["elf"][0]["toolchain"] == [f"cc {i:03}" for i in range(256)] and found["elf"][0]["damage"] is None


def test_segments_of_notes_are_few(tmp_path):
    found = facts(native(tmp_path, numbered_notes(), **{f"demo/m{i}.so": numbered_notes() for i in range(50)}))
    assert {one["build_id"] for one in found["elf"]} == {"3f" + "00" * 7}


def test_scattered_sections_of_a_large_library(tmp_path):
    # Exceeds LIMIT_ELF_WHOLE.
    path = native(tmp_path, scattered_sections(), **{"demo/c.bin": os.urandom(2 << 20)})
    assert facts(path)["cut"] == "the tables of the ELF file have more than 134217728 bytes"


def test_a_small_wheel_is_not_unpacked_to_hundreds_of_megabytes(tmp_path):
    bomb = b"\x7fELF" + b"\0" * (70 << 20)
    wheel = elfmaker.native_wheel(tmp_path, "demo", "1.0", TAG, {"demo/a.so": bomb})
    assert wheel.size < 200_000
    found = facts(wheel.path)
    assert found["elf"][0]["damage"] == found["cut"] == "the members of the wheel unpack to too many bytes"


def test_only_so_many_elf_files_are_read(tmp_path):
    # Exceeds LIMIT_ELF_MEMBERS.
    tiny = elfmaker.elf(is_dynamic=False)[:64]
    found = facts(elfmaker.native_wheel(tmp_path, "demo", "1.0", TAG, {f"demo/{n}.so": tiny for n in range(17_000)}).path)
    assert (len(found["elf"]), found["cut"]) == (16384, "too many ELF files")


def test_sboms_have_limits(tmp_path):
    # Exceeds LIMIT_SBOM, LIMIT_SBOM_COMPONENTS, LIMIT_SBOM_STRING.
    def cyclonedx(*components):
        return json.dumps({"bomFormat": "CycloneDX", "components": components}).encode()
    info = "demo-1.0.dist-info/sboms/"
    found = facts(elfmaker.native_wheel(tmp_path, "demo", "1.0", TAG, {
        f"{info}a.json": cyclonedx({"name": "a", "version": "1" * 5000}, {"name": "b" * 5000}, {"name": "c", "version": "2"}),
        f"{info}b.json": b"{" + b" " * (17 << 20) + b"}",
        f"{info}c.json": cyclonedx(*[{"name": "x"}] * 70_000),
        f"{info}d.json": b'{"bomFormat": "CycloneDX", "components": [' + b'{"components": [' * 100_000,
        f"{info}e.json": cyclonedx({"name": "e\0f"}),
        "demo/b.bin": os.urandom(1 << 20)}).path)
    assert [(one["name"], one["version"]) for one in found["components"]] == [("a", None), ("c", "2")]
    odd = {one["path"]: one["detail"] for one in found["odd"]}
    assert odd.keys() == {f"{info}{name}.json" for name in "bcd"}
    assert "more than 65536 components" in odd[f"{info}c.json"]
    assert found["cut"] == odd[f"{info}b.json"]


def test_a_hundred_oddities_of_a_kind_are_noted(tmp_path):
    # Exceeds LIMIT_ODDITIES.
    files = {f"demo/{n}.pyc": b"x" for n in range(300)} | {f"demo/{case}{n}.bin": b"x" for n in range(300) for case in "aA"}
    found = facts(elfmaker.native_wheel(tmp_path, "demo", "1.0", TAG, files).path)
    kinds = [one["oddity"] for one in found["odd"]]
    assert (kinds.count("pyc"), kinds.count("case")) == (100, 100)


def test_damaged_members_harm_only_themselves(tmp_path):
    good = elfmaker.module("c")
    path = native(tmp_path, elfmaker.elf(soname="liba.so"), **{"demo/c.so": good, "demo/d.so": good[:100]})
    data = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        begin = archive.getinfo("demo/a.so").header_offset + 30 + len("demo/a.so")
        data[begin + 60] ^= 0xff
    path.write_bytes(data)
    a, c, d = facts(path)["elf"]
    assert a["damage"] and "damaged ELF" in d["damage"] and not c["damage"]


def test_a_very_large_library_is_read_by_its_tables(tmp_path, pytestconfig):
    """Of more than 128 MiB, only the tables are kept in memory."""
    if not pytestconfig.getoption("--nightly"):
        pytest.skip("packing 150 MB takes four seconds: ./test --nightly does it")
    whole = pathlib.Path(serving.binary()).read_bytes()
    large = whole + b"\0" * ((150 << 20) - len(whole))
    small, big = (facts(elfmaker.native_wheel(tmp_path / name, "demo", "1.0", TAG, {
        "demo/a.so": data, "demo/b.bin": os.urandom(3 << 20)}).path) for name, data in (("small", whole), ("large", large)))
    assert big["cut"] is None and big["elf"][0]["size"] == 150 << 20
    for one in (small, big):
        del one["elf"][0]["size"], one["elf"][0]["sha256"]
    assert small["elf"] == big["elf"] and len(big["elf"][0]["imported"]) > 100


def test_facts_of_real_wheels(tmp_path):
    """What real wheels are known to have, also from the SBOMs of three tools."""
    path = next(iter(sorted((clients.recorded("clients") / "wheels").glob("cryptography-*-cp311-abi3-manylinux*x86_64.whl"))), None)
    if path is None:
        pytest.skip(clients.NO_RECORDS)
    found = facts(path)
    names = {one["name"] for one in found["components"]}
    assert "openssl" in {name.lower() for name in names}
    assert [one["path"].rpartition("/")[2] for one in found["elf"]] == ["_rust.abi3.so"]
    assert "PyInit__rust" in found["elf"][0]["exported"] and found["cut"] is None and found["odd"] == []
