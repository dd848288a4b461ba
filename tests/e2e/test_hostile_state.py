# SPDX-License-Identifier: Apache-2.0
"""Root's commands in a state folder of another account, which has replaced our files by links to files of root, or by pipes;
and the modes of the files that we create there."""
import fcntl
import json
import os
import pathlib
import stat
import urllib.parse

import pytest

import merging
import others
import serving
import storelib
import uploading

PLATFORM = "debian-12-x86_64"
WHEEL = "foo-1.0-py3-none-any.whl"
NOBODY = 65534
SOON = 60
SECRET = b"of root alone\n"

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can be led to what is root's")


class Site:
    """A store, a state folder of another account, and a folder of root with a file that must not change."""

    def __init__(self, folder):
        folder.chmod(0o755)
        self.store, self.state, self.roots = folder / "store", folder / "state", folder / "roots"
        storelib.make_wheel(self.store / PLATFORM / "f" / "foo", "foo", "1.0")
        self.state.mkdir()
        self.roots.mkdir()
        self.catalog = self.state / "catalog.db"
        self.victim = self.roots / "victim"
        self.config = folder / "site.conf"
        self.config.write_text(f"[store]\npath = {self.store}\n[catalog]\npath = {self.catalog}\n"
                               f"[platform {PLATFORM}]\nrelease = /bin/true\n")

    def run(self, *words, code=None):
        done = serving.run(*words, "--config", self.config, timeout=SOON)
        assert code is None or done.returncode == code, done.stdout + done.stderr
        return done

    def hand_over(self):
        """Gives the state folder to the other account."""
        for path in [self.state, *self.state.rglob("*")]:
            if path.lstat().st_ino != self.inode():
                os.chown(path, NOBODY, NOBODY, follow_symlinks=False)

    def inode(self):
        return self.victim.stat().st_ino if self.victim.exists() else 0

    def put(self, how, path):
        """Puts something hostile in the place of a file; returns what must not change."""
        path = pathlib.Path(path)
        if path.is_dir() and not path.is_symlink():
            path.rename(f"{path}.aside")
        path.unlink(missing_ok=True)
        self.victim.write_bytes(SECRET if how != "link-to-empty" else b"")
        self.victim.chmod(0o600)
        if how == "pipe":
            os.mkfifo(path)
        elif how == "hard-link":
            os.link(self.victim, path)
        elif how == "folder-link":
            path.symlink_to(self.roots)
        else:
            path.symlink_to(self.victim)
        return self.seen()

    def seen(self):
        """The files of root: names, bytes, owners and modes."""
        return {one.name: (one.read_bytes(), one.stat().st_uid, one.stat().st_mode) for one in self.roots.iterdir()}


@pytest.fixture(name="site")
def site_fixture(tmp_path):
    site = Site(tmp_path)
    site.run("index", code=0)
    return site


COMMANDS = {
    "tokens": ("token", "add"),
    "audit": ("token", "add"),
    "lock": ("index",),
    "prune": ("prune", "purge"),
}
HOWS = ["link", "link-to-empty", "hard-link", "pipe"]


@as_root
@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("ending", COMMANDS)
def test_file_that_is_none_is_refused_by_its_name(site, ending, how):
    path = f"{site.catalog}.{ending}"
    before = site.put(how, path)
    site.hand_over()
    done = site.run(*COMMANDS[ending])
    assert site.seen() == before
    assert done.returncode == 1 and path in done.stderr, done.stderr
    assert {"pipe": "no regular file", "hard-link": "hard links"}.get(how, "symbolic link") in done.stderr


@as_root
@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("ending", ["", "-wal", "-shm"])
def test_catalog_and_what_stands_beside_it(site, ending, how):
    before = site.put(how, f"{site.catalog}{ending}")
    site.hand_over()
    for command in ("index", "check"):
        done = site.run(command)
        assert site.seen() == before
        assert done.returncode == 1 and "catalog.db" in done.stderr, done.stderr


@as_root
@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("name", ["catalog.db-changes", "catalog.db.downloads"])
def test_file_that_can_be_done_without(site, name, how):
    """Nothing is written through it, and nothing hangs."""
    before = site.put(how, site.state / name)
    site.hand_over()
    for command in (("index",), ("token", "add")):
        site.run(*command)
        assert site.seen() == before


@as_root
@pytest.mark.parametrize("how", HOWS)
def test_plan(site, how):
    """It is read as any other file of the state, and a new plan replaces it."""
    plan = site.state / "plan.json"
    before = site.put(how, plan)
    site.hand_over()
    done = site.run("prune", "apply", plan, code=1)
    assert str(plan) in done.stderr and site.seen() == before


@as_root
def test_folder_of_releases(site):
    """Otherwise lines would be added to files in the target of a link."""
    site.run("yank", WHEEL, "--reason", "bad", code=0)
    path = pathlib.Path(f"{site.catalog}.release")
    assert path.is_dir()
    before = site.put("folder-link", path)
    site.hand_over()
    done = site.run("unyank", WHEEL, code=1)
    assert site.seen() == before and str(path) in done.stderr


