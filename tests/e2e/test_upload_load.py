# SPDX-License-Identifier: Apache-2.0
"""Many builders at once, slow ones, large files, disks that are full or hang: no upload is lost, and none stays incomplete."""
import contextlib
import hashlib
import itertools
import os
import pathlib
import queue
import shutil
import socket
import struct
import subprocess
import threading
import uuid
import zipfile

import pytest

import faults
import serving
import storelib
import uploading

PLATFORMS = ["ubuntu-22.04-x86_64", "debian-12-x86_64", "fedora-43-x86_64"]
FIRST, SECOND, _ = PLATFORMS
SOON = 60
PIECE = 300_000  # bytes: more than the server buffers before it reads them
JSON = {"Accept": "application/vnd.pypi.simple.v1+json"}


@pytest.fixture(name="store")
def store_fixture(tmp_path):
    for platform in PLATFORMS:
        storelib.make_wheel(tmp_path / "store" / platform / "f" / "foo", "foo", "1.0")
    return tmp_path / "store"


def no_temporary_files(store):
    return not [path for path in store.rglob(".*") if path.is_file()]


class Builder:
    """One connection that stays open, and what is sent over it."""

    def __init__(self, server, token):
        self.connection, self.token = server.connect(120), token

    def upload(self, platform, wheel):
        body, content_type = uploading.encode(uploading.form_of(wheel))
        self.connection.request("POST", f"/upload/{platform}/", body,
                                {"Content-Type": content_type, **uploading.authorization(self.token)})
        answer = self.connection.getresponse()
        return serving.Reply(answer.status, answer.headers, answer.read())

    def is_listed(self, platform, wheel, accept=None):
        reply = serving.ask(self.connection, f"/{platform}/simple/{wheel.name.split('-')[0]}/", accept)
        return reply.status == 200 and wheel.name.encode() in reply.body and wheel.sha256.encode() in reply.body

    def check(self, platform, wheel):
        assert self.is_listed(platform, wheel, JSON), f"{wheel.name} of {platform} is not in the JSON"
        assert self.is_listed(platform, wheel), f"{wheel.name} of {platform} is not in the HTML"


class Crowd:
    """Threads that start at once; the block ends with the last of them, and raises their first error."""

    def __init__(self):
        self.threads, self.failures = [], []
        self.ends = threading.Event()

    def add(self, function, *arguments):
        def run():
            try:
                function(*arguments)
            except Exception as reason:  # pylint: disable=broad-except  # told below
                self.failures.append(reason)
        self.threads.append(threading.Thread(target=run))

    def add_until_the_end(self, function):
        """Repeats until all others have ended."""
        def run():
            while not self.ends.is_set():
                function()
        self.add(run)
        self.threads[-1].is_beside = True

    def run(self):
        for one in self.threads:
            one.start()
        for one in self.threads:
            if not hasattr(one, "is_beside"):
                one.join()
        self.ends.set()
        for one in self.threads:
            one.join()
        if self.failures:
            raise self.failures[0]


# --- a burst ---

def burst_wheels(folder, count, projects):
    """(platform, wheel), a version of each project after the other."""
    for number in range(count):
        name, version = f"p{number % projects}", f"1.{number // projects}"
        platform = PLATFORMS[number % len(PLATFORMS)]
        wheel = storelib.make_wheel(folder, name, version)
        yield platform, wheel


def send_all(builder, neighbour, todo):
    """Each is on both formats of its page when its 200 arrives, also in the next answer of another process."""
    with contextlib.suppress(queue.Empty):
        while True:
            platform, wheel = todo.get_nowait()
            reply = builder.upload(platform, wheel.path)
            assert reply.status == 200, reply.body
            assert neighbour.is_listed(platform, wheel, JSON), f"{wheel.name}: not on the other server's page"
            builder.check(platform, wheel)


def copy_beside(store, wheels):
    """Copies files into the tree, as a builder that does not upload."""
    for wheel in wheels:
        name = wheel.name.split("-")[0]
        (store / FIRST / name[0] / name).mkdir(parents=True, exist_ok=True)
        shutil.copy(wheel.path, store / FIRST / name[0] / name)


