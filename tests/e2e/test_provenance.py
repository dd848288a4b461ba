# SPDX-License-Identifier: Apache-2.0
"""Provenance and attestations beside files: scanned, served, exported, uploaded, pruned with their wheel."""
import contextlib
import hashlib
import json
import os
import re
import shutil
import urllib.parse

import pytest

import attaching
import building
import indexing
import pages
import serving
import storelib
import uploading

PLATFORM = indexing.PLATFORM
FOLDER = f"{PLATFORM}/b/bar"
ENDINGS = (".intoto.json", ".provenance")
OBJECT = b'{"version":1,"attestation_bundles":[{"publisher":{"kind":"wheelcache-token","claims":{}},"attestations":'


@pytest.fixture
def wheel(tmp_path):
    return storelib.make_wheel(tmp_path / "dist", "bar", "1.0").path


@pytest.fixture
def server(serve, tmp_path):
    storelib.make_wheel(tmp_path / "store" / PLATFORM / "f" / "foo", "foo", "1.0")
    server = serve(tmp_path / "store")
    server.store = tmp_path / "store"
    server.token = uploading.add_token(server, "--note", "ci")
    return server


def object_of(attestations):
    return OBJECT + json.dumps(attestations).encode() + b"}]}\n"


def send(server, wheel, statement=None, attestations=None, is_first=False, filename=None):
    """Uploads the file with these parts, before or behind the content."""
    parts = uploading.form_of(wheel)
    more = []
    if statement is not None:
        data = statement if isinstance(statement, bytes) else attaching.as_bytes(statement)
        more.append(uploading.Part("build_provenance", data, filename))
    if attestations is not None:
        data = attestations if isinstance(attestations, bytes) else json.dumps(attestations).encode()
        more.append(uploading.Part("attestations", data))
    return uploading.post(server, f"/upload/{PLATFORM}/", more + parts if is_first else parts + more, server.token)


def url(wheel, ending=""):
    return f"/files/{PLATFORM}/bar/{wheel.name}{ending}"


def shown(server):
    """{file: URL of its provenance} in JSON; HTML must say the same."""
    reply = server.get(f"/{PLATFORM}/simple/bar/", {"Accept": pages.JSON})
    files = {one["filename"]: one.get("provenance") for one in json.loads(reply.body)["files"]}
    html = server.get(f"/{PLATFORM}/simple/bar/", {"Accept": pages.HTML}).body.decode()
    assert html.count("data-provenance") == sum(link is not None for link in files.values())
    for link in files.values():
        assert link is None or f' data-provenance="{link}"' in html
    return files


