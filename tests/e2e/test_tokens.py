# SPDX-License-Identifier: Apache-2.0
"""Tokens, freezes and private platforms, as operators and clients see them."""
import base64
import hashlib
import itertools
import json
import os
import re
import stat
import time

import pytest

import clients
import serving
import storelib
import uploading
from uploading import authorization

PIP = "pip==26.3"
OLD_PIP = "pip==22.0.4"
UV = "uv==0.13.9"
TOKEN = re.compile(r"wc_[A-Za-z0-9_-]{43}")


class Site:
    """A store with a public and two private platforms, its configuration, and the program run on it."""

    def __init__(self, folder):
        self.folder = folder
        self.store = folder / "store"
        self.wheels = {}
        for platform in ("public", "team-a", "team-b"):
            self.wheels[platform] = storelib.make_wheel(self.store / platform / "i" / f"in-{platform}", f"in-{platform}",
                                                        "1.0")
        self.config = (f"[store]\npath = {self.store}\n[platform public]\n[platform team-a]\nprivate = yes\n"
                       "[platform team-b]\nprivate = yes\n[view both]\nplatforms = team-a public\n"
                       "[view all]\nplatforms = team-a team-b public\n")
        self.file = folder / "site.conf"
        self.file.write_text(self.config)
        self.catalog = folder / "state" / "catalog.db"
        self.catalog.parent.mkdir()

    def run(self, *words, code=0):
        done = serving.run(*words, "--config", self.file, "--catalog", self.catalog)
        assert done.returncode == code, done.stdout + done.stderr
        return done

    def add(self, *options):
        """A new token."""
        done = self.run("token", "add", *options)
        assert TOKEN.fullmatch(done.stdout.strip()), done.stdout
        assert done.stdout.strip() not in done.stderr
        return done.stdout.strip()

    def tokens(self):
        return json.loads(self.run("token", "list", "--json").stdout)["tokens"]


@pytest.fixture(name="site")
def site_fixture(tmp_path):
    return Site(tmp_path)


@pytest.fixture(name="server")
def server_fixture(site, serve):
    return serve(config=site.config, state=site.catalog.parent)


# --- the command ---

def test_a_token_is_shown_once_and_kept_as_a_hash(site):
    secret = site.add("--platform", "ubuntu-*", "--project", "zope-*", "--expires", "90d", "--note", "builder é")
    file = site.catalog.parent / "catalog.db.tokens"
    text = file.read_text()
    digest = hashlib.sha256(secret.encode()).hexdigest()
    assert secret not in text and digest in text
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    (token,) = site.tokens()
    assert token["id"] == digest[:8]
    assert (token["platform"], token["project"], token["note"]) == ("ubuntu-*", "zope-*", "builder é")
    assert (token["upload"], token["read"], token["expired"]) == (True, False, False)
    lives = time.mktime(time.strptime(token["expires"], "%Y-%m-%dT%H:%M:%SZ")) - time.mktime(
        time.strptime(token["created"], "%Y-%m-%dT%H:%M:%SZ"))
    assert lives in (90 * 86400 - 1, 90 * 86400, 90 * 86400 - 3600, 90 * 86400 + 3600)
    table = site.run("token", "list").stdout
    assert table.splitlines()[1].split() == [digest[:8], "upload", "ubuntu-*", "zope-*", "-", token["expires"], "builder", "é"]
    assert secret not in table


def test_rights_are_as_asked_for(site):
    for options in ([], ["--read"], ["--read", "--upload"]):
        site.add(*options)
    assert [(t["upload"], t["read"]) for t in site.tokens()] == [(True, False), (False, True), (True, True)]
    site.add("--right", "evidence", "--right", "promote", "--view", "tested", "--view", "nightly-*")
    site.add("--right", "override", "--right", "read")
    site.add("--right", "yank")
    assert [(t["rights"], t["views"], t["upload"], t["read"]) for t in site.tokens()[3:]] == [
        (["evidence", "promote"], ["tested", "nightly-*"], False, False), (["read", "override"], ["*"], False, True),
        (["yank"], [], False, False)]
    assert [line["reason"].partition(": ")[2] for line in uploading.audit(site)[-3:]] == [
        "evidence,promote for tested nightly-*", "read,override for *", "yank"]
    assert [line.split()[1:6] for line in site.run("token", "list").stdout.splitlines()[4:]] == [
        ["evidence,promote", "*", "*", "tested", "nightly-*"], ["read,override", "*", "*", "*", "never"],
        ["yank", "*", "*", "-", "never"]]


