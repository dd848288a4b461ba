# SPDX-License-Identifier: Apache-2.0
"""One address, or one token, holds all that it can get; others get their share all the same."""
import contextlib
import json
import pathlib
import re
import threading
import time

import pytest

import attempts
import serving
import storelib
import uploading
from test_builds_server import attempt

PLATFORM = "ubuntu-22.04-x86_64"
GREEDY, OTHER, THIRD = "127.0.0.2", "127.0.0.3", "127.0.0.4"
CONNECTIONS = 64
PLACES = CONNECTIONS // 4 + 1  # for bodies of one platform
SOON = 20  # seconds; far less than the server's time limit for idle connections
LOG = b"0123456789abcde\n" * (8 << 16)  # 8 MB
SPOOLED = 512 << 20  # LIMIT_ANSWERS_SPOOLED
CONFIG = f"[server]\nconnections = {CONNECTIONS}\ntimeout = 600\n[platform {PLATFORM}]\n"


@pytest.fixture(name="start")
def start_fixture(serve, tmp_path):
    storelib.make_wheel(tmp_path / "store" / PLATFORM / "f" / "foo", "foo", "1.0")
    return lambda **options: serve(tmp_path / "store", config=CONFIG, **options)


def head(path, token, content_type, length):
    """The header of a request with a body."""
    sent = uploading.authorization(token)["Authorization"]
    return (f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: {content_type}\r\nAuthorization: {sent}\r\n"
            f"Content-Length: {length}\r\nConnection: close\r\n\r\n").encode()


def opened(server, held, source, data=b""):
    one = held.enter_context(contextlib.closing(server.secured(server.plain_socket(source=source))))
    with contextlib.suppress(OSError):
        one.sendall(data)
    return one


def status_of(connection):
    return int(serving.read_all(connection).split()[1])


def page_from(server, source):
    with contextlib.ExitStack() as held:
        return status_of(opened(server, held, source, b"GET /simple/foo/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"))


def is_closed(connection):
    connection.settimeout(0.01)
    try:
        return connection.recv(1) == b""
    except TimeoutError:
        return False
    except OSError:
        return True


def test_idle_connections_of_one_address(start, authority):
    """They are ended, the oldest first, for those of another one."""
    server = start(authority=authority)
    with contextlib.ExitStack() as held:
        idle = [opened(server, held, GREEDY, b"GET /simple/foo/ HTTP/1.1\r\nHost: x\r\n\r\n") for _ in range(CONNECTIONS)]
        begin = time.monotonic()
        for _ in range(5):
            assert page_from(server, OTHER) == 200
        assert time.monotonic() - begin < SOON
        serving.wait_for(lambda: page_from(server, GREEDY) == 200, SOON, "a page for the same address")
        assert not is_closed(idle[-1]) or not is_closed(idle[-2])


def test_idle_connections_of_all_are_kept_without_need(start):
    server = start()
    with contextlib.ExitStack() as held:
        idle = [opened(server, held, GREEDY) for _ in range(CONNECTIONS - 12)]
        assert page_from(server, OTHER) == 200 and not any(map(is_closed, idle))


@pytest.mark.parametrize("is_one_token", [False, True])
def test_slow_bodies_stop_no_uploads(start, tmp_path, is_one_token):
    """One address with many tokens, or one token with many addresses."""
    server = start()
    tokens = [uploading.add_token(server, "--platform", PLATFORM, "--note", f"t{number}") for number in range(2)]
    wheel = storelib.make_wheel(tmp_path / "new", "bar", "1.0")
    body, content_type = uploading.encode(uploading.form_of(wheel.path))
    sent = head(f"/upload/{PLATFORM}/", tokens[0], content_type, len(body))
    with contextlib.ExitStack() as held:
        slow = [opened(server, held, f"127.0.1.{number + 1}" if is_one_token else GREEDY, sent + body[:20])
                for number in range(PLACES)]
        time.sleep(0.5)
        further = opened(server, held, "127.0.2.1" if is_one_token else GREEDY, sent + body)
        assert b" 503 " in serving.read_all(further)[:20]
        other = opened(server, held, OTHER, head(f"/upload/{PLATFORM}/", tokens[1], content_type, len(body)) + body)
        assert status_of(other) == 200
        serving.wait_for(lambda: any(map(is_closed, slow)), SOON, "the end of a slow body")
        assert sum(map(is_closed, slow)) == 1


