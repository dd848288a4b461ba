# SPDX-License-Identifier: Apache-2.0
"""wheelcache mirror for requirements and lists of projects: what they bring along on each platform, its licences, what builds
of sdists require; afterwards two platforms install without upstream."""
import hashlib
import io
import sys
import tarfile

import pytest

import clients
import merging
import serving
import storelib
from test_mirror import FAR, HERE, HOST, LINUX, PIP, PLATFORM, SHORT, Mirrored

ARM = "debian-12-aarch64"
LINUX_ARM = LINUX.replace("x86_64", "aarch64")


class Required(Mirrored):
    """The same upstream, and a second platform; projects are added by add()."""

    def __init__(self, folder, index):
        (folder / "store" / ARM).mkdir(parents=True)
        super().__init__(folder, index)
        index.pages.clear()

    def config(self, **keys):
        return super().config(**keys) + f"[platform {ARM}]\npythons = {HERE}\n"

    def add(self, name, version, tag="py3-none-any", *, requires=(), requires_python=None, told=None, **metadata):
        more = "".join(f"{key.replace('_', '-').title()}: {value}\n" for key, value in metadata.items())
        data = storelib.metadata_bytes(name, version, requires_python, requires, more)
        wheel = storelib.make_wheel(self.folder / "theirs", name, version, tag, metadata=data)
        self.index.add(name, wheel, **{"requires_python": requires_python} | (told or {}))
        return wheel

    def add_sdist(self, name, version, *, metadata="2.2", requires=(), more="", pyproject=None):
        stem = f"{name}-{version}"
        text = f"Metadata-Version: {metadata}\nName: {name}\nVersion: {version}\n{more}"
        files = {"PKG-INFO": text + "".join(f"Requires-Dist: {one}\n" for one in requires)}
        if pyproject is not None:
            files["pyproject.toml"] = pyproject
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w:gz") as archive:
            for key, value in files.items():
                entry = tarfile.TarInfo(f"{stem}/{key}")
                entry.size = len(value.encode())
                archive.addfile(entry, io.BytesIO(value.encode()))
        self.index.add_bytes(name, f"{stem}.tar.gz", out.getvalue(), size=len(out.getvalue()))

    def file(self, text, name="app.txt"):
        path = self.folder / name
        path.write_text(text)
        return path

    def plan(self, text, *words, code=0, keys=None):
        """{(platform, "project version"): row} of the rows that installations want."""
        answer = self.json("plan", "app", "--requirements", self.file(text), *words, code=code, keys=keys)
        return {(row["platform"], f"{row['project']} {row['version'] or row['status']}"): row
                for row in answer["locks"]["rows"] if row["wanted"]}


@pytest.fixture(name="at")
def at_fixture(tmp_path, index):
    return Required(tmp_path, index)


def names(rows, platform=PLATFORM):
    return {name for of, name in rows if of == platform}


def test_the_newest_that_all_permit(at):
    for version in ("1.0", "2.0", "3.0"):
        at.add("two", version)
    at.add("one", "1.0", requires=["two"])
    at.add("one", "2.0", requires=["two<3", "three[x]", 'win; sys_platform == "win32"'])
    at.add("three", "1.0", requires=['four; extra == "x"', 'five; extra == "y"'])
    at.add("four", "1.0")
    rows = at.plan("one\ntwo>=1\n")
    assert names(rows) == {"one 2.0", "two 2.0", "three 1.0", "four 1.0"} == names(rows, ARM)
    assert rows[PLATFORM, "two 2.0"]["by"].endswith("app.txt:2")
    assert rows[PLATFORM, "four 1.0"]["by"] == "three 1.0" and rows[PLATFORM, "four 1.0"]["line"] == 1
    assert not at.kept()
    assert not any(asked.path.endswith(".whl") for asked in at.index.asked)


def test_each_platform_has_its_own(at):
    """Wheels, markers, and an older version where the newest has no file that installs."""
    at.add("one", "1.0", requires=['arm; platform_machine == "aarch64"'])
    at.add("arm", "1.0", LINUX_ARM)
    at.add("old", "1.0", LINUX_ARM)
    at.add("old", "1.0", LINUX)
    at.add("old", "2.0", LINUX)
    rows = at.plan("one\nold\n")
    assert names(rows) == {"one 1.0", "old 2.0"}
    assert names(rows, ARM) == {"one 1.0", "arm 1.0", "old 1.0"}
    assert names(at.plan("one\nold\n", "--platform", "*-aarch64")) == set()


