# SPDX-License-Identifier: Apache-2.0
"""What platforms offer (`wheelcache provides`), which wheels no longer work with it (`wheelcache rebuilds`), and how they
are built again."""
import contextlib
import dataclasses
import json
import pathlib
import platform
import shutil
import subprocess
import sys
import zipfile

import building
import clients
import indexing
import pytest
import roots
import serving
import uploading
from elfmaker import elf, module, native_wheel
from indexing import PLATFORM

CORPUS = clients.SHARED / "corpus/locally-built"
PYTHON = f"{sys.version_info[0]}.{sys.version_info[1]}"
CP = f"cp{sys.version_info[0]}{sys.version_info[1]}"
LIBRARIES = "lib/x86_64-linux-gnu"

LIBC = elf(soname="libc.so.6", defines=("GLIBC_2.2.5", "GLIBC_2.34"), exports=("puts@GLIBC_2.2.5",))
BEFORE = {
    "libc.so.6": LIBC,
    "libre2.so.9.0.0": elf(soname="libre2.so.9", needed=("libdeep.so.1",), exports=("match",)),
    "libdeep.so.1": elf(soname="libdeep.so.1", exports=("deep",)),
    "libldap-2.5.so.0": elf(soname="libldap-2.5.so.0", defines=("OPENLDAP_2.5",), exports=("ldap_init@OPENLDAP_2.5",)),
    "libssl.so.3": elf(soname="libssl.so.3", defines=("OPENSSL_3.0.0", "OPENSSL_3.2.0"),
                       exports=("SSL_new@OPENSSL_3.0.0", "SSL_read@OPENSSL_3.0.0", "SSL_next@OPENSSL_3.2.0")),
    "libplain.so.1": elf(soname="libplain.so.1", exports=("kept", "lost")),
    "libgone.so.1": elf(soname="libgone.so.1"),
}
AFTER = {
    "libc.so.6": LIBC,
    "libre2.so.11.0.0": elf(soname="libre2.so.11", needed=("libdeep.so.1",), exports=("match",)),
    "libdeep.so.1": BEFORE["libdeep.so.1"],
    "libldap.so.2": elf(soname="libldap.so.2", defines=("OPENLDAP_2.200",), exports=("ldap_init@OPENLDAP_2.200",)),
    "libssl.so.3": elf(soname="libssl.so.3", defines=("OPENSSL_3.0.0",), exports=("SSL_new@OPENSSL_3.0.0",)),
    "libplain.so.1": elf(soname="libplain.so.1", exports=("kept",)),
}
NEW = {"soname-gone", "version-gone", "symbol-gone"}


def re2(**facts):
    return module(needed=("libc.so.6", "libre2.so.9"), versions={"libc.so.6": ("GLIBC_2.34",)}, **facts)


def ssl(*imports, versions=("OPENSSL_3.0.0",)):
    return module(needed=("libssl.so.3",), versions={"libssl.so.3": versions}, imports=imports)


# project: (members, state after the upgrade, why). Before it all of them fit.
WHEELS = {
    "re2-user": ({"m.so": re2(imports=("match", "PyErr_Occurred"), weak=("__gmon_start__",))}, "soname-gone",
                 "libre2.so.9 is gone; libre2.so.11 is there"),
    "re2-bundled": ({"m.so": re2(rpath="$ORIGIN/re2_bundled.libs"), "re2_bundled.libs/libre2.so.9": BEFORE["libre2.so.9.0.0"]},
                    "fits", ""),
    "ldap-user": ({"m.so": module(needed=("libldap-2.5.so.0",), versions={"libldap-2.5.so.0": ("OPENLDAP_2.5",)},
                                  imports=("ldap_init@OPENLDAP_2.5",))}, "soname-gone",
                  "libldap-2.5.so.0 is gone; libldap.so.2 is there"),
    "gone-user": ({"m.so": module(needed=("libgone.so.1",))}, "soname-gone", "libgone.so.1 is gone; nothing replaces it"),
    "ssl-kept": ({"m.so": ssl("SSL_new@OPENSSL_3.0.0")}, "fits", ""),
    "ssl-version": ({"m.so": ssl("SSL_next@OPENSSL_3.2.0", versions=("OPENSSL_3.2.0",))}, "version-gone",
                    "libssl.so.3 does not define version OPENSSL_3.2.0"),
    "ssl-symbol": ({"m.so": ssl("SSL_new@OPENSSL_3.0.0", "SSL_read@OPENSSL_3.0.0")}, "symbol-gone",
                   "libssl.so.3 does not define SSL_read@OPENSSL_3.0.0"),
    "plain-kept": ({"m.so": module(needed=("libplain.so.1",), imports=("kept", "deep")),
                    "n.so": module(needed=("libplain.so.1", "libdeep.so.1"), imports=("kept", "deep"))}, "fits", ""),
    "plain-lost": ({"m.so": module(needed=("libplain.so.1",), imports=("kept", "lost"))}, "symbol-gone",
                   "libplain.so.1 does not define lost"),
    "pure": ({"pure.py": b""}, "fits", ""),
}
# Of these the facts do not tell, before and after.
UNKNOWN = {
    "other-arch": ({"m.so": elf(machine="aarch64", needed=("libre2.so.9",))},
                   "none of its ELF files is for the architecture of the platform's libraries"),
    "other-package": ({"m.so": module(needed=("libtorch.so",), rpath="$ORIGIN/torch/lib")},
                      "libtorch.so: it may be in another package"),
    "torn": ({"m.so": LIBC[:300]}, "m.so: damaged ELF"),
}


