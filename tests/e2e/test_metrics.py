# SPDX-License-Identifier: Apache-2.0
"""/-/metrics: the text format, that each number is right, and the dashboard that shows them."""
import json
import pathlib
import re
import sqlite3

import pytest

import attempts
import pages
import promtext
import serving
import storelib
import tinyupstream
import uploading

PUBLIC, SECRET = "ubuntu-22.04-x86_64", "debian-12-x86_64"
SIX, OLD_SIX = "six-1.17.0-py2.py3-none-any.whl", "six-1.16.0-py2.py3-none-any.whl"
IDNA, CERTIFI = "idna-3.20-py3-none-any.whl", "certifi-2026.10.18-py3-none-any.whl"
DASHBOARD = pathlib.Path(__file__).parents[2] / "etc" / "grafana-dashboard.json"
SECONDS = 120  # for what happens in the background


def metrics(server, token=None):
    reply = server.get("/-/metrics", uploading.authorization(token))
    assert (reply.status, reply["Content-Type"]) == (200, "text/plain; version=0.0.4; charset=utf-8")
    return promtext.Metrics(reply.body.decode())


class Rise:
    """The increase of metrics since it was created; counters never fall."""

    def __init__(self, server):
        self.server, self.before = server, metrics(server)

    def __call__(self, name, **labels):
        return self.now(name, **labels) - self.before(name, **labels)

    def look(self):
        self.now = metrics(self.server)
        after = self.now.counters()
        assert all(after[key] >= value for key, value in self.before.counters().items())
        return self


@pytest.fixture(scope="module", name="up")
def up_fixture(shared, upstream):
    return upstream("--only-held", "--dir", shared / "corpus")


def configuration(store, url, more=""):
    """retries = 0: one failed request is a failure."""
    return f"""[store]
path = {store}
[upstream]
url = {url}
merge = yes
retries = 0
{more}
[platform {PUBLIC}]
[platform {SECRET}]
private = yes
[view tested]
from = {PUBLIC}
expect = 26h integration
"""


def make_store(folder):
    """A public platform with three wheels of two projects, and a private one with another."""
    store = folder / "store"
    storelib.make_wheel(store / PUBLIC, "own", "1.0")
    storelib.make_wheel(store / PUBLIC, "own", "2.0")
    storelib.make_wheel(store / PUBLIC, "six", "9.0")
    storelib.make_wheel(store / SECRET, "hidden", "1.0")
    return store


@pytest.fixture(scope="module", name="server")
def server_fixture(serve_module, up, tmp_path_factory):
    """One event loop: an answer is counted before the next request is read."""
    store = make_store(tmp_path_factory.mktemp("metrics"))
    (store.parent / "MAL-1.json").write_text('{"id": "MAL-1", "modified": "2026-01-02T03:04:05Z"}')
    (store.parent / "deny.list").write_text("evil it mines coins\n")
    block = f"block = {store.parent / 'MAL-1.json'}\ndeny = {store.parent / 'deny.list'}"
    server = serve_module(None, "--rescan", "0", *serving.ONE_LOOP, config=configuration(store, up.url, block))
    server.store, server.folder = store, store.parent
    return server


@pytest.fixture(name="rise")
def rise_fixture(server):
    return Rise(server)


# --- the format ---

@pytest.mark.parametrize("text", [
    "a 1\n",
    "# HELP a x\na 1\n",
    "# HELP a x\n# TYPE a gauge\na 1",
    "# HELP a x\n# TYPE a gauge\na 1\na 1\n",
    "# HELP a x\n# TYPE a gauge\nb 1\n",
    "# HELP a x\n# TYPE a gauge\na one\n",
    "# HELP a x\n# TYPE a gauge\na nan\n",
    "# HELP a x\n# TYPE a gauge\n\na 1\n",
    "# HELP a x\n# TYPE a counter\na 1\n",
    "# HELP a_total x\n# TYPE a_total counter\na_total -1\n",
    '# HELP a x\n# TYPE a gauge\na{b="\\x"} 1\n',
    '# HELP a x\n# TYPE a gauge\na{b="c""} 1\n',
    '# HELP a x\n# TYPE a gauge\na{b="c",} 1\n',
    '# HELP a x\n# TYPE a gauge\na{b="c",b="d"} 1\n',
    '# HELP a x\n# TYPE a histogram\na_bucket{le="1"} 1\na_sum 1\na_count 1\n',
    '# HELP a x\n# TYPE a histogram\na_bucket{le="1"} 2\na_bucket{le="+Inf"} 1\na_sum 1\na_count 1\n',
    '# HELP a x\n# TYPE a histogram\na_bucket{le="+Inf"} 2\na_sum 1\na_count 1\n',
    "# HELP a x\n# TYPE a gauge\na 1\n# HELP b x\n# TYPE b gauge\n# HELP a x\n# TYPE a gauge\n",
])
def test_parser_refuses(text):
    with pytest.raises(AssertionError):
        promtext.parse(text)


