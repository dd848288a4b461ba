# SPDX-License-Identifier: Apache-2.0
"""HTTPS beside nginx, with the same key: CPU time per handshake, full and resumed, and per request on kept connections."""
import contextlib
import dataclasses
import json
import os
import socket
import ssl
import statistics
import subprocess
import sys
import pathlib

import lines
import load
import nginx
import ours
import server
import shape
import table

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
import authority  # noqa: E402

HANDSHAKES = 200  # a round
FULL_MOST, KEPT_MOST = 1.2, 1.05  # of nginx
KEYS = {"RSA 2048": "rsa:2048", "ECDSA P-256": "ec"}
NGINX = """
    access_log off;
    open_file_cache max=1000 inactive=60s;
    server {{
        listen 127.0.0.1:{port} ssl;
        ssl_protocols TLSv1.2 TLSv1.3;
        ssl_certificate {cert};
        ssl_certificate_key {key};
        root {folder}/site;
        types {{}}
    }}
"""


@dataclasses.dataclass
class Body:
    """What is requested over kept connections: the path at wheelcache, and the name of a file of the same bytes at nginx."""
    path: str
    headers: dict
    connections: int = 32


FEW_BYTES, MANY_BYTES = 20_000, 20_000_000
INSTALLER = lines.FORMS["JSON, gzip"]
BODIES = {
    "page of 4": Body("/simple/small/", INSTALLER),
    "page of 5,000": Body("/simple/many/", INSTALLER),
    "wheel of 20 KB": Body("/files/wheels/small/small-1.0-py3-none-any.whl", {}),
    "wheel of 20 MB": Body("/files/wheels/large/large-1.0-py3-none-any.whl", {}, 4),
}
SITE = {what: "/" + what.replace(" ", "-") for what in BODIES}  # at nginx


@dataclasses.dataclass
class Https:
    """A server over TLS."""
    name: str
    one: server.Server
    context: ssl.SSLContext
    paths: dict
    session: ssl.SSLSession = None

    def connect(self, session=None):
        plain = socket.create_connection(("127.0.0.1", self.one.port), 60)
        return self.context.wrap_socket(plain, server_hostname="127.0.0.1", session=session)

    def get(self, what):
        """The body, and a session that can be resumed."""
        headers = "".join(f"{name}: {value}\r\n" for name, value in BODIES[what].headers.items())
        with self.connect() as connection:
            connection.sendall(f"GET {self.paths[what]} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{headers}\r\n".encode())
            answer = b"".join(iter(lambda: connection.recv(1 << 20), b""))
            assert answer.startswith(b"HTTP/1.1 200"), answer[:200]
            self.session = connection.session
            return answer.partition(b"\r\n\r\n")[2]

    def shake_hands(self, session):
        """One handshake, until the server has seen the end of the connection."""
        with self.connect(session) as connection:
            if connection.session_reused != (session is not None):
                raise RuntimeError(f"{self.name}: resumed: {connection.session_reused}")
            with contextlib.suppress(OSError):
                connection.unwrap()

    def handshake_us(self, is_resumed):
        self.one.settle()
        before = self.one.cpu_seconds()
        for _ in range(HANDSHAKES):
            self.shake_hands(self.session if is_resumed else None)
        self.one.settle()
        return (self.one.cpu_seconds() - before) * 1e6 / HANDSHAKES

    def request_us(self, what, size, seconds):
        headers = [word for name, value in BODIES[what].headers.items() for word in ("-H", f"{name}: {value}")]
        self.one.settle()
        before = self.one.cpu_seconds()
        done = subprocess.run(server.pinned(load.CORE, "wrk", "-t1", f"-c{BODIES[what].connections}", f"-d{seconds}s", "-s",
                                            load.SUMMARY, *headers, f"https://127.0.0.1:{self.one.port}{self.paths[what]}"),
                              capture_output=True, text=True, check=True)
        used = self.one.cpu_seconds() - before
        seen = json.loads(done.stdout.splitlines()[-1])
        if seen["broken"] or seen["bad_status"]:
            raise load.Unusable(f"{self.name}, {what}: {seen}")
        return used * 1e6 / (seen["bytes"] / size)