def make_root(folder, libraries):
    """A root of made libraries, each in a place where the loader finds it."""
    for name, data in libraries.items():
        path = folder / LIBRARIES / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return folder


@dataclasses.dataclass
class Upgrade:
    """A store with wheels, and the roots of its platform before and after an upgrade."""
    indexed: indexing.Indexed
    before: pathlib.Path
    after: pathlib.Path

    def run(self, *options, code=0):
        done = serving.run("rebuilds", "--catalog", self.indexed.catalog, *options, self.indexed.store)
        assert done.returncode == code, done.stdout + done.stderr
        return done

    def rows(self, *options):
        """{file name: row} of the JSON document."""
        doc = json.loads(self.run("--json", *options).stdout)
        assert sum(doc["totals"].values()) >= len(doc["rows"])
        return {row["filename"]: row for row in doc["rows"]}


@pytest.fixture
def upgrade(tmp_path):
    made = Upgrade(indexing.Indexed(tmp_path), make_root(tmp_path / "before", BEFORE), make_root(tmp_path / "after", AFTER))
    for project, (files, *_) in {**WHEELS, **UNKNOWN}.items():
        native_wheel(made.indexed.store / PLATFORM, project, "1.0", f"{CP}-{CP}-linux_x86_64", files)
    made.indexed.index()
    return made


def wheel_of(project, build=""):
    return f"{project.replace('-', '_')}-1.0-{build}{CP}-{CP}-linux_x86_64.whl"


# --- the list ---

def test_the_list_is_exact(upgrade):
    before, after = upgrade.rows("--all", "--against", upgrade.before), upgrade.rows("--all", "--against", upgrade.after)
    assert {row["project"]: row["state"] for row in before.values()} == \
        {**dict.fromkeys(WHEELS, "fits"), **dict.fromkeys(UNKNOWN, "unknown")}
    assert {row["project"]: (row["state"], row["why"]) for row in after.values() if row["project"] in WHEELS} == \
        {project: (state, why) for project, (_, state, why) in WHEELS.items()}
    for project, (_, why) in UNKNOWN.items():
        assert after[wheel_of(project)]["state"] == "unknown" and why in after[wheel_of(project)]["why"]
    reason = {"state": "soname-gone", "member": "m.so", "library": "libre2.so.9", "detail": None, "instead": "libre2.so.11"}
    assert after[wheel_of("re2-user")]["reasons"] == [reason]
    wanted = sorted(project for project, (_, state, _) in WHEELS.items() if state in NEW)
    rows = upgrade.rows("--against", upgrade.after)
    assert sorted(row["project"] for row in rows.values() if row["state"] in NEW) == wanted
    requirements = upgrade.run("--against", upgrade.after, "--format", "requirements").stdout
    assert requirements.splitlines() == [f"{project}==1.0" for project in wanted]
    table = upgrade.run("--against", upgrade.after).stdout
    assert table.startswith(f"{PLATFORM}: 3 soname-gone, 1 version-gone, 2 symbol-gone, 3 unknown, 4 fits\n")
    assert [line.split()[1] for line in table.splitlines() if line.startswith("  ")] == [wheel_of(one) for one in wanted]


