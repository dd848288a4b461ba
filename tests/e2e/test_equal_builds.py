# SPDX-License-Identifier: Apache-2.0
"""Evidence about other builds than the published one: of equal contents, and, where a view accepts it, from the same commit."""
import contextlib
import hashlib
import json
import shutil
import sqlite3
import zipfile

import pytest

import promoting
import serving
import storelib
import uploading
from promoting import CELLS, X86

COMMIT, OTHER = "a" * 40, "b" * 40
CELL = ("--platform", X86, "--python", "3.10")
REPORT = '<testsuite><testcase name="one"/><testcase name="two"/></testsuite>'


class Built(promoting.Promoted):
    """tested requires unit in one cell."""

    def __init__(self, folder, requires="unit", cells=CELLS[:1]):
        super().__init__(folder, None)
        words = "\n    ".join(map("/".join, cells))
        text = self.config.read_text().replace("from = staging\n", f"from = staging\nrequires = {requires}\ncells = {words}\n")
        self.config.write_text(text)

    def again(self, wheel, year=2024):
        """A build of the wheel with other dates, in another order, elsewhere."""
        path = self.folder / f"again{year}" / wheel.name
        path.parent.mkdir(exist_ok=True)
        with zipfile.ZipFile(wheel.path) as old, zipfile.ZipFile(path, "w") as new:
            for entry in reversed(old.infolist()):
                new.writestr(zipfile.ZipInfo(entry.filename, (year, 1, 1, 0, 0, 0)), old.read(entry))
        assert digest(path) != wheel.sha256
        return path

    def other(self, version="1.0", **parts):
        """A build of six with other contents, elsewhere."""
        return storelib.make_wheel(self.folder / "other", "six", version, files={"six.py": b"# another\n"}, **parts).path

    def make(self, wheel, *options, report=REPORT, name="run.json", kind="unit"):
        """The record of evidence make over a wheel."""
        junit, path = self.folder / "report.xml", self.folder / name
        junit.write_text(report)
        done = serving.run("evidence", "make", "--kind", kind, *CELL, "--junit", junit, "--wheels", wheel, "-o", path, *options)
        assert done.returncode == 0, done.stderr
        return path


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def state(path, *commits, names=()):
    """Puts a statement of provenance beside the wheel."""
    names = names or ["repository"] * len(commits)
    parts = [{"name": name, "uri": f"git+https://example.org/{name}", "digest": {"gitCommit": commit}}
             for name, commit in zip(names, commits)]
    path.with_name(f"{path.name}.intoto.json").write_text(json.dumps({
        "_type": "https://in-toto.io/Statement/v1", "subject": [{"name": path.name, "digest": {"sha256": digest(path)}}],
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {"buildDefinition": {"buildType": "t", "resolvedDependencies": parts}}}))


@pytest.fixture(name="built")
def built_fixture(tmp_path):
    return Built(tmp_path)


def only(answer):
    file, = answer["files"]
    return file


# --- equal contents ---

def test_record_has_the_digest_of_the_contents_and_the_commit(built):
    wheel = built.add()
    again = built.again(wheel)
    state(again, COMMIT)
    one, two = (json.loads(built.make(path).read_text())["wheels"][0] for path in (wheel.path, again))
    assert one["content_sha256"] == two["content_sha256"] and one["sha256"] != two["sha256"]
    assert two["commit"] == COMMIT and "commit" not in one
    lines = [f"{hashlib.sha256(data).hexdigest()} {name}\n" for name, data in storelib.wheel_members("six", "1.0")]
    assert one["content_sha256"] == hashlib.sha256("".join(sorted(lines)).encode()).hexdigest()


