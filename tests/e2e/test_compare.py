# SPDX-License-Identifier: Apache-2.0
"""wheelcache compare: the verdict, what differs, its forms, and how wheels are named."""
import html
import json
import shutil
import zipfile

import pytest

import attaching
import storelib
from comparing import NAME, Page, compare, document, markdown_tables, wheel

CODE = {"pair.py": b"x = 1\n"}
HOSTILE = {"pair.py": b"", "a|b`*_<script>&.py": b"1"}


@pytest.fixture(name="pair")
def pair_fixture(tmp_path):
    """pair(one, other): two wheels of these parts."""
    def make(one, other):
        return wheel(tmp_path / "a", **one), wheel(tmp_path / "b", **other)
    return make


# --- the verdict ---

@pytest.mark.parametrize("one, other, verdict", [
    ({}, {}, "identical"),
    ({}, {"compress": zipfile.ZIP_STORED}, "same-contents"),
    ({}, {"turn": True}, "same-contents"),
    ({"metadata": "Summary: one\n"}, {"metadata": "Summary: two\n"}, "same-code"),
    ({"files": CODE}, {"files": CODE, "name": "pair-1.1-py3-none-any.whl"}, "same-code"),
    ({"files": CODE}, {"files": {"pair.py": b"x = 2\n"}}, "different"),
    ({"files": CODE}, {"files": {"pear.py": b"x = 1\n"}}, "different"),
    ({"files": CODE}, {"files": CODE | {"more.py": b""}}, "different"),
])
def test_verdict(wheelcache, pair, one, other, verdict):
    found = document(wheelcache, *pair(one, other))
    assert (found["verdict"], found["members_by"]) == (verdict, "sha256")


def test_lines_of_record_in_another_order_are_the_same_contents(wheelcache, tmp_path):
    members = storelib.wheel_members("pair", "1.0", files=CODE | {"b.py": b"2"})
    record = members[-1][1].splitlines(keepends=True)
    for name, rows in (("a", record), ("b", record[::-1]), ("c", record[1:])):
        (tmp_path / name).mkdir()
        storelib.zip_write(tmp_path / name / NAME, [*members[:-1], (members[-1][0], b"".join(rows))])
    verdict = {name: document(wheelcache, tmp_path / "a" / NAME, tmp_path / name / NAME)["verdict"] for name in "bc"}
    assert verdict == {"b": "same-contents", "c": "same-code"}


def test_builds_that_differ_in_time_stamps_alone(wheelcache, whole):
    builds = [sorted((whole / "corpus/locally-built" / f"build-{n}").glob("[mn][ae][rt]*.whl")) for n in (1, 2, 3)]
    pairs = [(a, b) for a in builds[0] for other in builds[1:] for b in other if a.name == b.name]
    assert len(pairs) == 3
    for a, b in pairs:
        found = document(wheelcache, a, b)
        assert found["verdict"] == "same-contents" and found["libraries"]["equal"] == 1
        assert compare(wheelcache, a, b).stdout.startswith("Same contents, other ZIP file")
        assert [row["name"] for row in found["file"]["list"] if not row["equal"]] == ["SHA-256"]


def test_hash_of_the_contents_is_the_oracles(wheelcache, whole):
    rows = [line.split("\t") for line in (whole / "corpus/expected.tsv").read_text().splitlines()[1:]]
    rows = sorted(rows, key=lambda row: int(row[2]))[:24]
    for one, other in zip(rows[::2], rows[1::2]):
        found = document(wheelcache, *(whole / "corpus" / row[0] for row in (one, other)))
        hashes = {row["name"]: (row["a"], row["b"]) for row in found["file"]["list"]}
        assert hashes["SHA-256 of the contents"] == (one[15], other[15])
        assert hashes["SHA-256"] == (one[1], other[1])


# --- what differs ---