def test_check_says_by_its_exit_code_whether_there_is_work(upgrade):
    upgrade.run("--check", "--against", upgrade.before)
    upgrade.run("--check", "--against", upgrade.after, code=1)


def test_a_root_that_says_nothing_is_an_error(upgrade, tmp_path):
    (tmp_path / "empty").mkdir()
    make_root(tmp_path / "part", {"libre2.so.11": AFTER["libre2.so.11.0.0"]})
    (tmp_path / "list").write_text("wheelcache-provides 1 1 2\nlibrary x86_64 a.so a.so\n")
    for path, words in (("empty", "no library"), ("part", "no C library"), ("absent", "No such file"), ("list", "it was cut")):
        assert words in upgrade.run("--against", tmp_path / path, code=1).stderr
    assert "[platform] provides" in upgrade.run(code=2).stderr
    assert "the store has no platform sles-*" in upgrade.run("--against", upgrade.after, "--platform", "sles-*", code=2).stderr
    assert "--yank" in upgrade.run("--against", upgrade.after, "--dry-run", code=2).stderr


def test_a_list_says_what_the_root_says(upgrade, tmp_path):
    expected = upgrade.run("--against", upgrade.after, "--all").stdout
    made = serving.run("provides", upgrade.after)
    path = tmp_path / "after.list"
    path.write_text(made.stdout)
    assert made.returncode == 0 and made.stdout == serving.run("provides", path).stdout
    assert "library x86_64 libre2.so.11 lib/x86_64-linux-gnu/libre2.so.11.0.0\nname libre2.so.11\n" in made.stdout
    config = tmp_path / "wheelcache.conf"
    config.write_text(f"[store]\npath = {upgrade.indexed.store}\n[platform {PLATFORM}]\nprovides = {path}\n")
    done = serving.run("rebuilds", "--config", config, "--catalog", upgrade.indexed.catalog, "--all")
    assert (done.returncode, done.stdout) == (0, expected)


def test_only_a_platform_of_which_something_is_known_is_judged(upgrade, tmp_path):
    other = "debian-13-x86_64"
    shutil.copytree(upgrade.indexed.store / PLATFORM, upgrade.indexed.store / other)
    upgrade.indexed.index()
    config = tmp_path / "wheelcache.conf"
    config.write_text(f"[store]\npath = {upgrade.indexed.store}\n[platform {PLATFORM}]\n"
                      f"[platform {other}]\nprovides = {upgrade.after}\n")
    done = serving.run("rebuilds", "--config", config, "--catalog", upgrade.indexed.catalog, "--json")
    doc = json.loads(done.stdout)
    assert [(one["platform"], one["totals"]["unknown"]) for one in doc["platforms"]] == \
        [(PLATFORM, len(WHEELS) + len(UNKNOWN)), (other, len(UNKNOWN))]
    assert {row["platform"] for row in doc["rows"] if row["state"] in NEW} == {other}


def test_what_a_rule_allows_may_be_absent(upgrade, tmp_path):
    policy = tmp_path / "policy"
    policy.write_text("[rule driver]\nallow = library libgone.so.*\nproject = gone-*\n")
    rows = upgrade.rows("--against", upgrade.after, "--policy", policy)
    assert wheel_of("gone-user") not in rows and wheel_of("re2-user") in rows
    upgrade.run("--against", upgrade.after, "--policy", tmp_path / "none", code=2)


def test_names_from_wheels_cannot_command_a_terminal(upgrade):
    soname = "lib\x1b[31m\u009b1m.so.1"
    native_wheel(upgrade.indexed.store / PLATFORM, "evil", "1.0", f"{CP}-{CP}-linux_x86_64",
                 {"m.so": module(needed=(soname,))})
    upgrade.indexed.index()
    assert "lib?[31m?1m.so.1 is gone" in upgrade.run("--against", upgrade.after).stdout
    assert upgrade.rows("--against", upgrade.after)[wheel_of("evil")]["reasons"][0]["library"] == soname


# --- yanks ---

