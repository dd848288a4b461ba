# SPDX-License-Identifier: Apache-2.0
"""wheelcache lock rewrite: a lock that was made with another index installs from ours, which has no upstream any more."""
import sys

import pytest

import clients
import merging
import serving
import storelib
from test_mirror import BOTH, HOST, PDM, PIP, UV, Mirrored, installed, locked_project


@pytest.fixture(name="at")
def at_fixture(tmp_path, index):
    return Mirrored(tmp_path, index)


def rewrite(lock, url, *words, code=0):
    done = serving.run("lock", "rewrite", *words, lock, *(["--index", url] if url else []))
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout if not code else done.stderr


def offline_server(serve, at, lock):
    """The mirror is filled, and upstream is gone."""
    at.run("fill", "app", "--lock", lock)
    server = serve(None, config=at.config(offline="yes"), state=at.state, listen=f"{HOST}:0")
    at.index.asked.clear()
    at.index.is_down = True
    return server


def test_uv_syncs_a_foreign_lock(at, serve, client):
    """Made with upstream itself; the copy and the project name ours, and all installs offline."""
    project, uv = locked_project(at), client(UV)
    uv.run("uv", "lock", "--no-cache", "--default-index", at.index.url, "--python", sys.executable, cwd=project)
    lock = project / "uv.lock"
    server = offline_server(serve, at, lock)
    before = lock.read_text()
    ours = f"{server.url}/simple/"
    rewrite(lock, ours, "--output", str(lock))
    after = lock.read_text()
    assert at.index.url.rstrip("/") not in after and f"{server.url}/files/upstream/" in after
    changed = [(old, new) for old, new in zip(before.splitlines(), after.splitlines()) if old != new]
    assert len(before.splitlines()) == len(after.splitlines()) and all("http" in old for old, _ in changed)
    uv.run("uv", "sync", "--locked", "--no-cache", "--default-index", ours, "--python", sys.executable, cwd=project)
    assert installed(project / ".venv") == BOTH
    assert not at.index.asked


def test_pip_installs_direct_urls(at, serve, client):
    """Requirements with an index and with URLs of files."""
    foreign = at.index.url.removesuffix("simple/")
    lock = at.requirements("one", more=f"two @ {foreign}packages/{at.wheel['two'].name}#sha256={at.wheel['two'].sha256}\n")
    lock.write_text(f"--index-url {at.index.url}\n" + lock.read_text())
    whole = at.folder / "whole.txt"
    whole.write_text("".join(f"{key}==1.0 --hash=sha256:{at.wheel[key].sha256}\n" for key in ("one", "two")))
    server = offline_server(serve, at, whole)
    copy = at.folder / "copy.txt"
    copy.write_text(rewrite(lock, f"{server.url}/simple/"))
    client(PIP).pip("install", "--no-cache-dir", "--require-hashes", "--trusted-host", HOST, "--target", at.folder / "target",
                    "-r", copy)
    assert installed(at.folder / "target") == BOTH
    assert not at.index.asked


def test_pdm_syncs_a_foreign_lock(at, serve, client):
    """With static URLs, which pdm.lock has then."""
    project = locked_project(at, '[tool.pdm]\ndistribution = false\n[[tool.pdm.source]]\nname = "pypi"\n'
                                 f'url = "{at.index.url}"\n')
    pdm, env = client(PDM), clients.pdm_settings(at.folder)
    pdm.run("pdm", "use", "-f", sys.executable, cwd=project, env=env)
    pdm.run("pdm", "lock", "-S", "static_urls", cwd=project, env=env)
    lock = project / "pdm.lock"
    server = offline_server(serve, at, lock)
    rewrite(lock, f"{server.url}/simple/", "-o", str(lock))
    text = project / "pyproject.toml"
    text.write_text(text.read_text().replace(at.index.url, f"{server.url}/simple/"))
    pdm.run("pdm", "sync", cwd=project, env=env)
    assert installed(project / ".venv") == BOTH
    assert not at.index.asked


def test_what_the_new_index_lacks(at, serve):
    """An error with the line; nothing is written. A password of the index comes into no copy."""
    foreign = at.index.url.removesuffix("simple/")
    server = serve(None, config=at.config(), state=at.state, listen=f"{HOST}:0")
    ours = f"{server.url}/simple/"
    lock = at.folder / "lock.txt"
    lock.write_text(f"--index-url {at.index.url}\none==1.0\ngone @ {foreign}packages/{at.wheel['gone'].name}\n")
    why = rewrite(lock, ours, "-o", str(at.folder / "copy"), code=1)
    assert "lock.txt:3: " in why and not (at.folder / "copy").exists()
    lock.write_text(f"two @ {foreign}packages/{at.wheel['two'].name}#sha256={'0' * 64}\n")
    assert "lock.txt:1: the new index has another SHA-256" in rewrite(lock, ours, code=1)
    lock.write_text(f"--index-url {at.index.url}\none==1.0\n")
    secret = ours.replace("://", "://x:secret@")
    assert rewrite(lock, secret) == f"--index-url {ours}\none==1.0\n"
    assert "--index URL is missing" in rewrite(lock, None, code=2)
    assert "--index: " in rewrite(lock, "ftp://h/", code=2)
    assert merging.status_of(server, "one") == 200


def test_a_store_of_its_own(at, serve):
    """Any file of the view, not upstream's alone."""
    wheel = storelib.make_wheel(at.store / "debian-12-x86_64", "ours", "1.0")
    at.scan()
    server = serve(None, config=at.config(), state=at.state, listen=f"{HOST}:0")
    lock = at.folder / "lock.txt"
    lock.write_text(f"ours @ https://old.invalid/{wheel.name}#sha256={wheel.sha256}\n")
    copy = rewrite(lock, f"{server.url}/simple/")
    assert copy.startswith(f"ours @ {server.url}/files/") and copy.endswith(f"{wheel.name}#sha256={wheel.sha256}\n")
