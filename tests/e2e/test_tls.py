# SPDX-License-Identifier: Apache-2.0
"""HTTPS: by the server itself, and by nginx before it as etc/nginx-front.conf says."""
import contextlib
import os
import shutil
import socket
import ssl
import subprocess

import pytest

import clients
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
    server = serve_module(store, *authority.options())
    assert server.url.startswith("https://127.0.0.1:")
    return server


def start_front(folder, server, authority):
    """nginx, as a user runs it: its example, adapted."""
    program = shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin")
    if not program:
        pytest.skip("there is no nginx: apt-get install nginx")
    port = webservers.free_port()
    text = (webservers.ETC / "nginx-front.conf").read_text()
    for before, after in {"listen 443 ssl;": f"listen {webservers.HOST}:{port} ssl;",
                          "127.0.0.1:8080": f"{server.host}:{server.port}",
                          "/etc/wheelcache/cert.pem": str(authority.cert),
                          "/etc/wheelcache/key.pem": str(authority.key)}.items():
        assert before in text
        text = text.replace(before, after)
    user = "user root;" if os.geteuid() == 0 else ""
    temporary = "".join(f"{what}_temp_path {folder}/{what};" for what in
                        ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    (folder / "nginx.conf").write_text(
        f"{user} daemon off; pid {folder}/pid; error_log {folder}/errors;\nevents {{ }}\n"
        f"http {{ access_log off; {temporary}\n{text}\n}}\n")
    process = subprocess.Popen([program, "-p", folder, "-e", folder / "errors", "-c", folder / "nginx.conf"],
                               stdin=subprocess.DEVNULL)
    return process, port


def listens(process, port):
    assert process.poll() is None
    with contextlib.suppress(OSError), socket.create_connection((webservers.HOST, port), 5):
        return True
    return False


@pytest.fixture(scope="module", name="front")
def front_fixture(serve_module, store, authority, tmp_path_factory):
    """Host and port of nginx before a server without TLS."""
    folder = tmp_path_factory.mktemp("front")
    process, port = start_front(folder, serve_module(store), authority)
    try:
        serving.wait_for(lambda: listens(process, port), webservers.START_SECONDS, "nginx")
        yield webservers.HOST, port, folder
    finally:
        process.terminate()
        process.wait(webservers.STOP_SECONDS)


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


def test_body_that_nobody_wants(place, authority):
    """It is read, so that the client sees the answer."""
    with contextlib.closing(authority.connect(*place)) as connection:
        connection.request("POST", "/simple/", body=b"x" * BODY)
        answer = connection.getresponse()
        assert answer.status == 405 and answer.headers["Allow"] == "GET, HEAD"
        answer.read()


def test_the_page_for_people_names_what_it_came_by(secure, authority):
    with contextlib.closing(authority.connect(secure.host, secure.port)) as connection:
        page = serving.ask(connection, "/").body.decode()
    assert f"--index-url https://{secure.host}:{secure.port}/simple/" in page.replace("<wbr>", "")
    assert f"http://{secure.host}" not in page


def test_front_keeps_no_body(front):
    """What passes through nginx is never on its disk."""
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


def test_plain_http_is_no_answer(secure):
    assert b"200" not in secure.raw(b"GET /simple/foo/ HTTP/1.1\r\nHost: x\r\n\r\n", seconds=10)


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
            (["--tls-cert", authority.cert, "--tls-key", other.key], "no certificate and its key"),
            ([*authority.options(), "--listen", f"unix:{tmp_path}/socket"], "a socket file has no TLS")]:
        done = wheelcache("serve", store, "--catalog", tmp_path / "catalog.db", "--listen", "127.0.0.1:0", *options)
        assert done.returncode != 0 and words in done.stderr, (options, done.stderr)
