# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of docs/audit.md's day, in the folder that they are about, and compares what they print."""
import os
import pathlib
import shutil

import pytest

import audit_day
import documented
import elfwheels
import serving


def test_day_of_a_release_manager(tmp_path):
    if elfwheels.ARCH != "x86_64" or not shutil.which("bash"):
        pytest.skip("the day is that of an x86-64 machine")
    audit_day.make(tmp_path)
    shutil.copy(documented.TOP / "etc/audit.policy", tmp_path)
    environment = os.environ | {"PATH": f"{pathlib.Path(serving.binary()).parent}:{os.environ['PATH']}"}
    assert documented.run(documented.section("audit.md", "A day of a release manager"), tmp_path, environment) == 9
