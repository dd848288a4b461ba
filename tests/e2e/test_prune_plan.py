# SPDX-License-Identifier: Apache-2.0
"""wheelcache prune plan: its output for people and for programs, and that nothing else changes."""
import json
import os

import pytest

import serving
import storelib
from indexing import Indexed, on_terminal

UBUNTU, DEBIAN = "ubuntu-22.04-x86_64", "debian-12-x86_64"
SIX = "six-1.17.0-py2.py3-none-any.whl"  # which upstream has
BROKEN = "six-1.16.0-py2.py3-none-any.whl"
OWN = "six-9.0-py3-none-any.whl"  # which it has not
WINDOWS = "six-1.15.0-cp311-cp311-win_amd64.whl"
UNLISTED = "six-1.14.0-py2.py3-none-any.whl"


@pytest.fixture(scope="module", name="up")
def up_fixture(upstream):
    return upstream()


class Planned(Indexed):
    def __init__(self, folder, url):
        super().__init__(folder)
        self.plan_file, self.config = folder / "plan.json", folder / "wheelcache.conf"
        self.configure(url)

    def configure(self, url, prune="", upstream=""):
        self.config.write_text(f"[store]\npath = {self.store}\n[upstream]\nurl = {url}\n{upstream}\n"
                               f"[prune]\nclients-have-upstream = yes\nmin-age = 0\n{prune}\n")

    def plan_command(self, *options):
        return ["prune", *self.command("--config", self.config, *options, name="plan")]

    def plan(self, *options, code=0):
        done = serving.run(*self.plan_command(*options))
        assert done.returncode == code, done.stdout + done.stderr
        return done

    def saved(self, *options):
        """The plan as its file has it."""
        self.plan("-o", self.plan_file, *options)
        return json.loads(self.plan_file.read_text())

    def state(self):
        """What is in the store: names, bytes and times."""
        found = {}
        for folder, _, files in os.walk(self.store):
            for path in [folder, *(os.path.join(folder, name) for name in files)]:
                found[path] = os.stat(path).st_mtime_ns, os.path.isfile(path) and open(path, "rb").read()
        return found


@pytest.fixture(name="at")
def at_fixture(tmp_path, up):
    """Two platforms: one with a file that upstream has, in two folders, and one that only we have; the other with a broken file,
    one that cannot be installed there, and an unlisted one."""
    at = Planned(tmp_path, up.url)
    for folder in (f"{UBUNTU}/s/six", f"{UBUNTU}/copy", f"{DEBIAN}/s/six"):
        (at.store / folder).mkdir(parents=True)
    at.wheel(f"{UBUNTU}/s/six", version="1.17.0", tag="py2.py3-none-any")
    at.wheel(f"{UBUNTU}/copy", version="1.17.0", tag="py2.py3-none-any")
    at.wheel(f"{UBUNTU}/s/six", version="9.0")
    at.wheel(f"{DEBIAN}/s/six", version="1.15.0", tag="cp311-cp311-win_amd64")
    unlisted = at.wheel(f"{DEBIAN}/s/six", version="1.14.0", tag="py2.py3-none-any")
    unlisted.path.with_name(unlisted.path.name + ".pruned").write_text("gone")
    broken = at.store / DEBIAN / "s/six" / BROKEN
    broken.write_bytes(b"PK no more")
    os.utime(broken, (storelib.OLD, storelib.OLD))
    at.index()
    return at


def decided(plan):
    return {f"{one['platform']}/{one['path']}": (one["verdict"], one["removes"], one["why"]) for one in plan["files"]}


def totals(plan):
    return {(one["platform"], one["verdict"], one.get("why")): (one["removes"], one["files"]) for one in plan["totals"]}


def test_each_file_that_is_not_unlisted_has_one_verdict(at):
    plan = at.saved()
    assert decided(plan) == {
        f"{UBUNTU}/copy/{SIX}": ("duplicate", True, None),
        f"{UBUNTU}/s/six/{SIX}": ("duplicate", True, None),
        f"{UBUNTU}/s/six/{OWN}": ("keep", False, "not-covered"),
        f"{DEBIAN}/s/six/{WINDOWS}": ("unusable", False, "not-asked"),
        f"{DEBIAN}/s/six/{BROKEN}": ("corrupt", False, "not-asked"),
    }
    assert totals(plan) == {
        (UBUNTU, "duplicate", None): (True, 2),
        (UBUNTU, "keep", "not-covered"): (False, 1),
        (DEBIAN, "unusable", "not-asked"): (False, 1),
        (DEBIAN, "corrupt", "not-asked"): (False, 1),
    }
    assert {one["name"]: one["files"] for one in plan["platforms"]} == {UBUNTU: 3, DEBIAN: 2}
    for one in plan["files"]:
        path = at.store / one["platform"] / one["path"]
        assert (one["size"], one["mtime_ns"]) == (path.stat().st_size, path.stat().st_mtime_ns)
        assert one["reason"]


def test_evidence_says_what_upstream_has(at, up):
    entry = next(one for one in at.saved()["files"] if one["path"] == f"s/six/{SIX}")
    evidence = entry["evidence"]
    assert (evidence["filename"], evidence["index"], evidence["identical"]) == (SIX, up.url, False)
    assert evidence["url"].endswith(f"/{SIX}") and len(evidence["sha256"]) == 64
    assert evidence["uploaded"] < evidence["fetched"] and evidence["etag"]
    assert evidence["environments"] == {"3.10": SIX, "3.11": SIX}


