# SPDX-License-Identifier: Apache-2.0
"""What promotions must do, slow and obvious, with Python's packaging, written from the documents and not from the C code.
A world is a dict in the form that promotioncase.make() gives."""
import fnmatch

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

import reference


class Wrong(Exception):
    """The step is an error; the message has this text."""


def subject_of(one):
    return one["platform"], one["project"], one["version"], one["filename"]


class World:
    """listed: the files that the catalog lists. generations: the memberships of a view, from generation 0 on; a member is
    (platform, file name, SHA-256). records: in the order in which they came."""

    def __init__(self, case):
        self.views = {view["name"]: view for view in case["views"]}
        self.places = {place["name"]: place for place in case["platforms"]}
        self.listed = {(one["platform"], one["filename"]): one for one in case["files"]}
        self.known = dict(self.listed)  # unlisted ones too
        self.generations = {name: [frozenset()] for name in self.views}
        self.left = {name: set() for name in self.views}  # what a demotion or a rollback took out
        self.records = []
        self.lacking = {}  # of a promotion: all that a file lacks, each as its reason begins

    # --- what views show ---

    def platforms(self, view):
        """Of a view or of a platform."""
        if view not in self.views:
            return [view]
        return self.views[view]["platforms"] or self.platforms(self.views[view]["from"])

    def shown(self, view, platforms=None):
        """The files: of a name, that of the first platform which shows one. A view with a membership shows none of a name
        with other bytes."""
        found = {}
        has_members = view in self.views and self.views[view]["from"]
        for one in self.shown_each(view, platforms):
            found.setdefault(one["filename"], []).append(one)
        return [same[0] for same in found.values() if not has_members or len({one["sha256"] for one in same}) == 1]

    def shown_each(self, view, platforms=None):
        """As the address of each platform has them."""
        found = []
        for platform in platforms or self.platforms(view):
            for (place, filename), one in self.listed.items():
                is_member = view not in self.views or not self.views[view]["from"] or \
                    (place, filename, one["sha256"]) in self.generations[view][-1]
                if place == platform and is_member:
                    found.append(one)
        return found

    # --- evidence ---

    def arrive(self, record, views):
        """The same record that comes again only counts for more views."""
        for one in self.records:
            if one["record"] == record:
                one["views"] |= set(views.split())
                return
        self.records.append({"record": record, "views": set(views.split())})

    @staticmethod
    def age(record):
        """Of records that come at once the newest is last; of those of one second the worst."""
        return record["made"], record.get("failed", 0), record.get("skipped", 0), -record.get("passed", 0)

    def content(self, digest):
        """What the catalog knows of these bytes."""
        return next((one["content"] for one in self.known.values() if one["sha256"] == digest and one["content"]), None)

    def commit(self, digest, platform=None):
        """What the statements beside these bytes say, on the platform or on any, if they agree."""
        found = {one["commit"] for one in self.known.values() if one["sha256"] == digest and one["commit"]
                 and platform in (None, one["platform"])}
        return found.pop() if len(found) == 1 else None

    def tested(self, view, rule, cell, wheel):
        """(place, record, bytes, content, commit, name) of each wheel of the wheel's project in records that count for it."""
        for at, one in enumerate(self.records):
            record = one["record"]
            if record["kind"] != rule["kind"] or (record["platform"], record["python"]) != cell or \
                    not any(fnmatch.fnmatchcase(view, glob) for glob in one["views"]):
                continue
            for name, digest in record["wheels"].items():
                about = record.get("about", {}).get(name, {})
                if canonicalize_name(name.split("-")[0]) == canonicalize_name(wheel["project"]):
                    yield at, record, digest, about.get("content") or self.content(digest), \
                        about.get("commit") or self.commit(digest), name

    def others(self, view, rule, cell, wheel):
        """Those about other builds of the version. An override is about its bytes."""
        return [one for one in self.tested(view, rule, cell, wheel) if one[2] != wheel["sha256"] and "override" not in one[1]
                and Version(one[5].split("-")[1]) == Version(wheel["version"])]

    def newest(self, view, rule, cell, wheel):
        """(record, its bytes, what they are to the wheel) that counts for a wheel in a cell; None where there is none."""
        same = [one + ("same-bytes",) for one in self.tested(view, rule, cell, wheel) if one[2] == wheel["sha256"]]
        mine = self.content(wheel["sha256"])
        equal = [one + ("equal-contents",) for one in self.others(view, rule, cell, wheel) if mine and one[3] == mine]
        commit = self.commit(wheel["sha256"], wheel["platform"])
        built = [one + ("same-commit",) for one in self.others(view, rule, cell, wheel)
                 if rule.get("by") and commit and one[4] == commit]
        found = same + equal or built
        best = max(found, key=lambda one: (one[0], one[6] == "same-bytes"), default=None)
        first = best and max((one for one in found if one[0] == best[0] and one[6] == best[6]), key=lambda one: one[2])
        return first and (first[1], first[2], first[6])

    def nothing(self, view, rule, cell, wheel):
        """The words where no record counts."""
        others = self.others(view, rule, cell, wheel)
        is_named = any(one[5] == wheel["filename"] for one in others)
        what = "other bytes of this name" if is_named else "another build of this version"
        why = ""
        if rule.get("by") and not any(one[4] for one in others):
            why = f", but it names no commit of {'their' if is_named else 'its'} source"
        elif rule.get("by") and not self.commit(wheel["sha256"], wheel["platform"]):
            why = ", but no provenance of this wheel names the commit of its source"
        elif rule.get("by"):
            why = ", from another commit"
        told = others and (is_named or rule.get("by"))
        return f"no evidence of kind {rule['kind']}" + (f"; there is evidence for {what}{why}" if told else "")

    @staticmethod
    def suffices(record, rule, now):
        if record is None:
            return False
        record = record[0]
        if "override" in record:
            return True
        return record["failed"] == 0 and record["passed"] >= rule.get("min-tests", 1) and \
            record["skipped"] <= rule.get("max-skipped", 10**9) and now - min(record["made"], now) <= rule.get("max-age", 10**12)

    # --- one file ---

    def cells(self, view):
        if view["cells"]:
            return view["cells"]
        return [(platform, python) for platform in self.in_order(view) for python in self.places[platform].get("pythons", "").split()]

    def in_order(self, view):
        """The platforms of the view, in the order of its source."""
        own = self.platforms(view["name"])
        return [platform for platform in self.platforms(view["from"]) if platform in own]

    def installs(self, one, cell):
        platform, python = cell
        place = self.places[platform]
        name = reference.read_name(one["filename"])
        is_any = any(tag.platform == "any" for tag in name.tags)
        if not is_any and platform != one["platform"]:
            return False
        if "pythons" in place:
            env = reference.environment(python, place["arch"], place["libc"])
            fits = bool(name.tags & env.tags)
        else:  # nothing is known of its machines: only the Python counts
            env = reference.environment(python, "x86_64", "glibc 2.17")
            pairs = {(tag.interpreter, tag.abi) for tag in env.tags if is_any or tag.platform == "linux_x86_64"}
            fits = bool(name.tags & env.tags) if is_any else any((tag.interpreter, tag.abi) in pairs for tag in name.tags)
        micros = reference.admitted(one["requires-python"], env.version)
        return fits and (micros is None or bool(micros))

    def rank(self, one, cell):
        """How good the wheel is there for pip, the lower the better; None: it does not install, or that is not known."""
        platform, python = cell
        place = self.places[platform]
        if "pythons" not in place or not one["filename"].endswith(".whl") or reference.read_name(one["filename"]) is None:
            return None
        version, order = reference.ordered_tags(python, place["arch"], place["libc"])
        micros = reference.admitted(one["requires-python"], version)
        tags = reference.read_name(one["filename"]).tags
        ranks = [at for at, tag in enumerate(order) if tag in tags]
        return min(ranks) if ranks and (micros is None or micros) else None

    def elsewhere(self, view, one, present):
        """The cells of other platforms in which pip takes the wheel: no file of theirs is better, or has its name. It takes
        no yanked one."""
        if any(tag.platform == "any" for tag in reference.read_name(one["filename"]).tags):
            return []
        found = []
        for cell in map(tuple, self.cells(view)):
            rank = self.rank(one, cell)
            if cell[0] == one["platform"] or rank is None:
                continue
            theirs = [other for other in present if other["platform"] == cell[0] and other["project"] == one["project"]
                      and Version(other["version"]) == Version(one["version"])]
            if not any(other["filename"] == one["filename"] or
                       (not other["yanked"] and self.rank(other, cell) is not None and self.rank(other, cell) < rank)
                       for other in theirs):
                found.append(cell)
        return found

    def needed(self, view, one):
        if not one["filename"].endswith(".whl") or reference.read_name(one["filename"]) is None:
            return []
        return [cell for cell in self.cells(view) if self.installs(one, tuple(cell))]

    def lacks(self, view, one, now, present=None):
        """[(kind, cell)]; None: nothing can show that it works. present: the files that the view has, or would."""
        if not view["requires"]:
            return []
        needed = self.needed(view, one)
        if not needed:
            return None
        needed = needed + (self.elsewhere(view, one, present) if present is not None else [])
        return [(rule["kind"], tuple(cell)) for cell in needed for rule in view["requires"]
                if not self.suffices(self.newest(view["name"], rule, tuple(cell), one), rule, now)]

    def builds(self, view, one, present):
        """{(bytes, what they are to the wheel)} of the records about other builds on which it stands."""
        cells = [tuple(cell) for cell in self.needed(view, one)] + self.elsewhere(view, one, present)
        found = [self.newest(view["name"], rule, cell, one) for cell in cells for rule in view["requires"]]
        return {record[1:] for record in found if record and record[2] != "same-bytes"}

    def why_lacking(self, view, one, kind, cell):
        rule = next(rule for rule in view["requires"] if rule["kind"] == kind)
        why = "" if self.newest(view["name"], rule, cell, one) else self.nothing(view["name"], rule, cell, one)
        return f"{cell[0]}/{cell[1]}: {why}"

    def why_never(self, view, one):
        if not one["filename"].endswith(".whl"):
            return "it is no wheel"
        return "it installs in none" if self.cells(view) else "the view has no cells"

    def is_override(self, view, one, present):
        cells = [tuple(cell) for cell in self.cells(view) if view["requires"] and self.installs(one, tuple(cell))]
        cells += self.elsewhere(view, one, present) if cells else []
        found = [self.newest(view["name"], rule, cell, one) for cell in cells for rule in view["requires"]]
        return any(record is not None and "override" in record[0] for record in found)

    # --- steps ---

    @staticmethod
    def means(word, platform, project, version, filename):
        folder, slash, base = word.rpartition("/")
        if base.endswith((".whl", ".tar.gz", ".zip")):
            return base == filename and (not slash or folder == platform)
        name, equals, wanted = word.partition("==")
        if canonicalize_name(name) != canonicalize_name(project):
            return False
        try:
            return not equals or SpecifierSet(f"=={wanted}").contains(Version(version), prereleases=True)
        except InvalidSpecifier:
            return False

    def select(self, words, files):
        """files: (platform, project, version, file name, value)."""
        for word in words:
            if not any(self.means(word, *one[:4]) for one in files):
                raise Wrong(f"{word}: ")
        return [one[4] for one in files if not words or any(self.means(word, *one[:4]) for word in words)]

    def is_named(self, words, one):
        """Not only its project."""
        return any(self.means(word, *subject_of(one)) for word in words
                   if "==" in word or word.endswith((".whl", ".tar.gz", ".zip")))

    @staticmethod
    def check_form(words):
        """A word without any meaning is refused first of all, so that no record arrives with it."""
        for word in words:
            if " " in word:  # no platform has one
                raise Wrong(f"{word}: a path begins with a platform")

    def promote(self, step):
        self.check_form(step["select"])
        view = self.views[step["to"]]
        records = list(self.records), [set(one["views"]) for one in self.records]
        for record in sorted(step["evidence"], key=self.age):
            self.arrive(record, "*")
        try:
            return self.decide(view, step)
        finally:
            if step["dry"]:
                self.records = records[0]
                for one, views in zip(self.records, records[1]):
                    one["views"] = views

    def decide(self, view, step):
        """{(platform, file name): [result, is_override, what the reason begins with]}"""
        files = [(*subject_of(one), one)
                 for one in self.shown_each(view["from"], self.in_order(view))]
        chosen, rows, overrides = self.select(step["select"], files), {}, {}
        self.lacking = {}
        for one in chosen:
            key = (one["platform"], one["filename"])
            if (*key, one["sha256"]) in self.generations[view["name"]][-1]:
                rows[key] = ["already", False, ""]
            elif (*key, one["sha256"]) in self.left[view["name"]] and not self.is_named(step["select"], one):
                rows[key] = ["left", False, "it left in generation"]
            else:
                rows[key] = ["done", False, ""]
        judged = [one for one in chosen if rows[one["platform"], one["filename"]][0] == "done"]
        self.judge(view, step, rows, chosen, judged)
        for one in judged:
            row, present = rows[one["platform"], one["filename"]], self.present(view, step, rows, chosen)
            if row[0] == "done":
                lacks = self.lacks(view, one, step["now"], present)
                row[1] = bool(lacks) or self.is_override(view, one, present)
                builds = self.builds(view, one, present) if view["requires"] and not lacks else set()
                row.append(builds)
                row[2] = f"tested as {self.words(builds)}" if builds else ""
                for lack in lacks:
                    overrides.setdefault((*lack, one["sha256"]), {})[one["filename"]] = one["sha256"]
        self.mark_twins(rows, chosen)
        self.overtake(view, step, rows, chosen)
        if step["all"]:
            self.add_held_back(view, step, rows, chosen)
        self.hold(step, rows)
        if any(row[0] == "done" for row in rows.values()) and not step["dry"]:
            done = {(filename, self.listed[platform, filename]["sha256"]) for (platform, filename), row in rows.items()
                    if row[0] == "done"}
            for (kind, cell, _), wheels in overrides.items():
                wheels = {name: digest for name, digest in wheels.items() if (name, digest) in done}
                if wheels:
                    self.records.append({"views": {view["name"]}, "record": {
                        "kind": kind, "platform": cell[0], "python": cell[1], "override": step["override"], "wheels": wheels}})
            self.write(view["name"], step, rows)
        return rows

    def present(self, view, step, rows, chosen):
        """What the view has or would have, as far as a promotion sees it: of members, those of a selection."""
        found = [one for one in chosen if rows[one["platform"], one["filename"]][0] in ("done", "already")]
        return found + [one for one in self.shown_each(view["name"]) if step["select"]]

    def judge(self, view, step, rows, chosen, judged):
        """Refuses, until no refusal changes another file."""
        before = None
        while before != str(rows):
            before, present = str(rows), self.present(view, step, rows, chosen)
            for one in judged:
                row, lacks = rows[one["platform"], one["filename"]], self.lacks(view, one, step["now"], present)
                if row[0] == "done" and (lacks is None or (lacks and step["override"] is None)):
                    first = self.why_lacking(view, one, *lacks[0]) if lacks else self.why_never(view, one)
                    row[:] = ["refused", False, first]
        for one in judged:  # which of these the reason names depends on the order of the files
            lacks = self.lacks(view, one, step["now"], present) or []
            self.lacking[one["platform"], one["filename"]] = [self.why_lacking(view, one, *lack) for lack in lacks]

    @staticmethod
    def words(builds):
        is_weak = "same-commit" in {way for _, way in builds}
        return "another build from the same commit, SHA-256 " if is_weak else "equal contents, SHA-256 "

    @staticmethod
    def mark_twins(rows, chosen):
        """One name with other bytes on two platforms: only their own addresses have it."""
        there = [one for one in chosen if rows[one["platform"], one["filename"]][0] in ("done", "already")]
        for one in there:
            if any(other["filename"] == one["filename"] and other["sha256"] != one["sha256"] and
                   other["project"] == one["project"] for other in there):
                row = rows[one["platform"], one["filename"]]
                row[2] = row[2] or "only at /"

    def is_older(self, view, one, rows, chosen):
        """In each of its cells there is a newer version. A pre-release makes no final version older."""
        mine = Version(one["version"])
        newer = [other for other in chosen if rows[other["platform"], other["filename"]][0] in ("done", "already")
                 and other["project"] == one["project"] and Version(other["version"]) > mine
                 and (mine.is_prerelease or not Version(other["version"]).is_prerelease)]
        cells = self.needed(view, one)
        return all(any(cell in self.needed(view, other) for other in newer) for cell in cells) if cells else \
            any(other["platform"] == one["platform"] for other in newer)

    def overtake(self, view, step, rows, chosen):
        """What is refused and older fails nothing. With --all-or-nothing the rest of its version does not come, either, nor
        that of a version of which a file has left. The newest version is first."""
        for at in sorted({(Version(one["version"]), one["project"]) for one in chosen}, reverse=True):
            same = [(rows[one["platform"], one["filename"]], one) for one in chosen if (Version(one["version"]), one["project"]) == at]
            older = [self.is_older(view, one, rows, chosen) and not self.is_named(step["select"], one) for _, one in same]
            for (row, _), is_older in zip(same, older):
                if row[0] == "refused" and is_older:
                    row[0], row[2] = "overtaken", f"a newer version has overtaken it; {row[2]}"
            is_part = step["all"] and any(row[0] in ("left", "overtaken") for row, _ in same)
            for (row, _), is_older in zip(same, older):
                if row[0] == "done" and is_part:
                    row[:] = ["overtaken" if is_older else "held", row[1],
                              f"{'a newer version has overtaken it; ' if is_older else ''}another file of its version"]

    def add_held_back(self, view, step, rows, chosen):
        """A version is what the chain of views behind the source knows of it."""
        whole = {(one["project"], Version(one["version"])) for one in chosen
                 if rows[one["platform"], one["filename"]][0] == "done" or self.is_named(step["select"], one)}
        name, seen = view["from"], set(rows)
        while name in self.views and self.views[name]["from"]:
            before = self.views[name]["from"]
            for one in self.shown_each(before, [at for at in self.platforms(before) if at in self.in_order(view)]):
                key, words = (one["platform"], one["filename"]), step["select"]
                is_meant = not words or any(self.means(word, *subject_of(one)) for word in words)
                if (one["project"], Version(one["version"])) in whole and key not in seen and is_meant:
                    seen.add(key)
                    if self.lacks(self.views[name], one, step["now"]) is not None:
                        rows[key] = ["refused", False, f"view {name} has not taken it: "]
            name = before

    @staticmethod
    def hold(step, rows):
        if step["all"] and any(row[0] == "refused" for row in rows.values()):
            for row in rows.values():
                if row[0] == "done":
                    row[:] = ["held", row[1], "another file"]

    def write(self, name, step, rows):
        """A file with a tombstone on the disk goes again, in a further generation."""
        done = [key for key, row in rows.items() if row[0] == "done"]
        self.left[name] -= {(*key, self.listed[key]["sha256"]) for key in done}
        before = self.generations[name][-1]
        self.generations[name].append(before | {(*key, self.listed[key]["sha256"]) for key in done})
        for key in done:
            if self.listed[key]["pruned"]:
                rows[key][0], rows[key][2] = "refused", "it was pruned"
        if any(rows[key][0] == "refused" for key in done):
            self.hold(step, rows)
            stays = {(*key, self.listed[key]["sha256"]) for key in done if rows[key][0] == "done"}
            self.generations[name].append(before | stays)

    def demote(self, step):
        files = []
        for platform, filename, digest in self.generations[step["to"]][-1]:
            one = self.known[platform, filename]
            files.append((*subject_of(one), (platform, filename, digest)))
        if not step["select"]:
            raise Wrong("no PROJECT")
        self.check_form(step["select"])
        gone = set(self.select(step["select"], files))
        replaced = self.replaced(self.views[step["to"]], gone)
        rows = self.change(step["to"], self.generations[step["to"]][-1] - gone)
        for key in replaced:
            rows[key][2] = "pip takes "
        return rows

    def replaced(self, view, gone):
        """The files that go in whose place pip takes a member of another platform, although no tests of any age allow it."""
        there, found = self.shown_each(view["name"]), set()
        stay = [one for one in there if (one["platform"], one["filename"], one["sha256"]) not in gone]
        leave = sorted((one for one in there if one not in stay), key=lambda one: one["filename"])
        for one in stay:
            cells = self.elsewhere(view, one, stay) if self.needed(view, one) and not one["yanked"] else []
            for cell in cells:
                before = [other for other in leave if cell not in self.elsewhere(view, one, [other])]
                if before and not all(self.suffices(self.newest(view["name"], rule, cell, one), rule, 0) for rule in view["requires"]):
                    found.add((before[0]["platform"], before[0]["filename"]))
        return found

    def rollback(self, step):
        if step["generation"] >= len(self.generations[step["to"]]):
            raise Wrong("no generation")
        return self.change(step["to"], self.generations[step["to"]][step["generation"]])

    def change(self, name, members):
        before = self.generations[name][-1]
        rows = {one[:2]: ["done", False, "" if one[:2] in self.listed else "the store"] for one in members - before}
        rows |= {one[:2]: ["ended", False, ""] for one in before - members}
        if rows:
            self.generations[name].append(members)
        self.left[name] = (self.left[name] | (before - members)) - members
        return rows

    def take(self, step):
        """The rows of the step; the message of its error."""
        try:
            if step["do"] == "evidence":
                self.arrive(step["record"], step["views"])
            elif step["do"] == "unlist":
                self.listed.pop((step["platform"], step["filename"]), None)
            else:
                return {"promote": self.promote, "demote": self.demote, "rollback": self.rollback}[step["do"]](step)
        except Wrong as wrong:
            return str(wrong)
        return {}


