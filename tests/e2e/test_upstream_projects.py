# SPDX-License-Identifier: Apache-2.0
"""Projects of upstream on the pages for people of a server that merges it: found, shown, and never asked for by a page."""
import html
import json
import sqlite3

import pytest

import merging
import serving
import storelib
import uploading

PUBLIC, PRIVATE = "debian-12-x86_64", "ubuntu-24.04-x86_64"
HTML = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
MERGED = f"[platform {PUBLIC}]\npythons = 3.11 3.12\n"
HIDDEN = f"{MERGED}[platform {PRIVATE}]\npythons = 3.12\nprivate = yes\n"


@pytest.fixture(name="index", scope="module")
def index_fixture():
    with merging.indexes() as start:
        yield start()


@pytest.fixture(name="folder", scope="module")
def folder_fixture(tmp_path_factory):
    return tmp_path_factory.mktemp("upstreams")


def offer(index, folder, project, version="1.0", tag="py3-none-any", metadata=None, **facts):
    index.add(project, storelib.make_wheel(folder / "theirs", project, version, tag, metadata=metadata), **facts)


def note_as_known(server, project):
    """In the catalog, as a plan of a prune leaves it, or a server before it got its rules."""
    with sqlite3.connect(server.catalog) as catalog:
        catalog.execute("INSERT INTO upstream (project, source, result, why, standing, asked, fetched, max_age, doubted, changed)"
                        " VALUES (?, 'x', 'known', '', 'known', 1, 1, 1, 0, 0)", (project,))


@pytest.fixture(name="server", scope="module")
def server_fixture(index, folder, serve_module):
    """Upstream has four projects that were asked for here, and one that was not."""
    for name in ("numpy", "numexpr", "numours", "numunasked", "numpublic"):
        offer(index, folder, name)
    store = folder / "store"
    storelib.make_wheel(store / PUBLIC / "numpublic", "numpublic", "1.0")
    storelib.make_wheel(store / PRIVATE / "numsecret", "numsecret", "1.0")
    server = serve_module(store, config=HIDDEN + f"[store]\ndefault-view = {PUBLIC}\n" + merging.config(index, local_only="numlocal"))
    server.reader = uploading.add_token(server, "--read", "--platform", PRIVATE)
    for name in ("numpy", "numexpr", "numours", "numpublic"):
        assert merging.page(server, name)["files"], name
        merging.wait_until_noted(server, name)
    assert merging.status_of(server, "numabsent") == 404
    note_as_known(server, "numlocal")
    owned = server.catalog.with_name(server.catalog.name + ".ours")
    owned.write_text("numours 1\n")
    storelib.make_wheel(store / PRIVATE / "numpy", "numpy", "9.0")
    serving.wait_for(lambda: not found(server, "numpy", server.reader)["numpy"], 60, "the private numpy")
    return server


def search(server, typed, token=None, **query):
    words = "&".join(f"{key}={value}" for key, value in query.items())
    reply = server.get(f"/-/search?q={typed}&format=json&{words}", uploading.authorization(token))
    assert reply.status == 200, reply
    return json.loads(reply.body)


def found(server, typed, token=None, **query):
    return {one["name"]: one["upstream"] for one in search(server, typed, token, **query)["projects"]}


def page(server, path, token=None, status=200):
    reply = server.get(path, {**HTML, **uploading.authorization(token)})
    assert reply.status == status, reply
    return html.unescape(reply.body.decode())


def test_a_search_finds_what_is_cached(server, index):
    """Upstream's and ours together, without a request; not what was never asked for, what is absent, or ours alone."""
    before = len(index.asked)
    assert found(server, "num") == {"numpy": True, "numexpr": True, "numpublic": False}
    assert found(server, "numunasked") == {}
    assert found(server, "numexrp") == {"numexpr": True}, "a near miss"
    text = page(server, "/-/search?q=num")
    assert "3 projects with" in text and text.count("upstream’s</span>") == 2
    assert '<a href="project/numexpr">' in text
    one = search(server, "num", limit=1)
    assert len(one["projects"]) == 1 and one["total"] == 3
    assert len(index.asked) == before


