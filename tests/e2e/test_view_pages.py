# SPDX-License-Identifier: Apache-2.0
"""Views with a membership: what their pages show, now and at a time, and what else of the server knows them."""
import json
import os
import threading

import pytest

import clients
import memberships
import merging
import pages
import promtext
import serving
import storelib
import uploading

UBUNTU, DEBIAN = "ubuntu-22.04-x86_64", "debian-12-x86_64"
CONFIG = f"""
[store]
path = {{store}}
default-view = tested
[platform {UBUNTU}]
[platform {DEBIAN}]
[view staging]
platforms = {UBUNTU} {DEBIAN}
[view tested]
from = staging
[view narrow]
from = staging
platforms = {DEBIAN}
"""
DAY = "2026-11-%02dT12:00:00Z"


class Place:
    """A store of two platforms with three versions of foo on both, and a server."""

    def __init__(self, serve, folder, more="", **options):
        self.store, self.state = folder / "store", folder / "state"
        self.state.mkdir()
        self.config = self.state / "wheelcache.conf"
        self.text = CONFIG.format(store=self.store) + more
        self.foo = {(platform, number): storelib.make_wheel(
            self.store / platform / "foo", "foo", f"{number}.0", files={"foo.py": f"{platform} {number}".encode()})
            for platform in (UBUNTU, DEBIAN) for number in (1, 2, 3)}
        self.bar = storelib.make_wheel(self.store / UBUNTU / "bar", "bar", "1.0")
        self.serve, self.options, self.server = serve, options, None

    def start(self):
        self.server = self.serve(None, "--rescan", "0", state=self.state, config=self.text, **self.options)
        return self

    def promote(self, *adds, removes=(), view="tested", day=20, scan=True):
        """adds: foo's keys, or pairs of a platform and a wheel."""
        chosen = [[(one, self.foo[one, other] if isinstance(other, int) else other) for one, other in some] for some in (adds, removes)]
        path = memberships.append(self.store, view, *chosen, made=DAY % day)
        if scan and self.server:
            self.scan()
        return path

    def scan(self, code=0):
        done = serving.run("index", "--config", self.config, "--catalog", self.state / "catalog.db")
        assert done.returncode == code, done.stderr

    def files(self, view="tested", project="foo", accept=pages.JSON):
        """The platform and file name of each file on a page; None: a 404."""
        path = f"/{view}/simple/{project}/" if view else f"/simple/{project}/"
        reply = self.server.get(path, {"Accept": accept})
        if reply.status == 404:
            return None
        assert reply.status == 200, (path, reply.status)
        read = pages.json_files if accept == pages.JSON else pages.html_files
        return [tuple(one.url.split("/")[-3::2]) for one in read(reply.body, self.server.url + path)]

    def projects(self, view="tested"):
        return pages.json_projects(self.server.get(f"/{view}/simple/" if view else "/simple/", {"Accept": pages.JSON}).body)

    def metric(self, name):
        return promtext.parse(self.server.get("/-/metrics").body.decode())[f"wheelcache_{name}_total"].values


def names(*keys):
    return [(platform, f"foo-{number}.0-py3-none-any.whl") for platform, number in keys]


@pytest.fixture(name="place")
def place_fixture(serve, tmp_path):
    return Place(serve, tmp_path)


def test_a_view_shows_its_members(place):
    other = storelib.make_wheel(place.state, "foo", "3.0", files={"foo.py": b"other bytes"})
    place.promote((DEBIAN, 1), (UBUNTU, 2), (DEBIAN, other))
    place.start()
    for view in "tested", "":
        assert place.projects(view) == ["foo"]
        assert place.files(view, "bar") is None
        for accept in pages.JSON, pages.HTML:
            # debian's foo 1 is shown although ubuntu, which comes first, has a file of that name; foo 3 has other bytes
            assert place.files(view, accept=accept) == names((DEBIAN, 1), (UBUNTU, 2))
    assert (place.projects("narrow"), place.files("narrow")) == ([], None)
    assert place.files("staging") == names((UBUNTU, 1), (UBUNTU, 2), (UBUNTU, 3))
    assert place.files(DEBIAN) == names((DEBIAN, 1), (DEBIAN, 2), (DEBIAN, 3))
    # a file is served whether it was promoted or not
    assert place.server.get(f"/files/{UBUNTU}/foo/{place.foo[UBUNTU, 3].name}").status == 200


