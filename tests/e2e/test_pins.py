# SPDX-License-Identifier: Apache-2.0
"""A file that a view with a membership has, or a lock file names, is pruned by no command."""
import hashlib
import json

import pytest

import channels
import serving
import tinyupstream
from pruning import PLATFORM, Pruned, name

VIEWS = f"[view all]\nplatforms = {PLATFORM}\n[view tested]\nfrom = all\n"
FIRST, SECOND = name("1.0"), name("1.1")
PINNED = "pinned by view tested: wheelcache demote first"


@pytest.fixture(name="up")
def up_fixture():
    with tinyupstream.running() as up:
        yield up


@pytest.fixture(name="at")
def at_fixture(tmp_path, up):
    """Upstream has four of ten files; a view has the first of them."""
    at = Pruned(tmp_path, up)
    at.configure(VIEWS)
    promote(at, FIRST)
    return at


def promote(at, *files, removes=()):
    channels.write_generation(at.store, "tested", [(PLATFORM, f"s/six/{one}") for one in files],
                              [(PLATFORM, f"s/six/{one}") for one in removes])


def tool(at, *arguments):
    return serving.run(*arguments, "--config", at.config)


def test_plan_keeps_it(at):
    plan = at.plan()
    entry = next(one for one in plan["files"] if one["filename"] == FIRST)
    assert (entry["verdict"], entry["why"], entry["reason"]) == ("keep", "in-view", PINNED)
    at.apply()
    assert at.unlisted() == at.covered[1:]


def test_apply_checks_the_plan_again(at):
    at.plan()
    promote(at, SECOND)
    done = tool(at, "prune", "apply", at.plan_path)
    assert done.returncode == 1 and "--skip-changed-evidence" in done.stderr
    done = tool(at, "prune", "apply", "--skip-changed-evidence", at.plan_path)
    assert done.returncode == 0 and f"kept {SECOND}: {PINNED}" in done.stdout, done.stderr
    assert at.unlisted() == at.covered[2:]


def test_purge_leaves_it(at):
    at.plan()
    at.apply()
    promote(at, SECOND)
    done = at.purge()
    assert f"kept {SECOND}: {PINNED}" in done.stdout
    assert SECOND in at.there() and at.covered[2] not in at.there()
    promote(at, removes=[SECOND])
    at.purge()
    assert SECOND not in at.there()


def test_follow_lists_it_again(at):
    """A prune was killed after its tombstone, before it could look at the views again."""
    at.plan()
    at.apply()
    promote(at, SECOND)
    done = tool(at, "prune", "follow")
    assert done.returncode == 0 and "view tested has it" in done.stdout, done.stdout + done.stderr
    assert at.unlisted() == at.covered[2:]


def test_apply_that_is_repeated_lists_it_again(at):
    at.plan()
    at.apply()
    promote(at, SECOND)
    at.apply()
    assert at.unlisted() == at.covered[2:]


def test_retirement_leaves_it(at):
    done = tool(at, "platform", "retire", PLATFORM)
    assert done.returncode == 1 and "views have 1 of its files, so this stays listed: demote it" in done.stderr
    assert f"kept {FIRST}: {PINNED}" in done.stdout and len(at.unlisted()) == 9
    promote(at, removes=[FIRST])
    assert tool(at, "platform", "retire", PLATFORM).returncode == 0
    assert len(at.unlisted()) == 10


@pytest.mark.parametrize("command", [("prune", "plan"), ("prune", "purge"), ("prune", "follow"), ("platform", "retire", PLATFORM)])
def test_damaged_membership_stops_all(at, command):
    """What it pins is not known."""
    path = at.store / ".wheelcache-views" / "tested" / "000001.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"adds": 1}))
    done = tool(at, *command)
    assert done.returncode == 1 and "the membership of view tested is damaged" in done.stderr
    assert not at.unlisted()


def test_off_list_leaves_what_a_branch_wants(at):
    """Upstream need not have it; a branch that is over wants nothing. The plan's policy has the files of the branches."""
    text = at.config.parent / "master.txt"
    text.write_text("six==1.8\n")
    over = f"[branch old]\nrequirements = {text.parent}/old.txt\nuntil = 2020-01-31\n"
    at.configure(f"[branch master]\nconstraints = {text}\n{over}", caps="100%")
    plan = at.plan("--off-list")
    entry = next(one for one in plan["files"] if one["filename"] == name("1.8"))
    assert (entry["verdict"], entry["why"]) == ("keep", "pinned")
    assert entry["reason"] == f"branch master pins six==1.8 ({text}:1)"
    text.write_text("six==1.7\n")
    assert "policy" in at.apply(code=1).stderr
    at.plan("--off-list")
    at.apply()
    assert at.shown() == [name("1.7")]


def test_remove_refuses_what_views_have(at):
    """Nothing is done on any platform, and the views are named; --force removes the file."""
    at.configure(VIEWS + "[view released]\nfrom = tested\n[view other]\nfrom = all\n")
    channels.write_generation(at.store, "released", [(PLATFORM, f"s/six/{FIRST}")])
    done = tool(at, "remove", "--reason", "bad", FIRST)
    assert done.returncode == 1 and at.unlisted() == [], done.stdout
    assert f"{FIRST} is released, in the views tested, released, whose clients would lose it" in done.stderr
    assert "wheelcache demote first, or use --force" in done.stderr
    assert tool(at, "remove", "--reason", "bad", SECOND).returncode == 0
    assert tool(at, "remove", "--force", "--reason", "bad", FIRST).returncode == 0
    assert at.unlisted() == [FIRST, SECOND]


