# SPDX-License-Identifier: Apache-2.0
"""An upstream that fails in various ways: nothing is removed, and the plan says why. First with an empty catalog, then after
a successful look-up."""
import pytest

import corpusstore

PROJECTS = ["six", "zope-event", "certifi"]
# How upstream.py fails; the result of the look-ups with an empty catalog, and after a success: a page with less than the one
# before is taken for an older one. None: the page is valid, and lists no replacement.
MODES = {
    "refuse": ("refused", "refused"),
    "reset": ("refused", "refused"),
    "silence": ("timeout", "timeout"),
    "drip": ("timeout", "timeout"),
    "404": ("404", "404"),
    "410": ("4xx", "4xx"),
    "500": ("5xx", "5xx"),
    "503": ("5xx", "5xx"),
    "429": ("429", "429"),
    "truncated-json": ("truncated", "truncated"),
    "wrong-project": ("wrong project", "wrong project"),
    "html200": ("not a simple page", "not a simple page"),
    "not-json": ("not a simple page", "not a simple page"),
    "empty": (None, "older"),
    "cut": ("truncated", "truncated"),
    "stale": (None, "older"),
    "quarantined": ("quarantined", "quarantined"),
}
SLOW = ("silence", "drip")
ANSWERS = ("404", "quarantined")  # nothing is known, but nothing went wrong either
AGED = {"upstream-min-age": "1d"}


@pytest.fixture(scope="module", name="up")
def up_fixture(upstream):
    return upstream()


@pytest.fixture(scope="module", name="indexed")
def indexed_fixture(shared, up, tmp_path_factory):
    return corpusstore.CorpusStore(shared, tmp_path_factory.mktemp("failures"), up.url,
                                   *(word for name in PROJECTS for word in ("--project", name)))


@pytest.fixture(name="here")
def here_fixture(indexed, tmp_path):
    return indexed.with_own_catalog(tmp_path)


def broken(here, up, upstream, mode):
    """Makes the upstream fail; time-outs are short."""
    url = up.url
    if mode == "refuse":
        url = upstream("--fail", "refuse").url
    else:
        up.fail(mode)
    here.configure(url, AGED, retries=0, timeout=1 if mode in SLOW else 60)


def healthy(here, up):
    up.fail("none")
    here.configure(up.url, AGED)


def check_nothing_goes(here, result):
    plan, said = here.plan()
    assert corpusstore.removed(plan) == {}
    assert all(one["reason"] for one in plan["files"])
    look_ups = plan["look-ups"]
    assert look_ups["projects"] == len(PROJECTS)
    if result is None:
        assert look_ups["failed"] == 0 and look_ups["failures"] == []
        return
    assert look_ups["failed"] == (0 if result in ANSWERS else len(PROJECTS))
    assert {one["project"]: one["result"] for one in look_ups["failures"]} == dict.fromkeys(PROJECTS, result)
    assert all(one["why"] for one in look_ups["failures"])
    assert result in said


@pytest.mark.parametrize("mode", MODES)
def test_nothing_goes(here, up, upstream, mode):
    at_first, afterwards = MODES[mode]
    if mode != "stale":  # a first page cannot be known to be an old one
        broken(here, up, upstream, mode)
        check_nothing_goes(here, at_first)
    healthy(here, up)
    well = corpusstore.removed(here.plan()[0])
    assert len(well) > len(PROJECTS)
    broken(here, up, upstream, mode)
    check_nothing_goes(here, afterwards)
    healthy(here, up)
    assert corpusstore.removed(here.plan()[0]).keys() == well.keys()


def test_html_pages_have_no_times(here, up, upstream):
    """Nothing is old enough to replace ours. What a page with times said of the same bytes still counts."""
    broken(here, up, upstream, "html-only")
    check_nothing_goes(here, None)
    healthy(here, up)
    well = corpusstore.removed(here.plan()[0])
    broken(here, up, upstream, "html-only")
    assert corpusstore.removed(here.plan()[0]).keys() == well.keys() and well


def test_files_stay_when_the_project_is_gone_upstream(here, up):
    """A trusted 404: the project does not exist there, so it has no replacement of our files."""
    up.fail("404")
    here.configure(up.url, trust_404="yes")
    plan, _ = here.plan()
    assert corpusstore.removed(plan) == {}
    assert plan["look-ups"]["failed"] == 0
    assert {one["why"] for one in plan["files"] if one["verdict"] != "unusable"} == {"upstream-absent"}


def test_one_project_fails_alone(here, up):
    up.fail("500", project="six")
    here.configure(up.url, retries=0)
    plan, _ = here.plan()
    assert {one["project"] for one in plan["files"] if one["why"] == "upstream-unknown"} == {"six"}
    assert {one["project"] for one in corpusstore.removed(plan).values()} == set(PROJECTS) - {"six"}
    assert plan["look-ups"]["failed"] == 1


def test_a_failure_for_a_moment_is_no_failure(here, up):
    up.fail("503", project="six", times=1)
    here.configure(up.url, retries=2)
    assert here.plan()[0]["look-ups"]["failed"] == 0
