# SPDX-License-Identifier: Apache-2.0
"""Retain, prune and promote at the same moment, and killed: one process stops at each call that changes a tombstone or a
membership, the other runs, and the first continues."""
import hashlib
import os
import pathlib
import shutil
import signal
import subprocess

import pytest

import faults
import serving
import tinyupstream
from channels import JAMMY, NOBLE, Channel, folder_in_memory, wheel

PARTS = [f"{JAMMY}/foo", "wheelcache-views"]
TESTED = "[view tested]\nfrom = nightly\n"
SOON = 60


@pytest.fixture(name="memory")
def memory_fixture():
    with folder_in_memory() as folder:
        yield folder


class World(Channel):
    """One platform with two versions: retain ends the older one, and a promotion takes it."""
    ends = wheel("1.0")

    def __init__(self, folder, rules="keep-versions = 1\n", more=TESTED):
        super().__init__(folder, rules, more)
        text = self.config.read_text().replace(f"[platform {NOBLE}]\npythons = 3.12\n", "").replace(f" {NOBLE}", "")
        self.config.write_text(text)
        for version in ("1.0", "1.1"):
            self.put(version, 1, JAMMY)
        self.commands = {"retain": ["retain"], "promote": ["promote", "--to", "tested", self.ends]}

    def reset(self):
        for path in [*self.store.rglob("*.pruned"), *self.store.glob(".wheelcache-views/*/*")]:
            path.unlink()
        self.scan()

    def start(self, what, *options):
        return subprocess.Popen([serving.binary(), *self.commands[what], *options, "--config", str(self.config)],
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def members(self, view="tested"):
        """Of the newest generation."""
        found = set()
        for one in self.generations(view):
            found |= {each["filename"] for each in one["adds"]}
            found -= {each["filename"] for each in one["removes"]}
        return found

    def pruned(self):
        return {path.name.removesuffix(".pruned") for path in self.store.rglob("*.pruned")}

    def there(self):
        return {path.name for path in self.store.rglob("*.whl")}

    def expect_nothing_lost(self, point):
        assert not self.members() & self.pruned(), point
        assert set(self.names()) == self.there() - self.pruned(), point
        done = serving.run("prune", "purge", "--grace", "0", "--config", self.config)
        assert done.returncode == 0, done.stderr
        assert self.members() | set(self.names()) <= self.there(), point


def is_stopped(process):
    return pathlib.Path(f"/proc/{process.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0] == "T"


def run_inside(world, nth, point, outer, inner):
    """The outer command stops at this point, the inner one runs, the outer one goes on. False: there is no such point."""
    nth.arm(point, faults.PAUSED)
    process = world.start(outer)
    serving.wait_for(lambda: process.poll() is not None or is_stopped(process), SOON, "the stop")
    came = nth.disarm()
    said = serving.run(*world.commands[inner], "--config", world.config) if came else None
    process.send_signal(signal.SIGCONT) if came else None
    output, _ = process.communicate(timeout=SOON)
    assert process.returncode in (0, 1), output
    assert not came or said.returncode in (0, 1), said.stderr
    return came


@pytest.fixture(name="step")
def step_fixture(request):
    """Every other point, without --nightly."""
    return 1 if request.config.getoption("--nightly") else 2


def sweep(world, nth, outer, inner, step):
    point, kept = 1 - step, set()
    while True:
        point += step
        world.reset()
        came = run_inside(world, nth, point, outer, inner)
        kept.add((world.ends in world.members(), world.ends in world.pruned()))
        saved = {path: path.read_bytes() for path in world.store.rglob("*.whl")}
        world.expect_nothing_lost((outer, point))
        for path, data in saved.items():
            path.write_bytes(data)
            world.age(path, 1)
        if not came:
            return point - step, kept


@pytest.mark.parametrize("outer, inner", [("retain", "promote"), ("promote", "retain")])
def test_promotion_beside_a_retain(memory, nth, step, outer, inner):
    points, kept = sweep(World(memory), nth, outer, inner, step)
    assert points >= 3
    assert {(True, False), (False, True)} & kept  # either of the two, or neither, but never both
    assert (True, True) not in kept


MEMBERSHIP = "[view tested]\nfrom = nightly\nkeep-versions = 1\n"


def both_are_members(world):
    world.reset()
    world.generation([(JAMMY, wheel("1.0")), (JAMMY, wheel("1.1"))])


@pytest.fixture(name="nth")
def nth_fixture(memory, monkeypatch):
    monkeypatch.setenv("WHEELCACHE", os.environ["WHEELCACHE"])
    return faults.Nth(memory, PARTS)


@pytest.mark.parametrize("rules, more", [("keep-versions = 1\n", ""), ("", MEMBERSHIP)], ids=["files", "membership"])
def test_killed_retain_is_repeated(memory, nth, step, rules, more):
    world, point, came = World(memory, rules, more), 1 - step, True
    while came:
        point += step
        both_are_members(world)
        nth.arm(point, faults.KILLED)
        world.start("retain").communicate(timeout=SOON)
        came = nth.disarm()
        done = serving.run("retain", "--config", world.config)
        assert done.returncode == 0, done.stderr
        assert set(world.names()) == ({wheel("1.1")} if rules else world.there())
        assert world.pruned() == ({world.ends} if rules else set())
        assert len(world.generations()) == (1 if rules else 2), point
        assert world.members() == ({wheel("1.1")} if more else world.there())
    assert point >= 3


@pytest.mark.parametrize("rules, more", [("keep-versions = 1\n", ""), ("", MEMBERSHIP)], ids=["files", "membership"])
def test_two_retains_of_two_machines(memory, nth, step, rules, more):
    """Each has a catalog of its own. One stops at each of its points."""
    world, other, point, came = World(memory, rules, more), memory / "other.db", 1 - step, True
    world.commands["other"] = ["retain", "--catalog", str(other)]
    while came:
        point += step
        both_are_members(world)
        for path in memory.glob("other.db*"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        assert serving.run("index", "--quiet", "--catalog", other, "--config", world.config).returncode == 0
        came = run_inside(world, nth, point, "retain", "other")
        world.scan()
        assert world.pruned() == ({world.ends} if rules else set())
        assert len(world.generations()) == (1 if rules else 2), point


def test_second_retain_of_a_machine_is_told(memory, nth):
    world = World(memory)
    world.reset()
    nth.arm(1, faults.PAUSED)
    first = world.start("retain")
    serving.wait_for(lambda: is_stopped(first), SOON, "the stop")
    nth.disarm()
    said, _ = (second := world.start("retain")).communicate(timeout=SOON)
    assert second.returncode == 1 and "is under way" in said
    first.send_signal(signal.SIGCONT)
    first.communicate(timeout=SOON)
    assert first.returncode == 0 and world.pruned() == {world.ends}


class Applied(World):
    """The same with a plan that is applied: upstream has the older version too."""

    def __init__(self, folder, up):
        super().__init__(folder, "", TESTED)
        digest = hashlib.sha256((self.store / JAMMY / "foo" / self.ends).read_bytes()).hexdigest()
        up.add("foo", self.ends, sha256=digest)
        self.config.write_text(self.config.read_text() + f"[upstream]\nurl = {up.url}\nretries = 0\n"
                               "[prune]\nclients-have-upstream = yes\nmin-age = 0\nupstream-min-age = 0\nmax-files = 100%\nmax-bytes = 100%\n")
        self.plan = folder / "plan.json"
        self.commands["apply"] = ["prune", "apply", str(self.plan)]

    def reset(self):
        super().reset()
        assert serving.run("prune", "plan", "--quiet", "-o", self.plan, "--config", self.config).returncode == 0


@pytest.mark.parametrize("outer, inner", [("apply", "promote"), ("promote", "apply")])
def test_promotion_beside_an_apply(memory, nth, step, outer, inner):
    with tinyupstream.running() as up:
        points, kept = sweep(Applied(memory, up), nth, outer, inner, step)
    assert points >= 3 and (True, True) not in kept
