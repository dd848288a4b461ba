# SPDX-License-Identifier: Apache-2.0
"""A retired platform: nothing is missing there, no matrix and no page for people has it, and its URLs stay."""
import contextlib
import json
import pathlib

import pytest

import attempts
import serving
import storelib
import uploading

OLD, NEW = "ubuntu-20.04-x86_64", "ubuntu-24.04-x86_64"
WHEEL = "native-1.0-cp312-cp312-linux_x86_64.whl"
LIST = {"platforms": [], "rows": [{"platform": OLD, "project": "native", "filename": WHEEL, "state": "broken"}]}


class World:
    """Two platforms with one wheel each, a branch that wants another, and an attempt that failed on each."""

    def __init__(self, serve, folder, more=""):
        self.store, self.config = folder / "store", folder / "retired.conf"
        for platform in (OLD, NEW):
            storelib.make_wheel(self.store / platform / "native", "native", "1.0", "cp312-cp312-linux_x86_64")
        (folder / "list.txt").write_text("native==1.0\nabsent==1.0\n")
        sections = "".join(f"[platform {name}]\npythons = 3.12\narch = x86_64\nlibc = glibc 2.31\n" for name in (OLD, NEW))
        self.config.write_text(f"[store]\npath = {self.store}\n[index]\nsettle = 0\n{sections}{more}"
                               f"[branch main]\nrequirements = {folder}/list.txt\n[view both]\nplatforms = {OLD} {NEW}\n")
        self.server = serve(self.store, "--config", self.config, "--rescan", "1")
        builds = attempts.Attempts(pathlib.Path(f"{self.server.catalog}.builds"))
        for platform in (OLD, NEW):
            builds.add("absent", "failed", platform=platform, python="3.12", log=b"it failed\n")

    def tool(self, *words, code=0):
        done = serving.run(*words, "--config", self.config, "--catalog", self.server.catalog)
        assert done.returncode == code, done.stdout + done.stderr
        return done

    def missing(self, *words, code=0):
        return self.tool("missing", "--offline", *words, code=code)

    def json(self, path, code=200):
        reply = self.server.get(path, {"Accept": "application/json"})
        assert reply.status == code, reply.body
        return json.loads(reply.body)

    def page(self, path):
        reply = self.server.get(path, {"Accept": "text/html"})
        assert reply.status == 200, reply.body
        return reply.body.decode()

    def is_retired(self):
        return {one["name"]: one["retired"] for one in self.json("/-/health")["platforms"]}[OLD]

    def retire(self, code=0):
        self.page("/")
        done = self.tool("platform", "retire", "--reason", "end of life", OLD, code=code)
        serving.wait_for(self.is_retired, 20, "the retirement")
        return done


def places(world):
    """The platforms that each page and command shows."""
    shown = {
        "/": [one["name"] for one in world.json("/?format=json")["platforms"]],
        "coverage": sorted({one["platform"] for one in world.json("/-/coverage?format=json")["columns"]}),
        "project": sorted({one["platform"] for one in world.json("/-/project/native?format=json")["cells"]}),
        "builds": sorted({one["platform"] for one in world.json("/-/builds/")["attempts"]}),
        "missing": sorted({one["platform"] for one in json.loads(world.missing("--json", code=0).stdout)["rows"]}),
    }
    pages = {"/": "/", "coverage": "/-/coverage", "builds": "/-/builds/"}
    for name, path in pages.items():
        assert [one for one in (OLD, NEW) if one in world.page(path)] == shown[name], name
    return shown


@pytest.fixture(scope="module", name="world")
def world_fixture(serve_module, tmp_path_factory):
    world = World(serve_module, tmp_path_factory.mktemp("retired"))
    serving.wait_for(lambda: world.server.get(f"/{OLD}/simple/native/").status == 200, 20, "the first scan")
    assert set(map(str, places(world).values())) == {str([OLD, NEW])}
    assert OLD in world.page("/-/project/native") and not world.is_retired()
    world.retire()
    return world


def test_pages_and_commands_leave_it_out(world):
    assert set(map(str, places(world).values())) == {str([NEW])}


