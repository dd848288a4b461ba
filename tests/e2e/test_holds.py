# SPDX-License-Identifier: Apache-2.0
"""Holds, waivers and a doubted clock: in effect within a second in a running server, in the log of changes, with an end."""
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import time

import pytest

import faults
import merging
import serving
import storelib
import uploading
from test_blocked import Lists
from test_cooling import DAY, SOON, stamp, ways

EFFECT_S = 1.5  # a second, and what a busy machine takes


@pytest.fixture(name="wheels")
def wheels_fixture(tmp_path, index):
    """Of six: 1.0, old; 2.0, a month old; 3.0, a day old. Of seven: 1.0, a day old."""
    made = {}
    for project, version, age in (("six", "1.0", 2000), ("six", "2.0", 30), ("six", "3.0", 1), ("seven", "1.0", 1)):
        wheel = storelib.make_wheel(tmp_path / "theirs", project, version)
        index.add(project, wheel, upload_time=stamp(-age * DAY))
        made[project, version] = wheel
    return made


class Place:
    """A server, and commands with its configuration."""

    def __init__(self, serve, index, **keys):
        self.server = serve(None, config=merging.config(index, **keys) + "[server]\ncontact = sec@example.org\n")
        self.index = index

    def run(self, *words):
        return serving.run(*words, "--config", self.server.config_path, "--catalog", self.server.catalog)

    def did(self, *words):
        done = self.run(*words)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def refused(self, *words):
        done = self.run(*words)
        assert done.returncode == 2, (done.returncode, done.stdout, done.stderr)
        return done.stderr

    def versions(self, project="six"):
        return [name.split("-")[1] for name in merging.names(self.server, project)]

    def shows(self, *versions, project="six"):
        serving.wait_for(lambda: self.versions(project) == list(versions), EFFECT_S, f"{project} {versions}")

    def log(self):
        lines = self.server.catalog.with_name("catalog.db.audit").read_text().splitlines()
        return [(one["action"], one.get("project"), one.get("reason")) for one in map(json.loads, lines)]


def test_hold_hides_what_came_after_it_until_its_end(serve, index, wheels):
    place = Place(serve, index)
    assert place.versions() == ["1.0", "2.0", "3.0"] and 403 not in ways(place.server, wheels["six", "3.0"])
    merging.wait_until_kept(place.server, wheels["six", "3.0"].name, f"{wheels['six', '3.0'].name}.metadata")
    after = stamp(-40 * DAY)[:19] + "Z"
    said = place.did("hold", "--after", after, "--reason", "a worm goes round")
    first = said.split(":")[0]
    place.shows("1.0")
    assert place.versions("seven") == [] and ways(place.server, wheels["six", "3.0"]) == {403}
    reply = place.server.get(merging.url_of("six", wheels["six", "3.0"].name))
    assert json.loads(reply.body)["detail"] == f"held since {after}: a worm goes round ({first}); ask sec@example.org"
    second = place.did("hold", "--after", "10d", "--upstream", "upstream", "--reason", "another").split(":")[0]
    time.sleep(1)
    assert place.versions() == ["1.0"]  # the earliest time counts
    listed = json.loads(place.did("holds", "--json"))
    assert [one["id"] for one in listed["holds"]] == [first, second] and listed["holds"][0]["after"] == after
    assert f"uploaded after {after}" in place.did("holds")
    merging.wait_until_noted(place.server, "six")
    rules = json.loads(place.server.get("/?format=json").body)["upstream"]["rules"]
    assert [one["id"] for one in rules] == [first, second]
    assert f"held: files of upstreams since {after}: a worm goes round" in place.server.get("/?format=html").body.decode()
    metrics = place.server.get("/-/metrics").body.decode()
    assert "\nwheelcache_holds 2\n" in metrics and "\nwheelcache_waivers 0\n" in metrics
    assert json.loads(place.server.get("/-/project/six?format=json").body)["upstream"]["hidden"] == 2
    assert "2 of its files are not offered" in place.server.get("/-/project/six?format=html").body.decode()
    place.did("hold", "--end", first)
    place.shows("1.0", "2.0")
    place.did("hold", "--end", second)
    place.shows("1.0", "2.0", "3.0")
    assert place.did("holds") == "no holds, no waivers\n"
    assert [action for action, _, _ in place.log()] == ["hold", "hold", "hold end", "hold end"]
    assert "a worm goes round" in place.log()[0][2]
    assert place.run("hold", "--end", first).returncode == 1