@as_root
def test_marks_in_the_store(site):
    """A mark replaces whatever has its name: nothing is written through it."""
    folder = site.store / PLATFORM / "f" / "foo"
    for path in (folder, folder.parent, folder.parent.parent):
        os.chown(path, NOBODY, NOBODY)
    for how in ("link", "hard-link", "pipe"):
        for path, command in ((folder / f"{WHEEL}.yanked", ("yank", WHEEL, "--reason", "bad")),
                              (site.store / PLATFORM / ".wheelcache-frozen", ("freeze", PLATFORM))):
            before = site.put(how, path)
            done = site.run(*command)
            assert done.returncode == 0, done.stderr
            assert site.seen() == before
            assert path.is_file() and not path.is_symlink() and path.stat().st_nlink == 1
            site.run("thaw", PLATFORM, code=0)


@as_root
@pytest.mark.parametrize("what", ["ours", "files"])
@pytest.mark.parametrize("how", ["link", "pipe"])
def test_state_of_a_merging_server(site, index, how, what):
    """`serve` as root exits with an error that names the file, or runs without it."""
    before = site.put(how if what == "ours" else "folder-link", f"{site.catalog}.{what}")
    site.config.write_text(site.config.read_text() + merging.config(index))
    site.hand_over()
    with pytest.raises(AssertionError, match=rf"no URL.*catalog\.db\.{what}"):
        serving.Server(site.store, site.state.parent, options=("--catalog", site.catalog), config=site.config.read_text())
    assert site.seen() == before


@as_root
@pytest.mark.parametrize("how", ["link", "hard-link", "pipe"])
def test_socket_is_no_way_to_another_file(site, how):
    before = site.put(how, site.state / "socket")
    site.hand_over()
    done = site.run("serve", "--listen", f"unix:{site.state}/socket")
    assert done.returncode == 1 and "socket" in done.stderr, done.stderr
    assert site.seen() == before


@as_root
def test_link_on_the_way_is_not_followed(site):
    """Also where the state folder is of another account, and a part of the path is a link in it."""
    site.run("token", "add", code=0)
    (site.state / "inner").symlink_to(site.roots)
    before = site.put("link", site.state / "nothing")
    site.hand_over()
    inner = site.state / "inner"
    for done in (serving.run("token", "add", "--catalog", inner / "catalog.db", site.store, timeout=SOON),
                 serving.run("index", "--catalog", inner / "catalog.db", site.store, timeout=SOON)):
        assert done.returncode == 1 and "symbolic link" in done.stderr, done.stderr
    assert site.seen() == before


def test_link_of_our_own_is_followed(site):
    """For example a link that systemd makes for a state folder (DynamicUser=), or an operator for a file."""
    link = site.state.parent / "linked"
    link.symlink_to(site.state)
    aside = site.state.parent / "elsewhere.audit"
    pathlib.Path(f"{site.catalog}.audit").unlink(missing_ok=True)
    pathlib.Path(f"{site.catalog}.audit").symlink_to(aside)
    for words in (("index",), ("token", "add"), ("token", "list"), ("check",)):
        done = serving.run(*words, "--catalog", link / "catalog.db", site.store)
        assert done.returncode == 0, done.stderr
    assert '"token add"' in aside.read_text()


@as_root
def test_what_was_there_before_keeps_its_owner(site):
    """Only files that root made are given to the owner of the folder."""
    site.run("token", "add", code=0)
    site.hand_over()
    kept = [pathlib.Path(f"{site.catalog}.{ending}") for ending in ("audit", "lock")]
    for path in kept:
        path.touch()
        os.chown(path, 0, 0)
    made = [pathlib.Path(f"{site.catalog}.{ending}") for ending in ("tokens", "prune")]
    for path in made:
        path.unlink(missing_ok=True)
    site.run("token", "add", code=0)
    site.run("index", code=0)
    site.run("prune", "purge", code=0)
    assert [path.stat().st_uid for path in kept] == [0, 0]
    assert [path.stat().st_uid for path in made] == [NOBODY, NOBODY]


