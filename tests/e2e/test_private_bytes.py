# SPDX-License-Identifier: Apache-2.0
"""What an asker may not read changes no byte of an answer: two servers whose private parts differ, and nothing else."""
import difflib
import re
import types

import pytest

import attempts
import evidence
import merging
import serving
import storelib
import uploading
from test_blocked import Lists

PUBLIC, ONE, OTHER = "ubuntu-22.04-x86_64", "debian-12-x86_64", "debian-13-x86_64"
CONFIG = """[platform {public}]
pythons = 3.10
[platform {secret}]
pythons = 3.11
private = yes
[view open]
platforms = {public}
[view {view}]
platforms = {secret} {public}
[view tested]
platforms = {public}
from = {view}
requires = unit
[view {second}]
platforms = {secret}
from = {view}
requires = unit
[branch main]
constraints = {branch}
platforms = {public}
[upstream]
url = {upstream}
allow-private = yes
merge = no
block = {folder}/lists
[server]
deny = {folder}/deny.list
[prune]
min-age = 0
upstream-min-age = 0
max-files = 90%
max-bytes = 90%
"""
DEMO, VAULT = "demo-1.0-cp310-cp310-linux_x86_64.whl", "vault-1.0-py3-none-any.whl"
NAMES = (ONE, OTHER, "privview", "inmost", "innerview", "hidden", "no-such")
PATHS = ["/", "/simple/", "/simple/demo/", "/simple/vault/", "/-/health", "/-/ready", "/-/metrics", "/-/search?q=vault", "/-/search?q=de",
         "/-/coverage", "/-/coverage?platforms=debian-*", "/-/coverage?projects=vault", "/-/usage/", "/-/usage/?by=age",
         "/-/usage/?by=version", "/-/usage/?by=project&project=vault", "/-/log/", "/-/log/?q=vault", "/-/security/",
         "/-/security/?project=vault", "/-/security/?project=demo", "/-/plan/", f"/-/plan/?platform={PUBLIC}",
         "/-/builds/", "/-/builds/vault/", "/-/builds/demo/", "/-/project/demo", "/-/project/vault", "/-/project/vaul",
         f"/-/missing/{PUBLIC}", "/-/explain/open/demo", "/-/explain/simple/demo", "/-/explain/tested/demo", "/-/explain/open/vault",
         "/-/explain/tested/vault", "/-/channel/open/", "/-/channel/tested/", "/-/view/open", "/-/view/simple", "/-/view/tested",
         "/-/client-config/open", f"/files/{PUBLIC}/demo/{DEMO}", f"/files/{PUBLIC}/vault/{VAULT}", f"/files/upstream/vault/{VAULT}",
         f"/-/compare/{PUBLIC}/{DEMO}/{PUBLIC}/{DEMO}"]
for name in NAMES:
    PATHS += [f"/{name}/", f"/{name}", f"/{name}/simple/", f"/{name}/simple/vault/", f"/{name}@2026-11-20/simple/", f"/-/missing/{name}",
              f"/-/channel/{name}/", f"/-/explain/{name}/vault", f"/-/explain/{name}/vault/1.0", f"/-/view/{name}",
              f"/-/client-config/{name}", f"/files/{name}/vault/{VAULT}", f"/-/compare/{name}/{VAULT}/{PUBLIC}/{DEMO}",
              f"/-/compare/{PUBLIC}/{DEMO}/{name}/{VAULT}", f"/-/builds/?platform={name}", f"/-/plan/?platform={name}",
              f"/-/project/demo?platform={name}", f"/-/project/demo?view={name}", f"/-/coverage?platforms={name}"]
# Of each token that may not read the private parts: who has it, and its rights. NULL: no token at all is defined.
ASKERS = {"nobody": None, "uploader": ["--platform", PUBLIC], "glob": ["--platform", "*"], "reader": ["--read", "--platform", PUBLIC],
          "names": ["--read", "--platform", "in*"], "promoter": ["--right", "promote", "--right", "evidence", "--view", "*"],
          "yanker": ["--right", "yank"]}
