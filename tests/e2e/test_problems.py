# SPDX-License-Identifier: Apache-2.0
"""Quarantined files, and wheels for other machines than those of their platform, are told of: in the log, by `index -q` and
`index --check`, on "/", and to the command of [index] on-change."""
import json
import types

import pytest

import serving
import storelib

HERE, SECRET = "debian-12-x86_64", "rocky-9-x86_64"
BROKEN, FOREIGN = "broken-1.0-py3-none-any.whl", "native-1.0-cp311-cp311-manylinux_2_17_aarch64.whl"
REASON = "manylinux_2_17_aarch64 is for other machines than those of this platform: x86_64 with glibc 2.36"


@pytest.fixture(name="site")
def site_fixture(tmp_path):
    """A public and a private platform without a problem, and a command that notes what it is told."""
    site = types.SimpleNamespace(store=tmp_path / "store", file=tmp_path / "site.conf", catalog=tmp_path / "catalog.db", told=tmp_path / "told")
    script = tmp_path / "tell"
    script.write_text(f'#!/bin/sh\nprintf "%s|" "$@" "$WHEELCACHE_CHANGE" "$WHEELCACHE_PLATFORM" "$WHEELCACHE_FILE" "$WHEELCACHE_REASON" '
                      f'>>{site.told}\necho >>{site.told}\n')
    script.chmod(0o755)
    site.file.write_text(f"[store]\npath = {site.store}\n[index]\nsettle = 0\non-change = {script} %n %r\n[upstream]\noffline = yes\n"
                         f"[platform {HERE}]\n[platform {SECRET}]\nprivate = yes\n")
    for platform in (HERE, SECRET):
        storelib.make_wheel(site.store / platform, "good", "1.0")
    storelib.make_wheel(site.store / HERE, "native", "1.0", "cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64")
    return site


def spoil(site, platform=HERE):
    folder = site.store / platform
    (folder / BROKEN).write_bytes(b"junk\n")
    storelib.make_wheel(folder, "native", "1.0", "cp311-cp311-manylinux_2_17_aarch64")


def index(site, *options):
    return serving.run("index", "--config", site.file, "--catalog", site.catalog, *options)


def told(site):
    return sorted(line.rstrip("|").split("|") for line in site.told.read_text().splitlines()) if site.told.exists() else []


EXPECTED = [
    [f"{HERE}/{BROKEN}", "quarantined: File is not a zip file: 5 bytes", "quarantined", HERE, f"{HERE}/{BROKEN}", "File is not a zip file: 5 bytes"],
    [f"{HERE}/{FOREIGN}", f"misfit: {REASON}", "misfit", HERE, f"{HERE}/{FOREIGN}", REASON],
]


def test_index_tells_of_both_once(site):
    done = index(site, "--quiet")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert index(site, "--quiet", "--check").returncode == 0 and told(site) == []
    spoil(site)
    done = index(site, "--quiet")
    assert done.returncode == 0
    assert done.stdout.splitlines() == [
        "quarantined: not listed:", f"  {HERE}/{BROKEN}: File is not a zip file: 5 bytes",
        "listed, but for other machines than those of their platform:", f"  {HERE}/{FOREIGN}: {REASON}"]
    assert told(site) == EXPECTED
    again = index(site, "--quiet", "--check")
    assert again.returncode == 1 and "2 files are quarantined or for other machines" in again.stderr
    assert again.stdout == done.stdout and told(site) == EXPECTED
    summary = json.loads(index(site, "--json").stdout)
    assert (summary["quarantined"], summary["misfits"], summary["lists"]["new_problems"]) == (1, 1, [])
    (site.store / HERE / BROKEN).unlink()
    (site.store / HERE / FOREIGN).unlink()
    assert index(site, "--quiet", "--check").returncode == 0


def test_other_bytes_are_told_again(site):
    spoil(site)
    index(site, "--quiet")
    (site.store / HERE / BROKEN).write_bytes(b"other junk\n")
    index(site, "--quiet")
    assert [one[1] for one in told(site)].count("quarantined: File is not a zip file: 11 bytes") == 1 and len(told(site)) == 3


def test_a_file_with_a_bad_name_is_told_once(site):
    (site.store / HERE / "--output=x.whl").write_bytes(b"junk\n")
    for _ in range(3):
        index(site, "--quiet")
    [one] = told(site)
    assert one[0] == f"{HERE}/--output=x.whl" and one[1].startswith("quarantined: ")


def test_a_server_logs_and_tells(site, serve):
    """By its watch, or else by its scans."""
    server = serve(None, "--config", str(site.file), "--rescan", "1")
    assert "Problems" not in server.get("/").body.decode()
    spoil(site)
    spoil(site, SECRET)
    serving.wait_for(lambda: len(told(site)) == 4, 60, "what the command is told")
    assert [one for one in told(site) if one[3] == HERE] == EXPECTED
    errors = server.errors()
    assert f"{HERE}/{BROKEN} is quarantined: File is not a zip file: 5 bytes" in errors
    assert f"{HERE}/{FOREIGN} is listed, but does not fit: manylinux_2_17_aarch64 is for other machines" in errors
    assert f"{SECRET}/" not in errors


def test_a_private_platforms_file_is_counted(site, serve):
    server = serve(None, "--config", str(site.file), "--rescan", "1")
    (site.store / SECRET / BROKEN).write_bytes(b"junk\n")
    serving.wait_for(lambda: ": 1 file is quarantined or does not fit (wheelcache index names each)" in server.errors(), 60, "the count")


def test_first_page(site, serve):
    spoil(site)
    spoil(site, SECRET)
    for number in range(12):
        (site.store / HERE / f"junk-{number}-py3-none-any.whl").write_bytes(b"<b>junk</b>")
    server = serve(None, "--config", str(site.file))
    found = json.loads(server.get("/?format=json").body)["problems"]
    assert found["files"] == 14 and len(found["first"]) == 10
    assert found["first"][0] == {"platform": HERE, "path": BROKEN, "listed": False, "reason": "File is not a zip file: 5 bytes"}
    page = server.get("/").body.decode()
    assert "<h2>Problems</h2>" in page and BROKEN in page and "File is not a zip file: 5 bytes" in page and "the first 10" in page
    for number in range(12):
        (site.store / HERE / f"junk-{number}-py3-none-any.whl").unlink()
    server.signal(1)
    serving.wait_for(lambda: json.loads(server.get("/?format=json").body)["problems"]["files"] == 2, 30, "the next scan")
    assert FOREIGN in server.get("/").body.decode() and "for other machines" in server.get("/").body.decode()


def test_many_news_are_bounded(site, serve):
    """One scan has 20 lines of the log, and a count."""
    for number in range(30):
        (site.store / HERE / f"junk-{number}-py3-none-any.whl").write_bytes(b"junk")
    server = serve(None, "--config", str(site.file))
    serving.wait_for(lambda: "10 more files are quarantined" in server.errors(), 30, "the count")
    assert server.errors().count(" is quarantined: ") == 20
