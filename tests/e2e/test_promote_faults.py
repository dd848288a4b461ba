# SPDX-License-Identifier: Apache-2.0
"""Every call that changes a file fails once, or the process is killed there: a promotion leaves a whole generation or none, and
a repetition makes exactly one."""
import contextlib
import hashlib
import json
import shutil
import sqlite3

import pytest

import faults
import serving
import storelib

PLATFORM = "ubuntu-22.04-x86_64"


class Promoting:
    """A store with two wheels, which are promoted on one record of tests that is given with the command."""

    def __init__(self, folder, part):
        self.folder, self.store, self.catalog = folder, folder / "store", folder / "catalog.db"
        self.views = self.store / ".wheelcache-views"
        wheels = [storelib.make_wheel(self.store / PLATFORM / "f" / "foo", "foo", version) for version in ("1.0", "2.0")]
        self.members = sorted((wheel.path.name, wheel.sha256) for wheel in wheels)
        self.config = folder / "wheelcache.conf"
        self.config.write_text(f"[store]\npath = {self.store}\n[catalog]\npath = {self.catalog}\n[platform {PLATFORM}]\n"
                               f"[view tested]\nfrom = {PLATFORM}\nrequires = unit\ncells = {PLATFORM}/3.10\n")
        self.record = folder / "record.json"
        self.record.write_text(json.dumps({
            "kind": "unit", "platform": PLATFORM, "python": "3.10", "made": "2026-11-20T01:02:03Z", "passed": 7, "failed": 0,
            "skipped": 0, "failures": [], "wheels": [{"filename": name, "sha256": digest} for name, digest in self.members]}))
        assert self.run("index", "--quiet").returncode == 0
        shutil.copy2(self.catalog, folder / "kept.db")
        self.nth = faults.Nth(folder, [part])

    def run(self, *arguments):
        return serving.run(*arguments, "--config", self.config)

    def promote(self):
        return self.run("promote", "--quiet", "--to", "tested", "--evidence", self.record)

    def go_back(self):
        for path in self.folder.glob("catalog.db*"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        shutil.copy2(self.folder / "kept.db", self.catalog)
        shutil.rmtree(self.views, ignore_errors=True)

    def known(self):
        """The generations of the catalog by the hashes of their files, its members, and its evidence."""
        with contextlib.closing(sqlite3.connect(self.catalog)) as connection:
            generations = connection.execute("SELECT number, lower(hex(sha256)) FROM generation").fetchall()
            members = connection.execute("SELECT filename, lower(hex(sha256)) FROM member ORDER BY 1").fetchall()
            return generations, members, connection.execute("SELECT lower(hex(sha256)) FROM evidence").fetchall()

    def check(self, is_whole):
        files = [path for path in self.views.rglob("*.json")] if self.views.exists() else []
        documents = {path.name: json.loads(path.read_text()) for path in files}
        generations = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files if path.parent.name == "tested"}
        assert set(generations) <= {"000001.json"} and len(documents) - len(generations) <= 1
        known, members, evidence = self.known()
        assert known in ([], [(1, generations.get("000001.json"))])
        assert members == (self.members if known else [])
        assert all(f"{row[0]}.json" in documents for row in evidence)
        for document in (documents[name] for name in generations):
            assert [(row["filename"], row["sha256"]) for row in document["adds"]] == self.members
            assert all(f"{name}.json" in documents for name in document["evidence"]) and document["evidence"]
        assert not is_whole or (known and len(evidence) == 1)

    def check_swept(self):
        """A scan finds nothing wrong, and removes what killed processes left."""
        for path in self.views.rglob("*"):
            assert path.is_dir() or path.suffix in (".json", ".tmp")
        assert self.run("index", "--quiet").returncode == 0
        done = self.run("check", "--json")
        assert done.returncode == 0, done.stderr
        assert not [path for path in self.store.rglob(".*") if path.is_file()]


def promotions(how, folder, part, every):
    at = Promoting(folder, part)
    for number, point in enumerate(faults.points(every), 1):
        at.go_back()
        at.nth.arm(point, how)
        done = at.promote()
        came = at.nth.disarm()
        assert came or done.returncode == 0, done.stderr
        at.check(False)
        again = at.promote()
        assert again.returncode == 0, f"point {point}: {done.stderr} {again.stderr}"
        at.check(True)
        if number % 10 == 0 or not came:
            at.check_swept()
        if not came:
            return point - 1
    raise AssertionError("it never ends")


@pytest.mark.parametrize("part, every", [("/store/", 1), ("/catalog.db", 35)])
def test_promotions(part, every):
    """The catalog has many calls, which SQLite keeps together."""
    points = faults.points_of(promotions, faults.DISK_IN_TURNS, part, every)
    print(f"\npromote, {part}: {points} points")
    assert points > 10, "hardly anything was tried"
