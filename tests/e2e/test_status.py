# SPDX-License-Identifier: Apache-2.0
"""wheelcache status (PEP 792): what a quarantine hides in every way, and what the other statuses say."""
import hashlib
import json
import os
import shutil
import subprocess
from html import escape

import pytest

import buckets
import clients
import evidence
import merging
import pages
import pruning
import serving
import storelib
import tinyupstream
import uploading

PLATFORMS = ("debian-12-x86_64", "ubuntu-22.04-x86_64")
SOON = 10


@pytest.fixture(name="store")
def store_fixture(tmp_path):
    """Two releases of mine: one on each platform. A platform without any file would count as away."""
    for platform, version in zip(PLATFORMS, ("1.0", "2.0")):
        storelib.make_wheel(tmp_path / "store" / platform / "m" / "mine", "mine", version)
        storelib.make_wheel(tmp_path / "store" / platform / "o" / "other", "other", "1.0")
    return tmp_path / "store"


def options(server):
    """Of commands over the server's catalog. The first start writes the configuration, if the test has one."""
    found = ["--catalog", server.catalog]
    return found + ["--config", server.config_path] if server.config_path.exists() else found


def status(server, store, *words, code=0):
    done = serving.run("status", *words, *([store] if store else []), *options(server))
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def page(server, view="", project="mine"):
    reply = server.get(f"{view}/simple/{project}/", {"Accept": pages.JSON})
    html = server.get(f"{view}/simple/{project}/", {"Accept": pages.HTML}).body.decode()
    if reply.status == 404:
        return None
    if server.get(f"{view}/simple/{project}/", {"Accept": pages.JSON}).body != reply.body:
        return page(server, view, project)  # it changed between the two
    found = json.loads(reply.body)
    if "project-status" in found:
        assert f'<meta name="pypi:project-status" content="{found["project-status"]["status"]}">' in html
        assert f'<meta name="pypi:project-status-reason" content="{escape(found["project-status"]["reason"])}">' in html
    assert html.count("<a href") == len(found["files"])
    return found


def state(server, view=""):
    found = page(server, view)
    return found.get("project-status", {}).get("status", "active"), len(found["files"])


def url(platform, version):
    return f"/files/{platform}/mine/mine-{version}-py3-none-any.whl"


def statuses_of(server, path):
    return {server.get(path).status, server.get(path, method="HEAD").status, server.get(path, {"Range": "bytes=0-9"}).status,
            server.get(f"{path}.metadata").status}


def of_project(server, token=None):
    reply = server.get("/-/project/mine?format=json", uploading.authorization(token))
    assert reply.status == 200, reply.body
    return json.loads(reply.body).get("status")


def test_quarantine_hides_all_and_active_ends_it(serve, store):
    server = serve(store, "--rescan", "0", config="[server]\ncontact = sec@example.org\n")
    assert state(server) == ("active", 2) and statuses_of(server, url("debian-12-x86_64", "1.0")) == {200, 206}
    said = status(server, store, "Mine", "quarantined", "--reason", "it steals <keys>")
    assert said.splitlines() == [f"{platform}: mine is quarantined" for platform in PLATFORMS]
    assert state(server) == ("quarantined", 0) and all(state(server, f"/{one}") == ("quarantined", 0) for one in PLATFORMS)
    assert page(server)["versions"] == []
    for platform, version in zip(PLATFORMS, ("1.0", "2.0")):
        serving.wait_for(lambda at=url(platform, version): statuses_of(server, at) == {403}, SOON, "the files")
    problem = json.loads(server.get(url("debian-12-x86_64", "1.0")).body)
    assert problem == {"title": "quarantined", "status": 403,
                       "detail": "quarantined: it steals <keys>; ask sec@example.org"}
    head = server.raw(f"GET {url('debian-12-x86_64', '1.0')} HTTP/1.0\r\nHost: x\r\n\r\n".encode()).split(b"\r\n")[0]
    assert head == b"HTTP/1.1 403 quarantined: it steals <keys>; ask sec@example.org"
    assert "mine" in server.get("/simple/", {"Accept": pages.JSON}).body.decode()  # it is ours
    record = json.loads((store / "debian-12-x86_64/m/mine/.status").read_text())
    assert record["status"] == "quarantined" and record["by"].startswith("user ") and record["when"].endswith("Z")
    told = server.get("/-/explain/simple/mine", {"Accept": "application/json"}).body.decode()
    assert json.loads(told)["status"]["reason"] == "it steals <keys>"
    text = serving.run("explain", "mine", *options(server), "--store", store).stdout
    assert "The project is quarantined here, so clients get none of its files: it steals <keys>" in text
    people = server.get("/-/project/mine", {"Accept": pages.HTML}).body.decode()
    assert "The project is quarantined here: it steals &lt;keys&gt;" in people
    assert of_project(server) == {"status": "quarantined", "reason": "it steals <keys>", "when": record["when"]}
    token = uploading.add_token(server, "--read")
    assert of_project(server, token)["by"] == record["by"]
    status(server, store, "mine", "active")
    assert of_project(server) is None
    assert state(server) == ("active", 2) and not (store / "debian-12-x86_64/m/mine/.status").exists()
    serving.wait_for(lambda: statuses_of(server, url("ubuntu-22.04-x86_64", "2.0")) == {200, 206}, SOON, "the files again")
    lines = [one for one in uploading.audit(server) if one["action"] == "status"]
    assert [(one["platform"], one["reason"], one["result"]) for one in lines] == [
        (platform, reason, "done") for reason in ("quarantined: it steals <keys>", "active") for platform in PLATFORMS]
    assert all(one["project"] == "mine" and one["who"].startswith("user ") for one in lines)