def test_what_is_promoted_shows_at_once(place):
    place.promote((DEBIAN, 1))
    place.start()
    assert place.server.get("/-/search?q=foo").status == 200  # it waits until all projects are read, which drops all pages once
    assert (place.projects(), place.files("", "bar"), place.files("narrow")) == (["foo"], None, None)
    before = place.metric("page_cache_misses")
    assert (place.files("", "bar"), place.metric("page_cache_misses")) == (None, before)  # that it is absent is kept, too
    for number in 2, 3:
        assert len(place.files()) == number - 1
        place.promote((UBUNTU, number))
        assert place.files() == place.files("") == names((DEBIAN, 1), *((UBUNTU, n) for n in range(2, number + 1)))
    place.promote((UBUNTU, place.bar), removes=[(DEBIAN, 1)])
    assert (place.projects(), place.files()) == (["bar", "foo"], names((UBUNTU, 2), (UBUNTU, 3)))
    assert place.files("", "bar") == [(UBUNTU, place.bar.name)]
    storelib.make_wheel(place.bar.path.parent, "bar", "2.0")  # the platform keeps the project, the view does not
    (place.bar.path.parent / f"{place.bar.name}.pruned").write_bytes(b"")
    place.scan()
    assert (place.projects(), place.files("", "bar")) == (["foo"], None)


def test_pages_of_a_generation_belong_together(place):
    """A client that reads two pages one after the other never sees the promotion of both in the first one alone."""
    wheels = [storelib.make_wheel(place.store / UBUNTU / "bar", "bar", f"{n}.0") for n in range(2, 8)]
    extra = [storelib.make_wheel(place.store / UBUNTU / "foo", "foo", f"{n}.0") for n in range(12, 18)]
    place.promote((UBUNTU, 1), (UBUNTU, place.bar))
    place.start()
    wrong, seen, ended = [], set(), threading.Event()

    def read():
        while not ended.is_set():
            first, second = len(place.files(project="foo")), len(place.files(project="bar"))
            seen.add(first)
            if first > second:
                wrong.append((first, second))

    reader = threading.Thread(target=read)
    reader.start()
    for one, other in zip(wheels, extra):
        place.promote((UBUNTU, one), (UBUNTU, other))
    ended.set()
    reader.join()
    assert not wrong and len(place.files()) == 7 and len(seen) > 1


def at(time):
    return f"tested@{time}"


@pytest.fixture(name="past")
def past_fixture(place):
    """foo 1 on the 18th, foo 2 on the 19th, foo 3 instead of 2 on the 21st."""
    place.promote((UBUNTU, 1), day=18)
    place.promote((UBUNTU, 2), day=19)
    place.promote((UBUNTU, 3), removes=[(UBUNTU, 2)], day=21)
    return place.start()


def test_a_view_at_a_time(past):
    one, two, three = ((UBUNTU, n) for n in (1, 2, 3))
    expected = {"2026-11-17": None, "2026-11-18": [one], "2026-11-18T11:59:59Z": None, "2026-11-18T12:00:00Z": [one],
                "2026-11-19": [one, two], "2026-11-20": [one, two], "2026-11-21T12%3A00%3A00Z": [one, three], "2999-01-01": [one, three],
                "1970-01-01T00:00:00Z": None}
    for time, keys in expected.items():
        assert past.projects(at(time)) == (["foo"] if keys else [])
        for accept in pages.JSON, pages.HTML:
            assert past.files(at(time), accept=accept) == (keys and names(*keys)), time
    for path in "tested@2026-11-20", "tested@2026-11-20/", "tested@2026-11-20/simple", "tested@2026-11-20/simple/foo":
        assert past.server.get(f"/{path}").status == 302
    explained = json.loads(past.server.get("/-/explain/tested@2026-11-20/foo?format=json").body)
    assert (explained["view"], explained["generation"]) == ("tested", 2)
    states = {(one["platform"], one["filename"]): one.get("not-promoted", False) for one in explained["here"]}
    assert [key for key, is_out in states.items() if not is_out] == names(one, two)
    assert json.loads(past.server.get("/-/view/tested@2026-11-20").body)["platforms"] == [UBUNTU, DEBIAN]


