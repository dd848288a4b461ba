# SPDX-License-Identifier: Apache-2.0
"""Random cases of what is missing: platforms, branches with their files, a store, pages of upstream, earlier attempts.
The same seed gives the same case. Projects have the seed in their names, so that all cases fit into one catalog."""
import copy
import json
import re

from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

import randomcase
import reference

DAY = randomcase.DAY
# Some spellings of a version, then some other versions. Equal versions have one normal form where attempts name it.
VERSIONS = [["1.0", "01.0"], ["2.0"], ["1.0+cu128"], ["2.0rc1", "2.0_rc_1"], ["1.0.post1"], ["3.0.dev1"], ["1!0.5"], ["10.0"]]
IS_NEWEST = hasattr(SpecifierSet, "to_range")  # packaging 26
EQUAL = [["1.0", "1", "1.0.0"], ["2.0", "2"]] if IS_NEWEST else [["1.0"], ["2.0"]]  # "===1" equals "===1.0" in older ones
FAILURES = ["refused", "timeout", "429", "not-a-page", "never-asked", "quarantined", "404", "absent"]
MARKERS = [
    "python_version < '3.12'", "python_version >= '3.10'", "python_full_version >= '3.11.4'", "python_full_version < '3.12.2'",
    "python_version in '3.9 3.11'", "sys_platform == 'linux'", "os_name == 'nt'", "platform_machine == 'aarch64'",
    "platform_machine == 'x86_64'", "implementation_name == 'pypy'", "platform_python_implementation == 'CPython'",
    "extra == 'x'", "extra != 'x'"]
if IS_NEWEST:  # older ones cannot compare an empty version
    MARKERS += ["platform_release >= '20'", "implementation_version < '3.11.4'"]
REASONS = ["broken", "a second reason, <b>"]


def spelled(dice, project):
    return dice.choice([project, project, project.upper(), project.replace("-", "_"), project.replace("-", ".")])


def marker(dice):
    text = dice.choice(MARKERS)
    if dice.maybe(0.25):
        text = f"{text} {dice.choice(['and', 'or'])} {dice.choice(MARKERS)}"
    if dice.maybe(0.15):
        text = f"({text}) {dice.choice(['and', 'or'])} {dice.choice(MARKERS)}"
    return text


def specifier(dice, versions, pinned):
    """pinned: how often it is a pin."""
    version = dice.choice(versions)
    public = version.partition("+")[0]
    pins = [f"=={version}", f"==={Version(version)}", f"=={public}", f"==={version if IS_NEWEST else Version(version)}"]
    ranges = ["", "", "", f">={public}", f">={public}", f"<={public}", f"!={version}", f">{public}", "~=1.0", "==1.*", ">=1.0rc1",
              ">=0.dev0", f"=={public},>=0", ">=1,!=2", "<3", "===nonsense", "!=2.0rc1", "!=3.0.dev1"]
    return dice.choice(pins if dice.maybe(pinned) else ranges)


def line(dice, project, versions, is_constraint):
    """A line of a requirements or constraints file."""
    name = spelled(dice, project)
    if dice.maybe(0.02):
        return f"{name} @ https://files.example/{project}.whl\n"
    if not is_constraint and dice.maybe(0.1):
        name += dice.choice(["[x]", "[x,y-z]", " [x]"])
    wanted = specifier(dice, versions, 0.5 if is_constraint else 0.2)
    if is_constraint and dice.maybe(0.5):
        wanted = f"==={Version(dice.choice(versions))}"
    text = name + dice.choice(["", " "]) + wanted
    if dice.maybe(0.35):
        text += dice.choice([";", " ; "]) + marker(dice)
    if dice.maybe(0.1):
        text += dice.choice([" --hash=sha256:" + "0" * 64, " \\\n  --hash=sha256:" + "1" * 64])
    return text + dice.choice(["", "", "  # a reason"]) + "\n"


