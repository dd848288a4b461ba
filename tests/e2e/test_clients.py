# SPDX-License-Identifier: Apache-2.0
"""Real clients install, download, lock and resume from the store of recorded wheels."""
import hashlib
import re
import socket
import sys
import threading

import pytest

import clients
import recorded
import serving
import storelib

WANTED = ["requests", "PyYAML", "zope.interface"]
# What these resolve to on debian-12-x86_64 with Python 3.11, dependencies and all.
RESOLVED = {"requests": "2.34.2", "pyyaml": "6.0.3", "zope-interface": "8.7", "certifi": "2026.10.18",
            "charset-normalizer": "3.5.2", "idna": "3.20", "urllib3": "2.8.0"}
# PEP 658. pip 22.3 to 23.1 use it too, from HTML only, but must not get it: they compare the Name of METADATA with the
# requirement without normalising either, so that "pyyaml", or "charset_normalizer" as requests spells it, could not be
# installed (fixed in 23.2).
READS_METADATA = ["pip==23.2.1", "pip==24.2", "pip==26.3"]
NEWEST = "pip==26.3"
UV = "uv==0.13.9"
POETRY = "poetry==2.5.1"
PDM = "pdm==2.29.3"


def normal(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def installed(folder):
    """Project and version of every .dist-info below a folder."""
    found = [path.name.removesuffix(".dist-info").split("-") for path in folder.rglob("*.dist-info")]
    return {normal(name): version for name, version in found}


def pins(text):
    """name -> version of the lines "name==version" of a requirements file."""
    return {normal(name): version for name, version in re.findall(r"^([\w.-]+)==([^\s\\]+)", text, re.M)}


def wheels_of(entries):
    """The wheels whose bytes were sent, by file name."""
    return [one.path.rsplit("/", 1)[1] for one in entries
            if one.method == "GET" and one.path.endswith(".whl") and one.status in (200, 206)]


def metadata_of(entries):
    return [one.path for one in entries if one.path.endswith(".whl.metadata") and one.status == 200]


@pytest.fixture(scope="module", name="hashes")
def hashes_fixture(shared):
    return recorded.hashes(shared)


@pytest.mark.parametrize("pip", clients.PIPS)
def test_pip_installs(native, client, pip, tmp_path):
    target = tmp_path / "target"
    with native.server.watch() as seen:
        client(pip).pip("install", *clients.pip_index(native.url), "--target", target, *WANTED)
    assert installed(target) == RESOLVED
    assert len(wheels_of(seen)) == len(RESOLVED)
    assert bool(metadata_of(seen)) == (pip in READS_METADATA)
    assert {one.status for one in seen} == {200}


@pytest.mark.parametrize("pip", clients.PIPS)
def test_pip_downloads_what_the_hashes_say(native, client, hashes, pip, tmp_path):
    names = ["six-1.17.0-py2.py3-none-any.whl", "q-2.7-py2.py3-none-any.whl",
             "bcrypt-5.0.0-cp39-abi3-manylinux_2_34_x86_64.whl"]
    lines = [f"{name.split('-')[0]}=={name.split('-')[1]} --hash=sha256:{hashes[name]}\n" for name in names]
    (tmp_path / "pins.txt").write_text("".join(lines))
    client(pip).pip("download", *clients.pip_index(native.url), "--require-hashes", "-r", tmp_path / "pins.txt",
                    "-d", tmp_path / "got")
    got = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in (tmp_path / "got").iterdir()}
    assert got == {name: hashes[name] for name in names}


def test_pip_refuses_what_the_hashes_do_not_say(native, client, tmp_path):
    """So the previous test is meaningful."""
    (tmp_path / "pins.txt").write_text(f"six==1.17.0 --hash=sha256:{'0' * 64}\n")
    done = client(NEWEST).pip("download", *clients.pip_index(native.url), "--require-hashes", "-r",
                                   tmp_path / "pins.txt", "-d", tmp_path / "got", code=1)
    assert "DO NOT MATCH THE HASHES" in done.stderr


