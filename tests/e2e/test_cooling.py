# SPDX-License-Identifier: Apache-2.0
"""Which files of upstream are offered: their age. Every way to a file agrees: page, root, file, metadata, HEAD, Range, redirect."""
import datetime
import json
import shutil
import time

import pytest

import memberships
import merging
import pages
import serving
import storelib

DAY = 86400
SOON = 60


def stamp(seconds):
    """A time of the JSON API, so many seconds from now."""
    when = datetime.datetime.fromtimestamp(time.time() + seconds, datetime.timezone.utc)
    return when.isoformat(timespec="microseconds").replace("+00:00", "Z")


@pytest.fixture(name="old")
def old_fixture(tmp_path, index):
    wheel = storelib.make_wheel(tmp_path / "theirs", "six", "1.0")
    index.add("six", wheel)
    return wheel


@pytest.fixture(name="young")
def young_fixture(tmp_path, index):
    wheel = storelib.make_wheel(tmp_path / "theirs", "six", "2.0")
    index.add("six", wheel, upload_time=stamp(-DAY))
    return wheel


def ways(server, wheel, project="six"):
    """The status of each way to a file by its URL."""
    url = merging.url_of(project, wheel.name)
    return {server.get(url).status, server.get(url, method="HEAD").status, server.get(url, {"Range": "bytes=0-9"}).status,
            server.get(f"{url}.metadata").status, server.get(f"{url}.metadata", method="HEAD").status,
            server.get(url, {"If-None-Match": f'"{"0" * 64}"'}).status}


def reload(server, index, **keys):
    server.config_path.write_text(merging.config(index, **keys))
    server.signal(1)


def test_young_file_is_offered_in_no_way(serve, index, old, young):
    server = serve(None, config=merging.config(index, cooldown="7d") + "[server]\ncontact = sec@example.org\n")
    page = merging.page(server, "six")
    assert [one["filename"] for one in page["files"]] == [old.name] and page["versions"] == ["1.0"]
    html = server.get("/simple/six/", {"Accept": pages.HTML}).body.decode()
    assert old.name in html and young.name not in html
    assert ways(server, young) == {403} and ways(server, old) == {200, 206}
    reply = server.get(merging.url_of("six", young.name))
    until = stamp(6 * DAY)[:16]
    assert reply["Cache-Control"] == "no-store" and reply["Content-Type"] == "application/problem+json"
    problem = json.loads(reply.body)
    assert problem["status"] == 403 and problem["title"] == "cooldown"
    assert problem["detail"].startswith(f"cooling until {until}") and "(upstream upstream, cooldown 7d)" in problem["detail"]
    head = server.raw(f"GET {merging.url_of('six', young.name)} HTTP/1.0\r\nHost: x\r\n\r\n".encode()).split(b"\r\n")[0]
    assert head.startswith(f"HTTP/1.1 403 cooling until {until}".encode())
    assert index.count(f"/packages/{young.name}") == 0 and index.count(f"/packages/{young.name}.metadata") == 0


def test_project_of_which_nothing_is_offered_has_an_empty_page(serve, index, young):
    server = serve(None, config=merging.config(index, cooldown="7d"))
    page = merging.page(server, "six")
    assert page["files"] == [] and page["versions"] == []
    assert server.get("/simple/six/", {"Accept": pages.HTML}).status == 200


def test_exempt_projects_do_not_cool(serve, index, young):
    server = serve(None, config=merging.config(index, cooldown="7d", cooldown_exempt="other-* Si*"))
    assert merging.names(server, "six") == [young.name] and 403 not in ways(server, young)


