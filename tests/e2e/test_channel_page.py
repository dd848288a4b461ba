# SPDX-License-Identifier: Apache-2.0
"""The page of a channel, explain, and the page of a record, also where a view's source has a private platform."""
import json

import pytest

import channels
import evidence
import htmlcheck
import serving
import storelib
import uploading

CONFIG = f"""[platform {channels.JAMMY}]
pythons = 3.10
[platform {channels.NOBLE}]
pythons = 3.12
private = yes
[view inner]
platforms = {channels.JAMMY} {channels.NOBLE}
[view outer]
platforms = {channels.JAMMY}
from = inner
requires = unit:min-tests=2
cells = {channels.JAMMY}/3.10
keep-versions = 4
keep-days = 50
expect = 30h unit
"""
MARKUP = "<b onclick='x()'>"
SECRET = ("inner", channels.NOBLE, "3.12", "covert")


@pytest.fixture(name="shop", scope="module")
def shop_fixture(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shop")
    for platform, project in ((channels.JAMMY, "foo"), (channels.NOBLE, "foo"), (channels.NOBLE, "covert")):
        storelib.make_wheel(folder / "store" / platform, project, "1.0", channels.TAGS[platform])
    channels.write_generation(folder / "store", "outer", [(channels.JAMMY, f"foo-1.0-{channels.TAGS[channels.JAMMY]}.whl")])
    with serving.servers(folder) as start:
        server = start(folder / "store", config=CONFIG)
        server.foo = storelib.make_wheel(folder / "dist", "foo", "1.0", channels.TAGS[channels.JAMMY])
        sender = uploading.add_token(server, "--note", "nightly job", "--right", "evidence", "--view", "*")
        server.record = send(server, sender)
        server.reader = uploading.add_token(server, "--read", "--platform", channels.NOBLE)
        yield server


def send(server, token, **changed):
    document = evidence.red(server.foo, platform=channels.JAMMY, python="3.10", **changed)
    reply = evidence.send(server, document, token)
    assert reply.status == 201, reply.body
    return json.loads(reply.body)["id"]


def page(server, path, token=None, accept="application/json"):
    return server.get(path, {"Accept": accept, **uploading.authorization(token)})


def test_view_whose_source_is_private(shop):
    for path in ("/-/channel/outer/", "/-/explain/outer/foo"):
        for accept in ("application/json", "text/html"):
            nobody, reader = page(shop, path, None, accept), page(shop, path, shop.reader, accept)
            assert (nobody.status, reader.status) == (200, 200)
            assert not [word for word in SECRET if word in nobody.body.decode()], path
            assert "inner" in reader.body.decode()
            assert "private" in nobody["Cache-Control"] or "no-store" in nobody["Cache-Control"]
            # What one client got is not kept for another.
            assert page(shop, path, None, accept).body == nobody.body
    row = json.loads(page(shop, "/-/channel/outer/").body)["environments"][0]
    assert (row["project"], row["version"], row["state"]) == ("foo", "1.0", "current")
    assert [one["result"] for one in row["tests"]] == ["red"]


def test_private_channel_looks_like_an_unknown_one(shop):
    private, unknown = page(shop, "/-/channel/inner/"), page(shop, "/-/channel/no-such/")
    assert private.status == unknown.status == 401 and private.body == unknown.body
    channel = json.loads(page(shop, "/-/channel/inner/", shop.reader).body)
    assert {one["project"] for one in channel["environments"]} == {"foo", "covert"}
    assert channel["tests_for"] == "outer"


def test_requests_that_are_wrong(shop):
    assert page(shop, "/-/channel/outer/?project=" + "x" * 300).status == 400
    assert page(shop, "/-/channel/outer").status == 302
    assert page(shop, "/-/channel/outer/?limit=99999999999999999999999").status == 200
    assert json.loads(page(shop, "/-/channel/outer/?limit=1").body)["more"] is False
    assert json.loads(page(shop, "/-/channel/inner/?limit=1", shop.reader).body)["more"] is True


def text_of(server, path, token=None):
    reply = page(server, path, token, "text/html")
    assert (reply.status, reply["Content-Type"]) == (200, "text/html; charset=utf-8"), reply.body
    return reply.body.decode(), htmlcheck.HtmlCheck(reply.body.decode()).text


def test_rules_are_shown(shop):
    _, words = text_of(shop, "/-/channel/outer/")
    assert f"Rules Requires unit:min-tests=2 Cells {channels.JAMMY}/3.10 Expects 30h unit Keeps versions 4 Keeps days 50" in words


def test_record_is_a_page_for_browsers_and_json_for_programs(shop):
    path = f"/-/evidence/{shop.record}"
    html, words = text_of(shop, path)
    assert f"unit tests on {channels.JAMMY}, Python 3.10" in words and "Passed 10 Failed 2 Skipped 1 Wheels 1" in words
    assert "test_a assert 1 == 2" in words and "The record names the first ones only." in words
    assert f'<a href="../project/foo?version=1.0">{shop.foo.name}</a>' in html and f'title="{shop.foo.sha256}"' in html
    assert page(shop, "/-/project/foo?version=1.0").status == 200
    assert f'href="../../evidence/{shop.record}"' in text_of(shop, "/-/channel/outer/")[0]
    for accept, query, form in (("*/*", "", "json"), ("application/json", "", "json"), ("text/html", "?format=json", "json"),
                                ("text/html,application/xhtml+xml;q=0.9,*/*;q=0.8", "", "html"), ("*/*", "?format=html", "html")):
        reply = page(shop, path + query, accept=accept)
        assert reply.status == 200 and form in reply["Content-Type"] and reply["Vary"] == "Accept, Accept-Encoding", (accept, query)
        if form == "json":
            assert json.loads(reply.body)["record"]["failed"] == 2
    assert page(shop, path + "?limit=%", accept="text/html").status == 400


def test_page_of_a_record_has_what_ties_its_wheels_to_other_builds(shop):
    """The digest of the contents and the commit of the source, of each wheel of which the record knows them."""
    plain = {"filename": shop.foo.name, "sha256": shop.foo.sha256}
    sender, whole = (uploading.add_token(shop, *words) for words in (("--right", "evidence", "--view", "*"), ("--read", "--platform", "*")))
    other = {"filename": "other-1.0-py3-none-any.whl", "sha256": "1" * 64}
    identity = send(shop, sender, wheels=[plain | {"content_sha256": "c" * 64, "commit": "d" * 40}, other])
    html, words = text_of(shop, f"/-/evidence/{identity}", whole)
    assert "Wheel SHA-256 SHA-256 of the contents Commit of the source" in words
    assert f'title="{"c" * 64}">{"c" * 12}…' in html and f'title="{"d" * 40}">{"d" * 12}…' in html
    assert words.count("…") == 4 and words.count("–") == 2  # the other wheel has its SHA-256 alone
    words = text_of(shop, f"/-/evidence/{send(shop, sender, wheels=[plain], passed=9)}", whole)[1]
    assert "Commit" not in words and "It counts for a build of equal contents, too" in words


def test_page_of_a_record_names_its_sender_to_readers_only(shop):
    path = f"/-/evidence/{shop.record}"
    assert "Sent by" not in text_of(shop, path)[0] and "nightly job" not in text_of(shop, path)[0]
    reader = uploading.add_token(shop, "--read", "--platform", "*")
    html, words = text_of(shop, path, reader)
    assert "Sent by nightly job From 127.0.0.1 Counts for the views *" in words and "Sent by" not in text_of(shop, path, shop.reader)[1]
    assert "private" in page(shop, path, reader, "text/html")["Cache-Control"] and "alert" not in html


def test_what_a_record_says_stays_text(shop):
    sender = uploading.add_token(shop, "--right", "evidence", "--view", "*", "--note", MARKUP)
    unknown = {"filename": "elsewhere-2.0-py3-none-any.whl", "sha256": "1" * 64}
    identity = send(shop, sender, failed=1, wheels=[unknown] * 1 + [{"filename": shop.foo.name, "sha256": shop.foo.sha256}],
                    failures=[{"name": MARKUP, "message": MARKUP}])
    hidden, whole = page(shop, f"/-/evidence/{identity}", accept="text/html"), uploading.add_token(shop, "--read", "--platform", "*")
    assert hidden.status == 401  # a wheel that nobody may know of
    html, words = text_of(shop, f"/-/evidence/{identity}", whole)
    assert "<b " not in html and words.count(MARKUP) == 3 and "The record names the first ones only." not in words
    assert "elsewhere-2.0-py3-none-any.whl</th>" in html  # no link: the server has no page of it
    short, _ = text_of(shop, f"/-/evidence/{identity}?limit=1", whole)
    assert "elsewhere" in short and shop.foo.name not in short and "?format=html&amp;limit=4" in short and "limit=" not in html
