# SPDX-License-Identifier: Apache-2.0
"""The audit service: what block lists have, as the OSV database would answer, and uv's audits with it. Lists that change,
break and come back, and who says so."""
import contextlib
import json
import os
import signal
import subprocess
import zipfile

import pytest

import clients
import serving
import storelib

ALL = {"ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}]}]}
JSON = {"Content-Type": "application/json"}
BASES = ("/-/osv/v1", "/-/v1")


def record(name, project, affected, **more):
    return {"id": name, "modified": "2026-01-02T03:04:05Z", "affected": [{"package": {"ecosystem": "PyPI", "name": project}, **affected}]} | more


def fixed(version):
    return {"ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": version}]}]}


class Site:
    """A server whose block list is a folder."""

    def __init__(self, folder, start):
        self.folder, self.start, self.server = folder, start, None
        self.lists = folder / "lists"
        self.lists.mkdir()
        storelib.make_wheel(folder / "store" / "deb12", "demo", "1.0")
        self.config = (f"[store]\npath = {folder / 'store'}\n[platform deb12]\n[upstream]\noffline = yes\n"
                       f"block = {self.lists}\n")

    def put(self, *records):
        """Each in a file of its own, which is old enough that a server reads it at once."""
        for one in records:
            path = self.lists / f"{one['id']}.json"
            path.write_text(json.dumps(one))
            self.age(path)

    @staticmethod
    def age(path):
        Site.when = getattr(Site, "when", 1700000000) + 1
        os.utime(path, (Site.when, Site.when))

    def serve(self, **more):
        self.server = self.start(None, config=self.config, state=self.folder / "state", **more)
        return self.server

    def post(self, path, document, headers=JSON):
        with contextlib.closing(self.server.connect()) as connection:
            body = document if isinstance(document, bytes) else json.dumps(document).encode()
            connection.request("POST", path, body, headers)
            reply = connection.getresponse()
            return reply.status, json.loads(reply.read())

    def query(self, name, version=None, **more):
        asked = {"package": {"name": name, "ecosystem": "PyPI"}} | ({"version": version} if version else {}) | more
        status, answer = self.post("/-/osv/v1/query", asked)
        assert status == 200, answer
        return [one["id"] for one in answer.get("vulns", [])]

    def health(self):
        return json.loads(self.server.get("/-/health").body)

    def list(self):
        return self.health()["block-lists"][0]


@pytest.fixture(name="site")
def site_fixture(tmp_path):
    with serving.servers(tmp_path) as start:
        yield Site(tmp_path, start)


def test_queries_have_the_answers_of_the_osv_database(site):
    weak = record("PYSEC-2026-1", "Six", fixed("1.17.0"), modified="2026-01-02T03:04:05.12Z", summary="Bad \"things\"")
    evil = record("MAL-2026-7", "evil.tool", {"versions": ["1.0"]})
    site.put(weak, evil, record("PYSEC-2026-2", "six", {"versions": ["1.16.0"]}),
             record("PYSEC-2026-3", "six", ALL, withdrawn="2026-01-03T00:00:00Z"), {"id": "PYSEC-2026-4", "affected": [
                 {"package": {"ecosystem": "PyPI", "name": "six"}}]})
    site.serve()
    for base in BASES:
        asked = {"package": {"name": "SIX", "ecosystem": "PyPI"}, "version": "1.16"}
        assert site.post(f"{base}/query", asked) == (200, {"vulns": [weak, json.loads((site.lists / "PYSEC-2026-2.json").read_text())]})
        assert json.loads(site.server.get(f"{base}/vulns/MAL-2026-7").body) == evil
        assert site.server.get(f"{base}/vulns/MAL-2026-7").body.decode() == (site.lists / "MAL-2026-7.json").read_text()
        missing = site.server.get(f"{base}/vulns/MAL-2026-8")
        assert (missing.status, json.loads(missing.body)) == (404, {"code": 5, "message": "Bug not found."})
    assert json.loads(site.server.get("/-/osv/v1/vulns/PYSEC-2026-3").body)["withdrawn"], "withdrawn ones by id only"
    assert site.server.get("/-/osv/v1/vulns/PYSEC-2026-4").status == 404, "it is malformed"
    assert site.query("six", "1.17.0") == [] and site.query("six") == ["PYSEC-2026-1", "PYSEC-2026-2"]
    queries = [{"package": {"purl": "pkg:pypi/six@1.0"}}, {"package": {"purl": "pkg:pypi/evil-tool"}, "version": "1.0.0"},
               {"package": {"name": "six", "ecosystem": "npm"}}, {"package": {"name": "six", "ecosystem": "PyPI"}, "version": "2"},
               {"commit": "0123456789abcdef"}, {"package": {"purl": "pkg:npm/six@1.0"}}, {"package": {"purl": "pkg:pypi/%73ix@1%2E0"}}]
    status, answer = site.post("/-/osv/v1/querybatch", {"queries": queries})
    found = {"vulns": [{"id": "PYSEC-2026-1", "modified": "2026-01-02T03:04:05.12Z"}]}
    assert (status, answer) == (200, {"results": [
        found, {"vulns": [{"id": "MAL-2026-7", "modified": "2026-01-02T03:04:05Z"}]}, {}, {}, {}, {}, found]})