def test_files_include_and_constrain(at):
    for version in ("1.0", "2.0"):
        at.add("two", version)
    at.add("one", "1.0", requires=["two"])
    at.add("one", "2.0rc1", requires=["two"])
    at.file("two<2\nthree\n", "c.txt")
    at.file("one\n", "more.txt")
    assert names(at.plan("-r more.txt\n-c c.txt\n")) == {"one 1.0", "two 1.0"}
    assert names(at.plan("--pre\none\n")) == {"one 2.0rc1", "two 2.0"}
    answer = at.json("plan", "app", "--requirements", at.file("two @ https://h.invalid/two-9.whl\none\n"))
    assert answer["locks"]["skipped"] == 1


def test_a_conflict_names_both(at):
    at.add("one", "1.0", requires=["two<2"])
    at.add("three", "1.0", requires=["two>=2"])
    for version in ("1.0", "2.0"):
        at.add("two", version)
    rows = at.plan("one\nthree\n", code=1)
    row = rows[PLATFORM, "two conflict"]
    assert row["status"] == "conflict" and row["why"] == "one 1.0 wants two<2, and three 1.0 wants two>=2"
    assert names(rows) == {"one 1.0", "three 1.0", "two conflict"}
    text = at.run("plan", "app", "--requirements", at.file("one\nthree\n"), code=1)
    assert "conflict     two" in text and "1 conflict" in text


def test_what_cannot_be_had_has_a_row(at):
    deny = at.file("denied # bad\n", "deny.txt")
    at.add("young", "1.0", told={"upload_time": FAR})
    at.add("denied", "1.0")
    at.add("win", "1.0", f"{SHORT}-{SHORT}-win_amd64")
    at.add("broken", "1.0", requires=["two ~= nothing"])
    rows = at.plan("young==1.0\ndenied\nwin\ngone\nbroken\n", code=1, keys={"cooldown": "7d", "deny": str(deny)})
    status = {row["project"]: row["status"] for (of, _), row in rows.items() if of == PLATFORM and not row["filename"]}
    assert status == {"young": "cooling", "denied": "missing", "win": "missing", "gone": "missing", "broken": "unknown"}
    why = {row["project"]: row["why"] for row in rows.values() if not row["filename"]}
    assert "cooling until" in why["young"] and "denied by deny.txt:1" in why["denied"]
    assert "win_amd64" in why["win"] and "404" in why["gone"] and "Requires-Dist" in why["broken"]


def test_a_project_in_quarantine_is_missing(at):
    at.add("one", "1.0", requires=["two"])
    at.add("two", "1.0")
    storelib.make_wheel(at.store / ARM, "two", "0.5")
    at.scan()
    done = serving.run("status", "two", "quarantined", "--reason", "bad", "--config", at.state / "wheelcache.conf")
    assert done.returncode == 0, done.stderr
    rows = at.plan("one\n", code=1)
    assert {row["platform"]: (row["status"], row["why"]) for row in rows.values() if row["project"] == "two"} == {
        of: ("missing", "it is quarantined: bad") for of in (PLATFORM, ARM)}
    files = at.json("plan", "app", "--platform", ARM, "--requirements", at.file("one\n"), code=1)["plan"]["files"]
    assert [row["project"] for row in files] == ["one"]


def test_micro_versions_are_told_apart(at):
    major, minor = sys.version_info[:2]
    at.add("one", "1.0", requires=[f'two; python_full_version < "{major}.{minor}.2"'])
    at.add("two", "1.0")
    rows = at.plan("one\n")
    assert rows[PLATFORM, "two 1.0"]["why"] == f"on {major}.{minor}.0 to {major}.{minor}.1"
    assert not rows[PLATFORM, "one 1.0"]["why"]


def test_what_is_ours_is_not_fetched_and_leads_on(at):
    at.add("two", "1.0")
    storelib.make_wheel(at.store / PLATFORM, "one", "1.0", requires=["two"])
    at.scan()
    rows = at.plan("one\n", "--platform", PLATFORM)
    assert rows[PLATFORM, "one 1.0"]["status"] == "here" and rows[PLATFORM, "two 1.0"]["status"] == "upstream"
    plan = at.json("plan", "app", "--platform", PLATFORM, "--requirements", at.file("one\n"))["plan"]
    assert [row["project"] for row in plan["files"]] == ["two"]


