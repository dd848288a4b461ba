# SPDX-License-Identifier: Apache-2.0
"""wheelcache push, to a server that fails in all the ways of a network."""
import contextlib
import io
import json
import os
import socket
import subprocess
import tarfile
import threading

import pytest

import serving
import storelib
import uploadserver
from indexing import on_terminal
from uploadserver import answer, cut, take_and_answer, take_and_die

TOKEN = "wc_secret-0123456789"


@contextlib.contextmanager
def running(*arguments, **options):
    server = uploadserver.Server(*arguments, **options)
    try:
        yield server
    finally:
        server.stop()


@pytest.fixture(name="server")
def server_fixture():
    with running() as server:
        yield server


def environment(tmp_path, **more):
    """Without the settings of the user who runs the tests: no token, no netrc, no proxy."""
    kept = {k: v for k, v in os.environ.items()
            if not k.lower().endswith("_proxy") and k not in ("WHEELCACHE_TOKEN", "NETRC")}
    return kept | {"HOME": str(tmp_path)} | more


@pytest.fixture(name="push")
def push_fixture(server, tmp_path):
    """push(files, *options) runs it with --json and returns (exit code, summary, standard error)."""
    def run(files, *options, to=None, **more):
        done = serving.run("push", *files, "--to", to or server.url, "--json", *options,
                           env=environment(tmp_path, **more))
        return done.returncode, json.loads(done.stdout) if done.stdout else None, done.stderr
    return run


def wheels(folder, count, **parts):
    return [storelib.make_wheel(folder, f"demo{i}", "1.0", **parts) for i in range(count)]


def results(summary):
    return [one["result"] for one in summary["files"]]


def test_files_are_published_and_a_second_run_sends_nothing(server, push, tmp_path):
    made = wheels(tmp_path, 6)
    server.token = TOKEN
    code, summary, _ = push([w.path for w in made], WHEELCACHE_TOKEN=TOKEN)
    assert (code, summary["ok"], summary["published"]) == (0, True, 6)
    assert [(one["sha256"], one["sent"], one["listed"]) for one in summary["files"]] == [(w.sha256, 1, True) for w in made]
    assert server.files == {w.name: w.path.read_bytes() for w in made}
    assert set(server.users) == {f"__token__:{TOKEN}"}
    code, summary, _ = push([w.path for w in made], WHEELCACHE_TOKEN=TOKEN)
    assert (code, results(summary), server.posts) == (0, ["already-there"] * 6, 6)


def test_names_of_files_do_not_command_the_terminal(server, tmp_path):
    bad = tmp_path / "demo\x1b[31m\u202e-1.0.whl"
    bad.write_bytes(b"no wheel")
    done = serving.run("push", bad, "--to", server.url, env=environment(tmp_path, WHEELCACHE_TOKEN=TOKEN))
    assert done.returncode and "demo?[31m?-1.0.whl" in done.stdout
    assert not set("\x1b\u202e") & set(done.stdout + done.stderr)


def test_form_says_what_the_file_says(server, push, tmp_path):
    wheel = storelib.make_wheel(tmp_path, "Odd.Name", "1.0+local", "py2.py3-none-any", build="1")
    assert push([wheel.path])[0] == 0
    form = server.forms[0]
    assert form.pop("content") == (wheel.name, wheel.path.read_bytes())
    assert form == {":action": "file_upload", "protocol_version": "1", "filetype": "bdist_wheel", "pyversion": "py2.py3",
                    "metadata_version": "2.1", "name": "Odd.Name", "version": "1.0+local", "sha256_digest": wheel.sha256}
    assert server.asked == [f"/{uploadserver.PLATFORM}/simple/odd-name/"] * 2


def test_sdists_are_pushed_too(server, push, tmp_path):
    path = make_sdist(tmp_path / "demo-1.0.tar.gz")
    assert push([path])[0] == 0
    assert (server.forms[0]["filetype"], server.forms[0]["pyversion"]) == ("sdist", "source")
    assert server.files["demo-1.0.tar.gz"] == path.read_bytes()