def test_an_older_program_takes_no_right_from_a_line_with_views(site):
    """It knows the rights upload and read, with commas between them, and nothing else in the third field."""
    site.add("--right", "upload", "--right", "evidence", "--view", "tested")
    site.add("--right", "read")
    site.add("--right", "yank", "--right", "read")
    lines = (site.catalog.parent / "catalog.db.tokens").read_text().splitlines()[1:]
    assert [set(line.split()[2].split(",")) <= {"upload", "read"} for line in lines] == [False, True, False]


def test_a_token_is_revoked_by_its_id(site):
    site.add("--note", "first")
    site.add("--note", "second")
    first = site.tokens()[0]["id"]
    site.run("token", "revoke", first)
    assert [t["note"] for t in site.tokens()] == ["second"]
    done = site.run("token", "revoke", first, code=1)
    assert f"no token {first} in " in done.stderr
    assert [(e["action"], e["result"], e["reason"]) for e in uploading.audit(site)[2:]] == [
        ("token revoke", "done", f"{first} first"),
        ("token revoke", "failed", f"no token {first} in {site.catalog}.tokens")]
    assert uploading.audit(site)[0]["action"] == "token add" and uploading.audit(site)[0]["who"].startswith("user ")


def test_a_damaged_line_is_named_and_kept(site):
    site.add("--note", "good")
    file = site.catalog.parent / "catalog.db.tokens"
    file.write_text(file.read_text() + "junk\n")
    done = site.run("token", "list", "--json", code=1)
    assert "catalog.db.tokens:3: no token, for it has too few fields" in done.stderr
    assert [t["note"] for t in json.loads(done.stdout)["tokens"]] == ["good"]
    site.add("--note", "another")
    assert "\njunk\n" in file.read_text()


@pytest.mark.parametrize("words, reason", [
    (["token"], 'token: expected add, list or revoke, not ""'),
    (["token", "make"], 'token: expected add, list or revoke, not "make"'),
    (["token", "revoke"], "token revoke: no ID is given"),
    (["token", "list", "--note", "x"], "--note is not an option of token list"),
    (["token", "add", "--json"], "--json is not an option of token add"),
    (["token", "add", "--expires", "soon"], '--expires: "soon" is not a time'),
    (["token", "add", "--expires", "0"], "--expires: 0 is not more than 0"),
    (["token", "add", "--project", "Zope.x"], 'project "Zope.x": names are compared in their normal form'),
    (["token", "add", "--platform", "a b"], 'platform "a b": not a glob'),
    (["token", "add", "--right", "all"], 'expected upload, read, yank, evidence, promote or override, not "all"'),
    (["token", "add", "--right", "yank", "--view", "tested"], 'view "tested": not a glob without blanks and commas, or for no right'),
    (["token", "add", "--view", "tested"], 'view "tested": not a glob without blanks and commas, or for no right'),
    (["token", "add", "--right", "promote", "--view", "a,b"], 'view "a,b": not a glob'),
    (["token", "add", "--note", "a\nb"], "note: not 200 bytes of plain text"),
    (["token", "add", "one", "two"], "one STORE at most, not also two"),
    (["freeze", "nowhere"], "the store has no platform nowhere"),
])
def test_a_wrong_line_is_explained(site, words, reason):
    done = site.run(*words, code=2)
    assert reason in done.stderr
    assert done.stdout == ""
    assert not (site.catalog.parent / "catalog.db.tokens").exists()


def test_what_cannot_be_written_down_is_not_done(site):
    (site.catalog.parent / "catalog.db.audit").mkdir()
    for words in (["token", "add"], ["freeze"]):
        assert "audit log " in site.run(*words, code=1).stderr
    assert site.tokens() == []
    assert not (site.store / "public" / ".wheelcache-frozen").exists()


