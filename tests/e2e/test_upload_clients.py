# SPDX-License-Identifier: Apache-2.0
"""Each upload client; then pip and uv install the uploaded file, at once."""
import hashlib
import re
import shutil
import subprocess
import types

import pytest

import clients
import serving
import storelib
import uploading

PLATFORM = "debian-12-x86_64"
TWINE = "twine==7.0.0"
OLD_TWINE = "twine==4.0.2 importlib_metadata==7.2.1 pkginfo==1.10.0"
UV = "uv==0.13.9"
FLIT = "flit==4.2.0"
POETRY = "poetry==2.5.1"
PDM = "pdm==2.29.3"


@pytest.fixture
def index(serve, tmp_path):
    """A server with a store of its own, and a token."""
    storelib.make_wheel(tmp_path / "store" / PLATFORM / "f" / "foo", "foo", "1.0")
    server = serve(tmp_path / "store")
    server.token = uploading.add_token(server, "--note", "builder", "--platform", "debian-*")
    server.upload_url = f"{server.url}/upload/{PLATFORM}/"
    server.simple_url = f"{server.url}/{PLATFORM}/simple/"
    return server


def results(server):
    """The result of each upload, from the audit log."""
    return [line["result"] for line in uploading.audit(server) if line["action"] == "upload"]


def real_wheel(shared, name):
    return next((shared / "corpus" / "wheels").rglob(name))


def twine(client, server, files, code=0, more=()):
    return client.run("twine", "upload", "--repository-url", server.upload_url, "-u", "__token__", "-p", server.token,
                      "--non-interactive", "--disable-progress-bar", "--verbose", *more, *files, code=code)


def uv(client, server, files, code=0, more=()):
    return client.run("uv", "publish", "--publish-url", server.upload_url, "--token", server.token, *more, *files,
                      code=code)


def pdm(client, server, files, code=0, more=()):
    folder = client.home / "pdm"
    folder.mkdir(exist_ok=True)
    (folder / "pyproject.toml").write_text('[project]\nname = "x"\nversion = "1"\nrequires-python = ">=3.8"\n')
    (folder / "dist").mkdir(exist_ok=True)
    for path in files:
        (folder / "dist" / path.name).write_bytes(path.read_bytes())
    return client.run("pdm", "publish", "--no-build", "--repository", server.upload_url, "--username", "me",
                      "--password", server.token, *more, cwd=folder, code=code, env=clients.pdm_settings(client.home))


SENDERS = [pytest.param(TWINE, twine, id="twine"), pytest.param(OLD_TWINE, twine, id="old-twine"),
           pytest.param(UV, uv, id="uv"), pytest.param(PDM, pdm, id="pdm")]


def install(client, server, requirement, wheel, tmp_path):
    """pip and uv install it, each with an empty cache; they get the bytes that were uploaded."""
    for name, requirements in (("pip", "pip==26.3"), ("uv", UV)):
        installer = client(requirements)
        target = tmp_path / f"{name}-{requirement.replace('=', '')}"
        if name == "pip":
            done = installer.pip("install", *clients.pip_index(server.simple_url), "--no-deps", "--target", target,
                                 "--report", tmp_path / "report.json", requirement)
            assert hashlib.sha256(wheel.read_bytes()).hexdigest() in (tmp_path / "report.json").read_text()
        else:
            done = installer.run("uv", "pip", "install", "--no-cache", "--no-deps", "--python", "/usr/bin/python3",
                                 "--index-url", server.simple_url, "--target", target, requirement)
        assert list(target.glob("*.dist-info")), done.stderr


@pytest.mark.parametrize("requirements, send", SENDERS)
def test_a_real_wheel_and_a_new_one(client, index, shared, tmp_path, requirements, send):
    real = real_wheel(shared, "six-*.whl" if requirements == OLD_TWINE else "certifi-*.whl")
    new = storelib.make_wheel(tmp_path / "dist", "newly-built", "1.2").path
    send(client(requirements), index, [real, new])
    install(client, index, re.match("[a-z]+", real.name)[0], real, tmp_path)
    install(client, index, "newly-built==1.2", new, tmp_path)
    assert results(index) == ["done", "done"]


@pytest.mark.parametrize("requirements, send", SENDERS)
def test_sending_again_is_no_error(client, index, tmp_path, requirements, send):
    new = storelib.make_wheel(tmp_path / "dist", "newly-built", "1.2").path
    for _ in range(2):
        send(client(requirements), index, [new])
    assert results(index) == ["done", "same"]


@pytest.mark.parametrize("requirements, send", SENDERS)
def test_other_bytes_are_an_error_that_names_the_reason(client, index, tmp_path, requirements, send):
    first = storelib.make_wheel(tmp_path / "one", "newly-built", "1.2").path
    other = storelib.make_wheel(tmp_path / "two", "newly-built", "1.2", files={"newly_built.py": b"x = 2\n"}).path
    send(client(requirements), index, [first])
    done = send(client(requirements), index, [other], code=2 if send is uv else 1)
    said = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout + done.stderr)
    assert "409" in said and f"File already exists: {first.name} with other contents" in " ".join(said.split()), said
    assert uploading.listed(index, PLATFORM, "newly-built")[first.name] == \
        hashlib.sha256(first.read_bytes()).hexdigest()


