# SPDX-License-Identifier: Apache-2.0
"""/-/compare/: what a server says about two wheels, and to whom."""
import contextlib
import json
import os
import re
import shutil
import threading
import urllib.parse
import zipfile

import pytest

import faults
import serving
from attaching import statement as statement_of
from comparing import Page, document, wheel
from uploading import authorization

HTML = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
ONE, TWO, HOSTILE, DAMAGED, BIG = (f"pair-{n}-py3-none-any.whl" for n in ("1.0", "1.1", "1.2", "1.3", "1.4"))
HERE, THERE, HIDDEN = "debian-12-x86_64", "ubuntu-22.04-x86_64", "team-a"


def damage(path):
    """One byte of a member is other: clients notice when they unpack it."""
    data = bytearray(path.read_bytes())
    data[data.index(b"print('here')")] ^= 1
    path.write_bytes(data)


class Site:
    def __init__(self, folder, big=False):
        self.folder, self.store = folder, folder / "store"
        for platform in (HERE, THERE, HIDDEN):
            for name, parts in ((ONE, {"files": {"pair.py": b"1"}}), (TWO, {"files": {"pair.py": platform.encode()}})):
                wheel(self.store / platform, name=name, **parts)
        wheel(self.store / HERE, name=HOSTILE, metadata="Requires-Dist: <b>|\"&\nSummary: \x1b[2J\n",
              files={"<script>alert(1)</script>.py": b""})
        damage(wheel(self.store / HERE, name=DAMAGED, files={"pair.py": b"print('here')"}, compress=zipfile.ZIP_STORED))
        if big:
            wheel(self.store / HERE, name=BIG, files={"zeros": bytes((64 << 20) + 1)})
        self.config = folder / "site.conf"
        self.state = folder / "state"
        self.state.mkdir()
        self.config.write_text(f"[store]\npath = {self.store}\n" + "".join(
            f"[platform {name}]\n" for name in (HERE, THERE)) + f"[platform {HIDDEN}]\nprivate = yes\n[view open]\nplatforms = {HERE} {THERE}\n")

    def run(self, *words):
        done = serving.run(*words, "--config", self.config, "--catalog", self.state / "catalog.db")
        assert done.returncode == 0, done.stderr
        return done.stdout

    def start(self, serve):
        return serve(config=self.config.read_text(), state=self.state)


@pytest.fixture(scope="module", name="site")
def site_fixture(tmp_path_factory):
    return Site(tmp_path_factory.mktemp("compared"), big=True)


@pytest.fixture(scope="module", name="server")
def server_fixture(site, serve_module):
    return site.start(serve_module)


def path(*parts):
    return "/-/compare/" + "/".join(urllib.parse.quote(part, safe="") for part in parts)


def answer(server, *parts, form="?format=json", headers=None):
    reply = server.get(path(*parts) + form, headers)
    assert reply.status == 200, reply
    return reply


@pytest.mark.parametrize("one, other", [
    ((HERE, ONE), (HERE, TWO)), ((HERE, ONE), (THERE, ONE)), ((HERE, TWO), (THERE, TWO)), ((HERE, HOSTILE), (THERE, ONE))])
def test_the_server_says_what_the_command_says(site, server, wheelcache, one, other):
    words = ("--config", site.config, "--catalog", site.state / "catalog.db", "/".join(one), "/".join(other))
    found = json.loads(answer(server, *one, *other).body)
    assert found == document(wheelcache, *words) and found["members_by"] == "sha256" and "libraries" in found


def test_a_browser_gets_a_page(server):
    reply = answer(server, HERE, ONE, HERE, HOSTILE, form="", headers=HTML)
    assert reply["Content-Type"] == "text/html; charset=utf-8" and "unsafe" not in reply["Content-Security-Policy"]
    page = Page(reply.body.decode())
    assert page.scripts == 1 and ["added", "<script>alert(1)</script>.py", "", "0"] in page.tables["Members"]
    assert ["Requires-Dist", "–", '<b>|"&'] in page.tables["Metadata"]
    assert not any(c < 32 and c != 10 for c in reply.body)
    assert server.get(path(HERE, ONE, HERE, HOSTILE), {"Accept": "application/json"})["Content-Type"] == "application/json"


def test_the_page_of_a_project_leads_to_it(server):
    place = f"/-/explain/{HERE}/pair"
    links = re.findall(r'href="([^"]*/compare/[^"]*)"', server.get(place, HTML).body.decode())
    names = [urllib.parse.unquote(link).split("/")[-4:] for link in links]
    assert names == [[HERE, one, HERE, other] for one, other in zip((ONE, TWO, HOSTILE, DAMAGED), (TWO, HOSTILE, DAMAGED, BIG))]
    assert server.get(urllib.parse.urljoin(place, links[0]), HTML).status == 200
    assert "/compare/" not in server.get(f"{place}/1.0", HTML).body.decode()
    both = server.get("/-/explain/open/pair/1.1", HTML).body.decode()
    link, = re.findall(r'href="([^"]*/compare/[^"]*)"', both)
    assert server.get(urllib.parse.urljoin("/-/explain/open/pair/1.1", link), HTML).status == 200