@as_root
def test_account_can_use_files_that_root_made():
    """A server and commands of root in the folder of another account (a clone, a home): all their files belong to that
    account."""
    with others.open_folder() as folder, others.open_program(), serving.servers(folder) as start:
        store, state = folder / "store", folder / "state"
        storelib.make_wheel(store / PLATFORM / "f" / "foo", "foo", "1.0")
        bar = storelib.make_wheel(folder / "built", "bar", "1.0")
        state.mkdir()
        os.chown(state, NOBODY, NOBODY)
        server = start(config=f"[store]\npath = {store}\n[platform {PLATFORM}]\nquota-files = 9\n"
                       "release = /bin/true\nrelease-delay = 0\n", state=state)
        assert uploading.upload(server, PLATFORM, bar.path, uploading.add_token(server)).status == 200
        for words in (("yank", WHEEL, "--reason", "bad"), ("prune", "purge"), ("index",)):
            assert serving.run(*words, "--catalog", server.catalog, store).returncode == 0, words
        own = {"wheelcache.conf", "stderr.txt"}  # the test's
        owners = {str(one.relative_to(state)): one.stat().st_uid for one in state.rglob("*") if one.name not in own}
        assert {"catalog.db", "catalog.db-wal", "catalog.db.audit", f"catalog.db.reserved/{PLATFORM}"} <= owners.keys(), owners
        assert {name: uid for name, uid in owners.items() if uid != NOBODY} == {}
        server.stop()
        done = serving.run("index", "--catalog", state / "catalog.db", store, **others.as_nobody())
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("lock", [".", ".wheelcache-lock"])
def test_lock_of_the_state_holds_no_server_up(site, serve, lock):
    """Any account that may list the folder can lock it, to no effect. Those that may write there can lock the file in it: only
    what changes the state waits for that."""
    counts = pathlib.Path(f"{site.catalog}.downloads")
    if lock != ".":
        site.state.joinpath(lock).touch(0o600)
    stranger = os.open(site.state / lock, os.O_RDONLY)
    fcntl.flock(stranger, fcntl.LOCK_EX)
    try:
        server = serve(site.store, state=site.state)
        page = server.get(f"/{PLATFORM}/simple/foo/", {"Accept": "application/vnd.pypi.simple.v1+json"})
        url = urllib.parse.urljoin(f"/{PLATFORM}/simple/foo/", json.loads(page.body)["files"][0]["url"])
        assert server.get(url).status == 200
        server.stop()
        assert ("another process holds the lock of " in server.errors()) == (lock != ".")
        assert counts.exists() == (lock == ".")
    finally:
        os.close(stranger)
    serve(site.store, state=site.state).stop()
    assert counts.exists()


# --- who may read it ---

@pytest.fixture(name="no_umask")
def no_umask_fixture():
    before = os.umask(0)
    yield
    os.umask(before)


def test_state_is_private_whatever_the_umask(site, index, tmp_path, no_umask):  # pylint: disable=unused-argument
    """Wheels and their marks in the store are readable for all."""
    state = tmp_path / "fresh"
    six, bar = (storelib.make_wheel(tmp_path / "built", name, "1.0") for name in ("six", "bar"))
    index.add("six", six)
    config = (f"{merging.config(index)}[store]\npath = {site.store}\n"
              f"[platform {PLATFORM}]\nrelease = /bin/true\nrelease-delay = 0\n")
    state.mkdir(mode=0o750)
    with serving.servers(tmp_path / "servers") as start:
        server = start(config=config, state=state)
        token = uploading.add_token(server)
        assert uploading.upload(server, PLATFORM, bar.path, token).status == 200
        assert server.get(merging.url_of("six", six.name)).body == six.path.read_bytes()
        merging.wait_until_kept(server, six.name)
        assert server.get("/simple/").status == 200
        for words in (("yank", WHEEL, "--reason", "bad"), ("prune", "purge"), ("index",)):
            assert serving.run(*words, "--catalog", server.catalog, site.store).returncode == 0, words
        done = serving.run("prune", "plan", "--config", server.config_path, "--catalog", server.catalog,
                           "-o", state / "plan.json")
        assert done.returncode == 0, done.stderr
    modes = {str(one.relative_to(state)): stat.S_IMODE(one.stat().st_mode) for one in state.rglob("*")}
    own = {"wheelcache.conf", "stderr.txt"}  # the test's
    made = {"plan.json", "access.log", "catalog.db", "catalog.db.audit", "catalog.db.lock", "catalog.db-changes",
            "catalog.db.tokens", "catalog.db.prune", "catalog.db.ours", "catalog.db.downloads", "catalog.db.files"}
    assert made <= modes.keys(), sorted(modes)
    assert {name: oct(mode) for name, mode in modes.items() if mode & 0o027 and name not in own} == {}
    assert stat.S_IMODE((site.store / PLATFORM / "b" / "bar" / bar.name).stat().st_mode) == 0o644
    assert stat.S_IMODE((site.store / PLATFORM / "f" / "foo" / f"{WHEEL}.yanked").stat().st_mode) == 0o644


def test_server_names_what_every_account_may_read(site, serve):
    """Existing files may be readable on purpose: their mode stays."""
    url = "http://user:secret@127.0.0.1:9/simple/"
    config = f"[store]\npath = {site.store}\n[upstream]\nurl = {url}\n"
    assert "every account" not in serve(config=config.replace("user:secret@", ""), state=site.state).errors()
    site.catalog.chmod(0o644)
    server = serve(config=config, state=site.state)
    errors = server.errors()
    assert f"{site.catalog}: every account of this machine can read" in errors
    assert f"{server.config_path}: every account of this machine can read the password" in errors
    assert stat.S_IMODE(site.catalog.stat().st_mode) == 0o644
    assert "secret" not in errors
