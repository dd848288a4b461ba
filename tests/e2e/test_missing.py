# SPDX-License-Identifier: Apache-2.0
"""wheelcache missing: the statuses, the forms, the options, the errors."""
import contextlib
import hashlib
import json
import os
import pty
import re
import subprocess

import jsonschema
import packaging.requirements
import packaging.specifiers
import pytest
import yaml

import serving
import tinyupstream
import wanting
from wanting import BOOKWORM, JAMMY


@pytest.fixture(scope="module", name="shared")
def shared_fixture(tmp_path_factory):
    """For tests that change nothing."""
    with tinyupstream.running() as upstream:
        yield wanting.Wanted(tmp_path_factory.mktemp("wanted"), upstream).keep_answers()


@pytest.fixture(name="wanted")
def wanted_fixture(tmp_path):
    with tinyupstream.running() as upstream:
        yield wanting.Wanted(tmp_path, upstream)


def with_status(rows, status, platform=JAMMY):
    return {(row["python"], row["project"]) for row in rows if (row["status"], row["platform"]) == (status, platform)}


# --- what is said ---

@pytest.mark.parametrize("status", wanting.STATUSES)
def test_each_requirement_has_its_status(shared, status):
    assert with_status(shared.rows("--all"), status) == wanting.expected(status)


@pytest.mark.parametrize("project", sorted(wanting.EXPECTED))
def test_each_row_says_why(shared, project):
    row, = [row for row in shared.rows("--all", "--python", "3.12", "--platform", JAMMY) if row["project"] == project]
    assert wanting.EXPECTED[project][2] in row["why"]
    assert not row["why"].endswith(".") and "\n" not in row["why"]


def test_rows_need_attention_unless_all_are_asked_for(shared):
    rows, every = shared.rows(), shared.rows("--all")
    assert rows == [row for row in every if row["status"] in wanting.LISTED]
    assert {row["status"] for row in every} > {row["status"] for row in rows}


def test_totals_count_every_row(shared):
    document, every = json.loads(shared.missing("--json")), shared.rows("--all")
    assert {status for status, n in document["totals"].items() if n} == {row["status"] for row in every}
    for one in document["environments"] + [{"platform": None, "totals": document["totals"]}]:
        of_it = [row for row in every if one["platform"] is None or
                 (row["platform"], row["python"]) == (one["platform"], one["python"])]
        assert one["totals"] == {status: sum(row["status"] == status for row in of_it) for status in wanting.STATUSES}


def test_a_row_names_its_branches_and_its_sdist(shared):
    document = json.loads(shared.missing("--json"))
    files = [branch.pop("files") for branch in document["branches"]]
    sha256 = hashlib.sha256(shared.requirements.read_bytes()).hexdigest()
    assert files == [[{"name": "master.txt", "kind": "requirements", "sha256": sha256}], [],
                     [{"name": "master.txt", "kind": "constraints", "sha256": sha256}]]
    assert document["branches"] == [{"name": "master", "until": None, "is_over": False},
                                    {"name": "old", "until": "2020-01-31", "is_over": True},
                                    {"name": "stable", "until": None, "is_over": False}]
    row, = [row for row in document["rows"]
            if (row["platform"], row["python"], row["project"]) == (BOOKWORM, "3.12", "native")]
    assert row["branches"] == ["master", "stable"] and row["attempts"] is None and row["version"] == "1.0"
    assert row["sdist"] == {"filename": "native-1.0.tar.gz", "sha256": "ab" * 32, "size": 1000,
                            "url": shared.upstream.url.replace("simple/", "packages/native-1.0.tar.gz")}
    assert all(type(row["python"]) is str for row in document["rows"])
    assert not [row for row in document["rows"] if row["project"] == "old"]
    assert next(row for row in document["rows"] if row["project"] == "pulled")["version"] is None


