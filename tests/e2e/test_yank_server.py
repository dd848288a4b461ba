# SPDX-License-Identifier: Apache-2.0
"""POST /-/yank/ and yank --server: a team yanks its files by a token, all that it names or none."""
import contextlib
import json
import os
import shutil

import pytest

import clients
import evidence
import faults
import serving
import storelib
import uploading
from evidence import message
from test_tokens import PIP, Site as Tokens

DEBIAN, UBUNTU, SECRET = "debian-12-x86_64", "ubuntu-22.04-x86_64", "rocky-9-x86_64"
TAG = "py3-none-any"
CONFIG = f"[platform {DEBIAN}]\n[platform {UBUNTU}]\n"
HIDDEN = f"[platform {SECRET}]\nprivate = yes\n"
FILES = 1000  # LIMIT_YANK_FILES


class Site(Tokens):
    """Two public platforms, and a private one, with the same wheels."""

    def __init__(self, folder, platforms=(DEBIAN, UBUNTU, SECRET)):  # pylint: disable=super-init-not-called
        self.folder, self.store, self.catalog = folder, folder / "store", folder / "state" / "catalog.db"
        self.file = folder / "site.conf"
        for platform in platforms:
            for project, version in (("mine", "1.0"), ("mine", "1.1"), ("mine", "2.0"), ("theirs", "1.0")):
                storelib.make_wheel(self.store / platform / "p" / project, project, version)
        self.config = f"[store]\npath = {self.store}\n" + CONFIG + (HIDDEN if SECRET in platforms else "")
        self.file.write_text(self.config)
        self.catalog.parent.mkdir()

    def marked(self):
        """{(platform, file)} that are yanked in the store."""
        return {(path.relative_to(self.store).parts[0], path.name.removesuffix(f"-{TAG}.whl.yanked"))
                for path in self.store.rglob("*.yanked")}

    def lines(self, action="yank"):
        return [(one["platform"], one["file"], one["result"], one["reason"]) for one in uploading.audit(self)
                if one["action"] == action and "file" in one]


@pytest.fixture(name="site")
def site_fixture(tmp_path, serve):
    site = Site(tmp_path)
    site.server = serve(config=site.config, state=site.catalog.parent)
    site.token = site.add("--right", "yank", "--note", "team")
    return site


def yank(site, *select, token=None, **more):
    return evidence.post(site.server, "/-/yank/", {"select": list(select), "reason": "it loses data"} | more, token or site.token)


def name(project, version):
    return f"{project}-{version}-{TAG}.whl"


def page_yanks(site, platform):
    """{file: reason} on the page."""
    page = site.server.get(f"/{platform}/simple/mine/", {"Accept": "application/vnd.pypi.simple.v1+json"})
    return {one["filename"]: one["yanked"] for one in json.loads(page.body)["files"] if one.get("yanked")}


def files_of(reply):
    assert reply.status == 200, reply.body
    return {(one["platform"], one["filename"]) for one in json.loads(reply.body)["files"]}


def both(*versions, project="mine"):
    return {(platform, name(project, version)) for platform in (DEBIAN, UBUNTU) for version in versions}


@pytest.mark.parametrize("select, files", [
    (["mine==1.*"], both("1.0", "1.1")), (["Mine==1.0.0"], both("1.0")), (["mine>=1.1,<3"], both("1.1", "2.0")),
    (["mine-1.*"], both("1.0", "1.1")), (["*-1.0-*"], both("1.0") | both("1.0", project="theirs")), ([name("mine", "2.0")], both("2.0")),
    ([f"{DEBIAN}/{name('mine', '1.0')}"], {(DEBIAN, name("mine", "1.0"))}),
    ([f"{DEBIAN}/p/mine/{name('mine', '1.0')}"], {(DEBIAN, name("mine", "1.0"))}),
    (["mine==1.0", name("mine", "1.0"), "theirs==1"], both("1.0") | both("1.0", project="theirs"))])
