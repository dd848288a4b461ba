# SPDX-License-Identifier: Apache-2.0
"""Commands that take FILE take its path as well as its name: the file on the path's platform alone."""
import json
import os

import pytest

import nightly
import serving
import storelib

NAME = "demo-1.0-py3-none-any.whl"


class Site:
    """A store with the same file on two platforms, at different places, and the program run on it."""

    def __init__(self, folder, config=None):
        self.store = folder / "store"
        self.one, self.two = self.store / "one" / "d" / "demo" / NAME, self.store / "two" / NAME
        for path in (self.one, self.two):
            assert storelib.make_wheel(path.parent, "demo", "1.0").path == path
        self.file = folder / "site.conf"
        self.file.write_text(f"[store]\npath = {self.store}\n" + (config or "[platform one]\n[platform two]\n"))
        self.catalog = folder / "catalog.db"
        self.run("index")

    def run(self, *words, code=0, cwd=None):
        done = serving.run(*words, "--config", self.file, "--catalog", self.catalog, cwd=cwd)
        assert done.returncode == code, done.stdout + done.stderr
        return done

    def marked(self, ending):
        return [path.parent.relative_to(self.store).parts[0] for path in sorted(self.store.rglob(NAME + ending))]


@pytest.fixture(name="site")
def site_fixture(tmp_path):
    return Site(tmp_path)


def test_a_path_means_one_platform_and_a_name_all(site):
    site.run("yank", site.one, "--reason", "bad")
    assert site.marked(".yanked") == ["one"]
    site.run("unyank", site.one)
    assert site.marked(".yanked") == []
    site.run("yank", NAME, "--reason", "bad")
    assert site.marked(".yanked") == ["one", "two"]


@pytest.mark.parametrize("word, cwd", [
    (f"store/two/{NAME}", ""), (f"./two/{NAME}", "store"), (f"two/{NAME}", ""), (f"./{NAME}", "store/two"),
    (f"../two/../two/{NAME}", "store/one"), (f"one/../two/{NAME}", ""),
])
def test_relative_paths(site, tmp_path, word, cwd):
    """From the current folder; if there is no such folder, below the store."""
    site.run("yank", word, "--reason", "bad", cwd=tmp_path / cwd)
    assert site.marked(".yanked") == ["two"]


def test_platform_and_name(site, tmp_path):
    """The file may be deeper in the platform, as in PLATFORM/FILE."""
    site.run("yank", f"one/{NAME}", "--reason", "bad", cwd=tmp_path)
    assert site.marked(".yanked") == ["one"]


def test_links_lead_to_the_platform(site, tmp_path):
    (tmp_path / "link").symlink_to(site.store / "two")
    site.run("yank", tmp_path / "link" / NAME, "--reason", "bad")
    assert site.marked(".yanked") == ["two"]


def test_remove_and_restore_by_path(site):
    site.run("remove", NAME, "--reason", "bad")
    assert site.marked(".pruned") == ["one", "two"]
    done = site.run("prune", "restore", site.two)
    assert "two" in done.stdout
    assert site.marked(".pruned") == ["one"]
    site.run("prune", "restore", site.one, f"two/{NAME}")
    assert site.marked(".pruned") == []
    site.run("remove", site.two, "--reason", "bad", "--delete")
    assert (site.one.exists(), site.two.exists()) == (True, False)
    assert "two: gone" in site.run("prune", "restore", site.two, code=1).stderr


def test_platform_and_path_must_agree(site):
    assert f"platform two has no file {NAME}" in site.run("yank", site.one, "--platform", "two", "--reason", "x", code=1).stderr
    assert site.marked(".yanked") == []


@pytest.mark.parametrize("command", [("yank", "--reason", "x"), ("unyank",), ("remove", "--reason", "x"), ("prune", "restore")])
def test_mistakes(site, tmp_path, command):
    *words, = command
    group = 2 if words[0] == "prune" else 1
    elsewhere = storelib.make_wheel(tmp_path / "elsewhere", "demo", "1.0").path
    for word, message, code in ((elsewhere, "is not in the folder of a platform", 2),
                                (tmp_path / "none" / NAME, "No such file or directory", 1),
                                (f"two/../../elsewhere/{NAME}", "is not in the folder of a platform", 2),
                                (site.store / "two" / "other-1.0-py3-none-any.whl", "platform two has", 1)):
        done = site.run(*words[:group], word, *words[group:], code=code, cwd=tmp_path)
        assert message in done.stderr
    assert site.marked(".yanked") + site.marked(".pruned") == []
    assert elsewhere.exists() and os.listdir(elsewhere.parent) == [NAME]


def test_another_copy_of_the_file_is_not_meant(site):
    """A platform lists one file of a name: a path of another one must not mark that."""
    copy = site.store / "one" / "copy" / NAME
    storelib.make_wheel(copy.parent, "demo", "1.0", files={"demo/more.py": b"x = 1\n"})
    for words in (["yank", copy, "--reason", "x"], ["prune", "restore", copy]):
        assert f"the catalog has {NAME} at d/demo/{NAME}, not at copy/{NAME}" in site.run(*words, code=1).stderr
    assert site.marked(".yanked") == []


