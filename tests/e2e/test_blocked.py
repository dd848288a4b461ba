# SPDX-License-Identifier: Apache-2.0
"""What records of a block list hide of upstream, in every way to a file, and what they do not."""
import json
import os

import pytest

import merging
import pages
import pruning
import serving
import storelib
import tinyupstream
from test_cooling import SOON, reload, ways
from test_merged_root import listed, names_of, project_list

MALWARE = {"versions": ["2.0"]}
CRITICAL = {"severity": [{"type": "CVSS_V3", "score": "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H"}]}


def below(version):
    return {"ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": version}]}]}


class Lists:
    def __init__(self, folder):
        self.folder, self.writes = folder, 0
        folder.mkdir()

    def put(self, name, project, affected, **more):
        text = json.dumps({"id": name, "modified": "2026-01-02T03:04:05Z",
                           "affected": [{"package": {"ecosystem": "PyPI", "name": project}, **affected}]} | more)
        self.write(f"{name}.json", text)

    def write(self, name, data):
        """Old enough that a server reads it at once, and never half of it. data: text or bytes."""
        self.writes += 1
        aside = self.folder / f".{name}"
        aside.write_bytes(data if isinstance(data, bytes) else data.encode())
        os.utime(aside, (1700000000 + self.writes,) * 2)
        aside.replace(self.folder / name)


@pytest.fixture(name="lists")
def lists_fixture(tmp_path):
    return Lists(tmp_path / "lists")


@pytest.fixture(name="files")
def files_fixture(tmp_path, index):
    """Two releases upstream."""
    found = [storelib.make_wheel(tmp_path / "theirs", "six", version) for version in ("1.0", "2.0")]
    for wheel in found:
        index.add("six", wheel)
    return found


def test_malware_is_offered_in_no_way(serve, index, files, lists):
    old, evil = files
    lists.put("MAL-2026-1", "Six", MALWARE)
    server = serve(None, config=merging.config(index, block=lists.folder) + "[server]\ncontact = sec@example.org\n")
    page = merging.page(server, "six")
    assert [one["filename"] for one in page["files"]] == [old.name] and page["versions"] == ["1.0"]
    html = server.get("/simple/six/", {"Accept": pages.HTML}).body.decode()
    assert old.name in html and evil.name not in html
    assert ways(server, evil) == {403} and ways(server, old) == {200, 206}
    url = merging.url_of("six", evil.name)
    problem = json.loads(server.get(url).body)
    assert problem == {"title": "block", "status": 403, "detail": "MAL-2026-1: malware; ask sec@example.org"}
    head = server.raw(f"GET {url} HTTP/1.0\r\nHost: x\r\n\r\n".encode()).split(b"\r\n")[0]
    assert head == b"HTTP/1.1 403 MAL-2026-1: malware; ask sec@example.org"
    assert index.count(f"/packages/{evil.name}") == 0 and index.count(f"/packages/{evil.name}.metadata") == 0
    merging.wait_until_noted(server, "six")
    assert "MAL-2026-1: malware" in server.get("/-/explain/simple/six", {"Accept": "application/json"}).body.decode()


def test_cached_file_and_redirect_follow_a_new_record(serve, index, files, lists):
    """Also what was offered before, and lies in the cache."""
    old, evil = files
    lists.put("MAL-2026-9", "other", MALWARE)
    server = serve(None, config=merging.config(index, block=lists.folder))
    assert 403 not in ways(server, evil)
    merging.wait_until_kept(server, evil.name, f"{evil.name}.metadata")
    lists.put("MAL-2026-1", "six", MALWARE)
    serving.wait_for(lambda: ways(server, evil) == {403}, SOON, "the record")
    assert merging.names(server, "six") == [old.name]
    reload(server, index, block=lists.folder, files="redirect")
    serving.wait_for(lambda: server.get(merging.url_of("six", old.name))["Location"] or True, SOON, "the reload")
    reply = server.get(merging.url_of("six", evil.name))
    assert reply.status == 403 and reply["Location"] is None
    lists.put("MAL-2026-1", "six", MALWARE, withdrawn="2026-01-03T00:00:00Z")
    serving.wait_for(lambda: 403 not in ways(server, evil), SOON, "the end of the record")


def test_project_that_is_blocked_whole_is_quarantined(serve, index, files, lists):
    lists.put("MAL-2026-1", "six", {})
    server = serve(None, config=merging.config(index, block=lists.folder))
    page = merging.page(server, "six")
    assert page["files"] == [] and page["project-status"] == {"status": "quarantined", "reason": "MAL-2026-1"}
    reply = server.get("/simple/six/", {"Accept": pages.HTML})
    assert reply.status == 200 and 'content="quarantined"' in reply.body.decode() and "MAL-2026-1" in reply.body.decode()
    assert {status for wheel in files for status in ways(server, wheel)} == {403}


