# SPDX-License-Identifier: Apache-2.0
"""Every call that changes the results file fails once, or the process is killed there: an attempt is stored whole or
not at all, nothing else is lost, and what is sent again is stored. Prints how many points were tried (pytest -s)."""
import contextlib
import http.client
import json

import pytest

import attempts
import faults
import serving
import storelib
import test_builds_server as builds
import uploading

PARTS = ["/catalog.db.builds"]


class Recording:
    """A server with faults, to which attempts are sent."""

    def __init__(self, folder, start):
        self.folder, self.start = folder, start
        storelib.make_wheel(folder / "store" / builds.PUBLIC / "f" / "foo", "foo", "1.0")
        self.nth = faults.Nth(folder, PARTS)
        self.restart()
        self.token = uploading.add_token(self.server)
        self.stored = {}  # log by id, of the attempts that the server has confirmed

    def restart(self):
        self.server = self.start(self.folder / "store", "--rescan", "0", state=self.folder / "state")
        serving.wait_for(lambda: b'"ended":0' not in self.server.get("/-/health").body.replace(b" ", b""), 60, "a scan")

    def send(self, document):
        """The reply; None: it did not arrive completely."""
        with contextlib.suppress(OSError, http.client.HTTPException):
            return builds.send(self.server, document, self.token)

    def told(self):
        """The ids that the program lists, with the logs; it reads without faults."""
        words = ["builds", "--catalog", self.folder / "state" / "catalog.db"]
        done = serving.run(*words, "--json", self.folder / "store")
        assert done.returncode == 0, done.stderr
        return {one["id"]: one for one in json.loads(done.stdout)["attempts"]}

    def check(self, document):
        """All that were confirmed are there; this one is whole, or absent."""
        told = self.told()
        assert not set(self.stored) - set(told)
        assert not set(told) - set(self.stored) - {document["id"]}
        if document["id"] not in told:
            return
        assert told[document["id"]] == {key: value for key, value in document.items() if key != "log"}
        words = ["--catalog", self.folder / "state" / "catalog.db", "--log", document["id"], self.folder / "store"]
        assert serving.run("builds", *words).stdout == document["log"]

    def hit(self, document, at, how):
        """Whether the fault came."""
        self.nth.arm(at, how)
        reply = self.send(document)
        came = self.nth.disarm()
        assert came or reply.status == 200, reply.body
        assert how == faults.KILLED or reply.status in (200, 503, 507), reply.body
        if how == faults.KILLED and came:
            self.server.wait_killed()
            self.restart()
        return came

    def retry(self, document):
        reply = self.send(document)
        assert reply.status == 200, reply.body + self.server.errors().encode()
        self.stored[document["id"]] = document["log"]


def attempts_to_a_file(how, folder, is_new):
    """is_new: the index is lost before each attempt, which loses nothing."""
    with serving.servers(folder) as start:
        at = Recording(folder, start)
        at.retry(builds.attempt())
        for point in faults.points():
            if is_new:
                for ending in "", "-wal", "-shm":
                    (folder / "state" / f"catalog.db.builds{ending}").unlink(missing_ok=True)
            document = builds.attempt(log=f"log {point}\n" * 2000, project=f"p{point}")
            came = at.hit(document, point, how)
            at.check(document)
            at.retry(document)
            if not came:
                at.check(document)
                return point - 1


def told(what, points):
    print(f"\n{what}: {points} points")
    assert points > 10, "hardly anything was tried"


@pytest.mark.parametrize("is_new", [False, True])
def test_attempts(is_new):
    told("build result", faults.points_of(attempts_to_a_file, faults.DISK_IN_TURNS, is_new))


def lists(how, folder):
    """Reading makes files beside the results file. Nothing is lost; either the list is whole or an error says why."""
    made = attempts.Attempts(folder / "catalog.db.builds")
    keys = [made.add(project, "failed", b"log") for project in ("a", "b")]
    nth = faults.Nth(folder, PARTS)
    for point in faults.points():
        nth.arm(point, how)
        done = serving.run("builds", "--json", "--catalog", folder / "catalog.db", folder)
        came = nth.disarm()
        if done.returncode == 0:
            assert sorted(one["id"] for one in json.loads(done.stdout)["attempts"]) == keys
        else:
            assert came and (how == faults.KILLED or "catalog.db.builds" in done.stderr), done.stderr
        assert len(made.rows("SELECT 1 FROM attempt JOIN log ON log.attempt = attempt.id")) == 2
        if not came:
            return point - 1


def test_lists():
    print(f"\nlist: {faults.points_of(lists, faults.DISK)} points")
