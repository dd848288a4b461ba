# SPDX-License-Identifier: Apache-2.0
"""`wheelcache retain`: versions that a view no longer keeps end, and no environment loses its last one."""
import hashlib
import json
import os

import pytest

import promtext
import serving
import tinyupstream
from channels import DAY, JAMMY, NOBLE, Channel, day, wheel

BOTH = "keep-versions = 2\nkeep-days = 30\n"


def ends(view):
    return [(p["project"], v["version"]) for p in view["projects"] for v in p["versions"] if v["decision"] == "ends"]


@pytest.fixture(name="at")
def at_fixture(tmp_path):
    """Six nights; the versions sort otherwise as text."""
    at = Channel(tmp_path)
    for age, version in enumerate(["1.10", "1.9", "1.8", "1.7", "1.6", "1.5"]):
        at.put(version, 10 * age)
    at.scan()
    return at


def test_versions_end_beyond_the_newest(at):
    view = at.retain()
    assert ends(view) == [("foo", one) for one in ["1.8", "1.7", "1.6", "1.5"]]
    assert (view["ended"], view["files"]) == (4, 8)
    assert at.versions() == ["1.10", "1.9"]
    stone = at.tombstone(wheel("1.8"))
    assert stone["verdict"] == "expired" and stone["run"].startswith("retain-nightly-")
    assert stone["reason"] == "view nightly keeps the newest 2" and stone["sha256"]
    at.scan()  # a catalog that is made again has the tombstones
    assert at.versions() == ["1.10", "1.9"]
    assert at.retain()["ended"] == 0


def test_young_versions_stay(at):
    at.configure(BOTH)
    assert at.retain()["ended"] == 3
    assert at.versions() == ["1.10", "1.8", "1.9"]
    assert at.retain("--now", day(at.now + 20 * DAY))["ended"] == 1
    assert at.versions() == ["1.10", "1.9"]


def test_what_a_lock_names_stays(at):
    lock = at.config.parent / "requirements.txt"
    sha256 = hashlib.sha256((at.store / JAMMY / "foo" / wheel("1.7")).read_bytes()).hexdigest()
    lock.write_text(f"foo==1.7 --hash=sha256:{sha256}\n")
    at.configure("keep-versions = 2\n", f"[prune]\nlocks = {lock}\n")
    view = at.retain()
    assert f"locked by {lock}" in json.dumps(view)
    assert at.versions(JAMMY) == ["1.10", "1.7", "1.9"]
    lock.write_text("foo==1.7 --hash=sha256:00\n")
    at.retain(code=1)
    assert "1.7" in at.versions(JAMMY) and "no SHA-256" in at.error
    lock.write_text(f"foo==1.9 --hash=sha256:{sha256[::-1]}\n")
    at.retain()
    assert at.versions(JAMMY) == ["1.10", "1.9"]


def test_dry_run_changes_nothing(at):
    assert at.retain("--dry-run")["ended"] == 4
    assert len(at.versions()) == 6 and not list(at.store.rglob("*.pruned"))


def test_people_read_what_ended(at):
    done = serving.run("retain", "--config", at.config)
    assert done.returncode == 0
    assert "nightly: foo 1.8 ends\n" in done.stdout
    assert f"  {JAMMY}: ended: {wheel('1.8')}\n" in done.stdout
    assert done.stdout.endswith("nightly: 4 versions ended (8 files), 0 will end soon, 0 projects stale\n")


def test_restore_lists_them_again_and_purge_deletes(at):
    at.retain()
    run = at.tombstone(wheel("1.8"))["run"]
    assert serving.run("prune", "restore", wheel("1.8"), "--config", at.config).returncode == 0
    assert "1.8" in at.versions(JAMMY)
    assert serving.run("prune", "restore", "--run", run, "--config", at.config).returncode == 0
    assert len(at.versions()) == 6
    at.retain()
    kept = serving.run("prune", "purge", "--config", at.config)
    assert kept.returncode == 0 and "8 files wait" in kept.stdout
    done = serving.run("prune", "purge", "--grace", "0", "--config", at.config)
    assert done.returncode == 0 and "8 files purged" in done.stdout, done.stderr
    assert len(list(at.store.rglob("*.whl"))) == 4


def test_restored_version_is_young_again(at):
    at.configure(BOTH)
    at.retain()
    assert serving.run("prune", "restore", wheel("1.6"), "--config", at.config).returncode == 0
    assert at.retain()["ended"] == 0
    assert "1.6" in at.versions(JAMMY)


