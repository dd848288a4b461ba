# SPDX-License-Identifier: Apache-2.0
"""wheelcache push, to wheelcache serve."""
import json
import os
import subprocess
import zipfile

import pytest

import merging
import pages
import serving
import storelib
import uploading

PLATFORM = "debian-12-x86_64"


class Place:
    """A store that accepts uploads, and a builder with a token."""

    def __init__(self, serve, folder, **options):
        self.folder, self.store, self.state = folder, folder / "store", folder / "state"
        (self.store / PLATFORM).mkdir(parents=True)
        self.serve = serve
        self.server = serve(self.store, state=self.state, **options)
        self.token = uploading.add_token(self.server, "--note", "test")

    def push(self, files, *options, token=None):
        kept = {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy") and k != "NETRC"}
        done = serving.run("push", *files, "--to", f"{self.server.url}/upload/{PLATFORM}/", "--json", *options,
                           env=kept | {"HOME": str(self.folder), "WHEELCACHE_TOKEN": token or self.token})
        return done.returncode, json.loads(done.stdout)

    def wheels(self, count, **parts):
        return [storelib.make_wheel(self.folder / "dist", f"demo{i}", "1.0", **parts) for i in range(count)]


@pytest.fixture(name="place")
def place_fixture(serve, tmp_path):
    return Place(serve, tmp_path)


def results(summary):
    return [one["result"] for one in summary["files"]]


def test_all_are_on_the_page_and_a_second_run_sends_nothing(place):
    made = place.wheels(40)
    code, summary = place.push([w.path for w in made], "--jobs", "8")
    assert (code, summary["published"], all(one["listed"] for one in summary["files"])) == (0, 40, True)
    assert sorted(p.read_bytes() for p in place.store.rglob("*.whl")) == sorted(w.path.read_bytes() for w in made)
    code, summary = place.push([w.path for w in made])
    assert (code, summary["already-there"], {one["sent"] for one in summary["files"]}) == (0, 40, {0})


def test_what_the_server_does_not_want(place):
    mac = storelib.make_wheel(place.folder / "dist", "native", "1", "cp311-cp311-macosx_11_0_arm64")
    first, = place.wheels(1)
    assert place.push([first.path])[0] == 0
    other = storelib.make_wheel(place.folder / "other", "demo0", "1.0", files={"x.py": b"another\n"})
    code, summary = place.push([mac.path, other.path])
    assert (code, results(summary)) == (1, ["refused", "conflict"])
    assert "does not install here" in summary["files"][0]["reason"]
    code, summary = place.push([mac.path], token="unknown")
    assert (code, results(summary), summary["reason"][:3]) == (1, ["not-tried"], "401")


def test_server_that_is_killed_meanwhile(place):
    """It is killed once it has published a file, and restarts on the same port; the push succeeds all the same."""
    made = place.wheels(60, size=300_000)
    port = place.server.port
    with subprocess.Popen([serving.binary(), "push", *[str(w.path) for w in made], "--quiet", "--retries", "20",
                           "--to", f"{place.server.url}/upload/{PLATFORM}/"],
                          env=os.environ | {"HOME": str(place.folder), "WHEELCACHE_TOKEN": place.token}) as running:
        serving.wait_for(lambda: list(place.store.rglob("*.whl")), 60, "the first file")
        place.server.process.kill()
        place.server.process.wait()
        place.server.process.stdout.close()
        place.server = place.serve(place.store, listen=f"127.0.0.1:{port}", state=place.state)
        assert running.wait(120) == 0
    assert sorted(p.read_bytes() for p in place.store.rglob("*.whl")) == sorted(w.path.read_bytes() for w in made)
    assert place.push([w.path for w in made])[1]["already-there"] == 60


def test_build_of_the_same_contents_is_kept(place, tmp_path):
    first, = place.wheels(1)
    again = tmp_path / "again" / first.name
    again.parent.mkdir()
    with zipfile.ZipFile(first.path) as old, zipfile.ZipFile(again, "w") as new:
        for entry in old.infolist():
            later = zipfile.ZipInfo(entry.filename, (2024, 1, 1, 0, 0, 0))
            later.external_attr = entry.external_attr
            new.writestr(later, old.read(entry))
    assert place.push([first.path])[0] == 0
    code, summary = place.push([again])
    assert (code, summary["ok"], results(summary), summary["files"][0]["sent"]) == (0, True, ["kept-earlier"], 1)


def test_push_needs_no_upstream(serve, tmp_path, index):
    """It looks at what is here: a merged page has upstream's hash of a name, and without upstream there is none."""
    place = Place(serve, tmp_path, config=merging.config(index, retries=0, max_age=0))
    ours, new = place.wheels(2)
    assert place.push([ours.path])[0] == 0
    theirs = storelib.make_wheel(tmp_path / "theirs", "demo0", "1.0", requires_python=">=3.8")
    assert theirs.name == ours.name and theirs.sha256 != ours.sha256
    index.add("demo0", theirs)
    index.stop()
    index.is_down = True
    code, summary = place.push([ours.path, new.path], "--retries", "0")
    assert (code, results(summary), [one["listed"] for one in summary["files"]]) == (0, ["already-there", "published"], [True] * 2)
    own = place.server.get(f"/{PLATFORM}/simple/demo1/?upstream=no", {"Accept": pages.JSON})
    assert [one["hashes"]["sha256"] for one in json.loads(own.body)["files"]] == [new.sha256]
    assert place.server.get(f"/{PLATFORM}/simple/nobody/?upstream=no").status == 404


def test_recorded_wheels_that_install_there(place, request, shared):
    found = sorted(p for p in (shared / "corpus" / "wheels").glob("*.whl")
                   if "cp311-manylinux" in p.name and "x86_64" in p.name or "py3-none-any" in p.name)
    code, summary = place.push(found if request.config.getoption("--nightly") else found[::5])
    assert code == 0, [one for one in summary["files"] if one["result"] != "published"]
