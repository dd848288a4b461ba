# SPDX-License-Identifier: Apache-2.0
"""/-/usage/: what wheelcache usage says, of what the client may read."""
import contextlib
import csv
import hashlib
import io
import json
import pathlib
import sqlite3

import pytest

import htmlcheck
import serving
import storelib
import uploading

PUBLIC, SECRET = "ubuntu-22.04-x86_64", "debian-12-x86_64"
MOST = 20000  # LIMIT_USAGE_ROWS
CONFIG = f"[platform {PUBLIC}]\npythons = 3.10\n[platform {SECRET}]\npythons = 3.11\nprivate = yes\n"


def page(server, query="", token=None, accept="application/json"):
    reply = server.get(f"/-/usage/{query}", {"Accept": accept, **uploading.authorization(token)})
    assert reply.status == 200, reply.body
    return reply


def rows(server, query="", token=None):
    document = json.loads(page(server, query, token).body)
    assert document["files"] == sum(one["files"] for one in document["rows"])
    assert document["bytes"] == sum(one["bytes"] for one in document["rows"])
    key = document["by"].replace("version", "project")
    return [(one[key], one.get("version"), one["files"]) for one in document["rows"]]


@pytest.fixture(name="server", scope="module")
def server_fixture(tmp_path_factory):
    folder = tmp_path_factory.mktemp("usage")
    store = folder / "store"
    for platform, project, version in ((PUBLIC, "demo", "1.0"), (PUBLIC, "demo", "2.0"), (PUBLIC, "other", "1.0"),
                                       (SECRET, "demo", "3.0"), (SECRET, "vault", "1.0")):
        storelib.make_wheel(store / platform / project, project, version)
    with serving.servers(folder) as start:
        server = start(store, config=CONFIG)
        serving.wait_for(lambda: serving.answers(server, "/-/ready"), 30, "the scan")
        server.all, server.vault = (uploading.add_token(server, "--read", "--platform", SECRET, *more)
                                    for more in ((), ("--project", "vault")))
        yield server


def test_page_says_what_the_command_says(server):
    for by in ("platform", "project", "version", "age"):
        done = serving.run("usage", "--by", by, "--format", "json", "--catalog", server.catalog)
        assert json.loads(done.stdout) == json.loads(page(server, f"?by={by}", server.all).body)
        done = serving.run("usage", "--by", by, "--format", "csv", "--catalog", server.catalog)
        assert done.stdout == page(server, f"?by={by}&format=csv", server.all).body.decode().replace("\r\n", "\n")
        assert page(server, f"?by={by}&format=csv")["Content-Type"] == "text/csv; charset=utf-8"
    done = serving.run("usage", "--project", "Demo", "--by", "version", "--format", "json", "--catalog", server.catalog)
    assert json.loads(done.stdout) == json.loads(page(server, "?by=version&project=Demo", server.all).body)
    assert "not a valid project name" in serving.run("usage", "--project", "<b>", "--catalog", server.catalog).stderr


def test_private_files_are_in_no_row_and_no_sum(server):
    """Whoever asks first: what a token may read is not kept for others."""
    for _ in range(2):
        assert rows(server, "?by=project", server.all) == [("demo", None, 3), ("other", None, 1), ("vault", None, 1)] or \
            sorted(rows(server, "?by=project", server.all)) == [("demo", None, 3), ("other", None, 1), ("vault", None, 1)]
        assert sorted(rows(server, "?by=project", server.vault)) == [("demo", None, 2), ("other", None, 1), ("vault", None, 1)]
        assert sorted(rows(server, "?by=project")) == [("demo", None, 2), ("other", None, 1)]
        assert rows(server) == [(PUBLIC, None, 3)]
        assert sum(row[2] for row in rows(server, "?by=age")) == 3
        assert rows(server, "?by=version&project=vault") == [] and len(rows(server, "?by=version&project=vault", server.vault)) == 1
        assert rows(server, "?by=version&project=demo", server.vault) == rows(server, "?by=version&project=demo")
        for accept in ("text/html", "application/json"):
            for query in ("", "?by=project", "?by=version", "?project=vault"):
                reply = page(server, query, None, accept)
                assert SECRET.encode() not in reply.body and b"vault</a>" not in reply.body
                assert "private" in reply["Cache-Control"] or "no-store" in reply["Cache-Control"]