def test_pip_resolves_from_metadata_alone(native, client):
    with native.server.watch() as seen:
        done = client(NEWEST).pip("install", *clients.pip_index(native.url), "--dry-run", "--ignore-installed",
                                  *WANTED)
    words = done.stdout.strip().splitlines()[-1].removeprefix("Would install ").split()
    assert {normal(one.rsplit("-", 1)[0]): one.rsplit("-", 1)[1] for one in words} == RESOLVED
    assert wheels_of(seen) == []
    assert len(metadata_of(seen)) == len(RESOLVED)


def test_pip_finds_any_spelling(native, client, tmp_path):
    target = tmp_path / "target"
    client(NEWEST).pip("install", *clients.pip_index(native.url.rstrip("/")), "--target", target, "--no-deps",
                            "Zope_Interface", "ruamel.YAML.clib", "charset.normalizer")
    assert installed(target) == {"zope-interface": "8.7", "ruamel-yaml-clib": "0.2.8",
                                 "charset-normalizer": "3.5.2"}


class CuttingProxy:
    """Forwards bytes to a server, but cuts the first answer to a request for a wheel after some bytes. The server notices the
    cut before the client does."""

    def __init__(self, server, after):
        self.server, self.after, self.cuts = server, after, 0
        self.before = len(server.entries())
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = "http://127.0.0.1:%d" % self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._carry, args=(near,), daemon=True).start()

    def _carry(self, near):
        """One request after the other: a client of HTTP/1.1 waits for its answer."""
        with near, self.server.socket() as far:
            threading.Thread(target=self._answers, args=(far, near), daemon=True).start()
            self.left = None
            while request := near.recv(65536):
                if self.cuts == 0 and re.match(rb"GET \S+\.whl HTTP", request):
                    self.left = self.after
                far.sendall(request)

    def _answers(self, far, near):
        try:
            while data := far.recv(16384):
                if self.left is not None:
                    self.left -= len(data)
                    if self.left < 0:
                        self.cuts, self.left = self.cuts + 1, None
                        far.close()
                        serving.wait_for(lambda: wheels_of(self.server.entries()[self.before:]), 30, "the line of the cut")
                        near.shutdown(socket.SHUT_RDWR)
                        return
                near.sendall(data)
        except OSError:
            return

    def close(self):
        self.listener.close()


def test_pip_resumes_after_a_cut_connection(native, client, hashes, tmp_path):
    name = "protobuf-7.36.2-cp310-abi3-manylinux2014_x86_64.whl"
    with native.server.watch() as seen:
        proxy = CuttingProxy(native.server, after=100_000)
        client(NEWEST).pip("download", *clients.pip_index(f"{proxy.url}/{native.name}/simple/"), "--no-deps",
                            "protobuf==7.36.2", "-d", tmp_path)
    proxy.close()
    assert proxy.cuts == 1
    assert hashlib.sha256((tmp_path / name).read_bytes()).hexdigest() == hashes[name]
    assert [one.status for one in seen if one.path.endswith(name)] == [200, 206]


def uv_index(url):
    return ["--default-index", url, "--python", sys.executable, "--no-cache"]


def test_uv_compiles_from_metadata_and_syncs(native, client, hashes, tmp_path):
    uv = client(UV)
    (tmp_path / "in.txt").write_text("\n".join(WANTED) + "\n")
    with native.server.watch() as seen:
        uv.run("uv", "pip", "compile", *uv_index(native.url), "--generate-hashes", tmp_path / "in.txt", "-o",
               tmp_path / "lock.txt")
    lock = (tmp_path / "lock.txt").read_text()
    assert pins(lock) == RESOLVED
    assert hashes["requests-2.34.2-py3-none-any.whl"] in lock
    assert wheels_of(seen) == []
    assert len(metadata_of(seen)) >= len(RESOLVED)

    with native.server.watch() as seen:
        uv.run("uv", "pip", "sync", *uv_index(native.url), "--require-hashes", "--target", tmp_path / "target",
               tmp_path / "lock.txt")
    assert installed(tmp_path / "target") == RESOLVED
    assert len(wheels_of(seen)) == len(RESOLVED)


