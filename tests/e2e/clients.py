# SPDX-License-Identifier: Apache-2.0
"""Real clients, each in a virtual environment of its own, built once and kept for the next run."""
import contextlib
import fcntl
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHARED = pathlib.Path(os.environ.get("WHEELCACHE_SHARED") or ROOT.parent / "shared")
DATA = ROOT / "tests" / "data"  # a small set, in the project
WHEELS = SHARED / "clients" / "wheels"
PINS = ROOT / "tests" / "clients"
DEBIAN_PIP = "debian"  # the pip of the system's python3
PIPS = ["pip==22.0.4", "pip==22.3.1", DEBIAN_PIP, "pip==23.2.1", "pip==24.2", "pip==26.3"]
LAST_PYTHON = {"pip==22.0.4": (3, 11), "pip==22.3.1": (3, 11)}  # they use modules that later Pythons do not have
READERS = "pypi-simple==1.8.0 mousebender==2025.1"
NO_CLIENT = f"clients are absent: set pip to an index that answers, or lay their wheels into {WHEELS}"
NO_RECORDS = ("what was recorded is not in this clone as a whole: lay the folder of shared test data into "
              f"{SHARED}, or name it by WHEELCACHE_SHARED")
ABSENT = {}  # requirements -> why they cannot be installed


def recorded(below):
    """The path of recorded data: the full set, or the small one of the project."""
    path = SHARED / below
    return path if path.exists() else DATA / below


def cache_folder():
    """The folder of the environments, kept between runs; only this user may write there."""
    default = pathlib.Path(tempfile.gettempdir()) / f"wheelcache-clients-{os.getuid()}"
    folder = pathlib.Path(os.environ.get("WHEELCACHE_CLIENTS") or default)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    assert folder.stat().st_uid == os.getuid(), f"{folder} belongs to another user"
    return folder


@contextlib.contextmanager
def locked(path):
    with open(path, "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def clean_environment(home, **more):
    """An environment in which no setting of the machine or of its user reaches a client."""
    keep = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
    return keep | {"HOME": str(home), "XDG_CACHE_HOME": f"{home}/cache", "XDG_CONFIG_HOME": f"{home}/config",
                   "XDG_DATA_HOME": f"{home}/data", "XDG_STATE_HOME": f"{home}/state",
                   "PIP_CONFIG_FILE": os.devnull, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INPUT": "1",
                   "PYTHONDONTWRITEBYTECODE": "1", "PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring",
                   "UV_NO_CONFIG": "1", "UV_PYTHON_DOWNLOADS": "never", "NO_COLOR": "1"} | more


def pinned(requirements):
    """The file that names each wheel of an environment by version and hash (tests/clients/pin.py)."""
    return PINS / (requirements.split()[0].replace("==", "-") + ".txt")


def _ways(requirements, folder):
    """Options and environment variables for pip: the folder of wheels, if there is one, without a network; otherwise the
    index that this machine's pip is set to."""
    pins = pinned(requirements)
    wanted = ["--require-hashes", "--no-deps", "-r", str(pins)] if pins.exists() else requirements.split()
    if WHEELS.is_dir():
        yield [*wanted, "--no-index", "--find-links", str(WHEELS)], clean_environment(folder)
    yield [*wanted, "--retries", "1", "--timeout", "20"], os.environ | {"PIP_NO_INPUT": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}


def _install(folder, requirements):
    pip = [str(environment(DEBIAN_PIP) / "bin" / "pip"), "--python", str(folder / "bin" / "python"), "install", "-q",
           "--only-binary", ":all:"]
    for options, variables in _ways(requirements, folder):
        done = subprocess.run([*pip, *options], env=variables, capture_output=True, text=True, timeout=900, check=False)
        if done.returncode == 0:
            return None
        assert "DO NOT MATCH THE HASHES" not in done.stderr, done.stderr
    return (done.stderr.strip().splitlines() or ["no word why"])[-1]


def environment(requirements):
    """The folder of the environment that has these requirements, separated by blanks."""
    if sys.version_info[:2] > LAST_PYTHON.get(requirements, sys.version_info[:2]):
        pytest.skip(f"{requirements} does not run on Python {sys.version_info[0]}.{sys.version_info[1]}")
    pins = pinned(requirements).read_text() if pinned(requirements).exists() else ""
    digest = hashlib.sha256(f"{requirements} {sys.version} {pins}".encode()).hexdigest()[:8]
    folder = cache_folder() / (re.sub(r"[^a-z0-9.]+", "-", requirements) + "-" + digest)
    ready = folder / "ready"
    if requirements in ABSENT:
        pytest.skip(f"{NO_CLIENT} ({requirements}: {ABSENT[requirements]})")
    with locked(f"{folder}.lock"):
        if not ready.exists():
            shutil.rmtree(folder, ignore_errors=True)
            pip = [] if requirements == DEBIAN_PIP else ["--without-pip"]
            subprocess.run([sys.executable, "-m", "venv", *pip, str(folder)], check=True)
            reason = requirements != DEBIAN_PIP and _install(folder, requirements)
            if reason:
                shutil.rmtree(folder)
                ABSENT[requirements] = reason
                pytest.skip(f"{NO_CLIENT} ({requirements}: {reason})")
            ready.touch()
    return folder


class Client:
    """A program of an environment, with a home of its own for configuration and caches."""

    def __init__(self, requirements, home):
        self.requirements = requirements
        self.folder = environment(requirements)
        self.home = home

    def run(self, *command, code=0, cwd=None, env=None, stdin="", timeout=600):
        """Runs a program of the environment; returns the finished process with its output as text."""
        program = self.folder / "bin" / command[0]
        done = subprocess.run([str(program), *map(str, command[1:])], cwd=cwd or self.home, text=True,
                              env=clean_environment(self.home, **({"PIP_NO_COMPILE": "1"} | (env or {}))), capture_output=True,
                              input=stdin, timeout=timeout, check=False)
        assert done.returncode == code, f"{done.args}: exit {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    def pip(self, *arguments, **options):
        return self.run("python", "-m", "pip", *arguments, **options)


def pip_index(url):
    """The options that let pip see one index only."""
    return ["--isolated", "--disable-pip-version-check", "--no-cache-dir", "--index-url", url]


# pdm 2.29 does not work with hishel 2, which renamed a class (of a cache that is not used here), nor with unearth 0.19,
# which uses httpx2; the recorded wheels have no older ones.
PDM_MENDED = """
import sys
try:
    import httpx2
    sys.modules["httpx"] = httpx2
    import hishel
    hishel.SyncSqliteStorage = hishel.SqliteStorage
except ImportError:
    pass
"""


def pdm_settings(folder):
    """The environment variables for pdm, without its notices; it needs a folder of its own."""
    mended = folder / "mended"
    mended.mkdir(exist_ok=True)
    (mended / "sitecustomize.py").write_text(PDM_MENDED)
    return {"PDM_CHECK_UPDATE": "0", "PDM_NON_INTERACTIVE": "1", "PDM_NO_CACHE": "1", "PYTHONPATH": str(mended)}
