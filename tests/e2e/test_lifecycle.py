# SPDX-License-Identifier: Apache-2.0
"""The life of a server: where it listens, how it notices changes, how it stops."""
import hashlib
import http.client
import json
import os
import pathlib
import signal
import socket
import stat
import time

import pytest

import pages
import serving
import storelib

EVENTUALLY = 30  # "within a second", or with the next scan, and what a loaded machine adds


@pytest.fixture(name="store")
def store_fixture(tmp_path):
    """A store of one platform with the project foo."""
    store = tmp_path / "store"
    storelib.make_wheel(store, "foo", "1.0")
    return store


def test_what_needs_many_libraries_is_loaded_when_it_is_needed(serve, store):
    """libcurl and libxml2 take more time at a start than all else. A server that merges an upstream needs the first."""
    def has(server, library):
        return library in pathlib.Path(f"/proc/{server.process.pid}/maps").read_text(encoding="ascii")

    alone, merging = serve(store), serve(store, config="[upstream]\nmerge = yes\nurl = http://127.0.0.1:9/simple/\n")
    assert alone.get("/simple/foo/").status == 200
    assert has(alone, "libmicrohttpd") and not has(alone, "libcurl") and not has(alone, "libxml2")
    assert has(merging, "libcurl")


def files_of(server, project="foo", view=""):
    """File name -> SHA-256 as the page says; None where there is no page."""
    path = f"{view}/simple/{project}/"
    reply = server.get(path, {"Accept": pages.JSON})
    if reply.status == 404:
        return None
    assert reply.status == 200
    return {one.filename: one.sha256 for one in pages.json_files(reply.body, server.url + path)}


def projects_of(server):
    """The root page: it follows a moment after the pages of the projects."""
    return pages.json_projects(server.get("/simple/", {"Accept": pages.JSON}).body)


def file_status(server, wheel):
    return server.get(f"/files/wheels/{wheel.name.split('-')[0]}/{wheel.name}").status


def test_port_0_is_a_free_port_and_the_url_is_printed(serve, store):
    first, second = serve(store), serve(store)
    assert first.host == second.host == "127.0.0.1"
    assert 0 < first.port != second.port
    assert set(files_of(first)) == {"foo-1.0-py3-none-any.whl"}


def test_ipv6(serve, store):
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError as reason:
        pytest.skip(f"no IPv6 here: {reason}")
    server = serve(store, listen="[::1]:0")
    assert server.url == f"http://[::1]:{server.port}"
    assert set(files_of(server)) == {"foo-1.0-py3-none-any.whl"}


def test_unix_socket(serve, store, tmp_path):
    path = tmp_path / "socket"
    server = serve(store, listen=f"unix:{path}")
    assert stat.S_ISSOCK(path.stat().st_mode)
    assert str(path) in server.url
    connection = http.client.HTTPConnection("localhost")
    connection.sock = socket.socket(socket.AF_UNIX)
    connection.sock.connect(str(path))
    reply = serving.ask(connection, "/simple/foo/", {"Accept": pages.JSON})
    assert reply.status == 200 and json.loads(reply.body)["name"] == "foo"
    connection.close()
    server.stop()
    again = serve(store, listen=f"unix:{path}")  # the socket that an earlier server left does not matter
    again.stop()


def test_port_in_use_is_one_clear_line(serve, store, wheelcache, tmp_path):
    server = serve(store)
    done = wheelcache("serve", store, "--listen", f"127.0.0.1:{server.port}", "--catalog", tmp_path / "other.db")
    assert done.returncode == 1
    (line,) = [line for line in done.stderr.splitlines() if "error" in line]
    assert f"127.0.0.1:{server.port}: Address already in use" in line


def test_second_server_on_the_same_catalog(serve, store, tmp_path):
    state = tmp_path / "state"
    first = serve(store, state=state)
    second = serve(store, state=state)
    assert files_of(first) == files_of(second) != {}


def test_restart_answers_from_the_catalog(serve, store, tmp_path):
    """With a catalog it does not wait for a scan, and the pages have the same bytes."""
    state = tmp_path / "state"
    first = serve(store, state=state)
    before = first.get("/simple/foo/")
    first.stop()
    second = serve(store, state=state)
    after = second.get("/simple/foo/")
    assert (after.body, after["ETag"]) == (before.body, before["ETag"])


