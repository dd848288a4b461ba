# SPDX-License-Identifier: Apache-2.0
"""The files of the week that docs/channels.md tells of: the wheels of three nights, the reports of their tests, and the
jobs that ran them elsewhere."""
import calendar
import os
import time

import storelib

CELLS = {"debian-12-x86_64": "3.11", "ubuntu-24.04-x86_64": "3.12"}
TAGS = {"debian-12-x86_64": "cp311-cp311-manylinux_2_36_x86_64", "ubuntu-24.04-x86_64": "cp312-cp312-manylinux_2_39_x86_64"}
NIGHTS = {"monday": "2026-11-16", "tuesday": "2026-11-17", "wednesday": "2026-11-18"}

# What ran where: the tests that failed; None: the run ended without a report. Whatever is not here is green.
RED = {("tuesday", "unit", "debian-12-x86_64"): ["test_solver::test_large", "test_solver::test_sparse"],
       ("wednesday", "integration", "debian-12-x86_64"): None}

# The jobs of the other cells, on their machines: each makes the record of its run beside the report.
JOBS = """#!/bin/sh
for report in runs/$1/*.xml; do
    name=${report##*/} name=${name%.xml} kind=${name%%-*} platform=${name#*-}
    case $platform in debian*) python=3.11;; *) python=3.12;; esac
    wheelcache evidence make --kind $kind --junit $report --platform $platform --python $python \\
        --wheels nights/$1/$platform/*.whl -o runs/$1/$name.json 2>/dev/null
done
"""


def at(day, hour):
    return calendar.timegm(time.strptime(f"{day} {hour:02}", "%Y-%m-%d %H"))


def report(failures):
    """A report of 120 tests, as pytest writes it."""
    cases = "".join(f'<testcase classname="{name.partition("::")[0]}" name="{name.partition("::")[2]}">'
                    '<failure message="assert 3.2 == 3.1"/></testcase>' for name in failures)
    cases += "".join(f'<testcase classname="test_core" name="test_{i}"/>' for i in range(118 - len(failures)))
    cases += '<testcase classname="test_gpu" name="test_gpu"><skipped message="no GPU"/></testcase>' * 2
    return f'<testsuites><testsuite name="pytest" tests="120">{cases}</testsuite></testsuites>\n'


def write(path, text, when):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, (when, when))


def make(folder, config):
    """config: the text of wheelcache.conf."""
    (folder / "wheelcache.conf").write_text(config)
    (folder / "jobs").write_text(JOBS)
    (folder / "jobs").chmod(0o755)
    for night, day in NIGHTS.items():
        for platform in CELLS:
            (folder / "store" / platform).mkdir(parents=True, exist_ok=True)
            storelib.make_wheel(folder / "nights" / night / platform, "acme-core", f"2.0.dev{day.replace('-', '')}",
                                TAGS[platform], mtime=at(day, 1))
            for kind in "unit", "integration":
                failures = RED.get((night, kind, platform), [])
                if failures is not None:
                    write(folder / "runs" / night / f"{kind}-{platform}.xml", report(failures), at(day, 4))
