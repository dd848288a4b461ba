#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the parts of ./run and ./test: the totals, the demo store, and the search for missing packages."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
AUX = TOP / "build-aux"
FIGURES = TOP / "tests/fuzz/figures.py"

REPORT = """<testsuites><testsuite>
<testcase classname="a" name="good"/>
<testcase classname="a" name="bad"><failure>no</failure></testcase>
<testcase classname="a" name="broken"><error>no</error></testcase>
<testcase classname="a" name="left out"><skipped/></testcase>
</testsuite></testsuites>"""

# Results of make check, pytest's report, the number of failed phases; the last line, the exit code.
SUMS = [
    (["PASS", "PASS", "SKIP"], None, 0, "2 passed, 0 failed, 1 skipped", 0),
    (["PASS", "XFAIL"], None, 0, "2 passed, 0 failed", 0),
    (["PASS", "FAIL", "ERROR", "XPASS"], None, 1, "1 passed, 3 failed", 1),
    (["PASS"], REPORT, 1, "2 passed, 2 failed, 1 skipped", 1),
    (["PASS"], None, 2, "1 passed, 2 failed", 1),
    (["SKIP"], None, 0, "0 passed, 0 failed, 1 skipped", 1),
    ([], None, 0, "0 passed, 0 failed", 1),
]

RACE = "E   WARNING: ThreadSanitizer: data race (pid=1)"

# Failed tests with their reasons; the tests that passed when they were repeated; the kinds of the lines that name them.
REPETITIONS = [
    ({"one": "E   slow"}, ["one"], ["unsteady"]),
    ({"one": "E   slow"}, [], ["failed"]),
    ({"one": "E   slow", "two": "E   late"}, ["two"], ["failed", "unsteady"]),
    ({"one": RACE}, ["one"], ["failed"]),
    ({"one": "E   AssertionError: exit code -6: "}, ["one"], ["failed"]),
    ({"one": "E   slow", "two": RACE}, ["one", "two"], ["failed"] * 2),
    ({"1": "E   a", "2": "E   a", "3": "E   a", "4": "E   a"}, ["1", "2", "3", "4"], ["failed"] * 4),
]


def report(failed, passed=()):
    """A report of pytest. failed: the reason of each failed test by its name."""
    cases = [f'<testcase classname="tests.e2e.test_a" name="{name}"><failure message="m">{why}</failure></testcase>'
             for name, why in failed.items()]
    cases += [f'<testcase classname="tests.e2e.test_a" name="{name}"/>' for name in passed]
    return f"<testsuites><testsuite>{''.join(cases)}</testsuite></testsuites>"


FUZZ_LOG = """#2\tINITED cov: 300 ft: 800 corp: 1/1b exec/s: 0 rss: 30Mb
#1234567\tDONE   cov: 310 ft: 902 corp: 60/3142b lim: 4096 exec/s: 205761 rss: 460Mb
Done 1234567 runs in 6 second(s)
stat::number_of_executed_units: 1234567
stat::average_exec_per_sec:     205761
stat::new_units_added:          17
"""


