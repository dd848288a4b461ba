# SPDX-License-Identifier: Apache-2.0
"""Invariants (docs/architecture.md) that no other file tests: reading writes nothing, and a rebuilt catalog gives the same
bytes."""
import hashlib
import time

import pytest

import pages
import serving
import storelib

PLATFORM = "debian-12-x86_64"
PATHS = ["/", "/simple/", f"/{PLATFORM}/simple/", "/simple/foo/", "/simple/Bar/", "/simple/absent/",
         "/files/no/such/file", "/-/health", "/-/ready"]
ACCEPTS = [pages.JSON, "text/html"]
CHANGING = ("access.log", "stderr.txt", "-shm")  # -shm: readers register there, in memory


@pytest.fixture
def store(tmp_path):
    folder = tmp_path / "store" / PLATFORM
    storelib.make_wheel(folder, "foo", "1.0", requires=["bar"])
    storelib.make_wheel(folder, "foo", "1.1+local")
    storelib.make_wheel(folder, "bar", "2.0")
    return folder.parent


def ask_everything(server):
    """Status, headers that describe the body, and body, of every path in every form."""
    wheel = next((server.store / PLATFORM).glob("foo-1.0-*.whl"))
    paths = [*PATHS, f"/files/{PLATFORM}/foo/{wheel.name}", f"/files/{PLATFORM}/foo/{wheel.name}.metadata"]
    replies = {(path, accept): server.get(path, {"Accept": accept}) for path in paths for accept in ACCEPTS}
    return {key: (reply.status, reply["ETag"], reply["Content-Type"], reply.body) for key, reply in replies.items()}


def state_of(*folders):
    """Every file below, with its time and bytes."""
    return {path: (path.stat().st_mtime_ns, hashlib.sha256(path.read_bytes()).hexdigest())
            for folder in folders for path in folder.rglob("*")
            if path.is_file() and not path.name.endswith(CHANGING)}


def settled(*folders):
    """The same once it no longer changes: a server may print its URL before its catalog watch has run."""
    seen = [state_of(*folders)]

    def stays():
        time.sleep(0.5)
        seen.append(state_of(*folders))
        return seen[-1] == seen[-2]

    serving.wait_for(stays, 60, "an end of what the start writes")
    return seen[-1]


def start(serve, store, state):
    server = serve(store, "--rescan", "0", state=state)
    server.store = store
    return server


def test_reading_writes_nothing(serve, store, tmp_path):
    state = tmp_path / "state"
    server = start(serve, store, state)
    before = settled(store, state)
    assert any(path.name == "catalog.db" for path in before)
    first = ask_everything(server)
    assert first["/simple/foo/", pages.JSON][0] == 200
    assert first["/simple/absent/", pages.JSON][0] == 404
    ask_everything(server)
    assert state_of(store, state) == before


def test_catalog_made_anew_gives_the_same_bytes(serve, store, tmp_path):
    def facts(server):
        return {key: reply for key, reply in ask_everything(server).items() if "simple" in key[0] or "files" in key[0]}

    first = facts(start(serve, store, tmp_path / "first"))
    assert facts(start(serve, store, tmp_path / "second")) == first
