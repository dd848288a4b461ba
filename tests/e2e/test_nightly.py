# SPDX-License-Identifier: Apache-2.0
"""A nightly channel with two test pipelines, as its release manager runs it: wheels of three nights are pushed, pytest
tests them, and what was shown to work is promoted; then pip and uv install from each view."""
import concurrent.futures
import dataclasses
import json
import platform
import sys
import types

import pytest

import clients
import faults
import nightly
from nightly import CRASH, DEBIAN, NO_TESTS, SUBTRACT, TESTS, UBUNTU

PIP = "pip==26.3"
UV = "uv==0.13.9"
FIRST, SECOND, THIRD = "1.0.dev1", "1.0.dev2", "1.0.dev10"  # as text, the third is before the second


def fast(version, place):
    return f"fast-{version}-{nightly.TAG[place]}.whl"


def pure(version):
    return f"pure-{version}-py3-none-any.whl"


CELLS = [(kind, place) for kind in nightly.KINDS for place in nightly.TAG]


class Pipelines:
    """The test machines. `built` imports from the wheels that the night has built; `installed` installs from the view
    staging with uv."""

    def __init__(self, server, uv, token):
        self.server, self.uv, self.token = server, uv, token

    def modules(self, kind, place, night):
        if kind == "built":
            return [one.path for one in night.of(place)]
        target = night.folder / f"target-{place}"
        libc = nightly.TAG[place].rpartition("-")[2].replace("_x86_64", "")
        self.uv.run("uv", "pip", "install", "--no-cache", "--no-config", "--index-url",
                    f"{self.server.url}/staging/simple/", "--python", sys.executable, "--target", target,
                    "--python-platform", f"x86_64-{libc}", f"fast=={night.version}", f"pure=={night.version}")
        return [target]

    def run(self, night, different, cells=CELLS):
        """The tests of the cells, two at once; returns the reports. different: (kind, platform) to another test module, and
        pytest's exit code."""
        def one(cell):
            tests, expected = different.get(cell, (TESTS, 0))
            report, code = nightly.run_pytest(night.folder / "-".join(cell), tests, self.modules(*cell, night))
            assert code == expected, (cell, code)
            return report

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            return dict(zip(cells, pool.map(one, cells)))


def night_of(week, day, version, different=None, **sources):
    """A night until its reports are there."""
    week.days.go_to(day)
    night = nightly.make_night(week.place.folder / "nights", version, **sources)
    for place, wheels in night.wheels.items():
        assert nightly.push(week.server, place, week.uploader, week.place.folder, wheels)[0] == 0
    return night, week.pipelines.run(night, different or {})


def first_night(week):
    """All is green: sent and promoted over HTTP; the release manager releases it on the store's machine."""
    night, reports = night_of(week, -2, FIRST)
    records = [week.place.evidence(report, *cell, night.of(cell[1])) for cell, report in reports.items()]
    nightly.send(week.server, week.tester, *records)
    week.first = nightly.promote_by_http(week.server, "tested", week.promoter)
    week.released = week.place.promote("released", "--reason", "for the customer", "--all-or-nothing")


def second_night(week):
    """The function of one platform is wrong there."""
    red = {(kind, UBUNTU): (TESTS, 1) for kind in nightly.KINDS}
    night, reports = night_of(week, -1, SECOND, red, fast={UBUNTU: SUBTRACT})
    records = [week.place.evidence(report, *cell, night.of(cell[1])) for cell, report in reports.items()]
    week.second = week.place.promote("tested", "--evidence", *records, code=1)


def third_night(week):
    """One run crashes and leaves no report; one finds no tests, and pytest's report is of none. Later the same day both are
    run again."""
    bad = {("built", DEBIAN): (CRASH, 1), ("installed", UBUNTU): (NO_TESTS, 5)}
    night, reports = night_of(week, 0, THIRD, bad)
    assert not reports["built", DEBIAN].exists() and reports["installed", UBUNTU].exists()
    for cell in bad:
        week.place.evidence(reports.pop(cell), *cell, night.of(cell[1]), code=1)
    records = [week.place.evidence(report, *cell, night.of(cell[1])) for cell, report in reports.items()]
    week.third = week.place.promote("tested", "--evidence", *records, code=1)
    week.before_again = nightly.shown(week.server, "tested")
    again = dataclasses.replace(night, folder=night.folder / "again")
    repeated = [week.place.evidence(report, *cell, night.of(cell[1]))
                for cell, report in week.pipelines.run(again, {}, bad).items()]
    nightly.send(week.server, week.tester, *repeated)
    week.again = nightly.promote_by_http(week.server, "tested", week.promoter)


