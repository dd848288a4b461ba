# SPDX-License-Identifier: Apache-2.0
"""Expensive requests, the plan page and /-/explain/, have workers of their own, which addresses and tokens share. Pages do not
wait for them."""
import contextlib
import http.client
import sqlite3
import threading
import time

import pytest

import serving
import storelib
import uploading

PLATFORM = "debian-12-x86_64"
ROWS = 100_000  # of the plan
READERS = 16
PAGES = 40
RATIO = 50  # limit of the time of pages beside readers, as a multiple of their time alone
SECONDS = 120  # until something happens on a busy machine


def fill_plan(catalog):
    """A finished plan with so many files, as `prune plan` leaves it."""
    with contextlib.closing(sqlite3.connect(catalog, timeout=60)) as db, db:
        (platform,) = db.execute("SELECT id FROM platform WHERE name = ?", (PLATFORM,)).fetchone()
        plan = db.execute("INSERT INTO plan (begun, name, made, head) VALUES (1, 'big', 1, '{}')").lastrowid
        db.execute("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)"
                   " INSERT INTO planned (plan, platform, size, removes, identical, project, version, filename, path, verdict, reason)"
                   " SELECT ?, ?, 1, 0, 0, 'project' || i, '1', 'project' || i || '-1-py3-none-any.whl', '', 'keep', '' FROM n",
                   (ROWS, plan, platform))


@pytest.fixture(scope="module", name="server")
def server_fixture(serve_module, tmp_path_factory):
    """Of which every page is made anew."""
    folder = tmp_path_factory.mktemp("searches")
    for i in range(PAGES):
        storelib.make_wheel(folder / "store" / PLATFORM, f"p{i}", "1.0")
    server = serve_module(folder / "store", "--page-cache", "0", "--rescan", "0")
    fill_plan(server.catalog)
    return server


class Readers:
    """Clients that keep searching the plan; counts the answers by status. ask: by its number, how a client asks."""

    def __init__(self, server, count, ask=None):
        self.ask = ask or (lambda i: server.get(f"/-/plan/?q=nothing-{i}"))
        self.stop = threading.Event()
        self.lock, self.answers, self.retry_after = threading.Lock(), {}, set()
        self.threads = [threading.Thread(target=self.read, args=(i,)) for i in range(count)]

    def read(self, i):
        while not self.stop.is_set():
            reply = self.ask(i)
            with self.lock:
                self.answers[reply.status] = self.answers.get(reply.status, 0) + 1
                if reply.status == 503:
                    self.retry_after.add(reply["Retry-After"])
            if reply.status != 200:
                self.stop.wait(0.2)

    def count(self, status):
        with self.lock:
            return self.answers.get(status, 0)

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        for thread in self.threads:
            thread.join()


def pages_take(server):
    """Seconds; the best of some rounds, because other processes may have used the machine."""
    def once():
        begin = time.monotonic()
        with contextlib.closing(server.connect()) as connection:
            for i in range(PAGES):
                assert serving.ask(connection, f"/simple/p{i}/").status == 200
        return time.monotonic() - begin
    return min(once() for _ in range(3))


def test_pages_do_not_wait_for_searches(server):
    alone = pages_take(server)
    with Readers(server, READERS) as readers:
        serving.wait_for(lambda: readers.count(200) >= 2, SECONDS, "answers to searches")
        beside = pages_take(server)
        before = readers.count(200)
        serving.wait_for(lambda: readers.count(200) > before, SECONDS, "another answer")
    assert beside < RATIO * alone, f"{PAGES} pages take {alone:.3f} s alone, {beside:.3f} s beside {READERS} readers"


def ask_from(server, address, path, headers=None):
    connection = http.client.HTTPConnection(server.host, server.port, timeout=SECONDS, source_address=(address, 0))
    with contextlib.closing(connection):
        return serving.ask(connection, path, headers)


@pytest.mark.parametrize("path", [f"/-/explain/{PLATFORM}/p1", "/-/plan/?q=nothing"])
def test_another_address_is_next(server, path):
    """However many requests of one address are queued."""
    with Readers(server, READERS) as readers:
        serving.wait_for(lambda: readers.count(200) >= 2, SECONDS, "answers to searches")
        before = readers.count(200)
        assert ask_from(server, "127.0.0.2", path).status == 200
        assert readers.count(200) - before <= 4  # the running one, one more, and answers that were already sent


def test_requests_over_the_queue_limit_get_a_503(server):
    with Readers(server, 80) as readers:
        serving.wait_for(lambda: readers.count(503) >= 5 and readers.count(200) >= 2, SECONDS, "answers of both kinds")
        assert server.get("/simple/p1/").status == server.get("/-/health").status == server.get("/-/metrics").status == 200
        assert ask_from(server, "127.0.0.2", "/-/plan/?q=nothing").status == 200
    assert set(readers.answers) == {200, 503}
    assert all(int(value) > 0 for value in readers.retry_after)


def test_one_token_has_a_share(server):
    """A token that asks from a hundred addresses holds all places of the queue, until another client wants one."""
    token = uploading.add_token(server, "--read", "--platform", "*")
    def ask(number):
        return ask_from(server, f"127.0.3.{number + 1}", f"/-/plan/?q=nothing-{number}", uploading.authorization(token))
    with Readers(server, 100, ask) as readers:
        serving.wait_for(lambda: readers.count(503) >= 20 and readers.count(200) >= 2, SECONDS, "answers of both kinds")
        for _ in range(5):
            assert ask_from(server, "127.0.0.2", "/-/plan/?q=nothing").status == 200


def test_search_that_is_too_long_is_refused(server):
    assert server.get(f"/-/plan/?q={'x' * 255}").status == 200
    assert server.get(f"/-/plan/?q={'x' * 256}").status == 400


def test_stops_soon_though_searches_wait(serve, tmp_path):
    storelib.make_wheel(tmp_path / "store" / PLATFORM, "foo", "1.0")
    server = serve(tmp_path / "store")
    fill_plan(server.catalog)
    def read(i):
        with contextlib.suppress(OSError, http.client.HTTPException):
            server.get(f"/-/plan/?q=nothing-{i}")
    threads = [threading.Thread(target=read, args=(i,)) for i in range(40)]
    for thread in threads:
        thread.start()
    time.sleep(0.5)
    server.stop()  # within its time
    for thread in threads:
        thread.join()