@pytest.mark.parametrize("word", ["archived", "deprecated"])
def test_other_statuses_hide_nothing(serve, store, word):
    server = serve(store, "--rescan", "0")
    status(server, store, "mine", word, "--reason", "use ours-2")
    assert page(server)["project-status"] == {"status": word, "reason": "use ours-2"} and state(server)[1] == 2
    assert (of_project(server)["status"], of_project(server)["reason"]) == (word, "use ours-2")
    assert server.get(url("debian-12-x86_64", "1.0")).status == 200


def test_upload_to_an_archived_or_quarantined_project_is_refused(serve, store, tmp_path):
    server = serve(store, "--rescan", "0")
    token = uploading.add_token(server, "--upload", "debian-12-x86_64")

    def upload(version):
        wheel = storelib.make_wheel(tmp_path / "built", "mine", version)
        return uploading.upload(server, "debian-12-x86_64", wheel.path, token)

    for version, word, expected in (("3.0", "archived", 410), ("3.1", "quarantined", 410), ("3.2", "deprecated", 200)):
        status(server, store, "mine", word, "--reason", "no more")
        reply = upload(version)
        assert reply.status == expected, reply.body
        assert expected == 200 or f"mine is {word} here, and takes no files: no more" in reply.body.decode()


def test_nothing_of_upstream_is_listed_under_a_quarantined_name(serve, store, index, tmp_path):
    theirs = storelib.make_wheel(tmp_path / "theirs", "mine", "9.0")
    index.add("mine", theirs)
    server = serve(store, "--rescan", "0", config=merging.config(index, shared="mine"))
    serving.wait_for(lambda: state(server)[1] == 3, SOON, "upstream's file")
    assert server.get(merging.url_of("mine", theirs.name)).status == 200
    merging.wait_until_kept(server, theirs.name)
    status(server, store, "mine", "quarantined", "--reason", "taken over")
    assert state(server) == ("quarantined", 0)
    serving.wait_for(lambda: statuses_of(server, merging.url_of("mine", theirs.name)) == {403}, SOON, "upstream's URL")
    index.is_down = True
    assert state(server) == ("quarantined", 0)
    shutil.rmtree(store / "debian-12-x86_64/m/mine", ignore_errors=False)
    serving.run("index", "--quiet", *options(server), store)
    assert state(server) == ("quarantined", 0)  # ubuntu-22.04-x86_64 has it
    index.is_down = False
    status(server, store, "mine", "active")
    serving.wait_for(lambda: state(server)[1] == 2, SOON, "the end")


def test_status_outlives_its_files_and_the_catalog(serve, store, tmp_path):
    """Also where no file is left; and a server that is started anew has it."""
    server = serve(store, "--rescan", "0")
    status(server, store, "mine", "quarantined", "--reason", "bad")
    for wheel in store.glob("*/m/mine/*.whl"):
        wheel.unlink()
    serving.run("index", "--quiet", *options(server), store)
    assert page(server) is None  # nothing is here, and nothing is merged
    storelib.make_wheel(store / "debian-12-x86_64" / "m" / "mine", "mine", "3.0")
    serving.run("index", "--quiet", *options(server), store)
    assert state(server) == ("quarantined", 0)
    again = serve(store, state=tmp_path / "anew")
    assert state(again) == ("quarantined", 0) and again.get(url("debian-12-x86_64", "3.0")).status == 403


