# SPDX-License-Identifier: Apache-2.0
"""wheelcache missing --lock: what a lock names, and what clients of each platform get for it."""
import hashlib
import json
import pathlib
import shutil
import sys

import pytest

import indexing
import memberships
import serving
import storelib
import tinyupstream

PLATFORM, OTHER = "ubuntu-22.04-x86_64", "debian-12-aarch64"
LOCKS = pathlib.Path(__file__).parents[1] / "data/locks"
LINUX = "cp310-cp310-manylinux_2_17_x86_64"


class Locked(indexing.Indexed):
    """Ours: here 1.0 with the lock's bytes, other 1.0 with other ones. Upstream: theirs 1.0, and wrong 1.0 with other bytes."""

    def __init__(self, folder, upstream):
        super().__init__(folder)
        self.config, self.locks = folder / "wheelcache.conf", folder
        sections = "".join(f"[platform {one}]\npythons = 3.10 3.11\n" for one in (PLATFORM, OTHER))
        self.config.write_text(f"[store]\npath = {self.store}\n[catalog]\npath = {self.catalog}\n{sections}"
                               f"[upstream]\nurl = {upstream.url}\nretries = 0\n")
        self.sha256 = {}
        for platform in (PLATFORM, OTHER):
            (self.store / platform).mkdir(parents=True, exist_ok=True)
        for project, tag in (("here", "py3-none-any"), ("other", "py3-none-any"), ("native", LINUX)):
            wheel = storelib.make_wheel(self.store / PLATFORM / project, project, "1.0", tag)
            self.sha256[project] = wheel.sha256
        upstream.add("theirs", "theirs-1.0-py3-none-any.whl", sha256="a" * 64)
        upstream.add("wrong", "wrong-1.0-py3-none-any.whl", sha256="b" * 64)
        done = serving.run("index", "--quiet", "--config", self.config)
        assert done.returncode == 0, done.stderr

    def write(self, text, name="some.lock"):
        (self.locks / name).write_text(text)
        return self.locks / name

    def uv(self, projects, more="", dependencies=None):
        """A uv.lock of these projects: name: (file, sha256)."""
        packages = "".join(
            f'[[package]]\nname = "{name}"\nversion = "1.0"\nsource = {{ registry = "https://pypi.org/simple" }}\nwheels = [\n'
            + "".join(f'    {{ url = "https://files.pythonhosted.org/x/{file}", hash = "sha256:{sha256}", size = 10 }},\n'
                      for file, sha256 in files) + "]\n" for name, files in projects.items())
        wants = dependencies if dependencies is not None else "".join(f'    {{ name = "{name}" }},\n' for name in projects)
        return self.write('version = 1\nrequires-python = ">=3.9"\n' + packages +
                          f'[[package]]\nname = "app"\nversion = "0"\nsource = {{ virtual = "." }}\ndependencies = [\n{wants}]\n{more}')

    def missing(self, *options, code=0):
        done = serving.run("missing", "--config", self.config, "--quiet", *options)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout

    def rows(self, *options, **how):
        return json.loads(self.missing("--json", *options, **how))["rows"]


@pytest.fixture(name="upstream")
def upstream_fixture():
    with tinyupstream.running() as upstream:
        yield upstream


@pytest.fixture(name="at")
def at_fixture(tmp_path, upstream):
    return Locked(tmp_path, upstream)


def pure(project):
    return f"{project}-1.0-py3-none-any.whl"


def full(at):
    return at.uv({"here": [(pure("here"), at.sha256["here"])], "other": [(pure("other"), "c" * 64)],
                  "theirs": [(pure("theirs"), "a" * 64)], "wrong": [(pure("wrong"), "c" * 64)], "absent": [(pure("absent"), "d" * 64)]})


def test_each_file_has_its_status(at):
    lock = full(at)
    rows = {row["filename"]: row for row in at.rows("--platform", PLATFORM, "--lock", lock)}
    assert {name.split("-")[0]: row["status"] for name, row in rows.items()} == {
        "here": "here", "other": "other-bytes", "theirs": "upstream", "wrong": "other-bytes", "absent": "missing"}
    row = rows[pure("other")]
    assert f"our file of this name has the SHA-256 {at.sha256['other']}" in row["why"]
    assert "upstream's file of this name" in rows[pure("wrong")]["why"]
    line = 1 + [n for n, text in enumerate(lock.read_text().splitlines()) if pure("other") in text][0]
    assert row == {"lock": str(lock), "line": line, "platform": PLATFORM, "pythons": ["3.10", "3.11"], "project": "other",
                   "version": "1.0", "filename": pure("other"), "sha256": "c" * 64, "wanted": True, "status": "other-bytes",
                   "why": row["why"]}


