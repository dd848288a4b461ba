# SPDX-License-Identifier: Apache-2.0
"""Volumes and file servers that go away and come back. Requests that do not need them must not wait. The speed of AFS is
not asserted."""
import contextlib
import hashlib
import threading
import time

import serving
import storelib
from reading import SOON, check_listed, fetch, listed, project_of, scan, until

CONFIG = """[platform {0.name}]
path = {0.read}
[platform {1.name}]
path = {1.read}
[platform disk]
path = {2}
"""
PATIENCE = 100  # an AFS client gives up on a file server after a minute
PROMPT = 10
CROWD = 6  # for each file; more than there are threads that open files


def publish(volume, *wheels):
    for wheel in wheels:
        volume.copy(wheel.path)
    volume.release()


def test_volume_that_was_emptied_keeps_its_pages(cell, serve, make):
    """As after an operator has deleted a wrong folder, or mounted an empty volume: its files are 503 until the volume is
    back."""
    first, second = make("alpha", "1.0"), make("beta", "1.0")
    publish(cell.volumes[0], first)
    publish(cell.volumes[1], second)
    server = serve(cell.read, "--rescan", "1")
    url, _ = listed(server, "alpha")[first.name]
    cell.volumes[0].clear()
    until(server, lambda: scan(server)["failed"], "a scan that misses the files")
    assert "is its volume mounted?" in server.errors()
    assert list(listed(server, "alpha")) == [first.name]
    serving.wait_for(lambda: fetch(server, url)[0] == 503, SOON, "the file that is not there")
    check_listed(server, second)
    publish(cell.volumes[0], first)
    until(server, lambda: not scan(server)["failed"], "a scan that finds them")
    serving.wait_for(lambda: fetch(server, url) == (200, first.sha256), SOON, "the file")


def prompt(call, *arguments):
    """The result of the call, which must return at once."""
    begin = time.monotonic()
    result = call(*arguments)
    assert time.monotonic() - begin < PROMPT
    return result


class Asking(threading.Thread):
    """A client that waits for a file."""

    def __init__(self, server, url, sha256):
        super().__init__()
        self.server, self.url, self.sha256 = server, url, sha256
        self.is_well = False
        self.start()

    def run(self):
        with contextlib.closing(self.server.connect(PATIENCE)) as connection:
            reply = serving.ask(connection, self.url.removeprefix(self.server.url))
        self.is_well = reply.status == 503 or hashlib.sha256(reply.body).hexdigest() == self.sha256


def test_stopped_file_server(cell, serve, make, tmp_path):
    """Pages, and files on other volumes, do not wait for it. Requests for its files are answered when it continues."""
    wheels = [make("alpha", "1.0"), make("beta", "1.0")]
    for volume, wheel in zip(cell.volumes, wheels):
        publish(volume, wheel)
    local = storelib.make_wheel(tmp_path / "disk", "local", "1.0")
    server = serve(None, "--rescan", "1", config=CONFIG.format(*cell.volumes, tmp_path / "disk"))
    links = [link for wheel in wheels for link in listed(server, project_of(wheel)).values()]
    for volume in cell.volumes:
        volume.release()  # the client must ask again
    with cell.stopped("dafileserver"):
        asking = [Asking(server, *link) for link in links for _ in range(CROWD)]
        for wheel in wheels:
            assert wheel.name in prompt(listed, server, project_of(wheel))
        prompt(check_listed, server, local)
        newer = storelib.make_wheel(tmp_path / "disk", "local", "2.0")
        until(server, lambda: newer.name in listed(server, "local"), "a new wheel on the disk")
    for one in asking:
        one.join(PATIENCE)
    assert all(one.is_well for one in asking)
    for url, sha256 in links:
        serving.wait_for(lambda one=(url, sha256): fetch(server, one[0]) == (200, one[1]), PATIENCE, url)
