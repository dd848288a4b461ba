# SPDX-License-Identifier: Apache-2.0
"""Bundles of mirrors and lock files: what upstream has comes to where nobody can ask it, and installs there."""
import hashlib
import io
import json
import subprocess
import sys
import tarfile

import pytest

import clients
import merging
import serving
import storelib

PLATFORM = "debian-12-x86_64"
HERE = f"{sys.version_info[0]}.{sys.version_info[1]}"
SHORT = f"cp{sys.version_info[0]}{sys.version_info[1]}"
LINUX = f"{SHORT}-{SHORT}-manylinux_2_17_x86_64"
PIP = "pip==26.3"


class Side:
    """One of both networks: a store of one platform. Only the first can ask the index."""

    def __init__(self, folder, index, **keys):
        self.folder, self.store, self.config = folder, folder / "store", folder / "wheelcache.conf"
        (self.store / PLATFORM).mkdir(parents=True)
        self.index, self.keys = index, keys
        self.write()
        self.run("index", "--quiet")

    def text(self, **keys):
        return (f"[store]\npath = {self.store}\n[catalog]\npath = {self.folder}/catalog.db\n[platform {PLATFORM}]\n"
                f"pythons = {HERE}\n" + merging.config(self.index, **({"retries": "0"} | self.keys | keys)))

    def write(self, **keys):
        self.config.write_text(self.text(**keys))

    def run(self, *words, code=0):
        done = serving.run(*words, "--config", self.config)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout or done.stderr

    def make(self, path, *options, code=0):
        return self.run("bundle", "make", "-o", path, *options, code=code)

    def load(self, path, *options, code=0):
        said = self.run("bundle", "load", path, "--unsigned", "--json", *options, code=code)
        return json.loads(said) if said.startswith("{") else said

    def kept(self):
        return sorted(one.name for one in (self.folder / "catalog.db.files").rglob("*") if one.is_file())


class Networks:
    """Upstream has one, which requires two; the store has ours, which requires one."""

    def __init__(self, folder, index):
        self.index, self.wheel = index, {}
        for key, tag, requires in (("one", "py3-none-any", ["two"]), ("two", LINUX, [])):
            self.wheel[key] = storelib.make_wheel(folder / "theirs", key, "1.0", tag, requires=requires)
            index.add(key, self.wheel[key])
        (folder / "source").mkdir()
        self.source = Side(folder / "source", index)
        self.wheel["ours"] = storelib.make_wheel(self.source.store / PLATFORM, "ours", "1.0", requires=["one"])
        storelib.make_wheel(self.source.store / PLATFORM, "ours", "2.0")
        self.source.run("index", "--quiet")
        self.lock = folder / "requirements.txt"
        self.lock.write_text("".join(f"{key}==1.0 --hash=sha256:{wheel.sha256}\n" for key, wheel in self.wheel.items()))
        self.folder = folder

    def fill(self):
        self.source.run("mirror", "fill", "app", "--lock", self.lock)

    def target(self, name="target", **keys):
        """Its upstream is never there."""
        (self.folder / name).mkdir()
        return Side(self.folder / name, self.index, offline="yes", **keys)


@pytest.fixture(name="both")
def both_fixture(tmp_path, index):
    return Networks(tmp_path, index)


def names_in(path):
    plain = subprocess.run(["zstd", "-dc", path], check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(plain)) as archive:
        return [one.name for one in archive]


def test_a_mirror_is_carried(both, serve, tmp_path):
    both.fill()
    both.source.make(tmp_path / "b", "--mirror", "app")
    digest = both.wheel["one"].sha256
    names = names_in(tmp_path / "b")
    assert f"upstreams/upstream/one/{digest}/{both.wheel['one'].name}" in names
    assert {"mirrors/app", "pages/one", "pages/two"} < set(names) and not [name for name in names if name.startswith("files/")]
    target = both.target()
    both.index.asked.clear()
    loaded = target.load(tmp_path / "b")
    assert loaded["stored"] == 4 and target.kept() == both.source.kept()
    row, = json.loads(target.run("mirror", "list", "--json"))["mirrors"]
    assert (row["mirror"], row["files"], row["gone"], row["unlisted"]) == ("app", 4, 0, 0)
    server = serve(None, config=target.text(), state=target.folder)
    for key in ("one", "two"):
        wheel = both.wheel[key]
        assert merging.names(server, key) == [wheel.name]
        assert server.get(merging.url_of(key, wheel.name)).body == wheel.path.read_bytes()
        assert server.get(merging.url_of(key, wheel.name + ".metadata")).body == wheel.metadata
    again = target.load(tmp_path / "b")
    assert again["stored"] == 0 and again["same"] == 4 and not both.index.asked