def test_home_leads_to_an_index_that_has_wheels(world):
    page = world.page("/")
    assert f"/{NEW}/simple/ NAME" in page and "end of life" not in page
    assert world.json("/?format=json")["views"] == ["both"]
    assert OLD not in world.page("/-/client-config/both")


def test_its_matrix_is_empty_and_its_files_are_named(world):
    page = world.page("/-/project/native")
    matrix, _, rest = page.partition("<h2>Files that are on no page</h2>")
    assert OLD not in matrix and NEW in matrix and OLD in rest


def test_missing_answers_who_asks_for_it(world):
    reply = world.server.get(f"/-/missing/{OLD}")
    assert reply.status == 404 and b"retired: nothing is built for it" in reply.body
    token = uploading.add_token(world.server, "--upload", "--platform", OLD)
    sent = {"Content-Type": "application/json", **uploading.authorization(token)}
    with contextlib.closing(world.server.connect()) as connection:
        connection.request("POST", f"/-/missing/{OLD}", json.dumps(LIST), sent)
        reply = connection.getresponse()
        assert reply.status == 404 and b"retired" in reply.read()
    for words in (["missing", "--offline"], ["rebuilds", "--against", "/"], ["build", "--dry-run"]):
        done = world.tool(*words, "--platform", OLD, code=2)
        assert f"platform {OLD} was retired: nothing is built for it" in done.stderr, done.stderr
    assert OLD not in world.tool("rebuilds", "--against", "/").stdout


def test_what_was_built_stays_known(world):
    [attempt] = world.json(f"/-/builds/?platform={OLD}")["attempts"]
    assert world.server.get(f"/-/builds/absent/{attempt['id']}").body == b"it failed\n"
    assert OLD in world.page("/-/builds/absent/")


def test_no_alarm_is_of_it(world):
    metrics = world.page("/-/metrics")
    assert f'builds_failing{{platform="{NEW}"}} 1' in metrics and f'builds_failing{{platform="{OLD}"' not in metrics
    assert f'platform_files{{platform="{OLD}"}}' in metrics


def test_urls_stay(world):
    assert world.server.get(f"/{OLD}/simple/").status == 200
    assert world.server.get(f"/files/{OLD}/native/{WHEEL}").status == 200
    assert world.server.get(f"/both/{OLD}/simple/").status == 200


def test_a_reload_and_a_restart_know_it(serve, world):
    world.server.signal(1)
    assert all(NEW in page and OLD not in page for page in (world.page("/") for _ in range(20)))
    again = serve(world.store, "--config", world.config)
    assert OLD not in again.get("/", {"Accept": "text/html"}).body.decode()


def test_thaw_and_restore_bring_it_back(serve, tmp_path):
    world = World(serve, tmp_path)
    serving.wait_for(lambda: world.server.get(f"/{OLD}/simple/native/").status == 200, 20, "the first scan")
    world.retire()
    assert set(map(str, places(world).values())) == {str([NEW])}
    world.tool("thaw", OLD)
    world.tool("prune", "restore", "--run", f"retire-{OLD}")
    serving.wait_for(lambda: not world.is_retired(), 20, "the thaw")
    assert set(map(str, places(world).values())) == {str([OLD, NEW])}


def test_a_platform_that_is_only_frozen_stays(serve, tmp_path):
    world = World(serve, tmp_path)
    serving.wait_for(lambda: world.server.get(f"/{OLD}/simple/native/").status == 200, 20, "the first scan")
    world.tool("freeze", "--reason", "a move", OLD)
    serving.wait_for(lambda: world.json("/-/health")["platforms"][0]["frozen"], 20, "the freeze")
    assert set(map(str, places(world).values())) == {str([OLD, NEW])}


def test_a_freeze_of_all_leaves_the_retirement(serve, tmp_path):
    """A backup freezes and thaws all platforms each night (docs/operating.md)."""
    world = World(serve, tmp_path)
    world.retire()
    mark = world.store / OLD / ".wheelcache-frozen"
    before = mark.read_text()
    for command, other in (("freeze", "frozen"), ("thaw", "thawed")):
        said = world.tool(command).stdout
        assert f"{OLD}: retired, and stays so" in said and f"{NEW}: {other}" in said
        assert mark.read_text() == before
    assert f"{OLD}: thawed" in world.tool("thaw", OLD).stdout and not mark.exists()
