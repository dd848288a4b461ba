# SPDX-License-Identifier: Apache-2.0
"""What real clients do with files that are not offered: what they install, what they lock, and the words that their users see."""
import os
import pathlib
import re
import subprocess
import sys

import pytest

import clients
import faults
import merging
import pages
import serving
import storelib
from test_blocked import MALWARE, Lists
from test_cooling import DAY, SOON, stamp
from test_holds import Place

UV = "uv==0.13.9"
ALL = [*clients.PIPS, UV]
EACH_TIME = (clients.PIPS[0], clients.PIPS[-1], UV)  # of what takes seconds
ASK = "ask sec@example.org"


@pytest.fixture(name="wheels")
def wheels_fixture(tmp_path, index):
    """Of six: 1.0, old; 2.0, a month old; 3.0, a day old."""
    made = {}
    for version, age in (("1.0", 2000), ("2.0", 30), ("3.0", 1)):
        made[version] = storelib.make_wheel(tmp_path / "theirs", "six", version)
        index.add("six", made[version], upload_time=stamp(-age * DAY))
    return made


class Installer:
    """Installs with one client from a server; a target of its own each time."""

    def __init__(self, client, name, url, folder):
        self.client, self.name, self.url, self.folder, self.number = client(name), name, f"{url}/simple/", folder, 0

    def __call__(self, *wanted, fails=False):
        """The versions of six, and what the client said."""
        self.number += 1
        target = self.folder / f"target-{self.number}"
        if self.name == UV:
            done = self.client.run("uv", "pip", "install", "--no-cache", "--python", sys.executable, "--index-url", self.url,
                                   "--target", target, *wanted, code=2 if fails == "by URL" else int(bool(fails)))
        else:
            done = self.client.pip("install", *clients.pip_index(self.url), "--target", target, *wanted, code=int(bool(fails)))
        versions = [] if fails else [one.name.split("-")[1].removesuffix(".dist") for one in target.glob("six-*.dist-info")]
        return versions, done.stdout + done.stderr


def url_of(place, wheel):
    return f"{place.server.url}{merging.url_of('six', wheel.name)}"


@pytest.mark.parametrize("name", ALL)
def test_client_installs_what_it_should(serve, index, wheels, client, tmp_path, name, pytestconfig):
    """Through cooling, a waiver and a hold. One that names the file by URL is told the reason."""
    if name not in EACH_TIME and not pytestconfig.getoption("--nightly"):
        pytest.skip("only ./test --nightly runs it")
    place = Place(serve, index, cooldown="7d")
    install = Installer(client, name, place.server.url, tmp_path)
    link = f"six @ {url_of(place, wheels['3.0'])}#sha256={wheels['3.0'].sha256}"
    assert install("six")[0] == ["2.0"]
    install("six==3.0", fails=True)
    assert "cooling until" in install(link, fails="by URL")[1]
    place.did("waive", "six==3.0", "--until", "1h", "--reason", "urgent")
    place.shows("1.0", "2.0", "3.0")
    assert install("six")[0] == ["3.0"] and install(link)[0] == ["3.0"]
    place.did("waive", "six==3.0", "--end")
    place.did("hold", "--after", "40d", "--reason", "a worm goes round")
    place.shows("1.0")
    assert install("six")[0] == ["1.0"]
    assert "a worm goes round" in install(link, fails="by URL")[1]


@pytest.mark.parametrize("name", ALL)
def test_pinned_file_that_is_blocked_fails_with_the_reason(serve, index, wheels, client, tmp_path, name):
    """Where the URL is named. A pin with a hash never asks for a file that no page lists: explain has the reason then."""
    evil, lists = wheels["2.0"], Lists(tmp_path / "lists")
    lists.put("MAL-2026-1", "six", MALWARE)
    place = Place(serve, index, block=lists.folder)
    install = Installer(client, name, place.server.url, tmp_path)
    said = install("--no-deps", f"six @ {url_of(place, evil)}#sha256={evil.sha256}", fails="by URL")[1]
    assert f"MAL-2026-1: malware; {ASK}" in said
    pins = tmp_path / "pins.txt"
    pins.write_text(f"six==2.0 --hash=sha256:{evil.sha256}\n")
    said = install("--require-hashes", "-r", pins, fails=True)[1]
    assert "MAL-2026-1" not in said and "six==2.0" in said
    merging.wait_until_noted(place.server, "six")
    assert f"MAL-2026-1: malware; {ASK}" in place.did("explain", "six")
    assert index.count(f"/packages/{evil.name}") == 0


