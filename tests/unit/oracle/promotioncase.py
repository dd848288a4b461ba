# SPDX-License-Identifier: Apache-2.0
"""Random worlds of promotions: platforms, wheels, views with rules, records of test runs in any order, and steps. The same
seed gives the same world. Platforms, views and bytes have the seed in their names, so that all fit into one catalog.
Also random versions of a project for retention."""
import copy
import hashlib
import json

import randomcase

DAY = randomcase.DAY
KINDS = ["integration", "unit"]
VERSIONS = [["1.0", "1", "1.0.0"], ["1.0+local"], ["1.0rc1", "1.0c1"], ["2.0"], ["10.0"], ["1!0.5"], ["1.0.post1"]]
MORE_PYTHONS = ["3.11", "3.12", "3.13t"]
COMMITS = ["a" * 40, "b" * 64]  # of the sources
MARGIN = 3600  # seconds between an age and its limit


def platforms_of(dice, seed):
    found = []
    for letter in "abc"[:dice.choice([1, 2, 2, 3])]:
        place = {"name": f"w{seed}{letter}"}
        if found and dice.maybe(0.4):  # wheels of one install on the other
            place = found[-1] | place
        elif not dice.maybe(0.08):
            pythons = dice.sample(["3.9", "3.10", "3.11", "3.12", "3.13t", "pp310"], dice.choice([1, 1, 2, 3]))
            place |= {"pythons": " ".join(sorted(pythons)), "arch": dice.choice(randomcase.ARCHES),
                      "libc": dice.choice(randomcase.LIBCS)}
        found.append(place)
    return found


def sha256(*words):
    return hashlib.sha256(repr(words).encode()).hexdigest()


def file_name(dice, place, project, version):
    if dice.maybe(0.07):
        return f"{project}-{version}.tar.gz"
    if dice.maybe(0.35):
        return f"{project}-{version}-{dice.choice(['py3-none-any', 'py3-none-any', 'py2.py3-none-any', 'cp312-none-any', 'py2-none-any'])}.whl"
    return f"{project}-{version}-{randomcase.tag_set(dice, place)}.whl"


def files_of(dice, seed, places):
    """Some are the same file, or one of the same name with other bytes, on several platforms."""
    found = {}
    for letter in "xy"[:dice.choice([1, 2])]:
        versions = [dice.choice(group) for group in dice.sample(VERSIONS, dice.choice([1, 2, 3]))]
        for place in places:
            for _ in range(dice.choice([1, 2, 3])):
                version = dice.choice(versions)
                name = file_name(dice, place, f"p{seed}{letter}", version)
                found[place["name"], name] = version
        for other in dice.some(list(found), 2):
            found.setdefault((dice.choice(places)["name"], other[1]), found[other])
    return [{"platform": platform, "project": filename.split("-")[0], "version": version, "filename": filename,
             "sha256": sha256(seed, filename, platform if dice.maybe(0.4) else ""),
             "content": sha256(filename, "content", dice.choice(["", "", "", platform])) if dice.maybe(0.9) else None,
             "commit": dice.choice([None, *COMMITS, COMMITS[0]]),
             "requires-python": dice.choice([None] * 6 + randomcase.REQUIRES), "pruned": dice.maybe(0.04),
             "yanked": dice.maybe(0.1)}
            for (platform, filename), version in found.items()]


def same_bytes_are_alike(files):
    """What is known of bytes is known wherever they are."""
    first = {}
    for one in files:
        one["content"] = first.setdefault(one["sha256"], one)["content"] if one["filename"].endswith(".whl") else None
    return files


def rules_of(dice):
    if dice.maybe(0.12):
        return []
    rules = []
    for kind in dice.sample(KINDS, dice.choice([1, 1, 2])):
        rule = {"kind": kind}
        if dice.maybe(0.3):
            rule["min-tests"] = dice.choice([1, 5, 100])
        if dice.maybe(0.3):
            rule["max-skipped"] = dice.choice([0, 5])
        if dice.maybe(0.3):
            rule["max-age"] = dice.choice([2, 7]) * DAY
        if dice.maybe(0.3):
            rule["by"] = "version"
        rules.append(rule)
    return rules