def test_the_table_has_totals_and_rows(shared):
    lines = shared.missing("--python", "3.12").splitlines()
    assert lines[0].split() == ["platform", "python", "missing", "failed", "awaiting", "unknown", "impossible", "pure", "here",
                                "upstream", "skipped", "not-wanted"]
    assert lines[1].split() == [JAMMY, "3.12", "3", "0", "0", "1", "3", "1", "1", "1", "2", "1"]
    assert lines[3].split() == ["all", "6", "0", "0", "2", "6", "2", "2", "2", "4", "2"]
    assert "Branch old wants nothing: its last day was 2020-01-31." in lines
    at = lines.index(f"{BOOKWORM}, Python 3.12")
    assert any(re.fullmatch(r"  missing     native 1\.0 +no wheel at all \[master stable\]", line) for line in lines[at:])


def test_a_terminal_is_not_given_control_characters(wanted):
    mark, = (wanted.store / JAMMY / "r" / "removed").glob("*.pruned")
    mark.write_text(json.dumps({"reason": "\x1b[31mred\x9b2J \u202e\u2028\u00e9"}) + "\n")
    wanted.tool("index", "--quiet")
    line, = [line for line in wanted.missing("--all", "--python", "3.12", "--platform", JAMMY).split("\n") if " removed " in line]
    assert "[31mred" in line and "\u00e9" in line
    assert not re.search(r"[\x00-\x1f\x7f-\x9f\u202e\u2028]", line)


# --- options ---

def test_options_choose_branches_platforms_and_pythons(shared):
    assert {row["platform"] for row in shared.rows("--platform", "debian-*")} == {BOOKWORM}
    assert {row["platform"] for row in shared.rows("--platform", "debian-*", "--platform", JAMMY)} == {BOOKWORM, JAMMY}
    assert {row["python"] for row in shared.rows("--python", "3.10")} == {"3.10"}
    stable = json.loads(shared.missing("--json", "--branch", "st*"))
    assert [branch["name"] for branch in stable["branches"]] == ["stable"]
    assert {(row["platform"], row["python"]) for row in stable["rows"]} == {(BOOKWORM, "3.12")}


def test_pure_projects_are_missing_if_asked_for(shared):
    assert with_status(shared.rows("--pure"), "missing") == wanting.expected("missing") | wanting.expected("pure")


def test_json_is_short_for_the_form(shared):
    short, long = (json.loads(shared.missing(*words)) for words in (["--json"], ["--format", "json"]))
    assert {**short, "made": 0} == {**long, "made": 0}


def test_offline_nothing_is_asked_and_nothing_written(wanted):
    asked = []
    answer = wanted.upstream.answer
    wanted.upstream.answer = lambda path: asked.append(path) or answer(path)
    before = wanted.rows()
    assert sorted(asked) == sorted(f"/simple/{project}/" for project in wanting.EXPECTED if project != "gone")
    asked.clear()
    for path in (wanted.catalog, wanted.catalog.parent):
        path.chmod(path.stat().st_mode & 0o555)
    again = wanted.rows("--offline")
    assert not asked
    assert [(row["project"], row["status"]) for row in again] == [(row["project"], row["status"]) for row in before]


def test_without_any_answer_of_upstream_nothing_is_missing(wanted):
    statuses = {row["project"]: row["status"] for row in wanted.rows("--offline", "--all", "--python", "3.12")}
    assert statuses["native"] == statuses["nowhere"] == statuses["theirs"] == "unknown"
    assert statuses["stable-abi"] == "here"


def test_check_ends_with_1_where_a_wheel_is_missing_or_unknown(wanted):
    wanted.missing("--check", "--quiet", code=1)
    wanted.requirements.write_text("stable-abi==1.0\ntheirs==1.0\nnowhere==1.0\nplain==2.0\n")
    wanted.missing("--check")
    wanted.missing("--check", "--pure", code=1)
    wanted.requirements.write_text("flaky==1.0\n")
    totals = json.loads(wanted.missing("--check", "--json", code=1))["totals"]
    assert (totals["unknown"], sum(totals.values())) == (4, 4)