@pytest.fixture(name="week", scope="module")
def week_fixture(tmp_path_factory, serve_module):
    """Three nights; what each step has answered."""
    if platform.machine() != "x86_64":
        pytest.skip(f"the wheels are for x86_64, this is {platform.machine()}")
    folder = tmp_path_factory.mktemp("week")
    with pytest.MonkeyPatch.context() as patch:
        days = nightly.Days(faults.preload("wall", folder, patch))
        days.go_to(-2)
        place = nightly.Channel(folder)
        server = serve_module(config=place.config, state=place.state)
        week = types.SimpleNamespace(
            days=days, place=place, server=server, uploader=place.token("--note", "builder"),
            tester=place.token("--right", "evidence", "--view", "test*", "--note", "pipelines"),
            promoter=place.token("--right", "promote", "--view", "tested", "--note", "nightly"))
        home = folder / "home"
        home.mkdir()
        week.pipelines = Pipelines(server, clients.Client(UV, home), week.tester)
        for night in (first_night, second_night, third_night):
            night(week)
        yield week


def test_green_night_is_promoted_as_a_whole(week):
    assert week.first.status == 200, week.first.body
    rows = nightly.results(json.loads(week.first.body))
    assert rows == {name: ("done", "") for name in (fast(FIRST, DEBIAN), fast(FIRST, UBUNTU), pure(FIRST))}
    assert nightly.done(week.released) == sorted(rows)


def test_red_cell_holds_back_its_platform_and_what_is_for_any(week):
    assert nightly.done(week.second) == [fast(SECOND, DEBIAN)]
    refused = {name: reason for name, (result, reason) in week.second.items() if result == "refused"}
    assert sorted(refused) == [fast(SECOND, UBUNTU), pure(SECOND)]
    for reason in refused.values():
        assert f"{UBUNTU}/3.10: 1 of 2 tests failed (built)" in reason
    assert {week.second[name][0] for name in (fast(FIRST, DEBIAN), fast(FIRST, UBUNTU), pure(FIRST))} == {"already"}


def test_crash_and_run_without_tests_are_no_evidence(week):
    assert nightly.done(week.third) == []
    assert "no evidence of kind built" in week.third[fast(THIRD, DEBIAN)][1]
    assert "no evidence of kind installed" in week.third[fast(THIRD, UBUNTU)][1]
    assert week.third[pure(THIRD)][0] == "refused"
    assert week.before_again == sorted([fast(FIRST, DEBIAN), fast(SECOND, DEBIAN), fast(FIRST, UBUNTU), pure(FIRST)])


def test_run_that_is_repeated_counts_with_what_was_sent_before(week):
    assert week.again.status == 200, week.again.body
    rows = nightly.results(json.loads(week.again.body))
    assert nightly.done(rows) == sorted([fast(THIRD, DEBIAN), fast(THIRD, UBUNTU), pure(THIRD)])
    assert [rows[name][0] for name in (fast(SECOND, UBUNTU), pure(SECOND))] == ["overtaken", "overtaken"]


# What a client on Debian installs of fast and pure; the same on Ubuntu.
INSTALLED = {
    "staging": (THIRD, THIRD, THIRD),
    "tested": (THIRD, THIRD, THIRD),
    "tested@{yesterday}": (SECOND, FIRST, FIRST),
    "tested@{yesterday}T23:59:59Z": (SECOND, FIRST, FIRST),
    "tested@{before}": (FIRST, FIRST, FIRST),
    "released": (FIRST, FIRST, FIRST),
}


def url_of(week, view):
    return f"{week.server.url}/{view}/simple/".format(yesterday=week.days.date(-1), before=week.days.date(-2))


@pytest.mark.parametrize("view", INSTALLED)
def test_uv_installs_what_the_view_has(week, client, tmp_path, view):
    on_debian, on_ubuntu, any_platform = INSTALLED[view]
    for libc, version in (("2_36", on_debian), ("2_35", on_ubuntu)):
        target = tmp_path / libc
        client(UV).run("uv", "pip", "install", "--no-cache", "--no-config", "--pre", "--index-url",
                       url_of(week, view), "--python", sys.executable, "--python-platform", f"x86_64-manylinux_{libc}",
                       "--target", target, "fast", "pure")
        assert installed(target) == {f"fast-{version}", f"pure-{any_platform}"}


def installed(target):
    return {path.name.removesuffix(".dist-info") for path in target.glob("*.dist-info")}


def test_pip_installs_what_the_view_has(week, client, tmp_path):
    pip = client(PIP)

    def install(view):
        target = tmp_path / view.replace("{", "").replace("}", "")
        pip.pip("install", "-q", "--pre", *clients.pip_index(url_of(week, view)), "--target", target,
                "--only-binary", ":all:", "--platform", "manylinux_2_36_x86_64", "--python-version", "3.11", "fast", "pure")
        return installed(target)

    views = ["tested", "tested@{yesterday}", "released"]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        assert list(pool.map(install, views)) == [
            {f"fast-{INSTALLED[view][0]}", f"pure-{INSTALLED[view][2]}"} for view in views]