def pythons_of(place):
    return place.get("pythons", "3.12").split()


def view_of(dice, name, source, places):
    """A view with `from`. cells: [] for those of the platforms."""
    chosen = dice.sample(places, dice.randint(1, len(places))) if dice.maybe(0.3) else list(places)
    rules = rules_of(dice)
    all_cells = [(place["name"], python) for place in chosen for python in dict.fromkeys(pythons_of(place) + MORE_PYTHONS)]
    cells = dice.sample(all_cells, min(len(all_cells), dice.choice([1, 2, 3]))) if rules and dice.maybe(0.5) else []
    return {"name": name, "from": source, "platforms": [place["name"] for place in chosen] if chosen != places else [],
            "requires": rules, "cells": cells}, chosen


def views_of(dice, seed, places):
    order = dice.sample(places, len(places))
    staging = {"name": f"staging-{seed}", "from": None, "platforms": [place["name"] for place in order], "requires": [], "cells": []}
    source, known = (places[0]["name"], places[:1]) if dice.maybe(0.08) else (staging["name"], order)
    tested, known = view_of(dice, f"tested-{seed}", source, known)
    released, _ = view_of(dice, f"released-{seed}", tested["name"], known)
    return [staging, tested, released]


def misnamed(dice, wheels):
    """Gives some of the bytes the file name of another version or project."""
    names, found = list(wheels), dict(wheels)
    for name in dice.some(names, 2):
        project, _, rest = name.split("-", 2)
        other = dice.choice([f"{project.upper()}-77-{rest}", f"other-77-{rest}", dice.choice(names)])
        found[other] = found.pop(name, wheels[name])
    return found


def rebuilt(dice, wheels, files):
    """The same names with other bytes, and what the record says of them."""
    named = {one["filename"]: one for one in files}
    again, about = {}, {}
    for name, digest in wheels.items():
        one = named.get(name)
        again[name] = sha256(digest, "again", dice.choice([1, 2]))
        about[name] = {"content": dice.choice([one and one["content"], one and one["content"], None, sha256(digest, "else")]),
                       "commit": dice.choice([one and one["commit"], one and one["commit"], None, *COMMITS])}
    return again, about


def record_of(dice, now, kind, cell, files, *, is_good=False):
    """A record about some wheels, as evidence_read() has it. Its numbers are near the limits."""
    ago = dice.choice([0, 0, 0, 1, 2 * DAY - MARGIN, 2 * DAY + MARGIN, 7 * DAY + MARGIN, -3 * DAY])
    failed, skipped = dice.choice([0, 0, 0, 1]), dice.choice([0, 0, 0, 5, 6])
    passed = dice.choice([0, 4, 5, 7, 100, 100, 120])
    if is_good:
        ago, failed, skipped, passed = 0, 0, 0, dice.choice([100, 101])
    wheels = {one["filename"]: one["sha256"] for one in files if one["filename"].endswith(".whl")}
    if dice.maybe(0.08):
        wheels = misnamed(dice, wheels)
    wheels, about = rebuilt(dice, wheels, files) if dice.maybe(0.25) else (wheels, {})
    return {"kind": kind, "platform": cell[0], "python": cell[1], "made": now - ago, "passed": passed, "failed": failed,
            "skipped": skipped, "wheels": wheels, "about": about}