def test_another_platform_does_not_have_it(at):
    rows = at.rows("--lock", full(at))
    assert {row["platform"] for row in rows} == {PLATFORM, OTHER}
    assert next(row for row in rows if (row["platform"], row["project"]) == (OTHER, "here"))["status"] == "missing"


def test_check_and_the_table(at):
    lock = full(at)
    text = at.missing("--check", "--platform", PLATFORM, "--lock", lock, code=1)
    assert text.startswith(f"{lock}, {PLATFORM}: 1 here, 1 upstream, 0 cooling, 0 unknown, 1 missing, 2 other-bytes\n")
    assert f"  missing      {pure('absent')}  Python 3.10 3.11: no file of this name is here" in text
    assert pure("here") not in text and pure("here") in at.missing("--all", "--platform", PLATFORM, "--lock", lock)
    good = at.uv({"here": [(pure("here"), at.sha256["here"])]})
    at.missing("--check", "--platform", PLATFORM, "--lock", good)


def test_upstream_out_of_reach_is_unknown(at, upstream):
    upstream.is_down = True
    rows = {row["project"]: row["status"] for row in at.rows("--platform", PLATFORM, "--lock", full(at))}
    assert rows == {"here": "here", "other": "other-bytes", "theirs": "unknown", "wrong": "unknown", "absent": "unknown"}


def test_only_files_that_install_have_rows_and_the_best_is_wanted(at):
    files = [("native-1.0-cp310-cp310-win_amd64.whl", "1" * 64), (f"native-1.0-{LINUX}.whl", at.sha256["native"]),
             (pure("native"), "2" * 64), ("native-1.0.tar.gz", "3" * 64)]
    rows = {row["filename"]: row for row in at.rows("--platform", PLATFORM, "--lock", at.uv({"native": files}))}
    assert {name: (row["pythons"], row["wanted"]) for name, row in rows.items()} == {
        f"native-1.0-{LINUX}.whl": (["3.10"], True), pure("native"): (["3.10", "3.11"], True),
        "native-1.0.tar.gz": (["3.10", "3.11"], False)}
    rows = at.rows("--python", "3.11", "--platform", PLATFORM, "--lock", at.uv({"native": files}))
    assert [row["pythons"] for row in rows] == [["3.11"]] * 2


def test_markers_extras_and_groups_decide(at):
    one = {name: [(pure(name), "1" * 64)] for name in ("a", "b", "c", "d", "e")}
    lock = at.uv(one, dependencies='    { name = "a", marker = "python_full_version < \'3.11\'" },\n'
                                   '    { name = "b", marker = "sys_platform == \'win32\'" },\n',
                 more='[package.optional-dependencies]\nx = [{ name = "c" }]\n[package.dev-dependencies]\n'
                      'dev = [{ name = "d" }]\ndocs = [{ name = "e" }]\n')

    def wanted(*options):
        return {row["project"]: row["pythons"] for row in at.rows("--platform", PLATFORM, *options, "--lock", lock)}
    both = ["3.10", "3.11"]
    assert wanted() == {"a": ["3.10"], "c": both, "d": both, "e": both}
    assert wanted("--no-dev") == {"a": ["3.10"], "c": both}
    assert wanted("--group", "docs") == {"a": ["3.10"], "c": both, "e": both}
    assert wanted("--no-dev", "--extra", "x") == {"a": ["3.10"], "c": both}
    for options, why in ((("--extra", "y"), "no lock has the extra y; there is x"),
                         (("--group", "dos"), "no lock has the group dos; did you mean docs?")):
        done = serving.run("missing", "--config", at.config, "--platform", PLATFORM, *options, "--lock", lock)
        assert done.returncode == 2 and why in done.stderr


def test_hashes_without_names(at):
    lock = at.write(f"here==1.0 --hash=sha256:{at.sha256['here']}\nother==1.0 --hash=sha256:{'c' * 64}\n"
                    f"theirs==1.0 --hash=sha256:{'a' * 64} --hash=sha256:{'e' * 64}\nabsent==1.0 --hash=sha256:{'d' * 64}\n"
                    "-e .\n")
    rows = {row["project"]: row for row in at.rows("--platform", PLATFORM, "--lock", lock)}
    assert {name: (row["status"], row["filename"]) for name, row in rows.items()} == {
        "here": ("here", pure("here")), "other": ("other-bytes", None), "theirs": ("upstream", pure("theirs")),
        "absent": ("missing", None)}
    assert [row["line"] for row in rows.values()] == [1, 2, 3, 4]
    assert json.loads(at.missing("--json", "--lock", lock))["skipped"] == 1


