# SPDX-License-Identifier: Apache-2.0
"""A bad wheel harms only itself: it is reported with the reason, never listed, and its neighbours stay listed."""
import json
import os
import zipfile

import pytest

import indexing
import pages
import serving
import storelib

PROJECT = "spoilt"


def name_of(version="1.0"):
    return f"{PROJECT}-{version}-py3-none-any.whl"


def members(**parts):
    return storelib.wheel_members(PROJECT, "1.0", **parts)


def as_zip(path, entries):
    storelib.zip_write(path, entries)


def as_bytes(path, data):
    path.write_bytes(data)


def cut(path, keep):
    storelib.zip_write(path, members(files={"spoilt.py": bytes(range(256)) * 40}))
    data = path.read_bytes()
    path.write_bytes(data[:int(len(data) * keep)])


def flip(path):
    """The first byte of a local header's checksum of METADATA."""
    storelib.zip_write(path, members(), zipfile.ZIP_STORED)
    data = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        at = next(one.header_offset for one in archive.infolist() if one.filename.endswith("METADATA"))
    data[at + 14] ^= 0xFF
    path.write_bytes(data)


def without(ending):
    return [one for one in members() if not one[0].endswith(ending)]


def other_metadata(name, version):
    return members(metadata=storelib.metadata_bytes(name, version))


# The defect, how it is made, and a part of the expected reason.
SPOILT = {
    "junk": (lambda path: as_bytes(path, b"junk " * 1000), "Unknown record signature"),
    "a page of an error": (lambda path: as_bytes(path, b"<!DOCTYPE html><title>502</title>" * 99),
                           "Unknown record signature"),
    "nothing": (lambda path: as_bytes(path, b""), "not a zip file"),
    "half a wheel": (lambda path: cut(path, 0.5), "no end of central directory"),
    "all but its last byte": (lambda path: cut(path, 0.9999), "zip file"),
    "a wrong checksum": (flip, "checksum"),
    "the name of another project": (lambda path: as_zip(path, other_metadata("other", "1.0")),
                                    f"METADATA: its Name is not {PROJECT}"),
    "another version": (lambda path: as_zip(path, other_metadata(PROJECT, "1.1")),
                        "METADATA: its Version is not 1.0"),
    "a name that normalises to another": (lambda path: as_zip(path, other_metadata("spo-ilt", "1.0")),
                                          "METADATA: its Name"),
    "METADATA twice": (lambda path: as_zip(path, [members()[1], *members()]), "Duplicate filename"),
    "a module twice": (lambda path: as_zip(path, [members()[0], *members()]), "Duplicate filename"),
    "no METADATA": (lambda path: as_zip(path, without("METADATA")), "no METADATA"),
    "no .dist-info": (lambda path: as_zip(path, [("spoilt.py", b"")]), "no .dist-info folder"),
    "two .dist-info": (lambda path: as_zip(path, [*members(), ("b-1.dist-info/METADATA", b"x")]),
                       "two .dist-info folders"),
    "a member that leads out": (lambda path: as_zip(path, [("../evil.py", b""), *members()]), "leads out"),
    "a member from the root": (lambda path: as_zip(path, [("/etc/evil", b""), *members()]), "leads out"),
    "METADATA without a name": (lambda path: as_zip(path, members(metadata=b"Metadata-Version: 2.1\n")),
                                "core metadata: no Name"),
}


def quarantined(summary):
    """File name -> reason."""
    return {one["path"].rsplit("/", 1)[-1]: one["reason"] for one in summary["lists"]["quarantined"]}


def listed(server):
    """Project -> file names, of all that the server lists."""
    names = pages.json_projects(server.get("/simple/", {"Accept": pages.JSON}).body)
    found = {}
    for name in names:
        body = server.get(f"/simple/{name}/", {"Accept": pages.JSON}).body
        found[name] = [one["filename"] for one in json.loads(body)["files"]]
    return found


@pytest.fixture(name="at")
def at_fixture(tmp_path):
    """Two valid wheels: one of the project that will have a damaged one, and a neighbour."""
    at = indexing.Indexed(tmp_path)
    at.wheel(PROJECT, PROJECT, "0.9")
    at.wheel("neighbour", "neighbour", "1.0")
    return at


