# SPDX-License-Identifier: Apache-2.0
"""Evidence and promotions by HTTP, and what the holder of a narrow token cannot do."""
import contextlib
import json
import os
import re
import time

import pytest

import evidence
import faults
import nightly
import promtext
import serving
import storelib
import uploading
from authority import Authority
from evidence import OTHER, PLATFORM, PRIVATE, message, post, promote, record, red, results, send

CONFIG = f"""
[platform {PLATFORM}]
pythons = 3.11
[platform {OTHER}]
pythons = 3.12
[platform {PRIVATE}]
pythons = 3.9
private = yes
[view staging]
platforms = {PLATFORM} {OTHER} {PRIVATE}
[view public]
platforms = {PLATFORM} {OTHER}
[view tested]
from = public
requires = unit
cells = {PLATFORM}/3.11 {OTHER}/3.12
[view inner]
from = staging
requires = unit
"""
NATIVE = "cp311-cp311-manylinux_2_17_x86_64"


class Site:
    """A server with a wheel for any platform, wheels for one platform each, and a private one."""

    def __init__(self, serve, folder, config=CONFIG, **options):
        store = folder / "store"
        self.any = storelib.make_wheel(store / PLATFORM / "a", "any", "1.0")
        self.foo = storelib.make_wheel(store / PLATFORM / "f", "foo", "1.0", NATIVE)
        self.bar = storelib.make_wheel(store / PLATFORM / "b", "bar", "2.0", NATIVE)
        self.other = storelib.make_wheel(store / OTHER / "o", "other", "1.0", NATIVE.replace("311", "312"))
        self.hidden = storelib.make_wheel(store / PRIVATE / "h", "hidden", "1.0", NATIVE.replace("311", "39"))
        self.server = serve(store, config=config, **options)
        serving.wait_for(lambda: serving.answers(self.server, "/-/ready"), 30, "the scan")

    def token(self, *rights, view=None, **options):
        words = [word for right in rights for word in ("--right", right)]
        words += [word for key, value in options.items() for word in (f"--{key}", value)]
        return uploading.add_token(self.server, *words, *(["--view", view] if view else []))

    def shown(self, view="tested"):
        reply = self.server.get(f"/{view}/simple/", {"Accept": "application/vnd.pypi.simple.v1+json"})
        return [one["name"] for one in json.loads(reply.body)["projects"]] if reply.status == 200 else []


@pytest.fixture(name="site")
def site_fixture(serve, tmp_path):
    return Site(serve, tmp_path)


def test_record_is_kept_once_and_shown(site):
    token = site.token("evidence", view="tested", note="ci")
    sent = record(site.foo, site.bar)
    reply = send(site.server, sent, token)
    assert reply.status == 201, reply.body
    answer = json.loads(reply.body)
    assert (answer["result"], answer["views"]) == ("recorded", "tested")
    again = send(site.server, dict(reversed(sent.items())), token)
    assert (again.status, json.loads(again.body)["id"], json.loads(again.body)["result"]) == (200, answer["id"], "known")
    shown = json.loads(site.server.get(f"/-/evidence/{answer['id']}", uploading.authorization(site.token("read"))).body)
    assert shown["record"] == sent | {"wheels": sorted(sent["wheels"], key=lambda one: one["filename"])}
    assert (shown["by"], shown["views"], shown["address"]) == ("ci", "tested", "127.0.0.1")
    for asker in (None, token, site.token("read", platform=OTHER)):  # names and addresses are for who may read, by a token
        reply = site.server.get(f"/-/evidence/{answer['id']}", uploading.authorization(asker))
        hidden = json.loads(reply.body)
        assert (hidden["record"], hidden["by"], hidden["address"]) == (shown["record"], None, None)
        assert b"127.0.0.1" not in reply.body and b'"ci"' not in reply.body
    lines = [line for line in uploading.audit(site.server) if line["action"] == "evidence"]
    assert [(line["who"], line["result"], line["platform"], line["sha256"]) for line in lines] == [
        ("ci", "done", PLATFORM, answer["id"]), ("ci", "same", PLATFORM, answer["id"])]


