# SPDX-License-Identifier: Apache-2.0
"""/-/project/NAME: the matrix of a project, why a cell has no wheel, its versions, files and METADATA, and to whom."""
import contextlib
import html
import json
import os
import re
import sqlite3

import pytest

import attempts
import storelib
import uploading

PUBLIC, OTHER, PRIVATE = "debian-12-x86_64", "ubuntu-22.04-x86_64", "ubuntu-24.04-x86_64"
CONFIG = (f"[platform {PUBLIC}]\npythons = 3.11 3.12\n[platform {OTHER}]\npythons = 3.10\n"
          f"[platform {PRIVATE}]\npythons = 3.12\nprivate = yes\n"
          f"[view both]\nplatforms = {PUBLIC} {OTHER}\n[view all]\nplatforms = {PUBLIC} {PRIVATE}\n")
HTML = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
MARKUP = "</td></pre><script>alert(1)</script><img src=x onerror=alert(2)>&amp;\"'"
EXTRA = ("Summary: An example, " + MARKUP + "\nLicense-Expression: MIT OR Apache-2.0\nAuthor: A. U. Thor\n"
         "Project-URL: Source, https://example.org/source\nProject-URL: Bad, javascript:alert(3)\n"
         "Description-Content-Type: text/markdown\n\nThe words of the **README**, " + MARKUP + "\n")


def add(folder, platform, version, tag="py3-none-any", name="foo", **parts):
    metadata = storelib.metadata_bytes(name, version, parts.get("requires_python"), parts.pop("requires", ()), EXTRA)
    return storelib.make_wheel(folder / "store" / platform / name, name, version, tag, metadata=metadata, **parts)


@pytest.fixture(scope="module", name="server")
def server_fixture(serve_module, tmp_path_factory):
    """Version 1.0 has a wheel in each cell; 2.0 has two, and an sdist that excludes nothing."""
    folder = tmp_path_factory.mktemp("project")
    add(folder, PUBLIC, "1.0", "cp311-cp311-linux_x86_64")
    add(folder, PUBLIC, "1.0", "cp312-cp312-linux_x86_64")
    add(folder, OTHER, "1.0", "cp310-cp310-linux_x86_64")
    add(folder, PUBLIC, "2.0", "cp311-cp311-linux_x86_64", requires=["bar>=1 ; python_version < '3.12'"])
    add(folder, PRIVATE, "3.0", "cp312-cp312-linux_x86_64")
    add(folder, PRIVATE, "1.0", name="vault")
    broken = folder / "store" / PUBLIC / "foo" / "foo-9.0-py3-none-any.whl"
    broken.write_bytes(b"no zip")
    os.utime(broken, (storelib.OLD, storelib.OLD))
    server = serve_module(folder / "store", config=CONFIG)
    done = attempts.Attempts(server.catalog.with_name(server.catalog.name + ".builds"))
    server.failed = done.add("foo", "failed", b"gcc: no\n", version="2.0", python="3.12", why=MARKUP, ago=7200)
    server.reader = uploading.add_token(server, "--read", "--platform", PRIVATE)
    return server


def read(server, path, token=None, status=200):
    reply = server.get(path, {"Accept": "application/json", **uploading.authorization(token)})
    assert (reply.status, reply["Content-Type"]) == (status, "application/json"), reply
    return json.loads(reply.body)


def page(server, path, token=None, status=200):
    reply = server.get(path, {**HTML, **uploading.authorization(token)})
    assert (reply.status, reply["Content-Type"]) == (status, "text/html; charset=utf-8"), reply
    assert "script-src 'self'" in reply["Content-Security-Policy"]
    return reply.body.decode()


def states(found):
    return {(one["platform"], one["python"]): one["state"] + " lost" * one["lost"] for one in found["cells"]}


def test_each_cell_says_what_it_has_and_why(server):
    found = read(server, "/-/project/foo")
    assert (found["version"], found["before"], found["platforms"]) == ("2.0", "1.0", [PUBLIC, OTHER])
    assert states(found) == {(PUBLIC, "3.11"): "ours", (PUBLIC, "3.12"): "failed lost", (OTHER, "3.10"): "unknown lost"}
    failed = found["cells"][1]
    assert (failed["attempt"], failed["has_log"]) == (server.failed, True)
    assert failed["why"].startswith("failed in step build") and failed["why"].endswith(MARKUP)
    assert found["totals"] | {"ours": 1, "failed": 1, "unknown": 1, "lost": 2} == found["totals"]
    assert [one["version"] for one in found["versions"]] == ["2.0", "1.0"]
    assert states(read(server, "/-/project/Foo?version=1")) == {
        (PUBLIC, "3.11"): "ours", (PUBLIC, "3.12"): "ours", (OTHER, "3.10"): "ours"}
    one = read(server, f"/-/project/foo?platform={PUBLIC}&python=3.12")["cells"]
    assert one == [failed]
    shown = page(server, "/-/project/foo")
    assert f'id="{PUBLIC}/3.12"' in shown and f'id="why/{PUBLIC}/3.12"' in shown
    assert f'href="../../-/builds/foo/{server.failed}"' in shown
    assert server.get(f"/-/builds/foo/{server.failed}").body == b"gcc: no\n"


