# SPDX-License-Identifier: Apache-2.0
"""Hostile uploads, and broken stores: no name is published twice, none comes back, and a client without a token leaves no
trace."""
import json
import os
import signal
import subprocess

import pytest

import serving
import storelib
import uploading

PLATFORM = "ubuntu-22.04-x86_64"
OTHER = "debian-12-x86_64"


@pytest.fixture
def store(tmp_path):
    for platform in (PLATFORM, OTHER):
        storelib.make_wheel(tmp_path / "store" / platform / "f" / "foo", "foo", "1.0")
    return tmp_path / "store"


@pytest.fixture
def server(serve, store):
    server = serve(store)
    server.store = store
    server.token = uploading.add_token(server, "--note", "ci")
    return server


@pytest.fixture
def wheel(tmp_path):
    return storelib.make_wheel(tmp_path / "dist", "bar", "1.0").path


def post_head(length, token):
    """The header of an upload, as bytes."""
    sent = {"Host": "h", "Content-Type": f"multipart/form-data; boundary=b", "Content-Length": length,
            **uploading.authorization(token)}
    return (f"POST /upload/{PLATFORM}/ HTTP/1.1\r\n" + "".join(f"{k}: {v}\r\n" for k, v in sent.items()) + "\r\n").encode()


# --- without a token ---

def test_request_without_a_token_writes_no_audit_line(server, wheel):
    before = uploading.audit(server)
    for _ in range(50):
        assert uploading.upload(server, PLATFORM, wheel, None).status == 401
    assert uploading.audit(server) == before
    answers = {uploading.upload(server, PLATFORM, wheel, "wc_wrong").status for _ in range(60)}
    assert answers == {401, 429}
    assert 0 < len(uploading.audit(server)) - len(before) < 40


def refused(lines):
    return [one for one in lines if one["result"] == "refused"]


def test_flood_of_refused_requests_has_few_lines(server, wheel):
    """Of each token; a change is always written, and the number of the rest when the minute ends, or the server."""
    other = uploading.add_token(server, "--note", "other")
    for _ in range(100):
        assert uploading.upload(server, PLATFORM, wheel, server.token, name="another").status == 400
    for _ in range(3):
        assert uploading.upload(server, PLATFORM, wheel, other, name="another").status == 400
    assert uploading.upload(server, PLATFORM, wheel, server.token).status == 200
    lines = uploading.audit(server)
    assert [(one["who"], one["result"]) for one in lines if one["action"] == "upload"] == \
        [("ci", "refused")] * 10 + [("other", "refused")] * 3 + [("ci", "done")]
    server.stop()
    last = uploading.audit(server)[len(lines):]
    assert [(one["who"], one["action"], one["reason"]) for one in last] == \
        [("ci", "upload", "90 more within a minute have no line")], last


def test_full_audit_log_is_moved(serve, store, wheel, tmp_path):
    """The page of a project and the next lines know the moved files. It names people to who has a token that may read."""
    server = serve(config=f"[store]\npath = {store}\n[change-log]\nmax-size = 4096\n")
    token = uploading.add_token(server, "--note", "ci")
    assert uploading.upload(server, PLATFORM, wheel, token).status == 200
    log = server.catalog.parent / (server.catalog.name + ".audit")
    for number in range(50):
        made = storelib.make_wheel(tmp_path / "more", "more", f"{number}")
        assert uploading.upload(server, PLATFORM, made.path, token).status == 200
    sizes = [one.stat().st_size for one in log.parent.glob(log.name + "*")]
    assert len(sizes) > 2 and max(sizes) < 4096 + 1024, sizes
    for asker, told in [(token, None), (uploading.add_token(server, "--read"), "ci")]:
        page = json.loads(server.get("/-/project/bar?format=json", uploading.authorization(asker)).body)
        assert {one["uploaded_by"] for one in page["files"]} == {told}, page["files"]


def test_no_audit_line_where_uploads_are_off(serve, store, wheel):
    server = serve(store)
    for _ in range(5):
        assert uploading.upload(server, PLATFORM, wheel, "wc_wrong").status == 403
    assert uploading.audit(server) == []


def test_a_token_tells_nothing_of_other_projects(serve, store):
    storelib.make_wheel(store / PLATFORM / "b" / "bar", "bar", "1.0")
    server = serve(config=f"[store]\npath = {store}\n[platform {PLATFORM}]\nprivate = yes\n")
    sent = uploading.authorization(uploading.add_token(server, "--read", "--project", "foo"))
    answers = [server.get(f"/files/{PLATFORM}/{path}", sent) for path in
               ("foo/bar-1.0-py3-none-any.whl", "foo/bar-2.0-py3-none-any.whl", "foo/bar-1.0-py3-none-any.whl.metadata",
                "foo/bar-2.0-py3-none-any.whl.metadata")]
    assert {(one.status, one.body) for one in answers} == {(404, answers[1].body)}
    assert server.get(f"/files/{PLATFORM}/bar/bar-1.0-py3-none-any.whl", sent).status == 403
    assert server.get(f"/files/{PLATFORM}/foo/foo-1.0-py3-none-any.whl", sent).status == 200


