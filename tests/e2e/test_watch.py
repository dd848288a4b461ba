# SPDX-License-Identifier: Apache-2.0
"""A server sees at once what others do to its store, without a scan of all. Scans of all are an hour apart here, so what
shows was told by the file system."""
import json
import os
import shutil
import signal
import subprocess
import time

import pytest

import memberships
import pages
import promtext
import serving
import storelib
import uploading

SECONDS = 30
PLATFORM = "ubuntu-22.04-x86_64"


def health(server):
    return json.loads(server.get("/-/health").body)


def files(server, project, index=""):
    reply = server.get(f"{index}/simple/{project}/", {"Accept": pages.JSON})
    return {one.filename: one for one in pages.json_files(reply.body, server.url)} if reply.status == 200 else {}


def shows(server, *wheels, project="six", index=""):
    """Waits until exactly these wheels are listed."""
    expected = sorted(one.name for one in wheels)
    serving.wait_for(lambda: sorted(files(server, project, index)) == expected, SECONDS, f"{expected} of {project}")


def scans(server):
    return health(server)["scan"]["ended"]


@pytest.fixture(name="aside")
def aside_fixture(tmp_path):
    """A folder outside of the store."""
    path = tmp_path / "aside"
    path.mkdir()
    return path


@pytest.fixture(name="watched")
def watched_fixture(serve, tmp_path):
    """A server whose store has one wheel on a platform."""
    store = tmp_path / "store"
    storelib.make_wheel(store / PLATFORM / "six", "six", "1.0")
    server = serve(store, "--rescan", "3600")
    serving.wait_for(lambda: health(server)["watch"]["folders"], SECONDS, "the watch")
    server.platform = store / PLATFORM
    server.first = storelib.make_wheel(store / PLATFORM / "six", "six", "1.0")
    yield server
    assert "Traceback" not in server.errors()


def test_copied_moved_and_linked(watched, aside):
    wheels = [storelib.make_wheel(aside, "six", f"1.{number}") for number in range(1, 4)]
    folder = watched.platform / "six"
    shutil.copy(wheels[0].path, folder)
    shows(watched, watched.first, wheels[0])
    os.rename(wheels[1].path, folder / wheels[1].name)
    shows(watched, watched.first, *wheels[:2])
    os.link(wheels[2].path, folder / wheels[2].name)
    shows(watched, watched.first, *wheels)