def test_metadata_is_compared_by_meaning(wheelcache, pair):
    one = ("Requires-Python: >=3.8, <4\nRequires-Dist: Foo_Bar (>=1, <2) ; extra == 'x'\nRequires-Dist: baz>=1\n"
           "Classifier: A\nClassifier: B\n")
    other = ("Requires-Dist: baz>=2\nRequires-Python: <4,>=3.8.0\nRequires-Dist: foo.bar<2,>=1; extra==\"x\"\n"
             "Classifier: B\nClassifier: C\n")
    found = document(wheelcache, *pair({"metadata": one}, {"metadata": other}))["metadata"]
    assert [(row["name"], row["a"], row["b"]) for row in found["list"] if not row["equal"]] == [
        ("Classifier", "A", None), ("Classifier", None, "C"), ("Requires-Dist", "baz>=1", "baz>=2")]
    assert found["different"] == 3
    assert "Requires-Python" in [row["name"] for row in found["list"] if row["equal"]]


def test_a_python_that_is_lost_is_seen(wheelcache, pair):
    found = document(wheelcache, *pair({"metadata": "Requires-Python: >=3.8\n"}, {"metadata": "Requires-Python: >=3.8.1\n"}))
    assert [row["name"] for row in found["metadata"]["list"] if not row["equal"]] == ["Requires-Python"]


def test_members_are_matched_whatever_the_build_calls_them(wheelcache, pair):
    one = {"pair.libs/libssl-3a1b2c3d.so.3": b"1", "pair/_x.cpython-311-x86_64-linux-gnu.so": b"2",
           "pair.libs/libz-0a0a0a0a.so.1.2": b"same", "old.py": b""}
    other = {"pair.libs/libssl-99999999.so.3": b"3", "pair/_x.cpython-312-x86_64-linux-gnu.so": b"4",
             "pair.libs/libz-1b1b1b1b.so.1.2": b"same", "new.py": b""}
    found = document(wheelcache, *pair({"files": one}, {"files": other}))["members"]
    rows = {(row["a"], row["b"]): row["change"] for row in found["list"]}
    assert {change: sum(one == change for one in rows.values()) for change in rows.values()} == {
        "changed": 3, "renamed": 1, "added": 1, "removed": 1}  # RECORD too
    names = list(one), list(other)
    assert [rows[a, b] for a, b in list(zip(*names))[:3]] == ["changed", "changed", "renamed"]
    assert rows["old.py", None] == "removed" and rows[None, "new.py"] == "added"


def test_a_library_is_compared_by_its_facts(wheelcache, whole):
    ours = whole / "corpus/locally-built/build-1/pyyaml-6.0.3-cp311-cp311-linux_x86_64.whl"
    theirs = next((whole / "corpus/wheels").glob("pyyaml-6.0.3-cp311-*x86_64*.whl"))
    found = document(wheelcache, ours, theirs)
    library, = found["libraries"]["list"]
    assert library["a"] == library["b"] == "yaml/_yaml.cpython-311-x86_64-linux-gnu.so"
    rows = {(row["name"], row["a"]): row["b"] for row in library["facts"]["list"] if not row["equal"]}
    assert rows["NEEDED", "libyaml-0.so.2"] is None
    assert any(name == "toolchain" and "Debian" in a for name, a in rows if a)


# --- the forms ---

def test_all_forms_have_the_same_rows(wheelcache, pair, tmp_path):
    wheels = pair({"files": CODE, "metadata": "Requires-Dist: a|b<c>\n"}, {"files": HOSTILE})
    page = tmp_path / "page.html"
    assert compare(wheelcache, "--html", page, *wheels).stdout == ""
    tables = Page(page.read_text()).tables
    markdown = {title: [[html.unescape(cell) for cell in row] for row in rows]
                for title, rows in markdown_tables(compare(wheelcache, "--markdown", *wheels).stdout).items()}
    text = compare(wheelcache, *wheels).stdout
    assert tables == markdown and set(tables) >= {"Files", "Metadata", "Members"}
    assert list(tables)[-1] == "Members"  # there may be hundreds, behind which nobody sees the libraries
    assert ["added", "a|b`*_<script>&.py", "", "1"] in tables["Members"]
    assert ["Requires-Dist", "a|b<c>", "–"] in tables["Metadata"]
    for rows in tables.values():
        for row in rows[1:]:
            assert all(cell in text for cell in row)


