# SPDX-License-Identifier: Apache-2.0
"""Marks beside files: yanks and tombstones affect the pages, whoever wrote them."""
import contextlib
import json
import os
import shutil
import sqlite3

import pytest

import indexing
import pages
import serving
import storelib
import uploading

PLATFORM = indexing.PLATFORM
WHEEL = "six-1.0-py3-none-any.whl"
SOON = 20


def files(server, project="six", view=""):
    """{filename: yanked} of a project, the same in HTML and JSON; {} where there is no such page."""
    path = f"{view}/simple/{project}/"
    reply = server.get(path, {"Accept": pages.JSON})
    if reply.status == 404:
        return {}
    html = server.get(path, {"Accept": pages.HTML})
    if server.get(path, {"Accept": pages.JSON}).body != reply.body:
        return files(server, project, view)  # it changed between the two
    as_json = pages.json_files(reply.body, server.url)
    assert [(one.filename, one.yanked) for one in pages.html_files(html.body, server.url)] \
        == [(one.filename, one.yanked) for one in as_json]
    return {one.filename: one.yanked for one in as_json}


@pytest.fixture(name="store")
def _store(tmp_path):
    store = tmp_path / "store"
    for version in ("1.0", "2.0"):
        storelib.make_wheel(store / PLATFORM / "s" / "six", "six", version)
    return store


@pytest.fixture(name="folder")
def _folder(store):
    return store / PLATFORM / "s" / "six"


@pytest.fixture(name="indexed")
def _indexed(store, tmp_path):
    indexed = indexing.Indexed.__new__(indexing.Indexed)
    indexed.folder, indexed.store, indexed.catalog = tmp_path, store, tmp_path / "state" / "catalog.db"
    return indexed


def shown(indexed):
    """[(filename, state, yanked)] of all rows."""
    return indexed.query("SELECT filename, state, yanked FROM file ORDER BY filename")


def test_scan_sees_marks_come_change_and_go(indexed, folder):
    six, two = WHEEL, "six-2.0-py3-none-any.whl"
    assert indexed.index()["ignored"] == 0
    (folder / f"{six}.yanked").write_text("broken\n")
    (folder / f"{two}.pruned").write_text('{"reason": "upstream has it", "by": "root"}')
    summary = indexed.index()
    assert (summary["ignored"], summary["pruned"], summary["gone"]) == (0, 1, 1)
    assert shown(indexed) == [(six, 0, "broken"), (two, 3, None)]
    assert indexed.query("SELECT reason FROM file WHERE state = 3") == [("upstream has it",)]
    with open(folder / f"{six}.yanked", "w", encoding="utf-8") as mark:  # in place: the folder's mtime stays
        mark.write("really broken")
    indexed.index()
    assert shown(indexed)[0] == (six, 0, "really broken")
    (folder / f"{six}.yanked").unlink()
    (folder / f"{two}.pruned").unlink()
    summary = indexed.index()
    assert (summary["pruned"], summary["added"]) == (0, 1)
    assert shown(indexed) == [(six, 0, None), (two, 0, None)]
    assert indexed.query("SELECT count(*) FROM mark") == [(0,)]


def test_mark_is_there_before_its_file(indexed, folder):
    (folder / f"{WHEEL}.yanked").write_text("")
    (folder / "six-3.0-py3-none-any.whl.pruned").write_text("never again")
    indexed.index()
    storelib.make_wheel(folder, "six", "3.0")
    indexed.index()
    assert shown(indexed) == [(WHEEL, 0, ""), ("six-2.0-py3-none-any.whl", 0, None),
                              ("six-3.0-py3-none-any.whl", 3, None)]


def test_catalog_made_anew_has_the_same_marks(indexed, folder):
    (folder / f"{WHEEL}.yanked").write_text("broken")
    indexed.index()
    (folder / "six-2.0-py3-none-any.whl.pruned").write_text("")
    indexed.index()
    before = shown(indexed), indexed.query("SELECT filename, kind, reason FROM mark ORDER BY 1, 2")
    shutil.rmtree(indexed.catalog.parent)
    indexed.index()
    assert before == (shown(indexed), indexed.query("SELECT filename, kind, reason FROM mark ORDER BY 1, 2"))


def test_catalog_has_what_the_sidecar_says(indexed, folder):
    """All of its text; an older catalog reads it at its next scan."""
    text = '{"reason": "upstream has it", "when": "2026-01-02T03:04:05Z"}\n'
    (folder / f"{WHEEL}.pruned").write_text(text)
    indexed.index()
    assert indexed.query("SELECT reason, text FROM mark") == [("upstream has it", text)]
    with contextlib.closing(sqlite3.connect(indexed.catalog)) as connection:
        connection.execute("UPDATE mark SET text = NULL")
        connection.commit()
    indexed.index()
    assert indexed.query("SELECT reason, text FROM mark") == [("upstream has it", text)]
    change = indexed.query("SELECT change FROM store")
    (folder / f"{WHEEL}.pruned").write_text(text.replace("2026", "2025"))  # the reason stays
    indexed.index()
    assert indexed.query("SELECT text FROM mark") == [(text.replace("2026", "2025"),)]
    assert indexed.query("SELECT change FROM store") > change

    def writes_nothing():  # a folder that changed in the tick of its scan is read once more
        before = indexed.query("SELECT change FROM store")
        indexed.index()
        return indexed.query("SELECT change FROM store") == before

    serving.wait_for(writes_nothing, SOON, "a scan that writes nothing")


