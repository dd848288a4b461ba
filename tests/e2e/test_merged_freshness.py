# SPDX-License-Identifier: Apache-2.0
"""Cache lifetimes of upstream's answers: 304s, a slow upstream, one that is down, restarts, and servers that share a catalog."""
import contextlib
import json
import signal
import sqlite3
import threading

import pytest

import merging
import pages
import serving
import storelib

SOON = 120


@pytest.fixture(name="wheel")
def wheel_fixture(tmp_path, index):
    wheel = storelib.make_wheel(tmp_path / "theirs", "six", "1.0")
    index.add("six", wheel)
    return wheel


@pytest.fixture(name="newer")
def newer_fixture(tmp_path):
    return storelib.make_wheel(tmp_path / "theirs", "six", "2.0")


def test_page_is_used_for_as_long_as_upstream_says(serve, index, wheel):
    index.max_age = 3600
    server = serve(None, config=merging.config(index))
    for accept in (pages.JSON, pages.HTML):
        for coding in ("", "gzip", "zstd"):
            assert server.get("/simple/six/", {"Accept": accept, "Accept-Encoding": coding}).status == 200
    assert index.statuses("six") == [200]


@pytest.mark.parametrize("age, is_fresh", [("0", True), ("3000", True), ("3600", False), ("99999999999999999999", False),
                                           ("3600, 1", False), ("no number", True)])
def test_age_counts_against_max_age(serve, index, wheel, age, is_fresh):
    """The age of an answer in a cache before us counts (RFC 9111, 4.2.3), also that of a 304."""
    index.max_age = 3600

    def answer(handler, data):
        status = 304 if handler.headers.get("If-None-Match") else 200
        handler.start(status, b"" if status == 304 else data, Content_Type=pages.JSON, ETag='"x"', Age=age,
                      Cache_Control="max-age=3600")
        handler.wfile.write(b"" if status == 304 else data)
    index.fail("six", answer)
    server = serve(None, config=merging.config(index, max_age=7200))
    assert merging.names(server, "six") == [wheel.name]
    if is_fresh:
        assert merging.names(server, "six") == [wheel.name]
        assert index.statuses("six") == [200]
    else:
        serving.wait_for(lambda: merging.names(server, "six") and 304 in index.statuses("six"), SOON, "it is asked again")
        before = index.count("six")
        serving.wait_for(lambda: merging.names(server, "six") and index.count("six") > before, SOON, "and again")


def test_known_pages_outlive_a_429(serve, index, wheel):
    """A 503 for one project, with a Retry-After of an hour, does not affect another one."""
    index.add_bytes("other", "other-1.0.tar.gz", b"other")
    index.fail("tired", lambda handler, _: handler.start(503, Retry_After="3600"))
    server = serve(None, config=merging.config(index, max_age=0, timeout=10))
    assert merging.status_of(server, "tired") == 502
    assert merging.names(server, "six") == [wheel.name]
    assert index.count("tired") == 1
    index.fail("too-much", lambda handler, _: handler.start(429, Retry_After="3600"))
    assert merging.status_of(server, "too-much") == 502
    before = len(index.asked)
    for _ in range(10):
        assert merging.names(server, "six") == [wheel.name]
    assert merging.status_of(server, "other") == 502  # it was never fetched
    assert len(index.asked) == before


def many_files(index, project):
    """A page that is too large for the page cache."""
    index.pages[project] = {f"{project}-{number}.0-py3-none-any.whl": {
        "filename": f"{project}-{number}.0-py3-none-any.whl", "url": f"../../packages/{number:060x}/{project}.whl",
        "upload-time": merging.UPLOADED, "size": 1000, "requires-python": ">=3.8", "hashes": {"sha256": f"{number:064x}"},
        "core-metadata": {"sha256": f"{number + 7:064x}"}} for number in range(60_000)}


