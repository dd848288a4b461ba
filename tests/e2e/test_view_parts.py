# SPDX-License-Identifier: Apache-2.0
"""/VIEW/PLATFORM/simple/: what a view shows of one of its platforms, and the ways that lead there. Promotions of wheels that
install on machines of other platforms, too."""
import json

import pytest

import serving
import storelib
import uploading

DEBIAN, UBUNTU, TEAM = "debian-12-x86_64", "ubuntu-24.04-x86_64", "debian-13-x86_64"
JSON = {"Accept": "application/vnd.pypi.simple.v1+json"}
CONFIG = f"""
[store]
default-view = all
[view all]
platforms = {DEBIAN} {UBUNTU}
[view inner]
platforms = {DEBIAN} {TEAM}
[view debian-alone]
platforms = {DEBIAN}
[platform {DEBIAN}]
pythons = 3.12
[platform {UBUNTU}]
pythons = 3.12
[platform {TEAM}]
pythons = 3.12
private = yes
"""
TAG = "cp312-cp312-linux_x86_64"


class Site:
    """Two platforms that build one file name with other bytes, and a private one."""

    def __init__(self, serve, folder):
        self.wheel = {platform: storelib.make_wheel(folder / "store" / platform / "a", "acme", "1.0", TAG,
                                                    files={"where.py": platform.encode()})
                      for platform in (DEBIAN, UBUNTU, TEAM)}
        self.store = folder / "store"
        self.only = storelib.make_wheel(folder / "store" / UBUNTU / "o", "only", "1.0", TAG)
        self.server = serve(folder / "store", config=CONFIG)
        serving.wait_for(lambda: serving.answers(self.server, "/-/ready"), 60, "the scan")

    def page(self, path, **headers):
        reply = self.server.get(path, JSON | headers)
        assert reply.status == 200, (path, reply.status, reply.body)
        return json.loads(reply.body)


@pytest.fixture(name="site", scope="module")
def site_fixture(serve_module, tmp_path_factory):
    return Site(serve_module, tmp_path_factory.mktemp("parts"))


def test_each_platform_has_its_own_bytes(site):
    """Page, list, links to files and metadata, and HTML. The merged page has those of the first platform, as before."""
    for platform in (DEBIAN, UBUNTU):
        base = f"/all/{platform}/simple/"
        one, = site.page(f"{base}acme/")["files"]
        assert one["hashes"]["sha256"] == site.wheel[platform].sha256
        assert one["url"] == f"../../../../files/{platform}/acme/{one['filename']}"
        whole = f"/files/{platform}/acme/{one['filename']}"
        assert site.server.get(whole).body == site.wheel[platform].path.read_bytes()
        assert site.server.get(f"{whole}.metadata").status == 200
        html = site.server.get(f"{base}acme/", {"Accept": "text/html"}).body.decode()
        assert f'href="../../../../files/{platform}/acme/' in html and site.wheel[platform].sha256 in html
    assert [one["name"] for one in site.page(f"/all/{DEBIAN}/simple/")["projects"]] == ["acme"]
    assert [one["name"] for one in site.page(f"/all/{UBUNTU}/simple/")["projects"]] == ["acme", "only"]
    assert site.server.get(f"/all/{DEBIAN}/simple/only/", JSON).status == 404
    assert site.page("/all/simple/acme/")["files"][0]["hashes"]["sha256"] == site.wheel[DEBIAN].sha256


def test_new_wheels_show_there_too(site):
    """The page comes from memory, and is dropped when the project changes."""
    path = f"/all/{UBUNTU}/simple/growing/"
    assert site.server.get(path, JSON).status == 404
    for number in (1, 2):
        storelib.make_wheel(site.wheel[UBUNTU].path.parent, "growing", f"{number}.0", TAG)
        serving.wait_for(lambda: site.server.get(path, JSON).status == 200
                         and len(site.page(path)["files"]) == number, 60, "the new wheel")