# --- a token that counts no more ---

def test_a_token_that_is_revoked_meanwhile_publishes_nothing(server, wheel):
    end = b"--b--\r\n"
    padding = uploading.Part("description", b"x" * 600000)  # more than the server collects
    body, _ = uploading.encode([*uploading.form_of(wheel), padding], boundary="b")
    with server.socket() as connection:
        connection.sendall(post_head(len(body), server.token) + body[:-len(end)])
        serving.wait_for(lambda: list((server.store / PLATFORM).glob("b/bar/.wheelcache-*.tmp")), 30, "its beginning")
        uploading.add_token(server, "--note", "another")
        listed = serving.run("token", "list", "--json", "--catalog", server.catalog)
        ours = next(one["id"] for one in json.loads(listed.stdout)["tokens"] if one["note"] == "ci")
        assert serving.run("token", "revoke", "--catalog", server.catalog, ours).returncode == 0
        connection.sendall(end)
        answer = connection.recv(65536)
    assert answer.startswith(b"HTTP/1.1 401 "), answer
    assert uploading.listed(server, PLATFORM, "bar") == {}
    serving.wait_for(lambda: not (server.store / PLATFORM / "b").exists(), 30, "its end")


def test_field_that_is_too_long(server, wheel):
    # Exceeds LIMIT_FORM_VALUE.
    assert uploading.upload(server, PLATFORM, wheel, server.token, pyversion="a" * 600, summary="b" * 100_000).status == 200
    reply = uploading.upload(server, PLATFORM, wheel, server.token, version="1" * 513)
    assert reply.status == 400 and b"longer than 512 bytes" in reply.body, reply.body


# --- a store that is not as it should be ---

def test_platform_accepts_no_upload_before_its_first_whole_scan(serve, store, wheel, tmp_path):
    """A lost catalog is built again: until then it is not known which names are, or were, taken."""
    away = tmp_path / "away"
    server = serve(config=f"[store]\npath = {store}\n[platform {PLATFORM}]\n[platform late]\npath = {away}\n")
    token = uploading.add_token(server)
    assert server.get("/late/simple/foo/").status == 503
    reply = uploading.upload(server, "late", wheel, token)
    assert reply.status == 503 and reply["Retry-After"], reply.body
    assert not away.exists()
    assert uploading.upload(server, PLATFORM, wheel, token).status == 200
    storelib.make_wheel(away / "f" / "foo", "foo", "1.0")
    server.signal(signal.SIGHUP)
    serving.wait_for(lambda: server.get("/late/simple/foo/").status == 200, 60, "a whole scan")
    assert uploading.upload(server, "late", wheel, token).status == 200


def test_upload_to_a_missing_platform_is_503(server, wheel):
    os.rename(server.store / PLATFORM, server.store / ".away")
    reply = uploading.upload(server, PLATFORM, wheel, server.token)
    assert reply.status == 503 and reply["Retry-After"]
    assert str(server.store).encode() not in reply.body
    os.mkdir(server.store / PLATFORM)  # the mount point of a volume that is not mounted now
    reply = uploading.upload(server, PLATFORM, wheel, server.token)
    assert reply.status == 503 and reply["Retry-After"]
    assert os.listdir(server.store / PLATFORM) == []


@pytest.mark.parametrize("kind", ["folder", "pipe", "link to nothing", "link out"])
def test_what_is_no_file_under_the_name(server, wheel, kind):
    folder = server.store / PLATFORM / "b" / "bar"
    folder.mkdir(parents=True)
    place = folder / wheel.name
    if kind == "folder":
        place.mkdir()
    elif kind == "pipe":
        os.mkfifo(place)
    else:
        place.symlink_to("nothing" if kind == "link to nothing" else wheel)
    reply = uploading.upload(server, PLATFORM, wheel, server.token)
    assert reply.status == 400 and wheel.name.encode() in reply.body, (reply.status, reply.body)
    assert b"exist" not in reply.body  # which some clients take for success
    assert os.listdir(folder) == [wheel.name]


