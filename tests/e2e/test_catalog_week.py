# SPDX-License-Identifier: Apache-2.0
"""Whoever deletes the catalog loses nothing: a week of commands says the same with all that SQLite has deleted between any two."""
import contextlib
import json
import re
import shutil
import sqlite3
import time

import pytest

import building
import indexing
import serving
import storelib
import tinyupstream
from uploading import add_token, form_of, post

JAMMY, BOOKWORM = "ubuntu-22.04-x86_64", "debian-12-x86_64"
DAY = 86400
SQLITE = re.compile(r"catalog\.db(\.builds)?(-wal|-shm|-changes)?")
# What differs between any two runs: secrets, times, ids, paths, durations, the summary of a scan. What is derived: answers
# of upstream, which is asked again, and the last plan, which is made again.
CHANGING = [(re.compile(pattern), word) for pattern, word in (
    (r"wc_[\w-]{43}", "SECRET"), (r"20\d\d-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?Z?", "TIME"), (r"\b20\d{6}T\d{6}Z-[0-9a-f]+\b", "RUN"),
    (r"\b[0-9a-f]{8,64}\b", "ID"), (r"\d+(\.\d+)?( ?ms|s)\b", "SPAN"), (r"/\S*/(first|second)\b", "AT"),
    (r'"(seconds|peak_memory)": [\d.]+', "MEASURED"), (r"127\.0\.0\.1:\d+", "HOST"), (r"(?m)^Upstream (http|now).*\n", ""),
    (r"(?m)^ +(from (upstream|both) |the last plan: ).*\n", ""), (r"(?m)^ .* (added|unchanged|looked inside|hashed in .*)\n", ""))]


def hours_pass(catalog):
    """All that came, and all answers of upstream, are an hour older; the next transaction writes the records again."""
    with contextlib.closing(sqlite3.connect(catalog)) as connection, connection:
        for table, columns in ("project", ["arrived"]), ("came", ["arrived"]), ("upstream", ["asked", "fetched", "certain", "had_since"]):
            connection.execute(f"UPDATE {table} SET " + ", ".join(f"{column} = {column} - 3600" for column in columns))
        connection.execute("UPDATE came SET saved = 0")
        for name, number in connection.execute("SELECT name, substr(name, instr(name, ' ') + 1) FROM came WHERE instr(name, ' ')").fetchall():
            connection.execute("UPDATE came SET name = ? WHERE name = ?", (name.replace(number, str(int(number) - 3600)), name))


class Week:
    """A site in a folder, and what its commands say. loses: the databases are deleted before each of them."""

    def __init__(self, folder, upstream, loses):
        self.folder, self.loses, self.said = folder, loses, []
        self.catalog, self.config = folder / "state" / "catalog.db", folder / "site.conf"
        folder.mkdir()
        (folder / "list").write_text("other because it is wanted\n")
        self.config.write_text(
            f"[store]\npath = {folder}/store\n[catalog]\npath = {self.catalog}\n[upstream]\nurl = {upstream.url}\n"
            f"merge = yes\nretries = 0\nmax-age = 0\n[prune]\npackages = {folder}/list\nmin-age = 0\nupstream-min-age = 0\n"
            f"max-files = 90%\nmax-bytes = 90%\nclients-have-upstream = yes\n[platform {JAMMY}]\npythons = 3.10\n"
            f"[platform {BOOKWORM}]\npythons = 3.11\n[view staging]\nplatforms = {JAMMY}\nkeep-versions = 1\nkeep-days = 30\n"
            f"[view tested]\nfrom = staging\n")
        for platform in JAMMY, BOOKWORM:
            (folder / "store" / platform).mkdir(parents=True)

    def lose(self):
        if not self.loses or not self.catalog.parent.exists():
            return
        for path in self.catalog.parent.iterdir():
            if SQLITE.fullmatch(path.name):
                path.unlink()
        done = serving.run("index", "--quiet", "--config", self.config)
        assert done.returncode == 0, done.stderr

    def run(self, *words, code=0):
        self.lose()
        done = serving.run(*words[:1 + (words[0] in ("prune", "view", "platform", "token"))], "--config", self.config,
                           *words[1 + (words[0] in ("prune", "view", "platform", "token")):])
        assert done.returncode == code, (words, done.stdout + done.stderr)
        self.said.append((words[:2], self.plain(done.stdout)))
        return done.stdout

    def plain(self, text):
        for pattern, word in CHANGING:
            text = pattern.sub(word, text)
        return text

    def wheel(self, version, project="six", platform=JAMMY, days=0):
        """A wheel that somebody copies, so many days old. A scan sees it before the catalog is lost: nothing else knows when it came."""
        wheel = storelib.make_wheel(self.folder / "store" / platform / project, project, version, mtime=int(time.time()) - days * DAY)
        if self.catalog.exists():
            serving.run("index", "--quiet", "--config", self.config)
        return wheel

    def serve(self, work):
        """Has a server do it, and lists the pages that it shows."""
        self.lose()
        server = serving.Server(None, self.catalog.parent, options=("--config", str(self.config)))
        try:
            serving.wait_for(lambda: server.get("/-/ready").status == 200, 60, "the first scan")
            self.said.append(("served", work(server)))
        finally:
            server.stop()