def test_part_is_as_private_as_its_view(site):
    """A public platform of a private view needs the view's token; a platform that the view has not is a 404."""
    read = uploading.authorization(uploading.add_token(site.server, "--read", "--platform", TEAM))
    for path in (f"/inner/{DEBIAN}/simple/acme/", f"/inner/{TEAM}/simple/acme/", f"/inner/{UBUNTU}/simple/acme/"):
        assert site.server.get(path, JSON).status == 401
    assert site.page(f"/inner/{TEAM}/simple/acme/", **read)["files"][0]["hashes"]["sha256"] == site.wheel[TEAM].sha256
    assert site.page(f"/inner/{DEBIAN}/simple/acme/", **read)["files"][0]["hashes"]["sha256"] == site.wheel[DEBIAN].sha256
    assert site.server.get(f"/inner/{UBUNTU}/simple/acme/", JSON | read).status == 404
    for path in (f"/all/{TEAM}/simple/acme/", "/all/none/simple/", f"/{DEBIAN}/{DEBIAN}/simple/"):
        reply = site.server.get(path, JSON)
        assert reply.status == 404 and TEAM.encode() not in reply.body, path


def test_client_config_leads_to_the_platform(site):
    server = site.server
    words = ("client-config", "--config", server.config_path, "--url", "https://h", "--for", "pip")
    done = serving.run(*words, "--view", "all", "--platform", UBUNTU)
    assert f"index-url = https://h/all/{UBUNTU}/simple/\n" in done.stdout and done.stderr == ""
    assert f"index-url = https://h/all/{UBUNTU}/simple/\n" in serving.run(*words, "--platform", UBUNTU).stdout
    done = serving.run(*words, "--view", "all")
    assert "view all shows the wheels of 2 platforms as one: with --platform NAME" in done.stderr
    assert serving.run(*words, "--view", "debian-alone").stderr == ""
    done = serving.run(*words, "--view", "all", "--platform", TEAM)
    assert done.returncode == 1 and f"view all has no platform {TEAM}" in done.stderr
    done = serving.run("client-config", "--url", "https://h", "--for", "pip", "--view", "v", "--platform", "p")
    assert "index-url = https://h/v/p/simple/\n" in done.stdout
    page = server.get("/-/client-config/simple", {"Accept": "text/html"}).body.decode()
    assert f'<a href="all/{UBUNTU}"><code>{server.url}/all/{UBUNTU}/simple/</code></a>' in page
    page = server.get(f"/-/client-config/all/{UBUNTU}", {"Accept": "text/html"}).body.decode()
    assert f"index-url = {server.url}/all/{UBUNTU}/simple/" in page and "of several platforms" not in page
    data = json.loads(server.get("/-/client-config/all?format=json").body)
    assert data["platforms"] == [{"platform": one, "index": f"{server.url}/all/{one}/simple/"} for one in (DEBIAN, UBUNTU)]


def test_merged_page_says_what_it_lacks(site):
    """HTML and JSON name the platforms whose files the page has not; a page that lacks nothing says nothing."""
    assert site.page("/all/simple/acme/")["_left-out"] == UBUNTU
    html = site.server.get("/all/simple/acme/", {"Accept": "text/html"}).body.decode()
    assert f"<p>Left out, because other bytes have the same names here: files of {UBUNTU}." in html
    for path in ("/all/simple/only/", f"/all/{UBUNTU}/simple/acme/", f"/{DEBIAN}/simple/acme/"):
        assert "_left-out" not in site.page(path)
        assert b"Left out" not in site.server.get(path, {"Accept": "text/html"}).body


def test_index_doctor_and_home_page_lead_to_the_platform(site, tmp_path):
    words = ("--config", site.server.config_path, "--catalog", site.server.catalog)
    done = serving.run("index", *words, site.store)
    assert "1 file name has other bytes on several platforms, and /simple/ shows one of each" in done.stderr
    doctor = serving.run("doctor", *words, site.store, "--json")
    row, = [one for one in json.loads(doctor.stdout)["rows"] if one["what"] == "names"]
    assert row["level"] == "warning" and "/VIEW/PLATFORM/simple/" in row["advice"]
    page = site.server.get("/", {"Accept": "text/html"}).body.decode()
    assert f"pip install --index-url {site.server.url}/all/{DEBIAN}/simple/ NAME" in page
    assert "whatever the job runs on" in page


