# SPDX-License-Identifier: Apache-2.0
"""[upload] audit and audit-policy: what is inside an uploaded wheel decides whether it is taken. The policy is that of
etc/audit.policy, and the wheels are like those that it is about."""
import json
import pathlib
import signal
import types

import pytest

import clients
import elfmaker
import serving
import storelib
import uploading

PLATFORM = "ubuntu-22.04-x86_64"
OTHER = "debian-12-x86_64"
TAG = "cp310-cp310-manylinux_2_28_x86_64"
POLICY = pathlib.Path(__file__).parents[2] / "etc" / "audit.policy"
HASH = "-0a1b2c3d"


def libraries(suffix="-nixl"):
    """The private libraries, the modules and the plugin of a good wheel; suffix: of their names."""
    name = {one: f"libuc{one}{suffix}{HASH}.so.0.0.0" for one in "ptsm"}
    files = {f"nixl.libs/{name[one]}": elfmaker.elf(soname=name[one], needed=("libc.so.6",)) for one in "tsm"}
    files[f"nixl.libs/{name['p']}"] = elfmaker.elf(soname=name["p"], needed=(name["t"], "libc.so.6"), runpath="$ORIGIN")
    for module in ("ib", "cma"):
        own = f"libuct_{module}{suffix}{HASH}.so.0.0.0"
        files[f"nixl.libs/ucx/{own}"] = elfmaker.elf(soname=own, needed=(name["t"],), runpath="$ORIGIN/..:$ORIGIN")
    files["nixl.libs/nixl/libplugin_UCX.so"] = elfmaker.elf(
        soname="libplugin_UCX.so", needed=(name["p"], "libcuda.so.1"), runpath="$ORIGIN/..:$ORIGIN")
    files["nixl/__init__.py"] = b""
    return files


def without(part, files):
    return {path: data for path, data in files.items() if part not in path}


@pytest.fixture(name="here", scope="module")
def here_fixture(tmp_path_factory, serve_module):
    folder = tmp_path_factory.mktemp("audit")
    store = folder / "store"
    for platform in (PLATFORM, OTHER):
        storelib.make_wheel(store / platform / "f" / "foo", "foo", "0.1")
    policy = folder / "audit.policy"
    policy.write_text(POLICY.read_text())
    server = serve_module(store, config=f"[upload]\naudit = refuse\naudit-policy = {policy}\n[index]\nfacts = no\n"
                          f"[platform {PLATFORM}]\n[platform {OTHER}]\nprivate = yes\n")
    token = uploading.add_token(server, "--platform", PLATFORM, "--project", "nixl*")
    server.upload_url = f"{server.url}/upload/{PLATFORM}/"
    return types.SimpleNamespace(server=server, token=token, folder=folder, store=store, policy=policy)


def upload(here, version, files, platform=PLATFORM, token=None, headers=None, name="nixl", tag=TAG):
    wheel = elfmaker.native_wheel(here.folder / "built", name, version, tag, files)
    return wheel, uploading.upload(here.server, platform, wheel.path, token or here.token, headers)


def test_a_wheel_that_keeps_the_rules_is_taken(here):
    wheel, reply = upload(here, "1.0", libraries())
    assert reply.status == 200, reply.body.decode()
    again = uploading.upload(here.server, PLATFORM, wheel.path, here.token)
    assert again.status == 200


BREACHES = {
    "no library": (without("libucs", libraries()), "rule-required", "private-ucx", None, "libucs-nixl"),
    "no module": (without("libs/ucx/", libraries()), "rule-required", "ucx-modules", None, "libuc[stm]_"),
    "names": (libraries() | {"nixl.libs/ucx/libuct_rdmacm.so": elfmaker.elf(soname="a", needed=())}, "rule-name",
              "ucx-module-names", "nixl.libs/ucx/libuct_rdmacm.so", "nixl.libs/ucx/libuct_rdmacm.so"),
    "no plugin": (without("plugin", libraries()), "rule-required", "ucx-plugin", None, "libplugin_UCX"),
    "links": (libraries() | {"nixl.libs/nixl/libplugin_UCX.so": elfmaker.elf(needed=("libucp.so.0",))}, "rule-forbidden",
              "ucx-plugin-links", "nixl.libs/nixl/libplugin_UCX.so", "libucp.so.0"),
    "bundled": (libraries() | {f"nixl.libs/libssl{HASH}.so.3": elfmaker.elf(soname=f"libssl{HASH}.so.3")},
                "rule-forbidden", "of-the-system", f"nixl.libs/libssl{HASH}.so.3", "libssl.so*"),
    "level": (libraries() | {"nixl/_x.so": elfmaker.module("_x", stack="rwx")}, "executable-stack", None, "nixl/_x.so", ""),
    "built in": (libraries() | {"nixl/_x.so": elfmaker.module("_x", needed=("libnowhere.so.1",))}, "missing-library", None,
                 "nixl/_x.so", "libnowhere.so.1"),
}