def test_files_and_metadata_are_shown_and_escaped(server):
    found, shown = read(server, "/-/project/foo"), page(server, "/-/project/foo")
    (file,) = found["files"]
    assert file["filename"] == file["url"].rpartition("/")[2] == "foo-2.0-cp311-cp311-linux_x86_64.whl"
    assert server.get(file["url"]).status == 200
    assert file["before"] == "foo-1.0-cp311-cp311-linux_x86_64.whl"
    link = re.search(r'href="\.\./\.\.(/-/compare/[^"]*)"', shown)[1]
    assert server.get(html.unescape(link)).status == 200
    told = found["metadata"]
    assert (told["license"], told["author"]) == ("MIT OR Apache-2.0", "A. U. Thor")
    assert told["requires_dist"] == ["bar>=1 ; python_version < '3.12'"]
    assert told["project_urls"] == [{"label": "Source", "url": "https://example.org/source"}]
    assert told["description"].startswith("The words of the **README**")
    (broken,) = found["unlisted"]
    assert (broken["filename"], broken["state"]) == ("foo-9.0-py3-none-any.whl", "quarantined") and broken["reason"]
    assert "<script>" not in shown and "<img" not in shown and "javascript:" not in shown
    assert 'rel="nofollow noopener noreferrer" href="https://example.org/source"' in shown
    assert "The words of the <strong>README</strong>" in shown
    assert html.escape("alert(1)") in shown and "MIT OR Apache-2.0" in shown


def test_a_private_platform_shows_nothing(server):
    open_page, open_told = page(server, "/-/project/foo"), read(server, "/-/project/foo")
    assert PRIVATE not in open_page and "3.0" not in open_page
    assert PRIVATE not in json.dumps(open_told) and "3.0" not in [one["version"] for one in open_told["versions"]]
    assert states(read(server, "/-/project/foo", server.reader))[PRIVATE, "3.12"] == "ours"
    assert read(server, "/-/project/foo", server.reader)["version"] == "3.0"
    assert read(server, "/-/project/foo")["version"] == "2.0"  # what was kept for one client is not another's
    absent = server.get("/-/project/nothing", HTML)
    hidden = server.get("/-/project/vault", HTML)
    assert hidden.status == absent.status == 404
    assert hidden.body == absent.body and b"vault" not in hidden.body
    assert read(server, "/-/project/vault", server.reader)["version"] == "1.0"
    assert read(server, "/-/project/vaullt", status=404)["meant"] is None
    assert read(server, "/-/project/vaullt", server.reader, status=404)["meant"] == "vault"
    narrow = uploading.add_token(server, "--read", "--platform", PRIVATE, "--project", "vaultx")
    assert read(server, "/-/project/vaultx", narrow, status=404)["meant"] is None  # vault is not its project
    assert read(server, "/-/project/vaultx", server.reader, status=404)["meant"] == "vault"
    assert server.get("/-/project/vault", {**HTML, **uploading.authorization(narrow)}).body == absent.body
    assert read(server, "/-/project/foo?version=3.0", status=404)["error"] == "no such version"
    assert read(server, f"/-/project/foo?platform={PRIVATE}")["cells"] == []
    assert read(server, "/-/project/foo")["totals"] == open_told["totals"]


def test_a_view_shows_what_it_shows(server):
    both = read(server, "/-/project/foo?view=both")
    assert (both["view"], both["platforms"]) == ("both", [PUBLIC, OTHER])
    assert read(server, f"/-/project/foo?view={OTHER}")["version"] == "1.0"
    assert server.get("/-/project/foo?view=simple").status == 200
    for name in ("all", PRIVATE, "nothing"):
        reply = server.get(f"/-/project/foo?view={name}")
        assert (reply.status, reply["Cache-Control"]) == (401, "no-store"), name
        assert b"a token is needed" in reply.body
    assert read(server, "/-/project/foo?view=all", server.reader)["version"] == "3.0"
    assert server.get("/-/project/foo?view=nothing", uploading.authorization(server.reader)).status in (403, 404)


