# SPDX-License-Identifier: Apache-2.0
"""A store that is a bucket: indexed, served, uploaded to, and marked as a tree is."""
import json
import os
import pathlib

import pytest

import buckets
import clients
import serving
import storelib
import uploading

PLATFORM = "debian-12-x86_64"
OTHER = "ubuntu-24.04-x86_64"
JSON = {"Accept": "application/vnd.pypi.simple.v1+json"}


@pytest.fixture(autouse=True)
def keys(monkeypatch):
    for name, value in buckets.KEYS.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def start(tmp_path):
    with serving.servers(tmp_path) as function:
        yield function


@pytest.fixture
def small():
    one = buckets.Small()
    yield one
    one.stop()


@pytest.fixture(params=["small S3", "versitygw"])
def bucket(request, tmp_path):
    """A bucket of each engine."""
    program = buckets.versitygw()
    if request.param == "versitygw" and not program:
        pytest.skip("versitygw is not there: shared/engines")
    one = buckets.Small() if request.param == "small S3" else buckets.Gateway(program, tmp_path)
    yield one
    one.stop()


def make_tree(folder):
    """Three projects on two platforms, one of them in an odd place, and a mark."""
    for version in ("1.0", "1.1"):
        storelib.make_wheel(folder / PLATFORM / "s/six", "six", version)
        storelib.make_wheel(folder / OTHER / "six", "six", version)
    storelib.make_wheel(folder / PLATFORM / "l/large", "large", "1.0", size=3 << 20)
    wheel = storelib.make_wheel(folder / PLATFORM / "o/odd", "odd", "1.0+local.1", build="1")
    wheel.path.with_name(wheel.path.name + ".yanked").write_text("it is odd")
    for path in folder.rglob("*"):
        if path.is_file():
            os.utime(path, (storelib.OLD, storelib.OLD))
    return folder


def pages(server):
    """The bytes of pages and files."""
    paths = ["/simple/"]
    for platform in (PLATFORM, OTHER):
        paths += [f"/{platform}/simple/"] + [f"/{platform}/simple/{name}/" for name in ("six", "large", "odd", "none")]
    found = {}
    for path in paths:
        for accept in ("text/html", JSON["Accept"]):
            reply = server.get(path, {"Accept": accept})
            found[path, accept] = reply.status, reply["ETag"], reply.body
    for name in ("six", "large", "odd"):
        for one in json.loads(server.get(f"/{PLATFORM}/simple/{name}/", JSON).body)["files"]:
            url = one["url"] if one["url"].startswith("/") else f"/{PLATFORM}/simple/{name}/{one['url']}"
            for extra in ("", ".metadata"):
                reply = server.get(os.path.normpath(url) + extra)
                found[url, extra] = reply.status, reply["ETag"], reply.body
            part = server.get(os.path.normpath(url), {"Range": "bytes=100-300"})
            found[url, "range"] = part.status, part.body
    return found


def test_a_bucket_is_served_as_its_tree(bucket, start, tmp_path):
    tree = make_tree(tmp_path / "tree")
    bucket.put_tree(tree)
    of_tree = pages(start(tree))
    of_bucket = pages(start(config=bucket.config()))
    assert of_tree == of_bucket
    assert {value[0] for key, value in of_tree.items() if key[1] == "range"} == {206}


def test_a_tree_and_the_bucket_over_it_are_served_at_once(start, tmp_path):
    program = buckets.versitygw()
    if not program:
        pytest.skip("versitygw is not there: shared/engines")
    gateway = buckets.Gateway(program, tmp_path)
    try:
        make_tree(gateway.tree)
        of_tree, of_bucket = start(gateway.tree, "--rescan", "1"), start(config=gateway.config())
        assert pages(of_tree) == pages(of_bucket)
        token = uploading.add_token(of_bucket, "--platform", PLATFORM)
        wheel = storelib.make_wheel(tmp_path, "new", "1.0")
        assert uploading.upload(of_bucket, PLATFORM, wheel.path, token).status == 200
        assert uploading.listed(of_bucket, PLATFORM, "new")
        serving.wait_for(lambda: uploading.listed(of_tree, PLATFORM, "new"), 60, "the upload beside the gateway")
        storelib.make_wheel(gateway.tree / PLATFORM / "h/hand", "hand", "1.0")
        serving.wait_for(lambda: uploading.listed(of_bucket, PLATFORM, "hand"), 60, "a file that was put there by hand")
    finally:
        gateway.stop()


def index(small, folder, *options):
    config = folder / "index.conf"
    config.write_text(small.config())
    done = serving.run("index", "--json", "--catalog", folder / "index.db", "--config", config, *options)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_what_is_unchanged_is_not_read_again(small, tmp_path):
    small.put_tree(make_tree(tmp_path / "tree"))
    first = index(small, tmp_path)
    assert first["added"] == 6, first
    asked = small.requests()
    assert sum(".whl?" in one for one in asked) <= 2 * 6 + 2, asked
    again = index(small, tmp_path)
    assert again["unchanged"] == 6, again
    asked = small.requests()
    assert not [one for one in asked if ".whl?" in one], asked
    assert len(asked) < 20, asked
    small.store.things.pop(("wheels", f"the/store/{PLATFORM}/s/six/six-1.0-py3-none-any.whl"))
    assert index(small, tmp_path)["gone"] == 1


