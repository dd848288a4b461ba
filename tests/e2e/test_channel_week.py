# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of docs/channels.md's week, each on its day, and compares what they print; and looks at the channel
page at its end."""
import calendar
import html
import json
import os
import pathlib
import re
import shutil
import time

import pytest

import channel_week
import documented
import faults
import serving

DAYS = r"^### \w+, (\d{4}-\d\d-\d\d): .*\n"


def configuration(week):
    """The first block of the section."""
    return re.sub("^    ", "", re.search(r"(?:^    .*\n|^\n(?=    ))+", week, re.M)[0].lstrip("\n"), flags=re.M)


@pytest.fixture(name="week")
def week_fixture(tmp_path, monkeypatch):
    """The folder after the week, and a function that sets the day of the program."""
    if not shutil.which("bash"):
        pytest.skip("the commands are bash's")
    text = documented.section("channels.md", "A week of a release manager")
    before, *days = re.split(DAYS, text, flags=re.M)
    channel_week.make(tmp_path, configuration(before))
    ahead = faults.preload("wall", tmp_path, monkeypatch)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/wheelcache").symlink_to(os.environ["WHEELCACHE"])
    environment = os.environ | {"PATH": f"{tmp_path}/bin:{os.environ['PATH']}"}

    def set_day(day):
        ahead(str(int(calendar.timegm(time.strptime(f"{day} 06", "%Y-%m-%d %H")) - time.time())))
    ran = 0
    for day, commands in zip(days[::2], days[1::2]):
        set_day(day)
        ran += documented.run(commands, tmp_path, environment)
    assert ran == 22
    return tmp_path


def read(server, path):
    reply = server.get(path, {"Accept": "application/json"})
    assert (reply.status, reply["Content-Type"]) == (200, "application/json"), reply.body
    return json.loads(reply.body)


def results_of(channel, version, platform):
    row = next(one for one in channel["environments"] if one["version"] == version and one["platform"] == platform)
    return {one["kind"]: one["result"] for one in row["tests"]}


def test_week_of_a_release_manager(week):
    with serving.servers(week) as start:
        server = start(config=(week / "wheelcache.conf").read_text(), state=week)
        channel = read(server, "/-/channel/tested/")
        page = server.get("/-/channel/tested/?project=acme-*", {"Accept": "text/html"})
        source = read(server, "/-/channel/nightly/?format=json")
        assert server.get("/-/channel/tested/?project=other").status == 200
        assert [server.get(f"/-/channel/{name}/").status for name in ("debian-12-x86_64", "no-such", "tested@2026-11-17")] == [404] * 3
        explained = server.get("/-/explain/tested/acme-core", {"Accept": "text/html"}).body.decode()
        evidence = [server.get(f"/-/evidence/{one['evidence']}").status for one in channel["evidence"]]
        past = [server.get(path).status for path in re.findall(r'href="../../..(/tested%40[^"]*)"', page.body.decode())]
    assert [one["generation"] for one in channel["generations"]] == [7, 6, 5, 4, 3, 2, 1]
    assert past == [200] * 7 and evidence == [200] * 12
    assert channel["from"] == "nightly" and channel["kinds"] == ["unit", "integration"] and channel["projects"] == 1
    assert [one["version"] for one in channel["environments"]] == ["2.0.dev20261118"] * 2
    assert results_of(channel, "2.0.dev20261118", "debian-12-x86_64") == {"unit": "green", "integration": "override"}
    assert results_of(channel, "2.0.dev20261118", "ubuntu-24.04-x86_64") == {"unit": "green", "integration": "green"}
    assert channel["waiting"] == [] and channel["overrides"] == 1
    # Eleven of twelve runs of 118 tests left a report, and two tests failed.
    assert [sum(day[key] for day in channel["days"]) for key in ("passed", "failed", "skipped")] == [11 * 118 - 2, 2, 22]
    assert source["tests_for"] == "tested" and source["from"] is None
    text = html.unescape(re.sub("<[^>]*>", "", page.body.decode()))
    assert "the laboratory lost its power; tested by hand" in text and "<script>" not in page.body.decode()
    assert page["Content-Security-Policy"].startswith("default-src 'none'; style-src 'self'; ")
    assert '<a href="../../channel/nightly/">nightly</a>' in explained


def test_other_commands_of_the_document_have_these_options():
    """Commands without "$" are examples that need servers, tokens or other names."""
    text = re.sub(r" \\\n +", " ", (documented.TOP / "docs/channels.md").read_text(encoding="utf-8"))
    examples = re.findall(r"^    wheelcache ((?:[a-z]+ )+)(.*)$", text, re.M)
    assert len(examples) > 12
    for command, rest in examples:
        words = command.split()
        known = serving.run(*words[:2 if words[0] in ("evidence", "view") else 1], "--help").stdout
        for option in re.findall(r"(?<=\s)--[a-z-]+", f" {rest.partition('#')[0]}"):
            assert re.search(rf"{option}\b", known), (command, option)
