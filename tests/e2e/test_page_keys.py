# SPDX-License-Identifier: Apache-2.0
"""The page cache keeps what a client got for those alone who get the same without a cache."""
import json
import os
import random
import re
import time
import urllib.parse

import pytest

import attempts
import evidence
import merging
import serving
import storelib
import uploading

PUBLIC, FIRST, SECOND = "ubuntu-22.04-x86_64", "debian-12-x86_64", "debian-13-x86_64"
# The private platforms have the numbers 1 and 3 in the catalog, the public one has 2.
CONFIG = (f"[platform {FIRST}]\npythons = 3.11\nprivate = yes\n[platform {PUBLIC}]\npythons = 3.10 3.12\n"
          f"[platform {SECOND}]\npythons = 3.13\nprivate = yes\n"
          f"[view open]\nplatforms = {PUBLIC}\nupstream = merge\n"
          f"[view team]\nplatforms = {FIRST} {PUBLIC}\nupstream = merge\n"
          f"[view tested]\nplatforms = {PUBLIC}\nfrom = team\nrequires = unit\nexpect = 26h unit\n"
          f"[view secret]\nplatforms = {SECOND}\nfrom = {SECOND}\nrequires = unit\nexpect = 26h unit 3d hush\n"
          f"[branch main]\nconstraints = {{branch}}\n{{upstream}}")
SEEDS = [int(one) for one in os.environ.get("PAGE_SEEDS", "1 2").split()]  # pytest prints that of a failure
REQUESTS = 500
TIME = re.compile(rb"20\d\d-\d\d-\d\d[T ][\d:]+|\b\d+ (second|minute)s?\b|\bnow\b|\b\d\d:\d\d UTC")
VALUES = {  # of the query; the last ones have the form of nothing, and are the bytes between the parts of a key
    "python": ("3.10", "3.11", "3.12", "3.*", "pp310", "3.99", "/1", "/1/2", "1", "3.11/1", "3.11\0", ""),
    "platform": (FIRST, PUBLIC, SECOND, "debian-*", "no-such", "/1", PUBLIC + "/", ""),
    "platforms": (FIRST, PUBLIC, f"{FIRST},{PUBLIC}", "debian-*", "no-such", "/1", ""),
    "view": ("simple", "open", "team", "tested", "secret", FIRST, f"open/{PUBLIC}", "no-such", "/", ""),
    "version": ("1.0", "2.0", "3.0", "1.0/", "/1", ""), "project": ("demo", "vault", "theirs", "demo/1", "*", ""),
    "projects": ("demo", "vault", "demo vault", "*", "/1", ""), "limit": ("1", "2", "2/", "x", ""),
    "state": ("ours", "missing", "ours/1", ""), "after": ("a", "demo", "demo/", ""), "by": ("project", "version", "age", "age/1", ""),
    "since": ("1d", "0", ""), "all": ("1", "0", ""), "result": ("failed", "x", ""), "plan": ("1", ""), "page": ("1", "2", ""),
    "q": ("demo", "vau", "/1", ""), "format": ("json", "html", "csv", "text", "")}
FILES = {FIRST: "demo-2.0-cp311-cp311-linux_x86_64.whl", PUBLIC: "demo-1.0-cp310-cp310-linux_x86_64.whl",
         SECOND: "vault-1.0-py3-none-any.whl"}
VIEWS, NAMES = ("open", "team", "tested", "secret", FIRST, PUBLIC, SECOND, "no-such"), ("demo", "vault", "theirs")
ASKED = ["/-/coverage", "/-/builds/", "/-/search", "/-/plan/", "/-/usage/", "/-/log/", "/-/security/"]  # the paths with arguments
ASKED += [f"/-/project/{one}" for one in (*NAMES, "Demo", "nothing")]
ASKED += [f"/-/{page}/{view}{rest}" for view in VIEWS for page, rest in (("channel", "/"), ("missing", ""))]
PATHS = ["/", "/-/docs/", "/-/docs/no.md", "/simple/", *(f"/{place}/{one}/" for one in NAMES for place in ("simple", "-/builds"))]
PATHS += [f"/-/{page}/{view}{rest}" for view in VIEWS for page, rest in
          (("explain", "/demo"), ("explain", "/vault/1.0"), ("explain", "/theirs"), ("client-config", ""), ("view", ""))]
PATHS += [f"/{view}/{rest}" for view in (*VIEWS, f"open/{PUBLIC}", f"team/{FIRST}", "tested@2026-11-20")
          for rest in ("simple/", *(f"simple/{one}/" for one in NAMES))]