def test_bodies_in_memory_have_shares(start):
    """Six documents of 20 MB nearly fill the memory for all that arrive; another sender's document gets its share."""
    server = start()
    tokens = [uploading.add_token(server, "--platform", PLATFORM) for _ in range(2)]
    path = f"/-/builds/{PLATFORM}/"
    document = json.dumps(attempt(platform=PLATFORM, log="a" * (20 << 20))).encode()
    sent = head(path, tokens[0], "application/json", len(document))
    with contextlib.ExitStack() as held:
        slow = [opened(server, held, GREEDY, sent + document[:-1]) for _ in range(6)]
        other = opened(server, held, OTHER, head(path, tokens[1], "application/json", len(document)) + document)
        assert status_of(other) == 200
        serving.wait_for(lambda: any(map(is_closed, slow)), SOON, "the end of a slow document")
        rest = [one for one in slow if not is_closed(one)]
        assert rest
        rest[0].settimeout(60)
        rest[0].sendall(document[-1:])
        assert status_of(rest[0]) == 200


def read_steadily(connection, until, read):
    """Slowly at first, but more than what counts as idle; the rest at once."""
    connection.settimeout(SOON)
    with contextlib.suppress(OSError):
        while data := connection.recv(1 << 20):
            read.append(len(data))
            if not until.is_set():
                time.sleep(0.1)


def test_a_download_that_is_read_is_not_idle(serve, tmp_path):
    """It began before all other connections of its address; those are ended, and it goes on to its end."""
    storelib.make_wheel(tmp_path / "store" / PLATFORM / "f" / "foo", "foo", "1.0")
    large = storelib.make_wheel(tmp_path / "store" / PLATFORM / "f" / "fat", "fat", "1.0", size=200 << 20)
    server = serve(tmp_path / "store", config=CONFIG)
    until, read = threading.Event(), []
    with contextlib.ExitStack() as held:
        download = opened(server, held, GREEDY,
                          f"GET /files/{PLATFORM}/fat/{large.name} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
        reader = threading.Thread(target=read_steadily, args=(download, until, read))
        reader.start()
        held.callback(reader.join)
        held.callback(until.set)
        time.sleep(3)  # the table of connections is looked at each second
        idle = [opened(server, held, GREEDY) for _ in range(CONNECTIONS - 8)]
        for _ in range(4):
            assert page_from(server, OTHER) == 200
        assert any(map(is_closed, idle))
    assert sum(read) > large.path.stat().st_size


def spooled_bytes(server):
    """Of the files without a name that it has mapped."""
    lines = pathlib.Path(f"/proc/{server.process.pid}/maps").read_text().splitlines()
    found = [re.match(r"([0-9a-f]+)-([0-9a-f]+) ", line).groups() for line in lines if line.endswith("(deleted)")]
    return sum(int(end, 16) - int(begin, 16) for begin, end in found)


def test_large_answers_are_in_files(start):
    """Exceeds LIMIT_ANSWER_KEPT. An address that does not read its pages has a quarter of the room for them, on the disk; others
    get theirs."""
    server = start()
    kept = attempts.Attempts(server.catalog.with_name(server.catalog.name + ".builds")).add("foo", "failed", LOG, platform=PLATFORM)
    path = f"/-/builds/foo/{kept}"
    before = spooled_bytes(server)
    assert server.get(path).body == LOG
    serving.wait_for(lambda: spooled_bytes(server) == before, SOON, "the end of the first file")
    ask = f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode()
    with contextlib.ExitStack() as held:
        statuses = []
        for _ in range(24):
            one = opened(server, held, GREEDY, ask)
            statuses.append(int(one.recv(12).split()[1]))
        assert statuses.count(200) == SPOOLED // 4 // len(LOG) and set(statuses) == {200, 503}
        assert spooled_bytes(server) - before == SPOOLED // 4
        other = opened(server, held, OTHER, ask)
        assert serving.read_all(other).endswith(LOG[-1000:])
        assert page_from(server, GREEDY) == 200
    serving.wait_for(lambda: spooled_bytes(server) <= before, SOON, "the end of the files")
    assert not [one for one in server.catalog.parent.iterdir() if one.name.startswith("an answer")]
