# SPDX-License-Identifier: Apache-2.0
"""All pages for people in a real Chromium, with axe-core: light and dark, desktop and phone."""
import json

import pytest

import chromium
import clients
import merging
import serving
import showcase

AXE = "axe-playwright-python==0.1.8"
SIZES = {"desktop": (1280, 900), "phone": (360, 740)}
PACKED_MOST = 60_000
# Observes from before the first drawing.
SHIFTS = """window.shifts = []; new PerformanceObserver(list => list.getEntries().forEach(one => window.shifts.push(one.value)))
.observe({type: "layout-shift", buffered: true})"""
ERRORS = {"an unknown page": "/-/no-such-page", "an unknown project": "/-/project/no-such-project"}
WIDER = """[...document.querySelectorAll("body *")].filter(one => one.getBoundingClientRect().right > innerWidth + 1
&& !one.closest(".wide, .matrix, .skip, .sr, pre")).map(one => one.outerHTML.slice(0, 100)).slice(0, 3)"""
# Words that leave the window, a box with a border, or a box that hides or scrolls what is wider; and boxes that hide lines.
CUT = """[...document.querySelectorAll("body *")].flatMap(one => {
    const style = getComputedStyle(one), hides = side => side !== "visible" && side !== "clip";
    if (one.closest(".sr, .skip, .found, [hidden], svg, option, input, pre") || !one.checkVisibility()) return [];
    if (hides(style.overflowY) && one.scrollHeight > one.clientHeight + 1) return [["hides lines", one.outerHTML.slice(0, 100)]];
    const words = [...one.childNodes].filter(node => node.nodeType === Node.TEXT_NODE && node.data.trim()).flatMap(node => {
        const range = document.createRange(); range.selectNodeContents(node); return [...range.getClientRects()] });
    const boxes = [document.documentElement];
    for (let up = one; up; up = up.parentElement)
        if (up.matches(".card, dl div") || getComputedStyle(up).overflowX !== "visible") boxes.push(up);
    const edge = Math.min(...boxes.map(box => box.getBoundingClientRect().left + box.clientLeft + box.clientWidth));
    return words.some(word => word.right > edge + 1 || word.left < -1) ? [["cut", one.outerHTML.slice(0, 100)]] : [] }).slice(0, 3)"""
SIDEWAYS = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
ROWS = """Math.max(0, ...[...document.querySelectorAll(".wide tbody tr")].map(one => one.getBoundingClientRect().height))"""
FOCUSED = """(() => { const one = document.activeElement, box = one.getBoundingClientRect(), style = getComputedStyle(one);
return one === document.body ? null : {tag: one.tagName, words: (one.getAttribute("aria-label") || one.textContent ||
one.name).slice(0, 40), width: box.width, height: box.height, top: box.top, bottom: box.bottom,
ring: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0, tall: innerHeight} })()"""
FOCUSABLE = """[...document.querySelectorAll("a[href], button, input:not([type=hidden]), select, summary, [tabindex='0']")]
.filter(one => one.checkVisibility()).length"""


@pytest.fixture(name="axe", scope="module")
def axe_fixture():
    return next((clients.environment(AXE) / "lib").glob("python*/site-packages/axe_playwright_python/axe.min.js")).read_text()


@pytest.fixture(scope="module")
def only_nightly(request):
    if not request.config.getoption("--nightly"):
        pytest.skip("a minute in a browser: only ./test --nightly runs it")


nightly = pytest.mark.usefixtures("only_nightly")


@pytest.fixture(name="shop", scope="module")
def shop_fixture(tmp_path_factory):
    if not chromium.program():
        pytest.skip("chromium is not installed")
    folder = tmp_path_factory.mktemp("shop")
    with merging.indexes() as start_index, serving.servers(folder) as start_server:
        yield showcase.start(folder, start_index(), start_server)


@pytest.fixture(name="browser", scope="module")
def browser_fixture(shop, tmp_path_factory):
    with chromium.chromium(tmp_path_factory.mktemp("chromium")) as browser:
        browser.ask("Page.addScriptToEvaluateOnNewDocument", source=SHIFTS)
        yield browser


def all_pages(shop):
    return shop[0].pages() | ERRORS


def violations(browser, rules=""):
    return browser.run(f"axe.run({{{rules}resultTypes: ['violations']}}).then(all => all.violations.map(one => "
                       "[one.id, one.nodes.length, one.nodes[0].html, one.nodes[0].failureSummary]))")


