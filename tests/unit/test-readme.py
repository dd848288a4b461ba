#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Renders hostile texts, and checks the HTML with a parser of its own: only elements and attributes that are permitted,
all of them closed, links only to where links may lead.

The test runs in the build folder, where render-readme is.
"""
import html.parser
import itertools
import pathlib
import re
import resource
import subprocess
import unittest

BUILD = pathlib.Path.cwd()
TOOL = next(BUILD.rglob("render-readme"))
KINDS = ("plain", "markdown", "rst")
PREFIX, LINKS = "readme-", "/files/"
LIMIT = 256 << 10  # LIMIT_README
SECONDS = 60  # of a processor; what is linear takes less than one, what is not takes minutes or hours

ELEMENTS = set("h1 h2 h3 h4 h5 h6 p blockquote ul ol li dl dt dd pre code em strong del table thead tr th td a br hr".split())
VOID = {"br", "hr"}
# What each element may have, and the values.
ATTRIBUTES = {
    "a": {"href": r"https?://\S+|mailto:\S+|#readme-\S*|/files/\S+", "rel": "nofollow noopener noreferrer"},
    "ol": {"start": r"\d+"},
    "th": {"scope": "col"},
    **{f"h{n}": {"id": r"readme-[^\s\"'<>&]+"} for n in range(1, 7)},
}
# A tag as the renderer writes it; any other "<" is a hole, whatever a lenient parser makes of it.
TAG = re.compile(r"</?(?:[a-z]+[1-6]?)(?: [a-z]+=\"[^\"<>]*\")*>")
FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")

PAYLOADS = [
    "<script>alert(1)</script>", "<ScRiPt src=//a>", "<img src=x onerror=alert(1)>", "<svg/onload=alert(1)>",
    "<svg><style><img title='</style><img src=x onerror=alert(1)>'></svg>", "<math><mi xlink:href='javascript:a'>b</mi>",
    "<iframe srcdoc='<script>a</script>'></iframe>", "<object data=javascript:a>", "<style>*{background:url(//a)}</style>",
    "<base href=//a>", "<meta http-equiv=refresh content='0;url=//a'>", "<form action=//a><input name=b>",
    "<a href='javascript:alert(1)'>a</a>", "<a href=\"https://b\" onclick=\"c\">a</a>", "<a name=x id=main>a</a>",
    "<!-- a --!><script>b</script> -->", "<!--><img src=x onerror=a>-->", "<![CDATA[<script>a</script>]]>", "<?php a ?>",
    "</pre></code></p></article><script>a</script>", "\"><script>a</script>", "'><script>a</script>", "\" onclick=\"a",
    "javascript:alert(1)", "JaVaScRiPt:alert(1)", "java\tscript:alert(1)", "java&#10;script:alert(1)",
    "&#106;avascript:alert(1)", "&#x6A&#x61vascript:alert(1)", "javascript&colon;alert(1)", "\x01javascript:alert(1)",
    " javascript:alert(1)", "data:text/html,<script>a</script>", "vbscript:a", "//evil.example/a", "\\\\evil.example\\a",
    "/\\evil.example", "https:evil", "https://a/\"onclick=b", "https://a/'<script>", "https://a/\u202egpj.exe", "file:///etc/passwd",
    "mailto:a@b?subject=\"><script>", "#\"><script>", "a:b", "../../a", "?a=\"b", "\u202eabc\u202c \u2066a\u2069 \u200f \u2028",
    "&#x202e;abc", "&lt;script&gt;", "&#60;script&#62;", "&#0; &#xD800; &#x110000;", "\ufffe\uffff", "\x1b[31m \x9b31m \x07",
    "<br/onclick=a>", "<a href=https://b><a href=https://c>d</a></a>", "**<a href=https://b>c** d</a>", "<a href=https://b>\n\nc",
]
CONTEXTS = {
    "markdown": ["{}", "a {} b", "- {}", "> {}", "# {}", "|a|\n|-|\n|{}|\n", "[{}](https://a)", "[a]({})", "[a](<{}>)",
                 "[a](https://b \"{}\")", "![{}](https://a)", "![a]({})", "[![{}](https://a)]({})", "<{}>", "`{}`",
                 "```{}\n{}\n```", "    {}", "[a]\n\n[a]: {} \"{}\"", "[a]: <{}>\n[a]", "*{}* **{}** ~~{}~~", "<p>{}</p>",
                 "<div>\n{}\n</div>", "<a href=\"{}\">b</a>", "<img src=\"{}\" alt=\"{}\">", "<img alt=\"{}\" src=\"https://a\">",
                 "a <img src='{}'> b", "<details><summary>{}</summary>\n\n{}\n\n</details>", "<!-- {} -->", "https://a/{}"],
    "rst": ["{}", "a {} b", "- {}", "  {}", "{}\n=====================================================================",
            "== ==\n{}  a\n== ==\n", "+-+\n|{}|\n+-+\n", "`a <{}>`_", "`{} <https://a>`_", "`{}`", ":raw:`{}`", ":{}:`a`",
            "a_ b__ |c|\n\n.. _a: {}\n__ {}\n.. |c| image:: {}\n   :alt: {}\n   :target: {}\n", "|c|\n\n.. |c| replace:: {}",
            "|c|\n\n.. |c| raw:: html {}", ".. raw:: html\n\n   {}\n", ".. image:: {}\n   :alt: {}\n   :target: {}\n",
            ".. figure:: https://a\n   :alt: {}\n\n   {}\n", ".. note:: {}\n", ".. unknown:: {}\n   :a: {}\n\n   {}\n", "..\n   {}",
            ".. code:: {}\n\n   {}\n", "::\n\n  {}\n", ">>> {}\n", "| {}", "a\n  {}", "{}\n  a", ":{}: {}", ":a: {}", "--{}  {}",
            ".. [{}] {}\n", "*{}* **{}** ``{}``", ".. include:: {}", ".. role:: {}(raw)\n   :format: html\n", "https://a/{}"],
    "plain": ["{}", "https://a/{}"],
}


def spend_little():
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))


def render(kind, text, *arguments):
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    done = subprocess.run([TOOL, kind, *(arguments or (PREFIX, LINKS))], input=data, capture_output=True, check=False,
                          preexec_fn=spend_little)
    assert done.returncode == 0, (done.returncode, done.stderr[-2000:], data[:200])
    return done.stdout.decode()


class Reader(html.parser.HTMLParser):
    """Collects what is wrong with a page."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.open, self.wrong, self.links, self.text = [], [], [], []
        self.feed(page)
        self.close()
        rest = TAG.sub("", page)
        self.wrong += [f"the sign {sign}" for sign in "<>" if sign in rest]
        self.wrong += [f"not closed: {name}" for name in self.open]
        if bad := FORBIDDEN.search(html.unescape(page)):
            self.wrong.append(f"the character {bad[0]!r}")

    def handle_starttag(self, name, attributes):
        permitted = ATTRIBUTES.get(name, {})
        if name not in ELEMENTS:
            self.wrong.append(f"the element {name}")
        if name == "a" and "a" in self.open:
            self.wrong.append("a link in a link")
        for key, value in attributes:
            if key not in permitted or not re.fullmatch(permitted[key], value or ""):
                self.wrong.append(f"<{name} {key}={value!r}>")
        self.links += [value for key, value in attributes if key == "href"]
        if name not in VOID:
            self.open.append(name)

    def handle_endtag(self, name):
        if not self.open or self.open.pop() != name:
            self.wrong.append(f"the end </{name}>")

    def handle_data(self, data):
        self.text.append(data)

    def handle_comment(self, data):
        self.wrong.append(f"the comment {data}")

    def handle_decl(self, decl):
        self.wrong.append(f"the declaration {decl}")

    unknown_decl = handle_pi = handle_decl


