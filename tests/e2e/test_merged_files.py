# SPDX-License-Identifier: Apache-2.0
"""Upstream's files under our URLs: their bytes, and what the cache keeps: never a file that differs from upstream's page or
is incomplete."""
import hashlib
import http.client
import json
import os
import subprocess
import zipfile

import pytest

import merging
import serving
import storelib

SOON = 120
SIZE = 300_000


@pytest.fixture(name="wheel")
def wheel_fixture(tmp_path, index):
    wheel = storelib.make_wheel(tmp_path / "theirs", "six", "1.0", size=SIZE)
    index.add("six", wheel)
    return wheel


@pytest.fixture(name="server")
def server_fixture(serve, index, wheel):
    return serve(None, config=merging.config(index))


def path_of(wheel):
    return merging.url_of("six", wheel.name)


def whatever_is_there(server):
    folder = server.catalog.with_name("catalog.db.files")
    return [one for one in folder.rglob("*") if one.is_file()]


def wait_until_empty(server):
    """Clients get their answer before the cache is clean."""
    serving.wait_for(lambda: not whatever_is_there(server), SOON, "nothing is left")


def completes(server, path, headers=None):
    """The reply; None where it did not arrive completely."""
    try:
        return server.get(path, headers)
    except (OSError, http.client.HTTPException):
        return None


def fetch_when_well(server, wheel):
    """A failure is remembered for some seconds."""
    def body():
        reply = completes(server, path_of(wheel))
        return reply is not None and reply.status == 200 and reply.body
    return serving.wait_for(body, SOON, "the next try")


def test_file_comes_once_and_stays(server, index, wheel):
    data = wheel.path.read_bytes()
    for _ in range(3):
        reply = server.get(path_of(wheel))
        assert (reply.status, reply.body) == (200, data)
        assert reply["ETag"] == f'"{wheel.sha256}"'
        assert "immutable" in reply["Cache-Control"]
        assert reply["Content-Length"] == str(len(data))
    assert index.count(f"/packages/{wheel.name}") == 1
    merging.wait_until_kept(server, wheel.name)
    page = server.get("/simple/six/", {"Accept": "application/vnd.pypi.simple.v1+json"})
    assert json.loads(page.body)["files"][0]["url"] == f"../../files/upstream/six/{wheel.name}"


def test_conditional_and_range_requests(server, index, wheel):
    data = wheel.path.read_bytes()
    cold = server.get(path_of(wheel), {"Range": "bytes=-1000"})
    assert (cold.status, cold.body) == (206, data[-1000:])
    assert cold["Content-Range"] == f"bytes {len(data) - 1000}-{len(data) - 1}/{len(data)}"
    warm = server.get(path_of(wheel), {"Range": "bytes=10-19"})
    assert (warm.status, warm.body) == (206, data[10:20])
    assert server.get(path_of(wheel), {"Range": f"bytes={len(data)}-"}).status == 416
    assert server.get(path_of(wheel), {"If-None-Match": f'"{wheel.sha256}"'}).status == 304
    assert server.get(path_of(wheel), {"If-Range": '"other"', "Range": "bytes=0-0"}).body == data
    assert index.count(f"/packages/{wheel.name}") == 1


def test_what_the_client_has_already_is_not_fetched(server, index, wheel):
    assert server.get(path_of(wheel), {"If-None-Match": f'"{wheel.sha256}"'}).status == 304
    assert index.count(f"/packages/{wheel.name}") == 0


def test_head_is_answered_from_the_page(server, index, wheel):
    for _ in range(2):  # cold and warm
        reply = server.get(path_of(wheel), method="HEAD")
        assert (reply.status, reply.body, reply["Content-Length"]) == (200, b"", str(wheel.size))
        assert reply["ETag"] == f'"{wheel.sha256}"'
        if not merging.kept(server):
            assert index.count(f"/packages/{wheel.name}") == 0
            server.get(path_of(wheel))
            merging.wait_until_kept(server, wheel.name)


