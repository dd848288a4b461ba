# SPDX-License-Identifier: Apache-2.0
"""Build results in a server: builders send them, and people and programs read them."""
import base64
import contextlib
import gzip
import html.parser
import json
import re
import secrets
import shutil
import signal
import sqlite3
import subprocess
import time
import urllib.parse
import xml.etree.ElementTree

import pytest

import attempts
import promtext
import serving
import storelib
import uploading

PUBLIC, PRIVATE = "debian-12-x86_64", "ubuntu-24.04-x86_64"
JSON = {"Accept": "application/json"}
CONFIG = f"[platform {PUBLIC}]\n[platform {PRIVATE}]\nprivate = yes\n"
MARKUP = "</td></pre><script>alert(1)</script><img src=x onerror=alert(2)>&amp;\"'"


def when(seconds_ago=0):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - seconds_ago))


def attempt(**changed):
    """A document as a builder sends it."""
    whole = {"id": secrets.token_hex(16), "platform": PUBLIC, "python": "3.11", "project": "six", "version": "1.17.0",
             "result": "failed", "step": "build", "why": "pip wheel ended with 1", "begun": when(60), "seconds": 12.5,
             "peak_memory": 123456789, "files": [],
             "sdist": {"filename": "six-1.17.0.tar.gz", "sha256": "ab" * 32}, "awaiting": [], "recipe": "cd" * 32,
             "builder": "builder-1", "provenance": {"compiler": "gcc 12.2.0", "requirements": ["setuptools==68.1"]},
             "has_log": True, "log": "a line\nanother line\n"}
    return {key: value for key, value in (whole | changed).items() if value is not None}


def good(**changed):
    made = [{"filename": "six-1.17.0-py3-none-any.whl", "sha256": "ef" * 32, "size": 11050}]
    return attempt(result="ok", step="push", why="", files=made, **changed)


def post(server, path, body, token=None, **headers):
    sent = {"Content-Type": "application/json", **uploading.authorization(token), **headers}
    with contextlib.closing(server.connect()) as connection:
        connection.request("POST", path, body, sent)
        answer = connection.getresponse()
        return serving.Reply(answer.status, answer.headers, answer.read())


def send(server, document, token, platform=None):
    return post(server, f"/-/builds/{platform or document['platform']}/", json.dumps(document), token)


def read(server, path="/-/builds/", token=None):
    reply = server.get(path, JSON | uploading.authorization(token))
    assert reply.status == 200, reply.body
    assert reply["Content-Type"] == "application/json"
    return json.loads(reply.body)


class Page(html.parser.HTMLParser):
    """The elements of a page, which must be closed in order; text by element; SVG as it is."""
    EMPTY = {"meta", "link", "img", "input", "br", "wbr", "circle", "path", "rect"}

    def __init__(self, reply):
        super().__init__()
        assert (reply.status, reply["Content-Type"]) == (200, "text/html; charset=utf-8"), reply.body
        self.source = reply.body.decode()
        self.open, self.names, self.links, self.words, self.headers = [], set(), [], [], []
        self.scripts = 0
        self.feed(self.source)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        self.names.add(tag)
        attributes = dict(attrs)
        assert not [name for name in attributes if name.startswith("on")], attrs
        self.scripts += tag == "script"
        if tag == "a":
            self.links.append(attributes["href"])
        if tag == "th":
            self.headers.append(attributes.get("scope"))
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.names.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if not {"style", "title", "desc"} & set(self.open[-1:]):
            self.words.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())

    def pictures(self):
        return [xml.etree.ElementTree.fromstring(one) for one in re.findall(r"<svg.*?</svg>", self.source, re.S)]


def page(server, path="/-/builds/", token=None):
    return Page(server.get(path, uploading.authorization(token)))


def start(serve, folder):
    storelib.make_wheel(folder / "store" / PUBLIC / "f" / "foo", "foo", "1.0")
    storelib.make_wheel(folder / "store" / PRIVATE / "h" / "hidden", "hidden", "1.0")
    server = serve(folder / "store", config=CONFIG)
    server.token = uploading.add_token(server)
    return server


@pytest.fixture(name="server")
def server_fixture(serve, tmp_path):
    return start(serve, tmp_path)


@pytest.fixture(scope="module", name="strict")
def strict_fixture(serve_module, tmp_path_factory):
    """A server for documents that are all refused."""
    return start(serve_module, tmp_path_factory.mktemp("strict"))