def text_of_file(dice, projects, is_constraint):
    lines = []
    for project, versions in projects.items():
        for _ in range(dice.choice([0, 1, 1, 1, 1, 2] if is_constraint else [0, 1, 1, 1])):
            lines.append(line(dice, project, versions, is_constraint))
    dice.shuffle(lines)
    if dice.maybe(0.1):
        lines.insert(0, dice.choice(["--pre\n", "-i https://index.example/simple\n", "# a comment\n", "\n"]))
    return "".join(lines)


def branch(dice, at, seed, projects, place, texts):
    """A branch that wants something: its files have a requirement or a pin."""
    folder = f"{seed}/{at}"
    given = {"name": f"stable-{at}" if at else "master", "constraints": [], "requirements": [], "platforms": [], "pythons": [],
             "until": dice.choice([None] * 8 + [2, -2])}
    project, versions = dice.choice(list(projects.items()))
    pin = f"{project}=={dice.choice(versions)}\n"
    kind = dice.choice(["constraints", "constraints", "both", "requirements", "requirements", "included"])
    if kind != "requirements":
        texts[f"{folder}/c.txt"] = text_of_file(dice, projects, True) + pin
    if kind in ("constraints", "both"):
        given["constraints"].append(f"{folder}/c.txt")
    if kind != "constraints":
        texts[f"{folder}/r.txt"] = text_of_file(dice, projects, False) + spelled(dice, project) + "\n"
        texts[f"{folder}/r.txt"] += "-c c.txt\n" if kind == "included" else ""
        given["requirements"].append(f"{folder}/r.txt")
    if dice.maybe(0.15):
        texts[f"{folder}/more.txt"] = text_of_file(dice, projects, True) + pin
        texts[given["constraints" if given["constraints"] else "requirements"][0]] += dice.choice(["-c more.txt\n", "-r more.txt\n"])
    if dice.maybe(0.15):
        given["platforms"] = [dice.choice(["ubuntu-*", "*-x86_64", place["name"]])]
    if dice.maybe(0.15):
        given["pythons"] = dice.some(place["pythons"].split() + ["3.7"], 2)
    return given


def installs(filename, place):
    name = reference.read_name(filename)
    return name.tags is None or any(name.tags & reference.environment(python, place["arch"], place["libc"]).tags
                                    for python in place["pythons"].split())


def filename(dice, place, project, versions):
    version = dice.choice(versions)
    name = spelled(dice, project).replace("-", "_")
    if dice.maybe(0.3):
        return f"{name}-{version.replace('_', '.')}" + dice.choice([".tar.gz", ".tar.gz", ".zip"])
    if dice.maybe(0.2):
        return f"{name}-{version}-{dice.choice(['py3-none-any', 'py2.py3-none-any', 'py3-none-any', 'cp312-none-any'])}.whl"
    for _ in range(4):
        found = f"{name}-{version}-{randomcase.tag_set(dice, place)}.whl"
        if installs(found, place):
            break
    return found


def requires(dice):
    return dice.choice([None] * 4 + [dice.choice(randomcase.REQUIRES), dice.choice([">=3.11.4", "<3.12.2"])])


def files_of(dice, places, project, versions):
    found = {}
    for place in places:
        for _ in range(dice.choice([0, 0, 1, 1, 2, 3])):
            name = filename(dice, place, project, versions)
            found[place["name"], name] = {"platform": place["name"], "filename": name, "requires-python": requires(dice),
                                          "yanked": dice.choice(REASONS) if dice.maybe(0.12) else None}
    if dice.maybe(0.15):
        for one in found.values():
            one["yanked"] = "all are"
    return list(found.values())


def removed_of(dice, places, project, versions):
    place = dice.choice(places)
    return [{"platform": place["name"], "filename": filename(dice, place, project, versions), "requires-python": requires(dice),
             "yanked": None, "reason": dice.choice(REASONS),
             "by": dice.choice([None, None, "retired", "expired", "superseded"]), "has-file": dice.maybe(0.5)}] if dice.maybe(0.12) else []


