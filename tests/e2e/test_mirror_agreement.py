# SPDX-License-Identifier: Apache-2.0
"""wheelcache mirror plan chooses what uv pip compile chooses in each environment, and pip on this machine, for real projects of the
index that pip is set to: five in every run, fifty with --nightly; some of them are filled, and install on two platforms without it.
Skipped where that index does not answer."""
import json
import os
import platform
import re
import subprocess
import sys
import types

import pytest

import clients
import pipindex
import serving

FEW = ["requests", "flask>=2", "pandas<3", "uvicorn[standard]", "black"]
MANY = """aiohttp alembic ansible-core apache-libcloud asyncpg attrs babel beautifulsoup4 boltons botocore celery cherrypy click cryptography
dask[array] django djangorestframework fastapi flask-login gunicorn h5py httpx[http2] hypothesis ipython jinja2 jsonschema keyring
loguru lxml matplotlib mkdocs mypy networkx numpy openpyxl paramiko pillow poetry-core psycopg[binary] pydantic pygments pytest
python-dateutil rich scikit-learn scipy scrapy sphinx sqlalchemy[asyncio] tox""".split()
UV, PIP = "uv==0.13.9", "pip==26.3"
HERE = f"{sys.version_info[0]}.{sys.version_info[1]}"
GLIBC = "2_36"  # of Debian 12
PYTHONS = {"debian-12-x86_64": sorted({"3.13", HERE}), "debian-12-aarch64": ["3.10"]}
MOST_CONFLICTS = 2  # of fifty: where uv takes an older version, and a lock is to be given


@pytest.fixture(scope="module", name="own")
def own_fixture(tmp_path_factory, pytestconfig):
    """The index of pip's settings; the files of requirements; what a plan of all of them says."""
    python = clients.environment(clients.DEBIAN_PIP) / "bin" / "python"
    url, cert = pipindex.url(python), pipindex.settings(python).get("cert") or os.environ.get("SSL_CERT_FILE")
    folder = tmp_path_factory.mktemp("agreement")
    wanted = MANY if pytestconfig.getoption("--nightly") else FEW
    files = {}
    for number, one in enumerate(wanted):
        files[one] = folder / f"{number}.txt"
        files[one].write_text(one + "\n")
    lines = [f"[store]\npath = {folder / 'store'}", f"[catalog]\npath = {folder / 'state' / 'catalog.db'}",
             f"[upstream]\nurl = {url}/\nmerge = yes\nretries = 2"] + ([f"ca-file = {cert}"] if cert else [])
    for name, pythons in PYTHONS.items():
        (folder / "store" / name).mkdir(parents=True)
        lines.append(f"[platform {name}]\npythons = {' '.join(pythons)}")
    (folder / "state").mkdir()
    config = folder / "wheelcache.conf"
    config.write_text("\n".join(lines) + "\n")
    config.chmod(0o600)
    assert serving.run("index", "--quiet", "--config", config).returncode == 0
    variables = {"PIP_INDEX_URL": url} | ({"PIP_CERT": cert, "SSL_CERT_FILE": cert} if cert else {})
    variables |= {name: value for name, value in os.environ.items() if name.lower().endswith("_proxy")}
    probe = subprocess.run([serving.binary(), "mirror", "plan", "probe", "--config", str(config), "--json", "--requirements",
                            str(files[wanted[0]])], capture_output=True, text=True, timeout=600, check=False)
    if '"unknown": 0' not in probe.stdout:
        pytest.skip(f"the index that pip is set to does not answer: {probe.stderr[-200:] or probe.stdout[-300:]}")
    done = subprocess.run([serving.binary(), "mirror", "plan", "all", "--config", str(config), "--json", "--requirements",
                           *map(str, files.values())], capture_output=True, text=True, timeout=3600, check=False)
    rows = json.loads(done.stdout)["locks"]["rows"]
    return types.SimpleNamespace(url=url, files=files, rows=rows, variables=variables, folder=folder, config=config)


def ours(own, path, of, python):
    """{project: versions}, and the rows that say that there is none. Micro versions may take different ones."""
    rows = [row for row in own.rows if row["lock"] == str(path) and row["platform"] == of and python in row["pythons"] and row["wanted"]]
    found = {}
    for row in rows:
        if row["filename"]:
            found.setdefault(row["project"], set()).add(row["version"])
    return found, [row for row in rows if not row["filename"]]


