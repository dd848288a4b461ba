# SPDX-License-Identifier: Apache-2.0
"""wheelcache index when something fails: what it keeps, and what it reports."""
import fcntl
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

WHEEL = "six-1.0-py3-none-any.whl"


@pytest.fixture(name="at")
def at_fixture(tmp_path):
    return Indexed(tmp_path)


@pytest.fixture(name="open_at")
def open_at_fixture():
    with open_store() as at:
        yield at


def test_platform_that_lost_all_is_not_believed(at):
    at.wheel(f"{PLATFORM}/six")
    at.wheel("ubuntu-22.04-x86_64/six")
    at.index()
    shutil.rmtree(at.store / PLATFORM / "six")
    at.wheel("ubuntu-22.04-x86_64/six", version="2.0")
    summary = at.index(code=1)
    numbers(summary, gone=0, added=1, problems=1)
    assert PLATFORM in summary["lists"]["problems"][0]["reason"]
    assert f"{PLATFORM}/six/{WHEEL}" in at.listed()
    at.index(code=1)
    numbers(at.index("--allow-empty"), gone=1, problems=0)
    assert f"{PLATFORM}/six/{WHEEL}" not in at.listed()


@pytest.mark.parametrize("left", [[], ["ubuntu-22.04-x86_64"]])
def test_platform_folder_that_is_gone_is_not_believed(at, left):
    for platform in [PLATFORM, *left]:
        at.wheel(f"{platform}/six")
    at.index()
    shutil.rmtree(at.store / PLATFORM)
    summary = at.index(code=1)
    assert "mounted" in summary["lists"]["problems"][0]["reason"]
    assert f"{PLATFORM}/six/{WHEEL}" in at.listed()
    at.index("--allow-empty")
    assert sorted(at.listed()) == [f"{platform}/six/{WHEEL}" for platform in left]


def test_flat_store_becomes_a_store_of_platforms(at):
    at.wheel("six")
    at.index()
    at.wheel(f"{PLATFORM}/six")
    at.index()
    assert list(at.listed()) == [f"{PLATFORM}/six/{WHEEL}"]


def test_missing_store_is_said(at):
    os.rmdir(at.store)
    one_line(at.run(), 1, at.store)


def test_catalog_is_of_one_store(at):
    at.wheel("six")
    at.index()
    first = at.store
    at.store = at.folder / "other"
    at.store.mkdir()
    one_line(at.run(), 2, first, at.store, at.catalog)


def pragma(text):
    def spoil(path):
        connection = sqlite3.connect(path)
        connection.execute(f"PRAGMA {text}")
        connection.close()
    return spoil


@pytest.mark.parametrize("spoil, code, word", [
    (pragma("user_version = 99"), 2, "newer"),
    (lambda path: path.write_bytes(b"this is no database, " * 100), 1, "not a database"),
    (pragma("application_id = 1"), 2, "not a catalog"),
], ids=["newer", "junk", "foreign"])
def test_strange_catalogs_are_refused_and_kept(at, spoil, code, word):
    at.wheel("six")
    at.index()
    spoil(at.catalog)
    before = at.catalog.read_bytes()
    one_line(at.run(), code, at.catalog, word)
    assert at.catalog.read_bytes() == before


def test_store_may_be_read_only(open_at):
    open_at.wheel("six")
    for folder, _, _ in os.walk(open_at.store):
        os.chmod(folder, 0o555)
    numbers(open_at.index(**as_nobody()), added=1)


def test_catalog_folder_that_is_not_writable_is_said(open_at):
    open_at.wheel("six")
    os.chmod(open_at.catalog.parent, 0o555)
    one_line(open_at.run(**as_nobody()), 1, open_at.catalog, "Permission denied")


def test_catalog_that_is_not_writable_is_said(open_at):
    open_at.wheel("six")
    open_at.index()
    os.chmod(open_at.catalog, 0o444)
    one_line(open_at.run(**as_nobody()), 1, open_at.catalog, "Permission denied")


def test_folder_that_cannot_be_read_stays_as_it_was(open_at):
    open_at.wheel("six")
    open_at.wheel("six/deep", name="deep")
    open_at.index(**as_nobody())
    open_at.wheel("attrs", name="attrs")
    os.chmod(open_at.store / "six", 0)
    summary = open_at.index(code=1, **as_nobody())
    numbers(summary, added=1, gone=0, problems=1)
    assert f"{open_at.store}/six" in summary["lists"]["problems"][0]["reason"]
    assert len(open_at.names()) == 3
    os.chmod(open_at.store / "six", 0o755)
    numbers(open_at.index(**as_nobody()), unchanged=3, problems=0)


