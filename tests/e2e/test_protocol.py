# SPDX-License-Identifier: Apache-2.0
"""HTTP: negotiation, conditional requests, ranges, names, views. With one small store."""
import contextlib
import gzip
import hashlib
import http.client
import json
import re
import shutil
import subprocess
import types
import urllib.parse

import pytest

import pages
import serving
import storelib

JSON, HTML = pages.JSON, "text/html; charset=utf-8"
V1_HTML = "application/vnd.pypi.simple.v1+html"
PIP = f"{JSON}, {V1_HTML}; q=0.1, text/html; q=0.01"
UV = f"{JSON}, {V1_HTML};q=0.2, text/html;q=0.01"
BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8"
WEEK = 7 * 86400
FIRST, SECOND = "debian-12-x86_64", "ubuntu-24.04-x86_64"


@pytest.fixture(scope="module", name="site")
def site_fixture(serve_module, tmp_path_factory):
    """Two platforms. Both have "shared" 1.0 with other bytes; "big" has a page worth packing."""
    store = tmp_path_factory.mktemp("protocol")
    first, second = store / FIRST, store / SECOND
    made = types.SimpleNamespace(store=store)
    made.foo = storelib.make_wheel(first / "f" / "foo-bar", "Foo.Bar", "1.0+local.1", requires_python=">=3.8, <4",
                                   requires=["shared"])
    made.first = storelib.make_wheel(first / "s" / "shared", "shared", "1.0", files={"shared.py": b"first"})
    made.second = storelib.make_wheel(second / "s" / "shared", "shared", "1.0", files={"shared.py": b"second"})
    made.newer = storelib.make_wheel(second / "s" / "shared", "shared", "2.0")
    made.big = [storelib.make_wheel(first / "b" / "big", "big", f"1.{i}") for i in range(40)]
    made.fat = storelib.make_wheel(first / "f" / "fat", "fat", "1.0", size=300_000)
    storelib.make_wheel(second / "q" / "q", "q", "2.7")
    made.server = serve_module(store)
    made.get = made.server.get
    made.file = f"/files/{FIRST}/fat/{made.fat.name}"
    return made


# Accept, and the form of the answer.
ACCEPT = [
    (None, HTML),
    ("", HTML),
    ("*/*", HTML),
    ("text/html", HTML),
    ("text/*", HTML),
    (BROWSER, HTML),
    (PIP, JSON),
    (UV, JSON),
    (JSON, JSON),
    (JSON.upper(), JSON),
    ("application/vnd.pypi.simple.latest+json", JSON),
    (f"{JSON};q=0.5, text/html;q=0.5", HTML),
    (f"{JSON};q=0.5, text/html;q=0.499", JSON),
    (f"{JSON};q=0, */*", HTML),
    (f"text/html;q=0, {V1_HTML};q=0, */*", JSON),
    (f"{JSON}; charset=utf-8; q=0.9, text/html; q=0.8", JSON),
    ("text/html;q=7, gibberish", HTML),
    ("image/png, application/xml", None),
    (f"{JSON};q=0", None),
]


@pytest.mark.parametrize("path", ["/simple/", f"/{FIRST}/simple/", "/simple/shared/"])
@pytest.mark.parametrize("accept, kind", ACCEPT)
def test_accept_chooses_the_form(site, path, accept, kind):
    reply = site.get(path, {} if accept is None else {"Accept": accept})
    assert reply.status == (200 if kind else 406)
    if kind:
        assert reply["Content-Type"] == kind
        assert reply.body.startswith(b"{" if kind == JSON else b"<!DOCTYPE html>")


@pytest.mark.parametrize("path", ["/simple/", "/simple/shared/"])
@pytest.mark.parametrize("accept", [V1_HTML, "application/vnd.pypi.simple.latest+html", "application/*",
                                    f"{V1_HTML};q=0.5, text/html;q=0.4"])
