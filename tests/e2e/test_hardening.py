# SPDX-License-Identifier: Apache-2.0
"""The hardening of the optimised program."""
import os
import pathlib
import platform
import re
import shutil
import subprocess

import pytest

import serving


@pytest.fixture(name="program", scope="module")
def program_fixture():
    path = pathlib.Path(os.environ.get("WHEELCACHE_OPTIMISED") or serving.binary())
    if not path.exists():
        pytest.skip(f"{path} is absent: WHEELCACHE_OPTIMISED should name an optimised program")
    if not shutil.which("readelf"):
        pytest.skip("there is no readelf")
    if "__asan_init" in readelf("--dyn-syms", path) or "__tsan_init" in readelf("--dyn-syms", path):
        pytest.skip(f"{path} has sanitizers: WHEELCACHE_OPTIMISED should name a program without")
    return path


def readelf(what, path):
    return subprocess.run(["readelf", "-W", what, path], capture_output=True, text=True, check=True).stdout


def test_nothing_is_written_where_code_jumps_to(program):
    """Position independent, and all relocations done and read-only before main."""
    assert re.search(r"Type:\s+DYN", readelf("-h", program))
    assert re.search(r"FLAGS_1\).*\bNOW\b.*\bPIE\b", readelf("-d", program))
    segments = readelf("-l", program)
    assert "GNU_RELRO" in segments
    assert re.search(r"GNU_STACK .* RW ", segments), "its stack can be executed"


def test_stack_and_buffers_are_watched(program):
    """memcpy and similar functions are called with the size of their target."""
    symbols = readelf("--dyn-syms", program)
    assert "__stack_chk_fail" in symbols
    checked = set(re.findall(r"\b__\w+_chk\b", symbols)) - {"__stack_chk_fail"}
    assert {"__snprintf_chk", "__vsnprintf_chk", "__fprintf_chk"} <= checked, checked


def test_jumps_land_where_they_may(program):
    """CET: each of our objects is marked for it. The program is marked only if the system's startup files are, which Debian's
    are not."""
    if platform.machine() != "x86_64":
        pytest.skip("CET is of x86")
    archive = program.parent / "libwheelcache.a"
    notes = readelf("-n", archive)
    objects = notes.count("File: ")
    assert objects > 100
    assert len(re.findall(r"x86 feature: IBT, SHSTK", notes)) == objects