def test_who_uploaded_a_file(serve, tmp_path):
    storelib.make_wheel(tmp_path / "store" / PUBLIC / "bar", "bar", "1.0")
    server = serve(tmp_path / "store", config=CONFIG)
    token, reader = uploading.add_token(server, "--note", "the builder"), uploading.add_token(server, "--read", "--platform", PUBLIC)
    other = uploading.add_token(server, "--read", "--platform", OTHER)
    wheel = storelib.make_wheel(tmp_path / "made", "bar", "2.0")
    assert uploading.upload(server, PUBLIC, wheel.path, token).status == 200
    (who,) = {one["who"] for one in uploading.audit(server) if one["action"] == "upload"}
    for _ in range(2):  # made, and kept
        for asker, told in ((reader, who), (None, None), (other, None), (token, None)):  # names are for who may read, by a token
            (file,) = read(server, "/-/project/bar", asker)["files"]
            assert (file["uploaded_by"], file["sha256"]) == (told, wheel.sha256)
            assert ("the builder" in page(server, "/-/project/bar", asker)) == bool(told)
    (file,) = read(server, "/-/project/bar?version=1.0", reader)["files"]
    assert file["uploaded_by"] is None
    assert server.get("/-/project/bar", uploading.authorization(reader))["Cache-Control"].startswith("private")


@pytest.mark.parametrize("path, status", [
    ("/-/project/%00", 400), ("/-/project/..%2f..", 404), ("/-/project/" + "a" * 300, 404), ("/-/project/-", 404),
    ("/-/project/foo?version=%ff", 404), ("/-/project/foo?version=1.0%00", 400), ("/-/project/foo?version=" + "9" * 250, 404),
    ("/-/project/foo?version=" + "9" * 300, 400), ("/-/project/foo?version=%3Cscript%3E", 404),
    ("/-/project/foo?limit=-1", 200), ("/-/project/foo?limit=99999999999999999999", 200), ("/-/project/foo?limit=1", 200),
    ("/-/project/foo?platform=%3Cscript%3E&python=%27%22%3E", 400), ("/-/project/foo?view=%2e%2e", 400),
    ("/-/project/foo/", 404), ("/-/project/", 404), ("/-/project/foo?view=" + "x" * 300, 400)])
def test_hostile_requests(server, path, status):
    reply = server.get(path, HTML)
    assert reply.status == status, (path, reply)
    assert b"<script>" not in reply.body
    assert server.get("/-/health").status == 200


def test_rows_beyond_the_limit_are_counted(server):
    found = read(server, "/-/project/foo?limit=1")
    assert (len(found["versions"]), len(found["files"]), found["more"]) == (1, 1, True)
    assert not read(server, "/-/project/foo")["more"]
    assert "limit=10" in page(server, "/-/project/foo?limit=1&version=2.0")


def test_the_page_is_made_once_and_packed(server):
    first = server.get("/-/project/foo", {**HTML, "Accept-Encoding": "gzip"})
    again = server.get("/-/project/foo", {**HTML, "Accept-Encoding": "gzip", "If-None-Match": first["ETag"]})
    assert (first["Content-Encoding"], first.status, again.status) == ("gzip", 200, 304)
    assert "private" in first["Cache-Control"]


def test_a_volume_that_is_away_delays_nothing(serve, tmp_path):
    """All that the page shows is in the catalog, also the README."""
    add(tmp_path, PUBLIC, "1.0")
    server = serve(tmp_path / "store", config=CONFIG)
    (tmp_path / "store").rename(tmp_path / "away")
    assert read(server, "/-/project/foo")["metadata"]["description"].startswith("The words")
    assert "<strong>README</strong>" in page(server, "/-/project/foo")


def test_limits(serve, tmp_path):
    """5000 rows of a list, and the newest 20,000 attempts."""
    # Exceeds LIMIT_PROJECT_ROWS, LIMIT_MATRIX_ATTEMPTS.
    add(tmp_path, PUBLIC, "1.0", "cp311-cp311-linux_x86_64")
    server = serve(tmp_path / "store", config=CONFIG)
    with contextlib.closing(sqlite3.connect(server.catalog)) as catalog, catalog:
        catalog.execute(
            "WITH RECURSIVE k(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM k WHERE n < 5001) INSERT INTO file (folder, platform,"
            " filename, state, trusted, size, mtime_ns, inode, findings, reason)"
            " SELECT folder, platform, 'foo-1.0-' || n || '-py3-none-any.whl', 1, 0, 1, 1, n, 0, 'broken' FROM file, k")
    done = attempts.Attempts(server.catalog.with_name(server.catalog.name + ".builds"))
    done.add("foo", "failed", python="3.12", ago=5000)
    assert states(read(server, "/-/project/foo"))[PUBLIC, "3.12"] == "failed"
    done.add("foo", python="3.11", version="0.9", ago=10)
    with done.open() as results:
        names = [row[1] for row in results.execute("PRAGMA table_info(attempt)") if row[1] not in ("id", "key")]
        results.execute(f"WITH RECURSIVE k(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM k WHERE n < 20000) INSERT INTO attempt"
                        f" (key, {', '.join(names)}) SELECT printf('%032x', n + 100), {', '.join(names)} FROM attempt, k"
                        " WHERE version = '0.9'")
    found = read(server, "/-/project/foo?limit=99999")  # not the page that was kept
    assert (len(found["unlisted"]), found["more"]) == (5000, True)
    assert states(found)[PUBLIC, "3.12"] == "unknown"