def test_one_project_has_one_question(server, push, tmp_path):
    made = [storelib.make_wheel(tmp_path, "demo", f"1.{i}") for i in range(9)]
    assert push([w.path for w in made])[0] == 0
    assert len(server.asked) == 2  # before and after


def test_bad_files_are_reported_and_never_sent(server, push, tmp_path):
    good, cut_off = wheels(tmp_path, 2)
    cut_off.path.write_bytes(cut_off.path.read_bytes()[:-30])
    other = storelib.make_wheel(tmp_path, "demo9", "1.0")
    other.path.rename(tmp_path / "demo9-2.0-py3-none-any.whl")
    odd = tmp_path / "notes.txt"
    odd.write_text("no wheel")
    files = [good.path, cut_off.path, tmp_path / "demo9-2.0-py3-none-any.whl", odd, tmp_path / "gone-1.0-py3-none-any.whl", tmp_path]
    code, summary, errors = push(files)
    assert (code, results(summary)) == (1, ["published"] + ["bad"] * 5)
    assert all(one["reason"] for one in summary["files"][1:])
    assert "1.0" in summary["files"][2]["reason"] and "No such file" in summary["files"][4]["reason"]
    assert list(server.files) == [good.name] and server.posts == 1
    assert "5 of 6 files" in errors


def make_sdist(path):
    with tarfile.open(path, "w:gz", format=tarfile.PAX_FORMAT) as archive:
        for name, data in {"PKG-INFO": storelib.metadata_bytes("demo", "1.0"), "setup.py": b"pass\n"}.items():
            entry = tarfile.TarInfo(f"demo-1.0/{name}")
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return path


def test_other_bytes_of_an_sdist_are_a_conflict_without_sending(server, push, tmp_path):
    mine, (other, ) = make_sdist(tmp_path / "demo-1.0.tar.gz"), wheels(tmp_path, 1)
    server.files[mine.name] = b"somebody else's"
    code, summary, _ = push([mine, other.path])
    assert (code, results(summary), server.posts) == (1, ["conflict", "published"], 1)
    assert server.files[mine.name] == b"somebody else's"


def test_the_server_says_whether_another_build_has_the_same_contents(server, push, tmp_path):
    """Only it can compare them: the wheel is sent though its page has other bytes."""
    equal, other = wheels(tmp_path, 2)
    server.files |= {equal.name: b"an earlier build", other.name: b"somebody else's"}
    server.mishaps[equal.name].append(answer(200, json.dumps({"sha256": "0" * 64}), Content_Type="application/json"))
    code, summary, _ = push([equal.path, other.path])
    assert (code, results(summary), [one["sent"] for one in summary["files"]]) == (1, ["kept-earlier", "conflict"], [1, 1])
    assert server.files == {equal.name: b"an earlier build", other.name: b"somebody else's"}
    server.mishaps[equal.name].extend([answer(503), answer(200, "kept")])
    code, summary, _ = push([equal.path])
    assert (code, summary["ok"], results(summary)) == (0, True, ["kept-earlier"])


def test_conflict_that_came_meanwhile(server, push, tmp_path):
    mine, other = wheels(tmp_path, 2)
    server.files[mine.name] = b"somebody else's"
    server.unlisted.add(mine.name)
    code, summary, _ = push([mine.path, other.path])
    assert (code, results(summary)) == (1, ["conflict", "published"])
    assert summary["files"][0]["reason"].startswith("409: File already exists: ")


@pytest.mark.parametrize("status", [401, 403, 404, 405])
def test_what_holds_for_all_stops_all(server, push, tmp_path, status):
    made = wheels(tmp_path, 30)
    for wheel in made:
        server.mishaps[wheel.name].append(answer(status, "not you, and not here\nsecond line"))
    code, summary, errors = push([w.path for w in made], "--jobs", "2")
    assert (code, summary["not-tried"], summary["ok"]) == (1, 30, False)
    assert summary["reason"] == f"{status}: not you, and not here"
    assert summary["reason"] in errors
    assert server.posts <= 2