def files_below(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("is_first", [True, False])
def test_upload_with_provenance_serves_both(server, wheel, is_first):
    statement, attestations = attaching.statement(wheel), [attaching.attestation(wheel)]
    reply = send(server, wheel, statement, attestations, is_first, "x.json" if is_first else None)
    assert reply.status == 200, reply.body
    assert files_below(server.store / FOLDER) == [wheel.name, *(wheel.name + one for one in ENDINGS)]
    for ending, body in zip(ENDINGS, (attaching.as_bytes(statement), object_of(attestations))):
        got = server.get(url(wheel, ending))
        assert (got.status, got.body, got["Content-Type"]) == (200, body, "application/json")
        assert got["ETag"] and "immutable" not in got["Cache-Control"]
        assert server.get(url(wheel, ending), {"If-None-Match": got["ETag"]}).status == 304
        head = server.get(url(wheel, ending), method="HEAD")
        assert (head.status, head.body, head["Content-Length"]) == (200, b"", str(len(body)))
    assert shown(server) == {wheel.name: f"../../../files/{PLATFORM}/bar/{wheel.name}.provenance"}
    assert server.get(f"/files/{PLATFORM}/foo/{wheel.name}.intoto.json").status == 404
    assert send(server, wheel, statement, attestations).status == 200  # the same again


def test_page_without_attestations_says_nothing_of_them(server, wheel):
    assert send(server, wheel, attaching.statement(wheel)).status == 200
    assert shown(server) == {wheel.name: None}
    assert server.get(url(wheel, ".provenance")).status == 404


def test_provenance_comes_after_the_wheel(server, wheel):
    assert send(server, wheel).status == 200
    assert server.get(url(wheel, ".intoto.json")).status == 404
    assert send(server, wheel, attaching.statement(wheel)).status == 200
    assert server.get(url(wheel, ".intoto.json")).status == 200
    assert send(server, wheel, attaching.statement(wheel, buildType="another")).status == 200
    assert server.get(url(wheel, ".intoto.json")).body == attaching.as_bytes(attaching.statement(wheel))  # the first stays
    attestations = [attaching.attestation(wheel)]
    assert send(server, wheel, attestations=attestations).status == 200
    assert shown(server)[wheel.name].endswith(".provenance")


def refused_statements(wheel):
    good = attaching.statement(wheel)
    yield b"{", 400, b"provenance: "
    yield attaching.as_bytes(good)[:-3], 400, b"provenance: "
    yield {**good, "_type": "x"}, 400, b"no in-toto statement"
    yield {**good, "subject": []}, 400, b"has no subject"
    yield attaching.statement(wheel, digest="0" * 64), 400, b"is about other bytes"
    yield attaching.statement(wheel, name="other-1.0-py3-none-any.whl"), 400, b"not among its subjects"
    yield attaching.as_bytes(good) + b" " * (1 << 20), 413, b"more than 1048576 bytes"


def refused_attestations(wheel):
    good = attaching.attestation(wheel)
    yield b"{}", 400, b"no list"
    yield [{**good, "version": 2}], 400, b"version"
    yield [{**good, "verification_material": {"certificate": "eA=="}}], 400, b"transparency_entries"
    yield [{**good, "envelope": {"statement": "?", "signature": "eA=="}}], 400, b"Base64"
    yield [attaching.attestation(wheel, kind="https://example.org/x")], 400, b"predicateType"
    yield [attaching.attestation(wheel, digest="0" * 64)], 400, b"about other bytes"
    yield [good, attaching.attestation(wheel, name="other-1.0-py3-none-any.whl")], 400, b"not among its subjects"
    yield [good] * 33, 413, b"more than 32"
    yield [good, *[[]] * 33000], 413, b"values"
    inside = json.dumps(good).encode()
    yield b'[%s]},{"publisher":{"kind":"GitHub"},"attestations":[%s]' % (inside, inside), 400, b"attestations: "


def test_wrong_provenance_refuses_the_upload(server, wheel):
    before = files_below(server.store)
    for statement, status, words in refused_statements(wheel):
        reply = send(server, wheel, statement)
        assert (reply.status, words in reply.body) == (status, True), reply.body
    for attestations, status, words in refused_attestations(wheel):
        reply = send(server, wheel, attestations=attestations)
        assert (reply.status, words in reply.body) == (status, True), (attestations, reply.body)
    good = attaching.as_bytes(attaching.statement(wheel))
    twice = [uploading.Part("build_provenance", good)] * 2
    assert uploading.post(server, f"/upload/{PLATFORM}/", uploading.form_of(wheel) + twice, server.token).status == 400
    assert files_below(server.store) == before
    assert not (server.store / PLATFORM / "b").exists()
    assert uploading.listed(server, PLATFORM, "bar") == {}


def test_link_in_its_place_refuses_the_upload(server, wheel, tmp_path):
    outside = tmp_path / "outside"
    outside.write_text("kept")
    (server.store / FOLDER).mkdir(parents=True)
    (server.store / FOLDER / f"{wheel.name}.intoto.json").symlink_to(outside)
    reply = send(server, wheel, attaching.statement(wheel))
    assert (reply.status, b"something that is not a file" in reply.body) == (400, True), reply.body
    assert not (server.store / FOLDER / wheel.name).exists() and outside.read_text() == "kept"
    assert send(server, wheel).status == 200


@pytest.fixture(name="indexed")
def _indexed(tmp_path):
    indexed = indexing.Indexed(tmp_path)
    for version in ("1.0", "2.0"):
        indexed.wheel(FOLDER, "bar", version)
    indexed.one = indexed.store / FOLDER / "bar-1.0-py3-none-any.whl"
    indexed.two = indexed.store / FOLDER / "bar-2.0-py3-none-any.whl"
    return indexed


def put(path, document):
    data = document if isinstance(document, bytes) else attaching.as_bytes(document)
    path.write_bytes(data)
    os.utime(path, (storelib.OLD, storelib.OLD))


def attached(indexed):
    """{file: (statement?, provenance?)}"""
    rows = indexed.query("SELECT filename, statement IS NOT NULL, provenance IS NOT NULL FROM file ORDER BY 1")
    return {name: (bool(statement), bool(provenance)) for name, statement, provenance in rows}


def test_scan_follows_attachments(indexed):
    """They come before or after the wheel, change and go; a catalog made anew says the same."""
    one, two = indexed.one, indexed.two
    put(one.with_name(one.name + ".intoto.json"), attaching.statement(one, two))
    aside = indexed.folder / two.name
    put(two.with_name(two.name + ".provenance"), object_of([attaching.attestation(two)]))
    shutil.move(two, aside)
    assert indexed.index()["ignored"] == 0
    assert attached(indexed) == {one.name: (True, False)}
    assert indexed.check()["alone"] == 1
    shutil.move(aside, two)
    indexed.index()
    assert attached(indexed) == {one.name: (True, False), two.name: (False, True)}
    change = indexed.query("SELECT change FROM store")
    indexed.index()
    assert indexed.query("SELECT change FROM store") == change
    before = indexed.query("SELECT filename, kind, sha256, subject, packed FROM attachment ORDER BY 1")
    shutil.rmtree(indexed.catalog.parent)
    indexed.index()
    assert indexed.query("SELECT filename, kind, sha256, subject, packed FROM attachment ORDER BY 1") == before
    with open(one.with_name(one.name + ".intoto.json"), "wb") as file:  # in place: the folder's mtime stays
        file.write(attaching.as_bytes(attaching.statement(two)))
    assert indexed.index()["findings"] == 1
    assert attached(indexed) == {one.name: (False, False), two.name: (False, True)}
    two.with_name(two.name + ".provenance").unlink()
    indexed.index()
    assert attached(indexed) == {one.name: (False, False), two.name: (False, False)}
    assert indexed.query("SELECT attached > 0 FROM platform") == [(1,)]
    one.with_name(one.name + ".intoto.json").unlink()
    indexed.index()
    assert indexed.query("SELECT attached FROM platform") == [(0,)]


def test_scan_follows_no_link_to_outside(indexed, tmp_path):
    """As with a wheel: it is none, and the scan is whole."""
    outside = tmp_path / "statement.json"
    put(outside, attaching.statement(indexed.one))
    one = indexed.one.with_name(indexed.one.name + ".intoto.json")
    shutil.copy(outside, one)
    indexed.index()
    one.unlink()
    one.symlink_to(outside)
    two = indexed.two.with_name(indexed.two.name + ".intoto.json")
    two.symlink_to(two.name)
    assert indexed.index()["links_ignored"] == 2
    assert attached(indexed) == {indexed.one.name: (False, False), indexed.two.name: (False, False)}


def test_check_compares_attachments(indexed):
    one = indexed.one.with_name(indexed.one.name + ".intoto.json")
    put(one, attaching.statement(indexed.one))
    indexed.index()
    assert indexed.check()["unfit"] == 0
    known = attaching.sha256(one)
    put(one, one.read_bytes().replace(b"main", b"mane"))
    path = f"{FOLDER}/{one.name}"
    assert indexed.check(code=1)["lists"]["corrupt"] == [{"path": path, "recorded": known, "found": attaching.sha256(one)}]
    put(one, attaching.statement(indexed.two, indexed.two))
    assert [row["path"] for row in indexed.check(code=1)["lists"]["changed"]] == [path]
    indexed.index()
    assert [row["path"] for row in indexed.check(code=1)["lists"]["unfit"]] == [path]
    one.unlink()
    assert [row["path"] for row in indexed.check(code=1)["lists"]["orphaned"]] == [path]


# --- the operator, the uploader, the builder ---

def add(server, path, *options, code=0):
    done = serving.run("provenance", "add", "--catalog", server.catalog, *options, path, server.store)
    assert done.returncode == code, (done.stdout, done.stderr)
    return done.stdout + done.stderr


def test_operator_adds_replaces_and_waits(server, wheel, tmp_path):
    path = tmp_path / "statement.json"
    path.write_bytes(attaching.as_bytes(attaching.statement(wheel)))
    assert "no platform has a file" in add(server, path, code=1)
    assert "added provenance of" in add(server, path, "--platform", PLATFORM)
    assert server.get(url(wheel, ".intoto.json")).status == 404
    assert send(server, wheel).status == 200
    assert server.get(url(wheel, ".intoto.json")).body == path.read_bytes()
    path.write_bytes(attaching.as_bytes(attaching.statement(wheel, buildType="another")))
    assert "with other contents" in add(server, path, code=1)
    add(server, path, "--replace")
    serving.wait_for(lambda: server.get(url(wheel, ".intoto.json")).body == path.read_bytes(), 10, "the other statement")
    path.write_bytes(attaching.as_bytes(attaching.statement(wheel, digest="0" * 64)))
    assert "about other bytes" in add(server, path, "--replace", code=1)
    path.write_bytes(attaching.as_bytes(attaching.statement(wheel, wheel)))
    assert "--of NAME" in add(server, path, code=2)
    assert "several subjects" in add(server, path, "--of", wheel.name, code=1)
    (server.store / PLATFORM / ".wheelcache-frozen").write_text("moving\n")
    assert "moving" in add(server, path, "--of", wheel.name, "--replace", code=1)
    assert [line["result"] for line in uploading.audit(server) if line["action"] == "provenance"].count("done") == 2


def test_waiting_statement_that_is_not_the_wheels_gives_way(server, wheel, tmp_path):
    path = tmp_path / "statement.json"
    path.write_bytes(attaching.as_bytes(attaching.statement(wheel, digest="0" * 64)))
    add(server, path, "--platform", PLATFORM)
    assert send(server, wheel).status == 200
    assert server.get(url(wheel, ".intoto.json")).status == 404
    statement = attaching.statement(wheel)
    assert send(server, wheel, statement).status == 200
    assert server.get(url(wheel, ".intoto.json")).body == attaching.as_bytes(statement)


def push(server, wheel, path):
    done = serving.run("push", wheel, "--to", f"{server.url}/upload/{PLATFORM}/", "--json", "--provenance", path,
                       env={**os.environ, "WHEELCACHE_TOKEN": server.token, "no_proxy": "127.0.0.1"})
    return done.returncode, json.loads(done.stdout)["files"][0] if done.stdout else done.stderr


def test_push_sends_provenance(server, wheel, tmp_path):
    path = tmp_path / "statement.json"
    path.write_bytes(attaching.as_bytes(attaching.statement(wheel, digest="0" * 64)))
    code, one = push(server, wheel, path)
    assert (code, one["result"], one["sent"], "about other bytes" in one["reason"]) == (1, "bad", 0, True)
    path.write_bytes(b"{}")
    assert push(server, wheel, path)[0] == 1
    assert send(server, wheel).status == 200
    path.write_bytes(attaching.as_bytes(attaching.statement(wheel)))
    code, one = push(server, wheel, path)
    assert (code, one["result"], one["sent"]) == (0, "already-there", 1)
    assert server.get(url(wheel, ".intoto.json")).body == path.read_bytes()
    first = path.read_bytes()
    path.write_bytes(attaching.as_bytes(attaching.statement(wheel, buildType="another")))
    code, one = push(server, wheel, path)
    assert (code, one["result"], one["sent"]) == (0, "already-there", 1)
    assert server.get(url(wheel, ".intoto.json")).body == first


def test_explain_says_who_built_it(server, wheel):
    assert send(server, wheel, attaching.statement(wheel, internalParameters={"toolchain": {"gcc": "14\x1b[31m\n\u202eForged"}}),
                [attaching.attestation(wheel)]).status == 200
    here, = json.loads(server.get(f"/-/explain/{PLATFORM}/bar").body)["here"]
    assert here["attestations"] is True and here["provenance"] == {
        "predicate": attaching.SLSA, "build_type": "https://example.org/build",
        "builder": "https://example.org/builder", "started": "2026-01-02T03:04:05Z"}
    here, = json.loads(server.get(f"/-/explain/{PLATFORM}/bar/1.0").body)["here"]
    assert [(row["kind"], row["component"]) for row in here["provenance"]["rows"]] == [
        ("builder", "builder"), ("dependency", "sdist"), ("tool", "gcc"), ("parameter", "branch")]
    text = server.get(f"/-/explain/{PLATFORM}/bar/1.0?format=text").body.decode()
    assert "built by https://example.org/builder" in text and "sdist, from https://example.org/s.tar.gz" in text
    assert "\x1b" not in text and "gcc 14?[31m??Forged\n" in text


def test_page_says_who_built_it(server, wheel):
    """Whatever is in the statement, it is text, and short."""
    hostile = '<script>alert("x")</script>' + "é" * 1000
    statement = attaching.statement(wheel, externalParameters={"branch": hostile})
    statement["predicate"]["runDetails"]["builder"]["id"] = hostile
    assert send(server, wheel, statement, [attaching.attestation(wheel)]).status == 200
    for version in ("", "/1.0"):
        page = server.get(f"/-/explain/{PLATFORM}/bar{version}?format=html").body.decode()
        assert "Where the files are from" in page and "&lt;script&gt;" in page and "<script>" not in page
        assert len(page) < 30_000
        links = [link for link in re.findall('href="([^"?]*)"', page) if link.endswith((".json", ".provenance"))]
        base = f"/-/explain/{PLATFORM}/bar{version}"
        assert [urllib.parse.urljoin(base, link) for link in links] == [url(wheel, ending) for ending in ENDINGS]
    assert "https://example.org/s.tar.gz" in page
    many = [{"name": f"part{number}"} for number in range(250)]
    other = storelib.make_wheel(wheel.parent, "bar", "2.0").path
    assert send(server, other, attaching.statement(other, resolvedDependencies=many)).status == 200
    page = server.get(f"/-/explain/{PLATFORM}/bar/2.0?format=html").body.decode()
    assert "These are the first 200 of 252" in page


def test_build_says_how_it_was_built(tmp_path):
    """No value of a variable and no password is in it."""
    with building.world(tmp_path) as world:
        world.want("alpha")
        world.keys["build"] |= {"environment": "PATH SECRET", "jobs": 1,
                                "wrap": "/usr/bin/env AT=https://me:hush@host/x"}
        world.build("--python", "3.12", env={"SECRET": "do-not-tell"})
        wheel, = world.store.rglob("*.whl")
        text = wheel.with_name(wheel.name + ".intoto.json").read_text()
        assert "do-not-tell" not in text and "hush" not in text and "https://***@host/x" in text
        statement = json.loads(text)
        assert statement["subject"] == [{"name": wheel.name, "digest": {"sha256": attaching.sha256(wheel)}}]
        definition, run = statement["predicate"]["buildDefinition"], statement["predicate"]["runDetails"]
        assert definition["externalParameters"]["branches"] == ["main"]
        assert definition["externalParameters"]["environment"] == ["PATH", "SECRET"]
        sdist = definition["resolvedDependencies"][0]
        assert sdist["uri"].endswith("/alpha-1.0.tar.gz") and len(sdist["digest"]["sha256"]) == 64
        assert definition["internalParameters"]["toolchain"]["interpreter"].startswith("CPython")
        assert run["builder"]["version"]["wheelcache"] and run["metadata"]["startedOn"] <= run["metadata"]["finishedOn"]
        log = serving.run("builds", "--config", world.config_path, "--log", run["metadata"]["invocationId"]).stdout
        assert "makes alpha" in log
        assert run["byproducts"] == [{"name": "log", "digest": {"sha256": hashlib.sha256(log.encode()).hexdigest()}}]
        here, = json.loads(serving.run("explain", "--config", world.config_path, "--json", "alpha").stdout)["here"]
        assert here["provenance"]["builder"].startswith("urn:wheelcache:builder:")


# --- with its wheel ---

def test_removal_unlists_with_the_wheel_and_deletes_with_it(server, wheel):
    assert send(server, wheel, attaching.statement(wheel), [attaching.attestation(wheel)]).status == 200
    common = ["--catalog", server.catalog, "--reason", "old", wheel.name, server.store]
    assert serving.run("remove", *common).returncode == 0
    serving.wait_for(lambda: server.get(f"/{PLATFORM}/simple/bar/").status == 404, 10, "the removal")
    assert server.get(url(wheel, ".intoto.json")).status == 200  # as the wheel itself
    assert serving.run("remove", "--delete", *common).returncode == 0
    serving.wait_for(lambda: server.get(url(wheel, ".intoto.json")).status == 404, 10, "the deletion")
    assert files_below(server.store / FOLDER) == [wheel.name + ".pruned"]
    reply = uploading.post(server, f"/upload/{PLATFORM}/", uploading.form_of(wheel), server.token)
    assert reply.status == 410


def test_export_has_what_the_server_sends(server, wheel, tmp_path):
    """Invariant 4 and 9: a catalog made anew gives the same bytes."""
    assert send(server, wheel, attaching.statement(wheel), [attaching.attestation(wheel)]).status == 200
    page = server.get(f"/{PLATFORM}/simple/bar/", {"Accept": pages.JSON}).body
    bodies = {ending: server.get(url(wheel, ending)).body for ending in ENDINGS}
    for catalog in (server.catalog, tmp_path / "anew.db"):
        site = tmp_path / f"site-{catalog.name if hasattr(catalog, 'name') else 'first'}"
        done = serving.run("index", "--catalog", catalog, "--static", site, server.store)
        assert done.returncode == 0, done.stderr
        assert (site / PLATFORM / "simple" / "bar" / "index.json").read_bytes() == page
        assert {ending: (site / url(wheel, ending).strip("/")).read_bytes() for ending in ENDINGS} == bodies
    folder = server.store / FOLDER
    (folder / f"{wheel.name}.provenance").unlink()
    assert serving.run("index", "--catalog", catalog, "--static", site, server.store).returncode == 0
    assert not (site / url(wheel, ".provenance").strip("/")).exists()
    assert b"provenance" not in (site / PLATFORM / "simple" / "bar" / "index.json").read_bytes()


def test_provenance_of_a_private_platform_is_private(serve, tmp_path):
    made = storelib.make_wheel(tmp_path / "store" / FOLDER, "bar", "1.0").path
    put(made.with_name(made.name + ".intoto.json"), attaching.statement(made))
    server = serve(tmp_path / "store", config=f"[platform {PLATFORM}]\nprivate = yes\n")
    good = uploading.authorization(uploading.add_token(server, "--read", "--platform", PLATFORM))
    assert server.get(url(made, ".intoto.json")).status == 401
    reply = server.get(url(made, ".intoto.json"), good)
    assert reply.status == 200 and reply["Cache-Control"].startswith("private")


def test_provenance_counts_for_the_quota(serve, tmp_path, wheel):
    storelib.make_wheel(tmp_path / "store" / PLATFORM / "f" / "foo", "foo", "1.0")
    quota = wheel.stat().st_size * 4
    server = serve(tmp_path / "store", config=f"[platform {PLATFORM}]\nquota-bytes = {quota}\n")
    server.store, server.token = tmp_path / "store", uploading.add_token(server)
    large = attaching.statement(wheel, note="x" * quota)
    assert send(server, wheel, large).status == 507
    assert files_below(server.store / PLATFORM) == ["f/foo/foo-1.0-py3-none-any.whl"]
    assert send(server, wheel, attaching.statement(wheel)).status == 200


def test_full_platform_takes_no_provenance_of_a_file_that_it_has(serve, tmp_path, wheel):
    storelib.make_wheel(tmp_path / "store" / PLATFORM / "f" / "foo", "foo", "1.0")
    server = serve(tmp_path / "store", config=f"[platform {PLATFORM}]\nquota-files = 2\n")
    server.token = uploading.add_token(server)
    statement = attaching.statement(wheel)
    assert send(server, wheel, statement).status == 200
    assert send(server, wheel, statement).status == 200
    assert send(server, wheel, statement, [attaching.attestation(wheel)]).status == 507
    assert server.get(url(wheel, ".provenance")).status == 404


def test_provenance_is_released_with_its_wheel(serve, tmp_path, wheel):
    served, written = tmp_path / "served", tmp_path / "written"
    for path in (served, written):
        storelib.make_wheel(path / "f" / "foo", "foo", "1.0")
    hook = tmp_path / "hook"
    hook.write_text('#!/bin/sh\ncp -r "$1/." "$2/"\n')
    hook.chmod(0o755)
    server = serve(config=f"[platform {PLATFORM}]\npath = {served}\nwrite-path = {written}\n"
                          f"release = {hook} %w %p\nrelease-delay = 1\n")
    server.token = uploading.add_token(server)
    assert send(server, wheel, attaching.statement(wheel), [attaching.attestation(wheel)]).status == 200
    serving.wait_for(lambda: server.get(url(wheel, ".provenance")).status == 200, 60, "the release")
    assert server.get(url(wheel, ".intoto.json")).body == attaching.as_bytes(attaching.statement(wheel))
    assert shown(server)[wheel.name].endswith(".provenance")


def test_twine_and_uv_send_attestations(client, server, wheel):
    """twine warns that only PyPI has them, and sends them."""
    inside = attaching.attestation(wheel)
    wheel.with_name(wheel.name + ".publish.attestation").write_text(json.dumps(inside))
    files = [wheel, wheel.with_name(wheel.name + ".publish.attestation")]
    client("twine==7.0.0").run(
        "twine", "upload", "--repository-url", f"{server.url}/upload/{PLATFORM}/", "-u", "__token__", "-p", server.token,
        "--non-interactive", "--disable-progress-bar", "--attestations", *files)
    sent = json.loads(server.get(url(wheel, ".provenance")).body)
    assert sent["attestation_bundles"] == [{"publisher": {"kind": "wheelcache-token", "claims": {}},
                                            "attestations": [inside]}]
    other = storelib.make_wheel(wheel.parent.parent / "other", "bar", "2.0").path
    inside = attaching.attestation(other)
    other.with_name(other.name + ".publish.attestation").write_text(json.dumps(inside))
    client("uv==0.13.9").run("uv", "publish", "--publish-url", f"{server.url}/upload/{PLATFORM}/", "--token", server.token,
                             other, other.with_name(other.name + ".publish.attestation"))
    assert json.loads(server.get(url(other, ".provenance")).body)["attestation_bundles"][0]["attestations"] == [inside]


def test_provenance_of_many_uploads_fills_no_memory(server, wheel):
    """64 MiB of all uploads that arrive; then the next one has to wait. Uploads that pass the limit together are
    refused together, so others come until there is no room for a statement."""
    large = attaching.statement(wheel, note="x" * 1_000_000)
    with contextlib.ExitStack() as stack:
        def begin_upload(size):
            parts = [uploading.Part("build_provenance", b" " * size), *uploading.form_of(wheel)]
            body, content_type = uploading.encode(parts)
            headers = {"Host": "x", "Content-Type": content_type, "Content-Length": len(body),
                       **uploading.authorization(server.token)}
            head = f"POST /upload/{PLATFORM}/ HTTP/1.1\r\n" + "".join(f"{k}: {v}\r\n" for k, v in headers.items()) + "\r\n"
            connection = stack.enter_context(contextlib.closing(server.socket()))
            connection.sendall(head.encode() + body[:size])  # all but the content

        for _ in range(66):
            begin_upload((1 << 20) - 1)
        serving.wait_for(lambda: begin_upload(400_000) or send(server, wheel, large).status == 503, 30, "the limit")
        assert send(server, wheel).status == 200
    serving.wait_for(lambda: send(server, wheel, large).status == 200, 30, "the others' end")


def test_explain_reads_a_part_of_many_long_statements(tmp_path):
    indexed = indexing.Indexed(tmp_path)
    for version in range(20):
        made = indexed.wheel(FOLDER, "bar", f"{version}.0").path
        put(made.with_name(made.name + ".intoto.json"), attaching.statement(made, note="x" * 1_000_000))
    indexed.index()
    done = serving.run("explain", "--catalog", indexed.catalog, "--store", indexed.store, "--json", "bar")
    here = json.loads(done.stdout)["here"]
    assert len(here) == 20 and 16 <= sum("provenance" in row for row in here) < 20
