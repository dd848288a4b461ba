#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Adds up automake's .trs files and pytest's reports, prints "N passed, N failed[, N skipped]" as the last line.

Ends with 1 where something failed or nothing ran. A phase that failed without a failed test (it did not build)
counts as one failure.
"""
import argparse
import collections
import pathlib
import re
import sys
import xml.etree.ElementTree as ET

KIND = {"PASS": "passed", "XFAIL": "passed", "SKIP": "skipped"}


def automake(folder):
    """The result and name of each test that `make check` ran below folder."""
    for path in sorted(folder.glob("tests/**/*.trs")):
        for result in re.findall(r"^:test-result: (\w+)", path.read_text(), re.M):
            yield KIND.get(result, "failed"), f"{folder.name}: {path.stem}"


def pytest(report):
    """The result and name of each case in a junit report."""
    for case in ET.parse(report).iter("testcase") if report.exists() else ():
        tags = {child.tag for child in case}
        kind = "failed" if tags & {"failure", "error"} else "skipped" if "skipped" in tags else "passed"
        yield kind, f"{report.stem}: {case.get('classname')}::{case.get('name')}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--failed-phases", type=int, default=0)
    parser.add_argument("paths", type=pathlib.Path, nargs="+",
                        help="folders of make check, reports of pytest (.xml)")
    options = parser.parse_args()

    count = collections.Counter()
    for path in options.paths:
        for kind, name in (pytest if path.suffix == ".xml" else automake)(path):
            count[kind] += 1
            if kind == "failed":
                print(f"failed: {name}")
    if options.failed_phases and not count["failed"]:
        count["failed"] = options.failed_phases
    skipped = f", {count['skipped']} skipped" if count["skipped"] else ""
    print(f"{count['passed']} passed, {count['failed']} failed{skipped}")
    sys.exit(1 if count["failed"] or options.failed_phases or not count["passed"] else 0)


if __name__ == "__main__":
    main()
