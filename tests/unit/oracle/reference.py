# SPDX-License-Identifier: Apache-2.0
"""The verdicts that the pruner must reach: slow and obvious, with Python's packaging, written from docs/pruning.md and
not from the C code. In doubt a file is kept.

A case is a dict in the form of verdict-tool (see there): now, policy, platform, project, upstream and files."""
import dataclasses
import datetime
import fnmatch
import functools
import html.parser
import json
import re
import urllib.parse

from packaging import tags
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name, parse_sdist_filename, parse_wheel_filename
from packaging.version import InvalidVersion, Version

MICROS = range(64)  # 3.11.0, 3.11.1, …: a machine may have any
JSON_TYPE = "application/vnd.pypi.simple.v1+json"
OLD_NAMES = {(2, 17): "manylinux2014", (2, 12): "manylinux2010", (2, 5): "manylinux1"}


@dataclasses.dataclass(frozen=True)
class Environment:
    """One Python of a platform."""
    name: str
    version: tuple
    tags: frozenset


@dataclasses.dataclass
class Verdict:
    """removes: whether it is removed. why: the reason if it is kept. covers: the files of upstream that are evidence,
    by the name of the environment."""
    verdict: str
    removes: bool
    why: str = None
    identical: bool = None
    covers: dict = dataclasses.field(default_factory=dict)


@functools.lru_cache(None)
def platform_tags(arch, libc):
    """PEP 600, 656: all tags that are not newer than the machine's libc, in pip's order: the newest first, linux last."""
    name, version = libc.split()
    major, newest = map(int, version.split("."))
    found = []
    for minor in range(newest, -1, -1):
        if name == "musl":
            found.append(f"musllinux_{major}_{minor}_{arch}")
        elif minor >= (5 if arch in ("x86_64", "i686") else 17):
            found.append(f"manylinux_{major}_{minor}_{arch}")
            if (major, minor) in OLD_NAMES:
                found.append(f"{OLD_NAMES[major, minor]}_{arch}")
    return [*found, f"linux_{arch}"]


@functools.lru_cache(None)
def ordered_tags(python, arch, libc):
    """Of "3.11", "3.13t" or "pp310" on such a machine: the best first."""
    on = platform_tags(arch, libc)
    if python.startswith("pp"):
        version = int(python[2]), int(python[3:])
        own = tags.generic_tags(python, [f"pypy{python[2:]}_pp73"], on)
        return version, [*own, *tags.compatible_tags(version, "pp3", on)]
    version = tuple(map(int, python.rstrip("t").split(".")))
    interpreter = f"cp{version[0]}{version[1]}"
    abi = interpreter + ("m" if version < (3, 8) else "")
    own = list(tags.cpython_tags(version, [abi], on))
    if python.endswith("t"):  # PEP 703, 803: wheels for the ABI of other builds do not install
        own = [tags.Tag(one.interpreter, one.abi + ("" if one.abi == "none" else "t"), one.platform) for one in own]
    return version, [*own, *tags.compatible_tags(version, interpreter, on)]


def environment(python, arch, libc):
    """"3.11", "3.13t" or "pp310" on such a machine."""
    version, ordered = ordered_tags(python, arch, libc)
    return Environment(python, version, frozenset(ordered))


def marker_environments(python, arch):
    """The variables of markers on each micro version of "3.11", "3.13t" or "pp310"."""
    is_pypy, version = python.startswith("pp"), python.rstrip("t") if "." in python else f"3.{python[3:]}"
    for micro in MICROS:
        full = f"{version}.{micro}"
        yield {"implementation_name": "pypy" if is_pypy else "cpython",
               "implementation_version": "" if is_pypy else full, "os_name": "posix",
               "platform_machine": arch, "platform_release": "", "platform_system": "Linux",
               "platform_version": "", "python_full_version": full, "python_version": version, "sys_platform": "linux",
               "platform_python_implementation": "PyPy" if is_pypy else "CPython", "extra": ""}


@functools.lru_cache(None)
def admitted(requires, version):
    """The micros of 3.11 that a Requires-Python admits. None: it is invalid."""
    if requires is None:
        return frozenset(MICROS)
    try:
        wanted = SpecifierSet(requires)
    except InvalidSpecifier:
        return None
    dotted = ".".join(map(str, version))
    return frozenset(micro for micro in MICROS if wanted.contains(f"{dotted}.{micro}", prereleases=True))


@dataclasses.dataclass(frozen=True)
class Name:
    """A parsed file name. tags: None for an sdist."""
    project: str
    version: Version
    tags: frozenset


@functools.lru_cache(None)
def read_name(filename):
    """Parses a file name. None: neither a wheel nor an sdist."""
    try:
        if filename.endswith(".whl"):
            project, version, _, wheel_tags = parse_wheel_filename(filename)
            return Name(project, version, wheel_tags)
        project, version = parse_sdist_filename(filename)
        return Name(project, version, None)
    except ValueError:
        return None


