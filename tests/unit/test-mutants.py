#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the planted bugs of tests/mutants: that each fits the sources, that each folder has one, and how their runner
reads lists, plants a bug, judges the end of a test and keeps its copy of the sources."""
import pathlib
import sys
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests/mutants"))

import mutants  # noqa: E402
import run  # noqa: E402

MOST_FEW = 60  # mutants at least
TOPS = ["lib", "indexer", "pruner", "uploader", "builder", "server", "cli"]

LIST = """# a comment
one-too-many: a list has a row too many.
in cli/a.c
 for (;;)
-	if (i < n)
+	if (i <= n)
found by tests/unit/test-a

lost-check: nothing is checked.
in cli/a.c
-	check(x);
found by tests/e2e/test_a.py::test_check
"""
SOURCE = "int a(void)\n{\n\tif (i < n)\n\t\treturn 0;\n\tfor (;;)\n\t\t\tif (i < n)\n\t\t\tcheck(x);\n}\n"
TESTS = {"cli/a.c": SOURCE, "tests/unit/test-a.c": "", "tests/e2e/test_a.py": "\n\ndef test_check(at):\n    pass\n"}

WRONG_LISTS = [  # a change of LIST, and the complaint
    (("in cli/a.c\n for", "for"), "this is no mutant"),
    (("found by tests/unit/test-a\n", ""), "this is no mutant"),
    (("-	check(x);", " check(x);"), "change nothing"),
    (("-	check(x);", "*	check(x);"), "do not begin with"),
]
FAULTS = [  # a change of the sources, and the complaint about one of the mutants
    ({"cli/a.c": None}, "there is no cli/a.c"),
    ({"cli/a.c": SOURCE.replace("check(x)", "check(y)")}, "lost-check: its lines stand 0 times in cli/a.c"),
    ({"cli/a.c": SOURCE * 2}, "one-too-many: its lines stand 2 times in cli/a.c"),
    ({"tests/unit/test-a.c": None}, "there is no tests/unit/test-a"),
    ({"tests/e2e/test_a.py": "def test_checks(at):\n"}, "there is no tests/e2e/test_a.py::test_check"),
]

CMOCKA = "[ RUN      ] test_a\n[  ERROR   ] --- 1 != 2\n[  FAILED  ] test_a\n[  PASSED  ] 0 test(s).\n"
ENDS = [  # exit code and output of a test, what it means, what it says
    ((0, "[  PASSED  ] 1 test(s).\n"), "green", ""),
    ((1, CMOCKA), "red", "test_a"),
    ((1, "FAILED tests/e2e/test_a.py::test_check - AssertionError\n1 failed in 0.1s\n"), "red", "test_check"),
    ((1, "seed 7:\n  keep instead of duplicate\n"), "red", "seed 7:"),
    ((1, "('3.13t', 'x86_64'): 9 tags instead of 8\n1 environments, 9 tags, 1 wrong\n"), "red", "9 tags instead of 8"),
    ((-6, "a: a.c:7: a: Assertion `x' failed.\n"), "red", "x"),
    ((0, "1 skipped in 0.1s\n"), "skipped", "1 skipped in 0.1s"),
    ((77, "no packaging\n"), "skipped", "no packaging"),
    ((-11, ""), "its test ended with -11, and no assertion failed", ""),
    ((1, "ERROR tests/e2e/test_a.py::test_check\n1 error in 0.1s\n"), "its test ended with 1, and no assertion failed", ""),
    ((None, "waiting\n"), f"its test did not end in {run.TEST_TIME} s", "waiting"),
]


def write(top, files):
    for path, text in files.items():
        (top / path).parent.mkdir(parents=True, exist_ok=True)
        if text is not None:
            (top / path).write_text(text, encoding="utf-8")


class OurMutants(unittest.TestCase):
    def setUp(self):
        self.all = mutants.read()

    def test_each_fits_the_sources(self):
        self.assertEqual([why for why in map(mutants.fault, self.all) if why], [])

    def test_there_are_enough_and_in_each_folder(self):
        folders = {path.parent for name in TOPS for path in (TOP / name).rglob("*.c")}
        self.assertGreaterEqual(len(self.all), MOST_FEW)
        lacking = folders - {(TOP / one.path).parent for one in self.all}
        self.assertEqual(sorted(str(path.relative_to(TOP)) for path in lacking), [], "no planted bug is in these folders")

    def test_all_lists_are_in_the_tarball(self):
        listed = (TOP / "tests/mutants/Makemodule.am").read_text(encoding="utf-8")
        here = [path.name for path in (TOP / "tests/mutants").iterdir() if path.suffix in (".txt", ".py")]
        self.assertEqual([name for name in here if f"/{name}" not in listed], [])


class Lists(unittest.TestCase):
    def test_parts_of_a_mutant(self):
        one, other = mutants.parse(LIST, "a.txt")
        self.assertEqual((one.name, one.harm, one.path, one.test),
                         ("one-too-many", "a list has a row too many.", "cli/a.c", "tests/unit/test-a"))
        self.assertEqual(other.lines, [("-", "check(x);")])

    def test_wrong_lists_are_named(self):
        for change, words in WRONG_LISTS:
            with self.subTest(words), self.assertRaisesRegex(mutants.Stale, rf"a\.txt: .*{words}"):
                mutants.parse(LIST.replace(*change), "a.txt")

    def test_bug_is_planted_at_its_place(self):
        one, other = mutants.parse(LIST, "a.txt")
        self.assertEqual(mutants.place(one, SOURCE), SOURCE.replace("\t\t\tif (i < n)", "if (i <= n)"))
        self.assertEqual(mutants.place(other, SOURCE), SOURCE.replace("\t\t\tcheck(x);\n", ""))

    def test_what_does_not_fit_is_said(self):
        for change, words in FAULTS:
            with self.subTest(words), tempfile.TemporaryDirectory() as name:
                write(pathlib.Path(name), TESTS | change)
                found = [mutants.fault(one, pathlib.Path(name)) for one in mutants.parse(LIST, "a.txt")]
                self.assertTrue(any(words in (why or "") for why in found), found)


class Runner(unittest.TestCase):
    def test_end_of_a_test(self):
        for end, kind, words in ENDS:
            with self.subTest(end=end):
                outcome = run.judge(*end)
                self.assertEqual(outcome.kind, kind)
                self.assertIn(words, outcome.words)

    def test_copy_follows_the_sources(self):
        with tempfile.TemporaryDirectory() as name:
            top, copy = pathlib.Path(name, "top"), pathlib.Path(name, "copy")
            write(top, {"cli/a.c": "one", "cli/b.c": "two", "configure": "", ".git/x": "", "build/x": ""})
            run.bring_up_to_date(copy, top)
            self.assertEqual(sorted(str(path.relative_to(copy)) for path in copy.rglob("*.*")), ["cli/a.c", "cli/b.c"])
            before = (copy / "cli/b.c").stat().st_mtime_ns
            write(copy, {"cli/a.c": "a bug that a killed run has left", "configure": "made here", "build-aux/made": ""})
            (top / "cli/b.c").rename(top / "cli/c.c")
            run.bring_up_to_date(copy, top)
            self.assertEqual((copy / "cli/a.c").read_text(), "one")
            self.assertGreater((copy / "cli/a.c").stat().st_mtime_ns, before)
            self.assertEqual(sorted(map(str, run.sources(copy))), ["build-aux/made", "cli/a.c", "cli/c.c"])
            self.assertEqual((copy / "configure").read_text(), "made here")

    def test_report_has_each_mutant(self):
        one, other = mutants.parse(LIST, "a.txt")
        with tempfile.TemporaryDirectory() as name:
            path = pathlib.Path(name, "mutants.xml")
            results = [run.Result(one, "passed", "found"), run.Result(other, "failed", "it passes with it"),
                       run.Result(other, "skipped", "no client")]
            run.write_report(path, results)
            text = path.read_text()
        self.assertEqual([text.count(f"<{what} ") for what in ("testcase", "failure", "skipped")], [3, 1, 1])
        self.assertIn("cli/a.c: nothing is checked.", text)
        self.assertEqual(run.last_line(results), "1 passed, 1 failed, 1 skipped")


if __name__ == "__main__":
    unittest.main()
