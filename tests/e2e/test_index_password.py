# SPDX-License-Identifier: Apache-2.0
"""An index with a password in its URL: no output of the server or of a command has it, whether the index works or fails."""
import base64
import urllib.parse

import pytest

import merging
import pages
import serving
import storelib
from indexing import Indexed

USER, PASSWORD = "me", "Zq7@open:sesame"
QUOTED = urllib.parse.quote(PASSWORD, safe="")
RIGHT = "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
SECRETS = (PASSWORD, QUOTED, QUOTED.lower(), RIGHT.split()[1], "sesame")
PLATFORM = "debian-12-x86_64"


def redirect(handler, _):
    handler.start(302, Location=f"http://127.0.0.1:9{handler.path}")


def not_a_page(handler, _):
    handler.start(200, f"who is {handler.headers['Authorization']}?".encode(), Content_Type=pages.JSON)
    handler.wfile.write(f"who is {handler.headers['Authorization']}?".encode())


# Its answer to a request with the password; None: the right one.
MISHAPS = {"none": None, "404": lambda handler, _: handler.start(404), "403": lambda handler, _: handler.start(403),
           "500": lambda handler, _: handler.start(500), "redirect": redirect, "not a page": not_a_page, "cut": merging.cut,
           "reset": merging.reset}
PATHS = ("/simple/", "/simple/foo/", "/files/upstream/foo/{wheel}", "/files/upstream/foo/{wheel}.metadata", "/-/explain/simple/foo",
         f"/-/explain/{PLATFORM}/foo", "/-/plan/", "/-/health", "/-/ready", "/-/metrics", "/")


@pytest.fixture(name="guarded")
def guarded_fixture(index, tmp_path):
    """The index, with a wheel; it refuses requests without the password."""
    index.wheel = storelib.make_wheel(tmp_path / "theirs", "foo", "1.0")
    index.add("foo", index.wheel)
    answer, index.refused = index.answer, 0

    def guard(handler):
        if handler.headers.get("Authorization") == RIGHT:
            answer(handler)
            return
        index.refused += 1
        handler.send_response(401)
        handler.send_header("WWW-Authenticate", 'Basic realm="index"')
        handler.send_header("Content-Length", "0")
        handler.end_headers()
    index.answer = guard
    return index


@pytest.fixture(name="at")
def at_fixture(guarded, tmp_path):
    """A store with the same wheel; the server uses its configuration too."""
    at = Indexed(tmp_path)
    at.config = tmp_path / "its.conf"
    folder = at.store / PLATFORM
    folder.mkdir()
    (folder / guarded.wheel.name).write_bytes(guarded.wheel.path.read_bytes())
    at.text = (f"[store]\npath = {at.store}\n[upstream]\nurl = {url(guarded)}\nmerge = yes\nretries = 0\n"
               "[prune]\nmin-age = 0\nupstream-min-age = 0\n")
    return at


def url(index, password=QUOTED, port=None):
    return f"http://{USER}:{password}@127.0.0.1:{port or index.port}/simple/"


def spoil(index, how):
    if how:
        for path in ("foo", *index.files):
            index.fail(path, how)


def check(*texts):
    for text in texts:
        assert [one for one in SECRETS if one in text] == [], text


def read_everything(server, index):
    """All answers that a client can get, with their heads."""
    for path in PATHS:
        for accept in (pages.JSON, pages.HTML):
            reply = server.get(path.format(wheel=index.wheel.name), {"Accept": accept})
            yield reply, f"{path}: {reply.status} {reply.headers} {reply.body.decode('latin-1')}"


@pytest.mark.parametrize("mishap", MISHAPS)
def test_server_output_has_no_password(serve, guarded, at, mishap):
    spoil(guarded, MISHAPS[mishap])
    server = serve(None, "--log-level", "debug", config=at.text)
    replies = list(read_everything(server, guarded))
    if mishap == "none":
        assert replies[4][0].body == guarded.wheel.path.read_bytes() and guarded.refused == 0
    assert guarded.asked
    assert any(reply.status == 502 for reply, _ in replies) == (mishap not in ("none", "404"))
    check(*(text for _, text in replies), server.errors(), server.log_path.read_text())


@pytest.mark.parametrize("other", ["wrong password", "nobody listens"])
def test_server_errors_have_no_password(serve, guarded, at, other):
    new = url(guarded, "not-" + QUOTED) if other == "wrong password" else url(guarded, port=9)
    server = serve(None, "--log-level", "debug", config=at.text.replace(url(guarded), new))
    replies = list(read_everything(server, guarded))
    assert replies[4][0].status == 502 and bool(guarded.refused) == (other == "wrong password")
    check(*(text for _, text in replies), server.errors(), server.log_path.read_text())


@pytest.mark.parametrize("mishap", MISHAPS)
def test_command_output_has_no_password(guarded, at, mishap):
    at.config.touch(0o600)
    at.config.write_text(f"[catalog]\npath = {at.catalog}\n{at.text}")
    at.run("--config", at.config)
    spoil(guarded, MISHAPS[mishap])
    plan = at.folder / "plan.json"
    done = [serving.run(*words, "--config", at.config) for words in (
        ("prune", "plan", "-o", plan), ("prune", "plan", "--json", "-o", at.folder / "again.json"), ("prune", "follow", "--json"),
        ("explain", "--upstream", "foo"), ("check",))]
    assert len(guarded.asked) > 0 and guarded.refused == 0
    assert ('"duplicate"' in plan.read_text()) == (mishap == "none")
    check(plan.read_text(), *(one.stdout + one.stderr for one in done))
    check(at.catalog.read_bytes().decode("latin-1"))


@pytest.mark.parametrize("bad", [f"http://{USER}:{QUOTED}@127.0.0.1:99999/simple/", f"ftp://{USER}:{QUOTED}@127.0.0.1/simple/",
                                 f"http://{USER}:{PASSWORD}@127.0.0.1/simple/", f"http://{USER}:{QUOTED}@[::1/simple/"])
def test_invalid_url_is_not_repeated(tmp_path, bad):
    config = tmp_path / "its.conf"
    config.write_text(f"[upstream]\nurl = {bad}\n")
    for words in (("serve", "--config", config), ("serve", "--upstream", "--upstream-url", bad), ("prune", "plan", "--config", config)):
        done = serving.run(*words)
        assert done.returncode != 0 and "url" in done.stderr
        check(done.stdout, done.stderr)


@pytest.mark.parametrize("scheme", ["http://", "ftp://", ""])
def test_push_does_not_repeat_it(tmp_path, scheme):
    """It accepts no password on the command line, which other accounts can see."""
    done = serving.run("push", "--to", f"{scheme}{USER}:{QUOTED}@127.0.0.1:9/upload/{PLATFORM}/", tmp_path / "none.whl")
    assert done.returncode == 2 and "the URL" in done.stderr
    check(done.stdout, done.stderr)