def test_pages_at_a_time_are_kept_until_something_changes(past):
    path = "/tested@2026-11-20/simple/foo/"
    first = past.server.get(path, {"Accept": pages.JSON})

    def is_kept():
        """A server that has just started drops all pages once."""
        assert past.server.get(path, {"Accept": pages.JSON}).body == first.body
        before = past.metric("page_renders")
        again = past.server.get(path, {"Accept": pages.JSON, "If-None-Match": first["ETag"]})
        same = past.server.get("/tested@2026-11-19T23:00:00Z/simple/foo/", {"Accept": pages.JSON})
        assert (again.status, same.body, same["ETag"]) == (304, first.body, first["ETag"])
        return past.metric("page_renders") == before
    serving.wait_for(is_kept, 60, "a page that is kept")
    assert past.server.get("/tested/simple/foo/", {"Accept": pages.JSON})["ETag"] != first["ETag"]
    wheel = past.foo[UBUNTU, 2]
    (wheel.path.parent / f"{wheel.name}.yanked").write_text("broken")
    past.scan()
    assert [one.yanked for one in pages.json_files(past.server.get(path, {"Accept": pages.JSON}).body, "")] == [False, "broken"]
    for number in 1, 2:
        os.unlink(past.foo[UBUNTU, number].path)
        past.scan()
        assert past.files(at("2026-11-20")) == (names((UBUNTU, 2)) if number == 1 else None)
    assert past.projects(at("2026-11-20")) == []


def test_times_and_views_that_there_are_not(past):
    for time in "", "today", "2026-11-31", "2026-11-20T25:00:00Z", "2026-11-20T06:00:00", "1969-12-31", "2026-11-20" * 20, "@":
        reply = past.server.get(f"/tested@{time}/simple/")
        assert (reply.status, b"no such time: it is 2026-11-20" in reply.body) == (404, True), time
    for view in "staging", UBUNTU:
        reply = past.server.get(f"/{view}@2026-11-20/simple/foo/")
        assert (reply.status, b"it has no from" in reply.body) == (404, True), view
    for view in "unknown", "":
        assert past.server.get(f"/{view}@2026-11-20/simple/").body.startswith(b"404 Not Found: no such view; ")
    assert past.server.get("/simple@2026-11-20/simple/").status == 404
    shown = promtext.parse(past.server.get("/-/metrics").body.decode())
    assert not [key for key in shown if "2026" in repr(key)]


def test_real_clients_install_from_a_time(past, tmp_path):
    day, hour = (f"{past.server.url}/tested@{time}/simple/" for time in ("2026-11-20", "2026-11-19T12:00:00Z"))
    pip = clients.Client(clients.DEBIAN_PIP, tmp_path)
    pip.pip("install", *clients.pip_index(day), "--target", tmp_path / "pip", "foo", "--no-deps")
    uv = clients.Client("uv==0.13.9", tmp_path)
    uv.run("uv", "pip", "install", "--default-index", hour, "--target", tmp_path / "uv", "foo")
    assert [(tmp_path / name / "foo.py").read_text() for name in ("pip", "uv")] == [f"{UBUNTU} 2"] * 2


def test_a_private_view_is_private_at_each_time(serve, tmp_path):
    place = Place(serve, tmp_path)
    place.text = place.text.replace(f"[platform {DEBIAN}]", f"[platform {DEBIAN}]\nprivate = yes").replace("default-view = tested\n", "")
    place.promote((DEBIAN, 1), day=18)
    place.start()
    answers = {path: place.server.get(path) for path in
               ("/tested/simple/foo/", "/tested@2026-11-20/simple/foo/", "/tested@x/simple/foo/", "/staging@2026-11-20/simple/", "/no@x/simple/")}
    assert {path: (one.status, one.body) for path, one in answers.items()} == dict.fromkeys(
        answers, (answers["/tested/simple/foo/"].status, answers["/tested/simple/foo/"].body))
    assert answers["/tested/simple/foo/"].status in (401, 403)
    reader = uploading.authorization(uploading.add_token(place.server, "--platform", DEBIAN, "--read"))
    stranger = uploading.authorization(uploading.add_token(place.server, "--platform", UBUNTU, "--read"))
    for view in "tested", "tested@2026-11-20":
        reply = place.server.get(f"/{view}/simple/foo/", reader)
        assert (reply.status, reply["Cache-Control"].startswith("private")) == (200, True)
        assert place.server.get(f"/{view}/simple/foo/", stranger).status == 403
    reply = place.server.get("/tested@x/simple/foo/", reader)
    assert (reply.status, reply["Cache-Control"].startswith("private")) == (404, True)


