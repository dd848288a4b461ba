# SPDX-License-Identifier: Apache-2.0
"""nginx and Apache, with our configuration over a static export, answer as `wheelcache serve` does over the store."""
import hashlib
import itertools
import os
import urllib.parse

import pytest

import clients
import pages
import webservers
from exported import FIRST, PIP, SECOND, SIMPLE, VIEWS, fill, headers, made
from test_clients import NEWEST, UV, installed, uv_index

ACCEPTS = [
    PIP,
    f"{SIMPLE}.v1+json, {SIMPLE}.v1+html;q=0.2, text/html;q=0.01",  # uv
    f"{SIMPLE}.v1+json",  # bandersnatch
    "text/html",  # pip before 22.2
    "*/*",  # poetry, curl
    "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8",  # a browser
    None,
]
CODINGS = [
    "gzip, deflate",  # pip
    "gzip, deflate, zstd",  # uv
    "gzip, deflate, br, zstd",  # a browser
    "identity",
    None,
]
AGENTS = ["pip/26.3 {}", "pip/23.0.1 {}", "pip/22.3.1 {}", "pip/22.2.2 {}", "pip/23.2.1 {}", "uv/0.13.9", None]
# Other headers that are read alike; each alone.
MORE_ACCEPTS = [f"{SIMPLE}.latest+json", f"{SIMPLE}.v1+html", f"{SIMPLE}.V1+JSON", f"{SIMPLE}.v1+json;q=0.5",
                f"{SIMPLE}.v1+json, text/html", f"{SIMPLE}.v1+json;q=0, text/html;q=0.1", "application/*", "text/*",
                f"{SIMPLE}.v1+json;q=1.0,*/*;q=0.1", f"{SIMPLE}.latest+html",
                f"{SIMPLE}.v1+html, text/html", f"{SIMPLE}.v1+html, text/html;q=0.5", f"{SIMPLE}.v1+html;q=0, */*;q=0.5",
                "rubbish", "", "application/json", "image/png, text/plain;q=0.1"]
MORE_CODINGS = ["gzip;q=1.0", "gzip;q=0, zstd;q=0", "zstd;q=0, gzip", "x-gzip", "br", "*", "*;q=0", "GZIP", "",
                "gzip;q=0.5", "identity, gzip;q=0.5"]
FORMATS = [f"{SIMPLE}.v1+json", f"{SIMPLE}.latest%2Bjson", "application%2Fvnd.pypi.simple.v1%2Bhtml", "text/html",
           "text/plain", ""]
PAGE_HEADERS = ["Content-Type", "Content-Encoding", "Vary", "Cache-Control"]
FILE_HEADERS = ["Content-Type", "Content-Encoding", "Cache-Control", "Content-Length", "Accept-Ranges"]


@pytest.fixture(scope="module", name="site")
def site_fixture(serve_module):
    with made() as at:
        fill(at)
        at.export()
        at.server = serve_module(None, config=f"[store]\npath = {at.store}\n{VIEWS}")
        yield at


@pytest.fixture(scope="module", name="web", params=list(webservers.KINDS))
def web_fixture(site, request):
    state = site.folder / request.param
    state.mkdir()
    os.chmod(state, 0o777)
    server = webservers.WebServer(request.param, state, site.tree)
    yield server
    server.stop()


def page_paths(server):
    """The path of every page of every view."""
    for view in ["", f"/{FIRST}", f"/{SECOND}", "/both", f"/both/{FIRST}", f"/both/{SECOND}"]:
        root = f"{view}/simple/"
        yield root
        for name in pages.json_projects(server.get(root, {"Accept": pages.JSON}).body):
            yield f"{root}{name}/"


def words(value):
    """A header without optional blanks."""
    return value and value.replace(", ", ",")


def same(ours, theirs, names, key):
    assert theirs.status == ours.status, key
    assert {name: words(theirs[name]) for name in names} == {name: words(ours[name]) for name in names}, key
    assert theirs.body == ours.body, key


def test_every_page_is_ours_byte_for_byte(site, web):
    paths = list(page_paths(site.server))
    assert len(paths) == 6 + (5 + 4 + 2 + 5) + (4 + 2)
    seen = set()
    for path, accept, coding in itertools.product(paths, ACCEPTS, CODINGS):
        key = path, accept, coding
        ours, theirs = site.server.get(path, headers(accept, coding)), web.get(path, headers(accept, coding))
        assert ours.status == 200
        same(ours, theirs, PAGE_HEADERS, key)
        seen.add((theirs["Content-Type"], theirs["Content-Encoding"]))
    assert len(seen) == 6  # HTML and JSON, plain, gzip and zstd


def test_every_client_gets_the_form_that_suits_it(site, web):
    paths = ["/simple/foo/", "/both/simple/"]
    for path, accept, coding, agent in itertools.product(paths, ACCEPTS, CODINGS[:2], AGENTS):
        key = path, accept, coding, agent
        same(site.server.get(path, headers(accept, coding, agent)), web.get(path, headers(accept, coding, agent)),
             PAGE_HEADERS, key)
    old = web.get(paths[0], headers(PIP, None, "pip/23.0.1 {}"))
    assert old["Content-Type"].startswith("text/html") and b"data-dist-info-metadata" not in old.body
    assert b"data-core-metadata" in old.body


