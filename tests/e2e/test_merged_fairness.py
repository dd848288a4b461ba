# SPDX-License-Identifier: Apache-2.0
"""One client against all others, through the proxy: its abandoned requests are dropped, and it gets no more turns than the
others."""
import contextlib
import select
import shutil
import socket
import threading

import pytest

import merging
import pages
import promtext
import serving
from authority import Authority

CROWD, OTHER = "127.0.0.2", "127.0.0.3"  # the server tells clients apart by address
SOON = 120
CONCURRENCY = 4
SHARE = 3  # three quarters
LARGE = b"\x5a" * (24 << 20)
FIRST_PART = 64 << 10


@pytest.fixture(name="server")
def server_fixture(serve, index):
    return serve(None, config=merging.config(index, concurrency=CONCURRENCY, files_size="10G"))


def connect(server, address):
    return socket.create_connection((server.host, server.port), timeout=SOON, source_address=(address, 0))


def ask(server, path, address):
    """A connection that has sent a request."""
    one = connect(server, address)
    one.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\nAccept: {pages.JSON}, */*\r\nConnection: close\r\n\r\n".encode())
    return one


def status(one):
    """The status of the answer on a connection, which is read completely and closed."""
    with one, one.makefile("rb") as file:
        line = file.readline()
        file.read()
    return int(line.split()[1])


def metric(server, name):
    return promtext.Metrics(server.get("/-/metrics").body.decode())(name)


def requests(index, prefix):
    return [one.path for one in list(index.asked) if one.path.startswith(prefix)]


@pytest.fixture(name="bulk")
def bulk_fixture(index):
    """Forty large files; a part of each arrives at once, the rest when the event is set."""
    go_on = threading.Event()

    def slowly(handler, data):
        handler.start(200, data)
        handler.wfile.write(data[:FIRST_PART])
        go_on.wait(merging.PATIENT_S)
        handler.wfile.write(data[FIRST_PART:])
    names = [f"bulk-1.{number}.tar.gz" for number in range(40)]
    for name in names:
        index.add_bytes("bulk", name, LARGE, size=len(LARGE))
        index.fail(f"/packages/{name}", slowly)
    yield names
    go_on.set()


def test_abandoned_downloads_are_dropped(server, index, bulk):
    # Exceeds LIMIT_FETCH_REST.
    index.add_bytes("small", "small-1.0.tar.gz", b"small")
    assert server.get("/simple/bulk/").status == 200
    with contextlib.ExitStack() as stack:
        for name in bulk:
            stack.enter_context(ask(server, merging.url_of("bulk", name), CROWD))
        serving.wait_for(lambda: len(requests(index, "/packages/bulk-")) == SHARE, SOON, "it has its share")
        serving.wait_for(lambda: metric(server, "upstream_files_waiting") == len(bulk) - SHARE, SOON, "the others wait")
    # The other client gets an answer though these downloads do not continue.
    assert status(ask(server, merging.url_of("small", "small-1.0.tar.gz"), OTHER)) == 200
    serving.wait_for(lambda: metric(server, "upstream_files_under_way") == 0, SOON, "all is dropped")
    assert metric(server, "upstream_files_waiting") == 0
    assert metric(server, "upstream_files_dropped_total") == len(bulk)
    assert len(requests(index, "/packages/bulk-")) < len(bulk) / 2
    assert metric(server, "upstream_file_bytes_fetched_total") < len(bulk) * len(LARGE) / 20
    assert metric(server, "upstream_under_way_bytes") <= len(bulk) * FIRST_PART
    # A new request continues the partial downloads.
    begun = requests(index, "/packages/bulk-")[0]
    index.mend(begun)
    assert server.get(merging.url_of("bulk", begun.removeprefix("/packages/"))).body == LARGE
    ranges = [one.headers.get("Range") for one in index.asked if one.path == begun]
    assert len(ranges) == 2 and not ranges[0] and ranges[1].startswith("bytes="), ranges


def test_clients_that_leave_behind_tls(serve, index, bulk, tmp_path):
    if not shutil.which("openssl"):
        pytest.skip("there is no openssl")
    authority = Authority(tmp_path)
    secure = serve(None, config=merging.config(index, concurrency=CONCURRENCY), authority=authority)
    assert secure.get("/simple/bulk/").status == 200
    with contextlib.ExitStack() as stack:
        for name in bulk[:10]:
            plain = connect(secure, CROWD)
            one = stack.enter_context(authority.context().wrap_socket(plain, server_hostname="127.0.0.1"))
            one.sendall(f"GET {merging.url_of('bulk', name)} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        serving.wait_for(lambda: len(requests(index, "/packages/bulk-")) == SHARE, SOON, "it has its share")
        serving.wait_for(lambda: metric(secure, "upstream_files_waiting") == 10 - SHARE, SOON, "the others wait")
    serving.wait_for(lambda: metric(secure, "upstream_files_dropped_total") == 10, SOON, "all is dropped")


def test_queue_is_bounded(server, index, bulk):
    """A client over the bound is told to retry; others are not affected."""
    # Exceeds LIMIT_FILES_WAITING; and LIMIT_RETRY_AFTER is told. Exceeds LIMIT_RETRY_AFTER.
    for number in range(3):
        index.add_bytes("small", f"small-1.{number}.tar.gz", b"small", size=5)
    wanted = 512 * 3 // 4 + SHARE + 30  # LIMIT_FILES_WAITING
    for number in range(len(bulk), wanted):
        index.add_bytes("bulk", f"bulk-1.{number}.tar.gz", b"bulk", size=4)
    assert server.get("/simple/bulk/").status == 200
    with contextlib.ExitStack() as stack:
        for name in bulk:
            stack.enter_context(ask(server, merging.url_of("bulk", name), CROWD))
        serving.wait_for(lambda: metric(server, "upstream_files_waiting") == len(bulk) - SHARE, SOON, "they wait")
        crowd = [stack.enter_context(ask(server, merging.url_of("bulk", f"bulk-1.{number}.tar.gz"), CROWD))
                 for number in range(len(bulk), wanted)]
        serving.wait_for(lambda: metric(server, "upstream_files_refused_total") == 30, SOON, "some are refused")
        assert metric(server, "upstream_files_waiting") == 512 * 3 // 4
        serving.wait_for(lambda: len(select.select(crowd, [], [], 0)[0]) == 30, SOON, "they are told")
        for one in select.select(crowd, [], [], 0)[0]:
            head = one.recv(1000).decode()
            assert head.startswith("HTTP/1.1 503 ") and "\r\nRetry-After: 5\r\n" in head, head
        assert status(ask(server, merging.url_of("small", "small-1.0.tar.gz"), OTHER)) == 200


def test_turns_go_round_the_clients(server, index, bulk):
    """A client that waits for forty files gets the same turns as one that waits for one."""
    for number in range(3):
        index.add_bytes("small", f"small-1.{number}.tar.gz", b"small", size=5)
    with contextlib.ExitStack() as stack:
        for name in bulk:
            stack.enter_context(ask(server, merging.url_of("bulk", name), CROWD))
        serving.wait_for(lambda: len(requests(index, "/packages/bulk-")) == SHARE, SOON, "it has its share")
        for number in range(3):
            assert status(ask(server, merging.url_of("small", f"small-1.{number}.tar.gz"), OTHER)) == 200
        assert len(requests(index, "/packages/bulk-")) == SHARE


def test_made_up_names(server, index):
    """Two thousand of them, and an install by another client."""
    index.add_bytes("known", "known-1.0.tar.gz", b"known")
    assert merging.names(server, "known")
    for number in range(20):
        index.add_bytes(f"wanted-{number}", f"wanted-{number}-1.0.tar.gz", b"wanted")
    go_on = threading.Event()
    made_up = [f"made-up-{number}" for number in range(2000)]

    def slowly(handler, _):
        go_on.wait(merging.PATIENT_S)
        handler.start(404)
    for name in made_up:
        index.fail(name, slowly)
    try:
        with contextlib.ExitStack() as stack:
            for name in made_up[:800]:
                stack.enter_context(ask(server, f"/simple/{name}/", CROWD))
            serving.wait_for(lambda: metric(server, "upstream_pages_waiting") == 800 - SHARE, SOON, "they wait")
            assert status(ask(server, "/simple/known/", CROWD)) == 200
            for number in range(20):
                assert status(ask(server, f"/simple/wanted-{number}/", OTHER)) == 200
            assert len(requests(index, "/simple/made-up-")) == SHARE
        serving.wait_for(lambda: metric(server, "upstream_pages_waiting") == 0, SOON, "no request waits for them")
        assert metric(server, "upstream_pages_dropped_total") == 800 - SHARE
        assert len(requests(index, "/simple/made-up-")) == SHARE
    finally:
        go_on.set()