def test_a_search_shows_no_private_project(server):
    assert found(server, "numpy", server.reader) == {"numpy": False}
    assert "numsecret" in found(server, "num", server.reader)
    assert "numsecret" not in json.dumps(search(server, "numsecret")["projects"])


def test_without_a_default_view_upstream_is_for_readers_of_a_platform(index, folder, serve):
    """All platforms are private: neither a name nor a file of upstream is there for others, once a reader has asked for it."""
    store = folder / "private"
    offer(index, folder, "numlonely")
    for platform in (PRIVATE, PUBLIC):
        (store / platform).mkdir(parents=True)
    config = HIDDEN.replace("pythons = 3.11 3.12\n", "private = yes\n")
    server = serve(store, config=f"{config}[store]\ndefault-view = none\n{merging.config(index)}")
    reader = uploading.add_token(server, "--read")
    token = uploading.authorization(reader)
    [file] = merging.page(server, "numlonely", f"/{PRIVATE}", **token)["files"]
    merging.wait_until_noted(server, "numlonely")
    path = merging.url_of("numlonely", file["filename"])
    reply = server.get(path, token)
    assert reply.status == 200 and reply["Cache-Control"].startswith("private"), reply
    assert f"--index-url {server.url}/{PUBLIC}/simple/ numlonely<" in page(server, "/-/project/numlonely", reader)
    assert found(server, "num", reader) == {"numlonely": True} and found(server, "num") == {}
    assert server.get("/-/project/numlonely", HTML).status == 404 and server.get(path).status == 401


def test_upstreams_names_are_for_clients_that_get_its_files(index, folder, serve):
    """The one view that merges has a private platform: only who may read it finds upstream's projects."""
    store = folder / "closed"
    storelib.make_wheel(store / PRIVATE / "numsecret", "numsecret", "1.0")
    storelib.make_wheel(store / PUBLIC / "numopen", "numopen", "1.0")
    keys = merging.config(index).replace("merge = yes", "merge = no")
    server = serve(store, config=HIDDEN + f"[view team]\nplatforms = {PRIVATE} {PUBLIC}\nupstream = merge\n{keys}")
    reader = uploading.add_token(server, "--read", "--platform", PRIVATE)
    some = uploading.add_token(server, "--read", "--platform", PRIVATE, "--project", "numexpr")
    for name in ("numpy", "numexpr"):
        reply = server.get(f"/team/simple/{name}/", {"Accept": merging.pages.JSON, **uploading.authorization(reader)})
        assert reply.status == 200, reply
        merging.wait_until_noted(server, name)
    assert found(server, "num") == {"numopen": False}
    assert search(server, "numpy")["total"] == 0
    assert found(server, "num", reader) == {"numpy": True, "numopen": False, "numexpr": True, "numsecret": False}
    assert found(server, "num", some) == {"numexpr": True, "numopen": False}


def test_a_server_that_does_not_merge_finds_its_own(index, folder, serve):
    """Also where the catalog has answers of upstream, as after a plan of a prune."""
    store = folder / "alone"
    storelib.make_wheel(store / PUBLIC / "numopen", "numopen", "1.0")
    server = serve(store, config=MERGED + merging.config(index).replace("merge = yes", "merge = no"))
    note_as_known(server, "numpy")
    assert found(server, "num") == {"numopen": False}


# --- the overview ---

def overview(server):
    return json.loads(server.get("/?format=json").body)


def mirror(serve, folder, index, **keys):
    """A server without a file of its own, whose upstream wants a password."""
    (folder / PUBLIC).mkdir(parents=True, exist_ok=True)
    return serve(folder, config=MERGED + merging.config(index, retries=0, **keys).replace("http://", "http://reader:secret@"))


def seen(server, **wanted):
    """Waits until this is what "/" says of the index."""
    def is_so():
        [one] = overview(server)["upstream"]["indexes"]
        return all(one[key] == value if value is not any else one[key] for key, value in wanted.items())
    serving.wait_for(is_so, 60, f"{wanted} of {overview(server)['upstream']}")
    return page(server, "/")