def test_other_headers_are_read_as_ours(site, web):
    asked = [headers(accept, None) for accept in MORE_ACCEPTS] + [headers(PIP, coding) for coding in MORE_CODINGS]
    for one in asked:
        ours, theirs = site.server.get("/simple/foo/", one), web.get("/simple/foo/", one)
        if ours.status == 406:
            assert theirs.status == 406, one
        else:
            same(ours, theirs, PAGE_HEADERS, one)
    for text in FORMATS:
        path = f"/simple/foo/?format={text}"
        same(site.server.get(path, headers(PIP, None)), web.get(path, headers(PIP, None)), PAGE_HEADERS, path)


def file_paths(site):
    """The path of every file that a view lists, and of its metadata."""
    for view in ["", f"/{FIRST}", f"/{SECOND}", "/both", f"/both/{FIRST}", f"/both/{SECOND}"]:
        for name in pages.json_projects(site.server.get(f"{view}/simple/", {"Accept": pages.JSON}).body):
            place = f"{site.server.url}{view}/simple/{name}/"
            page = site.server.get(f"{view}/simple/{name}/", {"Accept": pages.JSON})
            for one in pages.json_files(page.body, place):
                path = one.url.removeprefix(site.server.url)
                yield path, one.sha256
                if one.metadata_sha256:
                    yield f"{path}.metadata", one.metadata_sha256


def test_every_file_has_its_hash_and_no_coding(site, web):
    files = dict(file_paths(site))
    assert len(files) == 8 * 2 - 1  # the sdist has no metadata
    for path, sha256 in files.items():
        for coding in CODINGS:
            ours, theirs = site.server.get(path, headers("*/*", coding)), web.get(path, headers("*/*", coding))
            assert hashlib.sha256(theirs.body).hexdigest() == sha256, path
            same(ours, theirs, FILE_HEADERS, (path, coding))


def test_clients_can_ask_for_parts_and_for_news(site, web):
    path = next(path for path in dict(file_paths(site)) if path.endswith(".whl"))
    whole = web.get(path)
    part = web.get(path, {"Range": "bytes=10-19", "If-Range": whole["ETag"]})
    assert (part.status, part.body) == (206, whole.body[10:20])
    head = web.get(path, method="HEAD")
    assert (head.status, head["Content-Length"]) == (200, str(len(whole.body)))
    for asked in [path, "/simple/foo/"]:
        first = web.get(asked, headers(PIP, "gzip"))
        again = web.get(asked, {**headers(PIP, "gzip"), "If-None-Match": first["ETag"]})
        assert (again.status, again.body, again["Cache-Control"]) == (304, b"", first["Cache-Control"])
    got = [web.get("/simple/foo/", headers(accept, coding)) for accept in ACCEPTS for coding in CODINGS]
    assert len({(one["Content-Type"], one["Content-Encoding"]) for one in got}) == 6
    assert len({one["ETag"].removeprefix("W/") for one in got}) == 6


NOWHERE = ["/simple/absent/", "/absent/simple/", "/absent/simple/foo/", "/simple/foo/bar/", "/simple/foo/index.json/",
           f"/files/{FIRST}/foo/absent.whl", f"/files/{FIRST}/bar/foo-1.0-py3-none-any.whl", f"/files/{FIRST}/foo/",
           f"/files/{FIRST}/foo", "/files/", "/both/absent/simple/foo/", f"/{FIRST}/{SECOND}/simple/", "/both/absent/simple/",
           "/.wheelcache-static", f"/{FIRST}/", "/index.json",
           f"/files/{FIRST}/foo/..%2f..%2f..%2f.wheelcache-static"]


def test_nothing_else_is_answered(site, web):
    for path in NOWHERE:
        answer = web.get(path)
        assert (path, answer.status) == (path, 404)
        assert answer["Cache-Control"] == site.server.get("/simple/absent/")["Cache-Control"]
    assert web.get("/simple/foo/index.json.gz").status == 404


@pytest.mark.parametrize("path", ["/simple", "/simple/foo", f"/{FIRST}/simple", f"/both/{SECOND}/simple", "/both/simple/foo?format=text/html"])
def test_address_without_its_slash_leads_on(site, web, path):
    answer = web.get(path)
    assert answer.status == site.server.get(path).status == 302
    place = urllib.parse.urljoin(f"{web.url}{path}", answer["Location"])
    bare, _, query = path.partition("?")
    assert place == f"{web.url}{bare}/" + (f"?{query}" if query else "")


@pytest.mark.parametrize("pip", [clients.DEBIAN_PIP, "pip==22.0.4", NEWEST])
def test_pip_installs(web, client, pip, tmp_path):
    client(pip).pip("install", *clients.pip_index(f"{web.url}/both/simple/"), "--target", tmp_path, "foo==1.0")
    assert installed(tmp_path) == {"foo": "1.0", "bar": "2.0", "large": "1.0"}


def test_pip_installs_from_a_part_of_a_view(web, client, tmp_path):
    """foo 1.1 is only on the other platform."""
    client(NEWEST).pip("install", *clients.pip_index(f"{web.url}/both/{SECOND}/simple/"), "--no-deps", "--target", tmp_path, "foo")
    assert installed(tmp_path) == {"foo": "1.0"}


def test_uv_installs(web, client, tmp_path):
    client(UV).run("uv", "pip", "install", *uv_index(f"{web.url}/{FIRST}/simple/"), "--target", tmp_path, "foo")
    assert installed(tmp_path) == {"foo": "1.1+local.1", "bar": "2.0"}
