# SPDX-License-Identifier: Apache-2.0
"""On every platform and interpreter pip finds what was recorded: a sample of the facts, with --all each of them."""
import json

import pytest

import recorded

SAMPLE_EVERY = 37  # of 2,212 facts: 60, spread over all platforms; no divisor of the 158 that each has
OLDEST_GLIBC_MINOR = {"x86_64": 5, "aarch64": 17}
OLD_NAMES = {17: "manylinux2014", 12: "manylinux2010", 5: "manylinux1"}


def platform_tags(place):
    """The platform tags of a libc, best first, as packaging.tags makes them on such a machine."""
    major, minor = map(int, place.libc_version.split("."))
    tags = []
    if place.libc == "musl":
        tags = [f"musllinux_{major}_{one}_{place.arch}" for one in range(minor, -1, -1)]
    else:
        for one in range(minor, OLDEST_GLIBC_MINOR[place.arch] - 1, -1):
            tags.append(f"manylinux_{major}_{one}_{place.arch}")
            if one in OLD_NAMES:
                tags.append(f"{OLD_NAMES[one]}_{place.arch}")
    return tags + [f"linux_{place.arch}"]


@pytest.fixture(scope="session", name="groups")
def groups_fixture(shared, pytestconfig):
    """The chosen facts by platform and interpreter."""
    facts = recorded.installs(shared, "cache")
    groups = {}
    for one in facts if pytestconfig.getoption("--all") else facts[::SAMPLE_EVERY]:
        assert one.only_binary == "1"
        groups.setdefault((one.platform, one.python), []).append(one)
    return groups


def test_sample_touches_every_interpreter(shared, groups):
    assert set(groups) == {(name, python) for name, place in recorded.platforms(shared).items()
                           for python in place.pythons}


def test_pip_picks_the_recorded_file(corpus, shared, groups, client):
    pip = client("pip==26.3")
    places = recorded.platforms(shared)
    wrong = []
    for (platform, python), facts in groups.items():
        task = {"index": f"{corpus.url}/{platform}/simple/", "python": python,
                "platforms": platform_tags(places[platform]), "requirements": [one.requirement for one in facts]}
        answers = json.loads(pip.run("python", recorded.HERE / "finder.py", stdin=json.dumps(task)).stdout)
        for fact, answer in zip(facts, answers, strict=True):
            if (answer or ["-", "-"]) != [fact.version, fact.file]:
                wrong.append((platform, python, fact.requirement, (fact.version, fact.file), answer))
    assert wrong == []