RIGHT = {"neighbour": ["neighbour-1.0-py3-none-any.whl"], PROJECT: [name_of("0.9")]}


@pytest.mark.parametrize("what", SPOILT)
def test_damaged_wheel_is_reported_and_never_listed(at, serve, what):
    make, reason = SPOILT[what]
    make(at.store / PROJECT / name_of())
    summary = at.index("--settle", "0")
    assert (summary["added"], summary["quarantined"]) == (2, 1)
    assert list(quarantined(summary)) == [name_of()]
    assert reason in quarantined(summary)[name_of()]

    server = serve(at.store, config="[index]\nsettle = 0\n")
    assert listed(server) == RIGHT
    for suffix in ("", ".metadata"):
        assert server.get(f"/files/wheels/{PROJECT}/{name_of()}{suffix}").status == 404


@pytest.mark.parametrize("name, reason", [
    (f"{PROJECT}-1.0.whl", "5 or 6 parts"), (f"{PROJECT}-1.0-1-2-py3-none-any.whl", "5 or 6 parts"),
    (f"{PROJECT}-one-py3-none-any.whl", "is not a version"), ("-1.0-py3-none-any.whl", "is not a project name"),
    (f"{PROJECT}-1.0-py3-none-any (1).whl", "blank"),
])
def test_wheel_with_an_impossible_name(at, serve, name, reason):
    storelib.zip_write(at.store / PROJECT / name, members())
    summary = at.index("--settle", "0")
    assert list(quarantined(summary)) == [name]
    assert reason in quarantined(summary)[name]
    assert listed(serve(at.store)) == RIGHT


def test_all_defects_at_once_are_in_the_summary(at):
    for i, (make, _) in enumerate(SPOILT.values()):
        (at.store / str(i)).mkdir()
        make(at.store / str(i) / name_of(f"1.0.post{i}"))
    done = at.run("--settle", "0")
    assert done.returncode == 0
    for i in range(len(SPOILT)):
        assert name_of(f"1.0.post{i}") in done.stdout
    assert "not a zip file" in done.stdout


def test_second_scan_remembers_without_reading(at):
    junk = at.store / PROJECT / name_of()
    junk.write_bytes(b"junk" * 1000)
    os.utime(junk, (storelib.OLD, storelib.OLD))
    first = at.index()
    second = at.index()
    assert first["quarantined"] == second["quarantined"] == 1
    assert quarantined(first) == quarantined(second)
    assert (second["unchanged"], second["bytes_hashed"]) == (2, 0)


def test_young_damaged_file_is_still_being_written(at, serve, tmp_path):
    whole = storelib.make_wheel(tmp_path / "elsewhere", PROJECT, "1.0", mtime=None)
    target = at.store / PROJECT / whole.name
    data = whole.path.read_bytes()
    target.write_bytes(data[:len(data) // 2])
    summary = at.index()
    assert (summary["added"], summary["waiting"], summary["quarantined"]) == (2, 1, 0)

    server = serve(at.store, "--rescan", "1")
    assert listed(server) == RIGHT
    with open(target, "ab") as rest:
        rest.write(data[len(data) // 2:])
    serving.wait_for(lambda: name_of() in listed(server)[PROJECT], 60, "the finished wheel")


def test_mended_wheel_is_listed_and_a_spoilt_one_goes(at, serve):
    bad = at.store / PROJECT / name_of()
    bad.write_bytes(b"junk" * 1000)
    assert at.index("--settle", "0")["quarantined"] == 1
    at.wheel(PROJECT, PROJECT, "1.0")
    summary = at.index("--settle", "0")
    assert (summary["added"], summary["quarantined"]) == (1, 0)

    server = serve(at.store, "--rescan", "1", config="[index]\nsettle = 0\n")
    assert listed(server)[PROJECT] == [name_of("0.9"), name_of()]
    bad.write_bytes(b"junk" * 1000)
    serving.wait_for(lambda: listed(server) == RIGHT, 60, "the page without the spoilt wheel")
    assert server.get(f"/files/wheels/{PROJECT}/{name_of()}").status == 404