def test_promotion_needs_evidence_of_the_very_bytes(site):
    token = site.token("evidence", "promote", view="tested", note="ci")
    status, files = results(promote(site.server, "tested", token, "foo"))
    assert status == 409 and files[site.foo.name][0] == "refused" and "no evidence of kind unit" in files[site.foo.name][1]
    other_bytes = record(site.foo, wheels=[{"filename": site.foo.name, "sha256": "0" * 64}])
    assert send(site.server, other_bytes, token).status == 201
    assert results(promote(site.server, "tested", token, "foo"))[0] == 409
    assert send(site.server, record(site.foo, made="2036-01-01T00:00:00Z"), token).status == 201  # clocks need not agree
    assert send(site.server, red(site.bar), token).status == 201
    assert results(promote(site.server, "tested", token, dry_run=True))[1][site.foo.name][0] == "done"
    assert site.shown() == []
    status, files = results(promote(site.server, "tested", token, "foo", "bar", reason="night"))
    assert (status, files[site.foo.name], files[site.bar.name][0]) == (409, ("done", ""), "refused")
    assert "2 of 12 tests failed" in files[site.bar.name][1]
    assert site.shown() == ["foo"]
    assert results(promote(site.server, "tested", token, "foo")) == (200, {site.foo.name: ("already", "")})
    assert results(promote(site.server, "tested", token, "foo", "bar", all_or_nothing=True))[0] == 409
    audit = [(line["who"], line["file"], line["result"]) for line in uploading.audit(site.server) if line["action"] == "promote" and line.get("file")]
    assert ("ci", site.foo.name, "done") in audit and ("ci", site.bar.name, "refused") in audit


def test_evidence_in_the_promotion_itself(site):
    both, alone = site.token("evidence", "promote", view="tested"), site.token("promote", view="tested")
    given = {"evidence": [record(site.foo)]}
    reply = promote(site.server, "tested", alone, "foo", **given)
    assert reply.status == 403 and "no right to send evidence" in message(reply)
    assert results(promote(site.server, "tested", alone, "foo"))[0] == 409  # and it was not kept
    assert results(promote(site.server, "tested", both, "foo", **given)) == (200, {site.foo.name: ("done", "")})


@pytest.mark.parametrize("minute, expected", [(5, "refused"), (7, "done")])
@pytest.mark.parametrize("step", [1, -1])
def test_the_newer_record_of_a_posted_list_counts(site, step, minute, expected):
    token = site.token("evidence", "promote", view="tested")
    posted = [record(site.foo, made=f"2026-11-20T06:{minute:02}:00Z"), red(site.foo, made="2026-11-20T06:06:00Z")][::step]
    assert results(promote(site.server, "tested", token, "foo", evidence=posted))[1][site.foo.name][0] == expected


@pytest.mark.parametrize("names", ["ab", "ba"])
def test_the_newest_record_is_sent_last(site, tmp_path, names):
    """The shell sorts the words by name, and what comes later counts."""
    token = site.token("evidence", "promote", view="tested")
    paths = [tmp_path / f"{name}.json" for name in names]
    paths[0].write_text(json.dumps(record(site.foo, made="2026-11-20T06:05:00Z")))
    paths[1].write_text(json.dumps(red(site.foo, made="2026-11-20T06:06:00Z")))
    done = serving.run("evidence", "send", *sorted(paths), "--to", site.server.url, "--json",
                       env=os.environ | {"WHEELCACHE_TOKEN": token})
    assert done.returncode == 0 and [one["file"] for one in json.loads(done.stdout)["files"]] == [str(one) for one in paths]
    assert results(promote(site.server, "tested", token, "foo"))[1][site.foo.name][0] == "refused"


def test_promote_by_a_server(site, tmp_path):
    """The results, the words and the exit codes are those of a promotion on the store's machine."""
    token, weak = site.token("evidence", "promote", view="tested"), site.token("promote", view="other")
    paths = [tmp_path / name for name in ("green.json", "red.json")]
    for path, document in zip(paths, (record(site.foo), red(site.bar))):
        path.write_text(json.dumps(document))

    def run(*words, code=0, url=site.server.url, secret=token, view="tested"):
        done = serving.run("promote", "--server", url, "--to", view, *words, env={
            "PATH": os.environ["PATH"], "HOME": str(tmp_path), "WHEELCACHE_TOKEN": secret})
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr
    assert run("foo", "--evidence", paths[0], "--dry-run").endswith(
        f"done     {PLATFORM}/{site.foo.name}\ntested: generation 0: 1 done (dry run: nothing was changed)\n")
    printed = run("foo", "bar", "--evidence", *paths, code=1)
    assert f"refused  {PLATFORM}/{site.bar.name}: {PLATFORM}/3.11: 2 of 12 tests failed (unit)\n" in printed
    assert f"done     {PLATFORM}/{site.foo.name}\n" in printed and "generation 1: 1 done, 1 refused" in printed
    assert json.loads(run("foo", "--json"))["counts"]["already"] == 1 and site.shown() == ["foo"]
    assert "held" not in run("foo", "bar", "--all-or-nothing", "--quiet", code=1)
    for word in ("absent", f"x/{site.foo.name}", f"{PLATFORM}/x/{site.foo.name}"):
        assert "has no such file" in run(word, code=2)
        here = serving.run("promote", "--to", "tested", word, "--dry-run", "--config", site.server.config_path, "--catalog",
                           site.server.catalog, "--store", site.foo.path.parents[2])
        assert here.returncode == 2 and word.removesuffix(site.foo.name) in here.stderr, here.stderr
    assert "may promote for tested, but not for none" in run(view="none", code=1)
    for words, code, reason in ((["foo", "--override", "now"], 1, "no token is defined that may override"), (["--to", "a/b"], 2, "no name of a view")):
        assert reason in run(*words, code=code)
    assert "403" in run("foo", secret=weak, code=1) and "401" in run("foo", secret="wc_wrong", code=1)
    for url in ("https://user@localhost/", "localhost"):
        assert "--server: " in run("foo", url=url, code=2)
    site.server.stop()
    run("foo", code=1)


