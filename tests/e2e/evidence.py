# SPDX-License-Identifier: Apache-2.0
"""Records of test runs, and the routes that take them."""
import contextlib
import hashlib
import http.server
import json
import threading

import serving
import uploading

PLATFORM, OTHER, PRIVATE = "debian-12-x86_64", "ubuntu-24.04-x86_64", "rocky-9-x86_64"


def record(*wheels, **changed):
    """A record of a test run over these wheels (storelib.Wheel)."""
    whole = {"kind": "unit", "platform": PLATFORM, "python": "3.11", "made": "2026-11-20T06:00:00Z", "passed": 10, "failed": 0,
             "skipped": 1, "failures": [], "wheels": [{"filename": one.name, "sha256": one.sha256} for one in wheels]}
    return {key: value for key, value in (whole | changed).items() if value is not None}


def red(*wheels, **changed):
    return record(*wheels, **({"failed": 2, "failures": [{"name": "test_a", "message": "assert 1 == 2"}]} | changed))


def write_file(views, document, received, by="ci", address="", counts="*"):
    """The file of a record, as the index keeps it below the folder of views; its id is its stem."""
    identity = hashlib.sha256(f"{json.dumps(document, sort_keys=True)}\n".encode()).hexdigest()
    path = views / "evidence" / identity[:2] / f"{identity}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"record": document, "received": received, "by": by, "address": address, "views": counts}))
    return path


@contextlib.contextmanager
def answering(*bodies):
    """A server that is no wheelcache: it answers each POST with the next of these bodies. Its URL."""
    left = list(bodies)

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):  # pylint: disable=invalid-name
            body = left.pop(0)
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            with contextlib.suppress(OSError):
                self.wfile.write(body)

        def log_message(self, *_):
            pass
    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()


def post(server, path, document, token=None, **headers):
    body = document if isinstance(document, (str, bytes)) else json.dumps(document)
    sent = {"Content-Type": "application/json", "Accept": "application/json", **uploading.authorization(token), **headers}
    with contextlib.closing(server.connect()) as connection:
        connection.request("POST", path, body, sent)
        answer = connection.getresponse()
        return serving.Reply(answer.status, answer.headers, answer.read())


def send(server, document, token):
    return post(server, "/-/evidence/", document, token)


def promote(server, view, token, *select, **more):
    return post(server, f"/-/promote/{view}", ({"select": list(select)} if select else {}) | more, token)


def message(reply):
    return json.loads(reply.body)["message"] if reply["Content-Type"] == "application/json" else reply.body.decode()


def results(reply):
    """(status, file name -> result and reason)."""
    document = json.loads(reply.body)
    return reply.status, {one["filename"]: (one["result"], one["reason"]) for one in document["files"]}