def test_parser_reads_escapes():
    read = promtext.Metrics('# HELP wheelcache_a x\n# TYPE wheelcache_a gauge\nwheelcache_a{b="\\\\n\\n\\"",c=""} 1.5e3\n')
    assert read("a", b='\\n\n"', c="") == 1500


def test_all_is_well_formed_and_ours(server):
    told = metrics(server)
    assert all(name.startswith("wheelcache_") for name in told.families)
    version = serving.run("--version").stdout.split()[1]
    assert told("build_info", version=version) == 1
    assert told("start_timestamp_seconds") > 1_600_000_000 and told("scan_ended_timestamp_seconds") > 1_600_000_000
    assert told("upstream_requests_total", result="5xx") == 0
    assert ("wheelcache_upstream_requests_total", (("result", "5xx"),)) in told.values, "known before the first one"


# --- what is here ---

def test_requests_by_route_and_status(server, rise):
    path = f"/files/{PUBLIC}/own/own-1.0-py3-none-any.whl"
    whole = server.get(path)
    server.get(path, {"Range": "bytes=0-9"})
    server.get(path, {"If-None-Match": whole["ETag"]})
    server.get(path, method="HEAD")
    server.get("/-/health")
    server.get("/no/such/place")
    server.get(f"/{PUBLIC}/simple/")
    server.get("/files/" + PUBLIC + "/own/none.whl")
    rise.look()
    for route, status, times in [("file", "200", 2), ("file", "206", 1), ("file", "304", 1), ("file", "404", 1),
                                 ("machine", "200", 2), ("other", "404", 1), ("simple", "200", 1)]:
        assert rise("http_requests_total", route=route, status=status) == times, (route, status)
    bodies = rise("http_response_bytes_total", route="file")
    assert len(whole.body) + 10 < bodies < len(whole.body) + 10 + 100, "nothing for HEAD and 304, a line for the 404"


def test_pages_hits_misses_and_renders(server, rise):
    for _ in range(3):
        assert server.get("/simple/own/", {"Accept": pages.JSON}).status == 200
    rise.look()
    assert rise("page_cache_misses_total") == 1
    assert rise("page_cache_hits_total") == 2
    assert rise("page_renders_total") == 1
    assert rise.now("page_cache_bytes") > 0


def test_totals_of_public_platforms_only(server):
    told = metrics(server)
    wheels = list((server.store / PUBLIC).rglob("*.whl"))
    assert told("platform_files", platform=PUBLIC) == len(wheels)
    assert told("platform_projects", platform=PUBLIC) == len({one.name.split("-")[0] for one in wheels})
    assert told("platform_bytes", platform=PUBLIC) == sum(one.stat().st_size for one in wheels)
    assert SECRET not in server.get("/-/metrics").body.decode()


def test_uploads(server, rise, tmp_path):
    token = uploading.add_token(server, "--platform", PUBLIC)
    wheel = storelib.make_wheel(tmp_path, "sent", "1.0")
    assert uploading.upload(server, PUBLIC, wheel.path, token).status == 200
    assert uploading.upload(server, PUBLIC, wheel.path, "wc_wrong").status in (401, 403)
    rise.look()
    assert rise("http_requests_total", route="upload", status="200") == 1
    assert sum(rise("http_requests_total", route="upload", status=one) for one in ("401", "403")) == 1