VOLATILE = re.compile(rb"\d{8}T\d{6}Z-\w{6}|20\d\d-\d\d-\d\d[T ][\d:]+|\b\d\d:\d\d UTC|\b(uptime|ended|lag-ms|pending-since|page-cache)\": -?[\d.]+"
                      rb"|wheelcache_\w*(seconds|requests|answers|bytes_sent|latency|connections|page_cache|response_bytes)\w*(\{[^}]*\})? \S+|17\d{8}\b")


def fill(store, platform, *wheels):
    return [storelib.make_wheel(store / platform, *one) for one in wheels]


def start_world(start, folder, upstream, secret, views, is_full):
    """A server. is_full: its private platform has files that are wanted, tested, built, pruned and broken; else one other."""
    folder.mkdir()
    (folder / "branch.txt").write_text("demo==1.0\n")
    fill(folder / "store", PUBLIC, ("demo", "1.0", "cp310-cp310-linux_x86_64"))
    (folder / "deny.list").write_text(f"vault ==7.0 bad\ndemo ==7.0 bad\ndemo ==8.0 platform={secret} bad there\n")
    lists = Lists(folder / "lists")
    for name in ("demo", "vault", "vaulted"):
        lists.put(f"MAL-2026-{name}", name, {"versions": ["1.0", "2.0", "3.0"]})
    for name in ("demo", "vault"):  # the command writes it on each platform
        (folder / "store" / PUBLIC / name).mkdir()
        (folder / "store" / PUBLIC / name / ".status").write_text('{"status": "deprecated", "reason": "old"}')
    wheels = fill(folder / "store", secret, *([("vault", "1.0"), ("demo", "2.0", "cp311-cp311-linux_x86_64"), ("vaulted", "3.0")]
                                              if is_full else [("other", "1.0")]))
    if is_full:
        for name in ("demo", "vault"):
            (folder / "store" / secret / name).mkdir()
            (folder / "store" / secret / name / ".status").write_text('{"status": "archived", "reason": "no more"}')
        (folder / "store" / secret / "a" / "b").mkdir(parents=True)
        (folder / "store" / secret / "vault-9.0-py3-none-any.whl").write_bytes(b"no zip")
        upstream.add_bytes("vaulted", wheels[2].name, b"theirs")
    config = CONFIG.format(folder=folder, public=PUBLIC, secret=secret, view=views[0], second=views[1], branch=folder / "branch.txt", upstream=upstream.url)
    server = start(folder / "store", config=config + "[index]\nsettle = 0\n")
    serving.wait_for(lambda: serving.answers(server, "/-/ready"), 30, "the scan")
    assert server.get(f"/-/missing/{PUBLIC}").status == 200  # "/" has the count from now on
    planned = serving.run("prune", "plan", "--config", server.config_path, "--catalog", server.catalog, "-o", folder / "plan.json",
                          folder / "store")
    assert planned.returncode in (0, 1), planned.stderr
    built = attempts.Attempts(server.catalog.with_name(server.catalog.name + ".builds"))
    if is_full:
        built.add("vault", "failed", b"gcc: no\n", platform=secret)
    return types.SimpleNamespace(server=server, secret=secret, wheels=wheels, is_full=is_full)


@pytest.fixture(scope="module", name="worlds", params=["no tokens", "uploads only", "all tokens"])
def worlds_fixture(tmp_path_factory, request):
    folder = tmp_path_factory.mktemp("bytes")
    with merging.indexes() as indexes, serving.servers(folder) as start:
        upstream = indexes()
        worlds = [start_world(start, folder / "full", upstream, ONE, ("privview", "inmost"), True),
                  start_world(start, folder / "empty", upstream, OTHER, ("innerview", "hidden"), False)]
        kept = {"no tokens": ("nobody",), "uploads only": ("nobody", "uploader", "glob")}.get(request.param, ASKERS)
        for world in worlds:
            world.token = {name: ASKERS[name] and uploading.add_token(world.server, "--note", name, *ASKERS[name]) for name in kept}
            if request.param == "all tokens":
                world.owner = uploading.add_token(world.server, "--right", "upload", "--right", "read", "--right", "evidence", "--view", "*",
                                                  "--platform", "*")
        yield worlds