def test_only_severe_vulnerabilities_hide(serve, index, files, lists):
    old, new = files
    lists.put("PYSEC-2026-1", "six", below("1.5"), **CRITICAL)
    lists.put("PYSEC-2026-2", "six", below("3.0"), database_specific={"severity": "LOW"})
    server = serve(None, config=merging.config(index, block=lists.folder))
    assert merging.names(server, "six") == [old.name, new.name]
    reload(server, index, block=lists.folder, block_severity="critical")
    serving.wait_for(lambda: merging.names(server, "six") == [new.name], SOON, "the key")
    assert "PYSEC-2026-1: vulnerability of severity 9.8" in server.get(merging.url_of("six", old.name)).body.decode()


def test_malformed_record_blocks_what_it_names(serve, index, files, lists, tmp_path):
    """Of any kind, and without block-severity."""
    lists.put("PYSEC-2026-1", "six", MALWARE, modified=7)
    lists.put("mal-2026-2", "seven", MALWARE, id="mal-2026/2")
    seven = storelib.make_wheel(tmp_path / "theirs", "seven", "1.0")
    index.add("seven", seven)
    server = serve(None, config=merging.config(index, block=lists.folder))
    assert {status for wheel in files for status in ways(server, wheel)} == {403} and ways(server, seven, "seven") == {403}
    page = merging.page(server, "six")
    assert page["files"] == [] and page["project-status"] == {"status": "quarantined", "reason": "PYSEC-2026-1"}
    detail = json.loads(server.get(merging.url_of("seven", seven.name)).body)["detail"]
    assert detail == "mal-2026-2: its record is malformed, so all versions are blocked"
    assert "2 records break the schema, and block all versions of what they name" in server.errors()


def test_allow_lifts_a_record_and_nothing_else(serve, index, files, lists, tmp_path):
    old, evil = files
    allow, deny = tmp_path / "allow.list", tmp_path / "deny.list"
    allow.write_text("six ==2.0 looked at by sec\n")
    deny.write_text("# none\n")
    lists.put("MAL-2026-1", "six", {})
    server = serve(None, config=merging.config(index, block=lists.folder, allow=allow, deny=deny))
    assert merging.names(server, "six") == [evil.name] and ways(server, old) == {403}
    deny.write_text("six no\n")
    serving.wait_for(lambda: merging.names(server, "six") == [], SOON, "deny")
    deny.write_text("# none again\n")
    allow.write_text("# not any more\n")
    serving.wait_for(lambda: b"MAL-2026-1" in server.get(merging.url_of("six", evil.name)).body, SOON, "allow")


def test_files_of_the_store_are_never_hidden(serve, index, files, lists, tmp_path):
    _, evil = files
    ours = storelib.make_wheel(tmp_path / "store" / "deb12", "six", "2.0", tag="py2.py3-none-any")
    lists.put("MAL-2026-1", "six", {})
    server = serve(tmp_path / "store", config=merging.config(index, block=lists.folder, shared="six"))
    page = merging.page(server, "six")
    assert [one["filename"] for one in page["files"]] == [ours.name] and "project-status" not in page
    assert ways(server, evil) == {403}


def test_waiver_lifts_the_record_that_it_names(serve, index, files, lists):
    """Until its end, which the page follows by itself; and no other record."""
    old, evil = files
    lists.put("MAL-2026-1", "six", MALWARE)
    lists.put("MAL-2026-2", "six", MALWARE)
    server = serve(None, config=merging.config(index, block=lists.folder))

    def waive(*words):
        return serving.run("waive", "six==2.0", *words, "--config", server.config_path, "--catalog", server.catalog)

    assert ways(server, evil) == {403}
    assert waive("--until", "1d", "--reason", "x", "--record", "a b").returncode == 2
    assert waive("--until", "1d", "--reason", "hurry").returncode == 0
    done = waive("--until", "1d", "--reason", "looked at", "--record", "MAL-2026-1")
    assert done.returncode == 0 and "in spite of its age, of MAL-2026-1 and of holds" in done.stdout
    serving.wait_for(lambda: b"MAL-2026-2" in server.get(merging.url_of("six", evil.name)).body, SOON, "the first waiver")
    assert merging.names(server, "six") == [old.name]
    assert waive("--until", "4s", "--reason", "looked at", "--record", "MAL-2026-2").returncode == 0
    serving.wait_for(lambda: 403 not in ways(server, evil) and merging.names(server, "six") == [old.name, evil.name], SOON, "the other")
    serving.wait_for(lambda: merging.names(server, "six") == [old.name] and ways(server, evil) == {403}, SOON, "its end")
    listed_holds = json.loads(serving.run("holds", "--json", "--config", server.config_path, "--catalog", server.catalog).stdout)
    assert {one["record"] for one in listed_holds["waivers"]} >= {None, "MAL-2026-1"}