def test_bad_queries_are_refused(site):
    """Exceeds LIMIT_OSV_QUERIES, LIMIT_OSV_QUERY, LIMIT_OSV_VALUES"""
    site.put(record("MAL-2026-7", "evil", ALL))
    site.serve()
    one = {"package": {"name": "evil", "ecosystem": "PyPI"}}
    for path, document in [("query", {}), ("query", {"package": {"name": "evil"}}), ("query", b"{"), ("query", b"[]"), ("query", b""),
                           ("query", {"package": {"purl": "evil"}}), ("query", {"package": {"purl": "pkg:pypi/%zz"}}),
                           ("query", {"package": {"purl": "pkg:pypi/evil", "name": "evil"}}), ("querybatch", {"queries": [one, {}]}),
                           ("querybatch", {"queries": [one] * 1001}), ("querybatch", {"queries": [[]] * 20000}),
                           ("query", b"[" * 100000 + b"]" * 100000)]:
        status, answer = site.post(f"/-/osv/v1/{path}", document)
        assert status == 400 and answer["code"] == 3 and answer["message"], (path, document)
    assert site.post("/-/osv/v1/query", {"x": "y" * (1 << 20)})[0] == 400
    assert site.post("/-/osv/v1/query", one, {"Content-Type": "text/plain"})[0] == 400
    assert len(site.post("/-/osv/v1/querybatch", {"queries": [one] * 1000})[1]["results"]) == 1000
    assert site.post("/-/osv/v1/querybatch", {})[1] == {"results": []}
    assert site.server.get("/-/osv/v1/query").status == 405


def test_server_without_lists_does_not_say_that_all_is_well(site):
    site.config = site.config.replace("block =", "#block =")
    site.serve()
    status, answer = site.post("/-/osv/v1/query", {"package": {"name": "six", "ecosystem": "PyPI"}})
    assert status == 404 and "[upstream] block" in answer["message"]
    assert site.health()["block-lists"] == []


def test_long_answers_have_pages(site):
    with zipfile.ZipFile(site.lists / "all.zip", "w") as archive:
        for i in range(2500):
            archive.writestr(f"MAL-2026-{i:05}.json", json.dumps(record(f"MAL-2026-{i:05}", "evil", ALL)))
    site.age(site.lists / "all.zip")
    site.serve()
    seen, asked = [], {"package": {"name": "evil", "ecosystem": "PyPI"}, "version": "1"}
    for size in (1000, 1000, 500):
        answer = site.post("/-/osv/v1/query", asked)[1]
        assert len(answer["vulns"]) == size
        seen += [one["id"] for one in answer["vulns"]]
        asked["page_token"] = answer.get("next_page_token")
    assert seen == [f"MAL-2026-{i:05}" for i in range(2500)] and asked["page_token"] is None
    batch = site.post("/-/osv/v1/querybatch", {"queries": [{"package": asked["package"]}] * 4})[1]["results"]
    assert [len(one.get("vulns", [])) for one in batch] == [1000, 1000, 1000, 0]
    assert all(one["next_page_token"] for one in batch), "the fourth has all before it"
    again = site.post("/-/osv/v1/query", {"package": asked["package"], "page_token": batch[3]["next_page_token"]})[1]
    assert again["vulns"][0]["id"] == "MAL-2026-00000"


