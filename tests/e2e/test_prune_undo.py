# SPDX-License-Identifier: Apache-2.0
"""After a prune: `prune purge` deletes, `prune restore` undoes, `platform retire` unlists a whole platform."""
import json
import os
import shutil

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
    """A store whose first four files are pruned."""
    at = Pruned(tmp_path, up)
    at.run_id = at.plan()["id"]
    at.apply()
    return at


def url(filename, platform=PLATFORM):
    return f"/files/{platform}/six/{filename}"


# --- purge ---

def test_purge_deletes_what_was_pruned_long_ago(at):
    done = at.tool("prune", "purge")
    assert "0 files purged" in done.stdout and "4 files wait" in done.stdout
    assert at.there() == sorted(at.bytes)
    assert at.purge("--dry-run").stdout.count("would be purged six-1.") == 4
    assert at.there() == sorted(at.bytes)
    assert at.purge().stdout.count(f"{PLATFORM}: purged six-1.") == 4
    assert at.there() == sorted(set(at.bytes) - set(at.covered))
    assert at.unlisted() == at.covered
    assert at.audit()[4:] == [("purge", one, "done") for one in at.covered]
    assert "0 files purged" in at.purge().stdout
    before = at.facts()
    at.tool("index", "--quiet")
    assert at.facts() == before


def test_the_url_of_a_purged_file_leads_to_upstream(at, serve):
    server = serve(at.store, "--rescan", "0", config=at.config.read_text().replace(str(at.catalog), "ignored"))
    assert server.get(url(FIRST)).body == at.bytes[FIRST]
    at.tool("prune", "purge", "--grace", "0", "--catalog", server.catalog)
    serving.wait_for(lambda: server.get(url(FIRST)).status == 302, 20, "the purge")
    assert server.get(url(FIRST))["Location"] == at.tombstone(FIRST)["upstream"]["url"]
    assert server.get(url(OWN)).body == at.bytes[OWN]


def replace(at, wheel):
    """Replaces a file by other bytes of the same size."""
    at.bytes[wheel] = at.bytes[wheel][:-1] + b"!"
    at.path(wheel).write_bytes(at.bytes[wheel])


def test_purge_leaves_what_upstream_does_not_have_now(at):
    at.upstream.change("six", at.covered[0], yanked="broken")
    at.upstream.remove("six", at.covered[1])
    at.upstream.change("six", at.covered[2], **{"requires-python": ">=3.12"})
    at.packages.write_text("six ==1.3 because it is wanted\n")
    done = at.purge()
    assert all(f"kept {one}: " in done.stdout for one in at.covered)
    assert at.there() == sorted(at.bytes)


def test_purge_leaves_what_is_not_what_was_pruned(at):
    replace(at, at.covered[0])
    at.mark(at.covered[1]).unlink()
    at.mark(at.covered[2]).write_text("do not touch")
    done = at.purge()
    assert all(f"kept {one}: " in done.stdout for one in at.covered[:3])
    assert at.there() == sorted(set(at.bytes) - {at.covered[3]})


def test_purge_does_nothing_where_upstream_says_nothing(at):
    at.upstream.is_down = True
    done = at.purge()
    assert done.stdout.count(f"{PLATFORM}: kept six-1.") == 4
    assert at.there() == sorted(at.bytes)


def test_purge_leaves_what_was_removed_by_hand(at):
    at.tool("remove", "--reason", "old", OWN)
    at.mark(name("1.8")).write_text("by hand")
    at.tool("index", "--quiet")
    at.purge()
    assert {OWN, name("1.8")} <= set(at.there())


def test_purge_names_a_frozen_platform_and_does_the_others(tmp_path, up):
    at = Pruned(tmp_path, up, platforms=(PLATFORM, OTHER))
    at.plan()
    at.apply()
    at.tool("freeze", "--reason", "moving", OTHER)
    done = at.purge(code=1)
    assert f"platform {OTHER} is frozen: moving" in done.stderr
    assert at.there(OTHER) == sorted(at.bytes)
    assert at.there() == sorted(set(at.bytes) - set(at.covered))


# --- restore ---

def test_restore_of_a_run(at):
    assert at.restore("--run", at.run_id).stdout.count("restored six-1.") == 4
    assert at.shown() == at.there() == sorted(at.bytes) and not at.unlisted()
    assert at.audit()[4:] == [("restore", one, "done") for one in at.covered]
    assert at.restore("--run", at.run_id).stdout.startswith("0 files restored")
    before = at.facts()
    at.tool("index", "--quiet")
    assert at.facts() == before


def test_restore_of_files(at):
    at.restore(FIRST, SECOND)
    assert at.unlisted() == at.covered[2:]
    assert set(at.shown()) == set(at.bytes) - set(at.covered[2:])
    assert "nothing to do" in at.restore(FIRST).stdout


def test_restore_takes_a_tombstone_that_the_catalog_does_not_know(at):
    at.mark(OWN).write_text("by hand")
    at.restore(OWN)
    assert not at.mark(OWN).exists()


def test_what_was_purged_is_named(at):
    at.purge("--platform", PLATFORM)
    done = at.restore("--run", at.run_id, code=1)
    for one in at.covered:
        assert f"{one}: it was purged; upstream has {at.tombstone(one)['upstream']['url']}" in done.stderr
    assert at.unlisted() == at.covered


def test_other_bytes_are_not_restored(at):
    replace(at, FIRST)
    done = at.restore("--run", at.run_id, code=1)
    assert f"{FIRST}: " in done.stderr and "other bytes" in done.stderr
    assert at.unlisted() == [FIRST]