def test_volume_that_is_away_keeps_its_marks(indexed, store, folder):
    (folder / f"{WHEEL}.yanked").write_text("broken")
    (folder / "six-2.0-py3-none-any.whl.pruned").write_text("")
    indexed.index()
    before = shown(indexed)
    os.rename(store / PLATFORM, store.parent / "away")
    (store / PLATFORM).mkdir()
    indexed.index(code=1)
    assert shown(indexed) == before
    (store / PLATFORM).rmdir()
    os.rename(store.parent / "away", store / PLATFORM)
    indexed.index()
    assert shown(indexed) == before


def test_mark_that_cannot_be_read_stays_as_it_was(indexed, folder):
    mark = folder / f"{WHEEL}.yanked"
    mark.write_text("broken")
    indexed.index()
    mark.unlink()
    mark.symlink_to("/etc/passwd")
    done = indexed.run()
    assert done.returncode == 1 and f"{WHEEL}.yanked" in done.stderr
    assert shown(indexed)[0] == (WHEEL, 0, "broken")
    mark.unlink()
    indexed.index()
    assert shown(indexed)[0] == (WHEEL, 0, None)


def test_folder_with_the_name_of_a_mark_is_a_folder(indexed, folder):
    storelib.make_wheel(folder / "six-2.0-py3-none-any.whl.yanked", "six", "4.0")
    indexed.index()
    assert shown(indexed) == [(WHEEL, 0, None), ("six-2.0-py3-none-any.whl", 0, None),
                              ("six-4.0-py3-none-any.whl", 0, None)]


def test_pages_show_marks(serve, store, folder):
    (folder / f"{WHEEL}.yanked").write_text('a "b" <c> & d\u20ac\n')
    server = serve(store, "--rescan", "1")
    assert files(server) == {WHEEL: 'a "b" <c> & d\u20ac', "six-2.0-py3-none-any.whl": False}
    (folder / f"{WHEEL}.yanked").write_text("")
    serving.wait_for(lambda: files(server)[WHEEL] is True, SOON, "a yank without a reason")
    (folder / f"{WHEEL}.pruned").write_text("upstream has it")
    serving.wait_for(lambda: list(files(server)) == ["six-2.0-py3-none-any.whl"], SOON, "the tombstone")
    url = f"/files/{PLATFORM}/six/{WHEEL}"
    assert server.get(url).body == (folder / WHEEL).read_bytes()
    assert server.get(url + ".metadata").status == 200
    for mark in folder.glob("*.pruned"):
        mark.unlink()
    serving.wait_for(lambda: WHEEL in files(server), SOON, "the file again")


def test_static_export_shows_marks(indexed, folder, tmp_path):
    (folder / f"{WHEEL}.yanked").write_text("broken")
    (folder / "six-2.0-py3-none-any.whl.pruned").write_text("")
    indexed.index("--static", tmp_path / "out")
    page = (tmp_path / "out" / "simple" / "six" / "index.html").read_bytes()
    assert [(one.filename, one.yanked) for one in pages.html_files(page, "http://x/simple/six/")] == [(WHEEL, "broken")]


def command(indexed, name, *options, code=0):
    done = serving.run(name, "--catalog", indexed.catalog, *options, indexed.store)
    assert done.returncode == code, done.stdout + done.stderr
    return done


def audit(indexed):
    """The audit log, without time and user."""
    entries = uploading.audit(indexed)
    assert all(one["who"].startswith("user ") and one["time"] for one in entries)
    return [{key: value for key, value in one.items() if key not in ("time", "who")} for one in entries]


def test_yank_is_shown_by_a_running_server_and_taken_off(serve, store, folder, tmp_path):
    server = serve(store, "--rescan", "0")
    options = ["--catalog", server.catalog, "--quiet", WHEEL, store]
    assert files(server)[WHEEL] is False
    assert serving.run("yank", "--reason", "broken \u20ac", *options).returncode == 0
    assert (folder / f"{WHEEL}.yanked").read_text() == "broken \u20ac"
    serving.wait_for(lambda: files(server)[WHEEL] == "broken \u20ac", SOON, "the yank")
    assert serving.run("unyank", *options).returncode == 0
    assert not list(folder.glob("*.yanked"))
    serving.wait_for(lambda: files(server)[WHEEL] is False, SOON, "no yank")
    assert not list(folder.glob(".*")), "temporary files"


