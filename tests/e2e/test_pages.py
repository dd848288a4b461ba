# SPDX-License-Identifier: Apache-2.0
"""The pages of real wheels: both formats have the same facts, other libraries can parse them, and all facts are true."""
import contextlib
import hashlib
import json
import os
import re
import shutil
import urllib.parse
import zipfile

import pytest

import clients
import pages
import recorded
import serving

VIEWS = ["", *("alpine-3.20-x86_64 centos-9-x86_64 debian-12-aarch64 debian-12-x86_64 debian-13-x86_64 "
               "ubuntu-20.04-x86_64 ubuntu-22.04-aarch64 ubuntu-22.04-x86_64 ubuntu-24.04-x86_64").split()]


def normal(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def root_path(view):
    return f"/{view}/simple/" if view else "/simple/"


def fetch(server, paths, accept):
    """The bodies of many pages over one connection."""
    with contextlib.closing(server.connect()) as connection:
        for path in paths:
            reply = serving.ask(connection, path, {"Accept": accept})
            assert reply.status == 200, path
            assert reply["Content-Type"].startswith(accept), path
            yield reply.body


def stored_files(store, view):
    """Project -> names of the wheels in the store for a view."""
    found = {}
    for path in (store / view if view else store).rglob("*.whl"):
        found.setdefault(normal(path.name.split("-")[0]), set()).add(path.name)
    return found


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view or "merged")
def test_root_lists_all_projects_in_order(corpus, view):
    path = root_path(view)
    (as_html,) = fetch(corpus, [path], pages.HTML)
    (as_json,) = fetch(corpus, [path], pages.JSON)
    names = sorted(stored_files(corpus.store, view))
    assert pages.json_projects(as_json) == names
    url = corpus.url + path
    assert pages.html_projects(as_html, url) == [(name, f"{url}{name}/") for name in names]


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view or "merged")
def test_html_and_json_carry_the_same_facts(corpus, view):
    stored = stored_files(corpus.store, view)
    paths = [f"{root_path(view)}{name}/" for name in stored]
    both = zip(paths, fetch(corpus, paths, pages.HTML), fetch(corpus, paths, pages.JSON), strict=True)
    for path, as_html, as_json in both:
        files = pages.json_files(as_json, corpus.url + path)
        assert pages.html_files(as_html, corpus.url + path) == files
        project = path.split("/")[-2]
        assert json.loads(as_json)["name"] == project
        assert {one.filename for one in files} == stored[project] and len(files) == len(stored[project])


def version_of(filename):
    """The version in a wheel's name, in normal form as far as the recorded wheels need it."""
    return filename.split("-")[1].replace("_rc_", "rc")


def test_versions_and_sizes_are_those_of_the_files(corpus):
    stored = stored_files(corpus.store, "")
    paths = [f"/simple/{name}/" for name in stored]
    for path, body in zip(paths, fetch(corpus, paths, pages.JSON), strict=True):
        page = json.loads(body)
        assert len(set(page["versions"])) == len(page["versions"])
        assert set(page["versions"]) == {version_of(one["filename"]) for one in page["files"]}
        for one in page["files"]:
            place = urllib.parse.unquote(urllib.parse.urlsplit(urllib.parse.urljoin(path, one["url"])).path)
            _, _, platform, project, name = place.split("/")
            assert one["size"] == (corpus.store / platform / project[0] / project / name).stat().st_size
            assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z", one["upload-time"])


def test_others_can_read_every_page(corpus, client):
    """pypi-simple and mousebender read the same facts from each page."""
    asked = []
    for kind, read in ((pages.HTML, pages.html_files), (pages.JSON, pages.json_files)):
        for view in VIEWS:
            paths = [f"{root_path(view)}{name}/" for name in stored_files(corpus.store, view)]
            for path, body in zip(paths, fetch(corpus, paths, kind), strict=True):
                page = {"project": path.split("/")[-2], "url": corpus.url + path, "type": kind,
                        "body": body.decode()}
                asked.append((page, read(body, page["url"])))
    reader = client(clients.READERS)
    answers = json.loads(reader.run("python", recorded.HERE / "read_pages.py",
                                    stdin=json.dumps([page for page, _ in asked])).stdout)
    for (page, files), answer in zip(asked, answers, strict=True):
        facts = [[one.filename, one.url, one.sha256, one.requires_python, one.metadata_sha256 is not None]
                 for one in files]
        assert answer["pypi-simple"] == facts
        absolute = [[name, urllib.parse.urljoin(page["url"], url), *rest]
                    for name, url, *rest in answer["mousebender"]]
        assert absolute == facts


def oracle(path):
    """The facts of a wheel by Python's own zipfile and email parser."""
    data = path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        (name,) = [one for one in archive.namelist() if re.fullmatch(r"[^/]+\.dist-info/METADATA", one)]
        metadata = archive.read(name)
    head = re.split(rb"\r?\n\r?\n", metadata, maxsplit=1)[0].decode()
    wanted = re.search(r"^Requires-Python: *(.*?)\r?$", head, re.M)
    return recorded.Expected(path.name, hashlib.sha256(data).hexdigest(), len(data),
                             hashlib.sha256(metadata).hexdigest(), wanted and wanted.group(1))


def place(source, target):
    """A link, where possible: no test writes into these files."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)


@pytest.fixture(scope="module", name="flat")
def flat_fixture(shared, serve_module, tmp_path_factory):
    """A server of one folder with all recorded wheels, and the expected facts of each, by file name."""
    store, facts = tmp_path_factory.mktemp("flat"), {}
    every = [(shared / "corpus" / path, fact) for path, fact in recorded.expected(shared).items()]
    every += [(path, oracle(path)) for path in sorted((shared / "clients" / "wheels").glob("*.whl"))]
    for path, fact in every:
        if path.name not in facts:
            facts[path.name] = fact
            place(path, store / path.name)
    return serve_module(store), facts


def test_flat_store_lists_every_wheel_with_every_fact(flat):
    server, facts = flat
    (root,) = fetch(server, ["/simple/"], pages.JSON)
    names = pages.json_projects(root)
    assert names == sorted({normal(name.split("-")[0]) for name in facts})
    paths = [f"/simple/{name}/" for name in names]
    seen = {}
    for path, body in zip(paths, fetch(server, paths, pages.JSON), strict=True):
        sizes = {one["filename"]: one["size"] for one in json.loads(body)["files"]}
        for one in pages.json_files(body, server.url + path):
            seen[one.filename] = (one.sha256, sizes[one.filename], one.metadata_sha256, one.requires_python)
    assert seen == {name: (fact.sha256, fact.size, fact.metadata_sha256, fact.requires_python)
                    for name, fact in facts.items()}


def test_every_listed_file_can_be_downloaded_and_has_its_hash(flat):
    server, _ = flat
    (root,) = fetch(server, ["/simple/"], pages.JSON)
    paths = [f"/simple/{name}/" for name in pages.json_projects(root)]
    bodies = list(fetch(server, paths, pages.JSON))
    with contextlib.closing(server.connect()) as connection:
        for path, body in zip(paths, bodies, strict=True):
            for one in pages.json_files(body, server.url + path):
                link = urllib.parse.urlsplit(one.url).path
                for place_, digest in ((link, one.sha256), (link + ".metadata", one.metadata_sha256)):
                    reply = serving.ask(connection, place_)
                    assert (reply.status, hashlib.sha256(reply.body).hexdigest()) == (200, digest), place_
