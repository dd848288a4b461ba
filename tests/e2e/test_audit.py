# SPDX-License-Identifier: Apache-2.0
"""`wheelcache audit`: what it judges, what it prints, and its exit codes. test_audit_elf.py has the rules with real ELF
files, tests/unit/lib/audit with made facts."""
import json
import os
import shutil

import pytest

import clients
import indexing
import serving
import storelib
from elfmaker import elf, module, native_wheel

TAG = "cp311-cp311-manylinux_2_17_x86_64"
LINUX = "cp311-cp311-linux_x86_64"
OLD, NEW = {"libc.so.6": ("GLIBC_2.17",)}, {"libc.so.6": ("GLIBC_2.34",)}
GOOD = {"good/_m.so": module(needed=("libc.so.6",), versions=OLD)}
BAD = {"bad/_m.so": module(needed=("libc.so.6",), versions=NEW)}
RE2 = {"re2/_m.so": module(needed=("libre2.so.9",))}
DEBIAN, UBUNTU = "debian-12-x86_64", "ubuntu-22.04-x86_64"
# What the recorded wheels have. Each is true: protobuf 4.21.0rc1 imports PyUnicode_AsUTF8AndSize, which is part of the
# stable ABI only since 3.10; the LDAP of psycopg2_binary was linked with -rpath=psycopg2_binary.libs; and four wheels of
# protobuf have modes 0666.
KNOWN = {("protobuf-4.21.0_rc_1-cp37-abi3-manylinux2014_x86_64.whl", "error", "abi3"),
         ("psycopg2_binary-2.9.9-cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl", "warn", "rpath")}


def audit(*arguments):
    """The JSON of a run, and its exit code."""
    done = serving.run("audit", "--json", *map(str, arguments))
    return json.loads(done.stdout), done.returncode