@pytest.mark.parametrize("case", BREACHES)
def test_a_breach_is_refused_with_rule_member_and_reason(here, case):
    files, code, rule, member, words = BREACHES[case]
    version = f"2.{list(BREACHES).index(case)}"
    token = uploading.add_token(here.server, "--platform", PLATFORM, "--project", "nixl*")  # the log has few refusals of one
    wheel, reply = upload(here, version, files, token=token)
    text = reply.body.decode()
    assert reply.status == 400 and f"error {code}" in text and words in text, text
    assert text.startswith(f"{wheel.name}: the audit finds ")
    reply = upload(here, version, files, token=token, headers={"Accept": "application/json"})[1]
    answer = json.loads(reply.body)
    found = [one for one in answer["findings"] if one["code"] == code]
    assert reply.status == 400 and answer["errors"] >= 1 and answer["code"].startswith(f"400 {wheel.name}: the audit")
    assert (rule, member, "error") in [(one["rule"], one["member"], one["level"]) for one in found]
    assert not list(here.store.rglob(wheel.name)) and not list(here.store.rglob(".*"))
    entry = uploading.audit(here.server)[-1]
    assert (entry["file"], entry["result"]) == (wheel.name, "refused") and code in entry["reason"]
    assert here.server.get(f"/files/{PLATFORM}/nixl/{wheel.name}").status == 404


def test_the_answer_is_bounded(here):
    """As many findings as a wheel can have, with names as long as they can be."""
    name = "n" * 200
    files = {f"nixl/{name}{i}.so": elfmaker.elf(needed=[f"lib{name}{k}.so.1" for k in range(50)], stack="rwx")
             for i in range(60)}
    for headers in (None, {"Accept": "application/json"}):
        reply = upload(here, "3.0", files, headers=headers)[1]
        assert reply.status == 400 and len(reply.body) < 128 << 10, len(reply.body)


def test_what_cannot_be_judged_is_refused(here):
    """Nothing hides behind the limits: neither with the rules for its project, nor without any."""
    token = uploading.add_token(here.server, "--platform", PLATFORM)
    components = json.dumps({"bomFormat": "CycloneDX", "components": [{"name": "a"}] * ((64 << 10) + 1)}).encode()
    files = {"baz/_x.so": elfmaker.module("_x"), "baz-1.0.dist-info/sboms/a.cdx.json": components}
    for headers in (None, {"Accept": "application/json"}):
        wheel, reply = upload(here, "1.0", files, name="baz", token=token, headers=headers)
        assert reply.status == 400 and b"the audit cannot judge all of it" in reply.body, reply.body
    assert not list(here.store.rglob(wheel.name))


def test_names_from_libraries_harm_no_terminal(here):
    files = libraries() | {"nixl/_x.so": elfmaker.module("_x", needed=("lib\x1b[31m\x9b31m\r\nX.so.1",))}
    reply = upload(here, "3.1", files)[1]
    assert reply.status == 400 and b"\x1b" not in reply.body and b"\r" not in reply.body and b"X.so.1" in reply.body
    assert "\x9b" not in reply.body.decode()  # the same as ESC [ for some terminals


def test_other_projects_are_judged_by_the_built_in_checks(here):
    token = uploading.add_token(here.server, "--platform", PLATFORM)
    assert upload(here, "1.0", {"bar/_x.so": elfmaker.module("_x")}, name="bar", token=token)[1].status == 200
    files = {"bar/_x.so": elfmaker.module("_x", machine="aarch64")}
    reply = upload(here, "1.1", files, name="bar", token=token)[1]
    assert reply.status == 400 and b"error wrong-machine in bar/_x.so: " in reply.body


def test_a_private_platform_says_nothing_to_others(here):
    """The token of one platform learns nothing of a wheel for another."""
    tag = TAG.replace("310", "311")
    reply = upload(here, "1.0", without("plugin", libraries()), platform=OTHER, tag=tag)[1]
    assert reply.status in (401, 403) and b"plugin" not in reply.body
    token = uploading.add_token(here.server, "--platform", OTHER)
    wheel, reply = upload(here, "1.0", without("plugin", libraries()), platform=OTHER, token=token, tag=tag)
    assert reply.status == 400 and b"ucx-plugin" in reply.body
    assert wheel.name not in here.server.errors()


