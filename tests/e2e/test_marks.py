# SPDX-License-Identifier: Apache-2.0
"""Marks beside files: yanks and tombstones are on the pages, however they came there."""
import os
import shutil

import pytest

import indexing
import pages
import serving
import storelib

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
    with open(folder / f"{six}.yanked", "w", encoding="utf-8") as mark:  # in its place: the folder's time stays
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
