# SPDX-License-Identifier: Apache-2.0
"""wheelcache exposed: what was downloaded before a record of a block list came, and what of ours views still list."""
import base64
import datetime
import json
import subprocess
import types

import pytest

import clients
import merging
import serving
import storelib
from test_find import native
from test_blocked import CRITICAL, MALWARE, Lists, below

LOW = {"database_specific": {"severity": "LOW"}}


@pytest.fixture(name="lists")
def lists_fixture(tmp_path):
    lists = Lists(tmp_path / "lists")
    lists.put("MAL-2026-9", "other", MALWARE)
    return lists


@pytest.fixture(name="begin")
def begin_fixture(serve, index, tmp_path):
    """Starts a server whose store is in its configuration."""
    store = tmp_path / "store"
    store.mkdir()

    def begin(*platforms, more="", **keys):
        sections = "".join(f"[platform {name}]\n" for name in platforms)
        return serve(None, config=f"[store]\npath = {store}\n{sections}{merging.config(index, **keys)}{more}")

    return begin


def exposed(server, *words, code=0):
    done = serving.run("exposed", *words, "--config", server.config_path, "--catalog", server.catalog)
    assert done.returncode == code, done.stderr
    return done


def files(server, *words, code=0):
    """{file name: row}"""
    found = json.loads(exposed(server, "--json", *words, code=code).stdout)["files"]
    assert len({(one["platform"], one["upstream"], one["filename"]) for one in found}) == len(found)
    return {one["filename"]: one for one in found}


def stop(server):
    """Then its counts are written."""
    server.stop()


def today():
    return datetime.datetime.now(datetime.timezone.utc).date().isoformat()