def make_pair(folder, kind):
    """A self-signed certificate and its key."""
    cert, key = folder / f"{kind[:2]}-cert.pem", folder / f"{kind[:2]}-key.pem"
    more = ["-pkeyopt", "ec_paramgen_curve:P-256"] if kind == "ec" else []
    authority.openssl("req", "-x509", "-newkey", kind, *more, "-nodes", "-days", 2, "-subj", "/CN=bench",
                      "-addext", "subjectAltName = IP:127.0.0.1", "-keyout", key, "-out", cert)
    return cert, key


def start_nginx(folder, pair, bodies):
    (folder / "site").mkdir()
    for name, body in zip(SITE.values(), bodies.values()):
        (folder / "site" / name[1:]).write_bytes(body)
    config, port = nginx.write_config(folder, NGINX, cert=pair[0], key=pair[1])
    return nginx.Nginx(server.start(nginx.program(), "-c", config), port).wait_until_up()


def start_both(stack, binary, store, pair, folder):
    context = ssl.create_default_context(cafile=pair[0])
    settings = f"threads = 1\nrescan = 0\ntls-cert = {pair[0]}\ntls-key = {pair[1]}\n"
    mine = ours.start(binary, store, folder, settings)
    stack.callback(mine.stop)
    first = Https("wheelcache", mine, context, {what: body.path for what, body in BODIES.items()})
    bodies = {what: first.get(what) for what in BODIES}
    other = start_nginx(folder, pair, bodies)
    stack.callback(other.stop)
    second = Https("nginx", other, context, SITE)
    assert {what: second.get(what) for what in BODIES} == bodies
    return (first, second), {name: len(body) for name, body in bodies.items()}


def measures(title, sizes, seconds):
    """The measurements: name, function, and the limit as a multiple of nginx's figure."""
    yield f"handshake, {title}", lambda one: one.handshake_us(False), FULL_MOST
    yield f"resumed, {title}", lambda one: one.handshake_us(True), FULL_MOST
    if title.startswith("RSA"):
        for what, size in sizes.items():
            yield f"{what}, {size:,} bytes", lambda one, what=what, size=size: one.request_us(what, size, seconds), KEPT_MOST


def make_store(store):
    for project, count, size in (("small", 4, FEW_BYTES), ("many", 5_000, 100), ("large", 1, MANY_BYTES)):
        (store / project).mkdir(parents=True)
        for i in range(count):
            shape.make_wheel(store / project, project, f"1.{i}", size)


def bench_key(binary, store, title, folder, rounds, seconds):
    """Interleaved rounds with one key; the rows of the table."""
    with contextlib.ExitStack() as stack:
        folder.mkdir()
        both, sizes = start_both(stack, binary, store, make_pair(folder, KEYS[title]), folder)
        for name, measure, most in measures(title, sizes, seconds):
            taken = {one.name: [] for one in both}
            for _ in range(rounds):
                for one in both:
                    taken[one.name].append(measure(one))
            us, theirs = (statistics.median(taken[one.name]) for one in both)
            yield [name, f"{us:,.1f}", f"{theirs:,.1f}", f"{us / theirs:.2f}",
                   "yes" if us <= most * theirs else f"{us / theirs:.2f} > {most}"]


def bench(binary, folder, rounds, seconds):
    """Returns the table as text."""
    store = folder / "store"
    make_store(store)
    before = os.sched_getaffinity(0)
    rows = []
    try:
        os.sched_setaffinity(0, {load.CORE})  # the client is this process
        for title in KEYS:
            rows += bench_key(binary, store, title, folder / title.partition(" ")[0], rounds, seconds)
    finally:
        os.sched_setaffinity(0, before)
    return (table.text(["TLS 1.3", "CPU µs", "nginx", "of nginx", "reached"], rows) +
            f"\nHandshakes: {HANDSHAKES} a round, one after the other, each on a new connection that ends with it.\n")
