# SPDX-License-Identifier: Apache-2.0
"""Project pages of a view that merges upstream: which file a name stands for, what is yanked, which names upstream is asked
for, and who owns a project."""
import base64
import concurrent.futures
import json
import re
import signal
import sys
import time

import pytest

import clients
import merging
import pages
import serving
import storelib

SOON = 120
PIP, UV = "pip==26.3", "uv==0.13.9"
LINUX = "cp311-cp311-linux_x86_64"
MANY = "cp311-cp311-manylinux_2_17_x86_64"


def html_of(server, project):
    reply = server.get(f"/simple/{project}/", {"Accept": pages.HTML})
    return reply.body, f"{server.url}/simple/{project}/"


def both_forms(server, project):
    """The files of a page; HTML and JSON must have the same facts."""
    body, url = html_of(server, project)
    files = pages.html_files(body, url)
    assert pages.json_files(server.get(f"/simple/{project}/", {"Accept": pages.JSON}).body, url) == files
    return files


@pytest.fixture(name="store")
def store_fixture(tmp_path):
    """six 1.0 as upstream has it, but other bytes; six 1.1 and 2.0 that upstream has not built."""
    store = tmp_path / "store"
    for version, tag in (("1.0", "py3-none-any"), ("1.1", LINUX), ("2.0", LINUX)):
        storelib.make_wheel(store / "six", "six", version, tag, files={"ours.py": b"x = 1\n"})
    return store


@pytest.fixture(name="theirs")
def theirs_fixture(tmp_path, index):
    """The wheels that upstream has, by version; those of 1.0 and 1.1 are on its page."""
    theirs = {version: storelib.make_wheel(tmp_path / "theirs", "six", version, tag, requires_python=">=3.8")
              for version, tag in (("1.0", "py3-none-any"), ("1.1", MANY), ("3.0", "py3-none-any"))}
    index.add("six", theirs["1.0"], requires_python=">=3.8")
    index.add("six", theirs["1.1"], requires_python=">=3.8")
    return theirs


def links(server, path, accept):
    """The targets of the links of a page, as written."""
    body = server.get(path, {"Accept": accept}).body.decode()
    return re.findall(r'(?:"url":|href=)"([^"#]*)', body)


def test_links_are_absolute_where_the_server_knows_its_url(serve, store, index, theirs, tmp_path):
    """The links to files, upstream's and ours, of every view; clients install from them. Also after SIGHUP."""
    state = tmp_path / "state"
    state.mkdir()
    settings = f"[store]\npath = {store}\n{merging.config(index)}[platform wheels]\npath = {store}\n[server]\n"
    server = serve(None, config=f"{settings}url = https://wheels.example.org/root\n", state=state)
    for view in ("", "/wheels"):
        for accept in (pages.JSON, pages.HTML):
            found = links(server, f"{view}/simple/six/", accept)
            assert len(found) == 4
            assert all(one.startswith("https://wheels.example.org/root/files/") for one in found)
            assert "https://wheels.example.org/root" + merging.url_of("six", theirs["1.0"].name) in found
    assert links(server, "/simple/", pages.HTML) == ["six/"]
    assert b"https://wheels.example.org/root/simple/" in server.get("/").body
    server.config_path.write_text(f"{settings}url = {server.url}\n")
    server.signal(signal.SIGHUP)
    serving.wait_for(lambda: links(server, "/simple/six/", pages.JSON)[0].startswith(server.url), SOON, "the other URL")
    for requirements, command in ((PIP, ["pip", "install", *clients.pip_index(f"{server.url}/simple/")]),
                                  (UV, ["uv", "pip", "install", "--no-cache", "--python", sys.executable, "--index-url",
                                        f"{server.url}/simple/"])):
        target = tmp_path / requirements
        clients.Client(requirements, tmp_path).run(*command, "--target", target, "six==1.0")
        assert (target / "six-1.0.dist-info").is_dir()


def test_page_is_the_union_and_names_of_upstream_are_upstreams(serve, store, index, theirs):
    index.page_facts["six"] = {"versions": ["0.5", "1.0", "1.1"]}
    server = serve(store, "--upstream", "--upstream-url", index.url)
    files = both_forms(server, "six")
    assert [one.filename for one in files] == [
        "six-1.0-py3-none-any.whl", f"six-1.1-{LINUX}.whl", f"six-1.1-{MANY}.whl", f"six-2.0-{LINUX}.whl"]
    for one, version in ((files[0], "1.0"), (files[2], "1.1")):
        wheel = theirs[version]
        assert one == pages.File(wheel.name, f"{server.url}{merging.url_of('six', wheel.name)}", wheel.sha256, ">=3.8",
                                 wheel.metadata_sha256, False)
    page = merging.page(server, "six")
    assert page["versions"] == ["1.0", "1.1", "2.0", "0.5"]
    assert [one["upload-time"] for one in page["files"]][0] == merging.UPLOADED
    assert server.get(files[1].url.removeprefix(server.url)).status == 200  # ours
    assert index.count("six") == 1