def test_a_page_has_no_script_and_replaces_only_files(wheelcache, pair, tmp_path):
    wheels = pair({"files": HOSTILE}, {"files": CODE})
    compare(wheelcache, "--html", tmp_path / "page.html", *wheels)
    assert "script" not in Page((tmp_path / "page.html").read_text()).tags
    (tmp_path / "link").symlink_to("page.html")
    assert "no regular file" in compare(wheelcache, "--html", tmp_path / "link", *wheels, code=2).stderr
    assert "exclude" in compare(wheelcache, "--json", "--markdown", *wheels, code=2).stderr


def test_control_characters_never_reach_a_terminal(wheelcache, pair):
    metadata = "Summary: \x1b]0;title\x07 \x9b2J \u009b1m\n"
    wheels = pair({"metadata": metadata}, {})
    for form in ((), ("--markdown",)):
        text = compare(wheelcache, *form, *wheels).stdout
        assert not any(ord(c) < 32 and c != "\n" or 0x7f <= ord(c) < 0xa0 for c in text)
        assert "?]0;title?" in text or "?\\]0;title?" in text


# --- bounds ---

def test_what_is_not_listed_is_counted(wheelcache, pair):
    files = {f"m{i:05}.py": b"" for i in range(3000)}
    found = document(wheelcache, *pair({"files": CODE}, {"files": files}))["members"]
    assert (found["added"], found["removed"], len(found["list"])) == (3000, 1, 1000)


def test_libraries_and_texts_are_bounded(wheelcache, pair):
    # Exceeds LIMIT_COMPARE_LIBRARIES, LIMIT_COMPARE_TEXT.
    long = "d/" * 2500 + "long.py"
    one, other = ({f"pair/m{i:03}.so": b"\x7fELF" + side for i in range(250)} | {long: side} for side in (b"1", b"2"))
    found = document(wheelcache, *pair({"files": one}, {"files": other}))
    assert (found["libraries"]["different"], len(found["libraries"]["list"])) == (250, 200)
    assert found["libraries"]["list"][0]["unreadable"]
    assert {row["a"] for row in found["members"]["list"]} >= {long[:4096]}
    text = compare(wheelcache, *pair({"files": one}, {"files": other})).stdout
    assert "50 more that differ are not listed" in text and long[:700] not in text


def test_members_that_unpack_to_too_much_are_compared_by_crc(wheelcache, pair):
    big = {"zeros.bin": bytes((64 << 20) + 1)}
    found = document(wheelcache, *pair({"files": big}, {"files": big, "turn": True}))
    assert (found["verdict"], found["members_by"]) == ("same-contents", "crc32")


# --- how wheels are named ---

@pytest.fixture(name="store")
def store_fixture(tmp_path, wheelcache):
    """Two platforms; 1.0 for two Pythons on both, where one copy differs; 1.1 has lost a Python on one and won one."""
    store, here = tmp_path / "store", {}
    for platform, versions in {"debian-12-x86_64": {"1.0": (311,), "1.1": (311,)},
                               "ubuntu-22.04-x86_64": {"1.0": (310, 311), "1.1": (310,)}}.items():
        for version, pythons in versions.items():
            for python in pythons:
                tag = f"cp{python}-cp{python}-linux_x86_64"
                here[platform, version, python] = wheel(
                    store / platform / "p", name=f"pair-{version}-{tag}.whl", tag=tag,
                    files={"pair.py": f"{version} {platform}".encode()})
    catalog = tmp_path / "catalog.db"
    config = tmp_path / "c.conf"
    config.write_text(f"[store]\npath = {store}\n[catalog]\npath = {catalog}\n[platform debian-12-x86_64]\n"
                      "pythons = 3.11\n[platform ubuntu-22.04-x86_64]\npythons = 3.10 3.11\n")
    assert wheelcache("index", "--config", config, "--quiet").returncode == 0
    return type("Store", (), {"config": config, "wheel": here, "path": store})


def test_wheels_of_the_store(wheelcache, store):
    name = store.wheel["debian-12-x86_64", "1.0", 311].name
    found = document(wheelcache, "--config", store.config, f"debian-12-x86_64/{name}", f"ubuntu-22.04-x86_64/{name}")
    assert (found["verdict"], found["a"]["name"]) == ("different", f"debian-12-x86_64/{name}")
    found = document(wheelcache, "--config", store.config, "pair==1.0", "Pair==1.1", "--platform", "debian-*")
    assert [found[side]["filename"].split("-")[1] for side in "ab"] == ["1.0", "1.1"]
    found = document(wheelcache, "--config", store.config, store.wheel["debian-12-x86_64", "1.0", 311], "pair==1.0",
                     "--python", "3.10")
    assert found["b"]["name"] == f"ubuntu-22.04-x86_64/{store.wheel['ubuntu-22.04-x86_64', '1.0', 310].name}"