def results_file(server):
    return server.catalog.with_name(server.catalog.name + ".builds")


def audited(server):
    return [one for one in uploading.audit(server) if one["action"] == "build-result"]


# --- recording ---

def test_what_was_sent_is_shown(server):
    sent = attempt()
    reply = send(server, sent, server.token)
    assert reply.status == 200, reply.body
    told = read(server)
    (failing,) = told["failing"]
    assert {key: failing[key] for key in sent if key != "log"} == {key: sent[key] for key in sent if key != "log"}
    assert (failing["since"], failing["failures"]) == (sent["begun"], 1)
    assert [one["id"] for one in told["attempts"]] == [sent["id"]]
    assert sum(day["failed"] for day in told["days"]) == 1 and len(told["days"]) == 60
    log = server.get(f"/-/builds/six/{sent['id']}")
    assert (log.status, log.body, log["Content-Type"]) == (200, sent["log"].encode(), "text/plain; charset=utf-8")
    assert send(server, good(), server.token).status == 200
    told = read(server)
    assert (told["failing"], len(told["attempts"])) == ([], 2)
    assert read(server, "/-/builds/six/")["attempts"] == told["attempts"]
    assert [one["result"] for one in audited(server)] == ["done", "done"]


def test_a_read_writes_nothing(server):
    assert read(server) == {**read(server), "failing": [], "attempts": [], "running": 0, "more": False}
    assert "Nothing fails" in page(server).text
    assert server.get("/-/builds/six/").status == 404
    assert server.get("/-/builds/six/" + "0" * 32).status == 404
    assert "-/builds/" not in server.get("/").body.decode()
    assert not list(results_file(server).parent.glob("*builds*"))
    assert send(server, attempt(), server.token).status == 200
    assert results_file(server).exists()
    assert "builds" in json.loads(server.get("/?format=json").body)  # the page is kept for a minute, and this is another


def test_sent_again(server):
    first = attempt()
    assert send(server, first, server.token).status == 200
    reply = send(server, first, server.token)
    assert (reply.status, b"nothing changed" in reply.body) == (200, True)
    assert send(server, {key: value for key, value in first.items() if key != "log"}, server.token).status == 200
    others = [first | {"result": "ok"}, first | {"python": "3.12", "platform": PRIVATE},
              first | {"project": "seven"}, first | {"log": "another"}, first | {"seconds": 13}, first | {"provenance": {}}]
    for other in others:
        reply = send(server, other, server.token)
        assert reply.status == 409, (other, reply.body)
        assert first["id"].encode() in reply.body
    assert len(read(server)["attempts"]) == 1
    assert server.get(f"/-/builds/six/{first['id']}").body == first["log"].encode()


def test_running_attempt_is_replaced_once(server):
    running = attempt(result="running", why="", log="so far\n")
    assert send(server, running, server.token).status == 200
    assert read(server)["running"] == 1
    assert "running" in page(server).text
    log = server.get(f"/-/builds/six/{running['id']}")
    assert log.body.startswith(b"so far\n") and b"This attempt is running" in log.body
    assert send(server, running | {"log": "so far\nmore\n"}, server.token).status == 200
    ended = running | {"result": "timed-out", "why": "4 h are over", "log": "so far\nmore\nall\n"}
    for here in (1, 0):  # it runs in a builder that shares the file
        with contextlib.closing(sqlite3.connect(results_file(server))) as database, database:
            database.execute("UPDATE attempt SET sent = ?", [1 - here])
        if here:
            assert [send(server, one, server.token).status for one in (running, ended)] == [409, 409]
    assert send(server, ended, server.token).status == 200
    assert server.get(f"/-/builds/six/{running['id']}").body == b"so far\nmore\nall\n"
    assert send(server, running, server.token).status == 409
    assert (read(server)["running"], read(server)["failing"][0]["result"]) == (0, "timed-out")


def test_right_of_the_token(server, serve):
    narrow = uploading.add_token(server, "--platform", PUBLIC, "--project", "six")
    reader = uploading.add_token(server, "--read", "--platform", PUBLIC)
    assert send(server, attempt(), narrow).status == 200
    assert send(server, attempt(project="seven"), narrow).status == 403
    assert send(server, attempt(platform=PRIVATE), narrow).status == 403
    assert send(server, attempt(), reader).status == 403
    assert send(server, attempt(), None).status == 401
    assert send(server, attempt(), "wc_" + "a" * 43).status == 401
    assert send(server, attempt(), server.token, platform="windows-11-amd64").status in (401, 403, 404)
    assert len(read(server)["attempts"]) == 1
    refused = [one for one in audited(server) if one["result"] == "refused"]
    assert len(refused) == 4 and refused[0]["project"] == "seven"