def test_page_that_may_not_be_read_stops_all(server, push, tmp_path):
    server.page_mishaps.extend([answer(401, "a read token is needed")] * 3)
    code, summary, _ = push([w.path for w in wheels(tmp_path, 3)])
    assert (code, summary["reason"], server.posts) == (1, "401: a read token is needed", 0)


@pytest.mark.parametrize("mishap", [answer(500), answer(502, "<html>", Content_Type="text/html"), answer(429), answer(503)],
                         ids=["500", "502", "429", "503"])
def test_server_errors_are_retried(server, push, tmp_path, mishap):
    made = wheels(tmp_path, 3)
    server.mishaps[made[1].name].extend([mishap, mishap])
    code, summary, _ = push([w.path for w in made])
    assert (code, results(summary), summary["files"][1]["sent"]) == (0, ["published"] * 3, 3)


@pytest.mark.parametrize("size", [None, 3_000_000], ids=["small", "large"])  # curl expects "100 Continue" before large ones
def test_connection_lost_within_the_body(server, push, tmp_path, size):
    wheel = storelib.make_wheel(tmp_path, "demo", "1.0", size=size)
    server.early_mishaps.extend([cut(100), cut(100)])
    code, summary, _ = push([wheel.path])
    assert (code, results(summary), summary["files"][0]["sent"], server.posts) == (0, ["published"], 3, 3)
    assert server.files == {wheel.name: wheel.path.read_bytes()}


@pytest.mark.parametrize("mishap", [take_and_die, take_and_answer(500), take_and_answer(504)], ids=["dies", "500", "504"])
def test_what_arrived_is_not_sent_again(server, push, tmp_path, mishap):
    made = wheels(tmp_path, 2)
    server.mishaps[made[0].name].append(mishap)
    code, summary, _ = push([w.path for w in made])
    assert (code, results(summary), server.posts) == (0, ["published"] * 2, 2)
    assert [one["listed"] for one in summary["files"]] == [True, True]


def test_page_that_cannot_be_had_at_first(server, push, tmp_path):
    server.page_mishaps.extend([answer(503), answer(500)])
    code, summary, _ = push([w.path for w in wheels(tmp_path, 1)])
    assert (code, results(summary), len(server.asked)) == (0, ["published"], 4)


def test_tries_are_bounded_and_the_last_reason_is_reported(server, push, tmp_path):
    made = wheels(tmp_path, 2)
    server.mishaps[made[0].name].extend([answer(500, "the disk is ill")] * 9)
    code, summary, _ = push([w.path for w in made], "--retries", "2")
    assert (code, results(summary)) == (1, ["failed", "published"])
    assert (summary["files"][0]["sent"], summary["files"][0]["reason"]) == (3, "500: the disk is ill")


def test_retry_after_is_kept(server, push, tmp_path):
    wheel, = wheels(tmp_path, 1)
    server.mishaps[wheel.name].append(answer(503, "frozen", Retry_After="2"))
    assert push([wheel.path])[0] == 0
    assert server.post_times[1] - server.post_times[0] >= 2


def test_retry_after_that_is_too_long_ends_it(server, push, tmp_path):
    wheel, = wheels(tmp_path, 1)
    server.mishaps[wheel.name].extend([answer(503, "frozen until Monday", Retry_After="86400")] * 9)
    code, summary, _ = push([wheel.path])
    assert (code, server.posts, summary["files"][0]["reason"]) == (1, 1, "503: frozen until Monday")


@pytest.mark.parametrize("status", [400, 413, 422, 507])
def test_refused_file_does_not_delay_others(server, push, tmp_path, status):
    made = wheels(tmp_path, 3)
    server.mishaps[made[0].name].append(answer(status, "not this one"))
    code, summary, _ = push([w.path for w in made])
    assert (code, results(summary)) == (1, ["refused", "published", "published"])
    assert summary["files"][0]["reason"] == f"{status}: not this one"


