# SPDX-License-Identifier: Apache-2.0
"""Bundles: what a store has, in one file, comes to another one with all of its history, or not at all."""
import contextlib
import hashlib
import io
import json
import os
import pathlib
import random
import shutil
import signal
import sqlite3
import subprocess
import tarfile
import time

import pytest

import attaching
import buckets
import memberships
import pages
import serving
import storelib

DEBIAN, UBUNTU, NEW = "debian-12-x86_64", "ubuntu-22.04-x86_64", "debian-13-x86_64"
TRAILER = 128
MAGIC = bytes.fromhex("502a4d1878000000") + b"wheelcache bundle".ljust(24, b"\0")
BUILDERS = ["ci", "nightly builder", "Zoë"]


class Site:
    """A store of two platforms, with its catalog and a view that promotes from both."""

    def __init__(self, folder, platforms=(DEBIAN, UBUNTU), private=(), views=True, extra=""):
        self.folder, self.store, self.platforms = folder, folder / "store", platforms
        self.catalog, self.config = folder / "catalog.db", folder / "wheelcache.conf"
        for platform in platforms:
            (self.store / platform).mkdir(parents=True)
        sections = "".join(f"[platform {one}]\n{'private = yes' if one in private else ''}\n" for one in platforms)
        both = f"[view both]\nplatforms = {' '.join(platforms)}\n[view stable]\nfrom = both\n" if views else ""
        self.config.write_text(f"[store]\npath = {self.store}\n[catalog]\npath = {self.catalog}\n{sections}{both}{extra}")

    @classmethod
    def in_bucket(cls, folder, bucket):
        """The same, whose store is a bucket."""
        folder.mkdir()
        site = cls(folder)
        text = site.config.read_text().replace(f"path = {site.store}\n", f"path = {bucket.address}\nviews = {folder}/views\n", 1)
        site.config.write_text(f"{text}[place s3://{bucket.name}]\nendpoint = {bucket.url}\n")
        site.index()
        return site

    def run(self, *words, code=0, **how):
        done = serving.run(*words, "--config", self.config, **how)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout or done.stderr

    def index(self):
        self.run("index", "--quiet")

    def make(self, path, *options, views=("both", "stable"), code=0):
        return self.run("bundle", "make", "-o", path, "--view", *views, *options, code=code)

    def load(self, path, *options, unsigned=True, code=0):
        said = self.run("bundle", "load", path, "--json", *(["--unsigned"] if unsigned else []), *options, code=code)
        return json.loads(said) if said.startswith("{") else said

    def files(self):
        """All of the store, and what its files are: their bytes and their times."""
        return {str(path.relative_to(self.store)): (path.read_bytes(), path.stat().st_mtime_ns)
                for path in sorted(self.store.rglob("*")) if path.is_file()}

    def came(self):
        """When each file came, as far as the catalog or its time say."""
        with contextlib.closing(sqlite3.connect(self.catalog)) as connection:
            return connection.execute("SELECT p.name, f.filename, iif(f.arrived > 0, f.arrived, f.mtime_ns / 1000000000)"
                                      " FROM file f JOIN platform p ON p.id = f.platform ORDER BY 1, 2").fetchall()

    def uploaders(self, project):
        found = json.loads(self.run("explain", project, "--json"))
        return {(one["platform"], one["filename"]): one.get("uploaded_by") for one in found["here"]}

    def log_upload(self, platform, wheel, project, who):
        line = {"time": "2026-01-02T03:04:05.000001Z", "who": who, "action": "upload", "platform": platform,
                "project": project, "file": wheel.name, "sha256": wheel.sha256, "result": "done"}
        with open(f"{self.catalog}.audit", "a", encoding="utf-8") as log:
            log.write(json.dumps(line) + "\n")


def shown(serve, site):
    """Every page of every view, as JSON and as HTML."""
    server = serve(None, "--rescan", "0", config=site.config.read_text())
    found = {}
    for view in ("", *(f"/{one}" for one in (*site.platforms, "both", "stable"))):
        root = server.get(f"{view}/simple/", {"Accept": pages.JSON})
        names = [one["name"] for one in json.loads(root.body)["projects"]] if root.status == 200 else []
        for path in (f"{view}/simple/", *(f"{view}/simple/{name}/" for name in names)):
            for accept in (pages.JSON, pages.HTML):
                reply = server.get(path, {"Accept": accept})
                found[path, accept] = reply.status, reply.body
    server.stop()
    return found


