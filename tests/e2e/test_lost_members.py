# SPDX-License-Identifier: Apache-2.0
"""A released wheel that the store has lost: on-change tells of it once, and once more when it is back; health, explain, the
pages and the doctor of a client name it, so that pip's "No matching distribution" has a cause."""
import getpass
import json
import time

import pytest

import nightly
import serving
import storelib
from nightly import DEBIAN, UBUNTU
from uploading import authorization

VIEWS = """\
[view staging]
platforms = debian-12-x86_64 ubuntu-22.04-x86_64
[view tested]
from = staging
on-change = FOLDER/tell
[view released]
from = tested
"""
WHO = f"user {getpass.getuser()}"
LOST = f"fast-1.0-{nightly.TAG[DEBIAN]}.whl"


class Place(nightly.Channel):
    """A night that was promoted into both views, and a server."""

    def __init__(self, folder, serve, more=""):
        super().__init__(folder, VIEWS.replace("FOLDER", str(folder)) + more)
        self.told = folder / "told"
        self.told.touch()
        script = folder / "tell"
        script.write_text('#!/bin/sh\necho "$WHEELCACHE_CHANGES" | while read -r line; do '
                          f'echo "$line $WHEELCACHE_FILE $WHEELCACHE_SINCE"; done >> {self.told}\n')
        script.chmod(0o755)
        self.night = nightly.make_night(folder / "nights", "1.0")
        self.put(self.night)
        for view in ("tested", "released"):
            self.run("promote", "--to", view, "fast", "pure")
        self.wheel = self.store / DEBIAN / "fast" / LOST
        self.bytes = self.wheel.read_bytes()
        self.serve = serve
        self.server = serve(config=self.config, state=self.state)
        serving.wait_for(lambda: self.health()["status"] == "ok", 60, "the server")

    def health(self):
        return json.loads(self.server.get("/-/health").body)

    def lost(self, view="tested"):
        one, = [one for one in self.health()["views"] if one["name"] == view]
        assert one["lost-files"] == len(one["lost"])
        return one["lost"]

    def lose(self):
        self.wheel.unlink()
        self.run("index", "--quiet")
        serving.wait_for(self.lost, 60, "the look")

    def lines(self, count):
        serving.wait_for(lambda: len(self.told.read_text().splitlines()) >= count, 60, "the command of on-change")
        return self.told.read_text().splitlines()

    def doctor(self, path, project):
        return serving.run("doctor", "--client", self.server.url + path, "--project", project)

    def page(self, path):
        reply = self.server.get(path, {"Accept": "text/html"})
        assert reply.status == 200, (path, reply.status, reply.body)
        return reply.body.decode()


@pytest.fixture(name="place")
def place_fixture(tmp_path, serve):
    return Place(tmp_path, serve)


def test_it_is_told_of_once_and_once_when_it_is_back(place):
    place.lose()
    line, = place.lines(1)
    since = place.lost()[0]["since"]
    assert line == f"lost tested {DEBIAN} fast 1.0 {LOST} {LOST} {since}"
    assert place.lost() == place.lost("released") == [
        {"platform": DEBIAN, "project": "fast", "filename": LOST, "since": since}]
    assert place.health()["status"] == "degraded"
    assert LOST in serving.run("health", place.server.url).stdout
    row, = json.loads(place.server.get("/-/channel/tested/?format=json").body)["lost"]
    assert row == {"platform": DEBIAN, "project": "fast", "filename": LOST, "since": since}
    for is_catalog_new in False, True:
        place.server.stop()
        for path in place.state.glob("catalog.db*"):
            if is_catalog_new and path.name in ("catalog.db", "catalog.db-wal", "catalog.db-shm"):
                path.unlink()
        place.server = place.serve(config=place.config, state=place.state)
        serving.wait_for(place.lost, 60, "what the new server knows")
        time.sleep(6)  # a look is every 5 seconds
        assert len(place.lines(1)) == 1 and place.lost()[0]["since"] == since
    place.wheel.write_bytes(place.bytes)
    place.run("index", "--quiet")
    assert place.lines(2)[1] == f"back tested {DEBIAN} fast 1.0 {LOST} {LOST} {since}"
    serving.wait_for(lambda: not place.lost() and place.health()["status"] == "ok", 60, "the end of the loss")
    time.sleep(6)
    assert len(place.lines(2)) == 2