def test_default_view_none_has_no_index_of_several_platforms(serve, tmp_path):
    """Of one platform it is that one, so that a store of one kind of machine needs no other address."""
    config = "[store]\ndefault-view = none\n"
    wheel = storelib.make_wheel(tmp_path / "store" / DEBIAN / "a", "acme", "1.0", TAG)
    one = serve(tmp_path / "store", config=config)
    serving.wait_for(lambda: serving.answers(one, "/-/ready"), 60, "the scan")
    assert json.loads(one.get("/simple/acme/", JSON).body)["files"][0]["filename"] == wheel.name
    assert json.loads(one.get("/-/view/simple").body) == {"name": "simple", "platforms": [DEBIAN], "upstream": False}
    one.stop()
    storelib.make_wheel(tmp_path / "store" / UBUNTU / "a", "acme", "1.0", TAG, files={"x.py": b"x"})
    two = serve(tmp_path / "store", config=config)
    serving.wait_for(lambda: serving.answers(two, "/-/ready"), 60, "the scan")
    for path in ("/simple/", "/simple/acme/", "/-/project/acme?view=simple", "/-/explain/simple/acme", "/-/client-config/simple"):
        reply = two.get(path, JSON)
        assert reply.status == 404 and b"each has its own, /PLATFORM/simple/" in reply.body
    assert two.get(f"/{UBUNTU}/simple/acme/", JSON).status == 200
    page = two.get("/", {"Accept": "text/html"}).body.decode()
    assert f"pip install --index-url {two.url}/{DEBIAN}/simple/ NAME" in page
    assert "Each platform has its own: see the table of platforms below." in page and f"{two.url}/<wbr>{UBUNTU}/simple/" in page
    done = serving.run("index", "--config", two.config_path, "--catalog", two.catalog, tmp_path / "store")
    assert "other bytes on several platforms" not in done.stderr
    file = tmp_path / "site.conf"
    file.write_text(config + f"[platform {DEBIAN}]\n[platform {UBUNTU}]\n")
    words = ("client-config", "--config", file, "--url", "https://h", "--for", "pip")
    assert "--platform NAME says on which one" in serving.run(*words).stderr
    assert f"index-url = https://h/{UBUNTU}/simple/" in serving.run(*words, "--platform", UBUNTU).stdout


def config_for_pip(folder, config, *words):
    """What client-config says of a configuration without names of platforms or with them: the index, the messages, the code."""
    path = folder / "site.conf"
    path.write_text(config)
    done = serving.run("client-config", "--config", path, "--url", "https://h", "--for", "pip", *words)
    return "".join(line.partition("index-url = ")[2] for line in done.stdout.splitlines()), done.stderr, done.returncode


def test_client_config_knows_the_folders_of_the_store(tmp_path):
    """The packages' configuration names no platform. What cannot be read may have several."""
    none = f"[store]\npath = {tmp_path}/store\ndefault-view = none\n"
    (tmp_path / "store" / DEBIAN).mkdir(parents=True)
    assert config_for_pip(tmp_path, none) == ("https://h/simple/", "", 0)
    (tmp_path / "store" / UBUNTU).mkdir()
    for config, names in ((none, f"; there are {DEBIAN}, {UBUNTU}\n"), (none.replace("/store\n", "/absent\n"), "the job runs\n")):
        index, said, code = config_for_pip(tmp_path, config)
        assert (index, code) == ("", 2) and "--platform NAME says on which one the job runs" in said and said.endswith(names)
    assert config_for_pip(tmp_path, none, "--platform", UBUNTU) == (f"https://h/{UBUNTU}/simple/", "", 0)
    assert config_for_pip(tmp_path, none, "--view", DEBIAN) == (f"https://h/{DEBIAN}/simple/", "", 0)


def test_client_config_warns_where_all_platforms_are_one(tmp_path):
    """With sections of platforms or folders alone. A private platform is not among them."""
    for name in (DEBIAN, UBUNTU, TEAM):
        (tmp_path / "store" / name).mkdir(parents=True)
    warning = "/simple/ shows the wheels of {} platforms as one: with --platform NAME a job gets those of its own platform alone"
    store, sections = f"[store]\npath = {tmp_path}/store\n", f"[platform {DEBIAN}]\n[platform {UBUNTU}]\n"
    for config, count in ((store, 3), (sections, 2), (f"{store}{sections}[platform {TEAM}]\nprivate = yes\n", 2)):
        index, said, code = config_for_pip(tmp_path, config)
        assert (index, code) == ("https://h/simple/", 0) and warning.format(count) in said
        assert config_for_pip(tmp_path, config, "--platform", DEBIAN) == (f"https://h/{DEBIAN}/simple/", "", 0)
    assert config_for_pip(tmp_path, f"[platform {DEBIAN}]\n[platform {TEAM}]\nprivate = yes\n")[1:] == ("", 0)
    (tmp_path / "site.conf").write_text(sections)
    done = serving.run("client-config", "--config", tmp_path / "site.conf", "--url", "https://h", "--json")
    assert json.loads(done.stdout)["platforms"] == [{"platform": one, "index": f"https://h/{one}/simple/"} for one in (DEBIAN, UBUNTU)]


