# SPDX-License-Identifier: Apache-2.0
"""A proxy that [server] trusted-proxies names says which client asks, and below which path; of anyone else that counts for
nothing."""
import contextlib
import html
import json
import re
import socket
import urllib.parse

import pytest

import serving
import storelib
import uploading
import webservers
from authority import Authority

PLATFORM = "ubuntu-22.04-x86_64"
PROXY, STRANGER = "127.0.0.2", "127.0.0.3"
CLIENT, OTHER = "203.0.113.5", "203.0.113.6"
WRONG = uploading.authorization("wc_wrong")
TRIES = 25  # more than an address has at once


@pytest.fixture(name="server")
def server_fixture(serve, tmp_path):
    storelib.make_wheel(tmp_path / "store", "foo", "1.0")
    return serve(tmp_path / "store", config=f"[server]\ntrusted-proxies = {PROXY}\n 10.0.0.0/8 fd00::/8\n[platform {PLATFORM}]\n")


def ask(server, path, source, headers=None, method="GET"):
    """A request from an address of this machine."""
    lines = "".join(f"{name}: {value}\r\n" for name, value in (headers or {}).items())
    with server.plain_socket(source=source) as connection:
        connection.sendall(f"{method} {path} HTTP/1.1\r\nHost: index.test\r\n{lines}Connection: close\r\n\r\n".encode())
        answer = serving.read_all(connection).decode(errors="replace")
    return int(answer.split()[1]), answer


def logged(server, path):
    """The addresses in the access log's lines with a path."""
    return serving.wait_for(lambda: [line.split()[0] for line in server.log_path.read_text().splitlines() if path in line],
                            30, "a line of the access log")


def test_the_logs_name_the_client(server):
    ask(server, "/one/", PROXY, {"X-Forwarded-For": f"198.51.100.1, {CLIENT}, 10.1.2.3"})
    ask(server, "/two/", STRANGER, {"X-Forwarded-For": CLIENT})
    ask(server, "/three/", PROXY, {"Forwarded": f"for={CLIENT}"})
    assert (logged(server, "/one/"), logged(server, "/two/"), logged(server, "/three/")) == ([CLIENT], [STRANGER], [PROXY])
    uploading.add_token(server, "--platform", PLATFORM)
    status, _ = ask(server, f"/upload/{PLATFORM}/", PROXY,
                    {"X-Forwarded-For": CLIENT, "Content-Type": "multipart/form-data; boundary=x", "Content-Length": 0,
                     **WRONG}, "POST")
    assert status == 401
    assert [line["peer"] for line in uploading.audit(server) if line["action"] == "upload"] == [CLIENT]


def test_clients_of_one_connection_are_told_apart(server):
    """A proxy keeps its connections, and sends requests of many clients over one."""
    with server.plain_socket(source=PROXY) as connection:
        for number, client in enumerate((CLIENT, OTHER, CLIENT)):
            connection.sendall(f"GET /kept-{number}/ HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: {client}\r\n\r\n".encode())
            assert connection.recv(65536).startswith(b"HTTP/1.1 404")
        connection.sendall(b"GET /kept-3/ HTTP/1.1\r\nHost: x\r\n\r\n")
        assert connection.recv(65536).startswith(b"HTTP/1.1 404")
    assert [logged(server, f"/kept-{number}/") for number in range(4)] == [[CLIENT], [OTHER], [CLIENT], [PROXY]]


def test_wrong_tokens_of_one_client_throttle_no_other(serve, tmp_path):
    storelib.make_wheel(tmp_path / "store", "foo", "1.0")
    server = serve(tmp_path / "store", config=f"[server]\ntrusted-proxies = {PROXY}\n[platform {PLATFORM}]\nprivate = yes\n")
    uploading.add_token(server, "--platform", PLATFORM, "--read")
    page = f"/{PLATFORM}/simple/foo/"

    def statuses(client, count):
        return [ask(server, page, PROXY, {"X-Forwarded-For": client, **WRONG})[0] for _ in range(count)]

    assert statuses(CLIENT, TRIES)[-1] == 429
    assert statuses(OTHER, 1) == [401]


