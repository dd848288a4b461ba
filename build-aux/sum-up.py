#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Adds up automake's .trs files and pytest's reports: why tests failed, which, and "N passed, N failed[, N skipped]" as
the last line. The line before it says why tests were skipped.

Ends with 1 where something failed or nothing ran. A phase that failed without a failed test (it did not build)
counts as one failure.

A test that failed, but passed when it was repeated alone (its report is NAME.again.xml beside NAME.xml), has passed, and
is told as "unsteady". With --to-repeat it prints which those are that may be repeated: few, for else something is
broken, and none where a sanitizer has told something or the program has died, which no second time makes untrue.
"""
import argparse
import collections
import dataclasses
import pathlib
import re
import sys
import xml.etree.ElementTree as ET

KIND = {"PASS": "passed", "XFAIL": "passed", "SKIP": "skipped"}
MOST_REPEATED = 3  # of a report
WHY_LINES = 25  # of a failure
ALL_LINES = 150  # of all failures
MOST_REASONS, LONGEST_REASON = 6, 200  # why tests were skipped
FINAL = re.compile(r"(Address|Leak|Memory|Thread|UndefinedBehavior)Sanitizer|runtime error:|Assertion `|exit code -?\d")


@dataclasses.dataclass
class Result:
    kind: str
    why: str = ""  # it failed, or was skipped


def automake(folder):
    """The name and result of each test that `make check` ran below folder."""
    for path in sorted(folder.glob("tests/**/*.trs")):
        log = path.with_suffix(".log")
        for result in re.findall(r"^:test-result: (\w+)", path.read_text(), re.M):
            kind = KIND.get(result, "failed")
            why = log.read_text(errors="replace") if kind == "failed" and log.exists() else ""
            yield f"{folder.name}: {path.stem}", Result(kind, why)


def read(report):
    """The result of each case in a junit report, by its class and name. A case that failed and could not be cleaned up
    either is there twice."""
    results = {}
    for case in ET.parse(report).iter("testcase") if report.exists() else ():
        whys = [f"{one.get('message', '')}\n{one.text or ''}" for one in case if one.tag in ("failure", "error")]
        skipped = case.find("skipped")
        kind = "failed" if whys else "skipped" if skipped is not None else "passed"
        if kind == "skipped":
            whys = [skipped.get("message") or ""]
        name = case.get("classname"), case.get("name")
        if name in results and results[name].kind == "failed":
            kind, whys = "failed", [results[name].why, *whys]
        results[name] = Result(kind, "\n".join(whys))
    return results


def to_repeat(results):
    """The names of those that failed; none where one of them is final, or there are too many."""
    failed = {name: result for name, result in results.items() if result.kind == "failed"}
    if len(failed) > MOST_REPEATED or any(FINAL.search(result.why) or not name[0] for name, result in failed.items()):
        return []
    return list(failed)


def pytest(report):
    """The name and result of each case in a report, held against that of the repetition."""
    results = read(report)
    again = read(report.with_suffix(".again.xml"))
    for name in to_repeat(results):
        if name in again and again[name].kind == "passed":
            results[name].kind = "unsteady"
    for name, result in results.items():
        yield f"{report.stem}: {name[0]}::{name[1]}", result


def excerpt(why):
    """What pytest marks as the error, from its beginning, and the end; else the end."""
    lines = why.rstrip().splitlines()
    begin = next((number for number, line in enumerate(lines) if line.startswith("E  ")), None)
    if begin is None or len(lines) - begin <= WHY_LINES:
        return lines[-WHY_LINES:]
    half = WHY_LINES // 2
    return [*lines[begin:begin + half], "…", *lines[-half:]]


def tell(troubles):
    """Why each of them failed, then all names: the last lines are what is seen first."""
    room = ALL_LINES
    for name, result in troubles:
        lines = excerpt(result.why)[:max(0, room - 1)]
        room -= len(lines) + 1
        if lines:
            print(f"== {name}", *(f"    {line}" for line in lines), sep="\n")
    for name, result in troubles:
        print(f"failed: {name}" if result.kind == "failed" else f"unsteady: {name}: passed when repeated alone")


def tell_skipped(results):
    """One line: how many were skipped for which reason, the most frequent ones first. Parentheses at its end hold details."""
    whys = (" ".join(result.why.split()) for _, result in results if result.kind == "skipped")
    reasons = collections.Counter(re.sub(r" \(.*\)$", "", why) or "no reason given" for why in whys)
    told = [f"{number}: {why[:LONGEST_REASON]}" for why, number in reasons.most_common(MOST_REASONS)]
    if len(reasons) > MOST_REASONS:
        told.append(f"{len(reasons) - MOST_REASONS} more reasons are in the reports")
    if told:
        print(f"skipped: {'; '.join(told)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--failed-phases", type=int, default=0)
    parser.add_argument("--to-repeat", action="store_true", help="print what pytest is to be given once more")
    parser.add_argument("paths", type=pathlib.Path, nargs="+",
                        help="folders of make check, reports of pytest (.xml)")
    options = parser.parse_args()

    if options.to_repeat:
        for file, name in (one for path in options.paths for one in to_repeat(read(path))):
            print(f"{file.replace('.', '/')}.py::{name}")
        return
    results = [one for path in options.paths for one in (pytest if path.suffix == ".xml" else automake)(path)]
    tell([(name, result) for name, result in results if result.kind in ("failed", "unsteady")])
    tell_skipped(results)
    count = collections.Counter(result.kind for _, result in results)
    if options.failed_phases and not count["failed"]:
        count["failed"] = options.failed_phases
    passed = count["passed"] + count["unsteady"]
    skipped = f", {count['skipped']} skipped" if count["skipped"] else ""
    print(f"{passed} passed, {count['failed']} failed{skipped}")
    sys.exit(1 if count["failed"] or options.failed_phases or not passed else 0)


if __name__ == "__main__":
    main()