@pytest.mark.parametrize("is_first", [False, True], ids=["the wheel came first", "the evidence came first"])
def test_tests_of_equal_contents_count_and_say_so(built, is_first):
    wheel = built.add()
    again = built.again(wheel)
    if is_first:
        hidden = wheel.path.rename(built.folder / "hidden.whl")
        built.index()
        assert built.promote("--evidence", built.make(again))["files"] == []
        hidden.rename(wheel.path)
    built.index()
    record = built.make(again)
    dry = only(built.promote("--evidence", record, "--dry-run"))
    done = built.promote("--evidence", record)
    file = only(done)
    assert (file["result"], file["tested"]) == ("done", [{"sha256": digest(again), "as": "equal-contents"}]), file
    assert file["reason"] == f"tested as equal contents, SHA-256 {digest(again)}"
    assert (dry["result"], dry["reason"], dry["tested"]) == (file["result"], file["reason"], file["tested"])
    generation = json.loads((built.store / ".wheelcache-views/tested/000001.json").read_text())
    assert generation["adds"][0]["tested"] == file["tested"]
    assert f"(tested as equal contents, SHA-256 {digest(again)})" in built.tool("view", "log", "tested").stdout
    assert f"tested as equal contents, SHA-256 {digest(again)}" in built.tool("explain", "--view", "tested", "six", "1.0").stdout
    assert f"tested as equal contents, SHA-256 {digest(again)}" in built.tool("view", "diff", "tested", "0", "1").stdout


def test_other_contents_do_not_count_and_the_reason_says_what_there_is(built):
    built.add()
    built.index()
    record = built.make(built.other())
    file = only(built.promote("--evidence", record, status=1))
    assert file["reason"] == f"{X86}/3.10: no evidence of kind unit; there is evidence for other bytes of this name"
    assert (file["result"], file["tested"]) == ("refused", [])
    told = built.tool("explain", "--view", "tested", "six", "1.0").stdout
    assert f"untested: unit on {X86}, Python 3.10: there is evidence for other bytes of this name\n" in told


def test_record_of_an_older_wheelcache_counts_for_its_bytes_alone(built):
    wheel = built.add()
    built.index()
    again = built.again(wheel)
    old = built.record([storelib.Wheel(again, digest(again), 0, b"")])
    assert "other bytes of this name" in only(built.promote("--evidence", old, status=1))["reason"]
    file = only(built.promote("--evidence", built.record([wheel])))
    assert (file["result"], file["reason"], file["tested"]) == ("done", "", [])


def test_bytes_that_the_store_has_need_no_digest_in_the_record(built):
    """Of two platforms: Arm has the wheel that was tested, x86-64 a build of equal contents."""
    wheel = built.add()
    arm = built.add(platform=promoting.ARM)
    built.again(wheel).rename(arm.path)
    built.index()
    tested = storelib.Wheel(arm.path, digest(arm.path), 0, b"")
    files = {one["platform"]: one for one in built.promote("--evidence", built.record([tested]))["files"]}
    assert files[promoting.ARM]["result"] == files[X86]["result"] == "done"
    assert files[X86]["tested"] == [{"sha256": tested.sha256, "as": "equal-contents"}] and files[promoting.ARM]["tested"] == []


def test_newer_record_counts_whichever_of_the_builds_it_is_about(built):
    wheel = built.add()
    built.index()
    again = built.again(wheel)
    red = REPORT.replace('<testcase name="two"/>', '<testcase name="two"><failure/></testcase>')
    green, bad = built.make(wheel.path), built.make(again, report=red, name="red.json")
    document = json.loads(bad.read_text()) | {"made": "2099-01-01T00:00:00Z"}
    bad.write_text(json.dumps(document))
    file = only(built.promote("--evidence", green, bad, status=1))
    assert file["reason"] == f"{X86}/3.10: 1 of 2 tests failed (unit of equal contents)"


def test_override_is_of_its_bytes_alone(built):
    wheel = built.add()
    built.index()
    built.promote("--override", "the lab is closed")
    built.tool("demote", "--from", "tested", "six==1.0")
    built.again(wheel).rename(wheel.path)
    built.index()
    assert "no evidence of kind unit" in only(built.promote("six==1.0", status=1))["reason"]


SAME = "same"  # bytes of members


def entry(filename, mode=0o100644, system=3):
    info = zipfile.ZipInfo(filename)
    info.create_system, info.external_attr = system, mode << 16
    return info


def write(built, folder, members, unmarked=()):
    """A wheel of six with further members, in this order. unmarked: names whose flag for UTF-8 is taken away."""
    path = built.folder / folder / "six-1.0-py3-none-any.whl"
    path.parent.mkdir()
    with zipfile.ZipFile(path, "w") as made:
        for name, data in storelib.wheel_members("six", "1.0"):
            made.writestr(entry(name), data)
        for info in members:
            made.writestr(info, "" if info.is_dir() else SAME if not info.filename.endswith(".py") else info.filename)
    data = path.read_bytes()
    for name in unmarked:
        at = -1
        while (at := data.find(name.encode(), at + 1)) >= 0:
            flags = at - (30 if data[at - 30:at - 26] == b"PK\3\4" else 46) + (6 if data[at - 30:at - 26] == b"PK\3\4" else 8)
            data = data[:flags + 1] + bytes([data[flags + 1] & ~8]) + data[flags + 2:]
    path.write_bytes(data)
    return path


