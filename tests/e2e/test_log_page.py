# SPDX-License-Identifier: Apache-2.0
"""/-/log/: who did what to which file, for a token that may read."""
import json
import pathlib
import re
import time

import pytest

import htmlcheck
import serving
import storelib
import uploading

PUBLIC, OTHER, SECRET = "ubuntu-22.04-x86_64", "ubuntu-24.04-x86_64", "debian-12-x86_64"
MOST, READ = 10000, 8 << 20  # LIMIT_LOG_ROWS, LIMIT_AUDIT_READ
CONFIG = (f"[platform {PUBLIC}]\npythons = 3.10\n[platform {OTHER}]\npythons = 3.12\n[platform {SECRET}]\npythons = 3.11\nprivate = yes\n"
          f"[view team]\nplatforms = {PUBLIC} {SECRET}\n[view open]\nplatforms = {PUBLIC} {OTHER}\n")


def line(**entry):
    return json.dumps({"time": "2026-11-20T10:00:00.000001Z", "who": "ci", "peer": "192.0.2.7", "result": "done", **entry},
                      separators=(",", ":")) + "\n"


ENTRIES = [
    {"action": "upload", "platform": PUBLIC, "project": "demo", "file": "demo-1.0-py3-none-any.whl"},
    {"action": "upload", "platform": SECRET, "project": "vault", "file": "vault-1.0-py3-none-any.whl"},
    {"action": "freeze", "platform": PUBLIC, "reason": "moving"},
    {"action": "token-add", "reason": "<b>for & \u202e people</b>"},
    {"action": "demote", "view": "team", "platform": PUBLIC, "project": "demo", "file": "demo-1.0-py3-none-any.whl"},
    {"action": "demote", "view": "open", "platform": PUBLIC, "project": "demo", "file": "demo-1.0-py3-none-any.whl"},
    {"action": "demote", "view": "gone", "platform": PUBLIC, "project": "demo", "file": "demo-1.0-py3-none-any.whl"},
    {"action": "upload", "platform": PUBLIC, "project": "demo", "result": "refused", "reason": f"but * on {SECRET}"},
    {"action": "token add", "platform": "*", "project": "demo", "reason": "for the team"},
    {"action": "token revoke", "platform": PUBLIC, "project": "demo-*"},
    {"action": "retire", "platform": "ubuntu-20.04-x86_64", "project": "demo"},
]


@pytest.fixture(name="server", scope="module")
def server_fixture(tmp_path_factory):
    folder = tmp_path_factory.mktemp("log")
    storelib.make_wheel(folder / "store" / PUBLIC / "d", "demo", "1.0")
    storelib.make_wheel(folder / "store" / SECRET / "v", "vault", "1.0")
    with serving.servers(folder) as start:
        server = start(folder / "store", config=CONFIG)
        server.reader = {name: uploading.add_token(server, *words) for name, words in {
            "all": ["--read", "--platform", "*"], "public": ["--read", "--platform", PUBLIC],
            "ubuntu": ["--read", "--platform", "ubuntu-*"], "demo": ["--read", "--platform", "*", "--project", "demo"],
            "uploader": ["--platform", "*"]}.items()}
        server.audit = pathlib.Path(f"{server.catalog}.audit")
        server.audit.write_text("".join(line(**one) for one in ENTRIES))
        yield server


def ask(server, query="", reader="all", accept="application/json"):
    return server.get(f"/-/log/{query}", {"Accept": accept, **uploading.authorization(server.reader.get(reader))})


def seen(server, query="", reader="all"):
    reply = ask(server, query, reader)
    assert reply.status == 200, reply.body
    assert "private" in reply["Cache-Control"] or "no-store" in reply["Cache-Control"]
    return [{key: value for key, value in one.items() if key not in ("time", "who", "peer") and (key, value) != ("result", "done")}
            for one in json.loads(reply.body)["entries"]]


def test_token_is_needed(server):
    for accept in ("application/json", "text/html"):
        nobody, wrong = ask(server, "", "nobody", accept), server.get("/-/log/", uploading.authorization("wc_" + "x" * 43))
        assert (nobody.status, wrong.status, ask(server, "", "uploader", accept).status) == (401, 401, 403)
        assert nobody["WWW-Authenticate"].startswith("Basic") and b"demo" not in nobody.body


