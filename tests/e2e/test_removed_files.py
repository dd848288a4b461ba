# SPDX-License-Identifier: Apache-2.0
"""The URLs of deleted files: a redirect to upstream's file, or the reason."""
import hashlib
import json

import pytest

import serving
import storelib

PLATFORM = "ubuntu-22.04-x86_64"
UPSTREAM = "https://files.example/packages/"
SHA256 = hashlib.sha256(b"").hexdigest()
SOON = 20


def wheel(version):
    return f"six-{version}-py3-none-any.whl"


def url(version):
    return f"/files/{PLATFORM}/six/{wheel(version)}"


def upstream(filename, **more):
    return {"filename": filename, "url": UPSTREAM + filename, "index": "https://pypi.org/simple/", "identical": True, **more}


def tombstone(**facts):
    return json.dumps({"reason": "upstream has it", "when": "2026-01-02T03:04:05Z", "run": "r", **facts})


# version: the tombstone
STONES = {
    "1.1": tombstone(project="six", upstream=upstream(wheel("1.1"), sha256=SHA256), sha256=SHA256),
    "1.2": tombstone(upstream=upstream("six-1.2-cp311-abi3-any.whl", identical=False)),
    "1.3": "by hand\n",
    "1.4": tombstone(upstream=upstream("x", url="https://evil.example/\r\nSet-Cookie: a=b")),
    "1.5": tombstone(upstream=upstream("x", url="javascript:alert(1)")),
    "1.6": tombstone(project="seven", upstream=upstream(wheel("1.6"))),
    "1.7": tombstone(upstream=upstream("x", sha256=SHA256), sha256="00" * 32),
    "1.8": tombstone(reason=""),
    "1.9": tombstone(upstream=upstream(wheel("1.9"))),
}
DEFAULT = {"1.1": 302, "1.6": 404}
POLICIES = {
    None: DEFAULT,
    "identical": DEFAULT,
    "superseded": DEFAULT | {"1.2": 302, "1.7": 302, "1.9": 302},
    "no": {"1.6": 404},
}


@pytest.fixture(name="store")
def _store(tmp_path):
    folder = tmp_path / "store" / PLATFORM / "s" / "six"
    storelib.make_wheel(folder, "six", "1.0")
    for version, text in STONES.items():
        (folder / f"{wheel(version)}.pruned").write_text(text)
    return tmp_path / "store"


def config(policy):
    return f"[prune]\nredirect = {policy}\n" if policy else ""


@pytest.mark.parametrize("policy", POLICIES)
def test_url_leads_to_upstream_or_says_why(serve, store, policy):
    server = serve(store, "--rescan", "0", config=config(policy))
    assert server.get(url("1.0")).status == 200
    for version in STONES:
        expected = POLICIES[policy].get(version, 410)
        for ending in ("", ".metadata"):
            reply = server.get(url(version) + ending)
            assert reply.status == expected, version
            if expected == 302:
                name = json.loads(STONES[version])["upstream"]["filename"]
                assert reply["Location"] == UPSTREAM + name + ending
            else:
                assert reply["Location"] is None and reply["Set-Cookie"] is None
            assert reply["Cache-Control"] == ("public, max-age=0, must-revalidate")
    assert server.get(url("2.0")).status == 404
    assert server.get(f"/files/{PLATFORM}/seven/{wheel('1.1')}").status == 404


def test_what_is_gone_says_why_and_when_and_where(serve, store):
    server = serve(store, "--rescan", "0")

    def words(version):
        return server.get(url(version)).body.decode()

    assert words("1.2") == (f"410 Gone: {wheel('1.2')} was removed at 2026-01-02T03:04:05Z: upstream has it\n"
                            f"Upstream has {UPSTREAM}six-1.2-cp311-abi3-any.whl\n")
    assert words("1.3") == f"410 Gone: {wheel('1.3')} was removed: by hand\n"
    assert words("1.8").endswith("05Z: no reason was given\n")
    assert "evil" not in words("1.4") and "javascript" not in words("1.5")


def test_bytes_that_went_before_any_scan(serve, store):
    """A purge deletes the bytes before it updates the catalog."""
    folder = store / PLATFORM / "s" / "six"
    path = storelib.make_wheel(folder, "six", "3.0").path
    mark = folder / f"{path.name}.pruned"
    mark.write_text(tombstone(sha256=SHA256, upstream=upstream(path.name, sha256=SHA256)))
    server = serve(store, "--rescan", "0")
    assert server.get(url("3.0")).body == path.read_bytes()
    path.unlink()
    serving.wait_for(lambda: server.get(url("3.0")).status == 302, SOON, "the bytes are forgotten")