def compare(own, one, path, found, theirs, where):
    """Both have the same projects; of each, ours has their version, on some micro versions."""
    versions, failures = found
    assert set(versions) == set(theirs), (one, where, set(versions) ^ set(theirs), failures, bool(own), path)
    assert not {name: (versions[name], version) for name, version in theirs.items() if version not in versions[name]}, (one, where)


def compiled(own, uv, path, of, python):
    machine = of.rpartition("-")[2]
    text = uv.run("uv", "pip", "compile", "--no-header", "--no-annotate", "--quiet", "--no-config", "--python-version", f"{python}.9",
                  "--python-platform", f"{machine}-manylinux_{GLIBC}", "--cache-dir", own.folder / "uv-cache",
                  "--default-index", own.url, path, env=own.variables).stdout
    lines = [line.split(";")[0].strip() for line in text.splitlines() if "==" in line]
    return {name.split("[")[0]: version for name, version in (line.split("==") for line in lines)}


@pytest.mark.parametrize("of, python", [(of, python) for of, pythons in PYTHONS.items() for python in pythons])
def test_uv_chooses_the_same(own, client, of, python):
    uv, conflicts = client(UV), []
    for one, path in own.files.items():
        found = ours(own, path, of, python)
        if any(row["status"] == "conflict" for row in found[1]):
            conflicts.append((one, [row["why"] for row in found[1]]))
            continue
        compare(own, one, path, found, compiled(own, uv, path, of, python), (of, python))
    assert len(conflicts) <= (MOST_CONFLICTS if len(own.files) > len(FEW) else 0), conflicts


@pytest.mark.skipif(platform.machine() != "x86_64" or platform.libc_ver()[0] != "glibc" or
                    [int(part) for part in platform.libc_ver()[1].split(".")] < [2, 36], reason="not like Debian 12 on x86_64")
def test_pip_chooses_the_same(own, client):
    """On this machine's own Python, without a build: where pip takes the same wheels."""
    pip, of = client(PIP), "debian-12-x86_64"
    for one, path in own.files.items():
        found = ours(own, path, of, HERE)
        if any(row["status"] == "conflict" for row in found[1]):
            continue
        report = own.folder / "report.json"
        pip.pip("install", "--dry-run", "--ignore-installed", "--quiet", "--cache-dir", own.folder / "pip-cache", "--report", report,
                "-r", path, env=own.variables)
        theirs = {item["metadata"]["name"].lower().replace("_", "-").replace(".", "-"): item["metadata"]["version"]
                  for item in json.loads(report.read_text())["install"]}
        compare(own, one, path, found, theirs, "pip")


def upstream_requests(server):
    text = server.get("/-/metrics").body.decode()
    found = re.findall(r"^wheelcache_upstream_requests_total\S* (\d+)$", text, re.M)
    assert found
    return sum(map(int, found))


def test_some_install_offline_on_two_platforms(own, client, serve):
    """What a fill kept, without a request to upstream: requests and what it brings along, for each machine."""
    one = next(iter(own.files))
    path = own.folder / "small.txt"
    path.write_text("requests\nmarkupsafe\n")
    done = subprocess.run([serving.binary(), "mirror", "fill", "small", "--config", str(own.config), "--quiet", "--requirements", str(path)],
                          capture_output=True, text=True, timeout=1800, check=False)
    assert done.returncode == 0, (one, done.stdout[-2000:], done.stderr[-2000:])
    text = own.config.read_text().replace("retries = 2", "retries = 2\noffline = yes")
    server, uv = serve(None, config=text, state=own.folder / "state"), client(UV)
    for of, pythons in PYTHONS.items():
        target = own.folder / "target" / of
        uv.run("uv", "pip", "install", "--no-config", "--no-cache", "--only-binary", ":all:", "--python", sys.executable, "--python-version",
               pythons[0], "--python-platform", f"{of.rpartition('-')[2]}-manylinux_{GLIBC}", "--target", target, "--default-index",
               f"{server.url}/{of}/simple/", "-r", path)
        found = {one.name.split("-")[0].lower() for one in target.glob("*.dist-info")}
        assert found == {"requests", "markupsafe", "urllib3", "idna", "certifi", "charset_normalizer"}, (of, found)
        library, = target.glob("markupsafe/_speedups*.so")
        assert of.rpartition("-")[2] in library.name
    assert upstream_requests(server) == 0