def test_html_by_its_other_names(site, path, accept):
    """Its bytes are those of text/html; its ETag differs, because a cache stores the type with the ETag."""
    reply, plain = site.get(path, {"Accept": accept}), site.get(path, {"Accept": "text/html"})
    assert (reply.status, reply["Content-Type"], plain["Content-Type"]) == (200, V1_HTML, HTML)
    assert reply.body == plain.body and reply["ETag"] != plain["ETag"]
    again = site.get(path, {"Accept": accept, "If-None-Match": reply["ETag"]})
    assert (again.status, again["ETag"], again["Vary"]) == (304, reply["ETag"], reply["Vary"])
    assert site.get(path, {"Accept": "text/html", "If-None-Match": reply["ETag"]}).status == 200


def test_an_old_pip_gets_the_type_that_it_asked_for(site):
    agent = {"User-Agent": "pip/23.0.1 {}"}
    for accept, kind in [(PIP, HTML), (V1_HTML, V1_HTML), (f"{JSON}, {V1_HTML};q=0.1", V1_HTML)]:
        reply = site.get("/simple/shared/", agent | {"Accept": accept})
        assert (reply.status, reply["Content-Type"]) == (200, kind)
        assert b"data-dist-info-metadata" not in reply.body


def send_lines(site, path, lines):
    """A request with these header lines, which may have the same name."""
    with contextlib.closing(site.server.connect()) as connection:
        connection.putrequest("GET", path, skip_accept_encoding=True)
        for name, value in lines:
            connection.putheader(name, value)
        connection.endheaders()
        answer = connection.getresponse()
        return serving.Reply(answer.status, answer.headers, answer.read())


# RFC 9110 section 5.3. Lines, and the value of one header of the answer.
LISTS = [
    ([("Accept", "text/html;q=0.5"), ("Accept", JSON)], "Content-Type", JSON),
    ([("Accept", "image/png"), ("Accept", V1_HTML)], "Content-Type", V1_HTML),
    ([("Accept", "image/png"), ("accept", "image/gif"), ("ACCEPT", "text/html")], "Content-Type", HTML),
    ([("Accept", ""), ("Accept", JSON)], "Content-Type", JSON),
    ([("Accept-Encoding", "br"), ("Accept-Encoding", "gzip")], "Content-Encoding", "gzip"),
    ([("Accept-Encoding", "gzip;q=0.5"), ("Accept", JSON), ("Accept-Encoding", "zstd")], "Content-Encoding", "zstd"),
    ([("Accept", "image/png")] * 20 + [("Accept", JSON)], "Content-Type", JSON),
]


@pytest.mark.parametrize("lines, name, value", LISTS)
def test_lines_of_one_list_are_one_list(site, lines, name, value):
    reply = send_lines(site, "/simple/big/", lines)
    assert (reply.status, reply[name]) == (200, value)
    assert send_lines(site, "/simple/big/", lines)[name] == value  # from the cache


def test_tags_on_several_lines(site):
    tag = site.get("/simple/shared/")["ETag"]
    assert send_lines(site, "/simple/shared/", [("If-None-Match", '"a"'), ("If-None-Match", tag)]).status == 304
    assert send_lines(site, "/simple/shared/", [("If-None-Match", '"a"'), ("If-None-Match", '"b"')]).status == 200


@pytest.mark.parametrize("query, kind", [(JSON, JSON), (JSON.replace("+", "%2B"), JSON), ("text/html", HTML),
                                         (V1_HTML.replace("+", "%2B"), V1_HTML),
                                         ("application/vnd.pypi.simple.latest%2Bjson", JSON)])
def test_format_beats_accept(site, query, kind):
    other = JSON if kind == HTML else "text/html"
    reply = site.get(f"/simple/shared/?format={query}", {"Accept": other})
    assert (reply.status, reply["Content-Type"]) == (200, kind)


@pytest.mark.parametrize("version", ["22.2.2", "23.2", "26.3"])
def test_pip_gets_the_json_that_it_asks_for(site, version):
    reply = site.get("/simple/shared/", {"Accept": PIP, "User-Agent": f'pip/{version} {{"ci":null}}'})
    assert (reply.status, reply["Content-Type"]) == (200, JSON)


