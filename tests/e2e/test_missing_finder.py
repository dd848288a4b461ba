# SPDX-License-Identifier: Apache-2.0
"""`wheelcache missing` against pip's own finder: for each requirement of the recorded constraints files, and for each
recorded project without a pin, in each recorded environment, whether a wheel is found here or upstream, and of which
version. packaging evaluates the markers."""
import collections
import json
import random

import pytest
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import corpusstore
import recorded
import serving

SEED, SHARE = 15, 6  # without --nightly, pip is asked about a sixth of the projects
LATEST = 60          # a micro version of each Python that is as good as the newest one
LOOSE = "loose"      # a branch that pins nothing
SPECIFIERS = ("", ">=1", "<2", "!=1.0", ">=1.0a1", "~=1.0")

Cell = collections.namedtuple("Cell", "branch platform python requirement")


def lines(path):
    """The requirements of a file that has nothing else, as packaging reads them."""
    text = [line.strip() for line in path.read_text().splitlines()]
    return [Requirement(line) for line in text if line and not line.startswith("#")]


def holds(requirement, python):
    environment = default_environment() | {"python_version": python, "python_full_version": f"{python}.0"}
    return not requirement.marker or requirement.marker.evaluate(environment)


class Branches:
    """The recorded constraints files, a branch each, and one with each project of the pages."""

    def __init__(self, whole, folder):
        self.projects = sorted(path.name.removesuffix(".json.gz") for path in (whole / "corpus" / "pages").glob("*.json.gz"))
        loose = folder / "loose.txt"
        loose.write_text("".join(f"{name}{SPECIFIERS[i % len(SPECIFIERS)]}\n" for i, name in enumerate(self.projects)))
        self.files = {path.stem.removeprefix("upper-constraints-"): path
                      for path in sorted((whole / "corpus" / "constraints").glob("*.txt"))} | {LOOSE: loose}

    def sections(self):
        return "".join(f"[branch {name}]\n{'requirements' if name == LOOSE else 'constraints'} = {path}\n"
                       for name, path in self.files.items())

    def cells(self, places, projects):
        """Each that is wanted."""
        for branch, path in self.files.items():
            for requirement in lines(path):
                for place in places.values():
                    for python in place.pythons:
                        if canonicalize_name(requirement.name) in projects and holds(requirement, python.rstrip("t")):
                            yield Cell(branch, place.name, python, f"{requirement.name}{requirement.specifier}")


@pytest.fixture(scope="module", name="up")
def up_fixture(upstream):
    return upstream()


@pytest.fixture(scope="module", name="here")
def here_fixture(whole, up, tmp_path_factory):
    return corpusstore.CorpusStore(whole, tmp_path_factory.mktemp("missing"), up.url)


def missing(here):
    """The rows by (branch, platform, Python, project)."""
    done = serving.run("missing", "--all", "--format", "json", "--config", here.config)
    assert done.returncode == 0, done.stderr
    rows = collections.defaultdict(list)
    for row in json.loads(done.stdout)["rows"]:
        for branch in row["branches"]:
            rows[branch, row["platform"], row["python"], row["project"]].append(row)
    return rows


class Pip:
    """pip's finder on each platform, over its page here and upstream's."""

    def __init__(self, run, whole, indexes):
        self.run, self.places, self.indexes = run, recorded.platforms(whole), indexes

    def takes(self, cells, micro):
        """What it takes for each cell on a micro version; an environment is a task, so that a page is read once for it."""
        groups = collections.defaultdict(list)
        for cell in cells:
            groups[cell.platform, cell.python].append(cell)
        tasks = [{"indexes": self.indexes(platform), "python": f"{python.rstrip('t')}.{micro}{'t' * python.endswith('t')}",
                  "platforms": recorded.platform_tags(self.places[platform]),
                  "requirements": [cell.requirement for cell in group], "resolves": True}
                 for (platform, python), group in groups.items()]
        answers = recorded.ask_finder(self.run, tasks)
        return {cell: answer for group, found in zip(groups.values(), answers, strict=True)
                for cell, answer in zip(group, found, strict=True)}


def expected(answer, server):
    """The version, and whether a wheel of it is here, or upstream."""
    if not answer:
        return None, "nothing"
    version, files = answer
    wheels = [page for page, name in files if name.endswith(".whl")]
    if any(page.startswith(server.url) for page in wheels):
        return version, "here"
    return version, "upstream" if wheels else "sdist"


def told(row):
    kind = {"here": "here", "upstream": "upstream", "impossible": "nothing", "missing": "sdist", "pure": "sdist"}[row["status"]]
    return None if kind == "nothing" else row["version"], kind


def depends(rows):
    """Whether micro versions differ."""
    return len(rows) > 1 or " (on " in rows[0]["why"]


def key(cell):
    return cell.branch, cell.platform, cell.python, canonicalize_name(Requirement(cell.requirement).name)


def test_it_finds_what_pip_finds(whole, up, here, serve_module, client, tmp_path, pytestconfig):
    branches = Branches(whole, tmp_path)
    here.config.write_text(here.config.read_text() + branches.sections())
    rows = missing(here)
    projects = branches.projects
    if not pytestconfig.getoption("--nightly"):
        projects = random.Random(SEED).sample(projects, len(projects) // SHARE)
    server = serve_module(None, "--catalog", here.catalog, config=here.config.read_text())
    pip = Pip(client("pip==26.3"), whole, lambda name: [f"{server.url}/{name}/simple/", up.url])
    first = {cell: expected(answer, server)
             for cell, answer in pip.takes(branches.cells(pip.places, set(projects)), 0).items()}
    last = {cell: expected(answer, server)
            for cell, answer in pip.takes([cell for cell in first if depends(rows[key(cell)])], LATEST).items()}
    kinds = collections.Counter(kind for _, kind in first.values())
    print(f"{len(first)} cells, {len(last)} of them depend on the micro version: {dict(kinds)}")
    assert min(kinds[kind] for kind in ("here", "upstream", "sdist", "nothing")) > 10
    differs = {}
    for cell, answer in first.items():
        answers = {answer, last.get(cell, answer)}  # a micro version without a file is no row beside others
        found = {told(row) for row in rows[key(cell)]}
        if found != (answers - {(None, "nothing")} or answers):
            differs[cell] = answers, rows[key(cell)]
    assert not differs, (len(differs), list(differs.items())[:5])
