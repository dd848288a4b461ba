# SPDX-License-Identifier: Apache-2.0
"""The owner of a project's name: a stranger who registers it upstream cannot get our files pruned, yanked, merged or refused,
and never sees names that only private platforms have."""
import contextlib
import datetime
import json
import os
import shutil
import sqlite3
import threading
import time

import pytest

import merging
import pages
import pruning
import serving
import storelib
import tinyupstream
import uploading

PLATFORM = pruning.PLATFORM
ACME = "acme_billing-1.0-py3-none-any.whl"
SOON = 120
NOW = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.000000Z")


@pytest.fixture(name="upstream")
def upstream_fixture():
    with tinyupstream.running() as upstream:
        yield upstream


class Here(pruning.Pruned):
    """A store with six, which upstream has too, and acme-billing, which is ours."""

    def __init__(self, folder, upstream):
        super().__init__(folder, upstream, covered=4, wheels=10)
        self.acme = storelib.make_wheel(self.store / PLATFORM / "a" / "acme-billing", "acme_billing", "1.0")
        self.tool("index", "--quiet")

    def ours(self):
        path = self.catalog.with_name("catalog.db.ours")
        return [line.split()[0] for line in path.read_text().splitlines()] if path.exists() else []

    def of_acme(self, plan):
        (entry,) = [one for one in plan["files"] if one["filename"] == ACME]
        return entry

    def check_kept(self, *options):
        """Plan, apply and purge leave it alone, and it stays listed."""
        plan = self.plan(*options)
        entry = self.of_acme(plan)
        assert (entry["verdict"], entry["removes"]) == ("keep", False), entry
        self.apply("--max-files", "100%", "--max-bytes", "100%")
        self.purge()
        assert self.acme.path.exists() and ACME in " ".join(self.listed())
        return entry


@pytest.fixture(name="here")
def here_fixture(tmp_path, upstream):
    return Here(tmp_path, upstream)


def steal(upstream, here, sha256=None, when=None, **facts):
    """A stranger registers the name, with a file of the same name as ours."""
    upstream.add("acme-billing", ACME, sha256=sha256, **({"upload_time": when} if when else {}), **facts)


@pytest.mark.parametrize("asks", ["plan", "follow"])
@pytest.mark.parametrize("bytes_are", ["other", "the same"])
@pytest.mark.parametrize("trust", ["no", "yes"])
def test_every_look_up_notes_names_unknown_upstream(here, upstream, asks, bytes_are, trust):
    here.config.write_text(here.config.read_text().replace("retries = 0\n", f"retries = 0\ntrust-404 = {trust}\n"))
    if asks == "plan":
        assert here.of_acme(here.plan())["removes"] is False
    else:
        here.tool("prune", "follow", "--quiet")
    assert here.ours() == ["acme-billing"], "not six, which upstream has"
    steal(upstream, here, here.acme.sha256 if bytes_are == "the same" else None)
    entry = here.check_kept()
    assert "the name is ours" in entry["reason"]
    for path in here.catalog.parent.glob("catalog.db*"):  # the note outlives the catalog
        if path.suffix != ".ours":
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    here.tool("index", "--quiet")
    assert "the name is ours" in here.of_acme(here.plan())["reason"]


def test_younger_project_upstream_replaces_nothing(here, upstream):
    """The name was never looked up before the stranger came: the times decide."""
    steal(upstream, here, when=NOW)
    entry = here.check_kept()
    assert here.of_acme(here.plan())["why"] in ("upstream-unknown", "name-taken-over"), entry