def test_no_upload_is_lost_in_a_burst(serve, store, tmp_path, request):
    """While pages are read, scans run and a builder copies files into the tree."""
    count, projects = (1000, 150) if request.config.getoption("--nightly") else (200, 30)
    sent = list(burst_wheels(tmp_path / "dist", count, projects))
    copied = [storelib.make_wheel(tmp_path / "copied", f"p{number}", "9.0") for number in range(0, projects, 3)]
    state = tmp_path / "state"
    server, other = serve(store, state=state), serve(store, state=state)
    token = uploading.add_token(server)
    todo, scans, crowd = queue.SimpleQueue(), itertools.count(), Crowd()
    for one in sent:
        todo.put(one)

    def scan():
        assert serving.run("index", "-q", "--catalog", server.catalog, store).returncode == 0
        next(scans)

    def read():
        for path in ("/simple/", f"/{FIRST}/simple/p1/", f"/{SECOND}/simple/"):
            assert server.get(path).status in (200, 404)

    for number in range(8):
        pair = (server, other) if number % 2 else (other, server)
        crowd.add(send_all, *(Builder(one, token) for one in pair), todo)
    crowd.add(copy_beside, store, copied)
    crowd.add_until_the_end(scan)
    crowd.add_until_the_end(read)
    crowd.run()
    scan()
    at_end = [Builder(server, token), Builder(other, token)]
    for platform, wheel in sent + [(FIRST, wheel) for wheel in copied]:
        for builder in at_end:
            builder.check(platform, wheel)
    assert no_temporary_files(store)
    runs = next(scans)
    print(f"\n{count} uploads over {projects} projects, and {len(copied)} copied files, during {runs} scans")
    assert runs > 1


@pytest.mark.parametrize("same", [True, False], ids=["same", "other"])
def test_two_uploaders_of_one_file(serve, store, tmp_path, request, same):
    """Through two servers: one wins, and the other gets the answer for it."""
    rounds = 100 if request.config.getoption("--nightly") else 20
    state = tmp_path / "state"
    servers = [serve(store, state=state), serve(store, state=state)]
    token = uploading.add_token(servers[0])
    builders = [Builder(one, token) for one in servers]
    for number in range(rounds):
        made = [storelib.make_wheel(tmp_path / str(who), f"new{number}", "1.0",
                                    files={"new.py": b"same" if same else b"%d" % who}) for who in range(2)]
        replies, crowd, line = [None, None], Crowd(), threading.Barrier(2)

        def send(who, made=made, replies=replies, line=line):
            line.wait(SOON)
            replies[who] = builders[who].upload(FIRST, made[who].path)
        for who in range(2):
            crowd.add(send, who)
        crowd.run()
        winners = [who for who in range(2) if b": published" in replies[who].body]
        assert len(winners) == 1, [reply.body for reply in replies]
        loser = replies[1 - winners[0]]
        assert loser.status == (200 if same else 409)
        assert same or loser.body.startswith(b"File already exists")
        winner = made[winners[0]]
        assert (store / FIRST / "n" / f"new{number}" / winner.name).read_bytes() == winner.path.read_bytes()
        for builder in builders:
            builder.check(FIRST, winner)
    assert no_temporary_files(store)


# --- slow, broken, many ---

def raw_upload(server, platform, wheel, token):
    """The bytes of a whole request."""
    body, content_type = uploading.encode(uploading.form_of(wheel))
    head = f"POST /upload/{platform}/ HTTP/1.1\r\nHost: {server.host}\r\nContent-Type: {content_type}\r\n"
    head += "".join(f"{name}: {value}\r\n" for name, value in uploading.authorization(token).items())
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode(), body


