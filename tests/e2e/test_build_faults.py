# SPDX-License-Identifier: Apache-2.0
"""Every call of `wheelcache build` that changes a file or sends to the server fails once, or the builder is killed there: no half
wheel is published, no row is lost, no process is left, and the next run builds what is missing. Prints how many points were tried
(pytest -s)."""
import contextlib
import hashlib
import json
import pathlib
import shutil
import urllib.parse
import zipfile

import building
import faults
import pages
import serving
import storelib
import uploading

PARTS = ["/store/", "/catalog.db"]  # the results, the logs and the work folder begin with the name of the catalog
# What a build leaves running, copies and notes, for the one row of the world.
BUILD = """#!/bin/sh
echo run >>{0}/runs
sleep 1000 &
echo makes it
cp {0}/made/*.whl "$1"
"""


def processes(mark):
    """The processes with this text in their environment."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if mark.encode() in path.read_bytes():
                found.append(path.parent.name)
    return found


class Faulty(building.World):
    """A world with one row, whose build takes no time, and which is as new before each round."""

    def __init__(self, folder, index):
        super().__init__(folder, index)
        self.want("alpha")
        self.wheel = storelib.make_wheel(folder / "made", "alpha", "1.0", "cp311-cp311-linux_x86_64").path
        script = folder / "make.sh"
        script.write_text(BUILD.format(folder))
        script.chmod(0o755)
        self.keys["build"] = {"build": f"{script} %o", "test": "none", "jobs": 1}
        self.keys[f"platform {building.PLATFORM}"] = {"pythons": "3.11"}
        self.write()
        assert self.run("index", "--quiet").returncode == 0
        shutil.copy2(self.catalog, folder / "kept.db")
        self.nth = faults.Nth(folder, PARTS)

    def go_back(self):
        for path in (self.store / building.PLATFORM).iterdir():
            shutil.rmtree(path)
        for path in self.folder.glob("catalog.db*"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        shutil.copy2(self.folder / "kept.db", self.catalog)
        (self.folder / "runs").unlink(missing_ok=True)

    def run(self, command, *options):
        return serving.run(command, "--config", self.config_path, *options, env={**self.env, "WHEELCACHE_TOKEN": ""}, timeout=120)

    def once(self):
        return self.run("build", "--platform", building.PLATFORM, "--retry", "all")

    def attempts(self):
        done = self.run("builds", "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)["attempts"]

    def hidden(self):
        return [path for path in self.store.rglob(".*") if path.is_file()]

    def check_wheels(self):
        """Each wheel under its name is whole."""
        for path in self.store.rglob("*.whl"):
            assert path.read_bytes() == self.wheel.read_bytes(), path
            assert zipfile.ZipFile(path).testzip() is None

    def check_end(self, point, before):
        """After a run without a fault: the wheel, and an attempt for each run of the build command."""
        where = f"point {point}: {before.stderr}"
        assert [path.name for path in self.store.rglob("*.whl")] == [self.wheel.name], where
        if self.hidden():  # of a killed builder: the next scan removes them
            assert self.run("index", "--quiet").returncode == 0
        assert not self.hidden(), where
        attempts = self.attempts()
        assert len(attempts) >= len(self.runs()), where
        results = {one["result"] for one in attempts}
        # interrupted, and here: it was killed when the wheel had just been published
        assert "running" not in results and results & {"ok", "interrupted"}, where
        work = self.folder / "catalog.db.builds.work" / building.PLATFORM
        assert not [path.name for path in work.iterdir()], where

    def tries(self, how):
        for point in faults.points(35):
            self.go_back()
            self.nth.arm(point, how)
            done = self.once()
            came = self.nth.disarm()
            serving.wait_for(lambda: not processes(f"{self.folder}/"), 30, "the end of the processes")
            self.check_wheels()
            assert came or done.returncode == 0, done.stderr
            assert done.returncode in (0, -9) or done.stderr.strip(), f"point {point}: {done.returncode} without a word"
            again = self.once()
            assert again.returncode == 0, f"point {point}: {done.stderr} {again.stderr}"
            self.check_end(point, done)
            if not came:
                return point - 1


def builds(how, folder):
    with contextlib.ExitStack() as stack:
        index = building.Index()
        stack.callback(index.stop)
        return Faulty(folder, index).tries(how)


def test_build():
    """There are about 480 calls, most of them SQLite's."""
    points = faults.points_of(builds, faults.DISK_IN_TURNS)
    print(f"\nbuild: {points} points")
    assert points > 50, "hardly anything was tried"


# --- to a server ---

SENDS = 40  # at most, of one row; each round has a project of its own


def listed(server, project):
    """{file name: whether its bytes are those of its hash} of the page."""
    place = f"/{building.PLATFORM}/simple/{project}/"
    page = server.get(place, {"Accept": pages.JSON})
    files = json.loads(page.body)["files"] if page.status == 200 else []
    return {one["filename"]: hashlib.sha256(server.get(urllib.parse.urljoin(place, one["url"])).body).hexdigest()
            == one["hashes"]["sha256"] for one in files}


def sends(how, folder):
    """Each send of a builder that feeds a server: its questions, the upload, the results."""
    with contextlib.ExitStack() as stack:
        for name in ("server", "builder"):
            (folder / name).mkdir()
        index = building.Index()
        stack.callback(index.stop)
        fed = building.World(folder / "server", index)
        fed.keys[f"platform {building.PLATFORM}"] = {"pythons": "3.11"}
        fed.want(*(f"p-{point}" for point in range(1, SENDS)))
        server = building.serve(fed)
        stack.callback(server.stop)
        builder = building.Builder(folder / "builder", fed, server, uploading.add_token(server, "--platform", building.PLATFORM))
        builder.catalog.touch()  # it has none, and needs none
        nth = faults.Nth(folder, ["socket:"])
        for point in faults.points():
            nth.arm(point, how)
            done = serving.run(*builder.command("--only", f"p-{point}")[1:], env={**builder.env, "WHEELCACHE_TOKEN": builder.token})
            came = nth.disarm()
            serving.wait_for(lambda: not processes(f"{builder.folder}/"), 30, "the end of the processes")
            assert all(listed(server, f"p-{point}").values()), point
            again = serving.run(*builder.command("--only", f"p-{point}", "--retry", "all")[1:],
                                env={**builder.env, "WHEELCACHE_TOKEN": builder.token})
            assert again.returncode == 0, f"point {point}: {done.stderr} {again.stderr}"
            assert list(listed(server, f"p-{point}").values()) == [True], point
            check_results(server, builder, point)
            if not came:
                return point - 1
    raise AssertionError("it never ends")


def check_results(server, builder, point):
    """The server has what the builder has: an attempt for each run of the build command."""
    kept = []
    for config in (server.config_path, builder.config_path):
        done = serving.run("builds", "--json", "--project", f"p-{point}", "--config", config)
        assert done.returncode == 0, done.stderr
        kept.append(sorted((one["id"], one["result"]) for one in json.loads(done.stdout)["attempts"]))
    assert kept[0] == kept[1] and not [result for _, result in kept[0] if result == "running"], kept
    assert len(kept[0]) >= builder.runs().count(f"p-{point} 3.11") > 0, kept


def test_build_for_a_server():
    points = faults.points_of(sends, faults.NETWORK)
    print(f"\nbuild for a server: {points} points")
    assert points > 10, "hardly anything was tried"
