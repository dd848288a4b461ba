# SPDX-License-Identifier: Apache-2.0
"""Makes pairs of wheels for comparisons, and reads the forms of a comparison with readers that are not ours."""
import html.parser
import json
import re
import zipfile

import storelib

NAME = "pair-1.0-py3-none-any.whl"


def wheel(folder, *, files=None, metadata="", compress=zipfile.ZIP_DEFLATED, turn=False, name=NAME, tag="py3-none-any"):
    """A wheel whose members, METADATA lines, compression and order a test chooses."""
    project, version = name.split("-")[:2]
    text = storelib.metadata_bytes(project, version, extra=metadata)
    members = storelib.wheel_members(project, version, tag, files=files, metadata=text)
    if turn:
        members = members[::-1]
    folder.mkdir(exist_ok=True, parents=True)
    storelib.zip_write(folder / name, members, compress)
    return folder / name


def compare(wheelcache, *arguments, code=0):
    done = wheelcache("compare", *arguments)
    assert done.returncode == code, done.stderr
    return done


def document(wheelcache, *arguments):
    return json.loads(compare(wheelcache, "--json", *arguments).stdout)


class Page(html.parser.HTMLParser):
    """The tables of a page: a list of rows of texts, by heading. Fails where tags are not closed in order."""

    VOID = {"input", "meta", "link", "br"}

    def __init__(self, text):
        super().__init__()
        self.open, self.tables, self.heading, self.tags = [], {}, None, set()
        self.scripts = 0
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.scripts += tag == "script"
        if tag not in self.VOID:
            self.open.append(tag)
        if tag == "tr":
            self.tables.setdefault(self.heading, []).append([])
        if tag in ("td", "th"):
            self.tables[self.heading][-1].append("")
        if tag == "h2":
            self.heading = ""

    def handle_startendtag(self, tag, attrs):
        self.tags.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] in ("td", "th"):
            self.tables[self.heading][-1][-1] += data
        elif self.open and self.open[-1] == "h2":
            self.heading += data


def markdown_tables(text):
    """The same of Markdown, by GitHub's rules for tables: cells end at a "|" without backslash."""
    tables, heading = {}, None
    for line in text.splitlines():
        if line.startswith("## "):
            heading = line[3:]
        elif line.startswith("|") and not line.startswith("| ---"):
            cells = re.split(r"(?<!\\)\|", line)[1:-1]
            tables.setdefault(heading, []).append(
                [re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", one).strip().strip("*") for one in cells])
    return tables