def test_slow_uploads_and_two_hundred_at_once(serve, store, tmp_path):
    """60 clients send a byte per second, in the fields of their forms and in their files: no other client waits for them."""
    server = serve(store, config="[server]\ntimeout = 10\nconnections = 1000\n")
    token = uploading.add_token(server)
    fat = storelib.make_wheel(tmp_path / "dist", "fat", "1.0", size=2 * PIECE).path
    head, body = raw_upload(server, FIRST, fat, token)
    with contextlib.ExitStack() as stack:
        slow = [stack.enter_context(server.socket()) for _ in range(60)]
        for number, one in enumerate(slow):
            one.sendall(head + body[:100 if number % 2 else PIECE])
        crowd, line = Crowd(), threading.Barrier(200)

        def drip():
            for one in slow:
                with contextlib.suppress(OSError):
                    one.send(b"x")
            crowd.ends.wait(1)

        def send(number):
            wheel = storelib.make_wheel(tmp_path / "dist", f"new{number}", "1.0")
            builder = Builder(server, token)
            line.wait(SOON)
            platform = PLATFORMS[number % len(PLATFORMS)]
            reply = builder.upload(platform, wheel.path)
            assert reply.status == 200, reply.body
            builder.check(platform, wheel)
        for number in range(200):
            crowd.add(send, number)
        crowd.add_until_the_end(drip)
        crowd.run()
        serving.wait_for(lambda: no_temporary_files(store), SOON, "the end of the slow ones")
    assert not list(store.rglob("fat-*"))
    assert server.get(f"/{FIRST}/simple/fat/").status == 404


