# SPDX-License-Identifier: Apache-2.0
"""A prune takes nothing from clients who have one index, and that does not show upstream's files."""
import json

import pytest

import serving
import storelib
import tinyupstream
from pruning import PLATFORM, Pruned, name

HTML = {"Accept": "text/html"}
OTHER = "debian-12-x86_64"
PARTS = {f"all/{PLATFORM}", f"all/{OTHER}"}
VIEWS = f"[view all]\nplatforms = {PLATFORM} {OTHER}\n"


@pytest.fixture(name="up")
def up_fixture():
    with tinyupstream.running() as up:
        yield up


@pytest.fixture(name="at")
def at_fixture(tmp_path, up):
    """Upstream has all of it; the two platforms have the same three pure wheels."""
    at = Pruned(tmp_path, up, covered=3, wheels=3, platforms=(PLATFORM, OTHER))
    at.configure(VIEWS, caps="100%", clients="no")
    return at


def losses(plan):
    return {one["view"]: (one["projects"], one["versions"], one["first"]) for one in plan["views"]}


def test_plan_names_the_views_that_lose_and_apply_refuses(at):
    plan = at.plan()
    lost = 1, 3, "six 1.2"
    assert losses(plan) == dict.fromkeys(["/simple/", PLATFORM, OTHER, "all", *PARTS], lost)
    said = at.tool("prune", "plan").stdout
    assert "\nThese views do not merge upstream, so their clients would lose:\n" in said
    assert "\n  all: 1 project, 3 versions, six 1.2 first\n" in said
    done = at.apply(code=1)
    assert "clients of 6 views that do not merge upstream would lose: /simple/ (1 project, 3 versions, six 1.2 first)" in done.stderr
    assert "[prune] clients-have-upstream" in done.stderr and at.unlisted() == []
    assert at.apply("--dry-run", code=1).stderr == done.stderr


def test_only_views_that_lose_count(at):
    """A view with both platforms loses nothing while one of them keeps the wheels."""
    plan = at.plan("--platform", PLATFORM)
    assert set(losses(plan)) == {PLATFORM, f"all/{PLATFORM}"}
    assert f"clients of 2 views that do not merge upstream would lose: {PLATFORM} (1 project" in at.apply(code=1).stderr


def test_part_of_a_view_loses_what_the_whole_keeps(at):
    """The platforms' addresses merge upstream, the view does not, and its other platform keeps the wheels."""
    at.configure(f"[upstream]\nmerge = yes\n[view strict]\nplatforms = {PLATFORM} {OTHER}\nupstream = no\n", caps="100%", clients="no")
    assert set(losses(at.plan("--platform", PLATFORM))) == {f"strict/{PLATFORM}"}


def test_what_is_left_out_is_not_lost(at):
    at.plan("--platform", PLATFORM)
    done = at.apply("--except", name("1.1"), code=1)
    assert f"{PLATFORM} (0 projects, 2 versions, six 1.2 first)" in done.stderr
    at.apply("--except", "six-*")
    assert at.unlisted() == []


@pytest.mark.parametrize("clients, more, lose", [
    ("yes", "", set()), ("*", "", set()), ("all /simple/", "", {PLATFORM, OTHER}), (f"{PLATFORM} debian-*", "", {"/simple/", "all", *PARTS}),
    ("no", "[upstream]\nmerge = yes\n", set()), ("no", "[view own]\nplatforms = " + PLATFORM + "\nupstream = merge\n", {"/simple/", "all", PLATFORM, OTHER, *PARTS}),
    ("no", "[store]\ndefault-view = all\n[upstream]\nmerge = yes\n[view strict]\nplatforms = " + OTHER + "\nupstream = no\n", {"strict", f"strict/{OTHER}"}),
    ("no", f"[platform {OTHER}]\nprivate = yes\n[platform {PLATFORM}]\nprivate = no\n", {"/simple/", PLATFORM})])
def test_views_that_merge_or_that_the_configuration_names_lose_nothing(at, clients, more, lose):
    at.configure(VIEWS + more, caps="100%", clients=clients)
    assert set(losses(at.plan())) == lose
    at.apply("--dry-run", code=1 if lose else 0)


@pytest.mark.parametrize("clients, says", [("alll", 'did you mean all?'), ("yes all", "there is no view or platform")])
def test_unknown_view_is_refused(at, clients, says):
    at.configure(VIEWS, clients=clients)
    done = at.tool("prune", "plan", code=2)
    assert "[prune] clients-have-upstream: " in done.stderr and says in done.stderr


