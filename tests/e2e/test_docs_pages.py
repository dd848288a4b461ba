# SPDX-License-Identifier: Apache-2.0
"""The documentation at /-/docs/: every page of docs/, each link between them, on the server and on a forge."""
import html.parser
import pathlib
import re
import urllib.parse

import pytest

import clients
import serving

DOCS = clients.ROOT / "docs"
NAMES = sorted([path.name for path in DOCS.glob("*.md")] + ["README.md"])


class Page(html.parser.HTMLParser):
    """The links, ids, elements and text of a page, without code."""

    def __init__(self, text):
        super().__init__()
        self.links, self.ids, self.elements, self.words, self.code = [], [], set(), "", 0
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.elements.add(tag)
        self.links += [attributes["href"]] if tag == "a" else []
        self.ids += [attributes["id"]] if "id" in attributes else []
        self.code += tag == "code"

    def handle_endtag(self, tag):
        self.code -= tag == "code"

    def handle_data(self, data):
        self.words += "" if self.code else data


@pytest.fixture(scope="module", name="server")
def server_fixture(serve_module, tmp_path_factory):
    return serve_module(tmp_path_factory.mktemp("store"))


@pytest.fixture(scope="module", name="pages")
def pages_fixture(server):
    """Each page by its name; the index is "index.md" too."""
    answers = {name: server.get(f"/-/docs/{name}") for name in NAMES}
    assert {name: answer.status for name, answer in answers.items()} == dict.fromkeys(NAMES, 200)
    return {name: Page(answer.body.decode()) for name, answer in answers.items()}


def below_docs(link):
    """The page and the heading of a link from a page of the documentation; None: it leads elsewhere."""
    parts = urllib.parse.urlsplit(urllib.parse.urljoin("http://x/-/docs/", link))
    return (parts.path.removeprefix("/-/docs/") or "index.md", parts.fragment) if parts.path.startswith("/-/docs/") and parts.netloc == "x" else None


def test_index_leads_to_every_page(server, pages):
    index = Page(server.get("/-/docs/").body.decode())
    assert index.words == pages["index.md"].words
    assert {name for name, _ in filter(None, map(below_docs, index.links))} >= set(NAMES)
    for role in ("CI user", "Builder", "Operator", "Developer"):
        assert f"{role}: " in index.words


def test_each_page_says_first_for_whom_it_is():
    """And what the reader gets."""
    roles = r"For (CI users|builders|operators|developers)\b[^.]*: [^.]{20,}\."
    for path in DOCS.glob("*.md"):
        assert path.name == "index.md" or re.match(roles, path.read_text(encoding="utf-8").split("\n\n")[1].replace("\n", " ")), path.name


def test_links_lead_to_pages_and_headings(pages):
    followed = 0
    for name, page in pages.items():
        for link in page.links:
            found = below_docs(link)
            if found and link != "#main" and not link.startswith("#"):
                assert found[0] in pages, (name, link)
                assert not found[1] or found[1] in pages[found[0]].ids, (name, link)
                followed += 1
            elif link.startswith("#"):
                assert link[1:] in page.ids, (name, link)
    assert followed > 30


def test_index_names_routes_that_are_there():
    manual = re.sub(r" Ns |Ar |Pa ", "", (DOCS / "wheelcache.1").read_text(encoding="utf-8"))
    named = re.findall(r"`(/-/[^`]*)`", (DOCS / "index.md").read_text(encoding="utf-8"))
    assert len(named) > 10
    for path in named:
        assert f".It {path.partition('?')[0].lower().replace('/name', '/project')}" in manual, path


def test_no_page_has_markup_as_text(pages):
    """What the renderer does not know would show: fences, tables, links, raw HTML."""
    for name, page in pages.items():
        assert not re.search(r"\]\([a-z.]+\)|^\|.*\|$|^#+ |^```", page.words, re.M), name
        assert page.elements >= {"h1", "h2", "article"}
        assert not page.elements & {"img", "style", "iframe"}
        assert page.words.count("wheelcache") > 3


def test_page_is_packed_and_has_an_etag(server):
    page = server.get("/-/docs/channels.md", {"Accept-Encoding": "gzip"})
    assert (page.headers["Content-Encoding"], page.headers["Content-Type"]) == ("gzip", "text/html; charset=utf-8")
    assert server.get("/-/docs/channels.md", {"Accept-Encoding": "gzip", "If-None-Match": page.headers["ETag"]}).status == 304


@pytest.mark.parametrize("path", ["nothing.md", "../README.md", "%2e%2e%2fREADME.md", "afs.md/", "afs", "wheelcache.1", "%00", "a" * 3000])
def test_no_other_file_is_a_page(server, path):
    assert server.get(f"/-/docs/{path}").status in (400, 404)


def test_links_of_the_files_lead_to_files():
    """As a forge resolves them."""
    followed = 0
    for path in [clients.ROOT / "README.md", *DOCS.glob("*.md")]:
        for link in re.findall(r"\]\(([^)#]+)[^)]*\)", re.sub(r"`[^`]*`", "", path.read_text(encoding="utf-8"))):
            if "://" not in link:
                assert pathlib.Path(path.parent, link).exists(), (path.name, link)
                followed += 1
    assert followed > 30


def blocks_of(text):
    """The indented blocks of a page, without their indentation."""
    blocks = re.findall(r"(?:^    .*\n|^\n(?=    ))+", text, re.M)
    return [re.sub("^    ", "", block, flags=re.M).lstrip("\n") for block in blocks]


def test_jobs_are_yaml():
    yaml = pytest.importorskip("yaml")
    texts = [path.read_text(encoding="utf-8") for path in DOCS.glob("*.md")]
    blocks = [block for text in texts for block in blocks_of(text) if re.match(r"(?:- )?[\w-]+:.*\n.*:", block)]
    jobs = [yaml.safe_load(block) for block in blocks]
    (github,) = (job["jobs"] for job in jobs if "jobs" in job)
    assert github["build"]["needs"] == "plan" and github["plan"]["steps"][0]["run"].startswith("wheelcache missing")


def test_configurations_are_read_as_they_stand(tmp_path):
    """Each block of docs/building.md with a section of wheelcache.conf."""
    sections = "build|branch|store|catalog|upstream|platform|view|prune|upload|index|server"
    text = (DOCS / "building.md").read_text(encoding="utf-8")
    blocks = [block for block in blocks_of(text) if re.search(rf"^\[(?:{sections})\b[^]]*\]", block, re.M)]
    blocks = [block for block in blocks if not re.search(r"^\$ ", block, re.M)]
    assert len(blocks) > 3
    for block in blocks:
        (tmp_path / "site.conf").write_text(block)
        done = serving.run("client-config", "--url", "https://h/", "--for", "pip", "--config", tmp_path / "site.conf")
        assert f"{tmp_path}/site.conf:" not in done.stderr, (block, done.stderr)
