# SPDX-License-Identifier: Apache-2.0
"""[server] deny hides files of ours and of upstream, in every way to them, and what is hidden covers nothing."""
import json
import os

import pytest

import merging
import pages
import pruning
import serving
import storelib
import tinyupstream
from test_cooling import SOON, ways
from test_status import PLATFORMS, state, statuses_of, url


class List:
    def __init__(self, path):
        self.path, self.writes = path, 0
        self.write("# none")

    def write(self, text):
        self.writes += 1
        self.path.write_text(text + "\n")
        os.utime(self.path, (1700000000 + self.writes,) * 2)


@pytest.fixture(name="deny")
def deny_fixture(tmp_path):
    return List(tmp_path / "deny.list")


@pytest.fixture(name="store")
def store_fixture(tmp_path):
    for platform in PLATFORMS:
        for version in ("1.0", "2.0"):
            storelib.make_wheel(tmp_path / "store" / platform / "m" / "mine", "mine", version)
    return tmp_path / "store"


def names(server, view="", project="mine"):
    reply = server.get(f"{view}/simple/{project}/", {"Accept": pages.JSON})
    html = server.get(f"{view}/simple/{project}/", {"Accept": pages.HTML}).body.decode()
    if server.get(f"{view}/simple/{project}/", {"Accept": pages.JSON}).body != reply.body:
        return names(server, view, project)  # it changed between the two
    found = [one["filename"] for one in json.loads(reply.body)["files"]]
    assert html.count("<a href") == len(found)
    return found


def wheel(version):
    return f"mine-{version}-py3-none-any.whl"


def test_ours_are_hidden_on_the_page_and_by_url(serve, store, deny):
    """Where nothing is merged too: the list is followed by itself, and a broken one changes nothing."""
    server = serve(store, "--rescan", "0", config=f"[server]\ndeny = {deny.path}\ncontact = sec@example.org\n")
    assert names(server) == [wheel("1.0"), wheel("2.0")] and statuses_of(server, url(PLATFORMS[0], "2.0")) == {200, 206}
    deny.write("Mine ==2.0 it loses data")
    serving.wait_for(lambda: names(server) == [wheel("1.0")], SOON, "the line")
    assert json.loads(server.get("/simple/mine/", {"Accept": pages.JSON}).body)["versions"] == ["1.0"]
    for platform in PLATFORMS:
        assert statuses_of(server, url(platform, "2.0")) == {403} and statuses_of(server, url(platform, "1.0")) == {200, 206}
    assert json.loads(server.get(url(PLATFORMS[0], "2.0")).body) == {
        "title": "deny", "status": 403, "detail": "denied by deny.list:1: it loses data; ask sec@example.org"}
    head = server.raw(f"GET {url(PLATFORMS[0], '2.0')} HTTP/1.0\r\nHost: x\r\n\r\n".encode()).split(b"\r\n")[0]
    assert head == b"HTTP/1.1 403 denied by deny.list:1: it loses data; ask sec@example.org"
    told = json.loads(server.get("/-/explain/simple/mine", {"Accept": "application/json"}).body)["here"]
    assert [(one["filename"], one.get("denied")) for one in told if one["platform"] == PLATFORMS[0]] == [
        (wheel("1.0"), None), (wheel("2.0"), "denied by deny.list:1: it loses data")]
    done = serving.run("explain", "mine", "--config", server.config_path, "--catalog", server.catalog, "--store", store)
    assert "denied by deny.list:1: it loses data" in done.stdout
    deny.write("mine ==not a version")
    serving.wait_for(lambda: "[server] deny: " in server.errors(), SOON, "the complaint")
    assert names(server) == [wheel("1.0")]
    deny.write("# none again")
    serving.wait_for(lambda: names(server) == [wheel("1.0"), wheel("2.0")], SOON, "the end")
    assert statuses_of(server, url(PLATFORMS[0], "2.0")) == {200, 206}


def test_line_for_a_platform_and_whole_project(serve, store, deny):
    deny.write(f"mine platform={PLATFORMS[0]} x\n")
    server = serve(store, "--rescan", "0", config=f"[server]\ndeny = {deny.path}\n")
    assert state(server, f"/{PLATFORMS[0]}") == ("quarantined", 0) and state(server, f"/{PLATFORMS[1]}") == ("active", 2)
    assert state(server) == ("quarantined", 0)  # the first platform that has a name decides
    assert json.loads(server.get(f"/{PLATFORMS[0]}/simple/mine/", {"Accept": pages.JSON}).body)["project-status"][
        "reason"] == "denied by deny.list:1: x"
    deny.write("mine no")
    serving.wait_for(lambda: state(server) == ("quarantined", 0), SOON, "the project")
    assert "mine" in server.get("/simple/", {"Accept": pages.JSON}).body.decode()