def fill(site, seed):
    """Wheels and sdists with random times, yanks, attachments, statuses, uploaders, and a membership."""
    chance = random.Random(seed)
    promoted = []
    for platform in site.platforms:
        for project in chance.sample(["alpha", "beta-x", "gamma", "delta"], 3):
            for version in chance.sample(["1.0", "1.1", "2.0rc1", "2.0+local.1"], 2):
                folder = site.store / platform / chance.choice([project, f"{project[0]}/{project}", "flat"])
                when = chance.randrange(1_600_000_000, 1_750_000_000)
                wheel = storelib.make_wheel(folder, project, version, mtime=when, size=chance.choice([None, 3000, 200_000]))
                os.utime(wheel.path, ns=(0, when * 10 ** 9 + chance.randrange(10 ** 9)))
                add_marks(chance, wheel)
                if chance.random() < 0.7:
                    site.log_upload(platform, wheel, project, chance.choice(BUILDERS))
                if chance.random() < 0.7:
                    promoted.append((platform, wheel))
            if chance.random() < 0.3:
                folder = site.store / platform / project
                folder.mkdir(exist_ok=True)
                status = {"status": chance.choice(["archived", "deprecated"]), "reason": "over <b>",
                          "when": "2026-01-02T03:04:05Z", "by": "user me"}
                (folder / ".status").write_text(json.dumps(status))
    for at in range(0, len(promoted), 2):
        memberships.append(site.store, "stable", promoted[at:at + 2], promoted[:1] if at == 2 else [])
    site.index()


def add_marks(chance, wheel):
    path = wheel.path
    if chance.random() < 0.4:
        path.with_name(f"{path.name}.yanked").write_text(chance.choice(["", "broken", "two\nlines, ünïcode"]))
    if chance.random() < 0.4:
        path.with_name(f"{path.name}.intoto.json").write_bytes(attaching.as_bytes(attaching.statement(path)))
    if chance.random() < 0.4:
        inside = {"version": 1, "attestation_bundles": [{"publisher": {"kind": "t", "claims": {}},
                                                         "attestations": [attaching.attestation(path)]}]}
        path.with_name(f"{path.name}.provenance").write_text(json.dumps(inside))


def empty(folder, **options):
    folder.mkdir()
    site = Site(folder, **options)
    site.index()
    return site


@pytest.fixture(name="source")
def source_fixture(tmp_path):
    """A small store: two releases of one project, of which one is yanked, and another project elsewhere."""
    (tmp_path / "source").mkdir()
    site = Site(tmp_path / "source")
    first = storelib.make_wheel(site.store / DEBIAN / "m", "mine", "1.0")
    storelib.make_wheel(site.store / DEBIAN / "m", "mine", "1.1", mtime=1_650_000_000)
    storelib.make_wheel(site.store / UBUNTU / "o", "other", "2.0", size=50_000)
    first.path.with_name(f"{first.name}.yanked").write_text("bad")
    site.index()
    return site


@pytest.fixture(name="target")
def target_fixture(tmp_path):
    return empty(tmp_path / "target")


# --- there and back ---

@pytest.mark.parametrize("seed", range(6))
def test_all_pages_of_an_empty_store_become_those_of_the_other(serve, tmp_path, seed):
    source = empty(tmp_path / "source")
    fill(source, seed)
    target, bundle = empty(tmp_path / "target"), tmp_path / "all.wcb"
    source.make(bundle)
    loaded = target.load(bundle)
    assert loaded["stored"] == 12 and loaded["files"] == []
    shown_once = shown(serve, source)
    assert shown(serve, target) == shown_once and target.came() == source.came()
    views = [{path.name: path.read_bytes() for path in (site.store / ".wheelcache-views" / "stable").iterdir()}
             for site in (source, target)]
    assert views[0] and views[0] == views[1]
    for project in {path.split("/")[-2] for path, _ in shown_once if path.startswith("/simple/") and path.count("/") == 3}:
        ours, theirs = source.uploaders(project), target.uploaders(project)
        assert {key: who for key, who in theirs.items() if ours[key]} == {key: who for key, who in ours.items() if who}
    # Again, nothing changes; and a scan of everything finds what was loaded.
    before = target.files()
    again = target.load(bundle)
    assert again["stored"] == again["marked"] == 0 and again["same"] == 12 and target.files() == before
    for path in target.folder.glob("catalog.db*"):
        if path.is_file() and path.name != "catalog.db.audit":
            path.unlink()
    target.index()
    assert shown(serve, target) == shown_once and target.came() == source.came()
    # What was loaded gives the same bundle, but for its head.
    source.make(tmp_path / "one.wcb")
    target.make(tmp_path / "two.wcb")
    assert members(tmp_path / "one.wcb")[1:] == members(tmp_path / "two.wcb")[1:]


def unpacked(path):
    """The archive of a bundle, by the tools of everybody."""
    return subprocess.run(["zstd", "-dc", path], check=True, capture_output=True).stdout


