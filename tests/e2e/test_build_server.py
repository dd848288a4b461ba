# SPDX-License-Identifier: Apache-2.0
"""`wheelcache build --from`: a builder without a store, and the server that it asks and feeds."""
import contextlib
import http.server
import json
import os
import signal
import socket
import subprocess
import threading
import time

import building
import pytest
import serving
import uploading
from building import PLATFORM, states

OTHER = "ubuntu-22.04-x86_64"


@pytest.fixture
def fed(tmp_path):
    """The world of the server."""
    (tmp_path / "server").mkdir()
    with building.world(tmp_path / "server") as made:
        made.keys[f"platform {OTHER}"] = {"pythons": "3.10"}
        (made.store / OTHER).mkdir()
        made.keys["view both"] = {"platforms": f"{PLATFORM} {OTHER}"}
        made.keys["view other"] = {"platforms": OTHER}
        yield made


@pytest.fixture
def servers():
    started = []
    yield started
    for server in started:
        server.stop()


def start(fed, servers):
    servers.append(building.serve(fed))
    return servers[-1]


def builder_of(fed, server, name="builder", token=None):
    folder = fed.folder.parent / name
    folder.mkdir()
    return building.Builder(folder, fed, server, token or uploading.add_token(server, "--platform", PLATFORM))


def sent(server):
    """The results that the server has: {"NAME PYTHON": [result]}, the oldest first."""
    done = serving.run("builds", "--json", "--config", server.config_path)
    found = {}
    for one in reversed(json.loads(done.stdout)["attempts"]):
        found.setdefault(f"{one['project']} {one['python']}", []).append(one["result"])
    return found


def test_a_builder_feeds_its_server(fed, servers):
    fed.want("alpha", tag="cp311-abi3-linux_x86_64")
    fed.want("beta", fails=["3.12"])
    server = start(fed, servers)
    builder = builder_of(fed, server)
    report = builder.build(code=1)
    assert states(report) == {"alpha 3.11": "ok", "alpha 3.12": "covered", "alpha 3.13": "covered",
                              "beta 3.11": "ok", "beta 3.12": "failed", "beta 3.13": "ok"}
    assert report["unsent"] == 0 and builder.token not in builder.errors
    page = server.get(f"/{PLATFORM}/simple/alpha/").body.decode()
    assert "alpha-1.0-cp311-abi3-linux_x86_64.whl" in page
    assert sent(server) == {"alpha 3.11": ["ok"], "beta 3.11": ["ok"], "beta 3.12": ["failed"], "beta 3.13": ["ok"]}
    failed = next(row for row in report["rows"] if row["state"] == "failed")["attempt"]["id"]
    log = server.get(f"/-/builds/beta/{failed}").body.decode()
    assert "makes beta" in log
    # The pause holds for every builder with the same commands. One with others tries it, once.
    other = builder_of(fed, server, "other")
    own = other.keys["build"]["build"]
    other.keys["build"]["build"] = builder.keys["build"]["build"]
    assert states(other.build()) == {"beta 3.12": "left-out"} and other.runs() == []
    other.keys["build"]["build"] = own
    assert states(other.build(code=1)) == {"beta 3.12": "failed"}
    assert states(builder.build()) == {"beta 3.12": "left-out"}


@pytest.mark.parametrize("tag, differs, state", [
    ("py3-none-any", False, "ok"), ("cp311-abi3-linux_x86_64", False, "ok"), ("cp311-abi3-linux_x86_64", True, "not-missing")])
def test_two_jobs_that_build_the_same_wheel(fed, servers, tag, differs, state):
    """A job for each Python. The wheel of the faster one serves both, and no job has failed."""
    fed.want("alpha", tag=tag, differs=differs)
    server = start(fed, servers)
    slow, fast = builder_of(fed, server, "slow"), builder_of(fed, server, "fast")
    slow.write()
    (slow.folder / "hold").touch()
    with slow.running("--python", "3.12", env={"WHEELCACHE_TOKEN": slow.token}) as build:
        serving.wait_for(slow.runs, 30, "the slow job")
        assert states(fast.build("--python", "3.11")) == {"alpha 3.11": "ok"}
        time.sleep(2.1)  # the times of members count in 2 s: the bytes differ
        (slow.folder / "hold").unlink()
        assert build.wait(60) == 0
    assert states(json.loads((slow.folder / "stdout.txt").read_text())) == {"alpha 3.12": state}
    assert sent(server) == {"alpha 3.11": ["ok"], "alpha 3.12": ["ok"]}
    assert len(fed.wheels()) == 1
    failing = serving.run("builds", "--failed", "--json", "--config", server.config_path)
    assert json.loads(failing.stdout)["attempts"] == []