def test_release_that_upstream_yanked_is_yanked_here(serve, store, index, theirs):
    index.change("six", theirs["1.1"].name, yanked="broken <b>\"wheels\"")
    server = serve(store, config=merging.config(index))
    assert [(one.filename, one.yanked) for one in both_forms(server, "six")][1:3] == [
        (f"six-1.1-{LINUX}.whl", "broken <b>\"wheels\""), (f"six-1.1-{MANY}.whl", "broken <b>\"wheels\"")]


def test_release_of_which_one_file_is_not_yanked_is_not(serve, store, index, theirs, tmp_path):
    index.change("six", theirs["1.1"].name, yanked=True)
    index.add("six", storelib.make_wheel(tmp_path / "theirs", "six", "1.1", "cp311-cp311-win_amd64"))
    server = serve(store, config=merging.config(index))
    assert {one.filename: one.yanked for one in both_forms(server, "six")} == {
        "six-1.0-py3-none-any.whl": False, f"six-1.1-{LINUX}.whl": False, f"six-1.1-{MANY}.whl": True,
        "six-1.1-cp311-cp311-win_amd64.whl": False, f"six-2.0-{LINUX}.whl": False}


@pytest.mark.parametrize("status", ["archived", "deprecated"])
def test_status_passes_through(serve, store, index, theirs, status):
    index.page_facts["six"] = {"project-status": {"status": status, "reason": "see \"seven\""}}
    server = serve(store, config=merging.config(index))
    assert merging.page(server, "six")["project-status"] == {"status": status, "reason": "see \"seven\""}
    body = html_of(server, "six")[0].decode()
    assert f'<meta name="pypi:project-status" content="{status}">' in body
    assert '<meta name="pypi:project-status-reason" content="see &quot;seven&quot;">' in body
    assert len(both_forms(server, "six")) == 4


def test_quarantined_project_offers_nothing(serve, store, index, theirs):
    index.page_facts["six"] = {"project-status": {"status": "quarantined"}, "files": []}
    server = serve(store, config=merging.config(index))
    page = merging.page(server, "six")
    assert page["files"] == [] and page["project-status"] == {"status": "quarantined"}
    assert both_forms(server, "six") == []
    assert server.get(merging.url_of("six", theirs["1.0"].name)).status == 404


def test_quarantined_project_that_is_local_only_stays(serve, store, index, theirs):
    index.page_facts["six"] = {"project-status": {"status": "quarantined"}, "files": []}
    server = serve(store, config=merging.config(index, local_only="six"))
    assert len(merging.names(server, "six")) == 3


@pytest.mark.parametrize("rule", ["private", "local_only"])
def test_upstream_is_not_asked_for_excluded_names(serve, store, index, theirs, rule, tmp_path):
    storelib.make_wheel(store / "acme-x", "acme-x", "1.0")
    index.add("acme-x", storelib.make_wheel(tmp_path / "evil", "acme-x", "9.0"))
    server = serve(store, config=merging.config(index, **{rule: "six Acme_*"}))
    assert merging.names(server, "six") == ["six-1.0-py3-none-any.whl", f"six-1.1-{LINUX}.whl", f"six-2.0-{LINUX}.whl"]
    assert merging.names(server, "acme-x") == ["acme_x-1.0-py3-none-any.whl"]
    assert merging.status_of(server, "acme-none") == 404
    for project, name in (("six", theirs["1.0"].name), ("acme-x", "acme_x-9.0-py3-none-any.whl"), ("acme-none", "x.whl")):
        assert server.get(merging.url_of(project, name)).status == 404
    assert merging.status_of(server, "somebody-elses") == 404  # which upstream is asked for
    assert [one.path for one in index.asked] == ["/simple/somebody-elses/"]


def test_upstream_only_leaves_ours_out(serve, store, index, theirs):
    server = serve(store, config=merging.config(index, upstream_only="six"))
    assert [one.filename for one in both_forms(server, "six")] == [theirs["1.0"].name, theirs["1.1"].name]


def test_views_merge_as_each_of_them_says(serve, store, index, theirs):
    platform = f"[platform wheels]\npath = {store}\n"
    settings = f"{platform}[view plain]\nplatforms = wheels\nupstream = no\n[view both]\nplatforms = wheels\n"
    server = serve(None, config=settings + merging.config(index))
    assert len(merging.names(server, "six", "/both")) == 4
    assert len(merging.names(server, "six", "/plain")) == 3
    assert merging.status_of(server, "nobodys", "/plain") == 404
    assert index.count("nobodys") == 0