def test_promote_by_a_server_tells_once_of_what_was_overtaken(tmp_path, serve):
    """As a promotion on the store's machine does; the JSON of later ones says that it was told before."""
    at = nightly.Channel(tmp_path, nightly.VIEWS.replace("built installed", "built"))
    at.put(nightly.make_night(tmp_path / "nights", "1.0"))
    server = serve(config=at.config, state=at.state)
    good = nightly.make_night(tmp_path / "nights", "1.1")
    at.put(good)
    token = at.token("--right", "evidence", "--right", "promote", "--view", "tested")
    nightly.send(server, token, *at.green(good, tmp_path, kinds=["built"]))

    def run(*words):
        done = serving.run("promote", "--server", server.url, "--to", "tested", *words, env={
            "PATH": os.environ["PATH"], "HOME": str(tmp_path), "WHEELCACHE_TOKEN": token})
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout
    assert run().count("a newer version has overtaken it") == 3
    assert run() == "tested: generation 1: 3 already, 3 overtaken\n" == at.run("promote", "--to", "tested").stdout
    assert [one["repeated"] for one in json.loads(run("--json"))["files"] if one["result"] == "overtaken"] == [True] * 3


def test_server_whose_clock_is_behind_does_not_blame_the_sender(tmp_path, serve, monkeypatch):
    """503, which is tried again, with both times. What was sent before stays; the operator's doctor says it, too."""
    set_clock = faults.preload("wall", tmp_path, monkeypatch)
    at = nightly.Channel(tmp_path, nightly.VIEWS.replace("built installed", "built"))
    night = nightly.make_night(tmp_path / "nights", "1.0")
    at.put(night)
    server = serve(config=at.config, state=at.state)
    token = at.token("--right", "evidence", "--view", "tested")
    first, second = at.green(night, tmp_path, kinds=["built"])
    nightly.send(server, token, first)
    set_clock(str(-3 * nightly.DAY))
    reply = post(server, "/-/evidence/", json.loads(second.read_text()), token)
    day = [time.strftime("%Y-%m-%d", time.gmtime(time.time() - days * nightly.DAY)) for days in (0, 3)]
    assert reply.status == 503 and reply.headers["Retry-After"], reply.body
    assert f"the newest record came at {day[0]}" in message(reply) and f"this machine's clock says {day[1]}" in message(reply)
    doctor = at.run("doctor", code=1).stdout
    assert f"the newest record of evidence is of {day[0]}" in doctor and "which is after this machine's clock" in doctor
    set_clock("0")
    nightly.send(server, token, second)


def test_promote_reads_no_answer_without_end(tmp_path):
    """A hostile server, or one that is no wheelcache."""
    # Exceeds LIMIT_PROMOTE_ANSWER.
    with evidence.answering(b"{}", b'{"generation": 1, "files": [{}]}', b" " * ((64 << 20) + 1)) as url:
        for reason in ("no answer of a promotion", "files[0]: a file without a result", "more than 67108864 bytes"):
            done = serving.run("promote", "--server", url, "--to", "tested", env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)})
            assert done.returncode == 1 and reason in done.stderr, done.stderr


def test_evidence_counts_for_the_views_of_its_token(site):
    narrow, wide = site.token("evidence", view="nightly-*"), site.token("evidence", view="tested")
    promoter = site.token("promote", view="tested")
    assert send(site.server, record(site.foo), narrow).status == 201
    assert results(promote(site.server, "tested", promoter, "foo"))[0] == 409
    # Who was first does not decide for which views it counts.
    assert send(site.server, record(site.foo), wide).status in (200, 201)
    assert results(promote(site.server, "tested", promoter, "foo"))[0] == 200


