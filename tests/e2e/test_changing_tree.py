# SPDX-License-Identifier: Apache-2.0
"""A tree that changes while it is scanned and served. Every answer is complete and right (its hash is the page's), or an
error status, or its connection is closed early. The server survives, and stops without a report of a sanitizer."""
import contextlib
import hashlib
import http.client
import os
import pathlib
import random
import shutil
import socket
import sqlite3
import subprocess
import tempfile
import threading
import time
from unittest import mock

import pytest

import faults
import merging
import others
import pages
import serving
import storelib

SOON = 60       # a scan and its effects on a busy machine
CHURN = 6       # seconds
FAT = 12 << 20  # more than sockets hold
TAG = "py3-none-any"
GONE_OR_BUSY = (404, 503)


@pytest.fixture(name="store")
def store_fixture(tmp_path):
    """A store with the project calm, which no test changes."""
    store = tmp_path / "store"
    storelib.make_wheel(store / "calm", "calm", "1.0", size=20_000)
    return store


def put(folder, name, version, salt, size=20_000, how="rename", mtime=None):
    """Puts a wheel, whose bytes depend on salt, into the store; returns its path and hash."""
    data = random.Random(salt).randbytes(size)
    with tempfile.TemporaryDirectory() as aside:
        wheel = storelib.make_wheel(aside, name, version, files={f"{name}.bin": data}, mtime=mtime)
        folder.mkdir(parents=True, exist_ok=True)
        place = folder / wheel.name
        if how == "rename":
            shutil.copy2(wheel.path, folder / ".new")
            os.replace(folder / ".new", place)
        else:
            place.chmod(0o644)  # the permission may be gone, which stops every user except root
            with open(place, "r+b") as target:  # the inode stays, so a mapping of it sees the change
                target.write(wheel.path.read_bytes())
                target.truncate()
    return place, wheel.sha256


def listed(server, project):
    """File name -> SHA-256 on the page; empty where there is none."""
    reply = server.get(f"/simple/{project}/", {"Accept": pages.JSON})
    assert reply.status in (200, 404, 503), reply.status
    if reply.status != 200:
        return {}
    return {one.filename: one.sha256 for one in pages.json_files(reply.body, f"{server.url}/simple/{project}/")}


def path_of(name):
    return f"/files/wheels/{name.split('-')[0]}/{name}"


def fetch(server, name, under=None):
    """The status, and the hash of the body; None where the connection was closed early. under: a list to which the ETag is
    appended."""
    with contextlib.closing(server.connect()) as connection:
        connection.request("GET", path_of(name))
        try:
            answer = connection.getresponse()
            if under is not None:
                under.append((answer.headers["ETag"] or "").strip('"'))
            return answer.status, hashlib.sha256(answer.read()).hexdigest()
        except (http.client.IncompleteRead, http.client.RemoteDisconnected, ConnectionResetError):
            return 200, None


def check_calm(server):
    (name, sha256), = listed(server, "calm").items()
    assert fetch(server, name) == (200, sha256)


def wait_until_right(server, path, sha256):
    """Waits until the page and the file agree with the disk."""
    serving.wait_for(lambda: listed(server, path.name.split("-")[0]).get(path.name) == sha256, SOON, "the page")
    serving.wait_for(lambda: fetch(server, path.name) == (200, sha256), SOON, "the file")
    check_calm(server)


