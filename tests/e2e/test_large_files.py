# SPDX-License-Identifier: Apache-2.0
"""Files of the operator that are larger than they may be: each is refused by its name and its limit, and is not read for
that. Folders of a platform that are nested too deep, and answers of other servers that have too many headers."""
import http.server
import threading

import pytest

import indexing
import serving

MIB = 1 << 20
# The file, its limit, and the command that reads it.
LARGE = {
    "LIMIT_TOKENS": ("state/catalog.db.tokens", 4 * MIB, ["token", "list"]),
    "LIMIT_EXCEPTIONS": ("keep.txt", 256 * MIB, ["prune", "apply", "--except", "@{file}", "{folder}/plan.json"]),
    "LIMIT_PLAN": ("plan.json", 2000 * MIB, ["prune", "apply", "{file}"]),
    "LIMIT_MANIFEST": ("site/.wheelcache-static", 1024 * MIB, ["index", "--static", "{folder}/site"]),
    "LIMIT_PEM": ("cert.pem", MIB, ["serve", "--listen", "127.0.0.1:0", "--config", "{folder}/tls.conf"]),
    "LIMIT_EVIDENCE_LIST": ("records.jsonl", 64 * MIB, ["evidence", "send", "--to", "http://127.0.0.1:1/", "{file}"]),
    "LIMIT_CONFIG": ("large.conf", MIB, ["index", "--config", "{file}"]),
}


@pytest.fixture(name="at")
def at_fixture(tmp_path):
    at = indexing.Indexed(tmp_path)
    at.wheel(indexing.PLATFORM)
    at.index()
    (tmp_path / "site").mkdir()
    (tmp_path / "plan.json").write_text("{}")
    (tmp_path / "tls.conf").write_text(f"[server]\ntls-cert = {tmp_path}/cert.pem\ntls-key = {tmp_path}/cert.pem\n")
    return at


@pytest.mark.parametrize("limit", LARGE)
def test_file_that_is_too_large_is_named(at, limit):
    # Exceeds LIMIT_TOKENS, LIMIT_EXCEPTIONS, LIMIT_PLAN, LIMIT_MANIFEST, LIMIT_PEM, LIMIT_CONFIG,
    # Exceeds LIMIT_EVIDENCE_LIST.
    name, size, command = LARGE[limit]
    path = at.folder / name
    with open(path, "wb") as file:
        file.truncate(size + 1)
    words = [word.format(file=path, folder=at.folder) for word in command]
    store = [] if "token" in words or limit in ("LIMIT_CONFIG", "LIMIT_EVIDENCE_LIST") else [str(at.store)]
    place = [] if limit == "LIMIT_EVIDENCE_LIST" else ["--catalog", str(at.catalog)]
    done = serving.run(*words, *place, *store)
    assert done.returncode in (1, 2) and f"{name}: larger than {size} bytes" in done.stderr, done.stderr
    assert path.stat().st_size == size + 1


def test_folders_that_are_too_deep_are_counted(at):
    """LIMIT_DEPTH levels are read."""
    # Exceeds LIMIT_DEPTH.
    deepest = indexing.PLATFORM + "/d" * 8
    at.wheel(deepest, "deep")
    at.wheel(deepest + "/d", "deeper")
    assert at.index()["ignored"] == 1
    assert [name.split("-")[0] for name in at.names()] == ["deep", "six"]


class Talkative(http.server.BaseHTTPRequestHandler):
    """Answers with more than LIMIT_ANSWER_HEADERS bytes of headers."""

    def do_GET(self):
        self.send_response(200)
        for number in range(100):
            self.send_header(f"X-{number}", "x" * 1000)
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_):
        pass


def test_answer_with_too_many_headers():
    # Exceeds LIMIT_ANSWER_HEADERS.
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Talkative) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        done = serving.run("health", f"http://127.0.0.1:{server.server_port}")
        server.shutdown()
    assert done.returncode == 1 and "more than 65536 bytes" in done.stderr, done.stderr
