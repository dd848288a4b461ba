# SPDX-License-Identifier: Apache-2.0
"""A server that has something to show on each page for people, and the list of these pages."""
import hashlib
import json
import time

import attempts
import channels
import evidence
import indexing
import serving
import storelib

BOOKWORM, JAMMY, NOBLE, ALMA = "debian-12-x86_64", "ubuntu-22.04-x86_64", "ubuntu-24.04-x86_64", "almalinux-9-x86_64"
SECRET = "rocky-9-x86_64"
PLATFORMS = {BOOKWORM: ("3.11", "2_36"), JAMMY: ("3.10 3.11 3.12", "2_35"), NOBLE: ("3.12 3.13", "2_39"), ALMA: ("3.9 3.12", "2_34")}
DAY = 86400
MARKUP = "<b onclick=\"alert(1)\">broken & 'quoted'</b><script>alert(1)</script>"
README = """\
# numerics

Fast **arrays**. See the [manual](https://example.org/manual) and ![a picture](https://example.org/tracker.png).

    pip install numerics

| Python | wheels |
| --- | --- |
| 3.11 | yes |

<script>alert(1)</script>
"""
LONG = "l" + "ong" * 30  # a name without a place to break
LONG_VERSION = "1.0.dev20261123+build." + "0123456789abcdef" * 2
CASE = "tests/test_" + "deeply_nested_" * 6 + "arrays.py::test_sum[float64-fortran]"
BRANCH = "numerics==2.1\nacme-core\nfailing==1.0\nwanted==3.0\npure-only\n"


def tag(platform, python):
    minor = python.replace(".", "")
    return f"cp{minor}-cp{minor}-manylinux_{PLATFORMS[platform][1]}_x86_64"


