# SPDX-License-Identifier: Apache-2.0
"""[upload] covered = refuse: a file that upstream has too is refused, by what the catalog knows, without a look-up."""
import json
import signal
import types

import pytest

import serving
import storelib
import tinyupstream
import uploading

PLATFORM = "ubuntu-22.04-x86_64"
TAGS = "cp310-cp310-linux_x86_64"


@pytest.fixture(name="upstream", scope="module")
def upstream_fixture():
    """The upstream; it is asked once, before the server starts."""
    with tinyupstream.running() as upstream:
        for version in ("1.0", "1.1"):
            upstream.add("foo", f"foo-{version}-{TAGS}.whl")
            upstream.add("foo", f"foo-{version}-cp39-abi3-manylinux_2_17_x86_64.whl")
        upstream.add("foo", "foo-2.0-py3-none-any.whl", requires_python=">=3.11")
        upstream.add("foo", "foo-3.0-py3-none-any.whl", yanked="broken")
        upstream.add("foo", "foo-4.0-py3-none-any.whl", upload_time="2126-01-01T00:00:00Z")
        upstream.add("foo", "foo-5.0-py3-none-any.whl")
        upstream.add("foo", "foo-6.0-py3-none-any.whl")
        yield upstream


@pytest.fixture(name="here", scope="module")
def here_fixture(tmp_path_factory, serve_module, upstream):
    folder = tmp_path_factory.mktemp("covered")
    store = folder / "store"
    storelib.make_wheel(store / PLATFORM / "f" / "foo", "foo", "0.1")
    (folder / "packages.list").write_text("foo ==5.0 keep ours is better\n")
    (folder / "constraints.txt").write_text("foo===6.0\n")
    options = "\n".join([f"[upstream]\nurl = {upstream.url}", "[upload]\ncovered = refuse",
                         f"[prune]\npackages = {folder}/packages.list\nconstraints = {folder}/constraints.txt\n"])
    config = folder / "state" / "wheelcache.conf"
    state = config.parent
    state.mkdir()
    config.write_text(options)
    line = ["--catalog", state / "catalog.db", "--config", config, store]
    assert serving.run("index", "--quiet", *line).returncode == 0
    assert serving.run("prune", "follow", "--quiet", *line).returncode == 0
    upstream.is_down = True  # from here on the catalog decides
    server = serve_module(store, config=options, state=state)
    token = uploading.add_token(server, "--upload", PLATFORM)
    return types.SimpleNamespace(server=server, token=token, folder=folder, store=store)


def upload(here, version, tag=TAGS, name="foo", headers=None, **parts):
    wheel = storelib.make_wheel(here.folder / "built" / version, name, version, tag=tag, **parts)
    return wheel, uploading.upload(here.server, PLATFORM, wheel.path, here.token, headers)


@pytest.mark.parametrize("version, tag, build, theirs", [
    ("1.0", TAGS, None, f"foo-1.0-{TAGS}.whl"),                                         # the same
    ("1.0", TAGS, "3", f"foo-1.0-{TAGS}.whl"),                                          # what does the same
    ("1.1", "cp311-cp311-linux_x86_64", None, "foo-1.1-cp39-abi3-manylinux_2_17_x86_64.whl"),
])
def test_what_upstream_has_is_refused(here, version, tag, build, theirs):
    wheel, reply = upload(here, version, tag, build=build)
    assert reply.status == 410
    assert wheel.name in reply.body.decode() and f"/packages/{theirs}" in reply.body.decode()
    assert "already exist" not in reply.body.decode().lower()
    entry = uploading.audit(here.server)[-1]
    assert (entry["file"], entry["result"]) == (wheel.name, "refused")
    assert not list(here.store.rglob(wheel.name)) and not list(here.store.rglob(".*"))


def test_json_has_the_reason_too(here):
    reply = upload(here, "1.0", headers={"Accept": "application/json"})[1]
    assert reply.status == 410 and json.loads(reply.body)["code"].startswith("410 ")


@pytest.mark.parametrize("version, tag, name", [
    ("2.0", "py3-none-any", "foo"),         # upstream's is for fewer Pythons
    ("3.0", "py3-none-any", "foo"),         # yanked there
    ("4.0", TAGS, "foo"),                   # too young there
    ("5.0", "py3-none-any", "foo"),         # on the list of packages
    ("6.0", "py3-none-any", "foo"),         # pinned
    ("1.0+local", TAGS, "foo"),             # ours alone
    ("1.0", TAGS, "bar"),                   # it was never looked up
])
def test_other_files_are_accepted(here, version, tag, name):
    reply = upload(here, version, tag, name)[1]
    assert reply.status == 200, reply.body


@pytest.mark.parametrize("text", ["", "foo == 1.0 : nonsense\n", None])
def test_a_list_that_tells_nothing_may_have_it(here, text):
    path = here.folder / "constraints.txt"
    before = path.read_text()
    path.unlink()
    if text is not None:
        path.write_text(text)
    build = "1" + str(["", "foo == 1.0 : nonsense\n", None].index(text))
    try:
        assert upload(here, "1.0", build=build)[1].status == 200
    finally:
        path.write_text(before)
    assert upload(here, "1.0", build="2" + build)[1].status == 410


def test_what_is_here_already_is_the_same_as_ever(here):
    """It was here before upstream had it: a client that sends it again gets the same answer as without the rule."""
    wheel = storelib.make_wheel(here.folder / "built" / "old", "foo", "1.0", tag=TAGS, build="9")
    place = here.store / PLATFORM / "f" / "foo" / wheel.name
    place.write_bytes(wheel.path.read_bytes())
    here.server.signal(signal.SIGHUP)
    path = f"/files/{PLATFORM}/foo/{wheel.name}"
    serving.wait_for(lambda: here.server.get(path).status == 200, 60, "the scan")
    assert uploading.upload(here.server, PLATFORM, wheel.path, here.token).status == 200
    assert uploading.upload(here.server, PLATFORM, storelib.make_wheel(
        here.folder / "built" / "new", "foo", "1.0", tag=TAGS, build="8").path, here.token).status == 410


def test_accept_is_the_default(serve, here, tmp_path):
    """A server without the key, on the same catalog."""
    server = serve(here.store, state=here.server.catalog.parent)
    wheel = storelib.make_wheel(tmp_path, "foo", "1.1", tag=TAGS)
    assert uploading.upload(server, PLATFORM, wheel.path, here.token).status == 200
