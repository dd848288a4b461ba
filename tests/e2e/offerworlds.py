# SPDX-License-Identifier: Apache-2.0
"""Random worlds of upstreams, ages, lists, holds, waivers, statuses, own files and steps of the clock, and a slow reference
that says which files each view offers at an instant. It keeps nothing: each question is answered from all rules. It was
written from docs/upstream.md, not from the program. Times are seconds since 1970; what happens, happens at multiples of
STEP after the beginning, and the tests look MARGIN before or after that."""
import dataclasses
import datetime
import fnmatch
import json
import os
import random

from packaging.specifiers import SpecifierSet
from packaging.version import Version

import memberships
import merging
import pages
import storelib

STEP, MARGIN, HOUR = 1200, 300, 3600  # a clock that is set by more than an hour is doubted
NAMES, PROJECTS, VERSIONS, ODD = ("a", "b", "c"), ("aa", "bb", "cc-d"), ("1.0", "1.1", "2.0rc1", "2.0"), "odd"
PLATFORM, CONTACT = "p", "sec@example.org"
SPECIFIERS = ("", "==1.0", "==1", ">=1.1", "<2.0", "!=1.0", "==2.0rc1")
WORDS = {"LOW": 1, "MODERATE": 4, "HIGH": 7, "CRITICAL": 9}
THRESHOLD = {"medium": 4, "critical": 9}
RULES = ("deny", "block", "hold", "cooldown")  # in the order of precedence


def text_of(seconds):
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclasses.dataclass
class File:
    """A file that an upstream has, or had."""
    upstream: str
    project: str
    version: str
    wheel: storelib.Wheel
    told: int | None = None    # its upload time as the page says
    time: int | None = None    # the first one that was told
    seen: int | None = None    # when it was first seen here
    is_listed: bool = True

    @property
    def name(self):
        return self.wheel.name


@dataclasses.dataclass
class Upstream:
    index: merging.Index
    keys: dict                  # of its section, without lists
    is_redirect: bool
    deny: list                  # of pairs: project, specifier
    allow: list
    records: dict               # id: record
    lists: object = None


def has_version(specifier, version):
    """version of a file name; ODD is none, so that nothing says that a specifier does not have it."""
    return SpecifierSet(specifier).contains(version, prereleases=True)


def is_hit(affected, version):
    """What a record of the OSV database says of a version; each record has one that is none."""
    if version == ODD:
        return True
    if any(Version(one) == Version(version) for one in affected.get("versions", [])):
        return True
    for one in affected.get("ranges", []):
        begin, *end = one["events"]
        if Version(version) >= Version(begin["introduced"]) and not (end and Version(version) >= Version(end[0]["fixed"])):
            return True
    return not affected.get("versions") and not affected.get("ranges")


