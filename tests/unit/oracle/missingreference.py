# SPDX-License-Identifier: Apache-2.0
"""What is missing: slow and obvious, with Python's packaging, written from wheelcache(1) and wheelcache.conf(5), and
not from the C code. Versions are chosen as pip's finder chooses them, for each micro version of each Python.

A case is a dict of missingcase.py: platforms, branches, texts, build, rules, files, removed, upstream, attempts, options."""
import collections
import dataclasses
import fnmatch
import functools
import re

from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

import reference

DAY = 86400
MICROS = reference.MICROS
ALL = (1 << len(MICROS)) - 1
SHOWN = {"missing", "failed", "awaiting", "unknown", "impossible"}
TO_BUILD = {"missing", "failed", "awaiting"}
# Other results of a look-up mean that upstream could not tell.
CERTAIN = {"known", "absent", "404", "quarantined"}
IS_NEWEST = hasattr(SpecifierSet, "to_range")  # packaging 26: older ones filter pre-releases otherwise


class Nothing(Exception):
    """No branch has such a platform and Python."""


# --- the files of a branch ---

@dataclasses.dataclass(frozen=True)
class Line:
    project: str
    specifier: str
    marker: str
    is_constraint: bool
    has_url: bool

    @property
    def is_pinned(self):
        return is_pinned(SpecifierSet(self.specifier))


def names_prerelease(one):
    """Whether a specifier names a pre-release, so that it takes them."""
    try:
        return one.operator != "!=" and not one.version.endswith(".*") and Version(one.version).is_prerelease
    except InvalidVersion:
        return False


def is_pinned(specifiers):
    """As pip's resolver has it."""
    return any(one.operator == "===" or one.operator == "==" and not one.version.endswith(".*") for one in specifiers)


def logical_lines(text):
    """Yields the lines of a requirements file without comments."""
    for line in re.sub(r"\\\n", "", text).splitlines():
        line = re.sub(r"(^|\s+)#.*$", "", line).strip()
        if line:
            yield line


def read_file(texts, name, is_constraint):
    """Yields the lines of a file and of those that it leads to; "--pre" too."""
    folder = name.rpartition("/")[0]
    for line in logical_lines(texts[name]):
        if found := re.fullmatch(r"-([rc])\s*(.*)", line):
            yield from read_file(texts, f"{folder}/{found[2]}", found[1] == "c")
        elif line.startswith("-"):
            yield line
        else:
            wanted = Requirement(re.sub(r"\s--hash=\S+", "", line))
            yield Line(canonicalize_name(wanted.name), str(wanted.specifier), str(wanted.marker or ""), is_constraint,
                       wanted.url is not None)


class Branch:
    def __init__(self, case, given):
        self.name, self.given = given["name"], given
        self.is_over = given["until"] is not None and given["until"] < 0
        read = []
        for key in ("constraints", "requirements"):
            for name in given[key]:
                read += read_file(case["texts"], name, key == "constraints")
        self.allows_pre = "--pre" in read and not self.is_over
        self.lines = [] if self.is_over else [line for line in read if isinstance(line, Line)]
        self.has_requirements = any(not line.is_constraint for line in self.lines)

    def has(self, platform, python=None):
        on_platform = any(fnmatch.fnmatchcase(platform, glob) for glob in self.given["platforms"] or ["*"])
        return on_platform and (python is None or not self.given["pythons"] or python in self.given["pythons"])

    def line_wants(self, line):
        return not line.is_constraint if self.has_requirements else line.is_pinned or line.has_url


@functools.lru_cache(None)
def marker_micros(marker, python, arch):
    """The micro versions on which a marker holds."""
    environments = list(reference.marker_environments(python, arch))
    if not marker:
        return ALL
    if "full_version" not in marker and "implementation_version" not in marker:
        return ALL if Marker(marker).evaluate(environments[0]) else 0
    return sum(1 << n for n, one in enumerate(environments) if Marker(marker).evaluate(one))