@pytest.fixture(name="files", scope="module")
def files_fixture(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheels")
    made = {name: native_wheel(folder, name, "1", TAG, members).path for name, members in (("good", GOOD), ("bad", BAD))}
    made["loose"] = native_wheel(folder, "loose", "1", LINUX, {
        "loose/_m.so": module(needed=("libx.so.1",)), "loose/libx.so.1": elf(soname="libx.so.1")}).path
    made["pure"] = storelib.make_wheel(folder, "pure", "1").path
    return made


def test_files_need_neither_store_nor_configuration(files):
    done = serving.run("audit", files["good"], files["pure"])
    assert (done.returncode, done.stderr) == (0, "")
    assert f"{files['good'].name}: keeps manylinux_2_17_x86_64\n" in done.stdout
    assert f"{files['pure'].name}: keeps any\n" in done.stdout


def test_errors_come_first_and_end_with_1(files):
    done = serving.run("audit", files["good"], files["loose"], files["bad"])
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert lines[0] == f"{files['bad'].name}: keeps manylinux_2_34_x86_64, 1 error"
    assert lines[1].split()[:3] == ["error", "tag-too-low", "bad/_m.so:"]
    assert "needs GLIBC_2.34 of libc.so.6, but manylinux_2_17_x86_64 promises only up to GLIBC_2.17" in lines[1]
    assert lines[-1] == "3 wheels: 1 with errors, 1 with warnings only, 0 unknown"
    assert serving.run("audit", files["loose"]).returncode == 0  # a warning alone


def test_what_cannot_be_read_ends_with_2_and_hides_nothing(files, tmp_path):
    broken = tmp_path / f"broken-1-{TAG}.whl"
    broken.write_bytes(b"PK\3\4 no wheel")
    (tmp_path / "notes.txt").write_text("no wheel")
    shutil.copy(files["good"], tmp_path / "good.whl")
    arguments = [tmp_path / "gone-1-py3-none-any.whl", tmp_path, tmp_path / "notes.txt", broken, tmp_path / "good.whl"]
    done = serving.run("audit", *arguments, files["bad"])
    assert done.returncode == 2
    for path in arguments:
        assert f"{path}: " in done.stderr, path
    assert "tag-too-low" in done.stdout and "6 wheels: 1 with errors, 0 with warnings only, 5 unknown" in done.stdout
    found, code = audit(*arguments, files["bad"])
    assert code == 2 and (found["judged"], found["unknown"]) == (1, 5)
    assert [bool(one["unknown"]) for one in found["wheels"]] == [True] * 5 + [False]


def test_a_fifo_does_not_block(tmp_path):
    path = tmp_path / "pipe-1-py3-none-any.whl"
    os.mkfifo(path)
    assert serving.run("audit", path, timeout=20).returncode == 2


@pytest.mark.parametrize("arguments, said", [
    (("--project", "x", "x.whl"), "not with FILE"), (("--view", "v", "--platform", "p"), "exclude each other"),
    (("--project", "a b"), "not a valid project name"), (("--policy", "/gone", "x.whl"), "/gone"),
    (("--nonsense",), "nonsense"), ((), "without a store")])
def test_wrong_command_lines_end_with_2(arguments, said):
    done = serving.run("audit", *arguments)
    assert done.returncode == 2 and said in done.stderr, done.stderr


def test_json_has_the_documented_shape(files):
    found, code = audit("--facts", files["bad"])
    [one] = found.pop("wheels")
    assert code == 1 and found == {"judged": 1, "with_errors": 1, "with_warnings": 0, "unknown": 0}
    [finding] = one["findings"]
    assert finding.pop("why").startswith("needs GLIBC_2.34")
    assert finding == {"code": "tag-too-low", "level": "error", "member": "bad/_m.so", "rule": None}
    facts = one.pop("facts")
    assert {key: one[key] for key in one if key != "findings"} == {
        "filename": files["bad"].name, "tag": "manylinux_2_34_x86_64", "symbol_tag": "manylinux_2_34_x86_64", "errors": 1,
        "warnings": 0, "platform": None, "unknown": None}
    [inside] = facts.pop("elf")
    assert facts == {"members": 4, "purelib": False, "cut": None, "components": [], "odd": []}
    assert inside["needed_versions"] == [{"library": "libc.so.6", "versions": ["GLIBC_2.34"]}]
    assert len(inside["sha256"]) == 64 and inside["exported"] == ["PyInit_m"] and inside["machine"] == "x86_64"


def test_facts_for_people(tmp_path):
    full = elf(soname="libx.so.1", needed=("liby.so",), rpath="$ORIGIN", versions=OLD, defines=("V1",), exports=("f@V1",),
               imports=("puts",), toolchain=("GCC: (GNU) 12",), build_id="00112233", isa_used=3, stack="rwx")
    sbom = json.dumps({"bomFormat": "CycloneDX", "specVersion": "1.4", "components": [
        {"type": "library", "name": "zlib", "version": "1.3", "purl": "pkg:generic/zlib@1.3"}]}).encode()
    path = native_wheel(tmp_path, "x", "1", LINUX, {"x/libx.so.1": full, "x-1.dist-info/sboms/a.cdx.json": sbom}).path
    text = serving.run("audit", "--facts", path).stdout
    for line in ("machine    x86_64, 64 bit, shared", "SONAME     libx.so.1", "needs      liby.so", "RPATH      $ORIGIN",
                 "versions   libc.so.6: GLIBC_2.17", "defines    V1", "symbols    1 imported, 1 exported",
                 "toolchain  GCC: (GNU) 12", "build id   00112233", "stack      rwx", "ISA used   x86-64, x86-64-v2",
                 "contains zlib 1.3, says x-1.dist-info/sboms/a.cdx.json"):
        assert line in text, line


def test_equal_findings_are_one_line_and_names_move_no_cursor(tmp_path):
    members = {f"x/m{i}.so": module(needed=("libgone\x1b\u202e.so",), extra=bytes([i])) for i in range(5)}
    path = native_wheel(tmp_path, "x", "1", TAG, members).path
    done = serving.run("audit", path)
    assert done.returncode == 1 and not set("\x1b\u202e") & set(done.stdout + done.stderr)
    [line] = [one for one in done.stdout.splitlines() if "missing-library" in one]
    assert "x/m0.so and 4 more: needs libgone??.so" in line
    assert audit(path)[0]["wheels"][0]["errors"] == 5


@pytest.fixture(name="store", scope="module")
def store_fixture(tmp_path_factory):
    """Two platforms, of which one says what it offers, and a view of one."""
    folder = tmp_path_factory.mktemp("store")
    at = indexing.Indexed(folder)
    for platform in (DEBIAN, UBUNTU):
        native_wheel(at.store / platform, "re2", "1", LINUX, RE2)
        native_wheel(at.store / platform, "good", "1", TAG, GOOD)
    native_wheel(at.store / DEBIAN, "bad", "1", TAG, BAD)
    root = folder / "root/usr/lib/x86_64-linux-gnu"
    root.mkdir(parents=True)
    (root / "libre2.so.11").write_bytes(elf(soname="libre2.so.11"))
    (root / "libc.so.6").write_bytes(elf(soname="libc.so.6"))
    config = folder / "wheelcache.conf"
    config.write_text(f"[store]\npath = {at.store}\n[catalog]\npath = {at.catalog}\n[platform {DEBIAN}]\n"
                      f"provides = {folder}/root\n[platform {UBUNTU}]\n[view one]\nplatforms = {UBUNTU}\n")
    at.config = config
    assert at.run("--config", config).returncode == 0
    return at


def judged(store, *arguments):
    found, code = audit("--config", store.config, *arguments)
    return {(one["platform"], one["filename"].partition("-")[0]): [finding["code"] for finding in one["findings"]]
            for one in found["wheels"]}, code


def test_the_store_is_judged_by_the_catalog_and_the_offer(store):
    """libre2.so.9 is missing where the offer is known, and unknown elsewhere."""
    found, code = judged(store)
    assert code == 1 and found == {
        (DEBIAN, "bad"): ["tag-too-low"], (DEBIAN, "good"): [], (DEBIAN, "re2"): ["missing-library"],
        (UBUNTU, "good"): [], (UBUNTU, "re2"): []}
    assert judged(store, "--platform", "ubuntu-*") == ({(UBUNTU, "good"): [], (UBUNTU, "re2"): []}, 0)
    assert judged(store, "--view", "one") == judged(store, "--platform", UBUNTU)
    assert judged(store, "--project", "Re2")[0].keys() == {(DEBIAN, "re2"), (UBUNTU, "re2")}
    text = serving.run("audit", "--config", store.config)
    assert text.returncode == 1 and "good-1" not in text.stdout
    assert "5 wheels: 2 with errors, 0 with warnings only, 0 unknown" in text.stdout


def test_a_policy_changes_levels_and_allows_libraries(store, tmp_path):
    policy = tmp_path / "audit.policy"
    policy.write_text("[rule tags]\ncode = tag-too-low\nlevel = warn\n"
                      f"[rule re2]\nproject = re2\nplatform = {DEBIAN}\nallow = library libre2.so.*\n")
    found, code = judged(store, "--policy", policy)
    assert code == 0 and found[DEBIAN, "bad"] == ["tag-too-low"] and found[DEBIAN, "re2"] == []
    policy.write_text("[rule tags]\ncode = tag-too-low\nlevel = off\n")
    assert judged(store, "--policy", policy, "--project", "bad") == ({(DEBIAN, "bad"): []}, 0)


def test_unknown_views_and_stores_without_wheels(store):
    done = serving.run("audit", "--config", store.config, "--view", "nowhere")
    assert done.returncode == 2 and "nowhere" in done.stderr
    found, code = audit("--config", store.config, "--platform", "nowhere-*")
    assert code == 0 and found["wheels"] == [] and found["judged"] == 0


def test_findings_on_recorded_wheels_are_true():
    """All wheels of the corpus and of the clients. Each finding is known; there is no other."""
    paths = [path for folder in (clients.SHARED / "corpus", clients.WHEELS) for path in folder.rglob("*.whl")]
    if not paths:
        pytest.skip(clients.NO_RECORDS)
    found, code = audit(*paths)
    assert found["unknown"] == 0
    findings = {(one["filename"], finding["level"], finding["code"]) for one in found["wheels"]
                for finding in one["findings"] if finding["code"] != "writable"}
    assert findings <= KNOWN
    assert code == (1 if any(level == "error" for _, level, _ in findings) else 0)
    writable = {one["filename"].partition("-")[0] for one in found["wheels"]
                if any(finding["code"] == "writable" for finding in one["findings"])}
    assert writable <= {"protobuf"}