@pytest.mark.parametrize("version", ["22.3", "22.3.1", "23.0.1", "23.1.2"])
def test_pip_that_reads_metadata_wrongly_is_not_led_to_it(site, version):
    """See test_clients.py. Others get it, also in HTML."""
    reply = site.get("/simple/shared/", {"Accept": PIP, "User-Agent": f'pip/{version} {{"ci":null}}'})
    assert (reply.status, reply["Content-Type"]) == (200, HTML)
    assert site.first.sha256.encode() in reply.body
    assert b"data-dist-info-metadata" not in reply.body
    assert "user-agent" in reply["Vary"].lower()
    assert b"data-dist-info-metadata" in site.get("/simple/shared/", {"User-Agent": "curl/7.88"}).body


def test_page_has_vary_and_cache_control(site):
    for path in ("/simple/", "/simple/shared/"):
        reply = site.get(path)
        vary = {one.strip().lower() for one in reply["Vary"].split(",")}
        assert {"accept", "accept-encoding"} <= vary and "*" not in vary
        (age,) = re.findall(r"max-age=(\d+)", reply["Cache-Control"])
        assert int(age) <= 600
        assert "immutable" not in reply["Cache-Control"]
        assert reply["Date"] and int(reply["Content-Length"]) == len(reply.body)


def unpack(reply):
    """The plain bytes of a reply."""
    coding = reply["Content-Encoding"]
    if coding == "zstd":
        return subprocess.run(["zstd", "-dc"], input=reply.body, capture_output=True, check=True).stdout
    return gzip.decompress(reply.body) if coding == "gzip" else reply.body


@pytest.mark.parametrize("accepted, coding", [
    (None, None), ("identity", None), ("gzip", "gzip"), ("gzip, deflate", "gzip"), ("br", None), ("gzip;q=0", None),
    ("gzip;q=0.5, identity", None), ("zstd", "zstd"), ("gzip, deflate, zstd", "zstd"), ("x-nonsense", None),
])
@pytest.mark.parametrize("kind", [HTML, JSON])
def test_page_is_packed_as_asked(site, accepted, coding, kind):
    if coding == "zstd" and not shutil.which("zstd"):
        pytest.skip("the program zstd is not installed")
    plain = site.get("/simple/big/", {"Accept": kind})
    reply = site.get("/simple/big/", {"Accept": kind} | ({"Accept-Encoding": accepted} if accepted else {}))
    assert (reply.status, reply["Content-Encoding"], reply["Content-Type"]) == (200, coding, kind)
    assert unpack(reply) == plain.body
    assert (reply["ETag"] == plain["ETag"]) == (coding is None)
    assert coding is None or len(reply.body) < len(plain.body) / 2


def variants():
    return [{"Accept": kind, "Accept-Encoding": coding} for kind in (HTML, JSON)
            for coding in ("identity", "gzip", "zstd")]


def test_each_variant_has_an_etag_of_its_own(site):
    tags = [site.get("/simple/big/", asked)["ETag"] for asked in variants()]
    assert len(set(tags)) == len(tags)
    assert all(re.fullmatch(r'"[!#-~]+"', tag) for tag in tags)
    assert tags == [site.get("/simple/big/", asked)["ETag"] for asked in variants()]


@pytest.mark.parametrize("path", ["/simple/", "/simple/big/", "FILE", "FILE.metadata"])
def test_what_is_known_is_not_sent_again(site, path):
    path = path.replace("FILE", site.file)
    for asked in variants():
        first = site.get(path, asked)
        for known in (first["ETag"], f"W/{first['ETag']}", "*", f'"other", {first["ETag"]}'):
            reply = site.get(path, asked | {"If-None-Match": known})
            assert (reply.status, reply.body) == (304, b"")
            assert reply["ETag"] == first["ETag"]
            assert reply["Cache-Control"] == first["Cache-Control"]
            assert reply["Vary"] == first["Vary"]
        reply = site.get(path, asked | {"If-None-Match": '"other"'})
        assert (reply.status, reply.body) == (200, first.body)


