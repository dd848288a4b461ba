# SPDX-License-Identifier: Apache-2.0
"""The page of a channel, and explain, where a view's source has a private platform: who may read what."""
import json

import pytest

import channels
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
requires = unit
"""
SECRET = ("inner", channels.NOBLE, "3.12", "covert")


@pytest.fixture(name="shop", scope="module")
def shop_fixture(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shop")
    for platform, project in ((channels.JAMMY, "foo"), (channels.NOBLE, "foo"), (channels.NOBLE, "covert")):
        storelib.make_wheel(folder / "store" / platform, project, "1.0", channels.TAGS[platform])
    channels.write_generation(folder / "store", "outer", [(channels.JAMMY, f"foo-1.0-{channels.TAGS[channels.JAMMY]}.whl")])
    with serving.servers(folder) as start:
        server = start(folder / "store", config=CONFIG)
        server.reader = uploading.add_token(server, "--read", "--platform", channels.NOBLE)
        yield server


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
    assert [one["result"] for one in row["tests"]] == ["untested"]


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