def test_page_changes_when_the_time_comes(serve, index, tmp_path, old):
    """Without a request upstream, with a new ETag, and no client may keep the page for longer: in each form, at each server of
    the state."""
    wheel = storelib.make_wheel(tmp_path / "theirs", "six", "2.0")
    due = time.time() + 8
    index.add("six", wheel, upload_time=stamp(8 - 7 * DAY))
    index.max_age = 3600
    config = merging.config(index, cooldown="7d", max_age="1h") + "[server]\npage-max-age = 1h\n"
    first = serve(None, config=config, state=tmp_path / "state")
    assert merging.names(first, "six") == [old.name]
    merging.wait_until_noted(first, "six")
    asks = [(server, accept) for server in (first, serve(None, config=config, state=tmp_path / "state"))
            for accept in (pages.JSON, pages.HTML)]
    tags = {}

    def check(server, accept):
        asked = time.time()
        reply = server.get("/simple/six/", {"Accept": accept})
        age = int(reply["Cache-Control"].split("max-age=")[1].split(",")[0])
        assert asked + age <= due, (asked, age, due)
        assert tags.setdefault(accept, reply["ETag"]) == reply["ETag"] and wheel.name not in reply.body.decode()
        assert server.get(merging.url_of("six", wheel.name)).status == 403
        again = server.get("/simple/six/", {"Accept": accept, "If-None-Match": tags[accept]})
        assert again.status == 304
        age = int(again["Cache-Control"].split("max-age=")[1].split(",")[0])
        assert time.time() + age <= due + 0.5

    while len(tags) < 2 or time.time() < due - 1.2:
        for ask in asks:
            if len(tags) < 2 or time.time() < due - 1.2:
                check(*ask)
        time.sleep(0.1)
    time.sleep(max(0, due + 0.5 - time.time()))
    for server, accept in asks:
        reply = server.get("/simple/six/", {"Accept": accept, "If-None-Match": tags[accept]})
        assert reply.status == 200 and reply["ETag"] != tags[accept] and "max-age=3600" in reply["Cache-Control"]
        assert old.name in reply.body.decode() and wheel.name in reply.body.decode()
        assert ways(server, wheel) == {200, 206}
    assert index.count("six") == 1


def test_cached_file_and_redirect_follow_a_new_rule(serve, index, old, young):
    """Also what was offered before, and lies in the cache."""
    server = serve(None, config=merging.config(index))
    assert 403 not in ways(server, young)
    merging.wait_until_kept(server, young.name, f"{young.name}.metadata")
    reload(server, index, cooldown="7d")
    serving.wait_for(lambda: ways(server, young) == {403}, SOON, "the rule")
    assert merging.names(server, "six") == [old.name]
    reload(server, index, cooldown="7d", files="redirect")
    serving.wait_for(lambda: server.get(merging.url_of("six", old.name))["Location"] or True, SOON, "the reload")
    reply = server.get(merging.url_of("six", young.name))
    assert reply.status == 403 and reply["Location"] is None
    reload(server, index, cooldown="1h")
    serving.wait_for(lambda: 403 not in ways(server, young), SOON, "the end of the rule")
    assert merging.names(server, "six") == [old.name, young.name]


def test_file_that_left_its_page_is_sent_from_the_cache_but_not_under_deny(serve, index, old, young, tmp_path):
    deny = tmp_path / "deny.list"
    deny.write_text("# none\n")
    server = serve(None, config=merging.config(index, cooldown="1h", deny=deny, max_age=0))
    url = merging.url_of("six", young.name)
    assert server.get(url).status == 200
    merging.wait_until_kept(server, young.name)
    del index.pages["six"][young.name]
    index.serial += 1
    serving.wait_for(lambda: merging.names(server, "six") == [old.name], SOON, "the new page")
    assert server.get(url).status == 200
    deny.write_text("six ==2.0 it mines coins\n")
    serving.wait_for(lambda: server.get(url).status == 403, 2, "the line of the list")
    assert "denied by deny.list:1: it mines coins" in json.loads(server.get(url).body)["detail"]
    deny.write_text("six platform=ubuntu-* for upstreams there are none\n")  # refused: the old list counts
    serving.wait_for(lambda: "what it said before counts" in server.errors(), SOON, "the refusal")
    assert server.get(url).status == 403 and merging.names(server, "six") == [old.name]


def test_our_file_stays_and_is_yanked_as_theirs(serve, index, tmp_path, old):
    """A hidden file covers nothing, and tells nevertheless that its release is yanked."""
    store = tmp_path / "store"
    ours = storelib.make_wheel(store / "debian-12-x86_64", "six", "2.0", size=999)
    theirs = storelib.make_wheel(tmp_path / "theirs", "six", "2.0")
    index.add("six", theirs, upload_time=stamp(-DAY), yanked="broken")
    server = serve(store, config=merging.config(index, cooldown="7d", shared="six"))
    files = {one["filename"]: one for one in merging.page(server, "six")["files"]}
    assert set(files) == {old.name, ours.name}
    assert "/files/debian-12-x86_64/" in files[ours.name]["url"] and files[ours.name]["yanked"] == "broken"
    assert "upstream" in files[old.name]["url"]