def test_names_that_upstream_does_not_have(server, index):
    for path in ("/files/upstream/six/six-9.9-py3-none-any.whl", "/files/upstream/seven/seven-1.0-py3-none-any.whl",
                 "/files/upstream/six/..%2f..%2fcatalog.db", "/files/upstream/six/.hidden", "/files/upstream/Six/x.whl"):
        assert server.get(path).status in (400, 404), path
    assert {one.path for one in index.asked} <= {"/simple/six/", "/simple/seven/"}


def test_metadata_comes_from_upstream(server, index, wheel):
    for _ in range(2):
        reply = server.get(path_of(wheel) + ".metadata")
        assert (reply.status, reply.body, reply["ETag"]) == (200, wheel.metadata, f'"{wheel.metadata_sha256}"')
    assert index.count(f"/packages/{wheel.name}.metadata") == 1
    assert index.count(f"/packages/{wheel.name}") == 0


@pytest.mark.parametrize("how", [merging.status(404), merging.status(403), merging.other_bytes, merging.reset])
def test_metadata_that_upstream_lacks_is_read_from_the_wheel(server, index, wheel, how):
    index.fail(f"/packages/{wheel.name}.metadata", how)
    reply = server.get(path_of(wheel) + ".metadata")
    assert (reply.status, reply.body, reply["ETag"]) == (200, wheel.metadata, f'"{wheel.metadata_sha256}"')
    merging.wait_until_kept(server, wheel.name, f"{wheel.name}.metadata")
    assert server.get(path_of(wheel)).body == wheel.path.read_bytes()
    assert index.count(f"/packages/{wheel.name}") == 1


def test_metadata_that_is_nowhere_right(serve, index, wheel):
    index.fail(f"/packages/{wheel.name}.metadata", merging.status(404))
    index.change("six", wheel.name, core_metadata={"sha256": "0" * 64})
    server = serve(None, config=merging.config(index))
    reply = server.get(path_of(wheel) + ".metadata")
    assert reply.status == 502 and b"hash" in reply.body, reply.body
    merging.wait_until_kept(server, wheel.name)


@pytest.mark.parametrize("how, status", [(None, 200), (merging.status(404), 404), (merging.other_bytes, 502)])
def test_metadata_of_an_sdist_is_upstreams_alone(serve, index, how, status):
    """No sdist is downloaded for it, because the PKG-INFO in it is not reliable."""
    name, metadata = "six-1.0.tar.gz", b"Metadata-Version: 2.1\nName: six\nVersion: 1.0\n"
    index.add_bytes("six", name, b"not asked for", core_metadata={"sha256": hashlib.sha256(metadata).hexdigest()})
    index.files[f"/packages/{name}.metadata"] = metadata
    if how:
        index.fail(f"/packages/{name}.metadata", how)
    server = serve(None, config=merging.config(index))
    reply = server.get(merging.url_of("six", name) + ".metadata")
    assert reply.status == status and (status != 200 or reply.body == metadata)
    assert index.count(f"/packages/{name}") == 0


def test_metadata_that_no_page_promises(serve, index, wheel):
    index.change("six", wheel.name, core_metadata=False)
    server = serve(None, config=merging.config(index))
    assert server.get(path_of(wheel) + ".metadata").status == 404
    assert index.count(f"/packages/{wheel.name}.metadata") == 0


@pytest.mark.parametrize("how", [merging.other_bytes, merging.short, merging.long, merging.status(403)],
                         ids=["other-bytes", "short", "long", "403"])
def test_what_is_not_right_is_never_completed_nor_kept(server, index, wheel, how):
    index.fail(f"/packages/{wheel.name}", how)
    for headers in (None, {"Range": "bytes=0-9"}):
        reply = completes(server, path_of(wheel), headers)
        assert reply is None or reply.status == 502, reply.status
    wait_until_empty(server)
    index.mend(f"/packages/{wheel.name}")
    assert fetch_when_well(server, wheel) == wheel.path.read_bytes()
    merging.wait_until_kept(server, wheel.name)


