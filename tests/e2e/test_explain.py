# SPDX-License-Identifier: Apache-2.0
"""wheelcache explain, and over HTTP; and the page of the last plan."""
import collections
import html
import json
import random
import re

import pytest

import attempts
import corpusstore
import merging
import recorded
import serving
import storelib
import tinyupstream
from uploading import authorization

OPEN, CLOSED = "ubuntu-22.04-x86_64", "debian-12-x86_64"
SAME, OURS, OTHER = "foo-1.0-py3-none-any.whl", "foo-2.0-py3-none-any.whl", "foo-3.0-cp311-cp311-linux_x86_64.whl"
THEIRS = "foo-3.0-cp311-cp311-manylinux_2_17_x86_64.whl"
BROKEN = "foo-4.0-py3-none-any.whl"


class Site:
    """A public platform and a private one, an upstream that has some of their files, and the program run on it."""

    def __init__(self, folder, upstream):
        self.store, self.plan_file = folder / "store", folder / "plan.json"
        here = self.store / OPEN / "f" / "foo"
        same = storelib.make_wheel(here, "foo", "1.0")
        storelib.make_wheel(here, "foo", "2.0")
        storelib.make_wheel(here, "foo", "3.0", "cp311-cp311-linux_x86_64")
        storelib.make_wheel(here, "foo", "4.0")
        (here / BROKEN).write_bytes((here / BROKEN).read_bytes()[:-9])
        storelib.make_wheel(self.store / CLOSED / "s" / "secret", "secret", "1.0")
        upstream.add("foo", SAME, same.sha256)
        upstream.add("foo", THEIRS, requires_python=">=3.8")
        upstream.add("foo", "foo-5.0-py3-none-any.whl", yanked="a <b> broke it")
        self.config = (f"[store]\npath = {self.store}\n[upstream]\nurl = {upstream.url}\n[prune]\nclients-have-upstream = yes\nmin-age = 0\n"
                       f"[platform {OPEN}]\n[platform {CLOSED}]\nprivate = yes\n[index]\nsettle = 0\n")
        self.file = folder / "site.conf"
        self.file.write_text(self.config)
        self.catalog = folder / "state" / "catalog.db"
        self.catalog.parent.mkdir()
        self.run("index")

    def run(self, *words, code=0):
        done = serving.run(*words, "--config", self.file, "--catalog", self.catalog)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout

    def plan(self):
        self.run("prune", "plan", "-o", self.plan_file)

    def explain(self, *words):
        return json.loads(self.run("explain", "--json", "--view", OPEN, *words))


@pytest.fixture(name="site")
def site_fixture(tmp_path):
    with tinyupstream.running() as upstream:
        yield Site(tmp_path, upstream)


@pytest.fixture(name="server")
def server_fixture(site, serve):
    return serve(config=site.config, state=site.catalog.parent)


def states(explained):
    return {row["filename"]: row["state"] for row in explained["here"]}


def choices(explained):
    """By Python: the file that pip picks from here, from upstream and from both."""
    return {one["python"]: tuple((one.get(key) or {}).get("filename") for key in ("here", "upstream", "both"))
            for one in explained["environments"]}


def test_explain_says_what_is_here_and_upstream_and_what_pip_takes(site):
    before = site.explain("Foo", "3.0")
    assert before["upstream"]["result"] == "never asked" and "files" not in before["upstream"]
    assert choices(before) == {"3.10": (None, None, None), "3.11": (OTHER, None, OTHER)}
    site.plan()
    three = site.explain("foo", "3")
    assert choices(three) == {"3.10": (None, None, None), "3.11": (OTHER, THEIRS, THEIRS)}
    (row,) = three["here"]
    assert (row["filename"], row["state"], row["plan"]["verdict"]) == (OTHER, "listed", "superseded")
    assert row["plan"]["upstream"] == THEIRS and row["plan"]["removes"]
    assert [file["filename"] for file in three["upstream"]["file"]] == [THEIRS]
    everything = site.explain("foo")
    assert states(everything) == {SAME: "listed", OURS: "listed", OTHER: "listed", BROKEN: "quarantined"}
    assert choices(everything) == {"3.10": (OURS, SAME, OURS), "3.11": (OTHER, THEIRS, THEIRS)}
    assert everything["upstream"]["files"] == 3 and "file" not in everything["upstream"]
    yanked = site.explain("foo", "5.0")
    assert choices(yanked)["3.11"] == (None, "foo-5.0-py3-none-any.whl", "foo-5.0-py3-none-any.whl")
    assert yanked["environments"][0]["both"]["yanked"]


