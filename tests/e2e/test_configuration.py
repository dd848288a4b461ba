# SPDX-License-Identifier: Apache-2.0
"""Which configuration a command uses without --config: $WHEELCACHE_CONFIG, else /etc/wheelcache/wheelcache.conf, and that it
says so."""
import os
import types

import pytest

import faults
import serving
import storelib
from uploading import authorization

USUAL = "/etc/wheelcache/wheelcache.conf"
SAID = "wheelcache: the configuration is {}\n"


@pytest.fixture(name="site")
def site_fixture(tmp_path, monkeypatch):
    """A machine with a server: its store, its configuration, and a user with a home. site.run() has no WHEELCACHE_CONFIG."""
    site = types.SimpleNamespace(store=tmp_path / "store", etc=tmp_path / "etc", home=tmp_path / "home",
                                 catalog=tmp_path / "var" / "catalog.db")
    for folder in (site.etc, site.home, site.catalog.parent):
        folder.mkdir()
    site.wheel = storelib.make_wheel(site.store / "deb12", "demo", "1.0").path
    site.file = site.etc / "wheelcache.conf"
    site.file.write_text(f"[store]\npath = {site.store}\n[catalog]\npath = {site.catalog}\n[platform deb12]\n[upstream]\noffline = yes\n")
    monkeypatch.setenv("WHEELCACHE", str(faults.wrap("etc", tmp_path, ETC_BENEATH=site.etc)))
    monkeypatch.delenv("WHEELCACHE_CONFIG", raising=False)
    monkeypatch.setenv("HOME", str(site.home))
    for name in ("XDG_STATE_HOME", "STATE_DIRECTORY"):
        monkeypatch.delenv(name, raising=False)
    site.tokens = site.catalog.with_name("catalog.db.tokens")
    return site


def test_the_usual_file_is_used_and_said(site):
    done = serving.run("token", "add", "--note", "ci")
    assert done.returncode == 0 and done.stderr.startswith(SAID.format(USUAL))
    assert done.stdout.startswith("wc_") and "ci" in site.tokens.read_text()
    indexed = serving.run("index", "--quiet")
    assert (indexed.returncode, indexed.stderr) == (0, "") and site.catalog.exists()
    assert "demo" in serving.run("explain", "demo").stdout
    assert not any(site.home.iterdir())


def test_a_server_knows_the_token_of_a_command_without_options(site, tmp_path):
    site.file.write_text(f"{site.file.read_text()}[platform team]\nprivate = yes\n")
    storelib.make_wheel(site.store / "team", "secret", "1.0")
    token = serving.run("token", "add", "--read").stdout.strip()
    with serving.servers(tmp_path / "state") as start:
        server = start(None, "--config", str(site.file), state=site.catalog.parent)
        assert server.get("/team/simple/secret/").status == 401
        reply = server.get("/team/simple/secret/", authorization(token))
        assert reply.status == 200


def test_the_variable_comes_before_the_usual_file(site, tmp_path, monkeypatch):
    other = tmp_path / "other.conf"
    other.write_text(site.file.read_text().replace("catalog.db", "other.db"))
    monkeypatch.setenv("WHEELCACHE_CONFIG", str(other))
    done = serving.run("token", "list")
    assert (done.returncode, done.stderr) == (0, SAID.format(other))
    serving.run("token", "add")
    assert site.catalog.with_name("other.db.tokens").exists() and not site.tokens.exists()
    done = serving.run("token", "list", "--config", site.file)
    assert (done.returncode, done.stderr) == (0, "")
    monkeypatch.setenv("WHEELCACHE_CONFIG", str(tmp_path / "none.conf"))
    done = serving.run("token", "list")
    assert done.returncode == 2 and f"cannot read the configuration {tmp_path}/none.conf: No such file" in done.stderr
    monkeypatch.setenv("WHEELCACHE_CONFIG", "")
    done = serving.run("token", "list")
    assert done.returncode == 2 and "the catalog must be given" in done.stderr


def test_a_file_that_cannot_be_read_is_an_error(site):
    if os.geteuid() == 0:
        site.file.unlink()
        site.file.mkdir()  # root may read every file
    else:
        site.file.chmod(0)
    done = serving.run("token", "list")
    assert done.returncode == 2
    assert f"cannot read the configuration {USUAL}: " in done.stderr and "--config FILE" in done.stderr


def test_a_named_store_or_catalog_is_no_matter_of_the_usual_file(site, tmp_path):
    """But if the file has this very store with another catalog, that is said."""
    other = storelib.make_wheel(tmp_path / "mine" / "deb12", "demo", "1.0").path
    assert serving.run("index", "--quiet", tmp_path / "mine").stderr == ""
    assert SAID.format(USUAL) not in serving.run("token", "list", "--catalog", tmp_path / "c.db").stderr
    done = serving.run("token", "add", site.store)
    assert done.returncode == 0 and not site.tokens.exists()
    assert f"{USUAL} has another one for this store, {site.catalog}, which is used if no STORE is given" in done.stderr
    # Files alone need no state of the machine.
    site.file.write_text("[nonsense]\n")
    assert serving.run("audit", other).returncode == 0
    assert serving.run("token", "list").returncode == 2


def test_a_newcomers_server_ignores_both(site, tmp_path, monkeypatch):
    site.file.write_text("[nonsense]\n")
    for variable in (None, str(site.file)):
        if variable:
            monkeypatch.setenv("WHEELCACHE_CONFIG", variable)
        with serving.servers(tmp_path) as start:
            assert start(site.store, state=site.home).get("/simple/demo/").status == 200
    done = serving.run("serve", "--listen", "127.0.0.1:0")
    assert done.returncode == 2 and "there is no section [nonsense]" in done.stderr
