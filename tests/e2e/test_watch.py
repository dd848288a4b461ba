# SPDX-License-Identifier: Apache-2.0
"""A server sees at once what others do to its store, without a scan of all. Scans of all are an hour apart here, so what
shows was told by the file system."""
import json
import os
import shutil
import time

import pytest

import pages
import serving
import storelib

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
    for number in range(50000):
        os.rename(watched.first.path, folder / f"{number % 3}-{watched.first.name}")
        os.rename(folder / f"{number % 3}-{watched.first.name}", watched.first.path)
    for number in range(5000):
        os.rename(watched.first.path, folder / f"x-1.{number}-py3-none-any.whl")
        os.rename(folder / f"x-1.{number}-py3-none-any.whl", watched.first.path)
    assert watched.get("/-/ready").status == 200
    wheel = storelib.make_wheel(folder, "six", "1.1")
    shows(watched, watched.first, wheel)
