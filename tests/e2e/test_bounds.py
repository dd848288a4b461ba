# SPDX-License-Identifier: Apache-2.0
"""Small files that would become huge when expanded or shown: they harm only themselves."""
import contextlib
import json
import sqlite3

import pytest

import indexing
import merging
import serving
import storelib
import uploading

PLATFORM = "ubuntu-22.04-x86_64"
MANY = ".".join(f"a{i}" for i in range(64))
TAG_LINE = f"Tag: {'p' * (7 << 20)}-{MANY}-{MANY}\n".encode()  # 4,096 tags of 7 MB each
PYTHON_LIMIT = 1 << 10


def spoilt(folder, name, version="1.0", *, wheel=None, requires_python=None):
    """A wheel with these tags in its WHEEL, or with this METADATA."""
    path = folder / f"{name}-{version}-py3-none-any.whl"
    folder.mkdir(parents=True, exist_ok=True)
    stem = f"{name}-{version}.dist-info"
    members = storelib.wheel_members(name, version, requires_python=requires_python)[:-1]
    if wheel:
        members = [(one, data + wheel if one.endswith("/WHEEL") else data) for one, data in members]
    members.append((f"{stem}/RECORD", storelib.record_bytes(members, f"{stem}/RECORD")))
    storelib.zip_write(path, members)
    indexing.age(path)
    return path


def page_of(server, project, view=""):
    reply = server.get(f"{view}/simple/{project}/", {"Accept": "application/vnd.pypi.simple.v1+json"})
    assert reply.status == 200, reply.body[:500]
    return reply.body, {one["filename"]: one for one in json.loads(reply.body)["files"]}


def test_a_wheel_with_gigabytes_of_tags_is_listed_as_odd(tmp_path):
    at = indexing.Indexed(tmp_path)
    path = spoilt(at.store / PLATFORM / "b" / "bomb", "bomb", wheel=TAG_LINE)
    assert path.stat().st_size < 20_000
    good = at.wheel(f"{PLATFORM}/s/six")
    summary = at.index()
    assert at.names() == [path.name, good.name]
    assert summary["findings"] == 1


def test_server_survives_scan_and_upload_of_it(serve, tmp_path):
    store = tmp_path / "store"
    spoilt(store / PLATFORM / "b" / "bomb", "bomb", wheel=TAG_LINE)
    sent = spoilt(tmp_path / "dist", "bar", wheel=TAG_LINE)
    server = serve(store)
    token = uploading.add_token(server, "--note", "ci")
    assert uploading.upload(server, PLATFORM, sent, token).status in (200, 400)
    assert list(page_of(server, "bomb")[1]) == ["bomb-1.0-py3-none-any.whl"]
    server.stop()
    again = serve(store, state=tmp_path / "again")
    assert list(page_of(again, "bomb")[1]) == ["bomb-1.0-py3-none-any.whl"]


def test_metadata_out_of_such_a_wheel_of_upstream(serve, index, tmp_path):
    path = spoilt(tmp_path / "theirs", "six", wheel=TAG_LINE)
    index.add_bytes("six", path.name, path.read_bytes(), core_metadata=True)
    server = serve(None, config=merging.config(index))
    assert server.get(merging.url_of("six", f"{path.name}.metadata")).status == 200
    assert merging.names(server, "six") == [path.name]


@pytest.mark.parametrize("count", [12, 60])
def test_requires_python_of_megabytes_makes_a_small_page(serve, tmp_path, count):
    """A value within the limit is shown; a longer one is left out, and the file stays listed."""
    store = tmp_path / "store"
    folder = store / PLATFORM / "f" / "foo"
    long = ">=3" + "," * (7 << 20)
    paths = [spoilt(folder, "foo", f"{number}.0", requires_python=long) for number in range(count)]
    spoilt(folder, "foo", "100.0", requires_python=">=3" + "," * (PYTHON_LIMIT - 3))
    spoilt(folder, "foo", "101.0", requires_python=">=3" + "," * (PYTHON_LIMIT - 2))
    assert paths[0].stat().st_size < 20_000
    server = serve(store)
    body, files = page_of(server, "foo")
    assert len(files) == count + 2 and len(body) < 1000 * (count + 4)
    assert [name for name, one in files.items() if "requires-python" in one] == ["foo-100.0-py3-none-any.whl"]
    assert len(server.get("/simple/foo/", {"Accept": "text/html"}).body) < 1000 * (count + 8)


def test_rows_of_an_older_version_make_no_large_page(serve, tmp_path):
    store = tmp_path / "store"
    for number in range(20):
        storelib.make_wheel(store / PLATFORM / "f" / "foo", "foo", f"{number}.0", requires_python=">=3.8")
    state = tmp_path / "state"
    server = serve(store, state=state)
    assert len(page_of(server, "foo")[1]) == 20
    server.stop()
    with contextlib.closing(sqlite3.connect(server.catalog)) as catalog:
        catalog.execute("UPDATE file SET requires_python = ?, yanked = ? WHERE version <> '7.0'",
                        (">=3" + "," * (4 << 20), "y" * (4 << 20)))
        catalog.commit()
    server = serve(store, state=state)
    body, files = page_of(server, "foo")
    assert len(body) < 20_000
    assert sum("requires-python" in one for one in files.values()) == 1
    assert sum(one.get("yanked", False) is True for one in files.values()) == 19