def test_freeze_and_thaw(site):
    done = site.run("freeze", "public", "--reason", "the volume\nmoves")
    assert done.stdout == "public: frozen\n"
    mark = site.store / "public" / ".wheelcache-frozen"
    assert re.fullmatch(r"the volume moves\nby user \S+ at 20\S+Z\n", mark.read_text())
    assert site.run("freeze").stdout.splitlines() == [f"{p}: frozen" for p in site.wheels]
    assert site.run("thaw", "public", "team-b").stdout == "public: thawed\nteam-b: thawed\n"
    assert site.run("thaw").stdout.splitlines() == ["public: was not frozen", "team-a: thawed", "team-b: was not frozen"]
    assert [p.name for p in site.store.rglob(".wheelcache-frozen*")] == []
    assert [(e["action"], e["platform"]) for e in uploading.audit(site)][:2] == [("freeze", "public"), ("freeze", "public")]
    assert uploading.audit(site)[0]["reason"] == "the volume\nmoves"


def test_a_platform_that_is_away_does_not_delay_others(site):
    (site.store / "team-a").rename(site.folder / "away")
    done = site.run("freeze", code=1)
    assert done.stdout == "public: frozen\nteam-b: frozen\n"
    assert "platform team-a: " in done.stderr and "1 failed" in done.stderr
    assert [e["result"] for e in uploading.audit(site)] == ["done", "failed", "done"]


def test_a_freeze_needs_no_configuration(tmp_path):
    (tmp_path / "store" / "debian-12-x86_64").mkdir(parents=True)
    done = serving.run("freeze", "--store", tmp_path / "store", "--catalog", tmp_path / "c.db")
    assert (done.stdout, done.returncode) == ("debian-12-x86_64: frozen\n", 0)


def platform_health(server, name, headers=None):
    return next(p for p in json.loads(server.get("/-/health", headers).body)["platforms"] if p["name"] == name)


def test_health_and_log_tell_of_a_freeze(site, server):
    serving.wait_for(lambda: platform_health(server, "public").get("frozen") is False, 20, "the first look")
    site.run("freeze", "public", "--reason", "the volume moves")
    found = serving.wait_for(lambda: (p := platform_health(server, "public"))["frozen"] and p, 20, "the freeze")
    assert found["frozen-reason"].startswith("the volume moves (by user ")
    assert platform_health(server, "team-a", authorization(site.add("--read")))["frozen"] is False
    assert server.get("/public/simple/in-public/").status == 200
    site.run("thaw")
    serving.wait_for(lambda: not platform_health(server, "public")["frozen"], 20, "the thaw")
    log = server.errors()
    assert log.count("platform public is frozen: the volume moves (by user ") == 1
    assert log.count("platform public is thawed") == 1


def test_health_and_log_warn_of_a_quota(site, serve):
    quota = "[platform public]\nquota-files = 10\n"
    server = serve(None, "--rescan", "1", config=site.config.replace("[platform public]\n", quota),
                   state=site.catalog.parent)
    serving.wait_for(lambda: platform_health(server, "public").get("quota-percent") == 10, 30, "ten per cent")
    assert platform_health(server, "public")["quota-warning"] is False
    assert "quota-percent" not in platform_health(server, "team-a", authorization(site.add("--read")))
    for i in range(7):
        storelib.make_wheel(site.store / "public" / "m" / "more", "more", f"{i}.0")
    damaged = site.store / "public" / "damaged-1.0-py3-none-any.whl"  # is on no page, but on the disk
    damaged.write_bytes(b"junk")
    os.utime(damaged, (storelib.OLD, storelib.OLD))
    serving.wait_for(lambda: platform_health(server, "public")["quota-percent"] == 90, 30, "ninety per cent")
    assert platform_health(server, "public")["quota-warning"] is True
    serving.wait_for(lambda: "warning: wheelcache: platform public: 90 % of its quota is used" in server.errors(), 20,
                     "the warning")


# --- what is private ---

