# SPDX-License-Identifier: Apache-2.0
"""Compares the verdicts of verdict-tool about random files, platforms and pages with a reference (reference.py). It
prints the smallest case that differs. VERDICT_SEEDS=5000-9000 tests other cases."""
import collections
import json
import subprocess
import sys

try:
    import packaging  # noqa: F401
except ImportError:
    print("no python3-packaging here")
    sys.exit(77)

import randomcase
import reference

TOOL = "tests/unit/oracle/verdict-tool"
MANY = 2000
SEEDS = randomcase.seeds("VERDICT_SEEDS", MANY)
SHOWN = 5
MUST_OCCUR = {  # at least this often in MANY seeds, or the generator makes too few cases
    "duplicate": 100, "superseded": 300, "pure": 3, "off-list": 15, "unusable": 30, "corrupt": 5, "not-asked": 100, "listed": 50,
    "pinned": 50, "no-profile": 10, "not-covered": 200, "sdist": 50, "too-young": 100, "downloaded": 10, "in-view": 10, "locked": 10, "upstream-absent": 10,
    "upstream-too-young": 50, "upstream-unknown": 50, "yanked-upstream": 20,
    "name-taken-over": 50}


def ask(cases):
    """Returns the answer of the tool for each case."""
    lines = "".join(json.dumps(case) + "\n" for case in cases)
    done = subprocess.run([TOOL], input=lines, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{TOOL}: {done.returncode} {done.stderr}")
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(cases), (len(answers), len(cases))
    return answers


def evidence_is_right(expected, found):
    """Whether the evidence of each covered environment is one of the files that cover it."""
    named = found["environments"]
    return named.keys() == expected.covers.keys() and all(named[env] in files for env, files in expected.covers.items())


def difference(expected, found):
    """Describes the difference; None: there is none."""
    want = [expected.verdict, expected.removes, expected.why]
    have = [found["verdict"], found["removes"], found["why"]]
    if have != want:
        return f"{have} instead of {want}: {found['reason']}"
    if expected.identical is not None and found["identical"] != expected.identical:
        return f"identical {found['identical']}"
    if expected.verdict in ("duplicate", "superseded") and not evidence_is_right(expected, found):
        return f"evidence {found['environments']} instead of {expected.covers}"
    if not found["reason"]:
        return "no reason"
    return None


def differences(case, answer):
    if "error" in answer:
        return [answer["error"]]
    assert [one["filename"] for one in answer["verdicts"]] == [one["filename"] for one in case["files"]]
    found = zip(case["files"], reference.decide(case), answer["verdicts"])
    return [f"{file['filename']}: {wrong}" for file, *pair in found if (wrong := difference(*pair))]


def show(seed, case):
    small = randomcase.shrink(case, lambda one: differences(one, *ask([one])))
    print(f"seed {seed}:", *differences(small, *ask([small])), sep="\n  ")
    print(json.dumps(small))


def main():
    cases = [randomcase.make(seed) for seed in SEEDS]
    wrong, counts = [], collections.Counter()
    for case, answer in zip(cases, ask(cases)):
        counts.update(verdict.why or verdict.verdict for verdict in reference.decide(case))
        if differences(case, answer):
            wrong.append(case)
    for case in wrong[:SHOWN]:
        show(SEEDS[cases.index(case)], case)
    print(f"{len(cases)} seeds, {counts.total()} files, {len(wrong)} seeds wrong: {dict(counts)}")
    assert not randomcase.lacking(counts, MUST_OCCUR, SEEDS, MANY), counts
    return 1 if wrong else 0


sys.exit(main())