def test_new_wheel_appears_and_a_removed_one_goes(serve, store):
    server = serve(store, "--rescan", "1")
    newer = storelib.make_wheel(store, "foo", "1.1")
    other = storelib.make_wheel(store, "other", "1.0")
    serving.wait_for(lambda: newer.name in files_of(server) and files_of(server, "other"), EVENTUALLY, "new wheels")
    assert files_of(server)[newer.name] == newer.sha256
    assert [file_status(server, one) for one in (newer, other)] == [200, 200]
    serving.wait_for(lambda: projects_of(server) == ["foo", "other"], EVENTUALLY, "the list with it")

    newer.path.unlink()
    other.path.unlink()
    serving.wait_for(lambda: newer.name not in files_of(server) and files_of(server, "other") is None, EVENTUALLY,
                     "the pages without them")
    serving.wait_for(lambda: [file_status(server, one) for one in (newer, other)] == [404, 404], EVENTUALLY,
                     "the files' end: the server keeps an answer for a second")
    serving.wait_for(lambda: projects_of(server) == ["foo"], EVENTUALLY, "the list without it")


def test_page_follows_bytes_that_were_overwritten(serve, store):
    """The folder's mtime stays; the server must look at the file all the same."""
    server = serve(store, "--rescan", "1")
    tag = server.get("/simple/foo/")["ETag"]
    path = store / "foo-1.0-py3-none-any.whl"
    other = storelib.make_wheel(store.parent / "elsewhere", "foo", "1.0", files={"foo.py": b"other = True\n"})
    with open(path, "r+b") as target:
        target.write(other.path.read_bytes())
        target.truncate()
    serving.wait_for(lambda: files_of(server)[path.name] == other.sha256, EVENTUALLY, "the new hash")
    reply = server.get(f"/files/wheels/foo/{path.name}")
    assert hashlib.sha256(reply.body).hexdigest() == other.sha256
    assert server.get("/simple/foo/")["ETag"] != tag


def test_index_of_another_process_shows(serve, store, wheelcache):
    server = serve(store, "--rescan", "0")
    newer = storelib.make_wheel(store, "foo", "1.1")
    time.sleep(1.5)
    assert newer.name not in files_of(server)  # no scan has run
    done = wheelcache("index", "--catalog", server.catalog, store)
    assert done.returncode == 0, done.stderr
    serving.wait_for(lambda: newer.name in files_of(server), EVENTUALLY, "what another process indexed")
    assert file_status(server, newer) == 200


def two_platforms(tmp_path):
    store = tmp_path / "platforms"
    storelib.make_wheel(store / "one", "foo", "1.0")
    storelib.make_wheel(store / "two", "foo", "2.0")
    return store


def test_hangup_reads_the_configuration_again(serve, tmp_path):
    store = two_platforms(tmp_path)
    server = serve(config=f"[store]\npath = {store}\n[platform one]\n")
    assert set(files_of(server)) == {"foo-1.0-py3-none-any.whl"}
    assert files_of(server, view="/two") is None
    server.config_path.write_text(f"[store]\npath = {store}\n[platform one]\n[platform two]\n")
    server.signal(signal.SIGHUP)
    serving.wait_for(lambda: server.get("/two/simple/foo/").status == 200, EVENTUALLY, "the new platform")  # 503 until it is read
    assert set(files_of(server, view="/two")) == {"foo-2.0-py3-none-any.whl"}
    serving.wait_for(lambda: set(files_of(server)) == {"foo-1.0-py3-none-any.whl", "foo-2.0-py3-none-any.whl"}, EVENTUALLY,
                     "the page of both")


def test_hangup_with_a_bad_configuration_changes_nothing(serve, tmp_path):
    store = two_platforms(tmp_path)
    server = serve(config=f"[store]\npath = {store}\n[platform one]\n")
    server.config_path.write_text(f"[store]\npath = {store}\n[platform two]\nnonsense = 1\n")
    server.signal(signal.SIGHUP)
    serving.wait_for(lambda: f"{server.config_path}:4" in server.errors(), EVENTUALLY, "a word about line 4")
    assert set(files_of(server)) == {"foo-1.0-py3-none-any.whl"}
    assert files_of(server, view="/two") is None