def pages_and_files(site):
    """The URLs that only readers of team-a may get, and what is on each of them."""
    wheel = site.wheels["team-a"]
    file = f"/files/team-a/in-team-a/{wheel.name}"
    return {"/team-a/simple/": b"in-team-a", "/team-a/simple/in-team-a/": wheel.name.encode(),
            "/both/simple/": b"in-team-a", "/both/simple/in-team-a/": wheel.name.encode(),
            "/both/simple/in-public/": b"in_public", file: b"PK", file + ".metadata": wheel.metadata}


def test_private_is_private(site, server):
    secrets = [site.add("--read", "--platform", "team-b"), site.add(), "nonsense", ""]
    good = site.add("--read", "--platform", "team-a")
    for path, holds in pages_and_files(site).items():
        for _ in range(2):  # the second answer may come from the cache
            reply = server.get(path)
            assert (reply.status, reply["WWW-Authenticate"]) == (401, 'Basic realm="wheelcache"'), path
            assert reply["Cache-Control"] == "no-store"
            answers = [server.get(path, authorization(secret)) for secret in secrets]
            assert [one.status for one in answers[:2]] == [403, 403], path
            assert {one.status for one in answers[2:]} <= {401, 429}, path  # so many failures are throttled
            assert all(holds not in one.body for one in [reply, *answers])
            reply = server.get(path, authorization(good))
            assert reply.status == 200 and holds in reply.body, path
            assert reply["Cache-Control"].startswith("private, "), path
            assert server.get(path, authorization(good), "HEAD").status == 200
            assert server.get(path, {**authorization(good), "If-None-Match": reply["ETag"]})["Cache-Control"].startswith("private")


def test_private_platforms_are_not_revealed_by_errors(site, server):
    good = site.add("--read", "--platform", "team-*")
    for path in ("/team-a/simple/nothing/", "/team-a/simple/%C3%A9/", "/files/team-a/nothing/nothing-1.whl",
                 "/files/team-a/in-team-a/nothing-1.whl"):
        assert server.get(path).status == 401, path
        reply = server.get(path, authorization(good))
        assert reply.status == 404, path
        assert reply["Cache-Control"].startswith("private, "), path


def told(reply):
    """All that a client sees of an answer, without the date."""
    return reply.status, sorted((name, value) for name, value in reply.headers.items() if name != "Date"), reply.body


@pytest.mark.parametrize("has_token", [False, True])
def test_private_looks_like_missing(site, server, has_token):
    """On every route, without a token and with one for another platform: no client learns which platforms exist."""
    if has_token:
        other = [authorization(site.add("--read", "--upload", "--platform", "public")), {}, authorization("nonsense")]
    else:
        other = [{}]
    paths = ["/{}/simple/", "/{}/simple/x/", "/{}/simple", "/{}", "/{}/", "/files/{}/in-team-a/in_team_a-1.0-py3-none-any.whl",
             "/files/{}/in-team-a/in_team_a-1.0-py3-none-any.whl.metadata", "/-/explain/{}/in-team-a", "/-/explain/{}/x/1.0",
             "/-/plan/?platform={}", "/-/missing/{}", "/-/missing/{}?python=3.12", "/-/view/{}"]
    for number, (path, method, headers) in enumerate(itertools.product(paths, ("GET", "HEAD"), other)):
        source = f"127.0.1.{number + 1}"  # wrong tokens of one address are throttled
        there, nowhere = (server.get(path.format(name), headers, method, source) for name in ("team-a", "team-z"))
        assert told(there) == told(nowhere), (path, method, headers)
        if path not in ("/{}", "/{}/", "/{}/simple"):
            assert there.status in (401, 403), path
    wheel = site.wheels["team-a"].path
    for headers in other:
        there, nowhere = (uploading.post(server, f"/upload/{name}/", uploading.form_of(wheel), headers=headers) for name in ("team-a", "team-z"))
        assert there.status == nowhere.status in (401, 403)
        assert there.body.replace(b"team-a", b"team-z") == nowhere.body
    health = server.get("/-/health")
    assert b"public" in health.body and b"team-" not in health.body
    good = authorization(site.add("--read", "--platform", "team-a"))
    assert [one["name"] for one in json.loads(server.get("/-/health", good).body)["platforms"]] == ["public", "team-a"]
    assert server.get("/team-a/", good).status == 302
    assert server.get("/team-z/simple/", authorization(site.add("--read"))).status == 404


