# SPDX-License-Identifier: Apache-2.0
"""A builder copies wheels into the volumes and releases them while a server indexes and serves the replicas."""
import collections
import errno
import hashlib
import itertools
import os
import shutil
import subprocess
import sys
import threading
import time

import pytest

import clients
import serving
from reading import SOON, check_listed, fetch, listed, scan, until

UV = "uv==0.13.9"
BUSY_SECONDS = 10
FAT = 20 << 20  # the end of it is read from the volume while it is sent


def test_copied_wheels_show_once_they_are_released(cell, serve, make):
    server = serve(cell.read, "--rescan", "1")
    wheels = [make("alpha", "1.0", size=3_000_000), make("beta", "1.0")]
    for volume, wheel in zip(cell.volumes, wheels):
        volume.copy(wheel.path)
    assert [one.name for one in cell.volumes[0].write.glob("*.whl")] == [wheels[0].name]
    assert listed(server, "alpha") == listed(server, "beta") == {}
    for volume in cell.volumes:
        volume.release()
    for volume, wheel, project in zip(cell.volumes, wheels, ("alpha", "beta")):
        until(server, lambda one=project: listed(server, one), "the released wheel")
        check_listed(server, wheel)
        check_listed(server, wheel, volume.name)
    assert listed(server, "alpha", cell.volumes[1].name) == {}


def test_two_wheels_of_one_second_with_a_release_between(cell, serve, make):
    """AFS keeps whole seconds, and a replica shows a folder as of its release: after the second wheel the folder has the
    same mtime as before."""
    volume = cell.volumes[0]
    first, second = make("alpha", "1.0"), make("beta", "1.0")

    def in_one_second():
        volume.clear()
        time.sleep(1.05 - time.time() % 1)
        volume.copy(first.path)
        volume.release()
        volume.copy(second.path)
        return os.stat(volume.read).st_mtime == os.stat(volume.write).st_mtime

    serving.wait_for(in_one_second, 2 * SOON, "two copies and a release within a second")
    released_at = os.stat(volume.read).st_mtime
    server = serve(cell.read, "--rescan", "1")
    check_listed(server, first)
    serving.wait_for(lambda: time.time() > released_at + 5, SOON, "a time that no rule distrusts")
    until(server, lambda: scan(server)["ended"] > released_at + 5, "a scan that would trust the folder")
    volume.release()
    assert os.stat(volume.read).st_mtime == released_at
    until(server, lambda: listed(server, "beta"), "the second wheel")
    check_listed(server, second)


class Builder(threading.Thread):
    """Keeps copying new wheels into both volumes and releasing them: to the final name, or to a name with a dot that it
    renames."""

    def __init__(self, cell, make, stop):
        super().__init__()
        self.cell, self.make, self.stop = cell, make, stop
        self.releases, self.slowest, self.failures = 0, 0.0, []
        self.truth = {}

    def run(self):
        try:
            for number in itertools.count():
                if self.stop.is_set():
                    return
                self.build(number)
        except Exception as reason:  # pylint: disable=broad-exception-caught
            self.failures.append(repr(reason))

    def build(self, number):
        for volume in self.cell.volumes:
            project = f"moving-{volume.name.split('-')[0]}"
            wheel = self.make(project, f"1.{number}", size=1_500_000)
            self.truth[wheel.name] = wheel.sha256
            if number % 2:
                volume.copy(wheel.path)
            else:
                os.rename(volume.copy(wheel.path, ".new"), volume.write / wheel.name)
            begin = time.monotonic()
            volume.release()
            self.slowest = max(self.slowest, time.monotonic() - begin)
            self.releases += 1


class Reader(threading.Thread):
    """Keeps downloading all that the pages list. lost: why the AFS client itself cannot read a file that the server cannot
    read either, which no server can help."""

    def __init__(self, cell, server, projects, stop):
        super().__init__()
        self.cell, self.server, self.projects, self.stop = cell, server, projects, stop
        self.counts, self.failures, self.lost = collections.Counter(), [], []

    def run(self):
        try:
            while not self.stop.is_set():
                self.look()
        except Exception as reason:  # pylint: disable=broad-exception-caught
            self.failures.append(repr(reason))

    def look(self):
        for project in self.projects:
            for name, (url, sha256) in list(listed(self.server, project).items())[-6:]:
                status, came = fetch(self.server, url)
                self.counts[status] += 1
                if (status, came) != (200, sha256) and not (status == 503 and self.is_lost(url)):
                    self.failures.append(f"{name}: {status}, {came} instead of {sha256}")

    def is_lost(self, url):
        platform, _, name = url.rsplit("/", 3)[1:]
        try:
            (self.cell.read / platform / name).read_bytes()
        except OSError as reason:
            if reason.errno == errno.ETIMEDOUT:
                self.lost.append(str(reason))
        return bool(self.lost)


def install(client, requirements, url, target, wanted):
    """Installs with pip or uv, with an empty cache each time."""
    shutil.rmtree(target, ignore_errors=True)
    if requirements == UV:
        return client.run("uv", "pip", "install", "--default-index", url, "--python", sys.executable, "--no-cache",
                          "--target", target, *wanted)
    return client.pip("install", *clients.pip_index(url), "--target", target, *wanted)