PATHS += [f"/files/{one}/{name.partition('-')[0]}/{name}" for one, name in FILES.items()]
PATHS += [f"/-/compare/{one}/{FILES[one]}/{other}/{FILES[other]}" for one in FILES for other in FILES]


def fill(folder):
    for platform, name in FILES.items():
        project, version, tag = name.removesuffix(".whl").split("-", 2)
        storelib.make_wheel(folder / platform / project, project, version, tag)
    storelib.make_wheel(folder / SECOND / "demo", "demo", "3.0", "cp313-cp313-linux_x86_64")


@pytest.fixture(scope="module", name="pair")
def pair_fixture(tmp_path_factory):
    """A server with a page cache and one without, of one catalog; tokens that may read different platforms."""
    folder = tmp_path_factory.mktemp("keys")
    fill(folder / "store")
    (folder / "branch.txt").write_text("demo==2.0\ntheirs==1.0\n")
    with merging.indexes() as indexes, serving.servers(folder) as start:
        upstream = indexes()
        for name in ("demo", "theirs"):
            upstream.add(name, storelib.make_wheel(folder / "theirs", name, "1.5"))
        config = CONFIG.format(branch=folder / "branch.txt",
                               upstream=merging.config(upstream).replace("merge = yes", "merge = no"))
        state = folder / "state"
        kept, made = (start(folder / "store", "--page-cache", size, config=config, state=state) for size in ("64M", "0"))
        options = [("--platform", FIRST), ("--platform", SECOND), ("--platform", "debian-*"),
                   ("--platform", "debian-*", "--project", "vault"), ("--platform", "*")]
        kept.tokens = [None] + [uploading.add_token(kept, "--read", *one) for one in options]
        add_facts(kept, made, folder)
        yield kept, made


def add_facts(kept, made, folder):
    """What a night leaves: uploads, records of tests, members, attempts, and what upstream has; kept.more: paths to them."""
    owner = uploading.add_token(kept, "--platform", "*", "--view", "*",
                                *(word for right in ("upload", "read", "evidence", "promote") for word in ("--right", right)))
    new = storelib.make_wheel(folder / "new", "demo", "4.0", "cp310-cp310-linux_x86_64")
    assert uploading.upload(kept, PUBLIC, new.path, owner).status == 200
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    sent = [evidence.send(kept, evidence.record(new, platform=platform, python=python, made=now), owner)
            for platform, python in ((FIRST, "3.11"), (PUBLIC, "3.10"), (SECOND, "3.13"))]
    assert [one.status for one in sent] == [201] * 3, sent
    for view in ("tested", "secret"):
        assert evidence.promote(kept, view, owner).status in (200, 409)
    built = attempts.Attempts(kept.catalog.with_name(kept.catalog.name + ".builds"))
    tried = [(name, built.add(name, "failed", b"gcc\n", platform=place)) for name, place in (("vault", SECOND), ("demo", PUBLIC))]
    kept.more = [f"/-/evidence/{json.loads(one.body)['id']}" for one in sent] + [f"/-/builds/{name}/{key}" for name, key in tried]
    for server in (kept, made):
        for name in ("demo", "theirs", "absent"):
            server.get(f"/team/simple/{name}/", uploading.authorization(owner))
    merging.wait_until_noted(kept, "theirs")


def ask(server, path, token, accept="application/json"):
    reply = server.get(path, {"Accept": accept, **uploading.authorization(token)})
    return reply.status, TIME.sub(b"TIME", reply.body.replace(str(server.port).encode(), b"PORT"))


def test_text_of_a_query_is_no_right(pair):
    """At 148d088 a token holder's page for platforms 1 and 2 had the key of an anonymous "?python=/1"."""
    kept = pair[0]
    reader = kept.tokens[1]
    for accept in ("text/html", "application/json"):
        for query in ("?python=%2F1", "?python=/1", "?version=/1", "?platform=%2F1"):
            cold = ask(kept, "/-/project/demo" + query, None, accept)
            for mine in ("", "?python=", "?version=/", "?platform=/"):
                ask(kept, "/-/project/demo" + mine, reader, accept)
            assert ask(kept, "/-/project/demo" + query, None, accept) == cold, query
            assert FIRST.encode() not in cold[1] and b"2.0" not in cold[1]
            assert cold[0] == (404 if "version" in query else 400), cold
    assert FIRST.encode() in ask(kept, "/-/project/demo", reader)[1]


