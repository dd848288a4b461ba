# SPDX-License-Identifier: Apache-2.0
"""The matrix of a project: slow and obvious, with Python's packaging, written from builder/missing/project-matrix.h and
wheelcache(1), and not from the C code. A case is one of missingcase.py, a question one of its "matrices"."""
import fnmatch

from packaging.version import Version

import missingreference
import reference

GREEN = ("ours", "covered", "upstream")


def upstreams(case, project):
    """Whether it is known what upstream has, and its offers."""
    rules = case["rules"]
    if any(fnmatch.fnmatchcase(project, glob) for glob in rules["private"] + rules["local-only"]):
        return True, []
    answer = case["upstream"].get(project, {"result": "never-asked"})
    files = answer["files"] if answer["result"] == "known" else []
    found = [missingreference.offer_of(file, project, None) for file in files]
    return answer["result"] in missingreference.CERTAIN, [one for one in found if one]


class Matrix:
    def __init__(self, case, question):
        self.case, self.question, self.project = case, question, question["project"]
        files = [file for file in case["files"] if missingreference.offer_of(file, self.project, file["platform"])]
        self.ours = [missingreference.offer_of(file, self.project, file["platform"]) for file in files]
        self.is_known, self.theirs = upstreams(case, self.project)
        self.version, self.before = self.choose()
        self.cells = [self.cell(place, python) for place in case["platforms"] for python in place["pythons"].split()]
        if not self.of_version(self.version) and not any(self.attempts(place["name"], python) for place in case["platforms"]
                                                         for python in place["pythons"].split()):
            self.version, self.before, self.cells = None, None, []

    def of_version(self, version):
        return [one for one in self.ours + self.theirs if one.version == version]

    def choose(self):
        """pip takes pre-releases, and yanked files, only where there is nothing else."""
        files = self.ours or self.theirs
        versions = sorted({one.version for one in files}, reverse=True)

        def is_yanked(version):
            return all(one.is_yanked for one in files if one.version == version)

        def rank(version):
            return is_yanked(version), version.is_prerelease

        wanted = self.question["version"]
        chosen = Version(wanted) if wanted else min(versions, key=rank, default=None)
        with_wheel = [one for one in versions if not is_yanked(one) and any(
            file.version == one and file.tags is not None and (file.platform or not file.is_yanked) for file in files)]
        before = [one for one in with_wheel if chosen is not None and one < chosen
                  and (chosen.is_prerelease or not one.is_prerelease)]
        return chosen, before[0] if before else None

    def wheels(self, version, place, python, takes_yanked):
        """The states that wheels of the version give the cell."""
        env = reference.environment(python, place["arch"], place["libc"])
        for one in self.of_version(version):
            if one.platform is None and self.question["unmerged"]:
                continue  # a client of this index does not get it
            is_near = one.platform in (None, place["name"]) or self.question["together"]
            if one.tags is None or not is_near or not one.micros(env) or one.is_yanked and not (takes_yanked and one.platform):
                continue
            is_own = one.platform == place["name"] and not one.is_pure and not any(tag.abi == "abi3" for tag in one.tags)
            yield ("upstream" if one.platform is None else "ours" if is_own else "covered"), one.filename

    def attempts(self, platform, python):
        """Of the version, the newest first."""
        found = [one for one in self.case["attempts"] if self.version is not None and Version(one["version"]) == self.version and
                 (one["platform"], one["python"], one["project"]) == (platform, python, self.project)]
        return sorted(found, key=lambda one: -one["begun"])

    def is_excluded(self, place, python, takes_yanked):
        env = reference.environment(python, place["arch"], place["libc"])
        files = [one for one in self.of_version(self.version) if takes_yanked or not one.is_yanked]
        return bool(files) and not any(missingreference.micros_admitted(one.requires, env.version) for one in files)

    def is_only_upstreams(self, place, python):
        env = reference.environment(python, place["arch"], place["libc"])
        return any(one.platform is None and one.tags is not None and one.micros(env) and not one.is_yanked
                   for one in self.of_version(self.version))

    def cell(self, place, python):
        """Platform, Python, state, the files that may give it, lost."""
        ours = [one for one in self.ours if one.version == self.version]
        takes_yanked = bool(ours) and all(one.is_yanked for one in ours)
        found = list(self.wheels(self.version, place, python, takes_yanked))
        attempts = self.attempts(place["name"], python)
        state = min((state for state, _ in found), key=GREEN.index, default=None)
        if state is None:
            state = ("excluded" if self.is_excluded(place, python, takes_yanked)
                     else "failed" if attempts and attempts[0]["result"] != "ok"
                     else "unmerged" if self.is_only_upstreams(place, python) else "missing" if self.is_known else "unknown")
        before = self.before is not None and any(self.wheels(self.before, place, python, False))
        names = {name for one, name in found if one == state}
        return place["name"], python, state, names, before and state not in GREEN


def differences(case, question, answer):
    matrix = Matrix(case, question)
    for key, wanted in (("version", matrix.version), ("before", matrix.before)):
        text = answer[key]
        if (Version(text) if text is not None else None) != wanted:
            yield f"{question}: {key} {text} instead of {wanted}"
            return
    found = [(one["platform"], one["python"], one["state"], one["filename"], one["lost"]) for one in answer["cells"]]
    if len(found) != len(matrix.cells):
        yield f"{question}: {len(found)} cells instead of {len(matrix.cells)}"
        return
    for one, wanted in zip(found, matrix.cells):
        if one[:3] + one[4:] != wanted[:3] + wanted[4:] or (one[3] not in wanted[3] if wanted[3] else one[3] is not None):
            yield f"{question}: {one} instead of {wanted}"


def questions(case):
    """About each project, as it is and about one of its versions."""
    for at, (project, versions) in enumerate(sorted(case["projects"].items())):
        yield {"project": project, "version": None, "together": at % 2 == 0, "unmerged": at % 3 == 0}
        yield {"project": project, "version": str(Version(versions[at % len(versions)])), "together": at % 2 == 1,
               "unmerged": at % 3 == 1}
