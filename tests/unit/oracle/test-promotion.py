# SPDX-License-Identifier: Apache-2.0
"""Compares what promotion-tool does in random worlds with a reference (promotionreference.py): promotions, demotions and
rollbacks, in the catalog and in files of a store; and which versions a view keeps. It prints the smallest world that
differs. PROMOTION_SEEDS=5000-9000 tests other worlds."""
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

try:
    from packaging.version import Version
except ImportError:
    print("no python3-packaging here")
    sys.exit(77)

import promotioncase
import promotionreference
import randomcase

TOOL = pathlib.Path("tests/unit/oracle/promotion-tool").absolute()
MANY = 1000
SEEDS = randomcase.seeds("PROMOTION_SEEDS", MANY)
SHOWN = 3
DECISIONS = ["no-rule", "newest", "young", "undated", "last", "wanted", "ends"]
MUST_OCCUR = {  # at least this often in MANY seeds, or the generator makes too few worlds
    "done": 1500, "already": 800, "refused": 3000, "held": 120, "ended": 200, "left": 60, "overtaken": 150, "override": 100,
    "error": 200, "pruned": 60, "done in released": 300, "newest": 1000, "young": 1000, "undated": 150, "last": 500,
    "wanted": 200, "ends": 1000, "warned": 300, "twin": 200, "elsewhere": 20, "rest of a version": 10, "replaced": 1,
    "equal-contents": 200, "same-commit": 60, "for other bytes of this name": 250, "for another build of this version": 2,
    "from another commit": 5, "names no commit of": 5, "no provenance of this wheel": 5}


def config_of(world):
    """The rows of the configuration: section, key, value."""
    rows = [["store", "path", "store"]]
    for place in world["platforms"]:
        rows += [[f"platform {place['name']}", key, place[key]] for key in ("pythons", "arch", "libc") if key in place]
        rows += [[f"platform {place['name']}", "private", "no"]] if "pythons" not in place else []
    for view in world["views"]:
        section = f"view {view['name']}"
        rows += [[section, "platforms", " ".join(view["platforms"])]] if view["platforms"] else []
        rows += [[section, "from", view["from"]]] if view["from"] else []
        rows += [[section, "requires", " ".join(map(rule_text, view["requires"]))]] if view["requires"] else []
        rows += [[section, "cells", " ".join(map("/".join, view["cells"]))]] if view["cells"] else []
    return rows


def rule_text(rule):
    settings = [f"{key}={value}s" if key == "max-age" else f"{key}={value}" for key, value in rule.items() if key != "kind"]
    return ":".join([rule["kind"], *settings])


def record_text(record):
    """As evidence_read() has it."""
    made = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(record["made"]))
    about = record.get("about", {})
    wheels = [{"filename": name, "sha256": digest, "content_sha256": about.get(name, {}).get("content"),
               "commit": about.get(name, {}).get("commit")} for name, digest in record["wheels"].items()]
    return json.dumps(record | {"made": made, "wheels": wheels, "failures": []})


def statement(one):
    if not one["commit"]:
        return None
    return json.dumps({
        "_type": "https://in-toto.io/Statement/v1", "predicateType": "https://slsa.dev/provenance/v1",
        "subject": [{"name": one["filename"], "digest": {"sha256": one["sha256"]}}],
        "predicate": {"buildDefinition": {"resolvedDependencies": [
            {"uri": "git+https://example.org/six", "digest": {"gitCommit": one["commit"]}}]}}})


def step_of(step):
    if step["do"] == "evidence":
        return step | {"record": record_text(step["record"])}
    return step | {"evidence": [record_text(one) for one in step["evidence"]]} if "evidence" in step else step


def line_of(world):
    """The world as promotion-tool has it. Newer versions come no earlier than older ones, if a second ends meanwhile."""
    files = sorted(world["files"], key=lambda one: Version(one["version"]))
    files = [one | {"statement": statement(one)} for one in files]
    return json.dumps({"config": config_of(world), "views": [view["name"] for view in world["views"]], "files": files,
                       "steps": [step_of(step) for step in world["steps"]]}) + "\n"


def ask(lines, worlds=()):
    """Returns the answer of the tool for each line."""
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
        store = pathlib.Path(folder) / "store"
        for world in worlds:
            for place in world["platforms"]:
                (store / place["name"]).mkdir(parents=True)
            for one in world["files"]:
                if one["pruned"]:
                    (store / one["platform"] / f"{one['filename']}.pruned").write_text("{}", encoding="utf-8")
        done = subprocess.run([TOOL, "catalog"], input="".join(lines), capture_output=True, text=True, cwd=folder)
    if done.returncode:
        sys.exit(f"{TOOL}: {done.returncode} {done.stderr}")
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(lines), (len(answers), len(lines))
    return answers


OVERTAKEN = "a newer version has overtaken it; "


def begins(reason, begin, lacking):
    """lacking: further reasons, of which the program may name any."""
    before = OVERTAKEN if begin.startswith(OVERTAKEN) else ""
    return reason.startswith((begin, *(before + one for one in lacking))) and bool(reason) == bool(begin)