def test_files_are_chosen_as_by_the_command(site, select, files):
    """And each is a line of the audit log, with who and from where."""
    reply = yank(site, *select)
    assert files_of(reply) == files and json.loads(reply.body)["action"] == "yank" and reply["Cache-Control"] == "no-store"
    assert site.marked() == {(platform, file.removesuffix(f"-{TAG}.whl")) for platform, file in files}
    assert sorted(site.lines()) == sorted((*one, "done", "it loses data") for one in files)
    line = [one for one in uploading.audit(site) if one["action"] == "yank"][0]
    assert line["who"] == "team" and line["peer"] == "127.0.0.1" and line["project"] in ("mine", "theirs") and len(line["sha256"]) == 64
    undone = yank(site, *select, undo=True, reason="it was something else")
    assert files_of(undone) == files and json.loads(undone.body)["action"] == "unyank" and site.marked() == set()
    assert sorted(site.lines("unyank")) == sorted((*one, "done", "it was something else") for one in files)


def test_pip_sees_it_at_once(site, client, tmp_path):
    pip = client(PIP)

    def taken(wanted):
        """The file that pip takes, and what it says."""
        folder = tmp_path / f"taken-{len(list(tmp_path.iterdir()))}"
        done = pip.pip("download", "--no-deps", "--dest", folder, *clients.pip_index(f"{site.server.url}/{DEBIAN}/simple/"), wanted)
        return [one.name for one in folder.iterdir()], done.stdout + done.stderr
    assert taken("mine")[0] == [name("mine", "2.0")]
    assert files_of(yank(site, "mine==2.0", platform=DEBIAN)) == {(DEBIAN, name("mine", "2.0"))}
    assert page_yanks(site, DEBIAN) == {name("mine", "2.0"): "it loses data"} and page_yanks(site, UBUNTU) == {}
    assert taken("mine")[0] == [name("mine", "1.1")]
    pinned, said = taken("mine==2.0")
    assert pinned == [name("mine", "2.0")] and "it loses data" in said
    yank(site, "mine==2.0", undo=True)
    assert taken("mine")[0] == [name("mine", "2.0")]


@pytest.mark.parametrize("rights, more, says", [
    (["--project", "mine"], {}, f"the token may not yank {name('theirs', '1.0')} of theirs on {DEBIAN}: nothing was done"),
    (["--platform", DEBIAN], {}, f"the token may not yank {name('mine', '1.0')} of mine on {UBUNTU}: nothing was done"),
    (["--platform", DEBIAN], {"platform": UBUNTU}, f"the token may not yank {name('mine', '1.0')} of mine on {UBUNTU}: nothing was done"),
    (["--platform", DEBIAN], {"undo": True}, f"the token may not unyank {name('mine', '1.0')} of mine on {UBUNTU}: nothing was done")])
def test_one_file_that_is_not_allowed_stops_all(site, rights, more, says):
    site.run("yank", "--reason", "by the operator", "--platform", UBUNTU, "mine==1.1")
    token = site.add("--right", "yank", *rights)
    before = site.marked()
    reply = yank(site, "mine==1.*", "*-1.0-*", token=token, **more)
    assert reply.status == 403 and message(reply) == says
    assert site.marked() == before and [one[2] for one in site.lines() + site.lines("unyank")] == ["done"]
    refused = uploading.audit(site)[-1]
    assert (refused["result"], refused["reason"], refused["action"]) == ("refused", says, "unyank" if "undo" in more else "yank")
    assert files_of(yank(site, "mine==1.0", token=token, platform=DEBIAN)) == {(DEBIAN, name("mine", "1.0"))}


def test_other_rights_do_not_yank(site):
    for right in ("upload", "read", "promote", "evidence"):
        reply = yank(site, "mine==1.0", token=site.add("--right", right))
        assert reply.status == 403 and "has no right to yank" in message(reply)
    assert evidence.post(site.server, "/-/yank/", {"select": ["mine==1.0"], "reason": "x"}).status == 401
    assert yank(site, "mine==1.0", token="wc_wrong").status == 401
    assert uploading.upload(site.server, DEBIAN, storelib.make_wheel(site.folder / "new", "mine", "3.0").path, site.token).status == 403
    assert site.marked() == set()
    table = site.run("token", "list").stdout.splitlines()[1].split()
    assert table[1] == "yank" and table[4] == "-"