@nightly
@pytest.mark.parametrize("size", SIZES)
def test_axe_finds_nothing(shop, browser, axe, size):
    """In light and dark. Nor does a page shift, complain, or get wider than the window."""
    wrong = {}
    for name, path in (shop[0].pages() | ERRORS).items():
        browser.look(*SIZES[size], dark=False)
        browser.open(shop[1].url + path)
        complaints = [one for one in browser.complaints() if not (name in ERRORS and "404" in json.dumps(one))]
        wider, shifts = browser.run(WIDER), browser.run("window.shifts")
        sideways = browser.run("document.documentElement.scrollWidth > innerWidth")
        found = []
        if browser.run("document.contentType") == "text/html":
            browser.run(axe)
            found += violations(browser)
            browser.look(*SIZES[size], dark=True)
            found += violations(browser, "runOnly: ['color-contrast'], ")
        if complaints or wider or sum(shifts) or sideways or found:
            wrong[name] = complaints, wider, shifts, sideways, found
    assert not wrong, json.dumps(wrong, indent=1)


@nightly
def test_keyboard_reaches_all(shop, browser):
    """Each element that can have the focus gets it, is in the window then, and has a ring."""
    for look in SIZES:
        browser.look(*SIZES[look], dark=False)
        for name, path in shop[0].pages().items():
            browser.open(shop[1].url + path)
            count, reached = browser.run(FOCUSABLE), []
            assert count > 3, name
            for _ in range(min(count, 150)):
                browser.press("Tab")
                one = browser.run(FOCUSED)
                assert one, (look, name, reached[-1:], len(reached), count)
                assert one["width"] > 1 and one["height"] > 1 and one["ring"], (look, name, one)
                assert one["bottom"] > 0 and one["top"] < one["tall"], (look, name, one)
                reached.append(one["words"])
            assert reached[0] == "Skip to the content", (look, name)


@nightly
def test_weight_as_the_browser_counts(shop, browser):
    """All that it loads for a page, packed, with an empty cache."""
    browser.look(*SIZES["desktop"], dark=False)
    for name, path in shop[0].pages().items():
        browser.ask("Network.clearBrowserCache")
        browser.open(shop[1].url + path)
        weight = sum(one["params"]["encodedDataLength"] for one in browser.events if one["method"] == "Network.loadingFinished")
        assert 1000 < weight < PACKED_MOST, (name, weight)


@nightly
def test_second_page_loads_itself_only(shop, browser):
    """Style and script come from the browser's cache."""
    browser.open(f"{shop[1].url}/")
    with_assets = [one for one in browser.events if one["method"] == "Network.requestWillBeSent"]
    assert len(with_assets) >= 3
    before = len(shop[1].entries())
    browser.open(f"{shop[1].url}/-/builds/")
    shop[1].get("/-/health")
    asked = [one.path for one in shop[1].entries()[before:]]
    assert not [one for one in asked if "style.css" in one or "page.js" in one], asked


def layout(browser, shop, width, pages):
    """What is wrong on these pages in a window of this width."""
    wrong = {}
    browser.look(width, 800, dark=False)
    for name, path in pages.items():
        browser.open(shop[1].url + path)
        found = browser.run(CUT), browser.run(SIDEWAYS)
        if found != ([], False):
            wrong[name] = found
    return wrong


def test_nothing_is_cut_on_a_phone(shop, browser):
    """No word leaves the window or its box, and no box hides what is below or beside it."""
    wrong = layout(browser, shop, 360, all_pages(shop))
    assert not wrong, json.dumps(wrong, indent=1)


@nightly
@pytest.mark.parametrize("width", [320, 600, 768, 961, 1280])
def test_nothing_is_cut_in_other_windows(shop, browser, width):
    wrong = layout(browser, shop, width, all_pages(shop))
    assert not wrong, json.dumps(wrong, indent=1)


def test_files_of_a_project_are_lines(shop, browser):
    """Not rows of 155 pixels; what is shortened is whole in the title, and nothing scrolls in a box of its own."""
    browser.look(*SIZES["desktop"], dark=False)
    for project, most in (("numerics", 75), (showcase.LONG, 120)):
        browser.open(f"{shop[1].url}/-/project/{project}")
        assert 30 < browser.run(ROWS) < most
        assert (browser.run(CUT), browser.run(SIDEWAYS)) == ([], False)
    short, whole = browser.run("""(one => [one.textContent, one.title])(document.querySelector("td code"))""")
    assert len(whole) == 64 and whole.startswith(short.rstrip("…"))


