# SPDX-License-Identifier: Apache-2.0
"""Upstreams that lie about their files, and clients that request files that do not exist."""
import base64
import http.client

import pytest

import merging
import storelib


@pytest.fixture(name="wheel")
def wheel_fixture(tmp_path, index):
    wheel = storelib.make_wheel(tmp_path / "theirs", "six", "1.0", size=100_000)
    index.add("six", wheel)
    return wheel


def completes(server, path):
    """The reply; None where it did not arrive completely."""
    try:
        return server.get(path)
    except (OSError, http.client.HTTPException):
        return None


def packed(handler, data):
    """Declares a Content-Encoding that the bytes do not have."""
    handler.start(200, data, Content_Encoding="gzip")
    handler.wfile.write(data)


def test_empty_body_is_no_file(serve, index, wheel):
    """It has no byte that could be held back until its hash is known."""
    del index.pages["six"][wheel.name]["size"]
    server = serve(None, config=merging.config(index))
    index.fail(f"/packages/{wheel.name}", lambda handler, _: handler.start(200))
    reply = completes(server, merging.url_of("six", wheel.name))
    assert reply is None or reply.status == 502, reply.status


def test_metadata_and_wheel_that_both_fail_are_answered(serve, index, wheel):
    """Each takes longer than a failure is cached."""
    server = serve(None, config=merging.config(index))
    for name in (wheel.name, f"{wheel.name}.metadata"):
        index.fail(f"/packages/{name}", merging.status(503))
    reply = completes(server, merging.url_of("six", f"{wheel.name}.metadata"))
    assert reply is not None and reply.status == 502
    assert index.count(f"/packages/{wheel.name}") < 10


def test_compressed_file_without_a_hash_is_refused(serve, index, wheel):
    index.change("six", wheel.name, hashes={})
    server = serve(None, config=merging.config(index))
    index.fail(f"/packages/{wheel.name}", packed)
    reply = completes(server, merging.url_of("six", wheel.name))
    assert reply is None or reply.status == 502, reply.status


def test_parts_of_two_files_without_a_hash_are_not_joined(serve, index, wheel):
    index.change("six", wheel.name, hashes={})
    server = serve(None, config=merging.config(index))
    path = f"/packages/{wheel.name}"

    def first(handler, data):
        merging.cut(handler, data)
        index.files[path] = bytes(len(data))
    index.fail(path, first, times=1)
    reply = completes(server, merging.url_of("six", wheel.name))
    assert reply is None or reply.status == 502, reply.status


def needs_password(handler, data):
    right = "Basic " + base64.b64encode(b"me:secret").decode()
    if handler.headers.get("Authorization") != right:
        handler.start(401)
        return
    handler.start(200, data)
    handler.wfile.write(data)


def test_files_of_an_index_with_a_password(serve, index, wheel):
    for name in (wheel.name, f"{wheel.name}.metadata"):
        index.fail(f"/packages/{name}", needs_password)
    url = index.url.replace("http://", "http://me:secret@")
    server = serve(None, config=merging.config(index).replace(index.url, url))
    reply = server.get(merging.url_of("six", wheel.name))
    assert (reply.status, reply.body) == (200, wheel.path.read_bytes())
    assert server.get(merging.url_of("six", f"{wheel.name}.metadata")).body == wheel.metadata
    assert "secret" not in server.errors()


def test_password_goes_to_no_other_origin(serve, index, wheel):
    with merging.indexes() as start:
        other = start()
        other.files[f"/packages/{wheel.name}"] = wheel.path.read_bytes()
        index.change("six", wheel.name, url=f"http://127.0.0.1:{other.port}/packages/{wheel.name}")
        url = index.url.replace("http://", "http://me:secret@")
        server = serve(None, config=merging.config(index, allow_private="yes").replace(index.url, url))
        assert server.get(merging.url_of("six", wheel.name)).body == wheel.path.read_bytes()
        assert all("Authorization" not in one.headers for one in other.asked)


def test_file_on_another_private_address_is_not_fetched(serve, index, wheel):
    """Otherwise a page could make the server request anything that its network reaches."""
    with merging.indexes() as start:
        other = start()
        other.files[f"/packages/{wheel.name}"] = wheel.path.read_bytes()
        index.change("six", wheel.name, url=f"http://127.0.0.1:{other.port}/packages/{wheel.name}")
        server = serve(None, config=merging.config(index))
        assert server.get(merging.url_of("six", wheel.name)).status == 502
        assert other.asked == []
