# SPDX-License-Identifier: Apache-2.0
"""wheelcache mirror: what locks name is fetched from upstream, pinned, and installs offline."""
import json
import signal
import subprocess
import sys
import time

import pytest

import clients
import merging
import serving
import storelib

PLATFORM = "debian-12-x86_64"
HERE = f"{sys.version_info[0]}.{sys.version_info[1]}"
SHORT = f"cp{sys.version_info[0]}{sys.version_info[1]}"
LINUX = f"{SHORT}-{SHORT}-manylinux_2_17_x86_64"
PIP, UV, POETRY, PDM = "pip==26.3", "uv==0.13.9", "poetry==2.5.1", "pdm==2.29.3"
HOST = "127.0.0.2"  # no connection comes from there, so the port stays free between two servers
FAR = "2999-01-01T00:00:00.000000Z"


class Mirrored:
    """Upstream has one (pure, which requires two), two (native, also for another machine, and an sdist) and old (an sdist)."""

    def __init__(self, folder, index):
        self.folder, self.index, self.state = folder, index, folder / "state"
        self.store, self.wheel = folder / "store", {}
        (self.store / PLATFORM).mkdir(parents=True)
        self.state.mkdir()
        theirs = folder / "theirs"
        for key, name, tag, requires in (("one", "one", "py3-none-any", ["two"]), ("two", "two", LINUX, []),
                                         ("other", "two", f"{SHORT}-{SHORT}-win_amd64", []),
                                         ("gone", "gone", "py3-none-any", [])):
            self.wheel[key] = storelib.make_wheel(theirs, name, "1.0", tag, requires=requires)
        for key in ("one", "two", "other"):
            self.index.add("two" if key == "other" else key, self.wheel[key])
        self.index.add_bytes("two", "two-1.0.tar.gz", b"sdist of two", size=12)
        self.index.add_bytes("old", "old-1.0.tar.gz", b"sdist of old", size=12)
        self.scan()

    def config(self, **keys):
        """Files of upstream have no room but for one small file, unless keys say otherwise."""
        keys = {"files_size": "1000", "retries": "0", "max_age": "0", "stale": "1"} | keys
        return (f"[store]\npath = {self.store}\n[catalog]\npath = {self.state}/catalog.db\n"
                f"[platform {PLATFORM}]\npythons = {HERE}\n" + merging.config(self.index, **keys))

    def write(self, **keys):
        (self.state / "wheelcache.conf").write_text(self.config(**keys))

    def scan(self):
        self.write()
        assert serving.run("index", "--quiet", "--config", self.state / "wheelcache.conf").returncode == 0

    def requirements(self, *keys, more=""):
        text = "".join(f"{self.wheel[key].name.split('-')[0]}==1.0 --hash=sha256:{self.wheel[key].sha256}\n" for key in keys)
        lock = self.folder / "requirements.txt"
        lock.write_text(text + more)
        return lock

    def run(self, *words, code=0, keys=None):
        self.write(**(keys or {}))
        done = serving.run("mirror", *words, "--config", self.state / "wheelcache.conf")
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    def json(self, *words, code=0, keys=None):
        self.write(**(keys or {}))
        done = serving.run("mirror", *words, "--json", "--config", self.state / "wheelcache.conf")
        assert done.returncode == code, done.stdout + done.stderr
        return json.loads(done.stdout)

    def kept(self):
        return sorted(one.name for one in (self.state / "catalog.db.files").rglob("*") if one.is_file())

    def listed(self, code=0):
        return {row["mirror"]: row for row in self.json("list", code=code)["mirrors"]}


@pytest.fixture(name="at")
def at_fixture(tmp_path, index):
    return Mirrored(tmp_path, index)


def test_plan_fetches_nothing(at):
    plan = at.json("plan", "app", "--lock", at.requirements("one", "two"))["plan"]
    assert {row["filename"] for row in plan["files"]} == {at.wheel["one"].name, at.wheel["two"].name}
    assert plan["missing-files"] == 2
    assert plan["missing-bytes"] == at.wheel["one"].size + at.wheel["two"].size
    assert not at.kept() and at.run("list") == "no mirrors\n"
    text = at.run("plan", "app", "--lock", at.requirements("one", "two"))
    assert "mirror app: 2 files, " in text and "would be fetched" in text


