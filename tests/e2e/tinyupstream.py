# SPDX-License-Identifier: Apache-2.0
"""An upstream with a few generated files, which a test can yank, remove and change; it can be down."""
import contextlib
import http.server
import json
import threading

OLD = "2020-01-02T03:04:05.678901Z"


class Upstream:
    """url: of its simple index. Each change gives its pages a new serial, as on PyPI."""

    def __init__(self):
        self.pages = {}  # project: {filename: facts}
        self.is_down = False
        self.serial = 1
        upstream = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def log_message(self, *_):
                pass

            def do_GET(self):
                status, body = upstream.answer(self.path)
                self.send_response(status)
                self.send_header("Content-Type", "application/vnd.pypi.simple.v1+json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/simple/"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True)
        self.thread.start()

    def answer(self, path):
        project = path.strip("/").split("/")[-1]
        if self.is_down:
            return 503, b""
        if project not in self.pages:
            return 404, b""
        page = {"meta": {"api-version": "1.4", "_last-serial": self.serial}, "name": project,
                "versions": [], "files": list(self.pages[project].values())}
        return 200, json.dumps(page).encode()

    def add(self, project, filename, sha256=None, **facts):
        """Adds a file, or changes its facts: yanked=…, uploaded=…, and so on."""
        self.serial += 1
        facts = {key.replace("_", "-"): value for key, value in facts.items()}
        self.pages.setdefault(project, {})[filename] = {
            "filename": filename, "url": f"../../packages/{filename}", "size": 1000, "upload-time": OLD,
            "hashes": {"sha256": sha256 or "0" * 64}, **facts}

    def change(self, project, filename, **facts):
        self.serial += 1
        self.pages[project][filename].update(facts)

    def remove(self, project, filename):
        self.serial += 1
        del self.pages[project][filename]

    def stop(self):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


@contextlib.contextmanager
def running():
    upstream = Upstream()
    try:
        yield upstream
    finally:
        upstream.stop()
