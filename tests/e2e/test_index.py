# SPDX-License-Identifier: Apache-2.0
"""wheelcache index: what a scan finds, what it trusts, and what it says."""
import hashlib
import io
import json
import os
import shutil
import subprocess
import tarfile
import time
import urllib.parse
import zipfile

import pytest

import faults
import serving
import storelib
from indexing import PLATFORM, Indexed, age, numbers

WHEEL = "six-1.0-py3-none-any.whl"


@pytest.fixture(name="at")
def at_fixture(tmp_path):
    return Indexed(tmp_path)


def test_every_layout_is_found(at):
    for number, folder in enumerate(["s/six", "six", "", "a/b/c/d/e/f/g/h"]):
        at.wheel(folder, version=f"1.{number}")
    at.wheel("a/b/c/d/e/f/g/h/too-deep", version="9")
    numbers(at.index(), files=4, added=4, ignored=1)
    assert at.names() == [f"six-1.{number}-py3-none-any.whl" for number in range(4)]
    assert {path.split("/")[0] for path in at.listed()} == {"wheels"}


def test_folders_with_a_platforms_name_are_platforms(at):
    wheel = at.wheel(f"{PLATFORM}/six")
    at.wheel("ubuntu-22.04-aarch64")
    at.wheel("lost+found", version="2.0")
    numbers(at.index(), added=2)
    assert at.listed()[f"{PLATFORM}/six/{WHEEL}"] == wheel.sha256
    assert f"ubuntu-22.04-aarch64/{WHEEL}" in at.listed()


def test_facts_of_a_wheel_are_kept(at):
    wheel = at.wheel("", requires_python=">=3.8")
    at.index()
    row = at.query("SELECT f.size, f.mtime_ns, hex(f.sha256), hex(f.metadata_sha256), f.version, f.requires_python,"
                   " p.name, p.files, p.bytes FROM file f JOIN project p ON p.id = f.project")
    assert row == [(wheel.size, storelib.OLD * 10**9, wheel.sha256.upper(), wheel.metadata_sha256.upper(), "1.0",
                    ">=3.8", "six", 1, wheel.size)]


def test_other_things_are_ignored_and_counted_every_time(at):
    at.wheel("six")
    (at.store / "six" / "index.html").write_text("no wheel")
    (at.store / "six" / f"{WHEEL}.asc").write_text("no wheel")
    (at.store / "six" / f".{WHEEL}").write_text("a dot file")
    os.mkfifo(at.store / "six" / "pipe-1.0-py3-none-any.whl")
    age(at.store)
    numbers(at.index(), files=1, added=1, ignored=3)
    numbers(at.index(), files=1, unchanged=1, ignored=3)


def test_nothing_changed_opens_nothing(at):
    for number in range(5):
        at.wheel("six", version=f"1.{number}")
    age(at.store)
    at.index()
    catalog = os.stat(at.catalog)
    numbers(at.index(), unchanged=5, added=0, bytes_hashed=0)
    assert os.stat(at.catalog).st_mtime_ns == catalog.st_mtime_ns


