# SPDX-License-Identifier: Apache-2.0
"""Platforms with two paths: uploads and marks go to the write path, and show at the served path after a release command."""
import contextlib
import json
import pathlib
import threading

import pytest

import serving
import storelib
import uploading

FIRST, SECOND = "ubuntu-22.04-x86_64", "debian-12-x86_64"
SOON = 60
WHEEL = "bar-1.0-py3-none-any.whl"

# Copies the first folder to the second. Files beside it make it misbehave.
HOOK = """#!/bin/sh
echo "$3" >>"$0.runs"
if [ -e "$0.fail" ]; then cat "$0.fail" >&2; exit 3; fi
if [ -e "$0.hang" ]; then sleep 1000 & echo $! >"$0.pid"; wait; fi
if [ -e "$0.slow" ]; then : >"$0.began"; while [ -e "$0.slow" ]; do sleep 0.1; done; fi
if [ -e "$0.idle" ]; then exit 0; fi
cp -r "$1/." "$2/" || exit
cd "$2" && find . -type f | while read -r file; do [ -e "$1/$file" ] || rm "$file"; done
"""

SECTION = """[platform {name}]
path = {folder}/served/{name}
write-path = {folder}/written/{name}
"""


class Volume:
    """A platform's two folders and what releases it."""

    def __init__(self, folder, name):
        self.name = name
        self.served, self.written = folder / "served" / name, folder / "written" / name
        for path in (self.served, self.written):
            storelib.make_wheel(path / "f" / "foo", "foo", "1.0")
        self.hook = folder / f"hook-{name}"
        self.hook.write_text(HOOK)
        self.hook.chmod(0o755)
        self.section = SECTION.format(name=name, folder=folder)

    def released(self, *lines):
        """The section of the configuration, with the hook."""
        return "\n".join([self.section.strip(), f"release = {self.hook} %w %p %v", *lines, ""])

    def switch(self, what):
        """The file that makes it misbehave."""
        return pathlib.Path(f"{self.hook}.{what}")

    def runs(self):
        path = self.switch("runs")
        return path.read_text().split() if path.exists() else []

    def holds(self, folder, name=WHEEL):
        return (folder / "b" / "bar" / name).exists()


@pytest.fixture
def volume(tmp_path):
    return Volume(tmp_path, FIRST)


@pytest.fixture
def wheel(tmp_path):
    return storelib.make_wheel(tmp_path / "dist", "bar", "1.0").path


@pytest.fixture
def start(serve):
    """start(configuration) is a server with a token, which after its first scan scans only on request."""
    def begin(config, **options):
        server = serve(None, "--rescan", "0", config=config, **options)
        server.token = uploading.add_token(server)
        return server
    return begin


def release(server, name=FIRST):
    """What /-/health says of it."""
    platforms = json.loads(server.get("/-/health").body)["platforms"]
    return next(one for one in platforms if one["name"] == name)["release"]


def until_failed(server, name=FIRST):
    return serving.wait_for(lambda: release(server, name)["failed"] and release(server, name), SOON, "a release that fails")


def until_listed(server, wheel, name=FIRST):
    return serving.wait_for(lambda: wheel.name in uploading.listed(server, name, "bar"), SOON, "the page")


def releases(server):
    """(platform, result) of the audit log's releases."""
    return [(one["platform"], one["result"]) for one in uploading.audit(server) if one["action"] == "release"]


def kill(server):
    server.process.kill()
    server.process.wait()
    server.process.stdout.close()


def command(server, *arguments):
    return serving.run(*arguments, "--config", server.config_path, "--catalog", server.catalog)


def test_an_upload_is_durable_first_and_listed_after_the_release(start, volume, wheel):
    volume.switch("fail").write_text("no \x01 quorum\n")
    server = start(volume.released("release-delay = 0", "volume = wheels.a"))
    reply = uploading.upload(server, FIRST, wheel, server.token)
    assert reply.status == 200 and b"will be listed once" in reply.body
    assert volume.holds(volume.written) and not volume.holds(volume.served)
    assert uploading.listed(server, FIRST, "bar") == {}
    failed = until_failed(server)
    assert "ended with 3: no   quorum" in failed["error"] and failed["pending-since"] and not failed["succeeded"]
    assert json.loads(server.get("/-/health").body)["status"] == "degraded"
    assert (FIRST, "failed") in releases(server)
    volume.switch("fail").unlink()
    until_listed(server, wheel)
    assert server.get(f"/files/{FIRST}/bar/{wheel.name}").body == wheel.read_bytes()
    serving.wait_for(lambda: not release(server)["pending-since"], SOON, "the end of the release")
    assert release(server)["succeeded"] and not release(server)["failed"]
    assert releases(server)[-1] == (FIRST, "done")
    assert set(volume.runs()) == {"wheels.a"}
    reply = uploading.upload(server, FIRST, wheel, server.token)
    assert reply.status == 200 and b"nothing changed" in reply.body and b"will be listed" not in reply.body