def test_a_server_without_such_a_token_says_how_to_make_one(tmp_path, serve):
    site = Site(tmp_path)
    site.server = serve(config=site.config, state=site.catalog.parent)
    reply = yank(site, "mine==1.0", token=site.add("--right", "upload"))
    assert reply.status == 403 and "wheelcache token add --right yank" in message(reply)


def test_a_frozen_platform_is_refused_as_by_the_command(site):
    """All of it: nothing is done on the other platform either."""
    site.run("freeze", UBUNTU, "--reason", "the volume moves")
    said = site.run("yank", "--reason", "x", "--platform", UBUNTU, "mine==1.0", code=1).stderr
    reply = yank(site, "mine==1.0")
    assert reply.status == 503 and "the volume moves" in message(reply) and message(reply) in said
    assert site.marked() == set() and reply["Retry-After"]
    assert yank(site, "mine==1.0", platform=DEBIAN).status == 200
    site.run("thaw", UBUNTU)
    assert yank(site, "mine==1.0").status == 200 and len(site.marked()) == 2


def test_a_folder_that_cannot_be_opened_stops_all(tmp_path, serve):
    site = Site(tmp_path)
    site.server = serve(config=site.config + "[index]\nwatch = no\n", state=site.catalog.parent)
    site.token = site.add("--right", "yank")
    (site.store / UBUNTU / "p" / "mine").rename(site.store / "aside")
    reply = yank(site, "mine==1.0")
    assert reply.status == 503 and "cannot be written now" in message(reply) and site.marked() == set()
    assert UBUNTU in uploading.audit(site)[-1]["reason"]


def test_a_volume_that_hangs_stops_no_other_yank(tmp_path, serve, monkeypatch):
    site = Site(tmp_path)
    hang = faults.preload("hang", tmp_path, monkeypatch)
    site.server = serve(config=site.config, state=site.catalog.parent)
    site.token = site.add("--right", "yank")
    hang(f"/{UBUNTU}")
    try:
        replies = [yank(site, "mine==1.0"), yank(site, "mine==1.0", platform=DEBIAN)]
    finally:
        hang(None)
    assert [one.status for one in replies] == [503, 200] and f"{UBUNTU}: its volume does not answer" in message(replies[0])
    assert site.marked() == {(DEBIAN, "mine-1.0")}


def test_a_volume_that_waits_for_its_release(tmp_path, serve):
    """The mark is at the write path, and the answer says that pages do not show it yet."""
    site = Site(tmp_path, platforms=(DEBIAN, UBUNTU))
    shutil.copytree(site.store / DEBIAN, tmp_path / "written")
    site.config = site.config.replace(f"[platform {DEBIAN}]\n", f"[platform {DEBIAN}]\nwrite-path = {tmp_path}/written\n")
    site.server = serve(config=site.config, state=site.catalog.parent)
    site.token = site.add("--right", "yank")
    reply = yank(site, "mine==1.0")
    assert {one["platform"]: one["waits_for_release"] for one in json.loads(reply.body)["files"]} == {DEBIAN: True, UBUNTU: False}
    assert [one.name for one in (tmp_path / "written").rglob("*.yanked")] == [f"{name('mine', '1.0')}.yanked"]
    assert page_yanks(site, DEBIAN) == {} and list(page_yanks(site, UBUNTU)) == [name("mine", "1.0")]
    done = serving.run("yank", "--server", site.server.url, "--reason", "x", "mine==1.0",
                       env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "WHEELCACHE_TOKEN": site.token})
    assert done.stdout.splitlines()[0] == f"{DEBIAN}: yanked {name('mine', '1.0')}; the pages show it once its volume is released"


