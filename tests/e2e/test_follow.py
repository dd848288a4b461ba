# SPDX-License-Identifier: Apache-2.0
"""`prune follow`: files that upstream no longer justifies are listed again or reported, and its yanks are followed."""
import json
import os
import pathlib
import shutil

import pytest

import indexing
import serving
import storelib
import tinyupstream
import uploading

PLATFORM = "ubuntu-22.04-x86_64"
OTHER = "debian-12-x86_64"
SIX = "six-1.0-py3-none-any.whl"
TAGS = "cp310-cp310-linux_x86_64"
FOO = f"foo-1.0-{TAGS}.whl"


class Followed(indexing.Indexed):
    """A store with an upstream."""

    def __init__(self, folder, upstream):
        super().__init__(folder)
        self.upstream = upstream
        self.config = folder / "wheelcache.conf"
        self.configure()

    def configure(self, more=""):
        self.config.write_text(f"[store]\npath = {self.store}\n[catalog]\npath = {self.catalog}\n"
                               f"[upstream]\nurl = {self.upstream.url}\nretries = 0\n{more}")

    def tool(self, *words, code=0):
        done = serving.run(*words, "--config", self.config)
        assert done.returncode == code, done.stdout + done.stderr
        return done

    def scan(self):
        return self.tool("index", "--quiet")

    def follow(self, *options, code=0):
        """The result: its numbers, and (platform, kind, result, file) of each step."""
        summary = json.loads(self.tool("prune", "follow", "--json", *options, code=code).stdout)
        steps = [(one["platform"], one["what"], one["result"], one["file"]) for one in summary.pop("steps")]
        return summary, steps

    def place(self, name, project="six", platform=PLATFORM):
        return self.store / platform / project[0] / project / name

    def yank(self, name, project="six", platform=PLATFORM):
        """The text of the yank mark beside a file; None: there is none."""
        mark = self.place(f"{name}.yanked", project, platform)
        return mark.read_text() if mark.exists() else None

    def bury(self, wheel, upstream, verdict="duplicate", purged=False, **more):
        """Puts a tombstone beside a file, as a prune does."""
        text = {"reason": "upstream has it", "when": "2026-01-02T03:04:05Z", "by": "user root", "verdict": verdict,
                "run": "20260102T030405Z-0123ab", "project": wheel.path.parent.name, "sha256": wheel.sha256,
                "size": wheel.size, "upstream": {"filename": upstream, "url": "http://127.0.0.1/", "identical": False}}
        wheel.path.with_name(f"{wheel.name}.pruned").write_text(json.dumps(text | more))
        if purged:
            wheel.path.unlink()


@pytest.fixture(name="upstream")
def upstream_fixture():
    with tinyupstream.running() as upstream:
        yield upstream


@pytest.fixture(name="here")
def here_fixture(tmp_path, upstream):
    here = Followed(tmp_path, upstream)
    here.six = here.wheel(f"{PLATFORM}/s/six")
    here.foo = here.wheel(f"{PLATFORM}/f/foo", "foo", tag=TAGS)
    upstream.add("six", SIX)
    upstream.add("foo", FOO)
    return here


def test_nothing_changes_where_upstream_is_as_it_was(here):
    here.bury(here.six, SIX)
    here.bury(here.foo, FOO, purged=True)
    here.scan()
    before = here.query("SELECT change FROM store"), sorted(os.walk(here.store))
    summary, steps = here.follow()
    assert steps == []
    indexing.numbers(summary, pruned=2, projects=2, unknown=0, relisted=0, lost=0, failed=0, frozen=0)
    assert before[1] == sorted(os.walk(here.store)) and here.names() == []


@pytest.mark.parametrize("taken_back", ["yanked", "deleted", "narrower"])
def test_files_that_upstream_removed_are_listed_again(here, taken_back):
    here.bury(here.six, SIX)
    here.scan()
    assert here.names() == [FOO]
    if taken_back == "yanked":
        here.upstream.change("six", SIX, yanked="broken")
        here.upstream.add("six", "six-1.0.tar.gz")  # so the release is not yanked
    elif taken_back == "deleted":
        here.upstream.remove("six", SIX)
        here.upstream.add("six", "six-2.0.tar.gz")
    else:
        here.upstream.change("six", SIX, **{"requires-python": ">=3.11"})
    assert here.follow("--dry-run")[1] == [(PLATFORM, "relist", "done", SIX)]
    assert here.names() == [FOO], "a dry run"
    assert here.follow()[1] == [(PLATFORM, "relist", "done", SIX)]
    assert here.names() == [FOO, SIX] and not here.place(f"{SIX}.pruned").exists()
    entry = uploading.audit(here)[-1]
    assert (entry["action"], entry["file"], entry["result"], entry["sha256"]) == ("restore", SIX, "done", here.six.sha256)
    assert here.follow()[1] == []