def test_other_bytes_of_unknown_size(serve, index, wheel):
    del index.pages["six"][wheel.name]["size"]
    server = serve(None, config=merging.config(index))
    index.fail(f"/packages/{wheel.name}", merging.other_bytes)
    reply = completes(server, path_of(wheel))
    assert reply is None or reply.status == 502
    index.mend(f"/packages/{wheel.name}")
    assert fetch_when_well(server, wheel) == wheel.path.read_bytes()


def test_upstream_that_forgot_a_file_it_lists(server, index, wheel):
    del index.files[f"/packages/{wheel.name}"]
    reply = server.get(path_of(wheel))
    assert reply.status == 404 and reply["Cache-Control"] == "no-store"
    wait_until_empty(server)


@pytest.mark.parametrize("how", [merging.cut, merging.reset, merging.status(503), merging.status(429)],
                         ids=["cut", "reset", "503", "429"])
def test_what_fails_for_a_moment_is_tried_again(server, index, wheel, how):
    index.fail(f"/packages/{wheel.name}", how, times=1)
    assert server.get(path_of(wheel)).body == wheel.path.read_bytes()
    assert index.count(f"/packages/{wheel.name}") == 2
    merging.wait_until_kept(server, wheel.name)


@pytest.mark.parametrize("how", [merging.cut, merging.status(503)], ids=["cut", "503"])
def test_what_fails_again_and_again_is_given_up(server, index, wheel, how):
    index.fail(f"/packages/{wheel.name}", how)
    reply = completes(server, path_of(wheel))
    assert reply is None or reply.status == 502
    assert index.count(f"/packages/{wheel.name}") < 10
    wait_until_empty(server)
    index.mend(f"/packages/{wheel.name}")
    assert fetch_when_well(server, wheel) == wheel.path.read_bytes()


def test_cut_download_is_continued(server, index, wheel):
    index.fail(f"/packages/{wheel.name}", merging.cut, times=1)
    server.get(path_of(wheel))
    ranges = [one.headers.get("Range") for one in index.asked if one.path == f"/packages/{wheel.name}"]
    assert ranges == [None, f"bytes={wheel.size // 2}-"]


