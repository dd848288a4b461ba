# SPDX-License-Identifier: Apache-2.0
"""`wheelcache health`: what a probe of a container learns."""
import http.server
import json
import os
import subprocess
import threading

import serving
import storelib


def health(*arguments, **variables):
    return subprocess.run([serving.binary(), "health", *arguments], capture_output=True, text=True, check=False, timeout=60,
                          env=os.environ | variables)


def made_store(folder):
    storelib.make_wheel(folder / "store", "demo", "1.0")
    return folder / "store"


def test_answer_of_a_server(serve, tmp_path):
    url = serve(made_store(tmp_path)).url
    done = health(url)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["status"] == "ok"
    ready = health("--ready", f"{url}/")
    assert (ready.returncode, json.loads(ready.stdout)) == (0, {"ready": True})
    assert health("--quiet", url).stdout == ""


def test_proxy_of_the_environment_is_not_used(serve, tmp_path):
    url = serve(made_store(tmp_path)).url
    done = health(url, http_proxy="http://127.0.0.1:1", HTTP_PROXY="http://127.0.0.1:1", no_proxy="", NO_PROXY="")
    assert done.returncode == 0, done.stderr


def test_no_server_and_wrong_words(tmp_path):
    assert health("http://127.0.0.1:1/", "--timeout", "2s").returncode == 1
    assert health("ftp://127.0.0.1/").returncode == 2
    assert "one URL at most" in health("http://127.0.0.1:1/", "more").stderr


class Answer(http.server.BaseHTTPRequestHandler):
    """200 with five megabytes, or 500."""

    def do_GET(self):
        self.send_response(200 if self.path == "/large/-/health" else 500)
        self.end_headers()
        self.wfile.write(b" " * (5 << 20))

    def log_message(self, *_):
        pass


def test_other_answers():
    # Exceeds LIMIT_HEALTH.
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}"
        failed, large = health(url), health(f"{url}/large")
        server.shutdown()
    assert (failed.returncode, failed.stdout, large.returncode, large.stdout) == (1, "", 1, "")
    assert "/-/health: status 500" in failed.stderr
    assert "more than 4194304 bytes" in large.stderr