class Showcase(indexing.Indexed):
    """upstream: merging.Index. It has some wheels of ours, and some that are not here. view: the view or platform of pages
    that are of one, "simple" for the default view; with a platform there is no default view, as the packages configure it."""

    def __init__(self, folder, upstream, view="simple"):
        super().__init__(folder)
        self.view = view
        self.upstream, self.config, self.now = upstream, folder / "wheelcache.conf", int(time.time())
        self.catalog.parent.mkdir()
        self.configure()
        self.fill_store()
        self.fill_upstream()
        self.fill_builds()
        channels.write_generation(self.store, "tested", [(JAMMY, self.below("acme-core", "1.0", JAMMY, "3.12"))],
                                  made=self.now - 3 * DAY)
        self.lost = self.below("acme-core", "1.1", JAMMY, "3.10")
        channels.write_generation(self.store, "released", [(JAMMY, self.lost)], made=self.now - 2 * DAY)
        self.fill_runs()
        self.tool("index", "--quiet")
        self.plan("--output", folder / "plan.json")
        self.change_since_the_plan()

    def configure(self):
        pythons = "".join(f"[platform {name}]\npythons = {row[0]}\n" for name, row in PLATFORMS.items())
        (self.folder / "master.txt").write_text(BRANCH)
        self.config.write_text(
            f"[store]\npath = {self.store}\n{'' if self.view == 'simple' else 'default-view = none'}\n[catalog]\npath = {self.catalog}\n[index]\nsettle = 0\n[upstream]\n"
            f"url = {self.upstream.url}\nretries = 0\n[prune]\npackages = {self.folder}/packages.list\nmin-age = 0\n"
            f"upstream-min-age = 0\nmax-files = 90%\nmax-bytes = 90%\n{pythons}[platform {SECRET}]\nprivate = yes\n"
            f"pythons = 3.12\n[branch master]\nrequirements = {self.folder}/master.txt\nplatforms = debian-* ubuntu-*\n"
            f"[view nightly]\nplatforms = {JAMMY} {NOBLE}\nkeep-versions = 2\n"
            f"[view tested]\nplatforms = {JAMMY} {NOBLE}\nfrom = nightly\nrequires = unit integration\n"
            f"cells = {JAMMY}/3.12 {NOBLE}/3.12 {NOBLE}/3.13\nkeep-versions = 3\nkeep-days = 30\nexpect = 26h unit 8d performance\n"
            f"[view released]\nplatforms = {JAMMY} {NOBLE}\nfrom = tested\n")
        (self.folder / "packages.list").write_text("acme-core because it is ours\n")

    def below(self, project, version, platform, python):
        return f"{project[0]}/{project}/{project.replace('-', '_')}-{version}-{tag(platform, python)}.whl"

    def put(self, project, version, platform, python, **parts):
        parts = {"mtime": self.now - 5 * DAY, "size": 3000, **parts}
        return self.wheel(f"{platform}/{project[0]}/{project}", project, version, tag=tag(platform, python), **parts)

    def fill_store(self):
        text = storelib.metadata_bytes("numerics", "2.1", ">=3.9", ["acme-core>=1", "six; extra == 'old'"],
                                       extra="Summary: Fast arrays\nLicense: BSD-3-Clause\nProvides-Extra: old\n"
                                             f"Description-Content-Type: text/markdown\n\n{README}")
        for platform, (pythons, _) in PLATFORMS.items():
            for python in pythons.split():
                self.put("numerics", "2.0", platform, python, mtime=self.now - 40 * DAY)
                if platform != ALMA and python != "3.13":
                    self.put("numerics", "2.1", platform, python, size=None, metadata=text)
                for version in ("0.9", "1.0", "1.1"):
                    self.put("acme-core", version, platform, python)
            for minor in range(6):
                self.wheel(f"{platform}/s/six", "six", f"1.{minor}", mtime=self.now - 9 * DAY)
        self.put("failing", "0.9", JAMMY, "3.10")
        yanked = self.put("acme-core", "1.2", BOOKWORM, "3.11")
        yanked.path.with_name(f"{yanked.name}.yanked").write_text(f"{MARKUP}\n")
        self.wheel(f"{JAMMY}/p/pure-only", "pure-only", "1!2.0+local.1")
        self.wheel(f"{JAMMY}/l/{LONG}", LONG, LONG_VERSION, mtime=self.now - 9 * DAY)
        self.wheel(f"{SECRET}/c/covert", "covert", "1.0", tag="cp312-cp312-linux_x86_64")
        (self.store / BOOKWORM / "d" / "damaged").mkdir(parents=True)
        (self.store / BOOKWORM / "d" / "damaged" / "damaged-1.0-py3-none-any.whl").write_bytes(b"no wheel")

    def fill_upstream(self):
        for minor in range(4):
            wheel = storelib.make_wheel(self.folder / "theirs", "six", f"1.{minor}", mtime=self.now - 9 * DAY)
            self.upstream.add("six", wheel)
        for project, version in (("numerics", "2.1"), ("wanted", "3.0"), ("failing", "1.0"), ("pure-only", "2.0")):
            self.upstream.add_bytes(project, f"{project.replace('-', '_')}-{version}.tar.gz", b"sources")
        self.upstream.add("numerics", storelib.make_wheel(self.folder / "theirs", "numerics", "2.1", tag(NOBLE, "3.13")))

    def fill_builds(self):
        made = attempts.Attempts(self.catalog.with_name(self.catalog.name + ".builds"))
        self.attempt = made.add("failing", "failed", log=f"cc -c x.c\n{MARKUP}\n".encode(), why=MARKUP, ago=2 * DAY,
                                platform=JAMMY, python="3.12", files="", builder="builder-1", peak_memory=512 << 20)
        for number in range(12):
            made.add("numerics" if number % 3 else "acme-core", "ok" if number % 4 else "timed-out", log=b"made\n", ago=number * DAY + 60,
                     platform=JAMMY, python="3.12", version="2.1")
        made.add("numerics", "running", version="2.1", platform=NOBLE, python="3.13", ago=120)

    def run(self, wheels, kind, platform, python, ago, **result):
        """A record of a test run in the store, as the index keeps it; its id."""
        tested = [{"filename": path.name, "sha256": hashlib.sha256(path.read_bytes()).hexdigest(), "content_sha256": "c" * 64,
                   "commit": "d" * 40} for path in sorted(wheels)]
        made = channels.day(self.now - ago)
        record = {"kind": kind, "platform": platform, "python": python, "made": made, "wheels": tested,
                  **({} if "override" in result else {"passed": 120, "failed": 0, "skipped": 3, "failures": []}), **result}
        return evidence.write_file(self.store / ".wheelcache-views", record, f"{made[:-1]}.000000000Z", "nightly pipeline",
                                   "192.0.2.77", "tested").stem

    def fill_runs(self):
        """Nights of tests: a red one, a machine that stopped, an override."""
        def wheels(version, platform, python):
            return [self.store / platform / self.below("acme-core", version, platform, python)]
        for ago in range(1, 25):
            failed = 4 if ago % 7 == 3 else 0
            self.run(wheels("1.0", JAMMY, "3.12"), "unit", JAMMY, "3.12", ago * DAY, passed=400 + 9 * ago - failed, failed=failed,
                     skipped=30, failures=[{"name": f"test_{number}", "message": "assert 1 == 2"} for number in range(failed)])
        everything = [path for path in (self.store / NOBLE).rglob("*.whl") if "cp312" in path.name or "none-any" in path.name]
        self.run(wheels("1.0", JAMMY, "3.12"), "performance", JAMMY, "3.12", 9 * DAY)
        self.green = self.run(everything, "unit", NOBLE, "3.12", DAY // 4)
        self.red = self.run(wheels("1.1", JAMMY, "3.12"), "unit", JAMMY, "3.12", DAY // 3, failed=60, passed=60, failures=[
            {"name": "tests.test_arrays::test_sum", "message": MARKUP}, {"name": CASE, "message": "E   " + "x" * 500}])
        self.override = self.run(wheels("1.1", NOBLE, "3.13"), "integration", NOBLE, "3.13", DAY // 5, override="tried by hand: the "
                                 "laboratory lost its power")

    def change_since_the_plan(self):
        """A second plan, and then what it decided on changes."""
        self.upstream.change("six", "six-1.3-py3-none-any.whl", yanked="broken")
        self.upstream.add("six", storelib.make_wheel(self.folder / "theirs", "six", "1.4", mtime=self.now - 9 * DAY))
        self.plan("--output", self.folder / "plan.json")
        (self.store / BOOKWORM / "s" / "six" / "six-1.0-py3-none-any.whl").unlink()
        (self.store / JAMMY / self.lost).unlink()
        self.put("acme-core", "0.9", BOOKWORM, "3.11", size=9000)
        self.wheel(f"{ALMA}/s/six", "six", "1.1", size=9000, mtime=self.now - DAY)
        (self.folder / "packages.list").write_text("acme-core because it is ours\nsix==1.2\n")
        self.tool("index", "--quiet")

    def tool(self, *words, code=0):
        done = serving.run(*words, "--config", self.config)
        assert done.returncode == code, done.stdout + done.stderr
        return done

    def plan(self, *options):
        self.tool("prune", "plan", "--quiet", *options)

    def member(self, version, platform=JAMMY, python="3.12"):
        return self.below("acme-core", version, platform, python).rsplit("/", 1)[-1]

    def pages(self):
        """The path of each page for people, by name."""
        return {
            "home": "/",
            "builds": "/-/builds/",
            "builds of a project": "/-/builds/failing/",
            "builds, a search": "/-/builds/?project=none",
            "channel": "/-/channel/nightly/",
            "channel with tests": "/-/channel/tested/",
            "channel without tests": "/-/channel/released/",
            "record, green": f"/-/evidence/{self.green}?format=html",
            "record, red": f"/-/evidence/{self.red}?format=html",
            "record, an override": f"/-/evidence/{self.override}?format=html",
            "client configuration": f"/-/client-config/{self.view}",
            "compare": f"/-/compare/{JAMMY}/{self.member('1.0')}/{JAMMY}/{self.member('1.1')}",
            "docs": "/-/docs/",
            "docs, a page": "/-/docs/security.md",
            "docs, the readme": "/-/docs/README.md",
            "coverage": "/-/coverage",
            "coverage of a project": "/-/coverage?projects=numerics",
            "coverage of a cell": f"/-/coverage?projects=failing&platforms={JAMMY}&python=3.12",
            "search": "/-/search?q=num",
            "search, a near miss": "/-/search?q=numercis",
            "explain": f"/-/explain/{self.view}/acme-core?format=html",
            "explain a version": f"/-/explain/{self.view}/numerics/2.1?format=html",
            "usage": "/-/usage/",
            "security": "/-/security/",
            "usage by version": "/-/usage/?by=version&project=acme-core",
            "missing": f"/-/missing/{JAMMY}?format=html",
            "plan": "/-/plan/",
            "project": "/-/project/numerics",
            "project, a version": "/-/project/failing?version=1.0",
            "project, a view": "/-/project/acme-core?view=tested",
            "project, files on no page": "/-/project/damaged",
            "project, long names": f"/-/project/{LONG}",
            "explain, long names": f"/-/explain/{self.view}/{LONG}?format=html",
            "coverage, long names": f"/-/coverage?projects={LONG}",
            "search, long names": "/-/search?q=long",
            "search, more than it shows": "/-/search?q=e&limit=1",
            "plan, a search": "/-/plan/?verdict=&q=six",
            "plan, long names": "/-/plan/?verdict=&q=long",
        }


def start(folder, upstream, start_server, view="simple"):
    """A showcase and its server."""
    show = Showcase(folder, upstream, view)
    state = folder / "state"
    server = start_server(None, config=show.config.read_text(), state=state)
    serving.wait_for(lambda: b"1 silent</span>" in server.get("/-/channel/tested/", {"Accept": "text/html"}).body, 60,
                     "the first look at what is silent")
    return show, server


__all__ = ["JAMMY", "MARKUP", "PLATFORMS", "SECRET", "Showcase", "json", "start"]