class SumUp(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def sum_up(self, results, report, failed_phases):
        tests = self.folder / "tests" / "unit"
        shutil.rmtree(tests, ignore_errors=True)
        tests.mkdir(parents=True)
        for number, result in enumerate(results):
            (tests / f"{number}.trs").write_text(f":test-result: {result}\n:global-test-result: {result}\n")
        (self.folder / "e2e.xml").write_text(report or "<testsuites/>")
        return subprocess.run([sys.executable, AUX / "sum-up.py", "--failed-phases", str(failed_phases),
                               self.folder, self.folder / "e2e.xml"], capture_output=True, text=True, check=False)

    def test_several_reports(self):
        for name in ("e2e.xml", "afs.xml"):
            (self.folder / name).write_text(REPORT)
        paths = [self.folder, self.folder / "absent", *(self.folder / name for name in ("e2e.xml", "afs.xml", "no.xml"))]
        done = subprocess.run([sys.executable, AUX / "sum-up.py", *paths], capture_output=True, text=True, check=False)
        self.assertEqual(done.stdout.splitlines()[-1], "2 passed, 4 failed, 2 skipped")

    def test_last_line_and_exit_code(self):
        for results, report, failed_phases, line, code in SUMS:
            with self.subTest(line):
                done = self.sum_up(results, report, failed_phases)
                self.assertEqual((done.stdout.splitlines()[-1], done.returncode), (line, code), done.stderr)

    def test_reasons_of_skipped_tests_are_the_line_before_the_last(self):
        whys = ["no wheels: lay them beside", "no client (uv: no index)", "no client (pip: no index)"]
        skipped = "".join(f'<testcase classname="a" name="{why}"><skipped message="{why}"/></testcase>' for why in whys)
        done = self.sum_up(["PASS"], f"<testsuites><testsuite>{skipped}</testsuite></testsuites>", 0)
        self.assertEqual(done.stdout.splitlines(), ["skipped: 2: no client; 1: no wheels: lay them beside",
                                                    "1 passed, 0 failed, 3 skipped"])
        many = "".join(f'<testcase classname="a" name="{i}"><skipped message="{i}"/></testcase>' for i in range(9))
        line = self.sum_up(["PASS"], f"<testsuites><testsuite>{many}</testsuite></testsuites>", 0).stdout.splitlines()[0]
        self.assertEqual(line.split("; ")[-1], "3 more reasons are in the reports")

    def repeated_sum_up(self, first, again, *options):
        for name, text in (("e2e.xml", first), ("e2e.again.xml", again)):
            (self.folder / name).write_text(text)
        done = subprocess.run([sys.executable, AUX / "sum-up.py", *options, self.folder / "e2e.xml"],
                              capture_output=True, text=True, check=False)
        return done.stdout.splitlines(), done.returncode

    def test_tests_that_pass_when_repeated_are_named(self):
        for failed, repeated, kinds in REPETITIONS:
            with self.subTest(failed):
                lines, code = self.repeated_sum_up(report(failed, ["good"]), report({}, repeated))
                names = [line for line in lines[:-1] if re.match(r"(failed|unsteady): ", line)]
                self.assertEqual([line.split(":")[0] for line in names], kinds)
                self.assertEqual(lines[-1].split(" failed")[0].split()[-1], str(kinds.count("failed")))
                self.assertEqual(code, 1 if "failed" in kinds else 0)

    def test_few_failures_without_a_crash_may_be_repeated(self):
        for failed, ids in ((failed, [f"tests/e2e/test_a.py::{name}" for name in failed]) for failed in
                            ({"a[b.c]": "E   slow"}, {"a": "", "b": "", "c": ""})):
            self.assertEqual(self.repeated_sum_up(report(failed), report({}), "--to-repeat"), (ids, 0))
        for failed in ({}, {"a": RACE, "b": ""}, dict.fromkeys("abcd", "")):
            self.assertEqual(self.repeated_sum_up(report(failed), report({}), "--to-repeat"), ([], 0))
        broken_file = report({"a": "E   no module"}).replace("tests.e2e.test_a", "")
        self.assertEqual(self.repeated_sum_up(broken_file, report({}), "--to-repeat"), ([], 0))

    def test_failed_clean_up_of_a_failed_test_counts(self):
        twice = report({"a": "E   slow"}).replace("</testsuite>", report({"a": RACE}) + "</testsuite>")
        self.assertEqual(self.repeated_sum_up(twice, report({}), "--to-repeat"), ([], 0))

    def test_reasons_of_failures_are_shortened(self):
        why = "\n".join(["    source"] * 100 + ["E   the reason"] + ["E   more"] * 200 + ["the end"])
        lines, _ = self.repeated_sum_up(report({"a": why}), report({}))
        self.assertEqual((lines[0], lines[1].strip(), lines[-3].strip()), ("== e2e: tests.e2e.test_a::a", "E   the reason",
                                                                          "the end"))
        self.assertEqual(lines[-2:], ["failed: e2e: tests.e2e.test_a::a", "0 passed, 1 failed"])
        self.assertLess(len(lines), 30)
        lines, _ = self.repeated_sum_up(report({str(number): why for number in range(100)}), report({}))
        self.assertLess(len(lines), 150 + 100 + 2)

    def test_end_of_a_log_of_make_check(self):
        tests = self.folder / "tests" / "unit"
        tests.mkdir(parents=True)
        (tests / "test-a.trs").write_text(":test-result: FAIL\n")
        (tests / "test-a.log").write_text("begin\n" + "line\n" * 100 + "the end\n")
        done = subprocess.run([sys.executable, AUX / "sum-up.py", self.folder], capture_output=True, text=True, check=False)
        self.assertEqual(done.stdout.splitlines()[-3].strip(), "the end")
        self.assertNotIn("begin", done.stdout)

    def test_a_test_of_make_check_that_passes_when_repeated_is_named(self):
        tests = self.folder / "tests" / "unit"
        tests.mkdir(parents=True)
        (tests / "test-a.trs").write_text(":test-result: FAIL\n")
        log = tests / "test-a.log"
        for why, repeated in (("late\nFAIL test-a (exit status: 1)\n", f"{log}\n"), (RACE, ""),
                              ("FAIL test-a (exit status: 139)\n", "")):
            log.write_text(why)
            done = subprocess.run([sys.executable, AUX / "sum-up.py", "--to-repeat", self.folder], capture_output=True,
                                  text=True, check=False)
            self.assertEqual((done.stdout, done.returncode), (repeated, 0))
        for result, last in (("PASS", "1 passed, 0 failed"), ("FAIL", "0 passed, 1 failed")):
            (tests / "test-a.trs").write_text(f":test-result: {result}\n")
            (tests / "test-a.first").write_text("why the first time\n")
            done = subprocess.run([sys.executable, AUX / "sum-up.py", self.folder], capture_output=True, text=True,
                                  check=False)
            kind = "unsteady" if result == "PASS" else "failed"
            self.assertIn("why the first time", done.stdout)
            self.assertIn(f"{kind}: {self.folder.name}: test-a", done.stdout)
            self.assertEqual(done.stdout.splitlines()[-1], last)


class Scripts(unittest.TestCase):
    def test_demo_store_is_laid_out_by_platform_letter_and_project(self):
        with tempfile.TemporaryDirectory() as name:
            wheels, store = pathlib.Path(name, "wheels"), pathlib.Path(name, "store")
            wheels.mkdir()
            (wheels / "some_thing-1.0-py3-none-any.whl").touch()
            subprocess.run([AUX / "demo-store.sh", store], env={**os.environ, "WHEELS": str(wheels)}, check=True,
                           capture_output=True)
            platform, *rest = next(store.rglob("*.whl")).relative_to(store).parts
            self.assertRegex(platform, r"^[a-z]+-[0-9.]+-[a-z0-9_]+$")
            self.assertEqual(rest, ["s", "some_thing", "some_thing-1.0-py3-none-any.whl"])

    def test_ccache_is_used_where_it_is_installed(self):
        shell = f". {AUX / 'setup.sh'}; PATH=$1; compiler gcc"
        with tempfile.TemporaryDirectory() as name:
            for printed in ("gcc", "ccache gcc"):
                done = subprocess.run(["/bin/bash", "-c", shell, "bash", name], capture_output=True, text=True, check=True)
                self.assertEqual(done.stdout, printed)
                pathlib.Path(name, "ccache").write_text("#!/bin/sh\n")
                pathlib.Path(name, "ccache").chmod(0o755)

    def test_no_wheels_is_an_error(self):
        with tempfile.TemporaryDirectory() as name:
            done = subprocess.run([AUX / "demo-store.sh", f"{name}/store"], env={**os.environ, "WHEELS": name},
                                  capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stderr), (1, f"demo-store.sh: no wheels in {name}\n"))

    def test_figures_of_fuzzing(self):
        with tempfile.TemporaryDirectory() as name:
            log = pathlib.Path(name, "version.log")
            log.write_text(FUZZ_LOG)
            done = subprocess.run([sys.executable, FIGURES, log], capture_output=True, text=True, check=True)
            self.assertEqual(done.stdout.splitlines()[-1].split(), ["version", "6", "1,234,567", "205,761", "310", "902",
                                                                    "17"])
            log.write_text("killed\n")
            done = subprocess.run([sys.executable, FIGURES, log], capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stdout.count("\n")), (1, 1))
            self.assertIn("lacks: seconds", done.stderr)

    @unittest.skipUnless(shutil.which("dpkg-query"), "this is not Debian")
    def test_only_missing_packages_are_named(self):
        done = subprocess.run(["bash", "-c", f". {AUX}/setup.sh && missing_packages dpkg no-such-package"],
                              capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout, "no-such-package\n")

    def test_unknown_option_is_refused(self):
        done = subprocess.run([TOP / "test", "--fast"], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (2, "usage: ./test [--quick | --ci | --nightly]\n"))

    @unittest.skipUnless(shutil.which("shellcheck"), "there is no shellcheck")
    def test_shellcheck_finds_nothing(self):
        scripts = [TOP / "run", TOP / "test", TOP / ".ci/run", *AUX.glob("*.sh"), TOP / "etc/build-bwrap", TOP / "etc/build-podman"]
        done = subprocess.run(["shellcheck", *scripts], cwd=TOP, capture_output=True, text=True, check=False)
        self.assertEqual(done.stdout, "")


if __name__ == "__main__":
    unittest.main()