def test_old_record_that_is_sent_again_is_not_new(site):
    token = site.token("evidence", "promote", view="tested")
    green, bad = record(site.foo), red(site.foo)
    assert [send(site.server, one, token).status for one in (green, bad, green)] == [201, 201, 200]
    assert results(promote(site.server, "tested", token, "foo"))[0] == 409


def test_bytes_of_another_project_under_an_own_name(site):
    """Evidence counts for the bytes, so that a token for one project may not send what tells of another's."""
    token, whole = site.token("evidence", view="tested", project="foo"), site.token("evidence", "promote", view="tested")
    for bytes_of in (site.bar, site.hidden):
        reply = send(site.server, record(wheels=[{"filename": site.foo.name, "sha256": bytes_of.sha256}]), token)
        assert reply.status == 403 and "bar" not in message(reply) and "hidden" not in message(reply), reply.body
    assert results(promote(site.server, "tested", whole, "bar"))[0] == 409
    assert send(site.server, record(site.foo), token).status == 201


def test_bytes_of_another_project_before_they_come(site, tmp_path):
    """A record counts for the project that it names, also if the index learns later whose bytes they are."""
    token, whole = site.token("evidence", view="tested", project="foo"), site.token("evidence", "promote", view="tested")
    late = storelib.make_wheel(tmp_path / "late", "bar", "3.0", NATIVE)
    forged = record(wheels=[{"filename": site.foo.name, "sha256": late.sha256}])
    assert send(site.server, forged, token).status == 201
    assert uploading.upload(site.server, PLATFORM, late.path, site.token("upload")).status == 200
    serving.wait_for(lambda: late.name in uploading.listed(site.server, PLATFORM, "bar"), 30, "the wheel")
    assert results(promote(site.server, "tested", whole, "bar==3.0"))[0] == 409
    assert results(promote(site.server, "tested", whole, "bar==3.0", evidence=[record(late)])) == (200, {late.name: ("done", "")})


def test_override_needs_its_right(site):
    token = site.token("evidence", "promote", view="tested")
    reply = promote(site.server, "tested", token, "foo", override="hot fix")
    assert reply.status == 403 and "override" in message(reply)
    forged = record(site.foo, override="me", passed=None, failed=None, skipped=None, failures=None)
    reply = send(site.server, forged, token)
    assert reply.status == 400 and "an override is made by a promotion only" in message(reply)
    assert promote(site.server, "tested", token, "foo", evidence=[forged]).status == 400
    elsewhere = site.token("promote", "override", view="released")
    assert promote(site.server, "tested", elsewhere, "foo", override="hot fix").status == 403
    alone = site.token("override", view="tested")
    assert promote(site.server, "tested", alone, "foo", override="hot fix").status == 403
    assert site.shown() == []
    able = site.token("promote", "override", view="tested")
    reply = promote(site.server, "tested", able, "foo", override="hot fix")
    assert results(reply) == (200, {site.foo.name: ("done", "")})
    assert [one["override"] for one in json.loads(reply.body)["files"]] == [True]


def test_narrow_token_speaks_of_its_projects_and_platforms(site):
    token = site.token("evidence", "promote", view="tested", platform="debian-*", project="fo*")
    assert send(site.server, record(site.foo), token).status == 201
    for document, words in ((record(site.bar), "may not send evidence about bar on debian-12-x86_64"),
                            (record(site.foo, site.bar), "about bar"),
                            (record(site.foo, platform=OTHER, python="3.12"), f"about foo on {OTHER}")):
        reply = send(site.server, document, token)
        assert reply.status == 403 and words in message(reply)
        assert promote(site.server, "tested", token, evidence=[document]).status == 403
    all_evidence = site.token("evidence", view="*")
    assert send(site.server, record(site.bar), all_evidence).status == 201
    status, files = results(promote(site.server, "tested", token))
    assert (status, files) == (200, {site.foo.name: ("done", "")})  # of the others it learns nothing
    assert promote(site.server, "tested", token, "bar").status == 400
    assert promote(site.server, "other", token, "foo").status == 403
    for rights in ("read", "upload", "evidence"):
        assert promote(site.server, "tested", site.token(rights), "foo").status == 403
    for rights in ("read", "upload", "promote"):
        assert send(site.server, record(site.foo), site.token(rights)).status == 403
    assert uploading.upload(site.server, PLATFORM, site.foo.path, token).status == 403