@pytest.mark.parametrize("token", [None, "wc_wrong", ""])
def test_a_token_without_the_right_is_refused_before_anything_runs(fed, servers, token):
    fed.want("alpha")
    server = start(fed, servers)
    if token is None:
        token = uploading.add_token(server, "--platform", OTHER)
    builder = builder_of(fed, server, token=token or " ")
    builder.token = token
    builder.build("--dry-run")
    builder.build(code=1)
    assert "40" in builder.errors and builder.runs() == [] and not (token and token in builder.errors)


def test_a_token_that_is_revoked_meanwhile_stops_the_build(fed, servers):
    fed.want("alpha", "beta", "gamma")
    server = start(fed, servers)
    builder = builder_of(fed, server)
    (builder.folder / "hold").touch()
    with builder.running("--python", "3.11", env={"WHEELCACHE_TOKEN": builder.token}) as build:
        serving.wait_for(builder.runs, 30, "the build command")
        listed = json.loads(serving.run("token", "list", "--json", "--config", server.config_path,
                                        "--catalog", server.catalog).stdout)
        revoked = serving.run("token", "revoke", listed["tokens"][0]["id"], "--config", server.config_path,
                              "--catalog", server.catalog)
        assert revoked.returncode == 0, revoked.stderr
        (builder.folder / "hold").unlink()
        assert build.wait(60) == 1
    report = json.loads((builder.folder / "stdout.txt").read_text())
    assert list(states(report).values()).count("ready") == 2 and "no more rows" in report["stopped"]
    assert (builder.folder / "stderr.txt").read_text().count("takes no results") == 1 and fed.wheels() == []


def test_results_wait_for_a_server_that_is_away(fed, servers):
    fed.want("alpha")
    fed.plan["alpha"] = {"fails": ["3.11"]}
    server = start(fed, servers)
    builder = builder_of(fed, server)
    (builder.folder / "hold").touch()
    with builder.running("--python", "3.11", env={"WHEELCACHE_TOKEN": builder.token}) as build:
        serving.wait_for(builder.runs, 30, "the build command")
        servers.pop().stop()
        (builder.folder / "hold").unlink()
        assert build.wait(60) == 1
    assert json.loads((builder.folder / "stdout.txt").read_text())["unsent"] == 1
    builder.server = server = start(fed, servers)
    report = builder.build("--python", "3.11")
    assert states(report) == {"alpha 3.11": "left-out"} and report["unsent"] == 0
    assert sent(server) == {"alpha 3.11": ["failed"]}


@pytest.mark.parametrize("lines", [10, 5_500_000])
def test_a_log_that_json_cannot_have_or_that_is_too_long(fed, servers, lines, monkeypatch):
    """NUL and bytes that are not UTF-8 are replaced; of what a server does not take the end is sent. The program has no
    sanitizers, with which 22 MB of such bytes take a minute and a half."""
    monkeypatch.setenv("WHEELCACHE", os.environ.get("WHEELCACHE_OPTIMISED") or serving.binary())
    fed.want("alpha")
    server = start(fed, servers)
    builder = builder_of(fed, server)
    builder.keys["build"]["log-size"] = "60M"
    builder.plan["alpha"] = {"fails": ["3.11"], "prints": lines}
    report = builder.build("--python", "3.11", code=1)
    assert report["unsent"] == 0
    log = server.get(f"/-/builds/alpha/{report['rows'][0]['attempt']['id']}").body.decode()
    assert log.count("a??\n") >= min(lines, 700_000) and "a??\n" * 10 in log
    assert ("--- The beginning of this log" in log) == (lines > 10)


def test_a_server_that_comes_back_soon_is_asked_again(fed, servers):
    fed.want("alpha", "beta")
    server = start(fed, servers)
    builder = builder_of(fed, server)
    builder.plan["alpha"] = {"fails": ["3.11"]}
    (builder.folder / "hold").touch()
    with builder.running("--python", "3.11", env={"WHEELCACHE_TOKEN": builder.token}) as build:
        serving.wait_for(builder.runs, 30, "the build command")
        servers.pop().stop()
        (builder.folder / "hold").unlink()
        serving.wait_for(lambda: "could not be sent" in (builder.folder / "stderr.txt").read_text(), 30, "a failure")
        servers.append(serving.Server(None, fed.folder, listen=f"127.0.0.1:{server.port}", config=fed.config()))
        assert build.wait(60) == 1
    report = json.loads((builder.folder / "stdout.txt").read_text())
    assert states(report) == {"alpha 3.11": "failed", "beta 3.11": "ok"} and report["unsent"] == 0


