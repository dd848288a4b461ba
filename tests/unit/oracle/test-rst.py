#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares reStructuredText as HTML with docutils: the words of real descriptions, those of the recorded wheels and of the
packages of this machine. With an argument: all of them, otherwise a sample.

The test runs in the build folder, where render-readme is. It needs docutils.
"""
import collections
import email
import html.parser
import os
import pathlib
import re
import subprocess
import sys
import unittest
import zipfile

try:
    import docutils.core
    import docutils.nodes as nodes
except ImportError:
    docutils = None

TOP = pathlib.Path(__file__).resolve().parents[3]
SHARED = pathlib.Path(os.environ.get("WHEELCACHE_SHARED") or TOP.parent / "shared")
TOOL = next(pathlib.Path.cwd().rglob("render-readme"))
MOST = 1 << 40 if sys.argv[1:] else 12
MADE_UP = """Title
=====

A *b* **c** ``d e`` `f g`_ h_ |i| and `j <https://k>`_. See https://l/m.

.. _f g: https://n
.. _h: https://o
.. |i| replace:: p q

- r

  s
- t::

    u v

1. w
2. x

y
  z

:aa: bb
:cc: dd
  ee

== ==
ff gg
== ==
hh ii
== ==

+----+----+
| jj | kk |
+====+====+
| ll | mm |
+----+----+

.. comment

.. code:: python

   nn = oo

>>> pp
qq

| rr
| ss
"""


class Words(html.parser.HTMLParser):
    """Collects the text of a page; elements within a line do not part words."""

    def __init__(self, page):
        super().__init__()
        self.text = []
        self.feed(page)

    def handle_data(self, data):
        self.text.append(data)

    def handle_starttag(self, name, attributes):
        self.text.append("" if name in ("a", "em", "strong", "code") else " ")

    def handle_endtag(self, name):
        self.handle_starttag(name, [])


def words(text):
    return collections.Counter(re.findall(r"\w+", text))


def ours(text):
    done = subprocess.run([TOOL, "rst"], input=text.encode(), capture_output=True, check=True)
    return words("".join(Words(done.stdout.decode()).text))


def walk(node):
    """Yields the text of docutils' document, without what it made itself: messages and tables of contents."""
    if isinstance(node, nodes.Text):
        yield node.astext()
    elif not isinstance(node, (nodes.system_message, nodes.comment, nodes.substitution_definition, nodes.raw)):
        if isinstance(node, nodes.image):
            yield f" {node.get('alt') or ''} "
        if "contents" in node.get("classes", []) or isinstance(node, nodes.generated):
            return
        for child in node.children:
            yield from walk(child)
        if not isinstance(node, nodes.Inline):
            yield " "


def theirs(text):
    quiet = {"report_level": 5, "halt_level": 6, "file_insertion_enabled": False, "raw_enabled": False,
             "_disable_config": True}
    return words("".join(walk(docutils.core.publish_doctree(text, settings_overrides=quiet))))


def metadata():
    """Yields the METADATA of wheels and packages."""
    for path in sorted((SHARED / "corpus" / "wheels").rglob("*.whl")):
        with zipfile.ZipFile(path) as wheel:
            yield from (wheel.read(name) for name in wheel.namelist() if re.fullmatch(r"[^/]+\.dist-info/METADATA", name))
    for folder in map(pathlib.Path, sys.path):
        yield from (path.read_bytes() for path in sorted(folder.glob("*.dist-info/METADATA")))


def descriptions():
    """Returns the descriptions that are reStructuredText, each once, by their projects."""
    found = {}
    for data in metadata():
        fields = email.message_from_bytes(data)
        text = data.decode("utf-8", "replace").replace("\r\n", "\n").partition("\n\n")[2]
        if fields.get("Description-Content-Type", "").startswith("text/x-rst") and text.strip():
            found[text] = f"{fields['Name']} {fields['Version']}"
    return found


@unittest.skipUnless(docutils, "docutils is not installed")
class Rst(unittest.TestCase):
    def test_all_kinds_of_blocks_have_the_words_of_docutils(self):
        self.assertEqual(ours(MADE_UP), theirs(MADE_UP))

    def test_no_word_of_a_real_description_is_lost(self):
        found = sorted(descriptions().items(), key=lambda row: len(row[0]))
        if not found:
            self.skipTest("no description is here")
        step = max(1, len(found) // MOST)
        for text, name in found[::step]:
            expected = theirs(text)
            lost = expected - ours(text)
            self.assertLessEqual(sum(lost.values()), max(1, sum(expected.values()) // 50), (name, lost))
        print(f"{len(found[::step])} of {len(found)} descriptions", file=sys.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
