# SPDX-License-Identifier: Apache-2.0
"""Requests that no client should send, over a raw socket. Each gets the status of its row, or its connection is closed; a
refusal is the last answer on its connection; the next client is served.

libmicrohttpd refuses some requests itself, with or without an answer, and 0.9 others than 1.0: so a row may allow several
answers, but never 200 beside another one. For a length that is no number, and without Host, 0.9 sends two heads and
closes the connection."""
import contextlib
import re
import socket
import time

import pytest

import serving
import storelib

PLATFORM = "debian-12-x86_64"
SECRET = b"the secret of another folder"
CLOSED = None  # without a word
TIMEOUT = 2

GET = b"GET /simple/foo/ HTTP/1.1\r\n"
POST = b"POST /simple/foo/ HTTP/1.1\r\n"
HOST = b"Host: x\r\n"
END = b"\r\n"
NEXT = b"GET /-/health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"  # the request that must not be smuggled in
NEXT_ANSWER = b'"uptime"'
FILE = f"/files/{PLATFORM}/foo/foo-1.0-py3-none-any.whl".encode()
FOLDER = f"/files/{PLATFORM}/foo".encode()
OTHER_VERSION = (400, 505, CLOSED)
TOO_LONG = (400, 413, 414, 431, CLOSED)
NOT_THERE = (400, 404)


def get(target, headers=b""):
    return b"GET " + target + b" HTTP/1.1\r\n" + HOST + headers + END


def with_headers(*lines, path=b"/simple/foo/"):
    return get(path, b"".join(line + END for line in lines))


def method(name, headers=b"", body=b""):
    return name + b" /simple/foo/ HTTP/1.1\r\n" + HOST + headers + END + body


# The request, and the allowed statuses of its first answer. All but those with 200 end their connection.
PATHS = {
    "up": get(FOLDER + b"/../../../../../../etc/passwd"),
    "up-encoded": get(FOLDER + b"/%2e%2e/%2e%2e/%2e%2e/%2e%2e/%2e%2e/etc/passwd"),
    "up-half-encoded": get(FOLDER + b"/.%2e/%2e./.%2e/secret.whl"),
    "up-slash-encoded": get(FOLDER + b"/..%2f..%2f..%2fsecret.whl"),
    "up-all-encoded": get(FOLDER + b"/%2e%2e%2f%2e%2e%2fsecret.whl"),
    "up-encoded-twice": get(FOLDER + b"/%252e%252e%252fsecret.whl"),
    "up-encoded-thrice": get(FOLDER + b"/%25252e%25252e%25252fsecret.whl"),
    "up-backslash": get(FOLDER + b"/..\\..\\secret.whl"),
    "up-backslash-encoded": get(FOLDER + b"/..%5c..%5csecret.whl"),
    "up-overlong-dot": get(FOLDER + b"/%c0%ae%c0%ae/secret.whl"),
    "up-overlong-slash": get(FOLDER + b"/..%c0%afsecret.whl"),
    "up-overlong-three-bytes": get(FOLDER + b"/%e0%80%ae%e0%80%ae/secret.whl"),
    "up-overlong-four-bytes": get(FOLDER + b"/%f0%80%80%ae%f0%80%80%ae/secret.whl"),
    "up-raw-overlong": get(FOLDER + b"/\xc0\xae\xc0\xae/secret.whl"),
    "up-full-width": get(FOLDER + b"/%ef%bc%8e%ef%bc%8e%ef%bc%8fsecret.whl"),
    "up-percent-u": get(FOLDER + b"/%u002e%u002e/secret.whl"),
    "up-semicolon": get(FOLDER + b"/..;/secret.whl"),
    "up-nul": get(FOLDER + b"/..%00/secret.whl"),
    "up-in-view": get(b"/../simple/foo/"),
    "up-in-project": get(b"/simple/../../etc/"),
    "platform-is-up": get(b"/files/../foo/secret.whl"),
    "platform-is-up-encoded": get(b"/files/%2e%2e/foo/secret.whl"),
    "platform-is-here": get(b"/files/./foo/secret.whl"),
    "platform-is-empty": get(b"/files//foo/secret.whl"),
    "absolute-in-file": get(FOLDER + b"//etc/passwd"),
    "absolute-in-file-encoded": get(FOLDER + b"/%2fetc%2fpasswd"),
    "file-of-no-index": get(FOLDER + b"/secret.whl"),
    "double-slash-first": get(b"//simple/foo/"),
    "dot-folder": get(b"/simple/./foo/"),
    "tail-behind-file": get(FILE + b"/"),
    "nul-behind-file": get(FILE + b"%00"),
    "nul-and-suffix": get(FILE + b"%00.metadata"),
    "line-end-in-path": get(FILE + b"%0d%0aX-Injected:%20yes"),
    "delete-in-path": get(b"/simple/%7f/"),
    "percent-alone": get(b"/simple/%/"),
    "percent-one-digit": get(b"/simple/%4/"),
    "percent-no-digits": get(b"/simple/%zz/"),
    "percent-sign-digit": get(b"/simple/%+1/"),
    "percent-at-end": get(b"/simple/foo%"),
    "surrogate": get(b"/simple/%ed%a0%80/"),
    "beyond-unicode": get(b"/simple/%f4%90%80%80/"),
    "latin-1": get(b"/simple/f\xf6\xf6/"),
    "markup": get(b"/simple/%3Cscript%3E/"),
    "quotes": get(b"/simple/%22%27%60/"),
    "name-of-256": get(b"/simple/" + b"a" * 256 + b"/"),
    "path-of-5000": get(b"/simple/" + b"a" * 5000 + b"/"),
    "deep-path": get(b"/a" * 2000 + b"/"),
    "slashes": get(b"/" * 3000),
}
PATHS = {name: (data, NOT_THERE) for name, data in PATHS.items()}

