# SPDX-License-Identifier: Apache-2.0
"""Several upstreams behind one URL, each with its own rules: who is asked for what, whose file a name is, and what pip and uv
install of it."""
import base64
import json
import signal
import sys

import pytest

import clients
import merging
import pages
import serving
import storelib

PIP, UV = "pip==26.3", "uv==0.13.9"
SOON = 120

# docs/upstream.md shows it.
ONE_URL = """[upstream]
merge = yes

[upstream company]
url = {company}
projects = acme-*
trust-404 = yes

[upstream pytorch]
url = {pytorch}
projects = torch torchvision

[upstream pypi]
url = {pypi}
not-projects = acme-*
"""


class Upstreams:
    """Indexes by name, and where their wheels are made."""

    def __init__(self, start, folder):
        self.folder = folder
        self.of = {name: start() for name in ("company", "pytorch", "pypi")}

    def __getitem__(self, name):
        return self.of[name]

    def config(self, text):
        return text.format(**{name: index.url for name, index in self.of.items()})

    def add(self, upstream, name, version, **more):
        """A wheel of which each upstream has bytes of its own."""
        module = name.replace("-", "_")
        wheel = storelib.make_wheel(self.folder / upstream, module, version,
                                    files={f"{module}.py": f"FROM = {upstream!r}\n".encode()}, **more)
        self.of[upstream].add(name, wheel)
        return wheel

    def asked(self):
        """The projects that each was asked for."""
        return {name: sorted({one.path.split("/")[2] for one in index.asked if one.path.startswith("/simple/")})
                for name, index in self.of.items()}


@pytest.fixture(name="up")
def up_fixture(tmp_path):
    with merging.indexes() as start:
        yield Upstreams(start, tmp_path / "theirs")


@pytest.fixture(name="store")
def store_fixture(tmp_path):
    storelib.make_wheel(tmp_path / "store", "mine", "1.0", requires=["acme-billing"])
    return tmp_path / "store"


def listed(server, project, view=""):
    """The files of a page by name, as (path of the URL, SHA-256); HTML and JSON must have the same facts."""
    path, at = f"{view}/simple/{project}/", f"{server.url}{view}/simple/{project}/"
    reply = server.get(path, {"Accept": pages.JSON})
    assert reply.status in (200, 404), reply.body
    if reply.status == 404:
        return {}
    files = pages.json_files(reply.body, at)
    assert pages.html_files(server.get(path, {"Accept": pages.HTML}).body, at) == files
    return {one["filename"]: (one["url"], one["hashes"]["sha256"]) for one in json.loads(reply.body)["files"]}


def path_of(url):
    return "/" + url.lstrip("./")


def check_ways(server, url, wheel):
    """A GET, fresh and kept, a HEAD, a range and the metadata of a file agree."""
    path, data = path_of(url), wheel.path.read_bytes()
    for _ in range(2):
        reply = server.get(path)
        assert (reply.status, reply.body) == (200, data)
    head = server.get(path, method="HEAD")
    assert (head.status, head["Content-Length"], head["ETag"]) == (200, str(len(data)), reply["ETag"])
    part = server.get(path, {"Range": "bytes=10-19"})
    assert (part.status, part.body) == (206, data[10:20])
    assert server.get(path + ".metadata").body == wheel.metadata
    assert server.get(path, {"If-None-Match": reply["ETag"]}).status == 304


def install(client, name, url, target, wanted):
    if name == UV:
        client(UV).run("uv", "pip", "install", "--no-cache", "--python", sys.executable, "--index-url", url,
                       "--target", target, *wanted)
    else:
        client(name).pip("install", *clients.pip_index(url), "--target", target, *wanted)


