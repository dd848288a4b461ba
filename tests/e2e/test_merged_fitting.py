# SPDX-License-Identifier: Apache-2.0
"""Views that list only those of upstream's wheels that fit their platforms ([upstream] wheels): what is left out, that
clients do not need it, and that its URL still works."""
import hashlib
import json
import platform
import re
import signal
import sys

import pytest

import clients
import merging
import pages
import serving
import storelib

SOON = 120
HERE = "debian-12-x86_64"
OTHERS = "|".join({"x86_64", "aarch64", "i686", "ppc64le", "s390x", "armv7l"} - {platform.machine()})
ELSEWHERE = re.compile(rf"-(win|macosx|musllinux|\w*({OTHERS}))\w*(\.\w+)*\.whl$")
PYTHONS, TAGS = ("cp310-cp310", "cp311-cp311"), ("win_amd64", "macosx_11_0_arm64", "musllinux_1_2_x86_64", "manylinux_2_17_x86_64")


@pytest.fixture(name="theirs")
def theirs_fixture(tmp_path, index):
    """Upstream has six 1.0 for every machine, and 2.0 only for Windows."""
    tags = [f"{python}-{tag}" for python in PYTHONS for tag in TAGS]
    wheels = [storelib.make_wheel(tmp_path / "theirs", "six", "1.0", tag) for tag in [*tags, "py3-none-any"]]
    wheels.append(storelib.make_wheel(tmp_path / "theirs", "six", "2.0", "py3-none-win_amd64"))
    for wheel in wheels:
        index.add("six", wheel)
    index.add_bytes("six", "six-1.0.tar.gz", b"an sdist")
    return {wheel.name: wheel for wheel in wheels}


def config_of(index, store, wheels="fitting"):
    """The default view, and one for lock files, which lists all."""
    return (f"[store]\npath = {store}\ndefault-view = {HERE}\n{merging.config(index, wheels=wheels)}[platform {HERE}]\n"
            f"[view lock]\nplatforms = {HERE}\nupstream-wheels = all\n")


@pytest.fixture(name="store")
def store_fixture(tmp_path):
    (tmp_path / "store" / HERE).mkdir(parents=True)
    storelib.make_wheel(tmp_path / "store" / HERE, "mine", "1.0")
    return tmp_path / "store"


def explained(server, path):
    """What explain says of upstream, and all of it as text, once the page of six is in the catalog."""
    merging.wait_until_noted(server, "six")
    return (json.loads(server.get(f"/-/explain/{path}").body)["upstream"],
            server.get(f"/-/explain/{path}?format=text").body.decode())


def test_pages_have_what_runs_there(serve, store, index, theirs):
    server = serve(None, config=config_of(index, store))
    left = ["six-1.0-cp310-cp310-manylinux_2_17_x86_64.whl", "six-1.0-cp311-cp311-manylinux_2_17_x86_64.whl",
            "six-1.0-py3-none-any.whl", "six-1.0.tar.gz"]
    for view in ("", f"/{HERE}"):
        assert sorted(merging.names(server, "six", view)) == left
        assert merging.page(server, "six", view)["versions"] == ["1.0", "2.0"]
    everything = merging.page(server, "six", "/lock")
    assert {one["filename"] for one in everything["files"]} == {*theirs, "six-1.0.tar.gz"}
    html = server.get("/simple/six/", {"Accept": pages.HTML}).body.decode()
    assert re.findall(r">(six-[^<]*)</a>", html) == merging.names(server, "six")
    for name, wheel in theirs.items():
        assert hashlib.sha256(server.get(merging.url_of("six", name)).body).hexdigest() == wheel.sha256
    assert "lists all" not in server.errors()


def test_name_that_is_here_too_is_listed(serve, store, index, theirs):
    """As upstream's file, as without the option."""
    ours = storelib.make_wheel(store / HERE, "six", "1.0", "cp311-cp311-win_amd64", files={"ours.py": b""})
    server = serve(None, config=config_of(index, store))
    listed = {one["filename"]: one for one in merging.page(server, "six")["files"]}
    assert len(listed) == 5
    assert listed[ours.name]["hashes"]["sha256"] == theirs[ours.name].sha256 != ours.sha256
    assert listed[ours.name]["url"].endswith(merging.url_of("six", ours.name))
    upstream, _ = explained(server, "simple/six/1.0")
    assert [one["filename"] for one in upstream["file"] if "-win" in one["filename"] and "left-out" not in one] == [ours.name]
    only = serve(None, config=config_of(index, store).replace("merge = yes", "merge = yes\nupstream-only = six"))
    assert ours.name not in merging.names(only, "six")
    assert explained(only, "simple/six")[0]["left-out"] == explained(server, "simple/six")[0]["left-out"] + 1


def test_another_setting_is_another_page(serve, store, index, theirs, tmp_path):
    """After a restart and, as name rules do, after SIGHUP; also for a client that has the other page in its cache."""
    def get(server, tag=None):
        headers = {"Accept": pages.JSON} | ({"If-None-Match": tag} if tag else {})
        reply = server.get("/simple/six/", headers)
        return reply.status, reply["ETag"]
    (tmp_path / "state").mkdir()
    server = serve(None, config=config_of(index, store), state=tmp_path / "state")
    _, fitting = get(server)
    assert get(server, fitting)[0] == 304
    server.stop()
    server = serve(None, config=config_of(index, store, "all"), state=tmp_path / "state")
    status, everything = get(server, fitting)
    assert status == 200 and everything != fitting
    server.config_path.write_text(config_of(index, store))
    server.signal(signal.SIGHUP)
    serving.wait_for(lambda: get(server, everything)[0] == 200, SOON, "another page")
    assert get(server)[1] == fitting
    assert "after a restart" not in server.errors()