def green_records(dice, now, world, view):
    """Records of all wheels in the cells of a view; some may be missing or red."""
    files = [one for one in world["files"] if one["filename"].endswith(".whl")]
    places = {place["name"]: place for place in world["platforms"]}
    cells = view["cells"] or [(name, python) for name in places for python in pythons_of(places[name])]
    luck = dice.choice([0.6, 0.9, 1.0, 1.0])
    return [record_of(dice, now, rule["kind"], cell, files, is_good=dice.maybe(0.97)) for rule in view["requires"]
            for cell in cells if dice.maybe(luck)] if files else []


def words_of(dice, world):
    """Usually none, or words that mean something."""
    if dice.maybe(0.75) or not world["files"]:
        return []
    found = []
    for _ in range(dice.choice([1, 1, 2])):
        one = dice.choice(world["files"])
        project = dice.choice([one["project"], one["project"].upper()])
        found.append(dice.choice([project, f"{project}=={dice.choice(dice.choice(VERSIONS))}", one["filename"],
                                  f"{one['platform']}/{one['filename']}", f"{project}=={one['version']}"]))
    if dice.maybe(0.06):
        found.append(dice.choice(["nothing-1-py3-none-any.whl", "nothing", f"{world['files'][0]['project']}==77",
                                  f"a folder/{world['files'][0]['filename']}",
                                  f"{dice.choice(world['platforms'])['name']}/{world['files'][0]['filename']}"]))
    return found


def promotion(dice, now, world, at):
    view = dice.choice(world["views"][1:])
    step = {"do": "promote", "to": view["name"], "select": words_of(dice, world), "evidence": [], "now": now,
            "override": f"reason {at}" if dice.maybe(0.12) else None, "all": dice.maybe(0.15), "dry": dice.maybe(0.12)}
    if dice.maybe(0.4):
        earlier = [one["record"] for one in world["steps"] if one["do"] == "evidence"]
        wheels = [one for one in world["files"] if one["filename"].endswith(".whl")]
        step["evidence"] = green_records(dice, now, world, view)[:20] + dice.some(earlier, 4)
        step["evidence"] += [record_of(dice, now, one["kind"], (one["platform"], one["python"]), wheels) for one in dice.some(step["evidence"], 2)]
        step["dry"] |= dice.maybe(0.3)
        dice.shuffle(step["evidence"])
    return step


def step_of(dice, now, world, at):
    view = dice.choice(world["views"][1:])
    kind = dice.choice(["evidence"] * 3 + ["green"] * 4 + ["promote"] * 7 + ["demote", "rollback", "rollback", "unlist", "again"])
    earlier = [step for step in world["steps"] if step["do"] == "evidence"]
    if kind == "evidence" and any(one["filename"].endswith(".whl") for one in world["files"]):
        wheels = [one for one in world["files"] if one["filename"].endswith(".whl")]
        place = dice.choice(world["platforms"])
        cell = dice.choice(view["cells"] or [(place["name"], dice.choice(pythons_of(place)))])
        return [{"do": "evidence", "views": dice.choice(["*", "*", "tested-*", f"x {view['name']}", "released-* other", "other"]),
                 "record": record_of(dice, now, dice.choice(KINDS), cell, dice.sample(wheels, dice.randint(1, len(wheels))))}]
    if kind == "green":
        return [{"do": "evidence", "views": "*", "record": one} for one in green_records(dice, now, world, view)]
    if kind == "again" and earlier:
        return [dice.choice(earlier) | {"views": dice.choice(["*", "tested-*", "released-*", "other"])}]
    if kind == "demote" and world["files"]:
        return [{"do": "demote", "to": view["name"], "select": words_of(dice, world) or [dice.choice(world["files"])["project"]]}]
    if kind == "rollback":
        return [{"do": "rollback", "to": view["name"], "generation": dice.choice([0, 1, 1, 1, 2, 2, 3])}]
    if kind == "unlist" and world["files"]:
        one = dice.choice(world["files"])
        return [{"do": "unlist", "platform": one["platform"], "filename": one["filename"]}]
    return [promotion(dice, now, world, at)]