@pytest.mark.parametrize("text, why", [("", "quarantined"), ('{"status": "frozen", "reason": ""}', "frozen"),
                                       ('{"reason": "no status"}', "status"), ('{"status": "archived"', "JSON")])
def test_status_that_cannot_be_read_withdraws_the_project_and_is_named(serve, store, text, why):
    del why
    server = serve(store, "--rescan", "0")
    (store / "ubuntu-22.04-x86_64/m/mine/.status").write_text(text)
    done = serving.run("index", *options(server), store)
    assert "ubuntu-22.04-x86_64/m/mine/.status: " in done.stdout + done.stderr
    assert page(server)["project-status"] == {"status": "quarantined", "reason": "its .status cannot be read"}
    assert state(server, "/debian-12-x86_64") == ("active", 1)

    def doctor():
        done = serving.run("doctor", "--json", *options(server), store)
        return [one["found"] for one in json.loads(done.stdout)["rows"] if one["what"] == "status" and one["level"] == "wrong"]

    def health():
        found = json.loads(server.get("/-/health").body)
        return found["status"], {one["name"]: one["status-error"] for one in found["platforms"] if one.get("damaged-statuses") == 1}

    (row,) = doctor()
    assert row.startswith("platform ubuntu-22.04-x86_64: m/mine/.status: ") and row.endswith(
        "mine is in quarantine there until it can be read")
    serving.wait_for(lambda: health()[0] == "degraded", SOON, "the health")
    assert health()[1] == {"ubuntu-22.04-x86_64": row.removeprefix("platform ubuntu-22.04-x86_64: ")}
    assert row in server.errors()
    status(server, store, "mine", "archived", "--reason", "mended")
    assert state(server) == ("archived", 2) and doctor() == []
    serving.wait_for(lambda: health() == ("ok", {}), SOON, "the end")


def test_file_by_hand_is_followed_and_one_of_no_project_means_nothing(serve, store):
    server = serve(store)
    (store / "debian-12-x86_64/.status").write_text("of no project")
    (store / "debian-12-x86_64/m/mine/.status").write_text(json.dumps({"status": "deprecated", "reason": "by hand"}))
    serving.wait_for(lambda: state(server) == ("deprecated", 2), 60, "the watch")
    (store / "debian-12-x86_64/m/mine/.status").unlink()
    serving.wait_for(lambda: state(server) == ("active", 2), 60, "its end")
    assert state(server, "/debian-12-x86_64") == ("active", 1)


def test_static_export_has_it(serve, store, tmp_path):
    server = serve(store, "--rescan", "0")

    def export():
        words = ("index", "--quiet", *options(server), "--static", tmp_path / "tree", store)
        assert serving.run(*words).returncode == 0
        text = (tmp_path / "tree/simple/mine/index.json").read_bytes()
        assert text == server.get("/simple/mine/", {"Accept": pages.JSON}).body
        return json.loads(text), sorted(one.name for one in (tmp_path / "tree/files").rglob("mine-*"))

    assert len(export()[1]) == 4
    status(server, store, "mine", "quarantined", "--reason", "bad")
    found, files = export()
    assert found["project-status"]["status"] == "quarantined" and files == []
    status(server, store, "mine", "active")
    assert len(export()[1]) == 4


def test_missing_builds_nothing_of_it(serve, store, tmp_path):
    (tmp_path / "requirements.txt").write_text("mine==2.0\n")
    config = f"[store]\npath = {store}\n[branch main]\nrequirements = {tmp_path}/requirements.txt\n"
    server = serve(None, "--rescan", "0", config=config)

    def wanted():
        done = serving.run("missing", "--json", "--all", "--offline", *options(server))
        assert done.returncode == 0, done.stderr
        return sorted((one["platform"], one["status"], one["why"]) for one in json.loads(done.stdout)["rows"])

    assert ("ubuntu-22.04-x86_64", "here", "mine-2.0-py3-none-any.whl") in wanted()
    status(server, None, "mine", "quarantined", "--reason", "bad")
    assert {one[1:] for one in wanted()} == {("skipped", "it is quarantined: bad")}