class Download:
    """A slow download: the client has read the head and a little, and the rest is still in the server."""

    def __init__(self, server, name, path=None):
        self.connection = socket.socket()
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        self.connection.settimeout(90)
        self.connection.connect((server.host, server.port))
        self.connection = server.secured(self.connection)
        self.connection.sendall(f"GET {path or path_of(name)} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
        self.data = self.connection.recv(65536)
        assert self.data.startswith(b"HTTP/1.1 200 ")

    def rest(self):
        """The body, as far as it arrives."""
        with self.connection:
            return (self.data + serving.read_all(self.connection)).partition(b"\r\n\r\n")[2]


# What happens to a file in the middle of its download, and whether the client still gets all of the old bytes.
def cut_short(path):
    os.truncate(path, 1 << 20)


def cut_off(path):
    os.truncate(path, 0)


def replace(path):
    put(path.parent, "fat", "1.0", "other", FAT)


def overwrite(path):
    put(path.parent, "fat", "1.0", "other", FAT, how="overwrite")


def rename(path):
    path.rename(path.parent / "elsewhere")


def remove_all(path):
    shutil.rmtree(path.parent)


def forbid(path):
    path.chmod(0)


MISFORTUNES = {cut_short: False, cut_off: False, overwrite: False, replace: True, rename: True, os.unlink: True,
               remove_all: True, forbid: True}


@pytest.mark.parametrize("happen", MISFORTUNES, ids=lambda one: one.__name__)
def test_in_the_middle_of_a_download(serve, store, happen, authority):
    """A file that shrinks while it is mapped: the kernel reports it when it is sent, and there is no SIGBUS."""
    path, sha256 = put(store / "fat", "fat", "1.0", "first", FAT, mtime=storelib.OLD)
    server = serve(store, "--rescan", "1", authority=authority)
    assert listed(server, "fat") == {path.name: sha256}
    slow = Download(server, path.name)
    happen(path)
    assert fetch(server, path.name)[0] in (200, *GONE_OR_BUSY)  # the reply may still be in the cache
    body = slow.rest()
    if MISFORTUNES[happen]:
        assert hashlib.sha256(body).hexdigest() == sha256
    elif happen is not overwrite:  # the server cannot see bytes that change in place; the client's hash can
        assert len(body) < FAT
    check_calm(server)
    put(store / "fat", "fat", "1.0", "last", FAT)
    wait_until_right(server, path, hashlib.sha256(path.read_bytes()).hexdigest())


@pytest.mark.parametrize("size", [0, 100, 120_000])
@pytest.mark.parametrize("first", [True, False], ids=["mapped", "not-mapped"])
def test_file_truncated_before_it_is_sent(serve, store, size, first, authority):
    """With a cached reply and without one: never the full length. (The missing end of the file's last page in memory is sent
    as zeros; the client's hash finds it.)"""
    path, sha256 = put(store / "small", "small", "1.0", "first", 200_000, mtime=storelib.OLD)
    server = serve(store, "--rescan", "0", authority=authority)
    if first:
        assert fetch(server, path.name) == (200, sha256)
    os.truncate(path, size)
    for _ in range(5):
        status, digest = fetch(server, path.name)
        assert (status, digest) in ((200, None), (200, sha256)) or status in GONE_OR_BUSY
    time.sleep(1.2)
    assert fetch(server, path.name)[0] in GONE_OR_BUSY
    check_calm(server)


def test_cut_short_file_ends_its_download_soon(serve, store, authority):
    """The file now ends between what was sent and the next block: libmicrohttpd takes that for a full socket, and would
    wait for its time-out."""
    path, _ = put(store / "fat", "fat", "1.0", "first", FAT, mtime=storelib.OLD)
    server = serve(store, "--rescan", "0", authority=authority)
    slow = Download(server, path.name)
    time.sleep(0.5)
    os.truncate(path, FAT // 2)
    begin = time.monotonic()
    assert len(slow.rest()) <= FAT // 2 + 4096
    assert time.monotonic() - begin < 40  # the time-out is 60


def test_kept_file_of_upstream_is_cut_short(serve, index, tmp_path, authority):
    """The same for a cached file of upstream."""
    path = storelib.make_wheel(tmp_path / "theirs", "fat", "1.0", size=FAT)
    index.add("fat", path)
    server = serve(None, config=merging.config(index), authority=authority)
    assert server.get(merging.url_of("fat", path.name)).status == 200
    merging.wait_until_kept(server, path.name)
    slow = Download(server, path.name, merging.url_of("fat", path.name))
    kept, = (one for one in server.catalog.with_name("catalog.db.files").rglob(path.name))
    os.truncate(kept, 1 << 20)
    assert len(slow.rest()) < FAT
    assert server.get("/simple/fat/").status == 200


def test_change_count_is_cut_short(serve, wheelcache, store):
    """All processes of the catalog map it: each goes on, and the others see the commits of one."""
    server = serve(store, "--rescan", "0")
    changes = server.catalog.with_name("catalog.db-changes")
    for version in ("1.0", "2.0", "3.0"):
        os.truncate(changes, 0)
        check_calm(server)
        path, sha256 = put(store / "late", "late", version, version)
        assert wheelcache("index", "--catalog", server.catalog, store).returncode == 0
        wait_until_right(server, path, sha256)
    assert changes.stat().st_size > 0


@contextlib.contextmanager
def small_disk(folder, kilobytes):
    """A file system of its own."""
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", folder], capture_output=True, check=False)
    if made.returncode != 0:
        pytest.skip("nothing can be mounted here")
    try:
        yield
    finally:
        subprocess.run(["umount", folder], check=True)


def test_change_count_has_no_room(wheelcache, store, tmp_path):
    """The catalog's log has room for the commit, the change count has none: the commit succeeds without it."""
    disk = tmp_path / "disk"
    disk.mkdir()
    with small_disk(disk, 4096):
        index = ["index", "--catalog", disk / "c.db", store]
        assert wheelcache(*index).returncode == 0
        with contextlib.closing(sqlite3.connect(disk / "c.db")) as log:
            log.execute("CREATE TABLE wide (text)")
            for _ in range(60):
                log.execute("INSERT INTO wide VALUES (?)", ("x" * 4000,))
                log.commit()
            log.execute("DROP TABLE wide")
            log.commit()
            log.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
            (disk / "c.db-changes").unlink()
            with contextlib.suppress(OSError), open(disk / "full", "wb", buffering=0) as full:
                while full.write(bytes(1024)):
                    pass
            put(store / "late", "late", "1.0", "late")
            done = wheelcache(*index)
            assert done.returncode == 0 or "No space" in done.stderr or "full" in done.stderr, (done.returncode, done.stderr)
            assert not (disk / "c.db-changes").exists() or (disk / "c.db-changes").stat().st_size == 0


def alike(path):
    """Puts other bytes of the same size and time in place of the wheel. Their hash."""
    size = path.stat().st_size
    for salt in range(1000):  # until it is packed to the same length
        _, other = put(path.parent, "same", "1.0", salt, mtime=storelib.OLD)
        if path.stat().st_size == size:
            break
    assert path.stat().st_size == size and path.stat().st_mtime == storelib.OLD
    return other


@pytest.mark.parametrize("how", ["replaced", "written over"])
def test_other_bytes_of_the_same_size_and_time(serve, store, how):
    """As `cp -p` does, and AFS with its whole seconds: other bytes must not be sent with the old hash. A file that is replaced twice
    may have its inode again."""
    path, sha256 = put(store / "same", "same", "1.0", "first", mtime=storelib.OLD)
    first = path.read_bytes()
    other = alike(path)
    second = path.read_bytes()
    path.write_bytes(first)
    os.utime(path, (storelib.OLD, storelib.OLD))
    server = serve(store, "--rescan", "0")
    assert fetch(server, path.name) == (200, sha256) and other != sha256
    if how == "replaced":
        assert alike(path) == other
        for _ in range(2):
            status, digest = fetch(server, path.name, under := [])
            assert status in GONE_OR_BUSY or digest == under[0]  # the page may be older than the file
            time.sleep(1.2)
    else:
        path.write_bytes(second)
        os.utime(path, (storelib.OLD, storelib.OLD))
        serving.wait_for(lambda: fetch(server, path.name, under := []) == (200, other) and under == [other], SOON, "the new hash")
    wait_until_right(server, path, other)


def test_store_moved_to_another_disk_is_served_at_once(serve, store):
    """The same bytes, size and time, but other inodes: a restored store is served before a scan has read it again."""
    path, sha256 = put(store / "same", "same", "1.0", "first", mtime=storelib.OLD)
    server = serve(store, "--rescan", "0")
    shutil.copy2(path, store / "same" / ".new")
    os.replace(store / "same" / ".new", path)
    assert fetch(server, path.name) == (200, sha256)


class Churn:
    """A thread that keeps changing the files of the project wild."""

    def __init__(self, store, seed):
        self.folder = store / "wild"
        self.random = random.Random(seed)
        self.truth = {}
        self.written_over = set()
        self.count = 0
        for version in range(12):
            self.put(f"{version}.0", "rename")

    def put(self, version, how):
        self.count += 1
        size = self.random.choice([500, 20_000, 300_000, 3_000_000])
        self.truth[version] = put(self.folder, "wild", version, self.count, size, how)

    def act(self):
        version = f"{self.random.randrange(12)}.0"
        path = self.folder / f"wild-{version}-{TAG}.whl"
        what = self.random.choice(["rename", "overwrite", "truncate", "unlink", "chmod", "hide", "folder"])
        if what in ("overwrite", "truncate"):
            self.written_over.add(path.name)
        if what == "rename" or not path.exists():
            self.put(version, "rename")
        elif what == "overwrite":
            self.put(version, "overwrite")
        elif what == "truncate":
            path.chmod(0o644)
            os.truncate(path, self.random.randrange(max(1, path.stat().st_size)))
            self.truth.pop(version, None)
        elif what == "unlink":
            path.unlink()
            self.truth.pop(version, None)
        elif what == "chmod":
            path.chmod(self.random.choice([0, 0o644]))
        elif what == "hide":
            path.rename(path.with_suffix(".hidden"))
            path.with_suffix(".hidden").rename(path)
        else:
            self.folder.rename(self.folder.with_name("hidden"))
            self.folder.with_name("hidden").rename(self.folder)


class Reader(threading.Thread):
    """A client that checks all that the pages say."""

    def __init__(self, server, churn, stop):
        super().__init__()
        self.server, self.churn, self.stop = server, churn, stop
        self.counts = dict.fromkeys(("right", "short", "404", "503"), 0)
        self.failures = []

    def run(self):
        try:
            while not self.stop.is_set() and not self.failures:
                check_calm(self.server)
                self.look()
        except Exception as reason:  # pylint: disable=broad-exception-caught
            self.failures.append(repr(reason))

    def look(self):
        page = listed(self.server, "wild")
        for name in random.sample(sorted(page), min(3, len(page))):
            under = []
            status, digest = fetch(self.server, name, under)
            if status == 200 and digest is None:
                self.counts["short"] += 1
            elif status == 200:
                self.check(name, under[0], digest)
            else:
                assert status in GONE_OR_BUSY
                self.counts[str(status)] += 1

    def check(self, name, promised, digest):
        """The page may be older than the file, but a body has the hash of its ETag, unless bytes change in place."""
        if digest == promised or name in self.churn.written_over:
            self.counts["right"] += 1
        else:
            self.failures.append(f"{name}: {digest} came under the ETag {promised}")


def test_churn(serve, store):
    churn = Churn(store, seed=20261121)
    server = serve(store, "--rescan", "1", config="[index]\nsettle = 1\n")
    stop = threading.Event()
    readers = [Reader(server, churn, stop) for _ in range(3)]
    for one in readers:
        one.start()
    end = time.monotonic() + CHURN
    while time.monotonic() < end:
        churn.act()
        time.sleep(0.01)
    stop.set()
    for one in readers:
        one.join()
    print("\nchurn:", {key: sum(one.counts[key] for one in readers) for key in readers[0].counts})
    assert not [why for one in readers for why in one.failures]
    assert sum(one.counts["right"] for one in readers) > 5
    truth = {path.name: sha256 for path, sha256 in churn.truth.values()}
    for path in churn.folder.iterdir():
        path.chmod(0o644)
    serving.wait_for(lambda: listed(server, "wild") == truth, SOON, "the page of what is there")
    for name, sha256 in truth.items():
        serving.wait_for(lambda one=(name, sha256): fetch(server, one[0]) == (200, one[1]), SOON, name)


@pytest.fixture(name="open_store")
def open_store_fixture():
    """A store that another user can read, and a program that becomes this user."""
    if os.geteuid() == 0 and not shutil.which("setpriv"):
        pytest.skip("setpriv is not here, and root may read everything")
    with others.open_program(), others.open_folder() as top, mock.patch.dict(os.environ):
        (top / "state").mkdir()
        if os.geteuid() == 0:
            os.chown(top / "state", others.NOBODY, others.NOBODY)
            become = ["setpriv", f"--reuid={others.NOBODY}", f"--regid={others.NOBODY}", "--clear-groups"]
            program = serving.binary()
            wrapper = top / "unprivileged"
            wrapper.write_text(f'#!/bin/sh\nexec {" ".join(become)} {program} "$@"\n')
            wrapper.chmod(0o755)
            os.environ["WHEELCACHE"] = str(wrapper)
        storelib.make_wheel(top / "store" / "calm", "calm", "1.0")
        yield top / "store"
        for folder, _, _ in os.walk(top):
            os.chmod(folder, 0o755)


@pytest.mark.parametrize("where", ["file", "folder"])
def test_permission_taken_away(open_store, serve, where):
    """A file that cannot be read is not gone: it stays on its page, and is 503 until it can be read again."""
    path, sha256 = put(open_store / "shy", "shy", "1.0", "first", mtime=storelib.OLD)
    server = serve(open_store, "--rescan", "1", state=open_store.parent / "state")
    assert fetch(server, path.name) == (200, sha256)
    place = path if where == "file" else path.parent
    mode = place.stat().st_mode
    place.chmod(0)
    serving.wait_for(lambda: fetch(server, path.name)[0] == 503, SOON, "the refusal")
    time.sleep(2.5)  # scans
    assert listed(server, "shy") == {path.name: sha256}
    reply = server.get(path_of(path.name))
    assert reply.status == 503 and reply["Retry-After"] and path.name.encode() not in reply.body
    serving.wait_for(lambda: "Permission denied" in server.errors(), SOON, "a word about it")
    check_calm(server)
    place.chmod(mode)
    wait_until_right(server, path, sha256)


def test_new_file_that_cannot_be_read_yet(open_store, serve):
    server = serve(open_store, "--rescan", "1", state=open_store.parent / "state")
    path, sha256 = put(open_store / "shy", "shy", "1.0", "first")
    path.chmod(0)
    time.sleep(2.5)
    assert sha256 not in listed(server, "shy").values() or fetch(server, path.name)[0] in (200, 503)
    check_calm(server)
    path.chmod(0o644)
    wait_until_right(server, path, sha256)


@pytest.fixture(name="break_beneath")
def break_beneath_fixture(tmp_path, monkeypatch):
    """A function: from now on reads fail below every path with this text; None: nowhere. For servers that start after the
    fixture."""
    return faults.preload("eio", tmp_path, monkeypatch)


def test_folder_that_fails(serve, store, break_beneath):
    """A volume that is away for a while loses no file, and does not delay the others."""
    path, sha256 = put(store / "ill", "ill", "1.0", "first", mtime=storelib.OLD)
    server = serve(store, "--rescan", "1")
    assert fetch(server, path.name) == (200, sha256)
    break_beneath("/store/ill")
    newer, newer_sha256 = put(store / "ill", "ill", "2.0", "second")
    other, other_sha256 = put(store / "well", "well", "1.0", "third")
    wait_until_right(server, other, other_sha256)
    serving.wait_for(lambda: "Input/output error" in server.errors(), SOON, "a word about it")
    assert listed(server, "ill") == {path.name: sha256}
    serving.wait_for(lambda: fetch(server, path.name)[0] == 503, SOON, "the refusal")
    break_beneath(None)
    wait_until_right(server, newer, newer_sha256)
    wait_until_right(server, path, sha256)


def test_file_that_fails(serve, store, break_beneath):
    """It is neither listed nor quarantined, because nothing is known about it."""
    break_beneath("ill-1.0")
    path, sha256 = put(store / "ill", "ill", "1.0", "first", 3_000_000)
    server = serve(store, "--rescan", "1")
    newer, newer_sha256 = put(store / "ill", "ill", "2.0", "second")
    wait_until_right(server, newer, newer_sha256)
    assert listed(server, "ill") == {newer.name: newer_sha256}
    assert f"ill/{path.name}" in server.errors() and "quarantined" not in server.errors().replace("0 quarantined", "")
    break_beneath(None)
    wait_until_right(server, path, sha256)
