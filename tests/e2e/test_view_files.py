# SPDX-License-Identifier: Apache-2.0
"""The files of memberships and evidence in the store: scans read them, checks compare them, and damage empties no view."""
import hashlib
import json
import os
import shutil
import signal
import time

import pytest

import evidence
import faults
import serving
import storelib
from channels import write_generation
from indexing import PLATFORM, Indexed, numbers

VIEWS = ".wheelcache-views"


class Store(Indexed):
    """The view tested has some of the wheels of one platform."""

    def __init__(self, folder):
        super().__init__(folder)
        self.config = folder / "wheelcache.conf"
        self.config.write_text(f"[store]\npath = {self.store}\n[catalog]\npath = {self.catalog}\n[platform {PLATFORM}]\n"
                               f"[view tested]\nfrom = {PLATFORM}\n")
        self.views = self.store / VIEWS
        self.wheels = [self.wheel(f"{PLATFORM}/six", version=f"1.{minor}", mtime=storelib.OLD) for minor in range(3)]

    def command(self, *options, name="index"):
        return [name, *map(str, options), "--config", str(self.config)]

    def generation(self, adds=(), removes=(), view="tested"):
        members = [[(PLATFORM, f"six/{self.wheels[minor].path.name}") for minor in part] for part in (adds, removes)]
        write_generation(self.store, view, *members)

    def evidence(self, minor, failed=0):
        """A record, in the only form of its file."""
        wheel = self.wheels[minor].path
        record = {"failed": failed, "failures": [], "kind": "unit", "made": "2026-11-20T01:02:03Z", "passed": 7,
                  "platform": PLATFORM, "python": "3.11", "skipped": 0,
                  "wheels": [{"filename": wheel.name, "sha256": hashlib.sha256(wheel.read_bytes()).hexdigest()}]}
        return evidence.write_file(self.views, record, "2026-11-20T01:02:04.000000005Z")

    def record(self, minor):
        """A record that is given with a command."""
        path = self.folder / "record.json"
        path.write_text(json.dumps(json.loads(self.evidence(minor, failed=7).read_text())["record"]))
        return path

    def shown(self, view="tested"):
        """What the catalog says: the newest generation, its members, whether it is damaged, and the log."""
        log = self.query("SELECT g.number, g.made, hex(g.sha256), g.action, g.who, g.added, g.removed, hex(g.packed) FROM"
                         f" membership v JOIN generation g ON g.membership = v.id WHERE v.name = '{view}' ORDER BY 1")
        members = self.query("SELECT l.name, m.project, m.filename, hex(m.sha256), m.since, m.until FROM membership v"
                             f" JOIN member m ON m.membership = v.id JOIN platform l ON l.id = m.platform"
                             f" WHERE v.name = '{view}' ORDER BY 1, 2, 3, 5")
        return self.query(f"SELECT newest, damaged FROM membership WHERE name = '{view}'"), log, members

    def records(self):
        return self.query("SELECT hex(sha256), kind, platform, python, made, received, arrival, who, address, views,"
                          " overrides, passed, failed, skipped, wheels, hex(packed) FROM evidence ORDER BY sha256")

    def lose_catalog(self):
        for path in self.catalog.parent.glob("catalog.db*"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()

    def wrong(self):
        """What a check says of views."""
        summary = self.check(code=1)
        assert {key: rows for key, rows in summary["lists"].items() if rows and key != "views"} == {}
        assert summary["views"] == len(summary["lists"]["views"])
        return [(row["path"], row["reason"]) for row in summary["lists"]["views"]]


@pytest.fixture(name="at")
def at_fixture(tmp_path):
    at = Store(tmp_path)
    at.generation([0])
    at.generation([1, 2], [0])
    at.evidence(0)
    at.evidence(1, failed=1)
    return at


def test_a_catalog_that_is_made_again_has_the_same(at):
    summary = at.index()
    numbers(summary, generations=2, evidence=2, problems=0, ignored=0, files=3)
    before = at.shown(), at.records()
    assert before[0][0] == [(2, 0)]
    assert len(before[0][2]) == 3 and len(before[1]) == 2
    numbers(at.index(), generations=0, evidence=0)
    assert at.check()["views"] == 0
    at.lose_catalog()
    at.index()
    assert (at.shown(), at.records()) == before


def test_another_folder_of_views(at, tmp_path):
    elsewhere = tmp_path / "views"
    shutil.move(at.views, elsewhere)
    at.config.write_text(at.config.read_text().replace("[catalog]", f"views = {elsewhere}\n[catalog]"))
    numbers(at.index(), generations=2, evidence=2)
    assert at.check()["views"] == 0


def test_a_membership_needs_a_folder(at, tmp_path):
    text = f"[catalog]\npath = {at.catalog}\n[platform {PLATFORM}]\npath = {at.store / PLATFORM}\n[view tested]\nfrom = {PLATFORM}\n"
    at.config.write_text(text)
    done = at.run()
    assert done.returncode == 2 and "view tested: from needs [store] views" in done.stderr
    at.config.write_text(f"[store]\nviews = {tmp_path / 'views'}\n{text}")
    at.index()


def test_a_replica_has_the_same_views(at, tmp_path):
    at.index()
    (tmp_path / "other").mkdir()
    replica = Indexed(tmp_path / "other")
    replica.store.rmdir()
    shutil.copytree(at.store, replica.store)
    replica.index()
    assert Store.shown(replica) == at.shown() and Store.records(replica) == at.records()
    assert replica.check()["views"] == 0


def test_damage_is_a_problem_of_the_scan_and_empties_nothing(at):
    at.index()
    before = at.shown()
    newest = at.views / "tested" / "000002.json"
    text = newest.read_bytes()
    newest.write_bytes(text[:100])
    summary = at.index(code=1)
    assert [row["reason"].split(": ")[:2] for row in summary["lists"]["problems"]] == [["views", "tested/000002.json"]]
    assert at.shown()[0] == [(2, 1)] and at.shown()[1:] == before[1:]
    assert ("tested/000002.json", "other bytes than the catalog has") in at.wrong()
    newest.write_bytes(text)
    at.index()
    assert at.shown() == before
    assert at.check()["views"] == 0


def test_a_damaged_old_generation_is_named_and_nothing_is_promoted_on_top(at):
    at.generation([0], [1])
    at.index()
    before, old = at.shown(), at.views / "tested" / "000001.json"
    text = old.read_bytes()
    old.write_bytes(text[:100])
    reason = "it was changed after it was written: the catalog has other bytes"
    for _ in range(2):
        assert at.index(code=1)["lists"]["problems"][0]["reason"] == f"views: tested/000001.json: {reason}"
    done = serving.run("promote", "--config", at.config, "--to", "tested", "--override", "now")
    assert done.returncode == 1 and "the membership of view tested is not known as a whole" in done.stderr, done.stderr
    assert not (at.views / "tested" / "000004.json").exists()
    assert at.shown()[0] == [(3, 1)] and at.shown()[1:] == before[1:]
    old.write_bytes(text)
    at.index()
    assert at.shown() == before


def test_times_of_a_clock_that_was_ahead_are_found_and_repaired(at):
    """All that comes after is as late, until the order of time is repaired."""
    ahead, now = 4102444800, int(time.time())
    for minor in (0, 1):
        write_generation(at.store, "tested", [(PLATFORM, f"six/{at.wheels[minor].path.name}")] if minor == 0 else [],
                         [(PLATFORM, f"six/{at.wheels[minor].path.name}")] if minor else [], made=ahead + minor)
    os.utime(at.views / "tested" / "000003.json", (ahead,) * 2)
    os.utime(at.views / "tested" / "000004.json", (now,) * 2)
    for number in (1, 2):
        os.utime(at.views / "tested" / f"00000{number}.json", (now - 100,) * 2)
    at.index()
    members = at.shown()[2]
    records = [at.evidence(0), at.evidence(0, failed=3)]
    for number, path in enumerate(records):
        path.write_text(path.read_text().replace("2026-11-20T01:02:04", f"2100-01-0{2 - number}T01:02:04"))
    assert {name for name, reason in at.wrong() if "after this machine's clock" in reason} >= {
        "tested/000003.json", "tested/000004.json"}

    def run(*words, code=0):
        done = serving.run(*words, "--config", at.config)
        assert done.returncode == code, done.stderr + done.stdout
        return done.stdout
    assert "the newest generation of tested is of 2100-01-01T00:00:01Z" in run("doctor", code=1)
    found = run("view", "repair", "--dry-run")
    assert found.startswith("tested: 2 generations with a time in the future\n")
    assert "evidence: 2 records with a time in the future\n" in found and not (at.views / "tested" / "000005.json").exists()
    assert "tested: 2 generations with a time in the future have another now" in run("view", "repair")
    at.index()
    log = json.loads(run("view", "log", "tested", "--json"))["generations"]
    times = [one["made"] for one in log]
    assert [one["action"] for one in log[:2]] == ["repair", "promote"] and times == sorted(times, reverse=True)
    assert times[1] == times[2] == time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now)) and times[0] < "2099"
    assert [row[:5] for row in at.shown()[2]] == [row[:5] for row in members]
    # The record that came later is later, and comes before the next one.
    arrived = {row[0]: row[6] for row in at.records()}
    early, late = (arrived[path.name[:-5].upper()] for path in reversed(records))
    assert early < late < time.time_ns()
    assert at.check()["views"] == 0 and run("view", "repair").startswith("nothing has a time in the future")
    before = at.shown(), at.records()
    at.lose_catalog()
    at.index()
    assert (at.shown(), at.records()) == before
    run("promote", "--to", "tested")
    assert at.shown()[1][-1][1] <= time.time()