# --- promotions ---

TESTED = f"""
[platform {DEBIAN}]
pythons = 3.12
[platform {UBUNTU}]
pythons = 3.12
[view nightly]
platforms = {DEBIAN} {UBUNTU}
[view tested]
from = nightly
requires = unit
[view released]
from = tested
"""


class Channel:
    """A store and its server, and the records of test runs. Commands use the server's configuration and catalog."""

    def __init__(self, serve, folder):
        self.folder, self.store, self.count = folder, folder / "store", 0
        for platform in (DEBIAN, UBUNTU):
            (self.store / platform).mkdir(parents=True)
        storelib.make_wheel(self.store / DEBIAN, "first", "1.0")
        self.server = serve(self.store, config=TESTED)
        serving.wait_for(lambda: serving.answers(self.server, "/-/ready"), 60, "the scan")

    def run(self, *words):
        return serving.run(*words, "--config", self.server.config_path, "--catalog", self.server.catalog, self.store)

    def view(self, *words):
        done = serving.run("view", *words, "--config", self.server.config_path, "--catalog", self.server.catalog, "--store",
                           self.store)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def put(self, platform, project, tag, version="1.0"):
        wheel = storelib.make_wheel(self.store / platform / project, project, version, tag,
                                    files={"where.py": platform.encode()})
        self.run("index", "--quiet")
        return wheel

    def record(self, wheel, platform, failed=0):
        self.count += 1
        path = self.folder / f"run{self.count}.json"
        path.write_text(json.dumps({"kind": "unit", "platform": platform, "python": "3.12", "passed": 5, "failed": failed,
                                    "skipped": 0, "failures": [], "made": "2026-11-01T00:00:00Z",
                                    "wheels": [{"filename": wheel.name, "sha256": wheel.sha256}]}))
        return path

    def promote(self, *words, to="tested"):
        """(platform, file name) to (result, reason)."""
        done = serving.run("promote", "--to", to, *words, "--json", "--config", self.server.config_path, "--catalog",
                           self.server.catalog, "--store", self.store)
        assert done.stdout, done.stderr
        return {(one["platform"], one["filename"]): (one["result"], one["reason"])
                for one in json.loads(done.stdout)["files"]}

    def shown(self, place, project):
        """The SHA-256 of the files on the page; None: there is no such page."""
        self.server.get("/-/ready")
        reply = self.server.get(f"/{place}/simple/{project}/", JSON)
        return [one["hashes"]["sha256"] for one in json.loads(reply.body)["files"]] if reply.status == 200 else None


@pytest.fixture(name="channel")
def channel_fixture(serve, tmp_path):
    return Channel(serve, tmp_path)


def test_wheel_counts_where_pip_would_take_it(channel):
    """Debian red, Ubuntu green: from the tested view pip on Debian would take Ubuntu's wheel."""
    debian = channel.put(DEBIAN, "acme", "cp312-cp312-manylinux_2_36_x86_64")
    ubuntu = channel.put(UBUNTU, "acme", "cp312-cp312-manylinux_2_35_x86_64")
    rows = channel.promote("acme", "--evidence", channel.record(debian, DEBIAN, failed=2), channel.record(ubuntu, UBUNTU))
    assert rows[DEBIAN, debian.name] == ("refused", f"{DEBIAN}/3.12: 2 of 7 tests failed (unit)")
    assert rows[UBUNTU, ubuntu.name] == (
        "refused", f"{DEBIAN}/3.12: no evidence of kind unit; pip would take the wheel there, because the view has no better "
        "one of that platform")
    assert channel.shown("tested", "acme") is None and channel.shown(f"tested/{DEBIAN}", "acme") is None
    # Debian's wheel installs on Ubuntu and is better there than Ubuntu's own: it needs evidence of both.
    rows = channel.promote("acme", "--evidence", channel.record(debian, DEBIAN))
    assert rows[DEBIAN, debian.name][1].startswith(f"{UBUNTU}/3.12: no evidence of kind unit; pip would take")
    rows = channel.promote("acme", "--evidence", channel.record(debian, UBUNTU))
    assert rows == {(DEBIAN, debian.name): ("done", ""), (UBUNTU, ubuntu.name): ("done", "")}
    assert len(channel.shown("tested", "acme")) == 2
    assert channel.shown(f"tested/{DEBIAN}", "acme") == [debian.sha256]


