# SPDX-License-Identifier: Apache-2.0
"""Every call that changes a file fails once, or the process is killed there: a load leaves whole files alone, and a repetition
makes the same end. A bundle that is being made appears whole or not at all."""
import shutil

import pytest

import attaching
import faults
import memberships
import serving
import storelib

PLATFORM = "debian-12-x86_64"


class Side:
    """A store with a view that promotes."""

    def __init__(self, folder):
        self.folder, self.store, self.catalog = folder, folder / "store", folder / "catalog.db"
        (self.store / PLATFORM).mkdir(parents=True)
        self.config = folder / "wheelcache.conf"
        self.config.write_text(f"[store]\npath = {self.store}\n[catalog]\npath = {self.catalog}\n[platform {PLATFORM}]\n"
                               f"[view stable]\nfrom = {PLATFORM}\n")

    def run(self, *words):
        return serving.run(*words, "--config", self.config)

    def ok(self, *words):
        done = self.run(*words)
        assert done.returncode == 0, done.stdout + done.stderr

    def files(self):
        """What is listed or marks it, without unfinished files."""
        return {str(path.relative_to(self.store)): (path.read_bytes(), path.stat().st_mtime_ns)
                for path in self.store.rglob("*") if path.is_file() and not path.name.endswith(".tmp")}


def make_source(folder):
    (folder / "source").mkdir()
    source = Side(folder / "source")
    wheels = [storelib.make_wheel(source.store / PLATFORM / "m" / "mine", "mine", version, mtime=1_600_000_000)
              for version in ("1.0", "2.0")]
    path = wheels[0].path
    path.with_name(f"{path.name}.yanked").write_text("broken")
    path.with_name(f"{path.name}.intoto.json").write_bytes(attaching.as_bytes(attaching.statement(path)))
    memberships.append(source.store, "stable", [(PLATFORM, wheels[0])])
    memberships.append(source.store, "stable", [(PLATFORM, wheels[1])])
    source.ok("index", "--quiet")
    return source


def loads(how, folder, part, every):
    source = make_source(folder)
    source.ok("bundle", "make", "-o", folder / "bundle", "--view", PLATFORM, "stable")
    (folder / "target").mkdir()
    target = Side(folder / "target")
    target.ok("index", "--quiet")
    shutil.copytree(target.folder, folder / "kept")
    load = ("bundle", "load", folder / "bundle", "--unsigned", "--quiet")
    wanted = {path: (data, time) for path, (data, time) in source.files().items()}
    nth = faults.Nth(folder, [part])
    for point in faults.points(every):
        shutil.rmtree(target.folder)
        shutil.copytree(folder / "kept", target.folder)
        nth.arm(point, how)
        done = target.run(*load)
        came = nth.disarm()
        assert came or done.returncode == 0, done.stderr
        for path, (data, time) in target.files().items():
            assert data == wanted[path][0] and (not path.endswith(".whl") or time == wanted[path][1]), (point, path)
            is_first = path.endswith("mine-1.0-py3-none-any.whl")
            assert not is_first or f"{path}.yanked" in target.files(), f"point {point}: it was listed without its yank"
        target.ok(*load)
        now = target.files()
        assert {path: data for path, (data, _) in now.items()} == {path: data for path, (data, _) in wanted.items()}, point
        target.ok("index", "--quiet")
        target.ok("check", "--quiet")
        if not came:
            return point - 1
    raise AssertionError("it never ends")


@pytest.mark.parametrize("part, every", [("/target/store/", 3), ("/target/catalog.db", 55)])
def test_loads(part, every):
    points = faults.points_of(loads, faults.DISK_IN_TURNS, part, every)
    print(f"\nbundle load, {part}: {points} points")
    assert points > 10, "hardly anything was tried"


def makings(how, folder, every):
    source = make_source(folder)
    make = ("bundle", "make", "-o", folder / "made" / "bundle", "--view", "stable", "--quiet")
    (folder / "made").mkdir()
    nth = faults.Nth(folder, ["/made/"])
    for point in faults.points(every):
        (folder / "made" / "bundle").write_bytes(b"the one before")
        nth.arm(point, how)
        done = source.run(*make)
        came = nth.disarm()
        data = (folder / "made" / "bundle").read_bytes()
        assert came or done.returncode == 0, done.stderr
        if data != b"the one before" or done.returncode == 0:
            source.ok("bundle", "load", "--dry-run", "--unsigned", folder / "made" / "bundle")
        if not came:
            return point - 1
    raise AssertionError("it never ends")


def test_makings():
    assert faults.points_of(makings, faults.DISK_IN_TURNS, 1) > 3