def test_remove_refuses_while_a_membership_is_damaged(at):
    for path in (at.store / ".wheelcache-views" / "tested").glob("*.json"):
        path.write_text("{}")
    done = tool(at, "remove", "--reason", "bad", SECOND)
    assert done.returncode == 1 and "what it pins is not known" in done.stderr and "--force" in done.stderr
    assert tool(at, "remove", "--force", "--reason", "bad", SECOND).returncode == 0


def test_lost_member_is_told_of(at, serve):
    """A wheel that was deleted by hand is on no page, and doctor, the metrics and the channel say so, the page first."""
    server = serve(None, "--config", at.config, state=at.catalog.parent)

    def lost():
        return json.loads(server.get("/-/channel/tested/?format=json").body)["lost"]

    assert lost() == [] and b'wheelcache_view_lost_files{view="tested"} 0\n' in server.get("/-/metrics").body
    assert "has lost" not in tool(at, "doctor").stdout
    at.path(FIRST).unlink()
    at.tool("index", "--quiet")
    serving.wait_for(lambda: [one | {"since": ""} for one in lost()] == [
        {"platform": PLATFORM, "project": "six", "filename": FIRST, "since": ""}], 20, "the lost file")
    page = server.get("/-/channel/tested/", {"Accept": "text/html"}).body.decode()
    assert '<span class="state wrong">1 lost</span>' in page and page.index("<h2>Lost</h2>") < page.index("<h2>Packages</h2>")
    assert b'wheelcache_view_lost_files{view="tested"} 1\n' in server.get("/-/metrics").body
    done = tool(at, "doctor")
    assert f"view tested has lost 1 released file, first {PLATFORM}/{FIRST}" in done.stdout, done.stdout


# --- lock files ---

def lock(at, *files, text="", extra=""):
    """[prune] locks has requirements with the hashes of these files, and a name that is not here."""
    path = at.config.parent / "locks" / "requirements.txt"
    path.parent.mkdir(exist_ok=True)
    digests = [hashlib.sha256((at.store / PLATFORM / "s" / "six" / one).read_bytes()).hexdigest() for one in files]
    path.write_text(text or "six==1.1 " + " ".join(f"--hash=sha256:{one}" for one in digests) + "\nother==1 --hash=sha256:" + "0" * 64 + "\n")
    config = at.config.read_text()
    if "locks =" not in config:
        assert "[prune]" in config
        at.config.write_text(config.replace("[prune]\n", f"[prune]\nlocks = {path.parent}/*.txt {extra}\n", 1))
    return path


def test_plan_keeps_what_a_lock_names(at):
    path = lock(at, SECOND)
    entry = next(one for one in at.plan()["files"] if one["filename"] == SECOND)
    assert (entry["verdict"], entry["why"], entry["reason"]) == ("keep", "locked", f"locked by {path}")
    at.apply()
    assert at.unlisted() == at.covered[2:]


def test_a_new_lock_makes_a_plan_old(at):
    at.plan()
    lock(at, SECOND)
    done = tool(at, "prune", "apply", at.plan_path)
    assert done.returncode == 1 and not at.unlisted(), done.stdout + done.stderr


def test_purge_leaves_what_a_lock_names(at):
    at.plan()
    at.apply()
    path = lock(at, SECOND)
    done = at.purge()
    assert f"kept {SECOND}: locked by {path}" in done.stdout
    assert SECOND in at.there() and at.covered[2] not in at.there()


def test_retirement_and_remove_need_force(at):
    path = lock(at, SECOND)
    promote(at, removes=[FIRST])
    done = tool(at, "platform", "retire", PLATFORM)
    assert done.returncode == 1 and f"name 1 file of it, {SECOND} first (locked by {path})" in done.stderr
    assert not at.unlisted() and not (at.store / PLATFORM / ".wheelcache-frozen").exists()
    done = tool(at, "remove", "--reason", "why", SECOND)
    assert done.returncode == 1 and f"{SECOND} is locked by {path}" in done.stderr and not at.unlisted()
    assert tool(at, "remove", "--reason", "why", "--force", SECOND).returncode == 0
    assert at.unlisted() == [SECOND]
    done = tool(at, "platform", "retire", "--grace", "0s", "--force", PLATFORM)
    assert done.returncode == 0, done.stderr
    assert len(at.unlisted()) == 10 and SECOND in at.there()


@pytest.mark.parametrize("command", [("prune", "plan"), ("prune", "purge"), ("platform", "retire", PLATFORM),
                                     ("remove", "--reason", "x", SECOND)])
@pytest.mark.parametrize("text, extra, why", [
    ("six==1.1 --hash=sha256:00\n", "", "requirements.txt:1: \"sha256:00\" is no SHA-256"),
    ("", "/no/such/*.lock", "[prune] locks: no file matches /no/such/*.lock"),
    ("", "/no/such/uv.lock", "[prune] locks: /no/such/uv.lock"),
    ("\n", "", "requirements.txt:1: no lock: it names no project"),
    ("six==1.1\n", "", "requirements.txt names no SHA-256, so it protects no file: [prune] constraints does"),
])
def test_a_lock_that_cannot_be_read_stops_all(at, command, text, extra, why):
    """What it names is not known."""
    lock(at, SECOND, text=text, extra=extra)
    done = tool(at, *command)
    assert done.returncode in (1, 2) and why in done.stderr, done.stderr
    assert not at.unlisted()


@pytest.mark.parametrize("until, kept", [("", True), ("until = 2020-01-31\n", False)])
def test_the_lock_of_a_branch_counts_until_the_branch_is_over(at, until, kept):
    path = lock(at, SECOND)
    at.configure(VIEWS + f"[branch app]\nlocks = {path}\n{until}")
    entry = next(one for one in at.plan()["files"] if one["filename"] == SECOND)
    assert (entry["why"], entry["reason"]) == ("locked", f"locked by {path}") if kept else entry["removes"]