def test_of_many_the_first_are_named(place):
    """By health, the log and the doctor, with the number of the others."""
    # Exceeds LIMIT_LOST_NAMED.
    shown = 20
    wheels = [storelib.make_wheel(place.store / DEBIAN / "many", "many", f"1.{number}").path for number in range(shown + 1)]
    place.run("index", "--quiet")
    place.run("promote", "--to", "tested", "many")
    for wheel in wheels:
        wheel.unlink()
    place.run("index", "--quiet")

    def view():
        return next(one for one in place.health()["views"] if one["name"] == "tested")
    serving.wait_for(lambda: view()["lost-files"] == len(wheels), 60, "the look")
    assert [one["project"] for one in view()["lost"]] == ["many"] * shown
    done = place.doctor("/tested/simple/", "many")
    assert done.stdout.count("view tested has lost many-1.") == shown and "of many, 1 more file is lost" in done.stdout
    place.server.stop()
    log = place.server.errors()
    assert log.count("view tested: lost: ") == shown and "view tested: and 1 more that are lost" in log


def test_what_leaves_the_view_is_not_back(place):
    place.lose()
    place.lines(1)
    place.run("demote", "--from", "tested", LOST)
    serving.wait_for(lambda: not place.lost(), 60, "the end")
    place.wheel.write_bytes(place.bytes)
    place.run("index", "--quiet")
    time.sleep(6)
    assert len(place.lines(1)) == 1 and len(place.lost("released")) == 0


def test_explain_and_pages_name_the_view_and_what_to_do(place):
    """Also in the default view, which has other files of the project, and for PROJECT==VERSION; not for another version."""
    place.lose()
    since = place.lost()[0]["since"]
    for words in (("fast==1.0",), ("--view", "tested", "fast", "1.0"), (LOST,)):
        both = place.json("explain", *words)["lost"]
        assert [one["view"] for one in both] == ["tested", "released"]
        assert both[0] | {"why": "", "advice": ""} == {
            "view": "tested", "platform": DEBIAN, "filename": LOST, "sha256": place.night.wheels[DEBIAN][0].sha256,
            "generation": 1, "since": since, "why": "", "advice": ""}
    assert "no command of wheelcache removed them" in both[0]["why"]
    assert both[0]["advice"].endswith(f"wheelcache demote --from tested {LOST}")
    assert "lost" not in place.json("explain", "pure", "1.0")
    assert place.run("explain", "fast==2.0", code=1).stdout == ""
    text = place.run("explain", "fast==1.0").stdout
    assert f"view tested has lost {LOST} of {DEBIAN}, a member since generation 1\n" in text and f"since {since}" in text
    page = place.page("/-/explain/tested/fast/1.0")
    assert '<span class="state wrong">2 lost</span>' in page
    assert page.index("<h2>Lost</h2>") < page.index("Files") and f"demote --from tested {LOST}" in page
    project = place.page("/-/project/fast")
    assert "<h2>Lost</h2>" in project and project.index("<h2>Lost</h2>") < project.index("<h2>Version")
    assert [one["filename"] for one in json.loads(place.server.get("/-/project/fast?format=json").body)["lost_members"]] == [LOST] * 2
    channel = place.page("/-/channel/tested/")
    assert f'<a href="../../explain/tested/fast?format=html">{LOST}</a>' in channel


def test_project_of_which_everything_is_lost_has_a_page(place):
    for platform in (DEBIAN, UBUNTU):
        for one in (place.store / platform / "fast").iterdir():
            one.unlink()
    place.run("index", "--quiet", "--allow-empty")
    serving.wait_for(lambda: len(place.lost()) == 2, 60, "the look")
    reply = place.server.get("/tested/simple/fast/", {"Accept": "text/html"})
    assert reply.status == 404 and b"/-/explain/" in reply.body
    assert "<h2>Lost</h2>" in place.page("/-/explain/tested/fast") and "<h2>Lost</h2>" in place.page("/-/project/fast")
    done = place.doctor("/tested/simple/", "fast")
    assert done.returncode == 1 and f"view tested has lost {LOST} of {DEBIAN}" in done.stdout


