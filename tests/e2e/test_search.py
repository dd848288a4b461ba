# SPDX-License-Identifier: Apache-2.0
"""/-/search: projects by name, for people and as JSON."""
import json
import re
import sqlite3
import urllib.parse

import pytest

import chromium
import serving
import storelib
from uploading import authorization

PUBLIC, PRIVATE = "debian-12-x86_64", "ubuntu-24.04-x86_64"
MARKUP = "\"><script>alert(1)</script>"


class World:
    """A server with a private platform, and tokens that may read it: all of it, or some projects."""

    def __init__(self, serve, folder):
        self.store = folder / "store"
        for name in ("numpy", "numba", "scikit-learn", "Zope.Interface"):
            storelib.make_wheel(self.store / PUBLIC, name, "1.0")
        for name in ("numsecret", "numpy", "numgrant-a"):
            storelib.make_wheel(self.store / PRIVATE, name, "2.0")
        config = folder / "search.conf"
        config.write_text(f"[store]\npath = {self.store}\n[platform {PUBLIC}]\n[platform {PRIVATE}]\nprivate = yes\n")
        self.server = serve(self.store, "--config", config)
        self.catalog = self.server.catalog
        self.reader = self.token("--note", "all")
        self.some = self.token("--note", "some", "--project", "numgrant-*")

    def token(self, *options):
        done = serving.run("token", "add", "--read", "--platform", PRIVATE, *options, "--catalog", self.catalog)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def ask(self, typed, token=None, **options):
        query = urllib.parse.urlencode({"q": typed, **options})
        return self.server.get(f"/-/search?{query}", authorization(token) if token else {})

    def find(self, typed, token=None, **options):
        reply = self.ask(typed, token, format="json", **options)
        assert (reply.status, reply["Content-Type"]) == (200, "application/json")
        return json.loads(reply.body)

    def names(self, typed, token=None, **options):
        return [one["name"] for one in self.find(typed, token, **options)["projects"]]


@pytest.fixture(scope="module", name="world")
def world_fixture(serve_module, tmp_path_factory):
    return World(serve_module, tmp_path_factory.mktemp("search"))