def test_yanked_wheel_keeps_no_other_from_its_platform(channel):
    """Pip passes it over and takes Ubuntu's. Members count as the files of the promotion do, and pages say the same."""
    debian = channel.put(DEBIAN, "acme", "cp312-cp312-manylinux_2_36_x86_64")
    ubuntu = channel.put(UBUNTU, "acme", "cp312-cp312-manylinux_2_35_x86_64")
    both = [channel.record(debian, DEBIAN), channel.record(debian, UBUNTU)]
    done = channel.run("yank", f"{DEBIAN}/{debian.name}", "--reason", "bad")
    assert done.returncode == 0, done.stderr
    untested = ("refused", f"{DEBIAN}/3.12: no evidence of kind unit; pip would take the wheel there, because the view has no "
                "better one of that platform")
    rows = channel.promote("acme", "--evidence", *both, channel.record(ubuntu, UBUNTU))
    assert rows == {(DEBIAN, debian.name): ("done", ""), (UBUNTU, ubuntu.name): untested}
    for words in (["acme"], [ubuntu.name]):
        assert channel.promote(*words)[UBUNTU, ubuntu.name] == untested
    waiting = json.loads(channel.server.get("/-/channel/tested/?format=json").body)["waiting"]
    assert (untested[1], ubuntu.name) in [(one["why"], one["filename"]) for one in waiting]
    assert channel.run("unyank", f"{DEBIAN}/{debian.name}").returncode == 0
    assert channel.promote("acme")[UBUNTU, ubuntu.name] == ("done", "")


def test_what_pip_takes_untested_since_its_cover_left_is_named(channel):
    """By demote and its dry run, and on the page of the view, also after a yank. What was tested there is not."""
    debian = channel.put(DEBIAN, "acme", "cp312-cp312-manylinux_2_36_x86_64")
    ubuntu = channel.put(UBUNTU, "acme", "cp312-cp312-manylinux_2_35_x86_64")
    better = channel.put(DEBIAN, "sound", "cp312-cp312-manylinux_2_36_x86_64")
    tested = channel.put(UBUNTU, "sound", "cp312-cp312-manylinux_2_35_x86_64")
    channel.promote("--evidence", *[channel.record(wheel, place) for wheel in (debian, better, tested) for place in
                                    (DEBIAN, UBUNTU)], channel.record(ubuntu, UBUNTU))
    assert channel.shown("tested", "acme") and channel.shown("tested", "sound")

    def untested():
        return json.loads(channel.server.get("/-/channel/tested/?format=json").body)["untested"]

    def demote(*words):
        done = serving.run("demote", "--from", "tested", "--json", *words, "--config", channel.server.config_path, "--catalog",
                           channel.server.catalog, "--store", channel.store)
        assert done.returncode == 0, done.stderr
        return {one["filename"]: one["reason"] for one in json.loads(done.stdout)["files"]}
    why = f"{DEBIAN}/3.12: no evidence of kind unit"
    assert untested() == []
    for verb in ("yank", "unyank"):
        for wheel in (debian, better):
            words = ["--reason", "bad"] if verb == "yank" else []
            assert channel.run(verb, f"{DEBIAN}/{wheel.name}", *words).returncode == 0
        expected = [{"platform": UBUNTU, "project": "acme", "version": "1.0", "filename": ubuntu.name, "why": why}]
        serving.wait_for(lambda: untested() == (expected if verb == "yank" else []), 30, verb)
    names = [f"{DEBIAN}/{one.name}" for one in (debian, better)]
    reason = f"pip takes {UBUNTU}/{ubuntu.name} from /tested/simple/ in its place, untested: {why}"
    assert demote("acme", better.name, "--dry-run") == {debian.name: "", ubuntu.name: "", better.name: ""}
    assert demote(*names, "--dry-run") == demote(*names, "--reason", "slow") == {debian.name: reason, better.name: ""}
    serving.wait_for(lambda: untested() == expected, 30, "the demotion")
    page = channel.server.get("/-/channel/tested/", {"Accept": "text/html"}).body.decode()
    row = page[page.index("<h2>Untested</h2>"):]
    assert ubuntu.name in row[:row.index("</table>")] and why in row[:row.index("</table>")] and tested.name not in row[:row.index("</table>")]
    assert " untested</span>" in page
    # Its logged reason is the one that was given. A record of tests there ends it, however old it becomes.
    assert [one["reason"] for one in uploading.audit(channel.server) if one["action"] == "demote"] == ["slow", "slow"]
    channel.promote("--evidence", channel.record(ubuntu, DEBIAN, failed=1))
    serving.wait_for(lambda: untested()[0]["why"] == f"{DEBIAN}/3.12: 1 of 6 tests failed (unit)", 30, "the red record")
    channel.promote("--evidence", channel.record(ubuntu, DEBIAN))
    serving.wait_for(lambda: untested() == [], 30, "the record")