def test_a_mirror_shows_upstream(index, folder, serve, tmp_path):
    """Its URL, whether it answers, and what is cached: no empty store."""
    offer(index, folder, "mirrored")
    server = mirror(serve, tmp_path / "store", index)
    text = page(server, "/")
    assert index.url in text and "reader" not in text and "secret" not in text
    assert "not asked yet" in text and "<dt>Files</dt>" not in text and "<dt>Cached files</dt><dd>0</dd>" in text
    assert merging.names(server, "mirrored") == ["mirrored-1.0-py3-none-any.whl"]
    assert server.get(merging.url_of("mirrored", "mirrored-1.0-py3-none-any.whl")).status == 200
    merging.wait_until_kept(server, "mirrored-1.0-py3-none-any.whl")
    merging.wait_until_noted(server, "mirrored")
    text = seen(server, answered=any, failed=None, failure=None, failing=False)
    told = overview(server)["upstream"]
    size = index.pages["mirrored"]["mirrored-1.0-py3-none-any.whl"]["size"]
    assert (told["projects"], told["files"], told["bytes"], told["offline"]) == (1, 1, size, False)
    assert ">answers</span>" in text and "1 project’s page is cached, and 1 file with" in text
    index.fail("mistaken", lambda handler, data: handler.start(401))
    assert merging.status_of(server, "mistaken") == 502
    text = seen(server, failed=any, failure="4xx", failing=True)
    assert ">fails</span>" in text and "4xx, <time" in text


def test_a_mirror_that_does_not_ask_says_so(index, folder, serve, tmp_path):
    offer(index, folder, "mirrored")
    server = mirror(serve, tmp_path / "store", index, offline="yes")
    text = page(server, "/")
    assert overview(server)["upstream"]["offline"] is True
    assert ">offline</span>" in text and "It is not asked: [upstream] offline = yes" in text


def test_the_overview_tells_of_no_private_upstream(index, serve, tmp_path):
    """No view that everybody may read merges."""
    (tmp_path / "store" / PRIVATE).mkdir(parents=True)
    (tmp_path / "store" / PUBLIC).mkdir()
    server = serve(tmp_path / "store", config=HIDDEN + f"[view team]\nplatforms = {PRIVATE}\nupstream = merge\n"
                   + merging.config(index).replace("merge = yes", "merge = no"))
    assert "upstream" not in overview(server)
    assert index.url not in page(server, "/")


# --- the page of a project that only upstream has ---

MARKUP = "</p><script>alert(1)</script>&amp;\"'"
FACTS = (f"Summary: Numbers, {MARKUP}\nHome-page: javascript:alert(2)\nProject-URL: Source, https://example.org/source\n"
         f"Project-URL: Bad\" onclick=\"alert(3), http://example.org/bad\nRequires-Dist: other>=1\n\nIts **README**.\n")


def told(server, project, token=None, status=200, **query):
    words = "&".join(f"{key}={value}" for key, value in query.items())
    reply = server.get(f"/-/project/{project}?format=json&{words}", uploading.authorization(token))
    assert reply.status == status, reply
    return json.loads(reply.body)


def science(index, folder):
    """The newest of all is for 3.12; one before has no wheel for 3.11, one needs a newer libc. Some count nowhere."""
    def add(version, tag, requires=">=3.8", **facts):
        metadata = storelib.metadata_bytes("science", version, requires, (), FACTS)
        offer(index, folder, "science", version, tag, metadata, requires_python=requires, **facts)
    for minor in (311, 312):
        add("1.0", f"cp{minor}-cp{minor}-manylinux_2_28_x86_64")
    for minor in (311, 312):
        add("1.1", f"cp{minor}-cp{minor}-manylinux_2_39_x86_64")
    add("2.0", "cp312-cp312-manylinux_2_28_x86_64", ">=3.12")
    add("2.5", "py3-none-any", yanked="broken")
    add("3.0rc1", "py3-none-any")


