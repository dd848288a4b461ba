# SPDX-License-Identifier: Apache-2.0
"""Every call that changes a file fails once, or the process dies there: uploads, scans, exports and marks leave nothing
or the whole, and go well when they are done again. Prints how many points were tried (pytest -s)."""
import hashlib
import http.client
import itertools
import os

import pytest

import faults
import serving
import storelib
import uploading

PLATFORM = "ubuntu-22.04-x86_64"
PARTS = ["/store/", "/catalog.db", "/site/"]
MOST = 400  # points of one action; there are about 30 to 100


@pytest.fixture(name="nth")
def nth_fixture(monkeypatch, tmp_path):
    return faults.Nth(tmp_path, monkeypatch, PARTS)


@pytest.fixture(name="store")
def store_fixture(tmp_path):
    storelib.make_wheel(tmp_path / "store" / PLATFORM / "f" / "foo", "foo", "1.0")
    return tmp_path / "store"


def told(what, points):
    print(f"\n{what}: {points} points")
    assert points > 5, "hardly anything was tried"


def below(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def check_store(server, store, wheel):
    """Nothing or the whole file; and the page says the same."""
    placed = store / PLATFORM / wheel.name[0] / wheel.name.split("-")[0] / wheel.name
    assert not placed.exists() or placed.read_bytes() == wheel.read_bytes()
    listed = uploading.listed(server, PLATFORM, wheel.name.split("-")[0])
    if placed.exists():
        assert listed == {wheel.name: hashlib.sha256(wheel.read_bytes()).hexdigest()}
        assert server.get(f"/files/{PLATFORM}/{wheel.name.split('-')[0]}/{wheel.name}").body == wheel.read_bytes()
    else:
        assert listed == {}


def check_clean(store):
    """No temporary file is left."""
    assert not [path for path in store.rglob(".*") if path.is_file()]


def retry(server, store, wheel, token):
    reply = uploading.upload(server, PLATFORM, wheel, token)
    assert reply.status == 200, reply.body
    check_store(server, store, wheel)
    assert (store / PLATFORM / wheel.name[0] / wheel.name.split("-")[0] / wheel.name).exists()
    check_clean(store)


@pytest.mark.parametrize("how", faults.HOWS[1:], ids=["ENOSPC", "EIO"])
def test_uploads_that_fail(serve, store, nth, tmp_path, how):
    server = serve(store)
    token = uploading.add_token(server)
    for at in range(1, MOST):
        wheel = storelib.make_wheel(tmp_path / "dist", f"new{at}", "1.0").path
        nth.arm(at, how)
        reply = uploading.upload(server, PLATFORM, wheel, token)
        came = nth.disarm()
        assert reply.status in (200, 503, 507), reply.body
        assert came or reply.status == 200, reply.body
        retry(server, store, wheel, token)
        if not came:
            break
    told("upload, failing", at - 1)
    again = serve(store, state=server.catalog.parent)
    for number in range(1, at + 1):
        assert len(uploading.listed(again, PLATFORM, f"new{number}")) == 1


def test_uploads_that_are_killed(serve, store, nth, tmp_path):
    state = tmp_path / "state"
    server = serve(store, state=state)
    token = uploading.add_token(server)
    for at in range(1, MOST):
        wheel = storelib.make_wheel(tmp_path / "dist", f"new{at}", "1.0").path
        nth.arm(at, faults.KILLED)
        try:
            assert uploading.upload(server, PLATFORM, wheel, token).status == 200
        except (OSError, http.client.HTTPException):
            pass
        came = nth.disarm()
        if not came:
            retry(server, store, wheel, token)
            break
        server.expect_killed()
        server = serve(store, state=state)
        wait_for_scan(server)
        check_store(server, store, wheel)
        check_clean(store)
        retry(server, store, wheel, token)
    told("upload, killed", at - 1)


def wait_for_scan(server):
    """The first scan of this process has ended."""
    serving.wait_for(lambda: b'"ended":0' not in server.get("/-/health").body.replace(b" ", b""), 60, "a scan")


def run_until_none(nth, prepare, command, check):
    """Runs a command with each fault, checks, runs it again without one, and checks the end."""
    points = 0
    for how in faults.HOWS:
        for at in range(1, MOST):
            folder = prepare(how, at)
            nth.arm(at, how)
            done = serving.run(*command(folder))
            came = nth.disarm()
            assert came or done.returncode == 0, done.stderr
            check(folder, False)
            again = serving.run(*command(folder))
            assert again.returncode == 0, again.stderr
            check(folder, True)
            if not came:
                break
            points += 1
    return points


def made_store(tmp_path):
    """A function that makes a folder for a round, with a store in it, and the catalog beside."""
    number = itertools.count()

    def make(_how, _at):
        folder = tmp_path / str(next(number))
        for version in ("1.0", "2.0"):
            storelib.make_wheel(folder / "store" / PLATFORM / "f" / "foo", "foo", version)
        return folder
    return make


def indexed_store(tmp_path):
    """The same, with all of it in the catalog."""
    make = made_store(tmp_path)

    def prepare(how, at):
        folder = make(how, at)
        index(folder)
        return folder
    return prepare


def index(folder):
    done = serving.run("index", "-q", "--catalog", folder / "catalog.db", folder / "store")
    assert done.returncode == 0, done.stderr


def test_scans(nth, tmp_path):
    def check(folder, is_whole):
        if is_whole:
            done = serving.run("check", "--all", "--catalog", folder / "catalog.db", folder / "store")
            assert done.returncode == 0, done.stdout + done.stderr
    points = run_until_none(nth, made_store(tmp_path), lambda folder: [
        "index", "-q", "--catalog", folder / "catalog.db", folder / "store"], check)
    told("index", points)


def test_static_exports(nth, tmp_path):
    prepare = indexed_store(tmp_path)

    def export(folder):
        return ["index", "-q", "--catalog", folder / "catalog.db", "--static", folder / "site", folder / "store"]

    whole = prepare(0, 0)
    assert serving.run(*export(whole)).returncode == 0
    wanted = below(whole / "site")

    def check(folder, is_whole):
        found = below(folder / "site") if (folder / "site").exists() else {}
        assert {name for name in found if not os.path.basename(name).startswith(".")} <= set(wanted)
        if is_whole:
            assert set(found) == set(wanted)
    told("static export", run_until_none(nth, prepare, export, check))


@pytest.mark.parametrize("command, suffix", [("yank", "yanked"), ("remove", "pruned")])
def test_marks(nth, tmp_path, command, suffix):
    name = "foo-1.0-py3-none-any.whl"

    def mark(folder):
        return [command, "--catalog", folder / "catalog.db", "--reason", "broken", name, folder / "store"]

    def check(folder, is_whole):
        place = folder / "store" / PLATFORM / "f" / "foo"
        beside = place / f"{name}.{suffix}"
        assert not beside.exists() or b"broken" in beside.read_bytes()
        assert (place / name).exists()
        if is_whole:
            assert beside.exists()
            index(folder)
            check_clean(folder / "store")
    told(command, run_until_none(nth, indexed_store(tmp_path), mark, check))


def test_freezes(nth, tmp_path):
    def freeze(folder):
        return ["freeze", "--catalog", folder / "catalog.db", "--store", folder / "store", "--reason", "upgrade"]

    def check(folder, is_whole):
        mark = folder / "store" / PLATFORM / ".wheelcache-frozen"
        assert not mark.exists() or b"upgrade" in mark.read_bytes()
        if not is_whole:
            return
        before = below(folder / "store")
        assert mark.exists()
        index(folder)
        assert below(folder / "store") == before, "a frozen platform was written to"
        mark.unlink()
        index(folder)
        check_clean(folder / "store")
    told("freeze", run_until_none(nth, indexed_store(tmp_path), freeze, check))