def test_fill_keeps_what_has_no_room(at):
    """The cache has room for 1000 bytes; the mirror's files do not count."""
    sizes = at.wheel["one"].size + at.wheel["two"].size
    assert sizes > 1000
    assert "2 files" in at.run("fill", "app", "--lock", at.requirements("one", "two"))
    names = sorted(name for key in ("one", "two") for name in (at.wheel[key].name, at.wheel[key].name + ".metadata"))
    assert at.kept() == names
    asked = at.index.count(f"/packages/{at.wheel['one'].name}")
    record = at.state / "catalog.db.mirrors" / "_pages" / "one"
    before = record.stat()
    assert "0 files" in at.run("fill", "app", "--lock", at.requirements("one", "two"))
    assert at.index.count(f"/packages/{at.wheel['one'].name}") == asked == 1
    assert record.stat().st_ino == before.st_ino  # only times differ
    at.index.change("one", at.wheel["one"].name, yanked="now")
    at.run("fill", "app", "--lock", at.requirements("one", "two"))
    assert record.stat().st_ino != before.st_ino
    row = at.listed()["app"]
    assert (row["files"], row["projects"], row["gone"], row["unlisted"], row["first"]) == (4, 2, 0, 0, None)
    assert row["bytes"] == sizes + sum(len(at.wheel[key].metadata) for key in ("one", "two"))


def test_a_server_keeps_them_too(at, serve):
    server = serve(None, config=at.config(), state=at.state)
    at.run("fill", "app", "--lock", at.requirements("one", "two"))
    for number in range(20):
        name = f"x{number}-1.0.tar.gz"
        at.index.add_bytes(f"x{number}", name, b"x" * 400, size=400)
        assert server.get(merging.url_of(f"x{number}", name)).status == 200
    serving.wait_for(lambda: len([one for one in at.kept() if one.startswith("x")]) <= 2, 60, "others are bounded")
    assert {at.wheel["one"].name, at.wheel["two"].name} <= set(at.kept())


def test_what_is_lacking_has_a_row(at):
    """Not upstream's, other bytes, cooling and blocked: rows, exit 1, and the rest is fetched."""
    deny = at.folder / "deny.txt"
    deny.write_text("denied # bad\n")
    for name in ("young", "denied"):
        at.wheel[name] = storelib.make_wheel(at.folder / "theirs", name, "1.0")
        at.index.add(name, at.wheel[name], upload_time=FAR if name == "young" else merging.UPLOADED)
    lock = at.requirements("one", "gone", "young", "denied", more=f"two==1.0 --hash=sha256:{'0' * 64}\n")
    answer = at.json("fill", "app", "--lock", lock, code=1, keys={"cooldown": "7d", "deny": str(deny)})
    assert {row["project"]: row["status"] for row in answer["locks"]["rows"]} == {
        "one": "upstream", "gone": "missing", "young": "cooling", "denied": "missing", "two": "other-bytes"}
    why = {row["project"]: row["why"] for row in answer["locks"]["rows"]}
    assert "cooling until" in why["young"] and "denied by deny.txt:1" in why["denied"]
    assert at.kept() == [at.wheel["one"].name, at.wheel["one"].name + ".metadata"]
    assert not at.index.count(f"/packages/{at.wheel['young'].name}")


def test_an_sdist_only_where_no_wheel_fits(at):
    hashes = {name: [facts["hashes"]["sha256"] for facts in at.index.pages[name].values()] for name in ("two", "old")}
    more = "".join(f"{name}==1.0 " + " ".join(f"--hash=sha256:{one}" for one in found) + "\n"
                   for name, found in hashes.items())
    plan = at.json("plan", "app", "--lock", at.requirements(more=more))["plan"]
    assert {row["filename"] for row in plan["files"]} == {at.wheel["two"].name, "old-1.0.tar.gz"}


def test_again_adds_and_exact_unpins(at):
    at.run("fill", "app", "--lock", at.requirements("one"))
    at.run("fill", "app", "--lock", at.requirements("two"))
    assert at.listed()["app"]["projects"] == 2
    at.run("fill", "app", "--exact", "--lock", at.requirements("two"))
    assert at.listed()["app"]["projects"] == 1
    assert "has ended" in at.run("end", "app")
    assert at.wheel["two"].name not in at.kept() or len(at.kept()) < 4
    assert at.run("list") == "no mirrors\n"
    assert "there is no mirror app" in at.run("end", "app", code=1)


