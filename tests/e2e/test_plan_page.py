# SPDX-License-Identifier: Apache-2.0
"""The page of a prune plan: as it is now, the command that applies it without some files, what the plan before said."""
import datetime
import html
import json
import os
import pathlib
import re
import subprocess
import time
import urllib.parse

import pytest

import merging
import serving
import storelib
import uploading
from htmlcheck import HtmlCheck
from pruning import PLATFORM, Pruned, name


@pytest.fixture(name="up")
def up_fixture():
    with merging.indexes() as start:
        yield start()


class Upstream:
    """merging.Index, as Pruned fills it."""

    def __init__(self, index):
        self.index, self.url = index, index.url

    def add(self, project, filename, sha256):
        self.index.add_bytes(project, filename, b"theirs", hashes={"sha256": sha256})

    def __getattr__(self, key):
        return getattr(self.index, key)


@pytest.fixture(name="at")
def at_fixture(tmp_path, up):
    world = Pruned(tmp_path, Upstream(up))
    world.configure(caps="90%")
    world.plan()
    with serving.servers(tmp_path) as start:
        world.server = start(None, config=world.config.read_text(), state=world.catalog.parent)
        yield world


def page(at, query=""):
    reply = at.server.get(f"/-/plan/{query}")
    assert reply.status == 200, reply.body
    text = reply.body.decode()
    HtmlCheck(text)
    return text


def boxes(text):
    """The numbers of the files, by what their boxes are called; and which of them are ticked."""
    found = re.findall(r'<input type="checkbox" form="choice" name="x" value="(\d+)"( checked)? aria-label="Leave out (\S+) of', text)
    return {label: int(number) for number, _, label in found}, {label for _, ticked, label in found if ticked}


def command(text):
    return html.unescape(re.search(r'id="apply">.*?<pre><code>(.*?)</code></pre>', text, re.S).group(1))


def run_command(at, text):
    """As a person pastes it, in the folder of the plan."""
    words = command(text).replace("/etc/wheelcache/wheelcache.conf", str(at.config))
    path = f"{pathlib.Path(serving.binary()).parent}:{os.environ['PATH']}"
    return subprocess.run(["sh", "-c", words], cwd=at.plan_path.parent, env=os.environ | {"PATH": path}, capture_output=True,
                          text=True, check=False, timeout=120)


def plan_id(text):
    return re.search(r"has changed since: (\S+)</p>", text).group(1)


def states(text):
    """What is said of files that hold no longer."""
    rows = re.findall(r'<td class="file full">(?:<a [^>]*>)?([^<]*)<.*?<td class="why full">(.*?)</td>', text)
    return {file: found.group(1) for file, why in rows if (found := re.match(r'<span class="verdict[^"]*">([^<]*)</span>', why))}


def test_command_without_a_choice_applies_all(at):
    text = page(at)
    assert command(text) == "wheelcache prune apply --config /etc/wheelcache/wheelcache.conf plan.json"
    assert sorted(boxes(text)[0]) == at.covered and not states(text)
    done = run_command(at, text)
    assert done.returncode == 0 and at.unlisted() == at.covered, done.stderr


def test_files_that_are_ticked_stay(at):
    first = page(at)
    numbers = boxes(first)[0]
    ticked = at.covered[1:3]
    query = "&".join(f"x={numbers[one]}" for one in ticked)
    text = page(at, f"?verdict=removed&q=&page=1&{query}&plan={plan_id(first)}")
    assert boxes(text) == (numbers, set(ticked))
    assert command(text).count("--except") == 2
    # The choice goes along with every link and form of the page, to rows that it does not show.
    links = [html.unescape(one) for one in re.findall(r'href="(\./\?[^"]*)"', text)]
    assert links and all(f"x={numbers[ticked[0]]}-{numbers[ticked[1]]}" in one for one in links)
    other = page(at, f"?verdict=kept&x={numbers[ticked[0]]}-{numbers[ticked[1]]}&plan={plan_id(first)}")
    assert command(other) == command(text) and not boxes(other)[0]
    assert f'name="x" value="{numbers[ticked[0]]}-{numbers[ticked[1]]}"' in other
    done = run_command(at, text)
    assert done.returncode == 0, done.stderr
    assert at.unlisted() == [one for one in at.covered if one not in ticked]
    assert set(ticked) <= set(at.shown())