def serves(filename, requires, env, unreadable):
    """The micros of an environment on which it installs. unreadable: those that an invalid Requires-Python admits."""
    name = read_name(filename)
    if name.tags is not None and not name.tags & env.tags:
        return frozenset()
    micros = admitted(requires, env.version)
    return unreadable if micros is None else micros


def ours_serves(file, env):
    """pip ignores an invalid Requires-Python."""
    return serves(file["filename"], file["requires-python"], env, frozenset(MICROS))


def upstream_serves(file, env):
    """uv drops a file with an invalid Requires-Python."""
    return serves(file["filename"], file.get("requires-python"), env, frozenset())


def is_yanked(file):
    """Any text counts as yanked: pip ignores an empty reason, uv does not."""
    return file.get("yanked") is True or isinstance(file.get("yanked"), str)


class Anchors(html.parser.HTMLParser):
    """Parses an HTML page into the form of a JSON page."""

    def __init__(self, text):
        super().__init__()
        self.page = {"meta": {"api-version": "1.0"}, "name": None, "files": []}
        self._in_title = False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self._in_title = tag == "title"
        if tag == "meta" and given.get("name") == "pypi:repository-version":
            self.page["meta"]["api-version"] = given["content"]
        if tag == "meta" and given.get("name") == "pypi:project-status":
            self.page["project-status"] = {"status": given["content"]}
        if tag == "a":
            url, fragment = urllib.parse.urldefrag(given["href"])
            file = {key.removeprefix("data-"): value for key, value in given.items() if key != "href"}
            file |= {"filename": urllib.parse.unquote(url).split("/")[-1], "hashes": {"sha256": fragment.removeprefix("sha256=")}}
            self.page["files"].append(file)

    def handle_data(self, data):
        if self._in_title:
            self.page["name"], self._in_title = data.removeprefix("Links for "), False


def read_page(text, project):
    """The files of a page, the first of each name. None: the page is not reliable."""
    try:
        page = Anchors(text).page if text.startswith("<!DOCTYPE") else json.loads(text)
        right = page["meta"]["api-version"].split(".")[0] == "1" and canonicalize_name(page["name"]) == project
        status = (page.get("project-status") or {}).get("status")
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    if not right or status == "quarantined":
        return None
    files = {}
    for file in page["files"]:
        files.setdefault(file["filename"], file)
    return list(files.values())


def uploaded(file):
    text = file.get("upload-time")
    if not text:
        return None
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def list_rows(text):
    """The lines of a package list: name [specifier] [platform=GLOB] [keep] reason."""
    for line in text.splitlines():
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        name, wanted, glob = words.pop(0), SpecifierSet(), "*"
        if words and words[0][0] in "<>=!~":
            wanted = SpecifierSet(words.pop(0))
        if words and words[0].startswith("platform="):
            glob = words.pop(0).removeprefix("platform=")
        yield canonicalize_name(name), wanted, glob


def is_listed(case, name):
    return any(project == case["project"] and wanted.contains(name.version, prereleases=True)
               and fnmatch.fnmatchcase(case["platform"]["name"], glob)
               for project, wanted, glob in list_rows(case["policy"]["packages"] or ""))


def pins(text):
    for line in text.splitlines():
        found = re.match(r"([^=\s]+)===([^;#\s]+)", line)
        if found:
            yield canonicalize_name(found[1]), found[2]


def is_pinned(case, name):
    """Ignores markers. A local version matches the version that it extends."""
    for text in case["policy"]["constraints"]:
        for project, version in pins(text):
            if project == case["project"] and \
                    (Version(version) == name.version or Version(version) == Version(name.version.public)):
                return True
    return False