def pip_download(server, folder, *names):
    program = clients.environment("pip==26.3") / "bin/python"
    done = subprocess.run([str(program), "-m", "pip", "download", "--no-deps", "--no-cache-dir", "-d", str(folder), "--index-url",
                           f"{server.url}/simple/", *names], env=clients.clean_environment(folder), capture_output=True, text=True,
                          check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr


def test_what_pip_took_before_the_record_came(begin, index, lists, tmp_path):
    """Through the cache and out of the store, as often as it was; what only had its metadata read is not there."""
    theirs = {version: storelib.make_wheel(tmp_path / "theirs", "six", version) for version in ("1.0", "2.0", "3.0")}
    for wheel in theirs.values():
        index.add("six", wheel)
    ours = storelib.make_wheel(tmp_path / "store" / "deb12", "tool", "1.5")
    storelib.make_wheel(tmp_path / "store" / "deb12", "tool", "2.0")
    server = begin("deb12", block=lists.folder, shared="six")
    for number in range(2):
        pip_download(server, tmp_path / str(number), "six==2.0", "tool==1.5")
    assert subprocess.run(["curl", "-sfo", "/dev/null", f"{server.url}{merging.url_of('six', theirs['1.0'].name)}"], check=False).returncode == 0
    assert server.get(merging.url_of("six", theirs["3.0"].name) + ".metadata").status == 200
    stop(server)
    assert files(server, "--check") == {}
    assert "none of 3 files that were downloaded since" in exposed(server).stdout
    for version in ("2.0", "3.0"):
        lists.put(f"MAL-2026-{version}", "six", {"versions": [version]})
    lists.put("PYSEC-2026-1", "six", below("1.5"), **CRITICAL)
    lists.put("PYSEC-2026-2", "six", below("3.0"), **LOW)
    lists.put("PYSEC-2026-3", "tool", below("2.0"), **CRITICAL)
    found = files(server, "--check", code=1)
    assert list(found) == [theirs["2.0"].name, theirs["1.0"].name, ours.name]  # the worst first
    assert found[theirs["2.0"].name] == {
        "platform": None, "upstream": "upstream", "project": "six", "version": "2.0", "filename": theirs["2.0"].name,
        "downloads": 2, "first": today(), "last": today(), "denied": None, "hidden": True, "yanked": False, "views": [], "by": [], "bundled": [],
        "why": "MAL-2026-2.0: malware, and 1 more",
        "records": [{"id": "MAL-2026-2.0", "malware": True, "severity": None},
                    {"id": "PYSEC-2026-2", "malware": False, "severity": found[theirs["2.0"].name]["records"][1]["severity"]}]}
    one = found[theirs["1.0"].name]
    assert (one["downloads"], one["hidden"], [record["id"] for record in one["records"]]) == (1, False, ["PYSEC-2026-1", "PYSEC-2026-2"])
    assert one["records"][0]["severity"] == 9.8
    one = found[ours.name]
    assert (one["platform"], one["upstream"], one["downloads"], one["first"]) == ("deb12", None, 2, today())
    assert one["views"] == ["/", "/deb12/"]
    text = exposed(server, "--check", code=1).stdout.splitlines()
    assert text[1].split()[:3] == ["2", today(), today()] and text[1].endswith("MAL-2026-2.0: malware, and 1 more")
    assert text[2].endswith("PYSEC-2026-1: vulnerability of severity 9.8, and 1 more (clients still get it)")
    assert set(files(server, "--severity", "critical")) == set(found)
    assert exposed(server, "--severity", "bad", code=2).stderr.count("--severity bad: expected low, medium, high or critical") == 1


def test_views_that_still_list_a_wheel_of_ours(begin, lists, tmp_path):
    """Also what nobody has downloaded; nothing hides it. Neither a pruned nor another version is named."""
    store = tmp_path / "store"
    bad = [storelib.make_wheel(store / platform, "tool", "1.5") for platform in ("deb12", "deb13")]
    storelib.make_wheel(store / "deb13", "tool", "2.0")
    storelib.make_wheel(store / "deb13", "plain", "1.0")
    server = begin("deb12", "deb13", more="[view all]\nplatforms = deb12 deb13\n[view new]\nplatforms = deb13\n", block=lists.folder)
    assert server.get("/deb13/simple/tool/").status == 200
    lists.put("PYSEC-2026-3", "Tool", below("2.0"), **LOW)
    found = json.loads(exposed(server, "--json").stdout)["files"]
    assert [(one["platform"], one["filename"], one["views"], one["downloads"], one["first"], one["hidden"]) for one in found] == [
        ("deb12", bad[0].name, ["/", "/all/", "/deb12/"], 0, None, False),
        ("deb13", bad[1].name, ["/deb13/", "/new/"], 0, None, False)]
    assert not any(one["yanked"] for one in found)
    assert serving.run("yank", "--config", server.config_path, "--catalog", server.catalog, "--platform", "deb12", bad[0].name, "--reason", "bad").returncode == 0
    assert [one["yanked"] for one in json.loads(exposed(server, "--json").stdout)["files"]] == [True, False]
    lists.put("PYSEC-2026-3", "Tool", below("2.0"), withdrawn="2026-01-03T00:00:00Z")
    assert files(server) == {}
    lists.put("PYSEC-2026-3", "Tool", below("2.0"), **LOW)
    place = ("--config", server.config_path, "--catalog", server.catalog)
    assert serving.run("status", "tool", "quarantined", "--reason", "bad", *place).returncode == 0
    assert files(server) == {}  # and it was never served


def test_denied_files_are_named(begin, index, tmp_path):
    deny = tmp_path / "deny.list"
    deny.write_text("# none\n")
    wheel = storelib.make_wheel(tmp_path / "theirs", "six", "1.0")
    index.add("six", wheel)
    ours = storelib.make_wheel(tmp_path / "store" / "deb12", "tool", "1.0")
    server = begin("deb12", more="[server]\ncontact = sec@example.org\n", deny=deny)
    assert server.get(merging.url_of("six", wheel.name)).status == 200
    stop(server)
    deny.write_text("six ==1.0 stolen key\ntool ==1.0 bad\n")
    found = files(server)
    assert found[wheel.name]["denied"] == "denied by deny.list:1: stolen key" and found[wheel.name]["hidden"]
    assert found[ours.name]["denied"] == "denied by deny.list:2: bad" and not found[ours.name]["hidden"]
    assert found[ours.name]["views"] == ["/", "/deb12/"]


def test_what_the_server_denies_is_listed_nowhere(begin, tmp_path):
    """Nor what is in quarantine. What was served of it is named."""
    deny = tmp_path / "deny.list"
    deny.write_text("# none\n")
    wheels = {(name, platform): storelib.make_wheel(tmp_path / "store" / platform / name, name, "1.0")
              for name in ("tool", "part", "kept") for platform in ("deb12", "deb13")}
    server = begin("deb12", "deb13", more=f"[server]\ndeny = {deny}\n")
    for platform in ("deb12", "deb13"):
        assert server.get(f"/files/{platform}/tool/{wheels['tool', platform].name}").status == 200
    assert server.get(f"/files/deb12/part/{wheels['part', 'deb12'].name}").status == 200
    stop(server)
    assert files(server) == {}
    deny.write_text("tool ==1.0 platform=deb12 stolen\npart bad\nkept ==2.0 no\n")
    found = json.loads(exposed(server, "--json", "--check", code=1).stdout)["files"]
    assert [(one["platform"], one["project"], one["denied"], one["hidden"], one["views"], one["downloads"]) for one in found] == [
        ("deb12", "part", "denied by deny.list:2: bad", True, [], 1), ("deb12", "tool", "denied by deny.list:1: stolen", True, [], 1)]


def test_upstream_that_is_gone_and_versions_that_are_unclear(begin, lists):
    """Of a file whose version is not plain each record of its project counts; counts outlive their upstream."""
    server = begin(block=lists.folder)
    stop(server)
    counts = server.catalog.with_name("catalog.db.downloads")
    counts.write_text("wheelcache-downloads 1 2026-01-01\nupstream/old/six/six-1.0-py3-none-any.whl 3 2026-01-05\n"
                      "upstream/old/six/six-what.exe 1 2026-01-05\nwheels/cffi-1.0.2-2.tar.gz 1 2026-01-05\nend 3\n")
    lists.put("MAL-2026-1", "six", {"versions": ["2.0"]})
    lists.put("MAL-2026-2", "cffi-1-0-2", {"versions": ["2"]})
    found = files(server)
    assert set(found) == {"six-what.exe", "cffi-1.0.2-2.tar.gz"}
    one = found["six-what.exe"]
    assert (one["version"], one["upstream"], one["hidden"], one["first"], one["last"]) == (None, "old", True, None, "2026-01-05")
    text = exposed(server).stdout
    assert "\n1          -      2026-01-05  upstream old  six-what.exe         -          MAL-2026-1: malware\n" in text


def test_without_lists_there_is_nothing_to_say(begin):
    server = begin()
    assert "neither [upstream] block nor deny is set, nor [server] deny: " in exposed(server, code=2).stderr


def test_damaged_counts_are_said(begin, lists):
    server = begin(block=lists.folder)
    stop(server)
    server.catalog.with_name("catalog.db.downloads").write_text("wheelcache-downloads 2 2026-01-01\n")
    assert "catalog.db.downloads: torn" in exposed(server, code=1).stderr


def test_who_took_it_if_that_is_recorded(begin, index, lists, tmp_path):
    """By the token that came with the request, whether or not it was needed, else by address; never the secret itself."""
    wheel = storelib.make_wheel(tmp_path / "theirs", "six", "2.0")
    index.add("six", wheel)
    ours = storelib.make_wheel(tmp_path / "store" / "deb12", "tool", "1.5")
    server = begin("deb12", more="[server]\nrecord-downloads = who\n", block=lists.folder)
    secret = serving.run("token", "add", "--read", "--note", "ci of jammy", "--config", server.config_path, "--catalog", server.catalog).stdout.strip()
    pip_download(types.SimpleNamespace(url=server.url.replace("://", f"://any:{secret}@")), tmp_path / "with", "six==2.0", "tool==1.5")
    for headers in ({}, {"Authorization": "Basic " + base64.b64encode(b"any:wc_wrong").decode()}):
        assert server.get(merging.url_of("six", wheel.name), headers).status == 200
    assert server.get(merging.url_of("six", wheel.name) + ".metadata").status == 200
    assert server.get(merging.url_of("six", wheel.name), {"Range": "bytes=0-9"}).status == 206
    stop(server)
    path = server.catalog.with_name("catalog.db.downloaders")
    assert secret not in path.read_text() and path.stat().st_mode & 0o77 == 0
    lists.put("MAL-2026-1", "six", MALWARE)
    lists.put("PYSEC-2026-3", "tool", below("2.0"), **LOW)
    found = files(server)
    days = {"first": today(), "last": today()}
    assert found[wheel.name]["downloads"] == 3
    assert found[wheel.name]["by"] == [{"token": None, "address": "127.0.0.1", "downloads": 2, **days},
                                       {"token": "ci of jammy", "address": None, "downloads": 1, **days}]
    assert found[ours.name]["by"] == [{"token": "ci of jammy", "address": None, "downloads": 1, **days}]
    assert json.loads(exposed(server, "--json").stdout)["downloaded"] == 2
    lines = [line.split() for line in exposed(server).stdout.splitlines()]
    assert ["2", today(), today(), "address", "127.0.0.1"] in lines and ["1", today(), today(), "token", "ci", "of", "jammy"] in lines


def test_nobody_is_recorded_by_default_and_old_records_go(begin, serve, index, tmp_path, lists):
    storelib.make_wheel(tmp_path / "store" / "deb12", "tool", "1.5")
    server = begin("deb12", block=lists.folder)
    assert server.get("/files/deb12/tool/tool-1.5-py3-none-any.whl").status == 200
    stop(server)
    path = server.catalog.with_name("catalog.db.downloaders")
    assert not path.exists()
    key = "deb12/tool-1.5-py3-none-any.whl"
    path.write_text(f"wheelcache-downloads 2 2025-01-01\n{key}\taddress 192.0.2.1 3 2025-01-01 2025-01-02\n"
                    f"{key}\tothers 2 2026-01-01 {today()}\nend 2\n")
    lists.put("PYSEC-2026-3", "tool", below("2.0"), **LOW)
    assert len(files(server)["tool-1.5-py3-none-any.whl"]["by"]) == 2
    stop(serve(None, config=server.config_path.read_text(), state=server.catalog.parent))
    found = files(server)["tool-1.5-py3-none-any.whl"]
    assert found["by"] == [{"token": None, "address": None, "downloads": 2, "first": "2026-01-01", "last": today()}]
    assert "  others " in exposed(server).stdout


def crate(name, fixed):
    return {"package": {"ecosystem": "crates.io", "name": name},
            "ranges": [{"type": "SEMVER", "events": [{"introduced": "0.0.0-0"}, {"fixed": fixed}]}]}


def test_what_wheels_bundle(begin, lists, tmp_path):
    """By the purls of their SBOMs: crates and projects of PyPI, with the version that the purl or the component has."""
    folder = tmp_path / "store" / "deb12"
    components = [("openssl-src", "111.24.0+1.1.1s", "pkg:cargo/openssl-src@111.24.0%2B1.1.1s"), ("memchr", "2.0.0", "pkg:cargo/memchr"),
                  ("Idna_X", "3.6", "pkg:pypi/idna-x@3.6?x=y"), ("openssl-libs", "1.1.1k", "pkg:rpm/almalinux/openssl-libs@1.1.1k"),
                  ("plain", "1.0", ""), ("odd", "1.0", "pkg:cargo/%zz@1")]
    native(folder, "1.0", *components, name="rusty")
    native(folder, "2.0", ("openssl-src", "300.1.0", "pkg:cargo/openssl-src@300.1.0"), name="rusty")
    storelib.make_wheel(folder, "openssl-src", "1.0")  # of the name of a crate
    lists.write("RUSTSEC-1.json", json.dumps({"id": "RUSTSEC-1", "modified": "2026-01-02T03:04:05Z", **CRITICAL,
                                              "affected": [crate("openssl-src", "111.25.0"), crate("memchr", "1.0.0")]}))
    server = begin("deb12", block=lists.folder)
    name = "rusty-1.0-cp311-cp311-linux_x86_64.whl"
    serving.wait_for(lambda: json.loads(exposed(server, "--json").stdout)["without_facts"] == 0, 60, "the facts")
    assert server.get(f"/files/deb12/rusty/{name}").status == 200
    stop(server)
    found = files(server, "--check", code=1)
    assert list(found) == [name]
    one = found[name]
    assert one["bundled"] == [{"name": "openssl-src", "version": "111.24.0+1.1.1s", "purl": components[0][2],
                               "records": [{"id": "RUSTSEC-1", "malware": False, "severity": 9.8}]}]
    assert (one["downloads"], one["views"], one["records"], one["version"]) == (1, ["/", "/deb12/"], [], "1.0")
    lists.put("MAL-2026-7", "idna.x", {"versions": ["3.6"]})
    lists.put("MAL-2026-8", "openssl-libs", {})
    assert [part["name"] for part in files(server)[name]["bundled"]] == ["openssl-src", "Idna_X"]
    why = ("bundles pkg:cargo/openssl-src@111.24.0%2B1.1.1s: RUSTSEC-1: vulnerability of severity 9.8; "
           "bundles pkg:pypi/idna-x@3.6?x=y: MAL-2026-7: malware")
    assert exposed(server).stdout.splitlines()[1].endswith(why)
    lists.put("PYSEC-2026-5", "rusty", below("1.5"), **LOW)  # of itself, too
    assert [record["id"] for record in files(server)[name]["records"]] == ["PYSEC-2026-5"]
    assert len(files(server)[name]["bundled"]) == 2


def test_wheels_without_facts_are_said(begin, lists, tmp_path):
    native(tmp_path / "store" / "deb12", "1.0", name="rusty")
    server = begin("deb12", more="[index]\nfacts = no\n", block=lists.folder)
    done = exposed(server, "--check")
    assert "of 1 wheel it is not known what it bundles" in done.stderr and "[index] facts is off" in done.stderr
