# SPDX-License-Identifier: Apache-2.0
"""What no scan makes again lies where [state] path says, and moves there by itself."""
import shutil
import types

import pytest

import serving
import storelib
from uploading import form_of, post

PLATFORM = "debian-12-x86_64"
PIECES = ["audit", "audit.1", "downloaders", "downloads", "ours", "tokens"]


@pytest.fixture(name="site")
def site_fixture(tmp_path):
    """A store with a token, entries of the audit log, and lists as servers write them; all of it is beside the catalog."""
    site = types.SimpleNamespace(folder=tmp_path, file=tmp_path / "site.conf", catalog=tmp_path / "catalogs/catalog.db")
    storelib.make_wheel(tmp_path / "store" / PLATFORM, "demo", "1.0")
    configure(site, None)
    site.token = run(site, "token", "add").stdout.strip()
    run(site, "index")
    beside(site, "audit.1").write_text('{"time":"2026-01-01T00:00:00.000000Z","action":"yank","result":"done"}\n')
    beside(site, "ours").write_text("demo 2026-01-01T00:00:00Z\n")
    beside(site, "downloads").write_text(f"wheelcache-downloads 1 2026-01-01\n{PLATFORM}/demo-1.0-py3-none-any.whl 7 2026-01-02\nend 1\n")
    beside(site, "downloaders").write_text(f"wheelcache-downloads 2 2026-01-01\n{PLATFORM}/demo-1.0-py3-none-any.whl\taddress ::1 1 "
                                           "2026-01-02 2126-01-02\nend 1\n")
    beside(site, "builds.attempts").mkdir()
    return site


def configure(site, state):
    text = f"[state]\npath = {site.folder / state}\n" if state else ""
    site.file.write_text(f"[store]\npath = {site.folder}/store\n[catalog]\npath = {site.catalog}\n{text}[upstream]\noffline = yes\n")


def beside(site, name):
    return site.catalog.with_name(f"catalog.db.{name}")


def run(site, *words, code=0):
    done = serving.run(*words, "--config", site.file)
    assert done.returncode == code, done.stdout + done.stderr
    return done


def texts(site, folder=None):
    """Of each piece."""
    paths = {name: site.folder / folder / name if folder else beside(site, name) for name in PIECES}
    return {name: path.read_text() for name, path in paths.items() if path.exists()}


def test_it_moves_once_and_the_catalog_is_worth_nothing(site, serve):
    before = texts(site)
    assert list(before) == PIECES
    configure(site, "state")
    refused = run(site, "token", "list", code=2).stderr
    assert "is not yet in" in refused and "start the server" in refused
    server = serve(None, "--config", str(site.file), state=site.catalog.parent)
    after = texts(site, "state")
    assert after == {**before, "audit": after["audit"]} and after["audit"].startswith(before["audit"])
    assert not texts(site)
    assert (site.folder / "state" / "attempts").is_dir() and not beside(site, "builds.attempts").exists()
    more = storelib.make_wheel(site.folder, "more", "1.0").path
    assert post(server, f"/upload/{PLATFORM}/", form_of(more), token=site.token).status == 200
    server.stop()
    said = run(site, "log").stdout, run(site, "token", "list").stdout, run(site, "usage", "--by", "project", "--format", "csv").stdout
    shutil.rmtree(site.catalog.parent)
    run(site, "index")
    assert said == (run(site, "log").stdout, run(site, "token", "list").stdout, run(site, "usage", "--by", "project", "--format", "csv").stdout)
    assert "more-1.0" in said[0] and "2026-01-02" in said[2]


def test_what_a_crash_interrupted_goes_on(site):
    before = texts(site)
    configure(site, "state")
    (site.folder / "state").mkdir()
    beside(site, "tokens").rename(site.folder / "state" / "tokens")
    run(site, "token", "list", code=2)
    run(site, "index")
    assert texts(site, "state") == before


def test_another_path_and_none(site):
    configure(site, "one")
    run(site, "index")
    before = texts(site, "one")
    configure(site, "two")
    run(site, "index")
    assert texts(site, "two") == before and not texts(site, "one")
    configure(site, None)
    for words in ["token", "list"], ["index"], ["serve"]:
        assert f"is in {site.folder}/two: set [state] path" in run(site, *words, code=2).stderr


def test_what_is_there_already_stays(site):
    """Another catalog of this state was first."""
    configure(site, "state")
    (site.folder / "state").mkdir()
    (site.folder / "state" / "ours").write_text("other 2026-01-01T00:00:00Z\n")
    assert "counts no longer" in run(site, "index").stderr
    assert (site.folder / "state" / "ours").read_text() == "other 2026-01-01T00:00:00Z\n"
    assert beside(site, "ours").read_text() == "demo 2026-01-01T00:00:00Z\n"
