# SPDX-License-Identifier: Apache-2.0
"""The audit of real ELF files, made by a compiler: one wheel for each rule, and one that keeps it."""
import json
import shutil

import pytest

import elfwheels
import serving

CROSS = f"{elfwheels.OTHER}-linux-gnu-gcc"


@pytest.fixture(scope="module", name="maker")
def maker_fixture(tmp_path_factory):
    return elfwheels.Maker(tmp_path_factory.mktemp("elf"))


def audit(*wheels):
    """Returns the audit's answer for each wheel, and the exit code."""
    done = serving.run("audit", "--json", *wheels)
    return json.loads(done.stdout)["wheels"], done.returncode


def codes(answer):
    return {finding["code"] for finding in answer["findings"]}


def test_each_rule_is_broken_and_kept(maker, tmp_path):
    """All wheels in one run; the exit code is 1 because of the errors."""
    made = [(name, elfwheels.make_wheel(tmp_path / str(number), tag, files), expected)
            for number, (name, tag, files, expected) in enumerate(elfwheels.cases(maker))]
    answers, code = audit(*(path for _, path, _ in made))
    assert {name: codes(answer) for (name, _, _), answer in zip(made, answers)} == {name: expected for name, _, expected in made}
    assert code == 1
    sound = [path for _, path, expected in made if not expected]
    assert len(sound) > 5 and audit(*sound)[1] == 0
    warned = [answer for answer in answers if answer["findings"] and not answer["errors"]]
    assert len(warned) > 5 and all(finding["level"] == "warn" for answer in warned for finding in answer["findings"])


def test_findings_name_the_member_and_say_why(maker, tmp_path):
    new = next(files for name, _, files, _ in elfwheels.cases(maker) if name == "version above the tag")
    path = elfwheels.make_wheel(tmp_path, elfwheels.manylinux(17), new)
    [answer], _ = audit(path)
    [finding] = answer["findings"]
    assert finding["member"] == elfwheels.MODULE and "GLIBC_2.38" in finding["why"], finding
    assert answer["tag"] == f"manylinux_2_38_{elfwheels.ARCH}"


def test_facts_are_those_of_the_linker(maker, tmp_path):
    module = maker.link("facts.so", "int useful(void); int PyInit__x(void) { return useful(); }\n", "-Wl,-soname,_x.so",
                        "-Wl,--build-id=0x00112233", elfwheels.RPATH, libraries=[maker.library("libuse.so.1").name])
    done = serving.run("audit", "--json", "--facts", elfwheels.make_wheel(tmp_path, elfwheels.LINUX, {elfwheels.MODULE: module}))
    [found] = json.loads(done.stdout)["wheels"][0]["facts"]["elf"]
    assert (found["path"], found["soname"], found["needed"]) == (elfwheels.MODULE, "_x.so", ["libuse.so.1"])
    assert (found["runpath"], found["build_id"]) == ("$ORIGIN/../pkg.libs", "00112233")


@pytest.mark.skipif(elfwheels.ARCH != "x86_64", reason="only x86-64 has such a note")
def test_processor_that_a_library_says_it_needs_is_a_fact(maker, tmp_path):
    """No finding: the note says little of what the code does when it runs (audit --cpu does)."""
    module = maker.link("isa.so", "int a;\n", "-Wl,-z,x86-64-v3")
    done = serving.run("audit", "--json", "--facts", elfwheels.make_wheel(tmp_path, elfwheels.manylinux(17), {elfwheels.MODULE: module}))
    [answer] = json.loads(done.stdout)["wheels"]
    assert (answer["findings"], answer["facts"]["elf"][0]["isa_needed"]) == ([], ["x86-64-v3"])


def test_library_of_another_machine(tmp_path):
    """Of a cross compiler: aarch64 on x86-64."""
    if not shutil.which(CROSS):
        pytest.skip(f"there is no {CROSS}")
    other = elfwheels.Maker(tmp_path, CROSS)
    module = other.link("other.so", "int a;\n")
    wrong = elfwheels.make_wheel(tmp_path / "wrong", elfwheels.manylinux(17), {elfwheels.MODULE: module})
    right = elfwheels.make_wheel(tmp_path / "right", f"cp311-cp311-manylinux_2_17_{elfwheels.OTHER}",
                                 {elfwheels.MODULE.replace(elfwheels.ARCH, elfwheels.OTHER): module})
    assert [codes(answer) for answer in audit(wrong, right)[0]] == [{"wrong-machine"}, set()]


def test_tables_are_of_each_architecture(tmp_path):
    """manylinux_2_17 of aarch64 allows GLIBC_2.18, which that of x86-64 does not."""
    found = {}
    for arch, compiler in (elfwheels.ARCH, None), (elfwheels.OTHER, CROSS):
        if compiler and not shutil.which(compiler):
            pytest.skip(f"there is no {compiler}")
        maker = elfwheels.Maker(tmp_path / arch, compiler)
        maker.versioned("libc.so.6", "libc.so.6", "GLIBC_2.18")
        module = maker.module("a.so", libraries=["libc.so.6"])
        [answer], _ = audit(elfwheels.make_wheel(tmp_path / arch, f"cp311-cp311-manylinux_2_17_{arch}",
                                                 {elfwheels.MODULE.replace(elfwheels.ARCH, arch): module}))
        found[arch] = answer["tag"], codes(answer)
    assert found == {"aarch64": ("manylinux_2_17_aarch64", set()), "x86_64": ("manylinux_2_24_x86_64", {"tag-too-low"})}


def test_library_of_musl(tmp_path):
    if not shutil.which("musl-gcc"):
        pytest.skip("there is no musl-gcc (musl-tools)")
    module = elfwheels.link_plain(tmp_path / "musl.so", "int puts(const char *); int a(void) { return puts(0); }\n", "musl-gcc")
    wheels = [elfwheels.make_wheel(tmp_path / kind, f"cp311-cp311-{kind}_{elfwheels.ARCH}", {elfwheels.MODULE: module})
              for kind in ("musllinux_1_2", "manylinux_2_17")]
    answers, _ = audit(*wheels)
    assert [codes(answer) for answer in answers] == [set(), {"missing-library"}]
    assert answers[0]["tag"] == f"musllinux_1_2_{elfwheels.ARCH}"