def test_yank_marks_what_no_longer_works(upgrade):
    options = ["--against", upgrade.after, "--yank"]
    wanted = sorted(wheel_of(project) for project, (_, state, _) in WHEELS.items() if state in NEW)
    folder, log = upgrade.indexed.store / PLATFORM, pathlib.Path(f"{upgrade.indexed.catalog}.audit")
    dry = upgrade.run(*options, "--dry-run").stderr
    assert sorted(line.split()[4].rstrip(":") for line in dry.splitlines()) == wanted
    assert not list(folder.glob("*.yanked")) and not log.exists()
    upgrade.run(*options)
    assert sorted(path.name for path in folder.glob("*.yanked")) == [f"{name}.yanked" for name in wanted]
    assert (folder / f"{wheel_of('re2-user')}.yanked").read_text() == "rebuild: libre2.so.9 is gone; libre2.so.11 is there"
    entries = [json.loads(line) for line in log.read_text().splitlines()]
    assert [(one["action"], one["file"], one["result"]) for one in entries] == [("yank", name, "done") for name in wanted]
    assert upgrade.run(*options).stderr == ""
    assert all(row["yanked"] for row in upgrade.rows("--against", upgrade.after).values() if row["state"] in NEW)


def test_a_soname_cannot_forge_a_yank_of_upstream(upgrade):
    """`prune follow` takes back the yanks that are upstream's."""
    forged = "wheelcache: yanked by upstream"
    native_wheel(upgrade.indexed.store / PLATFORM, "evil", "1.0", f"{CP}-{CP}-linux_x86_64",
                 {"m.so": module(needed=(forged, f"x\n{forged}"))})
    upgrade.indexed.index()
    upgrade.run("--against", upgrade.after, "--yank")
    mark = (upgrade.indexed.store / PLATFORM / f"{wheel_of('evil')}.yanked").read_text()
    assert forged in mark and not any(line.startswith(forged) for line in mark.splitlines())


def test_a_frozen_platform_is_not_yanked(upgrade):
    (upgrade.indexed.store / PLATFORM / ".wheelcache-frozen").write_text("")
    assert "frozen" in upgrade.run("--against", upgrade.after, "--yank", code=1).stderr
    assert not list((upgrade.indexed.store / PLATFORM).glob("*.yanked"))


# --- what takes the place of a wheel ---

def test_a_higher_build_tag_takes_the_place(upgrade):
    """The replacement must work and not be yanked; the next number is above all of them."""
    folder, tag = upgrade.indexed.store / PLATFORM, f"{CP}-{CP}-linux_x86_64"
    good, bad = {"m.so": module()}, {"m.so": re2()}
    for build, files in (("1", bad), ("2", good), ("9", bad)):
        native_wheel(folder, "re2-user", "1.0", tag, files, build=build)
    native_wheel(folder, "ldap-user", "1.0", tag, good, build="3")
    native_wheel(folder, "gone-user", "1.0.post1", tag, good, build="3")  # another version
    (folder / f"{wheel_of('ldap-user', '3-')}.yanked").write_text("")
    upgrade.indexed.index()
    rows = upgrade.rows("--against", upgrade.after)
    places = {name: (row["build"], row["replacement"]) for name, row in rows.items() if row["state"] == "soname-gone"}
    assert places == {wheel_of("re2-user"): (10, wheel_of("re2-user", "2-")),
                      wheel_of("re2-user", "1-"): (10, wheel_of("re2-user", "2-")),
                      wheel_of("re2-user", "9-"): (10, None), wheel_of("ldap-user"): (4, None), wheel_of("gone-user"): (1, None)}


# --- building again ---

BACKEND = """
import base64, hashlib, os, subprocess, zipfile

def build_wheel(directory, config_settings=None, metadata_directory=None):
    files = {"bump.py": b"import ctypes, os\\nanswer = ctypes.CDLL(os.path.join(os.path.dirname(__file__), 'libanswer.so')).answer()\\n",
             "bump-1.0.dist-info/METADATA": b"Metadata-Version: 2.1\\nName: bump\\nVersion: 1.0\\n",
             "bump-1.0.dist-info/WHEEL": b"Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: false\\nTag: TAG\\n\\n"}
    subprocess.run(["cc", "-shared", "-fPIC", "-o", "libanswer.so", "bump.c", "-LROOT/usr/lib", "-lre2"], check=True)
    files["libanswer.so"] = open("libanswer.so", "rb").read()
    record = ""
    for path, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
        record += f"{path},sha256={digest},{len(data)}\\n"
    files["bump-1.0.dist-info/RECORD"] = (record + "bump-1.0.dist-info/RECORD,,\\n").encode()
    with zipfile.ZipFile(os.path.join(directory, "bump-1.0-TAG.whl"), "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in files.items():
            info = zipfile.ZipInfo(path, (2024, 2, 29, 1, 2, 4))
            info.external_attr = (0o100755 if path.endswith(".so") else 0o100644) << 16
            wheel.writestr(info, data)
    return "bump-1.0-TAG.whl"
"""

