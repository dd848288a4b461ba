# SPDX-License-Identifier: Apache-2.0
"""Views with a membership in daily work: promotions that are killed, repeated, or run at once, beside uploads and prunes; a
catalog that is lost; marks of members; and what the other commands say of these views."""
import concurrent.futures
import contextlib
import errno
import http.client
import json
import shutil
import threading
import time

import pytest

import faults
import nightly
import serving
import storelib
import uploading
from nightly import DEBIAN, UBUNTU

NIGHTS = ["1.0.dev1", "1.0.dev2"]
SIMPLE = """\
[view staging]
platforms = debian-12-x86_64 ubuntu-22.04-x86_64
[view tested]
from = staging
[view released]
from = tested
"""


@pytest.fixture(name="place")
def place_fixture(tmp_path):
    """Two nights in staging; the view tested takes what staging shows."""
    place = nightly.Channel(tmp_path, SIMPLE)
    place.nights = [nightly.make_night(tmp_path / "nights", version) for version in NIGHTS]
    for night in place.nights:
        place.put(night)
    return place


def names(nights):
    return sorted(one.name for night in nights for wheels in night.wheels.values() for one in wheels)


def generations(place, view):
    """The numbers of a view's generations in the store."""
    return sorted(int(path.stem) for path in (place.store / ".wheelcache-views" / view).glob("*.json"))


# --- killed, repeated, at once ---

@pytest.fixture(name="nth")
def nth_fixture(place, monkeypatch):
    """The n-th call that changes a membership or the catalog."""
    monkeypatch.setenv("WHEELCACHE", serving.binary())  # as it was, at the end
    nth = faults.Nth(place.folder, [".wheelcache-views", "catalog.db"])
    yield nth
    nth.disarm()


def test_promotion_that_is_killed_is_whole_or_not_there(place, nth, pytestconfig):
    """After each fault the view has all files or none, and the repeated command has the same end. Of the points a sample
    without --nightly."""
    place.promote("tested", f"pure=={NIGHTS[0]}")
    kept = place.folder / "kept"
    for path in (place.store / ".wheelcache-views", place.state):
        shutil.copytree(path, kept / path.name)
    point, came = 1, True
    while came:
        nth.arm(point, (faults.KILLED, errno.ENOSPC, errno.EIO))
        failed = serving.run("promote", "--to", "tested", "--config", place.file, "--catalog", place.catalog)
        came = nth.disarm()
        assert came or failed.returncode == 0, failed.stderr
        if failed.returncode > 0:
            assert failed.stderr.startswith("error: wheelcache: ")
        shown = place.json("view", "log", "tested")["generations"]
        assert [one["generation"] for one in shown] in ([1], [2, 1]), point
        again = place.promote("tested")
        assert sorted(again) == names(place.nights) and {result for result, _ in again.values()} <= {"done", "already"}
        assert generations(place, "tested") == [1, 2], point
        place.run("check", "--quiet")
        for path in (place.store / ".wheelcache-views", place.state):
            shutil.rmtree(path)
            shutil.copytree(kept / path.name, path)
        point += 1 if pytestconfig.getoption("--nightly") else 5
    assert point > 20, "hardly anything was tried"


def test_two_promoters_at_once(place, serve):
    """One on the command line, one by HTTP: each file is promoted once, by one of them."""
    server = serve(config=place.config, state=place.state)
    token = place.token("--right", "promote", "--view", "tested")
    start = threading.Barrier(4)

    def command():
        start.wait(30)
        return nightly.done(place.promote("tested"))

    def request():
        start.wait(30)
        reply = nightly.promote_by_http(server, "tested", token)
        assert reply.status == 200, reply.body
        return nightly.done(nightly.results(json.loads(reply.body)))

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        promoted = [one.result() for one in [pool.submit(what) for what in (command, request, command, request)]]
    assert sorted(sum(promoted, [])) == names(place.nights)
    assert generations(place, "tested") == list(range(1, sum(map(bool, promoted)) + 1))
    assert nightly.shown(server, "tested") == names(place.nights)