@pytest.mark.parametrize("name, command", [
    ("twine==7.0.0", ["twine", "upload", "--repository-url", "{url}", "-u", "__token__", "-p", "{token}",
                      "--non-interactive", "--disable-progress-bar", "--verbose"]),
    ("uv==0.13.9", ["uv", "publish", "--publish-url", "{url}", "--token", "{token}"]),
])
def test_clients_show_the_reason(here, client, name, command):
    wheel = elfmaker.native_wheel(here.folder / "built", "nixl", "4.0", TAG, without("plugin", libraries()))
    words = [one.format(url=here.server.upload_url, token=here.token) for one in command]
    done = client(name).run(*words, wheel.path, code=1 if "twine" in name else 2)
    shown = " ".join((done.stdout + done.stderr).replace("│", " ").split())
    assert "rule-required of the rule ucx-plugin" in shown, shown


def test_push_shows_the_reason(here):
    wheel = elfmaker.native_wheel(here.folder / "built", "nixl", "4.1", TAG, without("plugin", libraries()))
    done = serving.run("push", "--to", here.server.upload_url, wheel.path, env={"WHEELCACHE_TOKEN": here.token})
    assert done.returncode == 1 and "rule-required of the rule ucx-plugin" in done.stdout + done.stderr


def reload(here, words):
    """SIGHUP, until the log has these words behind those that it had."""
    before = len(here.server.errors())
    here.server.signal(signal.SIGHUP)
    serving.wait_for(lambda: words in here.server.errors()[before:], 60, words)


def test_a_reload_reads_the_policy_again(here):
    files = {"nixl/__init__.py": b""}
    here.policy.write_text("[rule any]\nforbid = member *.none\n")
    reload(here, "configuration")
    assert upload(here, "5.0", files)[1].status == 200
    here.policy.write_text("[rule any]\nforbid = member *__init__.py\n")
    reload(here, "configuration")
    assert b"of the rule any" in upload(here, "5.1", files)[1].body
    here.policy.write_text("[rule any]\nforbid = member *.none\n\n[rule bad]\nforbid = member re:(\n")
    reload(here, f"{here.policy}:5: ")
    assert b"of the rule any" in upload(here, "5.1", files)[1].body  # the old one is in force
    here.policy.unlink()
    reload(here, f"{here.policy}: No such file")
    assert b"of the rule any" in upload(here, "5.1", files)[1].body
    here.policy.write_text(POLICY.read_text())
    reload(here, "configuration")


def test_a_bad_policy_is_an_error_at_the_start(tmp_path):
    (tmp_path / "store" / PLATFORM).mkdir(parents=True)
    (tmp_path / "audit.policy").write_text("[rule a]\nforbid = member *.py\n\n[rule a]\nlevel = off\n")
    (tmp_path / "wheelcache.conf").write_text(f"[upload]\naudit-policy = {tmp_path}/audit.policy\n")
    done = serving.run("serve", "--listen", "127.0.0.1:0", "--catalog", tmp_path / "catalog.db", "--config",
                       tmp_path / "wheelcache.conf", tmp_path / "store")
    assert done.returncode == 2 and f"{tmp_path}/audit.policy:4: [rule a] is there twice" in done.stderr, done.stderr


def statement(wheel):
    """A statement of provenance with names that look like HTML."""
    build = {"buildType": "https://example.org/<b>", "externalParameters": {},
             "resolvedDependencies": [{"name": "<u>ucx", "annotations": {"version": "1.16"}}]}
    return {"_type": "https://in-toto.io/Statement/v1", "predicateType": "https://slsa.dev/provenance/v1",
            "subject": [{"name": wheel.name, "digest": {"sha256": wheel.sha256}}],
            "predicate": {"buildDefinition": build, "runDetails": {"builder": {"id": "https://example.org/<i>"}}}}


@pytest.fixture(name="warned", scope="module")
def warned_fixture(tmp_path_factory, serve_module):
    """A server that refuses nothing, with a wheel that breaks the rules on a public platform and on a private one."""
    folder = tmp_path_factory.mktemp("warned")
    files = without("plugin", libraries()) | {"nixl/_<b>.so": elfmaker.module("_x", needed=("lib<i>.so.1",), stack="rwx")}
    for platform, tag in ((PLATFORM, TAG), (OTHER, TAG.replace("310", "311"))):
        wheel = elfmaker.native_wheel(folder / "store" / platform / "n" / "nixl", "nixl", "1.0", tag, files)
        pathlib.Path(f"{wheel.path}.intoto.json").write_text(json.dumps(statement(wheel)))
        storelib.make_wheel(folder / "store" / platform / "n" / "nixl", "nixl", "2.0")
        elfmaker.native_wheel(folder / "store" / platform / "n" / "nixl", "nixl", "3.0", tag, libraries() | {
            f"nixl/_{i}.so": elfmaker.module(f"_{i}", stack="rwx") for i in range(12)})
    server = serve_module(folder / "store", config=f"[upload]\naudit-policy = {POLICY}\n[platform {PLATFORM}]\n"
                          f"[platform {OTHER}]\nprivate = yes\n")
    server.store = folder / "store"
    return server


