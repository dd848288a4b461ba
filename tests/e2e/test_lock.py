# SPDX-License-Identifier: Apache-2.0
"""wheelcache lock show: it reads what Python reads out of real locks, which uv, poetry, pdm and pipenv made."""
import json
import pathlib
import re

import pytest

tomllib = pytest.importorskip("tomllib")

LOCKS = pathlib.Path(__file__).parents[1] / "data/locks"
KINDS = {"uv.lock": "uv.lock", "pylock.toml": "pylock.toml", "poetry.lock": "poetry.lock", "pdm.lock": "pdm.lock",
         "Pipfile.lock": "Pipfile.lock", "requirements.txt": "requirements"}


def show(wheelcache, path, *options):
    done = wheelcache("lock", "show", *options, path)
    assert done.returncode == 0, done.stderr
    return done.stdout


def file_of(entry):
    hashes = entry.get("hashes", {})
    sha256 = entry["hash"].partition(":")[2] if "hash" in entry else hashes["sha256"]
    return entry.get("file") or entry["url"].rpartition("/")[2], sha256, entry.get("size")


def by_python(name):
    """(project, version, sorted files as (name, sha256, size)) of each package, read independently."""
    text = (LOCKS / name).read_text()
    if name == "requirements.txt":
        joined = re.sub(r"\\\n", " ", text)
        lines = [line for line in joined.splitlines() if line.strip() and not line.strip().startswith("#")]
        return [(re.match(r"[\w.-]+", line)[0], re.search(r"==([^ ;]+)", line)[1],
                 sorted((None, sha256, None) for sha256 in re.findall(r"sha256:(\w+)", line))) for line in lines]
    if name == "Pipfile.lock":
        document = json.loads(text)
        return [(project, entry["version"].removeprefix("==") if entry["version"] != "*" else None,
                 sorted((None, one.partition(":")[2], None) for one in entry.get("hashes", [])))
                for section in ("default", "develop") for project, entry in document[section].items()]
    document = tomllib.loads(text)
    packages = document.get("packages") or document["package"]
    return [(one["name"], one.get("version"),
             sorted(file_of(entry) for entry in one.get("files", []) + one.get("wheels", []) +
                    ([one["sdist"]] if "sdist" in one else []))) for one in packages]


@pytest.mark.parametrize("name", sorted(path.name for path in LOCKS.iterdir()))
def test_real_locks_are_read_as_python_reads_them(wheelcache, name, tmp_path):
    document = json.loads(show(wheelcache, LOCKS / name, "--json"))
    assert document["kind"] == KINDS[name] and len(document["rows"]) > 5
    ours = [(row["project"], row["version"],
             sorted((one.get("filename"), one.get("sha256"), one.get("size")) for one in row["files"])) for row in document["rows"]]
    assert ours == by_python(name)
    # The content says what it is, not the name.
    copy = tmp_path / "some"
    copy.write_bytes((LOCKS / name).read_bytes())
    assert json.loads(show(wheelcache, copy, "--json"))["kind"] == KINDS[name]


@pytest.mark.parametrize("name", sorted(path.name for path in LOCKS.iterdir()))
def test_each_row_and_file_has_its_line(wheelcache, name):
    lines = (LOCKS / name).read_text().splitlines()
    for row in json.loads(show(wheelcache, LOCKS / name, "--json"))["rows"]:
        at = row["line"] - 1
        assert row["project"] in lines[at] + lines[min(at + 1, len(lines) - 1)]
        for one in row["files"] if name.endswith("lock") and name != "Pipfile.lock" else []:
            assert one["sha256"] in lines[one["line"] - 1]


def test_groups_extras_and_markers(wheelcache):
    rows = json.loads(show(wheelcache, LOCKS / "uv.lock", "--json"))["rows"]
    assert [row["extras"] for row in rows if row["project"] == "click"] == [["cli"]]
    assert {tuple(row["groups"]) for row in rows if row["project"] == "iniconfig"} == {("dev",)}
    assert [row["source"] for row in rows if row["project"] == "demo"] == ["virtual"]
    rows = json.loads(show(wheelcache, LOCKS / "poetry.lock", "--json"))["rows"]
    assert [row["groups"] for row in rows if row["project"] == "mistune"] == [["docs"]]
    assert [row["marker"] for row in rows if row["project"] == "exceptiongroup"] == ['python_version < "3.11"']
    rows = json.loads(show(wheelcache, LOCKS / "Pipfile.lock", "--json"))["rows"]
    assert [row["groups"] for row in rows if row["project"] == "iniconfig"] == [["develop"]]


def test_the_table_names_what_people_look_for(wheelcache):
    lines = show(wheelcache, LOCKS / "uv.lock").splitlines()
    assert lines[0].endswith("uv.lock: uv.lock, 11 packages, 39 files or hashes, for Python >=3.9")
    assert "  demo 0.1.0  0 files, not of an index: virtual" in lines


@pytest.mark.parametrize("text, why", [
    ("version = 1\nrequires-python = '>=3'\n[[package]]\nname = 'a'\nversion = 'x'\n", ":3: \"x\" is no version"),
    ("[package\n", ":1: \"package\" has no \"]\" behind it"),
    ('{"_meta": {},\n', ": not JSON: at byte 14, in line 2: it ends too early"),
])
def test_a_broken_lock_is_an_error_with_its_line(wheelcache, tmp_path, text, why):
    path = tmp_path / "broken.lock"
    path.write_text(text)
    done = wheelcache("lock", "show", path)
    assert done.returncode == 1 and f"{path}{why}" in done.stderr


def test_a_lock_is_limited(wheelcache, tmp_path):
    """Exceeds LIMIT_LOCK."""
    path = tmp_path / "large.lock"
    with path.open("wb") as out:
        out.write(b"version = 1\n")
        out.truncate((64 << 20) + 1)
    done = wheelcache("lock", "show", path)
    assert done.returncode == 1 and str(path) in done.stderr and "67108864" in done.stderr
    done = wheelcache("lock", "show", tmp_path / "none")
    assert done.returncode == 1 and "none" in done.stderr
