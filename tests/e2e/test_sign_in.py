# SPDX-License-Identifier: Apache-2.0
"""The way into a private server for browsers: "/?sign-in=1" asks for a token, and "/" then shows what it may read."""
import json
import shutil
import subprocess

import pytest

import attempts
import storelib
import uploading

PUBLIC, PRIVATE, OTHER = "debian-12-x86_64", "ubuntu-24.04-x86_64", "fedora-40-x86_64"
HTML = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
CLOSED = f"[platform {PRIVATE}]\nprivate = yes\npythons = 3.12\n[platform {OTHER}]\nprivate = yes\n[view team]\nplatforms = {PRIVATE}\n"
OPEN = f"[platform {PUBLIC}]\n{CLOSED}[view mixed]\nplatforms = {PUBLIC} {PRIVATE}\n"
LINK = '<a href="?sign-in=1"'


def start(serve, folder, config, *public):
    for platform, name in (*public, (PRIVATE, "vault"), (OTHER, "cellar")):
        storelib.make_wheel(folder / platform / name, name, "1.0")
    server = serve(folder, config=config)
    attempts.Attempts(server.catalog.with_name(server.catalog.name + ".builds")).add("vault", "failed", b"no\n", platform=PRIVATE)
    return server


def reader(server, platform=PRIVATE, *words):
    return uploading.add_token(server, "--read", "--platform", platform, *words)


@pytest.fixture(name="closed")
def closed_fixture(serve, tmp_path):
    server = start(serve, tmp_path / "store", CLOSED)
    server.reader = reader(server)
    return server


def ask(server, path, token=None, status=200, **headers):
    reply = server.get(path, {**HTML, **uploading.authorization(token), **headers})
    assert reply.status == status, reply
    return reply


def text(server, path="/", token=None):
    return ask(server, path, token).body.decode()


def test_a_private_server_says_so_and_names_nothing(closed):
    shown = text(closed)
    assert "All of this server is private" in shown and LINK in shown
    for word in (PRIVATE, OTHER, "vault", "cellar", "team", "pip install", "<dt>Files"):
        assert word not in shown, word
    told = json.loads(closed.get("/?format=json").body)
    assert (told["platforms"], told["views"]) == ([], [])


def test_it_asks_for_a_token(closed):
    """A browser asks its user at a 401 with a challenge, and none of its answers is kept."""
    for token in (None, "wc_wrong"):
        reply = ask(closed, "/?sign-in=1", token, 401)
        assert reply["WWW-Authenticate"] == 'Basic realm="wheelcache"' and reply["Cache-Control"] == "no-store"
        assert b"vault" not in reply.body and PRIVATE.encode() not in reply.body
    assert ask(closed, "/", "wc_wrong").body == ask(closed, "/").body


def test_a_token_that_may_not_read_is_asked_for_another(closed):
    """403 would end the dialog, and the browser would send the useless token until it is closed."""
    uploader = uploading.add_token(closed, "--platform", PRIVATE)
    reply = ask(closed, "/?sign-in=1", uploader, 401)
    assert reply["WWW-Authenticate"] and b"this token may not read" in reply.body
    assert text(closed, "/", uploader) == text(closed)


def test_without_any_token_that_may_read_no_dialog_opens(serve, tmp_path):
    server = start(serve, tmp_path / "store", CLOSED)
    reply = ask(server, "/?sign-in=1", status=403)
    assert not reply["WWW-Authenticate"] and b"wheelcache token add --read" in reply.body


def test_wrong_tokens_are_limited(closed):
    seen = {closed.get("/?sign-in=1", uploading.authorization(f"wc_{i}")).status for i in range(60)}
    assert seen == {401, 429}


