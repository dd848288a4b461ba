# SPDX-License-Identifier: Apache-2.0
"""HTTPS: by the server itself, and by nginx in front of it as in etc/nginx-front.conf."""
import contextlib
import os
import pathlib
import re
import shutil
import signal
import socket
import ssl
import struct
import subprocess
import time

import pytest

import clients
import elfnames
import faults
import serving
import storelib
import webservers
from authority import Authority

PLATFORM = "debian-12-x86_64"
PIPS = ["pip==22.0.4", "pip==26.3"]
UV = "uv==0.13.9"
BODY = 20 << 20


@pytest.fixture(scope="module", name="authority")
def authority_fixture(tmp_path_factory):
    if not shutil.which("openssl"):
        pytest.skip("there is no openssl")
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module", name="store")
def store_fixture(tmp_path_factory):
    store = tmp_path_factory.mktemp("tls") / "store"
    storelib.make_wheel(store / PLATFORM / "foo", "foo", "1.0")
    storelib.make_wheel(store / PLATFORM / "fat", "fat", "1.0", size=BODY)
    return store


@pytest.fixture(scope="module", name="secure")
def secure_fixture(serve_module, store, authority):
    server = serve_module(store, authority=authority)
    assert server.url.startswith("https://127.0.0.1:")
    return server


@pytest.fixture(scope="module", name="front")
def front_fixture(serve_module, store, authority, tmp_path_factory):
    """Host and port of nginx before a server without TLS."""
    folder = tmp_path_factory.mktemp("front")
    with webservers.front(folder, serve_module(store), authority) as port:
        yield webservers.HOST, port, folder


@pytest.fixture(name="place", params=["wheelcache", "nginx"])
def place_fixture(request):
    if request.param == "nginx":
        return request.getfixturevalue("front")[:2]
    server = request.getfixturevalue("secure")
    return server.host, server.port


def test_pages_and_files(place, authority, store):
    with contextlib.closing(authority.connect(*place)) as connection:
        assert serving.ask(connection, "/simple/foo/").status == 200
        reply = serving.ask(connection, f"/files/{PLATFORM}/fat/fat-1.0-py3-none-any.whl")
        assert reply.body == (store / PLATFORM / "fat" / "fat-1.0-py3-none-any.whl").read_bytes()
        assert serving.ask(connection, "/simple/bar/").status == 404


def test_refused_body_is_read(place, authority):
    """It is read, so that the client sees the answer."""
    with contextlib.closing(authority.connect(*place)) as connection:
        connection.request("POST", "/simple/", body=b"x" * BODY)
        answer = connection.getresponse()
        assert answer.status == 405 and answer.headers["Allow"] == "GET, HEAD"
        answer.read()


def test_home_page_has_the_scheme_of_its_request(secure, authority):
    with contextlib.closing(authority.connect(secure.host, secure.port)) as connection:
        page = serving.ask(connection, "/").body.decode()
    assert f"--index-url https://{secure.host}:{secure.port}/simple/" in page.replace("<wbr>", "")
    assert f"http://{secure.host}" not in page


def test_front_keeps_no_body(front):
    """nginx does not write bodies to its disk."""
    assert not any((front[2] / "client_body").rglob("*/*"))


@pytest.mark.parametrize("pip", PIPS)
def test_pip_installs(place, authority, tmp_path, pip):
    index = f"https://{place[0]}:{place[1]}/simple/"
    clients.Client(pip, tmp_path).pip("install", *clients.pip_index(index), "--cert", authority.ca, "--target",
                                      tmp_path / "target", "foo")
    assert (tmp_path / "target" / "foo-1.0.dist-info").is_dir()


def test_uv_installs(place, authority, tmp_path):
    index = f"https://{place[0]}:{place[1]}/simple/"
    clients.Client(UV, tmp_path).run("uv", "pip", "install", "--no-cache", "--default-index", index, "--target",
                                     tmp_path / "target", "foo", env={"SSL_CERT_FILE": str(authority.ca)})
    assert (tmp_path / "target" / "foo-1.0.dist-info").is_dir()


