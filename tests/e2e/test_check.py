# SPDX-License-Identifier: Apache-2.0
"""wheelcache check: what it finds, and that it writes nothing."""
import contextlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import time

import pytest

import serving
import storelib
from indexing import PLATFORM, Indexed, age, numbers, on_terminal, one_line, open_store
from others import as_nobody

KINDS = ["corrupt", "changed", "orphaned", "strange", "misplaced", "unreadable", "unfit", "views"]


@pytest.fixture(name="at")
def at_fixture(tmp_path):
    return Indexed(tmp_path)


@pytest.fixture(name="open_at")
def open_at_fixture():
    with open_store() as at:
        yield at


def flip(wheel, times=None):
    """Flips a bit in the middle; the mtime is restored, or set to the given one."""
    before = os.stat(wheel.path)
    with open(wheel.path, "r+b") as file:
        file.seek(wheel.size // 2)
        byte = file.read(1)[0]
        file.seek(wheel.size // 2)
        file.write(bytes([byte ^ 1]))
    os.utime(wheel.path, ns=times or (before.st_mtime_ns, before.st_mtime_ns))


def found(summary):
    """{kind: its list} for the lists that are not empty; the numbers must agree."""
    for kind in KINDS:
        assert summary[kind] == len(summary["lists"][kind])
    return {kind: summary["lists"][kind] for kind in KINDS if summary["lists"][kind]}


def paths(summary):
    return {kind: [item["path"] for item in items] for kind, items in found(summary).items()}


def state(at):
    """The names, bytes and mtimes of the store and of the catalog."""
    result = {}
    for folder, _, files in os.walk(at.store):
        for path in [folder, *(os.path.join(folder, name) for name in files)]:
            result[path] = os.stat(path).st_mtime_ns, os.path.isfile(path) and open(path, "rb").read()
    result["catalog"] = os.stat(at.catalog).st_mtime_ns, at.catalog.read_bytes()
    return result


def test_good_store_has_nothing(at):
    wheels = [at.wheel(f"{PLATFORM}/s/six", version=f"1.{number}") for number in range(5)]
    (at.store / PLATFORM / "index.html").write_text("no wheel")
    at.index()
    summary = at.check()
    assert found(summary) == {}
    numbers(summary, files=5, listed=5, hashed=5, ignored=1, seed=0, bytes_hashed=sum(one.size for one in wheels))
    assert summary["seconds"] >= 0


def test_flipped_bit_is_corrupt(at):
    good, bad = at.wheel(f"{PLATFORM}/six"), at.wheel(f"{PLATFORM}/six", version="2.0")
    at.index()
    flip(bad)
    item, = found(at.check(code=1))["corrupt"]
    assert item["path"] == f"{PLATFORM}/six/{bad.name}"
    assert item["recorded"] == bad.sha256 and item["found"] not in (bad.sha256, good.sha256)


def test_other_bytes_at_another_time_are_changed(at):
    wheel = at.wheel("six")
    at.index()
    flip(wheel, times=(5, 5))
    assert paths(at.check(code=1)) == {"changed": [f"wheels/six/{wheel.name}"]}
    at.index(code=0)
    assert found(at.check()) == {}


def test_another_size_is_changed_and_needs_no_hashing(at):
    wheel = at.wheel("six")
    at.index()
    with open(wheel.path, "ab") as file:
        file.write(b"more")
    summary = at.check("--sample", 0, code=1)
    assert found(summary) == {"changed": [{"path": f"wheels/six/{wheel.name}", "reason": "another size"}]}
    numbers(summary, hashed=0, bytes_hashed=0)


def test_another_time_alone_is_nothing(at):
    wheel = at.wheel("six")
    at.index()
    os.utime(wheel.path, (storelib.OLD + 9, storelib.OLD + 9))
    assert found(at.check()) == {}


def test_deleted_files_and_folders_are_orphaned(at):
    kept, gone = at.wheel("six"), at.wheel("six", version="2.0")
    folder = at.wheel("attrs", name="attrs")
    at.index()
    gone.path.unlink()
    shutil.rmtree(folder.path.parent)
    assert paths(at.check(code=1)) == {"orphaned": [f"wheels/attrs/{folder.name}", f"wheels/six/{gone.name}"]}
    assert kept.path.exists()
    at.index()
    assert found(at.check()) == {}


def test_new_wheels_are_strange_until_a_scan(at):
    at.wheel("six")
    at.index()
    new = at.wheel("six", version="2.0", mtime=time.time())
    folder = at.wheel("attrs", name="attrs")
    (at.store / "six" / "notes.txt").write_text("no wheel")
    summary = at.check(code=1)
    assert paths(summary) == {"strange": [f"wheels/attrs/{folder.name}", f"wheels/six/{new.name}"]}
    numbers(summary, files=3, ignored=1)
    at.index()
    assert found(at.check()) == {}


def test_new_wheel_is_found_where_the_folder_looks_as_before(at):
    at.wheel("six")
    age(at.store)
    at.index()
    new = at.wheel("six", version="2.0")
    age(at.store)
    numbers(at.index(), files=1, added=0)
    assert paths(at.check(code=1)) == {"strange": [f"wheels/six/{new.name}"]}


def test_what_a_scan_would_not_list_is_not_strange(at):
    at.wheel("six")
    at.index()
    for name, mtime in [("old", storelib.OLD), ("new", time.time())]:
        path = at.store / "six" / f"{name}-1.0-py3-none-any.whl"
        path.write_bytes(b"half a wheel")
        os.utime(path, (mtime, mtime))
    summary = at.check()
    assert found(summary) == {}
    numbers(summary, files=3, damaged=1, waiting=1)
    at.index()
    numbers(at.check(), files=3, damaged=0, waiting=1)


@pytest.mark.parametrize("folder, is_misplaced", [
    ("six", False), ("s/six", False), ("SIX", False), ("", False), ("s", False), ("team/numpy/deep", False),
    ("numpy", True), ("n/numpy", True), ("s/numpy", True)])
def test_wrong_project_folder_is_misplaced(at, folder, is_misplaced):
    wheel = at.wheel(f"{PLATFORM}/{folder}")
    at.index()
    expected = {"misplaced": [{"path": f"{PLATFORM}/{folder}/{wheel.name}", "project": "six"}]}
    assert found(at.check(code=int(is_misplaced))) == (expected if is_misplaced else {})


def test_moved_file_is_orphaned_and_strange(at):
    wheel = at.wheel("six")
    at.index()
    (at.store / "s").mkdir()
    (at.store / "six").rename(at.store / "s" / "six")
    assert paths(at.check(code=1)) == {"orphaned": [f"wheels/six/{wheel.name}"],
                                       "strange": [f"wheels/s/six/{wheel.name}"]}


def test_unreadable_file_is_reported_and_the_others_are_checked(open_at):
    bad, corrupt = open_at.wheel("six"), open_at.wheel("six", version="2.0")
    open_at.wheel("attrs", name="attrs")
    open_at.index(**as_nobody())
    os.chmod(bad.path, 0)
    flip(corrupt)
    summary = open_at.check(code=1, **as_nobody())
    assert set(found(summary)) == {"unreadable", "corrupt"}
    assert f"{bad.path}: " in summary["lists"]["unreadable"][0]["reason"]
    assert "Permission denied" in summary["lists"]["unreadable"][0]["reason"]
    numbers(summary, files=3, hashed=2)


def test_unreadable_folder_orphans_nothing(open_at):
    open_at.wheel("six")
    open_at.wheel("attrs", name="attrs")
    open_at.index(**as_nobody())
    os.chmod(open_at.store / "six", 0)
    summary = open_at.check(code=1, **as_nobody())
    assert set(found(summary)) == {"unreadable"}
    numbers(summary, files=1, unreadable=1)


def test_missing_platform_is_one_line(at):
    for number in range(3):
        at.wheel(f"{PLATFORM}/six", version=f"1.{number}")
    at.wheel("ubuntu-22.04-x86_64/six")
    at.index()
    shutil.rmtree(at.store / PLATFORM)
    summary = at.check(code=1)
    assert set(found(summary)) == {"unreadable"} and summary["unreadable"] == 1
    reason = summary["lists"]["unreadable"][0]["reason"]
    assert PLATFORM in reason and "3 files" in reason


def test_duplicates_and_quarantined_files_are_no_findings(at):
    at.wheel("a/six")
    at.wheel("b/six")
    (at.store / "bad-1.0-py3-none-any.whl").write_bytes(b"junk")
    os.utime(at.store / "bad-1.0-py3-none-any.whl", (storelib.OLD, storelib.OLD))
    at.index()
    numbers(at.check("--all"), files=3, listed=1, hashed=1)


def test_sample_has_the_requested_size_and_differs_each_time(at):
    for number in range(20):
        at.wheel("six", version=f"1.{number}")
    at.index()
    runs = [at.check("--sample", 4) for _ in range(4)]
    for run in runs:
        numbers(run, files=20, listed=20, hashed=4)
    assert len({run["seed"] for run in runs}) > 1
    numbers(at.check("--sample", 0), hashed=0)
    numbers(at.check("--sample", 50), hashed=20, seed=0)
    numbers(at.check("--all"), hashed=20, seed=0)


def test_seed_chooses_the_same(at):
    wheels = [at.wheel("six", version=f"1.{number}") for number in range(20)]
    at.index()
    for wheel in wheels:
        flip(wheel)
    first = at.check("--sample", 5, code=1)
    again = at.check("--sample", 5, "--seed", first["seed"], code=1)
    assert again["lists"] == first["lists"] and again["seed"] == first["seed"]
    assert first["corrupt"] == 5


def test_samples_cover_the_store_over_time(at):
    wheels = [at.wheel("six", version=f"1.{number}") for number in range(10)]
    at.index()
    flip(wheels[3])
    assert any(serving.run(*at.command("--sample", 5, "--quiet", name="check")).returncode for _ in range(40))


@pytest.mark.parametrize("threads", [1, 3])
def test_rate_is_kept(at, threads):
    for number in range(6):
        at.wheel("six", version=f"1.{number}", size=200_000)
    at.index()
    begin = time.monotonic()
    summary = at.check("--all", "--rate", "1M", "--threads", threads)
    seconds = time.monotonic() - begin
    assert summary["bytes_hashed"] > 1_200_000
    assert summary["bytes_hashed"] / (1 << 20) <= seconds < 120
    assert summary["seconds"] <= seconds


def test_nothing_is_written(at):
    wheel = at.wheel("six")
    at.wheel("numpy")
    at.wheel("attrs", name="attrs")
    at.index()
    flip(wheel)
    at.wheel("six", version="2.0")
    (at.store / "attrs" / "attrs-1.0-py3-none-any.whl").unlink()
    before = state(at)
    at.check("--all", code=1)
    assert state(at) == before
    numbers(at.index(), added=1, gone=1)  # files left beside the catalog do not matter


@pytest.mark.parametrize("is_killed", [False, True])
def test_nothing_is_written_where_a_write_is_not_in_the_catalog_yet(at, is_killed):
    """The last connection that closes would write a WAL that is not empty into the catalog."""
    at.wheel("six")
    at.index()
    with contextlib.closing(sqlite3.connect(at.catalog)) as writer:
        writer.execute("UPDATE store SET change = change + 1")
        writer.commit()
        if is_killed:
            shutil.copytree(at.catalog.parent, at.folder / "killed", ignore=shutil.ignore_patterns("*-shm"))
            at.catalog = at.folder / "killed" / at.catalog.name
        wal = at.catalog.with_name(f"{at.catalog.name}-wal")
        before = state(at), wal.read_bytes()
        assert wal.stat().st_size > 0
        assert found(at.check("--all")) == {}
        assert (state(at), wal.read_bytes()) == before


def test_store_and_catalog_may_be_read_only(open_at):
    open_at.wheel("six")
    open_at.index()
    for folder, _, files in os.walk(open_at.folder):
        for name in files:
            os.chmod(os.path.join(folder, name), 0o444)
        os.chmod(folder, 0o555)
    before = state(open_at)
    listing = sorted(os.listdir(open_at.catalog.parent))
    assert found(open_at.check("--all", **as_nobody())) == {}
    assert state(open_at) == before and sorted(os.listdir(open_at.catalog.parent)) == listing


def opened(process):
    """The paths that a process has open."""
    folder = f"/proc/{process.pid}/fd"
    names = []
    for name in os.listdir(folder):
        with contextlib.suppress(FileNotFoundError):
            names.append(os.readlink(f"{folder}/{name}"))
    return names


def is_stopped(process):
    with open(f"/proc/{process.pid}/stat", encoding="ascii") as stat:
        return stat.read().rpartition(")")[2].split()[0] == "T"


@contextlib.contextmanager
def held_while_it_reads(process):
    """Stops the process for the block as soon as it has a wheel open, so that it cannot end during the block."""
    serving.wait_for(lambda: any(name.endswith(".whl") for name in opened(process)), 60, "a wheel that is read")
    process.send_signal(signal.SIGSTOP)
    try:
        serving.wait_for(lambda: is_stopped(process), 60, "its stop")
        yield
    finally:
        process.send_signal(signal.SIGCONT)


@pytest.mark.skipif(os.geteuid() != 0, reason="takes two users")
def test_catalog_of_others_that_is_written_meanwhile_is_said(open_at):
    """Its folder is not writable, so it is read without locks: a write meanwhile is an error."""
    for number in range(3):
        open_at.wheel("six", version=f"1.{number}", size=200_000)
    open_at.index()
    os.chmod(open_at.catalog.parent, 0o755)
    os.chmod(open_at.catalog, 0o644)  # state is for its own account, unless the operator says otherwise
    checking = subprocess.Popen([serving.binary(), *open_at.command("--all", "--rate", "200K", name="check")],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **as_nobody())
    with held_while_it_reads(checking):
        open_at.wheel("six", version="2.0")
        open_at.index()
    _, err = checking.communicate(timeout=120)
    assert checking.returncode == 1 and "try again" in err


@contextlib.contextmanager
def slow_check(at):
    """Stops a check of about four seconds at one of the first files, for the block; yields a list that gets code and summary."""
    checking = subprocess.Popen([serving.binary(), *at.command("--all", "--json", "--rate", "200K", "--threads", 1,
                                                               name="check")], stdout=subprocess.PIPE, text=True)
    result = []
    with held_while_it_reads(checking):
        yield result
    out, _ = checking.communicate(timeout=120)
    result += checking.returncode, json.loads(out)


def test_what_a_scan_did_meanwhile_is_no_finding(at):
    wheels = [at.wheel("six", version=f"1.{number}", size=100_000) for number in range(8)]
    at.index()
    with slow_check(at) as result:
        for changed, gone in zip(wheels[::2], wheels[1::2]):
            flip(changed, times=(storelib.OLD * 10**9, storelib.OLD * 10**9 + 5))
            gone.path.unlink()
        at.index()
    assert result[0] == 0 and found(result[1]) == {}


def test_what_a_scan_added_meanwhile_is_not_strange(at):
    at.index()
    for number in range(8):
        at.wheel("six", version=f"1.{number}", size=100_000)
    with slow_check(at) as result:
        at.index()
    assert result[1]["strange"] < 8  # except those that were read before


def test_file_that_goes_meanwhile_is_orphaned(at):
    wheels = [at.wheel("six", version=f"1.{number}", size=100_000) for number in range(8)]
    at.index()
    with slow_check(at) as result:
        for wheel in wheels:
            wheel.path.unlink()
    assert result[0] == 1 and set(found(result[1])) == {"orphaned"}
    assert 0 < result[1]["orphaned"] == 8 - result[1]["hashed"]


def test_tells_people(at):
    good, bad = at.wheel("six"), at.wheel("six", version="2.0")
    at.index()
    done = serving.run(*at.command(name="check"))
    assert done.returncode == 0 and "0 corrupt\n" in done.stdout and " MB hashed in " in done.stdout
    assert done.stderr == ""
    flip(bad)
    done = serving.run(*at.command(name="check"))
    assert f"  wheels/six/{bad.name}: {bad.sha256} -> " in done.stdout and good.name not in done.stdout
    one_line(done, 1, "1 corrupt")
    one_line(serving.run(*at.command("--quiet", name="check")), 1, "1 corrupt")
    assert serving.run(*at.command("--quiet", name="check")).stdout == ""


def test_catalog_must_be_there_and_of_this_store(at):
    at.wheel("six")
    one_line(serving.run(*at.command(name="check")), 1, at.catalog)
    assert not at.catalog.parent.exists()
    at.index()
    first = at.store
    at.store = at.folder / "other"
    at.store.mkdir()
    one_line(serving.run(*at.command(name="check")), 2, first, at.store)


@pytest.mark.parametrize("options", [["--all", "--sample", "5"], ["--all", "--seed", "5"], ["--sample", "many"],
                                     ["--sample", "2000000"], ["--rate", "fast"], ["--rate"], ["--nonsense"],
                                     ["another"], ["--all=yes"]])
def test_wrong_command_lines_end_with_2(at, options):
    at.index()
    done = serving.run(*at.command(*options, name="check"))
    assert done.returncode == 2 and done.stderr and done.stdout == ""


def test_progress_on_a_terminal(at):
    for number in range(20):
        at.wheel("six", version=f"1.{number}", size=20_000)
    at.index()
    text = on_terminal(at.command("--rate", "1M", name="check"))
    assert b"files" in text and b"left" in text
    assert text.endswith(b"\r\x1b[K")
