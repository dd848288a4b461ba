# SPDX-License-Identifier: Apache-2.0
"""The package index that this machine's pip is set to, as upstream: pages of popular projects, installs through the server, and a
plan. Only with --nightly, and if the index answers. Secrets of pip's settings (a password in the URL) appear in no output of the
server and the pruner."""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import types
import urllib.parse

import pytest

import clients
import pages
import pipindex
import serving
import storelib
from indexing import Indexed

POPULAR = clients.DATA / "popular.txt"
AT_ONCE = 6  # requests that the index sees from a client of it
# Those of these with the most files on 2026-11-22.
LARGEST = """pydantic-core grpcio-tools grpcio aiohttp rapidfuzz coverage regex hypothesis duckdb ruff wrapt pymongo sqlalchemy multidict
rpds-py yarl lxml orjson botocore pyzmq""".split()
# Small wheels for any Python, of projects whose last release is some time ago.
DUPLICATES = {"six": "1.17.0", "sniffio": "1.3.1", "toml": "0.10.2", "webencodings": "0.5.1", "mccabe": "0.7.0", "zipp": "3.20.2",
              "idna": "3.7", "sortedcontainers": "2.4.0", "tomli": "2.0.1", "iniconfig": "2.0.0", "certifi": "2024.7.4"}
PIP, UV = "pip==26.3", "uv==0.13.9"
PLATFORM = "debian-12-x86_64"


@pytest.fixture(scope="module", name="own")
def own_fixture(pytestconfig, tmp_path_factory):
    """The index: url, as pip has it; section of a configuration; variables that lead clients to it."""
    if not pytestconfig.getoption("--nightly"):
        pytest.skip("only ./test --nightly reads the machine's own package index")
    python = clients.environment(clients.DEBIAN_PIP) / "bin" / "python"
    url, cert = pipindex.url(python), pipindex.settings(python).get("cert") or os.environ.get("SSL_CERT_FILE")
    section = f"[upstream]\nurl = {url}/\nmerge = yes\nconcurrency = {AT_ONCE}\n" + (f"ca-file = {cert}\n" if cert else "")
    variables = {"PIP_INDEX_URL": url, "UV_DEFAULT_INDEX": url} | ({"PIP_CERT": cert, "SSL_CERT_FILE": cert} if cert else {})
    variables |= {name: value for name, value in os.environ.items() if name.lower().endswith("_proxy")}
    return types.SimpleNamespace(url=url, section=section, variables=variables)