def test_what_has_no_form_is_refused_before_any_look_up(pair):
    """Of a private platform, a public one, one that is none: the answer to a malformed value is the same 400."""
    kept = pair[0]
    for page, name in (("/-/project/demo", "python"), ("/-/project/nothing", "python"), ("/-/project/demo", "platform"),
                       ("/-/project/demo", "view"), ("/-/coverage", "python"), ("/-/coverage", "platforms"),
                       ("/-/coverage", "projects"), ("/-/builds/", "platform"), ("/-/builds/demo/", "project"),
                       ("/-/plan/", "platform"), ("/-/channel/open/", "project"), (f"/-/missing/{PUBLIC}", "python"),
                       (f"/-/missing/{PUBLIC}", "project")):
        answers = {ask(kept, f"{page}?{name}={urllib.parse.quote(value)}", token)
                   for value in ("/1", "a/b", "3.11:x", "(x)") for token in kept.tokens}
        assert len(answers) == 1 and answers.pop()[0] == 400, (page, name)


def test_unknown_and_unreadable_are_one_answer(pair):
    """Whoever may not read a platform gets for it what any name gets that is none."""
    kept = pair[0]
    for path in ("/-/project/demo?platform={}", "/-/project/demo?view={}", "/-/builds/?platform={}", "/-/plan/?platform={}",
                 "/-/coverage?platforms={}", "/{}/simple/", "/{}/simple/demo/", "/-/missing/{}", "/-/channel/{}/",
                 "/-/explain/{}/demo", "/-/view/{}", "/-/client-config/{}", "/{}/", "/files/{}/demo/" + FILES[PUBLIC],
                 "/-/compare/{0}/" + FILES[PUBLIC] + "/{0}/" + FILES[PUBLIC]):
        for token, hidden in ((kept.tokens[0], (FIRST, SECOND, "team")), (kept.tokens[1], (SECOND,)),
                              (kept.tokens[2], (FIRST, "team"))):
            for name in hidden:
                unknown = ("debian-99-x86_64" if "-" in name else "tame")[:len(name)].ljust(len(name), "x")
                got, other = (ask(kept, path.format(one), token, "text/html") for one in (name, unknown))
                assert (got[0], got[1].replace(name.encode(), b"X")) == (other[0], other[1].replace(unknown.encode(), b"X")), (
                    path, name, got, other)


def test_what_a_private_view_merges_is_no_part_of_a_page_about_a_public_view(tmp_path):
    """Only a view that not everybody may read merges upstream. With ?view= the platforms of a page are those of the view."""
    storelib.make_wheel(tmp_path / "store" / PUBLIC / "demo", "demo", "1.0", "cp310-cp310-linux_x86_64")
    storelib.make_wheel(tmp_path / "store" / FIRST / "demo", "demo", "2.0", "cp311-cp311-linux_x86_64")
    config = (f"[platform {FIRST}]\npythons = 3.11\nprivate = yes\n[platform {PUBLIC}]\npythons = 3.10\n"
              f"[view open]\nplatforms = {PUBLIC}\n[view team]\nplatforms = {FIRST}\nupstream = merge\n")
    with merging.indexes() as indexes, serving.servers(tmp_path) as start:
        upstream = indexes()
        upstream.add("theirs", storelib.make_wheel(tmp_path / "theirs", "theirs", "1.5"))
        server = start(tmp_path / "store", config=config + merging.config(upstream).replace("merge = yes", "merge = no"))
        reader = uploading.add_token(server, "--read", "--platform", FIRST)
        assert server.get("/team/simple/theirs/", uploading.authorization(reader)).status == 200
        merging.wait_until_noted(server, "theirs")
        for path in ("/-/project/theirs", "/-/project/theirs?view=open"):
            seen = ask(server, path, reader)
            assert ask(server, path, None)[0] == 404, (path, seen)
        assert ask(server, "/-/project/theirs", reader)[0] == 200


@pytest.mark.parametrize("seed", SEEDS)
def test_random_requests_get_what_they_get_without_a_cache(pair, seed):
    """Pages, tokens and queries at random, many of them nearly the same, so that each comes after its neighbours."""
    kept, made = pair
    chance = random.Random(seed)
    statuses = set()
    for _ in range(REQUESTS):
        names = chance.sample(sorted(VALUES), chance.choice((0, 1, 1, 2, 3)))
        query = urllib.parse.urlencode({name: chance.choice(VALUES[name]) for name in names})
        path = chance.choice(chance.choice((ASKED, ASKED, PATHS + kept.more)))
        request = path + ("?" + query if query else ""), chance.choice(kept.tokens)
        accept = chance.choice(("application/json", "text/html"))
        first, again, fresh = ask(kept, *request, accept), ask(kept, *request, accept), ask(made, *request, accept)
        assert first == again == fresh, (request, accept)
        statuses.add(first[0])
    assert {200, 400, 401, 403, 404} <= statuses