def test_a_file_appears_complete_or_not_at_all(wanted, tmp_path):
    out = tmp_path / "out" / "missing.json"
    out.parent.mkdir()
    assert wanted.missing("--json", "-o", out) == ""
    assert json.loads(out.read_text())["rows"] and os.listdir(out.parent) == ["missing.json"]
    old = out.read_bytes()
    wanted.requirements.write_text("==\n")
    wanted.missing("--json", "-o", out, code=2)
    assert out.read_bytes() == old and os.listdir(out.parent) == ["missing.json"]
    done = wanted.tool("missing", "--branch", "stable", "-o", tmp_path / "none" / "x", code=2)
    assert "master.txt:1" in done.stderr


@pytest.mark.parametrize("make", [lambda path: path.symlink_to("/dev/stdout"), os.mkfifo, os.mkdir])
def test_only_a_file_is_replaced(shared, tmp_path, make):
    make(tmp_path / "out")
    kind = (tmp_path / "out").lstat().st_mode
    assert "no regular file" in shared.tool("missing", "-o", tmp_path / "out", code=2).stderr
    assert (tmp_path / "out").lstat().st_mode == kind and len(os.listdir(tmp_path)) == 1


def test_a_terminal_shows_the_look_ups(shared):
    leader, follower = pty.openpty()
    with contextlib.closing(os.fdopen(leader, "rb", buffering=0)) as screen:
        done = subprocess.run([serving.binary(), "missing", "--config", shared.config], stderr=follower, stdout=subprocess.PIPE,
                              check=True, timeout=60)
        os.close(follower)
        drawn = b""
        with contextlib.suppress(OSError):
            while piece := screen.read(4096):
                drawn += piece
    assert f"{len(wanting.EXPECTED) - 1} of {len(wanting.EXPECTED) - 1} projects looked up".encode() in drawn
    assert drawn.endswith(b"\r\x1b[K") and b"looked up" not in done.stdout


# --- the forms ---

# JSON schemas (draft 2020-12): what strategy.matrix of a workflow takes, and the document of --json.
STRING = {"type": "string", "minLength": 1}
COUNT = {"type": "integer", "minimum": 0}
TOTALS = {"type": "object", "propertyNames": {"enum": list(wanting.STATUSES)}, "additionalProperties": COUNT,
          "minProperties": len(wanting.STATUSES)}


def closed(**properties):
    """An object with exactly these properties."""
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def or_null(schema):
    return {"anyOf": [schema, {"type": "null"}]}


MATRIX = closed(include={
    "type": "array", "maxItems": 256, "uniqueItems": True,
    "items": closed(platform=STRING, python={"type": "string", "pattern": r"^(3\.\d+t?|pp3\d+)$"}, arch=STRING,
                    wheels={"type": "string", "pattern": "^[1-9][0-9]*$"}, requirements=STRING)})
