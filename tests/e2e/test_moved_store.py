# SPDX-License-Identifier: Apache-2.0
"""A store that moves, or another [store] path: the catalog is made again by itself, and what cannot be made again stays."""
import json
import re
import shutil
import types

import pytest

import documented
import serving
import storelib
from uploading import form_of, post

FIRST, SECOND = "debian-12-x86_64", "debian-13-x86_64"


@pytest.fixture(name="site")
def site_fixture(tmp_path):
    """A store of two platforms, with a token, evidence and an entry of the audit log."""
    site = types.SimpleNamespace(folder=tmp_path, store=tmp_path / "old", file=tmp_path / "site.conf", catalog=tmp_path / "state" / "catalog.db")
    site.catalog.parent.mkdir()
    storelib.make_wheel(site.store / FIRST, "demo", "1.0")
    site.other = storelib.make_wheel(site.store / SECOND, "other", "1.0").path
    configure(site, site.store)
    site.token = run(site, "token", "add").stdout.strip()
    assert run(site, "index").returncode == 0
    assert run(site, "yank", "other-1.0-py3-none-any.whl", "--reason", "bad").returncode == 0
    site.audit = site.catalog.with_name("catalog.db.audit").read_text()
    return site


def configure(site, store, more=""):
    site.file.write_text(f"[store]\npath = {store}\n[catalog]\npath = {site.catalog}\n[upstream]\noffline = yes\n{more}")


def run(site, *words):
    return serving.run(*words, "--config", site.file)


def names(server):
    reply = server.get("/simple/", {"Accept": "application/vnd.pypi.simple.v1+json"})
    return [one["name"] for one in json.loads(reply.body)["projects"]] if reply.status == 200 else reply.status


def start(site, folder):
    """A server of the site's configuration alone; serving.Server would name the catalog."""
    return folder(None, "--config", str(site.file), state=site.catalog.parent)


def test_a_moved_store(site, serve):
    site.store.rename(site.folder / "new")
    configure(site, site.folder / "new")
    server = start(site, serve)
    assert f"was of the store {site.store}, and is now of {site.folder}/new" in server.errors()
    serving.wait_for(lambda: names(server) == ["demo", "other"], 30, "the pages")
    assert "bad" in server.get("/simple/other/").body.decode()
    more = storelib.make_wheel(site.folder, "more", "1.0").path
    assert post(server, f"/upload/{FIRST}/", form_of(more), token=site.token).status == 200
    assert site.catalog.with_name("catalog.db.audit").read_text().startswith(site.audit)
    assert run(site, "check", "--all").returncode == 0


def test_another_store(site, serve):
    """Nothing of the old one is left, although folders that are gone are otherwise taken for volumes that are not mounted."""
    (site.folder / "new" / FIRST).mkdir(parents=True)
    storelib.make_wheel(site.folder / "new" / FIRST, "fresh", "2.0")
    configure(site, site.folder / "new")
    refused = run(site, "explain", "demo")
    assert refused.returncode == 2 and f"is of the store {site.store}, not of" in refused.stderr and "restart of the server" in refused.stderr
    done = run(site, "index")
    assert done.returncode == 0 and "is made again" in done.stderr
    server = start(site, serve)
    assert names(server) == ["fresh"]
    assert server.get(f"/{SECOND}/simple/").status == 404
    more = storelib.make_wheel(site.folder, "more", "1.0").path
    assert post(server, f"/upload/{FIRST}/", form_of(more), token=site.token).status == 200
    assert run(site, "check", "--all").returncode == 0


@pytest.mark.parametrize("platforms", ["", f"[platform {FIRST}]\n[platform {SECOND}]\n"], ids=["folders", "configured"])
def test_a_volume_that_is_not_mounted_empties_nothing(site, platforms):
    new = site.folder / "new"
    new.mkdir()
    (new / "lost+found").mkdir()
    configure(site, new, platforms)
    for words in (("serve", "--listen", "127.0.0.1:0"), ("index",), ("doctor", "--check-config")):
        done = run(site, *words)
        assert done.returncode == 2 and "is its volume mounted?" in done.stderr, done.stderr
    assert run(site, "doctor").returncode == 1
    (new / FIRST).mkdir()  # the mount point of the platform's own volume
    done = run(site, "index")
    assert done.returncode == 2 and "is its volume mounted?" in done.stderr
    configure(site, site.store, platforms)
    assert "demo" in run(site, "explain", "demo").stdout


def test_a_store_of_the_command_line_takes_nothing_over(site):
    """`index -c FILE STORE` by mistake does not empty the catalog of the configuration's store."""
    storelib.make_wheel(site.folder / "mine" / FIRST, "mine", "1.0")
    done = serving.run("index", "--config", site.file, site.folder / "mine")
    assert done.returncode == 2 and "is of the store" in done.stderr
    assert "demo" in run(site, "explain", "demo").stdout


def test_a_reload_keeps_the_store(site, serve):
    server = start(site, serve)
    shutil.copytree(site.store, site.folder / "new")
    configure(site, site.folder / "new")
    server.signal(1)
    serving.wait_for(lambda: "the configuration is unchanged" in server.errors(), 30, "the refusal")
    assert names(server) == ["demo", "other"]


def test_a_store_without_platforms(tmp_path, serve):
    """The same of a store that is one platform."""
    storelib.make_wheel(tmp_path / "old", "demo", "1.0")
    state = tmp_path / "state"
    server = serve(tmp_path / "old", state=state)
    assert names(server) == ["demo"]
    server.stop()
    (tmp_path / "old").rename(tmp_path / "new")
    (tmp_path / "empty").mkdir()
    assert serving.run("index", "--catalog", state / "catalog.db", tmp_path / "empty").returncode == 2
    server = serve(tmp_path / "new", state=state)
    serving.wait_for(lambda: names(server) == ["demo"], 30, "the pages")


def test_a_restored_backup(site, serve):
    """A new machine with the store, the configuration and the files that docs/operating.md names knows the tokens."""
    text = (documented.TOP / "docs" / "operating.md").read_text(encoding="utf-8")
    assert re.search(r"wheelcache freeze .*rsync .*wheelcache thaw.*## Restore.*rsync .*wheelcache thaw", text, re.S)
    assert run(site, "freeze", "--reason", "backup").returncode == 0  # and the copy has the mark
    kept = re.findall(r"^\| `catalog\.db(\.\w+)`.* \| no \|$", text, re.M)
    assert len(kept) == 8
    for suffix in kept:
        path = site.catalog.with_name(f"catalog.db{suffix}")
        if path.exists():
            (shutil.copytree if path.is_dir() else shutil.copy2)(path, site.folder / path.name)
    site.catalog.parent.rename(site.folder / "lost")
    site.catalog.parent.mkdir()
    for path in site.folder.glob("catalog.db.*"):
        path.rename(site.catalog.parent / path.name)
    assert run(site, "index").returncode == 0
    assert re.search(f"platform {FIRST} takes no writes: backup.*To do: wheelcache thaw", run(site, "doctor").stdout)
    assert run(site, "thaw").returncode == 0 and "takes no writes" not in run(site, "doctor").stdout
    server = start(site, serve)
    assert names(server) == ["demo", "other"]
    more = storelib.make_wheel(site.folder, "more", "1.0").path
    assert post(server, f"/upload/{FIRST}/", form_of(more), token=site.token).status == 200
    assert site.catalog.with_name("catalog.db.audit").read_text().startswith(site.audit)
