# SPDX-License-Identifier: Apache-2.0
"""A configured platform whose folder is missing at the first start, because its volume is not mounted: the others answer, the
platform and names that it might have are 503, and it comes back without a restart."""
import json

import pytest

import serving
import storelib

FIRST, SECOND, HIDDEN = "debian-12-x86_64", "ubuntu-24.04-x86_64", "hidden"
SOON = 60  # a scan a second, on a loaded machine
CONFIG = """[store]
path = {store}
[server]
rescan = 1
[catalog]
path = {folder}/state/catalog.db
[platform {first}]
[platform {second}]
[view both]
platforms = {first} {second}
[view some]
platforms = {first} {second}
partial = yes
[view none]
platforms = {second}
partial = yes
"""


@pytest.fixture(name="world")
def world_fixture(tmp_path):
    """The store with the folder of the second platform moved away, and the configuration."""
    store, away = tmp_path / "store", tmp_path / "away"
    storelib.make_wheel(store / FIRST, "foo", "1.0")
    storelib.make_wheel(away, "bar", "1.0")
    config = CONFIG.format(store=store, folder=tmp_path, first=FIRST, second=SECOND)
    return store, away, config


def status(server, path, headers=None):
    reply = server.get(path, headers)
    if reply.status == 503:
        assert int(reply["Retry-After"]) > 0 and reply["Cache-Control"] == "no-store"
    return reply.status


def health(server):
    return json.loads(server.get("/-/health").body)


def wait_until_back(server):
    serving.wait_for(lambda: health(server)["status"] == "ok", SOON, "a scan that finds it")


def test_others_answer_and_it_comes_back(serve, world):
    store, away, config = world
    server = serve(None, config=config)
    assert status(server, f"/{FIRST}/simple/foo/") == status(server, f"/{FIRST}/simple/") == 200
    assert status(server, f"/files/{FIRST}/foo/foo-1.0-py3-none-any.whl") == 200
    assert status(server, f"/{FIRST}/simple/bar/") == 404
    for path in (f"/{SECOND}/simple/bar/", f"/{SECOND}/simple/", f"/files/{SECOND}/bar/bar-1.0-py3-none-any.whl",
                 f"/files/{SECOND}/bar/bar-1.0-py3-none-any.whl.metadata", f"/-/explain/{SECOND}/bar",
                 "/both/simple/foo/", "/both/simple/bar/", "/both/simple/", "/simple/foo/", "/simple/", "/none/simple/bar/"):
        assert (path, status(server, path)) == (path, 503)
    assert status(server, "/some/simple/foo/") == status(server, "/some/simple/") == 200
    assert status(server, "/some/simple/bar/") == 404
    assert status(server, "/-/ready") == status(server, "/") == 200
    told = health(server)
    assert (told["status"], told["ready"]) == ("degraded", True)
    assert {one["name"]: one["indexed"] for one in told["platforms"]} == {FIRST: True, SECOND: False}
    away.rename(store / SECOND)
    wait_until_back(server)
    assert {one["name"]: one["indexed"] for one in health(server)["platforms"]} == {FIRST: True, SECOND: True}
    for path in (f"/{SECOND}/simple/bar/", f"/files/{SECOND}/bar/bar-1.0-py3-none-any.whl", "/both/simple/foo/",
                 "/both/simple/bar/", "/simple/foo/", "/simple/bar/", "/some/simple/bar/", "/none/simple/bar/"):
        assert (path, status(server, path)) == (path, 200)
    assert status(server, f"/{SECOND}/simple/foo/") == 404


def test_once_indexed_it_keeps_its_pages(serve, world):
    store, away, config = world
    away.rename(store / SECOND)
    server = serve(None, config=config)
    (store / SECOND).rename(away)
    serving.wait_for(lambda: health(server)["scan"]["failed"], SOON, "a scan that misses it")
    for path in (f"/{SECOND}/simple/bar/", "/both/simple/bar/", "/simple/foo/"):
        assert (path, status(server, path)) == (path, 200)
    assert status(server, f"/files/{SECOND}/bar/bar-1.0-py3-none-any.whl") == 503
    assert all(one["indexed"] for one in health(server)["platforms"])
    away.rename(store / SECOND)
    wait_until_back(server)


def test_a_restart_does_not_wait_for_it(serve, world, tmp_path):
    """The other platforms are served at once from the catalog, and it is missing as before."""
    store, away, config = world
    state = tmp_path / "server"
    serve(None, config=config, state=state).stop()
    server = serve(None, config=config, state=state)
    assert status(server, f"/{FIRST}/simple/foo/") == 200
    assert status(server, f"/{SECOND}/simple/bar/") == status(server, "/both/simple/foo/") == 503
    serving.wait_for(lambda: server.get("/-/ready").status == 200, SOON, "ready: each was tried")
    away.rename(store / SECOND)
    wait_until_back(server)
    assert status(server, "/both/simple/bar/") == 200


def test_no_platform_is_there(serve, world, tmp_path):
    store, away, config = world
    (store / FIRST).rename(tmp_path / "first")
    server = serve(None, config=config)
    assert status(server, "/-/ready") == 200
    for path in ("/simple/foo/", "/some/simple/foo/", f"/{FIRST}/simple/foo/"):
        assert (path, status(server, path)) == (path, 503)
    (tmp_path / "first").rename(store / FIRST)
    serving.wait_for(lambda: status(server, f"/{FIRST}/simple/foo/") == 200, SOON, "the first")
    assert status(server, "/some/simple/foo/") == 200 and status(server, "/both/simple/foo/") == 503


def test_missing_private_platform_is_not_revealed(serve, world):
    """A client without the right to read it is refused, and does not learn that it is missing."""
    _, _, config = world
    server = serve(None, config=config.replace(f"[platform {SECOND}]", f"[platform {SECOND}]\nprivate = yes"))
    for path in (f"/{SECOND}/simple/bar/", f"/files/{SECOND}/bar/bar-1.0-py3-none-any.whl", "/both/simple/foo/"):
        assert status(server, path) in (401, 403)
    assert status(server, "/simple/foo/") == 200  # private platforms are not in it


def test_prune_keeps_out(serve, world, tmp_path, wheelcache):
    """There is no plan while a platform was never indexed, because its files are unknown."""
    _, _, config = world
    server = serve(None, config=config)
    done = wheelcache("prune", "plan", "--config", server.config_path, "--catalog", server.catalog, "-o", tmp_path / "plan.json")
    assert done.returncode == 1 and "no scan of the store has ended" in done.stderr
    assert not (tmp_path / "plan.json").exists()
