# SPDX-License-Identifier: Apache-2.0
"""Planted bugs: the lists of mutants in *.txt beside this file, and how one is put into a source.

A list has paragraphs. Each is one mutant:

    NAME: what a user would suffer.
    in PATH
     a line around it, if the line alone is there several times
    -the line of the source
    +the line with the bug
    found by TEST

Lines are compared without the blanks around them, so that a mutant survives a new indentation. They must stand in PATH
exactly once. TEST is a unit test program, a script of tests/unit, or an end-to-end test as pytest names it.
"""
import dataclasses
import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parents[1]


class Stale(Exception):
    """A mutant that does not fit the sources."""


@dataclasses.dataclass
class Mutant:
    name: str
    harm: str
    path: str
    lines: list  # (" ", "-" or "+", text)
    test: str

    def before(self):
        return [text for mark, text in self.lines if mark in " -"]


def lines_of(rows):
    return [(row[0], row[1:].strip()) for row in rows if row[1:].strip()]


def parse_one(paragraph, origin):
    rows = paragraph.split("\n")
    head, place, tail = re.match(r"([a-z0-9-]+): (.+)", rows[0]), rows[1:2], rows[-1]
    if not head or not place or not place[0].startswith("in ") or not tail.startswith("found by "):
        raise Stale(f"{origin}: this is no mutant (NAME: HARM, in PATH, lines, found by TEST): {rows[0]}")
    lines = lines_of(rows[2:-1])
    if any(mark not in " -+" for mark, _ in lines) or not any(mark in "-+" for mark, _ in lines):
        raise Stale(f"{origin}: {head[1]}: its lines do not begin with \" \", \"-\" or \"+\", or change nothing")
    return Mutant(head[1], head[2], place[0].removeprefix("in "), lines, tail.removeprefix("found by "))


def parse(text, origin):
    """The mutants of a list; lines with "#" are comments."""
    text = re.sub(r"^#.*\n", "", text, flags=re.M)
    return [parse_one(paragraph, origin) for paragraph in re.split(r"\n{2,}", text.strip("\n")) if paragraph]


def read(folder=HERE):
    """All mutants, in the order of the lists."""
    found = [one for path in sorted(folder.glob("*.txt")) for one in parse(path.read_text(encoding="utf-8"), path.name)]
    names = [one.name for one in found]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise Stale(f"several mutants have the name {' '.join(twice)}")
    return found


def place(mutant, text):
    """Returns the text of the source with the bug."""
    rows, wanted = text.split("\n"), mutant.before()
    bare = [row.strip() for row in rows]
    found = [at for at in range(len(rows) - len(wanted) + 1) if bare[at:at + len(wanted)] == wanted]
    if len(found) != 1:
        raise Stale(f"{mutant.name}: its lines stand {len(found)} times in {mutant.path}, not once: bring the mutant up to "
                    f"date: {' / '.join(wanted)}")
    at, out = found[0], []
    for mark, line in mutant.lines:
        out += [rows[at]] if mark == " " else [line] if mark == "+" else []
        at += mark in " -"
    return "\n".join(rows[:found[0]] + out + rows[at:])


def has_test(test, top):
    """Whether a program, a script or an end-to-end test is there."""
    path, _, name = test.partition("::")
    if not name:
        return not path.startswith("tests/e2e/") and any((top / one).is_file() for one in (path, f"{path}.c"))
    return (top / path).is_file() and f"\ndef {name}(" in (top / path).read_text(encoding="utf-8")


def fault(mutant, top=TOP):
    """What is wrong with a mutant in the sources below top; None: nothing."""
    source = top / mutant.path
    if not source.is_file():
        return f"{mutant.name}: there is no {mutant.path}: bring the mutant up to date"
    if not has_test(mutant.test, top):
        return f"{mutant.name}: there is no {mutant.test}: name the test that finds it now"
    try:
        place(mutant, source.read_text(encoding="utf-8"))
    except Stale as reason:
        return str(reason)
    return None