def test_locked_file_of_it_is_missing(serve, store, index, tmp_path):
    """By name and by hash, ours and upstream's; with the reason, also in what a mirror would lack."""
    theirs = storelib.make_wheel(tmp_path / "theirs", "mine", "9.0")
    index.add("mine", theirs)
    config = (f"[store]\npath = {store}\n" + "".join(f"[platform {one}]\npythons = 3.12\n" for one in PLATFORMS) +
              merging.config(index, shared="mine"))
    server = serve(None, "--rescan", "0", config=config)
    ours = hashlib.sha256((store / PLATFORMS[1] / "m/mine/mine-2.0-py3-none-any.whl").read_bytes()).hexdigest()
    locks = {"ours.txt": f"mine==2.0 --hash=sha256:{ours}\n",
             "theirs.txt": f"mine==9.0 --hash=sha256:{theirs.sha256}\n",
             "pylock.toml": 'lock-version = "1.0"\n[[packages]]\nname = "mine"\nversion = "9.0"\n[[packages.wheels]]\n'
                            f'name = "{theirs.name}"\nhashes = {{sha256 = "{theirs.sha256}"}}\n'}
    for name, text in locks.items():
        (tmp_path / name).write_text(text)

    def rows(lock):
        done = serving.run("missing", "--json", "--platform", PLATFORMS[1], "--lock", tmp_path / lock, *options(server))
        assert done.returncode == 0, done.stderr
        return {(one["status"], one["why"]) for one in json.loads(done.stdout)["rows"]}

    assert rows("ours.txt") == {("here", "")}
    assert rows("theirs.txt") == rows("pylock.toml") == {("upstream", "")}
    status(server, None, "mine", "quarantined", "--reason", "bad")
    for lock in locks:
        assert rows(lock) == {("missing", "it is quarantined: bad")}
    done = serving.run("mirror", "plan", "app", "--lock", tmp_path / "theirs.txt", *options(server))
    assert done.returncode == 1 and "it is quarantined: bad" in done.stdout, done.stdout + done.stderr


def test_prune_removes_nothing_that_upstream_has_under_the_name(tmp_path):
    with tinyupstream.running() as upstream:
        site = pruning.Pruned(tmp_path, upstream)
        assert sum(one["removes"] for one in site.plan()["files"]) == 4
        site.tool("status", "six", "quarantined", "--reason", "bad")
        assert not [one for one in site.plan()["files"] if one["removes"]]
        site.tool("status", "six", "deprecated", "--reason", "old")
        plan = site.plan()
        assert sum(one["removes"] for one in plan["files"]) == 4
        site.apply()
        assert json.loads((site.folder_of() / ".status").read_text())["status"] == "deprecated"
        site.purge()
        site.tool("index", "--quiet")
        assert json.loads((site.folder_of() / ".status").read_text())["status"] == "deprecated"


def test_store_in_a_bucket(serve, tmp_path, monkeypatch):
    for name, value in buckets.KEYS.items():
        monkeypatch.setenv(name, value)
    bucket = buckets.Small()
    try:
        storelib.make_wheel(tmp_path / "tree" / "debian-12-x86_64" / "m" / "mine", "mine", "1.0")
        bucket.put_tree(tmp_path / "tree")
        server = serve(config=bucket.config())
        status(server, None, "mine", "quarantined", "--reason", "bad")
        assert "debian-12-x86_64/m/mine/.status" in bucket.keys() and state(server) == ("quarantined", 0)
        again = serve(config=bucket.config(), state=tmp_path / "anew")
        assert state(again) == ("quarantined", 0)
        status(server, None, "mine", "active")
        assert "debian-12-x86_64/m/mine/.status" not in bucket.keys() and state(server) == ("active", 1)
        serving.wait_for(lambda: state(again) == ("active", 1), 60, "the scan")
    finally:
        bucket.stop()


@pytest.mark.parametrize("words, says", [
    ((), "give PROJECT"), (("mine",), "give PROJECT"), (("mine", "frozen", "--reason", "x"), "there is no status"),
    (("mine", "archived"), "--reason TEXT is missing"), (("mi ne", "active"), "is no name of a project"),
    (("mine", "archived", "--reason", "x" * 1100), "longer than")])
def test_mistakes(store, words, says):
    done = serving.run("status", *words, "--catalog", store.parent / "none.db")
    assert done.returncode in (1, 2) and says in done.stderr, done.stderr


def test_name_that_is_nowhere_is_refused(serve, store):
    server = serve(store, "--rescan", "0")
    assert "no platform has, or had, a project none" in status(server, store, "none", "quarantined", "--reason", "x", code=1)


def test_frozen_platform_is_refused_and_the_others_are_not(serve, store):
    server = serve(store, "--rescan", "0")
    words = (*options(server), "--store", store)
    assert serving.run("freeze", "ubuntu-22.04-x86_64", *words).returncode == 0
    assert "frozen" in status(server, store, "mine", "quarantined", "--reason", "x", code=1)
    assert state(server, "/debian-12-x86_64") == ("quarantined", 0) and state(server) == ("quarantined", 0)
    assert state(server, "/ubuntu-22.04-x86_64") == ("active", 1)