def test_plain_http_is_told_to_use_https(secure, authority):
    begin = b"POST /upload/x/ HTTP/1.1\r\nHost: x\r\n"
    for request in (b"GET /simple/foo/ HTTP/1.1\r\nHost: x\r\n\r\n", begin + b"X-Long: " + b"x" * 6000 + b"\r\n\r\n"):
        with secure.plain_socket(10) as connection:
            connection.sendall(request)
            head, _, body = serving.read_all(connection).partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 400 Bad Request\r\n")
        assert body == b"400 Bad Request: this port speaks HTTPS: the address begins with https://\n"
        assert int(re.search(rb"Content-Length: (\d+)", head)[1]) == len(body)
    with secure.plain_socket(10) as connection:
        connection.sendall(b"\x00\x01 nonsense\r\n\r\n")
        assert b"HTTP/" not in serving.read_all(connection)
    with contextlib.closing(authority.connect(secure.host, secure.port)) as connection:
        assert serving.ask(connection, "/simple/foo/").status == 200


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_old_versions_are_refused(secure, authority):
    context = ssl.create_default_context(cafile=authority.ca)
    context.set_ciphers("DEFAULT@SECLEVEL=0")
    context.minimum_version, context.maximum_version = ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1
    with secure.socket() as plain, pytest.raises((ssl.SSLError, OSError)):
        context.wrap_socket(plain, server_hostname=secure.host)


def test_wrong_files_are_told_at_the_start(wheelcache, store, authority, tmp_path):
    garbage = tmp_path / "garbage.pem"
    garbage.write_text("no certificate\n")
    other = Authority(tmp_path)
    for options, words in [
            (["--tls-cert", authority.cert], "tls-cert is there without tls-key"),
            (["--tls-key", authority.key], "tls-key is there without tls-cert"),
            (["--tls-cert", tmp_path / "absent", "--tls-key", authority.key], "absent"),
            (["--tls-cert", garbage, "--tls-key", authority.key], "garbage.pem"),
            (["--tls-cert", authority.cert, "--tls-key", garbage], "garbage.pem"),
            (["--tls-cert", authority.cert, "--tls-key", other.key], "do not form a certificate/key pair"),
            ([*authority.options(), "--listen", f"unix:{tmp_path}/socket"], "a socket file has no TLS")]:
        done = wheelcache("serve", store, "--catalog", tmp_path / "catalog.db", "--listen", "127.0.0.1:0", *options)
        assert done.returncode != 0 and words in done.stderr, (options, done.stderr)


# --- sessions ---

def handshake(server, session=None, version=None):
    """A connection that has asked for a page, and its session, which can be resumed."""
    if version:
        server.context.minimum_version = server.context.maximum_version = version
    connection = server.secured(server.plain_socket(), session)
    connection.sendall(b"GET /simple/foo/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    assert serving.read_all(connection).startswith(b"HTTP/1.1 200 ")
    return connection


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3], ids=["1.2", "1.3"])
def test_sessions_are_resumed(serve, store, authority, version):
    server = serve(store, authority=authority)
    first = handshake(server, version=version)
    assert not first.session_reused and first.version() == f"TLSv{version.name[-3:].replace('_', '.')}"
    second = handshake(server, first.session)
    assert second.session_reused
    assert handshake(server, first.session).session_reused, "a ticket is good for more than one connection"
    assert not handshake(server).session_reused


def test_no_ticket_outlives_its_keys(serve, store, authority, tmp_path, monkeypatch):
    """Stolen ticket keys decrypt only the traffic of a few hours."""
    be_late = faults.preload("later", tmp_path, monkeypatch)
    server = serve(store, authority=authority)
    session = handshake(server).session
    be_late("3")
    assert handshake(server, session).session_reused
    be_late("5")
    assert not handshake(server, session).session_reused
    assert handshake(server, handshake(server).session).session_reused


