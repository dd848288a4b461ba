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
