# SPDX-License-Identifier: Apache-2.0
"""On every platform and interpreter pip finds what was recorded: a sample of the facts, with --nightly each of them."""
import pytest

import recorded

SAMPLE_EVERY = 37  # of 2,212 facts: 60, spread over all platforms; no divisor of the 158 that each has


@pytest.fixture(scope="session", name="groups")
def groups_fixture(whole, pytestconfig):
    """The chosen facts by platform and interpreter."""
    facts = recorded.installs(whole, "cache")
    groups = {}
    for one in facts if pytestconfig.getoption("--nightly") else facts[::SAMPLE_EVERY]:
        assert one.only_binary == "1"
        groups.setdefault((one.platform, one.python), []).append(one)
    return groups


def test_sample_touches_every_interpreter(whole, groups):
    assert set(groups) == {(name, python) for name, place in recorded.platforms(whole).items()
                           for python in place.pythons}


def test_pip_picks_the_recorded_file(corpus, whole, groups, client):
    pip = client("pip==26.3")
    places = recorded.platforms(whole)
    tasks = [{"indexes": [f"{corpus.url}/{platform}/simple/"], "python": python,
              "platforms": recorded.platform_tags(places[platform]), "requirements": [one.requirement for one in facts]}
             for (platform, python), facts in groups.items()]
    answers = recorded.ask_finder(pip, tasks)
    wrong = []
    for facts, found in zip(groups.values(), answers, strict=True):
        for fact, answer in zip(facts, found, strict=True):
            if (answer or ["-", "-"]) != [fact.version, fact.file]:
                wrong.append((fact.platform, fact.python, fact.requirement, (fact.version, fact.file), answer))
    assert wrong == []
