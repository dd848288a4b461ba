# SPDX-License-Identifier: Apache-2.0
"""Clients that keep connections: slow, idle, not reading, or more than there are descriptors. Other clients are served."""
import contextlib
import hashlib
import os
import resource
import signal
import socket
import ssl
import statistics
import threading
import time

import pytest

import serving
import storelib

TIMEOUT = 3
LATE = 25  # seconds after the time-out: the connection table is checked each second, and this machine may be slow
SLOW = 60
IDLE = 1000
WORST = 1  # second: limit of the median of answers meanwhile; less than the time-out, and more than any machine needs
MANY = 15  # seconds of time-out for tests with a thousand connections
PAGE = "/simple/foo/"
CROWD = "127.0.0.2"


@pytest.fixture(scope="module", name="store")
def store_fixture(tmp_path_factory):
    """A store with the small project foo and a file of 20 MB."""
    store = tmp_path_factory.mktemp("slow") / "store"
    storelib.make_wheel(store, "foo", "1.0")
    storelib.make_wheel(store, "fat", "1.0", size=20 << 20)
    return store


@pytest.fixture(scope="module", name="server")
def server_fixture(serve_module, store, authority):
    raise_file_limit(2 * IDLE + 500)
    return serve_module(store, config=f"[server]\ntimeout = {TIMEOUT}\nconnections = 2000\n", authority=authority)