def test_install_lines_have_the_prefix(server):
    said = {"X-Forwarded-Prefix": "/wheels/", "X-Forwarded-Proto": "https"}
    for path in ("/", f"/-/client-config/{PLATFORM}"):
        for source, base in ((PROXY, "https://index.test/wheels"), (STRANGER, "http://index.test")):
            status, page = ask(server, path, source, said)
            page = page.replace("<wbr>", "")
            assert status == 200 and f'{base}{path.removeprefix("/-/client-config").rstrip("/")}/simple/' in page, (path, source)
            assert ("index.test/wheels/" in page) == (source == PROXY)
    _, page = ask(server, "/", PROXY, {"X-Forwarded-Prefix": '/"><script>alert(1)</script>'})
    assert "alert(1)" not in page and "http://index.test/simple/" in page.replace("<wbr>", "")


def test_below_a_path_of_nginx(serve, tmp_path, client):
    """As etc/nginx-front.conf says, without [server] url: every link stays below, and the commands of the pages install."""
    storelib.make_wheel(tmp_path / "store" / PLATFORM / "foo", "foo", "1.0")
    server = serve(tmp_path / "store", config=f"[server]\ntrusted-proxies = 127.0.0.1\n[platform {PLATFORM}]\npythons = 3.12\n")
    (tmp_path / "front").mkdir()
    authority = Authority(tmp_path)
    with webservers.front(tmp_path / "front", server, authority, below=True) as port:
        at = f"https://{webservers.HOST}:{port}"
        seen, todo = set(), [f"{at}/wheels/"]
        while todo:
            url = todo.pop()
            if url in seen:
                continue
            seen.add(url)
            with contextlib.closing(authority.connect(webservers.HOST, port)) as connection:
                reply = serving.ask(connection, url.removeprefix(at), {"Accept": "text/html"})
            assert reply.status in (200, 302) or "/-/log/" in url, (url, reply)
            if not reply["Content-Type"].startswith("text/html") or "/-/docs/" in url:
                continue
            for link in re.findall(r'(?:href|src|action)="([^"]+)"', reply.body.decode()):
                to = urllib.parse.urljoin(url, html.unescape(link)).partition("#")[0]
                if to.startswith("https://127."):
                    assert to.startswith(f"{at}/wheels/"), (url, link)
                    todo.append(to)
        assert {f"{at}/wheels/-/project/foo", f"{at}/wheels/simple/foo/", f"{at}/wheels/-/style.css"} <= \
            {url.partition("?")[0] for url in seen}
        with contextlib.closing(authority.connect(webservers.HOST, port)) as connection:
            words = json.loads(serving.ask(connection, "/wheels/-/project/foo?format=json").body)["install"].split()
        assert words[3] == f"{at}/wheels/simple/"
        client("pip==26.3").pip(*words[1:], "--target", tmp_path / "out", env={"PIP_CERT": str(authority.ca)})
        assert (tmp_path / "out" / "foo-1.0.dist-info").exists()


def test_a_unix_socket_is_trusted(serve, tmp_path):
    storelib.make_wheel(tmp_path / "store", "foo", "1.0")
    server = serve(tmp_path / "store", listen=f"unix:{tmp_path}/socket")
    with contextlib.closing(socket.socket(socket.AF_UNIX)) as connection:
        connection.connect(f"{tmp_path}/socket")
        connection.sendall(f"GET /told/ HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: {CLIENT}\r\nConnection: close\r\n\r\n".encode())
        assert b"404" in serving.read_all(connection)
    assert logged(server, "/told/") == [CLIENT]


@pytest.mark.parametrize("value", ["localhost", "10.0.0.0/33", "10.0.0.1,10.0.0.2", "[::1]"])
def test_what_is_no_network_is_refused(wheelcache, tmp_path, value):
    (tmp_path / "wheelcache.conf").write_text(f"[server]\ntrusted-proxies = {value}\n")
    done = wheelcache("serve", "--config", tmp_path / "wheelcache.conf", tmp_path)
    assert done.returncode == 2 and "a list of addresses and networks (as 192.0.2.7 10.0.0.0/8 fd00::/8)" in done.stderr
