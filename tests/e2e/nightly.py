# SPDX-License-Identifier: Apache-2.0
"""A nightly channel: wheels of two platforms in the view staging, the views tested and released that are promoted from
it, test runs by pytest, and clients. Each night is a day; the program under test sees the clock that the test sets."""
import dataclasses
import json
import os
import pathlib
import subprocess
import sys
import time

import serving
import storelib
import uploading

DEBIAN, UBUNTU = "debian-12-x86_64", "ubuntu-22.04-x86_64"
PYTHON = {DEBIAN: "3.11", UBUNTU: "3.10"}
TAG = {DEBIAN: "cp39-abi3-manylinux_2_36_x86_64", UBUNTU: "cp39-abi3-manylinux_2_35_x86_64"}
KINDS = ["built", "installed"]
DAY = 86400
ADD = b"def add(a, b):\n    return a + b\n"
SUBTRACT = b"def add(a, b):\n    return a - b\n"
TESTS = "import fast, pure\n\ndef test_add():\n    assert fast.add(1, 2) == 3\n\ndef test_pure():\n    assert pure.add(0, 0) == 0\n"
CRASH = "import os\n\ndef test_segfault():\n    os._exit(1)\n"
NO_TESTS = "def check_nothing():\n    pass\n"
VIEWS = f"""\
[view staging]
platforms = {DEBIAN} {UBUNTU}
[view tested]
from = staging
requires = {" ".join(KINDS)}
[view released]
from = tested
"""
PAGE = "application/vnd.pypi.simple.v1+json"


class Days:
    """The days of a test: 0 is today, -1 yesterday. It is always noon, so that no day ends within a test. set_clock: of
    faults.preload("wall")."""

    def __init__(self, set_clock):
        self.set_clock = set_clock
        self.noon = time.time() // DAY * DAY + DAY / 2

    def go_to(self, day):
        self.set_clock(str(int(self.noon + day * DAY - time.time())))

    def date(self, day):
        return time.strftime("%Y-%m-%d", time.gmtime(self.noon + day * DAY))


@dataclasses.dataclass
class Night:
    """What one night has built."""
    version: str
    wheels: dict  # name of the platform: its wheels
    folder: pathlib.Path

    def of(self, platform):
        """The wheels that the tests of the platform use: its own, and those for any platform."""
        return [one for place, wheels in self.wheels.items() for one in wheels
                if place == platform or "-none-any" in one.name]


def make_night(folder, version, fast=None, pure=ADD):
    """fast: the source of the project fast by platform; without it adds."""
    folder = folder / version
    made = {place: [storelib.make_wheel(folder / place, "fast", version, TAG[place], is_purelib=False, mtime=None,
                                        files={"fast.py": (fast or {}).get(place, ADD)})] for place in TAG}
    made[DEBIAN].append(storelib.make_wheel(folder / DEBIAN, "pure", version, mtime=None, files={"pure.py": pure}))
    return Night(version, made, folder)


def run_pytest(folder, tests, modules, *options):
    """Runs pytest on the text of a test module; modules: folders or wheels to import from. Returns the path of the report
    in JUnit's form, which need not be there, and pytest's exit code."""
    folder.mkdir(parents=True)
    (folder / "test_night.py").write_text(tests)
    report = folder / "report.xml"
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "COV"))}
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", folder, *options,
                           f"--junitxml={report}", folder / "test_night.py"], capture_output=True, text=True, check=False,
                          env=environment | {"PYTHONPATH": os.pathsep.join(map(str, modules)),
                                             "PYTHONDONTWRITEBYTECODE": "1"})
    return report, done.returncode