def health(place):
    return json.loads(place.server.get("/-/health").body)


def broken(place):
    return [one for one in health(place)["rule-lists"] if "error" in one]


@pytest.mark.parametrize("damage", ["a line", "it is away"])
def test_holds_and_records_count_although_a_list_is_damaged(serve, index, wheels, tmp_path, damage):
    """A list that cannot be read stays as it was, and nothing else does."""
    deny, blocked = tmp_path / "deny.list", Lists(tmp_path / "lists")
    deny.write_text("six ==2.0 it mines coins\n")
    blocked.put("MAL-2026-1", "other", {"versions": ["2.0"]})
    place = Place(serve, index, deny=deny, block=blocked.folder)
    assert place.versions() == ["1.0", "3.0"] and broken(place) == []
    assert health(place)["rule-lists"] == [{"upstream": "upstream", "key": "deny", "list": str(deny)}]
    good = deny.read_text()
    if damage == "a line":
        deny.write_text(good + "requests ==bogus!! x\n")
    else:
        deny.rename(tmp_path / "away")
    found = serving.wait_for(lambda: broken(place), SOON, "the damage")
    assert str(deny) in found[0]["error"] and found[0]["failed"] and health(place)["status"] == "degraded"
    hold = place.did("hold", "--after", "10d", "--reason", "worm").split(":")[0]
    place.shows("1.0")
    blocked.put("MAL-2026-2", "six", {"versions": ["1.0"]})
    serving.wait_for(lambda: place.versions() == [], SOON, "the record")
    doctor = place.run("doctor")
    assert doctor.returncode == 1 and f"{deny}" in doctor.stdout and "[upstream] deny: " in doctor.stdout
    deny.write_text("# none\n")
    serving.wait_for(lambda: not broken(place), SOON, "the list that is whole again")
    assert health(place)["status"] == "ok" and place.server.errors().count("what it said before counts") == 1
    place.did("hold", "--end", hold)
    place.shows("2.0", "3.0")
    assert f"{deny} can be read" in place.run("doctor").stdout


def test_a_damaged_hold_keeps_the_others_and_not_the_lists(serve, index, wheels, tmp_path):
    deny = tmp_path / "deny.list"
    deny.write_text("# none\n")
    place = Place(serve, index, deny=deny)
    place.did("hold", "--after", "10d", "--reason", "worm")
    place.shows("1.0", "2.0")
    record = place.server.catalog.with_name("catalog.db.offers") / "hold-00000000"
    record.write_text("{")
    serving.wait_for(lambda: broken(place), SOON, "the damage")
    assert [one["key"] for one in broken(place)] == ["holds"]
    doctor = place.run("doctor")
    assert doctor.returncode == 1 and "hold-00000000" in doctor.stdout
    deny.write_text("six ==2.0 it mines coins\n")
    place.shows("1.0")
    record.write_text(next(one for one in record.parent.glob("hold-*") if one != record).read_text())
    serving.wait_for(lambda: not broken(place), SOON, "the record that is whole again")
    assert place.versions() == ["1.0"] and place.run("doctor").stdout.count("hold-00000000") == 0


def test_waiver_lets_one_version_in_until_its_end(serve, index, wheels):
    place = Place(serve, index, cooldown="7d")
    assert place.versions() == ["1.0", "2.0"] and place.versions("seven") == []
    place.did("waive", "Six==3", "--until", "1h", "--reason", "fixes CVE-2026-1")
    place.shows("1.0", "2.0", "3.0")
    assert place.versions("seven") == [] and ways(place.server, wheels["six", "3.0"]) == {200, 206}
    place.did("hold", "--after", "2000-01-01", "--reason", "x")
    place.shows("3.0")
    place.did("waive", "six==3.0.0", "--end")
    place.shows()
    assert place.run("waive", "six", "--end").returncode == 1
    assert [(action, project) for action, project, _ in place.log()] == [
        ("waive", "six"), ("hold", None), ("waive end", "six")]


