# SPDX-License-Identifier: Apache-2.0
"""The mistakes that people make most: what the message says of each, so that they need no manual. It says what happened, why,
and what to do, in that order."""
import json
import re
import socket
import types

import pytest

import serving
import storelib
from uploading import authorization, form_of, post

NAME = "demo-1.0-py3-none-any.whl"
CONFIG = """[store]
path = {store}
[catalog]
path = {folder}/catalog.db
[upstream]
offline = yes
[platform deb12]
[platform team]
private = yes
[view staging]
platforms = deb12
[view tested]
from = staging
"""


@pytest.fixture(name="site", scope="module")
def site_fixture(tmp_path_factory):
    """A store, its configuration and its catalog, and files with mistakes."""
    folder = tmp_path_factory.mktemp("site")
    wheel = storelib.make_wheel(folder / "store" / "deb12", "demo", "1.0").path
    storelib.make_wheel(folder / "store" / "team", "secret", "1.0")
    (folder / "site.conf").write_text(CONFIG.format(store=folder / "store", folder=folder))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        site = types.SimpleNamespace(folder=folder, wheel=wheel, taken=taken.getsockname()[1],
                                     base=["--config", folder / "site.conf"])
        assert serving.run("index", *site.base).returncode == 0
        yield site


def says(site, words, code):
    """The message of the command, whose words may name things of the site."""
    words = [str(word).format(**vars(site)) for word in words]
    done = serving.run(*words, cwd=site.folder)
    assert done.returncode == code, done.stdout + done.stderr
    lines = done.stderr.splitlines()
    assert len(lines) == 1 and lines[0].startswith("error: wheelcache: "), done.stderr
    return lines[0]


WITHOUT_A_SITE = [
    # A mistyped command, option, or command of a group.
    (["sevre"], 2, ["unknown command sevre", "did you mean serve?"]),
    (["serve", "--lisen", "x"], 2, ["--lisen is not an option", "did you mean --listen?"]),
    (["prune", "aply"], 2, ["unknown command aply", "did you mean prune apply?"]),
    (["serve", "--store", "x"], 2, ["--store is not an option", "wheelcache serve [STORE]"]),
    # The store or the configuration is not there, or not named.
    (["serve"], 2, ["no store is given", "STORE", "--config FILE"]),
    (["serve", "/nonexistent"], 1, ["cannot open the store /nonexistent", "No such file", "mount or make the folder"]),
    (["serve", "--config", "none.conf"], 2, ["cannot read the configuration none.conf", "No such file"]),
    (["explain", "demo", "--catalog", "none.db", "--store", "."], 1,
     ["cannot read the catalog none.db", "No such file", "wheelcache index makes it"]),
    # The address is no address, or taken.
    (["serve", "--listen", "8080", "."], 2, ["cannot listen on 8080", "ADDRESS:PORT"]),
    (["serve", "--listen", "127.0.0.1:{taken}", ".", "--catalog", "other.db"], 1, ["cannot listen on 127.0.0.1:{taken}", "in use", "--listen"]),
    # No or no right URL.
    (["push", "{wheel}"], 2, ["--to URL is missing", "https://HOST/upload/PLATFORM/"]),
    (["push", "{wheel}", "--to", "http://h/simple/"], 2, ["http://h/simple/ is no upload URL", "https://HOST/upload/PLATFORM/"]),
    (["client-config"], 2, ["URL of the server is not known", "--url URL"]),
]