def test_numbers_are_of_one_plan(at):
    first = page(at)
    number = boxes(first)[0][at.covered[0]]
    at.plan()
    text = page(at, f"?x={number}&plan={plan_id(first)}")
    assert "choose again" in text and "--except" not in command(text)
    hostile = page(at, f"?x=0-00-99999999999999999999999-%22%3E&x=abc&x=&x&plan={plan_id(page(at))}&q=%22%3E%3Cb%3E")
    assert command(hostile) == command(page(at))


def test_choice_is_limited(at):
    numbers = "-".join(map(str, range(1, 1000)))
    text = page(at, f"?plan={plan_id(page(at))}&x={numbers}")
    assert "These are the first 200" in text
    assert at.server.get(f"/-/plan/?x={'1-' * 5000}").status in (200, 414, 431)


def test_what_holds_no_longer(at):
    """After changes on the disk and upstream that the catalog knows, and of the policy."""
    at.path(at.covered[0]).unlink()
    storelib.make_wheel(at.folder_of(), "six", "1.1", size=9000)
    at.tool("index", "--quiet")
    assert states(page(at)) == {at.covered[0]: "gone since", at.covered[1]: "changed since"}
    at.upstream.change("six", at.covered[2], yanked="broken")
    serving.run("prune", "plan", "--quiet", "--config", at.config)  # asks upstream again, and saves no plan
    text = page(at)
    assert states(text)[at.covered[2]] == "would be kept now" and "3 no longer hold" in text
    assert "policy has changed" not in text
    at.packages.write_text("six==1.3 because it is wanted\n")
    text = page(at)
    assert "policy has changed" in text and states(text)[at.covered[3]] == "would be kept now"
    assert "because it is wanted" in text
    before = at.query("SELECT count(*), max(id) FROM plan")
    at.apply("--accept-changed-policy", *[f"--except={one}" for one in at.covered[:3]], "--skip-changed-evidence")
    assert at.query("SELECT count(*), max(id) FROM plan") == before


def test_what_was_applied_is_unlisted(at):
    at.apply("--except", at.covered[0])
    assert states(page(at)) == dict.fromkeys(at.covered[1:], "unlisted since")


def as_json(at, token=None, where="/-/plan/?format=json"):
    reply = at.server.get(where, uploading.authorization(token))
    assert (reply.status, reply["Content-Type"]) == (200, "application/json"), reply
    return json.loads(reply.body)


def test_an_applied_plan_says_when_and_offers_no_apply(at):
    """Nor when some files stayed. Who it was is for those who may read the platform with a token."""
    fresh = as_json(at)
    assert (fresh["plan"], fresh["applied"]) == (plan_id(page(at)), None)
    assert [(row["verdict"], row["files"]) for row in fresh["totals"] if row["removes"]] == [("duplicate", 4)]
    assert as_json(at, where="/?format=json")["plan"]["applied"] is None
    before = int(time.time())
    at.apply("--except", at.covered[0])
    text = page(at)
    assert "prune apply --config" not in text and "Leave out what" not in text and not boxes(text)[0]
    said = re.sub("<[^>]*>", "", text.partition("It was applied</h2>")[2].partition("</p>")[0]).strip()
    assert re.fullmatch(r"Applied at [\d-]+ [\d:]+ UTC, with wheelcache prune apply. 3 of its 4 files are unlisted. "
                        "To remove more, make a new plan.", said), said
    assert f"wheelcache prune restore --config /etc/wheelcache/wheelcache.conf --run {plan_id(text)}" in text
    told = as_json(at)["applied"]
    assert told | {"by": None, "files": 3, "command": "wheelcache prune apply"} == told
    assert before <= datetime.datetime.fromisoformat(told["at"]).timestamp() <= time.time()
    assert as_json(at, where="/?format=json")["plan"]["applied"] == told["at"]
    assert "It was applied at" in at.server.get("/", {"Accept": "text/html"}).body.decode()
    token = uploading.add_token(at, "--read", "--platform", PLATFORM)
    assert as_json(at, token)["applied"]["by"] == json.loads(at.mark(at.covered[1]).read_text())["by"]
    assert " by " in at.server.get("/-/plan/", uploading.authorization(token)).body.decode().partition("Applied at")[2][:200]
    at.tool("prune", "restore", "--run", plan_id(text))
    assert as_json(at)["applied"] is None and "prune apply" in command(page(at))


