# SPDX-License-Identifier: Apache-2.0
"""yank, unyank and remove take PROJECT==VERSION and globs of files, on all platforms or one."""
import pytest

import channels
import indexing
import serving
import storelib

PLATFORMS = ("debian-12-x86_64", "ubuntu-22.04-x86_64")
TAG = "py3-none-any"


class Store(indexing.Indexed):
    def __init__(self, folder):
        super().__init__(folder)
        self.config = folder / "wheelcache.conf"
        self.config.write_text(f"[store]\npath = {self.store}\n[catalog]\npath = {self.catalog}\n[view all]\n"
                               f"platforms = {' '.join(PLATFORMS)}\n[view tested]\nfrom = all\n")
        for platform in PLATFORMS:
            for project, versions in (("mine", ("1.0", "1.10", "2.0", "1.5rc1")), ("mine-too", ("1.0",))):
                for version in versions:
                    storelib.make_wheel(self.store / platform / project, project.replace("-", "_"), version)
        self.run("index", "--quiet")

    def run(self, *words, code=0):
        done = serving.run(*words, "--config", self.config)
        assert done.returncode == code, done.stdout + done.stderr
        return done

    def marked(self, ending):
        """{(platform, file)} with such a mark."""
        return {(path.parent.parent.name, path.name.removesuffix(f"-{TAG}.whl.{ending}")) for path in self.store.rglob(f"*.{ending}")}


@pytest.fixture(name="at")
def at_fixture(tmp_path):
    return Store(tmp_path)


ONE = {"mine-1.0", "mine-1.10", "mine-1.5rc1"}


@pytest.mark.parametrize("word, files", [
    ("mine==1.*", ONE), ("Mine==1.0", {"mine-1.0"}), ("mine>=1.1,<2", {"mine-1.10", "mine-1.5rc1"}), ("mine-1.*", ONE),
    ("mine_too==1.0.0", {"mine_too-1.0"}), ("*-1.0-*", {"mine-1.0", "mine_too-1.0"}), ("mine-[!1]*", {"mine-2.0"})])
def test_files_are_chosen(at, word, files):
    at.run("yank", "--reason", "bad", word)
    assert at.marked("yanked") == {(platform, file) for platform in PLATFORMS for file in files}
    at.run("unyank", word)
    assert at.marked("yanked") == set()


def test_one_platform_alone(at):
    at.run("yank", "--reason", "bad", "--platform", PLATFORMS[0], "mine==1.0")
    assert at.marked("yanked") == {(PLATFORMS[0], "mine-1.0")}
    at.run("unyank", "mine==1.*")  # most of them were not yanked
    assert at.marked("yanked") == set()


@pytest.mark.parametrize("word, code, says", [
    ("mine==3", 1, "no listed file is mine==3"), ("none-*", 1, "no listed file is none-*"), ("mine==x", 2, "expected PROJECT==VERSION"),
    ("==1", 2, "expected PROJECT==VERSION"), ("mine", 2, "is not the name of a wheel")])
def test_nothing_is_chosen(at, word, code, says):
    assert says in at.run("yank", "--reason", "bad", word, code=code).stderr
    assert at.marked("yanked") == set()


def test_nothing_is_removed_where_one_file_must_not_be(at):
    channels.write_generation(at.store, "tested", [(PLATFORMS[1], f"mine/mine-1.10-{TAG}.whl")])
    done = at.run("remove", "--reason", "bad", "mine==1.*", code=1)
    assert f"{PLATFORMS[1]}: mine-1.10-{TAG}.whl is released, in the views tested" in done.stderr
    assert at.marked("pruned") == set()
    at.run("remove", "--reason", "bad", "mine==1.0")
    assert at.marked("pruned") == {(platform, "mine-1.0") for platform in PLATFORMS}