def seen(world, reply):
    body = reply.body.replace(str(world.server.port).encode(), b"PORT")
    named = [(name, value) for name, value in reply.headers.items() if name not in ("Date", "ETag", "Content-Length")]
    return reply.status, VOLATILE.sub(rb"\1", body), named


def differ(worlds, ask):
    """The lines in which the answers of the two servers differ."""
    full, empty = (seen(world, ask(world)) for world in worlds)
    lines = [str((status, named)).encode().splitlines() + body.splitlines() for status, body, named in (full, empty)]
    return [] if full == empty else list(difflib.unified_diff(*[[str(line) for line in one] for one in lines], n=0, lineterm=""))[3:]


@pytest.mark.parametrize("accept", ["application/json", "text/html"])
def test_no_byte_of_any_page(worlds, accept):
    wrong = []
    for asker in worlds[0].token:
        for path in PATHS:
            found = differ(worlds, lambda world, path=path, asker=asker: world.server.get(
                path, {"Accept": accept, **uploading.authorization(world.token[asker])}))
            if found:
                wrong.append((asker, path, found))
    assert not wrong, "\n".join(map(str, wrong))


YANKS = [{"select": [word], "reason": "x"} for word in ("vault==1.0", "vault*", "*", VAULT, f"{ONE}/{VAULT}", f"{OTHER}/{VAULT}", "demo==2.0")]
YANKS += [{"select": ["*"], "platform": name, "reason": "x"} for name in NAMES]


def test_no_byte_of_an_answer_to_a_yank(worlds):
    wrong = []
    for asker, undo in [(asker, undo) for asker in worlds[0].token for undo in (False, True)]:
        for document in YANKS:
            found = differ(worlds, lambda world, document=document | {"undo": undo}, asker=asker: evidence.post(
                world.server, "/-/yank/", document, world.token[asker]))
            if found:
                wrong.append((asker, document, found))
    assert not wrong, "\n".join(map(str, wrong))


def test_no_byte_of_an_answer_to_a_status(worlds):
    wrong = []
    for asker in worlds[0].token:
        for project in ("vaulted", "other", "no-such"):
            found = differ(worlds, lambda world, project=project, asker=asker: evidence.post(
                world.server, "/-/status/", {"project": project, "status": "archived", "reason": "x"}, world.token[asker]))
            if found:
                wrong.append((asker, project, found))
    assert not wrong, "\n".join(map(str, wrong))


def test_no_byte_of_an_answer_to_what_is_posted(worlds):
    wrong = []
    rebuilds = {"rows": []}
    for asker in set(worlds[0].token) - {"glob"}:  # it may upload there
        for name in NAMES:
            for path, document in ((f"/-/missing/{name}", rebuilds), (f"/-/builds/{name}/", {}), (f"/-/promote/{name}", {}),
                                   (f"/-/promote/{name}", {"select": ["vault"]}), ("/-/promote/tested", {"select": ["vault"]}),
                                   ("/-/promote/tested", {"select": ["vault==1.0"]}), ("/-/promote/tested", {"select": [VAULT]}),
                                   ("/-/promote/tested", {}),
                                   ("/-/evidence/", evidence.record(kind="unit", platform=name, wheels=[
                                       {"filename": VAULT, "sha256": "0" * 64}])), (f"/upload/{name}/", {})):
                found = differ(worlds, lambda world, path=path, document=document, asker=asker: evidence.post(
                    world.server, path, document, world.token[asker]))
                if found:
                    wrong.append((asker, path, document, found))
    assert not wrong, "\n".join(map(str, wrong))
