# SPDX-License-Identifier: Apache-2.0
"""The recorded store is pruned against the recorded pages: each verdict is compared with that of a reference, and pip can still
install all that it could before. A sample of the questions to pip; with --nightly each of them."""
import collections
import hashlib
import json
import os
import random
import urllib.parse
import urllib.request

import pytest
from packaging.utils import parse_wheel_filename

import corpusstore
import pages
import recorded
import serving

SEED, SAMPLE = 6, 30  # of about 340 groups of questions
EXPLAIN_EVERY = 41  # of 2,442 facts, by the program with sanitizers
# pip was run with --platform there, which prefers manylinux2010 to manylinux_2_12; on the machine itself it picks what
# explain says.
COMBINED_TAGS = ("markupsafe==2.0.1",
                 "MarkupSafe-2.0.1-cp38-cp38-manylinux_2_5_x86_64.manylinux1_x86_64.manylinux_2_12_x86_64.manylinux2010_x86_64.whl",
                 "MarkupSafe-2.0.1-cp38-cp38-manylinux2010_x86_64.whl")
# The verdicts that differ from verdicts.tsv, and why.
EXPLAINED = {}


@pytest.fixture(scope="module", name="up")
def up_fixture(upstream):
    return upstream()


@pytest.fixture(scope="module", name="corpus_store")
def corpus_store_fixture(whole, up, tmp_path_factory):
    return corpusstore.CorpusStore(whole, tmp_path_factory.mktemp("prune"), up.url)


@pytest.fixture(scope="module", name="plan")
def plan_fixture(corpus_store):
    return corpus_store.plan()[0]


class Questions:
    """What pip's finder picks, for every version in the store, on every interpreter."""

    def __init__(self, whole, pip, indexes):
        self.places, self.pip, self.indexes = recorded.platforms(whole), pip, indexes

    def ask(self, wanted, with_upstream):
        """wanted: {(platform, python): requirements}. Returns those of (platform, python, requirement) for which it finds a file."""
        tasks = [{"indexes": self.indexes(platform)[:None if with_upstream else 1], "python": python,
                  "platforms": recorded.platform_tags(self.places[platform]), "requirements": requirements}
                 for (platform, python), requirements in wanted.items()]
        found = zip(wanted.items(), recorded.ask_finder(self.pip, tasks), strict=True)
        return {(*place, one) for (place, requirements), answers in found
                for one, answer in zip(requirements, answers, strict=True) if answer}


def everything(whole):
    wanted = collections.defaultdict(set)
    places = recorded.platforms(whole)
    for path in corpusstore.opinions(whole):
        platform, _, project, name = path.split("/")
        for python in places[platform].pythons:
            wanted[platform, python].add(f"{project}=={parse_wheel_filename(name)[1]}")
    return {key: sorted(requirements) for key, requirements in wanted.items()}


def grouped(keys, sample):
    """{(platform, python): requirements} of these; a sample of the projects of each, because a page is read once for all
    versions."""
    groups = collections.defaultdict(list)
    for platform, python, requirement in sorted(keys):
        groups[platform, python, requirement.split("==")[0]].append(requirement)
    chosen = random.Random(SEED).sample(sorted(groups), min(sample, len(groups)))
    wanted = collections.defaultdict(list)
    for platform, python, project in chosen:
        wanted[platform, python] += groups[platform, python, project]
    return wanted


def pages_of(server, wanted):
    """The pages of all projects, by path."""
    paths = {f"/{platform}/simple/{one.split('==')[0]}/" for (platform, _), requirements in wanted.items() for one in requirements}
    replies = {path: server.get(path, {"Accept": pages.JSON}) for path in paths}
    return {path: (reply.status, reply.body) for path, reply in replies.items()}


def check_old_urls(server, plan):
    """What a lock file names is still to be had, or it is said where something like it is."""
    entries = list(corpusstore.removed(plan).values())
    for entry in random.Random(SEED).sample(entries, 20) + [one for one in entries if one["verdict"] == "superseded"]:
        evidence = entry["evidence"]
        reply = server.get(urllib.parse.quote(f"/files/{entry['platform']}/{entry['project']}/{entry['filename']}"))
        if not evidence["identical"]:
            assert reply.status == 410 and evidence["filename"] in reply.body.decode()
            continue
        assert (reply.status, reply["Location"]) == (302, evidence["url"])
        with urllib.request.urlopen(reply["Location"], timeout=60) as answer:
            assert hashlib.sha256(answer.read()).hexdigest() == entry["sha256"]


