# SPDX-License-Identifier: Apache-2.0
"""/-/security/: which files of upstreams are not offered, by what, and until when; of what the asker may read."""
import datetime
import json
import os
import sys

import pytest

import clients
import htmlcheck
import merging
import serving
import storelib
import uploading
from test_blocked import MALWARE, Lists
from test_cooling import DAY, SOON, stamp, ways
from test_exposed import LOW
from test_holds import Place

MOST = 10000  # LIMIT_SECURITY_ROWS
PUBLIC, SECRET = "ubuntu-22.04-x86_64", "debian-12-x86_64"


@pytest.fixture(name="lists")
def lists_fixture(tmp_path):
    return Lists(tmp_path / "lists")


@pytest.fixture(name="wheels")
def wheels_fixture(tmp_path, index):
    """six 1.0 is old, 2.0 cools, of two files; evil 2.0 is malware; coins is denied; seven is old."""
    made = {}
    for project, version, tag, age in (("six", "1.0", "py3-none-any", 900), ("six", "2.0", "py3-none-any", 1),
                                       ("six", "2.0", "cp312-cp312-linux_x86_64", 0.5), ("evil", "2.0", "py3-none-any", 900),
                                       ("coins", "1.0", "py3-none-any", 900), ("coins", "1.1", "py3-none-any", 900),
                                       ("seven", "1.0", "py3-none-any", 900)):
        wheel = storelib.make_wheel(tmp_path / "theirs", project, version, tag)
        index.add(project, wheel, upload_time=stamp(-age * DAY))
        made[project, version, tag] = wheel
    return made


@pytest.fixture(name="place")
def place_fixture(serve, index, wheels, lists, tmp_path):
    lists.put("MAL-2026-1", "evil", MALWARE)
    lists.write("bad.json", '{"id": "MAL-2026-2", "affected": [{"package": {"ecosystem": "PyPI", "name": "bad"}, "versions": 5}]}')
    (tmp_path / "deny.list").write_text("coins it mines coins\n")
    (tmp_path / "allow.list").write_text("other ==1.0 it was looked at\n")
    place = Place(serve, index, cooldown="7d", block=lists.folder, deny=tmp_path / "deny.list", allow=tmp_path / "allow.list")
    for project in ("six", "evil", "coins", "seven"):
        assert merging.status_of(place.server, project) == 200
        merging.wait_until_noted(place.server, project)
    return place


def security(server, query="", token=None):
    reply = server.get(f"/-/security/{query}", {"Accept": "application/json"} | uploading.authorization(token))
    assert reply.status == 200, reply.body
    return json.loads(reply.body)


def page(server, query="", token=None):
    reply = server.get(f"/-/security/{query}", {"Accept": "text/html"} | uploading.authorization(token))
    assert reply.status == 200
    return htmlcheck.HtmlCheck(reply.body.decode())


def test_each_rule_has_its_rows(place, wheels):
    found = security(place.server)
    rows = {row["project"]: row for row in found["hidden"]}
    assert list(rows) == ["coins", "evil", "six"] and len(found["hidden"]) == 3
    six = rows["six"]
    assert (six["rule"], six["version"], six["files"], six["upstream"]) == ("cooldown", "2.0", 2, "upstream")
    assert six["offered"].startswith(stamp(6 * DAY)[:13]) and six["all-offered"].startswith(stamp(6.5 * DAY)[:13])
    assert six["says"].startswith("cooling until ") and six["source"] == "cooldown of upstream upstream"
    assert {key: rows["evil"].get(key) for key in ("rule", "says", "source", "files", "offered")} == {
        "rule": "block", "says": "MAL-2026-1: malware; ask sec@example.org", "source": "lists", "files": 1, "offered": None}
    assert (rows["coins"]["rule"], rows["coins"]["files"], rows["coins"]["source"]) == ("deny", 2, "deny.list:1")
    (listed,) = found["block-lists"]
    assert listed["list"].endswith("/lists") and (listed["records"], listed["malformed"]) == (2, 1)
    assert "bad.json" in listed["malformed-records"][0]
    assert [(one["list"], one["project"], one["reason"]) for one in found["lines"]] == [
        ("deny", "coins", "it mines coins"), ("allow", "other", "it was looked at")]
    assert found["upstreams"] == [{"name": "upstream", "cooldown-seconds": 7 * DAY, "cooldown-unknown": "first-seen", "lists": True}]
    assert found["holds"] == {"holds": [], "waivers": []} and "after" not in found
    seen = page(place.server)
    for words in ("it mines coins", "MAL-2026-1: malware", "cooling until", "7 days", "allow.list:1"):
        assert words in seen.text, words
    assert "../project/six" in seen.links and "./?format=json" in seen.links