def test_what_is_not_there_is_404_where_nothing_is_private(site, serve):
    server = serve(config=site.config.replace("private = yes\n", ""), state=site.catalog.parent)
    assert server.get("/team-z/simple/").status == server.get("/files/team-z/a/b.whl").status == 404


def test_a_view_wants_a_token_for_all_of_it(site, server):
    one, both = site.add("--read", "--platform", "team-a"), site.add("--read", "--platform", "team-[ab]")
    assert server.get("/all/simple/", authorization(one)).status == 403
    assert server.get("/all/simple/", authorization(both)).status == 200
    assert server.get("/both/simple/", authorization(one, user="anybody")).status == 200
    some = site.add("--read", "--project", "in-team-*")
    assert server.get("/all/simple/in-team-b/", authorization(some)).status == 200
    assert server.get("/all/simple/In_Team.B/", authorization(some)).status == 200
    assert server.get("/all/simple/in-public/", authorization(some)).status == 403
    assert server.get("/all/simple/", authorization(some)).status == 403


def test_a_token_for_one_project_gets_no_file_of_another(site, serve):
    """Nor by its own project in the URL, also while the file is in the cache."""
    secret = storelib.make_wheel(site.store / "team-a" / "s" / "secret", "secret", "1.0")
    server = serve(config=site.config, state=site.catalog.parent)
    own, whole = (authorization(site.add("--read", *words)) for words in (("--project", "in-team-a"), ()))
    folder = "/files/team-a"
    assert server.get(f"{folder}/in-team-a/{site.wheels['team-a'].name}", own).status == 200
    for ending in ("", ".metadata"):
        assert server.get(f"{folder}/secret/{secret.name}{ending}", whole).status == 200
        for project, status in (("secret", 403), ("in-team-a", 404), ("In_Team.A", 403)):
            assert server.get(f"{folder}/{project}/{secret.name}{ending}", own).status == status, project


def test_public_needs_no_token(site, server):
    site.add("--read")
    wheel = site.wheels["public"]
    root = server.get("/simple/")
    assert root.status == 200 and b"in-public" in root.body and b"team" not in root.body
    assert root["Cache-Control"].startswith("public, ")
    assert server.get("/simple/in-team-a/").status == 404
    assert server.get("/public/simple/in-public/", authorization("wrong")).status == 200
    assert server.get(f"/files/public/in-public/{wheel.name}")["Cache-Control"].startswith("public, ")
    people = server.get("/").body
    assert b"public" in people and b"team-" not in people and b"both" not in people
    assert b"<dt>Platforms</dt><dd>1<" in people and b"<dt>Files</dt><dd>1<" in people


def test_a_private_default_view_is_private(site, serve):
    good = site.add("--read")
    config = site.config.replace("[platform public]", "default-view = both\n[platform public]", 1)
    server = serve(config=config, state=site.catalog.parent)
    assert server.get("/simple/").status == 401
    assert server.get("/simple/in-team-a/", authorization(good)).status == 200


def test_a_change_counts_in_a_running_server(site, server):
    path = "/team-a/simple/in-team-a/"
    reply = server.get(path)
    assert reply.status == 403 and b"wheelcache token add --read" in reply.body
    secret = site.add("--read")
    serving.wait_for(lambda: server.get(path, authorization(secret)).status == 200, 20, "the token to count")
    site.run("token", "revoke", site.tokens()[0]["id"])
    serving.wait_for(lambda: server.get(path, authorization(secret)).status == 403, 20, "the token to count no more")
    assert TOKEN.search(server.errors()) is None


def test_an_expired_token_says_so(site, server):
    secret = site.add("--read", "--expires", "1s", "--note", "guest")
    reply = serving.wait_for(lambda: (r := server.get("/team-a/simple/", authorization(secret))).status == 401 and r, 20,
                             "the token to expire")
    assert b'the token "guest" expired at 20' in reply.body


