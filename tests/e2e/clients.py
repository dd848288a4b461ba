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
WHEELS = SHARED / "clients" / "wheels"
DEBIAN_PIP = "debian"  # the pip that comes with the system's python3
PIPS = ["pip==22.0.4", "pip==22.3.1", DEBIAN_PIP, "pip==23.2.1", "pip==24.2", "pip==26.3"]
READERS = "pypi-simple==1.8.0 mousebender==2025.1"


def cache_folder():
    """Where environments stay between runs; nobody else may write there."""
    default = pathlib.Path(tempfile.gettempdir()) / f"wheelcache-clients-{os.getuid()}"
    folder = pathlib.Path(os.environ.get("WHEELCACHE_CLIENTS") or default)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    assert folder.stat().st_uid == os.getuid(), f"{folder} belongs to somebody else"
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


def _sources():
    if WHEELS.is_dir():
        return ["--no-index", "--find-links", str(WHEELS)]
    return ["--retries", "0", "--timeout", "10"]


def _install(folder, requirements):
    base = environment(DEBIAN_PIP)
    command = [str(base / "bin" / "pip"), "--python", str(folder / "bin" / "python"), "install", "-q",
               *_sources(), *requirements.split()]
    done = subprocess.run(command, env=clean_environment(folder), capture_output=True, text=True, timeout=900,
                          check=False)
    if done.returncode != 0:
        shutil.rmtree(folder)
        reason = done.stderr.strip().splitlines()[-1:] or ["no word why"]
        if WHEELS.is_dir():
            pytest.fail(f"{requirements} from {WHEELS}: {done.stderr}")
        pytest.skip(f"{requirements} cannot be had here ({reason[0]}) and {WHEELS} is absent")


def environment(requirements):
    """The folder of the environment that has these requirements, a blank between them."""
    digest = hashlib.sha256(f"{requirements} {sys.version} {WHEELS}".encode()).hexdigest()[:8]
    folder = cache_folder() / (re.sub(r"[^a-z0-9.]+", "-", requirements) + "-" + digest)
    ready = folder / "ready"
    with locked(f"{folder}.lock"):
        if not ready.exists():
            shutil.rmtree(folder, ignore_errors=True)
            pip = [] if requirements == DEBIAN_PIP else ["--without-pip"]
            subprocess.run([sys.executable, "-m", "venv", *pip, str(folder)], check=True)
            if requirements != DEBIAN_PIP:
                _install(folder, requirements)
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
                              env=clean_environment(self.home, **(env or {})), capture_output=True,
                              input=stdin, timeout=timeout, check=False)
        assert done.returncode == code, f"{done.args}: exit {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    def pip(self, *arguments, **options):
        return self.run("python", "-m", "pip", *arguments, **options)


def pip_index(url):
    """The options that let pip see one index only."""
    return ["--isolated", "--disable-pip-version-check", "--no-cache-dir", "--index-url", url]


# pdm 2.29 was made before hishel 2 renamed a class (of a cache that is not wanted here) and before unearth 0.19
# went over to httpx2; the recorded wheels have no older ones.
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
    """The environment in which pdm works, and says nothing that it was not asked; needs a folder of its own."""
    mended = folder / "mended"
    mended.mkdir(exist_ok=True)
    (mended / "sitecustomize.py").write_text(PDM_MENDED)
    return {"PDM_CHECK_UPDATE": "0", "PDM_NON_INTERACTIVE": "1", "PDM_NO_CACHE": "1", "PYTHONPATH": str(mended)}