def test_without_a_sha256_the_name_counts(at):
    lock = at.write('[[package]]\nname = "here"\nversion = "1.0"\ngroups = ["main"]\n'
                    f'files = [{{file = "{pure("here")}", hash = "md5:00"}}]\n[metadata]\nlock-version = "2.1"\n')
    row, = at.rows("--platform", PLATFORM, "--lock", lock)
    assert (row["status"], row["sha256"], row["why"]) == ("here", None, "judged by its name: the lock has no SHA-256")


@pytest.mark.parametrize("name", sorted(path.name for path in LOCKS.iterdir()))
def test_real_locks(at, name):
    """Of these locks nothing is here; each that has files of psutil wants one that installs there."""
    rows = at.rows("--platform", PLATFORM, "--lock", LOCKS / name)
    assert {row["status"] for row in rows} == {"missing"}
    assert {row["project"] for row in rows if row["wanted"]} >= {"psutil", "six", "click", "iniconfig"}
    assert not [row for row in rows if row["filename"] and ("win" in row["filename"] or "macosx" in row["filename"])]
    assert not [row for row in rows if row["project"] == "colorama"]
    if name not in ("Pipfile.lock",):
        assert [row["pythons"] for row in rows if row["project"] == "exceptiongroup" and row["wanted"]] == [["3.10"]]


def test_several_locks_and_a_store(at):
    one, two = full(at), at.write(f"here==1.0 --hash=sha256:{at.sha256['here']}\n", "two.txt")
    done = serving.run("missing", "--json", "--quiet", "--offline", "--catalog", at.catalog, "--lock", one, two, at.store)
    assert done.returncode == 0, done.stderr
    assert {row["lock"] for row in json.loads(done.stdout)["rows"]} == {str(one), str(two)}


@pytest.mark.parametrize("options, why", [
    (["--group", "x"], "--group, --extra and --no-dev are for --lock"),
    (["--format", "github", "--lock", "x"], "--lock cannot be combined with --format github"),
    (["--branch", "x", "--lock", "x"], "--lock cannot be combined with --branch"),
    (["--no-dev", "--group", "x", "--lock", "x"], "--group and --no-dev exclude each other"),
])
def test_options_that_do_not_go_together(at, options, why):
    done = serving.run("missing", "--config", at.config, *options)
    assert done.returncode == 2 and why in done.stderr


def test_a_broken_lock_is_an_error(at):
    lock = at.write("here==1.0 --hash=sha256:00\n")
    done = serving.run("missing", "--config", at.config, "--quiet", "--lock", lock)
    assert done.returncode == 1 and f'{lock}:1: "sha256:00" is no SHA-256' in done.stderr and not done.stdout


def test_a_lock_that_was_made_of_the_store_is_here(at):
    """What is hashed here is found here."""
    wheel = at.store / PLATFORM / "here" / pure("here")
    lock = at.uv({"here": [(wheel.name, hashlib.sha256(wheel.read_bytes()).hexdigest())]})
    assert [row["status"] for row in at.rows("--offline", "--platform", PLATFORM, "--lock", lock)] == ["here"]


def test_a_lock_of_uv_fails_where_it_is_said_to_fail(at, serve, client):
    """uv locks with our server; then the file has other bytes."""
    server = serve(at.store)
    project = at.locks / "project"
    project.mkdir()
    (project / "pyproject.toml").write_text('[project]\nname = "app"\nversion = "0"\nrequires-python = ">=3.10"\n'
                                            'dependencies = ["here==1.0"]\n')
    uv = client("uv==0.13.9")
    uv.run("uv", "lock", "--default-index", f"{server.url}/{PLATFORM}/simple/", "--python", sys.executable, cwd=project)
    lock = project / "uv.lock"
    rows = at.rows("--offline", "--platform", PLATFORM, "--lock", lock)
    assert [(row["filename"], row["status"], row["wanted"]) for row in rows] == [(pure("here"), "here", True)]
    sync = ("uv", "sync", "--frozen", "--no-cache", "--python", sys.executable)
    uv.run(*sync, cwd=project)

    folder = at.store / PLATFORM / "here"
    (folder / pure("here")).unlink()
    storelib.make_wheel(folder, "here", "1.0", requires_python=">=3.8")
    assert serving.run("index", "--quiet", "--config", at.config).returncode == 0
    row, = at.rows("--offline", "--platform", PLATFORM, "--check", "--lock", lock, code=1)
    assert (row["status"], row["sha256"]) == ("other-bytes", at.sha256["here"])
    shutil.rmtree(project / ".venv")
    served = f"/files/{PLATFORM}/here/{pure('here')}"  # a file that is open is sent for a second
    serving.wait_for(lambda: hashlib.sha256(server.get(served).body).hexdigest() != at.sha256["here"], 30, "the other bytes")
    uv.run(*sync, cwd=project, code=1)