def upstream_of(dice, places, project, versions):
    if dice.maybe(0.2):
        return {"result": dice.choice(FAILURES)}
    names = [filename(dice, dice.choice(places), project, versions) for _ in range(dice.choice([0, 0, 1, 2, 4]))]
    if dice.maybe(0.8):
        names.append(f"{spelled(dice, project)}-{dice.choice(versions).replace('_', '.')}.tar.gz")
    files = {}
    for name in names:
        files[name] = randomcase.upstream_file(dice, name, requires(dice), randomcase.sha256(dice))
    if dice.maybe(0.15):
        for one in files.values():
            one["yanked"] = dice.choice([True, "all are"])
    return {"result": "known", "files": list(files.values())}


def sdists_of(dice, project, versions):
    """A page of sdists alone: what branches want is missing."""
    names = {f"{spelled(dice, project)}-{version.replace('_', '.')}.tar.gz" for version in versions}
    return {"result": "known", "files": [randomcase.upstream_file(dice, name, None, randomcase.sha256(dice)) for name in sorted(names)]}


def attempts_of(dice, places, project, versions, others, at):
    """Attempts an hour apart, the newest last. None began about when a retry is due, and no two at the same time."""
    place = dice.choice(places)
    python = dice.choice(place["pythons"].split())
    age = dice.choice([0.2, 0.2, 0.4, 0.7, 1.5, 2.2, 2.8, 4, 6, 9, 40]) * DAY
    count = dice.choice([1, 1, 2, 3, 5])
    return [{"platform": place["name"], "python": python, "project": project, "version": version, "result": dice.choice(["ok"] + ["failed", "timed-out", "crashed", "test-failed"] * 2),
             "age": age + 3600 * n + 60 * at, "recipe": dice.choice("aaab"),
             "awaiting": dice.some(others, 3) if dice.maybe(0.7) else []}
            for version in sorted({str(Version(one)) for one in versions}) for n in range(count, 0, -1)]


def list_line(dice, project):
    wanted = dice.choice(["", "", " ==1.0", " >=1.0,<2", " >=2", " !=1.0"])
    return f"{spelled(dice, project)}{wanted}{dice.choice(['', '', ' platform=ubuntu-*', ' platform=*-x86_64'])} its reason\n"


def build_of(dice, projects):
    names = list(projects)
    return {"packages": "".join(list_line(dice, dice.choice(names)) for _ in range(2)) if dice.maybe(0.1) else None,
            "skip": list_line(dice, dice.choice(names)) if dice.maybe(0.15) else None,
            "retries": dice.choice([0, 1, 3, 3]), "retry-after": dice.choice([[DAY, 3 * DAY, 7 * DAY], [DAY], [5 * DAY, DAY]])}


def places_of(dice):
    found = {}
    for _ in range(dice.choice([1, 1, 1, 2])):
        place = randomcase.platform_of(dice)
        if "pythons" in place:
            place["pythons"] = " ".join(place["pythons"].split()[:3])
            found.setdefault(place["name"], place)
    return list(found.values()) or [{"name": "ubuntu-22.04-x86_64", "pythons": "3.11", "arch": "x86_64", "libc": "glibc 2.35"}]


def options_of(dice, places, projects):
    place = dice.choice(places)
    return {"branch": dice.choice([None] * 12 + ["master", "stable-*", "*"]),
            "platform": dice.choice([[]] * 8 + [[place["name"]], ["*-x86_64", "ubuntu-*"]]),
            "python": dice.choice([None] * 8 + [place["pythons"].split()[0]]),
            "project": dice.choice([None] * 8 + list(projects)), "pure": dice.maybe(0.2), "all": dice.maybe(0.7)}


