# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of docs/audit.md's day, in the folder that they are about, and compares what they print."""
import os
import pathlib
import re
import shutil
import subprocess

import pytest

import audit_day
import elfwheels
import serving

TOP = pathlib.Path(__file__).resolve().parents[2]


def commands():
    """Yields each command of the section with the lines under it."""
    section = (TOP / "docs/audit.md").read_text(encoding="utf-8").partition("\n## A day of a release manager\n")[2].partition("\n## ")[0]
    for block in re.findall(r"(?:^    .*\n|^\n(?=    ))+", section, re.M):
        for part in re.split(r"^    \$ ", block, flags=re.M)[1:]:
            command, _, output = part.partition("\n")
            yield command, re.sub(r"^    ", "", output.rstrip("\n"), flags=re.M)


def pattern(output):
    """What the program must print: "…" is the rest of a line, or any lines if it stands alone."""
    text = re.escape(output).replace(re.escape("…"), "…")
    return re.sub("…", "[^\n]*", re.sub(r"^(?:\\ )*…\n?", "(?s:.*?)", text, flags=re.M))


def test_day_of_a_release_manager(tmp_path):
    if elfwheels.ARCH != "x86_64" or not shutil.which("bash"):
        pytest.skip("the day is that of an x86-64 machine")
    audit_day.make(tmp_path)
    shutil.copy(TOP / "etc/audit.policy", tmp_path)
    environment = os.environ | {"PATH": f"{pathlib.Path(serving.binary()).parent}:{os.environ['PATH']}"}
    ran = 0
    for command, expected in commands():
        done = subprocess.run(["bash", "-c", command], cwd=tmp_path, env=environment, capture_output=True, text=True,
                              check=False, timeout=120)
        assert done.returncode in (0, 1) and not re.search("^error|Sanitizer|runtime error", done.stderr, re.M), (command, done.stderr)
        assert re.fullmatch(pattern(expected) + "(?s:.*)" * expected.endswith("…"), done.stdout.rstrip("\n")), (command, done.stdout)
        ran += 1
    assert ran == 9