def test_a_choice_is_listed(wheelcache, store):
    done = compare(wheelcache, "--config", store.config, store.wheel["debian-12-x86_64", "1.0", 311], "pair==1.0", code=2)
    listed = [line.strip() for line in done.stderr.splitlines() if line.startswith("  ")]
    assert listed == [f"{p}/{w.name}" for (p, v, _), w in store.wheel.items() if v == "1.0"]
    assert "3 wheels" in done.stderr
    name = store.wheel["debian-12-x86_64", "1.0", 311].name
    assert "2 wheels" in compare(wheelcache, "--config", store.config, name, name, code=2).stderr
    shutil.copy2(store.wheel["debian-12-x86_64", "1.0", 311], store.wheel["ubuntu-22.04-x86_64", "1.0", 311])
    assert wheelcache("index", "--config", store.config, "--quiet").returncode == 0
    assert document(wheelcache, "--config", store.config, name, name)["verdict"] == "identical"


@pytest.mark.parametrize("one, code, why", [
    ("nowhere.whl", 1, "filename"), ("debian-12-x86_64/nowhere-1-py3-none-any.whl", 1, "the catalog has no"),
    ("elsewhere/pair-1.0-py3-none-any.whl", 1, "no platform elsewhere"), ("pair==9", 1, "no such wheel"),
    ("pair==x y", 2, "not a version"), ("pa ir==1", 2, "not the name"), ("pair", 2, "expected a wheel"),
    ("upstream:a/b.whl", 2, "expected a wheel"), ("../pair.tar.gz", 2, "expected a wheel"),
])
def test_what_is_not_there(wheelcache, store, one, code, why):
    done = wheelcache("compare", "--config", store.config, one, store.wheel["debian-12-x86_64", "1.0", 311])
    assert done.returncode == code and (why in done.stderr or why == "filename"), done.stderr


def test_a_damaged_wheel_is_an_error(wheelcache, pair):
    one, other = pair({"files": {"pair.py": b"x" * 4000}}, {})
    data = bytearray(one.read_bytes())
    data[40] ^= 0xff
    one.write_bytes(data)
    assert "pair.py" in compare(wheelcache, one, other, code=1).stderr


# --- releases ---

def test_two_releases(wheelcache, store):
    found = document(wheelcache, "--config", store.config, "pair==1.0", "pair==1.1")
    assert (found["lost"], found["won"], found["kept"]) == (1, 0, 2)
    lost, = (cell for cell in found["cells"] if cell["state"] == "lost")
    assert (lost["platform"], lost["python"], lost["b"]) == ("ubuntu-22.04-x86_64", "3.11", None)
    back = document(wheelcache, "--config", store.config, "pair==1.1", "pair==1.0")
    assert (back["lost"], back["won"]) == (0, 1)
    text = compare(wheelcache, "--config", store.config, "pair==1.0", "pair==1.1").stdout
    assert "1 lost, 0 won, 2 kept" in text and "! ubuntu-22.04-x86_64" in text


# --- upstream ---

def test_upstream(wheelcache, store, index, tmp_path):
    ours = store.wheel["debian-12-x86_64", "1.0", 311]
    theirs = storelib.make_wheel(tmp_path / "up", "pair", "1.0", "cp311-cp311-linux_x86_64", files={"pair.py": b"up"})
    index.add("pair", theirs)
    words = ("--config", store.config, "--upstream-url", index.url)
    found = document(wheelcache, *words, f"debian-12-x86_64/{ours.name}", f"upstream:{theirs.name}")
    assert (found["verdict"], found["b"]["sha256"]) == ("different", theirs.sha256)
    assert document(wheelcache, *words[2:], theirs.path, f"upstream:{theirs.name}")["verdict"] == "identical"
    found = document(wheelcache, *words, "pair==1.0", "upstream:pair==1.0")
    assert (found["lost"], found["kept"]) == (1, 2)
    found = document(wheelcache, *words[2:], "upstream:pair==1.0", "upstream:pair==1.0")
    assert found["cells"] == [{"platform": "linux_x86_64", "python": "cp311", "state": "kept", "a": theirs.name, "b": theirs.name}]
    index.change("pair", theirs.name, hashes={"sha256": "0" * 64})
    done = compare(wheelcache, *words, theirs.path, f"upstream:{theirs.name}", code=1)
    assert "does not have the SHA-256" in done.stderr
    assert "upstream has no" in compare(wheelcache, *words, theirs.path, "upstream:pair-2.0-py3-none-any.whl", code=1).stderr


