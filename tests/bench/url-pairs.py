# SPDX-License-Identifier: Apache-2.0
"""Runs url-pairs twice: on every link of the recorded pages, and on references made of awkward pieces."""
import gzip
import html
import itertools
import json
import pathlib
import re
import subprocess
import sys

PAGES = pathlib.Path(__file__).resolve().parents[3] / "shared" / "corpus" / "pages"
BEGINNINGS = ["", "/", "//", "//h2/", "//H2:80/", "//u:p@h2/", "http:", "http://", "HTTP://Host/", "https://h2:443/", "https://h2",
              "ftp://h/", "mailto:", "?", "#", "http://h2:99999/", "http://h 2/", "//[::1]/", "http:///", "file:///"]
SEGMENTS = ["", "a", ".", "..", "%2e", "%2E%2e", "a%2fb", "b c", "é", "g;x=1", "a:b", "~", "a+b", "%zz", "x.", "..x"]
ENDINGS = ["", "?q=1", "#f", "/", "?a/../b?c#d/.."]


def recorded():
    for path in sorted(PAGES.glob("*.json.gz")):
        yield from (file["url"] for file in json.loads(gzip.decompress(path.read_bytes()))["files"])
    for path in sorted(PAGES.glob("html/*.html.gz")):
        yield from map(html.unescape, re.findall(r'href="([^"]*)"', gzip.decompress(path.read_bytes()).decode()))


def awkward():
    for beginning, count, ending in itertools.product(BEGINNINGS, (1, 2, 3), ENDINGS):
        for segments in itertools.product(SEGMENTS, repeat=count):
            yield beginning + "/".join(segments) + ending


def main():
    for name, references in (("recorded pages", recorded()), ("awkward references", awkward())):
        print(f"== {name}", flush=True)
        subprocess.run(sys.argv[1], input="".join(f"{one}\n" for one in references).encode(), check=True)


if __name__ == "__main__":
    main()
