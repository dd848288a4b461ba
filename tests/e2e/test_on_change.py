# SPDX-License-Identifier: Apache-2.0
"""[build] on-change: the server runs a command when a project begins to fail, or is built again."""
import calendar
import time

import pytest

import attempts
import serving
import storelib
import test_builds_server as builds
import uploading


@pytest.fixture(name="told")
def _told(tmp_path):
    """The file that the on-change script of the folder fills: a line a change."""
    script, told = tmp_path / "tell", tmp_path / "told"
    script.write_text(f'#!/bin/sh\necho "$1|$WHEELCACHE_CHANGE|$WHEELCACHE_PROJECT|$WHEELCACHE_WHY" >> {told}\n')
    script.chmod(0o755)
    told.touch()
    return told


def lines_of(told, count):
    """The lines of the file, when it has so many."""
    serving.wait_for(lambda: len(told.read_text().splitlines()) >= count, 60, "the command of on-change")
    return told.read_text().splitlines()


def test_changes_are_told_once(serve, tmp_path, told):
    storelib.make_wheel(tmp_path / "store" / builds.PUBLIC / "f" / "foo", "foo", "1.0")
    server = serve(tmp_path / "store", config=f"[build]\non-change = {tmp_path}/tell %p\n{builds.CONFIG}")
    token = uploading.add_token(server)
    bad = builds.attempt(why="$(touch /tmp/x); `id`")
    for document, told_until in ((bad, 1), (bad, 1), (builds.attempt(result="crashed"), 1), (builds.good(), 2),
                                 (builds.good(project="other"), 2), (builds.good(), 2), (builds.attempt(why="again"), 3)):
        assert builds.send(server, document, token).status == 200
        lines_of(told, told_until)  # changes that wait would join
    assert lines_of(told, 3) == [f"{builds.PUBLIC}|failed|six|$(touch /tmp/x); `id`", f"{builds.PUBLIC}|good|six|",
                                 f"{builds.PUBLIC}|failed|six|again"]


def test_change_that_a_builder_wrote_into_the_same_file_is_told_when_it_is_sent(serve, tmp_path, told):
    storelib.make_wheel(tmp_path / "store" / builds.PUBLIC / "f" / "foo", "foo", "1.0")
    server = serve(tmp_path / "store", config=f"[build]\non-change = {tmp_path}/tell %p\n{builds.CONFIG}")
    token = uploading.add_token(server)
    sent = builds.attempt(log="byte ?\n", provenance={}, sdist=None, recipe="", peak_memory=0)
    attempts.Attempts(builds.results_file(server)).add(
        "six", "failed", b"byte \xff\n", key=sent["id"], version=sent["version"], why=sent["why"], builder=sent["builder"],
        begun=calendar.timegm(time.strptime(sent["begun"], "%Y-%m-%dT%H:%M:%SZ")), milliseconds=12500, sent=0)
    reply = builds.send(server, sent, token)
    assert reply.status == 200, reply.body
    lines_of(told, 1)
    assert builds.send(server, {key: value for key, value in sent.items() if key != "log"}, token).status == 200
    assert builds.send(server, builds.good(), token).status == 200
    assert lines_of(told, 2) == [f"{builds.PUBLIC}|failed|six|{sent['why']}", f"{builds.PUBLIC}|good|six|"]
