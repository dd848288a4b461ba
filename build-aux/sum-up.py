#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Adds up automake's .trs files and pytest's reports. Prints the reasons of failures, the names of failed tests, the
reasons of skipped tests in one line, and "N passed, N failed[, N skipped]" as the last line.

The exit code is 1 if a test failed or none ran. A phase that failed without a failed test (for example a build) counts
as one failure.

A test that failed and then passed when it was repeated alone counts as passed, and is printed as "unsteady". The report
of that is NAME.again.xml next to NAME.xml; of automake's tests, NAME.first keeps the log of the first time. With --to-repeat the script prints the failed tests that may be repeated.
If there are more than a few, something is broken, and it prints none. It prints none either if a sanitizer reported an
error or a program crashed: such a failure stays true even if the next run passes.
"""
import argparse
import collections
import dataclasses
import pathlib
import re
import sys
import xml.etree.ElementTree as ET

KIND = {"PASS": "passed", "XFAIL": "passed", "SKIP": "skipped"}
MOST_REPEATED = 3  # tests of a report
WHY_LINES = 25  # of a failure
ALL_LINES = 150  # of all failures
MOST_REASONS, LONGEST_REASON = 6, 200  # of skipped tests
FINAL = re.compile(r"(Address|Leak|Memory|Thread|UndefinedBehavior)Sanitizer|runtime error:|Assertion `|exit code -?\d|"
                   r"exit status: \d{3}")


@dataclasses.dataclass
class Result:
    kind: str
    why: str = ""  # the reason, if it failed or was skipped


def automake(folder):
    """Returns the result of each test that `make check` ran below folder, by the folder's name and the test's log."""
    results = {}
    for path in sorted(folder.glob("tests/**/*.trs")):
        first = path.with_suffix(".first")
        log = first if first.exists() else path.with_suffix(".log")
        for result in re.findall(r"^:test-result: (\w+)", path.read_text(), re.M):
            kind = KIND.get(result, "failed")
            if first.exists() and kind == "passed":
                kind = "unsteady"
            why = log.read_text(errors="replace") if kind in ("failed", "unsteady") and log.exists() else ""
            results[folder.name, path.with_suffix(".log")] = Result(kind, why)
    return results


def read(report):
    """Returns the result of each case in a junit report, by its class and name. A case whose test and clean-up both
    failed is in the report twice."""
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
    """Returns the names of the failed tests; none if a failure is final, or there are too many."""
    failed = {name: result for name, result in results.items() if result.kind == "failed"}
    if len(failed) > MOST_REPEATED or any(FINAL.search(result.why) or not name[0] for name, result in failed.items()):
        return []
    return list(failed)


def named(path):
    """Yields the name and result of each test of a folder, or of a report. One that passed when it was repeated is
    unsteady."""
    if path.suffix != ".xml":
        yield from ((f"{folder}: {log.stem}", result) for (folder, log), result in automake(path).items())
        return
    results = read(path)
    again = read(path.with_suffix(".again.xml"))
    for name in to_repeat(results):
        if name in again and again[name].kind == "passed":
            results[name].kind = "unsteady"
    for name, result in results.items():
        yield f"{path.stem}: {name[0]}::{name[1]}", result


def excerpt(why):
    """Returns the beginning and end of the lines that pytest marks as the error; if there are none, the end of why."""
    lines = why.rstrip().splitlines()
    begin = next((number for number, line in enumerate(lines) if line.startswith("E  ")), None)
    if begin is None or len(lines) - begin <= WHY_LINES:
        return lines[-WHY_LINES:]
    half = WHY_LINES // 2
    return [*lines[begin:begin + half], "…", *lines[-half:]]


def print_failures(troubles):
    """Prints the reason of each failure, then all names: a reader sees the last lines first."""
    room = ALL_LINES
    for name, result in troubles:
        lines = excerpt(result.why)[:max(0, room - 1)]
        room -= len(lines) + 1
        if lines:
            print(f"== {name}", *(f"    {line}" for line in lines), sep="\n")
    for name, result in troubles:
        print(f"failed: {name}" if result.kind == "failed" else f"unsteady: {name}: passed when repeated alone")


def print_skipped(results):
    """Prints one line: the number of skipped tests for each reason, the most frequent first. Parentheses at the end of
    a reason hold details, and are left out."""
    whys = (" ".join(result.why.split()) for _, result in results if result.kind == "skipped")
    reasons = collections.Counter(re.sub(r" \(.*\)$", "", why) or "no reason given" for why in whys)
    parts = [f"{number}: {why[:LONGEST_REASON]}" for why, number in reasons.most_common(MOST_REASONS)]
    if len(reasons) > MOST_REASONS:
        parts.append(f"{len(reasons) - MOST_REASONS} more reasons are in the reports")
    if parts:
        print(f"skipped: {'; '.join(parts)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--failed-phases", type=int, default=0)
    parser.add_argument("--to-repeat", action="store_true",
                        help="print the failed tests that may be repeated, as arguments of pytest; of a folder, the logs")
    parser.add_argument("paths", type=pathlib.Path, nargs="+",
                        help="folders of make check, and reports of pytest (.xml)")
    options = parser.parse_args()

    if options.to_repeat:
        for path in options.paths:
            is_report = path.suffix == ".xml"
            for file, name in to_repeat(read(path) if is_report else automake(path)):
                print(f"{file.replace('.', '/')}.py::{name}" if is_report else name)
        return
    results = [one for path in options.paths for one in named(path)]
    print_failures([(name, result) for name, result in results if result.kind in ("failed", "unsteady")])
    print_skipped(results)
    count = collections.Counter(result.kind for _, result in results)
    if options.failed_phases and not count["failed"]:
        count["failed"] = options.failed_phases
    passed = count["passed"] + count["unsteady"]
    skipped = f", {count['skipped']} skipped" if count["skipped"] else ""
    print(f"{passed} passed, {count['failed']} failed{skipped}")
    sys.exit(1 if count["failed"] or options.failed_phases or not passed else 0)


if __name__ == "__main__":
    main()