def test_cells_name_their_python_on_a_phone(shop, browser):
    """There are no heads of columns there."""
    browser.look(*SIZES["phone"], dark=False)
    browser.open(f"{shop[1].url}/-/coverage?projects=numerics")
    said = browser.run("""[...document.querySelectorAll(".matrix tbody td")].map(one => [one, one.querySelector(".cell")])
        .filter(([, cell]) => cell).map(([one, cell]) => [one, cell].map(node => getComputedStyle(node, "::before").content))""")
    assert said[0] == ['"debian-12-x86_64"', '"3.11 "'] and said[2] == ["none", '"3.11 "'], said
    assert [one for one, _ in said if one != "none"] == [f'"{name}"' for name in showcase.PLATFORMS]


def test_channel_on_a_phone(shop, browser):
    """Age and result of each row are seen with their names, and the picture's numbers can be read."""
    browser.look(*SIZES["phone"], dark=False)
    browser.open(f"{shop[1].url}/-/channel/tested/?project=acme-core")
    rows = browser.run("""[...document.querySelectorAll("[aria-label=Packages] tbody tr")].map(row => [...row.cells].filter(
        one => one.checkVisibility() && one.getBoundingClientRect().right <= innerWidth).map(one => [one.dataset.of, one.innerText.trim(),
        getComputedStyle(one, "::before").content]))""")
    named = [{name: text for name, text, shown in row if shown == f'"{name} "'} for row in rows]
    assert {"last version": "1.0", "age": "3 days", "tested": "1.1", "unit": "red", "integration": "no tests"} in named, named
    assert not [row for row in rows for _, text, _ in row if text == "–"]  # what has no value has no name either
    letters = browser.run("""[...document.querySelectorAll(".trend text")].map(one => one.getBoundingClientRect()).map(
        one => [one.left, one.right, one.height])""")
    assert len(letters) == 4 and all(left > 0 and right < 360 and height > 10 for left, right, height in letters), letters


def test_lists_are_in_line(shop, browser):
    """Numbers stand below their heads, forms do not touch what is above, and a name that has room is not broken."""
    browser.look(*SIZES["desktop"], dark=False)
    browser.open(f"{shop[1].url}/-/usage/")
    left = "[...document.querySelectorAll('tr:first-child > *')].map(one => { const range = document.createRange(); " \
           "range.selectNodeContents(one); return range.getBoundingClientRect().left })"
    edges = browser.run(left)
    assert len(edges) == 10 and edges[:5] == edges[5:]
    assert browser.run("document.querySelector('main form').getBoundingClientRect().top - "
                       "document.querySelector('main dl').getBoundingClientRect().bottom") > 8
    browser.open(f"{shop[1].url}/")
    assert browser.run("[...document.querySelectorAll('[aria-label=Views] th a')].map(one => one.getClientRects().length)") == [1, 1, 1]


def test_underscores_of_links_are_seen(shop, browser):
    """The line below a link is not the underscore of x86_64, or people type another address."""
    touching = """[...document.querySelectorAll("main a")].filter(one => one.textContent.includes("_")).filter(one => {
        const style = getComputedStyle(one.querySelector("code") ?? one), pen = document.createElement("canvas").getContext("2d");
        pen.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
        return parseFloat(getComputedStyle(one).textUnderlineOffset) < pen.measureText("_").actualBoundingBoxDescent + 1
    }).map(one => one.outerHTML)"""
    for width in SIZES:
        browser.look(*SIZES[width], dark=False)
        for path in ("/-/client-config/simple", "/", "/-/project/numerics"):
            browser.open(shop[1].url + path)
            assert browser.run("""document.querySelectorAll("main a").length""") > 3
            assert browser.run(touching) == [], (width, path)


def test_heads_of_a_table_of_the_docs_on_a_phone(shop, browser):
    browser.look(*SIZES["phone"], dark=False)
    browser.open(f"{shop[1].url}/-/docs/clients.md")
    assert browser.run("""document.querySelector(".prose thead").checkVisibility()""")