@pytest.mark.parametrize("project", ["six", "huge"])
def test_catalog_that_cannot_be_written(serve, index, wheel, project):
    """Pages and files are still answered, again and again."""
    many_files(index, "huge")
    server = serve(None, config=merging.config(index, max_age=0))
    with contextlib.closing(sqlite3.connect(server.catalog)) as catalog:
        catalog.execute("CREATE TRIGGER full BEFORE INSERT ON upstream BEGIN SELECT raise(ABORT, 'it is full'); END")
        catalog.commit()
    for accept in (pages.JSON, pages.HTML):
        assert server.get(f"/simple/{project}/", {"Accept": accept}).status == 200
    serving.wait_for(lambda: "answers are not saved: " in server.errors() and "it is full" in server.errors(), SOON, "the catalog fails")
    for _ in range(5):
        for accept in (pages.JSON, pages.HTML):
            assert server.get(f"/simple/{project}/", {"Accept": accept}).status == 200
    before = index.count(project)
    serving.wait_for(lambda: merging.names(server, project) and index.count(project) > before, SOON, "it is asked again")
    assert server.get(merging.url_of("six", wheel.name)).status == 200


def test_catalog_that_is_locked(serve, index, wheel, newer):
    server = serve(None, config=merging.config(index, max_age=0))
    assert merging.names(server, "six") == [wheel.name]
    merging.wait_until_noted(server, "six")
    with contextlib.closing(sqlite3.connect(server.catalog, timeout=SOON)) as catalog:
        catalog.execute("BEGIN IMMEDIATE")
        index.add("six", newer)
        serving.wait_for(lambda: merging.names(server, "six") == [wheel.name, newer.name], SOON, "the new page")
        assert merging.status_of(server, "never-seen") == 404
        assert server.get(merging.url_of("six", newer.name)).status == 200
        catalog.rollback()


def test_page_is_confirmed_by_its_etag(serve, index, wheel):
    server = serve(None, config=merging.config(index, max_age=0))
    etag = server.get("/simple/six/")["ETag"]
    serving.wait_for(lambda: server.get("/simple/six/") and 304 in index.statuses("six"), SOON, "a 304")
    assert server.get("/simple/six/", {"If-None-Match": etag}).status == 304
    assert set(index.statuses("six")) == {200, 304}


def test_stale_page_is_served_while_it_is_revalidated(serve, index, wheel, newer):
    server = serve(None, config=merging.config(index, max_age=0))
    assert merging.names(server, "six") == [wheel.name]
    index.add("six", newer)
    go_on = threading.Event()

    def slowly(handler, data):
        assert go_on.wait(merging.PATIENT_S)
        handler.start(200, data, Content_Type=pages.JSON)
        handler.wfile.write(data)
    index.fail("six", slowly)
    before = index.count("six")
    serving.wait_for(lambda: merging.names(server, "six") == [wheel.name] and index.count("six") > before, SOON, "a question")
    for _ in range(3):
        assert merging.names(server, "six") == [wheel.name]
    assert index.count("six") == before + 1
    go_on.set()
    serving.wait_for(lambda: merging.names(server, "six") == [wheel.name, newer.name], SOON, "the new page")


def test_reload_changes_the_cache_lifetime(serve, index, wheel, newer, tmp_path):
    index.max_age, state = 3600, tmp_path / "state"
    server = serve(None, config=merging.config(index), state=state)
    assert merging.names(server, "six") == [wheel.name]
    server.stop()
    server = serve(None, config=merging.config(index), state=state)  # which has not just asked

    def reload(**keys):
        before = len(server.errors())
        server.config_path.write_text(merging.config(index, **keys))
        server.signal(signal.SIGHUP)
        serving.wait_for(lambda: "the configuration is reloaded" in server.errors()[before:], SOON, keys)
        assert "has changed" not in server.errors()[before:]
    assert merging.names(server, "six") == [wheel.name]
    index.add("six", newer)
    assert merging.names(server, "six") == [wheel.name]
    reload(max_age=0)
    serving.wait_for(lambda: merging.names(server, "six") == [wheel.name, newer.name], SOON, "the new page")
    reload(max_age=0, offline="yes", files_size="1M")
    assert merging.names(server, "six") == [wheel.name, newer.name]
    assert b"never-seen: upstream cannot be asked: the server is offline" in server.get("/simple/never-seen/").body
    assert merging.status_of(server, "never-seen") == 502 and index.count("never-seen") == 0
    reload(negative_max_age=3600)
    assert merging.status_of(server, "never-seen") == 404 and index.count("never-seen") == 1