def make(seed):
    """A case in the form that missingreference.decide() has."""
    dice = randomcase.Dice(seed)
    places, projects, texts, has_equal = places_of(dice), {}, {}, False
    for at in range(dice.choice([1, 2, 2, 3, 3])):
        is_equal = dice.maybe(0.15)
        groups = [dice.choice(EQUAL)] if is_equal else dice.sample(VERSIONS, dice.choice([1, 1, 1, 2, 3]))
        has_equal = has_equal or is_equal
        projects[canonicalize_name(f"p{seed}-{'abc'[at]}")] = [version for group in groups for version in group]
    branches = [branch(dice, at, seed, projects, dice.choice(places), texts) for at in range(dice.choice([1, 1, 2]))]
    case = {"seed": seed, "platforms": places, "branches": branches, "texts": texts, "projects": projects,
            "build": build_of(dice, projects),
            "rules": {"private": [], "local-only": []}, "files": [], "removed": [], "upstream": {}, "attempts": [],
            "options": options_of(dice, places, projects), "has-equal": has_equal}
    is_chain = dice.maybe(0.12)  # of projects that await each other
    for project, versions in projects.items():
        case["files"] += [] if is_chain else files_of(dice, places, project, versions)
        case["removed"] += removed_of(dice, places, project, versions)
        case["upstream"][project] = sdists_of(dice, project, versions) if is_chain else \
            upstream_of(dice, places, project, versions)
        if len({str(Version(version)) for version in versions}) == len({Version(version) for version in versions}):
            for at in range(dice.choice([0, 1, 1]) + is_chain):
                case["attempts"] += attempts_of(dice, places, project, versions, [*projects, "elsewhere"], at)
        for rule in case["rules"]:
            if dice.maybe(0.04):
                case["rules"][rule].append(dice.choice([project, project + "*"]))
    names = {(one["platform"], one["filename"]) for one in case["files"]}
    case["removed"] = [one for one in case["removed"] if (one["platform"], one["filename"]) not in names]
    return case


def page_of(project, files):
    return json.dumps({"meta": {"api-version": "1.1"}, "name": project, "files": files})


def _remove_platform(case, at):
    name = case["platforms"].pop(at)["name"]
    for key in ("files", "removed", "attempts"):
        case[key] = [one for one in case[key] if one["platform"] != name]


def _smaller(case):
    """Variants of the case, each with one part removed."""
    def changed(change):
        other = copy.deepcopy(case)
        change(other)
        return other

    for at in range(len(case["platforms"]) if len(case["platforms"]) > 1 else 0):
        yield changed(lambda one, at=at: _remove_platform(one, at))
    for at in range(len(case["branches"]) if len(case["branches"]) > 1 else 0):
        yield changed(lambda one, at=at: one["branches"].pop(at))
    for key in ("files", "removed", "attempts"):
        for at in range(len(case[key])):
            yield changed(lambda one, key=key, at=at: one[key].pop(at))
    for project, answer in case["upstream"].items():
        for at in range(len(answer.get("files", []))):
            yield changed(lambda one, project=project, at=at: one["upstream"][project]["files"].pop(at))
    for at, file in enumerate(case["files"]):
        for key in ("requires-python", "yanked"):
            if file[key] is not None:
                yield changed(lambda one, at=at, key=key: one["files"][at].update({key: None}))
    for name, text in case["texts"].items():
        lines = re.findall(r"(?:.*\\\n)*.*\n", text)
        for at in range(len(lines)):
            less = "".join(lines[:at] + lines[at + 1:])
            if less:
                yield changed(lambda one, name=name, less=less: one["texts"].update({name: less}))
    for at, place in enumerate(case["platforms"]):
        pythons = place["pythons"].split()
        for python in pythons if len(pythons) > 1 else []:
            less = " ".join(one for one in pythons if one != python)
            yield changed(lambda one, at=at, less=less: one["platforms"][at].update(pythons=less))
    for key, nothing in (("branch", None), ("platform", []), ("python", None), ("project", None), ("pure", False)):
        if case["options"][key] != nothing:
            yield changed(lambda one, key=key, nothing=nothing: one["options"].update({key: nothing}))
    for key in ("packages", "skip"):
        if case["build"][key]:
            yield changed(lambda one, key=key: one["build"].update({key: None}))


def shrink(case, is_wrong):
    """Removes parts of the case as long as it still fails."""
    while True:
        smaller = next(filter(is_wrong, _smaller(case)), None)
        if smaller is None:
            return case
        case = smaller