def content(built, folder, members, **more):
    return json.loads(built.make(write(built, folder, members, **more)).read_text())["wheels"][0].get("content_sha256")


DATA = "six-1.0.data"


@pytest.mark.parametrize("one, two", [
    ([entry("six/run", 0o100755)], [entry("six/run")]),
    ([entry("six/run", 0o755)], [entry("six/run", 0o644)]),  # for uv alone, as Bazel writes them
    ([entry("six/run", 0o100755, system=0)], [entry("six/run", 0o100644, system=0)]),  # for pip alone
    ([entry("six/run", 0o100755)], [entry("six/run", 0o755)]),
    ([entry("six/plugins/")], []),  # uv makes it
    ([entry(f"{DATA}/purelib/one.py"), entry(f"{DATA}/platlib/one.py")],
     [entry(f"{DATA}/platlib/one.py"), entry(f"{DATA}/purelib/one.py")]),  # the last is installed
], ids=["mode", "uv's mode", "pip's mode", "mode for one of them", "empty folder", "order in schemes"])
def test_builds_that_install_differently_are_not_equal(built, one, two):
    assert content(built, "one", one) != content(built, "two", two)


@pytest.mark.parametrize("one, two", [
    ([entry("six/run", 0o100755)], [entry("six/run", 0o100700)]),  # another umask
    ([entry("six/plugins/"), entry("six/plugins/a.py")], [entry("six/plugins/a.py")]),
    ([entry(f"{DATA}/scripts/a"), entry(f"{DATA}/scripts/b")], [entry(f"{DATA}/scripts/b"), entry(f"{DATA}/scripts/a")]),
], ids=["umask", "folder", "order in one scheme"])
def test_builds_that_install_alike_are_equal(built, one, two):
    assert content(built, "one", one) == content(built, "two", two) is not None


def with_mode(built, folder, mode):
    """A wheel of six, all of whose members have the mode."""
    path = built.folder / folder / "six-1.0-py3-none-any.whl"
    path.parent.mkdir()
    with zipfile.ZipFile(path, "w") as made:
        for name, data in storelib.wheel_members("six", "1.0"):
            made.writestr(entry(name, mode), data)
    return path


@pytest.mark.parametrize("mode, result", [(0o100700, "done"), (0o100644, "refused")], ids=["alike", "differently"])
def test_uploaded_wheel_is_judged_by_what_is_installed(built, serve, mode, result):
    """The digest that an upload notes is the one that records have."""
    server = serve(built.store, "--config", built.config, "--catalog", built.catalog)
    token = uploading.add_token(built, "--platform", X86)
    assert uploading.upload(server, X86, with_mode(built, "published", 0o100755), token).status == 200
    tested = built.make(with_mode(built, "tested", mode))
    assert only(built.promote("--evidence", tested, status=int(result != "done")))["result"] == result


@pytest.mark.parametrize("names, unmarked", [
    (["six/é.py"], ["six/é.py"]), (["six/./one.py", "six/one.py"], []), (["six//one.py"], []), (["six\\one.py"], [])])
def test_names_that_mean_two_files_have_no_digest(built, names, unmarked):
    """Python reads a name without the flag for UTF-8 as code page 437, and the last of two for one place is installed."""
    assert content(built, "odd", list(map(entry, names)), unmarked=unmarked) is None
    assert content(built, "plain", [entry("six/é.py")])


def test_names_with_line_ends_have_no_digest(built):
    """Its lines would be those of two members."""
    path = built.folder / "odd" / "six-1.0-py3-none-any.whl"
    path.parent.mkdir()
    storelib.zip_write(path, [("a\nb", b""), *storelib.wheel_members("six", "1.0")])
    assert "content_sha256" not in json.loads(built.make(path).read_text())["wheels"][0]