@pytest.mark.parametrize("path", ["/", "/simple/", "/simple/big/", "FILE", "FILE.metadata", "/simple/none/",
                                  "/-/health"])
@pytest.mark.parametrize("coding", ["identity", "gzip", "zstd"])
def test_head_is_get_without_its_body(site, path, coding):
    path, asked = path.replace("FILE", site.file), {"Accept-Encoding": coding}
    get, head = site.get(path, asked), site.get(path, asked, method="HEAD")
    assert (head.status, head.body) == (get.status, b"")
    assert int(head["Content-Length"]) == len(get.body)
    for name in ("Content-Type", "ETag", "Cache-Control", "Vary", "Content-Encoding", "Accept-Ranges"):
        assert head[name] == get[name], name


def test_file_is_immutable_and_never_packed(site):
    reply = site.get(site.file, {"Accept-Encoding": "gzip, deflate, zstd, br"})
    assert (reply.status, reply["Content-Encoding"]) == (200, None)
    assert hashlib.sha256(reply.body).hexdigest() == site.fat.sha256
    assert int(reply["Content-Length"]) == site.fat.size
    assert reply["Accept-Ranges"] == "bytes"
    assert reply["Content-Disposition"] is None  # it would override the name in the URL
    (age,) = re.findall(r"max-age=(\d+)", reply["Cache-Control"])
    assert int(age) > 52 * WEEK
    assert {"immutable", "public"} <= {one.strip() for one in reply["Cache-Control"].split(",")}


def test_metadata_is_that_of_the_wheel(site):
    path = f"/files/{FIRST}/foo-bar/{site.foo.name}.metadata"
    reply = site.get(path.replace("+", "%2B"))
    assert (reply.status, reply.body) == (200, site.foo.metadata)
    assert "immutable" in reply["Cache-Control"]
    page = json.loads(site.get("/simple/foo-bar/", {"Accept": JSON}).body)
    assert page["files"][0]["core-metadata"] == {"sha256": site.foo.metadata_sha256}
    assert page["files"][0]["requires-python"] == ">=3.8, <4"


RANGES = [  # Range, and first and last byte; None: all of them, with 200
    ("bytes=0-0", (0, 0)),
    ("bytes=5-9", (5, 9)),
    ("bytes=100-", (100, None)),
    ("bytes=-16384", (-16384, None)),
    ("bytes=-99999999", (0, None)),
    ("bytes=7-99999999", (7, None)),
    ("bytes=9-5", None),
    ("bytes=0-1,5-6", None),
    ("bytes=", None),
    ("bytes=a-b", None),
    ("lines=1-2", None),
]


@pytest.mark.parametrize("asked, part", RANGES)
def test_range_gives_exactly_that_part(site, asked, part):
    data = site.fat.path.read_bytes()
    reply = site.get(site.file, {"Range": asked})
    if part:
        first = part[0] if part[0] >= 0 else max(0, len(data) + part[0])
        last = len(data) - 1 if part[1] is None else part[1]
        assert (reply.status, reply["Content-Range"]) == (206, f"bytes {first}-{last}/{len(data)}")
        assert reply.body == data[first:last + 1]
    else:
        assert (reply.status, reply["Content-Range"]) == (200, None)
        assert reply.body == data
    assert int(reply["Content-Length"]) == len(reply.body)
    assert reply["ETag"] == site.get(site.file)["ETag"]


def test_head_knows_no_range(site):
    """RFC 9110 section 14.2: only for GET."""
    reply = site.get(site.file, {"Range": "bytes=0-0"}, "HEAD")
    assert (reply.status, reply["Content-Range"], int(reply["Content-Length"])) == (200, None, site.fat.size)


@pytest.mark.parametrize("asked", ["bytes={size}-", "bytes={size}-{size}", "bytes=99999999999-", "bytes=-0",
                                   "bytes=99999999999999999999999-"])
def test_range_behind_the_end_is_416(site, asked):
    reply = site.get(site.file, {"Range": asked.format(size=site.fat.size)})
    assert reply.status == 416
    assert reply["Content-Range"] == f"bytes */{site.fat.size}"


