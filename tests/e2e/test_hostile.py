# SPDX-License-Identifier: Apache-2.0
"""With any request, nothing outside the store is read, and the next client is served."""
import contextlib
import re
import resource
import socket
import time

import pytest

import serving
import storelib

PLATFORM = "debian-12-x86_64"
SECRET = b"the secret of another folder"
IDLE = 1000


@pytest.fixture(scope="module", name="server")
def server_fixture(serve_module, tmp_path_factory):
    """Serves the project foo; there is a secret beside the store, in it, and in a folder that is no platform."""
    top = tmp_path_factory.mktemp("hostile")
    store = top / "store"
    storelib.make_wheel(store / PLATFORM / "f" / "foo", "foo", "1.0")
    (store / "not a platform").mkdir()
    for folder in (top, store, store / PLATFORM, store / PLATFORM / "f" / "foo", store / "not a platform"):
        (folder / "secret.whl").write_bytes(SECRET)
    raise_file_limit(2 * IDLE + 500)
    return serve_module(store, config="[server]\ntimeout = 3\n")


def raise_file_limit(wanted):
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < wanted:
        pytest.skip(f"only {hard} files may be open here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def request(path, *headers):
    if isinstance(path, str):
        path = path.encode()
    return b"\r\n".join([b"GET " + path + b" HTTP/1.1", b"Host: x", b"Connection: close", *headers, b"", b""])


def status_of(answer):
    found = re.match(rb"HTTP/1\.[01] (\d{3}) ", answer)
    return int(found.group(1)) if found else None


def check_next_client(server):
    assert server.get("/simple/foo/").status == 200


FILES = f"/files/{PLATFORM}/foo"
UP = ["..", "%2e%2e", "%2E.", ".%2e", "%252e%252e", "..%00", "%c0%ae%c0%ae", "%e0%80%ae%e0%80%ae", "%uff0e%uff0e",
      "..;", "．．"]
SLASH = ["/", "%2f", "%2F", "%5c", "\\", "%252f", "%c0%af", "//", "／"]
CLIMBS = [f"{FILES}/{up}{slash}{rest}" for up in UP for slash in SLASH
          for rest in ("secret.whl", f"{up}{slash}secret.whl", f"{up}{slash}{up}{slash}{up}{slash}secret.whl",
                       f"{slash.join([up] * 9)}{slash}etc{slash}passwd")]
ODD = [
    f"{FILES}/secret.whl", f"/files/{PLATFORM}/secret.whl", "/files/secret.whl", f"/files/{PLATFORM}/f/foo/secret.whl",
    "/files/not%20a%20platform/foo/secret.whl", "/files//foo/secret.whl", f"/files/{PLATFORM}//etc/passwd",
    "//etc/passwd", "/%2fetc%2fpasswd", f"{FILES}/%00", f"{FILES}/foo-1.0-py3-none-any.whl%00",
    f"{FILES}/foo-1.0-py3-none-any.whl%00.metadata", f"{FILES}/foo-1.0-py3-none-any.whl%0d%0aX-Injected:%20yes",
    f"{FILES}/foo-1.0-py3-none-any.whl%0a", f"{FILES}/foo-1.0-py3-none-any.whl%7f",
    f"{FILES}/foo-1.0-py3-none-any.whl/",
    f"{FILES}/./foo-1.0-py3-none-any.whl", f"{FILES}/foo-1.0-py3-none-any.whl.metadata.metadata",
    "/simple/./", "/simple/../simple/foo/", "/./simple/foo/", "/simple//foo/", "//simple/foo/", "/simple/%2e/",
    "/simple/foo%2f", "/simple/foo%00/", "/simple/%ff%fe/", "/simple/%c3%28/", "/simple/%ed%a0%80/", "/simple/%/",
    "/simple/%4/", "/simple/%zz/", "/simple/" + "a" * 256 + "/", "/simple/" + "a" * 5000 + "/", "/a" * 2000,
    "/" * 3000, "/simple/" + "%2e" * 1300 + "/", "/simple/foo/%0d%0aSet-Cookie:%20a=b", "/simple/<script>/",
    "/simple/foo'--/", "/-/", "/-/health/more", f"/{PLATFORM}/simple/..%2f..%2f/", f"/{PLATFORM}%00/simple/foo/",
]


@pytest.mark.parametrize("paths", [CLIMBS[i::11] for i in range(11)] + [ODD], ids=lambda paths: paths[0])
def test_no_path_leads_out(server, paths):
    for path in paths:
        answer = server.raw(request(path))
        assert status_of(answer) in (400, 404, 414), path
        assert SECRET not in answer and b"root:" not in answer, path
        head = answer.partition(b"\r\n\r\n")[0]
        assert b"X-Injected" not in head and b"Set-Cookie" not in head, path
    check_next_client(server)


@pytest.mark.parametrize("path", [b"/simple/\xff\xfe/", b"/simple/\xc3(/", b"/simple/foo\x01/", b"/simple/\x7f/",
                                  b"/simple/foo/\xe2\x80"])
def test_raw_bytes_in_the_path(server, path):
    assert status_of(server.raw(request(path))) in (400, 404, None)
    check_next_client(server)


def test_path_with_a_raw_nul_is_refused(server):
    """By us, or by a newer libmicrohttpd, which closes the connection without an answer."""
    answer = server.raw(request(f"{FILES}/secret.whl\x00/../../"))
    assert not answer or status_of(answer) == 400
    assert SECRET not in answer
    check_next_client(server)


def test_markup_in_a_path_comes_back_escaped_or_not_at_all(server):
    for path in ("/simple/%3Cscript%3Ealert(1)%3C%2Fscript%3E/", "/%3Cscript%3E/"):
        assert b"<script>" not in server.raw(request(path))


@pytest.mark.parametrize("size", [64 << 10, 1 << 20])
@pytest.mark.parametrize("form", [b"X-Long: %s", b"Accept: %s", b"Range: bytes=%s", b"If-None-Match: %s"])
def test_header_that_is_too_long_is_refused(server, size, form):
    answer = server.raw(request("/simple/foo/", form % (b"1" * size)))
    assert status_of(answer) in (400, 413, 414, 431, None)
    check_next_client(server)


def test_too_many_headers_are_refused(server):
    answer = server.raw(request("/simple/foo/", *[b"X-%d: y" % i for i in range(20_000)]))
    assert status_of(answer) in (400, 413, 431, None)
    check_next_client(server)


@pytest.mark.parametrize("data", [
    b"NONSENSE\r\n\r\n", b"\r\n" * 100, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"x" * 500, b"\x00" * 4096,
    b"GET\r\n\r\n", b"GET /simple/foo/ HTTP/9.9\r\nHost: x\r\n\r\n", b"GET simple/foo/ HTTP/1.1\r\nHost: x\r\n\r\n",
    b"GET * HTTP/1.1\r\nHost: x\r\n\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    b"GET /simple/foo/ HTTP/1.1\r\n: x\r\n\r\n",
    b"GET /simple/foo/ HTTP/1.1\r\nHost: x\r\nHo\x00st: y\r\n\r\n", b"GET " + b"/a" * 40_000 + b" HTTP/1.1\r\n\r\n",
    b"GET /simple/foo/ HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n",
    b"GET /simple/foo/ HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n",
    b"POST /simple/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\nffffffffffffffff\r\n",
    b"POST /simple/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\nzz\r\nGET /\r\n",
    b"POST /simple/ HTTP/1.1\r\nHost: x\r\nContent-Length: 20000000\r\nConnection: close\r\n\r\n" + b"x" * 20_000_000,
], ids=range(17))
def test_broken_request_harms_only_itself(server, data):
    server.raw(data, seconds=5)
    check_next_client(server)
    assert server.process.poll() is None


ODD_HEADERS = [
    b"Accept: \xff\xfe", b"Accept: " + b"," * 3000, b"Accept: " + b"a/b;q=0.1," * 300, b"Accept: text/html;q=\"",
    b"Accept-Encoding: " + b"gzip," * 600, b"Accept-Encoding: gzip;q=1e999", b"Range: bytes=1-2-3",
    b"Range: bytes=" + b"0-0," * 750, b"If-None-Match: \"" + b"x" * 3000, b"If-None-Match: " + b"W/," * 1000,
    b"If-Range: \"", b"User-Agent: pip/", b"User-Agent: pip/99999999999999999999.99999999999999999999",
]


@pytest.mark.parametrize("header", ODD_HEADERS, ids=range(len(ODD_HEADERS)))
def test_odd_header_values(server, header):
    for path in ("/simple/foo/", f"{FILES}/foo-1.0-py3-none-any.whl"):
        assert status_of(server.raw(request(path, header))) in (200, 406)
    check_next_client(server)


def test_log_lines_cannot_be_forged(serve, tmp_path):
    storelib.make_wheel(tmp_path / "store", "foo", "1.0")
    server = serve(tmp_path / "store", *serving.ONE_LOOP)
    forged = b'"GET /forged HTTP/1.1" 200'
    with server.watch() as seen:
        server.raw(request("/simple/foo/?x=%22%0A" + "y", b'User-Agent: a" 200 1 ' + forged, b"Referer: " + forged))
        server.raw(request("/simple/foo%22/", b"User-Agent: \x1b[31mred"))
    assert [one.status for one in seen] == [200, 404]
    assert all("forged" not in one.path for one in seen)
    text = server.log_path.read_bytes()
    assert not re.search(rb"[\x00-\x09\x0b-\x1f\x7f]", text)


def work_for(server, count):
    """The CPU seconds of so many answers; not the elapsed time, because other processes run on this machine."""
    begin = serving.cpu_seconds(server)
    with contextlib.closing(server.connect()) as connection:
        for _ in range(count):
            assert serving.ask(connection, "/simple/foo/").status == 200
    return serving.cpu_seconds(server) - begin


def test_idle_connections_make_no_work(serve, tmp_path):
    storelib.make_wheel(tmp_path / "store", "foo", "1.0")
    raise_file_limit(2 * IDLE + 500)
    server = serve(tmp_path / "store")
    alone = work_for(server, 500)
    with contextlib.ExitStack() as stack:
        for _ in range(IDLE):
            stack.enter_context(server.socket()).sendall(b"GET /simple/")
        crowded = work_for(server, 500)
    assert crowded < 3 * alone + 0.5
    check_next_client(server)


@pytest.mark.parametrize("sent", [b"", b"GET /simple/foo/ HTTP/1.1\r\nHos",
                                  b"POST /simple/ HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc"])
def test_slow_client_is_closed(server, sent):
    """timeout = 3: not at once, and not much later."""
    begin = time.monotonic()
    with server.socket(30) as connection:
        connection.sendall(sent)
        serving.read_all(connection)
    assert time.monotonic() - begin < 25
    check_next_client(server)


def test_idle_connection_may_wait_a_little(serve, tmp_path):
    storelib.make_wheel(tmp_path / "store", "foo", "1.0")
    server = serve(tmp_path / "store", config="[server]\ntimeout = 30\n")
    with contextlib.closing(server.connect()) as connection:
        assert serving.ask(connection, "/simple/foo/").status == 200
        time.sleep(1)
        assert serving.ask(connection, "/simple/foo/").status == 200


def test_connections_over_the_limit_do_no_lasting_harm(serve, tmp_path):
    storelib.make_wheel(tmp_path / "store", "foo", "1.0")
    server = serve(tmp_path / "store", config="[server]\nconnections = 10\n")
    with contextlib.ExitStack() as stack:
        for _ in range(50):
            with contextlib.suppress(OSError):
                stack.enter_context(socket.create_connection((server.host, server.port), 5))
    serving.wait_for(lambda: serving.answers(server, "/simple/foo/"), 30, "an answer after the crowd")