def test_new_folder_that_cannot_be_read_is_looked_at_again(open_at):
    """While it cannot be read, the scan is incomplete and says so; what it found is kept."""
    open_at.wheel("six")
    hidden = open_at.wheel("attrs", name="attrs").path.parent
    age(open_at.store)
    os.chmod(hidden, 0)
    for run in range(2):
        summary = open_at.index(code=1, **as_nobody())
        numbers(summary, added=1 - run, files=1, problems=1)
        assert str(hidden) in summary["lists"]["problems"][0]["reason"]
        assert open_at.query("SELECT scanned FROM store") == [(1,)]
    os.chmod(hidden, 0o755)
    numbers(open_at.index(**as_nobody()), added=1, unchanged=1, problems=0)


def test_scan_that_saw_nothing_of_a_platform_does_not_count(open_at):
    options = config(open_at, f"[store]\npath = {open_at.store}\n[platform one]\n[platform two]\n")
    open_at.wheel("one")
    open_at.wheel("two")
    os.chmod(open_at.store / "two", 0)
    numbers(open_at.index(*options, code=1, **as_nobody()), added=1, problems=1)
    assert open_at.query("SELECT scanned FROM store") == [(0,)]
    os.chmod(open_at.store / "two", 0o755)
    numbers(open_at.index(*options, **as_nobody()), added=1, problems=0)
    assert open_at.query("SELECT scanned FROM store") == [(1,)]


def test_files_that_cannot_be_looked_at_stay_as_they_were(open_at):
    """A folder whose names can be read, but no file in it."""
    open_at.wheel("six")
    open_at.index(**as_nobody())
    os.chmod(open_at.store / "six", 0o444)
    os.utime(open_at.store / "six", (storelib.OLD, storelib.OLD))
    numbers(open_at.index(code=1, **as_nobody()), gone=0, problems=1)
    assert open_at.names() == [WHEEL]


def test_file_that_cannot_be_read_stays_as_it_was(open_at):
    wheel = open_at.wheel("six")
    open_at.index(**as_nobody())
    os.chmod(wheel.path, 0)
    os.utime(wheel.path, (storelib.OLD + 9, storelib.OLD + 9))
    numbers(open_at.index(code=1, **as_nobody()), problems=1, gone=0)
    assert open_at.names() == [WHEEL]


def test_full_disk_is_said(at):
    """A file size limit stands for the disk."""
    for number in range(60):
        at.wheel("six", version=f"1.{number}", metadata=storelib.metadata_bytes(
            "six", f"1.{number}", extra="".join(f"Classifier: {os.urandom(40).hex()}\n" for _ in range(40))))
    shell = 'ulimit -f 120; trap "" XFSZ; exec "$@"'
    done = subprocess.run(["sh", "-c", shell, "sh", serving.binary(), *at.command()], capture_output=True, text=True,
                          check=False)
    one_line(done, 1, at.catalog)
    numbers(at.index(), files=60)
    assert len(at.names()) == 60


def hold_lock(at):
    at.catalog.parent.mkdir(exist_ok=True)
    file = open(f"{at.catalog}.lock", "w", encoding="utf-8")
    fcntl.flock(file, fcntl.LOCK_EX)
    file.write("somebody else, process 42")
    file.flush()
    return file


def test_second_indexer_says_who_runs(at):
    at.wheel("six")
    with hold_lock(at):
        one_line(at.run("--no-wait"), 1, at.catalog, "somebody else, process 42")
    numbers(at.index("--no-wait"), added=1)


def test_second_indexer_waits(at):
    at.wheel("six")
    with hold_lock(at):
        told = (at.folder / "told").open("w+")
        waiting = subprocess.Popen([serving.binary(), *at.command()], stdout=subprocess.PIPE, stderr=told, text=True)
        serving.wait_for(lambda: "process 42" in (at.folder / "told").read_text(), 30, "who is waited for")
        assert waiting.poll() is None
    out, _ = waiting.communicate(timeout=120)
    assert waiting.returncode == 0 and "1 added" in out
    with told:
        assert "error" not in (at.folder / "told").read_text()


def test_two_at_once_both_end_well(at):
    for number in range(50):
        at.wheel("six", version=f"1.{number}")
    both = [at.start("--quiet") for _ in range(4)]
    for one in both:
        _, err = one.communicate(timeout=120)
        assert one.returncode == 0, err
    assert len(at.names()) == 50


def rows(at, table):
    if not at.catalog.exists():
        return 0
    try:
        return at.query(f"SELECT count(*) FROM {table}")[0][0]
    except sqlite3.OperationalError:  # it is being made
        return 0