def test_nobody_without_a_token(site):
    assert send(site.server, record(site.foo), None).status == 403  # no token has the right yet
    site.token("evidence")
    site.token("promote")
    for token in (None, "wc_wrong"):
        assert send(site.server, record(site.foo), token).status == 401
        assert promote(site.server, "tested", token, "foo").status == 401
    assert site.server.get("/-/evidence/").status == 405


def test_private_platforms_are_not_named(site):
    """A promoter of a view with a private platform must be able to read it, and so must a reader of its evidence."""
    blind = site.token("evidence", "promote", view="*")
    seeing = site.token("evidence", "promote", "read", view="*")
    hidden = record(site.hidden, platform=PRIVATE, python="3.9")
    ids = [json.loads(send(site.server, one, blind).body)["id"] for one in (record(site.foo), hidden, record(site.foo, site.hidden))]
    unknown = promote(site.server, "no-such-view", blind)
    assert (promote(site.server, "inner", blind).status, promote(site.server, "inner", blind).body) == (unknown.status, unknown.body)
    status, files = results(promote(site.server, "inner", seeing, "hidden"))
    assert (status, files[site.hidden.name][0]) == (200, "done")
    answers = [site.server.get(f"/-/evidence/{one}") for one in (*ids, "0" * 64, "x")]
    assert [one.status for one in answers] == [200, 401, 401, 401, 401]
    assert len({one.body for one in answers[1:]}) == 1
    assert json.loads(answers[0].body)["views"] is None
    with_token = [site.server.get(f"/-/evidence/{one}", uploading.authorization(seeing)) for one in (*ids, "0" * 64)]
    assert [one.status for one in with_token] == [200, 200, 200, 404]


@pytest.mark.parametrize("change, words", [
    ({"kind": "a\nb"}, "control character"),
    ({"kind": "Unit"}, "is no kind of evidence"),
    ({"platform": "../x"}, "is no name of a platform"),
    ({"wheels": []}, "names no wheel"),
    ({"wheels": [{"filename": "foo\x1b-1-py3-none-any.whl", "sha256": "0" * 64}]}, "control character"),
    ({"wheels": [{"filename": "../foo-1-py3-none-any.whl", "sha256": "0" * 64}]}, "file name has byte 0x2f"),
    ({"wheels": [{"filename": "foo-1-py3-none-any.whl", "sha256": "0" * 63}]}, "64 hexadecimal digits"),
    ({"passed": -1}, "is not a number of tests"),
    ({"passed": None}, "is not a number of tests"),
    ({"made": "yesterday"}, "is not a time"),
    ({"failures": [{"name": "x" * 600, "message": ""}]}, "more than 512 bytes"),
])
def test_bad_records_are_refused_with_the_reason(site, change, words):
    reply = send(site.server, record(site.foo, **change), site.token("evidence"))
    assert reply.status == 400 and words in message(reply), reply.body


def test_hostile_bodies(site):
    # Exceeds LIMIT_PROMOTE_VALUES.
    token = site.token("evidence", "promote")
    for path in ("/-/evidence/", "/-/promote/tested"):
        for body, status in (("", 400), ("{", 400), ("[" * 100000 + "]" * 100000, 400), ("[]", 400), ("{} {}", 400),
                             ('{"a": [' + "1," * 300000 + "1]}", 413), (b"{\"a\": \"\xff\"}", 400)):
            assert post(site.server, path, body, token).status == status, (path, body[:20])
        assert post(site.server, path, "{}", token, **{"Content-Type": "text/plain"}).status == 400
        assert post(site.server, path, "{}", token, **{"Content-Length": str(1 << 40)}).status == 413
    for change, words in (({"dryrun": True}, "\"dryrun\" is an unknown key"), ({"dry_run": "yes"}, "neither true nor false"),
                          ({"select": "foo"}, "is no array"), ({"select": [1]}, "select[0]"), ({"select": []}, "is empty"), ({"select": {}}, "an object"),
                          ({"select": None}, "null"), ({"evidence": {}}, "an object"),
                          ({"reason": "a\x01b"}, "control character"), ({"reason": "x" * 2000}, "more than 1024 bytes"),
                          ({"select": ["foo"] * 10001}, "more than 10000"), ({"evidence": [{}] * 1001}, "more than 1000"),
                          ({"override": ""}, "override")):
        reply = post(site.server, "/-/promote/tested", change, token)
        assert reply.status in (400, 413) and words in message(reply), (change, reply.body)
    assert promote(site.server, PLATFORM, token).status == 400  # it has no membership
    assert promote(site.server, "tested@2026-01-01", token).status == 403  # as a name that no view has: some are private
    assert site.shown() == []