def test_page_agrees_with_what_is_sent(place, wheels):
    """A file has a row if, and only if, no way to it is open."""
    hidden = {row["project"] for row in security(place.server)["hidden"]}
    for (project, version, tag), wheel in wheels.items():
        is_sent = ways(place.server, wheel, project) != {403}
        assert is_sent == (project not in hidden or version == "1.0" and project == "six"), (project, version, tag)


def test_holds_and_waivers_are_shown_at_once_and_change_the_rows(place):
    place.did("hold", "--after", "2020-01-01", "--reason", "an outbreak")
    serving.wait_for(lambda: {row["rule"] for row in security(place.server, "?project=seven")["hidden"]} == {"hold"}, SOON, "the hold")
    (row,) = security(place.server, "?project=seven")["hidden"]
    assert row["says"].startswith("held since 2020-01-01T00:00:00Z: an outbreak") and row["source"].startswith("hold-")
    place.did("waive", "six==2.0", "--reason", "it is urgent", "--until", "3d")
    serving.wait_for(lambda: security(place.server)["holds"]["waivers"], SOON, "the waiver")
    found = security(place.server)
    (hold,), (waiver,) = found["holds"]["holds"], found["holds"]["waivers"]
    assert hold["reason"] == "an outbreak" and waiver["until"].startswith(stamp(3 * DAY)[:13]) and waiver["version"] == "2.0"
    assert {(row["version"] if "version" in row else "", row["rule"]) for row in found["hidden"] if row["project"] == "six"} == {("", "hold")}
    assert "by" not in hold and "by" not in waiver  # nobody may see names of people
    text = page(place.server).text
    assert "an outbreak" in text and "it is urgent" in text and "hold-" in text and "waiver-" in text


def test_projects_are_paged(place):
    one = security(place.server, "?limit=1")
    assert [row["project"] for row in one["hidden"]] == ["coins"] and one["after"] == "coins"
    two = security(place.server, "?limit=1&after=coins")
    assert [row["project"] for row in two["hidden"]] == ["evil"]
    assert [row["project"] for row in security(place.server, "?after=evil")["hidden"]] == ["six"]
    assert "./?after=coins&limit=1" in page(place.server, "?limit=1").links
    assert security(place.server, "?project=Six")["hidden"] == security(place.server, "?after=evil")["hidden"]
    for query in ("?project=a/b", "?after=(x)"):
        assert place.server.get(f"/-/security/{query}").status == 400


def test_project_with_many_reasons_is_bounded(serve, index, tmp_path):
    """50 rows, and the rest is counted."""
    for n in range(60):
        index.add("many", storelib.make_wheel(tmp_path / "theirs", "many", f"{n}.0"), upload_time=stamp(-DAY))
    server = serve(None, config=merging.config(index, cooldown="7d"))
    assert merging.names(server, "many") == []
    merging.wait_until_noted(server, "many")
    found = security(server)
    assert len(found["hidden"]) == 50 and found["files-left-out"] == 10
    assert "10 files more" in page(server).text


def test_lines_are_bounded(serve, index, tmp_path):
    """Exceeds LIMIT_SECURITY_ROWS."""
    (tmp_path / "deny.list").write_text("".join(f"project-{n} bad\n" for n in range(MOST + 2)))
    server = serve(None, config=merging.config(index, deny=tmp_path / "deny.list"))
    for limit in (MOST, MOST + 1, 10 * MOST):
        found = security(server, f"?limit={limit}")
        assert len(found["lines"]) <= MOST and len(found["lines"]) + found["lines-left-out"] == MOST + 2
    assert len(security(server, f"?limit={MOST}")["lines"]) == MOST