def test_slow_file_is_streamed(server, index, wheel):
    """The client gets the first part before the server has the rest."""
    go_on = index.hold(f"/packages/{wheel.name}", after=200_000)
    data = wheel.path.read_bytes()
    with server.socket() as connection:
        connection.sendall(f"GET {path_of(wheel)} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
        got = b""
        while len(got) < 100_000:
            got += connection.recv(65536)
        assert merging.kept(server) == []
        go_on.set()
        got += serving.read_all(connection)
    assert got.endswith(data) and got.partition(b"\r\n\r\n")[2] == data


def test_drip(server, index, wheel):
    index.fail(f"/packages/{wheel.name}", merging.drip)
    assert server.get(path_of(wheel)).body == wheel.path.read_bytes()


def test_redirect(serve, index, wheel):
    server = serve(None, config=merging.config(index, files="redirect"))
    reply = server.get(path_of(wheel))
    assert reply.status == 302
    assert reply["Location"] == f"{index.url.removesuffix('simple/')}packages/{wheel.name}"
    assert server.get(path_of(wheel) + ".metadata")["Location"].endswith(f"{wheel.name}.metadata")
    assert index.count(f"/packages/{wheel.name}") == 0


def test_file_that_upstream_took_away_is_still_there(serve, index, wheel, tmp_path):
    """Lock files have its URL."""
    server = serve(None, config=merging.config(index, max_age=0, negative_max_age=0))
    data = server.get(path_of(wheel)).body
    other = storelib.make_wheel(tmp_path / "theirs", "six", "2.0")
    index.add("six", other)
    del index.pages["six"][wheel.name], index.files[f"/packages/{wheel.name}"]
    serving.wait_for(lambda: merging.names(server, "six") == [other.name], SOON, "it is on the page no more")
    assert server.get(path_of(wheel)).body == data
    del index.pages["six"]  # all of it
    serving.wait_for(lambda: merging.status_of(server, "six") == 404, SOON, "upstream has it no more")
    assert server.get(path_of(wheel)).body == data
    assert server.get(path_of(other)).status == 404


def test_file_that_cannot_be_cached_is_complete_for_all(server, wheel):
    """A file is in the place of its cache folder."""
    place = server.catalog.with_name("catalog.db.files") / "six"
    place.write_text("")
    for _ in range(3):
        assert server.get(path_of(wheel)).body == wheel.path.read_bytes()
    serving.wait_for(lambda: "not cached" in server.errors(), SOON, "the log says so")
    assert server.get(path_of(wheel)).body == wheel.path.read_bytes()
    place.unlink()
    assert server.get(path_of(wheel)).body == wheel.path.read_bytes()


def test_least_recently_used_file_is_evicted_first(serve, index, wheel, tmp_path):
    data = {}
    for version in range(2, 7):
        one = storelib.make_wheel(tmp_path / "theirs", "six", f"{version}.0", size=SIZE)
        index.add("six", one)
        data[one.name] = one.path.read_bytes()
    server = serve(None, config=merging.config(index, files_size=SIZE * 4))
    for number, (name, body) in enumerate(data.items()):
        assert server.get(merging.url_of("six", name)).body == body
        path = serving.wait_for(lambda name=name: [one for one in whatever_is_there(server) if one.name == name], SOON, name)[0]
        # The mtimes come from the file system, and two may be equal.
        os.utime(path, (storelib.OLD + number, storelib.OLD + number))
    serving.wait_for(lambda: sum(one.stat().st_size for one in whatever_is_there(server)) <= SIZE * 4, SOON, "room")
    names = list(data)
    assert merging.kept(server) == names[-len(merging.kept(server)):]
    assert server.get(merging.url_of("six", names[0])).body == data[names[0]]
    assert index.count(f"/packages/{names[0]}") <= 2


def test_file_that_is_larger_than_the_file_cache(serve, index, wheel):
    server = serve(None, config=merging.config(index, files_size=1000))
    reply = server.get(path_of(wheel))
    assert reply.status == 302 and reply["Location"].endswith(f"/packages/{wheel.name}")
    assert whatever_is_there(server) == []


@pytest.fixture(name="small_disk")
def small_disk_fixture(tmp_path):
    place = tmp_path / "disk"
    place.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", place], capture_output=True, check=False).returncode:
        pytest.skip("no tmpfs can be mounted here")
    yield place
    subprocess.run(["umount", "-l", place], check=True)


def test_disk_that_is_full(serve, index, wheel, small_disk, tmp_path):
    """A file that does not fit is neither completed nor kept, and the next try succeeds when there is room."""
    large = storelib.make_wheel(tmp_path / "theirs", "six", "2.0", size=3_000_000)
    index.add("six", large)
    server = serve(None, config=merging.config(index, files_path=small_disk / "files"))
    reply = completes(server, path_of(large))
    assert reply is None or reply.status == 302
    serving.wait_for(lambda: "the disk has no room for" in server.errors(), SOON, "the log tells")

    def is_sent_to_upstream():
        reply = completes(server, path_of(large))
        return reply is not None and reply.status == 302
    serving.wait_for(is_sent_to_upstream, SOON, "a redirect")
    serving.wait_for(lambda: not [one for one in small_disk.rglob("*") if one.is_file()], SOON, "nothing is left")
    assert server.get(path_of(wheel)).body == wheel.path.read_bytes()
    subprocess.run(["mount", "-o", "remount,size=20m", small_disk], check=True)
    assert fetch_when_well(server, large) == large.path.read_bytes()
    assert zipfile.ZipFile(large.path).testzip() is None