@pytest.mark.parametrize("client, words", [("pip==22.0.4", ["python", "-m", "pip", "download", "--no-deps"]),
                                           ("pip==26.3", ["python", "-m", "pip", "download", "--no-deps"]),
                                           ("uv==0.13.9", ["uv", "pip", "install", "--target", "into", "--no-deps"])])
def test_clients_get_none_and_the_reason_by_url(serve, store, tmp_path, client, words):
    server = serve(store, "--rescan", "0")
    status(server, store, "mine", "quarantined", "--reason", "it steals keys")
    program = clients.environment(client) / "bin" / words[0]
    for wanted, says in (("mine", "mine"), (f"mine @ {server.url}{url('debian-12-x86_64', '1.0')}", "quarantined: it steals keys")):
        done = subprocess.run([str(program), *words[1:], "--index-url", f"{server.url}/simple/", wanted], cwd=tmp_path,
                              env=clients.clean_environment(tmp_path), capture_output=True, text=True, check=False, timeout=120)
        assert done.returncode != 0 and says in done.stdout + done.stderr


def ask(server, token, *words, code=0):
    """The command, in an environment that has the token, and with no store."""
    environment = os.environ | {"WHEELCACHE_TOKEN": token}
    done = serving.run("status", "--server", f"{server.url}/", *words, env=environment)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_server_sets_it_for_a_token_that_may_yank(serve, store):
    server = serve(store, "--rescan", "0")
    token = uploading.add_token(server, "--right", "yank", "--note", "team", "--project", "mine")
    assert ask(server, token, "Mine", "quarantined", "--reason", "it steals keys").splitlines() == [
        f"{platform}: mine is quarantined" for platform in PLATFORMS]
    assert state(server) == ("quarantined", 0) and page(server)["project-status"]["reason"] == "it steals keys"
    assert json.loads((store / PLATFORMS[0] / "m/mine/.status").read_text())["by"] == "team"
    assert ask(server, token, "mine", "active", "--quiet") == "" and state(server) == ("active", 2)
    lines = [one for one in uploading.audit(server) if one["action"] == "status"]
    assert [(one["who"], one["peer"], one["result"], one["reason"]) for one in lines] == [
        ("team", "127.0.0.1", "done", reason) for reason in ("quarantined: it steals keys", "active") for _ in PLATFORMS]
    assert "may not" in ask(server, token, "other", "archived", "--reason", "x", code=1)
    assert "no platform has, or had, a project none" in ask(server, uploading.add_token(server, "--right", "yank"), "none", "archived",
                                                            "--reason", "x", code=1)


def test_server_sets_it_nowhere_if_the_token_may_not_on_one_platform(serve, store):
    """A platform that never had the project stays as it is; a right of another kind sets none."""
    storelib.make_wheel(store / PLATFORMS[1] / "o" / "only", "only", "1.0")
    server = serve(store, "--rescan", "0")
    token = uploading.add_token(server, "--right", "yank", "--platform", PLATFORMS[1])
    assert f"platform {PLATFORMS[0]}: the token may not" in ask(server, token, "mine", "archived", "--reason", "x", code=1)
    assert not list(store.rglob(".status"))
    assert ask(server, token, "only", "archived", "--reason", "x") == f"{PLATFORMS[1]}: only is archived\n"
    assert [one.parent.name for one in store.rglob(".status")] == ["only"]
    for other in (uploading.add_token(server, "--upload", PLATFORMS[0]), uploading.add_token(server, "--read"), "wc_wrong"):
        ask(server, other, "mine", "archived", "--reason", "x", code=1)
    assert serving.run("freeze", PLATFORMS[1], *options(server), "--store", store).returncode == 0
    assert "frozen" in ask(server, token, "only", "active", code=1)


@pytest.mark.parametrize("document, says", [
    ({"status": "archived", "reason": "x"}, "is no name of a project"), ({"project": "a b", "status": "archived"}, "is no name of a project"),
    ({"project": "mine"}, "\"status\" is missing"), ({"project": "mine", "status": "gone"}, "there is no status"),
    ({"project": "mine", "status": "archived"}, "the reason is missing"), ({"project": "mine", "status": "archived", "reason": 5}, "reason"),
    ({"project": "mine", "status": "archived", "reason": "x", "platform": "y"}, "platform")])
def test_wrong_requests(serve, store, document, says):
    server = serve(store, "--rescan", "0")
    reply = evidence.post(server, "/-/status/", document, uploading.add_token(server, "--right", "yank"))
    assert reply.status == 400 and says in json.loads(reply.body)["message"], reply.body
    assert not list(store.rglob(".status"))
