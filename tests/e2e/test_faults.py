# SPDX-License-Identifier: Apache-2.0
"""Every call that changes a file fails once, or the process is killed there: uploads, scans, exports, marks, freezes and
pushes leave nothing or all of their work, and succeed when they are repeated. Prints how many points were tried
(pytest -s)."""
import contextlib
import errno
import hashlib
import http.client
import json
import os
import shutil
import sqlite3
import sys

import pytest

import attaching
import faults
import serving
import storelib
import uploading

PLATFORM = "ubuntu-22.04-x86_64"
PARTS = ["/store/", "/catalog.db", "/site/"]
NAMES = [f"foo-{version}-py3-none-any.whl" for version in ("1.0", "2.0")]


def told(what, points):
    print(f"\n{what}: {points} points")
    assert points > 10, "hardly anything was tried"


def statement_of(wheel):
    return attaching.as_bytes(attaching.statement(wheel))


def below(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def check_clean(store):
    """No temporary file is left."""
    assert not [path for path in store.rglob(".*") if path.is_file()]


# --- uploads ---

class Uploading:
    """A server with faults, and the uploads to it."""

    def __init__(self, folder, start):
        self.folder, self.store, self.start = folder, folder / "store", start
        storelib.make_wheel(self.store / PLATFORM / "f" / "foo", "foo", "1.0")
        self.nth = faults.Nth(folder, PARTS)
        self.restart()
        self.token = uploading.add_token(self.server)

    def restart(self):
        """Ready again, and its first scan has ended."""
        self.server = self.start(self.store, state=self.folder / "state")
        serving.wait_for(lambda: b'"ended":0' not in self.server.get("/-/health").body.replace(b" ", b""), 60, "a scan")

    def wheel(self, name):
        return storelib.make_wheel(self.folder / "dist", name, "1.0").path

    def upload(self, wheel):
        """The reply; None: it did not arrive completely."""
        parts = [*uploading.form_of(wheel), uploading.Part("build_provenance", statement_of(wheel))]
        with contextlib.suppress(OSError, http.client.HTTPException):
            return uploading.post(self.server, f"/upload/{PLATFORM}/", parts, self.token)

    def placed(self, wheel):
        project = wheel.name.split("-")[0]
        return self.store / PLATFORM / project[0] / project / wheel.name

    def check_file(self, wheel):
        """Nothing or the whole file; its statement never comes before it."""
        placed = self.placed(wheel)
        statement = placed.with_name(placed.name + ".intoto.json")
        assert not placed.exists() or placed.read_bytes() == wheel.read_bytes()
        assert not statement.exists() or (placed.exists() and statement.read_bytes() == statement_of(wheel))

    def check_page(self, wheel):
        """And the page says the same."""
        self.check_file(wheel)
        project = wheel.name.split("-")[0]
        listed = uploading.listed(self.server, PLATFORM, project)
        if self.placed(wheel).exists():
            assert listed == {wheel.name: hashlib.sha256(wheel.read_bytes()).hexdigest()}
            assert self.server.get(f"/files/{PLATFORM}/{project}/{wheel.name}").body == wheel.read_bytes()
        else:
            assert listed == {}

    def retry(self, wheel):
        reply = self.upload(wheel)
        assert reply.status == 200, reply.body + self.server.errors().encode()
        assert self.placed(wheel).exists()
        self.check_page(wheel)
        url = f"/files/{PLATFORM}/{wheel.name.split('-')[0]}/{wheel.name}.intoto.json"
        assert self.server.get(url).body == statement_of(wheel)

    def hit(self, wheel, at, how):
        """Whether the fault came."""
        self.nth.arm(at, how)
        reply = self.upload(wheel)
        came = self.nth.disarm()
        assert came or reply.status == 200
        assert how == faults.KILLED or reply.status in (200, 503, 507), reply.body
        self.check_file(wheel)
        if reply and reply.status == 200:
            self.check_page(wheel)
        return came


def uploads_and_restarts(how, folder):
    with serving.servers(folder) as start:
        at = Uploading(folder, start)
        for point in faults.points():
            wheel = at.wheel(f"new{point}")
            if not at.hit(wheel, point, how):
                return point - 1
            if how == faults.KILLED:
                at.server.wait_killed()
            else:
                at.server.stop()
            at.restart()
            at.check_page(wheel)
            check_clean(at.store)
            at.retry(wheel)


def uploads_that_go_on(how, folder):
    with serving.servers(folder) as start:
        at, tried = Uploading(folder, start), []
        for point in faults.points():
            tried.append(wheel := at.wheel(f"new{point}"))
            came = at.hit(wheel, point, how)
            at.retry(wheel)
            if not came:
                break
        at.server.stop()
        at.restart()
        check_clean(at.store)
        for wheel in tried:
            at.check_page(wheel)
        return point - 1


def test_uploads_and_a_restart():
    told("upload, then a restart", faults.points_of(uploads_and_restarts, faults.DISK))


def test_uploads_to_a_server_that_goes_on():
    told("upload, tried again", faults.points_of(uploads_that_go_on, faults.DISK[1:]))


def test_existing_file_is_durable_before_its_upload_is_200(tmp_path, monkeypatch):
    """Also where another process put it there, perhaps a moment ago."""
    monkeypatch.setenv("WHEELCACHE", serving.binary())  # the store with the faults is dropped after the test
    monkeypatch.setattr(sys.modules[__name__], "PARTS", ["/new-1.0-py3-none-any.whl"])
    with serving.servers(tmp_path) as start:
        at = Uploading(tmp_path, start)
        wheel = at.wheel("new")
        at.placed(wheel).parent.mkdir(parents=True)
        shutil.copy(wheel, at.placed(wheel))
        serving.wait_for(lambda: uploading.listed(at.server, PLATFORM, "new"), 60, "the file")  # so nothing links it
        at.nth.arm(1, errno.EIO)
        reply = uploading.post(at.server, f"/upload/{PLATFORM}/", uploading.form_of(wheel), at.token)
        assert at.nth.disarm(), "nothing was synced"
        assert reply.status == 503
        at.retry(wheel)


# --- commands ---

class Commands:
    """A small store and its catalog, which are restored before each round."""

    def __init__(self, folder):
        self.folder, self.store, self.catalog = folder, folder / "store", folder / "catalog.db"
        self.place = self.store / PLATFORM / "f" / "foo"
        self.sha256 = {name: storelib.make_wheel(self.place, "foo", name.split("-")[1]).sha256 for name in NAMES}
        self.nth = faults.Nth(folder, PARTS)

    def command(self, name, *options):
        return [name, "--catalog", self.catalog, *options, self.store]

    def forget(self):
        for path in self.folder.glob("catalog.db*"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()

    def remember(self):
        """Indexes once; returns a function that makes it so again."""
        assert serving.run(*self.command("index", "-q")).returncode == 0
        shutil.copytree(self.store, self.folder / "kept")
        shutil.copy2(self.catalog, self.folder / "kept.db")
        return self.go_back

    def go_back(self):
        """The wheels that are there stay the same files: the catalog knows them by more than their names."""
        self.forget()
        shutil.copy2(self.folder / "kept.db", self.catalog)
        for path in self.place.glob("*.*ed"):
            path.unlink()
        for path in (self.folder / "kept").rglob("*.whl"):
            if not (self.place / path.name).exists():
                shutil.copy2(path, self.place)

    def rows(self):
        """What the catalog has: {file name: (state, SHA-256, why it is yanked)}."""
        with contextlib.closing(sqlite3.connect(self.catalog)) as connection:
            if not connection.execute("SELECT 1 FROM pragma_table_info('file') WHERE name = 'yanked'").fetchall():
                return {}  # the schema is missing or incomplete
            rows = connection.execute("SELECT filename, state, lower(hex(sha256)), yanked FROM file").fetchall()
        return {row[0]: row[1:] for row in rows}

    def insides(self):
        """Of how many wheels the catalog knows what is inside."""
        with contextlib.closing(sqlite3.connect(self.catalog)) as connection:
            return connection.execute("SELECT count(*) FROM inside_facts").fetchone()[0]

    def tries(self, how, go_back, command, check):
        """The command with each fault, and once more without; the number of faults."""
        for point in faults.points():
            go_back()
            self.nth.arm(point, how)
            done = serving.run(*command)
            came = self.nth.disarm()
            assert came or done.returncode == 0, done.stderr
            check(False)
            again = serving.run(*command)
            assert again.returncode == 0, f"point {point}: {done.stderr} {again.stderr}"
            check(True)
            if not came:
                return point - 1

    def check_swept(self):
        """A scan removes all temporary files that killed processes left."""
        for folder in (self.place, self.store / PLATFORM):
            os.utime(folder)  # it is looked at
        assert serving.run(*self.command("index", "-q")).returncode == 0
        check_clean(self.store)


def scans(how, folder):
    at = Commands(folder)

    def check(is_whole):
        rows = at.rows() if at.catalog.exists() else {}
        assert all(row == (0, at.sha256[name], None) for name, row in rows.items())
        assert not is_whole or len(rows) == len(NAMES)
        assert not is_whole or at.insides() == len(NAMES)

    points = at.tries(how, at.forget, at.command("index", "-q"), check)
    done = serving.run(*at.command("check", "--all"))
    assert done.returncode == 0, done.stdout + done.stderr
    return points


def test_scans():
    told("index", faults.points_of(scans, faults.DISK_IN_TURNS))


def exports(how, folder):
    at = Commands(folder)
    at.remember()
    command = at.command("index", "-q", "--static", folder / "site")
    assert serving.run(*command).returncode == 0
    wanted = below(folder / "site")

    def go_back():
        shutil.rmtree(folder / "site")
        at.go_back()

    def check(is_whole):
        found = below(folder / "site") if (folder / "site").exists() else {}
        for name, data in found.items():
            assert os.path.basename(name).startswith(".") or data == wanted[name], name
        assert not is_whole or set(found) == set(wanted)

    return at.tries(how, go_back, command, check)


def test_static_exports():
    told("static export", faults.points_of(exports, faults.DISK_IN_TURNS))


def marks(how, folder, options):
    at = Commands(folder)
    go_back = at.remember()
    name, other = NAMES
    wheel = at.place / name
    beside = at.place / (name + (".yanked" if "yank" in options else ".pruned"))
    data = wheel.read_bytes()
    whole = {"yank": (0, at.sha256[name], "broken"), "remove": (3, at.sha256[name], None)}[options[0]]

    def check(is_whole):
        rows = at.rows()
        if beside.exists():
            text = beside.read_text().strip()
            assert (text if "yank" in options else json.loads(text)["reason"]) == "broken"
        assert rows[other] == (0, at.sha256[other], None)
        assert wheel.exists() or "--delete" in options and beside.exists()
        assert not wheel.exists() or wheel.read_bytes() == data
        if is_whole:
            assert beside.exists()
            assert rows.get(name) == (None if "--delete" in options else whole)
            assert wheel.exists() != ("--delete" in options)

    points = at.tries(how, go_back, at.command(*options, "--reason", "broken", name), check)
    at.check_swept()
    return points


@pytest.mark.parametrize("options", [["yank"], ["remove"], ["remove", "--delete"]], ids=" ".join)
def test_marks(options):
    told(" ".join(options), faults.points_of(marks, faults.DISK_IN_TURNS, options))


def freezes(how, folder):
    at = Commands(folder)
    go_back = at.remember()
    mark = at.store / PLATFORM / ".wheelcache-frozen"

    def thaw():
        go_back()
        mark.unlink(missing_ok=True)

    def check(is_whole):
        assert mark.exists() or not is_whole
        assert not mark.exists() or b"upgrade" in mark.read_bytes()

    command = ["freeze", "--catalog", at.catalog, "--store", at.store, "--reason", "upgrade"]
    points = at.tries(how, thaw, command, check)
    before = below(at.store)
    assert serving.run(*at.command("index", "-q")).returncode == 0
    assert below(at.store) == before, "a frozen platform was written to"
    mark.unlink()
    at.check_swept()
    return points


def test_freezes():
    told("freeze", faults.points_of(freezes, faults.DISK_IN_TURNS))


# --- push ---

def settled(server, folder, project, made):
    """What is listed once the server, which has all bytes of a client that was killed, is done with them."""
    def is_settled():
        return all((folder / path.name).exists() == (path.name in uploading.listed(server, PLATFORM, project))
                   for path in made)
    serving.wait_for(is_settled, 10, "placed and listed files to be the same")
    for path in made:
        placed = folder / path.name
        assert not placed.exists() or placed.read_bytes() == path.read_bytes()
    return uploading.listed(server, PLATFORM, project)


def pushes(how, folder):
    """The client is killed, or its connection ends, at each call that sends data."""
    store = folder / "store"
    (store / PLATFORM).mkdir(parents=True)
    with serving.servers(folder) as start:
        server = start(store)
        token = uploading.add_token(server)
        nth = faults.Nth(folder, ["socket:"])
        to = ["--quiet", "--retries", "3", "--to", f"{server.url}/upload/{PLATFORM}/"]
        environment = os.environ | {"HOME": str(folder), "WHEELCACHE_TOKEN": token}
        for point in faults.points():
            made = [storelib.make_wheel(folder / "dist", f"new{point}", version, size=100_000).path
                    for version in ("1.0", "2.0")]
            nth.arm(point, how)
            done = serving.run("push", *made, *to, env=environment)
            came = nth.disarm()
            assert done.returncode == (-9 if came and how == faults.KILLED else 0), done.stderr
            listed = settled(server, store / PLATFORM / "n" / f"new{point}", f"new{point}", made)
            assert done.returncode or len(listed) == 2
            again = serving.run("push", *made, *to, env=environment)
            assert again.returncode == 0, again.stderr
            assert len(uploading.listed(server, PLATFORM, f"new{point}")) == 2
            if not came:
                break
        serving.wait_for(lambda: not list(store.rglob(".*")), 30, "the end of what was cut off")
        return point - 1


def test_pushes():
    told("push", faults.points_of(pushes, faults.NETWORK))