def test_token_that_promotes_without_end_has_to_wait(site):
    # Exceeds LIMIT_PROMOTE_COST.
    token, other = site.token("promote"), site.token("promote")
    with contextlib.closing(site.server.connect()) as connection:
        answers = []
        for _ in range(1100):
            connection.request("POST", "/-/promote/tested", '{"select": ["foo"], "dry_run": true}',
                               {"Content-Type": "application/json", **uploading.authorization(token)})
            answer = connection.getresponse()
            answer.read()
            answers.append(answer.status)
            if answer.status == 429:
                break
    assert answers[-1] == 429 and set(answers[:-1]) == {409} and len(answers) >= 1000
    assert 1 <= int(answer.headers["Retry-After"]) <= 4
    assert promote(site.server, "tested", other, "foo").status == 409


def test_metrics(site):
    token = site.token("evidence", "promote")
    send(site.server, record(site.foo), token)
    send(site.server, record(site.foo), token)
    send(site.server, record(site.foo, kind="X"), token)
    begun = time.time()
    promote(site.server, "tested", token, "foo", "bar", dry_run=True)
    promote(site.server, "tested", token, "foo", "bar")
    text = site.server.get("/-/metrics").body.decode()
    promtext.parse(text)
    for line in ("evidence_received_total 1", "evidence_refused_total 1", "promoted_files_total 1",
                 "promotion_refused_files_total 1", 'view_generation{view="tested"} 1'):
        assert f"wheelcache_{line}\n" in text
    (made,) = re.findall(r'wheelcache_view_generation_timestamp_seconds{view="tested"} (.*)', text)
    assert begun - 2 <= float(made) <= time.time() + 2 and 'view="inner"' not in text  # it has a private platform


# --- how much is kept, and how long ---

def kept(tmp_path):
    return len(list((tmp_path / "store/.wheelcache-views/evidence").glob("*/*.json")))


def test_token_has_a_quota_of_a_day(serve, tmp_path):
    """A small record takes a block of the disk; what is known already takes no room; another token has its own."""
    site = Site(serve, tmp_path, "[evidence]\nquota = 20K\n" + CONFIG)
    token, other = site.token("evidence", view="tested", note="ci"), site.token("evidence", view="tested", note="other")
    sent = [record(site.foo, passed=number) for number in range(20)]
    answers = [send(site.server, one, token) for one in sent]
    codes = [one.status for one in answers]
    assert codes == [201] * 5 + [429] * 15, codes
    assert "[evidence] quota" in message(answers[-1]) and 0 < int(answers[-1]["Retry-After"]) <= 86401
    assert kept(tmp_path) == codes.count(201)
    assert send(site.server, sent[0], token).status == 200
    assert send(site.server, sent[-1], other).status == 201
    both = site.token("evidence", "promote", view="tested", note="both")
    many = promote(site.server, "tested", both, "foo==1.0", evidence=[record(site.foo, passed=number) for number in range(50, 70)])
    assert many.status == 429, many.body


def test_old_evidence_that_no_membership_names_ends(serve, tmp_path):
    """By retain, and by a scan."""
    site = Site(serve, tmp_path)
    token = site.token("evidence", "promote", view="tested")
    ids = [json.loads(send(site.server, record(one), token).body)["id"] for one in (site.foo, site.bar)]
    assert promote(site.server, "tested", token, "foo==1.0").status == 200
    later = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 91 * 86400))
    place = ["--config", site.server.config_path, "--catalog", site.server.catalog, tmp_path / "store"]

    def known():
        done = serving.run("evidence", "list", "--json", *place)
        return {one["id"] for one in json.loads(done.stdout)["evidence"]}
    for words in (["--dry-run", "--now", later], ["--now", time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())]):
        assert serving.run("retain", *words, *place).returncode == 0
        assert known() == set(ids) and kept(tmp_path) == 2
    done = serving.run("retain", "--now", later, *place)
    assert (done.returncode, "evidence: 1 record ended" in done.stdout) == (0, True), done.stderr
    assert known() == {ids[0]} and kept(tmp_path) == 1
    assert send(site.server, record(site.bar), token).status == 201
    site.server.stop()
    config = tmp_path / "short.conf"
    config.write_text("[evidence]\nkeep = 1\n" + CONFIG)
    time.sleep(2.1)
    done = serving.run("index", "--config", config, "--catalog", site.server.catalog, tmp_path / "store")
    assert done.returncode == 0, done.stderr
    assert known() == {ids[0]} and kept(tmp_path) == 1