WITH_A_SITE = [
    # A mistyped view, platform, project or file.
    (["explain", "demo", "--view", "tseted"], 1, ["no view or platform tseted", "did you mean tested?"]),
    (["explain", "demo", "--view", "x"], 1, ["no view or platform x", "there are deb12, team, staging, tested"]),
    (["explain", "dmeo"], 1, ["nothing is known of dmeo", "did you mean demo?"]),
    (["explain", "demo", "7"], 1, ["nothing is known of demo 7", "wheelcache explain demo lists its versions"]),
    (["client-config", "--view", "tseted", "--url", "https://h"], 1, ["no view or platform tseted", "did you mean tested?"]),
    (["promote", "demo", "--to", "tseted"], 2, ["no view tseted", "did you mean tested?"]),
    (["promote", "demo", "--to", "staging"], 2, ["view staging has no \"from\"", "nothing is promoted into it"]),
    (["promote", "dmeo", "--to", "tested"], 2, ["dmeo: view staging has no such file", "wheelcache explain"]),
    (["missing"], 2, ["no [branch]", "requirements or constraints"]),
    (["compare", "dbe12/" + NAME, "deb12/" + NAME], 1, ["no such file", "no platform dbe12", "did you mean deb12?"]),
    (["missing", "--view", "tseted"], 2, ["no view tseted", "did you mean tested?"]),
    (["freeze", "dbe12"], 2, ["no platform dbe12", "did you mean deb12?"]),
    (["yank", NAME, "--reason", "x", "--platform", "dbe12"], 1, ["no platform dbe12", "did you mean deb12?"]),
    (["prune", "plan", "--platform", "dbe12", "--output", "plan"], 1, ["no platform dbe12", "did you mean deb12?"]),
    (["yank", "demo-2.0-py3-none-any.whl", "--reason", "x"], 1, ["no platform has a file demo-2.0-py3-none-any.whl",
                                                                 "wheelcache explain demo lists"]),
    (["yank", "demo", "--reason", "x"], 2, ["demo is not the name of a wheel", "wheelcache explain"]),
    (["yank", NAME], 2, ["--reason TEXT is missing", "clients"]),
    (["token", "revoke", "0123"], 1, ["no token 0123 in ", "wheelcache token list has the IDs"]),
    (["prune", "apply"], 2, ["no PLAN is given", "wheelcache prune plan -o FILE"]),
    (["prune", "apply", "site.conf"], 1, ["site.conf: not a plan"]),
]


@pytest.mark.parametrize("words, code, parts", WITHOUT_A_SITE)
def test_commands(site, words, code, parts):
    message = says(site, words, code)
    for part in parts:
        assert part.format(**vars(site)) in message


@pytest.mark.parametrize("words, code, parts", WITH_A_SITE)
def test_commands_with_a_configuration(site, words, code, parts):
    message = says(site, [*words, *site.base], code)
    for part in parts:
        assert part in message


@pytest.mark.parametrize("text, parts", [
    ("[server]\nlisen = x\n", [":2: ", "lisen", "did you mean \"listen\"?"]),
    ("[sever]\nlisten = x\n", [":1: ", "sever", "did you mean [server]?"]),
    ("[store]\npath = /x\n[upload]\nmax-file = lots\n", [":4: ", "max-file", "\"lots\" is not"]),
    ("[upstream]\nmerge = perhaps\n", [":2: ", "merge", "yes or no"]),
    ("[view v]\nplatforms = dbe12\n[platform deb12]\n", ["[view v] names \"dbe12\"", "did you mean deb12?"]),
    ("[platform deb12]\n[platform deb12]\n", [":2: ", "deb12"]),
    ("path = /x\n", [":1: ", "before the first [section]", "such as [store]"]),
    ("[store\n", [":1: "]),
    ("[server]\ntls-cert = /x.pem\n", ["tls-cert", "tls-key", "set both"]),
])
def test_configuration(site, tmp_path, text, parts):
    (tmp_path / "wrong.conf").write_text(text)
    message = says(site, ["serve", "--config", tmp_path / "wrong.conf", "--catalog", tmp_path / "c.db", site.folder / "store"], 2)
    assert all(part in message for part in parts), message


# --- over HTTP ---

@pytest.fixture(name="served", scope="module")
def served_fixture(site, serve_module, tmp_path_factory):
    state = tmp_path_factory.mktemp("state")
    server = serve_module(config=CONFIG.format(store=site.folder / "store", folder=state), state=state)
    token = ["token", "add", "--config", server.config_path, "--catalog", server.catalog]
    server.upload = serving.run(*token, "--platform", "deb12").stdout.strip()
    server.read = serving.run(*token, "--read", "--platform", "deb12").stdout.strip()
    server.reads = serving.run(*token, "--read").stdout.strip()
    return server


