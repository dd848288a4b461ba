# SPDX-License-Identifier: Apache-2.0
"""Many clients at once for what is not cached yet: upstream is asked once, each client gets the right bytes, and no client
delays another one."""
import contextlib
import hashlib
import os
import pathlib

import pytest

import merging
import pages
import serving
import storelib

CLIENTS = 200
LARGE = 4 << 20
HELD_BACK = 1 << 20
SOON = 300


@pytest.fixture(name="large")
def large_fixture(tmp_path, index):
    wheel = storelib.make_wheel(tmp_path / "theirs", "fat", "1.0", size=LARGE)
    index.add("fat", wheel)
    return wheel


@pytest.fixture(name="server")
def server_fixture(serve, index, tmp_path, monkeypatch):
    storelib.make_wheel(tmp_path / "store", "mine", "1.0")
    monkeypatch.setenv("ASAN_OPTIONS", f"{os.environ.get('ASAN_OPTIONS', '')}:quarantine_size_mb=1")
    return serve(tmp_path / "store", config=merging.config(index, private="mine"))


@contextlib.contextmanager
def crowd(server, path, accept="*/*"):
    """So many connections that have requested it, and are not answered yet."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(server.socket(SOON)) for _ in range(CLIENTS)]
        for one in sockets:
            one.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\nAccept: {accept}\r\nConnection: close\r\n\r\n".encode())
        yield sockets


def read(connection):
    """The status (0: there was no answer), and the hash of a complete body; None where it is cut."""
    status, length, digest = 0, 0, hashlib.sha256()
    with contextlib.suppress(ConnectionError), connection.makefile("rb") as file:
        line = file.readline()
        if not line:
            return 0, None
        status = int(line.split()[1])
        while (line := file.readline()) not in (b"\r\n", b""):
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        left = length
        while left and (data := file.read(min(left, 1 << 18))):
            digest.update(data)
            left -= len(data)
        return status, None if left else digest.hexdigest()
    return status, None


def peak_memory(server):
    """MB that it has had at most."""
    text = pathlib.Path(f"/proc/{server.process.pid}/status").read_text()
    return int(text.partition("VmHWM:")[2].split()[0]) >> 10


def assert_others_are_answered(server):
    assert merging.names(server, "mine") == ["mine-1.0-py3-none-any.whl"]
    assert server.get("/files/wheels/mine/none-1.0-py3-none-any.whl").status == 404
    assert server.get("/-/health").status == 200
    assert merging.status_of(server, "another") == 404  # a page that needs upstream too


def test_cold_page(server, index):
    for number in range(500):
        index.add_bytes("six", f"six-1.{number}.tar.gz", b"%d" % number)
    go_on = index.hold("six")
    with crowd(server, "/simple/six/", pages.JSON) as sockets:
        serving.wait_for(lambda: index.count("six"), SOON, "upstream is asked")
        assert_others_are_answered(server)
        go_on.set()
        assert len({read(one) for one in sockets}) == 1
    assert index.count("six") == 1
    assert len(merging.names(server, "six")) == 500


def test_page_that_is_too_large_for_the_memory_of_pages(server, index):
    """Waiting clients get it before the catalog has it."""
    named = [(number, f"huge-{number}.0-py3-none-any.whl") for number in range(60_000)]
    index.pages["huge"] = {name: {
        "filename": name, "url": f"../../packages/{number:060x}/{name}", "upload-time": merging.UPLOADED, "size": 1000,
        "requires-python": ">=3.8", "hashes": {"sha256": f"{number:064x}"}, "core-metadata": {"sha256": f"{number + 7:064x}"},
    } for number, name in named}
    for _ in range(2):
        reply = server.get("/simple/huge/", {"Accept": pages.JSON})
        assert reply.status == 200, reply.body[:200]
        assert reply.body.count(b'"filename":"huge-') == len(named)
    assert index.count("huge") == 1


def test_cold_large_file(server, index, large):
    path = merging.url_of("fat", large.name)
    assert server.get("/simple/fat/").status == 200
    before = peak_memory(server)
    go_on = index.hold(f"/packages/{large.name}", after=HELD_BACK)
    with crowd(server, path) as sockets:
        for one in sockets[::10]:
            one.recv(1000)  # the download has begun
            one.close()
        assert_others_are_answered(server)
        go_on.set()
        answers = {read(one) for number, one in enumerate(sockets) if number % 10}
    assert answers == {(200, large.sha256)}
    assert index.count(f"/packages/{large.name}") == 1
    after = peak_memory(server)
    print(f"\n{CLIENTS} clients for {LARGE >> 20} MB: at most {before} MB of memory before, {after} MB after")
    assert after - before < 200  # not one copy per client


def test_all_clients_leave(server, index, large):
    """A download that has begun is finished, for the next client."""
    path = merging.url_of("fat", large.name)
    go_on = index.hold(f"/packages/{large.name}", after=HELD_BACK)
    with crowd(server, path) as sockets:
        sockets[0].recv(1000)
    go_on.set()
    assert hashlib.sha256(server.get(path).body).hexdigest() == large.sha256
    assert index.count(f"/packages/{large.name}") == 1


def test_file_that_turns_out_wrong_for_all(server, index, large):
    index.fail(f"/packages/{large.name}", merging.other_bytes)
    with crowd(server, merging.url_of("fat", large.name)) as sockets:
        answers = {read(one) for one in sockets}
    assert {status for status, whole in answers if whole} <= {502}  # no client has accepted it as the file


def test_server_stops_while_clients_wait(server, index):
    """At once: the clients retry. (Only running downloads get some time.)"""
    go_on = index.hold("six")
    index.add_bytes("six", "six-1.0.tar.gz", b"")
    with crowd(server, "/simple/six/") as sockets:
        serving.wait_for(lambda: index.count("six"), SOON, "upstream is asked")
        server.stop()
        for one in sockets:
            status, whole = read(one)
            assert status in (502, 503) or not whole, status
    go_on.set()
