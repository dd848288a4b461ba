# SPDX-License-Identifier: Apache-2.0
"""The home page in a real browser."""
import json
import shutil
import struct
import subprocess
import urllib.parse
import zlib

import pytest

import storelib

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars",
         "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions",
         "--virtual-time-budget=3000"]
WIDTH, HEIGHT = 1200, 1000


@pytest.fixture(name="browse")
def browse_fixture(tmp_path):
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if not program:
        pytest.skip("chromium is not installed")

    def browse(*arguments):
        return subprocess.run([program, *FLAGS, f"--user-data-dir={tmp_path / 'profile'}",
                               f"--window-size={WIDTH},{HEIGHT}", *arguments], check=True, timeout=600,
                              capture_output=True, text=True).stdout
    return browse


@pytest.fixture(name="server")
def server_fixture(serve, tmp_path):
    store = tmp_path / "store"
    for i in range(3):
        storelib.make_wheel(store / "debian-12-x86_64" / "f" / "foo", "foo", f"1.{i}")
    storelib.make_wheel(store / "ubuntu-24.04-x86_64" / "b" / "bar", "bar", "1.0")
    return serve(store)


def pixels(png):
    """Width, height, and the set of bytes of the unpacked rows: a blank page has only few."""
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    at, packed = 8, b""
    while at < len(png):
        (length,), kind = struct.unpack(">I", png[at:at + 4]), png[at + 4:at + 8]
        if kind == b"IHDR":
            width, height = struct.unpack(">II", png[at + 8:at + 16])
        if kind == b"IDAT":
            packed += png[at + 8:at + 8 + length]
        at += 12 + length
    return width, height, set(zlib.decompress(packed))


def test_page_is_html_with_a_policy(server):
    reply = server.get("/", {"Accept": "text/html"})
    assert (reply.status, reply["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert "default-src 'none'" in reply["Content-Security-Policy"]
    assert reply["X-Content-Type-Options"] == "nosniff"


def test_home_page_shows_the_first_scan(server):
    """It ended before the server answered."""
    assert b"Last scan" in server.get("/").body
    assert json.loads(server.get("/-/health").body)["scan"]["ended"] > 1_700_000_000


def test_browser_shows_what_people_need(server, browse):
    """The commands are for the index of one platform: pip must not get what was built for another one."""
    page = browse("--dump-dom", f"{server.url}/")
    assert "<title>wheelcache</title>" in page
    assert f"pip install --index-url {server.url}/debian-12-x86_64/simple/" in page
    assert f"uv pip install --default-index {server.url}/debian-12-x86_64/simple/" in page
    assert f"pip install --index-url {server.url}/simple/" not in page
    assert 'href="-/client-config/simple">the addresses of all</a>' in page
    for platform in ("debian-12-x86_64", "ubuntu-24.04-x86_64"):
        assert f'href="{platform}/simple/"' in page


def test_screenshot_is_not_blank(server, browse, tmp_path):
    target = tmp_path / "web.png"
    browse(f"--screenshot={target}", f"{server.url}/")
    width, height, values = pixels(target.read_bytes())
    assert (width, height) == (WIDTH, HEIGHT)
    assert len(values) > 128


def test_no_request_leaves_to_another_host(server, browse, tmp_path):
    log = tmp_path / "net.json"
    browse(f"--log-net-log={log}", "--dump-dom", f"{server.url}/")
    events = json.loads(log.read_text())["events"]
    asked = [one["params"] for one in events if "url" in one.get("params", {}) and "initiator" in one["params"]]
    ours = [one["url"] for one in asked if one["url"].startswith(server.url) or
            one["initiator"].startswith(server.url)]
    assert f"{server.url}/" in ours
    web = [url for url in ours if urllib.parse.urlsplit(url).scheme in ("http", "https", "ws", "wss")]
    assert {urllib.parse.urlsplit(url).netloc for url in web} == {f"{server.host}:{server.port}"}


def test_names_from_the_configuration_are_escaped(serve, tmp_path):
    """The names of views are checked; the Host header is untrusted."""
    storelib.make_wheel(tmp_path / "store", "foo", "1.0")
    server = serve(tmp_path / "store")
    reply = server.raw(b'GET / HTTP/1.1\r\nHost: a"><script>alert(1)</script>\r\nConnection: close\r\n\r\n')
    assert b"<script>alert" not in reply