def test_redirect_is_reported_and_not_followed(server, push, tmp_path):
    wheel, = wheels(tmp_path, 1)
    server.mishaps[wheel.name].append(answer(308, Location="https://elsewhere.example/"))
    code, summary, _ = push([wheel.path])
    assert (code, summary["reason"]) == (1, "308: it is at https://elsewhere.example/")


def test_connection_refused(push, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    code, summary, _ = push([w.path for w in wheels(tmp_path, 2)], "--retries", "1",
                            to=f"http://127.0.0.1:{port}/upload/{uploadserver.PLATFORM}/")
    assert (code, results(summary)) == (1, ["failed"] * 2)
    assert str(port) in summary["files"][0]["reason"]


def test_server_that_hangs_is_given_up(push, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        code, summary, _ = push([w.path for w in wheels(tmp_path, 1)], "--retries", "0", "--timeout", "1s",
                                to=f"http://127.0.0.1:{silent.getsockname()[1]}/upload/{uploadserver.PLATFORM}/")
    assert (code, results(summary)) == (1, ["failed"])


def test_server_restarts_meanwhile(server, push, tmp_path):
    made = wheels(tmp_path, 12)
    again = []

    def restart(handler, filename, data):
        """Publishes the file, and stops before it answers."""
        server.take(filename, data)
        uploadserver.die(handler)

        def move():
            server.stop()
            replacement = uploadserver.Server(port=server.server_port)
            replacement.files.update(server.files)
            again.append(replacement)
        threading.Thread(target=move).start()
        return True
    server.mishaps[made[4].name].append(restart)
    try:
        code, summary, _ = push([w.path for w in made])
        assert (code, results(summary)) == (0, ["published"] * 12)
        assert {**server.files, **again[0].files} == {w.name: w.path.read_bytes() for w in made}
    finally:
        for replacement in again:
            replacement.stop()


def test_several_at_once(server, push, tmp_path):
    server.barrier = threading.Barrier(4)  # no request is answered before four have arrived
    code, summary, _ = push([w.path for w in wheels(tmp_path, 8)], "--jobs", "4")
    assert (code, summary["published"]) == (0, 8)


def test_earlier_build_that_is_kept_is_reported(server, push, tmp_path):
    """Non-reproducible builds: the server answers 200 and keeps the first one, so its bytes differ from those here."""
    wheel, = wheels(tmp_path, 1)

    def keep(handler, filename, _):
        handler.server.files[filename] = b"an earlier build"
        handler.say(200, b"kept")
        return True
    server.mishaps[wheel.name].append(keep)
    code, summary, _ = push([wheel.path])
    assert (code, results(summary), summary["files"][0]["listed"]) == (0, ["kept-earlier"], False)


def test_earlier_build_that_no_page_shows_yet(server, push, tmp_path):
    """A wheelcache server says which bytes it keeps under the name."""
    mine, other = wheels(tmp_path, 2)
    for wheel, sha256 in (mine, "0" * 64), (other, other.sha256.upper()):
        server.unlisted.add(wheel.name)
        text = json.dumps({"message": "stays", "sha256": sha256})
        server.mishaps[wheel.name].append(answer(200, text, Content_Type="application/json"))
    code, summary, _ = push([mine.path, other.path])
    assert (code, results(summary)) == (0, ["kept-earlier", "published"])


def test_reason_that_begins_with_its_number(server, push, tmp_path):
    wheel, = wheels(tmp_path, 1)
    server.mishaps[wheel.name].append(answer(403, "403 Forbidden: not this project"))
    assert push([wheel.path])[1]["reason"] == "403 Forbidden: not this project"


def test_reason_in_json(server, push, tmp_path):
    wheel, = wheels(tmp_path, 1)
    text = json.dumps({"message": "pruned: upstream has it", "code": "410 pruned", "title": "Gone"})
    server.mishaps[wheel.name].append(answer(410, text, Content_Type="application/json"))
    code, summary, _ = push([wheel.path])
    assert (code, summary["files"][0]["reason"]) == (1, "410: pruned: upstream has it")


def test_page_that_follows_later_is_no_failure(server, push, tmp_path):
    wheel, = wheels(tmp_path, 1)
    server.unlisted.add(wheel.name)
    code, summary, _ = push([wheel.path])
    assert (code, results(summary), summary["files"][0]["listed"]) == (0, ["published"], False)


def test_file_that_changes_meanwhile_is_not_sent(server, push, tmp_path):
    changing, gone, steady = wheels(tmp_path, 3)

    def change(handler, *_):
        changing.path.write_bytes(b"a build goes on")
        gone.path.unlink(missing_ok=True)
        handler.say(500, b"")
        return True
    for wheel in (changing, gone):
        server.mishaps[wheel.name].append(change)
    code, summary, _ = push([changing.path, gone.path, steady.path])
    assert (code, results(summary)) == (1, ["bad", "bad", "published"])
    assert "changed" in summary["files"][0]["reason"] and list(server.files) == [steady.name]


def test_every_recorded_wheel_is_sound(server, push, request, shared):
    found = [path for folder in ("corpus/wheels", "corpus/locally-built/build-1", "clients/wheels")
             for path in sorted((shared / folder).glob("*.whl"))]
    found = found if request.config.getoption("--nightly") else found[::10]
    code, summary, _ = push(found, "--jobs", "2")
    assert (code, summary["published"] + summary["already-there"]) == (0, len(found)), summary
    assert len(server.files) == len({path.name for path in found})


def test_same_file_twice_on_the_line(server, push, tmp_path):
    wheel, = wheels(tmp_path, 1)
    copy = tmp_path / "copy" / wheel.name
    copy.parent.mkdir()
    copy.write_bytes(wheel.path.read_bytes())
    code, summary, _ = push([wheel.path, copy, wheel.path])
    assert (code, results(summary)) == (0, ["published"] * 3)


def test_reason_cannot_write_on_the_terminal(server, push, tmp_path):
    wheel, = wheels(tmp_path, 1)
    server.mishaps[wheel.name].append(answer(400, "\033[2Jgone\r" + "x" * 200_000))
    code, summary, _ = push([wheel.path])
    assert code == 1 and summary["files"][0]["reason"].startswith("400: ?[2Jgone?xxx")
    assert len(summary["files"][0]["reason"]) < 500


@pytest.mark.parametrize("body", [b"<html>", b"[]", b'{"files": 3}', b"{", b""], ids=str)
def test_page_that_is_none(server, push, tmp_path, body):
    server.page_mishaps.append(answer(200, body.decode()))
    code, summary, _ = push([w.path for w in wheels(tmp_path, 1)])
    assert (code, results(summary), server.posts) == (1, ["not-tried"], 0)
    assert "no simple page in JSON" in summary["reason"]


def test_odd_entries_of_a_page_are_passed_over(server, push, tmp_path):
    wheel, = wheels(tmp_path, 1)
    odd = {"files": [1, None, [], {}, {"filename": 3}, {"filename": wheel.name + "x", "hashes": {}}]}
    server.page_mishaps.append(answer(200, json.dumps(odd)))
    assert push([wheel.path])[0] == 0


@pytest.mark.parametrize("arguments", [
    [], ["--to", "http://h/upload/p/"], ["x.whl"], ["x.whl", "--to", "http://h/simple/"], ["x.whl", "--to", "ftp://h/upload/p/"],
    ["x.whl", "--to", "http://h:99999/upload/p/"], ["x.whl", "--to", "http://h:x/upload/p/"],
    ["x.whl", "--to", "http://[::1/upload/p/"], ["x.whl", "--to", "http:///upload/p/"], ["x.whl", "--to", "http://h/upload/simple/"],
    ["x.whl", "--to", "https://u:secret@h/upload/p/"], ["x.whl", "--to", "http://h/upload/p/", "--jobs", "0"],
    ["x.whl", "--to", "http://h/upload/p/", "--jobs", "65"], ["x.whl", "--to", "http://h/upload/p/", "--timeout", "0"],
    ["x.whl", "--to", "http://h/upload/p/", "--token", "secret"]], ids=" ".join)
def test_wrong_lines(wheelcache, arguments):
    done = wheelcache("push", *arguments)
    assert (done.returncode, done.stdout) == (2, "") and done.stderr
    assert "secret" not in done.stderr


def test_url_below_a_prefix_and_without_its_last_slash(server, push, tmp_path):
    wheel, = wheels(tmp_path, 1)
    code, _, _ = push([wheel.path], to=server.url.replace("/upload", "/prefix/upload").rstrip("/"))
    assert (code, server.asked[0]) == (0, f"/prefix/{uploadserver.PLATFORM}/simple/demo0/")


def netrc(path, password):
    path.write_text(f"machine 127.0.0.1 login anybody password {password}\n")
    path.chmod(0o600)
    return str(path)


def test_token_of_netrc(server, push, tmp_path):
    first, second, third = [w.path for w in wheels(tmp_path, 3)]
    server.token = TOKEN
    netrc(tmp_path / ".netrc", TOKEN)
    assert push([first])[0] == 0
    assert set(server.users) == {f"anybody:{TOKEN}"}
    other = netrc(tmp_path / "other", "wrong")
    code, summary, _ = push([second], NETRC=other)
    assert (code, summary["reason"]) == (1, "401: no such token")
    assert push([second], NETRC=other, WHEELCACHE_TOKEN=TOKEN)[0] == 0
    assert push([third], WHEELCACHE_TOKEN="")[0] == 0
    code, summary, _ = push([third], NETRC=str(tmp_path / "nowhere"))
    assert (code, "nowhere" in summary["reason"]) == (2, True)


@pytest.fixture(name="certificate", scope="module")
def certificate_fixture(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tls")
    paths = folder / "cert.pem", folder / "key.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-subj", "/CN=test", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "2",
                    "-out", paths[0], "-keyout", paths[1]], check=True, capture_output=True)
    return paths


@pytest.mark.parametrize("variables, code", [(["SSL_CERT_FILE"], 0), (["CURL_CA_BUNDLE"], 0), ([], 1)])
def test_certificates_of_the_environment(push, tmp_path, certificate, variables, code):
    wheel, = wheels(tmp_path, 1)
    unset = {"SSL_CERT_FILE": "", "CURL_CA_BUNDLE": ""}
    with running(certificate) as server:
        given = unset | {name: str(certificate[0]) for name in variables}
        assert push([wheel.path], to=server.url, **given)[0] == code


def test_tls(push, tmp_path, certificate):
    wheel, = wheels(tmp_path, 1)
    with running(certificate) as server:
        code, summary, errors = push([wheel.path], to=server.url, SSL_CERT_FILE="", CURL_CA_BUNDLE="")
        assert (code, server.asked, results(summary)) == (1, [], ["not-tried"])
        assert "certificate" in errors
        assert push([wheel.path], "--ca-file", str(certificate[0]), to=server.url)[0] == 0
        assert list(server.files) == [wheel.name]
        code, _, errors = push([wheel.path], "--ca-file", str(tmp_path / "nowhere"), to=server.url)
        assert code == 2 and "nowhere" in errors


def test_summary_in_words(server, wheelcache, tmp_path):
    made = wheels(tmp_path, 4)
    server.files[made[0].name] = b"other"
    server.files[made[1].name] = made[1].path.read_bytes()
    done = wheelcache("push", *[w.path for w in made], "--to", server.url, env=environment(tmp_path))
    assert done.returncode == 1
    assert done.stdout.startswith(f"{made[0].path}: conflict: 409: File already exists: {made[0].name} is there "
                                  "with other contents\n"
                                  "2 published, 1 already there, 1 conflict in ")
    quiet = wheelcache("push", made[2].path, "--to", server.url, "--quiet", env=environment(tmp_path))
    assert (quiet.returncode, quiet.stdout, quiet.stderr) == (0, "", "")


def test_progress_on_a_terminal(server, tmp_path):
    made = wheels(tmp_path, 3, size=300_000)
    text = on_terminal(["push", *[str(w.path) for w in made], "--to", server.url], env=environment(tmp_path))
    assert b"100%" in text and b"3 files" in text