@pytest.mark.parametrize("how, offered", [("first-seen", False), ("hide", False), ("allow", True)])
def test_file_without_a_time(serve, index, tmp_path, how, offered):
    wheel = storelib.make_wheel(tmp_path / "theirs", "six", "1.0")
    for bad in (None, "yesterday", 1.7e9, "1994-12-31T23:59:59Z"):
        index.add("six", wheel, upload_time=bad)
        server = serve(None, config=merging.config(index, cooldown="7d", cooldown_unknown=how))
        assert merging.names(server, "six") == ([wheel.name] if offered else []), bad
        detail = server.get(merging.url_of("six", wheel.name))
        assert detail.status == (200 if offered else 403)
        if how == "hide":
            assert b"its upload time is unknown" in detail.body


def test_first_seen_outlives_the_catalog(serve, index, tmp_path):
    """Other bytes under the name are another file; a row takes 36 bytes."""
    wheel = storelib.make_wheel(tmp_path / "theirs", "six", "1.0")
    index.add("six", wheel, upload_time=None)
    state = tmp_path / "state"
    server = serve(None, config=merging.config(index, cooldown="6s"), state=state)
    began = time.time()
    assert merging.names(server, "six") == []
    server.stop()
    (record,) = (state / "catalog.db.offers" / "seen").iterdir()
    assert record.name == "six" and len(record.read_text()) == 36
    for one in state.glob("catalog.db*"):
        if one.is_file():
            one.unlink()
    server = serve(None, config=merging.config(index, cooldown="6s"), state=state)
    serving.wait_for(lambda: merging.names(server, "six") == [wheel.name], 12, "its time")
    assert time.time() - began < 9
    server.stop()
    shutil.rmtree(state / "catalog.db.files", ignore_errors=True)
    index.change("six", wheel.name, hashes={"sha256": "0" * 64})
    server = serve(None, config=merging.config(index, cooldown="1h", max_age=0), state=state)
    serving.wait_for(lambda: merging.names(server, "six") == [], SOON, "the other file")


def test_first_time_that_was_told_counts(serve, index, old, young):
    """What upstream says later of the same bytes is reported, and changes nothing, both ways."""
    server = serve(None, config=merging.config(index, cooldown="7d", max_age=0))
    assert merging.names(server, "six") == [old.name]
    index.change("six", young.name, upload_time="2020-01-01T00:00:00Z")
    index.change("six", old.name, upload_time=stamp(-10))
    serving.wait_for(lambda: merging.names(server, "six") and "the first one counts" in server.errors(), SOON, "the report")
    assert merging.names(server, "six") == [old.name] and ways(server, young) == {403}
    index.change("six", young.name, upload_time=None)
    index.change("six", old.name, upload_time=None)
    before = index.count("six")
    serving.wait_for(lambda: merging.names(server, "six") and index.count("six") > before + 1, SOON, "the new page")
    assert merging.names(server, "six") == [old.name]


@pytest.mark.parametrize("told", [-300 * DAY, None])
def test_first_time_counts_when_a_file_comes_back(serve, index, old, young, told):
    """After a page without the file, and a restart; what upstream says later is reported once."""
    server = serve(None, config=merging.config(index, cooldown="7d", max_age=0))
    assert merging.names(server, "six") == [old.name]
    gone = index.pages["six"].pop(young.name)
    index.serial += 1
    before = index.count("six")
    serving.wait_for(lambda: merging.names(server, "six") and index.count("six") > before + 1, SOON, "the page without")
    index.pages["six"][young.name] = gone | {"upload-time": stamp(told) if told else None}
    index.serial += 1
    server.stop()
    server = serve(None, config=merging.config(index, cooldown="7d", max_age=0), state=server.catalog.parent)
    before = index.count("six")
    serving.wait_for(lambda: merging.names(server, "six") and index.count("six") > before + 1, SOON, "the page with it")
    assert merging.names(server, "six") == [old.name] and ways(server, young) == {403}
    assert f"cooling until {stamp(6 * DAY)[:13]}".encode() in server.get(merging.url_of("six", young.name)).body
    assert server.errors().count("the first one counts") == (1 if told else 0)


