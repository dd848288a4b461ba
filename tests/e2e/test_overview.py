# SPDX-License-Identifier: Apache-2.0
"""/: what changed lately, builds, the last plan, what is old, as a page and as JSON."""
import json
import os
import pathlib
import time

import pytest

import attempts
import serving
import storelib

JAMMY, NOBLE, SECRET = "ubuntu-22.04-x86_64", "ubuntu-24.04-x86_64", "rocky-9-x86_64"
DAY = 86400


class World:
    """Two public platforms and a private one. `scan` is as a later night would do it."""

    def __init__(self, serve, folder):
        self.store, self.config, self.now = folder / "store", folder / "overview.conf", int(time.time())
        self.changes = 0
        self.put(JAMMY, "fresh", "1.0", 3)
        self.put(JAMMY, "fresh", "1.1", 2)
        self.put(NOBLE, "fresh", "1.1", 2)
        self.put(JAMMY, "ancient", "0.1", 900)
        self.put(JAMMY, "older", "0.1", 2000)
        self.put(SECRET, "covert", "1.0", 1)
        self.put(SECRET, "covertly-old", "1.0", 3000)
        self.put(SECRET, "older", "0.2", 1)
        sections = "".join(f"[platform {name}]\npythons = 3.12\n" for name in (JAMMY, NOBLE, SECRET))
        (folder / "list.txt").write_text("fresh\nabsent==1.0\n")
        self.config.write_text(f"[store]\npath = {self.store}\n[index]\nsettle = 0\n{sections}private = yes\n"
                               f"[branch main]\nrequirements = {folder}/list.txt\n"
                               f"[view nightly]\nplatforms = {JAMMY} {NOBLE}\nkeep-days = 1\nkeep-versions = 1\n")
        self.server = serve(self.store, "--config", self.config, "--rescan", "0")
        self.builds = attempts.Attempts(pathlib.Path(f"{self.server.catalog}.builds"))

    def put(self, platform, project, version, days):
        wheel = storelib.make_wheel(self.store / platform / project, project, version)
        os.utime(wheel.path, (self.now - days * DAY,) * 2)
        return wheel

    def tool(self, *words):
        done = serving.run(*words, "--config", self.config, "--catalog", self.server.catalog)
        assert done.returncode == 0, done.stdout + done.stderr
        return done

    def change(self):
        """Changes the catalog, so that no page of before is kept."""
        self.changes += 1
        self.put(NOBLE, "changing", f"1.{self.changes}", 900)
        self.tool("index", "--quiet")

    def read(self):
        reply = self.server.get("/?format=json")
        assert (reply.status, reply["Content-Type"]) == (200, "application/json")
        return json.loads(reply.body)

    def page(self):
        return self.server.get("/").body.decode()


@pytest.fixture(scope="module", name="world")
def world_fixture(serve_module, tmp_path_factory):
    return World(serve_module, tmp_path_factory.mktemp("overview"))


def test_what_is_new_and_what_is_old(world):
    found = world.read()
    assert [(one["project"], one["version"], one["files"], one["platforms"]) for one in found["arrivals"]] == [
        ("fresh", "1.1", 2, 2)]
    assert found["stale"]["projects"] == 2
    assert [one["project"] for one in found["stale"]["oldest"]] == ["older", "ancient"]
    assert found["removals"] == [] and "plan" not in found and "builds" not in found
    page = world.page()
    assert "New files" in page and "2 projects have no new file" in page
    assert not any(title in page for title in ("Removed in", "<h2>Builds", "Last prune"))


def test_nothing_of_private_platforms(world):
    for text in (world.page(), json.dumps(world.read())):
        assert "covert" not in text and SECRET not in text
    [mine] = [one for one in world.read()["platforms"] if one["name"] == JAMMY]
    assert mine["files"] == 4


def test_a_new_file_is_there_at_once(world):
    before = world.server.get("/")
    assert world.server.get("/", {"If-None-Match": before["ETag"]}).status == 304
    world.put(NOBLE, "ancient", "0.2", 900)  # its time does not count: it comes now
    world.tool("index", "--quiet")
    found = world.read()
    assert found["arrivals"][0] | {"when": ""} == {"project": "ancient", "version": "0.2", "files": 1, "platforms": 1, "when": ""}
    assert found["arrivals"][0]["when"] >= time.strftime("%Y-%m-%dT", time.gmtime(world.now - DAY))
    assert [one["project"] for one in found["stale"]["oldest"]] == ["older"]


def test_removals(world):
    world.put(SECRET, "covert", "1.1", 1)
    world.tool("index", "--quiet")
    reason = "<b>wrong & \"bad\"</b>"
    world.tool("remove", "fresh-1.0-py3-none-any.whl", "--platform", JAMMY, "--reason", reason)
    world.tool("remove", "covert-1.1-py3-none-any.whl", "--platform", SECRET, "--reason", "a secret")
    [removal] = world.read()["removals"]
    assert (removal["project"], removal["files"], removal["why"]) == ("fresh", 1, reason)
    page = world.page()
    assert "<b>wrong" not in page and "&lt;b&gt;wrong" in page and "a secret" not in page


def test_builds(world):
    world.builds.add("made", platform=JAMMY, python="3.12")
    world.builds.add("broken", "failed", platform=JAMMY, python="3.12", why="<i>no compiler</i>")
    world.builds.add("underway", "running", platform=NOBLE, python="3.12")
    world.builds.add("covert", "failed", platform=SECRET, python="3.12")
    world.change()
    assert world.read()["builds"] == {"running": 1, "failing": 1}
    page = world.page()
    assert "1 build runs, 1 wheel fails" in page and "&lt;i&gt;no compiler" in page and "covert" not in page


def test_missing_is_counted_when_a_client_has_asked(world):
    assert "what is missing" in world.page()
    asked = json.loads(world.server.get(f"/-/missing/{JAMMY}").body)
    world.server.get(f"/-/missing/{JAMMY}?project=fresh")  # is no count of all
    count = asked["totals"]["missing"]
    world.change()
    assert {one["name"]: one.get("missing") for one in world.read()["platforms"]} == {JAMMY: count, NOBLE: None}


def test_views(world):
    world.tool("retain")
    [view] = world.read()["stale"]["views"]
    assert view["view"] == "nightly" and view["stale_projects"] >= 1
    assert '<a href="-/channel/nightly/">nightly</a>: ' in world.page()


def test_new_files_of_one_time_have_one_order(serve, tmp_path):
    """The newest first; of one time by name, whatever the order in which they were found, so that a page stays as it is."""
    store, now = tmp_path / "store", int(time.time())
    for name, days in (("pear", 2), ("fig", 2), ("newest", 1), ("apple", 2), ("last", 3)):
        wheel = storelib.make_wheel(store / JAMMY / name, name, "1.0")
        os.utime(wheel.path, (now - days * DAY,) * 2)
    orders = []
    for start in range(2):
        server = serve(store, state=tmp_path / f"state{start}")
        found = json.loads(server.get("/?format=json").body)["arrivals"]
        orders.append([one["project"] for one in found])
    assert orders == [["newest", "apple", "fig", "pear", "last"]] * 2
