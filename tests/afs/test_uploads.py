# SPDX-License-Identifier: Apache-2.0
"""Uploads go to the writable volume, `vos release` publishes them to the replica, and pip installs from there."""
import json
import os
import pathlib
import sys

import pytest

import cells
import clients
import serving
import uploading
from reading import SOON, check_listed, listed

TWINE = "twine==7.0.0"
UV = "uv==0.13.9"
CONFIG = """[platform {volume.name}]
path = {volume.read}
write-path = {write}
volume = {volume.name}
release = {vos} release %v -localauth
release-delay = {delay}
"""


def write_path(volume):
    """The writable path, as the reading machine sees it."""
    return pathlib.Path(cells.READER, "." + cells.NAME, volume.name)


def config(cell, delay=0):
    """Both volumes as platforms that are released."""
    vos = next(path for folder in os.environ["PATH"].split(":") if (path := pathlib.Path(folder, "vos")).exists())
    return "".join(CONFIG.format(volume=volume, write=write_path(volume), vos=vos, delay=delay) for volume in cell.volumes)


@pytest.fixture
def start(serve):
    """start(configuration): a server with a token that scans the replicas once an hour."""
    def begin(text):
        server = serve(None, "--rescan", "1h", config=text)
        server.token = uploading.add_token(server)
        return server
    return begin


def release(server, volume):
    platforms = json.loads(server.get("/-/health").body)["platforms"]
    return next(one["release"] for one in platforms if one["name"] == volume.name)


def until_listed(server, volume, *wheels):
    def all_there():
        there = {}
        for project in {wheel.name.split("-")[0] for wheel in wheels}:
            there |= listed(server, project, volume.name)
        return {wheel.name for wheel in wheels} <= set(there)
    serving.wait_for(all_there, 2 * SOON, "the released wheels")
    for wheel in wheels:
        check_listed(server, wheel, volume.name)


def test_twine_and_push_upload_and_pip_and_uv_install_from_the_replica(cell, start, client, make, tmp_path):
    volume = cell.volumes[0]
    server = start(config(cell))
    wheels = [make("steady", "1.0", size=3_000_000, requires=["calm"]), make("calm", "2.0")]
    url = f"{server.url}/upload/{volume.name}/"
    client(TWINE).run("twine", "upload", "--repository-url", url, "-u", "__token__", "-p", server.token,
                      "--non-interactive", "--disable-progress-bar", wheels[0].path)
    done = serving.run("push", wheels[1].path, "--to", url, "--json", env=os.environ | {"WHEELCACHE_TOKEN": server.token})
    assert done.returncode == 0 and json.loads(done.stdout)["published"] == 1, done.stderr
    until_listed(server, volume, *wheels)
    for wheel in wheels:
        placed = pathlib.Path(wheel.name[0], wheel.name.split("-")[0], wheel.name)
        assert (volume.read / placed).read_bytes() == (volume.write / placed).read_bytes() == wheel.path.read_bytes()
    simple = f"{server.url}/{volume.name}/simple/"
    client(clients.DEBIAN_PIP).pip("install", *clients.pip_index(simple), "--target", tmp_path / "pip", "steady")
    client(UV).run("uv", "pip", "install", "--default-index", simple, "--python", sys.executable, "--no-cache", "--target",
                   tmp_path / "uv", "steady")
    for target in ("pip", "uv"):
        assert sorted(path.name for path in (tmp_path / target).glob("*.dist-info")) == [
            "calm-2.0.dist-info", "steady-1.0.dist-info"]
    again = uploading.upload(server, volume.name, wheels[0].path, server.token)
    assert again.status == 200 and b"nothing changed" in again.body


def test_yanks_and_removals_come_with_a_release(cell, start, make):
    volume = cell.volumes[0]
    server = start(config(cell))
    wheel = make("alpha", "1.0")
    assert uploading.upload(server, volume.name, wheel.path, server.token).status == 200
    until_listed(server, volume, wheel)
    for arguments in (["yank", "--reason", "broken"], ["remove", "--reason", "upstream has it"]):
        done = serving.run(*arguments, "--config", server.config_path, "--catalog", server.catalog, wheel.name)
        assert done.returncode == 0, done.stderr
        assert (volume.read / "a" / "alpha" / f"{wheel.name}.{'yanked' if arguments[0] == 'yank' else 'pruned'}").exists()
    assert listed(server, "alpha", volume.name) == {}
    assert uploading.upload(server, volume.name, wheel.path, server.token).status == 410


def test_volume_that_cannot_be_released_does_not_delay_others(cell, start, make):
    """A killed release leaves a lock: uploads are accepted, and published after the operator's unlock."""
    locked, free = cell.volumes
    server = start(config(cell))
    assert cells.vos("lock", locked.name).returncode == 0
    try:
        wheels = [make("alpha", "1.0"), make("beta", "1.0")]
        assert uploading.upload(server, locked.name, wheels[0].path, server.token).status == 200
        assert uploading.upload(server, free.name, wheels[1].path, server.token).status == 200
        until_listed(server, free, wheels[1])
        serving.wait_for(lambda: release(server, locked)["failed"], SOON, "a release that fails")
        assert "locked" in release(server, locked)["error"].lower() and not release(server, free)["failed"]
        assert listed(server, "alpha", locked.name) == {}
        again = uploading.upload(server, locked.name, wheels[0].path, server.token)
        assert again.status == 200 and b"nothing changed" in again.body
    finally:
        locked.unlock()
    until_listed(server, locked, wheels[0])


def test_many_uploads_with_releases_in_between(cell, start, make):
    """Each file is complete in the replica when it is listed, and in the end all are listed."""
    volume = cell.volumes[0]
    server = start(config(cell))
    wheels = [make("alpha", f"1.{n}", size=300_000 + n) for n in range(20)]
    for wheel in wheels:
        assert uploading.upload(server, volume.name, wheel.path, server.token).status == 200
        for url, sha256 in listed(server, "alpha", volume.name).values():
            assert server.get(url.removeprefix(server.url))["ETag"] == f'"{sha256}"'
    until_listed(server, volume, *wheels)
    done = [one["result"] for one in uploading.audit(server) if one["action"] == "release"]
    print(f"\n{len(wheels)} uploads, {len(done)} releases: {sorted(set(done))}")


def test_doctor_knows_who_may_write(cell, tmp_path):
    """The mode of a replica's folder permits what the file server refuses."""
    first, second = cell.volumes
    text = (f"[upstream]\noffline = yes\n[catalog]\npath = {tmp_path}/catalog.db\n"
            f"[platform released]\npath = {first.read}\nwrite-path = {write_path(first)}\nrelease = true\n"
            f"[platform readonly]\npath = {second.read}\n")
    (tmp_path / "site.conf").write_text(text)
    done = serving.run("doctor", "--json", "--config", tmp_path / "site.conf")
    rows = [(row["level"], row["what"], row["found"]) for row in json.loads(done.stdout)["rows"]]
    assert [found for _, what, found in rows if what == "platform"] == [
        f"{name}: {volume.read} is on AFS; other machines' changes show after the next scan"
        for name, volume in (("released", first), ("readonly", second))]
    assert ("ok", "writing", f"platform released: {write_path(first)} can be written") in rows
    assert ("warning", "writing", f"platform readonly: this account cannot write to {second.read}: Read-only file system") in rows
    assert os.listdir(write_path(first)) == []