def test_upstream_that_is_down(serve, index, wheel, tmp_path):
    storelib.make_wheel(tmp_path / "store", "mine", "1.0")
    server = serve(tmp_path / "store", config=merging.config(index, max_age=0, retries=0))
    data = server.get(merging.url_of("six", wheel.name)).body
    index.is_down = True
    before = index.count("six")
    serving.wait_for(lambda: merging.names(server, "six") and index.count("six") > before, SOON, "upstream is asked in vain")
    assert merging.names(server, "six") == [wheel.name]  # as it was
    assert server.get(merging.url_of("six", wheel.name)).body == data
    never = server.get("/simple/never-seen/")
    assert never.status == 502 and never["Cache-Control"] == "no-store", never.status
    assert server.get("/files/upstream/never-seen/x-1.0.tar.gz").status == 502


def test_ours_while_upstream_was_never_reached(serve, index, tmp_path):
    mine = storelib.make_wheel(tmp_path / "store", "mine", "1.0").name
    index.is_down = True
    server = serve(tmp_path / "store", config=merging.config(index, retries=0, negative_max_age=0))
    reply = server.get("/simple/mine/", {"Accept": pages.JSON})
    assert [one["filename"] for one in json.loads(reply.body)["files"]] == [mine]
    assert reply["Cache-Control"] == "no-store"
    index.is_down = False
    serving.wait_for(lambda: "no-store" not in (server.get("/simple/mine/")["Cache-Control"] or ""), SOON,
                     "upstream has been asked")
    assert merging.names(server, "mine") == [mine]


def test_page_of_our_name_never_waits(serve, index, tmp_path):
    """A name that is ours stays ours whatever upstream says: no request waits for it."""
    mine, state = storelib.make_wheel(tmp_path / "store", "mine", "1.0"), tmp_path / "state"
    config = merging.config(index, negative_max_age=0, timeout=600)
    server = serve(tmp_path / "store", "--rescan", "0", config=config, state=state)
    assert merging.names(server, "mine") == [mine.name]
    server.stop()
    go_on = threading.Event()
    index.add("mine", storelib.make_wheel(tmp_path / "theirs", "mine", "2.0"))
    index.fail("mine", lambda handler, data: go_on.wait(merging.PATIENT_S) and handler.start(503))
    try:
        server = serve(tmp_path / "store", "--rescan", "0", config=config, state=state)
        assert merging.names(server, "mine") == [mine.name]
        serving.wait_for(lambda: index.count("mine") == 2, SOON, "a question")
        assert merging.names(server, "mine") == [mine.name]
    finally:
        go_on.set()


def test_old_page_has_an_end(serve, index, wheel):
    server = serve(None, config=merging.config(index, max_age=0, stale=3, retries=0))
    serving.wait_for(lambda: merging.status_of(server, "six") == 200, SOON, "its page")  # on a slow machine it may be too old
    index.is_down = True
    serving.wait_for(lambda: merging.status_of(server, "six") == 502, SOON, "it is too old")
    index.is_down = False
    serving.wait_for(lambda: merging.status_of(server, "six") == 200, SOON, "upstream is there again")


def test_that_upstream_has_no_such_project_counts_for_a_while(serve, index, wheel):
    server = serve(None, config=merging.config(index, negative_max_age=3600))
    assert [merging.status_of(server, "seven") for _ in range(5)] == [404] * 5
    assert index.count("seven") == 1


def test_old_404_of_upstream_is_not_used_while_it_is_down(serve, index, wheel):
    server = serve(None, config=merging.config(index, negative_max_age=0, retries=0))
    assert merging.status_of(server, "seven") == 404
    index.is_down = True
    serving.wait_for(lambda: merging.status_of(server, "seven") == 502, SOON, "502")


def test_restart_keeps_pages_and_files(serve, index, wheel, tmp_path):
    state = tmp_path / "state"
    path = merging.url_of("six", wheel.name)
    server = serve(None, config=merging.config(index), state=state)
    data, page = server.get(path).body, server.get("/simple/six/").body
    server.stop()
    asked = len(index.asked)
    server = serve(None, config=merging.config(index), state=state)
    assert (server.get(path).body, server.get("/simple/six/").body) == (data, page)
    server.stop()
    server = serve(None, "--offline", config=merging.config(index, max_age=0), state=state)
    assert (server.get(path).body, server.get("/simple/six/").body) == (data, page)
    assert server.get("/simple/seven/").status == 502
    assert server.get(f"{path}.metadata").status == 502
    assert len(index.asked) == asked


