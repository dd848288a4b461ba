# SPDX-License-Identifier: Apache-2.0
"""Who may see who: names of people and tokens, and their addresses, are for a token that may read the platform."""
import json
import os
import pathlib
import pwd
import re

import pytest

import evidence
import serving
import storelib
import uploading

PUBLIC, SECRET = "ubuntu-22.04-x86_64", "debian-12-x86_64"
TOKEN, ADDRESS, REASON = "marker-of-a-token", "192.0.2.77", "reason-of-an-override"
ACCOUNT = f"user {pwd.getpwuid(os.getuid()).pw_name}"
CONFIG = f"""[server]
trusted-proxies = 127.0.0.1
[platform {PUBLIC}]
pythons = 3.10
[platform {SECRET}]
pythons = 3.11
private = yes
[view staging]
platforms = {PUBLIC}
[view tested]
from = staging
requires = unit
[view whole]
platforms = {PUBLIC} {SECRET}
[view inner]
from = whole
requires = unit
[store]
path = {{folder}}/store
[branch main]
constraints = {{folder}}/branch.txt
platforms = {PUBLIC}
[prune]
clients-have-upstream = yes
"""
TABLE = pathlib.Path(__file__).parents[2] / "server" / "api" / "routes.c"
FORWARDED = {"X-Forwarded-For": ADDRESS}


def name(version, project="demo"):
    return f"{project}-{version}-py3-none-any.whl"


def paths(identity):
    """Some paths of each route that is read."""
    views = ("staging", "tested", "whole", "inner", PUBLIC, SECRET, "tested@2026-11-20T00:00:00Z")
    found = {"/": ["/"], "/simple/": ["/simple/"], "/simple/:project/": ["/simple/demo/", "/simple/other/"],
             "/files/upstream/:project/:file": [f"/files/upstream/demo/{name('3.0')}"],
             "/files/:platform/:project/:file": [f"/files/{PUBLIC}/demo/{name(one)}" for one in ("1.0", "3.0")],
             "/-/explain/simple/:project": ["/-/explain/simple/demo"],
             "/-/explain/simple/:project/:version": [f"/-/explain/simple/demo/{one}" for one in ("1.0", "2.0", "3.0")],
             "/-/explain/:view/:project": [f"/-/explain/{view}/demo" for view in views],
             "/-/explain/:view/:project/:version": [f"/-/explain/{view}/demo/{one}" for view in views for one in ("1.0", "2.0")],
             "/-/missing/:platform": [f"/-/missing/{view}" for view in views],
             "/-/compare/:platform/:file/:other-platform/:other-file": [f"/-/compare/{PUBLIC}/{name('1.0')}/{PUBLIC}/{name('2.0')}"],
             "/-/channel/:view/": [f"/-/channel/{view}/" for view in views] + ["/-/channel/tested/?project=demo"],
             "/-/project/:project": ["/-/project/demo", "/-/project/demo?version=2.0", "/-/project/demo?view=tested", "/-/project/other"],
             "/-/view/:view": [f"/-/view/{view}" for view in views], "/-/docs/:file": ["/-/docs/views"],
             "/-/client-config/:view": [f"/-/client-config/{view}" for view in views],
             "/-/client-config/:view/:part": [f"/-/client-config/tested/{PUBLIC}"],
             "/-/builds/:project/": ["/-/builds/demo/"], "/-/builds/:project/:id": ["/-/builds/demo/" + "0" * 32],
             "/-/evidence/:id": [f"/-/evidence/{one}" for one in identity],
             "/:view/simple/": [f"/{view}/simple/" for view in views], "/:view": ["/tested"], "/:view/": ["/tested/"],
             "/:view/simple/:project/": [f"/{view}/simple/demo/" for view in views],
             "/:view/:part/simple/": [f"/tested/{PUBLIC}/simple/"],
             "/:view/:part/simple/:project/": [f"/tested/{PUBLIC}/simple/demo/"]}
    routes = re.findall(r'ROUTE\("(/[^"]*)", GET', TABLE.read_text())
    assert len(routes) > 30
    return [path for route in routes for path in (found.get(route) or [route])]