def test_installs_go_on_through_releases(cell, serve, client, make, tmp_path):
    """No listed file is a 404, no hash differs, no install fails."""
    steady = [make("steady", "1.0", size=4_000_000, requires=["calm"]), make("calm", "2.0")]
    for volume, wheel in zip(cell.volumes, steady):
        volume.copy(wheel.path)
        volume.release()
    server = serve(cell.read, "--rescan", "1")
    both = [client(one) for one in (clients.DEBIAN_PIP, UV)]
    stop = threading.Event()
    builder = Builder(cell, make, stop)
    reader = Reader(cell, server, ["steady", "calm", "moving-debian", "moving-ubuntu"], stop)
    installs, begin = 0, time.monotonic()
    for one in (builder, reader):
        one.start()
    try:
        until(server, lambda: listed(server, "moving-debian"), "the builder's first wheel")
        while time.monotonic() < begin + BUSY_SECONDS or installs < 4:
            one = both[installs % 2]
            install(one, one.requirements, f"{server.url}/simple/", tmp_path / "target",
                    ["steady", "moving-debian", "moving-ubuntu"] if listed(server, "moving-ubuntu") else ["steady"])
            installs += 1
    except AssertionError:
        if not reader.lost:
            raise
    finally:
        stop.set()
        builder.join()
        reader.join()
    if reader.lost:
        pytest.skip(f"the AFS client took its file server for dead: {reader.lost[0]}")
    print(f"\ninstalls: {installs}, releases: {builder.releases}, the slowest {builder.slowest:.3f} s, "
          f"files fetched: {dict(reader.counts)}")
    assert not builder.failures and not reader.failures
    assert builder.releases >= 4 and reader.counts[200] >= 10
    wait_until_right(server, builder)


def wait_until_right(server, builder):
    """Waits until all that was built is listed with its hash."""
    def found():
        both = listed(server, "moving-debian") | listed(server, "moving-ubuntu")
        return {name: sha256 for name, (_, sha256) in both.items()} == builder.truth
    until(server, found, "all that was built")


def test_replaced_in_place(cell, serve, make):
    """A builder overwrites a wheel, as no builder should: no client gets other bytes under a hash, and the new ones show soon."""
    volume = cell.volumes[0]
    old = make("alpha", "1.0", size=300_000)
    volume.copy(old.path)
    volume.release()
    server = serve(cell.read, "--rescan", "1")
    check_listed(server, old)
    new = make("alpha", "1.0", files={"alpha.bin": os.urandom(299_000)})
    volume.copy(new.path)
    check_listed(server, old)  # nothing changes before the release
    volume.release()
    url, _ = listed(server, "alpha")[old.name]

    def is_new():
        reply = server.get(url.removeprefix(server.url))
        came = hashlib.sha256(reply.body).hexdigest()
        assert reply.status == 503 or came == reply["ETag"].strip('"')
        return reply.status == 200 and came == new.sha256 == listed(server, "alpha")[new.name][1]

    until(server, is_new, "the new bytes")
    serving.wait_for(lambda: "other bytes under a known name" in server.errors(), SOON, "the warning, which follows the scan")


@pytest.mark.parametrize("how", ["untouched", "replaced", "overwritten"])
def test_in_the_middle_of_a_download(cell, serve, make, how):
    """A release of another volume does not disturb a download. Otherwise the body is complete and right, or cut short; bytes
    that change in place are found by the client's hash."""
    volume = cell.volumes[0]
    old = make("fat", "1.0", size=FAT)
    volume.copy(old.path)
    volume.release()
    server = serve(cell.read, "--rescan", "1")
    (url, sha256), = listed(server, "fat").values()
    connection = server.socket(60)
    with connection:
        connection.sendall(f"GET {url.removeprefix(server.url)} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
        data = connection.recv(65536)
        assert data.startswith(b"HTTP/1.1 200 ")
        new = make("fat", "1.0", files={"fat.bin": os.urandom(FAT // 2)})
        if how == "replaced":
            os.rename(volume.copy(new.path, ".new"), volume.write / new.name)
        elif how == "untouched":
            volume.copy(make("other", "1.0").path)
        else:
            volume.copy(new.path)
        volume.release()
        data += serving.read_all(connection)
    body = data.partition(b"\r\n\r\n")[2]
    right = hashlib.sha256(body).hexdigest() == sha256
    print(f"\n{how}: {len(body)} of {old.size} bytes came, {'right' if right else 'not right'}")
    assert right or how == "overwritten" or (len(body) < old.size and how != "untouched")
    if how == "untouched":
        until(server, lambda: listed(server, "other"), "the other wheel")
        check_listed(server, old)
    else:
        until(server, lambda: listed(server, "fat").get(new.name, ("", ""))[1] == new.sha256, "the new wheel")
        until(server, lambda: fetch(server, url) == (200, new.sha256), "its bytes")


def test_killed_release(cell, serve, make):
    """It leaves the volume locked. Clients see the old state, and after an unlock and a release the new one."""
    volume = cell.volumes[0]
    old, new = make("alpha", "1.0"), make("alpha", "2.0")
    volume.copy(old.path)
    volume.release()
    server = serve(cell.read, "--rescan", "1")
    volume.copy(new.path)
    with cell.stopped("davolserver"):
        release = subprocess.Popen(["vos", "release", volume.name, "-localauth"], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        serving.wait_for(lambda: "LOCKED" in volume.entry(), SOON, "the lock of the release")
        release.kill()
        release.wait()
        check_listed(server, old)
    again = volume.try_release()
    assert again.returncode != 0 and "locked" in (again.stdout + again.stderr).lower()
    check_listed(server, old)
    assert list(listed(server, "alpha")) == [old.name]
    volume.unlock()
    volume.release()
    until(server, lambda: len(listed(server, "alpha")) == 2, "the new wheel")
    check_listed(server, old)
    check_listed(server, new)