def test_a_private_platform_is_for_those_who_may_read_it(site):
    unread = yank(site, "mine==1.0", platform=SECRET)
    absent = yank(site, "mine==1.0", platform="rocky-8-x86_64")
    assert unread.status == absent.status == 404 and SECRET not in message(absent)
    assert unread.body.replace(SECRET.encode(), b"NAME") == absent.body.replace(b"rocky-8-x86_64", b"NAME")
    some = site.add("--right", "yank", "--right", "read", "--project", "mine", "--platform", SECRET)
    assert files_of(yank(site, "*-1.0-*", token=some, platform=SECRET)) == {(SECRET, name("mine", "1.0"))}
    whole = site.add("--right", "yank", "--right", "read")
    assert files_of(yank(site, "mine==1.0", token=whole)) == both("1.0") | {(SECRET, name("mine", "1.0"))}
    assert files_of(yank(site, "mine==1.0", undo=True)) == both("1.0")
    assert site.marked() == {(SECRET, "mine-1.0")}
    assert site.run("freeze", SECRET) and yank(site, "mine==1.0").status == 200


def test_what_is_wrong_is_named(site):
    for body, status, words in (
            ({"reason": "x"}, 400, "\"select\" is missing"), ({"select": [], "reason": "x"}, 400, "is empty"),
            ({"select": ["mine==1.0"]}, 400, "\"reason\" is missing"), ({"select": ["mine==1.0"], "reason": ""}, 400, "is no text"),
            ({"select": ["mine==1.0"], "reason": "a\nb"}, 400, "control character"),
            ({"select": ["mine==1.0"], "reason": "wheelcache: yanked by https://pypi.org/"}, 400, "mark a yank of upstream"),
            ({"select": ["mine==1.0"], "reason": "x", "undo": "yes"}, 400, "neither true nor false"),
            ({"select": ["mine==1.0"], "reason": "x", "dry_run": True}, 400, "\"dry_run\" is an unknown key"),
            ({"select": ["mine"], "reason": "x"}, 400, "mine is not PROJECT==VERSION"),
            ({"select": ["mine==x"], "reason": "x"}, 400, "expected PROJECT==VERSION"),
            ({"select": [f"../{name('mine', '1.0')}"], "reason": "x"}, 400, "a path begins with a platform"),
            ({"select": ["mine==9"], "reason": "x"}, 404, "no listed file is mine==9"),
            ({"select": ["mine==1.0", name("mine", "9")], "reason": "x"}, 404, f"no platform has a file {name('mine', '9')}"),
            ({"select": [f"{DEBIAN}/other/{name('mine', '1.0')}"], "reason": "x"}, 404, "no platform has a file"),
            ({"select": [f"{UBUNTU}/{name('mine', '1.0')}"], "reason": "x", "platform": DEBIAN}, 404, f"platform {DEBIAN} has no file"),
            ({"select": ["mine==1.0"], "reason": "x", "platform": "debian-12-x86_63"}, 404, f"did you mean {DEBIAN}?"),
            ("[]", 400, "no object"), ("{", 400, "JSON")):
        reply = evidence.post(site.server, "/-/yank/", body, site.token)
        assert reply.status == status and words in message(reply), (body, reply.status, reply.body)
    reply = evidence.post(site.server, "/-/yank/", {"select": ["mine==1.0"], "reason": "x"}, site.token, **{"Content-Type": "text/plain"})
    assert reply.status == 400 and site.marked() == set()


def test_a_request_is_bounded(site):
    # Exceeds LIMIT_YANK, LIMIT_YANK_VALUES, LIMIT_YANK_SELECTS.
    for body, words in (('{"select": ["' + "a" * (512 << 10) + '"]}', "more than 524288 bytes"),
                        ('{"select": [' + "1," * 2100 + "1]}", "more than 2048 values"),
                        ({"select": ["mine==1.0"] * 1001, "reason": "x"}, "more than 1000 entries")):
        reply = evidence.post(site.server, "/-/yank/", body, site.token)
        assert reply.status == 413 and words in message(reply), reply.body
    assert yank(site, *["mine==1.0"] * 100).status == 200


def test_so_many_files_at_once(tmp_path, serve):
    # Exceeds LIMIT_YANK_FILES.
    site = Site(tmp_path, platforms=(DEBIAN,))
    for number in range(FILES + 1):
        storelib.make_wheel(site.store / DEBIAN / "many", "many", f"1.{number}")
    site.server = serve(config=site.config, state=site.catalog.parent)
    site.token = site.add("--right", "yank")
    reply = yank(site, "many-*")
    assert reply.status == 413 and f"more than {FILES} files" in message(reply) and site.marked() == set()
    assert len(files_of(yank(site, f"many!=1.{FILES}"))) == FILES == len(site.marked())


