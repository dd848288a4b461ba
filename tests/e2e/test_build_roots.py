# SPDX-License-Identifier: Apache-2.0
"""etc/build-bwrap in roots of two Debians: what a command sees there, what it can do, and `wheelcache build` with it. Only with
--nightly, since making the roots takes half a minute."""
import concurrent.futures
import contextlib
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import time
import zipfile

import pytest

import building
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
    if not pytestconfig.getoption("--nightly"):
        pytest.skip("only ./test --nightly makes roots")
    with concurrent.futures.ThreadPoolExecutor() as pool:
        return dict(zip(roots.PYTHONS, pool.map(roots.root, roots.PYTHONS), strict=True))


class Wrapped:
    """Runs shell commands in a root with a work folder. In the folder beside it is a file that they must not see."""

    def __init__(self, root, folder):
        self.root, self.work, self.secret = root, folder / "beside" / "work", folder / "beside" / "secret"
        self.work.mkdir(parents=True)
        self.secret.write_text("secret")
        self.variables = {}

    def words(self, script, *options):
        return [str(WRAP), *options, str(self.root), str(self.work), "sh", "-c", script]

    def run(self, script, *options):
        return subprocess.run(self.words(script, *options), capture_output=True, text=True, check=False, timeout=300,
                              env={"PATH": os.environ["PATH"], "HOME": str(self.work), "ONE": "1", **self.variables})

    def prints(self, script, *options):
        done = self.run(script, *options)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()


@pytest.fixture(name="small")
def small_fixture(tmp_path):
    """A root with nothing but a shell and cat, which is made at once."""
    root = tmp_path / "root"
    for program in ("/bin/sh", "/bin/cat"):
        libraries = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
        for path in [program, *(word for word in libraries.split() if word.startswith("/"))]:
            copy = root / path.lstrip("/")
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, copy)
    wrapped = Wrapped(root, tmp_path)
    if not shutil.which("bwrap") or wrapped.run("true").returncode:
        pytest.skip("bubblewrap cannot make a namespace here")
    return wrapped


def test_files_of_certificates_are_mounted(small, tmp_path):
    """With the variables that name them: a root has only its own authorities."""
    variables = ["SSL_CERT_FILE", "PIP_CERT", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "CARGO_HTTP_CAINFO", "GIT_SSL_CAINFO"]
    for name in variables:
        (tmp_path / f"{name}.pem").write_text(f"of {name}\n")
        small.variables[name] = str(tmp_path / f"{name}.pem")
    assert small.prints("; ".join(f'cat "${name}"' for name in variables)).splitlines() == [f"of {name}" for name in variables]
    small.variables = {"PIP_CERT": "/nowhere"}
    assert small.prints('echo "$PIP_CERT"') == "/nowhere"


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


# A build backend that needs no package. It notes in the wheel what it sees of the machine.
BACKEND = """
import base64, hashlib, os, platform, subprocess, sys, sysconfig, zipfile
def build_wheel(folder, settings=None, metadata=None):
    subprocess.run(["gcc", "-shared", "-fPIC", "-I" + sysconfig.get_path("include"), "-o", "made_here.so", "made_here.c"], check=True)
    cp = "cp%d%d" % sys.version_info[:2]
    name = f"made_here-1.0-{cp}-{cp}-linux_x86_64.whl"
    seen = [path for path in SECRETS if os.path.exists(path)] + [name for name in os.environ if "TOKEN" in name]
    seen += [name for name in os.listdir("/proc") if name.isdigit() and "wheelcache" in open(f"/proc/{name}/comm").read()]
    files = {"made_here.so": open("made_here.so", "rb").read(), "seen.txt": " ".join(seen + [platform.libc_ver()[1]]).encode(),
             "made_here-1.0.dist-info/METADATA": b"Metadata-Version: 2.1\\nName: made-here\\nVersion: 1.0\\n",
             "made_here-1.0.dist-info/WHEEL": f"Wheel-Version: 1.0\\nGenerator: t\\nRoot-Is-Purelib: false\\nTag: {cp}-{cp}-linux_x86_64\\n".encode()}
    digest = lambda data: base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
    record = "".join(f"{path},sha256={digest(data)},{len(data)}\\n" for path, data in files.items())
    files["made_here-1.0.dist-info/RECORD"] = (record + "made_here-1.0.dist-info/RECORD,,\\n").encode()
    with zipfile.ZipFile(os.path.join(folder, name), "w") as wheel:
        for path, data in files.items():
            wheel.writestr(path, data)
    return name
"""
PYPROJECT = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'


def test_builds_in_the_root_of_each_platform(made, tmp_path):
    """An sdist with C code; each wheel is made by the Python, the compiler and the libc of its root, and is imported there."""
    platforms = {f"debian-{12 if suite == 'bookworm' else 13}-x86_64": suite for suite in roots.PYTHONS}
    with building.world(tmp_path) as world:
        (tmp_path / "roots").mkdir()
        secrets = [str(world.store), str(world.config_path), str(clients.ROOT)]
        backend = BACKEND.replace("SECRETS", repr(secrets))
        world.index.add("made-here", files={"pyproject.toml": PYPROJECT, "backend.py": backend, "made_here.c": MODULE})
        (tmp_path / "constraints.txt").write_text("made-here===1.0\n")
        world.keys["build"] = {"wrap": f"{WRAP} {tmp_path}/roots/%p %d"}
        for platform, suite in platforms.items():
            (tmp_path / "roots" / platform).symlink_to(made[suite])
            (world.store / platform).mkdir(exist_ok=True)
            world.keys[f"platform {platform}"] = {"pythons": roots.PYTHONS[suite]}
        for platform, suite in platforms.items():
            report = world.build(platform=platform, env={"WHEELCACHE_TOKEN": "wc_secret"})
            assert building.states(report) == {f"made-here {roots.PYTHONS[suite]}": "ok"}, world.errors
            cp = "cp" + roots.PYTHONS[suite].replace(".", "")
            assert world.wheels(platform) == [f"made_here-1.0-{cp}-{cp}-linux_x86_64.whl"]
            wheel = next((world.store / platform).rglob("*.whl"))
            seen = zipfile.ZipFile(wheel).read("seen.txt").decode()
            assert seen == {"bookworm": "2.36", "trixie": "2.41"}[suite]