# --- upstream's page ---

def upstream_wheels(index, tmp_path, count):
    wheels = [storelib.make_wheel(tmp_path / "theirs", "six", f"{number}.0") for number in range(count)]
    for wheel in wheels:
        index.add("six", wheel)
    return [wheel.name for wheel in wheels]


def told_of_upstream(server, what):
    merging.wait_until_noted(server, "six")
    return json.loads(server.get(f"/-/explain/simple/{what}").body)["upstream"]


@pytest.mark.parametrize("field", ["requires_python", "yanked", "provenance"])
def test_fields_of_megabytes_on_upstreams_page(serve, index, tmp_path, field):
    """They are on no page of ours; a yanked file stays yanked, and explain tells so."""
    names = upstream_wheels(index, tmp_path, 60)
    long = "https://example.org/" + "x" * 500_000 if field == "provenance" else ">=3" + "," * 500_000
    for name in names[:-1]:
        index.change("six", name, **{field: long})
    server = serve(None, config=merging.config(index))
    body, files = page_of(server, "six")
    assert sorted(files) == sorted(names) and len(body) < 200_000
    if field == "yanked":
        assert sorted(one["yanked"] is not False for one in files.values() if "yanked" in one) == [True] * 59
    else:
        assert not any(field.replace("_", "-") in one for one in files.values())
    assert len(server.get("/simple/six/", {"Accept": "text/html"}).body) < 200_000
    assert [one.get("cut") for one in told_of_upstream(server, "six/0.0")["file"]] == [True]
    assert "59 files say more than a page may" in server.errors()


def test_a_long_reason_leaves_a_project_in_quarantine(serve, index, tmp_path):
    upstream_wheels(index, tmp_path, 2)
    index.page_facts["six"] = {"project-status": {"status": "quarantined", "reason": "r" * 3_000_000}}
    server = serve(None, config=merging.config(index))
    body, files = page_of(server, "six")
    assert files == {} and b"quarantined" in body and len(body) < 5000
    index.page_facts["six"] = {"project-status": {"status": "archived", "reason": "r" * 3_000_000}}
    other = serve(None, config=merging.config(index))
    body, files = page_of(other, "six")
    assert len(files) == 2 and b"archived" in body and len(body) < 5000


NO_PAGES = {
    "files of strings": {"files": ["six-1.0.tar.gz"]},
    "no filename": {"files": [{"url": "six-1.0.tar.gz", "hashes": {}}]},
    "no url": {"files": [{"filename": "six-1.0.tar.gz", "hashes": {}}]},
    "no usable url": {"files": [{"filename": "six-1.0.tar.gz", "url": "ftp://example.org/six-1.0.tar.gz", "hashes": {}}]},
    "files is an object": {"files": {}},
    "versions of numbers": {"files": [], "versions": [1, 2]},
    "status is a list": {"files": [], "project-status": ["quarantined"]},
    "another api": {"files": [], "meta": {"api-version": "2.0"}},
    "no api": {"files": [], "meta": {}},
    "no name": {"files": [], "name": None},
}


@pytest.mark.parametrize("row", [{"filename": ""}, {"filename": "", "url": ""}, {"filename": "six-9.0.tar.gz", "url": ""}])
def test_an_empty_row_spoils_no_page(serve, index, tmp_path, row):
    names = upstream_wheels(index, tmp_path, 2)
    first, *others = index.pages["six"].values()
    index.page_facts["six"] = {"files": [first, {"url": "six-1.0.tar.gz", "hashes": {}} | row, *others]}
    assert sorted(page_of(serve(None, config=merging.config(index)), "six")[1]) == names


@pytest.mark.parametrize("odd", NO_PAGES.values(), ids=NO_PAGES)
def test_what_is_no_simple_page_is_no_project_without_files(serve, index, tmp_path, odd):
    """The first time it is a failure without a page; later the known page stays."""
    names = upstream_wheels(index, tmp_path, 2)
    index.page_facts["six"] = odd
    server = serve(None, config=merging.config(index))
    reply = server.get("/simple/six/")
    assert (reply.status, reply.body) == (502, b"502 Bad Gateway: six: upstream cannot be asked: not a simple page\n")
    index.page_facts["six"] = {}
    index.max_age = 0
    other = serve(None, config=merging.config(index))
    assert sorted(page_of(other, "six")[1]) == names
    index.page_facts["six"] = odd
    index.serial += 1
    for _ in range(3):
        assert sorted(page_of(other, "six")[1]) == names