def kill_at(at, files):
    """Kills a scan once the catalog has so many rows of files or more; returns how many it has then."""
    running = at.start("--threads", "1")
    serving.wait_for(lambda: rows(at, "file") >= files or running.poll() is not None, 300, f"{files} files")
    running.send_signal(signal.SIGKILL)
    running.communicate(timeout=120)
    return rows(at, "file")


def test_killed_cold_scan_loses_no_folder(at):
    """Enough for several transactions: links of one wheel, each in a folder of its own."""
    wheel = at.wheel("d0", size=8 << 20)
    for number in range(1, 500):
        (at.store / f"d{number}").mkdir()
        os.link(wheel.path, at.store / f"d{number}" / wheel.name)
    age(at.store)
    seen = [0]
    for _ in range(3):
        seen.append(kill_at(at, seen[-1] + 1))
        assert seen[-2] <= seen[-1]
    assert 0 < seen[1] < 500
    at.index()
    assert rows(at, "file") == 500


def test_killed_at_any_moment_the_next_run_completes(at):
    for number in range(400):
        at.wheel(f"p{number % 20}", name=f"p{number % 20}", version=f"1.{number}")
    age(at.store)
    for delay in [0.001, 0.01, 0.03, 0.06, 0.1, 0.15, 0.2, 0.3]:
        running = at.start("--threads", "2")
        time.sleep(delay)
        running.send_signal(signal.SIGKILL)
        running.communicate(timeout=120)
    numbers(at.index(), files=400, quarantined=0)
    assert len(at.names()) == 400
    numbers(at.index(), unchanged=400, bytes_hashed=0)
    before = at.facts()
    at.catalog = at.folder / "new.db"
    at.index()
    assert at.facts() == before


def config(at, text):
    path = at.folder / "wheelcache.conf"
    path.write_text(text, encoding="utf-8")
    return "--config", str(path)


def test_mutable_platform_changes_without_alarm(at):
    options = config(at, f"[store]\npath = {at.store}\n[platform one]\nmutable = yes\n")
    wheel = at.wheel("one")
    at.index(*options)
    other = at.wheel("../other", requires=["attrs"])
    shutil.copyfile(other.path, wheel.path)
    os.utime(wheel.path, (storelib.OLD + 5, storelib.OLD + 5))
    summary = at.index(*options)
    numbers(summary, changed=1)
    assert summary["lists"]["changed"] == []
    assert list(at.listed().values()) == [other.sha256]


def test_platform_that_comes_back_has_its_files_again(at):
    """The mtime of its folder is the same as before."""
    options = config(at, f"[store]\npath = {at.store}\n[platform one]\n[platform two]\n")
    at.wheel("one")
    at.wheel("two")
    at.wheel("two/deep", version="2.0")
    age(at.store)
    at.index(*options)
    os.rename(at.store / "two", at.folder / "away")
    numbers(at.index(*options, "--allow-empty"), gone=2)
    os.rename(at.folder / "away", at.store / "two")
    numbers(at.index(*options), added=2, unchanged=1)


def test_platform_that_left_the_configuration_leaves_the_catalog(at):
    both = f"[store]\npath = {at.store}\n[platform one]\n[platform two]\n"
    at.wheel("one")
    at.wheel("two")
    numbers(at.index(*config(at, both)), added=2)
    at.index(*config(at, both.replace("[platform two]\n", "")))
    assert list(at.listed()) == [f"one/{WHEEL}"]


def test_configured_platform_that_is_missing_is_said(at):
    options = config(at, f"[store]\npath = {at.store}\n[platform one]\n[platform two]\n")
    at.wheel("one")
    at.wheel("two")
    at.index(*options)
    shutil.rmtree(at.store / "two")
    at.wheel("one", version="2.0")
    summary = at.index(*options, code=1)
    numbers(summary, added=1, problems=1, gone=0)
    assert str(at.store / "two") in summary["lists"]["problems"][0]["reason"]
    assert len(at.listed()) == 3
    numbers(at.index(*options, "--allow-empty"), gone=1)


@pytest.mark.parametrize("arguments", [["index"], ["index", "--nonsense", "x"], ["index", "a", "b"], ["index", "--settle"],
                                       ["index", "--settle", "soon", "."], ["index", "--json=yes", "."], ["nonsense"]])
def test_wrong_command_lines_end_with_2(arguments, tmp_path):
    done = serving.run(*arguments, env={**os.environ, "XDG_STATE_HOME": str(tmp_path)})
    assert done.returncode == 2 and done.stderr and done.stdout == ""


def test_progress_on_a_terminal(at):
    for number in range(200):
        at.wheel("six", version=f"1.{number}")
    text = on_terminal(at.command("--threads", "1"))
    assert b"files" in text and b"left" in text
    assert text.endswith(b"\r\x1b[K")
