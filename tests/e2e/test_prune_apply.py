# SPDX-License-Identifier: Apache-2.0
"""`prune apply`: a plan is applied if all of its decisions still hold, and otherwise not at all."""
import fcntl
import hashlib
import json
import os
import shutil
import signal
import subprocess
import time

import pytest

import serving
import storelib
import tinyupstream
from pruning import PLATFORM, Pruned, name

OTHER = "debian-12-x86_64"
FIRST, SECOND, OWN = name("1.0"), name("1.1"), name("1.9")


@pytest.fixture(name="up")
def up_fixture():
    with tinyupstream.running() as up:
        yield up


@pytest.fixture(name="at")
def at_fixture(tmp_path, up):
    return Pruned(tmp_path, up)


def check_untouched(at):
    assert not at.unlisted()
    assert len(at.shown()) == len(at.there()) == 10


def test_what_the_plan_removes_is_unlisted(at):
    plan = at.plan()
    check_untouched(at)
    assert "4 files pruned" in at.apply().stdout
    assert at.unlisted() == at.covered
    assert at.shown() == sorted(set(at.bytes) - set(at.covered))
    assert at.there() == sorted(at.bytes)
    assert at.audit() == [("prune", one, "done") for one in at.covered]
    sha256 = hashlib.sha256(at.bytes[FIRST]).hexdigest()
    stone = at.tombstone(FIRST)
    assert stone.pop("when").endswith("Z") and stone.pop("by").startswith("user ")
    upstream = stone.pop("upstream")
    assert stone == {"reason": "upstream has this file", "verdict": "duplicate", "run": plan["id"], "project": "six",
                     "sha256": sha256, "size": len(at.bytes[FIRST])}
    assert (upstream["filename"], upstream["sha256"], upstream["identical"]) == (FIRST, sha256, True)
    assert upstream["url"].startswith("http://127.0.0.1") and upstream["index"] == at.upstream.url


def test_a_scan_finds_nothing_else(at):
    at.plan()
    at.apply()
    before = at.facts()
    at.tool("index", "--quiet")
    assert at.facts() == before
    shutil.rmtree(at.catalog.parent)
    at.tool("index", "--quiet")
    assert at.shown() == sorted(set(at.bytes) - set(at.covered))


def test_done_twice_is_done_once(at):
    at.plan()
    at.apply()
    before = {one: at.mark(one).read_text() for one in at.covered}
    assert "0 files pruned (0 B), 4 files so before" in at.apply().stdout
    assert {one: at.mark(one).read_text() for one in at.covered} == before
    assert len(at.audit()) == 4


def test_what_was_done_counts_once_for_the_caps(at):
    """After an apply that was killed in the middle, the caps count the whole plan, not only the rest."""
    at.configure(caps="41%")
    at.plan()
    at.apply()
    at.restore(FIRST, SECOND)
    assert "2 files pruned" in at.apply().stdout


def test_a_dry_run_changes_nothing(at):
    at.plan()
    done = at.apply("--dry-run")
    assert done.stdout.count("would be pruned six-1.") == 4
    check_untouched(at)


def test_files_deleted_from_the_plan_stay(at):
    at.plan()
    lines = at.plan_path.read_text().splitlines(keepends=True)
    at.plan_path.write_text("".join(line for line in lines if FIRST not in line))
    at.apply()
    assert at.unlisted() == at.covered[1:]


def test_an_edited_line_unlists_no_other_file(at):
    """Apply rechecks the path; the edited name is of its neighbour, which upstream does not have."""
    at.plan()
    names = f'"filename":"{FIRST}","path"'
    text = at.plan_path.read_text()
    assert names in text
    at.plan_path.write_text(text.replace(names, names.replace(FIRST, OWN)))
    assert f"{FIRST} does not end in {OWN}" in at.apply(code=1).stderr
    check_untouched(at)


def stop_in_the_middle(process, at):
    """Stops the process once it has unlisted the first file. False: it was too fast."""
    while process.poll() is None and not at.mark(FIRST).exists():
        time.sleep(0.001)
    if process.poll() is None:
        process.send_signal(signal.SIGSTOP)
    return not at.mark(at.covered[-2]).exists()


