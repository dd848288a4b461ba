#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What ./run and ./test are made of: the counting, the demo store, finding what is not installed."""
import os
import pathlib
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

# Results of make check, pytest's report, failed phases; the last line, the exit code.
SUMS = [
    (["PASS", "PASS", "SKIP"], None, 0, "2 passed, 0 failed, 1 skipped", 0),
    (["PASS", "XFAIL"], None, 0, "2 passed, 0 failed", 0),
    (["PASS", "FAIL", "ERROR", "XPASS"], None, 1, "1 passed, 3 failed", 1),
    (["PASS"], REPORT, 1, "2 passed, 2 failed, 1 skipped", 1),
    (["PASS"], None, 2, "1 passed, 2 failed", 1),
    (["SKIP"], None, 0, "0 passed, 0 failed, 1 skipped", 1),
    ([], None, 0, "0 passed, 0 failed", 1),
]


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
            self.assertIn("does not tell: seconds", done.stderr)

    @unittest.skipUnless(shutil.which("dpkg-query"), "this is no Debian")
    def test_only_what_is_missing_is_named(self):
        done = subprocess.run(["bash", "-c", f". {AUX}/setup.sh && missing_packages dpkg no-such-package"],
                              capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout, "no-such-package\n")

    def test_unknown_option_is_refused(self):
        done = subprocess.run([TOP / "test", "--fast"], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (2, "usage: ./test [--quick | --all]\n"))

    @unittest.skipUnless(shutil.which("shellcheck"), "there is no shellcheck")
    def test_shellcheck_finds_nothing(self):
        scripts = [TOP / "run", TOP / "test", TOP / ".ci/run", *AUX.glob("*.sh")]
        done = subprocess.run(["shellcheck", *scripts], cwd=TOP, capture_output=True, text=True, check=False)
        self.assertEqual(done.stdout, "")


if __name__ == "__main__":
    unittest.main()
