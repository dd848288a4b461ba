# SPDX-License-Identifier: Apache-2.0
"""A listening socket that another process passes (sd_listen_fds): its clients lose no request while servers follow one
another on it."""
import concurrent.futures
import contextlib
import signal
import socket
import subprocess
import sys

import pytest

import serving
import steadyclients
import storelib
from authority import Authority

EVENTUALLY = 60
PAGE = "/simple/foo/"


@pytest.fixture(name="store", scope="module")
def store_fixture(tmp_path_factory):
    store = tmp_path_factory.mktemp("passed") / "store"
    storelib.make_wheel(store, "foo", "1.0", size=1 << 23)
    return store


@pytest.fixture(name="listening")
def listening_fixture():
    with socket.create_server(("127.0.0.1", 0), backlog=200) as one:
        yield one


def begin_download(server):
    """A client that has asked for a large file, and has read only its first bytes."""
    connection = server.connect()
    connection.sock = connection.sock or server.socket()
    connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)
    connection.request("GET", "/files/wheels/foo/foo-1.0-py3-none-any.whl")
    answer = connection.getresponse()
    assert answer.status == 200
    return connection, answer, answer.read(1000)


def test_servers_follow_one_another_under_load(serve, store, listening, authority, tmp_path):
    """Two overlap; a third one starts after the end of the second. No request fails, and no client asks twice."""
    def start():
        return serve(store, state=tmp_path / "state", passed=listening, authority=authority)

    first = start()
    assert first.port == listening.getsockname()[1]
    load = steadyclients.Clients(first.connect, PAGE)
    load.go_on()
    connection, answer, begin = begin_download(first)
    second = start()
    first.signal(signal.SIGTERM)
    load.go_on()
    load.go_on()
    assert first.process.poll() is None  # it waits for the download
    assert len(begin + answer.read()) == int(answer.headers["Content-Length"])
    connection.close()
    first.stop()
    second.stop()
    start()
    load.go_on()
    load.end()


def test_client_waits_while_no_server_runs(serve, store, listening, authority):
    first = serve(store, passed=listening, authority=authority)
    assert first.get(PAGE).status == 200
    first.stop()
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        answer = pool.submit(first.get, PAGE)
        with socket.create_connection(listening.getsockname()) as silent:  # and is not in the way
            serve(store, passed=listening, authority=authority)
            assert answer.result(EVENTUALLY).status == 200
            assert silent.fileno() >= 0


def test_new_connection_is_answered_by_the_server_that_stops(serve, store, listening):
    """A client has connected, and its request comes after the signal."""
    server = serve(store, *serving.ONE_LOOP, passed=listening)
    with contextlib.closing(server.connect()) as new, contextlib.closing(server.connect()) as kept:
        assert serving.ask(kept, PAGE)["Connection"] is None
        new.connect()
        server.get("/-/health")  # the one loop has accepted the connection before
        server.signal(signal.SIGTERM)
        serving.wait_for(lambda: not accepts(listening), EVENTUALLY, "the end of accepting")
        for client in (new, kept):
            answer = serving.ask(client, PAGE)
            assert (answer.status, answer["Connection"]) == (200, "close")
    server.stop()


def accepts(listening):
    """Whether a server takes a new connection within a moment: if not, the connection stays in the socket's queue."""
    with socket.create_connection(listening.getsockname()) as probe:
        probe.sendall(b"GET /-/health HTTP/1.0\r\n\r\n")
        probe.settimeout(0.2)
        with contextlib.suppress(TimeoutError):
            return bool(probe.recv(1))
    return False


def test_socket_file_stays(serve, store, tmp_path):
    path = tmp_path / "socket"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))
        listening.listen()
        server = serve(store, passed=listening, listen=f"unix:{path}")
        assert server.url == f"unix:{path}" and "no effect" not in server.errors()
        server.stop()
        assert path.is_socket()


def test_address_of_the_configuration_has_no_effect_and_that_is_said(serve, store, listening):
    server = serve(store, passed=listening, listen="127.0.0.1:1")
    assert server.get(PAGE).status == 200
    assert f"[server] listen = 127.0.0.1:1 has no effect: the socket that was passed, such as of wheelcache.socket, listens on {server.url}/" \
        in server.errors()


def test_address_of_the_configuration_is_told_with_tls(serve, store, listening, tmp_path_factory):
    server = serve(store, passed=listening, listen="127.0.0.1:1", authority=Authority(tmp_path_factory.mktemp("authority")))
    assert server.url.startswith("https://") and f"wheelcache.socket, listens on {server.url}/" in server.errors()


def start_with(store, tmp_path, fd, **variables):
    """Runs a server with this descriptor 3 and these variables; returns its process. "$$" is its id."""
    script = 'eval "export $1"; shift; exec "$@"'
    words = " ".join(f"{name}={value}" for name, value in variables.items())
    move = f"import os, sys; os.dup2({fd}, 3); os.execvp('sh', ['sh', '-c', *sys.argv[1:]])"
    command = [serving.binary(), "serve", "--listen", "127.0.0.1:0", "--catalog", str(tmp_path / "catalog.db"), str(store)]
    return subprocess.Popen([sys.executable, "-c", move, script, "sh", words, *command], pass_fds=(fd,), text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


@pytest.mark.parametrize("kind, variables, message", [
    ("listening", {"LISTEN_FDS": "2"}, "2 sockets were passed (LISTEN_FDS); one is wanted"),
    ("bound", {"LISTEN_FDS": "1"}, "the socket that was passed (LISTEN_FDS) does not listen for streams"),
    ("datagram", {"LISTEN_FDS": "1"}, "the socket that was passed (LISTEN_FDS) does not listen for streams"),
    ("file", {"LISTEN_FDS": "1"}, "the socket that was passed (LISTEN_FDS) does not listen for streams"),
])
def test_what_is_no_listening_socket_is_refused(store, tmp_path, listening, kind, variables, message):
    with socket.socket() as bound, socket.socket(type=socket.SOCK_DGRAM) as datagram, open(__file__, "rb") as file:
        bound.bind(("127.0.0.1", 0))
        fd = {"listening": listening, "bound": bound, "datagram": datagram, "file": file}[kind].fileno()
        with start_with(store, tmp_path, fd, LISTEN_PID="$$", **variables) as process:
            out, errors = process.communicate(timeout=EVENTUALLY)
    assert (process.returncode, out, errors) == (2, "", f"error: wheelcache: {message}\n")


@pytest.mark.parametrize("variables", [
    {"LISTEN_PID": "1", "LISTEN_FDS": "1"}, {"LISTEN_FDS": "1"}, {"LISTEN_PID": "$$"}, {"LISTEN_PID": "$$", "LISTEN_FDS": "0"},
    {"LISTEN_PID": "$$x", "LISTEN_FDS": "1"}, {"LISTEN_PID": "$$", "LISTEN_FDS": "-1"},
    {"LISTEN_PID": "$$", "LISTEN_FDS": "99999999999999999999"}])
def test_variables_for_another_process_or_without_sense_are_ignored(store, tmp_path, listening, variables):
    with start_with(store, tmp_path, listening.fileno(), **variables) as process:
        url = process.stdout.readline()
        process.terminate()
        assert process.wait(EVENTUALLY) == 0, process.stderr.read()
    assert url.startswith("http://127.0.0.1:") and f":{listening.getsockname()[1]}/" not in url