@pytest.mark.parametrize("path, other", [("/tested/simple/", "fast==3.0 has neither a wheel"),
                                         (f"/tested/{DEBIAN}/simple/", "this index has no project fast")])
def test_doctor_of_a_client_knows_the_cause(place, path, other):
    assert "has lost" not in place.doctor(path, "fast==1.0").stdout
    place.lose()
    done = place.doctor(path, "fast==1.0")
    assert done.returncode == 1 and f"view tested has lost {LOST} of {DEBIAN}, since " in done.stdout, done.stdout
    assert f"the operator: copy the file with SHA-256 {place.night.wheels[DEBIAN][0].sha256} back" in done.stdout and "view released" not in done.stdout
    assert "has lost" not in place.doctor(path, "pure").stdout
    assert other in place.doctor(path, "fast==3.0").stdout


def test_who_removed_it_is_known(place):
    """remove --force; the names of people are for those who may see them."""
    place.run("remove", "--force", "--reason", "it <b>crashed</b>", LOST)
    serving.wait_for(place.lost, 60, "the look")
    one, = [one for one in place.json("explain", "fast==1.0")["lost"] if one["view"] == "tested"]
    assert (one["action"], one["by"], one["reason"]) == ("remove", WHO, "it <b>crashed</b>")
    assert "wheelcache remove took it off the pages" in one["why"] and "prune restore" in one["advice"]
    stranger = json.loads(place.server.get("/-/explain/tested/fast/1.0?format=json").body)["lost"][0]
    assert not {"by", "reason"} & set(stranger) and stranger["filename"] == LOST
    reader = authorization(place.token("--read", "--platform", "*"))
    page = place.server.get("/-/explain/tested/fast/1.0", {"Accept": "text/html"} | reader).body.decode()
    assert f", by {WHO}: it &lt;b&gt;crashed&lt;/b&gt;" in page
    place.run("prune", "restore", LOST)
    assert place.lines(2)[1].startswith("back tested")


def test_loss_of_a_private_view_changes_no_byte_for_others(tmp_path, serve):
    """Health, explain, the project's page."""
    (tmp_path / "store" / "debian-13-x86_64").mkdir(parents=True)
    place = Place(tmp_path, serve, f"[view inner]\nplatforms = {UBUNTU}\n[platform debian-13-x86_64]\nprivate = yes\npythons = 3.13\n"
                  f"[view mixed]\nplatforms = {UBUNTU} debian-13-x86_64\n[view hidden]\nfrom = mixed\n")
    place.run("promote", "--to", "hidden", "fast")
    wheel = next((place.store / UBUNTU / "fast").iterdir())

    def answers():
        return [place.server.get(path).body for path in ("/-/explain/inner/fast?format=json", "/-/project/fast?format=json")]

    place.run("demote", "--from", "tested", "fast")
    place.run("demote", "--from", "released", "fast")
    serving.wait_for(lambda: b'"views"' in answers()[0], 60, "the views")
    serving.wait_for(lambda: place.health()["scan"]["ended"], 60, "the first scan, which an empty platform would fail")
    wheel.unlink()
    place.run("index", "--quiet", "--allow-empty")
    serving.wait_for(lambda: wheel.name.encode() not in answers()[1], 60, "the loss")
    assert wheel.name.encode() not in b"".join(answers())
    assert place.health()["status"] == "ok" and "hidden" not in [one["name"] for one in place.health()["views"]]
    reader = authorization(place.token("--read", "--platform", "*"))
    serving.wait_for(lambda: json.loads(place.server.get("/-/health", reader).body)["status"] == "degraded", 60, "the look")
    mine = json.loads(place.server.get("/-/explain/inner/fast?format=json", reader).body)
    assert [one["view"] for one in mine["lost"]] == ["hidden"]
