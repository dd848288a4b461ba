# SPDX-License-Identifier: Apache-2.0
"""The command on top of the page of a project: it names an index that has what the page shows, and it works."""
import html
import json
import os
import re
import shlex

import pytest

import merging
import storelib
import uploading

PIP = "pip==24.2"
PUBLIC, OTHER, PRIVATE = "debian-12-x86_64", "ubuntu-22.04-x86_64", "ubuntu-24.04-x86_64"
HTML = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
CONFIG = (f"[platform {PUBLIC}]\n[platform {OTHER}]\n[platform {PRIVATE}]\nprivate = yes\n[view both]\nplatforms = {PUBLIC} {OTHER}\n"
          f"[view all]\nplatforms = {PUBLIC} {PRIVATE}\n")


def put(folder, platform, name, version="1.0"):
    return storelib.make_wheel(folder / platform / name, name, version)


@pytest.fixture(scope="module", name="server")
def server_fixture(serve_module, tmp_path_factory):
    store = tmp_path_factory.mktemp("install") / "store"
    for platform in (PUBLIC, OTHER):
        put(store, platform, "common")
    put(store, OTHER, "narrow")
    put(store, OTHER, "narrow", "1!2.0")
    put(store, PRIVATE, "vault")
    put(store, PRIVATE, "common", "9.0")
    server = serve_module(store, config=CONFIG)
    server.reader = uploading.add_token(server, "--read", "--platform", PRIVATE)
    return server


def page(server, path, token=None):
    reply = server.get(path, {**HTML, **uploading.authorization(token)})
    assert reply.status == 200, reply
    return reply.body.decode()


def command(server, path, token=None):
    """What the button Copy copies, the same as in the JSON; None: there is none."""
    found = re.search(r'</header>\n<figure class="card"><figcaption>Install with pip</figcaption><pre><code>([^<]*)</code></pre></figure>',
                      page(server, path, token))
    reply = server.get(path, {"Accept": "application/json", **uploading.authorization(token)})
    shown = html.unescape(found[1]) if found else None
    assert shown == json.loads(reply.body).get("install")
    return shown


def index_of(server, path, token=None):
    words = shlex.split(command(server, path, token))
    assert words[:3] == ["pip", "install", "--index-url"] and words[3].startswith(server.url), words
    return words[3].removeprefix(server.url), words[4]


def test_the_command_installs(server, client, tmp_path):
    words = shlex.split(command(server, "/-/project/narrow"))
    pip = client(PIP)
    pip.pip(*words[1:], "--target", tmp_path / "out")
    assert (tmp_path / "out" / "narrow-1!2.0.dist-info").exists()


def test_it_names_an_index_that_has_the_version(server):
    """The first platform that has it; not that of others, which have none."""
    assert index_of(server, "/-/project/common") == (f"/{PUBLIC}/simple/", "common")
    assert index_of(server, "/-/project/narrow") == (f"/{OTHER}/simple/", "narrow")
    assert f'For jobs on <span class="name">{OTHER}</span>' in page(server, "/-/project/narrow")
    assert f'href="../../-/client-config/{OTHER}">how they use' in page(server, "/-/project/narrow")


def test_a_version_is_asked_for_if_the_page_was(server):
    assert command(server, "/-/project/common?version=1.0").endswith("/simple/ common==1.0")
    assert command(server, "/-/project/narrow?version=1!2.0").endswith("/simple/ 'narrow==1!2.0'")


def test_a_view_has_its_own_address(server):
    assert index_of(server, "/-/project/narrow?view=both") == (f"/both/{OTHER}/simple/", "narrow")
    assert index_of(server, f"/-/project/common?view={OTHER}") == (f"/{OTHER}/simple/", "common")
    assert f'href="../../-/client-config/both/{OTHER}">' in page(server, "/-/project/narrow?view=both")


def test_a_private_index_is_for_its_readers(server):
    """Others get the command as if it were not there, before and after."""
    before = page(server, "/-/project/common")
    assert index_of(server, "/-/project/vault", server.reader) == (f"/{PRIVATE}/simple/", "vault")
    assert index_of(server, "/-/project/common", server.reader) == (f"/{PRIVATE}/simple/", "common")
    assert index_of(server, "/-/project/common?view=all", server.reader) == (f"/all/{PRIVATE}/simple/", "common")
    assert "the token as password" in page(server, "/-/project/vault", server.reader)
    assert page(server, "/-/project/common") == before
    assert "token" not in before and PRIVATE not in before


def asked_as(server, host):
    return html.unescape(server.raw(f"GET /-/project/common HTTP/1.1\r\nHost: {host}\r\nAccept: text/html\r\n"
                                    "Connection: close\r\n\r\n".encode()).decode())