@pytest.mark.parametrize("part", [VIEWS, "/tested", "/tested/000002.json", "/evidence"])
def test_a_volume_that_cannot_be_read_changes_nothing(at, tmp_path, monkeypatch, part):
    at.index()
    before = at.shown()[1:], at.records()
    change = faults.preload("eio", tmp_path, monkeypatch)
    change(part)
    at.index(code=1)
    assert (at.shown()[1:], at.records()) == before
    change(None)
    at.index()
    assert (at.shown()[1:], at.records()) == before and at.shown()[0] == [(2, 0)]


def test_a_store_of_a_backup_is_read_again_and_said_once(at):
    at.index()
    (at.views / "tested" / "000002.json").unlink()
    assert ("tested/000002.json", "it is missing") in at.wrong()
    summary = at.index(code=1)
    assert "other generations" in summary["lists"]["problems"][0]["reason"]
    assert at.shown()[0] == [(1, 0)]
    numbers(at.index(), problems=0)


def test_a_check_says_what_is_wrong(at):
    at.index()
    record = at.evidence(2)
    at.generation([0], [1])
    at.generation([0], view="released")
    assert sorted(at.wrong()) == [
        (f"evidence/{record.name[:2]}", "it has records that the catalog does not have: the next scan reads them"),
        ("released", "it has generations that the catalog does not have: the next scan reads them"),
        ("tested", "it has generations that the catalog does not have: the next scan reads them")]
    at.index()
    record.write_text(record.read_text().replace('"passed": 7', '"passed": 8'))
    assert at.wrong() == [(f"evidence/{record.name[:2]}/{record.name}", "it is not the record that its name says")]
    record.unlink()
    assert at.wrong() == [(f"evidence/{record.name[:2]}/{record.name}", "it is missing")]
    at.index(code=1)
    assert at.check()["views"] == 0