def test_last_version_of_a_platform_stays_with_all_its_files(tmp_path):
    at = Channel(tmp_path, BOTH)
    at.put("1.0", 90)
    at.put("1.1", 80)
    for age in (60, 50, 40):
        at.put(f"2.{60 - age}", age, NOBLE)
    at.scan()
    view = at.retain()
    assert ends(view) == [("foo", "2.0"), ("foo", "1.0")]
    assert at.versions(JAMMY) == ["1.1"] and at.versions(NOBLE) == ["1.1", "2.10", "2.20"]
    states = {(one["platform"], one["python"]): (one["version"], one["state"])
              for one in view["projects"][0]["environments"]}
    assert states == {(JAMMY, "3.10"): ("1.1", "stale"), (JAMMY, "3.11"): (None, "empty"), (NOBLE, "3.12"): ("2.20", "stale")}


def test_yanked_wheel_does_not_count_as_the_last(tmp_path):
    at = Channel(tmp_path, "keep-versions = 1\n")
    at.put("1.0", 90)
    at.put("1.1", 80)
    at.put("1.2", 70)
    at.put("2.0", 60, NOBLE)
    at.scan()
    assert serving.run("yank", "--reason", "bad", wheel("1.2"), "--config", at.config).returncode == 0
    assert ends(at.retain()) == [("foo", "1.2"), ("foo", "1.0")]
    assert at.versions(JAMMY) == ["1.1"]


def test_last_final_version_stays_below_newer_nightlies(tmp_path):
    at = Channel(tmp_path, "keep-versions = 2\n")
    at.put("1.0", 90)
    for age in (9, 8, 7):
        at.put(f"2.0.dev{10 - age}", age)
    at.scan()
    assert ends(at.retain()) == [("foo", "2.0.dev1")]


def test_wheel_stays_below_a_newer_sdist(tmp_path):
    at = Channel(tmp_path, "keep-versions = 1\n")
    at.put("1.0", 9)
    at.put("0.9", 9)
    from exported import sdist
    sdist(at.store / JAMMY / "foo", "foo", "2.0")
    at.scan()
    assert ends(at.retain()) == [("foo", "0.9")]


def test_time_before_wheels_never_counts_as_old(tmp_path):
    at = Channel(tmp_path, BOTH)
    for age, version in enumerate(["1.3", "1.2", "1.1", "1.0"]):
        at.put(version, 40 + age)
    os.utime(at.store / JAMMY / "foo" / wheel("1.1"), (315532800, 315532800))  # 1980, as an archive leaves it
    at.scan()
    assert ends(at.retain()) == [("foo", "1.0")]


def test_hidden_file_ends_with_its_version(tmp_path):
    at = Channel(tmp_path, "keep-versions = 1\n")
    for version in ("1.0", "1.1"):
        at.put(version, 40, tag="py3-none-any")
    at.scan()
    assert at.retain()["files"] == 2
    assert at.versions() == ["1.1"]


# --- what the operator's lists and branches want ---

def branch(at, text, more="", name="stable"):
    (at.config.parent / f"{name}.txt").write_text(text)
    return f"[branch {name}]\n{'constraints' if '==' in text else 'requirements'} = {at.config.parent}/{name}.txt\n{more}"


def kept(at, *options):
    """Which versions of the six stay beside the newest two, and what wants them."""
    view = at.retain(*options)
    return {v["version"]: v["kept_by"] for p in view["projects"] for v in p["versions"] if v["decision"] == "wanted"}


def test_pins_of_live_branches_stay(at):
    at.configure("keep-versions = 2\n", branch(at, "foo==1.7\nbar==3\n") + branch(at, "foo==1.5\n", name="next")
                 + branch(at, "foo==1.6\n", "until = 2020-01-31\n", "over") + branch(at, "foo==1.8\n", "platforms = debian-*\n", "other"))
    assert {version: why.split(" (")[0] for version, why in kept(at).items()} == \
        {"1.7": "branch stable pins foo==1.7", "1.5": "branch next pins foo==1.5"}
    assert at.versions() == ["1.10", "1.5", "1.7", "1.9"]
    assert at.retain()["ended"] == 0


def test_pins_and_the_list_of_packages_stay_as_in_prune(at):
    (at.config.parent / "pins.txt").write_text("foo==1.6\n")
    (at.config.parent / "packages.list").write_text(f"foo ==1.8 platform={NOBLE} the gate needs it\n")
    at.configure("keep-versions = 2\n", f"[prune]\nconstraints = {at.config.parent}/pins.txt\npackages = {at.config.parent}/packages.list\n")
    assert set(kept(at)) == {"1.8", "1.6"}
    assert at.versions() == ["1.10", "1.6", "1.8", "1.9"]