@pytest.mark.parametrize("name", [PIP, UV])
def test_one_url_for_all(serve, store, up, client, tmp_path, name):
    """Ours needs the company's, which needs PyTorch's, which needs PyPI's; nobody else hears of a name."""
    up.add("company", "acme-billing", "2.0", requires=["torch"])
    up.add("pypi", "acme-billing", "99.0")  # a stranger's
    up.add("pytorch", "torch", "2.5", requires=["six"])
    up.add("pypi", "torch", "2.6")
    up.add("pypi", "six", "1.17")
    up.add("pytorch", "six", "1.99")
    server = serve(store, config=up.config(ONE_URL))
    install(client, name, f"{server.url}/simple/", tmp_path / "target", ["mine"])
    said = {path.stem: path.read_text().strip() for path in (tmp_path / "target").glob("*.py")}
    assert (said["acme_billing"], said["torch"], said["six"]) == \
        ("FROM = 'company'", "FROM = 'pytorch'", "FROM = 'pypi'")
    asked = up.asked()
    assert asked["company"] == ["acme-billing"] and asked["pytorch"] == ["torch"]
    assert "acme-billing" not in asked["pypi"] and "torch" not in asked["pypi"]
    assert listed(server, "torch")["torch-2.5-py3-none-any.whl"][0] == \
        "../../files/upstream/pytorch/torch/torch-2.5-py3-none-any.whl"


VIEWS = """[upstream company]
url = {company}

[upstream pytorch]
url = {pytorch}

[upstream pypi]
url = {pypi}

[view both]
platforms = p
upstream = pytorch pypi
indexes = together

[view turned]
platforms = p
upstream = pypi pytorch
indexes = together

[view first]
platforms = p
upstream = pytorch pypi

[view pypi-only]
platforms = p
upstream = pypi

[view bare]
platforms = p
upstream = no

[platform p]
"""


@pytest.fixture(name="two")
def two_fixture(serve, tmp_path, up):
    """A name that two list with other bytes, and one that only the second has."""
    (tmp_path / "views" / "p").mkdir(parents=True)
    up.wheels = {(of, version): up.add(of, "torch", version)
                 for of, version in (("pytorch", "2.5"), ("pypi", "2.5"), ("pypi", "2.4"))}
    up.server = serve(tmp_path / "views", config=up.config(VIEWS))
    return up


NAME, OTHER = "torch-2.5-py3-none-any.whl", "torch-2.4-py3-none-any.whl"


@pytest.mark.parametrize("view, wanted", [
    ("both", {NAME: "pytorch", OTHER: "pypi"}), ("turned", {NAME: "pypi", OTHER: "pypi"}),
    ("first", {NAME: "pytorch"}), ("pypi-only", {NAME: "pypi", OTHER: "pypi"}), ("bare", {})])
def test_each_view_has_its_upstreams_in_order(two, view, wanted):
    found = listed(two.server, "torch", f"/{view}")
    assert {name: path_of(url).split("/")[3] for name, (url, _) in found.items()} == wanted
    for name, (url, sha256) in found.items():
        wheel = two.wheels[wanted[name], name.split("-")[1]]
        assert sha256 == wheel.sha256
        check_ways(two.server, url, wheel)


def test_name_with_two_hashes_is_the_first_ones_and_is_said(two):
    words = f"{NAME}: upstream pypi has other bytes than upstream pytorch, whose file counts"
    def is_said():
        listed(two.server, "torch", "/both")
        return words in two.server.get("/-/explain/both/torch?format=text").body.decode()
    serving.wait_for(is_said, SOON, "the page is in the catalog")
    explained = json.loads(two.server.get("/-/explain/both/torch", {"Accept": "application/json"}).body)
    assert explained["upstream"]["conflicts"] == [{"filename": NAME, "counts": "pytorch", "other": "pypi"}]
    assert [one["name"] for one in explained["upstream"]["each"]] == ["pytorch", "pypi"]
    two.server.stop()
    log = two.server.error_path.read_text()
    assert log.count(f"upstream pypi has another {NAME} than upstream pytorch, whose file counts") == 1


def test_address_of_one_asks_no_other(two):
    """Who has not the file is not asked for a name that only others had."""
    assert two.server.get(f"/files/upstream/company/torch/{NAME}").status == 404
    assert two.asked()["company"] == []
    assert two.server.get(f"/files/upstream/nobody/torch/{NAME}").status == 404
    assert two.server.get(f"/files/upstream/pypi/torch/{NAME}").body == two.wheels["pypi", "2.5"].path.read_bytes()