def test_broken_list_says_since_when(place, lists):
    os.remove(lists.folder / "MAL-2026-1.json")
    lists.write("MAL-2026-1.json", "[")
    serving.wait_for(lambda: "error" in security(place.server)["block-lists"][0], SOON, "the look")
    (listed,) = security(place.server)["block-lists"]
    assert listed["records"] == 2 and listed["failed"] and "MAL-2026-1.json" in listed["error"]
    assert "MAL-2026-1.json" in page(place.server).text


def test_without_a_view_that_merges_nothing_is_hidden(serve, index, tmp_path):
    storelib.make_wheel(tmp_path / "store" / PUBLIC / "demo", "demo", "1.0")
    server = serve(tmp_path / "store", config=merging.config(index, cooldown="7d").replace("merge = yes", "merge = no"))
    found = security(server)
    assert found["merges"] is False and found["hidden"] == [] and found["upstreams"][0]["cooldown-seconds"] == 7 * DAY
    assert "No view merges an upstream" in page(server).text
    done = serving.run("hold", "--after", "2020-01-01", "--reason", "an outbreak", "--config", server.config_path, "--catalog",
                       server.catalog)
    assert done.returncode == 0, done.stderr
    serving.wait_for(lambda: security(server)["holds"]["holds"], SOON, "the hold")


def test_upstream_of_a_private_view_is_not_named(serve, index, tmp_path):
    """Nor its rules, nor a hold or a waiver of it."""
    for platform, project in ((PUBLIC, "six"), (SECRET, "coins")):
        storelib.make_wheel(tmp_path / "store" / platform / project, project, "0.1")
    (tmp_path / "deny.list").write_text("six ==1.0 it is old\n")
    config = (f"[platform {PUBLIC}]\npythons = 3.12\n[platform {SECRET}]\npythons = 3.12\nprivate = yes\n"
              f"[view team]\nplatforms = {SECRET}\nupstream = inhouse\n"
              f"[upstream]\nallow-private = yes\n[upstream inhouse]\nurl = {index.url}\ncooldown = 7d\n"
              f"deny = {tmp_path / 'deny.list'}\n")
    place = Place.__new__(Place)
    place.server = serve(tmp_path / "store", config=config)
    reader = uploading.add_token(place.server, "--read")
    place.did("hold", "--after", "2020-01-01", "--reason", "an outbreak", "--upstream", "inhouse")
    place.did("waive", "six==2.0", "--upstream", "inhouse", "--reason", "it is urgent", "--until", "3d")
    serving.wait_for(lambda: security(place.server, token=reader)["holds"]["waivers"], SOON, "the waiver")
    full, seen = security(place.server, token=reader), security(place.server)
    assert full["merges"] and [one["name"] for one in full["upstreams"]] == ["inhouse"] and full["lines"] and full["holds"]["holds"]
    assert not seen["merges"] and not seen["upstreams"] and not seen["lines"] and seen["holds"] == {"holds": [], "waivers": []}
    health = {token: json.loads(place.server.get("/-/health", uploading.authorization(token)).body)["upstreams"]
              for token in (None, reader)}
    assert health[None] == [] and [one["index"] for one in health[reader]] == [f"{index.url.rstrip('/')}/"]
    assert "inhouse" not in page(place.server).text and "outbreak" not in page(place.server).text