def raise_file_limit(wanted):
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < wanted:
        pytest.skip(f"only {hard} files may be open here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def descriptors(server, kind=""):
    """How many it has open; with kind, those whose name has it, such as "socket:"."""
    folder = f"/proc/{server.process.pid}/fd"
    count = 0
    for name in os.listdir(folder):
        with contextlib.suppress(FileNotFoundError):
            count += kind in os.readlink(f"{folder}/{name}")
    return count


def sockets(server):
    return descriptors(server, "socket:")


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def percentile(times, percent):
    return sorted(times)[min(len(times) - 1, len(times) * percent // 100)]


class Others:
    """Clients that send requests all the time, half of them on new connections, and note how long each takes."""

    def __init__(self, server, title):
        self.server = server
        self.title = title
        self.times = []
        self.failures = []
        self.asked = time.perf_counter()  # by the one that keeps its connection
        self.stop = threading.Event()
        self.threads = [threading.Thread(target=self.run, args=(keep,)) for keep in (True, False)]

    def __enter__(self):
        for one in self.threads:
            one.start()
        return self

    def __exit__(self, *reason):
        self.stop.set()
        for one in self.threads:
            one.join()
        if reason[0]:
            return
        assert not self.failures, self.failures[0]
        assert len(self.times) > 10
        p50, p99 = percentile(self.times, 50), percentile(self.times, 99)
        print(f"\n{self.title}: the others got {len(self.times)} answers, p50 {p50 * 1000:.1f} ms,"
              f" p99 {p99 * 1000:.1f} ms, worst {max(self.times) * 1000:.1f} ms")
        assert p50 < WORST

    def run(self, keep):
        try:
            with contextlib.closing(self.server.connect()) as kept:
                while not self.stop.is_set():
                    begin = time.perf_counter()
                    reply = self.ask(kept) if keep else self.server.get(PAGE)
                    assert reply.status == 200
                    self.times.append(time.perf_counter() - begin)
                    time.sleep(0.002)
        except (AssertionError, OSError) as reason:
            self.failures.append(repr(reason))

    def ask(self, kept):
        """If the machine was stopped for the time-out, the connection was idle and is rightly closed."""
        try:
            return serving.ask(kept, PAGE)
        except OSError:
            if time.perf_counter() - self.asked < TIMEOUT - 1:
                raise
            kept.close()
            return serving.ask(kept, PAGE)
        finally:
            self.asked = time.perf_counter()


def is_closed(connection):
    """Whether the other side has closed it; answers are discarded."""
    connection.setblocking(False)
    try:
        while connection.recv(65536):
            pass
        return True
    except (BlockingIOError, ssl.SSLWantReadError):
        return False
    except OSError:
        return True


def drip(connections, begin, data, seconds):
    """Sends a byte per second on each until all are closed; returns how long each lived, since begin."""
    start, lived = time.monotonic(), {}
    for turn in range(seconds):
        for one in set(connections) - set(lived):
            with contextlib.suppress(OSError):
                one.send(data[turn:turn + 1])
        time.sleep(max(0, start + turn + 1 - time.monotonic()))
        lived.update({one: time.monotonic() - begin for one in set(connections) - set(lived) if is_closed(one)})
        if len(lived) == len(connections):
            break
    return list(lived.values())


def test_clients_at_one_byte_a_second(server):
    """The whole header must arrive in time: single bytes do not extend the time-out."""
    request = b"GET /simple/foo/ HTTP/1.1\r\nHost: an.example.of.a.long.name\r\n"
    before = sockets(server)
    with contextlib.ExitStack() as stack, Others(server, f"{SLOW} clients at a byte a second"):
        begin = time.monotonic()
        slow = [stack.enter_context(server.socket()) for _ in range(SLOW)]
        for one in slow[::2]:  # half of them have been served before
            one.sendall(b"GET /simple/foo/ HTTP/1.1\r\nHost: x\r\n\r\n")
        lived = drip(slow, begin, request, TIMEOUT + LATE)
    assert len(lived) == SLOW, f"{SLOW - len(lived)} are still there"
    assert TIMEOUT - 1 <= min(lived)
    serving.wait_for(lambda: sockets(server) <= before + 1, LATE, "their descriptors")


def test_bodies_at_one_byte_a_second(server):
    """They are refused, and read so that the client sees the answer, but not for ever."""
    # Exceeds LIMIT_BODY_PROGRESS.
    head = b"POST /simple/foo/ HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n"
    before = sockets(server)
    with contextlib.ExitStack() as stack, Others(server, f"{SLOW} bodies at a byte a second"):
        slow = [stack.enter_context(server.socket()) for _ in range(SLOW)]
        for one in slow:
            one.sendall(head)
        lived = drip(slow, time.monotonic(), b"x" * 100, TIMEOUT + LATE)
    assert len(lived) == SLOW, f"{SLOW - len(lived)} are still there"
    serving.wait_for(lambda: sockets(server) <= before + 1, LATE, "their descriptors")


def test_a_thousand_idle_connections(serve, store, authority):
    raise_file_limit(2 * IDLE + 500)
    server = serve(store, config=f"[server]\ntimeout = {MANY}\nconnections = 2000\n", authority=authority)
    count = IDLE // 4 if authority else IDLE  # or the first ends before the last has its handshake
    with contextlib.ExitStack() as stack, Others(server, f"{count} idle connections"):
        idle = [stack.enter_context(server.socket()) for _ in range(count)]
        for one in idle[::3]:
            one.sendall(b"GET /simple/foo/ HT")
        for one in idle[1::3]:
            one.sendall(b"GET /simple/foo/ HTTP/1.1\r\nHost: x\r\n\r\n")
        serving.wait_for(lambda: sockets(server) > count, MANY, "all of them")
        serving.wait_for(lambda: all(map(is_closed, idle)), MANY + LATE, "the end of all that were idle")
    serving.wait_for(lambda: sockets(server) < 100, LATE, "their descriptors")


def stop_reading(server, stack):
    """Requests 20 MB and reads only the first block."""
    deaf = stack.enter_context(socket.socket())
    deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
    deaf.settimeout(60)
    deaf.connect((server.host, server.port))
    deaf = stack.enter_context(server.secured(deaf))
    deaf.sendall(b"GET /files/wheels/fat/fat-1.0-py3-none-any.whl HTTP/1.1\r\nHost: x\r\n\r\n")
    assert deaf.recv(65536).startswith(b"HTTP/1.1 200 ")
    return deaf


def test_clients_that_stop_reading(server, store):
    path = "/files/wheels/fat/fat-1.0-py3-none-any.whl"
    before = sockets(server)
    with contextlib.ExitStack() as stack:
        with Others(server, "20 clients that stop in the middle of 20 MB"):
            deaf = [stack.enter_context(contextlib.closing(stop_reading(server, stack))) for _ in range(20)]
            assert hashlib.sha256(server.get(path).body).hexdigest() == digest(store / os.path.basename(path))
            time.sleep(TIMEOUT + 1)
            serving.wait_for(lambda: sockets(server) <= before + 3, LATE, "the end of those that do not read")
        assert len(serving.read_all(deaf[0])) < 20 << 20  # cut short: no client takes it for the whole file


def with_limit(tmp_path, monkeypatch, files):
    """Servers that start from now on may have so many descriptors."""
    wrapper = tmp_path / "limited"
    wrapper.write_text(f'#!/bin/sh\nulimit -n {files}\nexec {serving.binary()} "$@"\n')
    wrapper.chmod(0o755)
    monkeypatch.setenv("WHEELCACHE", str(wrapper))


def crowd(server, stack, count):
    """Up to so many connections, as many as can be opened. They are of another address, because one that has more than its
    share gives its own oldest idle connection for each new one."""
    for _ in range(count):
        one = stack.enter_context(socket.socket())
        one.bind((CROWD, 0))
        one.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            one.connect((server.host, server.port))
    time.sleep(0.5)


def check_neighbour(server, neighbour, store, seconds):
    """A client that was connected before gets pages and files all the time."""
    times = []
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        begin = time.perf_counter()
        assert serving.ask(neighbour, PAGE).status == 200
        reply = serving.ask(neighbour, "/files/wheels/fat/fat-1.0-py3-none-any.whl")
        assert hashlib.sha256(reply.body).hexdigest() == digest(store / "fat-1.0-py3-none-any.whl")
        times.append(time.perf_counter() - begin)
    print(f"\nno descriptors left: the others got {len(times)} pages and files of 20 MB, p50"
          f" {statistics.median(times) * 1000:.1f} ms, worst {max(times) * 1000:.1f} ms")


def test_more_connections_than_descriptors(serve, store, tmp_path, monkeypatch, authority):
    """The server knows its limit: it leaves the rest in the queue of the kernel, and keeps descriptors for files."""
    with_limit(tmp_path, monkeypatch, 100)
    server = serve(store, config=f"[server]\ntimeout = {TIMEOUT}\nconnections = 2000\n", authority=authority)
    assert "connections at most" in server.errors()
    with contextlib.closing(server.connect()) as neighbour, contextlib.ExitStack() as stack:
        assert serving.ask(neighbour, PAGE).status == 200
        crowd(server, stack, 120)
        assert descriptors(server) < 100
        check_neighbour(server, neighbour, store, 2)
        serving.wait_for(lambda: serving.answers(server, PAGE), 4 * TIMEOUT + LATE, "an answer for one more")


def test_no_descriptor_left_at_all(serve, store, authority):
    """The limit is lowered below what the server relies on. It waits, and continues afterwards.

    One event loop: with several, a loop without a connection polls for the next one, because only the end of one of its
    own connections would wake it (libmicrohttpd 0.9.75)."""
    server = serve(store, "--rescan", "1", *serving.ONE_LOOP, authority=authority)
    with contextlib.closing(server.connect()) as neighbour, contextlib.ExitStack() as stack:
        assert serving.ask(neighbour, PAGE).status == 200
        serving.wait_for(lambda: descriptors(server, "/catalog.db-wal") >= 2, LATE, "a connection to the catalog for pages")
        few = descriptors(server) + 10
        old = resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (few, old[1]))
        crowd(server, stack, 50)
        for path in (PAGE, "/files/wheels/foo/foo-1.0-py3-none-any.whl", "/simple/other/"):
            assert serving.ask(neighbour, path).status in (200, 404, 503)
        time.sleep(1.5)  # a scan, too
        assert serving.ask(neighbour, PAGE).status == 200
        begin, work = time.monotonic(), serving.cpu_seconds(server)
        time.sleep(2)
        assert serving.cpu_seconds(server) - work < 0.8 * (time.monotonic() - begin), "it spins"
    resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, old)
    serving.wait_for(lambda: serving.answers(server, PAGE), TIMEOUT + LATE, "an answer after the crowd")
    serving.wait_for(lambda: serving.answers(server, "/files/wheels/fat/fat-1.0-py3-none-any.whl"), LATE, "a file")


@pytest.mark.parametrize("count", [128, 256])
def test_as_many_requests_at_once_as_the_library_takes_events(serve, store, count, authority):
    """libmicrohttpd takes 128 events at a time; if exactly so many come, it polls for more before it answers, and while all
    of these clients wait, none come."""
    server = serve(store, config="[server]\ntimeout = 100\nthreads = 1\n", authority=authority)
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(contextlib.closing(server.connect(20))) for _ in range(count)]
        for client in clients:
            assert serving.ask(client, PAGE).status == 200
        server.signal(signal.SIGSTOP)
        serving.wait_for(lambda: state(server) == "T", 20, "a server that stands still")
        for client in clients:
            client.request("GET", PAGE)
        server.signal(signal.SIGCONT)
        for client in clients:
            answer = client.getresponse()
            assert answer.status == 200 and answer.read()


def state(server):
    """Its letter in proc(5)."""
    with open(f"/proc/{server.process.pid}/stat", encoding="ascii") as stat:
        return stat.read().rpartition(")")[2].split()[0]


def test_a_slow_reader_does_not_delay_the_stop(serve, store, authority):
    """It reads a little all the time, so that its connection does not time out."""
    # Exceeds LIMIT_STOP_PROGRESS.
    server = serve(store, authority=authority)
    over = threading.Event()
    with contextlib.ExitStack() as stack:
        slow = stop_reading(server, stack)

        def read_a_little():
            with contextlib.suppress(OSError):
                while not over.is_set() and slow.recv(1024):
                    time.sleep(0.2)

        reader = threading.Thread(target=read_a_little)
        reader.start()
        try:
            time.sleep(0.5)
            begin = time.monotonic()
            server.signal(signal.SIGTERM)
            server.process.wait(60)
            assert time.monotonic() - begin < 20  # it waits 30 for those that read
        finally:
            over.set()
            reader.join()
    server.stop()