@pytest.mark.parametrize("path, token, status, parts", [
    ("/simple/dmeo/", None, 404, ["no such project", "wheelcache explain"]),
    ("/nothing", None, 404, ["no such page", "/simple/"]),
    ("/tseted/simple/", "reads", 404, ["no such view; did you mean tested?"]),
    ("/x/simple/", "reads", 404, ["no such view; there are deb12, staging, tested\n"]),
    ("/team/simple/", None, 401, ["a token is needed", "wheelcache client-config"]),
    ("/team/simple/", "wrong", 401, ["this token is not known here", "wheelcache token add"]),
    ("/team/simple/", "read", 403, ["this token may not read it", "wheelcache token add --read"]),
    ("/files/deb12/demo/demo-2.0-py3-none-any.whl", None, 404, ["no such file", "page of its project"]),
])
def test_pages(served, path, token, status, parts):
    headers = authorization(getattr(served, token, "wc_" + "x" * 43)) if token else {}
    reply = served.get(path, headers)
    body = reply.body.decode()
    assert reply.status == status, body
    assert all(part in body for part in parts), body
    assert re.fullmatch(rf"{status} [A-Z][A-Za-z ]+: .+\n", body)


@pytest.mark.parametrize("path, token, status, parts", [
    ("/simple/", "upload", 405, ["takes GET, HEAD", "/upload/PLATFORM/"]),
    ("/upload/dbe12/", "reads", 403, ["has no right to upload", "wheelcache token add"]),
    ("/upload/deb12/", "read", 403, ["has no right to upload", "wheelcache token add"]),
    ("/upload/deb12/", None, 401, ["a token is needed", "wheelcache client-config"]),
    ("/upload/tested/", None, 403, ["files come into tested by promotion from staging", "wheelcache promote"]),
])
def test_uploads(served, site, path, token, status, parts):
    reply = post(served, path, form_of(site.wheel), getattr(served, token) if token else None)
    assert reply.status == status, reply.body
    assert all(part in reply.body.decode() for part in parts), reply.body


def test_push_says_what_the_server_says(served, tmp_path):
    """The server's advice reaches the terminal."""
    wheel = storelib.make_wheel(tmp_path, "other", "1.0").path
    done = serving.run("push", wheel, "--retries", "0", "--to", f"{served.url}/upload/deb12/", env={"WHEELCACHE_TOKEN": "wc_x"})
    assert done.returncode == 1
    assert "this token is not known here; the operator makes another: wheelcache token add" in done.stderr


def test_push_says_why_no_server_answers(site):
    done = serving.run("push", site.wheel, "--retries", "0", "--quiet", "--to", "http://127.0.0.1:1/upload/deb12/")
    assert done.returncode == 1
    assert f"{site.wheel}: failed: http://127.0.0.1:1/" in done.stdout and "connect" in done.stdout


@pytest.mark.parametrize("words, parts", [
    (["--platform", "dbe12"], ["no platform dbe12", "did you mean deb12?"]),
    (["--right", "promote", "--view", "tseted"], ["no view tseted", "did you mean tested?"]),
    (["--platform", "deb*", "--right", "promote", "--view", "test*"], []),
])
def test_tokens_for_names_that_are_not_there(site, words, parts):
    """They are made, for the name may come, and a warning says which was meant."""
    done = serving.run("token", "add", *words, *site.base)
    assert done.returncode == 0 and done.stdout.startswith("wc_")
    warnings = [line for line in done.stderr.splitlines() if "the configuration has no" in line]
    assert len(warnings) == bool(parts)
    assert all(part in warnings[0] for part in parts)


def test_names_that_need_a_token_are_not_offered(served):
    """Nobody learns by a mistake that there is a private view."""
    for path in ("/taem/simple/", "/-/client-config/taem", "/-/view/taem"):
        assert b"team" not in served.get(path).body
        assert b"team" not in served.get(path, authorization(served.reads)).body
    for name in ("demo", "secret"):
        assert name not in json.dumps(served.get("/simple/scret/").body.decode())