def test_an_upload_is_in_the_bucket_and_installs(bucket, start, tmp_path):
    bucket.put_tree(make_tree(tmp_path / "tree"))
    server = start(config=bucket.config())
    token = uploading.add_token(server, "--platform", PLATFORM)
    wheel = storelib.make_wheel(tmp_path, "new", "1.0", size=2 << 20)
    reply = uploading.upload(server, PLATFORM, wheel.path, token)
    assert reply.status == 200, reply.body
    key = f"{PLATFORM}/n/new/{wheel.path.name}"
    assert key in bucket.keys()
    assert uploading.listed(server, PLATFORM, "new") == {wheel.path.name: wheel.sha256}
    assert uploading.upload(server, PLATFORM, wheel.path, token).status == 200, "the same bytes again"
    other = storelib.make_wheel(tmp_path / "other", "new", "1.0", size=1000)
    assert uploading.upload(server, PLATFORM, other.path, token).status == 409
    client = clients.Client("pip==26.3", tmp_path)
    client.pip("install", *clients.pip_index(f"{server.url}/{PLATFORM}/simple/"), "--no-deps", "--target", tmp_path / "target",
               "new", "six")
    # A server that was never told reads the same from the bucket.
    assert pages(start(config=bucket.config())) == pages(server)


def test_an_upload_and_a_download_cost_few_requests(small, start, tmp_path):
    small.put_tree(make_tree(tmp_path / "tree"))
    server = start(config=small.config().replace("rescan = 1", "rescan = 0"))
    token = uploading.add_token(server, "--platform", PLATFORM)
    wheels = [storelib.make_wheel(tmp_path, "new", version, size=2 << 20) for version in ("1.0", "1.1")]
    assert uploading.upload(server, PLATFORM, wheels[0].path, token).status == 200  # the first write of a process probes
    small.requests()
    assert uploading.upload(server, PLATFORM, wheels[1].path, token).status == 200
    asked = [one for one in small.requests() if "frozen" not in one]
    assert len(asked) <= 8 and sum(one.startswith("PUT ") for one in asked) == 1, asked
    assert server.get(f"/{PLATFORM}/simple/new/").status == 200
    assert not [one for one in small.requests() if "frozen" not in one]
    assert server.get(f"/files/{PLATFORM}/new/{wheels[1].path.name}").body == wheels[1].path.read_bytes()
    assert len([one for one in small.requests() if "frozen" not in one]) <= 2


def test_marks_are_objects_beside_their_files(bucket, start, tmp_path):
    bucket.put_tree(make_tree(tmp_path / "tree"))
    server = start(config=bucket.config())
    name = "six-1.0-py3-none-any.whl"
    for command, mark in (("yank", "yanked"), ("remove", "pruned")):
        done = serving.run(command, "--catalog", server.catalog, "--config", server.config_path, f"{PLATFORM}/s/six/{name}", "--reason", "why")
        assert done.returncode == 0, done.stderr
        assert f"{PLATFORM}/s/six/{name}.{mark}" in bucket.keys()
    serving.wait_for(lambda: name not in uploading.listed(server, PLATFORM, "six"), 60, "the page without it")
    done = serving.run("freeze", "--catalog", server.catalog, "--config", server.config_path, PLATFORM, "--reason", "a reason")
    assert done.returncode == 0, done.stderr
    token = uploading.add_token(server, "--platform", PLATFORM)
    wheel = storelib.make_wheel(tmp_path, "new", "1.0")
    reply = serving.wait_for(lambda: [r for r in [uploading.upload(server, PLATFORM, wheel.path, token)] if r.status == 503], 30,
                             "the freeze")[0]
    assert b"a reason" in reply.body
    done = serving.run("thaw", "--catalog", server.catalog, "--config", server.config_path, PLATFORM)
    assert done.returncode == 0, done.stderr
    serving.wait_for(lambda: uploading.upload(server, PLATFORM, wheel.path, token).status == 200, 30, "the thaw")


def test_an_engine_without_conditions_takes_no_upload(start, tmp_path):
    small = buckets.Small("--conditions", "none")
    try:
        small.put_tree(make_tree(tmp_path / "tree"))
        server = start(config=small.config())
        token = uploading.add_token(server, "--platform", PLATFORM)
        wheel = storelib.make_wheel(tmp_path, "new", "1.0")
        reply = uploading.upload(server, PLATFORM, wheel.path, token)
        assert reply.status == 503 and b"If-None-Match" in reply.body, reply.body
        assert "uploads are off" in server.errors()
        assert f"{PLATFORM}/n/new/{wheel.path.name}" not in small.keys()
        assert uploading.listed(server, PLATFORM, "six")
    finally:
        small.stop()