def test_removed_file_is_off_the_pages_and_has_its_url(serve, store, folder):
    server = serve(store, "--rescan", "0")
    options = ["--catalog", server.catalog, WHEEL, store]
    done = serving.run("remove", "--reason", "wrong ABI", *options)
    assert (done.returncode, done.stdout) == (0, f"{PLATFORM}: removed {WHEEL}\n")
    tombstone = json.loads((folder / f"{WHEEL}.pruned").read_text())
    assert tombstone["reason"] == "wrong ABI" and tombstone["by"].startswith("user ")
    serving.wait_for(lambda: WHEEL not in files(server), SOON, "the page without it")
    url = f"/files/{PLATFORM}/six/{WHEEL}"
    assert server.get(url).body == (folder / WHEEL).read_bytes()
    assert serving.run("remove", "--reason", "really", "--delete", *options).returncode == 0
    assert sorted(os.listdir(folder)) == [f"{WHEEL}.pruned", "six-2.0-py3-none-any.whl"]
    serving.wait_for(lambda: server.get(url).status == 410, SOON, "the file's end")
    assert b"really" in server.get(url).body


def test_what_commands_do_a_scan_finds_right(indexed, folder):
    indexed.index()
    command(indexed, "yank", "--reason", "", WHEEL)
    command(indexed, "remove", "--reason", "r", "six-2.0-py3-none-any.whl")
    before = shown(indexed)
    assert before == [(WHEEL, 0, ""), ("six-2.0-py3-none-any.whl", 3, None)]
    summary = indexed.index()
    assert (summary["added"], summary["gone"], summary["changed"]) == (0, 0, 0)
    assert shown(indexed) == before
    command(indexed, "unyank", WHEEL)
    command(indexed, "remove", "--delete", "--reason", "r", "six-2.0-py3-none-any.whl")
    indexed.index()
    assert shown(indexed) == [(WHEEL, 0, None)]
    assert indexed.query("SELECT filename, reason FROM mark") == [("six-2.0-py3-none-any.whl", "r")]


def test_yank_on_all_platforms_or_one(indexed, store):
    other = "rocky-9-x86_64"
    storelib.make_wheel(store / other, "six", "1.0")
    storelib.make_wheel(store / other / "deep", "six", "1.0")  # a copy on the same platform
    indexed.index()
    done = command(indexed, "yank", "--reason", "a", "--platform", other, WHEEL)
    assert done.stdout == f"{other}: yanked {WHEEL}\n"
    assert sorted(path.parent.name for path in store.rglob("*.yanked")) == ["deep", other]
    command(indexed, "yank", "--reason", "b", WHEEL)
    assert sorted(path.read_text() for path in store.rglob("*.yanked")) == ["b", "b", "b"]
    command(indexed, "remove", "--reason", "", WHEEL)
    assert [row[1] for row in shown(indexed)] == [3, 3, 3, 0]


def test_each_mutation_is_in_the_audit_log(indexed, store):
    indexed.index()
    sha256 = indexed.query(f"SELECT lower(hex(sha256)) FROM file WHERE filename = '{WHEEL}'")[0][0]
    command(indexed, "yank", "--reason", "broken", WHEEL)
    command(indexed, "unyank", WHEEL)
    (store / PLATFORM / ".wheelcache-frozen").write_text("moving\n")
    done = command(indexed, "remove", "--reason", "old", WHEEL, code=1)
    assert "frozen" in done.stderr and "moving" in done.stderr
    assert shown(indexed)[0] == (WHEEL, 0, None)
    same = {"platform": PLATFORM, "project": "six", "file": WHEEL, "sha256": sha256}
    entries = audit(indexed)
    assert "moving" in entries[2].pop("reason")
    assert entries == [{**same, "action": "yank", "result": "done", "reason": "broken"},
                       {**same, "action": "unyank", "result": "done"},
                       {**same, "action": "remove", "result": "refused"}]


def test_no_mutation_without_the_audit_log(indexed):
    indexed.index()
    indexed.catalog.with_name("catalog.db.audit").mkdir()
    done = command(indexed, "yank", "--reason", "broken", WHEEL, code=1)
    assert "audit log" in done.stderr
    assert shown(indexed)[0] == (WHEEL, 0, None) and not list(indexed.store.rglob("*.yanked"))


@pytest.mark.parametrize("name, options, words, code", [
    ("yank", [WHEEL], "--reason", 2),
    ("remove", [WHEEL], "--reason", 2),
    ("yank", ["--reason", "x", "six"], "not the name of a wheel", 2),
    ("yank", ["--reason", "x", "../" + WHEEL], "not in the folder of a platform", 2),
    ("yank", ["--reason", "x", "seven-1.0-py3-none-any.whl"], "no platform has", 1),
    ("yank", ["--reason", "x", "--platform", "nowhere", WHEEL], "nowhere", 1),
    ("unyank", ["--reason", "x", WHEEL], "--reason", 2),
])
def test_mistakes_are_named(indexed, name, options, words, code):
    indexed.index()
    assert words in command(indexed, name, *options, code=code).stderr
    assert not list(indexed.store.rglob("*.yanked")) + list(indexed.store.rglob("*.pruned"))


def test_folder_that_is_away_is_an_error(indexed, store):
    indexed.index()
    os.rename(store / PLATFORM / "s", store.parent / "away")
    assert PLATFORM in command(indexed, "yank", "--reason", "x", WHEEL, code=1).stderr
    assert shown(indexed)[0] == (WHEEL, 0, None)
