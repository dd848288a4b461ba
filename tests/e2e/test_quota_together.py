# SPDX-License-Identifier: Apache-2.0
"""A quota limits all uploads together, of all servers on one catalog; and all of it can be used, whatever happens to other
uploads."""
import collections
import concurrent.futures
import contextlib
import threading

import pytest

import serving
import storelib
import uploading

PLATFORM = "debian-12-x86_64"
SIZE = 600_000  # of which a part is taken before the last byte has come
SOON = 120
FIT, TRIED = 4, 12


class Site:
    """Two servers on one catalog, and wheels that are equally large."""

    def __init__(self, folder, serve, quota):
        self.platform = folder / "store" / PLATFORM
        self.platform.mkdir(parents=True)
        by_size = collections.defaultdict(list)  # their small members compress to slightly different sizes
        for name in (f"p{number:03}" for number in range(1000)):
            wheel = storelib.make_wheel(folder / "built", name, "1.0", size=SIZE)
            by_size[wheel.size].append(wheel)
            if len(by_size[wheel.size]) == TRIED:
                break
        self.size, self.wheels = wheel.size, by_size[wheel.size]
        config = f"[store]\npath = {folder / 'store'}\n[platform {PLATFORM}]\n{quota(self.size)}\n"
        self.servers = [serve(config=config, state=folder / "state") for _ in range(2)]
        self.token = uploading.add_token(self.servers[0])

    def held(self):
        """Bytes and files on the platform, with those of running uploads."""
        sizes = []
        for path in self.platform.rglob("*"):
            with contextlib.suppress(FileNotFoundError):
                sizes.append(path.stat().st_size if path.is_file() else -1)
        return sum(one for one in sizes if one > 0), len([one for one in sizes if one > 0])

    def on_their_way(self):
        """How many uploads have bytes on the disk."""
        found = 0
        for path in self.platform.rglob("*.tmp"):
            with contextlib.suppress(FileNotFoundError):
                found += path.stat().st_size > 0
        return found

    def upload_all(self, wheels):
        """At once, through both servers; the statuses."""
        together = threading.Barrier(len(wheels))

        def send(number, wheel):
            together.wait(SOON)
            return uploading.upload(self.servers[number % 2], PLATFORM, wheel.path, self.token).status
        with concurrent.futures.ThreadPoolExecutor(len(wheels)) as pool:
            return list(pool.map(send, range(len(wheels)), wheels))

    @contextlib.contextmanager
    def begun(self, server, wheel, announced=True):
        """An upload of which all but the last bytes have arrived, and are partly on the disk."""
        body, content_type = uploading.encode(uploading.form_of(wheel.path))
        headers = {"Content-Type": content_type, **uploading.authorization(self.token)}
        headers |= {"Content-Length": str(len(body))} if announced else {"Transfer-Encoding": "chunked"}
        before = self.on_their_way()
        with contextlib.closing(server.connect(SOON)) as connection:
            connection.putrequest("POST", f"/upload/{PLATFORM}/")
            for name, value in headers.items():
                connection.putheader(name, value)
            part = body[:-1000]
            connection.endheaders(part if announced else b"%x\r\n%s\r\n" % (len(part), part))
            serving.wait_for(lambda: self.on_their_way() > before, SOON, "its bytes")
            yield connection


def bytes_of(files):
    return lambda size: f"quota-bytes = {files * size}"


@pytest.mark.parametrize("quota", [bytes_of(FIT), lambda size: f"quota-files = {FIT}"], ids=["bytes", "files"])
def test_burst_through_two_servers_fills_the_quota_exactly(serve, tmp_path, quota):
    site = Site(tmp_path, serve, quota)
    most, done = [0, 0], threading.Event()

    def watch():
        while not done.wait(0.002):
            most[:] = map(max, most, site.held())
    watcher = threading.Thread(target=watch)
    watcher.start()
    statuses = site.upload_all(site.wheels)
    done.set()
    watcher.join()
    assert sorted(statuses) == [200] * FIT + [507] * (TRIED - FIT)
    assert site.held() == (FIT * site.size, FIT)
    assert most == [FIT * site.size, FIT]
    for server in site.servers:
        assert len(uploading.json.loads(server.get(f"/{PLATFORM}/simple/", {
            "Accept": "application/vnd.pypi.simple.v1+json"}).body)["projects"]) == FIT