@dataclasses.dataclass(frozen=True)
class Want:
    specifier: str
    has_url: bool
    allows_pre: bool
    micros: int  # 0: its markers hold nowhere


def wants_of(branch, project, python, arch):
    """What a branch wants of a project there; nothing if no line asks for it."""
    lines = [(line, marker_micros(line.marker, python, arch)) for line in branch.lines if line.project == project]
    if not any(branch.line_wants(line) for line, _ in lines):
        return []
    found = collections.defaultdict(int)
    for micro in MICROS:
        holding = [line for line, micros in lines if micros >> micro & 1]
        if any(map(branch.line_wants, holding)):
            specifier = ",".join(dict.fromkeys(line.specifier for line in holding if line.specifier))
            found[specifier, any(line.has_url for line in holding)] |= 1 << micro
    if not found:
        return [Want("", False, branch.allows_pre, 0)]
    return [Want(*key, branch.allows_pre, micros) for key, micros in found.items()]


# --- candidates ---

@dataclasses.dataclass(frozen=True)
class Offer:
    filename: str
    version: Version
    tags: frozenset  # None: an sdist
    requires: str
    is_yanked: bool
    platform: str  # None: upstream's

    @property
    def is_pure(self):
        return self.tags is not None and all(tag.abi == "none" and tag.platform == "any" for tag in self.tags)

    def micros(self, env):
        """The micro versions on which pip takes it, which ignores an invalid Requires-Python."""
        if self.tags is not None and not self.tags & env.tags:
            return 0
        return micros_admitted(self.requires, env.version)


@functools.lru_cache(None)
def micros_admitted(requires, version):
    admitted = reference.admitted(requires, version)
    return ALL if admitted is None else sum(1 << micro for micro in admitted)


def offer_of(file, project, platform):
    """None: no file of the project."""
    name = reference.read_name(file["filename"])
    if not name or name.project != project:
        return None
    is_yanked = reference.is_yanked(file) if platform is None else file["yanked"] is not None
    return Offer(file["filename"], name.version, name.tags, file.get("requires-python"), is_yanked, platform)


@functools.lru_cache(1 << 16)
def admitted_versions(specifier, versions, allows_pre):
    """As pip's finder filters them: pre-releases count if --pre or a specifier names one, or if there is nothing else."""
    wanted = SpecifierSet(specifier)
    admitted = frozenset(one for one in versions if wanted.contains(one, prereleases=True))
    finals = frozenset(one for one in admitted if not Version(one).is_prerelease)
    allows_pre = allows_pre or any(map(names_prerelease, wanted))
    if IS_NEWEST:
        found = frozenset(wanted.filter(versions, prereleases=allows_pre or None))
        assert found == (admitted if allows_pre or not finals else finals), (specifier, versions)
    return admitted if allows_pre or not finals else finals


def choose(offers, want):
    """The offers of the version that pip takes; none: it finds nothing."""
    admitted = admitted_versions(want.specifier, tuple(sorted({str(one.version) for one in offers})), want.allows_pre)
    offers = [one for one in offers if str(one.version) in admitted]
    if not (all(one.is_yanked for one in offers) and is_pinned(SpecifierSet(want.specifier))):
        offers = [one for one in offers if not one.is_yanked]
    newest = max((one.version for one in offers), default=None)
    return [one for one in offers if one.version == newest]


# --- rows ---

@dataclasses.dataclass
class Row:
    platform: str
    python: str
    project: str
    version: object  # a Version, a text, or None
    status: str
    micros: int = 0
    branches: list = dataclasses.field(default_factory=list)
    wheels: set = dataclasses.field(default_factory=set)
    sdists: set = dataclasses.field(default_factory=set)


def pin_of(specifier):
    """The version that a pinned set names; a text if it is no version."""
    for one in specifier.split(","):
        if is_pinned(SpecifierSet(one)):
            text = one.lstrip("= ")
            try:
                return Version(text)
            except InvalidVersion:
                return text
    return None