# --- lock files ---

class Project:
    """A project of uv that depends on six, whose uv has the clock of the server, and a cache of its own."""

    def __init__(self, folder, url, control):
        self.folder, self.url = folder / "project", url
        self.folder.mkdir()
        (self.folder / "pyproject.toml").write_text(
            '[project]\nname = "project"\nversion = "1"\nrequires-python = ">=3.9"\ndependencies = ["six"]\n')
        library = pathlib.Path(os.environ["WHEELCACHE_SANITIZED"]).parent / "tests" / "faults" / "wall.so"
        more = {"LD_PRELOAD": str(library), "WALL_BENEATH": str(control)} if control else {}
        self.environment = clients.clean_environment(folder, **more)
        self.lock = self.folder / "uv.lock"

    def uv(self, *words, code=0):
        program = clients.environment(UV) / "bin" / "uv"
        python = [] if words[0] == "pip" else ["--python", sys.executable]  # else: that of the project
        done = subprocess.run([program, *words, *python, "--default-index", f"{self.url}/simple/"], cwd=self.folder,
                              env=self.environment, capture_output=True, text=True, check=False, timeout=300)
        assert done.returncode == code, done.stderr
        return done.stderr

    def locked(self):
        text = self.lock.read_text()
        return [version for version in ("1.0", "2.0", "3.0") if f'name = "six"\nversion = "{version}"' in text]

    def synced(self, *words):
        self.uv("sync", *words)
        return [one.name.split("-")[1].removesuffix(".dist") for one in self.folder.glob(".venv/lib/*/site-packages/six-*.dist-info")]


def kept_for(server):
    """For how many seconds a client keeps the page of six. The server's own copy stays for a moment when its clock is set."""
    return int(re.search(r"max-age=(\d+)", server.get("/simple/six/", {"Accept": pages.JSON}).headers["Cache-Control"])[1])


def test_locks_around_a_moment_of_offering(serve, index, wheels, tmp_path, monkeypatch):
    """The page changes in between, also for a client that kept it. A lock that was made before stays good."""
    set_clock = faults.preload("wall", tmp_path, monkeypatch)
    index.change("six", wheels["3.0"].name, upload_time=stamp(1800 - 7 * DAY))
    server = serve(None, config=merging.config(index, cooldown="7d", max_age="1d") + "[server]\npage-max-age = 1d\n")
    project = Project(tmp_path, server.url, tmp_path / "broken")
    project.uv("lock")
    before = project.lock.read_text()
    assert project.locked() == ["2.0"] and 800 < kept_for(server) <= 900
    set_clock("1500")
    serving.wait_for(lambda: kept_for(server) <= 150, SOON, "half of the 300 s that are left")
    project.uv("lock", "--upgrade")
    assert project.lock.read_text() == before
    set_clock("1860")
    serving.wait_for(lambda: wheels["3.0"].name in merging.names(server, "six"), SOON, "3.0 on the page")
    project.uv("lock", "--check")
    assert project.lock.read_text() == before and project.synced("--locked") == ["2.0"]
    project.uv("lock", "--upgrade")
    assert project.locked() == ["3.0"] and wheels["3.0"].sha256 in project.lock.read_text()
    assert project.synced("--locked") == ["3.0"]
    project.lock.write_text(before)
    assert project.synced("--locked") == ["2.0"] and project.synced("--frozen") == ["2.0"]
    assert index.count("six") == 1


@pytest.mark.parametrize("form", ["uv.lock", "pylock.toml"])
def test_lock_file_of_a_blocked_file_fails_with_the_reason(serve, index, wheels, tmp_path, form):
    """It was made before the record came; what is in the cache of the server is not sent any more either."""
    lists = Lists(tmp_path / "lists")
    lists.put("MAL-2026-1", "other", MALWARE)
    place = Place(serve, index, block=lists.folder)
    project = Project(tmp_path, place.server.url, None)
    project.uv("lock")
    assert project.locked() == ["3.0"]
    if form != "uv.lock":
        project.uv("export", "--format", "pylock.toml", "--output-file", "pylock.toml")
        project.uv("venv")
    lists.put("MAL-2026-1", "six", {})
    serving.wait_for(lambda: place.server.get(merging.url_of("six", wheels["3.0"].name)).status == 403, SOON, "the record")
    said = project.uv(*(("sync", "--frozen") if form == "uv.lock" else ("pip", "sync", "pylock.toml")), code=2)
    assert f"MAL-2026-1: malware; {ASK}" in said