def test_the_page_of_upstreams_project(index, folder, serve, tmp_path):
    science(index, folder)
    server = mirror(serve, tmp_path / "store", index)
    assert told(server, "science", status=404)["error"] == "no such project"
    assert merging.names(server, "science")
    merging.wait_until_noted(server, "science")
    before = len(index.asked)
    found = told(server, "science")
    assert found["upstreams"] and found["version"] == "2.0" and "metadata" not in found
    assert [one["version"] for one in found["versions"]] == ["3.0rc1", "2.5", "2.0", "1.1", "1.0"]
    assert [one["yanked"] for one in found["versions"]] == [False, True, False, False, False]
    assert found["versions"][2]["requires_python"] == ">=3.12" and found["versions"][3]["wheels"] == 2
    newest = {one["python"]: one for one in found["newest_for"]}
    assert newest["3.12"]["version"] == "2.0" and newest["3.12"]["newer"] is None
    assert (newest["3.11"]["version"], newest["3.11"]["newer"], newest["3.11"]["newer_versions"]) == ("1.0", "2.0", 2)
    assert newest["3.11"]["why"] == "science-2.0-cp312-cp312-manylinux_2_28_x86_64.whl has Requires-Python >=3.12"
    assert len(told(server, "science", limit=2)["versions"]) == 2
    text = page(server, "/-/project/science")
    assert "A project of upstream" in text and "Newest version for each Python" in text and "Versions of upstream" in text
    assert len(index.asked) == before, "a page asks upstream for nothing"


def test_upstreams_metadata_is_shown_and_escaped(index, folder, serve, tmp_path):
    """As soon as a client has asked for it here; of links only those of the web."""
    science(index, folder)
    server = mirror(serve, tmp_path / "store", index)
    name = next(one for one in merging.names(server, "science") if "-2.0-" in one)
    merging.wait_until_noted(server, "science")
    # Of the shown version, else of the newest one of which some is kept.
    for kept in [next(one for one in merging.names(server, "science") if part in one) for part in ("-1.0-cp312", "-1.1-", "-2.0-")]:
        assert server.get(merging.url_of("science", f"{kept}.metadata")).status == 200
        serving.wait_for(lambda name=kept: told(server, "science").get("metadata", {}).get("of") == name, 60, f"what METADATA says of {kept}")
    assert told(server, "science", version="1.0")["metadata"]["of"].startswith("science-1.0-cp312")
    found = told(server, "science")["metadata"]
    assert (found["of"], found["requires_python"], found["requires_dist"]) == (name, ">=3.12", ["other>=1"])
    assert found["summary"] == f"Numbers, {MARKUP}"
    assert [one["url"] for one in found["project_urls"]] == ["https://example.org/source", "http://example.org/bad"]
    raw = server.get("/-/project/science", HTML).body.decode()
    assert "javascript:" not in raw and "<script>alert" not in raw and 'onclick="' not in raw
    assert html.escape("<script>alert(1)") in raw and "1 dependency</summary>" in raw
    assert 'rel="nofollow noopener noreferrer" href="https://example.org/source"' in raw


def test_upstreams_page_says_nothing_of_private_platforms(server):
    """A private platform has numpy too: its reader sees ours, others see what they see of any project of upstream."""
    assert told(server, "numpy")["upstreams"] and told(server, "numexpr")["upstreams"]
    others = [json.dumps(told(server, name)).replace(name, "NAME") for name in ("numpy", "numexpr")]
    times = [one["upstream"] for one in map(json.loads, others)]
    assert {key: times[0][key] for key in ("result", "known", "newest")} == \
        {key: times[1][key] for key in ("result", "known", "newest")}
    assert not told(server, "numpy", server.reader)["upstreams"]
    assert told(server, "numours", status=404) and told(server, "numlocal", status=404)


def test_upstreams_projects_are_for_clients_that_get_its_files(index, folder, serve):
    store = folder / "shut"
    storelib.make_wheel(store / PRIVATE / "numsecret", "numsecret", "1.0")
    storelib.make_wheel(store / PUBLIC / "numopen", "numopen", "1.0")
    server = serve(store, config=HIDDEN + f"[view team]\nplatforms = {PRIVATE} {PUBLIC}\nupstream = merge\n"
                   + merging.config(index).replace("merge = yes", "merge = no"))
    reader = uploading.add_token(server, "--read", "--platform", PRIVATE)
    reply = server.get("/team/simple/numpy/", {"Accept": merging.pages.JSON, **uploading.authorization(reader)})
    assert reply.status == 200
    merging.wait_until_noted(server, "numpy")
    assert told(server, "numpy", reader)["upstreams"]
    assert told(server, "numpy", status=404) == told(server, "numpz", status=404) | {"meant": None}