def test_who_may_not_read_all_sees_the_projects_that_he_reads(serve, index, wheels, tmp_path):
    """Which names upstream was asked for by others is not his."""
    for platform, project in ((PUBLIC, "six"), (SECRET, "coins")):
        storelib.make_wheel(tmp_path / "store" / platform / project, project, "0.1")
    (tmp_path / "deny.list").write_text("coins it mines coins\nsix ==1.0 it is old\nevil it is evil\n")
    config = (f"[platform {PUBLIC}]\npythons = 3.12\n[platform {SECRET}]\npythons = 3.12\nprivate = yes\n"
              f"[view open]\nplatforms = {PUBLIC}\nupstream = merge\n[view team]\nplatforms = {SECRET} {PUBLIC}\nupstream = merge\n"
              + merging.config(index, cooldown="7d", deny=tmp_path / "deny.list", allow_private="yes"))
    server = serve(tmp_path / "store", config=config)
    reader = uploading.add_token(server, "--read")
    for project in ("six", "coins", "evil"):
        merging.status_of(server, project, "/open")
        merging.wait_until_noted(server, project)
    assert {row["project"] for row in security(server)["hidden"]} == {"six"}
    assert {line["project"] for line in security(server)["lines"]} == {"six"}
    assert "evil" not in page(server).text and "coins" not in page(server).text
    assert {line["project"] for line in security(server, token=reader)["lines"]} == {"six", "coins", "evil"}
    assert "evil" in {row["project"] for row in security(server, token=reader)["hidden"]}
    assert security(server, "?project=evil")["hidden"] == []


def test_real_clients_are_told_what_the_page_and_missing_tell(serve, index, tmp_path, client):
    """uv locks six 3.0 while it is offered; then there is a hold. What the page and `missing --lock` say is what uv and pip print."""
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    index.add("six", storelib.make_wheel(tmp_path / "theirs", "six", "3.0"), upload_time=stamp(-DAY))
    (tmp_path / "store" / PUBLIC).mkdir(parents=True)
    place = Place(serve, index)
    config = tmp_path / "commands.conf"
    config.write_text(place.server.config_path.read_text() + f"[store]\npath = {tmp_path / 'store'}\n[catalog]\n"
                      f"path = {place.server.catalog}\n[platform {PUBLIC}]\npythons = {python}\n")
    project, lock = tmp_path / "project", tmp_path / "project/uv.lock"
    project.mkdir()
    (project / "pyproject.toml").write_text(
        f'[project]\nname = "app"\nversion = "1"\nrequires-python = "=={python}.*"\ndependencies = ["six==3.0"]\n')
    uv = client("uv==0.13.9")
    index_url = f"{place.server.url}/simple/"
    uv.run("uv", "lock", "--no-cache", "--default-index", index_url, "--python", sys.executable, cwd=project)

    def missing(code):
        done = serving.run("missing", "--check", "--json", "--quiet", "--config", config, "--lock", lock)
        assert done.returncode == code, done.stdout + done.stderr
        (row,) = json.loads(done.stdout)["rows"]
        return row["status"], row["why"]

    def sync(code=0):
        done = uv.run("uv", "sync", "--frozen", "--no-cache", "--python", sys.executable, cwd=project, code=code)
        return done.stdout + done.stderr

    assert serving.run("index", "--quiet", "--config", config).returncode == 0
    assert missing(0) == ("upstream", "")
    place.did("hold", "--after", "20d", "--reason", "a worm goes round")
    place.shows()
    serving.wait_for(lambda: security(place.server)["hidden"], SOON, "the row")
    (row,) = security(place.server)["hidden"]
    said = row["says"]
    assert row["rule"] == "hold" and "a worm goes round" in said
    status, why = missing(1)
    assert status == "cooling" and said in why
    assert said.split("; ask")[0] in " ".join(sync(code=2).split())
    done = client("pip==26.3").pip("install", "--target", tmp_path / "none", *clients.pip_index(index_url),
                                   f"six @ {place.server.url}{row_url(index)}", code=1)
    assert "a worm goes round" in done.stdout + done.stderr
    place.did("waive", "six==3.0", "--until", "1h", "--reason", "it is urgent")
    place.shows("3.0")
    serving.wait_for(lambda: not security(place.server)["hidden"], SOON, "the end of the row")
    assert missing(0) == ("upstream", "")
    sync()


def row_url(index):
    (name,) = index.pages["six"]
    return merging.url_of("six", name)