def test_two_servers_share_what_they_know(serve, index, wheel, newer, tmp_path):
    settings = merging.config(index, max_age=3600)
    state = tmp_path / "state"
    one, two = (serve(None, config=settings, state=state) for _ in range(2))
    path = merging.url_of("six", wheel.name)
    assert one.get(path).body == wheel.path.read_bytes()
    merging.wait_until_noted(one, "six")
    merging.wait_until_kept(one, wheel.name)
    assert two.get(path).body == wheel.path.read_bytes()
    assert merging.names(one, "six") == merging.names(two, "six")
    assert index.count("six") == 1 and index.count(f"/packages/{wheel.name}") == 1


def test_what_one_server_learns_the_other_shows(serve, index, wheel, newer, tmp_path):
    state = tmp_path / "state"
    asks = serve(None, config=merging.config(index, max_age=0), state=state)
    waits = serve(None, config=merging.config(index, max_age=3600), state=state)
    assert merging.names(waits, "six") == [wheel.name]
    index.add("six", newer)
    serving.wait_for(lambda: len(merging.names(asks, "six")) == 2, SOON, "one learns of it")
    serving.wait_for(lambda: len(merging.names(waits, "six")) == 2, SOON, "the other shows it")


def test_newer_answer_wins_whichever_server_writes_first(serve, index, wheel, newer, tmp_path):
    state = tmp_path / "state"
    late = serve(None, config=merging.config(index), state=state)
    other = serve(None, config=merging.config(index), state=state)
    with contextlib.closing(sqlite3.connect(late.catalog)) as catalog:
        catalog.execute("BEGIN IMMEDIATE")
        assert merging.names(late, "six") == [wheel.name]
        late.signal(signal.SIGSTOP)
        catalog.rollback()
    try:
        index.add("six", newer)
        assert len(merging.names(other, "six")) == 2
        merging.wait_until_noted(other, "six")
    finally:
        late.signal(signal.SIGCONT)
    serving.wait_for(lambda: len(merging.names(late, "six")) == 2, SOON, "the newer page")
    assert len(merging.names(other, "six")) == 2
    assert len(merging.names(serve(None, config=merging.config(index, offline="yes"), state=state), "six")) == 2


@pytest.mark.parametrize("is_failure", [False, True], ids=["an older page", "a failure"])
def test_late_answer_does_not_replace_a_newer_one(serve, index, wheel, newer, tmp_path, is_failure):
    """One server gets an answer that is older than what another server has written to the catalog."""
    state = tmp_path / "state"
    other, late = (serve(None, config=merging.config(index, retries=0), state=state) for _ in range(2))
    held, go_on, old = threading.Event(), threading.Event(), index.page("six")

    def slowly(handler, data):
        held.set()
        assert go_on.wait(SOON)
        handler.start(500 if is_failure else 200, b"" if is_failure else old, Content_Type=pages.JSON)

    index.fail("six", slowly, times=1)
    asking = threading.Thread(target=late.get, args=("/simple/six/",))
    asking.start()
    assert held.wait(SOON)
    index.add("six", newer)
    assert len(merging.names(other, "six")) == 2
    merging.wait_until_noted(other, "six")
    go_on.set()
    asking.join()
    serving.wait_for(lambda: merging.status_of(late, "six") == 200 and len(merging.names(late, "six")) == 2, SOON, "the newer page")
    assert len(merging.names(other, "six")) == 2
    assert len(merging.names(serve(None, config=merging.config(index, offline="yes"), state=state), "six")) == 2


def test_pip_and_uv_share_one_copy(serve, index, wheel, client, tmp_path):
    """Whatever format and encoding each of them requests."""
    server = serve(None, config=merging.config(index))
    url = f"{server.url}/simple/"
    pip, uv = client("pip==26.3"), client("uv==0.13.9")
    pip.pip("--isolated", "download", "--disable-pip-version-check", "--no-cache-dir", "--index-url", url, "-d", "got", "six")
    uv.run("uv", "pip", "install", "--no-cache", "--index-url", url, "--target", "there", "six")
    assert (pip.home / "got" / wheel.name).read_bytes() == wheel.path.read_bytes()
    assert (uv.home / "there" / "six.py").exists()
    assert index.statuses("six") == [200]
    assert index.count(f"/packages/{wheel.name}") == 1
    assert index.count(f"/packages/{wheel.name}.metadata") == 1
