# SPDX-License-Identifier: Apache-2.0
"""Through the merged view pip, uv and poetry install the same as directly from upstream, and our wheels too; also through a
chain of servers, and over HTTPS with a private CA."""
import re
import shutil
import sys

import pytest

import authority
import clients
import merging
import serving
import storelib

WANTED = ["requests", "PyYAML", "zope.interface", "protobuf", "psutil"]
PIP, UV, POETRY = "pip==26.3", "uv==0.13.9", "poetry==2.5.1"
PLATFORM = "debian-12-x86_64"
SOON = 120


def normal(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def installed(folder):
    found = [path.name.removesuffix(".dist-info").split("-") for path in folder.rglob("*.dist-info")]
    return {normal(name): version for name, version in found if normal(name) not in ("pip", "setuptools")}


def uv_index(url):
    return ["--no-cache", "--python", sys.executable, "--index-url", url]


def install(client, name, url, target, wanted):
    if name == UV:
        client(UV).run("uv", "pip", "install", *uv_index(url), "--target", target, *wanted)
    else:
        client(name).pip("install", *clients.pip_index(url), "--target", target, *wanted)
    return installed(target)


@pytest.fixture(scope="module", name="up")
def up_fixture(recorded_python, shared, upstream):
    return upstream("--only-held", "--dir", shared / "corpus")


@pytest.fixture(name="store")
def store_fixture(tmp_path):
    """A wheel that only we have, which requires one of upstream's."""
    storelib.make_wheel(tmp_path / "store", "mine", "1.0", requires=["six"])
    return tmp_path / "store"


@pytest.mark.parametrize("name, wanted", [(PIP, WANTED), ("pip==22.0.4", ["PyYAML"]), (UV, WANTED)])
def test_client_installs_the_same(serve, store, up, client, tmp_path, name, wanted):
    straight = install(client, name, up.url, tmp_path / "straight", wanted)
    assert len(straight) >= len(wanted)
    server = serve(store, "--upstream", "--upstream-url", up.url)
    url = f"{server.url}/simple/"
    assert install(client, name, url, tmp_path / "cold", wanted) == straight
    up.reset()
    assert install(client, name, url, tmp_path / "warm", wanted) == straight
    assert up.stats()["requests"] == 0
    assert install(client, name, url, tmp_path / "mine", ["mine"])["mine"] == "1.0"
    assert (tmp_path / "mine" / "six.py").exists()


def project_file(name, dependencies, extra=""):
    return (f'[project]\nname = "{name}"\nversion = "1"\nrequires-python = "==3.11.*"\n'
            f"dependencies = {dependencies!r}\n{extra}")


def test_poetry_locks_and_installs(serve, store, up, client, tmp_path):
    server = serve(store, "--upstream", "--upstream-url", up.url)
    source = f'[[tool.poetry.source]]\nname = "ours"\nurl = "{server.url}/simple/"\npriority = "primary"\n'
    (tmp_path / "pyproject.toml").write_text(
        project_file("by-poetry", ["mine", "PyYAML"], "[tool.poetry]\npackage-mode = false\n" + source))
    poetry = client(POETRY)
    env = {"POETRY_VIRTUALENVS_IN_PROJECT": "true", "POETRY_NO_INTERACTION": "1"}
    poetry.run("poetry", "lock", cwd=tmp_path, env=env)
    poetry.run("poetry", "install", cwd=tmp_path, env=env)
    assert {"mine", "six", "pyyaml"} <= set(installed(tmp_path / ".venv"))


def prune(server, folder):
    """By the program, as an operator does it; returns a function that purges."""
    def run(*words):
        done = serving.run("prune", *words, "--config", server.config_path, "--catalog", server.catalog)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout
    run("plan", "--quiet", "--output", folder / "plan.json")
    assert "1 file pruned" in run("apply", folder / "plan.json")
    return lambda: run("purge", "--grace", "0")


def test_locks_outlive_the_prune_of_what_upstream_has_too(serve, up, client, tmp_path, shared):
    """Our wheel is the same as upstream's. One lock is from the merged view, and has our URL of upstream's file; the other is
    from a local view, and has the URL of ours."""
    store, uv = tmp_path / "store", client(UV)
    twin = next(path for path in sorted((shared / "corpus" / "wheels").glob("six-*.whl")))
    version = twin.name.split("-")[1]
    storelib.make_wheel(store / PLATFORM, "mine", "1.0", requires=["six"])
    shutil.copy(twin, store / PLATFORM / twin.name)
    server = serve(None, "--rescan", "0", config=(
        f"[store]\npath = {store}\n[view local]\nplatforms = {PLATFORM}\nupstream = no\n"
        f"[upstream]\nurl = {up.url}\nmerge = yes\n"
        "[prune]\nclients-have-upstream = yes\nmin-age = 0\nupstream-min-age = 0\nmax-files = 100%\nmax-bytes = 100%\n"))

    def lock(view, url):
        project = tmp_path / f"from{view}".replace("/", "-")
        project.mkdir()
        (project / "pyproject.toml").write_text(project_file("by-uv", [f"six=={version}", "mine"]))
        uv.run("uv", "lock", *uv_index(f"{server.url}{view}/simple/"), cwd=project)
        assert f'"{server.url}{url}"' in (project / "uv.lock").read_text()
        return project

    def sync(project):
        uv.run("uv", "sync", "--frozen", "--no-cache", "--reinstall", "--python", sys.executable, cwd=project)
        assert installed(project / ".venv")["six"] == version
    ours = f"/files/{PLATFORM}/six/{twin.name}"
    projects = [lock("", merging.url_of("six", twin.name)), lock("/local", ours)]
    purge = prune(server, tmp_path)
    serving.wait_for(lambda: merging.status_of(server, "six", "/local") == 404, SOON, "it is listed no more")
    for project in projects:
        sync(project)
    assert server.get(ours).body == twin.read_bytes()
    assert f"purged {twin.name}" in purge()
    serving.wait_for(lambda: server.get(ours).status == 302, SOON, "its bytes are gone")
    for project in projects:
        sync(project)
    assert merging.names(server, "six").count(twin.name) == 1
    assert not (store / PLATFORM / twin.name).exists()


def test_what_upstream_does_wrong_fails_no_install_for_ever(serve, up, client, tmp_path):
    server = serve(None, "--upstream", "--upstream-url", up.url)
    url = f"{server.url}/simple/"
    try:
        up.fail("wrong-bytes", on="files", project="six")
        client(PIP).pip("install", *clients.pip_index(url), "--retries", "0", "--target", tmp_path / "bad", "six", code=1)
        assert not (tmp_path / "bad" / "six.py").exists()
    finally:
        up.fail("none")
    path = merging.url_of("six", merging.names(server, "six")[-1])
    serving.wait_for(lambda: fetched(server, path), SOON, "a failure is forgotten")
    install(client, PIP, url, tmp_path / "good", ["six"])
    assert (tmp_path / "good" / "six.py").exists()


def fetched(server, path):
    try:
        return server.get(path).status == 200
    except OSError:
        return False


def test_chain_over_https_with_a_private_ca(serve, store, up, client, tmp_path):
    """A replica in another region, whose upstream is another wheelcache that merges."""
    if not shutil.which("openssl"):
        pytest.skip("there is no openssl")
    (tmp_path / "authority").mkdir()
    ca = authority.Authority(tmp_path / "authority")
    main = serve(store, "--upstream", "--upstream-url", up.url, *ca.options())
    settings = f"[upstream]\nurl = {main.url}/simple/\nmerge = yes\n"
    stranger = serve(None, config=settings)
    reply = stranger.get("/simple/six/")
    assert reply.status == 502 and b"TLS" in reply.body, reply.body
    replica = serve(None, config=f"{settings}ca-file = {ca.ca}\n")
    assert install(client, PIP, f"{replica.url}/simple/", tmp_path / "by-pip", ["mine", "PyYAML"]).keys() >= {"mine", "six", "pyyaml"}
    up.reset()
    assert install(client, UV, f"{replica.url}/simple/", tmp_path / "by-uv", ["mine", "PyYAML"]) == installed(tmp_path / "by-pip")
    assert up.stats()["requests"] == 0
    name = merging.names(replica, "mine")[0]
    assert replica.get(merging.url_of("mine", name)).body == (store / name).read_bytes()
    assert merging.status_of(replica, "nobodys") == 404
