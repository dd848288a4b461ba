# SPDX-License-Identifier: Apache-2.0
"""A server in operation: volumes that go away and come back, rotated logs, deleted catalogs, stops under load."""
import fcntl
import json
import os
import signal
import socket
import subprocess
import threading
import time

import pytest

import faults
import serving
import storelib

FIRST, SECOND = "debian-12-x86_64", "ubuntu-24.04-x86_64"
SOON = 30  # a scan a second, on a loaded machine
LATER = 60  # when something is waited for before


@pytest.fixture(name="store")
def store_fixture(tmp_path):
    """Two platforms, with a project each."""
    store = tmp_path / "store"
    storelib.make_wheel(store / FIRST, "foo", "1.0")
    storelib.make_wheel(store / SECOND, "bar", "1.0")
    return store


def status(server, path):
    return server.get(path).status


def health(server):
    return json.loads(server.get("/-/health").body)


def test_platform_whose_folder_is_away_keeps_its_pages(serve, store):
    server = serve(store, "--rescan", "1")
    (store / SECOND).rename(store.parent / "away")
    serving.wait_for(lambda: health(server)["scan"]["failed"], SOON, "a scan that misses the platform")
    assert health(server)["status"] == "degraded"
    assert status(server, f"/{SECOND}/simple/bar/") == status(server, "/simple/bar/") == 200
    assert status(server, f"/files/{SECOND}/bar/bar-1.0-py3-none-any.whl") == 503
    (store.parent / "away").rename(store / SECOND)
    serving.wait_for(lambda: health(server)["status"] == "ok", SOON, "a scan that finds it again")
    assert status(server, f"/files/{SECOND}/bar/bar-1.0-py3-none-any.whl") == 200


def test_platform_that_is_away_at_the_start_has_its_pages(serve, store, tmp_path):
    state = tmp_path / "state"
    serve(store, state=state).stop()
    (store / FIRST).rename(tmp_path / "first")
    (store / SECOND).rename(tmp_path / "second")  # what an unmounted store looks like
    server = serve(store, state=state)
    assert status(server, f"/{FIRST}/simple/foo/") == status(server, "/simple/bar/") == 200


NO_WATCH = "[index]\nwatch = no\n"  # as on AFS and NFS, which tell of no changes
CONFIG = NO_WATCH + "[store]\npath = {0}\n[platform {1}]\n[platform {2}]\n"


@pytest.mark.parametrize("config", [None, CONFIG], ids=["detected", "configured"])
def test_platform_that_does_not_answer_does_not_delay_others(serve, store, tmp_path, monkeypatch, config):
    """As on a volume whose server is away: new wheels of other platforms show, and its own when it is back."""
    hang = faults.preload("hang", tmp_path, monkeypatch)
    if config:
        server = serve(None, "--rescan", "1", config=config.format(store, FIRST, SECOND))
    else:
        server = serve(store, "--rescan", "1", config=NO_WATCH)
    hang(SECOND)
    for number in range(2):  # a call that hangs is not waited for again
        newer = storelib.make_wheel(store / FIRST, "foo", f"2.{number}")
        late = storelib.make_wheel(store / SECOND, "bar", f"2.{number}")
        serving.wait_for(lambda one=newer: one.name.encode() in server.get("/simple/foo/").body, LATER, "the new wheel")
    assert f"{store}/{SECOND}" in server.errors() and "does not answer" in server.errors()
    assert health(server)["status"] == "degraded"
    assert status(server, f"/{SECOND}/simple/bar/") == 200 and late.name.encode() not in server.get("/simple/bar/").body
    hang(None)
    serving.wait_for(lambda: late.name.encode() in server.get("/simple/bar/").body, LATER, "its own new wheel")
    serving.wait_for(lambda: health(server)["status"] == "ok", LATER, "a scan without a complaint")


