# SPDX-License-Identifier: Apache-2.0
"""In random worlds, at each instant, each way to a file offers what the slow reference of offerworlds.py says: pages (HTML, JSON,
of a view, of one with a membership, of one at a time), the URL of a file that is cached or not, HEAD, Range, `.metadata`, a
redirect, the list of projects, explain, the static export. Two servers of one state take turns at random."""
import hashlib
import json
import signal
import time

import faults
import merging
import pages
import serving
from offerworlds import MARGIN, PLATFORM, PROJECTS, STEP, VERSIONS, World, text_of
from test_blocked import Lists

SEEDS, MORE, STEPS = range(1, 4), range(100, 300), 8
SOON = 30
EFFECT_S = 2  # a second, and what a busy machine takes


def pytest_generate_tests(metafunc):
    metafunc.parametrize("seed", [*SEEDS, *MORE] if metafunc.config.getoption("--nightly") else SEEDS)


class Play:
    """A world, two servers of it, and what they were asked last."""

    def __init__(self, seed, folder, start, serve, set_clock):
        self.base = int(time.time())
        self.world = world = World(seed, folder, start, self.base)
        self.random, self.set_clock, self.serve, self.state = world.random, set_clock, serve, folder / "state"
        for name, one in world.upstream.items():
            one.lists = Lists(folder / f"records-{name}")
            one.lists.put("MAL-2026-9", "other", {"versions": ["1.0"]})
        world.write_lists()
        self.set_at = self.base
        self.put, self.log, self.seen, self.asks, self.counts = {}, [], {}, None, {"offered": 0, "hidden": 0, "304": 0}
        self.servers, self.connections = map(list, zip(self._start(), self._start()))

    def _start(self):
        server = self.serve(None, "--rescan", "0", config=self.world.config(), state=self.state)
        return server, server.connect()

    def get(self, path, headers=None, method="GET"):
        return serving.ask(self.random.choice(self.connections), path, headers, method)

    def did(self, *words, codes=(0,)):
        done = serving.run(*words, "--config", self.servers[0].config_path, "--catalog", self.servers[0].catalog)
        assert done.returncode in codes, done.stdout + done.stderr
        return done.stdout

    # --- what happens ---

    def pass_time(self, hours=0):
        """To shortly before or after a moment; hours: a step that is doubted."""
        world = self.world
        if hours:
            wall = world.wall + hours * 3600
        else:
            first = (world.wall - self.base) // STEP
            targets = [self.base + (first + n) * STEP + margin for n in range(-1, 4) for margin in (-MARGIN, MARGIN)]
            wall = self.random.choice([one for one in targets if abs(one - world.wall) < 3500 and (one > world.wall or world.chance(0.2))])
        self.set_at = time.time()
        self.set_clock(str(wall - int(self.set_at)))
        world.set_wall(wall)

    def happen(self):
        world, chance = self.world, self.random
        project, upstream = chance.choice(PROJECTS), chance.choice([None, *world.upstream])
        some = chance.choice(list(world.upstream.values()))
        of = ["--upstream", upstream] if upstream else []
        kind = chance.choice(["time"] * 4 + ["hold", "waive", "waive", "end", "deny", "allow", "record", "withdraw", "status",
                                             "reload", "restart", "jump", "upstream", "upstream", "ours"])
        if world.is_doubted and chance.random() < 0.5:
            kind = "settle"
        if kind == "time":
            self.pass_time()
        elif kind == "jump":
            self.pass_time(hours=chance.choice((-9, 5, 17)))
        elif kind == "settle":
            serving.wait_for((self.state / "catalog.db.offers" / "clock-doubt").exists, SOON, "the doubt in the state")
            time.sleep(1)  # until the other server has written its doubt too
            self.did("doctor", "--clock-is-right", codes=(0, 1))
            world.settle()
        elif kind == "hold":
            after = world.moment(-9, 0, world.now)
            world.holds[self.did("hold", "--after", text_of(after), "--reason", "a worm", *of).split(":")[0]] = (after, upstream)
        elif kind == "waive":
            version, record = chance.choice((None, "1", "1.1", "2.0")), chance.choice((None, None, "MAL-2026-1", "MAL-2026-2"))
            until = world.moment(1, 6, max(world.now, world.wall))
            subject = project + (f"=={version}" if version else "")
            of += ["--record", record] if record else []
            said = self.did("waive", subject, "--until", text_of(until), "--reason", "a fix", *of)
            world.waivers[said.split(":")[0]] = {"subject": subject, "project": project, "version": version, "upstream": upstream,
                                                 "record": record, "until": until}
        elif kind == "end" and world.holds:
            name = chance.choice(list(world.holds))
            self.did("hold", "--end", name)
            del world.holds[name]
        elif kind == "end" and world.waivers:
            one = chance.choice(list(world.waivers.values()))
            self.did("waive", one["subject"], "--end")  # of each upstream
            world.waivers = {name: other for name, other in world.waivers.items() if other["subject"] != one["subject"]}
        elif kind in ("deny", "allow"):
            lines = chance.choice((world.denied, some.deny)) if kind == "deny" else some.allow
            world.change_lines(lines, project)
            world.write_lists()
        elif kind == "record":
            name, *rest = world.random_record()
            some.records[name] = rest
        elif kind == "withdraw" and some.records:
            one = some.records[chance.choice(sorted(some.records))]
            one[2] = one[2] | {"withdrawn": "2026-01-03T00:00:00Z"}
        elif kind == "status" and any(of_project == project for of_project, _ in world.ours):
            world.withdrawn ^= {project}
            self.did("status", project, "quarantined" if project in world.withdrawn else "active", "--reason", "stolen")
        elif kind == "reload":
            world.choose_keys(some)
            self.servers[0].config_path.write_text(world.config())  # which both read
            for one in self.servers:
                one.signal(signal.SIGHUP)
        elif kind == "restart":
            i = chance.randrange(2)
            self.connections[i].close()
            self.servers[i].stop()
            self.servers[i], self.connections[i] = self._start()
        elif kind == "upstream" and not world.max_age and world.files:
            kind, f = world.change_upstream()
            if any(f.upstream == of.upstream for view in world.views for of in world.decides(view, f.project).values()):
                self.asks = world.upstream[f.upstream].index, f.project, world.upstream[f.upstream].index.count(f.project)
        elif kind == "ours" and (project, "2.0") not in world.ours:
            world.add_ours(project, "2.0")
            self.did("index", "--quiet")
        self.put_records()
        self.log.append(kind)

    def put_records(self):
        for one in self.world.upstream.values():
            for name, (project, affected, more) in one.records.items():
                if self.put.get((one.lists, name)) != (project, affected, more):
                    one.lists.put(name, project, affected, **more)
                    self.put[one.lists, name] = (project, affected, more)

    # --- what must be ---

    def differs(self, what, is_so, should):
        return [] if is_so == should else [f"{what}: {is_so}, not {should}"]

    def list_of(self, connection, view, project, accept):
        """The files of a page by name, as (path, SHA-256). It is asked with the ETag of another instant."""
        path = f"/{view}/simple/{project}/"
        tag, had = self.seen.get((path, accept), ("", None))
        began = time.time()
        reply = serving.ask(connection, path, {"Accept": accept} | ({"If-None-Match": tag} if tag else {}))
        if reply.status not in (200, 304):
            return None if reply.status == 404 else reply
        age = reply["Cache-Control"].partition("max-age=")[2].split(",")[0]  # none: it is not to be kept
        self.until = began - self.set_at + self.world.wall + int(age or 0)
        if reply.status == 304:
            self.counts["304"] += 1
            return had
        read = pages.json_files if accept == pages.JSON else pages.html_files
        found = {one.filename: (one.url.removeprefix("http://x"), one.sha256) for one in read(reply.body, f"http://x{path}")}
        self.seen[path, accept] = reply["ETag"], found
        return found

    def differing_pages(self):
        found = []
        for view in self.world.views:
            for project in PROJECTS:
                wanted = {name: (path, wheel.sha256) for name, (path, wheel) in self.world.page(view, project).items()}
                following = None if self.world.is_doubted else self.world.next_change(view, project)
                forms = self.random.sample((pages.JSON, pages.HTML), 2)
                for connection, accept in zip(self.connections, forms):
                    listed = self.list_of(connection, view, project, accept)
                    if listed is None and not wanted and not self.world.is_known(view, project):
                        listed = {}
                    found += self.differs(f"{view} {project} {accept[-9:]}", listed, wanted)
                    if following and self.until > following + 1:
                        found.append(f"{view} {project}: may be kept for {self.until - following} seconds too long")
        return found

    def statuses(self, path):
        replies = [self.get(path), self.get(path, method="HEAD"), self.get(path, {"Range": "bytes=0-9"}),
                   self.get(path, {"If-None-Match": f'"{"0" * 64}"'}), self.get(f"{path}.metadata"),
                   self.get(f"{path}.metadata", method="HEAD")]
        return {one.status for one in replies}, replies[0]

    def differing_file(self, f):
        """Of a file of an upstream, by its URL."""
        world, path = self.world, f"/files/upstream/{f.upstream}/{f.project}/{f.name}"
        views = [view for view in world.views if view != world.past and f.upstream in world.views[view][0]]
        decided = [world.decides(view, f.project).get(f.name) for view in views]
        hides = world.hides(f)
        found, reply = self.statuses(path)
        if f.project in world.withdrawn and views:
            return self.differs(path, found, {403})
        if f not in decided:  # no page has it: then nothing sends what its rules hide
            return [f"{path}: {found} in spite of {hides}"] if {"deny", "block"} & set(hides) and found & {200, 206, 302} else []
        if not hides:
            self.counts["offered"] += 1
            if world.upstream[f.upstream].is_redirect:
                return self.differs(path, (found, (reply["Location"] or "").split("/")[-1]), ({302}, f.name))
            return self.differs(path, (found, hashlib.sha256(reply.body).hexdigest()), ({200, 206}, f.wheel.sha256))
        self.counts["hidden"] += 1
        wrong = self.differs(path, (found, reply["Location"], reply["Cache-Control"]), ({403}, None, "no-store"))
        if not wrong:
            said, until = json.loads(reply.body), world.until(f)
            wrong = self.differs(path, said["title"], hides[0])
            if hides[0] == "cooldown" and f.time and until:
                wrong += self.differs(path, f"cooling until {text_of(until)} (upstream {f.upstream}" in said["detail"], True)
        return wrong

    def differing_rest(self):
        """Files of ours, the lists of projects, and what explain says."""
        world, found = self.world, []
        for (project, version), wheel in world.ours.items():
            path = f"/files/{PLATFORM}/{project}/{wheel.name}"
            is_hidden = project in world.withdrawn or world.denies(world.denied, project, version)
            found += self.differs(path, self.statuses(path)[0], {403} if is_hidden else {200, 206})
        for view, (some, _) in world.views.items():
            listed = set(pages.json_projects(self.get(f"/{view}/simple/", {"Accept": pages.JSON}).body))
            for project in PROJECTS:
                is_ours = any(world.is_ours(view, project, version) for version in VERSIONS)
                if (is_ours or world.page(view, project)) and project not in listed:
                    found.append(f"{view}: {project} is not on the list")
                if not is_ours and project in listed and all(world.is_blocked(name, project) for name in some):
                    found.append(f"{view}: {project} is on the list")
                hidden = {name: world.hides(f) for name, f in world.decides(view, project).items() if world.hides(f)}
                reply = self.get(f"/-/explain/{view}/{project}?format=json")
                told = json.loads(reply.body).get("upstream", {}).get("hidden", []) if reply.status == 200 else []
                told = {one["filename"]: [rule["rule"] for rule in one["rules"]] for one in told}
                found += self.differs(f"explain {view} {project}", told, hidden)
        return found

    def differing_files(self):
        return [one for f in self.world.files for one in self.differing_file(f)]

    def agree(self):
        """The pages first: they may need an answer of an upstream, which comes into the catalog later. The files have a second."""
        def wait(differing, seconds):
            """Until a look differs in nothing; one that began after so many seconds must not differ."""
            end, begun = time.monotonic() + seconds, time.monotonic()
            while found := differing():
                assert begun < end, "\n".join([*map(str, self.log), *found, *self.world.describe()])
                time.sleep(0.05)
                begun = time.monotonic()
        self.world.look()
        wait(self.differing_pages, SOON)
        if self.asks:  # a change that pages do not show
            index, project, before = self.asks
            self.asks = None
            serving.wait_for(lambda: self.differing_pages() or index.count(project) > before, SOON, "upstream is asked again")
            wait(self.differing_files, SOON)
        wait(self.differing_files, EFFECT_S)
        wait(self.differing_rest, SOON)

    def check_static(self, tree):
        """The export merges nothing; it has the statuses and the denied files of the server."""
        self.did("index", "--quiet", "--static", tree)
        for view in self.world.views:
            for project in PROJECTS:
                path, wanted = tree / view / "simple" / project / "index.json", set(self.world.page_of_ours(view, project))
                listed = {one["filename"] for one in json.loads(path.read_text())["files"]} if path.exists() else set()
                assert view == self.world.past or listed == wanted, (view, project, listed, wanted)
        sent = {one.name for one in (tree / "files").rglob("*.whl")} - {"other-1.0-py3-none-any.whl"}
        assert sent == {name for project in PROJECTS for name in self.world.page_of_ours("v0", project)}


def test_each_way_offers_what_the_reference_says(seed, serve, tmp_path, monkeypatch):
    set_clock = faults.preload("wall", tmp_path, monkeypatch)
    with merging.indexes() as start:
        play = Play(seed, tmp_path, start, serve, set_clock)
        play.agree()
        for _ in range(STEPS):
            play.happen()
            play.agree()
        play.check_static(tmp_path / "static")
        print(*play.log, play.counts)