def test_wrong_tokens_are_throttled_and_good_ones_pass(site, server):
    good = site.add("--read")
    path = "/team-a/simple/"
    reply = serving.wait_for(lambda: (r := server.get(path, authorization("wc_wrong"))).status == 429 and r, 30, "a 429")
    assert 1 <= int(reply["Retry-After"]) <= 60
    assert server.get(path, authorization(good)).status == 200
    assert server.get(path).status == 401  # a request without a token is no failure
    assert server.get("/public/simple/").status == 200


def test_unreadable_tokens_allow_nothing(site, server):
    good = site.add("--read")
    path = "/team-a/simple/"
    assert serving.wait_for(lambda: server.get(path, authorization(good)).status == 200, 20, "the token to count")
    file = site.catalog.parent / "catalog.db.tokens"
    file.unlink()
    file.mkdir()
    reply = serving.wait_for(lambda: (r := server.get(path, authorization(good))).status == 503 and r, 20, "the 503")
    assert reply["Retry-After"] and b"tokens cannot be read" in reply.body
    assert server.get("/public/simple/").status == 200


@pytest.mark.parametrize("header", ["Basic", "Basic ", "Basic !!!", "Bearer wc_x", "Basic " + "QUFB" * 1000,
                                    "Basic " + base64.b64encode(b"no-colon").decode(), "basic \xff"])
def test_odd_credentials_are_none(site, server, header):
    site.add("--read")
    reply = server.get("/team-a/simple/", {"Authorization": header.encode("latin-1")})
    assert reply.status == 401


def test_no_log_has_a_secret(site, serve):
    secret = site.add("--read", "--platform", "team-a")
    server = serve(None, "--log-level", "debug", config=site.config, state=site.catalog.parent)
    for path in ("/team-a/simple/", "/team-b/simple/"):
        server.get(path, authorization(secret))
        server.get(path, authorization("hunter2-hunter2"))
    server.stop()
    logs = server.errors() + server.log_path.read_text()
    for word in (secret, "hunter2", *(authorization(p)["Authorization"].split()[1] for p in (secret, "hunter2-hunter2"))):
        assert word not in logs


def test_the_static_export_is_public(site):
    target = site.folder / "static"
    site.run("index", "--static", target)
    names = {str(p.relative_to(target)) for p in target.rglob("*")}
    assert any("in-public" in name for name in names)
    assert not [name for name in names if "team" in name or name.startswith(("both", "all"))]
    assert not [p for p in target.rglob("*") if p.is_file() and b"team" in p.read_bytes()]


# --- real clients ---

def with_password(url, secret):
    return url.replace("://", f"://ci:{secret}@")


def netrc(client, server, secret):
    file = client.home / ".netrc"
    file.write_text(f"machine {server.host} login ci password {secret}\n")
    file.chmod(0o600)


@pytest.mark.parametrize("where", ["url", "netrc"])
@pytest.mark.parametrize("version", [OLD_PIP, PIP])
def test_pip_reads_a_private_view(site, server, client, version, where, tmp_path):
    secret = site.add("--read", "--platform", "team-a")
    pip = client(version)
    url = f"{server.url}/both/simple/"
    words = ["install", "--target", tmp_path / "target"]
    refused = pip.pip(*words, *clients.pip_index(url), "--no-input", "in-team-a", code=1)
    assert "No matching distribution" in refused.stdout + refused.stderr
    if where == "url":
        url = with_password(url, secret)
    else:
        netrc(pip, server, secret)
    pip.pip(*words, *clients.pip_index(url), "--no-input", "in-team-a", "in-public")
    assert sorted(p.name for p in (tmp_path / "target").glob("*.py")) == ["in_public.py", "in_team_a.py"]


@pytest.mark.parametrize("where", ["url", "netrc"])
def test_uv_reads_a_private_view(site, server, client, where, tmp_path):
    secret = site.add("--read", "--platform", "team-a")
    uv = client(UV)
    url = f"{server.url}/both/simple/"
    words = ["uv", "pip", "install", "--no-cache", "--target", tmp_path / "target", "in-team-a", "in-public",
             "--default-index"]
    uv.run(*words, url, code=1)
    if where == "url":
        url = with_password(url, secret)
    else:
        netrc(uv, server, secret)
    uv.run(*words, url)
    assert sorted(p.name for p in (tmp_path / "target").glob("*.py")) == ["in_public.py", "in_team_a.py"]