def test_upstream_is_not_asked_for_a_private_name(wheelcache, store, index):
    ours = store.wheel["debian-12-x86_64", "1.0", 311]
    with open(store.config, "a", encoding="utf-8") as config:
        config.write(f"[upstream]\nurl = {index.url}\nprivate = pair\n")
    for config in (("--config", store.config), ()):
        if not config:
            alone = store.config.with_name("alone.conf")
            alone.write_text(f"[upstream]\nurl = {index.url}\nprivate = pair\n")
            config = ("--config", alone)
        done = compare(wheelcache, *config, ours, f"upstream:{ours.name}", code=1)
        assert "upstream is not asked for pair" in done.stderr
    assert index.asked == []


# --- provenance ---

def statement(path, *dependencies):
    return json.dumps(attaching.statement(path, resolvedDependencies=dependencies))


def dependency(name, version, prefix, **more):
    return {"name": name, "uri": f"pkg:generic/{name}@{version}", "annotations": {"version": version, "prefix": prefix} | more}


def test_provenance_is_a_row_a_component(wheelcache, pair):
    one, other = pair({}, {"compress": zipfile.ZIP_STORED})
    sides = {
        one: (dependency("ucx", "1.18", "/usr/local/ucx"), dependency("efa", "1.21", "/opt"), dependency("zlib", "1", "/usr")),
        other: (dependency("ucx", "1.18", "/usr"), dependency("zlib", "1", "/usr"), dependency("gus|li\n", "2", "/usr")),
    }
    for path, parts in sides.items():
        path.with_name(path.name + ".intoto.json").write_text(statement(path, *parts))
    found = document(wheelcache, one, other)["provenance"]
    rows = {row["component"]: row for row in found["list"]}
    assert rows["ucx"]["other_path"] and not rows["ucx"]["equal"]
    assert rows["efa"]["b"] is None and rows["gus|li\n"]["a"] is None
    assert rows["zlib"]["equal"] and rows["branch"]["equal"] and found["different"] == 3
    text = compare(wheelcache, one, other).stdout
    assert "! ucx" in text and "/usr/local/ucx → /usr" in text and "1.21 → not used" in text and "zlib" not in text
    table = markdown_tables(compare(wheelcache, "--markdown", one, other).stdout)["Provenance"]
    assert ["gus|li", "not used → 2", "not used → pkg:generic/gus|li @2", "not used → /usr", "not used → –"] in [
        [html.unescape(cell) for cell in row] for row in table]


def test_provenance_in_the_store(wheelcache, store):
    paths = [store.wheel[platform, "1.0", 311] for platform in ("debian-12-x86_64", "ubuntu-22.04-x86_64")]
    for path, where in zip(paths, ("/usr", "/opt")):
        path.with_name(path.name + ".intoto.json").write_text(statement(path, dependency("ucx", "1", where)))
    assert wheelcache("index", "--config", store.config, "--quiet").returncode == 0
    found = document(wheelcache, "--config", store.config, *(f"{p}/{paths[0].name}" for p, v, n in store.wheel
                                                             if (v, n) == ("1.0", 311)))
    assert [row["component"] for row in found["provenance"]["list"] if row["other_path"]] == ["ucx"]


def test_a_statement_about_another_file_is_left_out(wheelcache, pair):
    one, other = pair({}, {"compress": zipfile.ZIP_STORED})
    one.with_name(one.name + ".intoto.json").write_text(statement(other))
    done = compare(wheelcache, one, other)
    assert "its provenance is left out" in done.stderr and "Neither wheel has one." in done.stdout
