# SPDX-License-Identifier: Apache-2.0
"""wheelcache log: who did what to which file."""
import datetime
import json

import pytest

import serving
import storelib
import uploading

PLATFORM = "ubuntu-22.04-x86_64"


@pytest.fixture(name="log")
def log_fixture(serve, tmp_path):
    """Runs it for a server whose log has moved files: two uploads of ci, one that is refused, and a yank of an account."""
    storelib.make_wheel(tmp_path / "store" / PLATFORM / "f", "foo", "1.0")
    server = serve(config=f"[store]\npath = {tmp_path}/store\n[change-log]\nmax-size = 4096\n")
    token = uploading.add_token(server, "--note", "ci \x9b31m")
    for name in ("bar", "my-demo"):
        made = storelib.make_wheel(tmp_path / "dist", name, "1.0")
        assert uploading.upload(server, PLATFORM, made.path, token).status == 200
    assert uploading.upload(server, PLATFORM, made.path, token, name="another").status == 400
    for number in range(20):
        done = serving.run("freeze" if number % 2 else "thaw", "--config", server.config_path, "--catalog", server.catalog,
                           "--reason", "x" * 200) if number % 2 else \
            serving.run("thaw", "--config", server.config_path, "--catalog", server.catalog)
        assert done.returncode == 0, done.stderr
    assert len(list(server.catalog.parent.glob(f"{server.catalog.name}.audit*"))) > 1

    def run(*words, code=0):
        done = serving.run("log", *words, "--config", server.config_path, "--catalog", server.catalog)
        assert done.returncode == code and (code or not done.stderr), done.stderr
        return done.stdout if code == 0 else done.stderr
    return run


def rows(text):
    return [json.loads(line) for line in text.splitlines()]


def test_log_names_who_did_what(log):
    whole = rows(log("--json"))
    assert [one["time"] for one in whole] == sorted(one["time"] for one in whole) and len(whole) == 24
    assert [(one["who"], one["action"], one["result"]) for one in rows(log("bar", "--json"))] == [("ci \x9b31m", "upload", "done")]
    name = "my_demo-1.0-py3-none-any.whl"
    assert [one["result"] for one in rows(log(name, "--json"))] == ["done", "refused"]
    assert {one["file"] for one in rows(log("My.Demo", "--json"))} == {name}
    text = log(f"some/folder/{name}")
    assert "ci ?31m from 127.0.0.1: upload " + PLATFORM + " " + name + ": done\n" in text and "\x9b" not in text
    assert log("nothing") == ""


def test_since_leaves_out_what_was_before(log):
    day = datetime.timedelta(days=1)
    now = datetime.datetime.now(datetime.timezone.utc)
    for since, count in (("1d", 24), ((now - day).strftime("%Y-%m-%d"), 24), ((now + day).strftime("%Y-%m-%dT%H:%M:%SZ"), 0)):
        assert len(rows(log("--json", "--since", since))) == count, since
    last = rows(log("--json"))[-1]["time"]
    assert [one["time"] for one in rows(log("--json", "--since", last[:19] + "Z"))][-1] == last
    assert "--since: yesterday is neither" in log("--since", "yesterday", code=2)
    assert "at most one FILE or PROJECT" in log("a", "b", code=2)
    assert "not a valid project name" in log("<b>", code=2)


def test_explain_names_the_uploader(serve, tmp_path):
    """On the machine; an anonymous client of the server is not told."""
    made = storelib.make_wheel(tmp_path / "dist", "bar", "1.0")
    storelib.make_wheel(tmp_path / "store" / PLATFORM / "f", "foo", "1.0")
    server = serve(config=f"[store]\npath = {tmp_path}/store\n")
    token = uploading.add_token(server, "--note", "ci \x9b31m")
    assert uploading.upload(server, PLATFORM, made.path, token).status == 200
    for project, who in (("bar", "ci ?31m"), ("foo", None)):
        done = serving.run("explain", project, "--config", server.config_path, "--catalog", server.catalog)
        assert done.returncode == 0 and not done.stderr, done.stderr
        assert (f"uploaded by {who} at 2" in done.stdout) if who else ("uploaded by" not in done.stdout), done.stdout
        assert "\x9b" not in done.stdout
    done = serving.run("explain", "bar", "--json", "--config", server.config_path, "--catalog", server.catalog)
    (row,) = json.loads(done.stdout)["here"]
    assert row["uploaded_by"] == "ci \x9b31m" and row["uploaded"].endswith("Z")
    reply = server.get("/-/explain/simple/bar", {"Accept": "application/json"})
    assert reply.status == 200 and b"uploaded_by" not in reply.body