# Does what pip does, without a virtual environment.
BUILD = """
import os, sys, tarfile, tempfile
with tempfile.TemporaryDirectory() as folder:
    tarfile.open(sys.argv[1]).extractall(folder)
    os.chdir(os.path.join(folder, "bump-1.0"))
    sys.path.insert(0, ".")
    import backend
    backend.build_wheel(sys.argv[2])
"""


def compile_root(folder, number):
    """A root with a library re2 of this number, for which `cc -lre2` links."""
    path = folder / "usr/lib" / f"libre2.so.{number}"
    path.parent.mkdir(parents=True)
    (folder / "re2.c").write_text(f"int re2_number(void) {{ return {number}; }}\n")
    subprocess.run(["cc", "-shared", "-fPIC", f"-Wl,-soname,{path.name}", "-o", path, folder / "re2.c"], check=True)
    (folder / "usr/lib/libre2.so").symlink_to(path.name)
    # What every machine has, and the module needs.
    arch = f"{platform.machine()}-linux-gnu"
    for libc in (pathlib.Path(f"/lib/{arch}/libc.so.6"), pathlib.Path("/lib64/libc.so.6")):
        if libc.exists():
            shutil.copy(libc, path.parent)
            break
    return folder


@pytest.fixture
def world(tmp_path):
    with building.world(tmp_path) as made:
        made.keys[f"platform {PLATFORM}"] = {"pythons": PYTHON, "libc": "glibc 2.36", "provides": tmp_path / "root"}
        made.keys["build"]["test"] = "none"
        yield made


def build_first(world):
    """The wheel as it was built before the upgrade."""
    tag = f"{CP}-{CP}-linux_x86_64"
    backend = BACKEND.replace("TAG", tag).replace("ROOT", str(world.folder / "root"))
    files = {"backend.py": backend, "bump.c": "int re2_number(void);\nint answer(void) { return re2_number(); }\n",
             "pyproject.toml": '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'}
    world.want("bump", files=files)
    source, out = world.folder / "source", world.store / PLATFORM
    source.mkdir()
    for name, text in files.items():
        (source / name).write_text(text)
    subprocess.run([sys.executable, "-c", f"import backend; backend.build_wheel({str(out)!r})"], cwd=source, check=True)


def rebuilds(world, *options, code=0):
    done = serving.run("rebuilds", "--config", world.config_path, *options)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


