# SPDX-License-Identifier: Apache-2.0
"""Every call that changes a file fails once, or the process is killed there, in all commands of a prune: nothing is lost, and
a repetition has the same end. Prints how many points were tried (pytest -s)."""
import contextlib
import shutil
import sqlite3

import faults
import serving
import tinyupstream
from pruning import PLATFORM, Pruned

PARTS = ["/store/", "/catalog.db", "-wal"]


class Faulty(Pruned):
    """A small store that is restored before each round; upstream has both files."""

    def __init__(self, folder, upstream):
        super().__init__(folder, upstream, covered=2, wheels=2, state=folder)
        self.configure(caps="100%")
        self.nth = faults.Nth(folder, PARTS)
        self.run_id = self.plan()["id"]

    def remember(self):
        shutil.copytree(self.store, self.folder / "kept")
        shutil.copy2(self.catalog, self.folder / "kept.db")

    def go_back(self):
        """The wheels that are there stay the same files: the catalog knows them by more than their names."""
        for path in self.folder.glob("catalog.db*"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        shutil.copy2(self.folder / "kept.db", self.catalog)
        kept, place = self.folder / "kept" / PLATFORM / "s" / "six", self.folder_of()
        for path in place.iterdir():
            if not (kept / path.name).exists() or path.name.endswith(".pruned"):
                path.unlink()
        for path in kept.iterdir():
            if not (place / path.name).exists():
                shutil.copy2(path, place)
        (self.store / PLATFORM / ".wheelcache-frozen").unlink(missing_ok=True)

    def rows(self):
        """{file name: state}"""
        with contextlib.closing(sqlite3.connect(self.catalog)) as connection:
            return dict(connection.execute("SELECT filename, state FROM file"))

    def tries(self, how, command, check):
        """The command with each fault, and once more without; the number of faults."""
        command = [*command, "--config", self.config]
        self.remember()
        assert serving.run(*command).returncode == 0
        wanted = self.there(), self.unlisted(), self.rows()
        for point in faults.points():
            self.go_back()
            self.nth.arm(point, how)
            done = serving.run(*command)
            came = self.nth.disarm()
            assert came or done.returncode == 0, done.stderr
            check()
            again = serving.run(*command)
            assert again.returncode == 0, f"point {point}: {done.stderr} {again.stderr}"
            assert (self.there(), self.unlisted(), self.rows()) == wanted, f"point {point}"
            if not came:
                return point - 1

    def all_are_there(self):
        assert self.there() == sorted(self.bytes)

    def none_is_gone_without_its_tombstone(self):
        assert set(self.bytes) - set(self.there()) <= set(self.unlisted())
        assert set(self.bytes) - set(self.there()) <= set(self.covered)


def applies(how, folder):
    with tinyupstream.running() as up:
        at = Faulty(folder, up)
        return at.tries(how, ["prune", "apply", at.plan_path], at.all_are_there)


def purges(how, folder):
    with tinyupstream.running() as up:
        at = Faulty(folder, up)
        at.apply()
        return at.tries(how, ["prune", "purge", "--grace", "0"], at.none_is_gone_without_its_tombstone)


def restores(how, folder):
    with tinyupstream.running() as up:
        at = Faulty(folder, up)
        at.apply()
        return at.tries(how, ["prune", "restore", "--run", at.run_id], at.all_are_there)


def retirements(how, folder):
    with tinyupstream.running() as up:
        at = Faulty(folder, up)
        return at.tries(how, ["platform", "retire", PLATFORM], at.all_are_there)


def told(what, tries, hows):
    points = faults.points_of(tries, hows)
    print(f"\n{what}: {points} points")
    assert points > 10, "hardly anything was tried"


def test_apply():
    told("prune apply", applies, faults.DISK_IN_TURNS)


def test_purge():
    told("prune purge", purges, faults.DISK_IN_TURNS)


def test_restore():
    told("prune restore", restores, [faults.KILLED])


def test_retire():
    told("platform retire", retirements, [faults.KILLED])