def test_catalog_that_is_made_again_knows_the_same(built):
    wheel = built.add()
    built.index()
    built.promote("--evidence", built.make(built.again(wheel)))
    before = [built.tool("explain", "--view", "tested", "six", "1.0").stdout, built.tool("view", "log", "tested").stdout]
    for path in built.catalog.parent.glob("catalog.db*"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    built.index()
    assert [built.tool("explain", "--view", "tested", "six", "1.0").stdout, built.tool("view", "log", "tested").stdout] == before
    built.tool("demote", "--from", "tested", "six==1.0")
    assert only(built.promote("six==1.0"))["tested"]


# --- by version ---

@pytest.fixture(name="lenient")
def lenient_fixture(tmp_path):
    return Built(tmp_path, "unit:by=version")


def test_another_build_from_the_same_commit_counts_where_the_view_says_so(lenient):
    wheel = lenient.add()
    state(wheel.path, COMMIT)
    lenient.index()
    other = lenient.other()
    state(other, COMMIT)
    file = only(lenient.promote("--evidence", lenient.make(other)))
    assert (file["result"], file["tested"]) == ("done", [{"sha256": digest(other), "as": "same-commit"}])
    assert file["reason"] == f"tested as another build from the same commit, SHA-256 {digest(other)}"
    told = lenient.tool("explain", "--view", "tested", "six", "1.0").stdout
    assert f"tested as another build from the same commit, SHA-256 {digest(other)}" in told


def test_view_that_does_not_say_so_takes_no_other_build(built):
    wheel, other = built.add(), built.other()
    state(wheel.path, COMMIT)
    state(other, COMMIT)
    built.index()
    reason = only(built.promote("--evidence", built.make(other), status=1))["reason"]
    assert reason.endswith("no evidence of kind unit; there is evidence for other bytes of this name")


@pytest.mark.parametrize("mine, theirs, why", [
    ([], [COMMIT], "but no provenance of this wheel names the commit of its source"),
    ([COMMIT], [], "but it names no commit of their source"),
    ([COMMIT], [OTHER], "from another commit"),
    ([COMMIT, OTHER], [COMMIT], "but no provenance of this wheel names the commit of its source"),
])
def test_without_the_same_commit_on_both_sides_it_does_not_count(lenient, mine, theirs, why):
    wheel, other = lenient.add(), lenient.other()
    for path, commits in ((wheel.path, mine), (other, theirs)):
        if commits:
            state(path, *commits)
    lenient.index()
    file = only(lenient.promote("--evidence", lenient.make(other), status=1))
    assert file["reason"].endswith(why) and "there is evidence for other bytes of this name" in file["reason"], file


def test_statement_on_another_platform_says_nothing_of_this_one(lenient):
    """Who may upload there alone would say what may come into the view from here."""
    lenient.add()
    elsewhere = lenient.add(platform=promoting.ARM)
    state(elsewhere.path, COMMIT)
    lenient.index()
    other = lenient.other()
    state(other, COMMIT)
    files = {one["platform"]: one for one in lenient.promote("--evidence", lenient.make(other), status=1)["files"]}
    assert files[X86]["reason"].endswith("but no provenance of this wheel names the commit of its source")
    told = lenient.tool("explain", "--view", "tested", "six", "1.0").stdout
    assert "but no provenance of this wheel names the commit of its source" in told


def test_the_dependency_named_source_is_the_source(lenient):
    wheel, other = lenient.add(), lenient.other()
    state(wheel.path, OTHER, COMMIT, names=["ucx", "source"])
    state(other, COMMIT)
    lenient.index()
    assert only(lenient.promote("--evidence", lenient.make(other)))["result"] == "done"


def test_another_version_or_project_does_not_count(lenient):
    wheel = lenient.add()
    state(wheel.path, COMMIT)
    lenient.index()
    other = lenient.other("1.1")
    state(other, COMMIT)
    assert only(lenient.promote("--evidence", lenient.make(other), status=1))["reason"].endswith("no evidence of kind unit")
    stranger = storelib.make_wheel(lenient.folder / "stranger", "seven", "1.0").path
    state(stranger, COMMIT)
    assert only(lenient.promote("--evidence", lenient.make(stranger), status=1))["reason"].endswith("no evidence of kind unit")


def test_red_tests_of_the_bytes_are_stronger_than_green_ones_of_another_build(lenient):
    wheel, other = lenient.add(), lenient.other()
    state(wheel.path, COMMIT)
    state(other, COMMIT)
    lenient.index()
    red = REPORT.replace('<testcase name="two"/>', '<testcase name="two"><failure/></testcase>')
    lenient.promote("--evidence", lenient.make(wheel.path, report=red), status=1)
    file = only(lenient.promote("--evidence", lenient.make(other), status=1))
    assert file["reason"] == f"{X86}/3.10: 1 of 2 tests failed (unit)"


def test_the_store_knows_the_commit_of_a_wheel_that_it_has(lenient):
    """The record names hashes alone; Arm has the tested wheel with its provenance."""
    wheel = lenient.add()
    arm = lenient.add(platform=promoting.ARM, files={"six.py": b"# another\n"})
    for one in (wheel, arm):
        state(one.path, COMMIT)
    lenient.index()
    files = {one["platform"]: one for one in lenient.promote("--evidence", lenient.record([arm]))["files"]}
    assert files[X86]["tested"] == [{"sha256": arm.sha256, "as": "same-commit"}]


# --- pages ---

def test_pages_say_what_was_tested(serve, built):
    wheel, other = built.add(), built.add("seven")
    strange = storelib.make_wheel(built.folder / "other", "seven", "1.0", files={"seven.py": b"# another\n"}).path
    again = built.again(wheel)
    built.index()
    built.promote("--evidence", built.make(again), built.make(strange, name="two.json"), status=1)
    server = serve(None, "--config", built.config)
    words = f"tested as equal contents, SHA-256 {digest(again)}"
    page = server.get("/-/channel/tested/").body.decode()
    assert words in page and "there is evidence for other bytes of this name" in page
    document = json.loads(server.get("/-/channel/tested/?format=json").body)
    tests = {one["project"]: one["tests"][0] for one in document["environments"] if one["python"] == "3.10"}
    assert (tests["six"]["result"], tests["six"]["tested"], tests["six"]["as"]) == ("green", digest(again), "equal-contents")
    assert (tests["seven"]["result"], tests["seven"]["tested"], tests["seven"]["why"]) == (
        "untested", None, "there is evidence for other bytes of this name")
    assert document["generations"][0]["files"][0]["tested"] == [{"sha256": digest(again), "as": "equal-contents"}]
    html = {"Accept": "text/html"}
    assert f"other bytes</span> {words}" in server.get("/-/explain/tested/six", html).body.decode()
    assert "there is evidence for other bytes of this name" in server.get("/-/explain/tested/seven", html).body.decode()
    row = next(one for one in json.loads(server.get("/-/explain/tested/six/1.0").body)["here"] if one["platform"] == X86)
    assert [(one["tested"], one["as"]) for one in row["membership"]["evidence"]] == [(digest(again), "equal-contents")]
    assert other.name in page


# --- other readers of records ---

def test_pipeline_that_tests_other_builds_is_not_silent(serve, built):
    """It reports, although the store has none of the bytes that it tests."""
    built.config.write_text(built.config.read_text().replace("from = staging\n", "from = staging\nexpect = 1h unit\n"))
    wheel = built.add()
    built.index()
    built.promote("--evidence", built.make(built.again(wheel)))
    server = serve(None, "--config", built.config)

    def last():
        return [one.get("last") for one in json.loads(server.get("/-/channel/tested/?format=json").body)["expected"]]
    serving.wait_for(lambda: last() and all(last()), 60, "the record")


def test_catalog_of_an_older_wheelcache_reads_its_records_again(built):
    """Its rows lack what ties a record to other builds."""
    wheel = built.add()
    built.index()
    record = built.make(built.again(wheel))
    built.promote("--evidence", record)
    built.tool("demote", "--from", "tested", "six==1.0")
    with contextlib.closing(sqlite3.connect(built.catalog)) as catalog, catalog:
        catalog.execute("UPDATE evidence_wheel SET version = NULL, filename = NULL, content = NULL, source = NULL")
        catalog.execute("UPDATE inside SET content = NULL")
        catalog.execute("DELETE FROM evidence_folder")
    assert only(built.promote("six==1.0", status=1))["reason"].endswith("no evidence of kind unit")
    built.index()
    assert only(built.promote("six==1.0"))["tested"]