def test_start_does_not_wait_for_a_platform(serve, store, tmp_path, monkeypatch):
    state = tmp_path / "state"
    hang = faults.preload("hang", tmp_path, monkeypatch)
    serve(store, state=state).stop()
    hang(SECOND)
    server = serve(store, state=state)
    assert status(server, f"/{SECOND}/simple/bar/") == status(server, "/simple/foo/") == 200
    server.stop()


def test_catalog_that_was_removed_is_made_again(serve, store, tmp_path):
    catalog = tmp_path / "state" / "catalog.db"
    server = serve(store, "--rescan", "1", "--catalog", catalog)
    catalog.parent.rename(tmp_path / "removed")  # with its log, at once
    storelib.make_wheel(store / FIRST, "new", "1.0")
    for path in ("/simple/new/", "/simple/foo/", f"/{SECOND}/simple/bar/"):
        serving.wait_for(lambda one=path: status(server, one) == 200, SOON, path)


def test_access_log_is_opened_again_on_hangup(serve, store):
    """A line is written when the connection is done with the answer; the client may have the answer before."""
    server = serve(store)
    server.get("/simple/foo/")
    serving.wait_for(lambda: "/simple/foo/" in server.log_path.read_text(), SOON, "a line in the old log")
    moved = server.log_path.with_suffix(".1")
    server.log_path.rename(moved)
    server.signal(signal.SIGHUP)
    serving.wait_for(lambda: "the configuration is reloaded" in server.errors(), SOON, "what comes after the log")
    server.get("/simple/bar/")
    serving.wait_for(lambda: "/simple/bar/" in server.log_path.read_text(), SOON, "a line in the new log")
    assert "/simple/foo/" in moved.read_text() and "/simple/bar/" not in moved.read_text()


def hang_up(server, config):
    """The server reads this configuration on SIGHUP; returns its warnings."""
    before = len(server.errors())
    server.config_path.write_text(config)
    server.signal(signal.SIGHUP)
    serving.wait_for(lambda: "the configuration is reloaded" in server.errors()[before:], SOON, "the new configuration")
    return server.errors()[before:]


def test_hangup_names_what_counts_after_a_restart(serve, store):
    url = "http://127.0.0.1:9/simple/"
    server = serve(store, config=f"[server]\nthreads = 1\n[upstream]\nurl = {url}\nretries = 1\ntrust-404 = no\n")
    told = hang_up(server, f"[server]\nthreads = 2\n[upstream]\nurl = {url}\nretries = 2\ntrust-404 = yes\nca-file = x\n")
    for key in ("[server] threads", "[upstream] retries", "[upstream] trust-404", "[upstream] ca-file"):
        assert f"{key} has changed: this takes effect after a restart" in told
    assert told.count("has changed") == 4


@pytest.mark.parametrize("lines", ["[upstream]\nmerge = yes\n", f"[view both]\nplatforms = {FIRST}\nupstream = merge\n"])
def test_hangup_does_not_turn_upstream_on(serve, store, lines):
    server = serve(store, config="[server]\nthreads = 1\n")
    assert "[upstream] merge has changed: this takes effect after a restart" in hang_up(server, f"[server]\nthreads = 1\n{lines}")
    view = "both" if "both" in lines else FIRST
    assert status(server, f"/{view}/simple/foo/") == 200
    names = json.loads(server.get(f"/-/explain/{view}/foo").body)["names"]
    assert (names["files"], names["why"]) == ("here", "the view does not merge")


def test_stops_soon_under_load(serve, store):
    server = serve(store)
    end = threading.Event()

    def load():
        while not end.is_set():
            try:
                connection = server.connect()
                while not end.is_set():
                    serving.ask(connection, "/")  # rendered each time, on a worker
            except OSError:
                time.sleep(0.05)
            except serving.http.client.HTTPException:
                pass

    threads = [threading.Thread(target=load) for _ in range(20)]
    for one in threads:
        one.start()
    time.sleep(0.5)
    begin = time.monotonic()
    try:
        server.stop()
    finally:
        end.set()
        for one in threads:
            one.join()
    assert time.monotonic() - begin < 25  # it would wait 30 for downloads