class World:
    """The random part, and the reference. base: when it begins."""

    def __init__(self, seed, folder, start, base):
        self.random, self.folder, self.base = random.Random(seed), folder, base
        self.wall = self.now = base  # the wall clock, and the time of offering
        self.is_doubted, self.number = False, 0
        self.files, self.ours, self.denied, self.holds, self.waivers, self.withdrawn = [], {}, [], {}, {}, set()
        self.max_age = self.random.choice((0, 0, HOUR))
        self.upstream = {name: self._upstream(start()) for name in self.random.sample(NAMES, self.random.randint(1, 3))}
        for name, project in ((name, project) for name in self.upstream for project in PROJECTS):
            if self.chance(0.8):
                for version in VERSIONS + (ODD,):
                    if self.chance(0.6 if version != ODD else 0.1):
                        self.add(name, project, version)
        for project in PROJECTS:
            for version in VERSIONS:
                if self.chance(0.2):
                    self.add_ours(project, version)
        storelib.make_wheel(folder / "store" / PLATFORM / "other", "other", "1.0")  # a platform without any file counts as away
        names, self.views = list(self.upstream), {}
        for i in range(3):
            some = self.random.sample(names, self.random.randint(1, len(names)))
            self.views[f"v{i}"] = (some, self.random.choice(("first", "together")))
        self.views["tested"] = self.views["v0"]
        self.members = {one for one in self.ours if self.chance(0.5)}
        memberships.append(folder / "store", "tested", [(PLATFORM, self.ours[one]) for one in sorted(self.members)],
                           made=text_of(base - 10 * 24 * HOUR))
        self.past = f"tested@{text_of(base - 5 * 24 * HOUR)[:10]}"
        self.views[self.past] = self.views["tested"]
        for name, one in self.upstream.items():
            page = json.dumps({"meta": {"api-version": "1.0"}, "projects": [
                {"name": project} for project in PROJECTS if project in one.index.pages]}).encode()
            one.index.fail("/simple/", lambda handler, _, page=page: (
                handler.start(200, page, Content_Type=pages.JSON), handler.wfile.write(page)))

    def chance(self, of):
        return self.random.random() < of

    def moment(self, first, last, since=None):
        """A random one, so many steps after the beginning, or after the last one before a time."""
        begin = self.base if since is None else self.base + (since - self.base) // STEP * STEP
        return begin + STEP * self.random.randint(first, last)

    def _upstream(self, index):
        found = Upstream(index, {}, self.chance(0.2), [], [], {})
        self.choose_keys(found)
        return found

    def choose_keys(self, one):
        """Those that a reload changes."""
        one.keys = {"cooldown": f"{STEP * self.random.choice((0, 3, 6, 9))}s"}
        if self.chance(0.3):
            one.keys["cooldown-exempt"] = self.random.choice(("bb", "c*", "aa bb"))
        if self.chance(0.5):
            one.keys["cooldown-unknown"] = self.random.choice(("hide", "allow", "first-seen"))
        if self.chance(0.5):
            one.keys["block-severity"] = self.random.choice(sorted(THRESHOLD))

    # --- what there is ---

    def _wheel(self, of, project, version):
        self.number += 1
        module = project.replace("-", "_")
        return storelib.make_wheel(self.folder / of, project, version, files={f"{module}.py": f"{of} {self.number}\n".encode()})

    def _tell(self, f):
        when = None if f.told is None else text_of(f.told)
        self.upstream[f.upstream].index.add(f.project, f.wheel, upload_time=when)
        f.is_listed = True

    def add(self, name, project, version):
        told = None if self.chance(0.2) else self.moment(-12, 3, self.wall)
        self.files.append(File(name, project, version, self._wheel(f"of-{name}", project, version), told))
        self._tell(self.files[-1])

    def add_ours(self, project, version):
        self.ours[project, version] = self._wheel(f"store/{PLATFORM}/{project}", project, version)

    def change_upstream(self):
        """A file comes, goes, comes back, or another time is told of it."""
        f = self.random.choice(self.files)
        has = {of.version for of in self.files if (of.upstream, of.project) == (f.upstream, f.project)}
        lacks = [one for one in VERSIONS if one not in has]
        how = self.random.choice(("new", "gone", "time"))
        if how == "time" and f.told is not None:
            f.told = self.random.choice((None, self.moment(-12, 3, self.wall)))
        if how == "new" and lacks:
            self.add(f.upstream, f.project, self.random.choice(lacks))
        elif how == "gone" and f.is_listed:
            index = self.upstream[f.upstream].index
            del index.pages[f.project][f.name]
            index.serial += 1
            f.is_listed = False
        else:
            self._tell(f)
        return f"{how} {f.upstream} {f.name}", f

    def change_lines(self, lines, project):
        """Of a list of packages: one comes, or one goes."""
        if lines and self.chance(0.4):
            lines.pop()
        else:
            lines.append((project, self.random.choice(SPECIFIERS)))

    def random_record(self):
        affected = self.random.choice(({}, {"versions": ["1.0"]}, {"versions": ["1.1.0", "2.0"]},
                                       {"ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "1.1"}]}]},
                                       {"ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "2.0rc1"}]}]}))
        more = {"database_specific": {"severity": self.random.choice(sorted(WORDS))}} if self.chance(0.5) else {}
        kind = "PYSEC" if more and affected else "MAL"  # one that is no malware and names no version says nothing
        return (f"{kind}-2026-{self.random.randint(1, 4)}", self.random.choice(PROJECTS), affected, more)

    def config(self):
        text = (f"[store]\npath = {self.folder / 'store'}\ndefault-view = v0\n[server]\ncontact = {CONTACT}\npage-max-age = 1h\n"
                f"deny = {self.folder}/deny.list\n[upstream]\nshared = *\nroot = all\nretries = 0\nmax-age = {self.max_age}\n")
        for name, one in self.upstream.items():
            text += (f"[upstream {name}]\nurl = {one.index.url}\nfiles = {'redirect' if one.is_redirect else 'proxy'}\n"
                     f"deny = {self.folder}/deny-{name}.list\nallow = {self.folder}/allow-{name}.list\nblock = {one.lists.folder}\n")
            text += "".join(f"{key} = {value}\n" for key, value in one.keys.items() if (key, value) != ("cooldown", "0s"))
        text += f"[platform {PLATFORM}]\n"
        for view, (some, indexes) in self.views.items():
            if view != self.past:
                text += f"[view {view}]\nplatforms = {PLATFORM}\nupstream = {' '.join(some)}\nindexes = {indexes}\n"
                text += "from = v0\n" if view == "tested" else ""
        return text

    def write_lists(self):
        for path, lines in [("deny", self.denied), *((f"deny-{name}", one.deny) for name, one in self.upstream.items()),
                            *((f"allow-{name}", one.allow) for name, one in self.upstream.items())]:
            text = "# none\n" + "".join(f"{project} {specifier} because\n" for project, specifier in lines)
            path = self.folder / f"{path}.list"
            if not path.exists() or path.read_text() != text:
                aside = path.with_suffix(".new")
                aside.write_text(text)
                os.replace(aside, path)

    # --- the clock ---

    def set_wall(self, wall):
        """The time of offering follows unless the clock is doubted, and never back."""
        self.is_doubted = self.is_doubted or abs(wall - self.wall) > HOUR
        self.wall = wall
        if not self.is_doubted:
            self.now = max(self.now, wall)
        self.end_waivers()

    def settle(self):
        self.is_doubted, self.now = False, self.wall
        self.end_waivers()

    def end_waivers(self):
        self.waivers = {name: one for name, one in self.waivers.items() if one["until"] >= self.now}

    def look(self):
        """The server asks for all pages."""
        for f in self.files:
            if f.is_listed and f.time is None and f.seen is None:
                f.time, f.seen = f.told, max(self.wall, self.now)

    # --- the reference ---

    def waives(self, f, record=None):
        return any(one["project"] == f.project and one["upstream"] in (None, f.upstream) and one["until"] >= self.now and
                   (one["version"] is None or f.version != ODD and Version(one["version"]) == Version(f.version)) and
                   (record is None or one["record"] == record) for one in self.waivers.values())

    def denies(self, lines, project, version):
        return any(of == project and (version == ODD or has_version(specifier, version)) for of, specifier in lines)

    def blocks(self, f):
        one = self.upstream[f.upstream]
        if any(of == f.project and (not specifier if f.version == ODD else has_version(specifier, f.version))
               for of, specifier in one.allow):
            return False
        least = THRESHOLD.get(one.keys.get("block-severity"))
        for name, (project, affected, more) in one.records.items():
            is_bad = name.startswith("MAL") or least and WORDS[more["database_specific"]["severity"]] >= least
            if project == f.project and is_bad and not more.get("withdrawn") and is_hit(affected, f.version) and not self.waives(f, name):
                return True
        return False

    def is_blocked(self, name, project):
        """Whether an upstream does not list a project, or all of its versions are denied, or malware that nothing lifts."""
        one = self.upstream[name]
        if project not in one.index.pages or (project, "") in self.denied + one.deny:
            return True
        is_lifted = any(of == project for of, _ in one.allow) or any(of["project"] == project for of in self.waivers.values())
        return not is_lifted and any(of == project and name.startswith("MAL") and not affected and "withdrawn" not in more
                                     for name, (of, affected, more) in one.records.items())

    def is_held(self, f):
        base = f.time or f.seen
        return any(upstream in (None, f.upstream) and base > after for after, upstream in self.holds.values())

    def until(self, f):
        """When it is of age; None: never."""
        keys = self.upstream[f.upstream].keys
        cooldown = int(keys["cooldown"][:-1])
        if any(fnmatch.fnmatchcase(f.project, glob) for glob in keys.get("cooldown-exempt", "").split()):
            cooldown = 0
        if f.time is None:
            how = keys.get("cooldown-unknown", "first-seen") if cooldown else "allow"
            return {"first-seen": f.seen + cooldown, "allow": 0, "hide": None}[how]
        has_hold = any(upstream in (None, f.upstream) for _, upstream in self.holds.values())
        return f.time + cooldown if cooldown or has_hold else 0

    def hides(self, f):
        """The rules that hide it, in the order of their precedence."""
        found, until, is_waived = [], self.until(f), self.waives(f)
        if self.denies(self.denied + self.upstream[f.upstream].deny, f.project, f.version):
            found.append("deny")
        if self.blocks(f):
            found.append("block")
        if not is_waived and self.is_held(f):
            found.append("hold")
        if not is_waived and (until is None or until > self.now):
            found.append("cooldown")
        return found

    def decides(self, view, project):
        """The files of upstreams that a view knows, by name: of two the first upstream's."""
        some, indexes = self.views[view]
        found = {}
        for name in some:
            if project not in self.upstream[name].index.pages:
                continue
            for f in self.files:
                if f.is_listed and (f.upstream, f.project) == (name, project):
                    found.setdefault(f.name, f)
            if indexes == "first":
                break
        return found

    def is_ours(self, view, project, version):
        is_of_view = not view.startswith("tested") or (project, version) in self.members
        return (project, version) in self.ours and is_of_view

    def page_of_ours(self, view, project):
        """{file name: (path, wheel)} of a page that merges nothing."""
        return {wheel.name: (f"/files/{PLATFORM}/{project}/{wheel.name}", wheel) for (of, version), wheel in self.ours.items()
                if of == project and of not in self.withdrawn and self.is_ours(view, of, version) and
                not self.denies(self.denied, of, version)}

    def page(self, view, project):
        """The same of one that does: upstream's file goes before ours."""
        theirs = {} if project in self.withdrawn else self.decides(view, project)
        return self.page_of_ours(view, project) | {
            name: (f"/files/upstream/{f.upstream}/{project}/{name}", f.wheel) for name, f in theirs.items() if not self.hides(f)}

    def is_known(self, view, project):
        """Whether it has a page, be it empty."""
        return any(project in self.upstream[name].index.pages for name in self.views[view][0]) or \
            any(self.is_ours(view, project, version) for version in VERSIONS)

    def next_change(self, view, project):
        """When the page changes by itself, within two hours; None: it does not."""
        now, page, found = self.now, self.page(view, project), None
        for moment in sorted({until for f in self.files if (until := self.until(f)) and now < until <= now + 2 * HOUR} |
                             {one["until"] + 1 for one in self.waivers.values()}):
            self.now = moment
            if found is None and self.page(view, project) != page:
                found = moment
        self.now = now
        return found

    def describe(self):
        """For a failure: the world in lines."""
        yield f"now {text_of(self.now)}, wall {text_of(self.wall)}, doubted {self.is_doubted}"
        yield f"withdrawn {self.withdrawn}, denied {self.denied}"
        yield f"views {self.views}, holds {self.holds}, waivers {self.waivers}"
        for name, one in self.upstream.items():
            yield f"{name}: {one.keys}, redirect {one.is_redirect}, deny {one.deny}, allow {one.allow}, records {one.records}"
        for f in self.files:
            until = self.until(f) and text_of(self.until(f))
            yield f"{f.upstream} {f.name}: told {f.told} time {f.time} seen {f.seen} listed {f.is_listed}, {self.hides(f)} until {until}"
