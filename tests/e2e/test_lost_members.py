# SPDX-License-Identifier: Apache-2.0
"""A released wheel that the store has lost: on-change tells of it once, and once more when it is back, and health lists
it."""
import json
import time

import pytest

import nightly
import serving
from nightly import DEBIAN

VIEWS = """\
[view staging]
platforms = debian-12-x86_64 ubuntu-22.04-x86_64
[view tested]
from = staging
on-change = FOLDER/tell
[view released]
from = tested
"""
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
    place.server.stop()
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


def test_what_leaves_the_view_is_not_back(place):
    place.lose()
    place.lines(1)
    place.run("demote", "--from", "tested", LOST)
    serving.wait_for(lambda: not place.lost(), 60, "the end")
    place.wheel.write_bytes(place.bytes)
    place.run("index", "--quiet")
    time.sleep(6)
    assert len(place.lines(1)) == 1 and len(place.lost("released")) == 0