@pytest.mark.parametrize("options, goes", [
    ([], {SIX}),
    (["--unusable"], {SIX, WINDOWS}),
    (["--corrupt"], {SIX, BROKEN}),
    (["--unusable", "--corrupt", "--platform", "debian-*"], {WINDOWS, BROKEN}),
    (["--platform", "ubuntu-*", "--platform", DEBIAN], {SIX}),
])
def test_options_say_what_may_go(at, options, goes):
    plan = at.saved(*options)
    assert {one["filename"] for one in plan["files"] if one["removes"]} == goes
    assert plan["options"]["classes"] == [one[2:] for one in options if one in ("--unusable", "--corrupt")]
    assert plan["options"]["platforms"] == [one for one in options if not one.startswith("--")]


def test_plan_says_what_the_policy_was(at, up):
    packages = at.folder / "packages.list"
    packages.write_text("six ==9.* of our own\n")
    at.configure(up.url, f"packages = {packages}\nupstream-min-age = 3d")
    plan = at.saved()
    policy = plan["policy"]
    assert (policy["min-age"], policy["upstream-min-age"], policy["packages"]) == (0, 3 * 86400, str(packages))
    assert len(policy["hash"]) == 64
    assert decided(plan)[f"{UBUNTU}/s/six/{OWN}"] == ("keep", False, "listed")


def test_nothing_in_the_store_changes(at):
    before = at.state()
    at.saved("--unusable", "--corrupt")
    assert at.state() == before
    assert at.index()["added"] == 0


def test_table_is_for_people(at):
    said = at.plan("-o", at.plan_file).stdout
    assert f"\n{UBUNTU}: 2 of 3 files go, " in "\n" + said
    assert f"{DEBIAN}: 0 of 2 files go, " in said
    assert "\nAll platforms: 2 of 5 files go, " in said
    words = [line.split()[:3] for line in said.splitlines()]
    assert ["goes", "duplicate", "2"] in words and ["stays", "keep", "1"] in words
    assert "goes with --unusable" in said and "goes with --corrupt" in said
    assert f"{UBUNTU}: --max-files=67%" in said
    assert f"prune apply {at.plan_file}" in said


def test_json_is_the_plan_without_its_files(at):
    said = json.loads(at.plan("-o", at.plan_file, "--json").stdout)
    saved = json.loads(at.plan_file.read_text())
    assert saved.pop("files") and saved == said


def test_quiet_says_nothing(at):
    done = at.plan("-o", at.plan_file, "--quiet")
    assert (done.stdout, done.stderr) == ("", "")


def test_plan_without_a_file_is_only_said(at):
    said = at.plan().stdout
    assert "2 of 5 files go" in said and "-o FILE" in said
    assert not at.plan_file.exists() and at.query("SELECT count(*) FROM planned") == [(0,)]
    at.saved()
    assert at.query("SELECT count(*) FROM planned") == [(5,)]


def test_plan_is_whole_or_as_before(at):
    at.plan_file.write_text("before")
    done = at.plan("-o", at.folder / "nowhere" / "plan.json", code=1)
    assert "nowhere/plan.json" in done.stderr
    assert at.plan("-o", at.plan_file, "--platform", "none", code=1).stderr.startswith("error: wheelcache: the store has no platform none; there ")
    assert at.plan_file.read_text() == "before"
    assert sorted(path.name for path in at.folder.iterdir()) == ["plan.json", "state", "store", "wheelcache.conf"]


def test_offline_sends_no_request(at, up):
    before = at.saved("--offline")
    assert {one["why"] for one in before["files"] if one["verdict"] == "keep"} == {"upstream-unknown"}
    assert before["look-ups"]["failed"] == 1
    online = at.saved()
    up.reset()
    offline = at.saved("--offline")
    assert up.stats()["requests"] <= 1  # this one
    assert decided(offline) == decided(online) != decided(before)


def test_same_page_is_not_sent_again(at, up):
    at.saved()
    up.reset()
    at.saved()
    assert up.stats()["by_status"].get("304") == 1


def test_failed_look_ups_are_reported(at, up):
    up.fail("500")
    try:
        at.configure(up.url, upstream="retries = 0")
        done = at.plan()
        quiet = at.plan("--quiet")
    finally:
        up.fail("none")
    assert "not known of 1 of 1 project;" in done.stdout and "\n  5xx: six\n    http" in done.stdout
    assert "max-failures = 5%" in done.stderr and "max-failures = 5%" in quiet.stderr


def test_store_is_indexed_first(at):
    at.catalog.unlink()
    assert "run wheelcache index first" in at.plan(code=1).stderr


def test_progress_on_a_terminal(at):
    text = on_terminal(at.plan_command())
    assert b"100%  1 of 1 project looked up" in text and text.endswith(b"\r\033[K")


@pytest.mark.parametrize("rule", ["private = s[hi]x", "local-only = SIX"])
def test_a_name_that_is_private_is_not_asked_for(at, up, rule):
    before = decided(at.saved())
    assert before[f"{UBUNTU}/s/six/{SIX}"][:2] == ("duplicate", True)
    at.configure(up.url, upstream=rule)
    up.reset()
    plan = at.saved()
    assert up.stats()["requests"] == 0
    assert decided(plan)[f"{UBUNTU}/s/six/{SIX}"] == ("keep", False, "upstream-unknown")
    assert plan["look-ups"]["failed"] == 0
    assert not any(one["removes"] for one in plan["files"])


def test_a_name_that_was_ours_first_stays_ours(at):
    """A stranger who registers it upstream later cannot get our files pruned."""
    at.catalog.with_name(at.catalog.name + ".ours").write_text("six 2026-01-02T03:04:05Z\n")
    plan = at.saved()
    assert decided(plan)[f"{UBUNTU}/s/six/{SIX}"] == ("keep", False, "upstream-unknown")
    assert "the name is ours" in next(one["reason"] for one in plan["files"] if one["filename"] == SIX)
