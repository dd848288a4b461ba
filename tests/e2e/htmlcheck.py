# SPDX-License-Identifier: Apache-2.0
"""Reads a page for people as strictly as a screen reader needs it: nesting, landmarks, headings, names, labels."""
import html.parser
import urllib.parse

VOID = {"meta", "link", "img", "input", "br", "wbr", "hr"}
ALONE = {"main", "h1", "title", "html", "body"}  # exactly one of each
SHAPES = {"circle", "path", "rect"}
WITHIN = {"tr": {"thead", "tbody", "table"}, "td": {"tr"}, "th": {"tr"}, "li": {"ul", "ol"}, "dt": {"dl", "div"}, "dd": {"dl", "div"},
          "thead": {"table"}, "tbody": {"table"}, "option": {"select"}, "figcaption": {"figure"}}


class HtmlCheck(html.parser.HTMLParser):
    """links: the addresses. text: all words. A fault is an AssertionError."""

    def __init__(self, page):
        super().__init__()
        self.open, self.count, self.links, self.words = [], {}, [], []
        self.ids, self.named, self.heading, self.labelled, self.fields, self.references = set(), [], 0, set(), [], []
        self.naming = None  # the open link or button, until it has a word
        self.feed(page)
        self.close()
        assert not self.open, self.open
        assert {tag: self.count.get(tag, 0) for tag in ALONE} == dict.fromkeys(ALONE, 1), self.count
        assert len(self.named) == len(set(self.named)), self.named
        assert all(name or key in self.labelled for key, name in self.fields), self.fields
        assert set(self.references) <= self.ids, self.references

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())

    def handle_starttag(self, tag, attrs):
        at, where = dict(attrs), self.getpos()
        assert len(at) == len(attrs), (where, attrs)
        assert tag != "style" and "style" not in at and not [key for key in at if key.startswith("on")], (where, attrs)
        assert not WITHIN.get(tag) or self.open[-1] in WITHIN[tag], (where, tag, self.open)
        self.count[tag] = self.count.get(tag, 0) + ("svg" not in self.open)
        if "id" in at:
            assert at["id"] not in self.ids, (where, at)
            self.ids.add(at["id"])
        self.references += (at.get("aria-labelledby") or "").split()
        check = getattr(self, f"check_{tag}", None)
        if check:
            check(at, where)
        if at.get("role") == "region" or tag == "nav":
            assert at.get("aria-label"), (where, at)
            self.named.append((tag, at["aria-label"]))
        if tag in ("a", "button"):
            assert not self.naming, (where, "nested")
            self.naming = where if not at.get("aria-label") else None
        if tag[0] == "h" and tag[1:].isdigit():
            assert int(tag[1]) <= self.heading + 1, (where, tag, "after", self.heading)
            self.heading = int(tag[1])
        if tag not in VOID:
            self.open.append(tag)

    def check_html(self, at, where):
        assert at.get("lang") == "en", where

    def check_a(self, at, where):
        assert at.get("href"), (where, at)
        self.links.append(at["href"])

    def check_th(self, at, where):
        assert at.get("scope") in ("col", "colgroup", "row"), (where, at)

    def check_table(self, _, where):
        assert "div" in self.open or "article" in self.open, (where, "a table without a box")

    def check_img(self, at, where):
        assert "alt" in at and at.get("width") and at.get("height"), (where, at)

    def check_svg(self, at, where):
        assert at.get("aria-hidden") == "true" or (at.get("role") == "img" and at.get("aria-labelledby")), (where, at)

    def check_script(self, at, where):
        assert at.get("src") and "defer" in at, (where, at)

    def check_label(self, at, _):
        self.labelled.add(at.get("for"))

    def check_input(self, at, _):
        if at.get("type") not in ("hidden", "submit"):
            self.fields.append((at.get("id"), at.get("aria-label") or "label" in self.open))

    check_select = check_textarea = check_input

    def handle_startendtag(self, tag, attrs):
        assert tag in SHAPES, tag

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, (self.getpos(), tag)
        if tag in ("a", "button"):
            assert not self.naming, (self.naming, "no words")

    def handle_data(self, data):
        if data.strip():
            self.naming = None
            self.words.append(data)


def dead_links(server, pages):
    """Asks for each link of the pages, by path their HTML, from where the page is. How many there are; and the path of each that
    leads nowhere, with the status and the page that has it. A log and a way in ask for a token."""
    asked = {}
    for path, text in pages.items():
        for link in HtmlCheck(text).links:
            url = urllib.parse.urljoin(f"http://host{path}", link)
            if url.startswith("http://host"):
                asked.setdefault(url.partition("#")[0].removeprefix("http://host"), path)
    answers = {path: server.get(path).status for path in asked}
    return len(answers), {path: (status, asked[path]) for path, status in answers.items()
                          if status not in ((401, 403) if path.startswith(("/-/log/", "/?sign-in=")) else (200, 302))}