class Judge:
    """Decides the files of one case."""

    def __init__(self, case):
        self.case = case
        place = case["platform"]
        self.policy = case["policy"]
        self.environments = [environment(python, place["arch"], place["libc"])
                             for python in place.get("pythons", "").split()]
        self.page = None
        if case["upstream"]["result"] == "known":
            self.page = read_page(case["upstream"]["page"], case["project"])
        times = [when for when in map(uploaded, self.page or []) if when is not None]
        is_younger = case["oldest"] and (not times or min(times) > case["oldest"])
        self.is_taken_over = is_younger and not self.policy["name-taken-over"]

    def decide(self, file):
        name = read_name(file["filename"])
        verdict = self._of_ours(file, name) or self._of_upstream(file, name)
        return self._spare(file, verdict)

    def _of_ours(self, file, name):
        """The verdicts that need no upstream."""
        if file["view"]:
            return Verdict("keep", False, "in-view")
        if file["lock"]:
            return Verdict("keep", False, "locked")
        if file["corrupt"]:
            return Verdict("corrupt", self.policy["corrupt"], "not-asked")
        if is_listed(self.case, name):
            return Verdict("keep", False, "listed")
        if is_pinned(self.case, name):
            return Verdict("keep", False, "pinned")
        if not self.environments:
            return Verdict("keep", False, "no-profile")
        if not self.is_usable(file):
            return Verdict("unusable", self.policy["unusable"], "not-asked")
        return None

    def is_usable(self, file):
        """An sdist may be built anywhere."""
        return read_name(file["filename"]).tags is None or any(ours_serves(file, env) for env in self.environments)

    def _of_upstream(self, file, name):
        if self.case["upstream"]["result"] == "absent":
            return Verdict("keep", False, "upstream-absent")
        if self.page is None:
            return Verdict("keep", False, "upstream-unknown")
        same = next((one for one in self.page if one["filename"] == file["filename"]), None)
        if same and is_yanked(same):
            return Verdict("keep", False, "yanked-upstream")
        if same and all(ours_serves(file, env) <= upstream_serves(same, env) for env in self.environments):
            if self._is_old(same):
                identical = (same.get("hashes") or {}).get("sha256") == file["sha256"]
                if self.is_taken_over and not identical:
                    return Verdict("keep", False, "name-taken-over")
                covers = {env.name: {same["filename"]} for env in self.environments if ours_serves(file, env)}
                return Verdict("duplicate", True, None, identical, covers)
            if name.tags is None:
                return Verdict("keep", False, "upstream-too-young")
        elif same:
            return Verdict("keep", False, "not-covered")
        if name.tags is None:
            return Verdict("keep", False, "sdist")
        return self._superseded(file, name) or self._by_class(file, name)

    def _candidates(self, name, is_wheel):
        """Upstream's files of the same version that are not yanked."""
        for one in self.page:
            theirs = read_name(one["filename"])
            if theirs and (theirs.tags is not None) == is_wheel and theirs.project == name.project \
                    and theirs.version == name.version and not is_yanked(one):
                yield one

    def _is_old(self, one):
        """Without a minimum age an unknown age is sufficient."""
        when = uploaded(one)
        return not self.policy["upstream-min-age"] or when is not None and self.case["now"] - when >= self.policy["upstream-min-age"]

    def _covers(self, file, candidates):
        """Whether one of them installs everywhere that ours does."""
        return all(ours_serves(file, env) <= frozenset().union(*(upstream_serves(one, env) for one in candidates))
                   for env in self.environments)

    def _superseded(self, file, name):
        all_of_them = list(self._candidates(name, True))
        old = [one for one in all_of_them if self._is_old(one)]
        if self._covers(file, old):
            if self.is_taken_over:
                return Verdict("keep", False, "name-taken-over")
            covers = {env.name: {one["filename"] for one in old if upstream_serves(one, env) & ours_serves(file, env)}
                      for env in self.environments if ours_serves(file, env)}
            return Verdict("superseded", True, None, None, covers)
        if self._covers(file, all_of_them):
            return Verdict("keep", False, "upstream-too-young")
        return None

    def _by_class(self, file, name):
        """The classes that need an option."""
        is_pure = all(one.abi == "none" and one.platform == "any" and re.fullmatch(r"py\d+", one.interpreter)
                      for one in name.tags)
        sdists = [one for one in self._candidates(name, False) if self._covers(file, [one])]
        if self.policy["pure"] and is_pure and sdists:
            if not any(map(self._is_old, sdists)):
                return Verdict("keep", False, "upstream-too-young")
            return Verdict("keep", False, "name-taken-over") if self.is_taken_over else Verdict("pure", True)
        if self.policy["off-list"] and self.policy["branch"] is not None and \
                SpecifierSet(self.policy["branch"]).contains(name.version, prereleases=True):
            return Verdict("keep", False, "pinned")
        if self.policy["off-list"]:
            return Verdict("off-list", True)
        return Verdict("keep", False, "not-covered")

    def _spare(self, file, verdict):
        """Keeps a file that would be removed if it is young or wanted, or if upstream is unknown."""
        if not verdict.removes:
            return verdict
        verdict.why = None
        if self.page is None and self.case["upstream"]["result"] != "absent":
            return Verdict(verdict.verdict, False, "upstream-unknown")
        if self.case["now"] - file["mtime"] < self.policy["min-age"]:
            return Verdict("keep", False, "too-young")
        if file["downloaded"] and self.case["now"] - file["downloaded"] <= self.policy["downloaded"]:
            return Verdict("keep", False, "downloaded")
        return verdict


def decide(case):
    """A Verdict for each file of a case."""
    judge = Judge(case)
    return [judge.decide(file) for file in case["files"]]