def test_shards_never_build_the_same(fed, servers):
    names = [f"project-{one}" for one in "abcdef"]
    fed.want(*names, tag="py3-none-any")
    server = start(fed, servers)
    builders = [builder_of(fed, server, f"builder-{k}") for k in (1, 2)]
    processes = [subprocess.Popen(one.command("--shard", f"{k}/2", "--quiet"), stderr=subprocess.PIPE,
                                  env={**one.env, "WHEELCACHE_TOKEN": one.token})
                 for k, one in enumerate(builders, 1)]
    assert [one.wait(120) for one in processes] == [0, 0]
    for one in processes:
        one.stderr.close()
    runs = [set(one.runs()) for one in builders]
    assert runs[0] and runs[1] and not runs[0] & runs[1] and runs[0] | runs[1] == {f"{one} 3.11" for one in names}


@pytest.mark.parametrize("path, code, words", [
    (f"{PLATFORM}/simple/", 2, f"holds {PLATFORM}"),
    ("both/simple/", 2, f"holds {PLATFORM}"),
    ("simple/", 2, f"holds {PLATFORM}"),
    ("nowhere/simple/", 2, "is not known"),
    ("other/simple/", 0, ""),
    (f"{OTHER}/simple/", 0, ""),
])
def test_the_index_of_builds_does_not_hold_the_platform(fed, servers, path, code, words):
    fed.want("alpha")
    server = start(fed, servers)
    builder = builder_of(fed, server)
    builder.keys["build"]["index"] = f"{server.url}/{path}"
    builder.build("--dry-run", code=code)
    assert words in builder.errors and "nobody knows" not in builder.errors
    builder.keys["build"]["index-holds-platform"] = "yes"
    builder.build("--dry-run")


def test_of_an_index_elsewhere_nobody_knows(fed, servers):
    fed.want("alpha")
    builder = builder_of(fed, start(fed, servers))
    builder.build("--dry-run")
    assert "nobody knows" in builder.errors


def test_an_own_store_is_not_the_index_of_its_builds(fed):
    fed.want("alpha")
    fed.keys["server"] = {"url": "http://wheels.example/cache/"}
    for path, code in (("other/simple/", 0), ("both/simple", 2), ("simple/", 2), (f"{PLATFORM}/simple/", 2)):
        fed.keys["build"]["index"] = f"http://wheels.example/cache/{path}"
        fed.build("--dry-run", code=code)


def test_an_unknown_platform_of_the_server(fed, servers):
    fed.want("alpha")
    builder = builder_of(fed, start(fed, servers))
    builder.build(platform="centos-9-x86_64", code=2)


def test_what_was_sent_names_no_folder_of_a_builder_beside_the_server(fed, servers):
    """Whoever may send results may call one of them running, and name any folder as its place."""
    fed.want("alpha")
    server = start(fed, servers)
    token = uploading.add_token(server, "--platform", PLATFORM, "--project", "other")
    sent_id, folder = "ab" * 16, fed.folder / "project"
    (folder / sent_id).mkdir(parents=True)
    (folder / sent_id / "log").write_text("a secret")
    (fed.folder / "project.lock").write_text("whose is it?")
    document = {"id": sent_id, "platform": PLATFORM, "python": "3.11", "project": "other", "version": "1.0",
                "result": "running", "step": "", "why": "",
                "begun": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "seconds": 0,
                "peak_memory": 0, "files": [], "sdist": None, "awaiting": [], "recipe": "",
                "builder": socket.gethostname(), "provenance": {"work": str(folder)}}
    with contextlib.closing(server.connect()) as connection:
        connection.request("POST", f"/-/builds/{PLATFORM}/", json.dumps(document),
                           {"Content-Type": "application/json", **uploading.authorization(token)})
        assert connection.getresponse().status == 200
    assert set(states(fed.build()).values()) == {"ok"}
    assert (fed.folder / "project.lock").read_text() == "whose is it?"
    assert sent(server)["other 3.11"] == ["running"]
    assert server.get(f"/-/builds/other/{sent_id}").status == 404


def test_the_token_is_nowhere_in_the_build(fed, servers):
    fed.want("alpha")
    server = start(fed, servers)
    builder = builder_of(fed, server)
    (builder.folder / "hold").touch()
    with builder.running("--python", "3.11", env={"WHEELCACHE_TOKEN": builder.token}) as build:
        serving.wait_for(builder.runs, 30, "the build command")
        try:
            with open(f"/proc/{build.pid}/environ", "rb") as environ:  # root may read it; the token is wiped
                assert builder.token.encode() not in environ.read()
        except PermissionError:
            assert os.getuid() != 0  # the builder is not dumpable, so the account itself may not
        build.send_signal(signal.SIGTERM)
        assert build.wait(30) == 1
    for path in builder.folder.rglob("*"):
        if path.is_file():
            assert builder.token.encode() not in path.read_bytes(), path