def test_a_check_says_which_member_has_no_bytes(at):
    at.index()
    at.wheels[2].path.unlink()
    at.index()
    assert at.wrong() == [(f"tested/{at.wheels[2].path.name}",
                           f"it is a member, and platform {PLATFORM} does not list these bytes")]


def test_hostile_files_do_no_harm(at):
    tested = at.views / "tested"
    shutil.copy(tested / "000001.json", tested / "000001.json.bak")
    for name in ("x.json", "0000003.json", ".000003.json", "-1.json", "00000\n.json"):
        (tested / name).write_text("{}")
    os.mkfifo(at.views / "fifo")
    os.mkfifo(tested / "fifo")
    (at.views / "link").symlink_to("/etc")
    (at.views / "simple").mkdir()
    (at.views / "a view").mkdir()
    (at.views / "evidence" / "zz").mkdir()
    (at.views / ".wheelcache-1-2-3-4.tmp").write_text("")
    os.utime(at.views / ".wheelcache-1-2-3-4.tmp", (1, 1))
    numbers(at.index(), generations=2, evidence=2, problems=0, ignored=0, files=3)
    assert not (at.views / ".wheelcache-1-2-3-4.tmp").exists()
    assert at.check()["views"] == 0
    os.mkfifo(tested / "000003.json")
    (at.views / "released").symlink_to("tested")
    problems = at.index(code=1)["lists"]["problems"]
    assert [row["reason"] for row in problems] == ["views: tested/000003.json: it is no regular file"]
    assert at.shown()[0] == [(2, 1)] and at.shown("released")[0] == []