@pytest.mark.parametrize("words, expected, code", [
    ([], "expected either names", 2),
    ([FIRST, "--run", "x"], "expected either names", 2),
    (["seven-1.0-py3-none-any.whl"], "no platform has", 1),
    ([FIRST, "--platform", "nowhere"], "no platform", 1),
    (["--run", "no-such-run"], "no file here was pruned by run no-such-run: ", 1),
])
def test_mistakes_are_named(at, words, expected, code):
    assert expected in at.restore(*words, code=code).stderr
    assert at.unlisted() == at.covered


def test_restore_on_one_platform(tmp_path, up):
    at = Pruned(tmp_path, up, platforms=(PLATFORM, OTHER))
    run_id = at.plan()["id"]
    at.apply()
    at.restore("--run", run_id, "--platform", "debian-*")
    assert at.unlisted() == at.covered and not at.unlisted(OTHER)


# --- retire ---

def test_retire_unlists_a_whole_platform(tmp_path, up, serve):
    at = Pruned(tmp_path, up, platforms=(PLATFORM, OTHER))
    done = at.retire("--dry-run")
    assert "10 files would be unlisted" in done.stdout
    assert not at.unlisted() and at.shown() == sorted(at.bytes)
    assert not (at.store / PLATFORM / ".wheelcache-frozen").exists()
    assert "10 files unlisted" in at.retire().stdout
    assert at.unlisted() == at.there() == sorted(at.bytes) and not at.shown()
    assert not at.unlisted(OTHER) and at.shown(OTHER) == sorted(at.bytes)
    assert (at.store / PLATFORM / ".wheelcache-frozen").read_text().startswith("retired: no machines\n")
    assert "frozen" in at.tool("yank", "--reason", "x", FIRST, code=1).stderr
    assert at.purge("--platform", OTHER).stdout.startswith("0 files")
    done = at.retire("--grace", "0")
    assert "10 files purged" in done.stdout
    assert not at.there() and at.unlisted() == sorted(at.bytes)
    assert "0 files unlisted" in at.retire().stdout
    server = serve(at.store, "--rescan", "0")
    reply = server.get(url(FIRST))
    assert reply.status == 410 and b"the platform was retired: no machines" in reply.body


def test_retire_covers_pruned_files_but_not_removed_ones(at):
    at.tool("remove", "--reason", "malware", OWN)
    before = at.mark(OWN).read_text()
    broken = at.folder_of() / "six-2.0-py3-none-any.whl"
    broken.write_bytes(b"PK")
    os.utime(broken, (storelib.OLD, storelib.OLD))
    at.tool("index", "--quiet")
    at.bytes[broken.name] = b"PK"
    assert "10 files unlisted" in at.retire().stdout
    assert {at.tombstone(one)["verdict"] for one in at.unlisted() if one != OWN} == {"retired"}
    at.retire("--grace", "0")
    assert at.there() == [OWN] and at.mark(OWN).read_text() == before


def test_retirement_can_be_undone(at):
    at.retire()
    at.tool("thaw", PLATFORM)  # a thaw of all leaves retired ones
    at.restore("--run", f"retire-{PLATFORM}")
    assert at.shown() == sorted(at.bytes) and not at.unlisted()


def test_platform_that_is_frozen_for_another_reason_is_not_retired(at):
    at.tool("freeze", "--reason", "retirement is near")
    done = at.retire(code=1)
    assert "retirement is near" in done.stderr and "thaw" in done.stderr
    assert at.unlisted() == at.covered


def test_purge_deletes_retired_files(at):
    at.retire()
    at.upstream.is_down = True
    at.purge()
    assert not at.there()


@pytest.mark.parametrize("words, expected, code", [
    (["retire"], "no PLATFORM", 2), (["retire", "nowhere"], "nowhere", 2), ([], "no command", 2)])
def test_mistakes_of_platform_are_named(at, words, expected, code):
    done = serving.run("platform", *words, *(["--config", at.config] if words else []))
    assert done.returncode == code and expected in done.stderr


# --- a platform of two paths ---

HOOK = '#!/bin/sh\ncp -r "$1/." "$2/"\ncd "$2" && find . -type f | while read -r f; do [ -e "$1/$f" ] || rm "$f"; done\n'


def test_all_commands_on_a_platform_with_a_release(tmp_path, up):
    at = Pruned(tmp_path, up)
    served = tmp_path / "served"
    shutil.copytree(at.store / PLATFORM, served)
    hook = tmp_path / "hook"
    hook.write_text(HOOK)
    hook.chmod(0o755)
    shutil.rmtree(at.catalog.parent)
    at.configure(f"[platform {PLATFORM}]\npath = {served}\nwrite-path = {at.store / PLATFORM}\nrelease = {hook} %w %p\n")
    at.tool("index", "--quiet")
    run_id = at.plan()["id"]
    at.apply()
    assert at.unlisted() == at.covered and at.shown() == sorted(set(at.bytes) - set(at.covered))
    assert sorted(path.name for path in served.rglob("*.pruned")) == [f"{one}.pruned" for one in at.covered]
    at.restore(FIRST)
    assert at.shown() == sorted(set(at.bytes) - set(at.covered[1:]))
    at.purge()
    assert at.there() == sorted(set(at.bytes) - set(at.covered[1:]))
    assert not (served / "s" / "six" / SECOND).exists()
    assert json.loads((served / "s" / "six" / f"{SECOND}.pruned").read_text())["run"] == run_id
    assert at.audit().count(("release", None, "done")) == 3