def test_batch_has_a_limit_of_time(site):
    """Exceeds LIMIT_OSV_CPU_MS: the rest is asked again. Equal queries are one."""
    versions = [f"1.{i}" for i in range(2500)]
    with zipfile.ZipFile(site.lists / "all.zip", "w") as archive:
        for i in range(400):
            archive.writestr(f"MAL-2026-{i:05}.json", json.dumps(record(f"MAL-2026-{i:05}", "evil", {"versions": versions})))
    site.put(record("PYSEC-2026-1", "evil", {"versions": [f"2.{i}" for i in range(990)]}))
    site.age(site.lists / "all.zip")
    site.serve()
    package = {"name": "evil", "ecosystem": "PyPI"}

    def ask(queries):
        begin = serving.cpu_seconds(site.server)
        results = site.post("/-/osv/v1/querybatch", {"queries": queries})[1]["results"]
        assert serving.cpu_seconds(site.server) - begin < 4, "it has a limit of a second, and writes the answer"
        return results

    same, other = ask([{"package": package, "version": "3"}, {"package": package, "version": "2.5"}] * 500)[:2]
    assert (same, [one["id"] for one in other["vulns"]]) == ({}, ["PYSEC-2026-1"])
    left, rounds = {f"2.{i}": {"package": package, "version": f"2.{i}"} for i in range(990)}, 0
    while left and rounds < 50:
        rounds += 1
        for query, answer in zip(list(left.values()), ask(list(left.values()))):
            if "next_page_token" in answer:
                assert answer == {"next_page_token": "!"}
                query["page_token"] = "!"
            else:
                assert [one["id"] for one in answer["vulns"]] == ["PYSEC-2026-1"]
                del left[query["version"]]
    assert not left and rounds > 1


def test_lists_are_read_again_and_a_broken_one_keeps_what_was(site):
    site.put(record("MAL-2026-1", "one", ALL))
    site.serve()
    assert site.query("one", "1") == ["MAL-2026-1"] and site.health()["status"] == "ok"
    site.put(record("MAL-2026-2", "two", ALL))
    serving.wait_for(lambda: site.query("two", "1"), 30, "the new record")
    broken = site.lists / "all.zip"
    broken.write_bytes(b"PK\3\4 and no more")
    site.age(broken)
    health = serving.wait_for(lambda: site.health() if site.list().get("error") else None, 30, "the broken list")
    assert health["status"] == "degraded" and "all.zip" in health["block-lists"][0]["error"]
    assert site.query("one", "1") == ["MAL-2026-1"]
    metrics = site.server.get("/-/metrics").body.decode()
    assert f'wheelcache_block_list_failed{{list="{site.lists}"}} 1' in metrics
    assert f'wheelcache_block_list_records{{list="{site.lists}"}} 2' in metrics
    doctor = serving.run("doctor", "--config", site.server.config_path, "--catalog", site.server.catalog)
    assert "block-list" in doctor.stdout and "all.zip" in doctor.stdout and doctor.returncode == 1
    site.server.stop()
    site.serve()
    assert site.query("two", "1") == ["MAL-2026-2"], "a restart with the broken file has the last good list"
    broken.unlink()
    serving.wait_for(lambda: "error" not in site.list(), 30, "the list that is whole again")
    doctor = serving.run("doctor", "--config", site.server.config_path, "--catalog", site.server.catalog)
    assert f"{site.lists} can be read" in doctor.stdout