PLAIN = """[upstream]
url = {pypi}
merge = yes
indexes = together

[upstream pytorch]
url = {pytorch}
"""


def test_plain_one_keeps_its_addresses(serve, tmp_path, up):
    """Locks that were made before a second upstream came name files of the first one without a name."""
    (tmp_path / "empty").mkdir()
    ours, theirs = up.add("pypi", "torch", "2.5"), up.add("pytorch", "torch", "2.6")
    server = serve(tmp_path / "empty", config=up.config(PLAIN))
    found = listed(server, "torch")
    assert found[ours.name][0] == f"../../files/upstream/torch/{ours.name}"
    assert found[theirs.name][0] == f"../../files/upstream/pytorch/torch/{theirs.name}"
    for wheel in (ours, theirs):
        check_ways(server, found[wheel.name][0], wheel)
    # Without a name: of the first that has it.
    assert server.get(f"/files/upstream/torch/{theirs.name}").body == theirs.path.read_bytes()
    assert server.get(f"/files/upstream/upstream/torch/{ours.name}").body == ours.path.read_bytes()


PLAIN_FIRST = """[upstream]
url = {pypi}
merge = yes
indexes = HOW
retries = 0
max-age = 1
negative-max-age = 1

[upstream pytorch]
url = {pytorch}

[view another]
platforms = q
upstream = pytorch

[platform p]

[platform q]
"""


@pytest.fixture(name="plain", params=["together", "first"])
def plain_fixture(request, serve, tmp_path, up):
    """A plain upstream, a second one, and a view that merges the second one alone, which knows its torch 2.5 and 2.6."""
    for platform in ("p", "q"):
        (tmp_path / "plain" / platform).mkdir(parents=True)
    up.second = [up.add("pytorch", "torch", version) for version in ("2.5", "2.6")]
    up.start = lambda: serve(tmp_path / "plain", config=up.config(PLAIN_FIRST.replace("HOW", request.param)))
    return up


def known_to_second(plain):
    server = plain.start()
    assert sorted(listed(server, "torch", "/another")) == [wheel.name for wheel in plain.second]
    return server


def test_address_without_a_name_asks_the_first_upstream(plain):
    """Although the second one is known to have the file: what is sent once is kept by clients for good."""
    first = plain.add("pypi", "torch", "2.5")
    server = known_to_second(plain)
    assert plain.asked()["pypi"] == []
    url = listed(server, "torch", "/another")[first.name][0]
    assert server.get(path_of(url)).body == plain.second[0].path.read_bytes()
    check_ways(server, merging.url_of("torch", first.name), first)
    assert server.get(merging.url_of("torch", first.name))["Cache-Control"] == "public, max-age=365000000, immutable"
    assert listed(server, "torch")[first.name] == (f"../../files/upstream/torch/{first.name}", first.sha256)


def test_address_without_a_name_waits_until_the_first_upstream_has_said(plain):
    first = plain.add("pypi", "torch", "2.5")
    server = known_to_second(plain)
    plain["pypi"].is_down = True
    for wheel in plain.second:
        reply = server.get(merging.url_of("torch", wheel.name))
        assert (reply.status, reply["Cache-Control"]) == (502, "no-store"), reply.body
    plain["pypi"].is_down = False
    serving.wait_for(lambda: server.get(merging.url_of("torch", first.name)).status == 200, SOON, "it is asked again")
    check_ways(server, merging.url_of("torch", first.name), first)