def test_what_is_replaced_meanwhile_is_not_unlisted(tmp_path, up):
    """All files were rechecked; then another wheel is copied over one of them."""
    at = Pruned(tmp_path, up, covered=40, wheels=40)
    at.configure(caps="100%")
    at.plan()
    last = at.covered[-1]
    with subprocess.Popen([serving.binary(), "prune", "apply", "--config", at.config, at.plan_path],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        is_stopped = stop_in_the_middle(process, at)
        if is_stopped:
            replace_on_disk(at, last)
        process.send_signal(signal.SIGCONT)
        errors = process.communicate(timeout=600)[1]
    assert not is_stopped or f"{last}: it changed or disappeared" in errors
    assert at.mark(last).exists() != is_stopped and at.there() == sorted(at.bytes)


def change_policy(at, _):
    at.configure(min_age="1h")


def change_list(at, _):
    at.packages.write_text("other because it is wanted\nseven too\n")


def replace_on_disk(at, wheel):
    other = storelib.make_wheel(at.folder / "aside", "six", wheel.split("-")[1], requires=["seven"], mtime=None)
    at.bytes[wheel] = other.path.read_bytes()
    shutil.copy(other.path, at.path(wheel))


def touch(at, wheel):
    os.utime(at.path(wheel), (storelib.OLD + 7, storelib.OLD + 7))


def delete(at, wheel):
    at.path(wheel).unlink()


def index(at, _):
    at.tool("index", "--quiet")


def remove_by_hand(at, wheel):
    at.tool("remove", "--reason", "malware", wheel)


def yank(at, wheel):
    at.upstream.change("six", wheel, yanked="broken")


def take_away(at, wheel):
    at.upstream.remove("six", wheel)


def narrow(at, wheel):
    at.upstream.change("six", wheel, **{"requires-python": ">=3.12"})


# The changes of the first, second and third file; the option that allows them; the message; how many files are left to do.
CHANGES = {
    "policy": ([change_policy], "--accept-changed-policy", "changed since the plan was made", 4),
    "list": ([change_list], "--accept-changed-policy", "changed since the plan was made", 4),
    "disk": ([replace_on_disk, touch, delete], "--skip-changed-wheels", "are no longer those", 1),
    "catalog": ([replace_on_disk, remove_by_hand, delete, index], "--skip-changed-wheels", "are no longer those", 1),
    "upstream": ([yank, take_away, narrow], "--skip-changed-evidence", "would not be removed today", 1),
}
OVERRIDES = sorted({option for _, option, *_ in CHANGES.values()})


@pytest.mark.parametrize("what", CHANGES)
def test_what_changed_is_refused_but_by_its_own_option(at, what):
    changes, option, words, rest = CHANGES[what]
    at.plan()
    for number, change in enumerate(changes):
        change(at, at.covered[number])
    before = at.unlisted()
    done = at.apply(*[one for one in OVERRIDES if one != option], code=1)
    assert words in done.stderr and option in done.stderr
    assert at.unlisted() == before
    done = at.apply(option)
    assert f"{rest} file{'s' * (rest > 1)} pruned" in done.stdout
    assert set(at.unlisted()) - set(before) == set(at.covered[4 - rest:])
    assert all(f"kept {one}: " in done.stdout for one in at.covered[:4 - rest])


def test_a_changed_policy_that_is_accepted_still_decides(at):
    """The list now has one of them."""
    at.plan()
    at.packages.write_text("six ==1.0 because it is wanted\n")
    assert "changed since" in at.apply(code=1).stderr
    done = at.apply("--accept-changed-policy", code=1)
    assert "--skip-changed-evidence" in done.stderr and f"kept {FIRST}: " in done.stdout
    check_untouched(at)
    at.apply("--accept-changed-policy", "--skip-changed-evidence")
    assert at.unlisted() == at.covered[1:]


@pytest.mark.parametrize("word", ["six-1.1-*", f"{PLATFORM}/six-1.1-*.whl", f"{PLATFORM}/s/six/*1.1*", "{name}", f"{PLATFORM}/{{name}}",
                                  "@list"])
def test_files_that_are_left_out_stay(at, word, tmp_path):
    at.plan()
    (tmp_path / "list").write_text(f"# not these\n\n  {at.covered[1]}\n")
    word = word.replace("@list", f"@{tmp_path / 'list'}").replace("{name}", at.covered[1])
    done = at.apply("--except", word)
    assert f"kept {at.covered[1]}: it is left out by --except" in done.stdout and "3 files pruned" in done.stdout
    rest = [one for one in at.covered if one != at.covered[1]]
    assert at.unlisted() == rest and at.covered[1] in at.shown()
    at.apply()
    assert at.unlisted() == at.covered


def test_what_is_left_out_is_not_checked(at):
    """Neither its bytes nor the caps."""
    at.configure(caps="20%")
    at.plan()
    replace_on_disk(at, at.covered[0])
    assert at.apply("--except", at.covered[0], code=1).returncode == 1
    assert "2 files pruned" in at.apply("--except", at.covered[0], "--except", at.covered[1]).stdout
    assert at.unlisted() == at.covered[2:]


def test_a_misspelt_exception_is_refused(at, tmp_path):
    at.plan()
    kept = next(one for one in at.there() if one not in at.covered)
    (tmp_path / "list").write_text(f"{at.covered[0]}\nsix-1.99-py3-none-any.whl\n")
    for word, part in (("five-*", "five-*"), (kept, kept), (f"@{tmp_path / 'list'}", "six-1.99"), ("@/no/such", "/no/such"), ("", "name")):
        assert part in at.apply("--except", at.covered[0], f"--except={word}", code=1 if word else 2).stderr
        check_untouched(at)


@pytest.mark.parametrize("what", ["files", "bytes"])
def test_more_than_a_cap_is_refused(at, what):
    other = "bytes" if what == "files" else "files"
    at.configure(caps="39%")
    at.plan()
    done = at.apply(f"--max-{other}=100%", code=1)
    assert f"--max-{what} is 39%" in done.stderr and PLATFORM in done.stderr
    check_untouched(at)
    at.apply("--max-files=40%", "--max-bytes=41%")
    assert at.unlisted() == at.covered


def test_caps_are_of_each_platform(tmp_path, up):
    at = Pruned(tmp_path, up, platforms=(PLATFORM, OTHER))
    for one in at.covered[1:]:
        at.path(one, OTHER).unlink()
    at.tool("index", "--quiet")
    at.configure(caps="30%")
    at.plan()
    assert PLATFORM in at.apply(code=1).stderr
    assert not at.unlisted() and not at.unlisted(OTHER)
    at.plan("--platform", OTHER)
    at.apply()
    assert at.unlisted(OTHER) == at.covered[:1] and not at.unlisted()


def test_too_many_failures_are_refused(at):
    at.plan()
    at.upstream.is_down = True
    done = at.apply("--skip-changed-evidence", code=1)
    assert "1 of 1 look-up failed (six: " in done.stderr
    check_untouched(at)
    at.apply("--skip-changed-evidence", "--max-failures=100%")
    check_untouched(at)  # it is not known that upstream has them
    at.upstream.is_down = False
    at.apply()
    assert at.unlisted() == at.covered


def test_a_plan_whose_look_ups_failed_is_refused(at):
    at.upstream.is_down = True
    at.plan()
    at.upstream.is_down = False
    assert "when the plan was made" in at.apply(code=1).stderr
    check_untouched(at)


def test_a_frozen_platform_is_named_and_nothing_is_done(tmp_path, up):
    at = Pruned(tmp_path, up, platforms=(PLATFORM, OTHER))
    at.plan()
    at.tool("freeze", "--reason", "moving", PLATFORM)
    done = at.apply(code=1)
    assert PLATFORM in done.stderr and "moving" in done.stderr
    assert not at.unlisted() and not at.unlisted(OTHER)


def test_a_second_file_of_a_name_has_its_own_verdict(at):
    """The plan has a line for each; the file that stays is listed under the name."""
    deep = at.store / PLATFORM / "z"
    deep.mkdir()
    shutil.copy2(at.path(FIRST), deep)
    at.tool("index", "--quiet")
    plan = at.plan()
    assert sorted(one["path"] for one in plan["files"] if one["filename"] == FIRST) == [f"s/six/{FIRST}", f"z/{FIRST}"]
    lines = at.plan_path.read_text().splitlines(keepends=True)
    at.plan_path.write_text("".join(line for line in lines if f"z/{FIRST}" not in line))
    at.apply()
    assert at.unlisted() == at.covered and not list(deep.glob("*.pruned"))
    assert FIRST in at.shown()


def test_one_at_a_time(at):
    at.plan()
    with open(at.catalog.with_name("catalog.db.prune"), "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        lock.write("somebody else")
        lock.flush()
        assert "somebody else" in at.apply(code=1).stderr
    check_untouched(at)
    at.apply()


@pytest.mark.parametrize("change, words, code", [
    (lambda plan: plan | {"store": "/elsewhere"}, "/elsewhere", 1),
    (lambda plan: plan | {"wheelcache-plan": 2}, "plan", 1),
    (lambda plan: plan | {"files": [one | {"platform": "nowhere"} for one in plan["files"]]}, "nowhere", 1),
    (lambda plan: plan | {"files": plan["files"] + plan["files"]}, "twice", 1),
])
def test_other_plans_are_refused(at, change, words, code):
    plan = at.plan()
    at.plan_path.write_text(json.dumps(change(plan)))
    assert words in at.apply(code=code).stderr
    check_untouched(at)


def test_a_plan_of_other_bytes_is_refused(at):
    """With the same size and time."""
    plan = at.plan()
    plan["files"][0]["sha256"] = "00" * 32
    at.plan_path.write_text(json.dumps(plan))
    assert "are no longer those" in at.apply(code=1).stderr
    check_untouched(at)


def test_a_path_that_leads_out_removes_nothing(at):
    plan = at.plan()
    for one in plan["files"]:
        one["path"] = f"../{PLATFORM}/{one['path']}"
    at.plan_path.write_text(json.dumps(plan))
    at.apply(code=1)
    check_untouched(at)