def retention(case):
    """[(the files of a version by their index, decision, environment, end, is_warned)], the newest version first."""
    order = sorted({Version(one["version"]) for one in case["files"]}, reverse=True)
    of = {version: [at for at, one in enumerate(case["files"]) if Version(one["version"]) == version] for version in order}

    def serves(version, environment):
        return any(str(environment) in case["files"][at]["installs"] and not case["files"][at]["yanked"] for at in of[version])

    def last_in():
        """The newest version of each environment, and the newest final one, because pip takes that."""
        for environment in range(case["environments"]):
            for versions in (order, [one for one in order if not one.is_prerelease]):
                found = [version for version in versions if serves(version, environment)]
                if found:
                    yield found[0], environment

    last, rows = set(last_in()), []
    for place, version in enumerate(order):
        dates = [case["files"][at]["arrived"] for at in of[version]]
        end = max(dates) + case["keep-seconds"]
        environments = [environment for one, environment in last if one == version]
        row = ["ends", 0, 0, False]
        if not case["keep-versions"] and not case["keep-seconds"]:
            row[0] = "no-rule"
        elif place < case["keep-versions"]:
            row[0] = "newest"
        elif environments:
            row[:2] = ["last", environments]
        elif any(case["files"][at]["wanted"] for at in of[version]):
            row[0] = "wanted"
        elif case["keep-seconds"] and 0 in dates:
            row[0] = "undated"
        elif case["keep-seconds"] and case["now"] < end:
            row = ["young", 0, end, end - case["now"] <= case["warn-seconds"]]
        rows.append((of[version], *row))
    return rows