@pytest.fixture(scope="module", name="server")
def server_fixture(own, tmp_path_factory):
    """A server that mirrors it, without sanitizers if that program is available, because many pages have many megabytes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WHEELCACHE", os.environ.get("WHEELCACHE_OPTIMISED") or serving.binary())
        with serving.servers(tmp_path_factory.mktemp("mirror")) as start:
            server = start(config=own.section)
            server.config_path.chmod(0o600)
            status = server.get("/simple/pip/", {"Accept": pages.JSON}).status
            if status != 200:
                pytest.skip(f"the index that pip is set to does not answer: {status} of the project pip")
            yield server
            check_secret(own, server.errors(), server.log_path.read_text())


def check_secret(own, *texts):
    """A password of the index is in no output of a program."""
    password = urllib.parse.urlsplit(own.url).password
    assert not password or not any(password in text for text in texts)


def names():
    lines = POPULAR.read_text().splitlines()
    return [re.sub(r"[-_.]+", "-", word) for line in lines if not line.startswith("#") for word in line.split()]


def read(server, name):
    """The files of a page, or why there are none."""
    reply = server.get(f"/simple/{name}/", {"Accept": pages.JSON})
    if reply.status != 200:
        return reply.status
    page = json.loads(reply.body)
    assert page["name"] == name
    for file in page["files"]:
        assert re.fullmatch("[0-9a-f]{64}", file["hashes"]["sha256"]) and file["url"].startswith("../../files/upstream/"), file
    return page["files"]


def test_pages_of_popular_projects_are_read(server):
    wanted = names()
    assert len(wanted) >= 300
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        found = dict(zip(wanted, pool.map(lambda name: read(server, name), wanted), strict=True))
    assert {name: files for name, files in found.items() if not isinstance(files, list) or not files} == {}
    print(f"{len(found)} pages, {sum(map(len, found.values()))} files")


def reported(path):
    """{file name: SHA-256} of the files that pip would install."""
    found = [one["download_info"] for one in json.loads(path.read_text())["install"]]
    return {one["url"].rsplit("/", 1)[1]: one["archive_info"]["hashes"]["sha256"] for one in found}


def test_pip_would_install_the_same(server, own, client, tmp_path):
    """All twenty with their dependencies, from pages and metadata: nothing is installed."""
    def ask(name, **variables):
        report = tmp_path / f"{name}.json"
        client(PIP).pip("install", "--dry-run", "--ignore-installed", "--only-binary", ":all:", "--no-cache-dir", "--report", report,
                        *LARGEST, env=variables)
        return reported(report)

    with concurrent.futures.ThreadPoolExecutor(2) as pool:  # most of the time pip reads pages
        through = pool.submit(ask, "through", PIP_INDEX_URL=f"{server.url}/simple/")
        straight = ask("straight", **own.variables)
    assert len(straight) >= len(LARGEST)
    assert through.result() == straight


def test_uv_locks_the_same(server, own, client, tmp_path):
    (tmp_path / "in.txt").write_text("\n".join(LARGEST) + "\n")

    def lock(name, **variables):
        client(UV).run("uv", "pip", "compile", "-q", "--no-cache", "--python", "/usr/bin/python3", "--generate-hashes", "--no-annotate",
                       "--no-header", tmp_path / "in.txt", "-o", tmp_path / name, env=variables)
        return (tmp_path / name).read_text()

    straight = lock("straight", **own.variables)
    assert all(f"\n{name}==" in f"\n{straight}" for name in LARGEST)
    assert lock("through", UV_DEFAULT_INDEX=f"{server.url}/simple/") == straight


@pytest.fixture(name="at")
def at_fixture(server, own, tmp_path):
    """A store of wheels of the index and of ours: other versions, other bytes of a version, and a project of our own."""
    at = Indexed(tmp_path)
    at.config = tmp_path / "wheelcache.conf"
    at.config.touch(0o600)
    at.config.write_text(f"[store]\npath = {at.store}\n[catalog]\npath = {at.catalog}\n{own.section}[prune]\nmin-age = 0\n"
                         f"[platform {PLATFORM}]\npythons = 3.11\narch = x86_64\nlibc = glibc 2.36\n")
    for name, version in DUPLICATES.items():
        file = next(one for one in read(server, name) if re.fullmatch(rf"{name}-{re.escape(version)}-\S+-none-any\.whl", one["filename"]))
        body = server.get(f"/files/upstream/{name}/{file['filename']}").body
        assert hashlib.sha256(body).hexdigest() == file["hashes"]["sha256"]
        folder = at.store / PLATFORM / name
        folder.mkdir(parents=True)
        (folder / file["filename"]).write_bytes(body)
        os.utime(folder / file["filename"], (storelib.OLD, storelib.OLD))
    at.wheel(f"{PLATFORM}/six", "six", "9999.1")
    at.wheel(f"{PLATFORM}/idna", "idna", "3.7+ours.1")
    at.wheel(f"{PLATFORM}/own", "wheelcache-own-test-project", "1.0")
    return at


def test_plan_removes_exactly_the_duplicates(at, own):
    at.run("--config", at.config)
    plan = at.folder / "plan.json"
    done = serving.run("prune", "plan", "--config", at.config, "-o", plan)
    assert done.returncode == 0, done.stdout + done.stderr
    decided = {one["filename"]: (one["verdict"], one["removes"]) for one in json.loads(plan.read_text())["files"]}
    ours = {path.name for path in pathlib.Path(at.store).rglob("*.whl")
            if re.search(r"9999\.1|ours\.1|own_test_project", path.name)}
    assert len(ours) == 3 and len(decided) == len(DUPLICATES) + 3
    assert {name for name, (_, removes) in decided.items() if not removes} == ours
    assert {verdict for verdict, removes in decided.values() if removes} == {"duplicate"}
    check_secret(own, done.stdout, done.stderr, plan.read_text())