def test_better_wheel_of_its_own_keeps_others_from_a_platform(channel):
    """Each is tested on its own platform alone, and each platform takes its own."""
    debian = channel.put(DEBIAN, "acme", "cp312-cp312-manylinux_2_36_x86_64")
    ubuntu = channel.put(UBUNTU, "acme", "cp312-cp312-manylinux_2_39_x86_64")
    rows = channel.promote("acme", "--evidence", channel.record(debian, DEBIAN), channel.record(ubuntu, UBUNTU, failed=1))
    assert [result for result, _ in rows.values()] == ["refused", "refused"], rows
    rows = channel.promote("acme", "--evidence", channel.record(ubuntu, UBUNTU))
    assert rows == {(DEBIAN, debian.name): ("done", ""), (UBUNTU, ubuntu.name): ("done", "")}
    # The same when Ubuntu's is in the view already, and only Debian's is named.
    debian = channel.put(DEBIAN, "acme", "cp312-cp312-manylinux_2_36_x86_64", "2.0")
    ubuntu = channel.put(UBUNTU, "acme", "cp312-cp312-manylinux_2_39_x86_64", "2.0")
    channel.promote(ubuntu.name, "--evidence", channel.record(ubuntu, UBUNTU))
    assert channel.promote(debian.name, "--evidence", channel.record(debian, DEBIAN)) == {(DEBIAN, debian.name): ("done", "")}


def test_two_wheels_of_one_name_are_each_at_the_address_of_their_platform(channel):
    """The evidence of the one that a merged page would hide counts, and promote says where each is."""
    debian, ubuntu = (channel.put(platform, "acme", TAG) for platform in (DEBIAN, UBUNTU))
    assert debian.name == ubuntu.name and debian.sha256 != ubuntu.sha256
    rows = channel.promote("acme", "--evidence", channel.record(debian, DEBIAN, failed=1), channel.record(ubuntu, UBUNTU))
    assert rows[UBUNTU, ubuntu.name][0] == "refused" and rows[UBUNTU, ubuntu.name][1].startswith(f"{DEBIAN}/3.12: ")
    rows = channel.promote("acme", "--evidence", channel.record(debian, DEBIAN))
    assert rows == {(one, debian.name): ("done", f"only at /tested/{one}/simple/, because {other} has other bytes of this name")
                    for one, other in ((DEBIAN, UBUNTU), (UBUNTU, DEBIAN))}
    channel.promote(to="released")
    for view in ("tested", "released"):
        assert channel.shown(view, "acme") == []
        assert channel.shown(f"{view}/{DEBIAN}", "acme") == [debian.sha256]
        assert channel.shown(f"{view}/{UBUNTU}", "acme") == [ubuntu.sha256]