@pytest.fixture(name="served")
def served_fixture(serve, index, lists, tmp_path):
    """tool 1.5 of ours, on a platform that all read and one that few do, and six 2.0 of upstream: all downloaded, then blocked."""
    theirs = storelib.make_wheel(tmp_path / "theirs", "six", "2.0")
    index.add("six", theirs)
    for platform in (PUBLIC, SECRET):
        storelib.make_wheel(tmp_path / "store" / platform / "tool", "tool", "1.5")
        storelib.make_wheel(tmp_path / "store" / platform / "fine", "fine", "1.0")
    deny = tmp_path / "deny.list"
    deny.write_text("# none\n")
    lists.put("MAL-2026-9", "nothing", MALWARE)
    config = (f"[store]\npath = {tmp_path / 'store'}\n[platform {PUBLIC}]\n[platform {SECRET}]\nprivate = yes\n"
              f"[server]\nrecord-downloads = who\ndeny = {deny}\n" + merging.config(index, block=lists.folder, allow_private="yes"))
    server = serve(None, config=config)
    token = uploading.add_token(server, "--read", "--note", "ci")
    for path in ("/files/{}/tool/tool-1.5-py3-none-any.whl", "/files/{}/fine/fine-1.0-py3-none-any.whl"):
        for platform in (PUBLIC, SECRET):
            assert server.get(path.format(platform), uploading.authorization(token)).status == 200
    assert server.get(merging.url_of("six", theirs.name), uploading.authorization(token)).status == 200
    server.stop()
    server = serve(None, config=config, state=server.catalog.parent)
    lists.put("MAL-2026-1", "six", MALWARE)
    lists.put("PYSEC-2026-3", "tool", {"versions": ["1.5"]}, **LOW)
    serving.wait_for(lambda: len(security(server, token=token)["served"]["files"]) == 3, SOON, "the lists")
    server.reader, server.deny = token, deny
    return server


def exposed_of(server):
    done = serving.run("exposed", "--json", "--config", server.config_path, "--catalog", server.catalog)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_what_was_served_is_what_the_command_tells(served):
    found = security(served, token=served.reader)
    told = exposed_of(served)
    assert told.pop("lists") and found["served"] == told and found["served-left-out"] == 0
    rows = told["files"]
    assert [(one["upstream"], one["platform"]) for one in rows] == [("upstream", None), (None, SECRET), (None, PUBLIC)]
    assert {one["token"] for row in rows for one in row["by"]} == {"ci"} and told["downloaded"] == 5
    seen = page(served, token=served.reader)
    for words in ("MAL-2026-1: malware", "PYSEC-2026-3: vulnerability", "six-2.0-py3-none-any.whl", "1 download by token ci", SECRET):
        assert words in seen.text, words


def test_who_may_not_read_all_sees_what_was_served_of_his(served):
    """Neither who downloaded it, nor the private views that list it, nor what upstream was asked for."""
    (row,) = security(served)["served"]["files"]
    assert (row["platform"], row["project"], row["downloads"], row["by"], row["views"]) == (PUBLIC, "tool", 1, [], ["/", f"/{PUBLIC}/"])
    assert security(served)["served"]["downloaded"] == 2
    narrow = uploading.add_token(served, "--read", "--project", "fine")
    (other,) = security(served, token=narrow)["served"]["files"]
    assert other == row
    text = page(served).text
    assert "tool-1.5-py3-none-any.whl" in text and "six" not in text and SECRET not in text and "token ci" not in text


def test_rows_of_what_was_served_are_bounded(served):
    found = security(served, "?limit=1", token=served.reader)
    assert [one["project"] for one in found["served"]["files"]] == ["six"] and found["served-left-out"] == 2
    assert "2 files more" in page(served, "?limit=1", token=served.reader).text


def test_damaged_counts_do_not_end_the_page(served, serve):
    served.stop()
    served.catalog.with_name("catalog.db.downloads").write_text("torn")
    again = serve(None, config=served.config_path.read_text(), state=served.catalog.parent)
    found = security(again, token=served.reader)
    assert {(one["project"], one["downloads"]) for one in found["served"]["files"]} == {("tool", 0), ("six", 0)}  # by whom is known
    # The server begins to count again; the first of its files may be there already.
    assert found["served"]["counted_since"] in (None, f"{datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d}")


