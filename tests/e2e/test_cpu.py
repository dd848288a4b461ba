# SPDX-License-Identifier: Apache-2.0
"""audit --cpu: extension modules with an instruction that older processors do not have, under qemu-user."""
import json
import os
import platform
import shlex
import shutil
import subprocess

import pytest

import elfwheels
import serving
import storelib

PYTHON = "/usr/bin/python3"
SOURCE = """#include <Python.h>
static struct PyModuleDef def = {PyModuleDef_HEAD_INIT, "_x", NULL, -1, NULL};
PyMODINIT_FUNC PyInit__x(void)
{
#ifdef AVX2
	__asm__ volatile("vpaddd %%ymm0, %%ymm1, %%ymm2" ::: "xmm2");
#endif
	return PyModule_Create(&def);
}
"""


@pytest.fixture(scope="module", name="wheel")
def wheel_fixture(tmp_path_factory):
    """A wheel whose package `fast` has an AVX2 instruction, `plain` has none, and `lost` needs a dependency."""
    if not shutil.which("qemu-x86_64") or platform.machine() != "x86_64":
        pytest.skip("there is no qemu-x86_64 (qemu-user), or this machine is no x86-64")
    folder = tmp_path_factory.mktemp("cpu")
    code = "import sysconfig; print(sysconfig.get_path('include'), sysconfig.get_config_var('EXT_SUFFIX'))"
    include, suffix = subprocess.run([PYTHON, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    files = {"lost.py": b"import missing_dependency\n"}
    for name, options in ("fast", ["-DAVX2"]), ("plain", []):
        module = folder / f"{name}.so"
        subprocess.run([*shlex.split(os.environ.get("CC") or "cc"), "-shared", "-fPIC", f"-I{include}", *options, "-o",
                        str(module), "-x", "c", "-"], input=SOURCE, text=True, check=True)
        files |= {f"{name}/__init__.py": b"from . import _x\n", f"{name}/_x{suffix}": module.read_bytes()}
    return elfwheels.make_wheel(folder, elfwheels.LINUX, files), f"fast/_x{suffix}"


def cpu(wheel, level, *more, code=0):
    done = serving.run("audit", "--cpu", level, "--python", PYTHON, *more, wheel)
    assert done.returncode == code, done.stdout + done.stderr
    return done


def test_avx2_is_illegal_below_its_level(wheel):
    path, member = wheel
    done = cpu(path, "v2", code=1)
    assert done.stdout.splitlines() == [
        "x86-64-v2 (qemu -cpu Nehalem):",
        f"illegal instruction: fast, while {member} was loaded",
        "not imported: fast._x: its package was not imported",
        "not imported: lost: ModuleNotFoundError: No module named 'missing_dependency'",
        "imported: plain", "imported: plain._x",
        "2 imported, 1 with an illegal instruction, 2 not imported, 0 skipped"]
    assert "--cpu runs the code of" in done.stderr


def test_avx2_runs_on_its_level_and_dependencies_are_found(wheel, tmp_path):
    (tmp_path / "missing_dependency.py").write_text("")
    found = json.loads(cpu(wheel[0], "x86-64-v3", "--env", f"PYTHONPATH={tmp_path}", "--json").stdout)
    assert (found["cpu"], found["errors"]) == ("x86-64-v3", 0)
    assert {module["name"]: module["result"] for module in found["modules"]} == dict.fromkeys(
        ["fast", "fast._x", "lost", "plain", "plain._x"], "imported")
    assert not list(tmp_path.glob("**/*.pyc"))


def test_modules_for_newer_processors_can_be_skipped(wheel):
    done = cpu(wheel[0], "v2", "--skip", "fast*", "--skip", "l?st")
    assert done.stdout.splitlines()[1:] == ["imported: plain", "imported: plain._x",
                                            "2 imported, 0 with an illegal instruction, 0 not imported, 3 skipped"]


def test_level_that_is_not_emulated(wheel):
    assert "qemu does not emulate AVX-512" in cpu(wheel[0], "v4", code=2).stderr


# --- without qemu ---

@pytest.fixture(name="fake")
def fake_fixture(tmp_path, monkeypatch):
    """A qemu that runs the interpreter itself."""
    program = tmp_path / "bin/qemu-x86_64"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\nshift 2\nwhile [ "$1" = -E ]; do export "$2"; shift 2; done\nexec "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    return tmp_path


def test_wheel_of_which_nothing_is_known(fake):
    wheel = storelib.make_wheel(fake, "a", "1", files={"a.py": b"import nothing_such\n"}).path
    assert "no module was imported, so nothing is known" in cpu(wheel, "v2", code=2).stderr
    cpu(storelib.make_wheel(fake, "b", "1", files={"b.txt": b""}).path, "v2")


def test_wheel_that_unpacks_to_too_much(fake):
    wheel = storelib.make_wheel(fake, "a", "1", files={"a.bin": bytes(65 << 20)}).path
    assert "more than 50 times its size" in cpu(wheel, "v2", code=2).stderr


@pytest.mark.parametrize("words, reason", [
    (["--cpu", "v2"], "--python"), (["--cpu", "v2", "--python", "3.99"], "there is no python3.99"),
    (["--cpu", "v9", "--python", PYTHON], "neither v1"), (["--cpu", "v2", "--python", "/etc/passwd"], "no ELF file"),
    (["--cpu", "v2", "--python", PYTHON, "--expect", "a=b"], "--bind"), (["--cpu", "v2", "--python", PYTHON, "x.whl"], "one wheel")])
def test_usage(words, reason, fake):
    done = serving.run("audit", *words, fake / "a-1-py3-none-any.whl")
    assert (done.returncode, done.stdout) == (2, "")
    assert reason in done.stderr


def test_without_qemu(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "qemu-x86_64 is not installed" in cpu("a-1-py3-none-any.whl", "v2", code=2).stderr
