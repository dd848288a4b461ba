# SPDX-License-Identifier: Apache-2.0
"""wheelcache usage: how many files and bytes there are of what."""
import csv
import io
import json
import os
import time

import pytest

import serving
import storelib

PLATFORM, OTHER = "ubuntu-22.04-x86_64", "debian-12-x86_64"


@pytest.fixture(name="usage")
def usage_fixture(tmp_path):
    store, catalog = tmp_path / "store", tmp_path / "catalog.db"
    made = [storelib.make_wheel(store / PLATFORM, "foo", "1.0"), storelib.make_wheel(store / PLATFORM, "foo", "2.0"),
            storelib.make_wheel(store / PLATFORM, "bar", "1.0"), storelib.make_wheel(store / OTHER, "foo", "1.0")]
    for days, one in zip((3, 20, 400, 50), made):
        os.utime(one.path, (time.time() - days * 86400,) * 2)
    assert serving.run("index", "--catalog", catalog, store).returncode == 0

    def run(*words, code=0):
        done = serving.run("usage", "--catalog", catalog, *words)
        assert done.returncode == code, done.stderr
        return done.stdout if code == 0 else done.stderr
    run.size = [one.path.stat().st_size for one in made]
    return run


def test_bytes_and_files_are_counted(usage):
    size = usage.size

    def rows(by):
        document = json.loads(usage("--by", by, "--format", "json"))
        assert (document["by"], document["files"], document["bytes"]) == (by, 4, sum(size))
        return [tuple(one[key] for key in ("project" if by == "version" else by, *(["version"] if by == "version" else []),
                                           "files", "bytes")) for one in document["rows"]]
    assert rows("platform") == [(PLATFORM, 3, sum(size[:3])), (OTHER, 1, size[3])]
    assert rows("project") == [("foo", 3, size[0] + size[1] + size[3]), ("bar", 1, size[2])]
    assert sorted(rows("version")) == [("bar", "1.0", 1, size[2]), ("foo", "1.0", 2, size[0] + size[3]), ("foo", "2.0", 1, size[1])]
    assert [one[:2] for one in rows("age")] == [("less than 7 days", 1), ("less than 30 days", 1), ("less than 90 days", 1),
                                                ("a year or more", 1)]


def test_forms_say_the_same(usage):
    table = usage()
    assert table.splitlines()[0].split() == ["MiB", "files", "newest", "downloaded", "platform"]
    assert [line.split()[-1] for line in table.splitlines()[1:]] == [PLATFORM, OTHER, "all"]
    head, *lines = csv.reader(io.StringIO(usage("--by", "version", "--format", "csv")))
    assert head == ["project", "version", "files", "bytes", "newest", "downloaded"]
    assert {(one[0], one[1], one[2]) for one in lines} == {("bar", "1.0", "1"), ("foo", "1.0", "2"), ("foo", "2.0", "1")}
    newest = json.loads(usage("--by", "project", "--format", "json"))["rows"][0]
    assert newest["newest"][:10] == time.strftime("%Y-%m-%d", time.gmtime(time.time() - 3 * 86400)) and newest["downloaded"] is None


def test_last_download_is_shown(serve, tmp_path):
    made = storelib.make_wheel(tmp_path / "store" / PLATFORM / "f", "foo", "1.0")
    storelib.make_wheel(tmp_path / "store" / PLATFORM / "b", "bar", "1.0")
    server = serve(tmp_path / "store")
    assert server.get(f"/files/{PLATFORM}/foo/{made.name}").status == 200
    server.stop()
    done = serving.run("usage", "--by", "project", "--format", "json", "--catalog", server.catalog)
    day = {one["project"]: one["downloaded"] for one in json.loads(done.stdout)["rows"]}
    assert day == {"foo": time.strftime("%Y-%m-%d", time.gmtime()), "bar": None}


def test_mistakes_are_named(usage):
    assert "--by size: expected platform, project, version or age" in usage("--by", "size", code=2)
    assert "--format xml: expected table, csv or json" in usage("--format", "xml", code=2)