def test_reload_has_the_lists_of_the_new_configuration(site):
    site.put(record("MAL-2026-1", "one", ALL))
    other = site.folder / "other.json"
    other.write_text(json.dumps(record("MAL-2026-2", "two", ALL)))
    server = site.serve()
    server.config_path.write_text(site.config.replace(str(site.lists), str(other)))
    server.signal(signal.SIGHUP)
    serving.wait_for(lambda: site.query("two", "1"), 30, "the other list")
    assert site.query("one", "1") == []
    server.config_path.write_text(site.config.replace(str(site.lists), "/nowhere/at/all"))
    server.signal(signal.SIGHUP)
    serving.wait_for(lambda: "/nowhere/at/all" in server.errors(), 30, "the refusal")
    assert site.query("two", "1") == ["MAL-2026-2"]


def test_start_without_any_good_list_is_refused(site):
    (site.lists / "a.json").write_text("[]")
    done = serving.run("serve", "--listen", "127.0.0.1:0", "--catalog", site.folder / "catalog.db", "--config",
                       write(site.folder / "c.conf", site.config))
    assert done.returncode == 1 and "a.json: it is no JSON object" in done.stderr


def write(path, text):
    path.write_text(text)
    return path


def test_malformed_records_are_named(site):
    site.put(record("MAL-2026-1", "one", {"versions": "1"}))
    site.serve()
    assert site.list()["malformed"] == 1 and "MAL-2026-1.json: versions is no array" in site.list()["malformed-records"][0]
    doctor = serving.run("doctor", "--config", site.server.config_path, "--catalog", site.server.catalog)
    assert "1 of its records breaks the schema" in doctor.stdout


# --- uv ---

LOCK = """version = 1
revision = 3
requires-python = ">=3.9"

[[package]]
name = "idna"
version = "3.10"
source = { registry = "https://pypi.org/simple" }
wheels = [
    { url = "https://files.pythonhosted.org/packages/76/c6/idna-3.10-py3-none-any.whl", hash = "sha256:946d195a0d259cbba61165e88e65941f16e9b36ea6ddb97f00452bae8b1287d3" },
]

[[package]]
name = "proj"
version = "0.1"
source = { virtual = "." }
dependencies = [
    { name = "idna" },
]

[package.metadata]
requires-dist = [{ name = "idna", specifier = "==3.10" }]
"""


@pytest.fixture(name="project")
def project_fixture(tmp_path):
    folder = tmp_path / "proj"
    folder.mkdir()
    (folder / "pyproject.toml").write_text('[project]\nname = "proj"\nversion = "0.1"\nrequires-python = ">=3.9"\ndependencies = ["idna==3.10"]\n')
    (folder / "uv.lock").write_text(LOCK)
    return folder


def run_uv(project, *words, **more):
    uv = clients.environment("uv==0.13.9") / "bin" / "uv"
    return subprocess.run([str(uv), *words], cwd=project, env=clients.clean_environment(project, **more), capture_output=True, text=True,
                          check=False, timeout=120)


def test_uv_audits_with_it(site, project):
    site.put(record("PYSEC-2026-1", "idna", fixed("3.11"), summary="Too slow"))
    url = site.serve().url
    for base in ("/-/osv/", "/-/osv"):
        done = run_uv(project, "audit", "--frozen", "--service-url", url + base)
        assert done.returncode == 1 and "PYSEC-2026-1: Too slow" in done.stdout and "Fixed in: 3.11" in done.stdout, done.stderr
    site.put(record("PYSEC-2026-1", "idna", fixed("3.10"), summary="Too slow"))
    serving.wait_for(lambda: not site.query("idna", "3.10"), 30, "the corrected record")
    done = run_uv(project, "audit", "--frozen", "--service-url", f"{url}/-/osv/")
    assert done.returncode == 0 and "PYSEC" not in done.stdout, done.stderr


def test_uv_looks_for_malware_with_it(site, project):
    site.put(record("MAL-2026-1", "idna", {"versions": ["3.10"]}))
    url = site.serve().url
    done = run_uv(project, "sync", "--frozen", UV_MALWARE_CHECK="1", UV_MALWARE_CHECK_URL=f"{url}/-/osv/")
    assert done.returncode != 0 and "MAL-2026-1" in done.stderr and "Malware detected" in done.stderr