def test_time_to_come_is_reported_and_hides_only_with_a_rule(serve, index, tmp_path):
    wheel = storelib.make_wheel(tmp_path / "theirs", "six", "1.0")
    index.add("six", wheel, upload_time=stamp(DAY))
    server = serve(None, config=merging.config(index))
    assert merging.names(server, "six") == [wheel.name]
    serving.wait_for(lambda: "has an upload time that is yet to come" in server.errors(), SOON, "the report")
    reload(server, index, cooldown="1s")
    serving.wait_for(lambda: merging.names(server, "six") == [], SOON, "the rule")


def test_explain_names_every_rule_and_the_time(serve, index, old, young, tmp_path):
    deny = tmp_path / "deny.list"
    deny.write_text("six ==2.0 it mines coins\n")
    server = serve(None, config=merging.config(index, cooldown="7d", deny=deny))
    assert merging.names(server, "six") == [old.name]
    merging.wait_until_noted(server, "six")
    until = stamp(6 * DAY)[:13]
    for ask in ("/-/explain/simple/six", "/-/explain/simple/six/2.0"):
        said = server.get(f"{ask}?format=text").body.decode()
        assert "1 of its files is not offered" in said and "denied by deny.list:1: it mines coins" in said
        assert f"cooling until {until}" in said
        page = json.loads(server.get(f"{ask}?format=json").body)["upstream"]
        (hidden,) = page["hidden"]
        assert page["not-offered"] == 1 and hidden["filename"] == young.name and "offered" not in hidden
        assert [rule["rule"] for rule in hidden["rules"]] == ["deny", "cooldown"]
        html = server.get(ask, {"Accept": pages.HTML}).body.decode()
        assert "<h2>Not offered</h2>" in html and "it mines coins<br>cooling until" in html
    deny.write_text("")
    serving.wait_for(lambda: "offered" in server.get("/-/explain/simple/six?format=json").body.decode().split('"hidden"')[1], SOON,
                     "the list")
    (hidden,) = json.loads(server.get("/-/explain/simple/six?format=json").body)["upstream"]["hidden"]
    assert hidden["offered"].startswith(until)
    done = serving.run("explain", "six", "--config", server.config_path, "--catalog", server.catalog)
    assert f"{young.name}  cooling until {until}" in done.stdout


TAG = "cp312-cp312-manylinux_2_17_x86_64"


@pytest.fixture(name="branch")
def branch_fixture(index, tmp_path):
    """A store that has ours 1.0; upstream has that and others, of which some are a day old, one is held, one denied."""
    store = tmp_path / "store"
    wheels = {}
    for project, age in (("pinned", 1), ("loose", 1), ("ours", 1), ("denied", 30), ("old", 30)):
        wheels[project] = storelib.make_wheel(tmp_path / "theirs", project, "1.0", tag=TAG)
        index.add(project, wheels[project], upload_time=stamp(-age * DAY))
    storelib.make_wheel(store / "debian-12-x86_64" / "ours", "ours", "1.0", tag=TAG)
    (tmp_path / "deny.list").write_text("denied ==1.0 it mines coins\n")
    (tmp_path / "master.txt").write_text("pinned==1.0\nloose\nours==1.0\ndenied==1.0\nold==1.0\n")
    config = tmp_path / "wheelcache.conf"
    config.write_text(merging.config(index, cooldown="7d", deny=tmp_path / "deny.list") +
                      f"[store]\npath = {store}\n[catalog]\npath = {tmp_path}/catalog.db\n"
                      "[platform debian-12-x86_64]\npythons = 3.12\n"
                      f"[branch master]\nrequirements = {tmp_path}/master.txt\n")
    assert serving.run("index", "--quiet", "--config", config).returncode == 0
    return config, wheels


def missing(config, *options):
    done = serving.run("missing", "--json", "--quiet", "--config", config, *options)
    assert done.returncode == 0, done.stderr
    return {row["project"]: row for row in json.loads(done.stdout)["rows"]}


def test_missing_says_what_is_cooling(branch):
    """Only what is pinned, and what nothing else covers. What is hidden otherwise has its reason."""
    config, wheels = branch
    rows = missing(config, "--all")
    assert {name: row["status"] for name, row in rows.items()} == {
        "pinned": "cooling", "loose": "impossible", "ours": "here", "denied": "impossible", "old": "upstream"}
    until = stamp(6 * DAY)[:13]
    assert f"is cooling until {until}" in rows["pinned"]["why"] and rows["pinned"]["offered"].startswith(until)
    assert f"; {wheels['loose'].name} is not offered: cooling until {until}" in rows["loose"]["why"]
    assert f"; {wheels['denied'].name} is not offered: denied by deny.list:1: it mines coins" in rows["denied"]["why"]
    assert [name for name, row in rows.items() if "offered" in row] == ["pinned"]
    assert "cooling" in serving.run("missing", "--config", config).stdout.splitlines()[0]
    assert serving.run("missing", "--check", "--config", config).returncode == 1