def test_an_answer_is_made_once(server):
    first, second = (answer(server, HERE, ONE, THERE, TWO) for _ in range(2))
    assert first["ETag"] == second["ETag"] and first.body == second.body
    assert server.get(path(HERE, ONE, THERE, TWO) + "?format=json", {"If-None-Match": first["ETag"]}).status == 304
    assert answer(server, HERE, TWO, THERE, ONE).body != first.body


def test_a_large_wheel_is_not_unpacked(server):
    assert json.loads(answer(server, HERE, ONE, HERE, BIG).body)["members_by"] == "crc32"


def test_a_damaged_wheel_is_named(server):
    reply = server.get(path(HERE, ONE, HERE, DAMAGED))
    assert reply.status == 422 and f"{HERE}/{DAMAGED}: ".encode() in reply.body
    assert reply["Cache-Control"] == "no-store"


@pytest.mark.parametrize("parts", [
    (HERE, "absent-1-py3-none-any.whl", HERE, ONE), (HERE, ONE, HERE, "pair-1.0.tar.gz"), (HERE, ONE, HERE, "x"),
    (HERE, ONE, HERE, "p" * 251 + ".whl"), (HERE, ONE, HERE, "<b>-1-py3-none-any.whl"), (HERE, ONE, HERE)])
def test_what_is_not_there(server, parts):
    assert server.get(path(*parts)).status == 404


def test_both_platforms_need_a_token(site, server):
    secret = site.run("token", "add", "--platform", HIDDEN, "--read", "--project", "pair").strip()
    other = site.run("token", "add", "--platform", HIDDEN, "--read", "--project", "else*").strip()
    for parts in ((HIDDEN, ONE, HERE, ONE), (HERE, ONE, HIDDEN, ONE), (HERE, ONE, HIDDEN, "none-1-py3-none-any.whl"),
                  (HERE, ONE, "no-such-platform", ONE), (HIDDEN, ONE, HIDDEN, TWO)):
        assert server.get(path(*parts)).status == 401, parts
        assert server.get(path(*parts), authorization(other)).status == 403, parts
    for parts in ((HIDDEN, ONE, HERE, ONE), (HERE, ONE, HIDDEN, ONE)):
        assert answer(server, *parts, headers=authorization(secret))["Cache-Control"].startswith("private")
        assert server.get(path(*parts)).status == 401
    assert server.get(path(HIDDEN, ONE, HERE, "none-1-py3-none-any.whl"), authorization(secret)).status == 404


def test_provenance_is_shown(tmp_path, serve):
    site = Site(tmp_path)
    for platform in (HERE, THERE):
        one = site.store / platform / TWO
        one.with_name(one.name + ".intoto.json").write_text(json.dumps(statement_of(one)))
    found = json.loads(answer(site.start(serve), HERE, TWO, THERE, TWO).body)
    assert found["a"]["provenance"] and found["b"]["provenance"]


def test_without_facts_libraries_are_unknown(tmp_path, serve):
    site = Site(tmp_path)
    site.config.write_text(site.config.read_text() + "[index]\nfacts = no\n")
    server = site.start(serve)
    found = json.loads(answer(server, HERE, ONE, THERE, TWO).body)
    assert not found["a"]["facts"] and found["a"]["why"] and "libraries" not in found and "components" not in found
    page = answer(server, HERE, ONE, THERE, TWO, form="", headers=HTML).body.decode()
    assert f"Unknown: what is inside {ONE} was not read" in page


def test_a_file_that_changes_is_not_compared(tmp_path, serve):
    site = Site(tmp_path)
    server = site.start(serve)
    target = site.store / THERE / TWO
    shutil.copy(site.store / THERE / ONE, target.with_suffix(".new"))
    os.rename(target.with_suffix(".new"), target)
    reply = server.get(path(HERE, ONE, THERE, TWO))
    assert reply.status == 503 and reply["Retry-After"]
    target.unlink()
    assert server.get(path(HERE, ONE, THERE, TWO)).status in (404, 503)


def test_a_volume_that_hangs_stops_no_other_comparison(tmp_path, serve, monkeypatch):
    hang = faults.preload("hang", tmp_path, monkeypatch)
    server = Site(tmp_path).start(serve)
    hang(f"/{THERE}/{TWO}")
    try:
        replies = []
        for other in ((THERE, TWO), (HERE, TWO)):
            replies.append(server.get(path(HERE, ONE, *other)).status)
    finally:
        hang(None)
    assert replies == [503, 200]


def test_many_clients_get_answers_while_one_reads_nothing(server):
    with contextlib.closing(server.connect()) as silent:
        silent.request("GET", path(HERE, ONE, HERE, BIG))
        statuses = []
        threads = [threading.Thread(target=lambda: statuses.append(server.get(path(HERE, ONE, THERE, ONE)).status))
                   for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert statuses == [200] * 8