@pytest.mark.skipif(not shutil.which("strace"), reason="there is no strace")
def test_nothing_changed_makes_no_call_that_reads(at, tmp_path):
    at.wheel("six")
    age(at.store)
    at.index()
    trace = tmp_path / "trace"
    done = subprocess.run(["strace", "-f", "-o", trace, "-e", "trace=open,openat,openat2,getdents64",
                           serving.binary(), *at.command()], capture_output=True, text=True, check=False,
                          env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0"})
    if "ptrace" in done.stderr:
        pytest.skip("strace may not trace here")
    calls = [line for line in trace.read_text().splitlines() if "+++" not in line]
    main = calls[0].split()[0]  # reads the store once, to find out whether it has platforms
    threads = [line for line in calls if not line.startswith(main)]
    assert any('"six"' in line for line in threads)
    assert not [line for line in threads if "getdents64" in line or ".whl" in line]


def overwrite(wheel, data, mtime):
    """In place, as cp does: the inode stays, the folder's mtime too."""
    with open(wheel.path, "r+b") as file:
        file.truncate(0)
        file.write(data)
    os.utime(wheel.path, (mtime, mtime))


def test_file_overwritten_in_an_old_folder_is_an_alarm(at):
    wheel = at.wheel("six")
    other = at.wheel("../other", requires=["attrs"])
    age(at.store)
    at.index()
    overwrite(wheel, other.path.read_bytes(), storelib.OLD + 100)
    summary = at.index()
    numbers(summary, changed=1, unchanged=0, added=0, gone=0)
    assert summary["lists"]["changed"] == [
        {"path": f"wheels/six/{WHEEL}", "before": wheel.sha256, "after": other.sha256}]
    assert list(at.listed().values()) == [other.sha256]
    numbers(at.index(), changed=0, unchanged=1)


def twins(at):
    """A wheel in the store, and other bytes for it of the same size."""
    one, other = at.wheel("six"), at.wheel("../other")
    for wheel, text in [(one, b"A = 1\n"), (other, b"A = 2\n")]:
        storelib.zip_write(wheel.path, storelib.wheel_members("six", "1.0", files={"six.py": text}), zipfile.ZIP_STORED)
        os.utime(wheel.path, (storelib.OLD, storelib.OLD))
    data = other.path.read_bytes()
    assert len(data) == one.path.stat().st_size and data != one.path.read_bytes()
    return one, data


GRAIN = 2  # seconds around an mtime in which it is not trusted
AHEAD = 1.5  # some of them may pass before a slow machine has scanned


def index_while_fresh(at, touch):
    """Indexes while the mtime that touch(mtime) sets is not trusted yet; returns the mtime."""
    for _ in range(30):
        mtime = time.time() + AHEAD
        touch(mtime)
        at.index()
        if time.time() < mtime + GRAIN:
            return mtime
    pytest.fail(f"no scan ends within {AHEAD + GRAIN} seconds")


def test_fresh_file_is_not_trusted(at, tmp_path, monkeypatch):
    """Overwritten within the resolution of its mtime: size, mtime and inode stay, and on AFS the ctime says nothing."""
    faults.preload("times", tmp_path, monkeypatch)
    one, data = twins(at)

    def touch(now):
        os.utime(one.path, (now, now))

    overwrite(one, data, index_while_fresh(at, touch))
    numbers(at.index(), changed=1)
    assert list(at.listed().values()) == [hashlib.sha256(data).hexdigest()]


@pytest.mark.parametrize("where", ["on a disk", "on AFS"])
def test_old_file_is_trusted(at, tmp_path, monkeypatch, where):
    """The opposite: an old file is not read again. On a disk the ctime says that it was written over and has its old time."""
    if where == "on AFS":
        faults.preload("times", tmp_path, monkeypatch)
    one, data = twins(at)
    at.index()
    numbers(at.index(), changed=0, unchanged=1, bytes_hashed=0)
    overwrite(one, data, storelib.OLD)
    numbers(at.index(), changed=int(where == "on a disk"), unchanged=int(where == "on AFS"))


def test_another_time_is_another_file(at):
    """Overwritten in place, with the same size and inode."""
    one, data = twins(at)
    age(at.store)
    at.index()
    overwrite(one, data, storelib.OLD + 100)
    numbers(at.index(), changed=1)
    assert list(at.listed().values()) == [hashlib.sha256(data).hexdigest()]


def test_another_inode_is_another_file(at):
    """Replaced by rename, with the same size and mtime."""
    one, data = twins(at)
    age(at.store)
    at.index()
    new = at.folder / "new"
    new.write_bytes(data)
    os.rename(new, one.path)
    age(at.store)
    numbers(at.index(), changed=1)


def test_fresh_folder_is_not_trusted(at):
    at.wheel("six")

    def touch(now):
        os.utime(at.store / "six", (now, now))

    now = index_while_fresh(at, touch)
    at.wheel("six", version="2.0")
    touch(now)
    numbers(at.index(), added=1, unchanged=1)


def test_folder_with_whole_seconds_is_not_trusted(at):
    """A replica on AFS shows a folder as of a release. Files that came later in the same second show after the next
    release, with the same mtime of the folder."""
    at.wheel("six")
    os.utime(at.store / "six", (storelib.OLD, storelib.OLD))
    at.index()
    at.wheel("six", version="2.0")
    os.utime(at.store / "six", (storelib.OLD, storelib.OLD))
    numbers(at.index(), added=1, unchanged=1)


def test_trust_comes_with_time(at):
    wheel = at.wheel("six")

    def touch(now):
        os.utime(wheel.path, (now, now))

    mtime = index_while_fresh(at, touch)
    time.sleep(max(0, mtime + GRAIN + 0.2 - time.time()))
    summary = at.index()
    numbers(summary, unchanged=1)
    assert summary["bytes_hashed"] > 0
    assert at.index()["bytes_hashed"] == 0


def test_time_far_in_the_future_is_trusted(at):
    """A write now does not set the same time again."""
    one, data = twins(at)
    os.utime(one.path, (time.time() + 3600, time.time() + 3600))
    near = at.wheel("attrs", name="attrs")

    def touch(now):
        os.utime(near.path, (now, now))

    index_while_fresh(at, touch)
    assert at.names() == sorted([one.name, near.name])
    numbers(at.index(), bytes_hashed=near.size)
    overwrite(one, data, time.time())
    numbers(at.index(), changed=1)


def test_gone_files_leave(at):
    at.wheel("six")
    at.wheel("attrs", name="attrs")
    at.wheel("attrs", name="attrs", version="2.0")
    at.index()
    shutil.rmtree(at.store / "six")
    os.unlink(at.store / "attrs" / "attrs-2.0-py3-none-any.whl")
    numbers(at.index(), gone=2, unchanged=1)
    assert at.names() == ["attrs-1.0-py3-none-any.whl"]
    assert at.query("SELECT name, files FROM project ORDER BY name") == [("attrs", 1), ("six", 0)]
    assert at.query("SELECT path FROM folder ORDER BY path") == [("",), ("attrs",)]
    assert at.query("SELECT count(*) FROM metadata") == [(1,)]


def test_moved_file_is_neither_added_nor_gone(at):
    wheel = at.wheel("six")
    at.index()
    os.mkdir(at.store / "s")
    os.rename(at.store / "six", at.store / "s" / "six")
    numbers(at.index(), added=0, gone=0, changed=0)
    assert at.listed() == {f"wheels/s/six/{WHEEL}": wheel.sha256}


def test_first_path_has_the_name(at):
    second = at.wheel("b", files={"b.py": b""})
    first = at.wheel("a", files={"a.py": b""})
    summary = at.index()
    numbers(summary, added=1, duplicates=1, quarantined=0)
    assert summary["lists"]["quarantined"] == []
    assert summary["lists"]["duplicates"][0]["path"] == f"wheels/b/{WHEEL}"
    assert "folder a" in summary["lists"]["duplicates"][0]["reason"]
    assert at.listed() == {f"wheels/a/{WHEEL}": first.sha256}
    os.unlink(first.path)
    summary = at.index()
    numbers(summary, changed=1, gone=0, duplicates=0)
    assert at.listed() == {f"wheels/b/{WHEEL}": second.sha256}


JUNK = {
    "junk-1.0-py3-none-any.whl": (b"this is no archive", "ZIP"),
    "empty-1.0-py3-none-any.whl": (b"", ""),
    "no-version.whl": (b"PK", ""),
    "junk-1.0.tar.gz": (b"this is no archive", ""),
}


def test_junk_is_quarantined_with_its_reason(at):
    at.wheel("six")
    for name, (data, _) in JUNK.items():
        (at.store / "six" / name).write_bytes(data)
    whole = at.wheel("six", name="cut")
    whole.path.write_bytes(whole.path.read_bytes()[:-30])
    age(at.store)
    summary = at.index()
    numbers(summary, added=1, quarantined=len(JUNK) + 1)
    reasons = {item["path"].rsplit("/", 1)[1]: item["reason"] for item in summary["lists"]["quarantined"]}
    assert reasons.keys() == {*JUNK, whole.name}
    assert all(reasons.values())
    assert at.names() == [WHEEL]
    numbers(at.index(), quarantined=len(JUNK) + 1, bytes_hashed=0)


def test_known_file_that_becomes_junk_leaves_the_page(at):
    wheel = at.wheel("six")
    at.index()
    overwrite(wheel, b"junk", storelib.OLD + 1)
    numbers(at.index(), quarantined=1, changed=0)
    assert at.names() == []
    overwrite(wheel, at.wheel("../other").path.read_bytes(), storelib.OLD + 2)
    numbers(at.index(), added=1, quarantined=0)
    assert at.listed() == {f"wheels/six/{WHEEL}": wheel.sha256}


def test_damaged_young_file_waits(at):
    wheel = at.wheel("six")
    whole = wheel.path.read_bytes()
    now = time.time()
    overwrite(wheel, whole[:-30], now)
    os.utime(wheel.path.parent, (storelib.OLD + 0.5, storelib.OLD + 0.5))
    numbers(at.index(), added=0, quarantined=0, waiting=1)
    assert at.query("SELECT count(*) FROM file") == [(0,)]
    numbers(at.index(), waiting=1)
    overwrite(wheel, whole, now)
    os.utime(wheel.path.parent, (storelib.OLD + 0.5, storelib.OLD + 0.5))
    numbers(at.index(), added=1, waiting=0)


def test_settle_time_is_an_option(at):
    wheel = at.wheel("six")
    overwrite(wheel, b"junk", time.time() - 10)
    numbers(at.index("--settle", "600"), waiting=1)
    numbers(at.index("--settle", "5"), waiting=0, quarantined=1)


def test_damaged_file_of_the_future_does_not_wait(at):
    wheel = at.wheel("six")
    overwrite(wheel, b"junk", time.time() + 3600)
    numbers(at.index(), waiting=0, quarantined=1)


def test_known_file_that_is_being_overwritten_stays(at):
    wheel = at.wheel("six")
    at.index()
    overwrite(wheel, b"half", time.time())
    numbers(at.index(), waiting=1, gone=0, quarantined=0)
    assert at.listed() == {f"wheels/six/{WHEEL}": wheel.sha256}


def test_links_within_the_store_are_followed(at):
    wheel = at.wheel("ubuntu-22.04-x86_64/six")
    (at.store / PLATFORM).mkdir()
    (at.store / PLATFORM / WHEEL).symlink_to(f"../ubuntu-22.04-x86_64/six/{WHEEL}")
    (at.store / PLATFORM / "more").symlink_to("../ubuntu-22.04-x86_64/six")
    summary = at.index()
    numbers(summary, added=2, links_ignored=0, quarantined=0, duplicates=1)
    assert at.listed()[f"{PLATFORM}/{WHEEL}"] == wheel.sha256
    numbers(at.index(), unchanged=2)


def test_links_that_leave_the_store_are_not_followed(at):
    outside = storelib.make_wheel(at.folder / "outside", "secret", "1.0")
    at.wheel("six")
    (at.store / outside.name).symlink_to(outside.path)
    (at.store / "relative-1.0-py3-none-any.whl").symlink_to(f"../outside/{outside.name}")
    (at.store / "folder").symlink_to("../outside")
    (at.store / "nowhere-1.0-py3-none-any.whl").symlink_to("nothing")
    (at.store / "six" / "circle").symlink_to("..")
    away = "it leads out of the store, or in a circle: "
    named = {f"wheels/{outside.name}": away + str(outside.path), "wheels/folder": away + "../outside",
             "wheels/relative-1.0-py3-none-any.whl": f"{away}../outside/{outside.name}",
             "wheels/nowhere-1.0-py3-none-any.whl": "it leads nowhere: nothing",
             "wheels/six/circle": "it leads to a folder that it is in: .."}
    for added in (1, 0):  # also by a scan that finds nothing new
        summary = at.index()
        numbers(summary, added=added, links_ignored=5, quarantined=0)
        assert {one["path"]: one["reason"] for one in summary["lists"]["links"]} == named
    assert at.names() == [WHEEL]


def test_a_link_that_leads_somewhere_later_is_followed(at):
    """Its folder has not changed since."""
    wheel = at.wheel("six")
    (at.store / "late").mkdir()
    (at.store / "late" / "late-1.0-py3-none-any.whl").symlink_to("../more/late-1.0-py3-none-any.whl")
    os.utime(at.store / "late", (storelib.OLD, storelib.OLD))
    numbers(at.index(), added=1, links_ignored=1)
    numbers(at.index(), added=0, links_ignored=1)
    storelib.make_wheel(at.store / "more", "late", "1.0")
    numbers(at.index(), added=1, duplicates=1, links_ignored=0)
    assert set(at.names()) == {wheel.name, "late-1.0-py3-none-any.whl"}


def test_links_are_named_in_the_text(at):
    at.wheel("six")
    (at.store / "nowhere-1.0-py3-none-any.whl").symlink_to("nothing\x1b[2J")
    shown = at.run().stdout
    assert "links that are not followed:\n  wheels/nowhere-1.0-py3-none-any.whl: it leads nowhere: nothing" in shown
    assert "\x1b" not in shown


def test_link_that_is_turned_outwards_leaves(at):
    outside = storelib.make_wheel(at.folder / "outside", "six", "1.0")
    at.wheel("real")
    (at.store / "six").mkdir()
    (at.store / "six" / "six-2.0-py3-none-any.whl").symlink_to("../real/none")
    link = at.store / "link"
    link.symlink_to("real")
    at.index()
    link.unlink()
    link.symlink_to(outside.path.parent)
    shutil.rmtree(at.store / "real")
    at.wheel("attrs", name="attrs")
    numbers(at.index(), gone=1, added=1)
    assert at.names() == ["attrs-1.0-py3-none-any.whl"]


def test_files_that_platforms_share_are_reported(at):
    for platform, requires in [("debian-12-x86_64", []), ("debian-13-x86_64", []), ("ubuntu-22.04-x86_64", ["a"])]:
        at.wheel(platform, requires=requires)
        at.wheel(platform, name="attrs")
    summary = at.index()
    numbers(summary, added=6, shadowed=4)
    assert summary["lists"]["differing"] == [{"filename": WHEEL, "platforms": "3 platforms, 2 different files"}]


def test_sdists_are_listed(at):
    with tarfile.open(at.store / "six-1.0.tar.gz", "w:gz") as archive:
        data = storelib.metadata_bytes("six", "1.0", ">=3.6")
        entry = tarfile.TarInfo("six-1.0/PKG-INFO")
        entry.size = len(data)
        archive.addfile(entry, io.BytesIO(data))
    age(at.store)
    numbers(at.index(), added=1)
    assert at.query("SELECT version, requires_python, metadata_sha256 FROM file") == [("1.0", ">=3.6", None)]


def test_incremental_and_new_catalog_are_alike(at, tmp_path):
    for number in range(8):
        at.wheel(f"{PLATFORM}/six", version=f"1.{number}", requires_python=f">=3.{number % 3}")
    at.index()
    os.unlink(at.store / PLATFORM / "six" / "six-1.3-py3-none-any.whl")
    at.wheel(f"{PLATFORM}/six", version="1.5", requires=["attrs"], mtime=storelib.OLD + 5)
    at.wheel("ubuntu-22.04-x86_64/six", version="2.0")
    at.index()
    before = at.facts()
    at.catalog = tmp_path / "new.db"
    at.index()
    assert at.facts() == before and len(before) == 8


def test_catalog_has_a_place_of_its_own_for_each_store(at):
    at.wheel("six")
    for name in ["store", "other"]:
        (at.folder / name).mkdir(exist_ok=True)
        done = serving.run("index", at.folder / name, env={**os.environ, "XDG_STATE_HOME": str(at.folder / "xdg")})
        assert done.returncode == 0, done.stderr
    made = sorted(path.name.rsplit("-", 1)[0] for path in (at.folder / "xdg" / "wheelcache").glob("*.db"))
    assert made == ["other", "store"]


def test_summary_for_people(at):
    at.wheel("six")
    (at.store / "bad\x1b[2J\u202e-1.0-py3-none-any.whl").write_bytes(b"junk")
    age(at.store)
    done = at.run()
    assert done.returncode == 0
    assert "1 added\n" in done.stdout and "quarantined: not listed" in done.stdout
    assert not set("\x1b\u202e") & set(done.stdout) and done.stderr == ""
    quiet = at.run("--quiet").stdout.splitlines()
    assert quiet[0] == "quarantined: not listed:" and len(quiet) == 2 and not set("\x1b\u202e") & set(quiet[1])


def test_summary_names_stray_files_and_findings(at):
    at.wheel(f"{PLATFORM}/six")
    at.wheel(f"{PLATFORM}/odd", name="odd", tag="py3-none-any", metadata=b"Metadata-Version: 2.0\nName: odd\nVersion: 1.0\n")
    at.wheel("ubuntu22-x86_64/lost", name="lost")
    (at.store / "notes.txt").write_text("beside the platforms")
    age(at.store)
    (at.store / PLATFORM / "half-1.0-py3-none-any.whl").write_bytes(b"PK")
    summary = at.index()
    numbers(summary, added=2, waiting=1, findings=1, ignored=2)
    lists = summary["lists"]
    assert sorted(one["name"] for one in lists["stray"]) == ["notes.txt", "ubuntu22-x86_64"]
    assert lists["findings"] == [{"path": f"{PLATFORM}/odd/odd-1.0-py3-none-any.whl",
                                  "oddities": "core metadata: Metadata-Version 2.0"}]
    (waiting,) = lists["waiting"]
    assert waiting["file"].startswith(f"{PLATFORM}/half-1.0-py3-none-any.whl: ")


SHAPES = {  # where other servers and tools put a wheel
    "pip, pypiserver": "",
    "bandersnatch": "web/packages/c4/c9/8cb9a1b3f3a0f7ac4d1a9d1c0f2b6d0f2b1a3a6ac0b1f6d3a5e1",
    "bandersnatch, by hand": "web/packages/py3/s/six",
    "devpi": "+files/root/pypi/+f/8ab/b2f1d8693ad",
    "Nexus": "packages/six/1.0",
    "Artifactory": "pypi-local/six/1.0",
    "a simple folder": "simple/six",
    "a letter": "s/six",
    "Pulp": "artifact/4e/0f6b",
}


@pytest.mark.parametrize("what", SHAPES)
def test_trees_of_other_servers_are_indexed_as_they_are(at, serve, what):
    """operating.md: How a store looks. With what such a tree has beside the wheels."""
    folder = at.store / PLATFORM / SHAPES[what]
    at.wheel(folder.relative_to(at.store), "six")
    for name in ("index.html", "six-1.0-py3-none-any.whl.sha256", "six-1.0-py3-none-any.whl.md5", "last-modified", "status"):
        (folder / name).write_text("x")
    summary = at.index()
    assert (summary["added"], summary["quarantined"], summary["problems"]) == (1, 0, 0)
    server = serve(at.store)
    page = json.loads(server.get("/simple/six/", {"Accept": "application/vnd.pypi.simple.v1+json"}).body)
    (file,) = page["files"]
    assert file["filename"] == "six-1.0-py3-none-any.whl"
    reply = server.get(urllib.parse.urlsplit(urllib.parse.urljoin(f"{server.url}/simple/six/", file["url"])).path)
    assert (reply.status, hashlib.sha256(reply.body).hexdigest()) == (200, file["hashes"]["sha256"])