def test_nothing_is_written_through_a_link_into_another_platform(server, wheel):
    (server.store / OTHER / "b" / "bar").mkdir(parents=True)
    (server.store / PLATFORM / "b").mkdir()
    (server.store / PLATFORM / "b" / "bar").symlink_to(server.store / OTHER / "b" / "bar")
    reply = uploading.upload(server, PLATFORM, wheel, server.token)
    assert reply.status == 400 and b"link" in reply.body, (reply.status, reply.body)
    assert os.listdir(server.store / OTHER / "b" / "bar") == []


# --- names ---

@pytest.mark.parametrize("filename", ["../bar-1.0.tar.gz", "bar/bar-1.0.tar.gz", "/tmp/bar-1.0.tar.gz", "..\\bar-1.0.tar.gz",
                                      "bar-" + "1" * 250 + ".tar.gz", "bar-" + "1" * 238 + ".tar.gz",
                                      "bar-1.0-py3-none-any.whl.pruned", "bar 1.0.tar.gz"])
def test_names_that_no_file_may_have(server, tmp_path, filename):
    parts = [uploading.Part("name", "bar"), uploading.Part("content", b"x", filename)]
    reply = uploading.post(server, f"/upload/{PLATFORM}/", parts, server.token)
    assert reply.status == 400, (reply.status, reply.body)
    assert not (server.store / PLATFORM / "b").exists()


# --- bodies ---

def test_many_bodies_that_end_in_the_middle(server, wheel):
    body, _ = uploading.encode(uploading.form_of(wheel), boundary="b")
    for cut in range(0, len(body), max(1, len(body) // 40)):
        with server.socket() as connection:
            connection.sendall(post_head(len(body), server.token) + body[:cut])
    serving.wait_for(lambda: not list((server.store / PLATFORM).rglob(".wheelcache-*")), 30, "their end")
    serving.wait_for(lambda: not (server.store / PLATFORM / "b").exists(), 30, "their folders' end")
    assert uploading.upload(server, PLATFORM, wheel, server.token).status == 200


def test_client_that_disconnects_in_the_middle_is_dropped_at_once(server, wheel):
    """The last bytes and the end of the connection come together: the server must not wait for the time-out."""
    sockets = lambda: len(os.listdir(f"/proc/{server.process.pid}/fd"))  # noqa: E731
    body, _ = uploading.encode(uploading.form_of(wheel), boundary="b")
    before = sockets()
    for number in range(100):
        with server.socket() as connection:
            connection.sendall(post_head(len(body), server.token) + body[:number])
        with server.socket() as connection:
            connection.sendall(b"GET /simple/ HTTP/1.1\r\nHost:")
    serving.wait_for(lambda: sockets() <= before + 5, 25, "their end")


# --- full disks ---

@pytest.fixture
def small_disk(tmp_path):
    """A folder on a disk of 8 MiB of its own."""
    folder = tmp_path / "disk"
    folder.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "wheelcache-test", folder], capture_output=True,
                          check=False)
    if done.returncode != 0:
        pytest.skip(f"cannot mount: {done.stderr.decode().strip()}")
    yield folder
    subprocess.run(["umount", folder], check=True)


def test_only_uploads_that_fit_on_the_disk_are_accepted(small_disk, tmp_path):
    fat = storelib.make_wheel(tmp_path / "dist", "fat", "1.0", size=5 << 20).path
    fatter = storelib.make_wheel(tmp_path / "dist", "fat", "2.0", size=5 << 20).path
    with serving.servers(tmp_path) as serve:
        server = serve(config=f"[platform {PLATFORM}]\npath = {small_disk}\n")
        token = uploading.add_token(server)
        assert uploading.upload(server, PLATFORM, fat, token).status == 200
        reply = uploading.upload(server, PLATFORM, fatter, token)
        assert reply.status == 507, reply.body
        assert uploading.listed(server, PLATFORM, "fat").keys() == {fat.name}


def test_a_quota_stops_a_file_in_the_middle(serve, store, tmp_path):
    fat = storelib.make_wheel(tmp_path / "dist", "fat", "1.0", size=4 << 20).path
    server = serve(config=f"[store]\npath = {store}\n[platform {PLATFORM}]\nquota-bytes = 1M\n")
    token = uploading.add_token(server)
    body, _ = uploading.encode(uploading.form_of(fat), boundary="b")
    with server.socket() as connection:
        connection.sendall(post_head(len(body), token) + body[:3 << 20])
        place = store / PLATFORM / "f"
        serving.wait_for(lambda: os.listdir(place) == ["foo"] and uploading.audit(server)[-1]["result"] == "failed", 30,
                         "its end")
        connection.sendall(body[3 << 20:])
        assert connection.recv(65536).startswith(b"HTTP/1.1 507 ")