def test_each_verdict_is_the_opinion(whole, plan):
    opinions = corpusstore.opinions(whole)
    entries = {f"{one['platform']}/{one['path']}": one for one in plan["files"]}
    assert entries.keys() == opinions.keys()
    differs = {path: (one["verdict"], one["reason"], opinions[path].verdict) for path, one in entries.items()
               if one["verdict"] != opinions[path].verdict}
    assert differs.keys() == EXPLAINED.keys(), differs
    assert all(one["reason"] and one["removes"] == (one["verdict"] in ("duplicate", "superseded")) for one in entries.values())


def test_evidence_names_every_environment(whole, plan):
    """A file of upstream for each of the Pythons that, by the reference, can install ours."""
    opinions = corpusstore.opinions(whole)
    for path, entry in corpusstore.removed(plan).items():
        assert sorted(entry["evidence"]["environments"]) == sorted(opinions[path].pythons), path
        assert entry["evidence"]["filename"] in entry["evidence"]["environments"].values()


def explained(corpus_store, fact, known):
    """What pip picks according to explain: "here" from the store, "upstream" from there, "both" from the two. known caches the
    answers for the releases of a platform."""
    question = (fact.platform, *fact.requirement.split("=="))
    if question not in known:
        done = corpus_store.run("explain", "--json", "--view", *question, code=0)
        known[question] = json.loads(done.stdout)["environments"]
    return next(one for one in known[question] if one["python"] == fact.python)


def differing(corpus_store, facts):
    """Those of (choice, fact) that differ from explain."""
    known = {}
    for choice, fact in facts:
        told = explained(corpus_store, fact, known).get(choice)
        wheel = told["filename"] if told and told["filename"].endswith(".whl") else "-"
        if (fact.requirement, wheel, fact.file) != COMBINED_TAGS and wheel != fact.file:
            yield choice, fact, wheel


def test_explain_says_what_pip_picks(whole, plan, corpus_store, pytestconfig, monkeypatch):
    """All facts with the program without sanitizers, which is several times as fast."""
    projects = {one["project"] for one in plan["files"]}
    facts = [(choice, fact) for choice, index in (("here", "cache"), ("upstream", "upstream"), ("both", "merged"))
             for fact in recorded.installs(whole, index) if fact.requirement.split("==")[0] in projects and "==" in fact.requirement]
    assert len(facts) > 2000
    assert not list(differing(corpus_store, facts[::EXPLAIN_EVERY]))
    if pytestconfig.getoption("--nightly"):
        monkeypatch.setenv("WHEELCACHE", os.environ.get("WHEELCACHE_OPTIMISED") or serving.binary())
        assert not list(differing(corpus_store, facts))


def test_pip_still_installs_everything(whole, plan, corpus_store, up, serve_module, client, pytestconfig):
    server = serve_module(None, "--catalog", corpus_store.catalog, config=corpus_store.config.read_text())
    questions = Questions(whole, client("pip==26.3"), lambda name: [f"{server.url}/{name}/simple/", up.url])
    wanted = everything(whole)
    before = questions.ask(wanted, False)
    assert len(before) > 500
    corpus_store.apply()
    here = questions.ask(wanted, False)
    gone = grouped(before - here, 10_000 if pytestconfig.getoption("--nightly") else SAMPLE)
    elsewhere = questions.ask(gone, True)
    asked = {(*place, one) for place, requirements in gone.items() for one in requirements}
    print(f"{len(before)} found before; now {len(here)} here, {len(elsewhere)} of {len(asked)} asked for upstream")
    assert len(asked) > SAMPLE
    assert asked - elsewhere == set()
    listed = pages_of(server, wanted)
    corpus_store.run("prune", "purge", code=0)
    assert corpus_store.wheels() == corpusstore.opinions(whole).keys() - corpusstore.removed(plan).keys()
    assert pages_of(server, wanted) == listed  # so that pip finds the same
    check_old_urls(server, plan)