REQUEST_LINES = {
    "absolute-form": (get(b"http://x/simple/foo/"), 400),
    "absolute-form-of-another": (get(b"http://169.254.169.254/latest/meta-data/"), 400),
    "absolute-form-file": (get(b"file:///etc/passwd"), 400),
    "authority-form": (method(b"CONNECT").replace(b"/simple/foo/", b"x:443"), 405),
    "asterisk-form": (get(b"*"), 400),
    "no-slash": (get(b"simple/foo/"), 400),
    "query-only": (get(b"?format=json"), 400),
    "fragment": (get(b"/simple/foo/#part"), NOT_THERE),
    "target-of-64-KB": (get(b"/" + b"a" * 65536), TOO_LONG),
    "query-of-1000-parts": (get(b"/simple/foo/?" + b"&".join([b"a"] * 1000)), TOO_LONG),  # 0.9 forgets to say so
    "query-of-64-KB": (get(b"/simple/foo/?" + b"a=b&" * 16384), TOO_LONG),
    "blank-in-target": (get(b"/simple/foo bar/"), (400, CLOSED)),
    "tab-in-target": (get(b"/simple/foo\tbar/"), (400, CLOSED)),
    "two-blanks": (b"GET  /simple/foo/  HTTP/1.1\r\nHost: x\r\n\r\n", (400, CLOSED)),
    "tabs-for-blanks": (b"GET\t/simple/foo/\tHTTP/1.1\r\nHost: x\r\n\r\n", (400, CLOSED)),
    "blank-behind-version": (b"GET /simple/foo/ HTTP/1.1 \r\nHost: x\r\n\r\n", 400),
    "nul-in-path": (get(b"/simple/foo/\x00"), (400, CLOSED)),
    "nul-before-way-out": (get(FOLDER + b"/secret.whl\x00/../../"), (400, CLOSED)),
    "nul-in-query": (get(b"/simple/foo/?a\x00b"), (400, CLOSED)),
    "nul-in-method": (b"GET\x00 /simple/foo/ HTTP/1.1\r\nHost: x\r\n\r\n", (400, 405, CLOSED)),
    "nul-first": (b"\x00GET /simple/foo/ HTTP/1.1\r\nHost: x\r\n\r\n", (400, CLOSED)),
    "bare-cr-in-target": (get(b"/simple/foo/\rX: y"), (400, CLOSED)),
    "bare-cr-in-query": (get(b"/simple/foo/?\rX:y"), (400, CLOSED)),
    "bare-cr-behind-version": (b"GET /simple/foo/ HTTP/1.1\r\r\nHost: x\r\n\r\n", (400, CLOSED)),
    "bare-lf": (b"GET /simple/foo/ HTTP/1.1\nHost: x\n\n", (400, CLOSED)),
    "bare-lf-in-request-line": (b"GET /simple/foo/ HTTP/1.1\nHost: x\r\n\r\n", (400, CLOSED)),
    "bare-lf-in-headers": (GET + b"Host: x\nAccept: */*\r\n\r\n", (400, CLOSED)),
    "bare-lf-at-end": (GET + b"Host: x\r\n\n", (400, CLOSED)),
    "http-0.9": (b"GET /simple/foo/\r\n", (400, CLOSED)),
    "http-0.9-with-version": (b"GET /simple/foo/ HTTP/0.9\r\n\r\n", OTHER_VERSION),
    "http-2-preface": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", OTHER_VERSION),
    "http-3": (b"GET /simple/foo/ HTTP/3.0\r\nHost: x\r\n\r\n", OTHER_VERSION),
    "http-11": (b"GET /simple/foo/ HTTP/11\r\nHost: x\r\n\r\n", (400, CLOSED)),
    "http-1.10": (b"GET /simple/foo/ HTTP/1.10\r\nHost: x\r\n\r\n", (400, CLOSED)),
    "http-lower-case": (b"GET /simple/foo/ http/1.1\r\nHost: x\r\n\r\n", (400, CLOSED)),
    "icy": (b"GET /simple/foo/ ICY/1.1\r\nHost: x\r\n\r\n", (400, CLOSED)),
    "tls-hello": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"x" * 500, (400, CLOSED)),
    "ssh-banner": (b"SSH-2.0-OpenSSH_9.2\r\n", (400, CLOSED)),
    "nothing-but-zeros": (b"\x00" * 4096, (400, CLOSED)),
    "nothing-but-line": (b"NONSENSE\r\n\r\n", (400, CLOSED)),
    "method-lower-case": (method(b"get"), 405),
    "method-unknown": (method(b"BREW"), 405),
    "method-empty": (b" /simple/foo/ HTTP/1.1\r\nHost: x\r\n\r\n", (400, 405, CLOSED)),
    "method-with-markup": (method(b"<script>"), (400, 405, CLOSED)),
    "method-of-4-KB": (method(b"A" * 4096), (400, 405, 414, 431, CLOSED)),
    "method-of-64-KB": (method(b"A" * 65536), TOO_LONG),
    "trace": (method(b"TRACE"), 405),
    "options": (method(b"OPTIONS"), 405),
    "put": (method(b"PUT", b"Content-Length: 3\r\n", b"abc"), 405),
    "post": (method(b"POST", b"Content-Length: 0\r\n"), 405),
    "delete": (method(b"DELETE"), 405),
    "propfind": (method(b"PROPFIND", b"Depth: infinity\r\n"), 405),
}

