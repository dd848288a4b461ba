# SPDX-License-Identifier: Apache-2.0
"""What is inside wheels is noted by every way in, once for each SHA-256, and found."""
import contextlib
import json
import os
import shutil
import signal
import sqlite3
import time

import pytest

import elfmaker
import indexing
import serving
import uploading

OTHER = "ubuntu-22.04-x86_64"
SSL = "demo.libs/libssl-01234567.so.3"
TOOLCHAIN = "GCC: (GNU) 12.2.0"
CDX = {"bomFormat": "CycloneDX", "specVersion": "1.4"}
FACTS = "SELECT count(*) FROM inside_facts"


def sbom(*components):
    rows = [{"type": "library", "name": name, "version": version, "purl": purl} for name, version, purl in components]
    return json.dumps(CDX | {"components": rows}).encode()


def native(folder, version, *components, name="demo", extra=()):
    """A wheel with a module and a bundled libssl, and these components in its SBOM."""
    ssl = SSL.rpartition("/")[2]
    files = {f"{name}/_m.so": elfmaker.module("_m", needed=(ssl, "libc.so.6", "libgone.so.9"),
                                             imports=("SSL_new", "gone_call"), toolchain=(TOOLCHAIN,)),
             SSL: elfmaker.elf(soname=ssl, needed=("libc.so.6",), exports=("SSL_new",)), **dict(extra)}
    if components:
        files[f"{name}-{version}.dist-info/sboms/a.cdx.json"] = sbom(*components)
    return elfmaker.native_wheel(folder, name, version, "cp311-cp311-linux_x86_64", files)


def openssl(version):
    return "openssl-libs", version, f"pkg:rpm/almalinux/openssl-libs@{version}"


@pytest.fixture(name="at")
def _at(tmp_path):
    return indexing.Indexed(tmp_path)


def find(at, *options):
    done = serving.run(*at.command("--json", *options, name="find"))
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def versions(at, *options):
    """The versions of demo that were found, with a question mark for unknown ones."""
    found = find(at, *options)
    return ([row["filename"].split("-")[1] for row in found["found"]]
            + ["?" + row["filename"].split("-")[1] for row in found["version_unknown"]])


@pytest.fixture(name="filled")
def _filled(at):
    folder = at.store / indexing.PLATFORM
    native(folder, "1.0", openssl("3.0.2-7.el9"))
    native(folder, "2.0", openssl("3.0.15-1.el9"), ("openssl", "0.10.81", "pkg:cargo/openssl@0.10.81"))
    native(folder, "3.0")
    at.wheel(OTHER)
    indexing.numbers(at.index(), added=4, facts_taken=4, facts_unknown=0, facts_lacking=0)
    return at


def test_wheels_that_bundle_a_library_before_a_version(filled):
    assert versions(filled, "--bundles", "OpenSSL<3.0.15") == ["1.0", "?3.0"]
    assert versions(filled, "--bundles", "libssl<=3.0.15") == ["1.0", "2.0", "?3.0"]
    assert versions(filled, "--bundles", "openssl>3.0.15") == ["?3.0"]
    assert versions(filled, "--bundles", "openssl") == ["1.0", "2.0", "3.0"]
    assert versions(filled, "--bundles", "zlib") == []
    done = serving.run(*filled.command("--bundles", "openssl<3.0.15", name="find"))
    stem = "cp311-cp311-linux_x86_64.whl"
    assert done.stdout.splitlines() == [
        f"{indexing.PLATFORM}/demo-1.0-{stem}: openssl-libs 3.0.2-7.el9 pkg:rpm/almalinux/openssl-libs@3.0.2-7.el9 "
        "(as openssl)",
        f"? {indexing.PLATFORM}/demo-3.0-{stem}: libssl.so.3 ? (as openssl)"]
    assert {row["matched"] for row in find(filled, "--bundles", "libssl.so.3")["found"]} == {"libssl.so.3", "openssl"}


BLAS = "demo.libs/libopenblas64_p-r0-0cf96a72.3.23.dev.so"  # as numpy and opencv have it
PLAIN = "demo/lib/libquux_mt.so"  # without a SONAME, and in no folder of auditwheel's


