# SPDX-License-Identifier: Apache-2.0
"""[view] expect: a pipeline that stops reporting is silent, on the page, in health, metrics and doctor, and by on-change:
once when it becomes silent, once when it reports again."""
import json
import shutil
import time

import pytest

import faults
import nightly
import serving
import storelib
from nightly import DEBIAN, UBUNTU

HOUR = 3600
VIEWS = """\
[view staging]
platforms = debian-12-x86_64 ubuntu-22.04-x86_64
[view tested]
from = staging
requires = built installed
cells = debian-12-x86_64/3.11 ubuntu-22.04-x86_64/3.10
expect = 26h built 8d weekly
on-change = FOLDER/tell
[view released]
from = tested
"""
CELL = {DEBIAN: "debian-12-x86_64/3.11", UBUNTU: "ubuntu-22.04-x86_64/3.10"}


class Place(nightly.Channel):
    """A night in staging, a server, and a clock."""

    def __init__(self, folder, serve, set_clock):
        super().__init__(folder, VIEWS.replace("FOLDER", str(folder)))
        self.serve, self.set_clock, self.sent = serve, set_clock, 0
        self.told = folder / "told"
        self.told.touch()
        script = folder / "tell"
        script.write_text('#!/bin/sh\necho "$WHEELCACHE_CHANGES" | while read -r line; do '
                          f'echo "$line $WHEELCACHE_CHANGE $WHEELCACHE_SINCE"; done >> {self.told}\n')
        script.chmod(0o755)
        self.night = nightly.make_night(folder / "nights", "1.0")
        self.put(self.night)
        self.server = serve(config=self.config, state=self.state)
        self.sender = self.token("--right", "evidence", "--view", "tested")
        self.other = self.token("--right", "evidence", "--view", "released")

    def restart(self):
        self.server.stop()
        self.server = self.serve(config=self.config, state=self.state)

    def report(self, platform, kind="built", token=None, wheels=None):
        """A green test run of the night's wheels comes."""
        self.sent += 1
        folder = self.folder / f"sent-{self.sent}"
        folder.mkdir()
        report = folder / "green.xml"
        report.write_text("<testsuite><testcase classname='t' name='t'/></testsuite>")
        nightly.send(self.server, token or self.sender, self.evidence(report, kind, platform, wheels or self.night.of(platform)))

    def page(self):
        return json.loads(self.server.get("/-/channel/tested/?format=json&limit=4000").body)

    def silent(self):
        """What the page says."""
        return {place_of(one) for one in self.page()["expected"] if one["state"] == "silent"}

    def lines(self, count):
        serving.wait_for(lambda: len(self.told.read_text().splitlines()) >= count, 60, "the command of on-change")
        return [" ".join(line.split()[:5]) for line in self.told.read_text().splitlines()]


def place_of(one):
    return one["kind"] + (f" {one['platform']}/{one['python']}" if one["platform"] else "")


@pytest.fixture(name="place")
def place_fixture(tmp_path, monkeypatch, serve):
    return Place(tmp_path, serve, faults.preload("wall", tmp_path, monkeypatch))


def test_pipeline_that_stops_is_told_of_once_and_again_when_it_reports(place):
    for platform in (DEBIAN, UBUNTU):
        place.report(platform)
    serving.wait_for(lambda: sum(one.get("last") is not None for one in place.page()["expected"]) == 2, 60, "the look")
    assert place.silent() == set()
    place.set_clock(str(27 * HOUR))
    place.report(UBUNTU)
    red = f"built {CELL[DEBIAN]}"
    serving.wait_for(lambda: place.silent() == {red}, 60, "the silence on the page")
    assert place.lines(1) == [f"silent tested built {CELL[DEBIAN].replace('/', ' ')}"]
    page = place.server.get("/-/channel/tested/?limit=3999", {"Accept": "text/html"}).body.decode()
    assert "<h2>Silent</h2>" in page and page.index("<h2>Silent</h2>") < page.index("<h2>Packages</h2>")
    assert '<span class="state wrong">1 silent</span>' in page and "<dt>Expects</dt>" in page
    health = {one["name"]: one["silent"] for one in json.loads(place.server.get("/-/health").body)["views"]}
    assert [place_of(one) for one in health["tested"]] == [red] and health["released"] == []
    metrics = place.server.get("/-/metrics").body.decode()
    assert 'wheelcache_view_silent{view="tested",kind="built",platform="debian-12-x86_64",python="3.11"} 1\n' in metrics
    assert 'wheelcache_view_silent{view="tested",kind="weekly",platform="",python=""} 0\n' in metrics
    doctor = serving.run("doctor", "--config", place.file, "--catalog", place.catalog)
    assert doctor.returncode == 1 and f"view tested: silent: built on {CELL[DEBIAN]}: no test run since" in doctor.stdout
    place.restart()
    time.sleep(7)  # a look is every 5 seconds
    assert len(place.lines(1)) == 1 and place.silent() == {red}
    place.report(DEBIAN)
    assert place.lines(2)[1].startswith("reporting tested built debian-12-x86_64")
    serving.wait_for(lambda: place.silent() == set(), 60, "the end of the silence")
    assert json.loads(place.server.get("/-/health").body)["views"][0]["silent"] == []


def test_what_is_no_report_of_the_pipeline(place):
    """Of bytes that the store has not, by a token for another view, of another kind or Python; and an override."""
    serving.wait_for(lambda: len(place.page()["expected"]) == 3, 60, "the page")
    time.sleep(6)  # known since now
    place.set_clock(str(27 * HOUR))
    stranger = storelib.make_wheel(place.folder / "elsewhere", "strange", "1.0", mtime=None)
    place.report(DEBIAN, wheels=[stranger])
    place.report(DEBIAN, token=place.other)
    place.report(DEBIAN, kind="installed")
    place.run("promote", "--to", "tested", "pure", "--override", "now")
    both = {f"built {cell}" for cell in CELL.values()}
    serving.wait_for(lambda: place.silent() == both, 60, "the silence")
    place.lines(1)
    place.put(nightly.Night("x", {DEBIAN: [stranger], UBUNTU: []}, place.folder))
    serving.wait_for(lambda: place.silent() == both - {f"built {CELL[DEBIAN]}"}, 60, "the wheel that was tested before it came")


def test_kind_that_never_came_is_silent_from_when_it_was_expected(place):
    """A restart forgets nothing; a new catalog knows the records, and expects what never came from then on."""
    time.sleep(6)
    place.set_clock(str(9 * 24 * HOUR))
    place.restart()
    for platform in (DEBIAN, UBUNTU):
        place.report(platform)
    serving.wait_for(lambda: place.silent() == {"weekly"}, 60, "the silence")
    assert any(line.startswith("silent tested weekly - -") for line in place.lines(1))
    place.server.stop()
    shutil.rmtree(place.state)
    place.state.mkdir()
    place.run("index", "--quiet")
    place.set_clock(str(9 * 24 * HOUR + 27 * HOUR))
    place.server = place.serve(config=place.config, state=place.state)
    serving.wait_for(lambda: place.silent() == {f"built {cell}" for cell in CELL.values()}, 60, "what the records say")