def test_blocked_project_is_not_on_the_list_of_all(serve, index, lists, tmp_path):
    """Unless some version is not blocked, or a file of ours is there."""
    store, deny, allow = tmp_path / "store", tmp_path / "deny.list", tmp_path / "allow.list"
    storelib.make_wheel(store / "deb12", "project-00004", "1.0")
    deny.write_text("project-00002 no\nproject-00005 ==1.0 no\n")
    allow.write_text("project-00006 ==1.0 looked at\n")
    for number in (1, 4, 6):
        lists.put(f"MAL-2026-{number}", f"project-{number:05}", {})
    lists.put("MAL-2026-3", "project-00003", MALWARE)
    index.fail("/simple/", project_list)
    server = serve(store, config=merging.config(index, root="all", block=lists.folder, deny=deny, allow=allow))
    found = names_of(listed(server))
    assert [name for name in found if name < "project-00007"] == [f"project-0000{number}" for number in (3, 4, 5, 6)]
    lists.put("MAL-2026-3", "project-00003", {})
    serving.wait_for(lambda: "project-00003" not in names_of(listed(server)), SOON, "the record of all versions")


def test_malformed_record_and_unknown_version_hide(serve, index, files, lists):
    lists.put("MAL-2026-1", "six", {"versions": "2.0"})
    server = serve(None, config=merging.config(index, block=lists.folder))
    assert merging.names(server, "six") == []
    assert "its record is malformed" in server.get(merging.url_of("six", files[0].name)).body.decode()


def test_rules_of_an_upstream_stay_that_a_reload_would_remove(serve, lists, tmp_path):
    """Which upstreams there are takes effect after a restart: until then one that is gone is merged, with its rules."""
    with merging.indexes() as start:
        first, second = start(), start()
        evil = storelib.make_wheel(tmp_path / "theirs", "six", "2.0")
        second.add("six", evil)
        lists.put("MAL-2026-1", "six", MALWARE)
        deny = tmp_path / "deny.list"
        deny.write_text("seven never\n")
        other = storelib.make_wheel(tmp_path / "theirs", "seven", "1.0")
        second.add("seven", other)
        one = f"[upstream one]\nurl = {first.url}\n"
        server = serve(None, config="[upstream]\nmerge = yes\n" + one +
                       f"[upstream two]\nurl = {second.url}\nblock = {lists.folder}\ndeny = {deny}\n")

        def refusal(name, wheel):
            return server.get(f"/files/upstream/two/{name}/{wheel.name}").body.decode()

        assert merging.names(server, "six") == [] and "MAL-2026-1" in refusal("six", evil) and "never" in refusal("seven", other)
        for _ in range(2):
            server.config_path.write_text("[upstream]\nmerge = yes\n" + one)
            before = server.errors().count("the configuration is reloaded")
            server.signal(1)
            serving.wait_for(lambda: server.errors().count("the configuration is reloaded") > before, SOON, "the reload")
            assert merging.names(server, "six") == [] and "MAL-2026-1" in refusal("six", evil)
            assert merging.names(server, "seven") == [] and "never" in refusal("seven", other)


def test_plan_is_stale_where_a_new_record_decides(tmp_path, lists):
    """No server follows the list: plan and apply read it again. A record about another version changes nothing."""
    lists.put("MAL-2026-1", "other", MALWARE)
    with tinyupstream.running() as upstream:
        site = pruning.Pruned(tmp_path, upstream)
        with site.config.open("a") as config:
            config.write(f"[upstream]\nblock = {lists.folder}\n")
        assert sum(one["removes"] for one in site.plan()["files"]) == 4
        lists.put("MAL-2026-2", "six", {"versions": ["1.0"]})
        refused = site.apply(code=1)
        assert "1 file would not be removed today" in refused.stderr and "kept six-1.0-py3-none-any.whl" in refused.stdout
        assert site.unlisted() == []
        assert sum(one["removes"] for one in site.plan()["files"]) == 3
        lists.put("MAL-2026-3", "six", {"versions": ["7.0"]})
        site.apply()
        assert len(site.unlisted()) == 3