def test_old_twine_skips_what_exists(client, index, tmp_path):
    first = storelib.make_wheel(tmp_path / "one", "newly-built", "1.2").path
    other = storelib.make_wheel(tmp_path / "two", "newly-built", "1.2", files={"newly_built.py": b"x = 2\n"}).path
    twine(client(OLD_TWINE), index, [first])
    twine(client(OLD_TWINE), index, [other], more=["--skip-existing"])


def test_uv_asks_the_page_first(client, index, tmp_path):
    new = storelib.make_wheel(tmp_path / "dist", "newly-built", "1.2").path
    for _ in range(2):
        uv(client(UV), index, [new], more=["--check-url", index.simple_url])
    assert results(index) == ["done"]


@pytest.mark.parametrize("requirements, send", SENDERS)
def test_a_wrong_token_ends_at_once(client, index, tmp_path, requirements, send):
    new = storelib.make_wheel(tmp_path / "dist", "newly-built", "1.2", size=300_000).path
    wrong = types.SimpleNamespace(upload_url=index.upload_url, token="wc_wrong")
    done = send(client(requirements), wrong, [new], code=2 if send is uv else 1)
    assert "401" in done.stdout + done.stderr or "credentials" in done.stdout + done.stderr, done


def test_twine_tries_again_while_a_platform_is_frozen(client, index, tmp_path):
    """It repeats at once after a 503, then gives up; the next run succeeds."""
    new = storelib.make_wheel(tmp_path / "dist", "newly-built", "1.2").path
    where = ["--catalog", index.catalog, "--store", tmp_path / "store"]
    assert serving.run("freeze", *where, "--reason", "volume move", PLATFORM).returncode == 0
    twine(client(TWINE), index, [new], code=1)
    assert len(results(index)) > 1 and set(results(index)) == {"failed"}
    assert serving.run("thaw", *where, PLATFORM).returncode == 0
    twine(client(TWINE), index, [new])
    assert results(index)[-1] == "done"


def test_flit_builds_and_publishes(client, index, tmp_path):
    project = tmp_path / "project"
    project.mkdir()
    (project / "flitted.py").write_text('"""A module."""\n__version__ = "1.0"\n')
    (project / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["flit_core"]\nbuild-backend = "flit_core.buildapi"\n'
        '[project]\nname = "flitted"\ndynamic = ["version", "description"]\n')
    client(FLIT).run("flit", "publish", cwd=project, env={
        "FLIT_INDEX_URL": index.upload_url, "FLIT_USERNAME": "__token__", "FLIT_PASSWORD": index.token,
        "FLIT_ALLOW_INVALID": "", "SOURCE_DATE_EPOCH": "1700000000"})
    wheel = next((project / "dist").glob("*.whl"))
    assert set(uploading.listed(index, PLATFORM, "flitted")) == {wheel.name, "flitted-1.0.tar.gz"}
    install(client, index, "flitted", wheel, tmp_path)


def test_poetry_builds_and_publishes(client, index, tmp_path):
    project = tmp_path / "project"
    (project / "poetic").mkdir(parents=True)
    (project / "poetic" / "__init__.py").write_text("")
    (project / "README.md").write_text("poetic\n")
    (project / "pyproject.toml").write_text(
        '[project]\nname = "poetic"\nversion = "1.0"\ndescription = ""\nreadme = "README.md"\n'
        'requires-python = ">=3.8"\n[build-system]\nrequires = ["poetry-core"]\n'
        'build-backend = "poetry.core.masonry.api"\n')
    client(POETRY).run("poetry", "publish", "--build", "-r", "ours", "--no-interaction", cwd=project, env={
        "POETRY_REPOSITORIES_OURS_URL": index.upload_url, "POETRY_HTTP_BASIC_OURS_USERNAME": "__token__",
        "POETRY_HTTP_BASIC_OURS_PASSWORD": index.token})
    wheel = project / "dist" / "poetic-1.0-py3-none-any.whl"
    assert set(uploading.listed(index, PLATFORM, "poetic")) == {wheel.name, "poetic-1.0.tar.gz"}
    install(client, index, "poetic", wheel, tmp_path)


@pytest.mark.skipif(not shutil.which("curl"), reason="curl is not installed")
def test_curl(index, tmp_path):
    new = storelib.make_wheel(tmp_path / "dist", "newly-built", "1.2").path
    done = subprocess.run(["curl", "-sS", "--fail-with-body", "-u", f"me:{index.token}", "-F", f"content=@{new}",
                           index.upload_url], capture_output=True, text=True, check=True)
    assert "published" in done.stdout
    assert list(uploading.listed(index, PLATFORM, "newly-built")) == [new.name]