# --- the locks of a branch ---

def branch_rows(at, *options):
    rows = json.loads(at.missing("--json", "--all", "--platform", PLATFORM, *options))["rows"]
    return {(row["python"], row["project"], row["version"]): row for row in rows}


def test_a_branch_wants_what_its_locks_pin(at, upstream):
    upstream.add("absent", "absent-1.0.tar.gz", sha256="d" * 64)
    lock = at.uv({"here": [(pure("here"), at.sha256["here"])], "absent": [("absent-1.0.tar.gz", "d" * 64)], "theirs": []},
                 dependencies='    { name = "here" },\n    { name = "absent", marker = "python_full_version < \'3.11\'" },\n'
                              '    { name = "theirs", marker = "sys_platform == \'win32\'" },\n')
    at.config.write_text(at.config.read_text() + f"[branch app]\nlocks = {lock}\n")
    rows = branch_rows(at, "--pure")
    assert {key: row["status"] for key, row in rows.items()} == {
        ("3.10", "here", "1.0"): "here", ("3.11", "here", "1.0"): "here", ("3.10", "absent", "1.0"): "missing"}
    files, = [branch["files"] for branch in json.loads(at.missing("--json"))["branches"]]
    assert files == [{"name": "some.lock", "kind": "lock", "sha256": hashlib.sha256(lock.read_bytes()).hexdigest()}]


def test_locks_of_several_projects_do_not_exclude_each_other(at, upstream):
    upstream.add("theirs", "theirs-2.0-py3-none-any.whl", sha256="e" * 64)
    for version in ("1.0", "2.0"):
        at.write(f"theirs=={version} --hash=sha256:{'a' * 64}\n", f"{version}.txt")
    requirements = at.write("here\n", "here.in")
    at.config.write_text(at.config.read_text() + f"[branch app]\nlocks = {at.locks}/?.0.txt\nrequirements = {requirements}\n")
    assert {(project, version): row["status"] for (_, project, version), row in branch_rows(at).items()} == {
        ("theirs", "1.0"): "upstream", ("theirs", "2.0"): "upstream", ("here", "1.0"): "here"}


@pytest.mark.parametrize("value, why", [("{}/none.lock", "none.lock"), ("{}/*.none", "no file matches"),
                                        ("{}/broken.lock", 'broken.lock:1: "sha256:0" is no SHA-256')])
def test_a_lock_of_a_branch_that_cannot_be_read_is_an_error(at, value, why):
    at.write("a==1 --hash=sha256:0\n", "broken.lock")
    at.config.write_text(at.config.read_text() + f"[branch app]\nlocks = {value.format(at.locks)}\n")
    for command in (("missing",), ("prune", "plan")):
        done = serving.run(*command, "--config", at.config)
        assert done.returncode and "[branch app] locks: " in done.stderr and why in done.stderr


def test_view_counts_only_the_wheels_that_it_shows(at):
    """A view with a membership: what is not a member is missing for its clients, and the row says that it is here."""
    at.config.write_text(at.config.read_text() + f"[view all]\nplatforms = {PLATFORM}\n"
                         f"[view tested]\nplatforms = {PLATFORM}\nfrom = all\n")
    wheel = storelib.make_wheel(at.store / PLATFORM / "shown", "shown", "1.0")
    memberships.append(at.store, "tested", [(PLATFORM, wheel)])
    assert serving.run("index", "--quiet", "--config", at.config).returncode == 0
    lock = at.uv({"here": [(pure("here"), at.sha256["here"])], "shown": [(pure("shown"), wheel.sha256)]})

    def status(*options):
        return {row["project"]: (row["status"], row["why"]) for row in at.rows(*options, "--lock", lock)}
    assert status("--platform", PLATFORM) == status("--view", "all") == {"here": ("here", ""), "shown": ("here", "")}
    assert status("--view", "tested") == {
        "shown": ("here", ""), "here": ("missing", "our file of this name is here, but the view tested does not show it")}
    lock = at.write(f"here==1.0 --hash=sha256:{at.sha256['here']}\nshown==1.0 --hash=sha256:{wheel.sha256}\n")
    assert {name: one[0] for name, one in status("--view", "tested").items()} == {"here": "missing", "shown": "here"}
    at.missing("--check", "--view", "tested", "--lock", lock, code=1)
