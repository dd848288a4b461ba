# SPDX-License-Identifier: Apache-2.0
"""One catalog, used by a server and by indexers that start and exit: no process breaks it for another."""
import contextlib
import sqlite3
import subprocess
import threading

import pages
import serving
import storelib

SOON = 30


def listed(server, project="six"):
    reply = server.get(f"/simple/{project}/", {"Accept": pages.JSON})
    return len(pages.json_files(reply.body, server.url)) if reply.status == 200 else 0


def command(server, store, *options):
    return ["index", "--catalog", str(server.catalog), "--quiet", *options, str(store)]


def test_each_run_of_an_indexer_shows(serve, tmp_path, wheelcache):
    """If the server had lost its locks, a process that closes the catalog would take itself for the last user."""
    store = tmp_path / "store"
    storelib.make_wheel(store, "six", "1.0")
    server = serve(store, "--rescan", "0")
    for number in range(1, 4):
        storelib.make_wheel(store, "six", f"1.{number}")
        done = wheelcache(*command(server, store))
        assert done.returncode == 0, done.stderr
        serving.wait_for(lambda want=number + 1: listed(server) == want, SOON, f"run {number} of the indexer")


def test_catalog_stays_whole_under_many_writers(serve, tmp_path):
    store = tmp_path / "store"
    for number in range(1000):
        storelib.make_wheel(store / f"p{number % 50}", f"p{number % 50}", f"1.{number}")
    server = serve(store, "--rescan", "1")
    for number in range(3):
        storelib.make_wheel(store, "six", f"1.{number}")
        both = [subprocess.Popen([serving.binary(), *command(server, store)], stderr=subprocess.PIPE, text=True)
                for _ in range(2)]
        for one in both:
            _, errors = one.communicate(timeout=300)
            assert one.returncode == 0, errors
    serving.wait_for(lambda: listed(server) == 3, SOON, "the last wheel")
    with contextlib.closing(sqlite3.connect(server.catalog)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("SELECT count(*) FROM file WHERE state = 0").fetchall() == [(1003,)]


def yanked(server):
    """Whether the page says so, asked on a connection that stays open."""
    reply = server.get("/simple/six/", {"Accept": pages.JSON})
    return [one.yanked for one in pages.json_files(reply.body, server.url)]


def test_very_next_request_sees_what_another_process_committed(serve, tmp_path, wheelcache):
    """Without a wait: once the other process has ended, an old cached page is not served."""
    store = tmp_path / "store"
    wheel = storelib.make_wheel(store, "six", "1.0")
    server = serve(store, "--rescan", "0")
    line = ["--catalog", server.catalog, "--quiet", wheel.name, store]
    for number in range(10):
        yanked(server)
        assert wheelcache("yank", "--reason", str(number), *line).returncode == 0
        assert yanked(server) == [str(number)]
    assert wheelcache("remove", "--reason", "", *line).returncode == 0
    assert server.get("/simple/six/").status == 404
    (store / f"{wheel.name}.pruned").unlink()
    assert wheelcache(*command(server, store)).returncode == 0
    assert yanked(server) == ["9"]
    storelib.make_wheel(store, "seven", "1.0")
    assert server.get("/simple/seven/").status == 404  # from memory: an unknown name
    assert wheelcache(*command(server, store)).returncode == 0
    assert server.get("/simple/seven/").status == 200


@contextlib.contextmanager
def indexing_all_the_time(server, store):
    """Runs an indexer again and again, so that events fall into any phase of a scan."""
    ended = threading.Event()
    codes = []

    def index():
        while not ended.is_set():
            codes.append(serving.run(*command(server, store)).returncode)

    thread = threading.Thread(target=index)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
    assert codes and set(codes) == {0}


def test_scan_does_not_undo_concurrent_marks(serve, tmp_path):
    """Each mark is written while a scan has already passed its folder, or is reading it."""
    store = tmp_path / "store"
    for number in range(200):
        storelib.make_wheel(store / f"p{number}", f"p{number}", "1.0")
    wheels = [storelib.make_wheel(store / "six", "six", f"1.{number}").name for number in range(8)]
    server = serve(store, "--rescan", "0")

    def run(name, *options):
        done = serving.run(name, "--catalog", server.catalog, "--quiet", *options, store)
        assert done.returncode == 0, done.stderr

    def page():
        reply = server.get("/simple/six/", {"Accept": pages.JSON})
        return {one.filename: one.yanked for one in pages.json_files(reply.body, server.url)}

    expected = dict.fromkeys(wheels, False)
    with indexing_all_the_time(server, store):
        for wheel in wheels:
            (store / "six" / f"{wheel}.yanked").write_text("by hand")  # a scan may see it, and write it after unyank
            run("unyank", wheel)
            assert page() == expected
            run("yank", "--reason", "why", wheel)
            expected[wheel] = "why"
            assert page() == expected
        for wheel in wheels[::2]:
            run("remove", "--delete", "--reason", "r", wheel)
            del expected[wheel]
            assert page() == expected
    assert page() == expected
    assert not [wheel for wheel in wheels[::2] if (store / "six" / wheel).exists()]


def test_without_the_change_mark_it_shows_soon(serve, tmp_path, wheelcache):
    store = tmp_path / "store"
    wheel = storelib.make_wheel(store, "six", "1.0")
    server = serve(store, "--rescan", "0")
    server.catalog.with_name("catalog.db-changes").unlink()
    line = ["--catalog", server.catalog, "--quiet", wheel.name, store]
    assert wheelcache("yank", "--reason", "x", *line).returncode == 0
    serving.wait_for(lambda: yanked(server) == ["x"], 20, "the yank")


def test_reader_makes_no_change_mark(tmp_path, wheelcache):
    store, catalog = tmp_path / "store", tmp_path / "catalog.db"
    storelib.make_wheel(store, "six", "1.0")
    assert wheelcache("index", "--catalog", catalog, store).returncode == 0
    mark = catalog.with_name("catalog.db-changes")
    mark.unlink()
    assert wheelcache("check", "--catalog", catalog, store).returncode == 0
    assert not mark.exists()