def test_http_1_1_is_agreed_on(secure, authority):
    for offered, agreed in ((["h2", "http/1.1"], "http/1.1"), (["h2"], None), ([], None)):
        context = authority.context()
        if offered:
            context.set_alpn_protocols(offered)
        with context.wrap_socket(secure.plain_socket(), server_hostname=secure.host) as connection:
            assert connection.selected_alpn_protocol() == agreed
            connection.sendall(b"GET /simple/foo/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            assert serving.read_all(connection).startswith(b"HTTP/1.1 200 ")


def presented(server):
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with context.wrap_socket(server.plain_socket()) as connection:
        return connection.getpeercert(binary_form=True)


def der(path):
    return ssl.PEM_cert_to_DER_cert(path.read_text().partition("-----END CERTIFICATE-----")[0] + "-----END CERTIFICATE-----\n")


def test_renewed_certificate_counts_from_sighup_on(serve, store, authority, tmp_path):
    """Open connections go on; a certificate and key that do not match change nothing."""
    cert, key = (shutil.copy(one, tmp_path) for one in (authority.cert, authority.key))
    (tmp_path / "other").mkdir()
    other = Authority(tmp_path / "other")
    server = serve(store, "--tls-cert", cert, "--tls-key", key)
    assert presented(server) == der(authority.cert)
    with contextlib.closing(authority.connect(server.host, server.port)) as kept:
        assert serving.ask(kept, "/simple/foo/").status == 200
        shutil.copy(other.cert, cert)
        server.signal(signal.SIGHUP)
        serving.wait_for(lambda: "the certificate is unchanged" in server.errors(), 60, "a word about the key")
        assert presented(server) == der(authority.cert)
        shutil.copy(other.key, key)
        server.signal(signal.SIGHUP)
        serving.wait_for(lambda: presented(server) == der(other.cert), 60, "the new certificate")
        assert serving.ask(kept, "/simple/foo/").status == 200


# --- clients that are not kind ---

def sockets(server):
    folder = f"/proc/{server.process.pid}/fd"
    found = 0
    for name in os.listdir(folder):
        with contextlib.suppress(FileNotFoundError):
            found += os.readlink(f"{folder}/{name}").startswith("socket:")
    return found


def hello(server):
    """The first bytes that a client sends."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    with contextlib.suppress(ssl.SSLWantReadError):
        server.context.wrap_bio(incoming, outgoing, server_hostname=server.host).do_handshake()
    return outgoing.read()


def answered(connection):
    connection.settimeout(2)
    try:
        return bool(connection.recv(1))
    except OSError:
        return False


def test_handshakes_of_one_address_are_bounded(serve, store, authority):
    """An address may have LIMIT_HANDSHAKES_ADDRESS unfinished handshakes; a further one waits, those of others do not."""
    # Exceeds LIMIT_HANDSHAKES_ADDRESS.
    server = serve(store, "--threads", "1", authority=authority)
    with contextlib.ExitStack() as stack:
        waiting = [stack.enter_context(server.plain_socket(source="127.0.0.2")) for _ in range(80)]
        for one in waiting:
            one.sendall(hello(server))
        begun = sum(map(answered, waiting[:64]))
        assert begun == 64
        assert not answered(waiting[64])
        other = server.secured(server.plain_socket(source="127.0.0.3"))
        other.sendall(b"GET /simple/foo/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        assert serving.read_all(other).startswith(b"HTTP/1.1 200 ")
        serving.wait_for(lambda: sockets(server) < 20, 60, "the end of handshakes that stand still")
    serving.wait_for(lambda: "127.0.0.3 " in server.log_path.read_text(), 60, "a line of the access log")


def test_address_with_most_handshakes_makes_room(serve, store, authority):
    """At LIMIT_HANDSHAKES, or half of all connections, a new handshake replaces one of the address that has the most."""
    # Exceeds LIMIT_HANDSHAKES.
    server = serve(store, config="[server]\nconnections = 200\n", authority=authority)
    with contextlib.ExitStack() as stack:
        early = stack.enter_context(server.plain_socket(source="127.0.0.3"))
        many = [stack.enter_context(server.plain_socket(source="127.0.0.2")) for _ in range(150)]
        serving.wait_for(lambda: server.get("/simple/foo/").status == 200, 60, "an answer")
        assert sockets(server) < 130
        with server.secured(early) as patient:
            patient.sendall(b"GET /simple/foo/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            assert serving.read_all(patient).startswith(b"HTTP/1.1 200 ")
        gone = 0
        for one in many:
            one.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                gone += one.recv(1) == b""
        assert gone >= 45


SO_TIMESTAMPNS = 35  # socket(7); not in the module


def arrival(connection):
    """When the first answer reached this machine's kernel."""
    _, ((_, _, when),), *_ = connection.recvmsg(1, socket.CMSG_SPACE(16))
    return struct.unpack("qq", when[:16])


def test_handshakes_of_one_address_do_not_starve_others(serve, store, authority):
    """Handshakes of the address that had the fewest are done first: the last in the queue is not the last served."""
    with contextlib.ExitStack() as stack:
        early = stack.enter_context(socket.socket())  # the kernel starts to record times some time after the first request for them
        early.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        server = serve(store, authority=authority)
        serving.wait_for(lambda: server.get("/simple/foo/").status == 200, 60, "an answer")
        server.signal(signal.SIGSTOP)
        first = hello(server)
        many = [stack.enter_context(server.plain_socket(source="127.0.0.2")) for _ in range(60)]
        last = stack.enter_context(server.plain_socket(source="127.0.0.3"))
        for one in [*many, last]:
            one.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
            one.sendall(first)
        server.signal(signal.SIGCONT)
        mine = arrival(last)
        assert sum(arrival(one) > mine for one in many) > 30


def test_half_of_a_handshake_is_not_waited_for(serve, store, authority):
    server = serve(store, config="[server]\ntimeout = 2\n", authority=authority)
    first = hello(server)
    for part in (b"", first[:5], first[:-1], first):
        with server.plain_socket(source="127.0.0.2") as connection:
            connection.sendall(part)
            connection.settimeout(60)
            serving.read_all(connection)
            assert connection.fileno() >= 0 and not answered(connection)
    assert server.get("/simple/foo/").status == 200


def test_a_handshake_has_ten_seconds_whatever_the_timeout(serve, store, authority):
    # Exceeds LIMIT_HANDSHAKE_SECONDS.
    server = serve(store, config="[server]\ntimeout = 10m\n", authority=authority)
    with server.plain_socket() as connection:
        connection.sendall(hello(server)[:-1])
        begin = time.monotonic()
        connection.settimeout(60)
        serving.read_all(connection)
    assert 9 < time.monotonic() - begin < 50


def test_client_that_sends_nothing_more_gets_its_answer(secure):
    """It closes its half of the connection, by TCP only."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    session = secure.context.wrap_bio(incoming, outgoing, server_hostname=secure.host)
    with secure.plain_socket() as plain:
        def done(act):
            while True:
                try:
                    return act()
                except ssl.SSLWantReadError:
                    if outgoing.pending:
                        plain.sendall(outgoing.read())
                    incoming.write(plain.recv(65536))
        done(session.do_handshake)
        session.write(b"GET /simple/foo/ HTTP/1.1\r\nHost: x\r\n\r\n")
        plain.sendall(outgoing.read())
        plain.shutdown(socket.SHUT_WR)
        assert done(lambda: session.read(100)).startswith(b"HTTP/1.1 200 ")


def test_abandoned_downloads_leave_nothing(serve, store, authority):
    server = serve(store, authority=authority)
    before = sockets(server)
    for _ in range(30):
        with server.socket() as connection:
            connection.sendall(f"GET /files/{PLATFORM}/fat/fat-1.0-py3-none-any.whl HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            assert connection.recv(100)
    serving.wait_for(lambda: sockets(server) <= before, 60, "the end of the abandoned downloads")


def watched(server):
    """How many descriptors each epoll of the server watches, the fewest first."""
    folder, counts = f"/proc/{server.process.pid}", []
    for name in os.listdir(f"{folder}/fd"):
        with contextlib.suppress(FileNotFoundError):  # it was closed meanwhile
            if os.readlink(f"{folder}/fd/{name}") == "anon_inode:[eventpoll]":
                counts.append(pathlib.Path(folder, "fdinfo", name).read_text().count("tfd:"))
    return sorted(counts)


@pytest.mark.parametrize("threads,at_once", [(2, 24), (3, 1)])
def test_connections_are_spread_over_the_threads(serve, store, authority, threads, at_once):
    """Each thread has an epoll, which watches a descriptor more; a connection takes one descriptor.

    libmicrohttpd chooses the thread by the descriptor's number. A number that the server takes for itself meanwhile is a
    gap, and after it a thread has one more than another.
    """
    server = serve(store, "--threads", threads, authority=authority)
    before, share = sockets(server), 24 // threads
    with contextlib.ExitStack() as stack:
        for _ in range(0, 24, at_once):
            for plain in [server.plain_socket() for _ in range(at_once)]:
                stack.enter_context(server.secured(plain))
        serving.wait_for(lambda: sum(watched(server)[-threads:]) == 24 + threads, 60, "all connections")
        assert all(abs(count - 1 - share) <= 2 for count in watched(server)[-threads:])
        assert sockets(server) - before == 24


def test_stopping_lets_a_download_end(serve, store, authority):
    """Idle connections end, and say so."""
    server = serve(store, authority=authority)
    path = store / PLATFORM / "fat" / "fat-1.0-py3-none-any.whl"
    with contextlib.closing(server.connect()) as connection, contextlib.closing(server.connect()) as idle:
        for one in (connection, idle):
            one.connect()
            one.sock.suppress_ragged_eofs = False  # an end without close_notify is an error then
        assert serving.ask(idle, "/simple/foo/").status == 200
        connection.request("GET", f"/files/{PLATFORM}/fat/{path.name}")
        answer = connection.getresponse()
        server.signal(signal.SIGTERM)
        time.sleep(1)
        assert answer.read() == path.read_bytes()
        assert idle.sock.recv(1) == b"" and connection.sock.recv(1) == b""
    server.stop()


def test_a_record_that_comes_slowly_is_not_waited_for(serve, store, authority):
    server = serve(store, config="[server]\ntimeout = 2\n", authority=authority)
    with Wire(server) as wire:
        record = wire.packed(b"GET /simple/foo/ HTTP/1.1\r\nHost: x\r\n\r\n" + b"x" * 600)
        begin = time.monotonic()
        with pytest.raises(OSError):  # it is closed
            for byte in record:
                wire.plain.sendall(bytes([byte]))
                time.sleep(0.25)
        assert time.monotonic() - begin < 60
    assert server.get("/simple/foo/").status == 200


def test_requests_that_come_together_are_all_answered(secure):
    """In one record, in several, and with the end of TLS behind them: libmicrohttpd gets no event for what was read already."""
    request = b"GET /simple/foo/ HTTP/1.1\r\nHost: x\r\nX-Padding: " + b"x" * 300 + b"\r\n\r\n"
    for step in (1 << 20, 4000, 100, 7):
        with Wire(secure) as wire:
            many = request * 40
            packed = b"".join(wire.packed(many[at:at + step]) for at in range(0, len(many), step))
            wire.plain.sendall(packed + wire.end())
            assert wire.read_all().count(b"HTTP/1.1 200 OK") == 40, step


# --- what is on the wire ---

class Wire:
    """A connection after its handshake, whose records the test sees."""

    def __init__(self, server):
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._session = server.context.wrap_bio(self._incoming, self._outgoing, server_hostname=server.host)
        self.plain, self.raw = server.plain_socket(), bytearray()
        while not self._done(self._session.do_handshake):
            self._exchange()
        self.plain.sendall(self._outgoing.read())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.plain.close()

    @staticmethod
    def _done(act):
        try:
            act()
        except ssl.SSLWantReadError:
            return False
        return True

    def _exchange(self):
        if self._outgoing.pending:
            self.plain.sendall(self._outgoing.read())
        piece = self.plain.recv(65536)
        self.raw += piece
        self._incoming.write(piece)
        return piece

    def packed(self, data):
        """The bytes as records."""
        self._session.write(data)
        return self._outgoing.read()

    def end(self):
        with contextlib.suppress(ssl.SSLError):
            self._session.unwrap()
        return self._outgoing.read()

    def read_all(self):
        """What the server sends until its end, decrypted."""
        got = bytearray()
        while True:
            try:
                piece = self._session.read(65536)
            except ssl.SSLWantReadError:
                assert self._exchange(), got[-200:]
                continue
            except ssl.SSLZeroReturnError:
                piece = b""
            if not piece:
                return bytes(got)
            got += piece

    def records(self):
        """The type and length of each record that came; anything else fails."""
        at, found = 0, []
        while at < len(self.raw):
            kind, version, length = struct.unpack_from(">BHH", self.raw, at)
            assert kind in (20, 21, 22, 23) and version in (0x0301, 0x0303) and length <= (16 << 10) + 256, self.raw[at:at + 20]
            found.append((kind, length))
            at += 5 + length
        assert at == len(self.raw)
        return found


REQUESTS = {
    "page": b"GET /simple/foo/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    "head": b"HEAD /simple/foo/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    "wheel": f"GET /files/{PLATFORM}/foo/foo-1.0-py3-none-any.whl HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode(),
    "large": f"GET /files/{PLATFORM}/fat/fat-1.0-py3-none-any.whl HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode(),
    "absent": b"GET /simple/bar/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    "refused": b"GET /simple/foo/ HTTP/1.1\r\nContent-Length: x\r\n\r\n",
    "body": b"POST /simple/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 1\r\nExpect: 100-continue\r\n\r\n1",
}


@pytest.mark.parametrize("what", REQUESTS)
def test_only_records_are_sent(secure, what):
    """Never a byte that is not encrypted, whichever way libmicrohttpd sends it; and of a small answer one record."""
    with Wire(secure) as wire:
        wire.plain.sendall(wire.packed(REQUESTS[what]))
        answer = wire.read_all()
        assert answer.startswith(b"HTTP/1.1 ") and b"HTTP/1.1 " not in wire.raw
        data = [length for kind, length in wire.records() if kind == 23]
    if what in ("page", "head", "wheel", "absent"):
        assert data.count(len(answer) + 17) == 1, (len(answer), data)
    if what == "large":
        assert len(data) < 1.02 * len(answer) / (16 << 10) + 10


@pytest.mark.parametrize("name", ["recv", "send", "sendmsg", "sendfile64", "close"])
def test_a_libmicrohttpd_that_is_not_encrypted_is_refused(wheelcache, store, authority, tmp_path, monkeypatch, name):
    """One that calls another function than that of the program: its import has a name that is two letters shorter."""
    found = re.search(r"libmicrohttpd\.so\.\d+ => (\S+)", subprocess.run(["ldd", serving.binary()], capture_output=True,
                                                                           text=True, check=True).stdout)
    library = pathlib.Path(found[1])
    (tmp_path / library.name).write_bytes(elfnames.shorten_import(library.read_bytes(), name, 2))
    monkeypatch.setenv("WHEELCACHE", str(faults.wrap("bypass", tmp_path, LD_LIBRARY_PATH=tmp_path)))
    done = wheelcache("serve", store, "--catalog", tmp_path / "catalog.db", "--listen", "127.0.0.1:0", *authority.options(),
                      timeout=30)  # one that is not refused serves on
    assert done.returncode == 1 and "does not read and write by this program's functions" in done.stderr, done.stderr