@pytest.mark.parametrize("library, name", [
    ("openblas", "libopenblas64_p-r0.3.23.dev.so"), ("libopenblas64_", "libopenblas64_p-r0.3.23.dev.so"),
    ("libopenblas", "libopenblas64_p-r0.3.23.dev.so"), ("quux", "libquux_mt.so"), ("libquux_mt.so", "libquux_mt.so")])
def test_no_spelling_of_a_library_hides_it(at, library, name):
    files = {BLAS: elfmaker.elf(soname=BLAS.rpartition("/")[2]), PLAIN: elfmaker.elf()}
    native(at.store / indexing.PLATFORM, "1.0", extra=files.items())
    at.index()
    row, = find(at, "--bundles", library)["found"]
    assert row["name"] == name and library.rstrip("_") in row["matched"]


@pytest.fixture(name="large")
def _large(at):
    """Twelve wheels of megabytes, one that is not small, and a small one: 14."""
    for version, size in [*((f"{number}.0", 3 << 20) for number in range(12)), ("98.0", 64 << 10), ("99.0", 1)]:
        native(at.store / indexing.PLATFORM, version, extra={"demo/big.so": elfmaker.elf(extra=os.urandom(size))}.items())
    return at


def files_and_facts(at):
    with contextlib.suppress(sqlite3.Error), contextlib.closing(sqlite3.connect(f"file:{at.catalog}?mode=ro", uri=True)) as c:
        return c.execute(f"SELECT (SELECT count(*) FROM file), ({FACTS})").fetchone()
    return 0, 0


def test_all_are_listed_before_wheels_are_looked_into(large):
    """A cold index lists as fast as without facts; in the end the same run has looked inside all."""
    seen = set()
    running = large.start("--json")
    while running.poll() is None:
        seen.add(files_and_facts(large))
        time.sleep(0.005)
    running.communicate()
    assert min(facts for files, facts in seen if files == 14) <= 1
    assert large.query(FACTS) == [(14,)]


def kill_when_listed(at):
    """Returns of how many wheels there were facts then."""
    running = at.start("-q")
    while files_and_facts(at)[0] < 14 and running.poll() is None:
        time.sleep(0.002)
    running.send_signal(signal.SIGKILL)
    running.communicate()
    return at.query(FACTS)[0][0]


def test_kill_after_the_listing_loses_no_file(large):
    taken = kill_when_listed(large)
    for _ in range(9):
        if taken == 14:  # on a busy machine the kill comes too late
            large.catalog.unlink()
            taken = kill_when_listed(large)
    assert len(large.listed()) == 14 and taken < 14
    indexing.numbers(large.index(), unchanged=14, facts_taken=14 - taken, facts_lacking=0)
    assert versions(large, "--symbol", "gone_call") and large.query(FACTS) == [(14,)]


def test_wheels_by_what_they_need_have_and_were_made_with(filled):
    everything = ["1.0", "2.0", "3.0"]
    assert versions(filled, "--needs", "libgone.so.9") == everything
    assert versions(filled, "--needs", "libssl*") == []
    assert versions(filled, "--symbol", "gone_call") == everything
    assert [row["use"] for row in find(filled, "--symbol", "SSL_new")["found"]] == ["exported"] * 3
    assert versions(filled, "--symbol", "SSL_free") == []
    assert versions(filled, "--toolchain", "GCC*12.*") == everything
    assert versions(filled, "--sbom", "pkg:cargo/openssl") == ["2.0"]
    assert versions(filled, "--needs", "libgone.so.9", "--platform", OTHER) == []
    row = find(filled, "--sbom", "pkg:cargo/*")["found"][0]
    assert row["sha256"] == filled.listed()[f"{indexing.PLATFORM}/{row['path']}"]
    assert (row["project"], row["name"], row["version"]) == ("demo", "openssl", "0.10.81")


@pytest.mark.parametrize("options", [[], ["--needs", "a", "--symbol", "b"], ["--bundles", "<3"], ["--bundles", "a<"],
                                     ["--bundles", "a=3"], ["--bundles", "a<>3"]])
def test_usage(filled, options):
    assert serving.run(*filled.command(*options, name="find")).returncode == 2