SHA256 = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
TIME = {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$"}
DOCUMENT = closed(
    made=TIME,
    branches={"type": "array", "minItems": 1, "items": closed(
        name=STRING, until=or_null(STRING), is_over={"type": "boolean"},
        files={"type": "array", "items": closed(name=STRING, kind={"enum": ["constraints", "requirements"]}, sha256=SHA256)})},
    environments={"type": "array", "minItems": 1, "items": closed(platform=STRING, python=STRING, totals=TOTALS)},
    totals=TOTALS,
    rows={"type": "array", "items": closed(
        platform=STRING, python=STRING, project=STRING, version=or_null(STRING), status={"enum": list(wanting.STATUSES)},
        why={"type": "string"}, branches={"type": "array", "minItems": 1, "items": STRING},
        sdist=or_null(closed(filename=STRING, url=STRING, sha256=or_null(SHA256),
                             size=or_null(COUNT))),
        attempts=or_null({"type": "object"}))})


def test_the_json_keeps_its_schema(shared):
    for options in ["--json"], ["--json", "--all"]:
        jsonschema.validate(json.loads(shared.missing(*options)), DOCUMENT)


def github(text):
    """The matrix of two lines for $GITHUB_OUTPUT, checked strictly as fromJSON and strategy.matrix take it."""
    first, second, end = text.split("\n")
    name, _, value = first.partition("=")
    assert (name, end) == ("matrix", "")
    matrix = json.loads(value)
    jsonschema.validate(matrix, MATRIX)
    assert second == f"count={len(matrix['include'])}"
    assert len(value.encode("utf-16-le")) // 2 <= 450_000
    return matrix["include"]


def test_the_matrix_of_github_equals_the_json(shared):
    entries = github(shared.missing("--format", "github"))
    assert {(one["platform"], one["python"]): one["requirements"].split() for one in entries} == wanting.group(shared.rows())
    assert len({(one["platform"], one["python"]) for one in entries}) == len(entries)
    assert all(one["arch"] == "x86_64" and one["wheels"] == str(len(one["requirements"].split())) for one in entries)


def cells_of_jenkins(job):
    """The cells that a matrix job runs: the product of the axes, filtered by rules whose values match whole strings."""
    axes = job["matrix"]["axes"]
    product = [{}]
    for name, values in axes.items():
        assert len(set(values)) == len(values) and all(type(value) is str for value in values)
        product = [{**cell, name: value} for cell in product for value in values]
    return [cell for cell in product
            if any(all(re.fullmatch(rule[name], cell[name]) for name in rule) for rule in job["matrix"]["include"])]


def test_the_matrix_of_jenkins_equals_the_json(shared):
    job = yaml.safe_load(shared.missing("--format", "jenkins"))
    assert set(job) == {"job", "timeout_minutes", "failFast", "taskName", "matrix", "steps"}
    assert job["timeout_minutes"] == 240 and job["failFast"] is False
    cells = cells_of_jenkins(job)
    assert {(one["platform"], one["python"]): one["requirements"].split() for one in cells} == wanting.group(shared.rows())
    names = [re.sub(r"\$\{(\w+)\}", lambda found, cell=cell: cell[found[1]], job["taskName"]) for cell in cells]
    assert len(set(names)) == len(names) == len(job["matrix"]["include"])
    assert job["steps"] == [{"name": "build", "run": "wheelcache build --platform $platform --python $python"}]


def test_the_jobs_of_zuul_equal_the_json(shared):
    document = yaml.safe_load(shared.missing("--format", "zuul"))
    assert set(document) == {"jobs", "child_jobs"}
    jobs = [one["job"] for one in document["jobs"]]
    assert [job["name"] for job in jobs] == document["child_jobs"] == [f"wheelcache-build-{name}" for name in (JAMMY, BOOKWORM)]
    listed = {(job["vars"]["wheelcache_platform"], one["python"]): one["requirements"]
              for job in jobs for one in job["vars"]["wheelcache_missing"]}
    assert listed == wanting.group(shared.rows())


def test_requirements_are_lines_for_pip(shared):
    lines = shared.missing("--format", "requirements").splitlines()
    assert lines == sorted({one for all_of_it in wanting.group(shared.rows()).values() for one in all_of_it})
    pins = {(one.name, one.specifier) for one in map(packaging.requirements.Requirement, lines)}
    assert pins == {(row["project"], packaging.specifiers.SpecifierSet(f"=={row['version']}"))
                    for row in shared.rows() if row["status"] == "missing"}


def test_a_version_is_never_a_number(wanted):
    wanted.requirements.write_text("native==1.10\n")
    wanted.upstream.add("native", "native-1.10.tar.gz")
    job = yaml.safe_load(wanted.missing("--format", "jenkins"))
    assert job["matrix"]["axes"]["python"] == ["3.10", "3.12"]
    assert job["matrix"]["include"][0] == {"platform": "ubuntu-22\\.04-x86_64", "python": "3\\.10",
                                           "requirements": "native==1\\.10"}


@pytest.mark.parametrize("form", ["github", "jenkins", "zuul", "requirements"])
def test_shards_are_parts_of_the_whole(shared, form):
    read = {"github": github, "requirements": str.splitlines}.get(form, yaml.safe_load)

    def found(*words):
        return re.findall(r"[\w-]+==[\w.]+", json.dumps(read(shared.missing("--format", form, *words))).replace("\\\\", ""))

    parts = [found("--shard", f"{k}/3") for k in (1, 2, 3)]
    assert sorted(one for part in parts for one in part) == sorted(found())
    projects = [{one.partition("==")[0] for one in part} for part in parts]
    assert not projects[0] & projects[1] and not projects[1] & projects[2] and not projects[0] & projects[2]


def test_nothing_missing_is_an_empty_matrix(wanted):
    wanted.requirements.write_text("stable-abi==1.0\n")
    assert github(wanted.missing("--format", "github")) == []
    assert not cells_of_jenkins(yaml.safe_load(wanted.missing("--format", "jenkins")))
    assert yaml.safe_load(wanted.missing("--format", "zuul")) == {"jobs": [], "child_jobs": []}
    assert wanted.missing("--format", "requirements") == ""


def test_what_is_too_much_for_github_says_which_shards_fit(wanted):
    names = [f"project-{number:05}-{'long' * 30}" for number in range(1000)]
    wanted.requirements.write_text("".join(f"{name}==1.0\n" for name in names))
    for name in names:
        wanted.upstream.add(name, f"{name}-1.0.tar.gz")
    done = wanted.tool("missing", "--format", "github", "--quiet", code=1)
    fit = int(re.search(r"--shard K/(\d+) fits", done.stderr)[1])
    assert 2 <= fit <= 4 and done.stdout == ""
    parts = [github(wanted.missing("--offline", "--format", "github", "--shard", f"{k}/{fit}")) for k in range(1, fit + 1)]
    assert sum(int(entry["wheels"]) for part in parts for entry in part) == 4000


# --- errors ---

@pytest.mark.parametrize("words, says", [
    (["--format", "yaml"], "--format yaml: expected table, json,"),
    (["--json", "--format", "github"], "--json excludes --format github"),
    (["--format", "github", "--shard", "3/2"], "3/2: not a shard"),
    (["--format", "github", "--shard", "x"], "x: not a shard"),
    (["--shard", "1/2"], "--shard cannot be combined with --format table"),
    (["--format", "zuul", "--all"], "--all cannot be combined with --format zuul"),
    (["--python", "three"], "--python three: not a version of Python"),
    (["--branch", "none*"], "no [branch] is named none*"),
    (["--platform", "none*"], "no branch has such a platform and Python"),
    (["--python", "3.9"], "no branch has such a platform and Python"),
    (["--nonsense"], "--nonsense is not an option"),
    (["a", "b"], ""),
])
def test_a_wrong_command_line_is_an_error_of_usage(shared, words, says):
    done = shared.tool("missing", *words, code=2)
    assert says in done.stderr and not done.stdout


@pytest.mark.parametrize("text, says", [
    ("native==1.0\n=\n", "master.txt:2: "),
    ("native==1.0 ; python_version >\n", "master.txt:1: "),
    ("# only a comment\n", "master.txt: it has no line"),
    ("-r none.txt\n", "master.txt:1: "),
])
def test_an_error_names_file_and_line(wanted, text, says):
    wanted.requirements.write_text(text)
    done = wanted.tool("missing", code=2)
    assert says in done.stderr and not done.stdout


def test_without_a_branch_nothing_can_be_said(wanted):
    wanted.configure(branches="")
    assert "the configuration has no [branch]" in wanted.tool("missing", code=2).stderr
    wanted.configure(branches=f"[branch master]\nrequirements = {wanted.folder}/none*.txt\n")
    assert f"no file matches {wanted.folder}/none*.txt" in wanted.tool("missing", code=2).stderr
