# SPDX-License-Identifier: Apache-2.0
"""Runs README.md's way from nothing to a CI job word for word, with another port, and then the job's own command; and each
command of "What it does"."""
import os
import pathlib
import re
import shutil
import socket
import subprocess

import pytest
import yaml

import clients
import documented
import storelib

HEADING = "From nothing to a CI job in five minutes"
README = clients.ROOT / "README.md"


def section(title):
    return README.read_text(encoding="utf-8").partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@pytest.fixture(name="steps")
def steps_fixture():
    """The text of each step, as a document of its own, with a port that is free."""
    if not list(pathlib.Path("/usr/share/python-wheels").glob("setuptools-*.whl")):
        pytest.skip("Debian's wheel of setuptools is not installed: python3-setuptools-whl")
    parts = re.split(r"^\d+\. ", section(HEADING).replace("127.0.0.1:8080", f"127.0.0.1:{free_port()}"), flags=re.M)[1:]
    return [re.sub("^   ", "", part, flags=re.M) for part in parts]


@pytest.fixture(name="environment")
def environment_fixture(tmp_path):
    """A new user: no settings, no state, and the program on the path."""
    home = tmp_path / "home"
    (home / "bin").mkdir(parents=True)
    (home / "bin/wheelcache").symlink_to(os.environ["WHEELCACHE"])
    kept = clients.clean_environment(home, PATH=f"{home}/bin:{os.environ['PATH']}")
    return {name: value for name, value in kept.items() if name != "PIP_CONFIG_FILE"}


class Terminal:
    """The first terminal, in which the server stays."""

    def __init__(self, step, folder, environment):
        (command, printed), = documented.commands(step)
        self.process = subprocess.Popen(["bash", "-c", f"exec {command}"], cwd=folder, env=environment, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)
        assert self.process.stdout.readline() == f"{printed}\n"

    def end(self):
        self.process.terminate()
        self.process.communicate()
        return self.process.returncode


def job_of(step, folder, environment):
    """Runs the command of the workflow that the step prints, with its variables, in a folder with requirements."""
    (command, _), = documented.commands(step)
    printed = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, check=True).stdout
    job = yaml.safe_load(printed)["jobs"]["test"]
    (folder / "requirements.txt").write_text("setuptools\n")
    wanted = job["steps"][-1]["run"].replace("python -m pip install", "try/bin/python -m pip install --force-reinstall -v")
    return subprocess.run(["bash", "-c", wanted], cwd=folder, env=environment | job["env"], capture_output=True, text=True, check=False)


def test_from_nothing_to_a_job_word_for_word(steps, environment, tmp_path):
    folder = tmp_path / "fresh"
    folder.mkdir()
    if not shutil.which("curl"):
        pytest.skip("there is no curl")
    assert len(steps) == 6 and "./run" in steps[0]
    ran = documented.run(steps[1], folder, environment)
    terminal = Terminal(steps[2], folder, environment)
    try:
        ran += documented.run(steps[3], folder, environment)
        ran += documented.run(steps[4], folder, environment)
        job = job_of(steps[4], folder, environment)
        ran += documented.run(steps[5], folder, environment)
    finally:
        status = terminal.end()
    assert (ran, status) == (11, 0)
    assert job.returncode == 0 and "Successfully installed setuptools" in job.stdout, job.stdout + job.stderr
    assert "/files/debian-12-x86_64/setuptools/" in job.stdout


SITE = """[store]
path = {folder}/wheels
[catalog]
path = {folder}/catalog.db
[upstream]
offline = yes
[view staging]
platforms = debian-12-x86_64
[view tested]
from = staging
[branch main]
requirements = {folder}/requirements.txt
"""


def test_what_it_does_line_by_line(environment, tmp_path):
    """On a store that has what they name. The server takes another port, and ends."""
    for name, version in ("numpy", "2.0"), ("acme", "2.1"):
        storelib.make_wheel(tmp_path / "wheels/debian-12-x86_64", name, version)
    storelib.make_wheel(tmp_path / "dist", "acme", "2.2")
    (tmp_path / "requirements.txt").write_text("numpy\n")
    (tmp_path / "wheelcache.conf").write_text(SITE.format(folder=tmp_path))
    environment |= {"WHEELCACHE_CONFIG": f"{tmp_path}/wheelcache.conf"}
    subprocess.run(["wheelcache", "index", "-q"], env=environment, check=True)
    (serve, _), *others = documented.commands(section("What it does"))
    with subprocess.Popen(["bash", "-c", "exec " + serve.replace("serve", "serve --listen 127.0.0.1:0")], cwd=tmp_path, env=environment,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        try:
            assert server.stdout.readline().startswith("http://127.0.0.1:")
        finally:
            server.terminate()
    done = {command: subprocess.run(["bash", "-c", command], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120,
                                    check=False) for command, _ in others}
    failed = {command: (one.returncode, one.stderr) for command, one in done.items() if one.returncode or "error:" in one.stderr}
    assert (len(done), server.returncode, failed) == (8, 0, {})