def test_if_range_decides(site):
    tag = site.get(site.file)["ETag"]
    part = {"Range": "bytes=10-19"}
    assert site.get(site.file, part | {"If-Range": tag}).status == 206
    for other in ('"other"', f"W/{tag}", "Mon, 01 Jan 2024 00:00:00 GMT"):
        reply = site.get(site.file, part | {"If-Range": other})
        assert (reply.status, len(reply.body)) == (200, site.fat.size), other


@pytest.mark.parametrize("spelling", ["foo-bar", "Foo.Bar", "foo_bar", "FOO--BAR", "foo%2Ebar", "f%6Fo.-_bar"])
@pytest.mark.parametrize("view", ["", f"/{FIRST}"])
def test_any_spelling_of_a_name(site, spelling, view):
    right = site.get(f"{view}/simple/foo-bar/")
    assert site.foo.sha256.encode() in right.body
    reply = site.get(f"{view}/simple/{spelling}/")
    assert (reply.status, reply.body) == (200, right.body)


@pytest.mark.parametrize("path", ["/simple", f"/{FIRST}/simple", "/simple/foo-bar", f"/{FIRST}/simple/Foo.Bar"])
def test_missing_slash_is_redirected(site, path):
    """Relative links on the page would be wrong. pip caches 301 and 308 for ever."""
    reply = site.get(path)
    assert reply.status in (302, 303, 307)
    assert reply["Location"].endswith("/")
    place = urllib.parse.urlsplit(urllib.parse.urljoin(site.server.url + path, reply["Location"]))
    followed = site.get(place.path)
    assert followed.status == 200
    assert followed.body == site.get(path.replace("Foo.Bar", "foo-bar") + "/").body


def test_local_version_with_and_without_percent(site):
    for name in (site.foo.name, site.foo.name.replace("+", "%2B"), site.foo.name.replace("+", "%2b")):
        reply = site.get(f"/files/{FIRST}/foo-bar/{name}")
        assert reply.status == 200
        assert hashlib.sha256(reply.body).hexdigest() == site.foo.sha256
    page = site.get("/simple/foo-bar/", {"Accept": JSON}).body
    (file,) = pages.json_files(page, f"{site.server.url}/simple/foo-bar/")
    assert "?" not in file.url


@pytest.mark.parametrize("path", [
    "/simple/pip/", "/simple/none/", f"/{FIRST}/simple/q/", "/_/oidc/audience", "/_/oidc/mint-token", "/favicon.ico",
    "/robots.txt", "/nowhere/simple/", "/nowhere/simple/foo-bar/", "/pypi/foo-bar/json", "/.well-known/pytp",
    f"/files/{FIRST}/shared/none-1.0-py3-none-any.whl", f"/files/{FIRST}/none/none-1.0-py3-none-any.whl",
    "/files/nowhere/shared/shared-1.0-py3-none-any.whl", f"/files/{FIRST}/shared/shared-2.0-py3-none-any.whl",
    f"/files/{FIRST}/shared/", f"/files/{FIRST}/", "/files/", "/-/none", "/simple/foo-bar/more/", "/simple/-/",
])
def test_what_is_not_here_is_a_small_cacheable_404(site, path):
    for method in ("GET", "HEAD"):
        reply = site.get(path, {"Accept": PIP}, method)
        assert reply.status == 404
        assert int(reply["Content-Length"]) < 500
        assert re.search(r"max-age=\d+", reply["Cache-Control"])


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "BREW"])
@pytest.mark.parametrize("path", ["/simple/", "/simple/foo-bar/", "FILE", "/"])
def test_other_methods_are_405(site, method, path):
    """uv turns a 405 into the hint that a simple URL is not for uploads."""
    reply = site.get(path.replace("FILE", site.file), {"Content-Length": "0"}, method)
    assert reply.status == 405
    assert {one.strip() for one in reply["Allow"].split(",")} == {"GET", "HEAD"}


