# SPDX-License-Identifier: Apache-2.0
"""A store with views that keep some versions only, and the command that ends the others."""
import contextlib
import hashlib
import json
import os
import pathlib
import shutil
import tempfile
import time

from packaging.utils import canonicalize_name

import indexing
import serving
import storelib

JAMMY, NOBLE = "ubuntu-22.04-x86_64", "ubuntu-24.04-x86_64"
DAY = 86400
TAGS = {JAMMY: "cp310-cp310-manylinux_2_35_x86_64", NOBLE: "cp312-cp312-manylinux_2_39_x86_64"}
PLATFORMS = {JAMMY: "3.10 3.11", NOBLE: "3.12"}


@contextlib.contextmanager
def folder_in_memory():
    """A folder in memory, if there is room: for tests that would wait for many fsyncs."""
    place = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=place) as folder:
        yield pathlib.Path(folder)


def day(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def write_generation(store, view, adds=(), removes=(), made=None):
    """Writes the next generation of a membership as a file of the store; a member is (platform, path below it)."""
    folder = store / ".wheelcache-views" / view
    folder.mkdir(parents=True, exist_ok=True)
    before = sorted(folder.glob("*.json"))
    files = [[{"platform": platform, "project": canonicalize_name(path.rsplit("/", 1)[-1].split("-")[0]),
               "filename": path.rsplit("/", 1)[-1],
               "sha256": hashlib.sha256((store / platform / path).read_bytes()).hexdigest()}
              for platform, path in sorted(members)] for members in (adds, removes)]
    document = {"view": view, "generation": len(before) + 1,
                "previous": hashlib.sha256(before[-1].read_bytes()).hexdigest() if before else None,
                "made": day(made or time.time()), "action": "promote", "by": "test", "address": "", "reason": "",
                "evidence": [], "adds": files[0], "removes": files[1]}
    (folder / f"{len(before) + 1:06}.json").write_text(json.dumps(document))


class Channel(indexing.Indexed):
    """The view nightly has both platforms. A wheel's age is its modification time, because a catalog is made anew for each
    scan of new files: what the first scan finds has no arrival."""

    def __init__(self, folder, rules="keep-versions = 2\n", more=""):
        super().__init__(folder)
        self.config = folder / "wheelcache.conf"
        self.now = int(time.time())
        self.configure(rules, more)

    def configure(self, rules, more=""):
        sections = "".join(f"[platform {name}]\npythons = {pythons}\n" for name, pythons in PLATFORMS.items())
        self.config.write_text(f"[store]\npath = {self.store}\n[catalog]\npath = {self.catalog}\n{sections}"
                               f"[view nightly]\nplatforms = {JAMMY} {NOBLE}\n{rules}{more}")

    def put(self, version, age, *platforms, project="foo", tag=None, **parts):
        """A wheel of each platform that came so many days ago."""
        for platform in platforms or (JAMMY, NOBLE):
            (self.store / platform).mkdir(exist_ok=True)
            self.wheel(f"{platform}/{project}", project, version, tag=tag or TAGS[platform],
                       mtime=int(self.now - age * DAY), **parts)

    def scan(self, anew=True):
        if anew:
            for path in self.catalog.parent.glob("catalog.db*"):
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        done = serving.run("index", "--quiet", "--config", self.config)
        assert done.returncode == 0, done.stderr

    def retain(self, *options, code=0, name="nightly", **how):
        """What the report says of a view."""
        done = serving.run("retain", "--json", "--config", self.config, *options, **how)
        assert done.returncode == code, done.stdout + done.stderr
        self.error = done.stderr
        return next((view for view in json.loads(done.stdout)["views"] if view["view"] == name), None)

    def versions(self, platform=None, project="foo"):
        """What is listed, in the order of the names."""
        return sorted({path.rsplit("/", 1)[-1].split("-")[1] for path in self.listed()
                       if f"/{project}/" in path and (not platform or path.startswith(platform))})

    def generation(self, adds=(), removes=(), view="tested", made=None):
        """Writes the next generation of a membership; a member is (platform, file name)."""
        members = [[(platform, f"{name.split('-')[0]}/{name}") for platform, name in one] for one in (adds, removes)]
        write_generation(self.store, view, *members, made=made or self.now)

    def generations(self, view="tested"):
        """The documents of a membership."""
        folder = self.store / ".wheelcache-views" / view
        return [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]

    def tombstone(self, filename, platform=JAMMY, project="foo"):
        return json.loads((self.store / platform / project / f"{filename}.pruned").read_text())

    def age(self, path, days):
        os.utime(path, (self.now - days * DAY,) * 2)


def wheel(version, platform=JAMMY, project="foo"):
    return f"{project}-{version}-{TAGS[platform]}.whl"


__all__ = ["Channel", "DAY", "JAMMY", "NOBLE", "TAGS", "day", "folder_in_memory", "storelib", "wheel", "write_generation"]