def test_a_running_server_learns_of_it(both, serve, tmp_path):
    both.fill()
    both.source.make(tmp_path / "b", "--mirror", "app")
    target = both.target()
    server = serve(None, config=target.text(), state=target.folder)
    assert merging.status_of(server, "one") != 200
    target.load(tmp_path / "b")
    serving.wait_for(lambda: merging.status_of(server, "one") == 200, 60, "the page")


def test_pip_installs_from_a_lock_where_no_network_is(both, serve, client, tmp_path):
    both.fill()
    both.source.make(tmp_path / "b", "--lock", both.lock, "--mirror", "app")
    assert f"files/{PLATFORM}/ours/{both.wheel['ours'].name}" in names_in(tmp_path / "b")
    assert not [name for name in names_in(tmp_path / "b") if "ours-2.0" in name]
    target = both.target()
    target.load(tmp_path / "b")
    both.index.asked.clear()
    both.index.is_down = True
    server = serve(None, config=target.text(), state=target.folder)
    client(PIP).pip("install", *clients.pip_index(f"{server.url}/simple/"), "--require-hashes", "--target",
                    tmp_path / "installed", "-r", both.lock)
    assert {path.name for path in (tmp_path / "installed").glob("*.dist-info")} == {
        f"{name}-1.0.dist-info" for name in ("ours", "one", "two")}
    assert not both.index.asked


def test_what_an_installation_lacks_is_told(both, tmp_path):
    said = both.source.make(tmp_path / "b", "--lock", both.lock, code=1)
    assert "2 files that an installation wants" in said and "mirror fill" in said and not (tmp_path / "b").exists()
    assert "there is no mirror app" in both.source.make(tmp_path / "b", "--mirror", "app", code=1)
    both.fill()
    next((both.source.folder / "catalog.db.files").rglob(both.wheel["one"].name)).unlink()
    said = both.source.make(tmp_path / "b", "--mirror", "app", code=1)
    assert f"lacks 1 of its 4, such as {both.wheel['one'].name}" in said and not (tmp_path / "b").exists()


def test_only_what_is_new_of_a_mirror(both, tmp_path):
    both.fill()
    both.source.make(tmp_path / "first", "--mirror", "app")
    newer = storelib.make_wheel(both.folder / "theirs", "three", "1.0")
    both.index.add("three", newer)
    both.lock.write_text(both.lock.read_text() + f"three==1.0 --hash=sha256:{newer.sha256}\n")
    both.fill()
    both.source.make(tmp_path / "second", "--mirror", "app", "--since", tmp_path / "first")
    assert [name.rsplit("/")[-1] for name in names_in(tmp_path / "second") if name.startswith("upstreams/")] == [
        newer.name, f"{newer.name}.metadata"]
    target = both.target()
    said = target.load(tmp_path / "second", code=1)
    assert "4 files that an earlier bundle has are not here" in said and not target.kept()
    target.load(tmp_path / "first")
    assert target.load(tmp_path / "second")["stored"] == 2 and len(target.kept()) == 6


def test_a_newer_page_is_not_replaced(both, serve, tmp_path):
    both.fill()
    both.source.make(tmp_path / "old", "--mirror", "app")
    both.index.add("one", storelib.make_wheel(both.folder / "theirs", "one", "2.0"))
    both.source.write(max_age="0")
    both.fill()
    both.source.make(tmp_path / "new", "--mirror", "app")
    target = both.target()
    for path in ("new", "old"):
        target.load(tmp_path / path)
    server = serve(None, config=target.text(), state=target.folder)
    assert len(merging.names(server, "one")) == 2


def test_a_damaged_cache_makes_no_bundle(both, tmp_path):
    both.fill()
    path = next((both.source.folder / "catalog.db.files").rglob(both.wheel["one"].name))
    data = path.read_bytes()
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    assert hashlib.sha256(path.read_bytes()).hexdigest() != both.wheel["one"].sha256
    assert "its bytes are not those" in both.source.make(tmp_path / "b", "--mirror", "app", code=1)
    assert not (tmp_path / "b").exists()