def test_without_any_token_no_result_is_taken(serve, tmp_path):
    storelib.make_wheel(tmp_path / "store" / PUBLIC / "f" / "foo", "foo", "1.0")
    server = serve(tmp_path / "store")
    assert send(server, attempt(), None).status == 403
    assert not results_file(server).exists()


def test_methods_and_paths(server):
    for method in ("PUT", "DELETE"):
        reply = server.get(f"/-/builds/{PUBLIC}/", method=method)
        assert (reply.status, reply["Allow"]) == (405, "GET, HEAD, POST")
    assert post(server, "/-/builds/", "{}", server.token).status == 405
    assert server.get("/-/builds").status == server.get("/-/builds/six").status == 302
    assert post(server, f"/-/builds/{PUBLIC}", json.dumps(attempt()), server.token).status == 200
    assert server.get("/-/builds/", method="HEAD").status == 200


# --- hostile builders ---

@pytest.mark.parametrize("body", [
    b"", b"{", b"[]", b"null", b"{}", b'{"id": 1}', b"\xff\xfe", b'{"a": "\xc3("}', b'{"a": "\\u0000"}', b"[" * 100000,
    json.dumps([0] * 5000).encode(), json.dumps(attempt(why="a" * (2 << 20))).encode(),
    json.dumps(attempt()).encode()[:-10], json.dumps(attempt()).encode() + b"x", json.dumps({"log": [1]}).encode()],
    ids=range(15))
def test_malformed_documents(strict, body):
    # Exceeds LIMIT_RESULT_VALUES, LIMIT_RESULT_TEXT.
    reply = post(strict, f"/-/builds/{PUBLIC}/", body, strict.token)
    assert reply.status in (400, 413), reply.body
    assert not results_file(strict).exists()


@pytest.mark.parametrize("changed", [
    {"platform": PRIVATE}, {"id": "x"}, {"id": "../../etc/passwd"}, {"id": "A" * 32}, {"python": "2.4"}, {"python": 3.11},
    {"python": "3.110"}, {"project": "<b>"}, {"project": "Not_Normal"}, {"project": "a" * 300}, {"version": "1\n2"},
    {"version": ""}, {"version": "--output=evil"}, {"version": "-rf"}, {"result": "splendid"}, {"result": None}, {"step": "dance"}, {"begun": "yesterday"},
    {"begun": "2200-01-01T00:00:00Z"}, {"seconds": -1}, {"seconds": 1e300}, {"peak_memory": -5}, {"files": "many"},
    {"files": [{"filename": "../x.whl", "sha256": "ef" * 32, "size": 1}]}, {"sdist": {"filename": "a b", "sha256": "x"}},
    {"awaiting": ["<i>"]}, {"recipe": "x"}, {"builder": "b" * 1000}, {"why": "two\nlines"}, {"why": "a" * 2000},
    {"provenance": []}, {"provenance": {"a": "b" * 100000}}, {"log": 5}], ids=str)
def test_values_that_no_builder_sends(strict, changed):
    reply = send(strict, attempt(**changed), strict.token, platform=PUBLIC)
    assert reply.status in (400, 413), reply.body
    assert not results_file(strict).exists()
    assert audited(strict)[-1]["result"] == "refused"


def test_deep_document_is_refused_before_it_is_a_tree(strict):
    """What stands deeper than the reader counts is not counted: a tree of its values would take gigabytes."""
    deep = [0]
    for _ in range(10):
        deep = [deep]
    reply = send(strict, attempt(provenance={"deep": deep}), strict.token, platform=PUBLIC)
    assert (reply.status, b"nested" in reply.body) == (400, True), reply.body


def test_document_that_is_too_large(server):
    # Exceeds LIMIT_RESULT_DOCUMENT.
    large = json.dumps(attempt(log="a" * (24 << 20)))
    assert post(server, f"/-/builds/{PUBLIC}/", large, server.token).status == 413
    size = f"{len(large):x}\r\n".encode()
    head = (f"POST /-/builds/{PUBLIC}/ HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nConnection: close\r\n"
            f"Authorization: {uploading.authorization(server.token)['Authorization']}\r\n"
            "Transfer-Encoding: chunked\r\n\r\n").encode()
    assert b" 413 " in server.raw(head + size + large.encode() + b"\r\n0\r\n\r\n").splitlines()[0]
    assert send(server, attempt(log="a" * (23 << 20)), server.token).status == 200