def test_what_is_lost_is_reported_until_it_is_built_again(here):
    here.bury(here.foo, FOO, purged=True)
    here.scan()
    here.upstream.change("foo", FOO, yanked=True)
    for _ in range(2):
        summary, steps = here.follow(code=1)
        assert steps == [(PLATFORM, "lost", "lost", FOO)] and summary["lost"] == 1
    done = here.tool("prune", "follow", "--quiet", code=1)
    assert FOO in done.stdout and "yanked" in done.stdout and "1 file is lost" in done.stderr
    here.wheel(f"{PLATFORM}/f/foo", "foo", tag=TAGS, build="1")
    here.scan()
    assert here.follow()[0]["lost"] == 0


def test_purged_wheel_is_rechecked_by_its_requires_python(here):
    """Upstream's file requires a newer Python than some of the platform, as did ours."""
    here.upstream.add("foo", "foo-1.0-py3-none-any.whl", **{"requires-python": ">=3.10.4"})
    here.upstream.remove("foo", FOO)
    here.bury(here.foo, "foo-1.0-py3-none-any.whl", "superseded", purged=True, **{"requires-python": ">=3.10.5"})
    here.scan()
    assert here.follow()[1] == []
    here.upstream.change("foo", "foo-1.0-py3-none-any.whl", **{"requires-python": ">=3.10.6"})
    assert here.follow(code=1)[1] == [(PLATFORM, "lost", "lost", FOO)]


def test_unknown_changes_nothing(here):
    here.bury(here.six, SIX)
    here.bury(here.foo, FOO, purged=True)
    here.scan()
    here.upstream.is_down = True
    summary, steps = here.follow()
    assert steps == [] and summary["unknown"] == 2
    here.upstream.is_down = False
    del here.upstream.pages["six"]  # a 404 is no proof
    summary, steps = here.follow()
    assert steps == [] and summary["unknown"] == 1


def test_only_what_upstream_justified_is_looked_at(here):
    here.bury(here.six, SIX, "off-list")
    here.place(f"{FOO}.pruned", "foo").write_text('{"reason": "by hand", "verdict": "duplicate"}')
    here.scan()
    here.upstream.pages.clear()
    summary, steps = here.follow()
    assert steps == [] and summary["pruned"] == 0 and here.names() == []


def test_other_bytes_are_not_listed_again(here):
    here.bury(here.six, SIX, sha256="1" * 64)
    here.scan()
    here.upstream.change("six", SIX, yanked=True)
    here.upstream.add("six", "six-1.0.tar.gz")
    assert here.follow(code=1)[1] == [(PLATFORM, "relist", "failed", SIX)]
    assert here.names() == [FOO]


def test_a_frozen_platform_is_named(here):
    here.bury(here.six, SIX)
    here.wheel(f"{OTHER}/s/six", tag="cp311-cp311-linux_x86_64")
    here.scan()
    here.upstream.change("six", SIX, yanked="broken")
    here.tool("freeze", PLATFORM, "--reason", "moving disks")
    done = here.tool("prune", "follow")
    assert f"{PLATFORM}: relist: frozen: {SIX}: moving disks" in done.stdout
    assert here.yank("six-1.0-cp311-cp311-linux_x86_64.whl", platform=OTHER), "the other one goes on"
    here.tool("thaw", PLATFORM)
    assert here.follow()[1] == [(PLATFORM, "relist", "done", SIX), (PLATFORM, "yank", "done", SIX)]


# --- yanks ---

def test_upstreams_yanks_are_ours_and_go_with_it(here, serve):
    ours = here.wheel(f"{PLATFORM}/s/six", build="7")
    local = here.wheel(f"{PLATFORM}/s/six", version="1.0+ours")
    here.wheel(f"{PLATFORM}/s/six", version="2.0")
    here.scan()
    here.upstream.change("six", SIX, yanked="broken")
    assert here.follow("--dry-run")[0]["yanked"] == 2 and here.yank(SIX) is None
    summary, steps = here.follow()
    assert sorted(steps) == [(PLATFORM, "yank", "done", ours.name), (PLATFORM, "yank", "done", SIX)]
    assert here.yank(SIX) == f"broken\nwheelcache: yanked by {here.upstream.url}\n"
    assert here.query("SELECT filename, yanked FROM file WHERE yanked IS NOT NULL ORDER BY 1") \
        == [(ours.name, "broken"), (SIX, "broken")], "the reason is upstream's alone"
    assert here.yank(local.name) is None
    assert here.follow()[1] == []
    here.upstream.change("six", SIX, yanked="really broken")
    assert here.follow()[0]["yanked"] == 2 and here.yank(SIX).startswith("really broken\n")
    here.upstream.is_down = True
    assert here.follow()[1] == []
    here.upstream.is_down = False
    here.upstream.change("six", SIX, yanked=False)
    assert here.follow()[0]["unyanked"] == 2
    assert here.yank(SIX) is None and here.yank(ours.name) is None
    assert [one["action"] for one in uploading.audit(here)] == ["yank"] * 4 + ["unyank"] * 2
    assert here.follow()[1] == []


