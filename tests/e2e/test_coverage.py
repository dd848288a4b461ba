# SPDX-License-Identifier: Apache-2.0
"""/-/coverage: which wheels many projects have, as a page, JSON and CSV."""
import csv
import io
import json
import re
import time
import urllib.parse

import pytest

import serving
import storelib
from uploading import authorization

JAMMY, NOBLE, SECRET = "ubuntu-22.04-x86_64", "ubuntu-24.04-x86_64", "rocky-9-x86_64"
PYTHONS = {JAMMY: ("3.10", "3.12"), NOBLE: ("3.12",), SECRET: ("3.12",)}
PROJECTS = 60


class World:
    """Two public platforms and a private one, and tokens that may read it: all of it, or some projects."""

    def __init__(self, serve, folder):
        self.store, self.config = folder / "store", folder / "coverage.conf"
        self.put(JAMMY, "native", "1.0", "cp310-cp310-linux_x86_64")
        self.put(JAMMY, "native", "1.0", "cp312-cp312-linux_x86_64")
        self.put(JAMMY, "native", "1.1", "cp312-cp312-linux_x86_64")
        self.put(NOBLE, "pure", "2!1.0+x", "py3-none-any")
        self.put(SECRET, "covert", "9.0", "cp312-cp312-linux_x86_64")
        self.put(SECRET, "granted", "9.0", "cp312-cp312-linux_x86_64")
        self.put(SECRET, "native", "7.0", "cp312-cp312-linux_x86_64")
        for i in range(PROJECTS):
            self.put(NOBLE, f"zz-{i:02}", "1.0", "py3-none-any")
        sections = "".join(f"[platform {name}]\npythons = {' '.join(row)}\narch = x86_64\nlibc = glibc 2.35\n"
                           + ("private = yes\n" if name == SECRET else "") for name, row in PYTHONS.items())
        self.config.write_text(f"[store]\npath = {self.store}\n{sections}")
        self.server = serve(self.store, "--config", self.config)
        self.reader, self.some = self.token(), self.token("--project", "granted")

    def put(self, platform, project, version, tag):
        storelib.make_wheel(self.store / platform / project, project, version, tag)

    def token(self, *options):
        done = serving.run("token", "add", "--read", "--platform", SECRET, *options, "--catalog", self.server.catalog)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def ask(self, query="", token=None, **headers):
        return self.server.get(f"/-/coverage{query}", {**headers, **(authorization(token) if token else {})})

    def json(self, token=None, **query):
        reply = self.ask(f"?{urllib.parse.urlencode({'format': 'json', **query})}", token)
        assert (reply.status, reply["Content-Type"]) == (200, "application/json"), reply.body
        return json.loads(reply.body)

    def rows(self, token=None, **query):
        return {one["project"]: [cell["state"] for cell in one["cells"]] for one in self.json(token, **query)["projects"]}


@pytest.fixture(scope="module", name="world")
def world_fixture(serve_module, tmp_path_factory):
    return World(serve_module, tmp_path_factory.mktemp("coverage"))


def test_json(world):
    found = world.json(projects="nat*,pure")
    assert found["columns"] == [{"platform": JAMMY, "python": "3.10"}, {"platform": JAMMY, "python": "3.12"},
                                {"platform": NOBLE, "python": "3.12"}]
    native, pure = found["projects"]
    assert (native["version"], native["version_before"], native["url"]) == ("1.1", "1.0", "project/native")
    assert pure["version"] == "2!1.0+x" and [cell["state"] for cell in pure["cells"]] == ["covered"] * 3
    lost, ours, _ = native["cells"]
    assert lost["lost"] and lost["state"] != "ours" and lost["why"] and not ours["lost"]
    assert ours["filename"] == "native-1.1-cp312-cp312-linux_x86_64.whl" and ours["from"] == JAMMY
    assert (found["total"], found["next"]) == (2, None)


def test_each_cell_has_a_url_and_a_twin(world):
    for project in world.json(projects="native pure")["projects"]:
        for cell in project["cells"]:
            page = world.server.get(f"/-/{cell['url']}")
            assert page.status == 200 and cell["why"] in page.body.decode().replace("&#39;", "'")
            [row] = json.loads(world.server.get(f"/-/{cell['url']}&format=json").body)["projects"]
            assert row["project"] == project["project"] and row["cells"] == [cell]
    page = world.ask("?projects=native").body.decode()
    assert page.count('href="coverage?projects=native&amp;platforms=') == 3