def test_environment_that_loses_its_wheel_counts(tmp_path, up):
    """Upstream covers Python 3.10 alone, and its wheel takes the place of ours; ours for 3.11 stays."""
    at = Pruned(tmp_path, up, covered=0, wheels=0)
    for python in ("310", "311"):
        at.wheel(f"{PLATFORM}/f/foo", "foo", "1.0", tag=f"cp{python}-cp{python}-manylinux_2_17_x86_64")
    up.add("foo", "foo-1.0-cp310-cp310-manylinux_2_17_x86_64.whl")
    at.configure(f"[platform {PLATFORM}]\npythons = 3.10 3.11\n", caps="100%", clients="no")
    at.tool("index", "--quiet")
    assert losses(at.plan()) == {view: (0, 1, "foo 1.0") for view in ("/simple/", PLATFORM)}


def test_wheels_by_request_are_no_loss(at, up):
    """--off-list says that nobody wants them, whatever upstream has."""
    for minor in range(3):
        up.change("six", name(f"1.{minor}"), yanked="broken")
    up.pages["six"].clear()
    up.add("six", name("0.1"))
    plan = at.plan("--off-list")
    assert sum(one["removes"] for one in plan["files"]) == 6 and losses(plan) == {}
    at.apply()


@pytest.mark.parametrize("clients, state, gets", [("no", "unmerged", None), ("yes", "upstream", name("1.2"))])
def test_pages_judge_by_what_a_client_gets(at, serve, clients, state, gets):
    """Six was pruned, so that only upstream has it. The default view does not merge it; another view does."""
    merged = f"{VIEWS}[view merged]\nplatforms = {PLATFORM}\nupstream = merge\n"
    at.configure(merged, caps="100%")
    at.plan()
    at.apply()
    storelib.make_wheel(at.store / PLATFORM / "other", "other", "1.0")
    at.tool("index", "--quiet")
    at.configure(merged, clients=clients)
    server = serve(None, "--config", at.config, state=at.catalog.parent)
    assert server.get("/simple/six/").status == 404
    matrix = json.loads(server.get("/-/project/six?format=json").body)
    assert {one["state"] for one in matrix["cells"]} == {state}
    page = server.get("/-/project/six", HTML).body.decode()
    assert ("A wheel everywhere" in page) == (state == "upstream")
    assert f'{len(matrix["cells"])} without a wheel' in page or state == "upstream"
    assert "A wheel everywhere" in server.get("/-/project/six?view=merged", HTML).body.decode()
    rows = json.loads(server.get("/-/explain/simple/six?format=json").body)["environments"]
    assert {(one.get("client") or {}).get("filename") for one in rows} == {gets}
    said = serving.run("explain", "six", "--config", at.config).stdout
    assert f"    clients get    {gets or 'nothing'}" in said
    assert {one["client"]["filename"] for one in
            json.loads(server.get("/-/explain/merged/six?format=json").body)["environments"]} == {name("1.2")}


def test_coverage_tells_what_no_client_gets(at, serve, up):
    """The wheel here is for one Python, upstream's for another."""
    tag = "manylinux_2_17_x86_64"
    storelib.make_wheel(at.store / PLATFORM / "foo", "foo", "1.0", f"cp310-cp310-{tag}")
    up.add("foo", f"foo-1.0-cp311-cp311-{tag}.whl")
    more = f"[platform {PLATFORM}]\npythons = 3.10 3.11\n"
    at.configure(more, clients="no")
    at.tool("index", "--quiet")
    at.plan()
    server = serve(None, "--config", at.config, state=at.catalog.parent)

    def states():
        rows = json.loads(server.get("/-/coverage?format=json&projects=foo").body)["projects"]
        return [cell["state"] for cell in rows[0]["cells"]]

    assert states() == ["ours", "unmerged"]
    assert json.loads(server.get("/-/coverage?format=json&state=unmerged").body)["projects"][0]["project"] == "foo"


def test_plan_page_names_the_views(at, serve):
    at.plan()
    server = serve(None, "--config", at.config, state=at.catalog.parent)
    page = server.get("/-/plan/", HTML).body.decode()
    assert "What clients would lose" in page and "<li>all: projects 1, versions 3, first six 1.2</li>" in page
