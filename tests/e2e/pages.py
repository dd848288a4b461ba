# SPDX-License-Identifier: Apache-2.0
"""Parses simple API pages, HTML and JSON, into the same facts."""
import dataclasses
import html.parser
import json
import urllib.parse

JSON = "application/vnd.pypi.simple.v1+json"
HTML = "text/html"


@dataclasses.dataclass(frozen=True)
class File:
    """The facts of a file that both formats can express."""
    filename: str
    url: str  # absolute, without fragment
    sha256: str
    requires_python: str | None
    metadata_sha256: str | None
    yanked: str | bool


class _Reader(html.parser.HTMLParser):
    """Collects the anchors (attributes and text) and the meta elements of a page."""

    def __init__(self, text):
        super().__init__()
        self.anchors, self.meta, self.inside, self.doctype = [], {}, False, None
        self.feed(text)
        self.close()

    def handle_decl(self, decl):
        self.doctype = decl

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag == "meta" and "name" in attrs:
            self.meta[attrs["name"]] = attrs["content"]
        if tag == "a":
            self.anchors.append((attrs, []))
            self.inside = True

    def handle_endtag(self, tag):
        if tag == "a":
            self.inside = False

    def handle_data(self, data):
        if self.inside:
            self.anchors[-1][1].append(data)


def _read(body):
    reader = _Reader(body.decode("utf-8"))
    assert reader.doctype == "DOCTYPE html"
    assert reader.meta["pypi:repository-version"] == "1.4"
    return [(attrs, "".join(text)) for attrs, text in reader.anchors]


def _hash(text, mark):
    """The hex of "sha256=HEX" (HTML) as the standard writes it."""
    algorithm, _, value = text.partition("=")
    assert algorithm == "sha256" and len(value) == 64, f"{mark}: {text}"
    return value


def html_files(body, url):
    """The files of an HTML project page from url, in its order."""
    files = []
    for attrs, text in _read(body):
        link, fragment = urllib.parse.urldefrag(urllib.parse.urljoin(url, attrs["href"]))
        metadata = attrs.get("data-core-metadata")
        assert attrs.get("data-dist-info-metadata") == metadata, text
        assert text == urllib.parse.unquote(link.rsplit("/", 1)[1])
        yanked = attrs.get("data-yanked")
        files.append(File(text, link, _hash(fragment, text), attrs.get("data-requires-python"),
                          metadata and _hash(metadata, text), False if yanked is None else yanked or True))
    return files


def json_files(body, url):
    """The same for a JSON project page; also checks what the standard requires beyond these."""
    page = json.loads(body)
    assert page["meta"] == {"api-version": "1.4"}
    files = []
    for one in page["files"]:
        assert None not in one.values(), f"null in {one}"  # uv refuses the whole page
        assert "dist-info-metadata" not in one  # pip 22.3 to 23.1 crash on it
        assert list(one["hashes"]) == ["sha256"]
        metadata = one.get("core-metadata", False)
        files.append(File(one["filename"], urllib.parse.urljoin(url, one["url"]), one["hashes"]["sha256"],
                          one.get("requires-python"), metadata["sha256"] if metadata else None,
                          one.get("yanked", False)))
    return files


def html_projects(body, url):
    """Name -> URL of each project of an HTML root, in its order."""
    return [(text, urllib.parse.urljoin(url, attrs["href"])) for attrs, text in _read(body)]


def json_projects(body):
    page = json.loads(body)
    assert page["meta"] == {"api-version": "1.4"}
    return [one["name"] for one in page["projects"]]