def test_it_shows_what_the_token_may_read(closed):
    """Not more; the same by both addresses, in HTML and JSON; others see what they saw."""
    before = ask(closed, "/")
    for path in ("/?sign-in=1", "/"):
        shown = text(closed, path, closed.reader)
        assert "signed in until" in shown and LINK not in shown and "All of this server is private" not in shown
        assert f"pip install --index-url {closed.url}/{PRIVATE}/simple/ NAME" in shown and "the token as password" in shown
        assert '<a href="-/project/vault">' in shown and '<a href="-/channel/team/">' in shown and "1 wheel fails" in shown
        assert '<a href="-/coverage"' in shown and '<a href="-/builds/"' in shown
        assert OTHER not in shown and "cellar" not in shown
    told = json.loads(closed.get("/?format=json", uploading.authorization(closed.reader)).body)
    assert [one["name"] for one in told["platforms"]] == [PRIVATE] and told["views"] == ["team"]
    assert '<a href="../-/coverage"' in text(closed, "/-/coverage", closed.reader)
    after = ask(closed, "/")
    assert (after.body, after["ETag"]) == (before.body, before["ETag"])


def test_no_answer_is_for_shared_caches(closed):
    tag = ask(closed, "/", closed.reader)["ETag"]
    for token in (None, closed.reader):
        assert ask(closed, "/", token)["Cache-Control"].startswith("private")
    assert ask(closed, "/", status=200, **{"If-None-Match": tag}).body
    assert ask(closed, "/", closed.reader, 304, **{"If-None-Match": tag})


def test_there_is_nothing_to_redirect(closed):
    for value in ("//evil.example", "https://evil.example", "%0d%0aLocation:x"):
        for token, status in ((None, 401), (closed.reader, 200)):
            reply = ask(closed, f"/?sign-in={value}", token, status)
            assert not reply["Location"] and b"evil" not in reply.body


def test_a_token_for_some_projects_is_told_of_the_search(closed):
    """It may not read the list of a platform's projects, nor its counts."""
    narrow = reader(closed, PRIVATE, "--project", "vault")
    shown = text(closed, "/?sign-in=1", narrow)
    assert "what the search finds" in shown and PRIVATE not in shown and "vault" not in shown and "<dt>Files" not in shown
    found = json.loads(closed.get("/-/search?q=vau&format=json", uploading.authorization(narrow)).body)
    assert [one["name"] for one in found["projects"]] == ["vault"]


def test_a_mixed_server_offers_it_below(serve, tmp_path):
    server = start(serve, tmp_path / "store", OPEN, (PUBLIC, "common"))
    token = reader(server)
    shown = text(server)
    assert LINK in shown and "All of this server" not in shown and "vault" not in shown and "mixed" not in shown
    shown = text(server, "/", token)
    assert all(word in shown for word in (PUBLIC, PRIVATE, "common", "vault", "-/channel/mixed/")) and OTHER not in shown


def test_an_open_server_offers_none(serve, tmp_path):
    storelib.make_wheel(tmp_path / "store" / PUBLIC / "common", "common", "1.0")
    server = serve(tmp_path / "store")
    assert "sign" not in text(server)
    assert ask(server, "/")["Cache-Control"].startswith("public")


def test_another_site_cannot_write_with_a_browsers_token(closed, tmp_path):
    """A browser that was signed in sends its token along with the forms of any site; it names that site."""
    writer = uploading.add_token(closed, "--platform", PRIVATE)
    wheel = storelib.make_wheel(tmp_path / "made", "evil", "1.0")
    for origin in ("https://evil.example", "null", closed.url):
        reply = uploading.upload(closed, PRIVATE, wheel.path, writer, headers={"Origin": origin})
        assert reply.status == 403 and b"browsers may not write" in reply.body, origin
        for path in ("/-/promote/team", "/-/evidence/", "/-/yank/", f"/-/builds/{PRIVATE}/", f"/-/missing/{PRIVATE}"):
            reply = closed.get(path, {"Origin": origin, "Content-Length": "0", **uploading.authorization(writer)}, method="POST")
            assert reply.status == 403 and b"browsers may not write" in reply.body, path
    assert uploading.upload(closed, PRIVATE, wheel.path, writer).status == 200


def test_a_browser_gets_in(closed, tmp_path):
    """Chromium answers the challenge with the token of the URL, and then sends it with every page."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if not program:
        pytest.skip("chromium is not installed")
    target = closed.url.replace("://", f"://any:{closed.reader}@") + "/?sign-in=1"
    shown = subprocess.run([program, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}",
                            "--dump-dom", target], check=True, timeout=600, capture_output=True, text=True).stdout
    assert "-/project/vault" in shown
