# SPDX-License-Identifier: Apache-2.0
"""etc/build-bwrap in roots of two Debians: what a command sees there, and what it can do. Only with --all, since making the
roots takes half a minute."""
import concurrent.futures
import contextlib
import os
import pathlib
import signal
import socket
import subprocess
import time

import pytest

import clients
import roots
import serving

WRAP = clients.ROOT / "etc" / "build-bwrap"
MODULE = """#include <Python.h>
static struct PyModuleDef made_here = {PyModuleDef_HEAD_INIT, .m_name = "made_here", .m_size = -1};
PyMODINIT_FUNC PyInit_made_here(void) { return PyModule_Create(&made_here); }
"""


@pytest.fixture(scope="module", name="made")
def made_fixture(pytestconfig):
    """The root folders by release; they are made at the same time."""
    if not pytestconfig.getoption("--all"):
        pytest.skip("only ./test --all makes roots")
    with concurrent.futures.ThreadPoolExecutor() as pool:
        return dict(zip(roots.PYTHONS, pool.map(roots.root, roots.PYTHONS), strict=True))


class Wrapped:
    """Runs shell commands in a root with a work folder. In the folder beside it is a file that they must not see."""

    def __init__(self, root, folder):
        self.root, self.work, self.secret = root, folder / "beside" / "work", folder / "beside" / "secret"
        self.work.mkdir(parents=True)
        self.secret.write_text("secret")

    def words(self, script, *options):
        return [str(WRAP), *options, str(self.root), str(self.work), "sh", "-c", script]

    def run(self, script, *options):
        return subprocess.run(self.words(script, *options), capture_output=True, text=True, check=False, timeout=300,
                              env={"PATH": os.environ["PATH"], "HOME": str(self.work), "ONE": "1"})

    def prints(self, script, *options):
        done = self.run(script, *options)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()


@pytest.fixture(name="wrapped", params=roots.PYTHONS)
def wrapped_fixture(request, made, tmp_path):
    return Wrapped(made[request.param], tmp_path)


def test_only_the_work_folder_is_writable(wrapped):
    assert wrapped.prints("pwd; touch here; echo $HOME") == f"{wrapped.work}\n{wrapped.work}"
    assert (wrapped.work / "here").exists()
    for place in ("/", "/usr", "/etc", "/home", "/var", "/opt", str(wrapped.root)):
        assert wrapped.run(f"touch {place}/new").returncode != 0, place
    assert not (wrapped.root / "new").exists()
    assert wrapped.prints("touch /tmp/x /run/x /dev/shm/x; echo made") == "made"
    assert not pathlib.Path("/tmp/x").exists() and not (wrapped.root / "tmp/x").exists()


def test_nothing_else_of_the_machine_is_seen(wrapped):
    assert wrapped.prints(f"ls -A {wrapped.work.parent}") == "work"
    assert wrapped.run(f"cat {wrapped.secret}").returncode != 0
    assert wrapped.run(f"ls {clients.ROOT}").returncode != 0
    assert wrapped.prints("ls -A /home /srv").split() == ["/home:", "/srv:"]
    processes = wrapped.prints("cat /proc/[0-9]*/comm").split()
    assert set(processes) <= {"bwrap", "sh", "cat"}, processes
    assert "CapEff:\t0000000000000000" in wrapped.prints("cat /proc/self/status")
    assert wrapped.prints("env | grep -c . ; echo $ONE").split()[1] == "1"
    assert wrapped.run(f"kill -0 {os.getpid()}").returncode != 0


@pytest.mark.parametrize("place", ["/tmp", "/var/lib", "/opt", "/new"])
def test_work_folder_may_be_anywhere(wrapped, tmp_path, place):
    """The root has no folder of that name; bwrap itself makes the place of the outer path."""
    folder = pathlib.Path(place) / f"wheelcache-test-{os.getpid()}"
    try:
        folder.mkdir(parents=True)
        wrapped.work = folder
        assert wrapped.prints("touch made; pwd; which python3") == f"{folder}\n/usr/bin/python3"
        assert (folder / "made").exists()
        assert wrapped.run(f"touch {folder.parent}/beside").returncode != 0 or place == "/tmp"
        assert not (folder.parent / "beside").exists()
    finally:
        for path in folder.iterdir():
            path.unlink()
        folder.rmdir()
        if place == "/new":
            folder.parent.rmdir()


def test_network_is_on_or_off(wrapped):
    connect = "python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", %d), 5).close()'"
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert wrapped.run(connect % port).returncode == 0
        assert wrapped.run(connect % port, "--no-network").returncode != 0


def test_paths_to_read(wrapped, tmp_path):
    plugins = tmp_path / "plugins"
    plugins.mkdir()
    (plugins / "one").write_text("1")
    assert wrapped.prints(f"cat {plugins}/one", "--read", str(plugins)) == "1"
    assert wrapped.run(f"touch {plugins}/two", "--read", str(plugins)).returncode != 0


def count_commands(mark):
    count = 0
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            count += mark.encode() in path.read_bytes()
    return count


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_nothing_is_left_running(wrapped, how):
    mark = f"{time.time_ns()}"
    with subprocess.Popen(wrapped.words(f"(trap '' TERM; setsid sleep 1000.{mark}) & sleep 1000.{mark}")) as process:
        serving.wait_for(lambda: count_commands(mark) > 2, 30, "the commands")
        os.kill(process.pid, how)
        process.wait(30)
        serving.wait_for(lambda: count_commands(mark) == 0, 30, "their end")


def test_extension_module_is_made_for_the_python_of_the_root(made, tmp_path):
    for suite, python in roots.PYTHONS.items():
        (tmp_path / suite).mkdir()
        wrapped = Wrapped(made[suite], tmp_path / suite)
        (wrapped.work / "made_here.c").write_text(MODULE)
        wrapped.prints("python3 -m venv env && gcc -shared -fPIC $(python3-config --includes) -o made_here.so made_here.c")
        printed = wrapped.prints("env/bin/python -c 'import sys, made_here; print(sys.version_info[:2], made_here.__file__)'")
        assert printed == f"{tuple(int(n) for n in python.split('.'))} {wrapped.work}/made_here.so"


def test_usage(tmp_path):
    for words in ([], [str(tmp_path)], [str(tmp_path), str(tmp_path)], ["--unknown", "/a", "/b", "c"], ["--read"], ["/", str(tmp_path), "true"]):
        done = subprocess.run([str(WRAP), *words], capture_output=True, text=True, check=False)
        assert done.returncode == 2 and done.stderr.startswith("build-bwrap ["), words
    done = subprocess.run([str(WRAP), "/nowhere", str(tmp_path), "true"], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "/nowhere" in done.stderr