def cover_leaves(dice, now, world):
    """All gets in, by an override where tests lack, and then a wheel leaves that another platform has a version of, too."""
    native = [one for one in world["files"] if one["filename"].endswith(".whl") and "-any." not in one["filename"]]
    chosen = [one for one in native if any(other["platform"] != one["platform"] and other["version"] == one["version"] and
                                           other["project"] == one["project"] for other in native)]
    if not chosen:
        return []
    one, to = dice.choice(chosen), world["views"][1]["name"]
    return [promotion(dice, now, world, "cover") | {"to": to, "select": [], "override": "reason", "all": False, "dry": False},
            {"do": "demote", "to": to, "select": [f"{one['platform']}/{one['filename']}"]}]


def make(seed, now):
    """A world in the form that promotionreference.decide() has. now: seconds since 1970; the clock of the program."""
    dice = randomcase.Dice(seed, now=now)
    places = platforms_of(dice, seed)
    world = {"seed": seed, "platforms": places, "files": same_bytes_are_alike(files_of(dice, seed, places)), "views": views_of(dice, seed, places), "steps": []}
    for view in world["views"][1:] if dice.maybe(0.7) else []:
        world["steps"] += [{"do": "evidence", "views": "*", "record": one} for one in green_records(dice, now, world, view)]
    world["steps"].append(promotion(dice, now, world, "first") | {"to": world["views"][1]["name"]})
    for at in range(dice.choice([3, 5, 8, 12])):
        world["steps"] += step_of(dice, now, world, at)
    world["steps"] += cover_leaves(dice, now, world) if dice.maybe(0.4) else []
    return world


# --- retention ---

# As text many of them sort wrong.
NIGHTLY = ["0.9", "1.0.dev9", "1.0.dev10", "1.0.dev20261120", "1.0a2", "1.0rc1", "1.0rc10", "1.0", "1.0+cu9", "1.0+cu10", "1.0.post1", "1.9",
           "1.10.dev3+g0abc", "1.10", "2.0.dev99", "2.0.dev100", "10.0", "2024.2", "1!0.1"]


def retention(seed):
    dice = randomcase.Dice(seed)
    environments = dice.choice([0, 1, 2, 3, 70])
    rules = {"keep-versions": dice.choice([0, 0, 1, 2, 3, 5]), "keep-seconds": dice.choice([0, 0, DAY, 30 * DAY]),
             "warn-seconds": dice.choice([0, DAY, 7 * DAY])}
    files = []
    for version in dice.sample(NIGHTLY, dice.randint(0, len(NIGHTLY))):
        for text in [version] + ([f"{version}.0" if version in ("1.0", "1.9", "10.0") else version] if dice.maybe(0.3) else []):
            ago = dice.choice([0, dice.around(DAY), dice.around(30 * DAY), dice.around(29 * DAY), dice.around(23 * DAY), 400 * DAY, -DAY])
            installs = dice.some(list(range(environments)), dice.choice([0, 1, 2, environments]))
            files.append({"version": text, "arrived": 0 if dice.maybe(0.06) else dice.now - ago, "installs": [str(one) for one in installs],
                          "yanked": dice.maybe(0.1), "wanted": dice.maybe(0.08)})
    dice.shuffle(files)
    return {"seed": seed, "environments": environments, "now": dice.now, **rules, "files": files}


# --- smaller worlds ---

def _without(world, key, at):
    other = copy.deepcopy(world)
    del other[key][at]
    return other


def _smaller(world):
    """Variants with one part removed."""
    for key in ("steps", "files"):
        for at in range(len(world[key])):
            if key == "steps" or all(world["files"][at]["filename"] not in json.dumps(step) for step in world["steps"]):
                yield _without(world, key, at)


def shrink(world, is_wrong):
    """Removes what does not matter while the world differs."""
    changed = True
    while changed:
        changed = False
        for other in _smaller(world):
            if is_wrong(other):
                world, changed = other, True
                break
    return world