def rows(server, path, token=None):
    reply = server.get(path, headers=uploading.authorization(token))
    return {row["filename"]: row["audit"] for row in json.loads(reply.body)["here"]}


def test_explain_lists_what_the_audit_finds(warned):
    # Exceeds LIMIT_EXPLAIN_FINDINGS.
    bad = rows(warned, "/-/explain/simple/nixl")[f"nixl-1.0-{TAG}.whl"]
    found = [(one["code"], one["rule"], one["member"]) for one in bad["findings"]]
    assert ("rule-required", "ucx-plugin", None) in found and ("executable-stack", None, "nixl/_<b>.so") in found
    assert bad["errors"] == len([one for one in bad["findings"] if one["level"] == "error"]) and "tag" in bad
    assert rows(warned, "/-/explain/simple/nixl")["nixl-2.0-py3-none-any.whl"]["errors"] == 7  # it has none of all
    many = rows(warned, "/-/explain/simple/nixl/3.0")[f"nixl-3.0-{TAG}.whl"]
    assert many["errors"] == 12 and len(many["findings"]) == 10
    text = warned.get("/-/explain/simple/nixl/1.0?format=text").body.decode()
    assert "error rule-required of the rule ucx-plugin: it has no member" in text
    done = serving.run("explain", "--config", warned.config_path, "--catalog", warned.catalog, "--store", warned.store, "nixl")
    assert done.returncode == 0 and "error rule-required of the rule ucx-plugin" in done.stdout, done.stderr


def test_the_page_of_a_project_lists_the_findings(warned):
    reply = warned.get("/-/explain/simple/nixl", headers={"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"})
    page = reply.body.decode()
    assert reply.headers["Content-Type"] == "text/html; charset=utf-8" and "What the audit finds" in page
    assert "rule-required of the rule ucx-plugin" in page and "nixl/_&lt;b&gt;.so" in page and "lib&lt;i&gt;.so.1" in page
    assert "https://example.org/&lt;i&gt;" in page and "&lt;u&gt;" not in page
    one = warned.get("/-/explain/simple/nixl/1.0?format=html").body.decode()
    assert "&lt;u&gt;ucx" in one and "1.16" in one
    assert not any(tag in page + one for tag in ("<b>", "<i>", "<u>", "<script>"))
    assert "default-src 'none'" in reply.headers["Content-Security-Policy"]
    assert json.loads(warned.get("/-/explain/simple/nixl", headers={"Accept": "*/*"}).body)["project"] == "nixl"


def test_pages_of_pip_do_not_have_them(warned):
    for accept in ("text/html", "application/vnd.pypi.simple.v1+json"):
        assert b"ucx-plugin" not in warned.get("/simple/nixl/", headers={"Accept": accept}).body


def test_findings_of_a_private_platform_need_its_token(warned):
    token = uploading.add_token(warned, "--platform", OTHER, "--read")
    for path in (f"/-/explain/{OTHER}/nixl", f"/-/explain/{OTHER}/nixl?format=html"):
        reply = warned.get(path)
        assert reply.status == 401 and b"ucx" not in reply.body
    assert b"cp311" not in warned.get("/-/explain/simple/nixl?format=html").body
    assert rows(warned, f"/-/explain/{OTHER}/nixl", token)[f"nixl-1.0-{TAG.replace('310', '311')}.whl"]["errors"]


def test_off_lists_nothing(serve, warned):
    server = serve(warned.store, config="[upload]\naudit = off\n")
    rows_of = json.loads(server.get("/-/explain/simple/nixl").body)["here"]
    assert rows_of and not any("audit" in row for row in rows_of)


def test_facts_that_are_not_there_are_unknown(serve, tmp_path):
    elfmaker.native_wheel(tmp_path / "store" / PLATFORM, "nixl", "1.0", TAG, libraries())
    server = serve(tmp_path / "store", config="[index]\nfacts = no\n")
    [audit] = rows(server, "/-/explain/simple/nixl").values()
    assert list(audit) == ["unknown"]
    assert b"unknown" in server.get("/-/explain/simple/nixl?format=html").body