def test_promotion_beside_uploads_of_the_same_project(place, serve):
    """What is promoted is a prefix of what was uploaded; in the end a promotion takes the rest."""
    server = serve(config=place.config, state=place.state)
    token = place.token()
    more = [storelib.make_wheel(place.folder / "more", "pure", f"2.{number}", mtime=None) for number in range(20)]
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        pushed = pool.submit(nightly.push, server, DEBIAN, token, place.folder, more)
        while not pushed.done():
            place.promote("tested", "pure")
        assert pushed.result()[0] == 0
    place.promote("tested", "pure")
    assert nightly.shown(server, "tested", "pure") == nightly.shown(server, "staging", "pure")


# --- restarted, lost, made again ---

def test_new_server_and_new_catalog_show_the_same(place, serve):
    views = ["staging", "tested", "released"]
    place.promote("tested", f"pure=={NIGHTS[0]}", "fast")
    place.promote("released", f"fast=={NIGHTS[0]}")
    place.run("demote", "--from", "tested", f"fast=={NIGHTS[1]}", "--reason", "it loses data")
    server = serve(config=place.config, state=place.state)
    for path in place.store.glob("*/fast/*.whl"):  # links of lock files, also to what was demoted
        assert server.get("/files/" + str(path.relative_to(place.store))).body == path.read_bytes()
    before = nightly.pages(server, *views)
    log = place.json("view", "log", "tested")
    server.stop()
    shutil.rmtree(place.state)
    place.state.mkdir()
    place.run("index", "--quiet")
    assert place.json("view", "log", "tested") == log
    other = serve(config=place.config, state=place.state)
    assert nightly.pages(other, *views) == before
    assert nightly.shown(other, "tested") == sorted([f"pure-{NIGHTS[0]}-py3-none-any.whl", *(
        f"fast-{NIGHTS[0]}-{tag}.whl" for tag in nightly.TAG.values())])


def test_running_server_shows_what_a_command_promotes(place, serve):
    server = serve(config=place.config, state=place.state)
    assert nightly.shown(server, "tested") == []
    place.promote("tested", "pure")
    serving.wait_for(lambda: len(nightly.shown(server, "tested")) == 2, 30, "the page of the view")


# --- marks, removal, other commands ---

def test_yanked_member_is_shown_as_yanked_and_a_removed_one_not_at_all(place, serve):
    place.promote("tested")
    server = serve(config=place.config, state=place.state)
    first, second = (f"pure-{version}-py3-none-any.whl" for version in NIGHTS)
    place.run("yank", first, "--reason", "it is slow")
    place.run("remove", second, "--reason", "it leaks", "--force")

    def page():
        files = json.loads(server.get("/tested/simple/pure/", {"Accept": nightly.PAGE}).body)["files"]
        return [(one["filename"], one.get("yanked")) for one in files]

    serving.wait_for(lambda: page() == [(first, "it is slow")], 30, "the marks on the page")
    place.run("prune", "restore", second)
    serving.wait_for(lambda: len(page()) == 2, 30, "the file that is restored")


def test_other_bytes_under_the_name_of_a_member_are_no_member(place, serve):
    place.promote("tested")
    name = f"pure-{NIGHTS[0]}-py3-none-any.whl"
    path = place.store / DEBIAN / "pure" / name
    path.unlink()
    place.run("index", "--quiet")
    storelib.make_wheel(path.parent, "pure", NIGHTS[0], mtime=None, files={"pure.py": b"other = 1\n"})
    place.run("index", "--quiet")
    server = serve(config=place.config, state=place.state)
    assert name in nightly.shown(server, "staging") and name not in nightly.shown(server, "tested")
    rows = place.promote("tested", "pure")
    assert rows[name][0] == "done"


