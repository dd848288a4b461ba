# SPDX-License-Identifier: Apache-2.0
"""Compares what lib/domain/index/simplepage parses from recorded pages with Python's json, html.parser and urljoin."""
import calendar
import gzip
import html.parser
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse

TOOL = "tests/unit/oracle/simplepage-tool"
SHARED = pathlib.Path(os.environ.get("WHEELCACHE_SHARED") or pathlib.Path(os.environ.get("srcdir", ".")) / "../shared")
DATA = pathlib.Path(os.environ.get("srcdir", ".")) / "tests/data"  # a small set, in the project
PAGES = next((path for path in (SHARED / "corpus/pages", DATA / "corpus/pages") if path.is_dir()), None)
LARGEST = 200_000  # bytes, compressed; larger pages are alike and take seconds each under sanitizers
BASE = "http://me:secret@127.0.0.1:9/root/simple/"
JSON, HTML = "application/vnd.pypi.simple.v1+json", "text/html; charset=utf-8"


def ask(pages):
    """Returns the answer of the tool for each (type, project, body)."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = []
        for number, (kind, project, body) in enumerate(pages):
            path = pathlib.Path(folder, str(number))
            path.write_bytes(body)
            arguments += [kind, f"{BASE}{project}/", project, path]
        done = subprocess.run([TOOL, *arguments], capture_output=True, check=True)
    return [json.loads(line) for line in done.stdout.decode().splitlines()]


def seconds(text):
    whole = re.fullmatch(r"(....-..-..T..:..:..)(\.\d+)?Z", text or "")
    return calendar.timegm(time.strptime(whole[1], "%Y-%m-%dT%H:%M:%S")) if whole else 0


def file_facts(project, file):
    """A file of a JSON page in the form of the tool."""
    url = urllib.parse.urljoin(f"http://127.0.0.1:9/root/simple/{project}/", file["url"]).partition("#")[0]
    core = file.get("core-metadata")
    facts = {"filename": file["filename"], "url": url, "size": file.get("size", -1), "metadata": bool(core),
             "uploaded": seconds(file.get("upload-time")), "upload-time": file.get("upload-time"),
             "requires-python": file.get("requires-python"), "provenance": file.get("provenance"),
             "sha256": file["hashes"].get("sha256"), "metadata-sha256": core["sha256"] if core else None}
    yanked = file.get("yanked", False)
    facts["yanked"] = "" if yanked is True else None if yanked is False else yanked
    return {key: value for key, value in facts.items() if value is not None}


class Anchors(html.parser.HTMLParser):
    """The files of an HTML page, in the form of a JSON page."""

    def __init__(self, body):
        super().__init__()
        self.files = []
        self.feed(body)

    def handle_starttag(self, tag, attrs):
        if tag != "a":
            return
        has = dict(attrs)
        url, _, fragment = has["href"].partition("#")
        file = {"filename": urllib.parse.unquote(url.rpartition("/")[2]), "url": url,
                "hashes": dict([fragment.split("=")]), "requires-python": has.get("data-requires-python"),
                "upload-time": has.get("data-upload-time"), "yanked": has.get("data-yanked", False)}
        if has.get("data-core-metadata", "").startswith("sha256="):
            file["core-metadata"] = {"sha256": has["data-core-metadata"][7:]}
        self.files.append(file)


class Recorded(unittest.TestCase):
    def some(self, pattern):
        paths = sorted(p for p in PAGES.glob(pattern) if p.stat().st_size <= LARGEST)
        self.assertGreater(len(paths), 3)
        return [(path.name.split(".")[0], gzip.decompress(path.read_bytes())) for path in paths]

    def test_json(self):
        pages = self.some("*.json.gz")
        for (project, body), answer in zip(pages, ask([(JSON, *page) for page in pages]), strict=True):
            with self.subTest(project):
                page = json.loads(body)
                self.assertEqual(answer["files"], [file_facts(project, f) for f in page["files"]])
                self.assertEqual([v["version"] for v in answer["versions"]], page["versions"])
                self.assertEqual(answer["serial"], page["meta"]["_last-serial"])
                self.assertEqual(answer["status"], "active")

    def test_html(self):
        pages = self.some("html/*.html.gz")
        for (project, body), answer in zip(pages, ask([(HTML, *page) for page in pages]), strict=True):
            with self.subTest(project):
                files = Anchors(body.decode()).files
                self.assertGreater(len(files), 3)
                self.assertEqual(answer["files"], [file_facts(project, f) for f in files])

    def test_truncated_pages_are_faults(self):
        """Cuts each page at a few places, one of them in the last bytes."""
        for pattern, kind in (("*.json.gz", JSON), ("html/*.html.gz", HTML)):
            project, body = min(self.some(pattern), key=lambda page: len(page[1]))
            body = body.rstrip()
            cuts = [1, 30, len(body) // 3, len(body) // 2, len(body) - 2, len(body) - 1]
            for cut, answer in zip(cuts, ask([(kind, project, body[:cut]) for cut in cuts]), strict=True):
                with self.subTest(kind, cut=cut):
                    self.assertIn(answer["fault"], ("truncated", "not-a-page"))
                    self.assertTrue(answer["fault"] == "truncated" or kind == HTML and cut == 30 or cut == 1)


if __name__ == "__main__":
    sys.exit(unittest.main())