def project_file(name, dependencies, extra=""):
    return (f'[project]\nname = "{name}"\nversion = "1"\nrequires-python = "==3.11.*"\n'
            f"dependencies = {dependencies!r}\n{extra}")


def test_uv_lock_outlives_the_server(recorded_python, corpus, serve, client, tmp_path):
    """uv.lock has absolute URLs of files: another process that serves the store must answer them."""
    host = "127.0.0.2"  # no connection comes from there, so the port stays free between the two
    first = serve(corpus.store, listen=f"{host}:0")
    project = tmp_path / "project"
    project.mkdir()
    (project / "pyproject.toml").write_text(project_file("locked", WANTED))
    uv = client(UV)
    uv.run("uv", "lock", *uv_index(f"{first.url}/debian-12-x86_64/simple/"), cwd=project)
    lock = (project / "uv.lock").read_text()
    first.stop()

    again = serve(corpus.store, *serving.ONE_LOOP, listen=f"{host}:{first.port}")
    with again.watch() as seen:
        uv.run("uv", "sync", "--frozen", "--no-cache", "--python", sys.executable, cwd=project)
    assert installed(project / ".venv") == RESOLVED
    assert f"{again.url}/files/debian-12-x86_64/requests/requests-2.34.2-py3-none-any.whl" in lock
    assert sorted(wheels_of(seen)) == sorted(set(wheels_of(seen))) and len(wheels_of(seen)) == len(RESOLVED)


@pytest.mark.parametrize("requirements", [*clients.PIPS, UV])
def test_wheel_with_a_local_version(serve_module, client, requirements, tmp_path, tmp_path_factory):
    store = tmp_path_factory.mktemp("store")
    wheel = storelib.make_wheel(store, "foo", "1.0+local.1")
    storelib.make_wheel(store, "foo", "1.0")
    server = serve_module(store, *serving.ONE_LOOP)
    index, target = f"{server.url}/simple/", tmp_path / "target"
    with server.watch() as seen:
        if requirements == UV:
            client(UV).run("uv", "pip", "install", *uv_index(index), "--target", target, "foo")
        else:
            client(requirements).pip("install", *clients.pip_index(index), "--target", target, "foo")
    assert installed(target) == {"foo": "1.0+local.1"}
    assert [name.replace("%2B", "+") for name in wheels_of(seen)] == [wheel.name]


def test_poetry_locks_and_installs(native, client, tmp_path):
    source = f'[[tool.poetry.source]]\nname = "ours"\nurl = "{native.url}"\npriority = "primary"\n'
    (tmp_path / "pyproject.toml").write_text(
        project_file("by-poetry", WANTED, "[tool.poetry]\npackage-mode = false\n" + source))
    poetry = client(POETRY)
    env = {"POETRY_VIRTUALENVS_IN_PROJECT": "true", "POETRY_NO_INTERACTION": "1"}
    with native.server.watch() as seen:
        poetry.run("poetry", "lock", cwd=tmp_path, env=env)
    assert wheels_of(seen) == []
    assert len(metadata_of(seen)) >= len(RESOLVED)
    poetry.run("poetry", "install", cwd=tmp_path, env=env)
    assert RESOLVED.items() <= installed(tmp_path / ".venv").items()


def test_pdm_locks_and_syncs(native, client, tmp_path):
    source = f'[[tool.pdm.source]]\nname = "pypi"\nurl = "{native.url}"\n'
    (tmp_path / "pyproject.toml").write_text(
        project_file("by-pdm", WANTED, "[tool.pdm]\ndistribution = false\n" + source))
    pdm = client(PDM)
    env = clients.pdm_settings(tmp_path)
    pdm.run("pdm", "use", "-f", sys.executable, cwd=tmp_path, env=env)
    with native.server.watch() as seen:
        pdm.run("pdm", "lock", cwd=tmp_path, env=env)
    assert len(metadata_of(seen)) >= len(RESOLVED)
    pdm.run("pdm", "sync", cwd=tmp_path, env=env)
    assert RESOLVED.items() <= installed(tmp_path / ".venv").items()