class World:
    def __init__(self, case):
        self.case = case
        self.options = case["options"]
        glob = self.options["branch"] or "*"
        self.branches = [Branch(case, one) for one in case["branches"] if fnmatch.fnmatchcase(one["name"], glob)]
        self.rows = []
        self.places = list(self._places())
        if not self.places:
            raise Nothing()

    def _places(self):
        """Yields a platform, a Python and its environment."""
        for platform in self.case["platforms"]:
            globs = self.options["platform"] or ["*"]
            for python in platform["pythons"].split():
                if any(fnmatch.fnmatchcase(platform["name"], glob) for glob in globs) and \
                        self.options["python"] in (None, python) and \
                        any(branch.has(platform["name"], python) for branch in self.branches):
                    yield platform, python, reference.environment(python, platform["arch"], platform["libc"])

    def ours(self, project):
        return [one for file in self.case["files"] if (one := offer_of(file, project, file["platform"]))]

    def upstreams(self, project):
        """Whether upstream could tell what it has, and its offers."""
        rules = self.case["rules"]  # private and local-only names are never asked for
        if any(fnmatch.fnmatchcase(project, glob) for glob in rules["private"] + rules["local-only"]):
            return True, []
        answer = self.case["upstream"].get(project, {"result": "never-asked"})
        files = answer["files"] if answer["result"] == "known" else []
        return answer["result"] in CERTAIN, [one for file in files if (one := offer_of(file, project, None))]

    def decide(self, project):
        """Adds the rows of a project, before earlier attempts are considered."""
        ours, (is_known, theirs) = self.ours(project), self.upstreams(project)
        wheels = [one for one in ours + theirs if one.tags is not None and not one.is_yanked]
        is_pure = bool(wheels) and all(one.is_pure for one in wheels)
        for platform, python, env in self.places:
            rows = {}
            local = [one for one in ours if one.platform == platform["name"]]
            for branch in self.branches:
                if not branch.has(platform["name"], python):
                    continue
                for want in wants_of(branch, project, python, platform["arch"]):
                    for status, version, micros, offers in self._outcomes(want, platform["name"], env, project, local,
                                                                          theirs, is_known, is_pure):
                        told_by = want.specifier if version is None and status == "impossible" else None
                        row = rows.setdefault((status, version, told_by),
                                              Row(platform["name"], python, project, version, status))
                        row.micros |= micros
                        row.branches += [branch.name] if branch.name not in row.branches else []
                        for one in offers:
                            (row.sdists if one.tags is None else row.wheels).add(one.filename)
            self.rows += rows.values()

    def _outcomes(self, want, platform, env, project, ours, theirs, is_known, is_pure):
        """Yields status, version, micros and the chosen files, once for each version that micro versions take."""
        if not want.micros:
            yield "not-wanted", None, 0, []
            return
        found = collections.defaultdict(lambda: [0, set()])
        if not want.has_url:
            for micro in MICROS:
                if want.micros >> micro & 1:
                    chosen = self._take(want, env, micro, ours, theirs if is_known else [])
                    if not is_known and not (is_pinned(SpecifierSet(want.specifier)) and chosen[0] == "here"):
                        chosen = "nothing", None, ()
                    found[chosen[:2]][0] |= 1 << micro
                    found[chosen[:2]][1].update(chosen[2])
        if len(found) > 1:
            found.pop(("nothing", None), None)
        for (kind, version), (micros, offers) in (found or {("nothing", None): [want.micros, set()]}).items():
            version = version or pin_of(want.specifier)
            status = self._status(kind, want, platform, env, project, version, micros, is_known, is_pure)
            yield status, version, micros, offers

    def _take(self, want, env, micro, ours, theirs):
        installable = [one for one in ours + theirs if one.micros(env) >> micro & 1]
        chosen = choose(installable, want)
        here = [one for one in chosen if one.tags is not None and one.platform]
        upstream = [one for one in chosen if one.tags is not None and not one.platform]
        kind = "here" if here else "upstream" if upstream else "sdist" if chosen else "nothing"
        return kind, chosen[0].version if chosen else None, tuple(here or upstream or chosen)

    def _status(self, kind, want, platform, env, project, version, micros, is_known, is_pure):
        """The first that holds."""
        if kind == "here":
            return "here"
        if want.has_url or self._is_skipped(platform, project, version) or \
                self._is_removed(want, platform, env, project, version, micros):
            return "skipped"
        if kind == "upstream":
            return "upstream"
        if not is_known:
            return "unknown"
        if kind == "nothing":
            return "impossible"
        return "pure" if is_pure and not self.options["pure"] else "missing"

    def _is_skipped(self, platform, project, version):
        """Of an unknown version, [build] skip skips only what it skips in all versions; in doubt packages has it."""
        def has(text, in_doubt):
            return any(name == project and fnmatch.fnmatchcase(platform, glob) and
                       (wanted.contains(version, prereleases=True) if isinstance(version, Version) else in_doubt(wanted))
                       for name, wanted, glob in reference.list_rows(text))

        build = self.case["build"]
        if has(build["skip"] or "", lambda wanted: not str(wanted)):
            return True
        return build["packages"] is not None and not has(build["packages"], lambda wanted: True)

    def _is_removed(self, want, platform, env, project, version, micros):
        """Whether an operator removed a wheel of this version that installs there. What a prune or retain removed is
        wanted again as soon as a branch wants it."""
        for file in self.case["removed"]:
            if file["by"] not in (None, "retired"):
                continue
            one = offer_of(file, project, file["platform"])
            if one and one.tags is not None and one.platform == platform and one.micros(env) & micros:
                if isinstance(version, Version):
                    if one.version == version:
                        return True
                elif SpecifierSet(want.specifier).contains(one.version, prereleases=True):
                    return True
        return False

    # --- earlier attempts ---

    def apply_attempts(self, now):
        awaits = {}
        for at, row in enumerate(self.rows):
            attempts = self._attempts(row) if row.status == "missing" else []
            failures = failures_in_a_row(attempts)
            if not failures:
                continue
            awaits[at] = attempts[0]["awaiting"]
            if retry_time(self.case["build"], failures, attempts[0]["begun"]) > now:
                row.status = "failed"
        to_build = {(row.platform, row.python, row.project) for row in self.rows if row.status in TO_BUILD}
        for at, names in awaits.items():
            row = self.rows[at]
            if any(name != row.project and (row.platform, row.python, name) in to_build for name in names):
                row.status = "awaiting"

    def _attempts(self, row):
        """The newest first."""
        found = [one for one in self.case["attempts"] if (one["platform"], one["python"], one["project"]) ==
                 (row.platform, row.python, row.project) and Version(one["version"]) == row.version]
        return sorted(found, key=lambda one: -one["begun"])


def failures_in_a_row(attempts):
    """Since the last good one, of the recipe of the newest."""
    count = 0
    for one in attempts:
        if one["result"] == "ok" or one["recipe"] != attempts[0]["recipe"]:
            break
        count += 1
    return count


def retry_time(build, failures, last):
    if failures > build["retries"]:
        return float("inf")
    pauses = build["retry-after"]
    pause = pauses[min(failures, len(pauses)) - 1]
    return last + (pause - DAY // 2 if pause >= DAY else pause)  # a day is a night


def decide(case, now):
    """The rows that are shown, and the totals of all."""
    world = World(case)
    projects = sorted({line.project for branch in world.branches for line in branch.lines})
    for project in projects:
        world.decide(project)
    world.apply_attempts(now)
    chosen = case["options"]["project"]
    rows = [row for row in world.rows if chosen in (None, row.project)]
    totals = collections.Counter(row.status for row in rows)
    shown = [row for row in rows if case["options"]["all"] or row.status in SHOWN]
    return [(platform["name"], python) for platform, python, _ in world.places], shown, totals