def test_a_server_reads_them_too(at, tmp_path):
    def names():
        page = server.get("/tested/simple/six/", {"Accept": "application/vnd.pypi.simple.v1+json"})
        return [row["filename"] for row in json.loads(page.body)["files"]] if page.status == 200 else page.status

    wheels = [wheel.path.name for wheel in at.wheels]
    with serving.servers(tmp_path) as start:
        server = start(None, "--rescan", 0, config=at.config.read_text())
        serving.wait_for(lambda: names() == wheels[1:], 30, "what was promoted before")
        at.generation([0], [1])
        server.signal(signal.SIGHUP)
        serving.wait_for(lambda: names() == [wheels[0], wheels[2]], 30, "the new generation")
        (at.views / "tested" / "000003.json").write_text("{")
        server.signal(signal.SIGHUP)
        serving.wait_for(lambda: "tested/000003.json is missing or damaged" in server.errors(), 30, "the damage")
        assert names() == [wheels[0], wheels[2]]


def test_a_new_catalog_of_a_damaged_view_is_not_empty(at, tmp_path):
    (at.views / "tested" / "000001.json").write_text("{")
    with serving.servers(tmp_path) as start:
        server = start(None, "--rescan", 0, config=at.config.read_text())
        serving.wait_for(lambda: "tested/000001.json is missing or damaged" in server.errors(), 30, "the damage")
        serving.wait_for(lambda: server.get(f"/{PLATFORM}/simple/six/").status == 200, 30, "the platform's page")
        assert server.get("/tested/simple/six/").status == 503
        assert server.get("/tested/simple/").status == 503


def test_a_freeze_of_all_refuses_promotions(at):
    def frozen(*arguments):
        done = serving.run(*arguments, "--config", at.config)
        assert done.returncode == 1 and "the views of the store are frozen: moving disks" in done.stderr, done.stderr

    def done(*arguments):
        result = serving.run(*arguments, "--config", at.config)
        assert result.returncode == 0, result.stderr
        return result.stdout

    at.index()
    assert "frozen" in done("freeze", PLATFORM)
    done("promote", "--to", "tested", at.wheels[0].path.name)  # no byte of the platform changes
    assert "views: frozen" in done("freeze", "--reason", "moving disks")
    before = at.shown()
    frozen("demote", "--from", "tested", at.wheels[0].path.name)
    frozen("promote", "--to", "tested", "six", "--evidence", at.record(0))
    numbers(at.index(), problems=0, ignored=0)
    assert at.shown() == before and at.check()["views"] == 0
    assert "views: thawed" in done("thaw")
    assert "views: were not frozen" in done("thaw")
    done("demote", "--from", "tested", at.wheels[0].path.name)