def test_connection_that_breaks_anywhere(serve, store, tmp_path):
    """At each twentieth of the body, closed or reset: it leaves nothing. On a busy machine the end of a connection may be
    noticed only at the time-out."""
    server = serve(store, config="[server]\ntimeout = 5\n")
    token = uploading.add_token(server)
    wheel = storelib.make_wheel(tmp_path / "dist", "new", "1.0", size=PIECE * 20)
    head, body = raw_upload(server, FIRST, wheel.path, token)
    place = store / FIRST / "n"
    for part, is_reset in itertools.product(range(20), (False, True)):
        with contextlib.closing(server.socket()) as connection:
            connection.sendall(head + body[:len(body) * part // 20])
            if part:
                serving.wait_for(lambda: not no_temporary_files(place), SOON, "its beginning")
            if is_reset:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        serving.wait_for(lambda: not place.exists(), SOON, "the end of what broke, and of its folder")
    assert server.get(f"/{FIRST}/simple/new/").status == 404
    builder = Builder(server, token)
    assert builder.upload(FIRST, wheel.path).status == 200
    builder.check(FIRST, wheel)


# --- a large file ---

def make_large_wheel(path, size):
    """Stored, in blocks; returns its SHA-256."""
    block = hashlib.shake_256(b"block").digest(1 << 20)
    digest = hashlib.sha256()
    members = storelib.wheel_members("large", "1.0", files={})
    with zipfile.ZipFile(path, "w") as archive:
        with archive.open("large.bin", "w") as member:
            for _ in range(size // len(block)):
                member.write(block)
                digest.update(block)
        row = f"large.bin,sha256={storelib.base64.urlsafe_b64encode(digest.digest()).rstrip(b'=').decode()},{size}\n"
        for name, data in members:
            archive.writestr(name, row.encode() + data if name.endswith("/RECORD") else data)
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def stream(path, boundary):
    head = uploading.Part("content", b"", path.name).head()
    yield b"--%s\r\n%s\r\n\r\n" % (boundary, head)
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            yield block
    yield b"\r\n--%s--\r\n" % boundary


def upload_stream(server, path, token):
    boundary = uuid.uuid4().hex.encode()
    length = sum(map(len, stream(pathlib.Path(os.devnull), boundary))) + path.stat().st_size
    length += len(path.name) - len(pathlib.Path(os.devnull).name)
    headers = {"Content-Type": f"multipart/form-data; boundary={boundary.decode()}", "Content-Length": str(length),
               **uploading.authorization(token)}
    with contextlib.closing(server.connect(600)) as connection:
        connection.request("POST", f"/upload/{FIRST}/", stream(path, boundary), headers)
        answer = connection.getresponse()
        return serving.Reply(answer.status, answer.headers, answer.read())


def peak_memory(server):
    """MB that it has had at most."""
    text = pathlib.Path(f"/proc/{server.process.pid}/status").read_text()
    return int(text.partition("VmHWM:")[2].split()[0]) >> 10


def test_large_file_in_little_memory(serve, store, tmp_path, request, monkeypatch):
    size = (600 if request.config.getoption("--nightly") else 200) << 20  # at most 48 MB of it are in memory
    path = tmp_path / "large-1.0-py3-none-any.whl"
    sha256 = make_large_wheel(path, size)
    monkeypatch.setenv("ASAN_OPTIONS", f"{os.environ.get('ASAN_OPTIONS', '')}:quarantine_size_mb=1")
    server = serve(store, config="[upload]\nmax-file = 4G\n")
    token = uploading.add_token(server)
    small = storelib.make_wheel(tmp_path / "dist", "small", "1.0")
    assert upload_stream(server, small.path, token).status == 200
    before = peak_memory(server)
    reply = upload_stream(server, path, token)
    after = peak_memory(server)
    assert reply.status == 200, reply.body
    assert uploading.listed(server, FIRST, "large") == {path.name: sha256}
    print(f"\nan upload of {size >> 20} MB: at most {before} MB of memory before, {after} MB after")
    assert after - before < 48
    path.unlink()
    (store / FIRST / "l" / "large" / path.name).unlink()


# --- disks ---

@pytest.fixture(name="small_disk")
def small_disk_fixture(store):
    """The second platform is on a disk of 2 MB."""
    place = store / SECOND
    shutil.rmtree(place)
    place.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", place], capture_output=True, check=False)
    if done.returncode:
        pytest.skip("no tmpfs can be mounted here")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", place], check=True)


def test_full_disk_leaves_no_part_of_a_file(serve, store, small_disk, tmp_path):
    server = serve(store)
    token = uploading.add_token(server)
    builder = Builder(server, token)
    large = storelib.make_wheel(tmp_path / "dist", "large", "1.0", size=5 << 20)
    small = storelib.make_wheel(tmp_path / "dist", "small", "1.0")
    for _ in range(5):
        reply = uploading.upload(server, SECOND, large.path, token)
        assert reply.status == 507, reply.body
        assert not [path for path in small_disk.rglob("*") if path.is_file()]
        assert server.get(f"/{SECOND}/simple/large/").status == 404
    assert builder.upload(FIRST, large.path).status == 200
    builder.check(FIRST, large)
    assert builder.upload(SECOND, small.path).status == 200
    builder.check(SECOND, small)
    server.stop()  # before its disk goes


def test_platform_that_hangs_does_not_delay_others(serve, store, tmp_path, monkeypatch):
    """Nor does a frozen one. Uploads to it are published when it answers again."""
    hang = faults.preload("hang", tmp_path, monkeypatch)
    server = serve(store)
    token = uploading.add_token(server)
    frozen = PLATFORMS[2]
    assert serving.run("freeze", "--catalog", server.catalog, "--store", store, frozen).returncode == 0
    hang(f"/store/{SECOND}/w")
    waiting, crowd = [storelib.make_wheel(tmp_path / "dist", f"w{number}", "1.0") for number in range(20)], Crowd()

    def wait(wheel):
        builder = Builder(server, token)
        assert builder.upload(SECOND, wheel.path).status == 200
        builder.check(SECOND, wheel)

    def others():
        try:
            builder = Builder(server, token)
            for number in range(30):
                wheel = storelib.make_wheel(tmp_path / "dist", f"new{number}", "1.0")
                assert builder.upload(frozen, wheel.path).status == 503
                assert builder.upload(FIRST, wheel.path).status == 200
                builder.check(FIRST, wheel)
            assert not [one for one in waiting if builder.is_listed(SECOND, one)], "it did not hang"
        finally:
            hang(None)

    for wheel in waiting:
        crowd.add(wait, wheel)
    crowd.add(others)
    crowd.run()
    assert no_temporary_files(store / SECOND)