def test_metadata_is_asked_for_once(at):
    """Of wheels with the same METADATA, and after a fill, which has it in the cache, not at all."""
    for tag in (LINUX, LINUX_ARM):
        at.add("one", "1.0", tag, requires=["two"])
    at.add("two", "1.0", told={"core_metadata": None})  # only the file itself tells
    app = at.file("one\n")
    at.run("fill", "app", "--requirements", app)
    asked = [one.path for one in at.index.asked if one.path.endswith(".metadata")]
    assert len(asked) == 1
    at.index.asked.clear()
    assert "0 files" in at.run("fill", "app", "--requirements", app)
    assert not [one.path for one in at.index.asked if one.path.startswith("/packages/")]
    assert at.listed()["app"]["first"] is None


def test_wrong_metadata_is_not_believed(at):
    wheel = at.add("one", "1.0", requires=["two"])
    at.index.fail(f"/packages/{wheel.name}.metadata", merging.other_bytes)
    rows = at.plan("one\n", code=1)
    assert "SHA-256" in rows[PLATFORM, "one unknown"]["why"]
    at.index.fail(f"/packages/{wheel.name}.metadata", merging.status(503), times=1)
    assert "one 1.0" in names(at.plan("one\n", code=1))


def test_offline_knows_what_the_cache_has(at):
    at.add("one", "1.0")
    app = at.file("one\n")
    at.json("plan", "app", "--requirements", app)
    why = {row["status"]: row["why"] for row in at.json("plan", "app", "--offline", "--requirements", app, code=1)["locks"]["rows"]}
    assert set(why) == {"upstream", "unknown"} and "its METADATA is not here" in why["unknown"]
    at.run("fill", "app", "--requirements", app)
    at.index.asked.clear()
    assert at.json("plan", "app", "--offline", "--requirements", app)["plan"]["missing-files"] == 0
    assert not at.index.asked


def test_top_has_the_newest_versions_with_what_they_require(at):
    for version in ("1.0", "2.0", "3.0", "4.0rc1"):
        at.add("one", version, requires=[f"two=={version}"])
        at.add("two", version)
    at.add("three", "1.0", LINUX_ARM)
    top = at.file("# projects\none\nthree platform=*-aarch64\n", "top.txt")
    rows = at.json("plan", "app", "--top", top, "--versions", "2")["locks"]["rows"]
    assert {(row["platform"], row["filename"].rpartition("-py3")[0] or row["filename"].split("-cp")[0]) for row in rows} == (
        {(of, f"{name}-{version}") for of in (PLATFORM, ARM) for name in ("one", "two") for version in ("2.0", "3.0")}
        | {(ARM, "three-1.0")})
    rows = at.json("plan", "app", "--top", at.file("one <3\nthree\n", "top.txt"), code=1)["locks"]["rows"]
    assert {row["version"] for row in rows if row["project"] in ("one", "two")} == {"2.0"}
    assert {row["status"] for row in rows if row["project"] == "three"} == {"missing", "upstream"}


def test_builds_of_sdists(at):
    """Only where asked for: what pyproject.toml requires, and what that requires; without one setuptools."""
    at.add_sdist("one", "1.0", requires=["two"], pyproject='[build-system]\nrequires = ["builder>=1"]\n')
    at.add_sdist("old", "1.0", metadata="1.1", more="License: MIT\n")
    at.add("two", "1.0")
    at.add("builder", "1.0", requires=["deep"])
    at.add("setuptools", "70.0")
    at.add_sdist("deep", "1.0", pyproject='[build-system]\nrequires = []\n')
    rows = at.plan("one\nold\n")
    assert names(rows) == {"one 1.0", "old 1.0", "two 1.0"}
    assert "only a build tells" in rows[PLATFORM, "old 1.0"]["why"] and not rows[PLATFORM, "one 1.0"]["why"]
    rows = at.plan("one\nold\n", "--build-requires")
    assert names(rows) == {"one 1.0", "old 1.0", "two 1.0", "builder 1.0", "deep 1.0", "setuptools 70.0"}
    assert rows[PLATFORM, "builder 1.0"]["by"] == "the build of one-1.0.tar.gz"
    sha256 = at.index.pages["one"]["one-1.0.tar.gz"]["hashes"]["sha256"]
    lock = at.file(f"one==1.0 --hash=sha256:{sha256}\n", "lock.txt")
    files = at.json("plan", "app", "--lock", lock, "--build-requires")["plan"]["files"]
    assert {row["project"] for row in files} == {"one", "builder", "deep"}
    at.add_sdist("bad", "1.0", pyproject='[build-system]\nrequires = ["x ~~ 1"]\n')
    rows = at.plan("bad\n", "--build-requires", code=1)
    assert "pyproject.toml:2: requires: " in rows[PLATFORM, "bad unknown"]["why"]