def test_upstreams_are_hidden_too(serve, store, deny, index, tmp_path):
    files = [storelib.make_wheel(tmp_path / "theirs", "six", version) for version in ("1.0", "2.0")]
    for one in files:
        index.add("six", one)
    deny.write("six ==2.0 typo of ours\nmine ==1.0 old\nsix ==1.0 platform=* only of ours")
    server = serve(store, "--rescan", "0", config=merging.config(index) + f"[server]\ndeny = {deny.path}\n")
    assert merging.names(server, "six") == [files[0].name]
    assert ways(server, files[1]) == {403} and ways(server, files[0]) == {200, 206}
    assert names(server) == [wheel("2.0")] and server.get(url(PLATFORMS[0], "1.0")).status == 403
    deny.write("six no")
    serving.wait_for(lambda: ways(server, files[0]) == {403} and merging.names(server, "six") == [], SOON, "the project")
    deny.write("# none")
    serving.wait_for(lambda: 403 not in ways(server, files[1]) and len(merging.names(server, "six")) == 2, SOON, "the end")


def test_static_export_lacks_it(serve, store, deny, tmp_path):
    deny.write("mine ==2.0 no")
    server = serve(store, "--rescan", "0", config=f"[server]\ndeny = {deny.path}\n")
    assert serving.run("index", "--quiet", "--config", server.config_path, "--catalog", server.catalog, "--static",
                       tmp_path / "tree", store).returncode == 0
    assert (tmp_path / "tree/simple/mine/index.json").read_bytes() == server.get("/simple/mine/", {"Accept": pages.JSON}).body
    assert {one.name for one in (tmp_path / "tree/files").rglob("mine-*")} == {wheel("1.0"), wheel("1.0") + ".metadata"}


def test_reload_takes_another_list(serve, store, deny, tmp_path):
    server = serve(store, "--rescan", "0", config=f"[server]\ndeny = {deny.path}\n")
    other = List(tmp_path / "other.list")
    other.write("mine ==1.0 no")
    server.config_path.write_text(f"[server]\ndeny = {other.path}\n")
    server.signal(1)
    serving.wait_for(lambda: names(server) == [wheel("2.0")], SOON, "the reload")
    server.config_path.write_text(f"[server]\ndeny = {tmp_path}/none.list\n")
    server.signal(1)
    serving.wait_for(lambda: "the configuration is unchanged" in server.errors(), SOON, "the complaint")
    assert names(server) == [wheel("2.0")]


def test_missing_does_without_it_and_builds_none(serve, store, deny, tmp_path):
    (tmp_path / "requirements.txt").write_text("mine==2.0\n")
    (tmp_path / "locked.txt").write_text(
        f"mine==2.0 --hash=sha256:{storelib.make_wheel(tmp_path / 'x', 'mine', '2.0').sha256}\n")
    server = serve(None, "--rescan", "0", config=f"[store]\npath = {store}\n[server]\ndeny = {deny.path}\n"
                   f"[branch main]\nrequirements = {tmp_path}/requirements.txt\n")

    def rows(*words):
        done = serving.run("missing", "--json", "--all", "--offline", "--config", server.config_path, "--catalog", server.catalog, *words)
        assert done.returncode == 0, done.stderr
        return {(one["status"], one["why"]) for one in json.loads(done.stdout)["rows"]}

    assert ("here", wheel("2.0")) in rows()
    assert {status for status, _ in rows("--lock", tmp_path / "locked.txt")} == {"here"}
    deny.write("mine ==2.0 it loses data")
    assert {one for one in rows() if one[0] != "not wanted"} == {("skipped", "deny.list:1: it loses data")}
    assert rows("--lock", tmp_path / "locked.txt") == {
        ("missing", "our file of this name is here, but denied by deny.list:1: it loses data")}
    deny.write(f"mine ==2.0 platform={PLATFORMS[0]} there it does")
    assert {status for status, _ in rows("--lock", tmp_path / "locked.txt")} == {"missing", "here"}


def test_prune_does_not_count_what_is_hidden_and_notices_a_changed_list(tmp_path, deny):
    with tinyupstream.running() as upstream:
        site = pruning.Pruned(tmp_path, upstream)
        site.configure(f"[server]\ndeny = {deny.path}\n")
        assert sum(one["removes"] for one in site.plan()["files"]) == 4
        deny.write("six ==1.0 no")
        refused = site.apply(code=1)
        assert "changed since the" in refused.stderr
        assert sum(one["removes"] for one in site.plan()["files"]) == 3
        site.apply()