def test_a_token_that_yanks_without_end_has_to_wait(site):
    """Each request counts as ten records of evidence, and each file as one more."""
    other = site.add("--right", "yank")
    statuses = []
    with contextlib.closing(site.server.connect()) as connection:
        sent = {"Content-Type": "application/json", **uploading.authorization(site.token)}
        while len(statuses) < 1100 and 429 not in statuses:
            connection.request("POST", "/-/yank/", json.dumps({"select": ["mine==9"], "reason": "x"}), sent)
            answer = connection.getresponse()
            answer.read()
            statuses.append(answer.status)
    assert statuses[-1] == 429 and set(statuses[:-1]) == {404} and len(statuses) >= 1000 and int(answer.headers["Retry-After"]) >= 1
    assert yank(site, "mine==1.0", token=other).status == 200
    assert len(uploading.audit(site)) < 40


# --- yank --server ---

def test_yank_by_a_server(site, tmp_path):
    """The output and the exit codes are those of the command on the store's machine."""
    weak = site.add("--right", "yank", "--project", "theirs")

    def run(command, *words, code=0, url=site.server.url, secret=site.token):
        done = serving.run(command, "--server", url, *words, env={
            "PATH": os.environ["PATH"], "HOME": str(tmp_path), "WHEELCACHE_TOKEN": secret})
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr
    printed = run("yank", "--reason", "bad", "mine==1.0")
    assert printed == "".join(f"{platform}: yanked {name('mine', '1.0')}\n" for platform in (DEBIAN, UBUNTU))
    assert printed == site.run("yank", "--reason", "bad", "--platform", DEBIAN, "mine==1.0").stdout + site.run(
        "yank", "--reason", "bad", "--platform", UBUNTU, "mine==1.0").stdout
    assert run("unyank", "mine-1.*", "--platform", DEBIAN).splitlines() == [
        f"{DEBIAN}: no longer yanked: {name('mine', version)}" for version in ("1.0", "1.1")]
    assert run("unyank", "--quiet", f"{UBUNTU}/{name('mine', '1.0')}") == "" and site.marked() == set()
    for words, code, reason in ((["mine==9"], 1, "no listed file is mine==9"), ([name("mine", "9")], 1, "no platform has a file"),
                                (["mine==x"], 2, "expected PROJECT==VERSION"), (["mine"], 2, "is not the name of a wheel"),
                                (["mine==1.0", "--platform", "debian"], 1, "the store has no platform debian"),
                                (["mine==1.0", "/srv/store"], 2, "no STORE is given")):
        assert reason in run("yank", "--reason", "bad", *words, code=code)
    assert "--reason TEXT is missing" in run("yank", "mine==1.0", code=2)
    assert "403" in run("yank", "--reason", "bad", "mine==1.0", code=1, secret=weak)
    assert "401" in run("unyank", "mine==1.0", code=1, secret="wc_wrong")
    for url in ("https://user@localhost/", "localhost"):
        assert "--server: " in run("unyank", "mine==1.0", url=url, code=2)
    site.server.stop()
    run("unyank", "mine==1.0", code=1)
    assert site.marked() == set()


def test_yank_reads_no_answer_without_end(tmp_path):
    """A hostile server, or one that is no wheelcache."""
    # Exceeds LIMIT_YANK_ANSWER.
    bad = json.dumps({"files": [{"platform": "a\x1b[2J", "filename": "b"}]}).encode()
    answers = [b"{}", b"[]", b'{"files": {}}', b'{"files": [1]}', b'{"files": [{}]}', b"<html>", b" " * ((4 << 20) + 1), bad]
    with evidence.answering(*answers) as url:
        for code, reason in (*[(1, "no answer to a yank")] * 5, (1, "JSON"), (1, "more than 4194304 bytes"), (0, None)):
            done = serving.run("unyank", "--server", url, "mine==1.0", env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)})
            assert done.returncode == code and (reason or "") in done.stderr and "\x1b" not in done.stdout + done.stderr, done.stderr