def test_a_file_that_waits_for_its_release_has_its_name(start, volume, wheel, tmp_path):
    server = start(volume.section)  # nothing releases it
    assert uploading.upload(server, FIRST, wheel, server.token).status == 200
    again = uploading.upload(server, FIRST, wheel, server.token)
    assert again.status == 200 and b"nothing changed" in again.body and b"will be listed once" in again.body
    other = storelib.make_wheel(tmp_path / "other", "bar", "1.0", files={"bar.py": b"other = 1\n"}).path
    reply = uploading.upload(server, FIRST, other, server.token)
    assert reply.status == 409 and reply.body.startswith(b"File already exists")
    assert (volume.written / "b" / "bar" / wheel.name).read_bytes() == wheel.read_bytes()
    assert not volume.holds(volume.served) and uploading.listed(server, FIRST, "bar") == {}


def test_what_comes_together_is_released_together(start, volume, tmp_path):
    server = start(volume.released("release-delay = 3"))
    wheels = [storelib.make_wheel(tmp_path / "dist", "bar", f"1.{n}").path for n in range(8)]
    for wheel in wheels:
        assert uploading.upload(server, FIRST, wheel, server.token).status == 200
    for wheel in wheels:
        until_listed(server, wheel)
    assert 1 <= len(volume.runs()) < len(wheels)


def is_alive(pid):
    with contextlib.suppress(OSError):
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def test_a_release_that_hangs_is_ended_and_does_not_delay_others(start, volume, wheel, tmp_path):
    second = Volume(tmp_path, SECOND)
    volume.switch("hang").touch()
    server = start(volume.released("release-delay = 0", "release-timeout = 6") + second.released("release-delay = 0"))
    assert uploading.upload(server, FIRST, wheel, server.token).status == 200
    pid = int(serving.wait_for(lambda: volume.switch("pid").exists() and volume.switch("pid").read_text(), SOON, "a hook"))
    assert uploading.upload(server, SECOND, wheel, server.token).status == 200
    until_listed(server, wheel, SECOND)
    assert "did not end in time" in until_failed(server)["error"]
    serving.wait_for(lambda: not is_alive(pid), SOON, "the end of what hung")
    assert uploading.listed(server, FIRST, "bar") == {} and not release(server, SECOND)["failed"]
    volume.switch("hang").unlink()
    until_listed(server, wheel)


def test_a_release_that_releases_nothing_is_seen(start, volume, wheel):
    volume.switch("idle").touch()
    server = start(volume.released("release-delay = 0"))
    assert uploading.upload(server, FIRST, wheel, server.token).status == 200
    assert f"b/bar/{wheel.name} still differs from that in" in until_failed(server)["error"]
    volume.switch("idle").unlink()
    until_listed(server, wheel)


def test_a_command_that_is_not_there(start, volume, wheel):
    server = start(volume.section + "release = /nowhere/vos release %v\nrelease-delay = 0\n")
    assert uploading.upload(server, FIRST, wheel, server.token).status == 200
    assert "cannot run /nowhere/vos" in until_failed(server)["error"]


def test_what_waits_is_released_after_a_restart(start, volume, wheel, tmp_path):
    state = tmp_path / "state"
    volume.switch("fail").touch()
    server = start(volume.released("release-delay = 0"), state=state)
    assert uploading.upload(server, FIRST, wheel, server.token).status == 200
    until_failed(server)
    kill(server)
    volume.switch("fail").unlink()
    until_listed(start(volume.released("release-delay = 0"), state=state), wheel)


def test_the_end_of_a_server_waits_for_a_release(start, volume, wheel):
    volume.switch("slow").touch()
    server = start(volume.released("release-delay = 0"))
    assert uploading.upload(server, FIRST, wheel, server.token).status == 200
    serving.wait_for(volume.switch("began").exists, SOON, "the release")
    stopping = threading.Thread(target=server.stop)
    stopping.start()
    serving.wait_for(lambda: not serving.answers(server, "/-/health"), SOON, "a server that ends")
    volume.switch("slow").unlink()
    stopping.join()
    assert volume.holds(volume.served) and releases(server)[-1] == (FIRST, "done")
    assert [path.name for path in pathlib.Path(f"{server.catalog}.release").iterdir()] == [f"{FIRST}.lock"]


def yanked(server):
    reply = server.get(f"/{FIRST}/simple/foo/", {"Accept": "application/vnd.pypi.simple.v1+json"})
    return [one.get("yanked", False) for one in json.loads(reply.body)["files"]]


def test_marks_go_to_the_write_path_and_are_released_at_once(start, volume):
    name = "foo-1.0-py3-none-any.whl"
    server = start(volume.released("release-delay = 600"))
    assert yanked(server) == [False]
    done = command(server, "yank", "--reason", "broken", name)
    assert done.returncode == 0, done.stderr
    assert yanked(server) == ["broken"] and (volume.written / "f" / "foo" / f"{name}.yanked").exists()
    assert command(server, "unyank", name).returncode == 0
    serving.wait_for(lambda: yanked(server) == [False], SOON, "the page")
    assert command(server, "remove", "--reason", "upstream has it", name).returncode == 0
    serving.wait_for(lambda: uploading.listed(server, FIRST, "foo") == {}, SOON, "the page without it")
    reply = uploading.upload(server, FIRST, volume.written / "f" / "foo" / name, server.token)
    assert reply.status == 410 and b"upstream has it" in reply.body
    assert len(volume.runs()) == 3 and releases(server) == [(FIRST, "done")] * 3