def test_page_for_people(server):
    text = page(server, "?by=version", None, "text/html").body.decode()
    htmlcheck.HtmlCheck(text)
    assert "By version</option>" in text and "project/demo" in text and "?by=version&amp;format=csv" in text
    first = page(server, "?by=version&limit=1", None, "text/html").body.decode()
    assert "the first 1 of 3 rows" in first and "limit=4" in first
    assert "There is no such file" in page(server, "?project=no-such", None, "text/html").body.decode()
    assert 'href="-/usage/"' in server.get("/", {"Accept": "text/html"}).body.decode()
    project = server.get("/-/project/demo", {"Accept": "text/html"}).body.decode()
    assert "-/usage/?by=version&amp;project=demo" in project and "-/log/" not in project


def test_what_is_no_question_is_refused(server):
    for query in ("?by=size", "?by=project%00", "?project=%2F1", "?project=" + "x" * 300, "?by=" + "y" * 300):
        assert server.get(f"/-/usage/{query}").status == 400, query


def test_last_download(server):
    counts = pathlib.Path(f"{server.catalog}.downloads")
    counts.write_text("wheelcache-downloads 1 2026-11-01\n"
                      f"{SECRET}/demo-3.0-py3-none-any.whl 3 2026-11-09\n{PUBLIC}/demo-1.0-py3-none-any.whl 2 2026-11-03\nend 2\n")

    def day(token):
        return {one["version"]: one["downloaded"] for one in json.loads(page(server, "?by=version&project=demo", token).body)["rows"]}
    assert day(server.vault) == {"1.0": "2026-11-03", "2.0": None}
    assert day(server.all) == {"1.0": "2026-11-03", "2.0": None, "3.0": "2026-11-09"}
    last = json.loads(page(server, "?by=project&project=demo", server.vault).body)["rows"][0]["downloaded"]
    assert last == "2026-11-03"
    counts.write_text("torn")
    assert day(server.vault) == {"1.0": None, "2.0": None}
    assert "torn" in server.errors() or "downloads" in server.errors()
    counts.unlink()


def test_rows_have_a_limit(serve, tmp_path):
    """Exceeds LIMIT_USAGE_ROWS."""
    storelib.make_wheel(tmp_path / "store" / PUBLIC / "d", "demo", "1.0")
    storelib.make_wheel(tmp_path / "store" / PUBLIC / "e", "extra", "1.0")
    server = serve(tmp_path / "store", config="[server]\nrescan = 0\n")
    serving.wait_for(lambda: serving.answers(server, "/-/ready"), 30, "the scan")
    with contextlib.closing(sqlite3.connect(server.catalog, timeout=60)) as db, db:
        where = db.execute("SELECT folder, platform, project FROM file WHERE filename LIKE 'demo-%'").fetchone()
        db.executemany(
            "INSERT INTO file (folder, platform, project, filename, state, trusted, size, mtime_ns, inode, sha256, version, version_key,"
            " findings, arrived) VALUES (?, ?, ?, ?, 0, 1, 1000, 10, 1, ?, ?, ?, 0, 1)",
            [(*where, f"demo-2.{number}-py3-none-any.whl", hashlib.sha256(str(number).encode()).digest(), f"2.{number}",
              number.to_bytes(4, "big")) for number in range(MOST)])
    for limit, shown in (("", MOST), ("&limit=99999999999999999999", MOST), ("&limit=3", 3)):
        document = json.loads(page(server, f"?by=version&format=json{limit}").body)
        assert (len(document["rows"]), document["more"], document["files"]) == (shown, MOST + 2 - shown, MOST + 2)
    assert b"the first 200 of 20,002 rows" in page(server, "?by=version", None, "text/html").body