def rebuilt_catalog(here):
    """As after a lost catalog: only the mtimes tell when our files came."""
    for path in here.catalog.parent.glob("catalog.db*"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    here.tool("index", "--quiet")


@pytest.mark.parametrize("name, why", [
    (ACME, "duplicate"),
    ("acme_billing-1.0-py2.py3-none-any.whl", "superseded"),
    ("acme_billing-1.0.tar.gz", "pure"),
])
def test_project_that_is_younger_than_ours_replaces_nothing(here, upstream, name, why):
    """Unless the operator allows it, for the plan and for the purge."""
    upstream.add("acme-billing", name, upload_time="2024-06-01T00:00:00Z")  # ours is of 2023
    rebuilt_catalog(here)
    options = ["--pure"] if why == "pure" else []
    assert here.check_kept(*options)["why"] == "name-taken-over"
    entry = here.of_acme(here.plan("--name-taken-over", *options))
    assert (entry["verdict"], entry["removes"]) == (why, True)
    here.apply("--max-files", "100%", "--max-bytes", "100%")
    here.purge()
    assert here.acme.path.exists()
    here.purge("--name-taken-over")
    assert not here.acme.path.exists()


def test_same_bytes_replace_whatever_the_project(here, upstream):
    upstream.add("acme-billing", ACME, sha256=here.acme.sha256, upload_time="2024-06-01T00:00:00Z")
    rebuilt_catalog(here)
    assert here.of_acme(here.plan())["verdict"] == "duplicate"


def test_yanks_of_a_stranger_are_not_followed(here, upstream):
    upstream.add("acme-billing", "acme_billing-1.0.tar.gz", upload_time="2024-06-01T00:00:00Z", yanked="mine")
    rebuilt_catalog(here)
    mark = here.acme.path.with_name(f"{ACME}.yanked")
    here.tool("prune", "follow", "--quiet")
    assert not mark.exists()
    here.config.write_text(here.config.read_text().replace("retries = 0\n", "retries = 0\nshared = acme-billing\n"))
    here.tool("prune", "follow", "--quiet")
    assert mark.exists(), "where the operator says that both are the same they do"
    here.config.write_text(here.config.read_text().replace("shared = acme-billing\n", ""))
    here.tool("prune", "follow", "--quiet")
    assert not mark.exists(), "and are taken back"


def without_times(upstream):
    """Upload times are missing, as with devpi and HTML indexes."""
    for facts in upstream.pages["six"].values():
        facts["upload-time"] = None
    upstream.serial += 1


@pytest.mark.parametrize("why", ["no times there", "no times here"])
def test_yanks_that_were_followed_stay_where_nothing_is_certain(here, upstream, why):
    """Another mirror, or a store that was copied from an image: neither means a stranger."""
    upstream.add("six", "six-1.9.tar.gz", yanked="broken")
    here.tool("prune", "follow", "--quiet")
    mark = here.path("six-1.9-py3-none-any.whl.yanked")
    assert mark.exists()
    if why == "no times there":
        without_times(upstream)
    else:
        for path in here.folder_of().glob("*.whl"):
            os.utime(path, (1, 1))
        here.tool("index", "--quiet")
    here.tool("prune", "follow", "--quiet")
    assert mark.exists()


def test_prune_by_a_mirror_without_times(here, upstream):
    """Duplicates with the same bytes are removed; all else needs the option."""
    upstream.add("six", "six-1.5-py2.py3-none-any.whl")
    upstream.add("six", "six-1.6-py3-none-any.whl")
    without_times(upstream)
    here.configure(caps="100%")

    def removed(*options):
        return [one["filename"] for one in here.plan(*options)["files"] if one["removes"]]
    assert removed() == [pruning.name(f"1.{minor}") for minor in (0, 1, 2, 3)]
    assert removed("--name-taken-over") == [pruning.name(f"1.{minor}") for minor in (0, 1, 2, 3, 5, 6)]


def test_shared_name_is_pruned_as_one(here, upstream):
    """By the nightly commands, which have no option: for this name only."""
    upstream.add("acme-billing", ACME, upload_time="2024-06-01T00:00:00Z")
    upstream.add("six", "six-1.6-py3-none-any.whl")
    without_times(upstream)
    rebuilt_catalog(here)
    here.configure(caps="100%")
    here.config.write_text(here.config.read_text().replace("retries = 0\n", "retries = 0\nshared = Acme.Billing\n"))
    plan = here.plan()
    assert here.of_acme(plan)["verdict"] == "duplicate"
    assert [one["why"] for one in plan["files"] if one["filename"] == pruning.name("1.6")] == ["name-taken-over"]
    here.apply()
    here.purge()
    assert not here.acme.path.exists() and here.path(pruning.name("1.6")).exists()


def test_impossibly_old_files_are_no_proof_of_age(here, upstream):
    os.utime(here.acme.path, (0, 0))
    upstream.add("acme-billing", ACME)
    rebuilt_catalog(here)
    assert here.check_kept()["why"] == "name-taken-over"


def test_index_that_knows_nothing_makes_no_name_ours(here, upstream):
    """It is a wrong or broken index, unless it is trusted."""
    for number in range(5):
        here.wheel(f"{PLATFORM}/x", f"name{number}")
    upstream.pages.clear()
    here.tool("index", "--quiet")
    assert "knows none of 7 projects" in here.tool("prune", "plan").stderr and here.ours() == []
    here.config.write_text(here.config.read_text().replace("retries = 0\n", "retries = 0\ntrust-404 = yes\n"))
    here.plan()
    assert len(here.ours()) == 7


# --- a server that merges ---

@pytest.fixture(name="index")
def index_fixture():
    with merging.indexes() as start:
        yield start()


def ours_of(server):
    path = server.catalog.with_name("catalog.db.ours")
    return path.read_text() if path.exists() else ""


def evil(tmp_path, index, **facts):
    index.add("acme", storelib.make_wheel(tmp_path / "evil", "acme", "99.0"), **facts)


def test_name_that_was_registered_in_advance_is_ours_all_the_same(serve, tmp_path, index):
    """Registered, requested once by any client, and deleted; then our first file comes."""
    store = tmp_path / "store"
    store.mkdir()
    server = serve(store, "--rescan", "1", config=merging.config(index))
    evil(tmp_path, index)
    assert len(merging.names(server, "acme")) == 1
    merging.wait_until_noted(server, "acme")
    page, noted = index.pages.pop("acme"), int(time.time())
    serving.wait_for(lambda: int(time.time()) > noted, SOON, "a later second: the server compares seconds")
    storelib.make_wheel(store, "acme", "1.0")
    serving.wait_for(lambda: "acme" in ours_of(server), SOON, "it is noted")
    index.pages["acme"] = page
    index.serial += 1
    assert merging.names(server, "acme") == ["acme-1.0-py3-none-any.whl"]


def cached_page(age):
    """A rule: the page that a cache before the index has, with the time since when."""
    def answer(handler, data):
        handler.start(200, data, Content_Type=pages.JSON, Age=age(), Cache_Control="max-age=600")
        handler.wfile.write(data)
    return answer


def test_an_answer_that_is_older_than_our_first_file_decides_nothing(serve, tmp_path, index):
    """Registered, requested, and deleted; a cache before the index still has the page when our first file comes. Then the
    page is gone, and then the name is registered again."""
    ours = storelib.make_wheel(tmp_path / "store", "acme", "1.0").name
    evil(tmp_path, index)
    index.rules["/simple/acme/"] = cached_page(lambda: 300)
    server = serve(tmp_path / "store", config=merging.config(index, retries=0, max_age=1, negative_max_age=0))
    serving.wait_for(lambda: index.statuses("acme"), SOON, "it is asked")
    assert merging.names(server, "acme") == [ours] and "acme" not in ours_of(server)
    del index.rules["/simple/acme/"]
    page = index.pages.pop("acme")
    serving.wait_for(lambda: merging.names(server, "acme") and "acme" in ours_of(server), SOON, "it is noted")
    index.pages["acme"] = page
    index.serial += 1
    assert merging.names(server, "acme") == [ours]


def test_an_answer_on_its_way_when_our_first_file_comes_decides_nothing(serve, tmp_path, index):
    """It was asked for before, and arrives after: then upstream is asked again."""
    store, sent, go = tmp_path / "store", threading.Event(), threading.Event()
    store.mkdir()
    evil(tmp_path, index)

    def answer(handler, data):
        sent.set()
        assert go.wait(SOON)
        handler.start(200, data, Content_Type=pages.JSON)
        handler.wfile.write(data)

    index.rules["/simple/acme/"] = answer
    server = serve(store, "--rescan", "1", config=merging.config(index, retries=0, max_age=1, negative_max_age=0))
    asker = threading.Thread(target=server.get, args=("/simple/acme/",))
    asker.start()
    assert sent.wait(SOON)
    time.sleep(2)  # seconds are compared
    ours = storelib.make_wheel(store, "acme", "1.0").name
    serving.wait_for(lambda: json.loads(server.get("/-/health").body)["platforms"][0]["files"], SOON, "it is listed")
    page = index.pages.pop("acme")
    go.set()
    asker.join()
    del index.rules["/simple/acme/"]
    serving.wait_for(lambda: server.get("/simple/acme/").status == 200 and "acme" in ours_of(server), SOON, "it is noted")
    index.pages["acme"] = page
    index.serial += 1
    assert merging.names(server, "acme") == [ours]


@pytest.mark.parametrize("when, merged", [(merging.UPLOADED, True), ("2999-01-02T03:04:05.678901Z", False), (None, False)])
def test_upstream_that_answers_late_is_judged_by_its_times(serve, tmp_path, index, when, merged):
    """It was down when our first file came; meanwhile only our files are served. Missing times are a doubt."""
    ours = storelib.make_wheel(tmp_path / "store", "acme", "1.0").name
    index.is_down = True
    state = tmp_path / "state"
    server = serve(tmp_path / "store", config=merging.config(index, retries=0, negative_max_age=0), state=state)
    assert merging.names(server, "acme") == [ours]
    server.stop()
    age(state, 3600)
    evil(tmp_path, index, upload_time=when)
    index.is_down = False
    server = serve(tmp_path / "store", config=merging.config(index, retries=0, negative_max_age=0), state=state)
    serving.wait_for(lambda: index.statuses("acme")[-1:] == [200], SOON, "it answers")
    serving.wait_for(lambda: (len(merging.names(server, "acme")) == 2) == merged, SOON, "it is decided")
    assert (len(merging.names(server, "acme")) == 2) == merged
    if not merged:
        assert "shared = acme would merge them" in server.errors()
    assert ("acme" in ours_of(server)) == (bool(when) and not merged), "doubt is not noted"


def age(state, seconds):
    """Our files came so long ago."""
    with contextlib.closing(sqlite3.connect(state / "catalog.db")) as catalog, catalog:
        catalog.execute("UPDATE project SET arrived = arrived - ?", [seconds])


def test_cached_page_is_not_merged_before_a_new_look_up(serve, tmp_path, index):
    """The page is fresh for an hour, but older than our first file."""
    store = tmp_path / "store"
    store.mkdir()
    evil(tmp_path, index)
    index.max_age = 3600
    server = serve(store, "--rescan", "1", config=merging.config(index, max_age="1h", retries=0))
    assert len(merging.names(server, "acme")) == 1
    index.is_down = True
    asked = index.count("acme")
    time.sleep(1.1)  # times are whole seconds: the file comes later than the answer
    storelib.make_wheel(store, "acme", "1.0")
    serving.wait_for(lambda: index.count("acme") > asked, SOON, "it is asked once more")
    serving.wait_for(lambda: merging.names(server, "acme") == ["acme-1.0-py3-none-any.whl"], SOON, "ours alone")
    assert server.get("/simple/acme/")["Cache-Control"] == "no-store"
    index.is_down = False
    serving.wait_for(lambda: len(merging.names(server, "acme")) == 2, SOON, "it knew it before")


# --- two indexes ---

def test_first_index_that_has_a_project_is_its_own(serve, tmp_path):
    with merging.indexes() as start:
        internal, public = start(), start()
        internal.add("acme", storelib.make_wheel(tmp_path / "internal", "acme", "1.0"))
        public.add("acme", storelib.make_wheel(tmp_path / "public", "acme", "999"))
        public.add("six", storelib.make_wheel(tmp_path / "public", "six", "1.0"))
        config = merging.config(internal, max_age=0, negative_max_age=0, retries=0).replace(
            internal.url, f"{internal.url} {public.url}")
        server = serve(None, config=config)
        assert merging.names(server, "acme") == ["acme-1.0-py3-none-any.whl"]
        assert merging.names(server, "six") == ["six-1.0-py3-none-any.whl"]
        assert public.count("acme") == 0
        assert server.get(merging.url_of("acme", "acme-999-py3-none-any.whl")).status == 404
        assert "together" not in server.errors()
        internal.is_down = True
        assert merging.names(server, "six") == ["six-1.0-py3-none-any.whl"]  # as it was
        assert merging.status_of(server, "never-asked") == 502
        server.stop()

        internal.is_down = False
        server = serve(None, config=config.replace("merge = yes", "merge = yes\nindexes = together"))
        assert len(merging.names(server, "acme")) == 2
        assert "Anyone who may register a name at one index can add files" in server.errors()


def test_prune_covers_by_the_projects_index(tmp_path, upstream):
    with tinyupstream.running() as internal:
        here = Here(tmp_path, upstream)
        here.config.write_text(here.config.read_text().replace(upstream.url, f"{internal.url}\n  {upstream.url}"))
        internal.add("six", "six-99.0-py3-none-any.whl")
        assert not any(one["removes"] for one in here.plan()["files"])
        internal.is_down = True
        assert {one["why"] for one in here.plan()["files"]} == {"upstream-unknown"}
        internal.is_down = False
        del internal.pages["six"]
        here.config.write_text(here.config.read_text().replace("retries = 0\n", "retries = 0\ntrust-404 = yes\n"))
        assert sum(one["removes"] for one in here.plan()["files"]) == 4


# --- what only private platforms have ---

HIDDEN = "secret-acme"


def private_config(store, index, **keys):
    return (f"[store]\npath = {store}\n[platform {PLATFORM}]\n[platform customer]\nprivate = yes\npythons = 3.11\n"
            f"arch = x86_64\nlibc = glibc 2.35\n" + merging.config(index, retries=0, **keys))


def private_store(tmp_path):
    store = tmp_path / "store"
    storelib.make_wheel(store / PLATFORM, "acme", "1.0")
    storelib.make_wheel(store / "customer", HIDDEN, "1.0")
    return store


def test_upstream_never_hears_what_only_private_platforms_have(serve, tmp_path, index):
    store = private_store(tmp_path)
    index.add(HIDDEN, storelib.make_wheel(tmp_path / "evil", HIDDEN, "99.0"))
    server = serve(None, "--rescan", "1", config=private_config(store, index, max_age=0))
    token = uploading.add_token(server, "--read", "customer")
    line = ["--catalog", server.catalog, "--config", server.config_path]
    serving.wait_for(lambda: 404 in index.statuses("acme"), SOON, "what is public is asked for")
    allowed = uploading.authorization(token)
    assert merging.status_of(server, HIDDEN) == merging.status_of(server, "nobodys") == 404
    page = server.get(f"/customer/simple/{HIDDEN}/", {"Accept": pages.JSON} | allowed)
    assert [one["filename"] for one in json.loads(page.body)["files"]] == ["secret_acme-1.0-py3-none-any.whl"]
    assert server.get(merging.url_of(HIDDEN, "secret_acme-99.0-py3-none-any.whl")).status == 404
    assert server.get(f"/-/explain/simple/{HIDDEN}").status == 404
    assert serving.run("prune", "plan", "--quiet", *line).returncode == 0
    assert serving.run("prune", "follow", "--quiet", *line).returncode == 0
    said = serving.run("explain", "--view", "customer", HIDDEN, *line)
    assert "only private platforms have it" in said.stdout, said
    storelib.make_wheel(store / PLATFORM, "later", "1.0")
    serving.wait_for(lambda: index.count("later"), SOON, "another scan")
    assert index.count(HIDDEN) == 0
    told = server.errors() + "".join(server.get(path).body.decode() for path in ("/", "/-/metrics", "/-/health", "/-/plan/", "/simple/"))
    assert HIDDEN not in told and "secret_acme" not in told
    server.stop()

    server = serve(None, config=private_config(store, index, shared=HIDDEN), state=server.catalog.parent)
    assert len(json.loads(server.get(f"/customer/simple/{HIDDEN}/", {"Accept": pages.JSON} | allowed).body)["files"]) == 2
    assert index.count(HIDDEN) == 1, "the operator asks for it"


def test_private_file_does_not_hide_a_public_name(serve, tmp_path, index):
    """An uploader of a private platform cannot remove a known project from the pages of the others."""
    store = private_store(tmp_path)
    index.add("six", storelib.make_wheel(tmp_path / "theirs", "six", "1.0"))
    server = serve(None, "--rescan", "1", config=private_config(store, index, max_age=0))
    assert len(merging.names(server, "six")) == 1
    merging.wait_until_noted(server, "six")
    storelib.make_wheel(store / "customer", "six", "2.0")
    serving.wait_for(lambda: server.get("/customer/simple/six/", uploading.authorization(
        uploading.add_token(server, "--read", "customer"))).status == 200, SOON, "it is listed")
    assert merging.names(server, "six") == ["six-1.0-py3-none-any.whl"]


def test_private_view_that_says_so_is_merged_and_its_names_are_guarded(serve, tmp_path, index):
    """The operator allows it; its names still do not appear in the log."""
    store = private_store(tmp_path)
    server = serve(None, config=private_config(store, index, max_age=0, negative_max_age=0) +
                   "[view inner]\nplatforms = customer\nupstream = merge\n")
    allowed = uploading.authorization(uploading.add_token(server, "--read", "customer"))
    serving.wait_for(lambda: HIDDEN in ours_of(server), SOON, "it is noted")
    index.add(HIDDEN, storelib.make_wheel(tmp_path / "evil", HIDDEN, "99.0"))

    def names():
        reply = server.get(f"/inner/simple/{HIDDEN}/", {"Accept": pages.JSON} | allowed)
        return [one["filename"] for one in json.loads(reply.body)["files"]]
    serving.wait_for(lambda: names() and 200 in index.statuses(HIDDEN), SOON, "it is asked for")
    assert names() == ["secret_acme-1.0-py3-none-any.whl"]
    assert HIDDEN not in server.errors()


UPSTREAMS = ["/files/upstream/{}/x-1.0-py3-none-any.whl", "/files/upstream/{}/x-1.0-py3-none-any.whl.metadata"]


@pytest.mark.parametrize("more", ["", "[view inner]\nplatforms = customer\nupstream = merge\n"])
def test_hidden_name_looks_like_an_unknown_one(serve, tmp_path, index, more):
    """On every route with a project, with HEAD and GET, before and after it is cached."""
    server = serve(None, config=private_config(private_store(tmp_path), index) + more)
    serving.wait_for(lambda: "acme" in ours_of(server) and (not more or HIDDEN in ours_of(server)), SOON, "they are noted")
    paths = ["/simple/{}/", "/simple/{}", f"/{PLATFORM}/simple/{{}}/", f"/files/{PLATFORM}/{{}}/x-1.0-py3-none-any.whl",
             "/-/explain/simple/{}", "/-/explain/simple/{}?format=text", "/-/explain/simple/{}/1.0",
             f"/-/explain/{PLATFORM}/{{}}", "/-/plan/?q={}", *UPSTREAMS]

    def told(path, name, method, accept):
        reply = server.get(path.format(name), accept, method)
        headers = {key: value.replace(name, "") for key, value in reply.headers.items()
                   if key not in ("Date", "ETag", "Content-Length")}
        return reply.status, headers, reply.body.replace(name.encode(), b"")
    for path in 2 * paths:
        for method in ("GET", "HEAD"):
            for accept in ({}, {"Accept": pages.JSON}):
                hidden, nobodys = (told(path, name, method, accept) for name in (HIDDEN, "nobodys"))
                assert hidden == nobodys, (path, method)


def test_log_names_nothing_of_private_platforms(serve, tmp_path, index):
    """For changed bytes, for files that cannot be read, and for an upload that fails in the server."""
    store = private_store(tmp_path)
    server = serve(None, "--rescan", "1", "--log-level", "info", config=private_config(store, index))
    token = uploading.add_token(server, "--upload", "--read", "customer")
    serving.wait_for(lambda: "2 added" in server.errors(), SOON, "it is scanned")
    for platform, project in ((PLATFORM, "acme"), ("customer", HIDDEN)):
        wheel, = (store / platform).glob("*.whl")
        storelib.make_wheel(tmp_path / platform, project, "1.0", requires_python=">=3").path.replace(wheel)
    serving.wait_for(lambda: "other bytes under 1 known name of private platforms" in server.errors(), SOON, "it is told")
    assert f"other bytes under a known name: {PLATFORM}/acme-1.0-py3-none-any.whl" in server.errors()
    mark = wheel.with_name(f"{wheel.name}.yanked")
    mark.symlink_to(mark.name)  # leads nowhere
    serving.wait_for(lambda: "something of a private platform could not be looked at" in server.errors(), SOON, "it is told")
    (store / "customer").rename(tmp_path / "gone")
    wheel = storelib.make_wheel(tmp_path / "built", HIDDEN, "2.0")
    assert uploading.upload(server, "customer", wheel.path, token).status == 503
    assert "upload to customer: it failed" in server.errors()
    assert HIDDEN not in server.errors() and "secret_acme" not in server.errors()


# --- uploads that upstream covers ---

@pytest.mark.parametrize("platform, rule, status", [
    (PLATFORM, "", 410),
    (PLATFORM, "private = foo\n", 200),
    (PLATFORM, "local-only = f*\n", 200),
    (PLATFORM, "shared = foo\n", 410),
    ("customer", "", 200),
])
def test_refusal_of_what_is_covered_obeys_the_rules_of_names(serve, tmp_path, upstream, platform, rule, status):
    name = "foo-1.0-py3-none-any.whl"
    upstream.add("foo", name)
    store = tmp_path / "store"
    for one in (PLATFORM, "customer"):
        storelib.make_wheel(store / one, "foo", "0.1")
    plain = (f"[store]\npath = {store}\n[platform {PLATFORM}]\n[platform customer]\nprivate = yes\npythons = 3.11\n"
             f"arch = x86_64\nlibc = glibc 2.35\n[upstream]\nurl = {upstream.url}\nretries = 0\n")
    config = tmp_path / "state" / "first.conf"
    config.parent.mkdir()
    config.write_text(plain)
    line = ["--catalog", config.with_name("catalog.db"), "--config", config]
    assert serving.run("index", "--quiet", *line).returncode == 0
    assert serving.run("prune", "follow", "--quiet", *line).returncode == 0
    server = serve(None, config=f"{plain}{rule}[upload]\ncovered = refuse\n", state=config.parent)
    token = uploading.add_token(server, "--upload", platform)
    wheel = storelib.make_wheel(tmp_path / "built", "foo", "1.0")
    assert uploading.upload(server, platform, wheel.path, token).status == status


def test_name_that_is_ours_is_not_refused(serve, tmp_path, upstream):
    """Nor for a stranger who came later, with another catalog."""
    store = tmp_path / "store"
    storelib.make_wheel(store / PLATFORM, "foo", "0.1")
    plain = f"[store]\npath = {store}\n[upstream]\nurl = {upstream.url}\nretries = 0\n"
    config = tmp_path / "state" / "first.conf"
    config.parent.mkdir()
    config.write_text(plain)
    line = ["--catalog", config.with_name("catalog.db"), "--config", config]
    upstream.add("foo", "foo-1.0-py3-none-any.whl", upload_time="2024-06-01T00:00:00Z")
    assert serving.run("index", "--quiet", *line).returncode == 0
    assert serving.run("prune", "follow", "--quiet", *line).returncode == 0
    server = serve(None, config=f"{plain}[upload]\ncovered = refuse\n", state=config.parent)
    token = uploading.add_token(server, "--upload", PLATFORM)
    wheel = storelib.make_wheel(tmp_path / "built", "foo", "1.0")
    assert uploading.upload(server, PLATFORM, wheel.path, token).status == 200