# Request smuggling: of two servers one would read NEXT as the body, the other as a request.
LENGTH = b"Content-Length: %d\r\n" % len(NEXT)
SMUGGLED = {
    "two-lengths": (GET + HOST + b"Content-Length: 0\r\n" + LENGTH + END, 400),
    "two-lengths-other-order": (GET + HOST + LENGTH + b"Content-Length: 0\r\n" + END, 400),
    "list-of-lengths": (GET + HOST + b"Content-Length: 0, %d\r\n\r\n" % len(NEXT), 400),
    "length-and-chunked": (GET + HOST + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    "chunked-and-length": (GET + HOST + b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n", 400),
    "chunked-misspelt": (GET + HOST + b"Transfer-Encoding: xchunked\r\n\r\n", (400, 501)),
    "chunked-not-last": (GET + HOST + b"Transfer-Encoding: chunked, identity\r\n\r\n", (400, 501)),
    "identity": (GET + HOST + b"Transfer-Encoding: identity\r\n\r\n", (400, 501)),
    "two-transfer-encodings": (GET + HOST + b"Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
    "blank-before-colon": (GET + HOST + LENGTH.replace(b":", b" :") + END, 400),
    "tab-before-colon": (GET + HOST + LENGTH.replace(b":", b"\t:") + END, 400),
    "chunked-blank-before-colon": (GET + HOST + b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n", 400),
    "vertical-tab-before-name": (GET + HOST + b"\x0b" + LENGTH + END, 400),
    "cr-before-name": (GET + HOST + b"\r" + LENGTH + END, (400, CLOSED)),
    "cr-before-length": (GET + HOST + b"X: y\r" + LENGTH + END, (400, CLOSED)),
    "lf-before-length": (GET + HOST + b"X: y\n" + LENGTH + END, (400, CLOSED)),
    "nul-before-length": (GET + HOST + b"X: y\x00" + LENGTH + END, (400, CLOSED)),
    "folded-length": (GET + HOST + b"Content-Length:\r\n %d\r\n\r\n" % len(NEXT), 400),
    "length-folded-on": (GET + HOST + LENGTH + b" 0\r\n\r\n", 400),
    "length-folded-on-by-tab": (GET + HOST + LENGTH + b"\t,0\r\n\r\n", 400),
    "length-hidden-in-fold": (GET + HOST + b"X: y\r\n " + LENGTH + END, 400),
    "first-line-folded": (GET + b" " + LENGTH + HOST + END, 400),
    "length-negative": (GET + HOST + b"Content-Length: -1\r\n\r\n", 400),
    "length-plus": (GET + HOST + b"Content-Length: +5\r\n\r\n", 400),
    "length-hexadecimal": (GET + HOST + b"Content-Length: 0x5\r\n\r\n", 400),
    "length-quoted": (GET + HOST + b'Content-Length: "5"\r\n\r\n', 400),
    "length-empty": (GET + HOST + b"Content-Length:\r\n\r\n", 400),
    "length-huge": (GET + HOST + b"Content-Length: 99999999999999999999999\r\n\r\n", (400, 413)),
    "length-most": (GET + HOST + b"Content-Length: 18446744073709551615\r\n\r\n", (400, 405, 413)),
}
BODIES = {
    **SMUGGLED,
    "length": (GET + HOST + LENGTH + END, 400),
    "chunked": (GET + HOST + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    "chunked-odd-case": (GET + HOST + b"tRANSFER-eNCODING: cHUNKED\r\n\r\n0\r\n\r\n", 400),
    "transfer-encoding-in-http-1.0": (b"GET /simple/foo/ HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    "post-with-body-of-1-MB": (method(b"POST", b"Content-Length: 1048576\r\n", b"x" * 1048576), (405, CLOSED)),
    "post-chunk-too-large": (method(b"POST", b"Transfer-Encoding: chunked\r\n", b"ffffffffffffffffff\r\n"), 405),
    "post-without-length": (POST + HOST + END, 411),
    "post-http-1.0-without-length": (b"POST /simple/foo/ HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", 411),
    "post-expecting-without-length": (POST + HOST + b"Expect: 100-continue\r\n\r\n", 411),
    "post-length": (POST + HOST + LENGTH + END, (405, CLOSED)),
    "post-expects-to-continue": (POST + HOST + LENGTH + b"Expect: 100-continue\r\n\r\n", 405),
    "post-expects-a-wonder": (POST + HOST + LENGTH + b"Expect: wonder\r\n\r\n", 417),
    "post-chunked": (POST + HOST + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 405),
    "post-chunks-in-http-1.0": (b"POST /simple/foo/ HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    "post-too-long": (POST + HOST + b"Content-Length: 9999999999999\r\n\r\n", 405),
    **{f"post-{name}": (data.replace(b"GET ", b"POST ", 1), status) for name, (data, status) in SMUGGLED.items()},
    "head-with-body": (method(b"HEAD", LENGTH), 400),
    "expects-to-continue": (GET + HOST + b"Expect: 100-continue\r\n\r\n", (400, 417)),
    "expects-a-wonder": (GET + HOST + b"Expect: wonder\r\n\r\n", (400, 417)),
}

HEADERS = {
    "no-host": (GET + END, 400),
    "host-twice": (GET + HOST + HOST + END, 400),
    "two-hosts": (GET + HOST + b"Host: y\r\n\r\n", 400),
    "host-folded": (GET + b"Host: x\r\n y\r\n\r\n", 400),
    "host-blank-before-colon": (GET + b"Host : x\r\n\r\n", 400),
    "name-empty": (with_headers(b": x"), 400),
    "name-with-slash": (with_headers(b"a/b: x"), 400),
    "name-with-bytes": (with_headers(b"\xff\xfe: x"), 400),
    "name-with-nul": (with_headers(b"X\x00Y: z"), 400),
    "name-quoted": (with_headers(b'"X": z'), 400),
    "no-colon": (with_headers(b"Accept"), 400),
    "nul-in-value": (with_headers(b"X: y\x00z"), 400),
    "nul-in-user-agent": (with_headers(b"User-Agent: pip\x00/1"), 400),
    "nul-at-end": (with_headers(b"X: y\x00"), 400),
    "cr-in-value": (with_headers(b"X: y\rz"), 400),
    "folded": (with_headers(b"X: y", b" z"), 400),
    "folded-empty": (with_headers(b"X: y", b" "), 400),
    "header-of-64-KB": (with_headers(b"X: " + b"y" * 65536), TOO_LONG),
    "name-of-64-KB": (with_headers(b"X" * 65536 + b": y"), TOO_LONG),
    "10000-headers": (with_headers(*[b"X-%d: y" % i for i in range(10_000)]), TOO_LONG),
    "10000-cookies": (with_headers(b"Cookie: " + b"a=b; " * 10_000), TOO_LONG),
}

# These are answered, and the connection stays open: odd, but legal or harmless.
SERVED = {
    "empty-line-first": (b"\r\n" + get(b"/simple/foo/"), 200),
    "nothing-odd": (get(b"/simple/foo/"), 200),
    "not-there": (get(b"/simple/bar/"), 404),
    "http-1.0-kept-alive": (b"GET /simple/foo/ HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", 200),
    "http-1.2": (b"GET /simple/foo/ HTTP/1.2\r\nHost: x\r\n\r\n", 200),
    "length-of-none": (GET + HOST + b"Content-Length: 0\r\n\r\n", 200),
    "query-empty": (get(b"/simple/foo/?"), 200),
    "query-of-nonsense": (get(b"/simple/foo/?&&==&%zz=%&?/../..;a[]=1&format"), 200),
    "query-with-way-out": (get(b"/simple/foo/?file=../../../etc/passwd&url=http://169.254.169.254/"), 200),
    "query-with-markup": (get(b"/simple/foo/?<script>alert(1)</script>"), 200),
    "query-with-line-end": (get(b"/simple/foo/?a=%0d%0aX-Injected:%20yes"), 200),
    "query-format-nonsense": (get(b"/simple/foo/?format=../../x"), 200),
    "query-format-twice": (get(b"/simple/foo/?format=json&format=html"), 200),
    "query-format-bytes": (get(b"/simple/foo/?format=%ff%00%0a"), 200),
    "host-empty": (GET + b"Host:\r\n\r\n", 200),
    "host-with-markup": (b"GET / HTTP/1.1\r\nHost: <script>alert(1)</script>\r\n\r\n", 200),
    "host-with-path": (b"GET / HTTP/1.1\r\nHost: evil.example/x?y#z\r\n\r\n", 200),
    "host-of-4-KB": (b"GET / HTTP/1.1\r\nHost: " + b"h" * 4096 + b"\r\n\r\n", 200),
    "forwarded-for": (with_headers(b"X-Forwarded-Host: evil.example", b"X-Original-URL: /etc/passwd",
                                   b"X-Rewrite-URL: /etc/passwd", b"X-HTTP-Method-Override: DELETE"), 200),
    "upgrade": (with_headers(b"Connection: Upgrade, HTTP2-Settings", b"Upgrade: h2c", b"HTTP2-Settings: AAMAAABk"), 200),
    "websocket": (with_headers(b"Connection: Upgrade", b"Upgrade: websocket", b"Sec-WebSocket-Key: x"), 200),
    "header-of-bytes": (with_headers(b"X: \x01\x02\x1b[31m\xff\xfe"), 200),
    "header-empty": (with_headers(b"X:", b"Y: ", b"Z:\t \t"), 200),
    "accept-monster": (with_headers(b"Accept: " + b"text/html;q=0.1," * 300), 200),
    "accept-nonsense": (with_headers(b"Accept: ;;;,,,q=q=q=\"\\"), 200),
    "encoding-monster": (with_headers(b"Accept-Encoding: " + b"gzip;q=0.5," * 400), 200),
    "language-format-string": (with_headers(b"User-Agent: %s%s%n%n%x", b"Accept-Language: %n"), 200),
    "range-of-many": (with_headers(b"Range: bytes=" + b"0-0," * 1000 + b"0-0", path=FILE), 200),
    "range-of-all-twice": (with_headers(b"Range: bytes=0-,0-", path=FILE), 200),
    "range-backwards": (with_headers(b"Range: bytes=9-1", path=FILE), 200),
    "range-beyond": (with_headers(b"Range: bytes=99999999999-", path=FILE), 416),
    "range-over-64-bits": (with_headers(b"Range: bytes=18446744073709551615-18446744073709551616", path=FILE), 416),
    "range-suffix-over-64-bits": (with_headers(b"Range: bytes=-18446744073709551617", path=FILE), 206),
    "range-negative": (with_headers(b"Range: bytes=--1", path=FILE), 200),
    "range-unit": (with_headers(b"Range: furlongs=0-1", path=FILE), 200),
    "range-twice": (with_headers(b"Range: bytes=0-0", b"Range: bytes=1-1", path=FILE), 206),
    "range-of-a-page": (with_headers(b"Range: bytes=0-0"), 200),
    "if-none-match-monster": (with_headers(b"If-None-Match: " + b'"x",' * 1500), 200),
    "if-none-match-open": (with_headers(b"If-None-Match: \"" + b"x" * 5000), 200),
    "if-none-match-weak": (with_headers(b"If-None-Match: W/W/\"", path=FILE), 200),
    "if-none-match-any": (with_headers(b"If-None-Match: *", path=FILE), 304),
    "if-range-monster": (with_headers(b"Range: bytes=0-0", b"If-Range: " + b"\"" * 4000, path=FILE), 200),
    "if-modified-since-nonsense": (with_headers(b"If-Modified-Since: Thu, 99 Foo 99999 99:99:99 GMT"), 200),
    "if-match-nonsense": (with_headers(b"If-Match: \"", path=FILE), 200),
}

REFUSED = {**PATHS, **REQUEST_LINES, **BODIES, **HEADERS}


@pytest.fixture(scope="module", name="server")
def server_fixture(serve_module, tmp_path_factory):
    """Serves the project foo; there is a secret beside the store, in it, and beside the wheel."""
    top = tmp_path_factory.mktemp("hostile-requests")
    store = top / "store"
    storelib.make_wheel(store / PLATFORM / "foo", "foo", "1.0")
    for folder in (top, store, store / PLATFORM, store / PLATFORM / "foo"):
        (folder / "secret.whl").write_bytes(SECRET)
    server = serve_module(store, config=f"[server]\ntimeout = {TIMEOUT}\n")
    assert server.get("/simple/foo/").status == server.get(FILE.decode()).status == 200
    return server


@pytest.fixture(name="neighbour")
def neighbour_fixture(server):
    """A client that was connected before; it and a new one must be served afterwards."""
    with contextlib.closing(server.connect()) as connection:
        assert serving.ask(connection, "/simple/foo/").status == 200
        begin = time.monotonic()
        yield
        if time.monotonic() - begin < TIMEOUT / 2:
            assert serving.ask(connection, "/simple/foo/").status == 200
    assert server.get("/simple/foo/").status == 200
    assert server.process.poll() is None


def statuses(answer):
    """The statuses of the answers: HTTP/1.1, one after the other, with a Content-Length."""
    found = []
    while answer:
        head, end, rest = answer.partition(b"\r\n\r\n")
        status = re.match(rb"HTTP/1\.[01] (\d{3}) ", head)
        assert status and end, answer[:200]
        length = re.search(rb"(?i)\r\ncontent-length: (\d+)", head)
        found.append(int(status.group(1)))
        answer = rest[int(length.group(1)):] if length and found[-1] != 304 else rest
    return found


def allowed(want):
    return want if isinstance(want, tuple) else (want,)


def first_status(answer):
    found = re.match(rb"HTTP/1\.[01] (\d{3}) ", answer)
    assert found or not answer, answer[:200]
    return int(found.group(1)) if found else CLOSED


def check_harmless(answer):
    assert SECRET not in answer and b"root:" not in answer
    head = answer.partition(b"\r\n\r\n")[0].lower()
    assert b"x-injected" not in head and b"set-cookie" not in head
    assert b"<script>alert" not in answer and b"evil.example" not in answer


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.usefixtures("neighbour")
def test_is_refused(server, name):
    data, want = REFUSED[name]
    answer = server.raw(data + NEXT)
    check_harmless(answer)
    status = first_status(answer)
    assert status in allowed(want), answer[:300]
    assert (NEXT_ANSWER in answer) == (status == 404)  # a complete answer to a complete request


@pytest.mark.parametrize("name", SERVED)
@pytest.mark.usefixtures("neighbour")
def test_is_served(server, name):
    data, want = SERVED[name]
    answer = server.raw(data + NEXT)
    check_harmless(answer)
    found = statuses(answer)
    assert found == [want, 200] and NEXT_ANSWER in answer, answer[:300]


@pytest.mark.usefixtures("neighbour")
def test_empty_lines_are_skipped_or_refused(server):
    answer = server.raw(END * 2000 + NEXT)
    assert first_status(answer) in (200, 400, 414, CLOSED)


@pytest.mark.usefixtures("neighbour")
def test_pipelined_requests_are_answered_in_order(server):
    """RFC 9112 section 9.3.2; requests after a refused one are not answered."""
    good, missing, bad = get(b"/simple/foo/"), get(b"/simple/bar/"), method(b"DELETE")
    assert statuses(server.raw(good * 20 + missing + good + NEXT)) == [200] * 20 + [404, 200, 200]
    assert statuses(server.raw(get(FILE) * 5 + NEXT)) == [200] * 6
    assert statuses(server.raw(good + missing + bad + good * 20)) == [200, 404, 405]
    assert statuses(server.raw(good + b"NONSENSE\r\n\r\n" + good)) in ([200, 400], [200])


@pytest.mark.usefixtures("neighbour")
def test_client_that_only_listens_any_more_gets_its_answer(server):
    """`nc` closes its half when its input ends."""
    with server.socket() as connection:
        connection.sendall(get(b"/simple/foo/"))
        connection.shutdown(socket.SHUT_WR)
        assert statuses(serving.read_all(connection)) == [200]


@pytest.mark.parametrize("data", [get(b"/simple/foo/"), get(FILE), BODIES["post-with-body-of-1-MB"][0], PATHS["up"][0]],
                         ids=["page", "file", "body", "path"])
@pytest.mark.usefixtures("neighbour")
def test_client_that_goes_away_at_any_byte(server, data):
    for length in [*range(1, 120, 7), len(data) - 1, len(data)]:
        with server.socket() as connection:
            reset = b"\1\0\0\0\0\0\0\0" if length % 2 else b"\0" * 8  # l_onoff, l_linger: close sends a reset
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, reset)
            with contextlib.suppress(OSError):
                connection.sendall(data[:length])


def test_there_are_many():
    assert len(REFUSED) + len(SERVED) >= 80


@pytest.mark.parametrize("length", [b"abc", b"-1", b"5x", b"", b"9" * 30])
def test_malformed_length_is_refused_once(server, length):
    for method in (b"GET", b"POST"):
        answer = server.raw(method + b" /simple/foo/ HTTP/1.1\r\nHost: x\r\nContent-Length: " + length + b"\r\n\r\n")
        head, _, body = answer.partition(b"\r\n\r\n")
        assert re.match(rb"HTTP/1.1 4\d\d ", head) and b"HTTP/" not in body
        assert len(body) == int(re.search(rb"Content-Length: (\d+)", head)[1])