# --- upstream ---

def fetched(server, path):
    reply = server.get(path)
    assert reply.status == 200, reply.body
    return reply.body


def test_files_of_upstream(server, rise):
    bodies = [fetched(server, f"/files/upstream/six/{SIX}") for _ in range(3)]
    part = server.get(f"/files/upstream/six/{SIX}", {"Range": "bytes=0-99"})
    assert part.status == 206
    size = len(bodies[0])
    serving.wait_for(lambda: rise.look()("upstream_kept_files"), SECONDS, "kept")
    assert rise("upstream_files_fetched_total") == 1
    assert rise("upstream_file_bytes_fetched_total") == size
    assert rise("upstream_file_bytes_sent_total") == 3 * size + 100
    assert rise("upstream_saved_bytes") == 2 * size + 100
    assert rise("upstream_kept_files") == 1
    assert rise("upstream_kept_bytes") == size
    assert rise("http_requests_total", route="upstream-file", status="200") == 3


def test_what_upstream_answered(server, rise, up):
    assert server.get("/simple/idna/").status == 200
    assert server.get("/simple/no-such-project/").status == 404
    up.fail("503", project="urllib3")
    try:
        assert server.get("/simple/urllib3/").status == 502
    finally:
        up.fail("none")
    rise.look()
    for result, times in [("known", 1), ("404", 1), ("5xx", 1), ("unchanged", 0), ("timeout", 0)]:
        assert rise("upstream_requests_total", result=result) == times, result
    assert rise("upstream_request_duration_seconds_count") == 3
    assert rise("upstream_request_duration_seconds_sum") > 0
    assert rise("http_requests_total", route="simple", status="502") == 1


def test_a_file_with_wrong_bytes(server, rise, up):
    up.fail("wrong-bytes", on="files", project="certifi")
    try:
        with pytest.raises(Exception):  # cut off before its end, or refused
            fetched(server, f"/files/upstream/certifi/{CERTIFI}")
    finally:
        up.fail("none")
    serving.wait_for(lambda: rise.look()("upstream_files_failed_total"), SECONDS, "failed")
    assert rise("upstream_files_failed_total") == 1
    assert rise("upstream_files_fetched_total") == 0
    assert rise("upstream_file_bytes_sent_total") == 0, "what was cut off is no use"


def test_a_page_that_is_confirmed_is_no_new_one(serve, up, tmp_path):
    config = configuration(make_store(tmp_path), up.url, "max-age = 0")
    state = tmp_path / "state"
    server = serve(None, "--rescan", "0", config=config, state=state)
    assert server.get("/simple/six/").status == 200
    assert metrics(server)("upstream_requests_total", result="known") == 1
    server.stop()
    server = serve(None, "--rescan", "0", config=config, state=state)
    assert server.get("/simple/six/").status == 200  # the old page, which is revalidated
    # The numbers are not of one moment, so this waits for those that it compares.
    results = "wheelcache_upstream_requests_total"
    told = serving.wait_for(lambda: (now := metrics(server)) and sum(now.families[results].values.values()) and now, SECONDS,
                            "asked again")
    assert told("upstream_requests_total", result="unchanged") == 1
    assert told("upstream_requests_total", result="known") == 0


def test_name_of_ours_that_a_stranger_registers(serve, tmp_path):
    with tinyupstream.running() as tiny:
        config = configuration(make_store(tmp_path), tiny.url, "negative-max-age = 0")
        state = tmp_path / "state"
        server = serve(None, "--rescan", "0", config=config, state=state)
        assert server.get("/simple/own/").status == 200
        assert metrics(server)("upstream_name_conflicts_total") == 0
        server.stop()
        tiny.add("own", "own-3.0-py3-none-any.whl")
        server = serve(None, "--rescan", "0", config=config, state=state)
        assert b"own-3.0" not in server.get("/simple/own/").body
        serving.wait_for(lambda: metrics(server)("upstream_name_conflicts_total") == 1, SECONDS, "the conflict")
        serving.wait_for(lambda: "upstream now has a project own, which is ours" in server.errors(), SECONDS, "the warning")


# --- the last plan of a prune ---