@pytest.mark.parametrize("option, words", [("--trust", "wrong secret"), ("--timeless", "expired signature")])
def test_an_engine_that_trusts_everybody_is_not_used_unless_told(option, words, start, tmp_path):
    small = buckets.Small(option)
    try:
        small.put_tree(make_tree(tmp_path / "tree"))
        config = tmp_path / "refused.conf"
        config.write_text(small.config())
        done = serving.run("serve", "--listen", "127.0.0.1:0", "--catalog", tmp_path / "refused.db", "--config", config)
        assert done.returncode == 1 and words in done.stderr and "trust-engine" in done.stderr, done.stderr
        assert uploading.listed(start(config=small.config(place="trust-engine = yes")), PLATFORM, "six")
    finally:
        small.stop()


def test_without_the_bucket_the_pages_stay(start, tmp_path):
    small = buckets.Small()
    small.put_tree(make_tree(tmp_path / "tree"))
    server = start(config=small.config())
    before = pages(server)
    small.stop()
    page, etag = f"/{PLATFORM}/simple/six/", server.get(f"/{PLATFORM}/simple/six/", JSON)["ETag"]
    assert server.get(page, JSON).body == before[page, JSON["Accept"]][2]
    assert server.get(page, JSON | {"If-None-Match": etag}).status == 304
    name = json.loads(server.get(f"/{OTHER}/simple/six/", JSON).body)["files"][0]["url"]
    assert server.get(os.path.normpath(f"/{OTHER}/simple/six/{name}") + ".metadata").status == 200
    assert server.get(os.path.normpath(f"/{OTHER}/simple/six/{name}")).status == 503


def test_secrets_are_nowhere_to_be_seen(start, tmp_path, monkeypatch):
    small = buckets.Small("--secret", "nobody-says-this")
    small.put_tree(make_tree(tmp_path / "tree"))
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    given = tmp_path / "keys.json"
    given.write_text(json.dumps({"Version": 1, "AccessKeyId": "test", "SecretAccessKey": "nobody-says-this"}))
    server = start(None, "--log-level", "debug", config=small.config(place=f"credentials-command = cat {given}"))
    assert uploading.listed(server, PLATFORM, "six")
    seen = pathlib.Path(f"/proc/{server.process.pid}/cmdline").read_bytes() + server.errors().encode()
    assert b"nobody-says-this" not in seen
    given.write_text("no JSON")
    broken = tmp_path / "broken.conf"
    broken.write_text(small.config(place=f"credentials-command = cat {given}"))
    done = serving.run("index", "--catalog", tmp_path / "broken.db", "--config", broken)
    assert done.returncode != 0 and "credentials-command" in done.stderr, done.stderr
    small.stop()


@pytest.mark.parametrize("name, value, words", [("AWS_SECRET_ACCESS_KEY", "wrong", "SignatureDoesNotMatch"),
                                                ("AWS_ACCESS_KEY_ID", "nobody", "InvalidAccessKeyId"),
                                                ("AWS_ACCESS_KEY_ID", "", "no metadata service")])
def test_what_the_bucket_says_is_in_the_message(small, tmp_path, monkeypatch, name, value, words):
    """Also of platforms that the configuration names, and of views."""
    monkeypatch.setenv(name, value)
    monkeypatch.setenv("HOME", str(tmp_path))
    config = tmp_path / "index.conf"
    config.write_text(small.config(f"[platform {PLATFORM}]\n"))
    options = "--catalog", tmp_path / "index.db", "--config", config
    done = serving.run("index", *options)
    said = done.stdout + done.stderr
    assert done.returncode == 1 and words in said and "file server" not in said, said
    assert words in serving.run("doctor", *options).stdout
    views = [line for line in said.splitlines() if "wheelcache-views" in line]
    assert views and all(words in line for line in views), said


def test_bad_addresses_are_named(tmp_path):
    for text, words in (("[store]\npath = s3://a b", "s3://BUCKET/PREFIX"), ("[place wheels]", "not s3://BUCKET"),
                        ("[place s3://wheels/x]", "not s3://BUCKET"), ("[catalog]\npath = s3://a/b", "a path"),
                        ("[place s3://a]\nendpoint = here", "endpoint")):
        config = tmp_path / "bad.conf"
        config.write_text(text + "\n")
        done = serving.run("index", "--config", config, "--catalog", tmp_path / "bad.db")
        assert done.returncode == 2 and words in done.stderr, (text, done.stderr)


def test_the_doctor_says_what_the_engine_honours(start, tmp_path):
    small = buckets.Small("--unconditional", "delete", "--careless")
    try:
        small.put_tree(make_tree(tmp_path / "tree"))
        server = start(config=small.config())
        done = serving.run("doctor", "--config", server.config_path, "--catalog", server.catalog)
        assert "of two writers of a name the first one wins" in done.stdout, done.stdout + done.stderr
        assert "ignores If-Match of a DELETE" in done.stdout, done.stdout
        assert "hash of a body" in done.stdout, done.stdout
        assert not [key for key in small.keys() if "probe" in key]
    finally:
        small.stop()
