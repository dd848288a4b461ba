# SPDX-License-Identifier: Apache-2.0
"""After `freeze` has returned, no process writes on the platform. The tests order the events by stopping the program where it
writes (tests/faults/nth.c), not by time."""
import concurrent.futures
import contextlib
import os
import pathlib
import signal
import subprocess
import threading

import pytest

import faults
import serving
import storelib
import uploading

PLATFORM, OTHER = "debian-12-x86_64", "ubuntu-22.04-x86_64"
WHEEL = "foo-1.0-py3-none-any.whl"
LOCK = ".wheelcache-lock"
SOON = 120


class Site:
    def __init__(self, folder):
        self.folder, self.store, self.catalog = folder, folder / "store", folder / "state" / "catalog.db"
        self.platform = self.store / PLATFORM
        for name in (PLATFORM, OTHER):
            storelib.make_wheel(self.store / name / "f" / "foo", "foo", "1.0")
        self.catalog.parent.mkdir()
        assert self.run("index").returncode == 0

    def run(self, *words):
        done = serving.run(*words, "--catalog", self.catalog, self.store, timeout=SOON)
        return done

    def start(self, *words):
        """A command that is not waited for."""
        return subprocess.Popen([serving.binary(), *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def freeze(self, *options):
        return serving.run("freeze", *options, "--store", self.store, "--catalog", self.catalog, PLATFORM, timeout=SOON)

    def start_freeze(self):
        return self.start("freeze", "--store", self.store, "--catalog", self.catalog, PLATFORM)

    def thaw(self):
        assert serving.run("thaw", "--store", self.store, "--catalog", self.catalog, PLATFORM).returncode == 0

    def seen(self):
        """All that is on the platform, with mtimes."""
        paths = [self.platform, *self.platform.rglob("*")]
        stats = ((one, one.stat()) for one in paths)
        return {str(one): (st.st_ino, st.st_size, st.st_mtime_ns, st.st_ctime_ns) for one, st in stats}


@pytest.fixture(name="site")
def site_fixture(tmp_path):
    return Site(tmp_path)


@pytest.fixture(name="stop_at")
def stop_at_fixture(tmp_path, monkeypatch):
    """stop_at(part): programs that start from now on stop at their first call that changes a file with this part in its path."""
    monkeypatch.setenv("WHEELCACHE", os.environ["WHEELCACHE"])  # as it was, at the end

    def arm(part):
        monkeypatch.delenv("FAULT_NFS", raising=False)
        faults.Nth(tmp_path, [part]).arm(1, faults.PAUSED)
    return arm


def wait_until_stopped(process):
    def is_stopped():
        assert process.poll() is None
        stat = pathlib.Path(f"/proc/{process.pid}/stat").read_text(encoding="ascii")
        return stat.rpartition(")")[2].split()[0] == "T"
    serving.wait_for(is_stopped, SOON, "that it stops where it writes")


def expect_a_freeze_to_wait_for(process, site):
    """The freeze ends only after the writer continues."""
    done = site.freeze("--wait", "1s")
    assert done.returncode == 1 and "a write has not ended" in done.stderr, done.stderr
    assert f"the lock of {site.platform}" in done.stderr
    assert (LOCK in done.stderr) == ((site.platform / LOCK).exists()) == ("FAULT_NFS" in os.environ)
    freeze = site.start_freeze()
    process.send_signal(signal.SIGCONT)
    said, _ = freeze.communicate(timeout=SOON)
    assert freeze.returncode == 0, said


@pytest.fixture(name="builder")
def builder_fixture():
    with concurrent.futures.ThreadPoolExecutor(32) as pool:
        yield pool


@pytest.mark.parametrize("disk", ["of this machine", "of several machines"])
def test_upload_that_is_being_published(site, serve, stop_at, builder, tmp_path, monkeypatch, disk):
    bar = storelib.make_wheel(tmp_path, "bar", "1.0")
    stop_at(bar.name)
    if disk == "of several machines":
        monkeypatch.setenv("FAULT_NFS", "yes")
    server = serve(site.store)
    token = uploading.add_token(server)
    answer = builder.submit(uploading.upload, server, PLATFORM, bar.path, token)
    wait_until_stopped(server.process)
    expect_a_freeze_to_wait_for(server.process, site)
    after = site.seen()
    assert answer.result(SOON).status == 200
    assert (site.platform / "b" / "bar" / bar.name).exists()
    reply = uploading.upload(server, PLATFORM, storelib.make_wheel(tmp_path, "baz", "1.0").path, token)
    assert reply.status == 503 and b"frozen" in reply.body
    server.stop()
    assert site.seen() == after


def test_upload_whose_body_still_arrives(site, serve, tmp_path):
    """It writes nothing more, and removes nothing; the next scan after a thaw removes its temporary file."""
    bar = storelib.make_wheel(tmp_path, "bar", "1.0", size=2 << 20)
    server = serve(site.store)
    token = uploading.add_token(server)
    body, content_type = uploading.encode(uploading.form_of(bar.path))
    half = len(body) // 2
    with contextlib.closing(server.connect(SOON)) as connection:
        connection.putrequest("POST", f"/upload/{PLATFORM}/")
        headers = {"Content-Type": content_type, "Content-Length": str(len(body)), **uploading.authorization(token)}
        for name, value in headers.items():
            connection.putheader(name, value)
        connection.endheaders(body[:half])
        serving.wait_for(lambda: list(site.platform.rglob("*.tmp")), SOON, "the file on its way")
        assert site.freeze().returncode == 0
        after = site.seen()
        connection.send(body[half:])
        reply = connection.getresponse()
        assert reply.status == 503 and b"frozen" in reply.read()
    assert site.seen() == after
    server.signal(signal.SIGHUP)
    assert server.get(f"/{PLATFORM}/simple/").status == 200
    assert site.seen() == after
    site.thaw()
    server.signal(signal.SIGHUP)
    serving.wait_for(lambda: not list(site.platform.rglob("*.tmp")), SOON, "the sweeping of what was given up")
    assert uploading.upload(server, PLATFORM, bar.path, token).status == 200


def test_killed_writer_holds_no_freeze_up(site, serve, stop_at, builder, tmp_path):
    bar = storelib.make_wheel(tmp_path, "bar", "1.0")
    stop_at(bar.name)
    server = serve(site.store)
    answer = builder.submit(uploading.upload, server, PLATFORM, bar.path, uploading.add_token(server))
    wait_until_stopped(server.process)
    server.process.kill()
    server.wait_killed()
    assert answer.exception(SOON)
    assert site.freeze().returncode == 0
    assert not list(site.platform.rglob(bar.name))


LEFTOVER = ".wheelcache-1-1-1-1.tmp"  # of another machine


@pytest.mark.parametrize("words, part", [
    (("yank", WHEEL, "--reason", "bad"), f"{PLATFORM}/f/foo/{WHEEL}.yanked"),
    (("remove", WHEEL, "--reason", "bad"), f"{PLATFORM}/f/foo/{WHEEL}.pruned"),
    (("remove", "--delete", WHEEL, "--reason", "bad"), f"{PLATFORM}/f/foo/{WHEEL}"),
    (("index",), LEFTOVER),
])
def test_command_that_is_writing(site, stop_at, words, part):
    (site.platform / "f" / "foo" / LEFTOVER).touch()
    os.utime(site.platform / "f" / "foo" / LEFTOVER, (storelib.OLD, storelib.OLD))
    stop_at(part)
    platform = () if words[0] == "index" else ("--platform", PLATFORM)
    command = site.start(*words, *platform, "--catalog", site.catalog, site.store)
    wait_until_stopped(command)
    expect_a_freeze_to_wait_for(command, site)
    after = site.seen()
    said, _ = command.communicate(timeout=SOON)
    assert command.returncode == 0, said
    assert site.seen() == after
    done = site.run("unyank", WHEEL, "--platform", PLATFORM)
    assert done.returncode == 1 and ("is frozen" in done.stderr or "--delete" in words)
    assert site.seen() == after


def test_burst_through_two_servers(site, serve, builder, tmp_path):
    """Each with its own catalog, on one store. Uploads that were not published when the freeze returned are refused."""
    servers = [serve(site.store), serve(site.store)]
    assert servers[0].catalog != servers[1].catalog
    tokens = [uploading.add_token(one) for one in servers]
    for turn in range(3):
        go_on, wheels = threading.Event(), [storelib.make_wheel(tmp_path, f"burst{turn}x{i}", "1.0") for i in range(24)]

        def send(number, wheel, go_on=go_on):
            go_on.wait(SOON)
            return uploading.upload(servers[number % 2], PLATFORM, wheel.path, tokens[number % 2]).status
        answers = [builder.submit(send, *one) for one in enumerate(wheels)]
        go_on.set()
        answers[0].result(SOON)
        assert site.freeze().returncode == 0
        after = site.seen()
        statuses = [one.result(SOON) for one in answers]
        assert set(statuses) <= {200, 503}
        assert site.seen() == after
        for wheel, status in zip(wheels, statuses):
            assert bool(list(site.platform.rglob(wheel.name))) == (status == 200)
        site.thaw()