def week_of_a_store(week, upstream):
    for age, version in enumerate(["1.3", "1.2", "1.1", "1.0"]):
        wheel = week.wheel(version, days=100 + age)
        upstream.add("six", wheel.name, sha256=wheel.sha256)
    week.wheel("1.0", "late")
    week.run("index")
    token = week.run("token", "add", "--note", "ci").strip()
    week.run("token", "list")
    time.sleep(1.1)
    upstream.add("late", "late-9.0-py3-none-any.whl", upload_time=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()))
    time.sleep(1.1)

    def upload(server):
        path = storelib.make_wheel(week.folder, "ours", "1.0").path
        return [post(server, f"/upload/{JAMMY}/", form_of(path), token=token).status, server.get(f"/files/{JAMMY}/o/ours/{path.name}").status,
                server.get(f"/files/{JAMMY}/six/six-1.0-py3-none-any.whl").status]

    def first_page_of_both(server):
        """When our file comes, the index says by its answer alone that it has the project too: it tells no times."""
        return server.get("/simple/both/").body

    upstream.add("both", "both-9.0-py3-none-any.whl")
    del upstream.pages["both"]["both-9.0-py3-none-any.whl"]["upload-time"]
    week.serve(upload)
    week.wheel("1.0", "both")
    week.serve(first_page_of_both)
    hours_pass(week.catalog)
    week.wheel("1.0", "next")
    week.wheel("1.9", days=90)  # as cp -p: it comes today
    week.wheel("2.0")
    week.run("index")
    week.run("freeze", "--reason", "upgrade", JAMMY)
    week.run("yank", "six==1.0", "--reason", "bad", code=1)
    week.run("thaw", JAMMY)
    week.run("yank", "six==1.0", "--reason", "bad")
    week.run("promote", "--to", "tested", "six==1.9")
    week.run("view", "log", "tested")
    week.run("view", "show", "tested")
    week.run("retain", "--dry-run")
    week.run("prune", "plan", "--quiet", "--output", week.folder / "plan.json")
    week.run("prune", "apply", week.folder / "plan.json")
    week.run("explain", "six")
    week.run("prune", "restore", "six-1.1-py3-none-any.whl")
    week.serve(lambda server: [one for path in PAGES for one in (server.get(path).status, server.get(path).body)])
    for words in ["explain", "late"], ["explain", "ours"], ["explain", "six"], ["usage", "--by", "project"], ["log"], ["retain", "--dry-run"]:
        week.run(*words)
    week.run("retain")
    week.run("remove", "late-1.0-py3-none-any.whl", "--reason", "old")
    week.run("prune", "purge", "--grace", "0")
    week.run("platform", "retire", "--reason", "no machines", BOOKWORM)
    week.run("token", "revoke", re.search(r"\b[0-9a-f]{8}\b", serving.run("token", "list", "--config", week.config).stdout).group())
    week.serve(upload)
    for words in ["token", "list"], ["log"], ["explain", "six"], ["usage", "--by", "project"], ["check", "--all"]:
        week.run(*words)
    week.lose()
    names = week.catalog.with_name("catalog.db.ours").read_text().split()[::2]
    assert "late" in names and "both" not in names
    week.said.append(("ours", sorted(names)))
    with contextlib.closing(sqlite3.connect(week.catalog)) as connection:
        week.said.append(("told", connection.execute("SELECT view, ended, ending, stale, doubt FROM retained").fetchall()))
    assert week.said[-1][1]


