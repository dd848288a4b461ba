# SPDX-License-Identifier: Apache-2.0
"""push, promote and doctor ask a server that answers without end, or with very many values: they take a bounded part, and say
so."""
import http.server
import threading

import pytest

import serving
import storelib

MEGABYTE = 1 << 20
ENDLESS = 400 * MEGABYTE
JSON = "application/vnd.pypi.simple.v1+json"


class Hostile(http.server.ThreadingHTTPServer):
    """Answers each request with pieces, and notes how many bytes a client took of each answer."""
    daemon_threads = True

    def __init__(self, first, piece, size, status=200, content_type=JSON):
        self.first, self.piece, self.size, self.taken = first, piece, size, {}
        self.status, self.content_type = status, content_type
        super().__init__(("127.0.0.1", 0), Answer)

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}/simple/"


class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(self.server.status)
        self.send_header("Content-Type", self.server.content_type)
        self.end_headers()
        sent = 0
        try:
            self.wfile.write(self.server.first)
            while sent < self.server.size:
                self.wfile.write(self.server.piece)
                sent += len(self.server.piece)
            self.wfile.write(b"0]}")
        except OSError:
            pass
        self.server.taken[self.path] = max(sent, self.server.taken.get(self.path, 0))

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.do_GET()

    def log_message(self, *_):
        pass


@pytest.fixture(name="answering")
def answering_fixture():
    started = []

    def start(*arguments):
        server = Hostile(*arguments)
        started.append((server, threading.Thread(target=server.serve_forever)))
        started[-1][1].start()
        return server

    yield start
    for server, thread in started:
        server.shutdown()
        thread.join()
        server.server_close()


def push(server, folder):
    wheel = storelib.make_wheel(folder, "foo", "1.0")
    return serving.run("push", "--retries", "0", "--to", server.url.replace("simple/", "upload/any/"), wheel.path,
                       env={"PATH": "/usr/bin:/bin", "WHEELCACHE_TOKEN": "x"})


def test_answer_without_end_is_not_read_by_push(answering, tmp_path):
    # Exceeds LIMIT_CLIENT_PAGE.
    server = answering(b'{"files": [', b"{}," * MEGABYTE, ENDLESS)
    done = push(server, tmp_path)
    assert done.returncode != 0 and server.taken, done.stdout + done.stderr
    serving.wait_for(lambda: server.taken, 60, "the end of the answer")
    assert max(server.taken.values()) < 64 * MEGABYTE


def test_very_many_values_are_not_kept_by_push(answering, tmp_path):
    # Exceeds LIMIT_CLIENT_VALUES.
    server = answering(b'{"files": [', b"0," * (MEGABYTE // 2), 8 * MEGABYTE)
    done = push(server, tmp_path)
    assert done.returncode != 0 and "more than 1048576 JSON values" in done.stdout + done.stderr


def test_answer_to_an_upload_has_an_end(answering, tmp_path):
    # Exceeds LIMIT_ANSWER.
    server = answering(b'{"files": [', b" " * MEGABYTE, 4 * MEGABYTE)
    done = push(server, tmp_path)
    assert done.returncode == 1 and "more than 65536 bytes" in done.stdout + done.stderr


def test_answer_without_end_is_not_read_by_doctor(answering):
    # Exceeds LIMIT_CLIENT_ROOT.
    server = answering(b'{"projects": [', b"{}," * MEGABYTE, ENDLESS)
    done = serving.run("doctor", "--client", server.url, "--project", "foo", env={"PATH": "/usr/bin:/bin", "HOME": "/nonexistent"})
    assert done.returncode != 0, done.stdout
    serving.wait_for(lambda: server.taken, 60, "the end of the answer")
    assert max(server.taken.values()) < 128 * MEGABYTE


def used_by_promote(server):
    """What it prints, the most memory in MB, and the seconds of a processor."""
    done, used = serving.measure("promote", "foo", "--to", "v", "--server", server.url.removesuffix("simple/"),
                                 env={"PATH": "/usr/bin:/bin", "WHEELCACHE_TOKEN": "x"})
    said = done.stdout + done.stderr
    assert done.returncode == 1, said
    return said, used.megabytes, used.user


def test_refusal_without_end_is_not_read(answering):
    """Exceeds LIMIT_PROMOTE_ANSWER. Its beginning is the reason, and that costs no more than reading it."""
    server = answering(b"no: ", b"a" * MEGABYTE, ENDLESS, 409, "text/plain")
    said, _, seconds = used_by_promote(server)
    assert "409: no: aaaa" in said and len(said) < 1000 and seconds < 15
    serving.wait_for(lambda: server.taken, 60, "the end of the answer")
    assert max(server.taken.values()) < 128 * MEGABYTE


def test_refusal_of_very_many_values_is_not_kept(answering):
    """Exceeds LIMIT_PROMOTE_VALUES."""
    server = answering(b'{"files": [', b"{}," * (MEGABYTE // 4), 24 * MEGABYTE, 409, "application/json")
    said, megabytes, _ = used_by_promote(server)
    assert "409" in said and megabytes < 700, megabytes  # 1,958 if all are kept; what sanitizers keep of freed memory varies