def test_waiver_ends_by_itself_in_the_log_too(serve, index, wheels):
    place = Place(serve, index, cooldown="7d")
    place.did("waive", "seven", "--until", "4s", "--reason", "now")
    due = time.time() + 4
    place.shows("1.0", project="seven")
    assert 403 not in ways(place.server, wheels["seven", "1.0"], "seven")  # it is kept, and in memory
    serving.wait_for(lambda: place.versions("seven") == [], due + 2 - time.time(), "its end")
    assert ways(place.server, wheels["seven", "1.0"], "seven") == {403}
    serving.wait_for(lambda: ("waive end", "seven") in [line[:2] for line in place.log()], SOON, "the line")
    assert json.loads(place.did("holds", "--json")) == {"holds": [], "waivers": []}


def test_answer_that_was_judged_before_a_hold_is_not_kept(serve, index, wheels, tmp_path, monkeypatch):
    """A worker has found the file, and touches it in the cache, while the rules change."""
    hang = faults.preload("hang", tmp_path, monkeypatch)
    wheel = wheels["six", "3.0"]
    place = Place(serve, index)
    other = merging.url_of("six", wheel.name).replace("/files/upstream/", "/files/upstream/upstream/")
    assert place.server.get(other).status == 200  # another address, whose answer the server may repeat from memory
    merging.wait_until_kept(place.server, wheel.name)
    (kept,) = place.server.catalog.with_name("catalog.db.files").rglob(wheel.name)
    os.utime(kept, (time.time() - 2 * DAY, time.time() - 2 * DAY))
    hang(wheel.name)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        early = pool.submit(place.server.get, merging.url_of("six", wheel.name))
        time.sleep(0.5)
        place.did("hold", "--after", "10d", "--reason", "x")
        place.shows("1.0", "2.0")
        assert not early.done()
        hang(None)
        assert early.result().status == 200
    assert ways(place.server, wheel) == {403}


def switches(server):
    """How often its workers have waited."""
    tasks = [task for task in pathlib.Path(f"/proc/{server.process.pid}/task").iterdir()
             if (task / "comm").read_text(encoding="ascii").startswith("work")]
    return sum(int(re.search(r"^voluntary_ctxt_switches:\s*(\d+)", (task / "status").read_text(encoding="ascii"), re.M)[1])
               for task in tasks)


def test_refusal_is_repeated_from_memory(serve, index, wheels):
    """For a second: a client that insists costs no worker."""
    place = Place(serve, index, cooldown="7d")
    refused = merging.url_of("six", wheels["six", "3.0"].name)
    first, begun, before = place.server.get(refused), time.time(), switches(place.server)
    assert first.status == 403 and first["Cache-Control"] == "no-store" and before
    for _ in range(200):
        reply = place.server.get(refused)
        assert (reply.status, reply.body) == (403, first.body)
    assert switches(place.server) - before < 100 + 20 * (time.time() - begun)


def test_what_is_refused(serve, index, wheels):
    place = Place(serve, index)
    assert "--until TIME is missing" in place.refused("waive", "six", "--reason", "x")
    assert "--reason TEXT is missing" in place.refused("waive", "six", "--until", "3d")
    assert "is over" in place.refused("waive", "six", "--until", "2020-01-01", "--reason", "x")
    assert "is no time" in place.refused("waive", "six", "--until", "soon", "--reason", "x")
    assert "is no version" in place.refused("waive", "six==x y", "--until", "3d", "--reason", "x")
    assert "is no PROJECT" in place.refused("waive", "a b", "--until", "3d", "--reason", "x")
    assert "give --after" in place.refused("hold", "--reason", "x")
    assert "--reason TEXT is missing" in place.refused("hold", "--after", "1d")
    assert "--after: " in place.refused("hold", "--after", "soon", "--reason", "x")
    assert "there is no upstream" in place.refused("hold", "--after", "1d", "--reason", "x", "--upstream", "upstrem")
    assert place.did("holds") == "no holds, no waivers\n"