def test_address_without_a_name_becomes_the_first_upstreams(plain):
    """The second one's file is sent while the first one has none of that name, and is kept by nobody without asking."""
    later, url = plain.second[1], merging.url_of("torch", plain.second[1].name)
    server = known_to_second(plain)
    for _ in range(2):
        reply = server.get(url)
        assert (reply.status, reply.body, reply["Cache-Control"]) == (200, later.path.read_bytes(), "public, no-cache")
    first = plain.add("pypi", "torch", "2.6")
    def is_listed():
        found = {one["filename"]: one for one in merging.page(server, "torch")["files"]}.get(first.name)
        return found and found["url"].endswith(url) and found["hashes"]["sha256"] == first.sha256
    serving.wait_for(is_listed, SOON, "the first one's page")
    check_ways(server, url, first)


HIDING = """[store]
default-view = both

[upstream pytorch]
url = {pytorch}
deny = DENY
max-age = 1

[upstream pypi]
url = {pypi}

[view both]
platforms = p
upstream = pytorch pypi
indexes = HOW

[platform p]
"""
TURNED = """[view turned]
platforms = p
upstream = pypi pytorch
"""
SECRET = """[platform q]
private = yes

[view secret]
platforms = q
upstream = pypi
"""


@pytest.fixture(name="hiding", params=["together", "first"])
def hiding_fixture(request, serve, tmp_path, up):
    """Torch 2.5 that the first upstream has and hides, and the second one has too; 2.4 that only the second one has."""
    for platform in ("p", "q"):
        (tmp_path / "hiding" / platform).mkdir(parents=True)
    denied = tmp_path / "denied"
    denied.write_text("torch ==2.5 evil\n")
    up.add("pytorch", "torch", "2.5")
    up.hidden, up.other = up.add("pypi", "torch", "2.5"), up.add("pypi", "torch", "2.4")
    config = up.config(HIDING.replace("HOW", request.param).replace("DENY", str(denied)))
    up.start = lambda more: serve(tmp_path / "hiding", config=config + more)
    up.asks_both = request.param == "together"
    return up


def statuses(server, url, **headers):
    """Of each way to a file."""
    return {server.get(url, headers).status, server.get(url, headers, method="HEAD").status,
            server.get(url, headers | {"Range": "bytes=0-9"}).status, server.get(f"{url}.metadata", headers).status}


def test_name_that_the_first_upstream_hides_is_hidden_of_the_second(hiding):
    server, url = hiding.start(""), f"/files/upstream/pypi/torch/{hiding.hidden.name}"
    for _ in range(2):
        assert statuses(server, url) == {403}
        assert "denied by denied:1: evil" in json.loads(server.get(url).body)["detail"]
        assert NAME not in listed(server, "torch")
    assert hiding["pypi"].count(f"/packages/{NAME}") == 0
    other = server.get(f"/files/upstream/pypi/torch/{hiding.other.name}")
    assert other.status == (200 if hiding.asks_both else 404)
    del hiding["pytorch"].pages["torch"][NAME]
    hiding["pytorch"].serial += 1
    serving.wait_for(lambda: server.get(url).status != 403, SOON, "it has it no more")
    assert statuses(server, url) == ({200, 206} if hiding.asks_both else {404})


def test_name_that_the_first_upstream_hides_is_not_hidden_where_it_is_not_first(hiding):
    server, url = hiding.start(TURNED), f"/files/upstream/pypi/torch/{hiding.hidden.name}"
    assert listed(server, "torch", "/turned")[NAME][1] == hiding.hidden.sha256 and NAME not in listed(server, "torch")
    check_ways(server, url, hiding.hidden)


def test_first_upstream_is_asked_whether_it_hides_the_name(hiding):
    """Although the second one is known to have it, by a view that the client may not read; who may gets the file, and
    leaves no answer for others."""
    server = hiding.start(SECRET)
    token = serving.run("token", "add", "--read", "--platform", "q", "--config", server.config_path, "--catalog",
                        server.catalog).stdout.strip()
    bearer = {"Authorization": "Basic " + base64.b64encode(b"__token__:" + token.encode()).decode()}
    page = merging.page(server, "torch", "/secret", **bearer)
    assert sorted(one["filename"] for one in page["files"]) == [OTHER, NAME]
    assert hiding.asked()["pytorch"] == []
    url = f"/files/upstream/pypi/torch/{NAME}"
    for _ in range(2):
        assert statuses(server, url) == {403}
        assert statuses(server, url, **bearer) == {200, 206}
    assert hiding.asked()["pytorch"] == ["torch"]