@pytest.fixture(scope="module", name="world")
def world_fixture(tmp_path_factory):
    """A server whose files, records and views come from one token, and some from the account on the machine."""
    folder = tmp_path_factory.mktemp("who")
    (folder / "branch.txt").write_text("demo==1.0\n")
    storelib.make_wheel(folder / "store" / PUBLIC / "o", "other", "1.0")
    storelib.make_wheel(folder / "store" / SECRET / "v", "vault", "1.0")
    with serving.servers(folder) as start:
        server = start(config=CONFIG.format(folder=folder))
        token = uploading.add_token(server, "--note", TOKEN, *[word for right in ("upload", "evidence", "promote", "override")
                                                               for word in ("--right", right)], "--view", "*", "--platform", "*")
        wheels = [storelib.make_wheel(folder / "dist", "demo", one) for one in ("1.0", "2.0", "3.0", "4.0")]
        for wheel in wheels:
            for platform in (PUBLIC, SECRET):
                assert uploading.upload(server, platform, wheel.path, token, FORWARDED).status == 200
        assert uploading.upload(server, PUBLIC, wheels[0].path, token, FORWARDED, name="another").status == 400
        documents = [evidence.record(wheels[0], platform=PUBLIC, python="3.10"), evidence.red(wheels[3], platform=PUBLIC, python="3.10")]
        server.records = [json.loads(evidence.post(server, "/-/evidence/", one, token, **FORWARDED).body)["id"] for one in documents]
        for document in ({"select": ["demo==1.0"], "reason": "it is green"}, {"select": ["demo==2.0"], "override": REASON}):
            assert evidence.post(server, "/-/promote/tested", document, token, **FORWARDED).status == 200
        for words in (("promote", "--to", "inner", "--override", REASON, "demo==2.0"),
                      ("remove", "--platform", PUBLIC, "--reason", "x", name("3.0")), ("demote", "--from", "tested", name("1.0"))):
            done = serving.run(words[0], "--config", server.config_path, "--catalog", server.catalog, *words[1:])
            assert done.returncode == 0, (words, done.stderr)
        server.tokens = {"nobody": None, "sender": token,
                         "reader of another project": uploading.add_token(server, "--read", "--platform", "*", "--project", "other"),
                         "reader of another platform": uploading.add_token(server, "--read", "--platform", SECRET)}
        server.reader = uploading.add_token(server, "--read", "--platform", "*")
        serving.wait_for(lambda: b"3.0" not in server.get(f"/{PUBLIC}/simple/demo/").body, 30, "the removal")
        yield server


FORMS = [{"Accept": "text/html"}, {"Accept": "application/json"}, {"Accept": "*/*"}]


def read(server, token, path, form):
    reply = server.get(path, {**form, **uploading.authorization(token)})
    return reply, [mark for mark in (TOKEN, ADDRESS, ACCOUNT) if mark.encode() in reply.body + str(reply.headers).encode()]


def all_of(server):
    whole = paths(server.records)
    return [(path, form) for path in whole for form in FORMS] + [(f"{path}{'&' if '?' in path else '?'}format={form}", {})
                                                                 for path in whole for form in ("text", "csv", "html", "json")]


def test_names_are_for_readers(world):
    """Pages that the reader got, and that may be kept, are no page of another asker."""
    seen = {path for path, form in all_of(world) if read(world, world.reader, path, form)[1]}
    for path in ("/-/channel/tested/", "/-/explain/tested/demo", "/-/explain/simple/demo", "/-/project/demo",
                 f"/-/evidence/{world.records[0]}"):
        assert path in seen, (path, seen)
    wrong = []
    for asker, token in world.tokens.items():
        for path, form in all_of(world):
            reply, found = read(world, token, path, form)
            has_other = SECRET in path or re.match("/-/(explain/(simple|whole|inner)/demo|project/demo|log/)", path)
            if found and not (asker == "reader of another platform" and has_other):
                wrong.append((asker, path, form, found, reply.body[:2000]))
    assert not wrong, "\n".join(map(str, wrong))


def test_pages_say_the_same_without_names(world):
    """What an anonymous reader gets is the reader's page without names."""
    for path in ("/-/channel/tested/", "/-/explain/tested/demo", "/-/explain/simple/demo", f"/-/evidence/{world.records[0]}"):
        named, nameless = (json.loads(read(world, token, path, FORMS[1])[0].body) for token in (world.reader, None))

        def strip(value):
            if isinstance(value, dict):
                return {key: strip(one) for key, one in value.items()
                        if key not in ("by", "address", "override_by", "uploaded_by", "uploaded", "views")}
            return [strip(one) for one in value] if isinstance(value, list) else value
        assert named != nameless
        if "simple" not in path:  # the default view has a platform more
            assert strip(named) == strip(nameless), path
    for path in ("/-/channel/tested/", "/-/explain/tested/demo"):
        body = read(world, None, path, FORMS[0])[0].body.decode()
        assert REASON in body or "explain" in path
        assert "Sent by" not in body and "<th scope=\"col\">By</th>" not in body and "uploaded by" not in body


def test_explain_names_who_uploaded(world):
    rows = json.loads(read(world, world.reader, f"/-/explain/{PUBLIC}/demo", FORMS[1])[0].body)["here"]
    for row in rows:
        assert row["uploaded_by"] == TOKEN and row["uploaded"].endswith("Z")
    assert [row["removal"]["by"] for row in rows if row["state"] == "unlisted"] == [ACCOUNT]
    reply, _ = read(world, world.reader, f"/-/explain/{PUBLIC}/demo", FORMS[0])
    assert f"uploaded by {TOKEN}, 20" in reply.body.decode() and f"removed by {ACCOUNT}" in reply.body.decode()
    assert "private" in reply["Cache-Control"] or "no-store" in reply["Cache-Control"]
    reply, _ = read(world, world.reader, f"/-/explain/{PUBLIC}/demo?format=text", {})
    assert f"uploaded by {TOKEN} at 20" in reply.body.decode()