def week_of_builds(folder, index, loses):
    """What the commands say."""
    folder.mkdir()
    world = building.World(folder, index)
    world.want("alpha")
    world.want("beta", fails=["3.11"])
    world.want("gamma")
    world.write()
    week = Week.__new__(Week)
    week.folder, week.loses, week.said = folder, loses, []
    week.catalog, week.config = world.catalog, world.config_path

    def build(*words, code=0):
        week.lose()
        week.said.append(("build", sorted((row["project"], row["python"], row["state"], week.plain(row["why"])) for row in
                                          world.build("--python", "3.11", *words, code=code)["rows"])))

    build("--only", "alpha")
    build("--only", "beta", code=1)
    index.is_file_host_away = True
    build("--only", "gamma")
    index.is_file_host_away = False
    build("--only", "beta", "--retry", "failed", code=1)
    listed = json.loads(week.run("builds", "--json"))["attempts"]
    assert len(listed) >= 4
    for attempt in listed:
        if attempt["has_log"]:
            week.run("builds", "--log", attempt["id"])
    week.run("builds", "--failed")
    week.run("missing", "--platform", BOOKWORM)
    week.run("explain", "beta")
    build()
    for words in ["builds"], ["builds", "--failed"], ["log"]:
        week.run(*words)
    week.serve(lambda server: [line for line in server.get("/-/metrics").body.decode().splitlines() if "build" in line and "seconds" not in line])
    return week.said


def test_week_of_builds(tmp_path):
    index = building.Index()
    said = [week_of_builds(tmp_path / name, index, loses) for name, loses in (("first", False), ("second", True))]
    index.stop()
    assert [(words, before, after) for (words, before), (_, after) in zip(*said, strict=True) if before != after] == []


PAGES = ["/simple/both/", "/staging/simple/six/", "/tested/simple/six/", f"/{JAMMY}/simple/", "/simple/ours/", "/simple/late/", f"/{JAMMY}/simple/six/"]


def test_week_of_a_store(tmp_path):
    said = []
    for name, loses in ("first", False), ("second", True):
        with_upstream = tinyupstream.Upstream()
        week = Week(tmp_path / name, with_upstream, loses)
        week_of_a_store(week, with_upstream)
        with_upstream.stop()
        said.append(week.said)
    lost = [(words, before, after) for (words, before), (_, after) in zip(*said, strict=True) if before != after]
    assert lost == []


def lose_under(server):
    """Deletes the catalog of a server that runs."""
    for path in server.catalog.parent.iterdir():
        if SQLITE.fullmatch(path.name):
            path.unlink()