def slow_download(server, wheel):
    """Starts to download a wheel with small socket buffers; returns the socket and the bytes so far."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
    connection.settimeout(60)
    connection.connect((server.host, server.port))
    connection.sendall(f"GET /files/wheels/fat/{wheel.name} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    data = b""
    while len(data) < 65536:
        data += connection.recv(65536)
    assert data.startswith(b"HTTP/1.1 200 ")
    return connection, data


def listens(server):
    try:
        server.socket().close()
    except OSError:
        return False
    return True


def test_terminate_lets_a_download_end(serve, store):
    fat = storelib.make_wheel(store, "fat", "1.0", size=32 << 20)
    server = serve(store)
    connection, data = slow_download(server, fat)
    server.signal(signal.SIGTERM)
    serving.wait_for(lambda: not listens(server), EVENTUALLY, "the end of new connections")
    time.sleep(0.5)
    assert server.process.poll() is None, "it did not wait"
    with connection:
        head, _, body = data.partition(b"\r\n\r\n")
        body = bytearray(body)
        while len(body) < fat.size and (chunk := connection.recv(1 << 20)):
            body += chunk
    assert hashlib.sha256(body).hexdigest() == fat.sha256, head
    server.stop()


def test_terminate_does_not_wait_for_ever(serve, store):
    fat = storelib.make_wheel(store, "fat", "1.0", size=32 << 20)
    server = serve(store, config="[server]\ntimeout = 2\n")
    connection, _ = slow_download(server, fat)
    begin = time.monotonic()
    with connection:
        server.stop()
    assert time.monotonic() - begin < 25  # it waits 30 for those that read


def test_platform_that_may_change_is_not_immutable(serve, tmp_path):
    store = two_platforms(tmp_path)
    server = serve(config=f"[store]\npath = {store}\n[platform one]\n[platform two]\nmutable = yes\n")
    fixed = server.get("/files/one/foo/foo-1.0-py3-none-any.whl")
    moving = server.get("/files/two/foo/foo-2.0-py3-none-any.whl")
    assert (fixed.status, moving.status) == (200, 200)
    assert "immutable" in fixed["Cache-Control"]
    assert "immutable" not in moving["Cache-Control"]


def test_link_that_leaves_the_store_is_not_followed(serve, store, tmp_path):
    outside = storelib.make_wheel(tmp_path / "outside", "secret", "1.0")
    os.symlink(outside.path, store / outside.name)
    os.symlink(tmp_path / "outside", store / "way-out")
    server = serve(store)
    assert files_of(server, "secret") is None
    assert file_status(server, outside) == 404


def test_wheel_that_became_a_link_out_is_not_sent(serve, store, tmp_path):
    """Between the scan and the request."""
    outside = storelib.make_wheel(tmp_path / "outside", "foo", "1.0", files={"foo.py": b"secret = True\n"})
    server = serve(store, "--rescan", "0")
    inside = store / outside.name
    assert inside.name in files_of(server)
    inside.unlink()
    inside.symlink_to(outside.path)
    reply = server.get(f"/files/wheels/foo/{inside.name}")
    assert reply.status in (403, 404, 503)
    assert outside.path.read_bytes() not in reply.body


def test_catalog_keeps_its_locks(serve, store, wheelcache):
    """A process that closes any descriptor of a database drops all its locks on it (fcntl(2)): then the next process that
    ends takes itself for the last one and removes the log that the server still uses."""
    server = serve(store, "--rescan", "0")
    log = server.catalog.with_name(server.catalog.name + "-wal")
    for number in range(5):
        server.signal(signal.SIGHUP)  # reads the platforms, scans: opens the catalog and closes it again
        serving.wait_for(lambda: server.errors().count("is reloaded") > number, EVENTUALLY, "the hangup")
        newer = storelib.make_wheel(store, "foo", f"2.{number}")
        done = wheelcache("index", "--catalog", server.catalog, store)
        assert done.returncode == 0, done.stderr
        assert log.exists(), "another process took itself for the last one"
        serving.wait_for(lambda: newer.name in files_of(server), EVENTUALLY, "what another process indexed")
    assert "error" not in server.errors()