def test_release_is_yanked_when_all_of_its_files_are(here):
    here.upstream.add("six", "six-1.0.tar.gz")
    here.scan()
    here.upstream.change("six", SIX, yanked=True)
    assert here.follow()[1] == []
    here.upstream.change("six", "six-1.0.tar.gz", yanked=True)
    assert here.follow()[1] == [(PLATFORM, "yank", "done", SIX)]
    assert here.yank(SIX) == f"\nwheelcache: yanked by {here.upstream.url}\n"
    here.upstream.remove("six", SIX)
    here.upstream.remove("six", "six-1.0.tar.gz")
    here.upstream.add("six", "six-2.0.tar.gz")
    assert here.follow()[1] == [], "gone is not taken back"
    assert here.yank(SIX)


def test_an_operators_yank_stays(here):
    here.scan()
    here.tool("yank", "--reason", "ours", SIX)
    here.upstream.change("six", SIX, yanked="theirs")
    assert here.follow()[1] == [] and here.yank(SIX) == "ours"
    here.upstream.change("six", SIX, yanked=False)
    assert here.follow()[1] == [] and here.yank(SIX) == "ours"


def test_follow_yanks_no(here):
    here.scan()
    here.configure("[prune]\nfollow-yanks = no\n")
    here.upstream.change("six", SIX, yanked="broken")
    summary, steps = here.follow()
    assert steps == [] and summary["projects"] == 0


@pytest.fixture(name="write")
def write_fixture(here, tmp_path):
    """The writable path of the platform; it is served from another one."""
    shutil.copytree(here.store / PLATFORM, tmp_path / "write")
    return tmp_path / "write"


def test_a_mark_that_waits_for_its_release_stays(here, write):
    here.configure(f"[platform {PLATFORM}]\nwrite-path = {write}\n")
    here.scan()
    here.tool("yank", "--reason", "ours", SIX)
    here.upstream.change("six", SIX, yanked="theirs")
    for _ in range(2):
        summary, steps = here.follow()
        assert steps == [(PLATFORM, "yank", "skipped", SIX)] and summary["yanked"] == 0
    assert here.yank(SIX) is None and (write / "s" / "six" / f"{SIX}.yanked").read_text() == "ours"


def test_follow_releases_written_platforms(here, write):
    here.configure(f"[platform {PLATFORM}]\nwrite-path = {write}\nrelease = /bin/cp -a %w/. {here.store / PLATFORM}/\n")
    here.scan()
    here.upstream.change("six", SIX, yanked="broken")
    assert here.follow()[1] == [(PLATFORM, "yank", "done", SIX)]
    assert (write / "s" / "six" / f"{SIX}.yanked").exists() and here.yank(SIX)
    assert [one["action"] for one in uploading.audit(here)] == ["yank", "release"]
    assert here.query("SELECT yanked FROM file WHERE filename = 'six-1.0-py3-none-any.whl'") == [("broken",)]


# --- with what a prune really leaves ---

def test_after_a_real_prune(here, tmp_path):
    """The commands of etc/wheelcache-prune.service, and then upstream removes its files."""
    (tmp_path / "packages.list").write_text((pathlib.Path(__file__).parents[2] / "etc" / "packages.list").read_text())
    here.configure(f"[prune]\npackages = {tmp_path}/packages.list\nclients-have-upstream = yes\ngrace = 0\n")
    here.upstream.change("six", SIX, **{"requires-python": ">=3.8"})
    narrow = here.wheel(f"{PLATFORM}/n/narrow", "narrow", tag=TAGS, requires_python=">=3.10.5")
    here.upstream.add("narrow", "narrow-1.0-py3-none-any.whl", requires_python=">=3.10.4")
    here.scan()
    plan = tmp_path / "plan.json"

    def prune(code=0):
        assert here.follow(code=code)[0]["failed"] == 0
        here.tool("prune", "plan", "-q", "-o", plan)
        here.tool("prune", "apply", "-q", "--max-files=100%", "--max-bytes=100%", plan)

    prune()
    assert here.names() == []
    assert here.follow()[1] == []
    here.upstream.change("six", SIX, yanked="broken")
    here.upstream.add("six", "six-1.0.tar.gz")
    assert here.follow()[1] == [(PLATFORM, "relist", "done", SIX)]
    here.tool("prune", "purge", "-q")
    assert sorted(path.name for path in here.store.rglob("*.whl")) == [SIX]
    assert here.follow()[1] == []
    here.upstream.change("narrow", "narrow-1.0-py3-none-any.whl", **{"requires-python": ">=3.11"})
    here.upstream.remove("foo", FOO)
    here.upstream.add("foo", "foo-2.0.tar.gz")
    assert sorted(here.follow(code=1)[1]) == [(PLATFORM, "lost", "lost", FOO), (PLATFORM, "lost", "lost", narrow.name)]
    prune(code=1)
    assert here.names() == [SIX], "what upstream yanked stays"