# --- on-change ---

def test_change_of_a_kind_is_told_once(serve, tmp_path):
    tell, told = tmp_path / "tell", tmp_path / "told"
    names = ("CHANGE", "VIEW", "KIND", "PLATFORM", "PYTHON", "PROJECT", "VERSION", "PASSED", "FAILED", "SKIPPED", "BY")
    tell.write_text("#!/bin/sh\n" + f'echo "$1|{"|".join(f"$WHEELCACHE_{one}" for one in names)}|${{#WHEELCACHE_EVIDENCE}}" >> {told}\n')
    tell.chmod(0o755)
    told.touch()
    site = Site(serve, tmp_path, CONFIG.replace("[view inner]", f"on-change = {tell} %n\n[view inner]"))
    newer = storelib.make_wheel(tmp_path / "new", "foo", "2.0", NATIVE)
    assert uploading.upload(site.server, PLATFORM, newer.path, site.token("upload")).status == 200
    token, elsewhere = site.token("evidence", view="tested", note="ci $(id)"), site.token("evidence", view="inner")
    # Each change is awaited, since those of a project that wait join.
    for count, document, sender in (
            (0, record(site.foo, site.bar), token),                  # green at first: nothing to tell
            (0, red(newer), elsewhere),                              # not for this view
            (0, red(newer, kind="speed"), token),                    # not required
            (0, red(newer, python="3.12"), token),                   # no cell of the view
            (1, red(newer), token), (1, red(newer), token),          # red, once
            (1, red(newer, made="2026-11-20T07:00:00Z"), token),     # still red
            (2, record(site.foo, newer, made="2026-11-20T08:00:00Z"), token),
            (3, record(site.bar, passed=0, skipped=7, made="2026-11-20T09:00:00Z"), token)):
        assert send(site.server, document, sender).status in (200, 201)
        serving.wait_for(lambda: len(told.read_text().splitlines()) >= count, 60, "the command of on-change")
    # Evidence that comes with a promotion is told, too, and so is that of the command line.
    both = site.token("evidence", "promote", view="tested", note="both")
    assert promote(site.server, "tested", both, "foo==1.0", evidence=[red(site.foo, made="2026-11-20T10:00:00Z")]).status == 409
    given = tmp_path / "given.json"
    given.write_text(json.dumps(record(site.foo, made="2026-11-20T11:00:00Z")))
    for _ in range(2):
        assert serving.run("promote", "--to", "tested", "foo==1.0", "--evidence", given, "--config", site.server.config_path,
                           "--catalog", site.server.catalog, "--store", tmp_path / "store").returncode == 0
    serving.wait_for(lambda: len(told.read_text().splitlines()) >= 5, 60, "the command of on-change")
    cell = f"tested|unit|{PLATFORM}|3.11"
    lines = told.read_text().splitlines()
    (ours,) = [one for one in lines if "|user " in one]  # of another process, so anywhere among the others
    assert ours.startswith(f"foo|green|{cell}|foo|1.0|10|0|1|")
    lines.remove(ours)
    assert lines == [f"foo|red|{cell}|foo|2.0|10|2|1|ci $(id)|64", f"foo|green|{cell}|foo|1.0|10|0|1|ci $(id)|64",
                     f"bar|red|{cell}|bar|2.0|0|0|7|ci $(id)|64", f"foo|red|{cell}|foo|1.0|10|2|1|both|64"]


# --- wheelcache evidence list, show, send ---

def test_records_are_listed_and_shown(site, tmp_path):
    token = site.token("evidence", view="tested", note="ci \x9b31m")
    ids = [json.loads(send(site.server, one, token).body)["id"] for one in (record(site.foo), red(site.bar, kind="speed"))]

    def run(*words):
        return serving.run("evidence", *words, "--config", site.server.config_path, "--catalog", site.server.catalog, tmp_path / "store")
    rows = json.loads(run("list", "--json").stdout)["evidence"]
    assert [(one["id"], one["kind"], one["failed"], one["wheels"], one["override"]) for one in rows] == [
        (ids[1], "speed", 2, 1, None), (ids[0], "unit", 0, 1, None)]
    text = run("list", "--kind", "unit", "--most", "1").stdout
    assert text.startswith(ids[0]) and "10 passed, 0 failed, 1 skipped; 1 wheel; by " in text and len(text.splitlines()) == 1
    assert "\x9b" not in text
    shown = json.loads(run("show", ids[0]).stdout)
    assert (shown["id"], shown["record"], shown["views"], shown["address"]) == (ids[0], record(site.foo), "tested", "127.0.0.1")
    for words, code, reason in ((["show", "0" * 64], 1, "no such evidence"), (["show", "x"], 2, "not the id"), (["list", "--most", "0"], 2, "--most")):
        done = run(*words)
        assert done.returncode == code and reason in done.stderr, done.stderr