@pytest.mark.parametrize("announced", [True, False], ids=["announced", "chunked"])
def test_aborted_uploads_give_their_room_back(serve, tmp_path, announced):
    """Uploads of a client that disconnects, and of a server that is killed."""
    site = Site(tmp_path, serve, bytes_of(FIT))
    with contextlib.ExitStack() as stack:
        for wheel in site.wheels[:FIT]:
            stack.enter_context(site.begun(site.servers[1], wheel, announced))
        if announced:
            reply = uploading.upload(site.servers[0], PLATFORM, site.wheels[-1].path, site.token)
            assert reply.status == 507 and b"is full" in reply.body
        site.servers[1].process.kill()
        site.servers[1].wait_killed()
    with contextlib.ExitStack() as stack:
        for wheel in site.wheels[:FIT]:
            stack.enter_context(site.begun(site.servers[0], wheel, announced))
    site.servers[1] = site.servers[0]

    for wheel in site.wheels[:FIT]:  # there is room once the server has noticed that its clients are gone
        serving.wait_for(lambda wheel=wheel: site.upload_all([wheel]) == [200], SOON, f"room for {wheel.name}")
    assert len(list(site.platform.rglob("*.whl"))) == FIT
    assert uploading.upload(site.servers[0], PLATFORM, site.wheels[-1].path, site.token).status == 507


def test_file_that_is_there_costs_nothing(serve, tmp_path):
    """A form with more parts after the file is counted correctly at its end."""
    site = Site(tmp_path, serve, bytes_of(2))
    assert site.upload_all(site.wheels[:1]) == [200]
    assert site.upload_all([site.wheels[0]] * 2) == [200, 200]
    assert uploading.upload(site.servers[0], PLATFORM, site.wheels[0].path, site.token).status == 200
    parts = uploading.form_of(site.wheels[1].path)
    body_behind = [parts[-1], *parts[:-1]]
    reply = uploading.post(site.servers[1], f"/upload/{PLATFORM}/", body_behind, site.token)
    assert reply.status in (200, 507), reply.body
    assert site.upload_all(site.wheels[1:2]) == [200]
    assert site.held()[0] == 2 * site.size


@pytest.mark.parametrize("quota", [bytes_of(2), lambda size: "quota-files = 2"], ids=["bytes", "files"])
@pytest.mark.parametrize("announced", [True, False], ids=["announced", "chunked"])
def test_full_platform_accepts_an_identical_upload(serve, tmp_path, quota, announced):
    """Such an upload changes nothing; only one such file at a time may exceed the quota while it arrives."""
    site = Site(tmp_path, serve, quota)
    assert site.upload_all(site.wheels[:2]) == [200, 200]
    full = site.held()

    def again(wheel, path=None):
        body, content_type = uploading.encode(uploading.form_of(path or wheel.path))
        headers = {"Content-Type": content_type, **uploading.authorization(site.token)}
        with contextlib.closing(site.servers[1].connect(SOON)) as connection:
            connection.request("POST", f"/upload/{PLATFORM}/", body if announced else iter([body[:-900], body[-900:]]),
                               headers, encode_chunked=not announced)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
    for wheel in site.wheels[:2]:
        status, words = again(wheel)
        assert status == 200 and "the same bytes were published before" in words
    assert again(site.wheels[2])[0] == 507
    larger = storelib.make_wheel(tmp_path / "larger", "larger", "1.0", size=2 * SIZE).path.rename(
        tmp_path / "larger" / site.wheels[0].name)
    assert again(None, larger)[0] == 507
    assert site.held() == full
    with site.begun(site.servers[0], site.wheels[0], announced):
        serving.wait_for(lambda: again(site.wheels[1])[0] == 503, SOON, "that the other one has the place")
    serving.wait_for(lambda: again(site.wheels[1])[0] == 200, SOON, "that the place is free again")
    serving.wait_for(lambda: site.held() == full, SOON, "that nothing is left")
