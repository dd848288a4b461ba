#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that a test exceeds each limit of lib/base/limits.h.

A test says it beside itself: a comment or docstring in it, or the comment right above it, has "Exceeds LIMIT_A" or
"Exceeds LIMIT_A, LIMIT_B". So the mark moves, and goes, with the test. A mark must stand in a test, and name a limit.
"""
import pathlib
import re
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]

LIMIT = re.compile(r"^\t(LIMIT_[A-Z0-9_]+)\b", re.M)
MARK = re.compile(r"\bExceeds ((?:LIMIT_[A-Z0-9_]+(?:, )?)+)")
# A test of cmocka has the state as its argument; pytest and unittest know a test by its name.
TEST = {".c": re.compile(r"^(?:static )?void (\w+)\(void \*\*"), ".py": re.compile(r"^\s*def (test_\w+)\(")}
OUTSIDE = {".c": re.compile(r"^\}"), ".py": re.compile(r"^\s*(?:class|def) ")}  # ends a test
COMMENT = {".c": ("//",), ".py": ("#", "@")}  # what may stand between a mark and the test below it


def test_below(lines, at, suffix):
    """The test that begins below the comment in line at, or None."""
    while at < len(lines) and lines[at].lstrip().startswith(COMMENT[suffix]):
        at += 1
    found = TEST[suffix].match(lines[at]) if at < len(lines) else None
    return found and found[1]


def tests_of_lines(text, suffix):
    """For each line the test that it is of, or None."""
    lines, inside = text.split("\n"), None
    for at, line in enumerate(lines):
        begins = TEST[suffix].match(line)
        if begins:
            inside = begins[1]
        elif OUTSIDE[suffix].match(line):
            inside = None
        yield line, inside or (test_below(lines, at, suffix) if line.lstrip().startswith(COMMENT[suffix]) else None)


def marks_of(text, suffix):
    """(limit, test or None) for each mark."""
    for line, test in tests_of_lines(text, suffix):
        for mark in MARK.finditer(line):
            for limit in re.findall(r"LIMIT_\w+", mark[1]):
                yield limit, test


def complaints(limits_h, files):
    """files: text by name."""
    limits = set(LIMIT.findall(limits_h))
    exceeded = set()
    for name, text in files.items():
        for limit, test in marks_of(text, pathlib.Path(name).suffix):
            if limit not in limits:
                yield f"{name}: {limit} is no limit of lib/base/limits.h"
            elif not test:
                yield f"{name}: the mark of {limit} stands in no test"
            else:
                exceeded.add(limit)
    for limit in sorted(limits - exceeded):
        yield f'{limit}: no test exceeds it, or none says "Exceeds {limit}"'


def files_of_tests():
    for folder in ("tests/unit", "tests/e2e", "tests/afs"):
        for path in sorted((TOP / folder).rglob("*")):
            if path.suffix in TEST and path.resolve() != pathlib.Path(__file__).resolve():
                yield str(path.relative_to(TOP)), path.read_text()


HEADER = "enum {\n\tLIMIT_A = 1, // bytes\n\tLIMIT_B = LIMIT_A + 1,\n\tLIMIT_C1 = 3,\n};\n"
GOOD = {
    "a.c": "// Exceeds LIMIT_A, LIMIT_B.\nstatic void test_a(void **state UNUSED)\n{\n}\n",
    "b.py": '@mark\ndef test_b(at):\n    """Exceeds LIMIT_C1: it is cut."""\n',
}
BREACHES = [  # a file beside the good ones, or in their place; the complaint
    ({"c.c": "static void test_c(void **state)\n{\n\tx(); // Exceeds LIMIT_D\n}\n"}, "c.c: LIMIT_D is no limit"),
    ({"c.c": "static void help(int x)\n{\n\tx(); // Exceeds LIMIT_A\n}\n"}, "c.c: the mark of LIMIT_A stands in no test"),
    ({"c.c": "static void test_c(void **state)\n{\n}\n// Exceeds LIMIT_A.\nstatic int x;\n"}, "LIMIT_A stands in no test"),
    ({"c.py": "def test_c():\n    pass\n\n\ndef help():\n    # Exceeds LIMIT_A.\n    pass\n"}, "LIMIT_A stands in no test"),
    ({"b.py": ""}, "LIMIT_C1: no test exceeds it"),
    ({"a.c": GOOD["a.c"].replace(", LIMIT_B", "; LIMIT_B is large")}, "LIMIT_B: no test exceeds it"),
]


class Limits(unittest.TestCase):
    def test_each_limit_is_exceeded_by_a_test(self):
        found = list(complaints((TOP / "lib/base/limits.h").read_text(), dict(files_of_tests())))
        self.assertEqual(found, [], "\n" + "\n".join(found))

    def test_good_marks(self):
        self.assertEqual(list(complaints(HEADER, GOOD)), [])
        above = "class T:\n    # Exceeds LIMIT_C1.\n    @mark\n    def test_b(self):\n        pass\n"
        self.assertEqual(list(complaints(HEADER, {**GOOD, "b.py": above})), [])

    def test_breaches(self):
        for files, words in BREACHES:
            with self.subTest(words):
                found = list(complaints(HEADER, {**GOOD, **files}))
                self.assertEqual(len(found), 1, found)
                self.assertIn(words, found[0])


if __name__ == "__main__":
    unittest.main()
