# SPDX-License-Identifier: Apache-2.0
"""/-/missing/PLATFORM and /-/view/NAME: what a server says about what is missing, and to whom."""
import contextlib
import html
import json
import re
import secrets
import signal
import threading
import time

import pytest

import serving
import tinyupstream
import uploading
import wanting
from wanting import BOOKWORM, JAMMY

HTML = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


class Asked(wanting.Wanted):
    """Counts the requests that upstream gets."""

    def __init__(self, folder, upstream):
        super().__init__(folder, upstream)
        self.asked, answer = [], upstream.answer
        upstream.answer = lambda path: self.asked.append(path) or answer(path)

    def serve(self, start, more=""):
        self.configure(more)
        return start(config=self.config.read_text(), state=self.catalog.parent)


@pytest.fixture(scope="module", name="site")
def site_fixture(tmp_path_factory):
    with tinyupstream.running() as upstream:
        site = Asked(tmp_path_factory.mktemp("asked"), upstream)
        site.missing()
        yield site


@pytest.fixture(scope="module", name="server")
def server_fixture(site, serve_module):
    return site.serve(serve_module, f"[view both]\nplatforms = {JAMMY} {BOOKWORM}\n[view one]\nplatforms = {BOOKWORM}\n"
                                    "upstream = merge\n")


@pytest.fixture(name="fresh")
def fresh_fixture(tmp_path):
    with tinyupstream.running() as upstream:
        yield Asked(tmp_path, upstream)


def test_links_lead_to_the_wanted_version(site, server):
    """Also where others of the project are newer, and where only upstream has it."""
    page = server.get(f"/-/missing/{BOOKWORM}?format=html&all=1", HTML).body.decode()
    links = re.findall(r'<a href="\.\./(project/([^"?]+)\?version=([^"]+))">\2</a> \3<', page)
    without = re.findall(r'<a href="\.\./project/([^"?]+)">\1</a> ([^<]*)<', page)
    assert len({project for _, project, _ in links}) >= 5 and page.count('href="../project/') == len(links) + len(without)
    assert set(without) == {("pulled", ""), ("native", "")}  # any version was wanted, and none can be taken, or no version
    for link, _, version in set(links):
        reply = server.get(f"/-/{link}", HTML)
        assert (reply.status, f"<h2>Version {version}</h2>" in reply.body.decode()) == (200, True), link
    unlinked = set(re.findall('<th scope="row">([^ <]+) ([^<]*)</th>', page))
    assert unlinked == {("nowhere", "1.0"), ("flaky", "1.0"), ("gone", "")}
    assert {server.get(f"/-/project/{project}?version={version}", HTML).status for project, version in unlinked} == {404}


def test_links_lead_to_what_upstream_had_when_it_last_answered(fresh, serve):
    fresh.configure("[upstream]\nmax-age = 0\n")
    fresh.missing()
    fresh.upstream.is_down = True
    fresh.missing()
    server = fresh.serve(serve, "[upstream]\nmax-age = 0\n")
    page = server.get(f"/-/missing/{BOOKWORM}?format=html", HTML).body.decode()
    assert re.search(r'<a href="../project/newer-libc\?version=1.0">newer-libc</a> 1.0</th><td><span class="verdict goes">unknown', page), page
    assert server.get("/-/project/newer-libc?version=1.0", HTML).status == 200


def document(reply):
    assert reply.status == 200 and reply["Content-Type"] == "application/json", reply
    return json.loads(reply.body)


def without_time(found):
    return {**found, "made": None}


@pytest.mark.parametrize("query, words", [
    ("", []),
    ("?python=3.12", ["--python", "3.12"]),
    ("?python=3.10&all=1", ["--python", "3.10", "--all"]),
    ("?all=0", []),
])
def test_the_server_says_what_the_command_says(site, server, query, words):
    site.asked.clear()
    found = document(server.get(f"/-/missing/{BOOKWORM}{query}"))
    assert site.asked == []
    said = json.loads(site.missing("--json", "--offline", "--platform", BOOKWORM, *words))
    assert without_time(found) == without_time(said)


def test_one_project_can_be_asked_for(server):
    found = document(server.get(f"/-/missing/{JAMMY}?python=3.12&project=Ours.Native"))
    assert [(row["project"], row["status"]) for row in found["rows"]] == [("ours-native", "missing")]
    assert found["totals"]["missing"] == sum(found["totals"].values()) == 1
    assert not document(server.get(f"/-/missing/{JAMMY}?project=unheard-of"))["rows"]