def test_missing_says_that_a_pinned_sdist_cools(branch, index, tmp_path):
    """It is to be built once it is offered."""
    config, _ = branch
    index.add_bytes("source", "source-1.0.tar.gz", b"an archive", upload_time=stamp(-DAY))
    (tmp_path / "master.txt").write_text("source==1.0\n")
    row = missing(config)["source"]
    assert row["status"] == "cooling" and row["offered"].startswith(stamp(6 * DAY)[:13]) and row["sdist"] is None


def test_hold_is_cooling_without_a_time(branch):
    config, _ = branch
    done = serving.run("hold", "--after", "2020-01-01", "--reason", "an outbreak", "--config", config)
    assert done.returncode == 0, done.stderr
    row = missing(config, "--all")["old"]
    assert row["status"] == "cooling" and "offered" not in row
    assert "is held since 2020-01-01T00:00:00Z: an outbreak" in row["why"]


def lock_of(path, wheels, **other_bytes):
    """A uv.lock of these wheels."""
    path.write_text('version = 1\nrequires-python = ">=3.9"\n' + "".join(
        f'[[package]]\nname = "{name}"\nversion = "1.0"\nsource = {{ registry = "https://pypi.org/simple" }}\n'
        f'wheels = [{{ url = "https://x.example/{wheel.name}", hash = "sha256:{other_bytes.get(name, wheel.sha256)}" }}]\n'
        for name, wheel in wheels.items()) +
        '[[package]]\nname = "app"\nversion = "0"\nsource = { virtual = "." }\ndependencies = [' +
        ", ".join(f'{{ name = "{name}" }}' for name in wheels) + "]\n")
    return path


def test_lock_says_what_is_cooling_and_what_is_denied(branch, tmp_path):
    config, wheels = branch
    rows = missing(config, "--lock", lock_of(tmp_path / "uv.lock", wheels, loose="c" * 64))
    assert {name: row["status"] for name, row in rows.items()} == {
        "pinned": "cooling", "loose": "missing", "ours": "here", "denied": "missing", "old": "upstream"}
    until = stamp(6 * DAY)[:13]
    assert rows["pinned"]["why"].startswith(f"upstream's file of this name is not offered: cooling until {until}")
    assert rows["pinned"]["offered"].startswith(until) and sum("offered" in row for row in rows.values()) == 1
    assert rows["loose"]["why"].startswith(f"upstream's file of this name has the SHA-256 {wheels['loose'].sha256}, and is not off")
    assert rows["denied"]["why"].endswith("is not offered: denied by deny.list:1: it mines coins")
    done = serving.run("missing", "--check", "--quiet", "--config", config, "--lock", tmp_path / "uv.lock")
    assert done.returncode == 1 and "1 here, 1 upstream, 1 cooling, 0 unknown, 2 missing, 0 other-bytes" in done.stdout
    lock_of(tmp_path / "uv.lock", {"pinned": wheels["pinned"]})
    assert serving.run("missing", "--check", "--quiet", "--config", config, "--lock", tmp_path / "uv.lock").returncode == 1


def test_hashes_cool_only_where_nothing_else_installs(branch, index, tmp_path):
    """A lock with hashes and without names: a listed file that one of them names covers the cooling one."""
    config, wheels = branch
    pure = storelib.make_wheel(tmp_path / "theirs", "old", "2.0", tag="py3-none-any")
    young = storelib.make_wheel(tmp_path / "theirs", "old", "2.0", tag=TAG)
    index.add("old", pure, upload_time=stamp(-30 * DAY))
    index.add("old", young, upload_time=stamp(-DAY))
    lock = tmp_path / "locked.txt"
    lock.write_text(f"old==2.0 --hash=sha256:{pure.sha256} --hash=sha256:{young.sha256}\n"
                    f"pinned==1.0 --hash=sha256:{wheels['pinned'].sha256}\n"
                    f"denied==1.0 --hash=sha256:{wheels['denied'].sha256}\n")
    rows = missing(config, "--lock", lock)
    assert {name: (row["status"], row["filename"]) for name, row in rows.items()} == {
        "old": ("upstream", pure.name), "pinned": ("cooling", wheels["pinned"].name), "denied": ("missing", wheels["denied"].name)}
    assert "it mines coins" in rows["denied"]["why"]
    lock.write_text(f"old==2.0 --hash=sha256:{young.sha256}\n")
    row = missing(config, "--lock", lock)["old"]
    assert (row["status"], row["filename"], row["wanted"]) == ("cooling", young.name, True)


