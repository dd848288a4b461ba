# SPDX-License-Identifier: Apache-2.0
"""Complete downloads are counted, in a file beside the catalog, and nothing else is."""
import datetime
import re
import socket

import pytest

import merging
import pages
import serving
import storelib

LARGE = 40_000_000  # more than the buffers of sockets hold
LINE = re.compile(r"(?P<key>\S+) (?P<count>\d+) (?P<first>\d{4}-\d\d-\d\d) (?P<day>\d{4}-\d\d-\d\d)")


def today():
    return datetime.datetime.now(datetime.timezone.utc).date()


def counts(server):
    """{"platform/file": count} of the file that the server wrote at its end."""
    server.stop()
    path = server.catalog.with_name("catalog.db.downloads")
    first, *lines, last = path.read_text().splitlines()
    assert re.fullmatch(r"wheelcache-downloads 2 \d{4}-\d\d-\d\d", first)
    assert last == f"end {len(lines)}"
    found = [LINE.fullmatch(line) for line in lines]
    assert all(one["first"] <= one["day"] for one in found)
    assert all(datetime.date.fromisoformat(one["day"]) >= today() - datetime.timedelta(days=1) for one in found)
    return {one["key"]: int(one["count"]) for one in found}


@pytest.fixture(name="store", scope="module")
def store_fixture(tmp_path_factory):
    store = tmp_path_factory.mktemp("downloads") / "store"
    for version in ("1.0", "2.0", "3.0", "4.0"):
        storelib.make_wheel(store, "six", version, size=20_000)
    storelib.make_wheel(store, "large", "1.0", size=LARGE)
    return store


def url(version):
    return f"/files/wheels/six/six-{version}-py3-none-any.whl"


def ask_and_leave(server, path):
    """Reads the beginning of the answer, and closes."""
    with server.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: here\r\n\r\n".encode())
        assert connection.recv(12) == b"HTTP/1.1 200"


def test_whole_files_are_counted(serve, store):
    server = serve(store)
    size = len(server.get(url("1.0")).body)
    assert size > 20_000
    assert server.get(url("1.0")).status == 200
    tag = server.get(url("2.0"))["ETag"]
    assert server.get(url("2.0"), {"Range": f"bytes=0-{size - 1}"}).status == 206  # a range over all of it, as some clients request
    ask_and_leave(server, "/files/wheels/large/large-1.0-py3-none-any.whl")
    for headers, method, status in (({}, "HEAD", 200), ({"If-None-Match": tag}, "GET", 304),
                                    ({"Range": "bytes=-1000"}, "GET", 206), ({"Range": "bytes=0-999"}, "GET", 206),
                                    ({"Range": "bytes=10-"}, "GET", 206)):
        assert server.get(url("2.0"), headers, method).status == status
    assert server.get(url("3.0") + ".metadata").status == 200
    assert server.get(url("4.0"), method="HEAD").status == 200
    assert server.get(url("5.0")).status == 404
    assert server.get("/simple/six/", {"Accept": pages.JSON}).status == 200
    assert counts(server) == {"wheels/six-1.0-py3-none-any.whl": 2, "wheels/six-2.0-py3-none-any.whl": 2}


def test_servers_on_one_catalog_add_up(serve, store, tmp_path):
    state = tmp_path / "state"
    one, other = serve(store, state=state), serve(store, state=state)
    for server, times in ((one, 3), (other, 4)):
        connection = server.connect()
        for _ in range(times):
            assert serving.ask(connection, url("1.0")).status == 200
        connection.close()
    assert counts(one) == {"wheels/six-1.0-py3-none-any.whl": 3}
    assert counts(other) == {"wheels/six-1.0-py3-none-any.whl": 7}


def test_files_of_upstream_are_counted(serve, index, tmp_path):
    """As they come, and out of the cache; not their metadata, and not what upstream itself sends."""
    six, large = (storelib.make_wheel(tmp_path / "theirs", name, "1.0", size=size) for name, size in (("six", 20_000), ("large", LARGE)))
    for wheel in (six, large):
        index.add(wheel.name.split("-")[0], wheel)
    server = serve(None, config=merging.config(index))
    path = merging.url_of("six", six.name)
    assert server.get(path + ".metadata").status == 200 and server.get(path, method="HEAD").status == 200
    size = len(server.get(path).body)
    merging.wait_until_kept(server, six.name, f"{six.name}.metadata")
    assert server.get(path).status == 200
    assert server.get(path, {"Range": "bytes=0-99"}).status == 206
    assert server.get(path, {"Range": f"bytes=0-{size - 1}"}).status == 206
    assert server.get(path, {"If-None-Match": server.get(path, method="HEAD")["ETag"]}).status == 304
    assert len(server.get(merging.url_of("large", large.name)).body) > LARGE
    assert counts(server) == {f"upstream/upstream/six/{six.name}": 3, f"upstream/upstream/large/{large.name}": 1}


def test_redirects_to_upstream_are_not_counted(serve, index, tmp_path):
    wheel = storelib.make_wheel(tmp_path / "theirs", "six", "1.0")
    index.add("six", wheel)
    server = serve(None, config=merging.config(index, files="redirect"))
    merging.page(server, "six")
    assert server.get(merging.url_of("six", wheel.name)).status == 302
    assert counts(server) == {}