def test_licences(at):
    at.add("one", "1.0", license_expression="MIT OR Apache-2.0", license="ignored")
    at.add("two", "1.0", license="BSD")
    at.add("three", "1.0", classifier="License :: OSI Approved :: MIT License")
    at.add("four", "1.0")
    app = at.file("one\ntwo\nthree\nfour\n")
    found = {row["project"]: row["licence"] for row in at.json("plan", "app", "--requirements", app)["plan"]["files"]}
    assert found == {"one": "MIT OR Apache-2.0", "two": "BSD", "three": "OSI Approved :: MIT License", "four": None}
    lock = at.file("".join(f"{name}==1.0 --hash=sha256:{next(iter(at.index.pages[name].values()))['hashes']['sha256']}\n"
                           for name in ("one", "four")), "lock.txt")
    found = {row["project"]: row["licence"] for row in at.json("plan", "app", "--lock", lock)["plan"]["files"]}
    assert found == {"one": "MIT OR Apache-2.0", "four": None}
    text = at.run("plan", "app", "--requirements", app)
    assert "licence BSD: two\n" in text and "licence not known: four\n" in text


def test_too_many_requirements(at):
    """Exceeds LIMIT_RESOLVE_NEEDS"""
    at.add("one", "1.0", requires=[f"p{number}" for number in range(10001)])
    assert "more than 10000 requirements" in at.plan("one\n", code=1)[PLATFORM, "one unknown"]["why"]


@pytest.mark.parametrize("words, why", [
    (["--top", "top.txt", "--versions", "101"], "--versions: at most 100"),  # Exceeds LIMIT_MIRROR_VERSIONS
    (["--requirements", "app.txt", "--versions", "2"], "--versions is for --top"),
    (["--requirements", "bad.txt"], "bad.txt:2: "),
    (["--requirements", "empty.txt"], "empty.txt: it has no requirement"),
    (["--top", "none.txt"], "none.txt: it names no project"),
    ([], "--lock, --requirements or --top FILE is missing"),
])
def test_lines_that_are_refused(at, words, why):
    """Exceeds LIMIT_MIRROR_VERSIONS"""
    for name, text in (("top.txt", "one\n"), ("app.txt", "one\n"), ("bad.txt", "one\n[x]\n"), ("none.txt", "# no\n"),
                       ("empty.txt", "-c app.txt\n")):
        at.file(text, name)
    words = [at.folder / word if word.endswith(".txt") else word for word in words]
    assert why in at.run("plan", "app", *words, code=2)
    assert not at.index.asked


def test_two_platforms_install_offline(at, serve, client):
    """After the fill upstream is gone: pip installs for each platform, by the index alone, and nothing is asked."""
    at.add("one", "1.0", requires=["two>=1", 'arm; platform_machine == "aarch64"'])
    for tag in (LINUX, LINUX_ARM):
        at.add("two", "1.0", tag)
    at.add("arm", "1.0", LINUX_ARM)
    at.run("fill", "app", "--requirements", at.file("one\n"))
    at.index.asked.clear()
    at.index.is_down = True
    server = serve(None, config=at.config(offline="yes"), state=at.state, listen=f"{HOST}:0")
    pip = client(PIP)
    for platform, more in ((PLATFORM, {"one", "two"}), (ARM, {"one", "two", "arm"})):
        target, machine = at.folder / platform, platform.rpartition("-")[2]
        names_of = ("one", "two") if machine == "x86_64" else ("one", "two", "arm")
        pip.pip("install", *clients.pip_index(f"{server.url}/{platform}/simple/"), "--only-binary", ":all:", "--no-deps",
                "--platform", f"manylinux_2_17_{machine}", "--python-version", HERE, "--target", target, *names_of)
        assert {path.name.split("-")[0] for path in target.rglob("*.dist-info")} == more
    pip.pip("install", *clients.pip_index(f"{server.url}/{PLATFORM}/simple/"), "--target", at.folder / "whole", "one")
    assert {path.name.split("-")[0] for path in (at.folder / "whole").rglob("*.dist-info")} == {"one", "two"}
    assert not at.index.asked


def test_a_digest_of_what_is_fetched(at):
    """Each file by its hash: what the page says."""
    wheel = at.add("one", "1.0")
    row, = at.json("fill", "app", "--requirements", at.file("one\n"))["plan"]["files"]
    assert row["sha256"] == wheel.sha256 == hashlib.sha256(wheel.path.read_bytes()).hexdigest() and row["kept"]
    assert serving.run("check", "--quiet", "--config", at.state / "wheelcache.conf").returncode == 0