OWNERS = """[index]
settle = 0

[server]
rescan = 1

[upstream]
merge = yes
indexes = together
negative-max-age = 0
max-age = 0

[upstream company]
url = {company}
private = secret-*

[upstream pypi]
url = {pypi}
private = acme-*
"""


def test_owner_of_a_name_is_judged_at_each(serve, tmp_path, up):
    """The company had widget before we did; at PyPI a stranger takes the name later. Private names are those of each."""
    store = tmp_path / "owners"
    up.add("company", "widget", "1.0")
    up.add("company", "acme-tool", "1.0")
    up.add("pypi", "secret-thing", "1.0")
    storelib.make_wheel(store, "widget", "2.0")
    server = serve(store, config=up.config(OWNERS))
    ours = server.catalog.with_name("catalog.db.ours")
    serving.wait_for(lambda: ours.exists() and "widget" in ours.read_text(), SOON, "widget noted")
    assert [line.split()[0::2] for line in ours.read_text().splitlines()] == [["widget", "upstream=pypi"]]
    up.add("pypi", "widget", "99.0")
    serving.wait_for(lambda: "upstream pypi now has a project widget" in server.error_path.read_text() or
                     listed(server, "widget") is None, SOON, "the stranger is noted")
    assert sorted(listed(server, "widget")) == ["widget-1.0-py3-none-any.whl", "widget-2.0-py3-none-any.whl"]
    assert server.get("/files/upstream/pypi/widget/widget-99.0-py3-none-any.whl").status == 404
    assert list(listed(server, "acme-tool")) == ["acme_tool-1.0-py3-none-any.whl"]
    assert list(listed(server, "secret-thing")) == ["secret_thing-1.0-py3-none-any.whl"]
    asked = up.asked()
    assert "acme-tool" not in asked["pypi"] and "secret-thing" not in asked["company"]


def test_one_that_is_down_hides_no_other(serve, tmp_path, up):
    (tmp_path / "empty").mkdir()
    up.add("pypi", "six", "1.17")
    up.add("company", "acme-billing", "1.0")
    up["company"].is_down = True
    server = serve(tmp_path / "empty", config=up.config(ONE_URL) + "[upstream]\nretries = 0\n")
    assert list(listed(server, "six")) == ["six-1.17-py3-none-any.whl"]
    assert server.get("/simple/acme-billing/").status == 502
    up["company"].is_down = False


def test_reload_takes_rules_and_keeps_which_there_are(serve, tmp_path, up):
    (tmp_path / "empty").mkdir()
    up.add("pypi", "six", "1.17")
    up.add("pypi", "seven", "1.17")
    config = up.config(ONE_URL)
    server = serve(tmp_path / "empty", config=config)
    assert listed(server, "six")
    server.config_path.write_text(server.config_path.read_text().replace("not-projects = acme-*", "not-projects = acme-* s*") +
                                  f"[upstream more]\nurl = {up['company'].url}more/\n")
    server.process.send_signal(signal.SIGHUP)
    serving.wait_for(lambda: "which [upstream NAME] there are has changed" in server.error_path.read_text(), SOON, "said")
    serving.wait_for(lambda: server.get("/simple/six/").status == 404, SOON, "six is not asked for")
    assert server.get("/simple/seven/").status == 404 and "seven" not in up.asked()["pypi"]