def day_of_a_running_server(folder, loses):
    """What pages, commands and the state say in the end. loses: its catalog is deleted before each request and command."""
    (folder / "store" / BOOKWORM).mkdir(parents=True)
    (folder / "state").mkdir()
    storelib.make_wheel(folder / "store" / BOOKWORM / "six", "six", "1.0", mtime=int(time.time()) - 100 * DAY)
    config = folder / "site.conf"
    config.write_text(f"[store]\npath = {folder}/store\n[catalog]\npath = {folder}/state/catalog.db\n")
    server = serving.Server(None, folder / "state", options=("--config", str(config)))
    token = add_token(server, "--note", "ci")

    def run(*words):
        return serving.run(*words, "--config", config)

    def step(do):
        if loses:
            lose_under(server)
        return do()

    def ask(request):
        """Until it is answered: a server whose catalog is made again may say 503, and never that something is not there."""
        def is_answered():
            answer = request()
            assert answer.status in (200, 503), (answer.status, answer.body[:200])
            return answer.status == 200 and answer
        return step(lambda: serving.wait_for(is_answered, 30, "the answer"))

    def upload(project):
        path = storelib.make_wheel(folder, project, "1.0").path
        ask(lambda: post(server, f"/upload/{BOOKWORM}/", form_of(path), token=token))
        ask(lambda: server.get(f"/files/{BOOKWORM}/{project}/{path.name}"))

    def command(*words):
        """Again while the server makes the catalog anew."""
        def is_done():
            said.append(run(*words))
            return said[-1].returncode == 0
        said = []
        step(lambda: serving.wait_for(is_done, 30, words))

    def is_listed(name):
        page = server.get("/simple/copied/")
        return page.status == 200 and name in page.body

    try:
        serving.wait_for(lambda: server.get("/-/ready").status == 200, 60, "the first scan")
        for number in range(4):
            upload(f"ours{number}")
        command("freeze", "--reason", "upgrade", BOOKWORM)
        command("thaw", BOOKWORM)
        step(lambda: storelib.make_wheel(folder / "store" / BOOKWORM / "copied", "copied", "1.0", mtime=int(time.time())))
        serving.wait_for(lambda: is_listed(b"copied-1.0"), 60, "what was copied")
        command("yank", "ours1==1.0", "--reason", "bad")
        for project in "six", "ours0", "ours3":
            ask(lambda project=project: server.get(f"/simple/{project}/"))
        serving.wait_for(lambda: b"ours3" in server.get("/simple/").body, 60, "all projects")
        pages = [ask(lambda path=path: server.get(path)).body for path in
                 ["/simple/", "/simple/six/", "/simple/copied/", *(f"/simple/ours{number}/" for number in range(4))]]
    finally:
        server.stop()
    week = Week.__new__(Week)
    assert run("index", "--quiet").returncode == 0
    did = [line for line in week.plain(run("log").stdout).splitlines() if "failed" not in line and "refused" not in line]
    return [pages, did, *(week.plain(run(*words).stdout) for words in
                     (["usage", "--by", "project"], ["explain", "ours1"], ["token", "list"], ["check", "--all"]))]


def test_catalog_that_is_deleted_while_a_server_runs(tmp_path):
    kept, lost = (day_of_a_running_server(tmp_path / name, loses) for name, loses in (("first", False), ("second", True)))
    assert [(before, after) for before, after in zip(kept, lost, strict=True) if before != after] == []


ARRIVALS = "SELECT filename, arrived FROM file UNION SELECT name, arrived FROM project ORDER BY 1"