def test_json(world):
    found = world.find("NUM")
    assert (found["query"], found["name"], found["total"], found["near"]) == ("NUM", "num", 2, False)
    assert [one["name"] for one in found["projects"]] == ["numba", "numpy"]
    numpy = found["projects"][1]
    assert (numpy["match"], numpy["files"], numpy["platforms"], numpy["url"]) == ("prefix", 1, [PUBLIC], "project/numpy")
    assert re.fullmatch(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ", numpy["newest"])


@pytest.mark.parametrize("typed, names", [
    ("zope_interface", ["zope-interface"]), ("learn", ["scikit-learn"]), ("Scikit.Learn>=1", ["scikit-learn"]),
    ("scikitlearn", ["scikit-learn"]), ("nunpy", ["numpy"]), ("", []), ("[]", []), ("%", []), ("zzz", []),
    ("x" * 255, [])])
def test_finds_what_people_type(world, typed, names):
    assert world.names(typed) == names


def test_only_what_the_client_may_read(world):
    assert world.names("num") == ["numba", "numpy"]
    assert world.names("num", world.reader) == ["numba", "numpy", "numsecret", "numgrant-a"]
    assert world.names("num", world.some) == ["numba", "numpy", "numgrant-a"]
    assert world.names("num", "wc_" + "A" * 43) == ["numba", "numpy"]
    assert world.find("numsecret")["total"] == world.find("numsecrte")["total"] == 0
    [numpy] = world.find("numpy", world.reader)["projects"]
    assert numpy["platforms"] == [PUBLIC, PRIVATE] and numpy["files"] == 2
    page = world.ask("num").body
    assert b"numsecret" not in page and PRIVATE.encode() not in page
    assert world.ask("num")["Cache-Control"].startswith("private")


def test_results_are_limited(world):
    # Exceeds LIMIT_SEARCH_RESULTS.
    found = world.find("num", limit=1)
    assert len(found["projects"]) == 1 and found["total"] == 2
    assert b"1 more" in world.ask("num", limit=1).body
    with sqlite3.connect(world.catalog) as catalog:  # as a scan writes them
        (platform,) = catalog.execute("SELECT id FROM platform WHERE name = ?", (PUBLIC,)).fetchone()
        catalog.execute("UPDATE store SET change = change + 1")
        catalog.executemany("INSERT INTO project (platform, name, files, changed)"
                            " VALUES (?, ?, 1, (SELECT change FROM store))", [(platform, f"many-{i}") for i in range(200)])
    serving.wait_for(lambda: world.find("many")["total"] == 200, 60, "the projects")
    for limit, count in (("", 20), ("0", 20), ("7", 7), ("100", 100), ("101", 100), ("9" * 30, 100), ("x", 20)):
        assert len(world.find("many", limit=limit)["projects"]) == count, limit


def test_what_is_typed_is_only_text(world):
    reply = world.ask(MARKUP)
    assert reply.status == 200 and b"<script>alert" not in reply.body
    assert "script-src 'self'" in reply["Content-Security-Policy"]
    assert "unsafe-inline" not in reply["Content-Security-Policy"]
    assert world.find(MARKUP)["query"] == MARKUP
    assert [world.ask(one).status for one in ("a\xff", "a\x00b", "a\n")] == [200, 400, 400]
    assert world.ask("x" * 256).status == 400


def test_page_without_script(world):
    text = world.ask("num").body.decode()
    assert '<form role="search" method="get" action="search">' in text
    assert '<a href="project/numpy">numpy</a>' in text and "2 projects with “num”" in text
    assert "These names are similar" in world.ask("nunpy").body.decode()
    assert "That is no name" in world.ask("[]").body.decode()
    home = world.server.get("/").body.decode()
    assert 'action="-/search"' in home


def test_new_project_is_found_at_once(world):
    storelib.make_wheel(world.store / PUBLIC, "brandnew", "1.0")
    assert world.names("brandnew") == []
    done = serving.run("index", "--catalog", world.catalog, world.store)
    assert done.returncode == 0, done.stderr
    assert world.names("brandnew") == ["brandnew"]


@pytest.mark.skipif(not chromium.program(), reason="chromium is not installed")
def test_shows_projects_while_a_person_types(world, tmp_path_factory):
    """With the keyboard alone, and with what a screen reader is told."""
    field = "document.querySelector('input[name=q]')"
    with chromium.chromium(tmp_path_factory.mktemp("chromium")) as browser:
        browser.open(f"{world.server.url}/")
        browser.run(f"{field}.focus()")
        browser.type("nu")
        browser.until("[...document.querySelectorAll('[role=option]')].map(one => one.firstChild.data).join()", "numba,numpy")
        assert browser.run("document.querySelector('[role=status]').textContent") == "2 projects."
        assert browser.run(f"{field}.getAttribute('aria-expanded')") == "true"
        browser.press("ArrowDown")
        browser.press("ArrowDown")
        active = f"document.getElementById({field}.getAttribute('aria-activedescendant'))"
        assert browser.run(f"{active}.getAttribute('aria-selected') + {active}.firstChild.data") == "truenumpy"
        browser.press("Enter")
        browser.until("location.pathname", "/-/project/numpy")
        browser.open(f"{world.server.url}/")
        browser.run(f"{field}.focus()")
        browser.type("nunpy")
        browser.until("(document.querySelector('[role=status]') || {}).textContent", "No project. 1 with a similar name.")
        browser.press("Escape")
        assert browser.run("document.querySelector('[role=listbox]').hidden")
        browser.press("Enter")
        browser.until("location.pathname + location.search", "/-/search?q=nunpy")