def test_uploads_into_a_view_are_refused(past, tmp_path):
    token = uploading.add_token(past.server, "--note", "test")
    wheel = storelib.make_wheel(tmp_path / "dist", "new", "1.0")
    done = serving.run("push", wheel.path, "--to", f"{past.server.url}/upload/tested/",
                       env=os.environ | {"HOME": str(tmp_path), "WHEELCACHE_TOKEN": token})
    assert done.returncode != 0
    assert "403 Forbidden: files come into tested by promotion from staging" in done.stdout + done.stderr
    assert past.server.get("/upload/tested@2026-11-20/", {"Content-Length": "0"}, method="POST").status == 403
    assert not list(past.store.rglob("new*"))


def test_a_damaged_membership_is_not_empty(place):
    path = place.promote((UBUNTU, 1))
    good = path.read_bytes()
    path.write_bytes(good[:-1])
    place.start()
    for view in "tested", "", at("2026-11-20"):
        assert place.server.get(f"/{view}/simple/foo/" if view else "/simple/foo/").status == 503
    health = json.loads(place.server.get("/-/health").body)
    unharmed = {"silent": [], "lost-files": 0, "lost": []}
    assert (health["status"], health["views"]) == ("degraded", [
        {"name": "tested", "indexed": False, "generation": 0} | unharmed,
        {"name": "narrow", "indexed": True, "generation": 0} | unharmed])
    tree = place.state / "tree"
    done = serving.run("index", "--config", place.config, "--catalog", place.state / "catalog.db", "--static", tree)
    assert done.returncode == 1 and "view tested: a file of its membership is missing or damaged" in done.stderr
    assert not (tree / "tested").exists()
    path.write_bytes(good)
    place.scan()
    assert place.files() == names((UBUNTU, 1))
    assert json.loads(place.server.get("/-/health").body)["views"][0] == {
        "name": "tested", "indexed": True, "generation": 1} | unharmed
    path.write_bytes(good[:-1])
    place.scan(code=1)
    assert place.files() == names((UBUNTU, 1))  # the catalog has it


def test_the_export_has_what_the_server_sends(past, tmp_path):
    tree = tmp_path / "tree"
    done = serving.run("index", "--config", past.config, "--catalog", past.state / "catalog.db", "--static", tree)
    assert done.returncode == 0, done.stderr
    for view in "tested/", "narrow/", "staging/", "":
        for project in "", "foo/", "bar/":
            for name, accept in ("json", pages.JSON), ("html", pages.HTML):
                path = tree / f"{view}simple/{project}index.{name}"
                reply = past.server.get(f"/{view}simple/{project}", {"Accept": accept})
                assert (reply.status == 200, reply.status == 200 and reply.body) == (path.exists(), path.exists() and path.read_bytes())
    assert not list(tree.glob("*@*"))


MERGED = """
[upstream]
url = {url}
shared = shared
upstream-only = theirs
[view nightly]
from = staging
upstream = merge
[view part]
from = nightly
platforms = {debian}
upstream = merge
"""


def test_what_was_not_promoted_lets_nothing_of_upstream_in(serve, tmp_path):
    """Upstream had all of these names first. Only the operator's rules let its files beside ours."""
    with merging.indexes() as make:
        index = make()
        place = Place(serve, tmp_path, MERGED.format(url=index.url, debian=DEBIAN))
        for project in "foo", "bar", "shared", "theirs", "unknown":
            index.add(project, storelib.make_wheel(tmp_path / "upstream", project, "9.0"))
        for project in "shared", "theirs":
            storelib.make_wheel(place.store / UBUNTU / project, project, "1.0")
        place.promote((UBUNTU, 1), view="nightly")
        place.start()

        def shown(view="nightly"):
            return {one: [name for name, *_ in place.files(view, one) or []] for one in ("foo", "bar", "shared", "theirs", "unknown")}

        expected = {"foo": [UBUNTU], "bar": [], "shared": ["upstream"], "theirs": ["upstream"], "unknown": ["upstream"]}
        for _ in range(2):
            assert shown() == shown("nightly@2026-11-20") == expected
            assert shown("part") == expected | {"foo": []}  # ubuntu, which it does not have, lists bar
        explained = json.loads(place.server.get("/-/explain/nightly/bar?format=json").body)
        assert (explained["names"]["files"], "by promotion alone" in explained["names"]["why"]) == ("here", True)
        place.promote((UBUNTU, place.bar), view="nightly", day=21)
        assert shown() == expected | {"bar": [UBUNTU]}
        os.unlink(place.bar.path)  # we have it no more, so it is upstream's
        place.scan()
        assert shown() == expected | {"bar": ["upstream"]}