class Channel:
    """The store, its configuration, and the program run on it. Commands go to self.file."""

    def __init__(self, folder, views=VIEWS):
        self.folder, self.store, self.state = folder, folder / "store", folder / "state"
        self.file, self.catalog = folder / "site.conf", folder / "state" / "catalog.db"
        self.state.mkdir()
        for platform in TAG:
            (self.store / platform).mkdir(parents=True)
        self.config = (f"[store]\npath = {self.store}\n[index]\nsettle = 0\n" + "".join(
            f"[platform {name}]\npythons = {python}\n" for name, python in PYTHON.items()) + views)
        self.file.write_text(self.config)

    def run(self, *words, code=0, env=None):
        """A command on the store, as an operator runs it."""
        done = serving.run(*words, "--config", self.file, "--catalog", self.catalog, env=env)
        assert done.returncode == code, f"{words}: {done.returncode}\n{done.stdout}{done.stderr}"
        return done

    def json(self, *words, code=0):
        return json.loads(self.run(*words, "--json", code=code).stdout)

    def token(self, *options):
        return self.run("token", "add", *options).stdout.strip()

    def put(self, night):
        """Lays the wheels into the store, and indexes it."""
        for platform, wheels in night.wheels.items():
            for one in wheels:
                place = self.store / platform / one.name.split("-")[0]
                place.mkdir(exist_ok=True)
                (place / one.name).write_bytes(one.path.read_bytes())
        self.run("index", "--quiet")

    def evidence(self, report, kind, platform, wheels, code=0):
        """`evidence make` as on the machine where the tests ran. Returns the path of the record."""
        record = report.with_name(f"{kind}-{platform}.json")
        done = serving.run("evidence", "make", "--kind", kind, "--junit", report, "--platform", platform, "--python",
                           PYTHON[platform], "-o", record, "--wheels", *[one.path for one in wheels])
        assert done.returncode == code, f"{done.returncode}\n{done.stdout}{done.stderr}"
        assert record.exists() == (code == 0), done.stderr
        return record

    def promote(self, to, *words, code=0):
        """The rows of a promotion, file name to (result, reason)."""
        return results(self.json("promote", "--to", to, *words, code=code))

    def green(self, night, folder, kinds=KINDS):
        """Records of tests that all passed, without running any."""
        report = folder / f"green-{night.version}.xml"
        report.write_text("<testsuite><testcase classname='t' name='t'/></testsuite>")
        return [self.evidence(report, kind, platform, night.of(platform)) for kind in kinds for platform in TAG]


def results(answer):
    return {one["filename"]: (one["result"], one["reason"]) for one in answer["files"]}


def done(rows):
    """The files of a promotion that the view has now and had not before."""
    return sorted(name for name, (result, _) in rows.items() if result == "done")


def send(server, token, *records, code=0):
    """`evidence send` from another machine."""
    sent = serving.run("evidence", "send", *records, "--to", server.url,
                       env=os.environ | {"WHEELCACHE_TOKEN": token, "HOME": str(records[0].parent)})
    assert sent.returncode == code, sent.stdout + sent.stderr
    return sent


def promote_by_http(server, view, token, **request):
    """POST /-/promote/VIEW."""
    connection = server.connect()
    connection.request("POST", f"/-/promote/{view}", json.dumps(request),
                       {"Content-Type": "application/json", **uploading.authorization(token)})
    answer = connection.getresponse()
    reply = serving.Reply(answer.status, answer.headers, answer.read())
    connection.close()
    return reply


def push(server, platform, token, folder, wheels):
    """`wheelcache push` to a platform."""
    kept = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    pushed = serving.run("push", *[one.path for one in wheels], "--to", f"{server.url}/upload/{platform}/", "--json",
                         env=kept | {"WHEELCACHE_TOKEN": token, "HOME": str(folder)})
    return pushed.returncode, json.loads(pushed.stdout)


def shown(server, view, *projects):
    """The file names on the pages of a view, sorted."""
    names = []
    for project in projects or ("fast", "pure"):
        reply = server.get(f"/{view}/simple/{project}/", {"Accept": PAGE})
        assert reply.status in (200, 404), (reply.status, reply.body)
        names += [one["filename"] for one in json.loads(reply.body)["files"]] if reply.status == 200 else []
    return sorted(names)


def pages(server, *views):
    """All pages of the views, byte for byte: path to (status, body)."""
    out = {}
    for view in views:
        for path in (f"/{view}/simple/", f"/{view}/simple/fast/", f"/{view}/simple/pure/"):
            for accept in (PAGE, "text/html"):
                reply = server.get(path, {"Accept": accept})
                out[path, accept] = reply.status, reply.body
    return out