def step_differences(expected, found, lacking):
    if isinstance(expected, str):
        return [] if expected in found.get("error", "") else [f"{found} instead of the error {expected}"]
    if "error" in found:
        return [f"error {found['error']} instead of {expected}"]
    rows = {(row[0], row[1]): row[2:] for row in found["rows"]}
    wrong = [f"{key}: in one of the answers only" for key in rows.keys() ^ expected.keys()]
    for key in rows.keys() & expected.keys():
        (result, reason, override, tested), (wanted, is_override, begin, *builds) = rows[key], expected[key]
        found = {(one["sha256"], one["as"]) for one in tested} if result == "done" else set()
        others = lacking.get(key, ()) if wanted in ("refused", "overtaken") else ()
        if result != wanted or not begins(reason, begin, others) or bool(override) != is_override or \
                found != (builds[0] if builds and wanted == "done" else set()):
            wrong.append(f"{key}: {rows[key]} instead of {expected[key]}")
    return wrong


def differences(world, answer, counts=None):
    """Up to the first step that differs."""
    if "error" in answer:
        return [answer["error"]]
    reference = promotionreference.World(world)
    for at, (step, found) in enumerate(zip(world["steps"], answer["steps"])):
        expected = reference.take(step)
        wrong = step_differences(expected, found, reference.lacking)
        for view in found["shown"]:
            shown = sorted([one["platform"], one["filename"]] for one in reference.shown(view))
            if shown != sorted(found["shown"][view]):
                wrong.append(f"{view} shows {found['shown'][view]} instead of {shown}")
        if step["do"] in ("promote", "demote", "rollback") and isinstance(expected, dict) and \
                found.get("generation") != len(reference.generations[step["to"]]) - 1:
            wrong.append(f"generation {found.get('generation')} instead of {len(reference.generations[step['to']]) - 1}")
        if wrong:
            return [f"step {at}, {step}", *wrong]
        if counts is not None:
            count(counts, step, expected)
    return []


def count(counts, step, expected):
    if isinstance(expected, str):
        counts["error"] += 1
        return
    for (platform, filename), (result, is_override, begin, *builds) in expected.items():
        for way in {way for one in builds for _, way in one}:
            counts[way] += 1
        for words in ("for other bytes of this name", "for another build of this version", "from another commit",
                      "names no commit of", "no provenance of this wheel"):
            counts[words] += words in begin
        counts["twin"] += begin == "only at /"
        counts["replaced"] += begin == "pip takes "
        counts["rest of a version"] += "another file of its version" in begin
        counts["elsewhere"] += result == "refused" and "-any." not in filename and ": " in begin and "/" in begin and \
            not begin.startswith(f"{platform}/")
        counts[result] += 1
        counts["override"] += is_override
        counts["pruned"] += begin == "it was pruned"
        counts["done in released"] += step["do"] == "promote" and step["to"].startswith("released") and result == "done"


def ask_worlds(worlds):
    return ask([line_of(world) for world in worlds], worlds)


def show(world):
    small = promotioncase.shrink(world, lambda one: differences(one, *ask_worlds([one])))
    print("made small:", *differences(small, *ask_worlds([small])), sep="\n  ")
    print(json.dumps(small))


def retention_differences(case, answer, counts):
    at, files = 0, answer["files"]
    for indices, decision, environments, ends, is_warned in promotionreference.retention(case):
        part, at = files[at:at + len(indices)], at + len(indices)
        counts[decision] += 1
        counts["warned"] += is_warned
        if sorted(one["index"] for one in part) != indices:
            yield f"{part} instead of the files {indices}"
        arrived = [case["files"][one["index"]]["arrived"] for one in part]
        if arrived != sorted(arrived, reverse=True):
            yield f"{part}: not the newest arrival first"
        for one in part:
            found = DECISIONS[one["decision"]], one["ends"], one["warned"]
            if found != (decision, ends, is_warned) or (environments and one["environment"] not in environments):
                yield f"{found}, {one['environment']} instead of {decision, ends, is_warned}, {environments}"


def compare_retention(counts):
    cases = [promotioncase.retention(seed) for seed in SEEDS]
    answers = ask([json.dumps({"retention": case}) + "\n" for case in cases])
    wrong = [(case, found) for case, answer in zip(cases, answers) if (found := list(retention_differences(case, answer, counts)))]
    for case, found in wrong[:SHOWN]:
        print(f"retention, seed {case['seed']}:", *found, json.dumps(case), sep="\n  ")
    return len(wrong)


def main():
    now, counts = int(time.time()), collections.Counter()
    worlds = [promotioncase.make(seed, now) for seed in SEEDS]
    wrong = [(world, found) for world, answer in zip(worlds, ask_worlds(worlds)) if (found := differences(world, answer, counts))]
    for world, found in wrong[:SHOWN]:
        print(f"seed {world['seed']}:", *found, sep="\n  ")
        show(world)
    wrong_retentions = compare_retention(counts)
    print(f"{len(worlds)} seeds, {len(wrong)} worlds and {wrong_retentions} retentions wrong: {dict(counts)}")
    assert not randomcase.lacking(counts, MUST_OCCUR, SEEDS, MANY), counts
    return 1 if wrong or wrong_retentions else 0


sys.exit(main())