def test_a_library_bump_from_the_list_to_the_installed_wheel(world, tmp_path, serve, request):
    compile_root(tmp_path / "re2-9", 9)
    (tmp_path / "root").symlink_to("re2-9")
    build_first(world)
    world.write()
    old, new = wheel_of("bump"), wheel_of("bump", "1-")
    assert "1 fits" in rebuilds(world, "--check")

    compile_root(tmp_path / "re2-11", 11)
    (tmp_path / "root").unlink()
    (tmp_path / "root").symlink_to("re2-11")
    listed = tmp_path / "rebuilds.json"
    listed.write_text(rebuilds(world, "--json", "--check", code=1))
    row, = json.loads(listed.read_text())["rows"]
    assert (row["filename"], row["state"], row["build"]) == (old, "soname-gone", 1)
    assert (row["reasons"][0]["library"], row["reasons"][0]["instead"]) == ("libre2.so.9", "libre2.so.11")

    def missing(*options):
        done = serving.run("missing", "--config", world.config_path, "--json", *options)
        return [(one["project"], one["status"], one.get("build"), one["why"]) for one in json.loads(done.stdout)["rows"]]

    assert missing() == []
    assert missing("--rebuild", listed) == [
        ("bump", "missing", 1, f"{old} is to be rebuilt, with build tag 1: libre2.so.9 is gone; libre2.so.11 is there")]
    if request.config.getoption("--nightly"):  # pip wheel, as built in, which takes some seconds
        del world.keys["build"]["build"]
    else:
        (tmp_path / "build.py").write_text(BUILD)
        world.keys["build"]["build"] = f"/usr/bin/python3 {tmp_path}/build.py %s %o"
    report = world.build("--rebuild", listed)
    assert [one["attempt"]["wheel"] for one in report["rows"]] == [new] and world.wheels() == [new, old]
    assert world.build("--rebuild", listed)["rows"] == [] == missing("--rebuild", listed)
    assert "2 fits" not in rebuilds(world, "--check")  # the old one is still there, and replaced
    row, = json.loads(rebuilds(world, "--json"))["rows"]
    assert (row["filename"], row["replacement"]) == (old, new)
    rebuilds(world, "--yank", "--quiet")
    assert (world.store / PLATFORM / f"{old}.yanked").read_text() == "rebuild: libre2.so.9 is gone; libre2.so.11 is there"

    server = serve(config=world.config())
    pip = clients.environment(clients.DEBIAN_PIP) / "bin" / "pip"
    done = subprocess.run([pip, "install", *clients.pip_index(f"{server.url}/{PLATFORM}/simple/"), "--no-deps", "--target",
                           tmp_path / "site", "bump"], capture_output=True, text=True, check=False,
                          env=clients.clean_environment(tmp_path))
    assert done.returncode == 0 and new in done.stdout, done.stdout + done.stderr
    shown = subprocess.run([sys.executable, "-c", "import bump; print(bump.answer)"], cwd=tmp_path / "site", check=True,
                           capture_output=True, text=True, env={"LD_LIBRARY_PATH": str(tmp_path / "re2-11/usr/lib")})
    assert shown.stdout == "11\n"
    with zipfile.ZipFile(world.store / PLATFORM / new) as wheel:
        assert b"\nBuild: 1\n" in wheel.read("bump-1.0.dist-info/WHEEL")
        library = wheel.getinfo("libanswer.so")
        assert (library.date_time, library.external_attr) == ((2024, 2, 29, 1, 2, 4), 0o100755 << 16)


@pytest.mark.parametrize("text, words", [
    ("", "rebuild.json"),
    ("[]", "not a document"),
    ('{"platforms": [], "rows": 5}', "not a document"),
    ('{"platforms": [], "rows": [{}]}', "row 1: it has no state"),
    ('{"platforms": [], "rows": [{"state": "soname-gone", "platform": "../x", "filename": "a-1-py3-none-any.whl", "build": 1}]}',
     "platform"),
    ('{"platforms": [], "rows": [{"state": "soname-gone", "platform": "x", "filename": "a-1.tar.gz", "build": 1}]}', "filename"),
    ('{"platforms": [], "rows": [{"state": "soname-gone", "platform": "x", "filename": "a-1-py3-none-any.whl"}]}', "build"),
    ('{"platforms": [], "rows": [{"state": "soname-gone", "platform": "x", "filename": "a-1-py3-none-any.whl", "build": 0}]}',
     "build"),
])
def test_a_list_that_is_none_is_refused(world, tmp_path, text, words):
    path = tmp_path / "rebuild.json"
    path.write_text(text)
    world.want("alpha")
    world.build("--rebuild", path, code=1)
    assert "--rebuild: " in world.errors and words in world.errors
    done = serving.run("missing", "--config", world.config_path, "--rebuild", path)
    assert done.returncode == 1 and words in done.stderr


# --- a builder of a server ---

def listed(path, *wheels):
    """A list of rebuilds with these wheels."""
    path.write_text(json.dumps({"platforms": [], "rows": [
        {"platform": PLATFORM, "filename": name, "state": "soname-gone", "why": "libx.so.1 is gone", "build": 1} for name in wheels]}))
    return path


@pytest.fixture
def server(tmp_path):
    """A server of a world that wants alpha and beta for one Python and has their wheels."""
    (tmp_path / "server").mkdir()
    with building.world(tmp_path / "server") as fed:
        fed.keys[f"platform {PLATFORM}"] = {"pythons": "3.11"}
        fed.want("alpha", "beta")
        fed.build()
        started = building.serve(fed)
        started.world = fed
        try:
            yield started
        finally:
            started.stop()


def builder_of(server, tmp_path):
    (tmp_path / "builder").mkdir()
    return building.Builder(tmp_path / "builder", server.world, server, uploading.add_token(server, "--platform", PLATFORM))