def test_list_of_projects_has_what_each_is_asked_for(serve, tmp_path, up):
    """With root = all the names of each are listed, but for those that it gets no request for."""
    (tmp_path / "empty").mkdir()
    for name, projects in (("pytorch", ("torch", "numpy")), ("pypi", ("acme-billing", "six"))):
        page = json.dumps({"meta": {"api-version": "1.0"}, "projects": [{"name": one} for one in projects]}).encode()
        up[name].fail("/simple/", lambda handler, _, page=page: (handler.start(200, page, Content_Type=pages.JSON),
                                                                handler.wfile.write(page)))
    config = up.config(ONE_URL).replace("merge = yes", "merge = yes\nroot = all")
    server = serve(tmp_path / "empty", config=config)
    serving.wait_for(lambda: pages.json_projects(server.get("/simple/", {"Accept": pages.JSON}).body) == ["six", "torch"],
                     SOON, "both lists")


def test_password_is_in_a_file(serve, tmp_path, up):
    (tmp_path / "empty").mkdir()
    up.add("pypi", "six", "1.17")
    secret = tmp_path / "password"
    secret.write_text("me:one\n")
    secret.chmod(0o600)
    config = up.config(ONE_URL).replace(f"url = {up['pypi'].url}", f"url = {up['pypi'].url}\npassword-file = {secret}")
    server = serve(tmp_path / "empty", config=config)
    assert list(listed(server, "six")) == ["six-1.17-py3-none-any.whl"]
    assert server.get("/files/upstream/pypi/six/six-1.17-py3-none-any.whl").status == 200
    assert {one.headers.get("Authorization") for one in up["pypi"].asked} == {"Basic bWU6b25l"}
    server.get("/simple/acme-other/")
    assert {one.headers.get("Authorization") for one in up["company"].asked} == {None}


def test_a_password_file_that_cannot_be_used_is_told(serve, tmp_path, up):
    """The operator in the log, once and with its path; the client without it."""
    (tmp_path / "empty").mkdir()
    wheel = up.add("pypi", "nine", "1.17")
    secret = tmp_path / "password"
    config = up.config(ONE_URL).replace(f"url = {up['pypi'].url}", f"url = {up['pypi'].url}\npassword-file = {secret}")
    server = serve(tmp_path / "empty", config=config)
    for project in ("six", "seven"):
        reply = server.get(f"/simple/{project}/")
        assert reply.status == 502 and b"upstream cannot be asked: password-file\n" in reply.body
    told = [line for line in server.errors().splitlines() if f"password-file: {secret}: " in line and "error" in line]
    assert len(told) == 1 and "No such file" in told[0]
    assert not up["pypi"].asked
    secret.write_text("me:one\n")
    assert b"password-file" in server.get("/simple/eight/").body
    assert "other accounts may read it" in server.errors()
    secret.chmod(0o600)
    assert list(listed(server, "nine")) == [wheel.name]


def test_offline_what_is_known_of_one_is_listed(serve, tmp_path, up):
    """Although another one of the view was never asked."""
    (tmp_path / "views" / "p").mkdir(parents=True)
    wheel = up.add("pypi", "six", "1.17")
    state = tmp_path / "state"
    server = serve(tmp_path / "views", config=up.config(VIEWS), state=state)
    assert list(listed(server, "six", "/pypi-only")) == [wheel.name]
    merging.wait_until_noted(server, "six")
    server.stop()
    server = serve(tmp_path / "views", "--offline", config=up.config(VIEWS), state=state)
    assert list(listed(server, "six", "/both")) == [wheel.name]


def test_health_names_each_upstream(serve, up):
    """With the last answer and the last failure of each."""
    server = serve(None, config=up.config(ONE_URL))
    up.add("pypi", "six", "1.0")
    assert merging.status_of(server, "six") == 200
    health = {one["name"]: one for one in json.loads(server.get("/-/health").body)["upstreams"]}
    assert list(health) == ["company", "pytorch", "pypi"] and "answered" in health["pypi"] and "answered" not in health["company"]
    assert health["pypi"]["index"].startswith(up["pypi"].url) and not any(one["failing"] for one in health.values())
    up["company"].stop()
    assert merging.status_of(server, "acme-core") == 502
    health = {one["name"]: one for one in json.loads(server.get("/-/health").body)["upstreams"]}
    assert health["company"]["failing"] and health["company"]["failure"] and health["company"]["failed"]
    assert not health["pypi"]["failing"]