def test_root_of_each_view(site):
    asked = {"Accept": JSON}
    assert pages.json_projects(site.get(f"/{FIRST}/simple/", asked).body) == ["big", "fat", "foo-bar", "shared"]
    assert pages.json_projects(site.get(f"/{SECOND}/simple/", asked).body) == ["q", "shared"]
    assert pages.json_projects(site.get("/simple/", asked).body) == ["big", "fat", "foo-bar", "q", "shared"]


def files_of(site, view):
    path = f"{view}/simple/shared/"
    return [(one.filename, one.sha256) for one in
            pages.json_files(site.get(path, {"Accept": JSON}).body, site.server.url + path)]


def test_in_the_merged_view_the_first_platform_wins(site):
    assert files_of(site, f"/{FIRST}") == [(site.first.name, site.first.sha256)]
    assert files_of(site, f"/{SECOND}") == [(site.second.name, site.second.sha256),
                                            (site.newer.name, site.newer.sha256)]
    assert files_of(site, "") == [(site.first.name, site.first.sha256), (site.newer.name, site.newer.sha256)]


def test_views_of_the_configuration(site, serve):
    config = (f"[store]\npath = {site.store}\ndefault-view = turned\n"
              f"[platform {FIRST}]\n[platform {SECOND}]\n[view turned]\nplatforms = {SECOND} {FIRST}\n")
    server = serve(config=config)
    turned = types.SimpleNamespace(server=server, get=server.get)
    expected = [(site.second.name, site.second.sha256), (site.newer.name, site.newer.sha256)]
    assert files_of(turned, "") == expected
    assert files_of(turned, "/turned") == expected
    assert files_of(turned, f"/{FIRST}") == [(site.first.name, site.first.sha256)]


@pytest.mark.parametrize("path", ["/-/health", "/-/ready"])
def test_status_is_json(site, path):
    reply = site.get(path)
    assert (reply.status, reply["Content-Type"]) == (200, "application/json")
    assert isinstance(json.loads(reply.body), dict)
    assert "no-store" in reply["Cache-Control"] or "no-cache" in reply["Cache-Control"]


def test_requests_on_one_connection_are_answered_in_order(site):
    with site.server.socket() as connection:
        connection.sendall(b"GET /simple/none/ HTTP/1.1\r\nHost: x\r\n\r\n" * 3
                           + b"GET /simple/foo-bar/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        data = b""
        while chunk := connection.recv(65536):
            data += chunk
    assert re.findall(rb"HTTP/1\.1 (\d{3})", data) == [b"404", b"404", b"404", b"200"]
    assert site.foo.sha256.encode() in data


def test_new_pages_that_many_ask_for_at_once(serve, tmp_path):
    """A page is rendered once, and then sent by several event loops at the same time."""
    names = [f"p{number}" for number in range(200)]
    for name in names:
        storelib.make_wheel(tmp_path / "store", name, "1.0")
    server = serve(tmp_path / "store", "--threads", "4")
    with contextlib.ExitStack() as stack:
        many = [stack.enter_context(server.socket()) for _ in range(8)]
        for name in names:
            for one in many:
                one.sendall(f"GET /simple/{name}/ HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            for one in many:
                answer = http.client.HTTPResponse(one)
                answer.begin()
                assert answer.status == 200 and f"/{name}-1.0-py3-none-any.whl".encode() in answer.read()


def test_http_1_0_is_answered(site):
    data = site.server.raw(b"GET /simple/foo-bar/ HTTP/1.0\r\n\r\n")
    assert re.match(rb"HTTP/1\.[01] 200 ", data)
    assert data.endswith(site.get("/simple/foo-bar/").body)


def test_metadata_of_a_wheel_with_the_longest_name(serve, tmp_path):
    """The file name has 255 bytes, and ".metadata" follows it."""
    tail = "-1.0-py3-none-any.whl"
    wheel = storelib.make_wheel(tmp_path / "store", "n" * (255 - len(tail)), "1.0")
    server = serve(tmp_path / "store")
    path = f"/files/wheels/{'n' * (255 - len(tail))}/{wheel.path.name}"
    assert len(wheel.path.name) == 255
    assert server.get(path).status == 200
    assert server.get(path + ".metadata").status == 200