def members(path):
    with tarfile.open(fileobj=io.BytesIO(unpacked(path))) as archive:
        return [(one.name, archive.extractfile(one).read()) for one in archive]


def test_everybody_can_look_into_a_bundle(source, tmp_path):
    source.make(tmp_path / "b", views=["both"])
    found = members(tmp_path / "b")
    rows = [json.loads(line) for line in found[0][1].splitlines()]
    assert [name for name, _ in found] == [
        "manifest.jsonl", f"files/{DEBIAN}/mine/mine-1.0-py3-none-any.whl", f"files/{DEBIAN}/mine/mine-1.0-py3-none-any.whl.yanked",
        f"files/{DEBIAN}/mine/mine-1.1-py3-none-any.whl", f"files/{UBUNTU}/other/other-2.0-py3-none-any.whl"]
    assert rows[0]["bundle"] == 1 and rows[0]["contents"] == ["view both"] and len(rows) == 4
    assert [row["sha256"] for row in rows[1:]] == [hashlib.sha256(found[at][1]).hexdigest() for at in (1, 3, 4)]
    listed = subprocess.run(["tar", "--zstd", "-tf", tmp_path / "b"], check=True, capture_output=True, text=True).stdout
    assert listed.splitlines() == [name for name, _ in found]


def test_a_long_name_has_a_pax_header(source, target, tmp_path):
    long = storelib.make_wheel(source.store / DEBIAN / "l", "long", f"1.0+{'a' * 120}")
    source.index()
    source.make(tmp_path / "b")
    assert f"files/{DEBIAN}/long/{long.name}" in [name for name, _ in members(tmp_path / "b")]
    assert target.load(tmp_path / "b")["stored"] == 4


def test_beside_a_running_server(serve, source, target, tmp_path):
    server = serve(None, "--rescan", "0", config=target.config.read_text(), state=target.folder)
    assert server.get("/both/simple/mine/").status == 404
    source.make(tmp_path / "b")
    assert target.load(tmp_path / "b")["stored"] == 3
    serving.wait_for(lambda: server.get("/both/simple/mine/").status == 200, 30, "the page")
    assert b"mine-1.1" in server.get("/both/simple/mine/").body