def test_failed_release_of_a_mark_is_reported_and_retried_by_the_server(start, volume):
    name = "foo-1.0-py3-none-any.whl"
    volume.switch("fail").write_text("no quorum\n")
    server = start(volume.released("release-delay = 0"))
    done = command(server, "yank", "--reason", "broken", name)
    assert done.returncode == 1 and "it is not released" in done.stderr and yanked(server) == [False]
    volume.switch("fail").unlink()
    serving.wait_for(lambda: yanked(server) == ["broken"], SOON, "the server's own try")


def test_what_waits_for_its_release_can_be_removed(start, volume, wheel):
    server = start(volume.section)
    assert uploading.upload(server, FIRST, wheel, server.token).status == 200
    done = command(server, "remove", "--delete", "--reason", "a mistake", wheel.name)
    assert done.returncode == 0 and "once its volume is released" in done.stdout, done.stderr
    assert not volume.holds(volume.written)
    assert uploading.upload(server, FIRST, wheel, server.token).status == 410


def test_a_freeze_is_at_the_write_path(start, volume, wheel):
    server = start(volume.section)
    assert command(server, "freeze", "--reason", "moving").returncode == 0
    assert (volume.written / ".wheelcache-frozen").exists() and not (volume.served / ".wheelcache-frozen").exists()
    assert uploading.upload(server, FIRST, wheel, server.token).status == 503
    assert command(server, "thaw").returncode == 0
    assert uploading.upload(server, FIRST, wheel, server.token).status == 200


def test_quota_counts_what_waits(start, volume, wheel, tmp_path):
    volume.switch("fail").touch()
    server = start(volume.released("quota-files = 2"))
    assert uploading.upload(server, FIRST, wheel, server.token).status == 200
    second = storelib.make_wheel(tmp_path / "dist", "bar", "2.0").path
    reply = uploading.upload(server, FIRST, second, server.token)
    assert reply.status == 507 and b"2 files of 2" in reply.body


def hidden(folder):
    return [path for path in folder.rglob(".wheelcache-*") if path.is_file()]


def test_leftovers_are_swept_at_the_write_path(start, volume, tmp_path):
    """Temporary files of a killed server reach the served path with a release, and are removed from both."""
    state = tmp_path / "state"
    config = volume.released("release-delay = 0")
    server = start(config, state=state)
    fat = storelib.make_wheel(tmp_path / "dist", "bar", "1.0", size=3 << 20)
    body, content_type = uploading.encode(uploading.form_of(fat.path))
    with server.socket() as connection:
        header = {"Host": "x", "Content-Type": content_type, "Content-Length": str(len(body)),
                  **uploading.authorization(server.token)}
        lines = [f"POST /upload/{FIRST}/ HTTP/1.1", *(f"{key}: {value}" for key, value in header.items()), "", ""]
        connection.sendall("\r\n".join(lines).encode() + body[:2 << 20])
        serving.wait_for(lambda: hidden(volume.written), SOON, "a temporary file")
        kill(server)
    server = start(config, state=state)
    for version in ("2.0", "3.0"):
        more = storelib.make_wheel(tmp_path / "dist", "bar", version).path
        assert uploading.upload(server, FIRST, more, server.token).status == 200
        until_listed(server, more)
        if version == "2.0":
            serving.wait_for(lambda: not hidden(volume.written), SOON, "a sweep")
    serving.wait_for(lambda: not hidden(volume.served), SOON, "the release of that")


def test_a_hook_without_a_write_path_runs_after_uploads(serve, volume, wheel, tmp_path):
    config = f"[platform {FIRST}]\npath = {volume.written}\nrelease = {volume.hook} %w {tmp_path}/copy %v\nrelease-delay = 0\n"
    (tmp_path / "copy").mkdir()
    server = serve(None, config=config)
    reply = uploading.upload(server, FIRST, wheel, uploading.add_token(server))
    assert reply.status == 200 and b"will be listed" not in reply.body
    assert wheel.name in uploading.listed(server, FIRST, "bar")
    serving.wait_for(lambda: volume.holds(tmp_path / "copy"), SOON, "the copy")


@pytest.mark.parametrize("lines, words", [
    ("release = vos release %x", "is not a command"),
    ("release = vos release %", "is not a command"),
    ("volume = a/b", "is not the name"),
    ("release-timeout = 0", "is not between"),
    ("write-path = written", "write-path is not absolute"),
])
def test_invalid_configurations_are_reported(tmp_path, lines, words):
    (tmp_path / "wheelcache.conf").write_text(f"[platform {FIRST}]\npath = {tmp_path}\n{lines}\n")
    done = serving.run("index", "--config", tmp_path / "wheelcache.conf", "--catalog", tmp_path / "catalog.db")
    assert done.returncode == 2 and words in done.stderr