def test_address_in_use_is_one_line_at_once(store, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        done = serving.run("serve", store, "--listen", address, "--catalog", tmp_path / "c.db")
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert address in line
    assert not (tmp_path / "c.db.lock").exists()  # no scan has begun


@pytest.mark.parametrize("address", ["127.0.0.1:65536", "127.0.0.1:99999", "localhost:http", "nowhere"])
def test_address_that_is_none(store, tmp_path, address):
    done = serving.run("serve", store, "--listen", address, "--catalog", tmp_path / "c.db")
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1 and address in done.stderr


@pytest.mark.parametrize("url", ["http://h:99999/", "http://h:x/", "http://[::1/", "http://h:0/"])
def test_url_that_is_impossible(store, tmp_path, url):
    """A mistake of the configuration."""
    catalog, config = ("--catalog", tmp_path / "c.db"), tmp_path / "wheelcache.conf"
    config.write_text(f"[server]\nurl = {url}\n[upstream]\nurl = {url}\n")
    for line in [("serve", store, "--url", url), ("serve", "--upstream", "--upstream-url", url), ("index", store, "--config", config),
                 ("index", store, "--static", tmp_path / "static", "--base", url)]:
        done = serving.run(*line, *catalog)
        assert (line, done.returncode, len(done.stderr.splitlines())) == (line, 2, 1)
        assert "url" in done.stderr or url in done.stderr
    assert not (tmp_path / "static").exists()


def test_clients_do_not_drive_scans(serve, store):
    """A request for a listed file that is gone starts a scan; thirty requests do not start thirty."""
    server = serve(store, "--rescan", "3600")
    for path in (store / FIRST).rglob("foo-1.0*.whl"):
        path.unlink()
    begin = health(server)["scan"]["ended"]
    for _ in range(30):
        assert status(server, f"/files/{FIRST}/foo/foo-1.0-py3-none-any.whl") in (404, 503)
    complaints = server.errors().count("is its volume mounted?")
    assert complaints <= 1
    assert health(server)["scan"]["ended"] >= begin


def test_leased_file_delays_no_page(serve, store):
    """Opening a leased file waits for its holder, much as on a volume that hangs."""
    server = serve(store)
    (wheel,) = (store / FIRST).rglob("*.whl")
    with wheel.open("r+b") as held:
        try:
            signal.signal(signal.SIGIO, signal.SIG_IGN)
            fcntl.fcntl(held, fcntl.F_SETLEASE, fcntl.F_WRLCK)
        except OSError as reason:
            pytest.skip(f"no leases here: {reason}")
        threads = [threading.Thread(target=status, args=(server, f"/files/{FIRST}/foo/{wheel.name}"))
                   for _ in range(20)]
        for one in threads:
            one.start()
        begin = time.monotonic()
        assert status(server, "/simple/bar/") == 200
        assert status(server, f"/files/{SECOND}/bar/bar-1.0-py3-none-any.whl") == 200
        assert time.monotonic() - begin < 25  # the kernel gives the holder 45
        fcntl.fcntl(held, fcntl.F_SETLEASE, fcntl.F_UNLCK)
        for one in threads:
            one.join()
    assert status(server, f"/files/{FIRST}/foo/{wheel.name}") == 200


def test_time_after_2262(serve, store):
    (wheel,) = (store / FIRST).rglob("*.whl")
    os.utime(wheel, (10 ** 10, 10 ** 10))  # 2286: more nanoseconds than 63 bits hold
    server = serve(store)
    assert b"foo-1.0" in server.get("/simple/foo/").body
    assert status(server, f"/files/{FIRST}/foo/{wheel.name}") == 200


def test_closed_stdout(store, tmp_path):
    """As under a supervisor that closes it."""
    command = [serving.binary(), "serve", str(store), "--listen", "127.0.0.1:0", "--catalog", str(tmp_path / "c.db")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        server.stdout.readline()
        server.stdout.close()
        server.send_signal(signal.SIGTERM)
        assert server.wait(60) == 0