def test_csv(world):
    reply = world.ask("?format=csv&projects=native+pure")
    assert reply["Content-Type"] == "text/csv; charset=utf-8"
    head, native, pure = csv.reader(io.StringIO(reply.body.decode(), newline=""))
    assert head == ["project", "version", f"{JAMMY}/3.10", f"{JAMMY}/3.12", f"{NOBLE}/3.12"]
    assert native[:2] == ["native", "1.1"] and native[3] == "ours" and pure == ["pure", "2!1.0+x", *["covered"] * 3]
    assert native[2:] == world.rows(projects="native")["native"]


def test_filters(world):
    assert list(world.rows(projects="NATIVE")) == ["native"]
    assert list(world.rows(projects="zz.0*")) == [f"zz-0{i}" for i in range(10)]
    assert world.rows(projects="none") == {}
    assert [one["platform"] for one in world.json(platforms="*-24.*", projects="pure")["columns"]] == [NOBLE]
    assert [one["python"] for one in world.json(python="3.10", projects="pure")["columns"]] == ["3.10"]
    assert world.json(python="2.7", projects="pure")["columns"] == []
    gaps = world.rows(state="missing,unknown")
    assert "native" in gaps and "pure" not in gaps and not any(name.startswith("zz") for name in gaps)
    assert world.ask("?state=green").status == world.ask(f"?projects={'a' * 256}").status == 400
    assert b"No platform with a known Python" in world.ask("?python=2.7").body


def test_what_may_not_be_read_is_not_there(world):
    public = world.rows()
    assert "covert" not in public and "granted" not in public and SECRET not in json.dumps(world.json())
    assert world.rows(projects="covert") == world.rows(projects="covert", platforms=SECRET) == {}
    assert world.json(projects="covert")["total"] == 0
    assert world.json(projects="native")["projects"][0]["version"] == "1.1"
    assert world.json(world.reader, projects="native")["projects"][0]["version"] == "7.0"
    assert world.rows(world.reader, projects="covert", platforms=SECRET) == {"covert": ["ours"]}
    assert world.rows(world.some, projects="covert granted", platforms=SECRET) == {"granted": ["ours"]}
    [row] = world.json(world.some, projects="native")["projects"]
    assert row["version"] == "1.1" and SECRET not in {cell["platform"] for cell in row["cells"]}
    assert world.rows("wc_" + "A" * 43) == public
    # what the reader got is not kept for others
    assert world.rows() == public and world.ask()["Cache-Control"].startswith("private")


def test_pages_have_links_to_the_next_ones(world):
    seen, url = [], "coverage?limit=25&format=json"
    while url:
        reply = world.server.get(f"/-/{url}")
        found = json.loads(reply.body)
        link = re.fullmatch(r'<(.*)>; rel="next"', reply["Link"] or "")
        assert (link and link.group(1)) == found["next"] and len(found["projects"]) <= 25
        seen, url = seen + [one["project"] for one in found["projects"]], found["next"]
    assert seen == sorted(seen) and len(seen) == len(set(seen)) == found["total"] == PROJECTS + 2
    page = world.ask("").body.decode()
    assert page.count('<tr><th scope="row">') == 50 and 'rel="next" href="coverage?after=' in page
    assert len(world.json(limit=10 ** 30)["projects"]) == PROJECTS + 2


def test_hostile_globs_end(world):
    """What has the form of a glob is matched in time; a backslash or markup is refused."""
    began = time.monotonic()
    for text in ("*z" * 127, "*z*-*" * 51, "[" * 85, "*?" * 60, "[z-" * 50, "," * 255, "\\" * 85, "[!" * 40):
        glob = urllib.parse.quote(text, safe="*,")
        status = 400 if "\\" in text else 200
        assert world.ask(f"?projects={glob}&format=json").status == status, text
        assert world.ask(f"?platforms={glob}&python={glob}").status == status, text
    assert time.monotonic() - began < 60
    markup = urllib.parse.quote("\"><script>alert(1)</script>")
    reply = world.ask(f"?projects={markup}&platforms={markup}&python={markup}&after={markup}")
    assert reply.status == 400 and b"<script>alert" not in reply.body


def test_is_kept_until_something_changes(world):
    first = world.ask("?projects=native&format=json")
    assert world.ask("?projects=native&format=json", **{"If-None-Match": first["ETag"]}).status == 304
    world.put(JAMMY, "native", "1.2", "cp310-cp310-linux_x86_64")
    done = serving.run("index", "--quiet", "--catalog", world.server.catalog, "--config", world.config)
    assert done.returncode == 0, done.stderr
    assert world.json(projects="native")["projects"][0]["version"] == "1.2"