def test_explain_tells_of_what_was_pruned_and_yanked(site):
    site.plan()
    site.run("prune", "apply", "--max-files=100%", "--max-bytes=100%", site.plan_file)
    site.run("yank", "--reason", "it is broken", OURS)
    after = site.explain("foo")
    assert states(after) == {SAME: "unlisted", OURS: "yanked", OTHER: "unlisted", BROKEN: "quarantined"}
    rows = {row["filename"]: row for row in after["here"]}
    assert rows[OURS]["reason"] == "it is broken"
    removal = rows[SAME]["removal"]
    assert removal["verdict"] == "duplicate" and removal["upstream"]["identical"]
    assert removal["upstream"]["filename"] == SAME
    assert rows[OTHER]["removal"]["upstream"]["filename"] == THEIRS
    (site.store / OPEN / "f" / "foo" / SAME).unlink()
    site.run("index")
    assert states(site.explain("foo"))[SAME] == "removed"
    text = site.run("explain", "--view", OPEN, "foo")
    for words in ("upstream has " + THEIRS + ", other bytes", "it is broken", "Python 3.11\n    from here", "removed"):
        assert words in text, text


def test_explain_sends_no_control_bytes_to_a_terminal(site):
    stone = {"reason": "gone", "run": "r\033[2J", "by": "a\x7f\tb", "verdict": "\r"}
    (site.store / OPEN / "f" / "foo" / f"{OURS}.pruned").write_text(json.dumps(stone))
    site.run("index")
    text = site.run("explain", "foo")
    assert "by a??b, ?, in run r?[2J" in text


def test_explain_tells_of_downloads(site, server):
    for _ in range(2):
        assert server.get(f"/files/{OPEN}/foo/{OURS}").status == 200
    server.stop()
    rows = {row["filename"]: row.get("downloads") for row in site.explain("foo")["here"]}
    assert rows[OURS]["count"] == 2 and rows[SAME] is None
    assert "downloaded 2 times, last on " + rows[OURS]["last"][:10] in site.run("explain", "--view", OPEN, "foo")


def test_explain_of_nothing(site):
    for words, code in ((["nothing"], 1), (["foo", "not-a-version"], 1), (["--view", "nowhere", "foo"], 1), ([], 2),
                        (["foo", "1", "2"], 2), (["-foo-"], 2), (["foo/bar"], 2)):
        site.run("explain", *words, code=code)


def test_explain_over_http(site, server):
    site.plan()
    path = f"/-/explain/{OPEN}/foo/3.0"
    reply = server.get(path)
    assert reply.status == 200 and reply["Content-Type"] == "application/json"
    assert json.loads(reply.body) == site.explain("foo", "3.0")
    assert json.loads(server.get("/-/explain/simple/FOO").body)["environments"]
    text = server.get(path + "?format=text")
    assert text["Content-Type"].startswith("text/plain") and b"What pip takes" in text.body
    for missing in (f"/-/explain/{OPEN}/nothing", f"/-/explain/{OPEN}/foo/no-version", f"/-/explain/{OPEN}/-foo-", "/-/explain/foo"):
        assert server.get(missing).status == 404, missing
    assert server.get("/-/explain/nowhere/foo").status == server.get(f"/-/explain/{CLOSED}/foo").status  # it does not tell which platforms there are