def test_token_of_one_project_fills_little(serve, tmp_path):
    """Retention counts attempts of each platform, Python and project; no other Python is taken."""
    storelib.make_wheel(tmp_path / "store" / PUBLIC / "f" / "foo", "foo", "1.0")
    server = serve(tmp_path / "store", config="[build]\nkeep-results = 90d 3\n")
    token = uploading.add_token(server, "--platform", PUBLIC, "--project", "six")
    for number in range(12):
        sent = attempt(result=["failed", "running", "ok"][number % 3], version=f"1.{number}", begun=when(60 - number))
        assert send(server, sent, token).status == 200
    assert send(server, attempt(python="3.12"), token).status == 400
    assert len(read(server)["attempts"]) == 3


def test_other_content_types_are_refused(server):
    """A form of another site cannot send JSON."""
    for one in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""):
        reply = post(server, f"/-/builds/{PUBLIC}/", json.dumps(attempt()), server.token, **{"Content-Type": one})
        assert reply.status == 400, one
    kind = {"Content-Type": "Application/JSON; charset=utf-8"}
    assert post(server, f"/-/builds/{PUBLIC}/", json.dumps(attempt()), server.token, **kind).status == 200


def test_client_that_stops_in_the_middle(server):
    """Nothing of it stays, and the memory is given back: more than may arrive at once can be sent in turn."""
    body = json.dumps(attempt(log="a" * (10 << 20))).encode()
    head = (f"POST /-/builds/{PUBLIC}/ HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
            f"Authorization: {uploading.authorization(server.token)['Authorization']}\r\n"
            f"Content-Length: {len(body)}\r\n\r\n").encode()
    for _ in range(8):
        with server.socket() as connection:
            connection.sendall(head + body[:9 << 20])
    assert not results_file(server).exists()
    serving.wait_for(lambda: send(server, attempt(), server.token).status == 200, 20, "room for a result")
    assert len(read(server)["attempts"]) == 1


def test_client_that_sends_slowly(serve, tmp_path):
    """It must make progress within the server's timeout; nothing of it stays."""
    storelib.make_wheel(tmp_path / "store" / PUBLIC / "f" / "foo", "foo", "1.0")
    server = serve(tmp_path / "store", config="[server]\ntimeout = 1\n")
    token = uploading.add_token(server)
    body = json.dumps(attempt()).encode()
    head = (f"POST /-/builds/{PUBLIC}/ HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
            f"Authorization: {uploading.authorization(token)['Authorization']}\r\n"
            f"Content-Length: {len(body)}\r\n\r\n").encode()
    with server.socket() as connection:
        connection.sendall(head)
        with contextlib.suppress(OSError):
            for byte in body:
                connection.sendall(bytes([byte]))
                time.sleep(0.02)
        assert b" 200 " not in serving.read_all(connection)[:20]
    assert not results_file(server).exists()


def status_from(server, path, source):
    """The status of an answer that is read whole, by a client with this address."""
    with server.plain_socket(source=source) as connection:
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".encode())
        head, _, body = serving.read_all(connection).partition(b"\r\n\r\n")
    status = int(head.split()[1])
    assert status == 200 and len(body) == int(re.search(rb"Content-Length: (\d+)", head)[1]) or b"\r\nRetry-After: " in head
    return status


def test_readers_that_never_read_fill_no_memory(serve, tmp_path):
    """Unread answers of one address have a quarter of the room for them, and those of all have all of it."""
    storelib.make_wheel(tmp_path / "store" / PUBLIC / "f" / "foo", "foo", "1.0")
    server = serve(tmp_path / "store", config="[server]\ntimeout = 600\n")
    sent = attempt(log=("a" * 99 + "\n") * 200_000)
    assert send(server, sent, uploading.add_token(server)).status == 200
    path = f"/-/builds/six/{sent['id']}"
    ask = f"GET {path} HTTP/1.1\r\nHost: a\r\n\r\n".encode()

    def read_nothing(held, source, count):
        for _ in range(count):
            held.enter_context(server.plain_socket(source=source)).sendall(ask)

    def becomes(status, source):
        return serving.wait_for(lambda: status_from(server, path, source) == status, 60, f"{status} for {source}")

    with contextlib.ExitStack() as held:
        read_nothing(held, "127.0.0.2", 8)
        becomes(503, "127.0.0.2")
        assert status_from(server, path, "127.0.0.3") == 200 and server.get("/").status == 200
        for last in range(3, 7):
            read_nothing(held, f"127.0.0.{last}", 8)
            becomes(503, f"127.0.0.{last}")
        becomes(503, "127.0.0.9")
        assert server.get("/").status == 200
    becomes(200, "127.0.0.2")
    assert server.get(path).body.decode() == sent["log"]