def test_platform_without_a_profile_leaves_out_nothing(serve, tmp_path, index, theirs):
    """The log says so, once for each view."""
    for name in ("wheels", HERE):
        storelib.make_wheel(tmp_path / "store" / name, "mine", "1.0")
    settings = merging.config(index, wheels="fitting")
    server = serve(None, config=f"[store]\npath = {tmp_path / 'store'}\n{settings}[platform wheels]\n[platform {HERE}]\n"
                                f"[view both]\nplatforms = {HERE} wheels\n[view none]\nplatforms = wheels\nupstream = no\n"
                                "[view lock]\nplatforms = wheels\nupstream-wheels = all\n")
    everything = {*theirs, "six-1.0.tar.gz"}
    for view in ("", "/wheels", "/both", "/lock"):
        assert set(merging.names(server, "six", view)) == everything
    assert len(merging.names(server, "six", f"/{HERE}")) == 4
    told = [line for line in server.errors().splitlines() if "lists all" in line]
    why = ("lists all of upstream's wheels: the machines of platform wheels are unknown "
           "([platform wheels] pythons, arch and libc describe them)")
    assert [line.partition("wheelcache: ")[2] for line in told] == [
        f"{view} {why}" for view in ("the default view", "view wheels", "view both")]
    mirror = serve(None, config=settings)
    assert set(merging.names(mirror, "six")) == everything
    assert mirror.errors().count("the default view lists all of upstream's wheels: it has no platform") == 1
    (tmp_path / "empty").mkdir()
    told = serve(None, config=f"{settings}[platform {HERE}]\npath = {tmp_path / 'empty'}\n")
    assert len(merging.names(told, "six")) == 4 and "lists all" not in told.errors()


def test_explain_tells_what_is_left_out(serve, store, index, theirs):
    server = serve(None, config=config_of(index, store))
    assert len(merging.names(server, "six")) == 4
    upstream, text = explained(server, "simple/six/1.0")
    assert (upstream["files"], upstream["left-out"]) == (11, 7)
    assert {one["filename"] for one in upstream["file"] if one.get("left-out")} == {
        name for name in theirs if ELSEWHERE.search(name) and "-1.0-" in name}
    assert "7 of all files are not on the view's page, because none of its machines runs them (wheels = fitting)" in text
    assert "  six-1.0-cp311-cp311-win_amd64.whl  not on the page\n" in text
    assert "  six-1.0-py3-none-any.whl\n" in text
    done = serving.run("explain", "--config", server.config_path, "--catalog", server.catalog, "six", "1.0")
    assert done.stdout == text
    assert "left-out" in explained(server, "simple/six")[0]
    upstream, text = explained(server, "lock/six/1.0")
    assert "left-out" not in upstream and not any("left-out" in one for one in upstream["file"])
    assert "not on the" not in text


# --- real clients ---

PIP, UV = "pip==26.3", "uv==0.13.9"
WANTED = ["requests", "PyYAML", "zope.interface", "protobuf", "psutil"]


def installed(folder):
    """{RECORD's path: its rows}, the names and hashes of all that was installed."""
    return {str(path.relative_to(folder)): path.read_text().splitlines() for path in folder.rglob("RECORD")}


@pytest.fixture(scope="module", name="up")
def up_fixture(whole, upstream):  # whose wheels it has
    """With all files that PyPI listed, not only those that can be downloaded."""
    return upstream()


@pytest.fixture(name="machine")
def machine_fixture(serve, up, tmp_path):
    """A server for machines such as this one."""
    libc, version = platform.libc_ver()
    if libc != "glibc":
        pytest.skip("this is no machine with glibc")
    (tmp_path / "store" / "here").mkdir(parents=True)
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    return serve(None, config=f"[store]\npath = {tmp_path / 'store'}\n{merging.config(up, wheels='fitting')}[platform here]\n"
                              f"pythons = {python}\narch = {platform.machine()}\nlibc = glibc {version}\n"
                              "[view lock]\nplatforms = here\nupstream-wheels = all\n")


def install(client, name, url, target):
    if name == UV:
        client(UV).run("uv", "pip", "install", "--no-cache", "--python", sys.executable, "--index-url", url, "--target", target,
                       *WANTED)
    else:
        client(name).pip("install", *clients.pip_index(url), "--target", target, *WANTED)
    return installed(target)


@pytest.mark.parametrize("name", [PIP, UV])
def test_client_installs_the_same(machine, up, client, tmp_path, name):
    straight = install(client, name, up.url, tmp_path / "straight")
    assert len(straight) >= len(WANTED)
    assert install(client, name, f"{machine.url}/here/simple/", tmp_path / "fitting") == straight
    for project in ("psutil", "pyyaml"):
        everything, left = merging.page(machine, project, "/lock"), merging.page(machine, project, "/here")
        names = {one["filename"] for one in left["files"]}
        assert names and not any(map(ELSEWHERE.search, names))
        gone = {one["filename"] for one in everything["files"]} - names
        assert len(gone) > len(names) and all(one.endswith(".whl") for one in gone)
        assert any("-win" in one for one in gone) and any("-musllinux" in one for one in gone)
        assert left["versions"] == everything["versions"]