def rules_of(server, ask):
    """Of the only hidden file: each rule with its source, and the file itself."""
    (hidden,) = json.loads(server.get(f"{ask}?format=json").body)["upstream"]["hidden"]
    return {rule["rule"]: rule["source"] for rule in hidden["rules"]}, hidden


def test_explain_names_the_source_of_each_rule_also_at_a_time(serve, index, old, young, tmp_path):
    """A view at a time has its members of then, and today's rules."""
    store, lists = tmp_path / "store", tmp_path / "lists"
    ours = storelib.make_wheel(store / "ubuntu-22.04-x86_64" / "ours", "ours", "1.0")
    memberships.append(store, "tested", [("ubuntu-22.04-x86_64", ours)])
    lists.mkdir()
    after = f"{stamp(-2 * DAY)[:19]}Z"
    (lists / "MAL-2026-1.json").write_text(json.dumps({
        "id": "MAL-2026-1", "modified": "2026-01-02T03:04:05Z",
        "affected": [{"package": {"ecosystem": "PyPI", "name": "six"}, "versions": ["2.0"]}]}))
    (tmp_path / "deny.list").write_text("six ==2.0 it mines coins\n")
    server = serve(store, config=merging.config(index, cooldown="7d", deny=tmp_path / "deny.list", block=lists) +
                   "[platform ubuntu-22.04-x86_64]\npythons = 3.10\n[view all]\nplatforms = ubuntu-22.04-x86_64\n"
                   "[view tested]\nplatforms = ubuntu-22.04-x86_64\nfrom = all\nupstream = merge\n")
    assert serving.run("hold", "--after", after, "--reason", "an outbreak", "--upstream", "upstream", "--config",
                       server.config_path, "--catalog", server.catalog).returncode == 0
    past = "tested@2026-11-21"
    serving.wait_for(lambda: merging.names(server, "six", f"/{past}") == [old.name], SOON, "the page")
    assert merging.names(server, "ours", f"/{past}") == [ours.name]
    merging.wait_until_noted(server, "six")
    serving.wait_for(lambda: "hold" in rules_of(server, "/-/explain/tested/six")[0], SOON, "the hold")
    for view in ("tested", past):
        rules, hidden = rules_of(server, f"/-/explain/{view}/six")
        assert list(rules) == ["deny", "block", "hold", "cooldown"] and hidden["filename"] == young.name
        assert (rules["deny"], rules["block"], rules["cooldown"]) == ("deny.list:1", "lists", "cooldown of upstream upstream")
        assert rules["hold"].startswith("hold-") and "offered" not in hidden
        text = server.get(f"/-/explain/{view}/six?format=text").body.decode()
        assert f"MAL-2026-1: malware (lists); held since {after}: an outbreak (hold-" in text, text
        assert "cooling until " + stamp(6 * DAY)[:13] in text


def test_explain_says_when_a_file_without_a_time_was_first_seen(serve, index, tmp_path):
    wheel = storelib.make_wheel(tmp_path / "theirs", "six", "1.0")
    index.add("six", wheel, upload_time=None)
    server = serve(None, config=merging.config(index, cooldown="7d"))
    assert merging.names(server, "six") == []
    merging.wait_until_noted(server, "six")
    rules, hidden = rules_of(server, "/-/explain/simple/six")
    assert rules == {"cooldown": "cooldown of upstream upstream"}
    assert hidden["offered"].startswith(stamp(7 * DAY)[:13]) and hidden["seen"].startswith(stamp(0)[:13])
    assert f"it has no upload time, and was first seen {hidden['seen']}" in server.get("/-/explain/simple/six?format=text").body.decode()
    reload(server, index, cooldown="7d", cooldown_unknown="hide")
    serving.wait_for(lambda: rules_of(server, "/-/explain/simple/six")[0] == {"cooldown": "cooldown-unknown of upstream upstream"}, SOON,
                     "the rule")
    assert "offered" not in rules_of(server, "/-/explain/simple/six")[1]