@pytest.mark.parametrize("is_gone", [False, True], ids=["there", "gone"])
@pytest.mark.parametrize("loses", [False, True], ids=["kept", "lost"])
def test_project_that_upstream_had_first(tmp_path, serve, loses, is_gone):
    """An index without upload times is asked when our file comes, and an hour later. It stays merged, and its end makes no name ours."""
    with tinyupstream.running() as upstream:
        config = f"[upstream]\nurl = {upstream.url}\nmerge = yes\nretries = 0\nmax-age = 0\nnegative-max-age = 0\ntrust-404 = yes\n"
        at = indexing.Indexed(tmp_path)
        at.wheel(BOOKWORM, name="first")
        at.index()
        upstream.add("both", "both-9.0-py3-none-any.whl")
        del upstream.pages["both"]["both-9.0-py3-none-any.whl"]["upload-time"]
        at.wheel(BOOKWORM, name="both")
        at.index()

        def page():
            server = serve(at.store, state=at.catalog.parent, config=config)
            body = server.get("/simple/both/").body
            server.stop()
            return body
        assert b"both-9.0" in page()
        hours_pass(at.catalog)
        at.wheel(BOOKWORM, name="other")
        at.index()
        if loses:
            at.catalog.unlink()
        if is_gone:
            del upstream.pages["both"]
        body = page()
        assert (is_gone or b"both-9.0" in body) and b"both-1.0" in body
        ours = at.catalog.with_name("catalog.db.ours")
        assert not ours.exists() or "both" not in ours.read_text()


def test_a_thousand_records_become_one(tmp_path):
    at = indexing.Indexed(tmp_path)
    records = at.catalog.with_name("catalog.db.arrivals")
    for count, version in enumerate(["1.0", "1.1", "1.2", "1.3"], 1):
        at.wheel(BOOKWORM, version=version)
        at.index()
        assert len(list(records.iterdir())) == (count if count < 4 else 1)
        if count == 3:
            with contextlib.closing(sqlite3.connect(at.catalog)) as connection, connection:
                connection.execute("UPDATE store SET came = 999")
    came = at.query(ARRIVALS)
    assert [arrived > 0 for _, arrived in came] == [True, False, True, True, True]  # the first file was there before
    time.sleep(1.1)
    at.catalog.unlink()
    at.index()
    assert at.query(ARRIVALS) == came


def test_what_was_told_and_has_no_room_is_said(tmp_path):
    at = indexing.Indexed(tmp_path)
    at.wheel(BOOKWORM)
    at.index()
    with contextlib.closing(sqlite3.connect(at.catalog)) as connection, connection:
        connection.executemany("INSERT INTO lost VALUES ('v', ?, ?, ?, 1)", ((BOOKWORM, f"a-{i}.whl", bytes(32)) for i in range(10001)))
        connection.execute("UPDATE store SET told = 0")
    at.wheel(BOOKWORM, version="2.0")
    assert "more than 10000 things" in at.run().stderr
    assert len(json.loads((at.catalog.with_name("catalog.db.arrivals") / "told").read_text())["lost"]) == 10000


def test_records_that_are_gone_are_written_by_the_next_scan(tmp_path):
    """As those that a crash kept from being written."""
    at = indexing.Indexed(tmp_path)
    for version in "1.0", "1.1", "1.2":
        at.wheel(BOOKWORM, version=version)
        at.index()
    came, records = at.query(ARRIVALS), at.catalog.with_name("catalog.db.arrivals")
    sorted(records.iterdir())[1].unlink()
    at.index()
    assert len(list(records.iterdir())) == 3
    shutil.rmtree(records)
    at.index()
    time.sleep(1.1)
    at.catalog.unlink()
    at.index()
    assert at.query(ARRIVALS) == came


def test_catalog_of_an_older_wheelcache_keeps_its_arrivals(tmp_path):
    at = indexing.Indexed(tmp_path)
    for version in "1.0", "1.1":
        at.wheel(BOOKWORM, version=version)
        at.index()
    came = at.query(ARRIVALS)
    shutil.rmtree(at.catalog.with_name("catalog.db.arrivals"))
    with contextlib.closing(sqlite3.connect(at.catalog)) as connection, connection:
        connection.execute("UPDATE came SET saved = 0")  # as the step of the schema leaves them
        connection.execute("UPDATE store SET came = -1")
    at.wheel(BOOKWORM, name="other")
    at.index()
    time.sleep(1.1)
    at.catalog.unlink()
    at.index()
    assert [row for row in at.query(ARRIVALS) if not row[0].startswith("other")] == came