def test_a_browser_gets_a_page(server):
    page = server.get(f"/-/missing/{JAMMY}?python=3.12", HTML)
    assert (page.status, page["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert "unsafe" not in page["Content-Security-Policy"] and b"<script>" not in page.body
    text = html.unescape(re.sub(r"<[^>]+>", " ", page.body.decode()))
    for row in document(server.get(f"/-/missing/{JAMMY}?python=3.12"))["rows"]:
        assert row["why"] in text and row["project"] in text
    assert "3 missing" in text and "Branch old wants nothing: its last day was 2020-01-31." in text
    links = re.findall(r'href="([^"]+format=html[^"]*)"', page.body.decode())
    assert links and all(server.get(f"/-/missing/{html.unescape(link)}").status == 200 for link in links)
    assert server.get(f"/-/missing/{JAMMY}?format=html").body.count(b"<h2>") == 2
    assert document(server.get(f"/-/missing/{JAMMY}?format=json", HTML))


def test_the_first_page_leads_to_it(server):
    links = re.findall(r'href="(-/missing/[^"]+)"', server.get("/", HTML).body.decode())
    assert links == [f"-/missing/{name}?format=html" for name in (JAMMY, BOOKWORM)]
    assert all(server.get(f"/{link}")["Content-Type"].startswith("text/html") for link in links)


def test_text_of_others_is_escaped(fresh, serve):
    fresh.upstream.add("native", "native-1.0-cp37-cp37m-linux_x86_64.whl", yanked="<script>alert(1)</script>")
    (fresh.folder / "skip.list").write_text("native because of <script>alert(2)</script>\n")
    fresh.missing()
    page = fresh.serve(serve).get(f"/-/missing/{JAMMY}?all=1", HTML)
    assert b"<script>" not in page.body and b"&lt;script&gt;alert(2)" in page.body


def test_nothing_tells_paths_or_passwords(fresh, serve):
    fresh.upstream.url = fresh.upstream.url.replace("http://", "http://reader:secret@")
    fresh.configure()
    fresh.missing()
    server = fresh.serve(serve)
    for headers in ({}, HTML):
        body = server.get(f"/-/missing/{JAMMY}?all=1", headers).body.decode()
        assert "secret" not in body and "reader" not in body and str(fresh.folder) not in body
        assert "master.txt:15" in body and "skip.list:1: no use here" in body


def test_an_unchanged_answer_is_not_sent_again(server):
    for headers in ({}, HTML, {"Accept-Encoding": "gzip"}):
        reply = server.get(f"/-/missing/{JAMMY}", headers)
        again = server.get(f"/-/missing/{JAMMY}", {**headers, "If-None-Match": reply["ETag"]})
        assert reply.status == 200 and again.status == 304 and not again.body
    assert reply["Content-Encoding"] == "gzip" and "Accept-Encoding" in reply["Vary"]


@pytest.mark.parametrize("path, status, says", [
    (f"/-/missing/{JAMMY}?python=3.9", 404, "no branch has such a platform and Python"),
    (f"/-/missing/{JAMMY}?python=three", 400, "python is a version of Python"),
    (f"/-/missing/{JAMMY}?project=a%2Fb", 400, "project is the name of a project"),
    (f"/-/missing/{JAMMY}?all=yes", 400, "all is 0 or 1"),
    (f"/-/missing/{JAMMY}?project={'a' * 300}", 400, "too long"),
    ("/-/missing/other", 404, "no such view"),
    ("/-/missing/both", 404, "no such platform"),
    ("/-/view/other", 404, "no such view"),
])
def test_a_query_without_an_answer_says_why(server, path, status, says):
    reply = server.get(path)
    assert reply.status == status and says in reply.body.decode()


def test_a_view_says_what_it_holds(server):
    views = {name: document(server.get(f"/-/view/{name}")) for name in ("simple", "both", "one", JAMMY)}
    assert views["both"] == {"name": "both", "platforms": [JAMMY, BOOKWORM], "upstream": False}
    assert views["one"] == {"name": "one", "platforms": [BOOKWORM], "upstream": True}
    assert views[JAMMY] == {"name": JAMMY, "platforms": [JAMMY], "upstream": False}
    assert views["simple"] == {"name": "simple", "platforms": [JAMMY, BOOKWORM], "upstream": False}


def test_the_default_view_has_its_name(fresh, serve):
    server = fresh.serve(serve, f"[view main]\nplatforms = {BOOKWORM}\n[store]\ndefault-view = main\n")
    for name in ("simple", "main"):
        assert document(server.get(f"/-/view/{name}")) == {"name": "main", "platforms": [BOOKWORM], "upstream": False}


def test_many_requests_cost_one_answer(site, server):
    server.get(f"/-/missing/{JAMMY}?all=1")
    before = serving.cpu_seconds(server)
    threads = [threading.Thread(target=lambda: [server.get(f"/-/missing/{JAMMY}?all=1") for _ in range(50)])
               for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert serving.cpu_seconds(server) - before < 1.5
    assert site.asked == []


def test_a_new_wheel_is_no_longer_missing(fresh, serve):
    fresh.missing()
    server = fresh.serve(serve)
    path = f"/-/missing/{JAMMY}?python=3.12&project=native&all=1"
    assert document(server.get(path))["rows"][0]["status"] == "missing"
    fresh.wheel(f"{JAMMY}/n/native", "native", "1.0", tag="cp312-cp312-linux_x86_64")
    fresh.tool("index", "--quiet")
    assert document(server.get(path))["rows"][0]["status"] == "here"


def test_a_reload_brings_other_branches(fresh, serve):
    fresh.missing()
    server = fresh.serve(serve)
    assert document(server.get(f"/-/missing/{JAMMY}"))["branches"]
    fresh.configure(branches=f"[branch other]\nrequirements = {fresh.requirements}\nplatforms = debian-*\n")
    server.config_path.write_text(fresh.config.read_text())
    server.signal(signal.SIGHUP)
    serving.wait_for(lambda: server.get(f"/-/missing/{JAMMY}").status == 404, 10, "the branches are the old ones")
    assert [one["name"] for one in document(server.get(f"/-/missing/{BOOKWORM}"))["branches"]] == ["other"]
    fresh.configure(branches="")
    server.config_path.write_text(fresh.config.read_text())
    server.signal(signal.SIGHUP)
    serving.wait_for(lambda: b"the configuration has no [branch]" in server.get(f"/-/missing/{BOOKWORM}").body, 10,
                     "there are still branches")


def test_a_broken_file_of_a_branch_is_logged(fresh, serve):
    server = fresh.serve(serve)
    fresh.requirements.write_text("native==1.0\n=\n")
    reply = server.get(f"/-/missing/{JAMMY}")
    assert reply.status == 500 and b"master" not in reply.body
    assert re.search(rf"/-/missing/{JAMMY}: .*master\.txt:2: ", server.errors())
    fresh.requirements.write_text("native==1.0\n")
    assert document(server.get(f"/-/missing/{JAMMY}"))


def attempt(project, result="failed", awaiting=(), **changed):
    """A document as a builder sends it."""
    begun = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 60))
    return {"id": secrets.token_hex(16), "platform": JAMMY, "python": "3.12", "project": project, "version": "1.0",
            "result": result, "step": "build", "why": f"pip ended with 1: {project} <b>", "begun": begun, "seconds": 1.5,
            "peak_memory": 1, "files": [], "sdist": {"filename": f"{project}-1.0.tar.gz", "sha256": "ab" * 32},
            "awaiting": list(awaiting), "recipe": "cd" * 32, "builder": "here", "provenance": {}, "has_log": False, **changed}


def send(server, document, token):
    with contextlib.closing(server.connect()) as connection:
        connection.request("POST", f"/-/builds/{JAMMY}/", json.dumps(document),
                           {"Content-Type": "application/json", **uploading.authorization(token)})
        answer = connection.getresponse()
        assert answer.status in (200, 201), answer.read()


def test_attempts_of_builders_make_rows_failed_or_awaiting(fresh, serve):
    fresh.missing()
    server = fresh.serve(serve)
    token = uploading.add_token(server, "--upload", "--platform", JAMMY)
    sent = attempt("newer-libc", "timed-out")
    send(server, sent, token)
    send(server, attempt("native", awaiting=["newer-libc"]), token)
    found = document(server.get(f"/-/missing/{JAMMY}?python=3.12"))
    rows = {row["project"]: row for row in found["rows"]}
    failed, awaiting = rows["newer-libc"], rows["native"]
    assert (failed["status"], awaiting["status"], rows["ours-native"]["status"]) == ("failed", "awaiting", "missing")
    assert (found["totals"]["failed"], found["totals"]["awaiting"], found["totals"]["missing"]) == (1, 1, 1)
    assert {**failed["attempts"], "retry": None} == {"count": 1, "last": sent["begun"], "retry": None, "step": "build",
                                                     "result": "timed-out", "recipe": "cd" * 32}
    assert failed["attempts"]["retry"] > sent["begun"] and "pip ended with 1" in failed["why"]
    assert "newer-libc" in awaiting["why"] and failed["sdist"]
    assert {**json.loads(fresh.missing("--json", "--platform", JAMMY, "--python", "3.12")), "made": 0} == {**found, "made": 0}
    fresh.missing("--check", "--offline", code=1)
    page = server.get(f"/-/missing/{JAMMY}?python=3.12", HTML).body
    assert b'href="../builds/newer-libc/"' in page and b"&lt;b&gt;" in page and b"<b>" not in page
    assert wanting.group(found["rows"]) == {(JAMMY, "3.12"): ["ours-native==1.0"]}


def test_a_private_platform_needs_a_token(fresh, serve):
    fresh.missing()
    text = fresh.config.read_text().replace(f"[platform {BOOKWORM}]\n", f"[platform {BOOKWORM}]\nprivate = yes\n")
    server = serve(config=text + f"[view both]\nplatforms = {JAMMY} {BOOKWORM}\n", state=fresh.catalog.parent)
    token = uploading.add_token(server, "--read", "--platform", BOOKWORM)
    for path in (f"/-/missing/{BOOKWORM}", "/-/view/both", f"/-/view/{BOOKWORM}", "/-/missing/unknown"):
        assert server.get(path).status == 401, path
    for path in (f"/-/missing/{BOOKWORM}", "/-/view/both"):
        reply = server.get(path, uploading.authorization(token))
        assert reply.status == 200 and reply["Cache-Control"].startswith("private, "), path
        assert server.get(path).status == 401, path
    assert document(server.get("/-/view/simple"))["platforms"] == [JAMMY]
    assert BOOKWORM not in server.get(f"/-/missing/{JAMMY}").body.decode()
    assert server.get(f"/-/missing/{JAMMY}")["Cache-Control"].startswith("public, ")