@pytest.mark.parametrize("text, stays", [("foo<1.8\n", "1.7"), ("foo<=1.6,!=1.6\n", "1.5"), ("foo\n", None), ("foo>=2\n", None),
                                         ("foo<1.8; python_version < '3.12'\n", "1.7"), ("foo<1.8; python_version < '3'\n", None)])
def test_version_that_pip_takes_for_a_branch_stays(at, text, stays):
    at.configure("keep-versions = 2\n", branch(at, text))
    assert list(kept(at)) == ([stays] if stays else [])
    assert at.versions() == sorted(["1.10", "1.9"] + ([stays] if stays else []))


def test_branch_on_a_platform_keeps_what_pip_takes_there(tmp_path):
    """1.7 is there for the other platform only, so pip on this one takes 1.6."""
    at = Channel(tmp_path)
    for age, version in enumerate(["1.9", "1.8", "1.6"]):
        at.put(version, 10 * age)
    at.put("1.7", 5, NOBLE)
    at.scan()
    at.configure("keep-versions = 2\n", branch(at, "foo<1.8\n", f"platforms = {JAMMY}\n"))
    assert list(kept(at)) == ["1.6"]
    assert at.versions() == ["1.6", "1.8", "1.9"]


def test_members_that_a_branch_pins_stay_members(at):
    rules = "keep-versions = 2\n"
    tested = f"[view tested]\nplatforms = {JAMMY} {NOBLE}\nfrom = nightly\nkeep-versions = 1\nrequires = none\n"
    at.configure(rules, tested + branch(at, "foo==1.8\n"))
    at.generation([(JAMMY, wheel(version)) for version in ("1.10", "1.8", "1.7")])
    at.scan()
    assert ends(at.retain("--view", "tested", name="tested")) == [("foo", "1.7")]
    assert [one["filename"] for one in at.generations()[-1]["removes"]] == [wheel("1.7")]


@pytest.mark.parametrize("text, says", [(None, "stable.txt"), ("foo=1\n", "stable.txt:1"), ("# nothing\n", "it has no line")])
def test_nothing_ends_while_a_branch_cannot_be_read(at, text, says):
    at.configure("keep-versions = 2\n", branch(at, "foo==1.10\n"))
    path = at.config.parent / "stable.txt"
    path.unlink() if text is None else path.write_text(text)
    view = at.retain(code=1)
    assert says in view["doubt"] and says in at.error and view["ended"] == 0
    assert len(at.versions()) == 6


def test_purge_leaves_what_a_branch_pins_since(at):
    at.retain()
    at.configure("keep-versions = 2\n", branch(at, "foo==1.7\n"))
    done = serving.run("prune", "purge", "--grace", "0", "--config", at.config)
    assert done.returncode == 0 and "branch stable pins foo==1.7" in done.stdout, done.stdout + done.stderr
    assert {path.name for path in at.store.rglob("*.whl")} == \
        {wheel(version, platform) for version in ("1.10", "1.9", "1.7") for platform in (JAMMY, NOBLE)}


@pytest.mark.parametrize("sdists, status, build", [(["1.6"], "missing", 1), ([], "impossible", 0)])
def test_what_ended_is_missing_when_a_branch_wants_it_later(at, sdists, status, build):
    """What an operator removed stays skipped."""
    at.retain()
    assert serving.run("remove", "--reason", "it crashes", wheel("1.9"), "--config", at.config).returncode == 0
    with tinyupstream.running() as upstream:
        for version in sdists:
            upstream.add("foo", f"foo-{version}.tar.gz", sha256="ab" * 32)
        at.configure("keep-versions = 2\n", branch(at, "foo==1.6\n") + branch(at, "foo==1.9\n", name="next") +
                     f"[upstream]\nurl = {upstream.url}\nretries = 0\n")
        done = serving.run("missing", "--all", "--format", "json", "--platform", JAMMY, "--python", "3.10", "--config", at.config)
    rows = {row["version"]: row for row in json.loads(done.stdout)["rows"]}
    assert rows["1.9"]["status"] == "skipped"
    assert rows["1.6"]["status"] == status and rows["1.6"].get("build", 0) == build
    assert rows["1.6"]["why"].startswith(f"{wheel('1.6')} was removed here: view nightly keeps the newest 2; "
                                         "wheelcache prune restore lists it again; ")


# --- nothing ends ---