def test_a_new_plan_was_not_applied(at):
    at.apply()
    at.plan()
    assert as_json(at)["applied"] is None and "It was applied" not in page(at)


def test_what_the_plan_before_said_otherwise(at):
    assert "Since the plan before" not in page(at)
    at.upstream.change("six", at.covered[0], yanked="broken")
    at.upstream.add("six", name("1.7"), at.query("SELECT lower(hex(sha256)) FROM file WHERE filename = 'six-1.7-py3-none-any.whl'")[0][0])
    at.plan()
    text = page(at).partition("Since the plan before")[2]
    rows = re.findall(r'<th scope="row" class="file">([^<]*)</th><td class="name">([^<]*)</td><td><span class="verdict[^"]*">([^<]*)'
                      r"</span></td><td>([^<]*)</td><td>([^<]*)</td>", text)
    assert rows == [(at.covered[0], PLATFORM, "no longer removed", "duplicate", "keep"),
                    (name("1.7"), PLATFORM, "removed now", "keep", "duplicate")]
    at.plan()
    assert "It removes the same files" in page(at)


def test_names_that_a_shell_would_read(tmp_path, up):
    """A folder may have any name."""
    world = Pruned(tmp_path, Upstream(up), wheels=4)
    world.configure(caps="100%")
    odd = ["it's $(touch hacked)", "a b;touch hacked", "star*[1]", "-n", "<b>", "line\nbreak"]
    for one in odd:
        storelib.make_wheel(world.store / PLATFORM / one, "six", "1.0")
    world.tool("index", "--quiet")
    world.plan()
    with serving.servers(tmp_path) as start:
        world.server = start(None, config=world.config.read_text(), state=world.catalog.parent)
        first = page(world)
        numbers = re.findall(r'name="x" value="(\d+)"', first)
        assert len(numbers) == len(odd) + 4
        text = page(world, f"?plan={plan_id(first)}&x={'-'.join(numbers)}")
        assert command(text).count("--except") == len(numbers)
        done = run_command(world, text)
    assert done.returncode == 0, done.stderr
    assert not list(world.store.rglob("*.pruned")) and not list(tmp_path.rglob("hacked"))


def test_private_platforms_are_left_out(tmp_path, up):
    """Neither their numbers nor their changes show."""
    world = Pruned(tmp_path, Upstream(up), platforms=(PLATFORM, "debian-12-x86_64"))
    world.configure(caps="100%", more=f"[platform debian-12-x86_64]\nprivate = yes\n[platform {PLATFORM}]\nprivate = no\n")
    world.plan()
    up.change("six", world.covered[0], yanked="broken")
    world.plan()
    ids = [row[0] for row in world.query("SELECT id FROM planned WHERE platform = (SELECT id FROM platform WHERE name LIKE 'debian%')")]
    with serving.servers(tmp_path) as start:
        world.server = start(None, config=world.config.read_text(), state=world.catalog.parent)
        first = page(world)
        text = page(world, f"?plan={plan_id(first)}&x={'-'.join(map(str, ids))}")
        assert "debian" not in text and command(text) == command(first)
        assert urllib.parse.quote("debian") not in first
        world.apply()
        shown = as_json(world)
        assert shown["applied"]["files"] == 3 and "debian" not in json.dumps(shown) + page(world)