def many(text):
    return (text * (LIMIT // len(text) + 1))[:LIMIT]


# Texts for which a careless parser needs time or memory that grow faster than the text.
COSTLY = {
    "markdown": [many(text) for text in (
        ">", "> ", "> > > a\n", "- ", "* a\n", "*a **a ", "a**b c* ", "_ a", "[", "]", "[a](", "![", "**x [a*b**c*](d)", "a<!--",
        "a<![CDATA[", "a<?", "a<!A ", "a<a ", "<http:", "http://a.b/)", "&", "~~a ~", "<div>\n", "x <div ", "<p>\n\n", "<a href=b>",
        "\0", "\r", "[a](\n", "[a\n]\n", "[a]: <\n", "[a]: b \"\n", "a|b\n-|-\n", "a\n=\n")] + [
        "[" * (LIMIT // 4) + "a" + "](b)" * (LIMIT // 8), "**a " * (LIMIT // 8) + "b**" * (LIMIT // 8),
        "> " * (LIMIT // 4) + "a\n" + "b\n" * (LIMIT // 4), "- " * (LIMIT // 4) + "a\n" + "b\n" * (LIMIT // 4),
        "> " * 30 + "a\n" + "b\n" * (LIMIT // 4), "1. " * 30 + "a\n" + "\n" * (LIMIT // 2),
        "|" * (LIMIT // 3) + "\n" + "|-" * (LIMIT // 3), "|a" * 120 + "\n" + "|-" * 120 + "\n" + "x\n" * (LIMIT // 4),
        "[a]: " + "x" * (LIMIT // 3) + "\n\n" + "[a] " * (LIMIT // 8),
        "[a]: b '" + "x\n" * (LIMIT // 6) + "'\n\n" + "[a]" * (LIMIT // 8),
        "".join(" " * n + "- a\n" for n in range(700)), "".join("`" * n + "a" for n in range(700))],
    "rst": [many(text) for text in (
        "- ", "1. a\n", "*a ", "`a ", "``a ", "|a ", "a_ ", "a__ ", "a_.", ":a:`b` ", ":a:", "\\*", "a\n b\n", ":a: b\n", "-a  b\n",
        "===\naaa\n===\n", "a::\n\n b\n\n", "== ==\n", "== ==\na  b\n", "+-+-+\n|a|b|\n", ".. a\n", ".. note:: ", ".. _a: b\n",
        ".. image:: a\n", "| a\n", "a\n\n  b\n\n", "\t", "http:", "http://a(", "_`a ")] + [
        ".. |a| replace:: " + "\\ " * (LIMIT // 8) + "\n\n" + "|a| " * (LIMIT // 8),
        "".join(f".. _a{n}: a{n + 1}_\n" for n in range(8000)) + "a0_ " * 20000,
        "".join(" " * n + "- a\n" for n in range(700)), "".join(" " * n + "a\n" for n in range(700))],
}


class Readme(unittest.TestCase):
    maxDiff = 400

    def check(self, kind, text):
        page = Reader(render(kind, text))
        self.assertEqual(page.wrong, [], (kind, text[:300]))
        return page

    def check_all(self, kind, texts):
        """Renders the texts as one, which is quick, and each alone only if something is wrong with it."""
        for batch in (texts[at:at + 40] for at in range(0, len(texts), 40)):
            if Reader(render(kind, "\n\n".join(batch))).wrong:
                for text in batch:
                    self.check(kind, text)
                self.check(kind, "\n\n".join(batch))

    def test_nothing_breaks_out(self):
        for kind, contexts in CONTEXTS.items():
            self.check_all(kind, [context.replace("{}", payload) for context, payload in itertools.product(contexts, PAYLOADS)])

    def test_each_payload_alone_does_nothing(self):
        for kind in KINDS:
            for payload in PAYLOADS:
                self.check(kind, payload)

    def test_two_payloads_do_not_help_each_other(self):
        for kind in ("markdown", "rst"):
            self.check_all(kind, [a + sign + b for sign in ("", "\n") for a in PAYLOADS for b in PAYLOADS[::5]])

    def test_links_lead_only_where_they_may(self):
        for payload in PAYLOADS:
            for text in (f"[a]({payload})", f"[a](<{payload}>)", f"<a href=\"{payload}\">b</a>", f"![a]({payload})"):
                links = [link.lower() for link in self.check("markdown", text).links]
                self.assertFalse([link for link in links if "script:" in link.split("/")[0] or link.startswith("//")], text)

    def test_bytes_that_are_no_text(self):
        for kind in KINDS:
            self.check(kind, bytes(range(256)) * 8)
            self.check(kind, b"\xff\xfe<\xc0\xbcscript>\xed\xa0\x80 \xf4\x90\x80\x80 [a](\xe2\x80)\xc3")

    def test_hidden_parts_stay_hidden(self):
        text = "<script>SECRET</script>\n\n<style>SECRET</style>\n\n<!-- SECRET -->\n"
        self.assertNotIn("SECRET", "".join(self.check("markdown", text).text))
        text = ".. raw:: html\n\n   SECRET\n\n.. include:: SECRET\n\n.. literalinclude:: SECRET\n\n.. SECRET\n\n.. csv-table::\n   :file: SECRET\n"
        self.assertNotIn("SECRET", "".join(self.check("rst", text).text))

    def test_costly_texts_are_rendered_in_time(self):
        for kind, texts in COSTLY.items():
            for text in texts:
                self.assertEqual(Reader(render(kind, text)).wrong, [], (kind, text[:40]))

    def test_words_of_docs_are_all_there(self):
        docs = pathlib.Path(__file__).resolve().parents[2] / "docs"
        for path in sorted(docs.glob("*.md")):
            text = path.read_text(encoding="utf-8")
            shown = set(re.findall(r"\w{4,}", " ".join(self.check("markdown", text).text)))
            lost = set(re.findall(r"\w{4,}", re.sub(r"\]\([^)]*\)|^```\w*|<[^>]*>|^\[[^]]*\]:.*", "]", text, flags=re.M))) - shown
            self.assertLess(len(lost), 5, (path, lost))


if __name__ == "__main__":
    unittest.main()