def test_clock_that_cannot_be_right_ends_nothing(at):
    at.configure("keep-versions = 1\nkeep-days = 1\n")
    view = at.retain("--now", "2099-01-01", code=1)
    assert "the time, 2099-01-01T23:59:59Z, cannot be right" in view["doubt"]
    assert "view nightly: nothing ends: the time, 2099" in at.error
    assert len(at.versions()) == 6


def test_platform_that_was_not_read_ends_nothing(at):
    (at.store / "ubuntu-20.04-x86_64").mkdir()
    at.config.write_text(at.config.read_text().replace(f"{JAMMY} {NOBLE}", f"{JAMMY} {NOBLE} ubuntu-20.04-x86_64")
                         + "[platform ubuntu-20.04-x86_64]\npythons = 3.8\n")
    view = at.retain(code=1)
    assert view["doubt"] == "platform ubuntu-20.04-x86_64: no scan has read it yet"
    assert len(at.versions()) == 6


def test_unknown_machines_end_nothing(tmp_path):
    at = Channel(tmp_path)
    at.config.write_text(f"[store]\npath = {at.store}\n[catalog]\npath = {at.catalog}\n[platform wheels]\npath = x\n"
                         "[view nightly]\nplatforms = wheels\nkeep-versions = 1\n")
    for version in ("1.0", "1.1"):
        at.wheel("x", "foo", version)
    at.scan()
    assert at.retain(code=1)["doubt"] == "platform wheels: its section must set pythons, arch and libc"
    assert len(at.names()) == 2


def test_file_that_left_the_disk_serves_nobody(at):
    at.configure("keep-versions = 1\n")
    for version in ("1.10", "1.9"):
        (at.store / JAMMY / "foo" / wheel(version)).unlink()
    at.retain()
    assert at.versions(JAMMY) == ["1.10", "1.8"]  # the catalog is older than the disk


def test_frozen_platform_is_left(at):
    assert serving.run("freeze", "--reason", "backup", JAMMY, "--config", at.config).returncode == 0
    assert at.retain()["files"] == 4
    assert len(at.versions(JAMMY)) == 6 and len(at.versions(NOBLE)) == 2


def test_other_view_keeps_what_it_keeps(tmp_path):
    at = Channel(tmp_path, "keep-versions = 1\n", f"[view weekly]\nplatforms = {NOBLE}\nkeep-versions = 3\n")
    for age in range(4):
        at.put(f"1.{9 - age}", age)
    at.scan()
    at.retain("--view", "nightly")
    assert at.versions(JAMMY) == ["1.9"] and at.versions(NOBLE) == ["1.7", "1.8", "1.9"]


@pytest.mark.parametrize("options, words", [
    (("--view", "weekly"), "no view weekly"),
    (("--view", "all"), "[view all] has neither keep-versions nor keep-days"),
    (("--now", "tomorrow"), "--now tomorrow"),
])
def test_wrong_command_lines(tmp_path, options, words):
    at = Channel(tmp_path, more=f"[view all]\nplatforms = {JAMMY} {NOBLE}\n")
    at.put("1.0", 1)
    at.scan()
    done = serving.run("retain", "--config", at.config, *options)
    assert done.returncode == 2 and words in done.stderr and not done.stdout


# --- views with a membership ---

TESTED = "[view tested]\nfrom = nightly\nkeep-versions = 2\n"


@pytest.fixture(name="tested")
def tested_fixture(at):
    """Both platforms' wheels of four versions were promoted."""
    at.configure("", TESTED)
    at.generation([(platform, wheel(f"1.{minor}", platform)) for platform in (JAMMY, NOBLE) for minor in (9, 8, 7, 6)])
    return at


def test_membership_ends_and_files_stay(tested):
    view = tested.retain(name="tested")
    assert (view["membership"], view["ended"], view["files"]) == (True, 2, 4)
    assert len(tested.versions()) == 6 and not list(tested.store.rglob("*.pruned"))
    last = tested.generations()[-1]
    assert (last["generation"], last["action"], last["adds"]) == (2, "retain", [])
    assert last["reason"] == "view tested keeps the newest 2"
    assert sorted({one["filename"].split("-")[1] for one in last["removes"]}) == ["1.6", "1.7"]
    assert tested.retain(name="tested")["ended"] == 0 and len(tested.generations()) == 2


def test_age_of_a_member_is_since_its_promotion(tested):
    tested.configure("", TESTED.replace("2", "1") + "keep-days = 7\n")
    assert tested.retain(name="tested")["ended"] == 0
    assert tested.retain("--now", day(tested.now + 7 * DAY), name="tested")["ended"] == 3