BACKEND = '''
import base64, hashlib, os, sysconfig, zipfile

def get_requires_for_build_wheel(config_settings=None):
    return []

def build_wheel(directory, config_settings=None, metadata_directory=None):
    cp = f"cp{sysconfig.get_config_var('py_version_nodot')}"
    tag = f"{cp}-{cp}-linux_{os.uname().machine}"
    files = {"made_by_pip.py": "answer = 42\\n",
             "made_by_pip-1.0.dist-info/METADATA": "Metadata-Version: 2.1\\nName: made-by-pip\\nVersion: 1.0\\n",
             "made_by_pip-1.0.dist-info/WHEEL": f"Wheel-Version: 1.0\\nGenerator: t\\nRoot-Is-Purelib: false\\nTag: {tag}\\n"}
    record = ""
    for path, text in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode().rstrip("=")
        record += f"{path},sha256={digest},{len(text)}\\n"
    files["made_by_pip-1.0.dist-info/RECORD"] = record + "made_by_pip-1.0.dist-info/RECORD,,\\n"
    name = f"made_by_pip-1.0-{tag}.whl"
    with zipfile.ZipFile(os.path.join(directory, name), "w") as wheel:
        for path, text in files.items():
            wheel.writestr(path, text)
    return name
'''


def test_pip_builds_and_the_server_publishes(fed, servers):
    """The built-in commands: a virtual environment, pip wheel, an installation, an import."""
    python = subprocess.run(["/usr/bin/python3", "-c", "import sys; print('%d.%d' % sys.version_info[:2])"],
                            capture_output=True, text=True, check=True).stdout.strip()
    fed.keys[f"platform {PLATFORM}"] = {"pythons": python, "libc": "glibc 2.36"}
    fed.want("made-by-pip", files={
        "backend.py": BACKEND,
        "pyproject.toml": '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'})
    server = start(fed, servers)
    builder = builder_of(fed, server)
    for key in ("build", "test"):
        del builder.keys["build"][key]
    report = builder.build()
    tag = f"cp{python.replace('.', '')}"
    assert [row["attempt"]["wheel"] for row in report["rows"]] == [f"made_by_pip-1.0-{tag}-{tag}-linux_x86_64.whl"]
    client = builder.folder / "client"  # the machine's own Python may have no pip
    subprocess.run(["/usr/bin/python3", "-m", "venv", client], check=True)
    found = subprocess.run([client / "bin/python", "-m", "pip", "download", "--no-deps", "--isolated", "--index-url",
                            f"{server.url}/{PLATFORM}/simple/", "-d", builder.folder / "got", "made-by-pip"],
                           capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    assert builder.build()["rows"] == []


ROW = {"platform": PLATFORM, "python": "3.11", "project": "alpha", "version": "1.0", "status": "missing",
       "why": "no wheel", "branches": [], "attempts": None,
       "sdist": {"filename": "alpha-1.0.tar.gz", "url": "http://127.0.0.1:1/alpha-1.0.tar.gz", "sha256": "0" * 64,
                 "size": 1}}


def answer_with(**row):
    return json.dumps({"made": "2026-11-22T20:00:00Z", "branches": [], "totals": {}, "rows": [{**ROW, **row}],
                       "environments": [{"platform": row.get("platform", PLATFORM), "python": "3.11", "totals": {}}]})


@pytest.fixture
def liar():
    """A server that answers every request with `text` and `status`; None: it never answers."""
    class Handler(http.server.BaseHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def do_GET(self):
            if self.server.text is None:
                self.server.end.wait(60)
                return
            body = self.server.text.encode()
            self.send_response(self.server.status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.text, server.status, server.end = "", 200, threading.Event()
    server.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield server
    server.end.set()
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.mark.parametrize("text, status, words", [
    ("", 200, "-/missing/"),
    ("<html>", 200, "-/missing/"),
    ("[]", 200, "-/missing/"),
    (answer_with(platform=OTHER), 200, f"is about {OTHER}"),
    (answer_with(project="../x"), 200, "project"),
    (answer_with(python="four"), 200, "python"),
    (answer_with(sdist={**ROW["sdist"], "url": "file:../../etc/passwd"}), 200, "sdist"),
    ("moved", 302, "302"),
    ("gone", 410, "410"),
])
def test_a_server_that_lies_is_an_error(fed, liar, text, status, words):
    liar.text, liar.status = text, status
    builder = building.Builder(builder_folder(fed), fed, liar, "wc_token")
    assert builder.build(code=1) is None
    assert words in builder.errors and builder.runs() == []


def builder_folder(fed):
    folder = fed.folder.parent / "builder"
    folder.mkdir()
    return folder


def test_a_server_that_never_answers_does_not_hold_up_the_end(fed, liar):
    liar.text = None
    builder = building.Builder(builder_folder(fed), fed, liar, "")
    with builder.running("--dry-run") as build:
        with pytest.raises(subprocess.TimeoutExpired):
            build.wait(2)
        build.send_signal(signal.SIGTERM)
        assert build.wait(10) == 1