def test_each_address_of_the_server_has_its_own_page(server):
    """The kept page of one Host is not another's, and what is no host is in no page."""
    for host in ("one.example", "two.example:8080", "one.example"):
        assert f"--index-url http://{host}/{PUBLIC}/simple/ --trusted-host {host} common<" in asked_as(server, host)
    assert "http://localhost/" in asked_as(server, 'x"><script>') and "x\"><script>" not in asked_as(server, 'x"><script>')


def test_what_no_index_has_is_not_offered(serve, tmp_path):
    """A quarantined file; a file that was not promoted into the default view is at its platform's address."""
    put(tmp_path / "store", PUBLIC, "waiting")
    broken = put(tmp_path / "store", PUBLIC, "broken").path
    broken.write_bytes(b"no zip")
    os.utime(broken, (storelib.OLD, storelib.OLD))
    put(tmp_path / "store", OTHER, "other")
    server = serve(tmp_path / "store", config=f"[view tested]\nfrom = {PUBLIC}\nrequires = unit\nplatforms = {PUBLIC}\n"
                                              "[store]\ndefault-view = tested\n")
    assert command(server, "/-/project/broken") is None
    assert index_of(server, "/-/project/waiting") == (f"/{PUBLIC}/simple/", "waiting")
    assert index_of(server, "/-/project/other") == (f"/{OTHER}/simple/", "other")


def test_one_platform_needs_no_address_of_its_own(serve, tmp_path):
    put(tmp_path / "store", PUBLIC, "only")
    server = serve(tmp_path / "store")
    assert index_of(server, "/-/project/only") == ("/simple/", "only")
    assert "For jobs on" not in page(server, "/-/project/only")


def test_a_project_of_upstream(index, serve, tmp_path):
    index.add("theirs", storelib.make_wheel(tmp_path / "theirs", "theirs", "1.0"))
    (tmp_path / "store" / PUBLIC).mkdir(parents=True)
    (tmp_path / "store" / OTHER).mkdir()
    server = serve(tmp_path / "store", config=merging.config(index))
    assert merging.names(server, "theirs")
    merging.wait_until_noted(server, "theirs")
    assert index_of(server, "/-/project/theirs") == (f"/{PUBLIC}/simple/", "theirs")


ALL = f"[view all]\nplatforms = {PUBLIC} {OTHER}\n"
STAGED = f"[view nightly]\nplatforms = {PUBLIC} {OTHER}\n[view tested]\nfrom = nightly\n"


@pytest.mark.parametrize("config, index", [
    ("", "/simple/"), (ALL, "/simple/"), (f"[store]\ndefault-view = {PUBLIC}\n{ALL}", "/all/simple/"),
    ("[store]\ndefault-view = none\n", None), (f"[store]\ndefault-view = none\n{ALL}", None),
    (f"[store]\ndefault-view = tested\n{STAGED}", "/nightly/simple/")])
def test_matrix_says_which_index_has_the_wheel_of_another_platform(serve, tmp_path, config, index):
    """The index of the command has none there. Without a default view each platform is judged by its own."""
    wheel = storelib.make_wheel(tmp_path / "store" / PUBLIC, "demo", "1.0", "cp311-cp311-linux_x86_64").name
    storelib.make_wheel(tmp_path / "store" / OTHER, "demo", "1.0", "cp310-cp310-linux_x86_64")
    server = serve(tmp_path / "store", config=config)
    served = f"/{OTHER}/simple/demo/"
    assert wheel not in server.get(served).body.decode() and "cp310" in server.get(served).body.decode()
    html_of = {name: page(server, path) for name, path in (("project", "/-/project/demo"), ("coverage", "/-/coverage?projects=demo"))}
    cells = {"project": json.loads(server.get("/-/project/demo", {"Accept": "application/json"}).body)["cells"],
             "coverage": json.loads(server.get("/-/coverage?format=json").body)["projects"][0]["cells"]}
    for name in ("project", "coverage"):
        [cell] = [one for one in cells[name] if (one["platform"], one["python"]) == (OTHER, "3.11")]
        note = ("1 cell has a wheel of another platform, which pip gets from an index of both, such as "
                f"<code>{index}</code>. The index of its own platform has none there.")
        assert (cell["state"] == "covered", note in html_of[name]) == (index is not None,) * 2, name
        assert "another platform installs" not in cell["why"] if index is None else cell["why"].endswith(f"installs there, from {index}")
    assert ("A wheel everywhere, 1 of another platform" in html_of["project"]) == (index is not None)
    assert "A wheel everywhere<" not in html_of["project"]
    if index:
        assert wheel in server.get(f"{index}demo/").body.decode()


def test_without_a_default_view_the_command_is_of_a_platform(serve, tmp_path):
    put(tmp_path / "store", PUBLIC, "common")
    put(tmp_path / "store", OTHER, "only")
    server = serve(tmp_path / "store", config="[store]\ndefault-view = none\n")
    assert index_of(server, "/-/project/only") == (f"/{OTHER}/simple/", "only")
    assert f'For jobs on <span class="name">{OTHER}</span>' in page(server, "/-/project/only")