def test_half_written_file_waits_for_its_end(watched, aside):
    """Written slowly, with closes between, as by a builder that appends: never in quarantine, listed after the last."""
    wheel = storelib.make_wheel(aside, "six", "1.1")
    data = wheel.path.read_bytes()
    target = watched.platform / "six" / wheel.name
    for end in (10, len(data) // 2, len(data) - 1):
        with open(target, "ab") as out:
            out.write(data[os.path.getsize(target):end])
        seen = health(watched)["watch"]["scans"]
        serving.wait_for(lambda before=seen: health(watched)["watch"]["scans"] > before, SECONDS, "a look at the part")
        assert sorted(files(watched, "six")) == [watched.first.name]
    with open(target, "ab") as out:
        out.write(data[-1:])
        out.flush()
        time.sleep(0.3)  # longer than a burst is waited for: no look before the close
        assert sorted(files(watched, "six")) == [watched.first.name]
    shows(watched, watched.first, wheel)
    assert health(watched)["scan"]["quarantined"] == 0


def test_temporary_name_and_rename(watched, aside):
    """As rsync does."""
    wheel = storelib.make_wheel(aside, "six", "1.1")
    folder = watched.platform / "six"
    shutil.copy(wheel.path, folder / f".{wheel.name}.Xy12")
    os.rename(folder / f".{wheel.name}.Xy12", folder / wheel.name)
    shows(watched, watched.first, wheel)


def test_new_folders_with_wheels_at_once(watched):
    """The folders are filled before a watch can be on them."""
    wheels = [storelib.make_wheel(watched.platform / "new" / f"deep{number % 3}" / f"d{number}", "idna", f"1.{number}")
              for number in range(20)]
    shows(watched, *wheels, project="idna")
    more = storelib.make_wheel(watched.platform / "new" / "deep0" / "d0", "idna", "2.0")
    shows(watched, *wheels, more, project="idna")


def test_folders_that_move(watched, aside):
    wheel = storelib.make_wheel(aside / "idna", "idna", "1.0")
    os.rename(aside / "idna", watched.platform / "idna")
    shows(watched, wheel, project="idna")
    os.rename(watched.platform / "idna", watched.platform / "other")
    more = storelib.make_wheel(watched.platform / "other", "idna", "1.1")
    shows(watched, wheel, more, project="idna")
    os.rename(watched.platform / "other", aside / "idna")
    shows(watched, project="idna")
    shows(watched, watched.first)


def test_link_to_a_folder(watched):
    """Links lead to folders of the store; what comes into the folder shows under both."""
    first = storelib.make_wheel(watched.platform / "idna", "idna", "1.0")
    shows(watched, first, project="idna")
    os.symlink("idna", watched.platform / "also")
    second = storelib.make_wheel(watched.platform / "also", "idna", "1.1")
    shows(watched, first, second, project="idna")
    os.remove(watched.platform / "also")
    third = storelib.make_wheel(watched.platform / "idna", "idna", "1.2")
    shows(watched, first, second, third, project="idna")


def test_removed_and_changed(watched, aside):
    wheel = storelib.make_wheel(watched.platform / "six", "six", "1.1")
    shows(watched, watched.first, wheel)
    other = storelib.make_wheel(aside, "six", "1.1", files={"six.py": b"other\n"})
    os.replace(other.path, wheel.path)
    serving.wait_for(lambda: files(watched, "six")[wheel.name].sha256 == other.sha256, SECONDS, "the bytes")
    os.remove(wheel.path)
    shows(watched, watched.first)


def test_sidecars_by_hand(watched):
    sidecar = watched.first.path.with_name(watched.first.name + ".yanked")
    sidecar.write_text("broken\n")
    serving.wait_for(lambda: files(watched, "six")[watched.first.name].yanked == "broken", SECONDS, "the yank")
    sidecar.unlink()
    serving.wait_for(lambda: not files(watched, "six")[watched.first.name].yanked, SECONDS, "the end of the yank")
    second = storelib.make_wheel(watched.platform / "six", "six", "1.1")
    shows(watched, watched.first, second)
    tombstone = second.path.with_name(second.name + ".pruned")
    tombstone.write_text('{"reason": "by hand"}')
    shows(watched, watched.first)
    tombstone.unlink()
    shows(watched, watched.first, second)


def test_last_files_of_a_platform_stay_for_the_scan(watched):
    """As for a scan of all: the volume is more likely not mounted."""
    storelib.make_wheel(watched.platform.parent / "debian-12-x86_64" / "idna", "idna", "1.0")
    os.remove(watched.first.path)
    serving.wait_for(lambda: "is its volume mounted?" in watched.errors(), SECONDS, "the doubt of a scan")
    assert sorted(files(watched, "six", f"/{PLATFORM}")) == [watched.first.name]


def test_new_platform(watched):
    wheel = storelib.make_wheel(watched.platform.parent / "debian-12-x86_64" / "idna", "idna", "1.0")
    shows(watched, wheel, project="idna", index="/debian-12-x86_64")
    more = storelib.make_wheel(watched.platform.parent / "debian-12-x86_64" / "idna", "idna", "1.1")
    shows(watched, wheel, more, project="idna", index="/debian-12-x86_64")


def test_a_flood_of_renames(watched, aside):
    """Of few names, of more than a folder's, and of more folders than are looked at one by one: the server answers
    meanwhile, and shows what came after it."""
    folder = watched.platform / "six"
    for number in range(20000):
        os.rename(watched.first.path, folder / f"{number % 3}-{watched.first.name}")
        os.rename(folder / f"{number % 3}-{watched.first.name}", watched.first.path)
    for number in range(2500):
        os.rename(watched.first.path, folder / f"x-1.{number}-py3-none-any.whl")
        os.rename(folder / f"x-1.{number}-py3-none-any.whl", watched.first.path)
    assert watched.get("/-/ready").status == 200
    wheel = storelib.make_wheel(folder, "six", "1.1")
    shows(watched, watched.first, wheel)


def test_dropped_events_lead_to_a_scan_of_all(watched, aside):
    """The kernel queues 16,384 events for a server that does not read them. The wheel is in a folder of which no event
    tells: those that are not dropped lead to a look at another one."""
    with open("/proc/sys/fs/inotify/max_queued_events", encoding="ascii") as most:
        events = int(most.read())
    if events > 100000:
        pytest.skip(f"the queue holds {events} events")
    folder, silent = watched.platform / "six", watched.platform / "silent"
    before = storelib.make_wheel(silent, "six", "1.2")
    shows(watched, watched.first, before)
    watched.signal(signal.SIGSTOP)
    os.mkdir(folder / "other")
    for number in range(events // 2):
        os.rename(folder / "other", folder / f"other{number}")
        os.rename(folder / f"other{number}", folder / "other")
    wheel = storelib.make_wheel(aside, "six", "1.1")
    os.rename(wheel.path, silent / wheel.name)
    watched.signal(signal.SIGCONT)
    shows(watched, watched.first, before, wheel)
    assert health(watched)["watch"]["overflows"] == 1
    assert watched.errors().count("watch: the kernel has dropped events") == 1


def test_generation_of_a_view_by_another_process(serve, tmp_path):
    store = tmp_path / "store"
    wheel = storelib.make_wheel(store / PLATFORM / "six", "six", "1.0")
    memberships.append(store, "other", [(PLATFORM, wheel)])
    server = serve(None, "--rescan", "3600", config=f"[store]\npath = {store}\n[platform {PLATFORM}]\n[view tested]\n"
                                                     f"from = {PLATFORM}\n[view other]\nfrom = {PLATFORM}\n")
    shows(server, wheel, index="/other")
    shows(server, index="/tested")
    memberships.append(store, "tested", [(PLATFORM, wheel)])  # its folder is new
    shows(server, wheel, index="/tested")
    second = storelib.make_wheel(store / PLATFORM / "six", "six", "1.1")
    memberships.append(store, "tested", [(PLATFORM, second)])
    shows(server, wheel, second, index="/tested")


def test_two_servers_on_one_catalog(serve, tmp_path, aside):
    """Each sees the change; the file is taken once."""
    store, state = tmp_path / "store", tmp_path / "state"
    first = storelib.make_wheel(store / PLATFORM / "six", "six", "1.0")
    servers = [serve(store, "--rescan", "3600", state=state) for _ in range(2)]
    for server in servers:
        serving.wait_for(lambda one=server: health(one)["watch"]["folders"] == 3, SECONDS, "the watch")
    wheel = storelib.make_wheel(aside, "six", "1.1")
    os.rename(wheel.path, store / PLATFORM / "six" / wheel.name)
    for server in servers:
        shows(server, first, wheel)
    for server in servers:
        serving.wait_for(lambda one=server: health(one)["watch"]["scans"], SECONDS, "the look of each")
    assert servers[0].errors().count("watch: 1 added") == 1  # both write to one file


def test_upload_is_looked_at_without_reading_it(serve, tmp_path, aside):
    """Nor does what the server itself writes count as changed."""
    store = tmp_path / "store"
    storelib.make_wheel(store / PLATFORM / "six", "six", "1.0")
    server = serve(store, "--rescan", "3600", "--log-level", "debug")
    serving.wait_for(lambda: health(server)["watch"]["folders"], SECONDS, "the watch")
    token = uploading.add_token(server, "--upload", PLATFORM)
    wheel = storelib.make_wheel(aside, "idna", "1.0")
    assert uploading.upload(server, PLATFORM, wheel.path, token).status == 200
    serving.wait_for(lambda: health(server)["watch"]["scans"], SECONDS, "the look")
    told = promtext.Metrics(server.get("/-/metrics").body.decode())
    assert told("wheelcache_watch_fruitless_scans_total") == told("wheelcache_watch_scans_total")
    assert sorted(files(server, "idna")) == [wheel.name]


def test_other_bytes_under_a_known_name_are_in_the_log(watched, aside):
    other = storelib.make_wheel(aside, "six", "1.0", files={"six.py": b"other\n"})
    os.replace(other.path, watched.first.path)
    serving.wait_for(lambda: f"watch: other bytes under a known name: {PLATFORM}/six/{other.name}" in watched.errors(),
                     SECONDS, "the warning")


def test_no_watch_where_nothing_is_scanned_or_wanted(serve, tmp_path, aside):
    store = tmp_path / "store"
    storelib.make_wheel(store / PLATFORM / "six", "six", "1.0")
    off = [serve(store, "--rescan", "0"), serve(store, "--rescan", "3600", config="[index]\nwatch = no\n")]
    on = serve(store, "--rescan", "0", config="[index]\nwatch = yes\n")
    serving.wait_for(lambda: health(on)["watch"]["folders"], SECONDS, "the watch")
    wheel = storelib.make_wheel(aside, "idna", "1.0")
    os.rename(wheel.path, store / PLATFORM / "six" / wheel.name)
    shows(on, wheel, project="idna")
    for server in off:
        assert health(server)["watch"] == {"on": False, "folders": 0, "refused": 0, "overflows": 0, "floods": 0,
                                           "scans": 0, "lag-ms": 0}
        assert not health(server)["platforms"][0]["watched"]
        assert not files(server, "idna")


def test_reload_ends_and_begins_the_watch(serve, tmp_path):
    store = tmp_path / "store"
    storelib.make_wheel(store / PLATFORM / "six", "six", "1.0")
    server = serve(store, "--rescan", "3600", config="[index]\nwatch = no\n")
    for value, folders in (("yes", 3), ("no", 0), ("auto", 3)):
        server.config_path.write_text(f"[index]\nwatch = {value}\n")
        server.signal(signal.SIGHUP)
        serving.wait_for(lambda want=folders: health(server)["watch"]["folders"] == want, SECONDS, f"watch = {value}")


FEW = ["unshare", "--user", "--map-root-user", "sh", "-c", 'echo 4 > /proc/sys/user/max_inotify_watches && exec "$0" "$@"']


def test_too_few_watches(tmp_path):
    """What is watched is seen at once, the rest by the next scan; the log says once what to set."""
    if subprocess.run([*FEW, "true"], capture_output=True, check=False).returncode:
        pytest.skip("no user namespaces here")
    store = tmp_path / "store"
    for number in range(8):
        storelib.make_wheel(store / PLATFORM / f"p{number}", f"p{number}", "1.0")
    config = tmp_path / "config"
    config.write_text("[server]\nrescan = 3600\n")
    server = serving.Server(store, tmp_path, ["--config", config], program=[*FEW, serving.binary()])
    try:
        serving.wait_for(lambda: health(server)["watch"]["refused"] == 6, SECONDS, "the watches that it lacks")
        assert health(server)["watch"]["folders"] == 4
        server.signal(signal.SIGHUP)
        wheels = [storelib.make_wheel(store / PLATFORM / f"p{number}", f"p{number}", "1.1") for number in range(8)]
        for number, wheel in enumerate(wheels):
            serving.wait_for(lambda n=number, one=wheel: one.name in files(server, f"p{n}"), SECONDS, wheel.name)
            server.signal(signal.SIGHUP)
        assert server.errors().count("watch: 4 of 10 folders are watched") == 1
        assert server.errors().count("set fs.inotify.max_user_watches to 10 or more") == 1
    finally:
        server.stop()