def test_lines_of_the_servers_deny_are_shown(served):
    served.deny.write_text(f"tool ==9.0 no\nfine ==9.0 platform={SECRET} not there\nfine ==8.0 platform=ubuntu-* here\nsix bad\n")
    serving.wait_for(lambda: security(served)["lines"], SOON, "the lines")

    def lines(**how):
        return [(one["project"], one.get("platform"), one["source"]) for one in security(served, **how)["lines"]]

    assert lines() == [("fine", "ubuntu-*", "deny.list:3"), ("tool", None, "deny.list:1")]
    assert sorted(lines(token=served.reader)) == sorted(
        [("fine", SECRET, "deny.list:2"), ("fine", "ubuntu-*", "deny.list:3"), ("six", None, "deny.list:4"), ("tool", None, "deny.list:1")])
    assert all(one["list"] == "deny" and "upstream" not in one for one in security(served, token=served.reader)["lines"])
    seen = page(served).text
    assert "here: ubuntu-*" in seen and "here, and all" in seen and "not there" not in seen


def test_statuses_are_shown(served, tmp_path):
    def status(*words):
        done = serving.run("status", *words, "--config", served.config_path, "--catalog", served.catalog)
        assert done.returncode == 0, done.stderr

    def statuses(**how):
        found = security(served, **how)
        return [(one["project"], one["status"], one["reason"], one["platforms"], "by" in one) for one in found["statuses"]]

    assert statuses() == []
    status("tool", "quarantined", "--reason", "it steals <keys>")
    status("fine", "deprecated", "--reason", "use tool")
    storelib.make_wheel(tmp_path / "store" / SECRET / "covert", "covert", "1.0")
    assert serving.run("index", "--quiet", "--config", served.config_path, "--catalog", served.catalog).returncode == 0
    status("covert", "archived", "--reason", "no more")
    serving.wait_for(lambda: len(statuses()) == 2 and len(statuses(token=served.reader)) == 3, SOON, "the statuses")
    assert statuses() == [("fine", "deprecated", "use tool", [PUBLIC], False), ("tool", "quarantined", "it steals <keys>", [PUBLIC], False)]
    assert statuses(token=served.reader)[0][:3] == ("covert", "archived", "no more") and statuses(token=served.reader)[0][4]
    assert sorted(statuses(token=served.reader)[2][3]) == sorted([PUBLIC, SECRET])
    assert [row["project"] for row in security(served, "?limit=1")["statuses"]] == ["fine"]
    assert security(served, "?limit=1")["statuses-left-out"] == 1
    seen = page(served).text
    assert "it steals <keys>" in seen and "covert" not in seen and "no more" not in seen
    (row,) = security(served)["served"]["files"]  # it was served; nobody gets it any more
    assert row["hidden"] and row["views"] == []


def test_lists_that_cannot_be_read_are_named_as_health_names_them(served):
    """With a metric; and [server] deny also where nothing is merged."""
    def told(token=None):
        health = json.loads(served.get("/-/health", uploading.authorization(token)).body)
        assert security(served, token=token)["rule-lists"] == health["rule-lists"]
        return health["status"], health["rule-lists"]

    def failed():
        lines = served.get("/-/metrics").body.decode().splitlines()
        return [line for line in lines if line.startswith("wheelcache_rule_list_failed{")]

    assert told() == ("ok", [{"key": "deny", "list": "deny.list"}])
    assert failed() == ['wheelcache_rule_list_failed{upstream="",key="deny",list="deny.list"} 0']
    served.deny.write_text("tool ==what\n")
    serving.wait_for(lambda: failed()[0].endswith(" 1"), SOON, "the error")
    state, (row,) = told()
    assert state == "degraded" and row["error"] == "it cannot be read" and row["failed"]
    state, (row,) = told(served.reader)
    assert row["list"] == str(served.deny) and "deny.list:1" in row["error"]
    assert "it cannot be read" in page(served).text
    served.deny.unlink()
    serving.wait_for(lambda: "No such file" in told(served.reader)[1][0]["error"], SOON, "the missing file")
    served.deny.write_text("tool ==9.0 no\n")
    serving.wait_for(lambda: told()[0] == "ok", SOON, "the end")
    assert failed()[0].endswith(" 0")
