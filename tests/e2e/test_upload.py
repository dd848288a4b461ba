# SPDX-License-Identifier: Apache-2.0
"""POST /upload/<platform>/: which uploads are accepted and refused, the messages, and that nothing is left behind."""
import hashlib
import json
import os
import socket
import zipfile

import pytest

import storelib
import uploading

PLATFORM = "ubuntu-22.04-x86_64"
OTHER = "debian-12-x86_64"


@pytest.fixture
def server(serve, tmp_path):
    for platform in (PLATFORM, OTHER):
        storelib.make_wheel(tmp_path / "store" / platform / "f" / "foo", "foo", "1.0")
    server = serve(tmp_path / "store")
    server.store = tmp_path / "store"
    server.token = uploading.add_token(server, "--note", "ci")
    return server


@pytest.fixture
def wheel(tmp_path):
    return storelib.make_wheel(tmp_path / "dist", "bar", "1.0").path


def files_below(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def unchanged(server):
    """Checks that nothing changed: no file, no temporary file, no empty folder, no page."""
    assert files_below(server.store) == [f"{OTHER}/f/foo/foo-1.0-py3-none-any.whl",
                                         f"{PLATFORM}/f/foo/foo-1.0-py3-none-any.whl"]
    assert not (server.store / PLATFORM / "b").exists()
    assert uploading.listed(server, PLATFORM, "bar") == {}
    return True


def test_an_upload_is_on_the_page_when_it_is_answered(server, wheel):
    reply = uploading.upload(server, PLATFORM, wheel, server.token)
    assert reply.status == 200, reply.body
    assert uploading.listed(server, PLATFORM, "bar") == {wheel.name: hashlib.sha256(wheel.read_bytes()).hexdigest()}
    assert uploading.listed(server, OTHER, "bar") == {}
    placed = server.store / PLATFORM / "b" / "bar" / wheel.name
    assert placed.read_bytes() == wheel.read_bytes()
    assert server.get(f"/files/{PLATFORM}/bar/{wheel.name}").body == wheel.read_bytes()
    assert server.get(f"/files/{PLATFORM}/bar/{wheel.name}.metadata").status == 200
    assert placed.stat().st_mode & 0o777 == 0o644
    assert 'href="bar/"' in server.get("/simple/").body.decode()


def test_a_project_stays_in_its_folder(serve, tmp_path):
    storelib.make_wheel(tmp_path / "store" / PLATFORM / "foo", "foo", "1.0")
    server = serve(tmp_path / "store")
    new = storelib.make_wheel(tmp_path / "dist", "foo", "2.0").path
    assert uploading.upload(server, PLATFORM, new, uploading.add_token(server)).status == 200
    assert (tmp_path / "store" / PLATFORM / "foo" / new.name).exists()


def test_the_same_bytes_again_change_nothing(server, wheel):
    assert uploading.upload(server, PLATFORM, wheel, server.token).status == 200

    def seen():
        """Who reads a file changes its time of access."""
        stat = (server.store / PLATFORM / "b" / "bar" / wheel.name).stat()
        return files_below(server.store), stat.st_ino, stat.st_nlink, stat.st_mode, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns
    before = seen()
    reply = uploading.upload(server, PLATFORM, wheel, server.token)
    assert reply.status == 200 and b"nothing changed" in reply.body
    assert seen() == before


def test_a_build_of_the_same_contents_is_welcome_and_the_first_stays(server, wheel):
    assert uploading.upload(server, PLATFORM, wheel, server.token).status == 200
    first = wheel.read_bytes()
    with zipfile.ZipFile(wheel) as archive:
        members = [(one.filename, archive.read(one)) for one in archive.infolist()]
    storelib.zip_write(wheel, members, zipfile.ZIP_STORED)
    assert wheel.read_bytes() != first
    reply = uploading.upload(server, PLATFORM, wheel, server.token)
    assert reply.status == 200 and b"same contents" in reply.body
    assert (server.store / PLATFORM / "b" / "bar" / wheel.name).read_bytes() == first


def test_other_contents_under_a_name_are_a_conflict(server, wheel, tmp_path):
    assert uploading.upload(server, PLATFORM, wheel, server.token).status == 200
    first = wheel.read_bytes()
    other = storelib.make_wheel(tmp_path / "other", "bar", "1.0", files={"bar.py": b"other = 1\n"}).path
    reply = uploading.upload(server, PLATFORM, other, server.token)
    assert reply.status == 409 and reply.body.startswith(b"File already exists")
    reply = uploading.upload(server, PLATFORM, other, server.token,
                             {"Accept": "application/json;q=0.9, text/plain;q=0.8, text/html;q=0.7"})
    assert reply.status == 409 and reply["Content-Type"] == "application/json"
    assert json.loads(reply.body)["code"].startswith("409 File already exists")
    assert (server.store / PLATFORM / "b" / "bar" / wheel.name).read_bytes() == first
    assert uploading.upload(server, OTHER, other, server.token).status == 200  # each platform for itself


def phrase_of(server, parts, token):
    """The status line's phrase, as the bytes that were sent."""
    body, kind = uploading.encode(parts)
    credentials = "".join(f"{name}: {value}\r\n" for name, value in uploading.authorization(token).items()) if token else ""
    with socket.create_connection(("127.0.0.1", server.port), 30) as connection:
        connection.sendall(f"POST /upload/{PLATFORM}/ HTTP/1.1\r\nHost: h\r\n{credentials}Connection: close\r\n"
                           f"Content-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
        return connection.makefile("rb").readline().rstrip(b"\r\n").split(b" ", 2)[1:]


def test_the_reason_of_a_refusal_is_in_the_status_line(server, wheel, tmp_path):
    """twine and pip show nothing else of it. It is short, and printable ASCII."""
    assert uploading.upload(server, PLATFORM, wheel, server.token).status == 200
    other = storelib.make_wheel(tmp_path / "other", "bar", "1.0", files={"bar.py": b"other = 1\n"}).path
    status, phrase = phrase_of(server, uploading.form_of(other), server.token)
    assert (status, phrase[:37]) == (b"409", f"File already exists: {wheel.name}".encode()[:37]) and len(phrase) <= 200
    status, phrase = phrase_of(server, uploading.form_of(other), None)
    assert status == b"401" and phrase.startswith(b"Unauthorized: ")
    named = {"name": "b\u00e4r" + 300 * "x"}
    status, phrase = phrase_of(server, uploading.form_of(other, **named), server.token)
    assert status == b"400" and 0 < len(phrase) <= 200 and all(32 <= byte < 127 for byte in phrase)
    assert phrase_of(server, uploading.form_of(wheel), server.token) == [b"200", b"OK"]  # no phrase of an earlier answer


def test_a_file_that_no_scan_has_seen_has_its_name_too(server, wheel, tmp_path):
    other = storelib.make_wheel(tmp_path / "other", "bar", "1.0", files={"bar.py": b"other = 1\n"})
    place = server.store / PLATFORM / "b" / "bar"
    place.mkdir(parents=True)
    (place / wheel.name).write_bytes(other.path.read_bytes())
    assert uploading.upload(server, PLATFORM, wheel, server.token).status == 409
    assert uploading.upload(server, PLATFORM, other.path, server.token).status == 200
    assert uploading.listed(server, PLATFORM, "bar") == {wheel.name: other.sha256}


def spoil(data, how):
    return {"cut short": data[:-30], "junk": b"not a zip at all", "empty": b"",
            "with more behind": data + b"more", "a flipped byte": data[:60] + bytes([data[60] ^ 1]) + data[61:]}[how]


@pytest.mark.parametrize("how", ["cut short", "junk", "empty", "with more behind", "a flipped byte"])
def test_a_damaged_wheel_is_refused_and_leaves_nothing(server, wheel, how):
    wheel.write_bytes(spoil(wheel.read_bytes(), how))
    reply = uploading.upload(server, PLATFORM, wheel, server.token)
    assert reply.status == 400 and wheel.name.encode() in reply.body
    assert unchanged(server)


@pytest.mark.parametrize("changed, words", [
    ({"sha256_digest": "0" * 64}, b"sha256_digest"),
    ({"md5_digest": "0" * 32}, b"md5_digest"),
    ({"sha256_digest": "short"}, b"hexadecimal"),
    ({"name": "other"}, b'"other"'),
    ({"version": "2.0"}, b'"2.0"'),
    ({"filetype": "sdist"}, b"filetype"),
    ({"action": "delete"}, b":action"),
    ({"protocol_version": "2"}, b"protocol_version"),
    ({"name": "b" * 600}, b"longer"),
])
def test_what_the_form_says_must_be_so(server, wheel, changed, words):
    reply = uploading.upload(server, PLATFORM, wheel, server.token, **changed)
    assert reply.status == 400 and words in reply.body, reply.body
    assert unchanged(server)


@pytest.mark.parametrize("changed", [
    {"name": "Bar", "version": "v1"}, {"name": "", "version": "UNKNOWN", "sha256_digest": "", "md5_digest": None},
    {"filetype": None, "action": None, "protocol_version": None, "requires_python": ">=99", "license_file": "x" * 100000},
])
def test_other_spellings_and_what_is_left_out(server, wheel, changed):
    reply = uploading.upload(server, PLATFORM, wheel, server.token, **changed)
    assert reply.status == 200, reply.body


def test_fields_come_in_any_order(server, wheel):
    parts = uploading.form_of(wheel)
    reply = uploading.post(server, f"/upload/{PLATFORM}/", parts[::-1] + [uploading.Part("attestations", "[]")],
                           server.token)
    assert reply.status == 200, reply.body
    assert list(uploading.listed(server, PLATFORM, "bar")) == [wheel.name]


def test_without_a_slash_and_without_a_type(server, wheel):
    parts = uploading.form_of(wheel)
    parts[-1].content_type = None
    assert uploading.post(server, f"/upload/{PLATFORM}", parts, server.token).status == 200


@pytest.mark.parametrize("names", [[], ["content", "content"]])
def test_one_content_no_more_no_less(server, wheel, names):
    parts = [part for part in uploading.form_of(wheel) if part.name != "content"]
    parts += [uploading.Part(name, wheel.read_bytes(), wheel.name) for name in names]
    reply = uploading.post(server, f"/upload/{PLATFORM}/", parts, server.token)
    assert reply.status == 400 and b"content" in reply.body
    assert unchanged(server)


@pytest.mark.parametrize("name", [
    "../bar-1.0-py3-none-any.whl", "..\\bar-1.0-py3-none-any.whl", "/etc/bar-1.0-py3-none-any.whl", "bar.exe", "",
    "b" * 300 + "-1.0-py3-none-any.whl", "bar-1.0-py3-none-any.whl\\r\\nX: y", "bar\u202e-1.0-py3-none-any.whl",
    "bar-1.0.whl", ".bar-1.0-py3-none-any.whl", "b%2Far-1.0-py3-none-any.whl",
])
def test_hostile_file_names(server, wheel, name):
    parts = uploading.form_of(wheel)
    parts[-1].filename = name
    reply = uploading.post(server, f"/upload/{PLATFORM}/", parts, server.token)
    assert reply.status == 400, reply.body
    assert unchanged(server)


def test_without_any_token_uploads_are_off(serve, tmp_path, wheel):
    storelib.make_wheel(tmp_path / "store" / PLATFORM / "f" / "foo", "foo", "1.0")
    server = serve(tmp_path / "store")
    reply = uploading.upload(server, PLATFORM, wheel, None)
    assert reply.status == 403 and b"wheelcache token add" in reply.body


def test_a_wrong_token_is_401_and_a_narrow_one_403(server, wheel):
    for token in (None, "wc_wrong"):
        reply = uploading.upload(server, PLATFORM, wheel, token)
        assert reply.status == 401 and reply["WWW-Authenticate"].startswith("Basic realm=")
    for options in (["--platform", OTHER], ["--project", "foo*"]):
        reply = uploading.upload(server, PLATFORM, wheel, uploading.add_token(server, *options))
        assert reply.status == 403, reply.body
    assert unchanged(server)
    narrow = uploading.add_token(server, "--platform", "ubuntu-*", "--project", "b*")
    assert uploading.upload(server, PLATFORM, wheel, narrow).status == 200


def test_a_revoked_token_counts_no_more_at_once(server, wheel):
    listed = json.loads(uploading.serving.run("token", "list", "--json", "--catalog", server.catalog).stdout)
    tokens = listed["tokens"] if isinstance(listed, dict) else listed
    done = uploading.serving.run("token", "revoke", "--catalog", server.catalog, tokens[0]["id"])
    assert done.returncode == 0, done.stderr
    assert uploading.upload(server, PLATFORM, wheel, server.token).status in (401, 403)


def test_unknown_platform(server, wheel):
    assert uploading.upload(server, "no-such-platform", wheel, server.token).status == 404


@pytest.mark.parametrize("more", [[], ["--delete"]], ids=["kept", "deleted"])
def test_a_removed_name_is_not_taken_again(server, wheel, more):
    """Also with its former bytes; clients that skip existing files must not skip this one."""
    assert uploading.upload(server, PLATFORM, wheel, server.token).status == 200
    done = uploading.serving.run("remove", "--catalog", server.catalog, "--reason", "built with a broken compiler", *more,
                                 wheel.name, server.store)
    assert done.returncode == 0, done.stderr
    assert uploading.listed(server, PLATFORM, "bar") == {}
    reply = uploading.upload(server, PLATFORM, wheel, server.token)
    assert reply.status == 410 and b"broken compiler" in reply.body and b"already exist" not in reply.body
    assert uploading.listed(server, PLATFORM, "bar") == {}
    assert (server.store / PLATFORM / "b" / "bar" / wheel.name).exists() == (not more)


def test_frozen_platform_waits_and_the_others_go_on(server, wheel):
    done = uploading.serving.run("freeze", "--catalog", server.catalog, "--reason", "volume move", PLATFORM,
                                 "--store", server.store)
    assert done.returncode == 0, done.stderr
    reply = uploading.upload(server, PLATFORM, wheel, server.token)
    assert reply.status == 503 and b"volume move" in reply.body and int(reply["Retry-After"]) > 0
    assert uploading.listed(server, PLATFORM, "foo")
    assert uploading.upload(server, OTHER, wheel, server.token).status == 200


@pytest.mark.parametrize("settings, status, words", [
    (f"[upload]\nmax-file = 500\n[platform {PLATFORM}]\n", 413, b"500"),
    (f"[platform {PLATFORM}]\nquota-files = 1\n", 507, b"1"),
    (f"[platform {PLATFORM}]\nquota-bytes = 1K\n", 507, b"1024"),
])
def test_upload_over_the_quota(serve, tmp_path, wheel, settings, status, words):
    """The answer and the audit log have the figures, and nothing is left behind; other platforms accept it."""
    for platform in (PLATFORM, OTHER):
        storelib.make_wheel(tmp_path / "store" / platform / "f" / "foo", "foo", "1.0")
    server = serve(tmp_path / "store", config=f"{settings}[platform {OTHER}]\n")
    server.store, token = tmp_path / "store", uploading.add_token(server)
    reply = uploading.upload(server, PLATFORM, wheel, token)
    assert reply.status == status and words in reply.body.replace(b",", b""), reply.body
    assert unchanged(server)
    assert uploading.audit(server)[-1]["result"] in ("refused", "failed")
    assert uploading.upload(server, OTHER, wheel, token).status == (413 if status == 413 else 200)


def test_a_wheel_that_no_python_of_the_platform_installs(server, tmp_path):
    for tag in ("cp310-cp310-macosx_11_0_arm64", "cp310-cp310-manylinux_2_28_aarch64", "cp27-cp27mu-linux_x86_64"):
        reply = uploading.upload(server, PLATFORM, storelib.make_wheel(tmp_path / "dist", "bar", "1.0", tag).path,
                                 server.token)
        assert reply.status == 400 and b"Python" in reply.body, reply.body
    assert unchanged(server)
    for tag in ("cp310-cp310-linux_x86_64", "cp37-abi3-manylinux_2_17_x86_64.manylinux2014_x86_64"):
        wheel = storelib.make_wheel(tmp_path / "dist", "bar", "1.0+local.1", tag).path
        assert uploading.upload(server, PLATFORM, wheel, server.token).status == 200


def test_every_answer_is_in_the_audit_log(server, wheel, tmp_path):
    uploading.upload(server, PLATFORM, wheel, server.token)
    uploading.upload(server, PLATFORM, wheel, server.token)
    uploading.upload(server, PLATFORM, wheel, "wc_wrong")
    damaged = tmp_path / "bad-1.0-py3-none-any.whl"
    damaged.write_bytes(b"junk")
    uploading.upload(server, PLATFORM, damaged, server.token)
    lines = [line for line in uploading.audit(server) if line["action"] == "upload"]
    assert [line["result"] for line in lines] == ["done", "same", "refused", "refused"]
    assert lines[0] | {"time": 0} == {
        "time": 0, "who": "ci", "peer": "127.0.0.1", "action": "upload", "platform": PLATFORM, "project": "bar",
        "file": wheel.name, "sha256": hashlib.sha256(wheel.read_bytes()).hexdigest(), "result": "done"}
    assert "bad-1.0-py3-none-any.whl" in lines[3]["reason"]
    assert server.token not in (server.errors() + server.log_path.read_text())


def test_dead_temporary_files_are_swept(serve, tmp_path):
    folder = tmp_path / "store" / PLATFORM / "f" / "foo"
    storelib.make_wheel(folder, "foo", "1.0")
    live = folder / ".wheelcache-0-1-1-0.tmp"  # of another machine
    live.write_bytes(b"half")
    old = folder / ".wheelcache-0-1-1-1.tmp"
    old.write_bytes(b"half")
    os.utime(old, (storelib.OLD, storelib.OLD))
    serve(tmp_path / "store")
    assert live.exists() and not old.exists()