def test_hold_judges_a_file_without_a_time_by_when_it_was_seen(serve, index, tmp_path):
    """Also under cooldown-unknown = allow."""
    wheel = storelib.make_wheel(tmp_path / "theirs", "six", "1.0")
    index.add("six", wheel, upload_time=None)
    place = Place(serve, index, cooldown="7d", cooldown_unknown="allow")
    assert place.versions() == ["1.0"]
    time.sleep(1.1)
    later = place.did("hold", "--after", stamp(0)[:19] + "Z", "--reason", "x").split(":")[0]
    time.sleep(1)
    assert place.versions() == ["1.0"]
    place.did("hold", "--end", later)
    place.did("hold", "--after", stamp(-60)[:19] + "Z", "--reason", "x")
    place.shows()


def test_clock_that_jumps_is_doubted_until_the_operator_says_otherwise(serve, index, wheels, tmp_path, monkeypatch):
    set_clock = faults.preload("wall", tmp_path, monkeypatch)
    place = Place(serve, index, cooldown="7d")
    assert place.versions() == ["1.0", "2.0"]
    set_clock(str(13 * DAY // 2))
    serving.wait_for(lambda: "the clock was set ahead by" in place.server.errors(), SOON, "the report")
    assert place.versions() == ["1.0", "2.0"] and ways(place.server, wheels["six", "3.0"]) == {403}
    health = json.loads(place.server.get("/-/health").body)
    assert health["status"] == "degraded" and "the clock was set ahead" in health["clock"]
    doubt = place.server.catalog.with_name("catalog.db.offers") / "clock-doubt"
    serving.wait_for(doubt.exists, SOON, "the doubt in the state")
    doctor = place.run("doctor")
    assert doctor.returncode == 1 and "the clock was set ahead by" in doctor.stdout and "--clock-is-right" in doctor.stdout
    assert "is right\n" in place.did("doctor", "--clock-is-right")
    place.shows("1.0", "2.0", "3.0")
    assert "clock" not in json.loads(place.server.get("/-/health").body)
    assert "clock is right" in [action for action, _, _ in place.log()]
    set_clock("0")  # back: what was offered stays
    serving.wait_for(lambda: "the clock was set back by" in place.server.errors(), SOON, "the report")
    time.sleep(1)
    assert place.versions() == ["1.0", "2.0", "3.0"] and ways(place.server, wheels["six", "3.0"]) == {200, 206}


def test_upload_does_not_bring_back_a_doubt_that_has_ended(serve, index, wheels, tmp_path, monkeypatch):
    """The upload policy, which looks only at uploads, has the clock of the server."""
    set_clock = faults.preload("wall", tmp_path, monkeypatch)
    store, platform, tag = tmp_path / "store", "ubuntu-22.04-x86_64", "cp310-cp310-linux_x86_64"
    storelib.make_wheel(store / platform / "foo", "foo", "0.1", tag=tag)
    server = serve(store, config=merging.config(index, cooldown="7d") + "[upload]\ncovered = refuse\n")
    token = uploading.add_token(server, "--upload", platform)

    def upload(version):
        wheel = storelib.make_wheel(tmp_path / "built" / version, "foo", version, tag=tag)
        assert uploading.upload(server, platform, wheel.path, token).status == 200

    upload("0.2")
    assert len(merging.names(server, "six")) == 2
    set_clock(str(7200))
    serving.wait_for(lambda: "the clock was set ahead by" in server.errors(), SOON, "the report")
    doubt = server.catalog.with_name("catalog.db.offers") / "clock-doubt"
    serving.wait_for(doubt.exists, SOON, "the doubt in the state")
    done = serving.run("doctor", "--clock-is-right", "--config", server.config_path, "--catalog", server.catalog, store)
    assert "is right\n" in done.stdout
    serving.wait_for(lambda: "clock" not in json.loads(server.get("/-/health").body), SOON, "the end of the doubt")
    upload("0.3")
    time.sleep(1)  # in which the doubt would be told to all servers
    assert "clock" not in json.loads(server.get("/-/health").body) and not doubt.exists()
    assert server.errors().count("the clock was set ahead") == 1


@pytest.mark.parametrize("restarts", [False, True])
def test_file_without_a_time_does_not_age_by_a_clock_that_is_behind(serve, index, wheels, tmp_path, monkeypatch, restarts):
    """It was first seen at the time of offering, while the clock is doubted too."""
    set_clock = faults.preload("wall", tmp_path, monkeypatch)
    wheel = storelib.make_wheel(tmp_path / "theirs", "eight", "1.0")
    index.add("eight", wheel, upload_time=None)
    config, state = merging.config(index, cooldown="7d"), tmp_path / "state"
    server = serve(None, config=config, state=state)
    assert len(merging.names(server, "six")) == 2
    if restarts:
        server.stop()
    set_clock(str(-30 * DAY))
    if restarts:
        server = serve(None, config=config, state=state)
    else:
        serving.wait_for(lambda: "the clock was set back by" in server.errors(), SOON, "the report")
    assert merging.names(server, "eight") == [] and ways(server, wheel, "eight") == {403}
    assert f"cooling until {stamp(7 * DAY)[:13]}".encode() in server.get(merging.url_of("eight", wheel.name)).body
    server.stop()
    server = serve(None, config=config, state=state)
    assert ways(server, wheel, "eight") == {403}


def test_restart_with_an_older_clock_takes_nothing_back(serve, index, wheels, tmp_path, monkeypatch):
    set_clock = faults.preload("wall", tmp_path, monkeypatch)
    set_clock(str(30 * DAY))
    state = tmp_path / "state"
    config = merging.config(index, cooldown="7d")
    server = serve(None, config=config, state=state)
    assert len(merging.names(server, "six")) == 3
    server.stop()
    set_clock("0")
    server = serve(None, config=config, state=state)
    assert len(merging.names(server, "six")) == 3
    server.stop()
    set_clock(str(500 * DAY))
    server = serve(None, config=config, state=state)
    storelib_wheel = storelib.make_wheel(tmp_path / "theirs", "eight", "1.0")
    index.add("eight", storelib_wheel, upload_time=stamp(29 * DAY))
    assert merging.names(server, "eight") == [] and "a server ran last at" in server.get("/-/health").body.decode()


def test_pruned_file_is_no_redirect_to_a_hidden_one(serve, index, tmp_path, wheels):
    """Ours was the same as upstream's, and is purged: under a hold its URL has the reason, and no Location."""
    platform, store = "debian-12-x86_64", tmp_path / "store"
    ours = store / platform / wheels["six", "2.0"].name
    ours.parent.mkdir(parents=True)
    shutil.copy(wheels["six", "2.0"].path, ours)
    config = (f"[store]\npath = {store}\n" + merging.config(index) +
              "[prune]\nredirect = superseded\nclients-have-upstream = yes\nmin-age = 0\nupstream-min-age = 0\n"
              "max-files = 100%\nmax-bytes = 100%\n")
    server = serve(None, "--rescan", "0", config=config)

    def run(*words):
        done = serving.run(*words, "--config", server.config_path, "--catalog", server.catalog)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout
    run("prune", "plan", "--quiet", "--output", tmp_path / "plan.json")
    assert "1 file pruned" in run("prune", "apply", tmp_path / "plan.json")
    run("prune", "purge", "--grace", "0")
    url = f"/files/{platform}/six/{ours.name}"
    serving.wait_for(lambda: server.get(url).status == 302, SOON, "the redirect")
    hold = run("hold", "--after", "40d", "--reason", "a worm").split(":")[0]
    for path in (url, f"{url}.metadata"):
        serving.wait_for(lambda: server.get(path).status == 403, 2, "the hold")
        reply = server.get(path)
        assert reply["Location"] is None and "held since" in json.loads(reply.body)["detail"]
    run("hold", "--end", hold)
    serving.wait_for(lambda: server.get(url).status == 302, 2, "its end")


def test_hold_keeps_what_prune_would_take(serve, index, tmp_path, wheels):
    """What is hidden covers nothing: the plan keeps ours."""
    platform, store = "debian-12-x86_64", tmp_path / "store"
    ours = store / platform / wheels["six", "2.0"].name
    ours.parent.mkdir(parents=True)
    shutil.copy(wheels["six", "2.0"].path, ours)
    config = tmp_path / "wheelcache.conf"
    config.write_text(f"[store]\npath = {store}\n[catalog]\npath = {tmp_path}/catalog.db\n" + merging.config(index, cooldown="40d") +
                      "[prune]\nclients-have-upstream = yes\nmin-age = 0\nupstream-min-age = 0\nmax-files = 100%\nmax-bytes = 100%\n")

    def verdict():
        done = serving.run("prune", "plan", "--json", "--output", tmp_path / "plan.json", "--config", config)
        assert done.returncode == 0, done.stderr
        (file,) = json.loads((tmp_path / "plan.json").read_text())["files"]
        assert file["filename"] == ours.name, file
        return file.get("why") or file["verdict"]
    assert serving.run("index", "--quiet", "--config", config).returncode == 0
    assert verdict() == "not-covered"
    config.write_text(config.read_text().replace("cooldown = 40d", "cooldown = 7d"))
    assert verdict() == "duplicate"
    assert serving.run("hold", "--after", "40d", "--reason", "x", "--config", config).returncode == 0
    assert verdict() == "not-covered"


PRIVATE_VIEW = """[store]
path = {store}
[platform pub]
[platform team]
private = yes
[upstream]
url = {theirs}
[upstream company]
url = {ours}
[view open]
platforms = pub
upstream = upstream
[view inner]
platforms = team
upstream = company
"""


def test_the_home_page_shows_what_the_asker_may_read(serve, tmp_path):
    """A hold of an upstream that only a private view merges, and a waiver of a project there, are not for everybody."""
    for platform in ("pub", "team"):
        storelib.make_wheel(tmp_path / "store" / platform, f"x{platform}", "1.0")
    with merging.indexes() as start:
        theirs, ours = start(), start()
        for index, project in ((ours, "acme-billing"), (theirs, "six")):
            index.add(project, storelib.make_wheel(tmp_path / "made", project.replace("-", "_"), "1.0"))
        server = serve(tmp_path / "store",
                       config=PRIVATE_VIEW.format(store=tmp_path / "store", theirs=theirs.url, ours=ours.url))
        assert server.get("/open/simple/six/").status == 200

        def does(*words):
            done = serving.run(*words, "--config", server.config_path, "--catalog", server.catalog)
            assert done.returncode == 0, done.stderr
        does("waive", "acme-billing", "--upstream", "company", "--until", "3d", "--reason", "a secret project")
        does("hold", "--after", "4d", "--upstream", "company", "--reason", "a secret worm")
        does("waive", "six", "--until", "3d", "--reason", "an open fix")
        does("hold", "--after", "3d", "--reason", "an open worm")
        for accept in ("text/html", "application/json"):
            def page(accept=accept):
                return server.get("/", {"Accept": accept}).body.decode()
            serving.wait_for(lambda: "an open fix" in page() and "an open worm" in page(), 5, "the open ones")
            assert "secret" not in page() and "acme" not in page() and "company" not in page()


@pytest.mark.parametrize("shared, wanted", [("six", ["1.0", "2.0", "3.0", "4.0"]), ("other", ["4.0"])])
def test_file_of_ours_that_arrived_before_the_clock_went_back(serve, index, wheels, tmp_path, monkeypatch, shared, wanted):
    """No answer of upstream is later than its arrival. Then upstream is not asked again and again while a client waits; whose
    the name is stays open, unless a rule says it."""
    set_clock = faults.preload("wall", tmp_path, monkeypatch)
    storelib.make_wheel(tmp_path / "store" / "debian-12-x86_64", "six", "4.0")
    server = serve(tmp_path / "store", config=merging.config(index, shared=shared, max_age=0))
    set_clock(str(-1500))
    before = index.count("six")
    for _ in range(3):
        assert [name.split("-")[1] for name in merging.names(server, "six")] == wanted
    assert index.count("six") - before <= 2