def test_reader_sees_what_it_may_read(server):
    assert seen(server) == ENTRIES
    refused = {key: value for key, value in ENTRIES[7].items() if key != "reason"}
    assert seen(server, "", "public") == [ENTRIES[0], ENTRIES[2], ENTRIES[5], refused]
    assert seen(server, "", "ubuntu") == [ENTRIES[0], ENTRIES[2], ENTRIES[5], refused, ENTRIES[10]]
    # A token for one project is told nothing of the platform, and nothing of a view whose private part it cannot read whole.
    assert seen(server, "", "demo") == [ENTRIES[0], ENTRIES[5], refused, ENTRIES[10]]


def test_question_is_that_of_the_command(server):
    for query, words in (("?q=demo", ["demo"]), ("?q=De_mo", ["De_mo"]), ("?q=vault-1.0-py3-none-any.whl", ["vault-1.0-py3-none-any.whl"]),
                         ("?since=2026-11-20", ["--since", "2026-11-20"]), ("?since=2026-11-21T00:00:00Z&q=demo", ["--since", "2026-11-21T00:00:00Z", "demo"])):
        for form, more in (("json", ["--json"]), ("text", [])):
            done = serving.run("log", "--catalog", server.catalog, *more, *words)
            assert done.returncode == 0, done.stderr
            body = ask(server, f"{query}&format={form}").body.decode()
            assert (json.loads(body)["entries"] == [json.loads(one) for one in done.stdout.splitlines()]) if more else body == done.stdout
    assert seen(server, "?since=1h") == []
    for query in ("?q=%3Cb%3E", "?since=yesterday", "?q=" + "x" * 300, "?since=" + "1" * 300, "?since=99999999999999999999d"):
        assert ask(server, query).status == 400, query


def test_page_for_people(server):
    text = ask(server, "", "all", "text/html").body.decode()
    htmlcheck.HtmlCheck(text)
    assert "<b>for" not in text and "&lt;b&gt;for" in text and "\u202e" not in text
    assert text.index("retire") < text.index("token-add") and '<a href="../project/demo">' in text and "192.0.2.7" in text
    assert '<th scope="row">2026-11-20 10:00:00 UTC<' in text and ".000" not in text  # as the other pages have times
    assert not [link for link in htmlcheck.HtmlCheck(text).links if re.match(r"\.\./project/(\*|%2A|$)", link)]  # tokens are for globs
    assert "no such entry" in ask(server, "?q=nothing", "public", "text/html").body.decode()
    assert 'href="-/log/"' in server.get("/", {"Accept": "text/html"}).body.decode()
    project = server.get("/-/project/demo", {"Accept": "text/html", **uploading.authorization(server.reader["public"])})
    assert "-/log/?q=demo" in project.body.decode()


def test_entries_and_bytes_have_a_limit(server):
    """Exceeds LIMIT_LOG_ROWS, LIMIT_AUDIT_READ."""
    before = server.audit.read_bytes()
    try:
        with server.audit.open("a") as log:
            for number in range(MOST + 5):
                log.write(line(action="upload", platform=PUBLIC, project="many", file=f"many-{number}.whl"))
        for query, count, more in (("", 200, True), ("?limit=3", 3, True), ("?limit=99999999999999999999", MOST, True), ("?q=demo", 7, False)):
            document = json.loads(ask(server, query).body)
            assert (len(document["entries"]), document["more"]) == (count, more), query
        assert json.loads(ask(server, "?limit=2").body)["entries"][-1]["file"] == f"many-{MOST + 4}.whl"
        assert b"Show more" in ask(server, "", "all", "text/html").body
        with server.audit.open("a") as log:
            while log.tell() < len(before) + READ:
                log.write(line(action="freeze", platform=OTHER, reason="x" * 2000))
        begun = time.monotonic()
        assert seen(server, "?q=many") == [] or json.loads(ask(server, "?q=many").body)["more"] is True
        assert json.loads(ask(server, "?q=demo").body) == {"entries": [], "more": True}
        assert b"wheelcache log" in ask(server, "?q=demo", "all", "text/html").body
        assert time.monotonic() - begun < 60
    finally:
        server.audit.write_bytes(before)