def test_names_from_wheels_move_no_cursor(at):
    native(at.store / indexing.PLATFORM, "1.0", ("open\x1b[2J\x9b1Jssl", "3", "pkg:generic/x"))
    at.index()
    done = serving.run(*at.command("--sbom", "*", name="find"))
    assert not set("\x1b\x9b") & set(done.stdout) and "open?[2J?1Jssl" in done.stdout


def test_same_bytes_are_read_once(at):
    wheel = native(at.store / indexing.PLATFORM, "1.0")
    shutil.copytree(at.store / indexing.PLATFORM, at.store / OTHER)
    indexing.numbers(at.index(), added=2, facts_taken=1)
    assert versions(at, "--symbol", "gone_call") == ["1.0", "1.0"]
    (at.store / indexing.PLATFORM / wheel.name).unlink()
    at.index("--allow-empty")
    assert at.query(FACTS) == [(1,)]
    (at.store / OTHER / wheel.name).unlink()
    at.index("--allow-empty")
    tables = ("inside", "inside_facts", "inside_word", "inside_use", "inside_symbol")
    assert [at.query(f"SELECT count(*) FROM {table}") for table in tables] == [[(0,)]] * len(tables)


def test_index_fills_what_a_catalog_lacks(at, tmp_path):
    config = tmp_path / "c.conf"
    config.write_text(f"[store]\npath = {at.store}\n[index]\naudit = no\n")
    native(at.store / indexing.PLATFORM, "1.0")
    indexing.numbers(at.index("--config", config), added=1, facts_taken=0, facts_lacking=0)
    found = find(at, "--symbol", "gone_call")
    assert (found["found"], found["without_facts"]) == ([], [{"platform": indexing.PLATFORM, "wheels": 1}])
    done = serving.run(*at.command("--config", config, "--symbol", "gone_call", name="find"))
    assert "1 wheel of debian-12-x86_64 was not searched" in done.stderr and "[index] facts is off" in done.stderr
    indexing.numbers(at.index(), unchanged=1, facts_taken=1, facts_lacking=0)
    assert versions(at, "--symbol", "gone_call") == ["1.0"]
    indexing.numbers(at.index(), facts_taken=0)


def forget_insides(at):
    """As if an older wheelcache had made the catalog."""
    with contextlib.closing(sqlite3.connect(at.catalog)) as connection:
        connection.execute("UPDATE inside SET version = 0")
        connection.execute("DELETE FROM inside_facts")
        connection.execute("DELETE FROM inside_use")
        connection.execute("DELETE FROM inside_symbol")
        connection.commit()


def test_filling_is_told_on_a_terminal_and_goes_on_after_a_kill(at):
    for version in range(30):
        native(at.store / indexing.PLATFORM, f"{version}.0")
    at.index()
    forget_insides(at)
    assert b"looking inside wheels: 30 of 30" in indexing.on_terminal(at.command())
    for pause in (0, 0.01, 0.02, 0.04):
        forget_insides(at)
        running = at.start("-q")
        time.sleep(pause)
        running.send_signal(signal.SIGKILL)
        running.communicate()
        at.index()
        assert at.query(FACTS) == [(30,)]
    assert len(versions(at, "--symbol", "gone_call")) == 30


def test_damaged_module_is_a_fact(at):
    wheel = native(at.store / indexing.PLATFORM, "1.0", extra={"demo/_bad.so": b"\x7fELF" + b"\xff" * 60}.items())
    indexing.numbers(at.index(), added=1, facts_taken=1, facts_unknown=0)
    assert [row["filename"] for row in find(at, "--symbol", "gone_call")["found"]] == [wheel.name]


def test_upload_is_found_at_once(serve, tmp_path):
    (tmp_path / "store" / indexing.PLATFORM).mkdir(parents=True)
    wheel = native(tmp_path / "out", "1.0")
    server = serve(tmp_path / "store", "--rescan", "0")
    reply = uploading.upload(server, indexing.PLATFORM, wheel.path, uploading.add_token(server))
    assert reply.status == 200, reply.body
    done = serving.run("find", "--catalog", server.catalog, "--json", "--symbol", "gone_call")
    assert [row["filename"] for row in json.loads(done.stdout)["found"]] == [wheel.name]