def make_plan(server, url, folder):
    config = folder / "prune.conf"
    config.write_text(configuration(server.store, url) + "[prune]\nmin-age = 0\n")
    done = serving.run("prune", "plan", "--config", config, "--catalog", server.catalog, "-o", folder / "plan.json")
    assert done.returncode == 0, done.stderr
    return json.loads((folder / "plan.json").read_text())


def test_the_last_plan(server, up, tmp_path):
    plan = make_plan(server, up.url, tmp_path)
    told = metrics(server)
    assert told("plan_made_timestamp_seconds") > 1_600_000_000
    rows = [one for one in plan["totals"] if one["platform"] == PUBLIC]
    assert rows and len(rows) < len(plan["totals"]), "there is something to say of either platform"
    for one in rows:
        labels = {"platform": PUBLIC, "verdict": one["verdict"], "removes": "yes" if one["removes"] else "no",
                  "why": one.get("why") or ""}
        assert told("plan_files", **labels) == one["files"]
        assert told("plan_bytes", **labels) == one["bytes"]
    assert len(told.families["wheelcache_plan_files"].values) == len(rows)
    assert SECRET not in server.get("/-/metrics").body.decode()


# --- the dashboard ---

def panels_of(dashboard):
    return [panel for panel in dashboard["panels"] if panel["type"] != "row"]


@pytest.fixture(scope="module", name="dashboard")
def dashboard_fixture():
    return json.loads(DASHBOARD.read_text())


def test_dashboard_can_be_imported(dashboard):
    """What Grafana requires: a title, panels with unique ids that do not overlap, variables that are defined, and no fixed
    data source."""
    assert dashboard["title"] and dashboard["schemaVersion"] >= 36 and dashboard.get("id") is None
    ids = [panel["id"] for panel in dashboard["panels"]]
    assert len(ids) == len(set(ids))
    taken = set()
    for panel in dashboard["panels"]:
        at = panel["gridPos"]
        squares = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        assert not squares & taken and at["x"] + at["w"] <= 24, panel["title"]
        taken |= squares
    variables = {one["name"] for one in dashboard["templating"]["list"]}
    known = variables | {"__rate_interval", "__range", "__all"}
    assert set(re.findall(r"\$\{?(\w+)", json.dumps(dashboard))) <= known
    for panel in panels_of(dashboard):
        assert panel["datasource"]["uid"] == "${datasource}" and panel["targets"]
        refs = [target["refId"] for target in panel["targets"]]
        assert len(refs) == len(set(refs))


def test_dashboard_shows_every_metric(dashboard, server, up, tmp_path):
    """Each metric that it uses exists, with the labels that it selects and sums by; and it shows every metric."""
    make_plan(server, up.url, tmp_path)
    attempts.Attempts(server.catalog.with_name(server.catalog.name + ".builds")).add("six", "failed", platform=PUBLIC)
    with sqlite3.connect(server.catalog) as connection:
        connection.execute("INSERT INTO retained VALUES (?, 1, 2, 3, 4, 0)", (PUBLIC,))
    connection.close()
    server.get("/simple/own/")
    told = metrics(server, uploading.add_token(server, "--read", "--platform", "*"))
    labels = {}
    for name, pairs in told.values:
        labels.setdefault(name, {"job", "instance"}).update(key for key, _ in pairs)
    named = set()
    for panel in panels_of(dashboard):
        for target in panel["targets"]:
            expression = target["expr"]
            assert expression.count("(") == expression.count(")") and expression.count("{") == expression.count("}")
            found = re.findall(r"(wheelcache_\w+)\{([^}]*)\}", expression)
            assert {name for name, _ in found} == set(re.findall(r"wheelcache_\w+", expression)), expression
            wanted = {one.strip() for group in re.findall(r"by \(([^)]*)\)", expression) for one in group.split(",")}
            for name, selector in found:
                assert name in labels, name
                assert wanted | set(re.findall(r"(\w+)[=!]~?\"", selector)) <= labels[name], expression
                named.add(name)
            assert set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"])) <= wanted | {"instance"}, expression
    families = {name for name, family in told.families.items() if family.type != "histogram"}
    assert families <= named, families - named