def test_answer_that_was_asked_for_before_our_first_file_is_asked_for_again(serve, tmp_path, index, theirs):
    """It does not say whose the name is. Who waited for it gets upstream's files too, as a start of a server has it."""
    store = tmp_path / "new"
    store.mkdir()
    server = serve(store, "--rescan", "1", config=merging.config(index))
    go_on = index.hold("six", times=1)
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        page = pool.submit(merging.names, server, "six")
        serving.wait_for(lambda: index.count("six") == 1, SOON, "the request")
        time.sleep(1.1)  # times of arrival are seconds
        ours = storelib.make_wheel(store, "six", "9.0")
        serving.wait_for(lambda: server.get("/simple/six/?upstream=no").status == 200, SOON, "our file")
        go_on.set()
        assert page.result() == [theirs["1.0"].name, theirs["1.1"].name, ours.name]


def test_project_that_only_upstream_has(serve, index, theirs):
    server = serve(None, "--upstream", "--upstream-url", index.url)
    assert merging.names(server, "six") == [theirs["1.0"].name, theirs["1.1"].name]
    assert merging.status_of(server, "nobodys") == 404
    assert merging.names(server, "Six") == [theirs["1.0"].name, theirs["1.1"].name]  # as upstream: any spelling
    assert index.count("six") == 1


def test_change_of_either_side_shows(serve, store, index, theirs):
    server = serve(store, "--rescan", "1", config=merging.config(index, max_age=0))
    assert len(merging.names(server, "six")) == 4
    storelib.make_wheel(store / "six", "six", "4.0")
    serving.wait_for(lambda: "six-4.0-py3-none-any.whl" in merging.names(server, "six"), SOON, "our new wheel")
    index.add("six", theirs["3.0"])
    serving.wait_for(lambda: theirs["3.0"].name in merging.names(server, "six"), SOON, "upstream's new wheel")
    assert len(both_forms(server, "six")) == 6


def refused(server, project):
    """How often the log says that upstream now has a project that is ours."""
    return len(re.findall(rf"upstream now has a project {project}, which is ours", server.errors()))


@pytest.fixture(name="stolen")
def stolen_fixture(tmp_path, index):
    """steal() registers acme upstream, with a newer version."""
    def steal():
        index.add("acme", storelib.make_wheel(tmp_path / "evil", "acme", "99.0"))
    return steal


def short_lived(index, **keys):
    """Asked again as often as there is."""
    return merging.config(index, max_age=0, negative_max_age=0, **keys)


def test_name_that_was_ours_first_stays_ours(serve, tmp_path, index, stolen):
    ours = storelib.make_wheel(tmp_path / "store", "acme", "1.0").name
    state = tmp_path / "state"
    server = serve(tmp_path / "store", config=short_lived(index), state=state)
    serving.wait_for(lambda: 404 in index.statuses("acme"), SOON, "upstream says that it does not know acme")
    assert merging.names(server, "acme") == [ours]
    stolen()
    serving.wait_for(lambda: merging.names(server, "acme") == [ours] and refused(server, "acme"), SOON, "the log's line")
    assert merging.names(server, "acme") == [ours]
    assert server.get(merging.url_of("acme", "acme-99.0-py3-none-any.whl")).status == 404
    server.stop()

    for path in state.glob("catalog.db*"):  # but for the names
        if path.is_file() and path.suffix != ".ours":
            path.unlink()
    before = len(index.statuses("acme"))
    server = serve(tmp_path / "store", config=short_lived(index), state=state)
    assert merging.names(server, "acme") == [ours]
    serving.wait_for(lambda: index.statuses("acme")[before:before + 1] == [200], SOON, "upstream says that it has it")
    assert merging.names(server, "acme") == [ours]
    server.stop()

    server = serve(tmp_path / "store", config=short_lived(index, shared="acme"), state=state)
    assert merging.names(server, "acme") == [ours, "acme-99.0-py3-none-any.whl"]


def test_name_that_was_never_requested_is_ours_too(serve, tmp_path, index, stolen):
    """It came while the server ran, and a stranger registers it before any client requests it."""
    store = tmp_path / "store"
    store.mkdir()
    server = serve(store, "--rescan", "1", config=short_lived(index))
    ours = storelib.make_wheel(store, "acme", "1.0").name
    serving.wait_for(lambda: 404 in index.statuses("acme"), SOON, "upstream is asked for a new name")
    serving.wait_for(lambda: "acme" in ours_file(server), SOON, "it is noted")
    stolen()
    assert merging.names(server, "acme") == [ours]