def test_explain_keeps_what_is_private(site, server):
    assert b"secret" not in server.get("/-/explain/simple/secret").body.replace(b"/secret", b"")
    path = f"/-/explain/{CLOSED}/secret"
    assert server.get(path).status in (401, 403)
    token = site.run("token", "add", "--read", "--platform", CLOSED).strip()
    reply = server.get(path, authorization(token))
    assert reply.status == 200 and reply["Cache-Control"].startswith("private, ")
    assert server.get(f"/-/explain/{CLOSED}/nothing").status == 401


def rows_of(reply):
    """The file names that the page lists."""
    assert reply.status == 200 and reply["Content-Type"] == "text/html; charset=utf-8"
    return re.findall(r'<td class="file full">(?:<a [^>]*>)?([^<]*)<', reply.body.decode())


def test_plan_page(site, server):
    page = server.get("/-/plan/")
    assert b"No plan of a prune has been made yet" in page.body
    assert "form-action 'self'" in page["Content-Security-Policy"]
    site.plan()
    assert rows_of(server.get("/-/plan/")) == [SAME, OTHER]  # what it removes comes first
    assert rows_of(server.get("/-/plan/?verdict=")) == [SAME, OURS, OTHER, BROKEN]
    assert rows_of(server.get("/-/plan/?verdict=removed")) == [SAME, OTHER]
    assert rows_of(server.get("/-/plan/?verdict=kept")) == [OURS, BROKEN]
    assert rows_of(server.get("/-/plan/?verdict=superseded&q=FOO-3.0")) == [OTHER]
    assert rows_of(server.get(f"/-/plan/?platform={OPEN}&q=2.0&page=9")) == [OURS]
    assert rows_of(server.get("/-/plan/?q=%22%3E%3Cscript%3E+x")) == []
    page = server.get("/-/plan/?q=%22%3E%3Cscript%3E+x").body.decode()
    assert html.escape('"><script> x') in page and "<script> x" not in page
    assert rows_of(server.get("/-/plan/?q=&verdict=&page=-1")) == [SAME, OURS, OTHER, BROKEN]
    assert server.get("/-/plan/?q=%zz").status == server.get("/-/plan/?verdict=%00").status == 400
    link = re.search(r'href="\.\./(explain/[^"]*)"', server.get("/-/plan/?q=3.0").body.decode())[1]
    assert server.get("/-/" + html.unescape(link)).status == 200
    assert server.get("/-/plan").status == 302


def test_plan_page_keeps_what_is_private(site, server):
    site.plan()
    assert b"secret" not in server.get("/-/plan/").body and CLOSED.encode() not in server.get("/-/plan/").body
    assert server.get(f"/-/plan/?platform={CLOSED}").status in (401, 403)
    token = site.run("token", "add", "--read", "--platform", CLOSED).strip()
    for path in ("/-/plan/?verdict=", f"/-/plan/?verdict=&platform={CLOSED}"):
        reply = server.get(path, authorization(token))
        assert "secret-1.0-py3-none-any.whl" in rows_of(reply) and reply["Cache-Control"].startswith("private, ")
    wrong = server.get("/-/plan/", authorization("wc_" + "x" * 43))
    assert b"secret" not in wrong.body


# --- what pip took ---

PROJECTS = ("markupsafe", "msgpack", "psutil", "netifaces", "zope-interface", "cffi", "protobuf", "six", "q")
SEED, SAMPLE = 7, 60  # of some hundred questions; all of them take a minute


@pytest.fixture(scope="module", name="explained")
def explained_fixture(whole, upstream, tmp_path_factory, serve_module):
    """A server on the recorded store of some projects, with what upstream has of them."""
    folder = tmp_path_factory.mktemp("explained")
    options = [word for project in PROJECTS for word in ("--project", project)]
    at = corpusstore.CorpusStore(whole, folder, upstream().url, *options)
    at.plan()
    return serve_module(config=at.config.read_text(), state=folder)