def test_path_below_the_write_path(tmp_path):
    work = tmp_path / "work"
    site = Site(tmp_path, f"[platform one]\n[platform two]\nwrite-path = {work}\n")
    storelib.make_wheel(work, "demo", "1.0")
    site.run("yank", work / NAME, "--reason", "bad")
    assert (work / (NAME + ".yanked")).exists()
    assert site.marked(".yanked") == []


def test_audit_log_has_the_name(site):
    site.run("yank", site.two, "--reason", "bad")
    line = json.loads((site.catalog.parent / "catalog.db.audit").read_text().splitlines()[-1])
    assert (line["platform"], line["file"]) == ("two", NAME)


@pytest.mark.parametrize("word", [NAME, f"one/d/demo/{NAME}", f"./store/two/{NAME}"])
def test_explain_takes_a_file(site, tmp_path, word):
    """Its project, at its version."""
    site.run("yank", NAME, "--reason", "x")
    storelib.make_wheel(site.store / "two", "demo", "2.0")
    site.run("index")
    same = json.loads(site.run("explain", "demo", "1.0", "--json").stdout)
    assert json.loads(site.run("explain", word, "--json", cwd=tmp_path).stdout) == same
    assert same["version"] == "1.0"
    assert "demo-2.0-py3" in site.run("explain", "demo-2.0-py3-none-any.whl", cwd=tmp_path).stdout
    assert "is not a valid project name" in site.run("explain", "two/demo", code=2).stderr
    assert "demo-py3.whl" in site.run("explain", "demo-py3.whl", code=1).stderr


VIEWS = """\
[platform one]
[platform two]
[view all]
platforms = one two
[view tested]
from = all
"""


def changed(done):
    """The platforms of which a file came into the view, or left it."""
    rows = json.loads(done.stdout)["files"]
    return sorted(one["platform"] for one in rows if one["result"] in ("done", "ended"))


def test_promote_and_demote_by_path(tmp_path):
    site = Site(tmp_path, VIEWS)

    def promoted(*words):
        return changed(site.run("promote", *words, "--to", "tested", "--json", cwd=tmp_path))

    def demoted(*words):
        return changed(site.run("demote", *words, "--from", "tested", "--json", cwd=tmp_path))

    assert promoted(site.one) == ["one"]
    assert demoted(f"one/d/demo/{NAME}") == ["one"]
    assert promoted(f"two/{NAME}") == ["two"], "what left comes back only if it is named, on its platform"
    assert promoted("demo") == []
    assert promoted(f"store/one/d/demo/{NAME}", "demo==1.0") == ["one"]
    assert demoted(NAME) == ["one", "two"]
    assert promoted(f"one/{NAME}", f"store/two/{NAME}") == ["one", "two"]


def test_a_path_that_is_none_promotes_nothing(tmp_path):
    site = Site(tmp_path, VIEWS)
    site.run("promote", NAME, "--to", "tested", "--dry-run")
    copy, elsewhere = site.store / "one" / "copy", tmp_path / "elsewhere"
    for folder in (copy, elsewhere):
        storelib.make_wheel(folder, "demo", "1.0", files={"demo/more.py": b"x = 1\n"})
    for command in (("promote", "--to", "tested"), ("demote", "--from", "tested")):
        for path, message, code in ((copy, f"the catalog has {NAME} at d/demo/{NAME}, not at copy/{NAME}", 2),
                                    (elsewhere, "is not in the folder of a platform", 2),
                                    (tmp_path / "none", "No such file or directory", 2)):
            assert message in site.run(command[0], path / NAME, *command[1:], code=code).stderr
    assert generations(site) == 0


def test_a_posted_path_means_one_platform(tmp_path, serve):
    """PLATFORM/FILE, or the path below the store. One that is none is as any file that is not there."""
    storelib.make_wheel(tmp_path / "store" / "hidden", "demo", "1.0")
    site = Site(tmp_path, VIEWS + "[platform hidden]\nprivate = yes\n")
    server = serve(config=site.file.read_text(), state=tmp_path)
    made = site.run("token", "add", "--right", "promote", "--view", "tested")
    token = made.stdout.split()[-1]

    def post(*select):
        return nightly.promote_by_http(server, "tested", token, select=list(select))

    def refused(word):
        reply = post(word)
        assert reply.status == 400
        return reply.body.decode().replace(word, "WORD")

    unknown = refused(f"none/{NAME}")
    assert "has no such file" in unknown
    for word in (f"two/d/demo/{NAME}", f"one/{NAME[:-4]}.zip", f"hidden/{NAME}", f"hidden/x/{NAME}"):
        assert refused(word) == unknown
    for word in (str(site.one), f"../one/{NAME}", f"one/../two/{NAME}"):
        assert post(word).status == 400
    for word in ("a/" * 2048 + NAME, "one/" + "a" * 252 + ".whl"):
        assert b"is no project, no file name and no path" in post(word).body
    assert generations(site) == 0
    for word, platform in ((f"two/{NAME}", "two"), (f"one/d/demo/{NAME}", "one")):
        reply = post(word)
        assert reply.status == 200, reply.body
        assert [one["platform"] for one in json.loads(reply.body)["files"]] == [platform]
    assert generations(site) == 2


def generations(site):
    return len(json.loads(site.run("view", "log", "tested", "--json").stdout)["generations"])


def test_audit_by_path(site, tmp_path):
    for word in (site.two, f"store/two/{NAME}"):
        assert site.run("audit", word, cwd=tmp_path).returncode == 0