def test_a_bucket_keeps_no_times_but_pages_have_them(serve, tmp_path, monkeypatch):
    """A sidecar has the time, also for a scan, and for the next bundle; of other bytes it says nothing."""
    for key, value in buckets.KEYS.items():
        monkeypatch.setenv(key, value)
    source = empty(tmp_path / "source")
    fill(source, 4)
    source.make(tmp_path / "b")
    with contextlib.ExitStack() as stack:
        bucket = buckets.Small()
        stack.callback(bucket.stop)
        target = Site.in_bucket(tmp_path / "target", bucket)
        assert target.load(tmp_path / "b")["stored"] == 12
        assert len([key for key in bucket.keys() if key.endswith(".whl.time")]) == 12
        assert shown(serve, target) == shown(serve, source) and target.came() == source.came()
        for path in target.folder.glob("catalog.db*"):
            if path.is_file() and path.name != "catalog.db.audit":
                path.unlink()
        target.index()
        assert shown(serve, target) == shown(serve, source)
        target.make(tmp_path / "again")
        seconds = [row["modified"] // 10 ** 9 for row in rows_of(tmp_path / "again")]
        assert seconds == [row["modified"] // 10 ** 9 for row in rows_of(tmp_path / "b")]


def rows_of(path):
    rows = [json.loads(line) for line in members(path)[0][1].splitlines()]
    return [row for row in rows[1:] if row["kind"] == "file"]


def test_lists_of_the_osv_database(source, target, tmp_path):
    (tmp_path / "all.zip").write_bytes(b"PK" + bytes(100_000))
    (tmp_path / "osv").mkdir()
    (tmp_path / "osv" / "all.zip").write_bytes(b"older")
    source.run("bundle", "make", "-o", tmp_path / "b", "--osv", tmp_path / "all.zip")
    target.load(tmp_path / "b")  # they are left out
    target.load(tmp_path / "b", "--osv", tmp_path / "osv", "--dry-run")
    assert (tmp_path / "osv" / "all.zip").read_bytes() == b"older"
    target.load(tmp_path / "b", "--osv", tmp_path / "osv")
    assert [path.name for path in (tmp_path / "osv").iterdir()] == ["all.zip"]
    assert (tmp_path / "osv" / "all.zip").read_bytes() == (tmp_path / "all.zip").read_bytes()
    assert "nothing was loaded" in target.load(tmp_path / "b", "--osv", tmp_path / "nowhere", code=1)
    (tmp_path / "list.txt").write_text("x")
    assert "a .json or a .zip" in source.run("bundle", "make", "-o", tmp_path / "x", "--osv", tmp_path / "list.txt", code=2)


# --- signatures ---

def key(folder, name):
    """A private and a public key, as OpenSSL makes them."""
    private, public = folder / f"{name}.pem", folder / f"{name}.pub.pem"
    subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", private], check=True, capture_output=True)
    subprocess.run(["openssl", "pkey", "-in", private, "-pubout", "-out", public], check=True, capture_output=True)
    return private, public


def test_only_who_is_trusted_may_have_signed(source, target, tmp_path):
    ours, others = key(tmp_path, "ours"), key(tmp_path, "others")
    source.make(tmp_path / "signed", "--key", ours[0])
    source.make(tmp_path / "plain")
    before = target.files()
    for path, options, words in (("plain", [], "--unsigned loads it"), ("signed", [], "--trust KEY.pem"),
                                 ("signed", ["--unsigned"], "--trust KEY.pem"), ("plain", ["--trust", ours[1]], "is not signed"),
                                 ("signed", ["--trust", others[1]], "signed by another key"),
                                 ("signed", ["--trust", ours[0]], "no public key of Ed25519")):
        said = target.load(tmp_path / path, *options, unsigned=False, code=2 if "no public" in words else 1)
        assert words in said and target.files() == before
    assert target.load(tmp_path / "signed", "--trust", others[1], ours[1], unsigned=False)["stored"] == 3
    assert "no private key of Ed25519" in source.make(tmp_path / "x", "--key", ours[1], code=2)
    assert not (tmp_path / "x").exists()
    # OpenSSL says the same of it.
    data = (tmp_path / "signed").read_bytes()
    assert data[-TRAILER:-96] == MAGIC and data[-96:-64] == hashlib.sha256(data[:-TRAILER]).digest()
    (tmp_path / "hash").write_bytes(data[-96:-64])
    (tmp_path / "signature").write_bytes(data[-64:])
    subprocess.run(["openssl", "pkeyutl", "-verify", "-pubin", "-inkey", ours[1], "-rawin", "-in", tmp_path / "hash",
                    "-sigfile", tmp_path / "signature"], check=True, capture_output=True)


@pytest.mark.parametrize("signs", [False, True])
def test_a_wrong_bit_anywhere_changes_nothing(source, target, tmp_path, signs):
    private, public = key(tmp_path, "k")
    source.make(tmp_path / "b", *(["--key", private] if signs else []))
    good, before = (tmp_path / "b").read_bytes(), target.files()
    chance = random.Random(7)
    positions = {len(good) - 1, len(good) - 64, len(good) - 65, len(good) - 97, len(good) - TRAILER, len(good) - TRAILER - 1, 0, 4}
    positions |= set(chance.sample(range(len(good)), 24)) | set(range(len(good) - TRAILER, len(good), 9))
    broken = [good[:at] + bytes([good[at] ^ 1 << chance.randrange(8)]) + good[at + 1:] for at in sorted(positions)]
    broken += [good[:-1], good[1:], good + b"\0", good[:len(good) // 2], b"", good[:-TRAILER], good + good]
    for data in broken:
        (tmp_path / "broken").write_bytes(data)
        options = ["--trust", public] if signs else []
        target.load(tmp_path / "broken", *options, unsigned=not signs, code=1)
        assert target.files() == before


# --- what somebody else made ---

def pack(path, entries, manifest=None, window=None, junk=b""):
    """A bundle of these tar entries with a right trailer. entries: pairs of a TarInfo or a name, and bytes."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for one, data in ([("manifest.jsonl", manifest)] if manifest is not None else []) + entries:
            info = one if isinstance(one, tarfile.TarInfo) else tarfile.TarInfo(one)
            if not isinstance(one, tarfile.TarInfo):
                info.size, info.mode = len(data), 0o644
            archive.addfile(info, io.BytesIO(data))
        end = archive.offset
    return seal(path, plain.getvalue()[:end] + bytes(1024), window, junk)


def seal(path, archive, window=None, junk=b""):
    options = ["-3", f"--zstd=wlog={window}"] if window else ["-3"]
    packed = subprocess.run(["zstd", "-c", "--no-check", *options], input=archive, check=True, capture_output=True).stdout + junk
    path.write_bytes(packed + MAGIC + hashlib.sha256(packed).digest() + bytes(64))
    return path


HEAD = {"bundle": 1, "made": "2026-01-02T03:04:05Z", "by": "user me", "contents": []}


def lines(*rows, head=None):
    return b"".join(json.dumps(one).encode() + b"\n" for one in (head or HEAD, *rows))


def row(data, name="mine-1.0-py3-none-any.whl", **changed):
    return {"kind": "file", "in": DEBIAN, "project": "mine", "name": name, "size": len(data),
            "sha256": hashlib.sha256(data).hexdigest(), "modified": 1_700_000_000_000_000_000, "came": 1_700_000_000} | changed


def entry(name, **changed):
    info = tarfile.TarInfo(name)
    info.mode = 0o644
    for field, value in changed.items():
        setattr(info, field, value)
    return info


@pytest.fixture(name="wheel")
def wheel_fixture(tmp_path):
    wheel = storelib.make_wheel(tmp_path / "wheels", "mine", "1.0")
    return wheel.path.read_bytes()


def test_the_form_of_these_tests_is_that_of_a_bundle(target, wheel, tmp_path):
    """Else the hostile ones would be refused for something else."""
    path = f"files/{DEBIAN}/mine/mine-1.0-py3-none-any.whl"
    pack(tmp_path / "b", [(path, wheel)], lines(row(wheel)))
    assert target.load(tmp_path / "b")["stored"] == 1


def hostile(wheel):
    """Name, entries and manifest of bundles that nobody may load."""
    name = "mine-1.0-py3-none-any.whl"
    path = f"files/{DEBIAN}/mine/{name}"
    good = [(path, wheel)]
    yield "above", [("../evil.whl", wheel)], lines(row(wheel))
    yield "above-by-name", [(f"files/{DEBIAN}/mine/../evil", wheel)], lines(row(wheel, "../evil"))
    yield "root", [("/etc/evil", wheel)], lines(row(wheel))
    yield "slash", good, lines(row(wheel, f"x/{name}"))
    yield "dot", good, lines(row(wheel, f".{name}"))
    yield "up-in", good, lines(row(wheel, **{"in": ".."}))
    yield "link", [(entry(path, type=tarfile.SYMTYPE, linkname="/etc/passwd"), b"")], lines(row(b""))
    yield "hard-link", [(entry(path, type=tarfile.LNKTYPE, linkname="manifest.jsonl"), b"")], lines(row(b""))
    yield "device", [(entry(path, type=tarfile.CHRTYPE, devmajor=1, devminor=3), b"")], lines(row(b""))
    yield "pipe", [(entry(path, type=tarfile.FIFOTYPE), b"")], lines(row(b""))
    yield "folder", [(entry(path, type=tarfile.DIRTYPE), b"")], lines(row(b""))
    yield "owner", [(entry(path, uid=1, size=len(wheel)), wheel)], lines(row(wheel))
    yield "twice", good + good, lines(row(wheel), row(wheel))
    yield "twice-in-archive", good + good, lines(row(wheel))
    yield "wrong-order", [("files/b", wheel)] + good, lines(row(wheel, "mine-2.0-py3-none-any.whl"), row(wheel))
    yield "not-there", [], lines(row(wheel))
    yield "one-more", good + [("files/x", b"x")], lines(row(wheel))
    yield "smaller", good, lines(row(wheel, size=len(wheel) - 1))
    yield "larger", good, lines(row(wheel, size=len(wheel) + 512))
    yield "huge", good, lines(row(wheel, size=2 ** 62))
    yield "negative", good, lines(row(wheel, size=-1))
    yield "other-hash", good, lines(row(wheel, sha256="0" * 64))
    yield "other-project", good, lines(row(wheel, project="other"))
    yield "no-wheel", good, lines(row(wheel, "evil.sh"))
    yield "unknown-kind", good, lines(row(wheel, kind="program"))
    yield "unknown-platform", good, lines(row(wheel, **{"in": "windows"}))
    yield "large-yank", good, lines(row(wheel, parts=[{"part": "yank", "size": 2 ** 20, "sha256": "0" * 64}]))
    yield "part-twice", good, lines(row(wheel, parts=[{"part": "yank", "size": 0, "sha256": "0" * 64}] * 2))
    yield "newer-form", good, lines(row(wheel), head=HEAD | {"bundle": 2})
    yield "no-head", good, lines(row(wheel))[len(lines()):]
    yield "no-manifest", good, None
    yield "no-json", good, b"{" * 1000 + b"\n"
    yield "no-end-of-line", good, lines(row(wheel))[:-1]
    yield "status-of-nothing", [(f"statuses/{DEBIAN}/mine", b"{")], lines({
        "kind": "status", "in": DEBIAN, "project": "mine", "size": 1, "sha256": hashlib.sha256(b"{").hexdigest()})
    digest = hashlib.sha256(wheel).hexdigest()
    yield "unknown-upstream", [(f"upstreams/nowhere/mine/{digest}/{name}", wheel)], lines({
        "kind": "upstream", "in": "nowhere", "project": "mine", "name": name, "size": len(wheel), "sha256": digest})
    yield "osv-elsewhere", [("osv/evil.conf", b"x")], lines({
        "kind": "osv", "name": "evil.conf", "size": 1, "sha256": hashlib.sha256(b"x").hexdigest()})
    yield "mirror-of-nothing", [("mirrors/app", b"{}")], lines({
        "kind": "mirror", "name": "app", "size": 2, "sha256": hashlib.sha256(b"{}").hexdigest()})
    yield "page-of-nothing", [("pages/mine", b"[]")], lines({
        "kind": "page", "project": "mine", "size": 2, "sha256": hashlib.sha256(b"[]").hexdigest()})
    generation = b'{"view": "stable"}'
    yield "generation-of-nothing", [("views/stable/000001.json", generation)], lines({
        "kind": "generation", "in": "stable", "name": "000001.json", "size": len(generation),
        "sha256": hashlib.sha256(generation).hexdigest()})


def test_what_is_not_as_it_should_be_changes_nothing(target, wheel, tmp_path):
    before = target.files()
    for name, entries, manifest in hostile(wheel):
        path = pack(tmp_path / name, entries, manifest)
        done = serving.run("bundle", "load", path, "--unsigned", "--config", target.config)
        assert done.returncode in (1, 2), name
        assert "nothing was loaded" in done.stderr, (name, done.stderr)
        assert target.files() == before, name
    good = [(f"files/{DEBIAN}/mine/mine-1.0-py3-none-any.whl", wheel)]
    for junk in (b"more", bytes.fromhex("502a4d1801000000") + b"x"):
        path = pack(tmp_path / "junk", good, lines(row(wheel)), junk=junk)
        assert "something follows it" in target.load(path, code=1) and target.files() == before


# Exceeds LIMIT_BUNDLE_WINDOW
def test_a_large_window_is_refused(target, wheel, tmp_path):
    good = [(f"files/{DEBIAN}/mine/mine-1.0-py3-none-any.whl", wheel)]
    assert "memory" in target.load(pack(tmp_path / "b", good, lines(row(wheel)), window=24), code=1)
    assert target.load(pack(tmp_path / "b", good, lines(row(wheel)), window=23))["stored"] == 1


def is_small(used):
    """Sanitizers keep freed memory."""
    return used.megabytes < 64 or b"__asan_init" in pathlib.Path(serving.binary()).read_bytes()


# Exceeds LIMIT_BUNDLE_MANIFEST
def test_a_large_manifest_is_refused(target, tmp_path):
    path = pack(tmp_path / "b", [], bytes((256 << 20) + 1))
    done, used = serving.measure("bundle", "load", path, "--unsigned", "--config", target.config)
    assert done.returncode == 1 and "its manifest has 268435457 bytes" in done.stderr and is_small(used)


# Exceeds LIMIT_BUNDLE_ROWS
def test_a_report_names_a_thousand_files(target, tmp_path):
    names = [storelib.make_wheel(target.store / DEBIAN / "m", "mine", f"1.{at}").name for at in range(1001)]
    target.index()
    entries = [(f"files/{DEBIAN}/mine/{name}", b"other bytes") for name in sorted(names)]
    path = pack(tmp_path / "b", entries, lines(*(row(b"other bytes", name) for name in sorted(names))))
    found = target.load(path, code=1)
    assert found["other-bytes"] == 1001 and len(found["files"]) == 1000


def test_a_bomb_takes_no_memory(target, tmp_path):
    """300 MB of zeros in a few bytes: they are counted, and not kept."""
    zeros = bytes(300 << 20)
    path = pack(tmp_path / "b", [(f"files/{DEBIAN}/mine/mine-1.0-py3-none-any.whl", zeros)], lines(row(zeros, sha256="0" * 64)))
    done, used = serving.measure("bundle", "load", path, "--unsigned", "--config", target.config)
    assert done.returncode == 1 and "another SHA-256" in done.stderr and is_small(used)


# --- what is here already ---

def test_only_what_is_new_is_carried(serve, source, target, tmp_path):
    source.make(tmp_path / "first")
    target.load(tmp_path / "first")
    storelib.make_wheel(source.store / DEBIAN / "m", "mine", "2.0")
    (source.store / DEBIAN / "m" / "mine-1.0-py3-none-any.whl.yanked").write_text("worse")
    (source.store / DEBIAN / "m" / "mine-1.1-py3-none-any.whl.yanked").write_text("too")
    source.index()
    (tmp_path / "manifest").write_bytes(members(tmp_path / "first")[0][1])
    for since in ("first", "manifest"):
        source.make(tmp_path / f"since-{since}", "--since", tmp_path / since)
    assert members(tmp_path / "since-first")[1:] == members(tmp_path / "since-manifest")[1:]
    assert sorted(name.rsplit("/")[-1] for name, _ in members(tmp_path / "since-first")[1:]) == [
        "mine-1.0-py3-none-any.whl.yanked", "mine-1.1-py3-none-any.whl.yanked", "mine-2.0-py3-none-any.whl"]
    fresh = empty(tmp_path / "fresh")
    before = fresh.files()
    said = fresh.load(tmp_path / "since-first", code=1)
    assert "3 files that an earlier bundle has are not here" in said and "load that one first" in said and fresh.files() == before
    loaded = target.load(tmp_path / "since-first")
    assert (loaded["stored"], loaded["marked"], loaded["same"]) == (1, 2, 1)
    assert shown(serve, target) == shown(serve, source)
    # An unyank follows too, but not if somebody has yanked it here since.
    for version in ("1.0", "1.1"):
        (source.store / DEBIAN / "m" / f"mine-{version}-py3-none-any.whl.yanked").unlink()
    source.index()
    source.make(tmp_path / "third", "--since", tmp_path / "since-first")
    later = time.time() + 3600
    os.utime(next(target.store.rglob("mine-1.1-*.yanked")), (later, later))
    loaded = target.load(tmp_path / "third")
    assert (loaded["stored"], loaded["marked"], loaded["kept"]) == (0, 1, 1)
    assert [path.name for path in target.store.rglob("*.yanked")] == ["mine-1.1-py3-none-any.whl.yanked"]


def test_what_is_here_stays(source, target, tmp_path):
    ours = storelib.make_wheel(target.store / DEBIAN / "m", "mine", "1.0", requires=["x"])
    removed = storelib.make_wheel(target.store / DEBIAN / "m", "mine", "1.1", mtime=1_650_000_000)
    target.index()
    target.run("remove", removed.name, "--reason", "no", "--platform", DEBIAN)
    data = ours.path.read_bytes()
    source.make(tmp_path / "b")
    plan = target.load(tmp_path / "b", "--dry-run", code=1)
    loaded = target.load(tmp_path / "b", code=1)
    for found in (plan, loaded):
        assert (found["stored"], found["other-bytes"], found["removed"]) == (1, 1, 1)
        assert [(one["result"], one["platform"], one["name"]) for one in found["files"]] == [
            ("other-bytes", DEBIAN, ours.name), ("removed", DEBIAN, removed.name)]
    assert ours.path.read_bytes() == data and not list(target.store.rglob("mine-1.0*.yanked"))
    assert "other-bytes" in target.run("bundle", "load", tmp_path / "b", "--unsigned", code=1)


def test_a_dry_run_changes_nothing(source, target, tmp_path):
    source.make(tmp_path / "b")
    before = target.files()
    assert target.load(tmp_path / "b", "--dry-run")["stored"] == 3 and target.files() == before


def test_platforms_of_other_names(serve, tmp_path):
    source = empty(tmp_path / "source")
    fill(source, 3)
    target = empty(tmp_path / "target", platforms=(NEW, UBUNTU))
    source.make(tmp_path / "b")
    said = target.load(tmp_path / "b", code=2)
    assert f"--platform {DEBIAN}=NAME" in said and "nothing was loaded" in said
    for _ in range(2):
        loaded = target.load(tmp_path / "b", "--platform", f"{DEBIAN}={NEW}")
    assert loaded["same"] == 12
    old, new = shown(serve, source), shown(serve, target)
    renamed = {(path.replace(DEBIAN, NEW), accept): (status, body.replace(DEBIAN.encode(), NEW.encode()))
               for (path, accept), (status, body) in old.items()}
    assert new == renamed


def test_a_private_platform_is_not_carried_by_chance(tmp_path):
    source = empty(tmp_path / "source", private=(UBUNTU,))
    storelib.make_wheel(source.store / UBUNTU, "secret", "1.0")
    source.index()
    assert "--private" in source.make(tmp_path / "b", code=2) and not (tmp_path / "b").exists()
    source.make(tmp_path / "b", "--private")
    assert empty(tmp_path / "target").load(tmp_path / "b")["stored"] == 1


def test_another_membership_is_a_conflict(source, tmp_path):
    target = empty(tmp_path / "target")
    wheel = storelib.make_wheel(source.store / DEBIAN / "m", "mine", "3.0")
    memberships.append(source.store, "stable", [(DEBIAN, wheel)])
    memberships.append(target.store, "stable", [(DEBIAN, wheel)], made="2026-11-21T12:00:00Z")
    for site in (source, target):
        site.index()
    source.make(tmp_path / "b")
    before = target.files()
    said = target.load(tmp_path / "b", code=1)
    assert "stable/000001.json is there, with other contents" in said and target.files() == before
    bare = empty(tmp_path / "bare", views=False)
    assert 'no view "stable"' in bare.load(tmp_path / "b", code=2) or "no view stable" in bare.load(tmp_path / "b", code=2)


def test_a_frozen_or_a_full_platform_is_told_before(source, target, tmp_path):
    source.make(tmp_path / "b")
    target.run("freeze", DEBIAN, "--reason", "night")
    before = target.files()
    said = target.load(tmp_path / "b", code=1)
    assert "night" in said and "nothing was loaded" in said and target.files() == before
    target.run("thaw", DEBIAN)
    target.config.write_text(target.config.read_text().replace(f"[platform {UBUNTU}]", f"[platform {UBUNTU}]\nquota-bytes = 10K"))
    said = target.load(tmp_path / "b", code=1)
    assert "nothing was loaded" in said and UBUNTU in said


def test_strict_refuses_what_an_upload_would_be_refused(source, target, tmp_path):
    """A wheel for another platform: a scan lists it, with a finding."""
    storelib.make_wheel(source.store / DEBIAN / "f", "foreign", "1.0", "cp311-cp311-win_amd64")
    source.index()
    source.make(tmp_path / "b")
    found = target.load(tmp_path / "b", "--strict", code=1)
    assert found["stored"] == 3 and [(one["result"], one["name"][:7]) for one in found["files"]] == [("refused", "foreign")]
    assert target.load(tmp_path / "b")["stored"] == 1


# --- time, memory, and death ---

def test_the_memory_does_not_grow_with_the_bundle(source, target, tmp_path):
    for version in range(12):
        storelib.make_wheel(source.store / DEBIAN / "l", "large", f"{version}.0", size=12 << 20)
    source.index()
    done, made = serving.measure("bundle", "make", "-o", tmp_path / "b", "--view", "both", "--config", source.config)
    assert done.returncode == 0 and (tmp_path / "b").stat().st_size > 140 << 20, done.stderr
    done, loaded = serving.measure("bundle", "load", tmp_path / "b", "--unsigned", "--config", target.config)
    assert done.returncode == 0, done.stderr
    assert is_small(made) and is_small(loaded)


@pytest.mark.usefixtures("only_nightly")
def test_five_gigabytes(source, target, tmp_path):
    for version in range(50):
        storelib.make_wheel(source.store / DEBIAN / "l", "large", f"{version}.0", size=100 << 20)
    source.index()
    done, made = serving.measure("bundle", "make", "-o", tmp_path / "b", "--view", "both", "--config", source.config)
    assert done.returncode == 0 and (tmp_path / "b").stat().st_size > 5 * 10 ** 9, done.stderr
    shutil.rmtree(source.store)
    done, loaded = serving.measure("bundle", "load", tmp_path / "b", "--unsigned", "--config", target.config)
    assert done.returncode == 0, done.stderr
    assert is_small(made) and is_small(loaded)


def test_killed_at_any_moment_the_next_load_goes_on(serve, tmp_path):
    source = empty(tmp_path / "source")
    fill(source, 5)
    source.make(tmp_path / "b")
    whole = shown(serve, source)
    begun = time.monotonic()
    empty(tmp_path / "measured").load(tmp_path / "b")
    takes = time.monotonic() - begun
    chance, target = random.Random(9), empty(tmp_path / "target")
    for _ in range(12):
        process = subprocess.Popen([serving.binary(), "bundle", "load", tmp_path / "b", "--unsigned", "--config", target.config],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(chance.random() * takes)
        process.send_signal(signal.SIGKILL)
        process.wait()
    target.load(tmp_path / "b")
    assert shown(serve, target) == whole
    target.index()
    assert shown(serve, target) == whole


def test_a_making_that_is_killed_leaves_no_bundle(source, tmp_path):
    (tmp_path / "b").write_bytes(b"the one before")
    process = subprocess.Popen([serving.binary(), "bundle", "make", "-o", tmp_path / "b", "--view", "both",
                                "--config", source.config], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert (tmp_path / "b").read_bytes() == b"the one before"


# --- words ---

@pytest.mark.parametrize("words, said", [
    (["make", "--view", "both"], "-o FILE is missing"),
    (["make", "-o", "b"], "--view NAME, --mirror NAME or --lock FILE is missing"),
    (["make", "-o", "b", "--view", "bo"], "both"),
    (["load"], "expected one FILE"),
    (["load", "b", "--platform", "x"], "expected OLD=NEW"),
    (["load", "b", "--trust", "k", "--unsigned"], "exclude each other"),
])
def test_mistakes_are_told(source, words, said):
    assert said in source.run("bundle", *words, code=2, cwd=source.folder)


def test_a_bundle_is_a_regular_file(target, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert "no regular file" in target.load(tmp_path / "pipe", code=2)
    assert "pipe" in target.make(tmp_path / "pipe", code=2)
    target.load(tmp_path / "nothing", code=1)