def questions(whole):
    """{(platform, project, version or ""): {(python, source): file}} of the recorded answers of pip."""
    found = collections.defaultdict(dict)
    sources = {"cache": "here", "upstream": "upstream", "merged": "both"}
    for index, source in sources.items():
        for one in recorded.installs(whole, index):
            name = re.fullmatch(r"([a-z0-9-]+)(?:==(.*))?", one.requirement)
            if name and name[1] in PROJECTS:
                found[one.platform, name[1], name[2] or ""][one.python, source] = one.file
    return found


def is_known_to_differ(platform, project, version):
    """pip was run with --platform, which orders manylinux2010 and manylinux_2_12 in another way than an interpreter."""
    return (platform, project, version) == ("ubuntu-20.04-x86_64", "markupsafe", "2.0.1")


def test_explain_agrees_with_pip(whole, explained):
    asked = questions(whole)
    count = 0
    for key in random.Random(SEED).sample(sorted(asked), SAMPLE):
        reply = explained.get("/-/explain/" + "/".join(part.replace("!", "%21") for part in key if part))
        given = json.loads(reply.body)["environments"] if reply.status == 200 else []
        found = {(one["python"], source): choice["filename"] for one in given
                 for source in ("here", "upstream", "both") if (choice := one.get(source))}
        for place, file in asked[key].items():
            wheel = found.get(place, "-")
            assert is_known_to_differ(*key) or (wheel if wheel.endswith(".whl") else "-") == file, (key, place)
            count += 1
    assert count > SAMPLE
    print(f"{count} answers of pip: explain says the same")


def test_explain_tells_the_owner_of_a_name(tmp_path, serve):
    """The name rule, whether the name is ours, and the effect; by the program and over HTTP."""
    with tinyupstream.running() as upstream:
        for name in ("own", "both", "closed", "local", "theirs", "first"):
            storelib.make_wheel(tmp_path / "store" / OPEN, name, "1.0")
            if name not in ("own", "first"):
                upstream.add(name, f"{name}-2.0-py3-none-any.whl")
        config = f"[store]\npath = {tmp_path / 'store'}\n[upstream]\nurl = {upstream.url}\nmerge = yes\n"
        rules = "private = clos*\nlocal-only = local\nupstream-only = theirs\nshared = first\n[view alone]\nupstream = no\n"
        server = serve(None, "--rescan", "0", config=config, state=tmp_path)
        for name in ("own", "first"):  # upstream does not know them: they are ours
            assert server.get(f"/simple/{name}/").status == 200
        server.stop()
        server = serve(None, "--rescan", "0", config=f"{config}{rules}platforms = {OPEN}\n", state=tmp_path)

        def told(name, view=OPEN):
            done = serving.run("explain", "--json", "--view", view, "--config", server.config_path, "--catalog",
                               server.catalog, name)
            names = json.loads(done.stdout)["names"]
            assert json.loads(server.get(f"/-/explain/{view}/{name}").body)["names"] == names
            assert names["why"] in server.get(f"/-/explain/{view}/{name}?format=text").body.decode()
            return names["rule"], names["ours"], names["files"]
        assert told("own") == ("merge", True, "here")
        assert told("both") == ("merge", False, "both")
        assert told("closed") == ("private", False, "here")
        assert told("local") == ("local-only", False, "here")
        assert told("theirs") == ("upstream-only", False, "upstream")
        assert told("first") == ("shared", True, "both")
        assert told("both", "alone") == ("merge", False, "here")