def test_a_wrong_byte_is_not_kept(at):
    name = f"/packages/{at.wheel['two'].name}"
    at.index.fail(name, merging.other_bytes)
    answer = at.json("fill", "app", "--lock", at.requirements("one", "two"), code=1)
    failed, = [row for row in answer["plan"]["files"] if row["failure"]]
    assert failed["filename"] == at.wheel["two"].name and "SHA-256" in failed["failure"]
    assert at.wheel["two"].name not in at.kept()
    row = at.listed(code=1)["app"]
    assert row["gone"] == 2 and row["first"].endswith("it is not here")
    at.index.mend(name)
    at.run("fill", "app", "--lock", at.requirements("one", "two"))
    assert not at.listed()["app"]["gone"]


@pytest.mark.parametrize("how", [merging.cut, merging.reset, merging.status(503)])
def test_a_cut_download_goes_on(at, how):
    at.index.fail(f"/packages/{at.wheel['two'].name}", how, times=1)
    at.run("fill", "app", "--lock", at.requirements("two"))
    is_part = how in (merging.cut, merging.reset)
    assert at.index.statuses(f"/packages/{at.wheel['two'].name}")[-1] == (206 if is_part else 200)


def test_a_killed_fill_goes_on(at):
    """What was whole is not fetched again; what was not is."""
    lock = at.requirements("one", "two")
    at.write(concurrency="1")
    go_on = at.index.hold(f"/packages/{at.wheel['two'].name}", after=10)
    filling = subprocess.Popen([serving.binary(), "mirror", "fill", "app", "--config", str(at.state / "wheelcache.conf"),
                                "--lock", str(lock)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    serving.wait_for(lambda: at.wheel["one"].name in at.kept() and at.index.count(f"/packages/{at.wheel['two'].name}"), 60,
                     "one is whole")
    filling.send_signal(signal.SIGKILL)
    filling.wait()
    go_on.set()
    at.index.mend(f"/packages/{at.wheel['two'].name}")
    at.run("fill", "app", "--lock", lock)
    assert at.index.count(f"/packages/{at.wheel['one'].name}") == 1
    assert not [name for name in at.kept() if name.startswith(".")]
    assert at.listed()["app"]["files"] == 4


def test_a_plan_that_does_not_fit_is_refused(at):
    at.index.change("two", at.wheel["two"].name, size=1 << 60)
    for command in ("plan", "fill"):
        assert "the disk has" in at.run(command, "app", "--lock", at.requirements("one", "two"), code=1)
    assert not at.kept() and at.run("list") == "no mirrors\n"
    assert not at.index.count(f"/packages/{at.wheel['one'].name}")


def test_pages_outlive_stale(at, serve):
    """Pages of pinned projects are used however old they are; others are too old."""
    at.run("fill", "app", "--lock", at.requirements("one", "two"), keys={"files_size": "1M"})
    server = serve(None, config=at.config(offline="yes"), state=at.state)
    time.sleep(2.1)  # stale = 1
    assert merging.names(server, "one") == [at.wheel["one"].name]
    assert server.get(merging.url_of("one", at.wheel["one"].name)).body == at.wheel["one"].path.read_bytes()
    assert server.get(merging.url_of("one", at.wheel["one"].name + ".metadata")).body == at.wheel["one"].metadata
    at.run("end", "app", keys={"offline": "yes"})
    serving.wait_for(lambda: merging.status_of(server, "one") == 502, 60, "it is too old")


@pytest.mark.parametrize("words, why", [
    (["fill", "app"], "--lock, --requirements or --top FILE is missing"), (["fill", "--lock", "x"], "expected one NAME"),
    (["plan", "a/b", "--lock", "x"], "is no name of a mirror"), (["fill", ".x", "--lock", "x"], "is no name of a mirror"),
    (["list", "x"], "mirror list takes no word"),
])
def test_lines_that_say_nothing(at, words, why):
    assert why in at.run(*words, code=2)


def test_nothing_is_fetched_where_upstream_is_not_asked(at):
    assert "offline = yes" in at.run("fill", "app", "--lock", at.requirements("one"), code=2, keys={"offline": "yes"})
    assert not at.index.asked


def test_doctor_and_check_say_what_is_lacking(at):
    at.run("fill", "app", "--lock", at.requirements("one", "two"))
    config = at.state / "wheelcache.conf"
    assert serving.run("check", "--quiet", "--config", config).returncode == 0
    rows = json.loads(serving.run("doctor", "--json", "--config", config).stdout)["rows"]
    assert not [row for row in rows if row["what"] == "mirror" and row["level"] != "fine"]
    next((at.state / "catalog.db.files").rglob(at.wheel["one"].name)).unlink()
    rows = json.loads(serving.run("doctor", "--json", "--config", config).stdout)["rows"]
    row, = [row for row in rows if row["what"] == "mirror"]
    assert row["level"] == "wrong" and "app: 1 of its 4 files are not here" in row["found"]
    done = serving.run("check", "--quiet", "--config", config)
    assert done.returncode == 1 and "mirror app: 1 of its 4 files are not here" in done.stderr


def lose_catalog(at):
    for one in at.state.glob("catalog.db*"):
        if one.is_file():
            one.unlink()
    at.scan()


def test_a_mirror_outlives_the_catalog(at, serve):
    """Also its pages, where upstream cannot be asked again; then upstream's next answer counts."""
    at.run("fill", "app", "--lock", at.requirements("one", "two"))
    names = at.kept()
    lose_catalog(at)
    asked = len(at.index.asked)
    assert at.listed()["app"]["first"] is None and at.kept() == names
    server = serve(None, config=at.config(offline="yes"), state=at.state)
    assert merging.names(server, "one") == [at.wheel["one"].name]
    assert server.get(merging.url_of("one", at.wheel["one"].name)).body == at.wheel["one"].path.read_bytes()
    server.stop()
    assert len(at.index.asked) == asked
    server = serve(None, config=at.config(), state=at.state)
    assert merging.names(server, "one") == [at.wheel["one"].name]
    serving.wait_for(lambda: 304 in at.index.statuses("one"), 60, "upstream confirms the page")
    merging.wait_until_noted(server, "one")
    newer = storelib.make_wheel(at.folder / "theirs", "one", "2.0")
    at.index.add("one", newer)
    serving.wait_for(lambda: newer.name in merging.names(server, "one"), 60, "the next answer")


def test_pages_go_with_the_mirror(at):
    pages = at.state / "catalog.db.mirrors" / "_pages"
    at.run("fill", "app", "--lock", at.requirements("one", "two"))
    assert sorted(one.name for one in pages.iterdir()) == ["one", "two"]
    (pages / "one").write_text("{")  # damaged: as if there were none
    lose_catalog(at)
    row = at.listed(code=1)["app"]
    assert (row["gone"], row["unlisted"]) == (0, 1) and "page is not known here" in row["first"]
    at.run("fill", "app", "--exact", "--lock", at.requirements("two"))
    assert [one.name for one in pages.iterdir()] == ["two"]
    at.run("end", "app")
    assert not list(pages.iterdir())


def offline(serve, at, server):
    """A server at the same address that asks no upstream."""
    server.stop()
    at.index.asked.clear()
    at.index.is_down = True
    return serve(None, config=at.config(offline="yes"), state=at.state, listen=f"{HOST}:{server.port}")


def first_server(serve, at):
    """Clients lock through it; only later pages are too old."""
    return serve(None, config=at.config(max_age="10m", stale="7d"), state=at.state, listen=f"{HOST}:0")


def locked_project(at, more=""):
    """A project that wants one, and so two."""
    project = at.folder / "project"
    project.mkdir()
    (project / "pyproject.toml").write_text(f'[project]\nname = "app"\nversion = "0"\nrequires-python = "=={HERE}.*"\n'
                                            f'dependencies = ["one"]\n{more}')
    return project


def installed(folder):
    return {path.name for path in folder.rglob("*.dist-info") if path.name.startswith(("one", "two"))}


BOTH = {"one-1.0.dist-info", "two-1.0.dist-info"}


def test_pip_installs_offline(at, serve, client):
    server = first_server(serve, at)
    lock = at.requirements("one", "two")
    at.run("fill", "app", "--lock", lock)
    server = offline(serve, at, server)
    client(PIP).pip("install", *clients.pip_index(f"{server.url}/simple/"), "--require-hashes", "--target",
                    at.folder / "target", "-r", lock)
    assert installed(at.folder / "target") == BOTH
    assert not at.index.asked


def test_uv_syncs_offline(at, serve, client):
    """The lock is made through us; then the files are fetched, and upstream is gone, and the catalog too."""
    server = first_server(serve, at)
    project = locked_project(at)
    uv = client(UV)
    line = ("--no-cache", "--default-index", f"{server.url}/simple/", "--python", sys.executable)
    uv.run("uv", "lock", *line, cwd=project)
    at.run("fill", "app", "--lock", project / "uv.lock")
    assert at.wheel["other"].name not in at.kept() and "two-1.0.tar.gz" not in at.kept()
    server.stop()
    lose_catalog(at)
    offline(serve, at, server)
    uv.run("uv", "sync", "--locked", *line, cwd=project)
    assert installed(project / ".venv") == BOTH
    assert not at.index.asked


def test_poetry_installs_offline(at, serve, client):
    server = first_server(serve, at)
    project = locked_project(at, "[tool.poetry]\npackage-mode = false\n[[tool.poetry.source]]\nname = \"ours\"\n"
                                 f'url = "{server.url}/simple/"\npriority = "primary"\n')
    poetry = client(POETRY)
    env = {"POETRY_VIRTUALENVS_IN_PROJECT": "true", "POETRY_NO_INTERACTION": "1"}
    poetry.run("poetry", "lock", cwd=project, env=env | {"POETRY_CACHE_DIR": str(at.folder / "first")})
    at.run("fill", "app", "--lock", project / "poetry.lock")
    offline(serve, at, server)
    poetry.run("poetry", "install", cwd=project, env=env | {"POETRY_CACHE_DIR": str(at.folder / "second")})
    assert installed(project / ".venv") == BOTH
    assert not at.index.asked


def test_pdm_syncs_offline(at, serve, client):
    server = first_server(serve, at)
    project = locked_project(at, '[tool.pdm]\ndistribution = false\n[[tool.pdm.source]]\nname = "pypi"\n'
                                 f'url = "{server.url}/simple/"\n')
    pdm, env = client(PDM), clients.pdm_settings(at.folder)
    pdm.run("pdm", "use", "-f", sys.executable, cwd=project, env=env)
    pdm.run("pdm", "lock", cwd=project, env=env)
    at.run("fill", "app", "--lock", project / "pdm.lock")
    offline(serve, at, server)
    pdm.run("pdm", "sync", cwd=project, env=env)
    assert installed(project / ".venv") == BOTH
    assert not at.index.asked


def test_each_upstream_has_its_files(tmp_path, serve):
    """The second one of two is asked for what the first one does not have; the same after the catalog was lost."""
    with merging.indexes() as start:
        at = Mirrored(tmp_path, start())
        second = start()
        at.wheel["far"] = storelib.make_wheel(tmp_path / "theirs", "far", "1.0")
        second.add("far", at.wheel["far"])

        def write(offline):
            text = at.config(offline=offline).replace(f"url = {at.index.url}\n", "")
            return text + f"[upstream near]\nurl = {at.index.url}\n[upstream far]\nurl = {second.url}\n"
        config = at.state / "wheelcache.conf"
        config.write_text(write("no"))
        done = serving.run("mirror", "fill", "app", "--config", config, "--lock", at.requirements("one", "far"))
        assert done.returncode == 0, done.stdout + done.stderr
        assert len(list(at.state.glob(f"catalog.db.files.near/one/*/{at.wheel['one'].name}"))) == 1
        assert len(list(at.state.glob(f"catalog.db.files.far/far/*/{at.wheel['far'].name}"))) == 1
        for one in at.state.glob("catalog.db*"):
            if one.is_file():
                one.unlink()
        assert serving.run("index", "--quiet", "--config", config).returncode == 0
        for index in (at.index, second):
            index.is_down = True
            index.asked.clear()
        assert serving.run("mirror", "list", "--config", config).returncode == 0
        server = serve(None, config=write("yes"), state=at.state)
        for upstream, key in (("near", "one"), ("far", "far")):
            file, = merging.page(server, key)["files"]
            assert file["url"].endswith(f"/files/upstream/{upstream}/{key}/{at.wheel[key].name}")
            assert server.get(f"/files/upstream/{upstream}/{key}/{at.wheel[key].name}").body == at.wheel[key].path.read_bytes()
        assert not at.index.asked and not second.asked
