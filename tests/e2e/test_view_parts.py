# SPDX-License-Identifier: Apache-2.0
"""/VIEW/PLATFORM/simple/: what a view shows of one of its platforms, and the ways that lead there."""
import json

import pytest

import serving
import storelib
import uploading

DEBIAN, UBUNTU, TEAM = "debian-12-x86_64", "ubuntu-24.04-x86_64", "debian-13-x86_64"
JSON = {"Accept": "application/vnd.pypi.simple.v1+json"}
CONFIG = f"""
[store]
default-view = all
[view all]
platforms = {DEBIAN} {UBUNTU}
[view inner]
platforms = {DEBIAN} {TEAM}
[view debian-alone]
platforms = {DEBIAN}
[platform {DEBIAN}]
pythons = 3.12
[platform {UBUNTU}]
pythons = 3.12
[platform {TEAM}]
pythons = 3.12
private = yes
"""
TAG = "cp312-cp312-linux_x86_64"


class Site:
    """Two platforms that build one file name with other bytes, and a private one."""

    def __init__(self, serve, folder):
        self.wheel = {platform: storelib.make_wheel(folder / "store" / platform / "a", "acme", "1.0", TAG,
                                                    files={"where.py": platform.encode()})
                      for platform in (DEBIAN, UBUNTU, TEAM)}
        self.only = storelib.make_wheel(folder / "store" / UBUNTU / "o", "only", "1.0", TAG)
        self.server = serve(folder / "store", config=CONFIG)
        serving.wait_for(lambda: serving.answers(self.server, "/-/ready"), 60, "the scan")

    def page(self, path, **headers):
        reply = self.server.get(path, JSON | headers)
        assert reply.status == 200, (path, reply.status, reply.body)
        return json.loads(reply.body)


@pytest.fixture(name="site", scope="module")
def site_fixture(serve_module, tmp_path_factory):
    return Site(serve_module, tmp_path_factory.mktemp("parts"))


def test_each_platform_has_its_own_bytes(site):
    """Page, list, links to files and metadata, and HTML. The merged page has those of the first platform, as before."""
    for platform in (DEBIAN, UBUNTU):
        base = f"/all/{platform}/simple/"
        one, = site.page(f"{base}acme/")["files"]
        assert one["hashes"]["sha256"] == site.wheel[platform].sha256
        assert one["url"] == f"../../../../files/{platform}/acme/{one['filename']}"
        whole = f"/files/{platform}/acme/{one['filename']}"
        assert site.server.get(whole).body == site.wheel[platform].path.read_bytes()
        assert site.server.get(f"{whole}.metadata").status == 200
        html = site.server.get(f"{base}acme/", {"Accept": "text/html"}).body.decode()
        assert f'href="../../../../files/{platform}/acme/' in html and site.wheel[platform].sha256 in html
    assert [one["name"] for one in site.page(f"/all/{DEBIAN}/simple/")["projects"]] == ["acme"]
    assert [one["name"] for one in site.page(f"/all/{UBUNTU}/simple/")["projects"]] == ["acme", "only"]
    assert site.server.get(f"/all/{DEBIAN}/simple/only/", JSON).status == 404
    assert site.page("/all/simple/acme/")["files"][0]["hashes"]["sha256"] == site.wheel[DEBIAN].sha256


def test_new_wheels_show_there_too(site):
    """The page comes from memory, and is dropped when the project changes."""
    path = f"/all/{UBUNTU}/simple/growing/"
    assert site.server.get(path, JSON).status == 404
    for number in (1, 2):
        storelib.make_wheel(site.wheel[UBUNTU].path.parent, "growing", f"{number}.0", TAG)
        serving.wait_for(lambda: site.server.get(path, JSON).status == 200
                         and len(site.page(path)["files"]) == number, 60, "the new wheel")


def test_part_is_as_private_as_its_view(site):
    """A public platform of a private view needs the view's token; a platform that the view has not is a 404."""
    read = uploading.authorization(uploading.add_token(site.server, "--read", "--platform", TEAM))
    for path in (f"/inner/{DEBIAN}/simple/acme/", f"/inner/{TEAM}/simple/acme/", f"/inner/{UBUNTU}/simple/acme/"):
        assert site.server.get(path, JSON).status == 401
    assert site.page(f"/inner/{TEAM}/simple/acme/", **read)["files"][0]["hashes"]["sha256"] == site.wheel[TEAM].sha256
    assert site.page(f"/inner/{DEBIAN}/simple/acme/", **read)["files"][0]["hashes"]["sha256"] == site.wheel[DEBIAN].sha256
    assert site.server.get(f"/inner/{UBUNTU}/simple/acme/", JSON | read).status == 404
    for path in (f"/all/{TEAM}/simple/acme/", "/all/none/simple/", f"/{DEBIAN}/{DEBIAN}/simple/"):
        reply = site.server.get(path, JSON)
        assert reply.status == 404 and TEAM.encode() not in reply.body, path


def test_client_config_leads_to_the_platform(site):
    server = site.server
    words = ("client-config", "--config", server.config_path, "--url", "https://h", "--for", "pip")
    done = serving.run(*words, "--view", "all", "--platform", UBUNTU)
    assert f"index-url = https://h/all/{UBUNTU}/simple/\n" in done.stdout and done.stderr == ""
    assert f"index-url = https://h/all/{UBUNTU}/simple/\n" in serving.run(*words, "--platform", UBUNTU).stdout
    done = serving.run(*words, "--view", "all")
    assert "view all shows the wheels of 2 platforms as one: with --platform NAME" in done.stderr
    assert serving.run(*words, "--view", "debian-alone").stderr == ""
    done = serving.run(*words, "--view", "all", "--platform", TEAM)
    assert done.returncode == 1 and f"view all has no platform {TEAM}" in done.stderr
    done = serving.run("client-config", "--url", "https://h", "--for", "pip", "--view", "v", "--platform", "p")
    assert "index-url = https://h/v/p/simple/\n" in done.stdout
    page = server.get("/-/client-config/simple", {"Accept": "text/html"}).body.decode()
    assert f'<a href="all/{UBUNTU}"><code>{server.url}/all/{UBUNTU}/simple/</code></a>' in page
    page = server.get(f"/-/client-config/all/{UBUNTU}", {"Accept": "text/html"}).body.decode()
    assert f"index-url = {server.url}/all/{UBUNTU}/simple/" in page and "of several platforms" not in page
    data = json.loads(server.get("/-/client-config/all?format=json").body)
    assert data["platforms"] == [{"platform": one, "index": f"{server.url}/all/{one}/simple/"} for one in (DEBIAN, UBUNTU)]