def test_name_of_ours_that_a_stranger_registered(tmp_path, serve):
    """Since when upstream has it, and how many files; its files are not used."""
    with tinyupstream.running() as upstream:
        ours = storelib.make_wheel(tmp_path / "store" / OPEN, "own", "1.0").name
        config = (f"[store]\npath = {tmp_path / 'store'}\n[platform {OPEN}]\n"
                  f"[upstream]\nurl = {upstream.url}\nmerge = yes\nnegative-max-age = 0\n")
        server = serve(None, "--rescan", "0", config=config, state=tmp_path)
        path = f"/-/explain/{OPEN}/own"
        assert server.get("/simple/own/").status == 200
        assert "taken" not in json.loads(server.get(path).body)["names"]
        server.stop()
        upstream.add("own", "own-9.0-py3-none-any.whl", **{"upload-time": "2026-02-03T04:05:06Z"})
        upstream.add("own", "own-9.1-py3-none-any.whl", **{"upload-time": "2026-03-03T04:05:06Z"})
        server = serve(None, "--rescan", "0", config=config, state=tmp_path)
        assert server.get("/simple/own/").status == 200  # and it is asked for again
        serving.wait_for(lambda: "taken" in json.loads(server.get(path).body)["names"], 120, "upstream's answer")
        reply = json.loads(server.get(path).body)
        names, names["taken"]["fetched"] = reply["names"], "now"
        assert names == {"rule": "merge", "ours": True, "files": "here", "why": names["why"],
                         "taken": {"files": 2, "since": "2026-02-03T04:05:06Z", "fetched": "now"}}
        assert reply["upstream"]["result"] == "private" and "files" not in reply["upstream"]
        assert not any("upstream" in one for one in reply["environments"])
        assert {one["both"]["filename"] for one in reply["environments"]} == {ours}
        done = serving.run("explain", "--view", OPEN, "--config", server.config_path, "--catalog", server.catalog, "own")
        assert done.stdout == server.get(f"{path}?format=text").body.decode()
        assert ("Upstream now has a project of this name, with 2 files, the first of 2026-02-03T04:05:06Z, as of "
                in done.stdout), done.stdout


def test_explain_with_the_options_that_the_server_has(tmp_path, serve):
    """Without a configuration: a store, merged with upstream by options."""
    with tinyupstream.running() as upstream:
        storelib.make_wheel(tmp_path / "store", "both", "1.0")
        upstream.add("both", "both-2.0-py3-none-any.whl")
        store = tmp_path / "store"
        server = serve(store, "--upstream", "--upstream-url", upstream.url)
        assert server.get("/simple/both/").status == 200
        merging.wait_until_noted(server, "both")
        options = ("--store", store, "--catalog", server.catalog)
        done = serving.run("explain", "--json", *options, "--upstream", "--upstream-url", upstream.url, "both")
        told = json.loads(done.stdout)
        assert (told["names"]["files"], told["upstream"]["files"]) == ("both", 1)
        assert told == json.loads(server.get("/-/explain/simple/both").body)
        done = serving.run("explain", *options, "nothing")
        assert done.returncode == 1 and "neither here nor upstream (never asked)" in done.stderr


def test_explain_of_a_name_that_is_private_and_of_nothing(site):
    site.file.write_text(site.config.replace("[upstream]", "[upstream]\nprivate = acme-*"))
    done = serving.run("explain", "--config", site.file, "--catalog", site.catalog, "acme-biling")
    assert done.returncode == 1 and "nothing of acme-biling is here" in done.stderr and "(private)" in done.stderr


