# SPDX-License-Identifier: Apache-2.0
"""Sixty nights of a channel: after each, real pip finds something to install in every environment that ever had anything;
so does uv after some of them. A platform stops, a month is red, versions sort otherwise as text or by chance, the newest
is yanked."""
import collections
import hashlib

import pytest

import clients
import faults
import recorded
import serving
import storelib
from channels import DAY, Channel, folder_in_memory

NIGHTS, KEPT, DAYS = 60, 5, 30  # as the nightly channel of scientific-python
STOPS, RED, YANKED, FINAL = 20, range(22, 54), 45, 8
JAMMY, NOBLE, ARM = "ubuntu-22.04-x86_64", "ubuntu-24.04-x86_64", "debian-12-aarch64"
PLACES = {name: recorded.Platform(name, arch, "glibc", libc, pythons) for name, arch, libc, pythons in [
    (JAMMY, "x86_64", "2.35", ["3.10", "3.11"]), (NOBLE, "x86_64", "2.39", ["3.12"]), (ARM, "aarch64", "2.36", ["3.11"])]}
RULES = f"keep-versions = {KEPT}\nkeep-days = {DAYS}\n"
Night = collections.namedtuple("Night", "number pages served yanked")


def hashed(night, length=7):
    return hashlib.sha256(str(night).encode()).hexdigest()[:length]


# How a project numbers its nights, and on which platforms it is built.
def dated(night):
    return f"2.0.0.dev{20260901 + night}+git{hashed(night)}"


def by_hash(night):
    """The order of these versions is not that of the nights."""
    return f"3.0.dev0+g{hashed(night)}"


def counted(night):
    """Sorts otherwise as text; a final version once."""
    return f"1.{night}" if night == FINAL else f"1.{night}.dev0"


PROJECTS = {"dated": dated, "hashed": by_hash, "counted": counted, "pure": counted}


def platforms(project, night):
    if project == "dated" and night in RED:
        return []
    if project == "pure":
        return [JAMMY] if night % 3 == 0 else []
    return [name for name in PLACES if not (name == ARM and night >= STOPS)]


def build(at, night):
    for project, version in PROJECTS.items():
        for name in platforms(project, night):
            place = PLACES[name]
            for python in place.pythons if project != "pure" else ["3"]:
                short = python.replace(".", "")
                tag = "py3-none-any" if project == "pure" else \
                    f"cp{short}-cp{short}-manylinux_{place.libc_version.replace('.', '_')}_{place.arch}"
                wheel = storelib.make_wheel(at.store / name / project, project, version(night), tag, mtime=None)
                if night == YANKED and project == "counted":
                    wheel.path.with_name(f"{wheel.name}.yanked").write_text("broken")
                    at.yanked.add(wheel.name)


class Season(Channel):
    """A store that goes through the nights, and its pages after each. The clock of the program moves on by a day for each."""

    def __init__(self, folder, monkeypatch):
        super().__init__(folder, RULES)
        self.wall, self.yanked, self.nights = faults.preload("wall", folder, monkeypatch), set(), []
        for name in PLACES:
            (self.store / name).mkdir()

    def configure(self, rules, more=""):
        sections = "".join(f"[platform {one.name}]\npythons = {' '.join(one.pythons)}\n" for one in PLACES.values())
        self.config.write_text(f"[store]\npath = {self.store}\n[catalog]\npath = {self.catalog}\n{sections}"
                               f"[view nightly]\nplatforms = {' '.join(PLACES)}\n{rules}{more}")

    def tool(self, *arguments):
        done = serving.run(*arguments, "--quiet", "--config", self.config)
        assert done.returncode == 0, done.stderr

    def live(self, number):
        self.wall(str(number * DAY))
        build(self, number)
        self.tool("index")
        self.tool("retain")
        if number % 7 == 6:
            self.tool("prune", "purge")

    def keep_pages(self, number, server):
        pages = self.folder / f"night-{number}"
        for project in PROJECTS:
            (pages / project).mkdir(parents=True)
            (pages / project / "index.html").write_bytes(server.get(f"/nightly/simple/{project}/").body)
        self.nights.append(Night(number, pages, set(self.names()), set(self.yanked)))


def uv_finds_everything(uv, url, number):
    """Each environment with all of its projects."""
    for place in PLACES.values():
        for python in place.pythons:
            wanted = [one for one, *cell in cells(number) if cell == [place, python]]
            tags = f"{place.arch}-manylinux_{place.libc_version.replace('.', '_')}"
            done = uv.run("uv", "pip", "compile", "--no-deps", "--no-header", "--no-annotate", "--quiet", "--no-cache",
                          "--prerelease", "allow", "--python-version", python, "--python-platform", tags, "--index-url", url,
                          "--only-binary", ":all:", "-", stdin="\n".join(wanted))
            assert [line.split("==")[0] for line in done.stdout.split()] == sorted(wanted), (number, done.stdout)


@pytest.fixture(scope="module", name="season")
def season_fixture(tmp_path_factory, request):
    uv = clients.Client("uv==0.13.9", tmp_path_factory.mktemp("home"))
    with folder_in_memory() as folder, pytest.MonkeyPatch.context() as patch, \
            serving.servers(tmp_path_factory.mktemp("server")) as start:
        at = Season(folder, patch)
        at.tool("index")
        server = start(at.store, "--rescan", "0", *serving.ONE_LOOP, config=at.config.read_text(), state=at.catalog.parent)
        for number in range(NIGHTS):
            at.live(number)
            at.keep_pages(number, server)
            if number in (RED[-1], NIGHTS - 1) or (number % 6 == 0 and request.config.getoption("--nightly")):
                uv_finds_everything(uv, f"{server.url}/nightly/simple/", number)
        yield at


def cells(night):
    """What must be found: each project in each environment for which it was ever built until then."""
    for project in PROJECTS:
        built = {name for one in range(night + 1) for name in platforms(project, one)}
        for place in PLACES.values():
            for python in place.pythons:
                if place.name in built or project == "pure":
                    yield project, place, python


def test_pip_and_uv_find_something_everywhere_after_every_night(season, client):
    asked, tasks = [], []
    for night in season.nights:
        for place in PLACES.values():
            for python in place.pythons:
                wanted = [one for one, *cell in cells(night.number) if cell == [place, python]]
                asked.append((night, place.name, python, wanted))
                tasks.append({"indexes": [night.pages.as_uri()], "python": f"{python}.4", "platforms": recorded.platform_tags(place),
                              "requirements": [f"{one}>=0.dev0" for one in wanted] + wanted})
    answers = recorded.ask_finder(client("pip==26.3"), tasks)
    assert len(tasks) == NIGHTS * 4
    for (night, *cell), found in zip(asked, answers, strict=True):
        assert all(found), (night.number, cell)
        assert not night.yanked & {name for _, name in found}, (night.number, cell)


def versions(night, project):
    return {one.split("-")[1] for one in night.served if one.startswith(f"{project}-")}


def test_the_store_stays_small(season):
    """The newest, the young ones, the last of each environment, the last final one."""
    last = season.nights[-1]
    assert all(len(versions(last, project)) <= DAYS + KEPT + 4 for project in PROJECTS)
    assert "1.8" in versions(last, "counted") and f"1.{STOPS - 1}.dev0" in versions(last, "counted")
    red = season.nights[RED[-1]]
    assert versions(red, "dated") == {dated(night).replace("-", "_") for night in range(RED[0] - KEPT, RED[0])}
