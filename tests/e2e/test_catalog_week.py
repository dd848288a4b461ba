# SPDX-License-Identifier: Apache-2.0
"""Whoever deletes the catalog loses nothing: a week of commands says the same with all that SQLite has deleted between any two."""
import json
import re
import time

import building
import serving
import storelib
import tinyupstream
from uploading import form_of, post

JAMMY, BOOKWORM = "ubuntu-22.04-x86_64", "debian-12-x86_64"
DAY = 86400
SQLITE = re.compile(r"catalog\.db(\.builds)?(-wal|-shm|-changes)?")
# What differs between any two runs: secrets, times, ids, paths, durations, the summary of a scan. What is derived: answers
# of upstream, which is asked again, and the last plan, which is made again.
CHANGING = [(re.compile(pattern), word) for pattern, word in (
    (r"wc_[\w-]{43}", "SECRET"), (r"20\d\d-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?Z?", "TIME"), (r"\b20\d{6}T\d{6}Z-[0-9a-f]+\b", "RUN"),
    (r"\b[0-9a-f]{8,64}\b", "ID"), (r"\d+(\.\d+)?( ?ms|s)\b", "SPAN"), (r"/\S*/(first|second)\b", "AT"),
    (r'"(seconds|peak_memory)": [\d.]+', "MEASURED"), (r"127\.0\.0\.1:\d+", "HOST"), (r"(?m)^Upstream http.*\n", ""),
    (r"(?m)^ +(from (upstream|both) |the last plan: ).*\n", ""), (r"(?m)^ .* (added|unchanged|looked inside|hashed in .*)\n", ""))]


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
        """A wheel that somebody copies, so many days old."""
        return storelib.make_wheel(self.folder / "store" / platform / project, project, version, mtime=int(time.time()) - days * DAY)

    def serve(self, work):
        """Has a server do it, and lists the pages that it shows."""
        self.lose()
        server = serving.Server(None, self.catalog.parent, options=("--config", str(self.config)))
        try:
            serving.wait_for(lambda: server.get("/-/ready").status == 200, 60, "the first scan")
            self.said.append(("served", work(server)))
        finally:
            server.stop()


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