def ours_file(server):
    path = server.catalog.with_name("catalog.db.ours")
    return path.read_text() if path.exists() else ""


def test_name_requested_before_its_first_file_is_ours(serve, tmp_path, index, stolen):
    store = tmp_path / "store"
    store.mkdir()
    server = serve(store, "--rescan", "1", config=merging.config(index, max_age=0))
    assert merging.status_of(server, "acme") == 404  # a client mistyped a name, so upstream was asked
    storelib.make_wheel(store, "acme", "1.0")
    serving.wait_for(lambda: "acme" in ours_file(server), SOON, "it is noted")
    stolen()
    assert merging.names(server, "acme") == ["acme-1.0-py3-none-any.whl"]


def test_name_that_the_operator_removes_is_merged(serve, tmp_path, index, stolen):
    """A name that is added is ours; the server keeps running, and its pages are fresh for an hour."""
    for project in ("acme", "beta"):
        storelib.make_wheel(tmp_path / "store", project, "1.0")
    state = tmp_path / "state"
    state.mkdir()
    stolen()
    ours = state / "catalog.db.ours"
    ours.write_text("acme 2026-01-02T03:04:05Z\n")
    server = serve(tmp_path / "store", "--rescan", "0", config=merging.config(index, max_age=3600), state=state)
    assert server.catalog.with_name("catalog.db.ours") == ours

    def wait_for(*names):
        serving.wait_for(lambda: merging.names(server, "acme") == list(names), SOON, names)
    wait_for("acme-1.0-py3-none-any.whl")
    serving.wait_for(lambda: refused(server, "acme"), SOON, "upstream's answer")
    wait_for("acme-1.0-py3-none-any.whl")
    ours.write_text("")
    wait_for("acme-1.0-py3-none-any.whl", "acme-99.0-py3-none-any.whl")
    ours.write_text("acme\n")
    wait_for("acme-1.0-py3-none-any.whl")
    assert index.count("acme") == 1


def test_upstreams_project_is_not_ours_after_one_404(serve, store, index, theirs):
    """One 404 of a broken mirror must not separate a project from upstream for ever."""
    server = serve(store, config=short_lived(index))
    assert len(merging.names(server, "six")) == 4
    index.fail("six", merging.status(404))
    serving.wait_for(lambda: len(merging.names(server, "six")) == 3, SOON, "upstream has it no more")
    assert "six" not in ours_file(server)
    index.mend("six")
    serving.wait_for(lambda: len(merging.names(server, "six")) == 4, SOON, "upstream has it again")


def test_upstreams_page_in_html_is_read_too(serve, store, index, theirs):
    wheel = theirs["1.0"]

    def answer(handler, data):
        body = (f'<!DOCTYPE html><html><head><meta name="pypi:repository-version" content="1.1"><base href="/elsewhere/">'
                f'</head><body><a href="../packages/{wheel.name}#sha256={wheel.sha256}" data-requires-python="&gt;=3.8">'
                f'{wheel.name}</a></body></html>').encode()
        handler.start(200, body, Content_Type="text/html; charset=utf-8")
        handler.wfile.write(body)
    index.fail("six", answer)
    server = serve(store, config=merging.config(index))
    first = both_forms(server, "six")[0]
    assert (first.sha256, first.requires_python) == (wheel.sha256, ">=3.8")
    assert server.get(merging.url_of("six", wheel.name)).body == wheel.path.read_bytes()


def test_page_for_people_and_root_work_beside(serve, store, index, theirs):
    server = serve(store, config=merging.config(index))
    assert [one["name"] for one in json.loads(server.get("/simple/", {"Accept": pages.JSON}).body)["projects"]] == ["six"]
    assert server.get("/").status == 200


def test_files_are_private_where_all_views_that_merge_are(serve, store, index, theirs, tmp_path):
    """An index with a password may be behind them."""
    config = (f"[store]\npath = {store.parent}\n[platform {store.name}]\nprivate = yes\n"
              f"[upstream]\nurl = {index.url}\n[view inner]\nplatforms = {store.name}\nupstream = merge\n")
    server = serve(config=config, state=tmp_path / "state")
    done = serving.run("token", "add", "--read", "--platform", store.name, "--config", server.config_path, "--catalog",
                       server.catalog)
    token = base64.b64encode(b"__token__:" + done.stdout.strip().encode()).decode()
    for path in ("/inner/simple/six/", merging.url_of("six", theirs["1.0"].name)):
        for _ in range(2):
            assert server.get(path).status == 401, path
            reply = server.get(path, {"Authorization": f"Basic {token}"})
            assert reply.status == 200 and reply["Cache-Control"].startswith("private, "), path