def test_nothing_is_uploaded_into_a_view_with_from(place, serve):
    server = serve(config=place.config, state=place.state)
    wheel = storelib.make_wheel(place.folder / "more", "pure", "3.0")
    code, summary = nightly.push(server, "tested", place.token(), place.folder, [wheel])
    assert code == 1
    said = json.dumps(summary)
    assert "tested" in said and "promot" in said, said
    assert not list(place.store.rglob("pure-3.0*"))


def test_audit_of_a_view_judges_its_members(place):
    def judged(view):
        done = serving.run("audit", "--view", view, "--json", "--config", place.file, "--catalog", place.catalog)
        return sorted(one["filename"] for one in json.loads(done.stdout)["wheels"])

    assert judged("staging") == names(place.nights) and judged("tested") == []
    place.promote("tested", "pure")
    assert judged("tested") == [f"pure-{version}-py3-none-any.whl" for version in NIGHTS]


def test_missing_of_a_view_lists_what_awaits_its_promotion(place):
    (place.folder / "wanted.txt").write_text(f"fast=={NIGHTS[1]}\npure=={NIGHTS[0]}\n")
    place.file.write_text(f"{place.config}[branch main]\nrequirements = {place.folder}/wanted.txt\n")
    place.promote("tested", "pure")
    found = place.json("missing", "--view", "tested", "--offline", "--all")
    assert {(row["platform"], row["project"], row["status"]) for row in found["rows"] if row["platform"] == DEBIAN} == {
        (DEBIAN, "fast", "unpromoted"), (DEBIAN, "pure", "here")}
    assert place.run("missing", "--view", "tested", "--offline", "--check", code=1)
    place.promote("tested", "fast")
    assert "unpromoted" not in place.run("missing", "--view", "tested", "--offline").stdout
    refused = place.run("missing", "--view", "tested", "--offline", "--format", "github", code=2)
    assert "--view cannot be combined" in refused.stderr


def test_check_finds_a_membership_that_was_changed(place):
    place.promote("tested", "pure")
    place.promote("tested", "fast")
    place.run("check", "--quiet")
    path = place.store / ".wheelcache-views" / "tested" / "000001.json"
    path.chmod(0o644)
    path.write_text(path.read_text().replace("promote", "demoted"))
    assert "000001.json" in place.run("check", code=1).stdout


@pytest.mark.parametrize("is_one_token", [True, False])
def test_promotions_that_take_long_leave_room_for_others(tmp_path, serve, monkeypatch, is_one_token):
    """Many promotions of one token from many addresses, or of one address with many tokens, never end; another's goes on."""
    place = nightly.Channel(tmp_path, SIMPLE + "[view slow]\nfrom = staging\n")
    place.put(nightly.make_night(tmp_path / "nights", NIGHTS[0]))
    hang = faults.preload("hang", tmp_path, monkeypatch)
    server = serve(config=place.config, state=place.state)
    tokens = [place.token("--right", "promote", "--note", f"token {number}") for number in range(1 if is_one_token else 20)]
    other = place.token("--right", "promote", "--note", "other")
    answers = []

    def promote(view, token, address):
        connection = http.client.HTTPConnection(server.host, server.port, timeout=60, source_address=(address, 0))
        with contextlib.closing(connection):
            connection.request("POST", f"/-/promote/{view}", "{}", {"Content-Type": "application/json", **uploading.authorization(token)})
            return connection.getresponse().status

    def promote_slowly(number):
        answers.append(promote("slow", tokens[number % len(tokens)], f"127.0.3.{number + 1}" if is_one_token else "127.0.0.2"))
    hang(".wheelcache-views/slow")
    threads = [threading.Thread(target=promote_slowly, args=(number,)) for number in range(20)]
    try:
        for thread in threads:
            thread.start()
        time.sleep(1)
        assert promote("tested", other, "127.0.0.3") == 200 and not answers
    finally:
        hang(None)
        for thread in threads:
            thread.join()
    assert set(answers) == {200} and len(answers) == 20