def test_wheel_that_was_tested_on_both_needs_one_platform(channel):
    """Built once: it is in the folder of one platform, and both install it."""
    wheel = channel.put(UBUNTU, "acme", "cp312-cp312-manylinux_2_17_x86_64")
    rows = channel.promote("acme", "--evidence", channel.record(wheel, UBUNTU))
    assert rows[UBUNTU, wheel.name][0] == "refused" and rows[UBUNTU, wheel.name][1].startswith(f"{DEBIAN}/3.12: ")
    rows = channel.promote("acme", "--override", "tried by hand", "--dry-run")
    assert rows == {(UBUNTU, wheel.name): ("done", "")}
    rows = channel.promote("acme", "--evidence", channel.record(wheel, DEBIAN))
    assert rows == {(UBUNTU, wheel.name): ("done", "")}
    assert channel.shown("tested", "acme") == [wheel.sha256]


def test_channel_page_has_the_tests_of_each_platform(channel):
    """Of its own wheel, whatever another platform has under this or a better name; of another one's only where pip takes it."""
    twins = [channel.put(platform, "twin", TAG) for platform in (DEBIAN, UBUNTU)]
    better = channel.put(DEBIAN, "pair", "cp312-cp312-manylinux_2_36_x86_64")
    other = channel.put(UBUNTU, "pair", "cp312-cp312-manylinux_2_35_x86_64")
    alone = channel.put(UBUNTU, "alone", "cp312-cp312-manylinux_2_35_x86_64")
    channel.put(UBUNTU, "new", "cp312-cp312-manylinux_2_39_x86_64")
    own = channel.put(DEBIAN, "older", "cp312-cp312-manylinux_2_36_x86_64")
    newer = channel.put(UBUNTU, "older", "cp312-cp312-manylinux_2_35_x86_64", "2.0")
    rows = channel.promote("--evidence", channel.record(twins[0], DEBIAN, failed=1), channel.record(twins[1], UBUNTU),
                           channel.record(better, DEBIAN), channel.record(other, UBUNTU, failed=1),
                           channel.record(alone, UBUNTU))
    data = json.loads(channel.server.get("/-/channel/tested/?format=json").body)
    tests = {(one["project"], one["platform"]): one["tests"][0]["result"] for one in data["environments"] if one["tests"]}
    assert [tests["twin", DEBIAN], tests["twin", UBUNTU]] == ["red", "green"]
    assert [tests["pair", DEBIAN], tests["pair", UBUNTU]] == ["green", "red"]
    assert [tests["alone", DEBIAN], tests["alone", UBUNTU]] == ["untested", "green"]
    assert ("new", DEBIAN) not in tests and tests["new", UBUNTU] == "untested"
    waiting = {(one["platform"], one["filename"]): ("refused", one["why"]) for one in data["waiting"]}
    assert len(data["waiting"]) == len(waiting) == 9 and waiting == rows
    assert {(DEBIAN, own.name), (UBUNTU, newer.name)} <= set(waiting)


def test_explain_says_where_two_wheels_of_one_name_are(channel):
    """Of the source, too: both can be promoted."""
    twins = {platform: channel.put(platform, "twin", TAG) for platform in (DEBIAN, UBUNTU)}

    def explained():
        done = serving.run("explain", "twin", "--view", "tested", "--json", "--config", channel.server.config_path, "--catalog",
                           channel.server.catalog, "--store", channel.store)
        return {one["platform"]: one for one in json.loads(done.stdout)["here"]}
    assert {one["membership"]["why"] for one in explained().values()} == {
        f"{UBUNTU}/3.12: no evidence of kind unit", f"{DEBIAN}/3.12: no evidence of kind unit"}
    channel.promote("twin", "--evidence", *[channel.record(wheel, platform) for platform, wheel in twins.items()])
    assert {platform: one["only-at"] for platform, one in explained().items()} == {
        platform: f"/tested/{platform}/simple/" for platform in twins}
    text = serving.run("explain", "twin", "--view", "tested", "--config", channel.server.config_path, "--catalog",
                       channel.server.catalog, "--store", channel.store).stdout
    assert f"only at /tested/{UBUNTU}/simple/, because another platform has other bytes of this name\n" in text
    assert f"clients get    nothing\n    at /tested/{UBUNTU}/simple/  {twins[UBUNTU].name}\n" in text


