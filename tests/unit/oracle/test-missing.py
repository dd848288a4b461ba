# SPDX-License-Identifier: Apache-2.0
"""Compares what missing-tool finds missing in random branches, stores and pages of upstream with a reference
(missingreference.py), and the matrices of their projects with another (matrixreference.py). It prints the smallest case that differs. MISSING_SEEDS=5000-9000 tests other cases."""
import collections
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

try:
    from packaging.utils import canonicalize_version
except ImportError:
    print("no python3-packaging here")
    sys.exit(77)

import matrixreference
import missingcase
import missingreference
import randomcase

TOOL = pathlib.Path("tests/unit/oracle/missing-tool").absolute()
MANY = 1000
SEEDS = randomcase.seeds("MISSING_SEEDS", MANY)
SHOWN = 5
MUST_OCCUR = {  # at least this often in MANY seeds, or the generator makes too few cases
    "here": 400, "upstream": 150, "missing": 300, "skipped": 200, "unknown": 100, "impossible": 300, "pure": 20,
    "not-wanted": 100, "failed": 50, "awaiting": 8,
    "cell ours": 300, "cell covered": 300, "cell upstream": 100, "cell failed": 50, "cell missing": 300, "cell unknown": 100,
    "cell excluded": 30, "cell unmerged": 50, "cell lost": 100}


def config_of(case):
    """The rows of the configuration: section, key, value."""
    rows = [["store", "path", "store"]]
    for place in case["platforms"]:
        rows += [[f"platform {place['name']}", key, place[key]] for key in ("pythons", "arch", "libc")]
    for one in case["branches"]:
        section = f"branch {one['name']}"
        rows += [[section, key, " ".join(one[key])] for key in ("constraints", "requirements", "platforms", "pythons") if one[key]]
        if one["until"] is not None:
            today = datetime.datetime.now(datetime.timezone.utc).date()
            rows.append([section, "until", str(today + datetime.timedelta(days=one["until"]))])
    rows += [["build", key, f"{case['seed']}/{key}"] for key in ("packages", "skip") if case["build"][key]]
    rows.append(["build", "retries", str(case["build"]["retries"])])
    rows.append(["build", "retry-after", " ".join(map(str, case["build"]["retry-after"]))])
    rows += [["upstream", key, " ".join(names)] for key, names in case["rules"].items() if names]
    return rows


def upstream_of(case):
    for project, answer in case["upstream"].items():
        page = {"page": missingcase.page_of(project, answer["files"])} if answer["result"] == "known" else {}
        yield {"project": project, "result": answer["result"], **page}


def line_of(case):
    """The case as missing-tool has it."""
    attempts = [{**one, "recipe": one["recipe"] * 64, "awaiting": " ".join(one["awaiting"])} for one in case["attempts"]]
    return json.dumps({"config": config_of(case), "files": case["files"], "removed": case["removed"],
                       "upstream": list(upstream_of(case)), "attempts": attempts, "options": case["options"],
                       "matrices": list(matrixreference.questions(case))}) + "\n"


def ask(cases):
    """Returns the answer of the tool for each case."""
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
        top = pathlib.Path(folder)
        for case in cases:
            texts = {**case["texts"], **{f"{case['seed']}/{key}": case["build"][key] for key in ("packages", "skip")}}
            for name, text in texts.items():
                path = top / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text or "", encoding="utf-8")
            for place in case["platforms"]:
                (top / "store" / place["name"]).mkdir(parents=True, exist_ok=True)
        done = subprocess.run([TOOL, "catalog", "results"], input="".join(map(line_of, cases)), capture_output=True,
                              text=True, cwd=top)
    if done.returncode:
        sys.exit(f"{TOOL}: {done.returncode} {done.stderr}")
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(cases), (len(answers), len(cases))
    return answers


def key_of(platform, python, project, version, status):
    """Equal versions have equal keys. A version may be any text, or None."""
    return platform, python, project, canonicalize_version(str(version)), status


def difference(expected, found, micros):
    """Describes how a row differs; None: it does not."""
    if found["branches"] != expected.branches:
        return f"branches {found['branches']} instead of {expected.branches}"
    if int(micros, 16) != expected.micros:
        return f"micros {micros} instead of {expected.micros:x}"
    if expected.status in ("here", "upstream") and found["why"].partition(" (on ")[0] not in expected.wheels:
        return f"why {found['why']}, not one of {expected.wheels}"
    sdist = (found["sdist"] or {}).get("filename")
    if expected.status in ("missing", "failed", "awaiting") and sdist not in expected.sdists:
        return f"sdist {sdist}, not one of {expected.sdists}"
    return None if found["why"] else "no why"