def test_members_are_pinned(tested):
    tested.configure("keep-versions = 1\n", TESTED.replace("2", "9"))
    done = serving.run("retain", "--config", tested.config)
    assert f"  {JAMMY}: stays: {wheel('1.9')}: pinned by view tested: wheelcache demote first\n" in done.stdout
    assert tested.versions() == ["1.10", "1.6", "1.7", "1.8", "1.9"]


def test_damaged_membership_ends_nothing(tested):
    tested.configure("keep-versions = 1\n", TESTED)
    path = tested.store / ".wheelcache-views" / "tested" / "000001.json"
    path.write_text(path.read_text()[:-9])
    done = serving.run("retain", "--config", tested.config)
    assert done.returncode == 1 and "the membership of view tested is damaged" in done.stderr
    assert len(tested.versions()) == 6


def test_purge_leaves_what_is_pinned(tested):
    tested.configure("keep-versions = 1\n")
    tested.retain()
    tested.configure("", TESTED)
    done = serving.run("prune", "purge", "--grace", "0", "--config", tested.config)
    assert "8 files kept" in done.stdout and "2 files purged" in done.stdout, done.stdout + done.stderr
    assert (tested.store / JAMMY / "foo" / wheel("1.9")).exists()


# --- warnings, and interruption ---

def test_versions_are_warned_of(at):
    at.configure("keep-versions = 1\nkeep-days = 24\nwarn-days = 7\n")
    view = at.retain()
    assert view["ending"] == 1
    warned = [v for p in view["projects"] for v in p["versions"] if v["warned"]]
    assert [(v["version"], v["ends"]) for v in warned] == [("1.8", day(at.now + 4 * DAY))]
    assert f"view nightly: foo 1.8 ends at {day(at.now + 4 * DAY)}" in at.error


def hook(at, code=0):
    """A command that notes what it is told."""
    script, told = at.folder / "tell", at.folder / "told"
    script.write_text(f'#!/bin/sh\necho "$*" >>{told}\nenv | grep ^WHEELCACHE_[A-Z]*= | sort >>{told}\nexit {code}\n')
    script.chmod(0o755)
    return f"{script} %n %r", told


@pytest.mark.parametrize("code", [0, 1])
def test_hook_is_told_once_of_each_version(at, code):
    command, told = hook(at, code)
    at.configure(f"keep-versions = 1\nkeep-days = 24\nwarn-days = 7\non-change = {command}\n")
    at.retain("--dry-run")
    assert not told.exists()
    for _ in range(2):
        at.retain()
        assert ("on-change for foo 1.8" in at.error) == bool(code and _ == 0)
    facts = [f"WHEELCACHE_CAME={day(at.now - 20 * DAY)}", "WHEELCACHE_CHANGE=ending",
             "WHEELCACHE_CHANGES=ending nightly foo 1.8", f"WHEELCACHE_ENDS={day(at.now + 4 * DAY)}",
             "WHEELCACHE_PROJECT=foo", "WHEELCACHE_VERSION=1.8", "WHEELCACHE_VIEW=nightly"]
    own = {f"{name}={value}" for name, value in os.environ.items()}  # the hook inherits these
    assert [line for line in told.read_text().splitlines() if line not in own] == ["foo 1.8", *facts]
    at.retain("--now", day(at.now + 8 * DAY))  # then 1.8 has ended, and 1.9 is warned of
    assert [told.read_text().splitlines().count(one) for one in ("foo 1.9", "foo 1.8")] == [1, 1]


def test_metrics_have_what_the_last_retain_found(at, serve):
    at.configure("keep-versions = 1\nkeep-days = 24\nwarn-days = 7\n", f"[view odd]\nplatforms = {JAMMY}\nkeep-days = 1\n")
    at.retain()
    server = serve(at.store, "--rescan", "0", config=at.config.read_text(), state=at.catalog.parent)
    seen = promtext.Metrics(server.get("/-/metrics").body.decode())
    assert [seen(f"view_{one}", view="nightly") for one in ("ended_versions", "ending_versions", "stale_projects")] \
        == [3, 1, 0]
    assert abs(seen("view_retained_timestamp_seconds", view="nightly") - at.now) < 60
    at.retain("--now", "2099-01-01", code=1)
    seen = promtext.Metrics(server.get("/-/metrics").body.decode())
    assert seen("view_retention_in_doubt", view="nightly") == 1


def test_audit_log_has_each_file(at):
    at.retain()
    lines = [json.loads(line) for line in open(f"{at.catalog}.audit", encoding="utf-8")]
    assert len([one for one in lines if one["action"] == "retain" and one["result"] == "done"]) == 8