def test_channel_page_shows_files_of_generations_and_overrides(channel):
    channel.put(UBUNTU, "acme", "cp312-cp312-manylinux_2_17_x86_64")
    assert [one for one, _ in channel.promote("acme", "--override", "tried <by> hand").values()] == ["done"]
    serving.wait_for(lambda: channel.shown("tested", "acme"), 30, "the promotion")
    reply = channel.server.get("/-/channel/tested/", {"Accept": "application/json"})
    one, = json.loads(reply.body)["generations"][0]["files"]
    assert (one["platform"], one["project"], one["change"], one["override"]) == (UBUNTU, "acme", "added", "tried <by> hand")
    page = channel.server.get("/-/channel/tested/", {"Accept": "text/html"}).body.decode()
    row = page[page.index("<details open><summary>1 file</summary>"):]
    assert one["filename"] in row and '<span class="verdict wrong">override</span>' in row and "tried &lt;by&gt; hand" in row


def test_what_a_rollback_brings_back_has_its_override(channel):
    """In the log, the diff, their JSON and the page; also after a rollback of a rollback. A file that came by tests has none."""
    wheel = channel.put(UBUNTU, "acme", "cp312-cp312-manylinux_2_39_x86_64")
    tested = channel.put(UBUNTU, "sound", "cp312-cp312-manylinux_2_39_x86_64")
    channel.promote("acme", "--override", "tried <by> hand")
    channel.promote("sound", "--evidence", channel.record(tested, UBUNTU))
    for target in ("0", "2", "0", "4"):
        channel.view("rollback", "tested", "--to", target)
    both = {wheel.name: "tried <by> hand", tested.name: None}
    whole = json.loads(channel.view("log", "tested", "--json"))["generations"]
    assert [one["action"] for one in whole] == ["rollback"] * 4 + ["promote"] * 2
    for one in (whole[0], whole[2]):
        assert {f["filename"]: f["override"] for f in one["files"]} == both
        assert all((f["override_by"] is None) == (f["override"] is None) for f in one["files"])
    assert {f["override"] for f in whole[1]["files"]} == {None}  # they left
    diff = json.loads(channel.view("diff", "tested", "5", "6", "--json"))["files"]
    assert {f["filename"]: f["override"] for f in diff} == both
    for words in (("log", "tested", "--most", "1"), ("diff", "tested", "0", "6")):
        text = channel.view(*words)
        assert f"{wheel.name} (override by " in text and "tried <by> hand)" in text and text.count("override") == 1
    serving.wait_for(lambda: channel.shown("tested", "acme"), 30, "the rollback")
    newest = json.loads(channel.server.get("/-/channel/tested/?format=json").body)["generations"][0]
    assert newest["action"] == "rollback" and {f["filename"]: f["override"] for f in newest["files"]} == both
    page = channel.server.get("/-/channel/tested/", {"Accept": "text/html"}).body.decode()
    row = page[page.index("<details open><summary>2 files</summary>"):]
    assert '<span class="verdict wrong">override</span>' in row[:row.index("</details>")]


def test_channel_page_shows_rules_and_names_what_waits_and_what_is_empty_first(channel):
    channel.put(UBUNTU, "acme", "cp312-cp312-manylinux_2_39_x86_64", "3.0")
    channel.put(DEBIAN, "both", "py3-none-any")
    rows = channel.promote("both", "--override", "x")
    assert [one for one, _ in rows.values()] == ["done"]
    channel.promote("acme", "--override", "y")
    serving.wait_for(lambda: channel.shown("tested", "both"), 30, "the promotion")
    channel.put(UBUNTU, "acme", "cp312-cp312-manylinux_2_39_x86_64", "4.0")
    serving.wait_for(lambda: channel.shown("nightly", "acme") and len(channel.shown("nightly", "acme")) == 2, 30, "the wheel")
    page = channel.server.get("/-/channel/tested/", {"Accept": "text/html"}).body.decode()
    assert "<dt>Requires</dt><dd>unit</dd>" in page
    assert '>acme</a></th><td class="name">4.0</td><td class="file">acme-4.0-' in page
    states = [one["state"] for one in json.loads(channel.server.get("/-/channel/tested/", {
        "Accept": "application/json"}).body)["environments"]]
    assert states[0] == "empty" and "current" in states