def join_spellings(answer):
    """Joins rows whose versions are equal and have other texts. "===" tells them apart; the reference does not."""
    order, joined = [one["name"] for one in answer["branches"]], {}
    for row, micros in zip(answer["rows"], answer["micros"]):
        text = row["version"]
        key = key_of(*(row[name] for name in ("platform", "python", "project", "version", "status")))
        other = joined.get(key)
        if other and text is not None and other[0]["version"] != text:
            names = {*row["branches"], *other[0]["branches"]}
            joined[key] = ({**row, "branches": sorted(names, key=order.index)}, f"{int(micros, 16) | int(other[1], 16):x}")
        elif other:
            joined[*key, len(joined)] = row, micros
        else:
            joined[key] = row, micros
    answer["rows"], answer["micros"] = [row for row, _ in joined.values()], [micros for _, micros in joined.values()]


def row_differences(expected, answer):
    """Rows of one key, such as impossible ones without a version, are compared in the order of their branches."""
    wanted, found = collections.defaultdict(list), collections.defaultdict(list)
    join_spellings(answer)
    for row in expected:
        wanted[key_of(row.platform, row.python, row.project, row.version, row.status)].append(row)
    for row, micros in zip(answer["rows"], answer["micros"]):
        found[key_of(*(row[key] for key in ("platform", "python", "project", "version", "status")))].append((row, micros))
    for key in sorted(wanted.keys() | found.keys()):
        if len(wanted[key]) != len(found[key]):
            yield f"{key}: {len(found[key])} rows instead of {len(wanted[key])}"
            continue
        pairs = zip(sorted(wanted[key], key=lambda row: (row.branches, row.micros)),
                    sorted(found[key], key=lambda one: (one[0]["branches"], int(one[1], 16))))
        yield from (f"{key}: {wrong}" for row, (other, micros) in pairs if (wrong := difference(row, other, micros)))


def differences(case, answer):
    try:
        places, rows, totals = missingreference.decide(case, time.time())
    except missingreference.Nothing:
        is_right = re.match("no branch has such|no .branch. is named", answer.get("error", ""))
        return [] if is_right else [f"{answer} instead of an error"]
    if "error" in answer:
        return [answer["error"]]
    wrong = list(row_differences(rows, answer))
    if [(one["platform"], one["python"]) for one in answer["environments"]] != places:
        wrong.append(f"environments {answer['environments']} instead of {places}")
    found = {name: count for name, count in answer["totals"].items() if count}
    if found != dict(totals) and not case["has-equal"]:
        wrong.append(f"totals {answer['totals']} instead of {dict(totals)}")
    for question, matrix in zip(matrixreference.questions(case), answer["matrices"], strict=True):
        wrong += matrixreference.differences(case, question, matrix)
    return wrong


def show(case):
    small = missingcase.shrink(case, lambda one: differences(one, *ask([one])))
    print("made small:", *differences(small, *ask([small])), sep="\n  ")
    print(json.dumps(small))


def main():
    cases = [missingcase.make(seed) for seed in SEEDS]
    now = int(time.time())
    for case in cases:
        for one in case["attempts"]:
            one["begun"] = now - int(one["age"])
    wrong, counts = [], collections.Counter()
    for case, answer in zip(cases, ask(cases)):
        counts.update(answer.get("totals", {}))
        cells = [cell for matrix in answer.get("matrices", []) for cell in matrix["cells"]]
        counts.update(f"cell {cell['state']}" for cell in cells)
        counts["cell lost"] += sum(cell["lost"] for cell in cells)
        if found := differences(case, answer):
            wrong.append((case, found))
    for case, first in wrong[:SHOWN]:
        print(f"seed {case['seed']}:", *first, sep="\n  ")
        show(case)
    print(f"{len(cases)} seeds, {counts.total()} rows, {len(wrong)} seeds wrong: {dict(counts)}")
    assert not randomcase.lacking(counts, MUST_OCCUR, SEEDS, MANY), counts
    return 1 if wrong else 0


sys.exit(main())
