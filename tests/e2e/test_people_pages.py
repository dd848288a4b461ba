# SPDX-License-Identifier: Apache-2.0
"""All pages for people, without a browser: their HTML, their headers, where their links lead, what they weigh."""
import gzip
import re
import urllib.parse

import pytest

import merging
import serving
import showcase
from htmlcheck import HtmlCheck, dead_links

PACKED_MOST = 60_000
POLICY = ("default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; "
          "base-uri 'none'; form-action 'self'; frame-ancestors 'none'")


@pytest.fixture(name="shop", scope="module", params=["simple", showcase.JAMMY], ids=["default view", "default-view = none"])
def shop_fixture(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("shop")
    with merging.indexes() as start_index, serving.servers(folder) as start_server:
        yield showcase.start(folder, start_index(), start_server, request.param)


@pytest.fixture(name="read", scope="module")
def read_fixture(shop):
    """All pages by name: the path, the answer, the HTML."""
    show, server = shop
    found = {name: (path, server.get(path, {"Accept": "text/html", "Accept-Encoding": "gzip"})) for name, path in show.pages().items()}
    return {name: (path, reply, text_of(reply)) for name, (path, reply) in found.items()}


def text_of(reply):
    return (gzip.decompress(reply.body) if reply["Content-Encoding"] == "gzip" else reply.body).decode()


def test_each_page_is_well_formed(read):
    for name, (path, reply, text) in read.items():
        assert (reply.status, reply["Content-Type"]) == (200, "text/html; charset=utf-8"), (name, path, reply.body)
        page = HtmlCheck(text)
        assert page.count["nav"] >= 1 and page.count["footer"] == 1 and page.links[0] == "#main", name
        assert showcase.SECRET not in text and "covert" not in text, name


def test_one_policy_and_no_sniffing(read):
    for name, (_, reply, _) in read.items():
        assert reply["Content-Security-Policy"] == POLICY, name
        assert reply["X-Content-Type-Options"] == "nosniff", name


def test_markup_of_others_stays_text(read):
    shown = [name for name, (_, _, text) in read.items() if "alert(1)" in text]
    assert len(shown) >= 2
    for name in shown:
        assert "alert(1)" in HtmlCheck(read[name][2]).text, name
        assert not re.search(r"<b\s|<script>", read[name][2]), name


def test_links_lead_somewhere(shop, read):
    """Each link of each page, from where the page is. What was never there before is 404 to this test too."""
    asked, dead = dead_links(shop[1], {path: text for path, _, text in read.values()})
    assert not dead
    assert asked > 60


def test_weight(shop, read):
    """A page with its style and script, as they are sent."""
    assets = {}
    for name, (path, reply, text) in read.items():
        for link in re.findall(r'(?:href|src)="([^"]*-/(?:style\.css|page\.js)\?v=[0-9a-f]{16})"', text):
            assets[urllib.parse.urljoin(path, link)] = None
        assert len(gzip.compress(text.encode())) < PACKED_MOST / 2, name
    assert len(assets) == 2
    sent = [shop[1].get(path, {"Accept-Encoding": "gzip"}) for path in assets]
    weight = sum(len(one.body) for one in sent)
    assert all(one.status == 200 and one["Content-Encoding"] == "gzip" for one in sent)
    assert weight + max(len(gzip.compress(text.encode())) for _, _, text in read.values()) < PACKED_MOST


def test_style_is_kept_by_its_version(shop, read):
    path = re.search(r'href="(-/style\.css\?v=[0-9a-f]{16})"', read["home"][2]).group(1)
    style = shop[1].get(f"/{path}")
    assert (style.status, style["Content-Type"]) == (200, "text/css; charset=utf-8")
    assert style["Cache-Control"] == "public, max-age=31536000, immutable"
    assert shop[1].get(f"/{path}", {"If-None-Match": style["ETag"]}).status == 304
    assert "@media(prefers-color-scheme:dark)" in style.body.decode()
    script = shop[1].get("/-/page.js")
    assert (script.status, script["Content-Type"]) == (200, "text/javascript; charset=utf-8")
    assert shop[1].get("/-/style.css/").status == 404


def test_navigation_has_what_there_is(shop, read, tmp_path):
    """A server without builds and plans does not link to them."""
    def sections(text):
        return re.findall(r">([^<]*)</a>", re.search(r'<nav aria-label="Sections">(.*?)</nav>', text).group(1))
    assert set(sections(read["home"][2])) >= {"Overview", "Builds", "Prune plan"}
    (tmp_path / "store").mkdir()
    with serving.servers(tmp_path) as start:
        empty = sections(start(tmp_path / "store").get("/").body.decode())
    assert "Overview" in empty and not {"Builds", "Prune plan"} & set(empty)


def test_channel_begins_with_what_needs_attention(shop, read):
    """What is lost, untested, silent, empty is in the head, all but the last in red; empty environments are the first rows."""
    heads = {name: re.findall(r'<span class="state ([^"]*)">([^<]*)</span>', read[name][2]) for name in read if name.startswith("channel")}
    empty = [int(re.search(r"<dt>Empty</dt><dd>(\d+)<", read[name][2])[1]) for name in heads]
    assert list(heads.values()) == [[("busy still", f"{empty[0]} empty")], [("wrong", "1 untested"), ("wrong", "1 silent"), ("busy still", f"{empty[1]} empty")],
                                    [("wrong", "1 lost"), ("busy still", f"{empty[2]} empty")]] and min(empty) > 3
    html = read["channel with tests"][2]
    rows = re.findall(r'<tr><th scope="row"><a href="../../project/([^"?]+).*?<span class="verdict( goes| good)">(empty|behind|current)<', html)
    states = [row[2] for row in rows]
    assert states == sorted(states, key=["empty", "behind", "current"].index) and states[0] == "empty" and states[-1] == "current"
    assert {row[1] for row in rows if row[2] == "empty"} == {" goes"}
    calm = shop[1].get("/-/channel/tested/?project=none", {"Accept": "text/html"}).body.decode()
    assert '<span class="state">Nothing is stale</span>' in calm


def test_environments_of_which_the_same_is_said_are_one_row(read):
    """Their wheels differ, and the page does not show these."""
    text = HtmlCheck(read["channel without tests"][2]).text
    assert text.count("Python 3.10 , 3.11 , 3.12 – empty") == 1 and text.count("Python 3.12 , 3.13 – empty") == 1
    assert "numerics ubuntu-22.04-x86_64 Python 3.10 , 3.11 – empty 2.1" in HtmlCheck(read["channel with tests"][2]).text


def test_what_waits_has_project_version_and_a_link(read):
    html = read["channel with tests"][2]
    row = html[html.index("What waits"):]
    assert '<th scope="row"><a href="../../project/numerics?view=nightly&amp;version=2.1">numerics</a></th><td class="name">2.1</td>' in row


def test_units_of_numbers(shop, read):
    text = shop[1].get("/-/search?q=failing", {"Accept": "text/html"}).body.decode()
    assert 'data-of="file">1</td>' in text and 'data-of="files">1<' not in "".join(page[2] for page in read.values())
    assert 'data-of="newest">20' in read["usage"][2] and 'data-of="wheel">1<' in read["channel with tests"][2]