def test_too_many_at_once_are_sent_away(server):
    """Eight documents do not fit into the limit of all that arrive at once. A refused one is answered after its last byte."""
    # Exceeds LIMIT_BODIES_ARRIVING.
    body = json.dumps(attempt(log="a" * (20 << 20))).encode()
    head = (f"POST /-/builds/{PUBLIC}/ HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
            f"Authorization: {uploading.authorization(server.token)['Authorization']}\r\n"
            f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n").encode()
    with contextlib.ExitStack() as held:
        waiting = [held.enter_context(server.socket()) for _ in range(8)]
        for one in waiting:
            one.sendall(head + body[:-1])
        serving.wait_for(lambda: send(server, attempt(), server.token).status == 200, 60, "room for a small one")
        for one in waiting:
            one.sendall(body[-1:])
        answers = [serving.read_all(one).partition(b"\r\n\r\n")[0] for one in waiting]
    assert {one[:12] for one in answers} == {b"HTTP/1.1 200", b"HTTP/1.1 503"}
    assert all(b"\r\nRetry-After: " in one for one in answers if one.startswith(b"HTTP/1.1 503"))


# --- what people see ---

def test_pages_and_picture(server):
    for ago, document in ((3 * 86400, attempt()), (2 * 86400, attempt(why="still", version="1.17.0")),
                          (86400, good(project="seven"))):
        assert send(server, document | {"begun": when(ago)}, server.token).status == 200
    shown = page(server)
    assert shown.scripts == 1  # ours
    assert {"h1", "h2", "table", "main", "header", "footer"} <= shown.names
    assert shown.headers and set(shown.headers) <= {"col", "row"}
    assert "1 fails" in shown.text and when(3 * 86400)[:10] in shown.text and "2 times" in shown.text
    picture = shown.pictures()[-1]
    name = "{http://www.w3.org/2000/svg}"
    assert picture.attrib["role"] == "img"
    words = [picture.find(f"{name}title").attrib["id"], picture.find(f"{name}desc").attrib["id"]]
    assert picture.attrib["aria-labelledby"].split() == words
    assert "1 good and 2 failed" in picture.find(f"{name}desc").text
    assert [one.attrib["class"] for one in picture.iter(f"{name}rect")] == ["bad", "bad", "good"]
    for link in shown.links:
        path = urllib.parse.urlsplit(urllib.parse.urljoin("/-/builds/", link)).path
        assert server.get(path).status == 200, link
    project = page(server, "/-/builds/six/")
    assert f"{PUBLIC}, Python 3.11" in project.text and "setuptools==68.1" in project.text
    assert project.text.index("still") < project.text.index("pip wheel ended")


def test_markup_stays_text(server):
    """In every text that a builder may send."""
    sent = attempt(why=MARKUP, builder=MARKUP, log=MARKUP,
                   provenance={MARKUP: MARKUP, "list": [MARKUP]})
    assert send(server, sent, server.token).status == 200
    for path in ("/-/builds/", "/-/builds/six/"):
        reply = server.get(path)
        shown = Page(reply)
        assert not {"img", "b"} & shown.names and shown.scripts == 1
        assert "alert(1)" in shown.text
        policy = reply["Content-Security-Policy"]
        assert "default-src 'none'" in policy and "script-src 'self';" in policy and "unsafe" not in policy
        assert reply["X-Content-Type-Options"] == "nosniff"
        assert read(server, path)["attempts"][0]["why"] == MARKUP
    log = server.get(f"/-/builds/six/{sent['id']}")
    assert (log.body.decode(), log["Content-Type"], log["X-Content-Type-Options"]) == (
        MARKUP, "text/plain; charset=utf-8", "nosniff")
    assert "default-src 'none'" in log["Content-Security-Policy"]


def test_query_is_escaped_and_filters(server):
    for document in (attempt(), good(project="seven"), attempt(project="eight", result="crashed")):
        assert send(server, document, server.token).status == 200
    hostile = server.get("/-/builds/?result=%22%3E%3Cscript%3Ealert(1)%3C/script%3E&platform=")
    assert Page(hostile).scripts == 1
    assert server.get("/-/builds/?project=%22%3E%3Cscript%3E").status == 400  # no glob has such bytes
    for query, want in (("project=six", {"six"}), ("project=SIX", {"six"}), ("project=*e*", {"seven", "eight"}),
                        ("result=ok", {"seven"}), ("result=nonsense", set()), (f"platform={PUBLIC}", {"six", "seven", "eight"}),
                        ("platform=debian-*", {"six", "seven", "eight"}), ("limit=1", {"eight"}),
                        ("limit=nonsense", {"six", "seven", "eight"}), ("limit=99999999999999999999", {"six", "seven", "eight"})):
        told = read(server, f"/-/builds/?{query}")
        assert {one["project"] for one in told["attempts"]} == want, query
        assert told["more"] == (query == "limit=1")
    assert server.get("/-/builds/?project=" + "a" * 300).status == 400
    assert "Show more" in page(server, "/-/builds/?limit=1").text


def test_a_page_has_only_so_much_text(server):
    # Exceeds LIMIT_BUILDS_TEXT.
    done = attempts.Attempts(results_file(server))
    for number in range(90):
        done.add(f"p{number}", platform=PUBLIC, provenance=json.dumps({"a": "b" * 60_000}))
    told = read(server, "/-/builds/?limit=1000")
    assert told["more"] and 40 < len(told["attempts"]) < 80


def test_log_of_a_hostile_build(server):
    sent = attempt(log="\x1b[2J\x1b]0;title\x07\r\nnext\r\u009b31m\u202e")
    assert send(server, sent, server.token).status == 200
    path = f"/-/builds/six/{sent['id']}"
    want = "\u241b[2J\u241b]0;title\u2407\nnext\n\ufffd31m\ufffd"
    plain, packed = server.get(path), server.get(path, {"Accept-Encoding": "gzip"})
    assert plain.body.decode() == want and plain["Content-Encoding"] is None
    assert gzip.decompress(packed.body).decode() == want and packed["Content-Encoding"] == "gzip"
    assert server.get(f"/-/builds/seven/{sent['id']}").status == 404
    assert server.get(path + "0").status == server.get("/-/builds/six/" + "%27").status == 404


def test_etag(server):
    sent = attempt()
    assert send(server, sent, server.token).status == 200
    for path, headers in (("/-/builds/", {}), ("/-/builds/", JSON), ("/-/builds/six/", {}), (f"/-/builds/six/{sent['id']}", {})):
        first = server.get(path, headers)
        assert "max-age" in first["Cache-Control"] and "Accept" in first["Vary"]
        again = server.get(path, headers | {"If-None-Match": first["ETag"]})
        assert (again.status, again.body) == (304, b""), path
    before = server.get("/-/builds/")["ETag"]
    assert send(server, good(), server.token).status == 200
    assert server.get("/-/builds/")["ETag"] != before


# --- private platforms ---

def test_private_platform_shows_nothing_without_a_token(server):
    reader = uploading.add_token(server, "--read", "--platform", PRIVATE)
    secret = attempt(platform=PRIVATE, python="3.12", project="secretive", why="secretive reason", log="secretive log")
    assert send(server, secret, server.token).status == 200
    told = read(server)
    assert (told["failing"], told["attempts"], told["running"], told["more"]) == ([], [], 0, False)
    assert sum(day["good"] + day["failed"] for day in told["days"]) == 0
    assert "-/builds/" not in server.get("/").body.decode()
    pages = ["/-/builds/", "/-/builds/?limit=1", "/-/builds/?project=secretive", "/-/builds/secretive/", f"/-/builds/secretive/{secret['id']}"]
    unknown = ["/-/builds/", "/-/builds/?limit=1", "/-/builds/?project=unseen", "/-/builds/unseen/", f"/-/builds/unseen/{'0' * 32}"]
    for path, like in zip(pages, unknown):
        for headers in ({}, JSON):
            hidden, missing = server.get(path, headers), server.get(like, headers)
            assert hidden.status == missing.status
            assert hidden.body.replace(b"secretive", b"unseen") == missing.body
            assert PRIVATE.encode() not in hidden.body
    named, unknown = server.get(f"/-/builds/?platform={PRIVATE}"), server.get("/-/builds/?platform=fedora-40-x86_64")
    assert (named.status, named.body) == (unknown.status, unknown.body) and named.status == 401
    assert "secretive" in page(server, token=reader).text
    assert read(server, "/-/builds/secretive/", reader)["attempts"][0]["why"] == "secretive reason"
    assert server.get(f"/-/builds/secretive/{secret['id']}", uploading.authorization(reader)).body == b"secretive log"
    assert server.get("/-/builds/")["Cache-Control"].startswith("private")


def test_reader_of_one_project(server):
    reader = uploading.add_token(server, "--read", "--platform", PRIVATE, "--project", "hidden")
    sent = [attempt(platform=PRIVATE, python="3.12", project=name) for name in ("hidden", "other")]
    for one in sent:
        assert send(server, one, server.token).status == 200
    assert read(server, token=reader)["attempts"] == []
    assert len(read(server, "/-/builds/hidden/", reader)["attempts"]) == 1
    assert server.get("/-/builds/other/", uploading.authorization(reader)).status == 404
    for one, status in zip(sent, (200, 404)):
        path = f"/-/builds/{one['project']}/{one['id']}"
        assert server.get(path, uploading.authorization(reader)).status == status


# --- on-change ---

def test_on_change(serve, tmp_path):
    """It runs when a project begins to fail and when it is good again, with the facts in its environment; a reload changes
    the command."""
    storelib.make_wheel(tmp_path / "store" / PUBLIC / "f" / "foo", "foo", "1.0")
    told = tmp_path / "told"
    command = tmp_path / "tell"
    command.write_text(f'#!/bin/sh\necho "$1 $WHEELCACHE_CHANGE $WHEELCACHE_PROJECT $WHEELCACHE_WHY" >> {told}\n')
    command.chmod(0o755)
    config = f"[build]\non-change = {command} %n\n"
    server = serve(tmp_path / "store", config=config)
    token = uploading.add_token(server)
    first = attempt(why="$(reboot) `x`", result="running", begun=when(60))
    for told_until, one in ((0, first), (1, first | {"result": "failed"}), (1, first | {"result": "failed"}),
                            (1, attempt(begun=when(50))), (2, good(begun=when(40))), (2, good(begun=when(30))),
                            (3, attempt(begun=when(20)))):
        assert send(server, one, token).status == 200, one
        serving.wait_for(lambda: not told_until or (told.exists() and told.read_text().count("\n") >= told_until), 20, "a change")
    want = ["six failed six $(reboot) `x`", "six good six ", "six failed six pip wheel ended with 1"]
    serving.wait_for(lambda: told.exists() and told.read_text().count("\n") == 3, 20, "three changes")
    assert told.read_text().splitlines() == want
    server.config_path.write_text("")
    server.signal(signal.SIGHUP)
    serving.wait_for(lambda: "the configuration is reloaded" in server.errors(), 20, "the reload")
    assert send(server, good(), token).status == 200
    server.stop()
    assert told.read_text().splitlines() == want


def test_builder_that_shares_the_file(serve, tmp_path):
    """A builder beside the server writes to the server's file, and sends the attempt afterwards. Its log may differ: JSON
    has UTF-8 only."""
    storelib.make_wheel(tmp_path / "store" / PUBLIC / "f" / "foo", "foo", "1.0")
    told = tmp_path / "told"
    command = tmp_path / "tell"
    command.write_text(f'#!/bin/sh\necho "$WHEELCACHE_CHANGE $WHEELCACHE_ID" >> {told}\n')
    command.chmod(0o755)
    server = serve(tmp_path / "store", config=f"[build]\non-change = {command}\n")
    token = uploading.add_token(server)
    sent = [attempt(begun=when(60)), attempt(begun=when(50)), good(begun=when(40))]
    for one in sent:
        assert send(server, one, token).status == 200
        serving.wait_for(lambda: told.exists() and told.read_text().count("\n") == 1 + ("ok" in one["result"]), 20, "its change")
    serving.wait_for(lambda: told.read_text().count("\n") == 2, 20, "two changes")
    with contextlib.closing(sqlite3.connect(results_file(server))) as database, database:
        database.execute("UPDATE attempt SET sent = 0")
    for one in sent:
        assert send(server, one | {"log": "as UTF-8"}, token).status == 200
    assert send(server, sent[0] | {"log": "as UTF-8"}, token).status == 409  # it is the server's now
    assert send(server, sent[0], token).status == 200
    serving.wait_for(lambda: told.read_text().count("\n") == 3, 20, "the last change again")
    assert told.read_text().splitlines() == [f"failed {sent[0]['id']}", f"good {sent[2]['id']}", f"good {sent[2]['id']}"]
    assert server.get(f"/-/builds/six/{sent[0]['id']}").body == sent[0]["log"].encode()


# --- numbers ---

def test_metrics_count_attempts_of_public_platforms(server):
    def numbers():
        return promtext.Metrics(server.get("/-/metrics").body.decode())
    assert "build" not in "".join(name for name in server.get("/-/metrics").body.decode().split() if "attempt" in name)
    first = attempt(result="running")
    for one in (first, first | {"result": "crashed"}, first | {"result": "crashed"}, attempt(project="seven"), good(),
                attempt(platform=PRIVATE, python="3.12")):
        assert send(server, one, server.token).status == 200
    now = numbers()
    found = {result: now("build_attempts_total", platform=PUBLIC, result=result)
             for result in ("ok", "crashed", "failed", "timed-out")}
    assert found == {"ok": 1, "crashed": 1, "failed": 1, "timed-out": 0}
    assert now("builds_failing", platform=PUBLIC) == 1
    assert PRIVATE not in server.get("/-/metrics").body.decode()


# --- disks ---

def fill_disk(path):
    with open(path, "wb", buffering=0) as file, contextlib.suppress(OSError):
        while file.write(b"x" * 4096):
            pass


def test_full_disk(serve, tmp_path):
    state = tmp_path / "small"
    state.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", state], capture_output=True, check=False).returncode:
        pytest.skip("no tmpfs can be mounted here")
    try:
        storelib.make_wheel(tmp_path / "store" / PUBLIC / "f" / "foo", "foo", "1.0")
        server = serve(tmp_path / "store", state=state)
        token = uploading.add_token(server)
        assert send(server, attempt(), token).status == 200
        for _ in range(2):
            noise = base64.b64encode(secrets.token_bytes(6 << 20)).decode()
            reply = send(server, attempt(log=noise), token)
            assert reply.status == 507, reply.body
            assert str(state).encode() not in reply.body
        assert len(read(server)["attempts"]) == 1
        assert send(server, attempt(), token).status == 200
        fill_disk(state / "fill")
        refused = server.get("/-/builds/")
        assert (refused.status, refused["Retry-After"]) == (503, "30") and b"a disk of the server is full" in refused.body
        assert [server.get(path).status for path in ("/", "/simple/foo/", "/-/health")] == [200] * 3
        (state / "fill").unlink()
        assert len(read(server)["attempts"]) == 2
        server.stop()
    finally:
        subprocess.run(["umount", "-l", state], check=True)


def test_file_of_results_at_its_limit(server):
    """The header of the file says that it has so many pages; most of them are a hole."""
    assert send(server, attempt(), server.token).status == 200
    pages = (2000 << 20) // 4096 + 1
    with open(results_file(server), "r+b") as file:
        file.seek(28)
        file.write(pages.to_bytes(4, "big"))
        file.truncate(pages * 4096)
    reply = send(server, attempt(), server.token)
    assert reply.status == 507 and str(results_file(server)).encode() not in reply.body
    assert len(read(server)["attempts"]) == 1


def test_results_that_cannot_be_read(server):
    """A damaged file is no reason to show that nothing was built."""
    results_file(server).write_bytes(b"no database" * 1000)
    assert server.get("/-/builds/").status == 503
    assert server.get("/").status == 200
    assert send(server, attempt(), server.token).status == 503
    results_file(server).unlink()
    assert send(server, attempt(), server.token).status == 200


def test_browser_shows_the_page(server, tmp_path):
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if not program:
        pytest.skip("chromium is not installed")
    assert send(server, attempt(why=MARKUP), server.token).status == 200
    flags = ["--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}"]
    done = subprocess.run([program, *flags, "--dump-dom", f"{server.url}/-/builds/"], check=True, timeout=600,
                          capture_output=True, text=True).stdout
    assert "<title>Builds · wheelcache</title>" in done and "<script>" not in done


def test_running_attempt_names_no_folder_of_the_server(server):
    attempts.Attempts(results_file(server)).add("six", "running", provenance='{"work": "/var/lib/secret"}')
    assert [one["provenance"] for one in read(server)["attempts"]] == [{}]
    for path in ("/-/builds/", "/-/builds/six/"):
        assert b"/var/lib/secret" not in server.get(path, JSON).body + server.get(path).body