def test_a_builder_rebuilds_wheels_of_its_server(server, tmp_path):
    """Twice: the number of the second one is above that of the first, which the list does not know."""
    first, second = (f"alpha-1.0-{number}-cp311-cp311-linux_x86_64.whl" for number in "12")
    builder, paths = builder_of(server, tmp_path), listed(tmp_path / "list", "alpha-1.0-cp311-cp311-linux_x86_64.whl")
    assert builder.build()["rows"] == []
    dry, = builder.build("--rebuild", paths, "--dry-run")["rows"]
    assert (dry["project"], dry["python"]) == ("alpha", "3.11")
    row, = builder.build("--rebuild", paths)["rows"]
    assert row["attempt"]["wheel"] == first and first in server.world.wheels()
    assert builder.build("--rebuild", paths)["rows"] == []
    page = server.get(f"/{PLATFORM}/simple/alpha/").body.decode()
    assert first in page
    path, = server.world.store.rglob(first)
    path.with_name(path.name + ".yanked").write_text("it is bad")
    assert serving.run("index", "--quiet", "--config", server.config_path).returncode == 0
    serving.wait_for(lambda: "data-yanked" in server.get(f"/{PLATFORM}/simple/alpha/").body.decode(), 30, "the yank")
    row, = builder.build("--rebuild", paths)["rows"]
    assert row["attempt"]["wheel"] == second and second in server.world.wheels()


def ask(server, body, token=None, kind="application/json", platform=PLATFORM, query=""):
    with contextlib.closing(server.connect()) as connection:
        connection.request("POST", f"/-/missing/{platform}{query}", body, {"Content-Type": kind, **uploading.authorization(token)})
        answer = connection.getresponse()
        return serving.Reply(answer.status, answer.headers, answer.read())


def test_who_may_ask_what_is_missing_without_some_wheels(server, tmp_path):
    text = listed(tmp_path / "list", "alpha-1.0-cp311-cp311-linux_x86_64.whl").read_bytes()
    token = uploading.add_token(server, "--platform", PLATFORM)
    other = uploading.add_token(server, "--platform", "other-*")
    answer = ask(server, text, token)
    assert answer.status == 200 and answer["Cache-Control"] == "no-store"
    row, = json.loads(answer.body)["rows"]
    assert (row["project"], row["status"], row["build"]) == ("alpha", "missing", 1)
    assert json.loads(ask(server, text, token, query="?project=beta").body)["rows"] == []
    assert [ask(server, text, one).status for one in (None, other, "wc_none")] == [401, 403, 401]
    assert ask(server, text, token, platform="nowhere-1-x86_64").status == 404
    assert ask(server, text, token, kind="text/plain").status == 400
    for bad in (b"", b"[]", b'{"platforms": [], "rows": [{}]}', text.replace(b"alpha", b"../al")):
        assert ask(server, bad, token).status == 400, bad


def test_lists_of_rebuilds_are_limited(server):
    token = uploading.add_token(server, "--platform", PLATFORM)
    many = b'{"platforms": [], "rows": [%s]}' % b",".join([b"0"] * (1 << 18))
    answer = ask(server, many, token)
    assert answer.status == 413 and b"262144 values" in answer.body
    answer = ask(server, b" " * ((8 << 20) + 1), token)
    assert answer.status == 413 and b"8388608 bytes" in answer.body


# --- real machines ---

def test_wheels_of_one_release_on_the_next(tmp_path, request):
    """Wheels that were built on Debian 12, with the libraries of Debian 13."""
    if not request.config.getoption("--nightly"):
        pytest.skip("only ./test --nightly makes roots")
    if not CORPUS.is_dir():
        pytest.skip("needs the recorded wheels that no index has")
    indexed = indexing.Indexed(tmp_path)
    folder = indexed.store / PLATFORM
    folder.mkdir()
    for path in CORPUS.rglob("*.whl"):
        shutil.copy(path, folder)
    indexed.index()
    trixie = Upgrade(indexed, None, roots.libraries("trixie", "libldap2,libdbus-1-3,libcairo2,libyaml-0-2,libsystemd0,libvirt0"))
    rows = trixie.rows("--all", "--against", trixie.after)
    states = {row["filename"].split("-")[0]: (row["state"], row["why"]) for row in rows.values()}
    assert states["python_ldap"] == ("soname-gone", "libldap-2.5.so.0 is gone; libldap.so.2 is there")
    assert {name for name, (state, _) in states.items() if state != "fits"} == {"python_ldap"}