def test_records_are_sent_over_tls(serve, tmp_path):
    authority = Authority(tmp_path)
    site = Site(serve, tmp_path, authority=authority)
    files = [tmp_path / "run.json", tmp_path / "red.json"]
    for path, document in zip(files, (record(site.foo), red(site.bar))):
        path.write_text(json.dumps(document))
    secret = tmp_path / "token"
    secret.write_text(site.token("evidence", view="tested") + "\n")

    def run(*words, url=site.server.url + "/", **variables):
        return serving.run("evidence", "send", *words, "--to", url, "--ca-file", authority.ca, "--json",
                           env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)} | variables)
    done = run(*files, "--token-file", secret)
    assert done.returncode == 0, done.stderr
    assert [(one["file"], one["result"]) for one in json.loads(done.stdout)["files"]] == [(str(one), "recorded") for one in files]
    done = run(*files, url=f"{site.server.url}/-/evidence/", WHEELCACHE_TOKEN=secret.read_text().strip())
    assert done.returncode == 0 and [one["result"] for one in json.loads(done.stdout)["files"]] == ["known"] * 2
    # A record that is none does not keep the others from being sent; a token that is none does.
    files[0].write_text('{"kind": "unit"}')
    done = run(*files, "--token-file", secret)
    assert done.returncode == 1 and "run.json: evidence: " in done.stderr
    assert [one["result"] for one in json.loads(done.stdout)["files"]] == ["failed", "known"]
    files[0].write_text(json.dumps(record(site.foo)))
    done = run(*files, WHEELCACHE_TOKEN="wc_wrong")
    assert done.returncode == 1 and "this token is not known here" in done.stderr and len(json.loads(done.stdout)["files"]) == 1
    for url in ("https://user@localhost/", "localhost", "ftp://localhost/"):
        assert run(*files, url=url).returncode == 2


def test_pipeline_makes_and_sends_its_records_with_one_line(site, tmp_path):
    """Two platforms, two Pythons each, two kinds; a file of several records is sent, and read by promote, as those of one each."""
    token, words = site.token("evidence", view="tested"), []
    for kind in ("unit", "integration"):
        words += ["--kind", kind]
        for platform, pythons, wheel in ((PLATFORM, ("3.11", "3.12"), site.foo), (OTHER, ("3.12", "3.13"), site.other)):
            words += ["--platform", platform, "--wheels", wheel.path]
            for python in pythons:
                report = tmp_path / f"{kind}-{platform}-{python}.xml"
                report.write_text("<testsuite><testcase name='a'/></testsuite>")
                words += ["--python", python, "--junit", report]
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "WHEELCACHE_TOKEN": token}
    done = serving.run("evidence", "make", *words, "--send", site.server.url, "-o", tmp_path / "runs.json", env=env)
    assert done.returncode == 0 and done.stdout == "" and done.stderr.count(": recorded as ") == 8, done.stderr
    sent = serving.run("evidence", "send", tmp_path / "runs.json", "--to", site.server.url, "--json", env=env)
    assert [one["result"] for one in json.loads(sent.stdout)["files"]] == ["known"] * 8
    status, answer = results(promote(site.server, "tested", site.token("promote", view="tested"), select=["foo", "other"]))
    assert status == 200 and set(answer.values()) == {("done", "")}, answer
    done = serving.run("evidence", "make", *words, "--send", site.server.url, env=env | {"WHEELCACHE_TOKEN": "wrong"})
    assert done.returncode == 1 and "this token is not known here" in done.stderr and "recorded" not in done.stderr
    assert serving.run("evidence", "make", *words, "--send", "ftp://x/", env=env).returncode == 2


def test_sending_is_tried_again(site, tmp_path):
    """While the server cannot be reached, and where it has no room for now."""
    path = tmp_path / "run.json"
    path.write_text(json.dumps(record(site.foo)))
    site.server.stop()
    done = serving.run("evidence", "send", path, "--to", site.server.url, "--retries", "1")
    assert done.returncode == 1 and done.stderr.count("-/evidence/") == 1