def test_each_platform_is_explained_where_there_is_no_default_view(site):
    """By its own index, as its clients get it: no platform has another's wheel, hides one, or is withdrawn with another."""
    own = "foo-6.0-cp311-cp311-linux_x86_64.whl"
    for platform in (OPEN, CLOSED):
        storelib.make_wheel(site.store / platform / "s" / "same", "same", "1.0", files={"where.py": platform.encode()})
    storelib.make_wheel(site.store / CLOSED / "f" / "foo", "foo", "6.0", "cp311-cp311-linux_x86_64")
    site.file.write_text(site.config.replace("[upstream]", "default-view = none\n[upstream]"))
    site.run("index")
    site.plan()
    explained = json.loads(site.run("explain", "--json", "foo"))
    assert explained["each"] and "view" not in explained and explained["platforms"] == [OPEN, CLOSED]
    taken = {(row["platform"], row["python"]): (row["here"] or {}).get("filename") if "here" in row else None
             for row in explained["environments"]}
    assert taken == {(CLOSED, "3.11"): own, (OPEN, "3.10"): OURS, (OPEN, "3.11"): OTHER}
    for platform in (OPEN, CLOSED):
        alone = json.loads(site.run("explain", "--json", "--view", platform, "foo"))
        assert [row for row in explained["environments"] if row["platform"] == platform] == alone["environments"]
    same = json.loads(site.run("explain", "--json", "same"))
    assert [(row["platform"], row["state"]) for row in same["here"]] == [(OPEN, "listed"), (CLOSED, "listed")]
    assert "hidden-by" not in str(same)
    text = site.run("explain", "same")
    assert text.startswith(f"same in the index of each platform: {OPEN} {CLOSED}\n") and "Here:\n" in text
    site.file.write_text(site.file.read_text().replace("clients-have-upstream = yes", f"clients-have-upstream = {OPEN}"))
    (site.store / CLOSED / "f" / "foo" / ".status").write_text('{"status": "quarantined", "reason": "stolen"}')
    site.run("index")
    rows = json.loads(site.run("explain", "--json", "foo"))["environments"]
    assert [row.get("client", {}).get("from") for row in rows] == ["here", "upstream", None]
    assert "same" in serving.run("explain", "samee", "--config", site.file, "--catalog", site.catalog).stderr


def test_last_attempts_to_build_are_told(site):
    """Of the view's platforms, the newest that ended for each Python and version; and since when it fails."""
    assert "builds" not in site.explain("foo")
    made = attempts.Attempts(site.catalog.with_name(site.catalog.name + ".builds"))
    made.add("foo", "failed", platform=OPEN, python="3.10", ago=9000)
    made.add("foo", "ok", platform=OPEN, python="3.10", ago=8000)
    made.add("foo", "failed", platform=OPEN, python="3.10", ago=7000)
    key = made.add("foo", "timed-out", platform=OPEN, python="3.10", ago=600, why="no end\x1b[0m after 4h", step="test")
    made.add("foo", "running", platform=OPEN, python="3.10", ago=60)
    made.add("foo", "ok", platform=OPEN, python="3.11", version="2.0", ago=500)
    made.add("foo", "failed", platform=CLOSED, python="3.11")
    made.add("other", "failed", platform=OPEN, python="3.11")
    newest, good = site.explain("foo")["builds"]
    assert newest["since"] < newest.pop("begun") and newest.pop("since")
    assert newest == {"platform": OPEN, "python": "3.10", "version": "1.0", "result": "timed-out", "step": "test",
                      "why": "no end\x1b[0m after 4h", "id": key, "running": True, "failures": 2}
    assert (good["result"], good["version"], good["running"]) == ("ok", "2.0", False) and "failures" not in good
    assert [one["version"] for one in site.explain("foo", "2.0")["builds"]] == ["2.0"]
    assert [one["python"] for one in site.explain("other")["builds"]] == ["3.11"]  # nothing else is known of it
    text = site.run("explain", "--view", OPEN, "foo", "1.0")
    assert f"{OPEN}, Python 3.10: 1.0 timed-out (test) at 20" in text and ", 2 times since 20" in text
    assert "no end?[0m after 4h" in text and f"--log {key[:10]}" in text and "another attempt is running" in text


def test_damaged_results_hide_nothing_else(site):
    site.catalog.with_name(site.catalog.name + ".builds").write_bytes(b"no database" * 1000)
    found = site.explain("foo")
    assert found["here"] and "builds" not in found


def test_server_tells_the_last_attempts(site, serve):
    made = attempts.Attempts(site.catalog.with_name(site.catalog.name + ".builds"))
    made.add("foo", "failed", platform=OPEN, why="<b>gcc")
    made.add("foo", "failed", platform=CLOSED, why="secret")
    server = serve(config=site.config, state=site.catalog.parent)
    answer = json.loads(server.get(f"/-/explain/{OPEN}/foo").body)
    assert [one["why"] for one in answer["builds"]] == ["<b>gcc"]
    assert "secret" not in json.dumps(answer)
    assert "<b>gcc" in server.get(f"/-/explain/{OPEN}/foo?format=text").body.decode()
