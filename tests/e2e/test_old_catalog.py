# SPDX-License-Identifier: Apache-2.0
"""A catalog of an older wheelcache is brought up to date by opening it."""
import contextlib
import os
import pathlib
import shutil
import sqlite3

import pytest

import indexing
import storelib

# What the first release made of the store below, by `sqlite3 catalog .dump`.
DUMP = pathlib.Path(__file__).with_name("catalog-schema-1.sql")
APPLICATION_ID = 0x77636174


@pytest.fixture(name="old")
def _old(tmp_path):
    old = indexing.Indexed(tmp_path)
    for path, version in ((".", "1.0"), ("b", "1.0"), ("b", "2.0")):
        old.wheel(f"{indexing.PLATFORM}/{path}", version=version)
    old.catalog.parent.mkdir()
    with contextlib.closing(sqlite3.connect(old.catalog)) as connection:
        connection.executescript(DUMP.read_text())
        connection.execute("UPDATE store SET path = ?", [str(old.store)])
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute("PRAGMA user_version = 1")
        connection.commit()
    return old


def test_old_catalog_is_as_good_as_a_new_one(old, tmp_path):
    names = ["six-1.0-py3-none-any.whl", "six-2.0-py3-none-any.whl"]
    assert old.names() == names
    old.index()
    upgraded = old.facts()
    assert old.query("PRAGMA user_version") > [(1,)]
    assert old.names() == names
    shutil.rmtree(old.catalog.parent)
    old.index()
    assert upgraded == old.facts()


def test_marks_that_were_there_before_are_seen(old):
    """The folders of an old catalog are scanned again, though their mtimes have not changed."""
    folder = old.store / indexing.PLATFORM
    (folder / "six-1.0-py3-none-any.whl.yanked").write_text("broken\n")
    os.utime(folder, (storelib.OLD, storelib.OLD))
    with contextlib.closing(sqlite3.connect(old.catalog)) as connection:
        connection.execute("UPDATE folder SET mtime_ns = ?, trusted = 1 WHERE path = ''", [folder.stat().st_mtime_ns])
        connection.commit()
    old.index()
    assert old.query("SELECT yanked FROM file WHERE state = 0 ORDER BY filename") == [("broken",), (None,)]


def test_file_that_an_old_scan_saw_twice_is_there_once(old):
    """A folder that changes while it is read may name a file twice."""
    with contextlib.closing(sqlite3.connect(old.catalog)) as connection:
        columns = [row[1] for row in connection.execute("PRAGMA table_info(file)") if row[1] not in ("id", "state")]
        connection.execute(f"INSERT INTO file (state, {', '.join(columns)})"
                           f" SELECT 2, {', '.join(columns)} FROM file WHERE id = 1")
        connection.commit()
    old.index()
    assert old.query("SELECT state, count(*) FROM file GROUP BY state") == [(0, 2), (2, 1)]
    assert old.names() == ["six-1.0-py3-none-any.whl", "six-2.0-py3-none-any.whl"]
